"""A table or view of a DuckDB database as a source of rows, which this process codes as it codes those of a file.

DuckDB takes a name that no table has for a file, or for a variable of Python; a view may do so at every query. Types of
such rows are guessed from their cells: one cell of a CSV file turns a column of numbers into text, and changes the
codes of all rows. Types are public only where they are stored. So a query is sent only if the plan that DuckDB makes of
it, before a row is read, has stored tables and constants alone at its leaves.

**Guarantee.** What passes reads tables that are stored with their types, and constants, through any number of views and
macros. It follows from names and definitions alone: where DuckDB can't make a plan the query does not pass either, so a
cell on which a reader of files fails makes no difference. No error holds DuckDB's own words, which may name cells.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from dpcausal.core.errors import InputError
from dpcausal.data.columns import Column, Numeric
from dpcausal.data.schema import Schema
from dpcausal.data.sources import BATCH_ROWS, Chunk, Source

if TYPE_CHECKING:
    import duckdb

Found = TypeVar("Found")

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
_WIDEST = ("HUGEINT", "UHUGEINT")  # no type of Arrow holds all of their values
_READABLE = re.compile(
    r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|BOOLEAN|VARCHAR|DECIMAL\(.*\)|DATE|TIME"
    r"|TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?|ENUM\(.*\)",
    re.DOTALL,
)


class DuckDBTable(Source):
    """The declared columns of a table or view (``schema.name`` too), read in chunks on a cursor of its own.

    ``columns`` are read beside the declared ones. Raises ``InputError`` if there is no such table, it reads files, or a
    column has a type that can't be read.
    """

    expects_other_columns = True

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        name: str,
        schema: Schema | None,
        columns: Sequence[str] = (),
    ) -> None:
        self._connection, self._count = connection.cursor(), None
        self._table = self._find(name)
        described = self._connection.execute(f"DESCRIBE SELECT * FROM {self._table}").fetchall()
        kinds = {column: str(kind) for column, kind, *_ in described}
        of_unit = () if schema is None or schema.unit is None else schema.unit.columns()
        wanted = {**dict.fromkeys((*columns, *of_unit)), **(schema or {})}
        self._cells = {x: _as_arrow(x, kinds[x], column) for x, column in wanted.items() if x in kinds}
        types = dict.fromkeys(kinds)
        if self._cells:
            empty = self._connection.sql(f"{self._sql(list(self._cells))} LIMIT 0").to_arrow_reader(1).schema
            types |= dict(zip(self._cells, empty.types, strict=True))
        super().__init__(name, list(kinds), list(types.values()))

    def _find(self, name: str) -> str:
        """Return the SQL identifier of the table, looked up in the catalogue."""
        found = _answer(lambda: table_identifier(self._connection, name))
        if found is None:
            raise InputError(f"{name} can't be read by DuckDB: no such table, or it is damaged")
        if not reads_stored_tables(self._connection, f"SELECT * FROM {found}"):
            raise InputError(f"{name} {READS_FILES}")
        return found

    def _sql(self, columns: Sequence[str]) -> str:
        """Return the query for these columns."""
        cells = ", ".join(f"{self._cells[name]} AS c{c}" for c, name in enumerate(columns))
        return f"SELECT {cells} FROM {self._table}"

    def explained(self) -> str:
        """Return the SQL that is sent, without sending it."""
        count = f"-- how many rows there are\nSELECT count(*) FROM {self._table};"
        rows = "-- rows pass by within this process, where they are coded as dc.read does and counted"
        return f"{count}\n\n{rows}\n{self._sql(list(self._cells))};"

    def count_rows(self) -> int | None:
        """Return the number of rows."""
        count = f"SELECT count(*) FROM {self._table}"
        found = _answer(lambda: self._connection.cursor().execute(count).fetchall())
        if found is None:
            raise self._failed()
        return int(found[0][0])

    def chunks(self, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[Chunk]:
        """Yield the cells of these columns, at most ``rows`` rows at a time, as DuckDB reads them."""
        cursor = self._connection.cursor()
        batches = _answer(lambda: cursor.sql(self._sql(columns)).to_arrow_reader(rows))
        ended = object()
        while batches is not None:
            batch: Any = _answer(lambda: next(batches, ended))
            if batch is ended:
                return
            if batch is None:
                break
            yield dict(zip(columns, batch.columns, strict=True))
        raise self._failed()

    def _failed(self) -> InputError:
        """Return the error for a query that failed, without the words of the engine."""
        return InputError(f"DuckDB could not evaluate {self.label}: check the view or cast behind it")


def _as_arrow(name: str, kind: str, column: Column | None) -> str:
    """Return the SQL that converts a column to a type that Arrow has, without changing its meaning."""
    if not _READABLE.fullmatch(kind):
        raise InputError(
            f'column "{name}" is stored as {kind}, which can\'t be coded: store it otherwise (a view will do)'
        )
    if kind not in _WIDEST:
        return quoted(name)
    if isinstance(column, Numeric):
        return f"CAST({quoted(name)} AS DOUBLE)"
    return f"TRY_CAST({quoted(name)} AS DECIMAL(38, 0))"  # NULL beyond it: levels lie within 64 bits


def _answer(ask: Callable[[], Found]) -> Found | None:
    """Return the answer of DuckDB; None where it fails, since its own error may quote a cell."""
    import duckdb

    try:
        return ask()
    except (duckdb.Error, pa.ArrowException, OSError):
        return None


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
    """Yield the names of the operators of a query plan that have none below them."""
    if not node["children"]:
        yield node["name"].strip()
    for child in node["children"]:
        yield from _leaves(child)
