from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from dpcausal.core.errors import InputError
from dpcausal.graphs import Graph, cpdag, extend, meek, orient, v_structures
from dpcausal.graphs.equivalence import nearest


def pair(a: str, b: str) -> frozenset[str]:
    return frozenset((a, b))


def test_collider_then_rule_1() -> None:
    skeleton = Graph(["a", "b", "c", "d"], undirected=[("a", "c"), ("b", "c"), ("c", "d")])
    separating = {pair("a", "b"): [], pair("a", "d"): ["c"], pair("b", "d"): ["c"]}
    assert orient(skeleton, separating).directed == {("a", "c"), ("b", "c"), ("c", "d")}


def test_a_pair_never_separated_gives_no_v_structure() -> None:
    skeleton = Graph(["a", "b", "c"], undirected=[("a", "c"), ("b", "c")])
    assert list(v_structures(skeleton, {})) == []
    assert orient(skeleton, {}).directed == set()


def test_directions_of_the_skeleton_are_ignored() -> None:
    skeleton = Graph(["a", "b"], directed=[("a", "b")])
    assert orient(skeleton, {}) == Graph(["a", "b"], undirected=[("a", "b")])


@pytest.mark.parametrize(
    ("directed", "undirected", "expected"),
    [
        ([("a", "b")], [("b", "c")], {("b", "c")}),  # rule 1
        ([("b", "a"), ("a", "c")], [("b", "c")], {("b", "c")}),  # rule 2
        ([("a", "c"), ("d", "c")], [("b", "a"), ("b", "d"), ("b", "c")], {("b", "c")}),  # rule 3
        ([("a", "d"), ("d", "c")], [("b", "a"), ("b", "d"), ("b", "c")], {("b", "c")}),  # rule 4
        ([("a", "b")], [("b", "c"), ("a", "c")], set()),  # a triangle decides nothing
    ],
)
def test_each_rule_alone(
    directed: list[tuple[str, str]], undirected: list[tuple[str, str]], expected: set[tuple[str, str]]
) -> None:
    nodes = sorted({name for edge in directed + undirected for name in edge})
    graph = Graph(nodes, directed, undirected)
    assert meek(graph).directed - graph.directed == expected


def test_contradicting_v_structures_leave_the_edge_plain_in_every_order_of_nodes() -> None:
    # a - b - c - d on a path: both b and c are claimed to be colliders, so b - c is claimed both ways.
    separating: dict[frozenset[str], list[str]] = {pair("a", "c"): [], pair("b", "d"): []}
    expected = Graph(["a", "b", "c", "d"], directed=[("a", "b"), ("d", "c")], undirected=[("b", "c")])
    for nodes in permutations("abcd"):
        skeleton = Graph(nodes, undirected=[("a", "b"), ("b", "c"), ("c", "d")])
        assert orient(skeleton, separating) == expected


def test_v_structures_that_close_a_cycle_leave_its_edges_plain() -> None:
    # A square a b c d in which every node but one is claimed a collider of pairs that chase each other.
    square = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    corners = [("w", "a"), ("x", "b"), ("y", "c"), ("z", "d")]
    nodes = sorted({name for edge in square + corners for name in edge})
    separating: dict[frozenset[str], list[str]] = {
        pair("w", "d"): [],
        pair("x", "a"): [],
        pair("y", "b"): [],
        pair("z", "c"): [],
    }
    for order in (nodes, nodes[::-1]):
        found = orient(Graph(order, undirected=square + corners), separating)
        assert found.undirected == {frozenset(edge) for edge in square}
        assert found.directed == set(corners)


def test_rules_that_contradict_each_other_leave_the_edge_plain() -> None:
    # Rule 1 wants b -> c because of a and c -> b because of d.
    graph = Graph(["a", "b", "c", "d"], directed=[("a", "b"), ("d", "c")], undirected=[("b", "c")])
    assert meek(graph) == graph


def test_required_arrows_win_over_a_v_structure() -> None:
    skeleton = Graph(["a", "b", "c"], undirected=[("a", "c"), ("b", "c")])
    found = orient(skeleton, {pair("a", "b"): []}, required=[("c", "a")])
    assert ("c", "a") in found.directed
    assert ("a", "c") not in found.directed


@pytest.mark.parametrize(
    "required", [[("a", "b")], [("a", "z")], [("a", "c"), ("c", "a")], [("a", "c"), ("c", "d"), ("d", "a")]]
)
def test_required_arrows_that_cannot_be(required: list[tuple[str, str]]) -> None:
    skeleton = Graph(["a", "b", "c", "d"], undirected=[("a", "c"), ("b", "c"), ("c", "d"), ("d", "a")])
    with pytest.raises(InputError):
        orient(skeleton, {}, required=required)


def test_meek_refuses_a_cycle() -> None:
    with pytest.raises(InputError, match="cycle"):
        meek(Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c"), ("c", "a")]))


def test_cpdag_refuses_what_is_no_dag() -> None:
    with pytest.raises(InputError, match="without a direction"):
        cpdag(Graph(["a", "b"], undirected=[("a", "b")]))
    with pytest.raises(InputError, match="cycle"):
        cpdag(Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c"), ("c", "a")]))


def test_extension_keeps_arrows_and_makes_no_v_structure() -> None:
    pdag = Graph(["a", "b", "c", "d"], directed=[("a", "b")], undirected=[("b", "c"), ("c", "d")])
    assert extend(pdag).directed == {("a", "b"), ("b", "c"), ("c", "d")}


@pytest.mark.parametrize(
    "pdag",
    [
        Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c"), ("c", "a")]),
        Graph(["a", "b", "c", "d"], directed=[("a", "b"), ("d", "c")], undirected=[("b", "c")]),
    ],
)
def test_no_extension_is_a_clear_error(pdag: Graph) -> None:
    with pytest.raises(InputError, match=r"no DAG|cycle"):
        extend(pdag)


def new_colliders(pdag: Graph, dag: Graph) -> set[frozenset[str]]:
    """Edges of unshielded colliders of ``dag`` that the arrows of ``pdag`` do not make."""
    found = set()
    for middle in dag.nodes:
        for a, b in combinations(sorted(dag.parents(middle)), 2):
            if a not in dag.adjacent(b) and not {(a, middle), (b, middle)} <= pdag.directed:
                found |= {frozenset((a, middle)), frozenset((b, middle))}
    return found


def test_nearest_dag_keeps_skeleton_and_arrows_and_says_what_it_adds() -> None:
    """Random partly directed graphs: what is called contradicted is exactly what the DAG adds, and often nothing."""
    rng = np.random.default_rng(0)
    names = ["a", "b", "c", "d", "e", "f"]
    clean = 0
    for _ in range(300):
        pairs = [pair for pair in combinations(names, 2) if rng.random() < 0.45]
        kinds = rng.random(len(pairs)) < 0.5
        pdag = Graph(
            names,
            directed=[p for p, arrow in zip(pairs, kinds, strict=True) if arrow],
            undirected=[p for p, arrow in zip(pairs, kinds, strict=True) if not arrow],
        )
        dag, contradicted = nearest(pdag)
        assert dag.is_dag
        assert dag.skeleton == pdag.skeleton
        assert pdag.directed <= dag.directed
        assert contradicted == new_colliders(pdag, dag)
        clean += not contradicted
    assert 30 < clean < 270


def test_nearest_extends_what_can_be_extended() -> None:
    """The CPDAG of any DAG has an extension, and it is of the same class."""
    rng = np.random.default_rng(1)
    names = ["a", "b", "c", "d", "e", "f", "g"]
    for _ in range(100):
        truth = Graph(names, directed=[p for p in combinations(names, 2) if rng.random() < 0.4])
        dag, contradicted = nearest(cpdag(truth))
        assert not contradicted
        assert cpdag(dag) == cpdag(truth)


def test_half_a_v_structure_gives_no_arrow() -> None:
    """a and b are separated by nothing and c lies between: a collider at c, but c -> b was declared."""
    skeleton = Graph(["a", "b", "c"], undirected=[("a", "c"), ("b", "c")])
    assert orient(skeleton, {frozenset("ab"): []}, required=[("c", "b")]) == Graph(
        ["a", "b", "c"], directed=[("c", "b")], undirected=[("a", "c")]
    )
    assert orient(skeleton, {frozenset("ab"): []}, required=[("a", "c")]).directed == {("a", "c"), ("b", "c")}
