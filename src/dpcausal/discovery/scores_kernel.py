"""Evidence for and against independence of a (k, r, c) table over all pairs of two-way splits, in one pass."""

from __future__ import annotations

import math
from typing import Any

import numba as nb
import numpy as np

from dpcausal.core.proofs import proved


@nb.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
@proved("scores.proof.md")
def evidence(blocks: Any, sides_x: Any, sides_y: Any, threshold: float, floor: float) -> tuple[float, float]:
    """(largest |K| - T sqrt(max(V, V0)), largest M) over the splits; see ``scores.py`` for K, V and M."""
    k, r, c = blocks.shape
    dependence, information = -math.inf, 0.0
    row = np.empty(c, np.int64)
    for a in range(sides_x.shape[0]):
        for b in range(sides_y.shape[0]):
            statistic, variance, largest = 0.0, 0.0, 0.0
            for i in range(k):
                n, r1, c1, both = 0, 0, 0, 0
                row[:] = 0
                for x in range(r):
                    inside = sides_x[a, x]
                    for y in range(c):
                        count = blocks[i, x, y]
                        n += count
                        row[y] += count
                        if inside:
                            r1 += count
                            if sides_y[b, y]:
                                both += count
                if n < 2:
                    continue
                for y in range(c):
                    if sides_y[b, y]:
                        c1 += row[y]
                r0, c0 = n - r1, n - c1
                statistic += both - float(r1) * c1 / n
                variance += float(r1) * r0 / n * (float(c1) * c0 / n) / (n - 1)
                m, most = min(r1, r0), min(c1, c0)
                if m > most:
                    m, most = most, m
                largest += float(m) * (n - most) / n
            dependence = max(dependence, abs(statistic) - threshold * math.sqrt(max(variance, floor)))
            information = max(information, largest)
    return dependence, information
