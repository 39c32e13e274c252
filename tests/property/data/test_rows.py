"""One row's value never shows: not in an error, a warning, a log line, the row count or another row's code."""

from __future__ import annotations

import csv
import io
import logging
import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpcausal.data import csv as delimited
from dpcausal.data.columns import Categorical, Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.read import read
from dpcausal.data.schema import Schema

SCHEMA = Schema(
    a=Categorical(["no", "yes", "é"], other="yes"),
    b=Categorical([0, 1, 2], other=1),
    c=Numeric(-1, 1, [0, 0.5], other=0.25),
)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
cells = st.one_of(
    words,
    st.sampled_from(
        [
            "yes",
            "1",
            "0.3",
            '"',
            '""',
            "\n",
            "\r\n",
            ",",
            "1e999",
            "NaN",
            "",
            " ",
            "\x00",
            "True",
            "\ufeffyes",
        ]
    ),
)
rows = st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8)


class Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__(0)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def watched(source: Any, quoted_newlines: bool = False) -> tuple[Dataset, list[str]]:
    """What was read, and everything that was said meanwhile."""
    listener, root = Listener(), logging.getLogger()
    level = root.level
    root.addHandler(listener)
    root.setLevel(0)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            data = read(source, SCHEMA, quoted_newlines=quoted_newlines)
    finally:
        root.removeHandler(listener)
        root.setLevel(level)
    return data, [f"{w.category.__name__}: {w.message}" for w in said] + listener.lines


def as_csv(table: list[tuple[str, ...]], path: Path, header: str = "a,b,c,extra") -> Path:
    text = io.StringIO()
    csv.writer(text).writerows([*row, "x"] for row in table)
    path.write_bytes(f"{header}\r\n{text.getvalue()}".encode())
    return path


def small_blocks(patch: pytest.MonkeyPatch, size: int) -> None:
    """Read CSV files so many bytes at a time, the first of them too."""
    patch.setattr(delimited, "BLOCK_BYTES", size)
    patch.setattr(delimited, "read_header_row", partial(delimited.read_header_row, size=size))


def same_but(one: Dataset, two: Dataset, place: int) -> None:
    assert one.n == two.n
    for name in SCHEMA:
        kept = np.arange(one.n) != place
        assert (one.codes[name][kept] == two.codes[name][kept]).all()


@settings(max_examples=80, deadline=None)
@given(rows, st.tuples(cells, cells, cells), st.integers(0, 7), st.sampled_from([1, 16, 1 << 20]))
def test_one_row_of_a_csv_changes_nothing_else(
    table: list[tuple[str, ...]], row: tuple[str, ...], place: int, block: int
) -> None:
    place %= len(table)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        small_blocks(patch, block)
        one, said = watched(as_csv(table, Path(folder) / "t.csv"), quoted_newlines=True)
        another = as_csv([*table[:place], row, *table[place + 1 :]], Path(folder) / "t.csv")
        two, said_too = watched(another, quoted_newlines=True)
    assert said == said_too == ['ColumnsIgnored: t.csv: column "extra" not in the schema, ignored']
    assert one.n == len(table)
    same_but(one, two, place)


# with line breaks declared every cell ends in its own row: an open quote would run on
PLAIN = [b"no", b"yes", b"0.3", b"", b'"no"', b'"a ""b"""', b'"x\ny"']
ODD = [
    b'"no"x',
    b'1"',
    b" no ",
    b"\xff",
    b"\x00",
    delimited.BYTE_ORDER_MARK + b"no",
    delimited.BYTE_ORDER_MARK * 2,
]
raw_rows = st.one_of(
    st.sampled_from(
        [b"no,0,0", delimited.BYTE_ORDER_MARK + b"no,0,0", delimited.BYTE_ORDER_MARK * 2 + b"no,,1"]
    ),
    st.lists(st.sampled_from(PLAIN), min_size=3, max_size=3).map(b",".join),
    st.lists(st.sampled_from([*PLAIN, *ODD]), min_size=1, max_size=5).map(b",".join),
)
ends = st.sampled_from([b"\n", b"\r\n", b"\r"])


def cells_of(lines: list[bytes], end: bytes, quoted_newlines: bool) -> list[tuple[bytes, ...]]:
    """All rows of a file of these lines, in blocks of ``delimited.BLOCK_BYTES``."""
    stream = io.BytesIO(b"a,b,c" + end + b"".join(line + end for line in lines))
    header = delimited.read_header_row(stream, 4, quoted_newlines=quoted_newlines)
    layout = delimited.Layout(3, ",", header.line_end, quoted_newlines)
    blocks = list(delimited.chunks(stream, header.rest, layout, range(3)))
    return [row for block in blocks for row in zip(*(column.to_pylist() for column in block), strict=True)]


def reads_rows_apart(
    table: list[bytes], row: bytes, place: int, end: bytes, block: int, quoted: bool
) -> None:
    """Every row gives what it gives in a file of its own, whatever the size of blocks."""
    place %= len(table)
    with pytest.MonkeyPatch.context() as patch:
        alone = {line: cells_of([line], end, quoted) for line in {*table, row}}  # none for a blank line
        patch.setattr(delimited, "BLOCK_BYTES", block)
        for lines in (table, [*table[:place], row, *table[place + 1 :]]):
            assert cells_of(lines, end, quoted) == [found for line in lines for found in alone[line]]
    marked = {line: alone[line] for line in alone if line.startswith(delimited.BYTE_ORDER_MARK)}
    assert all(found[0][0].startswith(delimited.BYTE_ORDER_MARK) for found in marked.values())
    assert quoted or all(len(found) == bool(line) for line, found in alone.items())


@settings(max_examples=100, deadline=None)
@given(st.lists(raw_rows, min_size=1, max_size=12), raw_rows, st.integers(0, 11), ends, st.integers(1, 60))
def test_a_row_of_a_csv_is_read_as_if_it_were_the_only_one(
    table: list[bytes], row: bytes, place: int, end: bytes, block: int
) -> None:
    """Rows too long, too short, oddly quoted or marked, in blocks that begin anywhere: none touches another."""
    reads_rows_apart(table, row, place, end, block, quoted=True)


any_line = st.one_of(
    raw_rows.filter(lambda line: b"\n" not in line),
    st.lists(st.sampled_from([b'"', b'""', b",", b"a", b"\xff", b"\x00", b"no", b"7"]), max_size=9).map(
        b"".join
    ),
    st.binary(max_size=9).map(lambda line: line.translate(None, b"\r\n")),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(any_line, min_size=1, max_size=12), any_line, st.integers(0, 11), ends, st.integers(1, 60))
def test_a_line_is_read_as_if_it_were_the_only_one(
    table: list[bytes], line: bytes, place: int, end: bytes, block: int
) -> None:
    """Without the declaration any bytes whatever may stand on a line: it is one row, and touches no other."""
    reads_rows_apart(table, line, place, end, block, quoted=False)


objects = st.one_of(
    st.none(), cells, st.text(), st.binary(max_size=3), st.integers(), st.floats(), st.booleans(), st.dates()
)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(objects, min_size=1, max_size=8), objects, st.integers(0, 7), st.sampled_from(["dict", "pandas"])
)
def test_one_python_object_changes_nothing_else(column: list[Any], cell: Any, place: int, kind: str) -> None:
    place %= len(column)
    results = []
    for values in (column, [*column[:place], cell, *column[place + 1 :]]):
        table = dict.fromkeys("abc", values)
        results.append(watched(table if kind == "dict" else pd.DataFrame(table, dtype=object)))
    (one, said), (two, said_too) = results
    assert said == said_too == []
    same_but(one, two, place)


@settings(max_examples=150, deadline=None)
@given(
    st.binary(min_size=1, max_size=60)
    | st.lists(st.sampled_from(list(b'a1,"\r\n \xff')), min_size=1).map(bytes)
)
def test_no_bytes_after_the_header_raise(body: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "t.csv"
        path.write_bytes(b"a,b,c\nyes,1,0\n" + body)
        whole, said = watched(path)
        small_blocks(patch, 2)
        pieces, _ = watched(path)
    assert said == []
    assert whole.n == pieces.n >= 1
    assert [codes[0] for codes in whole.codes.values()] == [1, 1, 1]
    for name in SCHEMA:
        assert (whole.codes[name] == pieces.codes[name]).all()


typed = st.lists(
    st.tuples(
        st.none() | st.sampled_from(["no", "yes", "é", "x", " yes", 'q"u', "a,b"]),
        st.none() | st.integers(-3, 5),
        st.none() | st.integers(-20, 20).map(lambda k: k / 8),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(typed)
def test_every_format_gives_the_same_codes(table: list[tuple[Any, ...]]) -> None:
    columns = {name: [row[i] for row in table] for i, name in enumerate("abc")}
    types = {"a": pa.string(), "b": pa.int64(), "c": pa.float64()}
    arrow = pa.table({name: pa.array(column, types[name]) for name, column in columns.items()})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pq.write_table(arrow, folder / "t.parquet", row_group_size=5)
        feather.write_feather(arrow, folder / "t.arrow", compression="uncompressed", chunksize=5)
        pd.DataFrame(columns).to_csv(folder / "t.csv", index=False)
        sources = [folder / "t.csv", folder / "t.parquet", folder / "t.arrow"]
        sources += [arrow, arrow.to_pandas(), pl.from_arrow(arrow), columns]  # type: ignore[list-item]
        results = [read(source, SCHEMA) for source in sources]
    for result in results:
        assert result.n == len(table)
        for column in SCHEMA:
            assert result.codes[column].tolist() == results[0].codes[column].tolist()
        assert result.values["c"].tolist() == results[0].values["c"].tolist()
