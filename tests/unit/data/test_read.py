from __future__ import annotations

import gzip
import pickle
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from dpcausal.core.errors import InputError, SchemaError
from dpcausal.counts.stream import count_files
from dpcausal.data import csv, sources
from dpcausal.data.columns import Categorical, Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.read import ColumnsIgnored, DecimalNotDeclared, coded_chunks, open_checked, read
from dpcausal.data.schema import Schema

SCHEMA = Schema(smoke=Categorical(["no", "yes"]), age=Numeric(0, 110, [18, 65]))
CSV = b"smoke,age\nyes,70\nno,\n,-3\n?,40.5\n"
CODES = {"smoke": [1, 0, 0, 0], "age": [2, 0, 0, 1]}


def listed(data: Dataset) -> dict[str, list[int]]:
    return {name: codes.tolist() for name, codes in data.codes.items()}


def table() -> pa.Table:
    return pa.table({"smoke": ["yes", "no", None, "?"], "age": [70, None, -3, 40.5]})


def as_path(name: str, write: Callable[[pa.Table, Path], object]) -> Callable[[Path], object]:
    def make(folder: Path) -> object:
        write(table(), folder / name)
        return folder / name

    return make


def write_stream(data: pa.Table, path: Path) -> None:
    with pa.ipc.new_stream(path, data.schema) as writer:
        writer.write_table(data)


SOURCES: dict[str, Callable[[Path], object]] = {
    "csv": as_path("t.csv", lambda _, p: p.write_bytes(CSV)),
    "csv upper": as_path("t.CSV", lambda _, p: p.write_bytes(CSV)),
    "csv bom crlf": as_path(
        "t.csv", lambda _, p: p.write_bytes(b"\xef\xbb\xbf" + CSV.replace(b"\n", b"\r\n"))
    ),
    "csv semicolon": as_path("t.csv", lambda _, p: p.write_bytes(CSV.replace(b",", b";"))),
    "csv gz": as_path("t.csv.gz", lambda _, p: p.write_bytes(gzip.compress(CSV))),
    "tsv": as_path("t.tsv", lambda _, p: p.write_bytes(CSV.replace(b",", b"\t"))),
    "parquet": as_path("t.parquet", lambda t, p: pq.write_table(t, p, row_group_size=3)),
    "arrow": as_path(
        "t.arrow", lambda t, p: feather.write_feather(t, p, compression="uncompressed", chunksize=3)
    ),
    "feather": as_path("t.feather", lambda t, p: feather.write_feather(t, p, compression="lz4")),
    "stream": as_path("t.arrow", write_stream),
    "text path": lambda folder: str(SOURCES["csv"](folder)),
    "table": lambda _: table(),
    "record batch": lambda _: table().to_batches()[0],
    "reader": lambda _: table().to_reader(max_chunksize=3),
    "pandas": lambda _: table().to_pandas(),
    "pandas objects": lambda _: pd.DataFrame(
        {"smoke": ["yes", "no", None, 7], "age": [70, "NA", -3, "40.5"]}, dtype=object
    ),
    "pandas category": lambda _: table().to_pandas().astype({"smoke": "category", "age": "Float64"}),
    "pandas sparse": lambda _: table().to_pandas().astype({"age": pd.SparseDtype("float64")}),
    "polars": lambda _: pl.from_arrow(table()),
    "polars lazy": lambda _: pl.from_arrow(table()).lazy(),  # type: ignore[union-attr]
    "lists": lambda _: {"smoke": ["yes", "no", None, object], "age": [70, None, Decimal("-3"), "40.5"]},
    "numpy": lambda _: {
        "smoke": np.array(["yes", "no", "", "?"]),
        "age": np.array([70, np.nan, -3, 40.5], ">f8"),
    },
    "masked": lambda _: {
        "smoke": np.array([b"yes", b"no", b"", b"?"]),
        "age": np.ma.array([70, 99, -3, 40.5], mask=[0, 1, 0, 0]),
    },
    "series": lambda _: {
        "smoke": pd.Series(["yes", "no", None, "?"]),
        "age": pl.Series([70.0, None, -3.0, 40.5]),
    },
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_codes(kind: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DecimalNotDeclared)  # of semicolons: in test_file_format.py
        data = read(SOURCES[kind](tmp_path), SCHEMA)
    assert data.n == len(data) == 4
    assert listed(data) == CODES
    assert data.values["age"].tolist() == [70, 0, 0, 40.5]
    assert all(codes.dtype == np.uint8 and codes.flags.c_contiguous for codes in data.codes.values())


@pytest.mark.parametrize("kind", ["csv", "csv gz", "parquet", "arrow", "stream", "pandas", "lists"])
def test_batches_hold_the_same_rows_in_order(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv, "BLOCK_BYTES", 8)
    parts = list(coded_chunks(open_checked(SOURCES[kind](tmp_path), SCHEMA), SCHEMA, list(SCHEMA), rows=2))
    assert all(set(part) == {"smoke", "age"} and len(part["age"].codes) <= 2 for part in parts)
    assert {name: np.concatenate([part[name].codes for part in parts]).tolist() for name in SCHEMA} == CODES
    if kind == "parquet":
        (only,) = coded_chunks(open_checked(SOURCES[kind](tmp_path), SCHEMA), SCHEMA, ["age"], rows=1000)
        assert list(only) == ["age"]


def test_the_number_of_rows_is_known_beforehand_where_it_is_written_down(tmp_path: Path) -> None:
    assert open_checked(SOURCES["parquet"](tmp_path), SCHEMA).rows == 4
    assert open_checked(SOURCES["lists"](tmp_path), SCHEMA).rows == 4
    assert open_checked(SOURCES["csv"](tmp_path), SCHEMA).rows is None


def csv_file(folder: Path, body: bytes, name: str = "p.csv") -> Path:
    (folder / name).write_bytes(body)
    return folder / name


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "p.csv is empty: no header line"),
        (b"\n\n", "p.csv is empty: no header line"),
        (b"\xef\xbb\xbf", "p.csv is empty: no header line"),
        (b"smoke,age", "p.csv has no rows"),
        (b"smoke,age\n\n", "p.csv has no rows"),
        (b"smoke,Age\nyes,1\n", 'p.csv has no column "age" (did you mean "Age"?)'),
        (b"x,y\nyes,1\n", 'p.csv has no columns "smoke", "age"'),
        (b"smoke,age,age\nyes,1,2\n", 'p.csv has more than one column "age"'),
        ("smoke,age\nyes,1\n".encode("utf-16"), "p.csv is UTF-16 text: save it as UTF-8"),
    ],
)
def test_a_csv_that_cannot_be_used_is_one_line(tmp_path: Path, body: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(csv_file(tmp_path, body), SCHEMA)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("p.parquet", b"no parquet at all", "p.parquet is not a readable Parquet file"),
        ("p.parquet", b"", "p.parquet is not a readable Parquet file"),
        ("p.arrow", b"no arrow at all", "p.arrow is not a readable Arrow file"),
        ("p.feather", b"", "p.feather is not a readable Arrow file"),
        ("p.csv.gz", b"not packed", "p.csv.gz is damaged: it can't be read to its end"),
        ("p.xls", b"PK", "p.xls: the name must end in one of .csv"),
        ("p", b"", "p: the name must end in one of .csv"),
        ("p.parquet.gz", b"", "p.parquet.gz: the name must end in one of .csv"),
    ],
)
def test_a_file_of_the_wrong_kind_is_one_line(tmp_path: Path, name: str, body: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(csv_file(tmp_path, body, name), SCHEMA)
    assert str(caught.value).startswith(message)


def test_a_file_that_is_not_there_or_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"nope.csv"):
        read(tmp_path / "nope.csv", SCHEMA)
    with pytest.raises(InputError, match="is a directory"):
        read(tmp_path, SCHEMA)
    path = csv_file(tmp_path, CSV)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"p.csv: no permission"):
        read(path, SCHEMA)


def test_a_parquet_file_cut_short_or_damaged_inside_says_nothing_of_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"smoke": ["yes"] * 5000, "age": np.arange(5000.0)}), path, use_dictionary=False)
    body = bytearray(path.read_bytes())
    body[100:4000] = b"\xff" * 3900
    path.write_bytes(bytes(body))
    with pytest.raises(InputError) as caught:
        read(path, SCHEMA)
    assert str(caught.value).startswith("t.parquet is damaged")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_columns_outside_the_schema_are_ignored_and_said_once(tmp_path: Path) -> None:
    extra = ",".join(f"x{i}" for i in range(7))
    path = csv_file(tmp_path, f"smoke,{extra},age\nyes,{extra},3\n".encode())
    with pytest.warns(ColumnsIgnored) as caught:
        data = read(path, SCHEMA)
    assert [w.category for w in caught] == [ColumnsIgnored]
    assert str(caught[0].message).startswith("p.csv: 7 columns")
    assert caught[0].filename == __file__
    assert listed(data) == {"smoke": [1], "age": [0]}
    with pytest.warns(ColumnsIgnored, match='"zzz"'):
        read(pl.LazyFrame({"smoke": ["yes"], "age": [3], "zzz": [1]}), SCHEMA)
    chosen = SCHEMA.select(["age"]).with_format(decimal=",")
    assert chosen.is_selection
    assert pickle.loads(pickle.dumps(chosen)).is_selection  # noqa: S301
    with warnings.catch_warnings():
        warnings.simplefilter("error", ColumnsIgnored)
        assert listed(read(path, chosen)) == {"age": [0]}  # the others were left out on purpose


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            {"smoke": ["yes"], "age": [1, 2]},
            'columns of the dict differ in length: "age" has 2 rows, "smoke" 1',
        ),
        ({"smoke": [], "age": []}, "the dict has no rows"),
        ({"smoke": "yes", "age": [1]}, 'column "smoke" must be an array or a list, not str'),
        ({"smoke": ["yes"], "age": 1}, 'column "age" must be an array or a list, not int'),
        ({"smoke": ["yes"], "age": np.zeros((1, 2))}, 'column "age" must have one dimension, not 2'),
        ({"smoke": ["yes"], "age": np.array([1j])}, 'column "age" has type complex128, which can\'t be read'),
        ({"smoke": ["yes"]}, 'the dict has no column "age"'),
        (pa.table({"smoke": [["yes"]], "age": [1]}), 'column "smoke" of the table has type list'),
        (
            pl.DataFrame({"smoke": [["yes"]], "age": [1]}),
            'column "smoke" of the data frame has type large_list',
        ),
        (
            pl.DataFrame({"smoke": ["a"], "age": pl.Series([1], dtype=pl.Int128)}),
            "has a type that can't be read",
        ),
        (
            pd.DataFrame({"smoke": ["a"], "age": pd.interval_range(0, 1)}),
            "interval[int64, right], which can't be read",
        ),
        (pd.DataFrame([["yes", 1, 2]], columns=["smoke", "age", "age"]), "more than one column"),
        (3, "can't read data from int"),
        (None, "can't read data from NoneType"),
    ],
)
def test_data_in_memory_that_cannot_be_used_is_one_line(source: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(source, SCHEMA)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_nested_parquet_column_is_refused_by_its_type(tmp_path: Path) -> None:
    pq.write_table(pa.table({"smoke": [["yes"]], "age": [1]}), tmp_path / "t.parquet")
    with pytest.raises(SchemaError, match=r'"smoke" of t.parquet .*list'):
        read(tmp_path / "t.parquet", SCHEMA)


def test_no_rows_is_said_for_every_kind_of_source(tmp_path: Path) -> None:
    empty = table().slice(0, 0)
    pq.write_table(empty, tmp_path / "t.parquet")
    feather.write_feather(empty, tmp_path / "t.feather")
    for source in (
        tmp_path / "t.parquet",
        tmp_path / "t.feather",
        empty,
        empty.to_pandas(),
        pl.from_arrow(empty),
    ):
        with pytest.raises(InputError, match="has no rows"):
            read(source, SCHEMA)
        if isinstance(source, Path):
            with pytest.raises(InputError, match="has no rows"):
                count_files(source, SCHEMA)


def test_a_schema_that_is_no_schema_is_refused() -> None:
    with pytest.raises(InputError, match="not dict"):
        read(table(), {"smoke": 1})  # type: ignore[arg-type]


def test_columns_with_dots_and_shared_prefixes_in_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a.b": ["y"], "a": ["x"], "a b": ["z"]}), tmp_path / "t.parquet")
    level = Categorical(["?", "x", "y", "z"])
    data = read(tmp_path / "t.parquet", Schema({"a": level, "a b": level, "a.b": level}))
    assert listed(data) == {"a": [1], "a b": [3], "a.b": [2]}


def test_a_parquet_file_is_read_without_holding_it(tmp_path: Path) -> None:
    rows = 600_000
    pq.write_table(
        pa.table({"x": np.random.default_rng(0).random(rows)}), tmp_path / "t.parquet", row_group_size=60_000
    )
    schema = Schema(x=Numeric(0, 1))
    before = pa.total_allocated_bytes()
    peak = 0
    total = 0
    for chunk in coded_chunks(open_checked(tmp_path / "t.parquet", schema), schema, ["x"], rows=20_000):
        peak = max(peak, pa.total_allocated_bytes() - before)
        total += len(chunk["x"].codes)
    assert total == rows
    assert peak < 8 * rows / 2  # the column itself is 8 * rows bytes


def test_progress_goes_to_standard_error_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert read(table(), SCHEMA, progress=True).n == 4
    assert capsys.readouterr().out == ""


def test_lone_surrogates_and_odd_objects_are_cells_like_any_other() -> None:
    class Rude:
        def __str__(self) -> str:
            raise RuntimeError("no")

    cells = [
        "\ud800",
        Rude(),
        b"yes",
        pd.NA,
        pd.NaT,
        float("nan"),
        ["yes"],
        np.str_("yes"),
        True,
        2**100,
        "yes",
    ]
    data = read({"smoke": cells, "age": cells}, SCHEMA)
    assert data.codes["smoke"].tolist() == [0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1]
    assert data.values["age"].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 1, 110, 0]


def test_numbers_at_the_edge_of_their_types_are_silent() -> None:
    signalling = np.array([0x7FA00000, 0x3F800000], dtype=np.uint32).view(np.float32)
    signalling_too = np.array([0x7FF4000000000000, 0x3FF0000000000000], dtype=np.uint64).view(np.float64)
    schema = Schema(x=Categorical(["none", *range(20)]), y=Numeric(0, 10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cells in (signalling, signalling_too):
            data = read({"x": cells, "y": cells}, schema)
            assert listed(data) == {"x": [0, 2], "y": [0, 0]}
        long = np.array([np.finfo(np.longdouble).max, 1])
        assert read({"x": long, "y": long}, schema).values["y"].tolist() == [10, 1]
        huge = [10**5000, -(10**5000), 3]
        assert read({"x": huge, "y": huge}, schema).values["y"].tolist() == [10, 0, 3]


def test_pandas_columns_named_by_numbers_are_found_as_they_print() -> None:
    data = read(pd.DataFrame([[1, 0], [0, 1]]), Schema({"1": Categorical([0, 1]), "0": Categorical([0, 1])}))
    assert listed(data) == {"1": [0, 1], "0": [1, 0]}


def test_batch_size_of_a_file_is_public() -> None:
    assert sources.BATCH_ROWS == 1 << 17  # a fixed number: chunk sizes never follow the data


def test_a_file_without_a_schema_is_answered_in_one_line() -> None:
    with pytest.raises(InputError, match=r"dpcausal schema cohort.dta > schema.toml") as refused:
        read("cohort.dta")
    assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match=r"Schema.from_toml"):
        read(3)
