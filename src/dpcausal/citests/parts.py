"""Disjoint random parts of a table or of the rows, dealt without looking at values, and the public choice of how many.

Where the number of rows is public all parts have the same size up to one row; where it is protected every row is dealt
to its part by coins of its own, so that one row more or less moves no other, and the number of parts is a power of two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.base import TestSettings
from dpcausal.core.entropy import random_bytes
from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.counts.sampling import deal_equal, deal_fair
from dpcausal.privacy.noise import permutation
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.tulap import part_sizes

MIN_PART_ROWS = 20  # rows that a part must have for a test on it to mean anything
ASSUMED_ROWS = 10_000  # the number of rows that a plan is made for where it is not public


def power_of_two(parts: int) -> int:
    """Return the least power of two that is at least ``parts``.

    >>> power_of_two(20), power_of_two(1)
    (32, 1)
    """
    return 1 << (parts - 1).bit_length()


def part_count(wanted: int, settings: TestSettings) -> int:
    """Return how many parts are dealt: ``wanted``, or fewer where n is public and small; else a power of two.

    >>> from dpcausal.core.neighbours import Neighbours
    >>> part_count(20, TestSettings(1.0, 0.0, 0.05, Neighbours.ADD_REMOVE, None))
    32
    """
    if wanted < 1:
        raise InputError(f"parts must be at least 1, not {wanted}")
    if settings.n is None:
        return power_of_two(wanted)
    return max(1, min(wanted, settings.n // MIN_PART_ROWS))


@proved("parts.proof.md")
def deal_table(blocks: Blocks, parts: int, settings: TestSettings) -> list[Blocks]:
    """Return the table of every part."""
    if settings.n is None:
        return deal_fair(blocks, (parts - 1).bit_length())
    return deal_equal(blocks, part_sizes(settings.n, parts))


@proved("parts.proof.md")
def deal_rows(n: int, parts: int, settings: TestSettings) -> list[NDArray[np.int64]]:
    """Return the numbers of the rows of every part; ``parts`` is a power of two where n is not public."""
    if settings.n is not None:
        return np.array_split(permutation(n), parts)
    labels = np.frombuffer(random_bytes(4 * n), np.uint32) & np.uint32(parts - 1)
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.searchsorted(labels[order], np.arange(1, parts)))
