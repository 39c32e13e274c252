"""What may be said of an edge: as a sentence (hovering, screen readers) and as a remark (the table)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dpcausal.discovery.knowledge import Knowledge, Pair
from dpcausal.discovery.search import SharedMissing
from dpcausal.present import hidden
from dpcausal.present.discovery import (
    HINT,
    NOTHING_HELD,
    NOTHING_HELD_MEANS,
    ON_HINTS,
    OPEN_MEANS,
    SHARED_MISSING,
    SHOWN_BARE,
    SHOWN_BARE_MEANS,
    asked_given,
    coarse_words,
    edges_of,
    only_tested_words,
    share_words,
    undecided_columns,
)

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult

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
            pair: part for pair, part in (result.confidence or {}).items() if pair not in result.known.kept
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
            undecided_columns(result),
            result.on_hints - result.contradicted,
            edges_of(result, "held-coarsely"),
            result.nothing_held,
            shared_missing(result),
            asked_given(result),
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
            words = hidden.HINT_SENTENCES if self.hints(pair) else hidden.SENTENCES
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
        parts = ["edge as you declared"] if pair in self.known.kept else []
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
        words = hidden.HINT_REMARKS if self.hints(frozenset((a, b))) else hidden.REMARKS
        return words[self.marks[a, b]]

    def _plain(self, a: str, b: str) -> bool:
        """Whether nothing was declared and nothing is contradicted about this edge."""
        return (a, b) not in self.known.arrows and not {frozenset((a, b))} & {
            *self.conflicts,
            *self.known.kept,
        }

    def _declared_edge(self, pair: Pair) -> list[str]:
        return ["edge as you declared"] if pair in self.known.kept else []

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
        return f"{hidden.FITS}{best}" + (" and agrees with what you declared" if self.known.arrows else "")


def open_sentence(a: str, b: str) -> str:
    """An open pair as a sentence.

    >>> open_sentence("a", "b")
    'a and b: open, could not be decided; there may be an edge or not'
    """
    return f"{a} and {b}: open, {OPEN_MEANS}"
