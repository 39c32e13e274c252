"""Where the rows are: a file, or a table on an engine (``--source URL --table T``), and what would be sent there.

A file that is named by itself is read into memory. ``--source FILE`` leaves its rows where they are: DuckDB counts
them, out of core. The user decides by this option, since the two do not answer the same questions: a test on the values
of rows needs rows in memory. The size of a file decides nothing. It follows from the number of rows, which add-remove
protects, and in a file of text from how long their cells are.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpcausal.cli.options import path
from dpcausal.core.errors import InputError

if TYPE_CHECKING:
    from dpcausal.counts.engine import EngineCounts
    from dpcausal.counts.sql import DuckDBCounts
    from dpcausal.data.dataset import Dataset
    from dpcausal.data.schema import Schema

OptionalFile = Annotated[
    Path | None,
    typer.Argument(
        help="A .csv, .tsv, .parquet, .arrow, .xlsx, .sav, .dta, .sas7bdat or .rds file; a .duckdb file; or --source.",
        parser=path,
        show_default=False,
    ),
]
SourceUrl = Annotated[
    str | None,
    typer.Option(
        "--source",
        help="Instead of a file: postgresql://..., spark://..., FILE.duckdb, or a FILE too large for memory.",
        metavar="URL",
    ),
]
TableName = Annotated[str | None, typer.Option("--table", help="The table there: T, or SCHEMA.T.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Print the SQL that would be sent, and send none of it.")
]


def rows_of(
    data: Path | None, source: str | None, table: str | None, schema: Schema, bars: bool
) -> Dataset | DuckDBCounts | EngineCounts:
    """Return the rows of a file in memory, or a source that counts them where they are."""
    import dpcausal as dc
    from dpcausal.counts.connect import is_database

    if source is not None:
        if data is not None:
            raise InputError(f"give a file or --source, not both: {data}")
        return dc.connect(source, schema, table)
    if data is None:
        raise InputError("name a file with the rows, or --source URL and --table T")
    if is_database(data):
        return dc.connect(data, schema, table)
    if table is not None:
        raise InputError("--table goes with --source or a .duckdb file; this file is one table")
    return dc.read(data, schema, progress=bars)


def rows_at(source: str | None, table: str | None, schema: Schema, neighbours: str) -> int:
    """Return how many rows a table has, which is public under replace-one alone."""
    return _table_of_rows(source, table, schema, neighbours).n


def rows_explained(source: str | None, table: str | None, schema: Schema, neighbours: str) -> str:
    """Return the SQL that ``rows_at`` would send."""
    return _table_of_rows(source, table, schema, neighbours).explain_count()


def _table_of_rows(
    source: str | None, table: str | None, schema: Schema, neighbours: str
) -> DuckDBCounts | EngineCounts:
    from dpcausal.counts.connect import opened

    if source is None:
        raise InputError("say how many rows there will be: --rows N, or --source URL and --table T")
    if neighbours != "replace-one":
        raise InputError(f"under {neighbours} the number of rows is protected: give --rows, a guess")
    return opened(source, schema, table, count=False)


def explained(
    data: Path | None,
    source: str | None,
    table: str | None,
    schema: Schema,
    requests: list[tuple[str, ...]] | None = None,
    harmonics: int | None = None,
) -> str:
    """Return the SQL that would be sent for a source; only names and types are asked for.

    ``requests`` are the tables that are asked for; with ``harmonics`` it is the SQL of ``moments``.
    """
    from dpcausal.counts.connect import opened
    from dpcausal.discovery import moments

    if source is None and data is None:
        raise InputError("name a file with the rows, or --source URL and --table T")
    if source is not None and data is not None:
        raise InputError(f"give a file or --source, not both: {data}")
    counts = opened(str(data) if source is None else source, schema, table, count=False)
    words = counts.explain(requests) if harmonics is None else moments.explained(counts, harmonics)
    size = counts.table_bytes
    told = "" if size is None else f"-- {counts.engine} says that the table has {size:,} bytes\n\n"
    return told + words
