"""What a budget is expected to show of an effect, before anything is charged, and what would help.

The width of the interval is that of the plan (``widths.py``). One that is as wide as the range of an outcome with two
levels (half the range of a number) says nothing: it is hopeless, and refused.

**Whether there is an effect at all** is often a smaller question than how large it is (``smaller_question``). An
interval of width W tells an effect of (1 + z_80/z) W/2 from none in 80% of runs, z being its quantile. As Cohen's w
that is the difference in standard deviations times sqrt(p (1 - p)), p being the share of the treated. The chance of a
test to find it is that of its own forecast, at best (``citests/forecast.py``).

**Guarantee.** The schema, the question, the budget and the public number of rows alone go in. Where the number of rows
is protected there is no forecast, and no refusal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from scipy.special import ndtri

from dpcausal.citests.base import Question
from dpcausal.citests.forecast import power_curve
from dpcausal.citests.registry import choose, make_test
from dpcausal.core.forecast import RARE, SMALL_DELTA, WANTED, PowerForecast, Remedy, enough_epsilon
from dpcausal.core.neighbours import Neighbours
from dpcausal.data.columns import Numeric
from dpcausal.data.schema import Schema
from dpcausal.effects.asked import AskedEffect, missing_notes
from dpcausal.effects.plan import allowed_by, usual_plan
from dpcausal.effects.question import EffectQuestion, strata_cells
from dpcausal.effects.request import EffectPopulation
from dpcausal.effects.result import EffectNote
from dpcausal.effects.widths import MEAN, TYPICAL_SD, expected_widths, shares
from dpcausal.privacy.budget import Allowance

MOST_WIDTH_OF_TWO, MOST_WIDTH = 1.0, 0.5  # of the range of the outcome: from here on an interval says nothing
NOISE_RULES = 2.0  # times the width without noise: most of the width is noise
ANY_CUT = ">= NUMBER"  # the event that is proposed: of what number is for the reader to say
TEST_LEVEL = 0.05  # of the test that is the smaller question
NOTABLE = 0.9  # chance of that test from which on it is


@dataclass(frozen=True, kw_only=True)
class EffectForecast(PowerForecast):
    """What the interval of an effect is expected to be, from public numbers.

    Attributes
    ----------
    about, method, rows, epsilon, delta, level, power, without_noise, margins, columns, cells, remedies, left
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
    share : float or None
        Of the rows in the second arm, as it was given; None: a third of those of two levels, and so on.
    population : str
        Whose effect the interval is expected to be of: "all", "exposed" or "overlap", as in ``EffectResult``. Where the
        question leaves the choice to the answer ("auto"), a rarer treatment can change it.
    rare : float or None
        The width if that were ``RARE``, 5%, where no share was given; infinite where nothing could be said.
    rare_population : str or None
        Whose effect that would be.

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
    share: float | None = None
    population: EffectPopulation = "all"
    rare: float | None = None
    rare_population: EffectPopulation | None = None

    @property
    def treated(self) -> float:
        """The share of rows in the second arm, of those in either, that the forecast takes."""
        return float(shares(2)[1]) if self.share is None else self.share

    @property
    def most(self) -> float:
        """The width from which an interval is taken to say nothing."""
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
        """Whether noise, not sampling, makes up most of the width."""
        return self.width >= NOISE_RULES * self.width_without_noise

    @property
    def fewer(self) -> tuple[str, ...] | None:
        """A subset of the adjusted columns with which the interval would say something; None if none."""
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
            "share": self.share,
            "population": self.population,
            "with_rare_treatment": None
            if self.rare is None
            else {
                "share": RARE,
                "width": self.rare if math.isfinite(self.rare) else None,
                "population": self.rare_population,
            },
            "facts": {"notes": [note.to_dict() for note in self.notes]},
        }


def most_width(question: EffectQuestion) -> float:
    """Return the width of a difference from which on an interval says nothing, in units of the outcome."""
    return (MOST_WIDTH_OF_TWO if question.is_risk else MOST_WIDTH) * (question.high - question.low)


def forecast_of(
    asked: AskedEffect, rows: int, *, help_wanted: bool = True, part: Allowance | None = None
) -> EffectForecast:
    """Return the forecast of the interval at the budget of the request.

    Parameters
    ----------
    asked
        What is asked, and at which epsilon.
    rows
        Their public number.
    help_wanted
        Whether anybody reads what would help where it says nothing: looking for it takes dozens of forecasts.
    part
        What an answer may take, where that is a part of the budget: nothing else would help then.
    """
    request = asked.request
    epsilon, delta = (request.epsilon, request.delta) if part is None else (part.epsilon, 0.0)
    assert epsilon is not None

    def ahead(
        with_epsilon: float = epsilon, with_delta: float = delta, of: AskedEffect = asked
    ) -> EffectForecast:
        plan = usual_plan(of, allowed_by(with_epsilon, with_delta) if part is None else part, rows)
        wide, plain, left, whose = expected_widths(of, plan.releases, rows)
        return EffectForecast(
            question=of.question,
            method=plan.method,
            rows=rows,
            epsilon=with_epsilon,
            delta=with_delta,
            strata=max(strata_cells(of.schema, one) for one in of.used),
            width=wide,
            width_without_noise=plain,
            level=request.level,
            number=is_number(of.schema, of.question),
            left_out=left,
            notes=tuple(missing_notes(of.schema, of.question, table=plan.method == "table")),
            share=of.share,
            population=whose,
        )

    found = ahead()
    noisy = found.hopeless or found.noise_rules
    if (
        found.number
        and noisy
        and says_more(ahead(of=replace(asked, question=risk_of(asked.question))), found)
    ):
        found = replace(found, event=ANY_CUT)
    if not found.hopeless or not help_wanted:
        return found
    remedies = []
    enough = enough_epsilon(lambda more: not ahead(more).hopeless, epsilon)
    if enough is not None:
        remedies.append(Remedy("epsilon", enough))
    if not delta and not ahead(with_delta=SMALL_DELTA).hopeless:
        remedies.append(Remedy("delta", SMALL_DELTA))
    for held in smaller(asked.schema, asked.question.adjust) if len(asked.used) == 1 else ():
        fewer = replace(asked, question=replace(asked.question, adjust=held), sets=(held,))
        if not ahead(of=fewer).hopeless:
            remedies.append(Remedy("adjust", held))
            break
    return replace(found, remedies=tuple(remedies))


def with_rare_treatment(asked: AskedEffect, found: EffectForecast) -> EffectForecast:
    """Return a forecast with a second one added for a rare treatment, if it has two levels."""
    if asked.share is not None or asked.question.others:
        return found
    rare = forecast_of(replace(asked, share=RARE), found.rows, help_wanted=False)
    return replace(found, rare=math.inf if rare.hopeless else rare.width, rare_population=rare.population)


def is_number(schema: Schema, question: EffectQuestion) -> bool:
    """Return whether the estimand is a mean of a numeric outcome, whose bounds scale the noise."""
    return isinstance(schema[question.outcome], Numeric) and not question.two_levels


def risk_of(question: EffectQuestion) -> EffectQuestion:
    """Return the related question about the risk that a numeric outcome reaches a cut."""
    of_two: dict[str, Any] = {"scores": (0.0, 1.0), "by_value": False, "low": 0.0, "high": 1.0}
    return replace(question, **of_two, event=ANY_CUT, estimand="risk difference")


def says_more(risk: EffectForecast, found: EffectForecast) -> bool:
    """Return whether a difference of risks is expected to be more informative than the difference of means.

    It must say something, and its interval must be shorter in standard deviations, by what is assumed of both.
    """
    if risk.hopeless:
        return False
    whole = found.question.high - found.question.low
    return risk.width / math.sqrt(MEAN * (1 - MEAN)) < found.width / (TYPICAL_SD * whole)


def smaller(schema: Schema, adjust: Sequence[str]) -> list[tuple[str, ...]]:
    """Return non-empty subsets of these columns, each without the remaining column of most levels.

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
    """Return the smallest effect, as Cohen's w, that the interval distinguishes from none in 80% of runs."""
    one, z = found.question, float(-ndtri((1 - found.level) / 2))
    reach = found.width / 2 * (1 + float(ndtri(WANTED)) / z)
    sd = math.sqrt(MEAN * (1 - MEAN)) if one.is_risk else TYPICAL_SD * (one.high - one.low)
    return reach / sd * math.sqrt(found.treated * (1 - found.treated))


def smaller_question(asked: AskedEffect, found: EffectForecast) -> tuple[str, float] | None:
    """Return a test that would find such an effect more often at this budget, and its power; None if none.

    A cut of a number, one level of several and a treatment with more levels are other questions than those that a test
    asks.
    """
    one, neighbours = found.question, asked.request.relation
    if one.others or not one.estimand.endswith("difference") or neighbours is Neighbours.ADD_REMOVE:
        return None
    column = asked.schema[one.outcome]
    if one.event is not None and (isinstance(column, Numeric) or column.size > 2):
        return None
    assert found.epsilon is not None
    question = Question.of(asked.schema, one.treatment, one.outcome, one.adjust)
    name, _ = choose(question, found.epsilon, rows=asked.has_rows, n=found.rows)
    budget = (found.rows, found.epsilon, found.delta, TEST_LEVEL, neighbours)
    curve = power_curve(make_test(name, {}, ()), question, *budget, found.share)
    chance = 0.0 if curve is None else curve(min(shown_effect(found), 1.0))
    return (name, chance) if chance >= NOTABLE else None
