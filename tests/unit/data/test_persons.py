"""Which rows are whose, and which are used: by spelling, by order, by chance, and from every kind of source."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet
from scipy import stats

import dpcausal as dc
from dpcausal.core.statement import PERSONS, PersonRows
from dpcausal.counts.memory import counts_of
from dpcausal.counts.protocol import entries_of, tables_of_entries
from dpcausal.data.file_format import decode_bytes
from dpcausal.data.person_unit import PersonUnit
from dpcausal.data.persons import person_of

pytestmark = pytest.mark.filterwarnings("ignore::dpcausal.ColumnsIgnored")
SCHEMA = dc.Schema(smoke=dc.Categorical(["no", "yes"]), age=dc.Numeric(0, 110, bins=[40, 60]))
VISITS = {
    "pid": ["p1", " P1", "p1 ", "2", "02", "3", "", "NA", None],
    "smoke": ["no", "yes", "no", "yes", "no", "yes", "yes", "no", "yes"],
    "age": [10, 20, 30, 40, 50, 60, 70, 80, 90],
    "visit": ["1", "3", "2", "x", "10", "9", "1", "2", "3"],
}


@pytest.mark.parametrize(
    "spellings",
    [
        ["p1", " P1", "p1\t", "P\u20051", "p1\u200b", b"p1", "\uff501"],  # full width, thin space, no width
        ["7", "07", "+7", "7.0", "7.", 7, 7.0, " 7 ", "７"],
        ["-7", "-7.0", -7, -7.0],
        ["Müller", "mu\u0308ller", "MÜLLER", "Müller".encode("latin-1")],
        ["straße", "STRASSE"],
        [
            "\u0390",
            "\u03aa\u0301",
            "\u0399\u0308\u0301",
        ],  # an iota with two accents, of which there is no capital
        [1e22, 10**22, "10000000000000000000000.0"],
    ],
)
def test_spellings_of_an_id_are_one_person(spellings: list[Any]) -> None:
    assert len({person_of(one) for one in spellings}) == 1
    assert person_of(spellings[0]) is not None


@pytest.mark.parametrize(
    "cell", [None, "", "  ", "NA", "n/a", "NaN", float("nan"), ".", "Unknown", "not known", b""]
)
def test_a_cell_without_an_id_names_nobody(cell: Any) -> None:
    assert person_of(cell) is None


def test_different_ids_are_different_persons() -> None:
    ids = ["1", "10", "100", "1.5", "a", "b", "a1", "1a", "-1", "0", "1e2"]
    assert len({person_of(one) for one in ids}) == len(ids)


@pytest.mark.parametrize(
    ("order_by", "ages"),
    [("first", {10, 40, 60}), ("last", {30, 50, 60}), ("age", {30, 50, 60}), ("visit", {20, 40, 60})],
)
def test_the_row_that_the_order_says_is_taken(order_by: str, ages: set[int]) -> None:
    """Of an undeclared column, texts that are no number come last: they are the largest."""
    data = dc.read(VISITS, SCHEMA, unit="pid", order_by=order_by)
    assert data.n == 3
    assert set(data.values["age"].tolist()) == ages


@pytest.mark.parametrize("missing", ["NA", "n/a", " ", ".", "unknown", "NaN", None])
def test_an_order_that_reads_as_missing_comes_last(missing: str | None) -> None:
    rows = {"pid": [1, 1, 1], "age": [10, 20, 30], "smoke": ["no"] * 3, "visit": ["9", "10", missing]}
    data = dc.read(rows, SCHEMA, unit="pid", order_by="visit")
    assert data.values["age"].tolist() == [20]


def _sources(folder: Path) -> dict[str, Any]:
    table = pa.table({**VISITS, "age": pa.array(VISITS["age"], pa.float64())})
    frame = table.to_pandas()
    frame.to_csv(folder / "visits.csv", index=False)
    parquet.write_table(table, folder / "visits.parquet", row_group_size=2)
    feather.write_feather(table, folder / "visits.feather")
    frame.to_excel(folder / "visits.xlsx", index=False)
    return {
        "dict": VISITS,
        "pandas": frame,
        "categories": frame.assign(pid=frame.pid.astype("category")),
        "polars": pl.DataFrame(VISITS, strict=False),
        "lazy": pl.DataFrame(VISITS, strict=False).lazy(),
        "polars categories": pl.DataFrame(VISITS, strict=False).with_columns(
            pl.col("pid").cast(pl.Categorical)
        ),
        "table": table,
        "reader": table.to_reader(max_chunksize=2),
        "csv": folder / "visits.csv",
        "parquet": folder / "visits.parquet",
        "feather": folder / "visits.feather",
        "xlsx": folder / "visits.xlsx",
    }


@pytest.mark.parametrize(
    "kind",
    ["dict", "pandas", "categories", "polars", "lazy", "polars categories", "table", "reader", "csv", "parquet",
     "feather", "xlsx"],
)  # fmt: skip
def test_every_source_gives_the_same_rows(kind: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.ColumnsIgnored)
        data = dc.read(_sources(tmp_path)[kind], SCHEMA, unit="pid", order_by="last")
    assert sorted(data.values["age"].tolist()) == [30, 50, 60]


def test_rows_of_one_person_in_two_files_are_one_unit(tmp_path: Path) -> None:
    table = pa.table({**VISITS, "age": pa.array(VISITS["age"], pa.float64())})
    parquet.write_table(table.slice(0, 2), tmp_path / "a.parquet")
    parquet.write_table(table.slice(2), tmp_path / "b.parquet")
    counts = dc.connect(str(tmp_path / "*.parquet"), SCHEMA, unit="pid", order_by="last")
    assert counts.n == 3
    assert counts.table(["age"]).tolist() == [1, 1, 1]


def test_persons_are_the_same_in_whatever_order_files_have_them(tmp_path: Path) -> None:
    for name, pid, age in (("a", ["q"], [10.0]), ("b", ["p1", "q"], [70.0, 50.0])):
        parquet.write_table(
            pa.table({"pid": pid, "smoke": ["no"] * len(pid), "age": age}), tmp_path / f"{name}.parquet"
        )
    counts = dc.connect(str(tmp_path / "*.parquet"), SCHEMA, unit="pid", order_by="first")
    assert counts.table(["age"]).tolist() == [1, 0, 1]


def test_a_table_of_duckdb_is_loaded_before_rows_are_chosen(tmp_path: Path) -> None:
    """A view may give its rows in another order the next time: a person must not have two of them then."""
    with duckdb.connect(tmp_path / "clinic.duckdb") as database:
        database.execute(
            "CREATE TABLE v AS SELECT range // 4 AS pid, range AS age, 'yes' AS smoke FROM range(400)"
        )
        database.execute("CREATE VIEW shuffled AS SELECT * FROM v ORDER BY random()")
    schema = dc.Schema(smoke=SCHEMA["smoke"], age=dc.Numeric(0, 400, bins=list(range(4, 400, 4))))
    counts = dc.connect(tmp_path / "clinic.duckdb", schema, "shuffled", unit="pid")
    assert counts.n == 100
    assert counts.table(["age"]).tolist() == [1] * 100


def test_chance_gives_every_row_of_a_person_the_same_share() -> None:
    """Failure probability 1e-6 for each of the two tests."""
    people = 4000
    rows = {
        "pid": np.repeat(np.arange(people), 4),
        "age": np.tile([10.0, 20, 30, 40], people),
        "smoke": ["no"] * 4 * people,
    }
    with dc.testing.seeded(5):
        data = dc.read(rows, SCHEMA, unit="pid")
    times = Counter(data.values["age"].tolist())
    assert stats.chisquare([times[age] for age in (10, 20, 30, 40)]).pvalue > 1e-6
    with dc.testing.seeded(6):
        again = dc.read(rows, SCHEMA, unit="pid")
    alike = int((np.sort(again.values["age"]) == np.sort(data.values["age"])).sum())
    assert alike < people  # drawn anew


def test_persons_do_not_keep_the_order_of_the_file() -> None:
    """The law of their order must not depend on where a person's rows are; by chance this fails once in 40!."""
    rows = {"pid": np.arange(40), "age": np.arange(40.0), "smoke": ["no"] * 40}
    assert dc.read(rows, SCHEMA, unit="pid").values["age"].tolist() != sorted(rows["age"].tolist())


def test_the_order_of_persons_is_drawn_and_says_nothing_of_the_number_of_rows() -> None:
    """Persons with many rows have no earlier place: their mean place is within six standard errors of the middle."""
    people = 3000
    many = np.arange(people) % 2 == 0
    pid = np.repeat(np.arange(people), np.where(many, 9, 1))
    rows = {"pid": pid, "age": np.where(many[pid], 90.0, 10.0), "smoke": ["no"] * len(pid)}
    with dc.testing.seeded(7):
        data = dc.read(rows, SCHEMA, unit="pid")
    places = np.flatnonzero(data.values["age"] == 90)
    error = people / np.sqrt(12 * len(places)) / np.sqrt(2)
    assert abs(places.mean() - (people - 1) / 2) < 6 * error


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_neighbours_by_persons_differ_in_one_entry(data: st.DataObject) -> None:
    """Whatever rows a person has, wherever they are, and however the id is spelled: the others' entries stay."""
    spelled = [lambda i: str(i), lambda i: f" {i}", lambda i: f"0{i}", lambda i: f"{i}.0"]
    row = st.tuples(st.integers(1, 5), st.integers(0, 3), st.integers(0, 99))

    def table(rows: list[tuple[int, int, int]]) -> dict[str, list[Any]]:
        return {
            "pid": [spelled[how](who) for who, how, _ in rows],
            "age": [age for _, _, age in rows],
            "smoke": ["no"] * len(rows),
        }

    others = data.draw(st.lists(row.filter(lambda one: one[0] != 1), min_size=1, max_size=12))
    mine = [data.draw(st.lists(row, min_size=1, max_size=6)) for _ in range(2)]
    mixed = []
    for rows in mine:
        places = sorted(
            data.draw(st.lists(st.integers(0, len(others)), min_size=len(rows), max_size=len(rows)))
        )
        whole = list(others)
        for place, (_, how, age) in reversed(list(zip(places, rows, strict=True))):
            whole.insert(place, (1, how, age))
        mixed.append(whole)
    order_by, rows = data.draw(st.sampled_from(["first", "last", "age"])), data.draw(st.integers(1, 3))
    one, two = (
        dc.read(table(rows_), SCHEMA, unit="pid", order_by=order_by, rows_per_unit=rows) for rows_ in mixed
    )
    assert one.n == two.n
    moved = Counter(one.values["age"].tolist())
    moved.subtract(two.values["age"].tolist())
    assert sum(map(abs, moved.values())) <= 2
    tables = [
        tables_of_entries(counts_of(found), [["age"]])[0] / entries_of(counts_of(found))
        for found in (one, two)
    ]
    assert tables[0].sum() == pytest.approx(one.n)
    assert np.abs(tables[0] - tables[1]).sum() <= 2 + 1e-9


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_every_person_weighs_the_same(rows: int) -> None:
    data = dc.read(VISITS, SCHEMA, unit="pid", rows_per_unit=rows)
    counts = counts_of(data)
    assert (data.n, entries_of(counts)) == (3, rows)
    (table,) = tables_of_entries(counts, [["age"]])
    assert table.sum() == 3 * rows
    assert table[2] == rows  # the person with one row, in all entries
    if rows >= 3:  # all three rows of p1, one of 2's two more often where rows is odd
        assert table[0] == rows


def test_a_statement_is_about_persons() -> None:
    rows = {key: list(itertools.chain.from_iterable([values[:6]] * 50)) for key, values in VISITS.items()}
    rows["pid"] = [f"{pid}-{i // 6}" for i, pid in enumerate(rows["pid"])]
    data = dc.read(rows, SCHEMA, unit="pid", order_by="visit")
    with dc.testing.seeded(1):
        result = dc.ci_test(data, "smoke", "age", epsilon=1.0, anyway=True)
    assert result.privacy.unit == PersonRows(1, "visit")
    assert PERSONS in result.privacy.public
    assert "pid" not in result.privacy.to_json()
    assert dc.PrivacyStatement.from_json(result.privacy.to_json()) == result.privacy


def test_what_is_weak_or_not_private_is_about_persons_too() -> None:
    rows = {"pid": [*range(1000), 0], "x": ["a", "b"] * 500 + ["b"], "y": ["a", "b", "b", "a"] * 250 + ["a"]}
    schema = dc.Schema(x=dc.Categorical(["a", "b"]), y=dc.Categorical(["a", "b"]))
    data = dc.read(rows, schema, unit="pid")
    weak = dc.ci_test(data, "x", "y", method="measured", epsilon=5.0)
    assert "at 5 one person may make a result 148 times as likely" in str(weak)
    with dc.testing.seeded(0):
        graph = dc.discover(data, method="measured", epsilon=1.0, delta=0.5)
    assert "number of persons (1,000): it allows releasing all rows of a person" in str(graph)
    for exact in (
        dc.ci_test(data, "x", "y", method="chi2", epsilon=None),
        dc.effect(data, "x", "y", adjust=[], epsilon=None),
    ):
        assert "ids are different persons" in str(exact)
        assert exact.privacy.unit == PersonRows()


def test_the_unit_travels_with_the_schema(tmp_path: Path) -> None:
    schema = SCHEMA.with_unit("pid", 2, "visit")
    assert schema.unit == PersonUnit("pid", 2, "visit")
    assert dc.Schema.from_toml_string(schema.to_toml()) == schema
    for other in (schema.select(["age"]), schema.with_bins("age", [50]), schema.with_format(decimal=",")):
        assert other.unit == schema.unit
    assert schema != SCHEMA
    assert schema.with_unit(None, 1).unit == PersonUnit("pid", 1, "visit")


@pytest.mark.parametrize(
    "bad",
    [
        {"unit": "nobody"},
        {"unit": "age"},
        {"order_by": "visit"},
        {"rows_per_unit": 2},
        {"unit": "pid", "rows_per_unit": 0},
        {"unit": "pid", "rows_per_unit": 1.5},
        {"unit": "pid", "rows_per_unit": True},
        {"unit": "pid", "order_by": "pid"},
        {"unit": "pid", "order_by": "when"},
        {"unit": ""},
    ],
)
def test_a_unit_that_can_not_be_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(dc.SchemaError):
        dc.read(VISITS, SCHEMA, **bad)


@pytest.mark.parametrize(
    "toml",
    ["[unit]\nrows = 1\n", '[unit]\ncolumn = "age"\n', '[unit]\ncolumn = "pid"\nrow = 1\n', "unit = 3\n",
     "[unit]\ncolumn = 3\n"],
)  # fmt: skip
def test_a_wrong_table_of_a_schema_file_is_named_with_its_line(toml: str) -> None:
    text = toml + SCHEMA.to_toml()
    with pytest.raises(dc.SchemaError, match=r"^schema:1: "):
        dc.Schema.from_toml_string(text)


def test_a_place_in_the_file_and_a_column_of_that_name_are_not_confused() -> None:
    with pytest.raises(dc.InputError, match="rename"):
        dc.read({**VISITS, "last": VISITS["age"]}, SCHEMA, unit="pid", order_by="last")


def test_a_column_named_like_an_id_is_spoken_of_where_no_unit_is_declared() -> None:
    rows = {name: VISITS[name] for name in ("pid", "smoke", "age")}
    with pytest.warns(dc.UnitNotDeclared, match="pid") as seen:
        dc.read(rows, SCHEMA)
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", dc.UnitNotDeclared)
        dc.read(rows, SCHEMA, unit="pid")


def test_no_id_at_all_is_no_rows() -> None:
    with pytest.raises(dc.InputError, match="no rows"):
        dc.read({**VISITS, "pid": [None] * 9}, SCHEMA, unit="pid")


@pytest.mark.parametrize("kind", ["ids of objects", "nanoseconds", "bytes that are no text", "decimals"])
def test_no_cell_of_an_id_or_an_order_is_an_error(kind: str) -> None:
    n = 4
    odd: dict[str, tuple[Any, Any]] = {
        "ids of objects": (pd.Series([1, "1", (2, 3), None], dtype=object), [1, 2, 3, 4]),
        "nanoseconds": (["a"] * n, pa.array([1, 2, 3, None], pa.timestamp("ns"))),
        "bytes that are no text": (
            pa.array([b"\xff", b"\xff\xfe", b"a", None]),
            pa.array([b"\xff", b"1", b"", None]),
        ),
        "decimals": (
            pa.array([1, 2, 3, None], pa.decimal128(38, 3)),
            pa.array([1, 2, 3, None], pa.decimal256(60, 3)),
        ),
    }
    pid, visit = odd[kind]
    rows = {"pid": pid, "visit": visit, "age": [1.0] * n, "smoke": ["no"] * n}
    assert dc.read(rows, SCHEMA, unit="pid", order_by="visit").n >= 1


def test_an_outcome_that_is_made_of_two_columns_is_still_about_persons() -> None:
    schema = dc.Schema(
        arm=dc.Categorical(["a", "b"]), died=dc.Categorical(["no", "yes"]), t=dc.Numeric(0, 10)
    )
    n = 900
    rows = {
        "arm": ["a", "b", "b"] * (n // 3),
        "died": ["no", "yes"] * (n // 2),
        "t": np.arange(n) % 10,
        "pid": np.arange(n) // 2,
    }
    data = dc.read(rows, schema, unit="pid")
    with dc.testing.seeded(1):
        found = dc.effect(
            data, "arm", dc.Survival("t", "died", horizon=5.0), adjust=[], epsilon=3.0, anyway=True
        )
    assert found.privacy.unit == PersonRows()


def test_counts_that_are_cut_anew_keep_all_entries_of_a_person(tmp_path: Path) -> None:
    pd.DataFrame(VISITS).to_csv(tmp_path / "visits.csv", index=False)
    counts = dc.connect(tmp_path / "visits.csv", SCHEMA, unit="pid", rows_per_unit=3)
    cut = counts.with_bins("age", [25])
    (ages,) = tables_of_entries(cut, [["age"]])
    assert (entries_of(cut), ages.tolist()) == (3, [2, 7])  # p1: 10, 20 and 30; no other is below 25


def test_an_id_that_is_no_utf8_is_one_person_however_its_file_is_read(tmp_path: Path) -> None:
    """Of bytes without a character, too: a file with a declared encoding is read by the same rule as cells of bytes."""
    ids = [b"p\x81", b"p\x8d", b"m\xfcller", "müller".encode("latin-1"), b"\x80"]
    (tmp_path / "rows.csv").write_bytes(b"pid,smoke,age\n" + b"".join(one + b",no,1\n" for one in ids))
    rows = {"pid": ids, "smoke": ["no"] * 5, "age": [1] * 5}
    plain = dc.read(tmp_path / "rows.csv", SCHEMA, unit="pid").n
    assert plain == dc.read(tmp_path / "rows.csv", SCHEMA, unit="pid", encoding="windows-1252").n
    assert plain == dc.read(rows, SCHEMA, unit="pid").n == len({person_of(decode_bytes(one)) for one in ids})
