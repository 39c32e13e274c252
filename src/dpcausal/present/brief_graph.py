"""A discovery in brief: a table of edges, then a line each on its marks, what is absent or open, and the cost.

Said here and never left to the full words: that hardly anything could be decided and what would help, that directions
are contradicted or rest on no order of time, which links would be missed, and which levels were merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from dpcausal.discovery.result import DiscoveryResult, in_order
from dpcausal.discovery.search import AboutTarget, Classical, ClassicalMoments
from dpcausal.present.brief import cost_lines
from dpcausal.present.discovery import (
    CONTRADICTED_MEANS,
    HINT,
    OPEN_SHOWN,
    W_MEANS,
    absent_pairs,
    counts_words,
    free_words,
    helps_words,
    hint_pairs,
    left_out_pairs,
    lone_clauses,
    merged_line,
    missed_words,
    noise_line,
    note_words,
    nothing_held_words,
    share_words,
    tiers_words,
    undecided_words,
)
from dpcausal.present.edges import EdgeNotes
from dpcausal.present.spelling import spelled

GOES_TOGETHER = "Goes together with {target}, nothing held fixed (a third column may explain it)"
ALONE_SHOWN = 10  # columns without an edge that are named


def target_of(result: DiscoveryResult) -> str | None:
    """Return the one column that was asked about, where there was one."""
    return next((note.target for note in result.notes if isinstance(note, AboutTarget)), None)


def answer_line(result: DiscoveryResult) -> str:
    """Return what was found, in one sentence: about the target, where there was one."""
    target = target_of(result)
    if target is None:
        return f"{undecided_words(result) or counts_words(result)} (method {result.method})."
    hints = hint_pairs(result)
    loose = result.nothing_held - hints
    sure, together, weak = (
        [
            name
            for pair in in_order(pairs, result.graph.nodes)
            if target in pair
            for name in pair
            if name != target
        ]
        for pairs in (result.graph.skeleton - hints - loose, loose, hints)
    )
    absent, left = len(absent_pairs(result)), len(result.open)
    found = f"Directly linked to {target}: {', '.join(sure)}" if sure else f"No link with {target} was found"
    if together:
        alike = f"{GOES_TOGETHER.format(target=target)}: {', '.join(together)}"
        found = f"{found}; {alike[0].lower()}{alike[1:]}" if sure else alike
    told = f"; weak hints only: {', '.join(weak)}" if weak else ""
    columns = f"{absent} column{'' if absent == 1 else 's'}"
    none = f"; no link shown: {columns}" if absent else ""
    if absent and not (sure or together or weak):
        found, none = f"No link with {target} was found in {columns}", ""
    if declared_out := len(left_out_pairs(result)):
        none += f"; left out, as declared: {declared_out}"
    return f"{found}{told}{none}; open: {left or 'none'} (method {result.method})."


ABSENT_SHOWN = 6  # absent pairs named in a line


def absent_line(result: DiscoveryResult) -> str:
    """Return the absent pairs, that they may have a link, and how strong a one is found; empty where none is absent."""
    pairs = in_order(absent_pairs(result), result.graph.nodes)
    if not pairs:
        return ""
    target = target_of(result)
    named = [
        " - ".join(pair) if target is None else next(name for name in pair if name != target)
        for pair in pairs
    ]
    rest = len(named) - ABSENT_SHOWN
    more = f" and {rest} more ({spelled('report.html', 'summary(full=True)')} names all)" if rest > 0 else ""
    what = "Absent" if target is None else "No link shown"
    w = f" {W_MEANS}." if result.reach is not None and result.reach.pair is not None else ""
    missed = missed_words(result)
    return (
        f"{what}: {', '.join(named[:ABSENT_SHOWN])}{more}. That no link was shown does not mean that there is none: "
        f"{missed}.{w}"
    )


def again_line(marks: EdgeNotes) -> str:
    """Return what the per cent is about; empty where there is none."""
    if not marks.confidence:
        return ""
    many = f"{marks.repeats:,} repeats" if marks.repeats else "repeats"
    return (
        f"Found again: in how many of {many} the edge comes back, whichever way it points. It is rough: "
        "another run draws other noise, and a chance edge can come back, too. "
        f"Below {HINT:.0%}: a weak hint."
    )


def open_line(result: DiscoveryResult, *, every: bool = False) -> str:
    """Return what stayed open: how many pairs, and the first few or all of them."""
    pairs = in_order(result.open, result.graph.nodes)
    if not pairs:
        return "Open: no pair."
    joined = {name for pair in result.graph.skeleton for name in pair}
    named = pairs if every else sorted(pairs, key=lambda pair: -len(joined & {*pair}))[:OPEN_SHOWN]
    names = ", ".join(" ? ".join(pair) for pair in named)
    rest = len(pairs) - len(named)
    many = f"{len(pairs)} pair{'' if len(pairs) == 1 else 's'} could not be decided"
    return f"Open: {many}: {names}" + (
        f" and {rest} more ({spelled('report.html', 'result.open')} lists all)." if rest else "."
    )


NOTHING_WRITTEN = "Nothing was written (--out DIR writes the files)."


def written_words(result: DiscoveryResult, folder: str, *, full: bool) -> str:
    """Return where the files are, and how all the words come free of charge where they were not printed.

    ``folder`` is where a release, if there is one, was written.
    """
    where = f"Written to {folder}: open report.html"
    if full or result.release is None:
        return where
    return f"{where}; for all the words, free: dpcausal again {quote(folder)} --full"


def edge_table(result: DiscoveryResult) -> list[str]:
    """Return the table of edges: edge, how often it was found again, and a note, each where there is one."""
    marks, shown, hints = EdgeNotes.of(result), result.shown, hint_pairs(result)
    rows = [
        (
            f"{a} {shown.marks(a, b)} {b}",
            share_words(part) if (part := marks.confidence.get(frozenset((a, b)))) is not None else "",
            marks.short(a, b, arrow),
        )
        for a, b, arrow in sorted(shown.edges(), key=lambda edge: frozenset(edge[:2]) in hints)
    ]
    lines = aligned(("edge", "found again", "note"), rows) if rows else []
    joined = {name for pair in result.graph.skeleton for name in pair}
    alone = [name for name in result.graph.nodes if name not in joined]
    if alone and target_of(result) is None:
        lines += [f"  ({words})" for words in lone_clauses(result, alone, ALONE_SHOWN)]
    return lines


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows below their heads, columns that are empty in every row left out.

    >>> aligned(("edge", "found again", "note"), [("a -> b", "95% or more", ""), ("b - long", "less than 50%", "")])
    ['  edge      found again', '  a -> b    95% or more', '  b - long  less than 50%']
    """
    kept = [k for k in range(len(heads)) if any(row[k] for row in rows)]
    table = [[line[k] for k in kept] for line in (heads, *rows)]
    wide = [max(len(line[k]) for line in table) for k in range(len(kept))]
    return [
        "  " + "  ".join(f"{cell:<{size}}" for cell, size in zip(line, wide, strict=True)).rstrip()
        for line in table
    ]


def classical_line(result: DiscoveryResult) -> str:
    """Return which tests a search without privacy used, and what compares with them; empty for private ones."""
    notes = (note for note in result.notes if isinstance(note, Classical | ClassicalMoments))
    return "".join(f"{note_words(note)}." for note in notes)


def discovery_text(result: DiscoveryResult, *, every: bool = False) -> str:
    """Return a discovery in brief; ``every`` names every open pair."""
    torn = result.contradicted and result.graph.kind != "pag"
    about = (
        again_line(EdgeNotes.of(result)),
        nothing_held_words(result),
        f"{CONTRADICTED_MEANS}" if torn else "",
        tiers_words(result),
        free_words(result),
        absent_line(result),
        merged_line(result),
        noise_line(result),
        classical_line(result),
    )
    lines = [
        answer_line(result),
        *filter(None, [helps_words(result)]),
        *edge_table(result),
        *filter(None, about),
        open_line(result, every=every),
        *cost_lines(result.privacy),
    ]
    if not result.privacy.private:  # nothing else is read first
        lines.insert(0, lines.pop(lines.index(f"NOT PRIVATE: {result.privacy.why_not_private}.")))
    return "\n".join(lines)
