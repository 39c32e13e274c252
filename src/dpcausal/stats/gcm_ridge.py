"""How far one replaced row moves a kernel ridge regression: its residual products, and how well it fits.

**Formula.** R_i = (x_i - f(z_i)) (y_i - g(z_i)) with f and g minimising (lambda/2)||w||^2 + (1/n) sum (u_i - w.phi_i)^2
for |u| = |x|, |y| <= 1 and a kernel of norm at most one; and, for a private choice among several regressions,

    F = min_w a ||w||^2 + sum_i (u_i - w.phi_i)^2 = u.r,    a = n lambda/2,  r the residuals,

n times the objective that the fit minimises.

**Guarantee** (``gcm_ridge.proof.md``), replace-one only: lambda weighs against n, and where n is not public no bound is
proved. lambda, the kernel and every candidate must not depend on the rows. With s in [0, 1] and h = lambda/2

    B  = max_s sqrt(s)/(s + h)                bounds ||w||, so |u - w.phi| <= M = 1 + B
    B1 = max_s h sqrt(s)/(s + h)^2            P = max_s sqrt(s) (s + 2h)/(s + h)^2
    K  = min(1 + 5B/4 + B^2/2, 1 + 5b/8 + b^2/sqrt(27)),  b = 1/sqrt(2 lambda)
    ||R - R'||_1         <= min(2 M^2 + 2 B (2 + B), 2 + 4B + 2 sqrt(B^2 + b^2 (1 + 3B/2)^2) + B b/2)
    |sum R - sum R'|     <= min(2 + 2 sqrt(2) P + P^2 + B1^2, max(2 + 2 sqrt(2) P + B^2 + 2 B B1, (1 + P)^2 + B1^2))
    |sum R^2 - sum R'^2| <= M^4 + 4 B (2 + B) K
    |F - F'|             <= (1 + B)^2, approached for every lambda

A search reaches .93 of the second, .67 of the first and .44 of the third (``benchmarks/results/gcm_sensitivity.txt``):
the last two may be larger than needed.

**What F measures.** Write f for the part of u that z explains: E F = n sigma^2 - sigma^2 df + f'(I - H)f, with
f'(I - H)f >= |f - Hf|^2, and df <= 2/lambda whatever the kernel. So F over two targets bounds the bias of gcm's sum,
|sum (f - Hf)(g - Hg)| <= half the sum of both, up to what is the same for every candidate and 2 sigma^2/lambda.

**Cost** O(1), and O(n) for F from the residuals.

References: Kalemaj, Kasiviswanathan & Ramdas 2024, Lemma B.6.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.arguments import checked_strength
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats.noisy_normal import variance_weight

Matrix = NDArray[np.float64]
REACH_ARGMAX = (math.sqrt(17.0) - 3.0) / 2.0  # s/h at the maximum of P
ROUNDING = 1.0 + 2.0**-40  # float64 errors of the formulas here are far below


def _check(strength: float, neighbours: Neighbours) -> None:
    """Refuse a lambda that is not above 0, and neighbours for which nothing is proved."""
    checked_strength(strength)
    if neighbours is not Neighbours.REPLACE_ONE:
        raise InputError(
            "kernel ridge residuals are proved for replace-one neighbours only: use variant='parts'"
        )


@proved("gcm_ridge.proof.md")
def weight_bound(strength: float) -> float:
    """Return B, the largest norm of the weights of a ridge regression with lambda = ``strength``.

    >>> round(weight_bound(1.0), 4), round(weight_bound(10.0), 4)
    (0.7071, 0.1667)
    """
    return 1.0 / math.sqrt(2.0 * strength) if strength <= 2 else 2.0 / (2.0 + strength)


@proved("gcm_ridge.proof.md")
def leak_bound(strength: float) -> float:
    """Return B1, a bound on the norm of the ridge weights shrunk once more: at s = lambda/6, or s = 1 if outside.

    >>> round(leak_bound(1.0), 4)
    0.4593
    """
    half = strength / 2
    s = min(half / 3, 1.0)
    return half * math.sqrt(s) / (s + half) ** 2


@proved("gcm_ridge.proof.md")
def reach_bound(strength: float) -> float:
    """Return P, a bound on the norm of the weights plus that of the weights shrunk once more.

    >>> round(reach_bound(1.0), 4)
    1.1133
    """
    half = strength / 2
    s = min(half * REACH_ARGMAX, 1.0)
    return math.sqrt(s) * (s + 2 * half) / (s + half) ** 2


@proved("gcm_ridge.proof.md")
def cube_bound(strength: float) -> float:
    """Return K, a bound on the root mean square of cubed residuals.

    >>> round(cube_bound(1.0), 4)
    1.5382
    """
    b, b_any = weight_bound(strength), 1.0 / math.sqrt(2.0 * strength)
    return min(1 + 1.25 * b + b**2 / 2, 1 + 0.625 * b_any + b_any**2 / math.sqrt(27.0))


@proved("gcm_ridge.proof.md")
def products_sensitivity(strength: float, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> float:
    """Return the l1 sensitivity of the vector of residual products.

    >>> round(products_sensitivity(1.0), 2)
    8.32
    """
    _check(strength, neighbours)
    b = weight_bound(strength)
    b_any = 1.0 / math.sqrt(2.0 * strength)
    bound = 2 + 4 * b + 2 * math.hypot(b, b_any * (1 + 1.5 * b)) + b * b_any / 2
    return ROUNDING * min(bound, 2 * (1 + b) ** 2 + 2 * b * (2 + b))


@proved("gcm_ridge.proof.md")
def sum_sensitivity(strength: float, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> float:
    """Return the sensitivity of the sum of residual products, sum R.

    >>> round(sum_sensitivity(1.0), 2)
    6.3
    """
    _check(strength, neighbours)
    b, b1, p = weight_bound(strength), leak_bound(strength), reach_bound(strength)
    both = 2 + math.sqrt(8.0) * p
    return ROUNDING * min(both + p**2 + b1**2, max(both + b**2 + 2 * b * b1, (1 + p) ** 2 + b1**2))


@proved("gcm_ridge.proof.md")
def squares_sensitivity(strength: float, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> float:
    """Return the sensitivity of the sum of squared residual products, sum R^2.

    >>> round(squares_sensitivity(1.0), 1)
    20.3
    """
    _check(strength, neighbours)
    b = weight_bound(strength)
    return ROUNDING * ((1 + b) ** 4 + 4 * b * (2 + b) * cube_bound(strength))


def squares_weight(strength: float, epsilon: float) -> float:
    """Return the weight w of sum R^2 in a release of (sum R, w sum R^2)."""
    return variance_weight(sum_sensitivity(strength), squares_sensitivity(strength), epsilon)


@proved("gcm_ridge.proof.md")
def fit_objective(targets: Matrix, residuals: Matrix) -> float:
    """Return the minimum of the ridge objective (F) from the residuals, as a mean over the columns of ``targets``.

    >>> fit_objective(np.array([[1.0], [0.5]]), np.array([[0.5], [0.5]]))
    0.75
    """
    return float((targets * residuals).sum() / targets.shape[1])


@proved("gcm_ridge.proof.md")
def objective_sensitivity(strength: float, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> float:
    """Return the sensitivity of ``fit_objective``: (1 + B)^2, for the smallest lambda of several.

    >>> round(objective_sensitivity(1.0), 3), round(objective_sensitivity(10.0), 3)
    (2.914, 1.361)
    """
    sum_sensitivity(strength, neighbours)  # the same refusals
    return ROUNDING * (1 + weight_bound(strength)) ** 2
