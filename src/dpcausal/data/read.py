"""Coded rows a batch at a time, for data that need not fit in memory.

Guarantee: as ``coerce.py``; the batches together hold every row once and in order. Errors depend on names,
types and whether there is a row at all, never on a value.

``dc.read``: a file or frame and its schema in, a ``Dataset`` out.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError, SchemaError, did_you_mean
from dpcausal.core.progress import shown
from dpcausal.data.coding import Coded, Coder, check_type, code_type
from dpcausal.data.columns import Numeric
from dpcausal.data.dataset import Codes, Dataset
from dpcausal.data.schema import Schema
from dpcausal.data.sources import ROWS, ColumnSource, Parquet, Source, open_source

NAMED = 5  # at most so many column names in one message


class ColumnsIgnored(UserWarning):
    """The data has columns that the schema does not declare."""


class DraftSchema(UserWarning):
    """The schema is a draft that nobody has checked: its levels and bounds were read from the data."""


DRAFT = (
    "the schema is an unchecked draft: its bounds and levels were read from the data, which is not covered by the "
    "guarantee; when every line is checked against public knowledge, remove its line `draft = true`"
)


def opened(source: Any, schema: Schema, *, warn: bool = True) -> Source:
    """Open ``source`` and check its columns against ``schema``: names, duplicates, types."""
    wanted = list(schema)
    found = open_source(source, wanted)
    missing = [name for name in wanted if name not in found.names]
    if missing:
        hint = did_you_mean(missing[0], found.names) if len(missing) == 1 else ""
        raise SchemaError(f"{found.label} has no {_listed(missing)}{hint}")
    twice = [name for name, times in Counter(found.names).items() if times > 1 and name in schema]
    if twice:
        raise SchemaError(f"{found.label} has more than one {_listed(twice)}")
    if isinstance(found, ColumnSource):
        found.convert(wanted)
    for name, type_ in zip(found.names, found.types, strict=True):
        if name in schema and type_ is not None:
            check_type(name, type_, schema[name], found.label, of_file=not isinstance(found, ColumnSource))
    ignored = [name for name in dict.fromkeys(found.names) if name and name not in schema]
    if ignored and warn:
        message = f"{found.label}: {_listed(ignored)} not in the schema, ignored"
        warnings.warn(message, ColumnsIgnored, stacklevel=3)
    if schema.draft and warn:
        warnings.warn(DRAFT, DraftSchema, stacklevel=3)
    return found


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"column{'s' if len(names) > 1 else ''} {shown}{more}"


def coded(
    source: Source, schema: Schema, columns: Sequence[str], rows: int = ROWS
) -> Iterator[dict[str, Coded]]:
    """The named columns of an opened source, coded, up to ``rows`` rows at a time."""
    coders = {name: Coder(schema[name]) for name in columns}
    for chunk in source.chunks(columns, rows):
        yield {name: coders[name].code(chunk[name]) for name in columns}


def row_count(source: Any, schema: Schema) -> int | None:
    """Number of rows where it is known without reading them (Parquet, data in memory), else None."""
    return opened(source, schema, warn=False).rows


def shares(source: Any, schema: Schema, count: int) -> list[Iterator[dict[str, Codes]]]:
    """Codes of all columns as at most ``count`` iterators to be run side by side, each row in one of them.

    Only Parquet can be shared out, by its row groups; anything else is one iterator.
    """
    found = opened(source, schema)
    parts: Sequence[Source] = found.shares(count) if isinstance(found, Parquet) else [found]

    def run(part: Source) -> Iterator[dict[str, Codes]]:
        for batch in coded(part, schema, list(schema)):
            yield {name: column.codes for name, column in batch.items()}

    return [run(part) for part in parts]


def batches(
    source: Any, schema: Schema, columns: Sequence[str] | None = None, rows: int = ROWS
) -> Iterator[dict[str, Codes]]:
    """Codes of ``columns`` (all of the schema unless named), up to ``rows`` rows at a time.

    ``source`` is anything ``read`` takes; a file is never held in memory as a whole. The source is opened and
    checked when this is called, not at the first batch. No rows at all is an ``InputError``.
    """
    chosen = schema if columns is None else schema.select(columns)
    found = opened(source, schema, warn=columns is None)

    def run() -> Iterator[dict[str, Codes]]:
        empty = True
        for batch in coded(found, schema, list(chosen), rows):
            codes = {name: part.codes for name, part in batch.items()}
            if any(len(code) for code in codes.values()):
                empty = False
                yield codes
        if empty:
            raise InputError(f"{found.label} has no rows")

    return run()


__all__ = ["ColumnsIgnored", "read"]


Tick = Callable[[float], None]  # told how much was done since the last call


def read(source: Any, schema: Schema, *, progress: bool = False) -> Dataset:
    """Read the columns that ``schema`` declares from ``source``, every row coded as declared.

    ``source`` is a path (.csv, .tsv, packed or not; .parquet; .arrow, .feather), a pandas or polars frame, an
    Arrow table or record batch reader, or a dict of arrays. Columns that the schema does not declare are ignored
    (one ``ColumnsIgnored`` warning). Aliases are read as the level they stand for, undeclared or missing values (codes
    that the schema lists as ``missing`` too) go to ``other``, numbers are clamped (``spelling.py`` and ``numbers.py``
    say which text means what, ``delimited.py`` what a row of a CSV is).

    **Guarantee.** The number of rows never changes, the codes of a row depend on that row alone, and no error,
    warning or progress depends on a value. That there are no rows at all is an ``InputError``: n is public under
    replace-one; under add-remove an empty data set is refused too, and that refusal is public.

    **Cost.** O(n) a column. Memory n bytes a categorical column (2 n above 256 levels), 9 n a numeric one, and one
    batch; twice that for a moment where the number of rows is not known beforehand (CSV, Arrow streams). A
    Parquet file is read one column at a time.

    >>> from dpcausal.data.columns import Categorical, Numeric
    >>> schema = Schema(smoke=Categorical(["no", "yes"]), age=Numeric(0, 110, bins=[18, 65]))
    >>> data = read({"smoke": ["yes", "?", None], "age": [70, -3, float("nan")]}, schema)
    >>> data, data.codes["smoke"].tolist(), data.values["age"].tolist()
    (Dataset(n=3, columns=['smoke', 'age']), [1, 0, 0], [70.0, 0.0, 0.0])
    """
    if not isinstance(schema, Schema):
        raise InputError(f"schema must be a Schema, not {type(schema).__name__}: see Schema.from_toml")
    found = opened(source, schema)
    columns = list(schema)
    groups = [[name] for name in columns] if isinstance(found, Parquet) else [columns]
    codes: dict[str, Codes] = {}
    values: dict[str, NDArray[np.float64]] = {}
    with shown(f"reading {found.label}", len(columns), progress) as tick:
        for group in groups:
            gathered = _gather(found, schema, group, tick)
            for name in group:
                codes[name], values_of_name = gathered.pop(name)
                if values_of_name is not None:
                    values[name] = values_of_name
    n = len(codes[columns[0]])
    if n == 0:
        raise InputError(f"{found.label} has no rows")
    return Dataset(schema, n, {name: codes[name] for name in columns}, values)


Whole = tuple[Codes, NDArray[np.float64] | None]


def _gather(found: Source, schema: Schema, columns: Sequence[str], tick: Tick) -> dict[str, Whole]:
    if found.rows is not None:
        return _fill(found, schema, columns, found.rows, tick)
    parts: dict[str, list[Any]] = {name: [] for name in columns}
    told = 0.0
    for batch in coded(found, schema, columns):
        for name in columns:
            parts[name].append(batch[name])
        done = getattr(found, "done", 0.0)
        tick(len(columns) * (done - told))
        told = done
    whole: dict[str, Whole] = {}
    for name in columns:
        pieces = parts.pop(name)
        dtype: Any = code_type(schema[name].size)
        codes = np.concatenate([np.empty(0, dtype), *(piece.codes for piece in pieces)])
        numbers = None
        if isinstance(schema[name], Numeric):
            numbers = np.concatenate([np.empty(0), *(piece.values for piece in pieces)])
        whole[name] = codes, numbers
    return whole


def _fill(found: Source, schema: Schema, columns: Sequence[str], rows: int, tick: Tick) -> dict[str, Whole]:
    whole: dict[str, Whole] = {}
    for name in columns:
        numeric = isinstance(schema[name], Numeric)
        dtype: Any = code_type(schema[name].size)
        whole[name] = np.empty(rows, dtype), np.empty(rows) if numeric else None
    start = 0
    for batch in coded(found, schema, columns):
        end = start + len(batch[columns[0]].codes)
        if end > rows:
            break
        for name, (codes, numbers) in whole.items():
            codes[start:end] = batch[name].codes
            if numbers is not None:
                numbers[start:end] = batch[name].values
        tick(len(columns) * (end - start) / rows)
        start = end
    if start != rows:
        raise InputError(f"{found.label} is damaged: it does not hold the number of rows it states")
    return whole
