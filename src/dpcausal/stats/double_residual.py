"""A difference of two arms after linear regression on many columns, from noisy moments and three noisy sums.

**Formula** (partially linear model y = theta a + g(z) + error). With a and y taken about their regressions on z,

    p = a - B'(1, z),    r = y - b'(1, z),    theta = sum p r / sum p^2.

B and b come from a noisy matrix of moments (``moments.py``), so they err; but the error of theta is a *product* of both
errors (Robinson 1988; Neyman orthogonality). So B and b may be rough, and only three sums need little noise: with p cut
to [-room, room] and r to [-cut, cut], all in units of one row,

    S1 = sum p/room r/cut,    S2 = KEEP sum (p/room)^2,    S3 = KEEP sum (p/room r/cut)^2.

Without noise nothing is cut, and theta is the coefficient of least squares (Frisch & Waugh 1933).

**Sensitivity** (``double_residual.proof.md``): l1 1 + 2 KEEP add, 2 + 2 KEEP replace; l2^2 1 + 2 KEEP^2 add,
4 + 2 KEEP^2 replace, whatever B, b, room and cut are.

**Coefficients.** In the directions v_k of the moments of z about their means, with eigenvalues l_k, the moment of a is
l_k B_k plus noise of variance t^2 (1 + |B|^2), that of M_zz among it. With a prior B_k ~ N(0, T/l_k), by which every
direction explains as much of a, B_k has a posterior mean and variance V_k; T is its posterior mean when all z together
explain one of ``SHARES``. The same for b.

**Error.** theta errs by sampling (S3), by noise on S1 and on S2, and by the product of the errors of B and b, of
variance sum l_k^2 V_k(a) V_k(b): where noise hides a direction, that is what its confounding may be. The mean of the
product is taken out. With w_k the weight of the data in a posterior mean, it is t^2 B'b sum w_k(a) w_k(b)/l_k from
the noise of M_zz, which is in both errors, and C sum (1 - w_k(a)) (1 - w_k(b)) from what both priors miss, C = E l_k
B_k b_k. C is the mean of products of both moments over all directions, drawn to 0 by its own prior; what is not known
of it is in the variance, too. The excess of S2, sum l_k V_k(a), is taken out as well; its variance is 2 sum (l_k
V_k(a))^2.

**The constant** is one more direction, of eigenvalue n and without a prior. With c the value of the constant feature, a
mean of a less B' times means of z has noise of variance n^-2 (t/c)^2 (1 + |B|^2), so that l V is u (1 + |B|^2) with u =
(t/c)^2 / n, and the noise of the means of z, which is in both, adds u B'b to the mean of the product. Errors of means
enter S2 by their squares, which are far from normal. So where these would have more variance than the noise of S2
itself, 2 u^2 > v/KEEP^2, nothing is known. Public numbers decide that, so that answers are not chosen by their noise.

**Cost** O(n q). **Edge cases**: S2 within its noise of 0: nothing is known.

References: Cornish & Fisher 1938; Frisch & Waugh 1933; Robinson 1988; Chernozhukov et al. 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
KEEP = 0.25  # weight of the two sums that only say how sure the first is
UNITS = 1 << 16  # a row's part of a sum is a whole number of 1/UNITS
CUT_SD = 3.5  # residuals of a number are cut at so many standard deviations, or where noise is little more:
NOISE_SHARE = 0.25  # standard deviations of sampling error that the noise of S1 may have then
MAX_ROOM = 1.5  # times the range within which residuals are not cut at all
# of the variance of a or y that z may explain
SHARES = np.array([0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.55, 0.8])
MOST_VARIANCE = (0.25, 1.0)  # of a (-1/2 or 1/2) and of y (-1 to 1)
TINY = 1e-12


class Fit(NamedTuple):
    """Regressions of the treatment a and the outcome y on (1, z), where residuals are cut, and how far both err."""

    of_treatment: Floats
    of_outcome: Floats
    room: float
    cut: float
    product_mean: float  # of the product of both errors, in sums over rows
    product_variance: float
    excess: float  # by which sum p^2 is too large, on average; infinite: nothing is known
    excess_variance: float


def fitted(
    moments: Floats,
    features: int,
    rows: float,
    noise: float,
    constant: float,
    sums_noise: float,
    *,
    number: bool = False,
) -> Fit:
    """Return the regressions of treatment a and outcome y on z, from noisy moments of (1, z, a, y).

    Parameters
    ----------
    moments
        Second moments, the constant 1 first.
    features
        The number of columns of z.
    rows
        Their number.
    noise, constant
        Standard deviation of the noise on an entry, and by what it is divided for moments with the constant.
    sums_noise
        Standard deviation of the noise that S1 will have.
    number
        Whether y is a number, whose residuals are cut where the noise is large.
    """
    count, z, a, y = max(rows, 1.0), slice(1, features + 1), features + 1, features + 2
    means = moments[0] / count
    centred = moments - count * np.outer(means, means)
    least = noise * math.sqrt(features) + 1e-9 * count
    values, vectors = np.linalg.eigh(centred[z, z])
    values = np.maximum(values, least)
    off = 1.0 + (vectors.T @ means[z] / constant) ** 2  # noise of the means of z is in moments about them
    spreads = [
        min(max(float(centred[i, i]), least), most * count)
        for i, most in zip((a, y), MOST_VARIANCE, strict=True)
    ]
    sides = []
    for place, spread in zip((a, y), spreads, strict=True):
        turned = vectors.T @ centred[z, place]
        slopes, first = np.zeros(features), float(means[place])
        for _ in range(2):
            size = noise**2 * off * (1.0 + float(slopes @ slopes) + (first / constant) ** 2)
            each = explained(turned, values, size, spread)
            weight = values * each / (values * each + size)
            slopes = vectors @ (weight * turned / values)
            first = float(means[place] - slopes @ means[z])
        sides.append(_Side(np.append(first, slopes), turned, size, each, weight))
    product = _product(sides[0], sides[1], values, noise**2 * off, constant)
    a_slopes, y_slopes = (side.found[1:] for side in sides)
    unit = (noise / constant) ** 2 / count  # what the noise of one mean adds to a sum of squares
    a_mean, y_mean = unit * (1.0 + float(a_slopes @ a_slopes)), unit * (1.0 + float(y_slopes @ y_slopes))
    product = (product[0] + unit * float(a_slopes @ y_slopes), product[1] + a_mean * y_mean)
    errors = np.append(sides[0].each * (1 - sides[0].weight), a_mean)
    excess = float(errors.sum()) if 2 * unit**2 <= (sums_noise / KEEP) ** 2 else math.inf
    left = math.sqrt(spreads[0] * spreads[1] / count)  # sampling error of sum p r, about
    cut = min(CUT_SD * math.sqrt(spreads[1] / count), 2.0) if number else 2.0
    more = max(NOISE_SHARE * left / max(sums_noise * cut, 1e-12), 1.0)
    room = min(math.sqrt(more), MAX_ROOM)
    cut = min(cut * more / room, 2.0 * MAX_ROOM)
    return Fit(sides[0].found, sides[1].found, room, cut, *product, excess, 2 * float(errors @ errors))


class _Side(NamedTuple):
    """The regression of a or y on (1, z)."""

    found: Floats  # coefficients
    turned: Floats  # moments with the directions of z
    size: Floats  # variance of their noise
    each: float  # T
    weight: Floats  # of the data in the posterior means


def _product(a: _Side, y: _Side, values: Floats, noise: Floats, constant: float) -> tuple[float, float]:
    """Return mean and variance of the product of both regression errors."""
    if not len(values):
        return 0.0, 0.0
    shared = float(a.found[1:] @ y.found[1:] + a.found[0] * y.found[0] / constant**2) * noise
    apart = float(np.sum(a.each * (1 - a.weight) * y.each * (1 - y.weight)))
    seen = float(np.mean((a.turned * y.turned - shared) / values))
    error = float(np.mean((values * a.each + a.size) * (values * y.each + y.size) / values**2)) / len(values)
    prior = a.each * y.each / 3  # of a correlation that is anything between -1 and 1
    trust, missed = prior / (prior + error), float(np.sum((1 - a.weight) * (1 - y.weight)))
    mean = float(np.sum(shared * a.weight * y.weight / values)) + missed * trust * seen
    return mean, apart + missed**2 * prior * (1 - trust)


def explained(turned: Floats, values: Floats, size: Floats, spread: float) -> float:
    """Return the posterior mean of the variance that each direction explains, in sums over rows.

    >>> found = [explained(np.array(one), np.full(2, 100.0), np.ones(2), 50.0) for one in ([0.0, 1.0], [40.0, 30.0])]
    >>> found[0] < 1.0 < found[1]
    True
    """
    each = SHARES * spread / max(len(values), 1)
    variance = each[:, None] * values + size + TINY
    logs = -0.5 * np.sum(np.log(variance) + turned**2 / variance, axis=1)
    weight = np.exp(logs - logs.max())
    return float(weight @ each / weight.sum())


@proved("double_residual.proof.md")
def row_parts(z: Floats, a: Floats, y: Floats, fit: Fit) -> Ints:
    """Return each row's contribution to S1, S2 and S3, in whole units of 1/``UNITS``: (3, rows)."""
    ones = np.column_stack([np.ones(len(z)), z])
    p = np.clip(np.nan_to_num((a - ones @ fit.of_treatment) / fit.room), -1.0, 1.0)
    r = np.clip(np.nan_to_num((y - ones @ fit.of_outcome) / fit.cut), -1.0, 1.0)
    parts = np.stack([p * r, KEEP * p**2, KEEP * (p * r) ** 2])
    return np.asarray(np.rint(parts * UNITS), dtype=np.int64)


@proved("double_residual.proof.md")
def sums_sensitivity(neighbours: Neighbours, norm: int = 1) -> float:
    """Return the l1 (``norm`` 1) or l2 sensitivity of (S1, S2, S3).

    >>> sums_sensitivity(Neighbours.REPLACE_ONE), sums_sensitivity(Neighbours.ADD_REMOVE)
    (2.5, 1.5)
    """
    moved = 1.0 if neighbours is Neighbours.ADD_REMOVE else 2.0
    if norm == 1:
        return moved + 2 * KEEP
    return math.nextafter(math.sqrt(moved**2 + 2 * KEEP**2), math.inf)


@dataclass(frozen=True)
class Difference:
    """An estimated difference of two arms and its interval; NaN where nothing is known."""

    estimate: float
    low: float
    high: float


NOTHING = Difference(math.nan, math.nan, math.nan)


def difference(
    sums: Floats, fit: Fit, noise_variance: float, quantile: float, kurtosis: float = 0.0
) -> Difference:
    """Return the difference of two arms (theta) and its interval from noisy sums (S1, S2, S3).

    theta is in the interval if room cut S1 - theta room^2 S2/KEEP is within ``quantile`` deviations of 0 (Fieller). The
    normal quantile has a Cornish-Fisher term for the tails of the noise of S1, whose excess ``kurtosis`` is given.

    >>> fit = Fit(np.zeros(1), np.zeros(1), 1.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    >>> found = difference(np.array([50.0, 25.0, 6.0]), fit, 1.0, 2.0)
    >>> found.estimate, round(found.low, 3), round(found.high, 3)
    (0.5, 0.395, 0.611)
    """
    unit, square = fit.room * fit.cut, fit.room**2
    squares = square * float(sums[1]) / KEEP - fit.excess
    of_squares = noise_variance * (square / KEEP) ** 2 + fit.excess_variance
    first = unit * float(sums[0]) - fit.product_mean
    sampling = unit**2 * max(float(sums[2]) / KEEP, math.sqrt(noise_variance))
    variance = sampling + unit**2 * noise_variance + fit.product_variance
    quantile += (
        max((quantile**3 - 3 * quantile) / 24 * kurtosis, 0.0)
        * (unit**2 * noise_variance / max(variance, TINY)) ** 2
    )
    # (S2^2 - q^2 v2) theta^2 - 2 S1 S2 theta + S1^2 - q^2 v1 <= 0
    lead = squares**2 - quantile**2 * of_squares
    if squares <= 0 or lead <= 0 or not math.isfinite(lead + first + variance):
        return NOTHING
    half = math.sqrt(max((first * squares) ** 2 - lead * (first**2 - quantile**2 * variance), 0.0))
    return Difference(first / squares, (first * squares - half) / lead, (first * squares + half) / lead)
