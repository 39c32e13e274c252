"""The sampling audit: never above a true claim, and catches what can be caught."""

from __future__ import annotations

import pytest

from dpcausal.audit.broken import BROKEN
from dpcausal.audit.empirical import audit
from dpcausal.audit.targets import SHIPPED
from dpcausal.testing import seeded

pytestmark = pytest.mark.long_file

CATCHABLE = {name for name, make in BROKEN.items() if make(1.0).catchable}
QUICK = CATCHABLE - {"sieve-no-sqrt"}  # caught with 6,000 trials already


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", SHIPPED)
def test_a_true_claim_is_not_refuted(name: str) -> None:
    """At confidence 1 - 1e-6, so that a failure here is a finding."""
    target = SHIPPED[name](1.0)
    with seeded(21):
        result = audit(name, target.sampler, target.claim, target.delta, trials=3_000, confidence=1 - 1e-6)
    assert not result.refuted
    assert result.trials == 3_000


@pytest.mark.thin(2)
@pytest.mark.parametrize("name", ["laplace", "svt", "noisy-max", "permute-and-flip", "sieve-and-examine"])
def test_the_bound_comes_near_the_truth(name: str) -> None:
    target = SHIPPED[name](1.0)
    with seeded(22):
        assert audit(name, target.sampler, target.claim, trials=6_000).lower > 0.7


@pytest.mark.thin(2)
@pytest.mark.parametrize("name", sorted(QUICK))
def test_catches_broken_variants_quickly(name: str) -> None:
    target = BROKEN[name](1.0)
    with seeded(23):
        result = audit(name, target.sampler, target.claim, target.delta, trials=6_000)
    assert result.refuted
    assert target.claim < result.lower <= target.real()


def test_says_which_are_not_catchable() -> None:
    assert set(BROKEN) - CATCHABLE == {"svt-laplace-monotone-scales", "gaussian-small-sigma"}


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_100_000_trials(name: str) -> None:
    target = BROKEN[name](1.0)
    with seeded(24):
        result = audit(name, target.sampler, target.claim, target.delta, trials=100_000)
    assert result.refuted == target.catchable
