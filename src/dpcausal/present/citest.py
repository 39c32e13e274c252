"""One test of conditional independence in words."""

from __future__ import annotations

from html import escape

from dpcausal.citests import result as facts
from dpcausal.citests.result import Chosen, CITestResult, HeldFixed, Reason, Trend
from dpcausal.present import statement
from dpcausal.present.missed import missed_words
from dpcausal.present.missing import missing_rule_words
from dpcausal.present.statement import by_bins_words, question_words
from dpcausal.present.trend import way_words
from dpcausal.present.why import few_rows_words
from dpcausal.present.with_noise import with_noise_words

EQUAL_WIDTHS = "groups of equal width between the bounds, not the declared bins"
MIN_SHOWN_TAU = 0.005  # a smaller tau is shown as no per cent at all

BY_QUESTION = {
    "as-asked": "as asked",
    "ordered-levels": "chosen because the levels are ordered (or two), where it has the most power",
    "one-numeric": "chosen because one number is given: strata of equal counts suit any distribution of it",
    "several-columns": "chosen because x or y has several columns, which no other test takes",
}


def reason_words(fact: Reason) -> str:
    """Return why a test was used."""
    match fact:
        case facts.ByQuestion():
            return BY_QUESTION[fact.why]
        case facts.NumbersGiven(why="numeric-given"):
            return f"chosen because {fact.columns} numeric columns are given: bins would be too coarse"
        case facts.NumbersGiven():
            return "chosen because levels have no order and numbers are given: bins would be too coarse"
        case facts.FewRows():
            few = "chosen because numbers are given and the rows are too few at this epsilon to cut them well"
            return few + few_rows_words(fact)
        case facts.ManyCells():
            return f"chosen because the given levels make {fact.cells} cells: a number can't be cut finely in each"
        case facts.NoOrder():
            bins = "; numeric columns take part by their declared bins, and what they do within a bin is not taken out"
            return f"chosen because the levels have no order{bins if fact.binned else ''}"
    raise TypeError(f"no words for {fact!r}")


def chosen_words(fact: Chosen) -> str:
    """Return what was chosen privately on the way."""
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


def trend_words(trend: Trend) -> str:
    """Return which way y goes with x, as a sentence.

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


def full_text(result: CITestResult) -> str:
    """Return the answer, why this test was taken, which way y goes, and the whole statement in words."""
    found = "no evidence against independence" if result.independent else "dependent"
    pvalue = "" if result.pvalue is None else f" (p = {result.pvalue:.3g}, level {result.level:g})"
    lines = [
        f"{question_words(result.x, result.y, result.given)}: {found}{pvalue}. Test: {result.method}; {result.why}."
    ]
    if result.by_bins:
        lines.append(by_bins_words(result.by_bins))
    lines += map(missing_rule_words, result.missing)
    if result.direction is not None:
        lines.append(trend_words(result.direction))
    if result.missed is not None:
        lines.append(missed_words(result.missed))
    if result.with_noise is not None:
        lines.append(with_noise_words(result.with_noise))
    return "\n".join([*lines, statement.summary(result.privacy)])


def html(result: CITestResult) -> str:
    """Return the summary as a piece of HTML for notebooks."""
    from dpcausal.present.brief import answer_text

    lines = "<br>".join(escape(line) for line in answer_text(result).splitlines())
    return f"<div>{lines}</div>"
