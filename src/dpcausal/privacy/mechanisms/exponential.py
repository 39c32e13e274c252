"""The exponential mechanism, sampled exactly: P(j) ~ exp(epsilon score_j/(2 Delta)).

**Guarantee** epsilon-DP and epsilon-bounded-range, hence rho = epsilon^2/8 ([2] Lemma 3.4);
``exponential.proof.md``. With ``monotone`` scores the exponent is epsilon score_j/Delta at the same cost.
**Cost** O(candidates), about 10 us each; the draw uses exact fractions and correctly rounded exponentials
(``noise.categorical``).

Under pure DP ``PermuteAndFlip`` is never worse; this one is for zCDP budgets.

References: [1] McSherry & Talwar 2007; [2] Cesar & Rogers 2021; [3] Durfee & Rogers 2019 (bounded range).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.proofs import proved
from dpcausal.privacy import noise
from dpcausal.privacy.events import BoundedRangeEvent
from dpcausal.privacy.mechanisms.selection import Selection


@proved("exponential.proof.md")
@dataclass(frozen=True, kw_only=True)
class Exponential(Selection):
    """Chooses a candidate with probability growing in its score.

    >>> Exponential(sensitivity=1.0, epsilon=1.0).event("choice").rho
    0.125
    """

    def event(self, label: str) -> BoundedRangeEvent:
        """What a choice costs, as data."""
        return BoundedRangeEvent(
            label=label, neighbours=self.neighbours, mechanism="exponential", cost=self.epsilon
        )

    def sample(self, scores: ArrayLike) -> int:
        """The index of the chosen candidate. Charge the event first."""
        return self.choose(self.integer_scores(scores))

    @proved("exponential.proof.md")
    def choose(self, integers: NDArray[np.int64]) -> int:
        """The same for scores in grid steps."""
        steps: list[int] = integers.tolist()
        return noise.categorical([1] * len(steps), self.exponents(steps))
