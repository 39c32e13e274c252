"""The unit circle and the distance score: a chi-squared decision on 2 x 2 tables with small sensitivity.

Groups of N0 and N1 rows (controls, cases), N = N0 + N1; c10 and c11 of them carry the value 1; M1 = c11 + c10,
M0 = N - M1.
**Formula.** For a public chi-squared threshold tau,

    ||V||^2 = ((M1 - M0)/N)^2 + 4 (N0 c11 - N1 c10)^2/(tau N N0 N1),      chi2 >= tau  iff  ||V|| >= 1,

the paper's [1, appendix E] affine map without eigenvectors.
**Guarantee.** Neighbours: *labels fixed*, N0 and N1 public, one row's value changes (one allele). Sensitivity
2 sqrt((max(N0,N1)^2 N + tau N0 N1)/(tau N0 N1 N^2)), attained (``unit_circle.proof.md``); the paper's is up to sqrt(2)
larger. With the *person* as the unit (two alleles) it is twice that.
**Null law** given the margins: c11 is hypergeometric, so the noisy statistic's tail is a finite sum, exact to
rounding, at any level: M1 known, or M1 within a public range (worst case over it).
**Cost** O(sqrt(N)) terms in effect per tail. **Edge cases**: M1 = 0 or N gives ||V|| = 1 whatever the data.

The worst tail over a range is found by trying all its margins, up to ``MAX_EXACT_MARGINS`` of them. Beyond that the
tail, which changes smoothly from one margin to the next, is tried at margins spaced ever wider from both ends (where it
changes fastest), and then more closely around the largest found, twice. The noise is far wider than what is missed
between; no privacy depends on it.

**Distance.** Let every table be *significant* or not, by any public rule, and dist(T) the least number of values to
change until T is of the other kind. s(T) = dist - 1/2 if T is significant, -(dist - 1/2) if not: sensitivity 1 for the
same neighbours (``distance.proof.md``); plain +-dist would have 2. Where all tables are of one kind the score is the
constant +-(N + 1/2). The rule is N (N0 c11 - N1 c10)^2 >= tau N0 N1 M1 M0, decided for every line of tables through the
ends of an interval (``_band``), so that the distance is exact for the rule applied, rounding included. An empty margin
is not significant. O(N) [2].

References: [1] Kakizaki, Fukuchi & Sakuma 2017. Their threshold is a Monte-Carlo quantile; ours is computed.
[2] Johnson & Shmatikov 2013.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from dpcausal.core.compiled import jit
from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.stats.chi2 import checked_groups

MAX_EXACT_MARGINS = 2000  # a range of fewer is tried throughout


@proved("unit_circle.proof.md")
def unit_circle(c11: ArrayLike, c10: ArrayLike, n1: int, n0: int, tau: float) -> NDArray[np.float64]:
    """Return the unit circle statistic ||V|| of one table or of many (arrays of the same shape).

    >>> float(unit_circle(5, 5, 10, 10, 3.84))
    0.0
    """
    n = n0 + n1
    a, b = np.asarray(c11, np.float64), np.asarray(c10, np.float64)
    lean = (2.0 * (a + b) - n) / n
    link = (n0 * a - n1 * b) ** 2 * (4.0 / (tau * n * n0 * n1))
    return np.asarray(np.sqrt(lean * lean + link), np.float64)


@proved("unit_circle.proof.md")
def unit_circle_sensitivity(n1: int, n0: int, tau: float, *, person: bool = False) -> float:
    """Return the tight sensitivity of ||V||; ``person`` when one person holds two of the rows.

    >>> round(unit_circle_sensitivity(50, 50, 3.84), 6)
    0.104003
    """
    n0, n1 = checked_groups(n0, n1)
    if not tau > 0.0:
        raise InputError(f"the chi-squared threshold must be positive, not {tau}")
    n = n0 + n1
    one = 2.0 * math.sqrt((max(n0, n1) ** 2 * n + tau * n0 * n1) / (tau * n0 * n1 * n * n))
    return 2.0 * one if person else one


def margin_law(n1: int, n0: int, m1: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the hypergeometric distribution of c11 given all margins, without values of negligible probability.

    >>> margin_law(2, 2, 2)[1].round(4).tolist()
    [0.1667, 0.6667, 0.1667]
    """
    n = n0 + n1
    low, high = max(0, m1 - n0), min(n1, m1)
    centre, width = m1 * n1 / n, 10.0 * math.sqrt(m1 * (n - m1) * n0 * n1 / n**2 / max(n - 1, 1)) + 60.0
    a = np.arange(max(low, math.floor(centre - width)), min(high, math.ceil(centre + width)) + 1)
    log = -(gammaln(a + 1) + gammaln(n1 - a + 1) + gammaln(m1 - a + 1) + gammaln(n0 - m1 + a + 1))
    weight = np.exp(log - log.max())
    return a, weight / weight.sum()


def unit_circle_tail(value: float, n1: int, n0: int, m1: int, tau: float, scale: float) -> float:
    """Return the p-value of a released ||V|| given the margins: P(||V|| + Lap(scale) >= value) under independence.

    The noise is taken as continuous; on a grid of step g the error is below a factor exp(g/scale).
    """
    a, probability = margin_law(n1, n0, m1)
    gap = (value - unit_circle(a, m1 - a, n1, n0, tau)) / scale
    tail = np.where(gap > 0.0, 0.5 * np.exp(-np.maximum(gap, 0.0)), 1.0 - 0.5 * np.exp(np.minimum(gap, 0.0)))
    return float(probability @ tail)


def worst_tail(value: float, n1: int, n0: int, margins: tuple[int, int], tau: float, scale: float) -> float:
    """Return the largest p-value of a released ||V|| over a range of margins M1.

    >>> round(worst_tail(1.5, 50, 50, (0, 100), 3.84, 0.1), 6) >= round(worst_tail(1.5, 50, 50, (40, 60), 3.84, 0.1), 6)
    True
    """
    low, high = margins

    def tail(m: int) -> float:
        return unit_circle_tail(value, n1, n0, m, tau, scale)

    if high - low < MAX_EXACT_MARGINS:
        return max(tail(m) for m in range(low, high + 1))
    steps = np.unique(np.geomspace(1, (high - low) / 2 + 1, 300).astype(int)) - 1
    tried = sorted({low + int(s) for s in steps} | {high - int(s) for s in steps})
    for _ in range(2):
        tails = [tail(m) for m in tried]
        best = int(np.argmax(tails))
        left, right = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
        tried = sorted(set(np.linspace(left, right, 200).astype(int).tolist()))
    return max(*tails, *(tail(m) for m in tried))


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
    """Return the interval (low, high) of b for which the table (a of n1, b of n0) is not significant.

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
    """Return (significant, distance): how many values must change within groups to flip the test."""
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


@proved("distance.proof.md")
def fixed_labels_distance(c11: int, c10: int, n1: int, n0: int, tau: float) -> float:
    """Return how many values must change to flip chi-squared, less 1/2, negative where it is not significant.

    c11 of n1 and c10 of n0 rows carry the value; sensitivity 1 with labels fixed.

    >>> fixed_labels_distance(5, 5, 10, 10, 3.84), fixed_labels_distance(9, 1, 10, 10, 3.84)
    (-4.5, 3.5)
    """
    checked_groups(n0, n1)
    if not 0.0 < tau < math.inf:
        raise InputError(f"the chi-squared threshold must be positive, not {tau}")
    significant, distance = _fixed_labels(c11, c10, n1, n0, tau)
    size = min(int(distance), n0 + n1 + 1) - 0.5
    return size if significant else -size
