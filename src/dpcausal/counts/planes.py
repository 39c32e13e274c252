"""Bit planes of the columns of uncompressed rows, packed when first needed.

Answer many requests from few covering tables: count the covers, then sum each down to what was asked.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpcausal.counts.kernels.bits import count_planes, pack
from dpcausal.counts.kernels.tables import answer_requests, cover
from dpcausal.counts.protocol import Ints, Jobs, Table
from dpcausal.counts.rows import MARGIN_NS, PACK_NS, PARALLEL_NS, PLANE_NS, Rows, run_parallel, split

MAX_LEVELS, MAX_CELLS = 16, 1 << 10  # planes are not considered above


class Planes:
    """Packed planes of ``rows`` and the cost of using them."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._words = (rows.length + 63) // 64
        self._packed: dict[int, NDArray[np.uint64]] = {}
        self._address = np.zeros(len(rows.columns), np.uint64)
        self._single_start = np.concatenate([[0], np.cumsum(rows.sizes - 1)[:-1]]).astype(np.int64)
        self._single = np.zeros(int((rows.sizes - 1).sum()), np.int64)  # rows in every packed plane
        self._asked = np.zeros(len(rows.columns), np.int64)  # calls that named the column so far

    def cost_ns(self, jobs: Jobs) -> float:
        """Expected nanoseconds of one core; ``inf`` where planes can't serve.

        A column not packed yet is charged its packing divided by the calls that have named it: the more often it
        comes back, the more the packing will serve.
        """
        columns, cells = np.unique(jobs.columns), jobs.counts()
        sizes = self._rows.sizes[columns]
        if len(sizes) == 0 or sizes.max() > MAX_LEVELS or cells.max() > MAX_CELLS:
            return float("inf")
        self._asked[columns] += 1
        new = self._address[columns] == 0
        packing = float(((sizes - 1) / self._asked[columns])[new].sum())
        return self._rows.length * (PLANE_NS * float(cells.sum()) + PACK_NS * packing)

    def count(self, jobs: Jobs, threads: int) -> Table:
        """All tables of ``jobs``, flat."""
        self._pack([int(c) for c in np.unique(jobs.columns) if c not in self._packed], threads)
        total, length = int(jobs.cells[-1]), self._rows.length
        parts = threads if PLANE_NS * length * total > PARALLEL_NS else 1
        fixed = (self._address, self._rows.sizes, self._words)

        def task(low: int, high: int, first: int, last: int, out: Table) -> Callable[[], None]:
            whole = low == 0  # margins go in once, with the first words
            rows, single = (length, self._single) if whole else (0, np.zeros_like(self._single))
            return lambda: count_planes(
                *fixed,
                low,
                high,
                rows,
                single,
                self._single_start,
                jobs.columns,
                jobs.start,
                jobs.cells,
                first,
                last,
                out,
            )

        if len(jobs) >= 4 * parts or parts == 1:
            answer = np.zeros(total, np.int64)
            run_parallel([task(0, self._words, a, b, answer) for a, b in split(len(jobs), parts)])
            return answer
        ranges = split(self._words, parts)
        copies = np.zeros((len(ranges), total), np.int64)
        run_parallel([task(a, b, 0, len(jobs), copy) for (a, b), copy in zip(ranges, copies, strict=True)])
        return np.asarray(copies.sum(axis=0))

    def _pack(self, columns: list[int], threads: int) -> None:
        tasks: list[Callable[[], None]] = []
        for c in columns:
            size = int(self._rows.sizes[c])
            planes = np.zeros((max(size - 1, 1), self._words), np.uint64)
            self._packed[c], self._address[c] = planes, planes.ctypes.data
            tasks.append(lambda c=c, size=size, planes=planes: pack(self._rows.columns[c], size, planes))  # type: ignore[misc]
        step = threads if PACK_NS * self._rows.length * len(columns) > PARALLEL_NS else 1
        for i in range(0, len(tasks), step):
            run_parallel(tasks[i : i + step])
        for c in columns:
            found = np.bitwise_count(self._packed[c]).sum(axis=1, dtype=np.int64)
            start = self._single_start[c]
            self._single[start : start + int(self._rows.sizes[c]) - 1] = found[: int(self._rows.sizes[c]) - 1]


COVER_CELLS = 1 << 12  # a covering table stays in the second-level cache and is summed down quickly


class Covering:
    """``covers``: the tables to count; ``serves[r]``: which of them answers request r."""

    def __init__(self, requests: Jobs, sizes: Ints, rows: int) -> None:
        cap = min(COVER_CELLS, rows // 8)
        self.requests = requests
        self.sizes = sizes
        self.serves, member, groups = cover(requests.columns, requests.start, sizes, cap)
        self.covers = Jobs.of([np.flatnonzero(member[g]).tolist() for g in range(groups)], sizes)

    def margin_ns(self) -> float:
        """Expected nanoseconds of summing down."""
        return MARGIN_NS * float(self.covers.counts()[self.serves].sum())

    def sum_down(self, tables: Table, threads: int) -> Table:
        """Flat tables of the requests from the flat tables of the covers."""
        asked, covers = self.requests, self.covers
        out = np.zeros(int(asked.cells[-1]), np.int64)

        def task(first: int, last: int) -> Callable[[], None]:
            return lambda: answer_requests(
                self.sizes, covers.columns, covers.start, covers.cells, tables,
                asked.columns, asked.start, self.serves, asked.cells, first, last, out,
            )  # fmt: skip

        parts = threads if self.margin_ns() > PARALLEL_NS else 1
        run_parallel([task(a, b) for a, b in split(len(asked), parts)])
        return out
