"""One outcome: what is directly linked to one column, with the budget spent on tables that hold it.

All d - 1 pairs with the target come first, for half of the budget that is left. The ``NEAR`` columns with most evidence
are measured again, with the target and with each other, for the rest: only what depends on the target can explain
away another column's dependence on it. The forward search (``forward.py``) then runs on the target and these columns;
edges at the target are what is asked for. A column that was not among them is apart from the target, or open, by the
evidence of its own pair.

The target's noise is that of d - 1 pairs instead of d (d - 1)/2.

**Guarantee** (epsilon, delta)-DP in total (``measure.proof.md``), as for ``measured``: which columns are measured
again follows from released values.
"""

from __future__ import annotations

import numpy as np

from dpcausal.core.entropy import released_generator
from dpcausal.discovery.directions import allowed_arrows, directions_by_pairs
from dpcausal.discovery.evidence import held_pairs
from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.measured.bins import coarse_columns, coarse_note, explained_by_bins, held_coarsely
from dpcausal.discovery.measured.forward import Forward, forward_again, repeats_of, rules_for
from dpcausal.discovery.measured.measure import Measurements
from dpcausal.discovery.measured.notes import measured_notes
from dpcausal.discovery.repeats import found_again
from dpcausal.discovery.search import AboutTarget, SearchOutcome, Skeleton, Task


def search_around_target(task: Task, measured: Measurements, asked: int | None) -> SearchOutcome:
    """Search what was measured with a target, and orient; ``asked``: repeats for confidence."""
    columns, near = task.columns, list(measured.near)
    target = near[0]
    name, star = columns[target], measured.contrasts()
    rules = rules_for(task, measured).within(near)
    forward = Forward(measured.contrasts(near), rules).run().separate()
    coarse = coarse_columns(task.counts.schema, measured.groups)
    inside = {k for k, j in enumerate(near) if j in coarse}
    trends = [measured.trends[j] for j in near]
    linked, explained = explained_by_bins(forward.near, forward.contrasts, inside, trends, rules)
    explained = {pair: by for pair, by in explained.items() if pair[0] == 0}
    found = {near[y] for y in linked[0]}
    adjacent: dict[str, set[str]] = {column: set() for column in columns}
    for one, other in task.known.required:
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
        if j in near or pair in task.known.forbidden:
            continue
        evidence = star.pair_evidence[target, j]
        needed = star.detectable(target, j, (), rules.acceptance_threshold)
        if evidence < 0.0 and needed <= rules.absent:
            separating[pair] = ()
        else:
            undecided.add(pair)
    skeleton = Skeleton(
        columns, adjacent, separating, answered={frozenset((name, columns[j])) for j in found}
    )
    skeleton.asked = {order: number for order, number in forward.asked.items() if order}
    skeleton.asked[0] = len(columns) - 1
    skeleton.held = held_pairs(forward.answers, [columns[j] for j in near])

    allowed = allowed_arrows(task)[np.ix_(near, near)]
    edges = [(x, y) for x, others in enumerate(linked) for y in others if x < y]
    settings = measured.plan.settings
    chances = directions_by_pairs(
        forward.contrasts, edges, allowed, rules.acceptance_threshold, settings.misfit
    )
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
                forward, [columns[j] for j in near], generator, measured.kept_by_other_groups(generator, near)
            ),
        )
    return SearchOutcome(
        skeleton,
        confidence=again,
        repeats=repeats or None,
        released=measured.released,
        notes=(
            AboutTarget(name, near=tuple(columns[j] for j in near[1:])),
            *measured_notes(measured, rules.acceptance_threshold, target),
            *coarse_note(made, explained, [columns[j] for j in near]),
        ),
        direction={
            (columns[near[a]], columns[near[b]]): chance for (a, b), chance in chances.items() if 0 in (a, b)
        },
        open=frozenset(undecided),
        given_up_to=given_up_to,
        evidence={
            pair: one
            for pair, one in forward.evidence_by_pair([columns[j] for j in near], separating).items()
            if name in pair
        },
        about=frozenset(frozenset((name, other)) for other in columns if other != name),
        values=measured,
    )
