"""Statistics of tables against exact fractions, for counts of any size.

What a mechanism counts for rounding (half a step of its grid) is the most that a statistic may err by. Beyond what a
grid can hold (2^52 steps) values are cut at public bounds, ``CUT`` below.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpcausal.core.neighbours import Neighbours
from dpcausal.stats.components import STEP, interaction
from dpcausal.stats.evidence import table_evidence
from dpcausal.stats.kendall import concordance, kendall, kendall_sensitivity, kendall_variance_sensitivity
from dpcausal.stats.published import tau_a, weighted_kendall
from dpcausal.stats.spearman import spearman, spearman_sensitivity

SIZES = [2**20, 2**30, 5 * 10**9, 7 * 10**9, 2**35, 2**40, 2**52, 2**61]
SHAPES = [(1, 2, 2), (1, 3, 4), (7, 2, 3), (80, 2, 2), (2, 9, 9)]
CUT = 2.0**35


def tables(n: int, shape: tuple[int, int, int]) -> Iterator[np.ndarray]:
    """Tables of about n rows: even, on the diagonal, lopsided, and at random over many orders of magnitude."""
    k, r, c = shape
    yield np.full(shape, n // math.prod(shape), np.int64)
    diagonal = np.zeros(shape, np.int64)
    for i in range(min(r, c)):
        diagonal[:, i, i] = n // (k * min(r, c))
    yield diagonal
    yield diagonal[:, :, ::-1].copy()
    lopsided = np.ones(shape, np.int64)
    lopsided[0, 0, 0] = n - math.prod(shape)
    yield lopsided
    rng = np.random.default_rng([n % 2**32, *shape])
    for _ in range(3):
        logs = rng.uniform(0, 1, shape)
        yield (2.0 ** (logs * math.log2(n / math.prod(shape)))).astype(np.int64)


def all_tables() -> Iterator[np.ndarray]:
    for n, shape in product(SIZES, SHAPES):
        yield from tables(n, shape)


def score_of(block: list[list[int]]) -> int:
    r, c = len(block), len(block[0])
    return sum(
        block[i][j] * block[a][b] * (1 if b > j else -1 if b < j else 0)
        for i in range(r)
        for j in range(c)
        for a in range(i + 1, r)
        for b in range(c)
    )


def exact_kendall(blocks: np.ndarray) -> tuple[Fraction, Fraction]:
    value = variance = Fraction(0)
    for block in blocks.tolist():
        x, y = [sum(row) for row in block], [sum(column) for column in zip(*block, strict=True)]
        n = sum(x)
        if n < 2:
            continue
        value += Fraction(score_of(block), n)
        a = [Fraction(n * (n * n - 1) - sum(t * (t * t - 1) for t in side), 3) for side in (x, y)]
        b = [n * n - sum(t * t for t in side) for side in (x, y)]
        spread = Fraction(2 * b[0] * b[1], n * (n - 1))
        if n > 2:
            spread += 4 * (a[0] - b[0]) * (a[1] - b[1]) / (n * (n - 1) * (n - 2))
        variance += spread / 4 / n**2
    return value, variance


def exact_spearman(blocks: np.ndarray) -> tuple[Fraction, Fraction]:
    value = variance = Fraction(0)
    for block in blocks.tolist():
        x, y = [sum(row) for row in block], [sum(column) for column in zip(*block, strict=True)]
        n = sum(x)
        if n < 2:
            continue
        a, b = ([sum(side[:i]) - sum(side[i + 1 :]) for i in range(len(side))] for side in (x, y))
        product_sum = sum(block[i][j] * a[i] * b[j] for i in range(len(x)) for j in range(len(y)))
        value += Fraction(3 * product_sum, n * (n + 1))
        cubes = [n**3 - sum(t**3 for t in side) for side in (x, y)]
        variance += Fraction(cubes[0] * cubes[1], n**2 * (n + 1) ** 2 * (n - 1))
    return value, variance


def cut(value: Fraction, at: float = CUT) -> Fraction:
    return max(min(value, Fraction(at)), Fraction(-at))


def test_kendall_errs_by_less_than_the_grid_counts() -> None:
    for blocks in all_tables():
        found, exact = kendall(blocks), exact_kendall(blocks)
        assert abs(Fraction(found.statistic) - cut(exact[0])) <= Fraction(2) ** -15, blocks
        assert abs(Fraction(found.variance) - cut(exact[1])) <= Fraction(2) ** -17, blocks


def test_spearman_errs_by_less_than_the_grid_counts() -> None:
    for blocks in all_tables():
        found, exact = spearman(blocks), exact_spearman(blocks)
        assert abs(Fraction(found.statistic) - cut(exact[0])) <= 3 * Fraction(2) ** -15, blocks
        assert abs(Fraction(found.variance) - cut(exact[1])) <= Fraction(9, 4) * Fraction(2) ** -15, blocks


@pytest.mark.parametrize("relation", [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE])
@pytest.mark.parametrize("n", [4_294_967_296, 4_300_000_000, 6_074_001_000, 6_080_000_000, 10**12])
def test_one_row_moves_a_huge_table_by_no_more_than_its_bound(n: int, relation: Neighbours) -> None:
    """At 4.29e9 rows (6.07e9 for 2 x 2 tables) the number of pairs no longer fits 64 bits."""
    for shape in [(1, 2, 2), (1, 3, 3), (2, 4, 4)]:
        k, r, c = shape
        bound = kendall_sensitivity(relation, r, c, k) + 2.0**-14
        moves = kendall_variance_sensitivity(relation, r, c) + 2.0**-16
        rank_bound = spearman_sensitivity(relation, r, c, k) + 3 * 2.0**-14
        for table in list(tables(n, shape))[:4]:
            other = table.copy()
            other[0, 0, c - 1] += 1
            if relation is Neighbours.REPLACE_ONE:
                other[tuple(np.argwhere(table > 0)[0])] -= 1
            assert abs(kendall(other).statistic - kendall(table).statistic) <= bound
            assert abs(kendall(other).variance - kendall(table).variance) <= moves
            assert abs(spearman(other).statistic - spearman(table).statistic) <= rank_bound


def exact_evidence(
    blocks: np.ndarray, sides_x: np.ndarray, sides_y: np.ndarray, threshold: float
) -> tuple[Fraction, Fraction]:
    """Dependence to 2^-40 (a root is not rational) and information."""
    best, most = None, Fraction(0)
    for x, y in product(sides_x.tolist(), sides_y.tolist()):
        value = variance = largest = Fraction(0)
        for block in blocks.tolist():
            n = sum(map(sum, block))
            if n < 2:
                continue
            r1 = sum(sum(row) for row, inside in zip(block, x, strict=True) if inside)
            c1 = sum(count for row in block for count, inside in zip(row, y, strict=True) if inside)
            both = sum(
                count
                for row, a in zip(block, x, strict=True)
                for count, b in zip(row, y, strict=True)
                if a and b
            )
            value += both - Fraction(r1 * c1, n)
            variance += Fraction(r1 * (n - r1) * c1 * (n - c1), n * n * (n - 1))
            small, large = sorted((min(r1, n - r1), min(c1, n - c1)))
            largest += Fraction(small * (n - large), n)
        spread = max(variance, Fraction(threshold) ** 2 / 4)
        root = Fraction(math.isqrt(int(spread * 4**60)), 2**60)
        dependence = abs(value) - Fraction(threshold) * root
        best = dependence if best is None else max(best, dependence)
        most = max(most, largest)
    assert best is not None
    return best, most


def test_evidence_errs_by_less_than_the_grid_counts() -> None:
    for n, shape in product(SIZES, [(1, 2, 2), (3, 2, 3), (40, 3, 3)]):
        x, y = (np.tri(size - 1, size, dtype=np.uint8) for size in shape[1:])
        for blocks in tables(n, shape):
            found = table_evidence(blocks, x, y, 2.0)
            exact = exact_evidence(blocks, x, y, 2.0)
            for got, wanted in zip(found, exact, strict=True):
                assert abs(Fraction(got) - cut(wanted)) <= Fraction(2) ** -14, (got, float(wanted))


def exact_component(margin: np.ndarray) -> np.ndarray:
    found = np.array([Fraction(int(count)) for count in margin.ravel()], dtype=object).reshape(margin.shape)
    for axis in range(found.ndim):
        found = found - found.sum(axis=axis, keepdims=True) * Fraction(1, found.shape[axis])
    return found


def test_components_err_by_less_than_half_a_step() -> None:
    rng = np.random.default_rng(8)
    for n in SIZES:
        for sizes in [(3,), (3, 5), (3, 3, 7), (3, 5, 3, 3), (3,) * 6, (6, 7, 5, 3)]:
            logs = rng.uniform(0, 1, sizes)
            spread = (2.0 ** (logs * math.log2(max(n / math.prod(sizes), 2)))).astype(np.int64)
            lopsided = np.ones(sizes, np.int64)
            lopsided.flat[0] = n
            for margin in (spread, lopsided):
                found, exact = interaction(margin), exact_component(margin)
                for got, wanted in zip(found.ravel(), exact.ravel(), strict=True):
                    inside = abs(wanted) <= 2**52 * STEP
                    assert abs(Fraction(float(got)) - wanted) <= STEP / 2 or (
                        not inside and abs(got) >= 2.0**52 * STEP
                    )


def test_pairs_are_counted_exactly_beyond_64_bits() -> None:
    for n in (4_300_000_000, 2**40, 2**61):
        table = np.array([[[n // 2, 0], [0, n // 2]], [[0, n // 4], [n // 4, 0]]], np.int64)
        assert [int(s) for s in concordance(table)] == [(n // 2) ** 2, -((n // 4) ** 2)]
        assert tau_a(table[:1]) == pytest.approx(0.5, rel=1e-9)
        assert tau_a(table[1:]) == pytest.approx(-0.5, rel=1e-9)


def test_the_papers_numerator_does_not_overflow() -> None:
    for n in (1_500_000_000, 2_100_000_000, 2**40):
        table = np.array([[[n // 2, 0], [0, n // 2]]], np.int64)
        wanted = Fraction(9 * (n // 2) ** 2, 2 * n + 5)
        assert weighted_kendall(table).numerator == pytest.approx(float(wanted), rel=1e-14)
        assert weighted_kendall(table).weight == pytest.approx(
            float(Fraction(9 * n * (n - 1), 2 * (2 * n + 5))), rel=1e-14
        )
