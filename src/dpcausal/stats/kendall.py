"""Blocked Kendall: a test of x and y given z for ordered levels, whose sensitivity does not grow with k.

    K = sum_i S_i/n_i        V = sum_i Var_perm(S_i)/n_i^2        z = K/sqrt(V)

over blocks i (cells of z), S = concordant minus discordant pairs, ties 0, and the permutation variance with ties

    Var_perm(S)/n^2 = (n-1)/n [ (n-2) h3(x) h3(y)/9 + h2(x) h2(y)/2 ],

h2, h3 the shares of pairs and of triples of points that are not all in one level: the classical tie correction
[1] written with shares (``kendall_sensitivity.proof.md``, step 0). For 2x2 tables K is the observed minus
expected count of Cochran, Mantel and Haenszel [2] and V its variance, so z^2 is their statistic without
continuity correction.

**Guarantee**: sensitivities in ``kendall_sensitivity.py``. **Null law**: given the margins of every block, K has
mean 0 and variance V exactly and is asymptotically normal (``kendall_null.py``). **Cost** O(k r c).
**Edge cases**: a block of fewer than two rows, or constant in x or y, adds 0 to both K and V; nothing is dropped.
Exact integers up to n = 3e9 rows.

References: [1] Kendall 1970, Rank Correlation Methods, ch. 4-5; [2] Mantel & Haenszel 1959. The papers' weighted
z is in ``weighted_kendall.py``; it needs more noise and has the wrong null variance when there are ties.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError
from dpcausal.stats.blocks import Blocks, block_sizes, checked_blocks
from dpcausal.stats.kernels import ranks


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
    ranks.kendall_terms(blocks, value, variance)
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
    ranks.concordance(table, score)
    n = int(block_sizes(table)[0])
    return 2.0 * int(score[0]) / (max(n, 2) * (max(n, 2) - 1))
