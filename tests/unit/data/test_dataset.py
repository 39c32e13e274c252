"""A data set built by hand: shapes and types are checked, and a value in a row is mapped or clamped, never an error."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.errors import InputError
from dpcausal.counts.memory import MemoryCounts

SCHEMA = dc.Schema(
    c=dc.Categorical(["no", "yes"], other="yes"),
    d=dc.Categorical([f"level{i}" for i in range(300)], other="level7"),
    x=dc.Numeric(-1.0, 1.0, bins=[0.0, 0.5], other=0.25),
)
N = 6


def arrays() -> tuple[dict[str, Any], dict[str, Any]]:
    codes = {"c": np.zeros(N, np.uint8), "d": np.zeros(N, np.uint16), "x": np.zeros(N, np.uint8)}
    return codes, {"x": np.zeros(N)}


@pytest.mark.parametrize(
    ("column", "dtype", "code", "expected"),
    [
        ("c", np.uint8, 2, 1),
        ("c", np.uint8, 255, 1),
        ("c", np.int64, -1, 1),
        ("c", np.int64, 2**40, 1),
        ("c", np.int8, -128, 1),
        ("d", np.uint16, 300, 7),
        ("d", np.int64, 65_536, 7),  # would be 0 in two bytes
        ("x", np.uint8, 3, 1),  # the bin of other
        ("x", np.int32, -5, 1),
    ],
)
def test_a_code_beyond_the_declared_levels_becomes_other_in_that_row_only(
    column: str, dtype: Any, code: int, expected: int
) -> None:
    codes, values = arrays()
    codes[column] = np.zeros(N, dtype)
    codes[column][2] = code
    data = dc.Dataset(SCHEMA, N, codes, values)
    assert data.codes[column].tolist() == [0, 0, expected, 0, 0, 0]
    assert data.codes[column].dtype == (np.uint16 if column == "d" else np.uint8)
    assert not data.codes[column].flags.writeable


@pytest.mark.parametrize(
    ("value", "expected"),
    [(np.nan, 0.25), (np.inf, 1.0), (-np.inf, -1.0), (1e300, 1.0), (-2.0, -1.0), (0.75, 0.75)],
)
def test_a_number_is_clamped_and_no_number_is_other(value: float, expected: float) -> None:
    codes, values = arrays()
    values["x"][3] = value
    data = dc.Dataset(SCHEMA, N, codes, values)
    assert data.values["x"].tolist() == [0, 0, 0, expected, 0, 0]
    assert not data.values["x"].flags.writeable


def test_what_a_mask_hides_is_other() -> None:
    """A masked array leaves hidden entries out of its least and largest one: code 9 of two levels came through."""
    codes, values = arrays()
    mask = [False, False, True, False, False, True]
    codes["c"] = np.ma.MaskedArray(np.array([0, 1, 9, 0, 0, 0], np.uint8), mask)
    values["x"] = np.ma.MaskedArray(np.array([0.0, -0.5, 3.0, 0.0, 9.0, np.nan]), mask)
    data = dc.Dataset(SCHEMA, N, codes, values)
    assert data.codes["c"].tolist() == [0, 1, 1, 0, 0, 1]
    assert data.values["x"].tolist() == [0, -0.5, 0.25, 0, 1, 0.25]
    assert not any(isinstance(array, np.ma.MaskedArray) for array in (data.codes["c"], data.values["x"]))


@pytest.mark.parametrize(
    "cells",
    [
        np.array([0.0, np.longdouble("1e4000")], np.longdouble),
        np.array([0, 0x7FA00000], np.uint32).view(np.float32),  # a signalling NaN
        np.array([0, 0x7D00], np.uint16).view(np.float16),
        np.array([0, 0x7FF4000000000000], np.uint64).view(np.float64),
    ],
    ids=["long double", "float", "half", "double"],
)
def test_no_number_makes_a_warning(cells: Any) -> None:
    schema = dc.Schema(x=dc.Numeric(-1.0, 1.0, other=1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = dc.Dataset(schema, 2, {"x": np.zeros(2, np.uint8)}, {"x": cells})
    assert data.values["x"].tolist() == [0.0, 1.0]


def test_what_needs_no_change_is_not_copied() -> None:
    codes, values = arrays()
    data = dc.Dataset(SCHEMA, N, codes, values)
    assert data.codes["c"] is codes["c"]
    assert data.values["x"] is values["x"]


def test_other_layouts_of_memory_are_brought_to_one() -> None:
    codes, _ = arrays()
    table = np.arange(N * 2, dtype=">f8").reshape(N, 2) / 20
    data = dc.Dataset(SCHEMA, N, codes, {"x": table[:, 1]})
    assert data.values["x"].flags.c_contiguous
    assert data.values["x"].dtype == np.dtype(float)
    assert data.values["x"].tolist() == (np.arange(1, 2 * N, 2) / 20).tolist()


WRONG = {
    "short": ("codes", "c", np.zeros(N - 1, np.uint8), "entries where 6 rows"),
    "two axes": ("codes", "c", np.zeros((N, 1), np.uint8), "entries where 6 rows"),
    "float codes": ("codes", "c", np.zeros(N), "whole numbers"),
    "object codes": ("codes", "c", np.zeros(N, object), "whole numbers"),
    "list": ("codes", "c", [0] * N, "must be a numpy array, not list"),
    "unknown": ("codes", "e", np.zeros(N, np.uint8), 'no column "e" in the schema'),
    "text": ("values", "x", np.zeros(N, "U3"), "must be numbers"),
    "object": ("values", "x", np.zeros(N, object), "must be numbers"),
    "complex": ("values", "x", np.zeros(N, complex), "must be numbers"),
    "short values": ("values", "x", np.zeros(N + 1), "entries where 6 rows"),
    "values of levels": ("values", "c", np.zeros(N), "is not numeric"),
    "no codes": ("codes", "d", None, 'no codes of column "d"'),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_shapes_and_types_are_one_line(name: str) -> None:
    kind, column, array, told = WRONG[name]
    codes, values = arrays()
    changed = codes if kind == "codes" else values
    if array is None:
        del changed[column]
    else:
        changed[column] = array
    with pytest.raises(InputError) as caught:
        dc.Dataset(SCHEMA, N, codes, values)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_number_of_rows_is_a_whole_number() -> None:
    codes, values = arrays()
    for n in (-1, 6.0, "6", True):
        with pytest.raises(InputError, match="number of rows"):
            dc.Dataset(SCHEMA, n, codes, values)  # type: ignore[arg-type]


def test_a_nan_moves_a_statistic_no_further_than_any_other_row() -> None:
    """One NaN made the whole statistic 0."""
    schema = dc.Schema(x=dc.Numeric(-1.0, 1.0), y=dc.Numeric(-1.0, 1.0))
    x = np.random.default_rng(0).uniform(-1.0, 1.0, 400)
    codes = {name: np.zeros(400, np.uint8) for name in schema}
    found = []
    for value in (1.0, np.nan):
        columns = {"x": x.copy(), "y": x.copy()}
        columns["x"][7] = value
        with dc.testing.seeded(1):
            data = dc.Dataset(schema, 400, codes, columns)
            answer = dc.ci_test(data, "x", "y", epsilon=50.0, method="gcm", variant="moments")
        found.append(answer.statistic)
    assert found[0] > 10.0
    assert abs(found[1] - found[0]) < 1.0


def test_a_code_beyond_the_levels_is_counted_in_its_own_row() -> None:
    """Code 255 of two levels wrote outside the table."""
    schema = dc.Schema(x=dc.Categorical([0, 1]), y=dc.Categorical([0, 1]))
    codes = {name: np.tile(np.array([0, 1], np.uint8), 50) for name in schema}
    codes["x"][3] = 255
    table = MemoryCounts(dc.Dataset(schema, 100, codes)).table(["x", "y"])
    assert np.asarray(table).tolist() == [[50, 1], [0, 49]]


def test_a_question_about_numbers_that_are_not_there_is_refused_in_a_line() -> None:
    schema = dc.Schema(a=dc.Categorical([0, 1]), x=dc.Numeric(0, 1), y=dc.Numeric(0, 1))
    data = dc.Dataset(schema, 400, {name: np.tile(np.array([0, 1], np.uint8), 200) for name in schema})
    law = dc.LinearGaussian(0.0, {"x": 1.0}, 1.0)
    refused = r"the numbers of .* are not there"
    for epsilon in (1.0, None):
        with pytest.raises(InputError, match=refused):
            dc.ci_test(data, "y", "a", ["x"], method="gcm", epsilon=epsilon, anyway=True)
        with pytest.raises(InputError, match=refused):
            dc.ci_test(data, "y", "a", ["x"], method="crt", model=law, epsilon=epsilon, anyway=True)
    with pytest.raises(InputError, match=refused):
        dc.effect(data, "a", "y", adjust=["x"], epsilon=1.0, delta=1e-6, method="regression", anyway=True)
