"""Kernel ridge regression through Fourier features: any number of rows, public frequencies, ||phi(z)|| <= 1.

    phi(z) = sqrt(1/m) (cos w_1.z, sin w_1.z, ..., cos w_m.z, sin w_m.z),   w ~ N(0, I/h^2)

The frequencies are not drawn: they are the points of an additive recurrence (fractional parts of multiples of
the powers of a root of x^(d+1) = x + 1) sent through the normal quantile, fixed for ever and so public, and spread more
evenly than random ones. phi has norm one, so every bound proved for kernels of norm at most one holds as it stands.
Additive kernels take m/d frequencies for each column; codes take one coordinate for each declared level.

**Cost** n p^2 for p features, in blocks of rows: O(p^2 + block p) memory.
**References**: [1] Rahimi & Recht 2007; [2] Avron et al. 2016 (quasi-Monte Carlo features).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import ndtri

from dpcausal.core.errors import InputError
from dpcausal.regression.kernel import Kernel

Matrix = NDArray[np.float64]
BLOCK = 8192  # rows at a time
SHRINK = 1.0 - 2.0**-40  # so that rounding can't lift the norm above one


def frequencies(count: int, d: int) -> Matrix:
    """``count`` public points of a standard normal law in ``d`` dimensions.

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
        self._kernel, self._d, self._levels = kernel, d, tuple(levels)
        metric = [j for j in range(d) if j not in kernel.discrete]
        if kernel.kind == "gaussian" and metric:
            self._groups = [(metric, frequencies(max(count // 2, 1), len(metric)) / kernel.bandwidth)]
        else:
            each = max(count // (2 * max(d, 1)), 1)
            self._groups = [([j], frequencies(each, 1) / kernel.bandwidth) for j in metric]
        self._pieces = max(len(self._groups) + len(kernel.discrete), 1)

    @staticmethod
    def stands_for(kernel: Kernel, d: int) -> bool:
        """Whether this kernel on d columns has such features."""
        return kernel.kind == "additive" or (kernel.kind == "gaussian" and not (d > 1 and kernel.discrete))

    def __call__(self, z: Matrix) -> Matrix:
        """phi of every row."""
        scale = SHRINK / self._pieces
        pieces = []
        for columns, waves in self._groups:
            angle = z[:, columns] @ waves.T
            root = math.sqrt(scale / len(waves))
            pieces += [np.cos(angle) * root, np.sin(angle) * root]
        for j in self._kernel.discrete:
            pieces.append((z[:, j, None] == np.arange(self._levels[j])[None, :]) * math.sqrt(scale))
        phi = np.hstack(pieces) if pieces else np.full((len(z), 1), math.sqrt(SHRINK))
        if self._kernel.intercept:
            phi = np.hstack([phi, np.full((len(z), 1), math.sqrt(SHRINK))]) * math.sqrt(0.5)
        return np.asarray(phi, dtype=np.float64)


def feature_residuals(z: Matrix, targets: Matrix, features: FourierFeatures, penalty: float) -> Matrix:
    """As ``ridge.ridge_residuals`` for the kernel phi(a).phi(b): u - phi (phi'phi + a I)^-1 phi'u."""
    targets = np.asarray(targets, dtype=np.float64)
    size = features(z[:1]).shape[1] if len(z) else 1
    gram, moments = np.zeros((size, size), order="F"), np.zeros((size, targets.shape[1]))
    starts = range(0, len(z), BLOCK)
    for start in starts:
        phi = features(z[start : start + BLOCK])
        gram += phi.T @ phi
        moments += phi.T @ targets[start : start + BLOCK]
    gram[np.diag_indices(size)] += penalty
    weights = cho_solve(cho_factor(gram, lower=True, overwrite_a=True), moments)
    left = targets.copy()
    for start in starts:
        left[start : start + BLOCK] -= features(z[start : start + BLOCK]) @ weights
    return left
