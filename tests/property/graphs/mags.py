"""All ways of hidden causes on a few nodes, by the definition: what a PAG must say, without any rule.

A maximal ancestral graph (MAG) has edges ``->``, ``<-`` and ``<->``; no arrowhead points at a cause of its other end
(ancestral), and some set separates every pair that is not adjacent (maximal). The class of a MAG is all MAGs with the
same separations; its PAG has the marks that all of them share, and circles elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, product

from dpcausal.graphs.pag import PAG, Mark

Marks = dict[tuple[str, str], Mark]  # [a, b]: the mark at b
Model = frozenset[tuple[frozenset[str], frozenset[str]]]  # (pair, set): separated
KINDS = {"->": (Mark.TAIL, Mark.ARROW), "<-": (Mark.ARROW, Mark.TAIL), "<->": (Mark.ARROW, Mark.ARROW)}


def subsets(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """All of them, the smallest first."""
    return chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))


def marked(edges: dict[tuple[str, str], str]) -> Marks:
    """Marks of edges given as ``->``, ``<-`` or ``<->``."""
    found: Marks = {}
    for (a, b), kind in edges.items():
        found[b, a], found[a, b] = KINDS[kind]
    return found


def causes(nodes: tuple[str, ...], marks: Marks) -> dict[str, set[str]]:
    """Of every node: itself and what causes it."""
    found = {name: {name} for name in nodes}
    for _ in nodes:
        for a, b in marks:
            if marks[a, b] is Mark.ARROW and marks[b, a] is Mark.TAIL:
                found[b] |= found[a]
    return found


def is_ancestral(nodes: tuple[str, ...], marks: Marks) -> bool:
    """Whether no arrowhead points at a cause of its other end."""
    above = causes(nodes, marks)
    return not any(mark is Mark.ARROW and b in above[a] for (a, b), mark in marks.items())


def separated(nodes: tuple[str, ...], marks: Marks, x: str, y: str, given: frozenset[str]) -> bool:
    """m-separation by the definition, over all paths."""
    above = causes(nodes, marks)
    opened = set().union(*(above[z] for z in given)) if given else set()

    def connects(path: tuple[str, ...]) -> bool:
        for v in nodes:
            if v in path or (path[-1], v) not in marks:
                continue
            if len(path) > 1:
                u, w = path[-2:]
                collider = marks[u, w] is Mark.ARROW is marks[v, w]
                if (w not in opened) if collider else (w in given):
                    continue
            if v == y or connects((*path, v)):
                return True
        return False

    return not connects((x,))


def model(nodes: tuple[str, ...], marks: Marks) -> Model:
    """Every separation."""
    return frozenset(
        (frozenset((x, y)), frozenset(given))
        for x, y in combinations(nodes, 2)
        for given in subsets(tuple(name for name in nodes if name not in (x, y)))
        if separated(nodes, marks, x, y, frozenset(given))
    )


def is_maximal(nodes: tuple[str, ...], marks: Marks, separations: Model) -> bool:
    """Whether pairs that are not adjacent can be separated."""
    apart = {pair for pair, _ in separations}
    return all((x, y) in marks or frozenset((x, y)) in apart for x, y in combinations(nodes, 2))


def with_skeleton(nodes: tuple[str, ...], pairs: list[tuple[str, str]]) -> Iterator[tuple[Marks, Model]]:
    """Every MAG with these edges."""
    for kinds in product(KINDS, repeat=len(pairs)):
        marks = marked(dict(zip(pairs, kinds, strict=True)))
        if is_ancestral(nodes, marks):
            separations = model(nodes, marks)
            if is_maximal(nodes, marks, separations):
                yield marks, separations


def of_model(nodes: tuple[str, ...], pairs: list[tuple[str, str]], wanted: Model) -> Iterator[Marks]:
    """Every MAG with these edges and exactly these separations."""
    questions = [
        (x, y, frozenset(given))
        for x, y in combinations(nodes, 2)
        for given in subsets(tuple(name for name in nodes if name not in (x, y)))
    ]
    for kinds in product(KINDS, repeat=len(pairs)):
        marks = marked(dict(zip(pairs, kinds, strict=True)))
        if is_ancestral(nodes, marks) and all(
            separated(nodes, marks, x, y, given) == ((frozenset((x, y)), given) in wanted)
            for x, y, given in questions
        ):
            yield marks


def shared(nodes: tuple[str, ...], members: list[Marks]) -> PAG:
    """The PAG of a class: marks that all members share."""
    ends = members[0]
    return PAG.of_marks(
        nodes,
        {end: ends[end] if len({one[end] for one in members}) == 1 else Mark.CIRCLE for end in ends},
    )


def classes(nodes: tuple[str, ...]) -> dict[Model, list[Marks]]:
    """Every class of MAGs on these nodes."""
    found: dict[Model, list[Marks]] = {}
    for pairs in subsets(tuple(combinations(nodes, 2))):  # type: ignore[arg-type]
        for marks, separations in with_skeleton(nodes, list(pairs)):  # type: ignore[arg-type]
            found.setdefault(separations, []).append(marks)
    return found
