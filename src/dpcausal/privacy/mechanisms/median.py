"""Median by the exponential mechanism, over a public range cut into equal cells.

    P(r) ~ exp(-epsilon dist(r)/2),   dist(r) = max(0, #{x < r} - n/2, n/2 - #{x <= r}),   r = 0..cells

for n values x on the same grid. One unit of privacy changes at most one of the n values, and n is public: the
setting of subsample-and-aggregate, under either neighbouring relation of the rows. **Guarantee** epsilon-DP
and epsilon-bounded-range (rho = epsilon^2/8), ``median.proof.md``. Lowest error of the private medians we
tried.

**Cost** O(n log n) and one exact categorical draw over at most 2n + 1 runs of equal score. **Edge cases**:
values outside the range are clamped, NaN goes to ``lower``; ties and even n need nothing special.

References: [1] Smith 2011 (quantiles by the exponential mechanism); [2] McSherry & Talwar 2007.

Median by smooth sensitivity, on integers: med + N with noise that is larger where the data are spread out.

    S(x) = max_k e^(-k beta) max_{0 <= t <= k+1} (x_(m+t) - x_(m+t-k-1)),   n = 2m - 1 odd, 0 and ``cells``
    outside scale b = the smallest rung 16 e^(beta j), j >= 0, with b >= S/alpha
    laplace   (epsilon, delta)  alpha = epsilon/2                  beta = epsilon/(2 ln(2/delta))
    gaussian  (epsilon, delta)  alpha = epsilon/(5 sqrt(2 ln(2/delta)))   beta = epsilon/(4 (1 + ln(2/delta)))
    cauchy    epsilon, pure     alpha = beta = epsilon/2

S/alpha depends on data. It is rounded up to a public ladder whose rungs are a factor e^beta apart, which
keeps it beta-smooth, so only finitely many exact discrete laws are ever used and no float carries noise.
**Guarantee** ``median.proof.md``, for one value of n changed (as in ``median.py``). **Cost** O(n^2).
**Limit**: the time of a draw depends on its scale, hence on data; where timing is observed use
``ExponentialMedian``.

**Where we differ from [2]**: its beta (epsilon in its formula, epsilon ln(1/delta)/2 below it) gives a real
delta of .2 and of .99 where 1e-6 is asked; it also says nothing of the range outside 1..n.

References: [1] Nissim, Raskhodnikova & Smith 2007, section 3.1; [2] Wang, Pang & Song 2020, appendix F.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.privacy import noise
from dpcausal.privacy.events import ApproximateEvent, BoundedRangeEvent, PureEvent
from dpcausal.privacy.mechanisms.base import checked_positive, checked_size

CELLS = 2**20
LARGEST_CELLS = 2**40


@proved("median.proof.md")
@dataclass(frozen=True)
class Range:
    """A public range [lower, upper], divided into ``cells`` equal cells; grid points 0..cells."""

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
        """Return the nearest grid point of each value, sorted."""
        floats = np.nan_to_num(np.asarray(values, dtype=np.float64).ravel(), nan=self.lower)
        share = (np.clip(floats, self.lower, self.upper) - self.lower) / (self.upper - self.lower)
        return np.sort(np.clip(np.rint(share * self.cells), 0, self.cells).astype(np.int64))

    def to_value(self, point: float) -> float:
        """Return the value of a grid point, clamped to the range."""
        share = min(max(point / self.cells, 0.0), 1.0)
        return self.lower + share * (self.upper - self.lower)


def median_runs(points: NDArray[np.int64], cells: int) -> list[tuple[int, int, int]]:
    """Return runs of grid points with equal median score, as (first point, width, twice the distance)."""
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
        """The range and grid of values."""
        return Range(self.lower, self.upper, self.cells)

    def event(self, label: str) -> BoundedRangeEvent:
        """Return the event that states what a release costs."""
        return BoundedRangeEvent(
            label=label, neighbours=self.neighbours, mechanism="exponential-median", cost=self.epsilon
        )

    def exponents(self, runs: list[tuple[int, int, int]]) -> list[Fraction]:
        """Return the exponent of the exponential mechanism for each run: epsilon dist/2."""
        return [Fraction(self.epsilon) * twice / 4 for _, _, twice in runs]

    @proved("median.proof.md")
    def sample(self, values: ArrayLike) -> float:
        """Return a noisy median. Charge the event first."""
        points = self.on.to_points(values)
        if points.size == 0:
            raise InputError("a median needs at least one value")
        runs = median_runs(points, self.cells)
        first, width, _ = runs[noise.categorical([run[1] for run in runs], self.exponents(runs))]
        return self.on.to_value(first + noise.uniform_below(width))


LOWEST_RUNG = 16.0
SLACK = 2.0**-20  # relative gap between beta in the proof, the ladder and S: covers float64 rounding
AT_ONCE = 2**14  # differences that are held at a time


class Admissible(NamedTuple):
    """Noise of scale S/alpha is safe when S is beta-smooth."""

    alpha: float
    beta: float


@proved("median.proof.md")
def admissible(kind: str, epsilon: float, delta: float | None) -> Admissible:
    """Return the constants (alpha, beta) of smooth sensitivity for a kind of noise; refuse an invalid epsilon."""
    if kind == "cauchy":
        return Admissible(epsilon / 2, epsilon / 2)
    assert delta is not None
    tail = math.log(2 / delta)
    if kind == "laplace":
        alpha, beta = epsilon / 2, epsilon / (2 * tail)
        losses = (tail * math.expm1(beta) - 0.999 * beta + alpha, alpha + beta)
    else:
        width = math.sqrt(2 * tail)
        alpha, beta = epsilon / (5 * width), epsilon / (4 * (1 + tail))
        losses = (
            math.expm1(2 * beta) * tail + math.exp(beta) * alpha * width + alpha**2 / 2,
            beta + alpha * width + alpha**2 / 2,
        )
    if max(losses) > epsilon:
        raise InputError(f"no proof for a smooth median with {kind} noise at {epsilon=}, {delta=}")
    return Admissible(alpha, beta)


@proved("median.proof.md")
def largest_weighted(above: NDArray[np.int64], below: NDArray[np.int64], beta: float) -> float:
    """Return the largest e^(-k beta) (above_i - below_j) with k = i + j - 1 >= 0."""
    weights = np.array([0.0, *(math.exp(-k * beta) for k in range(above.size + below.size - 2))])
    rows_of_weights = np.lib.stride_tricks.sliding_window_view(weights, below.size)
    upper, lower = above.astype(np.float64), below.astype(np.float64)  # exact: at most 2^40
    rows = max(1, AT_ONCE // below.size)
    return max(
        float(np.max(rows_of_weights[i : i + rows] * (upper[i : i + rows, None] - lower)))
        for i in range(0, above.size, rows)
    )


@proved("median.proof.md")
def smooth_sensitivity(points: NDArray[np.int64], cells: int, beta: float) -> float:
    """Return the smooth sensitivity S(x) for sorted ``points`` in 0..cells, an odd number of them."""
    middle = points.size // 2
    return largest_weighted(np.append(points[middle:], cells), np.append(points[middle::-1], 0), beta)


@proved("median.proof.md")
def rung(target: float, beta: float) -> float:
    """Return the smallest number of the ladder 16 e^(beta j), j = 0, 1, ..., that is at least ``target``."""
    j = max(0, math.ceil(math.log(max(target / LOWEST_RUNG, 1.0)) / beta) - 2)
    while LOWEST_RUNG * math.exp(beta * j) < target:
        j += 1
    return LOWEST_RUNG * math.exp(beta * j)


@proved("median.proof.md")
@dataclass(frozen=True, kw_only=True)
class SmoothMedian:
    """The median of an odd number of values in ``[lower, upper]``; ``delta`` for Laplace and Gaussian noise
    only.

    >>> SmoothMedian(lower=0.0, upper=1.0, epsilon=1.0, noise="cauchy").event("median").epsilon
    1.0
    """

    lower: float
    upper: float
    epsilon: float
    delta: float | None = None
    noise: Literal["laplace", "gaussian", "cauchy"] = "laplace"
    cells: int = CELLS
    neighbours: Neighbours = Neighbours.REPLACE_ONE

    def __post_init__(self) -> None:
        checked_positive(epsilon=self.epsilon)
        Range(self.lower, self.upper, self.cells)
        if self.noise not in ("laplace", "gaussian", "cauchy"):
            raise InputError(f"noise must be laplace, gaussian or cauchy, not {self.noise!r}")
        if (self.delta is None) != (self.noise == "cauchy"):
            raise InputError("delta is needed for laplace and gaussian noise, and only there")
        if self.delta is not None and not 0 < self.delta < 0.5:
            raise InputError(f"delta must lie strictly between 0 and 1/2, not {self.delta!r}")
        if not 2.0**-16 <= self.admissible.beta <= 1:
            raise InputError(f"epsilon is too small or too large for smooth sensitivity: {self.epsilon!r}")
        if self.cells > 2.0**48 * self.admissible.alpha:
            raise InputError(f"too many cells for this epsilon: {self.cells}")

    @property
    def admissible(self) -> Admissible:
        """The constants (alpha, beta) of smooth sensitivity in use."""
        return admissible(self.noise, self.epsilon, self.delta)

    def scale(self, points: NDArray[np.int64]) -> float:
        """Return the scale of the noise in grid steps. Depends on data: never released."""
        alpha, beta = self.admissible
        spread = smooth_sensitivity(points, self.cells, beta * (1 - 2 * SLACK))
        return rung(spread / (alpha * (1 - SLACK)), beta * (1 - SLACK))

    @property
    def name(self) -> str:
        """The name of the mechanism in events."""
        return f"smooth-median-{self.noise}"

    def event(self, label: str) -> ApproximateEvent | PureEvent:
        """Return the event that states what a release costs."""
        if self.delta is None:
            return PureEvent(label=label, neighbours=self.neighbours, mechanism=self.name, cost=self.epsilon)
        return ApproximateEvent(
            label=label, neighbours=self.neighbours, mechanism=self.name, cost=self.epsilon, slack=self.delta
        )

    def sample(self, values: ArrayLike) -> float:
        """Return a noisy median. Charge the event first."""
        on = Range(self.lower, self.upper, self.cells)
        points = on.to_points(values)
        if points.size % 2 == 0:
            raise InputError(f"smooth sensitivity needs an odd number of values, not {points.size}")
        return on.to_value(int(points[points.size // 2]) + self._noise(self.scale(points)))

    def _noise(self, scale: float) -> int:
        """Draw noise of this scale, of the mechanism's kind."""
        match self.noise:
            case "laplace":
                return noise.discrete_laplace(scale)
            case "gaussian":
                return noise.discrete_gaussian(scale)
            case _:
                return noise.discrete_cauchy(scale)
