"""A line of a delimited file is a row: a quote that is not closed on its line takes nothing from the next one."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import dpcausal as dc
from dpcausal.cli.app import app
from dpcausal.counts.stream import count_files
from dpcausal.data import csv as delimited
from dpcausal.data.check import check
from dpcausal.data.draft import draft
from dpcausal.data.file_format import FileFormat
from dpcausal.present.schema import check_lines, draft_toml

SCHEMA = dc.Schema(a=dc.Categorical(["no", "yes"]), b=dc.Numeric(0, 10, bins=[5]))
QUOTED = SCHEMA.with_quoted_newlines()


def rows(body: bytes, width: int = 2, delimiter: str = ",", end: bytes = b"\n") -> list[list[bytes]]:
    columns: list[list[bytes]] = [[] for _ in range(width)]
    layout = delimited.Layout(width, delimiter, end)
    for arrays in delimited.chunks(io.BytesIO(body), b"", layout, range(width)):
        for column, array in zip(columns, arrays, strict=True):
            column.extend(array.to_pylist())
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("cell", ['"not sure', '"', '"a\t"b', '""""', '"x"y"', '""', 'a"b', '"\ufeff'])
def test_one_quote_in_a_file_without_quoting_takes_no_other_row(tmp_path: Path, cell: str) -> None:
    """R's write.table(quote = FALSE, sep = "\\t"): one free text cell made 3 rows of 1,000."""
    path = tmp_path / "t.tsv"
    lines = [f"some text\t{'yes' if i % 3 else 'no'}\t{i % 11}" for i in range(1000)]
    path.write_text("\n".join(["note\ta\tb", *lines]) + "\n")
    with pytest.warns(dc.ColumnsIgnored):
        before = dc.read(path, SCHEMA)
    lines[2] = f"{cell}\tyes\t7"
    path.write_text("\n".join(["note\ta\tb", *lines]) + "\n", encoding="utf-8")
    with pytest.warns(dc.ColumnsIgnored):
        after = dc.read(path, SCHEMA)
    with pytest.warns(dc.ColumnsIgnored):
        counted = count_files(path, SCHEMA)
    assert before.n == after.n == counted.n == 1000
    for name in SCHEMA:
        changed = before.codes[name] != after.codes[name]
        assert not changed[:2].any()
        assert not changed[3:].any()
    if cell in ('"not sure', '"'):  # taken as it stands, so the cells after it keep their places
        assert after.codes["a"][2] == 1
        assert after.values["b"][2] == 7


@pytest.mark.parametrize("block", [1, 2, 3, 5, 17, 1 << 20])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'"not sure,2\n3,4\n', [[b'"not sure', b"2"], [b"3", b"4"]]),
        (b'1,"2\n3,4"\n5,6\n', [[b"1", b'"2'], [b"3", b'4"'], [b"5", b"6"]]),
        (b'"a,b",2\n"c ""d""","e"\n', [[b"a,b", b"2"], [b'c "d"', b"e"]]),
        (b'"x"y,2\n3,"4\n', [[b"xy", b"2"], [b"3", b'"4']]),
        (b'"two\nlines",2\n3,4\n', [[b'"two', b""], [b'lines"', b"2"], [b"3", b"4"]]),
        (b'"a""\n1,2\n', [[b'"a""', b""], [b"1", b"2"]]),
        (b'1,2\n"\n"\n3,4', [[b"1", b"2"], [b'"', b""], [b'"', b""], [b"3", b"4"]]),
        (b"1\r2,3\n4,5\r\n6,7\r", [[b"1\r2", b"3"], [b"4", b"5"], [b"6", b"7"]]),
        (b"\r\r\n1,2\n", [[b"1", b"2"]]),
        (b"\n\r\n1,2\n\n\n", [[b"1", b"2"]]),
        (b'\n"a,b\n\n1,2,3\n\n4\n5,6\n', [[b'"a', b"b"], [b"1", b"2"], [b"4", b""], [b"5", b"6"]]),
        (b'\xef\xbb\xbf"a",1\n"b\x00",\xff"\n', [[b'\xef\xbb\xbf"a"', b"1"], [b"b\x00", b'\xff"']]),
    ],
)
def test_quotes_count_within_a_line(
    monkeypatch: pytest.MonkeyPatch, block: int, body: bytes, expected: list[list[bytes]]
) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", block)
    assert rows(body) == expected


def test_odd_lines_in_a_file_of_one_column() -> None:
    assert rows(b'"a\n\nb\n"c,d"\ne,f\n', width=1) == [[b'"a'], [b""], [b"b"], [b"c,d"], [b"e"]]


def test_lines_end_as_the_header_s_does(tmp_path: Path) -> None:
    """The header is public, so its end may choose: in a file of LF a CR is part of a cell, and the other way round."""
    assert rows(b"1,2\r3\n4,5\r", end=b"\r") == [[b"1", b"2"], [b"3\n4", b"5"]]
    path = tmp_path / "t.csv"
    for end in (b"\n", b"\r\n", b"\r"):
        path.write_bytes(end.join([b"a,b", b"yes,1", b'"no",7', b""]))
        data = dc.read(path, SCHEMA)
        assert data.codes["a"].tolist() == [1, 0]
        assert data.values["b"].tolist() == [1, 7]
    path.write_bytes(b"a,b\nyes,1\rno,2\nyes,3\n")
    assert dc.read(path, SCHEMA).n == 2


def test_ordinary_quoted_files_are_read_as_before(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": ["yes", "no"] * 50, "note": ['a, "b"', "é;\t|"] * 50, "b": range(100)})
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC):
        for sep in delimited.DELIMITERS:
            frame.to_csv(tmp_path / "t.csv", index=False, sep=sep, quoting=quoting)
            with pytest.warns(dc.ColumnsIgnored):
                data = dc.read(tmp_path / "t.csv", SCHEMA)
            assert data.n == 100
            assert data.codes["a"].tolist() == [1, 0] * 50
            assert data.values["b"].tolist() == [min(b, 10) for b in range(100)]


# ---- line breaks inside quotes, declared


def test_line_breaks_inside_quotes_are_declared(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame({"note": ["x", "two\nlines", "\r\n\n"], "a": ["yes"] * 3, "b": [1, 2, 7]}).to_csv(
        path, index=False
    )
    everything = dc.Schema({**SCHEMA, "note": dc.Categorical(["x"])})
    declared = everything.with_quoted_newlines()
    assert dc.read(path, everything).n == 5  # a line is a row, a blank one is none
    for data in (dc.read(path, declared), dc.read(path, everything, quoted_newlines=True)):
        assert data.n == 3
        assert data.codes["a"].tolist() == [1, 1, 1]
        assert data.values["b"].tolist() == [1, 2, 7]
    assert count_files(path, declared).n == 3
    assert dc.read(path, declared, quoted_newlines=False).n == 5


def test_the_declaration_is_a_line_of_the_schema_file() -> None:
    text = QUOTED.to_toml()
    assert text.startswith("quoted_newlines = true\n")
    assert dc.Schema.from_toml_string(text).quoted_newlines
    assert dc.Schema.from_toml_string(text) == QUOTED != SCHEMA
    assert not dc.Schema.from_toml_string(SCHEMA.to_toml()).quoted_newlines
    assert QUOTED.select(["a"]).quoted_newlines
    with pytest.raises(dc.SchemaError, match=r"schema:1: quoted_newlines .* 1"):
        dc.Schema.from_toml_string("quoted_newlines = 1\n" + SCHEMA.to_toml())
    with pytest.raises(dc.SchemaError, match=r"quoted_newlines .*'yes'"):
        dc.read({"a": ["no"], "b": [1]}, SCHEMA, quoted_newlines="yes")  # type: ignore[arg-type]


# ---- the data holder's own look


def test_check_names_lines_with_a_quote_that_is_not_closed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\nyes,1\n"no,2\n\n"yes",3\n"no\nx",4\nyes,5,"\n')
    found = check(path, SCHEMA)
    assert found.rows == 6
    assert (found.ragged.unclosed, found.ragged.unclosed_lines) == (3, [3, 6, 8])
    words = "\n".join(check_lines(found))
    assert ": 3, 6, 8" in words
    assert "quoted_newlines = true" in words
    assert found.to_dict()["lines_with_open_quote"] == 3
    command = ["schema", str(path), "--check", str(tmp_path / "s.toml"), "--json"]
    (tmp_path / "s.toml").write_text(SCHEMA.to_toml())
    assert json.loads(CliRunner().invoke(app, command).stdout)["lines_with_open_quote"] == 3


def test_check_counts_line_breaks_inside_cells_where_they_are_declared(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"y\nes",1\n"no\n\n",2\nyes,3\n')
    found = check(path, QUOTED)
    assert (found.rows, found.ragged.breaks) == (3, 3)
    path.write_text('a,b\nyes,"x"y\n"no\n\n",2\nyes,3\n"y\nes",1\n"no,2\nyes,3\n')
    found = check(path, QUOTED)
    assert (found.rows, found.ragged.breaks) == (5, 5)


def test_a_draft_says_so_and_can_take_the_declaration(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + 'yes,1\n"no\nx",2\n' * 30)
    assert draft(path).ragged.unclosed == 30
    assert "`quoted_newlines = true`" in draft_toml(draft(path))
    quoted = draft(path, format=FileFormat(quoted_newlines=True))
    assert quoted.ragged.unclosed == 0
    schema = dc.Schema.from_toml_string(draft_toml(quoted))
    assert schema.quoted_newlines
    assert check(path, schema).rows == 60
    made = CliRunner().invoke(app, ["schema", str(path), "--quoted-newlines"])
    assert dc.Schema.from_toml_string(made.stdout) == schema
