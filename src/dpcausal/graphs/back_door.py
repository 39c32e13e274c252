"""Whether columns that a person named leave a back-door path open by a graph, and which columns would close it.

A set Z leaves a path open if treatment x and outcome y stay d-connected given Z once the arrows out of x are removed
[1]. Whether Z holds what x changes is another question (``descendants``).

**CPDAG.** Members with the same parents of x agree: without the arrows out of x they have the same skeleton and the
same v-structures, since the only triples that lose their shield have a parent of x in the middle. So one member for
each set that the parents may be decides for the whole class [2]. Sets that leave a path open in every member surely do;
in some of them, they may. Members in which y is a parent of x have no effect to ask for, and are left out. Where the
graph says that y comes before x, the arrows that lead from one to the other are no back-door path: left out, too.

**What closes it.** The parents of x always do, whatever else is held fixed, so columns to add always exist. Of those
near x and y the set with the fewest cells is named; every column of it is needed, with a path that it closes.

Nothing here sees data. **Cost** as ``parent_sets``; with more than ``MAX_PLAIN`` plain edges at x only sets with at
most one of them are tried, and nothing is sure.

References: [1] Pearl 1993; [2] Maathuis, Kalisch & Buehlmann 2009, section 3.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import combinations, pairwise
from typing import NamedTuple

from dpcausal.core.errors import InputError
from dpcausal.graphs.adjustment import MAX_CANDIDATES, MAX_PLAIN, MAX_SET, descendants, parent_sets
from dpcausal.graphs.equivalence import nearest
from dpcausal.graphs.graph import Graph, Pair
from dpcausal.graphs.separation import d_separated

MAX_MEMBERS = 16  # members for which columns that close a path are sought together
MAX_WALKS = 20_000  # steps in search of a path to show

Edges = tuple[tuple[str, str, str], ...]  # of a path: (a, marks, b), an arrow with its tail first


class OpenBackDoor(NamedTuple):
    """What a graph says of a set that does not close every back-door path.

    ``sure``: it does so in no graph of the class. ``hold``: columns to add to the set, none where no column helps.
    ``leave``: columns each of which, left out, would do as well. ``paths``: open ones, one for each column of ``hold``.
    """

    sure: bool
    hold: tuple[str, ...]
    leave: tuple[str, ...]
    paths: tuple[Edges, ...]


def open_back_door(
    graph: Graph,
    x: str,
    y: str,
    given: Collection[str],
    sizes: Mapping[str, int],
    possible: Collection[Pair] = frozenset(),
) -> OpenBackDoor | None:
    """Return which back-door paths from x to y ``given`` leaves open, or None where it leaves none.

    Parameters
    ----------
    graph
        A DAG or a CPDAG. One whose arrows form a cycle says nothing: None.
    x, y
        Treatment and outcome.
    given
        Nodes that are held fixed.
    sizes
        Levels of each node; of the columns that would help, those with few cells are named.
    possible
        Pairs that may be adjacent, although the graph has no edge there.

    Examples
    --------
    >>> fork = Graph(["z", "x", "y"], directed=[("z", "x"), ("z", "y"), ("x", "y")])
    >>> open_back_door(fork, "x", "y", [], dict.fromkeys("xyz", 2))
    OpenBackDoor(sure=True, hold=('z',), leave=(), paths=((('z', '->', 'x'), ('z', '->', 'y')),))
    >>> open_back_door(fork, "x", "y", ["z"], dict.fromkeys("xyz", 2)) is None
    True
    """
    members, every = _members(graph, graph.check(x), graph.check(y), possible)
    cut = [_cut(graph, dag, x, y) for dag in members]
    unblocked = [i for i, dag in enumerate(cut) if not d_separated(dag, x, y, given)]
    if not unblocked:
        return None
    few = unblocked[:MAX_MEMBERS]

    def closed(held: Collection[str]) -> bool:
        return all(d_separated(cut[i], x, y, held) for i in few)

    near: set[str] = set()
    for i in few:
        near |= members[i].ancestors([x, y]) - descendants(members[i], x)
    parents = {name for i in few for name in cut[i].parents(x)}
    hold = closing_set(graph, near - {x, y, *given}, parents - {y, *given}, given, sizes, closed)
    paths = []
    for name in hold:
        held = {*given, *hold} - {name}
        paths += [path for i in few for path in _open_path(cut[i], x, y, held)][:1]
    shown = tuple(tuple(_edge(graph, a, b) for a, b in pairwise(path)) for path in paths)
    sure = every and len(unblocked) == len(cut)
    return OpenBackDoor(sure, hold, left_out(given, closed), shown)


def closing_set(
    graph: Graph,
    near: Collection[str],
    fallback: Collection[str],
    given: Collection[str],
    sizes: Mapping[str, int],
    closed: Callable[[Collection[str]], bool],
) -> tuple[str, ...]:
    """Return the columns of ``near`` with the fewest cells that close every path beside ``given``, in order of nodes.

    Where no few of them do, what is needed of ``fallback``; nothing where that does not help either.
    """
    order = {name: i for i, name in enumerate(graph.nodes)}
    few = sorted(near, key=lambda name: (sizes[name], order[name]))[:MAX_CANDIDATES]
    best: tuple[str, ...] | None = None
    for number in range(1, min(MAX_SET, len(few)) + 1):
        for held in combinations(sorted(few, key=order.__getitem__), number):
            cells = math.prod(sizes[name] for name in held)
            if (best is None or cells < math.prod(sizes[name] for name in best)) and closed((*given, *held)):
                best = held
    if best is not None:
        return best
    needed = sorted(fallback, key=order.__getitem__)
    if not closed((*given, *needed)):
        return ()
    for name in list(needed):
        fewer = [one for one in needed if one != name]
        needed = fewer if closed((*given, *fewer)) else needed
    return tuple(needed)


def left_out(given: Collection[str], closed: Callable[[Collection[str]], bool]) -> tuple[str, ...]:
    """Return the columns each of which opens the paths: without it all are closed."""
    return tuple(name for name in given if closed([one for one in given if one != name]))


def _members(graph: Graph, x: str, y: str, possible: Collection[Pair]) -> tuple[list[Graph], bool]:
    """A DAG for every set that the parents of x may be, and whether all sets were tried.

    Sets that no DAG of the class has are left out, unless the graph contradicts itself and no set is without a flaw.
    """
    fixed, plain = graph.parents(x), sorted(graph.neighbours(x), key=graph.nodes.index)
    every = len(plain) <= MAX_PLAIN
    sets = parent_sets(graph, x, possible) if every else [fixed, *(fixed | {one} for one in plain)]
    rest = [pair for pair in graph.undirected if x not in pair]
    right: list[Graph] = []
    flawed: list[Graph] = []
    for parents in [one for one in sets if y not in one] or sets:
        at_x = [(name, x) if name in parents else (x, name) for name in plain]
        try:
            dag, torn = nearest(Graph(graph.nodes, [*graph.directed, *at_x], rest), possible)
        except InputError:  # a cycle
            continue
        (flawed if torn else right).append(dag)
    return right or flawed, every


def _cut(graph: Graph, dag: Graph, x: str, y: str) -> Graph:
    """``dag`` without the arrows out of x, and those by which the graph says that y comes before x."""
    before = graph.ancestors([x])
    first = {(a, b) for a, b in graph.directed if a == y and b in before}
    return Graph(dag.nodes, directed=[arrow for arrow in dag.directed - first if arrow[0] != x])


def _open_path(dag: Graph, x: str, y: str, given: Collection[str]) -> Iterator[tuple[str, ...]]:
    """A shortest path from x to y that ``given`` leaves open, if there is one and it is found in time."""
    opened = dag.ancestors(given)
    waiting: deque[tuple[str, ...]] = deque([(x,)])
    for _ in range(MAX_WALKS):
        if not waiting:
            return
        path = waiting.popleft()
        here = path[-1]
        for name in sorted(dag.adjacent(here) - set(path), key=dag.nodes.index):
            if len(path) > 1:
                collider = {path[-2], name} <= dag.parents(here)
                if here not in opened if collider else here in given:
                    continue
            if name == y:
                yield (*path, y)
                return
            waiting.append((*path, name))


def _edge(graph: Graph, a: str, b: str) -> tuple[str, str, str]:
    """The edge between a and b as the graph draws it."""
    if b in graph.children(a):
        return (a, "->", b)
    return (b, "->", a) if a in graph.children(b) else (a, "-", b)
