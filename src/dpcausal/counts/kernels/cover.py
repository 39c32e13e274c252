"""Cover many small tables by few larger ones, so that one pass over the rows answers several requests.

Best fit: each request joins the open group that grows least in cells, if the grown group stays within ``cap``
cells; else it opens a group. Only public sizes and the requests themselves enter. O(requests x open groups).
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

WINDOW = 512  # how many of the newest groups are tried: bounds the time on long lists
_JIT = {"nogil": True, "cache": True}


@nb.njit(**_JIT)
def cover(request_columns: Any, request_start: Any, size: Any, cap: int) -> tuple[Any, Any, Any]:
    """(group of each request, membership[group, column], number of groups)."""
    requests, columns = request_start.shape[0] - 1, size.shape[0]
    words = (columns + 63) // 64
    mask = np.zeros((requests, words), np.uint64)  # columns of each group
    cells = np.zeros(requests, np.float64)
    group = np.zeros(requests, np.int64)
    groups = 0
    for r in range(requests):
        wanted = request_columns[request_start[r] : request_start[r + 1]]
        own = 1.0
        for c in wanted:
            own *= size[c]
        best, best_growth = -1, np.inf
        for g in range(max(0, groups - WINDOW), groups):
            growth = 1.0
            for c in wanted:
                if not (mask[g, c >> 6] >> nb.uint64(c & 63)) & nb.uint64(1):
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
            bit = nb.uint64(1) << nb.uint64(c & 63)
            if not mask[best, c >> 6] & bit:
                mask[best, c >> 6] |= bit
                cells[best] *= size[c]
        group[r] = best
    member = np.zeros((groups, columns), np.bool_)
    for g in range(groups):
        for c in range(columns):
            member[g, c] = (mask[g, c >> 6] >> nb.uint64(c & 63)) & nb.uint64(1) != 0
    return group, member, groups
