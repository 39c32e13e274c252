"""Covariance of x and y within public bins of z, with its variance. Scores in [0, 1], any number of bins.

**Formula**

    M = sum_b sum_{i in b} (x_i - xbar_b)(y_i - ybar_b)
    V = sum_b SSx_b SSy_b/(n_b - 1),    SSx_b = sum_{i in b} (x_i - xbar_b)^2,   bins of fewer than two rows count 0

**Null law.** Given the values in every bin, if x and y were paired at random within bins, M has mean 0 and variance
exactly V. A bin so wide that x and y both drift in it makes M reject: bins cost no sensitivity, so take many.

**Guarantee** (``gcm_bins.proof.md``): one row added moves M by at most 1 and V by at most 1/4; one row replaced moves
them by at most 2 and 3/8. Bins must be public: cut at declared bounds, never at the data's quantiles.

Scores are rounded to multiples of 2^-16, row by row, and all sums are made in whole numbers, so nothing is lost in
them however many rows there are (up to ``limits.MAX_ROWS``).

**Cost** O(n log n), to number the bins. **Edge cases**: empty bins, single rows and constant columns add nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.compiled import jit
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats.limits import checked_rows
from dpcausal.stats.noisy_normal import variance_weight

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]
SCALE = 1 << 16  # scores are rounded to multiples of 1/SCALE, so that sums of squares are exact in 64 bits


@jit()
def _fill_sums(place: Any, x: Any, y: Any, out: Any) -> None:
    """Add the sums of x, y, xy, xx, yy over the rows of each bin to the rows of ``out``."""
    for i in range(place.shape[0]):
        row = out[place[i]]
        row[0] += x[i]
        row[1] += y[i]
        row[2] += x[i] * y[i]
        row[3] += x[i] * x[i]
        row[4] += y[i] * y[i]


def _whole(scores: Vector) -> Integers:
    """Return scores clamped to [0, 1] and rounded to whole steps of 1/SCALE; NaN becomes 0."""
    return np.asarray(np.floor(np.clip(np.nan_to_num(scores), 0.0, 1.0) * SCALE + 0.5), np.int64)


def _centred(products: Integers, x: Integers, y: Integers, n: Integers) -> tuple[Integers, Vector]:
    """Return the centred sum xy - (sum x)(sum y)/n as a whole number and a fraction, without overflow."""
    whole_x, rest_x = np.divmod(x, n)
    whole_y, rest_y = np.divmod(y, n)
    return products - whole_x * y - rest_x * whole_y, rest_x * rest_y / n


@proved("gcm_bins.proof.md")
def binned_moments(x: Vector, y: Vector, bins: NDArray[np.int64]) -> tuple[float, float]:
    """Return the covariance of x and y within bins (M), and its null variance (V).

    >>> binned_moments(np.array([0.0, 1.0, 0.5]), np.array([0.0, 1.0, 0.5]), np.array([7, 7, -2]))
    (0.5, 0.25)
    """
    if checked_rows(len(x)) == 0:
        return 0.0, 0.0
    _, place = np.unique(bins, return_inverse=True)
    count = np.bincount(place)
    sums = np.zeros((len(count), 5), np.int64)
    _fill_sums(place, _whole(x), _whole(y), sums)
    sum_x, sum_y, xy, xx, yy = sums.T
    several = count > 1
    covariance, rest = _centred(xy, sum_x, sum_y, count)
    total = (float(covariance.sum()) - float(rest.sum())) / SCALE**2
    squares_x, squares_y = (
        np.subtract(*_centred(squares, side, side, count))[several] / SCALE**2
        for squares, side in ((xx, sum_x), (yy, sum_y))
    )
    return total, float((squares_x * squares_y / (count[several] - 1)).sum())


@proved("gcm_bins.proof.md")
def binned_sensitivity(neighbours: Neighbours, weight: float) -> float:
    """Return the l1 sensitivity of the binned covariance and its weighted variance, (M, weight V).

    >>> binned_sensitivity(Neighbours.REPLACE_ONE, 1.0), binned_sensitivity(Neighbours.ADD_REMOVE, 1.0)
    (2.375, 1.25)
    """
    if neighbours is Neighbours.FIXED_LABELS:
        raise InputError("binned covariance is proved for replace-one and add-remove neighbours")
    return 1.0 + weight / 4 if neighbours is Neighbours.ADD_REMOVE else 2.0 + weight * 3 / 8


def binned_weight(neighbours: Neighbours, epsilon: float) -> float:
    """Return the weight of V in a release of (M, weight V)."""
    moved = (1.0, 0.25) if neighbours is Neighbours.ADD_REMOVE else (2.0, 0.375)
    return variance_weight(*moved, epsilon)
