"""From what a search found to the result that is shown: three states, arrows, and where answers contradict each other.

**Contradictions.** Tests on finite or noisy data can imply colliders that no DAG has together. ``orient`` then leaves
edges plain or gives arrows that no member of any class has; such a graph is no CPDAG, whatever it looks like. Methods
that settle take the nearest DAG instead (``graphs/equivalence.py``: all arrows kept, fewest new colliders) and show its
class; methods of papers are left as they are and only say so.

**Guarantee.** Post-processing of the skeleton and its separating sets: no row enters.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from dpcausal.core.statement import PrivacyStatement
from dpcausal.data.columns import Numeric
from dpcausal.data.missing_words import reads_as_missing
from dpcausal.data.schema import Schema
from dpcausal.discovery.effect_after import values_for_effects
from dpcausal.discovery.knowledge import Knowledge, Pair, one_level
from dpcausal.discovery.result import HINT, DiscoveryResult, Verdict, in_order
from dpcausal.discovery.search import (
    Conflicts,
    Method,
    MethodReason,
    Note,
    OneLevel,
    SearchOutcome,
    SharedMissing,
)
from dpcausal.graphs.equivalence import consistent, orient
from dpcausal.graphs.graph import Graph
from dpcausal.graphs.hidden import orient_pag
from dpcausal.graphs.pag import PAG
from dpcausal.planning.forecast import Reach, columns_within_reach


def result_of_search(
    found: SearchOutcome,
    chosen: Method,
    reason: MethodReason,
    known: Knowledge,
    asking: Knowledge,
    schema: Schema,
    level: float,
    statement: PrivacyStatement,
    *,
    rows: int | None,
    no_delta: Note | None,
    expected: Reach | None,
) -> DiscoveryResult:
    """Return what a search found as a result: its three states and its arrows. Post-processing of ``found``.

    ``known`` is what was declared, and ``asking`` that with what follows from the schema. ``rows`` is None where their
    number is protected; ``no_delta`` is a remark on the noise, and ``expected`` what the plan says can be found.
    """
    columns, skeleton = tuple(schema), found.skeleton
    settle = chosen.settles and not found.latent
    if found.about is not None:
        others = (
            frozenset(frozenset(pair) for pair in combinations(columns, 2)) - found.about - known.required
        )
        asking = replace(asking, forbidden=asking.forbidden | others)
    undecided = (
        (skeleton.open(asking) if found.open is None else found.open) - asking.required - asking.forbidden
    )
    graph, conflicts = (
        _marks(found, asking, undecided) if found.latent else _arrows(found, asking, undecided, settle=settle)
    )
    on_hints = _on_hints(found, asking, undecided, graph, settle=settle)
    given = skeleton.given_up_to if found.given_up_to is None else found.given_up_to
    torn = _conflict_note(conflicts, known, columns, settle, found.latent)
    more = filter(None, (no_delta, _shared_missing(schema, graph), torn))
    return DiscoveryResult(
        graph=graph,
        privacy=statement,
        method=chosen.name,
        reason=reason,
        level=level,
        asked=dict(skeleton.asked),
        held=frozenset(skeleton.held),
        open=undecided,
        given_up_to={pair: k for pair, k in given.items() if pair in graph.skeleton - known.required},
        complete=skeleton.complete,
        separating={pair: by for pair, by in skeleton.separating.items() if pair not in undecided},
        notes=(*_one_level_note(schema), *found.notes, *more),
        settled=settle,
        confidence=_of_edges(found.confidence, graph),
        repeats=found.repeats,
        rows=rows,
        reach=expected,
        about=found.about,
        conflicts=conflicts,
        on_hints=on_hints,
        known=known,
        tables=values_for_effects(found.values, schema),
        labels=schema.labels,
        evidence={pair: one for pair, one in found.evidence.items() if pair not in asking.forbidden},
    )


def with_columns_within_reach(result: DiscoveryResult) -> DiscoveryResult:
    """Return the result with how many columns a plan could decide on, where hardly anything was decided."""
    expected = result.reach
    if (
        expected is None
        or expected.plan is None
        or result.verdict is Verdict.DECIDED
        or result.about is not None
    ):
        return result
    return replace(result, reach=replace(expected, columns=columns_within_reach(expected.plan, result.level)))


def _arrows(
    found: SearchOutcome, known: Knowledge, undecided: frozenset[Pair], *, settle: bool
) -> tuple[Graph, frozenset[Pair]]:
    """The edges found, oriented, and where answers contradict each other.

    Open pairs count as possibly adjacent. So do pairs that were left out beforehand, for no set was asked to separate
    them: whether arrows meet between them is not known.
    """
    skeleton = found.skeleton
    edges = skeleton.edges - undecided
    middles = skeleton.separating if found.not_colliders is None else found.not_colliders
    possible = undecided | (known.forbidden - frozenset(middles))
    fixed = known.required_arrows(edges)
    graph = orient(Graph(skeleton.columns, undirected=edges), middles, fixed, possible)
    return consistent(graph, fixed, settle=settle, possible=possible)


def _marks(found: SearchOutcome, known: Knowledge, undecided: frozenset[Pair]) -> tuple[PAG, frozenset[Pair]]:
    """The edges found with a mark at each end, and where answers contradict each other; open pairs as in ``_arrows``.

    A declared order says that the later column does not cause the earlier one, and no more: an older cause of both may
    be hidden. A required arrow says that its tail is a cause.
    """
    skeleton = found.skeleton
    edges = skeleton.edges - undecided
    middles = skeleton.separating if found.not_colliders is None else found.not_colliders
    return orient_pag(
        Graph(skeleton.columns, undirected=edges),
        {pair: given for pair, given in middles.items() if pair not in undecided},
        arrows=[arrow for arrow in known.causes if frozenset(arrow) in edges],
        heads=known.arrows,
        possible=undecided | (known.forbidden - frozenset(middles)),
    )


def _on_hints(
    found: SearchOutcome, known: Knowledge, undecided: frozenset[Pair], graph: Graph, *, settle: bool
) -> frozenset[Pair]:
    """Edges whose marks would be others if weak hints were open pairs: their direction rests on hints.

    Hints then count as possibly adjacent, so that what remains is decided whether they are edges or not. Hints
    themselves, and arrows that were declared, are not among them.
    """
    hints = frozenset(pair for pair, part in (found.confidence or {}).items() if part < HINT) - known.required
    if not hints & graph.skeleton:
        return frozenset()
    left = undecided | hints
    firm, _ = _marks(found, known, left) if found.latent else _arrows(found, known, left, settle=settle)
    decided = {frozenset((a, b)): (a, marks, b) for a, marks, b in firm.marked_edges()}
    fixed = frozenset() if found.latent else frozenset(map(frozenset, known.required_arrows(graph.skeleton)))
    return frozenset(
        pair
        for a, marks, b in graph.marked_edges()
        if (pair := frozenset((a, b))) in decided.keys() - fixed
        and (a, marks, b) != decided[pair]
        and 0 < _heads(marks) >= _heads(decided[pair][1])
    )


def _heads(marks: str) -> int:
    """How many ends of an edge are decided.

    >>> [_heads(marks) for marks in ("-", "->", "o->", "o-o", "<->")]
    [0, 2, 1, 0, 2]
    """
    return 0 if marks == "-" else 2 - marks.count("o")


def _of_edges(confidence: Mapping[Pair, float] | None, graph: Graph) -> Mapping[Pair, float] | None:
    """Confidence in the edges shown: an open pair has none."""
    if confidence is None:
        return None
    return {pair: part for pair, part in confidence.items() if pair in graph.skeleton}


def _shared_missing(schema: Schema, graph: Graph) -> Note | None:
    """Return the edges between columns that both declare a level or a bin for missing values; by the schema."""
    declare = {
        name
        for name, column in schema.items()
        if (
            column.missing_level
            if isinstance(column, Numeric)
            else any(reads_as_missing(level) for level in column.printed)
        )
    }
    pairs = in_order([pair for pair in graph.skeleton if pair <= declare], tuple(schema))
    return SharedMissing(tuple(pairs)) if pairs else None


def _one_level_note(schema: Schema) -> tuple[Note, ...]:
    single = one_level(schema)
    return (OneLevel(single),) if single else ()


def _conflict_note(
    conflicts: Collection[Pair], known: Knowledge, columns: Sequence[str], settled: bool, latent: bool
) -> Note | None:
    """Return on which edges answers contradict each other, and on which they contradict what was declared."""
    if not conflicts:
        return None
    fixed = set() if latent else {frozenset(arrow) for arrow in known.arrows}
    torn = {pair for pair in conflicts if pair not in fixed}
    against = {pair for pair in conflicts if pair in fixed}
    return Conflicts(
        pairs=tuple(in_order(torn, columns)),
        declared=tuple(in_order(against, columns)),
        settled=settled,
        circles=latent,
    )
