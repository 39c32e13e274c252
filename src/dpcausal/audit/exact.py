"""Worst privacy loss over neighbours, computed rather than sampled.

``worst_loss(p, q)`` is max over outputs of |ln p(o)/q(o)|; ``hockey_stick`` the delta that goes with an epsilon.
The searches below enumerate small inputs and all their neighbours and return the largest loss found: equal to
the claim where the proof says that it is attained, never above it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from dpcausal.audit import laws
from dpcausal.audit.laws import Law
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.median import ExponentialMedian, SmoothMedian, median_runs
from dpcausal.privacy.mechanisms.selection import Selection
from dpcausal.privacy.mechanisms.sparse_vector import Scales


def worst_loss(p: Mapping[Hashable, float], q: Mapping[Hashable, float]) -> float:
    """max |ln p/q| over all outputs; infinite if one side can't happen.

    >>> round(worst_loss({0: 0.25, 1: 0.75}, {0: 0.5, 1: 0.5}), 6)
    0.693147
    """
    worst = 0.0
    for output in {*p, *q}:
        a, b = p.get(output, 0.0), q.get(output, 0.0)
        if a != b:
            worst = max(worst, abs(math.log(a / b)) if a > 0 and b > 0 else math.inf)
    return worst


def hockey_stick(p: Mapping[Hashable, float], q: Mapping[Hashable, float], epsilon: float) -> float:
    """The least delta with p(A) <= e^epsilon q(A) + delta for all events A."""
    return math.fsum(max(0.0, a - math.exp(epsilon) * q.get(output, 0.0)) for output, a in p.items())


def shifts(size: int, sensitivity: int, monotone: bool) -> Iterator[tuple[int, ...]]:
    """How one row can move ``size`` values: all corners, or only those where all move the same way."""
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
    """Largest loss of ``law`` over all ``inputs`` and all their neighbours."""
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
    """Worst loss of a sparse vector: all streams of c + 1 queries near the threshold, and one far-off attack."""
    near = search(
        lambda q: laws.sparse_vector_law(q, noise, scales, positives),
        product(values, repeat=positives + 1),
        sensitivity,
        monotone,
    )
    return max(near, far_attack(noise, scales, positives, sensitivity, monotone))


def far_attack(
    noise: str, scales: Scales, positives: int, sensitivity: int = 1, monotone: bool = False
) -> float:
    """Loss of one transcript: many queries far above the threshold called below it, then c the other way.

    Tends to the full cost for Laplace noise, where streams near the threshold do not.
    """
    far, below = math.ceil(20 * max(scales)), math.ceil(scales.query / scales.threshold) + 7
    answers = [False] * below + [True] * positives
    here = [far] * below + [-far] * positives
    down = 0 if monotone else sensitivity
    there = [far + sensitivity] * below + [-far - down] * positives
    p, q = (laws.transcript(queries, answers, noise, scales) for queries in (here, there))
    return abs(math.log(p / q)) if p > 0 and q > 0 else 0.0 if p == q else math.inf


def worst_selection(
    law: Callable[[Sequence[int]], Law], sensitivity: int = 1, monotone: bool = False, far: int = 40
) -> float:
    """Worst loss of a choice among three near candidates, and between two that are ``far`` sensitivities apart."""
    near, apart = (0, 2 * sensitivity), far * sensitivity
    return max(
        search(law, product(near, repeat=3), sensitivity, monotone),
        search(law, [(0, apart), (apart, 0)], sensitivity, monotone),
    )


def worst_laplace(mechanism: Laplace) -> float:
    """Worst loss of one value moved by the whole sensitivity."""
    sensitivity, scale = mechanism.steps
    k = np.arange(-20 * math.ceil(sensitivity), 20 * math.ceil(sensitivity) + 1, dtype=np.float64)
    return float(
        np.max(np.abs(np.log(laws.mass("laplace", scale, k) / laws.mass("laplace", scale, k - sensitivity))))
    )


def worst_rho(sensitivity: float, sigma: float, orders: Sequence[float] = (1.001, 1.5, 2, 4, 16)) -> float:
    """max over orders alpha of D_alpha/alpha for one value moved by ``sensitivity`` (an integer), by summation."""
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


def worst_gaussian(mechanism: Gaussian) -> float:
    """rho of one value moved by the whole sensitivity."""
    return worst_rho(*mechanism.steps)


def worst_median(mechanism: ExponentialMedian, values: Sequence[int], size: int) -> float:
    """Worst loss over multisets of ``size`` points from ``values`` and every change of one point to another."""
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
                worst_loss(laws.median_law(mechanism, points, at), laws.median_law(mechanism, changed, at)),
            )
    return worst


def smooth_median_delta(
    mechanism: SmoothMedian, points: Sequence[int], changed: Sequence[int], epsilon: float | None = None
) -> float:
    """The real delta at ``epsilon`` (its own by default) of the shipped scales on two neighbours; both ways."""
    first, second = np.sort(np.asarray(points)), np.sort(np.asarray(changed))
    return scaled_delta(
        mechanism.noise,
        (int(first[first.size // 2]), mechanism.scale(first)),
        (int(second[second.size // 2]), mechanism.scale(second)),
        mechanism.epsilon if epsilon is None else epsilon,
    )


def scaled_delta(noise: str, here: tuple[int, float], there: tuple[int, float], epsilon: float) -> float:
    """delta at ``epsilon`` between noise of (centre, scale) ``here`` and ``there``; the larger of both ways."""
    (c, b), (c2, b2) = here, there
    reach = math.ceil(50 * max(b, b2)) + abs(c - c2)
    k = np.arange(-reach, reach + 1, dtype=np.float64)
    p, q = laws.mass(noise, b, k), laws.mass(noise, b2, k + c - c2)
    bound = math.exp(epsilon)
    return float(max(np.maximum(p - bound * q, 0).sum(), np.maximum(q - bound * p, 0).sum()))


def worst_sieve(
    noise: str,
    scales: Scales,
    examine: float,
    refresh: bool = True,
    queries: int = 2,
    values: Sequence[int] = (-1, 0),
) -> float:
    """Worst loss of a one-hit round on (sieve, examine) pairs, each moved by at most 1 on its own."""
    worst = 0.0
    pairs = list(product(values, (-1, 0)))
    moves = list(product((-1, 1), repeat=2))
    for stream in product(pairs, repeat=queries):
        here = laws.sieve_law(stream, noise, scales, examine, refresh)
        for shift in product(moves, repeat=queries):
            moved = [(q + d, f + e) for (q, f), (d, e) in zip(stream, shift, strict=True)]
            worst = max(worst, worst_loss(here, laws.sieve_law(moved, noise, scales, examine, refresh)))
    return worst


def worst_top_k(mechanism: Selection, count: int, flip: bool = True, far: int = 60) -> float:
    """Worst loss of peeling ``count`` of ``count + 1`` candidates, near and far apart."""
    return search(
        lambda s: laws.top_k_law(mechanism, count, s, flip),
        [*product((0, 2), repeat=count + 1), [far * j for j in range(count + 1)], [0] * count + [far]],
        1,
    )
