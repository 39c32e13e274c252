"""The distance of a pair from independence: its values, and how far one row moves it (with searched neighbours)."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dpcausal.core.neighbours import Neighbours
from dpcausal.stats.pair_distance import IfIndependent, distance_sensitivity, if_independent, pair_distance

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


def searched(expected: np.ndarray, seed: int) -> dict[Neighbours, int]:
    """The largest change of a distance that one row makes, over tables near the expected one and every cell."""
    rng = np.random.default_rng(seed)
    independent = IfIndependent(expected, 3)
    found = dict.fromkeys((ADD, REPLACE), 0)
    cells = list(product(*map(range, expected.shape)))
    for _ in range(20):
        table = np.maximum(expected + rng.integers(-2, 3, expected.shape), 1)
        here = pair_distance(table, independent)
        for new in cells:
            more = table.copy()
            more[new] += 1
            found[ADD] = max(found[ADD], abs(pair_distance(more, independent) - here))
            for old in cells:
                other = more.copy()
                other[old] -= 1
                found[REPLACE] = max(found[REPLACE], abs(pair_distance(other, independent) - here))
    return found


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (4, 3)])
def test_one_row_moves_it_by_its_sensitivity_and_no_more(shape: tuple[int, int]) -> None:
    """Reached, so that a sensitivity 30% smaller would be passed."""
    expected = np.random.default_rng(1).integers(1, 9, shape)
    for relation, most in searched(expected, 2).items():
        assert most == distance_sensitivity(relation)


def test_sampling_alone_leaves_it_about_zero() -> None:
    """30 tables of independent columns: the mean is within 4 standard errors, of which one is about .5 rows."""
    rng = np.random.default_rng(3)
    p, q = np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.4])
    found = []
    for _ in range(30):
        x, y = rng.choice(3, 1000, p=p), rng.choice(2, 1000, p=q)
        table = np.zeros((3, 2), int)
        np.add.at(table, (x, y), 1)
        found.append(pair_distance(table, if_independent(table.sum(1) * 1.0, table.sum(0) * 1.0, 1000.0)))
    assert abs(np.mean(found)) < 4 * np.std(found) / 30**0.5 + 0.5  # counts are rounded
    assert np.std(found) > 5


def test_whatever_was_released_gives_whole_numbers() -> None:
    for x, y in (
        ([-5.0, -1.0], [0.0, 0.0, 0.0]),
        ([1e12, 3.0], [2.0, 2.0, 2.0]),
        ([0.0, 0.0], [1.0, -1.0, 9.0]),
    ):
        found = if_independent(np.array(x), np.array(y), 1e9)
        assert found.expected.dtype == np.int64
        assert found.expected.min() >= 0
        assert abs(int(found.expected.sum()) - 10**9) <= 6
        assert isinstance(found.by_chance, int)
