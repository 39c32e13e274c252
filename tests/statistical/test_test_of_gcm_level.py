"""Level and power of test-of-tests over gcm, noise and data seeded.

With 200 runs a test of level .05 rejects more than 24 times with probability below 1e-4, and one of power .7 fewer than
115 times with probability below 1e-4.
"""

from __future__ import annotations

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.session import Session
from dpcausal.citests.test_of_tests import TestOfGcm
from dpcausal.core.neighbours import Neighbours
from dpcausal.privacy.events import Event

RUNS = 200


class Free:
    def charge(self, *events: Event) -> None:
        """Not about accounting."""

    def require(self, *events: Event) -> None:
        """Not about accounting."""


def rejected(beta: float, relation: str, n: int = 1000) -> int:
    schema = dc.Schema({name: dc.Numeric(-9, 9) for name in "xyz"})
    codes = {name: np.zeros(n, np.uint8) for name in "xyz"}
    count = 0
    with dc.testing.seeded(5):
        for k in range(RUNS):
            rng = np.random.default_rng(k)
            z, one, two = rng.normal(size=(3, n))
            x = np.sin(z) + one
            values = {"x": x, "y": np.sin(z) + two + beta * one, "z": z}
            data = dc.Dataset(schema, n, codes, {name: np.clip(v, -9, 9) for name, v in values.items()})
            session = Session(
                data,
                TestOfGcm(),
                level=0.05,
                epsilon=2.0,
                neighbours=Neighbours.parse(relation),
                budget=Free(),
            )
            count += not session.ask("x", "y", ["z"]).independent
    return count


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["replace-one", pytest.param("add-remove", marks=pytest.mark.slow)])
def test_level(relation: str) -> None:
    assert rejected(0.0, relation) <= 24


@pytest.mark.slow
def test_power() -> None:
    assert rejected(0.5, "replace-one") >= 115
