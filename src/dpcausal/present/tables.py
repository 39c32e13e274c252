"""The table of edges and the table of pairs, from which terminal, report, files, drawing and paragraph are made.

``EdgeNotes.facts`` has what must be known of an edge, by kind (``EdgeFact``) and in words. ``PairRow`` is one pair of
columns. Nothing else words an edge or a pair by itself.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from dpcausal.data.columns import has_order
from dpcausal.discovery import search as facts
from dpcausal.discovery.evidence import Evidence
from dpcausal.discovery.knowledge import Knowledge, Pair
from dpcausal.discovery.result import HINT as WEAK_HINT
from dpcausal.discovery.result import DiscoveryResult, OpenBecause, OpenWhy, in_order
from dpcausal.discovery.search import OpenReason
from dpcausal.effects.levels import group_names
from dpcausal.graphs.pag import PAG
from dpcausal.present.text import percent

if TYPE_CHECKING:
    from dpcausal.graphs.graph import Graph


MARKS = {  # of an edge of a PAG: its sign, and what it means
    "->": ("→", "a cause, directly or through others"),
    "<->": ("↔", "neither causes the other; they may share a cause that was not measured"),
    "o->": ("∘→", "not a cause the other way round; they may share a cause that was not measured"),
    "o-o": ("∘—∘", "direction not decided; they may share a cause that was not measured"),
    "-": ("—", "rows were selected by their values"),
    "-o": ("—∘", "perhaps rows were selected by their values"),
}
SELECTED = ("-", "-o")  # marks that a search never makes: rows are assumed not to be selected
# of the repeats: between them per cents did not hold on real data, so none is said
SURE, HINT = 0.95, WEAK_HINT
HINTS_MEAN = "found again in less than half of the repeats"
OPEN_MEANS = "could not be decided; there may be an edge or not"
NOTHING_HELD_MEANS = "only shown with nothing held fixed; a third column may explain it"
NONE_TO_HOLD = "no other column seemed linked to both, so nothing was held fixed"
ONE_LEVEL_ONLY = "left out, one level only"


def sign(marks: str) -> str:
    """Return the marks of an edge as one Unicode sign for a table.

    >>> sign("->"), sign("o->")
    ('→', '∘→')
    """
    return MARKS[marks][0] if marks in MARKS else marks


def mark_kinds(graph: Graph) -> list[str]:
    """Return the kinds of marks that a PAG has, in the order of ``MARKS``; empty for other graphs."""
    there = {marks for _, marks, _ in graph.marked_edges()} if isinstance(graph, PAG) else set()
    return [marks for marks in MARKS if marks in there and marks not in SELECTED]


def counted_kinds(graph: Graph, hints: Collection[frozenset[str]] = ()) -> list[str]:
    """Return how many edges of a PAG there are of each kind, weak ``hints`` left out; empty for other graphs.

    >>> counted_kinds(PAG(["a", "b", "c"], [("a", "->", "b"), ("c", "->", "b")]))
    ['2 → (a cause, directly or through others)']
    """
    listed = [marks for a, marks, b in graph.marked_edges() if frozenset((a, b)) not in hints]
    return [
        f"{listed.count(kind)} {sign(kind)} ({MARKS[kind][1].partition(';')[0]})"
        for kind in mark_kinds(graph)
        if kind in listed
    ]


def node_words(graph: Graph, name: str) -> str:
    """Return a node with all its edges as text.

    >>> node_words(PAG(["a", "b", "c"], [("a", "o->", "b"), ("b", "<->", "c")]), "b")
    'b: a ∘→ b; b ↔ c'
    """
    edges = [f"{a} {sign(marks)} {b}" for a, marks, b in graph.marked_edges() if name in (a, b)]
    return f"{name}: {'; '.join(edges) or 'no edges'}"


def pairs_words(result: DiscoveryResult, pairs: Collection[Pair]) -> str:
    """Return pairs as ``a - b, c - d``, in the order of the columns, as edges are listed."""
    return ", ".join(map(" - ".join, in_order(pairs, result.graph.nodes)))


def given_words(columns: int) -> str:
    """Return the largest number of columns held fixed, where larger sets could not be tested.

    >>> given_words(0), given_words(1), given_words(2)
    ('with nothing held fixed', 'with up to 1 column held fixed', 'with up to 2 columns held fixed')
    """
    if not columns:
        return "with nothing held fixed"
    return f"with up to {columns} column{'' if columns == 1 else 's'} held fixed"


def merged_unordered(result: DiscoveryResult) -> list[str]:
    """Return the columns with merged levels whose levels have no order, such as the arms of a trial."""
    known = known_groups(result)
    if not known or result.release is None:
        return []
    schema = result.release.schema
    return [name for name in known if not has_order(schema[name])]


def merged_pair_words(result: DiscoveryResult, pair: Pair) -> str:
    """Return the remark on a pair without an edge whose levels without an order were merged; empty elsewhere."""
    names = [name for name in merged_unordered(result) if name in pair]
    return (
        f"levels of {' and '.join(names)} were merged; differences within a group do not show"
        if names
        else ""
    )


def known_groups(result: DiscoveryResult) -> dict[str, list[str]]:
    """Return the groups of each column with merged levels, where the release has them."""
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


SHARES = {"sure": f"{SURE:.0%} or more", "weaker": "perhaps", "hint": "less than half"}  # by ``grade``


def share_words(part: float) -> str:
    """Return how often an edge is found again, in words.

    >>> share_words(1.0), share_words(0.8), share_words(0.35)
    ('95% or more', 'perhaps', 'less than half')
    """
    return SHARES[grade(part)]


def repeats_words(repeats: int | None) -> str:
    """Return the number of repeats in words."""
    return f"{repeats:,} repeats" if repeats else "repeats"


def grade(part: float) -> str:
    """Return the drawing style for an edge that is found again this often.

    >>> grade(0.95), grade(0.5), grade(0.35)
    ('sure', 'weaker', 'hint')
    """
    return "sure" if part >= SURE else "weaker" if part >= HINT else "hint"


class EdgeFact(StrEnum):
    """What must be known of an edge, with its words; those with braces are filled in for each edge."""

    EDGE_DECLARED = "edge declared"
    DIRECTION_DECLARED = "direction declared"
    CONTRADICTED = "direction contradicted"
    UNDECIDED = "direction not decided"
    MARKED = "{means}"  # what the marks of an edge of a PAG mean
    NOTHING_HELD = "only shown with nothing held fixed"
    TESTED_UP_TO = "only tested {given}"
    HELD_COARSELY = "may come from {columns}, held fixed only by groups of values"
    SHARED_MISSING = "both have a level for missing values and may be linked only by missing together"
    HINT = "a weak hint"


@dataclass(frozen=True)
class EdgeNotes:
    """What is known of edges besides the graph."""

    confidence: Mapping[Pair, float] = field(default_factory=dict)
    known: Knowledge = field(default_factory=Knowledge)
    conflicts: Collection[Pair] = ()
    given_up_to: Mapping[Pair, int] = field(default_factory=dict)
    marks: Mapping[tuple[str, str], str] = field(default_factory=dict)  # of edges of a PAG, as listed
    settled: bool = True  # where test results contradict each other: whether a graph that exists is shown
    undecided: Collection[str] = ()  # columns about which nothing could be decided
    coarse: Mapping[Pair, Sequence[str]] = field(default_factory=dict)  # columns held fixed coarsely, by edge
    nothing_held: Collection[Pair] = ()  # edges about which no column was held fixed
    shared_missing: Collection[Pair] = ()  # edges whose columns both declare a level for missing values

    @classmethod
    def of(cls, result: DiscoveryResult) -> EdgeNotes:
        """Return the notes on the edges of a result.

        Of declared arrows only those count whose edge is there: no other had a say in the directions.
        """
        missing = [note for note in result.notes if isinstance(note, facts.SharedMissing)]
        marked = result.graph.marked_edges() if isinstance(result.graph, PAG) else ()
        return cls(
            confidence=result.found_confidence,
            known=replace(result.known, arrows=result.known.required_arrows(result.graph.skeleton)),
            conflicts=result.contradicted,
            given_up_to=result.given_up_to,
            marks={(a, b): marks for a, marks, b in marked},
            settled=result.settled,
            undecided=result.undecided_columns,
            coarse=result.coarse_edges("held-coarsely"),
            nothing_held=result.nothing_held,
            shared_missing=frozenset(frozenset(pair) for note in missing for pair in note.pairs),
        )

    def declares(self, a: str, b: str) -> bool:
        """Return whether the arrow a -> b is in the graph because it was declared."""
        return (a, b) in self.known.arrows and not self.marks

    def hints(self, pair: Pair) -> bool:
        """Return whether an edge is a weak hint only."""
        return self.confidence.get(pair, 1.0) < HINT

    def facts(self, a: str, b: str, arrow: bool) -> dict[EdgeFact, str]:
        """Return the facts about an edge, by kind and in words; empty for an arrow that the data decide.

        What the marks of a weak hint would mean is not said: neither the edge nor its direction is a finding.

        >>> EdgeNotes(confidence={frozenset("ab"): 0.3}).facts("a", "b", False).values()
        dict_values(['direction not decided', 'a weak hint'])
        """
        pair, marked = frozenset((a, b)), (a, b) in self.marks
        declared = arrow and self.declares(a, b)
        contradicted = pair in self.conflicts and not declared
        meant = marked and not contradicted and not self.hints(pair)
        there = {
            EdgeFact.EDGE_DECLARED: pair in self.known.required,
            EdgeFact.DIRECTION_DECLARED: declared,
            EdgeFact.CONTRADICTED: contradicted,
            EdgeFact.UNDECIDED: not (arrow or marked or contradicted),
            EdgeFact.MARKED: meant,
            EdgeFact.NOTHING_HELD: pair in self.nothing_held,
            EdgeFact.TESTED_UP_TO: pair in self.given_up_to and pair not in self.nothing_held,
            EdgeFact.HELD_COARSELY: pair in self.coarse,
            EdgeFact.SHARED_MISSING: pair in self.shared_missing,
            EdgeFact.HINT: self.hints(pair),
        }
        filled = {
            "means": MARKS[self.marks[a, b]][1] if marked else "",
            "given": given_words(self.given_up_to.get(pair, 0)),
            "columns": " or ".join(self.coarse.get(pair, ())),
        }
        return {fact: str(fact).format(**filled) for fact, holds in there.items() if holds}

    def remark(self, a: str, b: str, arrow: bool) -> str:
        """Return the facts of an edge in words, or that its direction was decided.

        >>> EdgeNotes(known=Knowledge.of(["a", "b"], tiers=[["a"], ["b"]])).remark("a", "b", True)
        'direction declared'
        """
        torn = bool(self.conflicts) and not self.settled
        decided = "direction as the test results say" if torn else "direction decided"
        return "; ".join(self.facts(a, b, arrow).values()) or decided

    def sentence(self, a: str, b: str, arrow: bool) -> str:
        """Return one edge with its remark and how often it is found again, for hovering and screen readers.

        >>> EdgeNotes(confidence={frozenset("ab"): 0.98}).sentence("a", "b", True)
        'a → b: direction decided; edge found again: 95% or more'
        """
        pair = frozenset((a, b))
        arrow = arrow and (pair not in self.conflicts or (a, b) in self.known.arrows)
        text = f"{a} {sign(self.marks.get((a, b), '->' if arrow else '-'))} {b}: {self.remark(a, b, arrow)}"
        if pair not in self.confidence:
            return text
        often = share_words(self.confidence[pair])
        return f"{text}; edge found again: {often}"


def open_sentence(a: str, b: str) -> str:
    """Return an open pair as a sentence.

    >>> open_sentence("a", "b")
    'a and b: open, could not be decided; there may be an edge or not'
    """
    return f"{a} and {b}: open, {OPEN_MEANS}"


YOU_DECLARED = "declared to have no edge"
WHY_OPEN: dict[OpenReason | OpenBecause, str] = {
    OpenBecause.HIDES_MEDIUM: "noise, rare levels or few rows could hide a medium link",
    OpenBecause.NOT_CHOSEN: "not among the pairs that were measured",
    OpenBecause.BEST_GRAPH_LACKS: "a link shows, but the whole graph that fits best has none there",
    OpenBecause.BINS_LEAVE: "what the bins of a number leave could make the link",
    OpenReason.TOO_MANY_CELLS: "too many cells of what is held fixed",
    OpenReason.NOT_MEASURED: "not measured",
    OpenReason.TOO_FEW_ROWS: "too few rows",
    OpenReason.NOISE: "noise",
    OpenReason.NOISE_AND_ROWS: "noise and too few rows",
    OpenReason.WEAK_TEST: "a test that misses even strong links",
}


def open_reason(why: OpenWhy) -> str:
    """Return why a pair stayed open, in a few words; empty where the result does not know.

    >>> open_reason(OpenWhy((OpenReason.NOISE, OpenReason.TOO_FEW_ROWS)))
    'noise or too few rows'
    """
    return " or ".join(WHY_OPEN[reason] for reason in why.reasons)


@dataclass(frozen=True)
class PairRow:
    """What is known of one pair of columns; of an edge, read from ``a`` to ``b``.

    ``state``: found, hint, absent or open. ``marks`` and ``direction`` (declared, data, contradicted, undecided, or
    hints: it rests on weak hints and is not shown) are those of an edge. ``found_again``: the share of repeats.
    ``held_fixed``: the columns held fixed in the question that decided: of an absent pair, what separates it; of an
    edge, what came nearest to that; None where no question decided, or the method released none. ``given_up_to``: of
    an edge, up to how many columns every set could be tested, where not all could. ``least``: of an absent pair, the
    link that would be found in most runs. ``facts``: what must be known of an edge (``EdgeNotes.facts``).
    """

    a: str
    b: str
    state: str
    marks: str = ""
    arrow: bool = False
    direction: str = ""
    chances: tuple[float, float] | None = None  # that a causes b, and b causes a
    found_again: float | None = None
    held_fixed: tuple[str, ...] | None = None
    given_up_to: int | None = None
    least: float | None = None
    evidence: Evidence | None = None
    why_open: OpenWhy | None = None
    declared: bool = False  # that there is no edge
    one_level: bool = False
    facts: Mapping[EdgeFact, str] = field(default_factory=dict)
    merged: str = ""  # that levels without an order were merged, of a pair without an edge

    @property
    def edge(self) -> str:
        """The edge as text, such as ``a -> b``."""
        return f"{self.a} {self.marks} {self.b}"

    @property
    def again(self) -> str:
        """How often an edge is found again, as a range; empty if unknown."""
        return "" if self.found_again is None else share_words(self.found_again)

    @property
    def least_w(self) -> str:
        """The dependence w that would be found in most runs; empty if unknown."""
        if self.least is None:
            return ""
        return f"{self.least:.2g}" if math.isfinite(self.least) else "none"

    @property
    def points(self) -> str:
        """The probability of the edge's direction, or of the likelier one where none is drawn."""
        if self.chances is None or self.direction == "declared":
            return ""
        forward, backward = self.chances
        head = self.b if forward >= backward else self.a
        if self.marks == "<->":
            return percent(1.0 - forward - backward)
        if self.marks in ("o->", "o-o"):
            chance = percent(1.0 - min(forward, backward))
            return chance if self.marks == "o->" else f"{chance} o-> {head}"
        if self.arrow:
            return percent(max(forward, backward))
        other = self.a if head == self.b else self.b  # the rest is the chance that there is no such edge
        return f"{percent(max(forward, backward))} to {head}, {percent(min(forward, backward))} to {other}"

    @property
    def held(self) -> str:
        """What was held fixed when a pair was called absent, or that it was declared absent."""
        if self.declared:
            return YOU_DECLARED
        names = self.held_fixed
        why = "" if names is None else f"given {', '.join(names)}" if names else "nothing held fixed"
        return "; ".join(filter(None, (why, self.merged)))

    @property
    def note(self) -> str:
        """The remark on an edge, the reason why a pair is open, or why a pair has no edge."""
        if self.marks:
            return "; ".join(self.facts.values())
        if self.declared or self.one_level:
            return YOU_DECLARED if self.declared else ONE_LEVEL_ONLY
        reason = "" if self.why_open is None else open_reason(self.why_open)
        if self.why_open is not None and self.why_open.given:
            reason += f" given {', '.join(self.why_open.given)}"
        return "; ".join(filter(None, (reason, self.merged)))


def edge_rows(result: DiscoveryResult) -> list[PairRow]:
    """Return a row for every edge that is shown, as the graph lists them, weak hints last."""
    notes = EdgeNotes.of(result)
    rows = [_edge_row(result, notes, *edge) for edge in result.shown.marked_edges()]
    return sorted(rows, key=lambda row: row.state == "hint")


def pair_rows(result: DiscoveryResult) -> list[PairRow]:
    """Return a row for every pair of columns that was asked about, in the order of the columns."""
    edges = {frozenset((row.a, row.b)): row for row in edge_rows(result)}
    single, left_out = {*result.one_level}, result.known.forbidden
    rows = []
    for a, b in in_order(edges.keys() | result.absent | result.open, result.graph.nodes):
        pair = frozenset((a, b))
        if pair in edges:
            rows.append(edges[pair])
            continue
        is_open = pair in result.open
        rows.append(
            PairRow(
                a,
                b,
                str(result.state(a, b)),
                held_fixed=None if is_open else result.separating.get(pair),
                least=result.detectable.get(pair),
                evidence=result.evidence.get(pair),
                why_open=result.why_open(pair) if is_open else None,
                declared=pair in left_out,
                one_level=bool(pair & single),
                merged=merged_pair_words(result, pair),
            )
        )
    return rows


def _edge_row(result: DiscoveryResult, notes: EdgeNotes, a: str, marks: str, b: str) -> PairRow:
    """Return the row of the table of edges for the edge of a and b."""
    pair, arrow = frozenset((a, b)), marks == "->"
    held: tuple[str, ...] | None = None
    if pair in result.known.required:
        pass  # nothing was asked
    elif pair in result.nothing_held | result.none_to_hold:
        held = ()
    elif pair in result.evidence:
        held = result.evidence[pair].given
    chances = (result.direction[a, b], result.direction[b, a]) if (a, b) in result.direction else None
    if (a, b) in result.marks:
        chances = (1.0 - result.marks[b, a], 1.0 - result.marks[a, b])
    return PairRow(
        a,
        b,
        "hint" if pair in result.hints else "found",
        marks=marks,
        arrow=arrow,
        direction=_direction(result, notes, a, b, marks),
        chances=chances,
        found_again=notes.confidence.get(pair),
        held_fixed=held,
        given_up_to=result.given_up_to.get(pair),
        evidence=result.evidence.get(pair),
        facts=notes.facts(a, b, arrow),
    )


def _direction(result: DiscoveryResult, notes: EdgeNotes, a: str, b: str, marks: str) -> str:
    """Return where a direction comes from, in a word: declared, data, contradicted, ..."""
    if frozenset((a, b)) in result.contradicted:
        return "contradicted"
    tail = bool(notes.marks) and marks == "->"  # of a PAG: an order of time declares the head alone
    if marks in ("->", "o->") and (a, b) in (notes.known.causes if tail else notes.known.arrows):
        return "declared"
    return "undecided" if marks in ("-", "o-o") else "data"


def absent_rows(result: DiscoveryResult) -> list[PairRow]:
    """Return a row for every absent pair; those with a one-level column only if they were declared absent."""
    return [row for row in pair_rows(result) if row.state == "absent" and (row.declared or not row.one_level)]
