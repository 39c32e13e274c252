"""``dpcausal schema DATA``: a draft of a schema file, or the check of one, on standard output."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dpcausal.cli.options import AsJson, Columns, Encoding, OptionalFile, Sheet, parse_names, path
from dpcausal.cli.output import table_width
from dpcausal.core.errors import InputError, SchemaError

HELP = """Draft a schema file from the data, or check one against the data, on standard output.

A code book (--redcap, --labels, --table-schema) gives a schema without a look at
rows: it is no draft, and what it lacks is named.

The draft and the check look at rows without noise and are [bold]not private[/bold]: for
your own machine. A draft shows levels and bounds read from rows; a person must
check every line against public knowledge. A check says what the schema will do
to the rows: what is missing, clamped, no level, no number, and how many rows
have more or fewer fields than the header or a quote that is not closed.
Spellings are declared as aliases = { Yes = "yes" }, codes for no value as
missing = [999].

[bold]Examples[/bold]

dpcausal schema patients.csv > schema.toml

# the draft, or the check, as one JSON object for a script
dpcausal schema patients.csv --json

# from a REDCap data dictionary, without a look at rows
dpcausal schema --redcap dictionary.csv > schema.toml

# what becomes of the rows; read it, and do not publish it
dpcausal schema patients.csv --check schema.toml"""


def run_schema(
    data: OptionalFile = None,
    check: Annotated[
        Path | None,
        typer.Option(
            "--check",
            help="Compare DATA with this schema instead. Not private.",
            metavar="SCHEMA",
            parser=path,
        ),
    ] = None,
    quoted_newlines: Annotated[
        bool,
        typer.Option(
            "--quoted-newlines",
            help="Line breaks inside quotes belong to their cell; the draft declares it.",
        ),
    ] = False,
    redcap: Annotated[
        Path | None,
        typer.Option(
            "--redcap",
            help="Make the schema from this REDCap data dictionary; no row is read.",
            metavar="CSV",
            parser=path,
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            help="Make it from the value labels of a .sav or .dta file; no row is read.",
            metavar="FILE",
            parser=path,
        ),
    ] = None,
    table_schema: Annotated[
        Path | None,
        typer.Option(
            "--table-schema",
            help="Make it from a Frictionless table schema or CSV-W metadata.",
            metavar="JSON",
            parser=path,
        ),
    ] = None,
    columns: Columns = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    as_json: AsJson = False,
) -> None:
    """Draft a schema from a file, make one from a code book, or check one against a file."""
    books = {"--redcap": redcap, "--labels": labels, "--table-schema": table_schema}
    if any(books.values()):
        options = (sheet, quoted_newlines or None, None if labels else encoding)
        option, book = _only_book(books, (data, check), options)
        _print_code_book(option, book, parse_names("--columns", columns), encoding, as_json)
        return
    if data is None:
        raise InputError("Missing argument 'DATA', or a code book: --redcap, --labels or --table-schema")
    if quoted_newlines and check is not None:
        raise InputError(
            "--quoted-newlines is for a draft: a schema says it by its line quoted_newlines = true"
        )
    if columns and check is not None:
        raise InputError("--columns is for a draft: a check looks at the columns that the schema declares")

    progress = not as_json and sys.stderr.isatty()
    if check is None:
        from dpcausal.data.draft import draft  # late: pyarrow, which other commands do without
        from dpcausal.data.file_format import FileFormat
        from dpcausal.present.schema import draft_toml

        declared = FileFormat(encoding=encoding, sheet=sheet, quoted_newlines=quoted_newlines)
        chosen = parse_names("--columns", columns)
        text = draft_toml(draft(str(data), format=declared, columns=chosen or None, progress=progress))
        typer.echo(_draft_as_json(text) if as_json else text, nl=as_json)
        return
    from dpcausal.data.check import check as look
    from dpcausal.data.schema import Schema
    from dpcausal.present.schema import check_json, check_text

    schema = Schema.from_toml(check).with_format(encoding=encoding, sheet=sheet)
    found = look(str(data), schema, progress=progress)
    if as_json:
        typer.echo(json.dumps(check_json(found), indent=2, ensure_ascii=False))
        if found.nothing_read or not found.usable:
            raise typer.Exit(2)
        return
    fault = found.fault() if found.nothing_read or not found.usable else ""
    text = check.read_text(encoding="utf-8") if check.is_file() else ""  # a pipe is read once
    typer.echo(check_text(found, width=table_width(), schema=text, fault=fault))
    if fault:
        raise SchemaError(fault)


def _only_book(
    books: Mapping[str, Path | None], files: Sequence[Path | None], options: Sequence[object]
) -> tuple[str, Path]:
    """Return the option and the file of the one code book; refuse another book, files and options beside it."""
    (option, book), *more = ((name, file) for name, file in books.items() if file is not None)
    if more or any(file is not None for file in files):
        raise InputError(f"{option} needs no file of rows and nothing else: it is the code book")
    if any(one is not None for one in options):
        raise InputError(f"{option} goes with --columns and --json only, and --labels with --encoding")
    return option, book


def _print_code_book(
    option: str, file: Path, columns: list[str] | None, encoding: str | None, as_json: bool
) -> None:
    """Print the schema of a code book; on standard error, what is lacking."""
    from dpcausal.data import code_books
    from dpcausal.present.schema import code_book_lines

    made: dict[str, Callable[[Path], code_books.CodeBook]] = {
        "--redcap": code_books.redcap,
        "--labels": partial(code_books.value_labels, encoding=encoding),
        "--table-schema": code_books.table_schema,
    }
    book = made[option](file)
    book = book.select(columns) if columns else book
    text = book.schema.to_toml()
    if as_json:
        lacking = {name: list(what) for name, what in book.lacking.items()}
        told = {"lacking": lacking, "gaps": list(book.gaps), "left_out": list(book.left_out)}
        found = {**tomllib.loads(text), **told, "toml": text}
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    typer.echo(text, nl=False)
    for line in code_book_lines(book):
        typer.echo(line, err=True)


def _draft_as_json(text: str) -> str:
    """Return a draft as JSON: a warning, its columns, and its text as TOML."""
    from dpcausal.present.schema import DRAFT_NOT_PRIVATE

    found = {"private": False, "warning": DRAFT_NOT_PRIVATE, **tomllib.loads(text), "toml": text}
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
