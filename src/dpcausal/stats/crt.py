"""The statistic of the conditional randomization test, its copies that are permutations, and its rank among theirs.

    T = sum_i u_i v_i,      u_i = clip((x_i - centre_i)/sd_i, -1, 1),   |u_i| <= 1

x is the real column or one drawn from its law given z; centre_i and sd_i are the mean and standard deviation of
that law at z_i (or any other function of row i's z), so u is the residual in standard deviations, cut at one: it keeps
.95 of the correlation of a normal x, and its reach does not depend on the bounds of x. v_i scores y:

- ``ranks`` (default): v_i = A_i/n_b, A_i = (rows below) - (rows above) of y_i in its block b of z, |v_i| < 1. Needs no
  bounds of y and takes out what z does to it. Sensitivity **2 add, 4 replace**, for any number of blocks.
- ``plain``: v_i = y scaled to [-1, 1] by its declared bounds. **1 add, 2 replace**; z's part of y stays in as noise.
- ``kernel``: residuals of y in [-1, 1] after kernel ridge on z, the paper's. **2 (1 + B)^2 replace**, with
  B = 1/sqrt(2 lambda) for lambda <= 2, else 2/(2 + lambda) (5.83 at lambda = 1, where [2] has 29); none for add.

With several columns in u or v (indicators of unordered levels) T is the largest |sum u v|: no more sensitive.

**Permutations.** The test of [3] compares x with permutations of x that are as likely, given z and the values of x in
any order, as x itself: P(pi) ~ prod_i q(x_pi(i) | z_i). They tie two rows together, the changed one and the one that
its value went to. Two cases can be drawn exactly and keep a row's reach small:

- **cells**: all given columns hold levels. Within a cell of z the factors cancel, so every permutation within cells is
  as likely as any other, whatever q is: **no law of x need be known**. Drawn by inserting row after row: the t-th row
  of a cell changes places with one of the first t, itself included. Ranks **4 add, 8 replace**; plain **3 add, 6
  replace**.
- **pairs**: z holds numbers and q is known. Rows are paired at random, once for all copies; each pair changes places
  with probability 1/(1 + q(x_i|z_i) q(x_j|z_j)/(q(x_j|z_i) q(x_i|z_j))): given the pairs and their two values, the law
  of x under the null. An odd row stays. Ranks **6 replace**; plain **4 replace**; none for add, since one row more
  would pair all others anew. (The sampler of [3, Algorithm 1] repeats the pairs with fresh partners. Each round then
  passes a change of one row on to twice as many rows, so that nothing bounds what one row does: one round is taken.)

**Rank.** Queries T_0 ... T_m have sensitivity Delta, all may move at once; Q_0 >= ... >= Q_m are their values, largest
first. The rank of T_k is the c with Q_c = T_k. Counting how many are above it has sensitivity m; the score

    s(c) = -|Q_c - T_k|/(2 Delta)                                                          [2, Definition 3.1]

of a rank c has **sensitivity 1** (``query_rank.proof.md``), is 0 for the right rank, and is near 0 only for ranks whose
value is near T_k. A private choice by these scores errs towards such ranks only: report-noisy-max with exponential
noise of scale 2/epsilon returns a rank c with |Q_c - T_k| <= gamma = (4 Delta/epsilon) log(m/(2 failure)) but for a
probability ``failure`` [2, Theorem 3.6], where the paper prints log(m/failure).

**Guarantee**: ``crt.proof.md``. **Null law**: whatever v, the T of the real column and of the copies are exchangeable
if x is independent of y given z and the law of x given z is right (for permutations: given the values in each cell or
pair). **Cost** O(n log n), then O(n) a copy. **Edge cases**: sd 0 (x is determined by z) gives u = 0; a block of one
row gives v = 0.

References: [1] Candes et al. 2018; [2] Kalemaj, Kasiviswanathan & Ramdas 2024, Def. 3.4 and Lemma C.1; [3] Berrett,
Wang, Barber & Samworth 2020.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.arguments import checked_level, checked_strength
from dpcausal.core.compiled import jit
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats.gcm_ridge import weight_bound
from dpcausal.stats.limits import checked_rows
from dpcausal.stats.value_ranks import Ranked

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Score = Literal["ranks", "plain", "kernel"]
Copies = Literal["law", "cells", "pairs"]
SCORE_SENSITIVITY = 1.0  # of the score of a rank
CHUNK_ROWS = 1 << 16  # rows summed at once, in a tree, as numpy adds numbers that lie side by side


@proved("crt.proof.md")
def crt_sensitivity(
    neighbours: Neighbours | str, score: Score, strength: float = 1.0, copies: Copies = "law"
) -> float:
    """Return the sensitivity of the crt statistic T.

    Parameters
    ----------
    neighbours
        The relation.
    score
        How y is scored.
    strength
        The lambda of the score ``kernel``.
    copies
        Drawn from the law of x given z, or permutations within cells or pairs.

    >>> crt_sensitivity("replace-one", "ranks"), round(crt_sensitivity("replace-one", "kernel", 1.0), 2)
    (4.0, 5.83)
    >>> crt_sensitivity("add-remove", "ranks", copies="cells")
    4.0
    """
    added = Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE
    if copies != "law":
        return _permutation_sensitivity(added, score, copies)
    if score == "ranks":
        return 2.0 if added else 4.0
    if score == "plain":
        return 1.0 if added else 2.0
    if added:
        raise InputError(
            "score='kernel' needs replace-one neighbours: its penalty grows with the number of rows"
        )
    return 2 * (1 + weight_bound(checked_strength(strength))) ** 2


@proved("crt.proof.md")
def _permutation_sensitivity(added: bool, score: Score, copies: Copies) -> float:
    """Return the sensitivity of T where copies are permutations of x."""
    if score == "kernel":
        raise InputError("permutations of x go with score='ranks' or 'plain', not with 'kernel'")
    if copies == "cells":
        once = 4.0 if score == "ranks" else 3.0
        return once if added else 2 * once
    if added:
        raise InputError(
            "permutations within pairs need replace-one neighbours: one row more would pair all others anew"
        )
    return 6.0 if score == "ranks" else 4.0


@proved("crt.proof.md")
def standardised(x: Floats, centre: Floats, sd: Floats) -> Floats:
    """Return the residuals of x in standard deviations (u), clipped at 1; 0 where the standard deviation is 0.

    >>> standardised(np.array([3.0, 0.5]), np.zeros(2), np.array([1.0, 2.0])).tolist()
    [1.0, 0.25]
    """
    u = np.divide(x - centre, sd, out=np.zeros_like(centre), where=sd > 0)
    return np.clip(u, -1.0, 1.0, out=u)


@proved("crt.proof.md")
def rank_scores(y: Ranked, block: NDArray[np.int64], k: int) -> Floats:
    """Return the rank score of every y (v): rows below less rows above in its block, over the size of the block.

    >>> from dpcausal.stats.value_ranks import ranked
    >>> rank_scores(ranked(np.array([5.0, 1.0, 3.0, 3.0])), np.zeros(4, np.int64), 1).tolist()
    [0.75, -0.75, 0.0, 0.0]
    """
    n = len(block)
    if n == 0:
        return np.zeros(0)
    order = np.lexsort((y.codes, block))
    b, c = block[order], y.codes[order]
    place = np.arange(n)
    new_block = np.concatenate([[True], b[1:] != b[:-1]])
    new_value = new_block | np.concatenate([[True], c[1:] != c[:-1]])
    block_start, block_stop = _runs(new_block, place)
    value_start, value_stop = _runs(new_value, place)
    size = (block_stop - block_start).astype(np.float64)
    below, above = value_start - block_start, block_stop - value_stop
    v = np.empty(n)
    v[order] = (below - above) / size
    return v


@proved("crt.proof.md")
def crt_statistic(u: Floats, v: Floats) -> float:
    """Return the crt statistic T: the largest |sum_i u_i v_i| over the columns of ``u`` (n x f) and ``v`` (n x g).

    >>> crt_statistic(np.array([[1.0], [-1.0]]), np.array([[0.5], [0.25]]))
    0.25
    """
    n = checked_rows(len(u))
    chunks = [slice(start, start + CHUNK_ROWS) for start in range(0, n, CHUNK_ROWS)]
    return max(abs(math.fsum(float((a[rows] * b[rows]).sum()) for rows in chunks)) for a in u.T for b in v.T)


@proved("crt.proof.md")
def signed_statistic(u: Floats, v: Floats) -> float:
    """Return sum_i u_i v_i of one column each: the statistic as the paper prints it, one-sided.

    >>> signed_statistic(np.array([[1.0], [-1.0]]), np.array([[0.25], [0.5]]))
    -0.25
    """
    n = checked_rows(len(u))
    chunks = [slice(start, start + CHUNK_ROWS) for start in range(0, n, CHUNK_ROWS)]
    return math.fsum(float((u[rows, 0] * v[rows, 0]).sum()) for rows in chunks)


def _runs(new: NDArray[np.bool_], place: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the start and stop of the run of equal values that contains each place; ``new`` marks starts of runs."""
    first = np.flatnonzero(new)
    number = np.cumsum(new) - 1
    return first[number], np.append(first[1:], len(place))[number]


def places_in_cells(cell: Integers) -> Integers:
    """Return the position of every row among the rows of its cell, from 1.

    >>> places_in_cells(np.array([0, 1, 0, 0, 1])).tolist()
    [1, 1, 2, 3, 2]
    """
    order = np.argsort(cell, kind="stable")
    in_order = cell[order]
    first = np.searchsorted(in_order, in_order)
    places = np.empty(len(cell), np.int64)
    places[order] = np.arange(len(cell)) - first + 1
    return places


@jit()
def _insert(order: Any, start: Any, drawn: Any, source: Any) -> None:
    """Fill ``source`` with a permutation within cells, by random insertion.

    Of every row it holds the row that it takes its value from.
    """
    for at in range(order.shape[0]):
        row, other = order[at], order[start[at] + drawn[order[at]]]
        if other != row:
            source[row] = source[other]
        source[other] = row


@proved("crt.proof.md")
def permuted_in_cells(cell: Integers, drawn: Integers) -> Integers:
    """Return the row whose value each row gets: a permutation within cells.

    Parameters
    ----------
    cell
        The cell of every row.
    drawn
        For every row a number drawn uniformly from 0 ... t - 1, t as in ``places_in_cells``.

    >>> permuted_in_cells(np.array([0, 0, 1]), np.array([0, 0, 0])).tolist()
    [1, 0, 2]
    """
    order = np.argsort(cell, kind="stable").astype(np.int64)
    in_order = cell[order]
    source = np.empty(len(cell), np.int64)
    _insert(order, np.searchsorted(in_order, in_order).astype(np.int64), drawn.astype(np.int64), source)
    return source


def swap_chances(own: Floats, other: Floats) -> Floats:
    """Return the probability that the two rows of each pair change places.

    Parameters
    ----------
    own, other
        log q(x_i|z_i) + log q(x_j|z_j) of every pair, and log q(x_j|z_i) + log q(x_i|z_j).

    >>> swap_chances(np.array([0.0, 0.0]), np.array([0.0, -np.inf])).tolist()
    [0.5, 0.0]
    """
    with np.errstate(all="ignore"):
        gap = np.nan_to_num(own - other, nan=0.0, posinf=800.0, neginf=-800.0)
        return np.asarray(1.0 / (1.0 + np.exp(np.clip(gap, -700.0, 800.0))))


@proved("crt.proof.md")
def swapped_pairs(n: int, order: Integers, swap: NDArray[np.bool_]) -> Integers:
    """Return the row whose value each row receives: rows 2k and 2k + 1 of ``order`` swap where ``swap`` is true.

    >>> swapped_pairs(3, np.array([2, 0, 1]), np.array([True])).tolist()
    [2, 1, 0]
    """
    source = np.arange(n)
    one, two = order[: 2 * len(swap) : 2][swap], order[1 : 2 * len(swap) : 2][swap]
    source[one], source[two] = two, one
    return source


@proved("query_rank.proof.md")
def query_rank_scores(values: ArrayLike, which: int, sensitivity: float) -> NDArray[np.float64]:
    """Return the utility of each rank that query ``which`` may have among ``values``: 0 for the right one.

    >>> query_rank_scores([1.0, 7.0, 3.0], 2, 0.5).tolist()
    [-4.0, -0.0, -2.0]
    """
    queries = np.asarray(values, np.float64)
    return np.asarray(-np.abs(np.sort(queries)[::-1] - queries[which]) / (2 * sensitivity))


def rank_error(sensitivity: float, epsilon: float, others: int, failure: float) -> float:
    """Return a bound on how far the query at the noisy rank is from the right one, failing with prob. ``failure``.

    ``others`` is m, the number of the other queries, and ``sensitivity`` Delta of every query.

    >>> round(rank_error(1.0, 2.0, 19, 0.05), 2)
    10.49
    """
    if others < 1 or not epsilon > 0 or not sensitivity > 0:
        raise InputError("a rank needs at least one other query, an epsilon and a sensitivity above 0")
    return max(0.0, 4 * sensitivity / epsilon * math.log(others / (2 * checked_level(failure, "failure"))))
