"""The spread of numeric columns, measured under a budget: noisy counts of cells, round by round (``stats/spread.py``).

Strata of equal counts and normal scores need the quantiles of a column. Cuts at the exact ones would tell of the rows;
these are cut where noisy counts say, and the counts are charged. What it costs is fixed before the first round.

**Guarantee** (``spread.proof.md``): every round is a histogram of disjoint cells. **Cost** O(n) for each round.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.neighbours import Neighbours
from dpcausal.counts.feature_sums import FeatureRows, places_of
from dpcausal.data.dataset import Dataset
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.base import INTEGERS, Charger, release
from dpcausal.stats.spread import EVEN_SHARE, ROUNDS, Measuring, Spread, counts_sensitivity

MARGIN = 1 - 1e-12  # of every share: sums of shares stay below the whole


def exact_spread(data: Dataset | FeatureRows, name: str) -> Spread:
    """Return the spread (quantiles) of a numeric column from exact counts. Not private."""
    measuring = _measuring(data, name, data.n)
    for _ in range(ROUNDS):
        measuring.learn(measuring.counts().astype(np.float64), 0.0)
    return measuring.spread()


def pure_spread(
    data: Dataset | FeatureRows,
    name: str,
    n: int | None,
    epsilon: float,
    neighbours: Neighbours,
    budget: Charger,
    label: str,
    even: float = EVEN_SHARE,
) -> Spread:
    """Charge ``epsilon``, measure with Laplace noise, and return the spread (quantiles) of a numeric column.

    ``n`` is the number of rows, None where protected; ``even`` is the share of every total that is spread evenly.
    """
    each = epsilon / ROUNDS * MARGIN

    def mechanism(size: int) -> tuple[Laplace, float]:
        moved = counts_sensitivity(neighbours)
        made = Laplace(sensitivity=moved, epsilon=each, neighbours=neighbours, size=size, grid=INTEGERS)
        return made, 2**0.5 * made.scale

    return _measured(_measuring(data, name, n, even), mechanism, budget, label)


def gaussian_spread(
    data: Dataset | FeatureRows,
    name: str,
    n: int | None,
    rho: float,
    neighbours: Neighbours,
    budget: Charger,
    label: str,
    even: float = EVEN_SHARE,
) -> Spread:
    """Charge ``rho``, measure with Gaussian noise, and return the spread (quantiles) of a numeric column."""
    each = rho / ROUNDS * MARGIN

    def mechanism(size: int) -> tuple[Gaussian, float]:
        moved = counts_sensitivity(neighbours, norm=2)
        made = Gaussian(sensitivity=moved, rho=each, neighbours=neighbours, size=size, grid=INTEGERS)
        return made, made.sigma

    return _measured(_measuring(data, name, n, even), mechanism, budget, label)


def _measuring(data: Dataset | FeatureRows, name: str, n: int | None, even: float = EVEN_SHARE) -> Measuring:
    """Return the start of measuring the quantiles of a column by rounds of counts."""
    if isinstance(data, Dataset):
        return Measuring(places_of(*data.on_scale(name)), n, even)
    places, rows = data.place_counts(name)
    return Measuring(places, n, even, rows)


def _measured(
    measuring: Measuring,
    mechanism: Callable[[int], tuple[Laplace | Gaussian, float]],
    budget: Charger,
    label: str,
) -> Spread:
    """Measure the quantiles of a column by a mechanism."""
    for done in range(ROUNDS):
        made, sd = mechanism(measuring.size)
        noisy: NDArray[np.float64] = release(made, budget, f"{label}, round {done + 1}", measuring.counts())
        measuring.learn(np.asarray(noisy), sd)
    return measuring.spread()
