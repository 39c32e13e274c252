"""Unit circle: equivalence with chi-squared, null law and thresholds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import hypergeom

from dpcausal.core.errors import InputError
from dpcausal.stats.chi2 import pearson
from dpcausal.stats.unit_circle import (
    margin_law,
    unit_circle,
    unit_circle_sensitivity,
    unit_circle_tail,
    worst_tail,
)


def test_norm_above_one_means_chi_squared_above_tau() -> None:
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(2000):
        n1, n0 = rng.integers(1, 40, 2)
        a, b = int(rng.integers(0, n1 + 1)), int(rng.integers(0, n0 + 1))
        tau = float(rng.uniform(0.3, 12.0))
        value = pearson([[[a, n1 - a], [b, n0 - b]]]).statistic
        if 0 < a + b < n0 + n1 and abs(value - tau) > 1e-9:
            assert (value > tau) == (float(unit_circle(a, b, n1, n0, tau)) > 1.0)
            seen.add(value > tau)
    assert seen == {True, False}


def test_paper_bound_is_larger_by_up_to_root_two() -> None:
    for n1, n0, tau in ((50, 50, 3.84), (20, 200, 30.0)):
        n = n0 + n1
        paper = 2 * math.sqrt(((n0**2 + n1**2) * n + 2 * tau * n0 * n1) / (tau * n0 * n1 * n * n))
        assert 1.0 < paper / unit_circle_sensitivity(n1, n0, tau) <= math.sqrt(2) * (1 + 1e-12)
    assert unit_circle_sensitivity(9, 4, 3.84, person=True) == 2 * unit_circle_sensitivity(9, 4, 3.84)


def test_margin_law_is_hypergeometric() -> None:
    for n1, n0, m1 in ((30, 50, 20), (5, 5, 10), (1000, 2000, 900), (7, 3, 0)):
        a, probability = margin_law(n1, n0, m1)
        assert probability == pytest.approx(hypergeom.pmf(a, n0 + n1, m1, n1), rel=1e-9, abs=1e-300)


def test_tail_matches_simulation() -> None:
    rng = np.random.default_rng(2)
    n1, n0, m1, tau, scale, draws = 60, 90, 50, 6.0, 0.05, 200_000
    a = rng.hypergeometric(n1, n0, m1, draws)
    noisy = unit_circle(a, m1 - a, n1, n0, tau) + rng.laplace(0, scale, draws)
    for value in (0.4, 0.7, 1.0):
        expected = unit_circle_tail(value, n1, n0, m1, tau, scale)
        # 5 standard errors: fails by chance with probability below 6e-7
        assert abs((noisy >= value).mean() - expected) < 5 * math.sqrt(expected * (1 - expected) / draws)


def test_tiny_tails_keep_their_relative_precision() -> None:
    scale = unit_circle_sensitivity(2000, 3000, 29.7) / 0.5
    a, _ = margin_law(2000, 3000, 1200)
    beyond = float(
        unit_circle(a, 1200 - a, 2000, 3000, 29.7).max()
    )  # from there on the tail is that of the noise
    near, far = (unit_circle_tail(beyond + k * scale, 2000, 3000, 1200, 29.7, scale) for k in (0, 20))
    assert 0 < near < 5e-8
    assert far == pytest.approx(near * math.exp(-20), rel=1e-9)


def test_worst_case_over_margins_bounds_each_margin() -> None:
    scale = unit_circle_sensitivity(40, 60, 10.0)
    tails = [unit_circle_tail(1.4, 40, 60, m, 10.0, scale) for m in range(101)]
    assert worst_tail(1.4, 40, 60, (0, 100), 10.0, scale) == max(tails) > tails[50]
    assert worst_tail(1.4, 40, 60, (50, 50), 10.0, scale) == tails[50]


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError):
        unit_circle_sensitivity(0, 5, 3.84)
    with pytest.raises(InputError):
        unit_circle_sensitivity(5, 5, 0.0)
