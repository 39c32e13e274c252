"""Deal the rows of a table at random into parts, as a draw of counts: for tests on disjoint parts.

Which part a row goes to does not depend on its value, so one changed row changes one part.

- ``deal_equal``: parts of given sizes, every way equally likely: hypergeometric draws, half of the parts at a time. The
  number of rows is used, so it must be public (replace-one).
- ``deal_fair``: each row to one of 2^levels parts by its own fair coins; adding a row changes one part, so it serves
  add-remove too.

Both are exact given fair bits (``subsample.py``). **Cost** about 2 n log2(parts) random bits, half of it for
``deal_fair``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.entropy import RandomBytes, random_bytes
from dpcausal.core.errors import InputError
from dpcausal.counts.subsample import binomial_halves, hypergeometric

Counted = NDArray[np.int64]


def deal_equal(table: Counted, sizes: Sequence[int], source: RandomBytes = random_bytes) -> list[Counted]:
    """Tables of disjoint random parts of these sizes, which must add up to the whole.

    >>> parts = deal_equal(np.array([[3, 1], [2, 4]]), [5, 5])
    >>> (parts[0] + parts[1]).tolist(), [int(part.sum()) for part in parts]
    ([[3, 1], [2, 4]], [5, 5])
    """
    whole = np.array(table, np.int64).ravel()
    if sum(sizes) != int(whole.sum()):
        raise InputError(f"parts of {sum(sizes):,} rows can't be dealt from {int(whole.sum()):,}")

    def cut(counts: Counted, parts: Sequence[int]) -> list[Counted]:
        if len(parts) == 1:
            return [counts.reshape(table.shape)]
        middle = len(parts) // 2
        first = hypergeometric(counts, sum(parts[:middle]), source)
        return cut(first, parts[:middle]) + cut(counts - first, parts[middle:])

    return cut(whole, list(sizes))


def deal_fair(table: Counted, levels: int, source: RandomBytes = random_bytes) -> list[Counted]:
    """Tables of 2^levels parts, each row in one of them by fair coins.

    >>> parts = deal_fair(np.array([7, 9]), levels=3)
    >>> len(parts), sum(parts).tolist()
    (8, [7, 9])
    """
    parts = [np.array(table, np.int64).ravel()]
    for _ in range(levels):
        halves = [binomial_halves(part, source) for part in parts]
        parts = [piece for part, half in zip(parts, halves, strict=True) for piece in (half, part - half)]
    return [part.reshape(table.shape) for part in parts]
