"""The score of a rank: its sensitivity by search, and how far a noisy rank errs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcausal import testing
from dpcausal.citests.crt import query_rank
from dpcausal.core.errors import InputError
from dpcausal.privacy.budget import Budget
from dpcausal.stats.crt import SCORE_SENSITIVITY, query_rank_scores, rank_error


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.floats(0.01, 50))
def test_scores_move_by_at_most_one(seed: int, size: int, sensitivity: float) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 2 * sensitivity, size)
    after = values + sensitivity * rng.choice([-1.0, 0.0, 1.0], size)
    moved = query_rank_scores(values, 0, sensitivity) - query_rank_scores(after, 0, sensitivity)
    assert np.abs(moved).max() <= SCORE_SENSITIVITY + 1e-12


def test_the_sensitivity_is_attained() -> None:
    before, after = query_rank_scores([5.0, 0.0], 1, 1.0), query_rank_scores([6.0, -1.0], 1, 1.0)
    assert np.abs(before - after).max() == SCORE_SENSITIVITY


def test_the_right_rank_has_the_best_score() -> None:
    values = [3.0, 9.0, -2.0, 5.0]
    for which, rank in enumerate((2, 0, 3, 1)):
        assert int(query_rank_scores(values, which, 1.0).argmax()) == rank


def noisy(values: list[float], which: int, epsilon: float) -> int:
    return query_rank(values, which, sensitivity=1.0, epsilon=epsilon, budget=Budget(epsilon), label="rank")


@pytest.mark.parametrize("others", [1, 19])
def test_the_error_of_theorem_3_6_holds_and_is_nearly_used_up(others: int) -> None:
    """All other queries stand just beyond gamma, the worst there is. 4,000 ranks at failure .1: a share above .122, or
    below .05, has probability below 1e-5."""
    gamma = rank_error(1.0, 2.0, others, 0.1)
    printed = 4 / 2.0 * np.log(others / 0.1)
    assert gamma < printed
    values = [0.0, *([-gamma - 0.001] * others)]
    with testing.seeded(3):
        wrong = np.mean([noisy(values, 0, 2.0) > 0 for _ in range(4000)])
    assert 0.05 < wrong <= 0.122


def test_the_pvalue_errs_by_the_queries_near_by() -> None:
    """|p - p*| <= G_gamma/(m + 1) but for ``failure``: 2,000 runs at .1 have a share above .13 with P < 1e-5."""
    rng = np.random.default_rng(4)
    gamma, bad = rank_error(1.0, 2.0, 19, 0.1), 0
    with testing.seeded(4):
        for _ in range(2000):
            values = rng.normal(0, 20, 20)
            near = np.count_nonzero(np.abs(values[1:] - values[0]) <= gamma)
            right = np.count_nonzero(values[1:] > values[0])
            bad += abs(noisy(values.tolist(), 0, 2.0) - right) > near
    assert bad / 2000 <= 0.13


def test_refusals_charge_nothing() -> None:
    budget = Budget(1.0)
    for values, which, sensitivity in (([1.0], 0, 1.0), ([1.0, 2.0], 2, 1.0), ([1.0, 2.0], 0, 0.0)):
        with pytest.raises(InputError):
            query_rank(values, which, sensitivity=sensitivity, epsilon=1.0, budget=budget, label="rank")
    assert not budget.events
    for wrong in ((0.0, 1.0, 1, 0.1), (1.0, 0.0, 1, 0.1), (1.0, 1.0, 0, 0.1), (1.0, 1.0, 1, 0.0)):
        with pytest.raises(InputError):
            rank_error(*wrong)
