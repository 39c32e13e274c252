"""Statistics of tables in whole numbers, for counts that float64 and 64-bit integers can't hold well enough.

The kernels beside the statistics are fast, and their rounding errors are proved to stay below half a step of the grid
on which a mechanism releases them, up to a number of rows that each proof states. Beyond that number the statistics
come here. There is no limit, so no data set is refused for its size: where the number of rows is protected a refusal
would tell it.

**Formula.** Every term of a sum over blocks is a fraction of integers; it is rounded down to a multiple of 2^-96, and
these are added exactly. The sum is cut to +-``CUT`` and rounded once, to the nearest float64.

**Guarantee** (``exact.proof.md``): each result is within 2^-18 of the exact statistic cut to +-``CUT``, and cutting
moves no two values apart. **Cost** about 2 microseconds a cell; only tables of more than some 10^9 rows come here.
**Edge cases**: as beside the statistics; a block of fewer than two rows adds 0. Beyond some 10^11 rows the cut makes
variances too small, so the level of a test no longer holds; its privacy does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.proofs import proved
from dpcausal.stats.blocks import Blocks

BITS = 96  # of a fraction
CUT = 1 << 35  # no statistic leaves with more than this: doubles below it are 2^-18 apart, or less
Block = list[list[int]]
Floats = NDArray[np.float64]


def rows_of(table: NDArray[np.integer]) -> float:
    """Return the number of rows of a table as a float, without overflow."""
    return float(table.sum(dtype=np.float64))


@proved("exact.proof.md")
def exact_kendall(blocks: Blocks) -> tuple[float, float]:
    """Return blocked Kendall's statistic and variance (``stats/kendall.py``) by integers, clamped to +-``CUT``.

    >>> exact_kendall(np.array([[[2, 0], [0, 2]], [[0, 1], [1, 0]]]))
    (0.5, 0.5833333333333334)
    """
    value = variance = 0
    for block, rows, columns, n in _with_margins(blocks):
        value += _fraction(_score(block), n)
        pairs = _unequal_pairs(rows, n) * _unequal_pairs(columns, n)
        if n == 2:
            variance += _fraction(pairs, 2 * n**3 * (n - 1))
        else:
            triples = _unequal_triples(rows, n) * _unequal_triples(columns, n)
            variance += _fraction(2 * triples + 9 * (n - 2) * pairs, 18 * n**3 * (n - 1) * (n - 2))
    return _cut(value), _cut(variance)


@proved("exact.proof.md")
def exact_spearman(blocks: Blocks) -> tuple[float, float]:
    """Return blocked Spearman's statistic and variance (``stats/spearman.py``) by integers, clamped to +-``CUT``.

    >>> exact_spearman(np.array([[[1, 0, 0], [0, 1, 0], [0, 0, 1]]]))
    (2.0, 2.0)
    """
    value = variance = 0
    for block, rows, columns, n in _with_margins(blocks):
        a, b = _scores(rows, n), _scores(columns, n)
        product = sum(
            count * x * y for row, x in zip(block, a, strict=True) for count, y in zip(row, b, strict=True)
        )
        value += _fraction(3 * product, n * (n + 1))
        spread = (n**3 - sum(t**3 for t in rows)) * (n**3 - sum(t**3 for t in columns))
        variance += _fraction(spread, n**2 * (n + 1) ** 2 * (n - 1))
    return _cut(value), _cut(variance)


@proved("exact.proof.md")
def exact_scores(blocks: Blocks) -> list[int]:
    """Return the concordant minus the discordant pairs of every block, as Python integers.

    >>> exact_scores(np.array([[[2, 0], [0, 2]]]))
    [4]
    """
    return [_score(block.tolist()) for block in blocks]


@proved("exact.proof.md")
def exact_evidence(
    blocks: Blocks, sides_x: NDArray[np.uint8], sides_y: NDArray[np.uint8], threshold: float, floor: float
) -> tuple[float, float]:
    """Return dependence and information (``stats/evidence.py``) by exact integers, clamped to +-``CUT``.

    >>> from dpcausal.stats.evidence import evidence
    >>> table, side = np.array([[[9, 1], [2, 8]]]), np.array([[1, 0]], np.uint8)
    >>> exact_evidence(table, side, side, 2.0, 1.0), evidence(table, side, side, 2.0, 1.0)
    ((1.2173422692419535, 4.5), (1.2173422692419535, 4.5))
    """
    dependence: int | None = None
    information = 0
    least, factor = int(Fraction(floor) * 2**BITS), int(Fraction(threshold) * 2**BITS)
    for x in sides_x.astype(bool):
        for y in sides_y.astype(bool):
            value = variance = largest = 0
            for block in blocks:
                n, r1, c1, both = (
                    sum(part.ravel().tolist()) for part in (block, block[x], block[:, y], block[x][:, y])
                )
                if n < 2:
                    continue
                r0, c0 = n - r1, n - c1
                value += _fraction(both * n - r1 * c1, n)
                variance += _fraction(r1 * r0 * c1 * c0, n * n * (n - 1))
                small, large = sorted((min(r1, r0), min(c1, c0)))
                largest += _fraction(small * (n - large), n)
            spread = factor * math.isqrt(max(variance, least) << BITS) >> BITS
            found = abs(value) - spread
            dependence = found if dependence is None else max(dependence, found)
            information = max(information, largest)
    return -math.inf if dependence is None else _cut(dependence), _cut(information)


@proved("exact.proof.md")
def exact_interaction(margin: NDArray[np.integer]) -> Floats:
    """Return the component of a margin of counts (``stats/components.py``), each cell the nearest float64.

    >>> exact_interaction(np.array([[30, 10], [10, 50]])).tolist()
    [[15.0, -15.0], [-15.0, 15.0]]
    """
    found = margin.astype(object)
    for axis, size in enumerate(margin.shape):
        found = size * found - found.sum(axis=axis, keepdims=True)
    cells = math.prod(margin.shape)
    return np.array([count / cells for count in found.ravel()], dtype=np.float64).reshape(margin.shape)


def _with_margins(blocks: Blocks) -> Iterator[tuple[Block, list[int], list[int], int]]:
    """Yield every block of at least two rows as Python integers, with its margins and its number of rows."""
    for table in blocks:
        block: Block = table.tolist()
        rows, columns = [sum(row) for row in block], [sum(column) for column in zip(*block, strict=True)]
        n = sum(rows)
        if n >= 2:
            yield block, rows, columns, n


def _score(block: Block) -> int:
    """Return the concordant minus the discordant pairs of a block."""
    above = [0] * len(block[0])  # column counts of the rows passed
    score = 0
    for row in block:
        left, passed = 0, sum(above)
        for count, over in zip(row, above, strict=True):
            score += count * (2 * left + over - passed)  # left of it minus right of it
            left += over
        above = [over + count for over, count in zip(above, row, strict=True)]
    return score


def _scores(counts: list[int], n: int) -> list[int]:
    """Return, for every level, the points below minus the points above it."""
    below, found = 0, []
    for count in counts:
        found.append(2 * below + count - n)
        below += count
    return found


def _unequal_pairs(counts: list[int], n: int) -> int:
    """Return the number of ordered pairs of n points that are not in one level."""
    return n * (n - 1) - sum(t * (t - 1) for t in counts)


def _unequal_triples(counts: list[int], n: int) -> int:
    """Return the number of ordered triples of n points that are not all in one level."""
    return n * (n - 1) * (n - 2) - sum(t * (t - 1) * (t - 2) for t in counts)


def _fraction(numerator: int, denominator: int) -> int:
    """Return a fraction as an integer multiple of 2^-96, rounded down."""
    return (numerator << BITS) // denominator


def _cut(multiple: int) -> float:
    """Return a multiple of 2^-96 as the nearest float, clamped to +-``CUT``."""
    most = CUT << BITS
    return max(min(multiple, most), -most) / (1 << BITS)
