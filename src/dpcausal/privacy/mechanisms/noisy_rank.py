"""Is the first of m + 1 values among the k largest? One bit, decided on values with Laplace noise.

    yes  iff  #{j >= 1: r(v_j) + L_j >= r(v_0) + L_0} <= k - 1,    P(L = i) ~ exp(-|i|/b), b = 2 Delta_g/epsilon

All m + 1 values may move at once, each by Delta: the cost does not grow with m, because only the comparison leaves.

**Guarantee** epsilon-DP (``noisy_rank.proof.md``). **Level**: if the m + 1 values are exchangeable, so are the noisy
ones, and "yes" has probability at most k/(m + 1), exactly that without ties; noise costs power, never the level.
Nothing but the bit may leave: neither the noisy values nor the rank. **Cost** one draw a value.

References: Kalemaj, Kasiviswanathan & Ramdas 2024, Alg. 2 (a rank by report-noisy-max; needs more noise).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.privacy import noise
from dpcausal.privacy.events import PureEvent
from dpcausal.privacy.mechanisms.base import Grid, checked_positive, rounded_up


@proved("noisy_rank.proof.md")
@dataclass(frozen=True, kw_only=True)
class NoisyRank:
    """Whether value 0 is among the ``largest`` of ``size`` values, each of ``sensitivity``, for ``epsilon``.

    >>> NoisyRank(sensitivity=1.0, epsilon=0.5, size=20, largest=1).event("test").epsilon
    0.5
    """

    sensitivity: float
    epsilon: float
    size: int
    largest: int
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    grid: Grid | None = None

    def __post_init__(self) -> None:
        checked_positive(sensitivity=self.sensitivity, epsilon=self.epsilon)
        if not 1 <= self.largest < self.size:
            raise InputError(
                f"the number of largest values must lie between 1 and {self.size - 1}, not {self.largest}"
            )
        noise.checked_scale(self.steps)

    @cached_property
    def on(self) -> Grid:
        """The grid that values are rounded to."""
        return self.grid or Grid.fitting(self.sensitivity)

    @cached_property
    def steps(self) -> float:
        """Scale of the noise in grid steps: the least float b with 2 Delta_g/b <= epsilon."""
        return rounded_up(2 * Fraction(self.on.sensitivity(self.sensitivity)) / Fraction(self.epsilon))

    @property
    def scale(self) -> float:
        """Scale of the noise in the units of the values."""
        return self.steps * self.on.step

    def event(self, label: str) -> PureEvent:
        """Return the event that states what the answer costs."""
        return PureEvent(label=label, neighbours=self.neighbours, mechanism="noisy-rank", cost=self.epsilon)

    @proved("noisy_rank.proof.md")
    def sample(self, values: ArrayLike) -> bool:
        """Return whether value 0 is, after noise, among the largest. Charge the event first."""
        integers = self.on.to_integers(values)
        if integers.shape != (self.size,):
            raise InputError(f"this mechanism takes {self.size} values, not {integers.shape}")
        noisy = integers + noise.discrete_laplace(self.steps, self.size)
        return bool(np.count_nonzero(noisy[1:] >= noisy[0]) < self.largest)
