"""Whatever a user hands in, as one thing: a path, a frame, a table or a dict of arrays.

pandas and polars are known by the names of their types and never imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.data import cells
from dpcausal.data.files import ROWS, ArrowFile, Batches, Chunk, Delimited, Parquet, Source, readable

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
        return Columns("the table", source.column_names, source.columns)
    if isinstance(source, pa.RecordBatchReader):
        return Batches("the record batch reader", source)
    if isinstance(source, Mapping):
        return Columns("the dict", [str(name) for name in source], list(source.values()))
    module, kind = type(source).__module__.partition(".")[0], type(source).__name__
    if module == "pandas" and kind == "DataFrame":
        return Columns(
            "the data frame",
            [str(c) for c in source.columns],
            [source.iloc[:, i] for i in range(source.shape[1])],
        )
    if module == "polars" and kind == "LazyFrame":
        names = source.collect_schema().names()
        source = source.select([name for name in names if not wanted or name in wanted]).collect()
        ignored = [name for name in names if name not in source.columns]
        return Columns("the lazy frame", list(source.columns), source.get_columns(), ignored)
    if module == "polars" and kind == "DataFrame":
        return Columns("the data frame", list(source.columns), source.get_columns())
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


class Columns:
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
                    self._converted[name] = cells.as_arrow(name, self._columns[name])
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
