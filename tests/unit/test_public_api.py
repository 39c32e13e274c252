"""``help`` suffices: every public name says what it takes, with the methods, tests and options that really exist."""

from __future__ import annotations

import enum
import inspect
import re
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

import dpcausal as dc
from dpcausal import estimators
from dpcausal.citests.registry import TESTS, TestName, described_tests
from dpcausal.core.arguments import REQUIRED
from dpcausal.core.neighbours import Neighbours
from dpcausal.discovery.discover import METHODS, MethodName, discover
from dpcausal.estimators.base import Estimator

FILE_NAME = re.compile(r"[\w/]*\w\.(?:py|md)\b")
SECTION = re.compile(r"^(\w+)\n-+\n", flags=re.MULTILINE)
ENTRY = re.compile(r"^``([\w-]+)``: (.*?)(?=\n\n|\Z)", flags=re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"^- ``(\w+)=(.*?)``: (.*?)(?=\n- |\n\n|\Z)", flags=re.MULTILINE | re.DOTALL)
KINDS = [value for value in vars(estimators).values() if isinstance(value, type) and "method" in vars(value)]


def sections(text: str) -> dict[str, str]:
    """Return the numpydoc sections of a docstring by title."""
    parts = SECTION.split(text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented(text: str) -> dict[str, str]:
    """Return the names that sections of parameters and attributes explain, each with its type and default."""
    found = {}
    told = sections(text)
    for line in (told.get("Parameters", "") + "\n" + told.get("Attributes", "")).splitlines():
        if line and not line.startswith(" "):
            names, _, kind = line.partition(" : ")
            found.update(dict.fromkeys((name.strip("* ") for name in names.split(",")), kind))
    return found


def public() -> Iterator[tuple[str, Any]]:
    """Every public name, and those of public modules."""
    for name in dir(dc):
        value = getattr(dc, name)
        yield name, value
        if isinstance(value, ModuleType):
            for inner in value.__all__:
                if not isinstance(getattr(value, inner), ModuleType):
                    yield f"{name}.{inner}", getattr(value, inner)


def methods_of(kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class of ours."""
    for base in kind.__mro__:
        if base.__module__.startswith("dpcausal"):
            for name, value in vars(base).items():
                plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
                if not name.startswith("_") and (callable(plain) or isinstance(plain, property)):
                    yield name, plain


PUBLIC = dict(public())
CALLED = {
    name: value
    for name, value in PUBLIC.items()
    if callable(value)
    and not (isinstance(value, type) and issubclass(value, enum.Enum | Warning))
    and not (isinstance(value, type) and issubclass(value, Exception) and "__init__" not in vars(value))
}


def test_there_is_something_to_see() -> None:
    assert len(CALLED) > 40
    assert {"discover", "ci_test", "compose", "Ledger", "DiscoveryResult", "CITestResult"} <= CALLED.keys()
    assert {"PrivacyStatement", "Plan", "gwas.screen", "gwas.single_test", "testing.seeded"} <= CALLED.keys()
    assert {"ColumnsIgnored", "DraftSchema", "NoDelta", "gwas", "models", "estimators"} <= PUBLIC.keys()


@pytest.mark.parametrize("name", PUBLIC)
def test_no_text_for_users_points_to_a_file(name: str) -> None:
    value = PUBLIC[name]
    texts = {name: inspect.getdoc(value) or ""}
    if isinstance(value, type):
        texts |= {f"{name}.{inner}": inspect.getdoc(method) or "" for inner, method in methods_of(value)}
    if name != "__version__":
        assert [place for place, text in texts.items() if not text] == []
    assert {place: FILE_NAME.findall(text) for place, text in texts.items() if FILE_NAME.search(text)} == {}


@pytest.mark.parametrize("name", CALLED)
def test_everything_that_takes_arguments_explains_them(name: str) -> None:
    value = CALLED[name]
    text = inspect.getdoc(value) or ""
    parameters = inspect.signature(value).parameters.values()
    told = documented(text)
    assert [one.name for one in parameters if one.name not in told] == []
    if not isinstance(value, type) and parameters:
        assert {"Returns", "Examples"} <= sections(text).keys()
    if parameters and "." not in name:  # values that only a module of its own gives need no example
        assert "Examples" in sections(text)
        assert ">>> " in text


@pytest.mark.parametrize("function", [dc.discover, dc.ci_test, dc.plan, dc.compose])
def test_defaults_are_told_as_they_are(function: Callable[..., Any]) -> None:
    told = documented(inspect.getdoc(function) or "")
    for one in inspect.signature(function).parameters.values():
        default = one.default
        if default in (inspect.Parameter.empty, REQUIRED):
            assert "default" not in told[one.name]
        else:
            shown = f'"{default}"' if isinstance(default, str) else repr(default)
            assert told[one.name].endswith(f"default {shown}"), one.name


@pytest.mark.parametrize("function", [dc.discover, dc.ci_test])
def test_the_relations_are_the_real_ones(function: Callable[..., Any]) -> None:
    hint = inspect.signature(function, eval_str=False).parameters["neighbours"].annotation
    names = set(re.findall(r'"([\w-]+)"', hint) or re.findall(r"'([\w-]+)'", hint))
    assert names <= set(Neighbours)
    assert {"replace-one", "add-remove"} <= names


def test_the_names_of_methods_are_the_real_ones() -> None:
    assert get_origin(MethodName) is typing.Literal
    assert get_args(MethodName) == ("auto", *METHODS)
    assert get_args(TestName) == ("auto", *TESTS)
    assert inspect.signature(dc.discover).parameters["method"].annotation == "MethodName"
    assert inspect.signature(dc.ci_test).parameters["method"].annotation == "TestName"


def entries(function: Callable[..., Any]) -> dict[str, tuple[str, dict[str, tuple[str, str]]]]:
    """Return, from the notes of a docstring, name -> (description, option -> (default, meaning))."""
    notes = sections(inspect.getdoc(function) or "")["Notes"]
    starts = [match.start() for match in ENTRY.finditer(notes)]
    found = {}
    for start, stop in zip(starts, [*starts[1:], len(notes)], strict=True):
        part = notes[start:stop].rstrip() + "\n"
        head = ENTRY.match(part)
        assert head
        options = {o[1]: (o[2], " ".join(o[3].split())) for o in OPTION.finditer(part)}
        found[head[1]] = (" ".join(head[2].split()), options)
    return found


def test_the_methods_of_discover_are_told_with_their_options() -> None:
    told = entries(dc.discover)
    assert list(told) == ["auto", *METHODS]
    for name, method in METHODS.items():
        description, options = told[name]
        assert description == f"{method.description}."
        assert options == {
            o: (repr(default), f"{method.option_lines[o]}.") for o, default in method.options.items()
        }, name
        assert ("its own options go beside it" in str(options)) == method.passes_options


def test_the_tests_of_ci_test_are_told_with_their_options() -> None:
    told = entries(dc.ci_test)
    assert {name: description for name, (description, _) in told.items()} == {
        name: f"{line}." for name, line in described_tests().items()
    }
    for name, test in TESTS.items():
        real = {o.name: (repr(o.default), f"{o.line}.") for o in test.options()}
        assert told[name][1] == real, name


def test_the_index_of_methods_lists_every_method_and_test() -> None:
    """In two tables, the first of methods and the second of tests, by name, in any order."""
    page = (Path(__file__).parents[2] / "docs" / "methods" / "index.md").read_text()
    tables = page.split("\n## ")[1:3]
    for table, names in zip(tables, (METHODS, TESTS), strict=True):
        first = [line.split("|")[1] for line in table.splitlines() if line.startswith("| [")]
        assert sorted(re.findall(r"`([\w-]+)`", " ".join(first))) == sorted(names)


def test_every_method_has_one_estimator_but_tests() -> None:
    assert sorted(kind.method for kind in KINDS) == sorted(METHODS.keys() - {"tests"})
    assert {kind.__name__ for kind in KINDS} == set(estimators.__all__)


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_of_an_estimator_are_those_of_discover_and_of_its_method(kind: type[Estimator]) -> None:
    parameters = inspect.signature(kind).parameters
    own = METHODS[kind.method].options
    shared = inspect.signature(discover).parameters
    asked = {
        name: one.default for name, one in shared.items() if name not in ("data", "method", "options", "plan")
    }
    if kind is dc.PC:  # it has no budget
        without = {"epsilon", "delta", "neighbours", "ledger", "dataset", "anyway", "effect", "reserve"}
        asked = {name: default for name, default in asked.items() if name not in without} | {"options": None}
    found = {name: one.default for name, one in parameters.items()}
    required = [name for name, default in found.items() if default is inspect.Parameter.empty]
    assert required == [name for name, default in asked.items() if default is REQUIRED]
    assert {**found, **dict.fromkeys(required, REQUIRED)} == {"schema": None, **asked, **own}
    assert [name for name, one in parameters.items() if one.kind is not one.KEYWORD_ONLY] == ["schema"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_help_of_an_estimator_tells_what_its_method_tells(kind: type[Estimator]) -> None:
    method = METHODS[kind.method]
    text = " ".join((inspect.getdoc(kind) or "").split())
    assert method.description[1:] in text
    assert ("**Guarantee**" in text) == method.private
    for name, line in method.option_lines.items():
        assert line[1:] in text, name
    told = documented(inspect.getdoc(kind) or "")
    for name, one in inspect.signature(kind).parameters.items():
        default = told[name].partition("default ")[2].replace('"', "'")
        assert default == ("" if one.default is one.empty else repr(one.default)), name


def test_types_of_public_functions_can_be_resolved() -> None:
    for function in (dc.read, dc.compose):
        assert get_type_hints(function)["return"] is not None


def test_a_command_by_its_name_leads_to_the_function() -> None:
    with pytest.raises(AttributeError, match=r"'test' is dc\.ci_test in Python"):
        dc.test  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'tests'$"):
        dc.tests  # noqa: B018
