"""A plan as a picture: how the least dependence falls with epsilon, and what it is at this budget, order by order."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from dpcausal.core.errors import InputError
from dpcausal.planning.designs import smallest

if TYPE_CHECKING:
    from dpcausal.planning.plan import Plan

COLOURS = ("#2166ac", "#1b7837", "#b2182b", "#762a83", "#8c510a", "#01665e")
POINTS, REACH = 25, 30.0  # epsilons drawn, from 1/30 to 30 times the budget or farther, to what is enough
CURVES = 6  # orders with a curve, from 0 on
MOST_W = 1.0  # drawn; what is found only above has no curve or mark, and the legend says so


def draw_plan(plan: Plan, path: str | PathLike[str]) -> None:
    """Write it as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # late: takes a second
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    aim, budget = plan.aim, plan.design
    needed = [order.epsilon_enough or budget.epsilon for order in plan.orders]
    ends = min(budget.epsilon / REACH, min(needed) / 2), max(budget.epsilon * REACH, max(needed) * 2)
    epsilons = [ends[0] * (ends[1] / ends[0]) ** (i / (POINTS - 1)) for i in range(POINTS)]
    for order in plan.orders[:CURVES]:
        colour = COLOURS[order.order % len(COLOURS)]
        found = [smallest(plan.design.with_epsilon(epsilon), order.order, aim) for epsilon in epsilons]
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
        "priv-pc, one question": ("^", "#b2182b", [order.smallest_priv_pc for order in plan.orders]),
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
    for axes in (left, right):
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.suptitle(
        f"{len(plan.columns)} columns, {aim.rows:,} rows, delta {budget.delta:g}, {budget.neighbours}, "
        f"level {aim.level:g}",
        fontsize=10,
    )
    try:
        figure.savefig(path, dpi=130)
    except OSError as error:
        raise InputError(f"can't write {str(path)!r}: {error.strerror or error}") from None
