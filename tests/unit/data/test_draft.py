"""Drafts of messy columns, and the mark that keeps a draft from being used unnoticed."""

from __future__ import annotations

import copy
import datetime
import math
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import dpcausal as dc
from dpcausal.core.errors import SchemaError
from dpcausal.core.statement import UncheckedDraft
from dpcausal.data import draft as drafting
from dpcausal.data import profile
from dpcausal.data.check import check
from dpcausal.data.csv import RaggedRows
from dpcausal.data.cut_points import public_bounds
from dpcausal.data.draft import DraftedColumn
from dpcausal.data.findings import (
    Abbreviation,
    AgeBounds,
    AliasesRead,
    CodeBook,
    Finding,
    HeaderLikeValues,
    ManyColumns,
    MissingCode,
    MissingLevel,
    MissingWith,
    NumberCodes,
    NumberLevels,
    QuantileBins,
    RepeatedIdentifier,
    SharedCode,
    TimeToEvent,
    UnevenBins,
    UnreadableNumbers,
    UnreadCells,
    WithSeparators,
)
from dpcausal.data.profile import NumberSample
from dpcausal.data.read import DraftSchema
from dpcausal.effects.levels import coarse
from dpcausal.present.schema import draft_toml

NUMBERS = [str(i) for i in range(100)]


def draft(source: Any, *, progress: bool = False) -> str:
    return draft_toml(drafting.draft(source, progress=progress))


def columns(source: Any) -> dict[str, DraftedColumn]:
    return {one.name: one for one in drafting.draft(source).columns}


def notes(source: Any, name: str) -> tuple[Finding, ...]:
    """The notes on one column."""
    return columns(source)[name].notes


def kinds(found: Iterable[Finding]) -> set[type[Finding]]:
    return {type(note) for note in found}


def drafted(cells: list[str]) -> tuple[str, dc.Schema]:
    text = draft({"x": cells, "y": ["a"] * len(cells)})
    return text, dc.Schema.from_toml_string(text)


@pytest.mark.parametrize("odd", ["unknown", "<5", "12 kg", "1,234", "see note"])
def test_mostly_numbers_with_some_texts_is_numeric_and_says_so(odd: str) -> None:
    _, schema = drafted([*NUMBERS, odd, odd])
    assert isinstance(schema["x"], dc.Numeric)
    other = 50 if odd != "1,234" else schema["x"].other  # the bounds leave room for 1234
    assert schema["x"].other == other
    unread = UnreadCells(2, 102, other, own=False, texts=((odd, 2),))
    assert unread in notes({"x": [*NUMBERS, odd, odd]}, "x")
    assert schema["x"].missing_texts == (("unknown",) if odd == "unknown" else ())
    (found,) = check(
        {"x": [*NUMBERS, odd, odd]}, schema.select(["x"])
    ).columns  # draft, check and guide agree
    assert (found.missing, found.not_a_number) == ((2, 0) if odd == "unknown" else (0, 2))


def test_bounds_leave_room_for_numbers_with_separators() -> None:
    cells = [f"{i * 977:,}" for i in range(2000)]  # more different texts than are remembered
    column = drafted(cells)[1]["x"]
    assert isinstance(column, dc.Numeric)
    assert (column.lower, column.upper) == (0, 2_000_000)
    assert WithSeparators in kinds(notes({"x": cells}, "x"))


def test_decimal_commas_are_left_out_with_the_reason() -> None:
    cells = [f"{i},5" for i in range(100)]
    assert "x" not in drafted(cells)[1]
    why = columns({"x": cells})["x"].left_out
    assert isinstance(why, UnreadableNumbers)
    assert (why.cells, why.texts[0]) == (100, ("0,5", 1))


def test_mostly_texts_stay_levels_or_are_left_out() -> None:
    assert isinstance(drafted(["1", "2", "x", "y"])[1]["x"], dc.Categorical)
    assert "x" not in drafted([*NUMBERS, *(f"text {i}" for i in range(100))])[1]
    assert isinstance(drafted(["1", "2", "3", "unknown"] * 20)[1]["x"], dc.Categorical)


def test_codes_missing_cells_and_spellings_are_remarked() -> None:
    rows = {"x": [*NUMBERS, "999", "999", ""]}
    assert {MissingCode(999, 2, None), UnreadCells(1, 103, 50, own=False)} <= set(notes(rows, "x"))
    assert "\nother = 50  # from rows\n" in draft(rows)
    spelled = set(notes({"x": ["Yes", "yes", "no", ""]}, "x"))
    assert {AliasesRead(("yes",), "Yes"), UnreadCells(1, 4, "missing", own=True)} <= spelled


@pytest.mark.parametrize("odd", ["a\nb", "\x7f", "\x85", "'", "\u2028", "#", "é" * 100])
def test_no_text_breaks_the_file(odd: str) -> None:
    _, schema = drafted([*NUMBERS, odd])
    assert isinstance(schema["x"], dc.Numeric)


def test_the_mark_stays_until_it_is_removed() -> None:
    text, schema = drafted(["a", "b"])
    assert schema.is_draft
    assert schema.select(["x"]).is_draft
    assert pickle.loads(pickle.dumps(schema)).is_draft  # noqa: S301
    assert dc.Schema.from_toml_string(schema.to_toml()).is_draft
    checked = dc.Schema.from_toml_string(
        "".join(line for line in text.splitlines(True) if "draft =" not in line)
    )
    assert not checked.is_draft
    assert checked == schema
    rows = {"x": ["a", "b"], "y": ["a", "a"]}
    with pytest.warns(DraftSchema):
        dc.read(rows, schema)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dc.read(rows, checked)


CHECKED = dc.Numeric(0, 110)


@pytest.mark.parametrize(
    "make",
    [
        dc.Schema,
        lambda draft: dc.Schema(draft.items()),
        lambda draft: dc.Schema(**draft),
        lambda draft: dc.Schema({**draft, "age": CHECKED}),
        lambda draft: dc.Schema({"word": draft["word"]}, age=CHECKED),
        lambda draft: dc.Schema(word=replace(draft["word"], ordered=True)),
        lambda draft: dc.Schema(age=replace(draft["age"], upper=500)),
        lambda draft: draft.with_format(decimal=","),
        lambda draft: draft.with_bins("age", [50]),
        lambda draft: draft[["age"]],
        lambda draft: copy.deepcopy(draft),
        lambda draft: dc.Schema({**pickle.loads(pickle.dumps(draft)), "age": CHECKED}),  # noqa: S301
        lambda draft: coarse(draft, {"word": [0, 0, 1]}).select(["word"]),
    ],
)
@pytest.mark.parametrize("from_file", [False, True])
def test_a_schema_made_from_a_draft_stays_a_draft(
    make: Callable[[dc.Schema], dc.Schema], from_file: bool
) -> None:
    words = ["a", "b", "c"] * 50
    drafted = dc.Schema.draft({"word": words, "age": [str(20 + i / 3) for i in range(150)]})
    if from_file:
        drafted = dc.Schema.from_toml_string(drafted.to_toml())
    made = make(drafted)
    assert made.is_draft
    assert dc.Schema.from_toml_string(made.to_toml()).is_draft
    assert not dc.Schema(
        {**made, **dict.fromkeys(made, CHECKED)}
    ).is_draft  # a person has written every column


@pytest.mark.filterwarnings("ignore::dpcausal.data.read.DraftSchema")
def test_every_statement_says_that_the_schema_is_a_draft() -> None:
    rows = {"x": ["a", "b"] * 50, "y": ["b", "a"] * 50}
    schema = dc.Schema.from_toml_string(draft(rows))
    data = dc.read(rows, schema)
    for statement in (
        dc.ci_test(data, "x", "y", epsilon=1.0).privacy,
        dc.discover(data, epsilon=1.0).privacy,
    ):
        assert UncheckedDraft() in statement.limits
    text = "".join(line for line in draft(rows).splitlines(True) if "draft =" not in line)
    checked = dc.read(rows, dc.Schema.from_toml_string(text))
    statement = dc.ci_test(checked, "x", "y", epsilon=1.0).privacy
    assert UncheckedDraft() not in statement.limits
    assert (
        "beforehand" not in f"{statement.summary()} {statement.to_json()}"
    )  # where the rest is from is unknown


def test_the_mark_is_true_or_false() -> None:
    with pytest.raises(SchemaError, match=r"schema:1: draft .*'yes'"):
        dc.Schema.from_toml_string('draft = "yes"\n[columns.a]\ntype = "numeric"\nlower = 0\nupper = 1\n')
    with pytest.raises(SchemaError, match=r'unknown entry "drafts".*did you mean "draft"'):
        dc.Schema.from_toml_string("drafts = true\n")


def test_cut_points_have_few_digits_and_stay_in_order() -> None:
    column = drafted([str(i / 7) for i in range(-30, 34)])[1]["x"]
    assert isinstance(column, dc.Numeric)
    assert all(len(f"{cut:g}") <= 8 and float(f"{cut:g}") == cut for cut in column.bins or ())
    far = drafted([str(1e12 + i / 1000) for i in range(100)])[1]["x"]
    assert isinstance(far, dc.Numeric)
    assert len(set(far.bins or ())) == 4


@pytest.mark.parametrize(
    ("codes", "bounds"),
    [
        (["999"] * 9, (10, 90)),
        (["-1", "999", "9999"], (10, 90)),
        (["-9"] * 30, (10, 90)),
        (["99"] * 200, (10, 90)),
        ([], (10, 90)),
    ],
)
def test_codes_for_missing_are_in_no_bound_and_no_bin(codes: list[str], bounds: tuple[int, int]) -> None:
    rows = {"x": [*map(str, range(18, 83)), *codes]}
    column = dc.Schema.draft(rows)["x"]
    assert isinstance(column, dc.Numeric)
    assert (column.lower, column.upper) == bounds
    assert column.bins == (20, 40, 60, 80)
    assert column.other == 50
    assert column.missing == tuple(sorted({float(code) for code in codes}))
    found = {note for note in notes(rows, "x") if isinstance(note, MissingCode)}
    assert found == {MissingCode(int(code), codes.count(code), None) for code in codes}


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        (["yes", "Yes", "yes", "no"], dc.Categorical(["no", "yes"], aliases={"Yes": "yes"})),
        (["a  b", "A b", "A b", "c"], dc.Categorical(["A b", "c"], aliases={"a  b": "A b"})),
        (["x", "1", "1.0"], dc.Categorical(["1", "x"], aliases={"1.0": "1"})),
        (["yes", "no", "-9", "999.0", "."], dc.Categorical(["no", "yes"], missing=["-9", ".", "999.0"])),
        (["x", "."], dc.Categorical([".", "x"])),
        (["x", "Missing", "y"], dc.Categorical(["x", "y"], missing=["Missing"])),
        (["x", "1", "99"], dc.Categorical(["1", "99", "x"])),
        (["1", "2", "3", "99"], dc.Categorical([1, 2, 3], missing=[99])),
        (["0", "1", "-9", "999"], dc.Categorical([0, 1], missing=[-9, 999])),
        (["-1", "0", "1"], dc.Categorical([-1, 0, 1])),
        (["1", "99"], dc.Categorical([1, 99])),
        (["1", "2", "98", "99"], dc.Categorical([1, 2, 98, 99])),
        (["01", "02", "1", "99", "099"], dc.Categorical([1, 2], aliases={"01": 1, "02": 2}, missing=[99, "099"])),
        (["true", "TRUE", "False"], dc.Categorical([False, True])),
    ],
)  # fmt: skip
def test_spellings_of_one_level_and_codes_are_proposed(cells: list[str], column: dc.Categorical) -> None:
    text, schema = drafted(cells)
    found = schema["x"]
    assert isinstance(found, dc.Categorical)
    own = ("missing",) * bool(column.missing)  # a level of their own for missing cells
    assert (found.levels, found.aliases) == ((*column.levels, *own), column.aliases)
    assert found.other == ("missing" if own else column.levels[0])
    assert set(map(str, found.missing)) == set(map(str, column.missing))
    proposed = len(set(column.aliases.values())) + len(column.missing)
    assert text.count("a guess from rows") == (proposed if "01" not in cells else 1)
    looked = check({"x": cells, "y": ["a"] * len(cells)}, schema).columns[0]
    assert (looked.not_a_level, looked.coded_missing) == (0, len(column.missing))


def test_a_letter_that_may_be_short_for_a_level_is_remarked() -> None:
    cells = ["Y", "yes", "no", "B", "ab"]
    assert notes({"x": cells}, "x") == (Abbreviation("Y", "yes"),)
    assert drafted(cells)[1]["x"].size == 5


def test_rows_longer_or_shorter_than_the_header_are_remarked(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,1\ny\nx,2,3\ny,1,2\n")
    assert drafting.draft(path).ragged == RaggedRows(fewer=1, more=2)
    assert list(dc.Schema.from_toml_string(draft(path))) == ["a", "b"]
    path.write_text("a,b\nx,1\ny,2\n")
    assert "fields" not in draft(path)


def test_a_code_in_the_range_or_right_after_it_is_a_number() -> None:
    for values in (range(100), range(-5, 120)):
        rows = {"x": [*map(str, values), "7"]}
        column = dc.Schema.draft(rows)["x"]
        assert isinstance(column, dc.Numeric)
        assert column.upper >= max(values)
        assert not any(isinstance(note, MissingCode) for note in notes(rows, "x"))


def test_cut_points_lie_where_nearly_all_numbers_are() -> None:
    column = drafted([*(str(i / 100) for i in range(10_000)), "5000000"])[1]["x"]
    assert isinstance(column, dc.Numeric)
    assert column.upper == 5_000_000
    assert column.bins == (20, 40, 60, 80)


def test_the_sample_is_every_kth_number_whatever_the_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "LIMITS", replace(profile.LIMITS, max_sampled_numbers=10))
    for size in (1, 3, 7, 100):
        sample = NumberSample()
        for start in range(0, 100, size):
            sample.add(np.arange(start, min(start + size, 100), dtype=np.float64))
        assert 5 <= len(sample.values) <= 10
        assert sample.values.tolist() == list(range(0, 100, sample.step))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_looking_goes_on_to_the_end(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks: list[float] = []

    @contextmanager
    def shown(what: str, total: float, show: bool) -> Iterator[object]:
        assert (what, total, show) == (f"looking at t{suffix}", 1.0, True)
        yield ticks.append

    monkeypatch.setattr("dpcausal.data.profile.shown", shown)
    table = pa.table({"x": ["1", "2"] * 200_000})
    path = tmp_path / f"t{suffix}"
    pa.csv.write_csv(table, path) if suffix == ".csv" else pa.parquet.write_table(table, path)
    schema = dc.Schema.from_toml_string(draft(path, progress=True))
    assert sum(ticks) == pytest.approx(1.0)
    check(path, schema, progress=True)
    assert sum(ticks) == pytest.approx(2.0)


def test_missing_texts_get_a_level_of_their_own_or_one_that_reads_like_it() -> None:
    for cells, levels, other in (
        (["never", "ex", "current", ""], ("current", "ex", "never", "missing"), "missing"),
        (["0", "1", "NA"], (0, 1, "missing"), "missing"),
        (["true", "false", "null"], (False, True, "missing"), "missing"),
        (["no", "yes", "Unknown", ""], ("no", "yes", "Unknown"), "Unknown"),
        (["x", "missing", "y", ""], ("x", "y", "missing"), "missing"),
        (["no", "yes"], ("no", "yes"), "no"),
    ):
        text, schema = drafted(cells)
        column = schema["x"]
        assert isinstance(column, dc.Categorical)
        assert (column.levels, column.other) == (levels, other)
        assert (MissingLevel in kinds(notes({"x": cells}, "x"))) == (other != "no")
        ways = ["# ordered = true  # if" in text, "; no level may be for missing values" in text]
        assert ways == [len(cells) == 4 and other == "missing" and "never" in cells] * 2


@pytest.mark.parametrize(("rows", "bins"), [(8_000, 4), (30_000, 7), (150_000, 8)])
def test_more_rows_get_more_bins(rows: int, bins: int) -> None:
    column = dc.Schema.from_toml_string(draft({"x": np.linspace(0, 160, rows)}))["x"]
    assert column.size == bins


def test_identifiers_that_repeat_are_remarked(tmp_path: Path) -> None:
    names = [f"P{i}" for i in range(100)]
    wards = [f"W{i % 3}" for i in range(110)]
    rows = {"patient_id": [*names, *names[:10]], "ward_id": wards, "age": list(range(110))}

    def repeated(**changed: Any) -> list[Finding]:
        found = drafting.draft({**rows, **changed}).notes
        return [note for note in found if isinstance(note, RepeatedIdentifier)]

    assert repeated() == [RepeatedIdentifier("patient_id", 10)]
    assert repeated(patient_id=[f"P{i}" for i in range(110)]) == []
    assert RepeatedIdentifier("code", 10) in repeated(code=rows["patient_id"])
    assert repeated(income=[1000 * (i % 80) for i in range(110)]) == repeated()
    pa.csv.write_csv(pa.table(rows), tmp_path / "t.csv")
    found = check(tmp_path / "t.csv", dc.Schema(age=dc.Numeric(0, 110)))
    assert found.notes_of(RepeatedIdentifier) == [RepeatedIdentifier("patient_id", 10)]
    assert found.to_dict()["repeated_identifiers"] == [{"column": "patient_id", "rows": 10, "unique": None}]


def test_a_first_line_of_values_is_remarked(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    lines = [f"P{i},{40 + i % 30},{'male' if i % 2 else 'female'},{i % 2}" for i in range(100)]
    path.write_text("\n".join(lines) + "\n")
    assert HeaderLikeValues() in drafting.draft(path).notes
    path.write_text("id,age,sex,event\n" + "\n".join(lines) + "\n")
    assert HeaderLikeValues() not in drafting.draft(path).notes


def test_texts_may_be_listed_as_missing_among_numbers() -> None:
    column = dc.Numeric(0, 10, [5], other=3, missing=["k.A.", 9, "-1"], missing_level=True)
    assert (column.missing, column.missing_texts) == ((9.0, -1.0), ("k.A.",))
    schema = dc.Schema(x=column)
    assert (
        dc.Schema.from_toml_string(schema.to_toml())
        == schema
        != dc.Schema(x=replace(column, missing=[9, -1]))
    )
    for cells in (["1", " k.A. ", "9", "k", None], np.array(["1", "k.A.", "9", "k", ""])):
        data = dc.read({"x": cells}, schema)
        assert data.codes["x"].tolist() == [0, 2, 2, 2, 2]
        (found,) = check({"x": cells}, schema).columns
        assert (found.missing, found.coded_missing, found.not_a_number) == (3, 2, 1)


def test_numbers_that_are_often_missing_have_a_bin_of_their_own() -> None:
    ages = [str(i) for i in range(20, 80)]
    for gone, own in ((3, False), (9, True)):
        cells = [*ages, *([""] * gone)]
        assert drafted(cells)[1]["x"].missing_level is own
        assert [note.own for note in notes({"x": cells}, "x") if isinstance(note, UnreadCells)] == [own]


def test_identifiers_may_be_written_as_floats(tmp_path: Path) -> None:
    numbers = [233.0 + 17 * i for i in range(120)]
    frame = pd.DataFrame({"seqn": numbers, "weight": [50 + i / 7 for i in range(120)], "y": ["a", "b"] * 60})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "233.0" in (tmp_path / "t.csv").read_text()
    for source in (frame, tmp_path / "t.csv"):
        assert list(dc.Schema.draft(source)) == ["weight", "y"]


def test_cut_points_of_skewed_numbers_follow_the_rows() -> None:
    rng = np.random.default_rng(4)
    skewed = {
        "visits": rng.geometric(0.3, 4000) - 1 + 30 * (rng.random(4000) < 0.02),
        "dose": np.round(rng.lognormal(0, 2, 4000), 3),
        "offset": 1000 + rng.lognormal(0, 1.5, 4000),
    }
    schema = dc.Schema.from_toml_string(draft(skewed))
    for name, values in skewed.items():
        column = schema[name]
        assert isinstance(column, dc.Numeric)
        assert column.bins is not None
        counts = np.bincount(np.searchsorted(column.bins, values, side="right"))
        assert counts.max() < 0.5 * 4000, name
        assert all(
            len(f"{cut:g}".strip("0.").replace(".", "")) <= 2 for cut in column.bins if name != "offset"
        )
        assert QuantileBins() in notes(skewed, name)
    even = {"age": rng.integers(20, 90, 4000), "pressure": rng.normal(120, 15, 4000)}
    assert not any(QuantileBins() in notes(even, name) for name in even)
    stays = {"stays": np.repeat([0, *range(1, 15)], [900, *[7] * 14])}
    (uneven,) = [note for note in notes(stays, "stays") if isinstance(note, UnevenBins)]
    assert (uneven.share, uneven.same) == (pytest.approx(0.9, abs=0.01), 0)


def test_a_scale_of_logarithms_is_proposed_where_ratios_count() -> None:
    rng = np.random.default_rng(5)
    assert '`scale = "log"`' in draft({"dose": rng.lognormal(0, 1.5, 2000)})
    years = np.repeat([9.0, 10, 11, 12.5, *range(13, 24)], [900, 70, 60, 50, *[9] * 11])
    assert '`scale = "log"`' not in draft({"school": years})


def test_columns_that_take_another_to_understand_are_remarked(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    dead = rng.random(900) < 0.3
    cells = {
        "futime": rng.integers(1, 5000, 900),
        "death": np.where(dead, "dead", "alive"),
        "chapter": [("heart", "lung")[i % 2] if one else None for i, one in enumerate(dead)],
        "hospital_stay": [None if rng.random() < 0.3 else float(i % 40) for i in range(900)],
        "birthplace": rng.integers(1, 50, 900),
        "age": rng.integers(40, 90, 900),
    }
    text = draft(cells)
    assert TimeToEvent("death") in notes(cells, "futime")
    assert MissingWith("chapter", "death", "alive", int((~dead).sum()), False) in notes(cells, "chapter")
    assert NumberCodes(49) in notes(cells, "birthplace")
    for name in ("death", "hospital_stay", "age"):
        assert not kinds(notes(cells, name)) & {TimeToEvent, MissingWith, NumberCodes}
    assert TimeToEvent not in kinds(notes({"futime": cells["futime"], "age": cells["age"]}, "futime"))
    schema = dc.Schema.draft(cells)
    schema.write(tmp_path / "s.toml")
    assert (tmp_path / "s.toml").read_text() == schema.to_toml() == text  # remarks and all
    assert dc.Schema.from_toml(tmp_path / "s.toml") == schema
    assert "#" not in schema.select(["age"]).to_toml()


def test_bounds_are_round_numbers_outside_the_rows_and_say_so() -> None:
    rng = np.random.default_rng(8)
    for low, high in rng.uniform(-1e4, 1e4, (200, 2)):
        low, high = min(low, high), max(low, high)
        lower, upper = public_bounds(low, high)
        assert lower <= low
        assert upper >= high
        assert upper - lower <= 3 * (high - low)
        digits = 1 - math.floor(math.log10(high - low))
        assert [lower, upper] == pytest.approx([round(lower, digits), round(upper, digits)], rel=1e-12)
    rows = {"Alter": rng.integers(25, 65, 200), "pages": rng.integers(25, 65, 200), "weight": [63.7] * 200}
    tables = {part.split("]")[0]: part for part in draft(rows).split("[columns.")[1:]}
    assert "\nlower = 0\nupper = 110\n" in tables["Alter"]
    assert AgeBounds(0, 110) in notes(rows, "Alter")
    beside = "  # from rows\n"
    for name, lower, upper in (("pages", 25, 65), ("weight", 60, 70)):
        assert f"\nlower = {lower}{beside}upper = {upper}{beside}" in tables[name]


def test_few_whole_numbers_are_levels_and_codes_are_remarked_in_files_and_frames(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    chapter = np.where(
        rng.random(600) < 0.3, np.nan, rng.integers(1, 17, 600)
    )  # floats, as pandas makes of codes
    frame = pd.DataFrame(
        {
            "sex": rng.integers(1, 3, 600).astype(float),
            "grade": rng.integers(1, 11, 600),
            "chapter": chapter,
            "visits": rng.geometric(0.1, 600),
            "smoke": pd.Categorical(rng.choice(["no", "yes"], 600)),
            "alive": rng.random(600) < 0.5,
            "weight": np.round(rng.normal(70, 9, 600), 1),
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    text = draft(frame)
    assert draft(tmp_path / "t.csv") == text == dc.Schema.draft(frame).to_toml()
    schema = dc.Schema.from_toml_string(text)
    assert schema["sex"].levels == (1, 2)
    assert schema["grade"].levels == tuple(range(1, 11))
    assert NumberLevels(1, 10) in notes(frame, "grade")
    assert NumberCodes(16) in notes(frame, "chapter")
    assert not kinds((*notes(frame, "visits"), *notes(frame, "sex"))) & {NumberCodes, NumberLevels}


def test_wide_tables_are_told_how_to_draft_some_columns() -> None:
    rows = {f"c{i}": ["a", "b"] for i in range(21)}
    assert ManyColumns(21) in drafting.draft(rows).notes
    assert ManyColumns not in kinds(drafting.draft(rows, columns=list(rows)).notes)


@pytest.mark.parametrize(
    "word", ["missing value", "unknown", "Refused", "not stated", "keine Angabe", "non renseign\u00e9"]
)
def test_a_level_that_reads_as_missing_is_other(word: str) -> None:
    """No cell is empty: the level of the file is for missing values, and not the first one."""
    frame = pd.DataFrame({"smoke": ["never", "current", word] * 20})
    column = dc.Schema.draft(frame)["smoke"]
    assert isinstance(column, dc.Categorical)
    assert column.other == word
    assert column.levels == ("current", "never", word)  # the first is what others are compared with
    assert MissingLevel(word, in_file=True) in notes(frame, "smoke")


def test_a_label_that_reads_as_missing_is_other(tmp_path: Path) -> None:
    path = tmp_path / "cohort.dta"
    frame = pd.DataFrame(
        {"asthma": pd.Categorical(["never", "ever", "missing"] * 20, ["never", "ever", "missing"])}
    )
    frame.to_stata(path, write_index=False)
    column = dc.Schema.draft(path)["asthma"]
    assert column.other == "missing"


def test_a_code_that_several_columns_have_in_the_same_rows_is_remarked() -> None:
    """Whoever was not asked one question was not asked the others: 2 is no answer."""
    rng = np.random.default_rng(1)
    asked = rng.random(400) < 0.6
    rows: dict[str, Any] = {
        name: np.where(asked, rng.integers(0, 2, 400), 2).tolist() for name in ("hbp", "diabetes", "pica")
    }
    rows |= {
        name: np.where(asked, rng.choice(["no", "yes"], 400), "not done").tolist()
        for name in ("ecg", "mri", "ct")
    }
    rows |= {"grade": rng.integers(0, 3, 400).tolist(), "two": np.where(asked, 1, 2).tolist()}
    many = int((~asked).sum())
    assert SharedCode(2, ("diabetes", "pica"), many, 400) in notes(rows, "hbp")
    assert SharedCode("not done", ("ecg", "ct"), many, 400) in notes(rows, "mri")
    for name in ("grade", "two"):  # other rows; and no two levels would be left
        assert SharedCode not in kinds(notes(rows, name))
    two = {name: rows[name] for name in ("hbp", "diabetes", "grade")}
    assert not any(SharedCode in kinds(notes(two, name)) for name in two)


def test_value_labels_that_read_as_grades_are_proposed_as_an_order(tmp_path: Path) -> None:
    path = tmp_path / "cohort.dta"
    pain = ["severe", "moderate", "mild", "none"]
    drink = ["beer", "wine", "liquor"]
    frame = pd.DataFrame(
        {"pain": pd.Categorical(pain * 30, pain), "drink": pd.Categorical(drink * 40, drink)}
    )
    frame.to_stata(path, write_index=False)
    found = columns(path)
    pain_column = found["pain"].column
    assert isinstance(pain_column, dc.Categorical)
    assert pain_column.levels == tuple(pain)  # as in the file
    graded = {
        name: [note.grades for note in one.notes if isinstance(note, CodeBook)] for name, one in found.items()
    }
    assert graded == {"pain": [True], "drink": [False]}


def test_numbers_of_villages_are_remarked_and_counts_are_not() -> None:
    rng = np.random.default_rng(4)
    cells = {
        "villnum": rng.integers(1, 130, 900),
        "ward_nr": rng.integers(1, 60, 900) * 7,
        "visits": rng.integers(0, 90, 900),
        "height": rng.random(900),
    }
    for name, expected in (("villnum", True), ("ward_nr", True), ("visits", False), ("height", False)):
        assert (NumberCodes(None) in notes(cells, name)) == expected, name


def test_day_or_month_first_is_not_guessed_where_both_fit() -> None:
    """Both formats are offered: with the marks taken off, the schema is refused until one of them is chosen."""
    for days, formats in (
        ([f"{i % 12 + 1:02}/{i // 12 + 1:02}/2019" for i in range(60)], ["%d/%m/%Y", "%m/%d/%Y"]),
        ([f"{i % 12 + 1:02}/{i // 2 + 1:02}/2019" for i in range(60)], ["%m/%d/%Y"]),
        ([f"{i // 2 + 1}.{i % 12 + 1}.2019" for i in range(60)], ["%d.%m.%Y"]),
    ):
        text = draft({"visit": days, "smoke": ["no", "yes", "no"] * 20})
        assert [line for line in text.splitlines() if "format =" in line] == [
            f'# format = "{one}"' for one in formats
        ]
        assert ("keep the format that is true" in text) == (len(formats) > 1)


@pytest.mark.parametrize(
    ("written", "format_line"), [("%Y-%m-%d", ""), ("%d.%m.%Y", '# format = "%d.%m.%Y"\n')]
)
def test_dates_are_left_out_with_the_declaration_that_would_take_them(written: str, format_line: str) -> None:
    first = datetime.date(2018, 3, 1)
    days = [(first + datetime.timedelta(days=3 * i)).strftime(written) for i in range(100)]
    rows = {
        "visit": [day for day in days for _ in range(3)] + [""],
        "smoke": ["no", "yes", "no"] * 100 + ["no"],
    }
    text = draft(rows)
    lines = '# type = "date"\n# lower = "2018-01-01"\n# upper = "2018-12-31"\n' + format_line
    assert lines in text
    head, block = text.partition("# [columns.visit]")[::2]
    taken = (
        head
        + "[columns.visit]"
        + block.partition("\n")[0].partition("  ")[0]
        + "\n"
        + lines.replace("# ", "")
    )
    declared = dc.Schema.from_toml_string(taken + block.partition(lines)[2])
    assert declared["visit"] == dc.Date("2018-01-01", "2018-12-31", format=written)
    few = draft({"visit": days[:13] * 3, "smoke": ["no", "yes", "no"] * 13})  # not a column of 13 levels
    assert lines in few
    free = {"visit": [f"note {i}" for i in range(300)], "smoke": rows["smoke"][:300]}
    assert '# type = "date"' not in draft(free)
