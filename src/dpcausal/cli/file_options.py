"""Options that say how the file of the data is written, and which of its columns are used: all of them public."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from dpcausal.data.schema import Schema

Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="Encoding of a text file, such as latin-1 or cp850; else as the schema says, or UTF-8.",
        autocompletion=lambda: ["utf-8", "latin-1", "windows-1252", "iso-8859-15", "cp850"],
    ),
]
Sheet = Annotated[
    str | None, typer.Option("--sheet", help="Sheet of a workbook; else as the schema says, or the first.")
]
Columns = Annotated[
    list[str] | None, typer.Option("--columns", help="Only these columns: with commas, or repeat it.")
]


def restricted(
    schema: Schema, columns: list[str], encoding: str | None, sheet: str | None, data: Path | None = None
) -> Schema:
    """Return the schema of the named columns only, of all where none is named, for a file written as declared.

    That other columns of the file are ignored is what a schema is for: ``schema --check`` names them, not every answer.

    Raises
    ------
    SchemaError
        If a name is not in the schema; it is said where the file ``data`` has such a column.
    """
    warnings.filterwarnings("ignore", message=".* not in the schema, ignored$", category=UserWarning)
    whole = schema.with_format(encoding=encoding, sheet=sheet)
    if not columns:
        return whole
    if data is not None and not all(name in schema for name in columns):
        refuse_undeclared(whole, [name for name in columns if name not in schema], data)
    return whole.select(dict.fromkeys(columns))


def refuse_undeclared(schema: Schema, names: list[str], data: Path) -> None:
    """Refuse columns that the file has and the schema does not declare; names of columns are public.

    Where the file can't be opened, or has none of them, nothing is said here.
    """
    from dpcausal.core.errors import InputError, SchemaError, no_columns
    from dpcausal.data.sources import open_source

    try:
        there = open_source(data, list(schema), format=schema.format).names
    except InputError:
        return
    found = [name for name in dict.fromkeys(names) if name in there]
    if not found:
        return
    one = len(found) == 1
    listed = ", ".join(f'"{name}"' for name in found)
    unknown = [name for name in names if name not in there]
    also = f"; {no_columns(unknown, schema)}" if unknown else ""
    raise SchemaError(
        f"column{'' if one else 's'} {listed} {'is' if one else 'are'} in {data.name} but not in the schema: declare "
        f"{'it' if one else 'them'} there{also}"
    )
