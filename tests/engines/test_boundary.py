"""What crosses the line between an engine and this process: queries, errors, statements, charges."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpcausal as dc
from dpcausal.cli.app import run
from dpcausal.counts import engine
from dpcausal.counts.duckdb_table import DuckDBTable
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.stream import count_files, count_table
from dpcausal.present.statement import by_bins_words
from engine_tables import Loader

NAMES = ("a", "b", "c", "d")
SCHEMA = dc.Schema({name: dc.Categorical(["no", "yes"]) for name in NAMES})


def chain(n: int = 2000, seed: int = 0) -> pa.Table:
    """a -> b -> c -> d, each copying the last nine times out of ten; one cell is no level."""
    rng = np.random.default_rng(seed)
    last, columns = rng.integers(0, 2, n), {}
    for name in NAMES:
        last = np.where(rng.random(n) < 0.9, last, rng.integers(0, 2, n))
        columns[name] = np.array(["no", "yes"])[last]
    columns["a"] = np.where(np.arange(n) == 7, f"SECRET{seed}", columns["a"])
    return pa.table(columns)


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The SQL of every query that is sent."""
    sent: list[str] = []
    fetch = engine.fetch

    def watched(expression: Any) -> Any:
        import ibis

        sent.append(str(ibis.to_sql(expression)))
        return fetch(expression)

    monkeypatch.setattr(engine, "fetch", watched)
    return sent


def charges(ledger: dc.Ledger) -> list[float]:
    """What the data set was charged, after the entry that opened it."""
    return [float(entry.epsilon) for entry in ledger.log("cohort")[1:]]


@pytest.mark.parametrize("limit", [None, 0])
def test_a_graph_from_an_engine_is_the_graph_from_memory(load: Loader, limit: int | None) -> None:
    """The same seed gives the same noise, and the tables are the same."""
    rows = chain()
    source = load.put(rows)
    options = {"epsilon": 2.0, "delta": 1e-6, "method": "measured", "confidence": 0}
    with dc.testing.seeded(1):
        here = dc.discover(MemoryCounts(dc.read(rows, SCHEMA)), **options)
    with dc.testing.seeded(1):
        there = dc.discover(dc.connect(source, SCHEMA, memory_limit=limit), **options)
    assert there.graph == here.graph
    assert there.privacy.events == here.privacy.events
    assert there.graph.skeleton == {frozenset("ab"), frozenset("bc"), frozenset("cd")}
    with dc.testing.seeded(2):
        test = dc.ci_test(dc.connect(source, SCHEMA, memory_limit=limit), "a", "c", ["b"], epsilon=1.0)
    with dc.testing.seeded(2):
        assert (
            test.pvalue
            == dc.ci_test(MemoryCounts(dc.read(rows, SCHEMA)), "a", "c", ["b"], epsilon=1.0).pvalue
        )


def test_queries_hold_no_value_of_a_row(load_on: Callable[[str], Loader], queries: list[str]) -> None:
    """Tables of other rows get the same queries, letter for letter."""
    load = load_on("duckdb")
    sent = []
    for seed in (1, 2):
        source = load.put(chain(seed=seed))
        dc.discover(dc.connect(source, SCHEMA), epsilon=1.0, delta=1e-6, confidence=0)
        sent.append([query.replace(source.get_name(), "T") for query in queries])
        queries.clear()
    assert sent[0] == sent[1]
    assert len(sent[0]) == 2  # how many rows, and the distinct ones
    assert not any("SECRET" in query for query in sent[0])


def test_covering_tables_share_queries(load_on: Callable[[str], Loader], queries: list[str]) -> None:
    """Six pairs of four columns are one covering table: one GROUP BY; asked again, none."""
    counts = dc.connect(load_on("duckdb").put(chain()), SCHEMA, memory_limit=0)
    pairs = [(a, b) for a in NAMES for b in NAMES if a < b]
    counts.tables(pairs)
    assert sum("GROUP BY" in query for query in queries) == 1
    counts.tables(pairs)
    assert sum("GROUP BY" in query for query in queries) == 1


def test_the_choice_is_public(load_on: Callable[[str], Loader]) -> None:
    """Rows that all repeat and rows that never do are counted in the same way."""
    load = load_on("duckdb")
    schema = dc.Schema(x=dc.Categorical(list(range(5000))), y=dc.Categorical(list(range(5000))))
    same = pa.table({"x": np.zeros(4000, np.int32), "y": np.zeros(4000, np.int32)})
    other = pa.table({"x": np.arange(4000, dtype=np.int32), "y": np.arange(4000, dtype=np.int32)})
    for limit in (10**4, 10**7):
        ways = {dc.connect(load.put(table), schema, memory_limit=limit).compresses for table in (same, other)}
        assert ways == {limit == 10**7}


def test_the_statement_names_the_engine(load: Loader) -> None:
    found = dc.discover(dc.connect(load.put(chain()), SCHEMA), epsilon=1.0, delta=1e-6, confidence=0)
    limits = json.loads(found.privacy.to_json())["limits"]
    names = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "spark": "Spark"}
    told = [limit for limit in limits if names[load.name] in limit]
    assert len(told) == 1
    assert ("whoever operates it can see its rows" in told[0]) == (load.name != "duckdb")
    assert (told[0] in found.summary()) == (load.name != "duckdb")


def test_explain_sends_nothing(load: Loader, queries: list[str]) -> None:
    counts = dc.connect(load.put(chain()), SCHEMA)
    words = counts.explain()
    assert queries == []
    assert words.count("GROUP BY") == 2
    counts.table(["a", "b"])
    assert all(query in words for query in queries)


def test_a_table_that_changes_between_two_queries_is_refused(load_on: Callable[[str], Loader]) -> None:
    load = load_on("duckdb")
    for change in (
        "INSERT INTO {t} SELECT * FROM {t} LIMIT 1",
        "DELETE FROM {t} WHERE a = 'yes'",
        "ALTER TABLE {t} DROP COLUMN b",
        "DROP TABLE {t}",
    ):
        source = load.put(chain())
        counts = dc.connect(source, SCHEMA)
        assert counts.n == 2000
        load.backend.con.execute(change.format(t=source.get_name()))
        with pytest.raises(dc.EngineError, match="nothing was charged") as caught:
            dc.discover(counts, epsilon=1.0, delta=1e-6)
        assert "\n" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_an_update_between_two_tables_is_refused(load_on: Callable[[str], Loader]) -> None:
    """The number of rows stays; the margin of a column that both tables hold does not."""
    load = load_on("duckdb")
    source = load.put(chain())
    counts = dc.connect(source, SCHEMA, memory_limit=0)
    counts.table(["a", "b"])
    load.backend.con.execute(f"UPDATE {source.get_name()} SET b = 'no'")
    with pytest.raises(dc.EngineError, match="was changed"):
        counts.table(["b", "c"])


def failing(monkeypatch: pytest.MonkeyPatch, when: int, times: int = 1) -> list[int]:
    """Let some queries fail as if the engine had gone; return the numbers of those that were sent."""
    sent: list[int] = []
    fetch, waits = engine.fetch, (0.0, 0.0, 0.0)

    def broken(expression: Any) -> Any:
        sent.append(len(sent))
        if when <= sent[-1] < when + times:
            raise ConnectionResetError("server closed the connection: row ('SECRET7', 'no')")
        return fetch(expression)

    monkeypatch.setattr(engine, "fetch", broken)
    monkeypatch.setattr(engine, "RETRY_SECONDS", waits)
    return sent


def test_a_lost_connection_is_tried_again_and_charged_once(
    load_on: Callable[[str], Loader], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = load_on("duckdb").put(chain())
    ledger = dc.Ledger.open(f"sqlite:///{tmp_path}/budget.db", create=True)
    ledger.create("cohort", 3.0, 1e-5)
    counts = dc.connect(source, SCHEMA)
    sent = failing(monkeypatch, when=1, times=2)
    monkeypatch.setattr(counts, "_answers", lambda: False)
    with dc.testing.seeded(1):
        found = dc.discover(counts, epsilon=1.0, delta=1e-6, ledger=ledger, dataset="cohort", confidence=0)
    assert len(sent) == 4  # the number of rows, and distinct rows at the third attempt
    assert charges(ledger) == [1.0]
    monkeypatch.undo()
    with dc.testing.seeded(1):
        calm = dc.discover(dc.connect(source, SCHEMA), epsilon=1.0, delta=1e-6, confidence=0)
    assert calm.graph == found.graph
    assert calm.privacy.events == found.privacy.events  # nothing more was drawn or charged


def test_an_engine_that_stays_away_is_one_line(
    load_on: Callable[[str], Loader], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = load_on("duckdb").put(chain())
    ledger = dc.Ledger.open(f"sqlite:///{tmp_path}/budget.db", create=True)
    ledger.create("cohort", 3.0, 1e-5)
    counts = dc.connect(source, SCHEMA)
    failing(monkeypatch, when=1, times=99)
    monkeypatch.setattr(counts, "_answers", lambda: False)
    with pytest.raises(dc.EngineError) as caught:
        dc.discover(counts, epsilon=1.0, delta=1e-6, ledger=ledger, dataset="cohort", confidence=0)
    assert str(caught.value) == "DuckDB stopped answering; nothing was charged"
    earlier = caught.value.__context__  # our own line, and behind it nothing of the engine's
    assert isinstance(earlier, dc.EngineError)
    assert earlier.__context__ is None
    assert charges(ledger) == []


def test_a_query_that_fails_half_way_has_been_charged_and_says_so(
    load_on: Callable[[str], Loader], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """svt-pc on covering tables asks query after query; the first is answered and paid for, a later one fails."""
    source = load_on("duckdb").put(chain())
    ledger = dc.Ledger.open(f"sqlite:///{tmp_path}/budget.db", create=True)
    ledger.create("cohort", 3.0, 1e-5)
    counts = dc.connect(source, SCHEMA, memory_limit=0)
    failing(monkeypatch, when=2, times=99)
    with pytest.raises(dc.EngineError, match="stays charged") as caught:
        dc.discover(counts, epsilon=2.0, method="tests", ledger=ledger, dataset="cohort", anyway=True)
    assert "SECRET" not in str(caught.value)
    assert charges(ledger) == [2.0]


def test_a_view_that_fails_says_nothing_of_its_cells(load_on: Callable[[str], Loader]) -> None:
    load = load_on("duckdb")
    load.backend.con.execute(
        "CREATE OR REPLACE VIEW bad AS SELECT CAST(a AS INTEGER) AS a FROM (VALUES ('S3CRET')) t(a)"
    )
    counts = dc.connect(load.backend.table("bad"), dc.Schema(a=dc.Categorical([0, 1])))
    with pytest.raises(dc.EngineError, match="view or cast") as caught:
        counts.table(["a"])
    assert "S3CRET" not in str(caught.value)
    assert caught.value.__context__ is None


# ---- the command line and bad input


@pytest.fixture
def schema_file(tmp_path: Path) -> Path:
    SCHEMA.write(tmp_path / "schema.toml")
    return tmp_path / "schema.toml"


@pytest.fixture
def database(tmp_path: Path) -> str:
    import duckdb

    rows = chain()
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.register("rows", rows)
        connection.execute("CREATE TABLE patients AS SELECT * FROM rows")
    return f"duckdb:///{tmp_path}/clinic.duckdb"


def test_discover_from_a_table_of_duckdb(
    database: str, schema_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--source", database, "--table", "patients", "--schema", str(schema_file)]
    budget = ["--epsilon", "2", "--delta", "1e-6"]
    assert run(["discover", *place, *budget, "--out", str(tmp_path / "out")]) == 0
    assert "a - b" in capsys.readouterr().out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "clinic.duckdb --table patients" in page
    assert run(["test", *place, "--x", "a", "--y", "b", "--epsilon", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["independent"] is False


def test_plan_and_effect_from_a_table_of_duckdb(
    database: str, schema_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--source", database, "--table", "patients", "--schema", str(schema_file), "--epsilon", "1"]
    assert run(["plan", *place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 2000
    assert run(["plan", *place, "--neighbours", "add-remove"]) == 2
    assert "the number of rows is protected" in capsys.readouterr().err
    assert run(["effect", *place, "--treatment", "a", "--outcome", "b", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["estimate"] > 0.5


def test_explain_on_the_command_line(
    database: str, schema_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--source", database, "--table", "patients", "--schema", str(schema_file)]
    assert run(["discover", *place, "--epsilon", "1", "--out", str(tmp_path / "out"), "--explain"]) == 0
    assert "-- rows pass by" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


def test_explain_needs_no_budget_and_no_place_to_write(
    database: str, schema_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing runs, so nothing of what a run needs is asked for; not even rows are counted."""
    monkeypatch.setattr(DuckDBTable, "count_rows", lambda self: pytest.fail("a query was run"))
    monkeypatch.setattr(DuckDBTable, "chunks", lambda self, *_: pytest.fail("a query was run"))
    place = ["--source", database, "--table", "patients", "--schema", str(schema_file), "--explain"]
    assert run(["discover", *place]) == 0
    said = capsys.readouterr().out
    assert said.count("FROM") == 2
    assert "SECRET" not in said
    assert run(["test", *place, "--x", "a", "--y", "b"]) == 0
    assert capsys.readouterr().out == said
    assert run(["plan", *place, "--epsilon", "1"]) == 0
    assert "SELECT count(*)" in capsys.readouterr().out
    assert run(["discover", *place[:-1], "--epsilon", "1"]) == 2
    assert capsys.readouterr().err == "dpcausal: Missing option '--out'.\n"


def test_a_duckdb_file_is_opened_as_a_file(
    database: str, schema_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Named as a file, with its table or, where it holds one, without; its tables are named where it holds more."""
    import duckdb

    path = tmp_path / "clinic.duckdb"
    expected = dc.connect(database, SCHEMA, "patients").table(["a", "b"]).tolist()
    assert dc.connect(path, SCHEMA, table="patients").table(["a", "b"]).tolist() == expected
    assert dc.connect(str(path), SCHEMA).table(["a", "b"]).tolist() == expected
    words = ["--schema", str(schema_file), "--x", "a", "--y", "b", "--epsilon", "1", "--json"]
    for place in ([str(path)], [str(path), "--table", "patients"], ["--source", str(path)]):
        assert run(["test", *place, *words]) == 0
        assert json.loads(capsys.readouterr().out)["independent"] is False
    out = tmp_path / "out"
    asked = ["discover", str(path), "--table", "patients", "--schema", str(schema_file), "--epsilon", "2"]
    assert run([*asked, "--delta", "1e-6", "--out", str(out)]) == 0
    assert "dpcausal discover clinic.duckdb --table patients" in (out / "report.html").read_text()
    more = tmp_path / "more.db"  # known by its first bytes
    with duckdb.connect(str(more)) as connection:
        connection.register("rows", chain(50))
        connection.execute("CREATE TABLE patients AS SELECT * FROM rows")
        connection.execute("CREATE SCHEMA ward")
        connection.execute("CREATE TABLE ward.visits AS SELECT * FROM rows LIMIT 40")
    assert dc.connect(more, SCHEMA, "ward.visits").n == 40
    assert run(["test", str(more), *words]) == 2
    said = capsys.readouterr().err
    assert said.endswith("name a table of it (table=, --table): patients, ward.visits\n")
    with pytest.raises(dc.InputError, match=r"none\.duckdb"):
        dc.connect(tmp_path / "none.duckdb", SCHEMA, "patients")


def test_every_type_of_a_duckdb_table_is_coded_as_memory_does() -> None:
    """Decimals, dates, times, enumerations and numbers as text, too, and a value that no float holds."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(
        """CREATE TABLE t AS SELECT * FROM (VALUES
        (1.50::DECIMAL(9, 2), DATE '2020-01-01', TIMESTAMP '2020-01-01 12:30:00', 'a'::ENUM('a', 'b'),
        '1e400', 1, 2.5::DOUBLE),
        (0.10, '1969-12-31', 'infinity', 'b', ' 7.5 ', 3, 'nan'),
        (NULL, '-infinity', '2020-01-01', NULL, '12 kg', 170141183460469231731687303715884105727::HUGEINT, NULL))
        v(d, day, moment, e, t, h, f)"""
    )
    connection.execute("SET TimeZone = 'America/New_York'")
    connection.execute("CREATE TABLE rows AS SELECT *, TIMESTAMPTZ '2020-01-01 00:00:00+00' AS z FROM t")
    schema = dc.Schema(
        d=dc.Numeric(0, 2, bins=[0.1, 1.5]),
        day=dc.Categorical(["x", "2020-01-01"]),
        moment=dc.Categorical(["x", "2020-01-01T12:30:00", "2020-01-01"]),
        e=dc.Categorical(["b", "a"]),
        t=dc.Numeric(0, 10, bins=[5, 9], other=5),
        h=dc.Categorical([0, 1, 3]),
        f=dc.Numeric(0, 10, bins=[1], missing_level=True),
        z=dc.Categorical(["x", "2020-01-01Z"]),
    )
    counts = count_table(connection, "rows", schema)
    assert [counts.table([name]).tolist() for name in schema] == [
        [1, 1, 1],  # NULL is other, the lower bound
        [2, 1],
        [1, 1, 1],
        [2, 1],
        [0, 2, 1],  # '12 kg' is other; 1e400 is the upper bound
        [1, 1, 1],
        [0, 1, 2],
        [0, 3],
    ]
    assert sum(len(batch["t"]) for batch in counts._values()) == 3
    connection.execute("CREATE TABLE nested AS SELECT [1] AS d")
    with pytest.raises(dc.InputError, match=r"INTEGER\[\]"):
        count_table(connection, "nested", dc.Schema(d=dc.Categorical([1])))


def test_a_file_that_changes_after_it_was_opened_is_refused(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    pq.write_table(chain(), path)
    counts = dc.connect(path, SCHEMA)
    pq.write_table(chain(300), path)
    with pytest.raises(dc.EngineError, match="was changed") as caught:
        dc.discover(counts, epsilon=2.0, delta=1e-6)
    assert str(caught.value).endswith("; nothing was charged")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--source", "duckdb:///none.duckdb", "--table", "t"], "none.duckdb: no such file"),
        (["--source", "{database}", "--table", "t"], "no such table"),
        (["--source", "postgresql://me:hunter2@h/d"], "name one (table=, --table)"),
        (["--source", "oracle://me:hunter2@h/d", "--table", "t"], "no engine is called 'oracle'"),
        (["--source", "postgresql://me:hunter2@127.0.0.1:1/d", "--table", "t"], "can't be reached"),
        (["rows.csv", "--table", "t"], "--table goes with --source or a .duckdb file"),
        (["rows.csv", "--source", "{database}", "--table", "patients"], "not both"),
        ([], "name a file with the rows, or --source URL and --table T"),
    ],
)
def test_bad_sources_are_one_line(
    words: list[str], told: str, database: str, schema_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ibis")
    given = [word.format(database=database) for word in words]
    code = run(["test", *given, "--schema", str(schema_file), "--x", "a", "--y", "b", "--epsilon", "1"])
    said = capsys.readouterr().err
    assert code == 2
    assert told in said
    assert said.count("\n") == 1
    assert "hunter2" not in said


@pytest.mark.parametrize("memory", [10**12, 1000])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_option_and_not_the_size_of_a_file_decides_where_it_is_counted(
    suffix: str,
    memory: int,
    schema_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A test on values answers for a file and refuses one after ``--source``, however small memory is beside it."""
    from pyarrow import csv

    (csv.write_csv if suffix == ".csv" else pq.write_table)(chain(), file := tmp_path / f"rows{suffix}")
    monkeypatch.setattr("dpcausal.counts.stream.memory_share", lambda: memory)
    words = ["--schema", str(schema_file), "--x", "a", "--y", "b", "--given", "c", "--method", "gcm"]
    asked = [*words, "--epsilon", "1", "--neighbours", "add-remove"]
    assert run(["test", str(file), *asked]) == 0
    assert capsys.readouterr().err.count("DuckDB") == 0
    assert run(["test", "--source", str(file), *asked]) == 2
    capsys.readouterr()
    on_tables = ["--schema", str(schema_file), "--x", "a", "--y", "b", "--epsilon", "1"]
    assert run(["test", "--source", str(file), *on_tables]) == 0


def test_a_report_says_how_a_file_after_source_was_counted(schema_file: Path, tmp_path: Path) -> None:
    from pyarrow import csv

    csv.write_csv(chain(), file := tmp_path / "rows.csv")
    words = ["--schema", str(schema_file), "--epsilon", "1", "--out", str(tmp_path / "out")]
    assert run(["discover", "--source", str(file), *words]) == 0
    report = (tmp_path / "out" / "report.html").read_text()
    assert "discover --source rows.csv" in report
    assert "dc.connect(" in report


def test_connect_refuses_what_is_no_source() -> None:
    with pytest.raises(dc.InputError, match="in memory"):
        dc.connect({"a": [1]}, SCHEMA)
    with pytest.raises(dc.InputError, match="leave table out"):
        dc.connect("rows.csv", SCHEMA, "t")
    with pytest.raises(dc.InputError, match="Schema"):
        dc.connect("rows.csv", {})  # type: ignore[arg-type]


def test_a_test_on_values_says_what_to_do(load_on: Callable[[str], Loader]) -> None:
    counts = dc.connect(load_on("duckdb").put(chain()), SCHEMA)
    with pytest.raises(dc.InputError, match=r"tables .*dc\.read"):
        dc.ci_test(counts, "a", "b", ["c"], epsilon=1.0, method="gcm")


def test_a_rank_test_says_that_numbers_count_by_their_bins(tmp_path: Path) -> None:
    """On counts kendall has no values to rank: it answers by bins, says so, and says what brings the numbers."""
    rng = np.random.default_rng(1)
    rows = pa.table({"x": rng.normal(size=500), "y": rng.normal(size=500), "z": ["no", "yes"] * 250})
    schema = dc.Schema(x=dc.Numeric(-3, 3), y=dc.Numeric(-3, 3), z=dc.Categorical(["no", "yes"]))
    from pyarrow import csv

    csv.write_csv(rows, tmp_path / "rows.csv")
    there = dc.connect(tmp_path / "rows.csv", schema)
    found = dc.ci_test(there, "x", "y", epsilon=1.0, method="kendall")
    words = by_bins_words(["x", "y"])
    assert words in found.summary()
    assert words in found.summary(full=True)
    assert found.to_dict()["facts"]["by_bins"] == ["x", "y"]
    one = dc.ci_test(there, "x", "z", epsilon=1.0, method="kendall")
    assert "x counts by its declared bins" in one.summary()
    for silent in (
        dc.ci_test(dc.read(rows, schema), "x", "y", epsilon=1.0, method="kendall"),
        dc.ci_test(there, "x", "y", epsilon=1.0, method="kendall", on="table"),
        dc.ci_test(there, "x", "y", epsilon=1.0, method="measured"),
    ):
        assert silent.by_bins == ()
        assert "declared bins; dc.read" not in silent.summary()


def test_a_file_counted_out_of_core_has_a_bar_by_shares(database: str, tmp_path: Path) -> None:
    """Of a file and of a table that passes by: what was ticked comes to the whole, and no number of rows shows."""
    import pyarrow.parquet as pq

    pq.write_table(chain(), tmp_path / "rows.parquet", row_group_size=300)
    numbers = dc.Schema({**SCHEMA, "a": dc.Numeric(0, 1)})
    sources = [
        (dc.connect(tmp_path / "rows.parquet", SCHEMA), "reading rows.parquet"),
        (dc.connect(database, numbers, "patients"), "reading patients"),  # text as numbers
    ]
    for counts, what in sources:
        shown: list[tuple[str, float | None]] = []
        done: list[float] = []

        @contextmanager
        def stage(
            name: str,
            total: float | None,
            shown: list[tuple[str, float | None]] = shown,
            done: list[float] = done,
        ) -> Iterator[Callable[[float], None]]:
            shown.append((name, total))
            yield done.append

        counts.stage = stage
        counts.table(["a", "b"])
        assert shown == [(what, 1.0)]
        assert sum(done) == pytest.approx(1.0)


@pytest.mark.parametrize("of", ["engine", "file"])
def test_progress_shows_nothing_of_protected_rows(
    of: str, load_on: Callable[[str], Loader], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row more, and distinct rows are no longer brought here, or a bar has another step: only where n is public."""
    import pyarrow.parquet as pq

    shown: list[tuple[str, float | None]] = []

    @contextmanager
    def stages(show: bool) -> Iterator[Any]:
        @contextmanager
        def stage(name: str, total: float | None) -> Iterator[Callable[[float], None]]:
            shown.append((name.split(" (")[0], total))  # without the remark that a kernel is being compiled
            yield lambda done: shown.append(("done", done))

        yield stage

    monkeypatch.setattr("dpcausal.discovery.discover.stages", stages)
    seen: dict[tuple[str, int], list[tuple[str, float | None]]] = {}
    schema = dc.Schema({name: dc.Categorical(["no", "yes", *"abcdefgh"]) for name in NAMES})
    for neighbours in ("replace-one", "add-remove"):
        for n in (2000, 2001):
            if of == "engine":
                source: Any = load_on("duckdb").put(chain(n))
                counts: Any = dc.connect(source, schema, memory_limit=2000 * (24 + 2 * 4 + 8))
            else:
                pq.write_table(chain(n), tmp_path / "rows.parquet", row_group_size=1000)
                counts = count_files(tmp_path / "rows.parquet", schema, threads=1)
            dc.discover(
                counts,
                epsilon=2.0,
                delta=1e-6,
                method="measured",
                confidence=0,
                neighbours=neighbours,
                progress=True,
                anyway=True,
            )
            seen[neighbours, n] = list(shown)
            shown.clear()
    assert seen["replace-one", 2000] != seen["replace-one", 2001]
    assert seen["add-remove", 2000] == seen["add-remove", 2001]
    assert len(seen["add-remove", 2000]) > 0
