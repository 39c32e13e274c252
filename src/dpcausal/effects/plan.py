"""What a request asks of a schema, and which table or regression answers it: public numbers decide, before any charge.

1. **Asked**: the question, the sets of columns to hold fixed, and what the schema says of them. Of data only public
   facts are looked at: the schema, and whether there are rows or only counts.
2. **Planned**: one table of strata, arms and the outcome (``table.py``), or, where its interval would be much wider,
   sums for a regression (``regression.py``), each with its mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpcausal.core.errors import InputError
from dpcausal.core.spelling import spelled
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.effects.adjustment import columns_held_fixed
from dpcausal.effects.forecast import USUAL_ROWS, expected_widths, regression_allowance
from dpcausal.effects.outcome import widest_bin
from dpcausal.effects.question import EffectQuestion, effect_question, strata_cells
from dpcausal.effects.regression import (
    PlannedRegression,
    planned_regression,
    refuse_question,
    refuse_regression,
)
from dpcausal.effects.request import EffectRequest
from dpcausal.effects.result import (
    EffectNote,
    FollowedUp,
    MissingCounts,
    MissingHeld,
    MissingLeftOut,
    NumberRules,
    OutcomeBins,
    TreatmentBins,
)
from dpcausal.effects.survival import FollowUp
from dpcausal.effects.table import MAX_CELLS, PlannedTable, planned_tables, table_size
from dpcausal.privacy.budget import Allowance
from dpcausal.stats.populations import WIDER

FEW_STRATA = 8  # a table, whatever its width
ANY_SIZE = Allowance(1.0, 0.0)  # stands for a budget where nothing is charged


@dataclass(frozen=True)
class AskedEffect:
    """What will be estimated, and what must be known about it; all of it is public, or was released before."""

    request: EffectRequest
    schema: Schema  # of the columns as they are counted
    question: EffectQuestion  # with the first of the sets
    sets: tuple[tuple[str, ...] | None, ...]  # of columns to hold fixed; None: no effect at all
    notes: tuple[EffectNote, ...]
    has_rows: bool = False  # and not only counts
    bias_bound: float = 0.0  # of a difference of means by the middles of bins: intervals are wider by it

    @property
    def used(self) -> list[tuple[str, ...]]:
        """The sets that something must be measured for."""
        return [one for one in self.sets if one is not None]


def ask(
    schema: Schema, request: EffectRequest, *, has_rows: bool, values: bool, found: FollowUp | None = None
) -> AskedEffect:
    """Return what a request asks of these columns; ``values``: whether the numbers of a numeric outcome are there;
    ``found``: the follow-up whose states are the levels of the outcome.

    Raises
    ------
    InputError
        If the columns or the graph do not allow it.
    """
    held = columns_held_fixed(schema, request)
    question = effect_question(schema, request, held.used[0], values=values, found=found)
    if request.population in ("exposed", "overlap") and request.method != "regression":
        refuse_population(question, request.population)
    column, bias = schema[request.outcome], 0.0
    if by_middles(schema, question) and isinstance(column, Numeric):
        low, high = widest_bin(column)
        bias = high - low  # half of it in either arm
    notes = (*held.notes, *bin_notes(schema, question, bias))
    return AskedEffect(request, schema, question, held.sets, notes, has_rows, bias)


def refuse_population(question: EffectQuestion, population: str) -> None:
    """Raise ``InputError`` where a table can't tell the effect in this population."""
    if not question.has_populations:
        raise InputError(
            f"population {population} needs the risk of an event ({spelled('--event', 'event=')}), a treatment with "
            "two levels, and an outcome without a level for missing values; without it the effect is that among all"
        )


def by_middles(schema: Schema, question: EffectQuestion) -> bool:
    """Return whether the outcome is a number whose mean is taken by the middles of its bins."""
    return isinstance(schema[question.outcome], Numeric) and not question.by_value and question.event is None


def bin_notes(schema: Schema, question: EffectQuestion, bias: float) -> list[EffectNote]:
    """Return how numbers take part: by bins, with what they can be off, and by the rules of the schema.

    Said is what missing numbers count as, and outcomes beyond the bounds. Columns are named of which the schema says
    that numbers may be missing. Of the outcome ``missing_notes`` says that; here it is named where the schema says
    nothing, for no warning can come from rows.
    """
    found: list[EffectNote] = []
    if question.follow_up is not None:
        one = question.follow_up
        found.append(FollowedUp(one.time, one.event, one.ends, one.event_level, one.censored, one.competing))
    if isinstance(schema[question.treatment], Numeric):
        found.append(TreatmentBins(question.treatment))
    if by_middles(schema, question):
        found.append(OutcomeBins(question.outcome, bias))
    missing, bounds, column = [], [], schema[question.outcome]
    if isinstance(column, Numeric):
        if question.event is None:
            bounds.append((question.outcome, column.lower, column.upper))
        if not column.may_be_missing:
            missing.append((question.outcome, column.other))
    for name in (question.treatment, *question.adjust):
        column = schema[name]
        if isinstance(column, Numeric) and column.may_be_missing and not column.missing_level:
            missing.append((name, column.other))
    if missing or bounds:
        found.append(NumberRules(tuple(missing), tuple(bounds)))
    return found


def missing_notes(schema: Schema, question: EffectQuestion, *, table: bool) -> list[EffectNote]:
    """Return what becomes of rows with a missing outcome, and of missing values held fixed, by the schema alone.

    ``table``: strata leave rows out whose outcome has a level for missing values; a regression counts them.
    """
    found: list[EffectNote] = []
    column, outcome = schema[question.outcome], question.outcome
    if question.missing and table:
        found.append(MissingLeftOut(outcome, (question.treatment, *question.adjust)))
    elif question.missing or (column.may_be_missing and not column.missing_codes):
        value = column.other if isinstance(column, Numeric) else str(column.other)
        no_event = bool(question.missing) and question.event is not None
        counts, number = None if no_event else value, isinstance(column, Numeric)
        found.append(MissingCounts(outcome, counts, bool(question.missing), number))
    held = tuple(name for name in question.adjust if schema[name].missing_codes)
    if held:
        found.append(MissingHeld(held))
    return found


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
        private = allowed is not None
        tables = planned_tables(schema, question, asked.used, allowed or ANY_SIZE, relation, margin=private)
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
    """Return "table" or "regression": from the schema, the budget and the public number of rows.

    A table, unless its interval is expected to be more than ``WIDER`` times as wide, or it has too many cells.
    """
    question, method = asked.question, asked.request.method
    if method != "auto" or asked.request.population != "auto":
        return "regression" if method == "regression" else "table"
    able = (
        asked.has_rows
        and question.follow_up is None
        and not question.other_arms
        and question.estimand.endswith("difference")
    )
    if allowed is None or len(asked.used) > 1 or not able:
        return "table"
    if strata_cells(asked.schema, question.adjust) <= FEW_STRATA:
        return "table"
    if table_size(asked.schema, question, question.adjust) > MAX_CELLS:
        return "regression"
    terms = allowed, asked.request.relation, rows or USUAL_ROWS, asked.request.level
    table, regression = (
        expected_widths(asked.schema, question, asked.used, one, *terms)[0] for one in ("table", "regression")
    )
    return "table" if table <= WIDER * regression else "regression"
