"""The Laplace mechanism on a grid: pure epsilon.

    release = step (r(value) + L),  P(L = k) ~ exp(-|k|/b),  b = Delta_g/epsilon

with Delta_g the l1 sensitivity in grid steps (``grid.py``) and b rounded up so that Delta_g/b <= epsilon as
rational numbers. **Guarantee** epsilon-DP, ``laplace.proof.md``. Nothing but the noise depends on data.

References: [1] Dwork, McSherry, Nissim & Smith 2006; [2] Ghosh, Roughgarden & Sundararajan 2012 (discrete).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.privacy import noise
from dpcausal.privacy.events import LaplaceEvent
from dpcausal.privacy.mechanisms.grid import Grid, rounded_up
from dpcausal.privacy.mechanisms.release import checked_positive, checked_size

SHORT = 32  # arrays up to this length are rounded number by number


@proved("laplace.proof.md")
def laplace_scale(sensitivity: float, epsilon: float) -> float:
    """The least float b with sensitivity/b <= epsilon."""
    return rounded_up(Fraction(sensitivity) / Fraction(epsilon))


@proved("laplace.proof.md")
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
        """The grid in use."""
        return self.grid or Grid.fitting(self.sensitivity, self.size)

    @cached_property
    def steps(self) -> tuple[float, float]:
        """(sensitivity, scale) in grid steps."""
        sensitivity = self.on.sensitivity(self.sensitivity, self.size)
        return sensitivity, laplace_scale(sensitivity, self.epsilon)

    @property
    def scale(self) -> float:
        """Scale of the noise in the units of the value."""
        return self.steps[1] * self.on.step

    def event(self, label: str) -> LaplaceEvent:
        """What a release costs, as data."""
        sensitivity, scale = self.steps
        return LaplaceEvent(label=label, neighbours=self.neighbours, sensitivity=sensitivity, scale=scale)

    def sample(self, value: ArrayLike) -> NDArray[np.float64]:
        """``value`` with noise: a number for a number, else an array of the same shape. Charge the event first."""
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
