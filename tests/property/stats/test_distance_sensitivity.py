"""The distance score: exact against a search outward from every table, sensitivity 1 attained, less is caught."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpcausal.stats.unit_circle import fixed_labels_distance

Table = tuple[int, ...]


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


def test_plain_signed_distance_has_sensitivity_two() -> None:
    score = np.array([[fixed_labels_distance(a, b, 7, 9, 3.84) for b in range(10)] for a in range(8)])
    plain = score + 0.5 * np.sign(score)
    assert max(np.abs(np.diff(plain, axis=axis)).max() for axis in (0, 1)) == 2.0


def test_random_larger_tables() -> None:
    rng = np.random.default_rng(4)
    for _ in range(300):
        n1, n0 = (int(size) for size in rng.integers(5, 200, 2))
        a, b = int(rng.integers(n1)), int(rng.integers(n0))
        here = fixed_labels_distance(a, b, n1, n0, 3.84)
        assert abs(here - fixed_labels_distance(a + 1, b, n1, n0, 3.84)) <= 1.0
        assert abs(here - fixed_labels_distance(a, b + 1, n1, n0, 3.84)) <= 1.0
