"""The statistic of the conditional randomization test: values, bounds, and a search for neighbours that break them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.regression.kernel import Kernel
from dpcausal.regression.ridge import penalty_of, ridge_residuals
from dpcausal.stats.crt import (
    CHUNK_ROWS,
    crt_sensitivity,
    crt_statistic,
    rank_scores,
    standardised,
)
from dpcausal.stats.gcm_ridge import weight_bound
from dpcausal.stats.value_ranks import ranked

Rows = NDArray[np.float64]  # u, y, block or z


def by_hand(rows: Rows) -> float:
    total = 0.0
    for b in np.unique(rows[:, 2]):
        u, y = rows[rows[:, 2] == b, :2].T
        total += float((u * np.sign(y[:, None] - y[None]).sum(axis=1)).sum()) / len(u)
    return abs(total)


def ranks_value(rows: Rows) -> float:
    v = rank_scores(ranked(rows[:, 1]), rows[:, 2].astype(np.int64), 4)
    return crt_statistic(rows[:, :1], v[:, None])


def plain_value(rows: Rows) -> float:
    return crt_statistic(rows[:, :1], rows[:, 1:2])


@pytest.mark.parametrize("seed", range(10))
def test_rank_statistic_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.column_stack([rng.uniform(-1, 1, 40), rng.integers(0, 8, 40), rng.integers(0, 4, 40)])
    assert ranks_value(rows) == pytest.approx(by_hand(rows), abs=1e-12)


def test_sum_in_chunks_is_the_sum() -> None:
    rng = np.random.default_rng(1)
    u, v = rng.uniform(-1, 1, (CHUNK_ROWS + 7, 2)), rng.uniform(-1, 1, (CHUNK_ROWS + 7, 3))
    assert crt_statistic(u, v) == pytest.approx(np.abs(u.T @ v).max(), abs=1e-9)


def test_residuals_are_cut_and_never_nan() -> None:
    u = standardised(np.array([5.0, 1.0, -9.0]), np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 3.0]))
    assert u.tolist() == [0.0, 0.0, -1.0]


def largest_change(value, rows: Rows, added: list[list[float]], relation: str) -> float:  # type: ignore[no-untyped-def]
    after = np.array([value(np.vstack([rows, row])) for row in added])
    return float(np.abs(after - value(rows)).max() if relation == "add-remove" else np.ptp(after))


def attack(score: str, relation: str, n: int, seed: int) -> float:
    """Largest change found, over the bound."""
    rng = np.random.default_rng(seed)
    value = ranks_value if score == "ranks" else plain_value
    ys = (-1.0, 0.0, 1.0) if score == "plain" else (-1.0, n / 2, n + 1.0)
    added = [[u, y, b] for u in (-1.0, 0.0, 1.0) for y in ys for b in (0.0, 1.0)]
    best = 0.0
    line = np.arange(n)
    for u in (-np.ones(n), np.sign(line - n / 2), rng.uniform(-1, 1, n), np.where(line % 2, 1, -1)):
        for y in (line.astype(float), rng.permutation(n), line * 0.0):
            y = np.clip(y, -1, 1) if score == "plain" else y
            for block in (line * 0, line % 2):
                rows = np.column_stack([u, y, block]).astype(float)
                now = largest_change(value, rows, added, relation)
                for _ in range(4):
                    tried = rows.copy()
                    tried[rng.integers(n), 0] = rng.choice([-1.0, 1.0])
                    tried[rng.integers(n)] = tried[rng.integers(n)]
                    found = largest_change(value, tried, added, relation)
                    rows, now = (tried, found) if found > now else (rows, now)
                best = max(best, now)
    return best / crt_sensitivity(relation, score)  # type: ignore[arg-type]


@pytest.mark.thin(2)
@pytest.mark.parametrize("score", ["ranks", "plain"])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_no_neighbour_passes_the_bound_and_one_30_percent_smaller_is_caught(
    score: str, relation: str
) -> None:
    found = [attack(score, relation, n, n) for n in (1, 2, 3, 8, 40)]
    assert max(found) <= 1 + 1e-12, found
    assert max(found) > 0.75, found


def kernel_change(strength: float, n: int, seed: int) -> float:
    """Largest replace-one change found for ridge residuals of y, over the bound."""
    rng = np.random.default_rng(seed)
    kernel = Kernel(0.2)

    def value(rows: Rows) -> float:
        left = ridge_residuals(rows[:, 2:], rows[:, 1:2], kernel, penalty_of(strength, len(rows)))
        return float((rows[:, :1] * left).sum())

    best = 0.0
    ends = [[u, y, z] for u in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (0.0, 0.5, 1.0)]
    for start in range(6):
        z = np.zeros(n) if start % 2 else rng.uniform(0, 1, n)
        rows = np.column_stack([np.full(n, 1.0), np.full(n, -1.0 if start < 3 else 1.0), z])
        values = [value(np.vstack([rows[1:], end])) for end in ends]
        best = max(best, float(np.ptp(values)))
    return best / crt_sensitivity("replace-one", "kernel", strength)


@pytest.mark.parametrize("strength", [0.2, 1.0, 10.0])
def test_kernel_bound_holds_and_a_smaller_one_is_caught(strength: float) -> None:
    found = max(kernel_change(strength, n, 3) for n in (2, 5, 30, 120))
    assert 0.3 < found <= 1 + 1e-9
    if strength == 10.0:
        assert found > 0.75  # so that a bound 30% too small would fail


def test_the_bound_on_weights_bounds_predictions() -> None:
    for strength in (0.1, 1.0, 2.0, 10.0):
        z, y = np.zeros((50, 1)), np.ones((50, 1))
        left = ridge_residuals(z, y, Kernel(1.0), penalty_of(strength, 50))
        assert abs(1 - left).max() <= weight_bound(strength) * (1 + 1e-9) or strength < 2
    with pytest.raises(InputError, match="lambda must lie"):
        crt_sensitivity("replace-one", "kernel", 0.0)
    with pytest.raises(InputError, match="replace-one"):
        crt_sensitivity("add-remove", "kernel")
