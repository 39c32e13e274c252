"""How much evidence makes an edge."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import chdtrc

from dpcausal.planning.settings import ENTRIES, SETTINGS, acceptance_threshold, evidence_by_chance
from dpcausal.stats.contrasts import evidence_cut, log_bayes_factor


@pytest.mark.parametrize("level", [0.001, 0.01, 0.05, 0.2])
def test_it_passes_both_the_level_and_the_prior_odds(level: float) -> None:
    """More columns need more, a stricter level needs more, and neither bound is undercut."""
    least = evidence_by_chance(level)
    found = [acceptance_threshold(columns, level) for columns in (2, 11, 30, 100)]
    assert found == sorted(found)
    assert found[0] == max(least, 0.0)
    assert found[-1] == pytest.approx(max(least, math.log(99 / SETTINGS.neighbours)))
    assert found[0] >= acceptance_threshold(2, 2 * level)


@pytest.mark.parametrize("level", [0.001, 0.01, 0.05, 0.1])
def test_independent_columns_pass_with_a_probability_of_the_level_at_most(level: float) -> None:
    """By the law of the sum of squares: with some amount of noise the level is used up, with none it is passed."""
    cuts = [evidence_cut(evidence_by_chance(level), ENTRIES, worth) for worth in np.geomspace(1.0, 1e6, 97)]
    passed = [float(chdtrc(ENTRIES, cut)) for cut in cuts]
    assert 0.99 * level < max(passed) < 1.005 * level


@pytest.mark.parametrize("entries", [1, 4, 9])
@pytest.mark.parametrize("noise", [0.0003, 0.003, 0.03])
def test_independent_columns_seldom_pass_the_least_bound(entries: int, noise: float) -> None:
    """5,000 draws of entries under independence: a true .05 passes .062 with a probability below 1e-3."""
    rng = np.random.default_rng(entries)
    least = acceptance_threshold(2, 0.05)
    variance = np.full((1, entries), noise)
    squares = noise * rng.standard_normal((5_000, 1, entries)) ** 2
    passed = np.mean([log_bayes_factor(one, variance) > least for one in squares])
    assert passed <= 0.062


def test_pairs_of_a_tree_were_chosen_so_that_the_level_alone_counts() -> None:
    for level in (0.001, 0.05):
        found = {acceptance_threshold(columns, level, tree=True) for columns in (10, 30, 300)}
        assert found == {acceptance_threshold(2, level)}
    assert acceptance_threshold(300, 0.05, tree=True) < acceptance_threshold(300, 0.05)
