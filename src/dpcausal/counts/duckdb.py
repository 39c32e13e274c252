"""Counting in DuckDB: Parquet larger than memory, or a table of a DuckDB database, in one pass.

DuckDB codes every column as the schema says, packs a row into one or a few 64-bit keys and counts equal keys;
what comes back is distinct rows with counts, and from then on everything is local (``memory.py``). Where rows
hardly repeat, tables are counted in DuckDB instead: one scan per batch of requests, by grouping sets over
covering tables. Which of the two is taken decides only how long it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcausal.core.entropy import RandomBytes, random_bytes
from dpcausal.core.errors import InputError, SchemaError, did_you_mean
from dpcausal.counts.compress import KeyLayout
from dpcausal.counts.covering import Covering
from dpcausal.counts.duckdb_sql import code_sql, quoted, text
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.protocol import Table
from dpcausal.counts.requests import Jobs, Layout
from dpcausal.counts.rows import Rows, processors
from dpcausal.counts.stream import stream
from dpcausal.data.read import read
from dpcausal.data.schema import Schema

if TYPE_CHECKING:
    import duckdb

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

        self._schema, self._layout = schema, Layout(schema)
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
