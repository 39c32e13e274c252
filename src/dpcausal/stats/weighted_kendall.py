"""The papers' weighted Kendall z with a bound that holds; kept for comparison with ``stats/kendall.py``.

**Formula**

    z = sum_i w_i tau_i / sqrt(max(W, W0)),  W = sum_i w_i,  w_i = 9 n_i (n_i - 1)/(2 (2 n_i + 5)),

tau_i signed (with |tau_i| the null mean grows like .8 sqrt(k)). The numerator is sum 9 S_i/(2 n_i + 5).
W0 is a public floor: every data set of n rows in k blocks has W >= k w(n/k), so ``weighted_floor`` changes
nothing where n > k is large, and keeps the bound where blocks are small.

**Guarantee** (``weighted_kendall.proof.md``): numerator 27/4 - 9/(4(L-1)) add, L the smaller number of levels, twice
that replace (one block: 9, and 9/2 for 2x2); z at most (numerator bound + 9/8)/sqrt(W0). **Null law**: N(0, 1) without
ties only; on binary columns the null standard deviation is at most 3/4, so a nominal .05 rejects less than .01.
**Cost** O(k r c).

References: [1] Wang, Pang & Song 2020, Definition 6 and Theorem 7 (whose constant 9/2 does not hold);
[2] Taylor 1987.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats.blocks import block_sizes, checked_blocks, checked_floor, checked_shape, is_binary
from dpcausal.stats.kendall import concordance

MAX_WEIGHT_RISE = 9 / 4  # w grows by less than this for each row


class WeightedKendall(NamedTuple):
    """The two sums that z is made of."""

    numerator: float
    weight: float


def _weight(n: NDArray[np.float64] | float) -> NDArray[np.float64] | float:
    return 9 * n * (n - 1) / (2 * (2 * n + 5))


def weighted_kendall(blocks: ArrayLike) -> WeightedKendall:
    """Return sum w_i tau_i and sum w_i.

    >>> weighted_kendall([[[5, 0], [0, 5]]])
    WeightedKendall(numerator=9.0, weight=16.2)
    """
    table = checked_blocks(blocks)
    score = concordance(table)
    n = block_sizes(table).astype(np.float64)
    return WeightedKendall(float(np.sum(9.0 * score / (2 * n + 5))), float(np.sum(_weight(n))))


def weighted_kendall_z(blocks: ArrayLike, floor: float) -> float:
    """Return z with the public floor W0 = ``floor`` under the root.

    >>> weighted_kendall_z([[[5, 0], [0, 5]]], floor=weighted_floor(10, 1)).__round__(4)
    2.2361
    """
    checked_floor(floor)
    numerator, weight = weighted_kendall(blocks)
    return numerator / math.sqrt(max(weight, floor))


@proved("weighted_kendall.proof.md")
def weighted_floor(n: int, k: int) -> float:
    """Return max(k w(n/k), 1): below sum w_i of every data set of n rows in k blocks, or 1 where that says nothing.

    >>> weighted_floor(1000, 64) < 9 * 1000 / 4, weighted_floor(3, 64)
    (True, 1.0)
    """
    _, _, k = checked_shape(1, 1, k)
    return max(float(k * _weight(n / k)), 1.0)


@proved("weighted_kendall.proof.md")
def weighted_numerator_sensitivity(neighbours: Neighbours | str, r: int, c: int, k: int) -> float:
    """Return the sensitivity of sum w_i tau_i.

    >>> weighted_numerator_sensitivity("add-remove", 3, 3, k=8)
    5.625
    """
    r, c, k = checked_shape(r, c, k)
    added = 6.75 - 2.25 / max(min(r, c) - 1, 1)
    if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE:
        return added
    if k == 1:
        return 4.5 if is_binary(r, c) else 9.0
    return 2 * added


@proved("weighted_kendall.proof.md")
def weighted_kendall_sensitivity(neighbours: Neighbours | str, r: int, c: int, k: int, floor: float) -> float:
    """Return the sensitivity of ``weighted_kendall_z`` with this floor.

    >>> weighted_kendall_sensitivity("replace-one", 3, 3, k=8, floor=100.0)
    1.2375
    """
    checked_floor(floor)
    return (weighted_numerator_sensitivity(neighbours, r, c, k) + MAX_WEIGHT_RISE / 2) / math.sqrt(floor)
