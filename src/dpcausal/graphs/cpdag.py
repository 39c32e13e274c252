"""From a DAG to the CPDAG of its Markov equivalence class, by labelling edges.

Two DAGs imply the same independences iff they have the same skeleton and the same v-structures. The CPDAG has
the arrow a -> b iff every DAG of the class has it ("compelled"); the other edges are plain ("reversible").

Go through heads y in topological order and, for each, through its parents x from the nearest backwards; the
first edge x -> y without a label decides:
  - w -> x compelled and w is no parent of y: x -> y and all other arrows into y are compelled;
  - w -> x compelled and w is a parent of y: w -> y is compelled, look at the next w;
  - then, if some other parent of y is not a parent of x, all arrows into y still without label are compelled,
    else reversible.

Cost: O(edges x largest number of parents).

Reference: Chickering (1995), "A transformational characterization of equivalent Bayesian network
structures", procedures Order-Edges and Label-Edges. ``orient`` reaches the same CPDAG another way, and a
test holds the two against each other.
"""

from __future__ import annotations

from dpcausal.core.errors import InputError
from dpcausal.graphs.checked import Arrow
from dpcausal.graphs.graph import Graph


def cpdag(dag: Graph) -> Graph:
    """The CPDAG of the class of ``dag``. ``InputError`` when ``dag`` is not a DAG.

    >>> cpdag(Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c")]))
    Graph(a - b, b - c)
    >>> cpdag(Graph(["a", "b", "c"], directed=[("a", "b"), ("c", "b")]))
    Graph(a -> b, c -> b)
    """
    if dag.undirected:
        raise InputError("a CPDAG is made from a DAG, and this graph has edges without a direction")
    order = dag.topological_order()
    rank = {name: i for i, name in enumerate(order)}
    compelled: dict[Arrow, bool] = {}
    for y in order:
        parents = sorted(dag.parents(y), key=rank.__getitem__, reverse=True)
        for x in parents:
            if (x, y) not in compelled:
                _label(dag, x, y, parents, compelled)
    return Graph(
        dag.nodes,
        directed=[edge for edge, fixed in compelled.items() if fixed],
        undirected=[edge for edge, fixed in compelled.items() if not fixed],
    )


def _label(dag: Graph, x: str, y: str, parents: list[str], compelled: dict[Arrow, bool]) -> None:
    for w in dag.parents(x):
        if compelled[w, x]:
            if w not in dag.parents(y):
                compelled.update({(z, y): True for z in parents})
                return
            compelled[w, y] = True
    fixed = any(z != x and z not in dag.parents(x) for z in parents)
    for z in parents:
        compelled.setdefault((z, y), fixed)
