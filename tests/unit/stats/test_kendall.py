"""Blocked Kendall against R's values, all permutations, and its edge cases."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from dpcausal.core.errors import InputError
from dpcausal.stats.blocks import block_sizes, checked_blocks
from dpcausal.stats.kendall import kendall, kendall_margin, kendall_terms
from dpcausal.stats.published import tau_a

REFERENCES = json.loads((Path(__file__).parents[2] / "references" / "ranks.json").read_text())
BINARY = [record for record in REFERENCES if "cmh" in record]


def rows_of(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.indices(table.shape)
    return np.repeat(x.ravel(), table.ravel()), np.repeat(y.ravel(), table.ravel())


def score(x: np.ndarray, y: np.ndarray) -> int:
    return int((np.sign(x[:, None] - x) * np.sign(y[:, None] - y)).sum()) // 2


def test_references_are_many() -> None:
    assert len(REFERENCES) >= 200
    assert len(BINARY) >= 100


@pytest.mark.parametrize("record", REFERENCES, ids=range(len(REFERENCES)))
def test_every_block_agrees_with_r(record: dict) -> None:
    blocks = checked_blocks(record["blocks"])
    value, variance = kendall_terms(blocks)
    n = block_sizes(blocks)
    np.testing.assert_allclose(value * n, record["s"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(value / np.sqrt(variance), record["z_kendall"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        [tau_a(block[None]) for block in blocks], record["tau_a"], rtol=1e-9, atol=1e-9
    )


def test_binary_blocks_are_cochran_mantel_haenszel() -> None:
    for record in BINARY:
        statistic, variance = kendall(record["blocks"])
        assert statistic == pytest.approx(record["k"], rel=1e-9, abs=1e-9)
        assert variance == pytest.approx(record["v"], rel=1e-9)
        assert statistic**2 / variance == pytest.approx(record["cmh"], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "table", [[[1, 1], [0, 1]], [[2, 0, 1], [0, 1, 2]], [[1, 0, 0], [0, 2, 1], [1, 0, 1]], [[1, 1, 1, 1, 1]]]
)
def test_variance_is_that_over_all_permutations(table: list[list[int]]) -> None:
    x, y = rows_of(np.array(table))
    values = [score(x, y[list(order)]) for order in itertools.permutations(range(len(y)))]
    assert kendall([table]).variance == pytest.approx(np.var(values) / len(y) ** 2, rel=1e-12, abs=1e-15)


def test_small_and_constant_blocks_add_nothing() -> None:
    full = [[3, 1, 2], [1, 4, 0], [2, 2, 2]]
    alone = kendall([full])
    one_row = [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    constant = [[4, 5, 6], [0, 0, 0], [0, 0, 0]]
    empty = np.zeros((3, 3), int).tolist()
    assert kendall([empty, full, one_row, constant, empty]) == alone
    assert kendall([empty]) == (0.0, 0.0)


def test_transposing_keeps_and_mirroring_flips() -> None:
    blocks = np.random.default_rng(3).integers(0, 9, (5, 3, 4))
    value = kendall(blocks)
    assert kendall(blocks.transpose(0, 2, 1)) == pytest.approx(value, rel=1e-12)
    mirrored = kendall(blocks[:, :, ::-1])
    assert mirrored.statistic == pytest.approx(-value.statistic, rel=1e-12)
    assert mirrored.variance == pytest.approx(value.variance, rel=1e-12)


def test_a_thousand_million_rows_do_not_overflow() -> None:
    quarter = 250_000_000
    statistic, variance = kendall([[[quarter + 5, quarter - 5], [quarter - 5, quarter + 5]]])
    assert statistic == pytest.approx(5.0, abs=1e-6)
    assert variance == pytest.approx(4 * quarter / 16, rel=1e-8)


def test_margin_crosses_zero_where_z_reaches_the_threshold() -> None:
    blocks = [[[40, 20], [22, 41]], [[9, 3], [4, 8]]]
    statistic, variance = kendall(blocks)
    z = abs(statistic) / math.sqrt(variance)
    assert kendall_margin(blocks, z, floor=0.1) == pytest.approx(0.0, abs=1e-12)
    assert kendall_margin(blocks, z - 0.01, floor=0.1) > 0 > kendall_margin(blocks, z + 0.01, floor=0.1)
    assert kendall_margin([np.zeros((2, 2), int)], 2.0, floor=4.0) == -4.0


def test_tau_a_ignores_ties_and_tiny_tables() -> None:
    assert tau_a([[[1, 0], [0, 0]]]) == 0.0
    assert tau_a([[[0, 0], [0, 0]]]) == 0.0
    assert tau_a([[[1, 0], [0, 1]]]) == 1.0
    assert tau_a([np.fliplr(np.eye(5, dtype=int))]) == -1.0


@pytest.mark.parametrize("bad", [[[1, 2], [3, 4]], np.zeros((1, 0, 2), int), [[[0.5, 1.0], [1.0, 1.0]]]])
def test_only_integer_tables_of_three_axes_are_taken(bad: object) -> None:
    with pytest.raises(InputError):
        kendall(bad)  # type: ignore[arg-type]


def test_bad_public_parameters_are_refused() -> None:
    with pytest.raises(InputError):
        tau_a(np.ones((2, 2, 2), int))
    with pytest.raises(InputError):
        kendall_margin(np.ones((1, 2, 2), int), 2.0, floor=0.0)
