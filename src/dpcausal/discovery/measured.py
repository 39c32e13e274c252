"""Measured: spend the budget on tables with noise of known law, once; every test is then free post-processing.

1. The plan (``measured_plan.py``), from public numbers alone: one joint table, or components order by order.
2. Components: all columns and pairs. Tests of order 0 *and* 1 need no more (``stats/partial.py``). For every higher
   order the questions the search asks name the components they lack; those worth it are measured, under
   the filter on the total, chosen from what is already released.
3. PC asks; a test that could not have seen a dependence is "not tested": the edge stays and the result says so.
4. Of all sets that separate a pair the one with the largest p-value is kept; arrows follow the evidence of all
   of them (``measured_arrows.py``).

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
from dpcausal.core.statement import Released, ReleasedKind
from dpcausal.counts.kernels.staged import count_jobs
from dpcausal.discovery.components import Components, JointTable, NoisyTables, found_again
from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.measured_silence import words
from dpcausal.discovery.measurer import (
    Measurer,
    first_sets,
    first_shares,
    joint_mechanism,
    noise_variance,
    not_colliders,
    plan_for,
)
from dpcausal.discovery.search import Skeleton, pc_search
from dpcausal.discovery.task import SearchOutcome, Task, drive
from dpcausal.privacy.mechanisms.release import release
from dpcausal.stats.measured import GAUSSIAN, LAPLACE

AHEAD = 500  # sets of one edge asked about in one batch
MOST_REPEATS = 10_000


def start(task: Task) -> Measurer:
    """Measure what comes first: the joint table, or columns and pairs."""
    budget = task.paid()
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
    return drive(pc_search(task.columns, task.known, max_order=task.max_order, ahead=AHEAD), measurer.answer)


def run(task: Task, confidence: int = 0) -> SearchOutcome:
    """Measure, search, orient. ``confidence``: how often to repeat the search on noise drawn anew (0: not)."""
    if checked_count(confidence, "confidence") > MOST_REPEATS:
        raise InputError(f"confidence is told from at most {MOST_REPEATS:,} repeats, not {confidence:,}")
    with task.stage(f"measuring tables{compile_note(count_jobs)}", None):  # one pass: nothing to count
        measurer = start(task)
    skeleton = search(measurer)
    notes = [_said(measurer)]
    if measurer.silent:
        notes.append(words(measurer.silent))
    arrows = not_colliders(skeleton, measurer.says, measurer.against, task.columns)
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


def _said(measurer: Measurer) -> str:
    """What was measured, in words."""
    known = f"known to {_short(math.sqrt(measurer.plan.pair_variance))} rows (standard deviation){_held(measurer)}"
    noise = "Gaussian" if measurer.plan.gaussian else "Laplace"
    if isinstance(measurer.tables, JointTable):
        cells = measurer.tables.joint.size
        return (
            f"One joint table of {cells:,} cells was measured with {noise} noise; a cell of a table of two columns "
            f"is {known}"
        )
    assert isinstance(measurer.tables, Components)
    sizes = Counter(map(len, measurer.tables.values))
    rows = "" if measurer.task.n is not None else "the number of rows and "
    larger = sum(count for size, count in sizes.items() if size > 2)
    more = f", {larger:,} larger" if larger else ""
    return (
        f"Measured with {noise} noise: {rows}tables of {larger + sizes[1] + sizes[2]:,} sets of columns ({sizes[1]:,} "
        f"single, {sizes[2]:,} pair{'' if sizes[2] == 1 else 's'}{more}); a cell for two columns is {known}"
    )


def _held(measurer: Measurer) -> str:
    """How many rows such a cell holds, to compare with: from the schema and the public number of rows."""
    task = measurer.task
    if task.n is None:
        return ""
    cells = [one.size * other.size for one, other in combinations(task.counts.schema.values(), 2)]
    mean = sum(task.n / cell for cell in cells) / len(cells)
    return (
        f"; it holds {_short(mean)} on average, {_short(task.n / max(cells))} in the largest of these tables"
    )


def _short(rows: float) -> str:
    """Three digits that count.

    >>> _short(47.04), _short(1434.2)
    ('47', '1,430')
    """
    return f"{float(f'{rows:.3g}'):,.0f}" if rows >= 100 else f"{rows:.3g}"
