"""Audit targets: each shipped mechanism on a pair of neighbours chosen to tell them apart.

All run the shipped code path on a grid of step 1 and sensitivity 1 (``INTEGERS``). ``real`` is the exact worst
loss of the mechanism; for those with a delta, the exact epsilon at that delta on the neighbours audited.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpcausal.audit import exact
from dpcausal.audit.empirical import Sampler
from dpcausal.privacy import mechanisms as dp
from dpcausal.privacy.mechanisms import INTEGERS

DELTA = 1e-6
FAR = 60  # candidates FAR/epsilon apart: what is left of the better one's weight is below 1e-13


@dataclass(frozen=True, kw_only=True)
class Target:
    """Something to audit: a sampler, what it claims to cost and what it really costs (not a number: unknown)."""

    name: str
    says: str
    sampler: Sampler
    claim: float
    real: Callable[[], float]
    delta: float = 0.0
    broken: bool = False
    trials: int = 100_000  # by default
    catchable: bool = False  # of a broken one: whether 100,000 trials at epsilon = 1 refute its claim


def laplace(epsilon: float) -> Target:
    """Return the target of Laplace noise on one count, 0 against 1."""
    mechanism = dp.Laplace(sensitivity=1.0, epsilon=epsilon, grid=INTEGERS)
    return Target(
        name="laplace",
        says="a count with Laplace noise",
        sampler=lambda world: float(mechanism.sample(world)),
        claim=epsilon,
        real=lambda: exact.worst_laplace(mechanism),
    )


def gaussian(epsilon: float) -> Target:
    """Return the target of Gaussian noise on one count, 0 against 1; it claims (epsilon, 1e-6)."""
    mechanism = dp.Gaussian(sensitivity=1.0, rho=rho_at(epsilon), grid=INTEGERS)
    return Target(
        name="gaussian",
        says="a count with Gaussian noise",
        sampler=lambda world: float(mechanism.sample(world)),
        claim=epsilon,
        delta=DELTA,
        real=lambda: real_epsilon("gaussian", (0, mechanism.steps[1]), (1, mechanism.steps[1])),
    )


def rho_at(epsilon: float) -> float:
    """Return the rho of zCDP whose epsilon at delta = 1e-6 is this one: rho + 2 sqrt(rho ln(1/delta)) = epsilon."""
    tail = math.log(1 / DELTA)
    return (math.sqrt(tail + epsilon) - math.sqrt(tail)) ** 2


def real_epsilon(noise: str, here: tuple[int, float], there: tuple[int, float]) -> float:
    """Return the exact epsilon at delta = 1e-6 between noise of (centre, scale) ``here`` and ``there``."""
    low, high = 0.0, 100.0
    for _ in range(40):
        middle = (low + high) / 2
        if exact.scaled_delta(noise, here, there, middle) > DELTA:
            low = middle
        else:
            high = middle
    return high


def sparse_vector(epsilon: float, noise: str = "geometric") -> Target:
    """Return the target of a sparse vector on two queries at the threshold, which a neighbour moves apart."""
    mechanism = dp.SparseVector(
        sensitivity=1.0,
        epsilon=epsilon,
        noise="geometric" if noise == "geometric" else "laplace",
        grid=INTEGERS,
    )

    def sample(world: int) -> Hashable:
        session = mechanism.start(0.0)
        return next((i for i, value in enumerate((world, -world)) if session.ask(value)), "none")

    return Target(
        name="svt" if noise == "geometric" else "svt-laplace",
        says=f"sparse vector with {noise} noise, one positive",
        sampler=sample,
        claim=epsilon,
        real=lambda: exact.worst_sparse_vector(noise, mechanism.scales, 1),
    )


def sieve_and_examine(epsilon: float) -> Target:
    """Return the target of sieve-and-examine on two queries at the threshold, half of epsilon for examination."""
    mechanism = dp.SieveAndExamine(
        sensitivity=1.0, epsilon_sieve=epsilon / 2, epsilon_examine=epsilon / 2, grid=INTEGERS
    )

    def sample(world: int) -> Hashable:
        session = mechanism.start(0.0)
        for i, value in enumerate((world, -world)):
            passed = session.ask(value, lambda value=value: value)  # type: ignore[misc]
            if session.halted:
                return i, passed
        return "none"

    scale = mechanism.examine.steps[1]
    return Target(
        name="sieve-and-examine",
        says="sieve-and-examine, one hit",
        sampler=sample,
        claim=epsilon,
        real=lambda: exact.worst_sieve(mechanism.noise, mechanism.sieve.scales, scale),
    )


SCORES = ((0, 1, 1), (-1, 2, 2))  # the first candidate falls, the others rise


def selection(
    name: str,
    says: str,
    mechanism: dp.NoisyMax | dp.PermuteAndFlip | dp.Exponential,
    law: Callable[[Sequence[int]], exact.Law],
    far: int = 40,
) -> Target:
    """Return the target of a choice among three candidates; ``law`` is that of the mechanism."""
    return Target(
        name=name,
        says=says,
        sampler=lambda world: mechanism.sample(SCORES[world]),
        claim=mechanism.epsilon,
        real=lambda: exact.worst_selection(law, far=far),
    )


def noisy_max(epsilon: float, *, monotone: bool = False) -> Target:
    """Return the target of report-noisy-max among three candidates."""
    mechanism = dp.NoisyMax(sensitivity=1.0, epsilon=epsilon, monotone=monotone, grid=INTEGERS)
    law = partial(exact.noisy_max_law, scale=mechanism.scale)
    return selection("noisy-max", "report-noisy-max with geometric noise", mechanism, law)


def permute_and_flip(epsilon: float) -> Target:
    """Return the target of permute-and-flip among three candidates."""
    mechanism = dp.PermuteAndFlip(sensitivity=1.0, epsilon=epsilon, grid=INTEGERS)
    law = partial(exact.choice_law, mechanism, flip=True)
    return selection("permute-and-flip", "permute-and-flip", mechanism, law)


def exponential(epsilon: float) -> Target:
    """Return the target of the exponential mechanism among three candidates."""
    mechanism = dp.Exponential(sensitivity=1.0, epsilon=epsilon, grid=INTEGERS)
    law = partial(exact.choice_law, mechanism, flip=False)
    return selection("exponential", "the exponential mechanism", mechanism, law, math.ceil(FAR / epsilon))


def top_k(epsilon: float) -> Target:
    """Return the target of the best two of three candidates, by peeling."""
    mechanism = dp.TopK(sensitivity=1.0, count=2, epsilon=epsilon, grid=INTEGERS)
    return Target(
        name="top-k",
        says="the best two of three, by peeling",
        sampler=lambda world: tuple(mechanism.sample(((0, 0, 1), (-1, -1, 2))[world])),
        claim=epsilon,
        real=lambda: exact.worst_top_k(mechanism.round, 2, far=math.ceil(2 * FAR / epsilon)),
    )


def median(epsilon: float) -> Target:
    """Return the target of an exponential median of five points; one moves from the left end to the right end."""
    cells, left = 10_000, 100
    mechanism = dp.ExponentialMedian(lower=0.0, upper=float(cells), epsilon=epsilon, cells=cells)
    worlds = [(0, 0, left, left, cells), (0, left, left, cells, cells)]
    return Target(
        name="median",
        says="median by the exponential mechanism",
        sampler=lambda world: mechanism.sample(worlds[world]) < left,
        claim=epsilon,
        real=lambda: exact.worst_median(
            dp.ExponentialMedian(lower=0.0, upper=1.0, epsilon=epsilon, cells=10**9), (0, 10, 10**9), 5
        ),
    )


def smooth_median(epsilon: float) -> Target:
    """Return the target of a smooth median of three points, one of which moves across; delta = 1e-6."""
    mechanism = dp.SmoothMedian(lower=0.0, upper=100.0, epsilon=epsilon, delta=DELTA, cells=100)
    worlds = [(0, 0, 100), (0, 100, 100)]

    def real() -> float:
        laws_of = {x: (x[1], mechanism.scale(np.array(x))) for x in ((0, 0, 0), (0, 0, 100), (0, 100, 100))}
        pairs = (((0, 0, 0), (0, 0, 100)), ((0, 0, 100), (0, 100, 100)))
        return max(real_epsilon("laplace", laws_of[x], laws_of[y]) for x, y in pairs)

    return Target(
        name="smooth-median",
        says="median by smooth sensitivity, Laplace noise",
        sampler=lambda world: mechanism.sample(worlds[world]),
        claim=epsilon,
        delta=DELTA,
        real=real,
    )


SHIPPED: dict[str, Callable[[float], Target]] = {
    "laplace": laplace,
    "gaussian": gaussian,
    "svt": sparse_vector,
    "svt-laplace": lambda epsilon: sparse_vector(epsilon, "laplace"),
    "sieve-and-examine": sieve_and_examine,
    "noisy-max": noisy_max,
    "permute-and-flip": permute_and_flip,
    "exponential": exponential,
    "top-k": top_k,
    "median": median,
    "smooth-median": smooth_median,
}
