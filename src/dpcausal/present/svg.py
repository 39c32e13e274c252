"""The graph as SVG: arrows solid with heads, plain edges dashed without, so that colour carries no meaning.

A direction that was declared has a hollow head. A column about which nothing could be decided has a dashed box.
In a graph with hidden causes every end has its mark: a head, a circle or nothing; all lines are solid.
An edge on whose direction answers contradict each other is dashed and dotted. Open pairs, where they are asked for, are
faint dashes without heads that pass below the boxes: they move nothing else in the drawing.
Where confidence is known, the width of a line shows it (``discovery.grade``): heavy from 80% on, thin below, thinnest
below 50%.

A line between two boxes is a list of points that alternates: a curve from the first to the second, a straight piece
down to the third, a curve to the fourth, and so on. Curves are cubic with vertical ends, so they stay between the two
layers they join; straight pieces stand on way points, where no box is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor
from unicodedata import east_asian_width

from dpcausal.discovery.result import in_order
from dpcausal.graphs.graph import Graph, Pair
from dpcausal.graphs.pag import PAG, Mark
from dpcausal.present import hidden
from dpcausal.present.discovery import grade
from dpcausal.present.edges import EdgeNotes, open_sentence
from dpcausal.present.layout import Layout, layout

STEP_Y, HEIGHT = 96.0, 36.0  # from layer to layer; of a box
CLEAR, PORT = 2.0, 20.0  # between a line's end and its box; between the ends of two lines at one box

Point = tuple[float, float]
MARKERS = {Mark.ARROW: "head", Mark.CIRCLE: "ring"}


@dataclass(frozen=True)
class Line:
    """From the box of ``upper`` down to the box of ``lower``."""

    upper: str
    lower: str
    points: tuple[Point, ...]

    @property
    def path(self) -> str:
        """As the ``d`` of an SVG path.

        >>> Line("a", "b", ((0.0, 10.0), (5.0, 30.0))).path
        'M0.0 10.0C0.0 20.0 5.0 20.0 5.0 30.0'
        """
        text = "M{:.1f} {:.1f}".format(*self.points[0])
        for i, ((ax, ay), (bx, by)) in enumerate(zip(self.points, self.points[1:], strict=False)):
            half = (ay + by) / 2
            text += (
                f"L{bx:.1f} {by:.1f}"
                if i % 2
                else f"C{ax:.1f} {half:.1f} {bx:.1f} {half:.1f} {bx:.1f} {by:.1f}"
            )
        return text


def row(layer: int) -> float:
    """Height of the middle of a layer."""
    return layer * STEP_Y + HEIGHT / 2


def lines(layout: Layout, width: Mapping[str, float]) -> list[Line]:
    """One line per edge; lines at one side of a box are spread in the order of where they go."""
    toward: dict[tuple[str, bool], list[tuple[float, tuple[str, str]]]] = {}
    for (upper, lower), ways in layout.ways.items():
        first = ways[0][0] if ways else layout.x[lower]
        last = ways[-1][0] if ways else layout.x[upper]
        toward.setdefault((upper, False), []).append((first, (upper, lower)))
        toward.setdefault((lower, True), []).append((last, (upper, lower)))
    port: dict[tuple[str, tuple[str, str]], float] = {}
    for (name, _), leaving in toward.items():
        step = min(PORT, (width[name] - 22) / max(len(leaving) - 1, 1))
        for i, (_, edge) in enumerate(sorted(leaving)):
            port[name, edge] = layout.x[name] + (i - (len(leaving) - 1) / 2) * step
    found = []
    for (upper, lower), ways in layout.ways.items():
        edge = (upper, lower)
        points = [(port[upper, edge], row(layout.layer[upper]) + HEIGHT / 2 + CLEAR)]
        for x, layer in ways:
            points += [(x, row(layer) - HEIGHT / 2), (x, row(layer) + HEIGHT / 2)]
        points.append((port[lower, edge], row(layout.layer[lower]) - HEIGHT / 2 - CLEAR))
        found.append(Line(upper, lower, tuple(points)))
    return found


SAG = 22.0  # how far a line between two boxes of one layer hangs below them at most: the farther they stand apart


def open_lines(layout: Layout, nodes: Sequence[str], pairs: Collection[Pair]) -> list[Line]:
    """One line per open pair, from box to box as the boxes stand; within a layer it hangs below the boxes."""
    found = []
    for pair in in_order(pairs, nodes):
        upper, lower = sorted(pair, key=lambda name: (layout.layer[name], layout.x[name]))
        (ax, ay), (bx, by) = ((layout.x[name], row(layout.layer[name])) for name in (upper, lower))
        if layout.layer[upper] == layout.layer[lower]:
            low, deep = ay + HEIGHT / 2, min(6.0 + (bx - ax) / 40, SAG)
            in_ = min(deep, (bx - ax) / 2)
            points: tuple[Point, ...] = ((ax, low), (ax + in_, low + deep), (bx - in_, low + deep), (bx, low))
        else:
            points = ((ax, ay + HEIGHT / 2), (bx, by - HEIGHT / 2))
        found.append(Line(upper, lower, points))
    return found


def frame(
    layout: Layout, width: Mapping[str, float], drawn: Sequence[Line]
) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of what holds every box and every line, in whole numbers.

    A curve stays within its control points, which have the x of its ends and lie between them in y: the ends of the
    pieces are enough.
    """
    points = [point for line in drawn for point in line.points]
    for name, x in layout.x.items():
        y = row(layout.layer[name])
        points += [(x - width[name] / 2, y - HEIGHT / 2), (x + width[name] / 2, y + HEIGHT / 2)]
    xs, ys = [x for x, _ in points] or [0.0], [y for _, y in points] or [0.0]
    return float(floor(min(xs))), float(floor(min(ys))), float(ceil(max(xs))), float(ceil(max(ys)))


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
    if isinstance(graph, PAG):
        return hidden.node_words(graph, name)
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


def svg(
    graph: Graph,
    marks: EdgeNotes | None = None,
    name: str = "graph",
    *,
    possible: Collection[Pair] = (),
    shown: bool = True,
) -> str:
    """An ``<svg>`` element that scales with its container; every edge and node has a hover text.

    ``name`` is its id; two drawings on one page need different ones. ``possible`` are open pairs; where they are not
    ``shown`` they are in the drawing, hidden, for a page that can show them.
    """
    parts, (left, top, wide, high) = drawing(graph, marks or EdgeNotes(), name, possible)
    sizes = f'viewBox="{left:g} {top:g} {wide:g} {high:g}" style="--natural: {wide:g}px"'
    head = (
        f'<svg id="{name}"{_shows(possible, shown)} {sizes} role="group" '
        f'aria-label="Causal graph, {len(graph.skeleton)} edge{"s" * (len(graph.skeleton) != 1)}">'
    )
    return "\n".join([head, *parts, "</svg>"])


def drawing(
    graph: Graph, marks: EdgeNotes, name: str, possible: Collection[Pair] = ()
) -> tuple[list[str], tuple[float, float, float, float]]:
    """Return what stands inside the ``<svg>`` element, and its left, top, width and height."""
    width = {node: box_width(node) for node in graph.nodes}
    places = layout(graph, width, marks.known.tier)
    drawn = lines(places, width)
    left, top, right, bottom = frame(places, width, drawn)
    wide, high = right - left + 2 * MARGIN, bottom - top + 2 * MARGIN
    parts = [
        f'<defs><marker id="{name}-head" viewBox="0 0 10 10" refX="9.6" refY="5" markerWidth="20" markerHeight="17" '
        'preserveAspectRatio="none" '
        'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" class="head"/></marker>'
        f'<marker id="{name}-head-weak" viewBox="0 0 10 10" refX="9.6" refY="5" markerWidth="13" markerHeight="11" '
        'preserveAspectRatio="none" markerUnits="userSpaceOnUse" '
        'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" class="head weak"/></marker>'
        f'<marker id="{name}-told-weak" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="14" markerHeight="13" '
        'preserveAspectRatio="none" '
        'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M1 1L9 5L1 9z" class="told weak"/></marker>'
        f'<marker id="{name}-ring" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="13" markerHeight="13" '
        'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><circle cx="5" cy="5" r="3.6" class="ring"/></marker>'
        f'<marker id="{name}-told" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="20" markerHeight="19" '
        'preserveAspectRatio="none" '
        'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M1 1L9 5L1 9z" class="told"/></marker>'
        "</defs>",
        f'<g transform="translate({MARGIN:g} {MARGIN:g})">',
    ]
    parts += [_open(line) for line in open_lines(places, graph.nodes, possible)]
    parts += [_edge(graph, line, marks, name) for line in drawn]
    for node in graph.nodes:
        x, y, box = places.x[node], row(places.layer[node]), width[node]
        silent = node in marks.undecided
        words = escape(f"{node}: nothing could be decided about it" if silent else node_words(graph, node))
        parts.append(
            f'<g class="node{" undecided" if silent else ""}" data-name="{escape(node)}" tabindex="0" '
            f'aria-label="{words}"><title>{words}</title>'
            f'<rect x="{x - box / 2:.1f}" y="{y - HEIGHT / 2:.1f}" width="{box:.1f}" height="{HEIGHT:g}" rx="9"/>'
            f'<text x="{x:.1f}" y="{y + 5:.1f}">{escape(node)}</text></g>'
        )
    return [*parts, "</g>"], (left, top, wide, high)


def _shows(possible: Collection[Pair], shown: bool) -> str:
    """The class by which open pairs are seen."""
    return ' class="show-open"' if possible and shown else ""


def _open(line: Line) -> str:
    words = escape(open_sentence(line.upper, line.lower))
    return (
        f'<g class="edge open" {_ends(line)} tabindex="0" aria-label="{words}"><title>{words}</title>'
        f'<path class="hit" d="{line.path}"/><path class="line" d="{line.path}"/></g>'
    )


def _ends(line: Line) -> str:
    points = " ".join(f"{x:.1f} {y:.1f}" for x, y in line.points)
    return f'data-upper="{escape(line.upper)}" data-lower="{escape(line.lower)}" data-points="{points}"'


def _edge(graph: Graph, line: Line, marks: EdgeNotes, marker: str) -> str:
    pair = frozenset((line.upper, line.lower))
    arrow = pair not in graph.undirected
    upward = arrow and (line.lower, line.upper) in graph.directed
    a, b = (line.lower, line.upper) if upward else (line.upper, line.lower)
    words = escape(marks.sentence(a, b, arrow))
    kind = "arrow" if arrow else "plain"
    kind += " conflict" if pair in marks.conflicts else ""
    kind += f" {grade(marks.confidence[pair])}" if pair in marks.confidence else ""
    told = arrow and marks.declares(a, b)
    kind += " declared" if told else ""
    weak = "-weak" if marks.hints(pair) else ""  # a smaller and paler head
    shape = "told" if told else "head"
    head = f' marker-{"start" if upward else "end"}="url(#{marker}-{shape}{weak})"' if arrow else ""
    if isinstance(graph, PAG):
        a, b = (
            (line.upper, line.lower) if (line.upper, line.lower) in marks.marks else (line.lower, line.upper)
        )
        words = escape(marks.sentence(a, b, arrow))
        kind = kind.replace("plain", "marked")
        head = "".join(
            f' marker-{end}="url(#{marker}-{MARKERS[mark]}{weak if mark is Mark.ARROW else ""})"'
            for end, mark in (
                ("start", graph.mark(line.lower, line.upper)),
                ("end", graph.mark(line.upper, line.lower)),
            )
            if mark in MARKERS
        )
    return (
        f'<g class="edge {kind}" {_ends(line)} tabindex="0" aria-label="{words}"><title>{words}</title>'
        f'<path class="hit" d="{line.path}"/><path class="line" d="{line.path}"{head}/></g>'
    )
