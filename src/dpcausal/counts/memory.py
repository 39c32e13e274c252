"""Counting in memory: compress where it pays, else bit planes for small tables and the staged kernel for larger.

Which way is taken follows from public sizes and measured costs (``benchmarks/counting.py --calibrate``); the
answer never depends on it. Compression by sorting starts only once the tables asked for have cost as much as the
sort would: at worst twice the best choice made with hindsight.

The counts of whatever a user hands over; a data set is compressed once, however often it is asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from dpcausal.core.entropy import RandomBytes, random_bytes
from dpcausal.core.errors import InputError
from dpcausal.counts import compress
from dpcausal.counts.planes import Covering, Planes
from dpcausal.counts.protocol import Counts, Jobs, Table, TableLayout
from dpcausal.counts.rows import COUNT_NS, COVER_NS, SORT_NS, STAGE_NS, WEIGHTED_NS, Rows, processors
from dpcausal.counts.sampling import hypergeometric
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema

KEEP_DISTINCT = 0.65  # a compressed copy with a larger share of distinct rows is thrown away
COVER_ROWS = 1024  # with fewer rows counting each table by itself is as fast


class MemoryCounts:
    """``Counts`` of a data set held in memory; ``threads`` defaults to the cores this process may use."""

    def __init__(
        self, data: Dataset | Rows, schema: Schema | None = None, *, threads: int | None = None
    ) -> None:
        self._threads = threads or processors()
        if isinstance(data, Dataset):
            schema = data.schema
            rows = Rows(tuple(data.codes[name] for name in schema), TableLayout(schema).sizes)
            self._n = data.n
        else:
            if schema is None:
                raise InputError("rows without a schema")
            rows, self._n = data, data.n
        self._schema = schema
        self._layout = TableLayout(schema)
        self._rows = rows
        self._planes = Planes(rows)
        self._spent_ns = 0.0  # on passes that compression would have made cheaper
        self._may_sort = not len(rows.weight) and compress.KeyLayout(rows.sizes).fits

    @property
    def schema(self) -> Schema:
        """Declared columns."""
        return self._schema

    @property
    def n(self) -> int:
        """Number of rows."""
        return self._n

    def __repr__(self) -> str:
        return f"MemoryCounts(n={self._n}, columns={list(self._layout.names)})"

    def table(self, columns: Sequence[str]) -> Table:
        """Counts of the joint levels of ``columns``, one axis each in the order given."""
        return self.tables([columns])[0]

    def tables(self, requests: Sequence[Sequence[str]]) -> list[Table]:
        """One table per request; requests that share columns share passes over the rows."""
        wanted = [self._layout.resolve(columns) for columns in requests]
        if not wanted:
            return []
        self._compress(force=False)
        jobs = Jobs.of(wanted, self._layout.sizes)
        return self._layout.tables(wanted, jobs.cells, self._answer(jobs))

    def subsample(self, m: int, source: RandomBytes = random_bytes) -> MemoryCounts:
        """Counts of m rows drawn without replacement: a hypergeometric draw over the distinct rows."""
        self._compress(force=True)
        drawn = hypergeometric(self._weight(), m, source)
        left = np.flatnonzero(drawn)
        rows = Rows(tuple(column[left] for column in self._rows.columns), self._rows.sizes, drawn[left])
        return MemoryCounts(rows, self._schema, threads=self._threads)

    def _weight(self) -> Table:
        return self._rows.weight if self._compressed else np.ones(self._rows.length, np.int64)

    @property
    def _compressed(self) -> bool:
        return len(self._rows.weight) > 0

    def _compress(self, force: bool) -> None:
        """Replace the rows by distinct ones where that pays; by sorting only if forced or once it is paid for."""
        if self._compressed or not self._n:
            return
        if compress.cube_pays(self._layout.sizes, self._n):
            cube = compress.cube_of(self._rows, self._threads)
            self._rows = compress.distinct_of(cube, self._rows.sizes)
        elif self._may_sort and (force or self._spent_ns > SORT_NS * self._n):
            self._may_sort = False
            packed = compress.compress_sorted(self._rows, self._threads)
            if packed.length <= KEEP_DISTINCT * self._n:
                self._rows = packed

    def _pass_ns(self, jobs: Jobs) -> float:
        """Expected nanoseconds of the staged kernel: one pass over the rows per job."""
        per_row = WEIGHTED_NS if self._compressed else COUNT_NS
        return self._rows.length * (STAGE_NS * len(jobs.columns) + per_row * len(jobs))

    def _answer(self, jobs: Jobs) -> Table:
        """Flat tables of all jobs, by the way that costs least."""
        direct_ns = self._pass_ns(jobs)
        planes_ns = float("inf") if self._compressed else self._planes.cost_ns(jobs)
        if len(jobs) > 1 and self._rows.length > COVER_ROWS and planes_ns > COVER_NS * len(jobs):
            covering = Covering(jobs, self._layout.sizes, self._rows.length)
            covered_ns = self._pass_ns(covering.covers) + covering.margin_ns()
            if covered_ns < min(direct_ns, planes_ns):
                self._spent_ns += covered_ns
                tables = self._rows.count(covering.covers, self._threads, covered_ns)
                return covering.sum_down(tables, self._threads)
        if planes_ns < direct_ns:
            self._spent_ns += planes_ns
            return self._planes.count(jobs, self._threads)
        self._spent_ns += direct_ns
        return self._rows.count(jobs, self._threads, direct_ns)


_known: WeakKeyDictionary[Dataset, MemoryCounts] = WeakKeyDictionary()


def counts_of(data: Dataset | Counts) -> Counts:
    """``data`` itself if it counts already, else its counts in memory, kept as long as it lives."""
    if isinstance(data, Dataset):
        if data not in _known:
            _known[data] = MemoryCounts(data)
        return _known[data]
    if isinstance(data, Counts):
        return data
    raise InputError(f"data must come from dc.read or a counting backend, not {type(data).__name__}")
