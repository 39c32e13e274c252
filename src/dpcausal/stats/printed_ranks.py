"""Kendall's tau and Spearman's rho as Definitions 5 to 8 of [1] print them: for ``variant="paper"``, not private.

**Formula.** Of n rows with C concordant pairs (x and y both rise) and d the distance of the ranks of x and y in a row

    tau = 2 |C - D|/(n (n-1)),  D = n(n-1)/2 - C   (5)        rho = |1 - 6 sum d^2/(n (n-1))|   (7)

so ties are discordant, and rho is not within -1 and 1: n^2 - 1 is meant. Over blocks i of the given columns

    z = sum_i w_i t_i/sqrt(sum_i w_i),  t_i = tau_i, w_i = 9 n_i (n_i - 1)/(2 (2 n_i + 5))   (6)
                                        t_i = rho_i, w_i = n_i - 1                           (8)

Definition 7 says nothing of ties: the rows of one value have the mean of their places here.
**Sensitivity as claimed**, none of which is used for rows that are protected: tau 2/(n-1) [Theorem 6], its z
(9/2)/sqrt(n-1) [7], rho 30/n [8], its z 31 sqrt(k)/sqrt(n-k) for k blocks [9]; 9/2 and 31 are called typical there.
**Null law as claimed**: w_i is one over the variance of t_i, so tau and rho have a standard deviation of 1/sqrt(w) and
z of 1. With ties or several blocks that is not so (``docs/corrections.md``).
**Cost** O(k r c) of tables, O(n log n) of rows. **Edge cases**: a block of fewer than two rows has t_i = 0; with too
few rows for a theorem the claimed sensitivity is infinite.

References: [1] Wang, Pang & Song 2020 (Priv-PC), appendices D and E.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from dpcausal.stats.blocks import block_sizes, checked_blocks
from dpcausal.stats.value_ranks import Integers, Ranked, rank_statistics, ranked

Floats = NDArray[np.float64]


class RankCounts(NamedTuple):
    """Of every block: the rows, the concordant pairs, and the squared distances of the two ranks, summed."""

    rows: Integers
    concordant: Integers
    squares: Floats


class PrintedRank(NamedTuple):
    """A statistic as printed, and the sensitivity and null standard deviation that the paper claims for it."""

    value: float
    sensitivity: float
    spread: float


def in_tables(blocks: ArrayLike) -> RankCounts:
    """Return the counts of tables of shape (k, r, c).

    >>> in_tables([[[2, 0], [0, 2]]])
    RankCounts(rows=array([4]), concordant=array([4]), squares=array([0.]))
    """
    table = checked_blocks(blocks)
    beyond = np.zeros_like(table)  # rows that are above a cell in both columns
    beyond[:, :-1, :-1] = table[:, ::-1, ::-1].cumsum(1).cumsum(2)[:, ::-1, ::-1][:, 1:, 1:]
    x, y = (_middle_ranks(table.sum(axis=axis)) for axis in (2, 1))
    squares = (table * np.square(x[:, :, None] - y[:, None, :])).sum(axis=(1, 2))
    return RankCounts(block_sizes(table), (table * beyond).sum(axis=(1, 2)), squares)


def _middle_ranks(counts: Integers) -> Floats:
    """Return the mean place of the rows of every level."""
    return np.asarray(np.cumsum(counts, axis=1) - (counts - 1) / 2)


def in_rows(x: Ranked, y: Ranked, block: Integers) -> RankCounts:
    """Return the counts of rows, ``block`` being that of every row: those of blocks that have a row.

    >>> in_rows(ranked(np.array([0.1, 0.2, 0.2])), ranked(np.array([1.0, 7.0, 8.0])), np.zeros(3, np.int64))
    RankCounts(rows=array([3]), concordant=array([2]), squares=array([0.5]))
    """
    order = np.argsort(block, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(block[order])) + 1)
    found = [_of_block(x.codes[part], y.codes[part]) for part in parts if len(part)]
    rows, concordant, squares = zip(*found, strict=True) if found else ((), (), ())
    return RankCounts(np.array(rows, np.int64), np.array(concordant, np.int64), np.array(squares, np.float64))


def _of_block(x: Integers, y: Integers) -> tuple[int, int, float]:
    """Return the rows, concordant pairs and squared distances of one block."""
    n, one = len(x), ranked(x)
    other = ranked(y)
    tied = _tied(one.codes) + _tied(other.codes) - _tied(one.codes * other.levels + other.codes)
    kendall, _ = rank_statistics(one, other, np.zeros(n, np.int64), 1)  # (concordant - discordant)/n, ties 0
    concordant = (n * (n - 1) // 2 - tied + round(n * kendall.statistic)) // 2
    return n, concordant, float(np.square(rankdata(x) - rankdata(y)).sum())


def _tied(codes: Integers) -> int:
    """Return how many pairs of rows have the same code."""
    counts = np.unique(codes, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def printed_tau(counts: RankCounts) -> Floats:
    """Return Definition 5 of every block.

    >>> float(printed_tau(in_tables([[[25, 25], [25, 25]]]))[0].round(2))  # independent
    0.75
    """
    pairs = counts.rows * (counts.rows - 1) // 2
    return np.asarray(np.abs(2 * counts.concordant - pairs) / np.maximum(pairs, 1))


def printed_tau_z(counts: RankCounts) -> float:
    """Return Definition 6; 0 without a block of two rows.

    >>> round(printed_tau_z(in_tables([[[20, 0], [0, 20]], [[0, 20], [20, 0]]])), 2)  # opposite blocks
    6.59
    """
    return _weighted(_tau_weight(counts.rows), printed_tau(counts))


def printed_rho(counts: RankCounts) -> Floats:
    """Return Definition 7 of every block.

    >>> float(printed_rho(in_tables([np.eye(10, dtype=int)[::-1]]))[0])  # ten rows in reverse order
    21.0
    """
    pairs = counts.rows * (counts.rows - 1)
    return np.where(pairs > 0, np.abs(1 - 6 * counts.squares / np.maximum(pairs, 1)), 0.0)


def printed_rho_z(counts: RankCounts) -> float:
    """Return Definition 8; 0 without a block of two rows."""
    return _weighted(np.maximum(counts.rows - 1.0, 0.0), printed_rho(counts))


def printed_kendall(counts: RankCounts, k: int) -> PrintedRank:
    """Return Definition 6 of rows in k blocks, of one block Definition 5.

    >>> printed_kendall(in_tables([[[5, 0], [0, 5]]]), 1).sensitivity.__round__(4)
    0.2222
    """
    n = int(counts.rows.sum())
    if k > 1:
        return PrintedRank(printed_tau_z(counts), 4.5 / math.sqrt(n - 1) if n > 1 else math.inf, 1.0)
    return _one_block(printed_tau(counts), 2 / (n - 1) if n > 1 else math.inf, _tau_weight(counts.rows))


def printed_spearman(counts: RankCounts, k: int) -> PrintedRank:
    """Return Definition 8 of rows in k blocks, of one block Definition 7.

    >>> printed_spearman(in_tables([[[5, 0], [0, 5]]]), 1).sensitivity
    3.0
    """
    n = int(counts.rows.sum())
    if k > 1:
        claimed = 31 * math.sqrt(k) / math.sqrt(n - k) if n > k else math.inf
        return PrintedRank(printed_rho_z(counts), claimed, 1.0)
    return _one_block(printed_rho(counts), 30 / n if n > 0 else math.inf, counts.rows.astype(np.float64) - 1)


def _one_block(value: Floats, claimed: float, weight: Floats) -> PrintedRank:
    """Return the statistic of one block; its null standard deviation is 0 where there are fewer than two rows."""
    return PrintedRank(float(value.sum()), claimed, 1 / math.sqrt(weight.sum()) if weight.sum() > 0 else 0.0)


def _tau_weight(n: Integers) -> Floats:
    """Return one over the null variance of tau of n rows without ties."""
    return np.asarray(9 * n * (n - 1) / (2 * (2 * n + 5)))


def _weighted(weights: Floats, values: Floats) -> float:
    """Return the weighted sum over the root of the sum of the weights, 0 without weights."""
    total = float(weights.sum())
    return float(weights @ values) / math.sqrt(total) if total > 0 else 0.0
