"""The distance score against chi-squared and steps counted by hand."""

from __future__ import annotations

import pytest

from dpcausal.core.errors import InputError
from dpcausal.stats.chi2 import pearson
from dpcausal.stats.unit_circle import fixed_labels_distance


def test_sign_is_the_decision_of_chi_squared() -> None:
    for a in range(0, 13):
        for b in range(0, 10):
            value = pearson([[[a, 12 - a], [b, 9 - b]]]).statistic
            assert (fixed_labels_distance(a, b, 12, 9, 3.84) > 0) == (value >= 3.84)


def test_one_kind_only_gives_a_constant() -> None:
    scores = {fixed_labels_distance(a, b, 3, 3, 50.0) for a in range(4) for b in range(4)}
    assert scores == {-6.5}


def test_large_tables() -> None:
    # chi-squared of (300 + t, 200) out of 1000 and 1000 grows with t: count the steps by hand
    start, t = 220, 0
    while pearson([[[start + t, 780 - t], [200, 800]]]).statistic < 3.84:
        t += 1
    assert -t <= fixed_labels_distance(start, 200, 1000, 1000, 3.84) < 0


def test_bad_public_parameters_are_refused() -> None:
    for groups, tau in (((0, 4), 3.84), ((3, 4), -1.0)):
        with pytest.raises(InputError):
            fixed_labels_distance(0, 0, *groups, tau)
