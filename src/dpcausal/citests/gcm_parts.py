"""gcm on disjoint random parts of the rows: the sum of their cut scores and its variance, released with noise.

The statistic and its guarantee are in ``stats/gcm_parts.py``. Nothing need be public but the number of parts and deals
and the cut: each part's regression may follow its rows as it likes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

from dpcausal.citests.gcm_columns import Columns
from dpcausal.citests.method import Charger, Outcome, Terms
from dpcausal.citests.test_of_tests import ROWS_UNKNOWN
from dpcausal.core.entropy import random_bytes
from dpcausal.privacy.mechanisms.grid import INTEGERS
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.release import release
from dpcausal.privacy.noise import permutation
from dpcausal.stats.gcm import classical_gcm
from dpcausal.stats.gcm_parts import (
    STEPS,
    Plan,
    Score,
    block_score,
    cut_scores,
    cut_sensitivity,
    part_plan,
    part_pvalue,
    part_score,
)
from dpcausal.stats.gcm_weighted import weighted_score

RELEASES = (
    "the sum of cut scores of disjoint parts, averaged over deals, and its variance, with Laplace noise"
)
THREADS_FROM = 200  # rows of a part
CLASSICAL_ROWS = 2048  # of one weighted fit without privacy, both halves
ASSUMES = ("the number of parts and of deals of the rows into them, and the cut of their scores",)


def classical_parts(columns: Columns, level: float) -> Outcome:
    """T against the normal law, on all rows."""
    statistic, pvalue = classical_gcm(columns.x, columns.y, columns.z, columns.discrete)
    return Outcome.at(level, pvalue, statistic)


def classical_weighted(columns: Columns, level: float) -> Outcome:
    """The weighted score of all rows, in blocks, against the normal law from above."""
    plan = Plan(1, 1, 1.0, 1.0, CLASSICAL_ROWS)
    statistic, _ = part_score(columns.x, columns.y, columns.z, columns.discrete, plan, weighted_score)
    return Outcome.at(level, float(ndtr(-statistic)), statistic)


def private_parts(
    columns: Columns, terms: Terms, budget: Charger, label: str, wanted: int | None, weighted: bool = False
) -> Outcome:
    """Deal, score each part, release (S, V), and compare S with the normal law plus the noise.

    ``wanted`` is the number of parts; None takes what ``part_plan`` says (for half as many rows if ``weighted``, since
    half of each part is spent on the weights).
    """
    d, n = columns.z.shape[1], terms.n or ROWS_UNKNOWN
    numeric = len(columns.discrete) < d
    plan = part_plan(n // 2 if weighted else n, d, terms.epsilon, terms.level, numeric=numeric)
    if weighted:
        plan = replace(plan, floor=1.0, most_rows=2 * plan.most_rows)
    parts = wanted or plan.parts
    plan = replace(plan, parts=parts if terms.n is not None else 1 << (parts - 1).bit_length())
    labels = [rows for _ in range(plan.deals) for rows in dealt(len(columns.x), plan.parts, terms)]
    scores = scored(columns, labels, plan, weighted_score if weighted else block_score)
    mechanism = Laplace(
        sensitivity=float(plan.deals * cut_sensitivity()),
        epsilon=terms.epsilon,
        neighbours=terms.neighbours,
        size=2,
        grid=INTEGERS,
    )
    total, spread = release(mechanism, budget, label, np.array(cut_scores(scores, plan)))
    pvalue = part_pvalue(float(total), float(spread), plan, mechanism.scale, one_sided=weighted)
    return Outcome.at(terms.level, pvalue, float(total) * plan.clip / (STEPS * plan.deals))


def scored(
    columns: Columns, parts: list[NDArray[np.int64]], plan: Plan, score: Callable[..., Score]
) -> list[Score]:
    """The score of every part, in their order.

    One BLAS thread each, whatever the machine: matrices are small, and two threads on 300 rows take twice as long as
    one. Large parts go to as many threads as there are cores instead.
    """

    def one(rows: NDArray[np.int64]) -> Score:
        return part_score(columns.x[rows], columns.y[rows], columns.z[rows], columns.discrete, plan, score)

    with threadpool_limits(1, user_api="blas"):
        if len(columns.x) < THREADS_FROM * plan.parts:
            return [one(rows) for rows in parts]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(one, parts))


def dealt(n: int, parts: int, terms: Terms) -> list[NDArray[np.int64]]:
    """The rows of every part: equal parts where n is public, else (a power of two) each row by its own coins."""
    if terms.n is not None:
        return np.array_split(permutation(n), parts)
    labels = np.frombuffer(random_bytes(4 * n), np.uint32) & np.uint32(parts - 1)
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.searchsorted(labels[order], np.arange(1, parts)))
