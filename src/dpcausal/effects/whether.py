"""Whether there is an effect at all is often a smaller question than how large it is: what a test finds of it.

An interval of width W tells an effect of (1 + z_80/z) W/2 from none in 80% of runs, z being its quantile. As Cohen's w
that is the difference in standard deviations times sqrt(p (1 - p)), p being the share of the treated; both by what a
forecast assumes (``forecast.py``). The chance of the test is that of its own forecast, at best (``citests/look.py``).
Public numbers alone go in.
"""

from __future__ import annotations

import math

from scipy.special import ndtri

from dpcausal.citests.base import Question
from dpcausal.citests.choice import choose
from dpcausal.citests.look import chances_of_test
from dpcausal.citests.registry import make_test
from dpcausal.core.neighbours import Neighbours
from dpcausal.data.columns import Numeric
from dpcausal.data.schema import Schema
from dpcausal.effects.forecast import MEAN, TYPICAL_SD, EffectForecast, shares

POWER = 0.8  # with which the interval tells an effect from none
LEVEL = 0.05  # of the test
NOTABLE = 0.9  # chance of the test from which on it is the smaller question


def shown_effect(found: EffectForecast) -> float:
    """Return the effect that the interval tells from none with ``POWER``, as Cohen's w."""
    one, z = found.question, float(-ndtri((1 - found.level) / 2))
    reach = found.width / 2 * (1 + float(ndtri(POWER)) / z)
    sd = math.sqrt(MEAN * (1 - MEAN)) if one.two_levels else TYPICAL_SD * (one.high - one.low)
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

    question = Question.of(schema, one.treatment, one.outcome, one.adjust)
    name, _ = choose(question, found.epsilon, rows=rows, n=found.rows)
    public = (found.rows, found.epsilon, found.delta, neighbours, LEVEL)
    chances = chances_of_test(make_test(name, {}, ()), question, *public, (min(shown_effect(found), 1.0),))
    return (name, chances[0]) if chances is not None and chances[0] >= NOTABLE else None
