"""Kendall's and Spearman's terms of rows sorted by (block, x, y): one merge sort a block, O(n log n) in all."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

_JIT = {"nogil": True, "cache": True}
_LOW = 40  # bits of the low half of an exact sum


@nb.njit(**_JIT)
def _sort_by_y(y: Any, a: Any, spare_y: Any, spare_a: Any) -> int:
    """Sort ``y`` in place, stably, carrying ``a``; the number of pairs that were strictly out of order."""
    n = y.shape[0]
    swaps = 0
    width = 1
    source_y, source_a, target_y, target_a = y, a, spare_y, spare_a
    flipped = False
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for place in range(low, high):
                if i < middle and (j >= high or source_y[i] <= source_y[j]):
                    target_y[place], target_a[place] = source_y[i], source_a[i]
                    i += 1
                else:
                    target_y[place], target_a[place] = source_y[j], source_a[j]
                    swaps += middle - i
                    j += 1
        source_y, target_y = target_y, source_y
        source_a, target_a = target_a, source_a
        flipped = not flipped
        width *= 2
    if flipped:
        y[:] = source_y
        a[:] = source_a
    return swaps


@nb.njit(**_JIT)
def _shares(pairs: float, triples: float, n: int) -> tuple[float, float]:
    """Shares of unequal pairs and triples, from ordered tied pairs and triples; ``ranks._unequal`` for runs."""
    every = float(n) * (n - 1)
    return 1.0 - pairs / every, (1.0 - triples / (every * (n - 2)) if n > 2 else 0.0)


@nb.njit(**_JIT)
def value_terms(block: Any, x: Any, y: Any, out: Any) -> None:
    """``out`` += sums over blocks of S/n, Var(S)/n^2, (n-1) rho and its variance.

    Rows are sorted by (block, x, y) and x, y are integers that order them. ``y`` is overwritten.
    """
    rows = block.shape[0]
    spare_y, spare_a = np.empty_like(y), np.empty(rows, np.int64)
    a = np.empty(rows, np.int64)
    start = 0
    while start < rows:
        stop = start + 1
        while stop < rows and block[stop] == block[start]:
            stop += 1
        n = stop - start
        if n < 2:
            start = stop
            continue
        # runs of x: below minus above, tied pairs and triples; runs of (x, y): pairs tied in both
        x_pairs, x_triples, both, x_cubes = 0.0, 0.0, 0, 0.0
        i = start
        tied_x = 0
        while i < stop:
            j, same = i, 1
            while j + 1 < stop and x[j + 1] == x[i]:
                if y[j + 1] == y[j]:
                    same += 1
                else:
                    both += same * (same - 1) // 2
                    same = 1
                j += 1
            both += same * (same - 1) // 2
            t = j + 1 - i
            tied_x += t * (t - 1) // 2
            pair = float(t) * (t - 1)
            x_pairs += pair
            x_triples += pair * (t - 2)
            share = t / n
            x_cubes += share * share * share
            for place in range(i, j + 1):
                a[place] = 2 * (i - start) + t - n
            i = j + 1
        discordant = _sort_by_y(y[start:stop], a[start:stop], spare_y[start:stop], spare_a[start:stop])
        y_pairs, y_triples, y_cubes = 0.0, 0.0, 0.0
        tied_y, high, low = 0, 0, 0  # high 2^40 + low = sum of A B, exactly
        i = start
        while i < stop:
            j = i
            while j + 1 < stop and y[j + 1] == y[i]:
                j += 1
            t = j + 1 - i
            tied_y += t * (t - 1) // 2
            pair = float(t) * (t - 1)
            y_pairs += pair
            y_triples += pair * (t - 2)
            share = t / n
            y_cubes += share * share * share
            b = 2 * (i - start) + t - n
            for place in range(i, j + 1):
                low += a[place] * b
                carry = low >> _LOW
                high += carry
                low -= carry << _LOW
            i = j + 1
        score = n * (n - 1) // 2 - tied_x - tied_y + both - 2 * discordant
        x2, x3 = _shares(x_pairs, x_triples, n)
        y2, y3 = _shares(y_pairs, y_triples, n)
        out[0] += score / n
        out[1] += (n - 1) / n * ((n - 2) * x3 * y3 / 9 + x2 * y2 / 2)
        product = float(high) * 2.0**_LOW + float(low)
        out[2] += 3.0 * product / (float(n) * (n + 1))
        ratio = n / (n + 1)
        out[3] += ratio * ratio * (n / (n - 1)) * n * ((1.0 - x_cubes) * (1.0 - y_cubes))
        start = stop
