"""All there is to say of a discovery, under headings: ``--full`` and ``summary(full=True)``.

The table of edges has the notes of the brief one (``brief_graph.py``), and a legend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcausal.present.discovery import (
    ALONE_SHOWN,
    ONE_LEVEL_ONLY,
    PUBLISHED,
    absent_words,
    again_words,
    as_sentence,
    declared_words,
    free_words,
    headline,
    helps_words,
    joined_words,
    legend,
    lone_clauses,
    merged_groups,
    missing_words,
    note_words,
    one_level_columns,
    open_words,
    reach_words,
    share_words,
    tiers_words,
    undecided_columns,
    why_open_words,
)
from dpcausal.present.edges import EdgeNotes
from dpcausal.present.statement import summary as statement_summary

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult


def edge_lines(result: DiscoveryResult) -> list[str]:
    """Return every edge on a line, with its confidence where it has one, and a legend."""
    sure, marks = result.found_confidence, EdgeNotes.of(result)
    rows = [
        (f"{a} {result.shown.marks(a, b)} {b}", frozenset((a, b)), marks.short(a, b, arrow))
        for a, b, arrow in result.shown.edges()
    ]
    wide = max((len(edge) for edge, *_ in rows), default=0)
    share = max((len(share_words(part)) for part in sure.values()), default=0)
    lines = []
    for edge, pair, remark in rows:
        part = (
            f"  {share_words(sure[pair]):<{share}}" if pair in sure else "" if not sure else " " * (share + 2)
        )
        lines.append(f"  {edge:<{wide}}{part}{'  ' * bool(remark)}{remark}".rstrip())
    joined = {name for _, pair, _ in rows for name in pair}
    alone = [name for name in result.graph.nodes if name not in joined]
    silent, single = {*undecided_columns(result)}, {*one_level_columns(result)}
    if len(alone) > ALONE_SHOWN:
        lines += [f"  {words}" for words in lone_clauses(result, alone, len(alone))]
    else:
        why = dict.fromkeys(silent, "nothing could be decided") | dict.fromkeys(single, ONE_LEVEL_ONLY)
        lines += [f"  {name} ({why.get(name, 'no edge found')})" for name in alone]
    shown = any(pair in sure for _, pair, _ in rows)
    return [*lines, *legend(result), *([again_words(result)] if shown else [])]


def full_text(result: DiscoveryResult) -> str:
    """Return all there is to say of a graph and what it cost, under headings."""
    by_you = declared_words(result.known)
    told = f"{by_you} A direction that follows from it was not found in the data." if by_you else ""
    published = PUBLISHED if result.privacy.epsilon is not None else ""
    labels = "; ".join(f"{name}: {label}" for name, label in result.labels.items())
    sections = {
        "": [headline(result), helps_words(result)],
        "Edges": [*edge_lines(result), free_words(result)],
        "Open pairs": [open_words(result, every=True), why_open_words(result)],
        "Absent pairs": [missing_words(result), absent_words(result), joined_words(result)],
        "What could be shown": [reach_words(result.reach)],
        "Background knowledge": [tiers_words(result), told],
        "Columns": [f"{labels}." if labels else "", merged_groups(result)],
        "Method": [as_sentence(note_words(note)) for note in result.notes],
        "Privacy": [statement_summary(result.privacy), published],
    }
    return "\n".join(line for name, lines in sections.items() for line in headed(name, lines))


def headed(name: str, lines: list[str]) -> list[str]:
    """Return the lines that are not empty below a heading in capitals; nothing where all are empty.

    >>> headed("Edges", ["a - b", ""]), headed("Edges", [""])
    (['', 'EDGES', 'a - b'], [])
    """
    said = [line for line in lines if line]
    return ["", name.upper(), *said] if said and name else said
