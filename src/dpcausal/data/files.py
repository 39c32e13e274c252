"""The files that can be read, each as column names, types and chunks of Arrow arrays.

Only what is public about a file (its name, its columns and their types) can make an error here. A file that
turns out damaged half way is one fixed sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import parquet

from dpcausal.core.errors import InputError
from dpcausal.data import arrow, delimited

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
            top, _ = delimited.first_row(stream)
        if top[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
            raise InputError(f"{self.label} is UTF-32 text: save it as UTF-8")
        if top[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError(f"{self.label} is UTF-16 text: save it as UTF-8")
        if not top.strip():
            raise InputError(f"{self.label} is empty: no header line")
        self.names, self._delimiter = delimited.header(top, wanted)
        self.types: list[pa.DataType | None] = [None] * len(self.names)
        self.rows: int | None = None
        self.ragged = delimited.Ragged()  # filled as it is read
        self.done = 0.0  # how far the file was read, from 0 to 1 (stays 0 for a packed file)

    def chunks(self, columns: Sequence[str], rows: int = ROWS) -> Iterator[Chunk]:
        places = [self.names.index(name) for name in columns]
        with readable(self.label):
            stream = pa.input_stream(str(self._path))
            size = 0 if isinstance(stream, pa.CompressedInputStream) else self._path.stat().st_size
        with stream:
            with readable(self.label):
                _, rest = delimited.first_row(stream)
            self.ragged = delimited.Ragged()
            width = len(self.names)
            blocks = delimited.chunks(stream, rest, width, places, self._delimiter, self.ragged)
            while True:
                with readable(self.label):
                    block = next(blocks, None)
                if block is None:
                    return
                self.done = stream.tell() / size if size else 0.0
                for start in range(0, len(block[0]), rows):
                    yield {name: array.slice(start, rows) for name, array in zip(columns, block, strict=True)}
