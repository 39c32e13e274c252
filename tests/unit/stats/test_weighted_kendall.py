"""The papers' weighted z: its value, its floor and the repaired bound."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcausal.core.errors import InputError
from dpcausal.stats.published import (
    tau_a,
    weighted_floor,
    weighted_kendall,
    weighted_kendall_sensitivity,
    weighted_kendall_z,
    weighted_numerator_sensitivity,
)


def test_value_is_the_weighted_sum_of_signed_taus() -> None:
    blocks = np.random.default_rng(2).integers(0, 7, (6, 3, 4))
    n = blocks.sum(axis=(1, 2))
    w = 9 * n * (n - 1) / (2 * (2 * n + 5))
    tau = np.array([tau_a(block[None]) for block in blocks])
    numerator, weight = weighted_kendall(blocks)
    assert numerator == pytest.approx(float(w @ tau), rel=1e-12)
    assert weight == pytest.approx(float(w.sum()), rel=1e-12)
    assert weighted_kendall_z(blocks, floor=1.0) == pytest.approx(
        float(w @ tau) / math.sqrt(w.sum()), rel=1e-12
    )
    mirrored = weighted_kendall_z(blocks[:, ::-1], floor=1.0)
    assert mirrored == pytest.approx(-weighted_kendall_z(blocks, floor=1.0), rel=1e-12)


def test_empty_blocks_add_nothing() -> None:
    full = [[3, 1], [1, 4]]
    others = [[[0, 0], [0, 0]], [[1, 0], [0, 0]]]
    assert weighted_kendall([full, *others]) == weighted_kendall([full])
    assert weighted_kendall_z(others, floor=1.0) == 0.0


@pytest.mark.parametrize(("n", "k"), [(10, 1), (50, 4), (300, 64), (65, 64), (3, 64)])
def test_floor_is_below_the_weight_of_every_split(n: int, k: int) -> None:
    rng = np.random.default_rng(n)
    splits = [rng.multinomial(n, rng.dirichlet(np.full(k, a))) for a in (0.05, 1.0, 100.0) for _ in range(50)]
    splits.append(np.full(k, n // k) + (np.arange(k) < n % k))
    least = min(float((9 * s * (s - 1) / (2 * (2 * s + 5))).sum()) for s in splits)
    assert weighted_floor(n, k) <= max(least, 1.0)


def test_sensitivities_are_the_proved_numbers() -> None:
    assert weighted_numerator_sensitivity("add-remove", 2, 9, 4) == 4.5
    assert weighted_numerator_sensitivity("add-remove", 3, 3, 4) == 5.625
    assert weighted_numerator_sensitivity("replace-one", 3, 3, 4) == 11.25
    assert weighted_numerator_sensitivity("replace-one", 3, 3, 1) == 9.0
    assert weighted_numerator_sensitivity("replace-one", 2, 2, 1) == 4.5
    assert weighted_kendall_sensitivity("add-remove", 2, 2, 4, floor=9.0) == 5.625 / 3
    assert weighted_kendall_sensitivity("replace-one", 100, 100, 4, floor=9.0) < 14.625 / 3


def test_bad_public_parameters_are_refused() -> None:
    with pytest.raises(InputError):
        weighted_kendall_z([[[1, 1], [1, 1]]], floor=0.0)
    with pytest.raises(InputError):
        weighted_kendall_sensitivity("replace-one", 2, 2, 1, floor=math.inf)
    with pytest.raises(InputError):
        weighted_floor(10, 0)
