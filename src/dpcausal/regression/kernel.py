"""Kernels of norm at most one: k(z, z) <= 1 for every z, which is all that the sensitivity proofs use.

**Formula**

    gaussian   k(a, b) = exp(-sum_j (a_j - b_j)^2/(2 h^2)),  times [a_j = b_j] for columns without a metric
    additive   the mean over columns of the one-dimensional kernels: functions f_1(z_1) + ... + f_d(z_d)
    mixed      half additive, half gaussian of width ``INTERACTION_WIDTH``: additive functions and smooth interactions

``intercept`` averages k with the constant 1, so that a level shift is fitted too. Columns are expected on a public
or a rank scale, [0, 1]; ``bandwidth`` h is in those units. ``discrete`` columns hold codes and match or do not.

**Cost** of a p x q block: p q d exponentials (additive) or one matrix product and p q exponentials (gaussian).
**Edge cases**: no column at all gives the constant kernel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError

Float = TypeVar("Float", np.float32, np.float64)
Kind = Literal["gaussian", "additive", "mixed"]
KINDS = ("gaussian", "additive", "mixed")
INTERACTION_WIDTH = 0.5  # of the gaussian half of the mixed kernel, as a share of the range
MIN_BANDWIDTH = 1e-3  # of the range: below it float64 no longer separates rows as the proofs need
MIN_PRODUCT_WIDTH = 0.02  # below it differences are taken before squares


@dataclass(frozen=True)
class Kernel:
    """A kernel on rows of d columns.

    Parameters
    ----------
    bandwidth
        h, in the units of the columns.
    kind
        "gaussian", "additive" or "mixed".
    discrete
        Positions of the columns that hold codes.
    intercept
        Whether k is averaged with the constant 1.

    Raises
    ------
    InputError
        If the bandwidth or the kind can't be used.

    >>> Kernel(0.5).block(np.array([[0.0], [0.5]]), np.array([[0.0]])).round(4).tolist()
    [[1.0], [0.6065]]
    """

    bandwidth: float
    kind: Kind = "gaussian"
    discrete: tuple[int, ...] = ()
    intercept: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.bandwidth) and self.bandwidth >= MIN_BANDWIDTH):
            raise InputError(
                f"bandwidth must be a finite number of at least {MIN_BANDWIDTH:g}, not {self.bandwidth!r}"
            )
        if self.kind not in KINDS:
            raise InputError(f"kernel must be one of {', '.join(KINDS)}, not {self.kind!r}")

    def block(self, a: NDArray[Float], b: NDArray[Float]) -> NDArray[Float]:
        """Return the kernel matrix of the rows of ``a`` with the rows of ``b``."""
        d = a.shape[1]
        if d == 0:
            return np.ones((len(a), len(b)), dtype=a.dtype)
        if self.kind == "gaussian" or d == 1:
            k = self._product(a, b, self.bandwidth)
        else:
            k = self._additive(a, b)
            if self.kind == "mixed":
                k += self._product(a, b, INTERACTION_WIDTH)
                k *= 0.5
        if self.intercept:
            k += 1.0
            k *= 0.5
        return k

    def _product(self, a: NDArray[Any], b: NDArray[Any], width: float) -> NDArray[Any]:
        """Return the kernel matrix of the product (Gaussian) kernel with bandwidth ``width``."""
        metric = [j for j in range(a.shape[1]) if j not in self.discrete]
        p, q = a[:, metric] / width, b[:, metric] / width
        k: NDArray[Any]
        if (
            width < MIN_PRODUCT_WIDTH
        ):  # in one product, as below, rounding of |p|^2 would exceed the difference
            k = np.zeros((len(a), len(b)), dtype=a.dtype)
            for left, right in zip(p.T, q.T, strict=True):
                k -= np.square(np.subtract.outer(left, right))
            k *= 0.5
        else:
            first = np.column_stack([p, -0.5 * np.square(p).sum(axis=1), np.ones(len(p), p.dtype)])
            second = np.column_stack([q, np.ones(len(q), q.dtype), -0.5 * np.square(q).sum(axis=1)])
            k = first @ second.T  # p.q - |p|^2/2 - |q|^2/2 in one product
            np.minimum(k, 0.0, out=k)  # rounding must not lift the norm above one
        np.exp(k, out=k)
        for j in self.discrete:
            k *= a[:, j, None] == b[None, :, j]
        return k

    def _additive(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        """Return the kernel matrix of the additive kernel."""
        k = np.zeros((len(a), len(b)), dtype=a.dtype)
        one = np.empty_like(k)
        for j in range(a.shape[1]):
            if j in self.discrete:
                k += a[:, j, None] == b[None, :, j]
                continue
            np.subtract(a[:, j, None] / self.bandwidth, b[None, :, j] / self.bandwidth, out=one)
            np.multiply(one, one, out=one)
            one *= -0.5
            np.exp(one, out=one)
            k += one
        k /= a.shape[1]
        return k
