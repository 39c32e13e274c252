"""Blocked Spearman: a test of x and y given z by mid-ranks, for ordered levels.

**Formula**

    rho = 12 sum (R - Rbar)(Q - Qbar)/(n^3 - n),    F = sum_i (n_i - 1) rho_i,    U = sum_i Var_perm((n_i - 1) rho_i)

R, Q mid-ranks of x, y within the block. With X = n^3 - sum t^3 over the ties t of x, and Y the same for y,

    Var_perm((n - 1) rho) = X Y/(n^2 (n+1)^2 (n-1)),

n - 1 without ties. For 2x2 tables (n - 1) rho = 3 S/(n + 1). F with U has the right null law when there are ties; the
papers' ratio has not (``stats/published.py``).

**Guarantee** (``spearman.proof.md``): F 5 - 2/L^2 add, L > 2 the smaller number of levels (L = 2: 3), twice that
replace, with one block 6 (2x2: 3); U 3 add, 10/3 replace (2x2: 9/4 and 31/12).
**Null law**: given the margins F has mean 0 and variance U exactly, asymptotically normal; with noise
on both see ``stats/noisy_normal.py``.
**Cost** O(k r c). **Edge cases**: a block of fewer than two rows, or constant, adds 0.

References: [1] Wang, Pang & Song 2020, Definitions 7 and 8 (denominator n(n-1) there is a slip for n(n^2-1),
30/n is five times too large); [2] Taylor 1987.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.compiled import jit
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats.blocks import Blocks, checked_blocks, checked_shape, is_binary
from dpcausal.stats.exact import exact_spearman, rows_of

MAX_FLOAT_WORK = 2.0**39  # n (r c + 80), up to which float64 is good enough


class Spearman(NamedTuple):
    """Blocked Spearman: the statistic F and its permutation variance U."""

    statistic: float
    variance: float


@jit()
def _scores(counts: Any, n: int, out: Any) -> float:
    """Write points below minus points above level a into ``out[a]`` and return 1 - sum (t/n)^3."""
    below = 0
    cubes = 0.0
    for a in range(counts.shape[0]):
        out[a] = 2 * below + counts[a] - n
        below += counts[a]
        share = counts[a] / n
        cubes += share * share * share
    return 1.0 - cubes


@jit()
def fill_spearman_terms(blocks: Any, value: Any, variance: Any) -> None:
    """Write (n_i - 1) rho_i into ``value[i]``, its permutation variance into ``variance[i]``; 0 where n_i < 2."""
    k, r, c = blocks.shape
    x, y = np.zeros(r), np.zeros(c)
    for b in range(k):
        rows, columns = blocks[b].sum(axis=1), blocks[b].sum(axis=0)
        n = rows.sum()
        value[b], variance[b] = 0.0, 0.0
        if n < 2:
            continue
        spread = _scores(rows, n, x) * _scores(columns, n, y)
        product = 0.0
        for i in range(r):
            for j in range(c):
                product += blocks[b, i, j] * (x[i] * y[j])
        value[b] = 3.0 * product / (float(n) * (n + 1))
        ratio = n / (n + 1)
        variance[b] = ratio * ratio * (n / (n - 1)) * n * spread


def spearman_terms(blocks: Blocks) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (n_i - 1) rho_i and its permutation variance of every block, 0 where n_i < 2; for tables ``in_floats``."""
    value, variance = np.empty(len(blocks)), np.empty(len(blocks))
    fill_spearman_terms(blocks, value, variance)
    return value, variance


def in_floats(blocks: Blocks) -> bool:
    """Return whether ``spearman_terms`` errs by less than a grid counts; else whole numbers must be used."""
    _, r, c = blocks.shape
    return rows_of(blocks) * (int(r) * int(c) + 80) <= MAX_FLOAT_WORK


@proved("spearman.proof.md")
def spearman(blocks: ArrayLike) -> Spearman:
    """Return blocked Spearman's statistic F and its variance U of any number of rows, clamped beyond 2^35.

    >>> spearman([[[1, 0, 0], [0, 1, 0], [0, 0, 1]]])
    Spearman(statistic=2.0, variance=2.0)
    """
    table = checked_blocks(blocks)
    if not in_floats(table):
        return Spearman(*exact_spearman(table))
    value, variance = spearman_terms(table)
    return Spearman(float(value.sum()), float(variance.sum()))


@proved("spearman.proof.md")
def spearman_sensitivity(neighbours: Neighbours | str, r: int, c: int, k: int) -> float:
    """Return the sensitivity of blocked Spearman's statistic F.

    >>> spearman_sensitivity("add-remove", 4, 4, k=8), spearman_sensitivity("replace-one", 2, 4, k=8)
    (4.875, 6.0)
    """
    r, c, k = checked_shape(r, c, k)
    levels = min(r, c)
    added = 3.0 if levels <= 2 else 5.0 - 2.0 / levels**2
    if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE:
        return added
    if k == 1:
        return 3.0 if is_binary(r, c) else 6.0
    return 2 * added


@proved("spearman.proof.md")
def spearman_variance_sensitivity(neighbours: Neighbours | str, r: int, c: int) -> float:
    """Return the sensitivity of the variance U of blocked Spearman.

    >>> spearman_variance_sensitivity("add-remove", 4, 4)
    3.0
    """
    r, c, _ = checked_shape(r, c)
    rise = 9 / 4 if is_binary(r, c) else 3.0
    return rise if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE else rise + 1 / 3


@proved("spearman.proof.md")
def spearman_joint_sensitivity(neighbours: Neighbours | str, r: int, c: int, k: int, weight: float) -> float:
    """Return the l1 sensitivity of (F, weight U): at most the sum of both, and 5 + weight (add) for weight <= 1/2.

    >>> spearman_joint_sensitivity("add-remove", 4, 4, k=8, weight=0.25)
    5.25
    """
    if not (weight >= 0 and math.isfinite(weight)):
        raise InputError(f"the weight must be a finite number, at least 0, not {weight!r}")
    separate = spearman_sensitivity(neighbours, r, c, k) + weight * spearman_variance_sensitivity(
        neighbours, r, c
    )
    rows = 1 if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE else 2
    return min(separate, rows * (5.0 + weight)) if weight <= 0.5 else separate


def spearman_weight(neighbours: Neighbours | str, r: int, c: int, k: int, epsilon: float) -> float:
    """Return the weight of U in a release of (F, weight U) with Laplace noise.

    It keeps b_U <= .8 b_F^2, as ``kendall_weight`` does.

    >>> spearman_weight("replace-one", 4, 4, k=8, epsilon=1.0).__round__(4)
    0.1282
    """
    return max(0.05, 1.25 * epsilon / spearman_sensitivity(neighbours, r, c, k))
