"""``dc.effect``: how much a treatment changes an outcome, others held fixed, with an interval that knows the noise.

1. **Asked** (``asked.py``): what is compared (``question.py``), and which columns are held fixed (``adjustment.py``).
2. **Planned** (``plan.py``): which table or regression is measured, with which noise; public numbers decide.
3. **Measured** (``measure.py``): charged, then released.
4. **Reported** (``report.py``): the estimate and its interval (``estimate.py``), and what they rest on.

**Guarantee** (epsilon, delta)-DP: all that leaves is released by the mechanisms of the third step.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from dpcausal.core.arguments import (
    NO_FORECAST,
    REQUIRED,
    checked_part,
    refuse_charge_without_epsilon,
    refuse_missing_epsilon,
    refuses_schema,
)
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import spelled
from dpcausal.core.statement import DeltaNotNeeded
from dpcausal.counts.protocol import Counts, files_of, rows_of_forecast, unit_of
from dpcausal.data.columns import Level
from dpcausal.data.dataset import Dataset, not_a_dataset
from dpcausal.data.schema import Schema
from dpcausal.effects.asked import ask, asked_of_data
from dpcausal.effects.forecast import EffectForecast, forecast_of, smaller_question, with_rare_treatment
from dpcausal.effects.levels import rows_with_cut, schema_with_cut
from dpcausal.effects.measure import measure_effect
from dpcausal.effects.plan import EffectPlan, allowed_by, plan_effect, refuse_asked_regression
from dpcausal.effects.question import EffectQuestion
from dpcausal.effects.report import noise_note, report
from dpcausal.effects.request import EffectMethod, EffectPopulation, EffectRequest, requested
from dpcausal.effects.result import EffectResult, RestsOn
from dpcausal.effects.survival import Survival, follow_up, states_schema, with_states
from dpcausal.graphs.graph import Graph
from dpcausal.privacy.accounting.composition import check_total
from dpcausal.privacy.budget import Budget, refuse_hopeless

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger


@refuses_schema
def effect(
    data: Dataset | Counts,
    treatment: str,
    outcome: str | Survival,
    *,
    adjust: Iterable[str] | None = None,
    graph: Graph | os.PathLike[str] | None = None,
    epsilon: float | None = REQUIRED,
    delta: float = 0.0,
    estimand: str = "auto",
    compare: Sequence[Level] | None = None,
    event: Level | None = None,
    method: EffectMethod = "auto",
    population: EffectPopulation = "auto",
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
        is ``event``. An event in the course of time is a ``dc.Survival``: its risk by a horizon is compared, from a
        life table, with censored rows counted as such.
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
        than a table can hold. "auto" is a table unless its interval is forecast to be more than twice as wide; declared
        sizes, the budget and the public number of rows decide.
    population : str, default "auto"
        Whose effect: "all" rows, the "exposed" (those with the second level of ``compare``: what the treatment did to
        them), or the "overlap", where rows count by how much the treatment varies among people alike in ``adjust``.
        The last two are known well where few are exposed; they need a risk and a treatment with two levels, and a
        regression is always of the overlap. "auto" is decided after the release, from released totals: all, unless its
        interval is expected to be more than twice as wide as the narrowest of the three; then the exposed by that rule.
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
        ``.population``, ``.share`` (of it, by noisy counts, that it holds for), ``.possible`` and ``.privacy``;
        ``print`` shows a few lines.

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
    request = requested(
        treatment,
        outcome,
        graph,
        adjust=adjust,
        estimand=estimand,
        compare=compare,
        event=event,
        method=method,
        population=population,
        level=level,
        anyway=anyway,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        ledger=ledger,
        dataset=dataset,
    )
    found = requested_effect(data, request)
    if request.graph is None or adjust is None:
        return found
    return replace(found, notes=(*found.notes, RestsOn("graph-checks")))


def requested_effect(data: Dataset | Counts, request: EffectRequest) -> EffectResult:
    """Return what ``effect`` returns for a request, at a charge of its own."""
    if not isinstance(data, Dataset | Counts):
        if hasattr(data, "effect"):  # what dc.discover returns, in a room above
            raise InputError(
                f"this is a result, not rows: result.effect({request.treatment!r}, {request.outcome!r}) answers from "
                "what was released, free, and dc.effect(data, ...) measures rows"
            )
        raise not_a_dataset(data)
    followed = None if request.survival is None else follow_up(data.schema, request.survival)
    made_of = None if followed is None else (data.schema, (followed.time, followed.event))
    data = with_states(data, followed) if followed else rows_with_cut(data, request.outcome, request.event)
    asked = asked_of_data(data, request, followed)
    if request.epsilon is None:
        refuse_charge_without_epsilon(request.delta, request.ledger)
        return report(
            asked, *measure_effect(data, plan_effect(data, asked, None, data.n), None, made_of=made_of)
        )
    rows = None if request.relation is Neighbours.ADD_REMOVE else data.n
    allowed = allowed_by(request.epsilon, request.delta)
    plan = plan_effect(data, asked, allowed, rows, may_drop_delta=True)
    if rows is not None:
        ahead = forecast_of(asked, rows, help_wanted=not request.anyway)
        if not request.anyway:
            refuse_hopeless(ahead, request.ledger, request.dataset)
        if ahead.noise_rules:
            asked = replace(asked, notes=(*asked.notes, noise_note(ahead)))
    budget = _budget(data, request, plan)
    unused = [DeltaNotNeeded(request.delta)] if request.delta and not plan.needs_delta else []
    return report(asked, *measure_effect(data, plan, budget, more=unused, made_of=made_of))


def _budget(data: Dataset | Counts, request: EffectRequest, plan: EffectPlan) -> Budget:
    """Return the budget for a planned effect; it includes delta only where the noise needs it."""
    one = plan.asked.question
    note = {
        "command": "effect",
        "method": plan.method,
        "question": one.key,
        "treatment": one.treatment,
        "outcome": one.outcome,
        "compare": list(one.arm_names),
        "event": one.event,
    }
    return Budget(
        request.epsilon,
        request.delta if plan.needs_delta else 0.0,
        neighbours=request.relation,
        ledger=request.ledger,
        dataset=request.dataset,
        note=note,
        rows=plan.rows,
        unit=unit_of(data),
        file=files_of(data),
    )


def forecast_effect(
    source: Schema | Dataset | Counts,
    treatment: str,
    outcome: str | Survival,
    *,
    adjust: Iterable[str] | None = None,
    graph: Graph | os.PathLike[str] | None = None,
    rows: int | None = None,
    share: float | None = None,
    epsilon: float = REQUIRED,
    delta: float = 0.0,
    estimand: str = "auto",
    compare: Sequence[Level] | None = None,
    event: Level | None = None,
    method: EffectMethod = "auto",
    population: EffectPopulation = "auto",
    level: float = 0.95,
    neighbours: Literal["replace-one", "add-remove"] | Neighbours = "replace-one",
    anyway: bool = False,
) -> EffectForecast:
    """Return how wide the interval of an effect is expected to be, before anything is charged.

    **Guarantee**: from the schema, the question, the budget and the number of rows alone; rows are not looked at.

    Parameters
    ----------
    source : Schema, Dataset or Counts
        What is declared; of data, the schema and the public number of rows.
    treatment, outcome, adjust, graph, delta, estimand, compare, event, method, level, neighbours,
    population
        As in ``effect``.
    rows : int or None, default None
        How many rows there will be; needed with a ``Schema``, and where the number of rows is protected.
    share : float or None, default None
        The share of rows that have the treatment's second level, if it has two: a public guess, above 0 and up to 0.5.
        None takes a third, and says what 5% would mean (``.rare``).
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
    request = requested(
        treatment,
        outcome,
        graph,
        adjust=adjust,
        estimand=estimand,
        compare=compare,
        event=event,
        method=method,
        population=population,
        level=level,
        anyway=anyway,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
    )
    count = rows_of_forecast(source, rows, request.relation)
    schema = source if isinstance(source, Schema) else source.schema
    has_rows = isinstance(source, Schema | Dataset)
    followed = None if request.survival is None else follow_up(schema, request.survival)
    if followed is not None:
        schema = states_schema(schema, followed)
    elif has_rows:
        schema = schema_with_cut(schema, outcome, event)
    asked = ask(schema, request, has_rows=has_rows, values=has_rows, found=followed)
    asked = replace(asked, share=checked_share(share, asked.question))
    if method == "regression":
        refuse_asked_regression(asked)
    found = with_rare_treatment(asked, forecast_of(asked, count))
    if len(asked.used) != 1 or followed is not None:
        return found
    return replace(found, test=smaller_question(asked, found))


def checked_share(share: object, question: EffectQuestion) -> float | None:
    """Return the share of rows in the second arm, checked; None for None."""
    if share is None:
        return None
    part = checked_part(share, "share", 0.5)
    if question.others:
        raise InputError(f"share is of a treatment with two levels, and {question.treatment} has more")
    return part
