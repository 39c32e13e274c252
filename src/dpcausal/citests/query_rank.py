"""The noisy rank of one query among several on the same rows, for pure epsilon [1, Definition 3.1 and Algorithm 2].

For any queries of bounded sensitivity, not only those of crt: where does the mean of one ward stand among all wards,
say. Scores are those of ``stats/query_rank.py``, which also says how far the answer may be off.

**Guarantee**: epsilon-DP whatever the number of queries, if each moves by at most ``sensitivity`` between neighbours,
all of them at once (``query_rank.proof.md``, ``selection.proof.md``). That promise is the caller's.

>>> from dpcausal.privacy.budget import Budget
>>> budget = Budget(1.0)
>>> counts = [900.0, 120.0, 400.0, 7000.0]  # of rows of some kind: one row more or less moves a count by 1
>>> query_rank(counts, 3, sensitivity=1.0, epsilon=1.0, budget=budget, label="rank of ward 3")
0
>>> [event.epsilon for event in budget.events]
[1.0]

References: [1] Kalemaj, Kasiviswanathan & Ramdas 2024.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpcausal.citests.base import Charger
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.privacy.mechanisms.base import checked_positive, release
from dpcausal.privacy.mechanisms.selection import NoisyMax
from dpcausal.stats.query_rank import SCORE_SENSITIVITY, query_rank_scores


def query_rank(
    values: ArrayLike,
    which: int,
    *,
    sensitivity: float,
    epsilon: float,
    budget: Charger,
    label: str,
    neighbours: Neighbours | str = Neighbours.REPLACE_ONE,
) -> int:
    """Return the noisy rank of query number ``which``: 0 where it is the largest.

    Parameters
    ----------
    values : array
        The values of all queries; their number is public.
    which : int
        The query whose rank is asked for.
    sensitivity : float
        How far one row may move any of them.
    epsilon : float
        What it costs, charged before noise is drawn.
    budget : Charger
        What is charged.
    label : str
        The name of the charge.
    neighbours : Neighbours or str, default "replace-one"
        The relation that ``sensitivity`` holds for.

    Raises
    ------
    InputError
        If there are fewer than two queries, or no such one; nothing was charged.
    """
    queries = np.asarray(values, np.float64)
    if queries.ndim != 1 or len(queries) < 2 or not 0 <= which < len(queries):
        raise InputError("a rank is asked of one query among at least two, by its number from 0")
    checked_positive(sensitivity=sensitivity)
    choice = NoisyMax(sensitivity=SCORE_SENSITIVITY, epsilon=epsilon, neighbours=Neighbours.parse(neighbours))
    return int(release(choice, budget, label, query_rank_scores(queries, which, sensitivity)))
