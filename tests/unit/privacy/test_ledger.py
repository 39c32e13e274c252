"""The ledger's behaviour, the same on SQLite and PostgreSQL."""

from __future__ import annotations

import math
import multiprocessing
import threading
from typing import Any

import pytest

from dpcausal.core.errors import BudgetError, InputError, LedgerError
from dpcausal.privacy.ledger import Ledger


@pytest.fixture
def ledger(ledger_url: str) -> Ledger:
    opened = Ledger.open(ledger_url, create=True)
    opened.create("d", 1.0, 1e-6)
    return opened


def test_create_charge_show_log(ledger: Ledger) -> None:
    first = ledger.charge("d", "r1", 0.25, 1e-7, note={"what": "a graph"})
    second = ledger.charge("d", "r2", 0.5)
    assert (first.seq, second.seq, second.previous) == (2, 3, first.hash)
    (account,) = ledger.show()
    assert (account.epsilon, account.spent_epsilon, account.left_epsilon) == (1.0, 0.75, 0.25)
    assert (account.delta, account.spent_delta, account.left_delta) == (1e-6, 1e-7, 9e-7)
    assert (account.releases, account.neighbours) == (2, "replace-one")
    assert [entry.kind for entry in ledger.log()] == ["create", "charge", "charge"]
    assert ledger.log("d")[1] == first
    assert first.to_dict()["note"] == {"neighbours": "replace-one", "what": "a graph"}


def test_refusal_says_asked_spent_left_and_records_nothing(ledger: Ledger) -> None:
    ledger.charge("d", "r1", 0.75)
    with pytest.raises(BudgetError) as caught:
        ledger.charge("d", "r2", 0.5)
    assert (caught.value.unit, caught.value.asked, caught.value.spent, caught.value.left) == (
        "epsilon",
        0.5,
        0.75,
        0.25,
    )
    with pytest.raises(BudgetError, match="asked delta 2e-06"):
        ledger.charge("d", "r2", 0.1, 2e-6)
    assert len(ledger.log()) == 2
    assert ledger.verify().ok


def test_ten_tenths(ledger: Ledger) -> None:
    for index in range(10):
        ledger.charge("d", f"r{index}", 0.1)
    with pytest.raises(BudgetError):
        ledger.charge("d", "more", 1e-6)
    assert ledger.show("d")[0].left_epsilon == 0.0


def test_the_same_release_twice_is_one_charge(ledger: Ledger) -> None:
    once = ledger.charge("d", "r1", 0.8)
    assert ledger.charge("d", "r1", 0.8) == once  # though 0.8 more would not fit
    assert ledger.show("d")[0].releases == 1
    for other in ((0.7, 0.0), (0.8, 1e-7)):
        with pytest.raises(LedgerError, match="another content"):
            ledger.charge("d", "r1", *other)
    ledger.create("e", 1.0)
    with pytest.raises(LedgerError, match="charged before"):
        ledger.charge("e", "r1", 0.8)


def test_data_sets_are_apart_but_share_the_chain(ledger: Ledger) -> None:
    ledger.create("e", 0.5, neighbours="add-remove")
    ledger.charge("d", "r1", 1.0)
    ledger.charge("e", "r2", 0.5, neighbours="add-remove")
    assert [account.left_epsilon for account in ledger.show()] == [0.0, 0.0]
    assert ledger.verify().entries == 4
    said = (
        "kept for add-remove neighbours, not replace-one: ask with neighbours='add-remove'. One set of people"
    )
    with pytest.raises(LedgerError, match=said):
        ledger.charge("e", "r3", 0.1)


def test_a_total_is_for_ever(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="'d' already"):
        ledger.create("d", 100.0)
    assert ledger.show("d")[0].epsilon == 1.0


def test_unknown_data_set(ledger: Ledger) -> None:
    ledger.create("patients", 1.0)
    with pytest.raises(LedgerError, match=r"'patient' .*\"patients\""):
        ledger.charge("patient", "r1", 0.1)
    for read in (ledger.show, ledger.log):
        with pytest.raises(LedgerError, match="'nobody'"):
            read("nobody")


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf])
def test_bad_epsilon(ledger: Ledger, epsilon: float) -> None:
    with pytest.raises(InputError, match="epsilon"):
        ledger.charge("d", "r1", epsilon)
    with pytest.raises(InputError, match="epsilon"):
        ledger.create("e", epsilon)
    assert len(ledger.log()) == 1


@pytest.mark.parametrize("delta", [-1e-9, 1, math.nan, math.inf])
def test_bad_delta(ledger: Ledger, delta: float) -> None:
    with pytest.raises(InputError, match="delta"):
        ledger.charge("d", "r1", 0.1, delta)
    with pytest.raises(InputError, match="delta"):
        ledger.create("e", 1.0, delta)


@pytest.mark.parametrize("release", ["", "create:d", "a b", "x" * 101, "a\n", "é"])
def test_bad_release_id(ledger: Ledger, release: str) -> None:
    with pytest.raises(InputError, match="release id"):
        ledger.charge("d", release, 0.1)


@pytest.mark.parametrize("name", ["", " d", "d ", "x" * 201, "a\nb", "a\x00b"])
def test_bad_data_set_name(ledger: Ledger, name: str) -> None:
    with pytest.raises(InputError, match="data set name"):
        ledger.create(name, 1.0)


def test_names_that_look_like_sql_are_names(ledger: Ledger) -> None:
    name = "x'; DROP TABLE dpcausal_entries; -- %s {0} ñ"
    ledger.create(name, 1.0)
    ledger.charge(name, "r1", 0.5)
    assert ledger.show(name)[0].left_epsilon == 0.5
    assert ledger.verify().ok


def test_opening_again_finds_the_same(ledger: Ledger, ledger_url: str) -> None:
    ledger.charge("d", "r1", 0.5)
    assert Ledger.open(ledger_url).log() == Ledger.open(ledger_url, create=True).log() == ledger.log()


def test_no_ledger_there(ledger_url: str) -> None:
    with pytest.raises(LedgerError, match="dpcausal ledger create"):
        Ledger.open(ledger_url)


def test_many_creators_make_one_ledger(ledger_url: str) -> None:
    ledgers: list[Ledger] = []
    threads = [
        threading.Thread(target=lambda: ledgers.append(Ledger.open(ledger_url, create=True)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledgers) == 6
    assert len({ledger.verify().head for ledger in ledgers}) == 1


def _spend(ledger: Ledger, name: int, answers: Any) -> None:
    accepted = 0
    for index in range(10):
        try:
            ledger.charge("d", f"{name}-{index}", 0.05)
            accepted += 1
        except BudgetError:
            pass
    answers.put(accepted)


def test_forked_processes_share_a_ledger_object_safely(ledger: Ledger) -> None:
    """Each would spend half of the total alone; together they must stop at 20 charges."""
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    children = [fork.Process(target=_spend, args=(ledger, name, answers)) for name in range(4)]
    for child in children:
        child.start()
    accepted = [answers.get(timeout=60) for _ in children]
    for child in children:
        child.join()
    assert sum(accepted) == 20 == ledger.show("d")[0].releases
    assert ledger.verify().ok
