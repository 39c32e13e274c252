"""The result of a discovery: a CPDAG, what it cost, and what could not be tested."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from dpcausal.core.statement import PrivacyStatement
from dpcausal.discovery.declared import declared, declared_words
from dpcausal.discovery.headline import as_sentence, headline, undecided_words
from dpcausal.discovery.knowledge import Knowledge, Pair
from dpcausal.discovery.result_words import (
    GIVEN_OUT,
    UNKNOWN,
    again_words,
    legend,
    missing_words,
    pairs_words,
    tiers_words,
)
from dpcausal.graphs.graph import Graph

UNSURE = "; a direction shown there is unsure, since the edge itself may not exist"


@dataclass(frozen=True, kw_only=True)
class DiscoveryResult:
    """``graph`` is the CPDAG; ``untested`` are edges that stand only because the budget ended before they were tested.

    ``asked`` counts the questions by order; ``notes`` says in words what the method did. ``confidence`` (measured,
    where asked for): how often each edge is found again on noise drawn anew, of ``repeats`` (``confidence.py``).
    ``conflicts``: edges on whose directions answers contradict each other (``consistent.py``). ``known``: what was
    declared beforehand. ``answered``: edges about which at least one question was answered.
    ``sizes`` (levels or bins of each column) and ``rows``, where their number is public: for what a plan says.
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
    repeats: int | None = None
    answered: frozenset[Pair] = frozenset()
    sizes: tuple[int, ...] = ()
    rows: int | None = None

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
            "unsure_arrows": sorted(list(arrow) for arrow in self.unsure_arrows),
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
            "confidence_repeats": self.repeats,
            "missing_edges": missing_words(self),
            "privacy": self.privacy.to_dict(),
        }

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def edges(self) -> list[str]:
        """Every edge of the graph in words: ``a -> b`` or ``a - b``."""
        return [f"{a} -> {b}" if arrow else f"{a} - {b}" for a, b, arrow in self.graph.edges()]

    def report(self, path: str) -> str:
        """Write one self-contained HTML page (``dpcausal.report``); its path."""
        write: Any = import_module("dpcausal.report.page").write  # the report room is above this one
        return str(write(self, path))

    def plot(self, ax: Any = None) -> Any:
        """Draw the graph with matplotlib (``dpcausal.plots``) on ``ax`` or on new axes; the axes."""
        return import_module("dpcausal.plots").plot_graph(self.drawn, ax, untested=self.untested)

    def plot_budget(self, ax: Any = None) -> Any:
        """Draw where the budget went; the same as ``privacy.plot()``."""
        return self.privacy.plot(ax)

    def summary(self) -> str:
        """The graph and what it cost, in words."""
        lines = [headline(self), *self.edge_lines()]
        lines += [told for told in (missing_words(self), tiers_words(self)) if told]
        if told := declared_words(self.known):
            lines.append(f"{told} A direction that follows from it was not found in the data.")
        if self.untested:
            whole = len(self.untested) > 3 and self.untested == self.graph.skeleton
            kept = "every edge" if whole else pairs_words(self, self.untested)
            unsure = UNSURE if self.unsure_arrows & self.drawn.directed else ""
            lines.append(f"Not fully tested, kept: {kept}{unsure}")
        lines += [*map(as_sentence, self.notes), self.privacy.summary()]
        lines += [GIVEN_OUT] if self.privacy.epsilon is not None else []
        return "\n".join(lines)

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

        Where hardly any edge was tested (``headline.py``) that is every untested one: directions follow from all edges.
        """
        left = self.untested - {frozenset(arrow) for arrow in self.known.arrows}
        return left if undecided_words(self) else left - self.answered

    @property
    def drawn(self) -> Graph:
        """The graph as it is shown: without the arrows on ``unknown_directions``, which ``graph`` keeps."""
        heads = {arrow for arrow in self.graph.directed if frozenset(arrow) in self.unknown_directions}
        plain = [*(tuple(pair) for pair in self.graph.undirected), *heads]
        return Graph(self.graph.nodes, self.graph.directed - heads, plain) if heads else self.graph

    def edge_lines(self) -> list[str]:
        """Every edge on a line, with its confidence where it has one (a required edge has none), and a legend."""
        sure = {pair: part for pair, part in (self.confidence or {}).items() if pair not in self.known.kept}
        rows = [
            (f"{a} -> {b}" if arrow else f"{a} - {b}", frozenset((a, b)))
            for a, b, arrow in self.drawn.edges()
        ]
        wide = max((len(edge) for edge, _ in rows), default=0)
        lines = []
        for edge, pair in rows:
            part = f"{sure[pair]:>6.0%}" if pair in sure else "" if not sure else " " * 6
            told = f"  {UNKNOWN}" if pair in self.unknown_directions else ""
            lines.append(f"  {edge:<{wide}}{part}{told}".rstrip())
        joined = {name for _, pair in rows for name in pair}
        lines += [f"  {name} (no edge)" for name in self.graph.nodes if name not in joined]
        shown = any(pair in sure for _, pair in rows)
        return [*lines, *legend(self), *([again_words(self)] if shown else [])]

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        cost = f"epsilon={self.privacy.epsilon}, delta={self.privacy.delta}"
        return f"DiscoveryResult({len(self.graph.skeleton)} edges, method={self.method!r}, {cost})"

    def _repr_html_(self) -> str:
        html: str = import_module("dpcausal.report.notebook").html(self)
        return html
