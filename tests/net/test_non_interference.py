"""Non-interference: what a call shows follows from what mechanisms released, from the schema and from nothing else.

Every public call is run on data A while all mechanisms are recorded, and again on unrelated data B (constant rows with
cells that the schema does not know, independent columns; under add-remove another number of rows) while they give out
what they gave on A. Every field, file, report, stream, warning, error, charge and every parameter of a mechanism must
be the same. A driver that keeps exact values, answers without noise or uses the number of rows where it is protected
differs at once: ``test_planted_*`` plants such faults and requires that they are seen.

The catalogue is in ``calls.py``, the interception in ``recorder.py``.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import logging
import pkgutil
import sys
import typing
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from unittest import mock

import held
import numpy as np
import pytest
import recorder as net
from calls import (
    CASES,
    ESTIMANDS,
    METHODS,
    TESTS,
    Case,
    EffectMethod,
    GwasMethod,
    GwasPlan,
    Terms,
    adapters,
    build,
    command_line,
    make_test,
    raw,
)

import dpcausal as dc
from dpcausal.discovery.result import replaced

pytestmark = pytest.mark.long_file

N = 300
FEWER, MORE = 77, 1200
LABELLED = ("labels", "label csv", "genotypes", "bed")  # who takes part, and in which group, is public there

# KNOWN: cases that interfere in the shipped code, by the beginning of their id, with the reason. There are none.
KNOWN: dict[str, str] = {}

# What pays a measurement may hang on noise: such a case is run on data A until it measures what it is for. One run in
# about thirty does not; where it were one in five, this many in a row fail with a probability of 6.4e-5.
TRIES = 6

USED: set[type] = set()  # mechanisms that drew in this process
RAN: set[str] = set()
ANSWERED: set[str] = set()  # cases that gave an answer, and no error
CHARGED: dict[str, set[str]] = {}  # relation -> labels of what ``measured`` charged


def checked_cases() -> list[Case]:
    """Every case that is not known to fail."""
    return [case for case in CASES if not case.id.startswith(tuple(KNOWN))]


def others(case: Case, terms: Terms, n: int) -> list[tuple[str, int]]:
    """Data B: which, and of how many rows."""
    if terms.neighbours == "add-remove" and case.kind not in LABELLED:
        return [("constant", 1), ("independent", FEWER if "engine" in case.kind else MORE)]
    return [("constant", n), ("independent", n)]


@cache
def kept(kind: str, which: str, n: int) -> Any:
    """Data that no call changes, made once."""
    return build(kind, raw(kind, which, n), Path())


class Material:
    """Data for a call; a fresh folder for those that are files."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._count = folder, 0

    def __call__(self, kind: str, which: str, n: int) -> Any:
        """Data of that kind."""
        if "csv" not in kind and kind not in (
            "bed",
            "level duckdb",
            "level engine",
            "person engine",
            "number duckdb",
            "number engine",
            "failing duckdb",
            "failing engine",
        ):
            return kept(kind, which, n)
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir()
        return build(kind, raw(kind, which, n), folder)


class OneDay(date):
    """The day of reports: midnight must not pass between two runs."""

    @classmethod
    def today(cls) -> OneDay:
        return cls(2026, 1, 31)


@pytest.fixture(autouse=True)
def one_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcausal.present.page.date", OneDay)


@pytest.fixture
def material(tmp_path: Path) -> Material:
    return Material(tmp_path)


def charged(words: str, labels: list[str]) -> bool:
    """Return whether one of these words stands in the name of something that was charged."""
    return any(word in label for word in words.split("|") for label in labels)


def interference(
    case: Case, terms: Terms, first: tuple[str, int], second: list[tuple[str, int]], material: Material
) -> list[str]:
    """Where the call on each of ``second`` shows something else than on ``first``."""
    recorder, data, found = (
        net.Recorder(arrays=terms.neighbours != "add-remove"),
        material(case.kind, *first),
        [],
    )
    for _ in range(TRIES):
        seen = recorder.record(lambda: case.run(data, terms))
        USED.update(recorder.used)
        found += [f"A {first}: {seen['interference']}"] if "interference" in seen else []
        if seen.get("forgotten", "[]") != "[]":
            found.append(f"A {first}: a statement forgets {seen['forgotten']}")
        answered = "error" not in seen and seen.get("result.code", "int 0") == "int 0"
        lacking = [words for words in case.measures if answered and not charged(words, recorder.labels)]
        if not lacking:
            break
    if answered:
        ANSWERED.add(case.id)
        if not recorder.whats - {"charge", "simulation", "progress"}:
            found.append("no mechanism was asked")
        if case.name == "measured":
            CHARGED.setdefault(terms.neighbours, set()).update(recorder.labels)
        found += [f"nothing was charged for {word}: {recorder.labels}" for word in lacking]
    elif not seen.get("error", "InputError").startswith(
        ("InputError", "BudgetError", "EngineError", "UnderpoweredError")
    ):
        found.append(f"A {first}: {seen['error']}")  # the same on both sides, and a fault all the same
    for which in second:
        other = material(case.kind, *which)
        again = recorder.replay(lambda other=other: case.run(other, terms))
        found += [f"B {which}: {line}" for line in net.differences(seen, again)]
    return found


def skip_missing(case: Case) -> None:
    """Skip a case whose package is not there."""
    if case.needs is not None and importlib.util.find_spec(case.needs) is None:
        pytest.skip(f"{case.needs} is not installed; its test is driven without it in another case")


@pytest.mark.parametrize("case", checked_cases(), ids=lambda case: case.id)
def test_nothing_is_seen_but_what_was_released(case: Case, material: Material) -> None:
    """Each set of terms against one other data set, in turn; the slow test takes all of them.

    A discovery with options is asked for pure under one relation and approximate under the other.
    """
    RAN.add(case.id)
    skip_missing(case)
    asked = list(case.terms())
    if case.call == "discover" and case.options and len(asked) == 4:
        asked = asked[1:3] if CASES.index(case) % 2 else asked[::3]
    for i, terms in enumerate(asked):
        second = others(case, terms, N)
        if case.call != "ci_test":
            second = [second[(i + i // 2) % 2]]  # both kinds under both relations
        assert interference(case, terms, ("a", N), second, material) == [], terms
    assert (case.id in ANSWERED) != case.refused


EPSILONS = (0.05, 1.0, 30.0)


ASKED = (
    "ci_test",
    "session",
    "adapter",
    "discover",
    "contribute",
    "effect",
)  # others make one of these calls


def at_budgets() -> list[tuple[Case, float]]:
    """Of every test, method and way to an effect three cases where n is protected, each at another budget.

    Where there are fewer cases they take turns, so that each is asked at all three budgets.
    """
    found: dict[tuple[str, str], list[Case]] = {}
    for case in checked_cases():
        asked = case.call in ASKED and "add-remove" in case.relations and case.needs is None
        if asked and not case.refused and case.kind not in LABELLED:
            name = case.name if case.call in ("ci_test", "discover", "effect") else ""
            found.setdefault((case.call, name), []).append(case)
    return [
        (cases[i % len(cases)], epsilon) for cases in found.values() for i, epsilon in enumerate(EPSILONS)
    ]


def test_each_call_is_asked_at_every_budget() -> None:
    asked: dict[tuple[str, str], set[float]] = {}
    for case, epsilon in at_budgets():
        asked.setdefault((case.call, case.name), set()).add(epsilon)
    tests = {("ci_test", name) for name in {*TESTS, "auto"} - {"unit-circle"}}  # holds labels fixed
    methods = {("discover", name) for name in {*METHODS, "auto"} - {"pc"}}
    effects = {("effect", name) for name in names("effect")}
    assert all(
        asked[name] == set(EPSILONS) for name in tests | methods | effects | {("contribute", "measured")}
    )


def affordable(case: Case, epsilon: float) -> float:
    """Less for each test of a search by tests would be thousands of parts."""
    return max(epsilon, 1.0) if case.name == "tests" else epsilon


@pytest.mark.parametrize(
    ("case", "epsilon"), [pytest.param(*one, id=f"{one[0].id} at {one[1]:g}") for one in at_budgets()]
)
def test_a_protected_number_of_rows_is_not_seen_at_any_budget(
    case: Case, epsilon: float, material: Material
) -> None:
    """Replayed on fewer rows and on more: a rule may turn with the number of rows on one side only."""
    terms = Terms(affordable(case, epsilon), case.deltas[-1], "add-remove")
    second = [("independent", FEWER), ("a", MORE)]
    assert interference(replace(case, measures=()), terms, ("a", N), second, material) == []


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("case", checked_cases(), ids=lambda case: case.id)
def test_nothing_is_seen_on_a_larger_grid(case: Case, epsilon: float, material: Material) -> None:
    """Other budgets, more data, and the roles exchanged."""
    skip_missing(case)
    case = replace(case, measures=())  # what is measured follows from the budget
    for terms in case.terms():
        asked = replace(terms, epsilon=affordable(case, epsilon))
        second = others(case, terms, MORE)
        if second[0][1] != MORE:
            second += [("a", 78), ("independent", FEWER), ("independent", 2 * MORE), ("constant", MORE)]
        assert interference(case, asked, ("a", MORE), second, material) == [], asked
        back = [("a", second[0][1]), ("independent", second[0][1])]
        assert interference(case, asked, ("constant", second[0][1]), back, material) == [], asked


# --- nothing is left out -----------------------------------------------------------------------------------------

# public names that release nothing about rows: types, errors, reading, planning, what is public or not private
NO_RELEASE = {
    *(
        "Budget",
        "BudgetError",
        "Categorical",
        "ColumnsIgnored",
        "Dataset",
        "DpcausalError",
        "Graph",
        "InputError",
    ),
    *("LedgerError", "LinearGaussian", "Neighbours", "Numeric", "PC", "Schema", "SchemaError", "TableModel"),
    *("__version__", "connect", "networks", "plan", "read", "testing"),
    "check",  # of one's own rows, at one's own desk: says that it is not private
    "EngineError",
    *("CITestResult", "DiscoveryResult", "Ledger", "PAG", "Plan", "PrivacyStatement"),  # what calls return
    *("DecimalNotDeclared", "DraftSchema", "NoDelta", "UnitNotDeclared"),  # warnings
    *(
        "Date",
        "Survival",
        "read_codes",
        "connect_codes",
        "dummy",
    ),  # declarations, rows before a release, rows of nobody
    "remote",  # what it asks runs at a desk, by the calls above
    *("PowerForecast", "UnderpoweredError"),  # from public numbers
    *(
        "AdjustsForDescendant",
        "LeavesBackDoorOpen",
        "EffectResult",
    ),  # warnings by a graph, and what effect returns
    *("EffectForecast", "forecast_effect"),  # before anything is released: schema and rows alone
    *("CITestForecast", "forecast_ci_test"),  # the same
    *("estimators", "gwas", "models"),  # rooms: their calls have cases of their own
    "compose",  # of statements
    *("Contribution", "Protocol", "protocol", "pool"),  # of what was released; commands have cases
    *("Release", "load_release"),  # what was released; its file has a case with the command again
}
NO_RELEASE_COMMANDS = {"protocol", "schema", "plan", "gwas-simulate", "audit", "reproduce", "serve", "work"}
NOT_OPTIONS = {"self", "task", "options", "name", "own_delta", "protects", "releases", "assumes"}
UNUSED = {"ExponentialMedian"}  # mechanisms that no public call uses


def names(call: str) -> set[str]:
    return {case.name for case in CASES if case.call == call}


def options(call: str, name: str) -> dict[str, list[Any]]:
    """Values that the cases of that name give to each option."""
    found: dict[str, list[Any]] = {}
    for case in CASES:
        if (case.call, case.name) == (call, name):
            for option, value in case.options.items():
                found.setdefault(option, []).append(value)
    return found


def literals(hint: Any) -> set[Any]:
    """The words that a type allows."""
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    return {word for part in get_args(hint) for word in literals(part)}


def missing_options(call: str, name: str, function: Callable[..., Any]) -> set[str]:
    """Options, and words for them, of ``function`` that no case gives; the usual word has a case without options."""
    covered, hints = (
        options(call, name),
        typing.get_type_hints(function.__init__ if isinstance(function, type) else function),
    )
    missing = set()
    for option, parameter in inspect.signature(function).parameters.items():
        if option in NOT_OPTIONS or parameter.kind is parameter.VAR_KEYWORD:
            continue
        if option not in covered:
            missing.add(option)
        words = literals(hints.get(option)) - {parameter.default}
        missing |= {f"{option}={word}" for word in words if word not in covered.get(option, [])}
    return missing


def test_every_public_name_has_a_case() -> None:
    covered = {"ci_test", "contribute", "discover", "effect"} & {case.call for case in CASES} | names(
        "estimator"
    )
    assert set(dc.__all__) - NO_RELEASE == covered


def test_every_test_and_driver_has_a_case() -> None:
    assert {*TESTS, "auto"} == names("ci_test")
    assert {*METHODS, "auto"} - {"pc"} == names("discover")
    for call in ("ci_test", "discover"):
        for case in (case for case in CASES if case.call == call):
            one = case.name == "unit-circle" or "near 1/n" in case.id  # n is public under replace-one
            assert set(case.relations) == {"replace-one", "add-remove"} or one, case.id
    for name in names("discover"):
        deltas = {
            delta > 0
            for case in CASES
            if (case.call, case.name) == ("discover", name)
            for delta in case.deltas
        }
        assert deltas == {False, True}


def test_every_option_and_estimand_of_an_effect_has_a_case() -> None:
    shared = {"data", "treatment", "outcome", "epsilon", "delta", "neighbours", "ledger", "dataset"}
    given = options("effect", "table")
    assert set(inspect.signature(dc.effect).parameters) - shared == set(given)
    assert {*get_args(EffectMethod), "after"} - {"auto"} == names("effect")
    assert set(given["estimand"]) == set(ESTIMANDS)


@pytest.mark.parametrize("name", TESTS)
def test_every_option_of_a_test_has_a_case(name: str) -> None:
    assert missing_options("ci_test", name, TESTS[name]) == set()


@pytest.mark.parametrize("name", sorted({*METHODS} - {"pc"}))
def test_every_option_of_a_driver_has_a_case(name: str) -> None:
    assert missing_options("discover", name, METHODS[name].run) == set()


def test_every_inner_test_has_a_case() -> None:
    """Whatever can stand within test-of-tests, and whatever can drive a search."""
    inner = set()
    for name in TESTS:
        try:
            make_test("test-of-tests", {"test": name})
        except dc.InputError:
            continue
        inner.add(name)
    assert inner <= set(options("ci_test", "test-of-tests")["test"])
    driven = {test.partition(":")[0] for test in options("discover", "tests")["test"]}
    assert set(TESTS) <= driven


def test_every_screening_adapter_and_command_has_a_case() -> None:
    assert names("gwas") == {*get_args(GwasMethod), "single"}
    for option, hint in typing.get_type_hints(GwasPlan).items():
        if option != "method" and literals(hint):
            usual = inspect.signature(GwasPlan).parameters[option].default
            for method in get_args(GwasMethod):
                assert literals(hint) == {usual, *options("gwas", method)[option]}
    modules = {found.name for found in pkgutil.iter_modules(adapters.__path__)}
    assert modules - {"oracle"} | set(adapters.__all__) == names("adapter")
    commands = {command.name for command in command_line.registered_commands}
    assert commands - NO_RELEASE_COMMANDS == names("command")
    ledgers = {group.name for group in command_line.registered_groups}
    assert ledgers == {"ledger"}  # holds charges, no rows


def test_every_mechanism_is_reached() -> None:
    """Those that are watched and never draw would be watched in vain."""
    if {case.id for case in checked_cases()} - RAN:
        pytest.skip("only some of the cases were run")
    assert {kind.__name__ for kind in net.mechanisms()} - {kind.__name__ for kind in USED} == UNUSED


STEPS = {  # what measured can charge, by words of the label
    *(
        "joint table",
        "how common levels are",
        "single columns",
        "pairs of columns",
        "promising pairs, round 2",
    ),
    *(
        "larger tables (given 2",
        "which pairs are measured",
        "chosen pairs of columns",
    ),
    *("pairs with the target", "promising columns, with the target and each other"),
}


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_every_step_of_measured_is_reached(relation: str) -> None:
    if {case.id for case in checked_cases()} - RAN:
        pytest.skip("only some of the cases were run")
    missing = {step for step in STEPS if not any(step in label for label in CHARGED[relation])}
    assert not missing


def test_the_list_of_exact_values_names_what_there_is() -> None:
    """A name that is left out of the comparison must be one of a function that there is, and stand there."""
    for listed, names_in in (*held.EXACT.items(), *held.OF_ROWS.items()):
        path, name = listed.split(":")
        node: ast.AST = ast.parse((Path(held.ROOT) / f"{path}.py").read_text())
        for part in (part for part in name.split(".") if part != "<locals>"):
            node = next(one for one in ast.walk(node) if getattr(one, "name", "") == part)
        there = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        there |= {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
        assert set(names_in.split()) - {"return"} <= there, listed


# --- planted faults ----------------------------------------------------------------------------------------------

Release = Callable[[Any, Any, str, Any], Any]
release: Release = net.named(
    net.RELEASE
)  # as it is shipped: within a planted fault the name stands for the fault
begin = net.named(net.BEGIN)


def instead_of_release(fault: Release) -> AbstractContextManager[None]:
    """Every driver uses ``fault`` where it means ``release``."""
    return net.everywhere(release, fault)


def one_case(beginning: str) -> Case:
    return next(case for case in CASES if case.id.startswith(beginning))


def found_in(
    beginning: str,
    relation: str,
    material: Material,
    which: str = "independent",
    delta: float = 0.0,
    epsilon: float | None = None,
) -> str:
    """What is seen of the first case whose id begins so."""
    case = one_case(beginning)
    terms = Terms(case.epsilon if epsilon is None else epsilon, delta, relation)
    second = [other for other in others(case, terms, N) if other[0] == which]
    return "\n".join(interference(case, terms, ("a", N), second, material))


def exact(mechanism: Any, budget: Any, label: str, value: Any) -> Any:
    """Charges and gives the exact value."""
    budget.charge(mechanism.event(label))
    return np.asarray(value, dtype=float)[()]


def drawn_and_dropped(mechanism: Any, budget: Any, label: str, value: Any) -> Any:
    """Charges and draws, and then gives the exact value all the same."""
    release(mechanism, budget, label, value)
    return np.asarray(value, dtype=float)[()]


EXACT = [
    ("ci_test kendall levels", "replace-one"),
    ("ci_test gcm numbers", "add-remove"),
    ("ci_test measured levels", "replace-one"),
    ("discover measured levels", "replace-one"),
    ("effect levels a>d|c", "replace-one"),
    ("effect numbers a>y", "add-remove"),
    ("discover moments numbers harmonics", "add-remove"),
    ("discover curate levels", "add-remove"),
    ("estimator MeasuredPC level", "add-remove"),
    ("oracle kendall", "replace-one"),
    ("gwas single", "fixed-labels"),
    ("command test data.csv --x a --y b", "replace-one"),
]


LARGE_EPSILON = 300.0


@pytest.mark.parametrize(("beginning", "relation"), EXACT)
@pytest.mark.parametrize("fault", [exact, drawn_and_dropped])
def test_planted_exact_values_are_seen(
    beginning: str, relation: str, fault: Release, material: Material
) -> None:
    """``release`` is passed by: charged, and the exact value is used."""
    choice = "moments" in beginning  # its first release is a choice: leave that one alone

    def only_values(mechanism: Any, budget: Any, label: str, value: Any) -> Any:
        chosen = choice and label == "reach"
        return (release if chosen else fault)(mechanism, budget, label, value)

    with instead_of_release(only_values):
        if choice:  # its noise is too large to tell pairs of 300 rows apart at the pure budget of the case
            assert found_in(beginning, relation, material, delta=1e-6)
            assert found_in(beginning, relation, material, epsilon=LARGE_EPSILON)
        else:
            assert found_in(beginning, relation, material)
    if choice:  # without the fault nothing is seen there
        assert not found_in(beginning, relation, material, epsilon=LARGE_EPSILON)


class ExactSession:
    """A sparse vector session that answers without noise."""

    def __init__(self, threshold: float, positives: int) -> None:
        self._threshold, self._left = threshold, positives

    @property
    def halted(self) -> bool:
        return self._left <= 0

    def ask(self, value: float, look: Callable[[], float] | None = None) -> bool:
        above = value >= self._threshold and (look is None or look() >= self._threshold)
        self._left -= above
        return bool(above)

    def first_above(self, values: Any) -> int | None:
        above = np.flatnonzero(np.asarray(values) >= self._threshold)
        self._left -= above.size > 0
        return int(above[0]) if above.size else None


@pytest.mark.parametrize(
    ("beginning", "relation"),
    [
        ("discover svt-pc levels", "replace-one"),
        ("discover priv-pc levels", "add-remove"),
        ("gwas method=svt", ""),
    ],
)
def test_planted_sessions_without_noise_are_seen(beginning: str, relation: str, material: Material) -> None:
    """A driver that opens no session of the mechanism, and answers by itself."""

    def opened(mechanism: Any, budget: Any, label: str, threshold: float) -> ExactSession:
        budget.charge(mechanism.event(label))
        return ExactSession(threshold, getattr(mechanism, "positives", getattr(mechanism, "hits", 1)))

    with net.everywhere(begin, opened):
        assert found_in(beginning, relation or "fixed-labels", material)


@pytest.mark.parametrize(
    "beginning", ["ci_test kendall levels", "discover svt-pc levels", "discover curate levels"]
)
def test_planted_mechanisms_that_do_not_draw_are_seen(beginning: str, material: Material) -> None:
    """A mechanism that was asked and drew nothing is a fault in itself, whatever its answers are."""
    for kind, method in net.mechanisms().items():
        if kind.__name__ == "Laplace" and "svt" not in beginning:
            with mock.patch.object(kind, method, lambda mechanism, value: np.asarray(value, dtype=float)[()]):
                assert "without drawing noise" in found_in(beginning, "replace-one", material)
        elif kind.__name__ == "SparseVector" and "svt" in beginning:
            with mock.patch.object(
                kind, method, lambda mechanism, level: ExactSession(level, mechanism.positives)
            ):
                assert "without drawing noise" in found_in(beginning, "replace-one", material)


def test_planted_use_of_a_protected_number_of_rows_is_seen(material: Material) -> None:
    """A result that holds the number of rows under add-remove; and a driver that uses it."""
    real = dc.discover

    def told(data: Any, **given: Any) -> Any:
        return replaced(real(data, **given), rows=data.n)

    with mock.patch.object(dc, "discover", told):
        assert "rows" in found_in("discover measured levels", "add-remove", material)
        assert found_in("discover measured levels", "replace-one", material) == ""  # public there
    (task,) = {kind for module in net.modules() for name, kind in vars(module).items() if name == "Task"}
    with mock.patch.object(task, "n", property(lambda self: self.counts.n)):
        assert found_in("discover moments numbers", "add-remove", material)
        assert found_in("discover measured levels", "add-remove", material)


@pytest.mark.parametrize("name", ["open", "given_up_to"])
def test_planted_states_that_follow_from_the_rows_are_seen(name: str, material: Material) -> None:
    """A pair called open, or an edge called not asked about in full, by the exact rows instead of released values."""
    real = dc.discover

    def told(data: Any, **given: Any) -> Any:
        exact = int(data.codes["a"].astype(int).sum())
        pair = frozenset(list(data.schema)[:2])
        planted = frozenset([pair] * (exact % 2)) if name == "open" else {pair: exact}
        return replaced(real(data, **given), **{name: planted})

    with mock.patch.object(dc, "discover", told):
        assert name in found_in("discover svt-pc levels", "replace-one", material)


def released_with(before: Callable[[Any, str, Any], tuple[Any, str]]) -> Release:
    """``release`` with the mechanism and the label that ``before`` makes of them."""

    def fault(mechanism: Any, budget: Any, label: str, value: Any) -> Any:
        return release(*_put(budget, value, before(mechanism, label, value)))

    return fault


def _put(budget: Any, value: Any, changed: tuple[Any, str]) -> tuple[Any, Any, str, Any]:
    return changed[0], budget, changed[1], value


def warned(mechanism: Any, label: str, value: Any) -> tuple[Any, str]:
    if np.max(value) > 100:
        warnings.warn("a large value", UserWarning, stacklevel=2)
    return mechanism, label


def refused(mechanism: Any, label: str, value: Any) -> tuple[Any, str]:
    if np.max(value) > 100:
        raise dc.InputError("a value is too large")
    return mechanism, label


def labelled(mechanism: Any, label: str, value: Any) -> tuple[Any, str]:
    return mechanism, f"{label} up to {np.max(value):.0f}"


def scaled(mechanism: Any, label: str, value: Any) -> tuple[Any, str]:
    return replace(mechanism, sensitivity=mechanism.sensitivity * (1.0 + float(np.max(value) > 100))), label


def printed(mechanism: Any, label: str, value: Any) -> tuple[Any, str]:
    sys.stderr.write(f"{np.max(value)}\n")
    return mechanism, label


def logged(mechanism: Any, label: str, value: Any) -> tuple[Any, str]:
    logging.getLogger("dpcausal.somewhere").warning("%s", np.max(value))
    return mechanism, label


FAULTS = [
    (warned, "warnings"),
    (refused, "error"),
    (labelled, "charge"),
    (scaled, "sensitivity"),
    (printed, "stderr"),
    (logged, "log"),
]


@pytest.mark.parametrize(("before", "word"), FAULTS)
@pytest.mark.parametrize(
    "beginning",
    ["ci_test measured levels", "command test data.csv --x a --y c", "discover measured level counts"],
)
def test_planted_side_channels_are_seen(
    before: Callable[[Any, str, Any], tuple[Any, str]], word: str, beginning: str, material: Material
) -> None:
    """A warning, an error, a label, a scale, a stream or a log line that depends on the value to be released."""
    with instead_of_release(released_with(before)):
        found = found_in(beginning, "replace-one", material, which="constant")
        assert found
        if beginning.startswith("ci_test"):
            assert word in found


def test_planted_release_that_is_made_twice_is_seen(material: Material) -> None:
    """How many releases there are depends on the rows."""

    def again(mechanism: Any, budget: Any, label: str, value: Any) -> Any:
        out = release(mechanism, budget, label, value)
        return mechanism.sample(value) if np.max(value) > 100 else out

    with instead_of_release(again):
        assert found_in("ci_test measured levels", "replace-one", material, which="constant")


def test_planted_progress_by_rows_is_seen(material: Material) -> None:
    """A bar whose amount depends on the rows."""
    (task,) = {kind for module in net.modules() for name, kind in vars(module).items() if name == "Task"}
    paid = task.private_budget

    def tells(self: Any) -> Any:
        with self.stage("counting", self.counts.n):
            return paid(self)

    with mock.patch.object(task, "private_budget", tells):
        assert "progress" in found_in("discover svt-pc levels", "add-remove", material)
        assert found_in("discover svt-pc levels", "replace-one", material) == ""  # n is public there


def test_planted_rows_kept_in_a_result_are_seen(material: Material) -> None:
    """A private attribute that holds exact counts."""
    real = dc.ci_test

    def keeps(data: Any, *asked: Any, **given: Any) -> Any:
        found = real(data, *asked, **given)
        object.__setattr__(found, "_codes", data.codes["a"].sum())
        return found

    with mock.patch.object(dc, "ci_test", keeps):
        assert "_codes" in found_in("ci_test kendall levels", "replace-one", material)


def test_planted_file_by_rows_is_seen(material: Material) -> None:
    """A file that says how many rows there were, under add-remove."""
    case = one_case("command test data.csv --x a --y b")

    def run(folder: Path, terms: Terms) -> Any:
        found = case.run(folder, terms)
        rows = len((folder / "data.csv").read_text().splitlines())
        return replace(found, files={**found.files, "out/rows.txt": str(rows).encode()})

    terms = Terms(case.epsilon, 0.0, "add-remove")
    spoiled = replace(case, run=run)
    assert any(
        "rows.txt" in line for line in interference(spoiled, terms, ("a", N), [("constant", 1)], material)
    )


def test_planted_draw_before_its_charge_is_seen(material: Material) -> None:
    """The charge is made, of the same event, when the noise is there."""

    def late(mechanism: Any, budget: Any, label: str, value: Any) -> Any:
        out = mechanism.sample(value)
        budget.charge(mechanism.event(label))
        return out

    with instead_of_release(late):
        found = found_in("ci_test measured levels", "replace-one", material, which="constant")
        assert "draws before it is charged" in found
