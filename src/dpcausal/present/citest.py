"""One test of conditional independence in words: its answer, in brief and in full, and its forecast.

The brief answer says what must never be missed: that a result is not private, that a promise is weak, that a schema is
an unchecked draft. What else there is to know is in the full words (``summary(full=True)``, ``--full``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpcausal.citests import result as facts
from dpcausal.citests.result import (
    BothMissing,
    ByQuestion,
    Chosen,
    CITestResult,
    HeldFixed,
    MissingCountsAs,
    MissingRule,
    Reason,
    Trend,
    WithNoise,
)
from dpcausal.core.forecast import LEAST_POWER, MEDIUM, RARE, STRONG, WANTED, Margins, PowerForecast
from dpcausal.core.spelling import spelled, worded
from dpcausal.present.planning import figures, sizes_words
from dpcausal.present.statement import by_bins_words, cost_lines, pvalue_words, question_words, rows_differ
from dpcausal.present.text import as_html, as_told, percent

if TYPE_CHECKING:
    from dpcausal.citests.forecast import CITestForecast


EQUAL_WIDTHS = "groups of equal width between the bounds, not the declared bins"
BY_QUESTION = {  # why a test was used, and what that is good for
    "as-asked": ("", "as asked"),
    "ordered-levels": ("the levels are ordered (or two)", "there it has the most power"),
    "one-numeric": ("one number is given", "strata of equal counts suit any distribution of it"),
    "several-columns": ("x or y has several columns", "no other test takes them"),
}


def _reason(fact: Reason) -> tuple[str, str]:
    """Return the reason for a test as two clauses: short, and in detail."""
    match fact:
        case facts.ByQuestion():
            return BY_QUESTION[fact.why]
        case facts.NumbersGiven(why="numeric-given"):
            return f"{fact.columns} numbers are given", "bins would be too coarse"
        case facts.NumbersGiven():
            return "levels have no order and a number is given", "bins would be too coarse"
        case facts.FewRows():
            enough = "" if fact.enough is None else f" (from epsilon {fact.enough:g} on, kendall is used)"
            return f"the rows are too few at this epsilon to cut the given numbers into strata{enough}", ""
        case facts.ManyCells():
            return f"the given levels make {fact.cells} cells", "a number can't be cut finely in each"
        case facts.NoOrder():
            bins = "numeric columns take part by their declared bins, and what they do within a bin is not taken out"
            return "levels have no order", bins if fact.binned else ""
    raise TypeError(f"no words for {fact!r}")


def reason_words(fact: Reason) -> str:
    """Return why a test was used.

    >>> reason_words(facts.NumbersGiven("numeric-given", columns=2)), reason_words(ByQuestion("as-asked"))
    ('chosen because 2 numbers are given: bins would be too coarse', 'as asked')
    """
    why, more = _reason(fact)
    return f"chosen because {why}{f': {more}' if more else ''}" if why else more


def chosen_words(fact: Chosen) -> str:
    """Return what was chosen privately before the test, in words."""
    return f"lambda {fact.lambda_:g} and bandwidth {fact.bandwidth:.3g} chosen privately"


HELD_BY = {
    "equal-widths": f"held fixed in {EQUAL_WIDTHS}",
    "regression": "taken out by regression on the numbers themselves, not by the declared bins",
    "model": "held fixed in the model, as numbers and not by the declared bins",
    "declared-bins": "held fixed by the declared bins: what varies within a bin is not taken out",
}


def held_fixed_words(fact: HeldFixed) -> str:
    """Return how numeric conditioning columns were held fixed, without a full stop."""
    names, each = ", ".join(fact.columns), " each" if len(fact.columns) > 1 else ""
    match fact:
        case facts.HeldBy():
            return f"{names} {HELD_BY[fact.how]}"
        case facts.HeldByStrata():
            both = "in the model and " if fact.model else ""
            return f"{names} held fixed {both}in {fact.strata} strata{each}: {EQUAL_WIDTHS}"
        case facts.HeldBySpread():
            count = "" if fact.strata is None else f" (at most {fact.strata:,}; fewer where values are few)"
            return (
                f"{names} held fixed in strata{each} of about equal counts, cut where noisy counts say{count}; equal "
                "values share one"
            )
    raise TypeError(f"no words for {fact!r}")


def named(method: str, reason: Reason) -> str:
    """Return the name of the test, with the reason for it where that is unexpected.

    >>> named("gcm", facts.NumbersGiven("numeric-given", columns=2)), named("kendall", ByQuestion("ordered-levels"))
    ('test gcm because 2 numbers are given', 'test kendall')
    """
    why = "" if reason == ByQuestion("ordered-levels") else _reason(reason)[0]
    return f"test {method}{f' because {why}' if why else ''}"


def way_words(trend: Trend) -> str:
    """Return in which direction y depends on x, as a clause.

    >>> way_words(Trend("dose", "pain", (), rises=False, tau=None))
    'pain falls as dose rises'
    >>> way_words(Trend("sex", "creatinine", (), rises=True, tau=None, x_levels=("f", "m")))
    'higher creatinine is associated with sex = m'
    >>> way_words(Trend("stage", "cured", (), False, None, ("I", "II", "III"), ("no", "yes")))
    'cured = yes is associated with earlier levels of stage (in the order declared)'
    """
    if not trend.by_levels:
        return f"{trend.y} {'rises' if trend.rises else 'falls'} as {trend.x} rises"
    y, x = (
        _trend_part(trend.y, trend.y_levels, later=True),
        _trend_part(trend.x, trend.x_levels, later=trend.rises),
    )
    many = max(len(trend.x_levels), len(trend.y_levels)) > 2
    verb = "are" if len(trend.y_levels) > 2 else "is"
    return f"{y} {verb} associated with {x}{' (in the order declared)' if many else ''}"


def _trend_part(name: str, levels: Sequence[str], *, later: bool) -> str:
    """Return the words for the upper (``later``) or lower part of a column in a trend."""
    if not levels:
        return f"{'higher' if later else 'lower'} {name}"
    if len(levels) == 2:
        return f"{name} = {levels[later]}"
    return f"{'later' if later else 'earlier'} levels of {name}"


MIN_SHOWN_TAU = 0.005  # a smaller tau is shown as no per cent at all


def trend_words(trend: Trend) -> str:
    """Return which way y depends on x, as a sentence.

    >>> trend_words(Trend("dose", "pain", (), rises=False, tau=-0.3))
    'pain falls as dose rises: among pairs of rows 30% more disagree in order than agree.'
    """
    words = way_words(trend)
    if trend.given:
        words += f", {', '.join(trend.given)} held fixed"
    if trend.tau is not None and abs(trend.tau) >= MIN_SHOWN_TAU:
        sides = ("agree", "disagree") if trend.rises else ("disagree", "agree")
        words += f": among pairs of rows {abs(trend.tau):.0%} more {sides[0]} in order than {sides[1]}"
    return f"{words}."


W_SCALE = "(Cohen's w: .1 weak, .3 medium, .5 strong)"


def missed_words(ahead: PowerForecast) -> str:
    """Return which dependences a test that did not reject would have missed, as a sentence.

    >>> from dpcausal.core.forecast import Power
    >>> poor = Power(0.07, 0.313, 0.576, None)
    >>> budget = {"rows": 90, "epsilon": 0.1, "delta": 0.0, "level": 0.05}
    >>> missed_words(PowerForecast(about="test", method="kendall", **budget, power=poor))  # doctest: +ELLIPSIS
    "Power: a strong dependence (Cohen's w = 0.5) is found in 58% of cases at best, a medium one (0.3) in 31%, so ..."
    """
    return f"Power: {_missed_power(ahead)}{_margins(ahead)}, so this does not show independence."


def _missed_power(ahead: PowerForecast) -> str:
    """Return which strengths of dependence the test finds, and how often."""
    power = ahead.power or ahead.without_noise
    if power is None:
        return "not known for this test"
    if power.smallest is None:
        return (
            f"a strong dependence (Cohen's w = {STRONG:g}) is found in {percent(power.strong)} of cases at best, a "
            f"medium one ({MEDIUM:g}) in {percent(power.medium)}"
        )
    if ahead.power is not None:
        return (
            f"a dependence of w = {power.smallest:g} is found in 80% of cases at best, a weaker one less often "
            f"{W_SCALE}"
        )
    return (
        f"not known for this test. Even without noise a dependence of w = {power.smallest:g} is found in 80% of cases "
        f"only, a weaker one less often {W_SCALE}; with the noise of this budget far stronger ones may be missed"
    )


def _margins(ahead: PowerForecast) -> str:
    """Return for how common levels a power holds, and what it is for rare ones, as a clause; empty where alike."""
    margins = ahead.margins
    if margins is None or margins.share is not None:
        return ""
    if (
        ahead.power is not None
        and margins.rare is not None
        and margins.rare.smallest == ahead.power.smallest is not None
    ):
        return ""
    even = f"; that holds for equally common levels, and where the rarest of each column has {RARE:.0%} of the rows "
    if margins.rare is None:
        return f"{even}less is found, how much is not known"
    if margins.rare.smallest is None:
        return f"{even}even a strong one is found in {percent(margins.rare.strong)} only"
    return f"{even}it takes w = {margins.rare.smallest:g}"


def missing_rule_words(fact: MissingRule) -> str:
    """Return how missing values are treated, as a sentence."""
    match fact:
        case BothMissing():
            return (
                f"{' and '.join(fact.columns)} both have a level for missing values: a dependence may be that they are "
                "missing together."
            )
        case MissingCountsAs():
            rules = ", ".join(f"missing {name} counts as {as_told(value)}" for name, value in fact.columns)
            return (
                f"By the schema, {rules}: where many are missing, that can hide a dependence or make one up."
            )
    raise TypeError(f"no words for {fact!r}")


def with_noise_words(fact: WithNoise) -> str:
    """Return which test a private answer would use, beside an answer without privacy.

    >>> with_noise_words(WithNoise("other-below", test="gcm", epsilon=0.16))
    "With noise the same test is used from epsilon 0.16 on, and gcm below: to compare with that, method='gcm'."
    """
    name = fact.test
    match fact.which:
        case "same":
            return "With noise the same test is used."
        case "same-table":
            return (
                f"With noise the test is {name}: the same table with noise in every cell, and a statistic that knows "
                "the noise."
            )
        case "other-below":
            option = spelled(f"--method {name}", f"method={name!r}")
            return (
                f"With noise the same test is used from epsilon {fact.epsilon:.3g} on, and {name} below: to compare "
                f"with that, {option}."
            )


def _found(result: CITestResult) -> str:
    """Return the question and what the test found."""
    found = "no evidence against independence" if result.independent else "dependent"
    return f"{question_words(result.x, result.y, result.given)}: {found}"


def answer_text(result: CITestResult, *, full: bool = False) -> str:
    """Return a test in a few lines: the answer, what it could have missed, privacy, the ledger.

    ``full``: with why this test was used, how large the trend is, and the whole statement.
    """
    trend = result.direction
    chance = "" if result.pvalue is None else f"p {pvalue_words(result.pvalue)}, "
    if full:
        first = f"{_found(result)} ({chance}level {result.level:g}). Test: {result.method}; {result.why}."
    else:
        way = "" if trend is None else f"; {way_words(trend)}"
        first = (
            f"{_found(result)} ({chance}level {result.level:g}, {named(result.method, result.reason)}){way}."
        )
    lines = [
        first,
        *([by_bins_words(result.by_bins)] if result.by_bins else []),
        *map(missing_rule_words, result.missing),
        *([trend_words(trend)] if full and trend is not None else []),
        *([] if result.missed is None else [missed_words(result.missed)]),
        *([] if result.pvalue is None else [rows_differ("p-value", result.privacy.unit)]),
        *cost_lines(result.privacy, full=full),
        *([] if result.with_noise is None else [with_noise_words(result.with_noise)]),
    ]
    return "\n".join(lines)


def html(result: CITestResult) -> str:
    """Return the summary as a piece of HTML for notebooks."""
    return as_html(answer_text(result))


def forecast_words(found: CITestForecast) -> str:
    """Return the forecast of a test: which one, its power, and what would help."""
    sides = (found.question.x_columns, found.question.y_columns)
    x, y = (side[0] if len(side) == 1 else side for side in sides)
    asked = question_words(x, y, found.question.given)
    lines = [
        f"Forecast for {asked}: test {found.method}, {reason_words(found.reason)}. Nothing was charged or released.",
        _chances(found),
        _instead(found),
        _forecast_helps(found),
        f"From public numbers only: {found.rows:,} rows, epsilon {found.epsilon:g}, delta {found.delta:g}, level "
        f"{found.level:g}. {_at_best(found)}",
        *map(missing_rule_words, found.missing),
    ]
    return "\n".join(line for line in lines if line)


def _chances(found: CITestForecast) -> str:
    """Return the forecast of power with noise and without."""
    plain = found.without_noise
    assert plain is not None
    if found.power is None:
        best = sizes_words(plain, " at best")
        rare = found.margins is not None and found.margins.share is not None
        of = " of rare levels" if rare else ""
        return f"Power: not known for this test{of} with noise. Without noise such a test finds {best}."
    chances = f"it finds {sizes_words(found.power, ' at best')}"
    if found.margins is None:
        return f"Power: {chances}. Without noise: {figures(plain)}."
    return f"Power {_common(found.margins)}: {chances}.{_if_rare(found.margins)} Without noise: {figures(plain)}."


def _common(margins: Margins) -> str:
    """Return how common levels are for which a forecast holds."""
    if margins.share is None:
        return "with equally common levels"
    return f"where the rarest level of x and of y has {margins.share:.2%} of the rows".replace(".00%", "%")


def _if_rare(margins: Margins) -> str:
    """Return the power for rare levels, where no share was given."""
    if margins.share is not None:
        return ""
    chances = "less, how much is not known" if margins.rare is None else figures(margins.rare)
    option = worded(
        "--share 0.02 is for others", "share=0.02 is for others", "in Python share= is for others"
    )
    return f" Where the rarest level of x and of y has {RARE:.0%} of the rows: {chances} ({option})."


def _instead(found: CITestForecast) -> str:
    """Return why a test that is expected to find more was not chosen, and how to ask for it."""
    if found.instead is None:
        return ""
    name, medium = found.instead
    way = spelled(f"--method {name}", f"method={name!r}")
    return (
        f"Why not {name}: it would find a medium one in {percent(medium)} of cases, but it holds numbers fixed by "
        f"groups only, and what is left within a group can pass for dependence. {found.method} keeps its level "
        f"whatever the distribution of the given columns. {way} takes {name}."
    )


def _forecast_helps(found: CITestForecast) -> str:
    """Return what would find a strong dependence in 80% of cases, and whether this test is refused."""
    left = "" if found.left is None else f"The ledger has epsilon {found.left:.3g} left. "
    if found.left is not None and found.left < (found.epsilon or 0.0):
        return f"The ledger has epsilon {found.left:.3g} left, less than asked: it would refuse."
    if found.strong is None or found.strong >= WANTED:
        return left.strip()
    unless = spelled("--anyway", "anyway=True")
    refused = f"That is under {LEAST_POWER:.0%}: it would be refused, unless you say {unless}. "
    takes = "more rows" if found.enough is None else f"epsilon {found.enough:g}, or more rows"
    return f"{left}{refused if found.refused else ''}To find a strong one in {WANTED:.0%} of cases takes {takes}."


def _at_best(found: CITestForecast) -> str:
    """Return the assumptions under which the power is an upper bound."""
    one = found.question
    if found.method == "gcm" and max(one.widths) > 1:
        of = "one pair of columns" if one.several else "one level"
        return f"At best: {of} has all of the dependence, and the others are alike."
    if found.margins is not None and found.margins.share is not None:
        return "At best: the dependence is alike wherever the given columns are fixed."
    return "At best: levels are equally common, and the dependence is alike wherever the given columns are fixed."
