"""An empirical lower bound on epsilon: run a mechanism or a public call on two neighbours and tell them apart.

Half of the trials chooses an event A and a direction; the other half tests it. With p = P(A) on one neighbour and
q = P(A) on the other, (epsilon, delta)-DP means p <= e^epsilon q + delta, so

    epsilon >= ln((p_low - delta)/q_high)

with Clopper-Pearson bounds p_low, q_high, each wrong with probability at most (1 - confidence)/2. Because A was
chosen on other trials the bound is valid at the stated confidence: a bad choice costs power and never validity. It is a
smoke test: a bound below the claim proves nothing, and losses on rare outputs stay hidden (``exact.py`` computes
instead).

**Events.** Of a mechanism A is a set of outputs. Of a public call an observation is what it returned ("result ...") and
what each mechanism answered on the way ("Laplace 2 ..."): the guarantee covers both, since a driver may use a
mechanism's answers in any way. They are many numbers and words, nearly all of them different in every run, so A is
"score >= threshold" instead, where a score is one number, or a sum over features of ln P(bin | first world)/P(bin |
second world), as in naive Bayes.

References: [1] Clopper & Pearson 1934; [2] Jagielski, Ullman & Oprea 2020, section 4.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, chdtrc

from dpcausal.core.errors import InputError
from dpcausal.privacy import mechanisms as dp
from dpcausal.privacy.mechanisms.noisy_rank import NoisyRank
from dpcausal.privacy.mechanisms.sieve_and_examine import SieveSession
from dpcausal.privacy.mechanisms.sparse_vector import SparseVectorSession

Sampler = Callable[[int], Hashable]  # world 0 or 1 -> output, or an ``Observation`` of a whole call
CUTS = 60  # thresholds tried for a score
ONCE = (dp.Laplace, dp.Gaussian, NoisyRank, dp.ExponentialMedian, dp.SmoothMedian, dp.SmoothTrimmedMean)
CHOICES = (dp.Exponential, dp.PermuteAndFlip, dp.NoisyMax, dp.TopK, dp.SpanningTree)
ANSWERING: tuple[tuple[type, str], ...] = (
    *((kind, "sample") for kind in (*ONCE, *CHOICES)),
    (SparseVectorSession, "ask"),
    (SparseVectorSession, "first_above"),
    (SieveSession, "ask"),
)  # every class of ``privacy/mechanisms`` that answers, and how it is asked
RESULT = "result"  # features of what was returned begin with this
MOST = 64  # numbers taken from one answer
BINS = 8
WORDS = 24  # different words of a feature; rarer ones count as one
SMALL = 0.01  # a feature enters a sum if a chi-squared test sees a difference at this level

Value = float | Hashable
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Observation:
    """All features of one run by name; a float is a number, anything else a word."""

    features: Mapping[str, Value]


@contextmanager
def answers() -> Iterator[dict[str, Value]]:
    """Collect, while the block runs, what every mechanism answers, in order."""
    found: dict[str, Value] = {}
    asked: Counter[str] = Counter()
    depth = 0

    def watched(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def answer(self: Any, *given: Any) -> Any:
            nonlocal depth
            depth += 1
            try:
                released = original(self, *given)
            finally:
                depth -= 1
            if not depth:  # a mechanism inside another one is its own affair
                asked[name] += 1
                found.update(flat(f"{name} {asked[name]}", released))
            return released

        return answer

    plain = [(kind, method, getattr(kind, method)) for kind, method in ANSWERING]
    try:
        for kind, method, original in plain:
            setattr(kind, method, watched(kind.__name__, original))
        yield found
    finally:
        for kind, method, original in plain:
            setattr(kind, method, original)


def flat(name: str, value: Any) -> dict[str, Value]:
    """Return a value as named features: a number or word as one, an array as its first ``MOST`` numbers.

    >>> flat("a", [1, 2]), flat("b", True)
    ({'a [0]': 1.0, 'a [1]': 2.0}, {'b': True})
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, list | np.ndarray):
        numbers = np.asarray(value, np.float64).ravel()[:MOST].tolist()
        return {f"{name} [{i}]": number for i, number in enumerate(numbers)}
    if value is None:
        return {name: "none"}
    if isinstance(value, bool | np.bool_):
        return {name: bool(value)}
    return {name: float(value) if isinstance(value, int | float | np.number) else value}


@dataclass(frozen=True)
class Binned:
    """A binned feature with ln P(bin | first world)/P(bin | second world); bin 0: missing."""

    name: str
    edges: Floats
    words: Mapping[Hashable, int]
    weights: Floats
    tells: bool

    def codes(self, runs: Sequence[Observation]) -> NDArray[np.int64]:
        """Return the number of the bin in which each run lies."""
        return np.array([self._code(run.features.get(self.name)) for run in runs], np.int64)

    def _code(self, value: Value | None) -> int:
        """Return the number of the bin in which a value lies."""
        if value is None:
            return 0
        if isinstance(value, float):
            return 1 + int(np.searchsorted(self.edges, value, side="right"))
        return self.words.get(value, len(self.edges) + 2)

    @classmethod
    def learned(cls, name: str, first: Sequence[Observation], second: Sequence[Observation]) -> Binned:
        """Learn bins from the observations of both worlds, and the log ratio of each bin."""
        values = [run.features.get(name) for run in (*first, *second)]
        numbers = np.array([value for value in values if isinstance(value, float)], np.float64)
        edges = (
            np.unique(np.quantile(numbers, np.linspace(0, 1, BINS + 1)[1:-1]))
            if len(numbers)
            else np.array([])
        )
        often = Counter(value for value in values if value is not None and not isinstance(value, float))
        start = len(edges) + 2
        words = {word: start + 1 + i for i, (word, _) in enumerate(often.most_common(WORDS))}
        size = start + 1 + len(words)
        empty = cls(name, edges, words, np.zeros(size), tells=False)
        here, there = (np.bincount(empty.codes(runs), minlength=size) for runs in (first, second))
        used = here + there > 0
        difference = float(((here - there)[used] ** 2 / (here + there)[used]).sum())
        tells = bool(chdtrc(max(int(used.sum()) - 1, 1), difference) < SMALL)
        return cls(name, edges, words, np.log((here + 0.5) / (there + 0.5)), tells)


Score = Callable[[Sequence[Observation]], Floats]


def scores(first: Sequence[Observation], second: Sequence[Observation]) -> Iterator[Score]:
    """Yield scores that may separate the two worlds.

    First sums of log ratios over the result, over the answers and over both; then single numbers that differ.
    """
    names = sorted({name for run in (*first, *second) for name in run.features})
    binned = [Binned.learned(name, first, second) for name in names]
    telling = [feature for feature in binned if feature.tells]
    results = [feature for feature in telling if feature.name.startswith(RESULT)]
    for chosen in (telling, results, [feature for feature in telling if feature not in results]):
        if chosen:
            yield _sum_of(chosen)
    for feature in telling:
        if len(feature.edges):
            yield _number(feature.name)


def _sum_of(features: Sequence[Binned]) -> Score:
    """Return the score that sums the log ratios of features."""
    return lambda runs: np.sum([feature.weights[feature.codes(runs)] for feature in features], axis=0)


def _number(name: str) -> Score:
    """Return the score that is one number of an observation."""

    def number(runs: Sequence[Observation]) -> Floats:
        found = (run.features.get(name) for run in runs)
        return np.array([value if isinstance(value, float) else np.nan for value in found], np.float64)

    return number


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
    """Return the lower bound on epsilon from how often an event occurred in either world; 0 if it shows none."""
    low, high = clopper_pearson(hits, trials, tail)[0] - delta, clopper_pearson(hits_other, trials, tail)[1]
    return math.log(low / high) if low > high else 0.0


@dataclass(frozen=True)
class Choice:
    """An event and the world where it is more likely; ``score`` is the bound it gave on the trials that chose it."""

    event: frozenset[Hashable]
    world: int
    score: float

    def hits(self, outputs: Sequence[Any]) -> int:
        """Return in how many of the runs the event occurred."""
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
        """Return in how many of the runs the event occurred."""
        return 0 if self.of is None else int((self.sign * self.of(outputs) >= self.cut).sum())


def choose_event(first: Sequence[Hashable], second: Sequence[Hashable], tail: float, delta: float) -> Choice:
    """Return the event that shows the largest epsilon: one output, or a set of largest likelihood ratio."""
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
    """Run a mechanism in two neighbouring worlds and return a lower bound on its epsilon.

    ``sampler`` is called ``trials`` times for each world, ``step`` with the number of trials done.
    """
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
