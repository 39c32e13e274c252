"""Exact output laws of the mechanisms on small inputs, from the very scales the shipped objects use.

Every function returns ``{output: probability}``. Sums have only positive terms, so float64 gives about 1e-13
relative; sums over threshold noise stop where exp(-60) is left. Inputs are integers on a grid of step 1.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from dpcausal.privacy.mechanisms.median import ExponentialMedian, median_runs
from dpcausal.privacy.mechanisms.selection import Selection
from dpcausal.privacy.mechanisms.sparse_vector import Scales

Law = dict[Hashable, float]
Floats = NDArray[np.float64]
TAIL = 60  # noise beyond TAIL scales has probability below exp(-60)


def mass(noise: str, scale: float, k: Floats) -> Floats:
    """P(N = k) of geometric, laplace, gaussian or cauchy noise."""
    if noise == "geometric":
        return np.where(k >= 0, -math.expm1(-1 / scale) * np.exp(-np.maximum(k, 0) / scale), 0.0)
    if noise == "laplace":
        return math.tanh(1 / (2 * scale)) * np.exp(-np.abs(k) / scale)
    if noise == "gaussian":
        all_k = np.arange(-math.ceil(12 * scale), math.ceil(12 * scale) + 1)
        total = float(np.exp(-(all_k**2) / (2 * scale**2)).sum())
        return np.exp(-(k**2) / (2 * scale**2)) / total
    return scale * math.tanh(math.pi * scale) / math.pi / (scale**2 + k**2)


def reaches(noise: str, scale: float, r: Floats) -> Floats:
    """P(N >= r); no noise at all when the scale is 0."""
    if scale == 0:
        return (r <= 0).astype(np.float64)
    if noise == "geometric":
        return np.exp(-np.maximum(r, 0) / scale)
    half = np.exp(-np.maximum(r, 1 - r) / scale) / (1 + math.exp(-1 / scale))
    return np.where(r >= 1, half, 1 - half)


def misses(noise: str, scale: float, r: Floats) -> Floats:
    """P(N < r), without cancellation."""
    if scale == 0:
        return (r > 0).astype(np.float64)
    if noise == "geometric":
        return -np.expm1(-np.maximum(r, 0) / scale)
    return reaches(noise, scale, 1 - r)  # symmetric


def thresholds(noise: str, scales: Scales, queries: Sequence[int]) -> tuple[Floats, Floats]:
    """Values of the threshold noise and their probabilities."""
    reach = math.ceil(TAIL * max(scales)) + 2 * max(map(abs, queries), default=0)
    z = np.arange(0 if noise == "geometric" else -reach, reach + 1, dtype=np.float64)
    if scales.threshold == 0:
        return np.zeros(1), np.ones(1)
    return z, mass(noise, scales.threshold, z)


def transcript(queries: Sequence[int], answers: Sequence[bool], noise: str, scales: Scales) -> float:
    """P(answers) of a sparse vector to ``queries`` (values minus threshold)."""
    z, probability = thresholds(noise, scales, queries)
    for query, above in zip(queries, answers, strict=True):
        probability = probability * (reaches if above else misses)(noise, scales.query, z - query)
    return float(probability.sum())


def sparse_vector_law(queries: Sequence[int], noise: str, scales: Scales, positives: int = 1) -> Law:
    """Answers to ``queries`` (values minus threshold) until ``positives`` are above."""
    z, weights = thresholds(noise, scales, queries)
    law: Law = {}

    def walk(i: int, answers: tuple[bool, ...], probability: Floats) -> None:
        if i == len(queries) or sum(answers) == positives:
            law[answers] = float(probability.sum())
            return
        gap = z - queries[i]
        walk(i + 1, (*answers, True), probability * reaches(noise, scales.query, gap))
        walk(i + 1, (*answers, False), probability * misses(noise, scales.query, gap))

    walk(0, (), weights)
    return law


def sieve_law(
    queries: Sequence[tuple[int, int]], noise: str, scales: Scales, examine: float, refresh: bool = True
) -> Law:
    """One-hit rounds on (sieve value, examine value) pairs; Laplace examination of scale ``examine``.

    Outputs per query: "below", "fail" or "pass", ending at the first hit. ``refresh=False`` is the paper's listing:
    a failed examination goes on with the same threshold noise and looks like "below"; it ends at a "pass".
    """
    z, running = thresholds(noise, scales, [sieved for sieved, _ in queries])
    law: Law = {}
    for i, (sieved, full) in enumerate(queries):
        hit = reaches(noise, scales.query, z - sieved)
        below = misses(noise, scales.query, z - sieved)
        passed = float(reaches("laplace", examine, np.array(-full)))
        failed = float(misses("laplace", examine, np.array(-full)))
        law[(i, "pass")] = float((running * hit).sum()) * passed
        if refresh:
            law[(i, "fail")] = float((running * hit).sum()) * failed
            running = running * below
        else:
            running = running * (below + hit * failed)
    law["end"] = float(running.sum())
    return law


def mixture(first: Mapping[Hashable, float], second: Mapping[Hashable, float], share: float) -> Law:
    """(1 - share) first + share second: what a subsample that holds the row with probability ``share`` sees."""
    return {
        key: (1 - share) * first.get(key, 0.0) + share * second.get(key, 0.0) for key in {*first, *second}
    }


def noisy_max_law(scores: Sequence[int], scale: float) -> Law:
    """Winner of report-noisy-max with geometric noise; the smallest index wins a tie."""
    g = np.arange(math.ceil(TAIL * scale) + max(scores) - min(scores) + 1, dtype=np.float64)
    law: Law = {}
    for j, score in enumerate(scores):
        wins = mass("geometric", scale, g)
        for i, other in enumerate(scores):
            if i != j:
                wins = wins * misses("geometric", scale, score + g - other + (i > j))
        law[j] = float(wins.sum())
    return law


def exponential_law(gammas: Sequence[float]) -> Law:
    """Choice with P(j) ~ exp(-gamma_j)."""
    weights = np.exp(-np.asarray(gammas, dtype=np.float64))
    return dict(enumerate((weights / weights.sum()).tolist()))


@lru_cache
def _nodes(count: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def permute_and_flip_law(gammas: Sequence[float]) -> Law:
    """P(j) = p_j times the integral over [0, 1] of prod_{i != j} (1 - t p_i): Gauss-Legendre is exact here."""
    t, weights = _nodes(len(gammas) + 1)
    p = np.exp(-np.asarray(gammas, dtype=np.float64))
    return {
        j: float(p[j] * (weights * np.prod([1 - t * p[i] for i in range(p.size) if i != j], axis=0)).sum())
        for j in range(p.size)
    }


def choice_law(mechanism: Selection, scores: Sequence[int], flip: bool) -> Law:
    """Choice of a shipped ``PermuteAndFlip`` (flip) or ``Exponential`` on integer scores."""
    gammas = [float(gamma) for gamma in mechanism.exponents(scores)]
    return permute_and_flip_law(gammas) if flip else exponential_law(gammas)


def top_k_law(mechanism: Selection, count: int, scores: Sequence[int], flip: bool) -> Law:
    """Ordered answers of peeling ``count`` rounds of ``mechanism``."""
    law: Law = {}
    for order in permutations(range(len(scores)), count):
        left, probability = list(range(len(scores))), 1.0
        for chosen in order:
            step = choice_law(mechanism, [scores[j] for j in left], flip)
            probability *= step[left.index(chosen)]
            left.remove(chosen)
        law[order] = probability
    return law


def median_law(mechanism: ExponentialMedian, points: Sequence[int], at: Iterable[int]) -> Law:
    """P(r) at the grid points ``at``."""
    runs = median_runs(np.sort(np.asarray(points, dtype=np.int64)), mechanism.cells)
    weights = [math.exp(-gamma) for gamma in mechanism.exponents(runs)]
    total = math.fsum(width * weight for (_, width, _), weight in zip(runs, weights, strict=True))
    return {
        r: next(w for (first, width, _), w in zip(runs, weights, strict=True) if first <= r < first + width)
        / total
        for r in at
    }
