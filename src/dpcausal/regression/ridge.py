"""Kernel ridge regression of several targets on the same columns, one factorisation for all of them.

**Formula**

    minimise (lambda/2) ||w||^2 + (1/n) sum_i (u_i - w.phi(z_i))^2

The residuals are r = a (K + a I)^-1 u with a = n lambda/2 (the ``alpha`` of scikit-learn's KernelRidge). ``penalty`` is
a. For lambda of at least 1e-6 and a kernel of norm at most one nothing can fail: the eigenvalues of K + a I lie between
a and n + a, and rounding moves them by far less than a.

The Cholesky factor A = L L' is computed in square tiles A_ij, i >= j only (right-looking): factor A_kk, solve
L_ik = A_ik L_kk'^-1, subtract L_ik L_jk' from A_ij. Every step is one BLAS-3 call on tiles of at most ``TILE_ROWS``
rows, so the calls stay far below the size at which two-threaded OpenBLAS fails (n = 20,000), and 20,000 rows take
1.7 GB instead of 3.2.

**Cost** n^3/3 multiplications, n^2/2 numbers; exact up to ``MAX_EXACT_ROWS`` rows. Above that use Fourier features
(``regression/features.py``).

References: Kusner et al. 2016, Theorem 5; Kalemaj et al. 2024, Theorem 1.2 (the objective).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from dpcausal.core.arguments import checked_strength
from dpcausal.core.errors import InputError
from dpcausal.regression.kernel import Kernel

Matrix = NDArray[np.float64]
TILE_ROWS = 2048  # of a tile of the Cholesky factor
MAX_EXACT_ROWS = 20_000  # above that use Fourier features


class TiledCholesky:
    """The factor of the n x n matrix whose block (rows i0:i1, columns j0:j1) is ``block(i0, i1, j0, j1)``.

    Only blocks on and below the diagonal are asked for, each once; they may be overwritten.

    >>> a = np.array([[4.0, 2.0], [2.0, 3.0]])
    >>> TiledCholesky(2, lambda i, k, j, m: a[i:k, j:m].copy()).solve(np.array([[8.0], [7.0]])).round(9).tolist()
    [[1.25], [1.5]]
    """

    def __init__(self, n: int, block: Callable[[int, int, int, int], Matrix], tile: int = TILE_ROWS) -> None:
        self.cuts = [*range(0, n, tile), n]
        spans = list(pairwise(self.cuts))
        self._tiles: list[list[Matrix]] = [
            [np.asfortranarray(block(i0, i1, j0, j1)) for j0, j1 in spans[: i + 1]]
            for i, (i0, i1) in enumerate(spans)
        ]
        self._factor()

    def _factor(self) -> None:
        """Factor the matrix in place, tile by tile; fail if it is not positive definite."""
        tiles = self._tiles
        for k in range(len(tiles)):
            tiles[k][k], info = lapack.dpotrf(tiles[k][k], lower=1, clean=1, overwrite_a=1)
            if info:
                raise np.linalg.LinAlgError("the matrix is not positive definite")
            for i in range(k + 1, len(tiles)):
                tiles[i][k] = blas.dtrsm(
                    1.0, tiles[k][k], tiles[i][k], side=1, lower=1, trans_a=1, overwrite_b=1
                )
            for i in range(k + 1, len(tiles)):
                for j in range(k + 1, i):
                    tiles[i][j] = blas.dgemm(
                        -1.0, tiles[i][k], tiles[j][k], 1.0, tiles[i][j], trans_b=1, overwrite_c=1
                    )
                tiles[i][i] = blas.dsyrk(-1.0, tiles[i][k], 1.0, tiles[i][i], lower=1, overwrite_c=1)

    def solve(self, right: Matrix) -> Matrix:
        """Return A^-1 right, for any number of right-hand sides."""
        spans = list(pairwise(self.cuts))
        parts = [np.asfortranarray(right[i0:i1], dtype=np.float64) for i0, i1 in spans]
        for i in range(len(spans)):
            for j in range(i):
                parts[i] = parts[i] - self._tiles[i][j] @ parts[j]
            parts[i] = blas.dtrsm(1.0, self._tiles[i][i], parts[i], lower=1)
        for i in reversed(range(len(spans))):
            for j in range(i + 1, len(spans)):
                parts[i] = parts[i] - self._tiles[j][i].T @ parts[j]
            parts[i] = blas.dtrsm(1.0, self._tiles[i][i], parts[i], lower=1, trans_a=1)
        return np.concatenate(parts, axis=0) if parts else np.zeros_like(right, dtype=np.float64)


def penalty_of(strength: float, n: int) -> float:
    """Return the ridge penalty a = n lambda/2 for lambda = ``strength``.

    >>> penalty_of(10.0, 1000)
    5000.0
    """
    return max(n, 1) * checked_strength(strength) / 2


def ridge_residuals(z: Matrix, targets: Matrix, kernel: Kernel, penalty: float) -> Matrix:
    """Return the residuals of every column of ``targets`` (n x t) after its ridge fit on the rows of ``z`` (n x d).

    >>> z = np.linspace(0, 1, 200)[:, None]
    >>> left = ridge_residuals(z, np.sin(6 * z), Kernel(0.2), penalty_of(1e-5, 200))
    >>> bool(np.abs(left).max() < 0.01)
    True
    """
    if len(z) > MAX_EXACT_ROWS:
        raise InputError(
            f"exact kernel ridge takes up to {MAX_EXACT_ROWS:,} rows, not {len(z):,}: use Fourier features"
        )

    def block(i0: int, i1: int, j0: int, j1: int) -> Matrix:
        k = kernel.block(z[j0:j1], z[i0:i1]).T  # in the order of columns, as LAPACK wants it
        if i0 == j0:
            k[np.diag_indices(i1 - i0)] += penalty
        return k

    targets = np.asarray(targets, dtype=np.float64)
    return penalty * TiledCholesky(len(z), block).solve(targets)
