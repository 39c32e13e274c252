"""Graphs to and from networkx.

A plain edge becomes two arcs, one each way, which is how networkx users write a CPDAG. Every arc also has
``kind="directed"`` or ``"undirected"``. Reading looks at the arcs only: both ways means a plain edge, and so
does any edge of an undirected networkx graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcausal.graphs.graph import Graph

if TYPE_CHECKING:
    import networkx


def to_networkx(graph: Graph) -> networkx.DiGraph:
    """A ``networkx.DiGraph`` with the same nodes in the same order.

    >>> g = Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")])
    >>> sorted(to_networkx(g).edges)
    [('a', 'b'), ('b', 'c'), ('c', 'b')]
    """
    import networkx

    made = networkx.DiGraph()
    made.add_nodes_from(graph.nodes)
    for a, b, arrow in graph.edges():
        made.add_edge(a, b, kind="directed" if arrow else "undirected")
        if not arrow:
            made.add_edge(b, a, kind="undirected")
    return made


def from_networkx(graph: networkx.Graph) -> Graph:
    """The graph in a networkx graph, directed or not.

    Names that are not texts (networkx allows any object) raise ``InputError``, as does a loop. Parallel edges
    of a multigraph count once.

    >>> import networkx
    >>> from_networkx(networkx.DiGraph([("a", "b"), ("b", "c"), ("c", "b")]))
    Graph(a -> b, b - c)
    """
    arcs = set(graph.edges())
    if not graph.is_directed():
        return Graph(graph.nodes, undirected=arcs)
    return Graph(
        graph.nodes,
        directed=[(a, b) for a, b in arcs if (b, a) not in arcs],
        undirected=[(a, b) for a, b in arcs if (b, a) in arcs],
    )
