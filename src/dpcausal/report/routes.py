"""Lines between boxes: where each leaves and arrives, and the curve between.

A line is a list of points that alternates: a curve from the first to the second, a straight piece down to the third,
a curve to the fourth, and so on. Curves are cubic with vertical ends, so they stay between the two layers they join;
straight pieces stand on way points, where no box is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor

from dpcausal.report.layout import Layout

STEP_Y, HEIGHT = 96.0, 36.0  # from layer to layer; of a box
CLEAR, PORT = 2.0, 20.0  # between a line's end and its box; between the ends of two lines at one box

Point = tuple[float, float]


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
