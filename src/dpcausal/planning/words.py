"""A plan in words: a table of orders and what follows from it."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dpcausal.planning.orders import OrderPlan
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


def as_table(plan: Plan) -> Table:
    """The orders as a table."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    effect = f"epsilon\nfor w\n= {plan.aim.effect:g}"
    heads = ["\n\norder", "can be\ntested", "\nrows in\na cell", "noise :\nsampling\nin a cell"]
    heads += ["noise\nin the\ntest", "\nworth\nrows", "\nsmallest\nw"]
    changing = any(order.smallest_changing is not None for order in plan.orders)
    heads += ["w if its\ndirection\nchanges"] * changing
    uneven = any(order.smallest_largest != order.smallest for order in plan.orders)
    heads += ["w in the\nlargest\ntable"] * uneven + ["w\nwithout\nnoise", "w by\npriv-pc", effect]
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True, vertical="bottom")
    for order in plan.orders:
        table.add_row(*_row(order, changing, uneven))
    return table


def _row(order: OrderPlan, changing: bool, uneven: bool) -> list[str]:
    most = (min(order.x, order.y) - 1) ** 0.5
    effects = [
        order.smallest,
        *[order.smallest_changing] * changing,
        *[order.smallest_largest] * uneven,
        order.smallest_exact,
        order.smallest_priv_pc,
    ]
    return [
        str(order.order),
        "yes" if order.testable else "no",
        number(order.count),
        f"{number(order.noise_sd)} : {number(order.sampling_sd)}",
        f"{100 * order.noise_share:.0f}%",
        number(order.worth),
        *(effect_words(value, most) for value in effects),
        number(order.epsilon_enough),
    ]


def lines(plan: Plan) -> tuple[str, str]:
    """(above the table, below it)."""
    aim, budget = plan.aim, plan.design
    about = "about " if budget.neighbours == "add-remove" else ""
    spread = (
        "levels equally common"
        if aim.share is None
        else f"the rarest level of every column has {aim.share:.0%} of the rows"
    )
    above = (
        f"{len(plan.columns)} columns, {about}{aim.rows:,} rows, epsilon {budget.epsilon:g}, "
        f"delta {budget.delta:g}, {budget.neighbours}, level {aim.level:g}\n"
        f"Measured: {plan.design.words(plan.orders[-1].order)}\n"
        f"Assumed: {spread}; no data was read and nothing is charged"
    )
    below = [
        f"w: the dependence found {aim.power:.0%} of the times, as sqrt(chi2/rows): a correlation where both columns "
        "have two levels (.1 weak, .3 medium, .5 strong).",
        "It is taken to be alike in all conditioning cells"
        + ("" if plan.design.joint else " (one that cancels between them is not seen)")
        + '. "-": not found that often, however strong.',
    ]
    silent = [str(order.order) for order in plan.orders if not order.testable]
    if silent:
        below.append(
            f"Order {', '.join(silent)} cannot be tested at this budget: nothing is called independent there, edges "
            "that would need it stay and are named."
        )
    enough = plan.epsilon_enough
    if enough is None:
        short = next(order for order in plan.orders if order.epsilon_enough is None)
        below.append(
            f"No epsilon is enough for w = {aim.effect:g} at order {short.order}: "
            + (
                f"{aim.rows:,} rows show {number(short.smallest_exact)} without any noise."
                if short.smallest_exact > aim.effect
                else f"no part of the budget is kept for it, or {aim.rows:,} rows are too few to test it."
            )
        )
    else:
        verdict = "more than that" if enough <= budget.epsilon else "less than that"
        below.append(
            f"Epsilon {number(enough)} is enough to test every order above and find w = {aim.effect:g}; "
            f"{budget.epsilon:g} is {verdict}."
        )
    return above, "\n".join(below)


def show(plan: Plan, console: Console) -> None:
    """Print it."""
    above, below = lines(plan)
    console.print(above, highlight=False, markup=False)
    console.print(as_table(plan))
    console.print(below, highlight=False, markup=False)


def as_text(plan: Plan, width: int) -> str:
    """The same, without colours."""
    from rich.console import Console

    out = StringIO()
    show(plan, Console(file=out, width=width, color_system=None))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())
