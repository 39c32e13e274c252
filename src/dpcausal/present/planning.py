"""A plan in words: whether the budget is enough, what would be, a table of orders and what follows from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

from dpcausal.core.forecast import MEDIUM, STRONG, WEAK, Power, PowerForecast
from dpcausal.core.spelling import spelled
from dpcausal.data.columns import DEFAULT_BINS, has_order, missing_place
from dpcausal.planning.forecast import NOTABLE_GAIN, noise_without_delta
from dpcausal.planning.plan import RARE_SHARE
from dpcausal.planning.settings import MAX_SET
from dpcausal.present.statement import no_delta_words
from dpcausal.present.text import digits, few, listed, percent, ruled

if TYPE_CHECKING:
    from dpcausal.planning.plan import Plan


def design_words(plan: Plan) -> str:
    """Return what will be measured, in one line."""
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


def answer_lines(plan: Plan) -> list[str]:
    """Return the answer for levels as uneven as they mostly are, then that for equally common ones.

    One line where both are the same, or the second is a no already.
    """
    moments = next((chance for chance in plan.graph_chances if chance.way == "moments"), None)
    if plan.numbers and moments is not None:
        return [_answer_by_moments(plan, moments)]
    even, rare, now = answer(plan), plan.with_rare_levels, plan.orders[0]
    if rare is None or (digits(now.smallest), now.testable) == (digits(rare[0]), rare[1]):
        return [even]
    least, decided = rare
    if now.smallest > _wanted(plan) or (least <= plan.aim.effect and decided):
        return [even]
    option = spelled(f"--share {RARE_SHARE:g}", f"share={RARE_SHARE:g}")
    where = f"where the rarest level of a column has {RARE_SHARE:.0%} of the rows, as is common ({option}), "
    return [
        _verdict(plan, least, [0], decided=decided, where=where),
        f"For equally common levels, as in the table: {even}",
    ]


def _answer_by_moments(plan: Plan, moments: PowerForecast) -> str:
    """Whether this budget is enough where ``discover`` takes moments."""
    assert moments.power is not None
    aim, asked = plan.aim, moments.power.asked or 0.0
    yes, is_enough = ("Yes", "is enough") if asked >= aim.power else ("No", "is not enough")
    return (
        f"{yes}: epsilon {plan.measurement.public.epsilon:g} {is_enough} to find a correlation of {aim.effect:g} in "
        f"{aim.power:.0%} of cases by moments, which discover takes for numbers: at best it is found in "
        f"{percent(asked)}."
    )


def answer(plan: Plan) -> str:
    """Whether this budget is enough for the dependence asked about, and what would be, as the table takes levels."""
    aim, epsilon, enough, orders = plan.aim, plan.measurement.public.epsilon, plan.epsilon_enough, plan.orders
    if enough is not None and enough <= epsilon:
        of = "" if plan.target is None else f" of {plan.target}"
        most = f" given up to {orders[-1].order} columns" if len(orders) > 1 else ""
        less = f" (so is {digits(enough)})" if enough <= NOTABLY_LESS * epsilon else ""
        opens = "" if orders[0].testable else f" But {STAY_OPEN}, not absent."
        return (
            f"Yes: epsilon {epsilon:g} is enough to find a dependence{of} of w = {aim.effect:g} in {aim.power:.0%} of "
            f"cases{most}{less}.{opens}"
        )
    # what is found without anything held fixed, and up to how many columns that stays so
    least = orders[0].smallest
    weakest = min((w for w in (aim.effect, *dict(SIZES).values()) if w >= least), default=least)
    shows = [one.smallest <= weakest and (one.order <= MAX_SET or one.testable) for one in orders]
    within = list(range([*shows, False].index(False) or 1)) if least <= STRONG else [0]
    largest = max(orders[k].smallest for k in within)
    return f"{_verdict(plan, largest, within, decided=orders[0].testable)} {_takes(plan)}"


NOTABLY_LESS = 0.9  # times an epsilon that is enough: another that is worth naming
STAY_OPEN = "most pairs without a link will stay open"
# names of w, in the order in which they are found
SIZES = (("strong", STRONG), ("medium", MEDIUM), ("weak", WEAK))


def _wanted(plan: Plan) -> float:
    """The w that must be found, or the answer is no: a strong one, unless another than a weak one is asked about."""
    return STRONG if plan.aim.effect == WEAK else plan.aim.effect


def _verdict(plan: Plan, least: float, orders: list[int], *, decided: bool, where: str = "") -> str:
    """Return whether dependences are found given so many columns, and which.

    ``least``: the smallest w that is found; ``decided``: whether pairs without a link can be called absent; ``where``:
    what is assumed of levels, as a clause.
    """
    aim, now = plan.aim, plan.orders[0]
    names = [name for name, w in SIZES if least <= w]
    lost = [name for name, w in SIZES if least > w]
    yes = "Yes" if least <= aim.effect and decided and where else "In part"
    first = "No" if least > _wanted(plan) else yes
    rounded = digits(least)
    if float(rounded) < least and rounded in [digits(w) for _, w in SIZES]:
        rounded = f"{math.ceil(1000 * least) / 1000:g}"  # not the w of a size that is not found
    sizes = "not even a strong one"
    if names:
        sizes = listed(names) + (f", not {listed(lost)}" if lost else "")
    found = f"w = {rounded} or more ({sizes})" if least < (min(now.x, now.y) - 1) ** 0.5 else "no dependence"
    target = "" if plan.target is None else f" with {plan.target}"
    given = "nothing held fixed" if orders == [0] else _given_words(orders)
    opens = "" if decided else f"; {STAY_OPEN}"
    return (
        f"{first}: {where}epsilon {plan.measurement.public.epsilon:g} finds {found}{target} in {aim.power:.0%} of "
        f"cases, {given}{opens}."
    )


def _takes(plan: Plan) -> str:
    """Which epsilon the dependence asked about takes, by order, where this one is not enough."""
    aim, epsilon = plan.aim, plan.measurement.public.epsilon
    several = len(plan.orders) > 1
    values = [order.epsilon_enough for order in plan.orders]
    runs = _in_runs(["" if value is not None and value <= epsilon else digits(value) for value in values])
    needed = [f"{said} ({given})" if several else said for given, said in runs if said not in ("", "none")]
    never = [given for given, said in runs if said == "none"]
    parts = [f"finding w = {aim.effect:g} takes epsilon {', '.join(needed)}"] if needed else []
    if never:
        given = f" {' and '.join(never)}" if several else ""
        found = "" if needed else f" to find w = {aim.effect:g}"
        parts.append(f"no epsilon is enough{found}{given}: {_too_few_rows(plan)}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _too_few_rows(plan: Plan) -> str:
    """Why no epsilon is enough, of the first order for which none is."""
    short = next(order for order in plan.orders if order.epsilon_enough is None)
    if short.smallest_exact > plan.aim.effect:
        return f"{plan.aim.rows:,} rows show no less than {short.smallest_exact:.3g} even without noise"
    return f"{plan.aim.rows:,} rows are too few for that among so many columns"


def _in_runs(said: list[str]) -> list[tuple[str, str]]:
    """(orders in words, what is said of them), orders in a row of which the same is said taken together.

    >>> _in_runs(["yes", "yes", "no"])
    [('given up to 1 column', 'yes'), ('given 2', 'no')]
    """
    runs: list[tuple[list[int], str]] = []
    for order, words in enumerate(said):
        if runs and runs[-1][1] == words:
            runs[-1][0].append(order)
        else:
            runs.append(([order], words))
    return [(_given_words(orders), words) for orders, words in runs]


def _given_words(orders: list[int]) -> str:
    """Orders in a row.

    >>> _given_words([0, 1, 2]), _given_words([0]), _given_words([3]), _given_words([2, 3])
    ('given up to 2 columns', 'given none', 'given 3', 'given 2 to 3')
    """
    if len(orders) == 1:
        return f"given {orders[0] or 'none'}"
    if orders[0] == 0:
        return f"given up to {orders[-1]} column{'s' * (orders[-1] > 1)}"
    return f"given {orders[0]} to {orders[-1]}"


def advice(plan: Plan) -> list[str]:
    """What would show more at the same epsilon: a delta, coarser bins. Public numbers only."""
    lines, times = [], noise_without_delta(plan.measurement.public)
    if times >= NOTABLE_GAIN:
        words = no_delta_words(times)
        lines.append(f"{words[0].upper()}{words[1:]}.")
    if plan.coarser is not None:
        pairs = zip(plan.orders, plan.coarser, strict=True)
        better = [
            f"{digits(w)} (given {order.order or 'none'})"
            for order, w in pairs
            if w < (min(order.x, order.y, DEFAULT_BINS) - 1) ** 0.5 and digits(w) != digits(order.smallest)
        ]
        if better:
            lines.append(
                f"With {DEFAULT_BINS} bins for every number that has more, smallest w would be {', '.join(better)}: "
                "coarse bins leave more power, fine ones hold more constant."
            )
    if plan.fewer is not None:
        lines.append(
            f"Fewer columns would help: among {plan.fewer} most pairs could be decided, if levels are equally common "
            + spelled(
                "(--columns a,b,c here and in discover); so would one question (--target). ",
                "(leave some out of the schema); so would one question (target=). ",
            )
            + "Leave no common cause out: two columns that depend on it would seem linked."
        )
    elif (
        plan.target is None
        and not plan.numbers
        and not plan.measurement.joint  # one table of all columns has less noise than pairs with one of them
        and (plan.epsilon_enough or math.inf) > plan.measurement.public.epsilon
    ):
        one = spelled("--target NAME (here and in discover)", "target=")
        lines.append(f"If your question is about one column, {one} asks about it alone, with less noise.")
    return lines


def graph_chance_words(plan: Plan) -> str:
    """How likely weak, medium and strong dependences are found by the method that ``discover`` takes."""
    ways = {chance.way: chance for chance in plan.graph_chances}
    one = ways["moments"] if plan.numbers and "moments" in ways else plan.graph_chances[0]
    assert one.power is not None
    found = f"discover ({one.method}) finds {sizes_words(one.power, ' at best' * (one.way == 'moments'))}."
    if one.way == "moments":
        return found
    order = plan.orders[0]
    text = f"Between {pair_words(plan, order.places, ' and ')}, nothing held fixed, {found}"
    if plan.aim.pair is None and order.smallest_largest != order.smallest:
        most = f"Between the columns with most levels ({pair_words(plan, order.largest, ' and ')})"
        text += f" {most}: {figures(plan.largest_power)}."
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
    """What is assumed of how common levels are."""
    share = plan.aim.share
    if share is None:
        return (
            "all levels of a column are equally common; real ones are not, and show less "
            f"({spelled('--share 0.05', 'share=0.05')}: the rarest has 5%)"
        )
    return f"the rarest level of every column has {share:.0%} of the rows"


MERGED_SHOWN = 6  # columns whose levels will be merged that a line names


def merged_words(plan: Plan) -> list[str]:
    """Which columns will have levels merged, to how many groups, and what keeps neighbours together; public numbers."""
    design, schema = plan.measurement, plan.schema
    if not design.merged or schema is None or plan.numbers:
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
    """What "stay open" means, where some do."""
    if all(order.testable for order in plan.orders):
        return []
    return [
        '"stay open": noise, or merging levels, hides too much for a typical pair to be called absent.'
        if not plan.orders[0].testable
        else '"stay open": with so many columns held fixed, noise hides too much for a typical pair to be called '
        "absent."
    ]


def chance_words(plan: Plan) -> str:
    """How likely weak, medium and strong dependences are found, by each way to ask."""
    ways = {
        "graph": "in a graph by measured",
        "target": f"with the target {plan.target}",
        "moments": "in a graph by moments, at best:",
        "test": "by one test ({}) for the whole budget, at best:",
    }
    parts = [f"{ways[one.way].format(one.method)} {figures(one.power)}" for one in plan.chances]
    pair = pair_words(plan, plan.orders[0].places)
    return (
        f"Chance to find a weak (w = .1), medium (.3), strong (.5) dependence of {pair}: {'; '.join(parts)}."
    )


WIDEST = 16  # characters of a column's name


def pair_words(plan: Plan, places: tuple[int, ...], between: str = " x ") -> str:
    """The two columns compared, shortened."""
    ends = [name if len(name) <= WIDEST else name[: WIDEST - 1] + "…" for name in plan.named(places[:2])]
    return between.join(sorted(ends) if plan.aim.pair is None else ends)


class Column(NamedTuple):
    """A column of the table of a plan: its head, its cells by order, and what it means."""

    head: str
    cells: list[str]
    means: str


def columns(plan: Plan, *, full: bool = False) -> list[Column]:
    """Return the columns of the table: six at most unless ``full``."""
    orders, aim = plan.orders, plan.aim
    asked = "as asked, given columns with a middle number of levels."
    middle = f"those with a middle number of levels, given the next smaller ones; {_pair_option()} for yours."

    def effects(values: list[float]) -> list[str]:
        most = [(min(order.x, order.y) - 1) ** 0.5 for order in orders]
        return ["-" if value >= top else digits(value) for value, top in zip(values, most, strict=True)]

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
    ]
    if full:
        found += [
            Column(
                "\nrows in\na cell",
                [digits(order.count) for order in orders],
                "mean count in the largest table that such a test needs.",
            ),
            Column(
                "noise :\nsampling\nin a cell",
                [f"{digits(order.noise_sd)} : {digits(order.sampling_sd)}" for order in orders],
                "standard deviation there, of the noise and of the count itself.",
            ),
            Column(
                "noise\nin the\ntest",
                [f"{100 * order.noise_share:.0f}%" for order in orders],
                "how much of the test's own scatter (its variance) is noise.",
            ),
            Column(
                "\nworth\nrows",
                [digits(order.worth) for order in orders],
                "so many rows would show as much if there were no noise.",
            ),
        ]
    found.append(
        Column(
            "smallest\nw that\nis found",
            effects([order.smallest for order in orders]),
            f"the dependence found in {aim.power:.0%} of cases (a correlation for two levels; .1 weak, .3 medium, .5 "
            'strong; up to sqrt(k - 1) for k levels). "-": none is.',
        )
    )
    uneven = any(order.smallest_largest != order.smallest for order in orders)
    if uneven and (full or aim.pair is None):
        found.append(
            Column(
                "w in the\nlargest\ntable",
                effects([order.smallest_largest for order in orders]),
                f"the same for the columns with most levels ({pair_words(plan, orders[0].largest)}).",
            )
        )
    if full:
        found += [
            Column(
                "w\nwithout\nnoise",
                effects([order.smallest_exact for order in orders]),
                "smallest w that the rows alone allow.",
            ),
            Column(
                "w by\npriv-pc",
                effects([order.smallest_priv_pc for order in orders]),
                "smallest w for one question of the method priv-pc. A search asks about an edge many times, and each "
                "time may cut it, so this is no reason to take it.",
            ),
        ]
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
    """The cells of columns, row by row."""
    return [list(row) for row in zip(*(column.cells for column in chosen), strict=True)]


def _setting(plan: Plan) -> str:
    """What the plan is for."""
    aim, budget = plan.aim, plan.measurement.public
    about = "about " if budget.neighbours == "add-remove" else ""
    single = [name for name, size in zip(plan.columns, budget.sizes, strict=True) if size < 2]
    left = f" (left out, for one level tells nothing: {', '.join(single)})" if single else ""
    return (
        f"For {len(plan.columns) - len(single)} columns{left}, {about}{aim.rows:,} rows, epsilon {budget.epsilon:g}, "
        f"delta {budget.delta:g}, {budget.neighbours}, level {aim.level:g}."
    )


def _brief_lines(plan: Plan) -> list[str]:
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
    return spelled("--pair x,y", 'pair=("x", "y")')


def _full_lines(plan: Plan) -> list[str]:
    lines = [
        chance_words(plan),
        _setting(plan),
        f"It would measure {design_words(plan)}.",
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
    """A line for every column of the table that is there."""
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
    """Return the rows and the budget that a forecast is for."""
    return f"with {ahead.rows:,} rows{of}, epsilon {ahead.epsilon:g} and delta {ahead.delta:g}"


def help_words(ahead: PowerForecast, more: Sequence[str] = ()) -> str:
    """Return what would help, each by itself, without a full stop; ``more``: what is known of this question alone."""
    words = {
        "epsilon": spelled("--epsilon {:g}", "epsilon={:g}"),
        "delta": spelled("--delta 1e-6", "delta=1e-6"),
        "target": spelled("one --target", "one target"),
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
    """Return the answer, what would help, the table, and the rest in brief or in full, no line above ``width``."""
    shown = columns(plan, full=full)
    below = _full_lines(plan) if full else _brief_lines(plan)
    return "\n".join(
        [
            *(fill(line, width) for line in (*answer_lines(plan), *advice(plan))),
            *ruled([one.head for one in shown], _rows_of(shown), width=width),
            *(fill(line, width) for line in below),
        ]
    )
