"""What a test says of missing values: from the schema alone, in a line of its own."""

from __future__ import annotations

import pytest

import dpcausal as dc
from dpcausal.citests.result import BothMissing, MissingCountsAs

ROWS = {
    "x": [1.0, 2.0, None, 4.0] * 100,
    "y": [4.0, 1.0, 3.0, None] * 100,
    "plain": [0.0, 1.0, 2.0, 3.0] * 100,
    "a": ["no", None, "yes", "yes"] * 100,
    "b": ["yes", None, "no", "yes"] * 100,
}
YES = dc.Categorical(["no", "yes", "missing"], other="missing")
SCHEMA = dc.Schema(
    x=dc.Numeric(0, 5, [2], other=2, missing_level=True),
    y=dc.Numeric(0, 5, [2], other=1, missing=[99]),
    plain=dc.Numeric(0, 5, [2], other=1),
    a=YES,
    b=YES,
)
DATA = dc.read(ROWS, SCHEMA)
LINE = "By the schema, missing x counts as 2, missing y counts as 1: where many are missing, that can hide"


@pytest.mark.parametrize("method", ["kendall", "gcm"])
def test_a_test_on_numbers_says_what_missing_ones_count_as(method: str) -> None:
    for epsilon in (None, 2.0):
        found = dc.ci_test(DATA, "x", "y", method=method, epsilon=epsilon, anyway=True)
        assert f"\n{LINE}" in str(found)
        assert LINE in found.summary(full=True)
        assert found.to_dict()["facts"]["missing"][0]["columns"] == [["x", 2.0], ["y", 1.0]]
    ahead = dc.forecast_ci_test(SCHEMA, "x", "y", rows=400, epsilon=2.0, method=method)
    assert f"\n{LINE}" in str(ahead)


def test_nothing_is_said_of_columns_that_declare_no_missing_values() -> None:
    found = dc.ci_test(DATA, "plain", "a", epsilon=2.0, anyway=True)
    assert found.missing == ()
    assert "missing" not in str(found)


def test_in_tables_a_bin_of_its_own_counts_as_nothing_else() -> None:
    found = dc.ci_test(DATA, "x", "y", method="measured", epsilon=2.0, anyway=True)
    assert found.missing == (MissingCountsAs((("y", 1.0),)),)


def test_two_levels_for_missing_values_may_be_all_that_goes_together() -> None:
    found = dc.ci_test(DATA, "a", "b", epsilon=2.0, anyway=True)
    assert found.missing == (BothMissing(("a", "b")),)
