"""Sources of rows: whatever a user hands in, as column names, types and chunks of Arrow arrays.

A source is a CSV, Parquet or Arrow file, a workbook, a file of SPSS, Stata, SAS or R, a stream of record batches, or
columns in memory: lists, numpy, pandas, polars or Arrow. pandas and polars are recognised by the names of their types
and never imported.

**Guarantee.** Only what is public about a source (its name, its columns, their types and lengths) can make an error
here. A file that turns out damaged half way is one fixed sentence. A Python object becomes text, each cell by itself
(``dpcausal.data.objects``): the type of a column is never inferred from its values, since one unusual cell would then
change what becomes of the others.

**Cost.** One pass; memory one chunk for a file, one column for columns in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from dpcausal.core.errors import InputError, SchemaError, did_you_mean
from dpcausal.data import arrow, csv
from dpcausal.data.columns import Column
from dpcausal.data.file_format import FileFormat, NumberMarks, TranscodedStream, is_utf8
from dpcausal.data.objects import ObjectPrinter
from dpcausal.data.stat_files import Labelled, RdsFile, StatFile
from dpcausal.data.xlsx import Sheet, open_sheet

Chunk = Mapping[str, pa.Array]
BATCH_ROWS = 1 << 17  # rows of a chunk
READ_BUFFER_BYTES = 1 << 20  # read ahead from a Parquet file
MAX_NAMES_LISTED = 5  # column names in one message

SUPPORTED_SUFFIXES = (
    ".csv, .tsv, .tab, .txt (also .gz, .bz2, .zst), .parquet, .arrow, .feather, .xlsx, "
    ".sav, .dta, .sas7bdat, .xpt, .rds"
)
COMPRESSED = (".gz", ".bz2", ".zst")  # after a suffix of CSV


class Source:
    """Rows by name of column.

    Attributes
    ----------
    label : str
        What errors call the source.
    names, types : list
        Its columns; a type is None where cells are undecoded text.
    rows : int or None
        Number of rows, where it is known before they are read.
    fraction_read : float
        How much of a file was read, from 0 to 1; 0 where that is not known.
    ragged : RaggedRows
        Unusual rows and lines of a CSV file, counted as it is read.
    marks : NumberMarks
        How numbers are written where cells are text: as declared in a CSV file, with a point anywhere else.
    labels : mapping of str to str
        What a file with a code book of its own calls its columns.
    expects_other_columns : bool
        Whether it usually has columns that a schema does not declare, so that these are nothing to warn of.
    """

    labels: Mapping[str, str] = MappingProxyType({})
    expects_other_columns = False

    def __init__(
        self, label: str, names: list[str], types: Sequence[pa.DataType | None], rows: int | None = None
    ) -> None:
        self.label, self.names, self.rows = label, names, rows
        self.types: list[pa.DataType | None] = list(types)
        self.fraction_read = 0.0
        self.ragged = csv.RaggedRows()
        self.marks = NumberMarks()

    def chunks(self, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[Chunk]:
        """Yield the cells of these columns, at most ``rows`` rows at a time."""
        raise NotImplementedError

    def require(self, names: Iterable[str]) -> None:
        """Raise ``SchemaError`` unless the source has each of these columns exactly once."""
        require_columns(self.label, self.names, names)

    def type_of(self, name: str) -> pa.DataType | None:
        """Return the type of a column; None where cells are undecoded text."""
        return self.types[self.names.index(name)]

    def is_readable(self, name: str) -> bool:
        """Return whether a cell of a column holds one value, by its type: no list and no struct."""
        type_ = self.type_of(name)
        return type_ is None or arrow.value_kind(type_) != "unsupported"

    def convert(self, columns: Sequence[str], schema: Mapping[str, Column] | None = None) -> None:
        """Make Arrow arrays of columns in memory, for a schema where there is one; from then on they have types."""

    def code_book(self, name: str) -> Mapping[str, str]:
        """Return the value labels of a column by code, in order; empty where it has none."""
        return {}

    def count_rows(self) -> int | None:
        """Return the number of rows, where it is known without reading them."""
        return self.rows

    def explained(self) -> str:
        """Return the query that fetches the rows; a comment where there is none."""
        return (
            f"-- no query: {self.label} is read in chunks within this process, and its rows are counted here"
        )


def require_columns(label: str, there: Sequence[str], wanted: Iterable[str]) -> None:
    """Raise ``SchemaError`` unless each wanted column is there exactly once; ``label`` is what has them."""
    times, names = Counter(there), dict.fromkeys(wanted)
    if missing := [name for name in names if not times[name]]:
        hint = did_you_mean(missing[0], there) if len(missing) == 1 else ""
        raise SchemaError(f"{label} has no {column_list(missing)}{hint}")
    if repeated := [name for name in times if times[name] > 1 and name in names]:
        raise SchemaError(f"{label} has more than one {column_list(repeated)}")


def column_list(names: Sequence[str]) -> str:
    """Return names of columns for a message, the first few of many."""
    listed = ", ".join(f'"{name}"' for name in names[:MAX_NAMES_LISTED])
    more = f" and {len(names) - MAX_NAMES_LISTED} more" if len(names) > MAX_NAMES_LISTED else ""
    return f"column{'s' if len(names) > 1 else ''} {listed}{more}"


def open_source(
    source: Any,
    wanted: Sequence[str] = (),
    *,
    format: FileFormat = FileFormat(),  # noqa: A002
) -> Source:
    """Return the source of a path, frame, table or dict; raise ``InputError`` where it can't be read.

    ``wanted`` are names of columns, which help to find the delimiter of a CSV file; ``format``: how a file is written.
    """
    if isinstance(source, str | PathLike):
        return _open_path(Path(source), wanted, format)
    for kind in INPUTS.values():
        if kind.recognises(source):
            return kind.open(source, wanted)
    raise InputError(
        f"can't read data from {type(source).__name__}: give a path ({SUPPORTED_SUFFIXES}), a data frame, an Arrow "
        "table or a dict of arrays"
    )


def _open_path(path: Path, wanted: Sequence[str], declared: FileFormat) -> Source:
    """Return the source of a file, by the end of its name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSED
    (suffix,) = (suffixes[:-1] if compressed else suffixes)[-1:] or [""]
    with file_errors(path.name):
        if path.is_dir():
            raise IsADirectoryError
        path.open("rb").close()
    reader = FORMATS.get(suffix)
    if reader is not None and (reader is CsvSource or not compressed):
        return reader(path, wanted, declared)
    hint = did_you_mean(suffix, FORMATS)
    raise InputError(f"{path.name}: the name must end in one of {SUPPORTED_SUFFIXES}{hint}")


@contextmanager
def file_errors(label: str, kind: str = "") -> Iterator[None]:
    """Convert any error of a file into one ``InputError`` that does not depend on its rows."""
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


# ---- files and streams


class CsvSource(Source):
    """A CSV file, compressed or not."""

    def __init__(self, path: Path, wanted: Sequence[str], declared: FileFormat) -> None:
        self._path, self._format = path, declared
        quoted = declared.quoted_newlines
        with file_errors(path.name), pa.input_stream(str(path)) as stream:
            first = stream.read(4)
        if first in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
            raise InputError(f"{path.name} is UTF-32 text: save it as UTF-8")
        if first[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError(f"{path.name} is UTF-16 text: save it as UTF-8")
        if first[:3] == csv.BYTE_ORDER_MARK and not is_utf8(declared.encoding or "utf-8"):
            raise InputError(
                f"{path.name} begins with the mark of UTF-8, but {declared.encoding} is declared: leave encoding out"
            )
        with file_errors(path.name), pa.input_stream(str(path)) as stream:
            header = csv.read_header_row(self._decoded(stream), quoted_newlines=quoted)
        if not header.row.strip():
            raise InputError(f"{path.name} is empty: no header line")
        names, self.delimiter = csv.parse_header(
            header.row, wanted, separator=declared.separator, quoted_newlines=quoted
        )
        self._layout = csv.Layout(len(names), self.delimiter, header.line_end, quoted)
        super().__init__(path.name, names, [None] * len(names))
        self.marks = declared.marks

    def _decoded(self, stream: Any) -> csv.ByteStream:
        """Return the stream, decoded to UTF-8 where another encoding is declared."""
        encoding = self._format.encoding
        return stream if encoding is None or is_utf8(encoding) else TranscodedStream(stream, encoding)

    def chunks(self, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[Chunk]:
        """Yield the cells of these columns of the file, as text, at most ``rows`` rows at a time."""
        places = [self.names.index(name) for name in columns]
        with file_errors(self.label):
            stream = pa.input_stream(str(self._path))
            size = 0 if isinstance(stream, pa.CompressedInputStream) else self._path.stat().st_size
        with stream:
            decoded = self._decoded(stream)
            with file_errors(self.label):
                header = csv.read_header_row(decoded, quoted_newlines=self._layout.quoted_newlines)
            self.ragged = csv.RaggedRows()
            blocks = csv.chunks(decoded, header.rest, self._layout, places, self.ragged, header.next_line)
            for block in _guarded(blocks, self.label):
                self.fraction_read = stream.tell() / size if size else 0.0
                for start in range(0, len(block[0]), rows):
                    yield {name: array.slice(start, rows) for name, array in zip(columns, block, strict=True)}


def _guarded(items: Iterable[Any], label: str) -> Iterator[Any]:
    """Yield from an iterator over a file; turn its errors into one line without values."""
    iterator = iter(items)
    while True:
        with file_errors(label):
            item = next(iterator, None)
        if item is None:
            return
        yield item


class ParquetSource(Source):
    """A Parquet file, read in small batches; text is read as dictionaries."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with file_errors(path.name, "Parquet"), parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            rows = file.metadata.num_rows
            self._groups = list(range(file.metadata.num_row_groups))
        super().__init__(path.name, schema.names, schema.types, rows)

    def partitions(self, count: int) -> list[ParquetSource]:
        """Return at most ``count`` sources that share the row groups between them, to be read side by side."""
        found = []
        for first in range(min(count, max(len(self._groups), 1))):
            part = copy(self)
            part._groups, part.rows = self._groups[first::count], None
            found.append(part)
        return found

    def chunks(self, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[Chunk]:
        """Yield the cells of these columns of the file, at most ``rows`` rows at a time."""
        types = dict(zip(self.names, self.types, strict=True))
        text = [name for name in self.names if name in columns and arrow.kind_of(types[name]) == "text"]
        with file_errors(self.label):
            # without pre_buffer Arrow does not load every row group at once
            file = parquet.ParquetFile(
                self._path, read_dictionary=text, pre_buffer=False, buffer_size=READ_BUFFER_BYTES
            )
        with file:
            batches = file.iter_batches(
                batch_size=rows, columns=list(columns), row_groups=self._groups, use_threads=False
            )
            for batch in _guarded(batches, self.label):
                yield {name: batch.column(name) for name in columns}


class BatchSource(Source):
    """A stream of record batches, which can be read once."""

    def __init__(self, label: str, reader: pa.RecordBatchReader) -> None:
        super().__init__(label, reader.schema.names, reader.schema.types)
        self._reader = reader

    def chunks(self, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[Chunk]:
        """Yield the cells of these columns of the batches, at most ``rows`` rows at a time."""
        for batch in _guarded(self._reader, self.label):
            for start in range(0, batch.num_rows, rows):
                piece = batch.slice(start, rows)
                yield {name: piece.column(self.names.index(name)) for name in columns}


class ArrowSource(Source):
    """An Arrow (Feather) file, in the file or the stream format, mapped into memory rather than loaded."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with file_errors(path.name, "Arrow"):
            schema = self._open().schema
        super().__init__(path.name, schema.names, schema.types)

    def _open(self, places: Sequence[int] | None = None) -> Any:
        """Return an Arrow reader of the file or stream, limited to these columns."""
        options = pa.ipc.IpcReadOptions(included_fields=places)
        try:
            return pa.ipc.open_file(pa.memory_map(str(self._path)), options=options)
        except pa.ArrowInvalid:
            return pa.ipc.open_stream(pa.memory_map(str(self._path)), options=options)

    def chunks(self, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[Chunk]:
        """Yield the cells of these columns of the file, at most ``rows`` rows at a time."""
        with file_errors(self.label, "Arrow"):
            reader = self._open(sorted(self.names.index(name) for name in columns))
        if isinstance(reader, pa.RecordBatchFileReader):
            batches = map(reader.get_batch, range(reader.num_record_batches))
            reader = pa.RecordBatchReader.from_batches(reader.schema, batches)
        yield from BatchSource(self.label, reader).chunks(columns, rows)


# ---- columns in memory


class ColumnSource(Source):
    """Whole columns in memory; ``ignored`` are names of the source that were not loaded."""

    def __init__(
        self, label: str, names: list[str], columns: Sequence[Any], ignored: Sequence[str] = ()
    ) -> None:
        types = [getattr(column, "type", None) for column in columns]
        super().__init__(label, [*names, *ignored], [*types, *(None for _ in ignored)])
        self._columns = dict(zip(names, columns, strict=True))
        self._converted: dict[str, pa.ChunkedArray] = {}

    @property
    def whole(self) -> Mapping[str, Any]:
        """The columns by name, as they were given."""
        return MappingProxyType(self._columns)

    def convert(self, columns: Sequence[str], schema: Mapping[str, Column] | None = None) -> None:
        """Convert the named columns to Arrow arrays, for a schema where there is one.

        Raises ``InputError`` on a type, or where lengths differ.
        """
        declared = schema or {}
        for name in columns:
            if name not in self._converted:
                try:
                    self._converted[name] = as_arrow(name, self._columns[name], declared.get(name))
                except pa.ArrowException:  # raised on types: values were printed one by one before
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

    def is_empty(self, name: str) -> bool:
        """Return whether all cells of a converted column are missing."""
        column = self._converted[name]
        if column.null_count == len(column):
            return True
        floats = arrow.kind_of(column.type) == "float"
        return floats and all(np.isnan(arrow.to_numpy(part.drop_null())).all() for part in column.chunks)

    def chunks(self, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[Chunk]:
        """Yield the cells of these columns, converted to Arrow, at most ``rows`` rows at a time."""
        self.convert(columns)
        table = pa.Table.from_arrays([self._converted[name] for name in columns], list(columns))
        for batch in table.to_batches(max_chunksize=rows):
            yield dict(zip(columns, batch.columns, strict=True))


class LoadedSource(ColumnSource):
    """A file whose columns are loaded whole when they are asked for: a workbook, or one of SPSS, Stata, SAS or R."""

    def __init__(self, label: str, file: StatFile | RdsFile | Sheet) -> None:
        if not file.names:
            raise InputError(f"{label} is empty: no header row")
        super().__init__(label, [], [], file.names)
        self._load = file.columns
        self.labels = {} if isinstance(file, Sheet) else file.labels

    def convert(self, columns: Sequence[str], schema: Mapping[str, Column] | None = None) -> None:
        """Load the named columns and convert them."""
        new = [name for name in columns if name not in self._columns]
        if new:
            self._columns.update(self._load(new))
        super().convert(columns, schema)

    def code_book(self, name: str) -> Mapping[str, str]:
        """Return the value labels of a loaded column by code, in order; empty where it has none."""
        column = self._columns.get(name)
        return column.codes() if isinstance(column, Labelled) else {}


def as_arrow(name: str, column: Any, declared: Column | None = None) -> pa.ChunkedArray:
    """Convert one column of a dict or frame to Arrow; refuse what is no column, by name.

    Objects are printed for the declaration of the column, where there is one (see ``dpcausal.data.objects``).
    """
    for kind in COLUMN_KINDS.values():
        if kind.recognises(column):
            array = kind.convert(name, column, ObjectPrinter(declared))
            return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    raise InputError(f'column "{name}" must be an array or a list, not {type(column).__name__}')


def _is_polars_object(column: Any) -> bool:
    """Return whether a polars column holds Python objects, whose Arrow form is only addresses."""
    return _module(column) == "polars" and str(getattr(column, "dtype", "")) == "Object"


def _from_pandas(name: str, series: Any, printer: ObjectPrinter) -> pa.Array | pa.ChunkedArray:
    """Convert a pandas series to Arrow."""
    if str(series.dtype).startswith("Sparse"):
        series = series.sparse.to_dense()
    if series.dtype == object:
        return printer.array(list(series.to_numpy()))
    if str(series.dtype).startswith(("period", "interval", "complex")):
        raise InputError(f'column "{name}" has type {series.dtype}, which can\'t be read')
    if getattr(series.dtype, "categories", None) is not None and series.dtype.categories.dtype == object:
        codes = np.array(series.cat.codes, dtype=np.int32)
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=codes < 0), printer.array(list(series.dtype.categories))
        )
    try:
        array = pa.array(series, from_pandas=True)
    except UnicodeError:  # text that can't be encoded, such as a lone surrogate: cell by cell
        return printer.array(list(series))
    return array.cast(pa.large_binary()) if arrow.kind_of(array.type) == "text" else array


def _from_numpy(name: str, values: np.ndarray[Any, Any], printer: ObjectPrinter) -> pa.Array:
    """Convert a numpy array to Arrow."""
    if values.ndim != 1:
        raise InputError(f'column "{name}" must have one dimension, not {values.ndim}')
    if values.dtype.kind not in "biufMmOSUT":
        raise InputError(f'column "{name}" has type {values.dtype}, which can\'t be read')
    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    plain = np.ma.getdata(values)
    if plain.dtype.kind in "OSUT":
        cells = plain.tolist()
        if mask is not None:
            cells = [None if masked else cell for cell, masked in zip(cells, mask, strict=True)]
        return printer.array(cells)
    if plain.dtype.kind == "f" and plain.dtype.itemsize > 8:
        with np.errstate(all="ignore"):  # too large a number becomes infinite, silently
            plain = plain.astype(np.float64)
    plain = np.ascontiguousarray(plain, dtype=plain.dtype.newbyteorder("="))
    return pa.array(plain, mask=mask)


# ---- what can be read: every entry has a test that one cell changes its own row only


def _module(value: Any) -> str:
    """Return the top-level package of the type of a value."""
    return type(value).__module__.partition(".")[0]


def _is_frame(source: Any, module: str, kind: str) -> bool:
    """Return whether a value is a frame of this package."""
    return _module(source) == module and type(source).__name__ == kind


def _open_pandas(source: Any, wanted: Sequence[str]) -> Source:
    """Return the source of a pandas frame."""
    columns = [source.iloc[:, i] for i in range(source.shape[1])]
    return ColumnSource("the data frame", [str(name) for name in source.columns], columns)


def _open_lazy_frame(source: Any, wanted: Sequence[str]) -> Source:
    """Return the source of a polars lazy frame."""
    names = source.collect_schema().names()
    source = source.select([name for name in names if not wanted or name in wanted]).collect()
    ignored = [name for name in names if name not in source.columns]
    return ColumnSource("the lazy frame", list(source.columns), source.get_columns(), ignored)


class InputKind(NamedTuple):
    """A kind of input: how its type is recognised, and how it is opened."""

    recognises: Callable[[Any], bool]
    open: Callable[[Any, Sequence[str]], Source]


class ColumnKind(NamedTuple):
    """One kind of column in memory: how it is recognised, by its type, and converted to Arrow."""

    recognises: Callable[[Any], bool]
    convert: Callable[[str, Any, ObjectPrinter], pa.Array | pa.ChunkedArray]


Open = Callable[[Path, Sequence[str], FileFormat], Source]
FORMATS: Mapping[str, Open] = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), CsvSource),
    **dict.fromkeys((".parquet", ".pq"), lambda path, *_: ParquetSource(path)),
    **dict.fromkeys((".arrow", ".feather", ".ipc", ".arrows"), lambda path, *_: ArrowSource(path)),
    **dict.fromkeys(
        (".xlsx", ".xlsm"),
        lambda path, _, declared: LoadedSource(path.name, open_sheet(path, declared.sheet)),
    ),
    **dict.fromkeys(
        (".sav", ".zsav", ".dta", ".sas7bdat", ".xpt"),
        lambda path, _, declared: LoadedSource(path.name, StatFile(path, declared)),
    ),
    ".rds": lambda path, _, declared: LoadedSource(path.name, RdsFile(path, declared)),
}
INPUTS: Mapping[str, InputKind] = {  # the first that recognises it
    "record batch": InputKind(
        lambda source: isinstance(source, pa.RecordBatch),
        lambda source, _: ColumnSource("the table", source.schema.names, source.columns),
    ),
    "table": InputKind(
        lambda source: isinstance(source, pa.Table),
        lambda source, _: ColumnSource("the table", source.column_names, source.columns),
    ),
    "record batch reader": InputKind(
        lambda source: isinstance(source, pa.RecordBatchReader),
        lambda source, _: BatchSource("the record batch reader", source),
    ),
    "dict": InputKind(
        lambda source: isinstance(source, Mapping),
        lambda source, _: ColumnSource("the dict", [str(name) for name in source], list(source.values())),
    ),
    "pandas": InputKind(lambda source: _is_frame(source, "pandas", "DataFrame"), _open_pandas),
    "polars lazy": InputKind(lambda source: _is_frame(source, "polars", "LazyFrame"), _open_lazy_frame),
    "polars": InputKind(
        lambda source: _is_frame(source, "polars", "DataFrame"),
        lambda source, _: ColumnSource("the data frame", list(source.columns), source.get_columns()),
    ),
    "arrow stream": InputKind(
        lambda source: hasattr(source, "__arrow_c_stream__"),
        lambda source, _: BatchSource(
            f"the {type(source).__name__}", pa.RecordBatchReader.from_stream(source)
        ),
    ),
    "to_arrow": InputKind(
        lambda source: callable(getattr(source, "to_arrow", None)),
        lambda source, wanted: open_source(source.to_arrow(), wanted),
    ),
}
COLUMN_KINDS: Mapping[str, ColumnKind] = {  # the first that recognises it
    "arrow chunks": ColumnKind(
        lambda column: isinstance(column, pa.ChunkedArray), lambda _, column, __: column
    ),
    "arrow array": ColumnKind(lambda column: isinstance(column, pa.Array), lambda _, column, __: column),
    "labelled": ColumnKind(
        lambda column: isinstance(column, Labelled), lambda _, column, printer: column.array(printer)
    ),
    "pandas": ColumnKind(lambda column: _module(column) == "pandas", _from_pandas),
    "polars objects": ColumnKind(
        _is_polars_object, lambda _, column, printer: printer.array(column.to_list())
    ),
    "arrow stream": ColumnKind(
        lambda column: hasattr(column, "__arrow_c_stream__"), lambda _, column, __: pa.chunked_array(column)
    ),
    "arrow interface": ColumnKind(
        lambda column: hasattr(column, "__arrow_c_array__"), lambda _, column, __: pa.array(column)
    ),
    "numpy": ColumnKind(lambda column: isinstance(column, np.ndarray), _from_numpy),
    "iterable": ColumnKind(
        lambda column: isinstance(column, Iterable) and not isinstance(column, str | bytes | Mapping),
        lambda _, column, printer: printer.array(list(column)),
    ),
}
