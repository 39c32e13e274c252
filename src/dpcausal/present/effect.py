"""An effect in three lines: the answer, what it rests on, what it cost."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.effects.result import EffectNote, EffectNoteKind, EffectResult
from dpcausal.present import statement
from dpcausal.present.statement import DEFINITIONS, Words, caveat_lines, told

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult

NOTES: dict[EffectNoteKind, Words] = {
    EffectNoteKind.UNADJUSTED: "nothing is held fixed: causal in a randomised trial only",
    EffectNoteKind.BINNED: lambda fact: (
        f"{', '.join(fact['columns'])} by the declared bins: confounding within a bin remains"
    ),
    EffectNoteKind.TREATMENT_BINS: "{treatment} by its declared bins",
    EffectNoteKind.OUTCOME_BINS: "{outcome} by the middles of its declared bins, since only counts are at hand",
    EffectNoteKind.POOLED: "{strata} strata smaller than the noise are taken as one ({share:.1%} of the noisy rows)",
    EffectNoteKind.LEFT_OUT: "strata where noise hides one of the arms are left out ({share:.1%} of the noisy rows)",
    EffectNoteKind.EVERYONE: lambda fact: (
        f"for all rows, whatever holds there: {number(fact['low'])} to {number(fact['high'])}"
    ),
    EffectNoteKind.NOTHING_KNOWN: "one arm is smaller than the noise: nothing can be said at this budget",
    EffectNoteKind.FROM_GRAPH: lambda fact: (
        f"the graph says to hold {', '.join(fact['columns'])} fixed"
        if fact["columns"]
        else "the graph says that nothing needs to be held fixed"
    ),
    EffectNoteKind.HIDDEN_CAUSES: (
        "common causes may be hidden: that holds in every graph with hidden causes that this one allows"
    ),
    EffectNoteKind.DESCENDANT: lambda fact: (
        f"by the graph the treatment may change {', '.join(fact['columns'])}: adjusting for that can hide part of the "
        "effect or make one up"
    ),
    EffectNoteKind.SEVERAL: "the graph allows {count} effects, and the interval holds them all",
    EffectNoteKind.NO_EFFECT: "one of them is none at all (the outcome may come first)",
    EffectNoteKind.LINEAR: lambda fact: (
        f"{', '.join(fact['columns'])} taken out by linear regression: what is not linear in them remains"
    ),
    EffectNoteKind.SAME_TABLES: "from the tables that also chose the graph, so that the interval may be too short",
    EffectNoteKind.FRESH_NOISE: "from a table with noise of its own, measured after the graph was learned",
    EffectNoteKind.RESERVED: (
        "from a table with noise of its own, measured after the graph was learned, out of the {share:.0%} of the "
        "discovery's budget kept for effects; the cost is that of both"
    ),
    EffectNoteKind.OPEN_PAIRS: lambda fact: (
        f"whether {', '.join(fact['columns'])} should be held fixed stayed open in the graph"
    ),
}


def note_words(fact: EffectNote) -> str:
    """Return what must be known about an effect, as a clause."""
    return told(NOTES[EffectNoteKind(fact.kind)], fact)


def number(value: float) -> str:
    """Return three digits, as a person writes them.

    >>> number(0.08912), number(-3.4), number(math.inf)
    ('0.0891', '-3.4', 'any size')
    """
    return "any size" if math.isinf(value) else f"{value:.3g}"


def answer_words(result: EffectResult) -> str:
    """Return the first line: the effect and its interval."""
    first, second = result.compare
    what = result.outcome if result.event is None else f"{result.outcome} = {result.event}"
    low, high = result.interval
    ends = (
        f"{number(low)} or more"
        if math.isinf(high) and math.isfinite(low)
        else f"{number(low)} to {number(high)}"
    )
    name = result.estimand[:1].upper() + result.estimand[1:]
    held = f", {', '.join(result.adjust)} held fixed" if result.adjust and not result.possible else ""
    which = f"middle of {len(result.possible)} possible effects " if result.possible else ""
    return (
        f"{name} of {what}, {result.treatment} {second} against {first}{held}: {which}{number(result.estimate)} "
        f"({result.level * 100:g}% interval {ends})."
    )


def assumes_words(result: EffectResult) -> str:
    """Return the second line: what the answer rests on and whom it speaks for."""
    if result.possible or any(note.is_a(EffectNoteKind.FROM_GRAPH) for note in result.notes):
        rests = "Causal if the graph is right"
    elif result.adjust:
        ends = f"{result.treatment} and {result.outcome}"
        hold = "holds" if len(result.adjust) == 1 else "hold"
        rests = f"Causal if {', '.join(result.adjust)} {hold} every common cause of {ends}"
    else:
        rests = "Causal if they have no common cause"
    speaks = f"speaks for {result.share:.0%} of the noisy rows" if result.share < 1 else "speaks for all rows"
    weighted = "; a mean over people in whom the treatment varies" if result.method == "regression" else ""
    clauses = [rests + weighted, *map(note_words, result.notes), speaks]
    return "; ".join(clauses) + "."


def privacy_words(result: EffectResult) -> str:
    """Return the third line: what it cost, and what makes the promise weak."""
    privacy = result.privacy
    if privacy.epsilon is None or privacy.delta is None:
        return f"NOT PRIVATE: {privacy.why_not_private}."
    meaning = DEFINITIONS.get(privacy.definition, privacy.definition)
    unit = "one row added or removed" if privacy.neighbours is Neighbours.ADD_REMOVE else "one row replaced"
    count = "" if privacy.ledger is not None else "; no ledger counts it"
    line = (
        f"Privacy: epsilon {privacy.epsilon:.6g}, delta {privacy.delta:.6g} ({meaning}), for {unit}{count}."
    )
    stamp = [] if privacy.private else [f"NOT PRIVATE: {privacy.why_not_private}."]
    return " ".join([*stamp, line, *caveat_lines(privacy)])


def summary(result: EffectResult, *, full: bool = False) -> str:
    """Return the three lines; ``full``: every possible effect and the whole privacy statement too."""
    lines = [answer_words(result), assumes_words(result), privacy_words(result)]
    if full:
        lines = [*lines[:2], *possible_lines(result), statement.summary(result.privacy)]
    return "\n".join(lines)


def html(result: EffectResult) -> str:
    """Return the three lines as a piece of HTML for notebooks, and possible effects as a list."""
    lines = [escape(line) for line in summary(result).splitlines()]
    lines += [escape(line) for line in possible_lines(result)]
    return f"<div>{'<br>'.join(lines)}</div>"


def edge_lines(result: DiscoveryResult, a: str, b: str) -> list[str]:
    """Return the effect of a on b, and what it rests on: as it was paid for, or from the tables for nothing."""
    try:
        paid = None if result.reserve is None else result.reserve.answered(a, b)
        found = paid or result.effect(a, b, free=True)
    except InputError:  # no table holds the columns, or the levels have no order
        return []
    return [answer_words(found), assumes_words(found)]


def possible_lines(result: EffectResult) -> list[str]:
    """Return a line for every effect that the graph allows."""
    lines = []
    for one in result.possible:
        held = (
            "no effect: the outcome comes first" if one.adjust is None else ", ".join(one.adjust) or "nothing"
        )
        low, high = one.interval
        lines.append(
            held
            if one.adjust is None
            else f"{held} held fixed: {number(one.estimate)} ({number(low)} to {number(high)})"
        )
    return lines
