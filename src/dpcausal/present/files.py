"""A result's files for other programs: the graph in three formats, with what must be known of its edges, and the cost.

``graph.json`` is the graph's own format (``graphs/formats.py``) with more keys, which readers of graphs ignore:

- ``untested``: edges kept though a question about them stayed open, as pairs;
- ``complete``: whether the search asked every question that it needed;
- ``unsure_arrows``: arrows, other than declared ones, on ``untested`` edges: no findings;
- ``missing_edges``: what a missing edge means, in words;
- ``conflicts``: edges on whose directions answers contradict each other, as pairs;
- ``declared``: background knowledge: directions that follow from it were not found in the data;
- ``confidence``, where it was asked for: ``pair`` and ``found_again``, which says nothing about a direction, and
  ``confidence_repeats``: of how many repeats;
- ``method``, ``why``: what searched, and why it was taken; ``notes``: what it did, and what must be known of the graph;
- ``facts``: the same for programs, as kinds and numbers: ``reason``, ``verdict`` and ``notes``;
- ``private``, and ``why_not_private`` where it is not: noise from a seed, or none;
- ``caveats``, where there are any: that the promise is weak, or the schema an unchecked draft;
- ``privacy``: the file with the privacy statement.

``graph.dot`` draws untested edges dotted, without a head where nothing about them was answered, gives those in
``conflicts`` a question mark and others their confidence; ``graph.graphml`` has
``untested``, ``conflict`` (and ``confidence``) on every edge. A graph that is not private says so in all three.
"""

from __future__ import annotations

from typing import Any

from dpcausal.discovery.knowledge import Pair, declared
from dpcausal.discovery.result import DiscoveryResult, confidence_list, sorted_pairs
from dpcausal.graphs.formats import dot_quoted, to_dot, to_graphml, to_json
from dpcausal.present.discovery import missing_words, note_words
from dpcausal.present.statement import caveat_lines

STATEMENT = "privacy.json"


def graph_json(result: DiscoveryResult, statement: str | None = None) -> str:
    """The graph with what must be known of its edges; ``statement`` names the file of its privacy statement."""
    more: dict[str, Any] = {
        "untested": sorted_pairs(result.untested),
        "complete": result.complete,
        "conflicts": sorted_pairs(result.conflicts),
        "unsure_arrows": sorted(list(arrow) for arrow in result.unsure_arrows),
        "missing_edges": missing_words(result),
        "declared": declared(result.known),
        "method": result.method,
        "why": result.why,
        "notes": [note_words(note) for note in result.notes],
        "facts": result.facts(),
    }
    if result.confidence is not None:
        more["confidence"] = confidence_list(result.confidence)
        more["confidence_repeats"] = result.repeats
    more |= stamp(result)
    if words := caveat_lines(result.privacy):
        more["caveats"] = words
    if statement is not None:
        more["privacy"] = statement
    return to_json(result.graph, more)


def file_texts(result: DiscoveryResult) -> dict[str, str]:
    """Text of every file by its name, the privacy statement first."""
    return {
        STATEMENT: result.privacy.to_json(),
        "graph.json": graph_json(result, STATEMENT),
        "graph.dot": to_dot(result.drawn, dot_attributes(result), remark=remark(result)),
        "graph.graphml": to_graphml(result.graph, graphml_attributes(result), more=stamp(result)),
    }


def stamp(result: DiscoveryResult) -> dict[str, Any]:
    """Return whether the graph is private, and if not, why."""
    if result.privacy.private:
        return {"private": True}
    return {"private": False, "why_not_private": result.privacy.why_not_private or ""}


def remark(result: DiscoveryResult) -> str | None:
    """Return the line for a graph that is not private; None for one that is."""
    return None if result.privacy.private else f"NOT PRIVATE: {result.privacy.why_not_private}"


def dot_attributes(result: DiscoveryResult) -> dict[Pair, dict[str, Any]]:
    """Return how Graphviz draws each edge: untested ones dotted, confidence as width and label, conflicts with "?"."""
    sure = result.found_confidence
    found: dict[Pair, dict[str, Any]] = {}
    for pair in result.graph.skeleton:
        marks: dict[str, Any] = {}
        label, told = [], []
        if pair in result.untested:
            marks["style"] = "dotted"
            told.append("not fully tested")
        if pair in sure:
            part = sure[pair]
            marks["confidence"] = f"{part:.4g}"
            marks["penwidth"] = f"{2 if part >= 0.8 else 1 if part >= 0.5 else 0.5:g}"
            label.append(f"{part:.0%}")
            told.append(f"edge found again in {part:.0%} of repeats")
        if pair in result.conflicts:
            marks["conflict"] = "true"
            label.append("?")
            told.append("answers contradict each other about its direction")
        if label:
            marks["label"] = dot_quoted(" ".join(label))
        if told:
            marks["tooltip"] = dot_quoted("; ".join(told))
        found[pair] = marks
    return found


def graphml_attributes(result: DiscoveryResult) -> dict[Pair, dict[str, Any]]:
    """Return what GraphML says of each edge: ``untested``, ``conflict``, and ``confidence`` where it is known."""
    confidence = result.confidence or {}
    return {
        pair: {"untested": pair in result.untested, "conflict": pair in result.conflicts}
        | ({"confidence": float(confidence[pair])} if pair in confidence else {})
        for pair in result.graph.skeleton
    }
