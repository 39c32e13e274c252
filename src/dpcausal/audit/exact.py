"""Exact output laws of the mechanisms on small inputs, and the worst privacy loss over neighbours.

A law is ``{output: probability}``, from the very scales that the shipped objects use. Sums have only positive terms, so
float64 gives about 1e-13 relative; sums over threshold noise stop where exp(-60) is left. Inputs are integers on a grid
of step 1.

``worst_loss(p, q)`` is max over outputs of |ln p(o)/q(o)|. The searches enumerate small inputs and all their neighbours
and return the largest loss found: equal to the claim where the proof says that it is attained, never above it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from dpcausal.privacy.mechanisms.additive import Laplace
from dpcausal.privacy.mechanisms.median import ExponentialMedian, median_runs
from dpcausal.privacy.mechanisms.selection import Selection
from dpcausal.privacy.mechanisms.sparse_vector import Scales

Law = dict[Hashable, float]
Floats = NDArray[np.float64]
TAIL = 60  # noise beyond TAIL scales has probability below exp(-60)


def mass(noise: str, scale: float, k: Floats) -> Floats:
    """Return P(N = k) of geometric, laplace, gaussian or cauchy noise."""
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
    """Return P(N >= r) for this noise; scale 0 means N = 0."""
    if scale == 0:
        return (r <= 0).astype(np.float64)
    if noise == "geometric":
        return np.exp(-np.maximum(r, 0) / scale)
    half = np.exp(-np.maximum(r, 1 - r) / scale) / (1 + math.exp(-1 / scale))
    return np.where(r >= 1, half, 1 - half)


def misses(noise: str, scale: float, r: Floats) -> Floats:
    """Return P(N < r) for this noise, without cancellation."""
    if scale == 0:
        return (r > 0).astype(np.float64)
    if noise == "geometric":
        return -np.expm1(-np.maximum(r, 0) / scale)
    return reaches(noise, scale, 1 - r)  # symmetric


def thresholds(noise: str, scales: Scales, queries: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the possible values of the noise on the threshold, and their probabilities."""
    reach = math.ceil(TAIL * max(scales)) + 2 * max(map(abs, queries), default=0)
    z = np.arange(0 if noise == "geometric" else -reach, reach + 1, dtype=np.float64)
    if scales.threshold == 0:
        return np.zeros(1), np.ones(1)
    return z, mass(noise, scales.threshold, z)


def transcript(queries: Sequence[int], answers: Sequence[bool], noise: str, scales: Scales) -> float:
    """Return the probability that a sparse vector gives these answers to ``queries`` (values minus threshold)."""
    z, probability = thresholds(noise, scales, queries)
    for query, above in zip(queries, answers, strict=True):
        probability = probability * (reaches if above else misses)(noise, scales.query, z - query)
    return float(probability.sum())


def sparse_vector_law(queries: Sequence[int], noise: str, scales: Scales, positives: int = 1) -> Law:
    """Return the distribution of a sparse vector's answers to ``queries`` (values minus threshold).

    It stops after ``positives`` answers "above".
    """
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
    """Return the distribution of the outputs of sieve-and-examine on pairs of (sieve value, examined value).

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


def mixture(first: Law, second: Law, share: float) -> Law:
    """Return the distribution (1 - share) first + share second.

    It is that of a subsample which holds the row with probability ``share``.
    """
    return {
        key: (1 - share) * first.get(key, 0.0) + share * second.get(key, 0.0) for key in {*first, *second}
    }


def noisy_max_law(scores: Sequence[int], scale: float) -> Law:
    """Return the law of the winner of report-noisy-max with geometric noise; the smallest index wins a tie."""
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
    """Return the law of a choice with P(j) ~ exp(-gamma_j)."""
    weights = np.exp(-np.asarray(gammas, dtype=np.float64))
    return dict(enumerate((weights / weights.sum()).tolist()))


@lru_cache
def _nodes(count: int) -> tuple[Floats, Floats]:
    """Return the nodes and weights of Gauss-Legendre quadrature on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def permute_and_flip_law(gammas: Sequence[float]) -> Law:
    """Return P(j) = p_j times the integral over [0, 1] of prod_{i != j} (1 - t p_i), exact by Gauss-Legendre."""
    t, weights = _nodes(len(gammas) + 1)
    p = np.exp(-np.asarray(gammas, dtype=np.float64))
    return {
        j: float(p[j] * (weights * np.prod([1 - t * p[i] for i in range(p.size) if i != j], axis=0)).sum())
        for j in range(p.size)
    }


def choice_law(mechanism: Selection, scores: Sequence[int], flip: bool) -> Law:
    """Return the exact law of the choice of ``PermuteAndFlip`` (``flip``) or ``Exponential`` on integer scores."""
    gammas = [float(gamma) for gamma in mechanism.exponents(scores)]
    return permute_and_flip_law(gammas) if flip else exponential_law(gammas)


def top_k_law(mechanism: Selection, count: int, scores: Sequence[int], flip: bool) -> Law:
    """Return the law of the ordered answers of peeling ``count`` rounds of ``mechanism``."""
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
    """Return P(r) of the exponential median at the grid points ``at``."""
    runs = median_runs(np.sort(np.asarray(points, dtype=np.int64)), mechanism.cells)
    weights = [math.exp(-gamma) for gamma in mechanism.exponents(runs)]
    total = math.fsum(width * weight for (_, width, _), weight in zip(runs, weights, strict=True))
    return {
        r: next(w for (first, width, _), w in zip(runs, weights, strict=True) if first <= r < first + width)
        / total
        for r in at
    }


def worst_loss(p: Mapping[Hashable, float], q: Mapping[Hashable, float]) -> float:
    """Return max |ln p/q| over all outputs; infinite if one side can't happen.

    >>> round(worst_loss({0: 0.25, 1: 0.75}, {0: 0.5, 1: 0.5}), 6)
    0.693147
    """
    worst = 0.0
    for output in {*p, *q}:
        a, b = p.get(output, 0.0), q.get(output, 0.0)
        if a != b:
            worst = max(worst, abs(math.log(a / b)) if a > 0 and b > 0 else math.inf)
    return worst


def shifts(size: int, sensitivity: int, monotone: bool) -> Iterator[tuple[int, ...]]:
    """Yield how one row can change ``size`` values: all corners, or only those of one sign if monotone."""
    if monotone:
        yield from product((0, sensitivity), repeat=size)
        yield from product((-sensitivity, 0), repeat=size)
    else:
        yield from product((-sensitivity, 0, sensitivity), repeat=size)


def search(
    law: Callable[[Sequence[int]], Law],
    inputs: Iterable[Sequence[int]],
    sensitivity: int,
    monotone: bool = False,
) -> float:
    """Return the largest privacy loss of ``law`` over all ``inputs`` and all their neighbours."""
    worst = 0.0
    for values in inputs:
        here = law(values)
        for shift in shifts(len(values), sensitivity, monotone):
            there = law([v + d for v, d in zip(values, shift, strict=True)])
            worst = max(worst, worst_loss(here, there))
    return worst


def worst_sparse_vector(
    noise: str,
    scales: Scales,
    positives: int,
    sensitivity: int = 1,
    monotone: bool = False,
    values: Sequence[int] = (-1, 0),
) -> float:
    """Return worst loss of a sparse vector: all streams of c + 1 queries near the threshold, and one far-off attack."""
    near = search(
        lambda q: sparse_vector_law(q, noise, scales, positives),
        product(values, repeat=positives + 1),
        sensitivity,
        monotone,
    )
    return max(near, far_attack(noise, scales, positives, sensitivity, monotone))


def far_attack(
    noise: str, scales: Scales, positives: int, sensitivity: int = 1, monotone: bool = False
) -> float:
    """Return the privacy loss of a sparse vector on one output: queries far above the threshold that are called below.

    Tends to the full cost for Laplace noise, where streams near the threshold do not.
    """
    far, below = math.ceil(20 * max(scales)), math.ceil(scales.query / scales.threshold) + 7
    answers = [False] * below + [True] * positives
    here = [far] * below + [-far] * positives
    down = 0 if monotone else sensitivity
    there = [far + sensitivity] * below + [-far - down] * positives
    p, q = (transcript(queries, answers, noise, scales) for queries in (here, there))
    return abs(math.log(p / q)) if p > 0 and q > 0 else 0.0 if p == q else math.inf


def worst_selection(
    law: Callable[[Sequence[int]], Law], sensitivity: int = 1, monotone: bool = False, far: int = 40
) -> float:
    """Return the worst privacy loss of a private choice.

    Among three candidates with near scores, and between two whose scores are ``far`` sensitivities apart.
    """
    near, apart = (0, 2 * sensitivity), far * sensitivity
    return max(
        search(law, product(near, repeat=3), sensitivity, monotone),
        search(law, [(0, apart), (apart, 0)], sensitivity, monotone),
    )


def worst_laplace(mechanism: Laplace) -> float:
    """Return the worst loss of one value moved by the whole sensitivity."""
    sensitivity, scale = mechanism.steps
    k = np.arange(-20 * math.ceil(sensitivity), 20 * math.ceil(sensitivity) + 1, dtype=np.float64)
    return float(np.max(np.abs(np.log(mass("laplace", scale, k) / mass("laplace", scale, k - sensitivity)))))


def worst_rho(sensitivity: float, sigma: float, orders: Sequence[float] = (1.001, 1.5, 2, 4, 16)) -> float:
    """Return the max over orders alpha of D_alpha/alpha for one value moved by the integer ``sensitivity``."""
    reach = math.ceil(40 * sigma + max(orders) * sensitivity)
    k = np.arange(-reach, reach + 1, dtype=np.float64)
    worst = 0.0
    for order in orders:
        exponent = -(order * k**2 + (1 - order) * (k - sensitivity) ** 2) / (2 * sigma**2)
        top = exponent.max()
        log_sum = (
            top + math.log(np.exp(exponent - top).sum()) - math.log(np.exp(-(k**2) / (2 * sigma**2)).sum())
        )
        worst = max(worst, log_sum / (order - 1) / order)
    return worst


def worst_median(mechanism: ExponentialMedian, values: Sequence[int], size: int) -> float:
    """Return the worst loss over multisets of ``size`` points from ``values`` and every change of one point."""
    worst = 0.0
    for points in product(values, repeat=size):
        if list(points) != sorted(points):
            continue
        for i, other in product(range(size), values):
            changed = [*points[:i], other, *points[i + 1 :]]
            at = {
                first
                for data in (points, changed)
                for first, _, _ in median_runs(np.sort(np.asarray(data, dtype=np.int64)), mechanism.cells)
            }
            worst = max(
                worst,
                worst_loss(median_law(mechanism, points, at), median_law(mechanism, changed, at)),
            )
    return worst


def scaled_delta(noise: str, here: tuple[int, float], there: tuple[int, float], epsilon: float) -> float:
    """Return the delta at ``epsilon`` between noise of (centre, scale) ``here`` and ``there``: the larger direction."""
    (c, b), (c2, b2) = here, there
    reach = math.ceil(50 * max(b, b2)) + abs(c - c2)
    k = np.arange(-reach, reach + 1, dtype=np.float64)
    p, q = mass(noise, b, k), mass(noise, b2, k + c - c2)
    bound = math.exp(epsilon)
    return float(max(np.maximum(p - bound * q, 0).sum(), np.maximum(q - bound * p, 0).sum()))


def worst_sieve(noise: str, scales: Scales, examine: float) -> float:
    """Return the worst loss of a one-hit round on two (sieve, examine) pairs, each moved by at most 1."""
    worst = 0.0
    pairs = list(product((-1, 0), (-1, 0)))
    moves = list(product((-1, 1), repeat=2))
    for stream in product(pairs, repeat=2):
        here = sieve_law(stream, noise, scales, examine)
        for shift in product(moves, repeat=2):
            moved = [(q + d, f + e) for (q, f), (d, e) in zip(stream, shift, strict=True)]
            worst = max(worst, worst_loss(here, sieve_law(moved, noise, scales, examine)))
    return worst


def worst_top_k(mechanism: Selection, count: int, far: int = 60) -> float:
    """Return the worst loss of peeling ``count`` of ``count + 1`` candidates by permute-and-flip."""
    return search(
        lambda s: top_k_law(mechanism, count, s, flip=True),
        [*product((0, 2), repeat=count + 1), [far * j for j in range(count + 1)], [0] * count + [far]],
        1,
    )
