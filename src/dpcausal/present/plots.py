"""Pictures with matplotlib, from results only: graph, budget, power curves, a plan, released SNPs.

``plot_graph``, ``plot_budget`` and ``plot_power`` draw on the axes they are given, or on new ones, and return them;
``draw_plan`` and ``draw_hits`` write a PNG. Only released SNPs are drawn, at their public positions. matplotlib is
imported when the first picture is drawn.
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcausal.core.errors import InputError
from dpcausal.core.statement import PrivacyStatement
from dpcausal.graphs.graph import Graph
from dpcausal.gwas.result import Screening
from dpcausal.planning.forecast import curve_at, least_found
from dpcausal.present.figures import (
    BOXES,
    DASHES,
    HEIGHT,
    INK,
    SOFT,
    WIDTHS,
    Key,
    Line,
    Picture,
    box_width,
    data_name,
    figure_title,
    frame,
    line_ends,
    line_grade,
    line_kind,
    lines,
    open_lines,
    row,
)
from dpcausal.present.layout import layout
from dpcausal.present.statement import steps
from dpcausal.present.tables import EdgeNotes
from dpcausal.present.text import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path

    from dpcausal.discovery.result import DiscoveryResult
    from dpcausal.planning.plan import Plan

STRONG = "#0072b2"


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """Return ``ax`` itself, or the axes of a new figure of ``width`` by ``height`` inches.

    Anything else than axes of matplotlib is an ``InputError``, before anything is drawn.
    """
    if isinstance(ax, str | PathLike):  # a file that can be written to was taken before
        raise InputError(f"can't draw to {ax}: the name of a picture ends in {', '.join(PICTURES)}")
    if ax is not None:
        from matplotlib.axes import Axes

        if not isinstance(ax, Axes):
            raise InputError(
                "ax must be axes of matplotlib (plt.subplots() makes some) or the name of a file that ends in "
                f"{', '.join(PICTURES)}, not {type(ax).__name__}"
            )
        return ax
    from matplotlib import pyplot

    _, made = pyplot.subplots(figsize=(width, height), layout="constrained")
    return made


MIN_DPI, MIN_PIXELS = 300.0, 1250.0  # of a picture in pixels: dots per inch, and its width
PICTURES = (".pdf", ".png", ".svg", ".eps", ".jpg")


def is_picture(where: object) -> bool:
    """Return whether a value names a picture file, by its ending.

    >>> is_picture("figure.PDF"), is_picture("budget"), is_picture(None)
    (True, False, False)
    """
    return isinstance(where, str | PathLike) and str(where).lower().endswith(PICTURES)


def saved(axes: Axes, path: str | PathLike[str]) -> Axes:
    """Write the figure of new axes to a file, and close it; return the axes."""
    from matplotlib import pyplot

    figure = axes.get_figure(root=True)
    assert figure is not None
    wide = figure.get_tightbbox().width
    try:
        _written(figure, path, bbox_inches="tight", dpi=max(MIN_DPI, MIN_PIXELS / max(wide, 1.0)))
    finally:
        pyplot.close(figure)
    return axes


def _written(figure: Figure, path: str | PathLike[str], **options: Any) -> None:
    """Write a figure to a file; refuse a path that can't be written."""
    try:
        figure.savefig(path, **options)
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror or error}") from None


def _new_figure(width: float, height: float) -> Figure:
    """Return an empty Matplotlib figure of a size in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # late: takes a second
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def bare(ax: Axes) -> None:
    """Remove the frame at the top and on the right of axes."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


INCH = 84.0  # units of the layout
LEGEND_LETTERS = 68  # in a line of the legend
OPEN_STYLE: dict[str, Any] = {
    "linestyle": (0, (2, 4)),
    "linewidth": 0.7,
    "color": SOFT,
    "alpha": 0.6,
    "zorder": 0.5,
}


def _path(line: Line, upward: bool) -> Path:
    """Return the Matplotlib path of an edge through its points."""
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


HEAD, WEAK_HEAD = 24, 14  # sizes of an arrowhead, and of that of a weak hint


def _draw_line(
    axes: Axes, line: Line, ends: tuple[str, str], *, weak: bool, style: Mapping[str, Any]
) -> None:
    """Draw a line with the shapes at its upper and lower ends: heads, hollow heads (declared) and circles."""
    from matplotlib.patches import FancyArrowPatch

    upward = ends[0] == "head" and ends[1] != "head"
    start, end = ends[::-1] if upward else ends
    heads = ("<|" if start == "head" else "") + "-" + ("|>" if end == "head" else "")
    size, path = WEAK_HEAD if weak else HEAD, _path(line, upward)
    axes.add_patch(
        FancyArrowPatch(path=path, arrowstyle=heads, mutation_scale=size, color=INK, zorder=1, **style)
    )
    for (x, y), shape, inward in ((line.points[0], ends[0], 1), (line.points[-1], ends[1], -1)):
        if shape == "ring":
            axes.plot(x, y + 3 * inward, "o", markersize=6, mfc="white", mec=INK, mew=1.4, zorder=2)
        if shape == "told":  # a head of its own: a heavy line would fill it
            hollow: dict[str, Any] = {"lw": 0.9 if weak else 1.2, "alpha": FAINT if weak else 1.0}
            axes.add_patch(
                FancyArrowPatch(
                    (x, y + inward * (6 if weak else 12)),
                    (x, y - 4 * inward),
                    arrowstyle="-|>,head_length=.55,head_width=.35",
                    mutation_scale=16 if weak else 26,
                    shrinkA=0,
                    shrinkB=0,
                    fc="white",
                    ec=INK,
                    zorder=1.5,
                    **hollow,
                )
            )


FAINT = 0.6  # of a weak hint
POINTS_PER_UNIT = 0.8  # widths and dashes of the report are in pixels


def plot_result(
    result: DiscoveryResult,
    ax: Axes | None = None,
    *,
    open: bool = False,  # noqa: A002
    title: bool = True,
    alone: bool = True,
    labels: bool = False,
) -> Axes:
    """Draw the graph of a result with the marks, weights and legend of the report; ``open``: open pairs too.

    A result that is not private says so above its graph, with a ``title`` or without. ``alone``: whether columns
    without an edge are drawn, where they are few; ``labels``: whether boxes have the labels of the schema.
    """
    drawn = Picture.of(result, open=open, alone=alone)
    axes = plot_graph(
        drawn.result.shown,
        ax,
        possible=drawn.result.open if open else (),
        marks=drawn.marks,
        legend=drawn.keys(open=open),
        names=result.labels if labels else None,
    )
    if not result.privacy.private:
        axes.set_title(f"NOT PRIVATE: {result.privacy.why_not_private}", fontsize=8, color=SOFT, wrap=True)
    elif title:
        axes.set_title(figure_title(result, data_name(result)), fontsize=10, color=INK, loc="left")
    if drawn.not_drawn and title:
        axes.set_title(fill(drawn.not_drawn, LEGEND_LETTERS), fontsize=7, color=SOFT, loc="right")
    return axes


BOX_LETTERS = 26  # in a line of a box


def _in_two_lines(text: str) -> str:
    """Return a label on two lines at most; names without blanks stay whole.

    >>> _in_two_lines("age"), _in_two_lines("systolic blood pressure at the first visit")
    ('age', 'systolic blood pressure at\\nthe first visit')
    """
    parts = wrap(text, BOX_LETTERS, break_long_words=False, break_on_hyphens=False)
    return "\n".join(parts) if len(parts) <= 2 else f"{parts[0]}\n{parts[1]}…"


def line_style(kind: str, grade: str = "") -> dict[str, Any]:
    """Return how matplotlib draws a line of this kind and weight (``figures.py``).

    >>> line_style("conflict")["linestyle"], line_style("arrow", "sure")["linestyle"]
    ((0, (5.0, 2.0, 1.0, 2.0)), '-')
    """
    wide = WIDTHS[grade] * POINTS_PER_UNIT
    faint = {"alpha": FAINT} if grade == "hint" else {}
    dashes = tuple(part * POINTS_PER_UNIT / wide for part in DASHES[kind])  # in widths of the line
    return {"linewidth": wide, "linestyle": (0, dashes) if dashes else "-", **faint}


def _legend(axes: Axes, keys: Sequence[Key]) -> None:
    """Draw the legend below the graph."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for key in keys:
        if key.kind in BOXES:
            edge: dict[str, Any] = {"ec": SOFT, "ls": (0, (3, 2))} if key.kind == "undecided" else {"ec": INK}
            handles.append(Patch(label=fill(key.words, LEGEND_LETTERS), fc="white", lw=1.3, **edge))
            continue
        if key.kind == "open":
            style: dict[str, Any] = {k: v for k, v in OPEN_STYLE.items() if k != "zorder"}
        elif key.kind in WIDTHS:
            style = {**line_style("arrow", key.kind), "color": INK}
        else:
            style = {**line_style(key.kind if key.kind in DASHES else "marked"), "color": INK}
        ends = "-▷" if key.kind == "declared" else key.ends
        words = f"{ends}  {key.words}" if ">" in key.ends or "o" in key.ends else key.words
        handles.append(Line2D([], [], label=fill(words, LEGEND_LETTERS), **style))
    if handles:
        axes.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            frameon=False,
            fontsize=8,
            handlelength=4,
            labelcolor=SOFT,
        )


def plot_graph(
    graph: Graph,
    ax: Axes | None = None,
    *,
    possible: Collection[frozenset[str]] = (),
    marks: EdgeNotes | None = None,
    legend: Sequence[Key] = (),
    names: Mapping[str, str] | None = None,
) -> Axes:
    """Draw ``graph``, cause above effect; open pairs, in ``possible``, are faint dashes below the boxes.

    ``marks`` are drawn as in the report: contradicted directions dashed and dotted, widths by confidence; ``legend``
    explains them. ``names`` replace the columns' own names in the boxes.

    >>> axes = plot_graph(Graph(["a", "b"], directed=[("a", "b")]))
    >>> sorted(text.get_text() for text in axes.texts)
    ['a', 'b']
    """
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    shown = {name: _in_two_lines((names or {}).get(name, name)) for name in graph.nodes}
    width = {name: max(map(box_width, text.split("\n"))) for name, text in shown.items()}
    notes = marks or EdgeNotes()
    places = layout(graph, width, notes.known.tier)
    drawn = lines(places, width)
    left, top, right, bottom = frame(places, width, drawn)
    room = 0.3 * sum(1 + len(key.words) // LEGEND_LETTERS for key in legend)
    axes = axes_of(
        ax, max(5.0 if legend else 3.0, (right - left) / INCH), max(1.5, (bottom - top) / INCH) + room
    )
    for line in open_lines(places, graph.nodes, possible):
        faint = FancyArrowPatch(path=_path(line, upward=False), arrowstyle="-", **OPEN_STYLE)
        axes.add_patch(faint)
    for line in drawn:
        pair = frozenset((line.upper, line.lower))
        style = line_style(line_kind(graph, pair, notes), line_grade(pair, notes))
        _draw_line(axes, line, line_ends(graph, line, notes), weak=notes.hints(pair), style=style)
    for name in graph.nodes:
        silent: dict[str, Any] = {"ec": SOFT, "ls": (0, (3, 2))} if name in notes.undecided else {"ec": INK}
        x, y = places.x[name], row(places.layer[name])
        box = (x - width[name] / 2, y - HEIGHT / 2)
        axes.add_patch(
            FancyBboxPatch(
                box, width[name], HEIGHT, boxstyle="round,pad=0,rounding_size=8", fc="white", lw=1.3, **silent
            )
        )
        small = 8 if "\n" in shown[name] else 10
        axes.text(x, y, shown[name], ha="center", va="center", fontsize=small, color=INK)
    axes.set_xlim(left - 12, right + 12)
    axes.set_ylim(bottom + 12, top - 12)
    axes.set_aspect("equal")
    axes.set_axis_off()
    _legend(axes, legend)
    return axes


def plot_budget(statement: PrivacyStatement, ax: Axes | None = None) -> Axes:
    """Draw the cost of each step as a bar, in the unit of ``statement.steps``; return the axes."""
    found = steps(statement)
    axes = axes_of(ax, 7.0, 0.9 + 0.32 * max(len(found), 1))
    bare(axes)
    if not found:
        axes.text(0.5, 0.5, "nothing was charged", ha="center", va="center", transform=axes.transAxes)
        axes.set_axis_off()
        return axes
    bars = axes.barh(range(len(found)), [step.cost for step in found], color=STRONG, height=0.6)
    axes.bar_label(bars, [f"{step.cost:.4g}" for step in found], padding=4, fontsize=9)
    axes.set_yticks(range(len(found)), [shortened(step.name) for step in found], fontsize=9)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel(found[0].unit)
    asked = statement.asked
    if "epsilon" in asked:
        stamp = "" if statement.private else "NOT PRIVATE; "
        title = f"{stamp}asked: epsilon {asked['epsilon']:g}, delta {asked.get('delta', 0.0):g}"
        axes.set_title(title, fontsize=9, color=SOFT, loc="left")
    return axes


# Okabe & Ito (2008), and a dash for each, so that colour is not needed
STYLES = (("#0072b2", "-"), ("#d55e00", "--"), ("#009e73", "-."), ("#cc79a7", ":"), ("#000000", (0, (1, 1))))
POINTS = 60


def plot_power(plan: Plan, ax: Axes | None = None) -> Axes:
    """Draw a power curve for each testable order, with the plan's effect and power marked; return the axes.

    Everything drawn follows from the schema, the number of rows and the budget: no data is touched.
    """

    axes = axes_of(ax, 6.0, 3.8)
    aim, budget = plan.aim, plan.measurement.public
    shown = [order for order in plan.orders if order.testable]
    ends = [order.smallest for order in shown if order.smallest < 1]
    w = np.linspace(0.0, min(1.0, max([1.2 * aim.effect, *(2.0 * end for end in ends)])), POINTS)
    for i, order in enumerate(shown):
        colour, dash = STYLES[i % len(STYLES)]
        curve = curve_at(plan.measurement, order.places, aim)
        chances = [curve(float(size)) for size in w]
        axes.plot(w, chances, color=colour, linestyle=dash, lw=1.8, label=f"order {order.order}")
    axes.axvline(aim.effect, color=SOFT, lw=0.8, ls=":")
    axes.axhline(aim.power, color=SOFT, lw=0.8, ls=":")
    axes.set(
        xlabel="dependence (Cohen's w)", ylabel="chance that it is found", ylim=(0, 1.02), xlim=(0, w[-1])
    )
    axes.set_title(
        f"{aim.rows:,} rows, epsilon {budget.epsilon:g}, delta {budget.delta:g}, level {aim.level:g}",
        fontsize=9,
        color=SOFT,
        loc="left",
    )
    if shown:
        axes.legend(fontsize=8, frameon=False)
    bare(axes)
    return axes


COLOURS = ("#2166ac", "#1b7837", "#b2182b", "#762a83", "#8c510a", "#01665e")
# epsilons drawn: how many, and from 1/30 to 30 times the budget, or farther, to what is enough
CURVE_POINTS, REACH = 25, 30.0
CURVES = 6  # orders with a curve, from 0 on
MOST_W = 1.0  # drawn; what is found only above has no curve or mark, and the legend says so


def draw_plan(plan: Plan, path: str | PathLike[str]) -> None:
    """Write the picture of a plan as PNG."""
    figure = _new_figure(10, 4)
    left, right = figure.subplots(1, 2)
    aim, budget = plan.aim, plan.measurement.public
    needed = [order.epsilon_enough or budget.epsilon for order in plan.orders]
    ends = min(budget.epsilon / REACH, min(needed) / 2), max(budget.epsilon * REACH, max(needed) * 2)
    epsilons = [ends[0] * (ends[1] / ends[0]) ** (i / (CURVE_POINTS - 1)) for i in range(CURVE_POINTS)]
    for order in plan.orders[:CURVES]:
        colour = COLOURS[order.order % len(COLOURS)]
        planned = [plan.measurement.at_epsilon(epsilon) for epsilon in epsilons]
        found = [least_found(one, order.places, aim) for one in planned]
        seen = any(w <= MOST_W for w in found)
        label = f"order {order.order}" + ("" if seen else f": no w up to {MOST_W:g} is found")
        left.plot(epsilons, found, color=colour, lw=1.6, label=label)
        left.axhline(order.smallest_exact, color=colour, lw=0.6, ls=":")
    left.axvline(budget.epsilon, color="#555555", lw=0.8, ls="--")
    left.axhline(aim.effect, color="#555555", lw=0.8, ls="--")
    left.set(
        xscale="log", yscale="log", xlabel="epsilon", ylabel=f"smallest w found {aim.power:.0%} of the times"
    )
    left.set_ylim(top=MOST_W)
    left.set_title(f"dashed: this budget, w = {aim.effect:g}; dotted: without noise", fontsize=9)
    left.legend(fontsize=8, frameon=False)
    numbers = [order.order for order in plan.orders]
    series: dict[str, tuple[str, str, list[float]]] = {
        "measured": ("o", "#2166ac", [order.smallest for order in plan.orders]),
        "without noise": ("_", "#555555", [order.smallest_exact for order in plan.orders]),
    }
    for label, (marker, colour, values) in series.items():
        shown = [(n, value) for n, value in zip(numbers, values, strict=True) if value <= MOST_W]
        right.plot(
            [n for n, _ in shown], [v for _, v in shown], marker, color=colour, label=label, ms=7, ls="none"
        )
    right.axhline(aim.effect, color="#555555", lw=0.8, ls="--")
    right.set(yscale="log", xlabel="order (columns conditioned on)", ylabel="smallest w", xticks=numbers)
    right.set_ylim(top=MOST_W)
    right.set_title(
        f"at epsilon {budget.epsilon:g} (a missing mark: no w up to {MOST_W:g} is found)", fontsize=9
    )
    right.legend(fontsize=8, frameon=False)
    bare(left)
    bare(right)
    figure.suptitle(
        f"{len(plan.columns)} columns, {aim.rows:,} rows, delta {budget.delta:g}, {budget.neighbours}, "
        f"level {aim.level:g}",
        fontsize=10,
    )
    _written(figure, path, dpi=130)


ORDER = {**{str(c): c for c in range(1, 23)}, "X": 23, "Y": 24, "XY": 25, "MT": 26, "M": 26}

NAMES = [*(str(c) for c in range(1, 23)), "X", "Y", "XY", "MT", "other"]


def place(chromosome: str, position: int) -> float:
    """Return the position of a SNP on an axis: chromosome number plus the fraction along it.

    >>> place("chr2", 125_000_000)
    2.5
    """
    plain = chromosome.upper().removeprefix("CHR")
    return ORDER.get(plain, len(NAMES)) + min(position / 250e6, 0.999)


def draw_hits(result: Screening, path: pathlib.Path) -> None:
    """Write the picture of a screening as PNG."""
    figure = _new_figure(9, 3.6)
    axes = figure.add_subplot()
    private = all(hit.pvalue is not None for hit in result.hits)
    for hit in result.hits:
        x = place(hit.variant.chromosome, hit.variant.position)
        y = -math.log10(max(hit.pvalue, 1e-30)) if private and hit.pvalue is not None else 1.0
        colour = "#b2182b" if hit.rejected else "#bbbbbb"
        axes.plot([x, x], [0, y], color=colour, lw=1)
        axes.plot(x, y, "o", color=colour, ms=5)
        if hit.rejected:
            axes.annotate(
                hit.variant.name, (x, y), xytext=(0, 5), textcoords="offset points", ha="center", fontsize=7
            )
    if private and result.hits:
        axes.axhline(-math.log10(result.level), color="#555555", lw=0.8, ls="--")
        axes.set_ylabel("-log10 P_DP (family-wise)")
    else:
        axes.set_yticks([])
        axes.set_ylabel("hit")
    axes.set_ylim(bottom=0)
    axes.margins(y=0.15)
    last = max([23, *(int(place(hit.variant.chromosome, 0)) for hit in result.hits)])
    axes.set_xlim(1, last + 1)
    axes.set_xticks([c + 0.5 for c in range(1, last + 1)], NAMES[:last], fontsize=7)
    axes.set_xlabel("chromosome")
    epsilon = result.privacy.epsilon
    cost = "not private" if epsilon is None or not result.privacy.private else f"epsilon {epsilon:g}"
    axes.set_title(f"Released SNPs only ({result.method}, {cost}, level {result.level:g})", fontsize=9)
    bare(axes)
    _written(figure, path, dpi=150)
