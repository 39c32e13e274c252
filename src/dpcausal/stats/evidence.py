"""Evidence for and against independence of a question, as scores that one row moves by at most a constant.

**Formula.** ``evidence``, over all pairs of two-way splits of a (k, r, c) table in one pass: with K observed minus
expected, V its variance and M the largest |K| that the margins allow, the *dependence* is the largest
|K| - T sqrt(max(V, V0)) and the *information* the largest M. ``value_evidence``: the same from blocked Kendall's K and
V on values. ``spearman_evidence``: |F| - T sqrt(max(U, T^2)) and U, from blocked Spearman. ``score`` puts both together
for the search methods.

**Guarantee** (``evidence.proof.md``): one row moves either by at most ``score_sensitivity``,
``value_score_sensitivity`` or ``spearman_score_sensitivity``. **Cost** O(k r c) for each pair of splits. **Edge
cases**: blocks of fewer than two rows add nothing.

**Parts**, for statistics that one row moves without bound. The rows are dealt into m parts and a classical test gives a
p-value on each. With R the number of parts whose p-value is at most t, and I the number of parts on which the test had
anything to decide,

    C = m t + T sqrt(m t (1 - t))          the largest R that m independent tests of size t leave unsurprising
    dependence  = R - C                    above 0: x and y are dependent
    information = I - C                    the largest dependence that these parts could have shown

The median of the p-values is at most t exactly where R is at least m/2; R - m/2 is its distance from t, in parts. So
this is the median of the reconciled test [1] as a score: no smooth sensitivity, no delta, and C where [1] has m/2. One
row is in one part and moves each by at most 1, whatever the test is and under both relations
(``part_evidence.proof.md``). R is binomial(m, t) where p-values are uniform; t and C are public. A part without degrees
of freedom counts in neither R nor I.

References: [1] Wang, Pang & Song 2020, Algorithm 6 and Definition 10.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.compiled import jit
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.exact import exact_evidence, rows_of
from dpcausal.stats.kendall import kendall_margin_sensitivity, kendall_variance_sensitivity
from dpcausal.stats.spearman import spearman_joint_sensitivity, spearman_variance_sensitivity

Sides = NDArray[np.uint8]
Floats = NDArray[np.float64]
SETTLED_INFORMATION = 1e15  # information of a question whose answer is public
MAX_FLOAT_ROWS, MAX_FLOAT_WORK = 2.0**31, 2.0**41  # n and n (k + 11) up to which float64 is good enough
PART_LEVEL = 0.2  # t: the size of the test on each part
MAX_PARTS = 1 << 14
MAX_K_OVER_V = 4.5  # largest |K| over V, without ties


@jit()
@proved("evidence.proof.md")
def evidence(blocks: Any, sides_x: Any, sides_y: Any, threshold: float, floor: float) -> tuple[float, float]:
    """Return the dependence max |K| - T sqrt(max(V, V0)) and the information max M over splits of the levels."""
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


@proved("evidence.proof.md")
def score_sensitivity(neighbours: Neighbours | str, k: int) -> float:
    """Return the sensitivity D of ``dependence`` and ``information`` of a table with k conditioning cells.

    >>> score_sensitivity("replace-one", k=4), score_sensitivity("replace-one", k=1)
    (2.0, 1.0)
    """
    return 1.0 if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE or k == 1 else 2.0


@proved("evidence.proof.md")
def table_evidence(blocks: Blocks, x: Sides, y: Sides, threshold: float) -> tuple[float, float]:
    """Return (dependence, information) of a table of shape (k, r, c), over the splits ``x`` and ``y`` of its levels."""
    rows, floor = rows_of(blocks), threshold**2 / 4
    if rows > MAX_FLOAT_ROWS or rows * (len(blocks) + 11) > MAX_FLOAT_WORK:
        return exact_evidence(blocks, x, y, threshold, floor)
    found: tuple[float, float] = evidence(blocks, x, y, threshold, floor)
    return found


@proved("evidence.proof.md")
def value_score_sensitivity(neighbours: Neighbours | str, r: int, c: int, k: int) -> float:
    """Return the sensitivity D of ``dependence`` and ``information`` of values.

    >>> from dpcausal.stats.value_ranks import ANY_LEVELS
    >>> round(value_score_sensitivity("replace-one", ANY_LEVELS, ANY_LEVELS, k=256), 4)
    3.2222
    """
    margin = kendall_margin_sensitivity(neighbours, r, c, k, threshold=2.0, floor=1.0)
    return max(margin, MAX_K_OVER_V * kendall_variance_sensitivity(neighbours, r, c))


@proved("evidence.proof.md")
def value_evidence(statistic: float, variance: float, threshold: float) -> tuple[float, float]:
    """Return (dependence, information) from blocked Kendall's statistic K and its variance V."""
    sd = math.sqrt(max(variance, threshold**2 / 4))
    return abs(statistic) - threshold * sd, MAX_K_OVER_V * variance


SPEARMAN_WEIGHT = 0.5  # w of U in (F, w U)


@proved("evidence.proof.md")
def spearman_score_sensitivity(neighbours: Neighbours | str, r: int, c: int, k: int) -> float:
    """Return the sensitivity D of ``dependence`` and ``information`` by Spearman.

    >>> spearman_score_sensitivity("add-remove", 3, 3, k=8), spearman_score_sensitivity("replace-one", 2, 2, k=1)
    (5.5, 4.291666666666667)
    """
    joint = spearman_joint_sensitivity(neighbours, r, c, k, SPEARMAN_WEIGHT)
    return max(joint, spearman_variance_sensitivity(neighbours, r, c))


@proved("evidence.proof.md")
def spearman_evidence(statistic: float, variance: float, threshold: float) -> tuple[float, float]:
    """Return (dependence, information) from blocked Spearman's statistic F and its variance U."""
    return abs(statistic) - threshold * math.sqrt(max(variance, threshold**2)), variance


@proved("evidence.proof.md")
def score(dependence: Floats, information: Floats, shift: float, least: float) -> Floats:
    """Return the private search's score of a pair: high where independence is plausible and testable.

    min(shift - dependence, information - least).
    """
    return np.minimum(shift - dependence, information - least)


def unsurprising(parts: int, threshold: float, part_level: float = PART_LEVEL) -> float:
    """Return the largest number of rejections that ``parts`` tests of independent columns explain; public.

    >>> round(unsurprising(100, 2.0), 9)
    28.0
    """
    return parts * part_level + threshold * math.sqrt(parts * part_level * (1 - part_level))


def parts_for(wanted: float, threshold: float, most: int) -> int:
    """Return the least number of parts whose evidence of dependence can reach ``wanted``, at most ``most``; public.

    >>> parts_for(20.0, 2.0, 1000), parts_for(20.0, 2.0, 10)
    (31, 10)
    """
    if not wanted < MAX_PARTS:
        return min(most, MAX_PARTS)
    low, high = 1, MAX_PARTS
    while low < high:  # m - C grows with m from m = 1 on, or is below 0
        middle = (low + high) // 2
        reached = middle - unsurprising(middle, threshold) >= wanted
        low, high = (low, middle) if reached else (middle + 1, high)
    return max(1, min(low, most))


def decidable(parts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a mask of the parts that can be tested: with two non-empty rows and columns, and three rows of data.

    ``parts`` are tables (part, k, r, c).

    >>> decidable(np.array([[[[3, 0], [1, 2]]], [[[3, 2], [0, 0]]]])).tolist()
    [True, False]
    """
    rows, columns = (parts.sum(axis=3) > 0).sum(axis=2), (parts.sum(axis=2) > 0).sum(axis=2)
    able: NDArray[np.bool_] = np.any((rows > 1) & (columns > 1) & (parts.sum(axis=(2, 3)) > 2), axis=1)
    return able


@proved("part_evidence.proof.md")
def part_evidence(pvalues: ArrayLike, able: ArrayLike, threshold: float) -> tuple[float, float]:
    """Return (dependence, information) from the p-values of parts; ``able`` masks the testable parts.

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
