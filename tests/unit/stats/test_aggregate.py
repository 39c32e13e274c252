"""The private median of p-values: scores' sensitivity and the null law, against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcausal.core.errors import InputError
from dpcausal.stats.aggregate import _exact_law, median_law, median_pvalue, median_scores
from dpcausal.testing import seeded


def test_scores_move_by_one_at_most_and_reach_it() -> None:
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(500):
        p = rng.random(int(rng.integers(1, 9)))
        other = p.copy()
        other[0] = rng.random()
        worst = max(worst, np.abs(median_scores(p, 10) - median_scores(other, 10)).max())
    assert worst == 1.0


def test_ends_of_the_range() -> None:
    assert median_scores([0.0, 1.0], cells=4).tolist() == [-0.5, 0.0, 0.0, -0.5]


@pytest.mark.parametrize(("m", "epsilon"), [(1, 1.0), (4, 0.5), (15, 2.0)])
def test_law_against_simulation(m: int, epsilon: float) -> None:
    rng = np.random.default_rng(m)
    draws = 6000
    chosen = np.zeros((draws, 20))
    for i in range(draws):
        weight = np.exp(0.5 * epsilon * median_scores(rng.random(m), 20))
        chosen[i] = weight / weight.sum()
    law = np.array(median_law(m, epsilon, 20))
    error = chosen.std(axis=0) / math.sqrt(draws) + 1e-12
    assert (np.abs(chosen.mean(axis=0) - law) < 5.5 * error).all()  # 20 cells: by chance below 1e-6
    assert law == pytest.approx(law[::-1])


def test_the_pvalue_of_a_cell_is_the_chance_of_that_or_a_lower_one() -> None:
    for m, epsilon in ((5, 1.0), (15, 2.0)):
        pvalues = [median_pvalue(cell, m, epsilon) for cell in range(100)]
        np.testing.assert_allclose(np.diff(pvalues, prepend=0.0), median_law(m, epsilon), atol=1e-12)
        assert pvalues[0] < 0.05 < pvalues[-1] == pytest.approx(1.0)
    with pytest.raises(InputError):
        median_pvalue(100, 5, 1.0)
    with pytest.raises(InputError):
        median_law(0, 1.0)


@pytest.mark.parametrize(("m", "epsilon"), [(56, 0.5), (45, 2.0)])
def test_the_simulated_law_of_many_parts_is_the_exact_one(m: int, epsilon: float) -> None:
    with seeded(3):
        simulated = np.cumsum(median_law(m, epsilon))
    exact = np.cumsum(_exact_law(m, epsilon, 100))
    # a mean of 40,000 numbers within 0..1 with mean F: standard deviation at most sqrt(F(1 - F)/40,000); 6 of them
    assert (np.abs(simulated - exact) <= 6.0 * np.sqrt(exact * (1.0 - exact).clip(0) / 40_000) + 1e-12).all()
    assert simulated[4] != exact[4]


@pytest.mark.parametrize(("m", "epsilon"), [(1, 1e6), (9, 1e6), (1000, 1e-3), (5, 1e-6)])
def test_no_budget_is_out_of_range(m: int, epsilon: float) -> None:
    law = np.array(median_law(m, epsilon))
    assert law.sum() == pytest.approx(1.0)
    assert law == pytest.approx(law[::-1])
    assert (law > 0).all() or epsilon == 1e6


def test_a_sure_choice_of_one_p_value_is_uniform() -> None:
    with seeded(4):
        law = np.array(median_law(1, 1e6))
    assert law == pytest.approx(np.full(100, 0.01), abs=6 * math.sqrt(0.01 / 40_000))
