"""Scores of pairs of columns: one pair is what ``gcm_parts`` has, p-values against simulation."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from dpcausal.stats.gcm_fit import block_residuals, classical_gcm
from dpcausal.stats.gcm_parts import (
    PartPlan,
    block_score,
    cut_scores,
    largest_pair,
    largest_tail,
    part_score,
)

RNG = np.random.default_rng(3)
Z = RNG.normal(size=(260, 2))
X = np.sin(Z[:, :1]) + RNG.normal(size=(260, 3))
Y = Z[:, :1] ** 2 + RNG.normal(size=(260, 2))


def test_a_pair_of_columns_by_hand() -> None:
    x, y = X[:, 0] - X[:, 0].mean(), Y[:, 0] - Y[:, 0].mean()
    for exact in (True, False):
        residuals, free, own = block_residuals(x, y, Z, (), exact)
        r, s = residuals.T
        expected = math.sqrt(free) * (r @ s) / math.sqrt((r @ r) * (s @ s))
        assert block_score(X[:, 0], Y[:, 0], Z, (), exact) == pytest.approx([expected, own])
        assert block_score(X[:, :1], Y[:, :1], Z, (), exact) == pytest.approx([expected, own])
        if exact:
            statistic = (r @ s) / math.sqrt((r**2 @ s**2) / own)
            assert classical_gcm(X[:, 0], Y[:, 0], Z)[0] == pytest.approx(statistic)
    plan = PartPlan(3, 2, 1.0, 0.5, 100)  # three blocks
    one = part_score(X[:, 0], Y[:, 0], Z, (), plan)
    found = part_score(X[:, :1], Y[:, :1], Z, (), plan)
    assert found == pytest.approx(one)
    assert largest_pair([found, found], plan)[1] == cut_scores([one, one], plan)[1]


def test_every_pair_is_scored() -> None:
    follows = np.column_stack([X[:, 0], X[:, 1], X[:, 2] + 3 * Y[:, 1]])
    scores = block_score(follows, Y, Z, (), True)[:-1].reshape(3, 2)
    assert np.unravel_index(np.abs(scores).argmax(), (3, 2)) == (2, 1)
    assert classical_gcm(follows, Y, Z)[1] < 1e-6


def test_columns_and_parts_without_variance_score_nothing() -> None:
    assert block_score(np.zeros((50, 2)), Y[:50], Z[:50], (), True)[:-1].tolist() == [0.0] * 4
    plan = PartPlan(1, 1, 1.0, 1.0, 720)
    few = part_score(X[:2], Y[:2], Z[:2], (), plan)
    assert few.tolist() == [0.0] * 6 + [1.0]
    assert part_score(X[:0], Y[:0], Z[:0], (), plan)[-1] == 1.0


@pytest.mark.parametrize(("count", "scale"), [(1, 1.0), (4, 0.3), (20, 2.0)])
def test_the_tail_is_that_of_a_simulation(count: int, scale: float) -> None:
    """200,000 draws: a share is off by more than .006 with probability below 1e-6."""
    rng = np.random.default_rng(1)
    drawn = np.abs(rng.normal(size=(200_000, count))).max(axis=1) + rng.laplace(0, scale, 200_000)
    for at in (-2.0, 0.5, 2.0, 3.0, 6.0):
        assert largest_tail(at, 1.0, scale, count) == pytest.approx((drawn >= at).mean(), abs=0.006)


def test_correlated_pairs_are_within_the_bound() -> None:
    rng = np.random.default_rng(2)
    common = rng.normal(size=(200_000, 1))
    drawn = np.abs(0.8 * common + 0.6 * rng.normal(size=(200_000, 6))).max(axis=1) + rng.laplace(
        0, 0.5, 200_000
    )
    for at in (1.0, 2.0, 3.0):
        assert (drawn >= at).mean() <= largest_tail(at, 1.0, 0.5, 6) + 0.006


def test_far_tails_stay_above_zero_and_fall() -> None:
    tails = [largest_tail(at, 1.0, 0.5, 9) for at in (1.0, 5.0, 20.0, 100.0)]
    assert all(a > b > 0 for a, b in pairwise(tails))
    assert tails[-1] < 1e-80
