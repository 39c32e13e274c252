"""Moments of chi-squared and G given the margins against enumeration; p-values of parts are close to uniform."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from dpcausal.stats.chi2 import (
    _over_blocks,
    likelihood_moment_pvalue,
    likelihood_ratio,
    pearson,
    pearson_moment_pvalue,
)

MARGINS = [
    ([1, 1], [1, 1]), ([1, 2], [1, 2]), ([2, 3], [3, 2]), ([3, 4], [2, 5]), ([1, 6], [1, 6]), ([2, 2, 3], [3, 4]),
    ([1, 2, 3], [2, 2, 2]), ([1, 2], [1, 1, 1]), ([1, 1, 1], [1, 1, 1]), ([5, 1], [2, 2, 2]),
]  # fmt: skip


def every_table(rows: list[int], columns: list[int]) -> list[np.ndarray]:
    """One table per distinct order of the column labels: equally likely given the margins."""
    x = np.repeat(np.arange(len(rows)), rows)
    labels = np.repeat(np.arange(len(columns)), columns).tolist()
    found = []
    for order in set(itertools.permutations(labels)):
        table = np.zeros((1, len(rows), len(columns)), np.int64)
        np.add.at(table[0], (x, list(order)), 1)
        found.append(table)
    return found


@pytest.mark.parametrize(("rows", "columns"), MARGINS)
def test_moments_are_those_of_all_tables_with_these_margins(rows: list[int], columns: list[int]) -> None:
    tables = every_table(rows, columns)
    chi2 = [pearson(t).statistic for t in tables]
    value, _, mean, variance = _over_blocks(tables[0], False, True)
    assert value == pytest.approx(chi2[0])
    assert mean == pytest.approx(np.mean(chi2), rel=1e-12)
    assert variance == pytest.approx(np.var(chi2), rel=1e-9, abs=1e-12)
    g = [likelihood_ratio(t).statistic for t in tables]
    value, _, mean, variance = _over_blocks(tables[0], True, True)
    assert value == pytest.approx(g[0])
    assert mean == pytest.approx(np.mean(g), rel=1e-12)
    assert 0.93 * np.var(g) - 1e-12 <= variance <= 1.43 * np.var(g) + 1e-12  # approximate, as the module says


def test_large_blocks_have_the_classical_law() -> None:
    table = np.array([[[3000, 3100], [2900, 3200]], [[500, 900], [600, 1200]]])
    assert pearson_moment_pvalue(table) == pytest.approx(pearson(table).pvalue, abs=1e-3)
    assert likelihood_moment_pvalue(table) == pytest.approx(likelihood_ratio(table).pvalue, abs=1e-3)


def test_nothing_left_to_chance_gives_one() -> None:
    empty, constant = np.zeros((3, 2, 2), np.int64), np.array([[[4, 0], [3, 0]]])
    pair = np.array([[[1, 0], [0, 1]]])  # every table with these margins has chi2 = 2
    for table in (empty, constant, pair):
        assert pearson_moment_pvalue(table) == likelihood_moment_pvalue(table) == 1.0


def test_half_of_the_p_values_are_below_a_half_in_64_small_blocks() -> None:
    """178 rows in 64 blocks; true shares within .47 and .52 (20,000 draws), bounds beyond them at 1e-6.

    The chi-squared law gives .92 for Pearson and .998 for G.
    """
    rng, draws = np.random.default_rng(5), 2000
    tables = rng.multinomial(178, np.full(256, 1 / 256), draws).reshape(draws, 64, 2, 2)
    for ours, classical in ((pearson_moment_pvalue, pearson), (likelihood_moment_pvalue, likelihood_ratio)):
        below = sum(ours(t) < 0.5 for t in tables)
        assert binom.ppf(1e-6, draws, 0.47) <= below <= binom.isf(1e-6, draws, 0.52)
        assert sum(classical(t).pvalue < 0.5 for t in tables[:200]) > 160
