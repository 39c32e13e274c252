"""Charge and release what was planned for an effect, and state it: the one place where rows are read.

**Guarantee** (epsilon, delta)-DP: all that leaves is released by ``measure`` or ``measure_regression``,
charged before noise is drawn. What is computed from it afterwards is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dpcausal.core.statement import (
    NOT_EMPTY,
    SCHEMA,
    Asked,
    EffectSums,
    EffectTable,
    PrivacyStatement,
    Public,
    Released,
)
from dpcausal.counts.protocol import Counts, number_known, source_limits, unit_of
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.effects.plan import EffectPlan
from dpcausal.effects.question import EffectQuestion
from dpcausal.effects.regression import (
    MeasuredRegression,
    PlannedRegression,
    measure_regression,
    refuse_regression,
)
from dpcausal.effects.table import Measured, exact_table, measure
from dpcausal.privacy.budget import Budget
from dpcausal.stats.limits import row_limit


class MeasuredEffect(NamedTuple):
    """Released tables, or the released sums of a regression, and what they cost."""

    released: tuple[Measured, ...] | MeasuredRegression
    statement: PrivacyStatement


def measure_effect(
    data: Dataset | Counts,
    plan: EffectPlan,
    budget: Budget | None,
    before: PrivacyStatement | None = None,
    more: Sequence[Public] = (),
    made_of: tuple[Schema, Sequence[str]] | None = None,
) -> MeasuredEffect:
    """Charge and release what was planned, and return it with its statement.

    ``budget`` None counts without noise, and the statement says that this is not private. ``before`` is what the same
    budget released earlier: the statement is then about both. ``more`` is public, too.
    """
    schema, question, sets = plan.asked.schema, plan.asked.question, plan.asked.used
    charged = (
        Budget.none(plan.asked.request.relation, getattr(data, "file", None), unit_of(data))
        if budget is None
        else budget
    )
    with np.errstate(all="ignore"), charged.telling():  # what numpy warns of could depend on rows
        measured = _released(data, plan, budget)
    names = {question.treatment, question.outcome, *(name for one in sets for name in one)}
    stored, parts = made_of or (schema, [question.outcome])
    missing = stored.missing_as(names - {question.outcome} | {*parts})
    known = [SCHEMA, Asked("effect"), *schema.assumes, missing]
    known += [number_known(data) if plan.rows is not None else NOT_EMPTY, *more]
    if isinstance(measured, MeasuredRegression):
        known += row_limit(charged.neighbours)
    earlier = () if before is None else before.public
    statement = charged.statement(
        released=[*(() if before is None else before.released), *_contents(question, measured)],
        public=(*earlier, *(fact for fact in known if fact not in earlier)),
        adaptive=before is not None,
        limits=source_limits(data),
        rows=plan.rows,
    )
    return MeasuredEffect(measured, statement)


def _released(
    data: Dataset | Counts, plan: EffectPlan, budget: Budget | None
) -> tuple[Measured, ...] | MeasuredRegression:
    """Return the tables or sums that a plan names, measured in its budget, or exact without one."""
    question, tables = plan.asked.question, []
    for one in plan.releases:
        if isinstance(one, PlannedRegression):
            assert budget is not None  # a plan without privacy has tables alone
            return measure_regression(refuse_regression(data, question), question, one, budget, plan.rows)
        if budget is None:
            tables.append(exact_table(data, question, one.columns))
        else:
            tables.append(measure(data, one, budget, plan.rows))
    return tuple(tables)


def _contents(
    question: EffectQuestion, measured: tuple[Measured, ...] | MeasuredRegression
) -> list[Released]:
    """Return the description of what was released, for the statement."""
    about: dict[str, Any] = {"treatment": question.treatment, "outcome": question.outcome}
    if isinstance(measured, MeasuredRegression):
        return [EffectSums(**about, adjust=question.adjust, sd=measured.noise)]
    levels = "states" if question.follow_up else "levels" if question.by_levels else None
    about["counted"] = "event" if question.two_levels and question.event else levels
    about["event"] = question.event
    return [EffectTable(**about, adjust=one.columns, sd=math.sqrt(one.variance)) for one in measured]
