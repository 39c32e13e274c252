"""The sensitivity of the largest score over pairs: attained by search on the shipped functions, never passed."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcausal.stats.gcm_parts import STEPS, PartPlan, Scores, largest_pair, largest_sensitivity

EXTREMES = np.array([-9.0, -1.0, -0.5, 0.0, 0.5, 1.0, 9.0, np.nan, np.inf])


def plan_of(parts: int, deals: int) -> PartPlan:
    return PartPlan(parts, deals, 1.0, 0.5, 720)


def moved(before: list[Scores], after: list[Scores], plan: PartPlan) -> int:
    (s, v), (other_s, other_v) = largest_pair(before, plan), largest_pair(after, plan)
    return abs(s - other_s) + abs(v - other_v)


def neighbours(rng: np.random.Generator, pairs: int, plan: PartPlan) -> tuple[list[Scores], list[Scores]]:
    """Scores of all parts of all deals; after, one part of every deal has others."""

    def drawn() -> Scores:
        return np.append(rng.choice(EXTREMES, pairs), rng.choice([0.0, 0.5, 1.0]))

    before = [drawn() for _ in range(plan.parts * plan.deals)]
    changed = {deal * plan.parts + int(rng.integers(plan.parts)) for deal in range(plan.deals)}
    return before, [drawn() if i in changed else part for i, part in enumerate(before)]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_no_neighbours_move_it_further(seed: int, pairs: int, parts: int, deals: int) -> None:
    plan = plan_of(parts, deals)
    before, after = neighbours(np.random.default_rng(seed), pairs, plan)
    assert moved(before, after, plan) <= deals * largest_sensitivity()


def apart(plan: PartPlan) -> int:
    """The first pair has the largest sum, which the changed row turns around; the second the largest variance."""
    rest = [np.array([0.7, (-1.0) ** i, 0.5]) for i in range(plan.parts - 1)]
    before, after = np.array([1.0, 0.0, 0.5]), np.array([-1.0, 1.0, 0.5])
    return moved(plan.deals * [*rest, before], plan.deals * [*rest, after], plan)


def test_one_pair_moves_the_sum_and_another_the_variance() -> None:
    for deals in (1, 2, 8):
        assert apart(plan_of(7, deals)) == deals * largest_sensitivity()


def test_the_search_breaks_a_constant_that_is_too_small() -> None:
    assert apart(plan_of(7, 1)) > 0.7 * largest_sensitivity()
    assert apart(plan_of(7, 1)) > 2 * STEPS  # nor is the bound for one pair enough
