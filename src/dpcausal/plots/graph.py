"""A CPDAG as a picture: the layout of the report, arrows solid with heads, plain edges dashed without."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from dpcausal.graphs.graph import Graph
from dpcausal.plots.canvas import INK, axes_of
from dpcausal.report.drawing import box_width
from dpcausal.report.layout import layout
from dpcausal.report.routes import HEIGHT, Line, frame, lines, row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path

INCH = 84.0  # units of the layout


def _path(line: Line, upward: bool) -> Path:
    from matplotlib.path import Path

    points, codes = [line.points[0]], [Path.MOVETO]
    for i, ((ax, ay), (bx, by)) in enumerate(zip(line.points, line.points[1:], strict=False)):
        half = (ay + by) / 2
        points += [(bx, by)] if i % 2 else [(ax, half), (bx, half), (bx, by)]
        codes += [Path.LINETO] if i % 2 else [Path.CURVE4] * 3
    if upward:
        points.reverse()
        codes = [Path.MOVETO, *codes[:0:-1]]
    return Path(points, codes)


def plot_graph(graph: Graph, ax: Axes | None = None, *, untested: Collection[frozenset[str]] = ()) -> Axes:
    """Draw ``graph``; edges in ``untested`` are dotted. Cause above effect.

    >>> axes = plot_graph(Graph(["a", "b"], directed=[("a", "b")]))
    >>> sorted(text.get_text() for text in axes.texts)
    ['a', 'b']
    """
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    width = {name: box_width(name) for name in graph.nodes}
    places = layout(graph, width)
    drawn = lines(places, width)
    left, top, right, bottom = frame(places, width, drawn)
    axes = axes_of(ax, max(3.0, (right - left) / INCH), max(1.5, (bottom - top) / INCH))
    for line in drawn:
        pair = frozenset((line.upper, line.lower))
        arrow = pair not in graph.undirected
        upward = arrow and (line.lower, line.upper) in graph.directed
        axes.add_patch(
            FancyArrowPatch(
                path=_path(line, upward),
                arrowstyle="-|>" if arrow else "-",
                linestyle=":" if pair in untested else "-" if arrow else (0, (5, 3)),
                mutation_scale=14,
                linewidth=1.6,
                color=INK,
                zorder=1,
            )
        )
    for name in graph.nodes:
        x, y = places.x[name], row(places.layer[name])
        box = (x - width[name] / 2, y - HEIGHT / 2)
        axes.add_patch(
            FancyBboxPatch(
                box, width[name], HEIGHT, boxstyle="round,pad=0,rounding_size=8", fc="white", ec=INK, lw=1.3
            )
        )
        axes.text(x, y, name, ha="center", va="center", fontsize=10, color=INK)
    axes.set_xlim(left - 12, right + 12)
    axes.set_ylim(bottom + 12, top - 12)
    axes.set_aspect("equal")
    axes.set_axis_off()
    return axes
