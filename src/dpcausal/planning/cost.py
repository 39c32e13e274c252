"""Time and memory that a discovery by ``measured`` takes, about, from public numbers.

**Formula.** Reading and coding takes time and memory by the cell. The search, its repeats included, works on matrices
with a row for every level but one of every column; its time grows with their squares. The constants are the slopes
measured by ``benchmarks/hospital_time.py`` and by reading CSV files, rounded up, on one core of two at 3 GHz; compiling
the kernels, once on a machine, is not in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

START_SECONDS = 2.0
SECONDS_A_CELL = 1.5e-7
SECONDS_A_SQUARE = 4e-4  # of the number of levels but one, summed over columns
START_MEBIBYTES = 270.0
BYTES_A_CELL = 10.0


@dataclass(frozen=True)
class Cost:
    """What a run takes.

    Attributes
    ----------
    seconds : float
        Of one core, about, once kernels are compiled.
    mebibytes : float
        Of memory, about.
    """

    seconds: float
    mebibytes: float


def cost_of(sizes: Sequence[int], rows: int) -> Cost:
    """Return what a discovery on so many rows with columns of these numbers of levels takes.

    >>> found = cost_of((3,) * 20, 20_000)
    >>> round(found.seconds, 1), round(found.mebibytes)
    (2.7, 274)
    """
    cells, features = rows * len(sizes), sum(max(size - 1, 0) for size in sizes)
    seconds = START_SECONDS + SECONDS_A_CELL * cells + SECONDS_A_SQUARE * features**2
    return Cost(seconds, START_MEBIBYTES + BYTES_A_CELL * cells / 2**20)
