"""Row independence as a property of reading: one cell changes the code of its own row and nothing else.

For every reader, input and engine, one cell of a small table is set to a nasty value. The number of rows, the codes of
all other rows, errors, warnings and the way taken (the kind of source, its columns and types, the queries that DuckDB
gets) must be those of the table without it. The lists come from the tables that the code reads by, so a new reader
without an entry here fails ``test_every_reader_and_engine_is_here``.

Line breaks in a delimited file are the exception that is declared: without ``quoted_newlines`` a line is a row by
definition, so there they are replaced by a blank; with it they are written as its writer promises, in quotes.
"""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import pkgutil
import struct
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from file_makers import (
    as_bytes,
    r_attributes,
    r_numbers,
    r_texts,
    text_cell,
    write_frame,
    write_numbers,
    write_rds,
    write_sheet,
    write_stat_file,
    write_xlsx,
)

import dpcausal as dc
import dpcausal.counts
from dpcausal.counts.duckdb_table import DuckDBTable
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.protocol import Counts
from dpcausal.counts.stream import count_files, count_table
from dpcausal.data.read import open_checked
from dpcausal.data.sources import COLUMN_KINDS, COMPRESSED, FORMATS, INPUTS
from dpcausal.data.stat_files import Labelled

pytestmark = pytest.mark.long_file

PLACES = (0, 4, 8)  # rows that are changed: the first, one in the middle, the last
COLUMNS = {
    "word": ["no", "yes", "no", "yes", "", "no", "yes", "no", "maybe"],
    "code": ["01", "02", "02", "01", "03", "", "01", "02", "01"],
    "size": ["1.5", "2.5", "", "7", "0.25", "1e1", "x", "3", "4"],
}
SCHEMA = dc.Schema(
    word=dc.Categorical(["no", "yes"], other="no"),
    code=dc.Categorical(["none", "01", "02"], other="none"),
    size=dc.Numeric(0, 10, bins=[1, 2, 3], other=5, missing=[7]),
    row=dc.Categorical(list(range(9))),  # tells the rows apart where only tables come back
)
TEXTS = [
    '"', '"open', 'closed"', '""', '"""', '"a","b', 'a"b', "'", ",", "\t", ";", "|", ",,,,", "\\", "\\N", "#", "\x00",
    "yes\x00", "\x1a", "\ufeff", "\ufeffyes", "\n", "\r", "\r\n", "a\nb", '"\n', '\n"', "\u2028", "\x0b", "\x85",
    " ", "", "NA", "NaN", "inf", "-inf", "1e999", "9" * 400, "0x1", "1_000", "1,5", "-0", "True", "01", "1", "1.50",
    "2020-01-01", "é", "😀", "x" * 70_000, "=1+1", "<NA>", "None", "nan", "NaT",
]  # fmt: skip
BYTES = [b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\x00\xd8", b'\xc3"', b"\xe9\xe8"]
OBJECTS = [
    None, float("nan"), float("inf"), 1, 1.5, -0.0, 10**400, 2**70, True, Decimal("1.50"), Decimal("sNaN"), b"\xff",
    date(2020, 1, 1), datetime(2020, 1, 1, 12), pd.Timestamp("2020-01-01", tz="UTC"), pd.NaT, pd.NA, np.float16(0.1),
    np.int8(1), np.datetime64("NaT"), np.timedelta64(1, "s"), [1, 2], {"a": 1}, object(), 1j, "\ud800", Ellipsis,
]  # fmt: skip

Cells = Mapping[str, Sequence[Any]]
Make = Callable[[Cells, Path], Any]


def with_row(cells: Cells) -> dict[str, list[Any]]:
    return {**{name: list(column) for name, column in cells.items()}, "row": [str(i) for i in range(9)]}


# ---- readers of files


def unquoted(delimiter: bytes) -> Make:
    """A file written without any quoting, as by R's ``quote = FALSE``: a line is a row, whatever stands on it."""

    def make(cells: Cells, path: Path) -> Path:
        columns = with_row(cells)
        clean = bytes.maketrans(b"\r\n", b"  ")
        rows = zip(columns["row"], *(columns[name] for name in cells), strict=True)
        lines = [delimiter.join(as_bytes(cell).translate(clean) for cell in row) for row in rows]
        path.write_bytes(b"\n".join([delimiter.join([b"row", *(n.encode() for n in cells)]), *lines, b""]))
        return path

    return make


def quoted(delimiter: str) -> Make:
    """A file as Python's own writer makes it."""

    def make(cells: Cells, path: Path) -> Path:
        columns = {k: [as_bytes(c).decode("latin-1") for c in v] for k, v in with_row(cells).items()}
        text = io.StringIO()
        csv.writer(text, delimiter=delimiter).writerows([list(columns), *zip(*columns.values(), strict=True)])
        path.write_bytes(text.getvalue().encode("latin-1"))
        return path

    return make


def compressed(make: Make) -> Make:
    def wrapped(cells: Cells, path: Path) -> Path:
        plain = make(cells, path.with_suffix(""))
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(plain.read_bytes()))
        else:
            codec = {".bz2": "bz2", ".zst": "zstd"}[path.suffix]
            with pa.CompressedOutputStream(str(path), codec) as out:
                out.write(plain.read_bytes())
        return path

    return wrapped


def arrow_table(cells: Cells) -> pa.Table:
    """Text columns, with bytes that are not UTF-8 where the cells have them: no writer of Arrow files checks that."""
    columns = with_row(cells)
    return pa.table(
        {
            name: pa.array([None if c is None else as_bytes(c) for c in column], pa.binary()).view(
                pa.string()
            )
            for name, column in columns.items()
        }
    )


def write_arrow_stream(cells: Cells, path: Path) -> Path:
    table = arrow_table(cells)
    with pa.ipc.new_stream(str(path), table.schema) as out:
        out.write_table(table)
    return path


def write_parquet(cells: Cells, path: Path) -> Path:
    pq.write_table(arrow_table(cells), path, row_group_size=4)
    return path


def write_feather(cells: Cells, path: Path) -> Path:
    feather.write_feather(arrow_table(cells), path, compression="uncompressed", chunksize=4)
    return path


FILES: dict[str, tuple[str, Make]] = {  # by suffix, and what is different about the file
    ".csv unquoted": (".csv", unquoted(b",")),
    ".csv quoted": (".csv", quoted(",")),
    ".tsv unquoted": (".tsv", unquoted(b"\t")),
    ".tsv quoted": (".tsv", quoted("\t")),
    ".tab unquoted": (".tab", unquoted(b"\t")),
    ".txt unquoted": (".txt", unquoted(b"|")),
    ".txt quoted": (".txt", quoted(";")),
    ".csv.gz unquoted": (".csv.gz", compressed(unquoted(b","))),
    ".csv.bz2 unquoted": (".csv.bz2", compressed(unquoted(b","))),
    ".tsv.zst quoted": (".tsv.zst", compressed(quoted("\t"))),
    ".parquet": (".parquet", write_parquet),
    ".pq": (".pq", write_parquet),
    ".arrow": (".arrow", write_feather),
    ".feather": (".feather", write_feather),
    ".ipc": (".ipc", write_feather),
    ".arrows": (".arrows", write_arrow_stream),
    ".xlsx": (".xlsx", lambda cells, path: write_xlsx(with_row(cells), path)),
    ".xlsm": (".xlsm", lambda cells, path: write_xlsx(with_row(cells), path)),
    ".sav": (".sav", lambda cells, path: write_stat_file(with_row(cells), path)),
    ".zsav": (".zsav", lambda cells, path: write_stat_file(with_row(cells), path)),
    ".dta": (".dta", lambda cells, path: write_stat_file(with_row(cells), path)),
    ".xpt": (".xpt", lambda cells, path: write_stat_file(with_row(cells), path)),
    ".rds": (".rds", lambda cells, path: write_rds(with_row(cells), path)),
}
WRITTEN_SLOWLY = {".xlsx", ".xlsm", ".sav", ".zsav", ".dta", ".xpt", ".rds"}
PATCHED = {".sas7bdat"}  # no program writes it: test_one_cell_of_a_file_of_sas changes bytes of a stored one

# ---- inputs and columns in memory


class ArrowStream:
    """Anything with Arrow's stream interface, and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


class ArrowColumn:
    """Anything with Arrow's array interface, and nothing else."""

    def __init__(self, array: pa.Array) -> None:
        self._array = array

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._array.__arrow_c_array__(requested_schema)


class ToArrow:
    """Anything with a method ``to_arrow``, such as a DuckDB relation."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def to_arrow(self) -> pa.Table:
        return self._table


def columns_of(kind: Callable[[list[Any]], Any]) -> Make:
    return lambda cells, _: {name: kind(column) for name, column in with_row(cells).items()}


def pandas_frame(cells: Cells, _: Path) -> pd.DataFrame:
    return pd.DataFrame(with_row(cells), dtype=object)


def plain_texts(column: list[Any]) -> list[str | None]:
    return [c if c is None else as_bytes(c).decode("utf-8", "replace") for c in column]


def polars_frame(cells: Cells, _: Path) -> pl.DataFrame:
    return pl.DataFrame({k: plain_texts(v) for k, v in with_row(cells).items()})


def binary(column: list[Any]) -> pa.Array:
    return pa.array([None if c is None else as_bytes(c) for c in column], pa.binary())


def masked(column: list[Any]) -> np.ma.MaskedArray:
    values = np.empty(len(column), dtype=object)
    values[:] = column
    return np.ma.MaskedArray(values, mask=[c is None for c in column])


MEMORY: dict[str, dict[str, Make]] = {  # by entry of INPUTS
    "record batch": {"": lambda cells, _: arrow_table(cells).to_batches()[0]},
    "table": {"": lambda cells, _: arrow_table(cells)},
    "record batch reader": {"": lambda cells, _: arrow_table(cells).to_reader(max_chunksize=4)},
    "dict": {},  # one of each kind of column, below
    "pandas": {
        "objects": pandas_frame,
        "texts": lambda cells, _: pd.DataFrame(
            {k: plain_texts(v) for k, v in with_row(cells).items()}, dtype="str"
        ),
    },
    "polars": {"": polars_frame},
    "polars lazy": {"": lambda cells, folder: polars_frame(cells, folder).lazy()},
    "arrow stream": {"": lambda cells, _: ArrowStream(arrow_table(cells))},
    "to_arrow": {"": lambda cells, _: ToArrow(arrow_table(cells))},
}
IN_DICT: dict[str, dict[str, Make]] = {  # by entry of COLUMN_KINDS
    "arrow chunks": {
        "": columns_of(lambda column: pa.chunked_array([binary(column[:4]), binary(column[4:])]))
    },
    "arrow array": {
        "": columns_of(binary),
        "dictionary": columns_of(lambda column: binary(column).dictionary_encode()),
    },
    "labelled": {
        "texts": columns_of(lambda column: Labelled(plain_texts(column), {"no": "yes", "01": "02", "x": "1"}))
    },
    "pandas": {
        "objects": columns_of(lambda column: pd.Series(column, dtype=object)),
        "string": columns_of(lambda column: pd.Series(plain_texts(column), dtype=pd.StringDtype("python"))),
        "categories": columns_of(lambda column: pd.Series(plain_texts(column)).astype("category")),
    },
    "polars objects": {"": columns_of(lambda column: pl.Series(column, dtype=pl.Object))},
    "arrow stream": {"polars": columns_of(lambda column: pl.Series(plain_texts(column), dtype=pl.String))},
    "arrow interface": {"": columns_of(lambda column: ArrowColumn(binary(column)))},
    "numpy": {
        "objects": columns_of(lambda column: np.array([*column, None], dtype=object)[:-1]),
        "masked": columns_of(masked),
        "texts": columns_of(lambda column: np.array([str(c) for c in plain_texts(column)])),
    },
    "iterable": {"list": columns_of(list), "tuple": columns_of(tuple), "generator": columns_of(iter)},
}
WITH_OBJECTS = {
    "pandas objects", "dict pandas objects", "dict polars objects", "dict numpy objects", "dict numpy masked",
    "dict iterable list", "dict iterable tuple", "dict iterable generator",
}  # fmt: skip


def named(kinds: Mapping[str, Mapping[str, Make]], prefix: str = "") -> dict[str, Make]:
    return {
        f"{prefix}{kind} {more}".strip(): make
        for kind, makes in kinds.items()
        for more, make in makes.items()
    }


IN_MEMORY = {**named(MEMORY), **named(IN_DICT, "dict ")}

# ---- engines: what each makes of a source, as the codes of every row


def codes_in_memory(source: Any, schema: dc.Schema) -> tuple[int, dict[str, list[int]]]:
    data = dc.read(source, schema)
    values = {f"{name} value": column.tolist() for name, column in data.values.items()}
    return data.n, {name: column.tolist() for name, column in data.codes.items()} | values


def codes_of(counts: Counts) -> tuple[int, dict[str, list[int]]]:
    """The codes of every row, from tables with the column that tells rows apart."""
    names = ["word", "code", "size"]
    tables = counts.tables([[name, "row"] for name in names])
    assert all((table.sum(axis=0) == 1).all() for table in tables)
    return counts.n, {name: table.argmax(axis=0).tolist() for name, table in zip(names, tables, strict=True)}


def codes_scanned(source: Any, schema: dc.Schema) -> tuple[int, dict[str, list[int]]]:
    counts = count_files(source, schema, threads=2)
    counts._too_large = True
    return codes_of(counts)


def codes_of_table(source: Any, schema: dc.Schema) -> tuple[int, dict[str, list[int]]]:
    """A table of a DuckDB database: text, and only what DuckDB itself accepts as text."""
    connection = duckdb.connect()
    connection.register("rows", pq.read_table(source))
    connection.execute("CREATE TABLE cells AS SELECT * FROM rows")
    texts = schema.select([name for name in schema if name != "size"])
    counts = count_table(connection, "cells", texts)
    names = ["word", "code"]
    tables = counts.tables([[name, "row"] for name in names])
    return counts.n, {name: table.argmax(axis=0).tolist() for name, table in zip(names, tables, strict=True)}


def codes_of_ibis_table(source: Any, schema: dc.Schema) -> tuple[int, dict[str, list[int]]]:
    """A table behind Ibis, in DuckDB too: coded by its expressions."""
    import ibis

    connection = duckdb.connect()
    connection.register("rows", pq.read_table(source))
    connection.execute("CREATE TABLE cells AS SELECT * FROM rows")
    rows = ibis.duckdb.from_connection(connection).table("cells")
    counts = dc.connect(rows, schema.select([name for name in schema if name != "size"]))
    names = ["word", "code"]
    tables = counts.tables([[name, "row"] for name in names])
    return counts.n, {name: table.argmax(axis=0).tolist() for name, table in zip(names, tables, strict=True)}


ENGINES: dict[str, Callable[[Any, dc.Schema], tuple[int, dict[str, list[int]]]]] = {
    "memory": codes_in_memory,
    "stream": lambda source, schema: codes_of(count_files(source, schema, threads=2)),
    "stream scan": codes_scanned,
    "duckdb table": codes_of_table,
    "ibis": codes_of_ibis_table,
}
BACKENDS = {
    "MemoryCounts": {"memory"},
    "StreamCounts": {"stream", "stream scan", "duckdb table"},
    "EngineCounts": {"ibis"},
}
DERIVED = {"MergedCounts"}  # of the tables of another backend, and of no rows


def test_every_reader_and_engine_is_here() -> None:
    """The lists above are those of the code: whoever adds a reader or an engine adds it here."""
    assert {suffix for suffix, _ in FILES.values() if suffix in FORMATS} == set(FORMATS) - PATCHED
    tried = {Path(suffix).suffix for suffix, _ in FILES.values()}
    assert set(COMPRESSED) <= tried
    assert set(MEMORY) == set(INPUTS)
    assert set(IN_DICT) == set(COLUMN_KINDS)
    found = set()
    for module in pkgutil.iter_modules(dpcausal.counts.__path__, "dpcausal.counts."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and value.__module__ == module.name and value is not Counts:
                found |= (
                    {value.__name__} if hasattr(value, "tables") and hasattr(value, "subsample") else set()
                )
    assert found - DERIVED == set(BACKENDS)
    assert set().union(*BACKENDS.values()) == set(ENGINES)
    assert MemoryCounts.__name__ in BACKENDS


# ---- the property


class Outcome:
    """All that can be seen of one reading."""

    def __init__(self, make: Make, cells: Cells, path: Path, engine: str, schema: dc.Schema) -> None:
        queries: list[str] = []
        write = DuckDBTable._sql

        def recorded(table: DuckDBTable, columns: list[str]) -> str:
            queries.append(write(table, columns))
            return queries[-1]

        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            patch.setattr(DuckDBTable, "_sql", recorded)
            source = make(cells, path)
            self.n, self.codes = ENGINES[engine](source, schema)
            # what is in memory may be gone once it was read
            opened = open_checked(source if isinstance(source, Path) else make(cells, path), schema)
        way = (type(opened).__name__, opened.label, opened.names, list(map(str, opened.types)), opened.rows)
        self.seen = ([f"{w.category.__name__}: {w.message}" for w in said], way, queries)


Turns = Callable[[int], list[str]]


@pytest.fixture(params=["a column in turn", pytest.param("every column", marks=pytest.mark.slow)])
def turns(request: pytest.FixtureRequest) -> Turns:
    """The columns that nasty value i is put into: each reader gets every value, and the next one in another column."""
    names = list(COLUMNS)
    if request.param == "every column":
        return lambda i: names
    first = zlib.crc32(request.node.name.encode())
    return lambda i: [names[(first + i) % len(names)]]


def one_cell_changes_one_row(
    make: Make, path: Path, engine: str, nasty: Sequence[Any], turns: Turns, schema: dc.Schema = SCHEMA
) -> None:
    before = Outcome(make, COLUMNS, path, engine, schema)
    assert before.n == 9
    assert len({tuple(codes) for codes in before.codes.values()}) > 1
    for i, cell in enumerate(nasty):
        for column in turns(i):
            place = PLACES[i // len(COLUMNS) % len(PLACES)]
            cells = {name: list(values) for name, values in COLUMNS.items()}
            cells[column][place] = cell
            after = Outcome(make, cells, path, engine, schema)
            assert after.n == before.n, (column, cell)
            assert after.seen == before.seen, (column, cell)
            for name, codes in before.codes.items():
                others = [p for p in range(9) if p != place]
                assert [after.codes[name][p] for p in others] == [codes[p] for p in others], (column, cell)
                # in a delimited file a cell may spill into the cells after it, in its own row
                spills = path.suffix in (".csv", ".tsv", ".tab", ".txt", *COMPRESSED)
                assert spills or name.startswith(column) or after.codes[name] == codes, (column, cell)


@pytest.mark.parametrize("kind", FILES)
def test_one_cell_of_a_file(kind: str, turns: Turns, tmp_path: Path) -> None:
    suffix, make = FILES[kind]
    schema = SCHEMA.with_quoted_newlines() if kind.endswith(" quoted") else SCHEMA
    few = suffix in WRITTEN_SLOWLY
    nasty = [*TEXTS[:: 6 if few else 1], *BYTES[:: 2 if few else 1]]
    one_cell_changes_one_row(make, tmp_path / f"t{suffix}", "memory", nasty, turns, schema)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind, (suffix, _) in FILES.items() if suffix in WRITTEN_SLOWLY])
def test_one_cell_of_a_file_with_every_value(kind: str, tmp_path: Path) -> None:
    suffix, make = FILES[kind]
    path = tmp_path / f"t{suffix}"
    one_cell_changes_one_row(make, path, "memory", [*TEXTS, *BYTES], lambda i: list(COLUMNS))


@pytest.mark.parametrize(
    ("kind", "encoding"), [(".csv unquoted", "cp850"), (".tsv quoted", "latin-1"), (".sav", "cp1252")]
)
def test_one_cell_of_a_file_in_a_declared_encoding(
    kind: str, encoding: str, turns: Turns, tmp_path: Path
) -> None:
    """Marks of numbers are declared too, and levels that are not ASCII."""
    suffix, make = FILES[kind]
    schema = SCHEMA if kind != ".tsv quoted" else SCHEMA.with_quoted_newlines()
    schema = schema.with_format(encoding=encoding, decimal=",", thousands=".")
    nasty = ["é", "1,5", "1.5", "1.000", ",", ".", *BYTES, *(bytes([b]) for b in range(128, 256, 20))]
    one_cell_changes_one_row(make, tmp_path / f"t{suffix}", "memory", nasty, turns, schema)


XLSX_CELLS = [
    "<c REF><v>1e999</v></c>", "<c REF><v>2,5</v></c>", "<c REF><v></v></c>", "<c REF/>", "<c REF><f>1/0</f></c>",
    '<c REF s="1"><v>43831</v></c>', '<c REF s="1"><v>1e10</v></c>', '<c REF s="1"><v>-5</v></c>',
    '<c REF s="1"><v>nan</v></c>', '<c REF s="1"><v>inf</v></c>', '<c REF s="2"><v>1e15</v></c>',
    '<c REF s="2"><v>.5</v></c>', '<c REF s="1"><v>2958465.99999999</v></c>', '<c REF s="99"><v>1</v></c>',
    '<c REF t="d"><v>2020-13-45</v></c>', '<c REF t="b"><v>maybe</v></c>', '<c REF t="b"><v>1</v></c>',
    '<c REF t="zz"><v>1</v></c>', '<c REF t="e"><v>#SPILL!</v></c>', '<c REF t="e"><v>#N/A</v></c>',
    '<c REF t="s"><v>99</v></c>', '<c REF t="s"><v>-1</v></c>', '<c REF t="n"><v>12 </v></c>',
    '<c REF t="str"><f>A1</f><v>yes</v></c>', "<c REF><v>1</v></c>", text_cell("_x0041__xD800_"),
    *(f'<c REF s="1"><v>{day}</v></c>' for day in (2_957_000, 2_957_002, 2_957_003, 2_957_003.999999, 2_958_464)),
    f'<c REF t="s"><v>{"9" * 5000}</v></c>', f'<c REF s="{"9" * 5000}"><v>1</v></c>', f'<c REF><v>{"9" * 5000}</v></c>',
]  # fmt: skip


@pytest.mark.parametrize("from_1904", [False, True])
def test_one_cell_of_a_workbook_of_any_type(from_1904: bool, turns: Turns, tmp_path: Path) -> None:
    """Cells that other readers raise on: dates beyond the calendar, durations too long, errors they do not know."""

    def make(cells: Cells, path: Path) -> Path:
        columns = with_row(cells)
        lines = zip(*columns.values(), strict=True)
        body = [[c if c.startswith("<c") else text_cell(c) if c else "" for c in line] for line in lines]
        return write_sheet([[text_cell(name) for name in columns], *body], path, from_1904=from_1904)

    one_cell_changes_one_row(make, tmp_path / "t.xlsx", "memory", XLSX_CELLS, turns)


R_CELLS = {  # attributes of columns in R: labels of haven, levels of a factor, a class of dates
    "plain": b"",
    "labelled": r_attributes(
        labels=r_numbers([1.0, 2.0], r_attributes(names=r_texts([b"male", b"female"]))),
        class_=r_texts([b"haven_labelled"]),
    ),
    "day": r_attributes(class_=r_texts([b"Date"])),
}


def write_numbers_of_r(cells: Cells, path: Path) -> Path:
    return write_frame({name: r_numbers(column, R_CELLS[name]) for name, column in cells.items()}, 6, path)


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta", ".xpt", ".rds"])
def test_one_number_of_a_file_with_labels_and_dates(suffix: str, tmp_path: Path) -> None:
    """No number, in a column that is plain, labelled or one of days, changes another row or makes an error."""
    path = tmp_path / f"t{suffix}"
    schema = dc.Schema(
        plain=dc.Numeric(0, 10, bins=[1.5], other=5),
        labelled=dc.Categorical(["?", *([1, 2] if suffix == ".xpt" else ["male", "female"])]),
        day=dc.Categorical(["none", "2020-01-01"]),
    )

    def read(column: Sequence[float]) -> tuple[int, dict[str, list[Any]]]:
        cells = dict.fromkeys(schema, column)
        if suffix == ".rds":
            write_numbers_of_r(cells, path)
        else:
            write_numbers(cells, path, {1: "male", 2: "female"}, "day")
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            found = dc.read(path, schema)
        return found.n, {name: codes.tolist() for name, codes in found.codes.items()}

    usual = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]
    n, before = read(usual)
    assert n == 6
    assert before["plain"] == [0, 1] * 3
    assert before["labelled"] == [1, 2] * 3
    for place, cell in enumerate([float("nan"), 8e307, -1e300, 13e9, 2.0000001, -0.0]):
        n, after = read([*usual[:place], cell, *usual[place + 1 :]])
        assert n == 6
        for name, codes in before.items():
            assert [*after[name][:place], *after[name][place + 1 :]] == [*codes[:place], *codes[place + 1 :]]


@pytest.mark.parametrize(
    "cell", [*(c for c in XLSX_CELLS if c != "<c REF/>"), text_cell(""), '<c REF t="inlineStr"/>']
)
def test_the_last_row_of_a_workbook_is_a_row_whatever_its_only_cell_is(cell: str, tmp_path: Path) -> None:
    """An error or an empty text is missing, but it is there: a sheet of one column lost its last row."""
    rows = [[text_cell("word")], *([text_cell("yes")] for _ in range(4)), [cell]]
    path = write_sheet(rows, tmp_path / "t.xlsx")
    found = dc.read(path, dc.Schema(word=dc.Categorical(["no", "yes"])))
    assert found.n == 5
    assert found.codes["word"].tolist()[:4] == [1, 1, 1, 1]


def test_one_cell_of_a_file_of_sas(tmp_path: Path) -> None:
    """Bytes of one cell are changed in a file that SAS wrote, for each type of column."""
    stored = Path(__file__).parents[2] / "data" / "files" / "sample.sas7bdat.gz"
    data = gzip.decompress(stored.read_bytes())
    path = tmp_path / "t.sas7bdat"
    schema = dc.Schema(
        mychar=dc.Categorical(["?", "a", "b", "c", "d", "e", "é"]),
        mynum=dc.Numeric(-10, 10, other=7),
        mydate=dc.Categorical(["none", "1960-01-01", "2018-05-06"]),
        mylabl=dc.Categorical([0, 1, 2]),
    )

    def read(content: bytes) -> dict[str, list[Any]]:
        path.write_bytes(content)
        found = dc.read(path, schema)
        assert found.n == 5
        return {name: column.tolist() for name, column in found.codes.items()} | {
            "values": found.values["mynum"].tolist()
        }

    before = read(data)
    assert before["mychar"] == [1, 2, 3, 4, 5]
    assert before["values"] == [1.1, 1.2, -10, -1.4, 10]
    assert before["mydate"] == [2, 0, 1, 0, 0]
    assert before["mylabl"] == [1, 2, 1, 2, 1]
    row = data.index(struct.pack("<d", 1.2))  # the second row: its number, and the text of one letter in it
    letter = data.index(b"b", row)
    date = data.index(struct.pack("<d", -29093.0))
    odd = [struct.pack("<d", x) for x in (float("nan"), float("inf"), 1e300, -1e300, 5e-324, 1e15)] + [
        b"\xff" * 8
    ]
    patches = [(letter, bytes([b])) for b in (0, 10, 34, 128, 233, 255)]
    patches += [(place, cell) for place in (row, date) for cell in odd]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", dc.ColumnsIgnored)
        for place, cell in patches:
            after = read(data[:place] + cell + data[place + len(cell) :])
            for name, codes in before.items():
                assert after[name][:1] + after[name][2:] == codes[:1] + codes[2:], (place, cell)
    assert read(data[:letter] + b"\xe9" + data[letter + 1 :])["mychar"][1] == 6


@pytest.mark.parametrize("engine", ["stream", "stream scan"])
@pytest.mark.parametrize("kind", [".csv unquoted", ".csv quoted", ".parquet", ".arrow"])
def test_one_cell_of_a_file_counted_by_an_engine(
    kind: str, engine: str, turns: Turns, tmp_path: Path
) -> None:
    suffix, make = FILES[kind]
    nasty = [*BYTES[:2], *TEXTS, *BYTES[2:]][:: 2 if engine == "stream" else 7]
    schema = SCHEMA.with_quoted_newlines() if kind.endswith(" quoted") else SCHEMA
    one_cell_changes_one_row(make, tmp_path / f"t{suffix}", engine, nasty, turns, schema)


@pytest.mark.parametrize(("engine", "step"), [("duckdb table", 3), ("ibis", 9)])
def test_one_cell_of_a_table_of_a_database(engine: str, step: int, turns: Turns, tmp_path: Path) -> None:
    one_cell_changes_one_row(write_parquet, tmp_path / "t.parquet", engine, TEXTS[::step], turns)


@pytest.mark.parametrize("kind", IN_MEMORY)
def test_one_cell_in_memory(kind: str, turns: Turns, tmp_path: Path) -> None:
    nasty = [*TEXTS, *BYTES, *(OBJECTS if kind in WITH_OBJECTS else [None])]
    one_cell_changes_one_row(IN_MEMORY[kind], tmp_path / "none", "memory", nasty, turns)


TYPES: dict[str, tuple[pa.DataType, list[Any], list[Any]]] = {
    "int8": (pa.int8(), [1, 2, 3], [-128, 127, None]),
    "int64": (pa.int64(), [1, 2, 3], [-(2**63), 2**63 - 1, None]),
    "uint64": (pa.uint64(), [1, 2, 3], [2**64 - 1, None]),
    "half": (pa.float16(), [1.0, 2.0, 0.1], [6e4, float("inf"), float("nan"), None, -0.0]),
    "float": (pa.float32(), [1.0, 2.0, 0.1], [3e38, float("inf"), float("nan"), None, -0.0]),
    "double": (pa.float64(), [1.0, 2.0, 0.1], [1e308, 5e-324, float("-inf"), float("nan"), None, -0.0]),
    "bool": (pa.bool_(), [True, False, True], [None]),
    "decimal": (pa.decimal128(38, 2), [Decimal(1), Decimal(2), None], [Decimal("9" * 36), None]),
}


@pytest.mark.parametrize("engine", ["memory", "stream", "stream scan"])
@pytest.mark.parametrize("kind", TYPES)
def test_one_cell_of_a_typed_column(kind: str, engine: str, turns: Turns, tmp_path: Path) -> None:
    """Numbers have no nasty text, but edges of their type; another column has a cell that is not UTF-8 meanwhile."""
    type_, usual, nasty = TYPES[kind]

    def make(cells: Cells, path: Path) -> Path:
        table = arrow_table({"word": cells["word"]})
        for name in ("code", "size"):
            table = table.append_column(name, pa.array(cells[name], type_))
        pq.write_table(table, path, row_group_size=4)
        return path

    base = {"word": COLUMNS["word"], "code": usual * 3, "size": usual * 3}
    truth = {
        "code": dc.Categorical([False, True])
    }  # truth values are refused, by type, where no level is one
    schema = dc.Schema({**SCHEMA, **truth}) if kind == "bool" else SCHEMA
    before = Outcome(make, base, tmp_path / "t.parquet", engine, schema)
    for place, cell in enumerate(nasty):
        for j, name in enumerate(("code", "size")):
            words = ("no", b"\xff")
            for word in words if len(turns(0)) > 1 else (words[(place + j) % 2],):
                cells = {column: list(values) for column, values in base.items()}
                cells[name][place], cells["word"][place] = cell, word
                after = Outcome(make, cells, tmp_path / "t.parquet", engine, schema)
                assert (after.n, after.seen) == (before.n, before.seen)
                for column, codes in before.codes.items():
                    others = [p for p in range(9) if p != place]
                    assert [after.codes[column][p] for p in others] == [codes[p] for p in others]
