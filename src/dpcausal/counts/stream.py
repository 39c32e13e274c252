"""Compress a file to distinct rows in one pass, without holding it: Parquet, CSV or Arrow, larger than memory.

One thread decodes and codes the next batch while the other packs, sorts and counts the last one. Memory: two
batches, and the distinct rows twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np

from dpcausal.core.errors import InputError
from dpcausal.counts.compress import KeyLayout, Run, cube_of, cube_pays, distinct_of, merge_all, sorted_run
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.requests import Layout
from dpcausal.counts.rows import Rows, processors
from dpcausal.data.dataset import Codes
from dpcausal.data.scan import batches
from dpcausal.data.schema import Schema

Batch = Mapping[str, Codes]


def stream(source: str | Path, schema: Schema, *, threads: int | None = None) -> MemoryCounts:
    """``Counts`` of a file that need not fit in memory; its distinct rows must.

    A schema whose row needs more than 64 bits can't be compressed this way: read it with ``dc.read``, or count
    it in DuckDB.
    """
    layout = Layout(schema)
    rows = compress_stream(batches(source, schema), layout, threads or processors())
    if not rows.n:
        raise InputError(f"{source} has no rows")
    return MemoryCounts(rows, schema, threads=threads)


def compress_stream(parts: Iterable[Batch], layout: Layout, threads: int) -> Rows:
    """Distinct rows of all batches together."""
    keys = KeyLayout(layout.sizes)
    if cube_pays(layout.sizes, 1 << 40):
        return _cube(parts, layout, threads)
    if not keys.fits:
        raise InputError(
            "a row of this schema needs more than 64 bits: read it with dc.read, or count it in DuckDB"
        )

    def run(batch: Batch) -> Run:
        return sorted_run(keys.pack(_rows(batch, layout)))

    found, counts = merge_all(_ahead(run, parts))
    return Rows(keys.unpack(found), layout.sizes, counts)


def _rows(batch: Batch, layout: Layout) -> Rows:
    return Rows(tuple(batch[name] for name in layout.names), layout.sizes)


def _ahead(run: Callable[[Batch], Run], parts: Iterable[Batch]) -> Iterator[Run]:
    """``map(run, parts)``, one batch being run while the next is read."""
    with ThreadPoolExecutor(1) as worker:
        pending: Future[Run] | None = None
        for batch in parts:
            following = worker.submit(run, batch)
            if pending is not None:
                yield pending.result()
            pending = following
        if pending is not None:
            yield pending.result()


def _cube(parts: Iterable[Batch], layout: Layout, threads: int) -> Rows:
    cube = np.zeros(int(np.prod(layout.sizes)), np.int64)
    for batch in parts:
        cube += cube_of(_rows(batch, layout), threads)
    return distinct_of(cube, layout.sizes)
