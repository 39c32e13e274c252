"""Count a file in one pass without holding it: Parquet, CSV or Arrow, larger than memory.

Every thread decodes, codes, packs, sorts and counts its partition of the row groups, a batch at a time; the sorted runs
are merged as they come. What remains in memory are the distinct rows with their counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.counts.compress import (
    KeyLayout,
    Run,
    cube_of,
    cube_pays,
    distinct_of,
    merge_all,
    sorted_run,
)
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.protocol import TableLayout
from dpcausal.counts.rows import Rows, processors, run_parallel
from dpcausal.data.dataset import Codes
from dpcausal.data.read import coded_partitions, open_checked
from dpcausal.data.schema import Schema

Batch = Mapping[str, Codes]
MANY_ROWS = 1 << 40  # the number of rows is not known beforehand: the choice is that for very many


def stream(source: Any, schema: Schema, *, threads: int | None = None) -> MemoryCounts:
    """Count a file that does not fit in memory; its distinct rows must.

    **Guarantee.** The tables are those of ``dc.read``: every row is kept and coded as declared, by itself.

    **Cost.** One pass. Memory: a batch per thread, and the distinct rows a few times.

    Parameters
    ----------
    source : path, frame, table or reader
        Anything that ``dc.read`` takes; a Parquet file is read by several threads.
    schema : Schema
        The declared columns. A row must take at most 64 bits, or the joint domain must have at most 2^20 cells; read
        a wider one with ``dc.read``, or count it in DuckDB.
    threads : int, optional
        At most so many; the cores that this process may use unless given.

    Returns
    -------
    MemoryCounts

    Raises
    ------
    SchemaError
        If a declared column is missing, is there twice, or has a type that can't be coded as declared.
    InputError
        If the source can't be read or has no rows, or a row takes more than 64 bits.

    Examples
    --------
    >>> import dpcausal as dc
    >>> schema = dc.Schema(smoke=dc.Categorical(["no", "yes"]))
    >>> stream({"smoke": ["no", "yes", "yes"]}, schema).table(["smoke"]).tolist()
    [1, 2]
    """
    layout, opened = TableLayout(schema), open_checked(source, schema)
    rows = compress_stream(coded_partitions(opened, schema, threads or processors()), layout)
    if not rows.n:
        raise InputError(f"{opened.label} has no rows")
    return MemoryCounts(rows, schema, threads=threads)


def compress_stream(parts: Sequence[Iterable[Batch]], layout: TableLayout) -> Rows:
    """Return the distinct rows of all parts together, each part in a thread of its own."""
    keys = KeyLayout(layout.sizes)
    if cube_pays(layout.sizes, MANY_ROWS):
        cubes = np.zeros((len(parts), int(np.prod(layout.sizes))), np.int64)
        run_parallel([_cube_task(part, cube, layout) for part, cube in zip(parts, cubes, strict=True)])
        return distinct_of(cubes.sum(axis=0), layout.sizes)
    if not keys.fits:
        raise InputError(
            "a row of this schema needs more than 64 bits: read it with dc.read, or count it in DuckDB"
        )
    runs: list[Run] = []
    run_parallel([_sort_task(part, runs, keys, layout) for part in parts])
    found, counts = merge_all(runs)
    return Rows(keys.unpack(found), layout.sizes, counts)


def _cube_task(part: Iterable[Batch], cube: NDArray[np.int64], layout: TableLayout) -> Callable[[], None]:
    """Return a task that adds the histograms of all batches to ``cube``."""

    def task() -> None:
        for batch in part:
            np.add(cube, cube_of(_rows(batch, layout), 1), out=cube)

    return task


def _sort_task(
    part: Iterable[Batch], runs: list[Run], keys: KeyLayout, layout: TableLayout
) -> Callable[[], None]:
    """Return a task that appends the merged run of all batches to ``runs``."""

    def task() -> None:
        runs.append(merge_all(sorted_run(keys.pack(_rows(batch, layout))) for batch in part))

    return task


def _rows(batch: Batch, layout: TableLayout) -> Rows:
    return Rows(tuple(batch[name] for name in layout.names), layout.sizes)
