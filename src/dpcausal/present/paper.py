"""What a reader of the report needs first, and a writer of a paper last: conclusion, methods, promise, evidence.

Every sentence is made from the released result alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpcausal._version import __version__
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import MissingAs, UncheckedDraft
from dpcausal.data.missing_words import reads_as_missing
from dpcausal.discovery.knowledge import declared
from dpcausal.present import tables
from dpcausal.present.graph_words import (
    W_MEANS,
    column_count,
    merged_line,
    missed_words,
    nothing_held_means,
)
from dpcausal.present.notes import method_description
from dpcausal.present.statement import counted, listed, missing_as_words, odds, unit_words
from dpcausal.present.tables import (
    HINTS_MEAN,
    NONE_TO_HOLD,
    EdgeNotes,
    edge_rows,
    given_words,
    share_words,
    shared_missing,
)

if TYPE_CHECKING:
    from dpcausal.core.statement import PrivacyStatement
    from dpcausal.discovery.knowledge import Pair
    from dpcausal.discovery.result import DiscoveryResult


def limit_of(result: DiscoveryResult) -> str:
    """Return what limited the search."""
    return "with this many rows" if result.privacy.epsilon is None else "at this budget"


MOST_SHARED = 4  # links of columns with levels for missing values that a sentence names


def missing_together_sentences(result: DiscoveryResult) -> list[str]:
    """Return that links join columns which both have a level for missing values, by the schema alone; or nothing."""
    pairs = sorted(" - ".join(sorted(pair)) for pair in shared_missing(result) & result.shown.skeleton)
    if not pairs:
        return []
    named = listed(
        [*pairs[:MOST_SHARED], *([f"{len(pairs) - MOST_SHARED} more"] if pairs[MOST_SHARED:] else [])]
    )
    join, they = ("joins", "it") if len(pairs) == 1 else ("join", "they")
    return [
        f"{named} {join} columns that both have a level for missing values: {they} may show only that values are "
        "missing together."
    ]


def conclusion(result: DiscoveryResult) -> list[str]:
    """Return the finding in a few sentences: what was found, what that may be instead, and what is absent or open."""
    first, *rest = _conclusion(result)
    return [first, *missing_together_sentences(result), *rest]


DIRECTIONS = {  # where a direction comes from -> what is said of so many edges
    "declared": "with a direction that you declared",
    "data": "with a direction decided by the data",
    "contradicted": "with a direction that test results contradict",
    "undecided": "with no direction decided",
    "hints": "with no direction decided",
}


def _conclusion(result: DiscoveryResult) -> list[str]:
    target = result.target
    if target is not None:
        return _about_target(result, target)
    graph, weak = result.shown, result.hints
    absent, left = len(result.not_shown), len(result.open)
    rows = [row for row in edge_rows(result) if row.state != "hint"]  # of weak hints no direction is counted
    hints, firm = len(weak), len(rows)
    bare = result.nothing_held - weak
    loose = len(bare)
    linked = _linked_words(firm - loose, loose, nothing_held_means(result, bare))
    found = f"Among {column_count(result)} columns, {linked}"
    if hints:
        more = f"{hints}{' more' if firm else ''} {'is a weak hint' if hints == 1 else 'are weak hints'}"
        found += f", {'and' if firm else 'but'} {more} ({HINTS_MEAN})"
    of = "; of the links, " if hints else ": "
    if graph.kind == "pag":
        kinds = tables.counted_kinds(graph, weak)
        found += f"{of}{', '.join(kinds)}" if kinds else ""
        return [f"{found}.", *not_found_words(result, "pair", absent, left)]
    by_direction = Counter(DIRECTIONS[row.direction] for row in rows)
    told = [
        f"{by_direction[words]} {words}"
        for words in dict.fromkeys(DIRECTIONS.values())
        if by_direction[words]
    ]
    if len(told) > 1 or (told and hints):
        found += f"{of}{', '.join(told)}"
    elif told and firm > 1:
        found += f", all {told[0].partition(' ')[2]}"
    elif told:
        found += f", {told[0].partition(' ')[2]}"
    return [f"{found}.", *not_found_words(result, "pair", absent, left)]


def _linked_words(linked: int, loose: int, means: str) -> str:
    """How many pairs are linked whatever was held fixed, and how many were asked about with nothing held fixed.

    >>> why = "nothing was held fixed, so a third column may explain it"
    >>> _linked_words(2, 0, why), _linked_words(0, 0, why)
    ('2 pairs are directly linked', 'no pair is directly linked')
    >>> _linked_words(0, 2, why)
    '2 pairs go together (nothing was held fixed, so a third column may explain it)'
    """
    told = f"{counted(linked, 'pair')} {_are(linked)} directly linked"
    if not loose:
        return told
    verb = "goes together" if loose == 1 else "go together"
    if not linked:
        return f"{counted(loose, 'pair')} {verb} ({means})"
    return f"{told}, {loose} more {verb} ({means})"


def not_found_words(result: DiscoveryResult, what: str, absent: int, left: int) -> list[str]:
    """Return a sentence on what is absent, with which links would be missed, and open; none where all is found."""
    if not absent:
        return [f"{counted(left, what).capitalize()} stayed open."] if left else []
    missed = "weak ones are missed" if result.privacy.epsilon is None else missed_words(result)
    told = f"For {counted(absent, what)} no link was shown {limit_of(result)}: {missed}."
    return [told, *([f"{counted(left, what).capitalize()} stayed open."] if left else [])]


def _are(number: int) -> str:
    return "is" if number < 2 else "are"


def _about_target(result: DiscoveryResult, target: str) -> list[str]:
    graph, hints = result.shown, result.hints
    linked = [name for name in graph.nodes if frozenset((name, target)) in graph.skeleton]
    weak = [name for name in linked if frozenset((name, target)) in hints]
    firm = [name for name in linked if name not in weak]  # of weak hints no direction is told
    towards = [name for name in firm if name in graph.parents(target)]
    away = [name for name in firm if name in graph.children(target)]
    torn = [name for name in firm if frozenset((name, target)) in result.contradicted]
    plain = [name for name in firm if name not in (*towards, *away, *torn)]
    parts = []
    if towards:
        parts.append(
            f"{'arrows point' if len(towards) > 1 else 'an arrow points'} to it from {listed(towards)}"
        )
    if away:
        parts.append(f"it points to {listed(away)}")
    if plain:
        parts.append(f"with {listed(plain)} the direction is not decided")
    if torn:
        parts.append(f"with {listed(torn)} test results contradict each other about the direction")
    which = f": {', '.join(parts)}" if parts else ""
    more = f" Only a weak hint ({HINTS_MEAN}): {listed(weak)}." if weak else ""
    loose = [name for name in firm if frozenset((name, target)) in result.nothing_held]
    verb, held = "is directly linked to", ""
    means = nothing_held_means(result, {frozenset((name, target)) for name in loose})
    if loose and len(loose) == len(firm):
        verb, held = "goes together with", f" ({means})"
    elif loose:
        more += f" With {listed(loose)} {means}."
    first = f"{target} {verb} {counted(len(firm), 'column')}{held}{which}.{more}"
    if not linked:
        first = f"No column was shown to be linked to {target}."
    elif not firm:
        first = f"No clear link with {target} was found, only weak hints ({HINTS_MEAN}): {listed(weak)}."
    absent, left = len(result.not_shown), len(result.open)
    return [first, *not_found_words(result, "column", absent, left)]


def promise_in_four(statement: PrivacyStatement) -> list[str]:
    """Return the guarantee in four sentences: what is promised, what that means, for whom, and who keeps count."""
    if statement.epsilon is None or statement.delta is None:
        return [
            f"There is no privacy guarantee: {statement.why_not_private}.",
            "Anything about any row can leak from this page.",
            "Treat it as you treat the data.",
            "Nothing was charged.",
        ]
    but = f", apart from a probability of at most {statement.delta:g} (delta)" if statement.delta else ""
    change = {
        Neighbours.REPLACE_ONE: "Had any one row held other values",
        Neighbours.ADD_REMOVE: "Had any one row been missing, or one more been there",
        Neighbours.FIXED_LABELS: "Had any one row held other values, apart from its public label",
    }[statement.neighbours]
    first = (
        f"{change}, every possible result would have been at most {odds(statement.epsilon)} times as likely, or as "
        f"unlikely (epsilon {statement.epsilon:.4g}){but}."
    )
    second = (
        "That is a weak promise: at such an epsilon or delta a reader may learn a great deal about one person."
        if statement.weak
        else "So whoever reads this learns nearly the same as if any one person's row had been different; what is true "
        "of people in general is not hidden."
    )
    third = f"Protected is {unit_words(statement.unit)}: a person with k rows is protected k times less."
    fourth = (
        f"The cost was charged to the data set {statement.ledger.get('dataset')!r} of a ledger (entry "
        f"{statement.ledger.get('entry')}) before any noise was drawn."
        if statement.ledger
        else "No ledger was charged, so whoever holds the data must add this cost to that of other releases."
    )
    return [first, second, third, fourth]


def methods_paragraph(result: DiscoveryResult, name: str = "") -> str:
    """Return a paragraph for the methods section of a paper; ``name`` of the data set, where it is known."""
    graph, statement, target = result.graph, result.privacy, result.target
    of = f" of the data set {name}" if name else ""
    rows = "" if result.rows is None else f" ({result.rows:,} rows)"
    does = method_description(result.method)
    parts = [
        f"{_we_learned(result, target)} {column_count(result)} columns{of}{rows} with dpcausal {__version__}, method "
        f"{result.method}{f' ({does})' if does else ''}, with tests of level {result.level:g}."
    ]
    if statement.epsilon is None:
        parts.append("The computation was not private: no noise was added.")
    else:
        relation = {
            Neighbours.REPLACE_ONE: "tables are neighbours if they differ in one row",
            Neighbours.ADD_REMOVE: "tables are neighbours if one has one row more",
            Neighbours.FIXED_LABELS: "tables are neighbours if they differ in one row, apart from its public label",
        }[statement.neighbours]
        parts.append(
            f"The release satisfies differential privacy with epsilon = {statement.epsilon:.4g} and delta = "
            f"{statement.delta:g}, where {relation}; columns, levels and bounds were taken from the schema, which "
            "counts as public knowledge."
        )
        if any(isinstance(limit, UncheckedDraft) for limit in statement.limits):
            parts.append("That schema was an unchecked draft, read from the rows.")
        if not statement.private:
            parts.append(f"It is not private, however: {statement.why_not_private}.")
    missing = [fact for fact in statement.public if isinstance(fact, MissingAs)]
    if missing:
        parts.append(_missing_sentence(missing[0].columns))
    parts += missing_together_sentences(result)
    known = declared(result.known)
    if "tiers" in known:
        order = ", then ".join(", ".join(tier) for tier in known["tiers"])
        parts.append(f"The order of time was declared: {order}.")
    if merged := merged_line(result, every=True):
        parts.append(merged)
    kinds = [kind for kind in ("required", "forbidden") if kind in known]
    parts += [f"Edges declared as {kind}: {', '.join(known[kind])}." for kind in kinds]
    if result.found_confidence:
        many = f"{result.repeats:,} repeats" if result.repeats else "repeats"
        parts.append(
            f"Confidence in an edge is the share of {many}, with another sample and other noise drawn as if what was "
            "released were the truth, in which it is found again, whichever way it points."
        )
        hints = len(result.hints)
        if hints:
            parts.append(
                f"{counted(hints, 'edge').capitalize()} with less than half "
                f"{'is reported as a weak hint' if hints == 1 else 'are reported as weak hints'} only."
            )
    if loose := len(result.nothing_held):
        every = loose == len(graph.skeleton - result.known.required)
        of = "each edge" if every else f"{loose} of {counted(len(graph.skeleton), 'edge')}"
        parts.append(f"For {of} {nothing_held_means(result, result.nothing_held)}.")
    if free := len(result.none_to_hold):
        of = f"{free} more" if loose else f"{free} of {counted(len(graph.skeleton), 'edge')}"
        parts.append(f"For {of} {NONE_TO_HOLD}.")
    if graph.kind == "pag":
        parts.append("Edges are those of a partial ancestral graph: common causes may be hidden.")
    else:
        parts += _direction_sentences(result)
    if result.not_shown:
        missed = "weak ones are missed" if statement.epsilon is None else missed_words(result)
        w = f" ({W_MEANS})" if result.reach is not None and result.reach.pair is not None else ""
        parts.append(f"Pairs without an edge are those for which no link was shown: {missed}{w}.")
    if result.open:
        parts.append(
            f"Pairs that could not be decided ({len(result.open)}) are reported as open, not as absent."
        )
    return " ".join(parts)


def _we_learned(result: DiscoveryResult, target: str | None) -> str:
    """Return what was learned, no more than the data decided: a graph needs a direction or something held fixed."""
    declared_arrows = result.known.required_arrows(result.graph.skeleton)
    directed = bool(result.shown.directed - declared_arrows) or result.graph.kind == "pag"
    if directed or any(order for order, asked in result.asked.items() if asked):
        what = "a causal graph" if target is None else f"the direct links of {target}"
        return f"We learned {what} over"
    which = (
        "pairs of columns for dependence" if target is None else f"which columns go together with {target}"
    )
    return f"We screened {which}, nothing held fixed, among"


def _missing_sentence(columns: Sequence[tuple[str, Any, bool, bool]]) -> str:
    """Return what missing values became, of columns that declare a value, level or bin for them."""
    named = [one for one in columns if one[2] or reads_as_missing(str(one[1]))]
    first = "Missing values, and values that the schema does not list, took the value that it names for them"
    rest = ", and in other columns its entry `other`" if len(named) < len(columns) else ""
    return f"{first}: {missing_as_words(named)}{rest}." if named else f"{first} (its entry `other`)."


def _direction_sentences(result: DiscoveryResult) -> list[str]:
    """What the arrows of this very graph are, and which edges have none because results contradict each other."""
    torn, total = len(result.contradicted), len(result.graph.skeleton)
    told = []
    if torn:
        told.append(
            f"For {torn} of {counted(total, 'edge')} the test results contradicted each other about the direction, so "
            "none is shown."
        )
    if result.shown.directed:
        fit = f"the test results{' best' if result.conflicts else ''}"
        knowledge = " and the declared knowledge" if result.known.arrows else ""
        whatever = ", whether open pairs are edges or not" if result.open else ""
        told.append(
            f"Arrows point as the test results say{' or as declared' if knowledge else ''}; no graph fits all of them."
            if result.conflicts and not result.settled
            else f"An arrow is shown where all graphs that fit {fit}{knowledge} agree on it{whatever}, assuming no "
            "hidden common cause and faithfulness."
        )
    return told


def evidence(result: DiscoveryResult, marks: EdgeNotes, a: str, b: str, arrow: bool) -> list[str]:
    """Return what an edge rests on, a sentence each: for whoever opens its row."""
    pair = frozenset((a, b))
    lines = [f"{marks.sentence(a, b, arrow).partition('; ')[0]}."]
    if pair in result.known.required:
        lines.append("You declared this edge: the data had no say in whether it is there.")
    elif marks.hints(pair):
        many = f"{result.repeats:,} repeats" if result.repeats else "repeats"
        often = share_words(marks.confidence[pair])
        return [
            *lines,
            f"A weak hint, not a finding: it was found again in {often} of {many}.",
            *_torn(marks, pair),
        ]
    elif pair in result.nothing_held:
        lines.append(f"The two go together; {nothing_held_means(result, {pair})}.")
        if given := marks.asked_given.get(pair):
            lines.append(f"With {listed(given)} held fixed it could not be decided.")
    elif pair in result.none_to_hold:
        lines.append(f"The two depend on each other; {NONE_TO_HOLD}.")
    elif pair in result.given_up_to:
        told = given_words(result.given_up_to[pair])
        lines.append(f"The two depend on each other {told}; holding more fixed could not be tested.")
    else:
        near = result.evidence[pair].given if pair in result.evidence else ()
        named = f"; {listed(near)} came nearest to explaining it, and did not" if near else ""
        lines.append(f"The two depend on each other, whichever columns the search held fixed{named}.")
    if pair in marks.confidence:
        many = f"{result.repeats:,} repeats" if result.repeats else "repeats"
        lines.append(f"It was found again in {share_words(marks.confidence[pair])} of {many}.")
    return [*lines, *_torn(marks, pair)]


def _torn(marks: EdgeNotes, pair: Pair) -> list[str]:
    told = "Some test results say one direction, others the opposite: none is shown."
    return [told] if pair in marks.conflicts else []
