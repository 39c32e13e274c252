"""Many coins have the law of single ones, and the rare unsettled ones are settled exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpcausal.core import entropy
from dpcausal.privacy.coins import bernoulli_exp_many, settled
from dpcausal.testing import seeded


def test_shares_are_exponentials() -> None:
    n = 200_000
    with seeded(5):
        for steps in (1, 3, 10, 40):
            heads = int(bernoulli_exp_many(np.full(n, steps), Fraction(1, 7)).sum())
            p = math.exp(-steps / 7)
            assert abs(heads - n * p) < 5.2 * math.sqrt(n * p * (1 - p))  # fails once in 10^6 for each


def test_steps_far_out_are_tails_and_zero_is_heads() -> None:
    with seeded(6):
        found = bernoulli_exp_many(np.array([0, 10**15, 2**60, 0]), Fraction(1, 3))
    assert found.tolist() == [True, False, False, True]


@pytest.mark.thin(2)
@pytest.mark.parametrize("gamma", [Fraction(1, 3), Fraction(5), Fraction(50), Fraction(1, 2**40)])
def test_unsettled_bits_are_compared_with_the_true_exponential(gamma: Fraction) -> None:
    """At the 32-bit cell that holds exp(-gamma), the coin is heads with the share of the cell below it."""
    cell = math.floor(math.exp(-gamma) * 2**32)
    share = math.exp(-gamma) * 2**32 - cell
    with seeded(7):
        heads = sum(settled(gamma, cell, 32) for _ in range(4000))
    assert abs(heads - 4000 * share) <= 5.2 * math.sqrt(4000 * max(share * (1 - share), 1e-4)) + 1
    assert settled(gamma, 0, 32) or cell == 0
    assert not settled(gamma, 2**32 - 1, 32) or cell == 2**32 - 1


def test_bits_at_the_border_reach_the_exact_comparison() -> None:
    """A source that gives the word next to exp(-1) 2^32, then ones or zeros, decides by what follows."""
    word = math.floor(math.exp(-1) * 2**32)
    for filler, expected in ((b"\xff", False), (b"\x00", True)):
        words = iter([bytes([word >> 24]), np.uint32(word % 2**24 << 8).tobytes()])
        with entropy.replaced(lambda count, w=words, f=filler: next(w, f * count)):  # type: ignore[misc]
            assert bernoulli_exp_many(np.array([1]), Fraction(1)).tolist() == [expected]
