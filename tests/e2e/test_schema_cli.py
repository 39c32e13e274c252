"""``dpcausal schema``: the draft loads, fits its own file, and says that it is not private."""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from dpcausal.cli.app import run
from dpcausal.data.columns import Categorical, Numeric
from dpcausal.data.read import ColumnsIgnored, read
from dpcausal.data.schema import Schema

ROWS = 120
TABLE = pa.table(
    {
        "a b": ["no", "yes", None] * (ROWS // 3),
        "age (years)": [18.25 + i / 2 for i in range(ROWS)],
        "x.y": [i % 4 for i in range(ROWS)],
        'quo"te': ["é", "ü"] * (ROWS // 2),
        "flag": [True, False] * (ROWS // 2),
        "count": [i // 2 * 14 for i in range(ROWS)],
        "number": [i * 7 for i in range(ROWS)],
        "name": [f"person {i}" for i in range(ROWS)],
        "nothing": pa.nulls(ROWS, pa.float64()),
        "day": [datetime.date(2020, 1, 1 + i % 2) for i in range(ROWS)],
        "half": pa.array(np.array([0.5, 1.5] * (ROWS // 2), np.float16)),
    }
)


def write_csv(path: Path) -> None:
    TABLE.to_pandas().to_csv(path, index=False)


WRITERS = {
    "t.csv": write_csv,
    "t.parquet": lambda path: pq.write_table(TABLE, path),
    "t.feather": lambda path: feather.write_feather(TABLE, path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_draft_loads_and_fits_its_own_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    WRITERS[name](tmp_path / name)
    assert run(["schema", str(tmp_path / name)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# DRAFT")
    assert "NOT PRIVATE" in text.splitlines()[0]
    (tmp_path / "schema.toml").write_text(text)
    schema = Schema.from_toml(tmp_path / "schema.toml")
    assert list(schema) == ["a b", "age (years)", "x.y", 'quo"te', "flag", "count", "day", "half"]
    assert schema["a b"] == Categorical(["no", "yes", "missing"], other="missing")
    assert schema["x.y"] == Categorical([0, 1, 2, 3])
    assert schema["flag"] == Categorical([False, True])
    assert schema['quo"te'] == Categorical(["é", "ü"])
    assert schema["day"] == Categorical(["2020-01-01", "2020-01-02"])
    assert schema["age (years)"] == Numeric(0, 110, [20, 40, 60], other=48)
    assert schema["count"] == Numeric(0, 900, [200, 400, 600, 800], other=410)
    assert schema["half"] == Numeric(0.5, 1.5, [1], other=1)
    assert re.findall(r"# \[columns.(\w+)\]  left out", text) == ["number", "name", "nothing"]
    with pytest.warns(ColumnsIgnored, match='"number", "name", "nothing"'):
        data = read(tmp_path / name, schema)
    assert data.n == ROWS
    assert data.codes["a b"][:3].tolist() == [0, 1, 2]
    assert data.codes["x.y"][:5].tolist() == [0, 1, 2, 3, 0]
    assert data.codes["day"][:2].tolist() == [0, 1]
    assert data.values["count"][:3].tolist() == [0, 0, 14]


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        (["1", "NA", "", "2"], 'levels = [1, 2, "missing"]'),
        (["1.0", "0.0"], "levels = [0, 1]"),
        (["true", "FALSE"], "levels = [false, true]"),
        (["01", "x"], 'levels = ["01", "x"]'),
        (["99999999999999999999", "1"], 'type = "numeric"'),
        (["5", "inf"], "levels = [5]"),
        (["0.25"], "lower = 0.2"),
        (["-1.5", "1e300"], "upper = 1e+100"),
        (["a\nb"], 'levels = ["a\\nb"]'),
        ([" a ", "a"], 'levels = ["a"]'),
    ],
)
def test_what_a_column_is_taken_for(
    cells: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f'"{cell}",1\n' for cell in cells))
    assert run(["schema", str(path), "--quoted-newlines"]) == 0
    text = capsys.readouterr().out
    assert line in text
    schema = Schema.from_toml_string(text)
    assert read(path, schema).n == len(cells)


def test_the_command_runs_as_a_program(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\nx,1\ny,2\n")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from dpcausal.cli.start import main; main()",
            "schema",
            str(tmp_path / "t.csv"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert Schema.from_toml_string(done.stdout)["a"] == Categorical(["x", "y"])


def test_columns_that_cannot_be_drafted_are_left_out_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,a,b,,c\n1,2,,3,x\n1,2,,3,y\n")
    assert run(["schema", str(tmp_path / "t.csv")]) == 0
    text = capsys.readouterr().out
    assert list(Schema.from_toml_string(text)) == ["c"]
    assert re.findall(r"# \[columns.(.+)\]  left out", text) == ["a", "b", '""']
    pq.write_table(pa.table({"l": [[1]], "x": [1]}), tmp_path / "t.parquet")
    assert run(["schema", str(tmp_path / "t.parquet")]) == 0
    assert "# [columns.l]  left out" in capsys.readouterr().out
    pq.write_table(pa.table({"l": [[1]]}), tmp_path / "t.parquet")
    assert run(["schema", str(tmp_path / "t.parquet")]) == 2
    assert capsys.readouterr().err.startswith("dpcausal: t.parquet has no column")


DECLARED = """
[columns.a]
type = "categorical"
levels = ["x", "y", "z"]
[columns.n]
type = "numeric"
lower = 0
upper = 10
bins = [5]
"""


@pytest.fixture
def messy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(
        "a,n,id\nx,1\nX,-2\ny,n/a\n,many\n".replace("\n", ",1\n").replace("id,1", "id")
    )
    (tmp_path / "s.toml").write_text(DECLARED)
    return tmp_path


def test_the_check_says_what_becomes_of_the_rows(messy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "t.csv", "--check", "s.toml"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.startswith("Not private")
    lines = said.out.splitlines()
    assert lines[-1].endswith(': "id"')  # last: there may be many
    assert sum(line.startswith("a: ") for line in lines) == 2  # missing, and no level
    assert sum(line.startswith("n: ") for line in lines) == 3  # missing, no number, and below
    row = next(line for line in lines if line.strip().startswith("a "))
    assert row.split() == ["a", "25.0%", "25.0%", "z"]


def test_the_check_counts_lines_that_still_have_remarks_of_a_draft_and_shortens_long_lists(
    messy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["a", "n", *(f"c{i}" for i in range(20))]
    (messy / "t.csv").write_text(",".join(names) + "\n" + ",".join(["x", "1"] + ["0"] * 20) + "\n")
    assert run(["schema", "t.csv", "--check", "s.toml"]) == 0
    said = capsys.readouterr().out
    assert "still say" not in said
    assert said.splitlines()[-1].endswith('"c6", "c7" and 12 more')
    marked = DECLARED.replace("lower = 0\n", "lower = 0  # from rows\n").replace(
        '"z"]\n', '"z"]\nother = "x"  # the first level: choose\n'
    )
    (messy / "s.toml").write_text(marked)
    assert run(["schema", "t.csv", "--check", "s.toml"]) == 0
    assert "2 lines of the schema still say" in capsys.readouterr().out


def test_the_check_tells_codes_aliases_and_ragged_rows(
    messy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (messy / "t.csv").write_text("a,n\nx,999\nX,1\ny,-9,one,two\nz\n.,9999\n")
    keys = (
        'levels = ["x", "y", "z"]\n',
        'levels = ["x", "y", "z"]\naliases = { X = "x" }\nmissing = ["."]\n',
    )
    (messy / "s.toml").write_text(DECLARED.replace(*keys) + "missing = [999, -9]\n")
    assert run(["schema", "t.csv", "--check", "s.toml"]) == 0
    assert "`missing = [9999]`" in capsys.readouterr().out
    assert run(["schema", "t.csv", "--check", "s.toml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rows_with_more_cells"], found["rows_with_fewer_cells"]) == (1, 1)
    a, n = found["columns"]
    assert (a["missing"], a["coded_missing"], a["not_a_level"]) == (1, 1, 0)
    assert (n["missing"], n["coded_missing"], n["codes"]) == (3, 2, [{"code": 9999, "cells": 1}])
    (messy / "t.csv").write_text("a,n\nx,1\ny,7\nz,2\nX,3\n")
    assert run(["schema", "t.csv", "--check", "s.toml", "--json"]) == 0
    assert all(column["fine"] for column in json.loads(capsys.readouterr().out)["columns"])


def test_the_check_as_json_and_its_exit_code(messy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "t.csv", "--check", "s.toml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found)[:2] == ["private", "warning"]
    assert found["private"] is False
    assert found["columns"][0]["texts"] == [{"text": "X", "cells": 1}]
    (messy / "s.toml").write_text(DECLARED.replace("columns.n", "columns.nn"))
    assert run(["schema", "t.csv", "--check", "s.toml", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["not_in_data"] == ["nn"]
    assert run(["schema", "t.csv", "--check", "s.toml"]) == 2
    said = capsys.readouterr()
    assert ': "nn"' in said.out
    assert '"nn"' in said.err
    assert said.err.count("\n") == 1
    assert run(["schema", "t.csv", "--json"]) == 0
    drafted = json.loads(capsys.readouterr().out)
    assert list(drafted)[:2] == ["private", "warning"]
    assert drafted["private"] is False


def test_a_draft_in_use_warns_once_until_its_mark_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b\n" + "x,1\ny,2\n" * 50)
    assert run(["schema", "t.csv"]) == 0
    text = capsys.readouterr().out
    asked = {
        "discover": ["discover", "t.csv", "--schema", "s.toml", "--epsilon", "1", "--out", "out"],
        "test": ["test", "t.csv", "--schema", "s.toml", "--x", "a", "--y", "b", "--epsilon", "1"],
    }
    for marked in (True, False):
        lines = [line for line in text.splitlines(True) if marked or not line.startswith("draft =")]
        (tmp_path / "s.toml").write_text("".join(lines))
        for command in asked.values():
            assert run(command) == 0
            said = capsys.readouterr()
            warned = [line for line in (said.out + said.err).splitlines() if "unchecked draft" in line]
            assert len(warned) == marked
            assert run([*command, "--json"]) == 0
            assert (
                "unchecked draft" in capsys.readouterr().err
            ) == marked  # where JSON is all that is printed
    statement = json.loads((tmp_path / "out" / "earlier-2" / "privacy.json").read_text())
    assert any("unchecked draft" in line for line in statement["limits"])
    statement = json.loads((tmp_path / "out" / "privacy.json").read_text())
    assert not any("unchecked draft" in line for line in statement["limits"])


def test_the_check_and_a_rank_test_name_a_level_for_missing_in_an_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("smoking,lung\n" + "never,no\nex,no\ncurrent,yes\nunknown,no\n" * 25)
    declared = """
[columns.smoking]
type = "categorical"
levels = ["never", "ex", "current", "unknown"]
ordered = true
[columns.lung]
type = "categorical"
levels = ["no", "yes"]
"""
    said = 'smoking is ordered and has the level "unknown": rank tests take it as the highest'
    asked = ["test", "t.csv", "--schema", "s.toml", "--x", "smoking", "--y", "lung", "--epsilon", "1"]
    for text in (declared, declared.replace("ordered = true\n", "")):
        (tmp_path / "s.toml").write_text(text)
        assert run(["schema", "t.csv", "--check", "s.toml"]) == 0
        assert (said in capsys.readouterr().out.splitlines()) == (text is declared)
        assert run(asked) == 0
        assert (said in capsys.readouterr().err) == (text is declared)
    (tmp_path / "s.toml").write_text(declared)
    assert run([*asked, "--method", "measured"]) == 0
    assert said not in capsys.readouterr().err


@pytest.mark.parametrize("as_json", [False, True])
def test_a_check_of_wrong_codes_says_so_first_and_fails(
    as_json: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.csv").write_text("sex,dose\n" + "1,2\n2,3\n" * 40)
    (tmp_path / "bad.toml").write_text(
        '[columns.sex]\ntype = "categorical"\nlevels = ["male", "female"]\n'
        '[columns.dose]\ntype = "numeric"\nlower = 0\nupper = 5\n'
    )
    asked = ["schema", str(tmp_path / "rows.csv"), "--check", str(tmp_path / "bad.toml")]
    assert run([*asked, *(["--json"] if as_json else [])]) == 2
    printed = capsys.readouterr()
    if as_json:
        assert json.loads(printed.out)["nothing_read"] == ["sex"]
    else:
        first = printed.out.splitlines()[1]
        assert first.startswith("sex: ")
        assert "'1' (40)" in first
        assert '"sex"' in printed.err


def test_a_column_that_cannot_be_read_as_declared_is_said_once_and_amounts_have_bins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(pa.table({"km": [0.5, 3.25, 5.0]}), tmp_path / "t.parquet")
    schema = tmp_path / "s.toml"
    schema.write_text('[columns.km]\ntype = "categorical"\nlevels = ["near", "far"]\n')
    assert run(["schema", str(tmp_path / "t.parquet"), "--check", str(schema)]) == 2
    told = capsys.readouterr()
    assert (told.out + told.err).count("'near'") == 1
    assert 'type = "numeric"' in told.err
