"""Which separated pairs have a collider between them: by the evidence of all separating sets, not of one.

PC looks at the one set it happened to find first. A weak pair a - c - b is often separated by the empty set *and* by
{c}; going by the empty set alone gives a false collider, and leaving such triples open gives none at all. Where tests
are free, every set B within the neighbours of either end can be asked with and without c: with c a collider the
evidence against independence given B is smaller than given B and c; with c in between it is the other way round. c is
made a collider when the sum of the differences, over all B of which one side separates a and b, says so; where it is
zero the set that the search found decides.

**Cost** at most ``MAX_SETS`` questions a pair.

References: Ramsey 2016 (largest p-value); Colombo & Maathuis 2014, section 4.2 (majority of sets).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.search import Skeleton

MAX_ORDER, MAX_SETS = 3, 200
Given = tuple[int, ...]
Independent = Callable[[int, int, Given], bool | None]
EvidenceAgainst = Callable[[int, int, Given], float]


def not_colliders(
    skeleton: Skeleton,
    independent: Independent,
    evidence_against: EvidenceAgainst,
    columns: Sequence[str],
    *,
    beside: bool = False,
) -> dict[Pair, frozenset[str]]:
    """For every separated pair with a common neighbour: the middles that must not be made colliders.

    ``beside``: not only common neighbours are decided on, but neighbours of one end too, as rule R4 for hidden causes
    asks (``graphs/hidden.py``).
    """
    place = {name: j for j, name in enumerate(columns)}
    found: dict[Pair, frozenset[str]] = {}
    for pair, first in skeleton.separating.items():
        a, b = sorted(pair, key=place.__getitem__)
        middles = skeleton.adjacent[a] & skeleton.adjacent[b]
        if not middles:
            continue
        sets: set[Given] = {tuple(sorted(place[z] for z in first))}
        for near in (skeleton.adjacent[a] - {b}, skeleton.adjacent[b] - {a}):
            numbers = sorted(place[z] for z in near)
            for order in range(min(len(numbers), MAX_ORDER) + 1):
                sets.update(combinations(numbers, order))
        asked = sorted(sets, key=lambda given: (len(given), given))[:MAX_SETS]
        answers = {given: independent(place[a], place[b], given) for given in asked}
        barred = set()
        for z in (skeleton.adjacent[a] | skeleton.adjacent[b]) - pair if beside else middles:
            evidence = 0.0
            for given in asked:
                both = tuple(sorted((*given, place[z])))
                if place[z] in given or answers[given] is None or answers.get(both) is None:
                    continue
                if answers[given] or answers[both]:
                    evidence += evidence_against(place[a], place[b], both) - evidence_against(
                        place[a], place[b], given
                    )
            if evidence < 0.0 or (evidence == 0.0 and z in first):
                barred.add(z)
        found[pair] = frozenset(barred)
    return found
