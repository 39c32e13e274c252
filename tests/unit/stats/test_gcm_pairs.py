"""Scores of pairs of columns: one pair is what ``gcm_parts`` has, p-values against simulation."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from dpcausal.stats.gcm_fit import classical_gcm, classical_pairs
from dpcausal.stats.gcm_parts import (
    PartPlan,
    block_pair_scores,
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


def test_one_pair_has_the_score_of_one_pair() -> None:
    for exact in (True, False):
        one = block_score(X[:, 0], Y[:, 0], Z, (), exact)
        assert block_pair_scores(X[:, :1], Y[:, :1], Z, (), exact) == pytest.approx(one)
    plan = PartPlan(3, 2, 1.0, 0.5, 100)  # three blocks
    one = part_score(X[:, 0], Y[:, 0], Z, (), plan)
    found = part_score(X[:, :1], Y[:, :1], Z, (), plan, block_pair_scores)
    assert found == pytest.approx(one)
    assert largest_pair([found, found], plan)[1] == cut_scores([one, one], plan)[1]
    assert classical_pairs(X[:, :1], Y[:, :1], Z) == pytest.approx(
        (abs(classical_gcm(X[:, 0], Y[:, 0], Z)[0]), classical_gcm(X[:, 0], Y[:, 0], Z)[1])
    )


def test_every_pair_is_scored() -> None:
    follows = np.column_stack([X[:, 0], X[:, 1], X[:, 2] + 3 * Y[:, 1]])
    scores = block_pair_scores(follows, Y, Z, (), True)[:-1].reshape(3, 2)
    assert np.unravel_index(np.abs(scores).argmax(), (3, 2)) == (2, 1)
    assert classical_pairs(follows, Y, Z)[1] < 1e-6


def test_columns_and_parts_without_variance_score_nothing() -> None:
    assert block_pair_scores(np.zeros((50, 2)), Y[:50], Z[:50], (), True)[:-1].tolist() == [0.0] * 4
    plan = PartPlan(1, 1, 1.0, 1.0, 720)
    few = part_score(X[:2], Y[:2], Z[:2], (), plan, block_pair_scores)
    assert few.tolist() == [0.0] * 6 + [1.0]
    assert part_score(X[:0], Y[:0], Z[:0], (), plan, block_pair_scores)[-1] == 1.0


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
