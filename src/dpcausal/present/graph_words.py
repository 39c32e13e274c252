"""A discovery in words: in brief for the terminal, in full under headings, and what changed since another one.

An absent pair is never called independent, an arrow never surer than the answers it rests on, and a pair that could
not be decided is called open, never an edge. Where nearly every pair is open, the first line says so (``Verdict``).

The brief text always says: that hardly anything could be decided and what would help, that directions are contradicted
or rest on no order of time, which links would be missed, and which columns had levels merged. What each of these means
is in the full text and on the page.
"""

from __future__ import annotations

from collections import Counter
from shlex import quote
from typing import TYPE_CHECKING

from dpcausal.core.spelling import spelled
from dpcausal.discovery import search as facts
from dpcausal.discovery.knowledge import Knowledge, declared
from dpcausal.discovery.result import DiscoveryResult, Verdict, in_order
from dpcausal.graphs.graph import Graph
from dpcausal.present.notes import MERGED_SHOWN, groups_words, method_words, note_words
from dpcausal.present.statement import cost_lines
from dpcausal.present.statement import summary as statement_summary
from dpcausal.present.tables import (
    HINT,
    MARKS,
    ONE_LEVEL_ONLY,
    SURE,
    EdgeFact,
    PairRow,
    absent_rows,
    edge_rows,
    known_groups,
    mark_kinds,
    merged_unordered,
    open_reason,
    share_words,
)
from dpcausal.present.text import aligned, as_sentence, counted, digits, few
from dpcausal.stats.contrasts import POWER

if TYPE_CHECKING:
    from collections.abc import Collection


PAIRS_SHOWN = 4  # absent, open or changed pairs named in a line
# notes without which a graph is read amiss
SAID_IN_BRIEF = (
    facts.Classical,
    facts.ClassicalMoments,
    facts.FollowUpColumns,
    facts.SitesMeasured,
    facts.SitesDiffer,
)
ALONE_SHOWN = 10  # columns without an edge named in a brief line
PUBLISHED = (
    "Published: the graph and these words, and the noisy values where a release is saved (release.json). The promise "
    "covers all of them."
)
NOTHING_HELD_SENTENCE = "Where nothing was held fixed, a third column may explain the link."
NOTHING_WRITTEN = "Nothing was written (--out DIR writes the files)."
W_MEANS = "w is Cohen's: .1 weak, .3 medium, .5 strong"


def fits_words(result: DiscoveryResult) -> str:
    """Return the meaning of an arrow in this graph, in a few words."""
    if result.direction:
        return f"direction with a chance of {result.direction_level:.0%} or more"
    if result.conflicts and not result.settled:
        return "direction as the test results say"
    return (
        f"the same direction in every graph that fits the test results{' best' if result.conflicts else ''}"
    )


def arrows_mean(result: DiscoveryResult) -> str:
    """Return what the arrows of a graph mean, limited to what the answers support; empty without arrows."""
    arrows = result.shown.directed
    if result.marks and mark_kinds(result.shown) != ["o-o"]:
        return f"Arrowheads and tails have a chance of {result.direction_level:.0%} or more, unless they were declared."
    if not arrows or result.graph.kind == "pag":
        return ""
    by_you = arrows & result.known.required_arrows(result.graph.skeleton)
    if by_you == arrows:
        return "Arrows: as declared, not found in the data."
    first = "Declared arrows are not found in the data; others have" if by_you else "Arrows have"
    if result.direction:
        return f"{first} a chance of {result.direction_level:.0%} or more, if no common cause is hidden."
    if result.conflicts and not result.settled:
        return f"{first} the direction that the test results say; these contradict each other: no graph fits them all."
    whatever = ", whether or not open pairs are edges" if result.open else ""
    return f"{first} {fits_words(result)}{whatever}; a wrong test result can turn them round."


def marks_mean(result: DiscoveryResult) -> str:
    """Return what each kind of mark of a PAG means; empty for other graphs."""
    means = {marks: MARKS[marks][1] for marks in mark_kinds(result.shown)}
    text = "; ".join(f"{marks}: {words.partition('; ')[0]}" for marks, words in means.items())
    also: dict[str, list[str]] = {}
    for marks, words in means.items():
        also.setdefault(words.partition("; ")[2], []).append(marks)
    more = [f"At {', '.join(kinds)} {words}." for words, kinds in also.items() if words]
    return " ".join([f"{text}." if text else "", *more]).strip()


def likely_marks(result: DiscoveryResult) -> str:
    """Return how likely the marks of a PAG are, and what a per cent beside them is; empty for other graphs."""
    if result.graph.kind != "pag":
        return ""
    per_cent = "A per cent is the chance of the marks beside it; where marks are open, of the likeliest."
    return " ".join(filter(None, (arrows_mean(result), per_cent if result.marks else "")))


def legend(result: DiscoveryResult) -> list[str]:
    """Return the meanings of the marks that occur in the list of edges."""
    graph = result.shown
    plain = graph.undirected - result.contradicted and graph.kind != "pag"
    meanings = {
        marks_mean(result): True,
        likely_marks(result) or arrows_mean(result): True,
        "-: direction not decided by the data.": plain,
        "Only tested with so many columns held fixed: with more, the edge might disappear.": (
            result.given_up_to.keys() - result.nothing_held
        ),
        NOTHING_HELD_SENTENCE: result.nothing_held,
    }
    return [line for line, there in meanings.items() if line and there]


def column_count(result: DiscoveryResult) -> int:
    """Return the number of columns that could have an edge."""
    return len(result.graph.nodes) - len(result.one_level)


def counts_words(result: DiscoveryResult) -> str:
    """Return how many edges were found, how many are weak hints, how many pairs are absent and how many open.

    Pairs that were declared to have no edge are counted apart, and columns with one level not at all.
    """
    hints = len(result.hints)
    found = len(result.graph.skeleton) - hints
    edges = f"{found or 'No'} edge{'' if found == 1 else 's'}"
    if hints:
        edges += f"{' and' if found else ', but'} {hints} weak hint{'' if hints == 1 else 's'}"
    pairs = [
        f"{number} pair{'' if number == 1 else 's'} {state}"
        for number, state in ((len(result.not_shown), "absent"), (len(result.open), "open"))
    ]
    if declared_out := len(result.declared_absent):
        pairs.append(f"{declared_out} declared to have no edge")
    return f"{edges} found among {column_count(result)} columns, {', '.join(pairs)}"


def target_words(result: DiscoveryResult, target: str) -> str:
    """Return which columns are linked to the target, and how many are not or were not decided."""
    hints, loose = result.hints, result.nothing_held - result.hints
    groups = {
        f"Directly linked to {target}": result.graph.skeleton - hints - loose,
        f"linked to {target} with nothing held fixed (a third column may explain it)": loose,
        "weak hints only": hints,
    }
    parts = []
    for about, pairs in groups.items():
        ends = [name for pair in in_order(pairs, result.graph.nodes) if target in pair for name in pair]
        if names := [name for name in ends if name != target]:
            parts.append(f"{about}: {', '.join(names)}")
    parts = parts or [f"No link with {target} was found"]
    absent, forbidden = len(result.not_shown), len(result.declared_absent)
    parts += [f"no link shown: {counted(absent, 'column')}"] if absent else []
    parts += [f"declared to have no edge: {forbidden}"] if forbidden else []
    text = "; ".join([*parts, f"open: {counted(len(result.open), 'column')}"])
    return text[0].upper() + text[1:]


def limit_of(result: DiscoveryResult) -> str:
    """Return what limited the search, the rows or the budget, in words."""
    return "with this many rows" if result.privacy.epsilon is None else "at this budget"


def undecided_words(result: DiscoveryResult) -> str:
    """Return that hardly anything was decided, as a clause; empty where enough was."""
    if result.verdict is Verdict.DECIDED:
        return ""
    chosen = any(isinstance(note, facts.ChosenPairs) for note in result.notes)
    little = "Few pairs" if chosen else "Hardly anything"
    much = "Nothing" if result.verdict is Verdict.NOTHING_DECIDED else little
    return f"{much} could be decided {limit_of(result)}"


def found_words(result: DiscoveryResult) -> str:
    """Return what was found, as one clause; about the target, if there is one."""
    return counts_words(result) if result.target is None else target_words(result, result.target)


def answer(result: DiscoveryResult) -> str:
    """Return what was found, preceded by a warning where hardly anything was decided."""
    found, undecided = found_words(result), undecided_words(result)
    return f"{undecided}: {found[0].lower()}{found[1:]}" if undecided else found


def headline(result: DiscoveryResult) -> str:
    """Return the answer with the method and why it was used."""
    return f"{answer(result)} ({method_words(result.method, result.why)})"


def absent_words(result: DiscoveryResult) -> str:
    """Return every absent pair with what was held fixed and the w that would be found; empty without any."""
    rows = absent_rows(result)
    if not rows:
        return ""
    named = []
    for row in rows:
        why = "; ".join(filter(None, (row.held, f"w = {row.least_w}" if row.least_w else "")))
        named.append(f"{row.a} - {row.b}{f' ({why})' if why else ''}")
    means = f" (w: found in {POWER:.0%} of runs)" if any(row.least_w for row in rows) else ""
    return f"Absent pairs{means}: {', '.join(named)}."


def joined_words(result: DiscoveryResult) -> str:
    """Return how a pair can be absent although a path joins the two; empty where no pair is so."""
    found = [f"{a} - {b} (through {c})" for a, b, c in result.joined_absent]
    if not found:
        return ""
    after = {(b, a) for a, b in result.known.arrows}
    free = [
        one
        for (a, b, c), one in zip(result.joined_absent, found, strict=True)
        if not {(a, c), (b, c)} & after
    ]
    at = "" if len(free) == len(found) else f", at {few(free, 4)},"
    collider = f"; or{at} the column between is a common effect after all" if free else ""
    return (
        f"Absent with nothing held fixed, although the graph has a path between the two: {few(found, 4)}. This is no "
        "contradiction: a dependence along a path is weaker than each of its steps and may be too weak to show; "
        f"{'' if free else 'or '}paths may cancel{collider}."
    )


def why_open_words(result: DiscoveryResult) -> str:
    """Return why pairs are open, by the number of pairs; empty where no pair is, or the result does not know."""
    reasons = Counter(open_reason(result.why_open(pair)) for pair in result.open)
    reasons.pop("", None)
    if len(reasons) < 2:
        return "".join(f"Why open: {reason}." for reason in reasons)
    ranked = sorted(reasons.items(), key=lambda one: (-one[1], one[0]))
    parts = [f"{reason} ({counted(number, 'pair')})" for reason, number in ranked]
    return f"Why open: {'; '.join(parts)}."


def open_line(result: DiscoveryResult, *, every: bool = False) -> str:
    """Return how many pairs are open, and the first few or all of them; empty where none is.

    Pairs that touch an edge that was found come first: an open pair there keeps arrows undecided.
    """
    joined = {name for pair in result.graph.skeleton for name in pair}
    pairs = in_order(result.open, result.graph.nodes)
    if not pairs:
        return ""
    if not every and len(pairs) > PAIRS_SHOWN:
        pairs = sorted(pairs, key=lambda pair: -len(joined & {*pair}))
    named = few([" ? ".join(pair) for pair in pairs], len(pairs) if every else PAIRS_SHOWN)
    return f"Open: {named} (an edge or none)."


def sure_edges(result: DiscoveryResult) -> set[frozenset[str]]:
    """Return the edges found again in nearly all repeats; none where repeats are missing for an edge."""
    known = result.found_confidence
    every = known.keys() == result.graph.skeleton
    return {pair for pair, part in known.items() if every and part >= SURE}


def sure_line(result: DiscoveryResult) -> str:
    """Return which edges are found again in nearly all repeats, as one line."""
    sure = sure_edges(result)
    where = "each edge" if sure == result.graph.skeleton else "where blank"
    return f"Found again: {share_words(1.0)}, {where}." if sure else ""


def again_line(result: DiscoveryResult) -> str:
    """Return the meaning of "found again" in the table of edges; empty where all edges nearly always are."""
    said = {share_words(part) for part in result.found_confidence.values()}
    perhaps, hint = share_words(HINT), share_words(0.0)
    parts = []
    parts += [f"{perhaps}: in 2 to 8 of 10 runs on real data"] if perhaps in said else []
    parts += [f"{hint}: a weak hint, not a finding"] if hint in said else []
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def absent_means(result: DiscoveryResult) -> str:
    """Return what an absent pair means, as a sentence; empty where none is absent, other than by declaration."""
    if not result.not_shown:
        return ""
    missed = missed_words(result)
    return f"Absent: no link was shown {limit_of(result)}, which does not show that there is none; {missed}."


def absent_line(result: DiscoveryResult) -> str:
    """Return that absent pairs are no proof of independence, and which link would have been found.

    Empty where none is absent.
    """
    target = result.target
    named = [
        " - ".join(pair) if target is None else next(name for name in pair if name != target)
        for pair in in_order(result.not_shown, result.graph.nodes)
    ]
    if not named:
        return ""
    first = f"Absent: {', '.join(named)}. No proof" if len(named) <= PAIRS_SHOWN else "Absent is no proof"
    return f"{first}: {missed_words(result)}."


def w_words(w: float) -> str:
    """Return the strength of a dependence in words, by the scale of ``W_MEANS``.

    >>> w_words(0.04), w_words(0.1), w_words(0.2), w_words(0.3), w_words(0.6)
    ('very weak', 'weak', 'weak', 'medium', 'strong')
    """
    w = float(f"{w:.2g}")  # as it is shown
    return "very weak" if w < 0.1 else "weak" if w < 0.3 else "medium" if w < 0.5 else "strong"


def missed_words(result: DiscoveryResult) -> str:
    """Return how strong a link between absent pairs would be found, and how often, as a clause."""
    known = {pair: result.detectable[pair] for pair in result.not_shown if pair in result.detectable}
    if not known:
        return "weak links are missed"
    held = any(result.separating.get(pair) for pair in known)
    return detectable_clause(known.values(), strata=held)


def detectable_clause(pairs: Collection[float], *, strata: bool = False) -> str:
    """Return which link between these pairs would be found in most runs, as a clause.

    ``strata``: columns were held fixed, and the link meant may vary between their strata, but not cancel.

    >>> detectable_clause([0.12, 0.164])
    'a link of w = 0.12 to 0.16 (weak) is found in 80% of runs'
    >>> detectable_clause([0.05], strata=True)
    'a link of w = 0.05 (very weak), unless it cancels between strata held fixed, is found in 80% of runs'
    """
    low, high = digits(min(pairs)), digits(max(pairs))
    which = low if low == high else f"{low} to {high}"
    link = (
        f"a link of w = {which} ({w_words(max(pairs))})"
        + ", unless it cancels between strata held fixed," * strata
    )
    return f"{link} is found in {POWER:.0%} of runs"


def tiers_words(result: DiscoveryResult, *, brief: bool = False) -> str:
    """Return the advice to declare an order of time, where it would help; else empty."""
    if result.known.tier or not (result.graph.directed - result.known.arrows or result.contradicted):
        return ""
    if brief:
        return f"No order of time declared: arrows can point back in time ({spelled('--tiers', 'tiers=')})."
    again = 'dpcausal again DIR --tiers "a,b;c"', "result.release.discover(tiers=...)"
    first = '--tiers "a,b;c"', 'tiers=[["a", "b"], ["c"]]'
    when, how = (
        ("declare it before you pay", first) if result.release is None else ("adding one is free", again)
    )
    return f"No order of time was declared: arrows can point back in time ({when}: {spelled(*how)})."


def free_words(result: DiscoveryResult) -> str:
    """Return which columns are in no tier, if tiers were declared; else empty."""
    free = [name for name in result.graph.nodes if name not in result.known.tier]
    if not result.known.tier or not free:
        return ""
    return f"In no tier, so arrows at them can point back in time: {', '.join(free)}."


def merged_line(result: DiscoveryResult, *, brief: bool = False) -> str:
    """Return which columns had levels merged, and the levels in each group; empty where none had.

    Columns whose levels have no order come first: which of them were put together is a choice, no cut. ``brief`` names
    the groups of these alone.
    """
    columns = [
        column for note in result.notes if isinstance(note, facts.MergedLevels) for column in note.columns
    ]
    if not columns:
        return ""
    known, loose = known_groups(result), merged_unordered(result)
    named = loose if brief else sorted(known, key=lambda name: name not in loose)
    parts = [f"{name} to {len(known[name])} groups ({' | '.join(known[name])})" for name in named]
    if rest := [column for column in columns if column[0] not in named]:
        parts.append(groups_words(rest, MERGED_SHOWN if brief else None))
    return f"Levels merged, because of the noise: {'; '.join(parts)}."


def helps_words(result: DiscoveryResult) -> str:
    """Return what would decide more, where hardly anything was decided; else empty."""
    if result.verdict is Verdict.DECIDED:
        return ""
    exact = result.privacy.epsilon is None
    fewer = result.fewer_columns
    helps = ["more rows"]
    helps += [] if exact else ["a larger epsilon"]
    helps += ["a delta (1e-6, say)"] if any(isinstance(n, facts.WithoutDelta) for n in result.notes) else []
    columns = f"fewer columns (about {fewer}, to decide most pairs)" if fewer else "fewer columns"
    text = f"What would help: {', '.join(helps)}, fewer levels or {columns}."
    joint = any(
        isinstance(note, facts.JointTableMeasured) for note in result.notes
    )  # has less noise than pairs
    if not exact and result.about is None and not joint:
        text += f" {spelled('--target COLUMN', 'target=')} asks about one column only, with less noise."
    return text


def declared_words(known: Knowledge) -> str:
    """Return what was declared beforehand as one sentence; empty where nothing was.

    >>> declared_words(Knowledge.of(["a", "b", "c"], forbidden=[{"b", "c"}], tiers=[["a"], ["b", "c"]]))
    'Declared: in order of time a, then b, c; forbidden b - c.'
    """
    found = declared(known)
    parts = []
    if "tiers" in found:
        parts.append("in order of time " + ", then ".join(", ".join(tier) for tier in found["tiers"]))
    parts += [f"{kind} {', '.join(found[kind])}" for kind in ("required", "forbidden") if kind in found]
    return f"Declared: {'; '.join(parts)}." if parts else ""


def all_declared_words(result: DiscoveryResult) -> str:
    """Return what was declared, and what of it only after a release; empty where nothing was."""
    now, before = declared_words(result.known), result.known_before
    if before is None:
        return now
    first = declared_words(before).removeprefix("Declared: ") or "nothing."
    then = now.removeprefix("Declared: ") or "nothing."
    return (
        f"Declared beforehand: {first} Declared instead for this search, after the release and so perhaps after its "
        f"first graph was seen, which is no prior knowledge: {then}"
    )


def lone_clauses(result: DiscoveryResult, alone: Collection[str], most: int) -> list[str]:
    """Return the columns without an edge, grouped by whether anything could be decided about them."""
    silent, single = {*result.undecided_columns}, {*result.one_level}
    groups = {
        "no edge found": [name for name in alone if name not in silent | single],
        "nothing could be decided": [name for name in alone if name in silent],
        ONE_LEVEL_ONLY: [name for name in alone if name in single],
    }
    return [
        f"{why}: {', '.join(names) if len(names) <= most else f'{len(names)} columns'}"
        for why, names in groups.items()
        if names
    ]


def written_words(result: DiscoveryResult, folder: str, *, full: bool) -> str:
    """Return where the files are, and how to print the full text free of charge where it was not printed.

    ``folder`` is where a release, if there is one, was written.
    """
    where = f"Written to {folder} (report.html)"
    if full or result.release is None:
        return where
    return f"{where}; more, free: dpcausal again {quote(folder)} --full"


EDGE_HEADS = ("edge", "direction", "found again", "held fixed", "note")


def edge_table(result: DiscoveryResult) -> list[str]:
    """Return the table of edges: chance of the direction, how often found again, what was held fixed, and a note."""
    sure = sure_edges(result)
    rows = [
        (row.edge, row.points, *_cells(row, sure=frozenset((row.a, row.b)) in sure))
        for row in edge_rows(result)
    ]
    return aligned(rows, EDGE_HEADS)


def _cells(row: PairRow, *, sure: bool) -> tuple[str, str, str]:
    """Return the cells of an edge in the table: found again, held fixed, and the note."""
    held = {EdgeFact.NOTHING_HELD: "nothing", EdgeFact.TESTED_UP_TO: f"up to {row.given_up_to}"}
    unsaid = {EdgeFact.HINT, EdgeFact.MARKED, *held} | ({EdgeFact.UNDECIDED} if row.points else set())
    note = "; ".join(words for fact, words in row.facts.items() if fact not in unsaid)
    return "" if sure else row.again, "".join(held[fact] for fact in held if fact in row.facts), note


def lone_columns(result: DiscoveryResult) -> list[str]:
    """Return the columns without an edge."""
    return [name for name in result.graph.nodes if not result.graph.adjacent(name)]


def summary(result: DiscoveryResult, *, full: bool = False, open: bool = False) -> str:  # noqa: A002
    """Return a discovery in brief, or ``full``; ``open``: in brief with every open pair by name."""
    return full_text(result) if full else discovery_text(result, every=open)


def discovery_text(result: DiscoveryResult, *, every: bool = False) -> str:
    """Return a discovery in brief; ``every`` names every open pair."""
    notes = [note for note in result.notes if isinstance(note, SAID_IN_BRIEF)]
    alone = lone_clauses(result, lone_columns(result), ALONE_SHOWN) if result.target is None else []
    lines = [
        f"{answer(result)} (method {result.method}).",
        helps_words(result),
        *edge_table(result),
        *(f"  ({words})" for words in alone),
        marks_mean(result),
        likely_marks(result),
        sure_line(result),
        tiers_words(result, brief=True),
        free_words(result),
        absent_line(result),
        merged_line(result, brief=True),
        *(as_sentence(note_words(note)) for note in notes),
        open_line(result, every=every),
        *cost_lines(result.privacy),
    ]
    if not result.privacy.private:  # nothing else is read first
        lines.insert(0, lines.pop(lines.index(f"NOT PRIVATE: {result.privacy.why_not_private}.")))
    return "\n".join(filter(None, lines))


def edge_lines(result: DiscoveryResult) -> list[str]:
    """Return every edge on a line, with its confidence where it has one, and a legend."""
    alone = lone_columns(result)
    lone = [f"  ({words})" for words in lone_clauses(result, alone, len(alone))]
    again = filter(None, (sure_line(result), again_line(result)))
    return [*edge_table(result), *lone, *legend(result), *again]


def full_text(result: DiscoveryResult) -> str:
    """Return everything about a graph and its cost, under headings."""
    by_you = all_declared_words(result)
    labels = "; ".join(f"{name}: {label}" for name, label in result.labels.items())
    sections = {
        "": [headline(result), helps_words(result)],
        "Edges": [*edge_lines(result), free_words(result)],
        "Open pairs": [open_line(result, every=True), why_open_words(result)] if result.open else [],
        "Absent pairs": [absent_means(result), absent_words(result), joined_words(result)],
        "Background knowledge": [
            tiers_words(result),
            f"{by_you} Directions that follow from it were not found in the data." if by_you else "",
        ],
        "Columns": [f"{labels}." if labels else "", merged_line(result) if known_groups(result) else ""],
        "Method": [as_sentence(note_words(note)) for note in result.notes],
        "Privacy": [
            statement_summary(result.privacy),
            PUBLISHED if result.privacy.epsilon is not None else "",
        ],
    }
    return "\n".join(line for name, lines in sections.items() for line in headed(name, lines))


def headed(name: str, lines: list[str]) -> list[str]:
    """Return the non-empty lines below a heading in capitals; nothing if all are empty.

    >>> headed("Edges", ["a - b", ""]), headed("Edges", [""])
    (['', 'EDGES', 'a - b'], [])
    """
    there = [line for line in lines if line]
    return ["", name.upper(), *there] if there and name else there


def changes_line(before: Graph, after: Graph, name: str) -> str:
    """Return what is different from the graph called ``name``.

    >>> old = Graph(["a", "b", "c", "d"], directed=[("c", "d")], undirected=[("a", "b")])
    >>> new = Graph(["a", "b", "c", "d"], directed=[("a", "b")], undirected=[("b", "d")])
    >>> changes_line(old, new, "first")
    'Changed from first: added b - d; removed c -> d; direction changed a - b (now a -> b).'
    >>> changes_line(old, old, "first")
    'Changed from first: no edge and no direction.'
    """
    earlier, later = (
        {frozenset((a, b)): f"{a} {marks} {b}" for a, marks, b in one.marked_edges()}
        for one in (before, after)
    )
    changes = {
        "added": [later[pair] for pair in later if pair not in earlier],
        "removed": [earlier[pair] for pair in earlier if pair not in later],
        "direction changed": [
            f"{earlier[pair]} (now {later[pair]})"
            for pair in later
            if pair in earlier and earlier[pair] != later[pair]
        ],
    }
    parts = [f"{verb} {few(edges, PAIRS_SHOWN)}" for verb, edges in changes.items() if edges]
    return f"Changed from {name}: {'; '.join(parts) or 'no edge and no direction'}."
