"""A plan in words: whether the budget is enough, what would be, a table of orders and what follows from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import groupby
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

from dpcausal.core.forecast import MEDIUM, STRONG, WEAK, Power, PowerForecast
from dpcausal.core.spelling import spelled, worded
from dpcausal.data.columns import DEFAULT_BINS, has_order, missing_place
from dpcausal.planning.forecast import NOTABLE_GAIN, noise_without_delta
from dpcausal.planning.plan import RARE_SHARE
from dpcausal.planning.settings import MAX_SET
from dpcausal.present.statement import no_delta_words
from dpcausal.present.text import digits, few, listed, percent, ruled

if TYPE_CHECKING:
    from dpcausal.planning.forecast import OrderPlan
    from dpcausal.planning.plan import Plan


def design_words(plan: Plan) -> str:
    """Return what will be measured, as one line."""
    design, last = plan.measurement, plan.orders[-1].order
    columns = len(design.sizes)
    if design.joint:
        cells = math.prod(design.sizes)
        return f"one joint table of {cells:,} cells with {design.law} noise; every test is made on it"
    merged = f", with levels merged to {max(design.sizes)} at most" if design.merged else ""
    first = f"all columns and pairs with {design.law} noise{merged}"
    if plan.target is not None:
        near, others = min(design.settings.near_target, columns - 1), columns - 1
        return (
            f"all columns and the {others} pairs with {plan.target}, with {design.law} noise{merged}, then it and the "
            f"{near} most promising columns again, with each other; every test is made on these"
        )
    if design.tree:
        return (
            f"all columns with {design.law} noise{merged}, then {columns - 1} pairs that join all columns, "
            "chosen at random, likelier where two columns depend more; every test is made on these"
        )
    if not design.larger:
        rounds, number = len(design.shares.again), design.again_count
        more = f", then the {number} most promising pairs again in {rounds} rounds" if rounds else ""
        return f"{first}{more}; every test is made on these"
    tables = [
        f"about {design.interactions(order):,} larger tables for order {order}"
        for order in range(2, last + 1)
        if design.interactions(order)
    ]
    return ", then ".join([f"{first} (orders 0 and 1)", *tables])


STAY_OPEN = "most pairs without a link will stay open"
SIZES = (
    ("strong", STRONG),
    ("medium", MEDIUM),
    ("weak", WEAK),
)  # names of w, in the order in which they are found


def answer_lines(plan: Plan) -> list[str]:
    """Return whether this budget is enough for the dependence asked about, and which epsilon would be.

    The first line is for levels as uneven as they mostly are, the second for equally common ones: one where both are
    the same, or where the second says no.
    """
    moments = next((chance for chance in plan.chances if chance.way == "moments"), None)
    if plan.numbers and moments is not None:
        return [_answer_by_moments(plan, moments)]
    rare, now = plan.with_rare_levels, plan.orders[0]
    even = f"{_answer(plan, plan.orders)} {_takes(plan)}"
    same = rare is not None and (_found(plan, rare), rare.testable) == (_found(plan, now), now.testable)
    if rare is None or same or not _found(plan, now):
        return [even]
    return [
        _answer(plan, [rare], f"{_where_rare()}, "),
        f"For equally common levels, as in the table: {even}",
    ]


def _answer(plan: Plan, orders: Sequence[OrderPlan], where: str = "") -> str:
    """Return which dependences these orders find, as a sentence; ``where`` is its beginning."""
    aim, first, sizes = plan.aim, orders[0], dict(_asked_sizes(plan))
    of = "" if plan.target is None else f"a dependence of {plan.target} of "
    cases, epsilon = f"in {aim.power:.0%} of cases", f"epsilon {plan.measurement.public.epsilon:g}"
    names = _found(plan, first)
    but = "" if first.testable else f", {'but' if names else 'and'} {STAY_OPEN}"
    if not names:
        head = "No, not even for strong dependence" if aim.effect == WEAK else "No"
        sought = STRONG if aim.effect == WEAK else aim.effect
        only = (
            f", only w = {digits(first.smallest)} or more" if first.smallest < first.largest_possible else ""
        )
        return f"{head}: {where}{epsilon} does not find {of}w = {sought:g} {cases}{only}{but}."
    lost = [name for name in sizes if name not in names]
    shows = [one.smallest <= sizes[names[-1]] and (one.order <= MAX_SET or one.testable) for one in orders]
    last = ([*shows, False].index(False) or 1) - 1  # columns held fixed, from none on
    largest = max(one.smallest for one in orders[: last + 1])
    exact = digits(largest) in [digits(sizes[name]) for name in lost]
    least = f"{largest:.3g}" if exact else digits(largest)
    given = f"given up to {last} column{'s' * (last > 1)}" if last else "nothing held fixed"
    head = "Yes" if first.testable and (lost or all(shows)) else "In part"
    if lost:
        head += f" for {listed(names)} dependence, no for {listed(lost)}"
    return f"{head}: {where}{epsilon} finds {of}w = {least} or more {cases}, {given}{but}."


def _asked_sizes(plan: Plan) -> tuple[tuple[str, float], ...]:
    """Return the dependences that a plan answers for, as (name, w)."""
    return SIZES if plan.aim.effect == WEAK else (("asked", plan.aim.effect),)


def _found(plan: Plan, order: OrderPlan) -> list[str]:
    """Return the names of the dependences that an order finds."""
    shown = float(f"{order.smallest:.2g}") if math.isfinite(order.smallest) else math.inf
    return [name for name, w in _asked_sizes(plan) if (order.smallest if w == WEAK else shown) <= w]


def _answer_by_moments(plan: Plan, moments: PowerForecast) -> str:
    """Return whether this budget is enough where ``discover`` would use moments."""
    assert moments.power is not None
    aim, asked = plan.aim, moments.power.asked or 0.0
    yes, is_enough = ("Yes", "is enough") if asked >= aim.power else ("No", "is not enough")
    return (
        f"{yes}: epsilon {plan.measurement.public.epsilon:g} {is_enough} to find a correlation of {aim.effect:g} in "
        f"{aim.power:.0%} of cases by moments, which discover takes for numbers: at best it is found in "
        f"{percent(asked)}."
    )


def _where_rare() -> str:
    """Return the words for a plan in which every column has a rare level."""
    option = spelled(f"--share {RARE_SHARE:g}", f"share={RARE_SHARE:g}")
    return f"where the rarest level of a column has {RARE_SHARE:.0%} of the rows, as is common ({option})"


def _takes(plan: Plan) -> str:
    """Return which epsilon the dependence asked about needs, by order, as a sentence."""
    several = len(plan.orders) > 1
    runs = _in_runs([digits(order.epsilon_enough) for order in plan.orders])
    needed = [f"{said} ({given})" if several else said for given, said in runs if said != "none"]
    never = [given for given, said in runs if said == "none"]
    parts = [f"finding w = {plan.aim.effect:g} takes epsilon {', '.join(needed)}"] if needed else []
    if never:
        given = f" {' and '.join(never)}" if several else ""
        found = "" if needed else f" to find w = {plan.aim.effect:g}"
        parts.append(f"no epsilon is enough{found}{given}: {_too_few_rows(plan)}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _too_few_rows(plan: Plan) -> str:
    """Return why no epsilon is enough for some order, as a sentence."""
    exact = next(one.smallest_exact for one in plan.orders if one.epsilon_enough is None)
    if exact > plan.aim.effect:
        return f"{plan.aim.rows:,} rows show no less than {exact:.3g} even without noise"
    return f"{plan.aim.rows:,} rows are too few for that among so many columns"


def _in_runs(said: list[str]) -> list[tuple[str, str]]:
    """Return (orders in words, statement), with consecutive orders of the same statement joined.

    >>> _in_runs(["yes", "yes", "no"])
    [('given up to 1 column', 'yes'), ('given 2', 'no')]
    """
    runs = groupby(enumerate(said), key=lambda one: one[1])
    return [(_given_words([order for order, _ in run]), words) for words, run in runs]


def _given_words(orders: list[int]) -> str:
    """Return consecutive orders in words.

    >>> _given_words([0, 1, 2]), _given_words([0]), _given_words([3]), _given_words([2, 3])
    ('given up to 2 columns', 'given none', 'given 3', 'given 2 to 3')
    """
    if len(orders) == 1:
        return f"given {orders[0] or 'none'}"
    if orders[0] == 0:
        return f"given up to {orders[-1]} column{'s' * (orders[-1] > 1)}"
    return f"given {orders[0]} to {orders[-1]}"


def advice(plan: Plan) -> list[str]:
    """Return what would show more at the same epsilon: a delta, coarser bins. Public numbers only."""
    lines, times = [], noise_without_delta(plan.measurement.public)
    if times >= NOTABLE_GAIN:
        words = no_delta_words(times)
        lines.append(f"{words[0].upper()}{words[1:]}.")
    if plan.coarser is not None and digits(plan.coarser) != digits(plan.orders[0].smallest):
        lines.append(
            f"With {DEFAULT_BINS} bins for every number that has more, w = {digits(plan.coarser)} would be found, "
            "nothing held fixed: coarse bins leave more power, fine ones hold more constant."
        )
    if plan.fewer is not None:
        fewer = worded(
            "--columns a,b,c here and in discover",
            "leave some out of the schema",
            "which columns there are is the custodian's to choose",
        )
        lines.append(
            f"Fewer columns would help: among {plan.fewer} most pairs could be decided, if levels are equally common "
            f"({fewer}); so would one question ({spelled('--target', 'target=')}). "
            "Leave no common cause out: two columns that depend on it would seem linked."
        )
    elif (
        plan.target is None
        and not plan.numbers
        and not plan.measurement.joint  # one table of all columns has less noise than pairs with one of them
        and (plan.epsilon_enough or math.inf) > plan.measurement.public.epsilon
    ):
        one = spelled("--target NAME", "target=") + worded(" (here and in discover)", "", "")
        lines.append(f"If your question is about one column, {one} asks about it alone, with less noise.")
    return lines


def graph_chance_words(plan: Plan) -> str:
    """Return how likely weak, medium and strong dependences are found by the method of ``discover``."""
    ways = {chance.way: chance for chance in plan.chances}
    one = ways["moments"] if plan.numbers and "moments" in ways else plan.chances[0]
    assert one.power is not None
    found = f"discover ({one.method}) finds {sizes_words(one.power, ' at best' * (one.way == 'moments'))}."
    if one.way == "moments":
        return found
    text = f"Between {pair_words(plan, plan.orders[0].places, ' and ')}, nothing held fixed, {found}"
    if len(answer_lines(plan)) > 1:
        text += f" Where the rarest level has {RARE_SHARE:.0%}: {figures(plan.rare_power)}."
    return text


def sizes_words(power: Power, at_best: str = "") -> str:
    """Return how often a weak, a medium and a strong dependence are found, as a clause."""
    return (
        f"a weak dependence (w = .1) in {percent(power.weak)} of cases{at_best}, a medium one (.3) in "
        f"{percent(power.medium)}, a strong one (.5) in {percent(power.strong)}"
    )


def figures(power: Power | None) -> str:
    """Return the chances of a weak, a medium and a strong dependence, with commas."""
    return "" if power is None else ", ".join(map(percent, power[:3]))


def spread_words(plan: Plan) -> str:
    """Return what is assumed of how common levels are."""
    share = plan.aim.share
    if share is None:
        return (
            "all levels of a column are equally common; real ones are not, and show less "
            f"({spelled('--share 0.05', 'share=0.05')}: the rarest has 5%)"
        )
    return f"the rarest level of every column has {share:.0%} of the rows"


MERGED_SHOWN = 6  # columns whose levels will be merged that a line names


def merged_words(plan: Plan) -> list[str]:
    """Return which columns will have levels merged, and to how many groups."""
    design, schema = plan.measurement, plan.schema
    if not design.merged or plan.numbers:
        return []
    most = max(design.levels)
    many = [name for name, size in zip(schema, design.sizes, strict=True) if size < schema[name].size]
    if not many:
        return []
    names = few(many, MERGED_SHOWN) if len(many) > MERGED_SHOWN else listed(many)
    each = " each" if len(many) > 1 else ""
    missing = [name for name in many if missing_place(schema[name]) is not None]
    where = " where there is a level for them" if len(missing) < len(many) else ""
    more = f", and one more for missing values{where}" if missing else ""
    line = f"Levels of {names} will be merged to at most {most} groups{each}{more}, because of the noise"
    if all(has_order(schema[name]) for name in many):
        return [f"{line}; neighbours stay together."]
    return [
        f"{line}; which ones is known only after measuring. ordered = true in the schema keeps neighbours together; to "
        "keep levels apart (treatment arms, say), declare fewer of them."
    ]


def untestable_words(plan: Plan) -> list[str]:
    """Return what "stay open" means, where some orders do."""
    if all(order.testable for order in plan.orders):
        return []
    return [
        '"stay open": noise, or merging levels, hides too much for a typical pair to be called absent.'
        if not plan.orders[0].testable
        else '"stay open": with so many columns held fixed, noise hides too much for a typical pair to be called '
        "absent."
    ]


WIDEST = 16  # characters of a column's name


def pair_words(plan: Plan, places: tuple[int, ...], between: str = " x ") -> str:
    """Return the names of the two columns compared, shortened."""
    ends = [name if len(name) <= WIDEST else name[: WIDEST - 1] + "…" for name in plan.named(places[:2])]
    return between.join(sorted(ends) if plan.aim.pair is None else ends)


class Column(NamedTuple):
    """A column of the table of a plan: its head, its cells by order, and what it means."""

    head: str
    cells: list[str]
    means: str


def columns(plan: Plan, *, full: bool = False) -> list[Column]:
    """Return the columns of the table."""
    orders, aim = plan.orders, plan.aim
    asked = "as asked, given columns with a middle number of levels."
    middle = f"those with a middle number of levels, given the next smaller ones; {_pair_option()} for yours."

    def effects(values: list[float]) -> list[str]:
        return [
            "-" if value >= order.largest_possible else digits(value)
            for value, order in zip(values, orders, strict=True)
        ]

    found = [
        Column(
            "\ncolumns\nheld fixed",
            [str(order.order) for order in orders],
            "how many others are held fixed while two are compared (the order).",
        ),
        Column(
            "\npairs without\na link",
            ["absent" if order.testable else "stay open" for order in orders],
            "whether such a pair can be called absent, or stays open, undecided.",
        ),
        Column(
            "\ncolumns\ncompared",
            [pair_words(plan, order.places) for order in orders],
            middle if aim.pair is None else asked,
        ),
        Column(
            "smallest\nw that\nis found",
            effects([order.smallest for order in orders]),
            f"the dependence found in {aim.power:.0%} of cases (a correlation for two levels; .1 weak, .3 medium, .5 "
            'strong; up to sqrt(k - 1) for k levels). "-": none is.',
        ),
    ]
    if full:
        found.append(
            Column(
                "w\nwithout\nnoise",
                effects([order.smallest_exact for order in orders]),
                "smallest w that the rows alone allow.",
            )
        )
    found.append(
        Column(
            f"epsilon\nfor w\n= {aim.effect:g}",
            [digits(order.epsilon_enough) for order in orders],
            "with this one such a w is found (and, with three or more columns held fixed, a pair without a link can be "
            "called absent).",
        )
    )
    return found


def _rows_of(chosen: Sequence[Column]) -> list[list[str]]:
    """Return the cells of columns, row by row."""
    return [list(row) for row in zip(*(column.cells for column in chosen), strict=True)]


def _setting(plan: Plan) -> str:
    """Return what the plan is for: rows, budget, columns."""
    aim, budget = plan.aim, plan.measurement.public
    about = "about " if budget.neighbours == "add-remove" else ""
    single = [name for name, size in zip(plan.columns, budget.sizes, strict=True) if size < 2]
    left = f" (left out, for one level tells nothing: {', '.join(single)})" if single else ""
    return (
        f"For {len(plan.columns) - len(single)} columns{left}, {about}{aim.rows:,} rows, epsilon {budget.epsilon:g}, "
        f"delta {budget.delta:g}, {budget.neighbours}, level {aim.level:g}."
    )


def _brief_lines(plan: Plan) -> list[str]:
    """Return the lines of a plan's short summary."""
    return [
        graph_chance_words(plan),
        *merged_words(plan),
        f"Assumed: {spread_words(plan)}.",
        *untestable_words(plan),
        f"{_setting(plan)} No data was read; nothing is charged.",
        'w (Cohen\'s): .1 weak, .3 medium, .5 strong; "-": none is found. Columns compared have a middle number of '
        f"levels ({_pair_option()} for yours). {spelled('--full', 'summary(full=True)')} explains the table and shows "
        "more.",
    ]


def _pair_option() -> str:
    """Return how to ask about a pair of columns, in the notation of the caller."""
    return spelled("--pair x,y", 'pair=("x", "y")')


def _full_lines(plan: Plan) -> list[str]:
    """Return the lines of a plan's full summary."""
    lines = [
        graph_chance_words(plan),
        _setting(plan),
        f"It would measure {design_words(plan)}. A count of the two columns compared first then has noise of standard "
        f"deviation {digits(plan.noise_sd)}.",
        *merged_words(plan),
        f"Assumed: {spread_words(plan)}. No data was read and nothing is charged.",
        f"Learning the graph takes about {plan.cost.seconds:,.0f} s of one core and {plan.cost.mebibytes:,.0f} MiB.",
    ]
    if plan.numbers:
        lines.append(
            "Most columns hold numbers: discover then takes the method moments, unless you say "
            + spelled("--method measured", 'method="measured"')
            + ", which the rest is about."
        )
    lines += ["", *plan_legend(plan, full=True)]
    lines.append(
        "The dependence is taken to be alike wherever the others are fixed; one that cancels out between them is not "
        "seen."
    )
    lines += untestable_words(plan)
    return lines


def plan_legend(plan: Plan, *, full: bool = False) -> list[str]:
    """Return a line for every column that the table has."""
    return [f"{' '.join(one.head.split())}: {one.means}" for one in columns(plan, full=full)]


def refusal_words(ahead: PowerForecast) -> str:
    """Return why a graph or a test is refused and what would help, in one line."""
    of = "" if ahead.columns is None else f", {ahead.columns} columns"
    of = of if ahead.cells is None else f", a table of {ahead.cells:,} cells"
    ask = spelled("plan --share", "dc.plan(share=)")
    rare = f" In brackets: how often it is then found, if levels are equally common; {ask} is for rare ones."
    return (
        f"this can show hardly anything, so nothing was charged: {budget_words(ahead, of)} even a strong dependence "
        f"(w = {STRONG:g}) would be found in {percent(ahead.strong or 0.0)} of cases. {help_words(ahead)}."
        f"{rare if ahead.remedies else ''} {spelled('--anyway', 'anyway=True')} runs it all the same"
    )


def budget_words(ahead: PowerForecast, of: str = "") -> str:
    """Return the rows and the budget of a forecast, in words."""
    return f"with {ahead.rows:,} rows{of}, epsilon {ahead.epsilon:g} and delta {ahead.delta:g}"


def help_words(ahead: PowerForecast, more: Sequence[str] = ()) -> str:
    """Return what would help, each way by itself, as a clause; ``more``: further ways."""
    words = {
        "epsilon": spelled("--epsilon {0:g}", "epsilon={0:g}"),
        "delta": spelled("--delta 1e-6", "delta=1e-6"),
        "target": worded("one --target", "one target", spelled("--target", "target=")),
        "columns": "{:,} columns or fewer",
        "cells": "{:,} cells (coarser bins, fewer columns held fixed)",
    }
    short = ahead.enough is not None and ahead.left is not None and ahead.enough > ahead.left
    ways = [
        words[one.change].format(one.to) + ("" if one.chance is None else f" ({percent(one.chance)})")
        for one in ahead.remedies
        if one.change in words and not (short and one.change == "epsilon")
    ]
    ways += [*more, "more rows"]
    left = f" (epsilon {ahead.enough:g} would do, but the ledger has {ahead.left:.3g} left)" if short else ""
    return f"What would help{', each by itself' * (len(ways) > 1)}: {'; '.join(ways)}{left}"


def html(plan: Plan) -> str:
    """Return the answer and the table as a piece of HTML for a notebook."""
    shown = columns(plan)
    heads = "".join(f"<th>{escape(' '.join(one.head.split()))}</th>" for one in shown)
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in _rows_of(shown))
    rows = "".join(f"<tr>{row}</tr>" for row in cells)
    above = "".join(f"<p>{escape(line)}</p>" for line in (*answer_lines(plan), *advice(plan)))
    below = "".join(f"<p>{escape(line)}</p>" for line in _brief_lines(plan)[:-1])
    more = "<p>w: .1 weak, .3 medium, .5 strong. print(plan.summary(full=True)) explains the table.</p>"
    return (
        f"<div>{above}<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{below}{more}</div>"
    )


def plan_text(plan: Plan, width: int, full: bool = False) -> str:
    """Return the plan as text: answer, advice, table; no line longer than ``width``."""
    shown = columns(plan, full=full)
    below = _full_lines(plan) if full else _brief_lines(plan)
    return "\n".join(
        [
            *(fill(line, width) for line in (*answer_lines(plan), *advice(plan))),
            *ruled([one.head for one in shown], _rows_of(shown), width=width),
            *(fill(line, width) for line in below),
        ]
    )
