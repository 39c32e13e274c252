"""``dc.discover``: a causal graph from data, private unless the method is ``pc``."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcausal.core.arguments import (
    REQUIRED,
    checked_count,
    checked_ledger,
    checked_level,
    checked_name,
    refuse_missing_epsilon,
)
from dpcausal.core.display import display
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.progress import stages
from dpcausal.core.statement import ROWS, SCHEMA, Limit, LimitKind, Public, PublicKind
from dpcausal.counts.memory import counts_of
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.discovery.facts import MethodReason, MethodReasonKind, Note, NoteKind
from dpcausal.discovery.knowledge import Edge, Knowledge, Pair, one_level, without_constants
from dpcausal.discovery.methods import method_named
from dpcausal.discovery.orientation import consistent
from dpcausal.discovery.result import DiscoveryResult, in_order
from dpcausal.discovery.task import Task
from dpcausal.graphs.equivalence import orient
from dpcausal.graphs.graph import Graph
from dpcausal.planning.choice import mostly_numbers
from dpcausal.planning.measurement import NOTABLE_GAIN, noise_without_delta
from dpcausal.planning.reach import reach
from dpcausal.privacy.accounting.filter import check_total
from dpcausal.privacy.budget import Budget

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger


class NoDelta(UserWarning):
    """A budget without delta makes the noise of measured tables much larger."""


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
    (``planning/measurement.py``). Orientation is post-processing. Background knowledge: see ``knowledge.py``.
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
    name, reason = (
        _choose(data, epsilon) if method == "auto" else (method, MethodReason(MethodReasonKind.AS_ASKED))
    )
    chosen = method_named(name)
    shared = [
        option for option in inspect.signature(discover).parameters if option not in ("data", "options")
    ]
    chosen.check_options(options, shared)
    asking = without_constants(counts.schema, known, name, chosen.tables_only)
    if (name == "pc") != (epsilon is None):
        raise InputError(
            "method='pc' is not private and goes with epsilon=None; every other method needs an epsilon"
        )
    budget, no_delta = None, None
    sizes = [column.size for column in counts.schema.values()]
    if epsilon is not None:
        if name == "measured":
            check_total(epsilon, delta)
            gain = 1.0 if delta else noise_without_delta(sizes, epsilon, relation)
            if gain >= NOTABLE_GAIN:  # before anything is charged
                no_delta = Note(NoteKind.NO_DELTA, times=gain)
                warnings.warn(display().words(no_delta), NoDelta, stacklevel=2)
        note = {"command": "discover", "method": name}
        budget = Budget(epsilon, delta, neighbours=relation, ledger=ledger, dataset=dataset, note=note)
    elif ledger is not None or delta:
        raise InputError("epsilon=None means no privacy: it goes with no delta and no ledger")
    rows = data if isinstance(data, Dataset) else None
    # how many questions a search asks depends on its answers: the outer stage knows nothing of it and has no total;
    # drivers open stages of their own where an amount is public
    silent = np.errstate(all="ignore")  # a warning would tell of the rows
    with silent, stages(progress) as stage, stage(f"learning a graph by {name}", None):
        found = chosen.run(Task(counts, asking, level, max_order, relation, budget, rows, stage), **options)
    settle = chosen.settles
    skeleton = found.skeleton
    edges = skeleton.edges
    middles = skeleton.separating if found.not_colliders is None else found.not_colliders
    fixed = known.required_arrows(edges)
    graph, conflicts = consistent(
        orient(Graph(columns, undirected=edges), middles, fixed), fixed, settle=settle
    )
    public_rows = counts.n if relation is Neighbours.REPLACE_ONE else None
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
        rows=public_rows,
    )
    more = filter(None, (no_delta, _conflict_note(conflicts, columns, settle)))
    expected_reach = None
    if name == "measured" and epsilon is not None and public_rows:
        expected_reach = reach(sizes, public_rows, epsilon, delta, relation, level)
    return DiscoveryResult(
        graph=graph,
        privacy=statement,
        method=name,
        reason=reason,
        level=level,
        asked=dict(skeleton.asked),
        untested=frozenset(skeleton.untested & edges),
        complete=skeleton.complete,
        separating=dict(skeleton.separating),
        notes=(*_one_level_note(counts.schema), *found.notes, *more),
        settled=settle,
        confidence=found.confidence,
        repeats=options.get("confidence") or None if found.confidence is not None else None,
        answered=frozenset(skeleton.answered & edges),
        rows=public_rows,
        reach=expected_reach,
        conflicts=conflicts,
        known=known,
    )


def _choose(data: Dataset | Counts, epsilon: float | None) -> tuple[str, MethodReason]:
    """From the schema and the budget alone."""
    if epsilon is None:
        return "pc", MethodReason(MethodReasonKind.NO_PRIVACY)
    if not isinstance(data, Dataset):
        return "measured", MethodReason(MethodReasonKind.COUNTS_ONLY)
    held = {"numbers": sum(name in data.values for name in data.columns), "columns": len(data.columns)}
    if mostly_numbers(data.columns, data.values):
        return "moments", MethodReason(MethodReasonKind.MOSTLY_NUMBERS, **held)
    return "measured", MethodReason(MethodReasonKind.NOT_MOSTLY_NUMBERS, **held)


def _one_level_note(schema: Schema) -> tuple[Note, ...]:
    single = one_level(schema)
    return (Note(NoteKind.ONE_LEVEL, columns=single),) if single else ()


def _conflict_note(conflicts: Collection[Pair], columns: Sequence[str], settled: bool) -> Note | None:
    if not conflicts:
        return None
    return Note(NoteKind.CONFLICTS, pairs=in_order(conflicts, columns), settled=settled)
