"""A question about two columns given others: its names, its public shape, and its table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpcausal.core.arguments import checked_list, checked_name
from dpcausal.core.errors import InputError, did_you_mean_column
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Categorical, Numeric
from dpcausal.data.schema import Schema
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
