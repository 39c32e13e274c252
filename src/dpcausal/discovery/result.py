"""The result of a discovery: a CPDAG, what it cost, and what could not be tested.

Everything here is a fact; ``dpcausal.present`` makes the words and pictures.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from dpcausal.core.display import display
from dpcausal.core.statement import PrivacyStatement
from dpcausal.discovery.knowledge import Knowledge, Pair, declared
from dpcausal.discovery.search import MethodReason, Note
from dpcausal.graphs.graph import Graph
from dpcausal.planning.designs import Reach

UNTESTED_SHARE = 0.9  # of the edges: from here on the number of edges says how little was learned


class Verdict(StrEnum):
    """How much a search could decide; edges declared beforehand don't count."""

    DECIDED = "decided"  # more than a tenth of the edges was fully tested
    NO_EDGE_TESTED = "no-edge-tested"  # pairs were separated, so missing edges do say something
    HARDLY_ANY_TESTED = "hardly-any-tested"
    NOTHING_DECIDED = (
        "nothing-decided"  # hardly any pair was separated either: the graph is where the search began
    )


@dataclass(frozen=True, kw_only=True)
class DiscoveryResult:
    """The answer of ``dc.discover``, with what it cost.

    Attributes
    ----------
    graph : Graph
        The CPDAG: arrows where the data decide a direction, plain edges where they do not.
    privacy : PrivacyStatement
        What the discovery cost and what that means.
    method : str
        The method that was used.
    reason : MethodReason
        Why this method was used.
    level : float
        The level of every test.
    asked : dict
        How many questions were asked, by size of the conditioning set.
    untested : frozenset of pairs
        Edges kept although a question about them stayed open.
    complete : bool
        Whether the search asked every question that it needed.
    separating : dict
        For every pair without an edge, the set that separated it.
    notes : tuple of Note
        What the method did and what must be known about the graph.
    settled : bool
        Whether, where answers contradict each other, the nearest graph that exists is shown.
    confidence : mapping of pairs to float, or None
        How often each edge is found again on noise drawn anew; None where that was not asked for.
    repeats : int or None
        How many times the search was repeated for it.
    conflicts : frozenset of pairs
        Edges on whose directions answers contradict each other.
    known : Knowledge
        What was declared beforehand.
    answered : frozenset of pairs
        Edges about which at least one question was answered.
    rows : int or None
        The number of rows where it is public.
    reach : Reach or None
        The smallest dependences that the plan of this release expects to find.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("asia").sample(20_000, seed=1)
    >>> result = dc.discover(data, epsilon=2.0, delta=1e-6)
    >>> frozenset({"smoke", "bronc"}) in result.graph.skeleton, result.privacy.epsilon <= 2.0
    (True, True)
    """

    graph: Graph
    privacy: PrivacyStatement
    method: str
    reason: MethodReason
    level: float
    asked: dict[int, int]
    untested: frozenset[Pair]
    complete: bool
    separating: dict[Pair, tuple[str, ...]]
    notes: tuple[Note, ...]
    settled: bool = False  # where answers contradict each other, the nearest graph that exists is shown
    confidence: Mapping[Pair, float] | None = None
    conflicts: frozenset[Pair] = frozenset()
    known: Knowledge = field(default_factory=Knowledge)
    repeats: int | None = None
    answered: frozenset[Pair] = frozenset()
    rows: int | None = None
    reach: Reach | None = None

    @property
    def why(self) -> str:
        """Why this method was used, in words."""
        return display().words(self.reason)

    @property
    def verdict(self) -> Verdict:
        """How much the search could decide."""
        edges = self.graph.skeleton - self.known.kept
        left = len(self.untested & edges)
        if not left or left < UNTESTED_SHARE * len(edges):
            return Verdict.DECIDED
        columns = len(self.graph.nodes)
        pairs = columns * (columns - 1) // 2 - len(self.known.kept | self.known.left_out)
        if len(edges) >= UNTESTED_SHARE * pairs:
            return Verdict.NOTHING_DECIDED
        return Verdict.NO_EDGE_TESTED if left == len(edges) else Verdict.HARDLY_ANY_TESTED

    @property
    def unsure_arrows(self) -> frozenset[tuple[str, str]]:
        """Arrows, other than declared ones, on edges that stand because they could not be tested: no findings."""
        return frozenset(
            arrow
            for arrow in self.graph.directed
            if frozenset(arrow) in self.untested and arrow not in self.known.arrows
        )

    @property
    def unknown_directions(self) -> frozenset[Pair]:
        """Untested edges shown without a direction, unless it was declared: nothing about them was answered.

        Where hardly any edge was tested (``verdict``) that is every untested one: directions follow from all edges.
        """
        left = self.untested - {frozenset(arrow) for arrow in self.known.arrows}
        return left if self.verdict is not Verdict.DECIDED else left - self.answered

    @property
    def drawn(self) -> Graph:
        """The graph as it is shown: without the arrows on ``unknown_directions``, which ``graph`` keeps."""
        heads = {arrow for arrow in self.graph.directed if frozenset(arrow) in self.unknown_directions}
        plain = [*(tuple(pair) for pair in self.graph.undirected), *heads]
        return Graph(self.graph.nodes, self.graph.directed - heads, plain) if heads else self.graph

    @property
    def found_confidence(self) -> dict[Pair, float]:
        """Confidence in edges that were not declared: a required edge is there whatever the data."""
        return {pair: part for pair, part in (self.confidence or {}).items() if pair not in self.known.kept}

    def edges(self) -> list[str]:
        """Return every edge of the graph as ``a -> b`` or ``a - b``."""
        return [f"{a} -> {b}" if arrow else f"{a} - {b}" for a, b, arrow in self.graph.edges()]

    def edge_lines(self) -> list[str]:
        """Return every edge on a line, with its confidence where it has one, and what the marks mean."""
        return display().summary(self, part="edges").splitlines()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON: words under ``why``, ``notes``, ``missing_edges``; facts under ``facts``."""
        shown = display()
        return {
            "method": self.method,
            "why": self.why,
            "level": self.level,
            "graph": json.loads(self.graph.to_json()),
            "complete": self.complete,
            "untested": sorted_pairs(self.untested),
            "conflicts": sorted_pairs(self.conflicts),
            "unsure_arrows": sorted(list(arrow) for arrow in self.unsure_arrows),
            "separating": [
                {"pair": sorted(pair), "given": list(given)}
                for pair, given in sorted(self.separating.items(), key=lambda item: sorted(item[0]))
            ],
            "asked": {str(order): count for order, count in sorted(self.asked.items())},
            "notes": [shown.words(note) for note in self.notes],
            "declared": declared(self.known),
            "confidence": None if self.confidence is None else confidence_list(self.confidence),
            "confidence_repeats": self.repeats,
            "missing_edges": shown.summary(self, part="missing_edges"),
            "facts": self.facts(),
            "privacy": self.privacy.to_dict(),
        }

    def facts(self) -> dict[str, Any]:
        """Return the facts behind the words as plain data."""
        return {
            "reason": self.reason.to_dict(),
            "verdict": str(self.verdict),
            "notes": [note.to_dict() for note in self.notes],
        }

    def to_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def report(self, path: str | os.PathLike[str]) -> str:
        """Write one self-contained HTML page and return its path.

        Raises
        ------
        InputError
            If the file can't be written.
        """
        return display().report(self, path)

    def plot(self, ax: Any = None) -> Any:
        """Draw the graph with matplotlib on ``ax`` or on new axes; return the axes."""
        return display().plot(self, ax)

    def plot_budget(self, ax: Any = None) -> Any:
        """Draw where the budget went; the same as ``privacy.plot()``."""
        return self.privacy.plot(ax)

    def summary(self) -> str:
        """Return the graph and what it cost, in words."""
        return display().summary(self)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        cost = f"epsilon={self.privacy.epsilon}, delta={self.privacy.delta}"
        stamp = "" if self.privacy.private else ", private=False"
        return f"DiscoveryResult({len(self.graph.skeleton)} edges, method={self.method!r}, {cost}{stamp})"

    def _repr_html_(self) -> str:
        return display().html(self)


def sorted_pairs(pairs: Collection[Pair]) -> list[list[str]]:
    """Return pairs as sorted lists of sorted names, for JSON."""
    return sorted(sorted(pair) for pair in pairs)


def confidence_list(confidence: Mapping[Pair, float]) -> list[dict[str, Any]]:
    """Return confidences as plain data, for JSON."""
    return [
        {"pair": sorted(pair), "found_again": part}
        for pair, part in sorted(confidence.items(), key=lambda item: sorted(item[0]))
    ]


def in_order(pairs: Collection[Pair], columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Return pairs, and the names in each, in the order of the columns: as a graph lists its edges.

    >>> in_order([frozenset("bc"), frozenset("ca")], ["c", "b", "a"])
    [('c', 'b'), ('c', 'a')]
    """
    place = {name: j for j, name in enumerate(columns)}
    ends = [tuple(sorted(pair, key=place.__getitem__)) for pair in pairs]
    return sorted(ends, key=lambda pair: [place[name] for name in pair])
