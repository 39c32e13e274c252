"""The staged kernel: code a block of rows in the first-level cache, then count the codes.

A job is a list of columns; its table is the histogram of the mixed-radix code
``code = (...(c_0 s_1 + c_1) s_2 + ...) + c_k`` over all rows. Coding a block column by column is a SIMD loop;
counting goes to four sub-histograms in turn, so that equal neighbouring codes do not wait for each other.
Cost: about 0.6 + 0.1 k nanoseconds per row and job of k columns, up to some 4,096 cells.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

from dpcausal.core.compiled import jit
from dpcausal.counts.kernels.intrinsics import pointer

BLOCK_ROWS = 4096  # rows coded at a time: codes and one column block stay in the first-level cache
FLUSH_ROWS = 1 << 30  # rows after which 32-bit sub-histograms are added up, before they can overflow
MAX_SMALL_CELLS = 1 << 14  # cells up to which four 32-bit sub-histograms pay


@jit()
def _first(code: Any, column: Any) -> None:
    for i in range(code.shape[0]):
        code[i] = column[i]


@jit()
def _horner(code: Any, column: Any, size: Any) -> None:
    for i in range(code.shape[0]):
        code[i] = code[i] * size + column[i]


@jit()
def _encode(code: Any, low: Any, columns: Any, address: Any, width: Any, size: Any) -> None:
    """Set ``code`` to the mixed-radix codes of rows ``low .. low + len(code)`` of the named columns."""
    rows = code.shape[0]
    if columns.shape[0] == 0:
        code[:] = 0
    for j in range(columns.shape[0]):
        c = columns[j]
        at = address[c] + nb.uint64(low) * nb.uint64(width[c])
        if width[c] == 1:
            narrow = nb.carray(pointer(at), rows, dtype=np.uint8)
            if j == 0:
                _first(code, narrow)
            else:
                _horner(code, narrow, size[c])
        else:
            wide = nb.carray(pointer(at), rows, dtype=np.uint16)
            if j == 0:
                _first(code, wide)
            else:
                _horner(code, wide, size[c])


@jit()
def _count_small(code: Any, sub: Any, cells: Any) -> None:
    a, b, c, d = sub[:cells], sub[cells : 2 * cells], sub[2 * cells : 3 * cells], sub[3 * cells : 4 * cells]
    rows = code.shape[0]
    even = rows & ~3
    for i in range(0, even, 4):
        a[code[i]] += nb.uint32(1)
        b[code[i + 1]] += nb.uint32(1)
        c[code[i + 2]] += nb.uint32(1)
        d[code[i + 3]] += nb.uint32(1)
    for i in range(even, rows):
        a[code[i]] += nb.uint32(1)


@jit()
def _count_large(code: Any, out: Any) -> None:
    for i in range(code.shape[0]):
        out[code[i]] += 1


@jit()
def _count_weighted(code: Any, weight: Any, out: Any) -> None:
    for i in range(code.shape[0]):
        out[code[i]] += weight[i]


@jit()
def _flush(sub: Any, cells: Any, out: Any) -> None:
    for i in range(cells):
        out[i] += np.int64(sub[i]) + sub[cells + i] + sub[2 * cells + i] + sub[3 * cells + i]
        sub[i] = sub[cells + i] = sub[2 * cells + i] = sub[3 * cells + i] = 0


@jit()
def count_jobs(
    address: Any, width: Any, size: Any, weight: Any, start: int, stop: int,
    job_columns: Any, job_start: Any, out_start: Any, first_job: int, last_job: int, out: Any,
) -> None:  # fmt: skip
    """Add the tables of jobs ``first_job .. last_job`` over rows ``start .. stop`` to ``out``.

    ``address, width, size``: of every column; ``weight``: how many rows each represents (empty: one);
    ``job_columns[job_start[j] : job_start[j + 1]]``: the columns of job j, the last varying fastest;
    ``out[out_start[j] : out_start[j + 1]]``: its table.
    """
    short, long = np.empty(BLOCK_ROWS, np.uint16), np.empty(BLOCK_ROWS, np.uint32)
    sub = np.zeros(4 * MAX_SMALL_CELLS, np.uint32)
    weighted = weight.shape[0] > 0
    for j in range(first_job, last_job):
        columns = job_columns[job_start[j] : job_start[j + 1]]
        table = out[out_start[j] : out_start[j + 1]]
        cells = table.shape[0]
        small = cells <= MAX_SMALL_CELLS and not weighted
        since = 0
        for low in range(start, stop, BLOCK_ROWS):
            rows = min(BLOCK_ROWS, stop - low)
            if cells <= 65536:
                _encode(short[:rows], low, columns, address, width, size)
                if small:
                    _count_small(short[:rows], sub, cells)
                elif weighted:
                    _count_weighted(short[:rows], weight[low : low + rows], table)
                else:
                    _count_large(short[:rows], table)
            else:
                _encode(long[:rows], low, columns, address, width, size)
                if weighted:
                    _count_weighted(long[:rows], weight[low : low + rows], table)
                else:
                    _count_large(long[:rows], table)
            since += rows
            if small and since >= FLUSH_ROWS:
                _flush(sub, cells, table)
                since = 0
        if small:
            _flush(sub, cells, table)
