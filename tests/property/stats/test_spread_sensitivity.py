"""No neighbour moves the counts of a round by more than claimed; a constant 30% too small is caught."""

from __future__ import annotations

import numpy as np
import pytest

from dpcausal.counts.feature_sums import PLACES, places_of
from dpcausal.stats.spread import (
    FAN,
    FINEST,
    ROUNDS,
    Measuring,
    Spread,
    cell_counts,
    counts_sensitivity,
    shared_out,
)


def cells_of_a_round(rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Some cells that a round could cut, and their width."""
    unit = FINEST // FAN ** int(rng.integers(0, ROUNDS))
    count = min(FINEST // unit, int(rng.integers(1, 17)))
    return rng.choice(FINEST // unit, count, replace=False) * unit, unit


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_counts_move_by_no_more_than_claimed_and_by_that_much(relation: str, norm: int) -> None:
    """Rows anywhere, on the edges of cells, out of bounds or no number; all rows of small data sets in turn."""
    rng, largest = np.random.default_rng(1), 0.0
    for _ in range(400):
        starts, unit = cells_of_a_round(rng)
        edges = np.append(starts / FINEST, [0.0, 1.0, -3.0, np.nan, np.inf])
        rows = np.where(rng.random(9) < 0.5, rng.choice(edges, 9), rng.random(9))
        near = np.append(rows[1:], rng.choice(edges)) if relation == "replace-one" else rows[1:]
        with np.errstate(invalid="ignore"):
            moved = cell_counts(places_of(rows, 0.0, 1.0), starts, unit) - cell_counts(
                places_of(near, 0.0, 1.0), starts, unit
            )
        largest = max(largest, float(np.linalg.norm(moved, norm)))
    claimed = counts_sensitivity(relation, norm)
    assert largest <= claimed * (1 + 1e-12)
    assert largest > 0.7 * claimed


def test_every_row_is_in_one_cell_of_each_round() -> None:
    rng = np.random.default_rng(2)
    places = places_of(rng.random(500), 0.0, 1.0)
    assert FINEST == PLACES
    everywhere = np.arange(FAN) * (FINEST // FAN)
    assert cell_counts(places, np.zeros(1, np.int64), FINEST).sum() == 500
    assert cell_counts(places, everywhere, FINEST // FAN).sum() == 500


def exact(values: np.ndarray, lower: float, upper: float) -> Spread:
    measuring = Measuring(places_of(values, lower, upper), len(values))
    for _ in range(ROUNDS):
        assert len(measuring.counts()) == measuring.size
        measuring.learn(measuring.counts().astype(float), 0.0)
    return measuring.spread()


@pytest.mark.parametrize("upper", [20.0, 500.0, 1e5])
def test_exact_counts_give_the_quantiles(upper: float) -> None:
    """To within two of the finest cells' worth of rows, and the last round cuts the fullest 16 cells only."""
    values = np.clip(np.random.default_rng(3).lognormal(1, 1.2, 20_000), 0, upper)
    below = np.sort(values)[: int((values < upper).sum())]  # what is beyond the bound lies in one heap
    found = exact(values, 0.0, upper).below(below, 0.0, upper)
    assert np.abs(found - (np.arange(len(below)) + 0.5) / 20_000).max() < 0.02
    strata = exact(values, 0.0, upper).strata(values, 0.0, upper, 50)
    assert strata.min() == 0
    assert strata.max() == 49


@pytest.mark.parametrize("values", [np.zeros(0), np.zeros(10), np.full(10, 1.0), np.full(3, np.nan)])
def test_edge_cases_give_a_law(values: np.ndarray) -> None:
    spread = exact(values, 0.0, 1.0)
    assert spread.shares[0] == 0.0
    assert spread.shares[-1] == pytest.approx(1.0)
    assert np.all(np.diff(spread.shares) >= 0)


def test_noise_alone_is_shared_out_evenly() -> None:
    """64 counts of noise: two in a hundred comparisons stand out at most, on average over 200 draws."""
    rng = np.random.default_rng(4)
    off = [np.abs(shared_out(rng.normal(0, 30, FAN), 640.0, 30.0) - 10.0).max() > 100 for _ in range(200)]
    assert np.mean(off) < 0.2
    heavy = np.zeros(FAN)
    heavy[5] = 500.0
    found = shared_out(heavy + rng.normal(0, 30, FAN), 640.0, 30.0)
    assert found[5] > 350
    assert found.sum() == pytest.approx(640.0)
    assert (found >= 0).all()
