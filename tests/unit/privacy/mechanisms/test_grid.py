"""Rounding to a grid: exact, total, and its sensitivity is never passed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcausal.core.errors import InputError
from dpcausal.privacy.mechanisms.base import INTEGERS, Grid, rounded_up


def test_rounds_to_nearest_ties_upward() -> None:
    grid = Grid(1.0)
    assert grid.to_integers([-1.5, -0.5, 0.49999999999999994, 0.5, 1.5, 2.4]).tolist() == [-1, 0, 0, 1, 2, 2]


def test_no_value_raises() -> None:
    odd = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0]
    assert Grid(2.0**-30).to_integers(odd).tolist() == [0, 2**52, -(2**52), 2**52, -(2**52), 0, 0]
    assert Grid(0.5).to_integers(3.0).shape == ()


@given(st.floats(allow_nan=True, allow_infinity=True) | st.integers(-40, 40).map(lambda k: k / 8))
def test_one_number_is_rounded_like_many(value: float) -> None:
    for grid in (Grid(1.0), Grid(2.0**-20), Grid(0.25)):
        assert grid.to_integer(value) == grid.to_integers([value])[0]


@pytest.mark.parametrize("step", [0.0, 3.0, -1.0, math.inf, math.nan])
def test_step_must_be_a_power_of_two(step: float) -> None:
    with pytest.raises(InputError, match="power of two"):
        Grid(step)


def test_sensitivities() -> None:
    assert Grid(0.25).sensitivity(1.0) == 5
    assert Grid(0.25).sensitivity(0.9) == 5
    assert INTEGERS.sensitivity(2.0) == 2
    assert Grid(0.25).sensitivity(1.0, size=9, norm=2) == pytest.approx(4 + 2 * 3)
    assert Grid(0.25).sensitivity(1.0, size=9, norm=1) == pytest.approx(4 + 2 * 9)
    with pytest.raises(InputError, match="sensitivity"):
        INTEGERS.sensitivity(math.nan)


@pytest.mark.parametrize(("size", "norm"), [(1, 1), (1, 2), (64, 1), (64, 2)])
def test_default_grid_costs_little(size: int, norm: int) -> None:
    for sensitivity in (1e-6, 0.3, 1.0, 77.0):
        grid = Grid.fitting(sensitivity, size, norm)
        assert grid.sensitivity(sensitivity, size, norm) * grid.step <= sensitivity * (1 + 2 / 4096) * (
            1 + 1e-12
        )


def test_rounded_up() -> None:
    for number in (Fraction(1, 3), Fraction(2, 7), Fraction(1, 2)):
        assert Fraction(rounded_up(number)) >= number
        assert Fraction(math.nextafter(rounded_up(number), 0)) < number


def test_theory_bound_is_needed() -> None:
    """Without the extra step, float errors of half a step break the bound: ceil(D) is too small."""
    grid = Grid(1.0)
    true = np.array([0.49, 1.49])  # differ by 1
    computed = true + np.array([0.0, 0.02])
    moved = abs(int(np.diff(grid.to_integers(computed))[0]))
    assert moved == 2 <= grid.sensitivity(1.0)
    assert moved > math.ceil(1.0)
