"""The result of an effect from what was released: an estimate for every set of columns held fixed, and the notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Protocol

import numpy as np

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import PrivacyStatement
from dpcausal.data.columns import Numeric
from dpcausal.data.schema import Schema
from dpcausal.effects.asked import AskedEffect, missing_notes
from dpcausal.effects.estimate import (
    Estimate,
    estimate,
    estimate_follow_up,
    estimate_regression,
    estimate_strata,
    no_effect,
)
from dpcausal.effects.forecast import ANY_CUT, EffectForecast, is_number, most_width
from dpcausal.effects.levels import level_names
from dpcausal.effects.question import EffectQuestion
from dpcausal.effects.regression import MeasuredRegression
from dpcausal.effects.result import (
    ColumnsEnter,
    EffectNote,
    EffectResult,
    Everyone,
    NothingKnown,
    PossibleEffect,
    Several,
    WideInterval,
)
from dpcausal.effects.table import Measured
from dpcausal.stats.populations import POPULATIONS, estimable_population
from dpcausal.stats.standardise import Arms
from dpcausal.stats.strata import StrataTable


class SumsByStrata(Protocol):
    """A released table that gives the sums of both arms for sets among its columns."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that can be adjusted for."""

    def arms(self, adjust: Sequence[str]) -> Arms:
        """Return the sums of both arms over strata of ``adjust``."""


def estimates(asked: AskedEffect, released: Sequence[SumsByStrata] | MeasuredRegression) -> list[Estimate]:
    """Return the estimate for every adjustment set, in order; all are for one population.

    Where none was asked for, released counts choose it (``estimable_population``): "all" unless one of the sets tells
    that poorly.
    """
    question, level, found = asked.question, asked.request.level, []
    with np.errstate(all="ignore"):
        strata = {} if isinstance(released, MeasuredRegression) else _strata(asked, released)
        population: str = asked.request.population
        if population == "auto":
            each = [estimable_population(one, level) for one in strata.values()]
            population = max(each, key=POPULATIONS.index, default="all")
        for one in asked.sets:
            if one is None:
                found.append(replace(no_effect(question), population=population))
            elif isinstance(released, MeasuredRegression):
                found.append(estimate_regression(released, question, level))
            elif question.follow_up is not None:
                table = _table_of(released, one)
                assert isinstance(table, Measured)  # no search measures states
                found.append(estimate_follow_up(table.strata(one, public_rows=False), question, level))
            elif one in strata:
                found.append(estimate_strata(strata[one], population, question, level))
            else:
                found.append(estimate(_table_of(released, one).arms(one), question, level))
    return found


def _table_of(released: Sequence[SumsByStrata], columns: Sequence[str]) -> SumsByStrata:
    """Return the first released table that contains these columns."""
    return next(table for table in released if set(columns) <= set(table.columns))


def _strata(asked: AskedEffect, released: Sequence[SumsByStrata]) -> dict[tuple[str, ...], StrataTable]:
    """Return the strata table of every adjustment set, if effects in populations can be estimated; else none.

    Tables that a search released have noise of other kinds. Without noise, all rows have the textbook's answer.
    """
    public = asked.request.relation is Neighbours.REPLACE_ONE
    margin = next((table for table in released if isinstance(table, Measured) and not table.columns), None)
    found = {}
    for one in asked.used if asked.question.has_populations else ():
        table = _table_of(released, one)
        if isinstance(table, Measured) and (
            table.variance > 0 or asked.request.population in ("exposed", "overlap")
        ):
            found[one] = table.strata(one, margin if one else None, public_rows=public)
    return found


def report(
    asked: AskedEffect,
    released: Sequence[SumsByStrata] | MeasuredRegression,
    statement: PrivacyStatement,
    *more: EffectNote,
) -> EffectResult:
    """Return the result of released tables or sums; ``more`` must be known about it, too."""
    table = not isinstance(released, MeasuredRegression)
    missing = missing_notes(asked.schema, asked.question, table=table)
    asked = replace(asked, notes=(*asked.notes, *missing, *more))
    found = effect_result(asked, estimates(asked, released), statement, "table" if table else "regression")
    return replace(found, notes=(*found.notes, *wide_notes(asked, found)))


def effect_result(
    asked: AskedEffect, found: Sequence[Estimate], statement: PrivacyStatement, method: str
) -> EffectResult:
    """Return the result of an estimate for every set; of several, none is the effect, and the interval holds all."""
    question = asked.question
    if asked.bias_bound:
        most = question.high - question.low
        found = [
            one if columns is None else one.widened(asked.bias_bound, most)
            for columns, one in zip(asked.sets, found, strict=True)
        ]
    notes = list(asked.notes)
    binned = tuple(name for name in question.adjust if isinstance(asked.schema[name], Numeric))
    if binned and method == "table":
        notes.append(ColumnsEnter("binned", binned))
    first = next(one for columns, one in zip(asked.sets, found, strict=True) if columns is not None)
    notes += first.notes
    possible: list[PossibleEffect] = []
    shown = first
    if len(found) > 1:
        possible = [
            PossibleEffect(columns, one.estimate, one.interval, one.share)
            for columns, one in zip(asked.sets, found, strict=True)
        ]
        shown = Estimate(math.nan, _hull([one.interval for one in found]))
        notes = [note for note in notes if not isinstance(note, Everyone)]
        if any(one.everyone is not None for one in found):
            notes.append(Everyone(*_hull([one.everyone or one.interval for one in found])))
        notes.insert(0, Several(len(found), no_effect=None in asked.sets))
    return EffectResult(
        treatment=question.treatment,
        outcome=question.outcome,
        adjust=question.adjust,
        compare=question.arm_names,
        event=question.event,
        estimand=question.estimand,
        estimate=shown.estimate,
        interval=shown.interval,
        level=asked.request.level,
        means=shown.means,
        share=min(one.share for one in found),
        method=method,
        notes=tuple(notes),
        privacy=statement,
        possible=possible,
        left_out=strata_left_out(asked.schema, question.adjust, first.covers),
        curves=shown.curves,
        population="overlap" if method == "regression" else first.population,
    )


def _hull(intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the smallest interval that contains these."""
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def strata_left_out(
    schema: Schema, adjust: Sequence[str], covers: Sequence[bool]
) -> tuple[tuple[str, ...], ...]:
    """Return the strata that an estimate does not cover, each as levels in the order of ``adjust``.

    ``covers`` lists the strata of one site after those of another: a stratum is left out that no site covers.
    """
    if not covers:
        return ()
    strata = list(product(*(level_names(schema[name]) for name in adjust)))
    return tuple(levels for i, levels in enumerate(strata) if not any(covers[i :: len(strata)]))


def noise_note(ahead: EffectForecast) -> WideInterval:
    """Return the note that noise makes up most of the interval, with the bounds that scale it."""
    bounds = _outcome_bounds(ahead.question, number=ahead.number)
    return WideInterval("noise-rules", **bounds, event=ahead.event)


def wide_notes(asked: AskedEffect, found: EffectResult) -> list[EffectNote]:
    """Return the note that an interval is too wide to say much, unless another note says it."""
    question = asked.question
    if (
        found.possible
        or found.privacy.epsilon is None
        or found.interval[1] - found.interval[0] < most_width(question)
        or not question.estimand.endswith("difference")
        or any(isinstance(note, WideInterval | NothingKnown) for note in found.notes)
    ):
        return []
    number = is_number(asked.schema, question)
    event = ANY_CUT if number else None
    return [WideInterval("wide", **_outcome_bounds(question, number=number), event=event)]


def _outcome_bounds(question: EffectQuestion, *, number: bool) -> dict[str, Any]:
    """Return what advice in notes needs: whether columns are adjusted for, and a number's bounds."""
    bounds = {"outcome": question.outcome, "low": question.low, "high": question.high} if number else {}
    return {"held": bool(question.adjust), **bounds}
