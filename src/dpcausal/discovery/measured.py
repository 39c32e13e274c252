"""Measured: spend the budget on tables with noise of known law; every question is then free post-processing.

1. **What is measured** (``planning/measurement.py``): one joint table, or components. Single columns and all pairs
   come first; where noise is large, promising pairs again in rounds, with levels merged; where it is small, the larger
   tables that a search asks for. With many columns and much noise a tree of pairs is chosen and measured alone. Shares
   follow from public numbers, what is promising from released ones, the tree from a mechanism.
2. **Skeleton.** A forward search (``forward.py``) on the evidence of columns and pairs. Where larger tables pay, PC
   then asks about what it found, with sets of any size: sets whose tables are not measured yet name them, the sets most
   likely to separate come first, and are measured together for one share of the budget, under the filter on the total.
   On one joint table whole graphs are scored then (``joint_search.py``).
3. **Three states.** Found, absent and open pairs, as in ``forward.py``. A test of PC that could not have seen a
   dependence separates nothing. Edges that the bins of a number explain are open (``coarse.py``).
4. **Arrows** by the evidence of all separating sets (below).
5. **Confidence**: how often an edge is found in repeats of the forward search, each on another sample and other noise,
   drawn by what is known after the run (``Contrasts.again``), with levels grouped anew (``kept_by_other_groups``). It
   speaks of sampling and privacy noise, not of what the model leaves out, and of an edge, not of its direction.

**Colliders.** PC looks at the one set it happened to find first. A weak pair a - c - b is often separated by the empty
set *and* by {c}; going by the empty set alone gives a false collider, and leaving such triples open gives none at all.
Where tests are free, every set B within the neighbours of either end can be asked with and without c: with c a
collider the evidence against independence given B is smaller than given B and c; with c in between it is the other way
round. c is made a collider when the sum of the differences, over all B of which one side separates a and b, says so;
within ``margin`` of zero the set that the search found decides.

**Guarantee** (epsilon, delta)-DP in total (``composition.proof.md``): mechanisms are charged before noise is drawn, and
what is measured, merged and asked follows from public and released values only. **Cost** O(cells) a question; colliders
at most ``MAX_COLLIDER_SETS`` questions a pair.

References: Ramsey 2016 (largest p-value); Colombo & Maathuis 2014, section 4.2 (majority of sets); Tsamardinos, Brown &
Aliferis 2006 (forward, then backward); Chow & Liu 1968 (the strongest forest); McKenna, Miklau & Sheldon 2021 (its
private choice).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Annotated

from dpcausal.core.compiled import compile_note
from dpcausal.core.entropy import released_generator
from dpcausal.core.errors import InputError
from dpcausal.counts.kernels.staged import count_jobs
from dpcausal.discovery.coarse import coarse_columns, coarse_note, explained_by_bins, held_coarsely
from dpcausal.discovery.effect_after import ReleasedTables
from dpcausal.discovery.evidence import Evidence, held_pairs, largest_pvalues
from dpcausal.discovery.fci import LATENT, USUAL, Bounds, further_questions, hidden_note
from dpcausal.discovery.forward import (
    CLEARLY_APART,
    KEPT,
    Forward,
    edges_of_twins,
    forward_again,
    repeats_of,
)
from dpcausal.discovery.joint_search import VISITED, JointFound, JointSearch, joint_generator
from dpcausal.discovery.knowledge import Knowledge, Pair
from dpcausal.discovery.measurer import (
    Given,
    Measurer,
    known_groups,
    measured_note,
    not_colliders,
    rules_for,
    start,
)
from dpcausal.discovery.repeats import CONFIDENCE, checked_repeats, found_again
from dpcausal.discovery.search import (
    Answers,
    Method,
    Note,
    Query,
    SearchOutcome,
    Skeleton,
    Task,
    WholeGraphs,
    drive,
    pc_search,
    unanswered,
)
from dpcausal.discovery.target import run_target
from dpcausal.planning.measurement import (
    NEARLY_NO_NOISE,
    below_sampling,
)
from dpcausal.stats.joint_graphs import anneal

SETS_PER_BATCH = 500  # sets of one edge asked about in one batch
NO_TARGET = "hidden causes are looked for in a whole graph, not around a target: leave latent or target out"


def search(measurer: Measurer, forward: Forward) -> tuple[Skeleton, frozenset[Pair]]:
    """What the forward search found, less what larger tables separate; and edges that became open on the way."""
    task, columns = measurer.task, measurer.task.columns
    found = {frozenset((columns[x], columns[y])) for x, y in forward.edges()}
    apart = {
        frozenset((columns[x], columns[y])): tuple(columns[z] for z in given)
        for (x, y), given in forward.separating.items()
    }
    if measurer.larger:
        others = frozenset(frozenset(pair) for pair in combinations(columns, 2)) - found
        known = Knowledge(task.known.kept, task.known.left_out | others, task.known.arrows, task.known.tier)
        asking = pc_search(columns, known, max_order=task.max_order, ahead=SETS_PER_BATCH)
        skeleton = drive(asking, measurer.answer)
        twins = open_twins(measurer, forward, skeleton)
    else:
        near = {columns[x]: {columns[y] for y in forward.near[x]} for x in range(len(columns))}
        skeleton, twins = Skeleton(tuple(columns), near, answered=set(found)), frozenset()
    skeleton.separating = {**apart, **skeleton.separating}
    for order, number in forward.asked.items():
        skeleton.asked[order] = skeleton.asked.get(order, 0) + number
    skeleton.held |= held_pairs(forward.answers, columns)
    return skeleton, twins


def open_twins(measurer: Measurer, forward: Forward, skeleton: Skeleton) -> frozenset[Pair]:
    """Take edges of twins (``forward.py``) out of the skeleton and return them.

    A test given the twin is silent where it could not have seen a dependence and saw none.
    """
    columns = measurer.task.columns
    place = {name: j for j, name in enumerate(columns)}

    def silent(x: int, y: int, z: int) -> bool:
        if measurer.tables.missing(x, y, (z,)):
            evidence = forward.evidence(x, y, (z,))
            return evidence is None or evidence <= KEPT * forward.rules.enough
        if measurer.decide(x, y, (z,)) is not None:
            return False
        return measurer.too_many((z,)) or measurer.test(x, y, (z,)).pvalue > measurer.task.level

    near = [{place[other] for other in skeleton.adjacent[name]} for name in columns]
    found = edges_of_twins(near, forward.contrasts.strength, silent, forward.rules)
    for x, y in found:
        skeleton.adjacent[columns[x]].discard(columns[y])
        skeleton.adjacent[columns[y]].discard(columns[x])
    return frozenset(frozenset((columns[x], columns[y])) for x, y in found)


def run(
    task: Task,
    *,
    confidence: Annotated[int | None, CONFIDENCE] = None,
    target: Annotated[str | None, "the one column that the question is about"] = None,
    latent: Annotated[bool, LATENT] = False,
) -> SearchOutcome:
    """Measure, search, orient.

    ``confidence``: how many repeats (None: as many as are quickly done; 0: none). ``target``: the one column that the
    question is about (``target.py``). ``latent``: whether common causes may be hidden (``fci.py``).
    """
    asked = checked_repeats(confidence)
    if target is not None:
        if latent:
            raise InputError(NO_TARGET)
        return run_target(task, target, asked)
    with task.stage(f"measuring tables{compile_note(count_jobs)}", None):  # one pass: nothing to count
        measurer = start(task)
    return search_measured(task, measurer, asked, latent=latent)


def search_measured(task: Task, measurer: Measurer, asked: int | None, *, latent: bool) -> SearchOutcome:
    """Search what was measured, and orient; ``asked``: repeats for confidence."""
    columns = task.columns
    rules = rules_for(task, tree=measurer.tree, clarity=measurer.clarity)
    contrasts = measurer.contrasts()
    sizes = measurer.tables.sizes
    if measurer.larger and below_sampling(measurer.pair_variance(), sizes, measurer.rows, NEARLY_NO_NOISE):
        rules = replace(rules, kept=CLEARLY_APART)
    forward = Forward(contrasts, rules).run()
    if not measurer.larger:
        forward.open_twins()
    forward.separate()
    skeleton, twins = search(measurer, forward)
    unsaid = frozenset(frozenset((columns[x], columns[y])) for x, y in forward.open_pairs())
    joint = None if latent else JointSearch.of(measurer, forward)
    whole = None
    if joint is not None:
        with task.stage(f"scoring whole graphs{compile_note(anneal)}", None):
            whole = search_joint(joint, forward, skeleton)
    if whole is not None:
        unsaid |= explained_by(whole, forward, skeleton)
    coarse = coarse_columns(task.counts.schema, measurer.groups)
    near = neighbours(skeleton)
    explained = explained_by_bins(near, contrasts, coarse, measurer.ordered, rules)
    skeleton.adjacent = {name: {columns[j] for j in near[i]} for i, name in enumerate(columns)}
    unsaid |= frozenset(named(columns, explained))
    chosen = frozenset() if whole is None else frozenset(named(columns, whole.chosen)) & skeleton.edges
    undecided = (unsaid | twins) - skeleton.edges
    decided = replace_separating(skeleton, undecided)
    given_up_to = {
        pair: k
        for (x, y), k in forward.given_up_to().items()
        if (pair := frozenset((columns[x], columns[y]))) in skeleton.edges - chosen
    }
    more: list[Note] = []
    if latent:
        bounds = USUAL if measurer.larger else replace(USUAL, order=rules.max_set)
        skeleton = decided = allow_hidden(measurer, forward, decided, undecided, bounds)
        for pair, size in decided.given_up_to.items():
            given_up_to[pair] = min(size, given_up_to.get(pair, size))
        more = [hidden_note(bounds)]
    made = held_coarsely(neighbours(skeleton), contrasts.strength, coarse, rules)
    notes = [*measured_note(measurer, rules.enough), *coarse_note(made, explained, columns), *more]
    if whole is not None:
        notes.append(WholeGraphs(edges=len(whole.chosen)))
    if measurer.silent:
        notes.append(unanswered(measurer.silent))
    if measurer.larger:
        arrows = not_colliders(decided, measurer.decide, measurer.evidence_against, columns, beside=latent)
    else:

        def says(x: int, y: int, given: Given) -> bool | None:
            evidence = forward.evidence(min(x, y), max(x, y), given)
            return None if evidence is None else evidence <= rules.kept

        def against(x: int, y: int, given: Given) -> float:
            return forward.evidence(min(x, y), max(x, y), given) or 0.0

        arrows = not_colliders(decided, says, against, columns, beside=latent)
    if whole is not None:
        arrows = by_graph(arrows, whole, columns)
    again: dict[Pair, float] | None = None
    repeats = repeats_of(forward, asked)
    if joint is not None and chosen:
        repeats = min(repeats, joint.repeats(asked))
    if repeats:
        generator, again = released_generator(contrasts.covariance), {}
        if skeleton.edges - chosen or not chosen:
            again |= found_again(
                task,
                skeleton.edges - chosen,
                repeats,
                lambda: forward_again(
                    forward, columns, generator, measurer.kept(generator, range(len(columns)))
                ),
            )
        if joint is not None and whole is not None and chosen:
            others = joint.again(whole.visited, generator)
            again |= found_again(task, chosen, repeats, lambda: named(columns, next(others)))
    evidence = said(measurer, forward, decided)
    if joint is not None and whole is not None:
        evidence |= evidence_of(joint, whole, columns)
    return SearchOutcome(
        skeleton,
        released=tuple(measurer.released),
        notes=tuple(notes),
        adaptive=not measurer.plan.joint,
        not_colliders=arrows,
        confidence=again,
        repeats=repeats or None,
        open=undecided,
        given_up_to=given_up_to,
        latent=latent,
        tables=released_tables(measurer),
        evidence=evidence,
    )


def neighbours(skeleton: Skeleton) -> list[set[int]]:
    """Return the neighbours of every column, by number."""
    place = {name: j for j, name in enumerate(skeleton.columns)}
    return [{place[other] for other in skeleton.adjacent[name]} for name in skeleton.columns]


def search_joint(joint: JointSearch, forward: Forward, skeleton: Skeleton) -> JointFound | None:
    """What whole graphs, scored on the joint table, make of the edges of a skeleton."""
    place = {name: j for j, name in enumerate(skeleton.columns)}
    edges = [tuple(sorted(place[name] for name in pair)) for pair in skeleton.edges]
    return joint.run(
        forward.contrasts, sorted((x, y) for x, y in edges), joint_generator(joint), keep=VISITED
    )


def explained_by(whole: JointFound, forward: Forward, skeleton: Skeleton) -> frozenset[Pair]:
    """Give the skeleton the edges that were found; return the pairs that lost theirs and are open now."""
    columns = skeleton.columns
    place = {name: j for j, name in enumerate(columns)}
    found, chosen = frozenset(named(columns, whole.edges)), frozenset(named(columns, whole.chosen))
    unsaid = set()
    for pair in skeleton.edges - found:
        x, y = sorted(place[name] for name in pair)
        given = whole.separating(x, y)
        skeleton.separating[pair] = tuple(columns[z] for z in given)
        if not forward.says_absent((x, y), given):
            unsaid.add(pair)
    for name in columns:
        skeleton.adjacent[name] = {other for pair in found if name in pair for other in pair if other != name}
    for pair in found:
        skeleton.separating.pop(pair, None)
    for pair in chosen:
        skeleton.unanswered_from.pop(pair, None)
    skeleton.answered |= chosen
    skeleton.held |= chosen
    return frozenset(unsaid)


def evidence_of(joint: JointSearch, whole: JointFound, columns: Sequence[str]) -> dict[Pair, Evidence]:
    """Return the Bayes factor of each edge of the best graph; held fixed are the other parents of its head."""
    found = {}
    for (x, y), log in joint.bayes(whole).items():
        head, tail = (x, y) if y in whole.parents[x] else (y, x)
        given = tuple(columns[z] for z in whole.parents[head] if z != tail)
        found[frozenset((columns[x], columns[y]))] = Evidence(given, log10_bayes=log / math.log(10))
    return found


def by_graph(
    arrows: dict[Pair, frozenset[str]], whole: JointFound, columns: Sequence[str]
) -> dict[Pair, frozenset[str]]:
    """Return the middles that must not be made colliders, as the best graph says where it has both edges."""
    place = {name: j for j, name in enumerate(columns)}
    found: dict[Pair, frozenset[str]] = {}
    for pair, barred in arrows.items():
        ends = {place[name] for name in pair}
        said = {
            z: ends <= set(whole.parents[place[z]])
            for z in columns
            if all((min(end, place[z]), max(end, place[z])) in whole.chosen for end in ends)
        }
        found[pair] = frozenset(z for z in barred if not said.get(z, False)) | {
            z for z, collider in said.items() if not collider
        }
    return found


def named(columns: Sequence[str], pairs: Iterable[tuple[int, int]]) -> list[Pair]:
    """Return pairs of places by the names of their columns."""
    return [frozenset((columns[x], columns[y])) for x, y in pairs]


def said(measurer: Measurer, forward: Forward, found: Skeleton) -> dict[Pair, Evidence]:
    """Return what decided on each pair: Bayes factors from columns and pairs, p-values where larger tables did."""
    columns = measurer.task.columns
    evidence = forward.said(columns, found.separating)
    if not measurer.larger:
        return evidence
    asked = {frozenset((columns[x], columns[y])) for x, y in forward.edges()}
    answers = [
        (frozenset((columns[x], columns[y])), tuple(columns[z] for z in given), test.pvalue)
        for (x, y, given), test in list(measurer._tests.items())
        if measurer.decide(x, y, given) is not None
    ]
    by_tables = largest_pvalues((one for one in answers if one[0] in asked), found.separating)
    return {**{pair: one for pair, one in evidence.items() if pair not in asked}, **by_tables}


def released_tables(measurer: Measurer) -> ReleasedTables:
    """Return what was released, for effects after the search."""
    task = measurer.task
    merged = frozenset(task.columns[j] for j in measurer.groups)
    return ReleasedTables(
        task.counts.schema, measurer.tables, merged, max(measurer.rows, 1.0), known_groups(measurer)
    )


def allow_hidden(
    measurer: Measurer, forward: Forward, found: Skeleton, undecided: frozenset[Pair], bounds: Bounds
) -> Skeleton:
    """Return the skeleton after the further questions that hidden causes raise; its sizes not asked are theirs."""
    task = measurer.task
    asking = further_questions(
        replace(found, unanswered_from={}),
        task.known,
        max_order=task.max_order,
        ahead=SETS_PER_BATCH,
        bounds=bounds,
        possible=undecided,
    )
    return drive(
        asking, measurer.answer if measurer.larger else lambda batch: _by_contrasts(forward, task, batch)
    )


def _by_contrasts(forward: Forward, task: Task, batch: list[Query]) -> Answers:
    """Answers from columns and pairs alone: True for the best set of an edge, None where nothing would show."""
    place = {name: j for j, name in enumerate(task.columns)}
    found: list[bool | None] = []
    best: dict[tuple[str, str], tuple[float, int]] = {}
    for i, question in enumerate(batch):
        x, y = sorted((place[question.x], place[question.y]))
        given = tuple(sorted(place[z] for z in question.given))
        evidence = forward.evidence(x, y, given)
        if evidence is None or forward.contrasts.would_show(x, y, given) < forward.rules.enough:
            found.append(None)
            continue
        found.append(False)
        if evidence <= forward.rules.kept:
            best[question[:2]] = min(best.get(question[:2], (evidence, i)), (evidence, i))
    for _, i in best.values():
        found[i] = True
    return found


def replace_separating(skeleton: Skeleton, undecided: frozenset[Pair]) -> Skeleton:
    """Return the skeleton without what is said to separate open pairs: nothing does."""
    kept = {pair: given for pair, given in skeleton.separating.items() if pair not in undecided}
    return replace(skeleton, separating=kept)


METHOD = Method(
    "measured", "tables measured once, with noise, answer every question", run, tables_only=True, settles=True
)
