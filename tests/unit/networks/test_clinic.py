"""The made-up clinic: the declared graph is the graph of the rows it draws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.graphs.separation import d_separated
from dpcausal.networks import clinic


def test_every_arrow_is_strong_and_separated_columns_are_not_told_apart() -> None:
    """Classical tests on bands: each edge is seen, each d-separation by the parents holds.

    The 35 pairs that are not joined are independent given the parents of the later one: at level 1e-4 a false alarm
    in any has probability below 35e-4 over seeds; the seed is fixed.
    """
    data = clinic.sample(100_000, seed=2)
    order = clinic.GRAPH.topological_order()
    for i, late in enumerate(order):
        parents = clinic.GRAPH.parents(late)
        for early in order[:i]:
            given = sorted(parents - {early})
            test = dc.ci_test(data, early, late, given=given, method="chi2", epsilon=None, level=1e-4)
            assert test.independent == (early not in parents), (early, late)
            assert d_separated(clinic.GRAPH, early, late, given) == (early not in parents)


def test_values_lie_in_the_declared_domains() -> None:
    table = clinic.patients(5000, seed=3)
    for name, column in clinic.SCHEMA.items():
        if isinstance(column, dc.Numeric):
            assert column.lower <= table[name].min()
            assert table[name].max() <= column.upper
        else:
            assert set(table[name]) == set(column.levels)


def test_the_same_seed_gives_the_same_rows() -> None:
    one, two = (clinic.patients(1000, seed=4) for _ in range(2))
    assert all(np.array_equal(one[name], two[name]) for name in clinic.SCHEMA)
    assert not np.array_equal(one["age"], clinic.patients(1000, seed=5)["age"])


def test_no_rows_is_an_input_error() -> None:
    with pytest.raises(dc.InputError, match="at least 1"):
        clinic.patients(0, seed=1)


def test_the_schema_file_of_the_demo_declares_the_same_columns() -> None:
    path = Path(__file__).parents[3] / "demo" / "schema.toml"
    assert dc.Schema.from_toml(path) == clinic.SCHEMA
