"""Standardised means and their region: exact tables against the textbook, and what noise does to them."""

from __future__ import annotations

import numpy as np
import pytest

from dpcausal.stats.standardise import (
    Region,
    arms_of_cells,
    beyond,
    only_strata,
    pooled,
    standardised,
    supported,
)

SCORES = np.array([0.0, 1.0])
TABLE = np.array([[[300.0, 100.0], [120.0, 80.0]], [[90.0, 110.0], [60.0, 140.0]]])


def test_exact_means_are_the_g_formula() -> None:
    means = standardised(arms_of_cells(TABLE, None, SCORES, 0.0, TABLE.sum()))
    risk = TABLE[:, :, 1] / TABLE.sum(axis=2)
    weights = TABLE.sum(axis=(1, 2)) / TABLE.sum()
    assert (means.low_arm, means.high_arm) == pytest.approx(tuple(weights @ risk))


def test_without_noise_the_interval_is_that_of_the_delta_method() -> None:
    arms = arms_of_cells(100 * TABLE, None, SCORES, 0.0, 100 * TABLE.sum())
    region = Region(arms, 0.95)
    risk = TABLE[:, :, 1] / TABLE.sum(axis=2)
    weights = TABLE.sum(axis=(1, 2)) / TABLE.sum()
    effects = risk[:, 1] - risk[:, 0]
    within = (weights[:, None] ** 2 * risk * (1 - risk) / (100 * TABLE.sum(axis=2))).sum()
    between = (weights @ effects**2 - (weights @ effects) ** 2) / (100 * TABLE.sum())
    half = 1.959964 * np.sqrt(within + between)
    middle = weights @ effects
    assert region.furthest(-1.0, 1.0) == pytest.approx(middle + half, abs=0.02 * half)
    assert -region.furthest(1.0, -1.0) == pytest.approx(middle - half, abs=0.02 * half)


def test_more_noise_is_a_wider_interval_up_to_all_that_is_possible() -> None:
    widths = []
    for variance in (0.0, 10.0, 100.0, 1e4, 1e8):
        region = Region(arms_of_cells(TABLE, None, SCORES, variance, TABLE.sum()), 0.95)
        widths.append(region.furthest(-1.0, 1.0) + region.furthest(1.0, -1.0))
    assert widths == sorted(widths)
    assert widths[-1] == pytest.approx(2.0)


def test_a_higher_level_is_a_wider_interval() -> None:
    arms = arms_of_cells(TABLE, None, SCORES, 50.0, TABLE.sum())
    ends = [Region(arms, level).furthest(-1.0, 1.0) for level in (0.5, 0.8, 0.95, 0.999)]
    assert ends == sorted(ends)


def test_rules_follow_noisy_counts() -> None:
    small = np.concatenate([TABLE, np.full((3, 2, 2), 0.5)])
    arms = arms_of_cells(small, None, SCORES, 9.0, small.sum())
    together, place = pooled(arms)
    assert place.tolist() == [0, 1, 2, 2, 2]
    assert together.counts[2].tolist() == [3.0, 3.0]
    assert supported(together).tolist() == [True, True, False]
    assert only_strata(together, supported(together)).rows == pytest.approx(TABLE.sum())


def test_means_leave_the_unit_interval_only_with_many_weak_arms() -> None:
    few = arms_of_cells(np.full((3, 2, 2), 1.0), None, SCORES, 9.0, 12.0)
    many = arms_of_cells(np.full((30, 2, 2), 1.0), None, SCORES, 9.0, 120.0)
    assert beyond(few) == 0.0
    assert beyond(many) == 0.25


def test_rows_of_no_arm_count_for_the_strata() -> None:
    without = standardised(arms_of_cells(TABLE, None, SCORES, 0.0, TABLE.sum()))
    more = standardised(arms_of_cells(TABLE, np.array([1000.0, 0.0]), SCORES, 0.0, TABLE.sum() + 1000))
    assert more.weights[0] > without.weights[0]
    assert more.weights.sum() == pytest.approx(1.0)
