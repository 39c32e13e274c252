"""Bad input as a new user would try it: one clear line and exit code 2, or it simply works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpcausal as dc
from dpcausal.cli.app import run
from dpcausal.core.errors import DpcausalError
from dpcausal.data.read import DRAFT_WARNING

SCHEMA = """\
[columns.smoke]
type = "categorical"
levels = ["no", "yes"]
[columns.age]
type = "numeric"
lower = 0
upper = 110
"""


def one_line(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("dpcausal: ")
    assert shown.err.count("\n") == 1
    return shown.err


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("empty.csv", b"", "empty.csv is empty: no header line"),
        ("header.csv", b"smoke,age\n", "header.csv has no rows"),
        ("wide.csv", "smoke,age\nyes,3\n".encode("utf-16"), "UTF-16"),
        ("fake.parquet", b"smoke,age\nyes,3\n", "not a readable Parquet file"),
        ("fake.feather", b"smoke,age\nyes,3\n", "not a readable Arrow file"),
        ("fake.csv.gz", b"smoke,age\nyes,3\n", "damaged"),
        ("book.xlsx", b"PK", "book.xlsx is not a readable Excel workbook"),
    ],
)
def test_a_file_that_cannot_be_used(
    name: str, body: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(body)
    assert words in one_line(capsys, ["schema", str(tmp_path / name)])


def test_a_path_or_an_option_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "nope.csv: no such file" in one_line(capsys, ["schema", str(tmp_path / "nope.csv")])
    assert "is a directory" in one_line(capsys, ["schema", str(tmp_path)])
    assert "No such command" in one_line(capsys, ["shema"])
    assert "Missing argument" in one_line(capsys, ["schema"])
    assert "No such option" in one_line(capsys, ["schema", "--publish", "x.csv"])


@pytest.mark.parametrize(
    ("body", "n"),
    [
        (b"\xef\xbb\xbfsmoke,age\nyes,30\nno,40\n", 2),
        (b"smoke,age\r\nyes,30\r\nno,40\r\n", 2),
        (b"smoke,age\nyes,thirty\n7,40\n\xff\xfe,1e999\n", 3),
        (b"smoke,age\nyes\nno,40,50,60\n\n,\n", 3),
        (b'smoke,age\n"yes,30\nno,40\n', 2),
        (b"smoke;age\nyes;30,5\n", 1),
        (b'"smoke","age"\n"yes","30"', 1),
    ],
)
def test_a_file_that_is_odd_but_simply_works(body: bytes, n: int, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(body)
    data = dc.read(tmp_path / "t.csv", dc.Schema.from_toml_string(SCHEMA))
    assert data.n == n
    assert all((codes < size).all() for codes, size in zip(data.codes.values(), (2, 4), strict=True))


def test_a_column_missing_from_the_file_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("smoker,age\nyes,30\n")
    with pytest.raises(DpcausalError) as caught:
        dc.read(tmp_path / "t.csv", dc.Schema.from_toml_string(SCHEMA))
    assert str(caught.value) == 't.csv has no column "smoke" (did you mean "smoker"?)'
    assert caught.value.exit_code == 2


def test_a_warning_is_one_line_on_standard_error_and_undeclared_columns_make_none(tmp_path: Path) -> None:
    pq.write_table(pa.table({"smoke": ["yes"], "age": [30], "zip": [123]}), tmp_path / "t.parquet")
    (tmp_path / "s.toml").write_text(f"draft = true\n{SCHEMA}")
    program = (
        "import sys, typer, dpcausal as dc\n"
        "from dpcausal.cli import app\n"
        "@app.app.command()\n"
        "def count(data: str, schema: str) -> None:\n"
        "    for _ in range(2):\n"
        "        n = dc.read(data, dc.Schema.from_toml(schema)).n\n"
        "    typer.echo(n)\n"
        "sys.exit(app.run())\n"
    )
    command = [sys.executable, "-c", program, "count", str(tmp_path / "t.parquet"), str(tmp_path / "s.toml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout == "1\n"
    assert done.stderr == f"dpcausal: {DRAFT_WARNING}\n"  # once; `zip` was left out on purpose


def test_a_fault_in_the_schema_file_is_one_line_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCHEMA.replace("lower", "lowr"))
    with pytest.raises(DpcausalError) as caught:
        dc.Schema.from_toml(tmp_path / "s.toml")
    assert str(caught.value).endswith('s.toml:6: column "age" has unknown key "lowr" (did you mean "lower"?)')
