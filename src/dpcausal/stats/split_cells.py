"""A row split between two cells: sums of a bounded outcome that cost no more noise than a table of counts.

**Formula.** An outcome y in [0, 1] is rounded to k/M, M = ``UNITS``. Its row adds (1 - k/M, k/M) to the two cells of
its stratum and arm, so that the cells sum to the number of rows and the second to the sum of y. With two levels (k = 0
or M) this is the table of counts. Where y may lie between, one more number says how far outcomes lie from 0 and 1:

    Q = sum of SPREAD 4 (k/M)(1 - k/M),    SPREAD = 1/4,

from which sum y^2 = sum y - Q / (4 SPREAD). Everything is a whole number of units 1/M and the sums are exact.

**Sensitivity** (``split_cells.proof.md``): of the cells l1 1 add, 2 replace; l2 1 add, sqrt 2 replace; and with Q

    l1  1 + SPREAD add,  2 + SPREAD replace;     l2^2  1 + SPREAD^2 add,  2 + SPREAD^2 replace.

**Cost** O(1) a row. **Edge cases**: NaN never occurs (a data set holds numbers within the declared bounds).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved

Ints = NDArray[np.int64]
UNITS = 1 << 16  # M: units that a row is split into
SPREAD = 0.25  # the largest part of a row that Q counts


@proved("split_cells.proof.md")
def split_units(outcome: NDArray[np.float64]) -> Ints:
    """Return how many of ``UNITS`` units each outcome in [0, 1] adds to the second of two cells.

    >>> split_units(np.array([0.0, 0.5, 1.0, 7.0])).tolist()
    [0, 32768, 65536, 65536]
    """
    return np.asarray(np.rint(np.clip(outcome, 0.0, 1.0) * UNITS), dtype=np.int64)


@proved("split_cells.proof.md")
def spread_units(units: Ints) -> Ints:
    """Return the contribution of each outcome to Q, its distance from 0 and 1, in whole units.

    >>> spread_units(np.array([0, 32768, 65536])).tolist()
    [0, 16384, 0]
    """
    quarter = int(4 * SPREAD)
    return np.asarray((quarter * units * (UNITS - units)) // UNITS, dtype=np.int64)


@proved("split_cells.proof.md")
def split_sensitivity(neighbours: Neighbours, *, spread: bool, norm: int = 1) -> float:
    """Return the l1 (``norm`` 1) or l2 sensitivity of split cells, in rows; ``spread``: together with Q.

    >>> split_sensitivity(Neighbours.REPLACE_ONE, spread=False), split_sensitivity(Neighbours.ADD_REMOVE, spread=True)
    (2.0, 1.25)
    """
    moved = 1.0 if neighbours is Neighbours.ADD_REMOVE else 2.0
    if norm == 1:
        return moved + (SPREAD if spread else 0.0)
    squared = moved + (SPREAD**2 if spread else 0.0)
    return math.nextafter(math.sqrt(squared), math.inf) if squared > 1.0 else 1.0
