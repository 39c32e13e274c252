"""The generalised covariance measure: do the residuals of x and of y, each regressed on z, still go together?

    R_i = (x_i - f(z_i)) (y_i - g(z_i)),    T = sum R / sqrt(sum R^2 - (sum R)^2/n)

**Null law**: T is near N(0, 1) where the product of the two regression errors is o(n^-1) [1, Thm 6]; a regression
that misses the same part of z in x and in y makes T reject. ``classical_gcm`` uses the fit of ``gcm_fit.py``, which
uses up many degrees of freedom: with r = Q x,

    sum R has variance sum_i sigma_i^2 tau_i^2 c,    c = tr(Q^4)/sum_i ((Q^2)_ii)^2

if the errors' variances sigma^2, tau^2 vary little, so sum R^2 c is the variance to compare with (c = 1 for a fit of
few degrees of freedom, 1/(1 - p/n) for p of them).

**Cost** 3 to 5 n ``BLOCK``^2. **Edge cases**: a constant column gives (0, 0), and p = 1.

References: [1] Shah & Peters 2020.
"""

from __future__ import annotations

import math

from scipy.special import erfc

from dpcausal.stats.gcm_fit import Matrix, Vector, block_residuals

BLOCK = 1024  # rows of one classical fit


def gcm_statistic(products: Vector) -> float:
    """T of the residual products; 0 where they have no variance.

    >>> import numpy as np
    >>> round(gcm_statistic(np.array([1.0, 2.0, 3.0])), 6)
    4.242641
    """
    n = len(products)
    total = float(products.sum())
    spread = float(products @ products) - total * total / max(n, 1)
    return total / math.sqrt(spread) if spread > 1e-300 else 0.0


def gcm_pvalue(statistic: float) -> float:
    """Two-sided, from the normal law."""
    return float(erfc(abs(statistic) / math.sqrt(2.0)))


def block_moments(x: Vector, y: Vector, z: Matrix, discrete: tuple[int, ...]) -> tuple[float, float]:
    """(sum R, its variance) of one block; (0, 0) for fewer than three rows."""
    if len(x) < 3:
        return 0.0, 0.0
    x, y = x - x.mean(), y - y.mean()
    left, _, own = block_residuals(x, y, z, discrete)
    products = left[:, 0] * left[:, 1]
    return float(products.sum()), float(products @ products) / max(own, 1e-300)


def classical_gcm(x: Vector, y: Vector, z: Matrix, discrete: tuple[int, ...] = ()) -> tuple[float, float]:
    """(T, p): rough fits on blocks of at most ``BLOCK`` rows, taken in turn; their moments added.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(400, 1)); x = np.sin(z[:, 0]) + rng.normal(size=400)
    >>> classical_gcm(x, x + rng.normal(size=400), z)[1] < 1e-6
    True
    """
    blocks = max(1, -(-len(x) // BLOCK))
    total = variance = 0.0
    for k in range(blocks):
        covariance, spread = block_moments(x[k::blocks], y[k::blocks], z[k::blocks], discrete)
        total, variance = total + covariance, variance + spread
    statistic = total / math.sqrt(variance) if variance > 1e-300 else 0.0
    return statistic, gcm_pvalue(statistic)
