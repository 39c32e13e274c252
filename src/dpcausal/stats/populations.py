"""Effects of an exposure on the risk of an event in one of three populations, from a noisy table of many strata.

**Formula.** With N_1z the exposed rows of a stratum, A_1z their events, r_0z the risk of the unexposed by the model of
``strata.py`` and d_z the effect in the stratum,

    exposed   (sum_z A_1z - sum_z N_1z r_0z) / sum_z N_1z
    overlap   the same with every stratum weighted by the share of its rows that are unexposed
    all       sum_z N_z d_z / sum_z N_z, with d_z by a model of its own

The first two are nearly linear in the noise, and hold however few exposed rows a stratum has; the third asks for the
risk of the exposed in every stratum, so that rare exposures leave it wide.

**Interval.** Every estimate is a smooth function of the cells; its variance adds noise and sampling through the
derivative by each cell, and what the priors leave open. A difference t is in the interval if the estimate differs
from it by no more than the quantile times the standard deviation at t (test inversion; for the risk ratio this is
Fieller's, and an odds ratio t of risks r, s is tested by s (1 - r) - t r (1 - s)). The quantile has a Cornish-Fisher
term for the tails of the noise.

**Guarantee** None of its own: post-processing of a released table, and so is the choice of a population
(``estimable_population``).

**Where it fails.** Nothing is returned where an arm does not stand out of the noise or the interval is as wide as all
differences. Effects that differ much between strata with few exposed rows bias "all" (by up to .3 of the half width
in simulations with 64 and more strata), not the others.

**Cost** That of the models of ``strata.py``: of the share of the exposed, of the risk of the unexposed, and for "all"
of the effect.

References: Fieller 1954; Li, Morgan & Zaslavsky 2018 (overlap weights); Cornish & Fisher 1938.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy.special import ndtri

from dpcausal.stats.strata import (
    FEWEST,
    Floats,
    Noise,
    Risks,
    Sizes,
    StrataTable,
    arm_sizes,
    basis,
    consistent,
    fitted_risks,
    free_column,
    sizes,
    stands_out,
)

Population = Literal["all", "exposed", "overlap"]
POPULATIONS: tuple[str, ...] = get_args(Population)
WIDER = 2.0  # times the narrowest interval: with a wider one a population is not chosen
MIN_SHARE = 0.2  # of the exposed in a stratum over that among all rows; less is not told from this
WIDEST = 1.0  # a difference of risks with a wider interval says nothing
APART = 0.1  # differences at which the variance is taken, to find the quadratic that it is


class StrataEffect(NamedTuple):
    """A standardised effect; a ratio has no upper end where the risk below it may be 0, and is None where one is not
    estimated to be within (0, 1).
    """

    difference: float
    interval: tuple[float, float]
    risks: tuple[float, float]  # of the unexposed and the exposed
    ends: tuple[tuple[float, float], tuple[float, float]]  # of the interval of either
    ratio: tuple[float, float] | None
    odds: tuple[float, float] | None


def estimable_population(table: StrataTable, level: float) -> Population:
    """Return the population whose effect the table can estimate: all, else the exposed, else the overlap.

    All, or the exposed, are chosen if their interval is expected to be at most ``WIDER`` times as wide as the narrowest
    of the three, with one-way margins as released (``smoothed``): the noise of strata, which makes intervals narrow or
    wide, decides only where it leaves no answer. With one stratum the three populations are the same: all.

    >>> filled = np.tile([[60.0, 40.0], [30.0, 20.0]], (8, 1, 1))
    >>> few = np.tile([[900.0, 100.0], [9.0, 1.0]], (8, 1, 1))
    >>> few[:, 1] *= 4.0 ** np.indices((2, 2, 2)).sum(axis=0).reshape(8, 1)  # exposed where all columns are high
    >>> [estimable_population(StrataTable(cells, (2, 2, 2), 32.0), 0.95) for cells in (filled, few)]
    ['all', 'exposed']
    """
    if len(table.cells) == 1:
        return "all"
    found = population_effects(smoothed(table), level)
    widths = {
        one: effect.interval[1] - effect.interval[0] for one, effect in found.items() if effect is not None
    }
    estimable = [
        one for one in get_args(Population) if one in widths and widths[one] <= WIDER * min(widths.values())
    ]
    return next((one for one in estimable if population_effect(table, one, level) is not None), "all")


def smoothed(table: StrataTable) -> StrataTable:
    """Return the table expected from its one-way margins alone.

    Rows of an arm are the product of its one-way margins, and its risk is the same in all strata.
    """
    cells, _ = consistent(table)
    totals, counts = cells.sum(axis=0), cells.sum(axis=2)
    rows = np.stack([sizes(counts[:, arm], table.levels, 2 * table.noise).product for arm in (0, 1)], axis=1)
    arms = np.maximum(totals.sum(axis=1), 1.0)
    risks = np.clip(totals[:, 1] / arms, 1 / arms, 1 - 1 / arms)
    expected = rows[:, :, None] * np.stack([1 - risks, risks], axis=1)
    margin = None if table.margin is None else expected.sum(axis=0)
    return replace(table, cells=expected, margin=margin)


@dataclass(frozen=True)
class _Standardised:
    """A standardised effect as a function of the cells: what its variance needs."""

    cells: Floats  # (strata, 2, states)
    total_noise: float
    table: StrataTable
    arms: tuple[Sizes, Sizes]
    unexposed: Risks
    effects: Floats  # d_z, or the one effect
    goal: Floats  # shares of strata in the population
    rates: Floats  # derivative of the goal by a row of either arm (strata, 2)
    loadings: Floats  # of the exposed's events
    prior: float  # variance that the model of the exposed leaves open

    def spread(self, factor: float, shift: float, centre: float) -> tuple[float, float]:
        """Return variance and fourth cumulant of (risk of the exposed - ``factor`` risk of the unexposed).

        Each stratum's risk of the exposed is moved by ``shift``; ``centre`` is the estimate of the same.
        """
        base0, base1 = self.unexposed.risk, self.unexposed.risk + self.effects
        onto = (1 - factor) * self.goal - self.loadings * self.cells[:, 1].sum(
            axis=1
        )  # of the unexposed's risks
        loads = np.stack([self.unexposed.loadings(onto), self.loadings], axis=1)
        moved = (base1 - factor * base0 - centre)[:, None] * self.rates
        risks = np.stack([base0, base1 + shift], axis=1)
        derivative = moved[:, :, None] + loads[:, :, None] * (self.table.scores - risks[:, :, None])
        middle = derivative.mean(axis=0)
        agreed = 0.0 if self.table.rows is None else 4 * float(middle.mean()) ** 2
        noise = self.table.noise * float(np.sum((derivative - middle) ** 2))
        noise += self.total_noise * (float(np.sum(middle**2)) - agreed)
        inside = np.clip(np.stack([base0, base1], axis=1), 0.0, 1.0)
        own = inside * (1 - inside)
        own[:, 1] += shift * (1 - 2 * inside[:, 1]) - shift**2  # that of the moved risk
        rows = np.stack([arm.drawn for arm in self.arms], axis=1)
        drawn = float(np.sum(rows * (loads**2 * own * np.array(self.table.factor) + moved**2)))
        if self.table.others is not None:
            noise += self.table.noise * float(np.sum(moved[:, 0] ** 2))
            drawn += float(np.maximum(self.table.others, 0.0) @ moved[:, 0] ** 2)
        fourth = self.table.kurtosis * self.table.noise**2 * float(np.sum(derivative**4))
        return noise + drawn + self.prior + self.unexposed.prior_variance(onto), fourth


def population_effects(
    table: StrataTable, level: float, populations: Sequence[str] = POPULATIONS
) -> dict[str, StrataEffect | None]:
    """Return the effect in each population with intervals of confidence ``level``; None where nothing can be said.

    Examples
    --------
    >>> cells = np.array([[[900.0, 100.0], [80.0, 20.0]], [[700.0, 300.0], [120.0, 80.0]]])
    >>> found = population_effects(StrataTable(cells, (2,), 0.0, rows=2300.0), 0.95)["exposed"]
    >>> round(found.difference, 3), found.interval[0] < 0.1 < found.interval[1]
    (0.1, True)
    """
    models = _Models(table)
    return {one: _standardised_effect(models, one, level) for one in populations}


def population_effect(table: StrataTable, population: str, level: float) -> StrataEffect | None:
    """Return the effect in one population, as ``population_effects`` does."""
    return population_effects(table, level, (population,))[population]


class _Models:
    """What the effects in all populations share: consistent cells, sizes of the arms, and models of risks."""

    def __init__(self, table: StrataTable) -> None:
        self.table = table
        self.cells, self.total_noise = consistent(table)
        self.counts = self.cells.sum(axis=2)
        self.events = np.sum(self.cells * table.arm_scores, axis=2)
        self.arm, events = self.counts.sum(axis=0), self.events.sum(axis=0)
        self.noise = [table.arm_noise(arm) for arm in (0, 1)]
        held, strata = arm_sizes(table, self.arm, events), len(self.cells)
        self.stratified = [stands_out(float(one), strata * self.noise[0].of_rows) for one in held]
        of_arm = self.total_noise * (1 if table.rows is not None else self.cells.shape[-1])
        self.clear = self.stratified[0] and stands_out(float(held[1]), of_arm)
        self.rows = float(self.arm.sum())
        self.risk = np.clip(events / self.arm, 1 / self.arm, 1 - 1 / self.arm)
        self.people = self.counts.sum(axis=1) + (0.0 if table.others is None else table.others)

    @cached_property
    def arms(self) -> tuple[Sizes, Sizes]:
        """The sizes of both arms by stratum, from released counts."""
        levels, noise = self.table.levels, self.noise[0].of_rows
        return sizes(self.counts[:, 0], levels, noise), sizes(self.counts[:, 1], levels, noise)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest share of a stratum that may be exposed, where it is fitted."""
        return MIN_SHARE * self.arm[1] / self.rows, 1 - MIN_SHARE * self.arm[0] / self.rows

    @cached_property
    def rough(self) -> Floats:
        """The share of the exposed in each stratum, estimated from products of margins."""
        return np.clip(self.arms[1].product / (self.arms[0].product + self.arms[1].product), *self.ends)

    @cached_property
    def share(self) -> Risks:
        """The fitted share of the exposed in each stratum."""
        levels, noise = self.table.levels, Noise(self.noise[0].of_rows, np.array([[0.0, 1.0]]))
        both = sizes(self.counts.sum(axis=1), levels, noise.of_rows)
        return fitted_risks(self.counts[:, 1], both, levels, float(self.arm[1] / self.rows), noise)

    @cached_property
    def unexposed(self) -> Risks:
        """The fitted risks of the unexposed, by stratum."""
        levels, free = self.table.levels, None
        if self.stratified[1] and basis(levels)[0].shape[1] < len(self.cells):
            # risks must be free to follow the odds of exposure, for these weigh them in the end
            fine = np.clip(self.share.risk, *self.ends)
            free = np.column_stack(
                [free_column(one / (1 - one), self.arms[0].product) for one in (self.rough, fine)]
            )
        return fitted_risks(
            self.events[:, 0], self.arms[0], levels, float(self.risk[0]), self.noise[0], free=free
        )


def _standardised_effect(models: _Models, population: str, level: float) -> StrataEffect | None:
    """Return the effect standardised to a population; None if the counts do not determine it."""
    if not models.clear or (population == "all" and not models.stratified[1]):
        return None
    table, events, counts, arms = models.table, models.events, models.counts, models.arms
    risk, unexposed, strata, prior = models.risk, models.unexposed, len(counts), 0.0
    shared = [noise.shared(float(one)) for noise, one in zip(models.noise, risk, strict=True)]
    if population == "all":
        free = None if strata <= 2 else free_column(1 / models.rough, arms[1].product)
        treated = fitted_risks(
            events[:, 1],
            arms[1],
            table.levels,
            float(risk[1]),
            models.noise[1],
            offset=unexposed.risk,
            free=free,
        )
        rows = float(models.people.sum())
        effects, goal = treated.risk - unexposed.risk, models.people / rows
        loadings, prior = treated.loadings(goal), treated.prior_variance(goal)
        rates = np.full((strata, 2), 1 / rows)
        # what the noise of the weights has in common with that of the effects
        both = shared[1] * treated.leverage() - shared[0] * unexposed.leverage()
        value = float(goal @ effects - both.sum() / rows)
    else:
        tilt, bias = np.ones(strata), 0.0
        if population == "overlap":
            tilt = 1 - np.clip(models.share.risk, 0.0, 1.0)
            bias = -float(shared[1] @ (models.share.leverage() * tilt))
        weights = tilt * counts[:, 1]
        if weights.sum() < FEWEST:
            return None
        loadings, goal = tilt / weights.sum(), weights / weights.sum()
        top = float(tilt @ (events[:, 1] - counts[:, 1] * unexposed.risk)) - bias
        value = top / float(weights.sum())
        effects = np.full(strata, value)
        rates = np.stack([np.zeros(strata), loadings], axis=1)
    found = _Standardised(
        models.cells, models.total_noise, table, arms, unexposed, effects, goal, rates, loadings, prior
    )
    return _with_intervals(found, value, level)


def _with_intervals(found: _Standardised, value: float, level: float) -> StrataEffect | None:
    """Return the standardised effect with an interval that inverts the test of it; None if too wide."""
    centre = float(found.goal @ found.effects)
    variance, fourth = found.spread(1.0, 0.0, centre)
    z = float(-ndtri((1 - level) / 2))
    z += max((z**3 - 3 * z) / 24 * fourth / variance**2, 0.0) if variance > 0 else 0.0
    ends = _inverted(value, lambda t: found.spread(1.0, t - value, centre)[0], z)
    low, high = (-1.0, 1.0) if ends is None else (max(ends[0], -1.0), min(ends[1], 1.0))
    if high - low >= WIDEST:
        return None
    first = float(found.goal @ found.unexposed.risk)
    second = first + value
    ratio = odds = None
    if 0 < first < 1 and 0 < second < 1:
        none, one, two = (found.spread(factor, 0.0, 0.0)[0] for factor in (0.0, 1.0, 2.0))
        of_first = max((none - 2 * one + two) / 2, 0.0)  # V(t) = none - 2 both t + of_first t^2
        both = (none + of_first - one) / 2

        def of_odds(t: float) -> float:
            up, down = 1 - first + t * first, second + t * (1 - second)
            return none * up**2 - 2 * both * up * down + of_first * down**2

        ratio = _ratio(second, first, lambda t: none - 2 * both * t + of_first * t**2, z)
        odds = _ratio(second * (1 - first), first * (1 - second), of_odds, z)
    own = []
    for risk, of_risk in ((first, (0.0, 1.0, 2.0)), (second, (0.0,))):
        # V(second - t first) = V(second) - 2 t C + t^2 V(first)
        parts = [found.spread(t, 0.0, second - t * first)[0] for t in of_risk]
        reach = z * math.sqrt(
            max(parts[0] if len(parts) == 1 else (parts[0] - 2 * parts[1] + parts[2]) / 2, 0.0)
        )
        own.append((min(max(risk - reach, 0.0), 1.0), max(min(risk + reach, 1.0), 0.0)))
    return StrataEffect(value, (low, high), (first, second), (own[0], own[1]), ratio, odds)


def _quadratic(
    top: float, bottom: float, at: Sequence[float], variance: Callable[[float], float], z: float
) -> tuple[float, float, float]:
    """Return the coefficients of (top - t bottom)^2 - z^2 V(t) as a quadratic in t - at[1]."""
    middle = at[1]
    lead, slope, const = -(z**2) * np.polyfit(np.array(at) - middle, [variance(t) for t in at], 2)
    top -= middle * bottom
    return float(lead + bottom**2), float(slope - 2 * top * bottom), float(const + top**2)


def _inverted(value: float, variance: Callable[[float], float], z: float) -> tuple[float, float] | None:
    """Return both solutions t of (value - t)^2 = z^2 V(t); None where they bound no interval."""
    lead, slope, const = _quadratic(value, 1.0, (value - APART, value, value + APART), variance, z)
    inside = slope**2 - 4 * lead * const
    if lead <= 0 or inside < 0:
        return None
    root = math.sqrt(inside)
    return value + (-slope - root) / (2 * lead), value + (-slope + root) / (2 * lead)


def _ratio(top: float, bottom: float, variance: Callable[[float], float], z: float) -> tuple[float, float]:
    """Return the Fieller interval of the ratio top/bottom; without an upper end where ``bottom`` may be 0."""
    at = top / bottom
    lead, slope, const = _quadratic(top, bottom, (0.5 * at, at, 1.5 * at), variance, z)
    inside = slope**2 - 4 * lead * const
    if inside <= 0 or lead == 0:
        return 0.0, math.inf
    low, high = sorted(at + (-slope + sign * math.sqrt(inside)) / (2 * lead) for sign in (-1, 1))
    if lead > 0:
        return max(low, 0.0), high
    return (high, math.inf) if low <= 0 < high <= at else (0.0, math.inf)
