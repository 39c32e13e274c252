"""Sum tables down to smaller ones: many requests answered from the few tables that cover them."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

_JIT = {"nogil": True, "cache": True}


@nb.njit(**_JIT)
def sum_out(table: Any, size: Any, stride: Any, out: Any) -> None:
    """Add ``table`` (row-major over ``size``) to ``out``, where axis a moves ``stride[a]`` in ``out`` (0: summed)."""
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


@nb.njit(**_JIT)
def answer_requests(
    size: Any, job_columns: Any, job_start: Any, table_start: Any, tables: Any,
    request_columns: Any, request_start: Any, request_job: Any, out_start: Any, first: int, last: int, out: Any,
) -> None:  # fmt: skip
    """For requests ``first .. last``: sum the table of ``request_job`` down to the request's columns, in its order."""
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
