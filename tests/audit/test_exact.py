"""The worst loss, computed: equal to the claim to 1e-6, never above it; broken variants above theirs."""

from __future__ import annotations

import math

import pytest

from dpcausal.audit import exact
from dpcausal.audit.broken import BROKEN
from dpcausal.audit.targets import SHIPPED
from dpcausal.privacy.mechanisms import INTEGERS, SieveAndExamine, SparseVector
from dpcausal.privacy.mechanisms.sieve_and_examine import unamplified

ATTAINED = [
    name for name in SHIPPED if name not in ("gaussian", "smooth-median")
]  # (epsilon, delta): not tight


@pytest.mark.parametrize("epsilon", [0.25, 1.0])
@pytest.mark.parametrize("name", ATTAINED)
def test_worst_loss_equals_the_claim(name: str, epsilon: float) -> None:
    target = SHIPPED[name](epsilon)
    real = target.real()
    assert real <= target.claim * (1 + 1e-12)
    assert real == pytest.approx(target.claim, abs=1e-6)


@pytest.mark.parametrize("name", ["gaussian", "smooth-median"])
def test_approximate_ones_cost_less_than_they_claim(name: str) -> None:
    target = SHIPPED[name](1.0)
    assert 0.4 < target.real() <= target.claim


@pytest.mark.parametrize("positives", [1, 2, 3])
@pytest.mark.parametrize("noise", ["geometric", "laplace"])
def test_many_positives_for_one_threshold(positives: int, noise: str) -> None:
    svt = SparseVector(sensitivity=1.0, epsilon=1.0, positives=positives, noise=noise, grid=INTEGERS)  # type: ignore[arg-type]
    assert exact.far_attack(noise, svt.scales, positives) == pytest.approx(1.0, abs=1e-6)
    if noise == "geometric":  # attained already by a short stream at the threshold
        answers = [False] + [True] * positives
        here = exact.transcript([0] * (positives + 1), answers, noise, svt.scales)
        there = exact.transcript([1] + [-1] * positives, answers, noise, svt.scales)
        assert math.log(here / there) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("ratio", [2, 20])
def test_subsampled_sieve_attains_its_claim(ratio: int) -> None:
    mechanism = SieveAndExamine(
        sensitivity=1.0,
        epsilon_sieve=0.5,
        epsilon_examine=0.5,
        rows=ratio,
        subsample=1,
        sieve_sensitivity=1.0,
        grid=INTEGERS,
    )
    scales = mechanism.sieve.scales
    without = exact.sparse_vector_law([1, -1], "geometric", scales)  # as the neighbour with its row
    inside = exact.sparse_vector_law([0, 0], "geometric", scales)
    loss = exact.worst_loss(exact.mixture(without, inside, 1 / ratio), without)
    assert loss == pytest.approx(0.5, abs=1e-6)


REAL = {  # at epsilon = 1
    "svt-no-query-noise": math.inf,
    "svt-monotone-scales": 1.5,
    "svt-laplace-monotone-scales": 1.5,
    "noisy-max-monotone-scales": 2.0,
    "top-k-unsplit": 2.0,
    "sieve-no-sqrt": 4.23,
    "laplace-small-scale": 1 / 0.7,
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_variants_cost_more_than_they_claim(name: str) -> None:
    target = BROKEN[name](1.0)
    real = target.real()
    assert target.broken
    assert real > target.claim + 0.1
    if name in REAL:
        assert real == pytest.approx(REAL[name], abs=0.005)


def test_the_sieve_without_sqrt_claims_half_of_epsilon() -> None:
    assert unamplified(0.5, 20, 1) == pytest.approx(2.637, abs=1e-3)
    assert BROKEN["sieve-no-sqrt"](1.0).claim == 0.5


def test_no_refresh_grows_without_bound() -> None:
    mechanism = SieveAndExamine(sensitivity=1.0, epsilon_sieve=0.5, epsilon_examine=0.5, grid=INTEGERS)
    scales, examine = mechanism.sieve.scales, mechanism.examine.steps[1]
    losses = [
        exact.worst_loss(
            exact.sieve_law([(500, -1)] * many, "geometric", scales, examine, refresh=False),
            exact.sieve_law([(500, 0)] * many, "geometric", scales, examine, refresh=False),
        )
        for many in (4, 8, 16)
    ]
    assert losses[0] > 1.0
    assert losses[1] > 1.5 * losses[0]
    assert losses[2] > 1.5 * losses[1]
