"""A long table of codes on every engine: what ``dc.read_codes`` makes of the same rows."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import dpcausal as dc
from engine_tables import Loader

CODES = ["I10", "E11*", "Z99"]
RECORDS = {
    "pid": ["p1", " P1", "p 1", "2", "02", "2.0", "3", "", "4"],
    "icd": ["I10", "i10 ", "E11.9", "e11.2", "Z99", "I1", "X", "I10", None],
}
PEOPLE = {"pid": ["3", "p1", "2", "9"], "age": [40.0, 50.0, 60.0, 70.0]}
AGE = dc.Schema(age=dc.Numeric(0, 100, bins=[45, 65]))


def sorted_rows(data: Any) -> list[list[int]]:
    return sorted(np.stack([data.codes[name] for name in data.schema], axis=1).tolist())


def test_an_engine_gives_the_codes_that_a_frame_gives(load: Loader) -> None:
    there = dc.connect_codes(load.put(pa.table(RECORDS)), CODES, unit="pid", code="icd", people=6)
    here = dc.read_codes(RECORDS, CODES, unit="pid", code="icd", people=6)
    assert there.schema == here.schema
    assert sorted_rows(there) == sorted_rows(here)
    assert [int(there.codes[name].sum()) for name in CODES] == [1, 2, 1]


def test_persons_are_a_table_of_the_engine_or_a_frame(load: Loader) -> None:
    asked: dict[str, Any] = {"unit": "pid", "code": "icd", "schema": AGE}
    records, people = load.put(pa.table(RECORDS)), load.put(pa.table(PEOPLE))
    here = dc.read_codes(RECORDS, CODES, people=PEOPLE, **asked)
    for persons in (people, PEOPLE):
        there = dc.connect_codes(records, CODES, people=persons, **asked)
        assert sorted_rows(there) == sorted_rows(here)


def test_the_number_of_persons_is_that_of_rows_in_their_table(load: Loader) -> None:
    """It is public: rows that are alike, or without an id, are rows of it."""
    people = pa.table({"pid": ["3", "3", None, "", "p1", None], "age": [40.0, 40.0, None, 50.0, 60.0, None]})
    asked: dict[str, Any] = {"unit": "pid", "code": "icd", "schema": AGE}
    there = dc.connect_codes(load.put(pa.table(RECORDS)), CODES, people=load.put(people), **asked)
    here = dc.read_codes(RECORDS, CODES, people=people, **asked)
    assert there.n == here.n == len(people)
    assert sorted_rows(there) == sorted_rows(here)


def test_all_records_of_a_long_table_come(load: Loader) -> None:
    persons = np.arange(4_000)
    records = pa.table({"pid": persons // 2, "icd": np.where(persons % 4 < 3, "I10", "E11.9")})
    there = dc.connect_codes(load.put(records), CODES, unit="pid", code="icd", people=2_000)
    assert [int(there.codes[name].sum()) for name in CODES] == [2_000, 1_000, 0]


@pytest.mark.parametrize("as_file", [False, True])
@pytest.mark.parametrize("which", ["records", "people"])
def test_a_cell_that_can_not_be_read_is_not_said(
    load_on: Callable[[str], Loader], tmp_path: Path, which: str, as_file: bool
) -> None:
    """A view that fails at one cell: the engine's own words have it."""
    views = (
        "CREATE VIEW good AS SELECT 'p1' AS pid, 'I10' AS icd",
        "CREATE VIEW bad AS SELECT CAST(t AS INTEGER) AS pid, 'I10' AS icd FROM (VALUES ('S3CRET')) v(t)",
    )
    if as_file:
        with duckdb.connect(tmp_path / "clinic.duckdb") as clinic:
            for view in views:
                clinic.execute(view)
        named = {"good": (tmp_path / "clinic.duckdb", "good"), "bad": (tmp_path / "clinic.duckdb", "bad")}
    else:
        engine = load_on("duckdb")
        for view in views:
            engine.backend.raw_sql(view.replace("CREATE", "CREATE OR REPLACE"))
        named = {name: (engine.backend.table(name), None) for name in ("good", "bad")}
    (records, table), (people, people_table) = (
        named["bad" if which == one else "good"] for one in ("records", "people")
    )
    with pytest.raises((dc.EngineError, dc.InputError), match="check the view") as caught:
        dc.connect_codes(
            records, CODES, unit="pid", code="icd", people=people, table=table, people_table=people_table
        )
    assert "S3CRET" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64()])
def test_ids_and_codes_that_are_numbers(load: Loader, kind: pa.DataType) -> None:
    records = pa.table(
        {"pid": pa.array([1, 1, 2, None], kind), "icd": pa.array([401, 250, 401, 401], pa.int64())}
    )
    there = dc.connect_codes(load.put(records), ["401", "25*"], unit="pid", code="icd", people=2)
    assert sorted_rows(there) == [[1, 0], [1, 1]]


@pytest.mark.parametrize("nobody", [[], [None]], ids=["all have ids", "one has none"])
def test_large_ids_of_persons_are_told_apart(load: Loader, nobody: list[None]) -> None:
    """Whether a row has no id decides nothing for others: a NULL must not make numbers of 53 bits of their ids."""
    ids = [2**53, 2**53 + 1]
    records = load.put(pa.table({"pid": pa.array(ids, pa.int64()), "icd": ["I10", "E11.9"]}))
    people = load.put(pa.table({"pid": pa.array([*ids, *nobody], pa.int64())}))
    found = dc.connect_codes(records, CODES, unit="pid", code="icd", people=people)
    assert sorted_rows(found) == [[0, 0, 0]] * len(nobody) + [[0, 1, 0], [1, 0, 0]]


def test_ids_of_persons_are_as_exact_as_an_engine_holds_them(load_on: Callable[[str], Loader]) -> None:
    """DuckDB gives out whole numbers of 128 bits and decimals as floats."""
    engine = load_on("duckdb")
    ids = ", ".join(f"({2**53 + k}, '{code}')" for k, code in enumerate(["I10", "E11.9"]))
    for kind in ("HUGEINT", "DECIMAL(20, 0)"):
        engine.backend.raw_sql(
            f"CREATE OR REPLACE TABLE large AS SELECT t.pid::{kind} AS pid, t.icd FROM (VALUES {ids}) t(pid, icd)"
        )
        table = engine.backend.table("large")
        found = dc.connect_codes(table, CODES, unit="pid", code="icd", people=table)
        assert sorted_rows(found) == [[0, 1, 0], [1, 0, 0]]


def test_persons_keep_what_is_theirs_where_a_view_has_no_order(tmp_path: Path) -> None:
    """Their ids and their columns are read one after the other, and a view may give its rows otherwise each time."""
    with duckdb.connect(tmp_path / "clinic.duckdb") as clinic:
        clinic.execute("CREATE TABLE persons AS SELECT i AS pid, i AS age FROM range(60) r(i)")
        clinic.execute("CREATE VIEW people AS SELECT * FROM persons ORDER BY random()")
        clinic.execute("CREATE TABLE records AS SELECT i AS pid, 'I10' AS icd FROM range(30) r(i)")
    file, schema = tmp_path / "clinic.duckdb", dc.Schema(age=dc.Numeric(0, 60, bins=[30]))
    asked: dict[str, Any] = {"unit": "pid", "code": "icd", "table": "records", "people_table": "people"}
    data = dc.connect_codes(file, CODES, people=file, schema=schema, **asked)
    assert data.codes["age"].tolist() == (1 - data.codes["I10"]).tolist()
    with pytest.raises(dc.SchemaError, match="height"):
        dc.connect_codes(file, CODES, people=file, schema=dc.Schema(height=dc.Numeric(0, 3)), **asked)


def test_what_is_not_there_is_said_in_a_line(load: Loader) -> None:
    table = load.put(pa.table(RECORDS))
    for asked in ({"unit": "id"}, {"code": "icd10"}):
        with pytest.raises(dc.SchemaError, match="has no column"):
            dc.connect_codes(table, CODES, **{"unit": "pid", "code": "icd", "people": 3, **asked})
    with pytest.raises(dc.InputError, match="read_codes"):
        dc.connect_codes(RECORDS, CODES, unit="pid", code="icd", people=3)
    with pytest.raises(dc.InputError, match="people_table"):
        dc.connect_codes(table, CODES, unit="pid", code="icd", people=3, people_table="persons")
