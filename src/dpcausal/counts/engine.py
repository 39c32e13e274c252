"""Counting on an engine that Ibis writes SQL for: Spark, PostgreSQL, BigQuery, Snowflake, Trino, DuckDB.

A row is coded where it lies (``expressions.py``), its codes are packed into keys of at most 63 bits by multiplication
and addition, and the engine groups by the keys. What travels are distinct rows with their counts; from then on
everything is local, exact subsampling included. If that many rows might not fit in memory, the tables that are asked
for are counted instead: a few covering tables, one GROUP BY each, summed down here.

**Guarantee.** Which queries are sent follows from declared cells, the number of rows, a memory limit and the tables
that are asked for, which follow from what was released. Only the engine sees them, which has the rows; progress shows
them only where the number of rows is public. No query holds a value of a row. No error holds one either: an engine's
own words are dropped.

**Consistency.** Every answer must add up to the number of rows, every column must have the same margin in every answer,
and the columns must have the types that they had at first. Otherwise the table was changed in between, and the run is
refused. Privacy does not rest on this.

**Faults.** Where the engine stops answering, the connection is made anew and the query sent again, up to
``len(RETRY_SECONDS)`` times. A query is sent before its noise is drawn, so a repeat charges nothing and draws nothing.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.entropy import RandomBytes, random_bytes
from dpcausal.core.errors import EngineError, InputError
from dpcausal.core.statement import CountedByEngine
from dpcausal.counts.compress import KeyLayout
from dpcausal.counts.covering import Covering
from dpcausal.counts.expressions import Dialect, code_expression
from dpcausal.counts.feature_queries import FeatureQueries, one_by_one
from dpcausal.counts.feature_sums import Cells, Shortening, Sums
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.person_rows import KEY_BYTES, person_rows, unit_types
from dpcausal.counts.protocol import Ints, Jobs, LaidOutCounts, Table
from dpcausal.counts.rows import Rows, memory_share, processors
from dpcausal.data.columns import Numeric
from dpcausal.data.person_unit import warn_of_ids
from dpcausal.data.schema import Schema
from dpcausal.data.sources import require_columns

if TYPE_CHECKING:
    from ibis.expr import types as ir

KEY_BITS = 63  # most engines have no unsigned 64-bit integers
BYTES_PER_ROW = 3 * 8  # of a distinct row while it is unpacked, beside its codes and further keys
COVER_CELLS = 1 << 16  # cells of a covering table: what travels for one GROUP BY, at most
RETRY_SECONDS = (1.0, 4.0, 10.0)  # waited before a query is sent again
NO_WORKER_SECONDS = 120.0  # waited for a worker of a Spark cluster that has lost all of them
BATCH_ROWS = 1 << 20


class TableChanged(EngineError):
    """A table that is not what it was at the query before."""


class NoWorkers(EngineError):
    """A cluster without anybody to do the work."""


@dataclass(frozen=True)
class EngineTable:
    """A table on an engine, and how to reach it again."""

    engine: str  # the engine's name, for people
    label: str  # what errors call the table; it holds no credentials
    dialect: Dialect  # what expressions must know of the engine
    open: Callable[[], ir.Table]  # returns the table, on a new connection where the old one is lost
    remote: bool = True  # whether someone else may operate the engine
    size: Callable[[], int | None] = lambda: None  # bytes of the table, None where unknown


class EngineCounts(LaidOutCounts):
    """``Counts`` of a table on an engine; ``dc.connect`` makes it.

    Distinct rows take at most ``memory_limit`` bytes here, a quarter of this machine's memory unless given. Raises
    ``SchemaError`` if a declared column is missing or a numeric one holds no numbers, ``InputError`` for a type that
    can't be coded on an engine, ``EngineError`` if the engine does not answer.
    """

    def __init__(
        self,
        source: EngineTable,
        schema: Schema,
        *,
        memory_limit: int | None = None,
        threads: int | None = None,
        key: str | None = None,
        entries: int = 1,
    ) -> None:
        super().__init__(schema)
        self.several: EngineCounts | None = None
        self._source, self.counted_by = source, CountedByEngine(source.engine, source.remote)
        self._threads = threads or processors()
        self._memory = memory_share() if memory_limit is None else memory_limit
        self._keys = KeyLayout(self._layout.sizes, KEY_BITS)
        self._n: int | None = None
        self._local: MemoryCounts | None = None
        self._covers: dict[tuple[int, ...], Table] = {}
        self._margins: dict[int, Table] = {}
        self._table: ir.Table | None = None
        self._types: Any = None
        self._codes: dict[str, ir.Value] = {}  # of every declared column, over the table
        if key is None and schema.unit is not None:
            key = random_bytes(KEY_BYTES).hex()
        self._key, self._entries = key or "", entries  # by which rows of a person are chosen, and how many
        if schema.unit is not None and schema.unit.rows > entries:
            self.several = EngineCounts(
                source,
                schema,
                memory_limit=memory_limit,
                threads=threads,
                key=self._key,
                entries=schema.unit.rows,
            )
        self._open()
        if entries == 1:
            warn_of_ids(self._source.open().columns, schema.unit, source.label, stacklevel=4)

    def with_bins(self, name: str, bins: Sequence[float]) -> EngineCounts:
        """Return the counts of the same rows with other cut points of a numeric column."""
        found = copy(self)
        LaidOutCounts.__init__(found, self._schema.with_bins(name, bins))
        found._keys = KeyLayout(found._layout.sizes, KEY_BITS)
        found._local, found._covers, found._margins, found._table = None, {}, {}, None
        found.several = None if self.several is None else self.several.with_bins(name, bins)
        found._open()
        return found

    # ---- the table and its coding

    def _open(self) -> ir.Table:
        """Return the table on a live connection, with the types that it had at first."""
        if self._table is None:
            table = self._source.open()
            stored = table.schema()
            if self._types is not None and not set(self._schema) <= set(stored):
                raise self._altered()
            require_columns(self._source.label, stored.names, self._schema)
            types = {name: stored[name] for name in self._schema}
            types |= unit_types(stored, self._schema.unit, self._source.label)
            if self._types is not None and types != self._types:
                raise self._altered()
            self._codes = self._coded(table)
            self._types = types
            if self._schema.unit is not None:
                table = person_rows(
                    table,
                    self._schema,
                    self._codes,
                    self._source.dialect,
                    self._source.label,
                    self._key,
                    self._entries,
                )
                self._codes = self._coded(table)
            self._table = table
        return self._table

    def _coded(self, table: ir.Table) -> dict[str, ir.Value]:
        """Return the expressions that code every declared column of a table."""
        return {
            name: code_expression(table[name], name, column, self._source.dialect, self._source.label)
            for name, column in self._schema.items()
        }

    def _altered(self) -> TableChanged:
        """Return the error for a table that was changed between queries."""
        return TableChanged(f"{self._source.label} was changed between two queries")

    # ---- queries

    def count_query(self, table: ir.Table) -> ir.Table:
        """Return the query for the number of rows."""
        return table.aggregate(n=table.count())

    def distinct_query(self, table: ir.Table) -> ir.Table:
        """Return the query for distinct rows: packed keys, and how many rows have them."""
        words: list[Any] = [None] * self._keys.words
        for c, code in enumerate(self._codes.values()):
            part = code * (1 << int(self._keys.shift[c]))
            word = int(self._keys.word[c])
            words[word] = part if words[word] is None else words[word] + part
        keyed = table.select(**{f"key{i}": word for i, word in enumerate(words)})
        return keyed.group_by([f"key{i}" for i in range(len(words))]).aggregate(weight=keyed.count())

    def cover_query(self, table: ir.Table, columns: Sequence[int]) -> ir.Table:
        """Return the query for one table of counts: each occupied cell, and how many rows are in it."""
        cell: Any = None
        for c in columns:
            code = self._codes[self._layout.names[c]]
            cell = code if cell is None else cell * self._layout.shape[c] + code
        keyed = table.select(cell=cell)
        return keyed.group_by("cell").aggregate(weight=keyed.count())

    def explain(self, requests: Sequence[Sequence[str]] | None = None) -> str:
        """Return the SQL that will be sent for ``requests`` (tables; all pairs unless given), without sending it."""
        table = self._open()
        names = self._layout.names
        asked = requests or [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
        covers = self._covering([self._layout.resolve(columns) for columns in asked]).covers
        parts = {
            "how many rows there are": partial(self.count_query, table),
            "distinct rows, where their number fits in memory": partial(self.distinct_query, table),
        }
        for i, columns in enumerate(covers.column_lists(), 1):
            what = f"else covering table {i} of {len(covers)}"
            parts[what] = partial(self.cover_query, table, columns.tolist())
        return self._written(parts)

    def explain_count(self) -> str:
        """Return the SQL that asks how many rows there are, without sending it."""
        return self._written({"how many rows there are": partial(self.count_query, self._open())})

    def explain_features(self, columns: Mapping[str, Cells], limits: Ints, short: Shortening) -> str:
        """Return the SQL of ``place_counts``, ``length_counts`` and ``feature_sums``, without sending it."""
        table = self._open()
        writer = self._writer(table)
        parts = {"how many rows there are": partial(self.count_query, table)}
        parts |= {f"how {name} is spread": partial(writer.places, name) for name in self._numbers}
        lengths = (
            "how long rows are (what is looked up follows from spreads that were released, here from bounds)"
        )
        parts[lengths] = partial(writer.lengths, columns, limits)
        sums = writer.in_parts(columns)
        for i, pairs in enumerate(sums, 1):
            what = f"sums of products of features, query {i} of {len(sums)}"
            parts[what] = partial(writer.sums, columns, short, pairs)
        with one_by_one():
            return self._written(parts)

    def _written(self, queries: Mapping[str, Callable[[], ir.Table]]) -> str:
        """Return named queries as SQL text, each below a comment on its purpose; the size of the table first."""
        import ibis

        size = self.table_bytes
        first = [] if size is None else [f"-- {self.engine} says that the table has {size:,} bytes"]
        return "\n\n".join(
            [*first, *(f"-- {what}\n{ibis.to_sql(query())};" for what, query in queries.items())]
        )

    def run(self, query: Callable[[ir.Table], ir.Table]) -> dict[str, NDArray[Any]]:
        """Run a query and return its columns by name; after a lost connection it is built and sent again."""
        waits = iter(RETRY_SECONDS)
        while True:
            lost = False
            try:
                expression = query(self._open())
                return fetch(expression)
            except (TableChanged, NoWorkers):
                raise
            except EngineError as error:  # it can't be reached
                refused, lost = error, not self._answers()
            except InputError:
                raise
            except Exception:
                refused, lost = self._fault(), not self._answers()
            wait = next(waits, None)
            if not lost or wait is None:
                break
            self._table = None
            time.sleep(wait)
        raise refused  # outside the except block: no trace of the engine's own words, which may name cells

    def _answers(self) -> bool:
        """Return whether the engine still answers, by a trivial query."""
        import ibis

        if self._table is None:
            return False
        try:
            self._table.get_backend().execute(ibis.literal(1))
        except Exception:
            return False
        return True

    def _fault(self) -> EngineError:
        """Return the error for a failed query, without the words of the engine."""
        if not self._answers():
            return EngineError(f"{self._source.engine} stopped answering")
        if self._changed_types():
            return self._altered()
        return EngineError(
            f"{self.engine} could not evaluate a query on {self._source.label}: check the view or cast behind it"
        )

    def _changed_types(self) -> bool:
        """Return whether the types of the columns differ from those at the first query."""
        try:
            stored = self._source.open().schema()
            return any(stored.get(name) != type_ for name, type_ in self._types.items())
        except Exception:
            return True

    # ---- what every backend offers

    @property
    def engine(self) -> str:
        """The engine's name."""
        return self._source.engine

    @property
    def table_bytes(self) -> int | None:
        """Size of the table on the engine in bytes; None where it is not reported."""
        try:
            return self._source.size()
        except Exception:
            return None

    @property
    def n(self) -> int:
        """Number of rows, asked once."""
        if self._n is None:
            with self.stage(f"counting rows on {self.engine}", None):
                n = int(self.run(self.count_query)["n"][0])
            if not n:
                raise InputError(f"{self._source.label} has no rows")
            self._n = n
        return self._n

    def __repr__(self) -> str:
        return f"EngineCounts({self.engine}, columns={list(self._layout.names)})"

    @property
    def compresses(self) -> bool:
        """Whether only distinct rows are fetched: from declared cells, number of rows and memory, all public."""
        cells = math.prod(self._layout.shape)
        row = BYTES_PER_ROW + 2 * self._layout.row_bytes + 8 * self._keys.words
        return min(self.n, cells) * row <= self._memory

    def _count(self, wanted: Sequence[tuple[int, ...]]) -> list[Table]:
        """Return the tables, from distinct rows or from covering tables that are counted once."""
        if self._local is None and not self.compresses:
            return self._scan(wanted)
        return self.compress()._count(wanted)

    def subsample(self, m: int, source: RandomBytes = random_bytes) -> MemoryCounts:
        """Draw m rows without replacement: a hypergeometric draw over the distinct rows, which are brought here."""
        return self.compress().subsample(m, source)

    def compress(self) -> MemoryCounts:
        """Return the counts of the distinct rows, fetched into memory by one GROUP BY over packed keys."""
        if self._local is None:
            n = self.n
            with self.stage(f"distinct rows from {self.engine}", None):
                found = self.run(self.distinct_query)
            weight = found["weight"].astype(np.int64)
            if int(weight.sum()) != n:
                raise self._altered()
            codes = self._keys.unpack(*(found[f"key{i}"].astype(np.uint64) for i in range(self._keys.words)))
            rows = Rows(codes, self._layout.sizes, weight)
            self._local = MemoryCounts(rows, self._schema, threads=self._threads)
        return self._local

    def _covering(self, wanted: Sequence[tuple[int, ...]]) -> Covering:
        """Return covering tables for these requests."""
        return Covering(Jobs.of(wanted, self._layout.sizes), self._layout.sizes, 1 << 62, COVER_CELLS)

    def _scan(self, wanted: Sequence[tuple[int, ...]]) -> list[Table]:
        """Return the requested tables from covering tables, each counted on the engine by one GROUP BY."""
        covering = self._covering(wanted)
        lists = [tuple(columns.tolist()) for columns in covering.covers.column_lists()]
        new = [columns for columns in dict.fromkeys(lists) if columns not in self._covers]
        with self.stage(f"tables from {self.engine}", float(len(new))) as tick:
            for columns in new:
                self._covers[columns] = self._count_cover(columns)
                tick(1.0)
        flat = np.concatenate([self._covers[columns] for columns in lists])
        tables = covering.sum_down(flat, self._threads)
        return self._layout.tables(wanted, covering.requests.cells, tables)

    def _count_cover(self, columns: tuple[int, ...]) -> Table:
        """Count one covering table by one GROUP BY."""
        shape = [self._layout.shape[c] for c in columns]
        out = np.zeros(math.prod(shape), np.int64)
        if not columns:
            out[:] = self.n
            return out
        found = self.run(lambda table: self.cover_query(table, columns))
        out[found["cell"].astype(np.int64)] = found["weight"].astype(np.int64)
        self._check_margins(columns, out.reshape(shape))
        return out

    # ---- features of numbers

    @property
    def _numbers(self) -> dict[str, Numeric]:
        """Numeric columns by name."""
        return {name: column for name, column in self._schema.items() if isinstance(column, Numeric)}

    def _writer(self, table: ir.Table) -> FeatureQueries:
        """Return the object that writes queries on features of a table."""
        return FeatureQueries(table, self._codes, self._numbers, self._source.dialect, self._source.label)

    def _counted(self, query: Callable[[FeatureQueries], ir.Table], key: str) -> tuple[Ints, Ints]:
        """Return the keys and the counts that a query gives; the counts must add up to the rows."""
        with one_by_one():
            found = self.run(lambda table: query(self._writer(table)))
        weight = found["weight"].astype(np.int64)
        if int(weight.sum()) != self.n:
            raise self._altered()
        return found[key].astype(np.int64), weight

    def place_counts(self, name: str) -> tuple[Ints, Ints]:
        """Return the occupied grid places of a numeric column, and the number of rows at each: one GROUP BY."""
        with self.stage(f"places of {name} on {self.engine}", None):
            return self._counted(lambda queries: queries.places(name), "place")

    def length_counts(self, columns: Mapping[str, Cells], limits: Ints) -> Ints:
        """Return, for each limit (increasing), how many rows have features of at most that squared length."""
        with self.stage(f"lengths of rows on {self.engine}", None):
            at, weight = self._counted(lambda queries: queries.lengths(columns, limits), "at")
        found = np.zeros(len(limits) + 1, np.int64)
        found[at] = weight
        return np.cumsum(found)[:-1]

    def feature_sums(self, columns: Mapping[str, Cells], short: Shortening) -> Sums:
        """Return the sums of features and of their products over all rows, by a few queries."""
        size = sum(cells.width for cells in columns.values())
        first, second = np.zeros(size, np.int64), np.zeros((size, size), np.int64)
        parts = self._writer(self._open()).in_parts(columns)
        with self.stage(f"sums of products on {self.engine}", float(len(parts))) as tick:
            for pairs in parts:
                found = self._sums(columns, short, pairs)
                if int(found["rows"][0]) != self.n:
                    raise self._altered()
                for i, (a, b) in enumerate(pairs):
                    total = int(found[f"s{i}"][0])
                    if a < 0:
                        first[b] = total
                    else:
                        second[a, b] = second[b, a] = total
                tick(1.0)
        return Sums(self.n, first, second)

    def _sums(
        self, columns: Mapping[str, Cells], short: Shortening, pairs: Sequence[tuple[int, int]]
    ) -> dict[str, NDArray[Any]]:
        """Return the number of rows, and the sums of the products of these pairs of features."""
        with one_by_one():
            return self.run(lambda table: self._writer(table).sums(columns, short, pairs))

    def _check_margins(self, columns: tuple[int, ...], table: Table) -> None:
        """Refuse a table whose margins differ from one counted before: the rows were changed meanwhile."""
        if int(table.sum()) != self.n:
            raise self._altered()
        for axis, c in enumerate(columns):
            margin = table.sum(axis=tuple(i for i in range(table.ndim) if i != axis))
            if not np.array_equal(self._margins.setdefault(c, margin), margin):
                raise self._altered()


def _from_spark(session: Any, sql: str) -> Any:
    """Return what a query gives on Spark; raise ``NoWorkers`` where a cluster has none left for it.

    Spark itself waits for another worker without end. How long we wait depends on the cluster, never on rows.
    """
    context = session.sparkContext
    if context.master.startswith("local"):
        return session.sql(sql).toArrow()
    answer: list[Any] = []
    fault: list[Exception] = []

    def ask() -> None:
        try:
            answer.append(session.sql(sql).toArrow())
        except Exception as error:
            fault.append(error)

    asking = threading.Thread(target=ask, daemon=True)  # left behind where Spark never answers
    asking.start()
    since = time.monotonic()
    while asking.is_alive():
        asking.join(0.5)
        if _has_workers(context):
            since = time.monotonic()
        elif asking.is_alive() and time.monotonic() - since > NO_WORKER_SECONDS:
            context.cancelAllJobs()
            raise NoWorkers(
                f"Spark had no worker for {NO_WORKER_SECONDS:.0f} seconds: start one, and ask again"
            )
    if fault:
        raise fault[0]
    return answer[0]


def _has_workers(context: Any) -> bool:
    """Return whether a Spark cluster has a worker."""
    try:
        return bool(context._jsc.sc().getExecutorMemoryStatus().size() > 1)  # the driver is one
    except Exception:
        return False


def fetch(expression: ir.Table) -> dict[str, NDArray[Any]]:
    """Return the columns that a query gives, by name."""
    backend = expression.get_backend()
    match backend.name:
        case "duckdb":  # Ibis 12 calls a method that DuckDB 2 no longer has
            found: dict[str, NDArray[Any]] = (
                backend.con.cursor().execute(backend.compile(expression)).fetchnumpy()
            )
            return found
        case "pyspark":  # Ibis converts by pandas, which takes three times the memory
            table = _from_spark(backend._session, backend.compile(expression))
        case _:
            table = backend.to_pyarrow_batches(expression, chunk_size=BATCH_ROWS).read_all()
    columns = zip(table.column_names, table.itercolumns(), strict=True)
    return {name: column.to_numpy() for name, column in columns}
