"""Power of the test, and the least dependence it finds with a stated power.

The form of ``stats/partial.py`` is X, noncentral chi-squared with d = (r-1)(c-1) degrees of freedom and
noncentrality ``worth`` w^2, whatever the noise. Components are tested by it alone. On a joint table it is combined
with the form that squares block by block (``blocks.py``): taken as X + Y, Y with the remaining degrees of
freedom and noncentrality, one rejects where

    the Cauchy combination of  P(chi2_d > X)  and  P(chi2_b > X + Y)  is at most the level,

that is where X > x(Y) for a curve x that depends on level, d and b alone. A dependence alike in all conditioning cells
shifts X (and Y, where blocks differ in size); one whose direction changes shifts Y only.

**Where it fails**: conditioning cells smaller than their noise. ``tests/statistical/test_plan.py`` holds predictions
against simulation of the driver's own test.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import chdtrc, chdtri, chndtr

from dpcausal.planning.blocks import omnibus
from dpcausal.planning.expected import Expected, Floats

FARTHEST = 1e5


@lru_cache(maxsize=1024)
def cut(level: float, pooled: float, both: float) -> tuple[Floats, Floats]:
    """(y, x(y)): above which X rejects, on a grid for Y; ``pooled`` and ``both`` are degrees of freedom."""
    rest = both - pooled
    y = (rest + 12 * math.sqrt(2 * rest) + 60) * np.linspace(0.0, 1.0, 200) ** 2
    low, high = np.zeros_like(y), np.full_like(y, 2 * float(chdtri(pooled, level / 4)) + 50)
    for _ in range(40):
        x = (low + high) / 2
        p = np.clip([chdtrc(pooled, x), chdtrc(both, x + y)], 1e-300, 0.999)
        combined = np.arctan2(1.0, (0.5 / np.tan(np.pi * p)).sum(axis=0)) / np.pi
        low, high = np.where(combined > level, x, low), np.where(combined > level, high, x)
    return y, high


def power(level: float, pooled: float, both: float, shift: float, rest_shift: float) -> float:
    """Chance to reject, for these degrees of freedom and noncentralities of X and Y.

    >>> round(power(0.05, 1.0, 1.0, 7.849, 0.0), 3), round(power(0.05, 1.0, 8.0, 0.0, 0.0), 2)
    (0.8, 0.05)
    """
    rest = both - pooled
    if rest < 1e-6:
        return float(1 - chndtr(chdtri(pooled, level), pooled, min(shift, FARTHEST)))
    y, x = cut(level, pooled, both)
    below = chndtr(y, rest, min(rest_shift, FARTHEST))
    rejects = 1 - chndtr(x, pooled, min(shift, FARTHEST))
    inside = float(np.diff(below) @ (rejects[1:] + rejects[:-1]) / 2)
    return inside + float((1 - below[-1]) * rejects[-1])


def law(table: Expected, alike: bool) -> tuple[float, float, float, float]:
    """(degrees of freedom of X, of X + Y, noncentralities of X and of Y per unit of w^2)."""
    pooled = float(table.dof)
    shift = table.worth if alike else 0.0
    if not (table.whole and table.given):
        return pooled, pooled, shift, 0.0
    cell = table.variance((table.x, table.y, *table.given))
    degrees, unit = omnibus(float(table.rows), table.x, table.y, table.given, table.share, cell)
    # one large block may leave fewer degrees of freedom than X has: Y keeps some, so that it can shift
    return pooled, max(degrees, pooled + 0.1), shift, max(unit - shift, 0.0)


def power_of(table: Expected, w: float, level: float, *, alike: bool = True) -> float:
    """Chance that a dependence w is found; ``alike``: the same in every conditioning cell.

    >>> round(power_of(Expected(1000, 2, 2), 0.0886, 0.05), 2)
    0.8
    """
    pooled, both, shift, rest = law(table, alike)
    return power(level, pooled, both, shift * w * w, rest * w * w)


def least_dependence(table: Expected, level: float, wanted: float = 0.8, *, alike: bool = True) -> float:
    """The w found with probability ``wanted``; infinite where none is.

    May be above what w can be, sqrt(min(r, c) - 1): then none is found that reliably either.

    >>> round(least_dependence(Expected(1000, 2, 2), 0.05), 4)
    0.0886
    >>> least_dependence(Expected(1000, 2, 2), 0.05, alike=False)
    inf
    """
    pooled, both, shift, rest = law(table, alike)
    unit = shift + rest
    if unit <= 0.0:
        return math.inf
    low, high = 0.0, 16.0
    while power(level, pooled, both, high * shift / unit, high * rest / unit) < wanted and high < FARTHEST:
        high *= 2
    for _ in range(25):
        middle = (low + high) / 2
        seen = power(level, pooled, both, middle * shift / unit, middle * rest / unit)
        low, high = (middle, high) if seen < wanted else (low, middle)
    return math.sqrt(high / unit)
