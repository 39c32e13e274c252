"""What is said of each edge and of each pair of columns: one row each, from which every text and file is made.

The terminal, the report, the files and the paragraph lay these rows out; none of them words a pair by itself.
``EdgeNotes`` has what may be said of an edge, as a sentence (hovering, screen readers) and as a remark (the table); the
``MARK_`` tables have what the ends of an edge say where causes may be hidden, for someone who knows what a cause is and
has never seen such a graph.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dpcausal.data.columns import has_order
from dpcausal.discovery import search as facts
from dpcausal.discovery.evidence import Evidence
from dpcausal.discovery.knowledge import Knowledge, Pair
from dpcausal.discovery.result import HINT as WEAK_HINT
from dpcausal.discovery.result import DiscoveryResult, LeastLink, OpenBecause, OpenWhy, in_order
from dpcausal.discovery.search import OpenReason, SharedMissing
from dpcausal.effects.question import group_names
from dpcausal.graphs.pag import PAG

if TYPE_CHECKING:
    from dpcausal.graphs.graph import Graph


MARK_SENTENCES = {
    "->": "{a} is a cause of {b}, even if common causes are hidden",
    "<->": "{a} and {b} have a hidden common cause, and neither causes the other",
    "o->": "{b} does not cause {a}; {a} may cause {b}, and a hidden common cause is possible",
    "o-o": "{a} and {b} are linked; either may cause the other, and a hidden common cause is possible",
    "-": "{a} and {b} are linked because rows were selected by their values",
    "-o": "{a} and {b} are linked, perhaps because rows were selected by their values",
}
MARK_REMARKS = {
    "->": "a cause, even if common causes are hidden",
    "<->": "a hidden common cause; neither causes the other",
    "o->": "not the other way round; a hidden common cause is possible",
    "o-o": "direction not decided; a hidden common cause is possible",
    "-": "rows were selected by their values",
    "-o": "perhaps rows were selected by their values",
}
HINT_SENTENCES = {  # of a weak hint nothing is said to be so
    "->": "{a} may be a cause of {b}",
    "<->": "{a} and {b} may have a hidden common cause",
    "o->": "{a} and {b} may be linked, {a} as a cause or by a hidden common cause",
    "o-o": "{a} and {b} may be linked, as cause and effect or by a hidden common cause",
    "-": "{a} and {b} may be linked because rows were selected by their values",
    "-o": "{a} and {b} may be linked, perhaps because rows were selected by their values",
}
HINT_REMARKS = {
    "->": "perhaps a cause",
    "<->": "perhaps a hidden common cause",
    "o->": "perhaps a cause or a hidden common cause",
    "o-o": "direction not decided",
    "-": "perhaps rows were selected by their values",
    "-o": "perhaps rows were selected by their values",
}
MARK_KEYS = {
    "->": "a cause, directly or through others",
    "<->": "a hidden common cause; neither causes the other",
    "o->": "not the other way round: a cause, or a hidden common cause, or both",
    "o-o": "nothing decided: a cause either way round, or a hidden common cause",
}
SIGNS = {"->": "→", "-": "—", "<->": "↔", "o->": "∘→", "o-o": "∘—∘", "-o": "—∘"}
FITS = "in every graph that fits the test results"


def sign(marks: str) -> str:
    """Return the marks of an edge as one sign for a table.

    >>> sign("->"), sign("o->")
    ('→', '∘→')
    """
    return SIGNS.get(marks, marks)


def mark_ends(marks: str, name: str = "graph") -> str:
    """Return the attributes of a line in the key that draw these marks.

    >>> mark_ends("o->")
    ' marker-start="url(#graph-ring)" marker-end="url(#graph-head)"'
    """
    shapes = {"<": "head", ">": "head", "o": "ring"}
    ends = (("start", marks[:1]), ("end", marks[-1:]))
    return "".join(f' marker-{end}="url(#{name}-{shapes[mark]})"' for end, mark in ends if mark in shapes)


def mark_kinds(graph: Graph) -> list[str]:
    """Return the kinds of marks that a PAG has, in the order of ``MARK_KEYS``; empty for other graphs."""
    there = {marks for _, marks, _ in graph.marked_edges()} if isinstance(graph, PAG) else set()
    return [marks for marks in MARK_KEYS if marks in there]


def counted_kinds(graph: Graph, hints: Collection[frozenset[str]] = ()) -> list[str]:
    """Return how many edges of a PAG there are of each kind, as clauses, weak ``hints`` left out; empty for others.

    >>> counted_kinds(PAG(["a", "b", "c"], [("a", "->", "b"), ("b", "o-o", "c")]))
    ['1 as cause and effect', '1 without a decided direction']
    """
    told = {
        "->": "as cause and effect",
        "<->": "by a hidden common cause",
        "o->": "in one direction at most",
        "o-o": "without a decided direction",
    }
    listed = [marks for a, marks, b in graph.marked_edges() if frozenset((a, b)) not in hints]
    return [f"{listed.count(marks)} {told[marks]}" for marks in mark_kinds(graph) if marks in listed]


def mark_legend(graph: Graph) -> str:
    """Return what the marks of a PAG mean, only those that are there; empty for other graphs.

    >>> mark_legend(PAG(["a", "b"], [("a", "<->", "b")]))
    '<->: a hidden common cause; neither causes the other.'
    """
    return " ".join(f"{marks}: {MARK_KEYS[marks]}." for marks in mark_kinds(graph))


def marked_node_words(graph: PAG, name: str) -> str:
    """Return one node with all its edges as a sentence.

    >>> marked_node_words(PAG(["a", "b", "c"], [("a", "o->", "b"), ("b", "<->", "c")]), "b")
    'b: a ∘→ b; b ↔ c'
    """
    edges = [f"{a} {sign(marks)} {b}" for a, marks, b in graph.marked_edges() if name in (a, b)]
    return f"{name}: {'; '.join(edges) or 'no edges'}"


SURE, HINT = 0.8, WEAK_HINT  # found again: from SURE on drawn heavily, below HINT told to be a hint only
SUREST = 0.95  # where the last of the ranges begins
HINTS_MEAN = f"found again in less than {HINT:.0%} of repeats"
OPEN_MEANS = "could not be decided; there may be an edge or not"


def pairs_words(result: DiscoveryResult, pairs: Collection[Pair], between: str = " - ") -> str:
    """``a - b, c - d``, in the order of the columns, as edges are listed."""
    return ", ".join(between.join(pair) for pair in in_order(pairs, result.graph.nodes))


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
ON_HINTS = "direction rests on weak hints"


ONE_LEVEL_ONLY = "left out, one level only"


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
    if not names:
        return ""
    return f"levels of {' and '.join(names)} were merged: what differs within a group does not show"


def known_groups(result: DiscoveryResult) -> dict[str, list[str]]:
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


def coarse_words(columns: Sequence[str]) -> str:
    """Return the remark on an edge that these columns may have made, for they are held fixed by bins or groups only.

    >>> coarse_words(["age", "dose"])
    'may come from age or dose, held fixed only by groups of values'
    """
    return f"may come from {' or '.join(columns)}, held fixed only by groups of values"


SHARED_MISSING = "both have a level for missing values: the link may be that they are missing together"


DECLARED = "direction as you declared"
OPEN = "direction not decided by the data"
CONFLICT = "test results contradict each other about the direction"
WEAKLY = ", a weak hint"
AS_ANSWERED = "direction as the test results say"


def shared_missing(result: DiscoveryResult) -> frozenset[Pair]:
    """Return the edges between columns that both declare a level for missing values, by the schema alone."""
    notes = [note for note in result.notes if isinstance(note, SharedMissing)]
    return frozenset(frozenset(pair) for note in notes for pair in note.pairs)


@dataclass(frozen=True)
class EdgeNotes:
    """What is known of edges besides the graph: confidence, what was declared, contradictions, up to where asked."""

    confidence: Mapping[Pair, float] = field(default_factory=dict)
    known: Knowledge = field(default_factory=Knowledge)
    conflicts: Collection[Pair] = ()
    given_up_to: Mapping[Pair, int] = field(default_factory=dict)
    repeats: int | None = None
    marks: Mapping[tuple[str, str], str] = field(
        default_factory=dict
    )  # of edges of a PAG, as they are listed
    settled: bool = (
        True  # where test results contradict each other: whether the nearest graph that exists is shown
    )
    undecided: Collection[str] = ()  # columns about which nothing could be decided
    on_hints: Collection[Pair] = ()  # edges whose direction rests on weak hints, and is not shown
    coarse: Mapping[Pair, Sequence[str]] = field(
        default_factory=dict
    )  # edges that columns held fixed coarsely may have made
    nothing_held: Collection[Pair] = ()  # edges about which no column was held fixed
    shared_missing: Collection[Pair] = ()  # edges whose columns both declare a level for missing values
    asked_given: Mapping[Pair, Sequence[str]] = field(
        default_factory=dict
    )  # of ``nothing_held``: columns that were held fixed in a question that decided nothing

    @classmethod
    def of(cls, result: DiscoveryResult) -> EdgeNotes:
        """Those of a result; an edge that was required has no confidence, for it is found whatever the data.

        Of declared arrows only those count whose edge is there: no other had a say in the directions.
        """
        known = replace(result.known, arrows=result.known.required_arrows(result.graph.skeleton))
        confidence = {
            pair: part
            for pair, part in (result.confidence or {}).items()
            if pair not in result.known.required
        }
        marks = (
            {(a, b): told for a, told, b in result.graph.marked_edges()} if result.graph.kind == "pag" else {}
        )
        return cls(
            confidence,
            known,
            result.contradicted,
            result.given_up_to,
            result.repeats,
            marks,
            result.settled,
            result.undecided_columns,
            result.on_hints - result.contradicted,
            result.coarse_edges("held-coarsely"),
            result.nothing_held,
            shared_missing(result),
            result.asked_given,
        )

    def declares(self, a: str, b: str) -> bool:
        """Whether the arrow from a to b is there because it was declared; of a PAG nothing is said."""
        return (a, b) in self.known.arrows and not self.marks

    def sentence(self, a: str, b: str, arrow: bool) -> str:
        """One edge as a sentence.

        >>> EdgeNotes().sentence("a", "b", True)
        'a → b in every graph that fits the test results, if no common cause is hidden'
        >>> EdgeNotes(confidence={frozenset("ab"): 0.98}).sentence("a", "b", False).partition("; ")[2]
        'edge found again in 95% or more of repeats (whichever way it points)'
        """
        pair = frozenset((a, b))
        arrow = arrow and (pair not in self.conflicts or (a, b) in self.known.arrows)
        if (a, b) in self.marks:
            words = HINT_SENTENCES if self.hints(pair) else MARK_SENTENCES
            told = words[self.marks[a, b]].format(a=a, b=b)
            hinted = [ON_HINTS] if pair in self.on_hints else []
            text = "; ".join(
                [
                    f"{told}{WEAKLY if self.hints(pair) else f' {self._fits()}'}",
                    *self._declared_edge(pair),
                    *self._contradicted(pair),
                    *hinted,
                ]
            )
        elif arrow and self._plain(a, b) and self.hints(pair):
            text = f"{a} → {b}{WEAKLY}"
        elif arrow and self._plain(a, b):
            text = f"{a} → {b}{'' if self._torn else ' '}{self._fits()}, if no common cause is hidden"
        else:
            verb = "may be" if self.hints(pair) else "are"
            text = f"{a} → {b}, " if arrow else f"{a} and {b} {verb} linked, "
            text += "; ".join([*self._declared_edge(pair), self._direction(a, b, arrow)])
        if pair in self.nothing_held:
            text += f"; {SHOWN_BARE_MEANS if pair in self.asked_given else NOTHING_HELD_MEANS}"
        elif pair in self.given_up_to:
            text += f"; {only_tested_words(self.given_up_to[pair])}: more could not be"
        if pair in self.coarse:
            text += f"; {coarse_words(self.coarse[pair])}"
        if pair in self.shared_missing:
            text += f"; {SHARED_MISSING}"
        if pair in self.confidence:
            many = f"{self.repeats:,} repeats" if self.repeats else "repeats"
            often = share_words(self.confidence[pair])
            text += f"; edge found again in {often} of {many} (whichever way it points)"
        return text

    def remark(self, a: str, b: str, arrow: bool) -> str:
        """The same for a row that shows names, arrow and confidence already.

        >>> EdgeNotes(known=Knowledge.of(["a", "b"], tiers=[["a"], ["b"]])).remark("a", "b", True)
        'direction as you declared'
        """
        told = self.short(a, b, arrow)
        return told or (AS_ANSWERED if self._torn else "direction decided")

    def short(self, a: str, b: str, arrow: bool) -> str:
        """Return what a reader must not miss about an edge, in a few words; empty for a plain arrow.

        >>> EdgeNotes(confidence={frozenset("ab"): 0.3}).short("a", "b", False)
        'direction not decided; a weak hint'
        """
        pair = frozenset((a, b))
        parts = ["edge as you declared"] if pair in self.known.required else []
        if arrow and (a, b) in self.known.arrows and (a, b) not in self.marks:
            parts.append(DECLARED)
        elif pair in self.conflicts:
            parts.append("direction contradicted")
        elif (a, b) in self.marks:
            parts.append(self._mark_remark(a, b))
            parts += [ON_HINTS] if pair in self.on_hints else []
        elif pair in self.on_hints:
            parts.append(ON_HINTS)
        elif not arrow:
            parts.append("direction not decided")
        if pair in self.nothing_held:
            parts.append(SHOWN_BARE if pair in self.asked_given else NOTHING_HELD)
        elif pair in self.given_up_to:
            parts.append(only_tested_words(self.given_up_to[pair]))
        if pair in self.coarse:
            parts.append(coarse_words(self.coarse[pair]))
        if pair in self.shared_missing:
            parts.append(SHARED_MISSING)
        if self.hints(pair):
            parts.append("a weak hint")
        return "; ".join(parts)

    def _mark_remark(self, a: str, b: str) -> str:
        """What the marks of an edge with hidden causes say; of a weak hint, what they may."""
        words = HINT_REMARKS if self.hints(frozenset((a, b))) else MARK_REMARKS
        return words[self.marks[a, b]]

    def _plain(self, a: str, b: str) -> bool:
        """Whether nothing was declared and nothing is contradicted about this edge."""
        return (a, b) not in self.known.arrows and not {frozenset((a, b))} & {
            *self.conflicts,
            *self.known.required,
        }

    def _declared_edge(self, pair: Pair) -> list[str]:
        return ["edge as you declared"] if pair in self.known.required else []

    def _contradicted(self, pair: Pair) -> list[str]:
        return [CONFLICT] if pair in self.conflicts else []

    def _direction(self, a: str, b: str, arrow: bool) -> str:
        if (a, b) in self.marks:
            return "; ".join([self._mark_remark(a, b), *self._contradicted(frozenset((a, b)))])
        if arrow and (a, b) in self.known.arrows:
            return DECLARED
        if frozenset((a, b)) in self.conflicts:
            return CONFLICT
        if not arrow:
            return f"{ON_HINTS}, so none is shown" if frozenset((a, b)) in self.on_hints else OPEN
        if self.hints(frozenset((a, b))):
            return WEAKLY.removeprefix(", ")
        return AS_ANSWERED if self._torn else f"same direction {self._fits()}"

    def hints(self, pair: Pair) -> bool:
        """Whether an edge is a weak hint only."""
        return self.confidence.get(pair, 1.0) < HINT

    @property
    def _torn(self) -> bool:
        """Whether no graph has all the directions shown."""
        return bool(self.conflicts) and not self.settled

    def _fits(self) -> str:
        if self._torn and not self.marks:
            return f", {AS_ANSWERED}"
        best = " best" if self.conflicts and not self.marks else ""
        return f"{FITS}{best}" + (" and agrees with what you declared" if self.known.arrows else "")


def open_sentence(a: str, b: str) -> str:
    """An open pair as a sentence.

    >>> open_sentence("a", "b")
    'a and b: open, could not be decided; there may be an edge or not'
    """
    return f"{a} and {b}: open, {OPEN_MEANS}"


YOU_DECLARED = "you declared so"
WHY_OPEN: dict[OpenReason | OpenBecause, str] = {
    OpenBecause.HIDES_MEDIUM: "noise, rare levels or few rows could hide a medium link",
    OpenBecause.NOT_CHOSEN: "not among the pairs that were measured",
    OpenBecause.LIKE_COLUMNS: "two columns are too much alike to tell to which a link belongs",
    OpenBecause.BINS_LEAVE: "what the bins of a number leave could make the link",
    OpenReason.TOO_MANY_CELLS: "too many cells",
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
    smallest dependences that the plan finds. ``short``: of an edge, what must not be missed about it.
    """

    a: str
    b: str
    state: str
    marks: str = ""
    arrow: bool = False
    direction: str = ""
    found_again: float | None = None
    held_fixed: tuple[str, ...] | None = None
    given_up_to: int | None = None
    least: LeastLink | None = None
    evidence: Evidence | None = None
    why_open: OpenWhy | None = None
    declared: bool = False  # that there is no edge
    one_level: bool = False
    short: str = ""
    merged: str = ""  # that levels without an order were merged, of a pair without an edge

    @property
    def edge(self) -> str:
        """The edge as it is printed: ``a -> b``."""
        return f"{self.a} {self.marks} {self.b}"

    @property
    def again(self) -> str:
        """How often an edge is found again, as a range; empty where that is not known."""
        return "" if self.found_again is None else share_words(self.found_again)

    @property
    def least_w(self) -> str:
        """The smallest w that the plan finds with what separated the pair held fixed; empty where there is no plan."""
        if self.least is None:
            return ""
        return "none" if self.least.given is None else f"{self.least.given:.2g}"

    @property
    def held(self) -> str:
        """What was held fixed when a pair was called absent, or that this was declared, with merged levels."""
        if self.declared:
            return YOU_DECLARED
        names = self.held_fixed
        why = "" if names is None else f"given {', '.join(names)}" if names else "nothing held fixed"
        return "; ".join(filter(None, (why, self.merged)))

    @property
    def note(self) -> str:
        """The remark on an edge, why a pair is open, or why another pair without an edge has none."""
        if self.marks:
            return self.short
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
                least=result.least_links.get(pair),
                evidence=result.evidence.get(pair),
                why_open=result.why_open(pair) if is_open else None,
                declared=pair in left_out,
                one_level=bool(pair & single),
                merged=merged_pair_words(result, pair),
            )
        )
    return rows


def _edge_row(result: DiscoveryResult, notes: EdgeNotes, a: str, marks: str, b: str) -> PairRow:
    pair, arrow = frozenset((a, b)), marks == "->"
    held: tuple[str, ...] | None = None
    if pair in result.known.required:
        pass  # nothing was asked
    elif pair in result.nothing_held | result.none_to_hold:
        held = ()
    elif pair in result.evidence:
        held = result.evidence[pair].given
    return PairRow(
        a,
        b,
        "hint" if pair in result.hints else "found",
        marks=marks,
        arrow=arrow,
        direction=_direction(result, notes, a, b, marks),
        found_again=notes.confidence.get(pair),
        held_fixed=held,
        given_up_to=result.given_up_to.get(pair),
        evidence=result.evidence.get(pair),
        short=notes.short(a, b, arrow),
    )


def _direction(result: DiscoveryResult, notes: EdgeNotes, a: str, b: str, marks: str) -> str:
    """Where a direction comes from, in a word."""
    if frozenset((a, b)) in result.contradicted:
        return "contradicted"
    if frozenset((a, b)) in result.on_hints:
        return "hints"
    if (a, b) in notes.known.arrows and marks == "->":
        return "declared"
    return "undecided" if marks in ("-", "o-o") else "data"


def absent_rows(result: DiscoveryResult) -> list[PairRow]:
    """Return a row for every absent pair; those with a column of one level are left out, unless they were declared."""
    return [row for row in pair_rows(result) if row.state == "absent" and (row.declared or not row.one_level)]
