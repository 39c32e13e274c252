"""Known-broken variants, each a mistake from a paper or a public library, as audit targets.

Every one claims ``epsilon`` (and delta = 1e-6 where it has one) and costs more. ``real`` is its exact cost, or a
lower bound of it found by exact computation. ``catchable`` says whether sampling finds it at 100,000
trials and epsilon = 1: some mistakes only show on outputs too rare to sample.

References: [1] Lyu, Su & Li 2017 (variants of sparse vector); [2] Wang, Pang & Song 2020, Alg. 2 (sieve-and-examine)
and appendix F.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from dpcausal.audit import exact, targets
from dpcausal.audit.targets import DELTA, Target
from dpcausal.privacy import mechanisms as dp
from dpcausal.privacy import noise
from dpcausal.privacy.mechanisms import INTEGERS
from dpcausal.privacy.mechanisms.sieve_and_examine import unamplified
from dpcausal.privacy.mechanisms.sparse_vector import Scales


def answers(queries: Sequence[int], kind: str, scales: Scales, positives: int) -> Hashable:
    """Run a sparse vector with these noise scales on query values and return its answers; scale 0 is no noise."""
    draw = noise.geometric if kind == "geometric" else noise.discrete_laplace
    level = draw(scales.threshold) if scales.threshold else 0
    given: list[bool] = []
    for query in queries:
        given.append(query + (draw(scales.query) if scales.query else 0) >= level)
        if sum(given) == positives:
            break
    return tuple(given)


def sieve_no_sqrt(epsilon: float) -> Target:
    """Return the target of a sieve whose threshold noise is for the sensitivity at n, not m, rows.

    [2] Alg. 2 line 15; it claims epsilon/2.
    """
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
    """Return the target of a sieve in which a failed examination is free and keeps the threshold ([2] Alg. 2)."""
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
            *(exact.sieve_law(stream, "geometric", scales, examine, refresh=False) for stream in worlds)
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


def _svt(
    name: str,
    says: str,
    epsilon: float,
    scales: Scales,
    worlds: tuple[Sequence[int], Sequence[int]],
    kind: str = "geometric",
    positives: int = 1,
    real: Callable[[], float] | None = None,
    catchable: bool = True,
) -> Target:
    """Return the audit target of a sparse vector with wrong scales on two neighbouring streams of queries."""

    def found() -> float:
        here, there = (exact.sparse_vector_law(queries, kind, scales, positives) for queries in worlds)
        return exact.worst_loss(here, there)

    return Target(
        name=name,
        says=says,
        sampler=lambda world: answers(worlds[world], kind, scales, positives),
        claim=epsilon,
        real=real or found,
        broken=True,
        catchable=catchable,
    )


def _scales(epsilon: float, monotone: bool = False) -> Scales:
    """Return the noise scales that the correct sparse vector uses at this epsilon."""
    return dp.SparseVector(sensitivity=1.0, epsilon=epsilon, monotone=monotone, grid=INTEGERS).scales


def svt_no_query_noise(epsilon: float) -> Target:
    """Return the target of a sparse vector with noise on the threshold only ([1] Alg. 5)."""
    scales = Scales(_scales(epsilon).threshold, 0.0)
    return _svt("svt-no-query-noise", "noise on the threshold only", epsilon, scales, ((0, 1), (1, 0)))


def svt_no_threshold_noise(epsilon: float) -> Target:
    """Return the target of a sparse vector whose threshold noise cancels in the comparison."""
    scales = Scales(0.0, _scales(epsilon).query)
    low = -round(scales.query)
    worlds = ((low,) * 6, (low + 1,) * 6)
    return _svt("svt-no-threshold-noise", "the threshold noise cancels", epsilon, scales, worlds)


def svt_monotone_scales(epsilon: float) -> Target:
    """Return the target of a sparse vector with halved noise on queries that are not monotone: 1.5 epsilon."""
    scales = _scales(epsilon, monotone=True)
    return _svt("svt-monotone-scales", "monotone scales, general queries", epsilon, scales, ((0, 0), (1, -1)))


def svt_laplace_monotone_scales(epsilon: float) -> Target:
    """Return the target of ``svt_monotone_scales`` with Laplace noise: the fault shows on rare outputs only."""
    scales = _scales(epsilon, monotone=True)
    return _svt(
        "svt-laplace-monotone-scales",
        "monotone scales, general queries, Laplace noise",
        epsilon,
        scales,
        ((0, 0), (1, -1)),
        kind="laplace",
        real=lambda: exact.far_attack("laplace", scales, 1),
        catchable=False,
    )


def svt_unlimited(epsilon: float) -> Target:
    """Return the target of a sparse vector that pays for one positive and gives four ([1] Alg. 6)."""
    worlds = ((0,) * 5, (1, -1, -1, -1, -1))
    return _svt(
        "svt-unlimited", "four positives for the price of one", epsilon, _scales(epsilon), worlds, positives=4
    )


def _broken(target: Target, name: str, says: str, claim: float) -> Target:
    """Return an audit target that runs a correct mechanism and claims too small an epsilon."""
    return replace(target, name=name, says=says, claim=claim, broken=True, catchable=True)


def laplace_small_scale(epsilon: float) -> Target:
    """Return the target of Laplace noise 30% too small: epsilon/.7."""
    return _broken(targets.laplace(epsilon / 0.7), "laplace-small-scale", "noise 30% too small", epsilon)


def gaussian_small_sigma(epsilon: float) -> Target:
    """Return the target of Gaussian noise 30% too small; at delta = 1e-6 sampling can't see the excess."""
    sigma = dp.Gaussian(sensitivity=1.0, rho=targets.rho_at(epsilon), grid=INTEGERS).steps[1] * 0.7
    return Target(
        name="gaussian-small-sigma",
        says="Gaussian noise 30% too small",
        sampler=lambda world: world + noise.discrete_gaussian(sigma),
        claim=epsilon,
        delta=DELTA,
        real=lambda: targets.real_epsilon("gaussian", (0, sigma), (1, sigma)),
        broken=True,
    )


def noisy_max_monotone_scales(epsilon: float) -> Target:
    """Return the target of noisy max with scale Delta/epsilon for scores that are not monotone: 2 epsilon."""
    wrong = targets.noisy_max(epsilon, monotone=True)
    says = "noisy max with monotone scales on general scores"
    return _broken(wrong, "noisy-max-monotone-scales", says, epsilon)


def top_k_unsplit(epsilon: float) -> Target:
    """Return the target of top-2 by two rounds at the full epsilon each: 2 epsilon."""
    return _broken(targets.top_k(2 * epsilon), "top-k-unsplit", "two rounds, each at epsilon", epsilon)


def smooth_median_paper(epsilon: float) -> Target:
    """Return the target of a smooth median with the constants of [2] appendix F.

    alpha = epsilon/2 and beta = epsilon ln(1/delta)/2.
    """
    cells = 10**6
    beta = epsilon * math.log(1 / DELTA) / 2
    scales = [2 * cells * math.exp(-beta) / epsilon, 2 * cells / epsilon]  # of (0, 0, 0) and (0, 0, cells)
    step = max(scales[0] / 4, 1.0)
    return Target(
        name="smooth-median-paper",
        says="smooth sensitivity with the constants of the paper",
        sampler=lambda world: min(abs(noise.discrete_laplace(scales[world])) // step, 50),
        claim=epsilon,
        delta=DELTA,
        real=lambda: math.log(scales[1] / scales[0]),
        broken=True,
        catchable=True,
    )


BROKEN: dict[str, Callable[[float], Target]] = {
    "svt-no-query-noise": svt_no_query_noise,
    "svt-no-threshold-noise": svt_no_threshold_noise,
    "svt-monotone-scales": svt_monotone_scales,
    "svt-laplace-monotone-scales": svt_laplace_monotone_scales,
    "svt-unlimited": svt_unlimited,
    "laplace-small-scale": laplace_small_scale,
    "gaussian-small-sigma": gaussian_small_sigma,
    "noisy-max-monotone-scales": noisy_max_monotone_scales,
    "top-k-unsplit": top_k_unsplit,
    "sieve-no-sqrt": sieve_no_sqrt,
    "sieve-no-refresh": sieve_no_refresh,
    "smooth-median-paper": smooth_median_paper,
}
