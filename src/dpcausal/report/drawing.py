"""The graph as SVG: arrows solid with heads, plain edges dashed without, so that colour carries no meaning.

An edge that was not fully tested is dotted; one on whose direction answers contradict each other is dashed and dotted.
Where confidence is known, the width of a line shows it (``result_words.grade``): heavy from 80% on, thin below,
thinnest below 50%.
"""

from __future__ import annotations

from html import escape
from unicodedata import east_asian_width

from dpcausal.discovery.result_words import grade
from dpcausal.graphs.graph import Graph
from dpcausal.report.edge_words import EdgeNotes
from dpcausal.report.layout import layout
from dpcausal.report.routes import HEIGHT, Line, frame, lines, row

MARGIN = 24.0


def box_width(name: str) -> float:
    """Room for a name in 14-pixel type.

    >>> box_width("age"), round(box_width("blood_pressure"))
    (60.0, 139)
    """
    letters = sum(2 if east_asian_width(letter) in "WF" else 1 for letter in name)
    return max(60.0, 8.2 * letters + 24.0)


def node_words(graph: Graph, name: str) -> str:
    """One node with all its edges as a sentence."""
    parts = [
        (label, sorted(found))
        for label, found in (
            ("arrows from", graph.parents(name)),
            ("arrows to", graph.children(name)),
            ("linked, direction not known:", graph.neighbours(name)),
        )
        if found
    ]
    return f"{name}: " + ("; ".join(f"{label} {', '.join(names)}" for label, names in parts) or "no edges")


def svg(graph: Graph, marks: EdgeNotes | None = None, name: str = "graph") -> str:
    """An ``<svg>`` element that scales with its container; every edge and node has a hover text.

    ``name`` is its id; two drawings on one page need different ones.
    """
    width = {node: box_width(node) for node in graph.nodes}
    places = layout(graph, width)
    drawn = lines(places, width)
    left, top, right, bottom = frame(places, width, drawn)
    wide, high = right - left + 2 * MARGIN, bottom - top + 2 * MARGIN
    sizes = f'viewBox="{left:g} {top:g} {wide:g} {high:g}" style="--natural: {wide:g}px"'
    parts = [
        f'<svg id="{name}" {sizes} role="group" aria-label="Causal graph, {len(graph.skeleton)} edges">',
        f'<defs><marker id="{name}-head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="13" markerHeight="13" '
        'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" class="head"/></marker>'
        "</defs>",
        f'<g transform="translate({MARGIN:g} {MARGIN:g})">',
    ]
    parts += [_edge(graph, line, marks or EdgeNotes(), f"{name}-head") for line in drawn]
    for node in graph.nodes:
        x, y, box = places.x[node], row(places.layer[node]), width[node]
        words = escape(node_words(graph, node))
        parts.append(
            f'<g class="node" data-name="{escape(node)}" tabindex="0" aria-label="{words}"><title>{words}</title>'
            f'<rect x="{x - box / 2:.1f}" y="{y - HEIGHT / 2:.1f}" width="{box:.1f}" height="{HEIGHT:g}" rx="9"/>'
            f'<text x="{x:.1f}" y="{y + 5:.1f}">{escape(node)}</text></g>'
        )
    return "\n".join([*parts, "</g>", "</svg>"])


def _edge(graph: Graph, line: Line, marks: EdgeNotes, marker: str) -> str:
    pair = frozenset((line.upper, line.lower))
    arrow = pair not in graph.undirected
    upward = arrow and (line.lower, line.upper) in graph.directed
    a, b = (line.lower, line.upper) if upward else (line.upper, line.lower)
    words = escape(marks.sentence(a, b, arrow))
    kind = ("arrow" if arrow else "plain") + (" untested" if pair in marks.untested else "")
    kind += " conflict" if pair in marks.conflicts else ""
    kind += f" {grade(marks.confidence[pair])}" if pair in marks.confidence else ""
    head = (f' marker-{"start" if upward else "end"}="url(#{marker})"') if arrow else ""
    points = " ".join(f"{x:.1f} {y:.1f}" for x, y in line.points)
    ends = f'data-upper="{escape(line.upper)}" data-lower="{escape(line.lower)}" data-points="{points}"'
    return (
        f'<g class="edge {kind}" {ends} tabindex="0" aria-label="{words}"><title>{words}</title>'
        f'<path class="hit" d="{line.path}"/><path class="line" d="{line.path}"{head}/></g>'
    )
