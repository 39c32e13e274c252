"""The effect of one feature on another, others taken out by linear regression, from second moments with noise.

**Formula.** M is the matrix of second moments, with the constant among the features z (``moments.py``). With u and v
what is left of the treatment a and the outcome y after their regressions on z, as vectors over the features,

    theta = v' M u / u' M u            the coefficient of a in the regression of y on a and z

**Interval.** For a candidate theta the residual R = (v - theta u)' M u has mean zero and, to first order, variance

    t^2 (|u|^2 |w|^2 + (u'w)^2) + (u'Mu) (w'Mw) / n,       w = v - theta u

the first part from noise of variance t^2 on off-diagonal entries of M and 2 t^2 on diagonal ones, the second from
sampling with errors of one size. The interval is all theta with R^2 <= z^2 times that: a quadratic inequality
(Fieller). Both regressions are used on both sides, so that an error in one (noise, the ridge) enters as a product with
that of the other.

**Null law and assumptions**: the effect and what is taken out are linear. **Cost** O(q^3). **Edge cases**: where noise
hides how much the treatment varies, nothing is known: infinite ends.

References: Fieller 1954; Frisch & Waugh 1933.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.stats.moments import RELATIVE_RIDGE

Floats = NDArray[np.float64]


class Slope(NamedTuple):
    """An effect with its interval; NaN and infinite where nothing is known."""

    estimate: float
    low: float
    high: float


def moment_slope(
    moments: Floats, a: Floats, y: Floats, given: Sequence[int], n: float, noise: float, quantile: float
) -> Slope:
    """Return the coefficient of ``a`` in the regression of ``y`` on it and on the features ``given``.

    Parameters
    ----------
    moments
        M, exact or released with noise.
    a, y
        Treatment and outcome as combinations of features.
    given
        Positions of the features taken out; the constant is among them.
    n
        The number of rows, or an estimate of it.
    noise
        t, the standard deviation of the noise on off-diagonal entries of M.
    quantile
        z, of the normal law.

    >>> rng = np.random.default_rng(1)
    >>> z = rng.normal(size=1000)
    >>> a = z + rng.normal(size=1000)
    >>> f = np.column_stack([np.ones(1000), z, a, 2 * a - z + rng.normal(size=1000)])
    >>> found = moment_slope(f.T @ f, np.eye(4)[2], np.eye(4)[3], [0, 1], 1000, 0.0, 1.96)
    >>> found.low < 2 < found.high, round(found.estimate, 1)
    (True, 2.0)
    """
    places, rows = list(given), max(n, 1.0)
    ridge = noise * math.sqrt(len(places)) + RELATIVE_RIDGE * rows
    values, vectors = np.linalg.eigh(moments[np.ix_(places, places)] + ridge * np.eye(len(places)))
    inverse = (vectors / np.maximum(values, ridge)) @ vectors.T

    def left(feature: Floats) -> Floats:
        found = feature.copy()
        found[places] -= inverse @ (moments[places] @ feature)
        return found

    u, v = left(a), left(y)
    across, within, total = float(v @ moments @ u), float(u @ moments @ u), float(v @ moments @ v)
    long, skew, other = float(u @ u), float(u @ v), float(v @ v)
    t2, z2 = noise**2, quantile**2
    varies = max(within, 0.0)
    # R^2 - z^2 variance = square theta^2 + 2 half theta + rest
    square = within**2 - z2 * (2 * t2 * long**2 + varies**2 / rows)
    half = -across * within + z2 * (2 * t2 * long * skew + varies * across / rows)
    rest = across**2 - z2 * (t2 * (long * other + skew**2) + varies * max(total, 0.0) / rows)
    if not (within > 0 and square > 0 and math.isfinite(square + half + rest)):
        return Slope(math.nan, -math.inf, math.inf)
    middle, root = -half / square, math.sqrt(max(half**2 - square * rest, 0.0)) / square
    low, high = middle - root, middle + root
    return Slope(min(max(across / within, low), high), low, high)
