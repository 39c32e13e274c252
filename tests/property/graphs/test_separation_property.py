"""The walk against the moral graph criterion, which knows nothing of balls or colliders."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from dpcausal.graphs import Graph, cpdag, d_separated


@st.composite
def dags(draw: st.DrawFn, most: int = 7) -> Graph:
    size = draw(st.integers(2, most))
    order = draw(st.permutations([f"v{i}" for i in range(size)]))
    chosen = draw(st.lists(st.booleans(), min_size=size * (size - 1) // 2, max_size=size * (size - 1) // 2))
    arrows = [pair for pair, keep in zip(combinations(order, 2), chosen, strict=True) if keep]
    return Graph(sorted(order), directed=arrows)


def separated_by_moral_graph(dag: Graph, x: str, y: str, given_nodes: set[str]) -> bool:
    """Lauritzen et al. (1990): without given, the moral graph of the ancestors falls apart."""
    kept = dag.ancestors({x, y} | given_nodes)
    near: dict[str, set[str]] = {name: set() for name in kept}
    for child in kept:
        family = [*dag.parents(child), child]
        for a, b in combinations(family, 2):
            near[a].add(b)
            near[b].add(a)
    seen, waiting = {x}, [x]
    while waiting:
        for other in near[waiting.pop()] - seen - given_nodes:
            seen.add(other)
            waiting.append(other)
    return y not in seen


@settings(max_examples=300, deadline=None)
@given(dags(), st.data())
def test_walk_agrees_with_the_moral_graph(dag: Graph, data: st.DataObject) -> None:
    x, y, *others = data.draw(st.permutations(dag.nodes))
    conditioning = set(data.draw(st.lists(st.sampled_from(others), unique=True))) if others else set()
    assert d_separated(dag, x, y, conditioning) == separated_by_moral_graph(dag, x, y, conditioning)


@settings(max_examples=60, deadline=None)
@given(dags(most=5))
def test_parents_separate_a_node_from_its_other_non_descendants(dag: Graph) -> None:
    for node in dag.nodes:
        for other in dag.nodes:
            if other != node and other not in dag.parents(node) and node not in dag.ancestors([other]):
                assert d_separated(dag, node, other, dag.parents(node))


@settings(max_examples=60, deadline=None)
@given(dags(most=5))
def test_cpdag_has_the_same_skeleton_and_only_arrows_of_the_dag(dag: Graph) -> None:
    found = cpdag(dag)
    assert found.skeleton == dag.skeleton
    assert found.directed <= dag.directed
