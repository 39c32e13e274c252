"""What is measured for an effect, with which noise: public numbers decide, before any charge.

One table of strata, arms and the outcome (``table.py``), or, where its interval is expected to be much wider
(``widths.py``), sums for a regression (``regression.py``), each with its mechanism. The forecast, the charge and the
releases read the same plan.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpcausal.core.errors import InputError
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset
from dpcausal.effects.asked import AskedEffect
from dpcausal.effects.question import strata_cells
from dpcausal.effects.regression import (
    PlannedRegression,
    planned_regression,
    refuse_question,
    refuse_regression,
)
from dpcausal.effects.table import MAX_CELLS, PlannedTable, planned_tables, table_size
from dpcausal.effects.widths import expected_widths, regression_width
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.privacy.budget import Allowance
from dpcausal.stats.populations import WIDER

FEW_STRATA = 8  # a table, whatever its width
USUAL_ROWS, USUAL_LEVEL = 10_000, 0.95  # by which the noise of a regression is chosen
ANY_SIZE = Allowance(1.0, 0.0)  # stands for a budget where nothing is charged


@dataclass(frozen=True)
class EffectPlan:
    """What will be released for an effect, each release with its mechanism; public."""

    asked: AskedEffect
    releases: tuple[PlannedTable | PlannedRegression, ...]  # in the order in which they are charged
    rows: int | None  # None where their number is protected

    @property
    def method(self) -> str:
        """The method: "table" or "regression"."""
        return "regression" if isinstance(self.releases[0], PlannedRegression) else "table"

    @property
    def needs_delta(self) -> bool:
        """Whether any of the noise is Gaussian, so that a delta must be charged."""
        return any(one.needs_delta for one in self.releases)


def allowed_by(epsilon: float, delta: float) -> Allowance:
    """Return the allowance (epsilon, rho) of a total; refuse an invalid one."""
    total = Filter(epsilon, delta)
    return Allowance(total.epsilon, total.rho)


def plan_effect(
    data: Dataset | Counts,
    asked: AskedEffect,
    allowed: Allowance | None,
    rows: int | None,
    *,
    may_drop_delta: bool = False,
) -> EffectPlan:
    """Return the plan of what to measure for an effect, from its allowance (None: no privacy) and public rows.

    No row of ``data`` is looked at. ``may_drop_delta``: whether a regression takes pure noise where that is expected to
    be narrower than what a delta allows.

    Raises
    ------
    InputError
        If the method that was named can't answer, or a table would have too many cells.
    """
    if asked.request.method == "regression":
        if allowed is None:
            raise InputError("a regression has no answer without privacy here: leave method out")
        refuse_asked_regression(asked)
    if allowed is None:
        relation = asked.request.relation
        tables = planned_tables(asked.schema, asked.question, asked.used, ANY_SIZE, relation, margin=False)
        return EffectPlan(asked, tuple(tables), rows)
    plan = usual_plan(asked, allowed, rows, may_drop_delta=may_drop_delta)
    if plan.method == "regression":
        refuse_regression(data, asked.question)
    return plan


def usual_plan(
    asked: AskedEffect, allowed: Allowance, rows: int | None, *, may_drop_delta: bool = True
) -> EffectPlan:
    """Return the plan by the method that was named, else by a table unless a regression is much narrower.

    A regression takes the place of a table whose interval is expected to be more than ``WIDER`` times as wide, or that
    has too many cells. The schema, the budget and the public number of rows decide.
    """
    question, request = asked.question, asked.request

    def table() -> EffectPlan:
        found = planned_tables(asked.schema, question, asked.used, allowed, request.relation)
        return EffectPlan(asked, tuple(found), rows)

    def regression(*, drop: bool = may_drop_delta) -> EffectPlan:
        ways = [allowed]
        if drop and allowed.rho:  # many moments have less Gaussian noise, the three sums less Laplace noise
            ways.append(Allowance(allowed.epsilon, 0.0))
        plans = [planned_regression(asked.schema, question, one, request.relation) for one in ways]
        if len(plans) > 1:
            plans.sort(key=lambda one: regression_width(asked, one, rows or USUAL_ROWS, USUAL_LEVEL))
        return EffectPlan(asked, (plans[0],), rows)

    if request.method == "regression":
        return regression()
    able = asked.has_rows and question.follow_up is None and not question.other_arms
    able = able and len(asked.used) == 1 and question.estimand.endswith("difference")
    named = request.method == "table" or request.population != "auto"
    if named or not able or strata_cells(asked.schema, question.adjust) <= FEW_STRATA:
        return table()
    if table_size(asked.schema, question, question.adjust) <= MAX_CELLS:
        both = table(), regression(drop=True)
        first, second = (expected_widths(asked, one.releases, rows or USUAL_ROWS).noisy for one in both)
        if first <= WIDER * second:
            return both[0]
    return regression()


def refuse_asked_regression(asked: AskedEffect) -> None:
    """Raise ``InputError`` where a regression was named that can't answer: a forecast refuses what a run does."""
    if len(asked.used) > 1:
        raise InputError("a regression answers for one set of columns: name what to adjust for")
    refuse_question(asked.schema, asked.question, values=asked.has_rows)
