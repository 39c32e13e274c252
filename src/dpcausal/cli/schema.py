"""``dpcausal schema DATA``: a draft of a schema file, or the check of one, on standard output."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpcausal.cli.options import path

if TYPE_CHECKING:
    from dpcausal.data.check import ColumnCheck, SchemaCheck

HELP = """Draft a schema file from the data, or check one against the data, on standard output.

Both look at rows without noise and are [bold]not private[/bold]: for your own
machine. A draft shows levels and bounds read from rows; a person must check
every line against public knowledge. A check says what the schema will do to
the rows: what is missing, clamped, no level, no number, and how many rows have
more or fewer fields than the header. Spellings are declared as
aliases = { Yes = "yes" }, codes for no value as missing = [999].

[bold]Examples[/bold]

dpcausal schema patients.csv > schema.toml

# the draft, or the check, as one JSON object for a script
dpcausal schema patients.csv --json

# what becomes of the rows; read it, and do not publish it
dpcausal schema patients.csv --check schema.toml"""

NOT_A_RELEASE = (
    "levels and bounds were read from rows; a person must check every line against public knowledge"
)


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("schema", help=HELP)(run_schema)


def run_schema(
    data: Annotated[
        Path, typer.Argument(help="A .csv, .tsv, .parquet, .arrow or .feather file.", parser=path)
    ],
    check: Annotated[
        Path | None,
        typer.Option(
            "--check",
            help="Compare DATA with this schema instead. Not private.",
            metavar="SCHEMA",
            parser=path,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Draft or check."""
    from dpcausal.core.errors import SchemaError

    if check is None:
        from dpcausal.data.draft import draft  # late: pyarrow, which other commands do without

        text = draft(str(data), progress=not as_json and sys.stderr.isatty())
        typer.echo(_draft_as_json(text) if as_json else text, nl=as_json)
        return
    from dpcausal.data.check import check as look
    from dpcausal.data.schema import Schema

    found = look(str(data), Schema.from_toml(check), progress=not as_json and sys.stderr.isatty())
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        if not found.usable:
            raise typer.Exit(2)
        return
    show(found)
    if not found.usable:
        raise SchemaError(found.fault())


def _draft_as_json(text: str) -> str:
    """A draft as an object: that it is not private, its columns, and the text of the file."""
    found = {"private": False, "warning": NOT_A_RELEASE, **tomllib.loads(text), "toml": text}
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)


def show(found: SchemaCheck) -> None:
    """Print the table and a line for whatever a person should look at."""
    from dpcausal.cli.options import print_table
    from dpcausal.data.check import NOT_PRIVATE

    typer.echo(f"{NOT_PRIVATE[0].upper()}{NOT_PRIVATE[1:]}.")
    heads = ["column", "missing", "not\ndeclared", "no\nnumber", "clamped", "empty levels\nor bins"]
    text = [heads[0], heads[-1]]
    print_table(heads, [_cells(column) for column in found.columns], left=text, wraps=text)
    for line in remarks(found):
        typer.echo(line)


def _cells(column: ColumnCheck) -> list[str]:
    clamped = column.below + column.above
    levels = column.type == "categorical"
    return [
        column.name,
        share(column.missing, column.rows),
        share(column.not_a_level, column.rows) if levels else "",
        "" if levels else share(column.not_a_number, column.rows),
        "" if levels else share(clamped, column.rows),
        ", ".join(column.empty[:4]) + (f" and {len(column.empty) - 4} more" if len(column.empty) > 4 else ""),
    ]


def share(count: int, rows: int) -> str:
    """A part of the rows in per cent, never rounded to nothing.

    >>> share(0, 10), share(1, 8), share(1, 100_000)
    ('0', '12.5%', '<0.1%')
    """
    part = 100.0 * count / rows if rows else 0.0
    return "0" if count == 0 else "<0.1%" if part < 0.1 else f"{part:.1f}%"


def remarks(found: SchemaCheck) -> list[str]:
    """One line for each thing that a person should know, columns in their order."""
    from dpcausal.data.profile import repeats_words

    lines = [f'Declared, but not in {found.label}: "{name}"' for name in found.not_in_data]
    if found.not_in_schema:
        names = ", ".join(f'"{name}"' for name in found.not_in_schema)
        lines.append(f"In {found.label}, but not declared, so never read: {names}")
    lines += _ragged(found)
    lines += [repeats_words(name, rows) for name, rows in found.repeats]
    lines += found.orders
    for column in found.columns:
        if column.fault:
            lines.append(f"{column.name}: {column.fault}")
        if column.missing:
            coded = (
                f" ({column.coded_missing:,} of them hold a code in `missing`)"
                if column.coded_missing
                else ""
            )
            lines.append(f"{column.name}: {column.missing:,} missing cells become {column.other}{coded}")
        odd = column.not_a_level + column.not_a_number
        if odd:
            texts = ", ".join(f"{text!r} ({count:,})" for text, count in column.texts)
            more = " and others" if sum(count for _, count in column.texts) < odd else ""
            what = "no number" if column.not_a_number else "no declared level"
            lines.append(f"{column.name}: {what}, so they become {column.other}: {texts}{more}")
        if column.below or column.above:
            lines.append(
                f"{column.name}: {column.below:,} cells are below the lower bound and {column.above:,} above the "
                "upper one; they are moved to the bound"
            )
        for code, count in column.codes:
            lines.append(
                f"{column.name}: {code} stands in {count:,} of these; if it means missing: `missing = [{code}]`"
            )
    if any(column.not_a_level for column in found.columns):
        lines.append('Another spelling of a level can be declared as one of its `aliases`: { Yes = "yes" }.')
    if found.draft:
        lines.append(
            "The schema is marked as a draft: delete its line `draft = true` when every line is checked."
        )
    even = found.ragged.fewer == found.ragged.more == 0 and not found.repeats
    if found.usable and even and not found.not_in_schema and all(column.fine for column in found.columns):
        lines.append(f"Every cell of {found.rows:,} rows is used as it stands.")
    elif found.usable:
        lines.append(f"{found.rows:,} rows can be read by this schema.")
    return lines


def _ragged(found: SchemaCheck) -> list[str]:
    def rows(count: int, than: str) -> str:
        return f"{count:,} {'row has' if count == 1 else 'rows have'} {than} fields than the header"

    lines = []
    if found.ragged.more:
        lines.append(
            f"{rows(found.ragged.more, 'more')}: what lies beyond is not read; where a text holds the delimiter "
            "without quotes, every field after it is one column off"
        )
    if found.ragged.fewer:
        lines.append(f"{rows(found.ragged.fewer, 'fewer')}: the last ones are missing")
    return lines
