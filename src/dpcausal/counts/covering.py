"""Answer many requests from few covering tables: count the covers, then sum each down to what was asked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpcausal.counts.costs import MARGIN_NS, PARALLEL_NS
from dpcausal.counts.kernels.cover import cover
from dpcausal.counts.kernels.margin import answer_requests
from dpcausal.counts.protocol import Table
from dpcausal.counts.requests import Ints, Jobs
from dpcausal.counts.rows import run_parallel, split

COVER_CELLS = 1 << 12  # a covering table stays in the second-level cache and is summed down quickly


class Covering:
    """``covers``: the tables to count; ``serves[r]``: which of them answers request r."""

    def __init__(self, requests: Jobs, sizes: Ints, rows: int) -> None:
        cap = min(COVER_CELLS, rows // 8)
        self.requests = requests
        self.sizes = sizes
        self.serves, member, groups = cover(requests.columns, requests.start, sizes, cap)
        self.covers = Jobs.of([np.flatnonzero(member[g]).tolist() for g in range(groups)], sizes)

    def margin_ns(self) -> float:
        """Expected nanoseconds of summing down."""
        return MARGIN_NS * float(self.covers.counts()[self.serves].sum())

    def sum_down(self, tables: Table, threads: int) -> Table:
        """Flat tables of the requests from the flat tables of the covers."""
        asked, covers = self.requests, self.covers
        out = np.zeros(int(asked.cells[-1]), np.int64)

        def task(first: int, last: int) -> Callable[[], None]:
            return lambda: answer_requests(
                self.sizes, covers.columns, covers.start, covers.cells, tables,
                asked.columns, asked.start, self.serves, asked.cells, first, last, out,
            )  # fmt: skip

        parts = threads if self.margin_ns() > PARALLEL_NS else 1
        run_parallel([task(a, b) for a, b in split(len(asked), parts)])
        return out
