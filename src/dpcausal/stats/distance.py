"""Distance scores: how many rows must change before the answer of a test flips.

**Formula.** Let every table be *significant* or not, by any public rule, and dist(T) the least number of row changes
that leads from T to a table of the other kind. s(T) = dist - 1/2 if T is significant, -(dist - 1/2) if not. Where all
tables are of one kind the score is the constant +-(N + 1/2).
**Guarantee.** Sensitivity 1 for the very changes that dist counts (``distance.proof.md``); plain +-dist would have 2.
- ``fixed_labels_distance``: group sizes N0, N1 public, a change moves one row's value within its group.
- ``any_row_distance``: only N public, a change moves one row to any other cell (replace-one on a 2 x 2 table).
- ``lipschitz_score``: any table and relation, margin/Delta of a statistic with sensitivity Delta.

The rule: N (N0 c11 - N1 c10)^2 >= tau N0 N1 M1 M0, chi-squared at threshold tau, decided per line of tables through
the ends of an interval (``_band``), so that the distance found is exact for the rule applied, rounding included.
**Cost** O(N) for fixed labels; O(d^2) for any row, d the distance. **Edge cases**: an empty margin is not significant.

References: Johnson & Shmatikov 2013.
"""

from __future__ import annotations

import math
from typing import Any

from dpcausal.core.compiled import jit
from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.stats.chi2 import checked_groups


@jit()
def _reaches(a: Any, b: Any, n1: Any, n0: Any, tau: Any) -> Any:
    """Return whether chi-squared of (a of n1, b of n0) is at least tau."""
    n = n0 + n1
    m = a + b
    if m == 0 or m == n or n0 == 0 or n1 == 0:
        return False
    link = float(n0) * a - float(n1) * b
    return link * link / m / (n - m) * n / n0 / n1 >= tau


@jit()
def _band(a: Any, n1: Any, n0: Any, tau: Any) -> Any:
    """Return (low, high): with a of n1 given, b of n0 is not significant iff low <= b <= high; low > high if none.

    chi-squared is convex in b with minimum 0 at the real b = a n0/n1, so each end is found by bisection on its
    own side; the result is this pair of numbers, whatever rounding did to it.
    """
    middle = min(max(math.floor(float(a) * n0 / n1), 0), n0)
    low = middle + 1
    if not _reaches(a, middle, n1, n0, tau):
        inside, outside = middle, -1
        while inside - outside > 1:
            guess = (inside + outside) // 2
            if _reaches(a, guess, n1, n0, tau):
                outside = guess
            else:
                inside = guess
        low = inside
    high = middle
    if middle < n0 and not _reaches(a, middle + 1, n1, n0, tau):
        inside, outside = middle + 1, n0 + 1
        while outside - inside > 1:
            guess = (inside + outside) // 2
            if _reaches(a, guess, n1, n0, tau):
                outside = guess
            else:
                inside = guess
        high = inside
    return low, high


@jit()
def _fixed_labels(a: Any, b: Any, n1: Any, n0: Any, tau: Any) -> Any:
    """Return (significant, distance) when a change moves one row's value within its group."""
    low, high = _band(a, n1, n0, tau)
    significant = b < low or b > high
    best = n0 + n1 + 1
    for x in range(n1 + 1):
        away = abs(x - a)
        if away >= best:
            continue
        low, high = _band(x, n1, n0, tau)
        if significant:
            if low <= high:
                best = min(best, away + max(low - b, b - high, 0))
        elif low > high:
            best = min(best, away)
        else:
            if low > 0:
                best = min(best, away + max(b - (low - 1), 0))
            if high < n0:
                best = min(best, away + max(high + 1 - b, 0))
    return significant, best


@jit()
def _moves(a: Any, b: Any, c: Any, d: Any, x: Any, rows: Any, columns: Any, n: Any) -> Any:
    """Return the rows to move from (a, b, c, d) to the table with first cell x and margins ``rows``, ``columns``."""
    return (abs(x - a) + abs(rows - x - b) + abs(columns - x - c) + abs(n - rows - columns + x - d)) // 2


@jit()
def _any_row(a: Any, b: Any, c: Any, d: Any, tau: Any) -> Any:
    """Return (significant, distance) when a change moves one row to any cell: scans margins nearer than the best."""
    n = a + b + c + d
    row, column = a + b, a + c
    low, high = _given_margins(row, column, n, tau)
    significant = a < low or a > high
    best = n + 1
    reach = 0
    while reach < best and reach <= n:  # margins at distance max(|dr|, |dc|) = reach: no table is nearer
        for dr in range(-reach, reach + 1):
            step = 1 if abs(dr) == reach else max(2 * reach, 1)
            for dc in range(-reach, reach + 1, step):
                r, s = row + dr, column + dc
                if r < 0 or r > n or s < 0 or s > n:
                    continue
                least, most = max(0, r + s - n), min(r, s)
                low, high = _given_margins(r, s, n, tau)
                # cost in x is convex with its least value on a flat stretch between the middle break points
                left, right = _flat(a, r - b, s - c, d - n + r + s)
                if significant:
                    x, y = max(low, least), min(high, most)
                    if x <= y:
                        best = min(best, _moves(a, b, c, d, min(max(left, x), y), r, s, n))
                else:
                    x, y = min(low - 1, most), max(high + 1, least)
                    if x >= least:
                        best = min(best, _moves(a, b, c, d, max(min(right, x), least), r, s, n))
                    if y <= most:
                        best = min(best, _moves(a, b, c, d, min(max(left, y), most), r, s, n))
        reach += 1
    return significant, best


@jit()
def _flat(w: Any, x: Any, y: Any, z: Any) -> Any:
    """Return the two middle values of four."""
    least, most = min(w, x, y, z), max(w, x, y, z)
    p, q = min(w, x), max(w, x)
    r, s = min(y, z), max(y, z)
    one, two = max(p, r), min(q, s)
    return (min(one, two), max(one, two)) if least <= most else (one, two)


@jit()
def _given_margins(r: Any, s: Any, n: Any, tau: Any) -> Any:
    """Return (low, high): with row sum r and column sum s, the first cell x is not significant iff low <= x <= high."""
    if r == 0 or r == n or s == 0 or s == n:
        return 0, n
    centre = float(r) * s / n
    half = math.sqrt(tau * r * (n - r) / n * s * (n - s) / n / n)
    return math.floor(centre - half) + 1, math.ceil(centre + half) - 1


def _score(significant: bool, distance: int, n: int) -> float:
    """Return the distance less 1/2, negative where the table is not significant."""
    size = min(distance, n + 1) - 0.5
    return size if significant else -size


def _checked_tau(tau: float) -> float:
    if not 0.0 < tau < math.inf:
        raise InputError(f"the chi-squared threshold must be positive, not {tau}")
    return tau


@proved("distance.proof.md")
def fixed_labels_distance(c11: int, c10: int, n1: int, n0: int, tau: float) -> float:
    """Return the score of a table with c11 of n1 and c10 of n0 carrying the value; sensitivity 1 with labels fixed.

    >>> fixed_labels_distance(5, 5, 10, 10, 3.84), fixed_labels_distance(9, 1, 10, 10, 3.84)
    (-4.5, 3.5)
    """
    checked_groups(n0, n1)
    significant, distance = _fixed_labels(c11, c10, n1, n0, _checked_tau(tau))
    return _score(bool(significant), int(distance), n0 + n1)


@proved("distance.proof.md")
def any_row_distance(a: int, b: int, c: int, d: int, tau: float) -> float:
    """Return the score of the 2 x 2 table ((a, b), (c, d)) when any row may become any other; sensitivity 1, N public.

    >>> any_row_distance(5, 5, 5, 5, 3.84), any_row_distance(9, 1, 1, 9, 3.84)
    (-3.5, 3.5)
    """
    significant, distance = _any_row(a, b, c, d, _checked_tau(tau))
    return _score(bool(significant), int(distance), a + b + c + d)


@proved("distance.proof.md")
def lipschitz_score(margin: float, sensitivity: float) -> float:
    """Return margin/Delta, for a statistic less its threshold with sensitivity Delta: a lower bound of the distance.

    >>> lipschitz_score(3.0, 2.0)
    1.5
    """
    if not sensitivity > 0.0:
        raise InputError(f"a sensitivity must be positive, not {sensitivity}")
    return margin / sensitivity
