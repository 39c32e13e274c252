"""What the selection mechanisms share: integer scores, their sensitivity, and the exponent of each candidate.

    gamma_j = epsilon (max_i s_i - s_j)/(f Delta_g),   f = 2, or 1 for monotone scores

with s = r(scores) on a grid and Delta_g the sensitivity of one score in steps. ``monotone`` promises that
one row moves all scores the same way (all up or all down). gamma_j is an exact fraction: nothing is sampled
from floats.

The exponential mechanism, sampled exactly: P(j) ~ exp(epsilon score_j/(2 Delta)).

**Guarantee** epsilon-DP and epsilon-bounded-range, hence rho = epsilon^2/8 ([2] Lemma 3.4);
``selection.proof.md``. With ``monotone`` scores the exponent is epsilon score_j/Delta at the same cost.
**Cost** O(candidates), about 30 ns each; the draw uses exact fractions and correctly rounded exponentials where floats
leave a doubt (``noise.categorical_steps``).

Under pure DP ``PermuteAndFlip`` is never worse; this one is for zCDP budgets.

References: [1] McSherry & Talwar 2007; [2] Cesar & Rogers 2021; [3] Durfee & Rogers 2019 (bounded range).

Permute-and-flip: the exponential mechanism's better sibling under pure DP.

Visit the candidates in a uniformly random order; accept candidate j with probability exp(-gamma_j),
gamma_j = epsilon (best - score_j)/(2 Delta); the best is always accepted, so this ends.

**Guarantee** epsilon-DP, ``selection.proof.md``; never a larger expected error than ``Exponential``
([1] Thm 2). It is not bounded-range: its zCDP cost is epsilon^2/2. **Cost** O(candidates), about 5 ns each: all
coins are tossed at once and the choice is uniform among the accepted, which is the same law (see the proof).

References: [1] McKenna & Sheldon 2020; [2] Ding, Kifer et al. 2021 (equals noisy max with exponential noise).

Report-noisy-max with one-sided geometric noise of scale 2 Delta/epsilon, all in one vector of draws.

    j = argmax_i (r(score_i) + N_i),  P(N_i = k) ~ exp(-k/b), k >= 0;  the smallest index wins a tie

**Guarantee** epsilon-DP, ``selection.proof.md``: b = 2 Delta_g/epsilon for general scores, Delta_g/epsilon
for monotone ones (monotone scales on general scores cost 2 epsilon). Same law as permute-and-flip as the
grid gets fine ([1]). **Cost** one draw per candidate, below 1 us each where there are many.

References: [1] Ding, Kifer et al. 2021; [2] Dwork & Roth 2014, Claim 3.9.

The k best of many candidates, by peeling: choose one, take it out, choose again.

**Cost** with a pure budget ``epsilon``: k rounds of ``PermuteAndFlip`` at epsilon/k each. With a zCDP
budget ``rho``: k rounds of ``Exponential`` at e = sqrt(8 rho/k), since each costs e^2/8 (bounded range);
for k >= 9 or so and small delta this is the better one (rho = k e^2/8 against k e pure). **Guarantee**
``selection.proof.md``. The order of the answer is released too. Choosing all k from one round without splitting
the budget costs k times the claim.

References: [1] Durfee & Rogers 2019; [2] Cesar & Rogers 2021; [3] McKenna & Sheldon 2020.

A spanning tree of the best pairs, by peeling too: choose a pair of nodes, take out every pair within what it joins,
choose again, until all nodes are joined.

**Cost** of n nodes: n - 1 rounds of ``Exponential`` at e = sqrt(8 rho/(n - 1)). **Guarantee** ``selection.proof.md``.

References: [1] McKenna, Miklau & Sheldon 2021, section 4.
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


@proved("selection.proof.md")
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

    @proved("selection.proof.md")
    def choose(self, integers: NDArray[np.int64]) -> int:
        """The same for scores in grid steps."""
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
        """What a choice costs, as data."""
        return PureEvent(
            label=label, neighbours=self.neighbours, mechanism="permute-and-flip", cost=self.epsilon
        )

    def sample(self, scores: ArrayLike) -> int:
        """The index of the chosen candidate. Charge the event first."""
        return self.choose(self.integer_scores(scores))

    @proved("selection.proof.md")
    def choose(self, integers: NDArray[np.int64]) -> int:
        """The same for scores in grid steps."""
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
        """What a choice costs, as data."""
        return PureEvent(label=label, neighbours=self.neighbours, mechanism="noisy-max", cost=self.epsilon)

    @proved("selection.proof.md")
    def sample(self, scores: ArrayLike) -> int:
        """The index of the chosen candidate. Charge the event first."""
        integers = self.integer_scores(scores)
        return int(np.argmax(integers + noise.geometric(self.scale, integers.size)))


@proved("selection.proof.md")
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


@proved("selection.proof.md")
@dataclass(frozen=True, kw_only=True)
class SpanningTree:
    """Pairs of ``nodes`` that join all of them, the best first, for a total of ``rho``.

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
        """Rounds: pairs of the tree."""
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
        """What all rounds cost together, as data."""
        return ConcentratedEvent(
            label=label, neighbours=self.neighbours, mechanism="spanning-tree", cost=self.rho
        )

    def sample(self, scores: ArrayLike) -> list[tuple[int, int]]:
        """The chosen pairs, in the order they were chosen; one score for every pair, ascending. Charge first."""
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
