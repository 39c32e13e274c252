"""What can be seen of one public call, and events that tell two neighbours apart by it.

An observation is what a call returned ("result ...") and what each mechanism answered on the way ("Laplace 2 ..."): the
guarantee covers both, since a driver may use a mechanism's answers in any way. They are many numbers and words, nearly
all of them different in every run, so an event can't be a set of outputs. It is "score >= threshold" instead, where a
score is one number, or a sum over features of ln P(bin | first world)/P(bin | second world), as in naive Bayes. Scores
and thresholds are chosen on one half of the trials and tested on the other (``empirical.py``), so that a bad choice
costs power and never validity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from dpcausal.privacy import mechanisms as dp
from dpcausal.privacy.mechanisms.noisy_rank import NoisyRank
from dpcausal.privacy.mechanisms.sieve_and_examine import SieveSession
from dpcausal.privacy.mechanisms.sparse_vector import SparseVectorSession

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
    """Collect what mechanisms answer, numbered in the order in which they were asked. Nothing else is changed."""
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
    """Return one feature for a number or word, one each for the first ``MOST`` numbers of an array.

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
    """A feature cut into bins, with ln P(bin | first world)/P(bin | second world) of each; bin 0: it is missing."""

    name: str
    edges: Floats
    words: Mapping[Hashable, int]
    weights: Floats
    tells: bool

    def codes(self, runs: Sequence[Observation]) -> NDArray[np.int64]:
        """Return the bin of every run."""
        return np.array([self._code(run.features.get(self.name)) for run in runs], np.int64)

    def _code(self, value: Value | None) -> int:
        """Return the bin of a value."""
        if value is None:
            return 0
        if isinstance(value, float):
            return 1 + int(np.searchsorted(self.edges, value, side="right"))
        return self.words.get(value, len(self.edges) + 2)

    @classmethod
    def learned(cls, name: str, first: Sequence[Observation], second: Sequence[Observation]) -> Binned:
        """Return the bins from both worlds together, weights from each."""
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
        tells = bool(chi2.sf(difference, max(int(used.sum()) - 1, 1)) < SMALL)
        return cls(name, edges, words, np.log((here + 0.5) / (there + 0.5)), tells)


Score = Callable[[Sequence[Observation]], Floats]


def scores(first: Sequence[Observation], second: Sequence[Observation]) -> Iterator[Score]:
    """Yield sums over the result, over the answers, over both; then single numbers that differ."""
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
