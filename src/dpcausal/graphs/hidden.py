"""From a skeleton and separating sets to a PAG: what is known of causes where common causes may be hidden.

All ends start as circles. ``a *-* b`` is an edge with any marks. For every open triple a *-* c *-* b (a and b not
adjacent): ``a *-> c <-* b`` if c is not in the sets that separate a and b (R0). Then, until nothing changes [1]:

    R1   a *-> b o-* c,  a, c not adjacent                                     b -> c
    R2   a -> b *-> c  or  a *-> b -> c,  a *-o c                              a *-> c
    R3   a *-> b <-* c,  a *-o d o-* c,  a, c not adjacent,  d *-o b           d *-> b
    R4   a discriminating path t, ..., a, b, c for b,  b o-* c:
         b in the sets that separate t and c                                   b -> c
         else                                                                  a <-> b <-> c
    R8   a -> b -> c,  a o-> c                                                 a -> c
    R9   a o-> c, an uncovered path a, b, ..., c that can be directed,
         b, c not adjacent                                                     a -> c
    R10  a o-> c,  b -> c <- d, uncovered paths from a to b and to d that can be directed,
         whose first nodes differ and are not adjacent                         a -> c

A path is uncovered if no two nodes that are two steps apart are adjacent. It can be directed if no step points back. On
a discriminating path every node between t and b is a collider and a cause of c, and t and c are not adjacent.

**Selection.** R5 to R7 of [1] give edges a tail at both ends, which mean that rows were selected by their values. They
are left out: rows are assumed not to be. Without selection they never apply, and the others are complete (a test lists
all graphs on four nodes, and many on five, and compares every mark).

**Possible edges.** About the pairs in ``possible`` nothing is known: "not adjacent" above means separated by evidence,
neither adjacent nor possible. Every step rests on what separates a pair that is surely not adjacent, and on a cause
being no effect of its effect; so a mark is right whichever possible edges are there.

**What is known.** An order of time says that b does not cause a: an arrowhead at b, and nothing about a, for a hidden
cause of both may be older (``heads``). A declared arrow says more: a tail at a as well (``arrows``). The rules stay
sound with both. With an order of time they are complete too [2]; with declared arrows others might follow.

**Conflicts.** Answers on finite or noisy data can contradict each other. A round gathers all claims first, so no order
of nodes matters; an end claimed as a tail and as a head stays a circle, and what is known wins. An arrowhead at a node
that causes the other end, over a path of arrows, becomes a circle. These edges are returned, with those where circles
alone contradict each other (a cycle without chords).

**Cost.** A round costs O(edges x degree^2), and a search for paths for every ``o->``.

References: [1] Zhang (2008), "On the completeness of orientation rules for causal discovery in the presence of latent
confounders and selection bias", rules R0 to R10; [2] Andrews, Spirtes & Cooper (2020), "On the completeness of causal
discovery in the presence of latent confounding with tiered background knowledge".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from dpcausal.core.errors import InputError
from dpcausal.graphs.graph import Arrow, Graph, Pair, checked_arrow
from dpcausal.graphs.pag import PAG, Mark

CIRCLE, ARROW, TAIL = Mark.CIRCLE, Mark.ARROW, Mark.TAIL
Claim = tuple[Arrow, Mark]  # ((a, b), mark): the mark at b of the edge between a and b


def orient_pag(
    skeleton: Graph,
    separating: Mapping[Pair, Collection[str]],
    *,
    arrows: Iterable[Arrow] = (),
    heads: Iterable[Arrow] = (),
    possible: Collection[Pair] = frozenset(),
) -> tuple[PAG, frozenset[Pair]]:
    """Return the PAG of a skeleton, and the edges on which answers contradict each other.

    Parameters
    ----------
    skeleton : Graph
        Its edges; directions are ignored.
    separating : mapping
        For pairs that are not adjacent: what separates them. Pairs without an entry give no collider.
    arrows : iterable of (a, b)
        Edges known to be a -> b. They must be in the skeleton, else ``InputError``.
    heads : iterable of (a, b)
        Pairs of which it is known that b does not cause a; those that are no edge count for nothing.
    possible : collection of pairs
        Pairs that may be adjacent or not.

    Examples
    --------
    >>> g = Graph(["a", "b", "c", "d"], undirected=[("a", "c"), ("b", "c"), ("c", "d")])
    >>> none, by_c = (), ("c",)
    >>> orient_pag(g, {frozenset("ab"): none, frozenset("ad"): by_c, frozenset("bd"): by_c})[0]
    PAG(a o-> c, b o-> c, c -> d)
    """
    known: dict[Arrow, Mark] = {}
    for a, b in sorted(checked_arrow(arrow, skeleton.nodes) for arrow in arrows):
        if b not in skeleton.adjacent(a):
            raise InputError(f'the required arrow "{a}" -> "{b}" is not an edge of the skeleton')
        known |= {(a, b): ARROW, (b, a): TAIL}
    for a, b in heads:
        if b in skeleton.adjacent(a):
            known.setdefault((a, b), ARROW)
    ends = _Ends.of(skeleton, separating, frozenset(possible), known)
    ends.apply(_colliders(ends))
    while ends.apply(_claims(ends)):
        pass
    ends.undo_cycles()
    return PAG.of_marks(skeleton.nodes, ends.mark), frozenset(ends.conflicts | ends.cycles_of_circles())


def possible_d_sep(
    skeleton: Graph, separating: Mapping[Pair, Collection[str]], possible: Collection[Pair] = frozenset()
) -> dict[str, set[str]]:
    """Return for every node those that a set separating it from a neighbour may need (Spirtes et al., section 6.7).

    v is one of x's where a path leads from x to v on which every node between is a collider, or its two neighbours on
    the path are adjacent (possibly adjacent counts). Colliders are read off with R0 alone.

    >>> g = Graph(["a", "b", "c", "d"], undirected=[("a", "b"), ("b", "c"), ("c", "d")])
    >>> sets = {frozenset("ac"): (), frozenset("bd"): (), frozenset("ad"): ()}
    >>> sorted(possible_d_sep(g, sets)["a"]), sorted(possible_d_sep(g, {**sets, frozenset("ac"): ("b",)})["a"])
    (['b', 'c', 'd'], ['b'])
    """
    ends = _Ends.of(skeleton, separating, frozenset(possible), {})
    ends.apply(_colliders(ends))
    found: dict[str, set[str]] = {}
    for x in skeleton.nodes:
        steps = {(x, v) for v in ends.near[x]}
        waiting = list(steps)
        while waiting:
            u, w = waiting.pop()
            for v in ends.near[w] - {u, x}:
                collider = ends.mark[u, w] is ARROW and ends.mark[v, w] is ARROW
                beside = v in ends.near[u] or frozenset((u, v)) in ends.possible
                if (collider or beside) and (w, v) not in steps:
                    steps.add((w, v))
                    waiting.append((w, v))
        found[x] = {v for _, v in steps}
    return found


@dataclass
class _Ends:
    """The marks as they are now: ``mark[a, b]`` is the mark at b of the edge between a and b."""

    nodes: tuple[str, ...]
    near: dict[str, frozenset[str]]
    separating: Mapping[Pair, Collection[str]]
    possible: frozenset[Pair]
    known: Mapping[Arrow, Mark]
    mark: dict[Arrow, Mark]
    conflicts: set[Pair] = field(default_factory=set)

    @classmethod
    def of(
        cls,
        skeleton: Graph,
        separating: Mapping[Pair, Collection[str]],
        possible: frozenset[Pair],
        known: Mapping[Arrow, Mark],
    ) -> _Ends:
        """Return the edge ends of a skeleton: circles, except known marks."""
        near = {name: skeleton.adjacent(name) for name in skeleton.nodes}
        mark = {(a, b): known.get((a, b), CIRCLE) for a in near for b in near[a]}
        return cls(skeleton.nodes, near, separating, possible, known, mark)

    def apart(self, a: str, b: str) -> bool:
        """Return whether evidence separates a and b: surely not adjacent."""
        pair = frozenset((a, b))
        return a != b and b not in self.near[a] and pair in self.separating and pair not in self.possible

    def arrow(self, a: str, b: str) -> bool:
        """Return whether the edge is a -> b."""
        return self.mark.get((a, b)) is ARROW and self.mark[b, a] is TAIL

    def parents(self, b: str) -> set[str]:
        """Return the parents of b: every a with a -> b."""
        return {a for a in self.near[b] if self.arrow(a, b)}

    def forward(self, a: str, b: str) -> bool:
        """Return whether the edge may be a -> b: no head at a, no tail at b."""
        return self.mark[b, a] is not ARROW and self.mark[a, b] is not TAIL

    def apply(self, claims: Iterable[Claim]) -> bool:
        """Set the circles for which all claims agree; return whether any was set."""
        wanted: dict[Arrow, set[Mark]] = {}
        for end, mark in claims:
            wanted.setdefault(end, set()).add(mark)
        for end, marks in wanted.items():
            if len(marks) > 1 or self.mark[end] not in (CIRCLE, *marks):
                self.conflicts.add(frozenset(end))
        new = {
            end: next(iter(marks))
            for end, marks in wanted.items()
            if self.mark[end] is CIRCLE and frozenset(end) not in self.conflicts
        }
        self.mark.update(new)
        return bool(new)

    def undo_cycles(self) -> None:
        """Turn heads that would close a directed cycle back into circles, unless they are known."""
        arrows = Graph(self.nodes, [end for end in self.mark if self.arrow(*end)])
        causes = {name: arrows.ancestors([name]) for name in self.nodes}
        for a, b in [end for end, mark in self.mark.items() if mark is ARROW and end[1] in causes[end[0]]]:
            self.conflicts.add(frozenset((a, b)))
            for end in ((a, b), (b, a)):
                self.mark[end] = self.known.get(end, CIRCLE)

    def cycles_of_circles(self) -> frozenset[Pair]:
        """Return the o-o edges on chordless cycles: no orientation of them avoids a new collider.

        A node whose neighbours may all be adjacent to each other lies on none, and is taken out; what is left does.
        """
        near = {
            a: {b for b in self.near[a] if self.mark[a, b] is CIRCLE is self.mark[b, a]} for a in self.nodes
        }
        waiting = list(self.nodes)
        while waiting:
            a = waiting.pop()
            if near[a] and not any(self.apart(b, c) for b, c in combinations(near[a], 2)):
                for b in near[a]:
                    near[b].discard(a)
                waiting += near[a]
                near[a] = set()
        return frozenset(frozenset((a, b)) for a in self.nodes for b in near[a]) - self.conflicts


def _colliders(ends: _Ends) -> Iterator[Claim]:
    """Yield the arrowheads of R0: open triples whose middle is not in the separating set are colliders."""
    for c in ends.nodes:
        for a, b in combinations(ends.near[c], 2):
            if ends.apart(a, b) and c not in ends.separating[frozenset((a, b))]:
                yield (a, c), ARROW
                yield (b, c), ARROW


def _claims(ends: _Ends) -> list[Claim]:
    """Return the marks that the orientation rules propose for every circle of the present graph."""
    found: list[Claim] = []
    for (a, b), mark in ends.mark.items():
        if mark is CIRCLE:
            found += [((a, b), claimed) for claimed in _local(ends, a, b)]
            found += _discriminated(ends, b, a)
            if ends.mark[b, a] is ARROW and _must_cause(ends, b, a):
                found.append(((a, b), TAIL))
    # a cause is no effect of its effect, and without selection an edge has a head
    return found + [(end[::-1], ARROW) for end, claimed in found if claimed is TAIL]


def _local(ends: _Ends, a: str, b: str) -> Iterator[Mark]:
    """Yield the marks that rules R1 to R3 propose for the circle at b of the edge a - b."""
    mark = ends.mark
    if any(mark[c, b] is ARROW and ends.apart(c, a) for c in ends.near[b] - {a}):  # R1: c *-> b o-* a
        yield TAIL
    between = ends.near[a] & ends.near[b]
    if any(
        mark[a, c] is ARROW and mark[c, b] is ARROW and (mark[c, a] is TAIL or mark[b, c] is TAIL)
        for c in between
    ):  # R2: a -> c *-> b or a *-> c -> b
        yield ARROW
    sides = [c for c in between if mark[c, b] is ARROW and mark[c, a] is CIRCLE]
    if any(ends.apart(c, d) for c, d in combinations(sides, 2)):  # R3: c *-> b <-* d, c *-o a o-* d
        yield ARROW


def _discriminated(ends: _Ends, b: str, c: str) -> Iterator[Claim]:
    """Yield the marks that rule R4 (discriminating paths) proposes for the circle at b of the edge b - c."""
    mark = ends.mark
    for a in ends.near[b] & ends.near[c]:
        if not (ends.arrow(a, c) and mark[b, a] is ARROW):
            continue
        seen, waiting = {a, b, c}, [a]
        while waiting:
            v = waiting.pop()
            for t in ends.near[v] - seen:
                if mark[t, v] is not ARROW:
                    continue
                if ends.apart(t, c):
                    if b in ends.separating[frozenset((t, c))]:
                        yield (c, b), TAIL
                    else:
                        yield from (((a, b), ARROW), ((c, b), ARROW), ((b, c), ARROW))
                elif mark[v, t] is ARROW and ends.arrow(t, c):
                    seen.add(t)
                    waiting.append(t)


def _must_cause(ends: _Ends, a: str, c: str) -> bool:
    """Return whether one of rules R8 to R10 turns a o-> c into a -> c."""
    parents = ends.parents(c)
    if any(ends.arrow(a, b) for b in parents):  # R8
        return True
    firsts = [b for b in ends.near[a] - {c} if ends.forward(a, b)]
    if any(ends.apart(b, c) and _leads(ends, a, b, {c}) for b in firsts):  # R9
        return True
    leading = [b for b in firsts if parents and _leads(ends, a, b, parents)]
    return any(ends.apart(b, d) for b, d in combinations(leading, 2))  # R10


def _leads(ends: _Ends, a: str, b: str, goals: Collection[str]) -> bool:
    """Return whether an uncovered, possibly directed walk a, b, ... ends in one of ``goals``.

    A walk that meets itself serves as a path does: if a -> b, all its steps are arrows, and they lead to the goal.
    """
    seen, waiting = {(a, b)}, [(a, b)]
    while waiting:
        u, v = waiting.pop()
        if v in goals:
            return True
        for w in ends.near[v]:
            if (v, w) not in seen and ends.forward(v, w) and ends.apart(u, w):
                seen.add((v, w))
                waiting.append((v, w))
    return False
