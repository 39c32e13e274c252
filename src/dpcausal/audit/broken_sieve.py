"""Two mistakes of sieve-and-examine as published, as audit targets, and a sparse vector with any scales.

References: [2] Wang, Pang & Song 2020, Alg. 2.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from dpcausal.audit import exact, laws
from dpcausal.audit.targets import Target
from dpcausal.privacy import mechanisms as dp
from dpcausal.privacy import noise
from dpcausal.privacy.mechanisms import INTEGERS
from dpcausal.privacy.mechanisms.sieve_and_examine import unamplified
from dpcausal.privacy.mechanisms.sparse_vector import Scales


def answers(queries: Sequence[int], kind: str, scales: Scales, positives: int) -> Hashable:
    """A sparse vector with any scales; a scale of 0 means no noise."""
    draw = noise.geometric if kind == "geometric" else noise.discrete_laplace
    level = draw(scales.threshold) if scales.threshold else 0
    given: list[bool] = []
    for query in queries:
        given.append(query + (draw(scales.query) if scales.query else 0) >= level)
        if sum(given) == positives:
            break
    return tuple(given)


def sieve_no_sqrt(epsilon: float) -> Target:
    """[2] Alg. 2 line 15 at n/m = 20: threshold noise for the sensitivity at size n, not m. Claims epsilon/2."""
    unit, ratio = 1000, 20
    moved = math.floor(unit * math.sqrt(ratio))  # one row moves a statistic of m rows by this much
    amplified = unamplified(epsilon / 2, ratio, 1)
    scales = Scales(2 * unit / amplified, 4 * moved / amplified)
    queries, moved_queries = (0,) * 12, (-moved,) * 12

    def sample(world: int) -> Hashable:
        holds_row = noise.uniform_below(ratio) == 0
        return answers(moved_queries if world and holds_row else queries, "laplace", scales, 1)

    def real() -> float:
        inner = exact.far_attack("laplace", scales, 1, sensitivity=moved)
        return math.log1p(math.expm1(inner) / ratio)

    return Target(
        name="sieve-no-sqrt",
        says="subsampled sieve without sqrt(n/m), n/m = 20",
        sampler=sample,
        claim=epsilon / 2,
        real=real,
        broken=True,
        catchable=True,
    )


def sieve_no_refresh(epsilon: float) -> Target:
    """[2] Alg. 2: a failed examination is neither charged nor followed by a new threshold."""
    mechanism = dp.SieveAndExamine(
        sensitivity=1.0, epsilon_sieve=epsilon / 2, epsilon_examine=epsilon / 2, grid=INTEGERS
    )
    scales, examine = mechanism.sieve.scales, mechanism.examine.steps[1]
    high = math.ceil(20 * max(scales))
    worlds = [[(high, full)] * 12 for full in (-1, 0)]

    def sample(world: int) -> Hashable:
        level = noise.geometric(scales.threshold)
        for i, (sieved, full) in enumerate(worlds[world]):
            if (
                sieved + noise.geometric(scales.query) >= level
                and full + noise.discrete_laplace(examine) >= 0
            ):
                return i
        return "none"

    def real() -> float:
        return exact.worst_loss(
            *(laws.sieve_law(stream, "geometric", scales, examine, refresh=False) for stream in worlds)
        )

    return Target(
        name="sieve-no-refresh",
        says="no new threshold and no charge after a failed examination",
        sampler=sample,
        claim=epsilon,
        real=real,
        broken=True,
        catchable=True,
    )
