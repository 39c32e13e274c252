"""The private median of p-values: scores' sensitivity and the null law, against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcausal.core.errors import InputError
from dpcausal.stats.aggregate import median_law, median_pvalue, median_scores, median_threshold


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


def test_threshold_and_pvalue_keep_the_level() -> None:
    for m, epsilon in ((5, 1.0), (15, 2.0)):
        last = median_threshold(m, epsilon, 0.05)
        assert median_pvalue(last, m, epsilon) <= 0.05 < median_pvalue(last + 1, m, epsilon)
    assert median_threshold(1, 1e-6, 0.005) == -1
    with pytest.raises(InputError):
        median_pvalue(100, 5, 1.0)
    with pytest.raises(InputError):
        median_law(0, 1.0)
