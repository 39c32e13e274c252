"""Median by smooth sensitivity, on integers: med + N with noise that is larger where the data are spread out.

    S(x) = max_k e^(-k beta) max_{0 <= t <= k+1} (x_(m+t) - x_(m+t-k-1)),   n = 2m - 1 odd, 0 and ``cells``
    outside scale b = the smallest rung 16 e^(beta j), j >= 0, with b >= S/alpha
    laplace   (epsilon, delta)  alpha = epsilon/2                  beta = epsilon/(2 ln(2/delta))
    gaussian  (epsilon, delta)  alpha = epsilon/(5 sqrt(2 ln(2/delta)))   beta = epsilon/(4 (1 + ln(2/delta)))
    cauchy    epsilon, pure     alpha = beta = epsilon/2

S/alpha depends on data. It is rounded up to a public ladder whose rungs are a factor e^beta apart, which
keeps it beta-smooth, so only finitely many exact discrete laws are ever used and no float carries noise.
**Guarantee** ``median_smooth.proof.md``, for one value of n changed (as in ``median.py``). **Cost** O(n^2).
**Limit**: the time of a draw depends on its scale, hence on data; where timing is observed use
``ExponentialMedian``.

**Where we differ from [2]**: its constants (alpha = epsilon/sqrt(ln 1/delta), beta = epsilon, ...) give a
real delta of .99 where 1e-6 is asked; it also forgets the range outside 1..n.

References: [1] Nissim, Raskhodnikova & Smith 2007, section 3.1; [2] Wang, Pang & Song 2020, appendix F.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.privacy import noise
from dpcausal.privacy.events import ApproximateEvent, PureEvent
from dpcausal.privacy.mechanisms.median import CELLS, Range
from dpcausal.privacy.mechanisms.release import checked_positive

LOWEST_RUNG = 16.0
SLACK = 2.0**-20  # relative gap between beta in the proof, the ladder and S: covers float64 rounding


class Admissible(NamedTuple):
    """Noise of scale S/alpha is safe when S is beta-smooth."""

    alpha: float
    beta: float


@proved("median_smooth.proof.md")
def admissible(kind: str, epsilon: float, delta: float | None) -> Admissible:
    """(alpha, beta) of a kind of noise; refuses an epsilon for which the proof's inequality fails."""
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


@proved("median_smooth.proof.md")
def smooth_sensitivity(points: NDArray[np.int64], cells: int, beta: float) -> float:
    """S(x) for sorted ``points`` in 0..cells, an odd number of them."""
    n = int(points.size)
    m = n + 1 + (n - 1) // 2  # position of the median after padding
    padded = np.concatenate([np.zeros(n + 1, np.int64), points, np.full(n + 1, cells, np.int64)])
    return max(
        math.exp(-k * beta) * float(np.max(padded[m : m + k + 2] - padded[m - k - 1 : m + 1]))
        for k in range(n + 1)
    )


@proved("median_smooth.proof.md")
def rung(target: float, beta: float) -> float:
    """The smallest 16 e^(beta j), j = 0, 1, ..., that is at least ``target``."""
    j = max(0, math.ceil(math.log(max(target / LOWEST_RUNG, 1.0)) / beta) - 2)
    while LOWEST_RUNG * math.exp(beta * j) < target:
        j += 1
    return LOWEST_RUNG * math.exp(beta * j)


@proved("median_smooth.proof.md")
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
        """The constants in use."""
        return admissible(self.noise, self.epsilon, self.delta)

    def scale(self, points: NDArray[np.int64]) -> float:
        """Scale of the noise in grid steps. Depends on data: never released."""
        alpha, beta = self.admissible
        spread = smooth_sensitivity(points, self.cells, beta * (1 - 2 * SLACK))
        return rung(spread / (alpha * (1 - SLACK)), beta * (1 - SLACK))

    def event(self, label: str) -> ApproximateEvent | PureEvent:
        """What a release costs, as data."""
        name = f"smooth-median-{self.noise}"
        if self.delta is None:
            return PureEvent(label=label, neighbours=self.neighbours, mechanism=name, cost=self.epsilon)
        return ApproximateEvent(
            label=label, neighbours=self.neighbours, mechanism=name, cost=self.epsilon, slack=self.delta
        )

    def sample(self, values: ArrayLike) -> float:
        """A noisy median. Charge the event first."""
        on = Range(self.lower, self.upper, self.cells)
        points = on.to_points(values)
        if points.size % 2 == 0:
            raise InputError(f"smooth sensitivity needs an odd number of values, not {points.size}")
        return on.to_value(int(points[points.size // 2]) + self._noise(self.scale(points)))

    def _noise(self, scale: float) -> int:
        match self.noise:
            case "laplace":
                return noise.discrete_laplace(scale)
            case "gaussian":
                return noise.discrete_gaussian(scale)
            case _:
                return noise.discrete_cauchy(scale)
