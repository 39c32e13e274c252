"""How far float64 takes the residuals of a ridge fit from the exact ones, at worst: a part of their sensitivity.

A bound on ||computed - exact|| <= eta sqrt(n) for targets in [-1, 1] and a kernel of norm at most one, from public
numbers only. Sums of residual products then err by at most n (2 eta + eta^2 + 128 u), u = 2^-53, and a mechanism adds
twice that to the sensitivity (both neighbours err). It is a worst case: 3 10^-6 of the sensitivity at 1,000 rows,
2% at 20,000 (lambda 1), thousands of times what is seen. Proof: ``rounding.proof.md``.

References: Higham 2002, Accuracy and Stability of Numerical Algorithms, theorems 3.1, 10.3 and 10.4.
"""

from __future__ import annotations

import math

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.regression.features import BLOCK_ROWS
from dpcausal.regression.kernel import MIN_PRODUCT_WIDTH, Kernel

U = 2.0**-53  # unit roundoff of float64
MAX_ETA = 0.1  # a larger eta is refused: the second order of the bound would count


@proved("rounding.proof.md")
def entry_error(kernel: Kernel, d: int) -> float:
    """Return a bound on the rounding error of each entry of a computed kernel matrix of d columns.

    >>> entry_error(Kernel(0.1), 1) < 1e-13 < entry_error(Kernel(0.02), 5) < 1e-10
    True
    """
    width = kernel.bandwidth
    by_product = kernel.kind == "gaussian" or d == 1
    cancelled = (3 * d + 4) * d / width**2 if by_product and width >= MIN_PRODUCT_WIDTH else 0.0
    interactions = (3 * d + 4) * d * 4.0 if kernel.kind == "mixed" else 0.0
    return (cancelled + interactions + 2 * d + 8) * U


@proved("rounding.proof.md")
def residual_error(n: int, strength: float, kernel: Kernel, d: int, features: int = 0) -> float:
    """Return a bound eta on the rounding error of ridge residuals.

    For n rows and lambda = ``strength``, through ``features`` features (0: the exact kernel).

    >>> residual_error(1000, 1.0, Kernel(0.1), 1) < 1e-8 < residual_error(20_000, 1.0, Kernel(0.1), 1) < 1e-5
    True
    """
    a = strength / 2  # the penalty, over n
    m = features or n
    factor = 4 * m * (3 * m + 1) * U * (1 + a)  # of the triangular solves and the factor, over n
    if features:
        sums = (BLOCK_ROWS + n / BLOCK_ROWS + 8) * U
        moved = factor + sums
        eta = moved / max(a - moved, 0.5 * a) * (1 + 1 / math.sqrt(2 * strength)) + 4 * features * U
    else:
        moved = factor + entry_error(kernel, d)
        eta = moved / max(a - moved, 0.5 * a)
    if moved > a / 2 or eta > MAX_ETA:
        raise InputError(
            f"lambda = {strength:g} is too small for {n:,} rows: rounding could pass what is proved"
        )
    return eta


@proved("rounding.proof.md")
def products_error(n: int, eta: float) -> float:
    """Return a bound on the rounding error of sum |R| (and sum R) over computed products R."""
    return n * (2 * eta + eta**2 + 128 * U)


@proved("rounding.proof.md")
def squares_error(n: int, eta: float, largest: float) -> float:
    """Return a bound on the rounding error of sum R^2; ``largest`` bounds the exact residuals."""
    top = (largest + eta * math.sqrt(n)) ** 2
    return 2 * top * products_error(n, eta) + n * (n + 8) * U * top**2


@proved("rounding.proof.md")
def inner_error(n: int, eta: float) -> float:
    """Return a bound on the rounding error of sum c r for coefficients |c| <= 1 and computed residuals r."""
    return n * (eta + 128 * U)
