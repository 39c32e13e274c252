"""Markov equivalence classes: from separating sets to a CPDAG, from a DAG to its CPDAG, from a CPDAG to a DAG.

**orient.** For every open triple a - c - b (a and b not adjacent): a -> c <- b if c is not in the set that separated a
and b. Then, with x -> y known, and until nothing changes, orient b - c as b -> c if (Meek's rules [2])

    rule 1   a -> b,                and a, c not adjacent    (else a new v-structure)
    rule 2   b -> a -> c                                     (else a cycle)
    rule 3   b - a1 -> c, b - a2 -> c, a1, a2 not adjacent   (else a cycle or a new v-structure)
    rule 4   b - a, a -> d -> c, b adjacent to d, a, c not adjacent

Rule 4 matters only when some arrows were ``required`` beforehand. **Cost** O(rounds x edges x degree^2), with at most
as many rounds as edges.

**Possible edges.** About some pairs nothing is known: ``possible``. They may be adjacent or not: "not adjacent" above
means neither adjacent nor possible, and no v-structure is read off such a pair. In rule 4 b and d may be a possible
pair. Every arrow is then in every DAG that has the skeleton and any of the possible edges, and in which each of the
given sets separates its pair: the v-structures and rules 1 to 4 follow from acyclicity and from what separates pairs
that are surely not adjacent, whichever possible edges are there (a test lists all such DAGs on four nodes). In rule 4,
c -> b would make a -> d -> c -> b, hence a -> b <- c, whether b and d are adjacent or not.

**Conflicts.** Answers of tests on finite or noisy data can contradict each other. The policy here does not depend on
the order of nodes: an edge that the evidence of one round points both ways stays plain for good, so do new arrows that
lie on a directed cycle, and ``required`` arrows always win. The arrows of the result therefore never form a cycle
(unless the required ones do, an ``InputError``). With true separating sets no conflict occurs.

**cpdag.** Two DAGs imply the same independences iff they have the same skeleton and the same v-structures [1]. The
CPDAG has the arrow a -> b iff every DAG of the class has it ("compelled"); the other edges are plain ("reversible"). Go
through heads y in topological order and, for each, through its parents x from the nearest backwards; the first edge
x -> y without a label decides [4]:

  - w -> x compelled and w is no parent of y: x -> y and all other arrows into y are compelled;
  - w -> x compelled and w is a parent of y: w -> y is compelled, look at the next w;
  - then, if some other parent of y is not a parent of x, all arrows into y still without label are compelled,
    else reversible.

**Cost** O(edges x largest number of parents).

**extend, nearest.** A DAG of the class: repeatedly take a node that can come last [5]: no arrow leaves it, and each of
its plain neighbours is adjacent to everything else it is adjacent to. Point its plain edges at it and remove it. If no
such node is left while edges remain, no extension exists: the arrows contradict each other. Then ``nearest`` takes the
node that makes the fewest new v-structures and says which edges they are made of. Whichever nodes that can come last
are taken first, an extension is found if there is one; among several the one latest in ``nodes`` is taken, so the
result is fixed by the graph. **Cost** O(nodes^2 x degree^2) at worst, less on sparse graphs.

References: [1] Verma and Pearl (1990); [2] Meek (1995), "Causal inference and causal explanation with background
knowledge"; [3] Colombo and Maathuis (2014) on dependence on order; [4] Chickering (1995), "A transformational
characterization of equivalent Bayesian network structures", procedures Order-Edges and Label-Edges; [5] Dor and Tarsi
(1992), "A simple algorithm to construct a consistent extension of a partially oriented graph".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import combinations

from dpcausal.core.errors import InputError
from dpcausal.graphs.graph import Arrow, Graph, Pair, checked_arrow


def orient(
    skeleton: Graph,
    separating: Mapping[Pair, Collection[str]],
    required: Iterable[Arrow] = (),
    possible: Collection[Pair] = frozenset(),
) -> Graph:
    """Return the CPDAG of a skeleton, from the sets that separated non-adjacent pairs.

    ``separating[frozenset({a, b})]`` is the set that made a and b independent. A pair without an entry was
    never separated by evidence (an edge forbidden beforehand) and gives no v-structure. Directions already
    in ``skeleton`` are ignored. A required arrow must be an edge of the skeleton, else ``InputError``; a v-structure
    that one contradicts gives no arrow. Pairs in ``possible`` may be adjacent or not: no arrow depends on which.

    >>> g = Graph(["a", "b", "c"], undirected=[("a", "c"), ("b", "c")])
    >>> orient(g, {frozenset("ab"): []}), orient(g, {frozenset("ab"): ["c"]})
    (Graph(a -> c, b -> c), Graph(a - c, b - c))
    >>> orient(g, {frozenset("ab"): []}, possible=[frozenset("ab")])
    Graph(a - c, b - c)
    >>> orient(g, {frozenset("ab"): []}, required=[("c", "b")])
    Graph(a - c, c -> b)
    """
    fixed = _checked_required(skeleton, required)
    unknown = frozenset(possible)
    claims: set[Arrow] = set()
    for arrows in v_structures(skeleton, separating, unknown):
        if not any((head, tail) in fixed for tail, head in arrows):  # half a v-structure is no evidence
            claims.update(arrow for arrow in arrows if arrow not in fixed)
    accepted, barred = _settle(skeleton.nodes, fixed, claims)
    return _close(skeleton, fixed | accepted, barred, unknown)


def v_structures(
    skeleton: Graph, separating: Mapping[Pair, Collection[str]], possible: Collection[Pair] = frozenset()
) -> Iterator[tuple[Arrow, Arrow]]:
    """Yield the two arrows of every v-structure that the separating sets imply, contradictions included."""
    for middle in skeleton.nodes:
        for a, b in combinations(skeleton.adjacent(middle), 2):
            pair = frozenset((a, b))
            if pair in skeleton.skeleton or pair in possible:
                continue
            if pair in separating and middle not in separating[pair]:
                yield (a, middle), (b, middle)


def meek(graph: Graph, possible: Collection[Pair] = frozenset()) -> Graph:
    """Return ``graph`` with every undirected edge oriented that Meek's four rules determine; its arrows stay.

    >>> chain = Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")])
    >>> meek(chain), meek(chain, possible=[frozenset("ac")])
    (Graph(a -> b, b -> c), Graph(a -> b, b - c))
    """
    graph.topological_order()  # refuses a cycle
    return _close(graph, graph.directed, frozenset(), frozenset(possible))


def consistent(
    graph: Graph, required: Collection[Arrow], *, settle: bool, possible: Collection[Pair] = frozenset()
) -> tuple[Graph, frozenset[Pair]]:
    """Return the graph freed of contradictions, and the edges at which answers contradict each other.

    With ``settle`` a contradicted graph is replaced: its arrows are those shared by all DAGs that have the v-structures
    of the nearest one, read over pairs that are surely not adjacent, and the ``required`` arrows.

    >>> square = Graph(["a", "b", "c", "d"], undirected=[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    >>> settled, where = consistent(square, [], settle=True)
    >>> settled, sorted(sorted(pair) for pair in where)
    (Graph(a - b, a -> d, b - c, c -> d), [['a', 'd'], ['c', 'd']])
    >>> consistent(square, [], settle=True, possible=[frozenset("ac")])
    (Graph(a - b, a - d, b - c, c - d), frozenset())
    """
    dag, contradicted = nearest(graph, possible)
    if not contradicted or not settle:
        return graph, contradicted
    unknown = frozenset(possible)
    arrows = set(required)
    for middle in dag.nodes:
        for a, b in combinations(dag.parents(middle), 2):
            if frozenset((a, b)) not in dag.skeleton | unknown:
                arrows |= {(a, middle), (b, middle)}
    plain = dag.skeleton - {frozenset(arrow) for arrow in arrows}
    return meek(Graph(graph.nodes, directed=arrows, undirected=plain), unknown), contradicted


def _checked_required(skeleton: Graph, required: Iterable[Arrow]) -> frozenset[Arrow]:
    """Return the required arrows, or refuse those that are no edge of the skeleton or form a cycle."""
    fixed = frozenset(checked_arrow(arrow, skeleton.nodes) for arrow in required)
    for tail, head in sorted(fixed):
        if frozenset((tail, head)) not in skeleton.skeleton:
            raise InputError(f'the required arrow "{tail}" -> "{head}" is not an edge of the skeleton')
    Graph(skeleton.nodes, fixed).topological_order()
    return fixed


def _close(
    graph: Graph, arrows: frozenset[Arrow], barred: frozenset[Pair], possible: frozenset[Pair]
) -> Graph:
    """Return the graph after Meek's rules were applied until nothing changes.

    All claims of a round are collected first, so that the order of edges is irrelevant.
    """
    done = frozenset(frozenset(arrow) for arrow in arrows)
    maybe = _beside(graph.nodes, possible)
    while True:
        current = Graph(graph.nodes, arrows, graph.skeleton - done)
        open_edges = [pair for pair in current.undirected if pair not in barred]
        claims = {
            (b, c)
            for pair in open_edges
            for b, c in (tuple(pair), tuple(pair)[::-1])
            if _decided(current, b, c, maybe)
        }
        if not claims:
            return current
        accepted, rejected = _settle(graph.nodes, arrows, claims)
        arrows, barred = arrows | accepted, barred | rejected
        done |= frozenset(frozenset(arrow) for arrow in accepted)


def _beside(nodes: Iterable[str], possible: Iterable[Pair]) -> dict[str, set[str]]:
    """Return for every node the nodes that it may be adjacent to."""
    found: dict[str, set[str]] = {name: set() for name in nodes}
    for one, other in possible:
        found[one].add(other)
        found[other].add(one)
    return found


def _decided(g: Graph, b: str, c: str, maybe: Mapping[str, set[str]]) -> bool:
    """Return whether one of Meek's rules orients the undirected edge b - c as b -> c."""
    near_c = g.adjacent(c) | maybe[c]
    into_c = g.parents(c)
    if g.parents(b) - near_c or g.children(b) & into_c:  # rules 1 and 2
        return True
    beside = g.neighbours(b) & into_c
    if any(a2 not in g.adjacent(a1) | maybe[a1] for a1, a2 in combinations(beside, 2)):  # rule 3
        return True
    tops = g.neighbours(b) - near_c - {c}
    return any(tops & g.parents(d) for d in into_c & (g.adjacent(b) | maybe[b]))  # rule 4


def _settle(
    nodes: tuple[str, ...], arrows: frozenset[Arrow], claims: set[Arrow]
) -> tuple[frozenset[Arrow], frozenset[Pair]]:
    """Return the claimed arrows to accept, and the edges that stay undirected: claimed both ways, or on a cycle."""
    both = {frozenset(arrow) for arrow in claims if (arrow[1], arrow[0]) in claims}
    new = {arrow for arrow in claims if frozenset(arrow) not in both}
    while circle := on_cycle(nodes, arrows | new) & new:
        both |= {frozenset(arrow) for arrow in circle}
        new -= circle
    return frozenset(new), frozenset(both)


def on_cycle(nodes: tuple[str, ...], arrows: Collection[Arrow]) -> set[Arrow]:
    """Return the arrows inside strongly connected components."""
    left = set(arrows)
    while True:
        heads, tails = {head for _, head in left}, {tail for tail, _ in left}
        inner = {arrow for arrow in left if arrow[0] in heads and arrow[1] in tails}
        if len(inner) == len(left):
            break
        left = inner
    if not left:
        return left
    graph = Graph(nodes, left)
    return {(tail, head) for tail, head in left if head in graph.ancestors([tail])}


def cpdag(dag: Graph) -> Graph:
    """Return the CPDAG of the class of ``dag``. ``InputError`` when ``dag`` is not a DAG.

    >>> cpdag(Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c")]))
    Graph(a - b, b - c)
    >>> cpdag(Graph(["a", "b", "c"], directed=[("a", "b"), ("c", "b")]))
    Graph(a -> b, c -> b)
    """
    if dag.undirected:
        raise InputError("a CPDAG is made from a DAG, and this graph has edges without a direction")
    order = dag.topological_order()
    rank = {name: i for i, name in enumerate(order)}
    compelled: dict[Arrow, bool] = {}
    for y in order:
        parents = sorted(dag.parents(y), key=rank.__getitem__, reverse=True)
        for x in parents:
            if (x, y) not in compelled:
                _label(dag, x, y, parents, compelled)
    return Graph(
        dag.nodes,
        directed=[edge for edge, fixed in compelled.items() if fixed],
        undirected=[edge for edge, fixed in compelled.items() if not fixed],
    )


def _label(dag: Graph, x: str, y: str, parents: list[str], compelled: dict[Arrow, bool]) -> None:
    """Label arrows into y as compelled or reversible, as far as x -> y determines it (Chickering's algorithm)."""
    for w in dag.parents(x):
        if compelled[w, x]:
            if w not in dag.parents(y):
                compelled.update({(z, y): True for z in parents})
                return
            compelled[w, y] = True
    fixed = any(z != x and z not in dag.parents(x) for z in parents)
    for z in parents:
        compelled.setdefault((z, y), fixed)


def extend(pdag: Graph, possible: Collection[Pair] = frozenset()) -> Graph:
    """Return a DAG with the skeleton, arrows and v-structures of ``pdag``; ``InputError`` if there is none.

    >>> extend(Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")]))
    Graph(a -> b, b -> c)
    >>> extend(Graph(["a", "b", "c", "d"], undirected=[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]))
    Traceback (most recent call last):
    dpcausal.core.errors.InputError: no DAG has this skeleton, these arrows and no further v-structure
    """
    dag, contradicted = nearest(pdag, possible)
    if contradicted:
        raise InputError("no DAG has this skeleton, these arrows and no further v-structure")
    return dag


def nearest(pdag: Graph, possible: Collection[Pair] = frozenset()) -> tuple[Graph, frozenset[Pair]]:
    """Return a DAG with this skeleton and these arrows, and the edges of the v-structures that it has to add.

    ``InputError`` if the arrows form a cycle. Arrows that meet from a pair in ``possible`` are no v-structure.

    >>> nearest(Graph(["a", "b", "c", "d"], undirected=[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]))[0]
    Graph(a -> b, a -> d, b -> c, c -> d)
    """
    pdag.topological_order()  # refuses a cycle
    maybe = _beside(pdag.nodes, possible)
    adjacent = {name: set(pdag.adjacent(name)) for name in pdag.nodes}
    children = {name: set(pdag.children(name)) for name in pdag.nodes}
    neighbours = {name: set(pdag.neighbours(name)) for name in pdag.nodes}
    arrows, contradicted = set(pdag.directed), set()
    left = list(reversed(pdag.nodes))
    while left:
        ends = [name for name in left if not children[name]]
        last = min(ends, key=lambda name: len(_new_colliders(name, adjacent, neighbours, maybe)))
        for one, other in _new_colliders(last, adjacent, neighbours, maybe):
            contradicted |= {frozenset((one, last)), frozenset((other, last))}
        arrows |= {(other, last) for other in neighbours[last]}
        for other in adjacent[last]:
            adjacent[other].discard(last)
            children[other].discard(last)
            neighbours[other].discard(last)
        left.remove(last)
    return Graph(pdag.nodes, directed=arrows), frozenset(contradicted)


def _new_colliders(
    name: str,
    adjacent: Mapping[str, set[str]],
    neighbours: Mapping[str, set[str]],
    maybe: Mapping[str, set[str]],
) -> list[tuple[str, str]]:
    """Return the non-adjacent pairs that would become colliders at ``name`` if it were made a sink."""
    return [
        (one, other)
        for one in neighbours[name]
        for other in adjacent[name]
        if other != one and other not in adjacent[one] and other not in maybe[one]
    ]
