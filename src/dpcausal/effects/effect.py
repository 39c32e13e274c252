"""``dc.effect``: how much a treatment changes an outcome, others held fixed, with an interval that knows the noise.

1. **What to adjust for**: as given, or as a graph says (``graphs/adjustment.py``): the back-door set with the fewest
   cells, or in a CPDAG every set that the parents of the treatment may be (IDA).
2. **What is measured**: one table of strata, arms and the outcome (``table.py``), or where that is hopeless, sums for a
   regression (``regression.py``). Declared sizes, the budget and the public number of rows decide.
3. **What is said**: the standardised effect and its interval (``answer.py``): post-processing.

**Guarantee** (epsilon, delta)-DP: all that leaves is released by these mechanisms, charged before noise is drawn.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np

from dpcausal.core.arguments import (
    NO_FORECAST,
    REQUIRED,
    checked_count,
    checked_ledger,
    checked_level,
    refuse_charge_without_epsilon,
    refuse_missing_epsilon,
    refuses_schema,
)
from dpcausal.core.display import display
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import spelled
from dpcausal.core.statement import (
    NOT_EMPTY,
    ROWS,
    SCHEMA,
    Asked,
    DeltaNotNeeded,
    EffectSums,
    EffectTable,
    PrivacyStatement,
    Public,
    Released,
)
from dpcausal.counts.protocol import Counts, source_limits
from dpcausal.data.columns import Level, Numeric
from dpcausal.data.dataset import Dataset, not_a_dataset
from dpcausal.data.schema import Schema
from dpcausal.effects import result as facts
from dpcausal.effects.answer import Answer, answer
from dpcausal.effects.forecast import (
    ANY_CUT,
    EffectForecast,
    forecast,
    most_width,
    regression_allowance,
    smaller_question,
)
from dpcausal.effects.question import (
    EffectQuestion,
    checked_columns,
    effect_question,
    level_names,
    refuse_biased,
    refuse_wide_bin,
    rows_with_cut,
    schema_with_cut,
    strata_cells,
    widest_bin,
)
from dpcausal.effects.regression import (
    PlannedRegression,
    measure_regression,
    planned_regression,
    refuse_question,
    refuse_regression,
)
from dpcausal.effects.result import EffectNote, EffectResult, PossibleEffect
from dpcausal.effects.table import (
    Measured,
    PlannedTable,
    exact_table,
    measure,
    planned_table,
    planned_tables,
)
from dpcausal.graphs.adjustment import adjustment_sets, descendants, no_path
from dpcausal.graphs.adjustment_pag import pag_adjustment, pag_back_door
from dpcausal.graphs.back_door import OpenBackDoor, open_back_door
from dpcausal.graphs.doubts import NONE, Doubts, read_graph, undirected_at, without_edges
from dpcausal.graphs.graph import Graph, Pair
from dpcausal.graphs.pag import PAG
from dpcausal.privacy.accounting.composition import Filter, check_total
from dpcausal.privacy.budget import Allowance, Budget, refuse_hopeless
from dpcausal.stats.limits import row_limit
from dpcausal.stats.standardise import Arms

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger

PUBLIC = (SCHEMA, Asked("effect"))
EffectMethod = Literal["auto", "table", "regression"]
LEAST_CONFIDENCE = 0.5


class AnswersBySet(Protocol):
    """A released table that gives the sums of both arms for sets among its columns."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What can be held fixed."""

    def arms(self, adjust: Sequence[str]) -> Arms:
        """Return the sums over strata of ``adjust``."""


class AdjustsForDescendant(UserWarning):
    """A column that is adjusted for may be changed by the treatment."""


class LeavesBackDoorOpen(UserWarning):
    """By the graph other causes are, or may be, mixed into an effect whose columns to hold fixed were named."""


@refuses_schema
def effect(
    data: Dataset | Counts,
    treatment: str,
    outcome: str,
    *,
    adjust: Iterable[str] | None = None,
    graph: Graph | os.PathLike[str] | None = None,
    epsilon: float | None = REQUIRED,
    delta: float = 0.0,
    estimand: str = "auto",
    compare: Sequence[Level] | None = None,
    event: Level | None = None,
    method: EffectMethod = "auto",
    level: float = 0.95,
    neighbours: Literal["replace-one", "add-remove"] | Neighbours = "replace-one",
    ledger: str | Ledger | None = None,
    dataset: str | None = None,
    anyway: bool = False,
) -> EffectResult:
    """Estimate the effect of a treatment on an outcome, other columns held fixed.

    **Guarantee**: (epsilon, delta)-DP for ``neighbours``: a table of strata, arms and the outcome is released with
    noise, charged before the noise is drawn, and all else is computed from it. ``epsilon=None`` is the answer without
    privacy.

    Parameters
    ----------
    data : Dataset or Counts
        The rows, as ``dc.read("patients.csv", dc.Schema.from_toml("schema.toml"))`` returns them, or a counting
        backend.
    treatment, outcome : str
        The columns. A number as treatment is taken by its declared bins, as outcome by its values. Rows whose outcome
        has a level for missing values ("missing", "unknown", ``missing_level``) are in neither group, unless that level
        is ``event``.
    adjust : iterable of str, str or None, default None
        The columns to hold fixed, the name of one, or ``[]`` for none. None takes them from ``graph``; without a graph
        nothing is held fixed, which is right in a randomised trial only. Numbers are held fixed by their declared bins.
    graph : Graph, Path or None, default None
        Which columns to adjust for: the smallest set that satisfies the back-door criterion. Where directions at the
        treatment are open, every effect that the graph allows is estimated (``.possible``). With ``adjust`` it is used
        only to refuse columns that the treatment changes and sets that leave a common cause out, and to warn where that
        may be so. The ``Path`` of a ``graph.json`` that ``discover`` wrote brings what it says against itself:
        contradicted directions, open pairs, the order of time.
    epsilon : float or None
        What the answer may cost; smaller is safer. There is no default. None means no privacy.
    delta : float, default 0.0
        The probability with which the guarantee may fail; Gaussian noise is used where it is then smaller. Where it is
        not, the answer is pure, and no delta is charged.
    estimand : str, default "auto"
        "risk difference", "risk ratio" or "odds ratio" (an outcome with two levels, or ``event``), "mean difference"
        (ordered levels, or a number). "auto" is a difference. All are standardised over the population.
    compare : pair of levels or None, default None
        The two levels of the treatment; the effect is that of the second against the first. None is the declared order:
        second minus first, or last minus first where more levels are ordered.
    event : level or None, default None
        The level of the outcome whose risk is compared; None is the second of two. Of a number, a cut within its
        bounds: ">= 400" ("400 or more") or "< 400"; where only counts are at hand, one that is declared.
    method : str, default "auto"
        "table": standardisation over strata. "regression": columns are taken out by linear regression, for more columns
        than a table can hold. "auto" is a table unless, with levels equally common, its cells would hold less than
        their noise; declared sizes, the budget and the public number of rows decide.
    level : float, default 0.95
        The confidence of the interval.
    neighbours : str or Neighbours, default "replace-one"
        Which two data sets must be hard to tell apart, as in ``discover``.
    ledger : str, Ledger or None, default None
        A ledger or its address, charged before noise is drawn.
    dataset : str or None, default None
        The name of the data set in the ledger; needed with ``ledger``, refused without.
    anyway : bool, default False
        Whether to go on where the interval is expected to say nothing (``forecast_effect``), and where the graph
        says that the outcome is earlier in time, that a column in ``adjust`` is changed by the treatment or that
        ``adjust`` leaves a back-door path open, shows no path to the outcome, or contradicts itself at an edge of the
        treatment or the outcome; otherwise these are refused, and nothing is charged.

    Returns
    -------
    EffectResult
        ``.estimate`` (NaN where nothing can be said, or the graph allows several), ``.interval``, ``.estimand``,
        ``.share`` (of the rows, by noisy counts, that it holds for), ``.possible`` and ``.privacy``; ``print`` shows a
        few lines.

    Raises
    ------
    InputError
        If an argument can't be used as given; nothing was charged.
    BudgetError
        If the ledger does not allow it; nothing was released.
    LedgerError
        If the ledger can't be opened, read or trusted.

    Examples
    --------
    Of your own file, and counted in a ledger:

    >>> import dpcausal as dc
    >>> data = dc.read("patients.csv", dc.Schema.from_toml("schema.toml"))  # doctest: +SKIP
    >>> count = {"ledger": "sqlite:///budget.db", "dataset": "cohort"}
    >>> print(dc.effect(data, "bronc", "dysp", adjust=["smoke", "age"], epsilon=0.2, **count))  # doctest: +SKIP

    Of a network whose graph is known:

    >>> network = dc.networks.load("asia")
    >>> data = network.sample(50_000, seed=1)
    >>> found = dc.effect(data, "bronc", "dysp", graph=network.dag, epsilon=1.0)
    >>> found.adjust, found.estimand, found.interval[0] <= found.estimate <= found.interval[1]
    (('smoke',), 'risk difference', True)
    >>> found.privacy.epsilon, found.share
    (1.0, 1.0)
    """
    refuse_missing_epsilon(epsilon, "effect", (), spelled("--no-privacy", "epsilon=None"))
    known, doubts = graph_and_doubts(graph)
    found = effect_by_graph(
        data,
        treatment,
        outcome,
        known,
        doubts,
        adjust=adjust,
        epsilon=epsilon,
        delta=delta,
        estimand=estimand,
        compare=compare,
        event=event,
        method=method,
        level=level,
        neighbours=neighbours,
        ledger=ledger,
        dataset=dataset,
        anyway=anyway,
    )
    if known is None or adjust is None:
        return found
    return replace(found, notes=(*found.notes, facts.RestsOn("graph-checks")))


def effect_by_graph(
    data: Dataset | Counts,
    treatment: str,
    outcome: str,
    graph: Graph | None,
    doubts: Doubts,
    *,
    adjust: Iterable[str] | None,
    epsilon: float | None,
    delta: float = 0.0,
    estimand: str = "auto",
    compare: Sequence[Level] | None = None,
    event: Level | None = None,
    method: EffectMethod = "auto",
    level: float = 0.95,
    neighbours: Literal["replace-one", "add-remove"] | Neighbours = "replace-one",
    ledger: str | Ledger | None = None,
    dataset: str | None = None,
    anyway: bool = False,
) -> EffectResult:
    """Return what ``effect`` returns, from a graph and what it says against itself."""
    level = checked_confidence(level)
    relation = Neighbours.parse(neighbours, labels=False)
    checked_ledger(ledger)
    if not isinstance(data, Dataset | Counts):
        if hasattr(data, "effect"):  # what dc.discover returns, in a room above
            raise InputError(
                f"this is a result, not rows: result.effect({treatment!r}, {outcome!r}) answers from what was "
                "released, free, and dc.effect(data, ...) measures rows"
            )
        raise not_a_dataset(data)
    data = rows_with_cut(data, outcome, event)
    if relation is Neighbours.FIXED_LABELS:
        raise InputError("effect holds no labels fixed: neighbours must be replace-one or add-remove")
    asked = asked_effect(
        data,
        treatment,
        outcome,
        adjust,
        graph,
        estimand=estimand,
        compare=compare,
        event=event,
        anyway=anyway,
        doubts=doubts,
    )
    public_rows = None if relation is Neighbours.ADD_REMOVE and epsilon is not None else data.n
    allowed = None if epsilon is None else allowed_by(epsilon, delta)
    unused: tuple[Public, ...] = ()
    chosen = method_for(method, data, asked, allowed, relation, public_rows)
    if epsilon is None or allowed is None:
        refuse_charge_without_epsilon(delta, ledger)
        budget = Budget.none(relation)
        any_size = Allowance(1.0, 0.0)
        planned_tables(
            data.schema, asked.question, asked.used, any_size, relation
        )  # refuses what is too large
    else:
        if public_rows is not None:
            values = isinstance(data, Dataset)
            ahead = forecast_of(
                data.schema,
                asked,
                method,
                epsilon,
                delta,
                relation,
                public_rows,
                level,
                values=values,
                help_wanted=not anyway,
            )
            if not anyway:
                refuse_hopeless(ahead, ledger, dataset)
            if ahead.noise_rules:
                asked = replace(asked, notes=(*asked.notes, noise_note(ahead)))
        one = asked.question
        about = {"treatment": one.treatment, "outcome": one.outcome, "compare": list(one.arm_names)}
        note = {
            "command": "effect",
            "method": chosen,
            "question": one.key,
            **about,
            "event": one.event,
        }
        # a pure mechanism needs no delta, and charges none
        if chosen == "regression":
            allowed = regression_allowance(data.schema, asked.question, allowed, relation, public_rows)
        planned = planned_releases(data.schema, asked, chosen, allowed, relation)
        used = delta if any(one.needs_delta for one in planned) else 0.0
        unused = (DeltaNotNeeded(delta),) if delta and not used else ()
        file = data.file if isinstance(data, Dataset) else None
        budget = Budget(
            epsilon,
            used,
            neighbours=relation,
            ledger=ledger,
            dataset=dataset,
            note=note,
            rows=public_rows,
            file=file,
        )
    return measured_effect(data, asked, chosen, budget, allowed, level, public_rows, more=unused)[0]


def graph_and_doubts(graph: object) -> tuple[Graph | None, Doubts]:
    """Return a graph and what it says against itself; the second is known of the file of a graph alone."""
    if isinstance(graph, os.PathLike):
        return read_graph(graph)
    if graph is not None and not isinstance(graph, Graph):
        raise InputError(f"graph must be a dc.Graph or the Path of a graph.json, not {type(graph).__name__}")
    return graph, NONE


def forecast_of(
    schema: Schema,
    asked: AskedEffect,
    method: str,
    epsilon: float,
    delta: float,
    neighbours: Neighbours,
    rows: int,
    level: float,
    *,
    values: bool,
    help_wanted: bool = True,
    allowed: Allowance | None = None,
) -> EffectForecast:
    """Return what the interval is expected to be; ``values``: whether there are rows, and not only counts.

    ``allowed`` is what an answer may take, where that is a part of the budget.
    """

    def chosen(allowed: Allowance, question: EffectQuestion, sets: Sequence[tuple[str, ...]]) -> str:
        less = replace(asked, question=replace(question, adjust=sets[0]), sets=tuple(sets))
        return chosen_method(method, schema, less, allowed, neighbours, rows, values=values)

    found = forecast(
        schema,
        asked.question,
        asked.used,
        chosen,
        epsilon,
        delta,
        neighbours,
        rows,
        level,
        help_wanted=help_wanted,
        part=allowed,
    )
    rules = missing_rules(schema, asked.question, table=found.method == "table")
    return replace(found, notes=tuple(rules))


def forecast_effect(
    source: Schema | Dataset | Counts,
    treatment: str,
    outcome: str,
    *,
    adjust: Iterable[str] | None = None,
    graph: Graph | os.PathLike[str] | None = None,
    rows: int | None = None,
    epsilon: float = REQUIRED,
    delta: float = 0.0,
    estimand: str = "auto",
    compare: Sequence[Level] | None = None,
    event: Level | None = None,
    method: EffectMethod = "auto",
    level: float = 0.95,
    neighbours: Literal["replace-one", "add-remove"] | Neighbours = "replace-one",
    anyway: bool = False,
) -> EffectForecast:
    """Say how wide the interval of an effect will be, before anything is charged.

    **Guarantee**: from the schema, the question, the budget and the number of rows alone; rows are not looked at.

    Parameters
    ----------
    source : Schema, Dataset or Counts
        What is declared; of data, the schema and the public number of rows.
    treatment, outcome, adjust, graph, delta, estimand, compare, event, method, level, neighbours
        As in ``effect``.
    rows : int or None, default None
        How many rows there will be; needed with a ``Schema``, and where the number of rows is protected.
    epsilon : float
        What the answer may cost.
    anyway : bool, default False
        Whether to go on where the graph says that the question is a mistake, which ``effect`` refuses, too.

    Returns
    -------
    EffectForecast
        ``.width``, ``.width_without_noise`` and ``.says_nothing``, with ``.enough``, an epsilon that would do.

    Raises
    ------
    InputError
        If an argument can't be used as given.

    Examples
    --------
    >>> import dpcausal as dc
    >>> schema = dc.Schema(dose=dc.Categorical(["no", "yes"]), pain=dc.Numeric(0, 10))
    >>> few = dc.forecast_effect(schema, "dose", "pain", rows=200, epsilon=0.05)
    >>> few.says_nothing, few.enough is not None
    (True, True)
    >>> dc.forecast_effect(schema, "dose", "pain", rows=200, epsilon=few.enough).says_nothing
    False
    """
    refuse_missing_epsilon(epsilon, spelled("--forecast", "forecast_effect"), ())
    if epsilon is None:
        raise InputError(NO_FORECAST)
    check_total(epsilon, delta)
    level = checked_confidence(level)
    relation = Neighbours.parse(neighbours, labels=False)
    if not isinstance(source, Schema | Dataset | Counts):
        raise not_a_dataset(source)
    if relation is Neighbours.FIXED_LABELS:
        raise InputError("effect holds no labels fixed: neighbours must be replace-one or add-remove")
    if method not in get_args(EffectMethod):
        raise InputError(f"method must be auto, table or regression, not {method!r}")
    if rows is None:
        if isinstance(source, Schema):
            raise InputError(
                spelled("a forecast needs a file, or --rows N", "a forecast from a schema needs rows=")
                + ": how many there will be"
            )
        if relation is Neighbours.ADD_REMOVE:
            raise InputError(
                f"the number of rows is protected (add-remove): no forecast without {spelled('--rows', 'rows=')}"
            )
        rows = source.n
    schema = source if isinstance(source, Schema) else source.schema
    values = isinstance(source, Schema | Dataset)
    known, doubts = graph_and_doubts(graph)
    schema = schema_with_cut(schema, outcome, event) if values else schema
    asked = asked_of_schema(
        schema,
        treatment,
        outcome,
        adjust,
        known,
        estimand=estimand,
        compare=compare,
        event=event,
        values=values,
        anyway=anyway,
        doubts=doubts,
    )
    count = checked_count(rows, "rows")
    if method == "regression":
        refuse_asked_regression(schema, asked, values=values)
    found = forecast_of(schema, asked, method, epsilon, delta, relation, count, level, values=values)
    if len(asked.used) != 1:
        return found
    return replace(found, test=smaller_question(schema, found, relation, rows=values))


def noise_note(ahead: EffectForecast) -> EffectNote:
    """Return that most of the width is noise, with the bounds that rule it where the outcome is a number."""
    bounds = outcome_bounds(ahead.question, number=ahead.number)
    return facts.WideInterval("noise-rules", **bounds, event=ahead.event)


def outcome_bounds(question: EffectQuestion, *, number: bool) -> dict[str, Any]:
    """Return whether columns are held fixed, and the bounds of an outcome that is a number: what notes advise by."""
    held = {"held": bool(question.adjust)}
    return held | (
        {"outcome": question.outcome, "low": question.low, "high": question.high} if number else {}
    )


def wide_notes(
    schema: Schema, question: EffectQuestion, interval: tuple[float, float], notes: Sequence[EffectNote]
) -> list[EffectNote]:
    """Return that a released interval is too wide to say much, where no note says it; of ratios nothing is said."""
    wide = interval[1] - interval[0] >= most_width(question)
    if (
        not wide
        or not question.estimand.endswith("difference")
        or any(isinstance(note, facts.WideInterval | facts.NothingKnown) for note in notes)
    ):
        return []
    number = isinstance(schema[question.outcome], Numeric) and not question.two_levels
    event = ANY_CUT if number else None
    return [facts.WideInterval("wide", **outcome_bounds(question, number=number), event=event)]


def planned_releases(
    schema: Schema, asked: AskedEffect, chosen: str, allowed: Allowance, neighbours: Neighbours
) -> Sequence[PlannedTable | PlannedRegression]:
    """Return what ``measured_effect`` will release, each with its mechanism; from public numbers."""
    if chosen == "regression":
        return [planned_regression(schema, asked.question, allowed, neighbours)]
    return planned_tables(schema, asked.question, asked.used, allowed, neighbours)


def allowed_by(epsilon: float, delta: float) -> Allowance:
    """Return what a total allows; raise ``InputError`` for an absurd one."""
    total = Filter(epsilon, delta)
    return Allowance(total.epsilon, total.rho)


@dataclass(frozen=True)
class AskedEffect:
    """A question with the sets to adjust for (None: no effect at all) and what must be known about them; public."""

    question: EffectQuestion
    sets: tuple[tuple[str, ...] | None, ...]
    notes: tuple[EffectNote, ...]

    @property
    def used(self) -> list[tuple[str, ...]]:
        """The sets that a table is needed for."""
        return [one for one in self.sets if one is not None]


def asked_effect(
    data: Dataset | Counts,
    treatment: str,
    outcome: str,
    adjust: Iterable[str] | None,
    graph: Graph | None,
    *,
    estimand: str,
    compare: Sequence[Level] | None,
    event: Level | None,
    anyway: bool = False,
    doubts: Doubts = NONE,
) -> AskedEffect:
    """Return what is asked, checked against the schema and the graph; of ``data`` only public facts are looked at.

    A mean of a number of which only wide bins are counted is refused here, before anything is charged.
    """
    values = isinstance(data, Dataset) and outcome in data.values
    asked = asked_of_schema(
        data.schema,
        treatment,
        outcome,
        adjust,
        graph,
        estimand=estimand,
        compare=compare,
        event=event,
        values=values,
        anyway=anyway,
        doubts=doubts,
    )
    if by_middles(data.schema, asked.question) and not anyway:
        refuse_wide_bin(data.schema[outcome], outcome)
    return asked


def by_middles(schema: Schema, question: EffectQuestion) -> bool:
    """Return whether the outcome is a number whose mean is taken by the middles of its bins."""
    return isinstance(schema[question.outcome], Numeric) and not question.by_value and question.event is None


def asked_of_schema(
    schema: Schema,
    treatment: str,
    outcome: str,
    adjust: Iterable[str] | None,
    graph: Graph | None,
    *,
    estimand: str,
    compare: Sequence[Level] | None,
    event: Level | None,
    values: bool,
    anyway: bool,
    doubts: Doubts,
) -> AskedEffect:
    """The same from the schema alone; ``values``: whether the numbers of a numeric outcome are there."""
    sets, notes = what_to_adjust_for(schema, treatment, outcome, adjust, graph, anyway=anyway, doubts=doubts)
    question = effect_question(
        schema,
        treatment,
        outcome,
        next((one for one in sets if one is not None), ()),
        estimand=estimand,
        compare=compare,
        event=event,
        values=values,
    )
    if isinstance(schema[treatment], Numeric):
        notes.append(facts.TreatmentBins(treatment))
    if by_middles(schema, question):
        notes.append(outcome_bins(outcome, widest(schema, outcome)))
    notes += number_rules(schema, question)
    return AskedEffect(question, tuple(sets), tuple(notes))


def outcome_bins(outcome: str, off: float) -> EffectNote:
    """Return the note that a number counts by the middles of its bins, with how far off that can put a difference."""
    return facts.OutcomeBins(outcome, off)


def number_rules(schema: Schema, question: EffectQuestion) -> list[EffectNote]:
    """Return what missing numbers count as, and outcomes beyond the bounds, by the schema alone.

    Columns are named of which the schema says that numbers may be missing. Of the outcome ``missing_rules`` says that;
    here it is named where the schema says nothing, for no warning can come from rows.
    """
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
    return [facts.NumberRules(tuple(missing), tuple(bounds))] if missing or bounds else []


def missing_rules(schema: Schema, question: EffectQuestion, *, table: bool) -> list[EffectNote]:
    """Return what becomes of rows with a missing outcome, and of missing values held fixed, by the schema alone.

    ``table``: strata leave rows out whose outcome has a level for missing values; a regression counts them.
    """
    found: list[EffectNote] = []
    column, outcome = schema[question.outcome], question.outcome
    if question.missing and table:
        found.append(facts.MissingLeftOut(outcome, (question.treatment, *question.adjust)))
    elif question.missing or (column.may_be_missing and not column.missing_codes):
        value = column.other if isinstance(column, Numeric) else str(column.other)
        no_event = bool(question.missing) and question.event is not None
        counts, number = None if no_event else value, isinstance(column, Numeric)
        found.append(facts.MissingCounts(outcome, counts, bool(question.missing), number))
    held = tuple(name for name in question.adjust if schema[name].missing_codes)
    if held:
        found.append(facts.MissingHeld(held))
    return found


def widest(schema: Schema, outcome: str) -> float:
    """Return how far off a difference of means by the middles of bins can be, whatever the counts are: public."""
    column = schema[outcome]
    assert isinstance(column, Numeric)
    low, high, _ = widest_bin(column)
    return high - low  # half of it in either arm


def measured_effect(
    data: Dataset | Counts,
    asked: AskedEffect,
    chosen: str,
    budget: Budget,
    allowed: Allowance | None,
    level: float,
    public_rows: int | None,
    before: PrivacyStatement | None = None,
    *,
    more: Sequence[Public] = (),
) -> tuple[EffectResult, list[Measured]]:
    """Charge, release and answer; return the tables too.

    Parameters
    ----------
    data, asked, chosen
        The rows, the question, and "table" or "regression".
    budget, allowed
        What is charged, and how much of it this answer may cost; None without privacy.
    level
        The confidence of the interval.
    public_rows
        The number of rows where it is public.
    before
        What the same budget released earlier: the statement then tells of both.
    more
        What else is public, for the statement.
    """
    schema, question = data.schema, asked.question
    names = {question.treatment, question.outcome, *(name for one in asked.used for name in one)}
    known = (
        *PUBLIC,
        *schema.assumes,
        schema.missing_as(names),
        ROWS if public_rows is not None else NOT_EMPTY,
        *more,
    )
    quiet = np.errstate(all="ignore")  # what numpy warns of could depend on rows

    def statement(released: Sequence[Released], *more: Public) -> PrivacyStatement:
        earlier = () if before is None else before.public
        new = [fact for fact in (*known, *more) if fact not in earlier]
        return budget.statement(
            released=[*(() if before is None else before.released), *released],
            public=(*earlier, *new),
            adaptive=before is not None,
            limits=source_limits(data),
            rows=public_rows,
        )

    about: dict[str, Any] = {"treatment": question.treatment, "outcome": question.outcome}
    if chosen == "regression":
        assert allowed is not None
        rows = refuse_regression(data, question)
        with quiet, budget.telling():
            planned = planned_regression(schema, question, allowed, budget.neighbours)
            found, noise = measure_regression(rows, question, planned, budget, level, public_rows)
        sums = EffectSums(**about, adjust=question.adjust, sd=noise)
        told = statement([sums], *row_limit(budget.neighbours))
        notes = (*asked.notes, *missing_rules(schema, question, table=False))
        return _result(question, found, level, notes, told, schema), []
    with quiet, budget.telling():
        measured = (
            [exact_table(data, question, one) for one in asked.used]
            if allowed is None
            else _released(data, question, asked.used, budget, allowed, public_rows)
        )
    counted = "event" if question.two_levels and question.event else "levels" if question.by_levels else None
    about |= {"counted": counted, "event": question.event}
    released = [
        EffectTable(**about, adjust=table.columns, sd=float(np.sqrt(table.variance))) for table in measured
    ]
    told = statement(released)
    off = widest(schema, question.outcome) if by_middles(schema, question) else 0.0
    notes = (*asked.notes, *missing_rules(schema, question, table=True))
    return result_of(question, asked.sets, measured, level, notes, told, schema, off=off), measured


def checked_confidence(level: object) -> float:
    """Return the confidence of an interval; a small number is the size of a test, and a slip of the pen.

    >>> checked_confidence(0.05)
    Traceback (most recent call last):
    dpcausal.core.errors.InputError: level is the confidence of the interval, such as 0.95, and not below 0.5: 0.05
    """
    found = checked_level(level)
    if found < LEAST_CONFIDENCE:
        raise InputError(
            f"level is the confidence of the interval, such as 0.95, and not below {LEAST_CONFIDENCE:g}: {level!r}"
        )
    return found


def what_to_adjust_for(
    schema: Schema,
    treatment: str,
    outcome: str,
    adjust: Iterable[str] | None,
    graph: Graph | None,
    *,
    anyway: bool = False,
    doubts: Doubts = NONE,
) -> tuple[list[tuple[str, ...] | None], list[EffectNote]]:
    """Return the adjustment sets, None for no effect at all, and what must be known about them; all of it is public.

    Raises
    ------
    InputError
        If the names do not fit, the graph lacks a column, or it says that the outcome is earlier in time, that an
        adjusted column is changed or that the columns leave a back-door path open.
    """
    if graph is not None and not isinstance(graph, Graph):
        raise InputError(f"graph must be a dc.Graph, not {type(graph).__name__}")
    if doubts.earlier(outcome, treatment) and not anyway:
        checked_columns(schema, treatment, outcome, () if adjust is None else adjust)
        raise InputError(
            f'"{outcome}" was declared to be earlier in time than "{treatment}", which can\'t change it: ask for the '
            f"effect of {outcome} on {treatment} ({spelled('--anyway', 'anyway=True')} goes on)"
        )
    if isinstance(graph, PAG) and adjust is None:
        checked_columns(schema, treatment, outcome, ())
        for name in (treatment, outcome):
            graph.check(name)
        sizes = {name: schema[name].size if name in schema else 1 << 30 for name in graph.nodes}
        given = checked_columns(
            schema, treatment, outcome, pag_adjustment(graph, treatment, outcome, sizes, doubts.open)
        )
        named = [facts.FromGraph(given), facts.RestsOn("hidden-causes")]
        # what is contradicted has circles in a PAG, so that nothing rests on it
        return [given], [*named, *doubt_notes(treatment, outcome, doubts, (), graph)]
    if adjust is None and graph is not None:
        checked_columns(schema, treatment, outcome, ())
        for name in (treatment, outcome):
            graph.check(name)
        return sets_of_graph(schema, treatment, outcome, graph, anyway, doubts)
    given = checked_columns(schema, treatment, outcome, () if adjust is None else adjust)
    notes: list[EffectNote] = [] if given else [facts.RestsOn("unadjusted")]
    if graph is not None:
        graph.check(treatment)
        notes += doubt_notes(treatment, outcome, doubts, doubts.at(treatment, outcome), graph)
        known = [name for name in given if name in graph.nodes]
        sure = [name for name in known if name in descendants(graph, treatment)]
        if sure and not anyway:
            raise InputError(
                f'by the graph "{treatment}" changes {", ".join(sure)}: adjusting for that hides part of the effect or '
                f"makes one up; leave it out ({spelled('--anyway', 'anyway=True')} goes on)"
            )
        maybe = [name for name in known if name in descendants(graph, treatment, possible=True)]
        if maybe:
            notes.append(facts.AdjustsForLater("descendant", tuple(maybe)))
        notes += back_door_notes(schema, treatment, outcome, known, graph, doubts, refuse=not anyway)
    later = [name for name in given if doubts.earlier(treatment, name)]
    if later:
        notes.append(facts.AdjustsForLater("later", tuple(later), treatment))
    for note in notes:
        if isinstance(note, facts.AdjustsForLater):
            warnings.warn(display().words(note), AdjustsForDescendant, stacklevel=4)
        if isinstance(note, facts.BackDoor):
            warnings.warn(display().words(note), LeavesBackDoorOpen, stacklevel=4)
    return [given], notes


def back_door_notes(
    schema: Schema,
    treatment: str,
    outcome: str,
    given: Sequence[str],
    graph: Graph,
    doubts: Doubts,
    *,
    refuse: bool,
) -> list[EffectNote]:
    """Return that columns which were named leave a back-door path open, or may, by the graph alone.

    Contradicted edges count as edges without a direction, and nothing that rests on them, or on weak hints, is sure.
    ``refuse``: whether a path that is surely open is an ``InputError``.
    """
    if outcome not in graph.nodes:
        return []
    sizes = {name: schema[name].size if name in schema else 1 << 30 for name in graph.nodes}

    def left_open(drawn: Graph, possible: frozenset[Pair]) -> OpenBackDoor | None:
        if isinstance(drawn, PAG):
            return pag_back_door(drawn, treatment, outcome, given, sizes, possible)
        return open_back_door(drawn, treatment, outcome, given, sizes, possible)

    torn = frozenset() if isinstance(graph, PAG) else doubts.contradicted  # of a PAG: circles already
    found = left_open(undirected_at(graph, torn) if torn else graph, doubts.open)
    if found is None:
        return []
    weak = (torn | doubts.hints) & graph.skeleton
    if found.sure and weak:  # a path that is open without these edges is open with them
        firm = left_open(without_edges(graph, weak), doubts.open | weak)
        found = found._replace(sure=firm is not None and firm.sure)
    paths = {**found._asdict(), "treatment": treatment, "given": bool(given)}
    if found.sure and refuse:
        raise InputError(display().words(facts.BackDoor(**paths, refused=True)))
    return [facts.BackDoor(**paths, refused=False)]


def sets_of_graph(
    schema: Schema,
    treatment: str,
    outcome: str,
    graph: Graph,
    anyway: bool,
    doubts: Doubts,
) -> tuple[list[tuple[str, ...] | None], list[EffectNote]]:
    """Return the adjustment sets that a graph names, and what it says against itself.

    Contradicted edges of the treatment and the outcome are refused; with ``anyway`` they are taken without a direction.
    Without a path of arrows ``anyway`` adjusts for the parents of the treatment, which is valid in this graph.
    """
    own = doubts.at(treatment, outcome)
    if own and not anyway:
        shown = ", ".join(" - ".join(sorted(pair)) for pair in own)
        raise InputError(
            f"the graph contradicts itself about the direction of {shown}, so it can't say what to hold fixed. Name "
            f"the columns ({spelled('--adjust', 'adjust=')}), or learn the graph with the order of time declared "
            f"({spelled('--tiers', 'tiers=')}); {spelled('--anyway', 'anyway=True')} takes such an edge without a "
            "direction"
        )
    graph = undirected_at(graph, frozenset(own))
    notes = doubt_notes(treatment, outcome, doubts, sorted(doubts.contradicted, key=sorted), graph)
    if outcome not in descendants(graph, treatment, possible=True):
        parents = tuple(name for name in schema if name in graph.parents(treatment))
        if not anyway or outcome in parents or len(parents) < len(graph.parents(treatment)):
            raise InputError(no_path(treatment, outcome) + why_no_path(treatment, outcome, graph, doubts))
        notes.append(facts.RestsOn("no-path"))
        return [parents], [facts.FromGraph(parents), *notes]
    sizes = {name: schema[name].size if name in schema else 1 << 30 for name in graph.nodes}
    sets = adjustment_sets(graph, treatment, outcome, sizes, doubts.open)
    for one in sets:
        checked_columns(schema, treatment, outcome, one or ())
    named = [facts.FromGraph(sets[0] or ())] if len(sets) == 1 else []
    return sets, [*named, *notes]


def why_no_path(treatment: str, outcome: str, graph: Graph, doubts: Doubts) -> str:
    """Return what the graph does say of the two columns, as the end of a sentence."""
    if frozenset((treatment, outcome)) in doubts.open:
        return "; here neither an edge between the two nor its absence could be shown: the pair is open"
    if doubts.earlier(outcome, treatment):
        return f'; here "{outcome}" was declared to be earlier in time'
    if treatment in descendants(graph, outcome):
        return f'; here the arrows lead from "{outcome}" to "{treatment}"'
    return ""


def doubt_notes(
    treatment: str, outcome: str, doubts: Doubts, contradicted: Sequence[Pair], graph: Graph | None = None
) -> list[EffectNote]:
    """Return what a graph says against itself, and whether the outcome was declared to come first.

    Open pairs at one end may hide a common cause where the pair with the other end is open or an edge of ``graph``.
    """
    found: list[EffectNote] = []
    if contradicted:
        pairs = tuple(tuple(sorted(pair)) for pair in contradicted)
        found.append(facts.Contradicted(pairs, own=bool(doubts.at(treatment, outcome))))
    ends = {treatment, outcome}
    if frozenset(ends) in doubts.open:
        found.append(facts.RestsOn("open-itself"))
    if frozenset(ends) in doubts.hints:
        found.append(facts.RestsOn("hint-itself"))
    near = sorted(
        {
            name
            for pair in doubts.open
            if len(pair & ends) == 1
            for name in pair - ends
            if not doubts.earlier(treatment, name)  # what comes later is no common cause
        }
    )
    if near:
        linked = doubts.open | (frozenset() if graph is None else graph.skeleton)
        both = [name for name in near if all(frozenset((name, end)) in linked for end in ends)]
        found.append(facts.OpenPairs(tuple(both or near), both=bool(both)))
    if doubts.earlier(outcome, treatment):
        found.append(facts.OutcomeEarlier(treatment, outcome))
    return found


# rows of an arm in a stratum, levels equally common, over their noise: below, a regression is taken
MIN_NOISE_SHARE = 1.0
FEW_STRATA = 8  # a table all the same
MOST_STRATA = 256  # where the number of rows is protected


def method_for(
    method: str,
    data: Dataset | Counts,
    asked: AskedEffect,
    allowed: Allowance | None,
    neighbours: Neighbours,
    n: int | None,
) -> str:
    """Return "table" or "regression": from the schema, the budget and the public number of rows."""
    if method not in get_args(EffectMethod):
        raise InputError(f"method must be auto, table or regression, not {method!r}")
    if method == "regression":
        if allowed is None:
            raise InputError("a regression has no answer without privacy here: leave method out")
        refuse_asked_regression(data.schema, asked, values=isinstance(data, Dataset))
        refuse_regression(data, asked.question)
    return chosen_method(method, data.schema, asked, allowed, neighbours, n, values=isinstance(data, Dataset))


def refuse_asked_regression(schema: Schema, asked: AskedEffect, *, values: bool) -> None:
    """Raise ``InputError`` where a regression was named that can't answer: a forecast refuses what a run does."""
    if len(asked.used) > 1:
        raise InputError("a regression answers for one set of columns: name what to adjust for")
    refuse_question(schema, asked.question, values=values)


def chosen_method(
    method: str,
    schema: Schema,
    asked: AskedEffect,
    allowed: Allowance | None,
    neighbours: Neighbours,
    n: int | None,
    *,
    values: bool,
) -> str:
    """The same from the schema alone; ``values``: whether there are rows, and not only counts."""
    question, sets = asked.question, asked.used
    if method == "regression":
        return method
    able = values and not question.other_arms and question.estimand.endswith("difference")
    if method == "table" or allowed is None or len(sets) > 1 or not able:
        return "table"
    strata = strata_cells(schema, question.adjust)
    if n is None:
        return "table" if strata <= MOST_STRATA else "regression"
    table = planned_table(schema, question, question.adjust, allowed, neighbours)
    noise = math.sqrt(2 * table.variance)
    enough = n / (question.treatment_levels * strata) >= MIN_NOISE_SHARE * noise
    return "table" if enough or strata <= FEW_STRATA else "regression"


def _released(
    data: Dataset | Counts,
    question: EffectQuestion,
    sets: Sequence[tuple[str, ...]],
    budget: Budget,
    allowed: Allowance,
    n: int | None,
) -> list[Measured]:
    planned = planned_tables(data.schema, question, sets, allowed, budget.neighbours)
    return [measure(data, one, budget, n) for one in planned]


def result_of(
    question: EffectQuestion,
    sets: Sequence[tuple[str, ...] | None],
    measured: Sequence[AnswersBySet],
    level: float,
    notes: Sequence[EffectNote],
    statement: PrivacyStatement,
    schema: Schema,
    *,
    off: float = 0.0,
    refuse: bool = False,
) -> EffectResult:
    """Return the result of released tables: an answer for every set.

    ``off`` is how far off the middles of bins can put a difference of means: every interval is wider by as much.
    ``refuse``: whether an answer that is ruled by it is refused, where nothing was paid for it.
    """
    answers: list[tuple[tuple[str, ...] | None, Answer]] = []
    for one in sets:
        if one is None:
            nothing = 1.0 if question.estimand.endswith("ratio") else 0.0
            answers.append((None, Answer(nothing, (nothing, nothing), (np.nan, np.nan), 1.0, ())))
            continue
        table = next(table for table in measured if set(one) <= set(table.columns))
        found = answer(table.arms(one), question, level)
        if off:
            if refuse:
                column = schema[question.outcome]
                assert isinstance(column, Numeric)
                refuse_biased(column, question.outcome, off, found.interval)
            found = wider(found, off, question.high - question.low)
        answers.append((one, found))
    said = list(notes)
    binned = tuple(name for name in question.adjust if isinstance(schema[name], Numeric))
    if binned:
        said.append(facts.ColumnsEnter("binned", binned))
    first = next(found for one, found in answers if one is not None)
    possible: list[PossibleEffect] = []
    estimate, interval, means = first.estimate, first.interval, first.means
    said += first.notes
    if len(answers) > 1:
        possible = [
            PossibleEffect(one, found.estimate, found.interval, found.share) for one, found in answers
        ]
        estimate, means = math.nan, (math.nan, math.nan)  # none of them is the effect
        interval = (
            min(found.interval[0] for _, found in answers),
            max(found.interval[1] for _, found in answers),
        )
        said = [note for note in said if not isinstance(note, facts.Everyone)]
        if any(found.everyone is not None for _, found in answers):
            wide = [found.everyone or found.interval for _, found in answers]
            said.append(facts.Everyone(min(low for low, _ in wide), max(high for _, high in wide)))
        said.insert(0, facts.Several(len(answers), no_effect=any(one is None for one, _ in answers)))
    elif statement.epsilon is not None:
        said += wide_notes(schema, question, interval, said)
    return EffectResult(
        treatment=question.treatment,
        outcome=question.outcome,
        adjust=question.adjust,
        compare=question.arm_names,
        event=question.event,
        estimand=question.estimand,
        estimate=float(estimate),
        interval=(float(interval[0]), float(interval[1])),
        level=level,
        means=means,
        share=min(found.share for _, found in answers),
        method="table",
        notes=tuple(said),
        privacy=statement,
        possible=possible,
        left_out=strata_left_out(schema, question.adjust, first.kept),
    )


def wider(found: Answer, off: float, most: float) -> Answer:
    """Return an answer whose intervals reach further by ``off`` on both sides, within what is possible."""

    def reach(ends: tuple[float, float]) -> tuple[float, float]:
        return max(ends[0] - off, -most), min(ends[1] + off, most)

    every = None if found.everyone is None else reach(found.everyone)
    notes = [
        replace(note, low=every[0], high=every[1]) if every and isinstance(note, facts.Everyone) else note
        for note in found.notes
    ]
    return replace(found, interval=reach(found.interval), everyone=every, notes=tuple(notes))


def _result(
    question: EffectQuestion,
    found: Answer,
    level: float,
    notes: Sequence[EffectNote],
    statement: PrivacyStatement,
    schema: Schema,
) -> EffectResult:
    """Return the result of a regression."""
    said = [*notes, *found.notes]
    return EffectResult(
        treatment=question.treatment,
        outcome=question.outcome,
        adjust=question.adjust,
        compare=question.arm_names,
        event=question.event,
        estimand=question.estimand,
        estimate=float(found.estimate),
        interval=(float(found.interval[0]), float(found.interval[1])),
        level=level,
        means=found.means,
        share=found.share,
        method="regression",
        notes=(*said, *wide_notes(schema, question, found.interval, said)),
        privacy=statement,
    )


def strata_left_out(
    schema: Schema, adjust: Sequence[str], kept: Sequence[bool]
) -> tuple[tuple[str, ...], ...]:
    """Return the strata that are not kept, each by its levels in the order of ``adjust``."""
    names = [level_names(schema[name]) for name in adjust]
    return (
        tuple(levels for levels, keep in zip(product(*names), kept, strict=True) if not keep) if kept else ()
    )
