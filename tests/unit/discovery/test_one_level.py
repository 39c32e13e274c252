"""A column of one declared level has no edge, whatever the method; a test about it is refused."""

from __future__ import annotations

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.errors import InputError
from dpcausal.data.dataset import Dataset
from dpcausal.discovery.discover import METHODS
from dpcausal.discovery.search import OneLevel


def table(rows: int = 400) -> Dataset:
    """Two columns that go together, numbers, and two columns of one level."""
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, rows)
    schema = dc.Schema(
        sex=dc.Categorical(["f"]),
        a=dc.Categorical([0, 1]),
        age=dc.Numeric(0, 110),
        b=dc.Categorical([0, 1]),
        site=dc.Categorical(["here"]),
    )
    columns = {"sex": ["f"] * rows, "a": a, "age": rng.uniform(0, 110, rows), "b": a, "site": ["here"] * rows}
    return dc.read(columns, schema)


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("max_order", [0, None])
def test_no_edge_touches_it(method: str, max_order: int | None) -> None:
    for _ in range(3):
        found = dc.discover(
            table(), epsilon=None if method == "pc" else 0.5, method=method, max_order=max_order
        )
        assert not any(pair & {"sex", "site"} for pair in found.graph.skeleton | found.open)
        assert {"sex", "site"} <= set(found.graph.nodes)
        assert isinstance(found.notes[0], OneLevel)
        assert '"sex" and "site" have one level' in found.to_dict()["notes"][0]


def test_the_demonstrated_case_age_does_not_point_at_sex() -> None:
    """Few rows, little budget: everything else stays open, and nothing is oriented around the column of one level."""
    for seed in range(10):
        with dc.testing.seeded(seed):
            found = dc.discover(table(60), epsilon=0.01, tiers=[["age"], ["sex", "a"]], anyway=True)
        assert not any("sex" in arrow for arrow in found.graph.directed)


def test_refusals() -> None:
    data = table()
    with pytest.raises(InputError, match='"sex" has one level: it can\'t depend on anything'):
        dc.ci_test(data, "a", "sex", epsilon=1.0)
    with pytest.raises(InputError, match='required names "sex", which has one level'):
        dc.discover(data, epsilon=1.0, required=[("a", "sex")])
    with pytest.raises(InputError, match="two columns with two levels or more"):
        dc.discover(dc.read({"sex": ["f"], "a": [0]}, data.schema.select(["sex", "a"])), epsilon=1.0)
    assert dc.ci_test(data, "a", "b", ["sex"], epsilon=None).independent is False
