"""Counts in which two columns are read as one: what a row is follows from a declared table of pairs of levels.

**Guarantee.** Every pair of levels has one code of the merged column, whatever the rows are, so that tables have their
declared shape and add up to the rows, as those of any backend do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from dpcausal.core.entropy import RandomBytes, random_bytes
from dpcausal.counts.protocol import Counts, Ints, LaidOutCounts, Table
from dpcausal.data.schema import Schema


@runtime_checkable
class Recuts(Protocol):
    """Counts that can cut a number anew, since the rows are there."""

    def with_bins(self, name: str, bins: Sequence[float]) -> Counts:
        """Return the counts of the same rows with other cut points of a numeric column."""
        ...


class MergedCounts(LaidOutCounts):
    """``Counts`` of which two columns are one: the second of them, with other levels, stands for both.

    Parameters
    ----------
    counts
        Of both columns.
    schema
        Without the first of the pair, and with the merged levels for the second.
    pair
        Names of two columns.
    codes
        The merged level of every level of the first (rows) and the second (columns).
    """

    def __init__(self, counts: Counts, schema: Schema, pair: tuple[str, str], codes: Ints) -> None:
        super().__init__(schema)
        self._counts, self._pair, self._codes = counts, pair, codes
        self.counted_by = getattr(counts, "counted_by", None)
        self.file = getattr(counts, "file", None)  # a ledger may be mandatory for it

    @property
    def n(self) -> int:
        """Number of rows."""
        return self._counts.n

    def subsample(self, m: int, source: RandomBytes = random_bytes) -> Counts:
        """Draw m rows without replacement."""
        return MergedCounts(self._counts.subsample(m, source), self._schema, self._pair, self._codes)

    def _count(self, wanted: Sequence[tuple[int, ...]]) -> list[Table]:
        """Return the tables of these column numbers; the merged column's are summed from its two parts."""
        names = [[self._layout.names[c] for c in columns] for columns in wanted]
        merged = self._pair[1]
        asked = [
            [*(name for name in one if name != merged), *self._pair] if merged in one else one
            for one in names
        ]
        return [
            self._summed(table, one.index(merged)) if merged in one else table
            for table, one in zip(self._counts.tables(asked), names, strict=True)
        ]

    def _summed(self, table: Table, axis: int) -> Table:
        """Sum the last two axes of a table into levels of the merged column, placed at an axis."""
        onto = np.zeros((self._codes.size, self._schema[self._pair[1]].size), np.int64)
        onto[np.arange(self._codes.size), self._codes.ravel()] = 1  # one level for every pair
        found = table.reshape(*table.shape[:-2], self._codes.size) @ onto
        return np.ascontiguousarray(np.moveaxis(found, -1, axis))
