"""A layered layout for a CPDAG: arrows point down, few lines cross, and no line passes through a box.

The four steps of Sugiyama, Tagawa & Toda (1981) and one more, each deterministic:

1. every edge is laid along one order of the nodes that respects the arrows (plain edges get a direction too, without
   meaning anything; of a directed cycle some arrow points up), and a node's layer is the longest path to it;
2. an edge over several layers gets a way point in each layer between, so that every piece joins neighbouring layers;
3. within layers, nodes and way points are ordered by the mean place of what they are joined to, swept down and up,
   and the order with the fewest crossings is kept;
4. places: each layer in turn is put as near as it can be to the mean of its neighbours, in the sense of least squares
   with the order and the widths kept (isotonic regression);
5. rows of nodes without an edge are put below the middle of the others.

A way point is as tall as a box and nothing else is on it: a line drawn straight down through its way points and
curved only between layers meets no box.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import isotonic_regression

from dpcausal.graphs.graph import Graph

SWEEPS = 16

Edge = tuple[str, str]
Item = str | tuple[str, str, int]  # a node, or the way point of an edge in a layer
Rows = list[list[Item]]


def chains(edges: Iterable[Edge], depth: Mapping[str, int]) -> dict[Edge, tuple[Item, ...]]:
    """Return each edge as its upper end, one way point per layer between, and its lower end.

    >>> chains([("a", "c")], {"a": 0, "c": 2})
    {('a', 'c'): ('a', ('a', 'c', 1), 'c')}
    """
    return {(a, b): (a, *((a, b, layer) for layer in range(depth[a] + 1, depth[b])), b) for a, b in edges}


def ordered_rows(
    nodes: Sequence[str], depth: Mapping[str, int], routes: Mapping[Edge, tuple[Item, ...]]
) -> Rows:
    """Return nodes and way points by layer, in the order with the fewest crossings found."""
    rows: Rows = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in nodes:
        rows[depth[node]].append(node)
    up: dict[Item, list[Item]] = {}
    down: dict[Item, list[Item]] = {}
    for route in routes.values():
        for way in route[1:-1]:
            assert not isinstance(way, str)
            rows[way[2]].append(way)
        for upper, lower in pairwise(route):
            down.setdefault(upper, []).append(lower)
            up.setdefault(lower, []).append(upper)
    best, fewest = [row[:] for row in rows], crossings(rows, down)
    for sweep in range(SWEEPS):
        near = up if sweep % 2 == 0 else down
        place = {item: i / max(len(row) - 1, 1) for row in rows for i, item in enumerate(row)}
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            row.sort(key=lambda item: _mean([place[other] for other in near.get(item, [])], place[item]))
            place.update({item: i / max(len(row) - 1, 1) for i, item in enumerate(row)})
        _swap(rows, up, down)
        found = crossings(rows, down)
        if found < fewest:
            best, fewest = [row[:] for row in rows], found
    return best


def crossings(rows: Rows, down: Mapping[Item, list[Item]]) -> int:
    """Return the number of crossing line pieces over all neighbouring layers. O(pieces^2)."""
    total = 0
    for upper, lower in pairwise(rows):
        place = {item: i for i, item in enumerate(lower)}
        ends = [place[other] for item in upper for other in sorted(down.get(item, []), key=place.__getitem__)]
        total += sum(a > b for i, a in enumerate(ends) for b in ends[i + 1 :])
    return total


def _mean(places: list[float], otherwise: float) -> float:
    """Return the mean of places; ``otherwise`` if there are none."""
    return sum(places) / len(places) if places else otherwise


def _swap(rows: Rows, up: Mapping[Item, list[Item]], down: Mapping[Item, list[Item]]) -> None:
    """Swap two neighbours wherever that undoes more crossings than it makes; one pass."""
    for above, row, below in zip([[], *rows], rows, [*rows[1:], []], strict=False):
        place = {item: i for others in (above, below) for i, item in enumerate(others)}
        for i in range(len(row) - 1):
            gain = 0
            for near in (up, down):
                left = [place[item] for item in near.get(row[i], []) if item in place]
                right = [place[item] for item in near.get(row[i + 1], []) if item in place]
                gain += sum((a > b) - (a < b) for a in left for b in right)
            if gain > 0:
                row[i], row[i + 1] = row[i + 1], row[i]


GAP, WAY = 26.0, 16.0  # between boxes; width of a way point
PASSES = 24
LONE = 6  # nodes without edges in one layer


@dataclass(frozen=True)
class Layout:
    """Centre and layer of every node, and the way points of every edge from its upper end to its lower one."""

    x: Mapping[str, float]
    layer: Mapping[str, int]
    ways: Mapping[tuple[str, str], tuple[tuple[float, int], ...]]


def in_time(graph: Graph, tier: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return (upper, lower) for all nodes with edges that different tiers put in order.

    >>> in_time(Graph(["a", "b", "c"], undirected=[("a", "b")]), {"b": 0, "a": 1, "c": 2})
    [('b', 'a')]
    """
    joined = [node for node in graph.nodes if node in tier and graph.adjacent(node)]
    return [(a, b) for a in joined for b in joined if tier[a] < tier[b]]


def downward(graph: Graph, tier: Mapping[str, int] | None = None) -> list[tuple[str, str]]:
    """Return every edge once as (upper, lower), in an order that respects arrows, cycles cut.

    ``tier``: the declared order of time, which it respects, too.
    """
    parents: dict[str, set[str]] = {node: set() for node in graph.nodes}
    for a, marks, b in graph.marked_edges():
        if marks in ("->", "o->"):
            parents[b].add(a)
    for a, b in in_time(graph, tier or {}):
        parents[b].add(a)
    place: dict[str, int] = {}
    while parents:
        node = next((node for node in parents if not parents[node]), next(iter(parents)))
        place[node] = len(place)
        del parents[node]
        for rest in parents.values():
            rest.discard(node)
    pairs = sorted(sorted(pair, key=place.__getitem__) for pair in graph.skeleton)
    return [(upper, lower) for upper, lower in pairs]


def layers(graph: Graph, tier: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return the layer of every node: one more than the deepest node above it.

    With tiers, all nodes of an earlier one are above all of a later one; a tier whose nodes are linked takes several
    layers. Nodes in no tier are where their edges put them.

    >>> layers(Graph(["a", "b", "c", "d"], directed=[("a", "b"), ("b", "c"), ("d", "c")]))
    {'a': 0, 'b': 1, 'c': 2, 'd': 1}
    >>> layers(Graph(["a", "b", "c"], directed=[("a", "c"), ("b", "c")]), {"a": 0, "b": 1, "c": 2})
    {'a': 0, 'b': 1, 'c': 2}
    """
    edges = [*downward(graph, tier), *in_time(graph, tier or {})]
    depth = dict.fromkeys(graph.nodes, 0)
    for _ in graph.nodes:
        for upper, lower in edges:
            depth[lower] = max(depth[lower], depth[upper] + 1)
    if tier and any(
        depth[upper] >= depth[lower] for upper, lower in edges
    ):  # an arrow at a free node points back
        return layers(graph)
    lowers = {lower for _, lower in edges}
    below: dict[str, list[int]] = {}
    for upper, lower in edges:
        below.setdefault(upper, []).append(depth[lower])
    for node, depths in below.items():
        if node not in lowers:
            depth[node] = min(depths) - 1
    alone = [node for node in graph.nodes if not graph.adjacent(node)]
    joined = [depth[node] for node in graph.nodes if graph.adjacent(node)]
    first = max(joined, default=-1) + 1  # nodes without edges go to layers of their own, below
    many = max(LONE, *(joined.count(layer) for layer in range(first))) if joined else LONE
    depth.update({node: first + i // many for i, node in enumerate(alone)})
    return depth


def layout(graph: Graph, width: Mapping[str, float], tier: Mapping[str, int] | None = None) -> Layout:
    """Return the places of boxes of the given widths, the leftmost edge at 0.

    >>> found = layout(Graph(["a", "b"], directed=[("a", "b")]), {"a": 60.0, "b": 80.0})
    >>> found.x, found.layer, found.ways
    ({'a': 40.0, 'b': 40.0}, {'a': 0, 'b': 1}, {('a', 'b'): ()})
    """
    depth = layers(graph, tier)
    edges = [(a, b) if depth[a] < depth[b] else (b, a) for a, b in downward(graph)]
    routes = chains(edges, depth)
    rows = ordered_rows(graph.nodes, depth, routes)
    size = {item: width[item] if isinstance(item, str) else WAY for row in rows for item in row}
    near: dict[Item, list[Item]] = {item: [] for row in rows for item in row}
    for route in routes.values():
        for one, two in pairwise(route):
            near[one].append(two)
            near[two].append(one)
    x = _places(rows, near, size)
    _centre_lone_rows(x, rows, near, size)
    left = min((x[item] - size[item] / 2 for item in x), default=0.0)
    return Layout(
        {name: x[name] - left for name in graph.nodes},
        depth,
        {edge: tuple((x[way] - left, _layer(way)) for way in routes[edge][1:-1]) for edge in edges},
    )


def _layer(item: Item) -> int:
    """Return the layer of a way point, by which an edge passes through that layer."""
    assert not isinstance(item, str)
    return item[2]


def _places(
    rows: list[list[Item]], near: Mapping[Item, list[Item]], size: Mapping[Item, float]
) -> dict[Item, float]:
    """Return the horizontal place of every item by least squares (step 4); way points pull eight times as hard."""
    x: dict[Item, float] = {}
    for row in rows:
        x.update(zip(row, _spread(row, [0.0] * len(row), size), strict=True))
    for sweep in range(PASSES):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            wanted = []
            for item in row:
                pull = [(8.0 if not isinstance(other, str) else 1.0, x[other]) for other in near[item]]
                total = sum(weight for weight, _ in pull)
                wanted.append(sum(weight * place for weight, place in pull) / total if total else x[item])
            x.update(zip(row, _spread(row, wanted, size), strict=True))
    return x


def _centre_lone_rows(
    x: dict[Item, float], rows: list[list[Item]], near: Mapping[Item, list[Item]], size: Mapping[Item, float]
) -> None:
    """Move rows of boxes without a line below the middle of the others (step 5)."""

    def middle(items: list[Item]) -> float:
        ends = [x[item] + side * size[item] / 2 for item in items for side in (-1, 1)]
        return (min(ends) + max(ends)) / 2

    lone = [row for row in rows if row and not any(near[item] for item in row)]
    linked = [item for row in rows if row not in lone for item in row]
    if not linked:
        return
    for row in lone:
        shift = middle(linked) - middle(row)
        x.update({item: x[item] + shift for item in row})


def _spread(row: list[Item], wanted: list[float], size: Mapping[Item, float]) -> list[float]:
    """Return the places nearest to ``wanted`` (least squares) that keep the order and do not overlap."""
    offsets, at = [], 0.0
    for i, item in enumerate(row):
        at += (size[row[i - 1]] + size[item]) / 2 + GAP if i else 0.0
        offsets.append(at)
    shifts = isotonic_regression(np.subtract(wanted, offsets)).x
    return [float(place) for place in shifts + offsets]
