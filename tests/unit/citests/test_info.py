"""What every test says about itself, and what is made from it."""

from __future__ import annotations

import ast
import inspect
from dataclasses import is_dataclass
from pathlib import Path

import pytest

import dpcausal as dc
import dpcausal.citests
from dpcausal.citests.base import CITest, Question, TableTest, ValueTest
from dpcausal.citests.registry import TESTS, class_named, make_test
from dpcausal.cli.ci_test import help_text

UNORDERED = dc.Schema(
    x=dc.Categorical(["a", "b", "c"]), y=dc.Categorical(["a", "b", "c"]), z=dc.Numeric(0, 1)
)


@pytest.mark.parametrize("name", TESTS)
def test_it_is_a_value_with_options_that_have_a_line_each(name: str) -> None:
    test = TESTS[name]
    assert is_dataclass(test)
    assert issubclass(test, TableTest | ValueTest)
    assert [option.name for option in test.options()] == list(inspect.signature(test).parameters)
    for line in (test.info.description, *(option.line for option in test.options())):
        assert line
        assert "\n" not in line
        assert not line.endswith(".")


@pytest.mark.parametrize("name", sorted(TESTS.keys() - {"crt"}))
def test_it_refuses_unordered_levels_if_it_needs_an_order(name: str) -> None:
    question = Question.of(UNORDERED, "x", "y", ["z"])
    test = make_test(name, {})
    if not test.info.needs_order:
        assert not test.info.any_question or test.check(question) is None
        return
    with pytest.raises(dc.InputError, match="chi2, g or measured"):
        test.check(question)


def test_names_stand_in_one_place() -> None:
    """No module of the tests compares a name with a text: what a test needs is asked of its class."""
    spelled = []
    for path in Path(dpcausal.citests.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            texts = {side.value for side in sides if isinstance(side, ast.Constant)}
            names = {ast.unparse(side) for side in sides}
            spelled += [
                (path.name, node.lineno) for _ in texts & TESTS.keys() if names & {"name", "method", "test"}
            ]
    assert spelled == []


def test_inner_names_and_help() -> None:
    assert class_named("test-of-tests:gcm") is TESTS["test-of-tests"]
    with pytest.raises(dc.InputError, match=r"'kendal'.* auto, kendall, spearman"):
        class_named("kendal")
    assert all(f"\n{name}: {test.info.description}\n" in help_text() for name, test in TESTS.items())


def test_an_incomplete_test_is_not_made() -> None:
    class Mute(TableTest):
        """Says nothing."""

    assert CITest.registered is TESTS
    with pytest.raises(TypeError, match="abstract"):
        Mute()  # type: ignore[abstract]
