"""How far an estimated graph is from the true one.

All scores count edges. With tp, fp, fn the numbers of edges found rightly, found wrongly and missed:
precision = tp/(tp+fp), recall = tp/(tp+fn), F1 = 2 tp/(2 tp+fp+fn). 0/0 is 1: nothing claimed, nothing
wrong; so an empty estimate of a graph with edges has precision 1, recall 0, F1 0.

Both graphs must have the same nodes, else ``InputError``.

Reference for the distance: Tsamardinos, Brown, Aliferis (2006), "The max-min hill-climbing Bayesian network
structure learning algorithm".
"""

from __future__ import annotations

from collections.abc import Set
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
    """Return precision, recall and F1 of the edges, ignoring directions.

    >>> truth = Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c")])
    >>> skeleton_scores(truth, Graph(["a", "b", "c"], undirected=[("a", "b")]))
    Scores(precision=1.0, recall=0.5, f1=0.6666666666666666)
    """
    _check_same_nodes(truth, estimate)
    return _scores(truth.skeleton, estimate.skeleton)


def arrowhead_scores(truth: Graph, estimate: Graph) -> Scores:
    """Return precision and recall of the arrows ``(tail, head)``; undirected edges are not counted.

    Give two CPDAGs to ask what discovery can answer, a DAG and a CPDAG to ask how much of the truth it shows.
    """
    _check_same_nodes(truth, estimate)
    return _scores(truth.directed, estimate.directed)


def cpdag_scores(truth: Graph, estimate: Graph) -> Scores:
    """Return precision, recall and F1 of the edges with their marks in the CPDAG.

    An edge is right if both graphs have it as the same arrow, or both as a plain edge. A DAG is replaced by its CPDAG
    first, which changes nothing for a CPDAG that happens to have arrows only.
    """
    _check_same_nodes(truth, estimate)
    classes = [cpdag(graph) if graph.is_dag() else graph for graph in (truth, estimate)]
    return _scores(*map(_edges, classes))


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
    return len({frozenset(edge) for edge in _edges(truth) ^ _edges(estimate)})


def _check_same_nodes(truth: Graph, estimate: Graph) -> None:
    """Refuse graphs with different nodes."""
    for name in sorted(set(truth.nodes) ^ set(estimate.nodes)):
        raise InputError(f'graphs with different nodes can\'t be compared: only one has "{name}"')


def _edges(graph: Graph) -> Set[tuple[str, str] | frozenset[str]]:
    """Return the arrows and the undirected edges of a graph in one set."""
    return graph.directed | graph.undirected


def _scores(true: Set[object], found: Set[object]) -> Scores:
    """Return precision, recall and F1 of the set ``found`` against the set ``true``."""
    right = len(true & found)
    return Scores(
        precision=right / len(found) if found else 1.0,
        recall=right / len(true) if true else 1.0,
        f1=2 * right / (len(true) + len(found)) if true or found else 1.0,
    )
