"""From a skeleton and separating sets to a CPDAG: v-structures, then Meek's rules.

For every open triple a - c - b (a and b not adjacent): a -> c <- b if c is not in the set that separated a
and b. Then, with x -> y known, and until nothing changes, orient b - c as b -> c if

    rule 1   a -> b,                and a, c not adjacent    (else a new v-structure)
    rule 2   b -> a -> c                                     (else a cycle)
    rule 3   b - a1 -> c, b - a2 -> c, a1, a2 not adjacent   (else a cycle or a new v-structure)
    rule 4   b - a, a -> d -> c, b adjacent to d, a, c not adjacent

Rule 4 matters only when some arrows were ``required`` beforehand.

Conflicts. Answers of tests on finite or noisy data can contradict each other. The policy here does not
depend on the order of nodes: an edge that the evidence of one round points both ways stays plain for good,
so do new arrows that lie on a directed cycle, and ``required`` arrows always win. The arrows of the result
therefore never form a cycle (unless the required ones do, an ``InputError``). With true separating sets no
conflict occurs.

Cost: O(rounds x edges x degree^2), with at most as many rounds as edges.

References: Verma and Pearl (1990); Meek (1995), "Causal inference and causal explanation with background
knowledge"; Colombo and Maathuis (2014) on dependence on order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations

from dpcausal.core.errors import InputError
from dpcausal.graphs.checked import Arrow, Pair, checked_arrow
from dpcausal.graphs.graph import Graph


def orient(
    skeleton: Graph, separating: Mapping[Pair, Collection[str]], required: Iterable[Arrow] = ()
) -> Graph:
    """The CPDAG of a skeleton and what separated each pair that is not adjacent.

    ``separating[frozenset({a, b})]`` is the set that made a and b independent. A pair without an entry was
    never separated by evidence (an edge forbidden beforehand) and gives no v-structure. Directions already
    in ``skeleton`` are ignored. A required arrow must be an edge of the skeleton, else ``InputError``.

    >>> g = Graph(["a", "b", "c"], undirected=[("a", "c"), ("b", "c")])
    >>> orient(g, {frozenset("ab"): []}), orient(g, {frozenset("ab"): ["c"]})
    (Graph(a -> c, b -> c), Graph(a - c, b - c))
    """
    fixed = _checked_required(skeleton, required)
    claims = {
        arrow
        for arrow in v_structure_arrows(skeleton, separating)
        if (arrow[1], arrow[0]) not in fixed and arrow not in fixed
    }
    accepted, barred = _settle(skeleton.nodes, fixed, claims)
    return _close(skeleton, fixed | accepted, barred)


def v_structure_arrows(skeleton: Graph, separating: Mapping[Pair, Collection[str]]) -> set[Arrow]:
    """The arrows of every v-structure that the separating sets imply, contradictions included.

    >>> g = Graph(["a", "b", "c"], undirected=[("a", "c"), ("b", "c")])
    >>> sorted(v_structure_arrows(g, {frozenset("ab"): []}))
    [('a', 'c'), ('b', 'c')]
    """
    arrows: set[Arrow] = set()
    for middle in skeleton.nodes:
        for a, b in combinations(skeleton.adjacent(middle), 2):
            pair = frozenset((a, b))
            if pair not in skeleton.skeleton and pair in separating and middle not in separating[pair]:
                arrows |= {(a, middle), (b, middle)}
    return arrows


def meek(graph: Graph) -> Graph:
    """``graph`` with every plain edge oriented that the four rules decide; its arrows stay as they are.

    >>> meek(Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")]))
    Graph(a -> b, b -> c)
    """
    graph.topological_order()  # refuses a cycle
    return _close(graph, graph.directed, frozenset())


def _checked_required(skeleton: Graph, required: Iterable[Arrow]) -> frozenset[Arrow]:
    fixed = frozenset(checked_arrow(arrow, skeleton.nodes) for arrow in required)
    for tail, head in sorted(fixed):
        if frozenset((tail, head)) not in skeleton.skeleton:
            raise InputError(f'the required arrow "{tail}" -> "{head}" is not an edge of the skeleton')
    Graph(skeleton.nodes, fixed).topological_order()
    return fixed


def _close(graph: Graph, arrows: frozenset[Arrow], barred: frozenset[Pair]) -> Graph:
    """Apply the rules in rounds; each round gathers all claims first, so no order of edges matters."""
    done = frozenset(frozenset(arrow) for arrow in arrows)
    while True:
        current = Graph(graph.nodes, arrows, graph.skeleton - done)
        open_edges = [pair for pair in current.undirected if pair not in barred]
        claims = {
            (b, c)
            for pair in open_edges
            for b, c in (tuple(pair), tuple(pair)[::-1])
            if _decided(current, b, c)
        }
        if not claims:
            return current
        accepted, rejected = _settle(graph.nodes, arrows, claims)
        arrows, barred = arrows | accepted, barred | rejected
        done |= frozenset(frozenset(arrow) for arrow in accepted)


def _decided(g: Graph, b: str, c: str) -> bool:
    """Whether one of the four rules orients the plain edge b - c as b -> c."""
    near_c = g.adjacent(c)
    into_c = g.parents(c)
    if g.parents(b) - near_c or g.children(b) & into_c:  # rules 1 and 2
        return True
    beside = g.neighbours(b) & into_c
    if any(a2 not in g.adjacent(a1) for a1, a2 in combinations(beside, 2)):  # rule 3
        return True
    tops = g.neighbours(b) - near_c - {c}
    return any(tops & g.parents(d) for d in into_c & g.adjacent(b))  # rule 4


def _settle(
    nodes: tuple[str, ...], arrows: frozenset[Arrow], claims: set[Arrow]
) -> tuple[frozenset[Arrow], frozenset[Pair]]:
    """Split claims into arrows to accept and edges that stay plain: claimed both ways, or on a cycle."""
    both = {frozenset(arrow) for arrow in claims if (arrow[1], arrow[0]) in claims}
    new = {arrow for arrow in claims if frozenset(arrow) not in both}
    while on_cycle := _on_cycle(nodes, arrows | new) & new:
        both |= {frozenset(arrow) for arrow in on_cycle}
        new -= on_cycle
    return frozenset(new), frozenset(both)


def _on_cycle(nodes: tuple[str, ...], arrows: Collection[Arrow]) -> set[Arrow]:
    """Arrows inside a strongly connected component, found by peeling off sources and sinks, then by reach."""
    left = set(arrows)
    while True:
        heads, tails = {head for _, head in left}, {tail for tail, _ in left}
        kept = {arrow for arrow in left if arrow[0] in heads and arrow[1] in tails}
        if len(kept) == len(left):
            break
        left = kept
    if not left:
        return left
    graph = Graph(nodes, left)
    return {(tail, head) for tail, head in left if head in graph.ancestors([tail])}
