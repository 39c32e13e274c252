from __future__ import annotations

import pickle

import pytest

from dpcausal.core.errors import InputError
from dpcausal.graphs import Graph

MIXED = Graph(["a", "b", "c", "d"], directed=[("a", "b"), ("c", "b")], undirected=[("c", "d")])


def test_parts_are_frozensets_of_names() -> None:
    assert MIXED.nodes == ("a", "b", "c", "d")
    assert MIXED.directed == {("a", "b"), ("c", "b")}
    assert MIXED.undirected == {frozenset("cd")}
    assert MIXED.skeleton == {frozenset("ab"), frozenset("bc"), frozenset("cd")}


def test_kinship() -> None:
    assert MIXED.parents("b") == {"a", "c"}
    assert MIXED.children("c") == {"b"}
    assert MIXED.neighbours("c") == {"d"}
    assert MIXED.adjacent("c") == {"b", "d"}
    assert MIXED.ancestors(["b"]) == {"a", "b", "c"}


def test_equality_ignores_order_of_nodes_and_edges_but_not_marks() -> None:
    same = Graph(["d", "c", "b", "a"], directed=[("c", "b"), ("a", "b")], undirected=[["d", "c"]])
    assert same == MIXED
    assert hash(same) == hash(MIXED)
    assert Graph(["a", "b"], directed=[("a", "b")]) != Graph(["a", "b"], directed=[("b", "a")])
    assert Graph(["a", "b"], directed=[("a", "b")]) != Graph(["a", "b"], undirected=[("a", "b")])
    assert Graph(["a", "b"]) != Graph(["a", "b", "c"])
    assert Graph(["a"]) != "a"


def test_nothing_can_be_assigned() -> None:
    with pytest.raises(AttributeError):
        MIXED.directed = frozenset()  # type: ignore[misc]
    with pytest.raises(AttributeError):
        MIXED.colour = "red"  # type: ignore[attr-defined]


def test_pickle_keeps_the_graph() -> None:
    assert pickle.loads(pickle.dumps(MIXED)) == MIXED  # noqa: S301


def test_repr_names_edges_and_lonely_nodes() -> None:
    assert repr(Graph(["x", "a", "b"], directed=[("b", "a")])) == "Graph(b -> a, x)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"directed": [("a", "smok")]}, 'no node "smok" (did you mean "smoke"?)'),
        ({"directed": [("a", "a")]}, 'from "a" to itself'),
        ({"undirected": [{"a"}]}, 'from "a" to itself'),
        ({"directed": [("a", "smoke"), ("smoke", "a")]}, "two different edges between"),
        ({"directed": [("a", "smoke")], "undirected": [("smoke", "a")]}, "two different edges between"),
        ({"directed": [{"a", "smoke"}]}, "must be a pair (tail, head)"),
        ({"directed": ["as"]}, "must be a pair (tail, head)"),
        ({"undirected": [("a", "smoke", "b")]}, "must be a pair of nodes"),
        ({"undirected": [("a", 7)]}, 'no node "7"'),
        ({"undirected": [3]}, "must be a pair of nodes"),
    ],
)
def test_bad_edges_are_one_clear_error(arguments: dict[str, list[object]], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Graph(["a", "smoke"], **arguments)  # type: ignore[arg-type]
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("nodes", [["a", "a"], [""], [3], [["a"]], ["a\x00"], ["\ud800"], "ab"])
def test_bad_names_are_refused(nodes: list[str]) -> None:
    with pytest.raises(InputError):
        Graph(nodes)


def test_unknown_node_in_a_question() -> None:
    with pytest.raises(InputError, match='no node "z"'):
        MIXED.parents("z")


def test_topological_order_puts_tails_first() -> None:
    dag = Graph(["c", "b", "a"], directed=[("a", "b"), ("b", "c"), ("a", "c")])
    assert dag.topological_order() == ("a", "b", "c")
    assert dag.is_dag()


def test_cycles_and_plain_edges_are_no_dag() -> None:
    cycle = Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c"), ("c", "a")])
    assert not cycle.is_dag()
    assert not MIXED.is_dag()
    with pytest.raises(InputError, match="directed cycle"):
        cycle.topological_order()


def test_edges_come_in_the_order_of_the_nodes() -> None:
    assert list(MIXED.edges()) == [("a", "b", True), ("c", "b", True), ("c", "d", False)]
