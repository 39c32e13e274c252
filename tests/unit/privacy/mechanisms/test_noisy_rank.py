"""One bit about a rank: exact probabilities against the claim, and the level under exchangeability."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from dpcausal import testing
from dpcausal.core.errors import InputError
from dpcausal.privacy.mechanisms.base import INTEGERS
from dpcausal.privacy.mechanisms.noisy_rank import NoisyRank

REACH = 60  # noise beyond this has probability below 1e-12 at the scales used here


def chance(values: tuple[int, ...], mechanism: NoisyRank) -> float:
    """P(yes): over the noise of the two others, the tail of the first's beyond the k-th largest of them."""
    a = math.exp(-1 / mechanism.steps)
    i = np.arange(-REACH, REACH + 1)
    mass = a ** np.abs(i) * (1 - a) / (1 + a)
    one, two = np.meshgrid(values[1] + i, values[2] + i)
    needed = (np.maximum(one, two) if mechanism.largest == 1 else np.minimum(one, two)) + 1 - values[0]
    tail = np.where(
        needed > 0, a ** np.maximum(needed, 0) / (1 + a), 1 - a ** np.maximum(1 - needed, 0) / (1 + a)
    )
    return float((mass[:, None] * mass[None, :] * tail).sum())


def worst_loss(epsilon: float, largest: int, scale_factor: float = 1.0) -> float:
    """Largest |log ratio| of either answer over all neighbours of a few value vectors."""
    mechanism = NoisyRank(
        sensitivity=1.0, epsilon=epsilon / scale_factor, size=3, largest=largest, grid=INTEGERS
    )
    worst = 0.0
    for values in [(0, 0, 0), (0, 4, 4), (6, 0, 0), (2, 0, 3), (0, 9, 1)]:
        p = chance(values, mechanism)
        for move in product((-1, 0, 1), repeat=3):
            q = chance(tuple(v + d for v, d in zip(values, move, strict=True)), mechanism)
            worst = max(worst, abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))
    return worst


@pytest.mark.parametrize("largest", [1, 2])
@pytest.mark.parametrize("epsilon", [0.8, 2.0])
def test_loss_is_at_most_epsilon_and_less_noise_is_caught(epsilon: float, largest: int) -> None:
    assert 0.9 * epsilon < worst_loss(epsilon, largest) <= epsilon * (1 + 1e-6)
    assert worst_loss(epsilon, largest, scale_factor=0.7) > epsilon  # noise 30% too small


def test_level_is_exact_for_exchangeable_values() -> None:
    """4000 runs, size .1: outside .1 +- 4.5 sd (.021) with probability below 1e-5."""
    mechanism = NoisyRank(sensitivity=1.0, epsilon=1.0, size=20, largest=2)
    rng = np.random.default_rng(5)
    with testing.seeded(5):
        rate = np.mean([mechanism.sample(rng.normal(size=20) * 3) for _ in range(4000)])
    assert 0.079 < rate < 0.121


def test_a_clear_first_is_seen_and_sizes_are_checked() -> None:
    mechanism = NoisyRank(sensitivity=1.0, epsilon=1.0, size=10, largest=1)
    assert mechanism.scale == pytest.approx(2.0, rel=1e-3)
    assert mechanism.sample([1000.0] + [0.0] * 9)  # wrong with probability below 1e-200
    assert not mechanism.sample([0.0] * 9 + [1000.0])
    with pytest.raises(InputError, match="takes 10 values"):
        mechanism.sample([0.0] * 9)
    with pytest.raises(InputError, match="between 1 and 9"):
        NoisyRank(sensitivity=1.0, epsilon=1.0, size=10, largest=10)
