"""What a test of conditional independence is: the question it is asked, what it says about itself, its answer.

A ``TableTest`` works on tables, a ``ValueTest`` on the numbers in the rows. One test may be both: it is then given
the rows where there are rows and tables where there are only counts. Every test says its name, what it does, what it
needs and what its options are (``TestInfo`` and ``options``), and answers what it releases, what it protects and how
it holds numeric columns fixed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, get_args, get_origin, get_type_hints

import numpy as np

from dpcausal.citests.result import (
    BothMissing,
    Chosen,
    HeldBy,
    HeldFixed,
    Holding,
    MissingCountsAs,
    MissingRule,
)
from dpcausal.core.arguments import checked_name, column_names, stated_pvalue
from dpcausal.core.errors import InputError, no_columns
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import Public, Released, Unit
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Categorical, Numeric, has_order
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.privacy.events import Event, PureEvent
from dpcausal.privacy.mechanisms.additive import Laplace
from dpcausal.privacy.mechanisms.base import release
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.noisy_normal import laplace_tail

MAX_INDICATORS = 64  # levels of an unordered column that have an indicator of their own
QuestionKey = tuple[frozenset[frozenset[str]], frozenset[str]]


@dataclass(frozen=True)
class Question:
    """Is x independent of y given the columns in ``given``? Sizes are declared, so all of this is public.

    >>> schema = Schema(a=Categorical([0, 1]), b=Categorical([0, 1]), c=Categorical([0, 1, 2]))
    >>> question = Question.of(schema, "b", "a", ["c"])
    >>> str(question), question.k
    ('a and b given c', 3)

    x and y may be groups of columns, for tests that take them; ``x`` and ``y`` are then only words:

    >>> question = Question.of(schema, ["a", "b"], "c")
    >>> str(question), question.x_columns, question.several
    ('(a, b) and c', ('a', 'b'), True)
    """

    x: str
    y: str
    given: tuple[str, ...]
    r: int  # levels of x
    c: int  # levels of y
    k: int  # cells of given
    ordered: bool  # whether the levels of x and of y have an order (two levels always do)
    numeric: frozenset[str] = frozenset()  # those of its columns that hold numbers
    other_cells: int = 1  # cells of the given columns that hold levels
    # the columns of x and of y, where one of them has several
    groups: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    widths: tuple[int, int] = (1, 1)  # columns of x and of y in a regression; an unordered level has its own

    @classmethod
    def of(
        cls, schema: Schema, x: str | Sequence[str], y: str | Sequence[str], given: Sequence[str] = ()
    ) -> Question:
        """Return the question whether x and y are independent given columns, put in the order of the schema.

        Raises ``InputError`` if a name is not in the schema, one is named twice, or x or y names none.
        """
        given = column_names(given, "given", schema)
        sides = [_side(side, word) for side, word in ((x, "x"), (y, "y"))]
        names = [checked_name(name, "the name of a column") for name in (*sides[0], *sides[1], *given)]
        if lacking := [name for name in names if name not in schema]:
            raise InputError(no_columns(lacking, schema))
        if len(set(names)) < len(names):
            raise InputError(f"a test can't name a column twice: {', '.join(names)}")
        place = {name: i for i, name in enumerate(schema)}
        inner = [tuple(sorted(side, key=place.__getitem__)) for side in sides]
        of_x, of_y = sorted(inner, key=lambda side: place[side[0]])
        sizes = {name: schema[name].size for name in names}
        ordered = all(has_order(schema[name]) for name in (*of_x, *of_y))
        inside = tuple(sorted(given, key=place.__getitem__))
        numeric = frozenset(name for name in names if isinstance(schema[name], Numeric))
        others = math.prod(sizes[z] for z in given if z not in numeric)
        r, c, k = (math.prod(sizes[name] for name in side) for side in (of_x, of_y, inside))
        groups = (of_x, of_y) if len(of_x) + len(of_y) > 2 else None
        wide = [
            sum(1 if has_order(schema[name]) else min(sizes[name], MAX_INDICATORS) for name in side)
            for side in (of_x, of_y)
        ]
        return cls(
            _words(of_x), _words(of_y), inside, r, c, k, ordered, numeric, others, groups, (wide[0], wide[1])
        )

    def refuse_one_level(self, schema: Schema) -> None:
        """Raise ``InputError`` where x or y is declared with one level: the answer is public, but would be charged."""
        for name in (*self.x_columns, *self.y_columns):
            column = schema[name]
            if isinstance(column, Categorical) and column.size == 1:
                raise InputError(
                    f'"{name}" has one level: it can\'t depend on anything, so there is nothing to test'
                )

    @property
    def cells(self) -> int:
        """The number of cells of the table of (given, x, y)."""
        return self.k * self.r * self.c

    @property
    def several(self) -> bool:
        """Whether x or y has more than one column."""
        return self.groups is not None

    @property
    def x_columns(self) -> tuple[str, ...]:
        """The columns of x."""
        return (self.x,) if self.groups is None else self.groups[0]

    @property
    def y_columns(self) -> tuple[str, ...]:
        """The columns of y."""
        return (self.y,) if self.groups is None else self.groups[1]

    @property
    def key(self) -> QuestionKey:
        """Identity of the question: the unordered pair of x and y, each a set of columns, and the set given."""
        pair = frozenset((frozenset(self.x_columns), frozenset(self.y_columns)))
        return pair, frozenset(self.given)

    @property
    def given_numbers(self) -> tuple[str, ...]:
        """The columns given that hold numbers."""
        return tuple(name for name in self.given if name in self.numeric)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table to count: conditioning columns first."""
        return (*self.given, self.x, self.y)

    def blocks(self, counts: Counts) -> Blocks:
        """Return the counts of (given, x, y) as a table of shape (k, r, c)."""
        return counts.table(self.columns).reshape(self.k, self.r, self.c)

    def __str__(self) -> str:
        return f"{self.x} and {self.y}" + (f" given {', '.join(self.given)}" if self.given else "")


def _side(columns: str | Sequence[str], word: str) -> tuple[str, ...]:
    """Return the columns of x or of y: a name, or a list of names."""
    if not isinstance(columns, list | tuple):
        return (columns,)  # type: ignore[return-value]  # what is no text is refused with the other names
    if not columns:
        raise InputError(f"{word} names no column")
    return tuple(columns)


def _words(columns: tuple[str, ...]) -> str:
    """Return the name of one column, or several names in parentheses, for a message."""
    return columns[0] if len(columns) == 1 else f"({', '.join(columns)})"


@dataclass(frozen=True)
class Outcome:
    """The answer of one test."""

    independent: bool  # independence was not rejected
    pvalue: float | None = None  # None where only a decision was released, like the statistic
    statistic: float | None = None
    dof: int | None = None  # degrees of freedom, where the test has them
    chosen: Chosen | None = None  # chosen privately on the way: later charges followed an earlier answer

    @classmethod
    def at(
        cls, level: float, pvalue: float, statistic: float | None = None, dof: int | None = None
    ) -> Outcome:
        """Return the outcome of a test with this p-value: independent unless it is at most ``level``."""
        return cls(bool(pvalue > level), stated_pvalue(pvalue), statistic, dof)


class Charger(Protocol):
    """A budget that can be charged."""

    def charge(self, *events: Event) -> None:
        """Record events, or raise ``BudgetError``."""

    def require(self, *events: Event) -> None:
        """Refuse what ``charge`` would refuse, and record nothing."""


@dataclass(frozen=True)
class TestSettings:
    """The privacy, level and neighbours under which a private test is asked."""

    __test__ = False  # not a test case, whatever its name

    epsilon: float  # what one answer may cost
    delta: float
    level: float  # the size of the test
    neighbours: Neighbours  # which two tables must be hard to tell apart
    n: int | None  # the number of rows; None under add-remove, where it is not public

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours.parse(self.neighbours))

    def require_all(self, budget: Charger, label: str) -> None:
        """Raise ``BudgetError`` before the first of several pure steps, unless ``budget`` allows all of them.

        The steps cost ``epsilon`` together. Their sum of epsilon^2/2 is at most that of one event of ``epsilon``, so
        a budget that allows the one event allows every step.
        """
        budget.require(
            PureEvent(label=label, neighbours=self.neighbours, mechanism="all steps", cost=self.epsilon)
        )


@dataclass(frozen=True)
class TestInfo:
    """Description of a test, from which the registry, ``auto``, help pages and error messages are made."""

    __test__ = False  # not a test case, whatever its name

    name: str  # as in ``ci_test(method=...)``
    description: str  # what it does, in one line for someone who has read no paper
    needs_order: bool = False  # whether levels of x and y must have an order (numbers and two levels do)
    signed: bool = False  # whether the sign of the statistic says whether y rises or falls with x
    any_question: bool = False  # whether it answers every question, whatever levels and given columns are
    several_columns: bool = False  # whether x and y may be several columns each
    fixed_labels: bool = False  # whether the guarantee is proved with labels fixed only
    first_column_option: str | None = None  # the option that names a column and is the first one asked about
    numeric_given: Holding | None = "declared-bins"  # how numbers are held fixed; None: nothing can be given


class Option(NamedTuple):
    """An option of a test: name, default (of a test, its name) and description."""

    name: str
    default: Any
    line: str


class CITest(ABC):
    """A test of conditional independence: a frozen dataclass, its fields the options, each ``Annotated`` with a line.

    A class derives from ``TableTest``, from ``ValueTest``, or from both, and says what it is in ``info``. Nothing else
    lists tests or their options but the registry, which lists the classes.
    """

    info: ClassVar[TestInfo]
    registered: ClassVar[Mapping[str, type[CITest]]] = {}  # all tests by name; set by the registry

    def __post_init__(self) -> None:
        for name, choices in self._choices().items():
            if (given := getattr(self, name)) not in choices:
                raise InputError(f"{name} must be {', '.join(choices[:-1])} or {choices[-1]}, not {given!r}")

    @classmethod
    @cache
    def _choices(cls) -> dict[str, tuple[str, ...]]:
        """Return the allowed values of every option that is a ``Literal``."""
        hints = get_type_hints(cls).items()
        return {name: get_args(hint) for name, hint in hints if get_origin(hint) is Literal}

    @classmethod
    @cache
    def options(cls) -> tuple[Option, ...]:
        """Return the options of ``ci_test`` that belong to this test."""
        lines = get_type_hints(cls, include_extras=True)
        return tuple(
            Option(
                one.name,
                one.default.name if isinstance(one.default, CITest) else one.default,
                lines[one.name].__metadata__[0],
            )
            for one in fields(cls)  # type: ignore[arg-type]  # every test is a dataclass
        )

    @property
    def name(self) -> str:
        """The name of the test."""
        return self.info.name

    @property
    @abstractmethod
    def releases(self) -> Released:
        """What the test releases, for the privacy statement."""

    @property
    def assumes(self) -> tuple[Public, ...]:
        """Public facts beyond the schema that the test relies on (kernel, bandwidth, bins ...), for the statement."""
        return ()

    @property
    def protects(self) -> Unit | None:
        """What is protected, where that is less than the unit of the data."""
        return None

    @property
    def own_delta(self) -> bool:
        """Whether the events of this test have a delta of their own, which the budget must reserve."""
        return False

    @property
    def printed(self) -> bool:
        """Whether the test is exactly as its paper prints it and not private: refused for real rows, uncharged."""
        return False

    @property
    def signed(self) -> bool:
        """Whether the sign of the statistic shows if y rises or falls with x, with the options chosen."""
        return self.info.signed

    def check(self, question: Question) -> None:
        """Refuse a question that this test can't answer, from public information only.

        Raises
        ------
        InputError
            If x or y has several columns and the test takes one of each, or the test needs an order and the levels of
            x or of y have none; subclasses add their own conditions.
        """
        if question.several and not self.info.several_columns:
            able = " or ".join(name for name, test in self.registered.items() if test.info.several_columns)
            raise InputError(f"{self.name} takes one column as x and one as y, not {question}: use {able}")
        if self.info.needs_order and not question.ordered:
            others = [name for name, test in self.registered.items() if test.info.any_question]
            instead = f", or use {', '.join(others[:-1])} or {others[-1]}" if others[1:] else ""
            raise InputError(
                f"{self.name} needs numbers or ordered levels for {question.x} and {question.y}: "
                f"declare them ordered{instead}"
            )

    def tau(self, statistic: float, n: int) -> float | None:
        """Return the mean Kendall tau-a within the cells of z, from the statistic of n rows; None for other tests."""
        del statistic, n
        return None

    def held_fixed(self, question: Question, data: Dataset | Counts, n: int | None) -> HeldFixed | None:
        """Return how numeric conditioning columns are controlled for; None where there are none. Public facts only.

        Of ``data`` only the schema, and whether it has rows, are used; ``n`` is None where rows are protected.
        """
        columns = question.given_numbers
        if not columns:
            return None
        found = None
        if isinstance(self, ValueTest) and isinstance(data, Dataset):
            found = self.values_held_fixed(columns, question, data, n)
        return found or HeldBy(columns, "declared-bins")


class TableTest(CITest):
    """A test on tables of counts of shape (k, r, c)."""

    @abstractmethod
    def classical(self, blocks: Blocks, level: float) -> Outcome:
        """Return the answer without privacy."""

    @abstractmethod
    def private(self, question: Question, blocks: Blocks, settings: TestSettings, budget: Charger) -> Outcome:
        """Charge the budget, release the statistic of the table with noise, and return the outcome of the test."""

    def on_part(self, blocks: Blocks, level: float) -> Outcome:
        """Return the answer without privacy on a part of few rows, for use inside a mechanism."""
        return self.classical(blocks, level)


class ValueTest(CITest):
    """A test on the values of the rows: ``data.values`` (clamped numbers) and ``data.codes``."""

    def limits_rows(self, question: Question) -> bool:
        """Return whether more than ``stats.limits.MAX_ROWS`` rows are refused."""
        del question
        return False

    def uses_numbers(self, question: Question) -> bool:
        """Return whether numeric columns enter by value, and not by declared bin."""
        del question
        return True

    def values_held_fixed(
        self, columns: tuple[str, ...], question: Question, data: Dataset, n: int | None
    ) -> HeldFixed | None:
        """Return how numeric conditioning columns are controlled for; None: by their declared bins."""
        del columns, question, data, n
        return None

    @abstractmethod
    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """Return the answer without privacy."""

    @abstractmethod
    def private_values(
        self, question: Question, data: Dataset, settings: TestSettings, budget: Charger
    ) -> Outcome:
        """Charge the budget, release the statistic of the rows with noise, and return the outcome of the test."""


def released_with_variance(
    mechanism: Laplace,
    weight: float,
    statistic: float,
    variance: float,
    settings: TestSettings,
    budget: Charger,
    label: str,
) -> Outcome:
    """Release (statistic, weight x variance) with noise; return its normal test, which knows the noise."""
    released = release(mechanism, budget, label, np.array([statistic, weight * variance]))
    noisy, noisy_variance = float(released[0]), float(released[1])
    pvalue = laplace_tail(noisy, noisy_variance / weight, mechanism.scale)
    return Outcome.at(settings.level, pvalue, noisy)


def missing_rules(schema: Schema, test: CITest, question: Question, *, rows: bool) -> tuple[MissingRule, ...]:
    """Return how the missing values that the schema declares are treated; ``rows``: there are rows, not only counts."""
    by_value = rows and isinstance(test, ValueTest) and test.uses_numbers(question)
    own: list[str] = []
    counts: list[tuple[str, float | str]] = []
    asked = (*question.x_columns, *question.y_columns, *question.given)
    for name in asked:
        column = schema[name]
        if column.missing_codes and not (by_value and isinstance(column, Numeric)):
            own.append(name)
        elif column.may_be_missing:
            counts.append((name, column.public_other))
    found: list[MissingRule] = [MissingCountsAs(tuple(counts))] if counts else []
    ends = [[name for name in side if name in own] for side in (question.x_columns, question.y_columns)]
    if all(ends):
        found.append(BothMissing(tuple(side[0] for side in ends)))
    return tuple(found)
