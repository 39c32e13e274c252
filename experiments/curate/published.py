"""NOT PRIVATE: CURATE as its public code has it, for comparison only.

Sensitivity .3627/sqrt(n) (one row really moves the score by up to 1.8/sqrt(n) and more), tests counted as
C(d,2) C(d-2,i), kept edges not charged, and a coin that always says keep. The score is the p-value of the weighted
conditional tau. The threshold is .35: of .05, .2, .35 and .5 it does well on all four small networks (six seeds each,
none of them used in the figures).
``claimed`` is what its own sums give for delta 1e-3: deletions only.
"""

from __future__ import annotations

import math

import numpy as np

from dpcausal.counts.memory import MemoryCounts
from dpcausal.discovery.curate import cost_now
from dpcausal.discovery.search import Answer, Answers, Query, Skeleton, drive, pc_search
from priv_pc.published import advanced, printed_pvalue

THRESHOLD = 0.35
BETA = 0.1
ORDERS = 4


def tests_of(order: int, edges: int, columns: int) -> list[float]:
    """(edges left) C(d-2, i) for the orders still to come."""
    return [
        float(edges * math.comb(columns - 2, i))
        for i in range(order, min(columns - 2, order + ORDERS - 1) + 1)
    ]


def curate(counts: MemoryCounts, total: float, rng: np.random.Generator) -> tuple[Skeleton, float]:
    """The skeleton, and the total that its own sums claim."""
    columns = tuple(counts.schema)
    sensitivity = 0.3627 / math.sqrt(counts.n)
    state = {"order": -1.0, "epsilon": 0.0, "left": total}
    deletions: list[float] = []

    def answer(batch: list[Query]) -> Answers:
        order = len(batch[0].given)
        if order > state["order"]:
            state["order"] = order
            tests = tests_of(order, len({(q.x, q.y) for q in batch}), len(columns))
            left = max(state["left"], 1e-3 * total)
            state["epsilon"] = cost_now(tests, left, THRESHOLD * BETA / sensitivity, gaussian=False)
            state["left"] -= state["epsilon"] * tests[0]
        answers: list[Answer] = []
        for question in batch:
            noisy = printed_pvalue(counts, question) + rng.laplace(0, sensitivity / state["epsilon"])
            gone = bool(noisy > THRESHOLD * (1 + BETA))
            if gone:
                deletions.append(state["epsilon"])
            answers.append(gone)
        return answers

    skeleton = drive(pc_search(columns), answer)
    mean = float(np.mean(deletions)) if deletions else 0.0
    return skeleton, advanced(mean, len(deletions)) if deletions else 0.0
