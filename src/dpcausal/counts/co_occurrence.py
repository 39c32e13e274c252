"""Rows of zeros and ones: how often a column is one, and two together, rows weighted by how many ones they have.

**Guarantee** (``co_occurrence.proof.md``). A row adds its weight, which depends on that row alone, to each of its own
entries and nothing to others; sums are exact. What that means for a sensitivity: ``stats/co_occurrence.py``.
**Cost** O(n d^2) for pairs, whatever the ones are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.proofs import proved
from dpcausal.data.dataset import Dataset

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK = 4096  # rows multiplied at once


@dataclass(frozen=True, eq=False)
class Ones:
    """Rows of zeros and ones: an (n, d) array. Not private: its sums are for a mechanism."""

    rows: NDArray[np.uint8]

    @classmethod
    @proved("co_occurrence.proof.md")
    def of(cls, data: Dataset) -> Ones:
        """Return the 0/1 indicators of every level but the first of each column, in the order of the schema."""
        parts = [data.codes[name][:, None] == np.arange(1, data.schema[name].size) for name in data.schema]
        return cls(np.concatenate(parts, axis=1).astype(np.uint8))

    @proved("co_occurrence.proof.md")
    def numbers(self) -> Ints:
        """Return the number of ones in every row."""
        return np.asarray(self.rows.sum(axis=1, dtype=np.int64))

    @proved("co_occurrence.proof.md")
    def numbers_of_pairs(self, chosen: NDArray[np.bool_]) -> Ints:
        """Return the number of chosen pairs of ones in every row; ``chosen`` is symmetric, diagonal ignored."""
        found = np.empty(len(self.rows), np.int64)
        near = chosen.astype(np.float64)
        for start in range(0, len(self.rows), BLOCK):
            block = self.rows[start : start + BLOCK].astype(np.float64)
            found[start : start + BLOCK] = ((block @ near) * block).sum(axis=1).astype(np.int64) // 2
        return found

    @proved("co_occurrence.proof.md")
    def singles(self, weights: Ints, numbers: Ints, limit: int) -> Floats:
        """Return weighted counts of each indicator, shape (2, d): rows with at most ``limit`` ones, and others."""
        found = np.zeros((2, self.rows.shape[1]))
        for start in range(0, len(self.rows), BLOCK):
            block = self.rows[start : start + BLOCK].astype(np.float64)
            weight, beyond = weights[numbers[start : start + BLOCK]], numbers[start : start + BLOCK] > limit
            found += np.stack((weight * ~beyond, weight * beyond)).astype(np.float64) @ block
        return found

    @proved("co_occurrence.proof.md")
    def pairs(self, weights: Ints, numbers: Ints) -> Floats:
        """Return weighted counts of rows in which two indicators are both 1, (d, d), symmetric; ignore its diagonal.

        ``numbers`` are the ones of every row, by which it is weighted.
        """
        found = np.zeros((self.rows.shape[1],) * 2)
        for start in range(0, len(self.rows), BLOCK):
            block = self.rows[start : start + BLOCK].astype(np.float64)
            found += (block * weights[numbers[start : start + BLOCK], None]).T @ block
        return found


@proved("co_occurrence.proof.md")
def number_counts(numbers: Ints, starts: Sequence[int]) -> Floats:
    """Return the number of rows whose number lies in each interval from one start up to the next.

    >>> number_counts(np.array([0, 0, 3, 9]), [0, 1, 4]).tolist()
    [2.0, 1.0, 1.0]
    """
    places = np.searchsorted(np.asarray(starts), numbers, side="right") - 1
    return np.bincount(places, minlength=len(starts)).astype(np.float64)
