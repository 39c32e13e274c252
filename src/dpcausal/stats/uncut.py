"""Dependence of numbers given others, from tables of their bins: what the bins leave is taken out too.

A number that is held fixed by its bins still varies within a bin. Two columns that both depend on it go on together
there, and with enough rows that looks like a link. The finer structure is not in the tables, but its size can be
reckoned: the dependence that pairs of bins show tells how strong that of the numbers is.

**Formula.** Each number is taken as a function that rises with a standard normal variable Z (ranks, so that no shape of
its distribution matters). A function f of the bin has Hermite coefficients a_m = E f(Z) He_m(Z)/sqrt(m!), and for two
numbers with correlation q of their Z

    E f(Z) g(Z') = sum over m of a_m b_m q^m                                                                [1]

The trend of each column (``trend_of``) has a_1 near 1: q follows from the covariance of two trends, as in a
polychoric correlation [2]. The part of the levels that goes with Z^2 and not with the trend, *bent*, has a_2: in the
same way the covariance of two bent parts gives the correlation of the squares, with even m alone. Other entries are
divided by the a_1 and a_2 of what they hold. A column that is no cut number keeps its features as they are; of a cut
number nothing but trend and bent part is asked about, for of the rest it is not known what bins leave. The partial
correlations of x and y given S are then as in ``contrasts.py``, of this matrix in place of K. Where an entry has
changed its sign on the way from bins to numbers, less variation within bins than that of a normal variable makes it 0,
and it counts as 0.

**Variance** of an entry: noise times the squared slope of q in the covariance; sampling as if products of what S leaves
of x and of y, each feature divided by what its bins keep, were averaged over rows.

**Evidence**: the logarithm of the Bayes factor of all entries, as in ``contrasts.py``.

**Guarantee.** Post-processing of released tables: costs nothing. **Where it fails**: numbers whose dependence is not
that of the normal variables behind their ranks, and of the squares of these. Then something may be left, or too much be
taken out: so it decides between "found" and "open", never for "absent" (``measured/forward.py``).

**Cost** O(q^3) for q features. **Edge cases**: two levels have a trend and nothing bent; a bent part that keeps less
than ``LEAST_KEPT`` of the square is left out; correlations stay within ``MOST``.

References: [1] Lancaster 1957, "Some properties of the bivariate normal distribution considered in the form of a
contingency table"; [2] Olsson 1979, "Maximum likelihood estimation of the polychoric correlation coefficient".
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from dpcausal.stats.contrasts import Contrasts, Features, Floats, log_bayes_factor

TERMS = 24  # of the series: the rest is below 1e-3 for correlations up to .8
HALVINGS = 40
MOST = 0.98  # a correlation of numbers, at most
LEAST_KEPT = 0.3  # of the square of a number, by its bins, or that part is left out
LEAST_SLOPE = 0.01  # of the covariance of bins in the correlation of numbers
LEAST_EIGENVALUE = 0.05  # of the matrix of what is held fixed
LEAST_LEFT = 0.05  # of the variance of a column, or the question has no answer


class Answer(NamedTuple):
    """The evidence for dependence, and what a dependence of ``Uncut.effect`` is expected to give."""

    evidence: float
    would_show: float


def hermite(proportions: Floats, values: Floats) -> Floats:
    """Return the Hermite coefficients of the function of a normal variable with these values on its bins.

    >>> hermite(np.array([0.5, 0.5]), np.array([-1.0, 1.0]))[:3].round(4).tolist()  # sqrt(2/pi), 0, ...
    [0.7979, 0.0, -0.3257]
    """
    cuts = ndtri(np.clip(np.cumsum(proportions)[:-1], 1e-9, 1.0 - 1e-9))
    steps = np.diff(values) * np.exp(-cuts * cuts / 2.0) / math.sqrt(2.0 * math.pi)
    found = np.empty(TERMS)
    before, now = np.zeros_like(cuts), np.ones_like(cuts)  # He_(m-2) and He_(m-1), of length 1
    for m in range(1, TERMS + 1):
        found[m - 1] = (steps * now).sum() / math.sqrt(m)
        before, now = now, (cuts * now - math.sqrt(m - 1) * before) / math.sqrt(m)
    return found


def trend_of(features: Features) -> Floats:
    """Return the unit combination of features that follows the mean rank of a level.

    >>> three = Features.of(np.array([20.0, 50.0, 30.0]), 100.0, 0.0)
    >>> (three.scores @ trend_of(three)).round(2).tolist()
    [-1.51, -0.19, 1.32]
    """
    p = features.proportions
    found = features.scores.T @ (p * (np.cumsum(p) - p / 2))  # a constant has no part in it
    return np.asarray(found / np.linalg.norm(found))


def bent(features: Features, trend: Floats) -> Floats | None:
    """Return the combination of features that follows the squared normal score, orthogonal to the trend.

    None where bins keep less than ``LEAST_KEPT`` of it.

    >>> three = Features.of(np.array([30.0, 40.0, 30.0]), 100.0, 0.0)
    >>> (three.scores @ bent(three, trend_of(three))).round(2).tolist()
    [0.82, -1.22, 0.82]
    """
    cuts = ndtri(np.clip(np.cumsum(features.proportions)[:-1], 1e-9, 1.0 - 1e-9))
    ends = np.concatenate([[0.0], cuts * np.exp(-cuts * cuts / 2.0) / math.sqrt(2.0 * math.pi), [0.0]])
    found = features.scores.T @ ((ends[:-1] - ends[1:]) / math.sqrt(2.0))
    found = found - trend * (trend @ found)
    length = float(np.linalg.norm(found))
    return found / length if length > LEAST_KEPT else None


def from_series(coefficients: Floats, value: float) -> tuple[float, float]:
    """Return q solving sum_m c_m q^m = ``value``, and the slope there.

    >>> q, _ = from_series(hermite(np.array([0.5, 0.5]), np.array([-1.0, 1.0])) ** 2, 2 / math.pi * math.asin(0.6))
    >>> round(q, 3)  # Sheppard's formula for two medians
    0.6
    """
    powers = np.arange(1, len(coefficients) + 1)
    sign = 1.0 if coefficients[0] >= 0.0 else -1.0
    low, high = 0.0, MOST
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        if sign * float((coefficients * middle**powers).sum()) < abs(value):
            low = middle
        else:
            high = middle
    slope = float((coefficients * powers * high ** (powers - 1)).sum())
    return math.copysign(high, sign * value), slope


class Uncut:
    """Partial correlations of columns of which some are numbers known by their bins.

    Parameters
    ----------
    contrasts
        What was released.
    cut
        Columns that are numbers known by bins, or levels with an order that were merged.
    effect
        Cohen's w; whether it would show says whether a question tells anything.

    >>> z = Features.of(np.array([50.0, 50.0]), 100.0, 0.0)
    >>> none = {(i,): 0.0 for i in range(3)} | {pair: 0.0 for pair in ((0, 1), (0, 2), (1, 2))}
    >>> rise = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> half, less = (1e5 / 4 * 2 / math.pi * math.asin(q) * rise for q in (0.6, 0.36))  # y <- z -> x, cut at medians
    >>> contrasts = Contrasts.of([z] * 3, 1e5, {(0, 1): less, (0, 2): half, (1, 2): half}, none)
    >>> contrasts.evidence(0, 1, (2,)) > 100, Uncut(contrasts, {0, 1, 2}, 0.2).ask(0, 1, (2,)).evidence < 0
    (True, True)
    """

    def __init__(self, contrasts: Contrasts, cut: Collection[int], effect: float) -> None:
        self.contrasts, self.effect = contrasts, effect
        self._turns: list[Floats] = []  # combinations of the features of every column
        self._kept: list[Floats] = []  # what bins keep of each: a_1 and a_2, or 1
        self._series: list[list[Floats]] = []
        for j, features in enumerate(contrasts.columns):
            turn, series = self._parts(features, cut=j in cut)
            self._turns.append(turn)
            self._kept.append(np.array([one[m] for m, one in enumerate(series)] or [1.0] * len(turn)))
            self._series.append(series)
        self._blocks: dict[tuple[int, int], tuple[Floats, Floats, Floats]] = {}
        self._answers: dict[tuple[int, int, tuple[int, ...]], Answer | None] = {}

    @staticmethod
    def _parts(features: Features, *, cut: bool) -> tuple[Floats, list[Floats]]:
        """Return the trend and the squared part of a cut number's features, with Hermite coefficients."""
        if not cut:
            return np.eye(len(features.gains)), []
        trend = trend_of(features)
        parts = [trend]
        if len(trend) > 1 and (part := bent(features, trend)) is not None:
            parts.append(part)
        return np.array(parts), [hermite(features.proportions, features.scores @ one) for one in parts]

    def _block(self, i: int, j: int) -> tuple[Floats, Floats, Floats]:
        """Return the correlations of two columns with numbers uncut, their noise variance, and those of bins."""
        if (i, j) in self._blocks:
            return self._blocks[i, j]
        at = np.ix_(self.contrasts.places[i], self.contrasts.places[j])
        bins = self._turns[i] @ self.contrasts.covariance[at] @ self._turns[j].T
        variance = self._turns[i] ** 2 @ self.contrasts.noise[at] @ (self._turns[j] ** 2).T
        if i == j:
            value, noise, bins = np.eye(len(bins)), np.zeros_like(variance), np.eye(len(bins))
        else:
            kept = np.outer(self._kept[i], self._kept[j])
            value, noise = bins / kept, variance / kept**2
            for m, (one, other) in enumerate(zip(self._series[i], self._series[j], strict=False)):
                coefficients = (one * other)[m :: m + 1]  # all of two trends, even ones of two bent parts
                value[m, m], slope = from_series(coefficients, float(bins[m, m]))
                noise[m, m] = variance[m, m] / max(abs(slope), LEAST_SLOPE) ** 2
        self._blocks[i, j], self._blocks[j, i] = (value, noise, bins), (value.T, noise.T, bins.T)
        return value, noise, bins

    def ask(self, x: int, y: int, given: tuple[int, ...]) -> Answer | None:
        """Return the evidence for dependence of x and y given these; None where too little remains of x or y."""
        key = (x, y, given)
        if key not in self._answers:
            self._answers[key] = self._compute(x, y, given)
        return self._answers[key]

    def _compute(self, x: int, y: int, given: tuple[int, ...]) -> Answer | None:
        """Return the evidence for dependence of x and y given these, computed anew; ``ask`` caches it."""
        columns = (x, y, *given)
        k, v, bins = (
            np.block([[self._block(i, j)[part] for j in columns] for i in columns]) for part in range(3)
        )
        wide_x, wide_y = len(self._turns[x]), len(self._turns[y])
        inner = slice(wide_x + wide_y, None)
        drawn = k.copy()  # of rows: features of bins, divided by what these keep
        np.fill_diagonal(drawn, np.concatenate([self._kept[j] ** -2.0 for j in columns]))
        left, left_by_bins = (_left_by(one, wide_x + wide_y) for one in (k, bins))
        of_x, of_y = left[:wide_x], left[wide_x:]
        # both halves of a symmetric block are one draw of noise: its variance counts twice
        noise = of_x**2 @ v @ (of_y**2).T + of_x[:, inner] ** 2 @ v[inner, inner] @ (of_y[:, inner] ** 2).T
        rest, spread = (
            np.maximum(np.einsum("ij,jk,ik->i", left, one, left), LEAST_LEFT / 2.0) for one in (k, drawn)
        )
        if min(rest[:wide_x].max(), rest[wide_x:].max()) < LEAST_LEFT:
            return None
        scale = np.outer(rest[:wide_x], rest[wide_x:])
        value = of_x @ k @ of_y.T
        as_seen = left_by_bins[:wide_x] @ bins @ left_by_bins[wide_x:].T
        squares = np.where(value * as_seen > 0.0, value**2, 0.0) / scale
        variance = (noise + np.outer(spread[:wide_x], spread[wide_x:]) / self.contrasts.rows) / scale
        found = log_bayes_factor(squares, variance)
        return Answer(found, log_bayes_factor(variance + self.effect**2 / variance.size, variance))


def _left_by(k: Floats, ends: int) -> Floats:
    """Return the combinations that give the residuals of the first ``ends`` columns on the others."""
    inner = slice(ends, None)
    values, vectors = np.linalg.eigh(k[inner, inner])
    lifted = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    found = np.eye(ends, len(k))
    found[:, inner] = -np.linalg.solve(lifted, k[inner, :ends]).T
    return found
