"""Compress rows to distinct rows with counts: a dense cube where the domain is small, sorted keys otherwise.

The result stands for the same multiset of rows, so every table is unchanged. How many distinct rows there are
depends on the data and never leaves the counts room: it decides only how long counting takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.counts.kernels.keys import count_runs, merge_runs, pack_keys
from dpcausal.counts.requests import Ints, Jobs
from dpcausal.counts.rows import Rows, run_parallel, split

CUBE_CELLS = 1 << 20  # above this the cube leaves the caches and sorting keys is as fast

Keys = NDArray[np.uint64]
Run = tuple[Keys, NDArray[np.int64]]


def cube_pays(sizes: Ints, rows: int) -> bool:
    """Whether counting the whole joint domain at once is cheap for that many rows (public sizes, public n)."""
    return len(sizes) > 0 and math.prod(sizes.tolist()) <= min(CUBE_CELLS, max(4 * rows, 1024))


def compress_cube(rows: Rows, threads: int) -> Rows:
    """Distinct rows from one histogram over the joint domain. O(n) with one increment per row."""
    jobs = Jobs.of([range(len(rows.sizes))], rows.sizes)
    cube = rows.count(jobs, threads, nanoseconds=1.5 * rows.length)
    occupied = np.flatnonzero(cube)
    levels = np.unravel_index(occupied, rows.sizes.tolist())
    columns = tuple(level.astype(old.dtype) for level, old in zip(levels, rows.columns, strict=True))
    return Rows(columns, rows.sizes, cube[occupied])


class KeyLayout:
    """Where each column sits in a 64-bit key."""

    def __init__(self, sizes: Ints) -> None:
        bits = np.array([max(int(size - 1).bit_length(), 1) for size in sizes], np.int64)
        self.sizes = sizes
        self.shift = np.concatenate([[0], np.cumsum(bits)[:-1]]).astype(np.int64) if len(bits) else bits
        self.bits = bits
        self.fits = int(bits.sum()) <= 64

    def pack(self, rows: Rows, threads: int = 1) -> Keys:
        """One key per row."""
        keys = np.empty(rows.length, np.uint64)
        parts = split(rows.length, threads if rows.length > 1 << 16 else 1, 64)

        def task(low: int, high: int) -> Callable[[], None]:
            return lambda: pack_keys(rows.address, rows.width, self.shift, low, high, keys)

        run_parallel([task(low, high) for low, high in parts] or [lambda: None])
        return keys

    def unpack(self, keys: Keys) -> tuple[NDArray[np.uint8] | NDArray[np.uint16], ...]:
        """The columns back from the keys."""
        masks = [np.uint64((1 << int(b)) - 1) for b in self.bits]
        kinds = [np.uint8 if size <= 256 else np.uint16 for size in self.sizes]
        return tuple(
            ((keys >> np.uint64(shift)) & mask).astype(kind)
            for shift, mask, kind in zip(self.shift, masks, kinds, strict=True)
        )


def sorted_run(keys: Keys) -> Run:
    """Distinct keys in order, and their counts; ``keys`` is used up."""
    keys.sort()
    counts = np.empty(len(keys), np.int64)
    distinct = count_runs(keys, counts)
    return keys[:distinct].copy(), counts[:distinct].copy()


def merge(a: Run, b: Run) -> Run:
    """One run that stands for both."""
    keys = np.empty(len(a[0]) + len(b[0]), np.uint64)
    counts = np.empty(len(keys), np.int64)
    distinct = merge_runs(*a, *b, keys, counts)
    return keys[:distinct].copy(), counts[:distinct].copy()


def merge_all(runs: Iterable[Run]) -> Run:
    """Merge as they come, equal sizes first, so that no key is moved more than O(log runs) times."""
    stack: list[Run] = []
    for run in runs:
        stack.append(run)
        while len(stack) > 1 and len(stack[-1][0]) * 2 > len(stack[-2][0]):
            top = stack.pop()
            stack[-1] = merge(stack[-1], top)
    while len(stack) > 1:
        top = stack.pop()
        stack[-1] = merge(stack[-1], top)
    return stack[0] if stack else (np.empty(0, np.uint64), np.empty(0, np.int64))


def compress_sorted(rows: Rows, threads: int) -> Rows:
    """Distinct rows by sorting packed keys; needs a domain of at most 64 bits."""
    layout = KeyLayout(rows.sizes)
    if not layout.fits:
        raise InputError("the joint domain needs more than 64 bits a row: it can't be compressed by keys")
    keys, counts = sorted_run(layout.pack(rows, threads))
    return Rows(layout.unpack(keys), rows.sizes, counts)
