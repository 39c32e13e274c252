"""Coded rows in memory, and the passes of the staged kernel over them: by threads, at a known expected cost.

``COSTS`` holds nanoseconds of one core that the kernels take, measured by ``benchmarks/counting.py --calibrate``. A way
of counting is chosen by them; being off by a factor costs time, never correctness.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpcausal.counts.kernels.staged import count_jobs
from dpcausal.counts.protocol import Ints, Jobs, Table
from dpcausal.data.dataset import Codes


@dataclass(frozen=True)
class KernelCosts:
    """Nanoseconds of one core."""

    stage: float = 0.10  # staged kernel: per row and column
    count: float = 0.62  # staged kernel: per row
    count_weighted: float = 1.2  # staged kernel on distinct rows: per distinct row
    plane: float = 0.0105  # bit planes: per row and cell of the table
    pack: float = 0.35  # bit planes: per row and plane, once
    margin: float = 0.7  # summing a covering table down: per cell and request
    cover: float = 8.0  # finding a cover: per request and open group
    sort: float = 30.0  # compression by sorting: per row
    threads: float = 400_000  # starting threads: less work than this is done by the calling thread


COSTS = KernelCosts()


def processors() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_share() -> int:
    """Return the bytes that rows may take unless a limit is given: a quarter of this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def run_parallel(tasks: Sequence[Callable[[], None]]) -> None:
    """Run all tasks, the first in this thread and each other in one of its own; raise what one of them raised.

    The kernels release the interpreter lock.
    """
    failures: list[BaseException] = []

    def guarded(task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(task,)) for task in tasks[1:]]
    for thread in threads:
        thread.start()
    for task in tasks[:1]:
        guarded(task)
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def split(total: int, parts: int, multiple: int = 1) -> list[tuple[int, int]]:
    """Cut 0..total into at most ``parts`` ranges whose inner borders are multiples of ``multiple``.

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
        object.__setattr__(self, "columns", tuple(np.ascontiguousarray(column) for column in self.columns))
        object.__setattr__(self, "address", np.array([c.ctypes.data for c in self.columns], np.uint64))
        object.__setattr__(self, "width", np.array([c.itemsize for c in self.columns], np.int64))

    @property
    def length(self) -> int:
        """Number of rows held, distinct ones if weighted. It depends on the data and is never released."""
        return len(self.columns[0]) if self.columns else 0

    @property
    def n(self) -> int:
        """Number of rows that these stand for: the sum of the weights."""
        return int(self.weight.sum()) if len(self.weight) else self.length

    def count(self, jobs: Jobs, threads: int, nanoseconds: float) -> Table:
        """Return all tables of ``jobs``, flat; ``nanoseconds`` is the expected work, which decides on threads."""
        total = int(jobs.cells[-1])
        parts = threads if nanoseconds > COSTS.threads else 1
        out = np.zeros(total, np.int64)
        fixed = (self.address, self.width, self.sizes, self.weight)

        def task(low: int, high: int, first: int, last: int, target: Table) -> Callable[[], None]:
            return lambda: count_jobs(
                *fixed, low, high, jobs.columns, jobs.start, jobs.cells, first, last, target
            )

        if len(jobs) >= 4 * parts or parts == 1:  # many jobs: they are shared between threads
            run_parallel([task(0, self.length, a, b, out) for a, b in split(len(jobs), parts)])
            return out
        ranges = split(self.length, parts, 64)  # few jobs, many rows: the rows are shared
        copies = [out] + [np.zeros(total, np.int64) for _ in ranges[1:]]
        run_parallel([task(a, b, 0, len(jobs), copy) for (a, b), copy in zip(ranges, copies, strict=True)])
        for copy in copies[1:]:
            out += copy
        return out
