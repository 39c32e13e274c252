"""The answer first: what the terminal and ``print`` show of a result, in a few lines.

A discovery is a table of edges, one line on what stayed open, one on privacy and one on the ledger; a test is three
lines. What else there is to know is in the full words (``summary(full=True)``, ``--full``), the report and the files.
What must never be missed is never left to them: that a result is not private, that a promise is weak, that a schema is
an unchecked draft, that hardly anything could be decided, and that answers contradict each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpcausal.citests.result import CITestResult
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import PrivacyStatement
from dpcausal.discovery.result import DiscoveryResult, in_order
from dpcausal.discovery.search import NoteKind
from dpcausal.present.discovery import OPEN_SHOWN, counts_words, undecided_words
from dpcausal.present.edges import EdgeNotes
from dpcausal.present.statement import caveat_lines, odds, question_words

CHANGES = {
    Neighbours.REPLACE_ONE: "changing one row",
    Neighbours.ADD_REMOVE: "adding or removing one row",
    Neighbours.FIXED_LABELS: "changing one row, apart from its public label,",
}
NO_LEDGER = (
    "Ledger: none, so nobody adds up what is released from these rows; --ledger URL --dataset NAME does."
)
ALONE_SHOWN = 10  # columns without an edge that are named


def privacy_line(statement: PrivacyStatement) -> str:
    """Return epsilon, delta and what they promise, in one line; that there is no promise where there is none."""
    if statement.epsilon is None or statement.delta is None:
        return f"NOT PRIVATE: {statement.why_not_private}."
    but = f", apart from a probability of {statement.delta:.3g}" if statement.delta else ""
    return (
        f"Privacy: epsilon {statement.epsilon:.6g}, delta {statement.delta:.6g}; {CHANGES[statement.neighbours]} "
        f"makes no result more than {odds(statement.epsilon)} times as likely{but}."
    )


def ledger_line(statement: PrivacyStatement) -> str:
    """Return where the release is counted and what is left; empty where nothing was charged."""
    if not statement.events:
        return ""
    if not statement.ledger:
        return NO_LEDGER
    asked = ", ".join(f"{name} {amount:.6g}" for name, amount in statement.asked.items())
    left = ", ".join(f"{name} {amount:.6g}" for name, amount in statement.ledger.get("left", {}).items())
    where = f"{statement.ledger.get('dataset')}, entry {statement.ledger.get('entry')}"
    return f"Ledger: {where}; charged {asked}" + (f"; left {left}." if left else ".")


def cost_lines(statement: PrivacyStatement) -> list[str]:
    """Return the line of privacy, what weakens it, and the line of the ledger."""
    lines = [privacy_line(statement), *caveat_lines(statement), ledger_line(statement)]
    if statement.epsilon is not None and not statement.private:
        lines.insert(0, f"NOT PRIVATE: {statement.why_not_private}.")
    return [line for line in lines if line]


def target_of(result: DiscoveryResult) -> str | None:
    """Return the one column that was asked about, where there was one."""
    return next((note["target"] for note in result.notes if note.is_a(NoteKind.TARGET)), None)


def answer_line(result: DiscoveryResult) -> str:
    """Return what was found, in one sentence: about the target, where there was one."""
    target = target_of(result)
    if target is None:
        return f"{undecided_words(result) or counts_words(result)} (method {result.method})."
    linked = [name for pair in in_order(result.graph.skeleton, result.graph.nodes) for name in pair]
    others = [name for name in dict.fromkeys(linked) if name != target]
    absent, left = len(result.absent - result.known.left_out), len(result.open)
    found = (
        f"Directly linked to {target}: {', '.join(others)}"
        if others
        else f"Nothing was found to be linked to {target}"
    )
    return f"{found}; {absent} column{'' if absent == 1 else 's'} not, {left} open (method {result.method})."


def open_line(result: DiscoveryResult, *, every: bool = False) -> str:
    """Return what stayed open: how many pairs, and the first few or all of them."""
    pairs = in_order(result.open, result.graph.nodes)
    if not pairs:
        return "Open: no pair; each was found to have an edge or not."
    joined = {name for pair in result.graph.skeleton for name in pair}
    named = pairs if every else sorted(pairs, key=lambda pair: -len(joined & {*pair}))[:OPEN_SHOWN]
    names = ", ".join(" ? ".join(pair) for pair in named)
    rest = len(pairs) - len(named)
    many = f"{len(pairs)} pair{'' if len(pairs) == 1 else 's'} could not be decided"
    return f"Open: {many}: {names}" + (f" and {rest} more (--show-open lists all)." if rest else ".")


def edge_table(result: DiscoveryResult) -> list[str]:
    """Return the table of edges: edge, how often it was found again, and a note, each where there is one."""
    marks = EdgeNotes.of(result)
    rows = [
        (
            f"{a} {result.graph.marks(a, b)} {b}",
            f"{part:.0%}" if (part := marks.confidence.get(frozenset((a, b)))) is not None else "",
            marks.short(a, b, arrow),
        )
        for a, b, arrow in result.graph.edges()
    ]
    lines = aligned(("edge", "found again", "note"), rows) if rows else []
    joined = {name for pair in result.graph.skeleton for name in pair}
    alone = [name for name in result.graph.nodes if name not in joined]
    if alone and target_of(result) is None:
        names = ", ".join(alone) if len(alone) <= ALONE_SHOWN else f"{len(alone)} columns"
        lines.append(f"  (no edge found: {names})")
    return lines


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows below their heads, columns that are empty in every row left out.

    >>> aligned(("edge", "found again", "note"), [("a -> b", "98%", ""), ("b - long", "7%", "")])
    ['  edge      found again', '  a -> b            98%', '  b - long           7%']
    """
    kept = [k for k in range(len(heads)) if any(row[k] for row in rows)]
    table = [[line[k] for k in kept] for line in (heads, *rows)]
    wide = [max(len(line[k]) for line in table) for k in range(len(kept))]
    right = [any(cell.endswith("%") for cell in column) for column in zip(*table, strict=True)]
    return [
        "  "
        + "  ".join(
            f"{cell:>{size}}" if flush else f"{cell:<{size}}"
            for cell, size, flush in zip(line, wide, right, strict=True)
        ).rstrip()
        for line in table
    ]


def discovery_text(result: DiscoveryResult, *, every: bool = False) -> str:
    """Return a discovery in brief; ``every`` names every open pair."""
    lines = [
        answer_line(result),
        *edge_table(result),
        open_line(result, every=every),
        *cost_lines(result.privacy),
    ]
    if not result.privacy.private:  # nothing else is read first
        lines.insert(0, lines.pop(lines.index(f"NOT PRIVATE: {result.privacy.why_not_private}.")))
    return "\n".join(lines)


def answer_text(result: CITestResult) -> str:
    """Return a test in three lines: the answer, privacy, the ledger."""
    found = "no evidence against independence" if result.independent else "dependent"
    by = f"level {result.level:g}, test {result.method}"
    chance = by if result.pvalue is None else f"p = {result.pvalue:.3g}, {by}"
    trend = ""
    if result.direction is not None:
        trend = f"; {result.y} {'rises' if result.direction.rises else 'falls'} as {result.x} rises"
    answer = f"{question_words(result.x, result.y, result.given)}: {found} ({chance}){trend}."
    return "\n".join([answer, *cost_lines(result.privacy)])
