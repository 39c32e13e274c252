"""Evidence on a question from tests on disjoint parts of the rows: for statistics that one row moves without bound.

**Formula.** The rows are dealt into m parts and a classical test gives a p-value on each. With R the number of parts
whose p-value is at most t, and I the number of parts on which the test had anything to decide,

    C = m t + T sqrt(m t (1 - t))          the largest R that m independent tests of size t leave unsurprising
    dependence  = R - C                    above 0: x and y are dependent
    information = I - C                    the largest dependence that these parts could have shown

The median of the p-values is at most t exactly where R is at least m/2; R - m/2 is its distance from t, in parts. So
this is the median of the reconciled test [1] as a score: no smooth sensitivity, no delta, and C where [1] has m/2.

**Guarantee** (``part_evidence.proof.md``): one row is in one part and moves each by at most 1, whatever the test is and
under both relations. **Null law**: R is binomial(m, t) where p-values are uniform; t and C are public. **Cost** O(m).
**Edge cases**: a part without degrees of freedom counts in neither R nor I.

References: [1] Wang, Pang & Song 2020, Algorithm 6 and Definition 10.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved

PART_LEVEL = 0.2  # t: the size of the test on each part
MAX_PARTS = 1 << 14


def unsurprising(parts: int, threshold: float, part_level: float = PART_LEVEL) -> float:
    """Return C: how many of ``parts`` independent tests of size t reject without surprise; public.

    >>> round(unsurprising(100, 2.0), 9)
    28.0
    """
    return parts * part_level + threshold * math.sqrt(parts * part_level * (1 - part_level))


def parts_for(wanted: float, threshold: float, most: int) -> int:
    """Return the least number of parts whose dependence can reach ``wanted``, or ``most`` where none does; public.

    >>> parts_for(20.0, 2.0, 1000), parts_for(20.0, 2.0, 10)
    (31, 10)
    """
    if not wanted < MAX_PARTS:
        return min(most, MAX_PARTS)
    low, high = 1, MAX_PARTS
    while low < high:  # m - C grows with m from m = 1 on, or is below 0
        middle = (low + high) // 2
        low, high = (
            (low, middle) if middle - unsurprising(middle, threshold) >= wanted else (middle + 1, high)
        )
    return max(1, min(low, most))


def decidable(parts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return, for tables (part, k, r, c), where some block has two non-empty rows and columns and three counts or more.

    >>> decidable(np.array([[[[3, 0], [1, 2]]], [[[3, 2], [0, 0]]]])).tolist()
    [True, False]
    """
    rows, columns = (parts.sum(axis=3) > 0).sum(axis=2), (parts.sum(axis=2) > 0).sum(axis=2)
    able: NDArray[np.bool_] = np.any((rows > 1) & (columns > 1) & (parts.sum(axis=(2, 3)) > 2), axis=1)
    return able


@proved("part_evidence.proof.md")
def part_evidence(pvalues: ArrayLike, able: ArrayLike, threshold: float) -> tuple[float, float]:
    """Return (dependence, information) of the p-values of parts; ``able``: where the test had anything to decide.

    >>> part_evidence([0.01] * 90 + [0.9] * 10, [True] * 95 + [False] * 5, threshold=2.0)
    (62.0, 67.0)
    """
    p: NDArray[np.float64] = np.asarray(pvalues, np.float64)
    can: NDArray[np.bool_] = np.asarray(able, np.bool_)
    if p.shape != can.shape or p.ndim != 1 or not 1 <= p.size <= MAX_PARTS:
        raise InputError(f"parts must be one list of 1 to {MAX_PARTS} p-values, and as many flags")
    rejected = int(np.count_nonzero(can & (p <= PART_LEVEL)))  # a NaN rejects nothing
    most = unsurprising(p.size, threshold)
    return rejected - most, int(np.count_nonzero(can)) - most
