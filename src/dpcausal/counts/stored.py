"""Whether a query of DuckDB reads stored tables only: by the plan that DuckDB makes of it, before a row is read.

DuckDB takes a name that no table has for a file, or for a variable of Python; a view may do so at every query. Types of
such rows are guessed from their cells: one cell of a CSV file turns a column of numbers into text, and changes the
codes of all rows. Types are public only where they are stored.

**Guarantee.** What passes reads tables that are stored with their types, and constants, through any number of views and
macros. It follows from names and definitions alone: where DuckDB can't make a plan the query does not pass either, so a
cell on which a reader of files fails makes no difference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

STORED = "SEQ_SCAN"
CONSTANTS = frozenset(  # leaves of a plan that read nothing
    {"DUMMY_SCAN", "EXPRESSION_GET", "EMPTY_RESULT", "RANGE", "GENERATE_SERIES"}
)
WITHIN = frozenset({"CTE_SCAN", "DELIM_GET"})  # leaves that read what another part of the plan made
READS_FILES = (
    "reads files, frames or another database, or can't be opened: connect to the files, or store a table"
)
_FIND = """
    SELECT count(*) FROM information_schema.tables
    WHERE lower(table_catalog) = lower(coalesce(?, current_catalog()))
    AND lower(table_schema) = lower(coalesce(?, current_schema())) AND lower(table_name) = lower(?)
"""


def quoted(name: str) -> str:
    """Return an identifier in SQL.

    >>> quoted("visits")
    '"visits"'
    """
    return '"' + name.replace('"', '""') + '"'


def table_identifier(connection: duckdb.DuckDBPyConnection, name: str) -> str | None:
    """Return the table or view called ``name``, ``schema.name`` or ``database.schema.name`` in SQL; None without one.

    It is asked of the catalogue, which holds no files and no variables.
    """
    for parts in ([name], name.split(".")):
        place = [None] * (3 - len(parts)) + parts
        if len(place) == 3 and connection.execute(_FIND, place).fetchall() != [(0,)]:
            return ".".join(map(quoted, parts))
    return None


def reads_stored_tables(connection: duckdb.DuckDBPyConnection, sql: str) -> bool:
    """Return whether a query reads stored tables and constants, and nothing else: no file, frame or other database."""
    import duckdb

    cursor = connection.cursor()  # its setting ends with it
    try:
        cursor.execute("SET explain_output = 'all'")
        plans = dict(cursor.execute(f"EXPLAIN (FORMAT json) {sql}").fetchall())
    except duckdb.Error:
        return False
    # the plan as it was asked for: a better one leaves out what the rows make needless
    nodes = json.loads(plans["logical_plan"])
    return all(leaf in {STORED} | CONSTANTS | WITHIN for node in nodes for leaf in _leaves(node))


def _leaves(node: Mapping[str, Any]) -> Iterator[str]:
    """Return the names of the operators that have none below them."""
    if not node["children"]:
        yield node["name"].strip()
    for child in node["children"]:
        yield from _leaves(child)
