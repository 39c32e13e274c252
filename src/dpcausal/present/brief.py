"""The answer first: what the terminal and ``print`` show of a test, and what a release cost, in a line each.

A test is three lines, a discovery (``brief_graph.py``) a table of edges and three lines. What else there is to know is
in the full words (``summary(full=True)``, ``--full``), the report and the files. What must never be missed is never
left to them: that a result is not private, that a promise is weak, that a schema is an unchecked draft.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import DeltaNotNeeded, PrivacyStatement, SearchedAgain
from dpcausal.present.missed import missed_words
from dpcausal.present.missing import missing_rule_words
from dpcausal.present.spelling import spelled
from dpcausal.present.statement import by_bins_words, caveat_lines, odds, question_words
from dpcausal.present.trend import way_words
from dpcausal.present.why import named
from dpcausal.present.with_noise import with_noise_words

if TYPE_CHECKING:
    from dpcausal.citests.result import CITestResult

CHANGES = {
    Neighbours.REPLACE_ONE: "changing one row",
    Neighbours.ADD_REMOVE: "adding or removing one row",
    Neighbours.FIXED_LABELS: "changing one row, apart from its public label,",
}


def no_ledger_words() -> str:
    """Return that no ledger counts a release, and how to have one counted."""
    how = spelled("--ledger URL --dataset NAME", "ledger=, dataset=")
    return f"Ledger: none, so nobody adds up what is released from these rows ({how})."


def privacy_line(statement: PrivacyStatement) -> str:
    """Return epsilon, delta and what they promise, in one line; that there is no promise where there is none."""
    if statement.epsilon is None or statement.delta is None:
        return f"NOT PRIVATE: {statement.why_not_private}."
    but = f", apart from a probability of {statement.delta:.3g}" if statement.delta else ""
    unused = [fact.delta for fact in statement.public if isinstance(fact, DeltaNotNeeded)]
    why = f" (that of {unused[0]:.3g} was not needed and not charged)" if unused else ""
    return (
        f"Privacy: epsilon {statement.epsilon:.6g}, delta {statement.delta:.6g}{why}; {CHANGES[statement.neighbours]} "
        f"makes no result more than {odds(statement.epsilon)} times as likely or unlikely{but}."
    )


def ledger_line(statement: PrivacyStatement) -> str:
    """Return where the release is counted and what is left; empty where nothing was charged."""
    if not statement.events:
        return ""
    if not statement.ledger:
        return no_ledger_words()
    asked = ", ".join(f"{name} {amount:.6g}" for name, amount in statement.asked.items())
    left = ", ".join(f"{name} {amount:.6g}" for name, amount in statement.ledger.get("left", {}).items())
    where = f"{statement.ledger.get('dataset')}, entry {statement.ledger.get('entry')}"
    if any(isinstance(fact, SearchedAgain) for fact in statement.released):
        return f"Ledger: nothing was charged now; the release is {where}."
    return f"Ledger: {where}; charged {asked}" + (f"; left {left}." if left else ".")


def again_words(release: str) -> str:
    """Return that an answer was computed from what an earlier release had paid for."""
    return (
        f"Computed from release.json (id {release}): no row was read, and nothing was charged beyond what that release "
        "cost."
    )


def cost_lines(statement: PrivacyStatement) -> list[str]:
    """Return the line of privacy, what weakens it, and the line of the ledger."""
    lines = [privacy_line(statement), *caveat_lines(statement), ledger_line(statement)]
    lines += [again_words(fact.release) for fact in statement.released if isinstance(fact, SearchedAgain)]
    if statement.epsilon is not None and not statement.private:
        lines.insert(0, f"NOT PRIVATE: {statement.why_not_private}.")
    return [line for line in lines if line]


def short_cost_lines(statement: PrivacyStatement) -> list[str]:
    """Return privacy and the ledger in one line; what weakens the promise has a line of its own beneath it."""
    lines, weak = cost_lines(statement), caveat_lines(statement)
    return [" ".join(line for line in lines if line not in weak), *weak]


def answer_text(result: CITestResult) -> str:
    """Return a test in a few lines: the answer, what it could have missed, privacy, the ledger."""
    found = "no evidence against independence" if result.independent else "dependent"
    by = f"level {result.level:g}, {named(result.method, result.reason)}"
    chance = by if result.pvalue is None else f"p = {result.pvalue:.3g}, {by}"
    trend = "" if result.direction is None else f"; {way_words(result.direction)}"
    answer = f"{question_words(result.x, result.y, result.given)}: {found} ({chance}){trend}."
    missed = "" if result.missed is None else missed_words(result.missed)
    noise = ""
    if result.with_noise is not None:
        noise = with_noise_words(result.with_noise)
    bins = by_bins_words(result.by_bins) if result.by_bins else ""
    lines = [answer, bins]
    if result.missing:
        lines += map(missing_rule_words, result.missing)
    return "\n".join(filter(None, [*lines, missed, *cost_lines(result.privacy), noise]))
