"""An effect after ``moments``, free: a regression on the matrix of moments that the search released.

Columns take part by the features that were measured: levels by indicators, numbers between their bounds. A number that
was measured by its normal score counts in standard deviations of the score, as the moments show them, as a treatment
and as an outcome, and the answer says so; what one standard deviation is in the column's units is not known. Waves
(cosines and sines) of numbers held fixed are taken out too.
The interval knows sampling and noise (``stats/moment_effect.py``). It takes the effect to be linear in these features,
and rows that are longer than the reach were shrunk; the answer says both.

**Guarantee.** Post-processing of what was released: no row is read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpcausal.core.errors import InputError
from dpcausal.core.spelling import spelled
from dpcausal.core.statement import PrivacyStatement
from dpcausal.data.columns import Numeric
from dpcausal.discovery.moments import Moments
from dpcausal.effects.adjustment import columns_held_fixed
from dpcausal.effects.asked import AskedEffect, missing_notes
from dpcausal.effects.estimate import Estimate, no_effect
from dpcausal.effects.question import EffectQuestion, checked_columns, effect_question
from dpcausal.effects.report import effect_result
from dpcausal.effects.request import EffectRequest
from dpcausal.effects.result import ColumnsEnter, EffectNote, EffectResult, NothingKnown, SameRelease
from dpcausal.stats.moment_effect import moment_slope

Floats = NDArray[np.float64]
RANGE = 0.25  # of the range between bounds that a feature of 1 stands for
ONE_MORE = ("as it is", "one unit more")
ONE_DEVIATION_MORE = ("as it is", "one standard deviation more")
WIDEST_SCORE = 8.0  # scores are cut at 4 standard deviations


def unit_of_feature(released: Moments, name: str) -> float:
    """Return by how many units a numeric column changes if its feature changes by 1."""
    if name in released.spreads:
        return 1.0
    column = released.schema[name]
    assert isinstance(column, Numeric)
    return RANGE * (column.upper - column.lower)


def give_rows() -> str:
    """Return advice on how to ask for an effect that released values can't answer."""
    return spelled("give a file and --epsilon instead of --release", "give data= and an epsilon")


def effect_from_moments(
    request: EffectRequest, released: Moments, statement: PrivacyStatement
) -> EffectResult:
    """Return the effect by regression on released moments.

    Raises
    ------
    InputError
        If moments can't answer: a ratio, a treatment with more than two levels, a number compared by levels.
    """
    schema, scored = released.schema, released.spreads
    ends = (request.treatment, request.outcome)
    checked_columns(schema, *ends, ())
    for name in ends:
        column = schema[name]
        if isinstance(column, Numeric) and column.scale != "linear" and name not in scored:
            raise InputError(
                f'the moments hold "{name}" on its {column.scale} scale, not in its own units: '
                f"{give_rows()} for a regression of its own"
            )
    held = columns_held_fixed(schema, request)
    question = moments_question(released, request, held.used[0])
    notes: list[EffectNote] = [*held.notes, ColumnsEnter("linear", question.adjust or (request.treatment,))]
    notes += missing_notes(schema, question, table=False)
    if in_deviations := tuple(name for name in ends if name in scored):
        notes.append(ColumnsEnter("scored", in_deviations))
    notes.append(SameRelease("same-moments"))
    asked = AskedEffect(request, schema, question, held.sets, tuple(notes))
    found = [
        no_effect(question) if one is None else estimate_moments(released, question, one, request.level)
        for one in held.sets
    ]
    return effect_result(asked, found, statement, "regression")


def moments_question(released: Moments, request: EffectRequest, adjust: Sequence[str]) -> EffectQuestion:
    """Return the question that moments can answer: the effect of one more unit of a number.

    Raises
    ------
    InputError
        If they do not answer what is asked.
    """
    treatment, outcome = request.treatment, request.outcome
    column = released.schema[treatment]
    if isinstance(column, Numeric):
        if request.compare is not None:
            raise InputError(f'the moments hold "{treatment}" as a number: to compare levels {give_rows()}')
    elif column.size != 2:
        raise InputError(
            f'"{treatment}" has {column.size} levels, and an effect from moments compares two: {give_rows()}'
        )
    question = effect_question(released.schema, request, adjust)
    if not question.estimand.endswith("difference"):
        raise InputError(f"moments give a difference, not a {question.estimand}: {give_rows()} for a table")
    if isinstance(released.schema[outcome], Numeric) and request.event is not None:
        raise InputError(
            f'the moments hold "{outcome}" as a number, and no cut of it: {give_rows()} for a table'
        )
    if not isinstance(column, Numeric):
        return question
    return replace(question, arm_names=ONE_DEVIATION_MORE if treatment in released.spreads else ONE_MORE)


def estimate_moments(
    released: Moments, question: EffectQuestion, adjust: Sequence[str], level: float
) -> Estimate:
    """Return the estimate of an effect, with these columns held fixed, from released moments and their noise."""
    schema, size = released.schema, len(released.matrix)
    treatment, outcome = question.treatment, question.outcome
    a, y = np.zeros(size), np.zeros(size)
    a[released.places[treatment][0]] = 1.0
    if isinstance(schema[outcome], Numeric):
        y[released.places[outcome][0]] = 1.0
        scale = unit_of_feature(released, outcome)
    else:  # levels as a combination of features; the constant part does not matter
        y[released.places[outcome]] = np.asarray(question.scores[1:]) - question.scores[0]
        scale = question.high - question.low
    widest = WIDEST_SCORE if outcome in released.spreads else question.high - question.low
    if isinstance(schema[treatment], Numeric):
        scale, widest = scale / unit_of_feature(released, treatment), math.inf
    elif question.arms != (0, 1):
        scale = -scale
    given = [0, *(place for name in adjust for place in released.places[name])]
    deviations = (treatment in released.spreads, outcome in released.spreads)
    z = float(-ndtri((1 - level) / 2))
    slope = moment_slope(released.matrix, a, y, given, released.rows, released.noise, z, deviations)
    ends = sorted(scale * end for end in (slope.low, slope.high))
    low, high = (float(min(max(end, -widest), widest)) for end in ends)
    if not math.isfinite(slope.estimate):
        return Estimate(math.nan, (low, high), share=0.0, notes=(NothingKnown(noise=True),))
    return Estimate(float(min(max(scale * slope.estimate, low), high)), (low, high))
