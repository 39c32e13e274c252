"""Background knowledge in the user's terms again, to be told beside a result: tiers, required and forbidden edges.

``Knowledge`` keeps what follows from a declaration, not its wording: an arrow required within tiers that already fix it
reads the same as an edge required either way round.
"""

from __future__ import annotations

from typing import Any

from dpcausal.discovery.knowledge import Knowledge


def declared(known: Knowledge) -> dict[str, Any]:
    """Plain data: lists of names (tiers) and edges as ``a -> b`` or ``a - b``; empty where nothing was declared.

    >>> known = Knowledge.of(["a", "b", "c", "d"], required=[("b", "c")], forbidden=[("c", "d")], tiers=[["a"], ["b"]])
    >>> declared(known)
    {'tiers': [['a'], ['b']], 'required': ['b -> c'], 'forbidden': ['c -> d']}
    """
    places = sorted(set(known.tier.values()))
    tiers = [[name for name, place in known.tier.items() if place == one] for one in places]
    fixed = {frozenset(arrow): arrow for arrow in known.arrows}
    required = [
        " -> ".join(fixed[pair]) if pair in fixed else " - ".join(sorted(pair)) for pair in known.kept
    ]
    by_tier = {
        (a, b) for a, b in known.arrows if known.tier.get(a, 0) < known.tier.get(b, 0) and a in known.tier
    }
    only_back = [f"{b} -> {a}" for a, b in known.arrows - by_tier if frozenset((a, b)) not in known.kept]
    forbidden = [*(" - ".join(sorted(pair)) for pair in known.left_out), *only_back]
    found = {"tiers": tiers, "required": sorted(required), "forbidden": sorted(forbidden)}
    return {kind: what for kind, what in found.items() if what}


def declared_words(known: Knowledge) -> str:
    """The same as one sentence; empty where nothing was declared.

    >>> declared_words(Knowledge.of(["a", "b", "c"], forbidden=[{"b", "c"}], tiers=[["a"], ["b", "c"]]))
    'You declared: in order of time a, then b, c; forbidden b - c.'
    """
    found = declared(known)
    parts = []
    if "tiers" in found:
        parts.append("in order of time " + ", then ".join(", ".join(tier) for tier in found["tiers"]))
    parts += [f"{kind} {', '.join(found[kind])}" for kind in ("required", "forbidden") if kind in found]
    return f"You declared: {'; '.join(parts)}." if parts else ""
