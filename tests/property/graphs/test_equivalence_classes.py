"""CPDAG, Meek's rules and extension against every DAG on a few nodes, grouped by v-structures and skeleton.

Five nodes have 29281 DAGs in 8782 classes; they take a few seconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import combinations, product

import pytest

from dpcausal.core.errors import InputError
from dpcausal.graphs import Graph, cpdag, d_separated, extend, meek, orient

Arrows = frozenset[tuple[int, int]]


def acyclic(size: int, arrows: Arrows) -> bool:
    left = set(range(size))
    while left:
        sinks = {i for i in left if not any(tail == i and head in left for tail, head in arrows)}
        if not sinks:
            return False
        left -= sinks
    return True


def all_dags(size: int) -> Iterator[Arrows]:
    pairs = list(combinations(range(size), 2))
    for marks in product((None, 0, 1), repeat=len(pairs)):
        arrows = frozenset(
            pair if mark == 0 else pair[::-1]
            for pair, mark in zip(pairs, marks, strict=True)
            if mark is not None
        )
        if acyclic(size, arrows):
            yield arrows


def v_structures(size: int, arrows: Arrows) -> frozenset[tuple[int, int, int]]:
    skeleton = {frozenset(arrow) for arrow in arrows}
    return frozenset(
        (a, c, b)
        for a, b in combinations(range(size), 2)
        for c in range(size)
        if (a, c) in arrows and (b, c) in arrows and frozenset((a, b)) not in skeleton
    )


@cache
def classes(size: int) -> list[list[Arrows]]:
    found: dict[object, list[Arrows]] = defaultdict(list)
    for arrows in all_dags(size):
        found[frozenset(frozenset(arrow) for arrow in arrows), v_structures(size, arrows)].append(arrows)
    return list(found.values())


def graph(size: int, arrows: Arrows, plain: frozenset[frozenset[int]] = frozenset()) -> Graph:
    return Graph(
        [str(i) for i in range(size)],
        [(str(a), str(b)) for a, b in arrows],
        [{str(i) for i in e} for e in plain],
    )


def summary(size: int, members: list[Arrows]) -> Graph:
    """Arrows that all members share; every other edge plain."""
    shared = frozenset.intersection(*members)
    return graph(size, shared, frozenset(frozenset(arrow) for arrow in members[0] - shared))


@pytest.mark.parametrize(("size", "dags", "count"), [(3, 25, 11), (4, 543, 185), (5, 29281, 8782)])
def test_the_enumeration_has_the_published_sizes(size: int, dags: int, count: int) -> None:
    # OEIS A003024 (labelled DAGs) and A007984 (Markov equivalence classes).
    assert sum(map(len, classes(size))) == dags
    assert len(classes(size)) == count


@pytest.mark.parametrize("size", [2, 3, 4])
def test_cpdag_of_every_member_is_the_shared_part_of_its_class(size: int) -> None:
    for members in classes(size):
        expected = summary(size, members)
        for member in members:
            assert cpdag(graph(size, member)) == expected


@pytest.mark.slow
def test_cpdag_and_extension_of_every_class_on_five_nodes() -> None:
    for members in classes(5):
        expected = summary(5, members)
        dags = [graph(5, member) for member in members]
        assert all(cpdag(dag) == expected for dag in dags)
        assert extend(expected) in dags


@pytest.mark.parametrize("size", [3, 4])
def test_orient_from_true_separating_sets_is_the_cpdag(size: int) -> None:
    for members in classes(size):
        dag = graph(size, members[0])
        separating = {}
        for a, b in combinations(dag.nodes, 2):
            if frozenset((a, b)) not in dag.skeleton:
                others = [name for name in dag.nodes if name not in (a, b)]
                subsets = (s for k in range(len(others) + 1) for s in combinations(others, k))
                separating[frozenset((a, b))] = next(s for s in subsets if d_separated(dag, a, b, s))
        skeleton = Graph(dag.nodes, undirected=dag.skeleton)
        assert orient(skeleton, separating) == summary(size, members)


def test_orient_finds_the_same_cpdag_as_edge_labelling_on_five_nodes() -> None:
    for members in classes(5)[::3]:
        dag = graph(5, members[-1])
        # A parent set of one end separates any pair that is not adjacent.
        separating = {
            frozenset((a, b)): dag.parents(a) if b not in descendants(dag, a) else dag.parents(b)
            for a, b in combinations(dag.nodes, 2)
            if frozenset((a, b)) not in dag.skeleton
        }
        assert orient(Graph(dag.nodes, undirected=dag.skeleton), separating) == cpdag(dag)


def descendants(dag: Graph, node: str) -> set[str]:
    return {name for name in dag.nodes if node in dag.ancestors([name])}


def test_meek_with_background_knowledge_is_complete_on_four_nodes() -> None:
    """Fix one or two arrows of a member: exactly what all members with them share becomes an arrow."""
    for members in classes(4):
        start = summary(4, members)
        loose = [arrow for arrow in members[0] if (str(arrow[0]), str(arrow[1])) not in start.directed]
        for count in (1, 2):
            for knowledge in combinations(loose, count):
                agreeing = [member for member in members if set(knowledge) <= member]
                fixed = {(str(a), str(b)) for a, b in knowledge}
                given = Graph(
                    start.nodes,
                    start.directed | fixed,
                    start.undirected - {frozenset(arrow) for arrow in fixed},
                )
                assert meek(given) == summary(4, agreeing)


def test_extension_exists_exactly_when_a_dag_agrees_on_every_partial_graph_of_three_nodes() -> None:
    names = ["0", "1", "2"]
    dags = [graph(3, arrows) for arrows in all_dags(3)]
    tried = 0
    for marks in product((None, "->", "<-", "-"), repeat=3):
        directed, undirected = [], []
        for (a, b), mark in zip(combinations(names, 2), marks, strict=True):
            if mark == "-":
                undirected.append((a, b))
            elif mark:
                directed.append((a, b) if mark == "->" else (b, a))
        pdag = Graph(names, directed, undirected)
        agreeing = [
            dag
            for dag in dags
            if dag.skeleton == pdag.skeleton
            and pdag.directed <= dag.directed
            and colliders(dag) == colliders(pdag)
        ]
        try:
            assert extend(pdag) in agreeing
        except InputError:
            assert agreeing == []
        tried += 1
    assert tried == 64


def colliders(g: Graph) -> set[tuple[frozenset[str], str]]:
    return {
        (frozenset((a, b)), c)
        for c in g.nodes
        for a, b in combinations(sorted(g.parents(c)), 2)
        if frozenset((a, b)) not in g.skeleton
    }
