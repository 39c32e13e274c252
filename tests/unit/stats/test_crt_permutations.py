"""Permutations within cells and pairs: their law, and a search under the coupling that the proof takes."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.stats.crt import (
    crt_sensitivity,
    crt_statistic,
    permuted_in_cells,
    places_in_cells,
    rank_scores,
    swap_chances,
    swapped_pairs,
)
from dpcausal.stats.value_ranks import ranked

Rows = NDArray[np.float64]  # u, y


def test_every_permutation_within_cells_comes_from_one_set_of_draws() -> None:
    cell = np.array([0, 1, 0, 1, 0])
    draws = product(*(range(t) for t in places_in_cells(cell)))
    found = Counter(tuple(permuted_in_cells(cell, np.array(drawn)).tolist()) for drawn in draws)
    assert len(found) == 6 * 2
    assert set(found.values()) == {1}
    assert all(cell[list(source)].tolist() == cell.tolist() for source in found)


def test_swaps_of_pairs() -> None:
    order = np.array([4, 1, 0, 3, 2])
    assert swapped_pairs(5, order, np.array([True, False])).tolist() == [0, 4, 2, 3, 1]
    assert swapped_pairs(5, order, np.array([True, True])).tolist() == [3, 4, 2, 0, 1]
    assert swapped_pairs(1, np.array([0]), np.zeros(0, bool)).tolist() == [0]
    chances = swap_chances(np.log([0.8, 0.0, 1.0]), np.log([0.2, 0.5, 0.0]))
    assert chances == pytest.approx([0.2, 1.0, 0.0])
    assert swap_chances(np.array([-np.inf]), np.array([-np.inf])).tolist() == [0.5]


def value(rows: Rows, source: list[int], score: str) -> float:
    """T of the copy in which row i gets the u of row source[i]; one cell."""
    u = rows[source, :1]
    v = rows[:, 1] if score == "plain" else rank_scores(ranked(rows[:, 1]), np.zeros(len(rows), np.int64), 1)
    return float(u[:, 0] @ v)


def without_last(source: tuple[int, ...]) -> list[int]:
    """The permutation with its last row deleted from its cycle."""
    last = len(source) - 1
    return [source[last] if place == last else place for place in source[:last]]


def furthest(score: str, n: int, seed: int) -> float:
    """The largest change when the last of n rows goes, over all permutations, for rows at the ends."""
    rng = np.random.default_rng(seed)
    best = 0.0
    for _ in range(60):
        y = rng.choice([-1.0, 1.0], n) if score == "plain" else rng.permutation(n).astype(float)
        rows = np.column_stack([rng.choice([-1.0, 1.0], n), y])
        for source in permutations(range(n)):
            moved = value(rows, list(source), score) - value(rows[:-1], without_last(source), score)
            best = max(best, abs(moved))
    return best


@pytest.mark.parametrize("score", ["plain", "ranks"])
def test_a_row_that_goes_moves_a_copy_within_the_bound_and_near_it(score: str) -> None:
    bound = crt_sensitivity("add-remove", score, copies="cells")  # type: ignore[arg-type]
    found = max(furthest(score, n, n) for n in (2, 3, 5))
    assert found <= bound
    assert found > 0.7 * bound if score == "plain" else found > 0.6 * bound  # ranks: (n - 1)/n of it at most
    assert crt_sensitivity("replace-one", score, copies="cells") == 2 * bound  # type: ignore[arg-type]


def far_rank_case(n: int) -> float:
    """The value that the first row gets goes on to the last row of the cell when the first row leaves."""
    u = np.array([-1.0] * (n - 2) + [1.0, -1.0])  # the last row p is above all, with u of -1
    y = np.arange(n, dtype=float)
    source = list(range(n))
    source[n - 1], source[0], source[n - 2] = n - 2, n - 1, 0  # p gets the 1; the lowest row gets p's
    rows = np.column_stack([u, y])
    return abs(value(rows, source, "ranks") - value(rows[:-1], without_last(tuple(source)), "ranks"))


def test_ranks_come_to_the_bound_as_cells_grow() -> None:
    bound = crt_sensitivity("add-remove", "ranks", copies="cells")
    assert 0.97 * bound < far_rank_case(200) <= bound
    assert far_rank_case(200) > 0.7 * bound  # so that a bound 30% too small fails


@pytest.mark.parametrize("score", ["plain", "ranks"])
def test_pairs_move_a_copy_within_the_bound(score: str) -> None:
    """Row p and the value that its partner q gets may be anything; y and z of q, and all other pairs, stay."""
    bound = crt_sensitivity("replace-one", score, copies="pairs")  # type: ignore[arg-type]
    rng = np.random.default_rng(2)
    best = 0.0
    for n in (2, 3, 8, 60):
        for trial in range(200):
            y = rng.choice([-1.0, 1.0], n) if score == "plain" else np.arange(n) + 0.0
            u = np.full(n, -1.0) if trial % 2 else rng.choice([-1.0, 1.0], n)
            before, after = np.column_stack([u, y]), np.column_stack([u, y])
            p, q = (0, n - 1) if trial % 4 == 1 else rng.permutation(n)[:2]
            before[p, 0], after[p, 0] = rng.choice([-1.0, 1.0], 2)
            before[q, 0], after[q, 0] = rng.choice([-1.0, 1.0], 2)
            before[p, 1], after[p, 1] = (
                rng.choice([-1.0, 1.0], 2) if score == "plain" else rng.choice([-1.0, n], 2)
            )
            keep = list(range(n))
            best = max(best, abs(value(before, keep, score) - value(after, keep, score)))
    assert 0.75 * bound < best <= bound


def test_what_is_not_proved_is_refused() -> None:
    with pytest.raises(InputError, match="replace-one"):
        crt_sensitivity("add-remove", "ranks", copies="pairs")
    for copies in ("cells", "pairs"):
        with pytest.raises(InputError, match="kernel"):
            crt_sensitivity("replace-one", "kernel", copies=copies)  # type: ignore[arg-type]
    assert crt_statistic(np.ones((3, 1)), np.ones((3, 1))) == 3.0
