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
import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np

from dpcausal.core.arguments import REQUIRED, checked_ledger, checked_level, refuse_missing_epsilon
from dpcausal.core.display import display
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import (
    NOT_EMPTY,
    ROWS,
    SCHEMA,
    PrivacyStatement,
    Public,
    PublicKind,
    Released,
    ReleasedKind,
)
from dpcausal.counts.protocol import Counts, source_limits
from dpcausal.data.columns import Level, Numeric
from dpcausal.data.dataset import Dataset, not_a_dataset
from dpcausal.data.schema import Schema
from dpcausal.effects.answer import Answer, answer
from dpcausal.effects.question import (
    EffectQuestion,
    checked_columns,
    effect_question,
    level_names,
    strata_cells,
)
from dpcausal.effects.regression import measure_regression, refuse_regression
from dpcausal.effects.result import EffectNote, EffectNoteKind, EffectResult, PossibleEffect
from dpcausal.effects.table import (
    MAX_CELLS,
    SPENT,
    Measured,
    effect_mechanism,
    exact_table,
    measure,
    table_size,
    tables_for,
)
from dpcausal.graphs.adjustment import adjustment_sets, descendants
from dpcausal.graphs.adjustment_pag import pag_adjustment
from dpcausal.graphs.graph import Graph, Pair
from dpcausal.graphs.pag import PAG
from dpcausal.planning.measurement import noise_variance
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.privacy.budget import Allowance, Budget
from dpcausal.stats.limits import row_limit
from dpcausal.stats.standardise import Arms

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger

PUBLIC = (SCHEMA, Public(PublicKind.EFFECT))
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


def effect(
    data: Dataset | Counts,
    treatment: str,
    outcome: str,
    *,
    adjust: Iterable[str] | None = None,
    graph: Graph | None = None,
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
        The rows, as ``dc.read`` returns them, or a counting backend.
    treatment, outcome : str
        The columns. A number as treatment is taken by its declared bins, as outcome by its values.
    adjust : iterable of str or None, default None
        The columns to hold fixed. None takes them from ``graph``; without a graph nothing is held fixed, which is right
        in a randomised trial only. Numbers are held fixed by their declared bins.
    graph : Graph or None, default None
        Which columns to adjust for: the smallest set that satisfies the back-door criterion. Where directions at the
        treatment are open, every effect that the graph allows is estimated (``.possible``). With ``adjust`` it is used
        to refuse columns that the treatment changes.
    epsilon : float or None
        What the answer may cost; smaller is safer. There is no default. None means no privacy.
    delta : float, default 0.0
        The probability with which the guarantee may fail; Gaussian noise is used where it is then smaller.
    estimand : str, default "auto"
        "risk difference", "risk ratio" or "odds ratio" (an outcome with two levels, or ``event``), "mean difference"
        (ordered levels, or a number). "auto" is a difference. All are standardised over the population.
    compare : pair of levels or None, default None
        The two levels of the treatment; the effect is that of the second against the first. None is the declared order:
        second minus first, or last minus first where more levels are ordered.
    event : level or None, default None
        The level of the outcome whose risk is compared; None is the second of two.
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
        Whether to go on where the graph says that a column in ``adjust`` is changed by the treatment, and where noise
        would hide even arms of half of the rows each; otherwise both are refused, and nothing is charged.

    Returns
    -------
    EffectResult
        ``.estimate``, ``.interval``, ``.estimand``, ``.share`` (of the noisy population it speaks for), ``.possible``
        and ``.privacy``; ``print`` shows three lines.

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
    >>> import dpcausal as dc
    >>> network = dc.networks.load("asia")
    >>> data = network.sample(50_000, seed=1)
    >>> found = dc.effect(data, "bronc", "dysp", graph=network.dag, epsilon=1.0)
    >>> found.adjust, found.estimand, found.interval[0] <= found.estimate <= found.interval[1]
    (('smoke',), 'risk difference', True)
    >>> found.privacy.epsilon, found.share
    (1.0, 1.0)
    """
    refuse_missing_epsilon(epsilon, "effect", (), "epsilon=None")
    level = checked_confidence(level)
    relation = Neighbours.parse(neighbours, labels=False)
    checked_ledger(ledger)
    if not isinstance(data, Dataset | Counts):
        raise not_a_dataset(data)
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
    )
    public_rows = None if relation is Neighbours.ADD_REMOVE and epsilon is not None else data.n
    allowed = None if epsilon is None else allowed_by(epsilon, delta)
    chosen = method_for(method, data, asked, allowed, relation, public_rows)
    if epsilon is None:
        if ledger is not None or delta:
            raise InputError("epsilon=None means no privacy: it goes with no delta and no ledger")
        budget = Budget.none(relation)
        tables_for(data.schema, asked.question, asked.used, 1.0, 0.0, relation)  # refuses what is too large
    else:
        if allowed is not None and public_rows is not None and not anyway:
            refuse_hopeless(asked.question, allowed, relation, public_rows, epsilon)
        note = {"command": "effect", "question": asked.question.key}
        budget = Budget(epsilon, delta, neighbours=relation, ledger=ledger, dataset=dataset, note=note)
    return measured_effect(data, asked, chosen, budget, allowed, level, public_rows)[0]


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
    possible: Collection[Pair] = frozenset(),
) -> AskedEffect:
    """Return what is asked, checked against the schema and the graph; of ``data`` only public facts are looked at."""
    schema = data.schema
    sets, notes = what_to_adjust_for(
        schema, treatment, outcome, adjust, graph, anyway=anyway, possible=possible
    )
    values = isinstance(data, Dataset) and outcome in data.values
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
        notes.append(EffectNote(EffectNoteKind.TREATMENT_BINS, treatment=treatment))
    if isinstance(schema[outcome], Numeric) and not values:
        notes.append(EffectNote(EffectNoteKind.OUTCOME_BINS, outcome=outcome))
    return AskedEffect(question, tuple(sets), tuple(notes))


def measured_effect(
    data: Dataset | Counts,
    asked: AskedEffect,
    chosen: str,
    budget: Budget,
    allowed: Allowance | None,
    level: float,
    public_rows: int | None,
    before: PrivacyStatement | None = None,
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
    """
    schema, question = data.schema, asked.question
    known = (*PUBLIC, *schema.assumes, ROWS if public_rows is not None else NOT_EMPTY)
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

    about = {"treatment": question.treatment, "outcome": question.outcome}
    if chosen == "regression":
        assert allowed is not None
        rows = refuse_regression(data, question)
        with quiet, budget.telling():
            found, noise = measure_regression(rows, question, budget, allowed, level, public_rows)
        sums = Released(ReleasedKind.EFFECT_SUMS, **about, adjust=question.adjust, sd=noise)
        told = statement([sums], *row_limit(budget.neighbours))
        return _result(question, found, level, asked.notes, told), []
    with quiet, budget.telling():
        measured = (
            [exact_table(data, question, one) for one in asked.used]
            if allowed is None
            else _released(data, question, asked.used, budget, allowed, public_rows)
        )
    released = [
        Released(ReleasedKind.EFFECT_TABLE, **about, adjust=table.columns, sd=float(np.sqrt(table.variance)))
        for table in measured
    ]
    told = statement(released)
    return result_of(question, asked.sets, measured, level, asked.notes, told, schema), measured


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
    possible: Collection[Pair] = frozenset(),
) -> tuple[list[tuple[str, ...] | None], list[EffectNote]]:
    """Return the adjustment sets, None for no effect at all, and what must be known about them; all of it is public.

    Raises
    ------
    InputError
        If the names do not fit, the graph lacks a column, or it says that an adjusted column is changed.
    """
    if graph is not None and not isinstance(graph, Graph):
        raise InputError(f"graph must be a dc.Graph, not {type(graph).__name__}")
    if isinstance(graph, PAG) and adjust is None:
        checked_columns(schema, treatment, outcome, ())
        for name in (treatment, outcome):
            graph.check(name)
        sizes = {name: schema[name].size if name in schema else 1 << 30 for name in graph.nodes}
        given = checked_columns(
            schema, treatment, outcome, pag_adjustment(graph, treatment, outcome, sizes, possible)
        )
        kinds = (EffectNoteKind.FROM_GRAPH, EffectNoteKind.HIDDEN_CAUSES)
        return [given], [EffectNote(kinds[0], columns=given), EffectNote(kinds[1])]
    if adjust is None and graph is not None:
        checked_columns(schema, treatment, outcome, ())
        for name in (treatment, outcome):
            graph.check(name)
        sizes = {name: schema[name].size if name in schema else 1 << 30 for name in graph.nodes}
        sets = adjustment_sets(graph, treatment, outcome, sizes, possible)
        for one in sets:
            checked_columns(schema, treatment, outcome, one or ())
        notes = [EffectNote(EffectNoteKind.FROM_GRAPH, columns=sets[0] or ())] if len(sets) == 1 else []
        return sets, notes
    given = checked_columns(schema, treatment, outcome, () if adjust is None else adjust)
    notes = [] if given else [EffectNote(EffectNoteKind.UNADJUSTED)]
    if graph is not None:
        graph.check(treatment)
        known = [name for name in given if name in graph.nodes]
        sure = [name for name in known if name in descendants(graph, treatment)]
        if sure and not anyway:
            raise InputError(
                f'by the graph "{treatment}" changes {", ".join(sure)}: adjusting for that hides part of the effect or '
                "makes one up; leave it out (anyway=True goes on)"
            )
        maybe = [name for name in known if name in descendants(graph, treatment, possible=True)]
        if maybe:
            note = EffectNote(EffectNoteKind.DESCENDANT, columns=maybe)
            warnings.warn(display().words(note), AdjustsForDescendant, stacklevel=4)
            notes.append(note)
    return [given], notes


LEAST_ARM = 2.0  # standard deviations of noise that half of the rows must hold, for anything to be said


def refuse_hopeless(
    question: EffectQuestion, allowed: Allowance, neighbours: Neighbours, n: int, epsilon: float
) -> None:
    """Refuse a budget at which noise hides arms of half of the rows each: from public numbers, nothing charged."""
    mechanism, _ = effect_mechanism(1, not question.two_levels, allowed.epsilon, allowed.rho, neighbours)
    noise = math.sqrt(2 * noise_variance(mechanism))  # an arm is the sum of two cells
    if n / 2 < LEAST_ARM * noise:
        enough = epsilon * 2 * LEAST_ARM * noise / max(n, 1)
        raise InputError(
            f"at epsilon {epsilon:g} the noise in a count is about {noise:,.3g} rows, and of {n:,} rows one arm has at "
            f"most half: nothing could be said; ask for epsilon {enough:.2g} or more (anyway=True goes on)"
        )


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
    question, sets = asked.question, asked.used
    if method not in get_args(EffectMethod):
        raise InputError(f"method must be auto, table or regression, not {method!r}")
    if method == "regression":
        if allowed is None:
            raise InputError("a regression has no answer without privacy here: leave method out")
        if len(sets) > 1:
            raise InputError("a regression answers for one set of columns: name what to adjust for")
        refuse_regression(data, question)
        return method
    able = isinstance(data, Dataset) and not question.others and question.estimand.endswith("difference")
    if method == "table" or allowed is None or len(sets) > 1 or not able:
        return "table"
    strata = strata_cells(data.schema, question.adjust)
    size = table_size(data.schema, question, question.adjust)
    if n is None:
        return "table" if strata <= MOST_STRATA else "regression"
    mechanism, _ = effect_mechanism(
        min(size, MAX_CELLS), not question.two_levels, allowed.epsilon, allowed.rho, neighbours
    )
    noise = math.sqrt(2 * noise_variance(mechanism))
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
    columns = tables_for(data.schema, question, sets, allowed.epsilon, allowed.rho, budget.neighbours)
    each = allowed.part(SPENT / len(columns)) if len(columns) > 1 else allowed
    return [measure(data, question, one, budget, each, n) for one in columns]


def result_of(
    question: EffectQuestion,
    sets: Sequence[tuple[str, ...] | None],
    measured: Sequence[AnswersBySet],
    level: float,
    notes: Sequence[EffectNote],
    statement: PrivacyStatement,
    schema: Schema,
) -> EffectResult:
    """Return the result of released tables: an answer for every set."""
    answers: list[tuple[tuple[str, ...] | None, Answer]] = []
    for one in sets:
        if one is None:
            nothing = 1.0 if question.estimand.endswith("ratio") else 0.0
            answers.append((None, Answer(nothing, (nothing, nothing), (np.nan, np.nan), 1.0, ())))
            continue
        table = next(table for table in measured if set(one) <= set(table.columns))
        answers.append((one, answer(table.arms(one), question, level)))
    said = list(notes)
    binned = [name for name in question.adjust if isinstance(schema[name], Numeric)]
    if binned:
        said.append(EffectNote(EffectNoteKind.BINNED, columns=binned))
    first = next(found for one, found in answers if one is not None)
    possible: list[PossibleEffect] = []
    estimate, interval = first.estimate, first.interval
    said += first.notes
    if len(answers) > 1:
        possible = [
            PossibleEffect(one, found.estimate, found.interval, found.share) for one, found in answers
        ]
        estimates = sorted(found.estimate for _, found in answers)
        middle = len(estimates) // 2
        estimate = (
            estimates[middle] if len(estimates) % 2 else (estimates[middle - 1] + estimates[middle]) / 2
        )
        interval = (
            min(found.interval[0] for _, found in answers),
            max(found.interval[1] for _, found in answers),
        )
        said = [note for note in said if not note.is_a(EffectNoteKind.EVERYONE)]
        if any(found.everyone is not None for _, found in answers):
            wide = [found.everyone or found.interval for _, found in answers]
            ends = {"low": min(low for low, _ in wide), "high": max(high for _, high in wide)}
            said.append(EffectNote(EffectNoteKind.EVERYONE, **ends))
        said.insert(0, EffectNote(EffectNoteKind.SEVERAL, count=len(answers)))
        if any(one is None for one, _ in answers):
            said.append(EffectNote(EffectNoteKind.NO_EFFECT))
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
        means=first.means,
        share=min(found.share for _, found in answers),
        method="table",
        notes=tuple(said),
        privacy=statement,
        possible=possible,
        left_out=strata_left_out(schema, question.adjust, first.kept),
    )


def _result(
    question: EffectQuestion,
    found: Answer,
    level: float,
    notes: Sequence[EffectNote],
    statement: PrivacyStatement,
) -> EffectResult:
    """Return the result of a regression."""
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
        notes=(*notes, *found.notes),
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
