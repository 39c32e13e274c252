"""Test of tests: split the rows, test each part, release how many parts rejected.

**Formula.** m disjoint parts, a classical test of size alpha0 on each; the number R of rejections is
stochastically at most Binomial(m, alpha0) under the null. Z = R + discrete Laplace(epsilon); p =
``tulap.noisy_pvalue(Z, m, alpha0, epsilon)``.
**Guarantee.** The split must not depend on values: then one changed row changes one part and R by at most 1,
so Z costs epsilon whatever the test (replace-one; add-remove too if each row is dealt to a part at random).
**Null law** exact as far as the tests on the parts keep alpha0; conservative ones leave it valid.
**Choice of (m, alpha0)** uses public numbers only: the least noncentrality lambda of the whole data's
chi-squared test at which power .8 is reached, parts having lambda/m each.
**Cost** of a plan: some 200 candidate pairs, .2 s at epsilon 1 to 2 s at .1, remembered.

References: Kazan, Shi, Groce & Bray 2023 (Algorithm 1); they tune the same two numbers by simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from scipy.special import chdtri, chndtr

from dpcausal.core.errors import InputError
from dpcausal.stats.tulap import noisy_power

SUB_LEVELS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
TARGET = 0.8


@dataclass(frozen=True)
class SplitPlan:
    """How to split: ``parts``, the size ``sub_level`` of each part's test, and the effect it is planned for."""

    parts: int
    sub_level: float
    noncentrality: float


def part_sizes(n: int, parts: int) -> list[int]:
    """Sizes of ``parts`` disjoint parts of n rows, as equal as can be.

    >>> part_sizes(10, 4)
    [3, 3, 2, 2]
    """
    if not 1 <= parts <= n:
        raise InputError(f"can't split {n} rows into {parts} parts")
    return [n // parts + (i < n % parts) for i in range(parts)]


def split_power(
    parts: int, sub_level: float, noncentrality: float, epsilon: float, level: float, dof: int = 1
) -> float:
    """Power of the test of tests when the whole data has that noncentrality."""
    part = 1.0 - float(chndtr(chdtri(dof, sub_level), dof, noncentrality / parts))
    part = min(max(part, sub_level), 1.0 - 1e-12)
    return noisy_power(parts, sub_level, part, epsilon, level)


def _needed(parts: int, sub_level: float, epsilon: float, level: float, dof: int, below: float) -> float:
    """Least noncentrality with power .8, up to 1%; ``below`` if that much is not enough."""
    low, high = 0.0, below
    if split_power(parts, sub_level, high, epsilon, level, dof) < TARGET:
        return below
    while high - low > 0.01 * high:
        middle = 0.5 * (low + high)
        if split_power(parts, sub_level, middle, epsilon, level, dof) < TARGET:
            low = middle
        else:
            high = middle
    return high


@lru_cache(maxsize=256)
def plan_split(n: int, epsilon: float, level: float, dof: int = 1, least_rows: int = 20) -> SplitPlan:
    """The best (parts, sub-level) for n rows at that budget: public numbers in, public numbers out.

    Parts have at least ``least_rows`` rows, so that a test on one means something.

    >>> plan = plan_split(10_000, 1.0, 0.05)
    >>> plan.parts, plan.sub_level
    (10, 0.15)
    """
    if n < 2 or not epsilon > 0.0 or not 0.0 < level < 1.0:
        raise InputError("a plan needs n >= 2, epsilon > 0 and a level within 0..1")
    most = max(1, n // least_rows)
    candidates = sorted(
        {min(m, most) for m in (3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 40, 50, 65, 80, 100, 150)}
    )
    best = SplitPlan(candidates[0], SUB_LEVELS[0], 1e6)
    for parts in candidates:
        for sub_level in SUB_LEVELS:
            needed = _needed(parts, sub_level, epsilon, level, dof, best.noncentrality)
            if needed < best.noncentrality:
                best = SplitPlan(parts, sub_level, needed)
    return best
