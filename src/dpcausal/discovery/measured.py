"""Measured: spend the budget on tables with noise of known law, once; every test is then free post-processing.

1. The plan (``planning/measurement.py``), from public numbers alone: one joint table, or components order by order.
2. Components: all columns and pairs. Tests of order 0 *and* 1 need no more (``stats/partial.py``). For every higher
   order the questions the search asks name the components they lack; those worth it are measured, under
   the filter on the total, chosen from what is already released.
3. PC asks; a test that could not have seen a dependence is "not tested": the edge stays and the result says so.
4. Of all sets that separate a pair the one with the largest p-value is kept; arrows follow the evidence of all
   of them (``measurer.py``).

**Guarantee** (epsilon, delta)-DP in total: mechanisms charged before noise, questions chosen from released values only
(docs/measured.md has the composition). **Cost** O(cells) a question.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np

from dpcausal.core.arguments import checked_count
from dpcausal.core.compiled import compile_note
from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.core.statement import Released, ReleasedKind
from dpcausal.counts.kernels.staged import count_jobs
from dpcausal.discovery.components import Components, JointTable, NoisyTables, found_again
from dpcausal.discovery.facts import Note, NoteKind, unanswered
from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.measurer import Measurer, not_colliders
from dpcausal.discovery.search import Skeleton, pc_search
from dpcausal.discovery.task import Method, SearchOutcome, Task, drive
from dpcausal.planning.measurement import first_sets, first_shares, joint_mechanism, noise_variance, plan_for
from dpcausal.privacy.mechanisms.release import release
from dpcausal.stats.measured import GAUSSIAN, LAPLACE

SETS_PER_BATCH = 500  # sets of one edge asked about in one batch
MAX_REPEATS = 10_000


@proved("composition.proof.md")
def start(task: Task) -> Measurer:
    """Measure what comes first: the joint table, or columns and pairs."""
    budget = task.private_budget()
    sizes = [column.size for column in task.counts.schema.values()]
    plan = plan_for(sizes, budget.total.epsilon, budget.total.rho, task.neighbours)
    if plan.joint:
        total = budget.total.rho if plan.gaussian else budget.total.epsilon
        mechanism = joint_mechanism(math.prod(sizes), total, task.neighbours, gaussian=plan.gaussian)
        noisy = release(mechanism, budget, "joint table", task.counts.table(task.columns))
        kurtosis = GAUSSIAN if plan.gaussian else LAPLACE
        joint = JointTable(np.asarray(noisy), noise_variance(mechanism), kurtosis, task.n)
        return Measurer(task, plan, joint, [Released(ReleasedKind.JOINT_TABLE)])
    measurer = Measurer(task, plan, Components(sizes))
    if task.n is not None and isinstance(measurer.tables, Components):
        measurer.tables.add((), np.array(float(task.n)), 0.0)
    shares = first_shares(sizes, task.neighbours)
    for (label, sets), share in zip(first_sets(len(sizes), task.neighbours), shares, strict=True):
        measurer.measure(sets, share, label)
    return measurer


def search(measurer: Measurer) -> Skeleton:
    """The skeleton that these answers give."""
    task = measurer.task
    return drive(
        pc_search(task.columns, task.known, max_order=task.max_order, ahead=SETS_PER_BATCH), measurer.answer
    )


def run(task: Task, *, confidence: int = 0) -> SearchOutcome:
    """Measure, search, orient. ``confidence``: how often to repeat the search on noise drawn anew (0: not)."""
    if checked_count(confidence, "confidence") > MAX_REPEATS:
        raise InputError(f"confidence is told from at most {MAX_REPEATS:,} repeats, not {confidence:,}")
    with task.stage(f"measuring tables{compile_note(count_jobs)}", None):  # one pass: nothing to count
        measurer = start(task)
    skeleton = search(measurer)
    notes = [_measured_note(measurer)]
    if measurer.silent:
        notes.append(unanswered(measurer.silent))
    arrows = not_colliders(skeleton, measurer.decide, measurer.evidence_against, task.columns)
    again = None
    if confidence:
        with task.stage("repeating the search with more noise", confidence) as tick:

            def once(tables: NoisyTables) -> frozenset[Pair]:
                edges = search(measurer.with_tables(tables)).edges
                tick(1)
                return edges

            again = found_again(measurer.tables, once, skeleton.edges, confidence)
    return SearchOutcome(
        skeleton,
        released=tuple(measurer.released),
        notes=tuple(notes),
        adaptive=not measurer.plan.joint,
        not_colliders=arrows,
        confidence=again,
    )


def _measured_note(measurer: Measurer) -> Note:
    """What was measured, with how much noise, and how many rows a cell holds to compare with."""
    plan, task = measurer.plan, measurer.task
    noise = {"gaussian": plan.gaussian, "sd": math.sqrt(plan.pair_variance), **_cell_counts(task)}
    if isinstance(measurer.tables, JointTable):
        return Note(NoteKind.JOINT_TABLE, cells=measurer.tables.joint.size, **noise)
    assert isinstance(measurer.tables, Components)
    sizes = Counter(map(len, measurer.tables.values))
    return Note(
        NoteKind.COMPONENTS,
        rows_measured=task.n is None,
        singles=sizes[1],
        pairs=sizes[2],
        larger=sum(count for size, count in sizes.items() if size > 2),
        **noise,
    )


def _cell_counts(task: Task) -> dict[str, float | None]:
    """Mean and least expected count of a cell of two columns: from the schema and the public number of rows."""
    if task.n is None:
        return {"mean_cell": None, "least_cell": None}
    cells = [one.size * other.size for one, other in combinations(task.counts.schema.values(), 2)]
    mean = sum(task.n / cell for cell in cells) / len(cells)
    return {"mean_cell": mean, "least_cell": task.n / max(cells)}


METHOD = Method(
    "measured", "tables measured once, with noise, answer every question", run, tables_only=True, settles=True
)
