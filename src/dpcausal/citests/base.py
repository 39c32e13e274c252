"""A question about two columns given others: its names, its public shape, and its table.

What every test offers: a classical answer, a private one, and a public check whether it can be asked.

A ``Method`` works on tables, a ``ValuesMethod`` on the numbers in the rows. One test may be both: it is then given
the rows where there are rows and tables where there are only counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dpcausal.citests.result import Chosen
from dpcausal.core.arguments import checked_list, checked_name
from dpcausal.core.errors import InputError, did_you_mean_column
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import Public, Released, Unit
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Categorical, Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.privacy.events import Event
from dpcausal.stats.blocks import Blocks


@dataclass(frozen=True)
class Question:
    """Is x independent of y given the columns in ``given``? Sizes are declared, so all of this is public."""

    x: str
    y: str
    given: tuple[str, ...]
    r: int  # levels of x
    c: int  # levels of y
    k: int  # cells of given
    ordered: bool  # whether the levels of x and of y have an order (two levels always do)
    numeric: frozenset[str] = frozenset()  # those of its columns that hold numbers

    @classmethod
    def of(cls, schema: Schema, x: str, y: str, given: Sequence[str] = ()) -> Question:
        """Check the names against the schema; x and y are put in the order of the columns."""
        given = checked_list(given, "given", "columns")
        names = [checked_name(name, "the name of a column") for name in (x, y, *given)]
        for name in names:
            if name not in schema:
                raise InputError(f'no column "{name}" in the schema{did_you_mean_column(name, schema)}')
        if len(set(names)) < len(names):
            raise InputError(f"a test can't name a column twice: {', '.join(names)}")
        place = {name: i for i, name in enumerate(schema)}
        x, y = sorted((x, y), key=place.__getitem__)
        sizes = {name: schema[name].size for name in names}
        ordered = all(_is_ordered(schema, name) for name in (x, y))
        inside = tuple(sorted(given, key=place.__getitem__))
        numeric = frozenset(name for name in names if isinstance(schema[name], Numeric))
        return cls(x, y, inside, sizes[x], sizes[y], math.prod(sizes[z] for z in given), ordered, numeric)

    def refuse_one_level(self, schema: Schema) -> None:
        """An error where x or y is declared with one level: the answer is public, and would be charged for."""
        for name in (self.x, self.y):
            column = schema[name]
            if isinstance(column, Categorical) and column.size == 1:
                raise InputError(
                    f'"{name}" has one level: it can\'t depend on anything, so there is nothing to test'
                )

    @property
    def key(self) -> tuple[frozenset[str], frozenset[str]]:
        """The same for the same unordered pair and set."""
        return frozenset((self.x, self.y)), frozenset(self.given)

    @property
    def columns(self) -> tuple[str, ...]:
        """The table to ask for: conditioning columns first."""
        return (*self.given, self.x, self.y)

    def blocks(self, counts: Counts) -> Blocks:
        """The table of shape (k, r, c)."""
        return counts.table(self.columns).reshape(self.k, self.r, self.c)

    def __str__(self) -> str:
        return f"{self.x} and {self.y}" + (f" given {', '.join(self.given)}" if self.given else "")


def _is_ordered(schema: Schema, name: str) -> bool:
    column = schema[name]
    return not isinstance(column, Categorical) or column.ordered or column.size <= 2


@dataclass(frozen=True)
class Outcome:
    """The answer of one test; numbers are None where only a decision was released.

    ``chosen``: what was chosen privately on the way; later charges then followed an earlier answer.
    """

    independent: bool
    pvalue: float | None = None
    statistic: float | None = None
    dof: int | None = None
    chosen: Chosen | None = None

    @classmethod
    def at(
        cls, level: float, pvalue: float, statistic: float | None = None, dof: int | None = None
    ) -> Outcome:
        """Independent unless the p-value is at most ``level``."""
        return cls(bool(pvalue > level), float(pvalue), statistic, dof)


class Charger(Protocol):
    """Anything that takes charges."""

    def charge(self, *events: Event) -> None:
        """Record events or refuse."""


@dataclass(frozen=True)
class TestSettings:
    """Under what a private test is asked. ``n`` is None under add-remove, where it is not public."""

    epsilon: float
    delta: float
    level: float
    neighbours: Neighbours
    n: int | None


class CITest(Protocol):
    """What both kinds of test say about themselves. Options are fields of the value that implements it."""

    @property
    def name(self) -> str:
        """As in ``ci_test(method=...)``."""
        ...

    @property
    def releases(self) -> Released:
        """What leaves, for the privacy statement."""
        ...

    @property
    def protects(self) -> Unit:
        """The unit of privacy."""
        ...

    @property
    def own_delta(self) -> bool:
        """Whether its events carry a delta of their own, to be reserved in the budget."""
        ...

    def check(self, question: Question) -> None:
        """Refuse what this test can't answer; public information only."""
        ...


@runtime_checkable
class TableTest(CITest, Protocol):
    """A test on tables."""

    def classical(self, blocks: Blocks, level: float) -> Outcome:
        """The non-private answer."""
        ...

    def private(self, question: Question, blocks: Blocks, terms: TestSettings, budget: Charger) -> Outcome:
        """Charge the budget, draw, and post-process what was released."""
        ...


@runtime_checkable
class ValueTest(CITest, Protocol):
    """A test on the values of the rows: ``data.values`` (clamped numbers) and ``data.codes``."""

    @property
    def assumes(self) -> tuple[Public, ...]:
        """What it takes to be public besides the schema (kernel, bandwidth, bins ...), for the statement."""
        ...

    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """The non-private answer."""
        ...

    def private_values(
        self, question: Question, data: Dataset, terms: TestSettings, budget: Charger
    ) -> Outcome:
        """Charge the budget, draw, and post-process what was released."""
        ...


AnyTest = TableTest | ValueTest


def assumed(method: AnyTest, data: object) -> tuple[Public, ...]:
    """What the statement must list as public besides the schema when ``method`` is asked about ``data``."""
    return method.assumes if isinstance(method, ValueTest) and isinstance(data, Dataset) else ()
