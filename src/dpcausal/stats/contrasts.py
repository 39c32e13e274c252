"""Evidence for and against dependence, from noisy tables of single columns and pairs alone.

**Formula.** A column with proportions p gets as many features as it has levels but one: functions of the level with
mean 0, variance 1 and no correlation with each other (the columns of ``scores``). The covariances of the features of
two columns make a block; all blocks make the matrix K, whose diagonal blocks are the identity. A pair released with
noise of variance v in every direction of its interaction gives a block with noise of variance v g_a g_b / n^2, where
g_a is the squared length of feature a after its mean over the levels is taken off. Features are turned so that this
noise has no correlation within a column. Rare levels have long features: their noise is large, and known to be.

Given a set S, x and y are replaced by what S leaves of them, with coefficients B from the estimate H of K,

    M = K_xy - B_x K_Sy - K_xS B_y' + B_x K_SS B_y',

which is linear in K for fixed B, so that its noise is known; an error in B_x matters only times an error in B_y.
Entries are divided by the standard deviations that S leaves, so M holds partial correlations.

**Evidence** of a block: the logarithm of the Bayes factor of "entries are normal with variance t + W" against "with
variance W", averaged over the sizes t of ``EFFECTS``; W is the variance of an entry under independence: sampling and
noise. Above 0 it speaks for dependence, below for independence, near 0 it says nothing. Were entries normal with
variance W under independence, its exponential would have mean 1 there and pass c with probability at most 1/c.

**H** shrinks each block to its posterior mean under the same prior (noise only), then lifts eigenvalues to
``MIN_EIGENVALUE``: it sets coefficients, it is not tested.

**Sampling.** 1/n for an entry of two independent columns. Given S, the variances that S leaves differ between its
levels; where those of x and of y rise together the variance is larger by sum p v_x v_y / (sum p v_x sum p v_y), which
pairs tell column by column of S; the largest of these factors is taken.

**Merged levels.** Where levels of a column of S were merged, what they tell of x and y goes on within a group, and with
enough rows looks like a link of x and y. Groups keep a known part k of a squared dependence on average (``kept``), so
the levels within groups explain 1/k - 1 times what the groups do of the variance of x and of y, at most all that is
left. The covariance of these two remainders is anywhere up to the root of their product, which counts as variance of
the entry: an edge, or an absence, that the merging alone may have made is not said.

**Guarantee.** Post-processing of released tables: costs nothing. **Where it fails**: effects of S on x that are not
sums over the columns of S (then a dependence may be left that tables of three columns would remove), and dependences
that pairs do not show.

**Cost** O(p^2) for all pairs (p features in all), O(q^3) given q features.

References: Andrews, Ramsey & Cooper 2019 (the Gaussian score of indicators); Shah & Peters 2020 (products of
residuals).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chndtr, chndtrinc

from dpcausal.core.compiled import jit
from dpcausal.core.forecast import WANTED
from dpcausal.stats.pair_distance import MEAN_ABSOLUTE

Floats = NDArray[np.float64]
Question = tuple[int, int, tuple[int, ...]]  # x and y given these columns

EFFECTS = (0.03, 0.1, 0.3)  # sizes of a partial correlation that the evidence averages over
MIN_EIGENVALUE = 0.02  # of the matrix that coefficients come from
MIN_LEFT = 0.15  # part of its variance that a set must leave of a column, or the question has no answer
POWER = WANTED  # part of the runs in which a detectable dependence is found
UNKNOWN = 1.0  # noise in a proportion that stands for a pair that was not measured
_SQUARES = np.square(EFFECTS)
OF_COLUMNS = ("places", "_members", "_starts", "_level_starts", "_of_levels")


@dataclass(frozen=True)
class Features:
    """Scores of the levels of a column: mean 0, variance 1, uncorrelated.

    Attributes
    ----------
    proportions : (r,) array
        Of the levels; none is 0.
    scores : (r, r - 1) array
        One feature in each column.
    gains : (r - 1,) array
        Squared length of each feature less its mean over the levels: what noise in a table is multiplied by.
    """

    proportions: Floats
    scores: Floats
    gains: Floats

    @classmethod
    def of(cls, counts: Floats, rows: float, noise: float) -> Features:
        """Return the orthonormal features of a column's levels, from its released table.

        Parameters
        ----------
        counts
            The released counts.
        rows
            The number of rows.
        noise
            Variance of the noise in a count.

        >>> two = Features.of(np.array([50.0, 50.0]), 100.0, 0.0)
        >>> np.abs(two.scores).round(6).tolist(), two.gains.round(6).tolist()
        ([[1.0], [1.0]], [2.0])
        """
        levels = len(counts)
        least = max(0.5, 0.5 * math.sqrt(noise)) / rows  # a level no count shows is taken as rare, not absent
        p = np.maximum(counts / rows, min(least, 0.5 / levels))
        p = p / p.sum()
        root = np.sqrt(p)
        basis = np.linalg.svd(np.eye(levels) - np.outer(root, root))[0][:, : levels - 1]
        scores = basis / root[:, None]
        flat = scores - scores.mean(axis=0)
        gains, turn = np.linalg.eigh(flat.T @ flat)
        return cls(p, scores @ turn, np.maximum(gains, 0.0))


def without_levels(number: int) -> Features:
    """Return features that are not functions of levels: numbers of which only correlations are known."""
    return Features(np.ones(1), np.zeros((1, number)), np.ones(number))


@jit(error_model="numpy")
def solved(matrix: Any, right: Any) -> Any:
    """Return matrix^-1 right for a positive definite matrix, by Cholesky; overwrites both."""
    size, wide = right.shape
    for i in range(size):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = np.sqrt(max(total, 1e-12)) if i == j else total / matrix[j, j]
    for column in range(wide):
        for i in range(size):
            total = right[i, column]
            for k in range(i):
                total -= matrix[i, k] * right[k, column]
            right[i, column] = total / matrix[i, i]
        for i in range(size - 1, -1, -1):
            total = right[i, column]
            for k in range(i + 1, size):
                total -= matrix[k, i] * right[k, column]
            right[i, column] = total / matrix[i, i]
    return right


@jit(error_model="numpy")
def log_factor_mean(squares: Any, variance: Any, effects: Any) -> Any:
    """Return the log Bayes factor of a block: the mean, over effect sizes, of the factors of its entries."""
    logs = np.zeros(effects.shape[0])
    for s in range(effects.shape[0]):
        for e in range(squares.shape[0]):
            wide = variance[e] + effects[s]
            logs[s] += 0.5 * (np.log(variance[e] / wide) + squares[e] * (1.0 / variance[e] - 1.0 / wide))
    top = logs.max()
    total = 0.0
    for s in range(effects.shape[0]):
        total += np.exp(logs[s] - top) / effects.shape[0]
    return top + np.log(total)


class Known(NamedTuple):
    """What kernels read of covariances: arrays of ``Contrasts``, where features and levels of columns begin, sizes."""

    k: Floats
    v: Floats
    h: Floats
    left: Floats
    starts: NDArray[np.int64]
    levels: NDArray[np.int64]
    proportions: Floats
    lost: Floats  # by merging the levels of each column: times a squared dependence that its groups keep
    rows: float
    effects: Floats


@jit(error_model="numpy")
def given_kernel(known: Any, x: Any, y: Any, given: Any) -> Any:
    """Return the evidence (log Bayes factor) for dependence of x and y given columns.

    Returned too: the variance of an entry. NaN for both where the columns given leave too little of x or of y.

    The variance is that under independence, the harmonic mean over entries.
    """
    k, v, h, left = known.k, known.v, known.h, known.left
    starts, levels, proportions = known.starts, known.levels, known.proportions
    wide_x, wide_y = starts[x + 1] - starts[x], starts[y + 1] - starts[y]
    ends = np.empty(wide_x + wide_y, np.int64)
    for a in range(wide_x):
        ends[a] = starts[x] + a
    for b in range(wide_y):
        ends[wide_x + b] = starts[y] + b
    size = 0
    for z in given:
        size += starts[z + 1] - starts[z]
    inner, owner = np.empty(size, np.int64), np.empty(size, np.int64)
    at = 0
    for place, z in enumerate(given):
        for c in range(starts[z], starts[z + 1]):
            inner[at] = c
            owner[at] = place
            at += 1
    matrix, onto = np.empty((size, size)), np.empty((size, wide_x + wide_y))
    for c in range(size):
        for d in range(size):
            matrix[c, d] = h[inner[c], inner[d]]
        for e in range(wide_x + wide_y):
            onto[c, e] = h[inner[c], ends[e]]
    slopes = solved(matrix, onto.copy())
    rest = np.empty(wide_x + wide_y)
    within = np.zeros((wide_x + wide_y, len(given)))  # of an end, explained within groups of merged levels
    most_x, most_y = 0.0, 0.0
    for e in range(wide_x + wide_y):
        rest[e] = 1.0
        for c in range(size):
            rest[e] -= slopes[c, e] * onto[c, e]
            within[e, owner[c]] += known.lost[given[owner[c]]] * slopes[c, e] ** 2
        if e < wide_x:
            most_x = max(most_x, rest[e])
        else:
            most_y = max(most_y, rest[e])
    if min(most_x, most_y) < MIN_LEFT:
        return np.nan, np.nan
    entries = wide_x * wide_y
    squares, variance = np.empty(entries), np.empty(entries)
    weight = 0.0
    at = 0
    for a in range(wide_x):
        for b in range(wide_x, wide_x + wide_y):
            value, noise = k[ends[a], ends[b]], v[ends[a], ends[b]]
            for c in range(size):
                to_x, to_y = slopes[c, a], slopes[c, b]
                value -= to_x * k[inner[c], ends[b]] + to_y * k[ends[a], inner[c]]
                noise += to_x**2 * v[inner[c], ends[b]] + to_y**2 * v[ends[a], inner[c]]
                for d in range(size):
                    value += to_x * k[inner[c], inner[d]] * slopes[d, b]
                    # both halves of a symmetric block are one draw of noise: its variance counts twice
                    noise += 2.0 * to_x**2 * v[inner[c], inner[d]] * slopes[d, b] ** 2
            uneven = 1.0
            for place, z in enumerate(given):
                noise += min(within[a, place], max(rest[a], 0.0)) * min(within[b, place], max(rest[b], 0.0))
                both, of_x, of_y = 0.0, 0.0, 0.0
                for t in range(levels[z], levels[z + 1]):
                    p = proportions[t]
                    both += p * left[ends[a], t] * left[ends[b], t]
                    of_x += p * left[ends[a], t]
                    of_y += p * left[ends[b], t]
                uneven = max(uneven, both / max(of_x * of_y, 1e-3))
            scale = max(rest[a], MIN_EIGENVALUE) * max(rest[b], MIN_EIGENVALUE)
            squares[at] = value * value / scale
            variance[at] = noise / scale + uneven / known.rows
            weight += 1.0 / variance[at]
            at += 1
    return log_factor_mean(squares, variance, known.effects), entries / weight


@jit(error_model="numpy")
def dependence_kernel(known: Any, pair_evidence: Any, columns: Any) -> Any:
    """Return the evidence that the columns of a set depend on each other, for every subset: by its bits."""
    most = len(columns)
    found = np.zeros(1 << most)
    inside, asked = np.empty(most, np.int64), np.empty((most, most), np.bool_)
    for subset in range(len(found)):
        size = 0
        for i in range(most):
            if (subset >> i) & 1:
                inside[size] = i
                size += 1
        if size < 2:
            continue
        asked[:] = False
        answer, x, y = np.nan, 0, 0
        for _ in range(size * (size - 1) // 2):
            least, a, b = np.inf, -1, -1
            for i in range(size):
                for j in range(i + 1, size):
                    alone = pair_evidence[columns[inside[i]], columns[inside[j]]]
                    if not asked[i, j] and (a < 0 or alone < least):
                        least, a, b = alone, i, j
            asked[a, b] = True
            given, at = np.empty(size - 2, np.int64), 0
            for i in range(size):
                if i not in (a, b):
                    given[at] = columns[inside[i]]
                    at += 1
            x, y = inside[a], inside[b]
            answer = least if size == 2 else given_kernel(known, columns[x], columns[y], given)[0]
            if not np.isnan(answer):
                break
        if np.isnan(answer):  # one column tells all of another: it adds nothing
            found[subset] = max([found[subset ^ (1 << inside[i])] for i in range(size)])
        else:
            one, other = 1 << x, 1 << y
            found[subset] = found[subset ^ one] + found[subset ^ other] - found[subset ^ one ^ other] + answer
    return found


@jit(error_model="numpy")
def given_kernels(known: Any, ends: Any, given: Any, first: Any) -> Any:
    """Return evidence and variance (``given_kernel``) of many questions, as an array (questions, 2).

    ``ends`` has x and y of each; ``given[first[i]:first[i + 1]]`` are the columns held fixed in question i.
    """
    found = np.empty((ends.shape[0], 2))
    for i in range(ends.shape[0]):
        columns = given[first[i] : first[i + 1]]
        found[i, 0], found[i, 1] = given_kernel(known, ends[i, 0], ends[i, 1], columns)
    return found


def log_bayes_factor(squares: Floats, variance: Floats) -> float:
    """Return the evidence (log Bayes factor for dependence) from squared entries and their variances.

    >>> log_bayes_factor(np.array([[0.09]]), np.array([[0.001]])) > 30
    True
    >>> -2 < log_bayes_factor(np.array([[0.0]]), np.array([[0.001]])) < 0
    True
    """
    return float(_log_mean(_log_factors(squares, variance).sum(axis=(-2, -1)), axis=0))


def _log_factors(squares: Floats, variance: Floats) -> Floats:
    """Return log N(k; 0, t + W)/N(k; 0, W) of entries k for every effect size t (first axis)."""
    wide = variance + _SQUARES.reshape(-1, *(1,) * variance.ndim)
    found: Floats = 0.5 * (np.log(variance / wide) + squares * (1.0 / variance - 1.0 / wide))
    return found


def _log_mean(logs: Floats, axis: int) -> Floats:
    """Return the logarithm of the mean of values given by their logarithms, without overflow."""
    top = logs.max(axis=axis)
    found: Floats = top + np.log(np.exp(logs - np.expand_dims(top, axis)).mean(axis=axis))
    return found


def evidence_of(form: float, dof: float, worth: float) -> float:
    """Return the evidence of ``dof`` entries of variance 1/``worth`` whose squared sum, scaled, is ``form``."""
    variance = 1.0 / max(worth, 1e-300)
    # a few numbers, asked for thousands of times: without arrays
    logs = [
        0.5 * (form * t / (variance + t) - dof * math.log1p(t / variance))
        for t in (size * size for size in EFFECTS)
    ]
    top = max(logs)
    return top + math.log(math.fsum(math.exp(one - top) for one in logs) / len(logs))


@lru_cache(maxsize=4096)
def evidence_cut(enough: float, dof: float, worth: float) -> float:
    """Return the scaled sum of squares above which the evidence exceeds ``enough``.

    >>> round(evidence_cut(1.0, 1.0, 1e3), 1), evidence_cut(1.0, 1.0, 1.0) > 20
    (5.6, True)
    """
    low, high = 0.0, 1.0
    while evidence_of(high, dof, worth) < enough and high < 1e12:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if evidence_of(middle, dof, worth) >= enough else (middle, high)
    return high


def least_detectable(variance: float, entries: int, threshold: float) -> float:
    """Return the size of a block of entries whose evidence exceeds a threshold in ``POWER`` of runs.

    ``variance`` is that of each of the entries under independence.

    >>> round(least_detectable(1e-4, 1, 1.0), 3), round(least_detectable(1e-4, 9, 1.0), 3)
    (0.033, 0.053)
    """
    cut = evidence_cut(threshold, float(entries), 1.0 / variance)
    return math.sqrt(variance * float(chndtrinc(cut, entries, 1.0 - POWER)))


def least_detectable_in_rounds(
    first: float, final: float, entries: int, promising: float, threshold: float
) -> float:
    """Return the size of a block that is detected in ``POWER`` of runs, promising pairs measured twice.

    ``first`` and ``final`` are variances of an entry before and after that. The two steps are taken as independent.

    >>> round(least_detectable_in_rounds(1e-3, 1e-4, 1, -0.5, 1.0), 3), round(least_detectable(1e-3, 1, 1.0), 3)
    (0.065, 0.101)
    """
    cuts = [
        (evidence_cut(enough, float(entries), 1.0 / variance), variance)
        for enough, variance in ((promising, first), (threshold, final))
    ]
    low, high = 0.0, least_detectable(first, entries, threshold)
    for _ in range(30):
        middle = (low + high) / 2
        found = math.prod(1.0 - chndtr(cut, entries, middle**2 / variance) for cut, variance in cuts)
        low, high = (low, middle) if found >= POWER else (middle, high)
    return high


class Round(NamedTuple):
    """A measurement of pairs: how many, those with the most evidence so far, and the variance of its noise.

    ``choice``: they are a tree of all columns, chosen by the exponential mechanism with noise of this scale, in rows,
    and no others were measured; None: not so.
    """

    pairs: int
    variance: float
    choice: float | None = None


@dataclass
class Contrasts:
    """Covariances of features with their noise.

    Attributes
    ----------
    columns : list of Features
        In the order of the columns.
    rows : float
        The number of rows.
    covariance : (p, p) array
        K, as released.
    noise : (p, p) array
        Variance of the noise in each entry.
    of_singles : (p, p) array or None
        The part of it that comes from the noise in single columns.
    rounds : tuple of Round
        How the pairs were measured; empty: all at once.
    kept : (d,) array or None
        The part of a squared dependence that each column keeps where its levels were merged; None: none were.
    measured : (d, d) array or None
        Which pairs were measured; None: all were.
    """

    columns: Sequence[Features]
    rows: float
    covariance: Floats
    noise: Floats
    of_singles: Floats | None = None
    rounds: tuple[Round, ...] = ()
    kept: Floats | None = None
    measured: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls,
        columns: Sequence[Features],
        rows: float,
        pairs: Mapping[tuple[int, int], Floats],
        noise: Mapping[tuple[int, ...], float],
    ) -> Contrasts:
        """Return the contrasts of all columns from released components of pairs and their noise variances.

        A pair without a component was not measured: nothing is known of it.

        >>> table = np.array([[40.0, 10.0], [10.0, 40.0]]) - 25.0
        >>> sides = [Features.of(np.array([50.0, 50.0]), 100.0, 0.0)] * 2
        >>> none = {(0,): 0.0, (1,): 0.0, (0, 1): 0.0}
        >>> float(abs(Contrasts.of(sides, 100.0, {(0, 1): table}, none).covariance[0, 1]).round(6))
        0.6
        """
        width = sum(len(one.gains) for one in columns)
        made = cls(columns, rows, np.eye(width), np.zeros((width, width)), np.zeros((width, width)))
        assert made.of_singles is not None
        means = [one.proportions - 1.0 / len(one.proportions) for one in columns]
        tilts = [(mean @ one.scores) ** 2 for mean, one in zip(means, columns, strict=True)]
        for i, j in all_pairs(len(columns)):
            x, y = columns[i], columns[j]
            of_singles = noise[i,] * np.outer(x.gains, tilts[j]) + noise[j,] * np.outer(tilts[i], y.gains)
            made.put(made.of_singles, i, j, of_singles / rows**2)
            if (i, j) not in pairs:
                made.put(made.noise, i, j, UNKNOWN * np.outer(x.gains, y.gains) + of_singles / rows**2)
                continue
            block = x.scores.T @ (pairs[i, j] / rows - np.outer(means[i], means[j])) @ y.scores
            variance = noise[i, j] * np.outer(x.gains, y.gains) + of_singles
            made.put(made.covariance, i, j, block)
            made.put(made.noise, i, j, variance / rows**2)
        if len(pairs) < len(all_pairs(len(columns))):
            made.measured = np.zeros((len(columns), len(columns)), bool)
            for i, j in pairs:
                made.measured[i, j] = made.measured[j, i] = True
        return made

    def put(self, matrix: Floats, i: int, j: int, block: Floats) -> None:
        """Write the block of two columns into a matrix of features, and its transpose."""
        matrix[np.ix_(self.places[i], self.places[j])] = block
        matrix[np.ix_(self.places[j], self.places[i])] = block.T

    @cached_property
    def places(self) -> list[NDArray[np.int64]]:
        """The positions of each column's features."""
        return [np.arange(start, stop) for start, stop in pairwise(self._starts)]

    @cached_property
    def _members(self) -> Floats:
        """A (p, d) indicator matrix of which feature belongs to which column."""
        found = np.zeros((len(self.covariance), len(self.columns)))
        for j, place in enumerate(self.places):
            found[place, j] = 1.0
        return found

    @cached_property
    def _block_logs(self) -> Floats:
        """A (sizes, d, d) array of each pair's log factors, by effect size."""
        logs = _log_factors(self.covariance**2, self.noise + 1.0 / self.rows)
        return np.stack([self._members.T @ one @ self._members for one in logs])

    @cached_property
    def pair_evidence(self) -> Floats:
        """A (d, d) array of the evidence for each pair with nothing held fixed; ignore its diagonal."""
        return _log_mean(self._block_logs, axis=0)

    @cached_property
    def estimate(self) -> Floats:
        """The posterior mean of the correlation matrix, made positive definite (``MIN_EIGENVALUE``)."""
        weights = np.exp(self._block_logs - self._block_logs.max(axis=0))
        weights /= weights.sum(axis=0)
        spread = [self._members @ one @ self._members.T for one in weights]
        kept = sum(one * t / (t + self.noise) for one, t in zip(spread, _SQUARES, strict=True))
        found = np.asarray(self.covariance * kept)
        for place in self.places:
            found[np.ix_(place, place)] = np.eye(len(place))
        values, vectors = np.linalg.eigh(found)
        if values[0] < MIN_EIGENVALUE:
            found = (vectors * np.maximum(values, MIN_EIGENVALUE)) @ vectors.T
        return np.asarray(found)

    @cached_property
    def strength(self) -> Floats:
        """A (d, d) array of squared strengths: sums of squares of each estimated block."""
        return np.asarray(self._members.T @ self.estimate**2 @ self._members)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """The position of each column's first feature, and the end of all."""
        return np.cumsum([0, *(len(one.gains) for one in self.columns)])

    @cached_property
    def _of_levels(self) -> tuple[Floats, Floats, Floats]:
        """Level proportions of all columns, their feature scores (levels, p), and which is of which column."""
        starts = self._level_starts
        proportions = np.concatenate([one.proportions for one in self.columns])
        scores = np.zeros((len(proportions), len(self.covariance)))
        member = np.zeros((len(proportions), len(self.columns)))
        for j, (one, place) in enumerate(zip(self.columns, self.places, strict=True)):
            scores[starts[j] : starts[j + 1], place] = one.scores
            member[starts[j] : starts[j + 1], j] = 1.0
        return proportions, scores, member

    @cached_property
    def _level_starts(self) -> NDArray[np.int64]:
        """The position of each column's first level, and the end of all."""
        return np.cumsum([0, *(len(one.proportions) for one in self.columns)])

    @cached_property
    def left_variances(self) -> Floats:
        """The residual variance of each feature within each level of each column: (features, levels)."""
        proportions, scores, member = self._of_levels
        chance = np.maximum(proportions[:, None] * (1.0 + scores @ self.estimate @ scores.T), 0.0)
        chance /= member @ np.maximum(member.T @ chance, 1e-12)
        mean = scores.T @ chance
        return np.maximum((scores**2).T @ chance - mean**2, 0.0)

    @cached_property
    def _known(self) -> Known:
        """The arrays that compiled kernels read."""
        return Known(
            self.covariance,
            self.noise,
            self.estimate,
            self.left_variances,
            self._starts,
            self._level_starts,
            self._of_levels[0],
            np.zeros(len(self.columns)) if self.kept is None else 1.0 / self.kept - 1.0,
            float(self.rows),
            _SQUARES,
        )

    def evidence_given(self, questions: Sequence[Question]) -> Floats:
        """Return for each question the evidence for dependence, and the variance of an entry under independence.

        Both are NaN where the columns given leave too little of x or of y.
        """
        ends = np.array([(x, y) for x, y, _ in questions], np.int64).reshape(-1, 2)
        sizes = [len(given) for _, _, given in questions]
        every = chain.from_iterable(given for _, _, given in questions)
        first = np.cumsum([0, *sizes])
        return np.asarray(given_kernels(self._known, ends, np.fromiter(every, np.int64, sum(sizes)), first))

    def evidence(self, x: int, y: int, given: tuple[int, ...] = ()) -> float | None:
        """Return the evidence for dependence of x and y given these; None where the question has no answer."""
        if not given:
            return float(self.pair_evidence[x, y])
        return self.evidences([(x, y, given)])[0]

    def evidences(self, questions: Sequence[Question]) -> list[float | None]:
        """Return the evidence for dependence (None: no answer) in each of many questions, computed together."""
        found = self.evidence_given(questions)[:, 0].tolist()
        return [None if math.isnan(one) else one for one in found]

    def dependences(self, columns: Sequence[int]) -> Floats:
        """Return the evidence that columns depend on each other in any way, for each subset of them.

        An array of 2^c by the bits of the subset. With E(x, y | S) the evidence for dependence given S,

            F(S + x + y) = F(S + x) + F(S + y) - F(S) + E(x, y | S),        F = 0 of one column,

        for any two columns of a set. Were E exact all pairs would give the same F. But E grows with a dependence by
        other rules than F does, noise most of all: what a set shows beyond its pairs, E(x, y | S) - E(x, y), is then
        off by a part of both. So the two columns are taken that have the least evidence of dependence by themselves,
        of those whose question has an answer.
        """
        return np.asarray(dependence_kernel(self._known, self.pair_evidence, np.asarray(columns, np.int64)))

    def detectable(self, x: int, y: int, given: tuple[int, ...], threshold: float) -> float:
        """Return the dependence w whose evidence exceeds ``threshold`` in ``POWER`` of runs; infinite: no answer.

        By the released margins of the two, the noise of their pair and what the columns given leave. The size is that
        of the levels as declared: merged ones show less of it. Squares of entries are taken to have one variance, so
        that their sum has a chi-squared law.
        """
        variance = float(self.evidence_given([(x, y, given)])[0, 1])
        if math.isnan(variance):
            return math.inf
        kept = 1.0 if self.kept is None else math.sqrt(self.kept[x] * self.kept[y])
        entries = len(self.columns[x].gains) * len(self.columns[y].gains)
        least = least_detectable(variance, entries, threshold)
        if (part := self._left_if_promising(x, y)) < 1.0:
            least = least_detectable_in_rounds(variance, part * variance, entries, self._promising, threshold)
        return least / kept

    def strata(self, given: tuple[int, ...]) -> float:
        """Return the effective number of strata of these columns: 1 over the sum of squared proportions.

        As if the columns were independent, which gives rather more. Numbers without levels make no strata.
        """
        return math.prod(1.0 / float((self.columns[z].proportions ** 2).sum()) for z in given)

    @cached_property
    def _promising(self) -> float:
        """The evidence from which a pair is measured again."""
        evidence = self.pair_evidence[np.triu_indices(len(self.columns), 1)]
        return float(np.sort(evidence)[-self.rounds[1].pairs])

    def _left_if_promising(self, x: int, y: int) -> float:
        """Return by which factor an entry's variance would shrink if its pair were measured in all rounds.

        1 where there is one round, and of a pair that was measured in another one.
        """
        if len(self.rounds) < 2 or self.of_singles is None:
            return 1.0
        block = np.ix_(self.places[x], self.places[y])
        gain = np.outer(self.columns[x].gains, self.columns[y].gains) / self.rows**2
        rest = self.of_singles[block] + 1.0 / self.rows
        first = self.rounds[0].variance
        if self.noise[block].sum() < (self.of_singles[block] + 0.999 * first * gain).sum():
            return 1.0
        final = 1.0 / math.fsum(1.0 / one.variance for one in self.rounds)
        return float((1.0 / (rest + first * gain)).sum() / (1.0 / (rest + final * gain)).sum())

    @cached_property
    def _posterior(self) -> Floats:
        """A (sizes + 1, d, d) array of cumulative posterior probabilities of each pair's effect size."""
        logs = self._block_logs
        logs = np.concatenate((np.full((1, *logs.shape[1:]), math.log(len(logs))), logs))
        chances = np.exp(logs - logs.max(axis=0))
        return np.cumsum(chances / chances.sum(axis=0), axis=0)

    def posterior_replicate(self, generator: Any, kept: Floats) -> Contrasts:
        """Return contrasts that another sample with new noise might give, by the posterior.

        Whether two columns depend, and how much, is drawn from the posterior of their block (dependent or not with
        even odds beforehand): an edge that was found by a narrow margin may be none. Then a sample and noise are
        added. ``generator`` has ``random`` and ``standard_normal``; ``kept`` has the part of correlations that each
        column keeps, where its levels may be grouped otherwise. Of pairs that were not measured nothing is known but
        that they were not chosen: they depend as far as the tree between them carries a dependence.
        """
        d, width, members = len(self.columns), len(self.covariance), self._members
        upper = np.triu(generator.random((d, d)), 1)
        size = (self._posterior < (upper + upper.T)).sum(axis=0)  # 0: independent
        if self.measured is not None:
            size = np.where(self.measured, size, 0)
        squares = np.where(size > 0, _SQUARES[np.maximum(size, 1) - 1], 0.0)
        t, variance = members @ squares @ members.T, self.noise + 1.0 / self.rows
        share = t / (t + variance)
        drawn = self.covariance * share + _symmetric(generator, width) * np.sqrt(variance * share)
        if self.measured is not None:
            drawn = self._along_tree(drawn)
        every = self._members @ kept
        sample = drawn * np.outer(every, every) + _symmetric(generator, width) / math.sqrt(self.rows)
        for place in self.places:
            sample[np.ix_(place, place)] = np.eye(len(place))
        return self._measured_again(sample, generator)

    def resampled(self, generator: Any) -> Contrasts:
        """Return contrasts that differ as another sample with other noise would, around what was released.

        Pairs that were not measured stay unknown. ``generator`` has ``standard_normal``.
        """
        deviation = _symmetric(generator, len(self.covariance)) * np.sqrt(self.noise + 1.0 / self.rows)
        if self.measured is not None:
            deviation *= self._members @ self.measured @ self._members.T
        for place in self.places:
            deviation[np.ix_(place, place)] = 0.0
        return self._like(self.covariance + deviation, self.noise)

    def _along_tree(self, drawn: Floats) -> Floats:
        """Return covariances with unmeasured pairs filled by products along the tree.

        So it is where columns depend through the measured pairs alone, a tree.
        """
        found = np.eye(len(drawn))
        for column, parent in self._from_root:
            here = slice(self._starts[column], self._starts[column + 1])
            up = slice(self._starts[parent], self._starts[parent + 1])
            known = found[here, here].copy()
            # of columns that come later: zeros, which are filled in their own turn
            found[here] = drawn[here, up] @ found[up]
            found[:, here] = found[here].T
            found[here, here] = known
        return found

    @cached_property
    def _from_root(self) -> list[tuple[int, int]]:
        """Columns of the measured tree, each after its predecessor on the way from a root, with that one."""
        assert self.measured is not None
        found, seen = [], set()
        for root in range(len(self.columns)):
            ahead = [] if root in seen else [root]
            seen.add(root)
            while ahead:
                here = ahead.pop()
                for other in np.flatnonzero(self.measured[here]).tolist():
                    if other not in seen:
                        seen.add(other)
                        ahead.append(other)
                        found.append((other, here))
        return found

    def _tree_again(self, sample: Floats, generator: Any, scale: float) -> NDArray[np.bool_]:
        """Return which pairs a newly chosen tree would contain, for a simulated sample."""
        proportions, scores, owner = self._of_levels
        turn = proportions[:, None] * scores
        each = np.sqrt(proportions * (1.0 - proportions)) @ owner
        by_chance = MEAN_ABSOLUTE * math.sqrt(self.rows) * np.outer(each, each)
        distance = self.rows * (owner.T @ np.abs(turn @ sample @ turn.T) @ owner) - by_chance
        d = len(self.columns)
        upper = np.triu_indices(d, 1)
        chance = np.clip(generator.random(len(upper[0])), 1e-300, 1.0 - 1e-16)
        # the exponential mechanism, all rounds at once
        scores = distance[upper] - scale * np.log(-np.log(chance))
        part, chosen = np.arange(d), np.zeros((d, d), bool)
        for k in np.argsort(-scores, kind="stable"):
            a, b = upper[0][k], upper[1][k]
            if part[a] != part[b]:
                part[part == part[b]] = part[a]
                chosen[a, b] = chosen[b, a] = True
        return chosen

    def _measured_again(self, sample: Floats, generator: Any) -> Contrasts:
        """Return the contrasts of a simulated sample with new noise, in the same rounds."""
        width, members = len(sample), self._members
        tree = bool(self.rounds) and self.rounds[0].choice is not None
        if self.of_singles is None or (len(self.rounds) < 2 and not tree):
            return self._like(sample + _symmetric(generator, width) * np.sqrt(self.noise), self.noise)
        gains = np.concatenate([one.gains for one in self.columns])
        own = members @ members.T
        gain = np.outer(gains, gains) * (1.0 - own) / self.rows**2
        shift = _symmetric(generator, width) * np.sqrt(self.of_singles)
        if tree:
            (_, variance, scale), *_ = self.rounds
            assert scale is not None
            known = members @ self._tree_again(sample, generator, scale) @ members.T > 0.0
            noise = self.of_singles + gain * np.where(known, variance, UNKNOWN * self.rows**2)
            noisy = sample + shift + _symmetric(generator, width) * np.sqrt(gain * variance)
            return self._like(np.where(known | (own > 0.0), noisy, 0.0), noise)
        d = len(self.columns)
        upper = np.triu_indices(d, 1)
        weight, total = np.zeros((d, d)), np.zeros((width, width))
        found = self
        for number, variance, _ in self.rounds:
            chosen = np.ones((d, d))
            if weight.any():
                best = np.argsort(-found.pair_evidence[upper], kind="stable")[:number]
                chosen = np.zeros((d, d))
                chosen[upper[0][best], upper[1][best]] = 1.0
                chosen += chosen.T
            total += members @ chosen @ members.T * _symmetric(generator, width) * np.sqrt(gain / variance)
            weight = weight + chosen / variance
            by = np.maximum(members @ weight @ members.T, 1e-300)
            found = self._like(sample + shift + total / by, self.of_singles + gain / by)
        return found

    def _like(self, covariance: Floats, noise: Floats) -> Contrasts:
        """Return contrasts with other covariances of the same features."""
        other = Contrasts(self.columns, self.rows, covariance, noise, kept=self.kept)
        for name in OF_COLUMNS:
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other


def _symmetric(generator: Any, width: int) -> Floats:
    """Return a symmetric matrix of standard normal draws, with zeros on the diagonal."""
    upper = np.triu(generator.standard_normal((width, width)), 1)
    return np.asarray(upper + upper.T)


def all_pairs(number: int) -> list[tuple[int, int]]:
    """Return all pairs of ``number`` columns, ascending."""
    return list(combinations(range(number), 2))
