"""A number or a date is coded by its value, whatever the type of its column: one cell can't recode the others.

A frame's type is often inferred from its rows. Where one odd cell turns a column of numbers or dates into a column of
objects, or of texts as they were written, the other cells keep their codes.
"""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpcausal as dc
from dpcausal.counts.stream import count_files


def codes(column: dc.Categorical | dc.Numeric, cells: Any) -> list[int]:
    return dc.read({"x": cells}, dc.Schema(x=column)).codes["x"].tolist()


def objects(cells: Any) -> pd.Series:
    return pd.Series(list(cells), dtype=object)


def test_codes_with_leading_zeros_read_by_pandas() -> None:
    """2,000 rows of 01 and 02: pandas makes numbers of them, and texts if the last one is A1."""
    column = dc.Categorical(["00", "01", "02"])
    cells = [f"0{1 + i % 2}" for i in range(2000)]
    found = []
    for last in ("02", "A1", "1e999", "0x1", "", "True"):
        text = "\n".join(["x,y", *(f"{cell},1" for cell in [*cells[:-1], last])])
        frame = pd.read_csv(io.StringIO(text))
        found.append(codes(column, frame["x"])[:-1])
    assert found[0] == [1, 2] * 999 + [1]
    assert all(others == found[0] for others in found)


@pytest.mark.parametrize(
    ("levels", "cells"),
    [
        (["none", "1.50", "2.25"], [1.5, 2.25, 0.0]),
        (["none", "1.50", "2.25"], np.array([1.5, 2.25, 0.0], np.float32)),
        (["none", "0.1", "0.20"], np.array([0.1, 0.2, 0.3], np.float32)),
        (["none", "0.1", "0.20"], np.array([0.1, 0.2, 0.3], np.float16)),
        (["none", "01", "007"], [1, 7, 2]),
        (["none", "+1", "1e3"], [1, 1000, 2]),
        (["none", ".5", "2."], [0.5, 2.0, 3.0]),
        (["none", "1", "01"], [1, 1, 2]),
        (["none", "1.5", "inf"], [1.5, float("inf"), float("-inf")]),
        (["none", "True", "2"], [1, 2, 0]),
        (["none", "True", "0"], [True, False, True]),
        (
            ["none", "2020-01-01", "2021-01-01 12:30:00"],
            pd.to_datetime(["2020-01-01 00:00", "2021-01-01 12:30"]),
        ),
        (["none", "2020-01-01T00:00:00"], pd.to_datetime(["2020-01-01 00:00", "2021-01-01 12:30"])),
        (
            ["none", "2020-01-01 00:00:00.5"],
            pd.to_datetime(["2020-01-01 00:00:00.500", "2020-01-01 00:00:00.000"]),
        ),
        (["none", "2020-01-01Z"], pd.to_datetime(["2020-01-01", "2020-01-02"]).tz_localize("UTC")),
        (["none", "2019-12-31 23:00:00Z"], pd.to_datetime(["2020-01-01"]).tz_localize("Europe/Paris")),
        (["none", "2020-01-01"], np.array(["2020-01-01", "2020-01-02", "NaT"], "datetime64[D]")),
        (["none", "2020-01-01"], np.array(["2020-01-01", "2020-01-02", "NaT"], "datetime64[ns]")),
    ],
)
@pytest.mark.parametrize(
    "odd", ["A1", None, b"\xff", 10**400, object()], ids=["text", "none", "bytes", "huge", "object"]
)
def test_an_odd_cell_beside_typed_ones(levels: list[str], cells: Any, odd: Any) -> None:
    column = dc.Categorical(levels, other="none")
    series = pd.Series(cells)
    typed = codes(column, series)
    assert any(typed)
    assert codes(column, objects([*cells, odd])) == [*typed, 0]
    assert codes(column, [*cells, odd]) == [*typed, 0]
    assert codes(column, np.array([*cells, odd], dtype=object)) == [*typed, 0]
    if odd == "A1":  # pandas itself can't make categories of the others
        assert codes(column, objects([*cells, odd]).astype("category")) == [*typed, 0]
    assert codes(column, pl.Series([*cells, odd], dtype=pl.Object)) == [*typed, 0]


WRITTEN = [
    (["none", 1, 2], ["01", "2.0", "1.00", "+2", "1e0", "02", "20e-1", "3", "-1", "1."]),
    (["none", "1", "2.50"], ["2.5", "02.50", "1.0", "2.500000", ".25e1", "1", "2.51"]),
    (["none", "01", "1.50"], ["1", "1.5", "01", "1.0", "1.500", "001", "15", "0"]),
    (["none", 100000, "-3"], ["1e+05", "1E5", "-03", "-3.0", "100000", "3", "99999"]),
    ([False, True], ["01", "0.00", "1", "1e0", "00", "-0"]),
    (["none", 0, "0.1"], ["-0.00", ".1", "0.10", "00", "1e-1", "0.11"]),
    (["none", "1", "2"], ["99", "1", "099", "2.00", "9.9e1"]),
]


@pytest.mark.parametrize(("levels", "written"), WRITTEN)
def test_a_text_means_the_level_that_is_its_number_as_pandas_reads_it(
    levels: list[Any], written: list[str], tmp_path: Path
) -> None:
    """One cell that is no number makes pandas leave the others as they are written: none of their codes changes."""
    column = dc.Categorical(levels, missing=["99"] if "2" in map(str, levels) else [])
    found = []
    for last in ("7", "x", ""):
        file = tmp_path / "t.csv"
        file.write_text("\n".join(["x,y", *(f"{cell},1" for cell in [*written, last]), ""]))
        frame = pd.read_csv(file)
        schema = dc.Schema(x=column)
        found += [codes(column, cells)[:-1] for cells in (frame["x"], list(frame["x"]), [*written, last])]
        found.append(dc.read(file, schema).codes["x"].tolist()[:-1])
    assert str(frame["x"].dtype) in ("float64", "int64")
    assert len(set(found[0])) > 1
    assert all(others == found[0] for others in found)


def test_a_number_of_many_digits_is_no_other_number() -> None:
    large = 2**53
    column = dc.Categorical(["none", large])
    assert codes(column, [str(large), f"0{large}", str(large + 1), f"{large}.0"]) == [1, 0, 0, 1]
    assert codes(column, [large, large + 1, Decimal(large), Decimal(large + 1)]) == [1, 0, 1, 0]


def test_numbers_and_times_among_objects_mean_what_they_mean_typed() -> None:
    """Their texts might be read as a level that the number or the time itself is not."""
    tenth, duration = Decimal("0.100000000000000001"), dt.timedelta(milliseconds=1)
    column = dc.Categorical(["none", "0.1", "01000"])
    assert codes(column, pa.array([tenth], pa.decimal128(30, 18))) == codes(column, [tenth]) == [0]
    assert codes(column, pa.array([duration], pa.duration("us"))) == codes(column, [duration]) == [0]
    nearly = dc.Categorical(["none", "1.00000000000000001"])
    assert codes(nearly, np.array([1])) == codes(nearly, [1]) == [0]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([None] * 3, dtype=dtype)
        for dtype in ("float64", "object", "Int64", "boolean", "datetime64[ns]", "category", "string")
    ]
    + [np.full(3, np.nan), np.full(3, np.nan, np.float32), [None] * 3, pa.nulls(3, pa.float64()), pa.nulls(3)]
    + [pl.Series([None] * 3, dtype=pl.Float64), pl.Series([None] * 3)],
    ids=lambda column: f"{type(column).__module__} {getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_an_empty_column_of_a_frame_is_read_whatever_its_type(column: Any) -> None:
    for declared in (dc.Categorical(["no", "yes"], other="yes"), dc.Numeric(0, 10, bins=[5], other=7)):
        assert codes(declared, column) == [1, 1, 1]


@pytest.mark.parametrize("missing", [[99.9], []])
@pytest.mark.parametrize("precision", [np.float16, np.float32, np.float64])
def test_numbers_of_a_numeric_column(missing: list[float], precision: type[np.floating]) -> None:
    column = dc.Numeric(0, 200, bins=[0.1, 50], other=7, missing=missing)
    cells = np.array([0.1, 99.9, 3.3, np.nan, np.inf], precision)
    schema = dc.Schema(x=column)
    typed = dc.read({"x": cells}, schema)
    mixed = dc.read({"x": [*cells, "x"]}, schema)
    assert mixed.values["x"].tolist() == [*typed.values["x"].tolist(), 7]
    assert mixed.codes["x"][:-1].tolist() == typed.codes["x"].tolist()


def test_missing_codes_and_aliases_by_value() -> None:
    column = dc.Categorical(["no", "yes"], aliases={"01": "yes"}, missing=["-09", "1.50"])
    assert codes(column, [1, 1.0, -9, 1.5, "01", "x"]) == [1, 1, 0, 0, 1, 0]
    assert codes(column, np.array([1, -9])) == [1, 0]
    assert codes(column, [Decimal("1.0"), Decimal("1"), dt.date(2020, 1, 1)]) == [1, 1, 0]


def test_other_kinds_of_columns_read_levels_with_zeros_too(tmp_path: Any) -> None:
    column = dc.Categorical(["none", "01", "1.50"])
    schema = dc.Schema(x=column)
    for cells in (
        pa.array([1, 2, None], pa.int8()),
        pa.array([1, 2, None], pa.float64()),
        pa.array([Decimal(1), Decimal(2), None], pa.decimal128(5, 2)),
        pl.Series([1, 2, None]),
    ):
        assert codes(column, cells) == [1, 0, 0]
    pa.parquet.write_table(pa.table({"x": [1, 1, 2]}), tmp_path / "t.parquet")
    assert count_files(tmp_path / "t.parquet", schema).table(["x"]).tolist() == [1, 2, 0]


def test_the_type_of_a_column_of_objects_does_not_follow_its_cells() -> None:
    from dpcausal.data.sources import as_arrow

    for cells in (["a"], ["a", None], [1], ["\ud800"], [b"\xff"], [object()], [None]):
        assert as_arrow("x", cells).type == pa.large_binary()
    for cell in ("a", None, "\ud800"):
        series = pd.Series(["b", cell], dtype=pd.StringDtype("python"))
        assert as_arrow("x", series).type == pa.large_binary()
