"""A plan in words: a table of orders and what follows from it."""

from __future__ import annotations

from collections.abc import Collection
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


def as_table(plan: Plan, only: Collection[int] | None = None) -> Table:
    """The orders as a table; of its columns those in ``only``."""
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
    chosen = range(len(heads)) if only is None else only
    for k in chosen:
        table.add_column(heads[k], justify="right", no_wrap=True, vertical="bottom")
    for order in plan.orders:
        row = _row(order, changing, uneven)
        table.add_row(*(row[k] for k in chosen))
    return table


def as_tables(plan: Plan, console: Console) -> list[Table]:
    """The table, or as many one below the other as the console's width takes, each with the order in front."""

    def wide(columns: list[int]) -> int:
        return console.measure(as_table(plan, columns), options=unbounded).maximum

    unbounded = console.options.update_width(10_000)
    parts: list[list[int]] = [[0]]
    for k in range(1, len(as_table(plan).columns)):
        if len(parts[-1]) > 1 and wide([*parts[-1], k]) > console.width:
            parts.append([0])
        parts[-1].append(k)
    return [as_table(plan, part) for part in parts]


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
        *legend(plan),
        "The dependence is taken to be alike wherever the others are fixed"
        + ("." if plan.design.joint else "; one that cancels out between them is not seen."),
    ]
    silent = [str(order.order) for order in plan.orders if not order.testable]
    if silent:
        below.append(
            f"Order {', '.join(silent)} cannot be tested at this budget: edges that would need it stay, and are named."
        )
    return "\n".join(above), "\n".join(below)


def legend(plan: Plan) -> list[str]:
    """A line for every column of the table that is there."""
    aim = plan.aim
    lines = [
        "order: how many other columns are held fixed while two are compared.",
        'can be tested: whether "independent" can be the answer at all.',
        "rows in a cell: mean count in the largest table that such a test needs.",
        "noise : sampling in a cell: standard deviation there, of the noise and of the count itself.",
        "noise in the test: how much of the test's own scatter (its variance) is noise.",
        "worth rows: so many rows would show as much if there were no noise.",
        "w: how strong a dependence is, 0 to 1 for two levels (a correlation; .1 weak, .3 medium, .5 strong); between "
        "columns of k levels it can reach sqrt(k - 1), so more than 1 from three levels on.",
        f'smallest w: what is found in {aim.power:.0%} of cases. "-": not that often, however strong it is.',
    ]
    if any(order.smallest_changing is not None for order in plan.orders):
        lines.append("w if its direction changes: the same where it changes with the columns held fixed.")
    if any(order.smallest_largest != order.smallest for order in plan.orders):
        lines.append("w in the largest table: smallest w for the columns with most levels.")
    return [
        *lines,
        "w without noise: smallest w that the rows alone allow.",
        "w by priv-pc: smallest w for one question of the method priv-pc, to compare with.",
        f"epsilon for w = {aim.effect:g}: with this one the order can be tested and such a w is found.",
    ]


def show(plan: Plan, console: Console) -> None:
    """Print it."""
    above, below = lines(plan)
    console.print(above, highlight=False, markup=False)
    for table in as_tables(plan, console):
        console.print(table)
    console.print(below, highlight=False, markup=False)


def as_text(plan: Plan, width: int) -> str:
    """The same, without colours."""
    from rich.console import Console

    out = StringIO()
    show(plan, Console(file=out, width=width, color_system=None))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())
