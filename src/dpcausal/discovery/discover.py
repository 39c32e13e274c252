"""``dc.discover``: a causal graph from data, private unless the method is ``pc``.

What a search found becomes a result in ``result_of_search.py``; what it released is kept in ``release.py``.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dpcausal.core.arguments import (
    REQUIRED,
    checked_column,
    checked_count,
    checked_ledger,
    checked_level,
    checked_name,
    described_options,
    refuse_charge_without_epsilon,
    refuse_missing_epsilon,
    refuses_schema,
)
from dpcausal.core.display import display
from dpcausal.core.errors import BeforeCharge, InputError, did_you_mean
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.progress import stages
from dpcausal.core.spelling import spelled, worded
from dpcausal.core.statement import (
    NOT_EMPTY,
    SCHEMA,
    Asked,
    DeltaNotNeeded,
    KeptForEffects,
    NotPrivate,
    PrivacyStatement,
    Public,
    RoundOfTwo,
)
from dpcausal.counts.memory import counts_of
from dpcausal.counts.protocol import Counts, attach_progress, files_of, number_known, source_limits, unit_of
from dpcausal.data.codes import CodeTable
from dpcausal.data.dataset import Dataset
from dpcausal.discovery import curate, em_pc, moments, pc, priv_pc, svt_pc, tests
from dpcausal.discovery.codes import method as codes
from dpcausal.discovery.effect_after import Reserve, checked_effects, checked_reserve
from dpcausal.discovery.evidence import checked_repeats
from dpcausal.discovery.fci import checked_latent
from dpcausal.discovery.knowledge import Edge, Knowledge, without_constants
from dpcausal.discovery.measured import method as measured
from dpcausal.discovery.release import release_of
from dpcausal.discovery.result import (
    DIRECTION_LEVEL,
    DiscoveryResult,
    Reusable,
    Terms,
    checked_direction_level,
)
from dpcausal.discovery.result_of_search import result_of_search, without_delta
from dpcausal.discovery.search import Method, MethodByCall, MethodByNumbers, MethodReason, Task
from dpcausal.graphs.graph import Graph
from dpcausal.planning.forecast import forecast_graph
from dpcausal.planning.measurement_plan import (
    MeasurementPlan,
    PublicNumbers,
    mostly_numbers,
    plan_measurement,
)
from dpcausal.planning.plan import ExecutablePlan, Plan
from dpcausal.planning.power import moments_pay
from dpcausal.privacy.accounting.composition import Filter, PartOfTotal, check_total
from dpcausal.privacy.budget import Budget, refuse_hopeless, require_left

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger


METHODS: Mapping[str, Method] = {
    module.METHOD.name: module.METHOD
    for module in (measured, pc, priv_pc, svt_pc, em_pc, curate, tests, moments, codes)
}


def method_named(name: str) -> Method:
    """Return the method of that name.

    Raises
    ------
    InputError
        If there is none; the message lists those there are.
    """
    if name not in METHODS:
        known = ", ".join(["auto", *METHODS])
        raise InputError(f"no method is called {name!r}{did_you_mean(name, METHODS)}; there are {known}")
    return METHODS[name]


class NoDelta(BeforeCharge):
    """A budget without delta makes the noise of measured tables much larger."""


NO_LATENT = (
    "latent goes with measured, moments and pc: the further questions that hidden causes raise are free there, and "
    "{name} would have to pay for each"
)


def _checked_options(options: Mapping[str, Any], chosen: Method, columns: Sequence[str]) -> dict[str, Any]:
    """Return the options of a method, checked; ``latent=False`` is left out."""
    if not checked_latent(options.get("latent", False), options.get("target")):
        options = {key: value for key, value in options.items() if key != "latent"}
    elif "latent" not in chosen.options:
        raise InputError(NO_LATENT.format(name=chosen.name))
    shared = [name for name in inspect.signature(discover).parameters if name not in ("data", "options")]
    chosen.check_options(options, shared)
    if options.get("target") is not None:
        checked_column(options["target"], columns, "target")
    if "confidence" in chosen.options:
        checked_repeats(options.get("confidence"))
    return dict(options)


MethodName = Literal[
    "auto", "measured", "pc", "priv-pc", "svt-pc", "em-pc", "curate", "tests", "moments", "codes"
]  # as in METHODS


@refuses_schema
def discover(
    data: Dataset | Counts,
    *,
    epsilon: float | None = REQUIRED,
    delta: float = 0.0,
    method: MethodName = "auto",
    level: float = 0.05,
    direction_level: float = DIRECTION_LEVEL,
    neighbours: Literal["replace-one", "add-remove"] | Neighbours = "replace-one",
    max_order: int | None = None,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    tiers: Sequence[Collection[str]] = (),
    ledger: str | Ledger | None = None,
    dataset: str | None = None,
    progress: bool = False,
    anyway: bool = False,
    effect: Sequence[str] | Sequence[Sequence[str]] = (),
    reserve: float | None = None,
    plan: Plan | ExecutablePlan | str | os.PathLike[str] | None = None,
    **options: Any,
) -> DiscoveryResult:
    """Learn a causal graph over the columns of ``data``.

    Edges have an arrow where a direction is likely enough, and are plain where none is. A pair that could not be
    decided within the budget is no edge of the graph: it is listed as open.

    **Guarantee**: (epsilon, delta)-DP in total for ``neighbours``, whatever the search asks: every charge comes before
    its noise, and the method stops when the filter on the total refuses the next one. Orientation is post-processing.
    ``epsilon=None`` goes with ``method="pc"`` alone and is not private.

    Parameters
    ----------
    data : Dataset or Counts
        The rows, as ``dc.read("patients.csv", dc.Schema.from_toml("schema.toml"))`` returns them, or a counting
        backend.
    epsilon : float or None
        What the discovery may cost in total; smaller is safer. There is no default. None means no privacy.
    delta : float, default 0.0
        The probability with which the guarantee of ``epsilon`` may fail; well below 1/n. Above 0 it allows Gaussian
        noise, which is often much smaller: where that is so, a ``NoDelta`` warning says it before anything is charged.
        Where ``measured`` takes one joint table with Laplace noise, which public numbers decide, no delta is charged.
    method : str, default "auto"
        How the graph is learned; see Notes for all of them and for their options.
    level : float, default 0.05
        The size of every single test: the probability of calling two independent columns dependent.
    direction_level : float, default 0.8
        The chance of a direction from which on an arrow is drawn, where the method has one (``result.direction``).
    neighbours : str or Neighbours, default "replace-one"
        Which two data sets must be hard to tell apart: ``"replace-one"`` (one row differs; the number of rows is
        public) or ``"add-remove"`` (one row more or less; the number of rows is protected).
    max_order : int or None, default None
        The largest number of columns to condition on; None is no limit.
    required : iterable of pairs, default ()
        Edges known to be there. A tuple or list ``("a", "b")`` is the arrow a -> b, a set ``{"a", "b"}`` an edge of
        unknown direction.
    forbidden : iterable of pairs, default ()
        Edges known not to be there. A set ``{"a", "b"}`` forbids the edge; a tuple ``("a", "b")`` forbids only the
        direction a -> b, so that an edge that is found there is b -> a. Both directions together forbid the edge.
    tiers : sequence of collections of str, default ()
        Columns in order of time, earliest first. No arrow points to an earlier tier, and nothing later than both x and
        y is used to separate them. Columns in no tier are free. All this background knowledge is public: it is never
        tested and never charged for, and a contradiction in it is an error before anything is charged.
    ledger : str, Ledger or None, default None
        A ledger or its address (``sqlite:///file.db``, ``postgresql://...``) to which the whole (epsilon, delta) is
        charged before the first noise is drawn (of delta, 0 where the method needs none).
    dataset : str or None, default None
        The name of the data set in the ledger; needed with ``ledger``, refused without.
    progress : bool, default False
        Show progress bars on standard error. Only public amounts drive them.
    anyway : bool, default False
        Whether to go on with a design that can show nothing. Otherwise ``measured`` and ``moments`` refuse, uncharged,
        where a strong dependence (w = .5) would be found in under 20% of cases at best; the message says what would
        help. The schema, the public number of rows and the budget decide; under add-remove, where rows are protected,
        nothing is refused.
    effect : pair of str, or sequence of pairs, default ()
        The treatment and the outcome whose effect you will ask for once the graph is known. A share of the budget is
        kept for it, and ``result.effect`` then measures a table with noise of its own; of several, each has an equal
        part of the share. Effects that are not named beforehand are computed from the tables that chose the graph,
        where there are some; an interval can then be too short, and the answer says so.
    reserve : float or None, default None
        The share of the budget, from 0.01 to 0.99, that the search leaves for effects; the total covers both. None is
        0.3 where ``effect`` names one, and else none; 0 is none. With a share the result refers to the rows.
    plan : Plan, path or None, default None
        What ``dc.plan`` returned, or the file that it saved: exactly that is measured, by ``measured``. The budget, the
        level, the neighbours and the target are the plan's; another schema is refused.
    **options
        Options of the method, listed under Notes.

    Returns
    -------
    DiscoveryResult
        The edges found (``.graph``), pairs that could not be decided (``.open``), what was spent (``.privacy``) and
        more; ``.report("report.html")`` writes it all on one page.

    Raises
    ------
    InputError
        If an argument can't be used as given; nothing was charged.
    BudgetError
        If the ledger, or the total itself, does not allow even the first charge; nothing was released.
    LedgerError
        If the ledger can't be opened, read or trusted.

    Notes
    -----
    The methods, each with its options (name, default, meaning). Options are public: choose them without looking at
    the rows.

    ``auto``: codes where ``dc.read_codes`` made the data, moments where most columns hold numbers and noise leaves room
    to measure how they are spread, else measured. The choice follows from the schema, the budget, how the rows were
    read and their number where it is public, never from rows. It takes the options of the method that it chooses.

    {methods}

    With ``latent=True`` the search is FCI instead of PC, and ``result.graph`` a ``PAG``: ``a -> b`` (a causes b),
    ``a <-> b`` (neither causes the other; they may share a cause that was not measured), ``a o-> b`` (b does not cause
    a) or ``a o-o b`` (nothing is decided); ``result.marks`` has the chances of marks. It costs no more. Tiers and
    forbidden arrows then say what does not cause what, and a required arrow that its tail is a cause. With a ``target``
    the budget goes to tables that hold it, so that their noise is smaller; other pairs are not decided.

    Examples
    --------
    Of your own file, with what you know of the order of time, and counted in a ledger:

    >>> import dpcausal as dc
    >>> data = dc.read("patients.csv", dc.Schema.from_toml("schema.toml"))  # doctest: +SKIP
    >>> count = {"ledger": "sqlite:///budget.db", "dataset": "cohort"}
    >>> time = [["age", "sex"], ["smoke"], ["bronc"]]
    >>> result = dc.discover(data, epsilon=0.5, delta=1e-6, tiers=time, **count)  # doctest: +SKIP
    >>> result.report("report.html")  # doctest: +SKIP

    Of a network whose graph is known:

    >>> data = dc.networks.load("asia").sample(50_000, seed=1)
    >>> result = dc.discover(
    ...     data, epsilon=2.0, delta=1e-6, level=0.01, tiers=[["asia", "smoke"]], forbidden=[{"asia", "smoke"}]
    ... )
    >>> frozenset({"smoke", "bronc"}) in result.graph.skeleton, result.method, result.privacy.epsilon <= 2.0
    (True, 'measured', True)

    An option of a method goes beside the rest:

    >>> result = dc.discover(data, epsilon=2.0, delta=1e-6, method="priv-pc", hits=20, max_order=1)
    >>> result.privacy.private
    True
    """
    executed = _executed(plan)
    if executed is not None:
        terms = _terms_of(executed, epsilon, delta, method, level, neighbours, reserve, effect, options)
        epsilon, delta, method, level, neighbours, options = terms
    classical = spelled("--method pc", "epsilon=None with method='pc'")
    refuse_missing_epsilon(epsilon, "discover", options, classical)
    if epsilon is not None:
        check_total(epsilon, delta)
    level, direction_level = checked_level(level), checked_direction_level(direction_level)
    relation = Neighbours.parse(neighbours, labels=False)
    checked_name(method, "method")
    checked_ledger(ledger)
    if max_order is not None:
        max_order = checked_count(max_order, "max_order")
    counts = counts_of(data)
    if executed is not None:
        executed.check_fits(counts.schema)
    columns = tuple(counts.schema)
    if len(columns) < 2:
        raise InputError("a graph needs at least two columns in the schema")
    Graph(columns)  # refuses names that no graph format can hold, before anything is charged
    named = checked_effects(effect, counts.schema)
    share = checked_reserve(reserve, epsilon, named)
    part = None if executed is None else executed.measurement.public.part
    rest_of, noted = (None, {}) if executed is None else (executed.rest_of, executed.noted)
    known = Knowledge.of(columns, required, forbidden, tiers)
    chosen, reason = _chosen(method, data, epsilon, delta, relation, options.get("target"))
    options = _checked_options(options, chosen, columns)
    asking = without_constants(counts.schema, known, chosen.name, chosen.tables_only)
    _refuse_mixed_privacy(chosen, epsilon, delta, ledger)
    public_rows = counts.n if relation is Neighbours.REPLACE_ONE else None
    target = options.get("target")
    budget, no_delta, measurement = None, None, None
    if epsilon is not None:
        if rest_of is None:
            require_left(ledger, dataset, epsilon)  # before any advice on how to spend it
        public = PublicNumbers.of_schema(counts.schema, public_rows, epsilon, delta, relation, target, share)
        if not anyway:
            refuse_hopeless(forecast_graph(public, level, chosen.name), ledger, dataset)
        if chosen is measured.METHOD:
            measurement, no_delta = _planned(executed, public), without_delta(public)
        if no_delta is not None:  # the caller is two frames up, behind ``refuses_schema``
            warnings.warn(display().words(no_delta), NoDelta, stacklevel=3)
        # Laplace noise needs no delta; an effect that a share is kept for may
        pure = measurement is not None and not measurement.gaussian and not share
        budget = Budget(
            epsilon,
            0.0 if pure else delta,
            neighbours=relation,
            reserve=chosen.reserved(delta, options),
            later=share,
            part=part,
            rest_of=rest_of,
            ledger=ledger,
            dataset=dataset,
            note={**_ledger_note(chosen, columns, options, named), **noted},
            rows=public_rows,
            unit=unit_of(data),
            file=files_of(data),
        )
    rows = data if isinstance(data, Dataset) else None
    # how many questions a search asks depends on its answers: the outer stage knows nothing of it and has no total;
    # drivers open stages of their own where an amount is public
    silent = np.errstate(all="ignore")  # a warning would tell of the rows
    charging = budget or Budget.none(relation, files_of(data), unit_of(data))
    running = f"learning a graph by {chosen.name}"
    with charging.telling(), silent, stages(progress) as stage, stage(running, None):
        attach_progress(counts, stage, relation)
        task = Task(
            counts, asking, level, max_order, relation, budget, rows, stage, measurement,
            searched=executed is None or executed.searched,
        )  # fmt: skip
        found = chosen.run(task, **options)
    total = None if budget is None else budget.total
    terms_of_budget = _public_terms(delta, share, part, total, in_ledger=ledger is not None)
    statement = charging.statement(
        released=found.released,
        public=(*_public_data(counts, relation), *found.public, *terms_of_budget),
        adaptive=found.adaptive,
        limits=source_limits(counts),
        rows=public_rows,
    )
    if found.printed:
        statement = PrivacyStatement.none(
            released=found.released, neighbours=relation, why=NotPrivate.PRINTED, unit=statement.unit
        )
    asked = Terms(
        method=chosen.name,
        reason=reason,
        level=level,
        direction_level=direction_level,
        known=known,
        rows=public_rows,
    )
    reuse = Reusable()
    if budget is not None:
        reuse = Reusable(
            reserve=Reserve(share, budget, data, statement, named) if share else None,
            release=release_of(found, asked, statement, counts.schema, delta, max_order, options),
        )
    return result_of_search(
        found, chosen, asked, asking, counts.schema, statement, reuse, plan=measurement, no_delta=no_delta
    )


_METHOD_NOTES = {
    method.name: (
        method.description,
        {name: (default, method.option_lines[name]) for name, default in method.options.items()},
    )
    for method in METHODS.values()
}
discover.__doc__ = (discover.__doc__ or "").replace("    {methods}", described_options(_METHOD_NOTES))


def _refuse_mixed_privacy(
    chosen: Method, epsilon: float | None, delta: float, ledger: str | Ledger | None
) -> None:
    """Refuse an epsilon for the method without privacy, and other methods, a delta or a ledger without an epsilon."""
    if chosen.private == (epsilon is None):
        raise InputError(
            worded(
                "--method pc is not private and goes with no --epsilon; every other method needs one",
                "method='pc' is not private and goes with epsilon=None; every other method needs an epsilon",
                "the method pc is not private: a desk does not run it",
            )
        )
    if epsilon is None:
        refuse_charge_without_epsilon(delta, ledger)


def _public_data(counts: Counts, relation: Neighbours) -> tuple[Public, ...]:
    """Return what every discovery takes to be public: the schema, and the number of rows or that there are some."""
    schema = counts.schema
    number = number_known(counts) if relation is Neighbours.REPLACE_ONE else NOT_EMPTY
    return SCHEMA, Asked("method"), *schema.assumes, schema.missing_as(), number


def _public_terms(
    delta: float, share: float, part: PartOfTotal | None, total: Filter | None, *, in_ledger: bool
) -> tuple[Public, ...]:
    """Return how the total is divided: a share kept for effects, one of two rounds, a delta that is not needed."""
    return (
        *([KeptForEffects(share)] if share else ()),
        *([RoundOfTwo(*part, in_ledger=in_ledger)] if part else ()),
        *([DeltaNotNeeded(delta)] if total is not None and total.delta < delta else ()),
    )


def _ledger_note(
    chosen: Method, columns: Sequence[str], options: Mapping[str, Any], named: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Return the entries about a discovery that its ledger entry holds: method, columns, options, effects."""
    note: dict[str, Any] = {"command": "discover", "method": chosen.name, "columns": list(columns)}
    if "latent" in chosen.options:
        note["latent"] = "latent" in options
    if options.get("target") is not None:
        note["target"] = options["target"]
    if named:
        note["effects"] = [list(pair) for pair in named]
    return note


def _executed(plan: Plan | ExecutablePlan | str | os.PathLike[str] | None) -> ExecutablePlan | None:
    """Return a plan given as an object or file as the plan to be executed; None for None."""
    if plan is None or isinstance(plan, ExecutablePlan):
        return plan
    if isinstance(plan, Plan):
        return plan.executable
    if not isinstance(plan, str | os.PathLike):
        raise InputError(f"plan must be what dc.plan returned, or the file that it saved, not {plan!r}")
    return ExecutablePlan.load(plan)


def _terms_of(
    executed: ExecutablePlan,
    epsilon: Any,
    delta: Any,
    method: Any,
    level: Any,
    neighbours: Any,
    reserve: Any,
    effect: Any,
    options: Mapping[str, Any],
) -> tuple[Any, ...]:
    """Return the terms of a plan (budget, level, ...); refuse arguments that contradict them."""
    public = executed.measurement.public
    target = None if public.target is None else list(executed.schema)[public.target]
    for word, asked, planned, default in (
        ("epsilon", epsilon, public.epsilon, REQUIRED),
        ("delta", delta, public.delta, 0.0),
        ("method", method, "measured", "auto"),
        ("level", level, executed.level, 0.05),
        ("neighbours", str(neighbours), str(public.neighbours), "replace-one"),
        ("target", options.get("target"), target, None),
    ):
        if asked not in (default, planned):
            raise InputError(f"the plan has {word} {planned}, not {asked}: leave it out, or plan again")
    if reserve or effect:
        raise InputError("a plan spends the whole budget on the graph: leave effect and reserve out")
    options = {**options, **({} if target is None else {"target": target})}
    return public.epsilon, public.delta, "measured", executed.level, public.neighbours, options


def _planned(executed: ExecutablePlan | None, public: PublicNumbers) -> MeasurementPlan:
    """Return the measurement plan: the one given, fitted to the rows, or a new one from public numbers."""
    if executed is None:
        return plan_measurement(public)
    rows = public.rows or executed.measurement.public.rows  # protected: as guessed, until they are released
    part = executed.measurement.public.part
    return replace(executed.measurement, public=replace(public, rows=rows, part=part))


def _chosen(
    method: str,
    data: Dataset | Counts,
    epsilon: float | None,
    delta: float,
    neighbours: Neighbours,
    target: object,
) -> tuple[Method, MethodReason]:
    """Return the method and why: the one named, or for ``auto`` one by schema, budget, question and public rows."""
    if method != "auto":
        return method_named(method), MethodByCall("as-asked")
    if epsilon is None:
        return pc.METHOD, MethodByCall("no-privacy")
    if target is not None:
        return measured.METHOD, MethodByCall("one-target")
    if isinstance(data, CodeTable):
        return codes.METHOD, MethodByCall("read-codes")
    numbers = moments.numbers_of(data)
    if numbers is None:
        return measured.METHOD, MethodByCall("counts-only")
    columns = tuple(data.schema)
    numeric = [name for name in columns if name in numbers]
    held = len(numeric), len(columns)
    if not mostly_numbers(columns, numbers):
        return measured.METHOD, MethodByNumbers("not-mostly-numbers", *held)
    rows = data.n if neighbours is Neighbours.REPLACE_ONE else None
    if not moments_pay(columns, numeric, rows, epsilon, delta, neighbours):
        return measured.METHOD, MethodByNumbers("numbers-in-noise", *held)
    return moments.METHOD, MethodByNumbers("mostly-numbers", *held)
