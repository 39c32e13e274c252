"""Long tables of (person, code) as persons with yes/no columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpcausal as dc
from dpcausal.data.codes import codes_of_file

CODES = ["I10", "E11*", "E11.9"]
LONG = {
    "pid": ["7", 7, " 7 ", "07", 8, "p1", "P1 ", None, ""],
    "icd10": ["I10", "i10", "E11.9", "Z99", "E11.2", "I10", "E11", "I10", "I10"],
}

AGE = dc.Schema(age=dc.Numeric(0, 1))


def rows_of(data: dc.Dataset) -> list[tuple[int, ...]]:
    """The rows, sorted: their order means nothing."""
    return sorted(zip(*(data.codes[name].tolist() for name in data.columns), strict=True))


def read(long: Any = LONG, people: Any = 5, **more: Any) -> dc.Dataset:
    return dc.read_codes(long, codes=CODES, unit="pid", code="icd10", people=people, **more)


def test_spellings_of_an_id_are_one_person_and_repeats_count_once() -> None:
    data = read()
    assert data.n == 5
    assert data.columns == tuple(CODES)
    # 7: I10, E11.9 and so E11*; 8: E11*; p1: I10, E11*; records without an id are nobody's
    assert rows_of(data) == sorted([(1, 1, 1), (0, 1, 0), (1, 1, 0), (0, 0, 0), (0, 0, 0)])


def test_all_sources_give_the_same(tmp_path: Path) -> None:
    text = {name: ["" if cell is None else str(cell) for cell in cells] for name, cells in LONG.items()}
    frame = pd.DataFrame(text)
    frame.to_csv(tmp_path / "long.csv", index=False)
    frame.to_parquet(tmp_path / "long.parquet")
    sources = [
        frame,
        tmp_path / "long.csv",
        tmp_path / "long.parquet",
        pa.table(text),
        pa.table(text).to_reader(),
        pa.table(text).to_reader(max_chunksize=2),  # the records of a person lie in several batches
    ]
    for source in sources:
        assert rows_of(read(source)) == rows_of(read())


def test_more_persons_than_declared_are_drawn_without_an_error() -> None:
    long = {"pid": np.arange(50), "icd10": np.where(np.arange(50) < 25, "I10", "E11")}
    sums = []
    for seed in range(40):
        with dc.testing.seeded(seed):
            data = read(long, people=20)
        assert data.n == 20
        sums.append(int(data.codes["I10"].sum()))
    # hypergeometric: mean 10, standard deviation below 1.8 a draw; five standard errors of the mean of 40
    assert abs(np.mean(sums) - 10) < 5 * 1.8 / 40**0.5
    assert len(set(sums)) > 1


def test_persons_are_in_an_order_by_chance() -> None:
    """Also where nobody is left out: were it that of the records, those of one person would move all rows after."""
    long = {"pid": np.arange(40), "icd10": np.where(np.arange(40) < 20, "I10", "E11")}
    orders = {bytes(read(long, people=40).codes["I10"]) for _ in range(3)}
    assert len(orders) == 3  # two of them are alike with probability 1 in 46 billion


def test_a_table_that_was_read_before_changes_nothing() -> None:
    for codes in (CODES, CODES[::-1], ["Z99", "I10"]):
        data = dc.read_codes(LONG, codes, unit="pid", code="icd10", people=5)
        counts = {"I10": 2, "E11*": 3, "E11.9": 1, "Z99": 1}
        assert {name: int(data.codes[name].sum()) for name in codes} == {name: counts[name] for name in codes}


@pytest.mark.parametrize("people", [3, {"pid": ["7", "p1", "x"]}])
@pytest.mark.parametrize(
    "long",
    [
        {"pid": ["7"], "icd10": ["Q"]},
        {"pid": [None, ""], "icd10": ["I10", None]},
        {"pid": np.arange(9), "icd10": ["I10"] * 9},
        {"pid": [], "icd10": []},
    ],
    ids=["no such code", "nobody", "more persons", "no records"],
)
@pytest.mark.filterwarnings("error")
def test_nothing_but_rows_follows_from_records(
    long: dict[str, Any], people: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever records there are: no error, no warning, no word, and the same persons, unit and columns."""
    usual, data = read(people=people), read(long, people=people)
    assert data.n == usual.n == 3
    assert data.schema == usual.schema
    assert data.schema.unit is not None
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("days", [[None, None], [None, 1]])
def test_a_type_of_a_stream_of_persons_is_refused_whatever_its_cells_hold(days: list[int | None]) -> None:
    """It was loaded first, and an empty column of a frame passes: one cell made it an error."""
    people = pa.table({"pid": ["7", "8"], "age": pa.array(days, pa.int32()).cast(pa.date32())})
    with pytest.raises(dc.SchemaError, match="declared numeric"):
        read(people=people.to_reader(), schema=AGE)


def test_columns_of_persons_are_read_as_their_declaration_prints_them() -> None:
    """As ``dc.read`` does with objects of a frame: 1.5 is the level 1.50."""
    people, grade = (
        {"pid": ["7", "8"], "grade": [1.5, 2.5]},
        dc.Schema(grade=dc.Categorical(["1.50", "2.50"])),
    )
    assert read(people=people, schema=grade).codes["grade"].tolist() == [0, 1]


@pytest.mark.parametrize("unit", [None, "pid"])
def test_a_table_of_persons_says_who_counts(unit: str | None) -> None:
    """Whether or not their schema has the same unit: rows stay with their ids, and no id is an error."""
    people = {
        "pid": [8.0, 7.0, 7.0, 9.0, np.nan],
        "sex": ["f", "m", "f", "f", "m"],
        "age": [50, 60, 61, 70, 80],
    }
    schema = dc.Schema(sex=dc.Categorical(["f", "m"]), age=dc.Numeric(0, 100, bins=[55, 65]))
    data = read(people=people, schema=schema.with_unit(unit))
    assert data.columns == ("sex", "age", *CODES)
    rows = list(zip(*(data.codes[name].tolist() for name in data.columns), strict=True))
    blank = (0, 0, 0, 0, 0)  # a second row of a person, and a row without an id, hold nothing
    assert rows == [(0, 0, 0, 1, 0), (1, 1, 1, 1, 1), blank, (0, 2, 0, 0, 0), blank]
    assert data.values["age"].tolist() == [50.0, 60.0, 0.0, 70.0, 0.0]


def test_one_person_changes_one_row() -> None:
    rng = np.random.default_rng(3)
    long = {
        "pid": rng.integers(0, 30, 200).tolist(),
        "icd10": rng.choice(["I10", "E11.9", "E11.1", "Q"], 200).tolist(),
    }
    kept = [i for i, pid in enumerate(long["pid"]) if pid != 4]
    without = {name: [cells[i] for i in kept] for name, cells in long.items()}
    more = {
        "pid": without["pid"] + ["new"] * 5 + [" NEW"],
        "icd10": without["icd10"] + ["I10"] * 5 + ["E11.9"],
    }
    first, second, third = (rows_of(read(one, people=40)) for one in (long, without, more))
    for other in (second, third):
        apart = [row for row in set(first) | set(other) if first.count(row) != other.count(row)]
        assert sum(abs(first.count(row) - other.count(row)) for row in apart) <= 2


@pytest.mark.parametrize(
    "bad",
    [
        {"people": 0},
        {"people": True},
        {"people": 2.5},
        {"people": None},
        {"people": {"pid": []}},
        {"people": {"id": [1]}},
        {"unit": "person"},
        {"code": "icd"},
        {"codes": []},
        {"codes": "I10"},
        {"codes": ["I10", " i10 "]},
        {"codes": ["*"]},
        {"codes": ["E*1"]},
        {"codes": [10]},
        {"schema": dc.Schema(age=dc.Numeric(0, 1))},
        {"schema": dc.Schema(I10=dc.Numeric(0, 1)), "people": {"pid": [1], "I10": [1]}},
        {"schema": AGE.with_unit("visit"), "people": {"pid": [1], "visit": [1], "age": [1]}},
        {"schema": AGE.with_unit("pid", 2), "people": {"pid": [1], "age": [1]}},
    ],
)
def test_bad_declarations_are_refused(bad: dict[str, Any]) -> None:
    arguments = {"codes": ["I10"], "unit": "pid", "code": "icd10", "people": 4, **bad}
    with pytest.raises(dc.DpcausalError):
        dc.read_codes(LONG, **arguments)


def test_a_file_of_codes(tmp_path: Path) -> None:
    (tmp_path / "codes.txt").write_text("# heart\nI10\tHypertension\n\n E11* # diabetes\n")
    assert codes_of_file(tmp_path / "codes.txt") == ["I10", "E11*"]
    with pytest.raises(dc.InputError):
        codes_of_file(tmp_path / "none.txt")
