"""Counting in memory: which way a batch of tables is counted, and the counts of whatever a user hands over.

Rows are compressed to distinct ones where their joint domain is small. Tables are counted by the staged kernel; many
requests that share columns are answered from a few covering tables, each summed down to what was asked for. The choice
follows from public sizes and measured costs and decides only how long it takes: the tables are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from dpcausal.core.entropy import RandomBytes, random_bytes
from dpcausal.core.errors import InputError
from dpcausal.counts.compress import cube_of, cube_pays, distinct_of
from dpcausal.counts.covering import Covering
from dpcausal.counts.protocol import Counts, Jobs, LaidOutCounts, Table
from dpcausal.counts.rows import COSTS, Rows, processors
from dpcausal.counts.sampling import hypergeometric
from dpcausal.data.dataset import Dataset, not_a_dataset
from dpcausal.data.schema import Schema

MIN_COVER_ROWS = 1024  # with fewer rows, counting each table by itself is as fast


class MemoryCounts(LaidOutCounts):
    """``Counts`` of a data set in memory, or of coded rows with their schema; ``threads``: all cores unless given.

    >>> import dpcausal as dc
    >>> schema = dc.Schema(smoke=dc.Categorical(["no", "yes"]), lung=dc.Categorical(["no", "yes"]))
    >>> counts = MemoryCounts(dc.read({"smoke": ["no", "yes", "yes"], "lung": ["no", "no", "yes"]}, schema))
    >>> counts.table(["smoke", "lung"]).tolist()
    [[1, 0], [1, 1]]
    """

    def __init__(
        self, data: Dataset | Rows, schema: Schema | None = None, *, threads: int | None = None
    ) -> None:
        self._threads = threads or processors()
        schema = data.schema if isinstance(data, Dataset) else schema
        if schema is None:
            raise InputError("rows without a schema")
        super().__init__(schema)
        if isinstance(data, Dataset):
            rows = Rows(tuple(data.codes[name] for name in schema), self._layout.sizes)
            self.several = None if data.several is None else MemoryCounts(data.several, threads=threads)
        else:
            rows = data
        self._n = data.n
        self._rows = rows

    @property
    def n(self) -> int:
        """Number of rows."""
        return self._n

    def __repr__(self) -> str:
        return f"MemoryCounts(n={self._n}, columns={list(self._layout.names)})"

    def _count(self, wanted: Sequence[tuple[int, ...]]) -> list[Table]:
        """Return the tables of these sets of columns, counted on the compressed rows."""
        self._compress()
        jobs = Jobs.of(wanted, self._layout.sizes)
        return self._layout.tables(wanted, jobs.cells, self._answer(jobs))

    def subsample(self, m: int, source: RandomBytes = random_bytes) -> MemoryCounts:
        """Draw m rows without replacement: a hypergeometric draw over the stored rows."""
        self._compress()
        weight = self._rows.weight if self._compressed else np.ones(self._rows.length, np.int64)
        drawn = hypergeometric(weight, m, source)
        left = np.flatnonzero(drawn)
        rows = Rows(tuple(column[left] for column in self._rows.columns), self._rows.sizes, drawn[left])
        return MemoryCounts(rows, self._schema, threads=self._threads)

    @property
    def _compressed(self) -> bool:
        """Whether the stored rows are distinct ones with weights."""
        return len(self._rows.weight) > 0

    def _compress(self) -> None:
        """Replace the rows by distinct ones where the joint domain is small."""
        if self._n and not self._compressed and cube_pays(self._layout.sizes, self._n):
            self._rows = distinct_of(cube_of(self._rows, self._threads), self._rows.sizes)

    def _pass_ns(self, jobs: Jobs) -> float:
        """Return the expected nanoseconds of counting all jobs by passes over the rows."""
        per_row = COSTS.count_weighted if self._compressed else COSTS.count
        return self._rows.length * (COSTS.stage * len(jobs.columns) + per_row * len(jobs))

    def _answer(self, jobs: Jobs) -> Table:
        """Return the flat tables of all jobs, counted in the cheapest way."""
        direct_ns = self._pass_ns(jobs)
        if len(jobs) > 1 and self._rows.length > MIN_COVER_ROWS:
            covering = Covering(jobs, self._layout.sizes, self._rows.length)
            covered_ns = self._pass_ns(covering.covers) + covering.margin_ns()
            if covered_ns < direct_ns:
                tables = self._rows.count(covering.covers, self._threads, covered_ns)
                return covering.sum_down(tables, self._threads)
        return self._rows.count(jobs, self._threads, direct_ns)


_counts_by_dataset: WeakKeyDictionary[Dataset, MemoryCounts] = WeakKeyDictionary()


def counts_of(data: Dataset | Counts) -> Counts:
    """Return ``data`` if it is a backend, else its counts in memory, cached while it lives; refuse anything else."""
    if isinstance(data, Dataset):
        if data not in _counts_by_dataset:
            _counts_by_dataset[data] = MemoryCounts(data)
        return _counts_by_dataset[data]
    if isinstance(data, Counts):
        return data
    raise not_a_dataset(data)
