"""Statistics of rows against exact numbers, where sums in the order of the rows lose more than a grid counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpcausal.stats.crt import crt_statistic
from dpcausal.stats.gcm_bins import SCALE, binned_moments
from dpcausal.stats.moments import TreeSum, second_moments
from dpcausal.stats.value_ranks import Ranked, rank_statistics, ranked


def exact_binned(x: np.ndarray, y: np.ndarray, bins: np.ndarray) -> tuple[Fraction, Fraction]:
    """(M, V) of scores that are multiples of 1/SCALE, in fractions."""
    covariance = variance = Fraction(0)
    for bin_ in np.unique(bins):
        a, b = (np.rint(column[bins == bin_] * SCALE).astype(np.int64) for column in (x, y))
        n = len(a)
        sums = {
            name: int((p * q).sum()) - Fraction(int(p.sum()) * int(q.sum()), n)
            for name, p, q in (("xy", a, b), ("xx", a, a), ("yy", b, b))
        }
        covariance += sums["xy"] / SCALE**2
        variance += sums["xx"] * sums["yy"] / (n - 1) / SCALE**4 if n > 1 else 0
    return covariance, variance


@pytest.mark.parametrize(
    ("n", "many"), [(1_000_000, 1), (20_001, 400), pytest.param(10_000_000, 1, marks=pytest.mark.slow)]
)
def test_binned_covariance_of_many_rows_errs_by_next_to_nothing(n: int, many: int) -> None:
    """Sums one row after the other erred in V by 2e-7 (a million rows) and 3e-5, where a grid counts 7.6e-6 of it."""
    x = np.where(np.arange(n) % 10 == 0, 65535 / SCALE, 3 / SCALE)
    bins = np.arange(n) % many
    found, exact = binned_moments(x, x, bins), exact_binned(x, x, bins)
    assert abs(Fraction(found[0]) - exact[0]) <= Fraction(n, 2**53)
    assert abs(Fraction(found[1]) - exact[1]) <= Fraction(9 * n, 2**53)


def test_binned_scores_are_rounded_row_by_row() -> None:
    """A score counts as the nearest multiple of 2^-16, so the bound for scores in [0, 1] holds for what is summed."""
    rng = np.random.default_rng(3)
    x, y, bins = rng.uniform(-0.2, 1.2, 500), rng.uniform(0, 1, 500), rng.integers(0, 9, 500)
    near_x, near_y = (np.floor(np.clip(column, 0, 1) * SCALE + 0.5) / SCALE for column in (x, y))
    assert binned_moments(x, y, bins) == binned_moments(near_x, near_y, bins)
    exact = exact_binned(near_x, near_y, bins)
    assert binned_moments(x, y, bins) == pytest.approx(tuple(map(float, exact)), rel=1e-13)
    odd = np.array([0.0, 1.0, np.nan, np.inf, -np.inf])
    assert np.isfinite(binned_moments(odd, odd, np.zeros(5, np.int64))).all()


@pytest.mark.parametrize("blocks", [300_000, pytest.param(3_000_000, marks=pytest.mark.slow)])
def test_ranks_of_many_rows_in_small_blocks_err_by_next_to_nothing(blocks: int) -> None:
    """Blocks of three rows with S = 1: 1/3 added three million times, one after the other, erred by 4.3e-5."""
    x, y = np.tile([0, 1, 2], blocks), np.tile([0, 2, 1], blocks)
    found = rank_statistics(Ranked(x, 3), Ranked(y, 3), np.repeat(np.arange(blocks), 3), blocks)
    each = Fraction(1, 3), Fraction(11, 27), Fraction(1), Fraction(2)
    for value, one in zip((*found[0], *found[1]), each, strict=True):
        assert abs(Fraction(value) - one * blocks) <= Fraction(62, 2**53) * one * blocks


@pytest.mark.parametrize("ties", [1, 3, 1000, 300_000])
def test_ranks_of_one_large_block_are_exact_whatever_the_ties(ties: int) -> None:
    """Sums of cubes of ties against whole numbers: half of the rows in one tie, the others in ties of ``ties`` rows."""
    n = 300_000
    x = np.where(np.arange(n) < n // 2, 0, 1 + np.arange(n) // ties)
    y = np.arange(n) // ties
    _, counts_x = np.unique(x, return_counts=True)
    _, counts_y = np.unique(y, return_counts=True)
    sides = [[int(t) for t in counts] for counts in (counts_x, counts_y)]
    pairs = [n * (n - 1) - sum(t * (t - 1) for t in side) for side in sides]
    triples = [n * (n - 1) * (n - 2) - sum(t * (t - 1) * (t - 2) for t in side) for side in sides]
    cubes = [n**3 - sum(t**3 for t in side) for side in sides]
    both = 2 * triples[0] * triples[1] + 9 * (n - 2) * pairs[0] * pairs[1]
    v = Fraction(both, 18 * n**3 * (n - 1) * (n - 2))
    u = Fraction(cubes[0] * cubes[1], n**2 * (n + 1) ** 2 * (n - 1))
    kendall, spearman = rank_statistics(ranked(x), ranked(y), np.zeros(n, np.int64), 1)
    assert abs(Fraction(kendall.variance) - v) <= Fraction(20, 2**53) * v
    assert abs(Fraction(spearman.variance) - u) <= Fraction(20, 2**53) * u


def test_the_sum_of_crt_is_made_in_a_tree() -> None:
    """10^7 products of 0.1 (rounded): a sum of 2^16 rows in turn errs by 4e-6 here, a tree by less than 1e-8."""
    n = 10_000_000
    u, v = np.full((n, 1), 0.1), np.ones((n, 1))
    u[::3] = 1.0
    exact = Fraction(0.1) * (n - len(u[::3])) + len(u[::3])
    assert abs(Fraction(crt_statistic(u, v)) - exact) <= Fraction(62 * n, 2**53)


def test_a_tree_of_sums_rounds_a_term_no_more_often_than_it_says() -> None:
    """0.1 added 200,001 times: at most 19 roundings for each, where adding in turn errs by 8e-8."""
    total, count = TreeSum(), 200_001
    for _ in range(count):
        total.add(np.array([0.1, 1.0]))
    tenth, whole = (Fraction(float(value)) for value in total.value())
    assert whole == count
    assert abs(tenth - Fraction(0.1) * count) <= Fraction(19 * count, 10 * 2**53)
    assert TreeSum().value() == 0.0


def test_second_moments_of_many_rows() -> None:
    """Against whole numbers: features that are multiples of 2^-10 have exact products."""
    whole = np.random.default_rng(2).integers(-1024, 1025, (70_001, 4))
    total = TreeSum()
    for start in range(0, len(whole), 1 << 15):
        second_moments(whole[start : start + (1 << 15)] / 1024, total)
    assert (total.value() * 2.0**20 == whole.T @ whole).all()
