"""What a test is expected to find, in words, before anything is charged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcausal.core.look import LEAST_POWER, MEDIUM, STRONG, WANTED, WEAK
from dpcausal.present.citest import reason_words
from dpcausal.present.missing import missing_rule_words
from dpcausal.present.percent import percent
from dpcausal.present.spelling import spelled
from dpcausal.present.statement import question_words

if TYPE_CHECKING:
    from dpcausal.citests.forecast import CITestForecast


def forecast_words(found: CITestForecast) -> str:
    """Return which test would be taken and why, how often it finds what, and what would help."""
    sides = (found.question.x_columns, found.question.y_columns)
    x, y = (side[0] if len(side) == 1 else side for side in sides)
    asked = question_words(x, y, found.question.given)
    lines = [
        f"Forecast for {asked}: test {found.method}, {reason_words(found.reason)}. Nothing was charged or released.",
        _chances(found),
        _instead(found),
        _helps(found),
        f"From public numbers only: {found.rows:,} rows, epsilon {found.epsilon:g}, delta {found.delta:g}, level "
        f"{found.level:g}. {_at_best(found)}",
        *map(missing_rule_words, found.missing),
    ]
    return "\n".join(line for line in lines if line)


def _chances(found: CITestForecast) -> str:
    weak, medium, strong = (found.weak, found.medium, found.strong)
    plain = _in_words(*found.without_noise)
    if weak is None or medium is None or strong is None:
        return f"Power: not known for this test with noise. Without noise such a test finds {plain}."
    return (
        f"Power: it finds {_in_words(weak, medium, strong)}. Without noise: {_figures(found.without_noise)}."
    )


def _instead(found: CITestForecast) -> str:
    """Why a test that is expected to find more was not taken, and how to take it."""
    if found.instead is None:
        return ""
    name, medium = found.instead
    way = spelled(f"--method {name}", f"method={name!r}")
    return (
        f"Why not {name}: it would find a medium one in {percent(medium)} of cases, but it holds numbers fixed by "
        f"groups only, and what is left within a group can pass for dependence. {found.method} keeps its level "
        f"whatever the distribution of the given columns. {way} takes {name}."
    )


def _in_words(weak: float, medium: float, strong: float) -> str:
    return (
        f"a weak dependence (Cohen's w = {WEAK:g}) in {percent(weak)} of cases at best, a medium one ({MEDIUM:g}) in "
        f"{percent(medium)}, a strong one ({STRONG:g}) in {percent(strong)}"
    )


def _figures(chances: tuple[float, float, float]) -> str:
    return ", ".join(percent(chance) for chance in chances)


def _helps(found: CITestForecast) -> str:
    """What finds a strong dependence in 80% of cases, where this does not, and whether this is refused."""
    left = "" if found.left is None else f"The ledger has epsilon {found.left:.3g} left. "
    if found.left is not None and found.left < found.epsilon:
        return f"The ledger has epsilon {found.left:.3g} left, less than asked: it would refuse."
    if found.strong is None or found.strong >= WANTED:
        return left.strip()
    unless = spelled("--anyway", "anyway=True")
    refused = f"That is under {LEAST_POWER:.0%}: it would be refused, unless you say {unless}. "
    takes = "more rows" if found.enough is None else f"epsilon {found.enough:g}, or more rows"
    return f"{left}{refused if found.refused else ''}To find a strong one in {WANTED:.0%} of cases takes {takes}."


def _at_best(found: CITestForecast) -> str:
    """Return what the best case is."""
    one = found.question
    if found.method == "gcm" and max(one.widths) > 1:
        of = "one pair of columns" if one.several else "one level"
        return f"At best: {of} has all of the dependence, and the others are alike."
    return "At best: levels are equally common, and the dependence is alike wherever the given columns are fixed."
