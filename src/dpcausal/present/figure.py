"""The graph as one SVG file: drawing, legend and caption, with its own style, for a paper or a slide.

The drawing is the report's (``svg.py``), and so are marks, weights and legend (``legend.py``). It needs nothing around
it: no style sheet, no script, no font but the reader's own. Ink on white, whatever the theme of the page.
"""

from __future__ import annotations

from dataclasses import replace
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING

from dpcausal.graphs.graph import Graph
from dpcausal.graphs.pag import PAG
from dpcausal.present import hidden
from dpcausal.present.brief_graph import target_of
from dpcausal.present.edges import EdgeNotes
from dpcausal.present.legend import DASHES, WIDTHS, Key, keys
from dpcausal.present.svg import drawing

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult

INK, SOFT = "#1b1f24", "#57606a"
LETTER, LINE, SAMPLE = (
    6.4,
    18.0,
    44.0,
)  # of the legend: width of a letter, height of a line, length of a sample
MIN_WIDTH = 460.0


def _rules(name: str) -> str:
    rules = [
        f".edge path {{ fill: none; stroke: {INK}; stroke-width: {WIDTHS['']:g}; }}",
        ".edge path.hit { stroke: none; }",
        *(f".edge.{kind} .line {{ stroke-width: {wide:g}; }}" for kind, wide in WIDTHS.items() if kind),
        *(
            f".edge.{kind} .line {{ stroke-dasharray: {' '.join(f'{part:g}' for part in dashes)}; }}"
            for kind, dashes in DASHES.items()
            if dashes
        ),
        f".edge.open .line {{ stroke: {SOFT}; stroke-opacity: .7; }}",
        f".head {{ fill: {INK}; }}",
        f".ring {{ fill: #fff; stroke: {INK}; stroke-width: 1.4; }}",
        f".node rect {{ fill: #fff; stroke: {INK}; stroke-width: 1.6; }}",
        f".node text {{ text-anchor: middle; font: 14px Helvetica, Arial, sans-serif; fill: {INK}; }}",
        f".key text, .caption {{ font: 12px Helvetica, Arial, sans-serif; fill: {SOFT}; }}",
    ]
    return " ".join(f"#{name} {rule}" for rule in rules)


def pictured(result: DiscoveryResult) -> DiscoveryResult:
    """Return the result as it is drawn: with a target, it and what is linked to it, or may be, alone in the graph."""
    target = target_of(result)
    if target is None:
        return result
    near = {name for pair in (*result.graph.skeleton, *result.open) if target in pair for name in pair}
    nodes = [name for name in result.graph.nodes if name in near | {target}]
    graph = result.graph
    kept = (
        PAG(nodes, [edge for edge in graph.marked_edges() if {edge[0], edge[2]} <= {*nodes}])
        if isinstance(graph, PAG)
        else Graph(
            nodes,
            [arrow for arrow in graph.directed if {*arrow} <= {*nodes}],
            [pair for pair in graph.undirected if pair <= {*nodes}],
        )
    )
    return replace(result, graph=kept)


def caption(result: DiscoveryResult) -> str:
    """Return what must stand below every copy of the graph: what it cost, or that it is not private."""
    statement = result.privacy
    if statement.epsilon is None:
        return f"NOT PRIVATE: {statement.why_not_private}"
    cost = f"method {result.method}; epsilon {statement.epsilon:g}, delta {statement.delta:g}, {statement.neighbours}"
    return cost if statement.private else f"NOT PRIVATE: {statement.why_not_private} ({cost})"


def _sample(key: Key, name: str, x: float, y: float) -> str:
    ends = hidden.key_ends(key.ends, name)
    return (
        f'<g class="edge {key.kind if key.kind in (*DASHES, *WIDTHS) else "marked"}">'
        f'<path class="line" d="M{x:g} {y:g}H{x + SAMPLE - 8:g}"{ends}/></g>'
    )


def figure_svg(result: DiscoveryResult, *, open: bool = False, name: str = "figure") -> str:  # noqa: A002
    """Return the file's text; ``open``: whether open pairs are drawn. ``name`` keeps its ids and rules apart."""
    result = pictured(result)
    marks = EdgeNotes.of(result)
    left = result.open if open else ()
    parts, (x, y, wide, high) = drawing(result.shown, marks, name, left)
    wide = max(wide, MIN_WIDTH)
    at, legend = y + high + 4, []
    told = [key for key in keys(result, marks) if open or key.kind != "open"]
    for key in told:
        lines = wrap(key.words, int((wide - SAMPLE - 24) / LETTER))
        words = "".join(
            f'<text x="{x + 12 + SAMPLE:g}" y="{at + LINE * i + 13:g}">{escape(line)}</text>'
            for i, line in enumerate(lines)
        )
        legend.append(f'<g class="key">{_sample(key, name, x + 12, at + 9)}{words}</g>')
        at += LINE * len(lines)
    at += 6
    for line in wrap(caption(result), int((wide - 24) / LETTER)):
        legend.append(f'<text class="caption" x="{x + 12:g}" y="{at + 13:g}">{escape(line)}</text>')
        at += LINE
    tall = at - y + 10
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" id="{name}" viewBox="{x:g} {y:g} {wide:g} {tall:g}" '
            f'width="{wide:g}" height="{tall:g}" role="img" '
            f'aria-label="Causal graph, {len(result.graph.skeleton)} edges">',
            f"<style>{_rules(name)}</style>",
            f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{tall:g}" fill="#fff"/>',
            *parts,
            *legend,
            "</svg>",
        ]
    )
