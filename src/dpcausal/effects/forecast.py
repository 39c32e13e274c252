"""How wide the interval of an effect will be, from public numbers, before anything is charged.

**What is assumed.** Levels are as common as 1, 1/2, 1/3 and so on, columns do not depend on each other, and there is no
effect. A third of the rows has the event; a number has its mean at a third of its range and a standard deviation of a
sixth of it. Rows differ: in 8 of 10 cases the forecast is good to a factor of three, by
``benchmarks/effects_forecast.py``.

**How.** The table of these expected counts gets typical noise: quantiles of the law of the noise, spread over the cells
by a fixed sequence, so that no bytes are drawn. Then the steps of an answer follow: ``stats/populations.py`` for a risk
in two arms, ``estimate.py`` for other tables, ``double_residual.py`` for a regression. Of a few such widths the median
is taken. Where rows are as assumed, widths come out within a quarter of it.

An interval that is as wide as the range of an outcome with two levels (half the range of a number) says nothing: it is
hopeless, and refused.

**Whether there is an effect at all** is often a smaller question than how large it is (``smaller_question``). An
interval of width W tells an effect of (1 + z_80/z) W/2 from none in 80% of runs, z being its quantile. As Cohen's w
that is the difference in standard deviations times sqrt(p (1 - p)), p being the share of the treated. The chance of a
test to find it is that of its own forecast, at best (``citests/power.py``).

**Guarantee.** The schema, the question, the budget and the public number of rows alone go in. Where the number of rows
is protected there is no forecast, and no refusal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpcausal.citests.base import Question
from dpcausal.citests.choice import choose
from dpcausal.citests.power import power_curve
from dpcausal.citests.registry import make_test
from dpcausal.core.forecast import SMALL_DELTA, WANTED, PowerForecast, Remedy, enough_epsilon
from dpcausal.core.neighbours import Neighbours
from dpcausal.data.columns import Numeric
from dpcausal.data.schema import Schema
from dpcausal.effects.estimate import estimate
from dpcausal.effects.question import EffectQuestion, strata_cells
from dpcausal.effects.regression import TYPICAL, kind_of, planned_regression, width
from dpcausal.effects.result import EffectNote
from dpcausal.effects.table import PlannedTable, planned_tables
from dpcausal.planning.measurement_plan import noise_variance
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.privacy.budget import Allowance
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.stats.double_residual import KEEP, difference, fitted
from dpcausal.stats.life_table import scored
from dpcausal.stats.moments import unpacked
from dpcausal.stats.populations import estimable_population, population_effect
from dpcausal.stats.standardise import MIN_ARM, MIN_ROWS, Arms, arms_of_cells
from dpcausal.stats.strata import StrataTable

Floats = NDArray[np.float64]
DRAWS, TABLE_DRAWS = 5, 3  # with typical noise: of a regression, and of a table, which varies less
USUAL_ROWS, USUAL_LEVEL = 10_000, 0.95  # by which the noise of a regression is chosen
MOST_STRATA, MOST_CELLS = 1024, 256  # of such a table, and of one with populations; others are taken together
FEW_STRATA = 64  # of a table that gets noise more than once
MOST_WIDTH_OF_TWO, MOST_WIDTH = 1.0, 0.5  # of the range of the outcome: from here on an interval says nothing
NOISE_RULES = 2.0  # times the width without noise: most of the width is noise
GOLDEN = (math.sqrt(5.0) - 1) / 2
BINARY = np.array([0.0, 1.0])
TINY = 1e-12
TYPICAL_SD = 1 / 6  # of a number, in units of its range
MEAN = 1 / 3  # of the outcome, in units of its range: the risk, where it has two levels
ANY_CUT = ">= NUMBER"  # the event that is proposed: of what number is for the reader to say
TEST_LEVEL = 0.05  # of the test that is the smaller question
NOTABLE = 0.9  # chance of that test from which on it is


@dataclass(frozen=True, kw_only=True)
class EffectForecast(PowerForecast):
    """What the interval of an effect is expected to be, from public numbers.

    Attributes
    ----------
    about, method, rows, epsilon, delta, level, power, without_noise, columns, cells, remedies, left
        As in ``PowerForecast``, which has ``enough``, an epsilon that would do, too.
    question : EffectQuestion
        What is asked; ``method`` is "table" or "regression", and ``level`` the confidence of the interval.
    strata : int
        Of the columns that are held fixed.
    width : float
        Of the interval, in units of the outcome: the median. For a ratio, that of the difference of risks.
    width_without_noise : float
        The same from sampling alone.
    number : bool
        Whether the outcome is a number, whose declared bounds scale the noise.
    event : str or None
        How an event of a number is written, where this says nothing or most of its width is noise, and a difference
        of risks is expected to say more.
    left_out : float
        The chance that noise hides a group in some combination of levels held fixed, which is then left out; 0.0 of a
        regression, and where nothing is held fixed.
    test : tuple of str and float, or None
        Where a test finds an effect in 90% of cases or more that the interval tells from none in 80%: that test, and
        its chance (at best). Whether there is an effect is then the smaller question.
    notes : tuple of EffectNote
        What becomes of missing values, by the schema.

    Examples
    --------
    >>> import dpcausal as dc
    >>> schema = dc.Schema(dose=dc.Categorical(["no", "yes"]), pain=dc.Numeric(0, 10))
    >>> ahead = dc.forecast_effect(schema, "dose", "pain", rows=2_000, epsilon=1.0)
    >>> ahead.method, ahead.says_nothing, ahead.width_without_noise < ahead.width < 1.0
    ('table', False, True)
    """

    about: Literal["graph", "target", "test", "effect"] = "effect"
    question: EffectQuestion
    strata: int
    width: float
    width_without_noise: float
    number: bool = False
    event: str | None = None
    left_out: float = 0.0
    test: tuple[str, float] | None = None
    notes: tuple[EffectNote, ...] = ()

    @property
    def most(self) -> float:
        """The width from which on an interval says nothing."""
        return most_width(self.question)

    @property
    def hopeless(self) -> bool:
        """Whether the interval is expected to say nothing."""
        return self.width >= self.most

    @property
    def says_nothing(self) -> bool:
        """Whether the interval is expected to say nothing."""
        return self.hopeless

    @property
    def noise_rules(self) -> bool:
        """Whether most of the width is noise, not sampling."""
        return self.width >= NOISE_RULES * self.width_without_noise

    @property
    def fewer(self) -> tuple[str, ...] | None:
        """Where it says nothing: those of the columns held fixed with which it would say something."""
        found = self.remedy("adjust")
        return None if found is None else tuple(found.to)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "treatment": self.question.treatment,
            "outcome": self.question.outcome,
            "adjust": list(self.question.adjust),
            "estimand": self.question.estimand,
            "method": self.method,
            "rows": self.rows,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "strata": self.strata,
            "width": self.width,
            "width_without_noise": self.width_without_noise,
            "level": self.level,
            "says_nothing": self.says_nothing,
            "enough": self.enough,
            "with_delta": self.remedy("delta") is not None,
            "fewer": None if self.fewer is None else list(self.fewer),
            "left": self.left,
            "event": self.event,
            "left_out": self.left_out,
            "test": None if self.test is None else list(self.test),
            "facts": {"notes": [note.to_dict() for note in self.notes]},
        }


def most_width(question: EffectQuestion) -> float:
    """Return the width of a difference from which on an interval says nothing, in units of the outcome."""
    return (MOST_WIDTH_OF_TWO if question.is_risk else MOST_WIDTH) * (question.high - question.low)


def typical_noise(size: int, draw: int, mechanism: Laplace | Gaussian) -> Floats:
    """Return ``size`` quantiles of the noise in an order that is the same every time: public."""
    at = np.modf((np.arange(1, size + 1) + draw * (size + 0.5)) * GOLDEN)[0]
    sd = math.sqrt(noise_variance(mechanism))
    at = np.clip(at, 1e-9, 1 - 1e-9)
    if isinstance(mechanism, Gaussian):
        return np.asarray(sd * ndtri(at))
    tail = np.log(2 * np.minimum(at, 1 - at))
    return np.asarray(np.sign(0.5 - at) * tail * sd / math.sqrt(2))


def shares(size: int) -> Floats:
    """Return how common the levels of a column are taken to be: as 1, 1/2, 1/3 and so on.

    >>> shares(2).round(3).tolist()
    [0.667, 0.333]
    """
    parts = 1.0 / np.arange(1, max(size, 1) + 1)
    return np.asarray(parts / parts.sum())


class Strata(NamedTuple):
    """Shares of strata, largest first; the last stands for ``lumped`` of them."""

    shares: Floats
    lumped: int


def typical_strata(schema: Schema, names: Sequence[str]) -> Strata:
    """Return the strata of these columns; beyond ``MOST_STRATA`` the small ones are taken as one."""
    found, lumped = np.ones(1), 1
    for name in names:
        size = schema[name].size
        lumped *= size if lumped > 1 else 1
        found = np.sort(np.outer(found, shares(size)).ravel())[::-1]
        if len(found) > MOST_STRATA:
            lumped += len(found) - MOST_STRATA
            found = np.append(found[: MOST_STRATA - 1], found[MOST_STRATA - 1 :].sum())
    return Strata(found, lumped)


def table_width(
    question: EffectQuestion,
    strata: Strata,
    summed: int,
    rows: int,
    mechanism: Laplace | Gaussian | None,
    kurtosis: float,
    level: float,
) -> float:
    """Return the expected width, in units of the outcome; ``mechanism`` None: without noise.

    ``summed`` cells of the table that is measured make up one of these strata.
    """
    treated = shares(question.treatment_levels)[list(question.arms)]
    mean = MEAN
    factor = 1.0 if question.two_levels else TYPICAL_SD**2 / (mean * (1 - mean))
    as_difference = "mean difference" if question.event is None else "risk difference"
    plain = replace(question, estimand=as_difference)
    size = len(strata.shares)
    exact = rows * strata.shares[:, None, None] * treated[:, None] * np.array([1 - mean, mean])
    rest = rows * strata.shares * (1.0 - float(treated.sum())) if question.others else None
    many = np.ones(size)
    many[-1] = strata.lumped
    widths = []
    for draw in range(1 if mechanism is None else TABLE_DRAWS):
        cells, others, variance = exact, rest, 0.0
        if mechanism is not None:
            variance = summed * noise_variance(mechanism)
            noise = math.sqrt(summed) * typical_noise(5 * size, draw, mechanism).reshape(size, 5)
            noise *= np.sqrt(many)[:, None]
            cells = exact + noise[:, :4].reshape(exact.shape)
            others = None if rest is None else rest + noise[:, 4]
        arms = arms_of_cells(cells, others, BINARY, variance, rows, kurtosis / max(summed, 1))
        of_noise = ("count_noise", "sum_noise", "cross_noise")
        more = {name: getattr(arms, name) * many[:, None] for name in of_noise}
        more |= {"other_noise": arms.other_noise * many, "factor": np.full(arms.counts.shape, factor)}
        low, high = estimate(Arms(**{**arms.__dict__, **more}), plain, level).interval
        widths.append(high - low)
    return float(np.median(widths))


def typical_cells(question: EffectQuestion) -> Floats:
    """Return how common every arm and state of a stratum is taken to be, shape (2, states); rows in neither arm lack.

    Of a follow-up a third has the event, a third is censored, and of competing events there are half as many; all are
    spread evenly over the intervals.
    """
    states, follow_up = np.array([1 - MEAN, MEAN]), question.follow_up
    if follow_up is not None:
        steps = len(follow_up.ends)
        ways = np.array([1.0, 0.5, 1.0] if follow_up.competing else [1.0, 1.0]) * MEAN
        states = np.append(np.tile(ways / steps, steps), 1 - ways.sum())
    return np.outer(shares(question.treatment_levels)[list(question.arms)], states)


def population_width(
    schema: Schema,
    question: EffectQuestion,
    columns: Sequence[str],
    population: str,
    tables: Sequence[PlannedTable],
    rows: int,
    level: float,
) -> float:
    """Return the expected width of a difference of risks in a population (``stats/populations.py``), or by a horizon.

    Parameters
    ----------
    schema, question
        What is asked.
    columns
        That are held fixed; beyond ``MOST_CELLS`` strata the last of them are summed over, with their noise.
    population
        As in ``effect``.
    tables
        What is measured: none for the width without noise, else perhaps a margin, and a table of these columns.
    rows, level
        Their number, and the confidence of the interval.
    """
    levels: tuple[int, ...] = ()
    for name in columns:
        if math.prod(levels) * schema[name].size <= MOST_CELLS:
            levels += (schema[name].size,)
    exact, rest = float(rows) * typical_cells(question), np.ones(1)
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
            asked = table if follow_up is None else scored(table, follow_up.kinds)
            if population == "auto":
                population = "all" if follow_up else estimable_population(table, level)
            found = population_effect(asked, population, level)
        widths.append(2.0 if found is None else found.interval[1] - found.interval[0])
    return float(np.median(widths))


def chance_left_out(
    question: EffectQuestion, strata: Strata, summed: int, rows: int, mechanism: Laplace | Gaussian
) -> float:
    """Return how likely noise hides an arm of some stratum, which is then left out (``standardise.supported``).

    Arms and strata are as common as ``shares`` says; the noise of a count is taken to be normal.
    """
    treated = shares(question.treatment_levels)[list(question.arms)]
    many = np.ones(len(strata.shares))
    many[-1] = strata.lumped
    sd = max(math.sqrt(2 * summed * noise_variance(mechanism)), TINY)
    counts = rows * np.outer(strata.shares / many, treated)
    hidden = np.minimum(ndtr((max(MIN_ARM * sd, MIN_ROWS) - counts) / sd), 1 - 1e-12)
    return max(float(-np.expm1((many[:, None] * np.log1p(-hidden)).sum())), 0.0)


def regression_allowance(
    schema: Schema,
    question: EffectQuestion,
    allowed: Allowance,
    neighbours: Neighbours,
    rows: int | None,
) -> Allowance:
    """Return what a regression takes of an allowance: without the delta where pure noise is expected to be narrower.

    Moments of many columns have less Gaussian noise, the three sums less Laplace noise. Public numbers decide; where
    the number of rows is protected, ``USUAL_ROWS`` stands for it.
    """
    if allowed.rho == 0:
        return allowed
    pure = Allowance(allowed.epsilon, 0.0)
    narrow, wide = (
        regression_width(schema, question, one, neighbours, rows or USUAL_ROWS, USUAL_LEVEL)
        for one in (pure, allowed)
    )
    return pure if narrow < wide else allowed


def regression_width(
    schema: Schema,
    question: EffectQuestion,
    allowed: Allowance,
    neighbours: Neighbours,
    rows: int,
    level: float,
) -> float:
    """Return the expected width, in units of the outcome, of a regression."""
    variances = [
        TYPICAL[kind_of(schema, name)] / width(schema, name)
        for name in question.adjust
        for _ in range(width(schema, name))
    ]
    planned = planned_regression(schema, question, allowed, neighbours)
    first, second, size = planned.moments, planned.sums, planned.size
    features = len(variances)
    of_outcome = MEAN
    spread = 4 * (of_outcome * (1 - of_outcome) if question.two_levels else TYPICAL_SD**2)
    treated = float(shares(2)[1])
    means = np.array([1.0, *[0.0] * features, treated - 0.5, 2 * of_outcome - 1])
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


def expected_widths(
    schema: Schema,
    question: EffectQuestion,
    sets: Sequence[tuple[str, ...]],
    method: str,
    allowed: Allowance,
    neighbours: Neighbours,
    rows: int,
    level: float,
    population: str = "auto",
) -> tuple[float, float, float]:
    """Return the expected width with and without noise, and the chance that strata are left out.

    Of several sets, the largest of each.
    """

    def alone(one: Sequence[str]) -> float:
        """The width without noise."""
        if question.has_strata:
            return population_width(schema, question, one, population, (), rows, level)
        return table_width(question, typical_strata(schema, one), 1, rows, None, 0.0, level)

    if method == "regression":  # columns that are taken out by regression leave no strata
        plain = alone(())
        taken = regression_allowance(schema, question, allowed, neighbours, rows)
        return max(regression_width(schema, question, taken, neighbours, rows, level), plain), plain, 0.0
    plain = max(map(alone, sets), default=0.0)
    tables = planned_tables(schema, question, sets, allowed, neighbours) if sets else []
    widths, chances = [], []
    for one in sets:
        table = next(table for table in tables if set(one) <= set(table.columns))
        if question.has_strata:  # which are never left out
            used = [other for other in tables if other is table or not other.columns]
            widths.append(population_width(schema, question, one, population, used, rows, level))
            continue
        strata, noise = typical_strata(schema, one), table.mechanism
        summed = strata_cells(schema, table.columns) // strata_cells(schema, one)
        widths.append(table_width(question, strata, summed, rows, noise, table.kurtosis, level))
        if one:
            chances.append(chance_left_out(question, strata, summed, rows, noise))
    return max(widths, default=0.0), plain, max(chances, default=0.0)


def forecast(
    schema: Schema,
    question: EffectQuestion,
    sets: Sequence[tuple[str, ...]],
    method: Callable[[Allowance, EffectQuestion, Sequence[tuple[str, ...]]], str],
    epsilon: float,
    delta: float,
    neighbours: Neighbours,
    rows: int,
    level: float,
    *,
    population: str = "auto",
    help_wanted: bool = True,
    part: Allowance | None = None,
) -> EffectForecast:
    """Return the forecast; where the interval would say nothing, with what would help.

    Parameters
    ----------
    schema, question, sets
        What is asked, and the sets of columns to hold fixed.
    method
        Which of "table" and "regression" answers for a budget, a question and these sets.
    epsilon, delta, neighbours
        The budget, and what it protects.
    rows
        Their public number.
    level
        The confidence of the interval.
    population
        Whose effect is asked for, as in ``effect``.
    help_wanted
        Whether anybody reads what would help: looking for it takes dozens of forecasts.
    part
        What the answer may take, where that is a part of the budget: nothing else would help then.
    """

    def ahead(
        with_epsilon: float, with_delta: float, asked: EffectQuestion, of: Sequence[tuple[str, ...]]
    ) -> EffectForecast:
        total = Filter(with_epsilon, with_delta)
        allowed = Allowance(total.epsilon, total.rho) if part is None else part
        chosen = method(allowed, asked, of)
        terms = (chosen, allowed, neighbours, rows, level, population)
        wide, plain, left = expected_widths(schema, asked, of, *terms)
        strata = max((strata_cells(schema, one) for one in of), default=1)
        return EffectForecast(
            question=asked,
            method=chosen,
            rows=rows,
            epsilon=with_epsilon,
            delta=with_delta,
            strata=strata,
            width=wide,
            width_without_noise=plain,
            level=level,
            number=number,
            left_out=left,
        )

    number = isinstance(schema[question.outcome], Numeric) and not question.two_levels
    found = ahead(epsilon, delta, question, sets)
    noisy = found.hopeless or found.noise_rules
    if number and noisy and says_more(ahead(epsilon, delta, risk_of(question), sets), found):
        found = replace(found, event=ANY_CUT)
    if not found.hopeless or not help_wanted:
        return found

    def answers(held: tuple[str, ...]) -> bool:
        return not ahead(epsilon, delta, replace(question, adjust=held), [held]).hopeless

    remedies = []
    enough = enough_epsilon(lambda more: not ahead(more, delta, question, sets).hopeless, epsilon)
    if enough is not None:
        remedies.append(Remedy("epsilon", enough))
    if not delta and not ahead(epsilon, SMALL_DELTA, question, sets).hopeless:
        remedies.append(Remedy("delta", SMALL_DELTA))
    parts = smaller(schema, question.adjust) if len(sets) == 1 else []
    held = next(filter(answers, parts), None)
    if held is not None:
        remedies.append(Remedy("adjust", held))
    return replace(found, remedies=tuple(remedies))


def risk_of(question: EffectQuestion) -> EffectQuestion:
    """Return the question whether the same outcome, a number, reaches a number that the reader chooses."""
    of_two: dict[str, Any] = {"scores": (0.0, 1.0), "by_value": False, "low": 0.0, "high": 1.0}
    return replace(question, **of_two, event=ANY_CUT, estimand="risk difference")


def says_more(risk: EffectForecast, found: EffectForecast) -> bool:
    """Return whether the difference of risks is expected to say more than that of means, found.

    It must say something, and its interval must be shorter in standard deviations, by what is assumed of both.
    """
    if risk.hopeless:
        return False
    whole = found.question.high - found.question.low
    return risk.width / math.sqrt(MEAN * (1 - MEAN)) < found.width / (TYPICAL_SD * whole)


def smaller(schema: Schema, adjust: Sequence[str]) -> list[tuple[str, ...]]:
    """Return parts of these columns, each without the one of most levels that is left; none of them is empty.

    >>> from dpcausal.data.columns import Categorical
    >>> smaller(Schema(a=Categorical([0, 1]), b=Categorical([0, 1, 2]), c=Categorical([0, 1])), ["a", "b", "c"])
    [('a', 'c'), ('a',)]
    """
    found, left = [], list(adjust)
    while len(left) > 1:
        left.remove(max(reversed(left), key=lambda name: schema[name].size))
        found.append(tuple(left))
    return found


def shown_effect(found: EffectForecast) -> float:
    """Return the effect that the interval tells from none in 80% of runs, as Cohen's w."""
    one, z = found.question, float(-ndtri((1 - found.level) / 2))
    reach = found.width / 2 * (1 + float(ndtri(WANTED)) / z)
    sd = math.sqrt(MEAN * (1 - MEAN)) if one.is_risk else TYPICAL_SD * (one.high - one.low)
    treated = float(shares(2)[1])
    return reach / sd * math.sqrt(treated * (1 - treated))


def smaller_question(
    schema: Schema, found: EffectForecast, neighbours: Neighbours, *, rows: bool
) -> tuple[str, float] | None:
    """Return the test that finds such an effect more often with the same budget, and its chance; None where none does.

    A cut of a number, one level of several and a treatment with more levels are other questions than those that a test
    asks. ``rows``: whether there are rows, and not only counts.
    """
    one = found.question
    if one.others or not one.estimand.endswith("difference") or neighbours is Neighbours.ADD_REMOVE:
        return None
    column = schema[one.outcome]
    if one.event is not None and (isinstance(column, Numeric) or column.size > 2):
        return None
    assert found.epsilon is not None
    question = Question.of(schema, one.treatment, one.outcome, one.adjust)
    name, _ = choose(question, found.epsilon, rows=rows, n=found.rows)
    budget = (found.rows, found.epsilon, found.delta, TEST_LEVEL, neighbours)
    curve = power_curve(make_test(name, {}, ()), question, *budget)
    chance = 0.0 if curve is None else curve(min(shown_effect(found), 1.0))
    return (name, chance) if chance >= NOTABLE else None
