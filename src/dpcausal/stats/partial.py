"""Partial association of x and y given s, from the tables of (x, y), (x, s) and (y, s) alone.

**Formula.** With p_s(x), q_s(y) the conditional proportions and N_s the sizes of the blocks of s,

    M = T_xy - sum over s of N_s p_s q_s'

is the sum over blocks of observed minus expected, and needs no table of (x, y, s): tests of order m need tables of
m + 1 columns, not m + 2. All tests of order 1 come from the pairs. The form M' V^-1 M over the (r-1)(c-1) free entries
is compared with chi-squared. It is the generalised Cochran-Mantel-Haenszel statistic with equal weights, and noise:
it detects association that does not cancel between blocks.

**Variance** under independence given s, tables released with noise: rows drawn at random, N_s (diag p - pp') x
(diag q - qq') summed; noise of T_xy; noise of T_xs seen through q and of T_ys through p (first order); of N_s through
both; and the product of the noises of the two margins (second order, never above what the block allows).

**Guarantee.** Post-processing of released tables: costs nothing.

**Null law**: chi-squared, approximately. **Where it fails**: blocks smaller than their noise have proportions made of
noise; what they add is bounded by their size and is part of V. The level that results is measured in
``tests/statistical/test_partial.py``. An effect that changes sign between blocks is not detected.

**Information.** ``free`` counts the rows in which x (or y, whichever has fewer) is not already decided by s: no
dependence can move more rows than that. Where it is below a few standard errors "independent" would mean nothing.

**Cost** O(r c k + c k^2 + ((r-1)(c-1))^3). Products and the solution in the kernel are loops written out: tables are
small, and numba takes ten seconds to compile numpy's ``@`` and ``linalg.solve`` where it has not been run before.
**Edge cases**: one level of x or y gives p = 1.

References: Birch 1965; Landis, Heyman & Koch 1978.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from dpcausal.core.compiled import jit

Floats = NDArray[np.float64]
ADDED_VARIANCE = 1e-3  # with no noise and an empty level there would be nothing to divide by


@jit(error_model="numpy")
def conditional(table: Any, size: Any) -> Any:
    """Return p(level | block) of shape (levels, k), with negative cells as 0; add half of each total to ``size``."""
    levels, k = table.shape
    p = np.empty((levels, k))
    for s in range(k):
        total, positive = 0.0, 0.0
        for a in range(levels):
            total += table[a, s]
            positive += max(table[a, s], 0.0)
        size[s] += 0.5 * max(total, 0.0)
        for a in range(levels):
            p[a, s] = max(table[a, s], 0.0) / positive if positive > 0.0 else 1.0 / levels
    return p


@jit(error_model="numpy")
def centred(p: Any) -> Any:
    """Return a matrix with each column centred to mean 0."""
    levels, k = p.shape
    out = np.empty((levels, k))
    for s in range(k):
        mean = 0.0
        for a in range(levels):
            mean += p[a, s] / levels
        for a in range(levels):
            out[a, s] = p[a, s] - mean
    return out


@jit(error_model="numpy")
def sandwich(a: Any, g: Any) -> Any:
    """Return the matrix product a g a'."""
    rows, k = a.shape
    out = np.zeros((rows, rows))
    line = np.empty(k)
    for i in range(rows):
        line[:] = 0.0
        for s in range(k):
            for t in range(k):
                line[t] += a[i, s] * g[s, t]
        for j in range(rows):
            for t in range(k):
                out[i, j] += line[t] * a[j, t]
    return out


@jit(error_model="numpy")
def covariance(size: Any, p: Any, q: Any, pc: Any, qc: Any, xy: Any, gx: Any, gy: Any, gs: Any) -> Any:
    """Return the covariance of the first (r-1)(c-1) entries of an r x c table minus what is expected given k strata.

    ``size`` are the rows of every stratum; ``p``, ``q`` the shares of the levels in every stratum (r x k, c x k), and
    ``pc``, ``qc`` the same about their means; ``xy`` the variance of the noise in the table; ``gx``, ``gy``,
    ``gs`` the covariance over strata (k x k) of the noise in its two margins and in the sizes.
    """
    r, k = p.shape
    c = q.shape[0]
    d = (r - 1) * (c - 1)
    for_x = sandwich(qc, gx)
    for_y = sandwich(pc, gy)
    both = 0.0  # product of the noises of the two margins
    lift = np.empty((d, k))
    for s in range(k):
        both += min(gx[s, s] * gy[s, s] / max(size[s], 1.0) ** 2, gx[s, s], gy[s, s])
        e = 0
        for i in range(r - 1):
            for j in range(c - 1):
                lift[e, s] = pc[i, s] * qc[j, s]
                e += 1
    v = sandwich(lift, gs)
    e = 0
    for i in range(r - 1):
        for j in range(c - 1):
            f = 0
            for a in range(r - 1):
                for b in range(c - 1):
                    px = (1.0 if i == a else 0.0) - 1.0 / r
                    py = (1.0 if j == b else 0.0) - 1.0 / c
                    v[e, f] += (xy + both) * px * py + px * for_x[j, b] + for_y[i, a] * py
                    for s in range(k):
                        v[e, f] += (
                            size[s]
                            * ((p[i, s] if i == a else 0.0) - p[i, s] * p[a, s])
                            * ((q[j, s] if j == b else 0.0) - q[j, s] * q[b, s])
                        )
                    f += 1
            v[e, e] += ADDED_VARIANCE
            e += 1
    return v


@jit(error_model="numpy")
def quadratic(v: Any, value: Any) -> Any:
    """Return the quadratic form value' v^-1 value; overwrites v."""
    d = value.shape[0]
    right = value.copy()
    for e in range(d):
        pivot = e
        for i in range(e + 1, d):
            if abs(v[i, e]) > abs(v[pivot, e]):
                pivot = i
        if pivot != e:
            for j in range(e, d):
                v[e, j], v[pivot, j] = v[pivot, j], v[e, j]
            right[e], right[pivot] = right[pivot], right[e]
        for i in range(e + 1, d):
            factor = v[i, e] / v[e, e]
            for j in range(e + 1, d):
                v[i, j] -= factor * v[e, j]
            right[i] -= factor * right[e]
    form = 0.0
    for e in range(d - 1, -1, -1):
        for j in range(e + 1, d):
            right[e] -= v[e, j] * right[j]
        right[e] /= v[e, e]
        form += value[e] * right[e]
    return form


@jit(error_model="numpy")
def centred_twice(txy: Any, p: Any, q: Any, size: Any) -> Any:
    """Return the residual table of (x, y) after its margins given s, centred by rows and columns."""
    r, c = txy.shape
    out = np.empty((r, c))
    for i in range(r):
        for j in range(c):
            out[i, j] = txy[i, j]
            for s in range(size.shape[0]):
                out[i, j] -= p[i, s] * size[s] * q[j, s]
    for i in range(r):
        mean = 0.0
        for j in range(c):
            mean += out[i, j] / c
        for j in range(c):
            out[i, j] -= mean
    for j in range(c):
        mean = 0.0
        for i in range(r):
            mean += out[i, j] / r
        for i in range(r):
            out[i, j] -= mean
    return out


@jit(error_model="numpy")
def largest(p: Any, s: Any) -> Any:
    """Return the largest probability in block s."""
    found = p[0, s]
    for a in range(1, p.shape[0]):
        found = max(found, p[a, s])
    return found


@jit(error_model="numpy")
def partial_form(txy: Any, txs: Any, tys: Any, xy: Any, gx: Any, gy: Any, gs: Any) -> Any:
    """Return the quadratic form of the residual table, the rows free to differ, and a cell's standard error."""
    r, c = txy.shape
    k = txs.shape[1]
    size = np.zeros(k)
    p = conditional(txs, size)
    q = conditional(tys, size)
    residual = centred_twice(txy, p, q, size)
    v = covariance(size, p, q, centred(p), centred(q), xy, gx, gy, gs)
    d = (r - 1) * (c - 1)
    value = np.empty(d)
    for e in range(d):
        value[e] = residual[e // (c - 1), e % (c - 1)]
    error = 0.0
    for e in range(d):
        error += v[e, e] / d
    form = quadratic(v, value)
    free_x, free_y = 0.0, 0.0
    for s in range(k):
        free_x += size[s] * (1.0 - largest(p, s))
        free_y += size[s] * (1.0 - largest(q, s))
    return form, min(free_x, free_y), np.sqrt(error)


@dataclass(frozen=True)
class PartialTest:
    """A test of partial association."""

    pvalue: float
    form: float  # the statistic
    dof: int  # its degrees of freedom
    free: float  # rows in which x (or y) is not already decided by s
    error: float  # standard error of a cell

    def informative(self, least: float) -> bool:
        """Return whether a dependence of all free rows would be at least ``least`` standard errors."""
        return self.free > least * self.error


def partial_test(
    xy: Floats, xs: Floats, ys: Floats, noise_xy: float, noise_xs: Floats, noise_ys: Floats, noise_s: Floats
) -> PartialTest:
    """Test independence of x and y within the blocks of s, from measured tables.

    Parameters
    ----------
    xy, xs, ys
        Tables of shape (r, c), (r, k) and (c, k).
    noise_xy
        Variance of the noise in every direction of the component {x, y}.
    noise_xs, noise_ys
        (k, k) covariance over blocks of a contrast of x (of y), from ``block_noise`` of the components that hold it.
    noise_s
        The same for the components within s.

    >>> table = np.array([[[300.0, 200], [200, 300]], [[30, 70], [20, 180]]])  # (s, x, y)
    >>> none = np.zeros((2, 2))
    >>> xs, ys = table.sum(axis=2).T.copy(), table.sum(axis=1).T.copy()
    >>> found = partial_test(table.sum(axis=0), xs, ys, 0.0, none, none, none)
    >>> found.pvalue < 1e-6, found.dof
    (True, 1)
    """
    dof = (xy.shape[0] - 1) * (xy.shape[1] - 1)
    if dof == 0:
        return PartialTest(1.0, 0.0, 0, 0.0, 1.0)
    form, free, error = partial_form(xy, xs, ys, noise_xy, noise_xs, noise_ys, noise_s)
    return PartialTest(float(chdtrc(dof, max(form, 0.0))), form, dof, free, error)


@lru_cache(maxsize=4096)
def block_noise(sizes: tuple[int, ...], variances: tuple[float, ...]) -> Floats:
    """Return the noise covariance over the cells of s; callers must not change it.

    ``variances`` has one entry for every subset of the columns, in the order of ``subsets``: that of the component of
    the subset (with x, when the noise of a contrast of x is asked for), spread over the columns that are not in it.

    >>> block_noise((2,), (0.0, 4.0))
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    cells = int(np.prod(sizes, dtype=np.int64)) if sizes else 1
    found = np.zeros((cells, cells))
    for inner, variance in zip(subsets(len(sizes)), variances, strict=True):
        if variance > 0.0:
            part = np.ones((1, 1))
            for j, r in enumerate(sizes):
                factor = _factors(r)[j in inner]
                rows = (
                    len(part) * r
                )  # the Kronecker product; numpy's own takes ten times as long for small matrices
                part = (part[:, None, :, None] * factor[None, :, None, :]).reshape(rows, rows)
            found += variance * part
    return found


@lru_cache(maxsize=256)
def _factors(size: int) -> tuple[Floats, Floats]:
    """Return the factors by which a column of this size enters ``block_noise``: outside and inside a component."""
    even = np.full((size, size), 1.0 / size)
    return even / size, np.eye(size) - even


def subsets(number: int) -> Sequence[tuple[int, ...]]:
    """Return all subsets of the first ``number`` integers, the smallest first."""
    return [inner for size in range(number + 1) for inner in combinations(range(number), size)]
