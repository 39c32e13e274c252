"""What must be said beside a graph, in plain words: console, report and ``graph.json`` say the same.

From the released result alone. A missing edge is never called independence, an arrow never surer than the answers it
rests on, and an edge about which nothing could be tested has no direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcausal.discovery.consistent import SETTLED, in_order

if TYPE_CHECKING:
    from collections.abc import Collection

    from dpcausal.discovery.knowledge import Pair
    from dpcausal.discovery.result import DiscoveryResult

SURE, HINT = 0.8, 0.5  # found again: from SURE on drawn heavily, below HINT told to be a hint only
PLAIN = "-: direction not decided by the data."
UNKNOWN = "direction not known"
GIVEN_OUT = (
    "Given out: the graph and these words, which follow from what was computed. The noisy values themselves are not "
    "written, though the promise covers them too."
)


def pairs_words(result: DiscoveryResult, pairs: Collection[Pair], between: str = " - ") -> str:
    """``a - b, c - d``, in the order of the columns, as edges are listed."""
    return ", ".join(between.join(pair) for pair in in_order(pairs, result.graph.nodes))


def arrow_words(result: DiscoveryResult) -> str:
    """What an arrow means here; less where answers contradict each other."""
    if not result.conflicts:
        return "the same direction in every graph that fits the answers; a wrong answer can turn it round"
    if result.method in SETTLED:
        return "the same direction in every graph nearest to the answers, which contradict each other (see below)"
    return "where an answer points; answers contradict each other, so no graph has all these directions"


def legend(result: DiscoveryResult) -> list[str]:
    """What the marks in the list of edges mean: only those that are there."""
    drawn = result.drawn
    lines = [f"->: {arrow_words(result)}."] if drawn.directed else []
    if drawn.undirected - result.unknown_directions:
        lines.append(PLAIN)
    if result.unknown_directions:
        lines.append(
            f"{UNKNOWN}: nothing could be tested about the edge, or hardly anything in the whole graph."
        )
    return [" ".join(lines)] if lines else []


def again_words(result: DiscoveryResult) -> str:
    """What the percentages are, from how many repeats, and from where on one counts."""
    many = f"{result.repeats:,} repeats" if result.repeats else "repeats"
    return (
        f"Per cent: in how many of {many} with more noise the edge is found again; it says nothing about the "
        f"direction. Below about {HINT:.0%}: treat the edge as a hint."
    )


def missing_words(result: DiscoveryResult) -> str:
    """What a missing edge means; empty where none is missing, other than by declaration."""
    columns = len(result.graph.nodes)
    if columns * (columns - 1) // 2 <= len(result.graph.skeleton | result.known.left_out):
        return ""
    if result.privacy.epsilon is None:
        return (
            "A missing edge means that no evidence for it was found with this many rows, not that there is no "
            "dependence: weak ones are missed."
        )
    return (
        "A missing edge means that no evidence for it was found at this budget, not that there is no dependence: weak "
        "ones are missed. A single test (dpcausal test) spends its whole epsilon on one question and can find more."
    )


def tiers_words(result: DiscoveryResult) -> str:
    """That directions rest on the answers alone, where no order of time was declared; empty elsewhere."""
    if result.known.tier or not result.drawn.directed - result.known.arrows:
        return ""
    noisy = "" if result.privacy.epsilon is None else "noisy "
    return (
        f"No order of time was declared: arrows rest on {noisy}answers alone and can point the wrong way. With --tiers "
        "(in Python tiers=) none points back in time, at no cost."
    )


def grade(part: float) -> str:
    """How an edge that is found again this often is drawn.

    >>> grade(0.8), grade(0.5), grade(0.35)
    ('sure', 'weaker', 'hint')
    """
    return "sure" if part >= SURE else "weaker" if part >= HINT else "hint"
