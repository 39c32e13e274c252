"""Rank statistics of numbers agree with those of tables, and with scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from dpcausal.stats.kendall import kendall
from dpcausal.stats.spearman import spearman
from dpcausal.stats.value_ranks import Ranked, rank_statistics, ranked


@pytest.mark.parametrize("seed", range(60))
def test_agrees_with_the_table_of_the_same_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k, r, c = rng.integers(0, 60), int(rng.integers(1, 4)), rng.integers(1, 9), rng.integers(1, 9)
    x, y, block = rng.integers(0, r, n), rng.integers(0, c, n), rng.integers(0, k, n)
    table = np.zeros((k, r, c), np.int64)
    np.add.at(table, (block, x, y), 1)
    found_k, found_f = rank_statistics(ranked(x - 0.5), ranked(y * 3.0), block, k)
    np.testing.assert_allclose(found_k, kendall(table), atol=1e-11)
    np.testing.assert_allclose(found_f, spearman(table), atol=1e-10)


def test_agrees_with_scipy_without_ties() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 5000))
    y += 0.3 * x
    found_k, found_f = rank_statistics(ranked(x), ranked(y), np.zeros(5000, np.int64), 1)
    assert 2 * found_k.statistic / 4999 == pytest.approx(kendalltau(x, y).statistic, abs=1e-13)
    assert found_f.statistic / 4999 == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
    assert found_f.variance == pytest.approx(4999)


def test_keys_that_do_not_fit_in_one_integer_are_sorted_all_the_same() -> None:
    rng = np.random.default_rng(2)
    x, y = ranked(rng.normal(size=200)), ranked(rng.integers(0, 5, 200))
    block = rng.integers(0, 3, 200)
    large = 1 << 40
    assert rank_statistics(Ranked(x.codes, large), y, block, large) == rank_statistics(x, y, block, 3)


def test_rank_of_equal_values_is_equal() -> None:
    values = np.array([3.0, -1.0, 3.0, 0.0, -0.0])
    assert ranked(values).codes.tolist() == [2, 0, 2, 1, 1]
    assert ranked(values).levels == 3
    assert ranked(np.empty(0)).codes.size == 0


def test_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    x, y, block = rng.integers(0, 30, 300), rng.integers(0, 30, 300), rng.integers(0, 4, 300)
    order = rng.permutation(300)
    one = rank_statistics(ranked(x), ranked(y), block, 4)
    two = rank_statistics(ranked(x[order]), ranked(y[order]), block[order], 4)
    np.testing.assert_allclose(one, two, rtol=1e-12)
