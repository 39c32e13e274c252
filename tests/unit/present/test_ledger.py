"""What a ledger tells in words: all releases together, what is left, and why it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcausal.core.errors import BudgetError, LedgerError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import Noisy
from dpcausal.present.ledger import combined_words, left_words, promise_words
from dpcausal.present.statement import CHANGES, meaning_words
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.events import PureEvent
from dpcausal.privacy.ledger import Ledger


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/ledger.db"


@pytest.fixture
def ledger(url: str) -> Ledger:
    made = Ledger.open(url, create=True)
    made.create("cohort", 3.0, 1e-5)
    return made


def test_all_releases_together_in_words(ledger: Ledger) -> None:
    (account,) = ledger.show()
    assert "epsilon" not in promise_words(account)  # nothing was released
    ledger.charge("cohort", "a", 1.0, 1e-6)
    (account,) = ledger.show()
    words = promise_words(account)
    for part in (
        "epsilon 1, delta 1e-06 (replace-one)",
        CHANGES[Neighbours.REPLACE_ONE],
        " 2.72 times ",
        "most 1e-06",
    ):
        assert part in words
    assert left_words(account) == "cohort: epsilon 2 of 3 left, delta 9e-06 of 1e-05 left."
    ledger.charge("cohort", "b", 1.6, 1e-6)
    (account,) = ledger.show()
    words = promise_words(account)
    assert words.startswith("All 2 releases together: epsilon 2.6, delta 2e-06 (replace-one)")
    assert " 13.5 times " in words  # e^2.6


@pytest.mark.parametrize(("epsilon", "weak"), [(3.0, False), (3.1, True)])
def test_a_weak_sum_is_called_that(ledger: Ledger, epsilon: float, weak: bool) -> None:
    ledger.create("open", 20.0)
    ledger.charge("open", "a", epsilon)
    (account,) = ledger.show("open")
    assert promise_words(account).endswith(meaning_words(epsilon, 0.0, "replace-one"))
    assert ("protects weakly" in promise_words(account)) is weak


def test_without_delta_there_is_no_exception(ledger: Ledger) -> None:
    ledger.charge("cohort", "a", 1.0)
    (account,) = ledger.show()
    assert "apart from" not in promise_words(account)


@pytest.mark.parametrize(
    ("relation", "said"),
    [("replace-one", "sum of epsilon"), ("add-remove", "relations differ (add-remove, ")],
)
def test_several_data_sets_are_told_apart(ledger: Ledger, relation: str, said: str) -> None:
    ledger.create("survey", 1.0, neighbours=relation)
    ledger.charge("cohort", "a", 1.0)
    assert combined_words(ledger.show()) == ""
    ledger.charge("survey", "b", 1.0, neighbours=relation)
    assert said in combined_words(ledger.show())


def test_left_after_a_charge_is_that_of_the_charge(ledger: Ledger, url: str) -> None:
    first = ledger.charge("cohort", "a", 1.0, 1e-6)
    Ledger.open(url).charge("cohort", "b", 1.5)  # somebody else, later
    assert ledger.left_after(first) == {"epsilon": 2.0, "delta": 9e-6}


def test_a_statement_knows_what_is_left(ledger: Ledger, url: str) -> None:
    del ledger
    budget = Budget(0.5, 1e-6, ledger=url, dataset="cohort")
    budget.charge(PureEvent(label="x", neighbours="replace-one", mechanism="m", cost=0.25))
    note = budget.statement(released=[Noisy("table")]).ledger
    assert note is not None
    assert note["left"] == {"epsilon": 2.5, "delta": 9e-6}


def test_a_data_set_that_is_there_is_told_with_its_total(ledger: Ledger) -> None:
    ledger.charge("cohort", "a", 2.6, 2e-6)
    with pytest.raises(
        LedgerError,
        match=r"already: total epsilon 3, delta 1e-05 \(replace-one\); left epsilon 0\.4, delta 8e-06;",
    ):
        ledger.create("cohort", 5.0)


def test_a_total_without_delta_says_so(ledger: Ledger) -> None:
    ledger.create("pure", 1.0)
    with pytest.raises(
        BudgetError, match=r"left 0; the total was fixed without a delta: ask without one; a new"
    ):
        ledger.charge("pure", "a", 0.5, 1e-6)


@pytest.mark.parametrize(
    ("asked", "spent", "said"),
    [
        (1.0, 2.5, "left 0.5; ask for at most 0.5 of epsilon; a new budget"),
        (1.0, 3.0, "left 0; nothing is left: a"),
    ],
)
def test_the_refusal_itself_says_what_can_be_done(
    ledger: Ledger, asked: float, spent: float, said: str
) -> None:
    ledger.charge("cohort", "a", spent)
    with pytest.raises(BudgetError) as caught:
        ledger.charge("cohort", "b", asked)
    assert said in str(caught.value)
    assert str(caught.value).count("a new budget is the decision") == 1
