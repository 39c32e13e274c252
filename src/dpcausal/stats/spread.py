"""How the values of a numeric column are spread between its bounds, from noisy counts of cells that grow finer.

**Formula.** The bounds are cut into ``FAN`` cells of equal width. The fullest cells are cut into ``FAN`` cells again,
and so on, ``ROUNDS`` times, so that a law that fills a ten-thousandth of its bounds is still seen. Each round counts
the rows of its new cells; the counts get noise before anything is done with them. Then, round by round, the total of a
cell (n, or the noisy sum, at the top) is shared out among its ``FAN`` parts by

    the step function with the least squared distance from the noisy counts, plus ``STEP_COST`` sd^2 for each step

sd that of the noise, then the nearest counts of at least 0 with that total; ``EVEN_SHARE`` of it is spread evenly, as
small counts that noise hides are not nothing. One heavy part among light ones is seen from about 4 sd on.

F is the share of the total below a value, a straight line within a cell. floor(m F(z)) are m strata of about equal
counts; the normal quantile of F(z) is a normal score.

**Guarantee** (``spread.proof.md``): the counts of one round have l1 sensitivity 1 (one row added) or 2 (replaced), l2
1 or sqrt 2; which cells a round counts follows from the rounds before.

**Cost** O(n) a round. **Edge cases**: no rows, or all in one cell, give a line; an atom ends up in one small cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FAN = 64  # parts of a cell
ROUNDS = 3  # rounds of counting
FINEST = FAN**ROUNDS  # cells of the last round, if all were cut: the places of ``counts/feature_sums.py``
MAX_CUT = 16  # cells that a round cuts, at most
STEP_COST = 7.0  # of a step, in squared standard deviations of the noise
EVEN_SHARE = 0.15  # of a total, which is spread evenly: what noise hides is not taken for nothing
MIN_CUT = 4.0  # standard deviations of the noise from which a cell is worth cutting


@proved("spread.proof.md")
def cell_counts(places: Integers, starts: Integers, unit: int, rows: Integers | None = None) -> Integers:
    """Return the number of rows in each of the FAN parts of the cells [start, start + unit).

    ``rows`` is how many rows are at each of the ``places``, one unless given.

    >>> cell_counts(np.array([0, 5, 70_000]), np.array([0]), FINEST, np.array([1, 1, 2])).sum().item()
    4
    """
    part = unit // FAN
    which = np.full(FINEST // unit, -1, np.int64)
    which[starts // unit] = np.arange(len(starts))
    cell = which[places // unit]
    inside = cell >= 0
    parts = cell[inside] * FAN + (places[inside] // part) % FAN
    if rows is None:
        return np.bincount(parts, minlength=len(starts) * FAN)
    found = np.zeros(len(starts) * FAN, np.int64)
    np.add.at(found, parts, rows[inside])
    return found


@proved("spread.proof.md")
def counts_sensitivity(neighbours: Neighbours | str, norm: int = 1) -> float:
    """Return the sensitivity of the counts of one round in the l1 or l2 norm.

    >>> counts_sensitivity("add-remove"), counts_sensitivity("replace-one")
    (1.0, 2.0)
    """
    if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE:
        return 1.0
    return 2.0 if norm == 1 else math.sqrt(2.0)


@dataclass(frozen=True)
class Spread:
    """The distribution function of a column, a line through ``shares`` at ``knots`` (in finest cells), and its total.

    >>> Spread(np.array([0.0, FINEST]), np.array([0.0, 1.0]), 10.0).below(np.array([1.0, 3.0]), 0.0, 4.0).tolist()
    [0.25, 0.75]
    """

    knots: Floats
    shares: Floats
    total: float

    def below(self, values: Floats, lower: float, upper: float) -> Floats:
        """Return the share of rows below every value."""
        scaled = (values - lower) / (upper - lower) * FINEST
        return np.asarray(np.interp(scaled, self.knots, self.shares))

    def strata(self, values: Floats, lower: float, upper: float, count: int) -> Integers:
        """Return the stratum of every value, 0 to count - 1, of strata with about equal counts."""
        return np.minimum((self.below(values, lower, upper) * count).astype(np.int64), count - 1)


class Measuring:
    """Counts of one column round by round: ask for ``counts``, give them to ``learn`` with their noise.

    ``rows`` is how many rows are at each of the ``places``, one unless given.

    Only ``counts`` looks at rows. All else follows from what ``learn`` was given.
    """

    def __init__(
        self, places: Integers, n: int | None, even: float = EVEN_SHARE, rows: Integers | None = None
    ) -> None:
        self._places, self._rows, self._n, self._even = places, rows, n, even
        self._starts, self._widths = np.zeros(1, np.int64), np.full(1, FINEST, np.int64)
        self._counts = np.zeros(1)
        self._cut = np.zeros(1, np.int64)  # positions of the cells that this round cuts

    def counts(self) -> Integers:
        """Return the exact counts of this round. Not private: for a mechanism."""
        unit = int(self._widths[self._cut[0]])
        return cell_counts(self._places, self._starts[self._cut], unit, self._rows)

    @property
    def size(self) -> int:
        """The number of counts in this round."""
        return len(self._cut) * FAN

    def learn(self, noisy: Floats, sd: float) -> None:
        """Take the noisy counts of this round, and choose which cells the next round cuts."""
        parts = np.reshape(noisy, (-1, FAN))
        unit = int(self._widths[self._cut[0]])
        if unit == FINEST:
            self._counts[0] = max(float(noisy.sum()) if self._n is None else float(self._n), 1.0)
        found = [
            shared_out(part, float(self._counts[at]), sd, self._even)
            for part, at in zip(parts, self._cut, strict=True)
        ]
        starts = (self._starts[self._cut][:, None] + np.arange(FAN) * (unit // FAN)).ravel()
        uncut = np.ones(len(self._starts), np.bool_)
        uncut[self._cut] = False
        new_starts = np.concatenate([self._starts[uncut], starts])
        order = np.argsort(new_starts, kind="stable")
        self._starts = new_starts[order]
        self._widths = np.concatenate([self._widths[uncut], np.full(len(starts), unit // FAN)])[order]
        self._counts = np.concatenate([self._counts[uncut], *found])[order]
        fresh = np.flatnonzero(self._widths == unit // FAN)
        fullest = fresh[np.argsort(-self._counts[fresh], kind="stable")][:MAX_CUT]
        self._cut = np.array(
            [at for i, at in enumerate(fullest) if i == 0 or self._counts[at] > MIN_CUT * sd], np.int64
        )

    def spread(self) -> Spread:
        """Return the quantiles that the rounds so far have shown."""
        below = np.concatenate([[0.0], np.cumsum(self._counts)])
        knots = np.append(self._starts, FINEST).astype(np.float64)
        return Spread(knots, below / max(below[-1], 1e-300), float(below[-1]))


def shared_out(noisy: Floats, total: float, sd: float, even: float = EVEN_SHARE) -> Floats:
    """Return an estimate of counts from noisy ones: non-negative, with sum ``total``.

    >>> shared_out(np.array([3.0, 90.0, -4.0, 8.0]), 100.0, 5.0).round(1).tolist()
    [6.9, 80.9, 6.1, 6.1]
    """
    steps = stepped(noisy, sd)
    falling = np.sort(steps)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(steps) + 1)
    counts = np.maximum(steps - excess[max(int(np.sum(falling > excess)) - 1, 0)], 0.0)
    counts *= total / max(float(counts.sum()), 1e-300)  # what rounding left
    even = even if sd > 0.0 else 0.0
    return np.asarray((1 - even) * counts + even * total / len(counts))


def stepped(noisy: Floats, sd: float) -> Floats:
    """Return the step function that fits the counts best, with a penalty of ``STEP_COST`` sd^2 for each step."""
    if sd <= 0.0:
        return noisy
    size = len(noisy)
    sums = np.concatenate([[0.0], np.cumsum(noisy)])
    squares = np.concatenate([[0.0], np.cumsum(np.square(noisy))])
    cost, last = np.zeros(size + 1), np.zeros(size + 1, np.int64)
    for end in range(1, size + 1):
        length = end - np.arange(end)
        error = squares[end] - squares[:end] - np.square(sums[end] - sums[:end]) / length
        costs = cost[:end] + error + STEP_COST * sd * sd
        last[end] = int(np.argmin(costs))
        cost[end] = costs[last[end]]
    fitted, end = np.empty(size), size
    while end > 0:
        start = int(last[end])
        fitted[start:end] = (sums[end] - sums[start]) / (end - start)
        end = start
    return fitted
