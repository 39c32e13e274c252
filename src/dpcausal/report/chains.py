"""Steps 2 and 3 of the layered layout: way points for long edges, and an order within layers with few crossings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

SWEEPS = 16

Edge = tuple[str, str]
Item = str | tuple[str, str, int]  # a node, or the way point of an edge in a layer
Rows = list[list[Item]]


def chains(edges: Iterable[Edge], depth: Mapping[str, int]) -> dict[Edge, tuple[Item, ...]]:
    """Each edge as its upper end, one way point per layer between, and its lower end.

    >>> chains([("a", "c")], {"a": 0, "c": 2})
    {('a', 'c'): ('a', ('a', 'c', 1), 'c')}
    """
    return {(a, b): (a, *((a, b, layer) for layer in range(depth[a] + 1, depth[b])), b) for a, b in edges}


def ordered_rows(
    nodes: Sequence[str], depth: Mapping[str, int], routes: Mapping[Edge, tuple[Item, ...]]
) -> Rows:
    """Nodes and way points by layer, in the best order found: sweeps by mean place, then swaps of two."""
    rows: Rows = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in nodes:
        rows[depth[node]].append(node)
    up: dict[Item, list[Item]] = {}
    down: dict[Item, list[Item]] = {}
    for route in routes.values():
        for way in route[1:-1]:
            assert not isinstance(way, str)
            rows[way[2]].append(way)
        for upper, lower in pairwise(route):
            down.setdefault(upper, []).append(lower)
            up.setdefault(lower, []).append(upper)
    best, fewest = [row[:] for row in rows], crossings(rows, down)
    for sweep in range(SWEEPS):
        near = up if sweep % 2 == 0 else down
        place = {item: i / max(len(row) - 1, 1) for row in rows for i, item in enumerate(row)}
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            row.sort(key=lambda item: _mean([place[other] for other in near.get(item, [])], place[item]))
            place.update({item: i / max(len(row) - 1, 1) for i, item in enumerate(row)})
        _swap(rows, up, down)
        found = crossings(rows, down)
        if found < fewest:
            best, fewest = [row[:] for row in rows], found
    return best


def crossings(rows: Rows, down: Mapping[Item, list[Item]]) -> int:
    """How many pieces of lines cross, over all pairs of neighbouring layers. O(pieces^2)."""
    total = 0
    for upper, lower in pairwise(rows):
        place = {item: i for i, item in enumerate(lower)}
        ends = [place[other] for item in upper for other in sorted(down.get(item, []), key=place.__getitem__)]
        total += sum(a > b for i, a in enumerate(ends) for b in ends[i + 1 :])
    return total


def _mean(places: list[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


def _swap(rows: Rows, up: Mapping[Item, list[Item]], down: Mapping[Item, list[Item]]) -> None:
    """Swap two that stand side by side wherever that undoes more crossings than it makes; one pass."""
    for above, row, below in zip([[], *rows], rows, [*rows[1:], []], strict=False):
        place = {item: i for others in (above, below) for i, item in enumerate(others)}
        for i in range(len(row) - 1):
            gain = 0
            for near in (up, down):
                left = [place[item] for item in near.get(row[i], []) if item in place]
                right = [place[item] for item in near.get(row[i + 1], []) if item in place]
                gain += sum((a > b) - (a < b) for a in left for b in right)
            if gain > 0:
                row[i], row[i + 1] = row[i + 1], row[i]
