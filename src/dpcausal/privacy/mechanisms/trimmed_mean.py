"""Trimmed mean by smooth sensitivity, on integers: for subsample-and-aggregate, beside the medians.

    f(x) = x_(m+1) + ... + x_(n-m),     n values in 0..cells sorted, ``trim`` = m of them left out at either end
    S(x) = max_k e^(-k beta) max_{0 <= t <= k+1} (x_(n-m+t) - x_(m+t-k)),   0 and ``cells`` outside 1..n

and f + N is released, divided by n - 2 m, with the scales and constants of ``SmoothMedian``; m = (n - 1)/2 is its
median. Between the two lies a trade: a larger m has a smaller S where the ends are far out, a smaller m averages more
values.
**Guarantee** ``trimmed_mean.proof.md``, for one value of n changed (as in ``median.py``), (epsilon, delta) or pure for
Cauchy noise. **Cost** O(n^2). **Limit**: the time of a draw depends on its scale, hence on data. **Edge cases**: values
outside the range are clamped, NaN goes to ``lower``; m = 0 is the plain mean, whose S is about the range.

References: [1] Wang, Pang & Song 2020, Definition 9; [2] Nissim, Raskhodnikova & Smith 2007; [3] Bun & Steinke 2019.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.arguments import checked_count
from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.privacy.mechanisms.median import SLACK, Range, SmoothMedian, largest_weighted, rung


@proved("trimmed_mean.proof.md")
def trimmed_sensitivity(points: NDArray[np.int64], cells: int, trim: int, beta: float) -> float:
    """Return the smooth sensitivity S(x) of the trimmed sum, for sorted ``points`` in 0..cells.

    >>> trimmed_sensitivity(np.array([0, 4, 5, 6, 100]), 100, 1, 50.0)
    96.0
    """
    last = points.size - trim - 1  # the place of x_(n-m); that of x_(m+1) is ``trim``
    return largest_weighted(np.append(points[last:], cells), np.append(points[trim::-1], 0), beta)


@proved("trimmed_mean.proof.md")
@dataclass(frozen=True, kw_only=True)
class SmoothTrimmedMean(SmoothMedian):
    """The mean of values in ``[lower, upper]`` without the ``trim`` smallest and the ``trim`` largest of them.

    >>> SmoothTrimmedMean(lower=0.0, upper=1.0, epsilon=1.0, noise="cauchy", trim=2).event("mean").mechanism
    'smooth-trimmed-mean-cauchy'
    """

    trim: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_count(self.trim, "trim")

    @property
    def name(self) -> str:
        """The name of the mechanism in events."""
        return f"smooth-trimmed-mean-{self.noise}"

    def scale(self, points: NDArray[np.int64]) -> float:
        """Return the scale of the noise on the trimmed sum, in grid steps. Depends on data: never released."""
        alpha, beta = self.admissible
        spread = trimmed_sensitivity(points, self.cells, self.trim, beta * (1 - 2 * SLACK))
        return rung(spread / (alpha * (1 - SLACK)), beta * (1 - SLACK))

    def sample(self, values: ArrayLike) -> float:
        """Return a noisy trimmed mean. Charge the event first."""
        on = Range(self.lower, self.upper, self.cells)
        points = on.to_points(values)
        kept = points.size - 2 * self.trim
        if kept < 1:
            raise InputError(f"{points.size} values leave none when {self.trim} go at either end")
        total = int(points[self.trim : points.size - self.trim].sum())
        return on.to_value((total + self._noise(self.scale(points))) / kept)
