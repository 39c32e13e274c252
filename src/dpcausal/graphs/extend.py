"""A DAG that a partly directed graph stands for: same skeleton, same arrows, no new v-structure.

Repeatedly take a node that can come last: no arrow leaves it, and each of its plain neighbours is adjacent
to everything else it is adjacent to. Point its plain edges at it and remove it. If no such node is left
while edges remain, no extension exists.

Cost: O(nodes^2 x degree^2) at worst, less on sparse graphs. The choice among several last nodes is the one
latest in ``nodes``, so the result is fixed by the graph.

Reference: Dor and Tarsi (1992), "A simple algorithm to construct a consistent extension of a partially
oriented graph".
"""

from __future__ import annotations

from dpcausal.core.errors import InputError
from dpcausal.graphs.graph import Graph


def extend(pdag: Graph) -> Graph:
    """A consistent extension of ``pdag``, or ``InputError`` when there is none.

    >>> extend(Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")]))
    Graph(a -> b, b -> c)
    >>> extend(Graph(["a", "b", "c", "d"], undirected=[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]))
    Traceback (most recent call last):
    dpcausal.core.errors.InputError: no DAG has this skeleton, these arrows and no further v-structure
    """
    adjacent = {name: set(pdag.adjacent(name)) for name in pdag.nodes}
    children = {name: set(pdag.children(name)) for name in pdag.nodes}
    neighbours = {name: set(pdag.neighbours(name)) for name in pdag.nodes}
    arrows = set(pdag.directed)
    left = list(reversed(pdag.nodes))
    while left:
        last = next((name for name in left if _can_be_last(name, adjacent, children, neighbours)), None)
        if last is None:
            raise InputError("no DAG has this skeleton, these arrows and no further v-structure")
        arrows |= {(other, last) for other in neighbours[last]}
        for other in adjacent[last]:
            adjacent[other].discard(last)
            children[other].discard(last)
            neighbours[other].discard(last)
        left.remove(last)
    return Graph(pdag.nodes, directed=arrows)


def _can_be_last(
    name: str, adjacent: dict[str, set[str]], children: dict[str, set[str]], neighbours: dict[str, set[str]]
) -> bool:
    if children[name]:
        return False
    return all(adjacent[name] <= adjacent[other] | {other} for other in neighbours[name])
