"""Budgets: refusals that say asked, spent and left, and no way to spend twice."""

from __future__ import annotations

import copy
import math
import multiprocessing
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

from dpcausal.core.errors import BudgetError, InputError, LedgerError
from dpcausal.privacy.accounting.composition import FirstCharge, PartOfTotal
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.events import ApproximateEvent, GaussianEvent, LaplaceEvent, PureEvent
from dpcausal.privacy.ledger import Ledger


def pure(epsilon: float, neighbours: str = "replace-one") -> PureEvent:
    return PureEvent(label="x", neighbours=neighbours, mechanism="m", cost=epsilon)


def test_refusal_says_asked_spent_left() -> None:
    budget = Budget(1.0)
    budget.charge(pure(0.75))
    with pytest.raises(BudgetError) as caught:
        budget.charge(pure(0.5))
    error = caught.value
    assert (error.unit, error.asked, error.spent, error.left, error.exit_code) == (
        "epsilon",
        0.5,
        0.75,
        0.25,
        3,
    )
    assert "asked epsilon 0.5, spent 0.75, left 0.25" in str(error)
    assert len(budget.events) == 1
    budget.charge(pure(0.25))  # the refusal took nothing
    assert budget.spent_epsilon() == 1.0


def test_ten_tenths_fill_a_budget_of_one() -> None:
    budget = Budget(1.0)
    for _ in range(10):
        budget.charge(pure(0.1))
    assert budget.left_epsilon() == 0.0
    with pytest.raises(BudgetError):
        budget.charge(pure(1e-9))


def test_several_events_all_or_none() -> None:
    budget = Budget(1.0)
    assert not budget.affords(pure(0.5), pure(0.6))
    with pytest.raises(BudgetError):
        budget.charge(pure(0.5), pure(0.6))
    assert budget.events == ()
    assert budget.affords(pure(0.5), pure(0.5))


def test_refusals_in_rho_and_delta() -> None:
    gaussian = GaussianEvent(label="t", neighbours="replace-one", sensitivity=1, sigma=5)
    budget = Budget(1.0, 1e-6)
    budget.charge(gaussian)
    with pytest.raises(BudgetError, match=r"asked rho 0\.02") as caught:
        budget.charge(gaussian)
    assert caught.value.unit == "rho"
    assert caught.value.left == pytest.approx(budget.left_rho())
    with pytest.raises(BudgetError, match="asked delta 1e-07, spent 0, left 0"):
        budget.charge(
            ApproximateEvent(label="a", neighbours="replace-one", mechanism="m", cost=0.1, slack=1e-7)
        )
    with pytest.raises(BudgetError, match="asked epsilon inf"):
        Budget(1.0).charge(gaussian)


def test_left_epsilon_takes_the_better_way() -> None:
    budget = Budget(1.0, 1e-6)
    assert budget.left_epsilon() == 1.0
    budget.charge(*[pure(0.01)] * 200)
    assert budget.left_epsilon() == pytest.approx(math.sqrt(2 * budget.left_rho()))
    assert budget.affords(pure(budget.left_epsilon()))
    assert not budget.affords(pure(budget.left_epsilon() * 1.0001))
    assert budget.spent_epsilon() <= 1.0


def test_other_neighbours_are_refused() -> None:
    with pytest.raises(InputError, match=r"add-remove .*replace-one"):
        Budget(1.0).charge(pure(0.1, "add-remove"))
    Budget(1.0, neighbours="add-remove").charge(pure(0.1, "add-remove"))


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf])
def test_bad_epsilon(epsilon: float) -> None:
    with pytest.raises(InputError, match="epsilon"):
        Budget(epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1, math.nan])
def test_bad_delta(delta: float) -> None:
    with pytest.raises(InputError, match="delta"):
        Budget(1.0, delta)


def test_no_budget_takes_no_charges() -> None:
    with pytest.raises(InputError, match="epsilon is None"):
        Budget.none().charge(pure(0.1))


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_no_copies(duplicate: Any) -> None:
    with pytest.raises(TypeError, match="can't be copied"):
        duplicate(Budget(1.0))


def _charge_in_child(budget: Budget, answers: Any) -> None:
    try:
        budget.charge(pure(0.1))
        answers.put("charged")
    except InputError as error:
        answers.put(str(error))


def test_not_after_fork() -> None:
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    child = fork.Process(target=_charge_in_child, args=(Budget(1.0), answers))
    child.start()
    assert "forked" in answers.get(timeout=30)
    child.join()


def test_threads_can_not_overspend_together() -> None:
    budget, accepted = Budget(1.0), []

    def spend() -> None:
        for _ in range(200):
            try:
                budget.charge(pure(0.001))
                accepted.append(1)
            except BudgetError:
                return

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accepted) == len(budget.events) == 1000


def test_ledger_is_charged_once_for_the_whole_before_the_first_event(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    ledger = Ledger.open(url, create=True)
    ledger.create("d", 1.0, 1e-6)
    budget = Budget(0.6, 1e-7, ledger=url, dataset="d", note={"method": "pc"})
    assert ledger.show("d")[0].releases == 0
    laplace = LaplaceEvent(label="c", neighbours="replace-one", sensitivity=1, scale=10)
    budget.charge(laplace)
    budget.charge(laplace)
    account = ledger.show("d")[0]
    assert (account.releases, account.spent_epsilon, account.spent_delta) == (1, 0.6, 1e-7)
    assert ledger.log("d")[-1].to_dict()["note"]["method"] == "pc"
    note = budget.statement(released=["c"]).ledger
    assert note is not None
    assert (note["dataset"], note["hash"]) == ("d", ledger.log("d")[-1].hash)
    with pytest.raises(
        BudgetError, match=r"data set .d. .*asked epsilon 0\.6, spent 0\.6, left 0\.4"
    ) as caught:
        Budget(0.6, ledger=ledger, dataset="d").charge(laplace)
    assert caught.value.left == pytest.approx(0.4)


def test_ledger_that_fails_charges_nothing(tmp_path: Path) -> None:
    budget = Budget(1.0, ledger=f"sqlite:///{tmp_path}/none.db", dataset="d")
    with pytest.raises(LedgerError, match="no ledger"):
        budget.charge(pure(0.1))
    assert budget.events == ()


def test_ledger_arguments_go_together() -> None:
    with pytest.raises(InputError, match="needs the name"):
        Budget(1.0, ledger="sqlite:///x.db")
    with pytest.raises(InputError, match="needs a ledger"):
        Budget(1.0, dataset="d")
    with pytest.raises(InputError, match="without privacy"):
        Budget(None, ledger="sqlite:///x.db", dataset="d")


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_each_of_two_rounds_is_stated_with_the_total_of_both(delta: float) -> None:
    """Its own events are not all, even where all of them were fixed beforehand: the other round is charged with it."""
    first = Budget(1.0, delta, part=PartOfTotal(1, 0.25))
    second = Budget(1.0, delta, part=PartOfTotal(2, 0.25), rest_of=FirstCharge(f"of this test, {delta}"))
    for budget in (first, second):
        budget.charge(pure(0.05))
        told = budget.statement(released=(), adaptive=False)
        assert (told.epsilon, told.delta) == (1.0, delta)


def test_a_share_kept_for_later_is_refused_until_it_is_opened(tmp_path: Path) -> None:
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'b.db'}", create=True)
    ledger.create("rows", 1.0, 1e-6)
    budget = Budget(1.0, 1e-6, later=0.25, ledger=ledger, dataset="rows")
    assert (budget.total.epsilon, budget.total.rho) == (0.75, 0.75 * budget.whole.rho)
    budget.charge(pure(0.75))
    assert not budget.affords(pure(0.2))
    with pytest.raises(BudgetError):
        budget.charge(pure(0.2))
    told = budget.statement(released=(), adaptive=False)
    assert (told.epsilon, told.delta, told.asked["epsilon"]) == (1.0, 1e-6, 1.0)  # the promise holds for both
    assert ledger.log("rows")[-1].epsilon == "1.0"
    budget.open_later()
    budget.charge(pure(0.25))
    with pytest.raises(BudgetError):
        budget.charge(pure(0.01))
    for share in (1.0, -0.5):
        with pytest.raises(InputError, match="share"):
            Budget(1.0, later=share)
