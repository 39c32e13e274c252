"""Where the rows are: a file, or a table on an engine (``--source URL --table T``), and what would be sent there.

A file that would not fit in memory is counted by DuckDB, out of core. Its size, or the number of rows that it states,
decides: both are public, but for add-remove, where this one bit of them is not protected (docs/explain/limits.md).
"""

from __future__ import annotations

import os
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
        "--source", help="Instead of a file: postgresql://..., spark://..., FILE.duckdb.", metavar="URL"
    ),
]
TableName = Annotated[str | None, typer.Option("--table", help="The table there: T, or SCHEMA.T.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Print the SQL that would be sent, and send none of it.")
]

FILE_SHARE = 0.25  # of this machine's memory; a larger file is counted out of core


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
    if too_large(data, schema):
        typer.echo(
            f"dpcausal: {data.name} is large beside this machine's memory: counted by DuckDB", err=True
        )
        return dc.connect(data, schema)
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


def too_large(data: Path, schema: Schema) -> bool:
    """Return whether the rows of a file would take more than a share of memory: by its size, or the rows it states."""
    from dpcausal.counts.engine import memory_bytes
    from dpcausal.data.columns import Numeric

    if not data.is_file():
        return False
    limit, needed = FILE_SHARE * memory_bytes(), os.path.getsize(data)
    if data.suffix.lower() in (".parquet", ".pq"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        each = sum(9 if isinstance(column, Numeric) else 1 for column in schema.values())
        try:
            needed = max(needed, each * pq.read_metadata(data).num_rows)
        except (pa.ArrowException, OSError):
            return False  # reading it says what is wrong
    return needed > limit


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
