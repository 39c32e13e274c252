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

``pag_back_door`` says of a set that a person named which paths it leaves open. A path of definite status that is not
possibly directed is open in every graph of the class, or in none. One of indefinite status, or whose first edge may
point to x, may be open. An edge that is not visible may hide a common cause, which no column takes out.

Nothing here sees data. **Cost** exponential in the number of columns in the worst case: at most ``MAX_STEPS`` steps.

References: [1] Perkovic, Textor, Kalisch & Maathuis 2018, "Complete graphical characterization and construction of
adjustment sets in Markov equivalence classes of ancestral graphs"; [2] Zhang 2008, "Causal reasoning with ancestral
graphs".
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterator, Mapping

from dpcausal.core.errors import InputError
from dpcausal.graphs.adjustment import OpenBackDoor, cheapest_set, drawn, what_closes
from dpcausal.graphs.graph import Pair, reachable_by
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

    def apart(self, a: str, b: str) -> bool:
        """Return whether two nodes are known not to be adjacent."""
        return a != b and b not in self.near[a] and frozenset((a, b)) not in self.possible

    def forward(self, a: str, b: str) -> bool:
        """Return whether a causal path may go from a to b over this edge: it has no arrowhead at a."""
        return self.graph.mark(b, a) is not Mark.ARROW

    def step(self) -> None:
        """Count a step of the search; raise ``InputError`` after too many."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise InputError(
                "this graph has too many paths to search for what to adjust for: name the columns, without the graph"
            )

    def possible_descendants(self, start: Collection[str]) -> frozenset[str]:
        """Return ``start`` and the nodes that possibly directed paths lead to from it."""
        return reachable_by(lambda a: [b for b in self.near[a] if self.forward(a, b)], start)

    def possible_ancestors(self, goals: Collection[str]) -> frozenset[str]:
        """Return ``goals`` and the nodes from which possibly directed paths lead to them."""
        return reachable_by(lambda b: [a for a in self.near[b] if self.forward(a, b)], goals)

    def directed_paths(self, x: str, y: str) -> Iterator[tuple[str, ...]]:
        """Yield every possibly directed path from x to y."""

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
        """Return whether x -> v is there and visible: no hidden common cause of the two fits."""
        if v not in self.graph.children(x):
            return False
        waiting: list[tuple[str, ...]] = [(x,)]
        seen = {x}
        while waiting:  # collider paths into x, backwards from it; inner nodes are parents of v
            path = waiting.pop()
            for name in self.near[path[-1]]:
                self.step()
                if name in path or name == v or self.graph.mark(name, path[-1]) is not Mark.ARROW:
                    continue
                if self.apart(name, v):
                    return True
                inner = self.graph.mark(path[-1], name) is Mark.ARROW and name in self.graph.parents(v)
                if inner and name not in seen:
                    seen.add(name)
                    waiting.append((*path, name))
        return False

    def status(self, a: str, b: str, c: str) -> Mark | None:
        """Return ``ARROW`` for a definite collider b between a and c, ``TAIL`` for a definite non-collider, or None."""
        first, second = self.graph.mark(a, b), self.graph.mark(c, b)
        if first is Mark.ARROW and second is Mark.ARROW:
            return Mark.ARROW
        if Mark.TAIL in (first, second):
            return Mark.TAIL
        return Mark.TAIL if first is second is Mark.CIRCLE and self.apart(a, c) else None

    def can_continue(
        self,
        path: tuple[str, ...],
        name: str,
        given: Collection[str],
        opened: Collection[str],
        *,
        maybe: bool = False,
    ) -> bool:
        """Return whether ``name`` can extend an open path.

        The last node of the path must have definite status, unless ``maybe``.
        """
        if name in path:
            return False
        if len(path) == 1:
            return True
        status = self.status(path[-2], path[-1], name)
        if status is Mark.ARROW:
            return path[-1] in opened
        return (maybe or status is Mark.TAIL) and path[-1] not in given

    def open_path(
        self, x: str, y: str, given: Collection[str], without: Collection[Pair] = (), *, maybe: bool = False
    ) -> tuple[str, ...] | None:
        """Return a shortest open path of definite status from x to y that is not possibly directed; None if none.

        It takes none of the edges ``without``; None if there is no such path. ``maybe``: a path that may be open in
        some graph of the class: a node of indefinite status counts as no collider, and an edge that may point to x as
        one that does.
        """
        opened = self.graph.ancestors(given)
        waiting: deque[tuple[tuple[str, ...], bool]] = deque([((x,), True)])
        while waiting:
            self.step()
            path, directed = waiting.popleft()
            here = path[-1]
            for name in self.near[here]:
                if frozenset((here, name)) in without:
                    continue
                if not self.can_continue(path, name, given, opened, maybe=maybe):
                    continue
                back = maybe and here == x and name != y and self.may_cause(name, x)
                still = directed and self.forward(here, name) and not back
                if name != y:
                    waiting.append(((*path, name), still))
                elif not still:
                    return (*path, y)
        return None

    def may_cause(self, a: str, b: str) -> bool:
        """Return whether the edge may be a -> b: no arrowhead at a, no tail at b."""
        return self.forward(a, b) and self.graph.mark(a, b) is not Mark.TAIL


def pag_adjustment(
    graph: PAG, x: str, y: str, sizes: Mapping[str, int], possible: Collection[Pair] = frozenset()
) -> tuple[str, ...]:
    """Return an adjustment set for the effect of x on y that is valid in every graph of the class.

    Of those tried, the one with fewest cells.

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
    near = tuple(sorted(marks.possible_ancestors({x, y}) - forbidden - {x, y}, key=graph.nodes.index))
    if marks.open_path(x, y, near) is not None:
        raise refused
    cells = math.prod(sizes[name] for name in near)
    found = cheapest_set(graph, near, sizes, lambda given: marks.open_path(x, y, given) is None, cells)
    return near if found is None else found


def pag_back_door(
    graph: PAG,
    x: str,
    y: str,
    given: Collection[str],
    sizes: Mapping[str, int],
    possible: Collection[Pair] = frozenset(),
) -> OpenBackDoor | None:
    """Return the non-causal paths of a PAG that ``given`` leaves open; None if it leaves none.

    As ``open_back_door``, for a PAG. ``hold`` is empty where no column helps: a common cause is hidden. None, too,
    where the graph has too many paths to search.

    >>> graph = PAG(["z", "x", "y"], [("z", "o->", "x"), ("z", "->", "y"), ("x", "->", "y")])
    >>> pag_back_door(graph, "x", "y", [], dict.fromkeys("xyz", 2))
    OpenBackDoor(sure=True, hold=('z',), leave=(), paths=((('z', 'o->', 'x'), ('z', '->', 'y')),))
    """
    marks = _Marks(graph, possible)
    # arrows by which the outcome comes before the treatment are no back-door path
    first = {frozenset((y, name)) for name in graph.children(y) & graph.ancestors({x})}
    try:
        for maybe in (False, True):
            path = marks.open_path(x, y, given, first, maybe=maybe)
            if path is not None:
                return _closing(marks, x, y, given, sizes, first, path, maybe)
        return _hidden(marks, x, y, given)
    except InputError:  # too many paths
        return None


def _closing(
    marks: _Marks,
    x: str,
    y: str,
    given: Collection[str],
    sizes: Mapping[str, int],
    without: Collection[Pair],
    path: tuple[str, ...],
    maybe: bool,
) -> OpenBackDoor:
    """Return an open path (or one that ``maybe`` is) as a value, with the columns that would close it."""

    def closed(held: Collection[str]) -> bool:
        return open_path(held) is None

    def open_path(held: Collection[str]) -> tuple[str, ...] | None:
        return marks.open_path(x, y, held, without, maybe=maybe)

    changed = marks.possible_descendants({x}) - {name for name in marks.near[x] if marks.may_cause(name, x)}
    near = marks.possible_ancestors({x, y}) - changed
    # of y o-> x the outcome may come first
    sure = not maybe and (len(path) > 2 or marks.graph.mark(x, y) is Mark.ARROW)
    found = what_closes(marks.graph, (x, y), near, near, given, sizes, closed, open_path, sure=sure)
    return found if found.hold else found._replace(paths=(drawn(marks.graph, path),))


def _hidden(marks: _Marks, x: str, y: str, given: Collection[str]) -> OpenBackDoor | None:
    """Return an edge out of x, on a way to y, that may hide a common cause; None if all are visible."""
    starts = {path[1] for path in marks.directed_paths(x, y) if not set(path) & set(given)}
    for name in sorted(starts, key=marks.graph.nodes.index):
        if not marks.visible(x, name):
            return OpenBackDoor(False, (), (), (drawn(marks.graph, (x, name)),))
    return None
