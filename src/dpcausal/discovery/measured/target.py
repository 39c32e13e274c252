"""One outcome: what is directly linked to one column, with the budget spent on tables that hold it.

All d - 1 pairs with the target come first, for half of the budget that is left. The ``near_target`` columns with most
evidence are measured again, with the target and with each other, for the rest: only what depends on the target can
explain away another column's dependence on it. The search runs on the target and these columns; edges at the target
are what is asked for. A column that was not among them is apart from the target, or open, by the evidence of its own
pair. The target's noise is that of d - 1 pairs instead of d (d - 1)/2.

**Guarantee** (epsilon, delta)-DP in total (``measure.proof.md``), as for ``measured``: which columns are measured
again follows from released values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.measured.scope import Scope
from dpcausal.discovery.search import AboutTarget, SearchOutcome, Skeleton, Task

Value = TypeVar("Value")


def about_target(task: Task, scope: Scope, found: SearchOutcome) -> SearchOutcome:
    """Return what a search among the columns near a target says of the target and of every column.

    Of other pairs only those among its neighbours keep the set that separates them: directions may rest on it.
    """
    target = scope.columns[0]

    def at_target(by_pair: Mapping[Pair, Value]) -> dict[Pair, Value]:
        return {pair: value for pair, value in by_pair.items() if target in pair}

    skeleton = found.skeleton
    linked = skeleton.adjacent[target]
    undecided = {pair for pair in found.open or () if target in pair}
    separating = {
        pair: given for pair, given in skeleton.separating.items() if target in pair or pair <= linked
    }
    detectable = at_target(found.detectable)
    absent, opened, further = columns_measured_once(task, scope)
    edges = {frozenset((target, name)) for name in linked}
    return replace(
        found,
        skeleton=Skeleton(
            tuple(task.columns),
            {name: set[str]() for name in task.columns},
            {**separating, **dict.fromkeys(absent, ())},
            asked={**skeleton.asked, 0: len(task.columns) - 1},
            answered=edges,
            held=skeleton.held,
        ).with_edges(edges | task.known.required),
        notes=(AboutTarget(target, near=scope.columns[1:]), *found.notes),
        direction={arrow: one for arrow, one in (found.direction or {}).items() if target in arrow},
        detectable={**detectable, **further},
        confidence=None if found.confidence is None else at_target(found.confidence),
        open=frozenset(undecided | opened),
        given_up_to=at_target(found.given_up_to or {}),
        evidence=at_target(found.evidence),
        about=frozenset(frozenset((target, other)) for other in task.columns if other != target),
    )


def columns_measured_once(task: Task, scope: Scope) -> tuple[set[Pair], set[Pair], dict[Pair, float]]:
    """Return the pairs of the target with other columns that are absent and open, and what each would have shown."""
    star, rules, target = scope.measured.contrasts(), scope.rules, scope.places[0]
    absent, opened, detectable = set[Pair](), set[Pair](), dict[Pair, float]()
    for j, name in enumerate(task.columns):
        pair = frozenset((scope.columns[0], name))
        if j in scope.places or pair in task.known.forbidden:
            continue
        detectable[pair] = star.detectable(target, j, (), rules.acceptance_threshold)
        says_absent = star.pair_evidence[target, j] < 0.0 and detectable[pair] <= rules.absent
        (absent if says_absent else opened).add(pair)
    return absent, opened, detectable
