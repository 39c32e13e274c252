"""What a result says besides its graph: what was measured, and, about one column, what is linked to it.

**A target.** All d - 1 pairs with the target come first, for half of the budget that is left. The ``near_target``
columns with most evidence are measured again, with the target and with each other, for the rest: only what depends on
the target can explain away another column's dependence on it. The search runs on the target and these columns; edges at
the target are what is asked for. A column that was not among them is apart from the target, or open, by the evidence of
its own pair. The target's noise is that of d - 1 pairs instead of d (d - 1)/2.

**Guarantee** (epsilon, delta)-DP in total (``measure.proof.md``), as for ``measured``: which columns are measured
again follows from released values.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeVar

from dpcausal.core.arguments import stated_pvalue
from dpcausal.core.neighbours import Neighbours
from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.measured.forward import Scope
from dpcausal.discovery.measured.measure import Measurements
from dpcausal.discovery.measured.tables import Components, JointTable, Site, TablesOfSites
from dpcausal.discovery.search import (
    AboutTarget,
    ChosenPairs,
    JointTableMeasured,
    MergedLevels,
    Note,
    SearchOutcome,
    SitesDiffer,
    SitesMeasured,
    Skeleton,
    TablesMeasured,
)


def measured_notes(measured: Measurements, enough: float, target: int | None = None) -> list[Note]:
    """Return the notes on what was measured and which levels were merged; with a target, on its pairs.

    ``enough``: the evidence that makes an edge.
    """
    columns = list(measured.schema)
    notes: list[Note] = [_tables_note(measured, enough, target)]
    if measured.plan.tree:
        number = measured.rounds[0].pairs
        notes.append(ChosenPairs(number=number, of=math.comb(len(columns), 2)))
    if measured.groups:
        merged = [(columns[j], max(groups) + 1) for j, groups in sorted(measured.groups.items())]
        notes.append(MergedLevels(tuple(merged), tuple(measured.groups_by_name.items())))
    return notes


def _tables_note(measured: Measurements, enough: float, target: int | None) -> Note:
    """Return the note on the tables that were measured, their noise, and the rows in an average cell.

    With a target the noise is that of pairs with it that were measured once: others have less, or were not measured.
    """
    variance = measured.pair_variance()
    if target is not None:
        variances = measured.components.variances
        own = [one for pair, one in variances.items() if len(pair) == 2 and target in pair]
        variance = max(own, default=variance)
    known: dict[str, Any] = {
        "gaussian": measured.plan.gaussian,
        "sd": math.sqrt(variance),
        "enough": enough,
        **_cell_counts(measured, target),
    }
    if isinstance(measured.tables, JointTable):
        return JointTableMeasured(cells=measured.tables.joint.size, **known)
    if isinstance(measured.tables, TablesOfSites):
        return SitesMeasured(sites=tuple(_site(measured, site) for site in measured.tables.sites), **known)
    assert isinstance(measured.tables, Components)
    sizes = Counter(map(len, measured.tables.values))
    return TablesMeasured(
        rows_measured=measured.plan.public.neighbours is Neighbours.ADD_REMOVE,
        singles=sizes[1],
        pairs=sizes[2],
        larger=sum(count for size, count in sizes.items() if size > 2),
        target=None if target is None else list(measured.schema)[target],
        **known,
    )


def _site(measured: Measurements, site: Site) -> tuple[str, float, float, tuple[str, ...]]:
    """Return the name of a site, its rows, the noise in a pair (the median), and the columns that it lacks."""
    pairs = [one for columns, one in site.components.variances.items() if len(columns) == 2]
    lacking = [name for j, name in enumerate(measured.schema) if not site.components.knows((j,))]
    return site.name, site.rows, math.sqrt(statistics.median(pairs or [0.0])), tuple(lacking)


def sites_notes(measured: Measurements, level: float) -> list[Note]:
    """Return the pairs whose dependence differs between sites, at this level for all pairs together."""
    if not isinstance(measured.tables, TablesOfSites) or len(measured.tables.sites) < 2:
        return []
    columns, pvalues = list(measured.schema), measured.tables.within.differ()
    every = list(combinations(range(len(columns)), 2))
    pairs = [
        (columns[i], columns[j], stated_pvalue(pvalues[i, j]))
        for i, j in every
        if pvalues[i, j] <= level / len(every)
    ]
    return [SitesDiffer(tuple(pairs), level)]


def _cell_counts(measured: Measurements, target: int | None) -> dict[str, float | None]:
    """Return the mean and least expected count of a cell of two columns: from sizes and the public number of rows.

    With a target, of pairs with it.
    """
    sizes, n = measured.tables.sizes, measured.rows
    if measured.plan.public.neighbours is Neighbours.ADD_REMOVE:
        return {"mean_cell": None, "least_cell": None}
    pairs = combinations(range(len(sizes)), 2)
    cells = [sizes[i] * sizes[j] for i, j in pairs if target is None or target in (i, j)]
    return {"mean_cell": sum(n / cell for cell in cells) / len(cells), "least_cell": n / max(cells)}


Value = TypeVar("Value")


def about_target(scope: Scope, found: SearchOutcome) -> SearchOutcome:
    """Return a search near a target limited to what it says of the target, for all columns.

    Of other pairs only those among its neighbours keep the set that separates them: directions may rest on it.
    """
    task, target = scope.task, scope.columns[0]

    def at_target(by_pair: Mapping[Pair, Value]) -> dict[Pair, Value]:
        return {pair: value for pair, value in by_pair.items() if target in pair}

    skeleton = found.skeleton
    linked = skeleton.adjacent[target]
    undecided = {pair for pair in found.open or () if target in pair}
    separating = {
        pair: given for pair, given in skeleton.separating.items() if target in pair or pair <= linked
    }
    detectable = at_target(found.detectable)
    absent, opened, further = columns_measured_once(scope)
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


def columns_measured_once(scope: Scope) -> tuple[set[Pair], set[Pair], dict[Pair, float]]:
    """Return the target's pairs with columns outside of the search: absent, open, and detectable w."""
    task, rules, target = scope.task, scope.rules, scope.places[0]
    star = scope.measured.contrasts()
    absent, opened, detectable = set[Pair](), set[Pair](), dict[Pair, float]()
    for j, name in enumerate(task.columns):
        pair = frozenset((scope.columns[0], name))
        if j in scope.places or pair in task.known.forbidden:
            continue
        detectable[pair] = star.detectable(target, j, (), rules.acceptance_threshold)
        says_absent = star.pair_evidence[target, j] < 0.0 and detectable[pair] <= rules.absent
        (absent if says_absent else opened).add(pair)
    return absent, opened, detectable
