"""Additive noise on a grid: the Laplace mechanism (pure epsilon) and the Gaussian mechanism (rho-zCDP).

**Laplace.**

    release = step (r(value) + L),  P(L = k) ~ exp(-|k|/b),  b = Delta_g/epsilon

with Delta_g the l1 sensitivity in grid steps (``base.py``) and b rounded up so that Delta_g/b <= epsilon as
rational numbers: epsilon-DP.

**Gaussian.**

    release = step (r(value) + N),  P(N = k) ~ exp(-k^2/(2 sigma^2)),  sigma = Delta_g/sqrt(2 rho)

with Delta_g the l2 sensitivity in grid steps (``base.py``) and sigma rounded up so that Delta_g^2/(2
sigma^2) <= rho as rational numbers: rho-zCDP.

**Guarantee** ``additive.proof.md``. Nothing but the noise depends on data.

References: [1] Dwork, McSherry, Nissim & Smith 2006; [2] Ghosh, Roughgarden & Sundararajan 2012 (discrete);
[3] Canonne, Kamath & Steinke 2020, Theorems 4 and 14; [4] Bun & Steinke 2016.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.privacy import noise
from dpcausal.privacy.events import GaussianEvent, LaplaceEvent
from dpcausal.privacy.mechanisms.base import Grid, checked_positive, checked_size, rounded_up

SHORT = 32  # arrays up to this length are rounded number by number


@proved("additive.proof.md")
def laplace_scale(sensitivity: float, epsilon: float) -> float:
    """Return the least float b with sensitivity/b <= epsilon."""
    return rounded_up(Fraction(sensitivity) / Fraction(epsilon))


@proved("additive.proof.md")
@dataclass(frozen=True, kw_only=True)
class Laplace:
    """Adds Laplace noise to ``size`` values of total (l1) ``sensitivity``, at a cost of ``epsilon``.

    >>> count = Laplace(sensitivity=1.0, epsilon=0.5, grid=Grid(1.0, exact=True))
    >>> count.event("rows").epsilon, count.scale
    (0.5, 2.0)
    """

    sensitivity: float
    epsilon: float
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    size: int = 1
    grid: Grid | None = None

    def __post_init__(self) -> None:
        checked_positive(sensitivity=self.sensitivity, epsilon=self.epsilon)
        checked_size(self.size)
        noise.checked_scale(self.steps[1])

    @cached_property
    def on(self) -> Grid:
        """The grid that values are rounded to."""
        return self.grid or Grid.fitting(self.sensitivity, self.size)

    @cached_property
    def steps(self) -> tuple[float, float]:
        """Sensitivity and noise scale in grid steps."""
        sensitivity = self.on.sensitivity(self.sensitivity, self.size)
        return sensitivity, laplace_scale(sensitivity, self.epsilon)

    @property
    def scale(self) -> float:
        """Scale of the noise in the units of the value."""
        return self.steps[1] * self.on.step

    def event(self, label: str) -> LaplaceEvent:
        """Return the event that states what a release costs."""
        sensitivity, scale = self.steps
        return LaplaceEvent(label=label, neighbours=self.neighbours, sensitivity=sensitivity, scale=scale)

    def sample(self, value: ArrayLike) -> NDArray[np.float64]:
        """Return ``value`` with noise: a number for a number, an array for an array. Charge the event first."""
        if self.size == 1 and isinstance(value, int | float):  # the same, faster
            steps = self.on.to_integer(value) + noise.discrete_laplace(self.steps[1])
            noisy: NDArray[np.float64] = np.multiply(steps, self.on.step)
            return noisy
        if self.size <= SHORT and isinstance(value, np.ndarray) and value.dtype.kind in "if":
            each = [self.on.to_integer(v) for v in value.ravel().tolist()]  # the same, faster
            rounded = np.array(each, np.int64).reshape(value.shape)
        else:
            rounded = self.on.to_integers(value)
        if rounded.size != self.size:
            raise InputError(f"this mechanism takes {self.size} values, not {rounded.size}")
        return self.on.to_values(
            rounded + noise.discrete_laplace(self.steps[1], self.size).reshape(rounded.shape)
        )


@proved("additive.proof.md")
def gaussian_sigma(sensitivity: float, rho: float) -> float:
    """Return a float sigma with sensitivity^2/(2 sigma^2) <= rho, a few units in the last place above the least."""
    sigma = sensitivity / math.sqrt(2 * rho)
    while (
        Fraction(sensitivity) ** 2 > 2 * Fraction(rho) * Fraction(sigma) ** 2
        or (sensitivity / sigma) ** 2 / 2 > rho  # as the event computes it
    ):
        sigma = math.nextafter(sigma, math.inf)
    return sigma


@proved("additive.proof.md")
@dataclass(frozen=True, kw_only=True)
class Gaussian:
    """Adds Gaussian noise to ``size`` values of joint (l2) ``sensitivity``, at a cost of ``rho``.

    >>> table = Gaussian(sensitivity=2.0, rho=0.5, size=4, grid=Grid(1.0, exact=True))
    >>> table.event("table").rho, table.sigma
    (0.5, 2.0)
    """

    sensitivity: float
    rho: float
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    size: int = 1
    grid: Grid | None = None

    def __post_init__(self) -> None:
        checked_positive(sensitivity=self.sensitivity, rho=self.rho)
        checked_size(self.size)
        noise.checked_scale(self.steps[1])

    @cached_property
    def on(self) -> Grid:
        """The grid that values are rounded to."""
        return self.grid or Grid.fitting(self.sensitivity, self.size, norm=2)

    @cached_property
    def steps(self) -> tuple[float, float]:
        """Sensitivity and sigma in grid steps."""
        sensitivity = self.on.sensitivity(self.sensitivity, self.size, norm=2)
        return sensitivity, gaussian_sigma(sensitivity, self.rho)

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise in the units of the value."""
        return self.steps[1] * self.on.step

    def event(self, label: str) -> GaussianEvent:
        """Return the event that states what a release costs."""
        sensitivity, sigma = self.steps
        return GaussianEvent(label=label, neighbours=self.neighbours, sensitivity=sensitivity, sigma=sigma)

    def sample(self, value: ArrayLike) -> NDArray[np.float64]:
        """Return ``value`` with noise: a number for a number, an array for an array. Charge the event first."""
        if self.size == 1 and isinstance(value, int | float):  # the same, faster
            steps = self.on.to_integer(value) + noise.discrete_gaussian(self.steps[1])
            noisy: NDArray[np.float64] = np.multiply(steps, self.on.step)
            return noisy
        rounded = self.on.to_integers(value)
        if rounded.size != self.size:
            raise InputError(f"this mechanism takes {self.size} values, not {rounded.size}")
        return self.on.to_values(
            rounded + noise.discrete_gaussian(self.steps[1], self.size).reshape(rounded.shape)
        )
