"""Directions from pairs: nothing is said where nothing is known, and superfluous edges turn no arrow."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dpcausal.discovery.directions import directions_by_pairs
from dpcausal.stats.contrasts import Contrasts, Features

ROWS = 5_000.0
HALVES = Features.of(np.array([ROWS / 2, ROWS / 2]), ROWS, 0.0)


def yes_no(columns, correlations, noise, unmeasured=()):
    """Contrasts of columns of 50%: these correlations, others 0, noise of so many rows in every pair."""
    pairs, variances = {}, {(i,): 0.0 for i in range(columns)}
    for pair in combinations(range(columns), 2):
        variances[pair] = noise**2
        if pair not in unmeasured:
            part = ROWS * correlations.get(pair, 0.0) / 4.0
            pairs[pair] = np.array([[part, -part], [-part, part]])
    return Contrasts.of([HALVES] * columns, ROWS, pairs, variances)


def chances(contrasts, edges, cost=0.5):
    d = len(contrasts.columns)
    return directions_by_pairs(contrasts, edges, np.ones((d, d), bool), cost, 0.025)


def test_a_tree_of_pairs_alone_gives_no_arrow():
    """Whether leaves of a star are independent was not measured: no edge of it points either way."""
    for leaves in (5, 15):  # more than a column has candidates
        star = {(0, leaf): 0.5 for leaf in range(1, leaves + 1)}
        others = [pair for pair in combinations(range(20), 2) if pair not in star]
        found = chances(yes_no(20, star, 5.0, unmeasured=others), list(star))
        assert len(found) == 2 * leaves
        assert max(found.values()) < 0.6


def test_a_collider_has_its_arrows():
    """Two columns that are independent, and not so given a third: an edge between them costs too much to turn it."""
    links = {(0, 2): 0.45, (1, 2): 0.45}
    found = chances(yes_no(3, links, 20.0), list(links))
    assert found[0, 2] > 0.9
    assert found[1, 2] > 0.9


@pytest.mark.parametrize("causes", [8, 12])
def test_an_outcome_with_many_causes_points_to_none_of_them(causes):
    """Independent causes of one outcome: the eight strongest point to it, and no edge points away from it."""
    links = {(j, causes): 0.28 - 0.005 * j for j in range(causes)}
    found = chances(yes_no(causes + 1, links, 5.0), list(links))
    assert min(found[j, causes] for j in range(8)) > 0.8
    assert max(found[causes, j] for j in range(causes)) <= 0.5
