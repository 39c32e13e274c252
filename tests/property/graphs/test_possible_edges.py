"""Arrows where some pairs are open, against every DAG on four nodes that fits what is known."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from dpcausal.graphs import Graph, d_separated, meek, orient
from dpcausal.graphs.equivalence import consistent, nearest

NAMES = ("a", "b", "c", "d")
PAIRS = [frozenset(pair) for pair in combinations(NAMES, 2)]
SETS = {
    pair: [s for k in range(3) for s in combinations([n for n in NAMES if n not in pair], k)]
    for pair in PAIRS
}
Arrow = tuple[str, str]
Pair = frozenset[str]


@cache
def dags() -> list[Graph]:
    """All 543."""
    found = []
    for marks in product((None, 0, 1), repeat=len(PAIRS)):
        arrows = [
            tuple(sorted(pair, reverse=bool(mark)))
            for pair, mark in zip(PAIRS, marks, strict=True)
            if mark is not None
        ]
        graph = Graph(NAMES, directed=arrows)  # type: ignore[arg-type]
        if graph.is_dag():
            found.append(graph)
    return found


@cache
def separated() -> list[dict[Pair, frozenset[tuple[str, ...]]]]:
    """For every DAG and pair that is not adjacent, all sets that separate it."""
    return [
        {
            pair: frozenset(s for s in SETS[pair] if d_separated(dag, min(pair), max(pair), s))
            for pair in PAIRS
            if pair not in dag.skeleton
        }
        for dag in dags()
    ]


def fitting(
    edges: frozenset[Pair], possible: frozenset[Pair], sets: dict[Pair, tuple[str, ...]], fixed: set[Arrow]
) -> list[Graph]:
    """Every DAG with these edges, any of the possible ones, no other, these separations and these arrows."""
    return [
        dag
        for dag, apart in zip(dags(), separated(), strict=True)
        if edges <= dag.skeleton <= edges | possible
        and fixed <= dag.directed
        and all(given in apart[pair] for pair, given in sets.items())
    ]


def cases(many: int, seed: int) -> list[tuple[Graph, frozenset[Pair], dict[Pair, tuple[str, ...]]]]:
    """(true DAG, open pairs, a separating set of every absent pair)."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(many):
        i = int(rng.integers(len(dags())))
        possible = frozenset(pair for pair in PAIRS if rng.random() < 0.3)
        sets = {}
        for pair, apart in separated()[i].items():
            if pair not in possible:
                listed = sorted(apart)
                sets[pair] = listed[int(rng.integers(len(listed)))]
        found.append((dags()[i], possible, sets))
    return found


@pytest.mark.thin(2)
@pytest.mark.parametrize("known", [False, True])
def test_an_arrow_stands_in_every_graph_that_fits(known: bool) -> None:
    """1,000 graphs with about a third of the pairs open: no fitting DAG contradicts an arrow."""
    shown = missed = 0
    rng = np.random.default_rng(5)
    for truth, possible, sets in cases(1000, seed=1 + known):
        edges = truth.skeleton - possible
        fixed = {
            arrow for arrow in truth.directed if known and frozenset(arrow) in edges and rng.random() < 0.3
        }
        graph = orient(Graph(NAMES, undirected=edges), sets, fixed, possible)
        fits = fitting(edges, possible, sets, fixed)
        assert truth in fits
        shared = frozenset.intersection(*(dag.directed for dag in fits))
        assert graph.directed <= shared
        shown += len(graph.directed)
        missed += sum(frozenset(arrow) in edges for arrow in shared) - len(graph.directed)
        assert consistent(graph, fixed, settle=True, possible=possible) == (graph, frozenset())
    assert shown > 300
    assert missed <= 0.05 * shown  # the rules see triples, not longer paths through open pairs


def test_an_open_pair_taken_for_absent_gives_false_arrows() -> None:
    """The check above can fail: without ``possible`` some arrows are contradicted by a DAG that fits."""
    wrong = 0
    for truth, possible, sets in cases(1000, seed=1):
        edges = truth.skeleton - possible
        graph = orient(Graph(NAMES, undirected=edges), sets)
        wrong += any(not graph.directed <= dag.directed for dag in fitting(edges, possible, sets, set()))
    assert wrong > 5


def colliders(arrows: frozenset[Arrow], shielded: frozenset[Pair]) -> set[tuple[Pair, str]]:
    parents: dict[str, list[str]] = {}
    for tail, head in arrows:
        parents.setdefault(head, []).append(tail)
    return {
        (frozenset(ends), middle)
        for middle, tails in parents.items()
        for ends in combinations(sorted(tails), 2)
        if frozenset(ends) not in shielded
    }


def test_contradictions_are_told_exactly_where_no_dag_fits() -> None:
    """1,500 partly directed graphs with open pairs: none is contradicted iff some DAG adds no collider."""
    rng = np.random.default_rng(3)
    clean = 0
    for _ in range(1500):
        kinds = rng.choice(["none", "arrow", "plain", "open"], len(PAIRS), p=[0.3, 0.25, 0.3, 0.15])
        arrows = [tuple(sorted(p)) for p, kind in zip(PAIRS, kinds, strict=True) if kind == "arrow"]
        plain = [p for p, kind in zip(PAIRS, kinds, strict=True) if kind == "plain"]
        possible = frozenset(p for p, kind in zip(PAIRS, kinds, strict=True) if kind == "open")
        graph = Graph(NAMES, directed=arrows, undirected=plain)  # type: ignore[arg-type]
        shielded = graph.skeleton | possible
        have = colliders(graph.directed, shielded)
        fits = [
            dag
            for dag in dags()
            if dag.skeleton == graph.skeleton
            and graph.directed <= dag.directed
            and colliders(dag.directed, shielded) == have
        ]
        dag, contradicted = nearest(graph, possible)
        assert bool(contradicted) == (not fits)
        assert contradicted or dag in fits
        clean += not contradicted
        settled, _ = consistent(graph, [], settle=True, possible=possible)
        assert not nearest(settled, possible)[1]
        if contradicted:
            assert settled == meek(settled, possible)
            assert settled.directed <= dag.directed
    assert 300 < clean < 1490
