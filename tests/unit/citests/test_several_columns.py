"""``ci_test`` about groups of columns: who takes them, what is asked, what is found, what the answer says."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.base import MAX_INDICATORS, Question
from dpcausal.citests.registry import TESTS, make_test
from dpcausal.citests.regression_columns import columns_of
from dpcausal.citests.session import Session
from dpcausal.privacy.budget import Budget

SCHEMA = dc.Schema(
    a=dc.Numeric(-6, 6),
    b=dc.Numeric(-6, 6),
    y=dc.Numeric(-6, 6),
    z=dc.Numeric(-4, 4),
    c=dc.Categorical(["u", "v", "w"]),
)


def rows(n: int = 2000, strength: float = 0.0, seed: int = 0) -> dc.Dataset:
    rng = np.random.default_rng(seed)
    z, a, b, y = rng.normal(size=(4, n))
    columns = {"a": z + a, "b": b - z, "y": z + strength * b + y, "z": z, "c": rng.choice(["u", "v", "w"], n)}
    return dc.read(columns, SCHEMA)


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_a_dependence_of_one_column_of_the_group_is_found(neighbours: str) -> None:
    with dc.testing.seeded(1):
        for x in (["a", "b"], ["b", "c"]):
            found = dc.ci_test(rows(strength=1.0), x, "y", ["z"], epsilon=2.0, neighbours=neighbours)
            assert (found.independent, found.method, found.direction) == (False, "gcm", None)
            assert found.privacy.epsilon == 2.0
            assert len(found.privacy.events) == 1


@pytest.mark.slow
def test_independent_groups_are_seldom_rejected() -> None:
    """Level .05, 40 data sets: more than 8 rejections have probability below 1e-3."""
    rejected = 0
    with dc.testing.seeded(2):
        for seed in range(40):
            data = rows(600, seed=seed)
            rejected += not dc.ci_test(data, ["a", "b"], ["y", "c"], ["z"], epsilon=4.0).independent
    assert rejected <= 8


def test_the_answer_names_the_group() -> None:
    found = dc.ci_test(rows(400), ["b", "a"], "y", ["z"], epsilon=1.0)
    assert (found.x, found.y) == (("b", "a"), "y")
    assert json.loads(found.to_json())["x"] == ["b", "a"]
    assert "(b, a) and y given z" in found.summary()
    assert "(a, b) and y given z" in found.privacy.to_json()


def test_one_column_in_a_list_is_that_column() -> None:
    one = dc.ci_test(rows(300), ["a"], "y", ["z"], method="gcm", epsilon=None)
    other = dc.ci_test(rows(300), "a", "y", ["z"], method="gcm", epsilon=None)
    assert (one.x, one.pvalue, one.direction) == ("a", other.pvalue, other.direction)


@pytest.mark.parametrize("name", [name for name in TESTS if not TESTS[name].info.several_columns])
def test_other_tests_refuse_groups_before_any_charge(name: str) -> None:
    budget = Budget(1.0)
    with pytest.raises(dc.InputError, match="takes one column"):
        dc.ci_test(rows(100), ["a", "b"], "y", method=name, epsilon=1.0)
    session = Session(rows(100), make_test(name, {}), level=0.05, epsilon=1.0, budget=budget)
    with pytest.raises(dc.InputError, match="takes one column"):
        session.ask(["a", "b"], "y")
    assert not budget.events


def test_other_variants_refuse_groups() -> None:
    for variant in ("weighted", "bins", "moments", "residuals"):
        with pytest.raises(dc.InputError, match="takes one column"):
            dc.ci_test(rows(100), ["a", "b"], "y", method="gcm", variant=variant, epsilon=1.0)


@pytest.mark.parametrize(
    ("x", "told"),
    [([], "x names no column"), (["a", "a"], "name a column twice"), (["a", "y"], "name a column twice"),
     (["a", 5], "must be text"), (["a", "z"], "name a column twice"), (["a", "q"], 'no column "q"')],
)  # fmt: skip
def test_a_wrong_group_is_one_line(x: list[str], told: str) -> None:
    with pytest.raises(dc.InputError, match=told):
        dc.ci_test(rows(100), x, "y", ["z"], epsilon=1.0)


def test_questions_about_groups_are_told_apart() -> None:
    keys = [
        Question.of(SCHEMA, *sides).key
        for sides in ((["a", "b"], "y"), ("a", "y"), ("b", "y"), (["a", "b"], ["y", "z"]), (["a", "y"], "b"))
    ]
    assert len(set(keys)) == len(keys)
    assert Question.of(SCHEMA, "y", ["b", "a"]).key == keys[0]


def test_a_session_answers_a_group_once() -> None:
    budget = Budget(2.0)
    session = Session(rows(300), make_test("gcm", {}), level=0.05, epsilon=1.0, budget=budget)
    first = session.ask(["a", "b"], "y", ["z"])
    assert session.ask("y", ("b", "a"), ["z"]) == first
    assert len(budget.events) == 1


def test_levels_without_an_order_have_an_indicator_each() -> None:
    many = dc.Schema(
        c=dc.Categorical(list(range(200))), y=dc.Numeric(0, 1), o=dc.Categorical([0, 1, 2], ordered=True)
    )
    data = dc.read({"c": [0, 1, 199], "y": [0.0, 0.5, 1.0], "o": [0, 1, 2]}, many)
    columns = columns_of(Question.of(many, "c", "y"), data)
    assert (columns.x.shape, columns.pairs) == ((3, MAX_INDICATORS), MAX_INDICATORS)
    assert columns.x[:, :2].tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    assert columns_of(Question.of(many, ["y", "o"], "c"), data).pairs == 2 * MAX_INDICATORS
    assert columns_of(Question.of(many, "y", "o"), data).pairs == 1
    for x, y in (
        ("c", "y"),
        (["y", "o"], "c"),
        ("o", "y"),
        ("c", "o"),
    ):  # known from the schema, before a row is read
        question = Question.of(many, x, y)
        assert math.prod(question.widths) == columns_of(question, data).pairs
