"""How far an estimated graph is from the true one.

All scores count edges. With tp, fp, fn the numbers of edges found rightly, found wrongly and missed:
precision = tp/(tp+fp), recall = tp/(tp+fn), F1 = 2 tp/(2 tp+fp+fn). 0/0 is 1: nothing claimed, nothing
wrong; so an empty estimate of a graph with edges has precision 1, recall 0, F1 0.

Both graphs must have the same nodes, else ``InputError``.

Reference for the distance: Tsamardinos, Brown, Aliferis (2006), "The max-min hill-climbing Bayesian network
structure learning algorithm".
"""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import NamedTuple

from dpcausal.core.errors import InputError
from dpcausal.graphs.equivalence import cpdag
from dpcausal.graphs.graph import Graph


class Scores(NamedTuple):
    """Precision, recall and F1, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


def skeleton_scores(truth: Graph, estimate: Graph) -> Scores:
    """Return the scores of the edges, directions ignored.

    >>> truth = Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c")])
    >>> skeleton_scores(truth, Graph(["a", "b", "c"], undirected=[("a", "b")]))
    Scores(precision=1.0, recall=0.5, f1=0.6666666666666666)
    """
    _check_same_nodes(truth, estimate)
    return _scores(truth.skeleton, estimate.skeleton)


def arrowhead_scores(truth: Graph, estimate: Graph) -> Scores:
    """Return the scores of the arrows ``(tail, head)``, the graphs taken as given; plain edges count for nothing.

    Give two CPDAGs to ask what discovery can answer, a DAG and a CPDAG to ask how much of the truth it shows.
    """
    _check_same_nodes(truth, estimate)
    return _scores(truth.directed, estimate.directed)


def cpdag_scores(truth: Graph, estimate: Graph) -> Scores:
    """Return the scores of the edges with their marks in the CPDAG.

    An edge is right if both graphs have it as the same arrow, or both as a plain edge. A DAG stands for its
    class: it is replaced by its CPDAG first, which changes nothing for a CPDAG that happens to have arrows
    only.
    """
    _check_same_nodes(truth, estimate)
    return _scores(_marked(_class_of(truth)), _marked(_class_of(estimate)))


def shd(truth: Graph, estimate: Graph) -> int:
    """Return the structural Hamming distance: the number of pairs of nodes whose edge differs.

    A missing edge, an extra edge, a reversed arrow, and an arrow where the other graph has a plain edge
    cost 1 each (some authors count a reversal as 2). The graphs are compared as given; for the distance
    between classes give their CPDAGs.

    >>> truth = Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c")])
    >>> shd(truth, Graph(["a", "b", "c"], directed=[("b", "a")], undirected=[("a", "c")]))
    3
    """
    _check_same_nodes(truth, estimate)
    return len({_pair(edge) for edge in _marked(truth) ^ _marked(estimate)})


def _check_same_nodes(truth: Graph, estimate: Graph) -> None:
    for name in sorted(set(truth.nodes) ^ set(estimate.nodes)):
        raise InputError(f'graphs with different nodes can\'t be compared: only one has "{name}"')


def _class_of(graph: Graph) -> Graph:
    return cpdag(graph) if graph.is_dag() else graph


def _marked(graph: Graph) -> Set[Hashable]:
    return graph.directed | graph.undirected


def _pair(edge: Hashable) -> frozenset[object]:
    return (
        edge if isinstance(edge, frozenset) else frozenset(edge) if isinstance(edge, tuple) else frozenset()
    )


def _scores(true: Set[Hashable], found: Set[Hashable]) -> Scores:
    right = len(true & found)
    return Scores(
        precision=right / len(found) if found else 1.0,
        recall=right / len(true) if true else 1.0,
        f1=2 * right / (len(true) + len(found)) if true or found else 1.0,
    )
