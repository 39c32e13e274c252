"""Counting rows that pass by: files larger than memory, or a table of a DuckDB database.

Rows are read in chunks and coded as ``dc.read`` codes them, each thread its part of the row groups of a Parquet file.
Where a row fits in a key of 64 bits, keys are sorted and counted chunk by chunk, and the distinct rows remain in
memory; a wider row is held as it is, one byte a column, where all of them fit. Where memory does not suffice, every
batch of tables is counted in a pass of its own.

**Guarantee.** The tables are those of the same rows read by ``dc.read``: there is one way of reading and coding. How
rows are counted decides only how long it takes, and the same progress is shown either way. Errors depend on names,
types and whether there is a row at all, never on a value.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from glob import glob, has_magic
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dpcausal.core.entropy import RandomBytes, random_bytes
from dpcausal.core.errors import EngineError, InputError
from dpcausal.core.progress import Tick
from dpcausal.core.progress import silent as silent_stage
from dpcausal.core.redact import file_name
from dpcausal.counts.compress import (
    KeyLayout,
    Run,
    TooManyRows,
    cube_pays,
    distinct_of,
    merge_all,
    sorted_run,
)
from dpcausal.counts.covering import Covering
from dpcausal.counts.duckdb_table import DuckDBTable
from dpcausal.counts.feature_sums import Batch, BatchRows, Cells, Shortening, Sums
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.protocol import Ints, Jobs, LaidOutCounts, Table, TableLayout
from dpcausal.counts.rows import Rows, memory_share, processors, run_parallel
from dpcausal.counts.sampling import hypergeometric
from dpcausal.data.columns import Codes, Numeric
from dpcausal.data.persons import ChosenRows
from dpcausal.data.read import coded_chunks, coded_partitions, open_rows
from dpcausal.data.schema import Schema
from dpcausal.data.sources import Source

if TYPE_CHECKING:
    import duckdb

Found = TypeVar("Found")
Part = Iterable[Mapping[str, Codes]]

BYTES_PER_KEY = 3 * 16  # of a distinct row while runs are merged and unpacked, beside its codes
VERY_MANY_ROWS = 1 << 40  # a cube is counted into wherever it would pay for so many


def find_files(source: str | os.PathLike[str]) -> list[Path]:
    """Return the file of this name; where there is none, the files that match it as a glob, sorted.

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


def count_files(source: str | os.PathLike[str], schema: Schema, **options: Any) -> StreamCounts:
    """Return the counts of a file that ``dc.read`` accepts, or of all files that match a glob.

    Where a file has exactly this name it is that file, whatever marks of a glob the name holds. ``options`` are those
    of ``StreamCounts``.
    """
    sources = open_rows(find_files(source), schema)
    counts = StreamCounts(sources, schema, label=file_name(str(source)), **options)
    counts.file = Path(source).absolute()
    return counts


def count_table(
    connection: duckdb.DuckDBPyConnection, name: str, schema: Schema, **options: Any
) -> StreamCounts:
    """Return the counts of a table or view of an open DuckDB database; ``options`` are those of ``StreamCounts``.

    >>> import duckdb
    >>> import dpcausal as dc
    >>> database = duckdb.connect()
    >>> _ = database.execute("CREATE TABLE patients AS SELECT unnest(['no', 'yes', 'yes']) AS smoke")
    >>> count_table(database, "patients", dc.Schema(smoke=dc.Categorical(["no", "yes"]))).table(["smoke"]).tolist()
    [1, 2]
    """
    tables = open_rows([DuckDBTable(connection, name, schema)], schema)
    return StreamCounts(tables, schema, label=name, **options)


class StreamCounts(LaidOutCounts):
    """``Counts`` of rows that are read in chunks at each pass; ``dc.connect`` makes it.

    ``sources`` were checked against the schema (``open_rows``). At most ``memory_limit`` bytes of rows are held in
    memory, a quarter of this machine's unless given. ``count=False``: rows are counted when needed.
    Raises ``InputError`` if there are no rows.
    """

    file: Path | None = None  # where the rows are, if they are in one place

    def __init__(
        self,
        sources: Sequence[Source],
        schema: Schema,
        *,
        label: str,
        threads: int | None = None,
        memory_limit: int | None = None,
        count: bool = True,
    ) -> None:
        super().__init__(schema)
        self.several: StreamCounts | None = None
        self._sources, self._label = sources, label
        self._threads = threads or processors()
        self._memory = memory_share() if memory_limit is None else memory_limit
        self._local: MemoryCounts | None = None
        self._too_large = False  # for memory
        self._places: dict[str, tuple[Ints, Ints]] = {}
        self._n = 0
        self._showed = False
        more = [source.several for source in sources if isinstance(source, ChosenRows) and source.several]
        if more:
            self.several = StreamCounts(
                more, schema, label=label, threads=threads, memory_limit=memory_limit, count=False
            )
        if count:
            _ = self.n

    @property
    def n(self) -> int:
        """Number of rows: as the source states, or counted as it is read."""
        if not self._n:
            stated = [source.count_rows() for source in self._sources]
            known = [rows for rows in stated if rows is not None]
            if len(known) < len(stated):
                known = [len(next(iter(batch.values()))) for batch in chain.from_iterable(self._parts())]
            if not sum(known):
                raise InputError(f"{self._label} has no rows")
            self._n = sum(known)
        return self._n

    def __repr__(self) -> str:
        return f"StreamCounts(n={self.n}, columns={list(self._layout.names)})"

    def with_bins(self, name: str, bins: Sequence[float]) -> StreamCounts:
        """Return the counts of the same rows with other cut points of a numeric column."""
        found = copy(self)
        LaidOutCounts.__init__(found, self._schema.with_bins(name, bins))
        found._local, found._places, found._showed = None, {}, False
        found.several = None if self.several is None else self.several.with_bins(name, bins)
        return found

    def _count(self, wanted: Sequence[tuple[int, ...]]) -> list[Table]:
        """Return the tables, in one pass over the rows at most where these are not in memory."""
        with self._pass() as progress:
            local = self._in_memory(progress)
            if local is not None:
                return local._count(wanted)
            covering = Covering(Jobs.of(wanted, self._layout.sizes), self._layout.sizes, self.n)
            flat = count_stream(self._parts(progress), covering.covers, self._layout)
        self._refuse_changed(int(flat[: int(covering.covers.cells[1])].sum()))
        return self._layout.tables(wanted, covering.requests.cells, covering.sum_down(flat, self._threads))

    def subsample(self, m: int, source: RandomBytes = random_bytes) -> MemoryCounts:
        """Draw m rows without replacement: from the rows in memory, or chunk by chunk as they pass by."""
        with self._pass() as progress:
            local = self._in_memory(progress)
            if local is not None:
                return local.subsample(m, source)
            rows = draw_rows(self._parts(progress), self.n, m, self._layout, source)
        return MemoryCounts(rows, self._schema, threads=self._threads)

    def _in_memory(self, progress: _Progress) -> MemoryCounts | None:
        """Return counts of the rows in memory, loaded at the first call; None where they do not fit."""
        if self._local is None and not self._too_large:
            keys, parts = KeyLayout(self._layout.sizes), self._parts(progress)
            row_bytes = self._layout.row_bytes
            try:
                if cube_pays(self._layout.sizes, VERY_MANY_ROWS) or keys.fits:
                    rows = compress_stream(parts, self._layout, self._memory // (BYTES_PER_KEY + row_bytes))
                elif self.n * row_bytes <= self._memory:
                    rows = collect_rows(parts, self._layout)
                else:
                    raise TooManyRows
            except TooManyRows:
                self._too_large = True
                return None
            self._refuse_changed(rows.n)
            self._local = MemoryCounts(rows, self._schema, threads=self._threads)
        return self._local

    def _refuse_changed(self, rows: int) -> None:
        """Raise ``EngineError`` if the source has another number of rows than before; privacy does not rest on it."""
        if rows != self.n:
            raise EngineError(f"{self._label} was changed while it was counted: run it again")

    # ---- passes over the rows

    @contextmanager
    def _pass(self) -> Iterator[_Progress]:
        """Report the progress of the first pass, however rows are counted; later passes report none.

        Whether there are further ones follows from how many rows are distinct. Where distinct rows turn out to be too
        many, the pass begins anew, and what was shown already is not shown again.
        """
        shown = silent_stage if self._showed else self.stage
        self._showed = True
        with shown(f"reading {self._label}", 1.0) as tick:
            yield _Progress(tick)

    def _parts(self, progress: _Progress | None = None) -> list[Part]:
        """Return iterators over coded rows for parallel use; each row is in one of them."""
        parts: list[list[Part]] = [[] for _ in range(self._threads)]
        for source in self._sources:
            for i, part in enumerate(coded_partitions(source, self._schema, self._threads)):
                parts[i].append(part)
        joined: list[Part] = [chain.from_iterable(part) for part in parts if part]
        if progress is None:
            return joined
        tick = progress.again()
        return [self._ticked(part, tick) for part in joined]

    def _ticked(self, batches: Iterable[Batch], tick: Tick) -> Iterator[Any]:
        """Yield the batches and report the share of rows that passed: a share, so that no number of rows shows."""
        for batch in batches:
            yield batch
            tick(len(next(iter(batch.values()))) / self.n)

    # ---- features of numbers: rows pass by in batches, and only sums remain

    def place_counts(self, name: str) -> tuple[Ints, Ints]:
        """Return the occupied places of a numeric column, and the number of rows at each."""
        if not self._places:
            names = [x for x, column in self._schema.items() if isinstance(column, Numeric)]
            self._places = self._in_batches(lambda rows: rows.all_place_counts(names))
        return self._places[name]

    def length_counts(self, columns: Mapping[str, Cells], limits: Ints) -> Ints:
        """Return how many rows have a squared length of at most each limit (increasing)."""
        return self._in_batches(lambda rows: rows.length_counts(columns, limits))

    def feature_sums(self, columns: Mapping[str, Cells], short: Shortening) -> Sums:
        """Return the sums over all rows."""
        found = self._in_batches(lambda rows: rows.feature_sums(columns, short))
        self._refuse_changed(found.rows)
        return found

    def _in_batches(self, count: Callable[[BatchRows], Found]) -> Found:
        """Apply a count to batches of rows, with progress."""
        with self.stage(f"reading {self._label}", 1.0) as tick:
            return count(BatchRows(self._schema, self.n, lambda: self._ticked(self._values(), tick)))

    def _values(self) -> Iterator[Batch]:
        """Yield batches of rows with codes, and numbers of numeric columns."""
        for source in self._sources:
            for chunk in coded_chunks(source, self._schema, list(self._schema)):
                yield {name: one.codes if one.values is None else one.values for name, one in chunk.items()}

    # ---- what is asked of whoever holds the rows

    def explain(self, *asked: object) -> str:
        """Return the queries that fetch rows, without sending them: the same whatever is asked."""
        return "\n".join(source.explained() for source in self._sources)

    explain_count = explain_features = explain


class _Progress:
    """Reports the share of rows that were read, over several passes the largest."""

    def __init__(self, tick: Tick) -> None:
        self._tick, self._furthest = tick, 0.0

    def again(self) -> Tick:
        """Return the tick function of a new pass over the rows."""
        passed = 0.0

        def tick(share: float) -> None:
            nonlocal passed
            passed += share
            if passed > self._furthest:
                self._tick(passed - self._furthest)
                self._furthest = passed

        return tick


# ---- what is made of rows as they pass by


def compress_stream(parts: Sequence[Part], layout: TableLayout, most: int) -> Rows:
    """Return the distinct rows of all parts, each part read in a thread.

    Raises ``TooManyRows`` where there are more than ``most``. The layout must fit in one key, or have few cells.
    """
    if cube_pays(layout.sizes, VERY_MANY_ROWS):
        whole = Jobs.of([range(len(layout.sizes))], layout.sizes)
        return distinct_of(count_stream(parts, whole, layout), layout.sizes)
    keys = KeyLayout(layout.sizes)
    runs: list[Run] = []

    def task(part: Part) -> None:
        batches = (sorted_run(keys.pack(_rows(batch, layout))) for batch in part)
        runs.append(merge_all(batches, most // len(parts)))

    _side_by_side(task, parts)
    found, counts = merge_all(runs)
    return Rows(keys.unpack(found), layout.sizes, counts)


def collect_rows(parts: Sequence[Part], layout: TableLayout) -> Rows:
    """Return all rows in memory, uncompressed."""
    held: list[Rows] = []
    _side_by_side(lambda part: held.extend(_rows(batch, layout) for batch in part), parts)
    return Rows(tuple(map(np.concatenate, zip(*(rows.columns for rows in held), strict=True))), layout.sizes)


def count_stream(parts: Sequence[Part], jobs: Jobs, layout: TableLayout) -> Table:
    """Return the flat tables of all jobs, counted in one pass."""
    out, lock = np.zeros(int(jobs.cells[-1]), np.int64), threading.Lock()

    def task(part: Part) -> None:
        own = np.zeros_like(out)
        for batch in part:
            rows = _rows(batch, layout)
            rows.add_to(own, jobs, (0, rows.length), (0, len(jobs)))
        with lock:
            np.add(out, own, out=out)

    _side_by_side(task, parts)
    return out


def draw_rows(parts: Sequence[Part], n: int, m: int, layout: TableLayout, source: RandomBytes) -> Rows:
    """Return m of n rows, drawn without replacement: how many from each chunk, then which of its rows."""
    if not 0 <= m <= n:
        raise InputError(f"can't draw {m:,} rows without replacement from {n:,}")
    drawn = []
    for batch in chain.from_iterable(parts):
        rows = _rows(batch, layout)
        here, _ = hypergeometric(np.array([rows.length, n - rows.length]), m, source)
        chosen = np.flatnonzero(hypergeometric(np.ones(rows.length, np.int64), int(here), source))
        drawn.append([column[chosen] for column in rows.columns])
        n, m = n - rows.length, m - int(here)
    return Rows(tuple(map(np.concatenate, zip(*drawn, strict=True))), layout.sizes)


def _side_by_side(task: Callable[[Part], None], parts: Sequence[Part]) -> None:
    """Run a task on every part, in parallel."""
    run_parallel([partial(task, part) for part in parts])


def _rows(batch: Mapping[str, Codes], layout: TableLayout) -> Rows:
    """Return a batch of codes as rows."""
    return Rows(tuple(batch[name] for name in layout.names), layout.sizes)
