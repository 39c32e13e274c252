"""AS PUBLISHED, for comparison only: the private GCM and CRT of Kalemaj, Kasiviswanathan & Ramdas 2024.

Noise is float plus float, the bandwidth is chosen with the data in the paper (here it is fixed, to share one
factorisation), and X and Y are scaled by bounds. The paper enforces lambda >= 10 in

    min_w  lambda/2 |w|^2 + 1/n sum (w' phi(z_i) - x_i)^2,

for which sklearn's ``alpha`` would be n lambda/2: a fit shrunk to 1/6 or less. Its Figure 6 shows a close fit, which is
what ``alpha = 10`` gives; then lambda is 20/n and the noise is far too small for the bound of Lemma B.6. Both readings
are here: ``analysed`` (lambda = 10) and ``pictured`` (alpha = 10, **not private**).

References: Algorithm 1, Algorithm 2, Lemma B.6 and Lemma C.1 of the paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve
from scipy.special import ndtr

from dpcausal.stats.published import crt_bound, products_bound
from gcm.design import Batch, Values

LAMBDA = 10.0
LEVEL = 0.05
# public bandwidths: of .25, .5, 1, 2, 4 the best fits of f_1 at these lambdas
BANDWIDTH = {1: 1.0}
BANDWIDTH_MORE = 2.0
MOST_EXACT = 2000
MOST_RANK = 400

Flags = NDArray[np.bool_]


def kernel_rows(z: Values, rows: Values, bandwidth: float) -> Values:
    """exp(-|z_i - z_j|^2/(2 bandwidth^2)) of all points with ``rows``."""
    a, b = z / bandwidth, rows / bandwidth
    k = a @ b.T
    k -= 0.5 * (a * a).sum(1)[:, None]
    k -= 0.5 * (b * b).sum(1)[None]
    return np.exp(k, out=k)


def low_rank(z: Values, bandwidth: float) -> Values:
    """F with F F' near K: randomly pivoted Cholesky, until K is met or at rank ``MOST_RANK``."""
    rng = np.random.default_rng(0)
    left, factor = np.ones(len(z)), np.zeros((len(z), MOST_RANK))
    for k in range(MOST_RANK):
        if left.sum() < 1e-9 * len(z):
            return factor[:, :k]
        pivot = int(rng.choice(len(z), p=left / left.sum()))
        column = kernel_rows(z, z[pivot : pivot + 1], bandwidth)[:, 0] - factor[:, :k] @ factor[pivot, :k]
        factor[:, k] = column / math.sqrt(max(column[pivot], 1e-12))
        left = np.maximum(left - factor[:, k] ** 2, 0.0)
        left[pivot] = 0.0
    return factor


@dataclass
class Fits:
    """Kernel ridge regression at fixed points: one factorisation, shared by every target.

    Cholesky up to ``MOST_EXACT`` points, in single precision above. Where the ridge is n or more, or d = 1, many points
    are done by ``low_rank``: the residuals are off by at most |K - F F'|/alpha (below 1e-3 at the figures' sizes).
    """

    z: Values
    bandwidth: float | None = None
    factors: dict[float, tuple[Values, bool]] = field(default_factory=dict)

    @cached_property
    def width(self) -> float:
        """The bandwidth."""
        return self.bandwidth or BANDWIDTH.get(self.z.shape[1], BANDWIDTH_MORE)

    @cached_property
    def thin(self) -> Values:
        """F."""
        return low_rank(self.z, self.width)

    def residuals(self, targets: Values, alpha: float) -> Values:
        """(I - K (K + alpha I)^-1) targets = alpha (K + alpha I)^-1 targets."""
        n, d = self.z.shape
        if n > MOST_EXACT and (d == 1 or alpha >= n):
            small = self.thin.T @ self.thin
            small[np.diag_indices_from(small)] += alpha
            return targets - self.thin @ solve(small, self.thin.T @ targets, assume_a="pos")
        if alpha not in self.factors:
            points = self.z.astype(np.float32 if n > MOST_EXACT else np.float64)
            kernel = kernel_rows(points, points, self.width)
            kernel[np.diag_indices_from(kernel)] += alpha
            self.factors[alpha] = cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
        factor = self.factors[alpha]
        solved = cho_solve(factor, targets.astype(factor[0].dtype), check_finite=False)
        return np.asarray(alpha * solved, np.float64)


def ridge(n: int, reading: str) -> float:
    """sklearn's alpha under one of the two readings."""
    return n * LAMBDA / 2 if reading == "analysed" else LAMBDA


def residuals(batch: Batch, fits: Fits, column: str, alpha: float) -> Values:
    """Residuals of x or y, kept with the batch: several tests need them."""
    if (column, alpha) not in batch.kept:
        batch.kept[column, alpha] = fits.residuals(batch.unit_x if column == "x" else batch.unit_y, alpha)
    return batch.kept[column, alpha]


def products(batch: Batch, fits: Fits, alpha: float) -> Values:
    """R_i, one column a repetition (equation 1)."""
    return residuals(batch, fits, "x", alpha) * residuals(batch, fits, "y", alpha)


def gcm_pvalues(rows: Values) -> Values:
    """Two-sided p-values of T (equation 2), one a column."""
    spread = np.sqrt((rows * rows).mean(0) - rows.mean(0) ** 2)
    return np.asarray(2 * ndtr(-np.abs(math.sqrt(len(rows)) * rows.mean(0) / spread)), np.float64)


def gcm(batch: Batch, fits: Fits, alpha: float) -> Flags:
    """The classical test: which repetitions reject."""
    return gcm_pvalues(products(batch, fits, alpha)) <= LEVEL


def priv_gcm(batch: Batch, fits: Fits, alpha: float, rng: np.random.Generator) -> Flags:
    """Algorithm 1: Laplace noise on every product, then T."""
    noise = rng.laplace(0, products_bound(LAMBDA) / batch.cell.epsilon, batch.x.shape)
    return gcm_pvalues(products(batch, fits, alpha) + noise) <= LEVEL


def crt_statistics(batch: Batch, fits: Fits, rng: np.random.Generator) -> Values:
    """T_0 and T_1..T_m by repetition (m+1 rows): exact residuals of X, fitted ones of Y, lambda = 10.

    Given Y and Z the copies are sums of independent normals, drawn as such (their clamping at sqrt(2 ln n) standard
    deviations is left out).
    """
    of_y = residuals(batch, fits, "y", ridge(batch.cell.n, "analysed"))
    exact = np.clip((batch.x - batch.mean[:, None]) / batch.bound_x, -1, 1)
    spread = np.sqrt((of_y * of_y).sum(0)) / batch.bound_x
    copies = rng.normal(size=(batch.cell.copies, batch.x.shape[1])) * spread
    return np.vstack([(exact * of_y).sum(0)[None], copies])


def crt_pvalues(statistics: Values) -> Values:
    """The classical one-sided CRT."""
    larger = (statistics[1:] >= statistics[0]).sum(0)
    return np.asarray((1 + larger) / len(statistics), np.float64)


def priv_crt_pvalues(statistics: Values, epsilon: float, rng: np.random.Generator) -> Values:
    """Algorithm 2: noisy max over ranks, scores -|Q_c - T_0|/(2 Delta_T), exponential noise of scale 2/epsilon."""
    ordered = -np.sort(-statistics, axis=0)
    scores = -np.abs(ordered - statistics[0]) / (2 * crt_bound(LAMBDA))
    rank = np.argmax(scores + rng.exponential(2 / epsilon, scores.shape), axis=0)
    return np.asarray((1 + rank) / len(statistics), np.float64)
