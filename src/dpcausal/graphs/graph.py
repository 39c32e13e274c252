"""The graph value every other room hands around: named nodes, arrows and plain edges.

A DAG has arrows only; a CPDAG has both kinds, and stands for all DAGs with the same independences. Nothing in
a graph depends on the order in which edges were given.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.graphs import formats

if TYPE_CHECKING:
    import networkx

Arrow = tuple[str, str]
Pair = frozenset[str]

# What XML 1.0 can't hold even escaped: such a name could not leave as GraphML.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def checked_names(nodes: Iterable[object]) -> tuple[str, ...]:
    """Return the names of nodes as a tuple; refuse an empty, repeated or unwritable one.

    >>> checked_names(["smoke", "lung cancer"])
    ('smoke', 'lung cancer')
    """
    if isinstance(nodes, str):
        raise InputError(f"nodes must be a list of names, not the text {nodes!r}")
    names: dict[str, None] = {}
    for name in nodes:
        if not isinstance(name, str) or not name:
            raise InputError(f"a node's name must be a text that is not empty, not {name!r}")
        if _UNPRINTABLE.search(name):
            raise InputError(f"the node name {name!r} holds a control character")
        if name in names:
            raise InputError(f'node "{name}" given twice')
        names[name] = None
    return tuple(names)


def checked_arrow(edge: object, known: Collection[str]) -> Arrow:
    """Return ``edge`` as ``(tail, head)``; refuse a set, which has no direction.

    >>> checked_arrow(("a", "b"), {"a", "b"})
    ('a', 'b')
    """
    if not isinstance(edge, tuple | list) or len(edge) != 2:
        raise InputError(f"an arrow must be a pair (tail, head), not {edge!r}")
    tail, head = edge
    _check_ends(tail, head, "->", known)
    return tail, head


def checked_pair(edge: object, known: Collection[str]) -> Pair:
    """Return ``edge`` as ``frozenset({a, b})``.

    >>> sorted(checked_pair(["b", "a"], {"a", "b"}))
    ['a', 'b']
    """
    ends = tuple(edge) if isinstance(edge, tuple | list | set | frozenset) else ()
    if len(ends) == 1:  # a set with the same node twice
        ends *= 2
    if len(ends) != 2:
        raise InputError(f"an edge must be a pair of nodes, not {edge!r}")
    _check_ends(ends[0], ends[1], "-", known)
    return frozenset(ends)


def _check_ends(a: object, b: object, mark: str, known: Collection[str]) -> None:
    """Refuse an edge with an unknown node, or from a node to itself."""
    for end in (a, b):
        if not isinstance(end, str) or end not in known:
            raise InputError(f'edge {a} {mark} {b}: no node "{end}"{did_you_mean(str(end), known)}')
    if a == b:
        raise InputError(f'an edge from "{a}" to itself')


def reachable_by(step: Callable[[str], Iterable[str]], start: Iterable[str]) -> frozenset[str]:
    """Return the nodes reachable from ``start`` by repeated ``step``, ``start`` included.

    >>> sorted(reachable_by({"a": ["b"], "b": ["c"], "c": []}.__getitem__, ["a"]))
    ['a', 'b', 'c']
    """
    found = set(start)
    waiting = list(found)
    while waiting:
        new = set(step(waiting.pop())) - found
        found |= new
        waiting.extend(new)
    return frozenset(found)


class Graph:
    """An immutable graph with at most one edge between two nodes: ``a -> b`` or ``a - b``.

    Two graphs are equal when they have the same nodes in any order and the same edges. Arrows may form a cycle
    (``is_dag`` tells).

    Parameters
    ----------
    nodes : iterable of str
        Names; their order is kept.
    directed : iterable of pairs, default ()
        Arrows ``(tail, head)``; the attribute is a frozenset of them.
    undirected : iterable of pairs, default ()
        Plain edges; the attribute, like ``skeleton``, is a frozenset of ``frozenset({a, b})``.

    Raises
    ------
    InputError
        For an edge to an unknown node, a loop, two edges between the same nodes, a node given twice, and a name that
        is empty or holds control characters or halves of a surrogate pair (tab and line ends are allowed).

    Examples
    --------
    >>> g = Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")])
    >>> g
    Graph(a -> b, b - c)
    >>> g.parents("b"), g.neighbours("b"), g.adjacent("a")
    (frozenset({'a'}), frozenset({'c'}), frozenset({'b'}))
    """

    kind = "pdag"  # as dagitty calls it; "pag" where edges have circles and two heads
    _makers: ClassVar[
        dict[str, Callable[..., Graph]]
    ] = {}  # classes for other kinds, which are graphs themselves

    __slots__ = ("_children", "_directed", "_neighbours", "_nodes", "_parents", "_skeleton", "_undirected")

    def __init__(
        self,
        nodes: Iterable[str],
        directed: Iterable[Arrow] = (),
        undirected: Iterable[Collection[str]] = (),
    ) -> None:
        names = checked_names(nodes)
        parents: dict[str, set[str]] = {name: set() for name in names}
        children: dict[str, set[str]] = {name: set() for name in names}
        neighbours: dict[str, set[str]] = {name: set() for name in names}
        arrows = {checked_arrow(edge, parents) for edge in directed}
        plain = {checked_pair(edge, parents) for edge in undirected}
        for tail, head in arrows:
            if tail in children[head] or frozenset((tail, head)) in plain:
                raise InputError(f'two different edges between "{tail}" and "{head}"')
            parents[head].add(tail)
            children[tail].add(head)
        for a, b in plain:
            neighbours[a].add(b)
            neighbours[b].add(a)
        self._nodes = names
        self._directed = frozenset(arrows)
        self._undirected: frozenset[Pair] = frozenset(plain)
        self._skeleton: frozenset[Pair] = self._undirected.union(frozenset(edge) for edge in arrows)
        self._parents = {name: frozenset(found) for name, found in parents.items()}
        self._children = {name: frozenset(found) for name, found in children.items()}
        self._neighbours = {name: frozenset(found) for name, found in neighbours.items()}

    def __init_subclass__(cls) -> None:
        Graph._makers[cls.kind] = cls

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names in the order given."""
        return self._nodes

    @property
    def directed(self) -> frozenset[Arrow]:
        """Arrows, as ``(tail, head)``."""
        return self._directed

    @property
    def undirected(self) -> frozenset[Pair]:
        """Undirected edges, as ``frozenset({a, b})``."""
        return self._undirected

    @property
    def skeleton(self) -> frozenset[Pair]:
        """All edges without their directions."""
        return self._skeleton

    def parents(self, node: str) -> frozenset[str]:
        """Return the tails of the arrows into ``node``."""
        return self._parents[self.check(node)]

    def children(self, node: str) -> frozenset[str]:
        """Return the heads of the arrows out of ``node``."""
        return self._children[self.check(node)]

    def neighbours(self, node: str) -> frozenset[str]:
        """Return the nodes joined to ``node`` by an undirected edge."""
        return self._neighbours[self.check(node)]

    def adjacent(self, node: str) -> frozenset[str]:
        """Return the nodes joined to ``node`` by any edge."""
        return self.parents(node) | self._children[node] | self._neighbours[node]

    def ancestors(self, nodes: Iterable[str]) -> frozenset[str]:
        """Return ``nodes`` and all their ancestors. O(nodes + edges)."""
        return reachable_by(self._parents.__getitem__, map(self.check, nodes))

    def check(self, node: str) -> str:
        """Return ``node``; raise ``InputError`` if the graph does not have it."""
        if node not in self._parents:
            raise InputError(f'no node "{node}" in the graph{did_you_mean(str(node), self._nodes)}')
        return node

    def topological_order(self) -> tuple[str, ...]:
        """Return the nodes in a topological order, ties in the order of ``nodes``.

        Plain edges are ignored. Raises ``InputError`` when arrows form a cycle. O(nodes + edges).
        """
        missing = {name: len(found) for name, found in self._parents.items()}
        ready = [name for name in self._nodes if not missing[name]]
        rank = {name: i for i, name in enumerate(self._nodes)}
        for name in ready:  # grows while it is read
            for child in sorted(self._children[name], key=rank.__getitem__):
                missing[child] -= 1
                if not missing[child]:
                    ready.append(child)
        if len(ready) < len(self._nodes):
            stuck = next(name for name in self._nodes if missing[name])
            raise InputError(f'the arrows form a directed cycle (at or before "{stuck}")')
        return tuple(ready)

    def is_dag(self) -> bool:
        """Return whether every edge is an arrow and no arrows form a cycle."""
        if self._undirected:
            return False
        try:
            self.topological_order()
        except InputError:
            return False
        return True

    def marked_edges(self) -> Iterator[formats.MarkedEdge]:
        """Yield every edge once as ``(a, "->", b)`` or ``(a, "-", b)``, in order of ``nodes``; a PAG has more marks."""
        rank = {name: i for i, name in enumerate(self._nodes)}
        for a in self._nodes:
            for b in sorted(self._children[a] | self._neighbours[a], key=rank.__getitem__):
                if b in self._children[a]:
                    yield a, "->", b
                elif rank[a] < rank[b]:
                    yield a, "-", b

    def edges(self) -> Iterator[tuple[str, str, bool]]:
        """Yield every edge once as ``(a, b, is_arrow)``, in the order of ``marked_edges``; an arrow is ``a -> b``."""
        return ((a, b, marks == "->") for a, marks, b in self.marked_edges())

    def marks(self, a: str, b: str) -> str:
        """Return the edge between a and b as text, read from a to b: ``->``, ``<-`` or ``-``; a PAG has more.

        Raises
        ------
        InputError
            If there is no such node or edge.
        """
        if self.check(b) not in self.adjacent(a):
            raise InputError(f'no edge between "{a}" and "{b}"')
        return "->" if b in self._children[a] else "<-" if b in self._parents[a] else "-"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            self._parents.keys() == other._parents.keys()
            and self._directed == other._directed
            and self._undirected == other._undirected
        )

    def __hash__(self) -> int:
        return hash((frozenset(self._nodes), self._directed, self._undirected))

    def __repr__(self) -> str:
        edges = [" ".join(edge) for edge in self.marked_edges()]
        alone = [name for name in self._nodes if not self.adjacent(name)]
        return f"{type(self).__name__}({', '.join(edges + alone)})"

    def __str__(self) -> str:
        """Return one line for each edge, then the nodes without any."""
        edges = [" ".join(edge) for edge in self.marked_edges()]
        alone = [f"{name} (no edge)" for name in self._nodes if not self.adjacent(name)]
        return "\n".join(edges + alone)

    def to_json(self) -> str:
        """Return one JSON object with ``nodes``, ``directed`` and ``undirected``; of a PAG with ``marks`` too."""
        return formats.to_json(self)

    def to_networkx(self) -> networkx.DiGraph:
        """Return a ``networkx.DiGraph`` in which a plain edge is two arcs, one each way."""
        return formats.to_networkx(self)

    def to_dot(self) -> str:
        """Return Graphviz text."""
        return formats.to_dot(self)

    def to_graphml(self) -> str:
        """Return GraphML text that networkx, igraph and Cytoscape read."""
        return formats.to_graphml(self)

    def to_tetrad(self) -> str:
        """Return Tetrad's text format."""
        return formats.to_tetrad(self)

    def to_dagitty(self) -> str:
        """Return the text of dagitty (R, and in a browser): ``pdag { ... }``, or ``pag { ... }`` of a PAG."""
        return formats.to_dagitty(self)

    def to_arcs(self) -> str:
        """Return the arcs as comma-separated values (from, to), an undirected edge as two, as bnlearn reads them."""
        return formats.to_arcs(self)

    def to_pcalg(self) -> list[list[int]]:
        """Return pcalg's adjacency matrix (``amat.cpdag``, of a PAG ``amat.pag``) in the order of ``nodes``."""
        return formats.to_pcalg(self)

    def to_caugi(self) -> str:
        """Return the JSON text of R's caugi."""
        return formats.to_caugi(self)

    @classmethod
    def from_json(cls, source: str | bytes | Mapping[str, Any] | os.PathLike[str]) -> Self:
        """Parse a JSON text, a parsed object or the file at a ``Path``; return a ``PAG`` if it is one."""
        return cls._made(formats.from_json(source))

    @classmethod
    def from_networkx(cls, graph: networkx.Graph) -> Self:
        """Return the graph of a ``networkx`` graph; names must be text, arcs both ways are an undirected edge."""
        return cls._made(formats.from_networkx(graph))

    @classmethod
    def from_graphml(cls, text: str | bytes) -> Self:
        """Parse the first graph of a GraphML text."""
        return cls._made(formats.from_graphml(text))

    @classmethod
    def from_tetrad(cls, text: str) -> Self:
        """Parse a text of Tetrad; return a ``PAG`` where an edge has a circle or two heads."""
        return cls._made(formats.from_tetrad(text))

    @classmethod
    def from_dagitty(cls, text: str) -> Self:
        """Parse a text of dagitty; return a ``PAG`` where an edge has a circle or two heads."""
        return cls._made(formats.from_dagitty(text))

    @classmethod
    def from_arcs(cls, text: str, nodes: Sequence[str] | None = None) -> Self:
        """Parse a table of arcs; ``nodes`` names nodes without an arc, too."""
        return cls._made(formats.from_arcs(text, nodes))

    @classmethod
    def from_pcalg(cls, matrix: Any, nodes: Sequence[str]) -> Self:
        """Return the graph of pcalg's adjacency matrix, with the names of its rows."""
        return cls._made(formats.from_pcalg(matrix, nodes))

    @classmethod
    def from_caugi(cls, text: str | bytes | Mapping[str, Any]) -> Self:
        """Parse a JSON text of caugi."""
        return cls._made(formats.from_caugi(text))

    @classmethod
    def _made(cls, found: formats.GraphParts) -> Self:
        """Return the graph of parsed parts; a PAG where circles or two heads occur or it is declared one."""
        pag = found.pag
        if pag is None:
            pag = cls.kind == formats.PAG or any(
                marks not in ("->", "<-", "-") for _, marks, _ in found.edges
            )
        if pag:
            return cast(Self, Graph._makers[formats.PAG](found.nodes, found.edges))
        if cls.kind == formats.PAG:
            raise InputError("this graph has no marks of a PAG: read it with Graph")
        arrows = [(b, a) if marks == "<-" else (a, b) for a, marks, b in found.edges if marks != "-"]
        return cls(found.nodes, arrows, [(a, b) for a, marks, b in found.edges if marks == "-"])
