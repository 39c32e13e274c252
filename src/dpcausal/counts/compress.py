"""Compress rows to distinct rows with counts: a dense cube where the joint domain is small, sorted keys otherwise.

**Guarantee.** The outcome is the same multiset of rows, so every table is unchanged. The number of distinct rows
depends on the data and never leaves this room: it decides only how long counting takes. Which way is taken follows from
public sizes and the number of rows.

**Cost.** One increment a row for the cube, O(n log n) for sorted keys.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.compiled import jit
from dpcausal.counts.protocol import Ints, Jobs
from dpcausal.counts.rows import Rows
from dpcausal.data.columns import Codes, code_type

MAX_CUBE_CELLS = 1 << 20  # a larger cube leaves the caches, and sorting keys is as fast
CUBE_NS = 1.5  # nanoseconds per row of counting into a cube

Keys = NDArray[np.uint64]
Run = tuple[Keys, NDArray[np.int64]]  # distinct keys in increasing order, and their counts


def cube_pays(sizes: Ints, rows: int) -> bool:
    """Return whether a histogram over the whole joint domain is cheap to count for this number of rows."""
    return len(sizes) > 0 and math.prod(sizes.tolist()) <= min(MAX_CUBE_CELLS, max(4 * rows, 1024))


def cube_of(rows: Rows, threads: int) -> NDArray[np.int64]:
    """Return the flat histogram of the rows over the whole joint domain, in O(n)."""
    jobs = Jobs.of([range(len(rows.sizes))], rows.sizes)
    return rows.count(jobs, threads, nanoseconds=CUBE_NS * rows.length)


def distinct_of(cube: NDArray[np.int64], sizes: Ints) -> Rows:
    """Return the occupied cells of such a histogram as distinct rows with weights."""
    occupied = np.flatnonzero(cube)
    levels = np.unravel_index(occupied, sizes.tolist())
    columns = tuple(level.astype(code_type(size)) for level, size in zip(levels, sizes.tolist(), strict=True))
    return Rows(columns, sizes, cube[occupied])


class KeyLayout:
    """Bits of the columns in words: column c has ``bits[c]`` bits of ``word[c]``, from ``shift[c]`` on.

    A word has 64 bits, or as many as ``word_bits`` says.
    """

    def __init__(self, sizes: Ints, word_bits: int = 64) -> None:
        self.sizes = sizes
        self.bits = np.array([max(int(size - 1).bit_length(), 1) for size in sizes], np.int64)
        self.word, self.shift = np.zeros_like(self.bits), np.zeros_like(self.bits)
        word = used = 0
        for c, bits in enumerate(self.bits.tolist()):
            if used + bits > word_bits:
                word, used = word + 1, 0
            self.word[c], self.shift[c] = word, used
            used += bits
        self.words = word + 1

    @property
    def fits(self) -> bool:
        """Whether all columns of a row fit in one machine word."""
        return self.words == 1

    def pack(self, rows: Rows) -> Keys:
        """Return one key per row, for a layout that fits in one word."""
        keys = np.zeros(rows.length, np.uint64)
        for column, shift in zip(rows.columns, self.shift.tolist(), strict=True):
            keys |= column.astype(np.uint64) << np.uint64(shift)
        return keys

    def unpack(self, *words: Keys) -> tuple[Codes, ...]:
        """Return the columns that were packed into ``words``."""

        def column(word: int, shift: int, bits: int, size: int) -> Codes:
            codes = (words[word] >> np.uint64(shift)) & np.uint64((1 << bits) - 1)
            return codes.astype(code_type(size))

        places = (self.word.tolist(), self.shift.tolist(), self.bits.tolist(), self.sizes.tolist())
        return tuple(column(*place) for place in zip(*places, strict=True))


def sorted_run(keys: Keys) -> Run:
    """Return the distinct keys in order, and their counts."""
    return np.unique(keys, return_counts=True)


def merge(a: Run, b: Run) -> Run:
    """Return two sorted runs of keys merged into one; counts of equal keys are added."""
    keys = np.empty(len(a[0]) + len(b[0]), np.uint64)
    counts = np.empty(len(keys), np.int64)
    distinct = merge_runs(*a, *b, keys, counts)
    return keys[:distinct].copy(), counts[:distinct].copy()


class TooManyRows(Exception):
    """Raised where there are more distinct rows than fit in memory; it is never reported."""


def merge_all(runs: Iterable[Run], most: float = math.inf) -> Run:
    """Return all runs merged, equal sizes first, so that no key is moved more than O(log runs) times.

    Raises ``TooManyRows`` as soon as the runs hold more than ``most`` keys.
    """
    stack: list[Run] = []
    for run in runs:
        stack.append(run)
        while len(stack) > 1 and len(stack[-1][0]) * 2 > len(stack[-2][0]):
            top = stack.pop()
            stack[-1] = merge(stack[-1], top)
        if sum(len(keys) for keys, _ in stack) > most:
            raise TooManyRows
    while len(stack) > 1:
        top = stack.pop()
        stack[-1] = merge(stack[-1], top)
    return stack[0] if stack else (np.empty(0, np.uint64), np.empty(0, np.int64))


# ---- a kernel


@jit()
def merge_runs(keys_a: Any, counts_a: Any, keys_b: Any, counts_b: Any, keys: Any, counts: Any) -> int:
    """Merge two sorted lists of distinct keys, adding the counts of equal ones; return how many there are."""
    i, j, at = 0, 0, 0
    while i < keys_a.shape[0] and j < keys_b.shape[0]:
        a, b = keys_a[i], keys_b[j]
        keys[at] = min(a, b)
        counts[at] = (counts_a[i] if a <= b else 0) + (counts_b[j] if b <= a else 0)
        i += a <= b
        j += b <= a
        at += 1
    while i < keys_a.shape[0]:
        keys[at], counts[at] = keys_a[i], counts_a[i]
        i, at = i + 1, at + 1
    while j < keys_b.shape[0]:
        keys[at], counts[at] = keys_b[j], counts_b[j]
        j, at = j + 1, at + 1
    return at
