"""What a request asks of a schema: the question, the columns to hold fixed, and what the schema says of them.

All of it is public, or was released before. Of data only public facts are looked at: the schema, and whether there are
rows or only counts.
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
from dpcausal.effects.levels import refuse_wide_bin, widest_bin
from dpcausal.effects.question import EffectQuestion, effect_question
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
    share: float | None = None  # of rows in the second arm, for a forecast; None: a third

    @property
    def used(self) -> list[tuple[str, ...]]:
        """The adjustment sets that must be measured: without those that give no effect."""
        return [one for one in self.sets if one is not None]


def ask(
    schema: Schema, request: EffectRequest, *, has_rows: bool, values: bool, found: FollowUp | None = None
) -> AskedEffect:
    """Return the question of a request about these columns, checked against schema and graph.

    ``values``: whether the numbers of a numeric outcome are there; ``found``: the follow-up whose states are its
    levels.

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
    """Raise ``InputError`` where a table can't estimate the effect in this population."""
    if not question.has_populations:
        raise InputError(
            f"population {population} needs the risk of an event ({spelled('--event', 'event=')}), a treatment with "
            "two levels, and an outcome without a level for missing values; without it the effect is that among all"
        )


def by_middles(schema: Schema, question: EffectQuestion) -> bool:
    """Return whether the mean of a numeric outcome is computed from the middles of its bins."""
    return isinstance(schema[question.outcome], Numeric) and not question.by_value and question.event is None


def bin_notes(schema: Schema, question: EffectQuestion, bias: float) -> list[EffectNote]:
    """Return the notes on how numeric columns are used: bins and their bias, missing values, bounds.

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
            bounds.append((question.outcome, column.public(column.lower), column.public(column.upper)))
        if not column.may_be_missing:
            missing.append((question.outcome, column.public_other))
    for name in (question.treatment, *question.adjust):
        column = schema[name]
        if isinstance(column, Numeric) and column.may_be_missing and not column.missing_level:
            missing.append((name, column.public_other))
    if missing or bounds:
        found.append(NumberRules(tuple(missing), tuple(bounds)))
    return found


def missing_notes(schema: Schema, question: EffectQuestion, *, table: bool) -> list[EffectNote]:
    """Return the notes on how missing outcomes and missing values of adjusted columns are treated.

    ``table``: strata leave rows out whose outcome has a level for missing values; a regression counts them.
    """
    found: list[EffectNote] = []
    column, outcome = schema[question.outcome], question.outcome
    if question.missing and table:
        found.append(MissingLeftOut(outcome, (question.treatment, *question.adjust)))
    elif question.missing or (column.may_be_missing and not column.missing_codes):
        value = column.public_other
        no_event = bool(question.missing) and question.event is not None
        counts, number = None if no_event else value, isinstance(column, Numeric)
        found.append(MissingCounts(outcome, counts, bool(question.missing), number))
    held = tuple(name for name in question.adjust if schema[name].missing_codes)
    if held:
        found.append(MissingHeld(held))
    return found


def asked_of_data(
    data: Dataset | Counts, request: EffectRequest, followed: FollowUp | None = None
) -> AskedEffect:
    """Return the checked question about a data set, of which only public facts are used.

    ``followed``: the follow-up whose states are the levels of the outcome.

    A mean of a number of which only wide bins are counted is refused here, before anything is charged.
    """
    has_rows = isinstance(data, Dataset)
    values = isinstance(data, Dataset) and request.outcome in data.values
    asked = ask(data.schema, request, has_rows=has_rows, values=values, found=followed)
    column = data.schema[request.outcome]
    if isinstance(column, Numeric) and by_middles(data.schema, asked.question) and not request.anyway:
        refuse_wide_bin(column, request.outcome)
    return asked
