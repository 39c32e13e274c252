"""Orientation from answers that contradict each other: no cycle, no lost edge, no dependence on order."""

from __future__ import annotations

from itertools import combinations
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from dpcausal.graphs import Graph, orient

Evidence = tuple[list[tuple[str, str]], dict[frozenset[str], list[str]]]


@st.composite
def evidence(draw: st.DrawFn) -> Evidence:
    """A skeleton on up to seven nodes and a separating set drawn at random for each pair that is not adjacent."""
    nodes = [f"v{i}" for i in range(draw(st.integers(3, 7)))]
    edges = [pair for pair in combinations(nodes, 2) if draw(st.booleans())]
    separating = {
        frozenset(pair): draw(st.lists(st.sampled_from(nodes), max_size=2))
        for pair in combinations(nodes, 2)
        if pair not in edges
    }
    return edges, separating


@settings(max_examples=300, deadline=None)
@given(evidence(), st.randoms(use_true_random=False))
def test_contradicting_answers(drawn: Evidence, shuffler: Random) -> None:
    edges, separating = drawn
    nodes = sorted({name for pair in [*edges, *map(tuple, separating)] for name in pair})
    found = orient(Graph(nodes, undirected=edges), separating)
    assert found.skeleton == {frozenset(pair) for pair in edges}
    found.topological_order()  # raises on a directed cycle
    shuffled = shuffler.sample(nodes, len(nodes))
    assert orient(Graph(shuffled, undirected=edges), separating) == found


@settings(max_examples=150, deadline=None)
@given(evidence(), st.data())
def test_required_arrows_are_kept(drawn: Evidence, data: st.DataObject) -> None:
    edges, separating = drawn
    required = data.draw(st.lists(st.sampled_from(edges), unique=True)) if edges else []
    nodes = sorted({name for pair in [*edges, *map(tuple, separating)] for name in pair})
    found = orient(Graph(nodes, undirected=edges), separating, required)
    assert set(required) <= found.directed
    assert found.topological_order()
