"""Both distance scores: exact against a search outward from every table, sensitivity 1 attained, less is caught."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpcausal.stats.distance import any_row_distance, fixed_labels_distance

Table = tuple[int, ...]


def tables(n: int) -> list[Table]:
    return [t for t in itertools.product(range(n + 1), repeat=4) if sum(t) == n]


def moved(t: Table) -> list[Table]:
    out = []
    for i, j in itertools.permutations(range(4), 2):
        if t[i] > 0:
            new = list(t)
            new[i] -= 1
            new[j] += 1
            out.append(tuple(new))
    return out


def outward(
    nodes: list[Table], neighbours: dict[Table, list[Table]], kind: dict[Table, bool]
) -> dict[Table, float]:
    """The score from the definition: layers around the border between the two kinds."""
    layer = [t for t in nodes if any(kind[t] != kind[u] for u in neighbours[t])]
    distance = dict.fromkeys(layer, 1)
    while layer:
        layer = [u for t in layer for u in neighbours[t] if u not in distance and kind[u] == kind[t]]
        layer = list(dict.fromkeys(layer))
        # every table of the new layer is one step farther than the layer before
        for u in layer:
            distance[u] = 1 + min(distance[v] for v in neighbours[u] if v in distance and kind[v] == kind[u])
    return {t: (distance[t] - 0.5) * (1 if kind[t] else -1) for t in distance}


@pytest.mark.parametrize(("n1", "n0"), [(7, 9), (12, 5), (1, 8), (10, 10)])
@pytest.mark.parametrize("tau", [1.5, 3.84, 9.0])
def test_fixed_labels(n1: int, n0: int, tau: float) -> None:
    nodes = list(itertools.product(range(n1 + 1), range(n0 + 1)))
    neighbours = {
        (a, b): [
            (x, y)
            for x, y in ((a - 1, b), (a + 1, b), (a, b - 1), (a, b + 1))
            if 0 <= x <= n1 and 0 <= y <= n0
        ]
        for a, b in nodes
    }
    score = {t: fixed_labels_distance(*t, n1, n0, tau) for t in nodes}
    expected = outward(nodes, neighbours, {t: s > 0 for t, s in score.items()})
    if expected:
        assert score == expected
    else:
        assert len(set(score.values())) == 1
    jumps = [abs(score[t] - score[u]) for t in nodes for u in neighbours[t]]
    assert max(jumps) <= 1.0
    if expected:
        assert max(jumps) == 1.0 > 0.7  # attained, so a constant 30% too small fails this very search


@pytest.mark.parametrize(("n", "tau"), [(8, 3.84), (12, 3.84), (14, 6.63), (11, 1.0)])
def test_any_row(n: int, tau: float) -> None:
    nodes = tables(n)
    neighbours = {t: moved(t) for t in nodes}
    score = {t: any_row_distance(*t, tau) for t in nodes}
    assert score == outward(nodes, neighbours, {t: s > 0 for t, s in score.items()})
    assert max(abs(score[t] - score[u]) for t in nodes for u in neighbours[t]) == 1.0


def test_plain_signed_distance_has_sensitivity_two() -> None:
    nodes = tables(8)
    plain = {t: s + (0.5 if s > 0 else -0.5) for t in nodes for s in [any_row_distance(*t, 3.84)]}
    assert max(abs(plain[t] - plain[u]) for t in nodes for u in moved(t)) == 2.0


def test_random_larger_tables() -> None:
    rng = np.random.default_rng(4)
    for _ in range(300):
        n = int(rng.integers(20, 400))
        t = tuple(int(x) for x in rng.multinomial(n, rng.dirichlet(np.full(4, 0.7))))
        here = any_row_distance(*t, 3.84)
        u = moved(t)[int(rng.integers(len(moved(t))))]
        assert abs(here - any_row_distance(*u, 3.84)) <= 1.0
        n1, n0 = t[0] + t[1], t[2] + t[3]
        if min(n1, n0) > 0 and t[1] > 0:
            near = fixed_labels_distance(t[0], t[2], n1, n0, 3.84)
            assert abs(near - fixed_labels_distance(t[0] + 1, t[2], n1, n0, 3.84)) <= 1.0
