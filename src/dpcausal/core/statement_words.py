"""A privacy statement in plain lines, for people without a background in privacy; every number is the statement's own.

*Noisy steps* are the entries under ``events``: one may pay for many tables or many answers. Together they cost the
epsilon and delta of the statement, never a multiple. A ledger counts otherwise: a whole release is one entry there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcausal.core.neighbours import Neighbours

if TYPE_CHECKING:
    from dpcausal.core.statement import PrivacyStatement

WEAK = "Weak promise: "  # begins every line of ``weak_promise``
DRAFT = "The schema is an unchecked draft"  # begins the limit that says so
WEAK_EPSILON = 10.0  # above it e^epsilon is over 22,000
HARD_EPSILON = 3.0  # up to it, e^epsilon at most about 20, neighbours are called hard to tell apart

RELATIONS = {
    Neighbours.REPLACE_ONE: "two tables with the same number of rows that differ in one row",
    Neighbours.ADD_REMOVE: "two tables of which one has one row more",
    Neighbours.FIXED_LABELS: "two tables with the same public labels that differ in the rest of one row",
}

PLAIN = {  # definition -> what its name means for a reader
    "pure": "pure: the promise holds without exception",
    "approximate": "approximate: the promise may fail with a probability of at most delta",
    "zCDP": "the promise may fail with a probability of at most delta; costs were added up in another unit, rho (zCDP)",
}

NO_LEDGER = (
    "No ledger: nobody adds this up with other releases from these rows. To keep count: --ledger URL --dataset NAME "
    "(in Python ledger=, dataset=)."
)


def factor(epsilon: float) -> str:
    """e^epsilon in words, as far as a double holds it.

    >>> factor(1.0), factor(12.0), factor(100.0)
    ('2.72', '163,000', '2.69e+43')
    """
    value = math.exp(min(epsilon, 700.0))
    return f"{float(f'{value:.3g}'):,.0f}" if 1000 <= value < 1e6 else f"{value:.3g}"


def weak_promise(epsilon: float | None, delta: float | None, rows: int | None = None) -> tuple[str, ...]:
    """What makes a budget promise little, a line each; ``rows`` only where their number is public.

    delta >= 1/n allows to release a row chosen at random as it is: it is then any given one with probability 1/n.

    >>> weak_promise(1.0, 1e-6, 8000)
    ()
    >>> weak_promise(1.0, 0.1, 8000)[0]
    'Weak promise: delta 0.1 is not below one over the number of rows (8,000): it allows releasing whole rows.'
    """
    lines = []
    if epsilon is not None and epsilon > WEAK_EPSILON:
        lines.append(
            f"{WEAK}epsilon {epsilon:g} promises almost nothing: a result may be {factor(epsilon)} times as "
            "likely with one row as with another in its place."
        )
    if delta and rows and delta >= 1 / rows:
        lines.append(
            f"{WEAK}delta {delta:g} is not below one over the number of rows ({rows:,}): it allows releasing whole "
            "rows."
        )
    return tuple(lines)


def steps_words(count: int) -> str:
    """How many charged events, so that no one reads them as so many times epsilon.

    >>> steps_words(1), steps_words(1200)
    ('one noisy step', '1,200 noisy steps')
    """
    return "one noisy step" if count == 1 else f"{count:,} noisy steps"


def plain_part(composition: str) -> str:
    """How charges add up, without what stands in brackets at its end (the field's own words).

    >>> plain_part("costs are added up (fixed in advance; sums of epsilon)")
    'costs are added up'
    """
    return composition.partition(" (")[0]


def summary(statement: PrivacyStatement) -> str:
    """The statement in a few lines; a weak promise and an unchecked schema are told next to its numbers."""
    lines = []
    if not statement.private:
        lines.append(f"NOT PRIVATE: {statement.why_not_private}.")
    if statement.epsilon is not None and statement.delta is not None:
        meaning = PLAIN.get(statement.definition, statement.definition)
        lines.append(f"Privacy: epsilon {statement.epsilon:.6g}, delta {statement.delta:.6g} ({meaning}).")
        lines += caveats(statement)
        lines.append(f"Protects {statement.unit}: {_apart(statement, statement.epsilon, statement.delta)}")
    if statement.events:
        how = plain_part(statement.composition)
        how = how.removesuffix(", and the costs are added up") if len(statement.events) == 1 else how
        lines.append(f"Cost: {_steps(statement)}. {how[:1].upper()}{how[1:]}.")
        lines.append(_ledger_words(statement))
    if statement.released:
        what = (
            "Computed from the rows, with noise, and covered by the promise: "
            if statement.events
            else "Released: "
        )
        lines.append(what + "; ".join(statement.released) + ".")
    if statement.public:
        lines.append("Assumed public: " + "; ".join(statement.public) + ".")
    return "\n".join(lines)


def caveats(statement: PrivacyStatement) -> list[str]:
    """Those of its limits that hold for this release and not for every one: a weak promise, an unchecked schema."""
    return [line for line in statement.limits if line.startswith((WEAK, DRAFT))]


def weak_lines(statement: PrivacyStatement) -> list[str]:
    """Those of its limits that say that it promises little."""
    return [line for line in statement.limits if line.startswith(WEAK)]


def _apart(statement: PrivacyStatement, epsilon: float, delta: float) -> str:
    """How well neighbours can be told apart; the exception that delta allows stands in the same sentence."""
    pair, most = RELATIONS[statement.neighbours], factor(epsilon)
    but = f", apart from a probability of at most {delta:.3g}" if delta else ""
    if epsilon <= HARD_EPSILON and not weak_lines(statement):
        return (
            f"{pair} are hard to tell apart; no result is more than {most} times as likely from one as from the "
            f"other{but}."
        )
    return (
        f"{pair} can be told apart with odds up to {most} to 1; no result is more than {most} times as likely "
        f"from one as from the other{but}."
    )


def _steps(statement: PrivacyStatement) -> str:
    """The steps, and that their costs together are within the statement's own numbers."""
    many = len(statement.events)
    total = "this epsilon and delta" if statement.delta else "this epsilon"
    return f"{steps_words(many)}, {'' if many == 1 else 'together '}not more than {total}"


def _ledger_words(statement: PrivacyStatement) -> str:
    """A ledger is charged what was asked for, which may be more than was needed."""
    if not statement.ledger:
        return NO_LEDGER
    where = f"data set {statement.ledger.get('dataset')!r}, entry {statement.ledger.get('entry')}"
    asked = ", ".join(f"{name} {amount:.6g}" for name, amount in statement.asked.items())
    left = ", ".join(f"{name} {amount:.6g}" for name, amount in statement.ledger.get("left", {}).items())
    charged = f", charged all that was asked for ({asked})" if asked else ""
    return f"Ledger: {where}{charged}" + (f"; left in the ledger: {left}." if left else ".")
