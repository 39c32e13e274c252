"""A discovery in words: what console, report, notebook and files say about a graph is said here, once.

From the released result alone. An absent pair is never called independent, an arrow never surer than the answers it
rests on, and a pair that could not be decided is called open, never an edge. Where nearly every pair is open, the
first line says so (``Verdict``).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcausal.discovery import search as facts
from dpcausal.discovery.discover import METHODS
from dpcausal.discovery.knowledge import Knowledge, declared
from dpcausal.discovery.result import HINT as WEAK_HINT
from dpcausal.discovery.result import DiscoveryResult, Verdict, in_order
from dpcausal.discovery.search import MethodReason, Note, OpenReason
from dpcausal.effects.question import group_names
from dpcausal.planning.designs import Reach
from dpcausal.present import hidden
from dpcausal.present.no_delta import no_delta_words
from dpcausal.present.spelling import spelled

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from dpcausal.discovery.knowledge import Pair
    from dpcausal.discovery.result import DiscoveryResult


def method_words(method: str, why: str) -> str:
    """The method by name, what it does and why it was taken.

    >>> method_words("svt-pc", "as asked")
    'method svt-pc, as asked: every question is compared with a noisy threshold; only edges that it deletes cost'
    >>> method_words("measured", "chosen because 1 of 3 columns holds numbers, not most")
    'method measured, chosen because 1 of 3 columns holds numbers, not most: tables measured once, with noise, answer every question'
    """  # noqa: E501
    does = method_description(method)
    return f"method {method}, {why}" + (f": {does}" if does else "")


def method_description(method: str) -> str:
    """Return what a method does, in its own words; empty where there is no such method."""

    return METHODS[method].description if method in METHODS else ""


SURE, HINT = 0.8, WEAK_HINT  # found again: from SURE on drawn heavily, below HINT told to be a hint only
SUREST = 0.95  # where the last of the ranges begins
HINTS_MEAN = f"found again in less than {HINT:.0%} of repeats"
PLAIN = "-: direction not decided by the data."
OPEN_SHOWN = 6  # open pairs named in a summary
MERGED_SHOWN = 12  # columns with merged levels named in a line
GROUPS_NAMED, GROUP_LETTERS = 4, 60  # columns whose groups are named in a line, and letters of a group
LINE_LETTERS = 300  # letters up to which the groups of all columns are named
UNORDERED_NAMED = (
    8  # the same of columns whose levels have no order (arms, sites): what was merged there is a choice
)
ALONE_SHOWN = 10  # columns without an edge on a line each; more are on one
OPEN_MEANS = "could not be decided; there may be an edge or not"
PUBLISHED = (
    "Published: the graph and these words, and the noisy values where a release is saved (release.json). The promise "
    "covers all of them."
)


def pairs_words(result: DiscoveryResult, pairs: Collection[Pair], between: str = " - ") -> str:
    """``a - b, c - d``, in the order of the columns, as edges are listed."""
    return ", ".join(between.join(pair) for pair in in_order(pairs, result.graph.nodes))


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


def given_words(columns: int) -> str:
    """Up to how many columns were held fixed, where holding more fixed could not be tested.

    >>> given_words(0), given_words(1), given_words(2)
    ('with nothing held fixed', 'with up to 1 column held fixed', 'with up to 2 columns held fixed')
    """
    if not columns:
        return "with nothing held fixed"
    return f"with up to {columns} column{'' if columns == 1 else 's'} held fixed"


def only_tested_words(columns: int) -> str:
    """The same as a remark on an edge.

    >>> only_tested_words(0)
    'only tested with nothing held fixed'
    """
    return f"only tested {given_words(columns)}"


NOTHING_HELD = "nothing was held fixed"
NOTHING_HELD_MEANS = f"{NOTHING_HELD}, so a third column may explain it"
NONE_TO_HOLD = "nothing was held fixed, for no other column seemed linked to both"
SHOWN_BARE = "only shown with nothing held fixed"
SHOWN_BARE_MEANS = f"the link was {SHOWN_BARE}, so a third column may explain it"


CONTRADICTED_MEANS = (
    "Direction contradicted: some test results say one direction, others the opposite, so none is shown."
)
ON_HINTS = "direction rests on weak hints"
ON_HINTS_MEANS = (
    "Direction rests on weak hints: without edges that are weak hints it is not decided, so none is shown."
)
GIVEN_MEANS = "Only tested with so many columns held fixed: to hold more fixed might take the edge away."


ALL_DECLARED = "direction as you declared, not from the data"
SOME_DECLARED = "direction as you declared where it says so; elsewhere "
HINT_ARROWS = "An arrow on a weak hint is no finding: neither the edge nor its direction is."


def asked_given(result: DiscoveryResult) -> dict[Pair, tuple[str, ...]]:
    """Edges of ``nothing_held`` that were asked about with columns held fixed, which decided nothing; these columns."""
    bare = result.nothing_held
    given = {pair: one.given for pair, one in result.evidence.items() if pair in bare}
    return {pair: columns for pair, columns in given.items() if columns}


def nothing_held_means(result: DiscoveryResult, pairs: Collection[Pair]) -> str:
    """Return what it means that these links were shown with nothing held fixed, as a clause."""
    return SHOWN_BARE_MEANS if asked_given(result).keys() & pairs else NOTHING_HELD_MEANS


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
    more += [HINT_ARROWS] if hint_pairs(result) & {frozenset(arrow) for arrow in graph.directed} else []
    if graph.kind == "pag":
        return [*filter(None, [hidden.legend_words(graph)]), *more]
    told = graph.directed & result.known.required_arrows(result.graph.skeleton)
    some = SOME_DECLARED if told else ""
    means = ALL_DECLARED if told == graph.directed else some + arrow_words(result)
    lines = [f"->: {means}."] if graph.directed else []
    if graph.undirected - result.contradicted:
        lines.append(PLAIN)
    return [*([" ".join(lines)] if lines else []), *more]


def hint_pairs(result: DiscoveryResult) -> frozenset[Pair]:
    """Edges that are found again in less than half of the repeats: weak hints, not to be counted with the others."""
    return frozenset(pair for pair, part in result.found_confidence.items() if part < HINT)


ONE_LEVEL_ONLY = "left out, one level only"


def one_level_columns(result: DiscoveryResult) -> list[str]:
    """Columns with one level: they can't depend on anything, and are neither counted nor asked about."""
    return [name for note in result.notes if isinstance(note, facts.OneLevel) for name in note.columns]


def column_count(result: DiscoveryResult) -> int:
    """How many columns could have an edge."""
    return len(result.graph.nodes) - len(one_level_columns(result))


def absent_pairs(result: DiscoveryResult) -> frozenset[Pair]:
    """Pairs that the search calls absent: neither those declared to have no edge, nor those with a one-level column."""
    single = {*one_level_columns(result)}
    return frozenset(pair for pair in result.absent - result.known.left_out if not pair & single)


def left_out_pairs(result: DiscoveryResult) -> frozenset[Pair]:
    """Pairs that were declared to have no edge, so that none was looked for."""
    single = {*one_level_columns(result)}
    return frozenset(pair for pair in result.absent & result.known.left_out if not pair & single)


def counts_words(result: DiscoveryResult) -> str:
    """How many edges were found, how many of them are weak hints, how many pairs are absent and how many open.

    Pairs that you declared to have no edge are counted apart, and columns with one level not at all.
    """
    hints = len(hint_pairs(result))
    found, left = len(result.graph.skeleton) - hints, len(result.open)
    absent = len(absent_pairs(result))
    edges = f"{found or 'No'} edge{'' if found == 1 else 's'}"
    if hints:
        edges += f"{' and' if found else ', but'} {hints} weak hint{'' if hints == 1 else 's'}"
    pairs = [
        f"{number} pair{'' if number == 1 else 's'} {state}"
        for number, state in ((absent, "absent"), (left, "open"))
    ]
    if declared_out := len(left_out_pairs(result)):
        pairs.append(f"{declared_out} left out, as declared")
    return f"{edges} found among {column_count(result)} columns, {', '.join(pairs)}"


def absent_rows(result: DiscoveryResult) -> list[tuple[str, str, str, str]]:
    """Return (column, column, what is held fixed, smallest w) of every absent pair, in the order of the columns.

    Pairs with a column that has one level are left out.
    The last is the w that the plan finds with the power of ``Reach`` between the two; empty where there is no plan.
    """
    place = {name: j for j, name in enumerate(result.graph.nodes)}
    rows = []
    for a, b in in_order(absent_pairs(result) | (result.absent & result.known.left_out), result.graph.nodes):
        given = result.separating.get(frozenset((a, b)))
        if frozenset((a, b)) in result.known.left_out:
            rows.append((a, b, "you declared so", ""))
            continue
        why = "" if given is None else f"given {', '.join(given)}" if given else "nothing held fixed"
        why = "; ".join(filter(None, (why, merged_pair_words(result, frozenset((a, b))))))
        least = ""
        if (reach := planned_reach(result)) is not None:
            w = reach.between(place[a], place[b], [place[name] for name in given or () if name in place])
            least = "none" if w is None else f"{w:.2g}"
        rows.append((a, b, why, least))
    return rows


def absent_words(result: DiscoveryResult) -> str:
    """Every absent pair, what was held fixed, and which w would be found; empty where none is absent."""
    rows = [(f"{a} - {b}", [why] if why else [], least) for a, b, why, least in absent_rows(result)]
    if not rows:
        return ""
    told = ", ".join(
        f"{pair}{f' ({why})' if (why := '; '.join([*said, *([f'w = {least}'] if least else [])])) else ''}"
        for pair, said, least in rows
    )
    power = "" if result.reach is None else f"{result.reach.power:.0%}"
    means = f"; w: found in {power} of cases at best" if any(least for *_, least in rows) else ""
    return f"Absent pairs (no link shown{means}): {told}."


JOINED_SHOWN = 4  # absent pairs with a path between that a note names


def joined_absent(result: DiscoveryResult) -> list[tuple[str, str, str]]:
    """Return (a, b, c) where a and b are absent with nothing held fixed, though the graph has a - c - b, no collider.

    Edges whose direction is contradicted are passed over: c may be a collider there.
    """
    graph, found = result.shown, []
    doubted = result.contradicted | result.on_hints
    near = {
        name: {next(iter(pair - {name})) for pair in graph.skeleton if name in pair} for name in graph.nodes
    }
    for a, b in in_order(absent_pairs(result), graph.nodes):
        if result.separating.get(frozenset((a, b))) != ():
            continue
        for c in graph.nodes:
            heads = [graph.marks(end, c).endswith(">") for end in (a, b) if end in near[c]]
            if len(heads) == 2 and not all(heads) and not {frozenset((a, c)), frozenset((b, c))} & doubted:
                found.append((a, b, c))
                break
    return found


def joined_words(result: DiscoveryResult) -> str:
    """Return how a pair can be absent although the graph draws a path between the two; empty where none is so."""
    found = joined_absent(result)
    if not found:
        return ""
    told = ", ".join(f"{a} - {b} (through {c})" for a, b, c in found[:JOINED_SHOWN])
    more = f" and {len(found) - JOINED_SHOWN} more" if len(found) > JOINED_SHOWN else ""
    return (
        f"Absent with nothing held fixed, though the graph has a path between the two: {told}{more}. That is no "
        "contradiction: what passes through another column is weaker than each of its steps, and may be too weak to "
        "show; several paths may cancel out; or that column is a common effect after all."
    )


HIDES_MEDIUM = "noise, rare levels or few rows could hide a medium link"
NOT_CHOSEN = "not among the pairs that were measured"
LIKE_COLUMNS = "two columns are too much alike to tell to which a link belongs"
BINS_LEAVE = "what the bins of a number leave could make the link"
SHORT_REASONS: dict[OpenReason, str] = {
    OpenReason.TOO_MANY_CELLS: "too many cells",
    OpenReason.NOT_MEASURED: "not measured",
    OpenReason.TOO_FEW_ROWS: "too few rows",
    OpenReason.NOISE: "noise",
    OpenReason.NOISE_AND_ROWS: "noise and too few rows",
    OpenReason.WEAK_TEST: "a test that misses even strong links",
}


def edges_of(result: DiscoveryResult, what: str) -> dict[Pair, tuple[str, ...]]:
    """Return the pairs that notes on coarse edges name, with the columns that they name beside each."""
    notes = [note for note in result.notes if isinstance(note, facts.CoarseEdges) and note.what == what]
    return {frozenset((a, b)): by for note in notes for a, b, by in note.edges}


def open_reason(result: DiscoveryResult, pair: Pair) -> tuple[str, tuple[str, ...]]:
    """Return why a pair stayed open, in a few words, and given which columns; empty where the result does not know.

    Of ``measured`` it is known for each pair: the evidence that was released about it either makes an edge, which the
    bins of a number may have made or which belongs to one of two columns that nobody can tell apart; or it comes from a
    test that could have missed a medium link.
    Of other methods the reasons of all questions without an answer are known, and all are named.
    """
    if result.method != "measured":
        reasons = [
            why for note in result.notes if isinstance(note, facts.Unanswered) for why, _ in note.reasons
        ]
        return " or ".join(SHORT_REASONS[why] for why in reasons), ()
    explained = edges_of(result, "explained-by-bins")
    if pair in explained:
        return BINS_LEAVE, explained[pair]
    said = result.evidence.get(pair)
    tree = any(isinstance(note, facts.ChosenPairs) for note in result.notes)
    if said is None:
        return NOT_CHOSEN if tree else HIDES_MEDIUM, ()
    tables = [note for note in result.notes if isinstance(note, facts.CountsMeasured)]
    enough = min((note.enough for note in tables), default=math.inf)
    by_tables = said.pvalue is not None and said.pvalue <= result.level
    if by_tables or (said.log10_bayes or 0.0) * math.log(10.0) > enough:
        return LIKE_COLUMNS, ()
    return HIDES_MEDIUM, said.given


def why_open_words(result: DiscoveryResult) -> str:
    """Return why pairs are open, by the number of pairs; empty where no pair is, or the result does not know."""
    counted: dict[str, int] = {}
    for pair in result.open:
        reason, _ = open_reason(result, pair)
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
    if not result.open:
        return ""
    joined = {name for pair in result.graph.skeleton for name in pair}
    pairs = in_order(result.open, result.graph.nodes)
    named = pairs if every else sorted(pairs, key=lambda pair: -len(joined & {*pair}))[:OPEN_SHOWN]
    names = ", ".join(" ? ".join(pair) for pair in named)
    rest = len(pairs) - len(named)
    more = f" and {rest} more ({spelled('report.html', 'result.open')} lists all)" if rest else ""
    return f"Open ({OPEN_MEANS}): {names}{more}."


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
    if not absent_pairs(result):
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
    return reach_clause(result.reach, absent_reach(result))


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


def absent_reach(result: DiscoveryResult) -> list[float | None]:
    """The smallest w that the plan finds between the columns of each absent pair, nothing held fixed; may be empty."""
    reach = planned_reach(result)
    if reach is None:
        return []
    place = {name: j for j, name in enumerate(result.graph.nodes)}
    pairs = in_order(absent_pairs(result), result.graph.nodes)
    return [reach.between(place[a], place[b]) for a, b in pairs]


def planned_reach(result: DiscoveryResult) -> Reach | None:
    """The plan's reach where it speaks of every pair of these columns."""
    reach = result.reach
    known = reach is not None and reach.plan and len(reach.plan.sizes) == len(result.graph.nodes)
    return reach if known else None


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
    known, loose = _known_groups(result), merged_unordered(result)
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
        told.append(f"{_groups_words(rest, None if every else MERGED_SHOWN)}{more}")
    return f"Levels merged, because of the noise: {'; '.join(told)}."


def merged_unordered(result: DiscoveryResult) -> list[str]:
    """Return the columns with merged levels whose levels have no order, such as the arms of a trial."""
    known = _known_groups(result)
    if not known or result.release is None:
        return []
    schema = result.release.schema
    return [name for name in known if not getattr(schema[name], "ordered", True)]  # numbers are ordered


def merged_pair_words(result: DiscoveryResult, pair: Pair) -> str:
    """Return the remark on a pair without an edge whose levels without an order were merged; empty elsewhere."""
    names = [name for name in merged_unordered(result) if name in pair]
    if not names:
        return ""
    return f"levels of {' and '.join(names)} were merged: what differs within a group does not show"


def _known_groups(result: DiscoveryResult) -> dict[str, list[str]]:
    """What each group of the columns with merged levels holds, where the release says so."""
    if result.release is None:
        return {}

    schema = result.release.schema
    notes = [note for note in result.notes if isinstance(note, facts.MergedLevels)]
    return {
        name: group_names(schema[name], groups)
        for note in notes
        for name, groups in note.groups
        if name in schema
    }


def _short_groups(groups: Collection[str]) -> str:
    """Groups side by side, each cut where its levels are many.

    >>> _short_groups(["below 40", "40 or more"])
    'below 40 | 40 or more'
    """
    return " | ".join(text if len(text) <= GROUP_LETTERS else f"{text[:GROUP_LETTERS]}…" for text in groups)


def merged_groups(result: DiscoveryResult) -> str:
    """Return which levels were merged to which groups; empty where that is not known."""
    told = [f"{name}: {' | '.join(groups)}" for name, groups in _known_groups(result).items()]
    return f"Groups after merging: {'; '.join(told)}." if told else ""


def _groups_words(columns: Collection[tuple[str, int]], most: int | None = None) -> str:
    """Columns by the number of groups to which their levels were merged; more than ``most`` of a kind are counted only.

    >>> _groups_words([("age", 3), ("site", 2), ("bmi", 3)]), _groups_words([("age", 3), ("bmi", 3)], most=1)
    ('to 2 groups site; to 3 groups age, bmi', 'to 3 groups 2 columns')
    """
    merged: dict[int, list[str]] = {}
    for name, groups in columns:
        merged.setdefault(groups, []).append(name)
    return "; ".join(
        f"to {groups} groups "
        + (f"{len(names)} columns" if most is not None and len(names) > most else ", ".join(names))
        for groups, names in sorted(merged.items())
    )


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


def share_words(part: float) -> str:
    """How often an edge is found again, as a range: one figure promises more than the repeats can keep.

    >>> share_words(1.0), share_words(0.8), share_words(0.5), share_words(0.35)
    ('95% or more', '80% to 95%', '50% to 80%', 'less than 50%')
    """
    if part >= SUREST:
        return f"{SUREST:.0%} or more"
    if part >= SURE:
        return f"{SURE:.0%} to {SUREST:.0%}"
    return f"{HINT:.0%} to {SURE:.0%}" if part >= HINT else f"less than {HINT:.0%}"


def grade(part: float) -> str:
    """How an edge that is found again this often is drawn.

    >>> grade(0.8), grade(0.5), grade(0.35)
    ('sure', 'weaker', 'hint')
    """
    return "sure" if part >= SURE else "weaker" if part >= HINT else "hint"


BY_CALL = {
    "as-asked": "as asked",
    "no-privacy": "chosen because no privacy was asked for",
    "one-target": "chosen because the question is about one column",
    "counts-only": "chosen because there are counts only, no rows",
}

_HELP = "(a larger epsilon would help, or a delta where there is none)"
OPEN_REASONS: dict[OpenReason, str] = {
    OpenReason.TOO_MANY_CELLS: "because there are more conditioning cells than a test can use (fewer levels or bins "
    "would help)",
    OpenReason.NOT_MEASURED: f"because no budget was left for the tables that it takes {_HELP}",
    OpenReason.TOO_FEW_ROWS: "because too few rows differ where the others are fixed, noise or not (more rows or fewer "
    "bins would help)",
    OpenReason.NOISE: f"because noise alone would decide {_HELP}",
    OpenReason.NOISE_AND_ROWS: "because with this many rows and this noise even a perfect dependence would not stand "
    "out",
    OpenReason.WEAK_TEST: "because the test would miss even a strong dependence more often than not (a larger epsilon, "
    "fewer columns or more rows would help)",
}


def reason_words(fact: MethodReason) -> str:
    """Return why a method was used.

    >>> reason_words(facts.MethodByNumbers("not-mostly-numbers", numbers=1, columns=3))
    'chosen because 1 of 3 columns holds numbers, not most'
    """
    match fact:
        case facts.MethodByCall():
            return BY_CALL[fact.why]
        case facts.MethodByNumbers():
            many = fact.numbers or "none"
            held = f"{many} of {fact.columns} columns hold{'s' * (fact.numbers < 2)} numbers"
            match fact.why:
                case "mostly-numbers":
                    return f"chosen because {held}, which is most"
                case "not-mostly-numbers":
                    return f"chosen because {held}{', not most' * (fact.numbers > 0)}"
                case "numbers-in-noise":
                    more = "with this epsilon and this many rows bins show more than correlations"
                    return f"chosen though {held}: {more}"
    raise TypeError(f"no words for {fact!r}")


def _one_level_words(fact: facts.OneLevel) -> str:
    quoted = [f'"{name}"' for name in fact.columns]
    if len(quoted) == 1:
        return f"{quoted[0]} has one level: it can't depend on anything, so it has no edge; leave it out."
    names = f"{', '.join(quoted[:-1])} and {quoted[-1]}"
    return f"{names} have one level: they can't depend on anything, so they have no edge; leave them out."


def _rows_words(rows: float) -> str:
    """Up to three digits that count, whole rows from ten on: the same in the terminal and in the report.

    >>> _rows_words(47.04), _rows_words(1434.2), _rows_words(70.54), _rows_words(4.24)
    ('47', '1,430', '71', '4.2')
    """
    if rows >= 1000:
        return f"{float(f'{rows:.3g}'):,.0f}"
    return f"{rows:.0f}" if rows >= 10 else f"{rows:.2g}"


def _known_words(fact: facts.CountsMeasured) -> str:
    held = ""
    if fact.mean_cell is not None and fact.least_cell is not None:
        mean, least = _rows_words(fact.mean_cell), _rows_words(fact.least_cell)
        more = f", or {least} in the table with most cells" if least != mean else ""
        held = f"; an average cell holds {mean} rows{more}"
    return f"noise of standard deviation {_rows_words(fact.sd)} rows{held}"


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
    held = "" if mean is None else f"; such a count is {_rows_words(mean)} rows on average"
    return f"Noise: counts {where} are off by about {_rows_words(sd)} rows (standard deviation){held}."


def _components_words(fact: facts.TablesMeasured) -> str:
    rows = "the number of rows and " if fact.rows_measured else ""
    more = f", {fact.larger:,} larger" if fact.larger else ""
    sets = fact.larger + fact.singles + fact.pairs
    target = fact.target
    where = "in a table of two columns" if target is None else f"of another column with {target}"
    return (
        f"Measured with {'Gaussian' if fact.gaussian else 'Laplace'} noise: {rows}tables of {sets:,} sets of columns "
        f"({fact.singles:,} single, {fact.pairs:,} pair{'' if fact.pairs == 1 else 's'}{more}); all measurements "
        f"together, a count {where} has {_known_words(fact)}"
    )


def _unanswered_words(fact: facts.Unanswered) -> str:
    total = sum(count for _, count in fact.reasons)
    parts = "; ".join(f"{count:,} {OPEN_REASONS[why]}" for why, count in fact.reasons)
    questions = "question" if total == 1 else "questions"
    return (
        f"{total:,} {questions} could not be answered (such a pair stays open unless other questions decide it): "
        f"{parts}"
    )


MERGING = (
    "Merging can hide part of a dependence. It also holds less fixed: two columns that both depend on a merged one may "
    "seem linked because of it"
)


def _conflicts_words(fact: facts.Conflicts) -> str:
    pairs, against = (", ".join(map(" - ".join, some)) for some in (fact.pairs, fact.declared))
    shown = "circles stand there" if fact.circles else "these edges are shown without a direction"
    if not fact.settled and not fact.circles:
        shown += ", and no graph fits all other directions"
    parts = (
        [f"Some test results contradict each other about directions, at {pairs}: {shown}"] if pairs else []
    )
    parts += (
        [f"Some contradict what you declared, at {against}: shown is what you declared"] if against else []
    )
    return ". ".join(parts)


def _resolution_words(rows: float) -> str:
    """What a search that pays for deletions can keep.

    >>> _resolution_words(24.6)
    'a dependence of more than about 25 rows (observed minus expected) is kept 99 times in 100 it is asked about'
    """
    shown = f"{rows:,.0f}" if rows >= 10 else f"{rows:.1f}"
    return (
        f"a dependence of more than about {shown} rows (observed minus expected) is kept 99 times in 100 it is asked "
        "about"
    )


def _threshold_words(fact: facts.ThresholdUsed) -> str:
    one, many = {
        "deletions": ("deletion of an edge", "deletions of edges"),
        "pairs": ("pair that may be independent", "pairs that may be independent"),
    }[fact.of]
    how = (
        f"a new noisy threshold after every {one}, for up to {fact.most}"
        if fact.renewed
        else f"one noisy threshold for up to {fact.most} {many}"
    )
    on = f", on {fact.rows:,} rows" if fact.rows else ""
    if fact.parts is None:
        return f"{how}{on}; {_resolution_words(fact.resolution)}"
    return (
        f"{how}{on}; each question is tested on {fact.parts:,} parts of the rows, and a dependence that about "
        f"{fact.resolution:,.0f} parts more than expected see is kept 99 times in 100 it is asked about"
    )


def _choices_words(fact: facts.ChoicesMade) -> str:
    kind = {"exponential": "exponential mechanism"}.get(fact.mechanism, fact.mechanism)
    return (
        f"epsilon {fact.epsilon:.3g} for each of up to {fact.choices} choices ({kind}); "
        f"{_resolution_words(fact.resolution)}"
    )


def _classical_words(fact: facts.Classical) -> str:
    several = len(fact.tests) > 1
    first = f"PC with the {', '.join(fact.tests)} test{'s' * several} at level {fact.level:g}."
    if fact.like:
        return f"{first} The private method {fact.like} asks the same questions by the same tests, with noise"
    option = spelled("--option test=auto", "test='auto'")
    return (
        f"{first} Private methods decide by rules of their own, so a graph can differ for that reason, too; to compare "
        f"with the private method tests, which asks the test that suits each question, add {option}"
    )


def coarse_words(columns: Sequence[str]) -> str:
    """Return the remark on an edge that these columns may have made, for they are held fixed by bins or groups only.

    >>> coarse_words(["age", "dose"])
    'may come from age or dose, held fixed only by groups of values'
    """
    return f"may come from {' or '.join(columns)}, held fixed only by groups of values"


SHARED_MISSING = "both have a level for missing values: the link may be that they are missing together"
MOST_COARSE = 6  # such edges that a note names


def _edges_told(fact: facts.CoarseEdges, joined: str) -> str:
    """The first edges of a note, each with the columns beside it, and how many more there are."""
    edges = fact.edges
    told = ", ".join(f"{a} - {b} ({f' {joined} '.join(by)})" for a, b, by in edges[:MOST_COARSE])
    return told + (f" and {len(edges) - MOST_COARSE} more" if len(edges) > MOST_COARSE else "")


def _coarse_words(fact: facts.CoarseEdges) -> str:
    return (
        "A number is held fixed by its bins, and merged levels by their groups. Within a bin two columns may still go "
        "together because both depend on it, and look linked. That may be so, because of the column in brackets, at "
        f"{_edges_told(fact, 'or')}. Finer bins of that column would tell, at the price of more noise"
    )


def _bins_words(fact: facts.CoarseEdges) -> str:
    return (
        f"Open, though the two go together: {_edges_told(fact, 'and')}. A number is held fixed by its bins, and within "
        "a bin two columns that depend on it still go together. How much bins leave was reckoned from the pairs: as "
        "much as was seen given the columns in brackets. The numbers behind the bins were taken as normal after "
        "ranking. Finer bins would tell, at the price of more noise"
    )


MOST_SHARED = 6  # edges of columns with levels for missing values that a note names


def note_words(note: Note) -> str:
    """Return one note on a result, without a full stop where it is a clause."""
    match note:
        case facts.OneLevel():
            return _one_level_words(note)
        case facts.JointTableMeasured():
            return (
                f"One joint table of {note.cells:,} cells was measured with "
                f"{'Gaussian' if note.gaussian else 'Laplace'} noise; a count in a table of two columns has "
                f"{_known_words(note)}"
            )
        case facts.TablesMeasured():
            return _components_words(note)
        case facts.ScoredGraphs():
            return (
                "Whole graphs were scored on the joint table, with its noise in the score, and joined with what pairs "
                f"of columns show; the best one has {note.edges} edge{'' if note.edges == 1 else 's'}, each judged "
                "beside all others"
            )
        case facts.HiddenCauses():
            return hidden.note_words(note)
        case facts.AboutTarget():
            return (
                f"The question was what is directly linked to {note.target}: only pairs with it were decided. Measured "
                f"a second time, with it and with each other: {', '.join(note.near)}"
            )
        case facts.ChosenPairs():
            return (
                f"{note.number} of the {note.of:,} pairs of columns were measured: pairs that join all columns, chosen "
                "at random, likelier where two columns depend more. With so many columns and so much noise this finds "
                "more links than a look at every pair would; pairs that were not chosen are open"
            )
        case facts.MergedLevels():
            return (
                "Levels were merged before tables were measured, because the noise leaves no room for more: "
                f"{_groups_words(note.columns, MERGED_SHOWN)}. {MERGING}"
            )
        case facts.Unanswered():
            return _unanswered_words(note)
        case facts.WithoutDelta():
            return no_delta_words(note.times)
        case facts.Conflicts():
            return _conflicts_words(note)
        case facts.AskedTests():
            return f"Tests: {', '.join(note.tests)}; epsilon {note.epsilon:.3g} for each"
        case facts.Classical():
            return _classical_words(note)
        case facts.ClassicalMoments():
            return (
                f"PC with tests on moments of features ({note.harmonics} harmonics) at level {note.level:g}. The "
                "private method moments asks the same tests with noise, and plans its own number of harmonics"
            )
        case facts.MomentsMeasured():
            return (
                f"{note.features} features of the columns (of a number: its value and {note.waves} pairs of waves); "
                f"sums of their products have noise of standard deviation {note.sd:.3g} rows"
            )
        case facts.ThresholdUsed():
            return _threshold_words(note)
        case facts.EqualWidths():
            return (
                f"Where {', '.join(note.columns)} are held fixed, their numbers are cut into strata of equal width "
                "between the declared bounds. If most rows lie in few strata, as for skewed numbers, part of what they "
                "explain is left, and it can look like an edge: moments and tests cut by privately measured counts"
            )
        case facts.SharedMissing():
            more = f" and {len(note.pairs) - MOST_SHARED} more" if len(note.pairs) > MOST_SHARED else ""
            return (
                "Both columns declare a level for missing values, so that the edge may be there only because values "
                f"are missing in the same rows: {', '.join(map(' - '.join, note.pairs[:MOST_SHARED]))}{more}"
            )
        case facts.CoarseEdges():
            return _coarse_words(note) if note.what == "held-coarsely" else _bins_words(note)
        case facts.ChoicesMade():
            return _choices_words(note)
        case facts.CostsOfTests():
            costs = ", ".join(f"{cost:.3g} given {order}" for order, cost in note.costs)
            return f"Cost of a test ({note.unit}), by number of columns given: {costs}"
    raise TypeError(f"no words for {note!r}")


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


def as_sentence(note: str) -> str:
    """A remark with a capital and a full stop.

    >>> as_sentence("one noisy threshold"), as_sentence("Done.")
    ('One noisy threshold.', 'Done.')
    """
    return note[:1].upper() + note[1:] + ("" if note.endswith(".") else ".")


def undecided_columns(result: DiscoveryResult) -> list[str]:
    """Columns about which nothing was decided: no edge was found at them, and none of their pairs is absent."""
    pairs = result.graph.skeleton | absent_pairs(result)
    decided = {name for pair in pairs for name in pair}
    asked = {name for pair in result.open for name in pair}
    return [name for name in result.graph.nodes if name in asked and name not in decided]


def lone_clauses(result: DiscoveryResult, alone: Collection[str], most: int) -> list[str]:
    """Columns without an edge: those about which something was decided, and those about which nothing was."""
    silent, single = {*undecided_columns(result)}, {*one_level_columns(result)}
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
