"""The score of a question that every private driver here uses: how clearly do the rows say "independent"?

Split the levels of x in two, and those of y: a 2x2 table per conditioning cell i, with n rows, r1 + r0 and c1 + c0
on either side. Over cells,

    K = sum (O - r1 c1/n)             observed minus expected: blocked Kendall of the split columns [1]
    V = sum r1 r0 c1 c0/(n^2 (n-1))   its variance under independence given the margins
    M = sum m (n - w)/n               the largest |O - r1 c1/n| these margins allow; m <= w the smaller side of each

and over the splits that the schema allows (every cut of ordered levels; every way to part up to 5 unordered ones;
one level against the rest beyond that)

    dependence  = max |K| - T sqrt(max(V, T^2/4))     above 0 if some split is significant; T from level/(2 splits)
    information = max M                               how strong a dependence could have shown at all

    score = min(shift - dependence/D, information/D - least),        D = ``score_sensitivity``

is large where x and y look independent **and** a dependence would have been seen. ``shift`` and ``least`` are public
and grow with the noise: |K| below ``shift`` can't be told from noise, and where M is below ``least`` (a constant
column; a cell structure that determines x) no answer means anything, so the edge stays: it counts as untested. Without
the second part every deterministic relation cuts true edges (on asia, F1 of PC without noise: .86 without, 1.0 with).

**Guarantee**: one row moves the score by at most 1 (``stats/evidence.proof.md``), so one sparse vector serves all
questions. Splits cost no noise, since a maximum is no more sensitive than its parts: 2 for replace-one, where Kendall
on three levels needs 2.5. **Null law**: K/sqrt(V) is asymptotically standard normal [1]; the level is divided by the
number of splits. **Cost** O(k r c) a split. **Edge cases**: cells with fewer than two rows add 0; a column with one
declared level is independent of all others, which is public. Dependences whose sign alternates between cells can cancel
in K.

References: [1] Mantel & Haenszel 1959 (``stats/kendall.py``).

Scores of questions about numbers: blocked Kendall of the values, z through fine public bins.

As ``scores.py`` (where ``dependence``, ``information``, ``shift`` and ``least`` are explained), for questions in
which a column holds numbers and the levels of x and y have an order:

    dependence  = |K| - T sqrt(max(V, V0)),  V0 = T^2/4          K, V of ``stats/value_ranks.py``
    information = 9 V/2                                          about the largest |K| when there are few ties

both over D. Cutting x and y at declared bins is not needed, and z is cut finely enough that little of it is left
within a bin (``citests/rank.py``). Questions about unordered levels, or without numbers, go to the tables.

**Guarantee**: one row moves either by at most D (``stats/evidence.proof.md``): 29/18 add, 29/9 replace for numbers,
less for two levels; so the score moves by at most 1 and one sparse vector serves questions of both kinds. **Cost**
O(n log n) a question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.special import ndtri

from dpcausal.citests.base import Question as TestQuestion
from dpcausal.citests.rank import bins_for, blocks_of, ranked_column
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import Public
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Categorical, Column
from dpcausal.data.dataset import Dataset
from dpcausal.discovery.search import Query, Task
from dpcausal.stats.evidence import (
    SETTLED_INFORMATION,
    Floats,
    Sides,
    score,
    score_sensitivity,
    table_evidence,
    value_evidence,
    value_score_sensitivity,
)
from dpcausal.stats.limits import checked_rows, row_limit
from dpcausal.stats.value_ranks import ANY_LEVELS, rank_statistics

ALL_SPLITS = 5  # unordered columns with more levels are split one level against the rest


def splits(column: Column) -> Sides:
    """Two-way splits of the levels, one per row, 1 for one side: public.

    >>> from dpcausal.data.columns import Categorical
    >>> splits(Categorical(["a", "b", "c"])).tolist()
    [[1, 0, 0], [0, 1, 0], [1, 1, 0]]
    """
    size = column.size
    if not isinstance(column, Categorical) or column.ordered:
        return np.tri(size - 1, size, dtype=np.uint8)
    if size > ALL_SPLITS:
        return np.eye(size, dtype=np.uint8)
    masks = np.arange(1, 2 ** (size - 1))
    return (masks[:, None] >> np.arange(size) & 1).astype(np.uint8)


@dataclass
class Scorer:
    """Evidence on questions about one data set. Its numbers depend on rows: they go to a mechanism, nowhere else."""

    counts: Counts
    level: float
    neighbours: Neighbours
    _sides: dict[str, Sides] = field(default_factory=dict)
    _thresholds: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._sides = {name: splits(column) for name, column in self.counts.schema.items()}

    def threshold(self, question: Query) -> float:
        """T: the two-sided normal quantile at ``level`` over the number of splits; public."""
        number = len(self._sides[question.x]) * len(self._sides[question.y])
        if number not in self._thresholds:
            self._thresholds[number] = float(-ndtri(self.level / (2 * max(number, 1))))
        return self._thresholds[number]

    def evidence(self, questions: Sequence[Query]) -> tuple[Floats, Floats]:
        """Dependence and information of each question, both over D: one row moves each by at most 1."""
        tables = self.counts.tables([(*q.given, q.x, q.y) for q in questions])
        dependence, information = np.zeros(len(questions)), np.full(len(questions), SETTLED_INFORMATION)
        for i, (q, table) in enumerate(zip(questions, tables, strict=True)):
            x, y = self._sides[q.x], self._sides[q.y]
            if not (len(x) and len(y)):
                continue
            blocks = np.ascontiguousarray(table).reshape(-1, *table.shape[-2:])
            scale = score_sensitivity(self.neighbours, len(blocks))
            found = table_evidence(blocks, x, y, self.threshold(q))
            dependence[i], information[i] = found[0] / scale, found[1] / scale
        return dependence, information

    def scores(self, questions: Sequence[Query], shift: float, least: float) -> Floats:
        """min(shift - dependence, information - least) of each question: sensitivity 1."""
        return score(*self.evidence(questions), shift, least)


def deletable(columns: Sequence[str], kept: int, left_out: int) -> int:
    """How many edges a search can delete at most: public."""
    return max(math.comb(len(columns), 2) - kept - left_out, 1)


def resolution_rows(resolved: float) -> float:
    """Return a resolution in units of D, at most 2 rows, as rows (observed minus expected)."""
    return 2 * resolved


On = Literal["values", "table"]


@dataclass
class ValueScorer(Scorer):
    """Evidence from the rows where that is possible, else from tables. For a mechanism only."""

    rows: Dataset | None = None

    def evidence(self, questions: Sequence[Query]) -> tuple[Floats, Floats]:
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
        r, c = (ANY_LEVELS if z in rows.values else rows.schema[z].size for z in (question.x, question.y))
        scale = value_score_sensitivity(self.neighbours, r, c, k)
        threshold = float(-ndtri(self.level / 2))
        dependence, information = value_evidence(found.statistic, found.variance, threshold)
        return dependence / scale, information / scale


def scorer_for(task: Task, on: On = "values") -> Scorer:
    """Scores by values where the task has rows with numbers, else by tables."""
    if on not in ("values", "table"):
        raise InputError(f"on must be values or table, not {on!r}")
    rows = _scored_rows(task, on)
    if rows is not None:
        checked_rows(rows.n)
        return ValueScorer(task.counts, task.level, task.neighbours, rows=rows)
    return Scorer(task.counts, task.level, task.neighbours)


def _scored_rows(task: Task, on: On) -> Dataset | None:
    """The rows where scores are by values, else None."""
    return task.rows if on == "values" and task.rows is not None and task.rows.values else None


def assumed(task: Task, on: On = "values") -> tuple[Public, ...]:
    """What ``scorer_for`` takes to be public besides the schema: the limit on rows, where it scores rows."""
    return () if _scored_rows(task, on) is None else row_limit(task.neighbours)
