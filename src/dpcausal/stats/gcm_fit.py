"""The generalised covariance measure: do the residuals of x and of y, each regressed on z, still go together?

**Formula**

    R_i = (x_i - f(z_i)) (y_i - g(z_i)),    T = sum R / sqrt(sum R^2 - (sum R)^2/n)

**The regression** in a block of m rows. What z does to both columns and a fit leaves behind looks like dependence, so
bias is worse than lost degrees of freedom: the fit is rough on purpose. The residuals are r = Q x with
Q = a (K + a I)^-1, the same Q for x and y, and

    K = .5 + line_weight s.s'/d + square_weight (s.s'/d)^2 + mean_j k_.5(s_j, s_j')      smooth part; s standardised
      + .25 k_.5(ranks) + .25 mean_j w_j k_h_j(rank_j)                      wide interactions, rough functions

with k_h gaussian of width h. Widths are h = 2.5 d/m in ranks, unless a column of z is **turning**: the residuals of the
smooth part, in the order of that column, have more power in some octave of frequencies than noise has (cosine
transform, x and y together). Then its width is ``turn_width`` over the frequency and its weight ``turn_weight``, and
the other columns are ``other_width_factor`` times as wide. The penalty a is the smallest, by factors of two from .01,
that leaves half of the degrees of freedom:

    free = tr(Q^2)^2/tr(Q^4): one over the variance of the cosine of two residual vectors of pure noise
    own = sum_i ((Q^2)_ii)^2/tr(Q^4): the share of that variance that is the rows' own, not of what the fit mixes;
          it lies between free/m and 1

**Guarantee** none: for use without privacy, or inside a mechanism that any fit is allowed in (``stats/gcm_parts.py``).

**Null law**: T is near N(0, 1) where the product of the two regression errors is o(n^-1) [1, Thm 6]; a regression
that misses the same part of z in x and in y makes T reject. This fit uses up many degrees of freedom: with r = Q x,

    sum R has variance sum_i sigma_i^2 tau_i^2 c,    c = tr(Q^4)/sum_i ((Q^2)_ii)^2

if the errors' variances sigma^2, tau^2 vary little, so sum R^2 c is the variance to compare with (c = 1 for a fit of
few degrees of freedom, 1/(1 - p/n) for p of them).

**Cost** 3 to 5 m^3 for a block of m rows. **Edge cases**: if LAPACK should ever fail Q = 0; a column of z without
variance adds nothing; a constant x or y gives (0, 0), and p = 1.

References: [1] Shah & Peters 2020.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.linalg import blas, lapack
from scipy.special import erfc

from dpcausal.regression.kernel import Kernel

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Tops = NDArray[np.int64]


@dataclass(frozen=True)
class FitSettings:
    """Constants of the fit, found by simulation (``docs/gcm.md``): public and independent of the data."""

    line_weight: float = 10.0  # of s.s'/d in K
    square_weight: float = 3.0  # of (s.s'/d)^2 in K
    smooth_width: float = 0.5  # of the additive smooth part, in standard deviations
    smooth_penalty: float = 0.1  # of the fit of the smooth part alone, whose residuals are searched for turns
    interaction_width: float = 0.5  # of smooth interactions, in ranks
    rows_per_width: float = 2.5  # times d rows: the width of rough functions where no column turns
    first_penalty: float = 0.01  # the smallest penalty tried
    penalty_step: float = 2.0  # factor from one penalty to the next
    min_free: float = 0.5  # share of the degrees of freedom that must be left
    probes: int = 4  # columns of signs that measure traces
    min_turn_rows: int = 200  # rows that a search for turns needs
    first_frequency: int = 8  # in half waves over all ranks: slower ones belong to the smooth part
    min_turn_z: float = 4.2  # standard deviations from which power is taken for a turn, x and y added
    min_turn_ratio: float = 0.6  # to the strongest turn: columns with weaker ones are not treated as turning
    turn_width: float = 0.3  # of the kernel of a turning column, over its frequency
    turn_weight: float = 20.0  # of that kernel in K
    other_width_factor: float = 2.0  # on the widths of all other columns where one turns
    min_sd: float = 1e-150  # a smaller standard deviation is a constant's: its square would not be a float
    block_rows: int = 1024  # rows of one classical fit


FIT = FitSettings()


@dataclass(frozen=True)
class Smoother:
    """The matrix Q, the degrees of freedom that it leaves, and the rows' own share of the variance."""

    matrix: Matrix
    free: float
    own: float


def ranked(z: Matrix, discrete: tuple[int, ...]) -> Matrix:
    """Return every numeric column as mid-ranks scaled to (0, 1]; codes stay."""
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
    """Return ``FIT.probes`` fixed columns of +-1 that estimate traces of matrices."""
    words = np.arange(1, m + 1, dtype=np.uint64)[:, None] * np.uint64(0x9E3779B97F4A7C15)
    words ^= words >> np.uint64(29)
    words *= np.uint64(0xBF58476D1CE4E5B9)
    bits = (words >> np.arange(40, 40 + FIT.probes, dtype=np.uint64)) & np.uint64(1)
    return 1.0 - 2.0 * bits.astype(np.float64)


def smooth_kernel(z: Matrix, ranks: Matrix, discrete: tuple[int, ...]) -> Matrix:
    """Return the kernel matrix for smooth functions and interactions of the columns of z."""
    m, d = z.shape
    k = np.full((m, m), 0.5)
    if d > 1:
        single = ranks.astype(np.float32)
        k += 0.25 * Kernel(FIT.interaction_width, "gaussian", discrete).block(single, single)
    metric = [j for j in range(d) if j not in discrete]
    if metric:
        numbers = z[:, metric] - z[:, metric].mean(axis=0)
        sd = numbers.std(axis=0)
        numbers = np.where(sd > FIT.min_sd, numbers / np.maximum(sd, FIT.min_sd), 0.0)
        single = numbers.astype(np.float32)
        k += Kernel(FIT.smooth_width, "additive").block(single, single)
        products = numbers @ numbers.T / len(metric)
        k += products * (FIT.line_weight + FIT.square_weight * products)
    return k


def usual_width(m: int, d: int) -> float:
    """Return the default width of the rough kernel, in ranks, for m rows and d columns."""
    return min(FIT.rows_per_width * max(d, 1) / max(m, 1), 0.5)


def rough_kernel(ranks: Matrix, discrete: tuple[int, ...], tops: Tops | None = None) -> Matrix:
    """Return the kernel matrix for rough functions of single columns.

    ``tops`` are the frequencies of the turning columns, 0 for others.
    """
    m, d = ranks.shape
    k = np.zeros((m, m), dtype=np.float32)
    others = (
        usual_width(m, d)
        if tops is None or not tops.any()
        else min(FIT.other_width_factor * usual_width(m, d), 0.5)
    )
    for j in range(d):
        if j in discrete:
            k += ranks[:, j, None] == ranks[None, :, j]
            continue
        top = 0 if tops is None else int(tops[j])
        place = (ranks[:, j] / (FIT.turn_width / top if top else others)).astype(np.float32)
        one = np.subtract.outer(place, place)
        np.exp(np.multiply(np.square(one, out=one), np.float32(-0.5), out=one), out=one)
        if top:
            one *= np.float32(FIT.turn_weight)
        k += one
    k *= np.float32((0.25 if d > 1 else 0.5) / max(d, 1))
    return k.astype(np.float64)


def smooth_residuals(kernel: Matrix, targets: Matrix) -> Matrix:
    """Return the residuals of a ridge fit with the smooth part of the kernel alone."""
    a = np.array(kernel, order="F")
    a[np.diag_indices(len(a))] += FIT.smooth_penalty
    _, solved, info = lapack.dposv(a, targets, lower=1, overwrite_a=1)
    return np.zeros_like(targets) if info else np.asarray(FIT.smooth_penalty * solved)


def turning(z: Matrix, residuals_x: Matrix, residuals_y: Matrix, discrete: tuple[int, ...]) -> Tops:
    """Return the highest frequency at which x or y oscillates along each column of z; 0 for none.

    0 where none is found, where another column turns far more, and where the usual width is fine enough.

    Parameters
    ----------
    z, discrete
        The conditioning columns, and which of them hold codes.
    residuals_x, residuals_y
        m x r: residuals of the smooth part in r data sets on the same z. The answer is r x d.
    """
    (m, d), count = z.shape, residuals_x.shape[1]
    tops, strength = np.zeros((count, d), np.int64), np.zeros((count, d))
    for j in range(d):
        if j in discrete:
            continue
        order = np.argsort(z[:, j], kind="stable")
        waves = [fft.dct(part[order], axis=0, norm="ortho") for part in (residuals_x, residuals_y)]
        power = [np.square(part[FIT.first_frequency :]) for part in waves]
        power = [p / np.maximum(p.mean(axis=0), 1e-300) for p in power]
        low = FIT.first_frequency
        while 1.4 * low < m / 2:
            high = min(2 * low, m // 2)
            size = high - low
            excess = sum(
                p[low - FIT.first_frequency : high - FIT.first_frequency].sum(axis=0) - size for p in power
            )
            here = np.asarray(excess) / math.sqrt(2 * size)
            tops[here > FIT.min_turn_z, j] = high
            strength[:, j] = np.maximum(strength[:, j], np.where(here > FIT.min_turn_z, here, 0.0))
            low = high
    tops[strength < FIT.min_turn_ratio * strength.max(axis=1, keepdims=True, initial=0.0)] = 0
    tops[tops * usual_width(m, d) <= FIT.turn_width] = 0
    return tops


def factored(kernel: Matrix) -> tuple[Matrix | None, float, float]:
    """Return the Cholesky factor of K + a I, the penalty a, and the residual degrees of freedom.

    a is the least penalty that leaves enough degrees of freedom.

    The factor is None where LAPACK fails.
    """
    m, penalty = len(kernel), FIT.first_penalty
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
        if free >= FIT.min_free * m or penalty > m:
            return factor, penalty, free
        penalty *= FIT.penalty_step


def smoother(kernel: Matrix) -> Smoother:
    """Return the residual-making matrix Q of this kernel, with its exact traces."""
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


def block_kernel(x: Matrix, y: Matrix, z: Matrix, discrete: tuple[int, ...]) -> Matrix:
    """Return the kernel matrix for a block of rows, with widths fitted to how x and y oscillate.

    Columns of z in which x or y turns fast are found first; with several columns the fastest turn of any pair counts.
    """
    ranks = ranked(z, discrete)
    smooth = smooth_kernel(z, ranks, discrete)
    tops = None
    if len(x) >= FIT.min_turn_rows and len(discrete) < z.shape[1]:
        p, q = (1 if side.ndim == 1 else side.shape[1] for side in (x, y))
        residuals = smooth_residuals(smooth, np.column_stack([x, y]))
        of_x, of_y = np.repeat(residuals[:, :p], q, axis=1), np.tile(residuals[:, p:], (1, p))
        tops = turning(z, of_x, of_y, discrete).max(axis=0)
    return smooth + rough_kernel(ranks, discrete, tops)


def block_residuals(
    x: Matrix, y: Matrix, z: Matrix, discrete: tuple[int, ...], exact: bool = True
) -> tuple[Matrix, float, float]:
    """Return the residuals of x and y, degrees of freedom, and own weight, for a block of rows."""
    kernel, targets = block_kernel(x, y, z, discrete), np.column_stack([x, y])
    if exact:
        fit = smoother(kernel)
        return fit.matrix @ targets, fit.free, fit.own
    factor, penalty, free = factored(kernel)
    if factor is None:
        return np.zeros_like(targets), 0.0, 1.0
    return penalty * lapack.dpotrs(factor, targets, lower=1)[0], free, 1.0


def gcm_statistic(products: Vector) -> float:
    """Return the gcm statistic T of the residual products; 0 where they have no variance.

    >>> import numpy as np
    >>> round(gcm_statistic(np.array([1.0, 2.0, 3.0])), 6)
    4.242641
    """
    n = len(products)
    total = float(products.sum())
    variance = float(products @ products) - total * total / max(n, 1)
    return total / math.sqrt(variance) if variance > 1e-300 else 0.0


def gcm_pvalue(statistic: float) -> float:
    """Return the two-sided p-value of a gcm statistic from the normal law."""
    return float(erfc(abs(statistic) / math.sqrt(2.0)))


def matrix(side: Vector | Matrix) -> Matrix:
    """Return one column, or several, as a matrix."""
    return side[:, None] if side.ndim == 1 else side


def classical_gcm(
    x: Vector | Matrix, y: Vector | Matrix, z: Matrix, discrete: tuple[int, ...] = ()
) -> tuple[float, float]:
    """Return the classical gcm statistic T and its p-value, by rough fits on blocks of at most ``FIT.block_rows`` rows.

    Of several columns T is the largest |T| over pairs of a column of x and one of y, and its p-value Sidak's bound.

    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(300, 1)); x = z + rng.normal(size=(300, 2)); y = x[:, 1] + rng.normal(size=300)
    >>> classical_gcm(x[:, 1], y, z)[1] < 1e-6, classical_gcm(x, y, z)[1] < 1e-6
    (True, True)
    """
    x, y = matrix(x), matrix(y)
    blocks, p = max(1, -(-len(x) // FIT.block_rows)), x.shape[1]
    pairs = p * y.shape[1]
    total, variance = np.zeros(pairs), np.zeros(pairs)
    for k in range(blocks):
        part_x, part_y, part_z = x[k::blocks], y[k::blocks], z[k::blocks]
        if len(part_x) < 3:
            continue
        part_x, part_y = part_x - part_x.mean(axis=0), part_y - part_y.mean(axis=0)
        residuals, _, own = block_residuals(part_x, part_y, part_z, discrete)
        of_x, of_y = residuals[:, :p], residuals[:, p:]
        total += (of_x.T @ of_y).ravel()
        variance += (np.square(of_x).T @ np.square(of_y)).ravel() / max(own, 1e-300)
    each = np.divide(total, np.sqrt(variance), out=np.zeros(pairs), where=variance > 1e-300)
    if pairs == 1:
        return float(each[0]), gcm_pvalue(float(each[0]))
    statistic = float(np.abs(each).max())
    tail = gcm_pvalue(statistic)
    return statistic, -math.expm1(pairs * math.log1p(-tail)) if tail < 1 else 1.0
