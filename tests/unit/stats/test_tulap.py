"""Noisy counts: exact laws, validity, equality with Tulap, and the plan of a test of tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, dlaplace, ncx2

from dpcausal.core.errors import InputError
from dpcausal.stats.tulap import (
    binomial_law,
    critical_count,
    discrete_laplace_tail,
    noisy_power,
    noisy_pvalue,
    part_sizes,
    plan_split,
    split_power,
    tulap_cdf,
    tulap_pvalue,
)


def law_of_release(m: int, theta: float, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Values z and P(X + L = z), by plain convolution."""
    reach = int(60 / epsilon)
    noise = dlaplace.pmf(np.arange(-reach, reach + 1), epsilon)
    return np.arange(-reach, m + reach + 1), np.convolve(noise, binom.pmf(np.arange(m + 1), m, theta))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_laws_against_scipy(epsilon: float) -> None:
    j = np.arange(-30, 31)
    assert discrete_laplace_tail(j, epsilon) == pytest.approx(dlaplace.sf(j - 1, epsilon), rel=1e-12)
    assert binomial_law(20, 0.3) == pytest.approx(binom.pmf(np.arange(21), 20, 0.3), rel=1e-10)


def test_tulap_cdf_is_that_of_laplace_plus_uniform() -> None:
    t = np.array([-3.2, -0.6, 0.0, 0.3, 0.5, 1.9])
    grid = np.arange(-200, 201)
    expected = [(dlaplace.pmf(grid, 0.7) * np.clip(x - grid + 0.5, 0, 1)).sum() for x in t]
    assert tulap_cdf(t, 0.7) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("theta", [0.05, 0.3])
def test_pvalue_is_valid_and_exact_at_its_own_atoms(theta: float, epsilon: float) -> None:
    m = 15
    z, law = law_of_release(m, theta, epsilon)
    p = np.array([noisy_pvalue(int(x), m, theta, epsilon) for x in z])
    assert (np.diff(p) <= 1e-15).all()
    for level in (0.001, 0.05, 0.5):
        assert law[p <= level].sum() <= level + 1e-12
    middle = (law > 1e-9) & (p < 0.999)
    assert [law[p <= x].sum() for x in p[middle]] == pytest.approx(p[middle].tolist(), rel=1e-6)
    smaller = law_of_release(m, theta / 2, epsilon)[1]
    assert smaller[p <= 0.05].sum() <= law[p <= 0.05].sum()


def test_the_coin_makes_it_tulaps() -> None:
    for z in (-2, 0, 4, 9):
        for shift in (-0.49, 0.0, 0.31):
            ours = noisy_pvalue(z, 12, 0.2, 0.8, coin=0.5 - shift)
            assert ours == pytest.approx(tulap_pvalue(z + shift, 12, 0.2, 0.8), rel=1e-12)


def test_integer_release_loses_less_than_an_atom_of_power() -> None:
    for m, theta0, theta, epsilon in ((20, 0.1, 0.4, 1.0), (50, 0.25, 0.5, 0.3)):
        best = noisy_power(m, theta0, theta, epsilon, 0.05, randomised=True)
        plain = noisy_power(m, theta0, theta, epsilon, 0.05)
        # the Tulap test's power by its definition: reject when the p-value of W = X + N is at most .05
        w = np.linspace(-80, m + 80, 160_001)
        reject = w[
            np.argmax(np.array([tulap_pvalue(float(x), m, theta0, epsilon) for x in w[::100]]) <= 0.05) * 100
        ]
        power = float(binomial_law(m, theta) @ tulap_cdf(np.arange(m + 1) - reject, epsilon))
        assert best == pytest.approx(power, abs=0.02)
        z, share = critical_count(m, theta0, epsilon, 0.05)
        assert 0.0 <= share < 1.0
        assert noisy_pvalue(z + 1, m, theta0, epsilon) <= 0.05 < noisy_pvalue(z, m, theta0, epsilon)
        assert 0.0 <= best - plain < 0.12


def test_split_power_against_simulation() -> None:
    rng = np.random.default_rng(8)
    parts, sub, effect, epsilon, draws = 10, 0.15, 30.0, 1.0, 100_000
    part = ncx2.sf(2.0722508, 1, effect / parts)  # 2.07... is the .85 quantile of chi-squared 1
    z, _ = critical_count(parts, sub, epsilon, 0.05)
    released = rng.binomial(parts, part, draws) + dlaplace.rvs(epsilon, size=draws, random_state=rng)
    expected = split_power(parts, sub, effect, epsilon, 0.05)
    assert abs((released > z).mean() - expected) < 5 * math.sqrt(0.25 / draws)


def test_plan_beats_naive_choices_and_follows_the_budget() -> None:
    plan = plan_split(10_000, 1.0, 0.05)
    for parts, sub in ((5, 0.05), (50, 0.05), (100, 0.5)):
        assert split_power(parts, sub, plan.noncentrality, 1.0, 0.05) < split_power(
            plan.parts, plan.sub_level, plan.noncentrality, 1.0, 0.05
        )
    tight, loose = plan_split(10_000, 0.3, 0.05), plan_split(10_000, 3.0, 0.05)
    assert tight.noncentrality > plan.noncentrality > loose.noncentrality > 7.85  # 7.85: without privacy
    assert tight.parts > loose.parts


def test_parts_and_bad_arguments() -> None:
    assert sum(part_sizes(1000, 17)) == 1000
    assert max(part_sizes(1000, 17)) - min(part_sizes(1000, 17)) == 1
    for call in (
        lambda: part_sizes(3, 4),
        lambda: binomial_law(0, 0.5),
        lambda: plan_split(1, 1.0, 0.05),
    ):
        with pytest.raises(InputError):
            call()


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 1e6])
def test_the_critical_count_is_found_at_any_budget(epsilon: float) -> None:
    z, share = critical_count(100, 0.05, epsilon, 0.05)
    assert noisy_pvalue(z + 1, 100, 0.05, epsilon) <= 0.05 < noisy_pvalue(z, 100, 0.05, epsilon)
    assert 0.0 <= share < 1.0
