"""What every counting backend offers, and how requests for tables are checked and laid out.

A statistic asks for tables by the names of columns and can't tell which backend answers. Only tables of declared shape
cross this line: no array of rows, no number of distinct rows and no timing. Counts are exact; they become publishable
only through a mechanism of the package ``privacy``.

``TableLayout`` checks requests against the schema and ``Jobs`` lays them out flat, as the kernels take them. Only
public sizes enter, so a refusal is public too.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.arguments import checked_count
from dpcausal.core.entropy import RandomBytes, random_bytes
from dpcausal.core.errors import InputError, did_you_mean_column
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.progress import Stage, silent
from dpcausal.core.proofs import proved
from dpcausal.core.spelling import spelled, worded
from dpcausal.core.statement import (
    ONE_ROW,
    PERSONS,
    ROWS,
    CountedByEngine,
    Limit,
    PersonRows,
    Public,
    UncheckedDraft,
    Unit,
)
from dpcausal.data.columns import code_type
from dpcausal.data.dataset import Dataset, not_a_dataset
from dpcausal.data.schema import Schema

Table = NDArray[np.int64]
Ints = NDArray[np.int64]
MAX_CELLS = 1 << 27  # declared cells of the largest table: 1 GiB


@runtime_checkable
class Counts(Protocol):
    """Exact contingency tables over the declared levels of a schema.

    **Guarantee.** A table has the declared shape, whatever the rows are, and its cells add up to ``n``. It is exact, so
    it must not be published; a mechanism adds noise first.
    """

    @property
    def schema(self) -> Schema:
        """Declared columns; they fix the shape of every table."""
        ...

    @property
    def n(self) -> int:
        """Number of rows. Public under replace-one neighbours only."""
        ...

    def table(self, columns: Sequence[str]) -> Table:
        """Count the joint levels of some columns.

        Parameters
        ----------
        columns : sequence of str
            Names of different columns.

        Returns
        -------
        array of int64
            One axis per column in the order given, empty levels included.

        Raises
        ------
        InputError
            If a column is unknown or named twice, or the table has more than 2^27 declared cells.
        """
        ...

    def tables(self, requests: Sequence[Sequence[str]]) -> list[Table]:
        """Return ``[table(columns) for columns in requests]``, sharing the work between requests."""
        ...

    def subsample(self, m: int, source: RandomBytes = random_bytes) -> Self | Counts:
        """Draw m rows without replacement, uniformly.

        Parameters
        ----------
        m : int
            Number of rows to draw, at most ``n``.
        source : callable, optional
            Yields random bytes; the operating system's unless given.

        Returns
        -------
        Counts
            Of the rows drawn: a multivariate hypergeometric draw.

        Raises
        ------
        InputError
            If m is negative or above ``n``.
        """
        ...


def attach_progress(counts: Counts, stage: Stage, relation: Neighbours) -> None:
    """Report the progress of counting, only where the number of rows is public.

    How rows are counted, in how many queries and batches, follows from their number. Where that is protected, only what
    is asked for shows, in the stages of the caller.
    """
    if isinstance(counts, LaidOutCounts):
        counts.stage = silent if relation is Neighbours.ADD_REMOVE else stage


def unit_of(data: Dataset | Counts) -> Unit:
    """Return what is protected: a row, or a person with all rows."""
    unit = data.schema.unit
    return ONE_ROW if unit is None else PersonRows(None if unit.records else unit.rows, unit.order_by)


def files_of(data: Dataset | Counts) -> tuple[Path, ...]:
    """Return the files that the rows are in, the one that a ledger notes first; none where they are in none."""
    file = getattr(data, "file", None)
    return () if file is None else (file, *getattr(data, "more_files", ()))


def number_known(data: Dataset | Counts) -> Public:
    """Return the public fact of how many rows, or persons, there are."""
    return ROWS if data.schema.unit is None else PERSONS


def rows_of_forecast(source: Schema | Dataset | Counts, rows: int | None, relation: Neighbours) -> int:
    """Return how many rows a forecast is for: as given, or those of the data where their number is public.

    Raises
    ------
    InputError
        If it is not known, or ``source`` is none of these.
    """
    if not isinstance(source, Schema | Dataset | Counts):
        raise not_a_dataset(source)
    if rows is not None:
        return checked_count(rows, "rows")
    if isinstance(source, Schema):
        raise InputError(
            worded(
                "a forecast needs a file, or --rows N",
                "a forecast from a schema needs rows=",
                "a forecast needs rows",
            )
            + ": how many there will be"
        )
    if relation is Neighbours.ADD_REMOVE:
        raise InputError(
            f"the number of rows is protected (add-remove): no forecast without {spelled('--rows', 'rows=')}"
        )
    return source.n


def entries_of(counts: Counts) -> int:
    """Return how many entries each person has in ``tables_of_entries``: public, 1 where the unit is a row."""
    unit = counts.schema.unit
    return 1 if unit is None or getattr(counts, "several", None) is None else unit.rows


@proved("tables_of_entries.proof.md")
def tables_of_entries(counts: Counts, requests: Sequence[Sequence[str]]) -> list[Table]:
    """Return tables of all entries, ``entries_of(counts)`` of each person; else those of ``counts`` itself.

    A linear statistic of them, divided by the number of entries, has the sensitivity that it has for one row.
    """
    several = getattr(counts, "several", None)
    return counts.tables(requests) if several is None else several.tables(requests)


def source_limits(data: Dataset | Counts) -> tuple[Limit, ...]:
    """Return the limits of a guarantee that follow from the source: an unchecked schema, an engine."""
    found = [UncheckedDraft() if data.schema.is_draft else None, getattr(data, "counted_by", None)]
    return tuple(limit for limit in found if limit is not None)


@dataclass(frozen=True)
class Jobs:
    """Lists of columns, laid out flat, one table each.

    Job j has the columns ``columns[start[j]:start[j + 1]]``, and its table has ``cells[j + 1] - cells[j]`` cells.
    """

    columns: Ints
    start: Ints
    cells: Ints

    def __len__(self) -> int:
        return len(self.start) - 1

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]], sizes: Ints) -> Jobs:
        """Lay out lists of column numbers; ``sizes`` are the levels of every column."""
        lengths = [len(columns) for columns in lists]
        flat = np.fromiter((c for columns in lists for c in columns), np.int64, sum(lengths))
        start = np.zeros(len(lists) + 1, np.int64)
        np.cumsum(lengths, out=start[1:])
        cells = np.ones(len(lists), np.int64)
        np.multiply.at(cells, np.repeat(np.arange(len(lists)), lengths), sizes[flat])
        return cls(flat, start, np.concatenate([[0], np.cumsum(cells)]))

    def cell_counts(self) -> Ints:
        """Return the number of cells of each job."""
        return np.diff(self.cells)

    def column_lists(self) -> Iterable[Ints]:
        """Return the columns of each job."""
        return np.split(self.columns, self.start[1:-1])


class TableLayout:
    """Turns requests by name into column numbers, and flat answers back into tables."""

    def __init__(self, schema: Schema) -> None:
        self.names = tuple(schema)
        self.index = {name: i for i, name in enumerate(self.names)}
        self.shape = tuple(column.size for column in schema.values())
        self.sizes = np.array(self.shape, np.int64)

    @property
    def row_bytes(self) -> int:
        """Bytes that the codes of a row take."""
        return sum(np.dtype(code_type(size)).itemsize for size in self.shape)

    def resolve(self, columns: Sequence[str]) -> tuple[int, ...]:
        """Return the column numbers of one request; raise ``InputError`` as ``Counts.table`` does."""
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


class LaidOutCounts(ABC):
    """A base of backends: requests are checked against the schema before ``_count`` sees them as column numbers."""

    counted_by: CountedByEngine | None = None  # where an engine counts, and not this process

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._layout = TableLayout(schema)
        self.stage: Stage = silent  # where progress is reported
        self.several: Counts | None = None  # of several rows of each person, as many for everyone

    @property
    def schema(self) -> Schema:
        """Declared columns."""
        return self._schema

    def table(self, columns: Sequence[str]) -> Table:
        """Count the joint levels of ``columns``, one axis each in the order given."""
        return self.tables([columns])[0]

    def tables(self, requests: Sequence[Sequence[str]]) -> list[Table]:
        """Return one table per request; requests that share columns share the work."""
        wanted = [self._layout.resolve(columns) for columns in requests]
        return self._count(wanted) if wanted else []

    @abstractmethod
    def _count(self, wanted: Sequence[tuple[int, ...]]) -> list[Table]:
        """Return one table for each list of column numbers; there is at least one list."""
