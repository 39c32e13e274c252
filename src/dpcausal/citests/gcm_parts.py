"""gcm on disjoint random parts of the rows: the sum of their cut scores and its variance, released with noise.

The statistic and its guarantee are in ``stats/gcm_parts.py``. Nothing need be public but the number of parts and the
cut: each part's regression may follow its rows as it likes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.gcm_columns import Columns
from dpcausal.citests.method import Charger, Outcome, Terms
from dpcausal.citests.test_of_tests import ROWS_UNKNOWN
from dpcausal.core.entropy import random_bytes
from dpcausal.privacy.mechanisms.grid import INTEGERS
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.release import release
from dpcausal.privacy.noise import permutation
from dpcausal.stats.gcm import classical_gcm
from dpcausal.stats.gcm_parts import STEPS, cut_scores, cut_sensitivity, part_plan, part_score, squares_share
from dpcausal.stats.kendall_null import laplace_tail

RELEASES = "the sum of cut scores of disjoint parts and its variance, with Laplace noise"
ASSUMES = ("the number of parts and the cut of their scores",)


def classical_parts(columns: Columns, level: float) -> Outcome:
    """T against the normal law, on all rows."""
    statistic, pvalue = classical_gcm(columns.x, columns.y, columns.z, columns.discrete)
    return Outcome.at(level, pvalue, statistic)


def private_parts(columns: Columns, terms: Terms, budget: Charger, label: str, wanted: int | None) -> Outcome:
    """Deal, score each part, release (S, V), and compare S with the normal law plus the noise.

    ``wanted`` is the number of parts; None takes what ``part_plan`` says.
    """
    parts, clip = part_plan(terms.n or ROWS_UNKNOWN, columns.z.shape[1], terms.epsilon, terms.level)
    parts = wanted or parts
    scores = [
        part_score(columns.x[rows], columns.y[rows], columns.z[rows], columns.discrete)
        for rows in dealt(len(columns.x), parts, terms)
    ]
    weight = squares_share(terms.epsilon)
    mechanism = Laplace(
        sensitivity=float(cut_sensitivity(weight)),
        epsilon=terms.epsilon,
        neighbours=terms.neighbours,
        size=2,
        grid=INTEGERS,
    )
    released = release(mechanism, budget, label, np.array(cut_scores(scores, clip, weight)))
    total, variance = float(released[0]), float(released[1]) * STEPS / weight
    pvalue = laplace_tail(total, variance, mechanism.scale)
    return Outcome.at(terms.level, pvalue, total * clip / STEPS)


def dealt(n: int, parts: int, terms: Terms) -> list[NDArray[np.int64]]:
    """The rows of every part: equal parts where n is public, else (a power of two) each row by its own coins."""
    if terms.n is not None:
        return np.array_split(permutation(n), parts)
    parts = 1 << (parts - 1).bit_length()
    labels = np.frombuffer(random_bytes(4 * n), np.uint32) & np.uint32(parts - 1)
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.searchsorted(labels[order], np.arange(1, parts)))
