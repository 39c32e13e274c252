"""Blocked Kendall: a test of x and y given z for ordered levels, whose sensitivity does not grow with k.

**Formula**

    K = sum_i S_i/n_i        V = sum_i Var_perm(S_i)/n_i^2        z = K/sqrt(V)

over blocks i (cells of z), S = concordant minus discordant pairs, ties 0, and the permutation variance with ties

    Var_perm(S)/n^2 = (n-1)/n [ (n-2) h3(x) h3(y)/9 + h2(x) h2(y)/2 ],

h2, h3 the shares of pairs and of triples of points that are not all in one level: the classical tie correction
[1] written with shares. For 2x2 tables K is the observed minus expected count of Cochran, Mantel and Haenszel [2] and V
its variance, so z^2 is their statistic without continuity correction.

**Guarantee** (``kendall.proof.md``), both relations. With L the smaller number of levels and k blocks (supremum over n;
none is attained but 1/4 and 5/144):

| | K add | K replace, k = 1 | K replace, k > 1 | V add | V replace |
|---|---|---|---|---|---|
| 2x2 | 1 | 1 | 2 | 1/4 | 41/144 |
| else | 3/2 - 1/(2(L-1)) | 2 | twice add | 1/3 | 53/144 |

(K, w V) moves by less than the sum. 2x2 tables in the l1 norm need **no more than K alone** for w <= 1, so V is
released for free, and (1 + w)^2/(4 w) times that for w > 1; in the l2 norm V is free up to w = 3. Other tables: at
most 3/2 + w/9 (l1, add, w <= 1). Every number is a function of public sizes.

**Null law**: given the margins of every block, K has mean 0 and variance V exactly and is asymptotically normal; with
noise on both see ``stats/noisy_normal.py``. **Cost** O(k r c).
**Edge cases**: a block of fewer than two rows, or constant in x or y, adds 0 to both K and V; nothing is dropped.
Any number of rows: where float64 or int64 would not do, whole numbers are used (``stats/exact.py``).

References: [1] Kendall 1970, Rank Correlation Methods, ch. 4-5; [2] Mantel & Haenszel 1959. The papers' weighted
z (``stats/published.py``) needs more noise and has the wrong null variance when there are ties.
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
from dpcausal.stats.exact import exact_kendall, exact_scores, rows_of

# an added row moves V by at most MAX_V_RISE (MAX_V_RISE_BINARY for 2x2 tables) up and MAX_V_FALL down
MAX_V_RISE_BINARY, MAX_V_RISE, MAX_V_FALL = 1 / 4, 1 / 3, 5 / 144
# for 2x2 tables (K, w V) has the sensitivity of K alone up to this w
FREE_WEIGHT_L1, FREE_WEIGHT_L2 = 1.0, 3.0
MAX_FLOAT_WORK = 2.0**37  # n (r + c + 40), up to which float64 is good enough
MAX_PAIR_ROWS = 2.0**31  # up to here all numbers of pairs fit 64 bits


class Kendall(NamedTuple):
    """Blocked Kendall: the statistic K and its permutation variance V."""

    statistic: float
    variance: float


@jit()
def _margins(table: Any, rows: Any, columns: Any) -> int:
    """Fill the two margins of ``table`` and return its total."""
    columns[:] = 0
    total = 0
    for i in range(table.shape[0]):
        row = 0
        for j in range(table.shape[1]):
            count = table[i, j]
            row += count
            columns[j] += count
        rows[i] = row
        total += row
    return total


@jit()
def _unequal(counts: Any, n: int) -> tuple[float, float]:
    """Return the shares of pairs and of triples of n >= 2 points not all in one level (triples: 0 if n < 3)."""
    pairs, triples = 0.0, 0.0
    for t in counts:
        pair = float(t) * (t - 1)
        pairs += pair
        triples += pair * (t - 2)
    every = float(n) * (n - 1)
    return 1.0 - pairs / every, (1.0 - triples / (every * (n - 2)) if n > 2 else 0.0)


@jit()
def fill_concordance(blocks: Any, out: Any) -> None:
    """Write the concordant minus the discordant pairs of block i into ``out[i]``."""
    r, c = blocks.shape[1], blocks.shape[2]
    above = np.zeros(c, np.int64)  # column counts of the rows passed
    for b in range(blocks.shape[0]):
        above[:] = 0
        passed = 0
        score = 0
        for i in range(r):
            left = 0
            added = 0
            for j in range(c):
                count = blocks[b, i, j]
                score += count * (2 * left + above[j] - passed)  # left of j minus right of j
                left += above[j]
                above[j] += count
                added += count
            passed += added
        out[b] = score


@jit()
def fill_kendall_terms(blocks: Any, value: Any, variance: Any) -> None:
    """Write S_i/n_i into ``value[i]`` and Var_perm(S_i)/n_i^2 into ``variance[i]``; both 0 where n_i < 2."""
    k, r, c = blocks.shape
    rows, columns = np.zeros(r, np.int64), np.zeros(c, np.int64)
    scores = np.zeros(k, np.int64)
    fill_concordance(blocks, scores)
    for b in range(k):
        n = _margins(blocks[b], rows, columns)
        value[b], variance[b] = 0.0, 0.0
        if n < 2:
            continue
        value[b] = scores[b] / n
        x2, x3 = _unequal(rows, n)
        y2, y3 = _unequal(columns, n)
        variance[b] = (n - 1) / n * ((n - 2) * x3 * y3 / 9 + x2 * y2 / 2)


def kendall_terms(blocks: Blocks) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return S_i/n_i and Var_perm(S_i)/n_i^2 of every block, zeros where n_i < 2; only for tables ``in_floats``.

    >>> value, variance = kendall_terms(checked_blocks([[[2, 0], [0, 2]], [[1, 0], [0, 0]]]))
    >>> value.tolist(), variance.round(4).tolist()
    ([1.0, 0.0], [0.3333, 0.0])
    """
    value, variance = np.empty(len(blocks)), np.empty(len(blocks))
    fill_kendall_terms(blocks, value, variance)
    return value, variance


def in_floats(blocks: Blocks) -> bool:
    """Return whether ``kendall_terms`` errs by less than a grid counts; else whole numbers must be used."""
    _, r, c = blocks.shape
    return rows_of(blocks) * (int(r) + int(c) + 40) <= MAX_FLOAT_WORK


@proved("kendall.proof.md")
def kendall(blocks: ArrayLike) -> Kendall:
    """Return blocked Kendall's statistic K and its variance V of any number of rows, clamped beyond 2^35.

    >>> kendall([[[2, 0], [0, 2]], [[0, 1], [1, 0]]])
    Kendall(statistic=0.5, variance=0.5833333333333334)
    """
    table = checked_blocks(blocks)
    if not in_floats(table):
        return Kendall(*exact_kendall(table))
    value, variance = kendall_terms(table)
    return Kendall(float(value.sum()), float(variance.sum()))


def _check_margin(threshold: float, floor: float) -> None:
    """Refuse a threshold below 0 or a floor that is not above 0."""
    if not (threshold >= 0 and floor > 0 and math.isfinite(threshold) and math.isfinite(floor)):
        raise InputError(
            f"the threshold must be at least 0 and the floor above 0, not {threshold!r}, {floor!r}"
        )


def kendall_margin(blocks: ArrayLike, threshold: float, floor: float) -> float:
    """Return by how much |K| exceeds T standard deviations, |K| - T sqrt(max(V, V0)), with the public floor V0.

    A decision with one small sensitivity (``kendall_margin_sensitivity``), for sparse vectors and distances.

    >>> kendall_margin([[[40, 10], [10, 40]]], threshold=2.0, floor=1.0) > 0
    True
    """
    _check_margin(threshold, floor)
    statistic, variance = kendall(blocks)
    return abs(statistic) - threshold * math.sqrt(max(variance, floor))


def concordance(blocks: Blocks) -> NDArray[Any]:
    """Return the concordant minus the discordant pairs of every block: int64, or Python integers for huge tables.

    >>> concordance(checked_blocks([[[2, 0], [0, 2]]])).tolist()
    [4]
    """
    if rows_of(blocks) > MAX_PAIR_ROWS:
        return np.array(exact_scores(blocks), dtype=object)
    scores = np.empty(len(blocks), np.int64)
    fill_concordance(blocks, scores)
    return scores


@proved("kendall.proof.md")
def kendall_sensitivity(neighbours: Neighbours | str, r: int, c: int, k: int) -> float:
    """Return the sensitivity of blocked Kendall's statistic K (theorem 1).

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
    """Return the sensitivity of the variance V of blocked Kendall (theorem 2).

    >>> kendall_variance_sensitivity("add-remove", 2, 2)
    0.25
    """
    r, c, _ = checked_shape(r, c)
    rise = MAX_V_RISE_BINARY if is_binary(r, c) else MAX_V_RISE
    return rise if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE else rise + MAX_V_FALL


@proved("kendall.proof.md")
def kendall_joint_sensitivity(
    neighbours: Neighbours | str, r: int, c: int, k: int, weight: float = 1.0, norm: int = 1
) -> float:
    """Return the l1 or l2 sensitivity (``norm`` 1 or 2) of the vector (K, weight V) (theorems 3 and 4).

    >>> kendall_joint_sensitivity("replace-one", 2, 2, k=64, weight=1.0)
    2.0
    """
    if not (weight >= 0 and math.isfinite(weight)) or norm not in (1, 2):
        raise InputError(f"the weight must be at least 0 and the norm 1 or 2, not {weight!r}, {norm!r}")
    alone = kendall_sensitivity(neighbours, r, c, k)
    sides = alone, weight * kendall_variance_sensitivity(neighbours, r, c)
    separate = sum(sides) if norm == 1 else math.hypot(*sides)
    if is_binary(r, c):
        free = FREE_WEIGHT_L1 if norm == 1 else FREE_WEIGHT_L2
        factor = 1.0 if weight <= free else (1 + weight) ** 2 / (4 * weight) if norm == 1 else weight / free
        return min(separate, alone * factor)
    rows = 1 if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE else 2
    return min(separate, rows * (1.5 + weight / 9)) if norm == 1 and weight <= 1 else separate


@proved("kendall.proof.md")
def kendall_margin_sensitivity(
    neighbours: Neighbours | str, r: int, c: int, k: int, threshold: float, floor: float
) -> float:
    """Return the sensitivity of ``kendall_margin`` (theorem 5); for 2x2 tables and V0 >= T^2/4 it is that of K alone.

    >>> kendall_margin_sensitivity("replace-one", 2, 2, k=8, threshold=2.0, floor=1.0)
    2.0
    """
    _check_margin(threshold, floor)
    return kendall_joint_sensitivity(neighbours, r, c, k, weight=threshold / (2 * math.sqrt(floor)))


def kendall_weight(neighbours: Neighbours | str, r: int, c: int, k: int, epsilon: float) -> float:
    """Return the weight of V in a release of (K, weight V) with Laplace noise: max(w0, 1.25 epsilon/Delta_K).

    w0 = 1 for 2x2 tables, where it is free, else 1/5. So the noise on V has scale b_V <= .8 b_K^2, which keeps the
    level of ``laplace_tail`` within .042 and .056 at .05 whatever V is (``stats/noisy_normal.py``).

    >>> kendall_weight("replace-one", 2, 2, k=8, epsilon=1.0)
    1.0
    """
    return max(
        FREE_WEIGHT_L1 if is_binary(r, c) else 0.2, 1.25 * epsilon / kendall_sensitivity(neighbours, r, c, k)
    )
