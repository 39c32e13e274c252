"""Options that say how the file of the data is written, and which of its columns are used: all of them public."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from dpcausal.core.errors import InputError, SchemaError, no_columns

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
    schema: Schema,
    columns: list[str],
    encoding: str | None,
    sheet: str | None,
    data: Path | None = None,
    asked: Iterable[str] = (),
) -> Schema:
    """Return the schema of the named columns only, of all where none is named, for a file written as declared.

    That other columns of the file are ignored is what a schema is for: ``schema --check`` names them, not every answer.
    ``asked`` are the columns that other options name.

    Raises
    ------
    SchemaError
        If a name is not in the schema; it is said where the file ``data`` has such a column. Of ``asked`` only those
        are refused that the file has, or that ``columns`` leave out.
    """
    warnings.filterwarnings("ignore", message=".* not in the schema, ignored$", category=UserWarning)
    whole = schema.with_format(encoding=encoding, sheet=sheet)
    refuse_undeclared(whole, [*columns, *asked], data)
    if not columns:
        return whole
    part = whole.select(dict.fromkeys(columns))
    left = [name for name in dict.fromkeys(asked) if name in whole and name not in part]
    if left:
        raise SchemaError(f"{_these(left)} in the schema but not in --columns: add {_them(left)} there")
    return part


def refuse_undeclared(schema: Schema, named: Iterable[str], data: Path | None) -> None:
    """Refuse columns that the file has and the schema does not declare; names of columns are public.

    Where there is no file, where it can't be opened, or has none of them, nothing is said here.
    """
    names = [name for name in dict.fromkeys(named) if name not in schema]
    if not names or data is None:
        return
    from dpcausal.data.sources import open_source

    try:
        there = open_source(data, list(schema), format=schema.format).names
    except InputError:
        return
    found = [name for name in names if name in there]
    if not found:
        return
    unknown = [name for name in names if name not in there]
    also = f"; {no_columns(unknown, schema)}" if unknown else ""
    raise SchemaError(
        f"{_these(found)} in {data.name} but not in the schema: declare {_them(found)} there{also}"
    )


def _these(names: list[str]) -> str:
    """Columns by name, with their verb.

    >>> _these(["a"]), _these(["a", "b"])
    ('column "a" is', 'columns "a", "b" are')
    """
    listed = ", ".join(f'"{name}"' for name in names)
    return f"column {listed} is" if len(names) == 1 else f"columns {listed} are"


def _them(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"
