"""From what a search found to the result that is shown: three states, arrows, and where answers contradict each other.

**Contradictions.** Tests on finite or noisy data can imply colliders that no DAG has together. ``orient`` then leaves
edges plain or gives arrows that no member of any class has; such a graph is no CPDAG, whatever it looks like. Methods
that settle take the nearest DAG instead (``graphs/equivalence.py``: all arrows kept, fewest new colliders) and show its
class; methods of papers are left as they are and only say so.

**Guarantee.** Post-processing of the skeleton and its separating sets: no row enters.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import combinations

from dpcausal.core.statement import PrivacyStatement
from dpcausal.data.columns import Numeric, reads_as_missing
from dpcausal.data.name_hints import follow_up_columns
from dpcausal.data.schema import Schema
from dpcausal.discovery.effect_after import values_for_effects
from dpcausal.discovery.knowledge import Arrow, Knowledge, Pair, one_level
from dpcausal.discovery.result import (
    DiscoveryResult,
    PairFindings,
    Reusable,
    SearchRecord,
    Terms,
    Verdict,
    in_order,
    replaced,
)
from dpcausal.discovery.search import (
    Conflicts,
    FollowUpColumns,
    Method,
    Note,
    OneLevel,
    SearchOutcome,
    SharedMissing,
    WithoutDelta,
)
from dpcausal.graphs.equivalence import consistent, on_cycle, orient
from dpcausal.graphs.graph import Graph
from dpcausal.graphs.hidden import orient_pag
from dpcausal.graphs.pag import PAG, Mark
from dpcausal.planning.forecast import NOTABLE_GAIN, columns_within_reach, noise_without_delta
from dpcausal.planning.measurement_plan import MeasurementPlan, PublicNumbers


def result_of_search(
    found: SearchOutcome,
    method: Method,
    terms: Terms,
    asking: Knowledge,
    schema: Schema,
    statement: PrivacyStatement,
    reuse: Reusable,
    *,
    plan: MeasurementPlan | None,
    no_delta: Note | None,
) -> DiscoveryResult:
    """Return the result of a search: edges in three states, with arrows. Post-processing of ``found``.

    ``terms`` are as they were asked, and ``asking`` is what was declared with what follows from the schema. ``plan``
    tells what could be found, and ``no_delta`` is a remark on the noise.
    """
    columns, skeleton, known = tuple(schema), found.skeleton, terms.known
    settle = method.settles and not found.latent
    if found.about is not None:
        every = frozenset(frozenset(pair) for pair in combinations(columns, 2))
        asking = replace(asking, forbidden=asking.forbidden | (every - found.about - known.required))
    undecided = skeleton.open(asking) if found.open is None else found.open
    undecided = undecided - asking.required - asking.forbidden
    graph, conflicts = _orient(found, asking, undecided, terms.direction_level, settle=settle)
    given = skeleton.given_up_to if found.given_up_to is None else found.given_up_to
    contradictions = _conflict_note(conflicts, known, columns, settle, found.latent)
    more = filter(None, (no_delta, _shared_missing(schema, graph), contradictions))
    again = found.confidence
    result = DiscoveryResult(
        graph=graph,
        privacy=statement,
        terms=replace(terms, about=found.about, labels=schema.labels),
        pairs=PairFindings(
            open=undecided,
            given_up_to={pair: k for pair, k in given.items() if pair in graph.skeleton - known.required},
            separating={pair: by for pair, by in skeleton.separating.items() if pair not in undecided},
            held=frozenset(skeleton.held),
            evidence={pair: one for pair, one in found.evidence.items() if pair not in asking.forbidden},
            detectable={pair: w for pair, w in found.detectable.items() if pair not in asking.forbidden},
            strength=found.strength,
            direction=_directions(found, asking.required_arrows(graph.skeleton)),
            marks=found.marks or {},
            confidence=None
            if again is None
            else {p: part for p, part in again.items() if p in graph.skeleton},
            repeats=found.repeats,
            conflicts=conflicts,
        ),
        search=SearchRecord(
            asked=dict(skeleton.asked),
            complete=skeleton.complete,
            settled=settle,
            notes=(*_one_level_note(schema), *found.notes, *_follow_up_note(schema), *more),
        ),
        reuse=replace(reuse, tables=values_for_effects(found.values)),
    )
    if plan is None or terms.rows is None or found.about is not None or result.verdict is Verdict.DECIDED:
        return result
    return replaced(result, fewer_columns=columns_within_reach(plan, terms.level))


def without_delta(public: PublicNumbers) -> WithoutDelta | None:
    """Return the note on how much larger the noise is without a delta; None if that is not worth a note."""
    gain = noise_without_delta(public)
    return WithoutDelta(gain) if gain >= NOTABLE_GAIN else None


def _orient(
    found: SearchOutcome,
    known: Knowledge,
    undecided: frozenset[Pair],
    direction_level: float,
    *,
    settle: bool,
) -> tuple[Graph, frozenset[Pair]]:
    """Return the graph with directions or marks, and the edges at which answers contradict each other."""
    if found.marks is not None:
        return _marked_by_chance(found, undecided, direction_level), frozenset()
    if found.latent:
        return _orient_pag(found, known, undecided)
    if found.direction is not None:
        return _orient_by_chance(found, known, undecided, direction_level), frozenset()
    return _orient_cpdag(found, known, undecided, settle=settle)


def _orient_by_chance(
    found: SearchOutcome, known: Knowledge, undecided: frozenset[Pair], direction_level: float
) -> Graph:
    """Return the edges found, with an arrow where a direction is declared or probable enough.

    Of a circle of likely arrows, which single chances do not rule out, the least likely has no direction.
    """
    edges = found.skeleton.edges - undecided
    chances = found.direction or {}
    arrows = dict.fromkeys(known.required_arrows(edges), 1.0)
    declared = {frozenset(arrow) for arrow in arrows}
    for arrow, chance in chances.items():
        if chance >= direction_level and frozenset(arrow) in edges - declared:
            arrows[arrow] = chance
    while circle := on_cycle(found.skeleton.columns, arrows):
        del arrows[min(circle, key=lambda arrow: (arrows[arrow], arrow))]
    return Graph(found.skeleton.columns, arrows, edges - frozenset(map(frozenset, arrows)))


def _marked_by_chance(found: SearchOutcome, undecided: frozenset[Pair], direction_level: float) -> PAG:
    """Return the edges found as a PAG, with marks that are probable enough, and circles elsewhere.

    An edge has a head at one end at least, so the chance of ``a <-> b`` is that of both heads less 1; where it is not
    likely enough the less likely head is a circle. Of a cycle of likely arrows the least likely has no tail.
    """
    chances, columns = found.marks or {}, found.skeleton.columns
    heads = {end: chance for end, chance in chances.items() if frozenset(end) not in undecided}
    arrows = {(b, a): 1.0 - chance for (a, b), chance in heads.items() if 1.0 - chance >= direction_level}
    while cycle := on_cycle(columns, arrows):
        del arrows[min(cycle, key=lambda arrow: (arrows[arrow], arrow))]
    marks = {}
    for (a, b), chance in heads.items():
        other = heads[b, a]
        head = chance >= direction_level and (
            (chance, b) > (other, a) or chance + other - 1.0 >= direction_level
        )
        marks[a, b] = Mark.TAIL if (b, a) in arrows else Mark.ARROW if head else Mark.CIRCLE
    return PAG.of_marks(columns, marks)


def _directions(found: SearchOutcome, declared: Collection[Arrow]) -> dict[Arrow, float]:
    """Return the probability of each direction; 1 and 0 where it is declared."""
    if found.direction is None:
        return {}
    backward = [(b, a) for a, b in declared]
    return {**found.direction, **dict.fromkeys(declared, 1.0), **dict.fromkeys(backward, 0.0)}


def _orient_cpdag(
    found: SearchOutcome, known: Knowledge, undecided: frozenset[Pair], *, settle: bool
) -> tuple[Graph, frozenset[Pair]]:
    """Return the edges found as a CPDAG, and the edges at which answers contradict each other.

    Open pairs count as possibly adjacent. So do pairs that were left out beforehand, for no set was asked to separate
    them: whether arrows meet between them is not known.
    """
    skeleton = found.skeleton
    edges = skeleton.edges - undecided
    middles = skeleton.separating
    possible = undecided | (known.forbidden - frozenset(middles))
    fixed = known.required_arrows(edges)
    graph = orient(Graph(skeleton.columns, undirected=edges), middles, fixed, possible)
    return consistent(graph, fixed, settle=settle, possible=possible)


def _orient_pag(
    found: SearchOutcome, known: Knowledge, undecided: frozenset[Pair]
) -> tuple[PAG, frozenset[Pair]]:
    """Return the edges found as a PAG, and the edges at which answers contradict each other.

    A declared order says that the later column does not cause the earlier one, and no more: an older cause of both may
    be hidden. A required arrow says that its tail is a cause.
    """
    skeleton = found.skeleton
    edges = skeleton.edges - undecided
    middles = skeleton.separating
    return orient_pag(
        Graph(skeleton.columns, undirected=edges),
        {pair: given for pair, given in middles.items() if pair not in undecided},
        arrows=[arrow for arrow in known.causes if frozenset(arrow) in edges],
        heads=known.arrows,
        possible=undecided | (known.forbidden - frozenset(middles)),
    )


def _shared_missing(schema: Schema, graph: Graph) -> Note | None:
    """Return the note on edges between columns that both declare a level for missing values."""
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
    """Return the note on columns with one level, where there are any."""
    single = one_level(schema)
    return (OneLevel(single),) if single else ()


def _follow_up_note(schema: Schema) -> tuple[Note, ...]:
    """Return the note on columns that are a time and a status by their names, where there are any."""
    pairs = tuple(follow_up_columns(schema))
    return (FollowUpColumns(pairs),) if pairs else ()


def _conflict_note(
    conflicts: Collection[Pair], known: Knowledge, columns: Sequence[str], settled: bool, latent: bool
) -> Note | None:
    """Return the note on edges at which answers contradict each other, or what was declared."""
    if not conflicts:
        return None
    fixed = set() if latent else {frozenset(arrow) for arrow in known.arrows}
    return Conflicts(
        pairs=tuple(in_order([pair for pair in conflicts if pair not in fixed], columns)),
        declared=tuple(in_order([pair for pair in conflicts if pair in fixed], columns)),
        settled=settled,
        circles=latent,
    )
