"""Answers that contradict each other: is there any graph with these directions, and if not, where not?

Tests on finite or noisy data can imply colliders that no DAG has together. ``orient`` then leaves edges plain or gives
arrows that no member of any class has; such a graph is no CPDAG, whatever it looks like. ``settle``: take the nearest
DAG instead (``graphs/equivalence.py``: all arrows kept, fewest new colliders) and show its CPDAG. Methods of papers
are left as they are and only say so. Post-processing of the skeleton and its separating sets: free.
"""

from __future__ import annotations

from collections.abc import Collection

from dpcausal.discovery.knowledge import Pair
from dpcausal.graphs.equivalence import cpdag, meek, nearest
from dpcausal.graphs.graph import Arrow, Graph


def consistent(graph: Graph, required: Collection[Arrow], *, settle: bool) -> tuple[Graph, frozenset[Pair]]:
    """(the graph, settled if asked for and needed; the edges on which answers contradict each other).

    >>> square = Graph(["a", "b", "c", "d"], undirected=[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    >>> settled, where = consistent(square, [], settle=True)
    >>> settled, sorted(sorted(pair) for pair in where)
    (Graph(a - b, a -> d, b - c, c -> d), [['a', 'd'], ['c', 'd']])
    """
    dag, contradicted = nearest(graph)
    if not contradicted or not settle:
        return graph, contradicted
    classes = cpdag(dag)
    arrows = classes.directed | frozenset(required)
    plain = classes.skeleton - {frozenset(arrow) for arrow in arrows}
    return meek(Graph(graph.nodes, directed=arrows, undirected=[tuple(pair) for pair in plain])), contradicted
