"""Priv-PC: charged at every hit, refreshed at every hit, subsample as an option."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpcausal import testing
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.discovery.priv_pc import SieveAnswers, run
from dpcausal.discovery.scores import scorer_for
from dpcausal.discovery.search import Query
from dpcausal.planning.sieve import SHARE, once, optimal_subsample, rounds
from dpcausal.present.notes import note_words
from dpcausal.privacy.accounting.composition import Filter


def test_the_parts_add_up_to_the_total() -> None:
    pure = once(Filter(2.0), 7, 0.5, Neighbours.REPLACE_ONE).mechanism.event("x")
    assert 1.999 < pure.epsilon <= 2.0
    total = Filter(2.0, 1e-6)
    round_cost = rounds(total, 7, 0.3, Neighbours.REPLACE_ONE, None, None).mechanism.event("x").rho
    assert 0.999 * total.rho < 7 * round_cost <= total.rho


def test_rounds_are_charged_at_every_hit_whether_it_passes_or_not(task: Any) -> None:
    """Ask about a dependent pair until the sieve is hit by chance: examinations fail, charges go on."""
    given = task("earthquake", 2.0, 1e-6)
    design = rounds(given.budget.total, 10, 0.5, given.neighbours, given.n, None)
    answers = SieveAnswers(given, design, scorer_for(given))
    shift = design.sieve.shift
    strong = Query("Burglary", "Alarm", ("Earthquake",))
    given_answers = []
    with testing.seeded(5):
        answers._scorer.evidence = lambda batch: (  # type: ignore[method-assign,assignment]
            shift + 0.0 * _ones(batch),
            1e9 * _ones(batch),
        )
        while (reply := answers([strong])) is not None:
            given_answers += reply
    events = given.budget.events
    assert len(events) == 10
    assert len({event.rho for event in events}) == 1
    assert any(answer is False for answer in given_answers)


def _ones(batch: list[Query]) -> Any:
    import numpy as np

    return np.ones(len(batch))


def test_refresh_means_a_new_threshold(task: Any) -> None:
    """A session is never used after its hit: its threshold noise would be shared by two answers."""
    given = task("survey", 30.0, 1e-6)
    design = rounds(given.budget.total, 15, 0.5, given.neighbours, given.n, None)
    answers, seen = SieveAnswers(given, design, scorer_for(given)), []
    begin = answers._ready

    def ready() -> bool:
        held = begin()
        if held and (not seen or seen[-1] is not answers._rounds.current):
            seen.append(answers._rounds.current)
        return held

    answers._ready = ready  # type: ignore[method-assign]
    pairs = [Query("A", "S", ()), Query("A", "T", ()), Query("S", "O", ()), Query("S", "R", ())]
    with testing.seeded(6):
        for pair in pairs * 4:
            answers([pair])
    assert len(seen) == len(given.budget.events) > 1
    assert all(session.halted for session in seen[:-1])


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_subsample_runs_and_stays_within_the_total(task: Any, delta: float) -> None:
    given = task("cancer", 50.0, delta, rows=20_000)
    with testing.seeded(1):
        found = run(given, subsample="optimal")
    assert given.budget.spent_epsilon() <= 50.0
    assert found.skeleton.edges
    with testing.seeded(1):
        half = run(task("cancer", 50.0, delta, rows=20_000), subsample=10_000)
    assert half.notes[0].rows == 10_000
    assert "on 10,000 rows" in note_words(half.notes[0])


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_best_subsample_is_used(task: Any, delta: float) -> None:
    """No other size makes sqrt(n/m)/eps' smaller by more than a thousandth; here it is neither end of the range."""
    n, epsilon = 20_000, 6.0
    given = task("cancer", epsilon, delta, rows=n)
    with testing.seeded(1):
        size = run(given, subsample="optimal").notes[0].rows
    plain = rounds(given.budget.total, 10, SHARE, given.neighbours, n, None).mechanism.epsilon_sieve
    ratios = [n / m for m in range(n // 20, n + 1)]
    noise = [math.sqrt(ratio) / math.log1p(ratio * math.expm1(plain)) for ratio in ratios]
    assert n // 20 < size < n
    assert noise[size - n // 20] <= 1.001 * min(noise)


def test_subsample_needs_a_public_number_of_rows(task: Any) -> None:
    with pytest.raises(InputError, match="replace-one"):
        run(task("cancer", 1.0, neighbours=Neighbours.ADD_REMOVE), subsample=100)


def test_optimal_subsample_is_clipped() -> None:
    assert optimal_subsample(1e-4, 1000) == 50
    assert optimal_subsample(5.0, 1000) == 1000
    assert 50 < optimal_subsample(0.7, 1000) < 1000


def test_notes_do_not_depend_on_rows(task: Any) -> None:
    said = {run(task("cancer", 5.0, rows=rows)).notes for rows in (50, 5000)}
    assert len(said) == 1
