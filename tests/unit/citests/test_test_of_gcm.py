"""Test of tests over gcm: power, both relations, small and constant data, spelling of the name."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.base import TestSettings
from dpcausal.citests.test_of_tests import TestOfGcm
from dpcausal.core.neighbours import Neighbours
from dpcausal.counts.memory import counts_of

SCHEMA = dc.Schema(
    x=dc.Numeric(-6, 6), y=dc.Numeric(-6, 6), z=dc.Numeric(-4, 4), c=dc.Categorical(["a", "b", "c"])
)


@pytest.fixture(scope="module")
def rows() -> dc.Dataset:
    rng = np.random.default_rng(8)
    n = 3000
    z, c = rng.normal(size=n), rng.integers(0, 3, n)
    x = np.sin(2 * z) + c + rng.normal(0, 0.7, n)
    return dc.read({"x": x, "y": x + rng.normal(0, 0.7, n), "z": z, "c": np.array(list("abc"))[c]}, SCHEMA)


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_sees_a_strong_dependence(rows: dc.Dataset, neighbours: str) -> None:
    with dc.testing.seeded(2):
        found = dc.ci_test(
            rows, "x", "y", ["z", "c"], method="test-of-tests", test="gcm", epsilon=1.0, neighbours=neighbours
        )
    assert not found.independent
    assert found.privacy.epsilon == 1.0
    assert [event["kind"] for event in found.privacy.events] == ["laplace"]
    assert "in which gcm rejected" in found.privacy.to_dict()["released"][0]
    assert any("number of parts" in words for words in found.privacy.to_dict()["public"])


def test_plan_is_public_and_keeps_parts_large() -> None:
    settings = TestSettings(0.01, 0.0, 0.05, Neighbours.REPLACE_ONE, 320)
    for d, most in ((1, 10), (5, 5)):
        assert TestOfGcm().plan(settings, d)[0] <= most
    assert TestOfGcm(parts=7, sub_level=0.2).plan(settings, 1) == (7, 0.2)
    assert TestOfGcm(parts=7).plan(TestSettings(1.0, 0.0, 0.05, Neighbours.ADD_REMOVE, None), 1)[0] == 8


def test_the_classical_answer_is_gcms(rows: dc.Dataset) -> None:
    ask = {"given": ["z"], "epsilon": None}
    ours = dc.ci_test(rows, "x", "y", method="test-of-tests", test="gcm", **ask)  # type: ignore[arg-type]
    assert ours.pvalue == dc.ci_test(rows, "x", "y", method="gcm", **ask).pvalue  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [0, 1, 2, 40])
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_few_or_constant_rows_are_no_special_case(n: int, neighbours: str) -> None:
    schema = SCHEMA.select(["x", "y", "z"])
    flat = {name: np.full(n, 0.5) for name in schema}
    data = dc.Dataset(schema, n, {name: np.zeros(n, np.uint8) for name in schema}, flat)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = dc.ci_test(
            data, "x", "y", ["z"], method="test-of-tests:gcm", epsilon=1.0, neighbours=neighbours
        )
    assert found.pvalue is not None
    assert 0 <= found.pvalue <= 1


def test_levels_without_an_order_and_groups_are_asked_in_every_part(rows: dc.Dataset) -> None:
    for x in ("c", ["x", "c"]):
        found = dc.ci_test(rows, x, "y", ["z"], method="test-of-tests:gcm", epsilon=1.0)
        assert found.privacy.epsilon == 1.0
        assert found.statistic is not None


def test_refusals(rows: dc.Dataset) -> None:
    with pytest.raises(dc.InputError, match="rows themselves"):
        dc.ci_test(counts_of(rows), "x", "y", method="test-of-tests:gcm", epsilon=1.0)
    with pytest.raises(dc.InputError, match="once"):
        dc.ci_test(rows, "x", "y", method="test-of-tests:gcm", test="g", epsilon=1.0)
    with pytest.raises(dc.InputError, match="'gmc'"):
        dc.ci_test(rows, "x", "y", method="test-of-tests:gmc", epsilon=1.0)
    with pytest.raises(dc.InputError, match="sub_level"):
        dc.ci_test(rows, "x", "y", method="test-of-tests:gcm", sub_level=2.0, epsilon=1.0)
