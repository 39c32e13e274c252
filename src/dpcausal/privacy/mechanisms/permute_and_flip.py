"""Permute-and-flip: the exponential mechanism's better sibling under pure DP.

Visit the candidates in a uniformly random order; accept candidate j with probability exp(-gamma_j),
gamma_j = epsilon (best - score_j)/(2 Delta); the best is always accepted, so this ends.

**Guarantee** epsilon-DP, ``permute_and_flip.proof.md``; never a larger expected error than ``Exponential``
([1] Thm 2). It is not bounded-range: its zCDP cost is epsilon^2/2. **Cost** O(candidates), about 5 ns each: all
coins are tossed at once and the choice is uniform among the accepted, which is the same law (see the proof).

References: [1] McKenna & Sheldon 2020; [2] Ding, Kifer et al. 2021 (equals noisy max with exponential noise).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.proofs import proved
from dpcausal.privacy import noise
from dpcausal.privacy.events import PureEvent
from dpcausal.privacy.mechanisms.selection import Selection


@proved("permute_and_flip.proof.md")
@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip(Selection):
    """Chooses the candidate with the largest score, noisily.

    >>> PermuteAndFlip(sensitivity=1.0, epsilon=1.0).event("choice").epsilon
    1.0
    """

    def event(self, label: str) -> PureEvent:
        """What a choice costs, as data."""
        return PureEvent(
            label=label, neighbours=self.neighbours, mechanism="permute-and-flip", cost=self.epsilon
        )

    def sample(self, scores: ArrayLike) -> int:
        """The index of the chosen candidate. Charge the event first."""
        return self.choose(self.integer_scores(scores))

    @proved("permute_and_flip.proof.md")
    def choose(self, integers: NDArray[np.int64]) -> int:
        """The same for scores in grid steps."""
        per_step = Fraction(self.epsilon) / Fraction(self.reach)
        accepted = np.flatnonzero(noise.bernoulli_exp_many(integers.max() - integers, per_step))
        return int(accepted[noise.uniform_below(accepted.size)])
