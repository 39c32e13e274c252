"""Which columns are held fixed: as named, or as a graph says, with what the graph says against that. All is public.

A DAG gives the back-door set with the fewest cells (``graphs/adjustment.py``), a CPDAG every set that the parents of
the treatment may be (IDA), and a PAG a set that is valid in every graph with hidden causes that it allows
(``graphs/adjustment_pag.py``). Columns that were named are checked against the graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

from dpcausal.core.display import display
from dpcausal.core.errors import InputError
from dpcausal.core.spelling import spelled
from dpcausal.data.schema import Schema
from dpcausal.effects.question import checked_columns
from dpcausal.effects.request import EffectRequest
from dpcausal.effects.result import (
    AdjustsForLater,
    BackDoor,
    Contradicted,
    EffectNote,
    FromGraph,
    OpenPairs,
    OutcomeEarlier,
    RestsOn,
)
from dpcausal.graphs.adjustment import OpenBackDoor, adjustment_sets, descendants, no_path, open_back_door
from dpcausal.graphs.adjustment_pag import pag_adjustment, pag_back_door
from dpcausal.graphs.doubts import undirected_at, without_edges
from dpcausal.graphs.graph import Graph, Pair
from dpcausal.graphs.pag import PAG

NOT_DECLARED = 1 << 30  # cells of a column of the graph that the schema does not have


class AdjustsForDescendant(UserWarning):
    """A column that is adjusted for may be changed by the treatment."""


class LeavesBackDoorOpen(UserWarning):
    """By the graph other causes are, or may be, mixed into an effect whose columns to hold fixed were named."""


class Adjustment(NamedTuple):
    """The sets of columns to hold fixed, None for no effect at all (never all of them), and what must be known."""

    sets: tuple[tuple[str, ...] | None, ...]
    notes: tuple[EffectNote, ...]

    @property
    def used(self) -> list[tuple[str, ...]]:
        """The adjustment sets that must be measured: without those that give no effect."""
        return [one for one in self.sets if one is not None]


def columns_held_fixed(schema: Schema, request: EffectRequest) -> Adjustment:
    """Return the adjustment sets of a request, with notes on their validity.

    Raises
    ------
    InputError
        If the names do not fit, the graph lacks a column, or it says that the outcome is earlier in time, that an
        adjusted column is changed or that the columns leave a back-door path open.
    """
    treatment, outcome, graph = request.treatment, request.outcome, request.graph
    if request.survival is not None:
        named = request.adjust if isinstance(request.adjust, list | tuple | set) else ()
        if request.survival.time in (treatment, *named):
            raise InputError(f'"{request.survival.time}" is the time of the outcome, and nothing else here')
    given = checked_columns(schema, treatment, outcome, () if request.adjust is None else request.adjust)
    if request.doubts.earlier(outcome, treatment) and not request.anyway:
        raise InputError(
            f'"{outcome}" was declared to be earlier in time than "{treatment}", which can\'t change it: ask for the '
            f"effect of {outcome} on {treatment} ({spelled('--anyway', 'anyway=True')} goes on)"
        )
    if graph is None or request.adjust is not None:
        return _named_columns(schema, request, given)
    for name in (treatment, outcome):
        graph.check(name)
    if not isinstance(graph, PAG):
        return _sets_of_graph(schema, request, graph)
    open_pairs = request.doubts.open
    found = pag_adjustment(graph, treatment, outcome, _cells(schema, graph), open_pairs)
    columns = checked_columns(schema, treatment, outcome, found)
    # what is contradicted has circles in a PAG, so that nothing rests on it
    doubts = doubt_notes(request, (), graph)
    return Adjustment((columns,), (FromGraph(columns), RestsOn("hidden-causes"), *doubts))


def _cells(schema: Schema, graph: Graph) -> dict[str, int]:
    """Return the number of levels of every column of a graph; a large one where the schema does not declare it."""
    return {name: schema[name].size if name in schema else NOT_DECLARED for name in graph.nodes}


def _named_columns(schema: Schema, request: EffectRequest, given: tuple[str, ...]) -> Adjustment:
    """Return the adjustment set that the user named (or none), checked against the graph, if any."""
    treatment, graph, doubts = request.treatment, request.graph, request.doubts
    notes: list[EffectNote] = [] if given else [RestsOn("unadjusted")]
    if graph is not None:
        graph.check(treatment)
        notes += doubt_notes(request, doubts.at(treatment, request.outcome), graph)
        known = [name for name in given if name in graph.nodes]
        sure = [name for name in known if name in descendants(graph, treatment)]
        if sure and not request.anyway:
            raise InputError(
                f'by the graph "{treatment}" changes {", ".join(sure)}: adjusting for that hides part of the effect or '
                f"makes one up; leave it out ({spelled('--anyway', 'anyway=True')} goes on)"
            )
        maybe = [name for name in known if name in descendants(graph, treatment, possible=True)]
        if maybe:
            notes.append(AdjustsForLater("descendant", tuple(maybe)))
        notes += _back_door_notes(schema, request, graph, known)
    later = [name for name in given if doubts.earlier(treatment, name)]
    if later:
        notes.append(AdjustsForLater("later", tuple(later), treatment))
    for note in notes:
        if isinstance(note, AdjustsForLater):
            warnings.warn(display().words(note), AdjustsForDescendant, stacklevel=4)
        if isinstance(note, BackDoor):
            warnings.warn(display().words(note), LeavesBackDoorOpen, stacklevel=4)
    return Adjustment((given,), tuple(notes))


def _back_door_notes(
    schema: Schema, request: EffectRequest, graph: Graph, given: Sequence[str]
) -> list[EffectNote]:
    """Return the notes on back-door paths that the named columns leave open, or may.

    Contradicted edges count as edges without a direction, and nothing that rests on them, or on weak hints, is sure. A
    path that is surely open is an ``InputError``, unless ``anyway`` was asked for.
    """
    treatment, outcome, doubts = request.treatment, request.outcome, request.doubts
    if outcome not in graph.nodes:
        return []
    sizes = _cells(schema, graph)

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
    refused = found.sure and not request.anyway
    note = BackDoor(**found._asdict(), treatment=treatment, given=bool(given), refused=refused)
    if refused:
        raise InputError(display().words(note))
    return [note]


def _sets_of_graph(schema: Schema, request: EffectRequest, graph: Graph) -> Adjustment:
    """Return the adjustment sets by a graph without hidden causes, with notes on its contradictions.

    Contradicted edges of the treatment and the outcome are refused; with ``anyway`` they are taken without a direction.
    Without a path of arrows ``anyway`` adjusts for the parents of the treatment, which is valid in this graph.
    """
    treatment, outcome, doubts = request.treatment, request.outcome, request.doubts
    own = doubts.at(treatment, outcome)
    if own and not request.anyway:
        shown = ", ".join(" - ".join(sorted(pair)) for pair in own)
        raise InputError(
            f"the graph contradicts itself about the direction of {shown}, so it can't say what to hold fixed. Name "
            f"the columns ({spelled('--adjust', 'adjust=')}), or learn the graph with the order of time declared "
            f"({spelled('--tiers', 'tiers=')}); {spelled('--anyway', 'anyway=True')} takes such an edge without a "
            "direction"
        )
    graph = undirected_at(graph, frozenset(own))
    notes = doubt_notes(request, sorted(doubts.contradicted, key=sorted), graph)
    if outcome not in descendants(graph, treatment, possible=True):
        parents = tuple(name for name in schema if name in graph.parents(treatment))
        if not request.anyway or outcome in parents or len(parents) < len(graph.parents(treatment)):
            raise InputError(no_path(treatment, outcome) + _why_no_path(request, graph))
        return Adjustment((parents,), (FromGraph(parents), *notes, RestsOn("no-path")))
    sets = adjustment_sets(graph, treatment, outcome, _cells(schema, graph), doubts.open)
    if all(
        one is None for one in sets
    ):  # the outcome is a cause of the treatment in every graph of the class
        raise InputError(no_path(treatment, outcome) + _why_no_path(request, graph))
    for one in sets:
        checked_columns(schema, treatment, outcome, one or ())
    named = [FromGraph(sets[0] or ())] if len(sets) == 1 else []
    return Adjustment(tuple(sets), (*named, *notes))


def _why_no_path(request: EffectRequest, graph: Graph) -> str:
    """Return what the graph says of treatment and outcome instead of a path, as the end of a sentence."""
    treatment, outcome, doubts = request.treatment, request.outcome, request.doubts
    if frozenset((treatment, outcome)) in doubts.open:
        return "; here neither an edge between the two nor its absence could be shown: the pair is open"
    if doubts.earlier(outcome, treatment):
        return f'; here "{outcome}" was declared to be earlier in time'
    if treatment in descendants(graph, outcome):
        return f'; here the arrows lead from "{outcome}" to "{treatment}"'
    return ""


def doubt_notes(request: EffectRequest, contradicted: Sequence[Pair], graph: Graph) -> list[EffectNote]:
    """Return the notes on contradictions of a graph near the treatment and the outcome.

    Open pairs at one end may hide a common cause where the pair with the other end is open or an edge of ``graph``.
    """
    treatment, outcome, doubts = request.treatment, request.outcome, request.doubts
    ends = {treatment, outcome}
    found: list[EffectNote] = []
    if contradicted:
        pairs = tuple(tuple(sorted(pair)) for pair in contradicted)
        found.append(Contradicted(pairs, own=bool(doubts.at(treatment, outcome))))
    if frozenset(ends) in doubts.open:
        found.append(RestsOn("open-itself"))
    if frozenset(ends) in doubts.hints:
        found.append(RestsOn("hint-itself"))
    beside = {name for pair in doubts.open if len(pair & ends) == 1 for name in pair - ends}
    near = sorted(name for name in beside if not doubts.earlier(treatment, name))  # later: no common cause
    if near:
        linked = doubts.open | graph.skeleton
        both = [name for name in near if all(frozenset((name, end)) in linked for end in ends)]
        found.append(OpenPairs(tuple(both or near), both=bool(both)))
    if doubts.earlier(outcome, treatment):
        found.append(OutcomeEarlier(treatment, outcome))
    return found
