"""Bit planes of the columns of uncompressed rows: small tables by AND and population count.

A column with s levels has s - 1 planes: bit i of plane v tells whether row i has level v + 1. They are packed when
first needed. For every choice of "no constraint" (digit 0) or a level (digit v + 1) per column the kernel counts the
rows that satisfy it, by AND and population count over blocks held in the first-level cache. ``to_cells`` then turns
those subset sums into the table: the count at level 0 is the sum over all levels less the others. Cost: about 0.01
nanoseconds per row and cell of a table once packed; memory (s - 1) / 8 bytes a row and column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from dpcausal.core.compiled import jit, pointer, popcount
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
        """Pack the planes of columns that are not packed yet."""
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


# ---- the kernel

BLOCK_WORDS = 512  # 64-bit words of a block: the prefixes of six columns fit the first-level cache


@jit()
def pack(column: Any, size: int, planes: Any) -> None:
    """Pack the planes of a one-byte column with fewer than 128 levels; ``planes`` has shape (size - 1, ceil(n / 64)).

    Eight rows at a time: a byte of ``difference`` is zero where the level matches; adding 0x7f sets its top bit
    where it does not; one multiplication gathers the eight answers into one byte. Rows past n match no plane.
    """
    n = column.shape[0]
    whole = n // 64
    ones, sevens = nb.uint64(0x0101010101010101), nb.uint64(0x7F7F7F7F7F7F7F7F)
    gather = nb.uint64(0x0102040810204080)
    eights = column[: whole * 64].view(np.uint64)
    for level in range(1, size):
        pattern = nb.uint64(level) * ones
        plane = planes[level - 1]
        for w in range(whole):
            word = nb.uint64(0)
            for b in range(8):
                difference = eights[8 * w + b] ^ pattern
                match = ((difference + sevens) >> nb.uint64(7)) & ones ^ ones
                word |= ((match * gather) >> nb.uint64(56)) << nb.uint64(8 * b)
            plane[w] = word
        if whole * 64 < n:
            word = nb.uint64(0)
            for i in range(whole * 64, n):
                if column[i] == level:
                    word |= nb.uint64(1) << nb.uint64(i - whole * 64)
            plane[whole] = word


@jit()
def _count(a: Any) -> Any:
    """Count the set bits of words."""
    total = nb.uint64(0)
    for i in range(a.shape[0]):
        total += popcount(a[i])
    return total


@jit()
def _count_and(a: Any, b: Any) -> Any:
    """Count the set bits of the AND of words."""
    total = nb.uint64(0)
    for i in range(a.shape[0]):
        total += popcount(a[i] & b[i])
    return total


@jit()
def _and(out: Any, a: Any, b: Any) -> None:
    """Set ``out`` to the AND of words."""
    for i in range(a.shape[0]):
        out[i] = a[i] & b[i]


@jit()
def _plane(address: Any, words: int, index: int, low: int, rows: int) -> Any:
    """Return a part of the words of a plane at an address."""
    return nb.carray(pointer(address + nb.uint64(8) * nb.uint64(index * words + low)), rows, dtype=np.uint64)


@jit()
def _subset_sums(address: Any, size: Any, words: int, start: int, stop: int, stack: Any, out: Any) -> None:
    """Add to ``out`` the popcount of every AND of at most one plane per column (digit 0: none), two planes or more.

    Counts of single planes do not depend on the table; they were made when the planes were packed.
    """
    last = size.shape[0] - 1
    digit = np.zeros(last + 1, np.int64)
    bound = np.zeros(last + 1, np.int64)  # planes in the prefix up to here
    for low in range(start, stop, BLOCK_WORDS):
        rows = min(BLOCK_WORDS, stop - low)
        digit[:] = 0
        base, changed = 0, 0
        while changed >= 0:
            for d in range(changed, last):  # rebuild the prefixes from the digit that changed
                before = bound[d - 1] if d > 0 else 0
                bound[d] = before + (digit[d] > 0)
                if digit[d] == 0:
                    if before > 0:
                        stack[d, :rows] = stack[d - 1, :rows]
                else:
                    plane = _plane(address[d], words, digit[d] - 1, low, rows)
                    if before > 0:
                        _and(stack[d, :rows], stack[d - 1, :rows], plane)
                    else:
                        stack[d, :rows] = plane
            if last > 0 and bound[last - 1] > 0:
                prefix = stack[last - 1, :rows]
                if bound[last - 1] > 1:
                    out[base] += _count(prefix)
                for v in range(1, size[last]):
                    out[base + v] += _count_and(prefix, _plane(address[last], words, v - 1, low, rows))
            base += size[last]
            changed = last - 1
            while changed >= 0:
                digit[changed] += 1
                if digit[changed] < size[changed]:
                    break
                digit[changed] = 0
                changed -= 1


@jit()
def to_cells(sums: Any, size: Any) -> None:
    """Convert sums over subsets of levels to cell counts, in place."""
    inner = 1
    for axis in range(size.shape[0] - 1, -1, -1):
        step = inner * size[axis]
        for outer in range(0, sums.shape[0], step):
            for i in range(inner):
                rest = np.int64(0)
                for v in range(1, size[axis]):
                    rest += sums[outer + v * inner + i]
                sums[outer + i] -= rest
        inner = step


@jit()
def count_planes(
    plane_address: Any, size: Any, words: int, start: int, stop: int, rows: int, single: Any, single_start: Any,
    job_columns: Any, job_start: Any, out_start: Any, first_job: int, last_job: int, out: Any,
) -> None:  # fmt: skip
    """Write the tables of jobs ``first_job .. last_job`` over words ``start .. stop`` to ``out``.

    ``rows`` and ``single`` (rows in plane v of column c: ``single[single_start[c] + v]``) are added whole: where
    several calls share the words of one table, one of them gets both and the others zeros.
    """
    stack = np.empty((64, BLOCK_WORDS), np.uint64)
    for j in range(first_job, last_job):
        columns = job_columns[job_start[j] : job_start[j + 1]]
        table = out[out_start[j] : out_start[j + 1]]
        table[:] = 0
        if columns.shape[0] > 0:
            _subset_sums(plane_address[columns], size[columns], words, start, stop, stack, table)
        step = 1
        for i in range(columns.shape[0] - 1, -1, -1):
            c = columns[i]
            for v in range(size[c] - 1):
                table[(v + 1) * step] += single[single_start[c] + v]
            step *= size[c]
        table[0] = rows
        to_cells(table, size[columns])
