"""Which table or regression is measured, with which noise: decided from public numbers before anything is charged.

One table of strata, arms and the outcome (``table.py``) is measured, or, where its cells would hold less than their
noise, sums for a regression (``regression.py``). Declared sizes, the budget and the public number of rows decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpcausal.core.errors import InputError
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset
from dpcausal.effects.asked import AskedEffect
from dpcausal.effects.forecast import regression_allowance
from dpcausal.effects.question import strata_cells
from dpcausal.effects.regression import (
    PlannedRegression,
    planned_regression,
    refuse_question,
    refuse_regression,
)
from dpcausal.effects.table import PlannedTable, planned_table, planned_tables
from dpcausal.privacy.budget import Allowance

# rows of an arm in a stratum, levels equally common, over their noise: below, a regression is taken
MIN_NOISE_SHARE = 1.0
FEW_STRATA = 8  # a table all the same
MOST_STRATA = 256  # where the number of rows is protected
ANY_SIZE = Allowance(1.0, 0.0)  # stands for a budget where nothing is charged


@dataclass(frozen=True)
class EffectPlan:
    """What will be released for an effect, each release with its mechanism; public."""

    asked: AskedEffect
    method: str  # "table" or "regression"
    releases: tuple[PlannedTable | PlannedRegression, ...]  # in the order in which they are charged
    rows: int | None  # None where their number is protected

    @property
    def needs_delta(self) -> bool:
        """Whether any of the noise is Gaussian: a pure mechanism needs no delta, and charges none."""
        return any(one.needs_delta for one in self.releases)


def plan_effect(
    data: Dataset | Counts,
    asked: AskedEffect,
    allowed: Allowance | None,
    rows: int | None,
    *,
    may_drop_delta: bool = False,
) -> EffectPlan:
    """Return what is measured for an effect, for what it may cost (None: without privacy) and the public rows.

    No row of ``data`` is looked at. ``may_drop_delta``: whether a regression takes pure noise where that is expected to
    be narrower than what a delta allows.

    Raises
    ------
    InputError
        If the method that was named can't answer, or a table would have too many cells.
    """
    schema, question, relation = asked.schema, asked.question, asked.request.relation
    if asked.request.method == "regression":
        if allowed is None:
            raise InputError("a regression has no answer without privacy here: leave method out")
        refuse_asked_regression(asked)
    method = choose_method(asked, allowed, rows)
    if method == "table" or allowed is None:
        tables = planned_tables(schema, question, asked.used, allowed or ANY_SIZE, relation)
        return EffectPlan(asked, method, tuple(tables), rows)
    refuse_regression(data, question)
    if may_drop_delta:
        allowed = regression_allowance(schema, question, allowed, relation, rows)
    return EffectPlan(asked, method, (planned_regression(schema, question, allowed, relation),), rows)


def refuse_asked_regression(asked: AskedEffect) -> None:
    """Raise ``InputError`` where a regression was named that can't answer: a forecast refuses what a run does."""
    if len(asked.used) > 1:
        raise InputError("a regression answers for one set of columns: name what to adjust for")
    refuse_question(asked.schema, asked.question, values=asked.has_rows)


def choose_method(asked: AskedEffect, allowed: Allowance | None, rows: int | None) -> str:
    """Return "table" or "regression": from the schema, the budget and the public number of rows."""
    question, method = asked.question, asked.request.method
    if method != "auto":
        return method
    able = asked.has_rows and not question.other_arms and question.estimand.endswith("difference")
    if allowed is None or len(asked.used) > 1 or not able:
        return "table"
    strata = strata_cells(asked.schema, question.adjust)
    if rows is None:
        return "table" if strata <= MOST_STRATA else "regression"
    table = planned_table(asked.schema, question, question.adjust, allowed, asked.request.relation)
    noise = math.sqrt(2 * table.variance)
    enough = rows / (question.treatment_levels * strata) >= MIN_NOISE_SHARE * noise
    return "table" if enough or strata <= FEW_STRATA else "regression"
