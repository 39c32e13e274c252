"""Cover many small tables by few larger ones, and sum those down, so that one pass over the rows answers many requests.

Covers are found by best fit: each request joins the open group that grows least in cells, if the grown group stays
within a cap, and else opens a group. Only public sizes and the requests themselves enter. Cost: O(requests x open
groups) for finding covers, O(cells of the cover) a request for summing down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpcausal.core.compiled import jit
from dpcausal.counts.protocol import Ints, Jobs, Table
from dpcausal.counts.rows import COSTS, run_parallel, split

MAX_COVER_CELLS = 1 << 12  # a covering table stays in the second-level cache


class Covering:
    """A few larger tables, ``covers``, that cover many requests; request r is a margin of table ``cover_of[r]``."""

    def __init__(self, requests: Jobs, sizes: Ints, rows: int, max_cells: int | None = None) -> None:
        cap = min(MAX_COVER_CELLS if max_cells is None else max_cells, rows // 8)
        self.requests = requests
        self.sizes = sizes
        self.cover_of, member = cover(requests.columns, requests.start, sizes, cap)
        self.covers = Jobs.of([np.flatnonzero(columns).tolist() for columns in member], sizes)

    def margin_ns(self) -> float:
        """Return the expected nanoseconds of summing covering tables down to the requests."""
        return COSTS.margin * float(self.covers.cell_counts()[self.cover_of].sum())

    def sum_down(self, tables: Table, threads: int) -> Table:
        """Return the requested tables, flat, summed from the covering tables."""
        asked, covers = self.requests, self.covers
        out = np.zeros(int(asked.cells[-1]), np.int64)

        def task(first: int, last: int) -> Callable[[], None]:
            return lambda: answer_requests(
                self.sizes, covers.columns, covers.start, covers.cells, tables,
                asked.columns, asked.start, self.cover_of, asked.cells, first, last, out,
            )  # fmt: skip

        parts = threads if self.margin_ns() > COSTS.threads else 1
        run_parallel([task(a, b) for a, b in split(len(asked), parts)])
        return out


# ---- kernels


@jit()
def sum_out(table: Any, size: Any, stride: Any, out: Any) -> None:
    """Add ``table`` (row-major over ``size``) to ``out``, in which axis a has stride ``stride[a]`` (0: summed over)."""
    last = size.shape[0] - 1
    if last < 0:
        out[0] += table[0]
        return
    digit = np.zeros(last + 1, np.int64)
    inner, step = size[last], stride[last]
    target = 0
    for base in range(0, table.shape[0], inner):
        if step == 0:
            total = np.int64(0)
            for i in range(inner):
                total += table[base + i]
            out[target] += total
        else:
            for i in range(inner):
                out[target + i * step] += table[base + i]
        axis = last - 1
        while axis >= 0:
            digit[axis] += 1
            target += stride[axis]
            if digit[axis] < size[axis]:
                break
            target -= digit[axis] * stride[axis]
            digit[axis] = 0
            axis -= 1


@jit()
def answer_requests(
    size: Any, job_columns: Any, job_start: Any, table_start: Any, tables: Any,
    request_columns: Any, request_start: Any, request_job: Any, out_start: Any, first: int, last: int, out: Any,
) -> None:  # fmt: skip
    """Sum the table of its job down to the columns of each request ``first .. last``."""
    place = np.zeros(size.shape[0], np.int64)  # stride of every column in the request at hand, 0 if not in it
    for r in range(first, last):
        wanted = request_columns[request_start[r] : request_start[r + 1]]
        step = 1
        for i in range(wanted.shape[0] - 1, -1, -1):
            place[wanted[i]] = step
            step *= size[wanted[i]]
        j = request_job[r]
        columns = job_columns[job_start[j] : job_start[j + 1]]
        sum_out(
            tables[table_start[j] : table_start[j + 1]],
            size[columns],
            place[columns],
            out[out_start[r] : out_start[r + 1]],
        )
        place[wanted] = 0


MAX_GROUPS_TRIED = 512  # the newest groups that a request may join: bounds the time on long lists


@jit()
def cover(request_columns: Any, request_start: Any, size: Any, cap: int) -> tuple[Any, Any]:
    """Group requests so that each group's joint table has at most ``cap`` cells.

    Return the group of each request, and whether a column is in a group, [group, column].
    """
    requests = request_start.shape[0] - 1
    member = np.zeros((requests, size.shape[0]), np.bool_)
    cells = np.zeros(requests, np.float64)
    group = np.zeros(requests, np.int64)
    groups = 0
    for r in range(requests):
        wanted = request_columns[request_start[r] : request_start[r + 1]]
        best, best_growth = -1, np.inf
        for g in range(max(0, groups - MAX_GROUPS_TRIED), groups):
            growth = 1.0
            for c in wanted:
                if not member[g, c]:
                    growth *= size[c]
            if growth < best_growth and (growth == 1.0 or cells[g] * growth <= cap):
                best, best_growth = g, growth
                if growth == 1.0:
                    break
        if best < 0:
            best = groups
            groups += 1
            cells[best] = 1.0
        for c in wanted:
            if not member[best, c]:
                member[best, c] = True
                cells[best] *= size[c]
        group[r] = best
    return group, member[:groups]
