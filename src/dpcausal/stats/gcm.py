"""The generalised covariance measure: do the residuals of x and of y, each regressed on z, still go together?

    R_i = (x_i - f(z_i)) (y_i - g(z_i)),    T = sum R / sqrt(sum R^2 - (sum R)^2/n)

**Null law**: T is near N(0, 1) where the product of the two regression errors is o(n^-1) [1, Thm 6]; a regression
that misses the same part of z in x and in y makes T reject.

``block_moments`` is for rough fits, which use up many degrees of freedom: with r = Q x for a smoother's Q,

    sum R has variance sum_i sigma_i^2 tau_i^2 c,    c = tr(Q^4)/sum_i ((Q^2)_ii)^2

if the errors' variances sigma^2, tau^2 vary little, so sum R^2 c is the variance to compare with (c = 1 for a fit of
few degrees of freedom, 1/(1 - p/n) for p of them). The kernel (``block_kernel``) works on ranks of z and
on standardised z, so it needs no scale.

**Cost** 2 m^3 for a block of m rows. **Edge cases**: a constant column gives (0, 0), and p = 1.

References: [1] Shah & Peters 2020.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.special import erfc

from dpcausal.regression.kernel import Kernel

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

PENALTY = 0.01  # nearly interpolates what the kernel can bend to: bias is worse than lost degrees of freedom,
LEFT = 0.4  # but at least this share of them is left: else the penalty is raised, STEP-fold, as often as it takes
STEP = 2.0
PROBES = 4  # columns of signs that measure it
SPREAD = 2.5  # bandwidth in ranks: about this many rows (times columns) wide
MOST_WIDE = 0.5
SMOOTH = 0.5  # bandwidth in standard deviations
CURVES = 10.0  # weight of lines, squares and products of columns: hardly penalised
BLOCK = 1024  # rows of one classical fit


def gcm_statistic(products: Vector) -> float:
    """T of the residual products; 0 where they have no variance.

    >>> round(gcm_statistic(np.array([1.0, 2.0, 3.0])), 6)
    4.242641
    """
    n = len(products)
    total = float(products.sum())
    spread = float(products @ products) - total**2 / max(n, 1)
    return total / math.sqrt(spread) if spread > 1e-300 else 0.0


def gcm_pvalue(statistic: float) -> float:
    """Two-sided, from the normal law."""
    return float(erfc(abs(statistic) / math.sqrt(2.0)))


def rank_kernel(m: int, d: int, discrete: tuple[int, ...] = ()) -> Kernel:
    """The kernel for m rows of d columns of ranks: additive functions of SPREAD d/m width, and wide interactions."""
    width = min(SPREAD * max(d, 1) / max(m, 1), MOST_WIDE)
    return Kernel(width, "mixed", discrete, intercept=True)


def ranked(z: Matrix, discrete: tuple[int, ...]) -> Matrix:
    """Every numeric column as ranks in (0, 1], ties alike; codes as they are."""
    out = np.array(z, dtype=np.float64)
    for j in range(z.shape[1]):
        if j not in discrete:
            _, place, count = np.unique(z[:, j], return_inverse=True, return_counts=True)
            out[:, j] = (np.cumsum(count) - (count - 1) / 2)[place] / max(len(z), 1)
    return out


def block_kernel(z: Matrix, discrete: tuple[int, ...]) -> Matrix:
    """K of one block.

    Four things that a regression may need: rough functions of single columns and wide interactions (``rank_kernel``),
    smooth functions that go far out (a gaussian kernel on standardised numbers), and quadratic functions of all.
    """
    m, d = z.shape
    rough = ranked(z, discrete).astype(np.float32)
    k = rank_kernel(m, d, discrete).block(rough, rough).astype(np.float64)
    metric = [j for j in range(d) if j not in discrete]
    if metric:
        numbers = z[:, metric] - z[:, metric].mean(axis=0)
        numbers /= np.maximum(numbers.std(axis=0), 1e-300)
        near = numbers.astype(np.float32)
        k += Kernel(SMOOTH, "additive").block(near, near)
        products = numbers @ numbers.T / len(metric)
        k += CURVES * products * (1.0 + products)
    return k


def signs(m: int) -> Matrix:
    """PROBES columns of +-1, fixed, uncorrelated with anything: to measure traces."""
    words = np.arange(1, m + 1, dtype=np.uint64)[:, None] * np.uint64(0x9E3779B97F4A7C15)
    words ^= words >> np.uint64(29)
    words *= np.uint64(0xBF58476D1CE4E5B9)
    return 1.0 - 2.0 * ((words >> np.arange(40, 40 + PROBES, dtype=np.uint64)) & np.uint64(1)).astype(
        np.float64
    )


def block_residuals(x: Vector, y: Vector, z: Matrix, discrete: tuple[int, ...]) -> tuple[Matrix, float]:
    """Residuals (m x 2) of x and y after the rough fit, and about tr(Q^2)^2/tr(Q^4), the degrees of freedom left.

    The cosine of two residual vectors then has a standard deviation of one over their root. Zeros if the factorisation
    should ever fail.
    """
    m = len(x)
    k = block_kernel(z, discrete)
    targets = np.column_stack([x, y, signs(m)])
    penalty = PENALTY
    while True:
        k[np.diag_indices(m)] += penalty
        factor, left, info = lapack.dposv(k, targets, lower=1)
        k[np.diag_indices(m)] -= penalty
        if info:
            return np.zeros((m, 2)), 0.0
        left *= penalty
        twice, _ = lapack.dpotrs(factor, penalty * left[:, 2:], lower=1)
        free = m * float(np.square(left[:, 2:]).mean()) ** 2 / max(float(np.square(twice).mean()), 1e-300)
        if free >= LEFT * m or penalty > m:
            return left[:, :2], free
        penalty *= STEP


def block_moments(x: Vector, y: Vector, z: Matrix, discrete: tuple[int, ...]) -> tuple[float, float]:
    """(sum R, its variance) of one block; (0, 0) for fewer than three rows."""
    m = len(x)
    if m < 3:
        return 0.0, 0.0
    k = block_kernel(z, discrete)
    penalty = PENALTY
    while True:
        k[np.diag_indices(m)] += penalty
        factor, info = lapack.dpotrf(k, lower=1, clean=1)
        k[np.diag_indices(m)] -= penalty
        if info:
            return 0.0, 0.0
        inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
        smoother = penalty * (np.tril(inverse) + np.tril(inverse, -1).T)
        twice = smoother @ smoother
        free = float(np.trace(twice)) ** 2 / max(float(np.square(twice).sum()), 1e-300)
        if free >= LEFT * m or penalty > m:
            break
        penalty *= STEP
    left = smoother @ np.column_stack([x, y])
    products = left[:, 0] * left[:, 1]
    correction = float(np.square(twice).sum()) / max(float(np.square(np.diag(twice)).sum()), 1e-300)
    return float(products.sum()), float(products @ products) * correction


def classical_gcm(x: Vector, y: Vector, z: Matrix, discrete: tuple[int, ...] = ()) -> tuple[float, float]:
    """(T, p): rough fits on blocks of at most ``BLOCK`` rows, taken in turn; their moments added.

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
