"""What is known beforehand about edges, by column name: never tested, never charged for.

- ``required``: an arrow ``("a", "b")`` is in the graph as a -> b; an edge ``{"a", "b"}`` is in it either way round.
- ``forbidden``: an edge ``{"a", "b"}`` is not in the graph; an arrow ``("a", "b")`` forbids only that direction, so an
  edge that is found between them is b -> a. Both directions forbidden make the edge forbidden.
- ``tiers``: lists of names in order of time. No arrow points to an earlier tier, and nothing later than both of x
  and y is used to separate them (a separating set can always be found among their ancestors).

Where common causes may be hidden (``latent``), tiers and forbidden arrows say that the one column does not cause the
other, and not that the other causes it: an older cause of both may be hidden. A required arrow says both.

All of it is public. A contradiction is one clear ``InputError`` before anything is charged.

A categorical column declared with one level is the same in every row, so nothing depends on it and no edge touches it:
its edges are left out before anything is asked. A numeric column with one bin is another matter: its numbers may matter
and a table does not show them, so methods that see tables only refuse it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpcausal.core.arguments import checked_all_columns, checked_list
from dpcausal.core.errors import InputError
from dpcausal.data.columns import Categorical
from dpcausal.data.schema import Schema
from dpcausal.graphs.graph import Graph

Arrow = tuple[str, str]
Pair = frozenset[str]
Edge = Arrow | Pair | Collection[str]


@dataclass(frozen=True)
class Knowledge:
    """Checked background knowledge: edges required and forbidden, arrows fixed, and the tier of each column."""

    required: frozenset[Pair] = frozenset()
    forbidden: frozenset[Pair] = frozenset()
    arrows: frozenset[Arrow] = frozenset()  # direction of the edge if it is there
    tier: dict[str, int] = field(default_factory=dict)
    causes: frozenset[Arrow] = frozenset()  # required arrows: the tail causes the head

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        required: Iterable[Edge] = (),
        forbidden: Iterable[Edge] = (),
        tiers: Sequence[Collection[str]] = (),
    ) -> Knowledge:
        """Return background knowledge, after checking names and consistency.

        >>> known = Knowledge.of(["a", "b", "c"], required=[("a", "b")], tiers=[["a"], ["b", "c"]])
        >>> sorted(known.arrows)
        [('a', 'b'), ('a', 'c')]
        """
        tier = _tiers(columns, tiers)
        causes, required_pairs = _edges("required", columns, required)
        no_arrows, forbidden_pairs = _edges("forbidden", columns, forbidden)
        for a, b in sorted(causes & no_arrows):
            raise InputError(f'the arrow "{a}" -> "{b}" is both required and forbidden')
        forbidden_pairs |= {frozenset(arrow) for arrow in no_arrows if arrow[::-1] in no_arrows}
        required_pairs |= {frozenset(arrow) for arrow in causes}
        arrows = causes | {
            arrow
            for arrow in [*(one[::-1] for one in no_arrows), *_forward_arrows(tier)]
            if frozenset(arrow) not in forbidden_pairs
        }
        for a, b in sorted(arrows):
            if (b, a) in arrows and frozenset((a, b)) in required_pairs:
                raise InputError(
                    f'what is known contradicts itself: "{a}" -> "{b}" and "{b}" -> "{a}" are both asked for'
                )
        for pair in sorted(map(sorted, required_pairs & forbidden_pairs)):
            raise InputError(f'the edge between "{pair[0]}" and "{pair[1]}" is both required and forbidden')
        # neither direction is possible where both are excluded
        forbidden_pairs |= {frozenset(arrow) for arrow in arrows if arrow[::-1] in arrows}
        arrows = {arrow for arrow in arrows if frozenset(arrow) not in forbidden_pairs}
        if not Graph(columns, [one for one in sorted(arrows) if frozenset(one) in required_pairs]).is_dag():
            raise InputError("the required arrows form a directed cycle")
        return cls(
            frozenset(required_pairs), frozenset(forbidden_pairs), frozenset(arrows), tier, frozenset(causes)
        )

    def required_arrows(self, skeleton: Collection[Pair]) -> frozenset[Arrow]:
        """Return the known direction of every edge that is in ``skeleton``."""
        return frozenset(arrow for arrow in self.arrows if frozenset(arrow) in skeleton)

    def may_separate(self, z: str, x: str, y: str) -> bool:
        """Return whether z is not later than both x and y."""
        if z not in self.tier or x not in self.tier or y not in self.tier:
            return True
        return self.tier[z] <= max(self.tier[x], self.tier[y])


def named(columns: Sequence[str], pairs: Iterable[tuple[int, int]]) -> list[Pair]:
    """Return pairs of column numbers as pairs of names."""
    return [frozenset((columns[x], columns[y])) for x, y in pairs]


def places_of(columns: Sequence[str], pairs: Iterable[Pair]) -> list[tuple[int, int]]:
    """Return pairs of names as pairs of column numbers, ascending.

    >>> places_of(["a", "b", "c"], [frozenset("cb"), frozenset("ca")])
    [(0, 2), (1, 2)]
    """
    place = {name: j for j, name in enumerate(columns)}
    found = [sorted(place[name] for name in pair) for pair in pairs]
    return sorted((x, y) for x, y in found)


def _edges(kind: str, columns: Sequence[str], edges: Iterable[Edge]) -> tuple[set[Arrow], set[Pair]]:
    """Return the arrows (tuples, lists) and the undirected edges (sets) among ``edges``; refuse unknown columns."""
    arrows: set[Arrow] = set()
    pairs: set[Pair] = set()
    edges = checked_list(edges, kind, "pairs of columns")
    for edge in edges:
        if isinstance(edge, str) or not isinstance(edge, Collection) or len(edge) != 2:
            raise InputError(f"{kind} must hold pairs of two columns, not {edge!r}")
    checked_all_columns([name for edge in edges for name in edge], columns, kind)
    for edge in edges:
        a, b = edge
        if a == b:
            raise InputError(f'{kind} names "{a}" twice in one edge')
        if isinstance(edge, set | frozenset):
            pairs.add(frozenset((a, b)))
        else:
            arrows.add((a, b))
    return arrows, pairs


def _tiers(columns: Sequence[str], tiers: Sequence[Collection[str]]) -> dict[str, int]:
    """Return the tier number of every column that is in a tier; refuse unknown or repeated columns."""
    tier: dict[str, int] = {}
    tiers = checked_list(tiers, "tiers", "lists of columns")
    for names in tiers:
        if isinstance(names, str):
            raise InputError(f"tiers must be a list of lists of columns, not of strings like {names!r}")
    by_tier = [checked_list(names, "each of tiers", "columns") for names in tiers]
    checked_all_columns([name for names in by_tier for name in names], columns, "tiers")
    for place, names in enumerate(by_tier):
        for name in names:
            if name in tier:
                raise InputError(f'tiers names "{name}" twice')
            tier[name] = place
    return tier


def _forward_arrows(tier: Mapping[str, int]) -> list[Arrow]:
    """Return the arrows that tiers imply between columns of different tiers."""
    return [(a, b) for a in tier for b in tier if tier[a] < tier[b]]


def declarations(known: Knowledge) -> dict[str, Any]:
    """Return background knowledge as plain data that ``declared_arguments`` reads.

    >>> known = Knowledge.of(["a", "b", "c", "d"], required=[("b", "c")], forbidden=[("c", "d")], tiers=[["a"], ["b"]])
    >>> declarations(known)
    {'tiers': [['a'], ['b']], 'required': [['b', '->', 'c']], 'forbidden': [['c', '->', 'd']]}
    >>> Knowledge.of(["a", "b", "c", "d"], **declared_arguments(declarations(known))) == known
    True
    """
    tier, places = known.tier, sorted(set(known.tier.values()))
    by_tier = {(a, b) for a, b in known.arrows if a in tier and b in tier and tier[a] < tier[b]}
    reversed_arrows = {(b, a) for a, b in known.arrows - by_tier - known.causes}
    plain = known.required - {frozenset(arrow) for arrow in known.causes}
    return {
        "tiers": [[name for name, place in tier.items() if place == one] for one in places],
        "required": _edge_lists(known.causes, plain),
        "forbidden": _edge_lists(reversed_arrows, known.forbidden),
    }


def _edge_lists(arrows: Collection[Arrow], pairs: Collection[Pair]) -> list[list[str]]:
    """Return arrows as ``[a, "->", b]`` and undirected edges as ``[a, "--", b]``."""
    return [
        *sorted([a, "->", b] for a, b in arrows),
        *sorted([min(pair), "--", max(pair)] for pair in pairs),
    ]


def declared_arguments(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``Knowledge.of`` from the plain data of ``declarations``."""

    def edges(kind: str) -> list[Edge]:
        return [(a, b) if mark == "->" else frozenset((a, b)) for a, mark, b in data[kind]]

    return {"tiers": data["tiers"], "required": edges("required"), "forbidden": edges("forbidden")}


def declared(known: Knowledge) -> dict[str, Any]:
    """Return background knowledge in readable lists: tiers, and edges as ``a -> b`` or ``a - b``.

    >>> known = Knowledge.of(["a", "b", "c", "d"], required=[("b", "c")], forbidden=[("c", "d")], tiers=[["a"], ["b"]])
    >>> declared(known)
    {'tiers': [['a'], ['b']], 'required': ['b -> c'], 'forbidden': ['c -> d']}
    """
    found = declarations(known)
    for kind in ("required", "forbidden"):
        found[kind] = sorted(f"{a} {'->' if mark == '->' else '-'} {b}" for a, mark, b in found[kind])
    return {kind: what for kind, what in found.items() if what}


def one_level(schema: Schema) -> tuple[str, ...]:
    """Return the categorical columns with one declared level.

    >>> one_level(Schema(sex=Categorical(["f"]), smoke=Categorical(["no", "yes"])))
    ('sex',)
    """
    return tuple(
        name for name, column in schema.items() if isinstance(column, Categorical) and column.size == 1
    )


def without_constants(schema: Schema, known: Knowledge, method: str, tables_only: bool) -> Knowledge:
    """Return the knowledge with all edges of one-level columns forbidden; refuse one that is required.

    ``tables_only``: whether ``method`` sees numeric columns by their declared bins only.
    """
    single = one_level(schema)
    for pair in sorted(map(sorted, known.required)):
        for name in pair:
            if name in single:
                raise InputError(
                    f'required names "{name}", which has one level: it can\'t depend on anything'
                )
    if len(schema) - len(single) < 2:
        have = "has" if len(single) == 1 else "have"
        raise InputError(
            f"a graph needs at least two columns with two levels or more; {_listed(single)} {have} one level"
        )
    if tables_only:
        for name, column in schema.items():
            if column.size == 1 and name not in single:
                raise InputError(
                    f'"{name}" has one bin, so {method} sees nothing of it: declare cut points, or leave it out'
                )
    pairs = {frozenset((name, other)) for name in single for other in schema if other != name}
    return replace(known, forbidden=known.forbidden | pairs)


def _listed(names: tuple[str, ...]) -> str:
    """Return quoted names joined by commas and "and"."""
    quoted = [f'"{name}"' for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
