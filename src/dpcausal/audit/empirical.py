"""An empirical lower bound on epsilon: run a mechanism on two neighbours and tell them apart.

Half of the trials chooses an event A and a direction; the other half tests it. With p = P(A) on one neighbour and
q = P(A) on the other, (epsilon, delta)-DP means p <= e^epsilon q + delta, so

    epsilon >= ln((p_low - delta)/q_high)

with Clopper-Pearson bounds p_low, q_high, each wrong with probability at most (1 - confidence)/2. Because A was
chosen on other trials the bound is valid at the stated confidence. It is a smoke test: a bound below the claim
proves nothing, and losses on rare outputs stay hidden (``exact.py`` computes instead).

References: [1] Clopper & Pearson 1934; [2] Jagielski, Ullman & Oprea 2020, section 4.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv

from dpcausal.audit.observed import Observation, Score, scores
from dpcausal.core.errors import InputError

Sampler = Callable[[int], Hashable]  # world 0 or 1 -> output, or an ``Observation`` of a whole call
CUTS = 60  # thresholds tried for a score


def clopper_pearson(successes: int, trials: int, tail: float) -> tuple[float, float]:
    """Return the bounds on a probability, each wrong with probability at most ``tail``.

    >>> low, high = clopper_pearson(0, 100, 0.025)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    low = float(betaincinv(successes, trials - successes + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, trials - successes, 1 - tail)) if successes < trials else 1.0
    return low, high


def lower_bound(hits: int, hits_other: int, trials: int, tail: float, delta: float) -> float:
    """Return the epsilon that ``hits`` against ``hits_other`` of ``trials`` proves; 0 if none."""
    low, high = clopper_pearson(hits, trials, tail)[0] - delta, clopper_pearson(hits_other, trials, tail)[1]
    return math.log(low / high) if low > high else 0.0


@dataclass(frozen=True)
class Choice:
    """An event and the world where it is more likely; ``score`` is the bound it gave on the trials that chose it."""

    event: frozenset[Hashable]
    world: int
    score: float

    def hits(self, outputs: Sequence[Any]) -> int:
        """Return how many outputs are in the event."""
        return sum(output in self.event for output in outputs)


@dataclass(frozen=True)
class Threshold:
    """The event "sign x score >= cut" of observations, and the world where it is more likely."""

    of: Score | None
    sign: int
    cut: float
    world: int
    score: float

    def hits(self, outputs: Sequence[Any]) -> int:
        """Return how many observations are in the event."""
        return 0 if self.of is None else int((self.sign * self.of(outputs) >= self.cut).sum())


def choose_event(first: Sequence[Hashable], second: Sequence[Hashable], tail: float, delta: float) -> Choice:
    """Return the event with the best bound among single outputs and sets of largest likelihood ratio."""
    counts = Counter(first), Counter(second)
    best = Choice(frozenset(), 0, -1.0)
    for world in (0, 1):
        here, other = counts[world], counts[1 - world]
        ranked = sorted({*here, *other}, key=lambda o: -(here[o] + 0.5) / (other[o] + 0.5))
        hits, misses, taken = 0, 0, set()
        for output in ranked:
            hits, misses = hits + here[output], misses + other[output]
            taken.add(output)
            for event, bound in (
                (taken, lower_bound(hits, misses, len(first), tail, delta)),
                ({output}, lower_bound(here[output], other[output], len(first), tail, delta)),
            ):
                if bound > best.score:
                    best = Choice(frozenset(event), world, bound)
    return best


def choose_threshold(
    first: Sequence[Observation], second: Sequence[Observation], tail: float, delta: float
) -> Threshold:
    """Return the event with the best bound among scores of observations and thresholds at their quantiles.

    Scores are learned on one half of what is given, thresholds on the other: a score fits the runs it came from.
    """
    best = Threshold(None, 1, 0.0, 0, -1.0)
    half = len(first) // 2
    for score in scores(first[:half], second[:half]):
        values = score(first[half:]), score(second[half:])
        for sign in (1, -1):
            worlds = [np.sort(sign * value[np.isfinite(value)]) for value in values]
            both = np.unique(np.concatenate(worlds))
            cuts = both[:: max(1, len(both) // CUTS)]
            above = [len(world) - np.searchsorted(world, cuts) for world in worlds]
            for i, cut in enumerate(cuts.tolist()):
                for world in (0, 1):
                    hits, misses = int(above[world][i]), int(above[1 - world][i])
                    bound = lower_bound(hits, misses, len(first) - half, tail, delta)
                    if bound > best.score:
                        best = Threshold(score, sign, cut, world, bound)
    return best


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """What an audit found. ``refuted`` means: the claim is false, at this confidence."""

    method: str
    claim: float
    delta: float
    lower: float
    trials: int
    confidence: float
    refuted: bool

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return asdict(self)


def audit(
    method: str,
    sampler: Sampler,
    claim: float,
    delta: float = 0.0,
    trials: int = 100_000,
    confidence: float = 0.95,
    step: Callable[[int], object] = lambda done: None,
) -> AuditResult:
    """Run ``sampler`` ``trials`` times in each world; ``step`` is called with the number of trials done."""
    if trials < 100:
        raise InputError(f"an audit needs at least 100 trials, not {trials}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie strictly between 0 and 1, not {confidence!r}")
    half, tail = trials // 2, (1 - confidence) / 2
    outputs: tuple[list[Any], list[Any]] = ([], [])
    for done in range(2 * half):
        for world in (0, 1):
            outputs[world].append(sampler(world))
        if done % 256 == 255:
            step(256)
    chosen_on = outputs[0][:half], outputs[1][:half]
    choice = (
        choose_threshold(*chosen_on, tail, delta)
        if isinstance(outputs[0][0], Observation)
        else choose_event(*chosen_on, tail, delta)
    )
    hits, misses = (choice.hits(outputs[world][half:]) for world in (choice.world, 1 - choice.world))
    lower = lower_bound(hits, misses, half, tail, delta)
    return AuditResult(
        method=method,
        claim=claim,
        delta=delta,
        lower=lower,
        trials=2 * half,
        confidence=confidence,
        refuted=lower > claim,
    )
