"""The oracle: one charge per unordered question, a hard total, and what it says when nothing is left."""

from __future__ import annotations

import pickle

import pytest

import dpcausal as dc
from dpcausal.adapters import PrivateOracle
from dpcausal.core.errors import BudgetError, InputError
from dpcausal.core.statement import BudgetEnded, WeakDelta

DATA = dc.networks.load("asia").sample(2_000, seed=3)


def test_each_unordered_question_is_paid_once() -> None:
    oracle = PrivateOracle(DATA, epsilon=1.0, questions=10)
    first = oracle.ask("asia", "dysp", ["smoke", "lung"])
    assert oracle.ask("dysp", "asia", ("lung", "smoke")) is first
    assert (oracle.calls, oracle.charged) == (2, 1)
    oracle.ask("asia", "dysp", ["smoke"])
    assert (oracle.calls, oracle.charged, len(oracle.privacy.events)) == (3, 2, 2)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_exactly_the_questions_asked_for_are_paid(delta: float, relation: str) -> None:
    oracle = PrivateOracle(DATA, epsilon=1.0, delta=delta, questions=7, neighbours=relation)
    others = [name for name in oracle.columns if name != "asia"]
    for name in others:
        oracle.ask("asia", name)
    assert (oracle.charged, oracle.refused) == (7, ())
    assert oracle.privacy.epsilon == pytest.approx(1.0)
    assert oracle.privacy.delta == delta
    answer = oracle.ask("smoke", "lung")
    assert not answer.independent
    assert answer.pvalue is None
    assert oracle.refused == ("smoke and lung",)
    assert oracle.pvalue("smoke", "lung") == 0.0
    assert oracle.charged == 7
    assert len(oracle.privacy.events) == 7
    assert BudgetEnded(questions=1) in oracle.privacy.limits


def test_many_questions_are_cheaper_with_a_delta() -> None:
    pure = PrivateOracle(DATA, epsilon=1.0, questions=1000)
    approximate = PrivateOracle(DATA, epsilon=1.0, delta=1e-6, questions=1000)
    assert pure.each is not None
    assert approximate.each is not None
    assert approximate.each > 5 * pure.each


def test_without_privacy_it_says_so() -> None:
    oracle = PrivateOracle(DATA, epsilon=None, method="g")
    assert not oracle.ask("smoke", "lung").independent
    assert not oracle.privacy.private
    assert oracle.privacy.epsilon is None
    assert oracle.pvalue("asia", "smoke") > oracle.pvalue("smoke", "lung")


def test_the_first_question_must_be_payable() -> None:
    oracle = PrivateOracle(DATA, epsilon=1.0, each=2.0)
    with pytest.raises(BudgetError):
        oracle.ask("asia", "tub")
    assert oracle.charged == 0
    assert oracle.refused == ()


def test_a_ledger_that_refuses_is_no_answer(tmp_path: object) -> None:
    from dpcausal.privacy.ledger import Ledger

    ledger = Ledger.open(f"sqlite:///{tmp_path}/ledger.db", create=True)
    ledger.create("asia", epsilon=0.5, delta=0.0)
    oracle = PrivateOracle(DATA, epsilon=1.0, questions=2, ledger=ledger, dataset="asia")
    with pytest.raises(BudgetError):
        oracle.ask("asia", "tub")


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 1.0},
        {"epsilon": 1.0, "each": 0.1, "questions": 3},
        {"epsilon": 1.0, "questions": 0},
        {"epsilon": None, "questions": 3},
        {"epsilon": 1.0, "questions": 3, "neighbours": "fixed-labels"},
        {"epsilon": 1.0, "delta": 1e-6, "questions": 3, "method": "chi2", "median": "laplace"},
    ],
)
def test_bad_arguments(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        PrivateOracle(DATA, **wrong)  # type: ignore[arg-type]


def test_no_copies() -> None:
    with pytest.raises(TypeError, match="budget"):
        pickle.dumps(PrivateOracle(DATA, epsilon=1.0, questions=2))


def test_a_weak_promise_is_told_with_the_number_of_rows() -> None:
    """delta above one over the rows is called weak, unless the number of rows is protected."""
    for relation, told in (("replace-one", True), ("add-remove", False)):
        oracle = PrivateOracle(DATA, epsilon=1.0, delta=0.1, questions=7, neighbours=relation)
        oracle.ask("asia", "smoke")
        assert any(isinstance(limit, WeakDelta) for limit in oracle.privacy.weak) == told
