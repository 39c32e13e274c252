"""What the selection mechanisms share: integer scores, their sensitivity, and the exponent of each candidate.

    gamma_j = epsilon (max_i s_i - s_j)/(f Delta_g),   f = 2, or 1 for monotone scores

with s = r(scores) on a grid and Delta_g the sensitivity of one score in steps. ``monotone`` promises that
one row moves all scores the same way (all up or all down). gamma_j is an exact fraction: nothing is sampled
from floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.privacy.mechanisms.grid import Grid
from dpcausal.privacy.mechanisms.release import checked_positive


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Public parameters of a choice among candidates by scores of ``sensitivity``, for ``epsilon``."""

    sensitivity: float
    epsilon: float
    monotone: bool = False
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    grid: Grid | None = None

    def __post_init__(self) -> None:
        checked_positive(sensitivity=self.sensitivity, epsilon=self.epsilon)

    @cached_property
    def on(self) -> Grid:
        """The grid in use."""
        return self.grid or Grid.fitting(self.sensitivity)

    @cached_property
    def reach(self) -> float:
        """How far, in steps, one row can move a score against another: Delta_g or 2 Delta_g."""
        steps = self.on.sensitivity(self.sensitivity)
        if not self.monotone:
            return 2 * steps
        return steps if self.on.exact else steps + 1  # a score that stands still may be rounded the other way

    def integer_scores(self, scores: ArrayLike) -> NDArray[np.int64]:
        """Scores in grid steps. The number of candidates is public."""
        rounded = self.on.to_integers(scores)
        if rounded.ndim != 1 or rounded.size == 0:
            raise InputError("scores must be a non-empty list of numbers")
        return rounded

    def exponents(self, integer_scores: Sequence[int]) -> list[Fraction]:
        """gamma_j for each candidate: zero for the best."""
        best = max(integer_scores)
        per_step = Fraction(self.epsilon) / Fraction(self.reach)
        return [(best - score) * per_step for score in integer_scores]
