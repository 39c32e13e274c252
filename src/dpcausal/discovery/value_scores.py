"""Scores of questions about numbers: blocked Kendall of the values, z through fine public bins.

As ``scores.py`` (where ``dependence``, ``information``, ``shift`` and ``least`` are explained), for questions in
which a column holds numbers and the levels of x and y have an order:

    dependence  = |K| - T sqrt(max(V, V0)),  V0 = T^2/4          K, V of ``stats/continuous_rank.py``
    information = 9 V/2                                          about the largest |K| when there are few ties

both over D. Cutting x and y at declared bins is not needed, and z is cut finely enough that little of it is left
within a bin (``citests/continuous_rank.py``). Questions about unordered levels, or without numbers, go to the tables.

**Guarantee**: one row moves either by at most D (``value_scores.proof.md``): 29/18 add, 29/9 replace for numbers,
less for two levels; so the score moves by at most 1 and one sparse vector serves questions of both kinds. **Cost**
O(n log n) a question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtri

from dpcausal.citests.continuous_rank import bins_for, blocks_of, ranked_column
from dpcausal.citests.question import Question as TestQuestion
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.data.dataset import Dataset
from dpcausal.discovery.scores import Floats, Scorer
from dpcausal.discovery.search import Question
from dpcausal.discovery.task import Task
from dpcausal.stats.continuous_rank import MANY, rank_statistics
from dpcausal.stats.kendall_sensitivity import kendall_margin_sensitivity, kendall_variance_sensitivity

On = Literal["values", "table"]
MOST_OF_V = 4.5  # largest |K| over V, without ties


@proved("value_scores.proof.md")
def value_score_sensitivity(neighbours: Neighbours | str, r: int, c: int, k: int) -> float:
    """D: how far one row moves ``dependence`` and ``information``.

    >>> round(value_score_sensitivity("replace-one", MANY, MANY, k=256), 4)
    3.2222
    """
    margin = kendall_margin_sensitivity(neighbours, r, c, k, threshold=2.0, floor=1.0)
    return max(margin, MOST_OF_V * kendall_variance_sensitivity(neighbours, r, c))


@proved("value_scores.proof.md")
def value_evidence(statistic: float, variance: float, threshold: float) -> tuple[float, float]:
    """(dependence, information) from K and V."""
    spread = math.sqrt(max(variance, threshold**2 / 4))
    return abs(statistic) - threshold * spread, MOST_OF_V * variance


@dataclass
class ValueScorer(Scorer):
    """Evidence from the rows where that is possible, else from tables. For a mechanism only."""

    rows: Dataset | None = None

    def evidence(self, questions: Sequence[Question]) -> tuple[Floats, Floats]:
        """Dependence and information of each question, over D."""
        rows = self.rows
        assert rows is not None
        asked = [TestQuestion.of(rows.schema, *question) for question in questions]
        by_table = [i for i, q in enumerate(asked) if not (q.numeric and q.ordered)]
        dependence, information = np.empty(len(questions)), np.empty(len(questions))
        if by_table:
            found = super().evidence([questions[i] for i in by_table])
            dependence[by_table], information[by_table] = found
        for i in sorted(set(range(len(questions))) - set(by_table)):
            dependence[i], information[i] = self._by_values(asked[i], rows)
        return dependence, information

    def _by_values(self, question: TestQuestion, rows: Dataset) -> tuple[float, float]:
        n = rows.n if self.neighbours is Neighbours.REPLACE_ONE else None
        block, k = blocks_of(question, rows, bins_for(question, rows, "auto", n))
        x, y = ranked_column(rows, question.x), ranked_column(rows, question.y)
        found, _ = rank_statistics(x, y, block, k)
        r, c = (MANY if z in rows.values else rows.schema[z].size for z in (question.x, question.y))
        scale = value_score_sensitivity(self.neighbours, r, c, k)
        threshold = float(-ndtri(self.level / 2))
        dependence, information = value_evidence(found.statistic, found.variance, threshold)
        return dependence / scale, information / scale


def scorer_for(task: Task, on: On = "values") -> Scorer:
    """Scores by values where the task has rows with numbers, else by tables."""
    if on not in ("values", "table"):
        raise InputError(f"on must be values or table, not {on!r}")
    if on == "values" and task.rows is not None and task.rows.values:
        return ValueScorer(task.counts, task.level, task.neighbours, rows=task.rows)
    return Scorer(task.counts, task.level, task.neighbours)
