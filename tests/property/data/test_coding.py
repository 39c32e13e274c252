"""Coding against a slow reference that looks at one cell at a time."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpcausal.data.coding import coder_of
from dpcausal.data.columns import Categorical, Column, Numeric, canonical_value
from dpcausal.data.read import read
from dpcausal.data.schema import Schema

SPACE = " \t\n\v\f\r"
TRUTHS = [{"True", "true", "TRUE"}, {"False", "false", "FALSE"}]
ONE, ZERO = {"1", "1.0"}, {"0", "0.0", "-0", "-0.0"}
PLAIN = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
LOOSE = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
NUMBER_TEXT = re.compile(r"[+-]?(0{0,20}[0-9]{1,15}(\.[0-9]{0,20})?|\.[0-9]{1,20})([eE][+-]?[0-9]{1,2})?")


def means(line: int, level: str, text: str) -> bool:
    """Whether ``text`` is a spelling of ``level`` by rule ``line`` of ``spelling.py``."""
    if line == 0:
        return level == text
    if line == 1:
        both = [re.fullmatch(r"(-?(?:0|[1-9][0-9]*))(\.0)?", t) for t in (level, text)]
        return both[0] is not None and both[1] is not None and int(both[0][1]) == int(both[1][1])
    if line == 2:
        return any(level in same and text in same for same in TRUTHS)
    return any(
        (level in words and text in digits) or (level in digits and text in words)
        for words, digits in ((TRUTHS[0], ONE), (TRUTHS[1], ZERO))
    )


def claims(column: Categorical) -> list[tuple[str, int]]:
    """What is declared to mean what: levels, then aliases, then codes for a missing value."""
    named = [(alias, column.printed.index(str(level))) for alias, level in column.aliases.items()]
    gone = [(str(text), column.other_code) for text in column.missing]
    return [*((text, code) for code, text in enumerate(column.printed)), *named, *gone]


def of_text(column: Categorical, text: str) -> int:
    for attempt in (text, text.strip(SPACE)):
        for line in range(4):
            for declared, code in claims(column):
                if means(line, declared, attempt):
                    return code
    bare = text.strip(SPACE)
    return of_float(column, float(bare)) if NUMBER_TEXT.fullmatch(bare) else column.other_code


def numbers_of(column: Categorical) -> list[tuple[Fraction, int]]:
    """What every number means that is a spelling of something declared: those that JSON takes first, by rules."""
    spellings = [*(text for text, _ in claims(column)), "0", "1"]
    return [
        (Fraction(Decimal(text)), code)
        for pattern in (PLAIN, LOOSE)
        for line in range(4)
        for declared, code in claims(column)
        for text in spellings
        if pattern.fullmatch(text) and means(line, declared, text)
    ]


def of_number(column: Categorical, number: Fraction) -> int:
    return next((code for one, code in numbers_of(column) if one == number), column.other_code)


def of_float(column: Categorical, value: float) -> int:
    """The number that is exactly the value, or else one that is no whole number and whose float64 it is."""
    exact = [code for one, code in numbers_of(column) if one == Fraction(value)]
    near = [code for one, code in numbers_of(column) if value and one.denominator > 1 and float(one) == value]
    return [*exact, *near, column.other_code][0]


def reference(column: Column, cell: Any) -> tuple[int, float | None]:
    if isinstance(column, Numeric):
        value = number_of(cell)
        value = (
            column.other
            if value is None or value in column.missing
            else min(max(value, column.lower), column.upper)
        )
        assert value is not None
        return sum(cut <= value for cut in column.bins or ()), value + 0.0
    if isinstance(cell, bytes):
        try:
            cell = cell.decode()
        except UnicodeDecodeError:
            return column.other_code, None
    if cell is None or (isinstance(cell, float) and not np.isfinite(cell)):
        return column.other_code, None
    if isinstance(cell, str | bool):
        return of_text(column, str(cell)), None
    if isinstance(cell, float):
        return of_float(column, cell), None
    return of_number(column, Fraction(cell)), None


def number_of(cell: Any) -> float | None:
    if isinstance(cell, bytes):
        cell = cell.decode("latin-1")
    if isinstance(cell, str):
        text = cell.strip(SPACE)
        for words, value in zip(TRUTHS, (1.0, 0.0), strict=True):
            if text in words:
                return value
        if not re.fullmatch(r"(?i)[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity)", text):
            return None
        return float(text)
    return None if cell is None or cell != cell else float(cell)


levels = st.one_of(
    st.sampled_from(
        [
            "",
            "a",
            " a",
            "0",
            "1",
            "1.0",
            "true",
            "TRUE",
            "False",
            "-0",
            "2.5",
            "1e3",
            "nan",
            "é",
            "-3",
            "01",
            "0.1",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    st.integers(-4, 4),
    st.integers(-(2**63), 2**64 - 1),
    st.booleans(),
)


@st.composite
def categoricals(draw: st.DrawFn) -> Categorical:
    """Levels, and some of the other texts as aliases or codes for a missing value where they may be."""
    chosen = draw(st.lists(levels, min_size=1, max_size=9, unique_by=str))
    taken = {canonical_value(str(level)) for level in chosen}
    spare = draw(st.lists(levels, max_size=6, unique_by=lambda level: canonical_value(str(level))))
    free = [text for text in map(str, spare) if canonical_value(text) not in taken]
    cut = draw(st.integers(0, len(free)))
    aliases = {text: draw(st.sampled_from(chosen)) for text in free[:cut] if text}
    other = draw(st.sampled_from(chosen))
    return Categorical(chosen, other=other, aliases=aliases, missing=free[cut:])


@st.composite
def numerics(draw: st.DrawFn) -> Numeric:
    edges = sorted(draw(st.sets(st.floats(-1e6, 1e6).map(lambda x: x + 0.0), min_size=2, max_size=40)))
    gone = draw(st.lists(st.sampled_from([*edges, -9, 0, 1, 2.5, 999, 1e30]), max_size=3))
    return Numeric(edges[0], edges[-1], edges[1:-1], other=draw(st.sampled_from(edges)), missing=gone)


columns = st.one_of(categoricals(), numerics())
numerals = st.sampled_from(
    [
        "1",
        " 1",
        "1.0",
        "999",
        "999.0",
        "1e30",
        "1e400",
        "-1e400",
        "1,5",
        "inf",
        "-INF",
        "nan",
        "NA",
        "",
        "+1",
        "01",
        "1.",
        ".10",
        "1e+03",
        "1-1",
        ".",
        "1e",
        "9" * 400,
        "True",
    ]
)
texts = st.one_of(
    numerals,
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    levels.map(str),
    levels.map(lambda level: f" {level}\t"),
    st.floats().map(repr),
    st.text("0123456789+-.eE ", max_size=6),
)


def check(column: Column, cells: list[Any], array: pa.Array) -> None:
    result = coder_of(column).code(array)
    expected = [reference(column, cell) for cell in cells]
    assert len(result.codes) == len(cells)
    assert (result.codes < column.size).all()
    assert result.codes.tolist() == [code for code, _ in expected]
    if result.values is not None:
        assert result.values.tolist() == [value for _, value in expected]


@settings(max_examples=300, deadline=None)
@given(columns, st.lists(st.none() | texts, max_size=20), st.integers(0, 3), st.booleans())
def test_text_is_coded_as_the_reference_says(
    column: Column, cells: list[Any], skip: int, packed: bool
) -> None:
    array = pa.array(cells, pa.string())
    array = array.dictionary_encode() if packed else array
    check(column, cells[skip:], array.slice(skip))


@settings(max_examples=150, deadline=None)
@given(columns, st.lists(st.none() | st.binary(max_size=4) | texts.map(str.encode), max_size=20))
@example(
    Categorical(["", "1"]), [b"+1", b" 01\t", b"1.", b"1e+00", b"2"]
)  # numbers that are no spelling of a level
def test_bytes_are_coded_as_the_reference_says(column: Column, cells: list[Any]) -> None:
    check(column, cells, pa.array(cells, pa.binary()))


@settings(max_examples=150, deadline=None)
@given(
    columns,
    st.sampled_from(["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]),
    st.data(),
)
def test_integers_are_coded_as_the_reference_says(column: Column, name: str, data: st.DataObject) -> None:
    bounds = np.iinfo(name)
    near = [v for v in getattr(column, "levels", ()) if type(v) is int and bounds.min <= v <= bounds.max]
    near += [int(v) for v in getattr(column, "missing", ()) if str(v) in ("0", "1", "-9", "999")]
    near = [v for v in near if bounds.min <= v <= bounds.max]
    cell = st.integers(int(bounds.min), int(bounds.max)) | st.sampled_from([0, 1, *near])
    cells = data.draw(st.lists(st.none() | cell, max_size=20))
    check(column, cells, pa.array(cells, getattr(pa, name)()))


@settings(max_examples=150, deadline=None)
@given(columns, st.lists(st.none() | st.floats() | st.integers(-4, 4).map(float) | st.just(2.5), max_size=20))
def test_doubles_are_coded_as_the_reference_says(column: Column, cells: list[Any]) -> None:
    check(column, cells, pa.array(cells, pa.float64()))


@settings(max_examples=80, deadline=None)
@given(columns, st.lists(st.none() | st.booleans(), max_size=20), st.integers(0, 9))
def test_booleans_are_coded_as_the_reference_says(column: Column, cells: list[Any], skip: int) -> None:
    check(column, cells[skip:], pa.array(cells, pa.bool_()).slice(skip))


@settings(max_examples=80, deadline=None)
@given(columns, st.lists(st.none() | st.decimals(-1000, 1000, places=2) | st.just(Decimal(1)), max_size=20))
def test_decimals_are_coded_as_the_reference_says(column: Column, cells: list[Any]) -> None:
    check(column, cells, pa.array(cells, pa.decimal128(12, 2)))


anything = st.one_of(
    st.none(), texts, st.text(), st.binary(max_size=4), st.integers(), st.floats(), st.booleans(), st.dates(),
    st.decimals(), st.lists(st.integers(), max_size=2), st.complex_numbers(), st.datetimes(), st.timedeltas(),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(columns, st.lists(anything, min_size=1, max_size=12))
def test_python_objects_of_any_kind_are_coded_one_by_one(column: Column, cells: list[Any]) -> None:
    schema = Schema(x=column)
    together = read({"x": cells}, schema).codes["x"]
    assert together.tolist() == [read({"x": [cell]}, schema).codes["x"][0] for cell in cells]
    assert (together < column.size).all()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), min_size=2, max_size=5))
def test_chunks_with_other_slices_of_one_dictionary_are_coded_as_their_words(
    slices: list[tuple[int, int]],
) -> None:
    """What a coder remembers of one chunk must not be taken for the next: both lie in the same memory."""
    words = ["u", "v", "w", "x", "y", "z", "other"]
    kept = pa.array(words)
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array(range(length), pa.int8()), kept.slice(start, length))
        for start, length in slices
    ]
    table = pa.table({"cell": pa.chunked_array(chunks)})
    found = read(table, Schema(cell=Categorical(words, other="other"))).codes["cell"].tolist()
    assert found == [start + i for start, length in slices for i in range(length)]
