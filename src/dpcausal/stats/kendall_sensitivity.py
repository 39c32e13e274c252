"""How much one row can move the blocked Kendall statistic, both relations; ``kendall_sensitivity.proof.md``.

With L the smaller number of levels and k blocks (supremum over n; none is attained but 1/4 and 5/144):

| | K add | K replace, k = 1 | K replace, k > 1 | V add | V replace |
|---|---|---|---|---|---|
| 2x2 | 1 | 1 | 2 | 1/4 | 41/144 |
| else | 3/2 - 1/(2(L-1)) | 2 | twice add | 1/3 | 53/144 |

(K, w V) moves by less than the sum. 2x2 tables in the l1 norm need **no more than K alone** for w <= 1, so V is
released for free, and (1 + w)^2/(4 w) times that for w > 1; in the l2 norm V is free up to w = 3. Other tables: at
most 3/2 + w/9 (l1, add, w <= 1).

Every number is a function of public sizes. ``n`` for tau-a is the number of rows; under add-remove, where n is not
public, it must be a public lower bound on the smaller data set, and the guarantee holds for data sets above it.
"""

from __future__ import annotations

import math

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats.blocks import checked_shape, is_binary

UP_BINARY, UP, DOWN = 1 / 4, 1 / 3, 5 / 144  # an added row moves V by -DOWN .. UP
FREE_L1, FREE_L2 = 1.0, 3.0  # for 2x2 tables (K, w V) has the sensitivity of K alone up to this w


@proved("kendall_sensitivity.proof.md")
def kendall_sensitivity(neighbours: Neighbours | str, r: int, c: int, k: int) -> float:
    """Delta_K, the sensitivity of K (theorem 1).

    >>> kendall_sensitivity("replace-one", 2, 2, k=64), kendall_sensitivity("replace-one", 2, 2, k=1)
    (2.0, 1.0)
    """
    r, c, k = checked_shape(r, c, k)
    added = 1.5 - 0.5 / max(min(r, c) - 1, 1)
    if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE:
        return added
    if k == 1:
        return 1.0 if is_binary(r, c) else 2.0
    return 2 * added


@proved("kendall_sensitivity.proof.md")
def kendall_variance_sensitivity(neighbours: Neighbours | str, r: int, c: int) -> float:
    """Delta_V, the sensitivity of V (theorem 2).

    >>> kendall_variance_sensitivity("add-remove", 2, 2)
    0.25
    """
    r, c, _ = checked_shape(r, c)
    up = UP_BINARY if is_binary(r, c) else UP
    return up if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE else up + DOWN


@proved("kendall_sensitivity.proof.md")
def kendall_joint_sensitivity(
    neighbours: Neighbours | str, r: int, c: int, k: int, weight: float = 1.0, norm: int = 1
) -> float:
    """l1 or l2 sensitivity (``norm`` 1 or 2) of the vector (K, weight V) (theorems 3 and 4).

    >>> kendall_joint_sensitivity("replace-one", 2, 2, k=64, weight=1.0)
    2.0
    """
    if not (weight >= 0 and math.isfinite(weight)) or norm not in (1, 2):
        raise InputError(f"the weight must be at least 0 and the norm 1 or 2, not {weight!r}, {norm!r}")
    alone = kendall_sensitivity(neighbours, r, c, k)
    sides = alone, weight * kendall_variance_sensitivity(neighbours, r, c)
    separate = sum(sides) if norm == 1 else math.hypot(*sides)
    if is_binary(r, c):
        free = FREE_L1 if norm == 1 else FREE_L2
        factor = 1.0 if weight <= free else (1 + weight) ** 2 / (4 * weight) if norm == 1 else weight / free
        return min(separate, alone * factor)
    rows = 1 if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE else 2
    return min(separate, rows * (1.5 + weight / 9)) if norm == 1 and weight <= 1 else separate


@proved("kendall_sensitivity.proof.md")
def kendall_margin_sensitivity(
    neighbours: Neighbours | str, r: int, c: int, k: int, threshold: float, floor: float
) -> float:
    """Sensitivity of q_T = |K| - T sqrt(max(V, V0)) (theorem 5); for 2x2 and V0 >= T^2/4 that of K alone.

    >>> kendall_margin_sensitivity("replace-one", 2, 2, k=8, threshold=2.0, floor=1.0)
    2.0
    """
    if not (threshold >= 0 and floor > 0 and math.isfinite(threshold) and math.isfinite(floor)):
        raise InputError(
            f"the threshold must be at least 0 and the floor above 0, not {threshold!r}, {floor!r}"
        )
    return kendall_joint_sensitivity(neighbours, r, c, k, weight=threshold / (2 * math.sqrt(floor)))


@proved("kendall_sensitivity.proof.md")
def tau_a_sensitivity(neighbours: Neighbours | str, r: int, c: int, n: int) -> float:
    """Sensitivity of tau-a on n rows (theorem 6).

    >>> tau_a_sensitivity("replace-one", 2, 2, n=100), tau_a_sensitivity("replace-one", 5, 5, n=100)
    (0.02, 0.04)
    """
    r, c, _ = checked_shape(r, c)
    if n < 1:
        raise InputError(f"n must be at least 1, not {n}")
    rows = n + 1 if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE else n
    return (2.0 if is_binary(r, c) else 4.0) / rows


def kendall_weight(neighbours: Neighbours | str, r: int, c: int, k: int, epsilon: float) -> float:
    """The weight of V in a release of (K, weight V) with Laplace noise: max(w0, 1.25 epsilon/Delta_K).

    w0 = 1 for 2x2 tables, where it is free, else 1/5. So the noise on V has scale b_V <= .8 b_K^2, which keeps the
    level of ``laplace_pvalue`` within .042 and .056 at .05 whatever V is (``kendall_null.py``).

    >>> kendall_weight("replace-one", 2, 2, k=8, epsilon=1.0)
    1.0
    """
    return max(FREE_L1 if is_binary(r, c) else 0.2, 1.25 * epsilon / kendall_sensitivity(neighbours, r, c, k))


def kendall_weight_l2(neighbours: Neighbours | str, r: int, c: int, k: int, rho: float) -> float:
    """The same for Gaussian noise of cost ``rho``: max(w0, 2.5 sqrt(2 rho)/Delta_K), w0 = 3 for 2x2, else 1.

    Then the noise on V has standard deviation at most .4 sigma_K^2 and the level is within .038 and .057.

    >>> kendall_weight_l2("replace-one", 2, 2, k=8, rho=0.1)
    3.0
    """
    least = FREE_L2 if is_binary(r, c) else 1.0
    return max(least, 2.5 * math.sqrt(2 * rho) / kendall_sensitivity(neighbours, r, c, k))
