"""Pack rows into 64-bit keys, count runs of equal keys and merge them: the inner loops of compression. O(rows)."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

from dpcausal.core.compiled import jit
from dpcausal.counts.kernels.intrinsics import pointer

BLOCK_ROWS = 2048  # the keys of a block take half of a first-level cache of 32 KiB


@jit()
def _shift_in(key: Any, column: Any, shift: Any) -> None:
    for i in range(key.shape[0]):
        key[i] |= nb.uint64(column[i]) << shift


@jit()
def _add_to_half(half: Any, column: Any, place: Any) -> None:
    for i in range(half.shape[0]):  # a product narrows to 16 bits, a shift by a variable would not
        half[i] += column[i] * place


@jit()
def pack_keys(address: Any, width: Any, shift: Any, bits: Any, start: int, stop: int, keys: Any) -> None:
    """Set keys[i] to the OR over columns of code << shift, for rows ``start .. stop``, a block of rows at a time.

    Neighbouring one-byte columns are first put together in 16-bit lanes, four times as many to a vector.
    """
    half = np.empty(BLOCK_ROWS, np.uint16)
    columns = address.shape[0]
    for low in range(start, stop, BLOCK_ROWS):
        rows = min(BLOCK_ROWS, stop - low)
        block = keys[low : low + rows]
        block[:] = 0
        c = 0
        while c < columns:
            if width[c] == 2:
                at = address[c] + nb.uint64(2) * nb.uint64(low)
                _shift_in(block, nb.carray(pointer(at), rows, dtype=np.uint16), nb.uint64(shift[c]))
                c += 1
                continue
            first = c
            half[:rows] = 0
            while c < columns and width[c] == 1 and shift[c] + bits[c] - shift[first] <= 16:
                column = nb.carray(pointer(address[c] + nb.uint64(low)), rows, dtype=np.uint8)
                _add_to_half(half[:rows], column, nb.uint16(1) << nb.uint16(shift[c] - shift[first]))
                c += 1
            _shift_in(block, half[:rows], nb.uint64(shift[first]))


@jit()
def count_runs(keys: Any, counts: Any) -> int:
    """Replace sorted ``keys`` by the distinct ones and set ``counts`` to their numbers; return how many there are."""
    n = keys.shape[0]
    if n == 0:
        return 0
    last, at, since = keys[0], 0, 0
    for i in range(1, n):
        if keys[i] != last:
            keys[at] = last
            counts[at] = i - since
            at += 1
            last, since = keys[i], i
    keys[at] = last
    counts[at] = n - since
    return at + 1


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
