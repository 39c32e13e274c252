"""Blocked Kendall and Spearman of numbers: the statistics of ``kendall`` and ``spearman`` without tables.

**Formula**

    K = sum_b S_b/n_b,  V = sum_b Var_perm(S_b)/n_b^2        F = sum_b (n_b - 1) rho_b,  U = sum_b Var_perm

over blocks b (public bins or strata of z), ties 0 in S and mid-ranks in rho. The value is that of the table with one
level for each distinct number, so it agrees with the tables' functions to the last bits, in O(n log n) instead of
O(levels^2): rows are sorted by (block, x, y) and a merge sort for each block counts the discordant pairs [1].

**Guarantee** (``value_ranks.proof.md``): theorems 1 to 4 of ``kendall.proof.md`` and those of ``spearman.proof.md``
with any number of levels: K 3/2 add, 3 replace (2 with one block), V 1/3 and 53/144; F 5 add, 10 replace (6 with one
block), U 3 and 10/3. A column of two levels keeps the smaller bound of two levels.
**Null law**: given the blocks and the values of x and of y in each, every pairing inside a block equally likely, K and
F have mean 0 and variances V, U. It holds if x and y are independent given z and z moves neither of them *within* a
block: strata of a numeric z must be fine enough for that (``citests/rank.py``).
**Edge cases**: blocks of fewer than two rows or constant in x or y add 0; NaN can't occur (values are clamped).
Integers are exact up to ``limits.MAX_ROWS`` rows, more are refused.

References: [1] Knight 1966 (a computer method for Kendall's tau with ungrouped data).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.compiled import jit
from dpcausal.core.proofs import proved
from dpcausal.stats.kendall import Kendall
from dpcausal.stats.limits import checked_rows
from dpcausal.stats.spearman import Spearman

Integers = NDArray[np.int64]
ANY_LEVELS = 1 << 62  # levels of a column of numbers: the bounds for any number of them
_LOW_BITS = 40  # of the low half of an exact sum
_CUBE_BITS = 31  # the same for a sum of cubes
_LOW_MASK = (1 << 31) - 1


@jit()
def _sort_by_y(y: Any, a: Any, spare_y: Any, spare_a: Any) -> int:
    """Sort ``y`` in place, stably, carrying ``a``, and return the number of pairs strictly out of order."""
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


@jit()
def _cubed(high: int, low: int, t: int, sign: int) -> tuple[int, int]:
    """Return high 2^31 + low plus sign t^3 in the same two-word form, exactly."""
    square = t * t
    low += sign * ((square & _LOW_MASK) * t)
    carry = low >> _CUBE_BITS
    return high + sign * ((square >> _CUBE_BITS) * t) + carry, low - (carry << _CUBE_BITS)


@jit()
def _shares(pairs: int, high: int, low: int, n: int) -> tuple[float, float, float]:
    """Return the shares of pairs and of triples of rows that are not all equal, and 1 - sum (t/n)^3.

    ``pairs`` is n(n-1) - sum t(t-1), and high 2^31 + low is n^3 - sum t^3, over the numbers t of equal values.
    """
    wide = 2.0**_CUBE_BITS
    cubes = float(high) * wide + float(low)
    triples = float(high - 3 * (pairs >> _CUBE_BITS)) * wide + float(low - 3 * (pairs & _LOW_MASK))
    every = float(n) * (n - 1)
    return pairs / every, (triples / (every * (n - 2)) if n > 2 else 0.0), cubes / (float(n) * n * n)


@jit()
def value_terms(block: Any, x: Any, y: Any, out: Any) -> None:
    """Write Kendall's and Spearman's terms and variances of every block into the columns of ``out``.

    S/n, Var(S)/n^2, (n-1) rho and its variance, in this order.

    Rows are sorted by (block, x, y) and x, y are integers that order them. ``y`` is overwritten.
    """
    rows = block.shape[0]
    spare_y, spare_a = np.empty_like(y), np.empty(rows, np.int64)
    a = np.empty(rows, np.int64)
    start, number = 0, -1
    while start < rows:
        stop = start + 1
        while stop < rows and block[stop] == block[start]:
            stop += 1
        n = stop - start
        number += 1
        out[:, number] = 0.0
        if n < 2:
            start = stop
            continue
        # runs of x: below minus above, tied pairs and cubes; runs of (x, y): pairs tied in both
        both, tied_x = 0, 0
        x_high, x_low = _cubed(0, 0, n, 1)
        i = start
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
            x_high, x_low = _cubed(x_high, x_low, t, -1)
            for place in range(i, j + 1):
                a[place] = 2 * (i - start) + t - n
            i = j + 1
        discordant = _sort_by_y(y[start:stop], a[start:stop], spare_y[start:stop], spare_a[start:stop])
        tied_y, high, low = 0, 0, 0  # high 2^40 + low = sum of A B, exactly
        y_high, y_low = _cubed(0, 0, n, 1)
        i = start
        while i < stop:
            j = i
            while j + 1 < stop and y[j + 1] == y[i]:
                j += 1
            t = j + 1 - i
            tied_y += t * (t - 1) // 2
            y_high, y_low = _cubed(y_high, y_low, t, -1)
            b = 2 * (i - start) + t - n
            for place in range(i, j + 1):
                low += a[place] * b
                carry = low >> _LOW_BITS
                high += carry
                low -= carry << _LOW_BITS
            i = j + 1
        score = n * (n - 1) // 2 - tied_x - tied_y + both - 2 * discordant
        x2, x3, x_spread = _shares(n * (n - 1) - 2 * tied_x, x_high, x_low, n)
        y2, y3, y_spread = _shares(n * (n - 1) - 2 * tied_y, y_high, y_low, n)
        out[0, number] = score / n
        out[1, number] = (n - 1) / n * ((n - 2) * x3 * y3 / 9 + x2 * y2 / 2)
        product = float(high) * 2.0**_LOW_BITS + float(low)
        out[2, number] = 3.0 * product / (float(n) * (n + 1))
        ratio = n / (n + 1)
        out[3, number] = ratio * ratio * (n / (n - 1)) * n * (x_spread * y_spread)
        start = stop


class Ranked(NamedTuple):
    """A column as integers in the same order: ``codes`` from 0 to ``levels`` - 1, equal where values are equal."""

    codes: Integers
    levels: int


def ranked(values: NDArray[np.generic]) -> Ranked:
    """Return the dense ranks of a column. Their number depends on rows: it sets how keys are packed, nothing else.

    >>> ranked(np.array([0.5, -1.0, 0.5, 7.0]))
    Ranked(codes=array([1, 0, 1, 2]), levels=3)
    """
    order = np.argsort(values)
    inside = values[order]
    steps = np.zeros(len(values), np.int64)
    steps[1:] = inside[1:] != inside[:-1]
    codes = np.empty(len(values), np.int64)
    codes[order] = np.cumsum(steps)
    return Ranked(codes, int(steps.sum()) + 1)


@proved("value_ranks.proof.md")
def rank_statistics(x: Ranked, y: Ranked, block: Integers, k: int) -> tuple[Kendall, Spearman]:
    """Return blocked Kendall (K, V) and Spearman (F, U) of rows in ``k`` blocks; ``block`` holds that of every row.

    >>> x, y = ranked(np.array([1.0, 2.0, 3.0, 3.0])), ranked(np.array([0.1, 0.3, 0.2, 0.2]))
    >>> kendall, spearman = rank_statistics(x, y, np.zeros(4, np.int64), 1)
    >>> kendall.statistic, kendall.variance.__round__(4), spearman.statistic.__round__(4)
    (0.25, 0.4271, 0.9)
    """
    checked_rows(len(block))
    inside, xs, ys = _sorted(x, y, block, k)
    occupied = int(np.count_nonzero(inside[1:] != inside[:-1])) + min(len(inside), 1)
    out = np.zeros((4, occupied))
    value_terms(inside, xs, ys, out)
    k_sum, v_sum, f_sum, u_sum = (float(terms.sum()) for terms in out)  # in a tree, as numpy adds
    return Kendall(k_sum, v_sum), Spearman(f_sum, u_sum)


def _sorted(x: Ranked, y: Ranked, block: Integers, k: int) -> tuple[Integers, Integers, Integers]:
    """Return (block, x, y) sorted jointly; packed in one integer where that fits."""
    if k * x.levels * y.levels < 1 << 63:
        keys = np.sort((block * x.levels + x.codes) * y.levels + y.codes)
        rest, ys = np.divmod(keys, y.levels)
        inside, xs = np.divmod(rest, x.levels)
        return inside, xs, ys
    order = np.lexsort((y.codes, x.codes, block))
    return block[order], x.codes[order], y.codes[order]
