"""Nanoseconds of one core that the kernels take, by which a way of counting is chosen.

Measured by ``benchmarks/counting.py --calibrate``; being off by a factor costs time, never correctness.
"""

from __future__ import annotations

STAGE_NS = 0.10  # staged kernel: per row and column
COUNT_NS = 0.62  # staged kernel: per row
WEIGHTED_NS = 1.2  # staged kernel on distinct rows: per distinct row
PLANE_NS = 0.0105  # bit planes: per row and cell of the table
PACK_NS = 0.35  # bit planes: per row and plane, once
MARGIN_NS = 0.7  # summing a covering table down: per cell and request
COVER_NS = 8.0  # finding a cover: per request and open group
SORT_NS = 30.0  # compression by sorting: per row
PARALLEL_NS = 400_000  # less work than this is done by the calling thread
