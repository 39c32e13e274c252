"""From a released table, or the released sums of a regression, to an effect and its interval: post-processing alone.

Pure functions of what was released, its noise, the question and the level. Of a risk in two arms whose table was
measured with noise, ``estimate_strata`` gives the effect in a population (``stats/populations.py``), without leaving
strata out; ``estimate`` gives that of all other tables, and ``estimate_regression`` that of a regression.

In ``estimate``, strata smaller than their noise are made one, and strata in which an arm holds hardly more than noise
are left out (``stats/standardise.py``); the share of the noisy rows that remains is part of the answer. Where no
stratum remains, nothing is known: the interval is all that is possible, and there is no estimate. The estimate is the
centre of the interval's profile: with mu = S/N in every stratum and arm, within [0, 1], every
residual S - mu N is zero. Means drawn to that of their arm, from which the region starts, would lie nearer to the
effect without adjustment.

Ratios have no variance where the mean below them may be 0. Their ends are those of the ratio over all pairs of means
in the confidence region, which is held between ``DIRECTIONS`` tangents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpcausal.effects.question import EffectQuestion
from dpcausal.effects.regression import MeasuredRegression
from dpcausal.effects.result import (
    ColumnsEnter,
    EffectNote,
    Everyone,
    Lopsided,
    NothingKnown,
    Pooled,
    RiskCurves,
    StrataLeftOut,
)
from dpcausal.stats.double_residual import difference
from dpcausal.stats.life_table import exact_arms, is_followed, scored
from dpcausal.stats.populations import StrataEffect, population_effect
from dpcausal.stats.standardise import (
    MIN_ARM,
    MIN_ROWS,
    MIN_STRATUM,
    Arms,
    Region,
    beyond,
    only_strata,
    pooled,
    supported,
)
from dpcausal.stats.strata import StrataTable

Floats = NDArray[np.float64]
DIRECTIONS = 32  # tangents of the region of both means, for ratios
TINY = 1e-9
LOPSIDED = 2.0  # times as far on one side of the estimate as on the other: said, and why


@dataclass(frozen=True)
class Estimate:
    """An effect with its interval, the means of both arms, and the share of the noisy rows that it holds for."""

    estimate: float  # NaN where nothing is known
    interval: tuple[float, float]
    means: tuple[float, float] = (math.nan, math.nan)  # NaN where only their difference is known
    share: float = 1.0
    notes: tuple[EffectNote, ...] = ()
    covers: tuple[bool, ...] = ()  # of every stratum of the table: whether the estimate holds for it
    everyone: tuple[float, float] | None = None  # for all rows, whatever the effect is in strata left out
    population: str = "all"
    curves: RiskCurves | None = None

    def widened(self, off: float, most: float) -> Estimate:
        """Return the estimate with intervals wider by ``off`` on both sides, within ``most``."""

        def reach(ends: tuple[float, float]) -> tuple[float, float]:
            return max(ends[0] - off, -most), min(ends[1] + off, most)

        every = None if self.everyone is None else reach(self.everyone)
        notes = [
            replace(note, low=every[0], high=every[1]) if every and isinstance(note, Everyone) else note
            for note in self.notes
        ]
        return replace(self, interval=reach(self.interval), everyone=every, notes=tuple(notes))


def estimate(arms: Arms, question: EffectQuestion, level: float) -> Estimate:
    """Return the effect of a question from noisy sums over strata, standardised over the strata that are supported.

    The population is that of all rows in these strata: ``supported`` chooses them, and ``standardised`` weighs each by
    its share of the rows.
    """
    strata = len(arms.sizes)
    whole, place = pooled(arms)
    keep = supported(whole)
    noise = bool(arms.count_noise.any())
    if not keep.any():
        return Estimate(
            math.nan, _widest(question), share=0.0, notes=(NothingKnown(noise),), covers=(False,) * strata
        )
    out = ~keep[place]
    if not noise:
        out &= arms.sizes != 0  # a stratum without rows is not left out
    notes: list[EffectNote] = []
    left = left_out(arms, whole, place, keep, level) if out.any() else LeftOut(0.0, 0.0)
    if out.any():
        notes.append(StrataLeftOut(left.share, noise))
    shared = strata - len(whole.sizes)
    if shared and keep[-1]:  # the one that small strata were made is the last
        part = float(np.clip(whole.sizes[-1] / whole.rows, 0.0, 1.0))
        notes.append(Pooled(strata=shared + 1, share=part))
    region = Region(only_strata(whole, keep), level)
    first, second = centre(region.arms)
    scale = question.high - question.low
    if question.estimand.endswith("difference"):
        ends = (-region.furthest(1.0, -1.0), region.furthest(-1.0, 1.0))
        middle, low, high = (scale * value for value in (second - first, *ends))
    else:
        odds = question.estimand == "odds ratio"
        low, high = _ratio_ends(region, odds)
        middle = _ratio(max(first, TINY), max(second, TINY), odds)
    middle = min(max(middle, low), high)
    if question.estimand.endswith("difference") and lopsided(low, middle, high):
        notes.append(Lopsided(question.low, question.high))
    everyone = None
    if out.any():
        everyone = for_everyone(region, question, (low, high), left.most)
        notes.append(Everyone(*everyone, most=left.most if noise else None))
    return Estimate(
        float(middle),
        (float(low), float(high)),
        (question.low + scale * first, question.low + scale * second),
        1.0 - left.share,
        tuple(notes),
        tuple(map(bool, ~out)),
        everyone,
    )


def estimate_strata(table: StrataTable, population: str, question: EffectQuestion, level: float) -> Estimate:
    """Return the effect of a question about risks in a population, from noisy strata of two arms."""
    return _of_strata(population_effect(table, population, level), table, population, question)


def _of_strata(
    found: StrataEffect | None, table: StrataTable, population: str, question: EffectQuestion
) -> Estimate:
    """Return the standardised effect in the estimand that was asked for; without one, the widest interval."""
    strata = (True,) * len(table.cells)
    if found is not None and question.estimand.endswith("difference"):
        return Estimate(found.difference, found.interval, found.risks, covers=strata, population=population)
    odds = question.estimand == "odds ratio"
    interval = None if found is None else (found.odds if odds else found.ratio)
    if found is None or interval is None:
        nothing = (NothingKnown(table.noise > 0),)
        return Estimate(math.nan, _widest(question), share=0.0, notes=nothing, population=population)
    middle = _ratio(*found.risks, odds)
    ends = max(interval[0], 0.0), interval[1]
    return Estimate(middle, ends, found.risks, covers=strata, population=population)


def estimate_follow_up(table: StrataTable, question: EffectQuestion, level: float) -> Estimate:
    """Return the effect on the risk of an event by a horizon, and the risks over time, from noisy states."""
    follow_up = question.follow_up
    assert follow_up is not None
    times = range(1, len(follow_up.ends) + 1)
    if not is_followed(table, follow_up.kinds):
        return _of_strata(None, table, "all", question)
    if table.noise == 0:
        arms = [exact_arms(table, follow_up.kinds, until=time) for time in times]
        found = estimate(arms[-1], question, level)
        known = np.asarray(found.covers)
        if not known.any():
            return found
        regions = [Region(only_strata(one, known), level) for one in arms]
        risks = [centre(one.arms) for one in regions]
        ends = [
            [(-one.furthest(*-np.eye(2)[arm]), one.furthest(*np.eye(2)[arm])) for arm in (0, 1)]
            for one in regions
        ]
    else:
        tables = [scored(table, follow_up.kinds, until=time) for time in times]
        each = [population_effect(one, "all", level) for one in tables]
        found = _of_strata(each[-1], table, "all", question)
        risks = [one.risks for one in each if one is not None]
        ends = [list(one.ends) for one in each if one is not None]
        if math.isnan(found.estimate) or len(risks) < len(times):
            return found
    values, (low, high) = np.clip(risks, 0.0, 1.0).T, np.clip(ends, 0.0, 1.0).T
    parts = (values, np.minimum(low, values), np.maximum(high, values))
    curves = RiskCurves(
        follow_up.ends, *((tuple(one[0]), tuple(one[1])) for one in map(np.ndarray.tolist, parts))
    )
    return replace(found, curves=curves)


def estimate_regression(measured: MeasuredRegression, question: EffectQuestion, level: float) -> Estimate:
    """Return the effect from released sums of a regression, weighted by how much the treatment varies."""
    quantile = float(-ndtri((1 - level) / 2))
    slope = difference(measured.sums, measured.fit, measured.variance, quantile, measured.kurtosis)
    widest, linear = question.high - question.low, ColumnsEnter("linear", question.adjust)
    if not math.isfinite(slope.estimate):
        return Estimate(math.nan, (-widest, widest), share=0.0, notes=(linear, NothingKnown(noise=True)))
    low, middle, high = (
        min(max(widest / 2 * value, -widest), widest) for value in (slope.low, slope.estimate, slope.high)
    )
    return Estimate(float(middle), (float(low), float(high)), notes=(linear,))


def no_effect(question: EffectQuestion) -> Estimate:
    """Return the estimate for a treatment that can't change the outcome: zero, for any rows."""
    nothing = 1.0 if question.estimand.endswith("ratio") else 0.0
    return Estimate(nothing, (nothing, nothing))


class LeftOut(NamedTuple):
    """The share of rows in strata that are left out, and the most that it may be, at a level."""

    share: float
    most: float


def left_out(
    arms: Arms, whole: Arms, place: NDArray[np.intp], keep: NDArray[np.bool_], level: float
) -> LeftOut:
    """Return the share of rows in strata that were left out, by noisy counts, and an upper bound on it.

    Counted are these strata themselves, or what all others do not hold, whichever has less noise. Noise that makes a
    count low gets its stratum left out, so that either count is too low: by E[e; N + e < t] = s phi((t - N)/s) for
    normal noise of deviation s and the least count t, at most. It is taken at the noisy counts, with twice their
    variance, and part of what may be out. ``whole``, ``place`` and ``keep`` are what ``pooled`` and ``supported`` give.
    """
    out = ~keep[place]
    noise = [math.sqrt(float(arms.size_noise[which].sum())) for which in (out, ~out)]
    held = float(arms.sizes[out].sum()), arms.rows - float(arms.sizes[~out].sum())
    best = int(noise[1] < noise[0])
    hidden = too_low(
        whole.counts, np.maximum(MIN_ARM * np.sqrt(whole.count_noise), MIN_ROWS), whole.count_noise
    )
    if len(whole.sizes) < len(arms.sizes) and not keep[-1]:  # the small ones, made one, are out
        hidden += too_low(arms.sizes, MIN_STRATUM * np.sqrt(arms.size_noise), arms.size_noise)
    margin = hidden + float(-ndtri((1 - level) / 2)) * noise[best]
    share, most = np.clip(np.array([held[best], held[best] + margin]) / arms.rows, 0.0, 1.0)
    return LeftOut(float(share), float(most))


def too_low(counts: Floats, least: Floats, variance: Floats) -> float:
    """Return by how much, at most, noise is expected to lower the counts of strata that it leaves out.

    The sum of s phi((least - N)/s) over noisy counts N, with twice their variance; 0 without noise.

    >>> round(too_low(np.array([8.0, 100.0]), np.array([8.0, 8.0]), np.array([4.0, 4.0])), 3)
    0.798
    """
    sd = np.sqrt(variance)
    far = np.divide(least - counts, sd, out=np.full(counts.shape, np.inf), where=sd > 0)
    return float((sd * np.exp(-(far**2) / 4)).sum() / math.sqrt(2 * math.pi))


def centre(arms: Arms) -> tuple[float, float]:
    """Return the standardised means of both arms at which all residuals are zero, or nearest within [0, 1]."""
    more = beyond(arms)
    means = np.clip(arms.sums / np.maximum(arms.counts, TINY), -more, 1.0 + more)
    low, high = np.clip((arms.sizes / arms.rows) @ means, 0.0, 1.0)
    return float(low), float(high)


def lopsided(low: float, estimate: float, high: float) -> bool:
    """Return whether an interval reaches more than ``LOPSIDED`` times as far on one side of the estimate.

    >>> lopsided(-1.0, 0.0, 1.5), lopsided(-1.0, 0.0, 3.0)
    (False, True)
    """
    sides = sorted((estimate - low, high - estimate))
    return sides[1] > LOPSIDED * sides[0]


def for_everyone(
    region: Region, question: EffectQuestion, interval: tuple[float, float], left: float
) -> tuple[float, float]:
    """Return the interval for all rows if a share ``left``, in strata left out, may have any mean.

    The mean of an arm over all rows is (1 - left) m + left u with u in [0, 1]; a difference takes its worst cases, and
    a ratio those of the box around the region.
    """
    covered = 1.0 - left
    if question.estimand.endswith("difference"):
        widest = question.high - question.low
        return covered * interval[0] - left * widest, covered * interval[1] + left * widest
    lows = [covered * max(-region.furthest(*towards), 0.0) for towards in ((-1.0, 0.0), (0.0, -1.0))]
    highs = [covered * region.furthest(*towards) + left for towards in ((1.0, 0.0), (0.0, 1.0))]
    odds = question.estimand == "odds ratio"
    low = _ratio(min(highs[0], 1.0), lows[1], odds) if not (odds and highs[0] >= 1 - TINY) else 0.0
    top = lows[0] <= TINY or (odds and highs[1] >= 1 - TINY)
    return low, math.inf if top else _ratio(lows[0], min(highs[1], 1.0), odds)


def _widest(question: EffectQuestion) -> tuple[float, float]:
    """Return the widest interval that the estimand of a question allows."""
    if question.estimand.endswith("difference"):
        return question.low - question.high, question.high - question.low
    return 0.0, math.inf


def _ratio(first: float, second: float, odds: bool) -> float:
    """Return the risk ratio of the second to the first, or the odds ratio."""
    if odds:
        first, second = first / max(1 - first, TINY), second / max(1 - second, TINY)
    return second / first


def _ratio_ends(region: Region, odds: bool) -> tuple[float, float]:
    """Return the least and the largest ratio over a confidence region, from its corners within [0, 1]."""
    first, second = region.means.low_arm, region.means.high_arm
    scales = [region.furthest(1.0, 0.0) - first, region.furthest(0.0, 1.0) - second]
    scales = [max(one, TINY) for one in scales]
    angles = 2 * math.pi * np.arange(DIRECTIONS) / DIRECTIONS
    normals = np.column_stack([np.cos(angles) / scales[0], np.sin(angles) / scales[1]])
    reach = np.array([region.furthest(float(a), float(b)) for a, b in normals])
    ends = []
    for i in range(DIRECTIONS):
        j = (i + 1) % DIRECTIONS
        corner = np.linalg.solve(np.array([normals[i], normals[j]]), np.array([reach[i], reach[j]]))
        low, high = np.clip(corner, 0.0, 1.0)
        top = math.inf if low <= TINY or (odds and high >= 1 - TINY) else _ratio(low, high, odds)
        bottom = 0.0 if high <= TINY or (odds and low >= 1 - TINY) else _ratio(max(low, TINY), high, odds)
        ends.append((bottom, top))
    return min(bottom for bottom, _ in ends), max(top for _, top in ends)
