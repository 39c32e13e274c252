"""How sure an edge is: how often a search finds it again when noise of the released law is added once more.

From released values alone, so it costs nothing. Each repeat adds fresh noise of the same law to every released cell,
tells the tests that the variance has doubled, and searches anew; the confidence of an edge is the part of the repeats
in which it is found. It speaks of the noise that privacy needs, not of sampling error, and of an edge, not of its
direction. The noise is louder than it was, so an edge near its limit gets less than it would by a second release: a
cautious number.

This is simulation, not privacy: no statistic of the data passes through here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dpcausal.core.public_random import generator
from dpcausal.discovery.components import NoisyTables
from dpcausal.discovery.knowledge import Pair


def found_again(
    tables: NoisyTables, search: Callable[[NoisyTables], frozenset[Pair]], edges: Iterable[Pair], repeats: int
) -> dict[Pair, float]:
    """The part of ``repeats`` in which ``search`` finds each of ``edges`` on louder tables."""
    normal = generator().standard_normal
    counts = dict.fromkeys(edges, 0)
    for _ in range(repeats):
        found = search(tables.louder(normal))
        for pair in counts:
            counts[pair] += pair in found
    return {pair: count / repeats for pair, count in counts.items()}
