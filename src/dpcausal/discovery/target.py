"""One outcome: what is directly linked to one column, with the budget spent on tables that hold it.

All d - 1 pairs with the target come first, for half of the budget that is left. The ``NEAR`` columns with most evidence
are measured again, with the target and with each other, for the rest: only what depends on the target can explain
away another column's dependence on it. The forward search (``forward.py``) then runs on the target and these columns;
edges at the target are what is asked for. A column that was not among them is apart from the target, or open, by the
evidence of its own pair.

The target's noise is that of d - 1 pairs instead of d (d - 1)/2.

**Guarantee** (epsilon, delta)-DP in total (``composition.proof.md``), as for ``measured``: which columns are measured
again follows from released values.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from dpcausal.core.entropy import released_generator
from dpcausal.core.errors import InputError, did_you_mean_column
from dpcausal.core.proofs import proved
from dpcausal.discovery.coarse import coarse_columns, coarse_note, explained_by_bins, held_coarsely
from dpcausal.discovery.components import Components
from dpcausal.discovery.evidence import held_pairs
from dpcausal.discovery.forward import Forward, Given, forward_again, repeats_of
from dpcausal.discovery.kept import KeptTables
from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.measurer import (
    Measurer,
    known_groups,
    measure_rows,
    measured_note,
    merge_levels,
    not_colliders,
    rules_for,
)
from dpcausal.discovery.repeats import found_again
from dpcausal.discovery.search import AboutTarget, SearchOutcome, Skeleton, Task
from dpcausal.planning.measurement import (
    SHARE_SINGLES,
    MeasurementPlan,
    components_mechanism,
    noise_variance,
)
from dpcausal.stats.components import Columns
from dpcausal.stats.contrasts import MEDIUM, WEAK, Contrasts, Features, Round

NEAR = 7  # columns measured again with the target and with each other


def checked_target(name: object, columns: Sequence[str]) -> str:
    """Return the name of a column, or an ``InputError``."""
    if not isinstance(name, str) or name not in columns:
        hint = did_you_mean_column(name, columns) if isinstance(name, str) else ""
        raise InputError(f"target names {name!r}, which is not a column{hint}")
    return name


def target_pairs(columns: int, target: int) -> list[tuple[int, int]]:
    """Return the pairs with the target, ascending.

    >>> target_pairs(4, 1)
    [(0, 1), (1, 2), (1, 3)]
    """
    return [(min(j, target), max(j, target)) for j in range(columns) if j != target]


def plan_for_target(task: Task, sizes: list[int], target: int) -> MeasurementPlan:
    """Laplace or Gaussian noise, whichever gives less in a pair."""
    budget, pairs = task.private_budget(), target_pairs(len(sizes), target)
    found = []
    for gaussian in (False, True) if budget.total.rho > 0 else (False,):
        total = budget.total.rho if gaussian else budget.total.epsilon
        mechanism = components_mechanism(pairs, sizes, total / 2, task.neighbours, gaussian=gaussian)
        found.append(MeasurementPlan(False, gaussian, noise_variance(mechanism)))
    return min(found, key=lambda plan: plan.pair_variance)


@proved("composition.proof.md")
def measure_target(task: Task, target: int) -> tuple[Measurer, list[int]]:
    """Measure pairs with the target, then those of the most promising columns; return these, target first."""
    budget = task.private_budget()
    sizes = [column.size for column in task.counts.schema.values()]
    measurer = Measurer(task, plan_for_target(task, sizes, target), Components(sizes))
    total = budget.total.rho if measurer.plan.gaussian else budget.total.epsilon
    left = 1.0 - measure_rows(measurer) - merge_levels(measurer, total)
    measurer.measure([(j,) for j in range(len(sizes))], SHARE_SINGLES, "single columns")
    rest = (left - SHARE_SINGLES) / 2
    pairs = target_pairs(len(sizes), target)
    measurer.tables.rounds = (Round(len(pairs), measurer.measure(pairs, rest, "pairs with the target")),)
    evidence = contrasts_of(measurer, list(range(len(sizes))), pairs).pair_evidence[target]
    others = [j for j in range(len(sizes)) if j != target]
    near = sorted(others, key=lambda j: (-evidence[j], j))[:NEAR]
    again: list[Columns] = [pair for pair in pairs if set(pair) <= {target, *near}]
    again += list(combinations(sorted(near), 2))
    measurer.measure(again, rest, "promising columns, with the target and each other")
    return measurer, [target, *near]


def contrasts_of(measurer: Measurer, columns: list[int], pairs: list[tuple[int, int]]) -> Contrasts:
    """Contrasts of these columns, numbered as listed; a pair that was not measured counts as nothing known."""
    tables, place = measurer.tables, {j: k for k, j in enumerate(columns)}
    ordered = measurer.ordered
    features = [
        Features.of(tables.table((j,)), measurer.rows, tables.variance((j,)), ordered=ordered[j])
        for j in columns
    ]
    noise: dict[tuple[int, ...], float] = {(place[j],): tables.variance((j,)) for j in columns}
    blocks = {}
    for pair in pairs:
        i, j = place[pair[0]], place[pair[1]]
        value = tables.pair(pair)
        blocks[min(i, j), max(i, j)] = value if i < j else value.T
        noise[min(i, j), max(i, j)] = tables.variance(pair)
    found = Contrasts.of(features, measurer.rows, blocks, noise)
    found.kept = measurer.kept_of_dependence(columns)
    return found


def run_target(task: Task, name: str, asked: int | None = None) -> SearchOutcome:
    """Measure, search, orient: what is linked to the column ``name``; ``asked``: repeats for confidence."""
    columns = task.columns
    target = columns.index(checked_target(name, columns))
    with task.stage("measuring tables with the target", None):
        measurer, near = measure_target(task, target)
    return search_target(task, name, asked, measurer, near)


def search_target(
    task: Task, name: str, asked: int | None, measurer: Measurer, near: list[int]
) -> SearchOutcome:
    """Search what was measured; ``near`` are the target and the columns measured with it again, by number."""
    columns, target = task.columns, near[0]
    star = contrasts_of(measurer, list(range(len(columns))), target_pairs(len(columns), target))
    inner = [(min(a, b), max(a, b)) for a, b in combinations(near, 2)]
    whole = rules_for(task, clarity=measurer.clarity)
    rules = whole.within(near)
    forward = Forward(contrasts_of(measurer, near, inner), rules).run().open_twins().separate()
    coarse = coarse_columns(task.counts.schema, measurer.groups)
    inside = {k for k, j in enumerate(near) if j in coarse}
    linked = [set(others) for others in forward.near]
    ordered = [measurer.ordered[j] for j in near]
    explained = explained_by_bins(linked, forward.contrasts, inside, ordered, rules)
    explained = {pair: by for pair, by in explained.items() if pair[0] == 0}
    found = {near[y] for y in linked[0]}
    adjacent: dict[str, set[str]] = {column: set() for column in columns}
    for one, other in task.known.kept:
        adjacent[one].add(other)
        adjacent[other].add(one)
    for j in found:
        adjacent[name].add(columns[j])
        adjacent[columns[j]].add(name)
    separating: dict[Pair, tuple[str, ...]] = {}
    undecided: set[Pair] = set()
    apart = {
        pair: given for pair, given in forward.separating.items() if pair not in set(forward.open_pairs())
    }
    for (x, y), given in apart.items():
        pair = frozenset((columns[near[x]], columns[near[y]]))
        if name in pair or {near[x], near[y]} <= found:
            separating[pair] = tuple(columns[near[z]] for z in given)
    open_pairs = [*forward.open_pairs(), *explained]
    undecided |= {frozenset((name, columns[near[y]])) for x, y in open_pairs if x == 0}
    for j in range(len(columns)):
        pair = frozenset((name, columns[j]))
        if j in near or pair in task.known.left_out:
            continue
        evidence = star.pair_evidence[target, j]
        if (
            evidence <= rules.enough
            and star.would_show(target, j, (), MEDIUM if evidence < 0.0 else WEAK) >= rules.shown
        ):
            separating[pair] = ()
        else:
            undecided.add(pair)
    skeleton = Skeleton(
        columns, adjacent, separating, answered={frozenset((name, columns[j])) for j in found}
    )
    skeleton.asked = {order: number for order, number in forward.asked.items() if order}
    skeleton.asked[0] = len(columns) - 1
    skeleton.held = held_pairs(forward.answers, [columns[j] for j in near])

    def says(x: int, y: int, given: Given) -> bool | None:
        evidence = _asked(forward, near, x, y, given)
        return None if evidence is None else evidence <= rules.kept

    def against(x: int, y: int, given: Given) -> float:
        return _asked(forward, near, x, y, given) or 0.0

    given_up_to = {
        frozenset((columns[near[x]], columns[near[y]])): k
        for (x, y), k in forward.given_up_to().items()
        if x == 0 and near[y] in found
    }
    made = held_coarsely(linked, forward.contrasts.strength, inside, rules)
    made = {pair: by for pair, by in made.items() if pair[0] == 0}
    again, repeats = None, repeats_of(forward, asked)
    if repeats:
        generator = released_generator(forward.contrasts.covariance)
        again = found_again(
            task,
            [frozenset((name, columns[j])) for j in found],
            repeats,
            lambda: forward_again(
                forward, [columns[j] for j in near], generator, measurer.kept(generator, near)
            ),
        )
    return SearchOutcome(
        skeleton,
        confidence=again,
        repeats=repeats or None,
        released=tuple(measurer.released),
        notes=(
            AboutTarget(name, near=tuple(columns[j] for j in near[1:])),
            *measured_note(measurer, rules.enough, target),
            *coarse_note(made, explained, [columns[j] for j in near]),
        ),
        not_colliders=not_colliders(skeleton, says, against, columns),
        open=frozenset(undecided),
        given_up_to=given_up_to,
        evidence={
            pair: one
            for pair, one in forward.said([columns[j] for j in near], separating).items()
            if name in pair
        },
        about=frozenset(frozenset((name, other)) for other in columns if other != name),
        kept=KeptTables(
            measurer.tables,
            measurer.rows,
            measurer.plan.gaussian,
            near=tuple(columns[j] for j in near[1:]),
            merged=known_groups(measurer),
        ),
    )


def _asked(forward: Forward, near: list[int], x: int, y: int, given: Given) -> float | None:
    """The evidence of columns by their numbers in the schema."""
    place = {j: k for k, j in enumerate(near)}
    if not {x, y, *given} <= place.keys():
        return None
    first, second = sorted((place[x], place[y]))
    return forward.evidence(first, second, tuple(sorted(place[z] for z in given)))
