"""Schemas from code books: what they declare, what they lack, and that a file is read by them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

import dpcausal as dc
from dpcausal.cli.app import app
from dpcausal.data.code_books import redcap, table_schema, value_labels

HEADS = (
    "Variable / Field Name,Form Name,Section Header,Field Type,Field Label,"
    '"Choices, Calculations, OR Slider Labels",Field Note,Text Validation Type OR Show Slider Number,'
    "Text Validation Min,Text Validation Max,Identifier?,Branching Logic (Show field only if...),Required Field?"
)
DICTIONARY = f"""{HEADS}
record_id,base,,text,Record,,,,,,,,
name,base,,text,Name,,,number,1,9,y,,
sex,base,,radio,Sex,"1, Male | 2, Female",,,,,,,y
race,base,,dropdown,<b>Race</b>,"1, White | 2, Black, or African | 9, Unknown",,,,,,,
smoker,base,,yesno,Smoker,,,,,,,,y
fine,base,,truefalse,Fine,,,,,,,,
drugs,base,,checkbox,Drugs,"1, Aspirin | A, Statin | -9, None",,,,,,,
pain,base,,slider,Pain,none | some | worst,,number,,,,,
age,base,,text,Age,,,integer,18,110,,,y
bmi,base,,calc,BMI,[w]/([h]*[h]),,,,,,,
weight,base,,text,Weight,,,number_1dp,30,,,,
seen,base,,text,Seen,,,date_dmy,2015-01-01,2024-12-31,,,y
died,base,,text,Died,,,date_ymd,2015-01-01,today,,,
stage,base,,radio,Stage,"1, early | 2, early | 3, late",,,,,,,y
late,base,,radio,Late,"1, yes | 0, no",,,,,,[stage] = 3,y
notes,base,,notes,Notes,,,,,,,,
"""


@pytest.fixture
def dictionary(tmp_path: Path) -> Path:
    """A REDCap data dictionary."""
    file = tmp_path / "dictionary.csv"
    file.write_text(DICTIONARY)
    return file


def test_a_redcap_dictionary_declares_its_fields(dictionary: Path) -> None:
    book = redcap(dictionary)
    schema = book.schema
    assert not schema.is_draft
    assert book.lacking == {"bmi": ("lower", "upper"), "weight": ("upper",), "died": ("upper",)}
    assert book.left_out == ("record_id", "name", "notes")
    levels = {name: list(one.levels) for name, one in schema.items() if isinstance(one, dc.Categorical)}
    assert levels == {
        "sex": ["Male", "Female"],
        "race": ["White", "Black, or African", "Unknown"],
        "smoker": ["no", "yes"],
        "fine": ["false", "true", "missing"],
        "drugs___1": ["no", "yes"],
        "drugs___a": ["no", "yes"],
        "drugs____9": ["no", "yes"],
        "stage": ["1", "2", "3"],  # labels that do not tell codes apart
        "late": ["yes", "no", "missing"],  # asked of some only
    }
    assert schema["race"].other == "Unknown"
    assert schema["race"].label == "Race"
    assert schema["age"] == dc.Numeric(18, 110, other=64)
    assert schema["pain"] == dc.Numeric(0, 100, other=50, missing_level=True)
    assert schema["seen"] == dc.Date("2015-01-01", "2024-12-31", other="2020-01-01")  # the middle, no bound
    assert dc.Schema.from_toml_string(schema.to_toml()) == schema


def test_exports_of_codes_and_of_labels_are_read_alike(dictionary: Path) -> None:
    schema = redcap(dictionary).schema[["sex", "smoker", "fine", "drugs___1", "race"]]
    codes = {
        "sex": ["1", "2"],
        "smoker": ["0", "1"],
        "fine": ["1", ""],
        "drugs___1": ["1", "0"],
        "race": ["2", ""],
    }
    labels: dict[str, list[Any]] = {
        "sex": ["Male", "Female"],
        "smoker": ["No", "Yes"],
        "fine": ["True", ""],
        "drugs___1": ["Checked", "Unchecked"],
        "race": ["Black, or African", ""],
    }
    numbers = {name: [float(cell) if cell else None for cell in cells] for name, cells in codes.items()}
    first, second, third = (dc.read(one, schema) for one in (codes, labels, pd.DataFrame(numbers)))
    for name in schema:
        assert first.codes[name].tolist() == second.codes[name].tolist() == third.codes[name].tolist(), name
    assert first.codes["fine"].tolist() == [1, 2]
    assert first.codes["race"].tolist() == [1, 2]


def test_headings_of_the_api_are_known_and_other_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "api.csv"
    file.write_text("field_name,form_name,field_type,field_label\nsmoker,base,yesno,Smoker\n")
    assert list(redcap(file).schema) == ["smoker"]
    file.write_text("age,sex\n30,f\n")
    with pytest.raises(dc.InputError, match="no REDCap data dictionary"):
        redcap(file)
    with pytest.raises(dc.InputError, match="no such file"):
        redcap(tmp_path / "nothing.csv")


def test_a_dictionary_may_be_written_by_excel_elsewhere(tmp_path: Path) -> None:
    """In Windows-1252, with semicolons; one that can't be read is one line."""
    rows = 'sex,base,,radio,"Für alle","1, männlich | 2, weiblich"\n'
    file = tmp_path / "dictionary.csv"
    for encoding, separator in (("utf-8-sig", ","), ("windows-1252", ","), ("windows-1252", ";")):
        lines = csv.reader(f"{HEADS}\n{rows}".splitlines())
        with file.open("w", encoding=encoding, newline="") as stream:
            csv.writer(stream, delimiter=separator).writerows(lines)
        sex = redcap(file).schema["sex"]
        assert isinstance(sex, dc.Categorical)
        assert (sex.label, sex.levels[0]) == ("Für alle", "männlich")
    for text, wrong in (
        (f'{HEADS}\nsex,base,,radio,"{"x" * 200_000}', "a quote not closed"),
        (f"{HEADS}\nsex,base,,yesno,Sex\nsex,base,,yesno,Sex\n", 'describes "sex" twice'),
        (f"{HEADS}\nw,base,,calc,Weight\nid,base,,text,Id\n", "in full: w lacks lower and upper"),
    ):
        file.write_text(text)
        found = CliRunner().invoke(app, ["schema", "--redcap", str(file)])
        assert isinstance(found.exception, dc.InputError)
        assert wrong in str(found.exception)


def test_what_a_dictionary_does_not_say_is_not_made_up(tmp_path: Path) -> None:
    file = tmp_path / "dictionary.csv"
    file.write_text(
        f'{HEADS}\nok,base,,yesno,Ok\nward,base,,radio,Ward,\ncells,base,,text,Cells,,,integer,"1,000",5000\n'
    )
    book = redcap(file)
    assert (list(book.schema), book.lacking) == (["ok"], {"ward": ("levels",), "cells": ("lower",)})
    told = CliRunner().invoke(app, ["schema", "--redcap", str(file)]).stderr
    assert "ward is not declared: levels are lacking" in told
    wrong = CliRunner().invoke(app, ["schema", "--redcap", str(file), "--sheet", "A"])
    assert isinstance(wrong.exception, dc.InputError)


def test_decimal_commas_are_declared_and_not_mixed_with_points(tmp_path: Path) -> None:
    comma = 'hb,base,,text,Hb,,,number_1dp_comma_decimal,"4,0",20,,,y\n'
    file = tmp_path / "dictionary.csv"
    file.write_text(f"{HEADS}\n{comma}n,base,,text,N,,,integer,0,9,,,y\n")
    schema = redcap(file).schema
    assert schema.format.decimal == ","
    (tmp_path / "rows.csv").write_text('hb,n\n"12,5",3\n')
    assert dc.read(tmp_path / "rows.csv", schema).values["hb"].tolist() == [12.5]
    file.write_text(f"{HEADS}\n{comma}crp,base,,text,CRP,,,number,0,300,,,y\n")
    book = redcap(file)
    assert (book.lacking, list(book.schema), book.schema.format.decimal) == (
        {"hb": ("decimal",)},
        ["crp"],
        None,
    )


def test_no_value_is_put_on_a_bound_and_no_field_lost(tmp_path: Path) -> None:
    """A missing date is in the middle, as a missing number is; a dropdown that a query fills lacks its levels."""
    file = tmp_path / "dictionary.csv"
    seen = "seen,base,,text,Seen,,,datetime_dmy,2015-01-01 00:00,2015-01-31,,,y\n"
    file.write_text(f"{HEADS}\n{seen}ward,base,,sql,Ward,select id from w,,,,,,,\n")
    book = redcap(file)
    assert book.schema["seen"] == dc.Date("2015-01-01", "2015-01-31", other="2015-01-16")
    assert book.lacking == {"ward": ("levels",)}


def test_value_labels_are_metadata(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"sex": [1.0, 1.0], "age": [40.0, 998.0], "text": ["a", "b"], "grade": [1.0, 2.0]})
    labels = {
        "sex": {1: "male", 2: "female"},
        "age": {998: "unknown"},
        "grade": {1: "low", 2: "mid", 3: "high"},
    }
    file = tmp_path / "rows.sav"
    measures = {"grade": "ordinal"}
    pyreadstat.write_sav(
        frame, file, variable_value_labels=labels, variable_measure=measures, column_labels={"sex": "Sex"}
    )
    book = value_labels(file)
    sex, grade = book.schema["sex"], book.schema["grade"]
    assert isinstance(sex, dc.Categorical)
    assert isinstance(grade, dc.Categorical)
    assert list(sex.levels) == ["male", "female", "missing"]  # one that no row has is there, too
    assert (sex.label, sex.aliases["2"], grade.ordered) == ("Sex", "female", True)
    assert book.lacking == {"age": ("lower", "upper")}
    assert book.left_out == ("text",)
    assert dc.read(file, book.schema).codes["sex"].tolist() == [0, 0]


def test_labels_of_missing_values_are_no_levels(tmp_path: Path) -> None:
    """Stata's .a to .z and what SPSS calls user-missing: cells of them are missing, in the file and in an export."""
    pyreadstat = pytest.importorskip("pyreadstat")
    stata, spss = tmp_path / "rows.dta", tmp_path / "rows.sav"
    labels = {"smoke": {0: "never", 1: "ever", "a": "refused to say"}}
    frame = pd.DataFrame({"smoke": [0, 1, "a"]})
    pyreadstat.write_dta(
        frame, stata, variable_value_labels=labels, missing_user_values={"smoke": ["a"]}, version=15
    )
    frame = pd.DataFrame({"smoke": [0.0, 1.0, 9.0]})
    labels = {"smoke": {0: "never", 1: "ever", 9: "refused to say"}}
    pyreadstat.write_sav(frame, spss, variable_value_labels=labels, missing_ranges={"smoke": [9]})
    for file in (stata, spss):
        schema = value_labels(file).schema
        smoke = schema["smoke"]
        assert isinstance(smoke, dc.Categorical)
        assert list(smoke.levels) == ["never", "ever", "missing"]
        assert dc.read(file, schema).codes["smoke"].tolist() == [0, 1, 2]
    assert dc.read({"smoke": ["0", "1", "9"]}, schema).codes["smoke"].tolist() == [0, 1, 2]


def test_numbers_with_labels_at_their_ends_are_told(tmp_path: Path) -> None:
    """A scale from 0 to 10 of which two numbers have a label, and a number with one label for a special value."""
    pytest.importorskip("pyreadstat")
    file = tmp_path / "rows.dta"
    frame = pd.DataFrame({"pain": [0, 3, 10], "crp": [-1.0, 3.5, 20.0], "sex": [1, 2, 9]})
    labels: dict[str, dict[float, str]] = {
        "pain": {0: "none", 10: "worst"},
        "crp": {-1: "below detection"},
        "sex": {1: "männlich, m", 2: 'weiblich "w"', 9: "unknown"},
    }
    frame.to_stata(file, value_labels=labels, version=114, write_index=False)  # labels in Latin-1
    book = value_labels(file)
    assert (book.gaps, book.lacking) == (("pain",), {"crp": ("lower", "upper")})
    sex = book.schema["sex"]
    assert isinstance(sex, dc.Categorical)
    assert list(sex.levels) == ["männlich, m", 'weiblich "w"', "unknown"]
    found = CliRunner().invoke(app, ["schema", "--labels", str(file)])
    assert 'pain: numbers between its labelled codes have no label, and become "missing"' in found.stderr
    found = CliRunner().invoke(app, ["schema", "--labels", str(file), "--columns", "sex,crp"])
    assert found.stderr == "crp is not declared: lower and upper are lacking\n"


FRICTIONLESS = {
    "fields": [
        {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"], "required": True}},
        {"name": "age", "type": "integer", "title": "Age", "constraints": {"minimum": 0, "maximum": 110}},
        {"name": "bmi", "type": "number", "constraints": {"minimum": 10}},
        {"name": "ok", "type": "boolean", "constraints": {"required": True}},
        {
            "name": "seen",
            "type": "date",
            "format": "%d/%m/%Y",
            "constraints": {"minimum": "2015-01-01", "maximum": "2020-12-31"},
        },
        {
            "name": "when",
            "type": "date",
            "format": "any",
            "constraints": {"minimum": "2015-01-01", "maximum": "2020-12-31"},
        },
        {
            "name": "grade",
            "type": "integer",
            "categories": [{"value": 1, "label": "low"}, {"value": 2, "label": "high"}],
            "categoriesOrdered": True,
        },
        {"name": "city", "type": "string"},
        {"name": "place", "type": "geopoint"},
    ]
}
CSVW = {
    "@context": "http://www.w3.org/ns/csvw",
    "url": "rows.csv",
    "tableSchema": {
        "columns": [
            {
                "name": "age",
                "titles": ["Age"],
                "datatype": {"base": "integer", "minimum": "0", "maximum": "110"},
            },
            {"name": "size", "datatype": {"base": "string", "format": "^(small|large)$"}, "required": True},
            {
                "name": "seen",
                "datatype": {
                    "base": "date",
                    "format": "dd.MM.yyyy",
                    "minimum": "2015-01-01",
                    "maximum": "2020-12-31",
                },
            },
        ]
    },
}


def test_a_frictionless_schema_declares_its_fields(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    for document in (FRICTIONLESS, {"resources": [{"name": "rows", "schema": FRICTIONLESS}]}):
        file.write_text(json.dumps(document))
        book = table_schema(file)
        assert list(book.schema) == ["sex", "age", "ok", "seen", "grade"]
        assert book.lacking == {"bmi": ("upper",), "when": ("format",), "city": ("levels",)}
        assert book.left_out == ("place",)
        seen, grade = book.schema["seen"], book.schema["grade"]
        assert isinstance(seen, dc.Date)
        assert isinstance(grade, dc.Categorical)
        assert seen.format == "%d/%m/%Y"
        assert (list(grade.levels), grade.ordered) == (["low", "high", "missing"], True)


def test_metadata_of_the_web_declare_their_columns(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv-metadata.json"
    file.write_text(json.dumps(CSVW))
    schema = table_schema(file).schema
    assert schema["Age"] == dc.Numeric(
        0, 110, other=55, missing_level=True
    )  # a title is the heading in the file
    assert schema["size"] == dc.Categorical(["small", "large"])
    seen = schema["seen"]
    assert isinstance(seen, dc.Date)
    assert seen.format == "%d.%m.%Y"


def test_a_column_of_the_web_may_have_titles_alone_or_be_no_column_of_the_file(tmp_path: Path) -> None:
    columns = [
        {"titles": {"en": ["Age", "Years"]}, "datatype": {"base": "nonNegativeInteger", "maximum": "110"}},
        {"name": "fever", "titles": "Fever", "datatype": {"base": "boolean", "format": "Y|N"}},
        {"name": "row", "virtual": True, "datatype": "integer"},
    ]
    file = tmp_path / "rows.json"
    file.write_text(json.dumps({"null": "-9", "tableSchema": {"columns": columns}}))
    book = table_schema(file)
    assert (book.lacking, book.left_out) == ({}, ())
    assert book.schema["Age"] == dc.Numeric(0, 110, other=55, missing=[-9], missing_level=True, label="Years")
    fever = book.schema["Fever"]
    assert isinstance(fever, dc.Categorical)
    assert list(fever.levels) == ["N", "Y", "missing"]


def test_values_that_a_table_schema_calls_missing_are_no_numbers_and_no_levels(tmp_path: Path) -> None:
    dates = {"minimum": "2015-01-01", "maximum": "2020-12-31"}
    fields = [
        {"name": "ok", "type": "boolean", "trueValues": ["Y"], "falseValues": ["N"]},
        {"name": "usual", "type": "boolean"},
        {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 100}},
        {"name": "grade", "type": "string", "constraints": {"enum": ["low", "high", "-99"]}},
        {"name": "seen", "type": "date", "constraints": dates, "missingValues": ["2019-09-09"]},
    ]
    file = tmp_path / "schema.json"
    file.write_text(json.dumps({"missingValues": ["", "-99", "NA"], "fields": fields}))
    schema = table_schema(file).schema
    rows = {
        "ok": ["Y", "N", "NA", "-99"],
        "usual": ["True", "0", "FALSE", ""],
        "n": ["5", "-99", "", "100"],
        "grade": ["low", "-99", "high", "NA"],
        "seen": ["2016-01-01", "-99", "2019-09-09", "2020-01-01"],
    }
    data = dc.read(rows, schema)
    found = {name: data.codes[name].tolist() for name in schema}
    assert found == {
        "ok": [1, 0, 2, 2],
        "usual": [1, 0, 0, 2],
        "n": [0, 4, 4, 3],
        "grade": [0, 2, 1, 2],
        "seen": [0, 4, 4, 3],
    }


def test_a_table_schema_says_how_its_file_is_written(tmp_path: Path) -> None:
    """Decimal commas, thousands, encoding; and bounds of dates may be written as dates of the column are."""
    dates = {"minimum": "01.01.2015", "maximum": "31.12.2020"}
    frictionless = {
        "encoding": "cp850",
        "schema": {
            "fields": [
                {
                    "name": "dose",
                    "type": "number",
                    "decimalChar": ",",
                    "groupChar": ".",
                    "constraints": {"exclusiveMinimum": 0, "maximum": 5000, "required": True},
                },
                {"name": "seen", "type": "date", "format": "%d.%m.%Y", "constraints": dates},
                {
                    "name": "ward",
                    "type": "string",
                    "constraints": {"pattern": "^(süd|nord)$", "required": True},
                },
                {"name": "grade", "type": "string", "constraints": {"enum": [None, "low", "high"]}},
            ]
        },
    }
    number = {"base": "decimal", "format": {"decimalChar": ",", "groupChar": "."}, "minExclusive": 0}
    days = {"base": "date", "format": "dd.MM.yyyy", **dates}
    columns = [
        {"name": "dose", "datatype": {**number, "maximum": 5000}, "required": True},
        {"name": "seen", "datatype": days},
        {"name": "ward", "datatype": {"base": "string", "format": "(süd|nord)"}, "required": True},
        {"name": "grade", "datatype": {"base": "string", "format": "low|high"}},
    ]
    web = {"dialect": {"encoding": "cp850"}, "tableSchema": {"columns": columns}}
    rows = tmp_path / "rows.csv"
    rows.write_bytes("dose;seen;ward;grade\n1.234,5;02.01.2015;süd;\n2,5;;nord;high\n".encode("cp850"))
    file = tmp_path / "schema.json"
    for document in (frictionless, web):
        file.write_text(json.dumps(document))
        schema = dc.Schema.from_toml_string(table_schema(file).schema.to_toml())
        data = dc.read(rows, schema)
        assert data.values["dose"].tolist() == [1234.5, 2.5]
        seen = schema["seen"]
        assert isinstance(seen, dc.Date)
        assert seen.shown(data.values["seen"][0]) == "2015-01-02"
        found = {name: data.codes[name].tolist() for name in ("ward", "grade")}
        assert found == {"ward": [0, 1], "grade": [2, 1]}


def test_numbers_that_a_file_can_not_mix_lack_their_mark(tmp_path: Path) -> None:
    bounds = {"constraints": {"minimum": 0, "maximum": 9}}
    fields = [
        {"name": "a", "type": "number", "decimalChar": ",", **bounds},
        {"name": "b", "type": "number", **bounds},
        {"name": "c", "type": "number", "decimalChar": "·", **bounds},
    ]
    file = tmp_path / "schema.json"
    file.write_text(json.dumps({"fields": fields}))
    book = table_schema(file)
    assert (list(book.schema), book.lacking) == (["b"], {"a": ("decimal",), "c": ("decimal",)})
    found = CliRunner().invoke(app, ["schema", "--table-schema", str(file)])
    assert "a is not declared: a file is read with one decimal mark" in found.stderr


@pytest.mark.parametrize("said", [{"primaryKey": "nr"}, {"primaryKey": ["nr"]}, {}])
def test_identifiers_are_left_out(tmp_path: Path, said: dict[str, Any]) -> None:
    limits = {"minimum": 1, "maximum": 99_999, "unique": not said}
    fields = [{"name": "nr", "type": "integer", "constraints": limits}, {"name": "ok", "type": "boolean"}]
    file = tmp_path / "schema.json"
    file.write_text(json.dumps({"fields": fields, **said}))
    assert (list(table_schema(file).schema), table_schema(file).left_out) == (["ok"], ("nr",))


def test_a_format_of_dates_that_can_not_be_read_is_lacking(tmp_path: Path) -> None:
    """A time after an ISO date is left out; after another date it can't be."""
    bounds = {"minimum": "2015-01-01T00:00:00", "maximum": "2020-12-31T00:00:00"}
    formats = {"a": "yyyy-MM-ddTHH:mm:ss", "b": "dd.MM.yyyy HH:mm", "c": "M/d/yyyy"}
    columns = [
        {"name": name, "datatype": {"base": "dateTime", "format": text, **bounds}}
        for name, text in formats.items()
    ]
    file = tmp_path / "schema.json"
    file.write_text(json.dumps({"tableSchema": {"columns": columns}}))
    book = table_schema(file)
    assert book.lacking == {"b": ("format",)}
    data = dc.read({"a": ["2016-02-01T10:00:00"], "c": ["2/1/2016"]}, book.schema)
    assert data.values["a"].tolist() == data.values["c"].tolist() == [16832.0]


@pytest.mark.parametrize(
    "text", ["[1]", "{", "{}", json.dumps({"resources": [{"schema": FRICTIONLESS}] * 2})]
)
def test_other_documents_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "schema.json"
    file.write_text(text)
    with pytest.raises(dc.InputError):
        table_schema(file)


def test_the_command_prints_a_schema_and_names_what_is_lacking(dictionary: Path, tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["schema", "--redcap", str(dictionary)])
    assert found.exit_code == 0
    assert dc.Schema.from_toml_string(found.stdout) == redcap(dictionary).schema
    assert "weight" in found.stderr
    told = json.loads(CliRunner().invoke(app, ["schema", "--redcap", str(dictionary), "--json"]).stdout)
    assert told["lacking"]["bmi"] == ["lower", "upper"]
    assert "draft" not in told
    for wrong in ([], ["rows.csv", "--redcap", str(dictionary)], ["--redcap", str(tmp_path / "nothing.csv")]):
        assert isinstance(CliRunner().invoke(app, ["schema", *wrong]).exception, dc.InputError)
