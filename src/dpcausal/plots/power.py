"""Power curves of a plan: the chance that a dependence of a given size is found, order by order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcausal.plots.canvas import SOFT, axes_of, bare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpcausal.planning.plan import Plan

# Okabe & Ito (2008), and a dash for each, so that colour is not needed
STYLES = (("#0072b2", "-"), ("#d55e00", "--"), ("#009e73", "-."), ("#cc79a7", ":"), ("#000000", (0, (1, 1))))
POINTS = 60


def plot_power(plan: Plan, ax: Axes | None = None) -> Axes:
    """One curve an order that can be tested; the plan's effect and power are marked.

    Everything drawn follows from the schema, the number of rows and the budget: no data is touched.
    """
    from dpcausal.planning.designs import expected
    from dpcausal.planning.power import power_of

    axes = axes_of(ax, 6.0, 3.8)
    aim = plan.aim
    shown = [order for order in plan.orders if order.testable]
    ends = [order.smallest for order in shown if order.smallest < 1]
    w = np.linspace(0.0, min(1.0, max([1.2 * aim.effect, *(2.0 * end for end in ends)])), POINTS)
    for i, order in enumerate(shown):
        table = expected(plan.design, order.order, "typical", aim)
        colour, dash = STYLES[i % len(STYLES)]
        curve = [power_of(table, float(size), aim.level) for size in w]
        axes.plot(w, curve, color=colour, linestyle=dash, lw=1.8, label=f"order {order.order}")
    axes.axvline(aim.effect, color=SOFT, lw=0.8, ls=":")
    axes.axhline(aim.power, color=SOFT, lw=0.8, ls=":")
    axes.set(
        xlabel="dependence (Cohen's w)", ylabel="chance that it is found", ylim=(0, 1.02), xlim=(0, w[-1])
    )
    axes.set_title(
        f"{aim.rows:,} rows, epsilon {plan.design.epsilon:g}, delta {plan.design.delta:g}, level {aim.level:g}",
        fontsize=9,
        color=SOFT,
        loc="left",
    )
    if shown:
        axes.legend(fontsize=8, frameon=False)
    bare(axes)
    return axes
