"""The effect of one feature on another, others taken out by linear regression, from second moments with noise.

**Formula.** M is the matrix of second moments, with the constant among the features z (``moments.py``). With u and v
what is left of the treatment a and the outcome y after their regressions on z, as vectors over the features,

    theta = v' M u / u' M u            the coefficient of a in the regression of y on a and z

**Interval.** For a candidate theta the residual R = (v - theta u)' M u has mean zero and is, to first order, the sum of
products of M with Q = (w u' + u w') / 2, w = v - theta u. So its variance is

    2 t^2 tr(Q Q) + 2 tr(Q M Q M) / n

the first part from noise of variance t^2 on off-diagonal entries of M and 2 t^2 on diagonal ones, the second from
sampling with errors of one size: (u'Mu) (w'Mw) / n where R is 0. The interval is all theta with R^2 <= z^2 times that:
a quadratic inequality (Fieller). Both regressions are used on both sides, so that an error in one (noise, the ridge)
enters as a product with that of the other.

**In standard deviations.** With V_a = a'Ma and V_y = y'My of the centred features, the effect in standard deviations is
theta sqrt(V_a / V_y). V_a and V_y have errors, too; to first order they add

    theta (u'Mu) / 2 (a a' / V_a - y y' / V_y)

to Q, which stays linear in theta. A normal score, too, counts in the standard deviation that M shows: its map was
measured with noise, and to first order a wrong map stretches a column and does nothing else. What is left is the
sampling error of normal scores by rank, which is that of the normal model (Klaassen & Wellner 1997).

**Null law and assumptions**: the effect and what is taken out are linear; columns in standard deviations have fourth
moments like normal ones. **Cost** O(q^3). **Edge cases**: where noise hides how much the treatment (or a column in
standard deviations) varies, nothing is known: infinite ends.

References: Fieller 1954; Frisch & Waugh 1933; Klaassen & Wellner 1997, Bernoulli 3, 55-77.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.stats.moments import nonnegative, ridge_inverse

Floats = NDArray[np.float64]


class Slope(NamedTuple):
    """An effect with its interval; NaN and infinite where nothing is known."""

    estimate: float
    low: float
    high: float


def moment_slope(
    moments: Floats,
    a: Floats,
    y: Floats,
    given: Sequence[int],
    n: float,
    noise: float,
    quantile: float,
    deviations: tuple[bool, bool] = (False, False),
) -> Slope:
    """Return the regression coefficient of ``a`` for ``y`` adjusted for features ``given``, from moments.

    Parameters
    ----------
    moments
        M, exact or released with noise.
    a, y
        Treatment and outcome as combinations of features.
    given
        Positions of the features taken out; the constant, at position 0, is among them.
    n
        The number of rows, or an estimate of it.
    noise
        t, the standard deviation of the noise on off-diagonal entries of M.
    quantile
        z, of the normal law.
    deviations
        Whether the treatment and the outcome count in standard deviations, as the moments show them.

    >>> rng = np.random.default_rng(1)
    >>> z = rng.normal(size=1000)
    >>> a = z + rng.normal(size=1000)
    >>> f = np.column_stack([np.ones(1000), z, a, 2 * a - z + rng.normal(size=1000)])
    >>> found = moment_slope(f.T @ f, np.eye(4)[2], np.eye(4)[3], [0, 1], 1000, 0.0, 1.96)
    >>> found.low < 2 < found.high, round(found.estimate, 1)
    (True, 2.0)
    >>> round(moment_slope(f.T @ f, np.eye(4)[2], np.eye(4)[3], [0, 1], 1000, 0.0, 1.96, (True, True)).estimate, 1)
    1.2
    """
    places, rows = list(given), max(n, 1.0)
    inverse = ridge_inverse(moments, places, n, noise)

    def left(feature: Floats) -> Floats:
        """Return what is left of a combination of features after regression on the given ones."""
        found = feature.copy()
        found[places] -= inverse @ (moments[places] @ feature)
        return found

    u, v = left(a), left(y)
    across, within = float(v @ moments @ u), float(u @ moments @ u)
    span = [u, v]  # Q = span' (fixed + theta moved) span
    fixed, moved = np.zeros((4, 4)), np.zeros((4, 4))
    fixed[0, 1] = fixed[1, 0] = 0.5
    moved[0, 0] = -1.0
    unit, known = 1.0, within > 0
    t2, z2 = noise**2, quantile**2
    for place, (feature, asked, power) in enumerate(
        zip((a, y), deviations, (0.5, -0.5), strict=True), start=2
    ):
        centred = feature.copy()
        centred[0] -= moments[0] @ feature / moments[0, 0]
        span.append(centred)
        if asked:
            spread = float(centred @ moments @ centred)
            known = known and spread > quantile * noise * math.sqrt(2.0) * float(centred @ centred)
            moved[place, place] = power * within / spread if known else 0.0
            unit *= (spread / rows) ** power if known else 1.0
    sides = np.array(span)
    lengths, products = sides @ sides.T, nonnegative(sides @ moments @ sides.T)

    def covariance(one: Floats, other: Floats) -> float:
        """Return the covariance of two quadratic forms of the moments, from noise and from sampling."""
        noisy = np.trace(one @ lengths @ other @ lengths)
        return float(2 * t2 * noisy + 2 * np.trace(one @ products @ other @ products) / rows)

    # R^2 - z^2 variance = square theta^2 + 2 half theta + rest
    square = within**2 - z2 * covariance(moved, moved)
    half = -across * within - z2 * covariance(fixed, moved)
    rest = across**2 - z2 * covariance(fixed, fixed)
    if not (known and square > 0 and math.isfinite(square + half + rest)):
        return Slope(math.nan, -math.inf, math.inf)
    middle, root = -half / square, math.sqrt(max(half**2 - square * rest, 0.0)) / square
    low, high = middle - root, middle + root
    return Slope(*(unit * value for value in (min(max(across / within, low), high), low, high)))
