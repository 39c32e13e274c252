"""Blocked Spearman against coin's values, scipy and all permutations."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from dpcausal.core.errors import InputError
from dpcausal.stats.blocks import checked_blocks
from dpcausal.stats.kendall import kendall
from dpcausal.stats.published import rho_sensitivity, spearman_z, spearman_z_sensitivity
from dpcausal.stats.spearman import (
    spearman,
    spearman_joint_sensitivity,
    spearman_sensitivity,
    spearman_terms,
    spearman_variance_sensitivity,
)

REFERENCES = json.loads((Path(__file__).parents[2] / "references" / "ranks.json").read_text())


def test_value_and_variance_agree_with_coin() -> None:
    for record in REFERENCES:
        statistic, variance = spearman(record["blocks"])
        assert statistic == pytest.approx(record["f"], rel=1e-9, abs=1e-9)
        assert variance == pytest.approx(record["u"], rel=1e-9)


def test_without_ties_it_is_the_usual_coefficient() -> None:
    order = np.random.default_rng(1).permutation(9)
    table = np.zeros((9, 9), int)
    table[np.arange(9), order] = 1
    value, variance = spearman_terms(checked_blocks([table]))
    assert value[0] / 8 == pytest.approx(spearmanr(np.arange(9), order).statistic, rel=1e-12)
    assert variance[0] == pytest.approx(8.0, rel=1e-12)


@pytest.mark.parametrize(
    "table", [[[1, 1], [0, 1]], [[2, 0, 1], [0, 1, 2]], [[1, 0, 0], [0, 2, 1], [1, 0, 1]]]
)
def test_variance_is_that_over_all_permutations(table: list[list[int]]) -> None:
    x, y = np.indices(np.array(table).shape)
    x, y = (rankdata(np.repeat(a.ravel(), np.ravel(table))) for a in (x, y))
    n = len(x)
    values = [
        12 * float((x - x.mean()) @ (y[list(order)] - y.mean())) / (n * (n + 1))
        for order in itertools.permutations(range(n))
    ]
    assert spearman([table]).variance == pytest.approx(np.var(values), rel=1e-12)


def test_two_levels_of_x_give_kendalls_score() -> None:
    blocks = np.random.default_rng(5).integers(0, 9, (1, 2, 4))
    n = blocks.sum()
    assert spearman(blocks).statistic == pytest.approx(3 * kendall(blocks).statistic * n / (n + 1), rel=1e-12)


def test_small_and_constant_blocks_add_nothing() -> None:
    full = [[3, 1], [1, 4]]
    others = [[[0, 0], [0, 0]], [[1, 0], [0, 0]], [[2, 3], [0, 0]]]
    assert spearman([full, *others]) == spearman([full])
    assert spearman_z([full], floor=1.0) == pytest.approx(spearman([full]).statistic / math.sqrt(8))
    assert spearman_z([others[1]], floor=1.0) == 0.0


def test_sensitivities_are_the_proved_numbers() -> None:
    assert [rho_sensitivity(rel, 3, 3, 58) for rel in ("add-remove", "replace-one")] == [6 / 60, 6 / 59]
    assert [rho_sensitivity(rel, 2, 2, 58) for rel in ("add-remove", "replace-one")] == [3 / 60, 3 / 59]
    assert [spearman_sensitivity("add-remove", *s, k=4) for s in ((2, 2), (2, 9), (4, 3))] == [
        3,
        3,
        5 - 2 / 9,
    ]
    assert [spearman_sensitivity("replace-one", *s, k=4) for s in ((2, 2), (2, 9), (4, 3))] == [
        6,
        6,
        10 - 4 / 9,
    ]
    assert [spearman_sensitivity("replace-one", *s, k=1) for s in ((2, 2), (2, 9), (4, 3))] == [3, 6, 6]
    assert spearman_variance_sensitivity("replace-one", 3, 3) == pytest.approx(10 / 3)
    assert spearman_joint_sensitivity("add-remove", 9, 9, 4, weight=0.2) == pytest.approx(5.2)
    assert spearman_z_sensitivity("add-remove", 2, 2, 4, floor=49.0) == 0.5


def test_bad_public_parameters_are_refused() -> None:
    for call in (
        lambda: rho_sensitivity("replace-one", 2, 2, 0),
        lambda: rho_sensitivity("replace-two", 2, 2, 5),
        lambda: spearman_z([[[1, 1], [1, 1]]], floor=0.0),
        lambda: spearman_z_sensitivity("replace-one", 2, 2, 1, floor=-1.0),
        lambda: spearman_joint_sensitivity("replace-one", 2, 2, 1, weight=math.nan),
        lambda: spearman_sensitivity("replace-one", 0, 2, 1),
    ):
        with pytest.raises(InputError):
            call()
