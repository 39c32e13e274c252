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
    checked_count,
    checked_ledger,
    checked_level,
    checked_name,
    refuse_charge_without_epsilon,
    refuse_missing_epsilon,
    refuses_schema,
)
from dpcausal.core.display import display
from dpcausal.core.errors import BeforeCharge, InputError, did_you_mean, did_you_mean_column
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.progress import stages
from dpcausal.core.spelling import spelled
from dpcausal.core.statement import NOT_EMPTY, ROWS, SCHEMA, Asked, DeltaNotNeeded, KeptForEffects
from dpcausal.counts.memory import counts_of
from dpcausal.counts.protocol import Counts, show_queries, source_limits
from dpcausal.data.dataset import Dataset
from dpcausal.discovery import curate, em_pc, moments, pc, priv_pc, svt_pc, tests
from dpcausal.discovery.fci import NO_TARGET
from dpcausal.discovery.knowledge import Edge, Knowledge, without_constants
from dpcausal.discovery.measured import method as measured
from dpcausal.discovery.release import release_of
from dpcausal.discovery.repeats import checked_repeats
from dpcausal.discovery.reserve import Reserve, checked_effects, checked_reserve
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.result_of_search import result_of_search, with_columns_within_reach
from dpcausal.discovery.search import Method, MethodByCall, MethodByNumbers, MethodReason, Task, WithoutDelta
from dpcausal.graphs.graph import Graph
from dpcausal.planning.forecast import NOTABLE_GAIN, forecast_graph, noise_without_delta, reach
from dpcausal.planning.measurement import mostly_numbers
from dpcausal.planning.measurement_plan import MeasurementPlan, PublicNumbers, plan_measurement
from dpcausal.planning.moments import moments_pay
from dpcausal.planning.plan import ExecutablePlan, Plan
from dpcausal.privacy.accounting.composition import check_total
from dpcausal.privacy.budget import Budget, refuse_hopeless, require_left

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger


METHODS: Mapping[str, Method] = {
    module.METHOD.name: module.METHOD
    for module in (measured, pc, priv_pc, svt_pc, em_pc, curate, tests, moments)
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


def checked_latent(options: Mapping[str, Any], chosen: Method) -> dict[str, Any]:
    """Return the options without a ``latent`` that is False; refuse one that can't be, before anything is charged."""
    latent = options.get("latent", False)
    if not isinstance(latent, bool):
        raise InputError(f"latent must be True or False, not {latent!r}")
    if not latent:
        return {key: value for key, value in options.items() if key != "latent"}
    if "latent" not in chosen.options:
        raise InputError(NO_LATENT.format(name=chosen.name))
    if options.get("target") is not None:
        raise InputError(NO_TARGET)
    return dict(options)


PUBLIC = (SCHEMA, Asked("method"))
MethodName = Literal[
    "auto", "measured", "pc", "priv-pc", "svt-pc", "em-pc", "curate", "tests", "moments"
]  # as in METHODS


@refuses_schema
def discover(
    data: Dataset | Counts,
    *,
    epsilon: float | None = REQUIRED,
    delta: float = 0.0,
    method: MethodName = "auto",
    level: float = 0.05,
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
    plan: Plan | str | os.PathLike[str] | None = None,
    **options: Any,
) -> DiscoveryResult:
    """Learn a causal graph (a CPDAG) over the columns of ``data``.

    Arrows stand where the data decide a direction, plain edges where they do not. A pair that could not be decided
    within the budget is no edge of the graph: it is listed as open.

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

    ``auto``: moments where most columns hold numbers and noise leaves room to measure how they are spread, else
    measured. The choice follows from the schema, the budget and the number of rows where it is public, never from
    rows. It takes the options of the method that it chooses.

    ``measured``: tables measured once, with noise, answer every question.

    - ``confidence=None``: how many times to repeat the search, each time on another sample and other noise drawn by
      what is known after the run, to say how often each edge is found again (``result.confidence``). None
      is 20 to 100, as many as are quickly done; 0 is none. It costs time and no privacy.
    - ``target=None``: the one column that the question is about: what is directly linked to it, and which way. The
      budget goes to tables that hold it, so that their noise is smaller; other pairs are not decided.

    - ``latent=False``: whether common causes may be hidden (not measured). The search is then FCI instead of PC, and
      ``result.graph`` a ``PAG``: ``a -> b`` (a causes b), ``a <-> b`` (neither causes the other: a hidden common cause
      links them), ``a o-> b`` (b does not cause a; a hidden common cause is possible) or ``a o-o b`` (nothing is
      decided). It costs no more. Tiers and forbidden arrows then say what does not cause what, and a required arrow
      that its tail is a cause.

    ``pc``: the classical algorithm on exact counts; not private.

    - ``test=None``: the test that answers, as in ``ci_test(method=...)``, or ``"moments"``. None is ``"moments"``
      where most columns hold numbers, else ``"g"``. Other options go to this test.
    - ``stable=True``: whether the answers of one order are used only after it; False is the original search, whose
      graph depends on the order of the columns.
    - ``latent=False``: as for ``measured``.

    ``priv-pc``: a noisy threshold finds pairs that may be independent, a second noisy look confirms each.

    - ``hits=None``: the largest number of pairs to look at twice; None is the number of all pairs. Fewer hits mean
      less noise, and pairs beyond them stay open.
    - ``share=0.5``: the share of the budget, between 0 and 1, that goes to the threshold.
    - ``subsample=None``: how many rows, drawn at random, the threshold sees: None for all, a number, or
      ``"optimal"``.
    - ``stable=True``: as for ``pc``.
    - ``on='values'``: whether numeric columns are compared by their values, or by their declared bins
      (``"table"``).
    - ``test='kendall'``: the statistic whose score is held against the threshold: ``"kendall"``, ``"spearman"`` (for
      numbers and ordered levels), or ``"chi2"`` and ``"g"``, which are tested on disjoint parts of the rows.
    - ``tweak=None``: how far below the second look's threshold the first one's lies, in scales of its noise; None gives
      each look a shift that is made for its own noise.

    ``svt-pc``: every question is compared with a noisy threshold; only edges that it deletes cost.

    - ``positives=None``: the largest number of deletions to pay for; None is the number of all pairs. Fewer mean less
      noise, and edges beyond them stay untested.
    - ``stable=True``: as for ``pc``.
    - ``on='values'``: as for ``priv-pc``.
    - ``test='kendall'``: as for ``priv-pc``.

    ``em-pc``: a random choice that favours weak dependences decides which edges are deleted.

    - ``orders=None``: for how many orders (sizes of the conditioning set) budget is set aside; None is all that there
      can be. With fewer, later ones use what earlier ones left.

    ``curate``: every question gets a noisy score; its cost is planned again as conditioning sets grow.

    - ``margins=(0.1, 0.1)``: how far below and above the threshold a coin decides instead of the score, each from 0 to
      10.
    - ``margins_of='noise'``: what the margins are shares of: the scale of the noise, or the threshold
      (``"threshold"``), as the paper prints them: T(1 - beta) and T(1 + beta).
    - ``stable=True``: as for ``pc``.

    ``tests``: every question is a private test of its own.

    - ``test='auto'``: the test, as in ``ci_test(method=...)``. Other options go to this test. A median with a delta of
      its own (``median="laplace"`` or ``"gaussian"`` of chi2 and g) takes half of ``delta``.
    - ``test_epsilon=None``: what one test costs; None allows about five questions a pair.
    - ``stable=True``: as for ``pc``.

    ``moments``: for numbers: sums of products, measured once with noise, answer every question.

    - ``confidence=None``: as for ``measured``.
    - ``harmonics=None``: how many pairs of cosine and sine stand for each numeric column, 0 to 8; 0 tests partial
      correlations. None is 0 to 3, as many as the noise leaves room for.
    - ``reach=None``: the length that rows of features are shrunk to; None chooses it privately, with a twentieth of
      the budget.
    - ``stable=True``: as for ``pc``.
    - ``latent=False``: as for ``measured``.

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
    level = checked_level(level)
    relation = Neighbours.parse(neighbours, labels=False)
    checked_name(method, "method")
    checked_ledger(ledger)
    if relation is Neighbours.FIXED_LABELS:
        raise InputError("discover holds no labels fixed: neighbours must be replace-one or add-remove")
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
    kept = checked_reserve(reserve, epsilon, named)
    known = Knowledge.of(columns, required, forbidden, tiers)
    name, reason = (
        _choose(data, epsilon, delta, relation, options.get("target"))
        if method == "auto"
        else (method, MethodByCall("as-asked"))
    )
    chosen = method_named(name)
    shared = [
        option for option in inspect.signature(discover).parameters if option not in ("data", "options")
    ]
    options = checked_latent(options, chosen)
    chosen.check_options(options, shared)
    target = options.get("target")
    if target is not None:
        checked_target(target, columns)  # before anything is charged
    if "confidence" in chosen.options:
        checked_repeats(options.get("confidence"))
    asking = without_constants(counts.schema, known, name, chosen.tables_only)
    if (name == "pc") != (epsilon is None):
        raise InputError(
            spelled(
                "--method pc is not private and goes with no --epsilon; every other method needs one",
                "method='pc' is not private and goes with epsilon=None; every other method needs an epsilon",
            )
        )
    if epsilon is None:
        refuse_charge_without_epsilon(delta, ledger)
    budget, no_delta, measurement = None, None, None
    public_rows = counts.n if relation is Neighbours.REPLACE_ONE else None
    if epsilon is not None:
        require_left(ledger, dataset, epsilon)  # before any advice on how to spend it
        public = PublicNumbers.of_schema(counts.schema, public_rows, epsilon, delta, relation, target, kept)
        if not anyway:
            refuse_hopeless(forecast_graph(counts.schema, public, level, name), ledger, dataset)
        if name == "measured":
            measurement = _planned(executed, public)
            gain = noise_without_delta(public)
            if gain >= NOTABLE_GAIN:  # before anything is charged
                no_delta = WithoutDelta(gain)
                warnings.warn(display().words(no_delta), NoDelta, stacklevel=2)
        note: dict[str, Any] = {"command": "discover", "method": name, "columns": list(columns)}
        note |= {"latent": "latent" in options} if "latent" in chosen.options else {}
        note |= {} if target is None else {"target": target}
        note |= {"effects": [list(pair) for pair in named]} if named else {}
        # by public numbers: Laplace noise needs no delta and charges none
        unused = measurement is not None and not measurement.uses_delta and not kept and delta > 0
        budget = Budget(
            epsilon,
            0.0 if unused else delta,
            neighbours=relation,
            reserve=chosen.reserved(delta, options),
            later=kept,
            ledger=ledger,
            dataset=dataset,
            note=note,
            rows=public_rows,
            file=data.file if isinstance(data, Dataset) else None,
        )
    rows = data if isinstance(data, Dataset) else None
    # how many questions a search asks depends on its answers: the outer stage knows nothing of it and has no total;
    # drivers open stages of their own where an amount is public
    silent = np.errstate(all="ignore")  # a warning would tell of the rows
    charging = budget or Budget.none(relation)
    with charging.telling(), silent, stages(progress) as stage, stage(f"learning a graph by {name}", None):
        show_queries(counts, stage, relation)
        task = Task(counts, asking, level, max_order, relation, budget, rows, stage, measurement)
        found = chosen.run(task, **options)
    assumed = (
        *PUBLIC,
        *counts.schema.assumes,
        counts.schema.missing_as(),
        ROWS if relation is Neighbours.REPLACE_ONE else NOT_EMPTY,
        *found.public,
        *([KeptForEffects(kept)] if kept else []),
        *([DeltaNotNeeded(delta)] if budget and budget.total.delta < delta else []),
    )
    statement = charging.statement(
        released=found.released,
        public=assumed,
        adaptive=found.adaptive,
        limits=source_limits(counts),
        rows=public_rows,
    )
    expected = None if measurement is None or public_rows is None else reach(measurement, level)
    result = result_of_search(
        found,
        chosen,
        reason,
        known,
        asking,
        counts.schema,
        level,
        statement,
        rows=public_rows,
        no_delta=no_delta,
        expected=expected,
    )
    if budget is None:
        return result
    release = release_of(result, found, counts.schema, delta, max_order, options)
    return replace(
        with_columns_within_reach(result),
        release=release,
        reserve=Reserve(kept, budget, data, statement, named) if kept else None,
    )


def checked_target(name: object, columns: Sequence[str]) -> str:
    """Return the name of a column, or an ``InputError``."""
    if not isinstance(name, str) or name not in columns:
        hint = did_you_mean_column(name, columns) if isinstance(name, str) else ""
        raise InputError(f"target names {name!r}, which is not a column{hint}")
    return name


def _executed(plan: Plan | str | os.PathLike[str] | None) -> ExecutablePlan | None:
    """Return the plan that is to be executed, from a file or as ``dc.plan`` made it."""
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
    """Return the plan's own terms in place of those that were not given; others must be the same."""
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
    """Return what is measured: as planned before, for the rows there are now, or by these public numbers."""
    if executed is None:
        return plan_measurement(public)
    rows = (
        public.rows or executed.measurement.public.rows
    )  # protected ones: as guessed, until they are released
    return replace(executed.measurement, public=replace(public, rows=rows))


def _choose(
    data: Dataset | Counts,
    epsilon: float | None,
    delta: float,
    neighbours: Neighbours,
    target: object = None,
) -> tuple[str, MethodReason]:
    """From the schema, the budget, the question and the number of rows where it is public."""
    if epsilon is None:
        return "pc", MethodByCall("no-privacy")
    if target is not None:
        return "measured", MethodByCall("one-target")
    numbers = moments.numbers_of(data)
    if numbers is None:
        return "measured", MethodByCall("counts-only")
    columns = tuple(data.schema)
    held = sum(name in numbers for name in columns), len(columns)
    if not mostly_numbers(columns, numbers):
        return "measured", MethodByNumbers("not-mostly-numbers", *held)
    rows = data.n if neighbours is Neighbours.REPLACE_ONE else None
    held_by = [name for name in columns if name in numbers]
    if not moments_pay(columns, held_by, rows, epsilon, delta, neighbours):
        return "measured", MethodByNumbers("numbers-in-noise", *held)
    return "moments", MethodByNumbers("mostly-numbers", *held)
