"""One changed value never moves the statistic by more than claimed, and reaches it: all tables, then a search.

The same search is run against a constant 30% too small, which it must catch.
"""

from __future__ import annotations

import numpy as np
import pytest

from dpcausal.stats.chi2 import chi2_sensitivity
from dpcausal.stats.unit_circle import unit_circle, unit_circle_sensitivity

ROUNDING = 1e-12


def steps(values: np.ndarray) -> float:
    """Largest change between tables that differ in one row's value; ``values``[c11, c10]."""
    return max(
        np.abs(np.diff(values, axis=0)).max(initial=0.0), np.abs(np.diff(values, axis=1)).max(initial=0.0)
    )


def circle(n1: int, n0: int, tau: float) -> np.ndarray:
    return unit_circle(*np.indices((n1 + 1, n0 + 1)), n1, n0, tau)


def pearson(n1: int, n0: int) -> np.ndarray:
    a, b = np.indices((n1 + 1, n0 + 1)).astype(float)
    m, n = a + b, n0 + n1
    bottom = n0 * n1 * m * (n - m)
    return np.divide(n * (n0 * a - n1 * b) ** 2, bottom, out=np.zeros_like(bottom), where=bottom > 0)


@pytest.mark.parametrize("tau", [0.5, 3.84, 29.7])
def test_unit_circle_all_tables(tau: float) -> None:
    reached = 0
    for n1 in range(1, 30):
        for n0 in range(1, 31 - n1):
            ratio = steps(circle(n1, n0, tau)) / unit_circle_sensitivity(n1, n0, tau)
            assert ratio <= 1 + ROUNDING
            other = n0 if n0 >= n1 else n1
            small = min(n0, n1)
            if other % 2 == 0 and small >= 2:  # where the proof says it is attained
                assert ratio == pytest.approx(1.0, abs=1e-9)
                reached += 1
    assert reached > 100


def test_unit_circle_two_alleles_of_one_person() -> None:
    for n1, n0 in ((6, 8), (5, 12), (10, 10)):
        values = circle(n1, n0, 3.84)
        bound = unit_circle_sensitivity(n1, n0, 3.84, person=True)
        both = max(np.abs(values[2:] - values[:-2]).max(), np.abs(values[:, 2:] - values[:, :-2]).max())
        assert both <= bound * (1 + ROUNDING)
        assert both == pytest.approx(bound)


def test_unit_circle_random_large_margins() -> None:
    rng = np.random.default_rng(17)
    best = 0.0
    for _ in range(150):
        n = int(10 ** rng.uniform(1.0, np.log10(5000)))
        n1 = int(rng.integers(1, n))
        n0, tau = n - n1, float(10 ** rng.uniform(-0.5, 1.6))
        bound = unit_circle_sensitivity(n1, n0, tau)
        a = np.concatenate([rng.integers(0, n1 + 1, 4000), np.full(50, n1 // 2)])
        b = np.concatenate([rng.integers(0, n0 + 1, 4000), np.arange(50) + n0 // 2 - 25])
        here = unit_circle(a, b, n1, n0, tau)
        ok = (b >= 0) & (b <= n0)
        one = np.abs(unit_circle(a + 1, b, n1, n0, tau) - here)[ok & (a < n1)]
        two = np.abs(unit_circle(a, b + 1, n1, n0, tau) - here)[ok & (b < n0)]
        found = max(one.max(initial=0.0), two.max(initial=0.0))
        assert found <= bound * (1 + ROUNDING)
        best = max(best, found / bound)
    assert best > 0.999


def test_output_baseline_all_tables_attained() -> None:
    for n1 in range(1, 30):
        for n0 in range(1, 31 - n1):
            assert steps(pearson(n1, n0)) == pytest.approx(chi2_sensitivity(n0, n1), rel=1e-12)


def test_output_baseline_large_margins() -> None:
    for n1, n0 in ((700, 300), (1, 999), (499, 501), (37, 1200)):
        assert steps(pearson(n1, n0)) == pytest.approx(chi2_sensitivity(n0, n1), rel=1e-9)


def test_the_search_catches_constants_thirty_percent_too_small() -> None:
    circle_caught = output_caught = total = 0
    for n1 in range(3, 16):
        for n0 in range(3, 16):
            total += 1
            circle_caught += steps(circle(n1, n0, 3.84)) > 0.7 * unit_circle_sensitivity(n1, n0, 3.84)
            output_caught += steps(pearson(n1, n0)) > 0.7 * chi2_sensitivity(n0, n1)
    assert circle_caught == output_caught == total
