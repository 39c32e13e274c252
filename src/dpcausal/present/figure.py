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
from dpcausal.present.brief_graph import target_of
from dpcausal.present.discovery import counts_words, lone_clauses, undecided_columns
from dpcausal.present.edges import EdgeNotes
from dpcausal.present.legend import BOXES, DASHES, WIDTHS, Key, key_ends, keys
from dpcausal.present.svg import drawing

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult

INK, SOFT = "#1b1f24", "#57606a"
LETTER, LINE, SAMPLE = (
    5.4,
    15.0,
    44.0,
)  # of the legend: width of a letter, height of a line, length of a sample
KEY_GAP = 6.0  # between two keys of the legend, so that arrowheads do not touch
MIN_WIDTH, TITLE = 460.0, 26.0  # of the figure; height of the title
LONE_DRAWN = 12  # columns without an edge that are drawn; more are named below the figure


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
        ".edge.hint .line { stroke-opacity: .6; }",
        f".head {{ fill: {INK}; }}",
        f".told {{ fill: #fff; stroke: {INK}; stroke-width: 1.3; }}",
        ".head.weak { fill-opacity: .6; } .told.weak { stroke-opacity: .6; }",
        f".ring {{ fill: #fff; stroke: {INK}; stroke-width: 1.4; }}",
        f".node rect {{ fill: #fff; stroke: {INK}; stroke-width: 1.6; }}",
        f".node.undecided rect {{ stroke: {SOFT}; stroke-dasharray: 4 3; }}",
        f".node text {{ text-anchor: middle; font: 14px Helvetica, Arial, sans-serif; fill: {INK}; }}",
        f".key text, .caption {{ font: 10.5px Helvetica, Arial, sans-serif; fill: {SOFT}; }}",
        f".title {{ font: 600 14px Helvetica, Arial, sans-serif; fill: {INK}; }}",
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


def data_name(result: DiscoveryResult, file: str = "") -> str:
    """Return what the data set is called: in the ledger, or else by its file; empty where neither is known."""
    return str((result.privacy.ledger or {}).get("dataset") or file)


def figure_title(result: DiscoveryResult, name: str) -> str:
    """Return what the figure shows, of which data and how many rows, as far as that is known and public."""
    target = target_of(result)
    of = [name] if name else []
    of += [f"n = {result.rows:,}"] if result.rows is not None else []
    about = "Causal graph" if target is None else f"What is linked to {target}"
    return f"{about}: {', '.join(of)}" if of else about


def left_out(
    result: DiscoveryResult,
    *,
    open: bool,  # noqa: A002
    wanted: bool = True,
) -> list[str]:
    """Return the columns without an edge that a figure names instead of drawing.

    They are none where they are few, unless they are not ``wanted``, or where open pairs are drawn.
    """
    alone = [name for name in result.graph.nodes if not result.graph.adjacent(name)]
    alone = [name for name in alone if name != target_of(result)]
    if not wanted and open:
        joined = {name for pair in result.open for name in pair}
        return [name for name in alone if name not in joined]
    return alone if not open and (not wanted or len(alone) > LONE_DRAWN) else []


def without(result: DiscoveryResult, names: list[str]) -> DiscoveryResult:
    """Return the result with a graph that lacks these columns, which have no edge."""
    if not names:
        return result
    graph, kept = result.graph, [name for name in result.graph.nodes if name not in {*names}]
    made = (
        PAG(kept, graph.marked_edges())
        if isinstance(graph, PAG)
        else Graph(kept, graph.directed, graph.undirected)
    )
    kept_open = frozenset(pair for pair in result.open if pair <= {*kept})
    return replace(result, graph=made, open=kept_open)


def drawn_notes(whole: DiscoveryResult, drawn: DiscoveryResult) -> EdgeNotes:
    """Return the notes on what is drawn; that nothing could be decided about a column is known from the whole."""
    silent = [name for name in undecided_columns(whole) if name in drawn.graph.nodes]
    return replace(EdgeNotes.of(drawn), undecided=silent)


def lone_words(result: DiscoveryResult, names: list[str]) -> str:
    """Return which columns of the result are not drawn, and why."""
    return f"Not drawn: {'; '.join(lone_clauses(result, names, len(names)))}"


def caption(result: DiscoveryResult) -> str:
    """Return what must stand below every copy of the graph: what it cost, or that it is not private."""
    statement = result.privacy
    if statement.epsilon is None:
        return f"NOT PRIVATE: {statement.why_not_private}"
    cost = (
        f"{counts_words(result)}; method {result.method}; epsilon {statement.epsilon:g}, delta {statement.delta:g}, "
        f"{statement.neighbours}"
    )
    return cost if statement.private else f"NOT PRIVATE: {statement.why_not_private} ({cost})"


def _sample(key: Key, name: str, x: float, y: float) -> str:
    if key.kind in BOXES:
        box = f'<rect x="{x + 4:g}" y="{y - 5:g}" width="{SAMPLE - 16:g}" height="10" rx="4"/>'
        return f'<g class="node {key.kind}">{box}</g>'
    ends = key_ends(key, name)
    return (
        f'<g class="edge {key.kind if key.kind in (*DASHES, *WIDTHS) else "marked"}">'
        f'<path class="line" d="M{x:g} {y:g}H{x + SAMPLE - 8:g}"{ends}/></g>'
    )


def figure_svg(
    result: DiscoveryResult,
    *,
    open: bool = False,  # noqa: A002
    name: str = "figure",
    data: str = "",
) -> str:
    """Return the file's text; ``open``: whether open pairs are drawn.

    ``name`` keeps its ids and rules apart; ``data`` is what the data set is called, where no ledger names it.
    """
    whole = result
    result = pictured(result)
    alone = left_out(result, open=open)
    title = figure_title(result, data_name(result, data))
    result = without(result, alone)
    marks = drawn_notes(whole, result)
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
        at += LINE * len(lines) + KEY_GAP
    below = [*([lone_words(whole, alone)] if alone else []), caption(whole)]
    for line in (line for words in below for line in wrap(words, int((wide - 24) / LETTER))):
        legend.append(f'<text class="caption" x="{x + 12:g}" y="{at + 13:g}">{escape(line)}</text>')
        at += LINE
    heads = wrap(title, int((wide - 24) / (1.4 * LETTER)))
    top = y - TITLE * len(heads)
    legend += [
        f'<text class="title" x="{x + 24:g}" y="{top + TITLE * (i + 1) - 2:g}">{escape(line)}</text>'
        for i, line in enumerate(heads)
    ]
    y, tall = top, at - top + 10
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" id="{name}" viewBox="{x:g} {y:g} {wide:g} {tall:g}" '
            f'width="{wide:g}" height="{tall:g}" role="img" '
            f'aria-label="Causal graph, {len(result.graph.skeleton)} edge{"s" * (len(result.graph.skeleton) != 1)}">',
            f"<style>{_rules(name)}</style>",
            f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{tall:g}" fill="#fff"/>',
            *parts,
            *legend,
            "</svg>",
        ]
    )
