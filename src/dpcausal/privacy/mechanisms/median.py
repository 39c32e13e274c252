"""Median by the exponential mechanism, over a public range cut into equal cells.

    P(r) ~ exp(-epsilon dist(r)/2),   dist(r) = max(0, #{x < r} - n/2, n/2 - #{x <= r}),   r = 0..cells

for n values x on the same grid. One unit of privacy changes at most one of the n values, and n is public: the
setting of subsample-and-aggregate, under either neighbouring relation of the rows. **Guarantee** epsilon-DP
and epsilon-bounded-range (rho = epsilon^2/8), ``median.proof.md``. Lowest error of the private medians we
tried.

**Cost** O(n log n) and one exact categorical draw over at most 2n + 1 runs of equal score. **Edge cases**:
values outside the range are clamped, NaN goes to ``lower``; ties and even n need nothing special.

References: [1] Smith 2011 (quantiles by the exponential mechanism); [2] McSherry & Talwar 2007.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.privacy import noise
from dpcausal.privacy.events import BoundedRangeEvent
from dpcausal.privacy.mechanisms.release import checked_positive, checked_size

CELLS = 2**20
LARGEST_CELLS = 2**40


@proved("median.proof.md")
@dataclass(frozen=True)
class Range:
    """A public range [lower, upper] cut into ``cells`` equal cells; grid points 0..cells."""

    lower: float
    upper: float
    cells: int = CELLS

    def __post_init__(self) -> None:
        checked_size(self.cells, "cells")
        if not (self.lower < self.upper and math.isfinite(self.upper - self.lower)):
            raise InputError(f"lower must lie below upper, not {self.lower!r} and {self.upper!r}")
        if self.cells > LARGEST_CELLS:
            raise InputError(f"at most 2^40 cells, not {self.cells}")

    def to_points(self, values: ArrayLike) -> NDArray[np.int64]:
        """The nearest grid point of each value, sorted; a map of each value alone, so it costs nothing."""
        floats = np.nan_to_num(np.asarray(values, dtype=np.float64).ravel(), nan=self.lower)
        share = (np.clip(floats, self.lower, self.upper) - self.lower) / (self.upper - self.lower)
        return np.sort(np.clip(np.rint(share * self.cells), 0, self.cells).astype(np.int64))

    def to_value(self, point: int) -> float:
        """The value of a grid point, clamped to the range."""
        share = min(max(point / self.cells, 0.0), 1.0)
        return self.lower + share * (self.upper - self.lower)


def median_runs(points: NDArray[np.int64], cells: int) -> list[tuple[int, int, int]]:
    """Runs of grid points with equal score, as (first point, width, twice the distance); covers 0..cells."""
    n = int(points.size)
    values, counts = np.unique(points, return_counts=True)
    runs, below, start = [], 0, 0
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        runs.append((start, value - start, abs(2 * below - n)))
        runs.append((value, 1, max(0, 2 * below - n, n - 2 * (below + count))))
        below, start = below + count, value + 1
    runs.append((start, cells + 1 - start, n))
    return [run for run in runs if run[1] > 0]


@proved("median.proof.md")
@dataclass(frozen=True, kw_only=True)
class ExponentialMedian:
    """The median of values in ``[lower, upper]``, for ``epsilon``.

    >>> ExponentialMedian(lower=0.0, upper=1.0, epsilon=1.0).event("median").rho
    0.125
    """

    lower: float
    upper: float
    epsilon: float
    cells: int = CELLS
    neighbours: Neighbours = Neighbours.REPLACE_ONE

    def __post_init__(self) -> None:
        checked_positive(epsilon=self.epsilon)
        Range(self.lower, self.upper, self.cells)

    @property
    def on(self) -> Range:
        """The grid in use."""
        return Range(self.lower, self.upper, self.cells)

    def event(self, label: str) -> BoundedRangeEvent:
        """What a release costs, as data."""
        return BoundedRangeEvent(
            label=label, neighbours=self.neighbours, mechanism="exponential-median", cost=self.epsilon
        )

    def exponents(self, runs: list[tuple[int, int, int]]) -> list[Fraction]:
        """epsilon dist/2 of each run."""
        return [Fraction(self.epsilon) * twice / 4 for _, _, twice in runs]

    @proved("median.proof.md")
    def sample(self, values: ArrayLike) -> float:
        """A noisy median. Charge the event first."""
        points = self.on.to_points(values)
        if points.size == 0:
            raise InputError("a median needs at least one value")
        runs = median_runs(points, self.cells)
        first, width, _ = runs[noise.categorical([run[1] for run in runs], self.exponents(runs))]
        return self.on.to_value(first + noise.uniform_below(width))
