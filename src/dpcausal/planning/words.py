"""A plan in words: a table of orders and what follows from it."""

from __future__ import annotations

from collections.abc import Collection
from io import StringIO
from typing import TYPE_CHECKING

from dpcausal.planning.answer import advice, answer, effect_words, number

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dpcausal.planning.plan import Plan

WIDEST = 16  # characters of a column's name


def pair_words(plan: Plan, places: tuple[int, ...]) -> str:
    """The two columns compared, shortened."""
    ends = [name if len(name) <= WIDEST else name[: WIDEST - 1] + "…" for name in plan.named(places[:2])]
    return " x ".join(sorted(ends) if plan.aim.pair is None else ends)


def as_table(plan: Plan, only: Collection[int] | None = None, *, full: bool = False) -> Table:
    """The orders as a table; of its columns those in ``only``."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    columns = heads_and_cells(plan, full)
    chosen = range(len(columns)) if only is None else only
    for k in chosen:
        table.add_column(columns[k][0], justify="right", no_wrap=True, vertical="bottom")
    for i in range(len(plan.orders)):
        table.add_row(*(columns[k][1][i] for k in chosen))
    return table


def heads_and_cells(plan: Plan, full: bool) -> list[tuple[str, list[str]]]:
    """(head, its cells by order) of every column of the table: six at most unless ``full``."""
    orders = plan.orders

    def effects(values: list[float | None]) -> list[str]:
        most = [(min(order.x, order.y) - 1) ** 0.5 for order in orders]
        return [effect_words(value, top) for value, top in zip(values, most, strict=True)]

    found = [
        ("\n\norder", [str(order.order) for order in orders]),
        ("can be\ntested", ["yes" if order.testable else "no" for order in orders]),
        ("\ncolumns\ncompared", [pair_words(plan, order.places) for order in orders]),
    ]
    if full:
        noise = [f"{number(order.noise_sd)} : {number(order.sampling_sd)}" for order in orders]
        found += [
            ("\nrows in\na cell", [number(order.count) for order in orders]),
            ("noise :\nsampling\nin a cell", noise),
            ("noise\nin the\ntest", [f"{100 * order.noise_share:.0f}%" for order in orders]),
            ("\nworth\nrows", [number(order.worth) for order in orders]),
        ]
    found.append(("\nsmallest\nw", effects([order.smallest for order in orders])))
    if full and any(order.smallest_changing is not None for order in orders):
        found.append(("w if its\ndirection\nchanges", effects([o.smallest_changing for o in orders])))
    uneven = any(order.smallest_largest != order.smallest for order in orders)
    if uneven and (full or plan.aim.pair is None):
        found.append(("w in the\nlargest\ntable", effects([order.smallest_largest for order in orders])))
    if full:
        found += [
            ("w\nwithout\nnoise", effects([order.smallest_exact for order in orders])),
            ("w by\npriv-pc", effects([order.smallest_priv_pc for order in orders])),
        ]
    enough = [number(order.epsilon_enough) for order in orders]
    return [*found, (f"epsilon\nfor w\n= {plan.aim.effect:g}", enough)]


def as_tables(plan: Plan, console: Console, full: bool) -> list[Table]:
    """The table, or as many one below the other as the console's width takes, each with the order in front."""

    def wide(columns: list[int]) -> int:
        return console.measure(as_table(plan, columns, full=full), options=unbounded).maximum

    unbounded = console.options.update_width(10_000)
    parts: list[list[int]] = [[0]]
    for k in range(1, len(as_table(plan, full=full).columns)):
        if len(parts[-1]) > 1 and wide([*parts[-1], k]) > console.width:
            parts.append([0])
        parts[-1].append(k)
    return [as_table(plan, part, full=full) for part in parts]


def lines(plan: Plan, full: bool = False) -> tuple[str, str]:
    """(above the table, below it)."""
    aim, budget = plan.aim, plan.design
    about = "about " if budget.neighbours == "add-remove" else ""
    spread = (
        "levels are equally common (--share 0.05: the rarest has 5%)"
        if aim.share is None
        else f"the rarest level of every column has {aim.share:.0%} of the rows"
    )
    above = [
        answer(plan),
        *advice(plan),
        "",
        f"For {len(plan.columns)} columns, {about}{aim.rows:,} rows, epsilon {budget.epsilon:g}, "
        f"delta {budget.delta:g}, {budget.neighbours}, level {aim.level:g}.",
        f"It would measure {plan.design.words(plan.orders[-1].order)}.",
        f"Taken for granted: {spread}. No data was read and nothing is charged.",
    ]
    if plan.numbers:
        above.append(
            "Most columns hold numbers: discover then takes the method moments, unless you say --method measured, "
            "which this is about."
        )
    below = legend(plan, full)
    if full:
        below.append(
            "The dependence is taken to be alike wherever the others are fixed"
            + ("." if plan.design.joint else "; one that cancels out between them is not seen.")
        )
    silent = [str(order.order) for order in plan.orders if not order.testable]
    if silent:
        below.append(
            f"Order {', '.join(silent)} cannot be tested at this budget: edges that would need it stay, and are named."
        )
    if not full:
        below.append("More columns: --full. What they mean: docs/plan.md.")
    return "\n".join(above), "\n".join(below)


def legend(plan: Plan, full: bool = False) -> list[str]:
    """A line for every column of the table that is there, and for w."""
    aim = plan.aim
    chosen = (
        "columns compared: those with a middle number of levels, given the next smaller ones; --pair x,y for yours."
        if aim.pair is None
        else "columns compared: as asked, given columns with a middle number of levels."
    )
    largest = plan.orders[0].largest
    lines = {
        "order": "order: how many other columns are held fixed while two are compared.",
        "can be tested": 'can be tested: whether "independent" can be the answer at all.',
        "columns compared": chosen,
        "rows in a cell": "rows in a cell: mean count in the largest table that such a test needs.",
        "noise : sampling in a cell": "noise : sampling in a cell: standard deviation there, of the noise and of the "
        "count itself.",
        "noise in the test": "noise in the test: how much of the test's own scatter (its variance) is noise.",
        "worth rows": "worth rows: so many rows would show as much if there were no noise.",
        "smallest w": f"smallest w: the dependence found in {aim.power:.0%} of cases (a correlation for two levels; .1 "
        'weak, .3 medium, .5 strong; up to sqrt(k - 1) for k levels). "-": none is.',
        "w if its direction changes": "w if its direction changes: the same where it changes with the columns held "
        "fixed.",
        "w in the largest table": "w in the largest table: the same for the columns with most levels "
        f"({pair_words(plan, largest)}).",
        "w without noise": "w without noise: smallest w that the rows alone allow.",
        "w by priv-pc": "w by priv-pc: smallest w for one question of the method priv-pc. A search asks about an edge "
        "many times, and each time may cut it, so this is no reason to take it.",
        f"epsilon for w = {aim.effect:g}": f"epsilon for w = {aim.effect:g}: with this one the order can be tested and "
        "such a w is found.",
    }
    heads = [" ".join(head.split()) for head, _ in heads_and_cells(plan, full)]
    return [lines[head] for head in heads]


def show(plan: Plan, console: Console, full: bool = False) -> None:
    """Print it."""
    above, below = lines(plan, full)
    console.print(above, highlight=False, markup=False)
    for table in as_tables(plan, console, full):
        console.print(table)
    console.print(below, highlight=False, markup=False)


def as_text(plan: Plan, width: int, full: bool = False) -> str:
    """The same, without colours."""
    from rich.console import Console

    out = StringIO()
    show(plan, Console(file=out, width=width, color_system=None), full)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())
