"""Kernel ridge regression through Fourier features: any number of rows, public frequencies, ||phi(z)|| <= 1.

**Formula**

    phi(z) = sqrt(1/m) (cos w_1.z, sin w_1.z, ..., cos w_m.z, sin w_m.z),   w ~ N(0, I/h^2)

The frequencies are not drawn: they are the points of an additive recurrence (fractional parts of multiples of
the powers of a root of x^(d+1) = x + 1) sent through the normal quantile, fixed for ever and so public, and spread more
evenly than random ones. Additive kernels take m/d frequencies for each column; codes take one coordinate for each
declared level.

cos and sin come from one compiled loop, twenty times faster than through numpy: t = sum_k z[i, k] turns[k, j] is taken
to its nearest integer, q = t - rint(t) in [-1/2, 1/2]; sin(pi q) and cos(pi q) are Taylor polynomials of degree 15 and
16, and the angle is doubled.

**Guarantee** (``rounding.proof.md``). What the polynomials leave out is at most (pi/2)^17/17! < 7e-12 and
(pi/2)^18/18! < 6e-13, so cos^2 + sin^2 as computed is within 4e-11 of one: ``NORM`` below one as a factor keeps every
norm at most one, so every bound proved for kernels of norm at most one holds as it stands. The numbers of a row depend
on that row alone, bit for bit.

**Cost** n p^2 for p features, in blocks of rows: O(p^2 + block p) memory; about 1.6 ns for each number of phi.

References: [1] Rahimi & Recht 2007; [2] Avron et al. 2016 (quasi-Monte Carlo features).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from math import factorial, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import ndtri
from threadpoolctl import threadpool_info, threadpool_limits

from dpcausal.core.compiled import jit
from dpcausal.core.errors import InputError
from dpcausal.regression.kernel import Kernel

STRICT = {"error_model": "numpy", "fastmath": {"contract"}}
ANY_ORDER = {"error_model": "numpy", "fastmath": {"contract", "reassoc"}}  # sums in any order

Matrix = NDArray[np.float64]
NORM = 1.0 - 2.0**-30  # factor that keeps every norm at most one, whatever the polynomials leave out
BLOCK_ROWS = 1024  # rows at a time
MAX_SERIAL_BLOCKS = 8  # blocks that one thread does alone

# Taylor coefficients of sin(pi q) and cos(pi q)
S1, S3, S5, S7, S9, S11, S13, S15 = ((-1) ** k * pi ** (2 * k + 1) / factorial(2 * k + 1) for k in range(8))
C2, C4, C6, C8, C10, C12, C14, C16 = ((-1) ** k * pi ** (2 * k) / factorial(2 * k) for k in range(1, 9))


@jit(**STRICT)
def waves_into(z: Any, turns: Any, root: float, out: Any, at: int) -> None:
    """Write cosine and sine features of rows ``z`` into 2 m columns of ``out``, from column ``at``."""
    n, d = z.shape
    m = turns.shape[1]
    t = np.empty(m)
    for i in range(n):
        for j in range(m):
            t[j] = 0.0
        for k in range(d):
            value = z[i, k]
            for j in range(m):
                t[j] += value * turns[k, j]
        for j in range(m):
            q = t[j] - np.rint(t[j])
            y = q * q
            s = y * (S9 + y * (S11 + y * (S13 + y * S15)))
            s = q * (S1 + y * (S3 + y * (S5 + y * (S7 + s))))
            c = y * (C10 + y * (C12 + y * (C14 + y * C16)))
            c = 1.0 + y * (C2 + y * (C4 + y * (C6 + y * (C8 + c))))
            out[i, at + j] = (c * c - s * s) * root
            out[i, at + m + j] = 2.0 * s * c * root


@jit(**ANY_ORDER)
def subtract_fit(phi: Any, weights: Any, left: Any) -> None:
    """Subtract the fitted values phi weights' from ``left``, in place."""
    for i in range(left.shape[0]):
        for k in range(weights.shape[0]):
            total = 0.0
            for j in range(weights.shape[1]):
                total += phi[i, j] * weights[k, j]
            left[i, k] -= total


def frequencies(count: int, d: int) -> Matrix:
    """Return ``count`` public points of a standard normal law in ``d`` dimensions.

    >>> float(frequencies(1000, 1).std().round(2))
    1.0
    """
    root = 2.0
    for _ in range(64):  # the root of x^(d+1) = x + 1
        root = (1.0 + root) ** (1.0 / (d + 1))
    steps = root ** -np.arange(1.0, d + 1)
    points = (0.5 + np.arange(1, count + 1)[:, None] * steps[None, :]) % 1.0
    return np.asarray(ndtri(np.clip(points, 2.0**-40, 1 - 2.0**-40)), dtype=np.float64)


class FourierFeatures:
    """The feature map of a kernel with about ``count`` features; ``levels[j]`` is the size of discrete column j.

    >>> phi = FourierFeatures(Kernel(0.3), 1, 400)(np.array([[0.2], [0.5]]))
    >>> bool(np.abs(phi @ phi.T - [[1, 0.6065], [0.6065, 1]]).max() < 0.01)
    True
    """

    def __init__(self, kernel: Kernel, d: int, count: int, levels: Sequence[int] = ()) -> None:
        if kernel.kind == "mixed":
            raise InputError("Fourier features are for the gaussian and the additive kernel")
        if kernel.kind == "gaussian" and d > 1 and kernel.discrete:
            raise InputError("Fourier features of a gaussian kernel take numeric columns only")
        self._kernel, self._levels = kernel, tuple(levels)
        metric = [j for j in range(d) if j not in kernel.discrete]
        if kernel.kind == "gaussian" and metric:
            groups = [(metric, frequencies(max(count // 2, 1), len(metric)))]
        else:
            per_column = max(count // (2 * max(d, 1)), 1)
            groups = [([j], frequencies(per_column, 1)) for j in metric]
        turn = 2 * math.pi * kernel.bandwidth
        self._groups = [(columns, np.ascontiguousarray(waves.T / turn)) for columns, waves in groups]
        self._pieces = max(len(groups) + len(kernel.discrete), 1)
        self.size = sum(2 * len(waves) for _, waves in groups) + sum(levels[j] for j in kernel.discrete)
        self.size = max(self.size, 1) + kernel.intercept

    @staticmethod
    def stands_for(kernel: Kernel, d: int) -> bool:
        """Return whether Fourier features exist for this kernel on d columns."""
        return kernel.kind == "additive" or (kernel.kind == "gaussian" and not (d > 1 and kernel.discrete))

    def __call__(self, z: Matrix, out: Matrix | None = None) -> Matrix:
        """Return phi of every row: n x ``size``, in the first columns of ``out`` if given."""
        phi = np.empty((len(z), self.size)) if out is None else out
        scale = NORM / self._pieces * (0.5 if self._kernel.intercept else 1.0)
        at = 0
        for columns, turns in self._groups:
            m = turns.shape[1]
            waves_into(np.ascontiguousarray(z[:, columns]), turns, math.sqrt(scale / m), phi, at)
            at += 2 * m
        for j in self._kernel.discrete:
            there = z[:, j, None] == np.arange(self._levels[j])[None, :]
            phi[:, at : at + self._levels[j]] = there * math.sqrt(scale)
            at += self._levels[j]
        if at < self.size:  # the constant kernel, the intercept, or both
            phi[:, at : self.size] = math.sqrt(scale * self._pieces)
        return phi


def feature_residuals(z: Matrix, targets: Matrix, features: FourierFeatures, penalty: float) -> Matrix:
    """Return the residuals of ridge regression of ``targets`` on features of ``z``.

    Blocks of rows are shared out to as many threads as BLAS would take, each with a BLAS of one: products of this
    size are too small to be split, and on a busy machine the threads of BLAS mostly wait for each other.
    """
    targets = np.asarray(targets, dtype=np.float64)
    size, width = features.size, features.size + targets.shape[1]
    blocks = [slice(start, start + BLOCK_ROWS) for start in range(0, len(z), BLOCK_ROWS)]
    residuals = targets.copy()

    def products(share: Sequence[slice]) -> Matrix:
        """Return the products of phi and targets; numpy knows that they are symmetric and lets other threads run."""
        gram = np.zeros((width, width))
        for rows in share:
            both = np.empty((len(z[rows]), width))
            features(z[rows], both)
            both[:, size:] = targets[rows]
            gram += both.T @ both
        return gram

    def subtract_fits(share: Sequence[slice]) -> None:
        for rows in share:
            subtract_fit(features(z[rows]), weights, residuals[rows])

    workers = _threads() if len(blocks) > MAX_SERIAL_BLOCKS else 1
    shares = [blocks[k::workers] for k in range(workers)]
    with ThreadPoolExecutor(workers) as pool:
        with threadpool_limits(1, user_api="blas") if workers > 1 else nullcontext():
            gram = sum(pool.map(products, shares), np.zeros((width, width)))
        inner = gram[:size, :size]
        inner[np.diag_indices(size)] += penalty
        solved = linalg.cho_solve(linalg.cho_factor(inner, lower=True), gram[size:, :size].T)
        weights = np.ascontiguousarray(solved.T)
        list(pool.map(subtract_fits, shares))
    return residuals


def _threads() -> int:
    """Return the number of threads that BLAS may use."""
    return max(
        (int(pool["num_threads"]) for pool in threadpool_info() if pool["user_api"] == "blas"), default=1
    )
