from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from dpcausal.core.errors import SchemaError
from dpcausal.data.coding import check_type, coder_of
from dpcausal.data.columns import Categorical, Column, Numeric
from dpcausal.data.read import read
from dpcausal.data.schema import Schema


def codes(column: Column, array: pa.Array) -> list[int]:
    result = coder_of(column).code(array).codes
    assert result.dtype == (np.uint8 if column.size <= 256 else np.uint16)
    assert result.flags.c_contiguous
    listed: list[int] = result.tolist()
    return listed


def values(column: Numeric, cells: list[Any], type_: pa.DataType | None = None) -> list[float]:
    result = coder_of(column).code(pa.array(cells, type_)).values
    assert result is not None
    listed: list[float] = result.tolist()
    return listed


OTHER_LAST = Categorical([0, 1, 2, "none of them"], other="none of them")
TEXTS = ["0", "1.0", " 2 ", "2.00", "three", "", None, "-0.0", "True", "false", "01", "+1"]


@pytest.mark.parametrize(
    "type_",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()],
)
def test_text_of_every_type_matches_the_level_that_prints_the_same_or_is_its_number(
    type_: pa.DataType,
) -> None:
    array = pa.array([None if t is None else t.encode() for t in TEXTS], pa.binary()).cast(type_)
    expected = [0, 1, 2, 2, 3, 3, 3, 0, 1, 0, 1, 1]
    assert codes(OTHER_LAST, array) == expected
    assert codes(OTHER_LAST, array.slice(3, 7)) == expected[3:10]
    if type_ in (pa.string(), pa.binary(), pa.large_string()):
        assert codes(OTHER_LAST, array.dictionary_encode()) == expected


def test_an_exact_level_comes_before_every_other_spelling() -> None:
    column = Categorical(["?", "1.0", "1", True, " x", "x", "", "true"])
    assert codes(column, pa.array(["1", "1.0", "True", " x", "x", "", "  ", " x ", "TRUE", "true"])) == [
        2, 1, 3, 4, 5, 6, 6, 5, 3, 7,
    ]  # fmt: skip
    assert codes(column, pa.array([1.0, 1.5])) == [1, 0]


def test_bytes_that_are_no_text_go_to_other() -> None:
    cells = pa.array([b"\xc3\xa9", b"\xfe", b"\xff a ", b" \xc3\xa9\n", b"\xe9", b" \xe9 ", b"\xe9\xc3\xa9"])
    assert codes(Categorical(["a", "é"]), cells) == [1, 0, 0, 1, 1, 1, 0]  # not UTF-8: read as Windows-1252
    assert codes(Categorical(["a", "bb"]), pa.array([b"bb", b"cc", None], pa.binary(2))) == [1, 0, 0]


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers_match_by_value(name: str) -> None:
    column = Categorical(["none", 0, 1, 100, "7.0"])
    array = pa.array([0, 1, 100, 5, None, 127, 7], getattr(pa, name)())
    assert codes(column, array) == [1, 2, 3, 0, 0, 0, 4]
    assert codes(column, array.slice(1, 5)) == [2, 3, 0, 0, 0]
    assert codes(column, array.dictionary_encode()) == [1, 2, 3, 0, 0, 0, 4]


def test_integers_at_the_ends_of_their_types() -> None:
    column = Categorical(["none", -(2**63), 2**63 - 1, 2**63, 2**64 - 1, -1])
    assert codes(column, pa.array([-(2**63), 2**63 - 1, -1, 0], pa.int64())) == [1, 2, 5, 0]
    assert codes(column, pa.array([2**63, 2**64 - 1, 0, 2**63 - 1], pa.uint64())) == [3, 4, 0, 2]
    assert codes(Categorical(["none", -3, -2]), pa.array([-3, -2, -1, 0, 127, -128], pa.int8())) == [
        1,
        2,
        0,
        0,
        0,
        0,
    ]
    assert codes(Categorical(["none", "x"]), pa.array([0, 1, 2], pa.int64())) == [0, 0, 0]
    wide = Categorical(["none", 5, 10**9, -(10**9)])
    assert codes(wide, pa.array([5, 10**9, -(10**9), 6], pa.int64())) == [1, 2, 3, 0]


def test_many_levels_take_two_bytes() -> None:
    most = Categorical(range(65_535), other=7)
    assert codes(most, pa.array([65_534, 256, 65_535, None, -1])) == [65_534, 256, 7, 7, 7]
    column, array = Categorical(range(1_000), other=7), pa.array([999, 256, 1_000, None, -1])
    for one in (array, array.cast(pa.string()), array.cast(pa.float64()), array.dictionary_encode()):
        assert codes(column, one) == [999, 256, 7, 7, 7]


@pytest.mark.parametrize("type_", [pa.float16(), pa.float32(), pa.float64()])
def test_floats_match_by_value_in_their_own_precision(type_: pa.DataType) -> None:
    column = Categorical(["none", 1, "0.1", "-2.5", 0, "1e-400", "1e400", 2**60 + 1])
    cells = [1.0, 0.1, -2.5, -0.0, float("nan"), float("inf"), None, 10.5]
    array = pa.array([None if c is None else np.dtype(type_.to_pandas_dtype()).type(c) for c in cells], type_)
    assert codes(column, array) == [1, 2, 3, 4, 0, 0, 0, 0]
    many = Categorical(["none", *range(40)])
    assert codes(many, array) == [2, 0, 0, 1, 0, 0, 0, 0]


def test_a_float_prefers_the_level_it_equals_to_one_it_is_near() -> None:
    assert codes(Categorical(["none", "1.0001", 1]), pa.array(np.array([1.0], np.float16))) == [2]
    assert codes(Categorical(["none", 2**53 + 1]), pa.array([float(2**53)])) == [0]


def test_booleans_and_their_spellings() -> None:
    array = pa.array([True, False, None])
    assert codes(Categorical([False, True]), array) == [1, 0, 0]
    assert codes(Categorical(["x", 0, 1]), array) == [2, 1, 0]
    assert codes(Categorical(["x", "true", "false"]), array.slice(1)) == [2, 0]
    texts = pa.array(["True", "true", "TRUE", "1", "1.0", "False", "0", "tRUE", "yes"])
    assert codes(Categorical(["x", True, False]), texts) == [1, 1, 1, 1, 1, 2, 2, 0, 0]
    assert codes(Categorical(["x", True, False]), pa.array([1, 0, 2])) == [1, 2, 0]


@pytest.mark.parametrize(
    "type_", [pa.decimal128(10, 2), pa.decimal256(40, 5), pa.decimal32(5, 1), pa.decimal64(10, 1)]
)
def test_decimals_match_by_value(type_: pa.DataType) -> None:
    column = Categorical(["none", 1, "2.5", "1e300", 10**18])
    array = pa.array([Decimal("1"), Decimal("2.5"), Decimal("3"), None], type_)
    assert codes(column, array) == [1, 2, 0, 0]
    assert values(Numeric(0, 2), array.to_pylist(), type_) == [1, 2, 2, 0]


def test_dates_and_times_match_as_they_print() -> None:
    day = datetime.datetime(2020, 1, 31)
    column = Categorical(["none", "2020-01-31", "2020-01-31 10:00:00", "10:00:00", "2020-01-31Z"])
    assert codes(column, pa.array([day.date(), None], pa.date32())) == [1, 0]
    for unit in ("s", "ms", "us", "ns"):
        assert codes(
            column, pa.array([day, day.replace(hour=10), day.replace(hour=9)], pa.timestamp(unit))
        ) == [1, 2, 0]
    assert codes(column, pa.array([datetime.time(10)], pa.time64("us"))) == [3]
    assert codes(column, pa.array([day], pa.timestamp("us", "Europe/Rome"))) == [4]
    assert codes(column, pa.array([2**62, 5], pa.int64()).view(pa.timestamp("s", "Nowhere/At_all"))) == [0, 0]


def test_null_extension_and_run_end_columns() -> None:
    assert codes(Categorical(["a", "b"], other="b"), pa.nulls(3)) == [1, 1, 1]
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], ["b", "a"])
    assert codes(Categorical(["a", "b"]), runs) == [1, 1, 0]
    assert codes(Categorical(["a", "b"]), pa.array([], pa.string())) == []
    truth = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8()))
    assert codes(Categorical([False, True]), truth) == [1, 0]


def test_a_dictionary_that_changes_between_chunks_is_noticed() -> None:
    coder = coder_of(Categorical(["a", "b", "c"]))
    for _ in range(3):
        assert coder.code(pa.array(["c", "b"]).dictionary_encode()).codes.tolist() == [2, 1]
        assert coder.code(pa.array(["b", None, "c"]).dictionary_encode()).codes.tolist() == [1, 0, 2]


def test_numbers_are_clamped_and_what_is_no_number_goes_to_other() -> None:
    column = Numeric(0, 10, other=5)
    inf, nan = float("inf"), float("nan")
    assert values(column, [1, -1, 11, None, inf, -inf, nan]) == [1, 0, 10, 5, 10, 0, 5]
    assert values(column, [1, None, 200], pa.uint64()) == [1, 5, 10]
    assert values(column, [True, False, None]) == [1, 0, 5]
    assert values(column, ["1", "", "2"]) == [1, 5, 2]
    texts = [
        " 7 ",
        "1e400",
        "-1e400",
        "1,5",
        "inf",
        "-Infinity",
        "nan",
        "NaN",
        "NA",
        "",
        ".5",
        "2.",
        "+3",
        "9" * 400,
    ]
    expected = [7, 10, 0, 5, 10, 0, 5, 5, 5, 5, 0.5, 2, 3, 10]
    assert values(column, texts) == expected
    assert [values(column, [text])[0] for text in texts] == expected
    assert values(column, ["TRUE", "false", "1-2", "--", "1_0", "0x1", "１", "1\x00", None]) == [
        1,
        0,
        *[5] * 7,
    ]
    assert values(column, [b"3", b"\xff", b"\xc2\xa07"]) == [3, 5, 5]
    assert values(column, [None, None]) == [5, 5]
    assert str(values(Numeric(-1, 1), [-0.0])) == "[0.0]"


def test_a_dictionary_of_numbers_or_texts_is_read_through() -> None:
    array = pa.array(["7", "x", None, "12"]).dictionary_encode()
    assert coder_of(Numeric(0, 10)).code(array).values.tolist() == [7, 0, 0, 10]  # type: ignore[union-attr]


def test_a_bin_is_the_number_of_cut_points_not_above() -> None:
    few, many = Numeric(0, 10, [2, 5]), Numeric(0, 1000, range(1, 1000))
    assert codes(few, pa.array([0, 1.999, 2, 4, 5, 10, 99])) == [0, 0, 1, 1, 2, 2, 2]
    assert codes(many, pa.array([0, 0.5, 1, 998.5, 999, 1000])) == [0, 0, 1, 998, 999, 999]


@pytest.mark.parametrize(
    "type_",
    [
        pa.list_(pa.int8()),
        pa.struct({"a": pa.int8()}),
        pa.map_(pa.string(), pa.int8()),
        pa.list_(pa.int8(), 2),
    ],
)
def test_nested_types_are_refused_by_type(type_: pa.DataType) -> None:
    with pytest.raises(SchemaError, match=r'"x" of t.parquet has type'):
        check_type("x", type_, Categorical(["a"]), "t.parquet")
    with pytest.raises(SchemaError):
        check_type("x", pa.dictionary(pa.int8(), type_), Categorical(["a"]), "t.parquet")


@pytest.mark.parametrize(
    "type_", [pa.binary(), pa.large_binary(), pa.binary(4), pa.dictionary(pa.int8(), pa.binary())]
)
def test_bytes_in_a_file_declared_numeric_are_refused_by_type(type_: pa.DataType, tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"has type .* numeric"):
        check_type("x", type_, Numeric(0, 1), "t.parquet")
    check_type("x", type_, Categorical(["a"]), "t.parquet")
    check_type("x", type_, Numeric(0, 1), "the dict", of_file=False)
    check_type("x", pa.large_string(), Numeric(0, 1), "t.parquet")  # text may hold numbers
    for cells in ([b"3", b"1"], [b"\xff", None]):
        pa.parquet.write_table(pa.table({"x": pa.array(cells, pa.binary())}), tmp_path / "t.parquet")
        with pytest.raises(SchemaError, match=r"type binary, .* numeric"):
            read(tmp_path / "t.parquet", Schema(x=Numeric(0, 9)))
    assert read({"x": [b"3", "1"]}, Schema(x=Numeric(0, 9))).values["x"].tolist() == [3, 1]


def test_a_date_declared_numeric_is_refused_by_type() -> None:
    with pytest.raises(SchemaError, match="declared numeric"):
        check_type("x", pa.date32(), Numeric(0, 1), "t.parquet")
    check_type("x", pa.date32(), Categorical(["a"]), "t.parquet")
