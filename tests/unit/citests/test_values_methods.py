"""Tests that work on values: what they are given, what they say is public, and when they are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests import registry
from dpcausal.citests.base import Charger, Outcome, Question, TableTest, TestInfo, TestSettings, ValueTest
from dpcausal.citests.session import Session
from dpcausal.core.statement import Stated
from dpcausal.counts.memory import counts_of
from dpcausal.privacy.mechanisms.additive import Laplace
from dpcausal.privacy.mechanisms.base import release

A_SUM = Stated(text="a sum")
WIDTH = Stated(text="the toy's width")


@dataclass(frozen=True)
class Toy(ValueTest):
    """The sum of x, values within 0 and 1."""

    info = TestInfo("toy", "the sum of x, with noise")
    releases = A_SUM
    assumes = (WIDTH,)

    def check(self, question: Question) -> None:
        if not question.numeric >= {question.x, question.y}:
            raise dc.InputError("toy needs numbers")

    def classical_values(self, question: Question, data: dc.Dataset, level: float) -> Outcome:
        return Outcome.at(level, 1.0, float(data.values[question.x].sum()))

    def private_values(
        self, question: Question, data: dc.Dataset, settings: TestSettings, budget: Charger
    ) -> Outcome:
        noise = Laplace(sensitivity=1.0, epsilon=settings.epsilon, neighbours=settings.neighbours)
        return Outcome.at(
            settings.level, 1.0, float(release(noise, budget, "toy", float(data.values[question.x].sum())))
        )


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> dc.Dataset:
    monkeypatch.setitem(registry.TESTS, "toy", Toy)
    schema = dc.Schema(x=dc.Numeric(0, 1), y=dc.Numeric(0, 1), c=dc.Categorical([0, 1]))
    grid = np.linspace(0, 1, 101)
    return dc.read({"x": grid, "y": grid**2, "c": (grid > 0.5).astype(int)}, schema)


def test_a_values_method_sees_the_rows_and_states_what_is_public(rows: dc.Dataset) -> None:
    found = dc.ci_test(rows, "x", "y", epsilon=100.0, method="toy")
    assert found.statistic == pytest.approx(50.5, abs=1.0)  # Laplace of scale .01: beyond 1 with e^-100
    assert WIDTH in found.privacy.public
    assert "the toy's width" in found.privacy.to_dict()["public"]
    assert found.privacy.epsilon == pytest.approx(100.0)
    assert dc.ci_test(rows, "x", "y", epsilon=None, method="toy").statistic == pytest.approx(50.5)


def test_counts_alone_are_refused(rows: dc.Dataset) -> None:
    with pytest.raises(dc.InputError, match="toy needs"):
        dc.ci_test(counts_of(rows), "x", "y", epsilon=1.0, method="toy")
    with pytest.raises(dc.InputError, match="not on tables"):
        registry.make_table_test("toy", {})
    with pytest.raises(dc.InputError, match="toy needs numbers"):
        dc.ci_test(rows, "c", "y", epsilon=1.0, method="toy")
    bad: Any = {"x": [1]}
    with pytest.raises(dc.InputError, match=r"dc\.read"):
        Session(bad, Toy(), level=0.05, epsilon=None)


def test_a_test_of_both_kinds_gets_rows_where_there_are_rows(rows: dc.Dataset) -> None:
    class Both(Toy, TableTest):
        def classical(self, blocks: Any, level: float) -> Outcome:
            return Outcome.at(level, 1.0, -1.0)

        def private(
            self, question: Question, blocks: Any, settings: TestSettings, budget: Charger
        ) -> Outcome:
            raise AssertionError

    both = Both()
    assert isinstance(both, TableTest)
    assert isinstance(both, ValueTest)
    assert Session(rows, both, level=0.05, epsilon=None).ask("x", "y").statistic == pytest.approx(50.5)
    assert Session(counts_of(rows), both, level=0.05, epsilon=None).ask("x", "y").statistic == -1.0


def test_questions_know_their_numbers(rows: dc.Dataset) -> None:
    assert Question.of(rows.schema, "c", "x", ["y"]).numeric == {"x", "y"}
