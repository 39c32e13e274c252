"""Statistics and error bounds as papers have them, to compare with, and for tests as printed.

**Definitions 5 to 8 of [1] to the letter**, for ``variant="paper"`` of ``kendall`` and ``spearman``, not private. Of n
rows with C concordant pairs (x and y both rise) and d the distance of the ranks of x and y in a row

    tau = 2 |C - D|/(n (n-1)),  D = n(n-1)/2 - C   (5)        rho = |1 - 6 sum d^2/(n (n-1))|   (7)

so ties are discordant, and rho is not within -1 and 1: n^2 - 1 is meant. Over blocks i of the given columns

    z = sum_i w_i t_i/sqrt(sum_i w_i),  t_i = tau_i, w_i = 9 n_i (n_i - 1)/(2 (2 n_i + 5))   (6)
                                        t_i = rho_i, w_i = n_i - 1                           (8)

Definition 7 says nothing of ties: the rows of one value have the mean of their places here. Sensitivity as claimed in
appendices D and E, none of which is used for rows that are protected: tau 2/(n-1) [Theorem 6], its z (9/2)/sqrt(n-1)
[7], rho 30/n [8], its z 31 sqrt(k)/sqrt(n-k) for k blocks [9]; with too few rows for a theorem it is infinite. Null law
as claimed: t_i has variance 1/w_i and z variance 1, which is not so with ties or several blocks
(``docs/corrections.md``). O(k r c) of tables, O(n log n) of rows; a block of fewer than two rows has t_i = 0.

**Weighted Kendall** [1, Definition 6; 2] with tau_i signed, S_i concordant minus discordant pairs of block i (with
|tau_i| the null mean grows like .8 sqrt(k)),

    z = sum_i w_i tau_i / sqrt(max(W, W0)),  W = sum_i w_i,  w_i = 9 n_i (n_i - 1)/(2 (2 n_i + 5))

The numerator is sum 9 S_i/(2 n_i + 5). W0 is a public floor: every data set of n rows in k blocks has W >= k w(n/k), so
``weighted_floor`` changes nothing where n > k is large, and keeps the bound where blocks are small. Sensitivity
(``weighted_kendall.proof.md``): numerator 27/4 - 9/(4(L-1)) add, L the smaller number of levels, twice that replace
(one block: 9, and 9/2 for 2x2); z at most (numerator bound + 9/8)/sqrt(W0). The constant 9/2 of [1, Theorem 7] does not
hold. **Null law**: N(0, 1) without ties only; on binary columns the null standard deviation is at most 3/4, so a
nominal .05 rejects less than .01.

**tau-a and rho of one block** (``kendall.proof.md``, ``spearman.proof.md``): tau-a 4/(n+1) add, 4/n replace; rho
6/(n+2) add, 6/(n+1) replace; half of that for 2x2 tables. Under add-remove n must be a public lower bound on the rows
of the smaller data set. **Weighted Spearman** [1, Definition 8]: F/sqrt(max(sum max(n_i - 1, 0), W0)), F of
``stats/spearman.py``; at most (bound of F + 1/2)/sqrt(W0).

**Error bounds**, all about power, none about privacy:

- ``noisy_gcm_power`` [3, Theorem 2.3]: with noise on every residual product the statistic is near
  N(sqrt(n) rho/sigma', 1), sigma'^2 = sigma^2 + 2 b^2, rho = E cov(x, y | z), sigma^2 = Var of the products of the true
  residuals, b the scale of the noise (in the same units: a b Delta/epsilon where x and y are within a and b). A limit,
  not a bound: it holds as far as the regressions leave nothing of z.
- ``missed_by_chi2`` [4, Theorem 3]: chi-squared with Laplace noise of scale Delta/epsilon accepts a table whose
  chi-squared is above tau + gamma with probability at most exp(-gamma epsilon/Delta)/2.
- ``missed_by_circle`` [4, Theorem 7]: so does the unit circle with at most exp(-(w - 1) epsilon/Delta)/2,
  w = sqrt(1 + 4 gamma M1 M0/(tau N^2)), because ||V||^2 = 1 + (4 M1 M0/N^2)(chi2/tau - 1). It needs M1 M0, which the
  paper takes to be public; for a rare allele it says little.
- ``type_two_error`` [4, Theorem 2]: the test errs at most that often, plus the probability that chi-squared is below
  tau + gamma at all.

References: [1] Wang, Pang & Song 2020; [2] Taylor 1987; [3] Kalemaj, Kasiviswanathan & Ramdas 2024; [4] Kakizaki,
Fukuchi & Sakuma 2017, appendices B, C and H.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from dpcausal.core.arguments import checked_level
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats.blocks import block_sizes, checked_blocks, checked_shape, is_binary
from dpcausal.stats.kendall import concordance
from dpcausal.stats.spearman import spearman, spearman_sensitivity
from dpcausal.stats.value_ranks import Integers, Ranked, rank_statistics, ranked

Floats = NDArray[np.float64]

MAX_WEIGHT_RISE = 9 / 4  # w grows by less than this for each row


class WeightedKendall(NamedTuple):
    """The weighted sum of tau over blocks, and the sum of the weights."""

    numerator: float
    weight: float


def _weight(n: NDArray[np.float64] | float) -> NDArray[np.float64] | float:
    """Return the weight of a block of n rows: one over the null variance of tau without ties."""
    return 9 * n * (n - 1) / (2 * (2 * n + 5))


def weighted_kendall(blocks: ArrayLike) -> WeightedKendall:
    """Return the weighted sum of tau over blocks and the sum of the weights.

    >>> weighted_kendall([[[5, 0], [0, 5]]])
    WeightedKendall(numerator=9.0, weight=16.2)
    """
    table = checked_blocks(blocks)
    score = concordance(table)
    n = block_sizes(table).astype(np.float64)
    return WeightedKendall(float(np.sum(9.0 * score / (2 * n + 5))), float(np.sum(_weight(n))))


def weighted_kendall_z(blocks: ArrayLike, floor: float) -> float:
    """Return the papers' weighted Kendall z with a public floor under the root.

    >>> weighted_kendall_z([[[5, 0], [0, 5]]], floor=weighted_floor(10, 1)).__round__(4)
    2.2361
    """
    checked_floor(floor)
    numerator, weight = weighted_kendall(blocks)
    return numerator / math.sqrt(max(weight, floor))


@proved("weighted_kendall.proof.md")
def weighted_floor(n: int, k: int) -> float:
    """Return a lower bound on the sum of weights of n rows in k blocks, at least 1: max(k w(n/k), 1).

    >>> weighted_floor(1000, 64) < 9 * 1000 / 4, weighted_floor(3, 64)
    (True, 1.0)
    """
    _, _, k = checked_shape(1, 1, k)
    return max(float(k * _weight(n / k)), 1.0)


@proved("weighted_kendall.proof.md")
def weighted_numerator_sensitivity(neighbours: Neighbours | str, r: int, c: int, k: int) -> float:
    """Return the sensitivity of the weighted sum of tau over blocks.

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


def checked_floor(floor: float) -> float:
    """Return a public floor under a variance, if it is a finite number above 0."""
    if not (math.isfinite(floor) and floor > 0):
        raise InputError(f"the floor must be a finite number above 0, not {floor!r}")
    return floor


def tau_a(blocks: ArrayLike) -> float:
    """Return Kendall's tau-a = 2 S/(n(n-1)) of a single block, ties 0; 0 if n < 2.

    tau-b has no bound of order 1/n: one row can move it by 1 at every n.

    >>> tau_a([[[2, 0], [0, 2]]])
    0.6666666666666666
    """
    table = checked_blocks(blocks)
    if len(table) != 1:
        raise InputError(f"tau-a takes one block, not {len(table)}")
    n = int(block_sizes(table)[0])
    return 2.0 * int(concordance(table)[0]) / (max(n, 2) * (max(n, 2) - 1))


@proved("kendall.proof.md")
def tau_a_sensitivity(neighbours: Neighbours | str, r: int, c: int, n: int) -> float:
    """Return the sensitivity of tau-a on n rows (theorem 6).

    >>> tau_a_sensitivity("replace-one", 2, 2, n=100), tau_a_sensitivity("replace-one", 5, 5, n=100)
    (0.02, 0.04)
    """
    r, c, _ = checked_shape(r, c)
    if n < 1:
        raise InputError(f"n must be at least 1, not {n}")
    rows = n + 1 if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE else n
    return (2.0 if is_binary(r, c) else 4.0) / rows


def spearman_z(blocks: ArrayLike, floor: float) -> float:
    """Return the papers' weighted Spearman z with a public floor under the root: n - k is never above the sum there.

    >>> spearman_z([[[1, 0, 0], [0, 1, 0], [0, 0, 1]]], floor=2.0)
    1.414213562373095
    """
    checked_floor(floor)
    table = checked_blocks(blocks)
    weight = float(np.maximum(block_sizes(table) - 1, 0).sum())
    return spearman(table).statistic / math.sqrt(max(weight, floor))


@proved("spearman.proof.md")
def rho_sensitivity(neighbours: Neighbours | str, r: int, c: int, n: int) -> float:
    """Return the sensitivity of rho of one block of n rows: 6/(n+2) add, 6/(n+1) replace; for 2x2 tables half of it.

    Under add-remove ``n`` must be a public lower bound on the rows of the smaller data set.

    >>> rho_sensitivity("replace-one", 4, 4, n=59)
    0.1
    """
    r, c, _ = checked_shape(r, c)
    if n < 1:
        raise InputError(f"n must be at least 1, not {n}")
    rows = n + (2 if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE else 1)
    return (3.0 if is_binary(r, c) else 6.0) / rows


@proved("spearman.proof.md")
def spearman_z_sensitivity(neighbours: Neighbours | str, r: int, c: int, k: int, floor: float) -> float:
    """Return the sensitivity of ``spearman_z`` with this floor, e.g. floor = n - k where n > k is public.

    >>> spearman_z_sensitivity("replace-one", 4, 4, k=8, floor=100.0)
    1.025
    """
    checked_floor(floor)
    return (spearman_sensitivity(neighbours, r, c, k) + 0.5) / math.sqrt(floor)


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
    n, one, other = len(x), ranked(x), ranked(y)
    tied = _tied(one.codes) + _tied(other.codes) - _tied(one.codes * other.levels + other.codes)
    kendall, _ = rank_statistics(one, other, np.zeros(n, np.int64), 1)  # (concordant - discordant)/n, ties 0
    concordant = (n * (n - 1) // 2 - tied + round(n * kendall.statistic)) // 2
    rank_x, rank_y = (_middle_ranks(np.bincount(side.codes)[None])[0, side.codes] for side in (one, other))
    return n, concordant, float(np.square(rank_x - rank_y).sum())


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
    return _weighted(np.asarray(_weight(counts.rows.astype(np.float64))), printed_tau(counts))


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
    return _one_block(printed_tau(counts), 2 / (n - 1) if n > 1 else math.inf, float(_weight(float(n))))


def printed_spearman(counts: RankCounts, k: int) -> PrintedRank:
    """Return Definition 8 of rows in k blocks, of one block Definition 7.

    >>> printed_spearman(in_tables([[[5, 0], [0, 5]]]), 1).sensitivity
    3.0
    """
    n = int(counts.rows.sum())
    if k > 1:
        claimed = 31 * math.sqrt(k) / math.sqrt(n - k) if n > k else math.inf
        return PrintedRank(printed_rho_z(counts), claimed, 1.0)
    return _one_block(printed_rho(counts), 30 / n if n > 0 else math.inf, n - 1.0)


def _one_block(value: Floats, claimed: float, weight: float) -> PrintedRank:
    """Return the statistic of one block; its null standard deviation is 0 where there are fewer than two rows."""
    return PrintedRank(float(value.sum()), claimed, 1 / math.sqrt(weight) if weight > 0 else 0.0)


def _weighted(weights: Floats, values: Floats) -> float:
    """Return the weighted sum over the root of the sum of the weights, 0 without weights."""
    total = float(weights.sum())
    return float(weights @ values) / math.sqrt(total) if total > 0 else 0.0


def noisy_gcm_power(n: int, signal: float, spread: float, noise_scale: float, level: float = 0.05) -> float:
    """Return the probability that the two-sided test of noisy residual products rejects.

    Parameters
    ----------
    n
        The number of rows.
    signal, spread
        rho and sigma.
    noise_scale
        The scale of the Laplace noise on every product.
    level
        The size of the test.

    >>> round(noisy_gcm_power(1000, 0.0, 1.0, 5.0), 3), round(noisy_gcm_power(10_000, 0.3, 1.0, 5.0), 3)
    (0.05, 0.987)
    """
    if n < 1 or spread < 0 or noise_scale < 0 or not spread + noise_scale > 0:
        raise InputError("power needs at least one row, and a spread or a noise above 0")
    shift = math.sqrt(n) * signal / math.sqrt(spread**2 + 2 * noise_scale**2)
    cut = float(-ndtri(checked_level(level) / 2))
    return float(ndtr(shift - cut) + ndtr(-shift - cut))


def products_bound(strength: float) -> float:
    """Return Lemma B.6 of [3]: the l1 sensitivity of the residual products at lambda = ``strength``; safe, and loose.

    >>> round(products_bound(10.0), 2)
    11.73
    """
    root = math.sqrt(2 / strength)
    return 4 * (1 + root) * (1 + root + 4 * math.sqrt(2) / float(strength**1.5) + 4 / strength)


def crt_bound(strength: float) -> float:
    """Return Lemma C.1 of [3]: the sensitivity of the CRT's T at lambda = ``strength``; safe, and loose.

    >>> round(crt_bound(10.0), 2)
    6.95
    """
    return 4 * (1 + math.sqrt(2 / strength) + 2 * math.sqrt(2) / float(strength**1.5) + 2 / strength)


def circle_bound(n1: ArrayLike, n0: ArrayLike, tau: float) -> NDArray[np.float64]:
    """Return appendix G of [4]: the sensitivity of ||V|| for groups of these sizes; safe, up to sqrt(2) too large.

    >>> float(circle_bound(500, 500, 3.84).round(4))
    0.0457
    """
    one, zero = np.asarray(n1, np.float64), np.asarray(n0, np.float64)
    n, both = one + zero, tau * one * zero
    return 2 * np.sqrt(((zero**2 + one**2) * n + 2 * both) / (both * n * n))


def missed_by_chi2(gap: float, epsilon: float, sensitivity: float) -> float:
    """Return the most often that noisy chi-squared accepts a table with chi-squared above tau + ``gap``.

    >>> missed_by_chi2(0.0, 1.0, 4.0), round(missed_by_chi2(8.0, 1.0, 4.0), 4)
    (0.5, 0.0677)
    """
    _check(gap, epsilon, sensitivity)
    return 0.5 * math.exp(-gap * epsilon / sensitivity)


def missed_by_circle(
    gap: float, epsilon: float, sensitivity: float, tau: float, positives: int, n: int
) -> float:
    """Return the most often that the noisy unit circle accepts a table with chi-squared above tau + ``gap``.

    Parameters
    ----------
    gap
        gamma.
    epsilon, sensitivity
        Of the noise on ||V||.
    tau
        The chi-squared threshold.
    positives, n
        M1 and N: how many of the rows have the second outcome.

    >>> round(missed_by_circle(8.0, 1.0, 0.0323, 3.84, 500, 1000), 6)
    0.0
    """
    _check(gap, epsilon, sensitivity)
    if not (tau > 0 and 0 <= positives <= n and n > 0):
        raise InputError("tau must be above 0 and the positives within 0 and the number of rows")
    beyond = math.sqrt(1 + 4 * gap * positives * (n - positives) / (tau * n * n))
    return 0.5 * math.exp(-(beyond - 1) * epsilon / sensitivity)


def type_two_error(missed: float, below: float) -> float:
    """Return the bound on a type II error: ``missed`` beyond tau + gamma, ``below`` the chance not to be there at all.

    >>> type_two_error(0.1, 0.25)
    0.35
    """
    return min(1.0, missed + below)


def _check(gap: float, epsilon: float, sensitivity: float) -> None:
    """Refuse numbers for which a bound means nothing."""
    if not (gap >= 0 and epsilon > 0 and sensitivity > 0):
        raise InputError("the gap must be at least 0, epsilon and the sensitivity above 0")
