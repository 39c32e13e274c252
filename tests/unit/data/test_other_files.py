"""Workbooks and files of SPSS, Stata, SAS and R: labels become levels, types are those of the file."""

from __future__ import annotations

import datetime
import gzip
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyreadstat
import pytest

import dpcausal as dc
from dpcausal.data.check import check
from dpcausal.data.xlsx import open_sheet

sys.path.append(str(Path(__file__).parents[2] / "property" / "data"))
from file_makers import r_attributes, r_integers, r_numbers, r_texts, write_frame

SEX = {1: "männlich", 2: "weiblich"}
FRAME = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 1.0, np.nan, 2.0],
        "age": [31.5, 64.0, 999.0, 40.0, 50.0],
        "site": pd.Series(["Köln", "Bonn", "", "Köln", "Bonn"], dtype=object),
        "visits": [1, 2, 3, 4, 2],
    }
)
SCHEMA = dc.Schema(
    sex=dc.Categorical(["weiblich", "männlich"], other="weiblich"),
    age=dc.Numeric(0, 100, bins=[40, 60], other=50, missing=[999]),
    site=dc.Categorical(["Bonn", "Köln"]),
    visits=dc.Categorical([1, 2, 3, 4]),
)
EXPECTED = {
    "sex": [1, 0, 1, 0, 0],
    "age": [0, 2, 1, 1, 1],
    "site": [1, 0, 0, 1, 0],
    "visits": [0, 1, 2, 3, 1],
}


def write_sav(path: Path) -> None:
    pyreadstat.write_sav(
        FRAME, str(path), variable_value_labels={"sex": SEX}, compress=path.suffix == ".zsav"
    )


def write_dta(path: Path) -> None:
    pyreadstat.write_dta(FRAME, str(path), variable_value_labels={"sex": SEX})


def write_xpt(path: Path) -> None:
    frame = FRAME.assign(sex=pd.Series([SEX.get(code, "") for code in FRAME["sex"]], dtype=object))
    pyreadstat.write_xport(frame, str(path))


def write_xlsx(path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Patienten"
    book.active.append(list(FRAME.columns))
    for sex, age, site, visits in FRAME.itertuples(index=False):
        book.active.append([SEX.get(sex), age, site or None, visits])
    book.create_sheet("Notizen").append(["nichts"])
    book.save(path)


def write_rds(path: Path) -> None:
    levels = r_attributes(levels=r_texts([SEX[1].encode(), SEX[2].encode()]), class_=r_texts([b"factor"]))
    columns = {
        "sex": r_integers([1, 2, 1, -(2**31), 2], levels),
        "age": r_numbers(FRAME["age"].tolist()),
        "site": r_texts([text.encode("latin-1") or None for text in FRAME["site"]]),
        "visits": r_integers(FRAME["visits"].tolist()),
    }
    write_frame(columns, 5, path)


WRITERS: dict[str, Callable[[Path], None]] = {
    ".sav": write_sav, ".zsav": write_sav, ".dta": write_dta, ".xpt": write_xpt, ".xlsx": write_xlsx, ".rds": write_rds,
}  # fmt: skip


@pytest.fixture(params=WRITERS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"t{request.param}"
    WRITERS[request.param](path)
    return path


def codes(data: dc.Dataset) -> dict[str, list[int]]:
    return {name: column.tolist() for name, column in data.codes.items()}


def test_every_file_is_read_alike(path: Path) -> None:
    assert codes(dc.read(path, SCHEMA)) == EXPECTED
    found = check(path, SCHEMA)
    assert found.usable
    assert sum(column.not_a_level + column.not_a_number for column in found.columns) == 0


def test_levels_may_be_codes_or_labels(path: Path) -> None:
    if path.suffix in (".xlsx", ".xpt"):
        pytest.skip("it has no value labels")
    coded = dc.Schema(sex=dc.Categorical([2, 1]))
    labelled = dc.Schema(sex=dc.Categorical(["weiblich", "männlich"]))
    number = dc.Schema(sex=dc.Numeric(0, 5))
    with pytest.warns(dc.ColumnsIgnored):
        by_code, by_label, by_number = (dc.read(path, schema) for schema in (coded, labelled, number))
    assert codes(by_code) == codes(by_label) == {"sex": EXPECTED["sex"]}
    assert by_number.values["sex"].tolist() == [1, 2, 1, 0, 2]


@pytest.mark.filterwarnings("ignore::dpcausal.DraftSchema")
def test_a_draft_fits_and_takes_levels_from_the_labels(path: Path) -> None:
    schema = dc.Schema.draft(path)
    assert schema.is_draft
    found = check(path, schema)
    assert sum(column.not_a_level + column.not_a_number + column.above for column in found.columns) == 0
    sex = schema["sex"]
    assert isinstance(sex, dc.Categorical)
    assert sex.levels == ("männlich", "weiblich", "missing")  # in the order of codes, or of the alphabet
    if path.suffix in (".sav", ".zsav", ".dta"):  # a frame of codes means the same as the file, labels too
        assert sex.aliases == {"1": "männlich", "2": "weiblich"}
        wanted = codes(dc.read(path, schema))["sex"]
        for frame in (FRAME, FRAME.assign(sex=FRAME["sex"].map(SEX).astype("category"))):
            assert codes(dc.read(frame, schema))["sex"] == wanted


def test_codes_without_their_labels_are_refused_by_their_type() -> None:
    sex = dc.Schema(sex=dc.Categorical(["male", "female"], missing=[9]))
    for cells in (
        np.array([1.0, 2.0]),
        np.array([1, 2]),
        np.array([True, False]),
    ):
        with pytest.raises(
            dc.SchemaError, match=r'"sex" of the .*no level is .*\(male, female\).*aliases.*labels'
        ) as said:
            dc.read({"sex": cells}, sex)
        assert "\n" not in str(said.value)
        found = dc.check({"sex": cells}, sex)
        assert not found.usable
        assert found.fault() == str(said.value)
        assert str(said.value) in str(found)
    for cells in (
        ["1", "2"],
        np.array(["1", "2"]),
        pd.Series(["1", "2"]),
        [1, 2],
        pd.Series([1, 2], dtype="category"),  # its type may follow from the rows
    ):  # what they spell is not looked at
        assert codes(dc.read({"sex": cells}, sex)) == {"sex": [0, 0]}
    for column in (
        dc.Categorical(["male", "female"], aliases={"2": "female"}),
        dc.Categorical([1, 2]),
        dc.Categorical([True]),
    ):
        assert dc.check({"sex": np.array([1.0, 2.0])}, dc.Schema(sex=column)).usable


def test_labels_of_some_values_leave_numbers_numbers(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [*np.linspace(20, 80, 61), 999.0] * 2})
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_value_labels={"age": {999: "refused"}})
    age = dc.Schema.draft(tmp_path / "t.sav")["age"]
    assert isinstance(age, dc.Numeric)
    assert age.missing == (999,)
    assert age.upper <= 110


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".rds"])
def test_a_draft_shows_the_labels_that_a_file_has_for_its_columns(suffix: str, tmp_path: Path) -> None:
    path, frame = tmp_path / f"t{suffix}", pd.DataFrame({"flc": [1.0, 2.0, 2.0], "sex": [1.0, 2.0, 1.0]})
    if suffix == ".rds":
        label = r_attributes(label=r_texts(["Größe der Gruppe".encode()]))
        write_frame({"flc": r_numbers([1, 2, 2], label), "sex": r_numbers([1, 2, 1])}, 3, path)
    else:
        writer: Any = pyreadstat.write_sav if suffix == ".sav" else pyreadstat.write_dta
        writer(frame, str(path), column_labels={"flc": "Größe der Gruppe", "sex": "sex"})
    drafted = dc.Schema.draft(path)
    assert 'label = "Größe der Gruppe"\n' in drafted.to_toml()
    assert drafted.labels == {"flc": "Größe der Gruppe"}
    assert dc.Schema.from_toml_string(drafted.to_toml()).labels == drafted.labels
    assert drafted["flc"] == dc.Categorical([1, 2])


def test_values_that_the_file_calls_missing_are_missing(tmp_path: Path) -> None:
    pyreadstat.write_sav(FRAME, str(tmp_path / "t.sav"), missing_ranges={"age": [999]})
    schema = dc.Schema(age=dc.Numeric(0, 2000, other=7))
    with pytest.warns(dc.ColumnsIgnored):
        assert dc.read(tmp_path / "t.sav", schema).values["age"].tolist() == [31.5, 64, 7, 40, 50]


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xlsx", ".rds"])
def test_dates_are_levels_and_not_numbers(suffix: str, tmp_path: Path) -> None:
    days = [datetime.date(2020, 1, 1), datetime.date(1999, 12, 31)]
    path = tmp_path / f"t{suffix}"
    if suffix == ".xlsx":
        book = openpyxl.Workbook()
        for cell in ("day", *days):
            book.active.append([cell])
        book.save(path)
    elif suffix == ".rds":
        since = [float((day - datetime.date(1970, 1, 1)).days) for day in days]
        write_frame({"day": r_numbers(since, r_attributes(class_=r_texts([b"Date"])))}, 2, path)
    else:
        writer: Any = pyreadstat.write_sav if suffix == ".sav" else pyreadstat.write_dta
        writer(pd.DataFrame({"day": days}), str(path))
    assert codes(dc.read(path, dc.Schema(day=dc.Categorical(["none", "1999-12-31", "2020-01-01"])))) == {
        "day": [2, 1]
    }
    if suffix != ".xlsx":  # there a cell has a type, not a column
        with pytest.raises(dc.SchemaError, match="is declared numeric"):
            dc.read(path, dc.Schema(day=dc.Numeric(0, 1)))


def test_a_file_of_sas() -> None:
    stored = Path(__file__).parents[2] / "data" / "files" / "sample.sas7bdat.gz"
    folder = stored.parent
    assert folder.exists()
    path = Path(str(stored).removesuffix(".gz"))
    try:
        path.write_bytes(gzip.decompress(stored.read_bytes()))
        schema = dc.Schema(mychar=dc.Categorical(list("abcde")), mydate=dc.Categorical(["?", "2018-05-06"]))
        with pytest.warns(dc.ColumnsIgnored):
            assert codes(dc.read(path, schema)) == {"mychar": [0, 1, 2, 3, 4], "mydate": [1, 0, 0, 0, 0]}
    finally:
        path.unlink()


# ---- workbooks


def test_the_sheet_is_declared_and_the_first_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_xlsx(path)
    assert dc.read(path, SCHEMA, sheet="Patienten").n == 5
    schema = dc.Schema(nichts=dc.Categorical(["a"])).with_format(sheet="Notizen")
    with pytest.raises(dc.InputError, match=r"t\.xlsx .*rows"):
        dc.read(path, schema)
    with pytest.raises(dc.InputError, match=r'has no sheet "Notes".*its sheets: "Patienten", "Notizen"'):
        dc.read(path, SCHEMA, sheet="Notes")


def test_a_workbook_with_damaged_bytes_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_xlsx(path)
    with zipfile.ZipFile(path) as archive:
        sheet = next(part for part in archive.infolist() if part.filename.startswith("xl/worksheets/"))
    data = bytearray(path.read_bytes())
    start = sheet.header_offset + 30 + len(sheet.filename)  # of its compressed bytes
    data[start : start + 40] = b"\xff" * 40
    path.write_bytes(data)
    with pytest.raises(dc.InputError, match="is not a readable Excel workbook"):
        dc.read(path, SCHEMA)


def test_a_sheet_may_start_anywhere_and_have_empty_rows(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for place, cell in {
        "C3": "a",
        "E3": "b",
        "C4": "x",
        "C6": "y",
        "E6": 2,
        "G5": "beside",
        "B6": "left",
    }.items():
        book.active[place] = cell
    book.save(tmp_path / "t.xlsx")
    assert open_sheet(tmp_path / "t.xlsx").names == ["a", "b"]
    schema = dc.Schema(a=dc.Categorical(["?", "x", "y"]), b=dc.Numeric(0, 9, other=5))
    data = dc.read(tmp_path / "t.xlsx", schema)
    assert data.codes["a"].tolist() == [1, 0, 2]
    assert data.values["b"].tolist() == [5, 5, 2]


def test_formulas_errors_and_rich_text(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for cell in ("x", "=1+1", "#N/A", True, "a_x000D_b"):
        book.active.append([cell])
    book.save(tmp_path / "t.xlsx")
    schema = dc.Schema(x=dc.Categorical(["none", "true", "a\rb"]))
    assert codes(dc.read(tmp_path / "t.xlsx", schema)) == {"x": [0, 0, 1, 2]}


# ---- what can't be read is one line


@pytest.mark.parametrize("suffix", [*WRITERS, ".sas7bdat", ".xlsm"])
def test_a_file_of_another_kind_is_one_line(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    for content in (b"", b"a,b\n1,2\n", b"PK\x03\x04" + bytes(100), bytes(range(256)) * 40):
        path.write_bytes(content)
        with pytest.raises(dc.InputError, match=r"^t\.\w+ is not") as error:
            dc.read(path, SCHEMA)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("suffix", "module", "extra"),
    [(".sav", "pyreadstat", "stats"), (".dta", "pyreadstat", "stats"), (".rds", "rdata", "r")],
)
def test_a_missing_extra_is_named(
    suffix: str, module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == module] or [module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / f"t{suffix}"
    path.write_bytes(b"x")
    expected = f'to read a {suffix} file, install the extra: pip install "dpcausal[{extra}]"'
    with pytest.raises(dc.InputError) as error:
        dc.read(path, SCHEMA)
    assert str(error.value) == expected


def test_r_objects_that_are_no_frame_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.rds"
    path.write_bytes(b"X\n" + bytes.fromhex("00000002 00030603 00020300") + r_numbers([1.0]))
    with pytest.raises(dc.InputError, match=r"t\.rds .*data frame"):
        dc.read(path, SCHEMA)


def test_haven_labels_logical_values_and_times_of_r(tmp_path: Path) -> None:
    named = r_numbers([1.0, 2.0], r_attributes(names=r_texts([b"no", b"yes"])))
    columns = {
        "smoke": r_numbers(
            [2.0, 1.0, float("nan")], r_attributes(labels=named, class_=r_texts([b"haven_labelled"]))
        ),
        "alive": r_integers([1, 0, -(2**31)], kind=10),
        "seen": r_numbers([0.0, 86400.0, 1e30], r_attributes(class_=r_texts([b"POSIXct", b"POSIXt"]))),
    }
    write_frame(columns, 3, tmp_path / "t.rds")
    schema = dc.Schema(
        smoke=dc.Categorical(["?", "no", "yes"]),
        alive=dc.Categorical(["?", True, False]),
        seen=dc.Categorical(["?", "1970-01-01", "1970-01-02"]),
    )
    assert codes(dc.read(tmp_path / "t.rds", schema)) == {
        "smoke": [2, 1, 0],
        "alive": [1, 2, 0],
        "seen": [1, 2, 0],
    }
