"""A table of a database is read with the types that are stored with it: nothing that guesses types passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpcausal as dc
from dpcausal.counts.stream import count_table
from engine_tables import Loader

SCHEMA = dc.Schema(x=dc.Categorical(["other", "0.5", "1.5"]))
FILES = {  # what a view may read besides tables
    "file": "SELECT * FROM '{folder}/v.csv'",
    "read_csv": "SELECT * FROM read_csv('{folder}/v.csv')",
    "parquet": "SELECT * FROM read_parquet('{folder}/v.parquet')",
    "view": "SELECT * FROM over_file",
    "macro": "SELECT * FROM from_file()",
    "query": "SELECT * FROM query('SELECT * FROM ''{folder}/v.csv''')",
    "join": "SELECT t.x FROM t JOIN '{folder}/v.csv' f ON t.x::VARCHAR = f.x::VARCHAR",
    "subquery": "SELECT x FROM t WHERE x::VARCHAR IN (SELECT x::VARCHAR FROM '{folder}/v.csv')",
    "cte": "WITH f AS MATERIALIZED (SELECT * FROM '{folder}/v.csv') SELECT * FROM f UNION ALL SELECT * FROM f",
    "never": "SELECT * FROM '{folder}/v.csv' WHERE false",
}
TABLES = {  # what is stored, or nothing that is read
    "plain": ("SELECT * FROM t", [0, 1, 2]),
    "cast": ("SELECT CAST(x AS VARCHAR) AS x FROM t WHERE x < 9", [0, 1, 2]),
    "join": ("SELECT t.x FROM t JOIN t s ON t.x = s.x", [0, 1, 4]),
    "cte": ("WITH f AS MATERIALIZED (SELECT * FROM t) SELECT * FROM f UNION ALL SELECT * FROM f", [0, 2, 4]),
    "values": ("SELECT * FROM (VALUES (0.5), (7.5)) v(x)", [1, 1, 0]),
    "range": ("SELECT r / 2.0 AS x FROM range(4) q(r)", [2, 1, 1]),
    "subquery": ("SELECT x FROM t WHERE x = (SELECT max(s.x) FROM t s WHERE s.x = t.x)", [0, 1, 2]),
}


def write(folder: Path, cell: str) -> None:
    (folder / "v.csv").write_text("x\n" + "0.50\n1.50\n" * 500 + f"{cell}\n")
    pq.write_table(pa.table({"x": [0.5, 1.5]}), folder / "v.parquet")


def database(folder: Path, **views: str) -> Path:
    """A DuckDB file with one table and these views; it is closed."""
    write(folder, "0.50")
    path = folder / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM (VALUES (0.5), (1.5), (1.5)) v(x)")
        connection.execute(f"CREATE VIEW over_file AS SELECT * FROM '{folder}/v.csv'")
        connection.execute(f"CREATE MACRO from_file() AS TABLE SELECT * FROM '{folder}/v.csv'")
        for name, sql in views.items():
            connection.execute(f"CREATE VIEW {name} AS {sql.format(folder=folder)}")
    return path


def by_file(path: Path, name: str) -> Any:
    return dc.connect(path, SCHEMA, name)


def by_connection(path: Path, name: str) -> Any:
    return count_table(duckdb.connect(str(path), read_only=True), name, SCHEMA)


def by_ibis(path: Path, name: str) -> Any:
    import ibis

    return dc.connect(ibis.duckdb.connect(path, read_only=True).table(name), SCHEMA)


WAYS: dict[str, Callable[[Path, str], Any]] = {
    "file": by_file,
    "connection": by_connection,
    "ibis": by_ibis,
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Callable[[Path, str], Any]:
    return WAYS[request.param]


def refusal(way: Callable[[Path, str], Any], path: Path, name: str) -> str:
    with pytest.raises(dc.InputError) as caught:
        way(path, name)
    assert caught.value.__context__ is None
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("view", FILES)
def test_a_view_that_reads_a_file_is_refused(
    view: str, way: Callable[[Path, str], Any], tmp_path: Path
) -> None:
    """Whatever the cells are: one that is no number turned a column of 1,000 numbers into text."""
    path = database(tmp_path, v=FILES[view])
    told = refusal(way, path, "v")
    assert "reads files" in told
    for cell in ("x", '"', "\xff", ""):
        write(tmp_path, cell)
        assert refusal(way, path, "v") == told


@pytest.mark.parametrize("view", TABLES)
def test_a_view_over_tables_is_counted(view: str, way: Callable[[Path, str], Any], tmp_path: Path) -> None:
    sql, expected = TABLES[view]
    assert way(database(tmp_path, v=sql), "v").table(["x"]).tolist() == expected


def test_a_name_is_a_table_and_never_a_file(
    way: Callable[[Path, str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = database(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("v.csv", "v.parquet", str(tmp_path / "v.csv"), "*.csv"):
        assert "\n" not in refusal(way, path, name)


def test_a_name_is_no_variable_of_python(tmp_path: Path) -> None:
    rows = pa.table({"x": [0.5]})
    frame = pd.DataFrame({"x": [0.5, "a"]})
    assert len(rows) < len(frame)
    connection = duckdb.connect()
    for name in ("rows", "frame", "connection"):
        with pytest.raises(dc.InputError, match="no such table"):
            count_table(connection, name, SCHEMA)


def test_the_only_table_is_not_a_view_of_a_file(tmp_path: Path) -> None:
    write(tmp_path, "x")
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE VIEW v AS SELECT * FROM '{tmp_path}/v.csv'")
    with pytest.raises(dc.InputError, match="reads files"):
        dc.connect(path, SCHEMA)


def test_names_of_tables_are_found_as_duckdb_finds_them(tmp_path: Path) -> None:
    path = database(tmp_path)
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            'CREATE SCHEMA ward; CREATE TABLE ward.visits AS FROM t; CREATE TABLE "a.b" AS FROM t'
        )
        connection.execute('CREATE TABLE "q""\'%" AS FROM t')
    for name in ("t", "T", "main.t", "clinic.main.t", "ward.visits", "Ward.Visits", "a.b", "q\"'%"):
        assert dc.connect(path, SCHEMA, name).table(["x"]).tolist() == [0, 1, 2]
    for name in ("ward.t", "visits", "b", "other.main.t", "clinic.ward.main.t", "t; SELECT 1"):
        with pytest.raises(dc.InputError, match="no such table"):
            dc.connect(path, SCHEMA, name)


def test_a_database_file_reads_nothing_else(tmp_path: Path) -> None:
    counts = by_file(database(tmp_path), "t")
    with pytest.raises(duckdb.PermissionException):
        counts._sources[0]._connection.execute(f"SELECT * FROM '{tmp_path}/v.csv'")
    # two sources of one file live side by side, a column that passes by among them
    text = dc.Schema(x=dc.Numeric(0, 2, bins=[1]))
    assert dc.connect(tmp_path / "clinic.duckdb", text, "t").table(["x"]).tolist() == [1, 2]


def test_rows_that_ibis_holds_or_reads_are_refused(tmp_path: Path) -> None:
    import ibis

    write(tmp_path, "0.50")
    backend = ibis.duckdb.connect()
    backend.con.execute("CREATE TABLE t AS SELECT 0.5 AS x")
    with pytest.raises(dc.InputError, match="rows in memory"):
        dc.connect(ibis.memtable({"x": [0.5, 1.5]}), SCHEMA)
    for source in (
        backend.read_csv(tmp_path / "v.csv"),
        backend.read_parquet(tmp_path / "v.parquet"),
        backend.table("t").union(backend.read_csv(tmp_path / "v.csv").cast({"x": "decimal(2, 1)"})),
    ):
        with pytest.raises(dc.InputError, match="reads files"):
            dc.connect(source, SCHEMA)
    assert dc.connect(backend.table("t").filter(ibis._.x < 9), SCHEMA).table(["x"]).tolist() == [0, 1, 0]


def test_text_files_of_spark_are_refused(load_on: Callable[[str], Loader], tmp_path: Path) -> None:
    """A view over a CSV or JSON file has types that were guessed from its cells; Parquet states them."""
    load = load_on("spark")
    write(tmp_path, "0.50")
    (tmp_path / "v.json").write_text('{"x": 0.5}\n{"x": 1.5}\n')
    session = load.backend._session
    session.read.csv(str(tmp_path / "v.csv"), header=True, inferSchema=True).createOrReplaceTempView("of_csv")
    session.read.json(str(tmp_path / "v.json")).createOrReplaceTempView("of_json")
    session.sql("CREATE OR REPLACE TEMPORARY VIEW of_view AS SELECT * FROM of_csv WHERE x < 9")
    load.backend.read_parquet(str(tmp_path / "v.parquet"), table_name="of_both")
    session.sql(
        "CREATE OR REPLACE TEMPORARY VIEW of_subquery AS SELECT * FROM of_both WHERE x IN (SELECT x FROM of_csv)"
    )
    for name in ("of_csv", "of_json", "of_view", "of_subquery"):
        with pytest.raises(dc.InputError, match="reads files"):
            dc.connect(load.backend.table(name), SCHEMA)
    parquet = load.backend.read_parquet(str(tmp_path / "v.parquet"), table_name="of_parquet")
    assert dc.connect(parquet, SCHEMA).table(["x"]).tolist() == [0, 1, 1]
