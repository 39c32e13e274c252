"""The graph as SVG: on the report's page, in a notebook, and as a file with legend and caption.

Marks and weights have one meaning everywhere, ``plot`` included: dashes and heads show what is known of a direction,
widths how often an edge is found again (``tables.grade``). Colour carries no meaning: arrows are solid with heads,
plain edges dashed without, contradicted ones dashed and dotted. A declared direction has a hollow head, a column about
which nothing could be decided a dashed box. In a graph with hidden causes every end has its mark: a head, a circle or
nothing; all lines are solid. Open pairs are faint dashes without heads that pass below the boxes and move nothing else.

A line between two boxes is a list of points that alternates: a curve from the first to the second, a straight piece
down to the third, a curve to the fourth, and so on. Curves are cubic with vertical ends, so they stay between the two
layers they join; straight pieces pass way points, where no box is.

The file needs nothing around it: no style sheet, no script, no font but the reader's own. It is ink on white, whatever
the theme of the page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import ceil, floor
from textwrap import wrap
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from dpcausal.discovery.evidence import LinkStrength
from dpcausal.discovery.result import in_order, replaced
from dpcausal.graphs.graph import Graph, Pair
from dpcausal.graphs.pag import PAG, Mark
from dpcausal.present.clusters import HEADING, NAMED, groups, in_rows, left_out, letter
from dpcausal.present.graph_words import counts_words, fits_words, lone_clauses, lone_columns
from dpcausal.present.layout import Layout, layout
from dpcausal.present.tables import (
    MARKS,
    OPEN_MEANS,
    SHARES,
    EdgeNotes,
    grade,
    mark_kinds,
    node_words,
    open_sentence,
)
from dpcausal.present.text import counted

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult


WIDTHS = {"": 2.0, "sure": 3.6, "weaker": 1.8, "hint": 0.9, "open": 0.7}
DASHES: dict[str, tuple[float, ...]] = {
    "arrow": (),
    "declared": (),
    "marked": (),
    "plain": (8, 5),
    "conflict": (10, 4, 2, 4),
    "open": (2, 5),
}


@dataclass(frozen=True)
class Key:
    """A kind of line and what it means; ``ends``: its marks, as ``->``."""

    kind: str
    words: str
    ends: str = "-"


def line_kind(graph: Graph, pair: Pair, marks: EdgeNotes) -> str:
    """Return how the direction of an edge is drawn: ``arrow``, ``declared``, ``plain``, ``marked`` or ``conflict``."""
    if pair in marks.conflicts:
        return "conflict"
    if graph.kind == "pag":
        return "marked"
    if pair in graph.undirected:
        return "plain"
    a, b = pair
    return "declared" if marks.declares(a, b) or marks.declares(b, a) else "arrow"


def key_ends(key: Key, name: str = "graph") -> str:
    """Return the SVG attributes that draw the marks of a legend's line.

    >>> key_ends(Key("marked", "", "o->"))
    ' marker-start="url(#graph-ring)" marker-end="url(#graph-head)"'
    """
    head = "told" if key.kind == "declared" else "head"
    shapes = {"<": head, ">": head, "o": "ring", "-": ""}
    return _markers(name, (shapes[key.ends[0]], shapes[key.ends[-1]]))


def _markers(name: str, ends: tuple[str, str], weak: str = "") -> str:
    """Return the SVG attributes that draw shapes at the ends of a line; ``weak``: paler heads."""
    shapes = [shape + weak * (shape in ("head", "told")) for shape in ends]
    places = zip(("start", "end"), shapes, strict=True)
    return "".join(f' marker-{place}="url(#{name}-{shape})"' for place, shape in places if shape)


def line_ends(graph: Graph, line: Line, marks: EdgeNotes) -> tuple[str, str]:
    """Return the shapes at the upper and the lower end of a line: head, hollow head (declared), ring, or none."""
    ways = (line.lower, line.upper), (line.upper, line.lower)
    if isinstance(graph, PAG):
        upper, lower = (MARKERS.get(graph.mark(*way), "") for way in ways)
        return upper, lower
    heads = ("told" if marks.declares(*way) else "head" for way in ways)
    upper, lower = (head if way in graph.directed else "" for way, head in zip(ways, heads, strict=True))
    return upper, lower


def line_grade(pair: Pair, marks: EdgeNotes) -> str:
    """Return the style that shows the confidence in an edge; empty where it has none."""
    return grade(marks.confidence[pair]) if pair in marks.confidence else ""


def keys(result: DiscoveryResult, marks: EdgeNotes) -> list[Key]:
    """Return the legend: every kind of line that is drawn, with its meaning."""
    drawn, pairs = result.shown, result.graph.skeleton
    kinds = {line_kind(drawn, pair, marks) for pair in pairs}
    alone = [name for name in lone_columns(result) if name not in marks.undecided]
    found = [
        *((Key(kind, MARKS[kind][1], kind), True) for kind in mark_kinds(drawn)),
        (Key("declared", "direction declared, not found in the data", "->"), "declared" in kinds),
        (Key("arrow", fits_words(result), "->"), "arrow" in kinds),
        (Key("plain", "linked, direction not decided by the data"), "plain" in kinds),
        (Key("conflict", "direction contradicted: test results point both ways"), bool(marks.conflicts)),
        *((key, True) for key in _grade_keys({line_grade(pair, marks) for pair in pairs})),
        (Key("undecided", "nothing could be decided about this column"), bool(marks.undecided)),
        (Key("alone", "no edge of this column was found"), bool(alone)),
        (Key("open", f"open: {OPEN_MEANS}"), bool(result.open) and not result.strength),
        (Key("strength", STRENGTH_MEANS), bool(result.strength)),
    ]
    return [key for key, there in found if there]


BOXES = ("undecided", "alone")  # kinds of keys that are boxes


def _grade_keys(grades: Collection[str]) -> list[Key]:
    """Return the legend's entries for line widths.

    >>> [key.words for key in _grade_keys({"weaker", "hint"})]
    ['found again: perhaps', 'found again: less than half, a hint']
    """
    hint = {"hint": ", a hint"}
    return [
        Key(kind, f"found again: {text}{hint.get(kind, '')}")
        for kind, text in SHARES.items()
        if kind in grades
    ]


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
        """The line as the ``d`` attribute of an SVG path.

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
    """Return the height of the middle of a layer."""
    return layer * STEP_Y + HEIGHT / 2


def lines(layout: Layout, width: Mapping[str, float]) -> list[Line]:
    """Return one line for each edge, spread along the side of a box so that they do not overlap."""
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


SAG = 22.0  # how far a line between two distant boxes of one layer hangs below them at most


def open_lines(layout: Layout, nodes: Sequence[str], pairs: Collection[Pair]) -> list[Line]:
    """Return one line for each open pair; within a layer it hangs below the boxes."""
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
    """Return left, top, right and bottom of the rectangle that contains all boxes and lines.

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
Frame = tuple[float, float, float, float]  # left, top, width and height


def box_width(name: str) -> float:
    """Return the width of a box for a name in 14-pixel type.

    >>> box_width("age"), round(box_width("blood_pressure"))
    (60.0, 139)
    """
    letters = sum(2 if east_asian_width(letter) in "WF" else 1 for letter in name)
    return max(60.0, 8.2 * letters + 24.0)


def svg(
    graph: Graph,
    marks: EdgeNotes | None = None,
    name: str = "graph",
    *,
    possible: Collection[Pair] = (),
    shown: bool = True,
    strength: Mapping[Pair, LinkStrength] | None = None,
) -> str:
    """Return the graph as an ``<svg>`` element that scales with its container, with hover texts.

    ``name`` is its id; two drawings on one page need different ones. ``possible`` are open pairs; where they are not
    ``shown`` they are in the drawing, hidden, for a page that can show them.
    """
    parts, (left, top, wide, high) = drawing(graph, marks or EdgeNotes(), name, possible, strength)
    sizes = f'viewBox="{left:g} {top:g} {wide:g} {high:g}" style="--natural: {wide:g}px"'
    seen = ' class="show-open"' if possible and shown else ""  # open pairs
    head = (
        f'<svg id="{name}"{seen} {sizes} role="group" '
        f'aria-label="Causal graph, {counted(len(graph.skeleton), "edge")}">'
    )
    return "\n".join([head, *parts, "</svg>"])


# name, place of the tip, width and height on the page, and the shape
MARKER_SHAPES = (
    ("head", 9.6, 20, 17, '<path d="M0 0L10 5L0 10z" class="head"/>'),
    ("head-weak", 9.6, 13, 11, '<path d="M0 0L10 5L0 10z" class="head weak"/>'),
    ("told-weak", 9, 14, 13, '<path d="M1 1L9 5L1 9z" class="told weak"/>'),
    ("ring", 9, 13, 13, '<circle cx="5" cy="5" r="3.6" class="ring"/>'),
    ("told", 9, 20, 19, '<path d="M1 1L9 5L1 9z" class="told"/>'),
)


def _marker(name: str, kind: str, tip: float, wide: float, high: float, shape: str) -> str:
    """Return the SVG marker for one kind of edge end."""
    return (
        f'<marker id="{name}-{kind}" viewBox="0 0 10 10" refX="{tip:g}" refY="5" markerWidth="{wide:g}" '
        f'markerHeight="{high:g}" preserveAspectRatio="none" markerUnits="userSpaceOnUse" '
        f'orient="auto-start-reverse">{shape}</marker>'
    )


def drawing(
    graph: Graph,
    marks: EdgeNotes,
    name: str,
    possible: Collection[Pair] = (),
    strength: Mapping[Pair, LinkStrength] | None = None,
) -> tuple[list[str], Frame]:
    """Return the content of the ``<svg>`` element, and its left, top, width and height.

    ``strength``: of links of codes, which are drawn in groups.
    """
    shapes = f"<defs>{''.join(_marker(name, *shape) for shape in MARKER_SHAPES)}</defs>"
    parts, size = (
        _grouped(graph, marks, name, strength) if strength else _layered(graph, marks, name, possible)
    )
    return [shapes, *parts], size


def _grouped(
    graph: Graph, marks: EdgeNotes, name: str, strength: Mapping[Pair, LinkStrength]
) -> tuple[list[str], Frame]:
    """Return SVG elements of each group of linked columns, in a panel of its own, w on its lines, and their frame."""
    sizes = {pair: link.w for pair, link in strength.items() if pair in graph.skeleton}
    found = groups(graph.nodes, sizes)
    named = bool(left_out(found, sizes).between)
    parts, frames = [], []
    for group in found:
        inner = [edge for edge in graph.marked_edges() if frozenset((edge[0], edge[2])) in group.drawn]
        drawn, size = _layered(rebuilt(graph, group.codes, inner), marks, name, (), strength)
        parts.append(drawn)
        frames.append(size)
    places = in_rows([(wide, high + HEADING * named) for _, _, wide, high in frames])
    whole: list[str] = []
    for at, (drawn, (left, top, wide, high), (x, y)) in enumerate(zip(parts, frames, places, strict=True)):
        head = f'<text class="title" x="10" y="16">{letter(at)}</text>' * named
        whole.append(
            f'<g class="group" transform="translate({x:g} {y:g})"><rect class="panel" width="{wide:g}" '
            f'height="{high + HEADING * named:g}" rx="10"/>{head}'
            f'<g transform="translate({-left:g} {HEADING * named - top:g})">'
        )
        whole += [*drawn, "</g></g>"]
    right = max((x + one[2] for (x, _), one in zip(places, frames, strict=True)), default=0.0)
    bottom = max(
        (y + one[3] + HEADING * named for (_, y), one in zip(places, frames, strict=True)), default=0.0
    )
    return whole, (-MARGIN, -MARGIN, right + 2 * MARGIN, bottom + 2 * MARGIN)


def _layered(
    graph: Graph,
    marks: EdgeNotes,
    name: str,
    possible: Collection[Pair] = (),
    strength: Mapping[Pair, LinkStrength] | None = None,
) -> tuple[list[str], Frame]:
    """Return one graph drawn in layers; ``strength`` is written on its lines."""
    width = {node: box_width(node) for node in graph.nodes}
    places = layout(graph, width, marks.known.tier)
    drawn = lines(places, width)
    left, top, right, bottom = frame(places, width, drawn)
    wide, high = right - left + 2 * MARGIN, bottom - top + 2 * MARGIN
    parts = [f'<g transform="translate({MARGIN:g} {MARGIN:g})">']
    parts += [_open(line) for line in open_lines(places, graph.nodes, possible)]
    of = strength or {}
    parts += [_edge(graph, line, marks, name, of.get(frozenset((line.upper, line.lower)))) for line in drawn]
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


def _open(line: Line) -> str:
    """Return an open pair as SVG, with its sentence as a title."""
    words = escape(open_sentence(line.upper, line.lower))
    return (
        f'<g class="edge open" {_ends(line)} tabindex="0" aria-label="{words}"><title>{words}</title>'
        f'<path class="hit" d="{line.path}"/><path class="line" d="{line.path}"/></g>'
    )


def _ends(line: Line) -> str:
    """Return the data attributes of an edge in SVG: its two columns and its points."""
    points = " ".join(f"{x:.1f} {y:.1f}" for x, y in line.points)
    return f'data-upper="{escape(line.upper)}" data-lower="{escape(line.lower)}" data-points="{points}"'


def _edge(
    graph: Graph, line: Line, marks: EdgeNotes, marker: str, strength: LinkStrength | None = None
) -> str:
    """Return an edge of the graph as SVG, with its marks, its sentence and its strength."""
    pair = frozenset((line.upper, line.lower))
    arrow = pair not in graph.undirected
    ends = line_ends(graph, line, marks)
    a, b = line.upper, line.lower
    if (b, a) in (marks.marks if isinstance(graph, PAG) else graph.directed):
        a, b = b, a
    words = escape(marks.sentence(a, b, arrow))
    kind = "arrow" if arrow else "marked" if isinstance(graph, PAG) else "plain"
    kind += " conflict" if pair in marks.conflicts else ""
    kind += f" {line_grade(pair, marks)}" if pair in marks.confidence else ""
    kind += " declared" if "told" in ends else ""
    head = _markers(marker, ends, "-weak" if marks.hints(pair) else "")  # smaller and paler heads
    label = ""
    if strength is not None:
        words += f"; {strength_words(strength)}"
        (ax, ay), (bx, by) = line.points[0], line.points[1]
        label = f'<text class="w" x="{(ax + bx) / 2:.1f}" y="{(ay + by) / 2 + 4:.1f}">{short_strength(strength)}</text>'
    return (
        f'<g class="edge {kind}" {_ends(line)} tabindex="0" aria-label="{words}"><title>{words}</title>'
        f'<path class="hit" d="{line.path}"/><path class="line" d="{line.path}"{head}/>{label}</g>'
    )


INK, SOFT = "#1b1f24", "#57606a"
# of the legend: width of a letter, height of a line, length of a sample
LETTER, LINE, SAMPLE = 5.4, 15.0, 44.0
KEY_GAP = 6.0  # between two keys of the legend, so that arrowheads do not touch
MIN_WIDTH, TITLE = 460.0, 26.0  # of the figure; height of the title
LONE_DRAWN = 12  # columns without an edge that are drawn; more are named below the figure


def style_rules(
    name: str,
    ink: str = INK,
    soft: str = SOFT,
    paper: str = "#fff",
    font: str = "Helvetica, Arial, sans-serif",
) -> str:
    """Return the style sheet of the drawing called ``name``, in these colours."""
    rules = [
        f".edge path {{ fill: none; stroke: {ink}; stroke-width: {WIDTHS['']:g}; }}",
        ".edge path.hit { stroke: none; }",
        *(f".edge.{kind} .line {{ stroke-width: {wide:g}; }}" for kind, wide in WIDTHS.items() if kind),
        *(
            f".edge.{kind} .line {{ stroke-dasharray: {' '.join(f'{part:g}' for part in dashes)}; }}"
            for kind, dashes in DASHES.items()
            if dashes
        ),
        f".edge.open .line {{ stroke: {soft}; stroke-opacity: .7; }}",
        ".edge.hint .line { stroke-opacity: .6; }",
        f".head {{ fill: {ink}; }}",
        f".told {{ fill: {paper}; stroke: {ink}; stroke-width: 1.3; }}",
        ".head.weak { fill-opacity: .6; } .told.weak { stroke-opacity: .6; }",
        f".ring {{ fill: {paper}; stroke: {ink}; stroke-width: 1.4; }}",
        f".node rect {{ fill: {paper}; stroke: {ink}; stroke-width: 1.6; }}",
        f".node.undecided rect {{ stroke: {soft}; stroke-dasharray: 4 3; }}",
        f".node text {{ text-anchor: middle; font: 14px {font}; fill: {ink}; }}",
        f".key text, .caption {{ font: 10.5px {font}; fill: {soft}; }}",
        f".title {{ font: 600 14px {font}; fill: {ink}; }}",
        f".w {{ font: 11px {font}; fill: {ink}; text-anchor: middle; paint-order: stroke; stroke: {paper}; "
        "stroke-width: 4; }",
        f".panel {{ fill: none; stroke: {soft}; stroke-opacity: .35; }}",
    ]
    return " ".join(f"#{name} {rule}" for rule in rules)


STRENGTH_MEANS = "Cohen's w: how strongly the two go together, less often than by chance where it has a minus"


def short_strength(link: LinkStrength) -> str:
    """Return Cohen's w in two digits, with a minus where the two avoid each other.

    >>> short_strength(LinkStrength(0.314, 0.2, 0.4, 1)), short_strength(LinkStrength(0.05, 0.01, 0.1, -1))
    ('.31', '−.05')
    """
    digits = f"{link.w:.2f}".removeprefix("0")
    return f"−{digits}" if link.sign < 0 else digits


def strength_words(link: LinkStrength) -> str:
    """Return Cohen's w with its interval.

    >>> strength_words(LinkStrength(0.314, 0.2, 0.4, 1))
    "Cohen's w .31, 95% interval .20 to .40"
    """
    low, high = (f"{one:.2f}".removeprefix("0") for one in (link.low, link.high))
    return f"Cohen's w {short_strength(link)}, 95% interval {low} to {high}"


def links_not_drawn(result: DiscoveryResult) -> list[str]:
    """Return which links of codes a picture in groups leaves out, in words."""
    sizes = {pair: link.w for pair, link in result.strength.items()}
    found = groups(result.graph.nodes, sizes)
    left, of = left_out(found, sizes), {name: letter(g) for g, one in enumerate(found) for name in one.codes}
    words = []
    if left.between:
        first = ", ".join(
            f"{a} ({of[a]}) and {b} ({of[b]}) {short_strength(result.strength[frozenset((a, b))])}"
            for a, b in map(sorted, left.between[:NAMED])
        )
        more = len(left.between) - NAMED
        words.append(f"Links between groups: {first}" + (f", and {more} weaker ones" if more > 0 else ""))
    if left.within:
        words.append(f"{counted(left.within, 'weaker link')} within groups not drawn")
    return words


def rebuilt(graph: Graph, nodes: Sequence[str], edges: Iterable[tuple[str, str, str]]) -> Graph:
    """Return a graph of the same kind with these nodes and edges, ``("a", "->", "b")``."""
    edges = list(edges)
    if isinstance(graph, PAG):
        return PAG(nodes, edges)
    return Graph(
        nodes,
        [(a, b) for a, marks, b in edges if marks == "->"],
        [(a, b) for a, marks, b in edges if marks != "->"],
    )


def only(result: DiscoveryResult, names: Collection[str]) -> DiscoveryResult:
    """Return the result limited to these columns."""
    graph, nodes = result.graph, [name for name in result.graph.nodes if name in names]
    if len(nodes) == len(graph.nodes):
        return result
    edges = [edge for edge in graph.marked_edges() if {edge[0], edge[2]} <= {*nodes}]
    left = frozenset(pair for pair in result.open if pair <= {*nodes})
    return replaced(result, graph=rebuilt(graph, nodes, edges), open=left)


@dataclass(frozen=True)
class Picture:
    """What of a result is drawn: with a target, it and what is linked to it, or may be, alone.

    ``not_drawn``: the columns without an edge that are named instead, and why, or empty.
    """

    result: DiscoveryResult
    marks: EdgeNotes
    not_drawn: str

    @classmethod
    def of(
        cls,
        whole: DiscoveryResult,
        *,
        open: bool,  # noqa: A002
        alone: bool = True,
    ) -> Picture:
        """Return what a picture shows; ``open``: open pairs, ``alone``: columns without an edge."""
        target, graph = whole.target, whole.graph
        near = {name for pair in (*graph.skeleton, *whole.open) if target in pair for name in pair}
        result = whole if target is None else only(whole, near | {target})
        left = [name for name in lone_columns(result) if name != target]
        if not alone and open:
            joined = {name for pair in result.open for name in pair}
            left = [name for name in left if name not in joined]
        elif open or (alone and len(left) <= LONE_DRAWN):
            left = []
        drawn = only(result, {*result.graph.nodes} - {*left})
        # that nothing could be decided about a column is known from the whole
        silent = [name for name in whole.undecided_columns if name in drawn.graph.nodes]
        clauses = "; ".join(lone_clauses(whole, left, len(left)))
        return cls(
            drawn, replace(EdgeNotes.of(drawn), undecided=silent), f"Not drawn: {clauses}" if left else ""
        )

    def keys(self, *, open: bool) -> list[Key]:  # noqa: A002
        """Return the legend of the picture."""
        return [key for key in keys(self.result, self.marks) if open or key.kind != "open"]


def data_name(result: DiscoveryResult, file: str = "") -> str:
    """Return the name of the data set: in the ledger, or of its file; empty where neither is known."""
    return str((result.privacy.ledger or {}).get("dataset") or file)


def heading(result: DiscoveryResult, *names: str) -> str:
    """Return what a page or a figure shows, and of which data, as far as their names are known."""
    about = "Causal graph" if result.target is None else f"What is linked to {result.target}"
    about = "Codes that go together" if result.strength else about
    of = ", ".join(filter(None, names))
    return f"{about}: {of}" if of else about


def figure_title(result: DiscoveryResult, name: str) -> str:
    """Return what the figure shows, of which data and how many rows, as far as that is known and public."""
    return heading(result, name, "" if result.rows is None else f"n = {result.rows:,}")


def caption(result: DiscoveryResult) -> str:
    """Return the caption of every copy of the graph: what it cost, or that it is not private."""
    statement = result.privacy
    if statement.epsilon is None:
        return f"NOT PRIVATE: {statement.why_not_private}"
    cost = (
        f"{counts_words(result)}; method {result.method}; epsilon {statement.epsilon:g}, delta {statement.delta:g}, "
        f"{statement.neighbours}"
    )
    return cost if statement.private else f"NOT PRIVATE: {statement.why_not_private} ({cost})"


def _key_sample(key: Key, name: str, x: float, y: float) -> str:
    """Return the sample of one entry of the legend as SVG, at a place."""
    if key.kind == "strength":
        return f'<text class="w" x="{x + 18:g}" y="{y + 4:g}">.31</text>'
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
    """Return the text of the SVG file of a graph; ``open``: whether open pairs are drawn.

    ``name`` keeps its ids and rules apart; ``data`` is what the data set is called, where no ledger names it.
    """
    grouped = bool(result.strength)
    drawn = Picture.of(result, open=open and not grouped, alone=not grouped)
    graph = drawn.result.shown
    parts, (x, y, wide, high) = drawing(
        graph, drawn.marks, name, drawn.result.open if open else (), result.strength
    )
    wide = max(wide, MIN_WIDTH)
    at, legend = y + high + 4, []
    for key in drawn.keys(open=open):
        lines = wrap(key.words, int((wide - SAMPLE - 24) / LETTER))
        words = "".join(
            f'<text x="{x + 12 + SAMPLE:g}" y="{at + LINE * i + 13:g}">{escape(line)}</text>'
            for i, line in enumerate(lines)
        )
        legend.append(f'<g class="key">{_key_sample(key, name, x + 12, at + 9)}{words}</g>')
        at += LINE * len(lines) + KEY_GAP
    below = [drawn.not_drawn, *links_not_drawn(drawn.result), caption(result)]
    for line in (line for words in below for line in wrap(words, int((wide - 24) / LETTER))):
        legend.append(f'<text class="caption" x="{x + 12:g}" y="{at + 13:g}">{escape(line)}</text>')
        at += LINE
    heads = wrap(figure_title(result, data_name(result, data)), int((wide - 24) / (1.4 * LETTER)))
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
            f'aria-label="Causal graph, {counted(len(graph.skeleton), "edge")}">',
            f"<style>{style_rules(name)}</style>",
            f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{tall:g}" fill="#fff"/>',
            *parts,
            *legend,
            "</svg>",
        ]
    )
