"""The rank of one query among several on the same rows: a score for every rank, and how far a noisy choice errs.

Queries T_0 ... T_m have sensitivity Delta, all may move at once; Q_0 >= ... >= Q_m are their values, largest first.
The rank of T_k is the c with Q_c = T_k. Counting how many are above it has sensitivity m; the score

    s(c) = -|Q_c - T_k|/(2 Delta)                                                          [1, Definition 3.1]

of a rank c has **sensitivity 1** (``query_rank.proof.md``), is 0 for the right rank, and is near 0 only for ranks whose
value is near T_k. A private choice by these scores errs towards such ranks only.

**Error** [1, Theorem 3.6]. Report-noisy-max with exponential noise of scale 2/epsilon returns a rank c with

    |Q_c - T_k| <= gamma = (4 Delta/epsilon) log(m/(2 failure))

but for a probability ``failure``. The paper prints log(m/failure), which is larger and holds too (its proof takes a
union over m + 1 where m suffices, and does not use that the right rank has noise as well).

**Cost** O(m log m).

References: [1] Kalemaj, Kasiviswanathan & Ramdas 2024.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.arguments import checked_level
from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved

SCORE_SENSITIVITY = 1.0


@proved("query_rank.proof.md")
def query_rank_scores(values: ArrayLike, which: int, sensitivity: float) -> NDArray[np.float64]:
    """Return s(c) of every rank c, for the rank of query number ``which``.

    >>> query_rank_scores([1.0, 7.0, 3.0], 2, 0.5).tolist()
    [-4.0, -0.0, -2.0]
    """
    queries = np.asarray(values, np.float64)
    return np.asarray(-np.abs(np.sort(queries)[::-1] - queries[which]) / (2 * sensitivity))


def rank_error(sensitivity: float, epsilon: float, others: int, failure: float) -> float:
    """Return gamma: with probability 1 - ``failure`` the query at the chosen rank is within gamma of the right one.

    Parameters
    ----------
    sensitivity
        Delta of every query.
    epsilon
        What the rank cost.
    others
        m, the number of the other queries.
    failure
        The probability of a larger error.

    >>> round(rank_error(1.0, 2.0, 19, 0.05), 2)
    10.49
    """
    if others < 1 or not epsilon > 0 or not sensitivity > 0:
        raise InputError("a rank needs at least one other query, an epsilon and a sensitivity above 0")
    return max(0.0, 4 * sensitivity / epsilon * math.log(others / (2 * checked_level(failure, "failure"))))
