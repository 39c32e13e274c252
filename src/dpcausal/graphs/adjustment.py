"""Which columns to adjust for by a DAG or a CPDAG, and which back-door paths a set that a person named leaves open.

**Back-door criterion** [1]. A set Z gives the effect of x on y by standardisation if no node of Z is a descendant of x
and Z d-separates x and y once the arrows out of x are removed. Among valid sets ``smallest_back_door`` takes the one
with the fewest cells, which noise hurts least; the parents of x are always valid.

**IDA** [2]. A CPDAG stands for several DAGs. The effect of x depends on them through the parents of x alone, and a set
S of its plain neighbours can be parents (the others children) if that makes no new collider at x: every node of S is
adjacent to every other node of S and to every parent of x. ``parent_sets`` lists them. Where y is among the parents the
effect is zero.

**Open paths.** Members of a CPDAG with the same parents of x agree on which sets leave a back-door path open: without
the arrows out of x they have the same skeleton and the same v-structures, since the only triples that lose their shield
have a parent of x in the middle. So one member for each set that the parents may be decides for the whole class [2].
Sets that leave a path open in every member surely do; in some of them, they may. Members in which y is a parent of x
have no effect to ask for, and are left out. Where the graph says that y comes before x, the arrows that lead from one
to the other are no back-door path: left out, too. Whether Z holds what x changes is another question (``descendants``).

**What closes them.** The parents of x always do, whatever else is held fixed, so columns to add always exist. Of those
near x and y the set with the fewest cells is named; every column of it is needed, with a path that it closes.

Nothing here sees data. **Cost** 2^(plain neighbours of x), and at most ``MAX_CANDIDATES`` candidates are searched; with
more than ``MAX_PLAIN`` plain edges at x open paths are sought for sets with at most one of them, and nothing is sure.

References: [1] Pearl 1993; [2] Maathuis, Kalisch & Buehlmann 2009, section 3 (the local algorithm).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from dpcausal.core.errors import InputError
from dpcausal.core.spelling import spelled
from dpcausal.graphs.equivalence import nearest
from dpcausal.graphs.formats import MarkedEdge
from dpcausal.graphs.graph import Graph, Pair, reachable_by
from dpcausal.graphs.separation import d_separated

MAX_CANDIDATES = 14  # columns tried for a smallest set
MAX_SET = 4  # columns of the largest set tried beside the parents
MAX_PLAIN = 12  # plain neighbours of a treatment whose directions are all tried
MAX_MEMBERS = 16  # members for which columns that close a path are sought together
MAX_WALKS = 20_000  # steps in search of a path to show

Edges = tuple[MarkedEdge, ...]  # of a path, an arrow with its tail first


def descendants(graph: Graph, node: str, *, possible: bool = False) -> frozenset[str]:
    """Return the descendants of ``node``; with ``possible``, undirected edges count as arrows.

    >>> g = Graph(["a", "b", "c", "d"], directed=[("a", "b"), ("b", "c")], undirected=[("a", "d")])
    >>> sorted(descendants(g, "a")), sorted(descendants(g, "a", possible=True))
    (['b', 'c'], ['b', 'c', 'd'])
    """

    def step(here: str) -> frozenset[str]:
        return graph.children(here) | (graph.neighbours(here) if possible else frozenset())

    return reachable_by(step, [graph.check(node)]) - {node}


def no_path(x: str, y: str) -> str:
    """Return the message why a graph gives no adjustment set, and that this is no evidence of no effect."""
    return (
        f'this graph shows no path of arrows from "{x}" to "{y}", so it does not say what to hold fixed. That is no '
        "evidence of no effect: a weak edge is missed easily. Name the columns to hold fixed "
        f"({spelled('--adjust A,B', 'adjust=[...]')}; {spelled('--adjust none', 'adjust=[]')} for nothing)"
    )


def is_back_door(dag: Graph, x: str, y: str, given: Collection[str]) -> bool:
    """Return whether ``given`` satisfies the back-door criterion for the effect of x on y.

    >>> dag = Graph(["z", "x", "y"], directed=[("z", "x"), ("z", "y"), ("x", "y")])
    >>> is_back_door(dag, "x", "y", []), is_back_door(dag, "x", "y", ["z"])
    (False, True)
    """
    if set(given) & (descendants(dag, x) | {x, y}):
        return False
    cut = Graph(dag.nodes, directed=[arrow for arrow in dag.directed if arrow[0] != x])
    return d_separated(cut, x, y, given)


def cheapest_set(
    graph: Graph,
    candidates: Collection[str],
    sizes: Mapping[str, int],
    valid: Callable[[tuple[str, ...]], bool],
    below: float = math.inf,
) -> tuple[str, ...] | None:
    """Return the valid subset of the candidates with the fewest cells, in the order of the nodes.

    None where no set of at most ``MAX_SET`` candidates is valid and has fewer cells than ``below``.
    """
    order = {name: i for i, name in enumerate(graph.nodes)}
    few = sorted(candidates, key=lambda name: (sizes[name], order[name]))[:MAX_CANDIDATES]
    best, least = None, below
    for number in range(min(MAX_SET, len(few)) + 1):
        for chosen in combinations(sorted(few, key=order.__getitem__), number):
            cells = math.prod(sizes[name] for name in chosen)
            if cells < least and valid(chosen):
                best, least = chosen, cells
    return best


def smallest_back_door(dag: Graph, x: str, y: str, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """Return the back-door set with the fewest cells, in the order of the nodes; ``sizes`` are levels.

    >>> arrows = [("u", "x"), ("v", "x"), ("u", "w"), ("v", "w"), ("w", "y"), ("x", "y")]
    >>> smallest_back_door(Graph([*"uvwxy"], directed=arrows), "x", "y", dict.fromkeys("uvwxy", 2))
    ('w',)
    """
    below = descendants(dag, x)
    if y not in below:
        raise InputError(no_path(x, y))
    parents = tuple(sorted(dag.parents(x), key=dag.nodes.index))
    near = dag.ancestors([x, y]) - below - {x, y}
    cells = math.prod(sizes[name] for name in parents)
    found = cheapest_set(dag, near, sizes, lambda given: is_back_door(dag, x, y, given), cells)
    return parents if found is None else found


def parent_sets(graph: Graph, x: str, possible: Collection[Pair] = frozenset()) -> list[frozenset[str]]:
    """Return every possible parent set of ``x`` in the DAGs of the class; ``possible`` pairs may be adjacent.

    >>> chain = Graph(["a", "b", "c"], undirected=[("a", "b"), ("b", "c")])
    >>> [sorted(found) for found in parent_sets(chain, "b")]
    [[], ['a'], ['c']]
    """
    fixed = graph.parents(x)
    plain = sorted(graph.neighbours(x), key=graph.nodes.index)
    if len(plain) > MAX_PLAIN:
        raise InputError(
            f'"{x}" has {len(plain)} edges without a direction: say what is earlier (tiers, required) or name '
            "the columns to adjust for"
        )
    adjacent = {name: graph.adjacent(name) for name in (*plain, *fixed)}
    for pair in possible:
        for one in pair & adjacent.keys():
            adjacent[one] |= pair - {one}
    found = []
    for number in range(len(plain) + 1):
        for chosen in combinations(plain, number):
            parents = fixed | set(chosen)
            if all(parents - {one} <= adjacent[one] for one in chosen):
                found.append(parents)
    return found


def adjustment_sets(
    graph: Graph, x: str, y: str, sizes: Mapping[str, int], possible: Collection[Pair] = frozenset()
) -> list[tuple[str, ...] | None]:
    """Return the adjustment sets, one for each effect that the graph allows; None where it allows no effect.

    One set where the parents of x are known, else one for each set of possible parents. Raises ``InputError`` if no DAG
    of the class has a path of arrows from x to y, or the arrows form a cycle.

    >>> chain = Graph(["a", "b", "c"], undirected=[("a", "b"), ("b", "c")])
    >>> adjustment_sets(chain, "b", "c", dict.fromkeys("abc", 2))
    [(), ('a',), None]
    """
    graph.topological_order()  # refuses a cycle
    if graph.check(y) not in descendants(graph, graph.check(x), possible=True):
        raise InputError(no_path(x, y))
    if not graph.neighbours(x):
        dag = nearest(graph, possible)[0] if graph.undirected else graph
        return [smallest_back_door(dag, x, y, sizes)]
    order = {name: i for i, name in enumerate(graph.nodes)}
    found: list[tuple[str, ...] | None] = []
    for parents in parent_sets(graph, x, possible):
        given = None if y in parents else tuple(sorted(parents, key=order.__getitem__))
        if given not in found:
            found.append(given)
    return found


class OpenBackDoor(NamedTuple):
    """A set that leaves a back-door path open, by a graph.

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
    """Return the back-door paths from x to y that ``given`` leaves open; None for none, or where arrows form a cycle.

    Of the columns that would help, those with few cells (``sizes``) are named. ``possible`` are pairs that may be
    adjacent although the graph has no edge there.

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

    def open_path(held: Collection[str]) -> tuple[str, ...] | None:
        return next(filter(None, (_open_path(cut[i], x, y, held) for i in few)), None)

    near = {name for i in few for name in members[i].ancestors([x, y]) - descendants(members[i], x)}
    parents = {name for i in few for name in cut[i].parents(x)}
    sure = every and len(unblocked) == len(cut)
    return what_closes(graph, (x, y), near, parents, given, sizes, closed, open_path, sure=sure)


def what_closes(
    graph: Graph,
    ends: tuple[str, str],
    near: Collection[str],
    fallback: Collection[str],
    given: Collection[str],
    sizes: Mapping[str, int],
    closed: Callable[[Collection[str]], bool],
    open_path: Callable[[Collection[str]], tuple[str, ...] | None],
    *,
    sure: bool,
) -> OpenBackDoor:
    """Return which columns would close the open paths: few of ``near``, else of ``fallback``, else none.

    Added are the columns of ``near`` with the fewest cells that close every path. Where no few of them do, what is
    needed of ``fallback``; nothing where that does not help either.
    """
    taken = {*ends, *given}
    hold = cheapest_set(graph, set(near) - taken, sizes, lambda held: closed((*given, *held)))
    if hold is None:
        hold = tuple(sorted(set(fallback) - taken, key=graph.nodes.index))
        if not closed((*given, *hold)):
            hold = ()
        for name in hold:
            fewer = tuple(one for one in hold if one != name)
            hold = fewer if closed((*given, *fewer)) else hold
    leave = tuple(name for name in given if closed([one for one in given if one != name]))
    paths = [open_path({*given, *hold} - {name}) for name in hold]
    return OpenBackDoor(sure, hold, leave, tuple(drawn(graph, path) for path in paths if path))


def drawn(graph: Graph, path: Sequence[str]) -> Edges:
    """Return the edges of a path as drawn: arrowheads to the right where there is one."""
    edges = []
    for a, b in pairwise(path):
        marks = graph.marks(a, b)
        turn = marks.startswith("<") and not marks.endswith(">")
        edges.append((b, graph.marks(b, a), a) if turn else (a, marks, b))
    return tuple(edges)


def _members(graph: Graph, x: str, y: str, possible: Collection[Pair]) -> tuple[list[Graph], bool]:
    """Return one DAG for every possible parent set of x, and whether all were tried.

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
    """Return ``dag`` without arrows out of x, and without those that make y an ancestor of x."""
    before = graph.ancestors([x])
    first = {(a, b) for a, b in graph.directed if a == y and b in before}
    return Graph(dag.nodes, directed=[arrow for arrow in dag.directed - first if arrow[0] != x])


def _open_path(dag: Graph, x: str, y: str, given: Collection[str]) -> tuple[str, ...] | None:
    """Return a shortest path from x to y that is d-connecting given ``given``; None if none is found in time."""
    opened = dag.ancestors(given)
    waiting: deque[tuple[str, ...]] = deque([(x,)])
    for _ in range(MAX_WALKS):
        if not waiting:
            break
        path = waiting.popleft()
        here = path[-1]
        for name in sorted(dag.adjacent(here) - set(path), key=dag.nodes.index):
            if len(path) > 1:
                collider = {path[-2], name} <= dag.parents(here)
                if here not in opened if collider else here in given:
                    continue
            if name == y:
                return (*path, y)
            waiting.append((*path, name))
    return None
