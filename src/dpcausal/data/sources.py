"""Columns held in memory (lists, numpy, pandas, polars, Arrow) as Arrow arrays.

A Python object becomes its printed form, each cell by itself: the type of a column is never guessed from its
values, since one odd cell would then change what becomes of the others.

The files that can be read, each as column names, types and chunks of Arrow arrays.

Only what is public about a file (its name, its columns and their types) can make an error here. A file that
turns out damaged half way is one fixed sentence.

Whatever a user hands in, as one thing: a path, a frame, a table or a dict of arrays.

pandas and polars are known by the names of their types and never imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from decimal import Decimal
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.data import arrow, csv

FULL = 400  # a decimal with a larger exponent, which no float has, is not written out in full
_USUAL, _SMALL = frozenset({str, int, float, bool}), 1 << 64
_MISSING_TYPES = ("NAType", "NaTType")


def as_arrow(name: str, column: Any) -> pa.ChunkedArray:
    """One column of a dict or frame; ``name`` is for errors."""
    if isinstance(column, pa.ChunkedArray):
        return column
    if isinstance(column, pa.Array):
        return pa.chunked_array([column])
    module = type(column).__module__.partition(".")[0]
    if module == "pandas":
        array = _from_pandas(name, column)
        return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    if hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__"):
        return (
            pa.chunked_array(column)
            if hasattr(column, "__arrow_c_stream__")
            else pa.chunked_array([pa.array(column)])
        )
    if isinstance(column, np.ndarray):
        return pa.chunked_array([_from_numpy(name, column)])
    if isinstance(column, str | bytes | Mapping) or not isinstance(column, Iterable):
        raise InputError(f'column "{name}" must be an array or a list, not {type(column).__name__}')
    return pa.chunked_array([_from_objects(list(column))])


def _from_pandas(name: str, series: Any) -> pa.Array | pa.ChunkedArray:
    if str(series.dtype).startswith("Sparse"):
        series = series.sparse.to_dense()
    if series.dtype == object:
        return _from_objects(list(series.to_numpy()))
    if str(series.dtype).startswith(("period", "interval", "complex")):
        raise InputError(f'column "{name}" has type {series.dtype}, which can\'t be read')
    if getattr(series.dtype, "categories", None) is not None and series.dtype.categories.dtype == object:
        codes = np.array(series.cat.codes, dtype=np.int32)
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=codes < 0), _from_objects(list(series.dtype.categories))
        )
    try:
        return pa.array(series, from_pandas=True)
    except UnicodeError:  # text that is no text, such as a lone surrogate: cell by cell
        return _from_objects(list(series))


def _from_numpy(name: str, values: np.ndarray[Any, Any]) -> pa.Array:
    if values.ndim != 1:
        raise InputError(f'column "{name}" must have one dimension, not {values.ndim}')
    if values.dtype.kind not in "biufMmOSUT":
        raise InputError(f'column "{name}" has type {values.dtype}, which can\'t be read')
    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    plain = np.ma.getdata(values)
    if plain.dtype.kind in "OSUT":
        cells = plain.tolist()
        return _from_objects(
            cells if mask is None else [None if gone else c for c, gone in zip(cells, mask, strict=True)]
        )
    if plain.dtype.kind == "f" and plain.dtype.itemsize > 8:
        with np.errstate(all="ignore"):  # too large a number becomes infinite, silently
            plain = plain.astype(np.float64)
    plain = np.ascontiguousarray(plain, dtype=plain.dtype.newbyteorder("="))
    return pa.array(plain, mask=mask)


def _from_objects(cells: Sequence[Any]) -> pa.Array:
    if set(map(type, cells)) <= {str, type(None)}:
        try:
            return pa.array(cells, pa.large_string())
        except UnicodeEncodeError:
            pass
    return pa.array([_printed(cell) for cell in cells], pa.large_binary())


def _printed(cell: Any) -> bytes | None:
    """The printed form; None for a missing value and for an object that can't print itself.

    Whatever an object's own methods raise would tell that this object is there, ``SystemExit`` included. Only
    ``KeyboardInterrupt`` passes: it is the user's.
    """
    try:
        return _spelled(cell)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None


def _spelled(cell: Any) -> bytes | None:
    if type(cell) in _USUAL and cell == cell and (type(cell) is not int or -_SMALL < cell < _SMALL):
        return str(cell).encode("utf-8", "surrogatepass")  # the same by a shorter way
    if isinstance(cell, np.float16 | np.float32):
        cell = float(str(cell))  # as many digits as its own type holds: 0.1, not 0.10000000149
    if isinstance(cell, np.generic) and not isinstance(cell, np.datetime64 | np.timedelta64):
        cell = cell.item()
    if cell is None or type(cell).__name__ in _MISSING_TYPES or (isinstance(cell, float) and cell != cell):
        return None
    if isinstance(cell, bytes):
        return cell
    if isinstance(cell, int) and cell.bit_length() > 1100:  # Python won't print very long ones
        return b"inf" if cell > 0 else b"-inf"
    if isinstance(cell, Decimal):
        cell = format(cell.normalize(), "f" if abs(cell.adjusted()) < FULL else "e")
    return str(cell).encode("utf-8", "surrogatepass")


Chunk = Mapping[str, pa.Array]
ROWS = 1 << 17
BUFFER = 1 << 20


class Source(Protocol):
    """``label`` is for errors; a type is None where cells are undecoded text; ``rows`` is None if unknown."""

    label: str
    names: list[str]
    types: list[pa.DataType | None]
    rows: int | None

    def chunks(self, columns: Sequence[str], rows: int = ROWS) -> Iterator[Chunk]:
        """The named columns, some rows at a time."""
        ...


@contextmanager
def readable(label: str, kind: str = "") -> Iterator[None]:
    """Turn whatever goes wrong with a file into one line that says nothing about its rows."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{label}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{label} is a directory, not a file") from None
    except PermissionError:
        raise InputError(f"{label}: no permission to read it") from None
    except (OSError, EOFError, pa.ArrowException, UnicodeDecodeError):
        what = f"not a readable {kind} file" if kind else "damaged: it can't be read to its end"
        raise InputError(f"{label} is {what}") from None


class Batches:
    """A stream of record batches, read once."""

    def __init__(self, label: str, reader: pa.RecordBatchReader) -> None:
        self.label, self._reader = label, reader
        self.names: list[str] = reader.schema.names
        self.types: list[pa.DataType | None] = reader.schema.types
        self.rows: int | None = None

    def chunks(self, columns: Sequence[str], rows: int = ROWS) -> Iterator[Chunk]:
        batches = iter(self._reader)
        while True:
            with readable(self.label):
                batch = next(batches, None)
            if batch is None:
                return
            for start in range(0, batch.num_rows, rows):
                piece = batch.slice(start, rows)
                yield {name: piece.column(self.names.index(name)) for name in columns}


class ArrowFile:
    """An Arrow (Feather) file, in the file or the stream format, mapped rather than loaded."""

    def __init__(self, path: Path) -> None:
        self.label, self._path = path.name, path
        with readable(self.label, "Arrow"):
            schema = self._open().schema
        self.names: list[str] = schema.names
        self.types: list[pa.DataType | None] = schema.types
        self.rows: int | None = None

    def _open(self, places: Sequence[int] | None = None) -> Any:
        options = pa.ipc.IpcReadOptions(included_fields=places)
        try:
            return pa.ipc.open_file(pa.memory_map(str(self._path)), options=options)
        except pa.ArrowInvalid:
            return pa.ipc.open_stream(pa.memory_map(str(self._path)), options=options)

    def chunks(self, columns: Sequence[str], rows: int = ROWS) -> Iterator[Chunk]:
        with readable(self.label, "Arrow"):
            reader = self._open(sorted(self.names.index(name) for name in columns))
        if isinstance(reader, pa.RecordBatchFileReader):
            batches = map(reader.get_batch, range(reader.num_record_batches))
            reader = pa.RecordBatchReader.from_batches(reader.schema, batches)
        yield from Batches(self.label, reader).chunks(columns, rows)


class Parquet:
    """A Parquet file, read in small batches; text is taken as dictionaries, which are faster to code."""

    def __init__(self, path: Path) -> None:
        self.label, self._path = path.name, path
        with readable(self.label, "Parquet"), parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            self.rows: int | None = file.metadata.num_rows
            self._groups = list(range(file.metadata.num_row_groups))
        self.names: list[str] = schema.names
        self.types: list[pa.DataType | None] = schema.types

    def shares(self, count: int) -> list[Parquet]:
        """The same file in at most ``count`` shares of its row groups, to be read side by side."""
        found = []
        for first in range(min(count, max(len(self._groups), 1))):
            share = copy(self)
            share._groups, share.rows = self._groups[first::count], None
            found.append(share)
        return found

    def chunks(self, columns: Sequence[str], rows: int = ROWS) -> Iterator[Chunk]:
        text = [
            n
            for n, t in zip(self.names, self.types, strict=True)
            if n in columns and arrow.kind_of(t) == "text"
        ]
        with readable(self.label):
            # without pre_buffer Arrow does not load every row group at once
            file = parquet.ParquetFile(self._path, read_dictionary=text, pre_buffer=False, buffer_size=BUFFER)
        with file:
            batches = file.iter_batches(
                batch_size=rows, columns=list(columns), row_groups=self._groups, use_threads=False
            )
            while True:
                with readable(self.label):
                    batch = next(batches, None)
                if batch is None:
                    return
                yield {name: batch.column(name) for name in columns}


class Delimited:
    """A CSV file, packed or not (``delimited.py``)."""

    def __init__(self, path: Path, wanted: Sequence[str]) -> None:
        self.label, self._path = path.name, path
        with readable(self.label), pa.input_stream(str(path)) as stream:
            top, _ = csv.first_row(stream)
        if top[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
            raise InputError(f"{self.label} is UTF-32 text: save it as UTF-8")
        if top[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError(f"{self.label} is UTF-16 text: save it as UTF-8")
        if not top.strip():
            raise InputError(f"{self.label} is empty: no header line")
        self.names, self._delimiter = csv.header(top, wanted)
        self.types: list[pa.DataType | None] = [None] * len(self.names)
        self.rows: int | None = None
        self.ragged = csv.Ragged()  # filled as it is read
        self.done = 0.0  # how far the file was read, from 0 to 1 (stays 0 for a packed file)

    def chunks(self, columns: Sequence[str], rows: int = ROWS) -> Iterator[Chunk]:
        places = [self.names.index(name) for name in columns]
        with readable(self.label):
            stream = pa.input_stream(str(self._path))
            size = 0 if isinstance(stream, pa.CompressedInputStream) else self._path.stat().st_size
        with stream:
            with readable(self.label):
                _, rest = csv.first_row(stream)
            self.ragged = csv.Ragged()
            width = len(self.names)
            blocks = csv.chunks(stream, rest, width, places, self._delimiter, self.ragged)
            while True:
                with readable(self.label):
                    block = next(blocks, None)
                if block is None:
                    return
                self.done = stream.tell() / size if size else 0.0
                for start in range(0, len(block[0]), rows):
                    yield {name: array.slice(start, rows) for name, array in zip(columns, block, strict=True)}


SUPPORTED = ".csv, .tsv, .tab, .txt (also .gz, .bz2, .zst), .parquet, .arrow, .feather"
_PACKED = (".gz", ".bz2", ".zst")
_TEXT = (".csv", ".tsv", ".tab", ".txt")
_PARQUET = (".parquet", ".pq")
_ARROW = (".arrow", ".feather", ".ipc", ".arrows")


def open_source(source: Any, wanted: Sequence[str] = ()) -> Source:
    """The source behind a path, frame, table or dict; ``wanted`` helps to find the delimiter of a CSV header."""
    if isinstance(source, str | PathLike):
        return _open_path(Path(source), wanted)
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return ColumnSource("the table", source.column_names, source.columns)
    if isinstance(source, pa.RecordBatchReader):
        return Batches("the record batch reader", source)
    if isinstance(source, Mapping):
        return ColumnSource("the dict", [str(name) for name in source], list(source.values()))
    module, kind = type(source).__module__.partition(".")[0], type(source).__name__
    if module == "pandas" and kind == "DataFrame":
        return ColumnSource(
            "the data frame",
            [str(c) for c in source.columns],
            [source.iloc[:, i] for i in range(source.shape[1])],
        )
    if module == "polars" and kind == "LazyFrame":
        names = source.collect_schema().names()
        source = source.select([name for name in names if not wanted or name in wanted]).collect()
        ignored = [name for name in names if name not in source.columns]
        return ColumnSource("the lazy frame", list(source.columns), source.get_columns(), ignored)
    if module == "polars" and kind == "DataFrame":
        return ColumnSource("the data frame", list(source.columns), source.get_columns())
    if hasattr(source, "__arrow_c_stream__"):
        return Batches(f"the {kind}", pa.RecordBatchReader.from_stream(source))
    if callable(getattr(source, "to_arrow", None)):
        return open_source(source.to_arrow(), wanted)
    raise InputError(
        f"can't read data from {kind}: give a path ({SUPPORTED}), a data frame, an Arrow table or a dict of arrays"
    )


def _open_path(path: Path, wanted: Sequence[str]) -> Source:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = bool(suffixes) and suffixes[-1] in _PACKED
    suffix = (suffixes[:-1] if packed else suffixes)[-1:] or [""]
    with readable(path.name):
        if path.is_dir():
            raise IsADirectoryError
        path.open("rb").close()
    if suffix[0] in _TEXT:
        return Delimited(path, wanted)
    if suffix[0] in _PARQUET and not packed:
        return Parquet(path)
    if suffix[0] in _ARROW and not packed:
        return ArrowFile(path)
    hint = did_you_mean(suffix[0], (*_TEXT, *_PARQUET, *_ARROW))
    raise InputError(f"{path.name}: the name must end in one of {SUPPORTED}{hint}")


class ColumnSource:
    """Whole columns in memory."""

    def __init__(
        self, label: str, names: list[str], columns: Sequence[Any], ignored: Sequence[str] = ()
    ) -> None:
        self.label = label
        self._columns = dict(zip(names, columns, strict=True))
        self._converted: dict[str, pa.ChunkedArray] = {}
        self.names = [*names, *ignored]
        self.types: list[pa.DataType | None] = [getattr(c, "type", None) for c in columns] + [None] * len(
            ignored
        )
        self.rows: int | None = None

    @property
    def whole(self) -> Mapping[str, Any]:
        """The columns by name, as they were given."""
        return MappingProxyType(self._columns)

    def convert(self, columns: Sequence[str]) -> None:
        """Turn the named columns into Arrow arrays, and check that they have one length."""
        for name in columns:
            if name not in self._converted:
                try:
                    self._converted[name] = as_arrow(name, self._columns[name])
                except pa.ArrowException:  # raised on types; no value gets here undigested
                    raise InputError(
                        f'column "{name}" of {self.label} has a type that can\'t be read'
                    ) from None
        lengths = {len(self._converted[name]): name for name in reversed(columns)}
        if len(lengths) > 1:
            (first, one), (second, two) = list(lengths.items())[:2]
            raise InputError(
                f'columns of {self.label} differ in length: "{one}" has {first} rows, "{two}" {second}'
            )
        self.rows = next(iter(lengths), 0)
        self.types = [self._converted[n].type if n in self._converted else None for n in self.names]

    def chunks(self, columns: Sequence[str], rows: int = ROWS) -> Iterator[Chunk]:
        self.convert(columns)
        table = pa.Table.from_arrays([self._converted[name] for name in columns], list(columns))
        for batch in table.to_batches(max_chunksize=rows):
            yield dict(zip(columns, batch.columns, strict=True))
