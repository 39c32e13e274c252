"""How far one replaced row moves the residual products of kernel ridge regression.

For |x|, |y| <= 1, a kernel of norm at most one and the objective (lambda/2)||w||^2 + (1/n) sum (u_i - w.phi_i)^2:

    B  = max_s sqrt(s)/(s + lambda/2)              bounds ||w||, so |u - w.phi| <= 1 + B
    B1 = max_s (lambda/2) sqrt(s)/(s + lambda/2)^2                     over s in [0, 1]
    ||R - R'||_1         <= 2 (1 + B)(1 + 3B)
    |sum R - sum R'|     <= 2 (1 + B)^2 + 4 (1 + B) B1
    |sum R^2 - sum R'^2| <= (1 + B)^3 (1 + 9B)

Proof: ``gcm_sensitivity.proof.md``. At lambda = 1 the first is 10.7 where the paper has 116.6 (Lemma B.6).
**Replace-one only**: lambda weighs against n, and where n is not public no bound is proved. lambda and the kernel must
not depend on the rows.
"""

from __future__ import annotations

import math

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved

UP = 1.0 + 2.0**-40  # over the rounding of the formulas


def _checked(strength: float, neighbours: Neighbours) -> None:
    if not (math.isfinite(strength) and strength > 0):
        raise InputError(f"lambda must be a finite number above zero, not {strength!r}")
    if neighbours is not Neighbours.REPLACE_ONE:
        raise InputError(
            "kernel ridge residuals are proved for replace-one neighbours only: use variant='parts'"
        )


@proved("gcm_sensitivity.proof.md")
def weight_bound(strength: float) -> float:
    """B, for lambda = ``strength``.

    >>> round(weight_bound(1.0), 4), round(weight_bound(10.0), 4)
    (0.7071, 0.1667)
    """
    return 1.0 / math.sqrt(2.0 * strength) if strength <= 2 else 2.0 / (2.0 + strength)


@proved("gcm_sensitivity.proof.md")
def leak_bound(strength: float) -> float:
    """B1: the maximum is at s = lambda/6, or at s = 1 where that is outside.

    >>> round(leak_bound(1.0), 4)
    0.4593
    """
    half = strength / 2
    s = min(half / 3, 1.0)
    return half * math.sqrt(s) / (s + half) ** 2


@proved("gcm_sensitivity.proof.md")
def products_sensitivity(strength: float, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> float:
    """l1 sensitivity of the vector of residual products.

    >>> round(products_sensitivity(1.0), 2)
    10.66
    """
    _checked(strength, neighbours)
    b = weight_bound(strength)
    return UP * 2 * (1 + b) * (1 + 3 * b)


@proved("gcm_sensitivity.proof.md")
def sum_sensitivity(strength: float, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> float:
    """Sensitivity of sum R."""
    _checked(strength, neighbours)
    b = weight_bound(strength)
    return UP * (2 * (1 + b) ** 2 + 4 * (1 + b) * leak_bound(strength))


@proved("gcm_sensitivity.proof.md")
def squares_sensitivity(strength: float, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> float:
    """Sensitivity of sum R^2."""
    _checked(strength, neighbours)
    b = weight_bound(strength)
    return UP * (1 + b) ** 3 * (1 + 9 * b)


def squares_weight(strength: float, epsilon: float) -> float:
    """The weight w of sum R^2 in a joint release (sum R, w sum R^2): the least that gives it a noise scale of .8 b^2.

    b = (S1 + w S2)/epsilon and b_V = b/w, so w (S1 + w S2) = 1.25 epsilon (``kendall_null.py`` says why .8).
    """
    first, second = sum_sensitivity(strength), squares_sensitivity(strength)
    return (math.sqrt(first**2 + 5.0 * epsilon * second) - first) / (2 * second)
