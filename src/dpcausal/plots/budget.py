"""Where the budget of a release went, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcausal.core.statement import PrivacyStatement
from dpcausal.plots.canvas import SOFT, STRONG, axes_of, bare
from dpcausal.report.spending import shortened, steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_budget(statement: PrivacyStatement, ax: Axes | None = None) -> Axes:
    """One bar a step, first at the top, in epsilon or rho (``report/spending.py`` says which)."""
    found = steps(statement)
    axes = axes_of(ax, 7.0, 0.9 + 0.32 * max(len(found), 1))
    bare(axes)
    if not found:
        axes.text(0.5, 0.5, "nothing was charged", ha="center", va="center", transform=axes.transAxes)
        axes.set_axis_off()
        return axes
    names = [shortened(s.label + (f" ({s.times} times)" if s.times > 1 else "")) for s in found]
    bars = axes.barh(range(len(found)), [step.cost for step in found], color=STRONG, height=0.6)
    axes.bar_label(bars, [f"{step.cost:.4g}" for step in found], padding=4, fontsize=9)
    axes.set_yticks(range(len(found)), names, fontsize=9)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel(found[0].unit)
    asked = statement.asked
    if "epsilon" in asked:
        told = f"asked: epsilon {asked['epsilon']:g}, delta {asked.get('delta', 0.0):g}"
        axes.set_title(
            told if statement.private else f"NOT PRIVATE; {told}", fontsize=9, color=SOFT, loc="left"
        )
    return axes
