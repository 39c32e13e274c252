"""EM-PC: the count's score, one price for an edge and its set, and the end of the budget."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcausal import testing
from dpcausal.core.neighbours import Neighbours
from dpcausal.discovery.em_pc import Choices, choice_for, count_scores, run
from dpcausal.discovery.search import Query
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.privacy.mechanisms.selection import Exponential, PermuteAndFlip


@pytest.mark.parametrize("seed", range(20))
def test_the_count_of_the_data_has_the_best_score(seed: int) -> None:
    best = np.random.default_rng(seed).normal(0, 5, 9)
    scores = count_scores(best)
    assert scores.shape == (10,)
    assert int(np.argmax(scores)) == int(np.sum(best > 0))
    assert np.sum(scores > 0) == 1


def test_no_pairs_and_one_pair() -> None:
    assert count_scores(np.array([])).shape == (1,)
    assert count_scores(np.array([2.0])).tolist() == [-2.0, 2.0]
    assert np.all(np.isfinite(count_scores(np.array([np.inf, -np.inf]))))


def test_pure_flips_and_delta_with_many_calls_chooses_by_range() -> None:
    assert isinstance(choice_for(Filter(1.0), 50, Neighbours.REPLACE_ONE), PermuteAndFlip)
    choice = choice_for(Filter(1.0, 1e-6), 50, Neighbours.REPLACE_ONE)
    assert isinstance(choice, Exponential)
    assert 0.999 * Filter(1.0, 1e-6).rho < 50 * choice.event("x").rho <= Filter(1.0, 1e-6).rho


def test_an_edge_comes_with_its_set(task: Any) -> None:
    """J is cut off from B by A alone: chosen out of several sets, at one charge."""
    given = task("earthquake", 100.0)
    choices = Choices(given, choice_for(given.budget.total, 4, given.neighbours))
    sets = [("Earthquake",), ("Alarm",), ("MaryCalls",)]
    with testing.seeded(2):
        answers = choices([Query("Burglary", "JohnCalls", given) for given in sets])
    assert answers == [False, True, False]
    assert [event.label for event in given.budget.events] == ["how many", "which"]


def test_the_budget_ends_in_the_middle(task: Any) -> None:
    """Three choices paid for: one count, two edges; what was to go and was not chosen is untested."""
    given = task("survey", 60.0)
    with testing.seeded(2):
        choices = Choices(given, choice_for(given.budget.total, 3, given.neighbours))
        columns = given.columns
        batch = [Query(x, y, ()) for i, x in enumerate(columns) for y in columns[i + 1 :]]
        answers = choices(batch)
        assert answers is not None
        assert sum(answer is True for answer in answers) == 2
        assert any(answer is None for answer in answers)
        assert choices(batch) is None


def test_at_most_one_set_a_pair(task: Any) -> None:
    with testing.seeded(3):
        found = run(task("asia", 10.0, 1e-6))
    assert len(found.skeleton.separating) + len(found.skeleton.edges) == 28
