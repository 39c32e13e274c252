"""The k best of many candidates, by peeling: choose one, take it out, choose again.

**Cost** with a pure budget ``epsilon``: k rounds of ``PermuteAndFlip`` at epsilon/k each. With a zCDP
budget ``rho``: k rounds of ``Exponential`` at e = sqrt(8 rho/k), since each costs e^2/8 (bounded range);
for k >= 9 or so and small delta this is the better one (rho = k e^2/8 against k e pure). **Guarantee**
``top_k.proof.md``. The order of the answer is released too. Choosing all k from one round without splitting
the budget costs k times the claim.

References: [1] Durfee & Rogers 2019; [2] Cesar & Rogers 2021; [3] McKenna & Sheldon 2020.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.privacy.events import ConcentratedEvent, PureEvent
from dpcausal.privacy.mechanisms.exponential import Exponential
from dpcausal.privacy.mechanisms.grid import Grid
from dpcausal.privacy.mechanisms.permute_and_flip import PermuteAndFlip
from dpcausal.privacy.mechanisms.release import checked_positive, checked_size


@proved("top_k.proof.md")
def epsilon_per_round(count: int, epsilon: float | None, rho: float | None) -> float:
    """What each of ``count`` rounds may cost: count e <= epsilon, or count e^2/8 <= rho, as rational
    numbers."""
    if epsilon is not None:
        each, total = epsilon / count, Fraction(epsilon)
        while count * Fraction(each) > total:
            each = math.nextafter(each, 0)
        return each
    assert rho is not None
    each = math.sqrt(8 * rho / count)
    while count * Fraction(each) ** 2 > 8 * Fraction(rho):
        each = math.nextafter(each, 0)
    return each


@proved("top_k.proof.md")
@dataclass(frozen=True, kw_only=True)
class TopK:
    """The ``count`` best candidates, best first, for a total of ``epsilon`` or of ``rho``.

    >>> TopK(sensitivity=1.0, count=4, epsilon=1.0).round.epsilon
    0.25
    """

    sensitivity: float
    count: int
    epsilon: float | None = None
    rho: float | None = None
    monotone: bool = False
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    grid: Grid | None = None

    def __post_init__(self) -> None:
        checked_size(self.count, "count")
        if (self.epsilon is None) == (self.rho is None):
            raise InputError("top-k takes either epsilon or rho")
        checked_positive(**{"epsilon" if self.rho is None else "rho": self.epsilon or self.rho or 0.0})

    @cached_property
    def round(self) -> PermuteAndFlip | Exponential:
        """The mechanism of one round."""
        kind = PermuteAndFlip if self.rho is None else Exponential
        return kind(
            sensitivity=self.sensitivity,
            epsilon=epsilon_per_round(self.count, self.epsilon, self.rho),
            monotone=self.monotone,
            neighbours=self.neighbours,
            grid=self.grid,
        )

    def event(self, label: str) -> PureEvent | ConcentratedEvent:
        """What all rounds cost together, as data."""
        if self.epsilon is not None:
            return PureEvent(label=label, neighbours=self.neighbours, mechanism="top-k", cost=self.epsilon)
        assert self.rho is not None
        return ConcentratedEvent(label=label, neighbours=self.neighbours, mechanism="top-k", cost=self.rho)

    def sample(self, scores: ArrayLike) -> list[int]:
        """Indices of the chosen candidates, in the order they were chosen. Charge the event first."""
        left = self.round.integer_scores(scores)
        if left.size < self.count:
            raise InputError(f"top-k needs at least {self.count} candidates")
        names, chosen = np.arange(left.size), []
        for _ in range(self.count):
            j = self.round.choose(left)
            chosen.append(int(names[j]))
            names, left = np.delete(names, j), np.delete(left, j)
        return chosen
