"""SQL that codes a column as the schema says, inside DuckDB.

The same rules as ``dpcausal.data`` applies to Arrow arrays, for the types a table can push down: integers,
floats, booleans and text. One suite checks that both give the same codes. Types are public metadata, so a type
that can't be coded here is an error; values never are.

Counting in DuckDB: Parquet larger than memory, or a table of a DuckDB database, in one pass.

DuckDB codes every column as the schema says, packs a row into one or a few 64-bit keys and counts equal keys;
what comes back is distinct rows with counts, and from then on everything is local (``memory.py``). Where rows
hardly repeat, tables are counted in DuckDB instead: one scan per batch of requests, by grouping sets over
covering tables. Which of the two is taken decides only how long it takes.
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
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.planes import Covering
from dpcausal.counts.protocol import Jobs, Table, TableLayout
from dpcausal.counts.rows import Rows, processors
from dpcausal.counts.stream import stream
from dpcausal.data import spelling
from dpcausal.data.columns import Categorical, Column, Numeric
from dpcausal.data.read import read
from dpcausal.data.schema import Schema

if TYPE_CHECKING:
    import duckdb

_INTEGERS = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
    "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
}  # fmt: skip
_FLOATS: dict[str, type[np.floating[Any]]] = {"FLOAT": np.float32, "DOUBLE": np.float64}
_SPACE = " \t\n\v\f\r"
_NULLS = '"NULL"'
_LISTED = 32  # up to so many keys a linear search is faster than an ENUM's hash table


def quoted(name: str) -> str:
    """An identifier in SQL."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A string literal in SQL."""
    return "'" + value.replace("'", "''") + "'"


def double(value: float) -> str:
    """A float64 literal that reads back exactly."""
    return f"CAST({text(repr(value))} AS DOUBLE)"


def _choose(value: str, cases: list[tuple[str, int]], otherwise: str) -> str:
    """CASE over equal values."""
    if not cases:
        return otherwise
    return f"CASE {' '.join(f'WHEN {value} = {key} THEN {code}' for key, code in cases)} ELSE {otherwise} END"


def _is_nan(value: str) -> str:
    """Whether a float is NaN, by a detour: DuckDB takes ``isnan`` of a Parquet column for false where the file's own
    least and largest value are numbers, which they are beside NaN too (duckdb issue 25521)."""
    return f"isnan([{value}][1])"


def _whole(numbers: dict[Decimal, int]) -> list[tuple[int, int]]:
    return sorted((int(k), c) for k, c in numbers.items() if k == k.to_integral_value() and abs(k) < 2**64)


def _look_up(value: str, keys: list[str], codes: list[int]) -> str:
    """Code of the key equal to a text, NULL where none is."""
    words = ", ".join(map(text, keys))
    if len(keys) <= _LISTED:
        place = f"list_position([{words}], {value})"
    else:
        place = f"enum_code(TRY_CAST({value} AS ENUM({words}))) + 1"
    return f"[{', '.join(map(str, codes))}][{place}]"


def _integer(value: str, pairs: list[tuple[int, int]], other: int) -> str:
    """Code of an integer among sorted (key, code) pairs."""
    if not pairs:
        return str(other)
    keys, codes = [key for key, _ in pairs], [code for _, code in pairs]
    low, high = keys[0], keys[-1]
    if high - low + 1 == len(keys) and codes == list(range(len(keys))):
        offset = f"CAST({value} AS HUGEINT) - ({low})" if low else value
        return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN CAST({offset} AS UBIGINT) ELSE {other} END"
    if len(keys) <= _LISTED:
        return _choose(value, [(str(key), code) for key, code in pairs], str(other))
    return f"coalesce({_look_up(f'CAST({value} AS VARCHAR)', list(map(str, keys)), codes)}, {other})"


def _categorical(value: str, kind: str, column: Categorical) -> str:
    other = column.other_code
    if kind == "UHUGEINT":  # compared with a negative level it would be cast, and a value above 2^127 raise
        value = f"TRY_CAST({value} AS HUGEINT)"  # NULL there: levels lie within 64 bits
    if kind in _INTEGERS:
        return _integer(value, _whole(spelling.numbers(column)), other)
    if kind in _FLOATS:
        pairs = spelling.floats(spelling.numbers(column), _FLOATS[kind])
        cases = [(double(key), code) for key, code in pairs]
        found = _choose(f"CAST({value} AS DOUBLE)", cases, str(other))
        return f"CASE WHEN {_is_nan(value)} THEN {other} ELSE {found} END"
    claimed = spelling.texts(column)
    if kind == "BOOLEAN":
        truth = [(word, claimed[word.title()]) for word in ("true", "false") if word.title() in claimed]
        return _choose(value, truth, str(other))
    keys, codes = list(claimed), list(claimed.values())
    exact, bare = (_look_up(form, keys, codes) for form in (value, f"trim({value}, {text(_SPACE)})"))
    return f"coalesce({exact}, {bare}, {other})"


def _numeric(value: str, kind: str, column: Numeric) -> str:
    assert column.bins is not None
    assert column.other is not None
    cuts = np.array(column.bins, np.float64)
    other = int(np.searchsorted(cuts, column.other, side="right"))
    number = f"CAST({value} AS {'INTEGER' if kind == 'BOOLEAN' else 'DOUBLE'})"
    if len(cuts) <= _LISTED:
        steps = " + ".join(f"CAST({number} >= {double(cut)} AS INTEGER)" for cut in cuts.tolist()) or "0"
    else:
        steps = f"len(list_filter([{', '.join(map(double, cuts.tolist()))}], lambda cut: cut <= {number}))"
    missing = f"{value} IS NULL" if kind not in _FLOATS else f"{value} IS NULL OR {_is_nan(value)}"
    codes = {Decimal(code): 0 for code in column.missing}
    if gone := [double(key) for key, _ in spelling.floats(codes, _FLOATS.get(kind, np.float64))]:
        missing = f"{missing} OR {number} IN ({', '.join(gone)})"
    return f"CASE WHEN {missing} THEN {other} ELSE {steps} END"


def code_sql(name: str, kind: str, column: Column) -> str:
    """An expression for the code of column ``name`` of DuckDB type ``kind``; never NULL."""
    value = quoted(name)
    if kind == _NULLS:
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


TRIAL_ROWS = 1 << 22  # rows looked at to guess whether rows repeat
REPEATING = 0.5  # share of distinct rows in the trial below which compression is tried


class DuckDBCounts:
    """``Counts`` of a Parquet file (or several, by a glob) or of a table of an open DuckDB connection.

    ``memory_limit`` is DuckDB's own ("1GB"); it spills to disk above. ``threads`` defaults to the cores this
    process may use.
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
                self._connection.execute(f"SET memory_limit = {text(memory_limit)}")
            self._table = f"read_parquet({text(str(source))})"
        else:
            self._connection = connection.cursor()
            self._table = quoted(str(source))
        self._source = Path(source) if connection is None else None
        self._codes, self._n = self._describe(Path(source).name if connection is None else str(source))

    def _describe(self, source: str) -> tuple[dict[str, str], int]:
        """The coding expression of every declared column, and n; all from public metadata."""
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
        return {name: code_sql(name, kinds[name], column) for name, column in self._schema.items()}, n

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
        """Counts of the joint levels of ``columns``, one axis each in the order given."""
        return self.tables([columns])[0]

    def tables(self, requests: Sequence[Sequence[str]]) -> list[Table]:
        """One table per request."""
        import duckdb

        wanted = [self._layout.resolve(columns) for columns in requests]
        if not wanted:
            return []
        try:
            if self._local is None and not self._hardly_repeats():
                self._compress()
            if self._local is None:
                covering = Covering(Jobs.of(wanted, self._layout.sizes), self._layout.sizes, self._n)
                flat = covering.sum_down(self._scan(covering.covers), self._threads)
                return self._layout.tables(wanted, covering.requests.cells, flat)
        except duckdb.Error:
            pass
        return (self._local or self._read_instead()).tables(requests)

    def subsample(self, m: int, source: RandomBytes = random_bytes) -> MemoryCounts:
        """Counts of m rows drawn without replacement: a hypergeometric draw over the distinct rows."""
        return self.compress().subsample(m, source)

    def _read_instead(self) -> MemoryCounts:
        """The same counts by way of Arrow, for a file with cells that DuckDB refuses (text that is not UTF-8).

        DuckDB's error names the cell; nobody may see that it happened. A table of the user's own database has no
        other way to be read, and its error is one fixed sentence.
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
        """Distinct rows with counts, held in memory: one GROUP BY over packed keys."""
        import duckdb

        try:
            return self._compress()
        except duckdb.Error:
            pass
        return self._read_instead()  # outside the except block: no trace of DuckDB's error

    def _compress(self) -> MemoryCounts:
        if self._local is None:
            words: list[list[str]] = [[] for _ in range(self._keys.words)]
            for c, name in enumerate(self._layout.names):
                words[self._keys.word[c]].append(
                    f"(CAST({self._codes[name]} AS UBIGINT) << {self._keys.shift[c]})"
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

    def _hardly_repeats(self) -> bool:
        """Whether, by a trial on the first rows, most rows are distinct. Internal: decides only the time taken."""
        if self._scan_only is None:
            columns = ", ".join(f"{sql} AS c{c}" for c, sql in enumerate(self._codes.values()))
            names = ", ".join(f"c{c}" for c in range(len(self._codes)))
            trial = f"SELECT {columns} FROM (SELECT * FROM {self._table} LIMIT {TRIAL_ROWS})"
            found = self._run(f"SELECT count(*) FROM (SELECT DISTINCT {names} FROM ({trial}))").fetchall()[0][
                0
            ]
            self._scan_only = found > REPEATING * min(self._n, TRIAL_ROWS) and self._n > TRIAL_ROWS
        return self._scan_only

    def _scan(self, jobs: Jobs) -> Table:
        """Flat tables of all jobs in one scan, by grouping sets."""
        names, sizes = self._layout.names, self._layout.shape
        inner = [f"{self._codes[name]} AS c{c}" for c, name in enumerate(names)]
        codes = []
        for columns in jobs.pick(range(len(jobs))):
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
