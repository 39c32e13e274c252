"""Covariance of x and y within public bins of z, with its variance. Scores in [0, 1], any number of bins.

**Formula**

    M = sum_b sum_{i in b} (x_i - xbar_b)(y_i - ybar_b)
    V = sum_b SSx_b SSy_b/(n_b - 1),    SSx_b = sum_{i in b} (x_i - xbar_b)^2,   bins of fewer than two rows count 0

**Null law.** Given the values in every bin, if x and y were paired at random within bins, M has mean 0 and variance
exactly V. A bin so wide that x and y both drift in it makes M reject: bins cost no sensitivity, so take many.

**Guarantee** (``gcm_bins.proof.md``): one row added moves M by at most 1 and V by at most 1/4; one row replaced moves
them by at most 2 and 3/8. Bins must be public: cut at declared bounds, never at the data's quantiles.

**Cost** O(n). **Edge cases**: empty bins, single rows and constant columns add nothing.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved

Vector = NDArray[np.float64]


@proved("gcm_bins.proof.md")
def binned_moments(x: Vector, y: Vector, bins: NDArray[np.int64]) -> tuple[float, float]:
    """Return (M, V) for scores in [0, 1] and bin numbers, which may be any integers.

    >>> binned_moments(np.array([0.0, 1.0, 0.5]), np.array([0.0, 1.0, 0.5]), np.array([7, 7, -2]))
    (0.5, 0.25)
    """
    if len(x) == 0:
        return 0.0, 0.0
    _, place = np.unique(bins, return_inverse=True)
    count = np.bincount(place)
    x = np.clip(x, 0.0, 1.0)
    y = np.clip(y, 0.0, 1.0)
    x = x - (np.bincount(place, x) / count)[place]
    y = y - (np.bincount(place, y) / count)[place]
    squares = np.bincount(place, x * x) * np.bincount(place, y * y)
    return float((x * y).sum()), float((squares[count > 1] / (count[count > 1] - 1)).sum())


@proved("gcm_bins.proof.md")
def binned_sensitivity(neighbours: Neighbours, weight: float) -> float:
    """Return the l1 sensitivity of (M, weight V).

    >>> binned_sensitivity(Neighbours.REPLACE_ONE, 1.0), binned_sensitivity(Neighbours.ADD_REMOVE, 1.0)
    (2.375, 1.25)
    """
    if neighbours is Neighbours.FIXED_LABELS:
        raise InputError("binned covariance is proved for replace-one and add-remove neighbours")
    return 1.0 + weight / 4 if neighbours is Neighbours.ADD_REMOVE else 2.0 + weight * 3 / 8


def binned_weight(neighbours: Neighbours, epsilon: float) -> float:
    """Return the least weight of V that gives it a noise scale of .8 b^2: w (m + w v) = 1.25 epsilon.

    ``stats/noisy_normal.py`` says why .8.
    """
    m, v = (1.0, 0.25) if neighbours is Neighbours.ADD_REMOVE else (2.0, 0.375)
    return (math.sqrt(m * m + 5.0 * epsilon * v) - m) / (2 * v)
