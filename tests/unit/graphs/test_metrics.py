from __future__ import annotations

import pytest

from dpcausal.core.errors import InputError
from dpcausal.graphs import Graph, Scores, arrowhead_scores, cpdag, cpdag_scores, shd, skeleton_scores

NODES = ["a", "b", "c", "d"]
TRUTH = Graph(NODES, directed=[("a", "c"), ("b", "c"), ("c", "d")])


def test_a_graph_scores_full_marks_against_itself() -> None:
    full = Scores(1.0, 1.0, 1.0)
    assert (
        skeleton_scores(TRUTH, TRUTH) == arrowhead_scores(TRUTH, TRUTH) == cpdag_scores(TRUTH, TRUTH) == full
    )
    assert shd(TRUTH, TRUTH) == 0


def test_counted_by_hand() -> None:
    # right: a -> c. reversed: c -> b. missing: c - d. extra: a - b.
    estimate = Graph(NODES, directed=[("a", "c"), ("c", "b")], undirected=[("a", "b")])
    assert skeleton_scores(TRUTH, estimate) == Scores(2 / 3, 2 / 3, 2 / 3)
    assert arrowhead_scores(TRUTH, estimate) == Scores(1 / 2, 1 / 3, 2 / 5)
    assert cpdag_scores(TRUTH, estimate) == Scores(1 / 3, 1 / 3, 1 / 3)
    assert shd(TRUTH, estimate) == 3
    assert shd(estimate, TRUTH) == 3


def test_a_plain_edge_for_an_arrow_costs_one() -> None:
    estimate = Graph(NODES, directed=[("a", "c"), ("b", "c")], undirected=[("c", "d")])
    assert shd(TRUTH, estimate) == 1
    assert skeleton_scores(TRUTH, estimate).f1 == 1.0
    assert cpdag_scores(TRUTH, estimate) == Scores(2 / 3, 2 / 3, 2 / 3)


def test_a_dag_stands_for_its_class() -> None:
    chain = Graph(NODES, directed=[("a", "b"), ("b", "c")])
    other_way = Graph(NODES, directed=[("c", "b"), ("b", "a")])
    assert cpdag_scores(chain, other_way).f1 == 1.0
    assert shd(chain, other_way) == 2
    assert shd(cpdag(chain), cpdag(other_way)) == 0


def test_nothing_found_and_nothing_there() -> None:
    empty = Graph(NODES)
    assert skeleton_scores(TRUTH, empty) == Scores(1.0, 0.0, 0.0)
    assert skeleton_scores(empty, TRUTH) == Scores(0.0, 1.0, 0.0)
    assert cpdag_scores(empty, empty) == Scores(1.0, 1.0, 1.0)


@pytest.mark.parametrize("measure", [skeleton_scores, arrowhead_scores, cpdag_scores, shd])
def test_different_nodes_cannot_be_compared(measure: object) -> None:
    with pytest.raises(InputError, match='only one has "d"'):
        measure(TRUTH, Graph(["a", "b", "c"]))  # type: ignore[operator]
