"""What the edges of a graph with hidden causes say, in words: with circles, heads at both ends, and without.

Written for someone who knows what a cause is and has never seen such a graph.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from dpcausal.discovery.search import HiddenCauses
from dpcausal.graphs.pag import PAG

if TYPE_CHECKING:
    from dpcausal.graphs.graph import Graph

SENTENCES = {
    "->": "{a} is a cause of {b}, even if common causes are hidden",
    "<->": "{a} and {b} have a hidden common cause, and neither causes the other",
    "o->": "{b} does not cause {a}; {a} may cause {b}, and a hidden common cause is possible",
    "o-o": "{a} and {b} are linked; either may cause the other, and a hidden common cause is possible",
    "-": "{a} and {b} are linked because rows were selected by their values",
    "-o": "{a} and {b} are linked, perhaps because rows were selected by their values",
}
REMARKS = {
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
KEYS = {
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


def key_ends(marks: str, name: str = "graph") -> str:
    """Return the attributes of a line in the key that draw these marks.

    >>> key_ends("o->")
    ' marker-start="url(#graph-ring)" marker-end="url(#graph-head)"'
    """
    shapes = {"<": "head", ">": "head", "o": "ring"}
    ends = (("start", marks[:1]), ("end", marks[-1:]))
    return "".join(f' marker-{end}="url(#{name}-{shapes[mark]})"' for end, mark in ends if mark in shapes)


def kinds(graph: Graph) -> list[str]:
    """Return the kinds of marks that a PAG has, in the order of ``KEYS``; empty for other graphs."""
    there = {marks for _, marks, _ in graph.marked_edges()} if isinstance(graph, PAG) else set()
    return [marks for marks in KEYS if marks in there]


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
    return [f"{listed.count(marks)} {told[marks]}" for marks in kinds(graph) if marks in listed]


def legend_words(graph: Graph) -> str:
    """Return what the marks of a PAG mean, only those that are there; empty for other graphs.

    >>> legend_words(PAG(["a", "b"], [("a", "<->", "b")]))
    '<->: a hidden common cause; neither causes the other.'
    """
    return " ".join(f"{marks}: {KEYS[marks]}." for marks in kinds(graph))


def node_words(graph: PAG, name: str) -> str:
    """Return one node with all its edges as a sentence.

    >>> node_words(PAG(["a", "b", "c"], [("a", "o->", "b"), ("b", "<->", "c")]), "b")
    'b: a ∘→ b; b ↔ c'
    """
    edges = [f"{a} {sign(marks)} {b}" for a, marks, b in graph.marked_edges() if name in (a, b)]
    return f"{name}: {'; '.join(edges) or 'no edges'}"


def note_words(fact: HiddenCauses) -> str:
    """Return the note that common causes may be hidden, and how far sets were asked about for that."""
    sets = f"sets of up to {fact.order} columns, {fact.far} of them beyond the neighbours of a column at most"
    asked = "" if fact.order is None else f". For that, further questions were asked, with {sets}"
    return (
        "Common causes may be hidden: an arrowhead says what is no cause, a tail what is a cause, and a circle that "
        f"the data do not decide. Rows are assumed not to have been selected by their values{asked}"
    )
