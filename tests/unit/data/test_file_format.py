"""Files as hospitals write them: encodings, separators, decimal commas, thousands marks. All of it is declared."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import dpcausal as dc
from dpcausal.cli.app import app
from dpcausal.counts.stream import count_files
from dpcausal.data.check import check
from dpcausal.data.draft import draft
from dpcausal.data.file_format import FileFormat, character_table, decode_bytes, encode_fallback
from dpcausal.present.schema import check_lines, draft_toml

SEX = dc.Categorical(["weiblich", "männlich"])
SCHEMA = dc.Schema({"Geschlecht": SEX, "Größe": dc.Numeric(0, 3, bins=[1.6, 1.8], other=1)})
LINES = "Geschlecht;Größe\nmännlich;1,85\nweiblich;1,7\nmännlich;\nmännlich;1.234,5\n"
ENCODINGS = ("utf-8", "latin-1", "windows-1252", "cp850", "mac-roman", "iso-8859-15")


def german(path: Path, encoding: str = "latin-1", lines: str = LINES) -> Path:
    path.write_bytes(lines.encode(encoding))
    return path


# ---- encodings


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_declared_encoding_reads_names_and_cells(encoding: str, tmp_path: Path) -> None:
    path = german(tmp_path / "t.csv", encoding)
    data = dc.read(path, SCHEMA, encoding=encoding, decimal=",", thousands=".")
    assert data.codes["Geschlecht"].tolist() == [1, 0, 1, 1]
    assert data.values["Größe"].tolist() == [1.85, 1.7, 1.0, 3.0]
    assert data.codes["Größe"].tolist() == [2, 1, 0, 2]


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252", "utf-8"])
def test_latin_1_loses_no_row_where_no_encoding_is_declared(encoding: str, tmp_path: Path) -> None:
    """The rule is per cell and the same for every file: not UTF-8, so Windows-1252."""
    data = dc.read(german(tmp_path / "t.csv", encoding), SCHEMA, decimal=",", thousands=".")
    assert data.codes["Geschlecht"].tolist() == [1, 0, 1, 1]


def test_a_cell_is_utf8_or_windows_1252_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    cells = [
        b"m\xe4nnlich",
        "männlich".encode(),
        b"m\xe4nnl\xc3\xa4ch",
        b"weiblich",
        b"\xff",
        b" m\xe4nnlich ",
    ]
    path.write_bytes(b"\n".join([b"Geschlecht", *cells, b""]))
    assert dc.read(path, dc.Schema(Geschlecht=SEX)).codes["Geschlecht"].tolist() == [1, 1, 0, 0, 0, 1]


def test_the_issue_of_the_lost_men(tmp_path: Path) -> None:
    """1,921 of 3,999 "männlich" vanished and p went from 4e-16 to .5; now both ways of writing give one p."""
    rng = np.random.default_rng(4)
    sick = rng.random(3999) < 0.5
    man = np.where(sick, rng.random(3999) < 0.55, rng.random(3999) < 0.41)
    lines = [
        f"{'männlich' if m else 'weiblich'};{'ja' if s else 'nein'}" for m, s in zip(man, sick, strict=True)
    ]
    schema = dc.Schema(sex=SEX, sick=dc.Categorical(["nein", "ja"]))
    found = []
    for encoding in ("utf-8", "latin-1"):
        path = german(tmp_path / f"{encoding}.csv", encoding, "\n".join(["sex;sick", *lines, ""]))
        found.append(dc.ci_test(dc.read(path, schema), "sex", "sick", epsilon=None, method="chi2").pvalue)
    assert found[0] == found[1]
    assert found[0] is not None
    assert found[0] < 1e-12


def test_a_compressed_file_and_duckdb_take_the_same_way(tmp_path: Path) -> None:
    path = german(tmp_path / "t.csv", "cp850")
    zipped = tmp_path / "t.csv.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    schema = SCHEMA.with_format(encoding="cp850", decimal=",", thousands=".")
    expected = dc.read(path, schema)
    assert dc.read(zipped, schema).codes["Geschlecht"].tolist() == expected.codes["Geschlecht"].tolist()
    counts = count_files(path, schema)
    assert counts.table(["Geschlecht", "Größe"]).tolist() == [[0, 1, 0], [1, 0, 2]]


def test_no_byte_raises_in_any_encoding(tmp_path: Path) -> None:
    """Every byte that ends no cell, each in its row: the rows between keep their codes, and nothing is said."""
    schema = dc.Schema(a=dc.Categorical(["no", "yes"]), b=dc.Numeric(0, 9))
    path = tmp_path / "t.csv"
    odd = [bytes([byte]) for byte in range(256) if byte not in b'\r\n,"']
    path.write_bytes(b"a,b\n" + b"".join(byte * 3 + b"," + byte + b"\nyes,2\n" for byte in odd))
    for encoding in (None, *ENCODINGS, "koi8-r", "tis-620"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            data = dc.read(path, schema, encoding=encoding, separator=",")
        assert data.n == 2 * len(odd)
        assert data.codes["a"].tolist() == [0, 1] * len(odd)
        assert data.values["b"][1::2].tolist() == [2] * len(odd)


def test_the_fallback_is_the_inverse_of_decoding() -> None:
    for text in ("männlich", "é", "€", "x\x81", "naïve café"):
        data = encode_fallback(text)
        assert data is not None
        assert decode_bytes(data) == text
    assert encode_fallback("Ã¤") is None  # these bytes are UTF-8, so they mean another text
    assert encode_fallback("œ") == b"\x9c"


@pytest.mark.parametrize(
    "name", ["utf-16", "shift_jis", "gb18030", "iso2022_jp", "utf-7", "cp037", "rot13", "hex", "x"]
)
def test_an_encoding_in_which_a_byte_means_nothing_by_itself_is_refused(name: str) -> None:
    with pytest.raises(dc.SchemaError, match=rf"encoding '{name}'"):
        FileFormat(encoding=name)
    assert character_table(name) is None


def test_a_mark_of_utf8_contradicts_another_encoding(tmp_path: Path) -> None:
    path = german(tmp_path / "t.csv", "utf-8-sig")
    with pytest.raises(dc.InputError, match=r"t\.csv .* UTF-8, .*latin-1"):
        dc.read(path, SCHEMA, encoding="latin-1")
    assert dc.read(path, SCHEMA).n == dc.read(path, SCHEMA, encoding="utf-8").n == 4


# ---- numbers


NUMBERS = {
    (",", ""): {"1,5": 1.5, "1.5": None, "12": 12, "-,5": -0.5, "1,5e1": 15, "1,2,3": None, " 2,5 ": 2.5},
    (",", "."): {
        "1.234,5": 1234.5,
        "1.5": None,
        "1.234": 1234,
        "12.34": None,
        "1234,5": 1234.5,
        "1.234.56": None,
    },
    (".", ","): {"1,234.5": 1234.5, "1,5": None, "1,234": 1234, "12,34": None, "1.5": 1.5},
    (",", " "): {"1 234,5": 1234.5, "1\u00a0234": 1234, "1\u202f234,5": 1234.5, "1 2": None},
    (".", "'"): {"1'234.5": 1234.5, "1'23": None},
    (".", ""): {"1,5": None, "1,234": None, "1.5": 1.5},
}


@pytest.mark.parametrize("marks", NUMBERS)
def test_numbers_are_written_as_declared_or_are_none(marks: tuple[str, str], tmp_path: Path) -> None:
    decimal, thousands = marks
    texts = NUMBERS[marks]
    path = german(tmp_path / "t.csv", "utf-8", "\n".join(["x", *(f'"{text}"' for text in texts), ""]))
    schema = dc.Schema(x=dc.Numeric(-1e6, 1e6, other=-77.0)).with_format(decimal=decimal, thousands=thousands)
    expected = [-77.0 if value is None else value for value in texts.values()]
    assert dc.read(path, schema).values["x"].tolist() == expected
    found = check(path, schema).columns[0]
    assert found.not_a_number == sum(value is None for value in texts.values())


def test_the_marks_are_of_text_files_only() -> None:
    schema = dc.Schema(x=dc.Numeric(0, 10)).with_format(decimal=",")
    assert dc.read({"x": ["1.5", 2.5, "3,5"]}, schema).values["x"].tolist() == [1.5, 2.5, 0.0]


# ---- separators


def test_a_declared_separator_wins_over_the_names(tmp_path: Path) -> None:
    path = german(tmp_path / "t.csv", "utf-8", "a,b;c\nyes,1;2\n")
    schema = dc.Schema({"a,b": dc.Categorical(["no", "yes,1"]), "c": dc.Numeric(0, 9)})
    assert dc.read(path, schema, separator=";").codes["a,b"].tolist() == [1]
    with pytest.raises(dc.SchemaError, match='no columns "a,b", "c"'):
        dc.read(path, schema, separator="|")


# ---- the schema file


def test_the_format_is_in_the_schema_file_and_survives_it(tmp_path: Path) -> None:
    format_ = {"encoding": "cp850", "separator": ";", "decimal": ",", "thousands": ".", "sheet": "A"}
    schema = SCHEMA.with_format(**format_)
    lines = schema.to_toml().splitlines()
    assert lines[:5] == [f'{entry} = "{value}"' for entry, value in format_.items()]
    assert dc.Schema.from_toml_string(schema.to_toml()) == schema != SCHEMA
    assert schema.select(["Geschlecht"]).format == schema.format
    assert hash(schema) != hash(SCHEMA)
    assert SCHEMA.with_format(encoding=None) is SCHEMA
    path = german(tmp_path / "t.csv", "cp850")
    assert dc.read(path, dc.Schema.from_toml_string(schema.to_toml())).codes["Geschlecht"].tolist() == [
        1,
        0,
        1,
        1,
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('encoding = "utf-16"', "schema:1: encoding 'utf-16' can't be read"),
        ("encoding = 5", "schema:1: encoding must be the name of an encoding, not 5"),
        ('separator = "::"', "schema:1: separator must be one of ',', ';', "),
        ('decimal = ";"', "schema:1: decimal must be one of '.', ',', not ';'"),
        ('thousands = "."', "schema:1: thousands and decimal are both '.'"),
        ('decimal = ","\nthousands = ","', "schema:2: thousands and decimal are both ','"),
        ("sheet = 1", "schema:1: sheet must be the name of a sheet, not 1"),
        ('seperator = ";"', 'schema:1: unknown entry "seperator" (did you mean "separator"?)'),
    ],
)
def test_a_fault_names_its_line(line: str, message: str) -> None:
    with pytest.raises(dc.SchemaError) as error:
        dc.Schema.from_toml_string(f"{line}\n{SCHEMA.to_toml()}")
    assert str(error.value).startswith(message)


# ---- drafts and checks: what is found goes there and nowhere else


def rows_of(count: int = 60) -> str:
    body = "".join(
        f"{('weiblich', 'männlich')[i % 2]};{i // 10},{i % 10};{i % 7}.{i:03}\n" for i in range(count)
    )
    return "Geschlecht;Größe;Zählung\n" + body


@pytest.mark.parametrize("encoding", ["latin-1", "cp850", "utf-8"])
def test_a_draft_recognises_how_a_file_is_written(encoding: str, tmp_path: Path) -> None:
    path = german(tmp_path / "t.csv", encoding, rows_of())
    schema = dc.Schema.from_toml_string(draft_toml(draft(path)))
    guess = {"latin-1": "windows-1252", "cp850": "cp850", "utf-8": None}[encoding]
    assert schema.format == FileFormat(encoding=guess, separator=";", decimal=",", thousands=".")
    assert schema["Geschlecht"] == dc.Categorical(["männlich", "weiblich"])
    assert isinstance(schema["Größe"], dc.Numeric)
    assert isinstance(schema["Zählung"], dc.Numeric)
    assert schema["Zählung"].upper > 6000
    found = check(path, schema)
    assert all(column.not_a_level + column.not_a_number == 0 for column in found.columns)
    assert found.to_dict()["cells_not_utf8"] == 0


def test_a_draft_of_yes_and_no_puts_no_first() -> None:
    words = {"nein": "ja", "no": "yes", "non": "oui", "Negative": "Positive", "control": "case", "no ": "YES"}
    for no, yes in words.items():
        column = dc.Schema.draft({"x": [yes, no] * 30})["x"]
        assert isinstance(column, dc.Categorical)
        assert column.levels == (no.strip(), yes)
        assert column.other == no.strip()
    three = dc.Schema.draft({"x": ["yes", "no", "maybe"] * 30})["x"]
    assert isinstance(three, dc.Categorical)
    assert three.levels == ("maybe", "no", "yes")


def test_an_english_draft_declares_nothing(tmp_path: Path) -> None:
    path = german(tmp_path / "t.csv", "utf-8", "a,b\n" + "".join(f"yes,{i / 8}\nno,1\n" for i in range(40)))
    assert draft(path).format == FileFormat()
    assert dc.Schema.draft(path).format == FileFormat()


def test_a_check_says_what_to_declare(tmp_path: Path) -> None:
    path = german(
        tmp_path / "t.csv", "cp850", rows_of().replace("ö", "o").replace("ß", "ss").replace("Zäh", "Zah")
    )
    schema = dc.Schema(Geschlecht=SEX, Grosse=dc.Numeric(0, 9))
    found = check(path, schema)
    assert found.to_dict()["format_recognised"] == {"encoding": "cp850", "decimal": ","}
    lines = "\n".join(check_lines(found))
    assert '`encoding = "cp850"`' in lines
    assert '`decimal = ","`' in lines
    declared = check(path, schema.with_format(encoding="cp850", decimal=","))
    assert declared.to_dict()["format_recognised"] == {}
    assert declared.columns[0].not_a_level == 0


def test_the_command_drafts_a_german_file_that_can_be_used(tmp_path: Path) -> None:
    path = german(tmp_path / "t.csv", "latin-1", rows_of())
    made = CliRunner().invoke(app, ["schema", str(path), "--columns", "Geschlecht,Größe"])
    assert made.exit_code == 0
    assert 'encoding = "windows-1252"\nseparator = ";"\ndecimal = ","\n' in made.stdout
    assert list(dc.Schema.from_toml_string(made.stdout)) == ["Geschlecht", "Größe"]
    named = CliRunner().invoke(app, ["schema", str(path), "--encoding", "iso-8859-15"])
    assert 'encoding = "iso-8859-15"\n' in named.stdout
    wrong = CliRunner().invoke(app, ["schema", str(path), "--columns", "Grosse"])
    assert 'no column "Grosse"' in str(wrong.exception)


def test_discover_and_test_take_the_encoding_and_the_columns(tmp_path: Path) -> None:
    path = german(tmp_path / "t.csv", "cp850", rows_of(400))
    schema = tmp_path / "s.toml"
    sex = dc.Schema({"Geschlecht": SEX, "Größe": dc.Numeric(0, 40), "Zählung": dc.Numeric(0, 7000)})
    sex.with_format(decimal=",", thousands=".").write(schema)
    common = [str(path), "--schema", str(schema), "--encoding", "cp850"]
    chosen = ["--columns", "Geschlecht", "--columns", "Größe"]
    out = tmp_path / "out"
    made = CliRunner().invoke(
        app, ["discover", *common, *chosen, "--method", "pc", "--out", str(out), "--json"]
    )
    assert made.exit_code == 0, made.exception
    assert dc.Graph.from_json((out / "graph.json").read_text()).nodes == ("Geschlecht", "Größe")
    report = (out / "report.html").read_text()
    assert "--columns Geschlecht --columns" in report
    assert "Größe" in report
    assert "--encoding cp850" in report
    asked = ["test", *common, "--x", "Geschlecht", "--y", "Größe", "--no-privacy"]
    assert CliRunner().invoke(app, asked).exit_code == 0
    wrong = CliRunner().invoke(
        app, ["discover", *common, "--columns", "Grösse", "--method", "pc", "--out", str(out)]
    )
    assert 'no column "Grösse" in the schema' in str(wrong.exception)


@pytest.mark.parametrize(
    "ask", [dc.discover, lambda rows, epsilon: dc.ci_test(rows, "a", "b", epsilon=epsilon)]
)
def test_rows_without_a_schema_are_told_which_two_lines_to_write(ask: Any) -> None:
    frames = {"df": pd.DataFrame({"a": ["x"]}), "rows": {"a": ["x"]}, '"p.csv"': "p.csv"}
    for name, rows in frames.items():
        with pytest.raises(dc.InputError) as error:
            ask(rows, epsilon=1.0)
        lines = f'schema = dc.Schema.from_toml("schema.toml"); data = dc.read({name}, schema)'
        assert lines in str(error.value)
        assert "\n" not in str(error.value)


def test_a_draft_of_a_frame_is_marked_and_leaves_identifiers_out() -> None:
    frame = pd.DataFrame(
        {
            "patient": range(200),
            "key": [f"P{i:04}" for i in range(200)],
            "smoke": ["no", "yes"] * 100,
            "age": np.linspace(20, 80, 200),
        }
    )
    for rows in (frame, pl.DataFrame(frame.to_dict("list")), frame.to_dict("list")):
        schema = dc.Schema.draft(rows)
        assert list(schema) == ["smoke", "age"]
        assert schema.is_draft
        assert dc.Schema.from_toml_string(schema.to_toml()).is_draft
    assert list(dc.Schema.draft(frame, columns=["age"])) == ["age"]
    with pytest.warns(dc.DraftSchema), pytest.warns(dc.ColumnsIgnored):
        data = dc.read(frame, schema)
    assert dc.ci_test(data, "smoke", "age", epsilon=None).privacy.limits
    with pytest.raises(dc.InputError, match="no column"):
        dc.Schema.draft(frame[["patient", "key"]])


def test_a_schema_or_columns_given_to_a_question_are_answered_by_the_line_to_write() -> None:
    frame, schema = (
        {"a": ["x", "y"] * 50, "b": ["u", "v"] * 50},
        dc.Schema(a=dc.Categorical(["x", "y"]), b=dc.Categorical(["u", "v"])),
    )
    calls: list[Any] = [
        (dc.discover, (frame, schema), {}),
        (dc.discover, (frame,), {"schema": schema}),
        (dc.ci_test, (frame, "a", "b"), {"schema": schema}),
        (dc.effect, (frame, schema, "a", "b"), {}),
    ]
    for function, arguments, named in calls:
        with pytest.raises(dc.InputError) as error:
            function(*arguments, **named, epsilon=1.0)
        name = function.__name__
        way = f"data = dc.read(df, schema), then dc.{name}(data, ...)"
        assert str(error.value).endswith(way)
    with pytest.raises(
        dc.InputError, match=r"dc.read\(df, schema.select\(columns\)\), then dc.discover\(data"
    ):
        dc.discover(dc.read(frame, schema), columns=["a", "b"], epsilon=1.0)  # type: ignore[arg-type]
    with pytest.raises(dc.SchemaError, match=r'Schema.from_toml\("schema.toml"\)'):
        dc.Schema("schema.toml")  # type: ignore[arg-type]


def test_semicolons_without_a_decimal_mark_are_warned_of_whatever_the_rows_hold(tmp_path: Path) -> None:
    numbers = dc.Schema(wage=dc.Numeric(0, 50, other=14), sex=dc.Categorical(["f", "m"]))
    said = 'numbers with decimal commas are taken for missing; they need decimal=","'
    for cells in ("10,5;f\n", "10.5;f\n", "7;m\n"):
        path = tmp_path / "rows.csv"
        path.write_text("wage;sex\n" + cells * 9)
        with pytest.warns(dc.DecimalNotDeclared, match=said):
            dc.read(path, numbers)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = [dc.read(path, numbers, decimal=mark).values["wage"][0] for mark in (",", ".")]
            dc.read(path, dc.Schema(sex=numbers["sex"], wage=dc.Categorical(["7"])))
        assert found[0] == (10.5 if "," in cells else 7.0 if cells[0] == "7" else 14.0)
        drafted = tmp_path / "schema.toml"
        dc.Schema.draft(path).write(drafted)
        assert f'decimal = "{"," if "," in cells else "."}"' in drafted.read_text()
        lines = drafted.read_text().splitlines()
        drafted.write_text("\n".join(line for line in lines if not line.startswith("draft")))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            dc.read(path, dc.Schema.from_toml(drafted))
    commas = tmp_path / "commas.csv"
    commas.write_text("wage,sex\n10.5,f\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dc.read(commas, numbers)
