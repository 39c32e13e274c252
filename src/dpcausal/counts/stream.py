"""Compress a file to distinct rows in one pass, without holding it: Parquet, CSV or Arrow, larger than memory.

Every thread decodes, codes, packs, sorts and counts its share of the row groups, a batch at a time; the sorted
runs are merged as they come. Memory: a batch per thread, and the distinct rows a few times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

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
from dpcausal.data.read import shares
from dpcausal.data.schema import Schema

Batch = Mapping[str, Codes]


def stream(source: str | Path, schema: Schema, *, threads: int | None = None) -> MemoryCounts:
    """``Counts`` of a file that need not fit in memory; its distinct rows must.

    A schema whose row needs more than 64 bits can't be compressed this way: read it with ``dc.read``, or count
    it in DuckDB.
    """
    layout = TableLayout(schema)
    rows = compress_stream(shares(source, schema, threads or processors()), layout)
    if not rows.n:
        raise InputError(f"{source} has no rows")
    return MemoryCounts(rows, schema, threads=threads)


def compress_stream(parts: Sequence[Iterable[Batch]], layout: TableLayout) -> Rows:
    """Distinct rows of all parts together, each part in a thread of its own."""
    keys = KeyLayout(layout.sizes)
    if cube_pays(layout.sizes, 1 << 40):
        cubes = np.zeros((len(parts), int(np.prod(layout.sizes))), np.int64)
        run_parallel([_adder(part, cube, layout) for part, cube in zip(parts, cubes, strict=True)])
        return distinct_of(cubes.sum(axis=0), layout.sizes)
    if not keys.fits:
        raise InputError(
            "a row of this schema needs more than 64 bits: read it with dc.read, or count it in DuckDB"
        )
    runs: list[Run] = []
    run_parallel([_merger(part, runs, keys, layout) for part in parts])
    found, counts = merge_all(runs)
    return Rows(keys.unpack(found), layout.sizes, counts)


def _adder(part: Iterable[Batch], cube: NDArray[np.int64], layout: TableLayout) -> Callable[[], None]:
    """A task that adds the histograms of all batches to ``cube``."""

    def task() -> None:
        for batch in part:
            np.add(cube, cube_of(_rows(batch, layout), 1), out=cube)

    return task


def _merger(
    part: Iterable[Batch], runs: list[Run], keys: KeyLayout, layout: TableLayout
) -> Callable[[], None]:
    """A task that appends the merged run of all batches to ``runs``."""

    def task() -> None:
        runs.append(merge_all(sorted_run(keys.pack(_rows(batch, layout))) for batch in part))

    return task


def _rows(batch: Batch, layout: TableLayout) -> Rows:
    return Rows(tuple(batch[name] for name in layout.names), layout.sizes)
