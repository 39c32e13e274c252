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
        return f"No epsilon is enough to find {found} at order {short.order}: {why}."
    if enough <= epsilon:
        return (
            f"Epsilon {epsilon:g} is enough to find {found} in {aim.power:.0%} of cases at every order below "
            f"(so is {number(enough)})."
        )
    return (
        f"Epsilon {epsilon:g} is not enough to find {found} in {aim.power:.0%} of cases at every order below; "
        f"{number(enough)} is."
    )


def lines(plan: Plan) -> tuple[str, str]:
    """(above the table, below it)."""
    aim, budget = plan.aim, plan.design
    about = "about " if budget.neighbours == "add-remove" else ""
    spread = (
        "levels are equally common"
        if aim.share is None
        else f"the rarest level of every column has {aim.share:.0%} of the rows"
    )
    above = [
        answer(plan),
        "",
        f"For {len(plan.columns)} columns, {about}{aim.rows:,} rows, epsilon {budget.epsilon:g}, "
        f"delta {budget.delta:g}, {budget.neighbours}, level {aim.level:g}.",
        "No data was read and nothing is charged.",
        f"It would measure {plan.design.words(plan.orders[-1].order)}.",
        f"Taken for granted: {spread}.",
    ]
    if plan.numbers:
        above.append(
            "Most columns hold numbers: discover then takes the method moments, unless you say --method measured, "
            "which this is about."
        )
    below = [
        "order: how many other columns are held fixed while two are compared.",
        "w: how strong a dependence is, 0 to 1 for two levels (a correlation; .1 weak, .3 medium, .5 strong).",
        f'smallest w: what is found in {aim.power:.0%} of cases. "-": not that often, however strong it is.',
        "The dependence is taken to be alike wherever the others are fixed"
        + ("." if plan.design.joint else "; one that cancels out between them is not seen."),
    ]
    silent = [str(order.order) for order in plan.orders if not order.testable]
    if silent:
        below.append(
            f"Order {', '.join(silent)} cannot be tested at this budget: edges that would need it stay, and are named."
        )
    return "\n".join(above), "\n".join(below)


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
