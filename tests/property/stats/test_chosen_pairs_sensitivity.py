"""Sensitivity of chosen single columns and pairs together: every pair of rows for few columns, a search for many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dpcausal.core.neighbours import Neighbours
from dpcausal.stats.components import MAX_TRIED, Columns, interaction, sets_sensitivity
from dpcausal.stats.contrasts import all_pairs

REPLACE = Neighbours.REPLACE_ONE


def moved(sets: Sequence[Columns], sizes: list[int], old: np.ndarray, new: np.ndarray, norm: int) -> float:
    """What exchanging one row for another moves, computed from the tables themselves."""
    total = 0.0
    for columns in sets:
        table = np.zeros([sizes[j] for j in columns])
        table[tuple(old[j] for j in columns)] += 1.0
        table[tuple(new[j] for j in columns)] -= 1.0
        found = interaction(table)
        total += float((found**2).sum() if norm == 2 else np.abs(found).sum())
    return total


def chosen(rng: np.random.Generator, columns: int, share: float) -> list[Columns]:
    sets: list[Columns] = [*((j,) for j in range(columns)), *all_pairs(columns)]
    return [one for one in sets if rng.random() < share] or [(0, 1)]


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("seed", range(12))
def test_few_columns_the_bound_is_reached_and_never_passed(seed: int, norm: int) -> None:
    """All sets of differing columns are tried: 30% less would be passed."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 7))
    sizes = [int(size) for size in rng.integers(2, 5, d)]
    sets = chosen(rng, d, 0.6)
    bound = sets_sensitivity(sets, sizes, REPLACE, norm)
    old = np.zeros(d, dtype=int)
    found = [
        moved(sets, sizes, old, np.array([(differ >> j) & 1 for j in range(d)]), norm)
        for differ in range(1 << d)
    ]
    assert max(found) <= bound * (1 + 1e-12)
    assert max(found) >= bound * (1 - 1e-9)


@pytest.mark.thin(2)
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_many_columns_no_row_passes_the_bound(seed: int, norm: int) -> None:
    """Beyond ``MAX_TRIED`` columns an eigenvalue bounds it; a search that flips one column at a time comes near."""
    rng = np.random.default_rng(seed)
    d = MAX_TRIED + 4
    sizes = [int(size) for size in rng.integers(2, 4, d)]
    sets = [one for one in chosen(rng, d, 0.4) if len(one) == 2]
    bound = sets_sensitivity(sets, sizes, REPLACE, norm)
    old, best = np.zeros(d, dtype=int), 0.0
    for _ in range(3):
        new = rng.integers(0, 2, d)
        value, better = moved(sets, sizes, old, new, norm), True
        while better:
            better = False
            for j in range(d):
                new[j] ^= 1
                other = moved(sets, sizes, old, new, norm)
                if other > value:
                    value, better = other, True
                else:
                    new[j] ^= 1
        best = max(best, value)
    assert best <= bound
    assert best > 0.7 * bound


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("sets", [[(0, 1, 2)], [(0, 1, 2), (1, 2, 3)], [(0, 1, 2, 3), (0, 3), (2,)]])
def test_a_row_more_moves_tables_of_three_and_more_columns_by_the_bound(
    sets: list[Columns], norm: int
) -> None:
    """Which row is added does not matter: every one moves each component by as much."""
    sizes = [2, 3, 4, 2]
    bound = sets_sensitivity(sets, sizes, Neighbours.ADD_REMOVE, norm)
    for row in np.ndindex(*sizes):
        total = 0.0
        for columns in sets:
            table = np.zeros([sizes[j] for j in columns])
            table[tuple(row[j] for j in columns)] = 1.0
            found = interaction(table)
            total += float((found**2).sum() if norm == 2 else np.abs(found).sum())
        assert bound * (1 - 1e-9) <= total <= bound * (1 + 1e-12)
