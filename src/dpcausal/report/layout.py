"""A layered layout for a CPDAG: arrows point down, lines cross little.

Layers by the longest path of arrows; plain edges are laid along a consistent direction (the order of nodes) so that
they get layers too, without meaning anything. Within a layer nodes are ordered by the mean place of their neighbours,
swept down and up a few times (Sugiyama, Tagawa & Toda 1981). Deterministic.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpcausal.graphs.graph import Graph

SWEEPS = 12


@dataclass(frozen=True)
class Place:
    """Where a node goes: column and row, in units of one node."""

    x: float
    y: float


def _order(graph: Graph) -> list[tuple[str, str]]:
    """Arrows, and plain edges turned so that no cycle arises: Kahn's order that respects the arrows."""
    parents = {node: set(graph.parents(node)) for node in graph.nodes}
    order: list[str] = []
    while parents:
        free = [node for node in graph.nodes if node in parents and not parents[node]]
        node = free[0] if free else next(iter(parents))
        order.append(node)
        del parents[node]
        for rest in parents.values():
            rest.discard(node)
    place = {node: i for i, node in enumerate(order)}
    lines = [tuple(sorted(pair, key=place.__getitem__)) for pair in sorted(graph.undirected, key=sorted)]
    return [*sorted(graph.directed), *((a, b) for a, b in lines)]


def layers(graph: Graph) -> dict[str, int]:
    """Layer of every node: one more than the deepest node that points to it.

    >>> layers(Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c")]))
    {'a': 0, 'b': 1, 'c': 2}
    """
    edges = _order(graph)
    depth = dict.fromkeys(graph.nodes, 0)
    for _ in graph.nodes:
        for tail, head in edges:
            depth[head] = max(depth[head], min(depth[tail] + 1, len(graph.nodes)))
    return depth


def layout(graph: Graph) -> dict[str, Place]:
    """A place for every node.

    >>> layout(Graph(["a", "b"], directed=[("a", "b")]))
    {'a': Place(x=0.0, y=0.0), 'b': Place(x=0.0, y=1.0)}
    """
    depth = layers(graph)
    linked = {node for edge in graph.skeleton for node in edge}
    rows: dict[int, list[str]] = {}
    for node in graph.nodes:  # isolated nodes go to a last layer of their own
        layer = depth[node] if node in linked or not linked else max(depth.values()) + 1
        rows.setdefault(layer, []).append(node)
    ordered = [rows[layer] for layer in sorted(rows)]
    for sweep in range(SWEEPS):
        centre = {node: i - (len(row) - 1) / 2 for row in ordered for i, node in enumerate(row)}
        for row in ordered if sweep % 2 == 0 else reversed(ordered):
            near = {node: [centre[other] for other in graph.adjacent(node)] for node in row}
            row.sort(key=lambda node: sum(near[node]) / len(near[node]) if near[node] else centre[node])
            centre.update({node: i - (len(row) - 1) / 2 for i, node in enumerate(row)})
    left = min((-(len(row) - 1) / 2 for row in ordered), default=0.0)
    return {
        node: Place(i - (len(row) - 1) / 2 - left, float(y))
        for y, row in enumerate(ordered)
        for i, node in enumerate(row)
    }
