"""What may be a node and what may be an edge: the checks behind ``Graph``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from dpcausal.core.errors import InputError, did_you_mean

Arrow = tuple[str, str]
Pair = frozenset[str]

# What XML 1.0 can't hold even escaped: such a name could not leave as GraphML.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def checked_names(nodes: Iterable[object]) -> tuple[str, ...]:
    """The names as a tuple; ``InputError`` for one that is empty, given twice or can't be written to a file.

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
    """``edge`` as ``(tail, head)``; a set has no first element and is refused.

    >>> checked_arrow(("a", "b"), {"a", "b"})
    ('a', 'b')
    """
    if not isinstance(edge, tuple | list) or len(edge) != 2:
        raise InputError(f"an arrow must be a pair (tail, head), not {edge!r}")
    tail, head = edge
    _check_ends(tail, head, "->", known)
    return tail, head


def checked_pair(edge: object, known: Collection[str]) -> Pair:
    """``edge`` as ``frozenset({a, b})``.

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
    for end in (a, b):
        if not isinstance(end, str) or end not in known:
            raise InputError(f'edge {a} {mark} {b}: no node "{end}"{did_you_mean(str(end), known)}')
    if a == b:
        raise InputError(f'an edge from "{a}" to itself')
