"""How wide the interval of an effect will be by a plan: its estimate from expected counts with typical noise.

**What is assumed.** Levels are as common as 1, 1/2, 1/3 and so on (the treated a third of the rows, unless a share is
given), columns do not depend on each other, and there is no effect. A third of the rows has the event; a number has its
mean at a third of its range and a standard deviation of a sixth of it. Rows differ: in 8 of 10 cases the forecast is
good to a factor of three, by ``benchmarks/effects_forecast.py``.

**How.** The table of these expected counts gets typical noise: quantiles of the law of the noise, spread over the cells
by a fixed sequence, so that no bytes are drawn. Then the steps of an answer follow: ``stats/populations.py`` for a risk
in two arms, ``estimate.py`` for other tables, ``double_residual.py`` for a regression. Of a few such widths the median
is taken. Where rows are as assumed, widths come out within a quarter of it.

**Guarantee.** The schema, the question, the plan and the public number of rows alone go in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpcausal.data.schema import Schema
from dpcausal.effects.asked import AskedEffect
from dpcausal.effects.estimate import estimate
from dpcausal.effects.question import strata_cells
from dpcausal.effects.regression import TYPICAL, PlannedRegression, kind_of, width
from dpcausal.effects.request import EffectPopulation
from dpcausal.effects.table import PlannedTable
from dpcausal.planning.measurement_plan import noise_variance
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.stats.double_residual import KEEP, difference, fitted
from dpcausal.stats.life_table import scored
from dpcausal.stats.moments import unpacked
from dpcausal.stats.populations import estimable_population, population_effect
from dpcausal.stats.standardise import MIN_ARM, MIN_ROWS, arms_of_cells
from dpcausal.stats.strata import StrataTable

Floats = NDArray[np.float64]
DRAWS, TABLE_DRAWS = 5, 3  # with typical noise: of a regression, and of a table, which varies less
MOST_STRATA, MOST_CELLS = 1024, 256  # of such a table, and of one with populations; others are taken together
FEW_STRATA = 64  # of a table that gets noise more than once
GOLDEN = (math.sqrt(5.0) - 1) / 2
BINARY = np.array([0.0, 1.0])
TINY = 1e-12
TYPICAL_SD = 1 / 6  # of a number, in units of its range
MEAN = 1 / 3  # of the outcome, in units of its range: the risk, where it has two levels


class Widths(NamedTuple):
    """The expected width of an interval in units of the outcome, and the chance that noise hides an arm of a stratum.

    For a ratio, that of the difference of risks. ``population``: whose effect the interval is of.
    """

    noisy: float
    plain: float  # from sampling alone, for the same population
    left_out: float = 0.0
    population: EffectPopulation = "all"


def expected_widths(
    asked: AskedEffect, releases: Sequence[PlannedTable | PlannedRegression], rows: int
) -> Widths:
    """Return the expected widths of intervals for a plan; of several adjustment sets, the largest."""
    question = asked.question

    def of_table(
        columns: Sequence[str], tables: Sequence[PlannedTable], whose: EffectPopulation
    ) -> tuple[float, EffectPopulation]:
        if question.has_strata:
            return population_width(asked, columns, tables, rows, whose)
        return table_width(asked, columns, tables, rows), "all"

    wanted = asked.request.population
    first, tables = releases[0], [one for one in releases if isinstance(one, PlannedTable)]
    if isinstance(first, PlannedRegression):  # columns that are taken out by regression leave no strata
        plain, _ = of_table((), (), "all")
        wide = regression_width(asked, first, rows, asked.request.level)
        return Widths(max(wide, plain), plain, population="overlap")
    widths, chances = [], [0.0]
    for one in asked.used:
        table = next(table for table in tables if set(one) <= set(table.columns))
        if question.has_strata:  # which are never left out
            every = [other for other in tables if other is table or not other.columns]
            widths.append(of_table(one, every, wanted))
            continue
        widths.append(of_table(one, [table], wanted))
        if one:
            chances.append(chance_left_out(asked, one, table, rows))
    wide, whose = max(widths, key=lambda found: found[0])
    plain = max(of_table(one, (), each)[0] for one, (_, each) in zip(asked.used, widths, strict=True))
    return Widths(wide, plain, max(chances), whose)


def typical_noise(size: int, draw: int, mechanism: Laplace | Gaussian) -> Floats:
    """Return ``size`` quantiles of the noise in a fixed shuffled order: public."""
    at = np.modf((np.arange(1, size + 1) + draw * (size + 0.5)) * GOLDEN)[0]
    sd = math.sqrt(noise_variance(mechanism))
    at = np.clip(at, 1e-9, 1 - 1e-9)
    if isinstance(mechanism, Gaussian):
        return np.asarray(sd * ndtri(at))
    tail = np.log(2 * np.minimum(at, 1 - at))
    return np.asarray(np.sign(0.5 - at) * tail * sd / math.sqrt(2))


def shares(size: int) -> Floats:
    """Return the assumed frequencies of the levels of a column: proportional to 1, 1/2, 1/3 and so on.

    >>> shares(2).round(3).tolist()
    [0.667, 0.333]
    """
    parts = 1.0 / np.arange(1, max(size, 1) + 1)
    return np.asarray(parts / parts.sum())


class Strata(NamedTuple):
    """Shares of strata, largest first; the last stands for ``lumped`` of them."""

    shares: Floats
    lumped: int

    @property
    def each_stands_for(self) -> Floats:
        """The number of real strata that each typical one represents."""
        found = np.ones(len(self.shares))
        found[-1] = self.lumped
        return found


def typical_strata(schema: Schema, names: Sequence[str]) -> Strata:
    """Return typical strata of these columns; beyond ``MOST_STRATA`` small ones are grouped."""
    found, lumped = np.ones(1), 1
    for name in names:
        size = schema[name].size
        lumped *= size if lumped > 1 else 1
        found = np.sort(np.outer(found, shares(size)).ravel())[::-1]
        if len(found) > MOST_STRATA:
            lumped += len(found) - MOST_STRATA
            found = np.append(found[: MOST_STRATA - 1], found[MOST_STRATA - 1 :].sum())
    return Strata(found, lumped)


def arm_shares(asked: AskedEffect) -> Floats:
    """Return the assumed shares of rows in the two arms."""
    if asked.share is not None:
        return np.array([1.0 - asked.share, asked.share])
    return shares(asked.question.treatment_levels)[list(asked.question.arms)]


def table_width(
    asked: AskedEffect, columns: Sequence[str], tables: Sequence[PlannedTable], rows: int
) -> float:
    """Return the expected width, in units of the outcome, of an interval from one table.

    ``tables``: none for the width without noise.
    """
    question, strata = asked.question, typical_strata(asked.schema, columns)
    treated, size = arm_shares(asked), len(strata.shares)
    factor = 1.0 if question.two_levels else TYPICAL_SD**2 / (MEAN * (1 - MEAN))
    as_difference = "mean difference" if question.event is None else "risk difference"
    plain = replace(question, estimand=as_difference)
    exact = rows * strata.shares[:, None, None] * treated[:, None] * np.array([1 - MEAN, MEAN])
    rest = rows * strata.shares * (1.0 - float(treated.sum())) if question.others else None
    many = strata.each_stands_for
    widths = []
    for draw in range(TABLE_DRAWS if tables else 1):
        cells, others, variance, kurtosis = exact, rest, 0.0, 0.0
        for one in tables:
            summed = strata_cells(asked.schema, one.columns) // strata_cells(asked.schema, columns)
            variance, kurtosis = summed * one.variance, one.kurtosis / summed
            noise = math.sqrt(summed) * typical_noise(5 * size, draw, one.mechanism).reshape(size, 5)
            noise *= np.sqrt(many)[:, None]
            cells = exact + noise[:, :4].reshape(exact.shape)
            others = None if rest is None else rest + noise[:, 4]
        arms = arms_of_cells(cells, others, BINARY, variance, rows, kurtosis)
        arms = replace(
            arms,
            count_noise=arms.count_noise * many[:, None],
            sum_noise=arms.sum_noise * many[:, None],
            cross_noise=arms.cross_noise * many[:, None],
            other_noise=arms.other_noise * many,
            factor=np.full(arms.counts.shape, factor),
        )
        low, high = estimate(arms, plain, asked.request.level).interval
        widths.append(high - low)
    return float(np.median(widths))


def typical_cells(asked: AskedEffect) -> Floats:
    """Return the assumed share of every arm and state in a stratum, shape (2, states).

    Of a follow-up a third has the event, a third is censored, and of competing events there are half as many; all are
    spread evenly over the intervals.
    """
    states, follow_up = np.array([1 - MEAN, MEAN]), asked.question.follow_up
    if follow_up is not None:
        steps = len(follow_up.ends)
        ways = np.array([1.0, 0.5, 1.0] if follow_up.competing else [1.0, 1.0]) * MEAN
        states = np.append(np.tile(ways / steps, steps), 1 - ways.sum())
    return np.outer(arm_shares(asked), states)


def population_width(
    asked: AskedEffect,
    columns: Sequence[str],
    tables: Sequence[PlannedTable],
    rows: int,
    population: EffectPopulation,
) -> tuple[float, EffectPopulation]:
    """Return the expected width for a difference of risks in a population, or by a horizon, and whose effect it is.

    ``columns`` are held fixed; beyond ``MOST_CELLS`` strata the last of them are summed over, with their noise.
    ``tables``: none for the width without noise, else perhaps a margin, and a table of these columns. A population
    of "auto" is chosen as the answer chooses it.
    """
    schema, question = asked.schema, asked.question
    level = asked.request.level
    levels: tuple[int, ...] = ()
    for name in columns:
        if math.prod(levels) * schema[name].size <= MOST_CELLS:
            levels += (schema[name].size,)
    exact, rest = float(rows) * typical_cells(asked), np.ones(1)
    for size in reversed(levels):
        exact, rest = np.multiply.outer(shares(size), exact), np.multiply.outer(shares(size), rest)
    exact = exact.reshape(-1, *exact.shape[-2:])
    others = (rows - float(exact.sum())) * rest.ravel() if question.others else None
    public = float(rows) if question.has_populations else None
    table = StrataTable(exact, levels, 0.0, rows=public, others=others)
    widths: list[float] = []
    for draw in range(TABLE_DRAWS if tables and len(exact) <= FEW_STRATA else 1):
        for one in tables:
            noise, margin = one.mechanism, not one.columns and bool(columns)
            if margin:
                cells = exact.sum(axis=0) + typical_noise(4, draw + TABLE_DRAWS, noise).reshape(2, 2)
                table = replace(table, margin=cells, margin_noise=noise_variance(noise))
                continue
            summed = strata_cells(schema, one.columns) / len(exact)
            cells = exact + math.sqrt(summed) * typical_noise(exact.size, draw, noise).reshape(exact.shape)
            table = replace(
                table, cells=cells, noise=summed * noise_variance(noise), kurtosis=one.kurtosis / summed
            )
        with np.errstate(all="ignore"):
            follow_up = question.follow_up
            states = table if follow_up is None else scored(table, follow_up.kinds)
            if population == "auto":
                population = "all" if follow_up else estimable_population(table, level)
            found = population_effect(states, population, level)
        widths.append(2.0 if found is None else found.interval[1] - found.interval[0])
    return float(np.median(widths)), population


def chance_left_out(asked: AskedEffect, columns: Sequence[str], table: PlannedTable, rows: int) -> float:
    """Return the probability that noise hides an arm of some stratum, which is then left out.

    Arms and strata are as common as ``shares`` says; the noise of a count is taken to be normal.
    """
    strata = typical_strata(asked.schema, columns)
    many = strata.each_stands_for
    summed = strata_cells(asked.schema, table.columns) // strata_cells(asked.schema, columns)
    sd = max(math.sqrt(2 * summed * table.variance), TINY)
    counts = rows * np.outer(strata.shares / many, arm_shares(asked))
    hidden = np.minimum(ndtr((max(MIN_ARM * sd, MIN_ROWS) - counts) / sd), 1 - 1e-12)
    return max(float(-np.expm1((many[:, None] * np.log1p(-hidden)).sum())), 0.0)


def regression_width(asked: AskedEffect, planned: PlannedRegression, rows: int, level: float) -> float:
    """Return the expected width, in units of the outcome, of an interval by regression."""
    schema, question = asked.schema, asked.question
    variances = [
        TYPICAL[kind_of(schema, name)] / width(schema, name)
        for name in question.adjust
        for _ in range(width(schema, name))
    ]
    first, second, size = planned.moments, planned.sums, planned.size
    features = len(variances)
    spread = 4 * (MEAN * (1 - MEAN) if question.two_levels else TYPICAL_SD**2)
    treated = float(shares(2)[1]) if asked.share is None else asked.share
    means = np.array([1.0, *[0.0] * features, treated - 0.5, 2 * MEAN - 1])
    expected = rows * (np.outer(means, means) + np.diag([0.0, *variances, treated * (1 - treated), spread]))
    quantile = float(-ndtri((1 - level) / 2))
    whole, unit = question.high - question.low, (question.high - question.low) / 2
    scale = np.ones(size)
    scale[0] = 1.0 / planned.constant
    widths = []
    for draw in range(DRAWS):
        noise = unpacked(typical_noise(first.size, draw, first), size) * np.outer(scale, scale)
        noise[0, 0] = 0.0
        errors = math.sqrt(noise_variance(first) / 2), planned.constant, math.sqrt(noise_variance(second))
        fit = fitted(expected + noise, features, float(rows), *errors, number=question.by_value)
        left = (rows * treated * (1 - treated) + fit.excess) / fit.room**2
        sums = np.array([0.0, KEEP * left, KEEP * left * min(spread / fit.cut**2, 1.0)])
        sums += typical_noise(3, draw + DRAWS, second)
        theta = difference(sums, fit, noise_variance(second), quantile, planned.kurtosis)
        known = math.isfinite(theta.estimate)
        low, high = (theta.low, theta.high) if known else (-math.inf, math.inf)
        widths.append(min(max(unit * high, -whole), whole) - min(max(unit * low, -whole), whole))
    return float(np.median(widths))
