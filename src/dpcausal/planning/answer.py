"""The first lines of a plan: whether the budget is enough, what would be, and what shows more at the same epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcausal.data.columns import DEFAULT_BINS
from dpcausal.discovery.no_delta import no_delta_words

if TYPE_CHECKING:
    from dpcausal.planning.plan import Plan


def number(value: float | None) -> str:
    """Two digits that count, without exponents.

    >>> number(0.01234), number(1234.5), number(3.0), number(None)
    ('0.012', '1,200', '3', 'none')
    """
    if value is None:
        return "none"
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 10 or rounded == int(rounded) else f"{rounded:.2g}"


def effect_words(value: float | None, most: float) -> str:
    """A dependence, or that there is none so large.

    >>> effect_words(0.031, 1.0), effect_words(1.7, 1.0), effect_words(None, 1.0)
    ('0.031', '-', '')
    """
    return "" if value is None else "-" if value >= most else number(value)


def answer(plan: Plan) -> str:
    """The first line: whether this budget is enough for the dependence asked about, and what would be."""
    aim, epsilon = plan.aim, plan.design.epsilon
    found = f"a dependence of w = {aim.effect:g}"
    enough = plan.epsilon_enough
    if enough is None:
        short = next(order for order in plan.orders if order.epsilon_enough is None)
        why = (
            f"{aim.rows:,} rows show no less than {number(short.smallest_exact)} even without noise"
            if short.smallest_exact > aim.effect
            else f"no part of the budget is kept for it, or {aim.rows:,} rows are too few to test it"
        )
        rest = [order for order in plan.orders if order.epsilon_enough is not None]
        by_order = f" By order: {_by_order(plan)}." if rest else ""
        return f"No epsilon is enough to find {found} at order {short.order}: {why}.{by_order}"
    if enough <= epsilon:
        return (
            f"Epsilon {epsilon:g} is enough to find {found} in {aim.power:.0%} of cases at every order below "
            f"(so is {number(enough)})."
        )
    needed = [(order.order, order.epsilon_enough or enough) for order in plan.orders]
    short_of = f"Epsilon {epsilon:g} is not enough to find {found} in {aim.power:.0%} of cases at"
    if all(value > epsilon for _, value in needed):
        takes = ", ".join(f"{number(value)} (given {order or 'none'})" for order, value in needed)
        return f"{short_of} any order below: it takes {takes}."
    return f"{short_of} every order below: {_by_order(plan)}."


def _by_order(plan: Plan) -> str:
    """Which orders the budget is enough for, and what would be for each of the others."""
    parts: list[str] = []
    fine: list[int] = []
    for order in plan.orders:
        needed = order.epsilon_enough
        if needed is not None and needed <= plan.design.epsilon:
            fine.append(order.order)
            continue
        would = "at no epsilon" if needed is None else f"{number(needed)} would do"
        parts += [*_yes(fine), f"given {order.order or 'none'}: no, {would}"]
        fine = []
    parts += _yes(fine)
    return "; ".join(parts)


def _yes(orders: list[int]) -> list[str]:
    """The part for orders in a row that the budget is enough for.

    >>> _yes([0, 1, 2]), _yes([0]), _yes([3]), _yes([2, 3]), _yes([])
    (['given up to 2 columns: yes'], ['given none: yes'], ['given 3: yes'], ['given 2 to 3: yes'], [])
    """
    if not orders:
        return []
    if len(orders) == 1:
        return [f"given {orders[0] or 'none'}: yes"]
    if orders[0] == 0:
        return [f"given up to {orders[-1]} column{'s' * (orders[-1] > 1)}: yes"]
    return [f"given {orders[0]} to {orders[-1]}: yes"]


def advice(plan: Plan) -> list[str]:
    """What would show more at the same epsilon: a delta, coarser bins. Public numbers only."""
    budget, lines = plan.design, []
    louder = no_delta_words(budget.sizes, budget.epsilon, budget.delta, budget.neighbours, "--delta 1e-6")
    if louder is not None:
        lines.append(f"{louder[0].upper()}{louder[1:]}.")
    if plan.coarser is not None:
        pairs = zip(plan.orders, plan.coarser, strict=True)
        tops = [(order, w, (min(order.x, order.y, DEFAULT_BINS) - 1) ** 0.5) for order, w in pairs]
        words = ", ".join(f"{effect_words(w, top)} (given {order.order or 'none'})" for order, w, top in tops)
        lines.append(
            f"With {DEFAULT_BINS} bins for every number that has more, smallest w would be {words}: coarse bins leave "
            "more power, fine ones hold more constant."
        )
    return lines
