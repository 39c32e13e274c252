"""Test of tests: p-values for a count of rejections released with discrete Laplace noise, and how to split the rows.

**Formula.** m disjoint parts, a classical test of size alpha0 on each; the number X of rejections is stochastically at
most Binomial(m, alpha0) under the null and has sensitivity 1. Z = X + L with P(L = j) = (1-b)/(1+b) b^|j|,
b = exp(-epsilon). Against theta <= theta0: p(z) = P(X + L >= z) at theta0, an exact finite sum. Awan and Slavkovic [1]
release Tulap noise N = L + U, U uniform on (-1/2, 1/2), and p = sum_x P(X = x) F_N(x - z'); it is the uniformly most
powerful private test. Rounding their release gives back Z, and U is independent of the data: their p-value is ours with
the atom at z split by a coin, P(X + L > z) + u P(X + L = z). Nothing is lost by releasing the integer.

**Guarantee** (``tulap.proof.md``). The release of Z costs epsilon; p-values are post-processing. The split must not
depend on values: then one changed row changes one part and X by at most 1, whatever the test (replace-one; add-remove
too if each row is dealt to a part at random).

**Null law.** ``noisy_pvalue`` is valid, P(p <= a) <= a for all theta <= theta0 and for any X stochastically smaller;
with ``coin`` it is exact at theta0. As exact as the tests on the parts keep alpha0; conservative ones leave it valid.

**Choice of (m, alpha0)** uses public numbers only: the least noncentrality lambda of the whole data's chi-squared test
at which power .8 is reached, parts having lambda/m each.

**Cost** O(m) for a p-value; a plan tries some 200 candidate pairs, .2 s at epsilon 1 to 2 s at .1, remembered.

References: [1] Awan & Slavkovic 2018, theorems 4.5 and 5.2; [2] Kazan, Shi, Groce & Bray 2023, Algorithm 1 (they tune
the same two numbers by simulation).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri, chndtr, gammaln

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved

# candidates of a plan, and the power that it is made for
SUB_LEVELS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
PART_COUNTS = (3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 40, 50, 65, 80, 100, 150)
TARGET_POWER = 0.8
MIN_PART_ROWS = 20
MAX_NONCENTRALITY = 1e6


def discrete_laplace_tail(value: ArrayLike, epsilon: float) -> NDArray[np.float64]:
    """Return P(L >= value) of discrete Laplace noise L, for integers ``value``.

    >>> round(float(discrete_laplace_tail(0, 1.0)), 6), round(float(discrete_laplace_tail(1, 1.0)), 6)
    (0.731059, 0.268941)
    """
    j = np.asarray(value, np.float64)
    b = math.exp(-epsilon)
    upper = np.exp(-epsilon * np.maximum(j, 0.0)) / (1.0 + b)
    lower = 1.0 - np.exp(-epsilon * np.maximum(1.0 - j, 0.0)) / (1.0 + b)
    return np.where(j > 0, upper, lower)


def tulap_cdf(value: ArrayLike, epsilon: float) -> NDArray[np.float64]:
    """Return the distribution function of Tulap noise: discrete Laplace plus uniform on (-1/2, 1/2).

    >>> float(tulap_cdf(0.0, 1.0))
    0.5
    """
    t = np.asarray(value, np.float64)
    whole = np.floor(t + 0.5)
    share = t - whole + 0.5
    above = discrete_laplace_tail(whole, epsilon)
    return 1.0 - (1.0 - share) * above - share * discrete_laplace_tail(whole + 1.0, epsilon)


def binomial_law(m: int, theta: float) -> NDArray[np.float64]:
    """Return the probability mass function of Binomial(m, theta).

    >>> binomial_law(2, 0.5).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    if m < 1 or not 0.0 < theta < 1.0:
        raise InputError(f"a binomial law needs m >= 1 and 0 < theta < 1, not {m} and {theta}")
    x = np.arange(m + 1)
    log = gammaln(m + 1) - gammaln(x + 1) - gammaln(m - x + 1) + x * math.log(theta)
    return np.asarray(np.exp(log + (m - x) * math.log1p(-theta)), np.float64)


@proved("tulap.proof.md")
def noisy_pvalue(z: int, m: int, theta: float, epsilon: float, coin: float | None = None) -> float:
    """Return the p-value of the released count ``z`` against success probability at most ``theta``.

    ``coin``: a uniform number drawn by the caller, for the randomised exact p-value; None for the larger one.

    >>> round(noisy_pvalue(5, 10, 0.1, 1.0), 4), round(noisy_pvalue(5, 10, 0.1, 1.0, coin=0.5), 4)
    (0.0239, 0.0163)
    """
    x = np.arange(m + 1)
    law = binomial_law(m, theta)
    at_least = float(law @ discrete_laplace_tail(z - x, epsilon))
    if coin is None:
        return min(at_least, 1.0)
    above = float(law @ discrete_laplace_tail(z + 1 - x, epsilon))
    return min(above + coin * (at_least - above), 1.0)


@proved("tulap.proof.md")
def tulap_pvalue(value: float, m: int, theta: float, epsilon: float) -> float:
    """Return Awan and Slavkovic's p-value of the noisy count ``value``, for comparison."""
    x = np.arange(m + 1)
    return float(binomial_law(m, theta) @ tulap_cdf(x - value, epsilon))


def critical_count(m: int, theta: float, epsilon: float, level: float) -> tuple[int, float]:
    """Return the noisy count above which the test of size ``level`` rejects, and the probability at it."""
    # the p-value falls in z: step out until level is between, then halve
    low = high = math.floor(m * theta)
    step = 1
    while noisy_pvalue(high + 1, m, theta, epsilon) > level:
        low, high, step = high + 1, high + step, 2 * step
    step = 1
    while noisy_pvalue(low, m, theta, epsilon) <= level:
        high, low, step = low - 1, low - step, 2 * step
    while low < high:  # p(low) > level >= p(high + 1)
        middle = (low + high + 1) // 2
        if noisy_pvalue(middle, m, theta, epsilon) > level:
            low = middle
        else:
            high = middle - 1
    z = low
    above, at = noisy_pvalue(z + 1, m, theta, epsilon), noisy_pvalue(z, m, theta, epsilon)
    return z, (level - above) / (at - above)


def noisy_power(
    m: int, theta0: float, theta: float, epsilon: float, level: float, *, randomised: bool = False
) -> float:
    """Return the power of the test of theta0 when the truth is ``theta``; without a coin unless ``randomised``."""
    z, share = critical_count(m, theta0, epsilon, level)
    x = np.arange(m + 1)
    law = binomial_law(m, theta)
    above = float(law @ discrete_laplace_tail(z + 1 - x, epsilon))
    if not randomised:
        return above
    return (1.0 - share) * above + share * float(law @ discrete_laplace_tail(z - x, epsilon))


@dataclass(frozen=True)
class SplitPlan:
    """How to split: ``parts``, the size ``sub_level`` of each part's test, and the effect it is planned for."""

    parts: int
    sub_level: float
    noncentrality: float


def part_sizes(n: int, parts: int) -> list[int]:
    """Return the sizes of ``parts`` disjoint parts of n rows, as equal as can be.

    >>> part_sizes(10, 4)
    [3, 3, 2, 2]
    """
    if not 1 <= parts <= n:
        raise InputError(f"can't split {n} rows into {parts} parts")
    return [n // parts + (i < n % parts) for i in range(parts)]


def split_power(parts: int, sub_level: float, noncentrality: float, epsilon: float, level: float) -> float:
    """Return the power of the test of tests when all rows have this noncentrality."""
    part = 1.0 - float(chndtr(chdtri(1, sub_level), 1, noncentrality / parts))
    part = min(max(part, sub_level), 1.0 - 1e-12)
    return noisy_power(parts, sub_level, part, epsilon, level)


def _needed(parts: int, sub_level: float, epsilon: float, level: float, below: float) -> float:
    """Return the least noncentrality that a split finds with power .8, within 1%; ``below`` if not less."""
    low, high = 0.0, below
    if split_power(parts, sub_level, high, epsilon, level) < TARGET_POWER:
        return below
    while high - low > 0.01 * high:
        middle = 0.5 * (low + high)
        if split_power(parts, sub_level, middle, epsilon, level) < TARGET_POWER:
            low = middle
        else:
            high = middle
    return high


@lru_cache(maxsize=256)
def plan_split(n: int, epsilon: float, level: float) -> SplitPlan:
    """Return the best number of parts and level of each part's test, for n rows at this budget.

    Parts have at least ``MIN_PART_ROWS`` rows, so that a test on one means something; it has one degree of freedom.

    >>> plan = plan_split(10_000, 1.0, 0.05)
    >>> plan.parts, plan.sub_level
    (10, 0.15)
    """
    if n < 2 or not epsilon > 0.0 or not 0.0 < level < 1.0:
        raise InputError("a plan needs n >= 2, epsilon > 0 and a level within 0..1")
    max_parts = max(1, n // MIN_PART_ROWS)
    candidates = sorted({min(m, max_parts) for m in PART_COUNTS})
    best = SplitPlan(candidates[0], SUB_LEVELS[0], MAX_NONCENTRALITY)
    for parts in candidates:
        for sub_level in SUB_LEVELS:
            needed = _needed(parts, sub_level, epsilon, level, best.noncentrality)
            if needed < best.noncentrality:
                best = SplitPlan(parts, sub_level, needed)
    return best
