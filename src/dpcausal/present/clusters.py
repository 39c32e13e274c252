"""Hundreds of codes as a picture that a person can read: groups of codes that go together, each drawn by itself.

1. **Groups.** Codes that links join. Larger groups are split where few links go across: groups are joined as long as
   that gains modularity [1], weighted by Cohen's w, and no group becomes larger than ``MOST``.
2. **Links drawn.** Of a group the strongest that join it, and then the strongest, ``PER_CODE`` a code at most.
3. **Places.** Every group is a drawing of its own (``figures.py``), and these stand in rows, the largest first.

Links that are not drawn, within groups and between them, are counted below, the strongest named. Nothing but the graph
and the strengths enters.

References: [1] Clauset, Newman & Moore 2004.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dpcausal.graphs.graph import Pair

MOST = 12  # codes of a group
PER_CODE = 1.5  # links drawn of a group, for each of its codes
NAMED = 8  # links between groups that are named
GAP, HEADING = 26.0, 18.0  # between drawings; room for the letter of a group
LEAST_WIDTH, WIDE = 900.0, 1.7  # of the picture; how much wider than tall it is

Size = tuple[float, float]


class Group(NamedTuple):
    """Codes that go together, and which of the links among them are drawn."""

    codes: tuple[str, ...]
    drawn: tuple[Pair, ...]


def groups(nodes: Sequence[str], strength: Mapping[Pair, float]) -> list[Group]:
    """Return the groups of linked codes, the largest first; ``strength`` is that of every link.

    >>> links = {frozenset("ab"): 0.3, frozenset("bc"): 0.2, frozenset("xy"): 0.1}
    >>> [group.codes for group in groups("abcdxy", links)]
    [('a', 'b', 'c'), ('x', 'y')]
    """
    place = {name: j for j, name in enumerate(nodes)}
    found = []
    for part in _components(nodes, strength):
        inner = _within(part, strength)
        whole = len(part) <= MOST and len(inner) <= PER_CODE * len(part)
        found += [part] if whole else _split(part, inner)
    named = [tuple(sorted(part, key=place.__getitem__)) for part in found]
    ordered = sorted(named, key=lambda part: (-len(part), place[part[0]]))
    return [Group(part, _drawn(part, strength)) for part in ordered]


def _components(nodes: Sequence[str], links: Iterable[Pair]) -> list[set[str]]:
    """Return the connected components of the codes with links."""
    part: dict[str, set[str]] = {}
    for pair in links:
        joined = set(pair).union(*(part.get(name, set()) for name in pair))
        part.update(dict.fromkeys(joined, joined))
    found: dict[int, set[str]] = {id(part[name]): part[name] for name in nodes if name in part}
    return list(found.values())


def _within(codes: Iterable[str], strength: Mapping[Pair, float]) -> dict[Pair, float]:
    """Return the strengths of the pairs of which both codes are among these."""
    codes = set(codes)
    return {pair: w for pair, w in strength.items() if pair <= codes}


def _split(part: Iterable[str], strength: Mapping[Pair, float]) -> list[set[str]]:
    """Return the groups of a component, by greedy modularity; single codes join their best group."""
    total = 2.0 * sum(strength.values())
    ends_of = dict.fromkeys(part, 0.0)
    for pair, w in strength.items():
        for name in pair:
            ends_of[name] += w
    found = [{name} for name in sorted(part)]
    while True:
        ends = [sum(ends_of[name] for name in one) for one in found]
        between = _between(found, strength)
        gains = {
            (a, b): w / total - ends[a] * ends[b] * 2.0 / total**2
            for (a, b), w in between.items()
            if len(found[a]) + len(found[b]) <= MOST
        }
        # a code by itself says nothing of its links: it joins some group, if there is room
        best = max(
            gains,
            key=lambda pair: (min(len(found[one]) for one in pair) == 1, gains[pair], pair),
            default=None,
        )
        if best is None or (gains[best] <= 0.0 and min(len(found[one]) for one in best) > 1):
            return found
        a, b = best
        found[a] |= found.pop(b)


def _between(found: Sequence[set[str]], strength: Mapping[Pair, float]) -> dict[tuple[int, int], float]:
    """Return the total strength of links between groups, by pairs of their places."""
    of = {name: g for g, one in enumerate(found) for name in one}
    total: dict[tuple[int, int], float] = {}
    for pair, w in strength.items():
        a, b = sorted(of[name] for name in pair)
        if a != b:
            total[a, b] = total.get((a, b), 0.0) + w
    return total


def _drawn(part: Sequence[str], strength: Mapping[Pair, float]) -> tuple[Pair, ...]:
    """Return the links of a group that are drawn: a spanning tree of strongest links, then the strongest."""
    inner = _within(part, strength)
    ordered = sorted(inner, key=lambda pair: (-inner[pair], sorted(pair)))
    tree: list[Pair] = []
    where = {name: name for name in part}
    for pair in ordered:
        a, b = (where[name] for name in sorted(pair))
        if a != b:
            tree.append(pair)
            where = {name: a if to == b else to for name, to in where.items()}
    room = max(int(PER_CODE * len(part)) - len(tree), 0)
    return (*tree, *[pair for pair in ordered if pair not in tree][:room])


class LeftOut(NamedTuple):
    """Links that the picture does not draw: within groups, and between them, the strongest first."""

    within: int
    between: tuple[Pair, ...]


def left_out(found: Sequence[Group], strength: Mapping[Pair, float]) -> LeftOut:
    """Return the links that a drawing leaves out."""
    of = {name: g for g, group in enumerate(found) for name in group.codes}
    drawn = {pair for group in found for pair in group.drawn}
    rest = sorted(
        (pair for pair in strength if pair not in drawn), key=lambda pair: (-strength[pair], sorted(pair))
    )
    apart = tuple(pair for pair in rest if len({of[name] for name in pair}) == 2)
    return LeftOut(len(rest) - len(apart), apart)


def letter(place: int) -> str:
    """Return the name of a group: A to Z, then AA and so on.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'AA')
    """
    return (letter(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)


def in_rows(sizes: Sequence[Size]) -> list[tuple[float, float]]:
    """Return the positions of drawings of these sizes, placed left to right in rows.

    >>> in_rows([(600.0, 100.0), (400.0, 50.0), (100.0, 50.0)])
    [(0.0, 0.0), (0.0, 126.0), (426.0, 126.0)]
    """
    area = sum((wide + GAP) * (high + GAP) for wide, high in sizes)
    room = max([LEAST_WIDTH, sqrt(WIDE * area), *(wide for wide, _ in sizes)])
    places, x, y, tall = [], 0.0, 0.0, 0.0
    for wide, high in sizes:
        if x > 0 and x + wide > room:
            x, y, tall = 0.0, y + tall + GAP, 0.0
        places.append((x, y))
        x, tall = x + wide + GAP, max(tall, high)
    return places
