"""Measured: spend the budget on tables with noise of known law; every question is then free post-processing.

1. **Plan** (``planning/measurement_plan.py``): one joint table, or components; made once, from public numbers.
2. **Measure** (``measure.py``): what the plan says, each step charged before its noise is drawn.
3. **Evidence** (``stats/contrasts.py``): covariances of features of the columns, with their noise, as Bayes factors.
4. **Search.** A forward search (``forward.py``) on columns and pairs. Where noise is small, PC then asks about what it
   found on larger tables (``larger.py``). On one joint table whole graphs are scored (``whole_graphs.py``). Edges that
   the bins of a number explain are open.
5. **Report.** Found, absent and open pairs; the chance of each direction
   (``discovery/directions.py``; where causes may be hidden, colliders by the evidence of all separating sets); and how
   often an edge is found again on another sample with other noise, drawn by what is known after the run.

**Guarantee** (epsilon, delta)-DP in total (``measure.proof.md``): mechanisms are charged before noise is drawn, and
what is measured, merged and asked follows from public and released values only. **Cost** O(cells) a question.

References: Tsamardinos, Brown & Aliferis 2006 (forward, then backward); Chow & Liu 1968 (the strongest forest);
McKenna, Miklau & Sheldon 2021 (its private choice).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Annotated

import numpy as np

from dpcausal.core.compiled import compile_note
from dpcausal.core.entropy import released_generator
from dpcausal.core.forecast import MEDIUM
from dpcausal.counts.rows import count_jobs
from dpcausal.discovery.directions import allowed_arrows, directions_of_edges, marks_by_pairs
from dpcausal.discovery.evidence import (
    CONFIDENCE,
    Evidence,
    checked_repeats,
    found_again,
    held_pairs,
    largest_pvalues,
)
from dpcausal.discovery.fci import LATENT, USUAL, Bounds, further_questions, hidden_note
from dpcausal.discovery.knowledge import Pair, named, places_of
from dpcausal.discovery.measured.forward import (
    CoarseCauses,
    Forward,
    Scope,
    again_by_pairs,
    coarse_note,
    explained_by_bins,
    held_coarsely,
    repeats_of,
)
from dpcausal.discovery.measured.larger import LargerTables, Obtain, measure_lacking
from dpcausal.discovery.measured.measure import Measurements, measure
from dpcausal.discovery.measured.report import about_target, measured_notes, sites_notes
from dpcausal.discovery.measured.whole_graphs import WholeGraphs, WholeGraphsFound
from dpcausal.discovery.search import (
    Answers,
    Method,
    Note,
    Query,
    ScoredGraphs,
    SearchOutcome,
    Skeleton,
    Task,
    drive,
    pc_search,
    unanswered,
)
from dpcausal.stats.contrasts import all_pairs
from dpcausal.stats.joint_graphs import anneal

SETS_PER_BATCH = 500  # sets of one edge asked about in one batch


def run(
    task: Task,
    *,
    confidence: Annotated[int | None, CONFIDENCE] = None,
    target: Annotated[str | None, "the one column that the question is about"] = None,
    latent: Annotated[bool, LATENT] = False,
) -> SearchOutcome:
    """Run the method ``measured``: measure tables, search, and orient.

    ``confidence``: how many repeats (None: as many as are quickly done; 0: none). ``target``: the one column that the
    question is about, as the plan has it. ``latent``: whether common causes may be hidden (``fci.py``).
    """
    repeats = checked_repeats(confidence)
    with task.stage(f"measuring tables{compile_note(count_jobs)}", None):  # one pass: nothing to count
        measured = measure(task)
    if not task.searched:
        return measured_alone(task, measured)
    return search_measured(task, measured, repeats, latent=latent, obtain=measure_lacking)


def measured_alone(task: Task, measured: Measurements) -> SearchOutcome:
    """Return what was measured, with no pair decided: whoever has it can search it."""
    nothing = Skeleton(task.columns, {name: set[str]() for name in task.columns})
    every = frozenset(frozenset(pair) for pair in combinations(task.columns, 2))
    return SearchOutcome(
        nothing, measured.released, adaptive=not measured.plan.joint, open=every, values=measured
    )


def search_measured(
    task: Task, measured: Measurements, asked: int | None, *, latent: bool, obtain: Obtain
) -> SearchOutcome:
    """Search measured tables for a graph and orient it.

    ``asked``: repeats for confidence; ``obtain`` brings larger tables that questions lack.
    """
    scope = Scope.of(task, measured)
    forward = Forward(scope.contrasts, scope.rules).run().separate()
    larger = LargerTables(task, measured, obtain) if measured.plan.larger else None
    found = Edges.of_pairs(task, scope.columns, forward, larger)
    scope = scope if larger is None else replace(scope, measured=larger.now)
    graphs = None if latent else WholeGraphs.of(task, scope.measured, forward)
    whole = best_graph(graphs, scope, found.skeleton)
    if whole is not None:
        found = found.with_whole_graph(whole, forward)
    found = found.without_edges_of_bins(scope)
    if latent:
        found = found.with_hidden_causes(scope, forward, larger)
    repeats, again = confidence_of(scope, forward, found, graphs, whole, asked)
    marks = marks_of(task, scope, found) if latent else None
    detectable = detectable_of(forward, larger, found.skeleton)
    found = found.without_hidden_in_strata(detectable, scope.rules.absent)
    outcome = SearchOutcome(
        found.skeleton,
        released=scope.measured.released,
        notes=notes_on(scope, found, larger, whole, latent=latent),
        adaptive=not scope.measured.plan.joint,
        direction=None if latent else directions_of(task, scope, forward, found, whole),
        marks=marks,
        detectable=detectable,
        confidence=again,
        repeats=repeats or None,
        open=found.open,
        given_up_to=found.given_up_to,
        latent=latent,
        values=scope.measured,
        evidence=evidence_of(scope, forward, larger, found, graphs, whole),
    )
    return outcome if scope.target is None else about_target(scope, outcome)


@dataclass(frozen=True)
class Edges:
    """The edges of a search, step by step: by pairs and larger tables, by whole graphs, without those of bins."""

    skeleton: Skeleton
    open: frozenset[Pair]  # neither found nor absent
    # of edges about which larger sets could not be asked: the largest size that could
    given_up_to: Mapping[Pair, int]
    chosen: frozenset[Pair] = frozenset()  # edges of the best whole graph
    # pairs that lost their edge because bins explain it, with the columns that were held fixed
    explained: CoarseCauses = field(default_factory=dict)

    @classmethod
    def of_pairs(
        cls, task: Task, columns: Sequence[str], forward: Forward, larger: LargerTables | None = None
    ) -> Edges:
        """Return the edges of the forward search, without those that larger tables separate."""
        found = frozenset(named(columns, forward.edges()))
        if larger is None:
            near = {columns[x]: {columns[y] for y in forward.near[x]} for x in range(len(columns))}
            skeleton = Skeleton(tuple(columns), near, answered=set(found))
        else:
            others = frozenset(frozenset(pair) for pair in combinations(columns, 2)) - found
            known = replace(task.known, forbidden=task.known.forbidden | others)
            asking = pc_search(columns, known, max_order=task.max_order, ahead=SETS_PER_BATCH)
            skeleton = drive(asking, larger.answer)
        apart = {
            frozenset((columns[x], columns[y])): tuple(columns[z] for z in given)
            for (x, y), given in forward.separating.items()
        }
        skeleton = replace(
            skeleton,
            separating={**apart, **skeleton.separating},
            asked=Counter(skeleton.asked) + Counter(forward.asked),
            held=skeleton.held | held_pairs(forward.answers, columns),
        )
        limits = {frozenset((columns[x], columns[y])): k for (x, y), k in forward.given_up_to().items()}
        return cls(skeleton, frozenset(named(columns, forward.open_pairs())), limits)._consistent()

    def with_whole_graph(self, whole: WholeGraphsFound, forward: Forward) -> Edges:
        """Return the edges of the best whole graph.

        A pair that loses its edge is open unless a test calls it absent.
        """
        skeleton, columns = self.skeleton, self.skeleton.columns
        edges, chosen = (frozenset(named(columns, pairs)) for pairs in (whole.edges, whole.chosen))
        separating, opened = dict(skeleton.separating), set(self.open)
        for x, y in places_of(columns, skeleton.edges - edges):
            pair, given = frozenset((columns[x], columns[y])), whole.separating(x, y)
            separating[pair] = tuple(columns[z] for z in given)
            if not forward.says_absent((x, y), given):
                opened.add(pair)
        skeleton = replace(
            skeleton.with_edges(edges),
            separating=separating,
            unanswered_from={
                pair: order for pair, order in skeleton.unanswered_from.items() if pair not in chosen
            },
            answered=skeleton.answered | chosen,
            held=skeleton.held | chosen,
        )
        limits = {pair: k for pair, k in self.given_up_to.items() if pair not in chosen}
        return Edges(skeleton, frozenset(opened), limits, chosen)._consistent()

    def without_edges_of_bins(self, scope: Scope) -> Edges:
        """Return the edges without those that bins explain; such pairs are open."""
        skeleton, columns = self.skeleton, self.skeleton.columns
        near, explained = explained_by_bins(neighbours(skeleton), scope.contrasts, scope.cut, scope.rules)
        edges = frozenset(frozenset((columns[x], columns[y])) for x in range(len(near)) for y in near[x])
        opened = self.open | frozenset(named(columns, explained))
        return replace(
            self, skeleton=skeleton.with_edges(edges), open=opened, explained=explained
        )._consistent()

    def with_hidden_causes(self, scope: Scope, forward: Forward, larger: LargerTables | None) -> Edges:
        """Return the edges that remain after the further questions of FCI."""
        task = scope.task
        asking = further_questions(
            replace(self.skeleton, unanswered_from={}),
            task.known,
            max_order=task.max_order,
            ahead=SETS_PER_BATCH,
            bounds=bounds_of(scope, larger),
            possible=self.open,
        )
        if larger is not None:
            skeleton = drive(asking, larger.answer)
        else:
            skeleton = drive(asking, lambda batch: _by_contrasts(forward, task.columns, batch))
        limits = dict(self.given_up_to)
        for pair, size in skeleton.given_up_to.items():
            limits[pair] = min(size, limits.get(pair, size))
        return replace(self, skeleton=skeleton, given_up_to=limits)

    def without_hidden_in_strata(self, detectable: Mapping[Pair, float], absent: float) -> Edges:
        """Return the edges with pairs open whose strata could hide a link that matters."""
        return replace(
            self, open=self.open | hidden_in_strata(self.skeleton, detectable, absent)
        )._consistent()

    def _consistent(self) -> Edges:
        """Return the edges with facts removed that no longer fit the state of their pair."""
        edges = self.skeleton.edges
        opened = self.open - edges
        apart = {
            pair: given
            for pair, given in self.skeleton.separating.items()
            if pair not in edges and pair not in opened
        }
        return replace(
            self,
            skeleton=replace(self.skeleton, separating=apart),
            open=opened,
            given_up_to={pair: k for pair, k in self.given_up_to.items() if pair in edges},
            chosen=self.chosen & edges,
        )


def best_graph(graphs: WholeGraphs | None, scope: Scope, skeleton: Skeleton) -> WholeGraphsFound | None:
    """Return the best whole graph near a skeleton; None where whole graphs are not scored."""
    if graphs is None:
        return None
    with scope.task.stage(f"scoring whole graphs{compile_note(anneal)}", None):
        return graphs.best(scope.contrasts, places_of(skeleton.columns, skeleton.edges))


def notes_on(
    scope: Scope,
    found: Edges,
    larger: LargerTables | None,
    whole: WholeGraphsFound | None,
    *,
    latent: bool,
) -> tuple[Note, ...]:
    """Return the notes on a result besides its graph: what was measured, what limits it."""
    measured, rules = scope.measured, scope.rules
    target = None if scope.target is None else scope.places[0]
    made = held_coarsely(neighbours(found.skeleton), scope.contrasts.strength, scope.coarse, rules)
    made, explained = (
        {pair: by for pair, by in one.items() if target is None or pair[0] == 0}
        for one in (made, found.explained)
    )
    notes = measured_notes(measured, rules.acceptance_threshold, target)
    notes += sites_notes(measured, scope.task.level)
    notes += [hidden_note(bounds_of(scope, larger))] if latent else []
    notes += coarse_note(made, explained, scope.columns)
    notes += [] if whole is None else [ScoredGraphs(edges=len(whole.chosen))]
    notes += [unanswered(larger.unanswered)] if larger is not None and larger.unanswered else []
    return tuple(notes)


def bounds_of(scope: Scope, larger: LargerTables | None) -> Bounds:
    """Return the bounds of the further questions that hidden causes raise: pairs alone answer small sets only."""
    return USUAL if larger is not None else replace(USUAL, order=scope.rules.max_set)


def marks_of(task: Task, scope: Scope, found: Edges) -> dict[tuple[str, str], float]:
    """Return the probability of an arrowhead at either end of every edge, if hidden causes are allowed."""
    return marks_by_pairs(
        task,
        scope.contrasts,
        found.skeleton.edges,
        found.skeleton.separating,
        cost=scope.rules.acceptance_threshold,
        absent=scope.rules.absent,
        misfit=scope.measured.plan.settings.misfit,
    )


def confidence_of(
    scope: Scope,
    forward: Forward,
    found: Edges,
    graphs: WholeGraphs | None,
    whole: WholeGraphsFound | None,
    asked: int | None,
) -> tuple[int, dict[Pair, float] | None]:
    """Return the number of repeats, and the share of them that finds each edge again (None: none asked for)."""
    if asked == 0:
        return 0, None
    columns, chosen, again = scope.columns, found.chosen, dict[Pair, float]()
    repeats = repeats_of(forward, asked)
    if graphs is not None and chosen:
        repeats = min(repeats, graphs.repeats(asked))
    generator = released_generator(forward.contrasts.covariance)
    if (others := found.skeleton.edges - chosen) or not chosen:
        again |= again_by_pairs(
            scope.task,
            forward,
            columns,
            others,
            repeats,
            generator,
            lambda: scope.measured.retained_by_other_groups(generator, scope.places),
        )
    if graphs is not None and whole is not None and chosen:
        graphs_again = graphs.replicates(whole.visited, generator)
        again |= found_again(scope.task.stage, chosen, repeats, lambda: named(columns, next(graphs_again)))
    return repeats, again


def detectable_of(forward: Forward, larger: LargerTables | None, skeleton: Skeleton) -> dict[Pair, float]:
    """Return, for every pair without an edge, the dependence w that would be found in 80% of runs.

    Tests add up over the strata of a set: a dependence that differs between k strata of one size at random, w by the
    mean of its squares, adds up to one of about w / sqrt(k). Told is the w that then is found. One that is alike in
    all strata is found more often; one that cancels is not found at all.
    """
    columns, place = skeleton.columns, {name: j for j, name in enumerate(skeleton.columns)}
    edges, found = skeleton.edges, {}
    for x, y in all_pairs(len(columns)):
        pair = frozenset((columns[x], columns[y]))
        if pair in edges:
            continue
        given = tuple(sorted(place[z] for z in skeleton.separating.get(pair, ())))
        least = forward.detectable((x, y), given)
        if larger is not None and (x, y, given) in larger.tests:
            least = min(least, larger.detectable(x, y, given))
        found[pair] = least * math.sqrt(forward.contrasts.strata(given))
    return found


def hidden_in_strata(skeleton: Skeleton, detectable: Mapping[Pair, float], absent: float) -> frozenset[Pair]:
    """Return the pairs that a set separates in whose strata a link of more than w = ``absent`` could be missed."""
    return frozenset(
        pair for pair, given in skeleton.separating.items() if given and detectable.get(pair, 0.0) > absent
    )


def directions_of(
    task: Task, scope: Scope, forward: Forward, found: Edges, whole: WholeGraphsFound | None
) -> dict[tuple[str, str], float]:
    """Return the probability of each direction of every edge, by the names of its columns."""
    return directions_of_edges(
        scope.columns,
        forward.contrasts,
        found.skeleton.edges,
        allowed_arrows(task)[np.ix_(scope.places, scope.places)],
        cost=scope.rules.acceptance_threshold,
        misfit=scope.measured.plan.settings.misfit,
        visited=() if whole is None else whole.visited,
    )


def evidence_of(
    scope: Scope,
    forward: Forward,
    larger: LargerTables | None,
    found: Edges,
    graphs: WholeGraphs | None,
    whole: WholeGraphsFound | None,
) -> dict[Pair, Evidence]:
    """Return the evidence that decided each pair: a Bayes factor or, by larger tables, a p-value."""
    columns, separating = scope.columns, found.skeleton.separating
    evidence = forward.evidence_by_pair(columns, separating)
    if larger is not None:
        asked = frozenset(named(columns, forward.edges()))
        answers = [
            (frozenset((columns[x], columns[y])), tuple(columns[z] for z in given), test.pvalue)
            for (x, y, given), test in list(larger.tests.items())
            if larger.independent(x, y, given) is not None
        ]
        evidence = {pair: one for pair, one in evidence.items() if pair not in asked}
        evidence |= largest_pvalues((one for one in answers if one[0] in asked), separating)
    if graphs is not None and whole is not None:
        evidence |= graphs.evidence(whole, columns)
    return evidence


def _by_contrasts(forward: Forward, columns: Sequence[str], batch: list[Query]) -> Answers:
    """Return answers from columns and pairs alone: True for the best separating set, None for no power."""
    place = {name: j for j, name in enumerate(columns)}
    found: list[bool | None] = []
    best: dict[tuple[str, str], tuple[float, int]] = {}
    for i, question in enumerate(batch):
        x, y = sorted((place[question.x], place[question.y]))
        given = tuple(sorted(place[z] for z in question.given))
        evidence = forward.evidence(x, y, given)
        if evidence is None or forward.detectable((x, y), given) > MEDIUM:
            found.append(None)
            continue
        found.append(False)
        if evidence <= forward.rules.acceptance_threshold:
            best[question[:2]] = min(best.get(question[:2], (evidence, i)), (evidence, i))
    for _, i in best.values():
        found[i] = True
    return found


def neighbours(skeleton: Skeleton) -> list[set[int]]:
    """Return the neighbours of every column, by number."""
    place = {name: j for j, name in enumerate(skeleton.columns)}
    return [{place[other] for other in skeleton.adjacent[name]} for name in skeleton.columns]


METHOD = Method(
    "measured", "tables measured once, with noise, answer every question", run, tables_only=True, settles=True
)
