"""What every counting backend offers: tables of declared shape, never rows.

A statistic asks for tables by column names and can't tell which backend answers. No array of rows, no number of
unique rows and no timing figure crosses this line. Counts are exact; they become publishable only through a
mechanism of the privacy room.

Requests for tables, checked against the schema and laid out flat for the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.entropy import RandomBytes, random_bytes
from dpcausal.core.errors import InputError, did_you_mean_column
from dpcausal.data.schema import Schema

Table = NDArray[np.int64]
MAX_CELLS = (
    1 << 27
)  # a table of more declared cells (1 GiB) is refused: the size is public, so is the refusal


@runtime_checkable
class Counts(Protocol):
    """Exact contingency tables over the declared levels of a schema."""

    @property
    def schema(self) -> Schema:
        """Declared columns; fixes the shape of every table."""
        ...

    @property
    def n(self) -> int:
        """Number of rows (public under replace-one neighbours only)."""
        ...

    def table(self, columns: Sequence[str]) -> Table:
        """Counts of the joint levels: one axis per column in the order given, empty levels included."""
        ...

    def tables(self, requests: Sequence[Sequence[str]]) -> list[Table]:
        """``[table(columns) for columns in requests]``, sharing the work between requests."""
        ...

    def subsample(self, m: int, source: RandomBytes = random_bytes) -> Self | Counts:
        """Counts of m rows drawn without replacement, uniformly: a multivariate hypergeometric draw."""
        ...


Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Jobs:
    """A list of column lists: job j has ``columns[start[j]:start[j+1]]`` and ``cells[j+1] - cells[j]`` cells."""

    columns: Ints
    start: Ints
    cells: Ints

    def __len__(self) -> int:
        return len(self.start) - 1

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]], sizes: Ints) -> Jobs:
        """Lay out lists of column numbers."""
        if len(lists) == 1:  # the same, without the bookkeeping
            flat = np.array(lists[0], np.int64)
            return cls(flat, np.array([0, len(flat)]), np.array([0, math.prod(sizes[flat].tolist())]))
        lengths = [len(columns) for columns in lists]
        flat = np.fromiter((c for columns in lists for c in columns), np.int64, sum(lengths))
        start = np.zeros(len(lists) + 1, np.int64)
        np.cumsum(lengths, out=start[1:])
        cells = np.ones(len(lists), np.int64)
        np.multiply.at(cells, np.repeat(np.arange(len(lists)), lengths), sizes[flat])
        return cls(flat, start, np.concatenate([[0], np.cumsum(cells)]))

    def counts(self) -> Ints:
        """Number of cells of each job."""
        return np.diff(self.cells)

    def pick(self, which: Iterable[int]) -> list[Ints]:
        """The column lists of some jobs."""
        return [self.columns[self.start[j] : self.start[j + 1]] for j in which]


class TableLayout:
    """Turns requests by name into ``Jobs`` and flat answers back into tables."""

    def __init__(self, schema: Schema) -> None:
        self.names = tuple(schema)
        self.index = {name: i for i, name in enumerate(self.names)}
        self.shape = tuple(column.size for column in schema.values())
        self.sizes = np.array(self.shape, np.int64)

    def resolve(self, columns: Sequence[str]) -> tuple[int, ...]:
        """Column numbers of one request; refuses unknown and repeated names and tables that can't be held."""
        if isinstance(columns, str):
            raise InputError(f'columns must be a list of names, not the single string "{columns}"')
        try:
            found = tuple(map(self.index.__getitem__, columns))
        except KeyError as missing:
            name = str(missing.args[0])
            raise InputError(
                f'no column "{name}" in the schema{did_you_mean_column(name, self.names)}'
            ) from None
        if len(set(found)) != len(found):
            raise InputError(f"a table can't name a column twice: {', '.join(columns)}")
        cells = math.prod(self.shape[c] for c in found)
        if cells > MAX_CELLS:
            raise InputError(
                f"the table of {', '.join(columns)} has {cells:,} declared cells; at most {MAX_CELLS:,}"
            )
        return found

    def tables(self, requests: Sequence[tuple[int, ...]], cells: Ints, flat: Table) -> list[Table]:
        """Cut a flat answer into one array per request, shaped by the declared sizes."""
        shape, cut = self.shape, cells.tolist()
        return [
            flat[low:high].reshape([shape[c] for c in columns])
            for columns, low, high in zip(requests, cut[:-1], cut[1:], strict=True)
        ]
