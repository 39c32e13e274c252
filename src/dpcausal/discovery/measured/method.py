"""Measured: spend the budget on tables with noise of known law; every question is then free post-processing.

1. **Plan** (``planning/measurement_plan.py``): one joint table, or components; made once, from public numbers.
2. **Measure** (``measure.py``): what the plan says, each step charged before its noise is drawn.
3. **Evidence** (``stats/contrasts.py``): covariances of features of the columns, with their noise, as Bayes factors.
4. **Search.** A forward search (``forward.py``) on columns and pairs. Where noise is small, PC then asks about what it
   found on larger tables (``larger.py``). On one joint table whole graphs are scored (``whole_graphs.py``). Edges that
   the bins of a number explain are open (``bins.py``).
5. **Report.** Found, absent and open pairs; the chance of each direction, or where causes may be hidden of each mark
   (``discovery/directions.py``); and how often an edge is found again on another sample with other noise, drawn by what
   is known after the run.

**Guarantee** (epsilon, delta)-DP in total (``measure.proof.md``): mechanisms are charged before noise is drawn, and
what is measured, merged and asked follows from public and released values only. **Cost** O(cells) a question.

References: Tsamardinos, Brown & Aliferis 2006 (forward, then backward); Chow & Liu 1968 (the strongest forest);
McKenna, Miklau & Sheldon 2021 (its private choice).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Annotated

from dpcausal.core.compiled import compile_note
from dpcausal.core.entropy import released_generator
from dpcausal.counts.rows import count_jobs
from dpcausal.discovery.directions import (
    allowed_arrows,
    directions_by_graphs,
    directions_by_pairs,
    marks_by_pairs,
)
from dpcausal.discovery.evidence import Evidence, held_pairs, largest_pvalues
from dpcausal.discovery.fci import LATENT, USUAL, Bounds, further_questions, hidden_note
from dpcausal.discovery.knowledge import Knowledge, Pair
from dpcausal.discovery.measured.bins import coarse_columns, coarse_note, explained_by_bins, held_coarsely
from dpcausal.discovery.measured.forward import MEDIUM, Forward, forward_again, repeats_of, rules_for
from dpcausal.discovery.measured.larger import LargerTables, Obtain, measure_lacking
from dpcausal.discovery.measured.measure import Measurements, measure
from dpcausal.discovery.measured.notes import measured_notes
from dpcausal.discovery.measured.target import search_around_target
from dpcausal.discovery.measured.whole_graphs import WholeGraphs, WholeGraphsFound
from dpcausal.discovery.repeats import CONFIDENCE, checked_repeats, found_again
from dpcausal.discovery.search import (
    Answers,
    Method,
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
    """Measure, search, orient.

    ``confidence``: how many repeats (None: as many as are quickly done; 0: none). ``target``: the one column that the
    question is about, as the plan has it. ``latent``: whether common causes may be hidden (``fci.py``).
    """
    repeats = checked_repeats(confidence)
    with task.stage(f"measuring tables{compile_note(count_jobs)}", None):  # one pass: nothing to count
        measured = measure(task)
    return search_measured(task, measured, repeats, latent=latent, obtain=measure_lacking)


def search_measured(
    task: Task, measured: Measurements, asked: int | None, *, latent: bool, obtain: Obtain
) -> SearchOutcome:
    """Search what was measured, and orient.

    ``asked``: repeats for confidence; ``obtain`` brings larger tables that questions lack.
    """
    if measured.near:
        return search_around_target(task, measured, asked)
    columns, rules = task.columns, rules_for(task, measured)
    contrasts = measured.contrasts()
    forward = Forward(contrasts, rules).run().separate()
    larger = LargerTables(task, measured, obtain) if measured.plan.larger else None
    skeleton = skeleton_of(task, forward, larger)
    measured = measured if larger is None else larger.now
    opened = frozenset(named(columns, forward.open_pairs()))
    graphs = None if latent else WholeGraphs.of(task, measured, forward)
    whole = None
    if graphs is not None:
        with task.stage(f"scoring whole graphs{compile_note(anneal)}", None):
            whole = graphs.best(contrasts, places_of(skeleton, skeleton.edges))
    if whole is not None:
        skeleton, more = with_whole_graph(skeleton, whole, forward)
        opened |= more
    coarse = coarse_columns(task.counts.schema, measured.groups)
    near, explained = explained_by_bins(neighbours(skeleton), contrasts, coarse, measured.trends, rules)
    skeleton = replace(
        skeleton, adjacent={name: {columns[j] for j in near[i]} for i, name in enumerate(columns)}
    )
    opened = (opened | frozenset(named(columns, explained))) - skeleton.edges
    skeleton = replace(
        skeleton,
        separating={pair: given for pair, given in skeleton.separating.items() if pair not in opened},
    )
    chosen = frozenset() if whole is None else frozenset(named(columns, whole.chosen)) & skeleton.edges
    given_up_to = {
        pair: k
        for places, k in forward.given_up_to().items()
        for pair in named(columns, [places])
        if pair in skeleton.edges - chosen
    }
    notes = measured_notes(measured, rules.acceptance_threshold)
    if latent:
        bounds = USUAL if larger is not None else replace(USUAL, order=rules.max_set)
        skeleton = allow_hidden(task, skeleton, opened, bounds, forward, larger)
        for pair, size in skeleton.given_up_to.items():
            given_up_to[pair] = min(size, given_up_to.get(pair, size))
        notes.append(hidden_note(bounds))
    made = held_coarsely(neighbours(skeleton), contrasts.strength, coarse, rules)
    notes += coarse_note(made, explained, columns)
    if whole is not None:
        notes.append(ScoredGraphs(edges=len(whole.chosen)))
    if larger is not None and larger.silent:
        notes.append(unanswered(larger.silent))
    marks, direction, misfit = None, None, measured.plan.settings.misfit
    if latent:
        marks = marks_by_pairs(
            task,
            contrasts,
            skeleton.edges,
            skeleton.separating,
            cost=rules.acceptance_threshold,
            absent=rules.absent,
            misfit=misfit,
        )
    else:
        direction = directions_of(task, forward, skeleton, whole, misfit)
    repeats, again = 0, None
    if asked != 0:
        repeats, again = confidence_of(task, measured, forward, skeleton.edges, graphs, whole, chosen, asked)
    evidence = evidence_of(forward, larger, skeleton)
    if graphs is not None and whole is not None:
        evidence |= graphs.evidence(whole, columns)
    return SearchOutcome(
        skeleton,
        released=measured.released,
        notes=tuple(notes),
        adaptive=not measured.plan.joint,
        direction=direction,
        marks=marks,
        detectable=detectable_of(forward, larger, skeleton),
        confidence=again,
        repeats=repeats or None,
        open=opened,
        given_up_to=given_up_to,
        latent=latent,
        values=measured,
        evidence=evidence,
    )


def skeleton_of(task: Task, forward: Forward, larger: LargerTables | None) -> Skeleton:
    """Return what the forward search found, less what larger tables separate."""
    columns = task.columns
    found = frozenset(named(columns, forward.edges()))
    if larger is None:
        near = {columns[x]: {columns[y] for y in forward.near[x]} for x in range(len(columns))}
        skeleton = Skeleton(tuple(columns), near, answered=set(found))
    else:
        others = frozenset(frozenset(pair) for pair in combinations(columns, 2)) - found
        known = Knowledge(
            task.known.required, task.known.forbidden | others, task.known.arrows, task.known.tier
        )
        asking = pc_search(columns, known, max_order=task.max_order, ahead=SETS_PER_BATCH)
        skeleton = drive(asking, larger.answer)
    apart = {
        frozenset((columns[x], columns[y])): tuple(columns[z] for z in given)
        for (x, y), given in forward.separating.items()
    }
    asked = dict(skeleton.asked)
    for order, number in forward.asked.items():
        asked[order] = asked.get(order, 0) + number
    return replace(
        skeleton,
        separating={**apart, **skeleton.separating},
        asked=asked,
        held=skeleton.held | held_pairs(forward.answers, columns),
    )


def with_whole_graph(
    skeleton: Skeleton, whole: WholeGraphsFound, forward: Forward
) -> tuple[Skeleton, frozenset[Pair]]:
    """Return the skeleton with the edges of whole graphs, and the pairs that lost theirs and are open now."""
    columns = skeleton.columns
    found, chosen = frozenset(named(columns, whole.edges)), frozenset(named(columns, whole.chosen))
    separating = {pair: given for pair, given in skeleton.separating.items() if pair not in found}
    opened = set()
    for x, y in places_of(skeleton, skeleton.edges - found):
        pair, given = frozenset((columns[x], columns[y])), whole.separating(x, y)
        separating[pair] = tuple(columns[z] for z in given)
        if not forward.says_absent((x, y), given):
            opened.add(pair)
    adjacent = {
        name: {other for pair in found if name in pair for other in pair if other != name} for name in columns
    }
    left = {pair: order for pair, order in skeleton.unanswered_from.items() if pair not in chosen}
    return replace(
        skeleton,
        adjacent=adjacent,
        separating=separating,
        unanswered_from=left,
        answered=skeleton.answered | chosen,
        held=skeleton.held | chosen,
    ), frozenset(opened)


def confidence_of(
    task: Task,
    measured: Measurements,
    forward: Forward,
    edges: frozenset[Pair],
    graphs: WholeGraphs | None,
    whole: WholeGraphsFound | None,
    chosen: frozenset[Pair],
    asked: int | None,
) -> tuple[int, dict[Pair, float]]:
    """Return how many repeats there were, and how often each edge is found again."""
    columns, again = task.columns, dict[Pair, float]()
    repeats = repeats_of(forward, asked)
    if graphs is not None and chosen:
        repeats = min(repeats, graphs.repeats(asked))
    generator = released_generator(forward.contrasts.covariance)
    if edges - chosen or not chosen:
        every = range(len(columns))
        again |= found_again(
            task,
            edges - chosen,
            repeats,
            lambda: forward_again(
                forward, columns, generator, measured.kept_by_other_groups(generator, every)
            ),
        )
    if graphs is not None and whole is not None and chosen:
        others = graphs.again(whole.visited, generator)
        again |= found_again(task, chosen, repeats, lambda: named(columns, next(others)))
    return repeats, again


def detectable_of(forward: Forward, larger: LargerTables | None, skeleton: Skeleton) -> dict[Pair, float]:
    """Return for every pair without an edge the w that would be found in most runs, given what separates it."""
    columns, place = skeleton.columns, {name: j for j, name in enumerate(skeleton.columns)}
    found = {}
    for x, y in all_pairs(len(columns)):
        pair = frozenset((columns[x], columns[y]))
        if pair in skeleton.edges:
            continue
        given = tuple(sorted(place[z] for z in skeleton.separating.get(pair, ())))
        least = forward.detectable((x, y), given)
        if larger is not None and (x, y, given) in larger.tests:
            least = min(least, larger.detectable(x, y, given))
        found[pair] = least
    return found


def directions_of(
    task: Task,
    forward: Forward,
    skeleton: Skeleton,
    whole: WholeGraphsFound | None,
    misfit: float,
) -> dict[tuple[str, str], float]:
    """Return the chance of each direction of every edge, by names: of whole graphs where they were scored."""
    columns, edges = task.columns, places_of(skeleton, skeleton.edges)
    if whole is not None:
        found = directions_by_graphs(whole.visited, edges)
    else:
        found = directions_by_pairs(
            forward.contrasts,
            edges,
            allowed_arrows(task),
            forward.rules.acceptance_threshold,
            misfit,
        )
    return {(columns[a], columns[b]): chance for (a, b), chance in found.items()}


def evidence_of(forward: Forward, larger: LargerTables | None, found: Skeleton) -> dict[Pair, Evidence]:
    """Return what decided on each pair: Bayes factors from columns and pairs, p-values where larger tables did."""
    columns = found.columns
    evidence = forward.evidence_by_pair(columns, found.separating)
    if larger is None:
        return evidence
    asked = frozenset(named(columns, forward.edges()))
    answers = [
        (frozenset((columns[x], columns[y])), tuple(columns[z] for z in given), test.pvalue)
        for (x, y, given), test in list(larger.tests.items())
        if larger.independent(x, y, given) is not None
    ]
    by_tables = largest_pvalues((one for one in answers if one[0] in asked), found.separating)
    return {**{pair: one for pair, one in evidence.items() if pair not in asked}, **by_tables}


def allow_hidden(
    task: Task,
    found: Skeleton,
    opened: frozenset[Pair],
    bounds: Bounds,
    forward: Forward,
    larger: LargerTables | None,
) -> Skeleton:
    """Return the skeleton after the further questions that hidden causes raise; its sizes not asked are theirs."""
    asking = further_questions(
        replace(found, unanswered_from={}),
        task.known,
        max_order=task.max_order,
        ahead=SETS_PER_BATCH,
        bounds=bounds,
        possible=opened,
    )
    if larger is not None:
        return drive(asking, larger.answer)
    return drive(asking, lambda batch: _by_contrasts(forward, task.columns, batch))


def _by_contrasts(forward: Forward, columns: Sequence[str], batch: list[Query]) -> Answers:
    """Answers from columns and pairs alone: True for the best set of an edge, None where nothing would show."""
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


def named(columns: Sequence[str], pairs: Iterable[tuple[int, int]]) -> list[Pair]:
    """Return pairs of places by the names of their columns."""
    return [frozenset((columns[x], columns[y])) for x, y in pairs]


def places_of(skeleton: Skeleton, pairs: Iterable[Pair]) -> list[tuple[int, int]]:
    """Return pairs of names by the places of their columns, ascending."""
    place: Mapping[str, int] = {name: j for j, name in enumerate(skeleton.columns)}
    found = [sorted(place[name] for name in pair) for pair in pairs]
    return sorted((x, y) for x, y in found)


METHOD = Method(
    "measured", "tables measured once, with noise, answer every question", run, tables_only=True, settles=True
)
