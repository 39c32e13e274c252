"""A discovery in words: in brief for the terminal, in full under headings, and what changed since another one.

From the released result alone. An absent pair is never called independent, an arrow never surer than the answers it
rests on, and a pair that could not be decided is called open, never an edge. Where nearly every pair is open, the
first line says so (``Verdict``).

Said in brief and never left to the full words: that hardly anything could be decided and what would help, that
directions are contradicted or rest on no order of time, which links would be missed, and which levels were merged.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING

from dpcausal.core.spelling import spelled
from dpcausal.discovery import search as facts
from dpcausal.discovery.knowledge import Knowledge, declared
from dpcausal.discovery.result import DiscoveryResult, Verdict, in_order
from dpcausal.discovery.search import Classical, ClassicalMoments
from dpcausal.planning.forecast import Reach
from dpcausal.present import tables
from dpcausal.present.notes import (
    MERGED_SHOWN,
    as_sentence,
    groups_words,
    method_words,
    note_words,
    rows_words,
)
from dpcausal.present.statement import cost_lines, counted
from dpcausal.present.statement import summary as statement_summary
from dpcausal.present.tables import (
    HINT,
    NOTHING_HELD_MEANS,
    ONE_LEVEL_ONLY,
    OPEN_MEANS,
    SHOWN_BARE_MEANS,
    EdgeNotes,
    absent_rows,
    edge_rows,
    known_groups,
    merged_unordered,
    open_reason,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from dpcausal.discovery.knowledge import Pair


PLAIN = "-: direction not decided by the data."
OPEN_SHOWN = 6  # open pairs named in a summary
GROUPS_NAMED, GROUP_LETTERS = 4, 60  # columns whose groups are named in a line, and letters of a group
LINE_LETTERS = 300  # letters up to which the groups of all columns are named
UNORDERED_NAMED = (
    8  # the same of columns whose levels have no order (arms, sites): what was merged there is a choice
)
ALONE_SHOWN = 10  # columns without an edge on a line each; more are on one
PUBLISHED = (
    "Published: the graph and these words, and the noisy values where a release is saved (release.json). The promise "
    "covers all of them."
)


def arrow_words(result: DiscoveryResult) -> str:
    """What an arrow means here; less where test results contradict each other."""
    if result.conflicts and not result.settled:
        return f"{fits_words(result)}; elsewhere they contradict each other, so no graph fits all of them"
    return f"{fits_words(result)}; a wrong result can turn it round"


def fits_words(result: DiscoveryResult) -> str:
    """What an arrow means here, in a few words."""
    if result.conflicts and not result.settled:
        return "direction as the test results say"
    return (
        f"the same direction in every graph that fits the test results{' best' if result.conflicts else ''}"
    )


CONTRADICTED_MEANS = (
    "Direction contradicted: some test results say one direction, others the opposite, so none is shown."
)
ON_HINTS_MEANS = (
    "Direction rests on weak hints: without edges that are weak hints it is not decided, so none is shown."
)
GIVEN_MEANS = "Only tested with so many columns held fixed: to hold more fixed might take the edge away."
ALL_DECLARED = "direction as you declared, not from the data"
SOME_DECLARED = "direction as you declared where it says so; elsewhere "
HINT_ARROWS = "An arrow on a weak hint is no finding: neither the edge nor its direction is."


def nothing_held_means(result: DiscoveryResult, pairs: Collection[Pair]) -> str:
    """Return what it means that these links were shown with nothing held fixed, as a clause."""
    return SHOWN_BARE_MEANS if result.asked_given.keys() & pairs else NOTHING_HELD_MEANS


def nothing_held_words(result: DiscoveryResult) -> str:
    """Return what it means that nothing was held fixed about some edges; empty where there are none."""
    if not result.nothing_held:
        return ""
    return "Where nothing was held fixed, the two go together, and a third column may explain it."


def legend(result: DiscoveryResult) -> list[str]:
    """What the marks in the list of edges mean: only those that are there."""
    graph = result.shown
    more = [CONTRADICTED_MEANS] if result.contradicted and graph.kind != "pag" else []
    more += [ON_HINTS_MEANS] if result.on_hints - result.contradicted else []
    more += [GIVEN_MEANS] if result.given_up_to.keys() - result.nothing_held else []
    more += [nothing_held_words(result)] if result.nothing_held else []
    more += [HINT_ARROWS] if result.hints & {frozenset(arrow) for arrow in graph.directed} else []
    if graph.kind == "pag":
        return [*filter(None, [tables.mark_legend(graph)]), *more]
    told = graph.directed & result.known.required_arrows(result.graph.skeleton)
    some = SOME_DECLARED if told else ""
    means = ALL_DECLARED if told == graph.directed else some + arrow_words(result)
    lines = [f"->: {means}."] if graph.directed else []
    if graph.undirected - result.contradicted:
        lines.append(PLAIN)
    return [*([" ".join(lines)] if lines else []), *more]


def column_count(result: DiscoveryResult) -> int:
    """How many columns could have an edge."""
    return len(result.graph.nodes) - len(result.one_level)


def counts_words(result: DiscoveryResult) -> str:
    """How many edges were found, how many of them are weak hints, how many pairs are absent and how many open.

    Pairs that you declared to have no edge are counted apart, and columns with one level not at all.
    """
    hints = len(result.hints)
    found, left = len(result.graph.skeleton) - hints, len(result.open)
    absent = len(result.not_shown)
    edges = f"{found or 'No'} edge{'' if found == 1 else 's'}"
    if hints:
        edges += f"{' and' if found else ', but'} {hints} weak hint{'' if hints == 1 else 's'}"
    pairs = [
        f"{number} pair{'' if number == 1 else 's'} {state}"
        for number, state in ((absent, "absent"), (left, "open"))
    ]
    if declared_out := len(result.declared_absent):
        pairs.append(f"{declared_out} left out, as declared")
    return f"{edges} found among {column_count(result)} columns, {', '.join(pairs)}"


def absent_words(result: DiscoveryResult) -> str:
    """Every absent pair, what was held fixed, and which w would be found; empty where none is absent."""
    rows = absent_rows(result)
    if not rows:
        return ""
    told = []
    for row in rows:
        why = "; ".join(filter(None, (row.held, f"w = {row.least_w}" if row.least_w else "")))
        told.append(f"{row.a} - {row.b}{f' ({why})' if why else ''}")
    power = "" if result.reach is None else f"{result.reach.power:.0%}"
    means = f"; w: found in {power} of cases at best" if any(row.least_w for row in rows) else ""
    return f"Absent pairs (no link shown{means}): {', '.join(told)}."


JOINED_SHOWN = 4  # absent pairs with a path between that a note names


def joined_words(result: DiscoveryResult) -> str:
    """Return how a pair can be absent although the graph draws a path between the two; empty where none is so."""
    found = result.joined_absent
    if not found:
        return ""
    told = ", ".join(f"{a} - {b} (through {c})" for a, b, c in found[:JOINED_SHOWN])
    more = f" and {len(found) - JOINED_SHOWN} more" if len(found) > JOINED_SHOWN else ""
    return (
        f"Absent with nothing held fixed, though the graph has a path between the two: {told}{more}. That is no "
        "contradiction: what passes through another column is weaker than each of its steps, and may be too weak to "
        "show; several paths may cancel out; or that column is a common effect after all."
    )


def why_open_words(result: DiscoveryResult) -> str:
    """Return why pairs are open, by the number of pairs; empty where no pair is, or the result does not know."""
    counted: dict[str, int] = {}
    for pair in result.open:
        reason = open_reason(result.why_open(pair))
        counted[reason] = counted.get(reason, 0) + 1
    counted.pop("", None)
    if len(counted) < 2:
        return "".join(f"Why open: {reason}." for reason in counted)
    told = [
        f"{reason} ({number} pair{'s' * (number > 1)})"
        for reason, number in sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    ]
    return f"Why open: {'; '.join(told)}."


def open_words(result: DiscoveryResult, *, every: bool = False) -> str:
    """The open pairs: the first few and how to list all, or every one; empty where there is none.

    Pairs that touch an edge that was found come first: an open pair there keeps arrows undecided.
    """
    return f"Open ({OPEN_MEANS}): {_open_names(result, every=every)}." if result.open else ""


def _open_names(result: DiscoveryResult, *, every: bool) -> str:
    joined = {name for pair in result.graph.skeleton for name in pair}
    pairs = in_order(result.open, result.graph.nodes)
    named = pairs if every else sorted(pairs, key=lambda pair: -len(joined & {*pair}))[:OPEN_SHOWN]
    rest = len(pairs) - len(named)
    more = f" and {rest} more ({spelled('report.html', 'result.open')} lists all)" if rest else ""
    return ", ".join(" ? ".join(pair) for pair in named) + more


def again_words(result: DiscoveryResult) -> str:
    """What the percentages are, from how many repeats, and from where on one counts."""
    many = f"{result.repeats:,} repeats" if result.repeats else "repeats"
    return (
        f"Found again: in how many of {many}, with another sample and other noise, the edge comes back. It is about "
        "the edge, not its direction, and it is rough, so a range is given: another run draws other noise, and an edge "
        "that is there by chance can come back, too. "
        f"Below {HINT:.0%}: a weak hint, not a finding."
    )


def missing_words(result: DiscoveryResult) -> str:
    """What an absent pair means; empty where none is absent, other than by declaration."""
    if not result.not_shown:
        return ""
    if result.privacy.epsilon is None:
        return "Absent means that no link was shown with this many rows, not that there is none: weak ones are missed."
    best = f" {AT_BEST}" if result.reach is not None and result.reach.pair is not None else ""
    return f"Absent means that no link was shown at this budget, not that there is none: {missed_words(result)}.{best}"


W_MEANS = "w is Cohen's: .1 weak, .3 medium, .5 strong"
AT_BEST = (
    "At best: if the levels of a column, or the groups to which they were merged, are equally common; of merged levels "
    "what groups keep of a link counts, on average."
)


def w_words(w: float) -> str:
    """How strong a dependence of this size is, by the scale of ``W_MEANS``.

    >>> w_words(0.04), w_words(0.1), w_words(0.2), w_words(0.3), w_words(0.6)
    ('very weak', 'weak', 'weak', 'medium', 'strong')
    """
    w = float(f"{w:.2g}")  # as it is shown
    return "very weak" if w < 0.1 else "weak" if w < 0.3 else "medium" if w < 0.5 else "strong"


def missed_words(result: DiscoveryResult) -> str:
    """Return how strong a link between absent pairs is found, and how often, as a clause; by plan, if there is one."""
    if result.reach is None:
        return "weak ones are missed"
    return reach_clause(result.reach, [least.bare for least in result.least_links.values()])


def reach_clause(reach: Reach, pairs: Collection[float | None]) -> str:
    """Return the clause; ``pairs``: the smallest w of each pair that it is about, where the plan knows them.

    >>> reach_clause(Reach(0.8, 0.061, 0.12, 0.061, 0.2), [])
    'one of w = 0.061 (a very weak link; 0.12 for columns with many levels) is found in 80% of cases at best, a weaker \
one less often'
    >>> reach_clause(Reach(0.8, 0.1, 0.3, None, None), [0.12, 0.16, None])
    'one of w = 0.12 to 0.16 (a weak link), depending on the pair, is found in 80% of cases at best, a weaker one less \
often; between 1 pair not even a strong one is'
    >>> reach_clause(Reach(0.8, None, None, None, None), [])
    'even a strong one is found in less than 80% of cases'
    """
    cases = f"{reach.power:.0%} of cases"
    known = [w for w in pairs if w is not None] or ([] if reach.pair is None else [reach.pair])
    if not known:
        return f"even a strong one is found in less than {cases}"
    low, high = f"{min(known):.2g}", f"{max(known):.2g}"
    more, which = "", ""
    if pairs and low != high:
        low, which = f"{low} to {high}", ", depending on the pair,"
    elif not pairs and reach.pair_largest is None:
        more = "; for columns with many levels not even a strong one"
    elif not pairs and reach.pair_largest is not None and reach.pair_largest > NOTABLE * known[0]:
        more = f"; {reach.pair_largest:.2g} for columns with many levels"
    none = sum(w is None for w in pairs)
    silent = f"; between {none} pair{'' if none == 1 else 's'} not even a strong one is" if none else ""
    return (
        f"one of w = {low} (a {w_words(max(known))} link{more}){which} is found in {cases} at best, a weaker one less "
        f"often{silent}"
    )


NOTABLE = 1.3  # from this factor on a second number is worth its room


def tiers_words(result: DiscoveryResult) -> str:
    """That no order of time was declared, where arrows or contradictions could have used one; empty elsewhere."""
    if result.known.tier or not (result.graph.directed - result.known.arrows or result.contradicted):
        return ""
    if result.release is not None:
        when = "Adding one is free"
        how = spelled(
            'dpcausal again DIR --tiers "a,b;c"', 'result.release.discover(tiers=[["a", "b"], ["c"]])'
        )
    else:
        when, how = "Declare it before you pay", spelled('--tiers "a,b;c"', 'tiers=[["a", "b"], ["c"]]')
    return f"No order of time was declared, so an arrow can point back in time. {when}: {how} puts a and b before c."


def free_words(result: DiscoveryResult) -> str:
    """Return which columns are in no tier, where there are tiers; empty elsewhere."""
    free = [name for name in result.graph.nodes if name not in result.known.tier]
    if not result.known.tier or not free:
        return ""
    return f"In no tier, so arrows at them can point back in time: {', '.join(free)}."


def merged_line(result: DiscoveryResult, *, page: bool = False, every: bool = False) -> str:
    """Return which columns had levels merged, and which levels each group holds; empty where none had.

    Columns whose levels have no order come first. The groups of the first few columns, or of all where that is short,
    are named, where they are known; of the others, how many there are, and, other than on a ``page``, what names them.
    ``every`` names all of them.
    """
    notes = [note for note in result.notes if isinstance(note, facts.MergedLevels)]
    columns = [column for note in notes for column in note.columns]
    if not columns:
        return ""
    known, loose = known_groups(result), merged_unordered(result)
    named = [name for name, _ in columns if name in known]
    named.sort(key=lambda name: name not in loose)
    if not every:
        few = max(GROUPS_NAMED, min(len(loose), UNORDERED_NAMED))
        letters = [len(name) + len(_short_groups(known[name])) for name in named]
        named = named if sum(letters) <= LINE_LETTERS else named[:few]
    told = [
        f"{name} to {len(known[name])} groups "
        f"({' | '.join(known[name]) if every else _short_groups(known[name])})"
        for name in named
    ]
    rest = [column for column in columns if column[0] not in named]
    if rest:
        more = (
            f" ({spelled('report.html', 'summary(full=True)')} names their groups)"
            if named and not page
            else ""
        )
        told.append(f"{groups_words(rest, None if every else MERGED_SHOWN)}{more}")
    return f"Levels merged, because of the noise: {'; '.join(told)}."


def _short_groups(groups: Collection[str]) -> str:
    """Groups side by side, each cut where its levels are many.

    >>> _short_groups(["below 40", "40 or more"])
    'below 40 | 40 or more'
    """
    return " | ".join(text if len(text) <= GROUP_LETTERS else f"{text[:GROUP_LETTERS]}…" for text in groups)


def merged_groups(result: DiscoveryResult) -> str:
    """Return which levels were merged to which groups; empty where that is not known."""
    told = [f"{name}: {' | '.join(groups)}" for name, groups in known_groups(result).items()]
    return f"Groups after merging: {'; '.join(told)}." if told else ""


def helps_words(result: DiscoveryResult) -> str:
    """Return what would have decided more, where hardly anything was; empty elsewhere."""
    if result.verdict is Verdict.DECIDED:
        return ""
    lacks = any(isinstance(note, facts.WithoutDelta) for note in result.notes)
    delta = " a delta (1e-6, say)," if lacks else ""
    fewer = result.reach.columns if result.reach is not None else None
    columns = f"fewer columns (about {fewer}, to decide most pairs)" if fewer else "fewer columns"
    more = "more rows" if result.privacy.epsilon is None else f"more rows, a larger epsilon,{delta}"
    text = f"What would help: {more}, fewer levels or {columns}.".replace(",,", ",")
    joint = any(
        isinstance(note, facts.JointTableMeasured) for note in result.notes
    )  # has less noise than pairs with one column
    if result.privacy.epsilon is not None and result.about is None and not joint:
        one = spelled("--target COLUMN", "target=")
        text += f" {one} asks about one column only, with less noise."
    return text


NOISE_TOLD = 0.5  # times the standard deviation of a count by chance: from here on the noise is told in brief


def noise_line(result: DiscoveryResult) -> str:
    """Return the one size of the noise to keep in mind, where it matters: that of a count in a table of two columns."""
    note = next((note for note in result.notes if isinstance(note, facts.CountsMeasured)), None)
    if note is None:
        return ""
    sd, mean = note.sd, note.mean_cell
    target = note.target if isinstance(note, facts.TablesMeasured) else None
    where = "in tables of two columns" if target is None else f"of another column with {target}"
    if mean is not None and sd < NOISE_TOLD * math.sqrt(mean):
        return ""
    held = "" if mean is None else f"; such a count is {rows_words(mean)} rows on average"
    return f"Noise: counts {where} are off by about {rows_words(sd)} rows (standard deviation){held}."


def declared_words(known: Knowledge) -> str:
    """Return what was declared beforehand as one sentence; empty where nothing was.

    >>> declared_words(Knowledge.of(["a", "b", "c"], forbidden=[{"b", "c"}], tiers=[["a"], ["b", "c"]]))
    'You declared: in order of time a, then b, c; forbidden b - c.'
    """
    found = declared(known)
    parts = []
    if "tiers" in found:
        parts.append("in order of time " + ", then ".join(", ".join(tier) for tier in found["tiers"]))
    parts += [f"{kind} {', '.join(found[kind])}" for kind in ("required", "forbidden") if kind in found]
    return f"You declared: {'; '.join(parts)}." if parts else ""


def reach_words(reach: Reach | None) -> str:
    """Return what a budget could show by plan; empty where there is no plan.

    w is Cohen's: sqrt(chi2/n), for two levels the correlation.
    """
    if reach is None:
        return ""
    usual, large, given, large_given = (
        "nothing, however strong" if w is None else f"w = {w:.2g}"
        for w in (reach.pair, reach.pair_largest, reach.triple, reach.triple_largest)
    )
    parts = [f"{usual} between two columns with a middling number of levels"]
    parts += [f"{large} between those with most levels"] if large != usual else []
    if (given, large_given) != (usual, large):
        parts.append(
            f"{given} with one more column held fixed" + (f" ({large_given})" if large_given != given else "")
        )
    return (
        f"What this budget could show, by plan: {', '.join(parts)} is found in {reach.power:.0%} of cases. That is "
        "from public numbers, as if levels were equally common: weaker dependences are missed more often, and stronger "
        f"ones too where a level is rare. {W_MEANS}."
    )


def undecided_words(result: DiscoveryResult) -> str:
    """Return one clause, without a full stop; empty where more than a tenth of the pairs was decided."""
    if result.verdict is Verdict.DECIDED:
        return ""
    limit = "with this many rows" if result.privacy.epsilon is None else "at this budget"
    chosen = any(isinstance(note, facts.ChosenPairs) for note in result.notes)
    little = "Few pairs" if chosen else "Hardly anything"
    much = "Nothing" if result.verdict is Verdict.NOTHING_DECIDED else little
    words = counts_words(result)
    return f"{much} could be decided {limit}: {words[0].lower()}{words[1:]}"


def headline(result: DiscoveryResult) -> str:
    """The line, with the method and why it was taken."""
    return f"{undecided_words(result) or counts_words(result)} ({method_words(result.method, result.why)})"


def lone_clauses(result: DiscoveryResult, alone: Collection[str], most: int) -> list[str]:
    """Columns without an edge: those about which something was decided, and those about which nothing was."""
    silent, single = {*result.undecided_columns}, {*result.one_level}
    found = []
    for told, names in (
        ("no edge found", [name for name in alone if name not in silent | single]),
        ("nothing could be decided about", [name for name in alone if name in silent]),
        (ONE_LEVEL_ONLY, [name for name in alone if name in single]),
    ):
        if names:
            between = " " if names[0] in silent else ": "
            found.append(
                told + between + (", ".join(names) if len(names) <= most else f"{len(names)} columns")
            )
    return found


GOES_TOGETHER = "Goes together with {target}, nothing held fixed (a third column may explain it)"


def answer_line(result: DiscoveryResult) -> str:
    """Return what was found, in one sentence: about the target, where there was one."""
    target = result.target
    if target is None:
        return f"{undecided_words(result) or counts_words(result)} (method {result.method})."
    hints = result.hints
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
    absent, left = len(result.not_shown), len(result.open)
    found = f"Directly linked to {target}: {', '.join(sure)}" if sure else f"No link with {target} was found"
    if together:
        alike = f"{GOES_TOGETHER.format(target=target)}: {', '.join(together)}"
        found = f"{found}; {alike[0].lower()}{alike[1:]}" if sure else alike
    told = f"; weak hints only: {', '.join(weak)}" if weak else ""
    columns = f"{absent} column{'' if absent == 1 else 's'}"
    none = f"; no link shown: {columns}" if absent else ""
    if absent and not (sure or together or weak):
        found, none = f"No link with {target} was found in {columns}", ""
    if declared_out := len(result.declared_absent):
        none += f"; left out, as declared: {declared_out}"
    return f"{found}{told}{none}; open: {left or 'none'} (method {result.method})."


ABSENT_SHOWN = 6  # absent pairs named in a line


def absent_line(result: DiscoveryResult) -> str:
    """Return the absent pairs, that they may have a link, and how strong a one is found; empty where none is absent."""
    pairs = in_order(result.not_shown, result.graph.nodes)
    if not pairs:
        return ""
    target = result.target
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
    if not result.open:
        return "Open: no pair."
    many = counted(len(result.open), "pair")
    return f"Open: {many} could not be decided: {_open_names(result, every=every)}."


NOTHING_WRITTEN = "Nothing was written (--out DIR writes the files)."


def written_words(result: DiscoveryResult, folder: str, *, full: bool) -> str:
    """Return where the files are, and how all the words come free of charge where they were not printed.

    ``folder`` is where a release, if there is one, was written.
    """
    where = f"Written to {folder}: open report.html"
    if full or result.release is None:
        return where
    return f"{where}; for all the words, free: dpcausal again {quote(folder)} --full"


def edge_table(result: DiscoveryResult, heads: Sequence[str] = ()) -> list[str]:
    """Return the table of edges: edge, how often it was found again, and a note, each where there is one."""
    return aligned([(row.edge, row.again, row.note) for row in edge_rows(result)], heads)


def brief_table(result: DiscoveryResult) -> list[str]:
    """Return the table of edges below its heads, and the columns that have none."""
    lines = edge_table(result, ("edge", "found again", "note"))
    alone = [name for name in result.graph.nodes if not result.graph.adjacent(name)]
    if alone and result.target is None:
        lines += [f"  ({words})" for words in lone_clauses(result, alone, ALONE_SHOWN)]
    return lines


def aligned(rows: Sequence[Sequence[str]], heads: Sequence[str] = ()) -> list[str]:
    """Return rows, below their heads, columns that are empty in every row left out.

    >>> aligned([("a -> b", "95% or more", ""), ("b - long", "less than 50%", "")], ("edge", "found again", "note"))
    ['  edge      found again', '  a -> b    95% or more', '  b - long  less than 50%']
    """
    if not rows:
        return []
    kept = [k for k in range(len(rows[0])) if any(row[k] for row in rows)]
    table = [[line[k] for k in kept] for line in ((heads, *rows) if heads else rows)]
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
        *brief_table(result),
        *filter(None, about),
        open_line(result, every=every),
        *cost_lines(result.privacy),
    ]
    if not result.privacy.private:  # nothing else is read first
        lines.insert(0, lines.pop(lines.index(f"NOT PRIVATE: {result.privacy.why_not_private}.")))
    return "\n".join(lines)


def edge_lines(result: DiscoveryResult) -> list[str]:
    """Return every edge on a line, with its confidence where it has one, and a legend."""
    lines = edge_table(result)
    alone = [name for name in result.graph.nodes if not result.graph.adjacent(name)]
    silent, single = {*result.undecided_columns}, {*result.one_level}
    if len(alone) > ALONE_SHOWN:
        lines += [f"  {words}" for words in lone_clauses(result, alone, len(alone))]
    else:
        why = dict.fromkeys(silent, "nothing could be decided") | dict.fromkeys(single, ONE_LEVEL_ONLY)
        lines += [f"  {name} ({why.get(name, 'no edge found')})" for name in alone]
    return [*lines, *legend(result), *([again_words(result)] if result.found_confidence else [])]


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


Edges = Mapping[tuple[str, str], str]
CHANGES_SHOWN = 6  # of a kind, named in a line


def is_pairs(text: str) -> bool:
    """Return whether a text is that of a ``pairs.csv``, by its first line and its quotes.

    >>> is_pairs("a,b,state,marks,direction\\nx,y,found,->,x\\n"), is_pairs("garbage"), is_pairs("")
    (True, False, False)
    """
    return text.startswith("a,b,state,marks") and text.count('"') % 2 == 0


def edges_in(pairs: str) -> dict[tuple[str, str], str]:
    """Return the edges in the text of a ``pairs.csv``: (a, b) and the marks between; none where it is no such file.

    >>> edges_in("a,b,state,marks\\nx,y,found,->\\nx,z,absent,\\n")
    {('x', 'y'): '->'}
    """
    return {
        (row["a"], row["b"]): row["marks"]
        for row in csv.DictReader(io.StringIO(pairs))
        if row.get("a") and row.get("b") and row.get("marks")
    }


def changes_line(before: Edges, after: Edges, name: str) -> str:
    """Return what is different from the graph called ``name``.

    >>> old, new = {("a", "b"): "-", ("c", "d"): "->"}, {("a", "b"): "->", ("b", "d"): "-"}
    >>> changes_line(old, new, "first")
    'Changed from first: appeared b - d; disappeared c -> d; turned a - b (now a -> b).'
    >>> changes_line(old, old, "first")
    'Changed from first: no edge and no direction.'
    """
    earlier, later = (
        {frozenset(pair): (pair, marks) for pair, marks in one.items()} for one in (before, after)
    )
    appeared = [_edge_text(*later[pair]) for pair in later if pair not in earlier]
    gone = [_edge_text(*earlier[pair]) for pair in earlier if pair not in later]
    turned = [
        f"{_edge_text(*earlier[pair])} (now {_edge_text(*later[pair])})"
        for pair in later
        if pair in earlier and earlier[pair] != later[pair]
    ]
    parts = [
        f"{verb} {_few(edges)}"
        for verb, edges in (("appeared", appeared), ("disappeared", gone), ("turned", turned))
        if edges
    ]
    return f"Changed from {name}: {'; '.join(parts) or 'no edge and no direction'}."


def _edge_text(pair: tuple[str, str], marks: str) -> str:
    return f"{pair[0]} {marks} {pair[1]}"


def _few(edges: list[str]) -> str:
    more = len(edges) - CHANGES_SHOWN
    return ", ".join(edges[:CHANGES_SHOWN]) + (f" and {more} more" if more > 0 else "")
