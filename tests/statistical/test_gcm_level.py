"""Level and power of the default gcm on the paper's design (Kalemaj et al. 2024, section 4), noise and data seeded.

With 200 runs a test of level .05 rejects more than 24 times with probability below 1e-4; one of power .9 rejects
fewer than 160 times with probability below 1e-4. ``benchmarks/private_gcm.py`` has the same at 500 runs and n = 10,000.
"""

from __future__ import annotations

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.session import Session
from dpcausal.privacy.events import Event

RUNS = 200


class Free:
    def charge(self, *events: Event) -> None:
        """Not about accounting."""


def rejected(d: int, s: float, beta: float, n: int = 1000, skewed: bool = False) -> int:
    names = ["x", "y", *(f"z{j}" for j in range(d))]
    schema = dc.Schema({name: dc.Numeric(-12, 12) for name in names})
    codes = {name: np.zeros(n, np.uint8) for name in names}
    count = 0
    with dc.testing.seeded(11):
        for k in range(RUNS):
            rng = np.random.default_rng([k, d])
            z = rng.normal(0, 2, (n, d))
            f = np.exp(-(s**2) / 2) * np.sin(s * z[:, 0])
            one, two = rng.exponential(size=(2, n)) - 1 if skewed else rng.normal(size=(2, n))
            values = {"x": f + one, "y": -f + two + beta * one} | {f"z{j}": z[:, j] for j in range(d)}
            data = dc.Dataset(schema, n, codes, {name: np.clip(v, -12, 12) for name, v in values.items()})
            session = Session(data, Gcm(), level=0.05, epsilon=2.0, budget=Free())
            count += not session.ask("x", "y", names[2:]).independent
    return count


@pytest.mark.parametrize("d", [1, 5])
def test_level_where_z_moves_both_columns_most(d: int) -> None:
    assert rejected(d, s=1.0, beta=0.0) <= 24


def test_level_with_skewed_errors_in_both_columns() -> None:
    assert rejected(1, s=1.0, beta=0.0, skewed=True) <= 24


@pytest.mark.parametrize("d", [1, 5])
def test_power_where_the_papers_algorithm_has_almost_none(d: int) -> None:
    assert rejected(d, s=2.0, beta=0.5) >= 160
