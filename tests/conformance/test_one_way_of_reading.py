"""A file has one way of being read, whatever engine counts it: chosen by its name and the schema, never by a cell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpcausal as dc
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.stream import count_files

HALVES = dc.Schema(x=dc.Categorical(["0.1", "other"], other="other"), note=dc.Categorical(["a", "b"]))


def half_floats(path: Path, note: bytes = b"a") -> Path:
    """1,000 rows of the half-float nearest to .1, and one other note."""
    notes = pa.array([b"b", *[b"a"] * 998, note], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"x": pa.array(np.full(1000, 0.1, np.float16)), "note": notes}), path)
    return path


@pytest.mark.parametrize("scan_only", [True, False, None])
@pytest.mark.parametrize("note", [b"a", b"\xff", b"\x00", b"a\xed\xa0\x80"])
@pytest.mark.parametrize("name", ["t.parquet", "*.parquet"])
def test_half_floats_beside_a_cell_that_duckdb_refuses(
    tmp_path: Path, name: str, note: bytes, scan_only: bool | None
) -> None:
    half_floats(tmp_path / "t.parquet", note)
    expected = MemoryCounts(dc.read(tmp_path / "t.parquet", HALVES)).table(["x", "note"])
    assert expected.tolist() == [[999, 1], [0, 0]]
    counts = count_files(tmp_path / name, HALVES)
    if scan_only is not None:
        counts._too_large = scan_only
    assert counts.n == 1000
    assert counts.table(["x", "note"]).tolist() == expected.tolist()
    assert counts.subsample(1000).table(["x", "note"]).tolist() == expected.tolist()


SCHEMA = dc.Schema(c=dc.Categorical(["no", "yes"]))


def write(path: Path, *cells: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"c": list(cells)}), path)
    return path


@pytest.mark.parametrize("name", ["data[1].parquet", "data*.parquet", "data?.parquet", "{a,b}.parquet"])
def test_a_name_with_marks_of_a_glob_is_a_file_where_there_is_one(tmp_path: Path, name: str) -> None:
    write(tmp_path / "data1.parquet", "no", "no", "no")
    write(tmp_path / "a.parquet", "no", "no", "no")
    path = write(tmp_path / name, "yes", "yes")
    assert dc.read(path, SCHEMA).n == count_files(path, SCHEMA).n == 2
    assert count_files(path, SCHEMA).table(["c"]).tolist() == [0, 2]


def test_a_glob_is_all_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    write(tmp_path / "a" / "2.parquet", "yes")
    write(tmp_path / "a" / "1.parquet", "no", "yes")
    write(tmp_path / "b" / "1.parquet", "no")
    (tmp_path / "a" / "3.txt").write_text("not read")
    assert count_files(tmp_path / "a" / "*.parquet", SCHEMA).table(["c"]).tolist() == [1, 2]
    assert count_files(str(tmp_path / "[a-b]" / "[0-9].parquet"), SCHEMA).n == 4
    assert count_files(str(tmp_path / "**" / "*.parquet"), SCHEMA).n == 4
    with pytest.raises(dc.InputError, match=r"none\*\.parquet"):
        count_files(tmp_path / "none*.parquet", SCHEMA)
    pq.write_table(pa.table({"d": [1]}), tmp_path / "b" / "2.parquet")
    with pytest.raises(dc.SchemaError, match=r'2\.parquet .*"c"'):
        count_files(tmp_path / "b" / "*.parquet", SCHEMA)


@pytest.mark.parametrize("glob", [False, True])
def test_a_folder_named_like_a_column_overrides_nothing(tmp_path: Path, glob: bool) -> None:
    path = write(tmp_path / "c=yes" / "t.parquet", "no", "no", "yes")
    assert dc.read(path, SCHEMA).codes["c"].tolist() == [0, 0, 1]
    source = tmp_path / "*" / "*.parquet" if glob else path
    assert count_files(source, SCHEMA).table(["c"]).tolist() == [2, 1]


def test_a_folder_named_like_a_column_adds_none(tmp_path: Path) -> None:
    path = write(tmp_path / "d=yes" / "t.parquet", "no")
    with pytest.raises(dc.SchemaError, match='no column "d"'):
        count_files(path, dc.Schema(d=dc.Categorical(["no", "yes"])))


def test_every_type_that_can_be_read_can_be_counted(tmp_path: Path) -> None:
    from datetime import date
    from decimal import Decimal

    table = pa.table(
        {
            "day": [date(2020, 1, 1), date(2021, 1, 1), None],
            "price": pa.array([Decimal("1.50"), None, Decimal(2)], pa.decimal128(6, 2)),
            "text": ["7", "x", " 3 "],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    schema = dc.Schema(
        day=dc.Categorical(["none", "2020-01-01"]),
        price=dc.Numeric(0, 3, bins=[1, 1.75]),
        text=dc.Numeric(0, 10, bins=[5]),
    )
    expected = MemoryCounts(dc.read(tmp_path / "t.parquet", schema)).table(list(schema))
    assert (count_files(tmp_path / "t.parquet", schema).table(list(schema)) == expected).all()


@pytest.mark.parametrize(
    "levels", [["x", 1, "2.50"], ["x", "01", "2.5"], ["x", "1e3", "-0"], ["01", "x", "1"]]
)
def test_every_backend_reads_numbers_that_are_written_otherwise(
    levels: list[str | int], tmp_path: Path
) -> None:
    cells = [
        "1", "01", "+1.0", " 1. ", "2.5", "02.500", "25e-1", "1000", "1e+03", "0", "0.0", "-0", "", "1-1", "1e999",
        "9" * 99, "1\u2028", "\u0661", "x", "nan", "inf", "0x1", "1_0", ".", "true",
    ]  # fmt: skip
    schema = dc.Schema(c=dc.Categorical(levels, other="x"), row=dc.Categorical(list(range(len(cells)))))
    table = pa.table({"c": cells, "row": list(range(len(cells)))})
    pq.write_table(table, tmp_path / "t.parquet")
    expected = MemoryCounts(dc.read({"c": cells, "row": list(range(len(cells)))}, schema)).table(list(schema))
    assert (expected.sum(axis=1) > 0).all()
    with duckdb.connect(tmp_path / "t.duckdb") as database:
        database.register("rows", table)
        database.execute("CREATE TABLE t AS SELECT * FROM rows")
    for counts in (
        MemoryCounts(dc.read(tmp_path / "t.parquet", schema)),
        count_files(tmp_path / "t.parquet", schema),
        count_files(tmp_path / "t.parquet", schema),
        dc.connect(tmp_path / "t.duckdb", schema),
    ):
        assert np.array_equal(counts.table(list(schema)), expected)


def write_workbook(path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in [["x", "note"], *(["0.1", "b"] if i % 3 else [None, "ä"] for i in range(30))]:
        book.active.append(row)
    book.save(path)


def write_sav(path: Path) -> None:
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame(
        {"x": [0.1 if i % 3 else None for i in range(30)], "note": [1.0 + i % 3 for i in range(30)]}
    )
    pyreadstat.write_sav(frame, str(path), variable_value_labels={"note": {1: "ä", 2: "b", 3: "b"}})


@pytest.mark.parametrize("write", [write_workbook, write_sav], ids=["xlsx", "sav"])
def test_every_backend_counts_a_workbook_and_a_labelled_file_alike(
    write: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / ("t.xlsx" if write is write_workbook else "t.sav")
    write(path)
    schema = dc.Schema(x=dc.Categorical(["none", "0.1"]), note=dc.Categorical(["ä", "b"]))
    expected = [[10, 0], [0, 20]]
    assert MemoryCounts(dc.read(path, schema)).table(["x", "note"]).tolist() == expected
    assert count_files(path, schema).table(["x", "note"]).tolist() == expected
    assert count_files(path, schema).table(["x", "note"]).tolist() == expected


@pytest.mark.parametrize("encoding", ["latin-1", "cp850"])
def test_every_backend_reads_a_declared_encoding_and_decimal_commas(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("größe;weg\n1,5;ä\n2,5;b\nx;ä\n".encode(encoding))
    schema = dc.Schema({"größe": dc.Numeric(0, 4, bins=[2], other=3), "weg": dc.Categorical(["b", "ä"])})
    schema = schema.with_format(encoding=encoding, separator=";", decimal=",")
    expected = [[0, 1], [1, 1]]
    for counts in (MemoryCounts(dc.read(path, schema)), count_files(path, schema), count_files(path, schema)):
        assert counts.table(["größe", "weg"]).tolist() == expected
