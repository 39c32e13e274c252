"""Rows packed into 64-bit keys, and runs of equal keys counted: the inner loops of compression."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

from dpcausal.counts.kernels.intrinsics import pointer

BLOCK = 4096
_JIT = {"nogil": True, "cache": True}


@nb.njit(**_JIT)
def _shift_in(key: Any, column: Any, shift: Any) -> None:
    for i in range(key.shape[0]):
        key[i] |= nb.uint64(column[i]) << shift


@nb.njit(**_JIT)
def pack_keys(address: Any, width: Any, shift: Any, start: int, stop: int, keys: Any) -> None:
    """keys[i] = OR over columns of code << shift, for rows ``start .. stop``; blocks stay in the first-level cache."""
    for low in range(start, stop, BLOCK):
        rows = min(BLOCK, stop - low)
        block = keys[low : low + rows]
        block[:] = 0
        for c in range(address.shape[0]):
            at = address[c] + nb.uint64(low) * nb.uint64(width[c])
            if width[c] == 1:
                _shift_in(block, nb.carray(pointer(at), rows, dtype=np.uint8), nb.uint64(shift[c]))
            else:
                _shift_in(block, nb.carray(pointer(at), rows, dtype=np.uint16), nb.uint64(shift[c]))


@nb.njit(**_JIT)
def count_runs(keys: Any, counts: Any) -> int:
    """In place: sorted ``keys`` become the distinct ones, ``counts`` how often each stood; how many there are."""
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


@nb.njit(**_JIT)
def merge_runs(keys_a: Any, counts_a: Any, keys_b: Any, counts_b: Any, keys: Any, counts: Any) -> int:
    """Merge two sorted lists of distinct keys, adding counts of equal ones; how many there are."""
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
