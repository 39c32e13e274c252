"""The regression of x and y on z within a block of rows, for the generalised covariance measure: it errs by bending.

What z does to both columns and a fit leaves behind looks like dependence, so bias is worse than lost degrees of
freedom. The residuals are r = Q x with Q = a (K + a I)^-1, the same Q for x and y, and

    K = .5 + LINES s.s'/d + SQUARES (s.s'/d)^2 + mean_j k_.5(s_j, s_j')      smooth part; s standardised
      + .25 k_.5(ranks) + .25 mean_j w_j k_h_j(rank_j)                       wide interactions, rough functions

k_h gaussian of width h. Widths are h = 2.5 d/m in ranks, unless a column of z is seen to be **turning**: the
residuals of the smooth part, in the order of that column, have more power in some octave of frequencies than noise has
(cosine transform, x and y together). Then its width is ``FINE`` over the frequency and its weight ``BOOST``, and the
other columns are ``RELAX`` times as wide. The penalty a is the smallest, by factors of two from .01, that leaves half
of the degrees of freedom:

    free = tr(Q^2)^2/tr(Q^4): one over the variance of the cosine of two residual vectors of pure noise
    own = sum_i ((Q^2)_ii)^2/tr(Q^4): the share of that variance that is the rows' own, not of what the fit mixes;
          it lies between free/m and 1

**Cost** 3 to 5 m^3 for m rows. **Edge cases**: if LAPACK should ever fail Q = 0; a column of z without
variance adds nothing; constant x or y leave zeros.

The generalised covariance measure: do the residuals of x and of y, each regressed on z, still go together?

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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct
from scipy.linalg import blas, lapack
from scipy.special import erfc

from dpcausal.regression.kernel import Kernel

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Tops = NDArray[np.int64]

PENALTY = 0.01
STEP = 2.0
LEFT = 0.5  # of the degrees of freedom, at least
PROBES = 4  # columns of signs that measure it
LINES, SQUARES = 10.0, 3.0
SMOOTH = 0.5  # width in standard deviations
WIDE = 0.5  # width of interactions, in ranks
SPREAD = 2.5
LONG = 200  # rows that a search for turns needs
FIRST = 8  # half waves over all ranks: below that the smooth part sees them
SEEN = 4.2  # standard deviations, of x and y added
NEARLY = 0.6  # of the strongest column: weaker ones are left
FINE, BOOST, RELAX = 0.3, 20.0, 2.0
SMOOTH_PENALTY = 0.1
TINY = 1e-150  # a smaller standard deviation is a constant's: its square would not be a float


@dataclass(frozen=True)
class Smoother:
    """Q with its degrees of freedom left and the rows' own share of the variance."""

    matrix: Matrix
    free: float
    own: float


def ranked(z: Matrix, discrete: tuple[int, ...]) -> Matrix:
    """Every numeric column as ranks in (0, 1], ties alike; codes as they are."""
    out = np.array(z, dtype=np.float64)
    metric = [j for j in range(z.shape[1]) if j not in discrete]
    order = np.argsort(z, axis=0, kind="stable")
    new = np.ones(len(z) + 1, dtype=bool)
    for j in metric:
        ascending = z[order[:, j], j]
        new[1:-1] = ascending[1:] != ascending[:-1]
        cuts = np.flatnonzero(new)
        starts, count = cuts[:-1], np.diff(cuts)
        out[order[:, j], j] = np.repeat(starts + (count + 1) / 2, count) / len(z)
    return out


def signs(m: int) -> Matrix:
    """PROBES columns of +-1, fixed, uncorrelated with anything: to measure traces."""
    words = np.arange(1, m + 1, dtype=np.uint64)[:, None] * np.uint64(0x9E3779B97F4A7C15)
    words ^= words >> np.uint64(29)
    words *= np.uint64(0xBF58476D1CE4E5B9)
    bits = (words >> np.arange(40, 40 + PROBES, dtype=np.uint64)) & np.uint64(1)
    return 1.0 - 2.0 * bits.astype(np.float64)


def smooth_kernel(z: Matrix, ranks: Matrix, discrete: tuple[int, ...]) -> Matrix:
    """All of K but the rough functions of single columns."""
    m, d = z.shape
    k = np.full((m, m), 0.5)
    if d > 1:
        low = ranks.astype(np.float32)
        k += 0.25 * Kernel(WIDE, "gaussian", discrete).block(low, low)
    metric = [j for j in range(d) if j not in discrete]
    if metric:
        numbers = z[:, metric] - z[:, metric].mean(axis=0)
        spread = numbers.std(axis=0)
        numbers = np.where(spread > TINY, numbers / np.maximum(spread, TINY), 0.0)
        near = numbers.astype(np.float32)
        k += Kernel(SMOOTH, "additive").block(near, near)
        products = numbers @ numbers.T / len(metric)
        k += products * (LINES + SQUARES * products)
    return k


def usual_width(m: int, d: int) -> float:
    """h in ranks: about SPREAD d rows."""
    return min(SPREAD * max(d, 1) / max(m, 1), 0.5)


def rough_kernel(ranks: Matrix, discrete: tuple[int, ...], tops: Tops | None = None) -> Matrix:
    """The rough functions of single columns; ``tops`` are the frequencies of the turning ones, 0 for others."""
    m, d = ranks.shape
    k = np.zeros((m, m), dtype=np.float32)
    others = usual_width(m, d) if tops is None or not tops.any() else min(RELAX * usual_width(m, d), 0.5)
    for j in range(d):
        if j in discrete:
            k += ranks[:, j, None] == ranks[None, :, j]
            continue
        top = 0 if tops is None else int(tops[j])
        place = (ranks[:, j] / (FINE / top if top else others)).astype(np.float32)
        one = np.subtract.outer(place, place)
        np.exp(np.multiply(np.square(one, out=one), np.float32(-0.5), out=one), out=one)
        if top:
            one *= np.float32(BOOST)
        k += one
    k *= np.float32((0.25 if d > 1 else 0.5) / max(d, 1))
    return k.astype(np.float64)


def smooth_residuals(kernel: Matrix, targets: Matrix) -> Matrix:
    """Residuals of the smooth part alone."""
    a = np.array(kernel, order="F")
    a[np.diag_indices(len(a))] += SMOOTH_PENALTY
    _, left, info = lapack.dposv(a, targets, lower=1, overwrite_a=1)
    return np.zeros_like(targets) if info else np.asarray(SMOOTH_PENALTY * left)


def turning(z: Matrix, left_x: Matrix, left_y: Matrix, discrete: tuple[int, ...]) -> Tops:
    """The highest frequency (half waves over the ranks) at which each column of z turns x or y.

    0 where none is seen, where another column turns far more, and where the usual width is fine enough.
    ``left_x`` and ``left_y`` (m x r) are residuals of r data sets on the same z; the answer is r x d.
    """
    (m, d), count = z.shape, left_x.shape[1]
    tops, seen = np.zeros((count, d), np.int64), np.zeros((count, d))
    for j in range(d):
        if j in discrete:
            continue
        order = np.argsort(z[:, j], kind="stable")
        power = [np.square(dct(left[order], axis=0, norm="ortho")[FIRST:]) for left in (left_x, left_y)]
        power = [p / np.maximum(p.mean(axis=0), 1e-300) for p in power]
        low = FIRST
        while 1.4 * low < m / 2:
            high = min(2 * low, m // 2)
            size = high - low
            excess = sum(p[low - FIRST : high - FIRST].sum(axis=0) - size for p in power)
            here = np.asarray(excess) / math.sqrt(2 * size)
            tops[here > SEEN, j] = high
            seen[:, j] = np.maximum(seen[:, j], np.where(here > SEEN, here, 0.0))
            low = high
    tops[seen < NEARLY * seen.max(axis=1, keepdims=True, initial=0.0)] = 0
    tops[tops * usual_width(m, d) <= FINE] = 0
    return tops


def factored(kernel: Matrix) -> tuple[Matrix | None, float, float]:
    """(factor of K + a I, a, free as probes measure it) for the least penalty that leaves enough; None on failure."""
    m, penalty = len(kernel), PENALTY
    probes = signs(m)
    while True:
        a = np.array(kernel, order="F")
        a[np.diag_indices(m)] += penalty
        factor, info = lapack.dpotrf(a, lower=1, overwrite_a=1)
        if info:
            return None, penalty, 0.0
        once = penalty * lapack.dpotrs(factor, probes, lower=1)[0]
        twice = penalty * lapack.dpotrs(factor, once, lower=1)[0]
        free = m * float(np.square(once).mean()) ** 2 / max(float(np.square(twice).mean()), 1e-300)
        if free >= LEFT * m or penalty > m:
            return factor, penalty, free
        penalty *= STEP


def smoother(kernel: Matrix) -> Smoother:
    """Q for this kernel, with its traces exactly."""
    m = len(kernel)
    factor, penalty, _ = factored(kernel)
    if factor is None:
        return Smoother(np.zeros((m, m)), 0.0, 1.0)
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    q = np.tril(inverse, -1)
    q += q.T
    q[np.diag_indices(m)] = np.diag(inverse)
    q *= penalty
    square = blas.dsyrk(1.0, q, lower=1)  # Q^2, the lower triangle; zeros above
    diagonal = np.diag(square)
    own = float(diagonal @ diagonal)
    fourth = max(2.0 * float(np.vdot(square, square)) - own, 1e-300)
    return Smoother(q, float(diagonal.sum()) ** 2 / fourth, min(own / fourth, 1.0))  # rounding could pass 1


def block_kernel(x: Vector, y: Vector, z: Matrix, discrete: tuple[int, ...]) -> Matrix:
    """K for this block of rows, turns looked for; x and y centred."""
    ranks = ranked(z, discrete)
    smooth = smooth_kernel(z, ranks, discrete)
    tops = None
    if len(x) >= LONG and len(discrete) < z.shape[1]:
        left = smooth_residuals(smooth, np.column_stack([x, y]))
        tops = turning(z, left[:, :1], left[:, 1:], discrete)[0]
    return smooth + rough_kernel(ranks, discrete, tops)


def block_residuals(
    x: Vector, y: Vector, z: Matrix, discrete: tuple[int, ...], exact: bool = True
) -> tuple[Matrix, float, float]:
    """(residuals of x and y, free, own); not ``exact``: in half the time, free by probes and own not known (1)."""
    kernel, targets = block_kernel(x, y, z, discrete), np.column_stack([x, y])
    if exact:
        fit = smoother(kernel)
        return fit.matrix @ targets, fit.free, fit.own
    factor, penalty, free = factored(kernel)
    if factor is None:
        return np.zeros_like(targets), 0.0, 1.0
    return penalty * lapack.dpotrs(factor, targets, lower=1)[0], free, 1.0


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
