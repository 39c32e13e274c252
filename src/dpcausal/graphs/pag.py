"""The graph of a search that allows hidden common causes: an edge has a mark at each end.

A partial ancestral graph (PAG) stands for all graphs with hidden nodes that imply the same independences among the
columns. The mark at b of an edge between a and b says what all of them agree on:

- an **arrowhead**: b is not a cause of a;
- a **tail**: b is a cause of a, directly or through others;
- a **circle**: neither holds in all of them.

So ``a -> b``: a causes b. ``a <-> b``: neither causes the other, and a hidden common cause links them. ``a o-> b``: b
does not cause a; a causes b, or a hidden common cause links them, or both. ``a o-o b``: the data decide nothing. In a
result that has chances (``DiscoveryResult.marks``) a mark is one that is likely enough, not one that is sure. A tail at
both ends appears only where rows were selected by what is in the graph; ``dpcausal.discover`` assumes they were not.

Reference: Zhang (2008), "On the completeness of orientation rules for causal discovery in the presence of latent
confounders and selection bias", section 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import product

from dpcausal.core.errors import InputError
from dpcausal.graphs import formats
from dpcausal.graphs.graph import Arrow, Graph, Pair, checked_arrow


class Mark(StrEnum):
    """The end of an edge."""

    TAIL = "-"
    ARROW = ">"
    CIRCLE = "o"


_RANK = {Mark.TAIL: 0, Mark.CIRCLE: 1, Mark.ARROW: 2}
_TEXT = {Mark.TAIL: "", Mark.ARROW: ">", Mark.CIRCLE: "o"}


def marks_text(first: Mark, second: Mark) -> str:
    """Return the marks at both ends of an edge as text, such as ``o->``.

    >>> marks_text(Mark.CIRCLE, Mark.ARROW), marks_text(Mark.TAIL, Mark.ARROW), marks_text(Mark.TAIL, Mark.TAIL)
    ('o->', '->', '-')
    """
    return f"{formats.turned(_TEXT[first])}-{_TEXT[second]}"


_SPELLED = {**{mark: (text,) for mark, text in _TEXT.items()}, Mark.TAIL: ("", "-")}
_MARKS = {
    f"{formats.turned(left)}-{right}": ends
    for ends in product(Mark, Mark)
    for left, right in product(*(_SPELLED[end] for end in ends))
}


def marks_of(text: object) -> tuple[Mark, Mark]:
    """Parse the marks at both ends of an edge such as ``o->``; a tail may be written as a dash.

    >>> marks_of("o->"), marks_of("-->") == marks_of("->"), marks_of("---") == marks_of("-")
    ((<Mark.CIRCLE: 'o'>, <Mark.ARROW: '>'>), True, True)
    """
    if not isinstance(text, str) or text not in _MARKS:
        raise InputError(f"an edge of a PAG is one of ->, <->, o->, o-o, o-, -, not {text!r}")
    return _MARKS[text]


class PAG(Graph):
    """An immutable graph whose edges have a mark at each end: tail, arrowhead or circle.

    It is a ``Graph`` too, for whoever needs less: ``directed`` holds the edges ``a -> b``, ``undirected`` all others.

    Parameters
    ----------
    nodes : iterable of str
        Names; their order is kept.
    edges : iterable of triples, default ()
        ``(a, marks, b)`` with marks such as ``"o->"``, ``"<->"``, ``"o-o"`` or ``"->"``.

    Raises
    ------
    InputError
        As for ``Graph``, and for marks that there are not.

    Examples
    --------
    >>> g = PAG(["a", "b", "c"], [("b", "<-o", "a"), ("b", "<->", "c")])
    >>> g
    PAG(a o-> b, b <-> c)
    >>> g.mark("a", "b"), g.mark("b", "a"), g.bidirected == {frozenset("bc")}
    (<Mark.ARROW: '>'>, <Mark.CIRCLE: 'o'>, True)
    """

    __slots__ = ("_marks",)

    kind = "pag"

    def __init__(self, nodes: Iterable[str], edges: Iterable[Sequence[str]] = ()) -> None:
        names = tuple(nodes) if not isinstance(nodes, str) else nodes
        known = frozenset(names)
        marks: dict[Arrow, Mark] = {}
        for edge in edges:
            if not isinstance(edge, tuple | list) or len(edge) != 3:
                raise InputError(f"an edge of a PAG must be (a, marks, b), not {edge!r}")
            a, b = checked_arrow((edge[0], edge[2]), known)
            at_a, at_b = marks_of(edge[1])
            if (a, b) in marks and (marks[b, a], marks[a, b]) != (at_a, at_b):
                raise InputError(f'two different edges between "{a}" and "{b}"')
            marks[b, a], marks[a, b] = at_a, at_b
        directed = [
            (a, b) for (a, b), mark in marks.items() if mark is Mark.ARROW and marks[b, a] is Mark.TAIL
        ]
        others = {frozenset(ends) for ends in marks} - {frozenset(arrow) for arrow in directed}
        super().__init__(names, directed, others)
        self._marks = marks

    @classmethod
    def of_marks(cls, nodes: Iterable[str], marks: Mapping[Arrow, Mark]) -> PAG:
        """Return the PAG in which ``marks[a, b]`` is the mark at b of the edge a - b."""
        return cls(nodes, [(a, marks_text(marks[b, a], mark), b) for (a, b), mark in marks.items()])

    def mark(self, a: str, b: str) -> Mark:
        """Return the mark at b of the edge a - b; raise ``InputError`` if they are not adjacent."""
        if (self.check(a), self.check(b)) not in self._marks:
            raise InputError(f'no edge between "{a}" and "{b}"')
        return self._marks[a, b]

    @property
    def bidirected(self) -> frozenset[Pair]:
        """Edges ``a <-> b``: neither causes the other, a hidden common cause links them."""
        return self._both(Mark.ARROW)

    @property
    def circles(self) -> frozenset[Pair]:
        """Edges ``a o-o b``, whose marks are undetermined."""
        return self._both(Mark.CIRCLE)

    @property
    def partly_directed(self) -> frozenset[Arrow]:
        """Edges ``a o-> b`` as (a, b): b does not cause a."""
        marks = self._marks
        return frozenset(
            (a, b) for (a, b), mark in marks.items() if mark is Mark.ARROW and marks[b, a] is Mark.CIRCLE
        )

    def _both(self, mark: Mark) -> frozenset[Pair]:
        """Return the edges that have this mark at both ends."""
        marks = self._marks
        return frozenset(frozenset(ends) for ends in marks if marks[ends] is marks[ends[::-1]] is mark)

    def marked_edges(self) -> Iterator[formats.MarkedEdge]:
        """Yield every edge once as ``(a, marks, b)``: tails before circles before heads, else in order of ``nodes``."""
        place = {name: i for i, name in enumerate(self.nodes)}
        ends = []
        for a, b in (tuple(pair) for pair in self.skeleton):
            rank = [
                (_RANK[self._marks[other, one]], place[one], one, other) for one, other in ((a, b), (b, a))
            ]
            ends.append(min(rank)[2:])
        for a, b in sorted(ends, key=lambda pair: (place[pair[0]], place[pair[1]])):
            yield a, marks_text(self._marks[b, a], self._marks[a, b]), b

    def marks(self, a: str, b: str) -> str:
        """Return the edge from a to b as text, such as ``o->`` or ``<->``.

        >>> PAG(["a", "b"], [("a", "o->", "b")]).marks("b", "a")
        '<-o'
        """
        at_b = self.mark(a, b)
        return marks_text(self._marks[b, a], at_b)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            isinstance(other, PAG)
            and frozenset(self.nodes) == frozenset(other.nodes)
            and self._marks == other._marks
        )

    def __hash__(self) -> int:
        return hash((frozenset(self.nodes), frozenset(self._marks.items())))
