"""What changed between two graphs of the same columns, in one line: edges that appeared, disappeared or turned.

The earlier graph is read from its ``pairs.csv``: names, states and marks, which are facts and no prose.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

Edges = Mapping[tuple[str, str], str]
CHANGES_SHOWN = 6  # of a kind, named in a line


def is_pairs(text: str) -> bool:
    """Return whether a text is that of a ``pairs.csv``, by its first line and its quotes.

    >>> is_pairs("a,b,state,marks,direction\\nx,y,found,->,x\\n"), is_pairs("garbage"), is_pairs("")
    (True, False, False)
    """
    return text.startswith("a,b,state,marks") and text.count('"') % 2 == 0


def edges_of(pairs: str) -> dict[tuple[str, str], str]:
    """Return the edges in the text of a ``pairs.csv``: (a, b) and the marks between; none where it is no such file.

    >>> edges_of("a,b,state,marks\\nx,y,found,->\\nx,z,absent,\\n")
    {('x', 'y'): '->'}
    """
    return {
        (row["a"], row["b"]): row["marks"]
        for row in csv.DictReader(io.StringIO(pairs))
        if row.get("a") and row.get("b") and row.get("marks")
    }


def changes_line(before: Edges, after: Edges, name: str) -> str:
    """Return what is different from the graph called ``name``.

    >>> old, new = {("a", "b"): "-", ("c", "d"): "->"}, {("a", "b"): "->", ("b", "d"): "-"}
    >>> changes_line(old, new, "first")
    'Changed from first: appeared b - d; disappeared c -> d; turned a - b (now a -> b).'
    >>> changes_line(old, old, "first")
    'Changed from first: no edge and no direction.'
    """
    earlier, later = (
        {frozenset(pair): (pair, marks) for pair, marks in one.items()} for one in (before, after)
    )
    appeared = [_edge(*later[pair]) for pair in later if pair not in earlier]
    gone = [_edge(*earlier[pair]) for pair in earlier if pair not in later]
    turned = [
        f"{_edge(*earlier[pair])} (now {_edge(*later[pair])})"
        for pair in later
        if pair in earlier and earlier[pair] != later[pair]
    ]
    parts = [
        f"{verb} {_listed(edges)}"
        for verb, edges in (("appeared", appeared), ("disappeared", gone), ("turned", turned))
        if edges
    ]
    return f"Changed from {name}: {'; '.join(parts) or 'no edge and no direction'}."


def _edge(pair: tuple[str, str], marks: str) -> str:
    return f"{pair[0]} {marks} {pair[1]}"


def _listed(edges: list[str]) -> str:
    more = len(edges) - CHANGES_SHOWN
    return ", ".join(edges[:CHANGES_SHOWN]) + (f" and {more} more" if more > 0 else "")
