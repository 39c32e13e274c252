"""``method="tests"``: the end of its own total is the end of asking, a ledger that refuses is an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal import testing
from dpcausal.citests.registry import make_test
from dpcausal.citests.session import Session
from dpcausal.discovery.discover import METHODS
from dpcausal.discovery.search import Unanswered
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.ledger import Ledger

DATA = dc.networks.load("cancer").sample(500, seed=1)
PRIVATE = sorted(set(METHODS) - {"pc", "moments"})  # moments is for columns of numbers


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.open(f"sqlite:///{tmp_path}/l.db", create=True)
    made.create("d", 0.5)
    return made


@pytest.mark.parametrize("method", PRIVATE)
def test_a_ledger_that_refuses_is_an_error_whatever_the_method(ledger: Ledger, method: str) -> None:
    with pytest.raises(
        dc.BudgetError, match=r"data set 'd' does not allow it: asked epsilon 1, .* left 0\.5"
    ):
        dc.discover(DATA, method=method, epsilon=1.0, ledger=ledger, dataset="d")
    assert ledger.show("d")[0].releases == 0


def test_a_ledger_that_allows_is_charged_once(ledger: Ledger) -> None:
    found = dc.discover(DATA, method="tests", epsilon=0.5, ledger=ledger, dataset="d")
    assert ledger.show("d")[0].releases == 1
    assert found.privacy.ledger is not None
    with pytest.raises(dc.BudgetError, match="left 0"):
        dc.discover(DATA, method="tests", epsilon=0.5, ledger=ledger, dataset="d")
    assert ledger.show("d")[0].releases == 1


@pytest.mark.parametrize("paid", [1, 3])
def test_the_end_of_its_own_total_is_the_end_of_asking(ledger: Ledger, paid: int) -> None:
    """Tests at a whole part of epsilon each: so many are asked, and the pairs left are open."""
    with testing.seeded(1):
        found = dc.discover(
            DATA, method="tests", epsilon=0.5, test_epsilon=0.5 / paid, ledger=ledger, dataset="d"
        )
    assert not found.complete
    assert len(found.privacy.events) == paid
    assert len(found.open) == 10 - paid
    assert len(found.graph.skeleton) + len(found.absent) == paid
    assert ledger.show("d")[0].releases == 1


NUMBERS = dc.Schema({name: dc.Numeric(0, 1) for name in "wxyz"})
SAME = dict.fromkeys("wxyz", np.random.default_rng(3).random(200))  # every pair is dependent


def steps(events: Iterable[Mapping[str, Any]]) -> dict[str, list[bool]]:
    """By question, for every step that was paid for: whether it was the last one, the statistic."""
    found: dict[str, list[bool]] = {}
    for event in events:
        kind, question = event["label"].split(": ", 1)
        found.setdefault(question.split(", round")[0], []).append("(" not in kind)
    return found


@pytest.mark.parametrize(("delta", "left"), [(0.0, 2.0), (1e-6, 2.0), (0.0, 2.4)])
def test_strata_are_not_paid_for_where_the_statistic_can_not_be(delta: float, left: float) -> None:
    """The rest of the total would pay for the spread of a given column and not for the test that needs it."""
    data = dc.read(SAME, NUMBERS)
    each = (20 - left) / 7  # six questions of order 0, then one with a given column, and a rest
    with testing.seeded(2):
        found = dc.discover(
            data, method="tests", test="kendall", epsilon=20.0, delta=delta, test_epsilon=each, anyway=True
        )
    asked = steps(found.privacy.events)
    assert any(len(made) > 1 for made in asked.values())  # a test of several steps was paid for
    assert [made for made in asked.values() if made.count(True) != 1 or not made[-1]] == []


def test_a_regression_is_not_chosen_where_the_test_can_not_be_paid() -> None:
    data = dc.read(SAME, NUMBERS)
    budget = Budget(1.0)
    session = Session(
        data, make_test("gcm", {"variant": "moments", "select": True}), level=0.05, epsilon=0.7, budget=budget
    )
    session.ask("w", "x", ["y"])
    paid = budget.events
    with pytest.raises(dc.BudgetError):
        session.ask("w", "y", ["x"])  # the choice alone would fit
    assert budget.events == paid
    assert len(paid) == 2


@pytest.mark.parametrize(("rows", "epsilon", "weak"), [(200, 0.5, True), (20_000, 5.0, False)])
def test_independence_by_a_test_that_sees_nothing_is_open(rows: int, epsilon: float, weak: bool) -> None:
    """Six columns without any dependence: at 200 rows no test can tell, at 20,000 rows every one can."""
    schema = dc.Schema({name: dc.Categorical(["no", "yes"]) for name in "abcdef"})
    codes = np.random.default_rng(3).integers(0, 2, (6, rows))
    data = dc.read(
        {name: np.array(["no", "yes"])[codes[j]].tolist() for j, name in enumerate("abcdef")}, schema
    )
    with testing.seeded(2):
        found = dc.discover(data, method="tests", epsilon=epsilon)
    assert len(found.graph.skeleton) <= 4  # of 15 at level .05: more with a probability of .002
    decided = 15 - len(found.graph.skeleton)
    assert (len(found.open), len(found.absent)) == ((decided, 0) if weak else (0, decided))
    reasons = [note.reasons for note in found.notes if isinstance(note, Unanswered)]
    assert reasons == ([(("weak-test", decided),)] if weak else [])


def test_every_answer_counts_where_the_number_of_rows_is_protected() -> None:
    with testing.seeded(2):
        found = dc.discover(DATA, method="tests", epsilon=0.5, neighbours="add-remove")
    assert not any(isinstance(note, Unanswered) for note in found.notes)
    assert found.absent
