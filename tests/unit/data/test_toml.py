"""Faults of a schema file name the file and the line, wherever the column is declared."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpcausal as dc

FAULTS = [
    ('# a\n[columns.""]\ntype = "numeric"\nlower = 0\nupper = 1\n', ":2: a column's name must not be empty"),
    ('[columns]\n"" = { type = "numeric", lower = 0, upper = 1 }\n', ":2: a column's name must not be empty"),
    ("# a\ncolumns = [1, 2]\n", ":2: columns must be tables [columns.NAME], not a list"),
    ('\n\ncolumns = "x"\n', ":3: columns must be tables [columns.NAME], not 'x'"),
    ("[[columns]]\nx = 1\n", ":1: columns must be tables [columns.NAME], not a list"),
    ("[columns]\n\nsmoke = 3\n", ':3: column "smoke" must be a table [columns.smoke], not 3'),
    ("draft = true\ncolumns.smoke = 3\n", ':2: column "smoke" must be a table'),
    ('[columns]\nage = { type = "categorical" }\n', ':2: column "age" has no levels'),
    ("# a\na" + ".a" * 100_000 + " = 1\n", ":2: not valid TOML: nested too deeply"),
    ("\n\n[columns" + ".a" * 100_000 + "]\n", ":3: not valid TOML: nested too deeply"),
    ("[[columns" + " . 'a'" * 100_000 + "]]\n", ":1: not valid TOML: nested too deeply"),
    ("columns = { a" + '."b"' * 100_000 + " = 1 }\n", ":1: not valid TOML: nested too deeply"),
    ("draft = " + "[" * 5000 + "]" * 5000 + "\n", ":1: not valid TOML: nested too deeply"),
    (
        '[columns.a]\ntype = "numeric"\nlower = 0\nupper = ' + "9" * 5000 + "\n",
        ":4: a number with too many digits",
    ),
    ('[columns.a]\ntype = "categorical"\nlevels = [1, ' + "9" * 5000 + "]\n", ":3: a number with too many"),
    ("[columns.a]\ntype = \n", ":2: not valid TOML: invalid value"),
]


@pytest.mark.parametrize(("text", "said"), FAULTS)
def test_every_fault_names_file_and_line(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "schema.toml"
    file.write_text(text)
    with pytest.raises(dc.SchemaError) as caught:
        dc.Schema.from_toml(file)
    assert str(caught.value).startswith(f"{file}{said}")
    assert len(str(caught.value)) < len(str(file)) + 200


@pytest.mark.parametrize("quote", ['"', "'", '"""', "'''"])
def test_dots_in_a_text_are_not_a_key(quote: str) -> None:
    text = "a." * 5000
    schema = dc.Schema.from_toml_string(
        f'# {text}\n[columns.x]\ntype = "categorical"\nlevels = [{quote}{text}{quote}, "b"]\n'
    )
    assert schema["x"].printed == (text, "b")
