"""Which columns to adjust for: back-door sets of a graph, and the possible parents of a node in a CPDAG (IDA).

**Back-door criterion** [1]. A set Z gives the effect of x on y by standardisation if no node of Z is a descendant of x
and Z d-separates x and y once the arrows out of x are removed. Among valid sets ``smallest_back_door`` takes the one
with the fewest cells, which noise hurts least; the parents of x are always valid.

**IDA** [2]. A CPDAG stands for several DAGs. The effect of x depends on them through the parents of x alone, and a set
S of its plain neighbours can be parents (the others children) if that makes no new collider at x: every node of S is
adjacent to every other node of S and to every parent of x. ``parent_sets`` lists them. Where y is among the parents the
effect is zero.

Nothing here sees data. **Cost** 2^(plain neighbours of x); at most ``MAX_CANDIDATES`` candidates are searched.

References: [1] Pearl 1993; [2] Maathuis, Kalisch & Buehlmann 2009, section 3 (the local algorithm).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from itertools import combinations

from dpcausal.core.errors import InputError
from dpcausal.core.spelling import spelled
from dpcausal.graphs.equivalence import nearest
from dpcausal.graphs.graph import Graph, Pair
from dpcausal.graphs.separation import d_separated

MAX_CANDIDATES, MAX_SET = (
    14,
    4,
)  # columns tried for a smallest set, and the largest set tried beside the parents
MAX_PLAIN = 12  # plain neighbours of a treatment whose directions are all tried


def descendants(graph: Graph, node: str, *, possible: bool = False) -> frozenset[str]:
    """Return the nodes that arrows lead to from ``node``, without itself; ``possible``: plain edges count as arrows.

    >>> g = Graph(["a", "b", "c", "d"], directed=[("a", "b"), ("b", "c")], undirected=[("a", "d")])
    >>> sorted(descendants(g, "a")), sorted(descendants(g, "a", possible=True))
    (['b', 'c'], ['b', 'c', 'd'])
    """
    found, waiting = {graph.check(node)}, [node]
    while waiting:
        here = waiting.pop()
        new = (graph.children(here) | (graph.neighbours(here) if possible else frozenset())) - found
        found |= new
        waiting.extend(new)
    return frozenset(found - {node})


def no_path(x: str, y: str) -> str:
    """Return why a graph can't say what to hold fixed, and that this is no evidence of no effect."""
    return (
        f'this graph shows no path of arrows from "{x}" to "{y}", so it does not say what to hold fixed. That is no '
        "evidence of no effect: a weak edge is missed easily. Name the columns to hold fixed "
        f"({spelled('--adjust A,B; --adjust none for nothing', 'adjust=[...]; adjust=[] for nothing')})"
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


def smallest_back_door(dag: Graph, x: str, y: str, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """Return the valid set with the fewest cells, in the order of the nodes; ``sizes`` are levels of each node.

    >>> arrows = [("u", "x"), ("v", "x"), ("u", "w"), ("v", "w"), ("w", "y"), ("x", "y")]
    >>> smallest_back_door(Graph([*"uvwxy"], directed=arrows), "x", "y", dict.fromkeys("uvwxy", 2))
    ('w',)
    """
    order = {name: i for i, name in enumerate(dag.nodes)}
    below = descendants(dag, x)
    if y not in below:
        raise InputError(no_path(x, y))
    best = tuple(sorted(dag.parents(x), key=order.__getitem__))
    least = math.prod(sizes[name] for name in best)
    near = dag.ancestors([x, y]) - below - {x, y}
    candidates = sorted(near, key=lambda name: (sizes[name], order[name]))[:MAX_CANDIDATES]
    for number in range(min(MAX_SET, len(candidates)) + 1):
        for given in combinations(sorted(candidates, key=order.__getitem__), number):
            cells = math.prod(sizes[name] for name in given)
            if cells < least and is_back_door(dag, x, y, given):
                best, least = given, cells
    return best


def parent_sets(graph: Graph, x: str, possible: Collection[Pair] = frozenset()) -> list[frozenset[str]]:
    """Return every set that the parents of ``x`` may be in a DAG of the class; ``possible`` pairs count as adjacent.

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
    """Return the sets to adjust for, one for each effect that the graph allows; None stands for no effect at all.

    One set where the parents of x are known, else one for each set of possible parents.

    Raises
    ------
    InputError
        If no DAG of the class has a path of arrows from x to y, or the arrows form a cycle.

    Examples
    --------
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
