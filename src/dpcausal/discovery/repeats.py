"""Confidence in an edge: how often it is found again on another sample and with other noise.

A parametric bootstrap from what was released: each repeat draws what another sample of the same size and other noise
would have released, and searches again. The truth is drawn, too, from what is known of it after the release (tables),
or is the released estimate (moments). It speaks of sampling and privacy noise, not of what the model leaves out, and of
an edge, not of its direction. What is drawn follows from released numbers, so that the same release gives the same
figures whenever they are computed again.

**Guarantee.** Post-processing: costs nothing, and the number of repeats follows from released values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dpcausal.core.arguments import checked_count
from dpcausal.core.errors import InputError
from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.search import Task

MAX_REPEATS = 10_000
REPEATS, MIN_REPEATS = 100, 20  # unless asked otherwise: fewer where a repeat asks much
CONFIDENCE = "repeats that tell how often each edge is found again; none is 20 to 100"  # the option, in words


def checked_repeats(asked: object) -> int | None:
    """Return the number of repeats asked for; None: as many as are quickly done.

    >>> checked_repeats(50), checked_repeats(None)
    (50, None)
    """
    if asked is None:
        return None
    number = checked_count(asked, "confidence")
    if number > MAX_REPEATS:
        raise InputError(f"confidence comes from at most {MAX_REPEATS:,} repeats, not {number:,}")
    return number


def repeats_for(asked: int | None, work: int, each: int) -> int:
    """Return how many repeats: as asked for, or as many as cost ``work`` questions where one costs ``each``.

    >>> repeats_for(None, 60_000, 300), repeats_for(None, 60_000, 1_500), repeats_for(7, 60_000, 1_500)
    (100, 40, 7)
    """
    if asked is not None:
        return asked
    return max(MIN_REPEATS, min(REPEATS, work // max(each, 1)))


def found_again(
    task: Task, edges: Iterable[Pair], repeats: int, search_again: Callable[[], Iterable[Pair]]
) -> dict[Pair, float]:
    """Return the part of ``repeats`` in which ``search_again`` finds each of ``edges``."""
    counts = dict.fromkeys(edges, 0)
    with task.stage("repeating the search on other samples and other noise", repeats) as tick:
        for _ in range(repeats):
            for pair in search_again():
                if pair in counts:
                    counts[pair] += 1
            tick(1)
    return {pair: count / max(repeats, 1) for pair, count in counts.items()}
