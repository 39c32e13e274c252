"""The unit circle statistic: a chi-squared decision on 2 x 2 tables with small sensitivity.

Groups of N0 and N1 rows (controls, cases), N = N0 + N1; c10 and c11 of them carry the value 1; M1 = c11 + c10,
M0 = N - M1.
**Formula.** For a public chi-squared threshold tau,

    ||V||^2 = ((M1 - M0)/N)^2 + 4 (N0 c11 - N1 c10)^2/(tau N N0 N1),      chi2 >= tau  iff  ||V|| >= 1,

the paper's [1, appendix E] affine map without eigenvectors.
**Guarantee.** Neighbours: *labels fixed*, N0 and N1 public, one row's value changes (one allele). Sensitivity
2 sqrt((max(N0,N1)^2 N + tau N0 N1)/(tau N0 N1 N^2)), attained (``unit_circle.proof.md``); the paper's is up to sqrt(2)
larger. With the *person* as the unit (two alleles) it is twice that.
**Null law** given the margins: c11 is hypergeometric, so the noisy statistic's tail is a finite sum, exact to
rounding, at any level. What is public decides the threshold: M1 known; M1 within a public range (worst case over it).
**Cost** O(sqrt(N)) terms in effect per tail. **Edge cases**: M1 = 0 or N gives ||V|| = 1 whatever the data.

The worst tail over a range is found by trying all its margins, up to ``MAX_EXACT_MARGINS`` of them. Beyond that the
tail, which changes smoothly from one margin to the next, is tried at margins spaced ever wider from both ends (where it
changes fastest), and then more closely around the largest found, twice. The noise is far wider than what is missed
between; no privacy depends on it.

References: [1] Kakizaki, Fukuchi & Sakuma 2017. Their threshold is a Monte-Carlo quantile; ours is computed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import gammaln

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.stats.chi2 import checked_groups

MAX_EXACT_MARGINS = 2000  # a range of fewer is tried throughout


@proved("unit_circle.proof.md")
def unit_circle(c11: ArrayLike, c10: ArrayLike, n1: int, n0: int, tau: float) -> NDArray[np.float64]:
    """Return ||V|| of one table or of many (arrays of the same shape).

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
    """Return the values of c11 given all margins and their hypergeometric probabilities (above 1e-18 of the largest).

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
    """Return P(||V|| + Lap(scale) >= value) under independence given the margins: the p-value of a released value.

    The noise is taken as continuous; on a grid of step g the error is below a factor exp(g/scale).
    """
    a, probability = margin_law(n1, n0, m1)
    gap = (value - unit_circle(a, m1 - a, n1, n0, tau)) / scale
    tail = np.where(gap > 0.0, 0.5 * np.exp(-np.maximum(gap, 0.0)), 1.0 - 0.5 * np.exp(np.minimum(gap, 0.0)))
    return float(probability @ tail)


def unit_circle_threshold(
    level: float, n1: int, n0: int, m1: int | tuple[int, int], tau: float, scale: float
) -> float:
    """Return the value to reject above: of size ``level`` given M1, of at most that over a range (low, high) of M1.

    M1 must be public, or a range that holds whatever the data (0 to N always does).

    >>> t = unit_circle_threshold(5e-8, 500, 500, 400, 29.7, 0.01)
    >>> round(unit_circle_tail(t, 500, 500, 400, 29.7, 0.01) / 5e-8, 6)
    1.0
    """
    low, high = (m1, m1) if isinstance(m1, int) else m1
    if not (0.0 < level < 1.0 and 0 <= low <= high <= n0 + n1):
        raise InputError("level must be within 0..1 and the margin within 0..N")

    def crossing(m: int) -> float:
        right = math.sqrt(1.0 + (n0 + n1) / tau) + 1.0 + scale * (1.0 - math.log(level))
        left = -scale * (1.0 - math.log1p(-level)) - 1.0

        def excess(value: float) -> float:
            return math.log(max(unit_circle_tail(value, n1, n0, m, tau, scale), 1e-300)) - math.log(level)

        return float(brentq(excess, left, right, xtol=1e-13, rtol=1e-14))

    best = crossing(low)
    for m in range(low + 1, high + 1):  # raise the threshold only where this margin's tail is above the level
        if unit_circle_tail(best, n1, n0, m, tau, scale) > level:
            best = crossing(m)
    return best


def worst_tail(value: float, n1: int, n0: int, margins: tuple[int, int], tau: float, scale: float) -> float:
    """Return the maximum over M1 in the range of P(||V|| + Lap(scale) >= value | M1).

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
