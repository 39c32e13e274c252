"""Rows drawn or dealt at random, as draws of counts: exact, from random bits, whatever n.

**Drawing** m of n rows without replacement. Give every row an independent uniform key in [0, 1) and keep the m rows
with the smallest keys: all subsets of size m are equally likely, so the counts kept per cell are multivariate
hypergeometric. The first bit of the keys splits a cell of count w into Binomial(w, 1/2), the number of set bits among w
random ones, which needs no arithmetic that could round. If at least m rows fall in the lower half, the others are
dropped and the draw goes on there; else the lower half is kept whole and the draw goes on in the upper half. Bits of
keys are read only while they matter.

**Dealing** rows into disjoint parts, for tests on parts. Which part a row goes to does not depend on its value, so one
changed row changes one part. ``deal_equal`` makes parts of given sizes; it uses the number of rows, which must be
public (replace-one). ``deal_fair`` sends each row to one of 2^levels parts by its own coins; adding a row changes one
part, so it serves add-remove too.

**Guarantee.** Exact given independent fair bits (``sampling.proof.md``); amplification by subsampling needs them to be
unpredictable, so they come from ``core.entropy``.

**Cost.** A draw: about 2 n random bits, O(cells) words of memory, 1.3 log2(n) rounds. Dealing into p parts:
2 n log2(p) random bits for ``deal_equal``, half of that for ``deal_fair``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.entropy import RandomBytes, random_bytes
from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved

CHUNK_BYTES = 1 << 24  # random bytes held at a time


@proved("sampling.proof.md")
def binomial_halves(counts: NDArray[np.int64], source: RandomBytes = random_bytes) -> NDArray[np.int64]:
    """Draw Binomial(w, 1/2) for every count w, exactly: the number of set bits among w fair ones."""
    halves = np.zeros(len(counts), np.int64)
    whole, rest = counts >> 3, (counts & 7).astype(np.uint8)
    tail = np.frombuffer(source(len(counts)), np.uint8) & ((np.uint8(1) << rest) - np.uint8(1))
    halves += np.bitwise_count(tail)
    ends = np.cumsum(whole)
    begins = ends - whole
    total = int(ends[-1]) if len(ends) else 0
    for low in range(
        0, total, CHUNK_BYTES
    ):  # byte b of the stream belongs to the cell with begins <= b < ends
        high = min(low + CHUNK_BYTES, total)
        ones = np.bitwise_count(np.frombuffer(source(high - low), np.uint8))
        first, last = np.searchsorted(ends, [low, high - 1], side="right")
        cells = np.arange(first, last + 1)
        cells = cells[whole[cells] > 0]
        starts = np.maximum(begins[cells], low) - low
        halves[cells] += np.add.reduceat(ones, starts, dtype=np.int64)
    return halves


@proved("sampling.proof.md")
def hypergeometric(
    counts: NDArray[np.int64], m: int, source: RandomBytes = random_bytes
) -> NDArray[np.int64]:
    """Draw m rows without replacement; return how many fall in each cell of ``counts``.

    Edge cases: m = 0 gives zeros, m = sum of counts gives them back. Raises ``InputError`` for any m outside these.

    >>> hypergeometric(np.array([3, 0, 5]), 8).tolist()
    [3, 0, 5]
    """
    open_rows = np.array(counts, np.int64)
    total = int(open_rows.sum())
    if not 0 <= m <= total:
        raise InputError(f"can't draw {m:,} rows without replacement from {total:,}")
    kept = np.zeros_like(open_rows)
    while 0 < m < total:
        lower = binomial_halves(open_rows, source)
        below = int(lower.sum())
        if below >= m:
            open_rows, total = lower, below
        else:
            kept += lower
            open_rows, total, m = open_rows - lower, total - below, m - below
    return kept + open_rows if m else kept


@proved("sampling.proof.md")
def deal_equal(
    table: NDArray[np.int64], sizes: Sequence[int], source: RandomBytes = random_bytes
) -> list[NDArray[np.int64]]:
    """Deal rows into disjoint random parts of these sizes, which must add up to the whole; return their tables.

    Every way to deal is equally likely: hypergeometric draws, half of the parts at a time. Where there are more cells
    than rows, draws go over the cells that hold rows alone.

    >>> parts = deal_equal(np.array([[3, 1], [2, 4]]), [5, 5])
    >>> (parts[0] + parts[1]).tolist(), [int(part.sum()) for part in parts]
    ([[3, 1], [2, 4]], [5, 5])
    """
    whole = np.array(table, np.int64).ravel()
    if sum(sizes) != int(whole.sum()):
        raise InputError(f"parts of {sum(sizes):,} rows can't be dealt from {int(whole.sum()):,}")

    many = whole.size > sum(sizes)

    def cut(
        cells: NDArray[np.int64], counts: NDArray[np.int64], parts: Sequence[int]
    ) -> list[NDArray[np.int64]]:
        if many:
            held = np.flatnonzero(counts)
            cells, counts = cells[held], counts[held]
        if len(parts) == 1:
            part = np.zeros_like(whole)
            part[cells] = counts
            return [part.reshape(table.shape)]
        middle = len(parts) // 2
        first = hypergeometric(counts, sum(parts[:middle]), source)
        return cut(cells, first, parts[:middle]) + cut(cells, counts - first, parts[middle:])

    return cut(np.arange(whole.size), whole, list(sizes))


@proved("sampling.proof.md")
def deal_fair(
    table: NDArray[np.int64], levels: int, source: RandomBytes = random_bytes
) -> list[NDArray[np.int64]]:
    """Deal each row to one of 2^levels parts by its own fair coins; return their tables.

    >>> parts = deal_fair(np.array([7, 9]), levels=3)
    >>> len(parts), sum(parts).tolist()
    (8, [7, 9])
    """
    parts = [np.array(table, np.int64).ravel()]
    for _ in range(levels):
        halves = [binomial_halves(part, source) for part in parts]
        parts = [piece for part, half in zip(parts, halves, strict=True) for piece in (half, part - half)]
    return [part.reshape(table.shape) for part in parts]
