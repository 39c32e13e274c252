"""Why ``measured`` could not answer a question, in words. From declared sizes and released values, so free to tell."""

from __future__ import annotations

from collections import Counter

import numpy as np

from dpcausal.discovery.components import NoisyTables
from dpcausal.stats.components import Columns
from dpcausal.stats.partial import partial_test

CELLS = "because there are more conditioning cells than a test can use (fewer levels or bins would help)"
MORE = "(a larger epsilon would help, or a delta where there is none)"
UNMEASURED = f"because no budget was left for the tables that it takes {MORE}"
ROWS = "because too few rows differ where the others are fixed, noise or not (more rows or fewer bins would help)"
NOISE = f"because noise alone would decide {MORE}"

QUESTIONS = "questions could not be answered (such an edge stays, unless another question takes it away)"


def reason(tables: NoisyTables, x: int, y: int, given: Columns, *, too_many: bool, least: float) -> str:
    """Why x and y given these have no answer; ``least`` as in ``PartialTest.informative``."""
    if too_many:
        return CELLS
    if tables.missing(x, y, given):
        return UNMEASURED
    xs, ys = tables.against(x, given), tables.against(y, given)
    none = np.zeros((xs.shape[1], xs.shape[1]))
    exact = partial_test(tables.against(x, (y,)), xs, ys, 0.0, none, none, none)
    return NOISE if exact.informative(least) else ROWS


def words(reasons: Counter[str]) -> str:
    """How many questions had no answer, and why.

    >>> words(Counter({NOISE: 2, CELLS: 1})).partition(": ")[0]
    '3 questions could not be answered (such an edge stays, unless another question takes it away)'
    """
    total = sum(reasons.values())
    parts = "; ".join(f"{count:,} {why}" for why, count in reasons.most_common())
    what = QUESTIONS.replace("questions", "question", 1) if total == 1 else QUESTIONS
    return f"{total:,} {what}: {parts}"
