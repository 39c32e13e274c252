"""Chances of directions: equal to those of all graphs where these can be listed, and equal scores for equal classes."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from dpcausal.graphs.equivalence import cpdag
from dpcausal.graphs.graph import Graph
from dpcausal.stats.order_posterior import LocalScores, direction_chances, local_scores

NAMES = list("0123")


def random_evidence(seed):
    """Evidence of four columns that is consistent: made from a set function, as exact Bayes factors are."""
    rng = np.random.default_rng(seed)
    of_set = {one: 0.0 for size in (0, 1) for one in combinations(range(4), size)}
    for size in (2, 3, 4):
        for one in combinations(range(4), size):
            of_set[one] = float(rng.normal(1.0, 2.0)) * (size - 1)

    def evidence(x, y, given):
        whole = tuple(sorted((x, y, *given)))
        return (
            of_set[whole]
            - of_set[tuple(sorted((x, *given)))]
            - of_set[tuple(sorted((y, *given)))]
            + of_set[tuple(sorted(given))]
        )

    return evidence


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
    local = local_scores(random_evidence(3), [[z for z in range(4) if z != v] for v in range(4)], 0.7)
    by_class: dict[object, list[float]] = {}
    for arrows, _ in dags:
        graph = cpdag(Graph(NAMES, directed=[(str(a), str(b)) for a, b in arrows]))
        by_class.setdefault((graph.directed, graph.undirected), []).append(score_of(local, arrows))
    assert len(by_class) == 185  # classes of four columns
    assert max(max(scores) - min(scores) for scores in by_class.values()) < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_chances_are_those_of_all_graphs_with_their_orders(dags, seed):
    local = local_scores(random_evidence(seed), [[z for z in range(4) if z != v] for v in range(4)], 0.7)
    exact = np.zeros((4, 4))
    scores = np.array([score_of(local, arrows) for arrows, _ in dags])
    weights = np.exp(scores - scores.max()) * [orders for _, orders in dags]
    weights /= weights.sum()
    for (arrows, _), weight in zip(dags, weights, strict=True):
        for a, b in arrows:
            exact[a, b] += weight
    found = np.mean(
        [direction_chances(local, np.random.default_rng(100 * seed + i)) for i in range(4)], axis=0
    )
    # 2,400 graphs, not independent: ten standard errors of as many independent draws
    assert np.abs(found - exact).max() < 0.1


def test_no_arrow_where_none_is_allowed():
    local = local_scores(lambda x, y, given: 5.0, [[], [0], [0, 1]], 0.0)
    chances = direction_chances(local, np.random.default_rng(1))
    assert chances[1, 0] == chances[2, 0] == chances[2, 1] == 0.0
    assert chances[0, 1] > 0.95


def test_a_question_without_an_answer_adds_nothing():
    local = local_scores(lambda x, y, given: None if given else 3.0, [[1, 2], [0, 2], [0, 1]], 1.0)
    assert local.scores[0].tolist() == [0.0, 2.0, 2.0, -2.0]


def test_a_pair_of_which_nothing_is_known_takes_no_evidence_from_others():
    """0 and 1 surely depend, so do 1 and 2; 0 and 2 were not measured: given one of them no question has an answer."""

    def evidence(x, y, given):
        return 0.0 if given else {(0, 1): 90.0, (1, 2): 9.0, (0, 2): 0.0}[x, y]

    local = local_scores(evidence, [[1], [0, 2], [1]], 1.0)
    assert local.scores[1].tolist() == [0.0, 89.0, 8.0, 97.0]


def test_a_column_may_have_five_parents():
    """Five causes that are independent unless their effect is given all point to it."""

    def evidence(x, y, given):
        return 20.0 if y == 5 or 5 in given else -2.0

    local = local_scores(evidence, [[z for z in range(6) if z != v] for v in range(6)], 3.0)
    chances = direction_chances(local, np.random.default_rng(1))
    assert chances[:5, 5].min() > 0.95
