"""Coded rows a batch at a time, for data that need not fit in memory.

Guarantee: as ``coerce.py``; the batches together hold every row once and in order. Errors depend on names,
types and whether there is a row at all, never on a value.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from dpcausal.core.errors import InputError, SchemaError, did_you_mean
from dpcausal.data.coerce import Coded, Coder, check_type
from dpcausal.data.dataset import Codes
from dpcausal.data.files import ROWS, Parquet, Source
from dpcausal.data.schema import Schema
from dpcausal.data.sources import Columns, open_source

NAMED = 5  # at most so many column names in one message


class ColumnsIgnored(UserWarning):
    """The data has columns that the schema does not declare."""


class DraftSchema(UserWarning):
    """The schema is a draft that nobody has checked: its levels and bounds were read from the data."""


DRAFT = (
    "the schema is an unchecked draft: its bounds and levels were read from the data, which is not covered by the "
    "guarantee; when every line is checked against public knowledge, remove its line `draft = true`"
)

DRAFT_LIMIT = (
    "The schema is an unchecked draft: bounds and levels read from the data are not covered (when every line is "
    "checked against public knowledge, remove its line `draft = true`)."
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
    if isinstance(found, Columns):
        found.convert(wanted)
    for name, type_ in zip(found.names, found.types, strict=True):
        if name in schema and type_ is not None:
            check_type(name, type_, schema[name], found.label, of_file=not isinstance(found, Columns))
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
