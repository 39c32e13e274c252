"""Kernel ridge regression of several targets on the same columns, one factorisation for all of them.

    minimise (lambda/2) ||w||^2 + (1/n) sum_i (u_i - w.phi(z_i))^2

The residuals are r = a (K + a I)^-1 u with a = n lambda/2 (the ``alpha`` of scikit-learn's KernelRidge). ``penalty`` is
a. For lambda of at least 1e-6 and a kernel of norm at most one nothing can fail: the eigenvalues of K + a I lie between
a and n + a, and rounding moves them by far less than a.

**Cost** n^3/3, n^2/2 numbers; exact up to ``MOST_ROWS`` rows. Above that use ``features.py``.
**References**: Kusner et al. 2016, Theorem 5; Kalemaj et al. 2024, Theorem 1.2 (the objective).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.arguments import checked_strength
from dpcausal.core.errors import InputError
from dpcausal.regression.cholesky import TiledCholesky
from dpcausal.regression.kernel import Kernel

Matrix = NDArray[np.float64]
MOST_ROWS = 20_000


def penalty_of(strength: float, n: int) -> float:
    """a = n lambda/2 for lambda = ``strength``, the paper's regularisation.

    >>> penalty_of(10.0, 1000)
    5000.0
    """
    return max(n, 1) * checked_strength(strength) / 2


def ridge_residuals(z: Matrix, targets: Matrix, kernel: Kernel, penalty: float) -> Matrix:
    """Residuals of every column of ``targets`` (n x t) after its ridge fit on the rows of ``z`` (n x d).

    >>> z = np.linspace(0, 1, 200)[:, None]
    >>> left = ridge_residuals(z, np.sin(6 * z), Kernel(0.2), penalty_of(1e-5, 200))
    >>> bool(np.abs(left).max() < 0.01)
    True
    """
    if len(z) > MOST_ROWS:
        raise InputError(
            f"exact kernel ridge takes up to {MOST_ROWS:,} rows, not {len(z):,}: use Fourier features"
        )

    def block(i0: int, i1: int, j0: int, j1: int) -> Matrix:
        k = kernel.block(z[j0:j1], z[i0:i1]).T  # in the order of columns, as LAPACK wants it
        if i0 == j0:
            k[np.diag_indices(i1 - i0)] += penalty
        return k

    targets = np.asarray(targets, dtype=np.float64)
    return penalty * TiledCholesky(len(z), block).solve(targets)
