"""What a learned graph says against itself: contradicted directions, open pairs, weak hints; and the order of time.

``graph.json`` holds these beside the edges. A ``Graph`` does not: whoever draws conclusions from a learned graph, such
as ``effect``, reads both.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import permutations
from typing import Any, NamedTuple

from dpcausal.core.errors import InputError
from dpcausal.graphs.formats import parsed_json
from dpcausal.graphs.graph import Graph, Pair, checked_pair
from dpcausal.graphs.pag import PAG

WEAK = 0.5  # of the repeats: an edge that is found again in fewer is a weak hint


class Doubts(NamedTuple):
    """Pairs whose direction is contradicted, that stayed open, or are weak hints; and the declared order of time."""

    contradicted: frozenset[Pair] = frozenset()
    open: frozenset[Pair] = frozenset()
    tiers: tuple[frozenset[str], ...] = ()
    hints: frozenset[Pair] = frozenset()

    def at(self, *names: str) -> list[Pair]:
        """Return the contradicted pairs with one of these nodes, sorted."""
        return sorted((pair for pair in self.contradicted if pair & set(names)), key=sorted)

    def tier(self, name: str) -> int | None:
        """Return the place of a column in the declared order of time; None if it has none."""
        return next((i for i, tier in enumerate(self.tiers) if name in tier), None)

    def earlier(self, first: str, second: str) -> bool:
        """Return whether ``first`` was declared to be earlier in time than ``second``.

        >>> known = Doubts(tiers=(frozenset({"sex"}), frozenset({"dose"})))
        >>> known.earlier("sex", "dose"), known.earlier("dose", "sex"), known.earlier("sex", "other")
        (True, False, False)
        """
        a, b = self.tier(first), self.tier(second)
        return a is not None and b is not None and a < b


NONE = Doubts()


def read_graph(source: str | bytes | Mapping[str, Any] | os.PathLike[str]) -> tuple[Graph, Doubts]:
    """Return the graph in a JSON text, object or file, and the contradictions that it records.

    >>> text = '{"nodes": ["a", "b"], "directed": [["a", "b"]], "conflicts": [["a", "b"]]}'
    >>> graph, doubts = read_graph(text)
    >>> graph, sorted(map(sorted, doubts.contradicted))
    (Graph(a -> b), [['a', 'b']])
    """
    found = parsed_json(source)
    graph = Graph.from_json(found)
    known = frozenset(graph.nodes)

    def pairs(key: str) -> frozenset[Pair]:
        listed = found.get(key, [])
        if not isinstance(listed, list):
            raise InputError(f'"{key}" of a graph in JSON must be a list of pairs')
        return frozenset(checked_pair(pair, known) for pair in listed)

    declared = found.get("declared") or {}
    tiers = declared.get("tiers") if isinstance(declared, Mapping) else None
    if tiers is not None and not (isinstance(tiers, list) and all(isinstance(tier, list) for tier in tiers)):
        raise InputError('"tiers" declared in a graph in JSON must be a list of lists of names')
    if graph.kind != "pag":
        graph = undirected_at(graph, pairs("on_hints"))  # directions that rest on weak hints
    return graph, Doubts(
        pairs("conflicts"),
        pairs("open"),
        tuple(frozenset(map(str, tier)) for tier in tiers or ()),
        _hints(found, declared, known),
    )


def _hints(found: Mapping[str, Any], declared: object, known: frozenset[str]) -> frozenset[Pair]:
    """Return the edges that are weak hints: found again in too few repeats, and not declared."""
    listed = found.get("confidence") or []
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed):
        raise InputError('"confidence" of a graph in JSON must be a list of objects')
    weak = [one for one in listed if isinstance(part := one.get("found_again"), int | float) and part < WEAK]
    pairs = frozenset(checked_pair(one.get("pair"), known) for one in weak)
    required = declared.get("required") if isinstance(declared, Mapping) else None
    edges = set(filter(lambda text: isinstance(text, str), required if isinstance(required, list) else []))

    def is_required(pair: Pair) -> bool:
        return any(f"{a} {mark} {b}" in edges for a, b in permutations(pair) for mark in ("->", "-"))

    return frozenset(pair for pair in pairs if not is_required(pair))


def undirected_at(graph: Graph, pairs: frozenset[Pair]) -> Graph:
    """Return the graph with these edges undirected.

    >>> undirected_at(Graph(["a", "b", "c"], [("a", "b"), ("b", "c")]), frozenset({frozenset({"a", "b"})}))
    Graph(a - b, b -> c)
    """
    plain = {frozenset(arrow) for arrow in graph.directed} & pairs
    arrows = [arrow for arrow in graph.directed if frozenset(arrow) not in plain]
    return Graph(graph.nodes, arrows, graph.undirected | plain)


def without_edges(graph: Graph, pairs: frozenset[Pair]) -> Graph:
    """Return a graph of its kind without these edges.

    >>> without_edges(Graph(["a", "b", "c"], [("a", "b"), ("b", "c")]), frozenset({frozenset({"a", "b"})}))
    Graph(b -> c, a)
    """
    if isinstance(graph, PAG):
        return PAG(
            graph.nodes, [edge for edge in graph.marked_edges() if frozenset((edge[0], edge[2])) not in pairs]
        )
    arrows = [arrow for arrow in graph.directed if frozenset(arrow) not in pairs]
    return Graph(graph.nodes, arrows, graph.undirected - pairs)
