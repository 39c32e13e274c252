"""The graph as SVG: arrows solid with heads, plain edges dashed without, so that colour carries no meaning."""

from __future__ import annotations

import math
from collections.abc import Collection
from html import escape

from dpcausal.graphs.graph import Graph
from dpcausal.report.layout import layout

STEP_X, STEP_Y, HEIGHT, MARGIN = 150.0, 92.0, 34.0, 28.0


def _width(name: str) -> float:
    return max(56.0, 8.2 * len(name) + 24.0)


def svg(graph: Graph, untested: Collection[frozenset[str]] = ()) -> str:
    """An ``<svg>`` element that scales with its container; every edge and node has a hover text."""
    places = layout(graph)
    widest = max((_width(name) for name in graph.nodes), default=STEP_X)
    step = max(STEP_X, widest + 26)
    at = {
        n: (MARGIN + widest / 2 + p.x * step, MARGIN + HEIGHT / 2 + p.y * STEP_Y) for n, p in places.items()
    }
    right = max((x for x, _ in at.values()), default=0.0) + widest / 2 + MARGIN
    bottom = max((y for _, y in at.values()), default=0.0) + HEIGHT / 2 + MARGIN
    parts = [
        f'<svg id="graph" viewBox="0 0 {right:.0f} {bottom:.0f}" role="img" aria-label="Causal graph">',
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" class="head"/></marker></defs>',
    ]
    edges = [(a, b, True) for a, b in sorted(graph.directed)]
    edges += [(*sorted(pair), False) for pair in sorted(graph.undirected, key=sorted)]  # type: ignore[misc]
    for a, b, arrow in edges:
        parts.append(_edge(a, b, arrow, at, frozenset((a, b)) in untested))
    for name, (x, y) in at.items():
        width = _width(name)
        parts.append(
            f'<g class="node" data-name="{escape(name)}"><title>{escape(_about(graph, name))}</title>'
            f'<rect x="{x - width / 2:.1f}" y="{y - HEIGHT / 2:.1f}" width="{width:.1f}" height="{HEIGHT}" rx="9"/>'
            f'<text x="{x:.1f}" y="{y + 5:.1f}">{escape(name)}</text></g>'
        )
    return "\n".join([*parts, "</svg>"])


def _about(graph: Graph, name: str) -> str:
    parts = [
        (label, sorted(found))
        for label, found in (
            ("caused by", graph.parents(name)),
            ("causes", graph.children(name)),
            ("linked, direction not known:", graph.neighbours(name)),
        )
        if found
    ]
    return f"{name}: " + ("; ".join(f"{label} {', '.join(names)}" for label, names in parts) or "no edges")


def _border(x: float, y: float, width: float, toward: tuple[float, float]) -> tuple[float, float]:
    """Where the line to ``toward`` leaves the box at (x, y)."""
    dx, dy = toward[0] - x, toward[1] - y
    share = min((width / 2 + 2) / abs(dx) if dx else math.inf, (HEIGHT / 2 + 2) / abs(dy) if dy else math.inf)
    return x + dx * share, y + dy * share


def _edge(a: str, b: str, arrow: bool, at: dict[str, tuple[float, float]], untested: bool) -> str:
    start, end = _border(*at[a], _width(a), at[b]), _border(*at[b], _width(b), at[a])
    bend = 0.0 if abs(at[a][1] - at[b][1]) <= STEP_Y + 1 and at[a][1] != at[b][1] else 26.0
    middle = ((start[0] + end[0]) / 2 + bend, (start[1] + end[1]) / 2 - (bend if at[a][1] == at[b][1] else 0))
    path = f"M{start[0]:.1f} {start[1]:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {end[0]:.1f} {end[1]:.1f}"
    kind = ("arrow" if arrow else "plain") + (" untested" if untested else "")
    text = f"{a} {'causes' if arrow else 'and'} {b}" + ("" if arrow else ": linked, direction not known")
    text += "; not fully tested at this budget" if untested else ""
    head = ' marker-end="url(#head)"' if arrow else ""
    return f'<g class="edge {kind}"><title>{escape(text)}</title><path d="{path}"{head}/></g>'
