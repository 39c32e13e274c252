"""Kendall's tau and Spearman's rho as printed: by loops over pairs of rows and over places, and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcausal.stats.published import (
    RankCounts,
    in_rows,
    in_tables,
    printed_kendall,
    printed_rho,
    printed_rho_z,
    printed_spearman,
    printed_tau,
    printed_tau_z,
)
from dpcausal.stats.value_ranks import ranked


def rows(seed: int, n: int, levels: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x, y, block = (rng.integers(size, size=n) for size in levels)
    return x, y, block


def in_blocks(x: np.ndarray, y: np.ndarray, block: np.ndarray, levels: tuple[int, int, int]) -> RankCounts:
    table = np.zeros((levels[2], levels[0], levels[1]), np.int64)
    np.add.at(table, (block, x, y), 1)
    return in_tables(table)


def place(values: list[int], i: int) -> float:
    """The mean place of the rows that have the value of row i, counted from 1."""
    below, same = sum(v < values[i] for v in values), sum(v == values[i] for v in values)
    return below + (same + 1) / 2


def definition_5(x: list[int], y: list[int]) -> float:
    n = len(x)
    concordant = sum((x[i] > x[j]) and (y[i] > y[j]) for i in range(n) for j in range(n))
    discordant = n * (n - 1) // 2 - concordant  # whatever is not concordant
    return 2 * abs(concordant - discordant) / (n * (n - 1)) if n > 1 else 0.0


def definition_7(x: list[int], y: list[int]) -> float:
    n = len(x)
    squares = sum((place(x, i) - place(y, i)) ** 2 for i in range(n))
    return abs(1 - 6 * squares / (n * (n - 1))) if n > 1 else 0.0


LEVELS = [(2, 2, 1), (3, 4, 5), (30, 30, 2), (1, 3, 2), (2, 2, 40)]


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("seed", range(3))
def test_definitions_5_to_8_to_the_letter(seed: int, levels: tuple[int, int, int]) -> None:
    x, y, block = rows(seed, 40, levels)
    taus, rhos, sizes = [], [], []
    for b in range(levels[2]):
        inside = [x[block == b].tolist(), y[block == b].tolist()]
        sizes.append(len(inside[0]))
        taus.append(definition_5(*inside))
        rhos.append(definition_7(*inside))
    counts = in_blocks(x, y, block, levels)
    assert printed_tau(counts) == pytest.approx(taus)
    assert printed_rho(counts) == pytest.approx(rhos)
    weights = [9 * n * (n - 1) / (2 * (2 * n + 5)) for n in sizes]
    top = sum(w * tau for w, tau in zip(weights, taus, strict=True))
    assert printed_tau_z(counts) == pytest.approx(top / math.sqrt(sum(weights)))
    weights = [max(n - 1, 0) for n in sizes]
    top = sum(w * rho for w, rho in zip(weights, rhos, strict=True))
    assert printed_rho_z(counts) == pytest.approx(top / math.sqrt(sum(weights)))


@pytest.mark.parametrize("levels", LEVELS)
def test_rows_and_tables_agree(levels: tuple[int, int, int]) -> None:
    x, y, block = rows(7, 300, levels)
    counts, by_rows = in_blocks(x, y, block, levels), in_rows(ranked(x), ranked(y), block)
    occupied = counts.rows > 0
    for one, other in zip(counts, by_rows, strict=True):
        assert one[occupied] == pytest.approx(other)


def test_by_hand() -> None:
    """Four rows (1, 1), (1, 2), (2, 3), (3, 1): concordant are rows 1 and 3, 2 and 3. Places 1.5, 1.5, 3, 4 and 1.5,
    3, 4, 1.5: squares 0, 2.25, 1, 6.25."""
    counts = in_rows(ranked(np.array([1, 1, 2, 3])), ranked(np.array([1, 2, 3, 1])), np.zeros(4, np.int64))
    assert [part.tolist() for part in counts] == [[4], [2], [9.5]]
    assert printed_tau(counts).tolist() == [pytest.approx(2 * abs(2 - 4) / 12)]
    assert printed_rho(counts).tolist() == [pytest.approx(abs(1 - 57 / 12))]


def test_the_noise_and_the_spread_are_those_of_the_paper() -> None:
    one, two = in_tables([[[20, 5], [5, 20]]]), in_tables([[[20, 5], [5, 20]], [[9, 1], [1, 9]]])
    assert printed_kendall(one, 1) == (printed_tau(one)[0], 2 / 49, 1 / math.sqrt(9 * 50 * 49 / 210))
    assert printed_spearman(one, 1) == (printed_rho(one)[0], 30 / 50, 1 / math.sqrt(49))
    assert printed_kendall(two, 2) == (printed_tau_z(two), pytest.approx(4.5 / math.sqrt(69)), 1.0)
    assert printed_spearman(two, 2) == (printed_rho_z(two), pytest.approx(31 * math.sqrt(2 / 68)), 1.0)


@pytest.mark.parametrize("found", [printed_kendall, printed_spearman])
@pytest.mark.parametrize("k", [1, 3])
def test_few_rows_are_no_error(found: object, k: int) -> None:
    """A statistic within another mechanism may have any number of rows."""
    for n in range(k + 1):
        table = np.zeros((k, 2, 2), np.int64)
        table[0, 0, 1] = n
        assert math.isfinite(found(in_tables(table), k).value)  # type: ignore[operator]
    assert in_rows(ranked(np.zeros(0)), ranked(np.zeros(0)), np.zeros(0, np.int64)).rows.size == 0
