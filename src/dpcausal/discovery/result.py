"""The result of a discovery: a CPDAG, what it cost, and what could not be tested."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from dpcausal.core.statement import PrivacyStatement
from dpcausal.discovery.declared import declared, declared_words
from dpcausal.discovery.headline import as_sentence, headline
from dpcausal.discovery.knowledge import Knowledge, Pair
from dpcausal.graphs.graph import Graph

LEGEND = "->: the same direction in every graph that fits; -: direction not decided by the data."
AGAIN = "Per cent: how often the edge is found again when more noise is added; it says nothing about the direction."

UNSURE = "; a direction shown there is unsure, since the edge itself may not exist"


@dataclass(frozen=True, kw_only=True)
class DiscoveryResult:
    """``graph`` is the CPDAG; ``untested`` are edges that stand only because the budget ended before they were tested.

    ``asked`` counts the questions by order; ``notes`` says in words what the method did. ``confidence`` (measured,
    where asked for): how often each edge is found again on noise drawn anew (``confidence.py``). ``conflicts``: edges
    on whose directions answers contradict each other (``consistent.py``). ``known``: what was declared beforehand.
    """

    graph: Graph
    privacy: PrivacyStatement
    method: str
    why: str
    level: float
    asked: dict[int, int]
    untested: frozenset[Pair]
    complete: bool
    separating: dict[Pair, tuple[str, ...]]
    notes: tuple[str, ...]
    confidence: Mapping[Pair, float] | None = None
    conflicts: frozenset[Pair] = frozenset()
    known: Knowledge = field(default_factory=Knowledge)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "method": self.method,
            "why": self.why,
            "level": self.level,
            "graph": json.loads(self.graph.to_json()),
            "complete": self.complete,
            "untested": sorted(sorted(pair) for pair in self.untested),
            "conflicts": sorted(sorted(pair) for pair in self.conflicts),
            "separating": [
                {"pair": sorted(pair), "given": list(given)}
                for pair, given in sorted(self.separating.items(), key=lambda item: sorted(item[0]))
            ],
            "asked": {str(order): count for order, count in sorted(self.asked.items())},
            "notes": list(self.notes),
            "declared": declared(self.known),
            "confidence": None
            if self.confidence is None
            else [
                {"pair": sorted(pair), "found_again": part}
                for pair, part in sorted(self.confidence.items(), key=lambda item: sorted(item[0]))
            ],
            "privacy": self.privacy.to_dict(),
        }

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def edges(self) -> list[str]:
        """Every edge in words: ``a -> b`` or ``a - b``."""
        return [f"{a} -> {b}" if arrow else f"{a} - {b}" for a, b, arrow in self.graph.edges()]

    def report(self, path: str) -> str:
        """Write one self-contained HTML page (``dpcausal.report``); its path."""
        write: Any = import_module("dpcausal.report.page").write  # the report room is above this one
        return str(write(self, path))

    def plot(self, ax: Any = None) -> Any:
        """Draw the graph with matplotlib (``dpcausal.plots``) on ``ax`` or on new axes; the axes."""
        return import_module("dpcausal.plots").plot_graph(self.graph, ax, untested=self.untested)

    def plot_budget(self, ax: Any = None) -> Any:
        """Draw where the budget went; the same as ``privacy.plot()``."""
        return self.privacy.plot(ax)

    def summary(self) -> str:
        """The graph and what it cost, in words."""
        lines = [headline(self), *self.edge_lines()]
        if told := declared_words(self.known):
            lines.append(f"{told} A direction that follows from it was not found in the data.")
        if self.untested:
            pairs = ", ".join(" - ".join(sorted(pair)) for pair in sorted(self.untested, key=sorted))
            lines.append(f"Not fully tested, kept: {pairs}{UNSURE if self.unsure_arrows else ''}")
        lines += [*map(as_sentence, self.notes), self.privacy.summary()]
        return "\n".join(lines)

    @property
    def unsure_arrows(self) -> frozenset[tuple[str, str]]:
        """Arrows, other than declared ones, on edges that stand because they could not be tested: no findings."""
        return frozenset(
            arrow
            for arrow in self.graph.directed
            if frozenset(arrow) in self.untested and arrow not in self.known.arrows
        )

    def edge_lines(self) -> list[str]:
        """Every edge on a line, with its confidence where it has one (a required edge has none), and a legend."""
        sure = {pair: part for pair, part in (self.confidence or {}).items() if pair not in self.known.kept}
        pairs = [frozenset((a, b)) for a, b, _ in self.graph.edges()]
        edges = self.edges()
        if not any(pair in sure for pair in pairs):
            return [*(f"  {edge}" for edge in edges), *([LEGEND] if edges else [])]
        wide = max(map(len, edges))
        parts = [f"{sure[pair]:>6.0%}" if pair in sure else "" for pair in pairs]
        lines = [f"  {edge:<{wide}}{part}".rstrip() for edge, part in zip(edges, parts, strict=True)]
        return [*lines, LEGEND, AGAIN]

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        cost = f"epsilon={self.privacy.epsilon}, delta={self.privacy.delta}"
        return f"DiscoveryResult({len(self.graph.skeleton)} edges, method={self.method!r}, {cost})"

    def _repr_html_(self) -> str:
        html: str = import_module("dpcausal.report.notebook").html(self)
        return html
