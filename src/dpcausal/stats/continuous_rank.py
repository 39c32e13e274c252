"""Blocked Kendall and Spearman of numbers: the statistics of ``kendall.py`` and ``spearman.py`` without tables.

    K = sum_b S_b/n_b,  V = sum_b Var_perm(S_b)/n_b^2        F = sum_b (n_b - 1) rho_b,  U = sum_b Var_perm

over blocks b (public bins or strata of z), ties 0 in S and mid-ranks in rho. The value is that of the table with one
level per distinct number, so it agrees with the tables' functions to the last bits, in O(n log n) instead of
O(levels^2): rows are sorted by (block, x, y) and a merge sort counts the discordant pairs [1].

**Guarantee** (``continuous_rank.proof.md``): theorems 1 to 4 of ``kendall_sensitivity.proof.md`` and those of
``spearman.proof.md`` with any number of levels: K 3/2 add, 3 replace (2 with one block), V 1/3 and 53/144; F 5 add, 10
replace (6 with one block), U 3 and 10/3. A column of two levels keeps the smaller bound of two levels.
**Null law**: given the blocks and the values of x and of y in each, every pairing inside a block equally likely, K and
F have mean 0 and variances V, U. It holds if x and y are independent given z and z moves neither of them *within* a
block: bins of a numeric z must be fine enough for that (``citests/continuous_rank.py``).
**Edge cases**: blocks of fewer than two rows or constant in x or y add 0; NaN can't occur (values are clamped).
Exact integers up to 2e9 rows.

References: [1] Knight 1966 (a computer method for Kendall's tau with ungrouped data).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.proofs import proved
from dpcausal.stats.kendall import Kendall
from dpcausal.stats.kernels.value_ranks import value_terms
from dpcausal.stats.spearman import Spearman

Integers = NDArray[np.int64]
MANY = 1 << 62  # the number of levels of a column of numbers: bounds there are what they are for any number


class Ranked(NamedTuple):
    """A column as integers in the same order: ``codes`` from 0 to ``levels`` - 1, equal where values are equal."""

    codes: Integers
    levels: int


def ranked(values: NDArray[np.generic]) -> Ranked:
    """Dense ranks. Their number depends on rows: it sets how keys are packed, nothing that leaves.

    >>> ranked(np.array([0.5, -1.0, 0.5, 7.0]))
    Ranked(codes=array([1, 0, 1, 2]), levels=3)
    """
    order = np.argsort(values)
    inside = values[order]
    steps = np.zeros(len(values), np.int64)
    steps[1:] = inside[1:] != inside[:-1]
    codes = np.empty(len(values), np.int64)
    codes[order] = np.cumsum(steps)
    return Ranked(codes, int(steps.sum()) + 1)


@proved("continuous_rank.proof.md")
def rank_statistics(x: Ranked, y: Ranked, block: Integers, k: int) -> tuple[Kendall, Spearman]:
    """(K, V) and (F, U) of rows in ``k`` blocks, ``block`` the number of each row's.

    >>> x, y = ranked(np.array([1.0, 2.0, 3.0, 3.0])), ranked(np.array([0.1, 0.3, 0.2, 0.2]))
    >>> kendall, spearman = rank_statistics(x, y, np.zeros(4, np.int64), 1)
    >>> kendall.statistic, kendall.variance.__round__(4), spearman.statistic.__round__(4)
    (0.25, 0.4271, 0.9)
    """
    inside, xs, ys = _sorted(x, y, block, k)
    out = np.zeros(4)
    value_terms(inside, xs, ys, out)
    return Kendall(float(out[0]), float(out[1])), Spearman(float(out[2]), float(out[3]))


def _sorted(x: Ranked, y: Ranked, block: Integers, k: int) -> tuple[Integers, Integers, Integers]:
    """(block, x, y) in their joint order; packed in one integer where that fits."""
    if k * x.levels * y.levels < 1 << 63:
        keys = np.sort((block * x.levels + x.codes) * y.levels + y.codes)
        rest, ys = np.divmod(keys, y.levels)
        inside, xs = np.divmod(rest, x.levels)
        return inside, xs, ys
    order = np.lexsort((y.codes, x.codes, block))
    return block[order], x.codes[order], y.codes[order]
