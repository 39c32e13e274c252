"""How much evidence makes an edge."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcausal.planning.enough import (
    ENOUGH_AT_FIVE,
    LEVEL_WEIGHT,
    LITTLE_SEEN,
    MUCH_SEEN,
    enough_evidence,
)
from dpcausal.stats.contrasts import log_bayes_factor


@pytest.mark.parametrize("columns", [2, 11, 30, 100])
def test_the_clearer_the_more_evidence_and_half_as_likely_is_the_least(columns: int) -> None:
    clear = [1.0, LITTLE_SEEN, 20.0, 30.0, MUCH_SEEN, 1e9]
    found = [enough_evidence(columns, 0.05, clarity=one) for one in clear]
    assert found == sorted(found)
    assert found[0] == found[1]
    assert found[-1] == found[-2] == enough_evidence(columns, 0.05)
    assert found[-1] - found[0] <= math.log(2.0) + 1e-12
    if columns >= 30:  # the level does not bind
        assert found[-1] - found[0] == pytest.approx(math.log(2.0))


@pytest.mark.parametrize("level", [0.001, 0.01, 0.05])
def test_the_level_holds_however_little_is_seen(level: float) -> None:
    least = ENOUGH_AT_FIVE + LEVEL_WEIGHT * math.log(0.05 / level)
    for columns in (2, 11, 100):
        assert enough_evidence(columns, level, clarity=1.0) >= least


@pytest.mark.parametrize("entries", [1, 4, 9])
@pytest.mark.parametrize("noise", [0.0003, 0.003, 0.03])
def test_independent_columns_seldom_pass_the_least_bound(entries: int, noise: float) -> None:
    """5,000 draws of entries under independence: a true .05 passes .062 with a probability below 1e-3."""
    rng = np.random.default_rng(entries)
    least = enough_evidence(2, 0.05)
    variance = np.full((1, entries), noise)
    squares = noise * rng.standard_normal((5_000, 1, entries)) ** 2
    passed = np.mean([log_bayes_factor(one, variance) > least for one in squares])
    assert passed <= 0.062


def test_pairs_of_a_tree_need_more_the_more_there_were_to_choose_from() -> None:
    found = [enough_evidence(columns, 0.05, tree=True) for columns in (10, 15, 20, 30, 300)]
    assert found == sorted(found)
    assert found[-1] == found[-2] == 1.0
    assert found[0] < enough_evidence(10, 0.05, clarity=1.0)
    assert enough_evidence(15, 0.05, tree=True, clarity=1.0) == found[1]
    assert enough_evidence(15, 0.01, tree=True) > found[1]
