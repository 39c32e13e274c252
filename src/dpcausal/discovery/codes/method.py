"""Codes: links among many rare yes/no columns, such as diagnoses, from co-occurrences of rows with few ones.

``measured`` counts all four cells of every pair, and a row is in one cell of each: its noise grows with the number of
columns. Here a row counts for the pairs of its own ones alone, and a cap says for how many.

1. **Measure** (``measure.py``): single columns and pairs of ones, capped, the promising pairs twice.
2. **Evidence** (``stats/co_occurrence.py``, ``stats/contrasts.py``): correlations with their noise, what the cap takes
   away reckoned with.
3. **Search** (``measured/forward.py``): the strongest links first, then what no set of others explains.
4. **Report**: found, absent and open pairs, how strong a link is, the chance of each direction, and how often an edge
   is found again.

Columns with more levels, such as groups of age, have an indicator for every level but the first.

**Guarantee** (epsilon, delta)-DP in total (``measure.proof.md``). **Cost** O(n d^2).
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from threadpoolctl import threadpool_limits

from dpcausal.core.entropy import released_generator
from dpcausal.discovery.codes.measure import CodeMeasurements, measure
from dpcausal.discovery.directions import allowed_arrows, directions_of_edges
from dpcausal.discovery.evidence import CONFIDENCE, LinkStrength, checked_repeats
from dpcausal.discovery.measured.forward import Forward, again_by_pairs, repeats_of, rules_for
from dpcausal.discovery.measured.method import Edges, detectable_of
from dpcausal.discovery.search import CodesMeasured, Method, SearchOutcome, Task
from dpcausal.planning.settings import SETTINGS, acceptance_threshold
from dpcausal.stats.co_occurrence import link_strength
from dpcausal.stats.limits import row_limit


def run(task: Task, *, confidence: Annotated[int | None, CONFIDENCE] = None) -> SearchOutcome:
    """Run the method ``codes``: measure co-occurrences, search, and orient."""
    repeats = checked_repeats(confidence)
    with task.stage("measuring co-occurrences", None):
        measured = measure(task)
    return search_codes(task, measured, repeats)


def search_codes(task: Task, measured: CodeMeasurements, asked: int | None) -> SearchOutcome:
    """Search released co-occurrences for a graph and orient it; ``asked``: repeats for confidence.

    One BLAS thread: matrices are so small that threads spend their time waiting for each other.
    """
    with threadpool_limits(1, user_api="blas"):
        return _search(task, measured, asked)


def _search(task: Task, measured: CodeMeasurements, asked: int | None) -> SearchOutcome:
    """Search with as many threads as there are."""
    columns, contrasts = task.columns, measured.contrasts
    rules = rules_for(task, acceptance_threshold(len(columns), task.level), SETTINGS.absent)
    forward = Forward(contrasts, rules).run().separate()
    found = Edges.of_pairs(task, columns, forward)
    evidence = forward.evidence_by_pair(columns, found.skeleton.separating)
    detectable = detectable_of(forward, None, found.skeleton)
    found = found.without_hidden_in_strata(detectable, rules.absent)
    repeats, again = 0 if asked == 0 else repeats_of(forward, asked), None
    if repeats:
        generator, kept = released_generator(contrasts.covariance), np.ones(len(columns))
        again = again_by_pairs(task, forward, columns, found.skeleton.edges, repeats, generator, lambda: kept)
    return SearchOutcome(
        found.skeleton,
        released=measured.released,
        public=row_limit(task.neighbours),
        notes=(
            CodesMeasured(
                ones=measured.ones,
                retained=measured.retained,
                sd=measured.sd,
                again=len(measured.again),
                sd_again=measured.sd_again,
            ),
        ),
        direction=directions_of_edges(
            columns,
            contrasts,
            found.skeleton.edges,
            allowed_arrows(task),
            cost=rules.acceptance_threshold,
            misfit=SETTINGS.misfit,
        ),
        detectable=detectable,
        strength={
            frozenset((columns[x], columns[y])): LinkStrength(*link_strength(contrasts, x, y))
            for x, y in forward.edges()
        },
        confidence=again,
        repeats=repeats or None,
        open=found.open,
        values=measured,
        given_up_to=found.given_up_to,
        evidence=evidence,
    )


METHOD = Method(
    "codes",
    "for hundreds of rare yes/no columns, such as diagnoses: counts of two together, a person counting for few",
    run,
    tables_only=True,
    settles=True,
)
