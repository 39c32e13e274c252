"""A difference of two arms after linear regression on many columns, from noisy moments and three noisy sums.

**Formula** (partially linear model y = theta a + g(z) + error). With a and y taken about their regressions on z,

    p = a - B'(1, z),    r = y - b'(1, z),    theta = sum p r / sum p^2.

B and b come from a noisy matrix of moments (``moments.py``), so they err; but the error of theta is a *product* of both
errors (Robinson 1988; Neyman orthogonality). So B and b may be rough, and only three sums need little noise: with r cut
to [-cut, cut] and p to [-1, 1], all in units of one row,

    S1 = sum p r/cut,    S2 = KEEP sum p^2,    S3 = KEEP sum (p r/cut)^2.

**Sensitivity** (``double_residual.proof.md``): l1 1 + 2 KEEP add, 2 + 2 KEEP replace; l2^2 1 + 2 KEEP^2 add,
4 + 2 KEEP^2 replace, whatever B, b and cut are.

**Error.** theta errs by sampling (S3), by noise on S1 and on S2, and by the product of the errors of B and b. In the
directions v_k of the moments of z, with eigenvalues l_k, ridge h and noise t on an entry, the coefficients err by about
t sqrt(1 + |B|^2)/(l_k + h), and the product over k has variance sum l_k^2 t^4 (1 + |B|^2)(1 + |b|^2)/(l_k + h)^4; what
the ridge leaves in, sum h^2 l_k B_k b_k/(l_k + h)^2, is added as one more error. Moments may be of rows that were
shrunk; both parts, and the cut, are then taken back by the mean squared factor, which the sum of a^2 gives. **Cost**
O(n q). **Edge cases**: S2 within its noise of 0: nothing is known.

References: Robinson 1988; Chernozhukov et al. 2018.
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
CUT_SD = 3.5  # residuals are cut at so many standard deviations
MIN_SHRUNK = 0.05  # mean squared factor of shrinking, at least
MIN_CUT = 0.02  # and not below this part of half the range
RIDGE = 1.0  # times the noise of an entry and the root of the number of features


class Fit(NamedTuple):
    """Regressions of the treatment a and the outcome y on (1, z), where residuals are cut, and how far both err."""

    of_treatment: Floats
    of_outcome: Floats
    cut: float
    product_variance: float  # of the product of both errors, in sums over rows
    left_in: float  # what the ridge leaves in
    excess: float  # by which sum p^2 is too large


def fitted(moments: Floats, features: int, noise: float, rows: float) -> Fit:
    """Return ridge regressions of a (-1/2 or 1/2) and y on z from noisy moments of (1, z, a, y).

    ``features`` is the number of columns of z, ``noise`` the standard deviation of the noise on an entry.
    """
    z = list(range(features + 1))
    a, y = features + 1, features + 2
    ridge = RIDGE * noise * math.sqrt(features) + 1e-9 * max(rows, 1.0)
    inner = moments[np.ix_(z, z)].copy()
    values, vectors = np.linalg.eigh(inner + ridge * np.eye(len(z)))
    values = np.maximum(values, max(ridge, 1e-9))
    turned_a, turned_y = vectors.T @ moments[z, a], vectors.T @ moments[z, y]
    in_a, in_y = turned_a / values, turned_y / values
    left = np.maximum(values - ridge, 0.0)
    size_a, size_y = 1.0 + float(in_a @ in_a), 1.0 + float(in_y @ in_y)
    spread = (left + 0.7 * ridge) / values**2  # noise may have made an eigenvalue smaller
    # rows may have been shrunk for the moments: a^2 is 1/4 in every row, so its sum gives the mean factor
    shrunk = min(max(4.0 * float(moments[a, a]) / max(rows, 1.0), MIN_SHRUNK), 1.0)
    product = float((spread**2).sum()) * noise**4 * size_a * size_y / shrunk**2
    bias = float((ridge**2 * left * in_a * in_y / values**2).sum()) / shrunk
    variance = max(moments[y, y] - float(turned_y @ in_y), 0.0) / (max(rows, 1.0) * shrunk)
    cut = min(max(CUT_SD * math.sqrt(variance + noise / max(rows, 1.0)), MIN_CUT), 2.0)
    excess = noise**2 * size_a * float(spread.sum()) / shrunk
    return Fit(vectors @ in_a, vectors @ in_y, cut, product, bias, excess)


@proved("double_residual.proof.md")
def row_parts(z: Floats, a: Floats, y: Floats, fit: Fit) -> Ints:
    """Return what each row adds to S1, S2 and S3: whole numbers of 1/``UNITS``, an array (3, rows)."""
    ones = np.column_stack([np.ones(len(z)), z])
    p = np.clip(np.nan_to_num(a - ones @ fit.of_treatment), -1.0, 1.0)
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


def difference(sums: Floats, fit: Fit, noise_variance: float, quantile: float) -> Difference:
    """Return the difference of two arms (theta) and its interval from noisy sums (S1, S2, S3).

    theta lies in the interval if cut S1 - theta S2 is within ``quantile`` standard deviations of 0 (Fieller).

    >>> fit = Fit(np.zeros(1), np.zeros(1), 1.0, 0.0, 0.0, 0.0)
    >>> found = difference(np.array([50.0, 25.0, 6.0]), fit, 1.0, 2.0)
    >>> found.estimate, round(found.low, 3), round(found.high, 3)
    (0.5, 0.395, 0.611)
    """
    squares = float(sums[1]) / KEEP - fit.excess
    of_squares = noise_variance / KEEP**2
    first = fit.cut * float(sums[0])
    sampling = fit.cut**2 * max(float(sums[2]) / KEEP, math.sqrt(noise_variance))
    variance = sampling + fit.cut**2 * noise_variance + fit.product_variance + fit.left_in**2
    # (S2^2 - q^2 v2) theta^2 - 2 S1 S2 theta + S1^2 - q^2 v1 <= 0
    lead = squares**2 - quantile**2 * of_squares
    if squares <= 0 or lead <= 0 or not math.isfinite(lead + first + variance):
        return NOTHING
    half = math.sqrt(max((first * squares) ** 2 - lead * (first**2 - quantile**2 * variance), 0.0))
    return Difference(first / squares, (first * squares - half) / lead, (first * squares + half) / lead)
