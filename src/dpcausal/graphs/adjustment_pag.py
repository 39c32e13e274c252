"""Which columns to adjust for where common causes may be hidden: the adjustment criterion for a PAG.

A PAG stands for many graphs with hidden nodes. A set Z gives the effect of x on y by standardisation in *every* one of
them if and only if [1, Theorem 5]

1. **amenable**: every possibly directed path from x to y starts with a visible edge out of x. An edge x -> v is
   visible [2, Definition 8] if no hidden common cause of x and v fits what was found: some node that is not adjacent
   to v has an edge into x, or a collider path into x on which every inner node is a parent of v;
2. **not forbidden**: no node of Z is a possible descendant of a node, other than x, on a possibly directed path from x
   to y;
3. **blocking**: Z blocks every path of definite status from x to y that is not directed. On such a path every inner
   node is a definite collider, or a definite non-collider: a tail at it, or circles at it on both sides between nodes
   that are not adjacent.

If any set satisfies all three then the possible ancestors of x and y that are not forbidden do [1, Corollary 15];
``pag_adjustment`` looks for a smaller one first. Pairs that a search left open count as adjacent wherever being apart
is what an argument needs.

Nothing here sees data. **Cost** exponential in the number of columns in the worst case: at most ``MAX_STEPS`` steps.

References: [1] Perkovic, Textor, Kalisch & Maathuis 2018, "Complete graphical characterization and construction of
adjustment sets in Markov equivalence classes of ancestral graphs"; [2] Zhang 2008, "Causal reasoning with ancestral
graphs".
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from itertools import combinations

from dpcausal.core.errors import InputError
from dpcausal.graphs.adjustment import MAX_CANDIDATES, MAX_SET
from dpcausal.graphs.graph import Pair
from dpcausal.graphs.pag import PAG, Mark

MAX_STEPS = 20_000  # along paths


class HiddenCausePossible(InputError):
    """The graph allows a hidden common cause that no adjustment takes out."""


class _Marks:
    """A PAG by its marks, with pairs that may be adjacent."""

    def __init__(self, graph: PAG, possible: Collection[Pair]) -> None:
        self.graph, self.possible = graph, frozenset(possible)
        self.near = {name: sorted(graph.adjacent(name), key=graph.nodes.index) for name in graph.nodes}
        self.steps = 0

    def mark(self, a: str, b: str) -> Mark:
        """The mark at b of the edge between a and b."""
        return self.graph.mark(a, b)

    def apart(self, a: str, b: str) -> bool:
        """Whether two nodes are known not to be adjacent."""
        return a != b and b not in self.near[a] and frozenset((a, b)) not in self.possible

    def arrow(self, a: str, b: str) -> bool:
        """Whether the edge is a -> b."""
        return self.mark(a, b) is Mark.ARROW and self.mark(b, a) is Mark.TAIL

    def forward(self, a: str, b: str) -> bool:
        """Whether the edge may lead from a to b: no arrowhead at a."""
        return self.mark(b, a) is not Mark.ARROW

    def step(self) -> None:
        """Count a step; raise ``InputError`` after too many."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise InputError(
                "this graph has too many paths to search for what to adjust for: name the columns, without the graph"
            )

    def possible_descendants(self, start: Collection[str]) -> set[str]:
        """``start`` and what possibly directed paths lead to from it."""
        found, waiting = set(start), list(start)
        while waiting:
            here = waiting.pop()
            new = {name for name in self.near[here] if self.forward(here, name)} - found
            found |= new
            waiting.extend(new)
        return found

    def possible_ancestors(self, goals: Collection[str]) -> set[str]:
        """``goals`` and what possibly directed paths lead to them from."""
        found, waiting = set(goals), list(goals)
        while waiting:
            here = waiting.pop()
            new = {name for name in self.near[here] if self.forward(name, here)} - found
            found |= new
            waiting.extend(new)
        return found

    def ancestors(self, goals: Collection[str]) -> set[str]:
        """``goals`` and their ancestors by arrows."""
        found, waiting = set(goals), list(goals)
        while waiting:
            here = waiting.pop()
            new = {name for name in self.near[here] if self.arrow(name, here)} - found
            found |= new
            waiting.extend(new)
        return found

    def directed_paths(self, x: str, y: str) -> Iterator[tuple[str, ...]]:
        """Every possibly directed path from x to y."""

        def extend(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
            self.step()
            for name in self.near[path[-1]]:
                if name in path or not self.forward(path[-1], name):
                    continue
                if name == y:
                    yield (*path, y)
                else:
                    yield from extend((*path, name))

        yield from extend((x,))

    def visible(self, x: str, v: str) -> bool:
        """Whether x -> v is there and visible: no hidden common cause of the two fits."""
        if not self.arrow(x, v):
            return False
        waiting: list[tuple[str, ...]] = [(x,)]
        seen = {x}
        while waiting:  # collider paths into x, backwards from it; inner nodes are parents of v
            path = waiting.pop()
            for name in self.near[path[-1]]:
                self.step()
                if name in path or name == v or self.mark(name, path[-1]) is not Mark.ARROW:
                    continue
                if self.apart(name, v):
                    return True
                inner = (
                    self.mark(path[-1], name) is Mark.ARROW and name in self.near[v] and self.arrow(name, v)
                )
                if inner and name not in seen:
                    seen.add(name)
                    waiting.append((*path, name))
        return False

    def status(self, a: str, b: str, c: str) -> Mark | None:
        """What b is on a path a, b, c: ``ARROW`` a definite collider, ``TAIL`` a definite non-collider, else None."""
        first, second = self.mark(a, b), self.mark(c, b)
        if first is Mark.ARROW and second is Mark.ARROW:
            return Mark.ARROW
        if Mark.TAIL in (first, second):
            return Mark.TAIL
        return Mark.TAIL if first is second is Mark.CIRCLE and self.apart(a, c) else None

    def blocked(self, x: str, y: str, given: Collection[str]) -> bool:
        """Whether every path of definite status from x to y that is not possibly directed is blocked by ``given``."""
        opened = self.ancestors(given)

        def leads(path: tuple[str, ...], directed: bool) -> bool:
            self.step()
            here = path[-1]
            for name in self.near[here]:
                if name in path:
                    continue
                if len(path) > 1:
                    status = self.status(path[-2], here, name)
                    if status is None or (here not in opened if status is Mark.ARROW else here in given):
                        continue
                still = directed and self.forward(here, name)
                if name == y:
                    if not still:
                        return True
                elif leads((*path, name), still):
                    return True
            return False

        return not leads((x,), True)


def pag_adjustment(
    graph: PAG, x: str, y: str, sizes: Mapping[str, int], possible: Collection[Pair] = frozenset()
) -> tuple[str, ...]:
    """Return a set that gives the effect of x on y in every graph that the PAG stands for, of few cells.

    Parameters
    ----------
    graph
        The PAG.
    x, y
        Treatment and outcome.
    sizes
        Levels of each node: noise hurts sets with few cells least.
    possible
        Pairs that may be adjacent, although the graph has no edge there.

    Raises
    ------
    HiddenCausePossible
        If no set does: some graph of the class has a hidden common cause that stays in.
    InputError
        If no member has a path of arrows from x to y.

    Examples
    --------
    >>> graph = PAG(["u", "z", "x", "y"], [("u", "o->", "x"), ("z", "o->", "x"), ("x", "->", "y")])
    >>> pag_adjustment(graph, "x", "y", dict.fromkeys("uzxy", 2))
    ()
    >>> pag_adjustment(PAG(["x", "y"], [("x", "o-o", "y")]), "x", "y", {"x": 2, "y": 2})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dpcausal.graphs.adjustment_pag.HiddenCausePossible: a hidden common cause of "x" and "y" is possible ...
    """
    marks = _Marks(graph, possible)
    on_paths: set[str] = set()
    starts: set[str] = set()
    for path in marks.directed_paths(graph.check(x), graph.check(y)):
        on_paths |= {*path[1:]}
        starts.add(path[1])
    if not starts:
        raise InputError(
            f'by this graph "{x}" has no effect on "{y}": no arrows can lead from one to the other'
        )
    hidden = [name for name in sorted(starts, key=graph.nodes.index) if not marks.visible(x, name)]
    refused = HiddenCausePossible(
        f'a hidden common cause of "{x}" and "{hidden[0] if hidden else y}" is possible by this graph, and no column '
        "takes it out: name the columns to adjust for, without the graph, if you know that there is none"
    )
    if hidden:
        raise refused
    forbidden = marks.possible_descendants(on_paths)
    order = {name: i for i, name in enumerate(graph.nodes)}
    near = sorted(marks.possible_ancestors({x, y}) - forbidden - {x, y}, key=order.__getitem__)
    best = tuple(near)
    if not marks.blocked(x, y, best):
        raise refused
    least = math.prod(sizes[name] for name in best)
    few = sorted(near, key=lambda name: (sizes[name], order[name]))[:MAX_CANDIDATES]
    for number in range(min(MAX_SET, len(few)) + 1):
        for given in combinations(sorted(few, key=order.__getitem__), number):
            cells = math.prod(sizes[name] for name in given)
            if cells < least and marks.blocked(x, y, given):
                best, least = given, cells
    return best
