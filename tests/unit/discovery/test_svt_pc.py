"""SVT-PC: designs, sessions, and the end of the budget."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpcausal import testing
from dpcausal.core.neighbours import Neighbours
from dpcausal.discovery.svt_pc import run
from dpcausal.planning.sieve import designs, resolution
from dpcausal.present.notes import note_words
from dpcausal.privacy.accounting.composition import Filter


def test_pure_has_one_way_and_delta_opens_another() -> None:
    assert len(designs(Filter(1.0), 10, Neighbours.REPLACE_ONE)) == 1
    once, rounds = designs(Filter(1.0, 1e-6), 10, Neighbours.REPLACE_ONE)
    assert once.mechanism.event("x").epsilon == 1.0
    total = Filter(1.0, 1e-6).rho
    assert 10 * rounds.mechanism.event("x").rho == pytest.approx(total, rel=1e-9)
    assert 10 * rounds.mechanism.event("x").rho <= total


def test_rounds_win_where_there_are_many_pairs() -> None:
    few, many = ([resolution(d.plan.false_hit) for d in designs(Filter(1.0, 1e-6), c, Neighbours.REPLACE_ONE)]
                 for c in (10, 700))  # fmt: skip
    assert few[0] < few[1]
    assert many[0] > many[1]


def test_false_hits_are_as_predicted() -> None:
    """The formula against the mechanism itself: 4,000 sessions, within five standard errors (6e-7)."""
    (design,) = designs(Filter(1.0), 5, Neighbours.REPLACE_ONE)
    dependence = resolution(design.plan.false_hit) * 0.6
    expected, trials = design.plan.false_hit(dependence), 4000
    with testing.seeded(8):
        hits = sum(design.mechanism.start(0.0).ask(design.plan.shift - dependence) for _ in range(trials))
    assert abs(hits / trials - expected) < 5 * math.sqrt(expected * (1 - expected) / trials)


def test_a_cap_leaves_the_rest_untested(task: Any) -> None:
    """Three deletions paid for: the search ends, and what it did not get to is named."""
    with testing.seeded(3):
        found = run(task("survey", 50.0), positives=3)
    assert len(found.skeleton.separating) == 3
    assert not found.skeleton.complete
    assert found.skeleton.unanswered_from
    assert len(found.skeleton.edges) == 12


def test_one_charge_for_one_session(task: Any) -> None:
    given = task("cancer", 5.0)
    with testing.seeded(3):
        found = run(given)
    (event,) = given.budget.events
    assert (event.epsilon, event.kind) == (5.0, "pure")
    assert (found.notes[0].most, found.notes[0].renewed) == (10, False)
    assert "one noisy threshold for up to 10 deletions of edges" in note_words(found.notes[0])


def test_notes_do_not_depend_on_rows(task: Any) -> None:
    """What is said in words is public: the same for another data set of the same shape."""
    said = {run(task("cancer", 5.0, rows=rows)).notes for rows in (50, 5000)}
    said |= {run(task("earthquake", 5.0, rows=70)).notes}
    assert len(said) == 1
