"""Choices among candidates by noisy scores: exponential, permute-and-flip, noisy max, top-k and a spanning tree.

All take integer scores s = r(scores) on a grid, with Delta_g the sensitivity of one score in steps. ``monotone``
promises that one row moves all scores the same way (all up or all down). With

    gamma_j = epsilon (max_i s_i - s_j)/(f Delta_g),   f = 2, or 1 for monotone scores

an exact fraction, nothing is sampled from floats. **Guarantee** of each: ``selection.proof.md``.

**Exponential**: P(j) ~ exp(-gamma_j). epsilon-DP and epsilon-bounded-range, hence rho = epsilon^2/8 ([2] Lemma 3.4), at
the same cost for monotone scores. For zCDP budgets: under pure DP ``PermuteAndFlip`` is never worse. **Cost** about
30 ns a candidate; the draw uses exact fractions and correctly rounded exponentials where floats leave a doubt
(``noise.categorical_steps``).

**PermuteAndFlip**: visit the candidates in a uniformly random order and accept candidate j with probability
exp(-gamma_j); the best is always accepted, so this ends. epsilon-DP; never a larger expected error than ``Exponential``
([4] Thm 2). It is not bounded-range: its zCDP cost is epsilon^2/2. **Cost** about 5 ns a candidate: all coins are
tossed at once and the choice is uniform among the accepted, which is the same law (see the proof).

**NoisyMax**: one-sided geometric noise of scale b on every score, all in one vector of draws,

    j = argmax_i (r(score_i) + N_i),  P(N_i = k) ~ exp(-k/b), k >= 0;  the smallest index wins a tie

epsilon-DP with b = 2 Delta_g/epsilon for general scores, Delta_g/epsilon for monotone ones (monotone scales on general
scores cost 2 epsilon). Same law as permute-and-flip as the grid gets fine ([5]).

**TopK**: the k best, by peeling: choose one, take it out, choose again. With a pure budget ``epsilon``: k rounds of
``PermuteAndFlip`` at epsilon/k each. With a zCDP budget ``rho``: k rounds of ``Exponential`` at e = sqrt(8 rho/k), as
each costs e^2/8; for k >= 9 or so and small delta this is the better one. The order of the answer is released too.
Choosing all k from one round without splitting the budget costs k times the claim.

**SpanningTree**: choose a pair of nodes, take out every pair within what it joins, choose again, until all n nodes are
joined ([7] section 4): n - 1 rounds of ``Exponential`` at e = sqrt(8 rho/(n - 1)).

References: [1] McSherry & Talwar 2007; [2] Cesar & Rogers 2021; [3] Durfee & Rogers 2019; [4] McKenna & Sheldon 2020;
[5] Ding, Kifer et al. 2021; [6] Dwork & Roth 2014, Claim 3.9; [7] McKenna, Miklau & Sheldon 2021.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.privacy import noise
from dpcausal.privacy.events import BoundedRangeEvent, ConcentratedEvent, PureEvent
from dpcausal.privacy.mechanisms.base import Grid, checked_positive, checked_size, rounded_up


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
        """The grid that scores are rounded to."""
        return self.grid or Grid.fitting(self.sensitivity)

    @cached_property
    def reach(self) -> float:
        """The most that one row changes the difference of two scores, in grid steps: Delta_g or 2 Delta_g."""
        steps = self.on.sensitivity(self.sensitivity)
        if not self.monotone:
            return 2 * steps
        return steps if self.on.exact else steps + 1  # a score that stands still may be rounded the other way

    def integer_scores(self, scores: ArrayLike) -> NDArray[np.int64]:
        """Return the scores in grid steps. The number of candidates is public."""
        rounded = self.on.to_integers(scores)
        if rounded.ndim != 1 or rounded.size == 0:
            raise InputError("scores must be a non-empty list of numbers")
        return rounded

    def exponents(self, integer_scores: Sequence[int]) -> list[Fraction]:
        """Return the exponent gamma_j of each candidate, zero for the best."""
        best = max(integer_scores)
        per_step = Fraction(self.epsilon) / Fraction(self.reach)
        return [(best - score) * per_step for score in integer_scores]


@proved("selection.proof.md")
@dataclass(frozen=True, kw_only=True)
class Exponential(Selection):
    """Chooses a candidate with probability growing in its score.

    >>> Exponential(sensitivity=1.0, epsilon=1.0).event("choice").rho
    0.125
    """

    def event(self, label: str) -> BoundedRangeEvent:
        """Return the event that states what a choice costs."""
        return BoundedRangeEvent(
            label=label, neighbours=self.neighbours, mechanism="exponential", cost=self.epsilon
        )

    def sample(self, scores: ArrayLike) -> int:
        """Return the index of the chosen candidate. Charge the event first."""
        return self.choose(self.integer_scores(scores))

    @proved("selection.proof.md")
    def choose(self, integers: NDArray[np.int64]) -> int:
        """Return the index of a candidate drawn by the exponential mechanism on scores in grid steps."""
        return noise.categorical_steps(
            integers.max() - integers, Fraction(self.epsilon) / Fraction(self.reach)
        )


@proved("selection.proof.md")
@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip(Selection):
    """Chooses the candidate with the largest score, noisily.

    >>> PermuteAndFlip(sensitivity=1.0, epsilon=1.0).event("choice").epsilon
    1.0
    """

    def event(self, label: str) -> PureEvent:
        """Return the event that states what a choice costs."""
        return PureEvent(
            label=label, neighbours=self.neighbours, mechanism="permute-and-flip", cost=self.epsilon
        )

    def sample(self, scores: ArrayLike) -> int:
        """Return the index of the chosen candidate. Charge the event first."""
        return self.choose(self.integer_scores(scores))

    @proved("selection.proof.md")
    def choose(self, integers: NDArray[np.int64]) -> int:
        """Return the index of a candidate drawn by permute-and-flip on scores in grid steps."""
        per_step = Fraction(self.epsilon) / Fraction(self.reach)
        accepted = np.flatnonzero(noise.bernoulli_exp_many(integers.max() - integers, per_step))
        return int(accepted[noise.uniform_below(accepted.size)])


@proved("selection.proof.md")
@dataclass(frozen=True, kw_only=True)
class NoisyMax(Selection):
    """The candidate whose noisy score is largest.

    >>> NoisyMax(sensitivity=1.0, epsilon=1.0).event("choice").epsilon
    1.0
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        noise.checked_scale(self.scale)

    @property
    def scale(self) -> float:
        """Scale of the noise in grid steps: the least float with reach/scale <= epsilon."""
        return rounded_up(Fraction(self.reach) / Fraction(self.epsilon))

    def event(self, label: str) -> PureEvent:
        """Return the event that states what a choice costs."""
        return PureEvent(label=label, neighbours=self.neighbours, mechanism="noisy-max", cost=self.epsilon)

    @proved("selection.proof.md")
    def sample(self, scores: ArrayLike) -> int:
        """Return the index of the chosen candidate. Charge the event first."""
        integers = self.integer_scores(scores)
        return int(np.argmax(integers + noise.geometric(self.scale, integers.size)))


@proved("selection.proof.md")
def epsilon_per_round(count: int, epsilon: float | None, rho: float | None) -> float:
    """Return the epsilon of each of ``count`` rounds within a total epsilon or rho, exactly.

    count e <= epsilon, or count e^2/8 <= rho, as rational numbers.
    """
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


@proved("selection.proof.md")
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
        _ = self.round  # its checks come now, not after a charge

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
        """Return the event that states what all rounds cost together."""
        if self.epsilon is not None:
            return PureEvent(label=label, neighbours=self.neighbours, mechanism="top-k", cost=self.epsilon)
        assert self.rho is not None
        return ConcentratedEvent(label=label, neighbours=self.neighbours, mechanism="top-k", cost=self.rho)

    def sample(self, scores: ArrayLike) -> list[int]:
        """Return the indices of the chosen candidates, in the order they were chosen. Charge the event first."""
        left = self.round.integer_scores(scores)
        if left.size < self.count:
            raise InputError(f"top-k needs at least {self.count} candidates")
        names, chosen = np.arange(left.size), []
        for _ in range(self.count):
            j = self.round.choose(left)
            chosen.append(int(names[j]))
            names, left = np.delete(names, j), np.delete(left, j)
        return chosen


@proved("selection.proof.md")
@dataclass(frozen=True, kw_only=True)
class SpanningTree:
    """Pairs that form a spanning tree of ``nodes``, chosen by score, best first, for a total of ``rho``.

    >>> SpanningTree(sensitivity=1.0, nodes=5, rho=0.5).round.epsilon
    1.0
    """

    sensitivity: float
    nodes: int
    rho: float
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    grid: Grid | None = None

    def __post_init__(self) -> None:
        checked_size(self.count, "nodes - 1")
        checked_positive(rho=self.rho)
        _ = self.round  # its checks come now, not after a charge

    @property
    def count(self) -> int:
        """The number of rounds: pairs in the tree."""
        return self.nodes - 1

    @cached_property
    def round(self) -> Exponential:
        """The mechanism of one round."""
        return Exponential(
            sensitivity=self.sensitivity,
            epsilon=epsilon_per_round(self.count, None, self.rho),
            neighbours=self.neighbours,
            grid=self.grid,
        )

    def event(self, label: str) -> ConcentratedEvent:
        """Return the event that states what all rounds cost together."""
        return ConcentratedEvent(
            label=label, neighbours=self.neighbours, mechanism="spanning-tree", cost=self.rho
        )

    def sample(self, scores: ArrayLike) -> list[tuple[int, int]]:
        """Return the pairs of a privately chosen spanning tree, in the order chosen. Charge the event first.

        There is one score for every pair, ascending.
        """
        left = self.round.integer_scores(scores)
        ends = np.array(list(combinations(range(self.nodes), 2)))
        if len(left) != len(ends):
            raise InputError(f"{self.nodes} nodes have {len(ends)} pairs, not {len(left)}")
        part, chosen = np.arange(self.nodes), []
        for _ in range(self.count):
            a, b = ends[self.round.choose(left)].tolist()
            chosen.append((a, b))
            part[part == part[b]] = part[a]
            apart = part[ends[:, 0]] != part[ends[:, 1]]
            ends, left = ends[apart], left[apart]
        return chosen
