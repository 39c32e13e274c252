"""Counting in DuckDB: files larger than memory, or a table of a DuckDB database, in one pass.

A file is read and coded as ``dc.read`` does it, and DuckDB sees codes only. A table of a database is coded in SQL as
the schema says. A row is packed into one or a few 64-bit keys and equal keys are counted: by DuckDB, or, where a file's
rows fit in one key each, as the file is read (``stream.py``). From then on everything is local. Where rows hardly
repeat, tables are counted in DuckDB instead: one scan per batch of requests, by grouping sets over covering tables. The
choice decides only how long it takes: the same progress is shown either way.

**Guarantee.** The codes are those of ``dc.read``. A file is read in one way, which no cell can change: DuckDB never
opens it, so none of its own rules apply (text that is not UTF-8, half-floats, marks of a glob in a name, folders named
like a column). Of a table of a database, integers, floats, booleans and text are coded in SQL; where a column is
decimal, a date, a time, an enumeration, or numbers as text, the rows pass by and the coders of ``dc.read`` code it.
Types are public metadata, so one that can't be coded is an error; values never are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from glob import glob, has_magic
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from dpcausal.core.entropy import RandomBytes, random_bytes
from dpcausal.core.errors import EngineError, InputError, SchemaError, did_you_mean
from dpcausal.core.progress import Stage, Tick, unseen
from dpcausal.core.progress import silent as silent_stage
from dpcausal.core.redact import file_name
from dpcausal.counts.compress import KeyLayout
from dpcausal.counts.feature_sums import Batch, BatchRows, Cells, Shortening, Sums
from dpcausal.counts.memory import Covering, MemoryCounts
from dpcausal.counts.protocol import Ints, Jobs, Table, TableLayout
from dpcausal.counts.rows import Rows, processors
from dpcausal.counts.stored import READS_FILES, quoted, reads_stored_tables, table_identifier
from dpcausal.counts.stream import compress_stream
from dpcausal.data import spelling
from dpcausal.data.coding import Coder, check_type, code_type
from dpcausal.data.columns import ASCII_WHITESPACE, Categorical, Column, Numeric
from dpcausal.data.read import coded_chunks, coded_partitions, open_checked
from dpcausal.data.schema import Schema

if TYPE_CHECKING:
    import duckdb

Found = TypeVar("Found")
Rowwise = TypeVar("Rowwise", bound=Mapping[str, Any])

BATCH_ROWS = 1 << 16  # rows that pass by at once where features are summed
TRIAL_ROWS = 1 << 18  # first rows that are looked at to guess whether rows repeat
MANY_ROWS = 1 << 22  # fewer are compressed without a trial
MAX_DISTINCT_SHARE = 0.25  # distinct rows expected among MANY_ROWS up to which compression is tried


class DuckDBCounts:
    """``Counts`` of a file, or several, or of a table of an open DuckDB connection.

    **Guarantee.** The tables are those of the same rows read by ``dc.read``. Errors depend on names, types and whether
    there is a row at all, never on a value.

    Parameters
    ----------
    source : path or str
        A file that ``dc.read`` takes, best a Parquet file, or a glob of several: where a file has exactly this name it
        is that file, whatever marks the name holds. With ``connection`` the name of a table or view.
    schema : Schema
        The declared columns.
    connection : duckdb.DuckDBPyConnection, optional
        The database that holds the table.
    memory_limit : str, optional
        DuckDB's own, such as ``"1GB"``; above it DuckDB spills to disk.
    threads : int, optional
        At most so many; the cores that this process may use unless given.
    count : bool, default True
        Whether rows are counted at once; else when their number is first asked for.

    Raises
    ------
    SchemaError
        If a declared column is missing, or has a type that can't be coded as declared.
    InputError
        If the source can't be read, it has no rows, or a type can't be coded.

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
        count: bool = True,
    ) -> None:
        import duckdb

        self._schema, self._layout = schema, TableLayout(schema)
        self._threads = threads or processors()
        self._keys = KeyLayout(self._layout.sizes)
        self._local: MemoryCounts | None = None
        self._scan_only: bool | None = None
        self._places: dict[str, tuple[Ints, Ints]] = {}
        self._numbers: dict[str, str] = {}  # of a table of a database
        self._files: CodedFiles | CodedTable | None = None
        self._label, self._n = str(source), 0
        self.stage: Stage = silent_stage
        self._showed = False
        if connection is None:
            self._connection = duckdb.connect(config={"threads": self._threads})
            if memory_limit:
                self._connection.execute(f"SET memory_limit = {_text(memory_limit)}")
            self._files = CodedFiles(source, schema, self._threads)
            self._table = self._files.table
            self._coding = self._files.coding
        else:
            self._connection = connection.cursor()
            self._stored = self._table = ""
            self._coding = self._describe(connection)
        if count:
            _ = self.n

    def _describe(self, connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
        """Return the coding expression of every declared column of a table."""
        kinds = self._kinds()
        for name in self._schema:
            if name not in kinds:
                raise SchemaError(f'{self._label} has no column "{name}"{did_you_mean(name, kinds)}')
        in_sql = {
            name: column
            for name, column in self._schema.items()
            if codes_in_sql(kinds[name], column) or not _BY_CODER.fullmatch(kinds[name])
        }
        coding = {name: coding_expression(name, kinds[name], column) for name, column in in_sql.items()}
        self._numbers = {
            name: number_expression(name, kinds[name], column)
            for name, column in in_sql.items()
            if isinstance(column, Numeric)
        }
        if len(coding) == len(self._schema):
            return coding
        self._files = CodedTable(
            connection.cursor(), self._stored, self._label, self._schema, coding, self._numbers
        )
        self._table = self._files.table
        return self._files.coding

    def _kinds(self) -> dict[str, str]:
        """Return the types of the columns of the table of this name, or of ``schema.name``."""
        import duckdb

        try:
            found = table_identifier(self._connection, self._label)
        except duckdb.Error:
            found = None
        if found is None:
            raise self._unreadable()
        if not reads_stored_tables(self._connection, f"SELECT * FROM {found}"):
            raise InputError(f"{self._label} {READS_FILES}")
        self._stored = self._table = found
        described = self._connection.execute(f"DESCRIBE SELECT * FROM {found}").fetchall()
        return {column: str(kind) for column, kind, *_ in described}

    def _unreadable(self) -> InputError:
        return InputError(f"{self._label} can't be read by DuckDB: no such table, or it is damaged")

    def _count(self) -> int:
        import duckdb

        if isinstance(self._files, CodedFiles):
            return self._files.count_rows()
        try:
            found = self._connection.execute(f"SELECT count(*) FROM {self._stored}").fetchall()
        except duckdb.Error:
            found = []
        if not found:
            raise self._unreadable()
        if not found[0][0]:
            raise InputError(f"{self._label} has no rows")
        return int(found[0][0])

    def _run(self, sql: str, tick: Tick = unseen) -> Any:
        """Return the columns that a query gives, by name; the share of rows that passed by goes to ``tick``."""
        readers = {} if self._files is None else self._files.readers(self._parts(tick))
        try:
            for name, reader in readers.items():
                self._connection.register(name, reader)
            return self._connection.execute(sql).fetchnumpy()
        finally:
            for name in readers:
                self._connection.unregister(name)

    @property
    def schema(self) -> Schema:
        """Declared columns."""
        return self._schema

    @property
    def engine(self) -> str:
        """The engine's name."""
        return "DuckDB"

    @property
    def remote(self) -> bool:
        """Whether someone else may operate the engine: it runs within this process."""
        return False

    @property
    def n(self) -> int:
        """Number of rows."""
        if not self._n:
            self._n = self._count()
        return self._n

    def __repr__(self) -> str:
        return f"DuckDBCounts(n={self.n}, columns={list(self._layout.names)})"

    def table(self, columns: Sequence[str]) -> Table:
        """Count the joint levels of ``columns``, one axis each in the order given."""
        return self.tables([columns])[0]

    def tables(self, requests: Sequence[Sequence[str]]) -> list[Table]:
        """Return one table per request, in one scan at most."""
        import duckdb

        wanted = [self._layout.resolve(columns) for columns in requests]
        if not wanted:
            return []
        if self._local is not None:
            return self._local.tables(requests)
        try:
            with self._first_pass() as tick:
                if not self._mostly_distinct():
                    return self._compress(tick).tables(requests)
                covering = Covering(Jobs.of(wanted, self._layout.sizes), self._layout.sizes, self.n)
                flat = covering.sum_down(self._scan(covering.covers, tick), self._threads)
                return self._layout.tables(wanted, covering.requests.cells, flat)
        except duckdb.Error:
            pass
        raise self._error()  # outside the except block: no trace of DuckDB's error

    def subsample(self, m: int, source: RandomBytes = random_bytes) -> MemoryCounts:
        """Draw m rows without replacement: a hypergeometric draw over the distinct rows."""
        return self.compress().subsample(m, source)

    def _error(self) -> InputError:
        """Return what to raise where DuckDB failed: one fixed sentence, since its own error names cells."""
        if not isinstance(self._files, CodedFiles):
            return InputError("DuckDB could not evaluate the table: check the view or cast behind it")
        return self._files.fault or InputError(
            "DuckDB could not count the rows: is there memory and disk for it?"
        )

    def compress(self) -> MemoryCounts:
        """Return the distinct rows with their counts, held in memory: one GROUP BY over packed keys."""
        import duckdb

        if self._local is not None:
            return self._local
        try:
            with self._first_pass() as tick:
                return self._compress(tick)
        except duckdb.Error:
            pass
        raise self._error()  # outside the except block: no trace of DuckDB's error

    @contextmanager
    def _first_pass(self) -> Iterator[Tick]:
        """Show the first pass over the rows, the same in whichever way they are counted; further ones show nothing.

        Whether there are further ones follows from how many of the first rows are distinct.
        """
        shown = silent_stage if self._showed else self.stage
        self._showed = True
        with shown(f"reading {file_name(self._label)}", None if self._files is None else 1.0) as tick:
            yield tick

    def _parts(self, tick: Tick) -> list[Iterator[dict[str, Any]]]:
        """Return the parts of rows that pass by, and tell the share of rows that did."""
        assert self._files is not None
        return [_ticked(part, tick, self.n) for part in self._files.parts()]

    def _compress(self, tick: Tick) -> MemoryCounts:
        if self._files is not None and self._keys.fits:
            rows = compress_stream(self._parts(tick), self._layout)  # half the work of a GROUP BY on codes
        else:
            found = self._run(self._distinct_sql(), tick)
            words = range(self._keys.words)
            codes = self._keys.unpack(*(found[f"key{i}"].astype(np.uint64) for i in words))
            rows = Rows(codes, self._layout.sizes, found["weight"].astype(np.int64))
        self._local = MemoryCounts(rows, self._schema, threads=self._threads)
        self._refuse_changed(self._local.n)
        return self._local

    def _refuse_changed(self, rows: int) -> None:
        """Refuse where a file or table was changed since its rows were counted; privacy does not rest on this."""
        if rows != self.n:
            self._local = None
            raise EngineError(f"{file_name(self._label)} was changed while it was counted: run it again")

    def _distinct_sql(self) -> str:
        """Return the query for distinct rows: packed keys, and how many rows have them."""
        words: list[list[str]] = [[] for _ in range(self._keys.words)]
        for c, name in enumerate(self._layout.names):
            place = f"(CAST({self._coding[name]} AS UBIGINT) << {self._keys.shift[c]})"
            words[self._keys.word[c]].append(place)
        keys = ", ".join(f"{' | '.join(parts)} AS key{i}" for i, parts in enumerate(words))
        names = ", ".join(f"key{i}" for i in range(len(words)))
        return f"SELECT {names}, count(*) AS weight FROM (SELECT {keys} FROM {self._table}) GROUP BY {names}"

    def explain(self, requests: Sequence[Sequence[str]] | None = None) -> str:
        """Return the SQL that distinct rows are counted by, without running it.

        Parameters
        ----------
        requests : sequence of sequences of str, optional
            Tables that are asked for; distinct rows answer all of them.
        """
        del requests
        coded = "" if self._files is None else self._files.explained()
        return f"{self.explain_count()}\n\n{coded}-- distinct rows\n{self._distinct_sql()};"

    def explain_count(self) -> str:
        """Return the SQL that asks how many rows there are, without running it."""
        if isinstance(self._files, CodedFiles):
            return "-- how many rows there are: as the file states, or counted as it is read"
        return f"-- how many rows there are\nSELECT count(*) FROM {self._stored};"

    def explain_features(self, columns: Mapping[str, Cells], limits: Ints, short: Shortening) -> str:
        """Return the SQL that hands out codes and numbers, of which only counts and sums are kept."""
        del columns, limits, short
        if isinstance(self._files, CodedFiles):
            return "-- DuckDB is not asked: the file is read in batches, and only counts and sums are kept"
        sql = self._batches_sql() if self._files is None else self._files.values_sql()
        return f"-- rows pass by in batches, and only counts and sums are kept\n{sql};"

    @property
    def table_bytes(self) -> int | None:
        """How many bytes the files have; None for a table of a database."""
        return self._files.size if isinstance(self._files, CodedFiles) else None

    # ---- features of numbers: rows pass by in batches, and only sums are kept

    def place_counts(self, name: str) -> tuple[Ints, Ints]:
        """Return the places of a numeric column where rows are, and how many are at each."""
        if not self._places:
            names = [x for x, column in self._schema.items() if isinstance(column, Numeric)]
            self._places = self._in_batches(lambda rows: rows.all_place_counts(names))
        return self._places[name]

    def length_counts(self, columns: Mapping[str, Cells], limits: Ints) -> Ints:
        """Return how many rows have a squared length of at most each of these increasing numbers."""
        return self._in_batches(lambda rows: rows.length_counts(columns, limits))

    def feature_sums(self, columns: Mapping[str, Cells], short: Shortening) -> Sums:
        """Return the sums over all rows."""
        found = self._in_batches(lambda rows: rows.feature_sums(columns, short))
        self._refuse_changed(found.rows)
        return found

    def _in_batches(self, count: Callable[[BatchRows], Found]) -> Found:
        import duckdb

        read = self._batches if self._files is None else self._files.values
        try:
            with self.stage(f"reading {file_name(self._label)}", 1.0) as tick:
                return count(BatchRows(self._schema, self.n, _Again(lambda: _ticked(read(), tick, self.n))))
        except duckdb.Error:
            pass
        raise self._error()  # outside the except block: no trace of DuckDB's error

    def _batches(self) -> Iterator[Batch]:
        """Return codes, and the numbers of numeric columns, of some rows at a time."""
        rows = self._connection.sql(self._batches_sql())
        for batch in rows.to_arrow_reader(BATCH_ROWS):
            yield {name: batch.column(c).to_numpy() for c, name in enumerate(self._coding)}

    def _batches_sql(self) -> str:
        parts = ", ".join(
            f"{self._numbers.get(name, code)} AS c{c}" for c, (name, code) in enumerate(self._coding.items())
        )
        return f"SELECT {parts} FROM {self._table}"

    def _mostly_distinct(self) -> bool:
        """Return whether most of the first rows are distinct; it decides only how long counting takes."""
        if self._scan_only is None and self.n <= MANY_ROWS:
            self._scan_only = False
        if self._scan_only is None:
            columns = ", ".join(f"{sql} AS c{c}" for c, sql in enumerate(self._coding.values()))
            names = ", ".join(f"c{c}" for c in range(len(self._coding)))
            trial = f"SELECT {columns} FROM (SELECT * FROM {self._table} LIMIT {TRIAL_ROWS})"
            found = self._run(f"SELECT count(*) AS n FROM (SELECT DISTINCT {names} FROM ({trial}))")["n"][0]
            self._scan_only = expected_distinct(int(found)) > MAX_DISTINCT_SHARE * MANY_ROWS
        return self._scan_only

    def _scan(self, jobs: Jobs, tick: Tick) -> Table:
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
            f" FROM ({coded}) GROUP BY GROUPING SETS ({sets})",
            tick,
        )
        out, weight = np.zeros(int(jobs.cells[-1]), np.int64), np.asarray(found["weight"], np.int64)
        for j in range(len(codes)):
            key = np.ma.masked_array(found[f"k{j}"])
            here = ~np.ma.getmaskarray(key)
            out[int(jobs.cells[j]) + key.data[here].astype(np.int64)] = weight[here]
        self._refuse_changed(int(out[: int(jobs.cells[1])].sum()))
        return out


def expected_distinct(found: int) -> float:
    """Return how many distinct rows MANY_ROWS have, if TRIAL_ROWS have ``found`` and all are equally common.

    D equally common rows show D (1 - exp(-t/D)) distinct ones in t draws; D is found by bisection. Where some are
    commoner than others there are more: the share that is allowed leaves room for it.

    >>> round(expected_distinct(1000)), round(expected_distinct(TRIAL_ROWS) / MANY_ROWS, 2)
    (1000, 1.0)
    """
    low, high = float(found), 1e12
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if -middle * math.expm1(-TRIAL_ROWS / middle) > found else (middle, high)
    return -low * math.expm1(-MANY_ROWS / low)


def _ticked(batches: Iterable[Rowwise], tick: Tick, rows: int) -> Iterator[Rowwise]:
    """Return the batches; the share of rows that went by is told: a share, so that no number of rows shows."""
    for batch in batches:
        yield batch
        tick(len(next(iter(batch.values()))) / rows)


class _Again:
    """Batches that are read anew each time."""

    def __init__(self, read: Callable[[], Iterator[Batch]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[Batch]:
        return self._read()


# ---- files, coded as they are read


def find_files(source: str | Path) -> list[Path]:
    """Return the file of this name; where there is none, the files that match it as a glob, in the order of names.

    >>> find_files("patients.parquet")
    [PosixPath('patients.parquet')]
    """
    path = Path(source)
    if path.exists() or not has_magic(str(source)):
        return [path]
    found = [Path(name) for name in sorted(glob(str(source), recursive=True)) if Path(name).is_file()]
    if not found:
        raise InputError(f"{path.name}: no such file")
    return found


class CodedRows:
    """Rows that DuckDB gets as codes, in parts side by side.

    Attributes
    ----------
    coding : dict
        For every column, the name of its codes in ``table``.
    table : str
        All parts in SQL.
    fault : InputError or None
        The error that ended a scan: a file that is damaged half way.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.coding = {name: f"code{c}" for c, name in enumerate(schema)}
        self.fault: InputError | None = None
        parts = len(self.parts())
        self.table = f"({' UNION ALL '.join(f'SELECT * FROM dpcausal_part{i}' for i in range(parts))})"

    def parts(self) -> list[Iterator[dict[str, Any]]]:
        """Return iterators over coded rows, to be run side by side, each row in one of them."""
        raise NotImplementedError

    def readers(self, parts: Iterable[Iterator[dict[str, Any]]]) -> dict[str, pa.RecordBatchReader]:
        """Return a reader of every part, which is read once."""
        self.fault = None
        types = [pa.from_numpy_dtype(code_type(column.size)) for column in self._schema.values()]
        schema = pa.schema(list(zip(self.coding.values(), types, strict=True)))
        return {
            f"dpcausal_part{i}": pa.RecordBatchReader.from_batches(schema, self._batches(part, schema))
            for i, part in enumerate(parts)
        }

    def _batches(self, part: Iterator[dict[str, Any]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        try:
            for batch in part:
                yield pa.RecordBatch.from_arrays(
                    [pa.array(batch[name]) for name in self.coding], schema=schema
                )
        except InputError as error:
            self.fault = error
            raise


class CodedFiles(CodedRows):
    """Files whose rows DuckDB gets as codes: read and coded as ``dc.read`` does it.

    Attributes
    ----------
    size : int
        Bytes of all files.
    """

    def __init__(self, source: str | Path, schema: Schema, threads: int) -> None:
        self._threads = threads
        self._sources = [open_checked(path, schema) for path in find_files(source)]
        self._label = Path(source).name
        self.size = sum(path.stat().st_size for path in find_files(source))
        super().__init__(schema)

    def parts(self) -> list[Iterator[dict[str, Any]]]:
        """Return iterators over coded rows, to be run side by side, each row in one of them."""
        parts: list[list[Iterator[dict[str, Any]]]] = [[] for _ in range(self._threads)]
        for source in self._sources:
            for i, part in enumerate(coded_partitions(source, self._schema, self._threads)):
                parts[i].append(part)
        return [chain.from_iterable(part) for part in parts if part]

    def values(self) -> Iterator[Batch]:
        """Return codes, and the numbers of numeric columns, of some rows at a time."""
        self.fault = None
        for source in self._sources:
            for chunk in coded_chunks(source, self._schema, list(self._schema)):
                yield {name: one.codes if one.values is None else one.values for name, one in chunk.items()}

    def count_rows(self) -> int:
        """Return the number of rows; raise ``InputError`` where there are none."""
        stated = [source.rows for source in self._sources]
        known = [rows for rows in stated if rows is not None]
        if len(known) < len(stated):
            known = [len(next(iter(batch.values()))) for batch in chain.from_iterable(self.parts())]
        if not sum(known):
            raise InputError(f"{self._label} has no rows")
        return sum(known)

    @staticmethod
    def explained() -> str:
        """Return what is said above the SQL."""
        return "-- DuckDB reads no file: it is handed codes, made as dc.read does\n"


class CodedTable(CodedRows):
    """A table of a DuckDB database with columns that SQL does not code: they pass by, and ``dc.read``'s coders do it.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Of its own: rows are read while other queries run.
    stored, label : str
        The table in SQL, and what errors call it.
    schema : Schema
        The declared columns.
    coding, numbers : dict
        Expressions of the columns that are coded in SQL, and of their numbers.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        stored: str,
        label: str,
        schema: Schema,
        coding: Mapping[str, str],
        numbers: Mapping[str, str],
    ) -> None:
        self._connection, self._stored, self._in_sql, self._numbers = connection, stored, coding, numbers
        self._coders = {name: Coder(column) for name, column in schema.items() if name not in coding}
        types = connection.sql(self._sql(schema, coding) + " LIMIT 0").to_arrow_reader(1).schema.types
        for (name, column), type_ in zip(schema.items(), types, strict=True):
            if name in self._coders:
                check_type(name, type_, column, label)
        super().__init__(schema)

    def _sql(self, schema: Schema, coding: Mapping[str, str]) -> str:
        """Return the query that hands out codes, and cells of the other columns as they are."""
        parts = (f"{coding.get(name, quoted(name))} AS c{c}" for c, name in enumerate(schema))
        return f"SELECT {', '.join(parts)} FROM {self._stored}"

    def values_sql(self) -> str:
        """Return the query of ``values``."""
        return self._sql(self._schema, {**self._in_sql, **self._numbers})

    def explained(self) -> str:
        """Return what is said above the SQL."""
        sql = self._sql(self._schema, self._in_sql)
        return f"-- rows pass by within this process; what SQL does not code is coded as dc.read does\n{sql};\n\n"

    def _rows(self, sql: str) -> Iterator[dict[str, pa.Array]]:
        for batch in self._connection.cursor().sql(sql).to_arrow_reader(BATCH_ROWS):
            yield {name: batch.column(c) for c, name in enumerate(self._schema)}

    def parts(self) -> list[Iterator[dict[str, Any]]]:
        """Return one iterator over coded rows."""

        def coded() -> Iterator[dict[str, Any]]:
            types = {name: code_type(column.size) for name, column in self._schema.items()}
            for cells in self._rows(self._sql(self._schema, self._in_sql)):
                yield {
                    name: self._coders[name].code(cells[name]).codes
                    if name in self._coders
                    else cells[name].to_numpy().astype(types[name])
                    for name in self._schema
                }

        return [coded()]

    def values(self) -> Iterator[Batch]:
        """Return codes, and the numbers of numeric columns, of some rows at a time."""
        for cells in self._rows(self.values_sql()):
            batch: dict[str, Any] = {}
            for name, array in cells.items():
                found = self._coders[name].code(array) if name in self._coders else None
                batch[name] = (
                    array.to_numpy()
                    if found is None
                    else found.codes
                    if found.values is None
                    else found.values
                )
            yield batch


# ---- coding in SQL

_INTEGERS = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
    "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
}  # fmt: skip
_FLOATS: dict[str, type[np.floating[Any]]] = {"FLOAT": np.float32, "DOUBLE": np.float64}
_BY_CODER = re.compile(
    r"VARCHAR|DECIMAL\(.*\)|DATE|TIME|TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?|ENUM\(.*\)", re.DOTALL
)  # what the coders of dc.read take as DuckDB hands it out
_UNTYPED = '"NULL"'  # the type that DuckDB gives to a column without one
_MAX_LISTED = 32  # keys up to which a linear search is faster than the hash table of an ENUM


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
    bare = f"trim({value}, {_text(ASCII_WHITESPACE)})"
    ways = [_look_up(form, keys, codes) for form in (value, bare)]
    if numbers := spelling.number_text_codes(column):
        written = f"CASE WHEN regexp_full_match({bare}, {_text(spelling.NUMBER_TEXT)}) THEN {bare} END"
        cases = [(_double(key), code) for key, code in numbers.items()]
        ways.append(_choose(f"TRY_CAST({written} AS DOUBLE)", cases, "NULL"))
    return f"coalesce({', '.join(ways)}, {other})"


def _numeric(value: str, kind: str, column: Numeric) -> str:
    assert column.bins is not None
    cuts = np.array(column.bins, np.float64)
    number, missing = _number(value, kind, column)
    if len(cuts) <= _MAX_LISTED:
        steps = " + ".join(f"CAST({number} >= {_double(cut)} AS INTEGER)" for cut in cuts.tolist()) or "0"
    else:
        steps = f"len(list_filter([{', '.join(map(_double, cuts.tolist()))}], lambda cut: cut <= {number}))"
    return f"CASE WHEN {missing} THEN {column.other_code} ELSE {steps} END"


def _number(value: str, kind: str, column: Numeric) -> tuple[str, str]:
    """Return a numeric cell as it is, and whether it is missing."""
    number = f"CAST({value} AS {'INTEGER' if kind == 'BOOLEAN' else 'DOUBLE'})"
    missing = f"{value} IS NULL" if kind not in _FLOATS else f"{value} IS NULL OR {_is_nan(value)}"
    codes = {Decimal(code): 0 for code in column.missing}
    if missing_codes := [
        _double(key) for key, _ in spelling.float_codes(codes, _FLOATS.get(kind, np.float64))
    ]:
        missing = f"{missing} OR {number} IN ({', '.join(missing_codes)})"
    return number, missing


def number_expression(name: str, kind: str, column: Numeric) -> str:
    """Return an expression for the number of a numeric cell within its bounds; ``coding_expression`` took the type."""
    assert column.other is not None
    number, missing = _number(quoted(name), kind, column)
    lower, upper = _double(column.lower), _double(column.upper)
    within = f"least(greatest(CAST({number} AS DOUBLE), {lower}), {upper})"
    return f"CASE WHEN {missing} THEN {_double(column.other)} ELSE {within} END"


def codes_in_sql(kind: str, column: Column) -> bool:
    """Return whether cells of a DuckDB type are coded in SQL."""
    known = kind in _INTEGERS or kind in _FLOATS or kind == "BOOLEAN"
    return known or (kind == "VARCHAR" and isinstance(column, Categorical))


def coding_expression(name: str, kind: str, column: Column) -> str:
    """Return an expression for the code of column ``name`` of DuckDB type ``kind``; it is never NULL.

    Raises ``InputError`` for a type that can't be coded in SQL, ``SchemaError`` for one that ``dc.read`` refuses.
    """
    value = quoted(name)
    if kind == _UNTYPED:
        raise InputError(f'column "{name}" holds no type that can be counted in DuckDB')
    if not codes_in_sql(kind, column):
        raise InputError(
            f'column "{name}" is stored as {kind}, which can\'t be coded: store it otherwise (a view will do)'
        )
    if kind != "VARCHAR":  # what dc.read refuses, by kinds of types
        type_ = pa.bool_() if kind == "BOOLEAN" else pa.float64() if kind in _FLOATS else pa.int64()
        check_type(name, type_, column, "the table")
    return _numeric(value, kind, column) if isinstance(column, Numeric) else _categorical(value, kind, column)
