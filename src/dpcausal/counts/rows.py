"""Coded rows in memory, and the passes of the staged kernel over them: by threads, at a known expected cost.

The kernel codes a block of rows in the first-level cache, then counts the codes. A job is a list of columns; its table
is the histogram of the mixed-radix code ``code = (...(c_0 s_1 + c_1) s_2 + ...) + c_k`` over all rows. Coding a block
column by column is a SIMD loop; counts are spread over four sub-histograms in turn, so that equal neighbouring codes do
not wait for each other. Cost: about 0.6 + 0.1 k nanoseconds per row and job of k columns, up to some 4,096 cells.

``COSTS`` holds nanoseconds of one core that the kernels take, measured by ``benchmarks/counting.py --calibrate``. A way
of counting is chosen by them; being off by a factor costs time, never correctness.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from dpcausal.core.compiled import jit, pointer
from dpcausal.counts.protocol import Ints, Jobs, Table
from dpcausal.data.columns import Codes


@dataclass(frozen=True)
class KernelCosts:
    """Time of the kernels, in nanoseconds of one core."""

    stage: float = 0.10  # staged kernel: per row and column
    count: float = 0.62  # staged kernel: per row
    count_weighted: float = 1.2  # staged kernel on distinct rows: per distinct row
    margin: float = 0.7  # summing a covering table down: per cell and request
    threads: float = 400_000  # starting threads: less work than this is done by the calling thread


COSTS = KernelCosts()


def processors() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_share() -> int:
    """Return the default memory limit for rows in bytes: a quarter of this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def run_parallel(tasks: Sequence[Callable[[], None]]) -> None:
    """Run all tasks, each in a thread, and raise the first error; the kernels release the interpreter lock."""
    if len(tasks) < 2:
        for task in tasks:
            task()
        return
    with ThreadPoolExecutor(len(tasks)) as pool:
        for running in [pool.submit(task) for task in tasks]:
            running.result()


def split(total: int, parts: int, multiple: int = 1) -> list[tuple[int, int]]:
    """Return at most ``parts`` ranges that cover 0..total, with inner borders at multiples of ``multiple``.

    >>> split(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    borders = [total * i // parts // multiple * multiple for i in range(parts)] + [total]
    return [(low, high) for low, high in pairwise(borders) if low < high]


@dataclass(frozen=True)
class Rows:
    """Coded rows, each with a weight.

    Attributes
    ----------
    columns : tuple of arrays
        ``columns[c][i]`` is the code of row i in column c.
    sizes : array of int64
        Declared levels or bins of every column.
    weight : array of int64
        How many equal rows row i represents; empty where each represents itself.
    address, width : arrays
        Of every column in memory, as the kernels take them.
    """

    columns: tuple[Codes, ...]
    sizes: Ints
    weight: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    address: NDArray[np.uint64] = field(init=False, repr=False)
    width: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        columns = tuple(np.ascontiguousarray(column) for column in self.columns)
        address = np.array([column.ctypes.data for column in columns], np.uint64)
        width = np.array([column.itemsize for column in columns], np.int64)
        vars(self).update(columns=columns, address=address, width=width)

    @property
    def length(self) -> int:
        """Number of stored rows, distinct ones if weighted. It depends on the data and is never released."""
        return len(self.columns[0]) if self.columns else 0

    @property
    def n(self) -> int:
        """Number of rows that these represent: the sum of the weights."""
        return int(self.weight.sum()) if len(self.weight) else self.length

    def add_to(self, out: Table, jobs: Jobs, rows: tuple[int, int], which: tuple[int, int]) -> None:
        """Add the tables of jobs ``which``, counted over a range of rows, to the flat array ``out``."""
        layout = (jobs.columns, jobs.start, jobs.cells)
        count_jobs(self.address, self.width, self.sizes, self.weight, *rows, *layout, *which, out)

    def count(self, jobs: Jobs, threads: int, nanoseconds: float) -> Table:
        """Return the flat tables of all ``jobs``; ``nanoseconds`` is the expected work, which decides on threads."""
        total = int(jobs.cells[-1])
        parts = threads if nanoseconds > COSTS.threads else 1
        out = np.zeros(total, np.int64)
        every_row, every_job = (0, self.length), (0, len(jobs))
        if len(jobs) >= 4 * parts or parts == 1:  # many jobs: they are shared between threads
            run_parallel(
                [partial(self.add_to, out, jobs, every_row, some) for some in split(len(jobs), parts)]
            )
            return out
        ranges = split(self.length, parts, 64)  # few jobs, many rows: the rows are shared
        copies = [out] + [np.zeros(total, np.int64) for _ in ranges[1:]]
        shares = zip(ranges, copies, strict=True)
        run_parallel([partial(self.add_to, copy, jobs, some, every_job) for some, copy in shares])
        for copy in copies[1:]:
            out += copy
        return out


# ---- the staged kernel

BLOCK_ROWS = 4096  # rows coded at a time: codes and one column block stay in the first-level cache
FLUSH_ROWS = 1 << 30  # rows after which 32-bit sub-histograms are added up, before they can overflow
MAX_SMALL_CELLS = 1 << 14  # cells up to which four 32-bit sub-histograms pay


@jit()
def _horner(code: Any, column: Any, size: Any) -> None:
    """Multiply mixed-radix codes by the size of the next column and add its codes, in place."""
    for i in range(code.shape[0]):
        code[i] = code[i] * size + column[i]


@jit()
def _encode(code: Any, low: Any, columns: Any, address: Any, width: Any, size: Any) -> None:
    """Set ``code`` to the mixed-radix codes of rows ``low .. low + len(code)`` of the named columns."""
    rows = code.shape[0]
    code[:] = 0
    for c in columns:
        at = address[c] + nb.uint64(low) * nb.uint64(width[c])
        if width[c] == 1:
            _horner(code, nb.carray(pointer(at), rows, dtype=np.uint8), size[c])
        else:
            _horner(code, nb.carray(pointer(at), rows, dtype=np.uint16), size[c])


@jit()
def _count_small(code: Any, sub: Any, cells: Any) -> None:
    """Add codes to four sub-histograms of 32 bits each."""
    a, b, c, d = sub[:cells], sub[cells : 2 * cells], sub[2 * cells : 3 * cells], sub[3 * cells : 4 * cells]
    rows = code.shape[0]
    even = rows & ~3
    for i in range(0, even, 4):
        a[code[i]] += nb.uint32(1)
        b[code[i + 1]] += nb.uint32(1)
        c[code[i + 2]] += nb.uint32(1)
        d[code[i + 3]] += nb.uint32(1)
    for i in range(even, rows):
        a[code[i]] += nb.uint32(1)


@jit()
def _count_large(code: Any, out: Any) -> None:
    """Add codes to one histogram."""
    for i in range(code.shape[0]):
        out[code[i]] += 1


@jit()
def _count_weighted(code: Any, weight: Any, out: Any) -> None:
    """Add codes to a histogram, each with its weight."""
    for i in range(code.shape[0]):
        out[code[i]] += weight[i]


@jit()
def _flush(sub: Any, cells: Any, out: Any) -> None:
    """Add sub-histograms to a table and clear them."""
    for i in range(cells):
        out[i] += np.int64(sub[i]) + sub[cells + i] + sub[2 * cells + i] + sub[3 * cells + i]
        sub[i] = sub[cells + i] = sub[2 * cells + i] = sub[3 * cells + i] = 0


@jit()
def count_jobs(
    address: Any, width: Any, size: Any, weight: Any, start: int, stop: int,
    job_columns: Any, job_start: Any, out_start: Any, first_job: int, last_job: int, out: Any,
) -> None:  # fmt: skip
    """Add the tables of jobs ``first_job .. last_job`` over rows ``start .. stop`` to ``out``.

    ``address, width, size``: of every column; ``weight``: how many rows each represents (empty: one);
    ``job_columns[job_start[j] : job_start[j + 1]]``: the columns of job j, the last varying fastest;
    ``out[out_start[j] : out_start[j + 1]]``: its table.
    """
    short, long = np.empty(BLOCK_ROWS, np.uint16), np.empty(BLOCK_ROWS, np.uint32)
    sub = np.zeros(4 * MAX_SMALL_CELLS, np.uint32)
    weighted = weight.shape[0] > 0
    for j in range(first_job, last_job):
        columns = job_columns[job_start[j] : job_start[j + 1]]
        table = out[out_start[j] : out_start[j + 1]]
        cells = table.shape[0]
        small = cells <= MAX_SMALL_CELLS and not weighted
        since = 0
        for low in range(start, stop, BLOCK_ROWS):
            rows = min(BLOCK_ROWS, stop - low)
            if cells <= 65536:
                _encode(short[:rows], low, columns, address, width, size)
                if small:
                    _count_small(short[:rows], sub, cells)
                elif weighted:
                    _count_weighted(short[:rows], weight[low : low + rows], table)
                else:
                    _count_large(short[:rows], table)
            else:
                _encode(long[:rows], low, columns, address, width, size)
                if weighted:
                    _count_weighted(long[:rows], weight[low : low + rows], table)
                else:
                    _count_large(long[:rows], table)
            since += rows
            if small and since >= FLUSH_ROWS:
                _flush(sub, cells, table)
                since = 0
        if small:
            _flush(sub, cells, table)
