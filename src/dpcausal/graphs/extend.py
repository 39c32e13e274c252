"""A DAG that a partly directed graph stands for: same skeleton, same arrows, no new v-structure; or the nearest one.

Repeatedly take a node that can come last: no arrow leaves it, and each of its plain neighbours is adjacent
to everything else it is adjacent to. Point its plain edges at it and remove it. If no such node is left
while edges remain, no extension exists: the arrows contradict each other (tests on finite or noisy data can). Then
``nearest`` takes the node that makes the fewest new v-structures and says which edges they are made of. Whichever
nodes that can come last are taken first, an extension is found if there is one.

Cost: O(nodes^2 x degree^2) at worst, less on sparse graphs. The choice among several last nodes is the one
latest in ``nodes``, so the result is fixed by the graph.

Reference: Dor and Tarsi (1992), "A simple algorithm to construct a consistent extension of a partially
oriented graph".
"""

from __future__ import annotations

from dpcausal.core.errors import InputError
from dpcausal.graphs.checked import Pair
from dpcausal.graphs.graph import Graph


def extend(pdag: Graph) -> Graph:
    """A consistent extension of ``pdag``, or ``InputError`` when there is none.

    >>> extend(Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")]))
    Graph(a -> b, b -> c)
    >>> extend(Graph(["a", "b", "c", "d"], undirected=[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]))
    Traceback (most recent call last):
    dpcausal.core.errors.InputError: no DAG has this skeleton, these arrows and no further v-structure
    """
    dag, contradicted = nearest(pdag)
    if contradicted:
        raise InputError("no DAG has this skeleton, these arrows and no further v-structure")
    return dag


def nearest(pdag: Graph) -> tuple[Graph, frozenset[Pair]]:
    """A DAG with this skeleton and these arrows, and the edges of v-structures that it has to add (none if it can).

    ``InputError`` if the arrows form a cycle.

    >>> nearest(Graph(["a", "b", "c", "d"], undirected=[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]))[0]
    Graph(a -> b, a -> d, b -> c, c -> d)
    """
    pdag.topological_order()  # refuses a cycle
    adjacent = {name: set(pdag.adjacent(name)) for name in pdag.nodes}
    children = {name: set(pdag.children(name)) for name in pdag.nodes}
    neighbours = {name: set(pdag.neighbours(name)) for name in pdag.nodes}
    arrows, contradicted = set(pdag.directed), set()
    left = list(reversed(pdag.nodes))
    while left:
        ends = [name for name in left if not children[name]]
        last = min(ends, key=lambda name: len(_new_colliders(name, adjacent, neighbours)))
        for one, other in _new_colliders(last, adjacent, neighbours):
            contradicted |= {frozenset((one, last)), frozenset((other, last))}
        arrows |= {(other, last) for other in neighbours[last]}
        for other in adjacent[last]:
            adjacent[other].discard(last)
            children[other].discard(last)
            neighbours[other].discard(last)
        left.remove(last)
    return Graph(pdag.nodes, directed=arrows), frozenset(contradicted)


def _new_colliders(
    name: str, adjacent: dict[str, set[str]], neighbours: dict[str, set[str]]
) -> list[tuple[str, str]]:
    """Pairs that would meet at ``name`` without being adjacent if it came last, one of them by a plain edge."""
    return [
        (one, other)
        for one in neighbours[name]
        for other in adjacent[name]
        if other != one and other not in adjacent[one]
    ]
