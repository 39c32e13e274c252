"""A plan in words: whether the budget is enough, what would be, a table of orders and what follows from it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from html import escape
from io import StringIO
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from dpcausal.core.forecast import MEDIUM, STRONG, WEAK, Power, PowerForecast
from dpcausal.core.spelling import spelled
from dpcausal.data.columns import DEFAULT_BINS, has_order, missing_place
from dpcausal.planning.forecast import NOTABLE_GAIN, noise_without_delta
from dpcausal.planning.plan import RARE_SHARE
from dpcausal.planning.settings import MAX_SET
from dpcausal.present.statement import listed, no_delta_words, percent

if TYPE_CHECKING:
    from dpcausal.planning.forecast import OrderPlan
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


def answer(plan: Plan) -> str:
    """Whether this budget is enough for the dependence asked about, and what would be, as the table takes levels.

    Where that is a weak one, as it is unless another is asked about, and this budget does not find it everywhere, it
    says which are found: strong, medium or weak ones.
    """
    aim, epsilon, enough = plan.aim, plan.measurement.public.epsilon, plan.epsilon_enough
    moments = next((chance for chance in plan.graph_chances if chance.way == "moments"), None)
    if plan.numbers and moments is not None:
        return _answer_by_moments(plan, moments)
    of = "" if plan.target is None else f" of {plan.target}"
    found = f"a dependence{of} of w = {aim.effect:g}"
    if aim.effect == WEAK and (enough is None or enough > epsilon):
        return _graded_answer(plan, of)
    if enough is None:
        return _no_epsilon(plan, found)
    cases = f"to find {found} in {aim.power:.0%} of cases"
    if enough <= epsilon:
        most = f" given up to {plan.orders[-1].order} columns" if len(plan.orders) > 1 else ""
        less = f" (so is {number(enough)})" if enough <= NOTABLY_LESS * epsilon else ""
        return f"Yes: epsilon {epsilon:g} is enough {cases}{most}{less}.{_but_open(plan)}"
    needed = [order.epsilon_enough or enough for order in plan.orders]
    if any(value <= epsilon for value in needed):
        some = f"In part: epsilon {epsilon:g} is enough {cases} only for some questions: {_by_order(plan)}."
        return f"{some}{_but_open(plan)}"
    words = [number(value) for value in needed]
    takes = ", ".join(f"{value} ({given})" for given, value in _in_runs(words))
    return f"No: epsilon {epsilon:g} is not enough {cases}: it takes {takes if len(set(words)) > 1 else words[0]}."


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


def _no_epsilon(plan: Plan, found: str) -> str:
    """That the rows are too few for any epsilon at some order; ``found``: what is to be found."""
    short, why = _too_few_rows(plan)
    rest = [order for order in plan.orders if order.epsilon_enough is not None]
    by_order = f" By order: {_by_order(plan)}." if rest else ""
    given = f"given {short.order or 'no'} column{'' if short.order == 1 else 's'}"
    return f"No: no epsilon is enough to find {found} {given}: {why}.{by_order}"


NOTABLY_LESS = 0.9  # times an epsilon that is enough: another that is worth naming
STAY_OPEN = "most pairs without a link will stay open"


def _but_open(plan: Plan) -> str:
    """Return that pairs without a link can't be called absent, as a sentence; empty where they can."""
    return "" if plan.orders[0].testable else f" But {STAY_OPEN}, not absent."


def answer_lines(plan: Plan) -> list[str]:
    """The first lines: the answer for levels as uneven as they mostly are, then that for equally common ones.

    One line where both are the same.
    """
    rare = plan.with_rare_levels
    if rare is None or plan.numbers:
        return [answer(plan)]
    least, decided = rare
    now = plan.orders[0]
    if max(now.smallest, least) <= plan.aim.effect:  # yes either way
        opens = now.testable and not decided
        return [answer(plan), *([f"But {_where_rare()}, {STAY_OPEN}, not absent."] if opens else [])]
    same = number(least) == number(now.smallest) and (decided or not now.testable)
    if same or float(f"{now.smallest:.2g}") > (STRONG if plan.aim.effect == WEAK else plan.aim.effect):
        return [answer(plan)]  # the second: no already
    return [usual_answer(plan, least, decided), f"For equally common levels, as in the table: {answer(plan)}"]


def _where_rare() -> str:
    option = spelled(f"--share {RARE_SHARE:g}", f"share={RARE_SHARE:g}")
    return f"where the rarest level of a column has {RARE_SHARE:.0%} of the rows, as is common ({option})"


def usual_answer(plan: Plan, least: float, decided: bool) -> str:
    """The answer where the rarest level of every column has ``RARE_SHARE`` of the rows, with nothing held fixed.

    ``least``: the smallest w that is then found; ``decided``: whether pairs without a link can be called absent.
    """
    aim, epsilon, now = plan.aim, plan.measurement.public.epsilon, plan.orders[0]
    of = "" if plan.target is None else f" of {plan.target}"
    cases, also = f"in {aim.power:.0%} of cases", "" if decided else f", and {STAY_OPEN}"
    found = f"w = {number(least)} or more {cases}, nothing held fixed"
    if least >= (min(now.x, now.y) - 1) ** 0.5:
        return f"No: {_where_rare()}, epsilon {epsilon:g} finds no dependence{of} {cases}{also}."
    if aim.effect != WEAK:
        asked = f"to find a dependence{of} of w = {aim.effect:g} {cases}"
        if least > aim.effect:
            enough = f"epsilon {epsilon:g} is not enough {asked}"
            return f"No: {_where_rare()}, {enough}: w = {number(least)} or more is found, nothing held fixed{also}."
        enough = f"epsilon {epsilon:g} is enough {asked}"
        return f"Yes: {_where_rare()}, {enough}, nothing held fixed{also}."
    names = _found_sizes(least)
    if not names:
        nothing = f"epsilon {epsilon:g} does not find w = {STRONG:g} {cases}"
        return f"No, not even for strong dependence{of}: {_where_rare()}, {nothing}{also}."
    if decided:
        return f"{_yes_for(names, f'dependence{of}')}: {_where_rare()}, epsilon {epsilon:g} finds {found}."
    return f"In part: {_where_rare()}, epsilon {epsilon:g} finds {_found_but_open(names, of, found)}"


def _found_but_open(names: Sequence[str], of: str, found: str) -> str:
    """Return which sizes are found and which are not, where pairs without a link stay open."""
    lost = [name for name, _ in SIZES if name not in names]
    missed = f"not {listed(lost)}, and" if lost else "but"
    return f"{listed(names)} dependence{of} ({found}), {missed} {STAY_OPEN}."


def _found_sizes(least: float) -> list[str]:
    """Names of dependences that are found where the smallest found is ``least``; what is shown as .3 is medium.

    >>> _found_sizes(0.304), _found_sizes(0.104)
    (['strong', 'medium'], ['strong', 'medium'])
    """
    shown = float(f"{least:.2g}")
    return [name for name, w in SIZES if (least if w == WEAK else shown) <= w]


SIZES = (
    ("strong", STRONG),
    ("medium", MEDIUM),
    ("weak", WEAK),
)  # names of w, in the order in which they are found


def _yes_for(names: Sequence[str], what: str) -> str:
    """Return which sizes are found and which are not; some are.

    >>> _yes_for(["strong", "medium"], "dependence"), _yes_for(["strong", "medium", "weak"], "dependence")
    ('Yes for strong and medium dependence, no for weak', 'Yes for strong, medium and weak dependence')
    """
    lost = [name for name, _ in SIZES if name not in names]
    return f"Yes for {listed(names)} {what}" + (f", no for {listed(lost)}" if lost else "")


def _graded_answer(plan: Plan, of: str) -> str:
    """The answer where a weak dependence is not found at every order: what is found, then what it takes."""
    aim, epsilon, orders = plan.aim, plan.measurement.public.epsilon, plan.orders
    names = _found_sizes(orders[0].smallest)
    cases = f"in {aim.power:.0%} of cases"
    if names:
        weakest = dict(SIZES)[names[-1]]
        shows = [one.smallest <= weakest and (one.order <= MAX_SET or one.testable) for one in orders]
        within = list(range([*shows, False].index(False) or 1))  # from none held fixed on
        largest = max(orders[k].smallest for k in within)
        lost = [name for name, _ in SIZES if name not in names]
        same = [number(w) for name, w in SIZES if name in lost]
        least = f"{largest:.3g}" if number(largest) in same else number(largest)
        given = f", {_given_words(within)}" if len(orders) > 1 else ""
        found = f"w = {least} or more {cases}{given}"
        first = f"{_yes_for(names, f'dependence{of}')}: epsilon {epsilon:g} finds {found}."
        if not orders[0].testable:
            first = f"In part: epsilon {epsilon:g} finds {_found_but_open(names, of, found)}"
    else:
        first = f"No, not even for strong dependence{of}: epsilon {epsilon:g} does not find w = {STRONG:g} {cases}."
    return f"{first} {_takes(plan)}"


def _takes(plan: Plan) -> str:
    """Which epsilon the dependence asked about takes, by order, where this one is not enough."""
    aim, epsilon = plan.aim, plan.measurement.public.epsilon
    several = len(plan.orders) > 1
    values = [order.epsilon_enough for order in plan.orders]
    runs = _in_runs(["" if value is not None and value <= epsilon else number(value) for value in values])
    needed = [f"{said} ({given})" if several else said for given, said in runs if said not in ("", "none")]
    never = [given for given, said in runs if said == "none"]
    parts = [f"finding w = {aim.effect:g} takes epsilon {', '.join(needed)}"] if needed else []
    if never:
        given = f" {' and '.join(never)}" if several else ""
        found = "" if needed else f" to find w = {aim.effect:g}"
        parts.append(f"no epsilon is enough{found}{given}: {_too_few_rows(plan)[1]}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _too_few_rows(plan: Plan) -> tuple[OrderPlan, str]:
    """Return the first order for which no epsilon is enough, and why."""
    short, rows = (
        next(order for order in plan.orders if order.epsilon_enough is None),
        f"{plan.aim.rows:,} rows",
    )
    if short.smallest_exact > plan.aim.effect:
        return short, f"{rows} show no less than {short.smallest_exact:.3g} even without noise"
    return short, f"{rows} are too few for that among so many columns"


def _by_order(plan: Plan) -> str:
    """Which orders the budget is enough for, and what would be for each of the others."""

    def says(needed: float | None) -> str:
        if needed is not None and needed <= plan.measurement.public.epsilon:
            return "yes"
        return "no, at no epsilon" if needed is None else f"no, it takes epsilon {number(needed)}"

    return "; ".join(
        f"{given}: {said}" for given, said in _in_runs([says(one.epsilon_enough) for one in plan.orders])
    )


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
            f"{number(w)} (given {order.order or 'none'})"
            for order, w in pairs
            if w < (min(order.x, order.y, DEFAULT_BINS) - 1) ** 0.5 and number(w) != number(order.smallest)
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
    rest = len(many) - MERGED_SHOWN
    names = f"{', '.join(many[:MERGED_SHOWN])} and {rest} more" if rest > 0 else listed(many)
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


def as_table(plan: Plan, only: Collection[int] | None = None, *, full: bool = False) -> Table:
    """The orders as a table; of its columns those in ``only``."""

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
        ("\ncolumns\nheld fixed", [str(order.order) for order in orders]),
        ("\npairs without\na link", ["absent" if order.testable else "stay open" for order in orders]),
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
    found.append(("smallest\nw that\nis found", effects([order.smallest for order in orders])))
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


def plan_lines(plan: Plan, full: bool = False) -> tuple[str, str]:
    """(above the table: the answer and what would help; below it: the rest, in brief or in full)."""
    above = [*answer_lines(plan), *advice(plan)]
    return ("\n".join(above), "\n".join(_full_lines(plan) if full else _brief_lines(plan)))


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
    silent = [str(order.order) for order in plan.orders if not order.testable]
    if silent:
        lines.append(
            f"With {' or '.join(silent)} columns held fixed, noise hides too much at this budget: a pair that fewer "
            "columns do not decide stays open."
        )
    return lines


def plan_legend(plan: Plan, full: bool = False) -> list[str]:
    """A line for every column of the table that is there, and for w."""
    aim = plan.aim
    chosen = (
        "columns compared: those with a middle number of levels, given the next smaller ones; "
        f"{_pair_option()} for yours."
        if aim.pair is None
        else "columns compared: as asked, given columns with a middle number of levels."
    )
    largest = plan.orders[0].largest
    plan_lines = {
        "columns held fixed": "columns held fixed: how many others are held fixed while two are compared (the order).",
        "pairs without a link": "pairs without a link: whether such a pair can be called absent, or stays open, "
        "undecided.",
        "columns compared": chosen,
        "rows in a cell": "rows in a cell: mean count in the largest table that such a test needs.",
        "noise : sampling in a cell": "noise : sampling in a cell: standard deviation there, of the noise and of the "
        "count itself.",
        "noise in the test": "noise in the test: how much of the test's own scatter (its variance) is noise.",
        "worth rows": "worth rows: so many rows would show as much if there were no noise.",
        "smallest w that is found": "smallest w that is found: the dependence found in "
        f"{aim.power:.0%} of cases (a correlation for two levels; .1 "
        'weak, .3 medium, .5 strong; up to sqrt(k - 1) for k levels). "-": none is.',
        "w in the largest table": "w in the largest table: the same for the columns with most levels "
        f"({pair_words(plan, largest)}).",
        "w without noise": "w without noise: smallest w that the rows alone allow.",
        "w by priv-pc": "w by priv-pc: smallest w for one question of the method priv-pc. A search asks about an edge "
        "many times, and each time may cut it, so this is no reason to take it.",
        f"epsilon for w = {aim.effect:g}": f"epsilon for w = {aim.effect:g}: with this one such a w is found (and, "
        "with three or more columns held fixed, a pair without a link can be called absent).",
    }
    heads = [" ".join(head.split()) for head, _ in heads_and_cells(plan, full)]
    return [plan_lines[head] for head in heads]


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


def show_plan(plan: Plan, console: Console, full: bool = False) -> None:
    """Print it."""
    above, below = plan_lines(plan, full)
    console.print(above, highlight=False, markup=False)
    for table in as_tables(plan, console, full):
        console.print(table)
    console.print(below, highlight=False, markup=False)


def html(plan: Plan) -> str:
    """Return the answer and the table as a piece of HTML for a notebook."""
    columns = heads_and_cells(plan, full=False)
    heads = "".join(f"<th>{escape(' '.join(head.split()))}</th>" for head, _ in columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(cells[i])}</td>' for _, cells in columns)}</tr>"
        for i in range(len(plan.orders))
    )
    above = "".join(f"<p>{escape(line)}</p>" for line in (*answer_lines(plan), *advice(plan)))
    below = "".join(f"<p>{escape(line)}</p>" for line in _brief_lines(plan)[:-1])
    more = "<p>w: .1 weak, .3 medium, .5 strong. print(plan.summary(full=True)) explains the table.</p>"
    return (
        f"<div>{above}<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{below}{more}</div>"
    )


def plan_text(plan: Plan, width: int, full: bool = False) -> str:
    """The same, without colours."""

    out = StringIO()
    show_plan(plan, Console(file=out, width=width, color_system=None), full)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())
