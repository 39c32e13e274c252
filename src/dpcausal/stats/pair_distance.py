"""How far the counts of two columns are from independence: the score by which pairs are chosen.

**Formula.** s = sum over cells of min(|count - expected|, 2^30) - by_chance, all whole numbers: ``expected`` are
counts of independent columns with margins that were released before, and ``by_chance`` is about what sampling adds.

**Guarantee** One row added or removed moves s by at most 1, one row replaced by at most 2, whatever the expected counts
are (``pair_distance.proof.md``). **Cost** O(cells). **Edge cases**: margins without a positive count are taken as even.

References: McKenna, Miklau & Sheldon 2021, section 4 (the same distance, for the same choice).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats.components import Floats

MEAN_ABSOLUTE = math.sqrt(2.0 / math.pi)  # of a standard normal number


LARGEST_GAP, LARGEST_EXPECTED = 1 << 30, 2.0**62  # rows: sums of gaps stay whole for any table


class IfIndependent(NamedTuple):
    """Expected counts of two independent columns, and the distance from them that sampling adds: whole numbers."""

    expected: NDArray[np.int64]
    by_chance: int


@proved("pair_distance.proof.md")
def distance_sensitivity(neighbours: Neighbours) -> float:
    """Return the sensitivity of ``pair_distance``.

    >>> distance_sensitivity(Neighbours.ADD_REMOVE), distance_sensitivity(Neighbours.REPLACE_ONE)
    (1.0, 2.0)
    """
    return 1.0 if neighbours is Neighbours.ADD_REMOVE else 2.0


@proved("pair_distance.proof.md")
def pair_distance(counts: ArrayLike, independent: IfIndependent) -> int:
    """Return the distance of a table of counts from independence, less that expected by chance.

    >>> even = if_independent(np.array([50.0, 50.0]), np.array([50.0, 50.0]), 100.0)
    >>> pair_distance([[40, 10], [10, 40]], even), pair_distance([[25, 25], [25, 25]], even)
    (52, -8)
    """
    gaps = np.abs(np.asarray(counts, dtype=np.int64) - independent.expected)
    return int(np.minimum(gaps, LARGEST_GAP).sum()) - independent.by_chance


def if_independent(x: Floats, y: Floats, rows: float) -> IfIndependent:
    """Return the expected counts under independence, from released margins, and the distance by chance.

    >>> if_independent(np.array([-3.0, -1.0]), np.array([30.0, 10.0]), 40.0).expected.tolist()
    [[15, 5], [15, 5]]
    """
    p, q = _shares(x), _shares(y)
    both = np.outer(p, q)
    spread = np.sqrt(rows * both * np.outer(1.0 - p, 1.0 - q)).sum()
    expected = np.rint(np.minimum(rows * both, LARGEST_EXPECTED)).astype(np.int64)
    return IfIndependent(expected, round(MEAN_ABSOLUTE * float(spread)))


def _shares(counts: Floats) -> Floats:
    """Return the share of every level; equal shares where no count is above 0."""
    known = np.maximum(counts, 0.0)
    whole = float(known.sum())
    return known / whole if whole > 0.0 else np.full(len(known), 1.0 / len(known))
