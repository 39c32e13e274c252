"""No pair of neighbours moves the rank statistics of numbers more than the bounds for many levels."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from dpcausal.stats.kendall import (
    kendall_joint_sensitivity,
    kendall_sensitivity,
    kendall_variance_sensitivity,
)
from dpcausal.stats.spearman import (
    spearman_joint_sensitivity,
    spearman_sensitivity,
    spearman_variance_sensitivity,
)
from dpcausal.stats.value_ranks import ANY_LEVELS, rank_statistics, ranked

Rows = NDArray[np.float64]  # x, y, block
WEIGHT = 0.25


def values(rows: Rows, k: int) -> NDArray[np.float64]:
    kendall, spearman = rank_statistics(
        ranked(rows[:, 0]), ranked(rows[:, 1]), rows[:, 2].astype(np.int64), k
    )
    return np.array([*kendall, *spearman])


def bounds(relation: str, k: int, levels: int) -> NDArray[np.float64]:
    """K, V, (K, V/4), F, U, (F, U/4)."""
    r, c = levels, ANY_LEVELS
    return np.array(
        [
            kendall_sensitivity(relation, r, c, k),
            kendall_variance_sensitivity(relation, r, c),
            kendall_joint_sensitivity(relation, r, c, k, WEIGHT),
            spearman_sensitivity(relation, r, c, k),
            spearman_variance_sensitivity(relation, r, c),
            spearman_joint_sensitivity(relation, r, c, k, WEIGHT),
        ]
    )


def moved(change: NDArray[np.float64]) -> NDArray[np.float64]:
    """The six changes whose bounds are ``bounds``; ``change`` ends in (K, V, F, U)."""
    a = np.abs(change)
    return np.stack(
        [
            a[..., 0],
            a[..., 1],
            a[..., 0] + WEIGHT * a[..., 1],
            a[..., 2],
            a[..., 3],
            a[..., 2] + WEIGHT * a[..., 3],
        ],
        axis=-1,
    )


def largest(rows: Rows, k: int, relation: str, binary: bool) -> NDArray[np.float64]:
    """Over rows that may be added: at the ends, in the middle, and on top of one of the rows."""
    n = len(rows)
    xs = (0.0, 1.0) if binary else (-1.0, n / 2 + 0.5, n + 1.0, rows[0, 0])
    ys = (-1.0, n / 2 + 0.5, n + 1.0, rows[0, 1])
    added = [np.vstack([rows, [x, y, b]]) for x, y, b in product(xs, ys, range(k))]
    after = np.array([values(more, k) for more in added])
    if relation == "add-remove":
        return moved(after - values(rows, k)).max(axis=0)
    return moved(after[:, None] - after[None]).max(axis=(0, 1))


def starts(rng: np.random.Generator, n: int, k: int, binary: bool) -> list[Rows]:
    line, block = np.arange(n, dtype=float), np.arange(n) % k
    wanted = [
        (line, line),
        (line, -line),
        (line * 0, line),
        (line, rng.permutation(n)),
        (line // 2, line // 3),
    ]
    wanted.append((line, np.where(block == 0, line, -line)))  # one block up, the others down
    if binary:
        wanted = [((x > np.median(x)).astype(float), y) for x, y in wanted] + [
            (line * 0, line),
            (line * 0 + 1, line),
        ]
    return [np.column_stack([x, y, block]).astype(float) for x, y in wanted]


def climb(n: int, k: int, relation: str, binary: bool, moves: int, seed: int) -> NDArray[np.float64]:
    """The best of each of the six over all starts, each climbed for its ratio to the bound."""
    rng = np.random.default_rng(seed)
    bound = bounds(relation, k, 2 if binary else ANY_LEVELS)
    best = np.zeros(6)
    for rows in starts(rng, n, k, binary):
        now = largest(rows, k, relation, binary) / bound
        best = np.maximum(best, now)
        for _ in range(moves):
            tried = rows.copy()
            i, j = rng.integers(n, size=2)
            what = rng.integers(4)
            if what == 0:
                tried[[i, j], 1] = tried[[j, i], 1]
            elif what == 1:
                tried[i] = tried[j]
            elif what == 2:
                tried[i, 2] = rng.integers(k)
            else:
                tried[i, 0] = tried[j, 0]
            found = largest(tried, k, relation, binary) / bound
            best = np.maximum(best, found)
            if found.max() >= now.max():
                rows, now = tried, found
    return best


@pytest.mark.thin(4)
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("binary", [False, True])
def test_climbing_stays_below_every_bound(relation: str, k: int, binary: bool) -> None:
    for n in (2, 3, 5, 9, 24):
        assert climb(n, k, relation, binary, moves=12, seed=n).max() <= 1 + 1e-12, n


@pytest.mark.parametrize(
    ("relation", "k", "binary", "tight"),
    [
        ("add-remove", 1, False, [0, 1, 2, 3, 4, 5]),
        ("replace-one", 1, False, [0, 3]),
        ("replace-one", 2, False, [0, 2, 3, 5]),
        ("add-remove", 1, True, [0, 3]),
    ],
)
def test_a_bound_30_percent_too_small_is_caught(
    relation: str, k: int, binary: bool, tight: list[int]
) -> None:
    found = climb(120, k, relation, binary, moves=0, seed=1)
    assert (found[tight] > 0.75).all(), found  # a bound of .7 times the true one would be passed
    assert found.max() <= 1 + 1e-12
