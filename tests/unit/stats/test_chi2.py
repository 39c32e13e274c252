"""Pearson and G against R and scipy, and the policy on empty cells."""

from __future__ import annotations

import json
import timeit
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

from dpcausal.core.errors import InputError
from dpcausal.stats.chi2 import chi2_pvalue, likelihood_ratio, pearson

REFERENCES = json.loads((Path(__file__).parents[2] / "references" / "chi2_g.json").read_text())


def test_references_are_many() -> None:
    assert len(REFERENCES) >= 20


@pytest.mark.parametrize("record", REFERENCES)
def test_same_as_r_where_no_margin_is_empty(record: dict) -> None:
    blocks = np.array(record["blocks"])
    assert (blocks.sum(1) > 0).all()
    assert (blocks.sum(2) > 0).all()
    found, ratio = pearson(blocks), likelihood_ratio(blocks)
    assert found.statistic == pytest.approx(record["chi2"], rel=1e-10)
    assert ratio.statistic == pytest.approx(record["g"], rel=1e-10)
    assert found.dof == ratio.dof == record["df"]
    assert found.pvalue == pytest.approx(chi2.sf(record["chi2"], record["df"]), rel=1e-9)


def test_same_as_scipy_on_the_non_empty_part_of_every_block() -> None:
    rng = np.random.default_rng(3)
    empty = 0
    for _ in range(200):
        blocks = rng.poisson(rng.choice([0.4, 2.0, 20.0]), (4, 3, 4))
        for name, ours in (("pearson", pearson), ("log-likelihood", likelihood_ratio)):
            value, dof = 0.0, 0
            for block in blocks:
                live = block[block.sum(1) > 0][:, block.sum(0) > 0]
                empty += live.shape != block.shape
                if min(live.shape) > 1:
                    one = chi2_contingency(live, correction=False, lambda_=name)
                    value, dof = value + one.statistic, dof + one.dof
            found = ours(blocks)
            assert found.dof == dof
            assert found.statistic == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert empty > 100


@pytest.mark.parametrize("blocks", [np.zeros((3, 2, 2), int), [[[5, 0], [9, 0]]], [[[1, 2, 3]]]])
def test_nothing_to_test_means_independent(blocks: object) -> None:
    for ours in (pearson, likelihood_ratio):
        found = ours(blocks)
        assert (found.statistic, found.dof, found.pvalue) == (0.0, 0, 1.0)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError):
        pearson([[1, 2], [3, 4]])
    with pytest.raises(InputError):
        pearson([[[0.5, 2.0], [3.0, 4.0]]])


def test_tail_far_out() -> None:
    assert chi2_pvalue(200.0, 1) == pytest.approx(chi2.sf(200.0, 1), rel=1e-9)


def test_sixty_four_blocks_are_fast() -> None:
    blocks = np.random.default_rng(1).poisson(10.0, (64, 2, 2))
    pearson(blocks)
    best = min(timeit.repeat(lambda: pearson(blocks), number=20, repeat=20)) / 20
    assert best < 500e-6  # about 15 us on an idle machine; ten times as much means the kernel is not compiled
