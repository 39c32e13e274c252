"""The check of a schema says what becomes of every cell, as reading does it."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pytest

import dpcausal as dc
from dpcausal.core.errors import InputError
from dpcausal.data.check import check
from dpcausal.data.findings import MissingTogether, MissingWith, RepeatedIdentifier
from dpcausal.data.read import ColumnsIgnored, read
from dpcausal.present.schema import check_json, note_words
from dpcausal.present.statement import missing_as_words

SCHEMA = dc.Schema(
    smoke=dc.Categorical(["no", "yes", "never asked"], other="no"),
    age=dc.Numeric(0, 110, [18, 40, 65], other=50),
)
ROWS = [
    ("yes", "17"), ("no", "44"), ("Yes", "n/a"), ("", "<5"), (" yes ", "-3"), ("no", "999"), ("maybe", "1e9"),
    ("maybe", ""), ("no", "65"),
]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "rows.csv"
    file.write_text("smoke,age,id\n" + "".join(f'"{a}","{b}",{i}\n' for i, (a, b) in enumerate(ROWS)))
    return file


def test_every_kind_of_cell_is_counted(path: Path) -> None:
    found = check(path, SCHEMA)
    smoke, age = found.columns
    assert (found.rows, found.not_in_data, found.not_in_schema, found.usable) == (9, [], ["id"], True)
    assert (smoke.missing, smoke.not_a_level, smoke.other) == (1, 3, "no")
    assert smoke.texts == [("maybe", 2), ("Yes", 1)]
    assert smoke.empty == ["never asked"]
    assert (age.missing, age.not_a_number, age.below, age.above, age.other) == (2, 1, 1, 2, "50")
    assert age.texts == [("<5", 1)]
    assert age.empty == ["18 to 40"]
    assert not smoke.fine
    assert not age.fine


def test_it_agrees_with_reading(path: Path) -> None:
    """Where a cell is said to be used as it stands, reading uses it; where not, it goes to other or to a bound."""
    found = check(path, SCHEMA)
    with pytest.warns(ColumnsIgnored):
        data = read(path, SCHEMA)
    to_other = found.columns[0].missing + found.columns[0].not_a_level
    literally_no = sum(smoke.strip() == "no" for smoke, _ in ROWS)
    assert (data.codes["smoke"] == 0).sum() == literally_no + to_other
    age = found.columns[1]
    assert (data.values["age"] == 50).sum() == age.missing + age.not_a_number
    assert (data.values["age"] == 0).sum() == age.below
    assert (data.values["age"] == 110).sum() == age.above


def test_what_can_not_be_read_is_told_and_the_rest_looked_at() -> None:
    table = pa.table({"age": [datetime.date(2020, 1, 1)], "smoke": ["yes"], "smokes": ["no"]})
    found = check(table, SCHEMA)
    assert not found.usable
    assert "declared numeric" in found.fault()
    assert found.columns[0].empty == ["no", "never asked"]
    lacking = check(table.select(["smokes"]), SCHEMA)
    assert lacking.not_in_data == ["smoke", "age"]
    assert all(f'"{name}"' in lacking.fault() for name in ("smoke", "smokes", "age"))
    with pytest.raises(InputError, match="no rows"):
        check(table.slice(0, 0).select(["smoke"]), SCHEMA.select(["smoke"]))


@pytest.mark.parametrize(
    ("cells", "missing", "unknown"),
    [
        (pa.array([1.0, None, float("nan"), 0.0, 7.0]), 2, 1),
        (pa.array([True, None, False]), 1, 0),
        (pa.array(["1", "0", "x", None]).dictionary_encode(), 1, 1),
        (pa.nulls(3), 3, 0),
    ],
)
def test_typed_cells(cells: pa.Array, missing: int, unknown: int) -> None:
    (column,) = check({"a": cells}, dc.Schema(a=dc.Categorical([0, 1]))).columns
    assert (column.missing, column.not_a_level) == (missing, unknown)


def test_a_clean_file_is_fine() -> None:
    found = check(
        {"a": ["x", "y"], "b": [1.0, 9.0]}, dc.Schema(a=dc.Categorical(["x", "y"]), b=dc.Numeric(0, 10, [5]))
    )
    assert all(column.fine for column in found.columns)
    assert check_json(found)["private"] is False
    assert "do not publish" in check_json(found)["warning"]


def test_a_bin_or_level_that_only_mapped_cells_reach_is_not_empty() -> None:
    """What counts is where cells end up: missing ones, odd texts and clamped numbers included."""
    schema = dc.Schema(
        a=dc.Categorical(["yes", "no", "unknown", "never"], other="unknown"),
        b=dc.Numeric(0, 100, [10, 50], other=5),
    )
    found = check({"a": ["yes", "no", None, "n/a"], "b": ["60", "70", "", "many"]}, schema)
    assert [column.empty for column in found.columns] == [["never"], ["10 to 50"]]


def test_an_alias_is_declared_and_a_missing_code_is_missing() -> None:
    schema = dc.Schema(
        smoke=dc.Categorical(["no", "yes"], aliases={"Y": "yes", "1": "yes"}, missing=["refused", "-9"]),
        age=dc.Numeric(0, 110, [18, 65], other=50, missing=[999, -9]),
    )
    cells = {
        "smoke": ["Y", "yes", "1.0", "refused", " -9 ", "", "maybe", "no"],
        "age": ["17", "999", " 999.0", "-9", "9999", "-99", "n/a", "many"],
    }
    smoke, age = check(cells, schema).columns
    assert (smoke.missing, smoke.coded_missing, smoke.not_a_level) == (3, 2, 1)
    assert smoke.texts == [("maybe", 1)]
    assert (age.missing, age.coded_missing, age.not_a_number) == (4, 3, 1)
    assert (age.below, age.above) == (1, 1)
    assert age.codes == [(-99, 1), (9999, 1)]
    assert age.empty == []  # clamped to both ends, and other lies between
    data = read(cells, schema)
    assert (data.codes["smoke"] == 1).sum() == 3
    assert (data.values["age"] == 50).sum() == age.missing + age.not_a_number


def test_an_alias_keeps_a_level_from_being_empty_and_a_missing_code_does_not() -> None:
    schema = dc.Schema(a=dc.Categorical(["x", "y", "z"], aliases={"Y": "y"}, missing=["Z"]))
    (column,) = check({"a": ["Y", "Z", "Y"]}, schema).columns
    assert column.empty == ["z"]
    assert not column.fine
    assert check({"a": ["Y", "x", "z"]}, schema).columns[0].fine


@pytest.mark.slow
def test_the_largest_domain_can_be_checked() -> None:
    schema = dc.Schema(a=dc.Categorical(range(65_535), missing=["NA", "-1"]))
    (column,) = check({"a": pa.array([0, 65_534, 65_535, 65_536, -1, None])}, schema).columns
    assert (column.not_a_level, column.missing, column.coded_missing) == (2, 2, 1)
    assert len(column.empty) == 65_535 - 2


@pytest.mark.parametrize("quote", ["", '"', 'a "b"'])
def test_rows_with_more_or_fewer_cells_than_the_header_are_counted(quote: str, tmp_path: Path) -> None:
    """In the rows that Arrow parses, in those it gives up, and over several blocks; reading says nothing."""
    file = tmp_path / "rows.csv"
    note = f"{quote}x{quote}" if quote == '"' else f"x{quote}"
    file.write_text(
        "smoke,age,note\n" + f"yes,17,{note}\n" * 5 + "no\nno,44\n" + "\nyes,17,x,1,2\n" * 4 + "yes,1,\n"
    )
    schema = dc.Schema({name: SCHEMA[name] for name in ("smoke", "age")})
    found = check(file, schema)
    assert (found.rows, found.ragged.fewer, found.ragged.more) == (12, 2, 4)
    assert (found.to_dict()["rows_with_fewer_cells"], found.to_dict()["rows_with_more_cells"]) == (2, 4)
    assert found.columns[1].missing == 1
    assert found.usable
    with pytest.warns(ColumnsIgnored) as warned:
        assert read(file, schema).n == 12
    assert len(warned) == 1
    even = check({"smoke": ["no"], "age": [1]}, schema).ragged
    assert (even.fewer, even.more) == (0, 0)


def test_ragged_rows_of_every_block_are_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcausal.data.csv.BLOCK_BYTES", 64)
    file = tmp_path / "rows.csv"
    file.write_text("smoke,age\n" + "yes,17\n" * 30 + "yes,17,1\nno\n" * 30)
    found = check(file, SCHEMA)
    assert (found.rows, found.ragged.fewer, found.ragged.more) == (90, 30, 30)


HALF = 300
LACKING = {
    "got": ["yes", "no", "no"] * 100 + [None] * HALF,
    "result": [*(["neg", "pos"] * 150), "pos", *([None] * (HALF - 1))],
    "wage": [*(float(i % 40) for i in range(HALF)), *([None] * HALF)],
    "fulltime": ["yes"] * HALF + ["no"] * HALF,
    "sex": ["f", "m"] * HALF,
    "dose": [None if i % 5 == 0 else float(i % 7) for i in range(2 * HALF)],
}


def test_columns_that_are_missing_together_are_named_by_draft_and_check() -> None:
    drafted = dc.Schema.draft(LACKING)
    said = (
        "Missing together: got, result, wage (299 rows). Links among them may show only that: keep one of them, "
        "or ask only about people with complete rows, and decide that before you look"
    )
    assert f"# {said}\n" in drafted.to_toml()
    found = check(LACKING, drafted)
    assert found.notes_of(MissingTogether) == [MissingTogether(("got", "result", "wage"), 299)]
    assert f"{said}." in str(found).splitlines()
    assert found.to_dict()["missing_together"] == [{"columns": ["got", "result", "wage"], "rows": 299}]
    coded = {**LACKING, "got": ["99" if one is None else one for one in LACKING["got"]]}
    by_code = dc.Schema(got=dc.Categorical(["no", "yes"], missing=["99"]), wage=dc.Numeric(0, 50))
    assert check(coded, by_code).notes_of(MissingTogether) == [MissingTogether(("got", "wage"), 300)]
    apart = check(LACKING, dc.Schema(got=YES, dose=dc.Numeric(0, 9), sex=dc.Categorical(["f", "m"])))
    assert apart.notes_of(MissingTogether) == []


YES = dc.Categorical(["no", "yes"])


def test_a_column_that_is_missing_where_another_has_a_value_is_named_with_which_to_keep() -> None:
    found = check(LACKING, dc.Schema(wage=dc.Numeric(0, 50, missing_level=True), fulltime=YES))
    assert found.notes_of(MissingWith) == [MissingWith("wage", "fulltime", "no", 300, number=True)]
    assert found.to_dict()["missing_with"][0]["other"] == "fulltime"
    (levels,) = check(LACKING, dc.Schema(got=YES, fulltime=YES)).notes_of(MissingWith)
    assert not levels.number
    assert check(LACKING, dc.Schema(wage=dc.Numeric(0, 50), sex=SEX)).notes_of(MissingWith) == []


SEX = dc.Categorical(["f", "m"])


def test_a_column_of_which_no_cell_is_declared_is_the_first_thing_said() -> None:
    wrong = dc.Categorical(["female", "male"])
    found = check(LACKING, dc.Schema(sex=wrong, fulltime=YES))
    first = str(found).splitlines()[1]
    assert first.startswith("sex: ")
    assert "'f' (300), 'm' (300)" in first
    assert (found.usable, found.nothing_read) == (True, ["sex"])
    assert '"sex"' in found.fault()
    assert found.to_dict()["nothing_read"] == ["sex"]
    number = check(LACKING, dc.Schema(fulltime=dc.Numeric(0, 9)))
    assert number.nothing_read == ["fulltime"]
    assert check({**LACKING, "sex": ["female"] + ["m"] * 599}, dc.Schema(sex=wrong)).nothing_read == []


def test_missing_numbers_with_a_bin_are_told_with_every_method_that_replaces_them() -> None:
    found = str(check(LACKING, dc.Schema(wage=dc.Numeric(0, 50, other=9, missing_level=True))))
    methods = "(kendall, spearman, gcm, moments, a regression) replace them by 9"
    assert (
        "300 missing cells have a bin of their own in tables, and an effect leaves them out; methods" in found
    )
    assert methods in found


def test_the_column_that_tells_whose_a_row_is_counts_as_declared() -> None:
    schema = dc.Schema(sex=dc.Categorical(["male", "female"])).with_unit("fallnr")
    there = check({"sex": ["male", "female"], "fallnr": [1, 1], "more": [1, 2]}, schema)
    assert there.not_in_schema == ["more"]
    assert there.not_in_data == []
    lacking = check({"sex": ["male", "female"]}, schema)
    assert lacking.not_in_data == ["fallnr"]
    assert not lacking.usable


def test_a_declared_unit_is_not_told_to_become_one(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_text(
        "pid,smoke,age\n" + "".join(f"{i // 2},{'no' if i % 3 else 'yes'},40\n" for i in range(200))
    )
    schema = dc.Schema(smoke=dc.Categorical(["no", "yes"]), age=dc.Numeric(0, 110))
    (told,) = check(file, schema).notes_of(RepeatedIdentifier)
    assert told.column == "pid"
    assert 'column = "pid" under [unit] in the schema' in note_words(told)
    assert not check(file, schema.with_unit("pid")).notes_of(RepeatedIdentifier)


def test_what_a_missing_date_becomes_is_shown_as_a_date(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_text("visit,age\n2018-03-01,40\n,41\n")
    schema = dc.Schema(visit=dc.Date("2018-01-01", "2020-12-31"), age=dc.Numeric(0, 110, other=50))
    visit, age = check(file, schema).columns
    assert (visit.other, age.other) == ("2018-01-01", "50")
    assert schema.missing_as().columns == (("visit", "2018-01-01", False, False), ("age", 50.0, False, False))
    assert missing_as_words(schema.missing_as().columns) == "visit 2018-01-01, age 50"
