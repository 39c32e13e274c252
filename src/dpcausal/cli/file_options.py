"""Options that say how the file of the data is written, and which of its columns are used: all of them public."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
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


def restricted(schema: Schema, columns: list[str], encoding: str | None, sheet: str | None) -> Schema:
    """Return the schema of the named columns only, of all where none is named, for a file written as declared.

    That other columns of the file are ignored is what a schema is for: ``schema --check`` names them, not every answer.
    """
    warnings.filterwarnings("ignore", message=".* not in the schema, ignored$", category=UserWarning)
    if columns:
        schema = schema.select(dict.fromkeys(columns))
    return schema.with_format(encoding=encoding, sheet=sheet)
