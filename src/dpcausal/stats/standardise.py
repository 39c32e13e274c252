"""Standardised means of two arms from a table with noise, and intervals that know the noise.

**Formula.** Rows lie in strata z and, within each, in arms a = 0, 1; y is the outcome, scaled to [0, 1]. With N the
number of rows of an arm in a stratum, S the sum of y there and w_z the share of the stratum among all rows,

    m_a = sum_z w_z mu_az,     mu_az = S_az / N_az          (back-door adjustment: the g-formula)

and an effect is m_1 - m_0, m_1 / m_0 or the ratio of their odds.

**Interval.** Counts come with noise, so an S/N of few rows has heavy tails and no standard error that means anything.
For a candidate mu the residual R = S - mu N has mean zero and a variance that is known, whatever N is (Fieller):

    D_az(mu) = R^2 / (v_S - 2 mu c + mu^2 v_N + N+ f mu (1 - mu))

v_S, v_N, c are variances of the noise and its covariance; N+ f mu (1 - mu) is the sampling variance, with f = 1 for
two levels, and else the variance of y within strata and arms over mu (1 - mu), which it can't exceed: one of each where
rows were counted by levels (``cell_factors``), one for all where only Q is known (``spread_factor``). The ends of the
interval are the largest and smallest sum of w_z mu_az over all mu with sum of D + D_w <= q: a profile likelihood. D_w
stands for the shares w_z, which vary by sampling and noise. The maximum is found through its dual,

    min over k > 0 of   k q + sum max over mu of (w_z mu - k D_az(mu)) + V_w / (4 k),

which is never below it. Where an arm of a stratum holds less than the noise, every mu is allowed, so that the interval
says so by itself. q is the square of the normal quantile, with a Cornish-Fisher term for the tails of Laplace noise.

**Rules on noisy counts** (``pooled``, ``supported``): strata smaller than their noise are made one, and an effect is
said for strata in which both arms hold more rows than noise. Both follow from released counts and public numbers.

**Cost** O(strata x grid) a step of the search over k, some 40 steps an end. **Edge cases**: no stratum with both arms:
nothing is known, and the interval is all that is possible.

References: Fieller 1954; Robins 1986 (g-formula); Zou & Donner 2008 (limits from limits of parts); Cornish & Fisher
1938.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MIN_STRATUM = 1.0  # standard deviations of noise below which strata are made one
MIN_ARM = 0.7  # standard deviations of noise that an arm of a stratum must hold
MIN_ROWS = 3.0  # and rows
LOCAL, GLOBAL = 121, 41  # points of the grid near the estimate and over all of [0, 1]
BEYOND = 0.25  # how far the mean of a single stratum may lie outside [0, 1], at most
WEAK_ARM = 2.0  # standard deviations of noise below which an arm of a stratum is weak
# weak arms up to which means stay in [0, 1], and from which on ``BEYOND`` is allowed
FEW_WEAK, MANY_WEAK = 8, 24
LOCAL_REACH = 8.0  # standard errors that the near points span
MIN_FACTOR = 0.01  # of f
FACTOR_SD = 0.25  # of f in a stratum and arm around f of all
PRIOR_SD = 0.25  # of the mean of an arm in a stratum around that of the arm
STEPS = 48  # of the search for the multiplier


@dataclass(frozen=True)
class Arms:
    """Noisy sums of two arms in strata; arrays have shape (strata, 2) unless it is given."""

    counts: Floats  # rows
    sums: Floats  # of the outcome in [0, 1]
    others: Floats  # rows of each stratum in neither arm, shape (strata,)
    count_noise: Floats  # variance of the noise of a count
    sum_noise: Floats  # of a sum
    cross_noise: Floats  # the covariance of the two
    other_noise: Floats  # variance of the noise of ``others``, shape (strata,)
    rows: float  # in all: public, or the noisy sum
    factor: Floats  # f: the variance of the outcome over mu (1 - mu)
    kurtosis: float = 0.0  # excess kurtosis of the noise of a cell

    @property
    def sizes(self) -> Floats:
        """The noisy number of rows of each stratum."""
        return np.asarray(self.counts.sum(axis=1) + self.others)

    @property
    def size_noise(self) -> Floats:
        """The noise variance of ``sizes``."""
        return np.asarray(self.count_noise.sum(axis=1) + self.other_noise)


# the arrays of ``Arms`` that add up over strata
STRATA_SUMS = ("counts", "sums", "others", "count_noise", "sum_noise", "cross_noise", "other_noise")


def arms_of_cells(
    cells: Floats,
    others: Floats | None,
    scores: Floats,
    variance: float,
    rows: float,
    kurtosis: float = 0.0,
    *,
    other_cells: int = 1,
) -> Arms:
    """Return the sums of both arms by stratum from noisy cells (strata, 2, levels of the outcome).

    Parameters
    ----------
    cells
        The table.
    others
        Rows of each stratum in neither arm; None where there are only two.
    scores
        What each level of the outcome counts, in [0, 1].
    variance, kurtosis
        Of the noise of a cell.
    rows
        Rows in all.
    other_cells
        How many cells ``others`` sums.
    """
    strata, _, levels = cells.shape
    shape = (strata, 2)
    counts, sums = cells.sum(axis=2), cells @ scores
    rest = np.zeros(strata) if others is None else np.asarray(others, float)
    first = float(scores.sum())
    found = Arms(
        counts=counts,
        sums=sums,
        others=rest,
        count_noise=np.full(shape, levels * variance),
        sum_noise=np.full(shape, variance * float(scores @ scores)),
        cross_noise=np.full(shape, variance * first),
        other_noise=np.full(strata, 0.0 if others is None else other_cells * variance),
        rows=max(float(rows), 1.0),
        factor=np.ones(shape),
        kurtosis=kurtosis,
    )
    if levels == 2:
        return found
    between = scores * (1 - scores)
    noise = variance * float(between @ between)
    return replace(found, factor=cell_factors(found, cells @ between, noise))


def spread_factor(arms: Arms, between: float) -> Floats:
    """Return the factor f of outcome variance, one for all strata, from the total of y (1 - y).

    With B the sum of N mu (1 - mu) over strata and arms, f = 1 - ``between`` / B (1 - y is to y as 1 - mu to mu where
    all of y is 0 or 1). The mu of noisy cells, drawn to that of their arm, are too far apart by their error, which is
    added to B again.

    >>> cells = np.array([[[50.0, 50.0], [50.0, 50.0]]])
    >>> arms = arms_of_cells(cells, None, np.array([0.0, 1.0]), 0.0, 200.0)
    >>> spread_factor(arms, 0.0).tolist(), spread_factor(arms, 40.0).round(2).tolist()
    ([[1.0, 1.0]], [[0.2, 0.2]])
    """
    within = float(_within(arms)[0].sum())
    found = 1.0 - max(between, 0.0) / max(within, 1.0)
    return np.full(arms.counts.shape, round(min(max(found, MIN_FACTOR), 1.0), 12))


def cell_factors(arms: Arms, between: Floats, noise: float) -> Floats:
    """Return the factor f of outcome variance for every stratum and arm, from their sums of y (1 - y).

    What a cell alone says is drawn to what all say together, the more the less it holds (``FACTOR_SD``).
    """
    within, means = _within(arms)
    overall = float(np.clip(between.sum() / max(float(within.sum()), 1.0), 0.0, 1.0 - MIN_FACTOR))
    count = np.maximum(arms.counts, 0.0)
    part = overall * means * (1 - means)  # of y (1 - y) in a row, which is at most 1/4
    error = noise + count * part * np.maximum(0.25 - part, 0.0) + overall**2 * _noise(arms, means)
    signal = within**2 * FACTOR_SD**2
    trust = np.divide(signal, signal + error, out=np.zeros_like(signal), where=signal + error > 0)
    alone = np.divide(between, within, out=np.full_like(within, overall), where=within > 0)
    return np.clip(1.0 - overall - trust * (alone - overall), MIN_FACTOR, 1.0)


def _drawn_means(arms: Arms, *, sampling: bool) -> tuple[Floats, Floats]:
    """Return the mean of every stratum and arm, shrunk to that of its arm; and the shrinkage weights.

    ``sampling``: whether the error is that of sampling, too, and not of the noise alone.
    """
    count = np.maximum(arms.counts, 0.0)
    overall = np.clip(arms.sums.sum(axis=0) / np.maximum(arms.counts.sum(axis=0), 1e-9), 0.0, 1.0)
    residual = arms.sums - overall * arms.counts
    error = _noise(arms, overall) + (count * overall * (1 - overall) if sampling else 0.0)
    signal = count**2 * PRIOR_SD**2
    trust = np.divide(signal, signal + error, out=np.zeros_like(signal), where=signal + error > 0)
    alone = np.divide(residual, count, out=np.zeros_like(residual), where=count > 0)
    return overall + trust * alone, trust


def _within(arms: Arms) -> tuple[Floats, Floats]:
    """Return N mu (1 - mu) of every stratum and arm, corrected for errors of mu; and mu."""
    count = np.maximum(arms.counts, 0.0)
    drawn, trust = _drawn_means(arms, sampling=True)
    means = np.clip(drawn, 0.0, 1.0)
    lost = trust**2 * (_noise(arms, means) + count * means * (1 - means))
    lost = np.divide(lost, count, out=np.zeros_like(lost), where=count > 0)
    return np.minimum(count * means * (1 - means) + lost, count / 4), means


def pooled(arms: Arms) -> tuple[Arms, NDArray[np.intp]]:
    """Return the sums with small strata pooled into one, and the new place of every stratum.

    >>> table = np.array([[[40.0, 60.0], [50.0, 50.0]], [[1.0, 0.0], [2.0, -1.0]], [[0.0, 1.0], [0.0, 1.0]]])
    >>> arms, place = pooled(arms_of_cells(table, None, np.array([0.0, 1.0]), 4.0, 204.0))
    >>> arms.counts.tolist(), place.tolist()
    ([[100.0, 100.0], [2.0, 2.0]], [0, 1, 1])
    """
    small = arms.sizes < MIN_STRATUM * np.sqrt(arms.size_noise)
    if small.sum() < 2:
        return arms, np.arange(len(small))
    place = np.where(small, int((~small).sum()), np.cumsum(~small) - 1)

    def summed(values: Floats) -> Floats:
        found = np.zeros((int(place.max()) + 1, *values.shape[1:]))
        np.add.at(found, place, values)
        return found

    weights = np.maximum(arms.counts, 1e-9)
    sums: dict[str, Any] = {name: summed(getattr(arms, name)) for name in STRATA_SUMS}
    return replace(arms, **sums, factor=summed(arms.factor * weights) / summed(weights)), place


def supported(arms: Arms) -> Bools:
    """Return a mask of the strata in which both arms hold more rows than noise."""
    least = np.maximum(MIN_ARM * np.sqrt(arms.count_noise), MIN_ROWS)
    return np.asarray((arms.counts >= least).all(axis=1))


def only_strata(arms: Arms, keep: Bools) -> Arms:
    """Return the sums of the strata in ``keep``."""
    rows = max(float(arms.sizes[keep].sum()), 1.0) if not keep.all() else arms.rows
    some: dict[str, Any] = {name: getattr(arms, name)[keep] for name in (*STRATA_SUMS, "factor")}
    return replace(arms, rows=rows, **some)


def beyond(arms: Arms) -> float:
    """Return by how much the estimated mean of a stratum may lie outside [0, 1].

    Errors of means that are held within [0, 1] have one sign near an end, and do not cancel over many strata.
    """
    weak = int((arms.counts < WEAK_ARM * np.sqrt(arms.count_noise)).sum())
    return BEYOND * min(max((weak - FEW_WEAK) / (MANY_WEAK - FEW_WEAK), 0.0), 1.0)


class Means(NamedTuple):
    """Standardised means of both arms, and what their interval rests on."""

    low_arm: float
    high_arm: float
    strata: Floats  # (strata, 2)
    weights: Floats  # (strata,)


def standardised(arms: Arms) -> Means:
    """Return the standardised means of both arms; noisy strata are shrunk to the mean of the arm."""
    weights, more = arms.sizes / arms.rows, beyond(arms)
    means = np.clip(_drawn_means(arms, sampling=False)[0], -more, 1.0 + more)
    low, high = (weights[:, None] * means).sum(axis=0)
    return Means(float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1)), means, weights)


def _noise(arms: Arms, mean: Floats | float) -> Floats:
    """Return the noise variance of sums of outcomes centred at ``mean``."""
    return np.asarray(arms.sum_noise - 2 * mean * arms.cross_noise + mean**2 * arms.count_noise)


class Region:
    """All pairs of standardised means (m_0, m_1) that the noisy sums allow at a level."""

    def __init__(self, arms: Arms, level: float) -> None:
        self.arms, self.means = arms, standardised(arms)
        means = self.means.strata
        count = np.maximum(arms.counts, 0.0)
        floor = np.maximum(count, 0.5 * np.sqrt(arms.count_noise))
        noise = _noise(arms, means)
        # of S - mu N at the estimate, with a little variance where the mean is 0 or 1
        edge = 1 / (floor + 2)
        inside = np.clip(means, edge, 1 - edge)
        error = np.sqrt(noise + floor * arms.factor * inside * (1 - inside)) / np.maximum(floor, 1e-9)
        local = means[..., None] + error[..., None] * np.linspace(-LOCAL_REACH, LOCAL_REACH, LOCAL)
        more = beyond(arms)
        everywhere = np.broadcast_to(np.linspace(-more, 1.0 + more, GLOBAL), (*means.shape, GLOBAL))
        grid = np.clip(np.concatenate([local, everywhere], axis=-1), -more, 1.0 + more)
        inner = np.clip(grid, 0.0, 1.0)
        variance = (
            arms.sum_noise[..., None]
            - 2 * grid * arms.cross_noise[..., None]
            + grid**2 * arms.count_noise[..., None]
            + (floor * arms.factor)[..., None] * inner * (1 - inner)
        )
        residual = arms.sums[..., None] - grid * arms.counts[..., None]
        self._grid = grid.reshape(-1, grid.shape[-1])
        far = (residual**2 / np.maximum(variance, 1e-9)).reshape(self._grid.shape)
        self._far = far - far.min(axis=1, keepdims=True)
        self._errors = error
        self._quantile = float(-ndtri((1 - level) / 2))

    def furthest(self, low: float, high: float) -> float:
        """Return the maximum of low m_0 + high m_1 over the confidence region."""
        arms, means = self.arms, self.means
        direction = np.array([low, high])
        slopes = (means.weights[:, None] * direction).ravel()
        values = means.strata @ direction
        n = arms.rows
        share = np.maximum(means.weights, 0.0)
        mean = float(share @ values) / max(float(share.sum()), 1e-12)
        sampling = float(share @ (values - mean) ** 2) / n
        shifts = float(arms.size_noise @ (values - mean) ** 2) / n**2
        loose = sampling + shifts
        limit = self._limit(slopes, loose)
        gain = slopes[:, None] * self._grid
        scale = math.sqrt(max(loose + float(np.square(slopes * self._errors.ravel()).sum()), 1e-18))
        least, most = math.log(scale / 50.0), math.log(scale * 50.0)

        def dual(log_k: float) -> float:
            k = math.exp(log_k)
            return k * limit + float((gain - k * self._far).max(axis=1).sum()) + loose / (4 * k)

        golden = (math.sqrt(5.0) - 1) / 2
        a, b = least, most
        c, d = b - golden * (b - a), a + golden * (b - a)
        at_c, at_d = dual(c), dual(d)
        for _ in range(STEPS):
            if at_c < at_d:
                b, d, at_d = d, c, at_c
                c = b - golden * (b - a)
                at_c = dual(c)
            else:
                a, c, at_c = c, d, at_d
                d = a + golden * (b - a)
                at_d = dual(d)
        top = max(low, 0.0) + max(high, 0.0)
        return min(at_c, at_d, top)

    def _limit(self, slopes: Floats, loose: float) -> float:
        """Return the squared quantile, enlarged for heavy tails of few noisy cells."""
        noise = _noise(self.arms, self.means.strata).ravel()
        count = np.maximum(np.maximum(self.arms.counts, 0.5 * np.sqrt(self.arms.count_noise)).ravel(), 1e-9)
        part = slopes**2 * noise / count**2
        whole = float(np.square(slopes * self._errors.ravel()).sum()) + loose
        # two cells or more carry the noise of a residual
        tails = 0.5 * self.arms.kurtosis * float((part**2).sum()) / max(whole**2, 1e-30)
        z = self._quantile
        return float((z + tails * (z**3 - 3 * z) / 24) ** 2)
