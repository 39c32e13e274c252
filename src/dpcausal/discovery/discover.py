"""``dc.discover``: a causal graph from data, private unless the method is ``pc``."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcausal.core.arguments import (
    REQUIRED,
    checked_count,
    checked_ledger,
    checked_level,
    checked_name,
    refuse_missing_epsilon,
    refuse_unknown,
)
from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.progress import stages
from dpcausal.core.statement import ROWS, SCHEMA, Limit, LimitKind, Public, PublicKind
from dpcausal.counts.memory import counts_of
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset
from dpcausal.discovery.consistent import SETTLED, conflict_words, consistent
from dpcausal.discovery.knowledge import Edge, Knowledge
from dpcausal.discovery.no_delta import NoDelta, no_delta_words
from dpcausal.discovery.one_level import one_level_words, without_constants
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.task import SearchOutcome, Task, mostly_numbers
from dpcausal.graphs.equivalence import orient
from dpcausal.graphs.graph import Graph
from dpcausal.privacy.accounting.filter import check_total
from dpcausal.privacy.budget import Budget

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger

# method -> module of this package with a function run(task, **options) -> Found
DRIVERS = {
    "measured": "measured",
    "pc": "pc",
    "priv-pc": "priv_pc",
    "svt-pc": "svt_pc",
    "em-pc": "em_pc",
    "curate": "curate",
    "tests": "tests",
    "moments": "moments",
}
PUBLIC = (SCHEMA, Public(PublicKind.METHOD))


def discover(
    data: Dataset | Counts,
    *,
    epsilon: float | None = REQUIRED,
    delta: float = 0.0,
    method: str = "auto",
    level: float = 0.05,
    neighbours: str | Neighbours = Neighbours.REPLACE_ONE,
    max_order: int | None = None,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    tiers: Sequence[Collection[str]] = (),
    ledger: str | Ledger | None = None,
    dataset: str | None = None,
    progress: bool = False,
    **options: Any,
) -> DiscoveryResult:
    """Learn a CPDAG over the columns of ``data``.

    **Guarantee**: (epsilon, delta)-DP in total for ``neighbours``, whatever the search asks; the method stops when the
    filter says so, leaves untested edges in place and says which. ``epsilon=None`` goes with ``method="pc"`` and is
    not private. Where a delta would make the noise much smaller, a warning says so before anything is charged
    (``no_delta.py``). Orientation is post-processing. Background knowledge: see ``knowledge.py``.
    """
    refuse_missing_epsilon(epsilon, "discover", options, "epsilon=None with method='pc'")
    level = checked_level(level)
    relation = Neighbours.parse(neighbours, labels=False)
    method = checked_name(method, "method")
    checked_ledger(ledger)
    if relation is Neighbours.FIXED_LABELS:
        raise InputError("discover holds no labels fixed: neighbours must be replace-one or add-remove")
    if max_order is not None:
        max_order = checked_count(max_order, "max_order")
    counts = counts_of(data)
    columns = tuple(counts.schema)
    if len(columns) < 2:
        raise InputError("a graph needs at least two columns in the schema")
    Graph(columns)  # refuses names that no graph format can hold, before anything is charged
    known = Knowledge.of(columns, required, forbidden, tiers)
    name, why = _choose(data, epsilon) if method == "auto" else (method, "as asked")
    run = _driver(name)
    _check_options(name, run, options)
    asking = without_constants(counts.schema, known, name)
    if (name == "pc") != (epsilon is None):
        raise InputError(
            "method='pc' is not private and goes with epsilon=None; every other method needs an epsilon"
        )
    budget, louder = None, None
    if epsilon is not None:
        if name == "measured":
            check_total(epsilon, delta)
            sizes = [column.size for column in counts.schema.values()]
            louder = no_delta_words(sizes, epsilon, delta, relation)
        if louder is not None:  # before anything is charged
            warnings.warn(louder, NoDelta, stacklevel=2)
        note = {"command": "discover", "method": name}
        budget = Budget(epsilon, delta, neighbours=relation, ledger=ledger, dataset=dataset, note=note)
    elif ledger is not None or delta:
        raise InputError("epsilon=None means no privacy: it goes with no delta and no ledger")
    rows = data if isinstance(data, Dataset) else None
    # how many questions a search asks depends on its answers: the outer stage knows nothing of it and has no total;
    # drivers open stages of their own where an amount is public
    silent = np.errstate(all="ignore")  # a warning would tell of the rows
    with silent, stages(progress) as stage, stage(f"learning a graph by {name}", None):
        found = run(Task(counts, asking, level, max_order, relation, budget, rows, stage), **options)
    skeleton = found.skeleton
    edges = skeleton.edges
    middles = skeleton.separating if found.not_colliders is None else found.not_colliders
    fixed = known.required_arrows(edges)
    graph, conflicts = consistent(
        orient(Graph(columns, undirected=edges), middles, fixed), fixed, settle=name in SETTLED
    )
    public = (
        *PUBLIC,
        *((ROWS,) if relation is Neighbours.REPLACE_ONE else ()),
        *found.public,
    )
    statement = (budget or Budget.none(relation)).statement(
        released=found.released,
        public=public,
        adaptive=found.adaptive,
        limits=(Limit(LimitKind.DRAFT_SCHEMA),) if counts.schema.draft else (),
        rows=counts.n if relation is Neighbours.REPLACE_ONE else None,
    )
    return DiscoveryResult(
        graph=graph,
        privacy=statement,
        method=name,
        why=why,
        level=level,
        asked=dict(skeleton.asked),
        untested=frozenset(skeleton.untested & edges),
        complete=skeleton.complete,
        separating=dict(skeleton.separating),
        notes=(
            *one_level_words(counts.schema),
            *found.notes,
            *([f"{louder[0].upper()}{louder[1:]}"] if louder is not None else []),
            *conflict_words(conflicts, columns, settled=name in SETTLED),
        ),
        confidence=found.confidence,
        repeats=options.get("confidence") or None if found.confidence is not None else None,
        answered=frozenset(skeleton.answered & edges),
        sizes=tuple(column.size for column in counts.schema.values()),
        rows=counts.n if relation is Neighbours.REPLACE_ONE else None,
        conflicts=conflicts,
        known=known,
    )


def _choose(data: Dataset | Counts, epsilon: float | None) -> tuple[str, str]:
    """From the schema and the budget alone."""
    if epsilon is None:
        return "pc", "chosen because no privacy was asked for"
    if not isinstance(data, Dataset):
        return "measured", "chosen because there are counts only, no rows"
    numbers = sum(name in data.values for name in data.columns)
    held = f"{numbers or 'none'} of {len(data.columns)} columns hold{'s' * (numbers < 2)} numbers"
    if mostly_numbers(data.columns, data.values):
        return "moments", f"chosen because {held}, which is most"
    return "measured", f"chosen because {held}{', not most' * (numbers > 0)}"


def _driver(name: str) -> Callable[..., SearchOutcome]:
    if name not in DRIVERS:
        known = ", ".join(["auto", *DRIVERS])
        raise InputError(f"no method is called {name!r}{did_you_mean(name, DRIVERS)}; there are {known}")
    run: Callable[..., SearchOutcome] = import_module(f"dpcausal.discovery.{DRIVERS[name]}").run
    return run


def _check_options(name: str, run: Callable[..., SearchOutcome], options: Collection[str]) -> None:
    """Refuse an option that the driver does not take, before anything is charged."""
    taken = inspect.signature(run).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values()):
        return
    shared = [
        option for option in inspect.signature(discover).parameters if option not in ("data", "options")
    ]
    refuse_unknown(name, options, [option for option in taken if option != "task"], shared)
