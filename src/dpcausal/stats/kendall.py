"""Blocked Kendall: a test of x and y given z for ordered levels, whose sensitivity does not grow with k.

    K = sum_i S_i/n_i        V = sum_i Var_perm(S_i)/n_i^2        z = K/sqrt(V)

over blocks i (cells of z), S = concordant minus discordant pairs, ties 0, and the permutation variance with ties

    Var_perm(S)/n^2 = (n-1)/n [ (n-2) h3(x) h3(y)/9 + h2(x) h2(y)/2 ],

h2, h3 the shares of pairs and of triples of points that are not all in one level: the classical tie correction
[1] written with shares (``kendall.proof.md``, step 0). For 2x2 tables K is the observed minus
expected count of Cochran, Mantel and Haenszel [2] and V its variance, so z^2 is their statistic without
continuity correction.

**Guarantee**: sensitivities in ``kendall_sensitivity.py``. **Null law**: given the margins of every block, K has
mean 0 and variance V exactly and is asymptotically normal (``kendall_null.py``). **Cost** O(k r c).
**Edge cases**: a block of fewer than two rows, or constant in x or y, adds 0 to both K and V; nothing is dropped.
Exact integers up to n = 3e9 rows.

References: [1] Kendall 1970, Rank Correlation Methods, ch. 4-5; [2] Mantel & Haenszel 1959. The papers' weighted
z is in ``weighted_kendall.py``; it needs more noise and has the wrong null variance when there are ties.

How much one row can move the blocked Kendall statistic, both relations; ``kendall.proof.md``.

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
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats import rank_kernels
from dpcausal.stats.blocks import Blocks, block_sizes, checked_blocks, checked_shape, is_binary


class Kendall(NamedTuple):
    """K and V."""

    statistic: float
    variance: float


def kendall_terms(blocks: Blocks) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """S_i/n_i and Var_perm(S_i)/n_i^2 of every block, zeros where n_i < 2.

    >>> value, variance = kendall_terms(checked_blocks([[[2, 0], [0, 2]], [[1, 0], [0, 0]]]))
    >>> value.tolist(), variance.round(4).tolist()
    ([1.0, 0.0], [0.3333, 0.0])
    """
    value, variance = np.empty(len(blocks)), np.empty(len(blocks))
    rank_kernels.kendall_terms(blocks, value, variance)
    return value, variance


def kendall(blocks: ArrayLike) -> Kendall:
    """K and V of the blocks.

    >>> kendall([[[2, 0], [0, 2]], [[0, 1], [1, 0]]])
    Kendall(statistic=0.5, variance=0.5833333333333334)
    """
    value, variance = kendall_terms(checked_blocks(blocks))
    return Kendall(float(value.sum()), float(variance.sum()))


def kendall_margin(blocks: ArrayLike, threshold: float, floor: float) -> float:
    """q_T = |K| - T sqrt(max(V, V0)): at least 0 where |z| >= T, apart from the public floor V0 = ``floor``.

    A decision with one small sensitivity (``kendall_margin_sensitivity``), for sparse vectors and distances.

    >>> kendall_margin([[[40, 10], [10, 40]]], threshold=2.0, floor=1.0) > 0
    True
    """
    if not (threshold >= 0 and floor > 0 and math.isfinite(threshold) and math.isfinite(floor)):
        raise InputError(
            f"the threshold must be at least 0 and the floor above 0, not {threshold!r}, {floor!r}"
        )
    statistic, variance = kendall(blocks)
    return abs(statistic) - threshold * math.sqrt(max(variance, floor))


def tau_a(blocks: ArrayLike) -> float:
    """Kendall's tau-a = 2 S/(n(n-1)) of a single block, ties 0; 0 if n < 2.

    tau-b has no bound of order 1/n: one row can move it by 1 at every n.

    >>> tau_a([[[2, 0], [0, 2]]])
    0.6666666666666666
    """
    table = checked_blocks(blocks)
    if len(table) != 1:
        raise InputError(f"tau-a takes one block, not {len(table)}")
    score = np.empty(1, np.int64)
    rank_kernels.concordance(table, score)
    n = int(block_sizes(table)[0])
    return 2.0 * int(score[0]) / (max(n, 2) * (max(n, 2) - 1))


UP_BINARY, UP, DOWN = 1 / 4, 1 / 3, 5 / 144  # an added row moves V by -DOWN .. UP
FREE_L1, FREE_L2 = 1.0, 3.0  # for 2x2 tables (K, w V) has the sensitivity of K alone up to this w


@proved("kendall.proof.md")
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


@proved("kendall.proof.md")
def kendall_variance_sensitivity(neighbours: Neighbours | str, r: int, c: int) -> float:
    """Delta_V, the sensitivity of V (theorem 2).

    >>> kendall_variance_sensitivity("add-remove", 2, 2)
    0.25
    """
    r, c, _ = checked_shape(r, c)
    up = UP_BINARY if is_binary(r, c) else UP
    return up if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE else up + DOWN


@proved("kendall.proof.md")
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


@proved("kendall.proof.md")
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


@proved("kendall.proof.md")
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
