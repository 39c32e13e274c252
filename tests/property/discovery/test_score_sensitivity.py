"""Search for neighbours that move the score by more than its proof allows; the search does break smaller claims."""

from __future__ import annotations

import numpy as np
import pytest

from dpcausal.core.neighbours import Neighbours
from dpcausal.data.columns import Categorical, Numeric
from dpcausal.discovery.em_pc import count_scores
from dpcausal.discovery.scores import splits
from dpcausal.stats.evidence import score, score_sensitivity, table_evidence

SHAPES = [(1, 2, 2), (2, 2, 2), (5, 2, 2), (1, 3, 3), (2, 3, 4), (4, 2, 3)]
THRESHOLDS = (0.1, 1.0, 2.6, 6.0)
Cell = tuple[int, int, int]


def sides(levels: int, ordered: bool) -> np.ndarray:
    return splits(Categorical([f"l{i}" for i in range(levels)], ordered=ordered))


def evidence(table: np.ndarray, threshold: float, ordered: bool) -> np.ndarray:
    x, y = sides(table.shape[1], ordered), sides(table.shape[2], ordered)
    return np.array(table_evidence(np.ascontiguousarray(table), x, y, threshold))


def moves(table: np.ndarray, neighbours: Neighbours) -> list[np.ndarray]:
    """Every neighbour of a table."""
    cells: list[Cell] = list(np.ndindex(*table.shape))  # type: ignore[arg-type]
    added = []
    for cell in cells:
        larger = table.copy()
        larger[cell] += 1
        added.append(larger)
    if neighbours is Neighbours.ADD_REMOVE:
        return added
    found = []
    for larger in added:
        for cell in cells:
            if table[cell]:
                other = larger.copy()
                other[cell] -= 1
                found.append(other)
    return found


def largest_change(table: np.ndarray, neighbours: Neighbours, threshold: float, ordered: bool) -> np.ndarray:
    """Largest change of (dependence, information) to any neighbour."""
    here = evidence(table, threshold, ordered)
    changes = [np.abs(evidence(other, threshold, ordered) - here) for other in moves(table, neighbours)]
    return np.max(changes, axis=0) if changes else np.zeros(2)


def climb(
    shape: tuple[int, int, int],
    neighbours: Neighbours,
    threshold: float,
    rng: np.random.Generator,
    steps: int,
) -> np.ndarray:
    """Hill-climb over tables, from sparse and from lopsided starts, for each of the two numbers."""
    worst = np.zeros(2)
    for part in (0, 1):
        scale = rng.choice([1, 5, 40])
        table = (rng.exponential(scale, shape) * (rng.random(shape) < 0.5)).astype(np.int64)
        best = -1.0
        for _ in range(steps):
            trial = table.copy()
            cell = tuple(rng.integers(size) for size in shape)
            trial[cell] = max(0, trial[cell] + rng.choice([-30, -5, -1, 1, 5, 30]))
            change = largest_change(trial, neighbours, threshold, bool(part))
            worst = np.maximum(worst, change)
            if change[part] >= best:
                table, best = trial, change[part]
    return worst


@pytest.mark.thin(3)
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_neighbours_break_the_bound(shape: tuple[int, int, int], neighbours: Neighbours) -> None:
    rng = np.random.default_rng([*shape, neighbours is Neighbours.ADD_REMOVE])
    claim = score_sensitivity(neighbours, shape[0])
    for threshold in THRESHOLDS:
        worst = climb(shape, neighbours, threshold, rng, steps=12)
        assert np.all(worst <= claim + 1e-9), (shape, threshold, worst)


def test_two_cells_break_the_bound_for_one() -> None:
    """Replace-one moves K by up to 2 if there are two cells: a claim of 1, or of 1.9, is wrong."""
    table = np.array([[[400, 0], [0, 1]], [[400, 0], [0, 0]]])
    other = np.array([[[400, 0], [0, 0]], [[400, 0], [0, 1]]])
    assert np.allclose(evidence(table, 0.1, True), evidence(other, 0.1, True))  # moved between like cells
    table = np.array([[[400, 0], [0, 1]], [[0, 400], [1, 0]]])
    other = np.array([[[400, 0], [0, 2]], [[0, 400], [0, 0]]])
    change = np.abs(evidence(other, 0.1, True) - evidence(table, 0.1, True))
    assert 1.9 < change[0] <= score_sensitivity("replace-one", 2)
    assert change[0] > score_sensitivity("replace-one", 1)


def test_information_comes_near_its_bound() -> None:
    before, after = np.array([[[500, 0], [0, 1]]]), np.array([[[500, 0], [0, 2]]])
    change = evidence(after, 1.0, True)[1] - evidence(before, 1.0, True)[1]
    assert 0.98 < change <= 1.0


def test_score_and_count_inherit_the_bound() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        dependence, information = rng.normal(0, 3, 12), rng.exponential(3, 12)
        step = rng.uniform(-1, 1, (2, 12))
        here, there = (
            score(dependence + s * step[0], information + s * step[1], 1.5, 2.5) for s in (0.0, 1.0)
        )
        assert np.max(np.abs(here - there)) <= 1 + 1e-12
        assert np.max(np.abs(count_scores(here) - count_scores(there))) <= 1 + 1e-9


def test_a_plain_count_would_not() -> None:
    """Minus the difference to the number of pairs above 0, a score one might think of, moves by more than 1."""
    here, there = np.full(5, 0.4), np.full(5, -0.4)
    candidates = np.arange(6)
    naive = [-np.abs(candidates - np.sum(values >= 0)) for values in (here, there)]
    assert np.max(np.abs(naive[0] - naive[1])) == 5
    assert np.max(np.abs(count_scores(here) - count_scores(there))) <= 1


def test_splits_by_kind_of_column() -> None:
    assert splits(Numeric(0, 1, bins=[0.2, 0.5, 0.7])).tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    assert len(splits(Categorical(list("abcde")))) == 15
    assert splits(Categorical(list("abcdef"))).tolist() == np.eye(6).tolist()
    assert len(splits(Categorical(["only"]))) == 0
    for column in (Categorical(list("abcd")), Categorical(list("abcd"), ordered=True)):
        rows = {tuple(row) for row in splits(column).tolist()}
        assert all(0 < sum(row) < 4 for row in rows)
        assert not rows & {tuple(1 - side for side in row) for row in rows}  # no split twice
