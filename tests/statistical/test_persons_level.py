"""Persons with rows that are alike: tests, edges and intervals keep their level, whatever number of rows is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpcausal as dc

PEOPLE, COPIES = 1500, 3
SCHEMA = dc.Schema({name: dc.Categorical(["0", "1"]) for name in "abcd"})


def copied(rng: np.random.Generator) -> dict[str, Any]:
    """Independent columns, every person's row three times."""
    codes = {name: rng.integers(0, 2, PEOPLE).repeat(COPIES) for name in SCHEMA}
    return {name: code.astype(str) for name, code in codes.items()} | {
        "pid": np.arange(PEOPLE).repeat(COPIES)
    }


@pytest.mark.parametrize("rows", [1, COPIES])
def test_rows_that_are_alike_make_no_dependence(rows: int) -> None:
    """At level .05; bounds that a right share passes with probability .999."""
    runs = 120
    rejected = edges = covered = 0
    for seed in range(runs):
        with dc.testing.seeded(seed):
            data = dc.read(copied(np.random.default_rng([90, seed])), SCHEMA, unit="pid", rows_per_unit=rows)
            test = dc.ci_test(data, "a", "b", method="measured", epsilon=1.0)
            graph = dc.discover(data, method="measured", epsilon=1.0, delta=1e-6, confidence=0)
            effect = dc.effect(data, "a", "b", adjust=[], epsilon=1.0)
        rejected += not test.independent
        edges += len(graph.graph.skeleton)
        covered += effect.interval[0] <= 0.0 <= effect.interval[1]
    assert rejected <= stats.binom.ppf(0.999, runs, 0.05)
    assert edges <= stats.binom.ppf(0.999, 6 * runs, 0.05)
    assert covered >= stats.binom.ppf(0.001, runs, 0.93)


def test_without_a_unit_the_same_rows_make_dependences() -> None:
    """The test above would see it: of 60 runs at level .05 more than 10 reject."""
    rejected = 0
    for seed in range(60):
        rows = copied(np.random.default_rng([91, seed]))
        rows.pop("pid")
        with dc.testing.seeded(seed):
            data = dc.read(rows, SCHEMA)
            rejected += not dc.ci_test(data, "a", "b", method="measured", epsilon=3.0).independent
    assert rejected > 10
