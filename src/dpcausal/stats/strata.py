"""Counts and risks of many strata from a table of two arms with noise: hierarchical models that know the noise.

**Formula.** Of K strata z, the combinations of levels of the columns held fixed, arms a = 0, 1 and events y = 0, 1 a
table gives noisy counts whose noise is independent with a known variance v; a margin, the same table without strata,
may be known besides, with noise of its own. Both are made to agree (``consistent``). With N_az the rows and A_az the
events of an arm, its risks follow

    A_az - N_az o_z = N_az (x_z' b + eta_z) + error,     Var(error) = N_az r (1 - r) + v ((1 - r)^2 + r^2),

with o_z an offset, r the risk of the whole arm, x_z the main effects and the interactions of two columns (``basis``,
and what ``free`` adds), b ~ N(0, D), eta_z ~ N(0, tau^2). Scales of D and tau^2 are posterior means on a grid of the
marginal likelihood under half Cauchy priors. Weights of strata come from counts that are smoothed to the product of
one-way margins, so that they hardly depend on the noise of their own stratum; estimates are then linear in the counts.
What noise does to the product of a count with its own stratum's residual, of expectation v (1 - 2 r), is taken out
(corrected score).

**Guarantee** None of its own: post-processing of a released table.

**Where it fails.** Risks that differ much by interactions of three and more columns, in strata too small to show it,
are drawn to those of two. Where an arm does not stand out of the noise of the table (``stands_out``) no risk is known.

**Cost** O(K p^2 + 36 p^3), with p numbers in the basis: some 30 ms for 8 columns of two levels.

References: Fuller 1987 (errors in variables); Nakamura 1990 (corrected score); Gelman 2006 (half Cauchy priors for
scales); Searle, Casella & McCulloch 1992.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# of a half Cauchy scale, over which the likelihood is summed
STEPS = np.array([0.03, 0.1, 0.25, 0.5, 1.0, 2.0])
MIN_LINE = 0.02  # of an even margin, and
MIN_COUNT = 0.05  # of the product of margins: counts are taken to be this, at least
FEWEST = 3.0  # rows of an arm of which anything is said, and
CLEAR = 6.0  # standard deviations of their noise
KNOWN = 3.0  # standard deviations of noise that eigenvalues of the equations of b are taken to be, at least
# columns and numbers of a basis with interactions, or with main effects
MOST_TERMS, MOST_NUMBERS = 256, 1 << 23


@dataclass(frozen=True)
class StrataTable:
    """Noisy counts of strata, two arms and an event, or states that each count a part of one, with their noise."""

    cells: Floats  # (strata, 2, states): stratum, arm, state; of an event, its absence and presence
    levels: tuple[int, ...]  # of the columns held fixed; their product is the number of strata
    noise: float  # variance of the noise of a cell
    kurtosis: float = 0.0  # its excess kurtosis
    rows: float | None = None  # public number of rows, all in the table; None where it is protected
    margin: Floats | None = None  # (2, 2): arm, event, with noise of its own
    margin_noise: float = 0.0  # variance of that noise
    # how many events a row in each state counts, (states,) or (strata, 2, states)
    scores: Floats = field(default_factory=lambda: np.array([0.0, 1.0]))
    factor: tuple[float, float] = (1.0, 1.0)  # variance of a row's events in an arm of mean r, over r (1 - r)
    others: Floats | None = None  # rows of each stratum in neither arm, with noise as that of a cell

    @property
    def arm_scores(self) -> Floats:
        """The score of every stratum, arm and state."""
        return np.broadcast_to(self.scores, self.cells.shape)

    def arm_noise(self, arm: int) -> Noise:
        """Return the noise of the rows and events of an arm."""
        return Noise(self.noise, self.arm_scores[:, arm], self.factor[arm])


@dataclass(frozen=True)
class Noise:
    """Of the rows N and events A of an arm in each stratum, whose cells have noise of a variance.

    >>> one = Noise(2.0, np.array([[0.0, 1.0]]))
    >>> one.of_rows, one.of_residual(0.1).round(6).tolist(), one.shared(0.1).round(6).tolist()
    (4.0, [1.64], [1.6])
    """

    variance: float
    scores: Floats  # (strata, states)
    factor: float = 1.0

    @property
    def of_rows(self) -> float:
        """The noise variance of the number of rows N."""
        return float(self.variance * self.scores.shape[-1])

    def of_residual(self, risk: float) -> Floats:
        """Return the noise variance of A - risk N (events less expected events)."""
        return np.asarray(self.variance * np.sum((self.scores - risk) ** 2, axis=-1))

    def shared(self, risk: float) -> Floats:
        """Return the noise covariance of N with A - risk N."""
        return np.asarray(self.variance * np.sum(self.scores - risk, axis=-1))


def consistent(table: StrataTable) -> tuple[Floats, float]:
    """Return cells made consistent with the margin and the public rows, and the noise variance of their sums.

    Sums and margin are weighed by their variances. That of a sum is before the rows are made to agree: where they are
    public, the noise of the four sums is then v (I - J/4).

    >>> cells = np.array([[[8.0, 2.0], [3.0, 1.0]], [[5.0, 1.0], [4.0, 0.0]]])
    >>> found, noise = consistent(StrataTable(cells, (2,), 1.0, margin=np.full((2, 2), 8.0), margin_noise=2.0))
    >>> found.sum(axis=0).tolist(), noise
    ([[10.5, 5.5], [7.5, 4.5]], 1.0)
    """
    strata, sums = len(table.cells), table.cells.sum(axis=0)
    total, noise = sums, strata * table.noise
    if table.margin is not None and noise + table.margin_noise > 0:
        share = noise / (noise + table.margin_noise)
        total, noise = share * table.margin + (1 - share) * sums, share * table.margin_noise
    if table.rows is not None:
        total = total + (table.rows - total.sum()) / 4
    return np.asarray(table.cells + (total - sums) / strata), noise


def arm_sizes(table: StrataTable, rows: Floats, events: Floats) -> Floats:
    """Return the rows of both arms, by a sum whose noise is uncorrelated with that of the risk.

    With r the risk of all rows, the noise of the sum is uncorrelated with that of events - r rows of the arm, so that
    an answer given where an arm is large enough is not one whose risk noise has moved.

    >>> table = StrataTable(np.array([[[80.0, 20.0], [32.0, 8.0]]]), (), 1.0)
    >>> arm_sizes(table, np.array([100.0, 40.0]), np.array([20.0, 8.0])).tolist()
    [100.0, 40.0]
    """
    risk = float(np.clip(events.sum() / rows.sum(), 0.0, 1.0))
    lean = (table.arm_scores - risk).sum(axis=(0, 2)) / len(table.cells)
    square = ((table.arm_scores - risk) ** 2).sum(axis=(0, 2)) / len(table.cells)
    agreed = 0.0 if table.rows is None else 0.25  # the noise of the four sums is then v (I - J/4)
    shared = lean * (1 - agreed * table.cells.shape[-1])
    return np.asarray(rows - shared / (square - agreed * lean**2) * (events - risk * rows))


def stands_out(rows: float, variance: float) -> bool:
    """Return whether an arm is large enough: ``CLEAR`` standard deviations of noise and ``FEWEST`` rows.

    >>> stands_out(60.0, 100.0), stands_out(59.0, 100.0), stands_out(2.0, 0.0)
    (True, False, False)
    """
    return rows >= max(CLEAR * math.sqrt(variance), FEWEST)


@dataclass(frozen=True)
class Sizes:
    """Rows of an arm by stratum: as counted, drawn to the product of margins, and that product."""

    counts: Floats  # unbiased, and perhaps negative
    drawn: Floats  # positive
    gain: Floats  # of the count in the drawn one
    product: Floats  # with hardly any of the stratum's own noise


def sizes(counts: Floats, levels: tuple[int, ...], noise: float) -> Sizes:
    """Return the estimated rows of strata, shrunk to the product of their one-way margins.

    The prior variance is that of Poisson counts plus a squared coefficient of variation, by moments.
    """
    cube, total = counts.reshape(levels), max(float(counts.sum()), 1.0)
    shares = np.ones(levels)
    for axis, size in enumerate(levels):
        line = cube.sum(axis=tuple(j for j in range(len(levels)) if j != axis))
        error, even = noise * len(counts) / size, total / size
        extra = max(float(np.sum((line - even) ** 2)) / max(size - 1, 1) - error, 0.0)
        gain = extra / (extra + error) if extra + error > 0 else 0.0
        line = np.maximum(even + gain * (line - even), MIN_LINE * even)
        shares = shares * (line / line.sum()).reshape([-1 if j == axis else 1 for j in range(len(levels))])
    mean = total * shares.reshape(-1)
    excess = max(float(np.sum((counts - mean) ** 2 - mean - noise) / np.sum(mean**2)), 0.0)
    spread = mean + excess * mean**2
    trust = spread / (spread + noise)
    drawn = np.maximum(mean + trust * (counts - mean), MIN_COUNT * mean)
    return Sizes(counts, drawn * (total / drawn.sum()), trust, mean)


@lru_cache(maxsize=16)
def basis(levels: tuple[int, ...]) -> tuple[Floats, NDArray[np.int64]]:
    """Return basis columns over strata (mean, main effects, interactions) of mean square 1, and their orders.

    Where these are too many (``MOST_TERMS``, ``MOST_NUMBERS``), the main effects, and else the mean alone.

    >>> basis((2, 2))[0].round(6).tolist()[0], basis((2, 2))[1].tolist(), basis(())[0].tolist()
    ([1.0, -1.0, -1.0, 1.0], [0, 1, 1, 2], [[1.0]])
    """
    strata, terms = math.prod(levels), [size - 1 for size in levels]
    counted = (1 + sum(terms), 1 + sum(terms) + sum(a * b for a, b in combinations(terms, 2)))
    most = sum(one <= MOST_TERMS and one * strata <= MOST_NUMBERS for one in counted)
    single = []
    for size in levels if most else ():
        powers = np.vander(np.arange(size, dtype=float), size, increasing=True)
        turned, upper = np.linalg.qr(powers)
        single.append(turned * np.sign(np.diag(upper)) * math.sqrt(size))
    where = np.indices(levels).reshape(len(levels), strata)
    columns, orders = [np.ones(strata)], [0]
    for order in range(1, min(most, len(levels)) + 1):
        for chosen in combinations(range(len(levels)), order):
            for which in product(*(range(1, levels[j]) for j in chosen)):
                parts = [single[j][where[j], c] for j, c in zip(chosen, which, strict=True)]
                columns.append(np.prod(parts, axis=0))
                orders.append(order)
    return np.stack(columns, axis=1), np.array(orders)


def free_column(values: Floats, weights: Floats) -> Floats:
    """Return values by stratum centred and scaled to mean square 1, as a column; none if they do not vary."""
    share = weights / weights.sum()
    centred = values - share @ values
    scale = math.sqrt(float(share @ centred**2))
    if scale < 1e-6 * float(np.abs(values).max()):
        return np.zeros((len(values), 0))
    return np.asarray((centred / scale)[:, None])


@dataclass(frozen=True)
class Risks:
    """Risks of an arm by stratum, and how a weighted sum of them depends on the counts."""

    risk: Floats  # of each stratum; unbiased rather than within [0, 1]
    sizes: Sizes  # of the arm
    weight: Floats  # of a stratum's residual in the equations of b
    local: Floats  # and in its own eta
    columns: Floats  # x
    inverse: Floats  # (x' w N x + D^-1)^-1
    precision: Floats  # the diagonal of D^-1
    spread: float  # tau^2

    def loadings(self, weights: Floats) -> Floats:
        """Return the derivative of a weighted sum of risks by the events of each stratum."""
        inner = self.columns.T @ (weights * (1 - self.local * self.sizes.counts))
        return np.asarray(self.weight * (self.columns @ (self.inverse @ inner)) + self.local * weights)

    def prior_variance(self, weights: Floats) -> float:
        """Return the prior variance that remains in a weighted sum of risks."""
        loadings = self.loadings(weights)
        missed = self.columns.T @ (weights - loadings * self.sizes.counts)
        scales = np.divide(1.0, self.precision, out=np.zeros_like(self.precision), where=self.precision > 0)
        own = weights - loadings * self.sizes.drawn
        return float(scales @ missed**2 + self.spread * own @ own)

    def leverage(self) -> Floats:
        """Return the derivative of each risk by the events of its own stratum."""
        quadratic = np.sum((self.columns @ self.inverse) * self.columns, axis=1)
        return np.asarray(self.weight * quadratic * (1 - self.local * self.sizes.counts) + self.local)


def fitted_risks(
    events: Floats,
    rows: Sizes,
    levels: tuple[int, ...],
    level: float,
    noise: Noise,
    *,
    offset: Floats | None = None,
    free: Floats | None = None,
) -> Risks:
    """Return the risks of an arm by stratum, shrunk by an empirical Bayes model.

    Parameters
    ----------
    events, rows
        By stratum.
    levels
        Of the columns held fixed.
    level
        The risk of the whole arm, inside (0, 1).
    noise
        Of rows and events.
    offset
        Risks that are known up to a difference that hardly varies; then main effects are drawn to 0, too.
    free
        Further columns of the basis, shape (strata, any number), which are not drawn to 0.
    """
    columns, orders = basis(levels)
    rest = len(columns) > columns.shape[1]
    if free is not None:
        columns, orders = np.column_stack([columns, free]), np.append(orders, np.zeros(free.shape[1], int))
    groups = [orders == order for order in range(2 if offset is None else 1, int(orders.max()) + 1)]
    unit = math.sqrt(level * (1 - level))
    start = np.zeros(len(events)) if offset is None else offset
    residual = events - rows.counts * start

    def variance(size: Floats) -> Floats:
        return np.asarray(size * noise.factor * unit**2 + noise.of_residual(level))

    around = residual - (level if offset is None else 0.0) * rows.counts
    taus, spread = _scales(around, rows.drawn, variance(rows.drawn), columns, groups, unit, rest=rest)
    precision = np.full(columns.shape[1], unit**-2)
    precision[0] = 0.0
    for group, tau in zip(groups, taus, strict=True):
        precision[group] = group.sum() / tau
    weight = rows.product / (variance(rows.product) + rows.product**2 * spread)
    normal = columns.T @ ((weight * rows.counts)[:, None] * columns) + np.diag(precision)
    values, vectors = np.linalg.eigh(normal)
    by_noise = np.sqrt(noise.of_rows * (weight**2 @ (columns @ vectors) ** 4))  # deviations of these values
    inverse = (vectors / np.maximum(values, np.maximum(0.25 / unit**2, KNOWN * by_noise))) @ vectors.T
    shared = noise.shared(level)  # expectation of a count's noise times that of its residual
    leverage = weight * np.sum((columns @ inverse) * columns, axis=1)
    linear = columns @ (inverse @ (columns.T @ (weight * (residual + leverage * shared))))
    omega = 1 / (variance(rows.drawn) + rows.drawn**2 * spread)
    local = spread * rows.drawn * omega
    slope = spread * (omega - rows.drawn * omega**2 * (noise.factor * unit**2 + 2 * rows.drawn * spread))
    own = local * (residual - rows.counts * linear) - slope * rows.gain * shared
    return Risks(start + linear + own, rows, weight, local, columns, inverse, precision, spread)


def _scales(
    residual: Floats,
    rows: Floats,
    variance: Floats,
    columns: Floats,
    groups: list[NDArray[np.bool_]],
    unit: float,
    *,
    rest: bool,
) -> tuple[list[float], float]:
    """Return posterior means of the variance of each group of effects, and of the residual variance tau^2.

    The m-th group has a half Cauchy scale of ``unit`` 2^-(m + 1), and tau the next; ``rest``: whether there is an eta.
    """
    mass = np.log(np.gradient(STEPS) / (1 + STEPS**2))
    picks = np.indices((len(STEPS),) * len(groups)).reshape(len(groups), len(STEPS) ** len(groups)).T
    halves = unit * 2.0 ** -(2 + np.arange(len(groups) + 1))
    taus = (halves[:-1] * STEPS[picks]) ** 2
    scales = np.full((len(picks), columns.shape[1]), unit**2)
    scales[:, 0] *= 1e4  # flat
    for m, group in enumerate(groups):
        scales[:, group] = taus[:, [m]] / group.sum()
    roots, design = np.sqrt(scales), rows[:, None] * columns
    spreads = (halves[-1] * STEPS) ** 2 if rest else np.zeros(1)
    logs = np.empty((len(spreads), len(picks)))
    for i, spread in enumerate(spreads):
        omega = 1 / (variance + rows**2 * spread)
        weighted = design * omega[:, None]
        inner = np.eye(columns.shape[1]) + roots[:, :, None] * (weighted.T @ design) * roots[:, None, :]
        moment = roots * (weighted.T @ residual)
        solved = np.linalg.solve(inner, moment[:, :, None])[:, :, 0]
        far = omega @ residual**2 - np.sum(moment * solved, axis=1)
        logs[i] = -0.5 * (far - np.sum(np.log(omega)) + np.linalg.slogdet(inner)[1])
        logs[i] += mass[picks].sum(axis=1) + (mass[i] if rest else 0.0)
    share = np.exp(logs - logs.max())
    share /= share.sum()
    return list(share.sum(axis=0) @ taus), float(share.sum(axis=1) @ spreads)
