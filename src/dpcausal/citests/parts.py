"""Tests on disjoint random parts of the rows, and the public choice of how many."""

from __future__ import annotations

from collections.abc import Callable

from dpcausal.citests.base import Outcome, TestSettings
from dpcausal.core.errors import InputError
from dpcausal.counts.sampling import deal_equal, deal_fair
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.tulap import part_sizes

LEAST_ROWS = 20  # rows a part must have for a test on it to mean anything
ROWS_UNKNOWN = 10_000  # what a plan assumes where n is not public


def part_count(wanted: int, terms: TestSettings) -> int:
    """How many parts are dealt: ``wanted``, or fewer where n is public and small; a power of two under add-remove.

    >>> from dpcausal.core.neighbours import Neighbours
    >>> part_count(20, Terms(1.0, 0.0, 0.05, Neighbours.ADD_REMOVE, None))
    32
    """
    if wanted < 1:
        raise InputError(f"parts must be at least 1, not {wanted}")
    if terms.n is None:
        return 1 << (wanted - 1).bit_length()
    return max(1, min(wanted, terms.n // LEAST_ROWS))


def deal(blocks: Blocks, parts: int, terms: TestSettings) -> list[Blocks]:
    """The table of every part."""
    if terms.n is None:
        return deal_fair(blocks, (parts - 1).bit_length())
    return deal_equal(blocks, part_sizes(terms.n, parts))


def pvalues(
    blocks: Blocks, parts: int, terms: TestSettings, test: Callable[[Blocks, float], Outcome]
) -> list[float]:
    """The classical p-value of every part. Not private: for a mechanism only."""
    found = [test(part, terms.level).pvalue for part in deal(blocks, parts, terms)]
    return [1.0 if p is None else p for p in found]
