"""Bit planes of the columns of uncompressed rows: small tables by AND and population count.

A column with s levels has s - 1 planes of one bit a row. They are packed when first needed and kept. Cost: about 0.01
nanoseconds per row and cell of a table once packed; memory (s - 1) / 8 bytes a row and column.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpcausal.counts.kernels.bits import count_planes, pack
from dpcausal.counts.protocol import Jobs, Table
from dpcausal.counts.rows import COSTS, Rows, run_parallel, split

MAX_PLANE_LEVELS = 16  # of a column; more levels take too many planes
MAX_PLANE_CELLS = 1 << 10  # of a table; for more the staged kernel is faster


class Planes:
    """The packed planes of some rows, and the cost of counting by them."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._words = (rows.length + 63) // 64
        self._packed: dict[int, NDArray[np.uint64]] = {}
        self._address = np.zeros(len(rows.columns), np.uint64)
        self._margin_start = np.concatenate([[0], np.cumsum(rows.sizes - 1)[:-1]]).astype(np.int64)
        self._margin = np.zeros(
            int((rows.sizes - 1).sum()), np.int64
        )  # rows in every packed plane, a column's from _margin_start on
        self._calls = np.zeros(len(rows.columns), np.int64)  # calls that named the column

    def cost_ns(self, jobs: Jobs) -> float:
        """Return the expected nanoseconds of one core; infinity where planes can't be used.

        A column that is not packed yet is charged its packing divided by the number of calls that have named it: the
        more often it is asked for, the more the packing will be used.
        """
        columns, cells = np.unique(jobs.columns), jobs.cell_counts()
        sizes = self._rows.sizes[columns]
        if len(sizes) == 0 or sizes.max() > MAX_PLANE_LEVELS or cells.max() > MAX_PLANE_CELLS:
            return float("inf")
        self._calls[columns] += 1
        new = self._address[columns] == 0
        packing = float(((sizes - 1) / self._calls[columns])[new].sum())
        return self._rows.length * (COSTS.plane * float(cells.sum()) + COSTS.pack * packing)

    def count(self, jobs: Jobs, threads: int) -> Table:
        """Return all tables of ``jobs``, flat."""
        self._pack([int(c) for c in np.unique(jobs.columns) if c not in self._packed], threads)
        total, length = int(jobs.cells[-1]), self._rows.length
        parts = threads if COSTS.plane * length * total > COSTS.threads else 1
        fixed = (self._address, self._rows.sizes, self._words)

        def task(low: int, high: int, first: int, last: int, out: Table) -> Callable[[], None]:
            whole = low == 0  # margins go in once, with the first words
            rows, margin = (length, self._margin) if whole else (0, np.zeros_like(self._margin))
            return lambda: count_planes(
                *fixed,
                low,
                high,
                rows,
                margin,
                self._margin_start,
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
        step = threads if COSTS.pack * self._rows.length * len(columns) > COSTS.threads else 1
        for i in range(0, len(tasks), step):
            run_parallel(tasks[i : i + step])
        for c in columns:
            found = np.bitwise_count(self._packed[c]).sum(axis=1, dtype=np.int64)
            start = self._margin_start[c]
            self._margin[start : start + int(self._rows.sizes[c]) - 1] = found[: int(self._rows.sizes[c]) - 1]
