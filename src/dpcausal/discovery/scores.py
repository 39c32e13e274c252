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
column; a cell structure that determines x) no answer means anything, so the edge remains and counts as untested.
Without the second part every deterministic relation cuts true edges (on asia, F1 of PC without noise: .86 without, 1.0
with).

**Guarantee**: one row moves the score by at most 1 (``stats/evidence.proof.md``), so one sparse vector serves all
questions. Splits cost no noise, since a maximum is no more sensitive than its parts: 2 for replace-one, where Kendall
on three levels needs 2.5. **Null law**: K/sqrt(V) is asymptotically standard normal [1]; the level is divided by the
number of splits. **Cost** O(k r c) a split. **Edge cases**: cells with fewer than two rows add 0; a column with one
declared level is independent of all others, which is public. Dependences whose sign alternates between cells can cancel
in K.

References: [1] Mantel & Haenszel 1959 (``stats/kendall.py``).

**Numbers.** Where a column of a question holds numbers and the levels of x and y have an order, values are compared,
and z is cut into fine public bins (``citests/rank.py``) so that little of it is left within one:

    dependence  = |K| - T sqrt(max(V, T^2/4))      K, V of ``stats/value_ranks.py``, the blocked Kendall of values
    information = 9 V/2                            about the largest |K| when there are few ties

One row moves either by at most D: 29/18 add, 29/9 replace for numbers, less for two levels; so the score moves by at
most 1, and one sparse vector serves questions of both kinds. **Cost** O(n log n) a question. Questions about unordered
levels, or without numbers, are about tables.

**Other tests** (option ``test`` of ``priv-pc`` and ``svt-pc``). ``spearman``: |F| - T sqrt(max(U, T^2)) and U of
``stats/spearman.py``, over a D of its own. ``chi2`` and ``g`` move without bound with one row, so they are computed on
disjoint parts, and the score counts parts (``stats/evidence.py``): D = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpcausal.citests.base import Question as TestQuestion
from dpcausal.citests.base import TestSettings
from dpcausal.citests.parts import deal_rows, deal_table, part_count
from dpcausal.citests.rank import bins_for, blocks_of, ranked_column
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import Public
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Column, has_order
from dpcausal.data.dataset import Dataset
from dpcausal.discovery.search import Query, Task
from dpcausal.stats.chi2 import likelihood_moment_pvalue, pearson_moment_pvalue
from dpcausal.stats.evidence import (
    SETTLED_INFORMATION,
    Floats,
    Sides,
    decidable,
    part_evidence,
    parts_for,
    score,
    score_sensitivity,
    spearman_evidence,
    spearman_score_sensitivity,
    table_evidence,
    value_evidence,
    value_score_sensitivity,
)
from dpcausal.stats.kendall import Kendall
from dpcausal.stats.limits import checked_rows, row_limit
from dpcausal.stats.spearman import Spearman, spearman
from dpcausal.stats.value_ranks import ANY_LEVELS, rank_statistics

KENDALL_ROWS = 2.0  # rows in D at most
SPEARMAN_ROWS = 11 / 3  # F is three times observed minus expected for two levels, and D at most 11
MOST_PARTS, MOST_CELLS = 512, 1 << 24  # of a question that is tested on parts, and of all its tables together
PARTS_HEADROOM = 1.5  # the dependence that parts can show, over what the noise lets through
ALL_SPLITS = 5  # unordered columns with more levels are split one level against the rest


def splits(column: Column) -> Sides:
    """Return all ways to split the levels into two sides, one per row (1 for one side): public.

    >>> from dpcausal.data.columns import Categorical
    >>> splits(Categorical(["a", "b", "c"])).tolist()
    [[1, 0, 0], [0, 1, 0], [1, 1, 0]]
    """
    size = column.size
    if has_order(column):
        return np.tri(size - 1, size, dtype=np.uint8)
    if size > ALL_SPLITS:
        return np.eye(size, dtype=np.uint8)
    masks = np.arange(1, 2 ** (size - 1))
    return (masks[:, None] >> np.arange(size) & 1).astype(np.uint8)


@dataclass
class Scorer:
    """Evidence on questions about one data set. Its numbers depend on rows: only a mechanism may see them."""

    counts: Counts
    level: float
    neighbours: Neighbours
    rows: Dataset | None = None  # where values are compared
    _sides: dict[str, Sides] = field(default_factory=dict)
    _thresholds: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._sides = {name: splits(column) for name, column in self.counts.schema.items()}

    def threshold(self, question: Query) -> float:
        """Return the threshold T of a question: the normal quantile at ``level``, corrected for splits. Public."""
        number = len(self._sides[question.x]) * len(self._sides[question.y])
        if number not in self._thresholds:
            self._thresholds[number] = float(-ndtri(self.level / (2 * max(number, 1))))
        return self._thresholds[number]

    def evidence(self, questions: Sequence[Query]) -> tuple[Floats, Floats]:
        """Return the dependence and the information of each question; one row moves each by at most 1."""
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

    def ranks(
        self, question: TestQuestion, rows: Dataset
    ) -> tuple[tuple[Kendall, Spearman], tuple[int, int, int]]:
        """Return the blocked Kendall and Spearman statistics of the rows, and (levels of x, of y, blocks)."""
        n = rows.n if self.neighbours is Neighbours.REPLACE_ONE else None
        block, k = blocks_of(question, rows, bins_for(question, rows, "auto", n))
        found = rank_statistics(ranked_column(rows, question.x), ranked_column(rows, question.y), block, k)
        r, c = (ANY_LEVELS if z in rows.values else rows.schema[z].size for z in (question.x, question.y))
        return found, (r, c, k)

    def on_counts(self, counts: Counts) -> Scorer:
        """Return the same scorer for the tables of other rows."""
        return replace(self, counts=counts)

    def resolution(self, resolved: float) -> dict[str, Any]:
        """Return how a note states the smallest dependence that can be resolved: in rows, or in parts."""
        return {"resolution": KENDALL_ROWS * resolved, "parts": None}

    @property
    def cut_numbers(self) -> tuple[str, ...]:
        """The numeric columns that are cut into bins of equal width where they are held fixed."""
        return (
            () if self.rows is None else tuple(name for name in self.rows.schema if name in self.rows.values)
        )

    def scores(self, questions: Sequence[Query], shift: float, least: float) -> Floats:
        """Return min(shift - dependence, information - least) of each question, of sensitivity 1."""
        return score(*self.evidence(questions), shift, least)


ON = "numeric columns by their values or by their declared bins (table)"  # the options, in words
SCORED = (
    "the statistic that is scored: kendall, spearman (needs an order), or chi2 and g on parts of the rows"
)
On = Literal["values", "table"]
ScoreTest = Literal["kendall", "spearman", "chi2", "g"]


@dataclass
class ValueScorer(Scorer):
    """Evidence from the rows where that is possible, else from tables. For a mechanism only."""

    def evidence(self, questions: Sequence[Query]) -> tuple[Floats, Floats]:
        """Return the dependence and the information of each question, scaled to sensitivity 1."""
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
        """Return dependence and information by Kendall of the values within blocks, scaled to sensitivity 1."""
        (found, _), (r, c, k) = self.ranks(question, rows)
        scale = value_score_sensitivity(self.neighbours, r, c, k)
        threshold = float(-ndtri(self.level / 2))
        dependence, information = value_evidence(found.statistic, found.variance, threshold)
        return dependence / scale, information / scale


@dataclass
class SpearmanScorer(Scorer):
    """Evidence by blocked Spearman: of tables, or of the rows where columns hold numbers. For a mechanism only."""

    def evidence(self, questions: Sequence[Query]) -> tuple[Floats, Floats]:
        """Return the dependence and the information of each question, scaled to sensitivity 1."""
        found = [self._by_spearman(TestQuestion.of(self.counts.schema, *question)) for question in questions]
        dependence, information = np.array(found, dtype=np.float64).reshape(-1, 2).T
        return dependence, information

    def resolution(self, resolved: float) -> dict[str, Any]:
        """Return how a note states the resolution: in rows."""
        return {"resolution": SPEARMAN_ROWS * resolved, "parts": None}

    def _by_spearman(self, question: TestQuestion) -> tuple[float, float]:
        """Return dependence and information by Spearman within blocks, scaled to sensitivity 1."""
        schema = self.counts.schema
        if min(schema[name].size for name in (question.x, question.y)) < 2:
            return 0.0, SETTLED_INFORMATION
        if self.rows is not None and question.numeric:
            (_, found), (r, c, k) = self.ranks(question, self.rows)
            statistic, variance = found.statistic, found.variance
        else:
            blocks = question.blocks(self.counts)
            (statistic, variance), (k, r, c) = spearman(blocks), blocks.shape
        scale = spearman_score_sensitivity(self.neighbours, r, c, k)
        dependence, information = spearman_evidence(statistic, variance, float(-ndtri(self.level / 2)))
        return dependence / scale, information / scale


@dataclass
class PartScorer(Scorer):
    """Evidence from chi-squared or G on disjoint parts of the rows (``stats/evidence.py``). For a mechanism only.

    ``resolved`` is the dependence, in parts, that the noise lets through: the number of parts is chosen for it. Rows
    are dealt once, for all questions; where there are only counts every question deals its own table.
    """

    test: Literal["chi2", "g"] = "chi2"
    resolved: float = 20.0
    _labels: NDArray[np.int64] | None = None  # the part of every row

    @property
    def parts(self) -> int:
        """The number of parts that a table is dealt into: from public numbers."""
        wanted = parts_for(PARTS_HEADROOM * self.resolved, self._threshold, MOST_PARTS)
        return part_count(wanted, self._settings)

    def resolution(self, resolved: float) -> dict[str, Any]:
        """Return how a note states the resolution: in parts."""
        return {"resolution": resolved, "parts": self.parts}

    @property
    def cut_numbers(self) -> tuple[str, ...]:
        """No columns: parts are of tables of declared bins."""
        return ()

    @property
    def _threshold(self) -> float:
        """The upper normal quantile of the level."""
        return float(-ndtri(self.level))

    @property
    def _settings(self) -> TestSettings:
        """The settings of a test at epsilon 1, to which scores are scaled."""
        n = self.counts.n if self.neighbours is Neighbours.REPLACE_ONE else None
        return TestSettings(epsilon=1.0, delta=0.0, level=self.level, neighbours=self.neighbours, n=n)

    def on_counts(self, counts: Counts) -> Scorer:
        """Return the same scorer for the tables of other rows, each dealt into parts anew."""
        return replace(self, counts=counts, rows=None, _labels=None)

    def evidence(self, questions: Sequence[Query]) -> tuple[Floats, Floats]:
        """Return the dependence and the information of each question, in parts; one row moves each by at most 1."""
        dependence, information = np.zeros(len(questions)), np.full(len(questions), SETTLED_INFORMATION)
        value = pearson_moment_pvalue if self.test == "chi2" else likelihood_moment_pvalue
        schema = self.counts.schema
        for i, question in enumerate(questions):
            asked = TestQuestion.of(schema, *question)
            if min(schema[name].size for name in (asked.x, asked.y)) < 2:
                continue
            dealt = self._dealt(asked)
            able = decidable(dealt)
            pvalues = [value(part) if can else 1.0 for part, can in zip(dealt, able, strict=True)]
            dependence[i], information[i] = part_evidence(pvalues, able, self._threshold)
        return dependence, information

    def _dealt(self, question: TestQuestion) -> NDArray[np.int64]:
        """Return the tables of all parts, of shape (part, k, r, c)."""
        parts, settings = self.parts, self._settings
        size = question.k * question.r * question.c
        if self.rows is None or size * parts > MOST_CELLS:
            return np.stack(deal_table(question.blocks(self.counts), parts, settings))
        if self._labels is None:
            self._labels = np.empty(self.rows.n, np.int64)
            for part, places in enumerate(deal_rows(self.rows.n, parts, settings)):
                self._labels[places] = part
        cell = self._labels
        for name in (*question.given, question.x, question.y):
            cell = cell * self.counts.schema[name].size + self.rows.codes[name]
        counted = np.bincount(cell, minlength=parts * size)
        return counted.reshape(parts, question.k, question.r, question.c)


def refuse_unordered(task: Task) -> None:
    """Refuse Spearman's scores where the levels of a column have no order; from the schema alone."""
    wrong = [name for name, column in task.counts.schema.items() if column.size > 1 and not has_order(column)]
    if wrong:
        raise InputError(
            f"test='spearman' needs numbers or ordered levels: {', '.join(wrong)} has none; "
            "declare them ordered, or take kendall, chi2 or g"
        )


def scorer_for(task: Task, on: On = "values", test: ScoreTest = "kendall", resolved: float = 0.0) -> Scorer:
    """Return the scorer of a test; by values where the task has rows with numbers, else by tables.

    ``resolved``: the dependence, in units of D, that the noise lets through; for tests on parts.
    """
    if on not in ("values", "table"):
        raise InputError(f"on must be values or table, not {on!r}")
    if test not in get_args(ScoreTest):
        raise InputError(f"test must be kendall, spearman, chi2 or g, not {test!r}")
    if test in ("chi2", "g"):
        return PartScorer(
            task.counts, task.level, task.neighbours, test=test, resolved=resolved, rows=task.rows
        )
    if test == "spearman":
        refuse_unordered(task)
    by_values = on == "values" and task.rows is not None and bool(task.rows.values)
    if by_values and task.rows is not None:
        checked_rows(task.rows.n)
    rows = task.rows if by_values else None
    if test == "spearman":
        return SpearmanScorer(task.counts, task.level, task.neighbours, rows=rows)
    if rows is None:
        return Scorer(task.counts, task.level, task.neighbours)
    return ValueScorer(task.counts, task.level, task.neighbours, rows=rows)


def assumed(task: Task, on: On = "values", test: ScoreTest = "kendall") -> tuple[Public, ...]:
    """Return the public facts that scores rely on besides the schema: a limit on the number of rows."""
    of_rows = on == "values" and test not in ("chi2", "g") and task.rows is not None and task.rows.values
    return row_limit(task.neighbours) if of_rows else ()
