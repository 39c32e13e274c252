"""The check of a schema says what becomes of every cell, as reading does it."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pytest

import dpcausal as dc
from dpcausal.core.errors import InputError
from dpcausal.data.check import check
from dpcausal.data.read import ColumnsIgnored, read

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
    assert lacking.fault() == 'the table has no column "smoke" (did you mean "smokes"?)'
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
    assert found.to_dict()["private"] is False
    assert "do not publish" in found.to_dict()["warning"]


def test_a_bin_or_level_that_only_mapped_cells_reach_is_not_empty() -> None:
    """What counts is where cells end up: missing ones, odd texts and clamped numbers included."""
    schema = dc.Schema(
        a=dc.Categorical(["yes", "no", "unknown", "never"], other="unknown"),
        b=dc.Numeric(0, 100, [10, 50], other=5),
    )
    found = check({"a": ["yes", "no", None, "n/a"], "b": ["60", "70", "", "many"]}, schema)
    assert [column.empty for column in found.columns] == [["never"], ["10 to 50"]]
