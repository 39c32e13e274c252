"""Chances of directions: equal to those of all graphs where these can be listed, and equal scores for equal classes."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from dpcausal.graphs.equivalence import cpdag
from dpcausal.graphs.graph import Graph
from dpcausal.stats.order_posterior import LocalScores, direction_chances, local_scores

NAMES = list("0123")


def random_dependence(seed):
    """Evidence for dependence among each subset of four columns, at random."""
    rng = np.random.default_rng(seed)
    of_set = {one: 0.0 for size in (0, 1) for one in combinations(range(4), size)}
    for size in (2, 3, 4):
        for one in combinations(range(4), size):
            of_set[one] = float(rng.normal(1.0, 2.0)) * (size - 1)

    return by_bits(of_set)


def by_bits(of_set):
    """Return a function that has the value of each subset of some columns by its bits."""

    def dependence(columns):
        subsets = ([z for i, z in enumerate(columns) if bits >> i & 1] for bits in range(1 << len(columns)))
        return np.array([of_set[tuple(sorted(one))] for one in subsets])

    return dependence


def all_dags():
    """Every directed acyclic graph on four columns, as parents by column, with the number of its orders."""
    pairs = list(combinations(range(4), 2))
    for marks in product((0, 1, 2), repeat=6):
        arrows = [(a, b) if mark == 1 else (b, a) for (a, b), mark in zip(pairs, marks, strict=True) if mark]
        orders = 0
        for order in (list(p) for p in _permutations()):
            place = {v: i for i, v in enumerate(order)}
            orders += all(place[a] < place[b] for a, b in arrows)
        if orders:
            yield arrows, orders


def _permutations():
    from itertools import permutations

    return permutations(range(4))


def score_of(local: LocalScores, arrows) -> float:
    total = 0.0
    for v in range(4):
        listed = local.candidates[v].tolist()
        total += local.scores[v, sum(1 << listed.index(a) for a, b in arrows if b == v)]
    return total


@pytest.fixture(scope="module")
def dags():
    return list(all_dags())


def test_graphs_of_one_class_have_one_score(dags):
    local = local_scores(random_dependence(3), [[z for z in range(4) if z != v] for v in range(4)], 0.7)
    by_class: dict[object, list[float]] = {}
    for arrows, _ in dags:
        graph = cpdag(Graph(NAMES, directed=[(str(a), str(b)) for a, b in arrows]))
        by_class.setdefault((graph.directed, graph.undirected), []).append(score_of(local, arrows))
    assert len(by_class) == 185  # classes of four columns
    assert max(max(scores) - min(scores) for scores in by_class.values()) < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_chances_are_those_of_all_graphs_with_their_orders(dags, seed):
    local = local_scores(random_dependence(seed), [[z for z in range(4) if z != v] for v in range(4)], 0.7)
    exact = np.zeros((4, 4))
    scores = np.array([score_of(local, arrows) for arrows, _ in dags])
    weights = np.exp(scores - scores.max()) * [orders for _, orders in dags]
    weights /= weights.sum()
    for (arrows, _), weight in zip(dags, weights, strict=True):
        for a, b in arrows:
            exact[a, b] += weight
    found = np.mean(
        [direction_chances(local, np.random.default_rng(100 * seed + i)) for i in range(16)], axis=0
    )
    # 2,400 graphs, not independent: ten standard errors of as many independent draws
    assert np.abs(found - exact).max() < 0.1


def test_no_arrow_where_none_is_allowed():
    everything = {one: 2.5 * size * (size - 1) for size in range(4) for one in combinations(range(3), size)}
    local = local_scores(by_bits(everything), [[], [0], [0, 1]], 0.0)
    chances = direction_chances(local, np.random.default_rng(1))
    assert chances[1, 0] == chances[2, 0] == chances[2, 1] == 0.0
    assert chances[0, 1] > 0.95


def test_every_candidate_may_be_a_parent():
    """Eight causes that are independent unless their effect is given all point to it."""
    d = 9
    of_set = {
        one: 20.0 * size * (size - 1) / 2 if d - 1 in one else -2.0 * max(size - 1, 0)
        for size in range(d + 1)
        for one in combinations(range(d), size)
    }
    local = local_scores(by_bits(of_set), [[z for z in range(d) if z != v] for v in range(d)], 3.0)
    chances = np.mean([direction_chances(local, np.random.default_rng(i)) for i in range(4)], axis=0)
    assert chances[: d - 1, d - 1].min() > 0.95
