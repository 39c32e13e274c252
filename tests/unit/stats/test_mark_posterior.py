"""Chances of marks: equal to those of all ancestral graphs of a skeleton where these can be listed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dpcausal.graphs.graph import Graph
from dpcausal.stats.mark_posterior import BOTH, HIDDEN, Triple, mark_chances

EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (1, 4)]  # a triangle and a ring of four


def ancestral(state) -> bool:
    """Whether no arrows make a cycle, and no edge with two heads links a column to a cause of its own."""
    names = [str(v) for v in range(5)]
    arrows = [edge[::-1] if kind else edge for edge, kind in zip(EDGES, state, strict=True) if kind != BOTH]
    graph = Graph(names, directed=[(str(a), str(b)) for a, b in arrows])
    if not graph.is_dag():
        return False
    both = [edge for edge, kind in zip(EDGES, state, strict=True) if kind == BOTH]
    return not any(
        str(a) in graph.ancestors([str(b)]) or str(b) in graph.ancestors([str(a)]) for a, b in both
    )


def head(state, edge, column) -> bool:
    return state[edge] == BOTH or EDGES[edge][1 - state[edge]] == column


def exact(triples, allowed):
    """The chances of heads, from all graphs."""
    found, total = np.zeros((len(EDGES), 2)), 0.0
    prior = [(1 - HIDDEN) / 2, (1 - HIDDEN) / 2, HIDDEN]
    for state in product(range(3), repeat=len(EDGES)):
        if not all(allowed[e, kind] for e, kind in enumerate(state)) or not ancestral(state):
            continue
        weight = np.prod([prior[kind] for kind in state])
        for one, other, middle, log in triples:
            if head(state, one, middle) and head(state, other, middle):
                weight *= np.exp(log)
        total += weight
        for e, ends in enumerate(EDGES):
            found[e] += [weight * head(state, e, column) for column in ends]
    return found / total


def some_triples(rng) -> list[Triple]:
    """Weights for every two edges that meet where the other ends are not adjacent."""
    found = []
    for i, one in enumerate(EDGES):
        for j, other in enumerate(EDGES[:i]):
            middle = set(one) & set(other)
            if middle and tuple(sorted(set(one) ^ set(other))) not in EDGES:
                found.append(Triple(i, j, middle.pop(), float(rng.normal(0.0, 2.0))))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_chances_are_those_of_all_ancestral_graphs(seed):
    rng = np.random.default_rng(seed)
    triples, allowed = some_triples(rng), np.ones((len(EDGES), 3), np.bool_)
    if seed % 2:  # an arrow that is declared, and an edge whose second column is known to be no cause
        allowed[0], allowed[3] = (True, False, False), (True, False, True)
    wanted = exact(triples, allowed)
    found = mark_chances(EDGES, triples, allowed, 5, np.random.default_rng(100 + seed))
    # 1,600 draws that depend on each other: about five standard errors of a tenth as many independent ones
    assert np.abs(found - wanted).max() < 0.2
    more = [mark_chances(EDGES, triples, allowed, 5, np.random.default_rng([seed, i])) for i in range(12)]
    assert np.abs(np.mean(more, axis=0) - wanted).max() < 0.05


def test_without_evidence_nothing_is_likely():
    found = mark_chances(EDGES, [], np.ones((len(EDGES), 3), np.bool_), 5, np.random.default_rng(1))
    assert found.max() < 0.8
    assert found.min() > 0.4
    assert (found.sum(axis=1) >= 1.0 - 1e-9).all()  # every edge has a head


def test_no_edges_have_no_marks():
    assert mark_chances([], [], np.ones((0, 3), np.bool_), 3, np.random.default_rng(1)).shape == (0, 2)
