"""Counting in DuckDB: Parquet larger than memory, or a table of a DuckDB database, in one pass.

DuckDB codes every column as the schema says, packs a row into one or a few 64-bit keys and counts equal keys. The
distinct rows and their counts come back, and from then on everything is local. Where rows hardly repeat, tables are
counted in DuckDB instead: one scan per batch of requests, by grouping sets over covering tables. The choice decides
only how long it takes.

**Guarantee.** The codes are those of ``dc.read``, for the types that can be coded in SQL: integers, floats, booleans
and text. Types are public metadata, so a type that can't be coded is an error; values never are. A cell that DuckDB
itself refuses makes the file be read by way of Arrow instead, and nobody learns that it happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcausal.core.entropy import RandomBytes, random_bytes
from dpcausal.core.errors import InputError, SchemaError, did_you_mean
from dpcausal.counts.compress import KeyLayout
from dpcausal.counts.memory import Covering, MemoryCounts
from dpcausal.counts.protocol import Jobs, Table, TableLayout
from dpcausal.counts.rows import Rows, processors
from dpcausal.counts.stream import stream
from dpcausal.data import spelling
from dpcausal.data.columns import ASCII_WHITESPACE, Categorical, Column, Numeric
from dpcausal.data.read import read
from dpcausal.data.schema import Schema

if TYPE_CHECKING:
    import duckdb

TRIAL_ROWS = 1 << 22  # first rows that are looked at to guess whether rows repeat
MAX_DISTINCT_SHARE = 0.5  # distinct rows per row of the trial up to which compression is tried


class DuckDBCounts:
    """``Counts`` of a Parquet file, or several, or of a table of an open DuckDB connection.

    **Guarantee.** The tables are those of the same rows read by ``dc.read``. Errors depend on names, types and whether
    there is a row at all, never on a value.

    Parameters
    ----------
    source : path or str
        A Parquet file, or a glob of several; with ``connection`` the name of a table or view.
    schema : Schema
        The declared columns.
    connection : duckdb.DuckDBPyConnection, optional
        The database that holds the table.
    memory_limit : str, optional
        DuckDB's own, such as ``"1GB"``; above it DuckDB spills to disk.
    threads : int, optional
        At most so many; the cores that this process may use unless given.

    Raises
    ------
    SchemaError
        If a declared column is missing.
    InputError
        If DuckDB can't read the source, it has no rows, or a type can't be coded as declared.

    Examples
    --------
    >>> import duckdb
    >>> import dpcausal as dc
    >>> database = duckdb.connect()
    >>> _ = database.execute("CREATE TABLE patients AS SELECT unnest(['no', 'yes', 'yes']) AS smoke")
    >>> counts = DuckDBCounts("patients", dc.Schema(smoke=dc.Categorical(["no", "yes"])), connection=database)
    >>> counts.table(["smoke"]).tolist()
    [1, 2]
    """

    def __init__(
        self,
        source: str | Path,
        schema: Schema,
        *,
        connection: duckdb.DuckDBPyConnection | None = None,
        memory_limit: str | None = None,
        threads: int | None = None,
    ) -> None:
        import duckdb

        self._schema, self._layout = schema, TableLayout(schema)
        self._threads = threads or processors()
        self._keys = KeyLayout(self._layout.sizes)
        self._local: MemoryCounts | None = None
        self._scan_only: bool | None = None
        if connection is None:
            self._connection = duckdb.connect(config={"threads": self._threads})
            if memory_limit:
                self._connection.execute(f"SET memory_limit = {_text(memory_limit)}")
            self._table = f"read_parquet({_text(str(source))})"
        else:
            self._connection = connection.cursor()
            self._table = _identifier(str(source))
        self._source = Path(source) if connection is None else None
        self._coding, self._n = self._describe(Path(source).name if connection is None else str(source))

    def _describe(self, source: str) -> tuple[dict[str, str], int]:
        """Return the coding expression of every declared column, and n."""
        import duckdb

        try:
            kinds = {
                name: str(kind)
                for name, kind, *_ in self._run(f"DESCRIBE SELECT * FROM {self._table}").fetchall()
            }
            n = int(self._run(f"SELECT count(*) FROM {self._table}").fetchall()[0][0])
        except duckdb.Error:
            raise InputError(
                f"{source} can't be read by DuckDB: no such file or table, or it is damaged"
            ) from None
        for name in self._schema:
            if name not in kinds:
                raise SchemaError(f'{source} has no column "{name}"{did_you_mean(name, kinds)}')
        if not n:
            raise InputError(f"{source} has no rows")
        return {
            name: coding_expression(name, kinds[name], column) for name, column in self._schema.items()
        }, n

    def _run(self, sql: str) -> Any:
        return self._connection.execute(sql)

    @property
    def schema(self) -> Schema:
        """Declared columns."""
        return self._schema

    @property
    def n(self) -> int:
        """Number of rows."""
        return self._n

    def __repr__(self) -> str:
        return f"DuckDBCounts(n={self._n}, columns={list(self._layout.names)})"

    def table(self, columns: Sequence[str]) -> Table:
        """Count the joint levels of ``columns``, one axis each in the order given."""
        return self.tables([columns])[0]

    def tables(self, requests: Sequence[Sequence[str]]) -> list[Table]:
        """Return one table per request, in one scan at most."""
        import duckdb

        wanted = [self._layout.resolve(columns) for columns in requests]
        if not wanted:
            return []
        try:
            if self._local is None and not self._mostly_distinct():
                self._compress()
            if self._local is None:
                covering = Covering(Jobs.of(wanted, self._layout.sizes), self._layout.sizes, self._n)
                flat = covering.sum_down(self._scan(covering.covers), self._threads)
                return self._layout.tables(wanted, covering.requests.cells, flat)
        except duckdb.Error:
            pass
        return (self._local or self._read_by_arrow()).tables(requests)

    def subsample(self, m: int, source: RandomBytes = random_bytes) -> MemoryCounts:
        """Draw m rows without replacement: a hypergeometric draw over the distinct rows."""
        return self.compress().subsample(m, source)

    def _read_by_arrow(self) -> MemoryCounts:
        """Return the same counts by way of Arrow, for a file with cells that DuckDB refuses (text that is not UTF-8).

        DuckDB's error names the cell, so nobody may see that it happened. A table of the user's own database can't be
        read in another way, and its error is one fixed sentence.
        """
        if self._source is None:
            raise InputError("DuckDB could not evaluate the table: check the view or cast behind it")
        if self._local is None:
            if self._keys.fits:
                self._local = stream(self._source, self._schema, threads=self._threads)
            else:
                self._local = MemoryCounts(read(self._source, self._schema), threads=self._threads)
        return self._local

    def compress(self) -> MemoryCounts:
        """Return the distinct rows with their counts, held in memory: one GROUP BY over packed keys."""
        import duckdb

        try:
            return self._compress()
        except duckdb.Error:
            pass
        return self._read_by_arrow()  # outside the except block: no trace of DuckDB's error

    def _compress(self) -> MemoryCounts:
        if self._local is None:
            words: list[list[str]] = [[] for _ in range(self._keys.words)]
            for c, name in enumerate(self._layout.names):
                words[self._keys.word[c]].append(
                    f"(CAST({self._coding[name]} AS UBIGINT) << {self._keys.shift[c]})"
                )
            keys = ", ".join(f"{' | '.join(parts)} AS key{i}" for i, parts in enumerate(words))
            names = ", ".join(f"key{i}" for i in range(len(words)))
            sql = (
                f"SELECT {names}, count(*) AS weight FROM (SELECT {keys} FROM {self._table}) GROUP BY {names}"
            )
            found = self._run(sql).fetchnumpy()
            codes = self._keys.unpack(*(found[f"key{i}"].astype(np.uint64) for i in range(len(words))))
            rows = Rows(codes, self._layout.sizes, found["weight"].astype(np.int64))
            self._local = MemoryCounts(rows, self._schema, threads=self._threads)
        return self._local

    def _mostly_distinct(self) -> bool:
        """Return whether most of the first rows are distinct; it decides only how long counting takes."""
        if self._scan_only is None:
            columns = ", ".join(f"{sql} AS c{c}" for c, sql in enumerate(self._coding.values()))
            names = ", ".join(f"c{c}" for c in range(len(self._coding)))
            trial = f"SELECT {columns} FROM (SELECT * FROM {self._table} LIMIT {TRIAL_ROWS})"
            found = self._run(f"SELECT count(*) FROM (SELECT DISTINCT {names} FROM ({trial}))").fetchall()[0][
                0
            ]
            self._scan_only = found > MAX_DISTINCT_SHARE * min(self._n, TRIAL_ROWS) and self._n > TRIAL_ROWS
        return self._scan_only

    def _scan(self, jobs: Jobs) -> Table:
        """Return the flat tables of all jobs in one scan, by grouping sets."""
        names, sizes = self._layout.names, self._layout.shape
        inner = [f"{self._coding[name]} AS c{c}" for c, name in enumerate(names)]
        codes = []
        for columns in jobs.column_lists():
            code = "CAST(0 AS UBIGINT)"
            for c in columns.tolist():
                code = f"({code} * {sizes[c]} + c{c})"
            codes.append(code)
        keys = ", ".join(f"{code} AS k{j}" for j, code in enumerate(codes))
        sets = ", ".join(f"(k{j})" for j in range(len(codes)))
        coded = f"SELECT {keys} FROM (SELECT {', '.join(inner)} FROM {self._table})"
        found = self._run(
            f"SELECT {', '.join(f'k{j}' for j in range(len(codes)))}, count(*) AS weight"
            f" FROM ({coded}) GROUP BY GROUPING SETS ({sets})"
        ).fetchnumpy()
        out, weight = np.zeros(int(jobs.cells[-1]), np.int64), np.asarray(found["weight"], np.int64)
        for j in range(len(codes)):
            key = np.ma.masked_array(found[f"k{j}"])
            here = ~np.ma.getmaskarray(key)
            out[int(jobs.cells[j]) + key.data[here].astype(np.int64)] = weight[here]
        return out


# ---- coding in SQL

_INTEGERS = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
    "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
}  # fmt: skip
_FLOATS: dict[str, type[np.floating[Any]]] = {"FLOAT": np.float32, "DOUBLE": np.float64}
_UNTYPED = '"NULL"'  # the type that DuckDB gives to a column without one
_MAX_LISTED = 32  # keys up to which a linear search is faster than the hash table of an ENUM


def _identifier(name: str) -> str:
    """Return an identifier in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    """Return a string literal in SQL."""
    return "'" + value.replace("'", "''") + "'"


def _double(value: float) -> str:
    """Return a float64 literal that reads back exactly."""
    return f"CAST({_text(repr(value))} AS DOUBLE)"


def _choose(value: str, cases: list[tuple[str, int]], otherwise: str) -> str:
    """Return a CASE over equal values."""
    if not cases:
        return otherwise
    return f"CASE {' '.join(f'WHEN {value} = {key} THEN {code}' for key, code in cases)} ELSE {otherwise} END"


def _is_nan(value: str) -> str:
    """Return whether a float is NaN, through a list.

    DuckDB takes ``isnan`` of a Parquet column for false where the file states a least and a largest value, which are
    numbers even beside NaN (duckdb issue 25521).
    """
    return f"isnan([{value}][1])"


def _whole(numbers: dict[Decimal, int]) -> list[tuple[int, int]]:
    return sorted((int(k), c) for k, c in numbers.items() if k == k.to_integral_value() and abs(k) < 2**64)


def _look_up(value: str, keys: list[str], codes: list[int]) -> str:
    """Return the code of the key equal to a text; NULL where none is."""
    words = ", ".join(map(_text, keys))
    if len(keys) <= _MAX_LISTED:
        place = f"list_position([{words}], {value})"
    else:
        place = f"enum_code(TRY_CAST({value} AS ENUM({words}))) + 1"
    return f"[{', '.join(map(str, codes))}][{place}]"


def _integer(value: str, pairs: list[tuple[int, int]], other: int) -> str:
    """Return the code of an integer among sorted (key, code) pairs."""
    if not pairs:
        return str(other)
    keys, codes = [key for key, _ in pairs], [code for _, code in pairs]
    low, high = keys[0], keys[-1]
    if high - low + 1 == len(keys) and codes == list(range(len(keys))):
        offset = f"CAST({value} AS HUGEINT) - ({low})" if low else value
        return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN CAST({offset} AS UBIGINT) ELSE {other} END"
    if len(keys) <= _MAX_LISTED:
        return _choose(value, [(str(key), code) for key, code in pairs], str(other))
    return f"coalesce({_look_up(f'CAST({value} AS VARCHAR)', list(map(str, keys)), codes)}, {other})"


def _categorical(value: str, kind: str, column: Categorical) -> str:
    other = column.other_code
    if kind == "UHUGEINT":  # compared with a negative level it would be cast, and a value above 2^127 raise
        value = f"TRY_CAST({value} AS HUGEINT)"  # NULL there: levels lie within 64 bits
    if kind in _INTEGERS:
        return _integer(value, _whole(spelling.number_codes(column)), other)
    if kind in _FLOATS:
        pairs = spelling.float_codes(spelling.number_codes(column), _FLOATS[kind])
        cases = [(_double(key), code) for key, code in pairs]
        found = _choose(f"CAST({value} AS DOUBLE)", cases, str(other))
        return f"CASE WHEN {_is_nan(value)} THEN {other} ELSE {found} END"
    texts = spelling.text_codes(column)
    if kind == "BOOLEAN":
        truth = [(word, texts[word.title()]) for word in ("true", "false") if word.title() in texts]
        return _choose(value, truth, str(other))
    keys, codes = list(texts), list(texts.values())
    exact, bare = (
        _look_up(form, keys, codes) for form in (value, f"trim({value}, {_text(ASCII_WHITESPACE)})")
    )
    return f"coalesce({exact}, {bare}, {other})"


def _numeric(value: str, kind: str, column: Numeric) -> str:
    assert column.bins is not None
    assert column.other is not None
    cuts = np.array(column.bins, np.float64)
    other = int(np.searchsorted(cuts, column.other, side="right"))
    number = f"CAST({value} AS {'INTEGER' if kind == 'BOOLEAN' else 'DOUBLE'})"
    if len(cuts) <= _MAX_LISTED:
        steps = " + ".join(f"CAST({number} >= {_double(cut)} AS INTEGER)" for cut in cuts.tolist()) or "0"
    else:
        steps = f"len(list_filter([{', '.join(map(_double, cuts.tolist()))}], lambda cut: cut <= {number}))"
    missing = f"{value} IS NULL" if kind not in _FLOATS else f"{value} IS NULL OR {_is_nan(value)}"
    codes = {Decimal(code): 0 for code in column.missing}
    if missing_codes := [
        _double(key) for key, _ in spelling.float_codes(codes, _FLOATS.get(kind, np.float64))
    ]:
        missing = f"{missing} OR {number} IN ({', '.join(missing_codes)})"
    return f"CASE WHEN {missing} THEN {other} ELSE {steps} END"


def coding_expression(name: str, kind: str, column: Column) -> str:
    """Return an expression for the code of column ``name`` of DuckDB type ``kind``; it is never NULL.

    Raises ``InputError`` for a type that can't be coded in SQL.
    """
    value = _identifier(name)
    if kind == _UNTYPED:
        raise InputError(f'column "{name}" holds no type that can be counted in DuckDB')
    known = kind in _INTEGERS or kind in _FLOATS or kind == "BOOLEAN"
    if isinstance(column, Numeric):
        if not known:
            raise InputError(
                f'column "{name}" is declared numeric but stored as {kind}: read it with dc.read'
            )
        return _numeric(value, kind, column)
    if not known and kind != "VARCHAR":
        raise InputError(
            f'column "{name}" is stored as {kind}, which DuckDB can\'t code: read it with dc.read'
        )
    return _categorical(value, kind, column)
