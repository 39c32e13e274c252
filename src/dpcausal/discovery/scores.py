"""Evidence for and against independence of a (k, r, c) table over all pairs of two-way splits, in one pass.

The score of a question that every private driver here uses: how clearly do the rows say "independent"?

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

**Guarantee**: one row moves the score by at most 1 (``scores.proof.md``), so one sparse vector serves all questions.
Splits cost no noise, since a maximum is no more sensitive than its parts: 2 for replace-one, where Kendall on three
levels needs 2.5. **Null law**: K/sqrt(V) is asymptotically standard normal [1]; the level is divided by the number of
splits. **Cost** O(k r c) a split. **Edge cases**: cells with fewer than two rows add 0; a column with one declared
level is independent of all others, which is public. Dependences whose sign alternates between cells can cancel in K.

References: [1] Mantel & Haenszel 1959 (``stats/kendall.py``).

Where to put the decision, and which of two noisy ways to decide sees more: from public noise scales alone.

Scores (``scores.py``) have sensitivity 1 and are asked whether they are above 0. A question is wrongly found
independent ("false hit") with a probability that falls with its dependence; the ``resolution`` of a way to decide is
the dependence, in units of D rows, at which that is 1 in 100. ``shift`` is set so that an independent pair is found
with a probability of .9 or more, ``least`` so that a question without information is a false hit about 1 time in 10.

- sparse vector: noise is one-sided, so a score above centre + N0 is found for sure; shift = centre + 2 b_threshold.
  False hit of score -x: P(N - N0 >= x + centre) = b_q/(b_q + b_t) exp(-(x + centre)/b_q).
- examination: shift = 3 scales of Laplace noise, or 2 sigma of Gaussian noise (an
  independent pair passes with probability .975, .977).

Nothing here sees data.

Scores of questions about numbers: blocked Kendall of the values, z through fine public bins.

As ``scores.py`` (where ``dependence``, ``information``, ``shift`` and ``least`` are explained), for questions in
which a column holds numbers and the levels of x and y have an order:

    dependence  = |K| - T sqrt(max(V, V0)),  V0 = T^2/4          K, V of ``stats/continuous_rank.py``
    information = 9 V/2                                          about the largest |K| when there are few ties

both over D. Cutting x and y at declared bins is not needed, and z is cut finely enough that little of it is left
within a bin (``citests/continuous_rank.py``). Questions about unordered levels, or without numbers, go to the tables.

**Guarantee**: one row moves either by at most D (``value_scores.proof.md``): 29/18 add, 29/9 replace for numbers,
less for two levels; so the score moves by at most 1 and one sparse vector serves questions of both kinds. **Cost**
O(n log n) a question.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpcausal.citests.base import Question as TestQuestion
from dpcausal.citests.rank import bins_for, blocks_of, ranked_column
from dpcausal.core.compiled import jit
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Categorical, Column
from dpcausal.data.dataset import Dataset
from dpcausal.discovery.search import Query
from dpcausal.discovery.task import Task
from dpcausal.privacy.mechanisms.gaussian import Gaussian
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.sparse_vector import SparseVector
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.kendall import kendall_margin_sensitivity, kendall_variance_sensitivity
from dpcausal.stats.value_ranks import MANY, rank_statistics


@jit()
@proved("scores.proof.md")
def evidence(blocks: Any, sides_x: Any, sides_y: Any, threshold: float, floor: float) -> tuple[float, float]:
    """(largest |K| - T sqrt(max(V, V0)), largest M) over the splits; see ``scores.py`` for K, V and M."""
    k, r, c = blocks.shape
    dependence, information = -math.inf, 0.0
    row = np.empty(c, np.int64)
    for a in range(sides_x.shape[0]):
        for b in range(sides_y.shape[0]):
            statistic, variance, largest = 0.0, 0.0, 0.0
            for i in range(k):
                n, r1, c1, both = 0, 0, 0, 0
                row[:] = 0
                for x in range(r):
                    inside = sides_x[a, x]
                    for y in range(c):
                        count = blocks[i, x, y]
                        n += count
                        row[y] += count
                        if inside:
                            r1 += count
                            if sides_y[b, y]:
                                both += count
                if n < 2:
                    continue
                for y in range(c):
                    if sides_y[b, y]:
                        c1 += row[y]
                r0, c0 = n - r1, n - c1
                statistic += both - float(r1) * c1 / n
                variance += float(r1) * r0 / n * (float(c1) * c0 / n) / (n - 1)
                m, most = min(r1, r0), min(c1, c0)
                if m > most:
                    m, most = most, m
                largest += float(m) * (n - most) / n
            dependence = max(dependence, abs(statistic) - threshold * math.sqrt(max(variance, floor)))
            information = max(information, largest)
    return dependence, information


Sides = NDArray[np.uint8]
Floats = NDArray[np.float64]

ALL_SPLITS = 5  # unordered columns with more levels are split one level against the rest
PLENTY = 1e15  # information of a question that is publicly settled


@proved("scores.proof.md")
def score_sensitivity(neighbours: Neighbours | str, k: int) -> float:
    """D: how far one row moves ``dependence`` and ``information`` with k conditioning cells.

    >>> score_sensitivity("replace-one", k=4), score_sensitivity("replace-one", k=1)
    (2.0, 1.0)
    """
    return 1.0 if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE or k == 1 else 2.0


@proved("scores.proof.md")
def table_evidence(blocks: Blocks, x: Sides, y: Sides, threshold: float) -> tuple[float, float]:
    """(dependence, information) of a table of shape (k, r, c), over the splits ``x`` and ``y`` of its levels."""
    found: tuple[float, float] = evidence(blocks, x, y, threshold, threshold**2 / 4)
    return found


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
        dependence, information = np.zeros(len(questions)), np.full(len(questions), PLENTY)
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


@proved("scores.proof.md")
def score(dependence: Floats, information: Floats, shift: float, least: float) -> Floats:
    """min(shift - dependence, information - least)."""
    return np.minimum(shift - dependence, information - least)


def deletable(columns: Sequence[str], kept: int, left_out: int) -> int:
    """How many edges a search can delete at most: public."""
    return max(math.comb(len(columns), 2) - kept - left_out, 1)


RARE = 0.01
LAPLACE_SHIFT, GAUSSIAN_SHIFT = 3.0, 2.0


@dataclass(frozen=True)
class SievePlan:
    """Shift and least of a sparse vector, in units of the score."""

    threshold_scale: float
    query_scale: float
    centre: float

    @classmethod
    def of(cls, mechanism: SparseVector) -> SievePlan:
        """From the scales of ``mechanism`` (geometric noise)."""
        step = mechanism.on.step
        threshold, query = mechanism.scales
        return cls(threshold * step, query * step, mechanism.centre * step)

    @property
    def shift(self) -> float:
        """Added to every score: an independent pair is then above with probability of about .9."""
        return self.centre + 2 * self.threshold_scale

    @property
    def least(self) -> float:
        """Information below which an answer means nothing."""
        return 2 * self.query_scale

    def false_hit(self, dependence: float) -> float:
        """Chance that a pair with this ``dependence`` is found independent (at most 1)."""
        b_t, b_q = self.threshold_scale, self.query_scale
        beyond = max(dependence - self.shift + self.centre, 0.0)
        return b_q / (b_q + b_t) * math.exp(-beyond / b_q)


@dataclass(frozen=True)
class ExaminePlan:
    """Shift of a release with symmetric noise."""

    scale: float
    gaussian: bool

    @classmethod
    def of(cls, mechanism: Laplace | Gaussian) -> ExaminePlan:
        """From the scale of ``mechanism``."""
        if isinstance(mechanism, Gaussian):
            return cls(mechanism.sigma, True)
        return cls(mechanism.scale, False)

    @property
    def shift(self) -> float:
        """Added to every score."""
        return (GAUSSIAN_SHIFT if self.gaussian else LAPLACE_SHIFT) * self.scale

    @property
    def least(self) -> float:
        """Information below which an answer means nothing."""
        return 2 * self.scale

    def false_hit(self, dependence: float) -> float:
        """Chance that a pair with this ``dependence`` is found independent."""
        beyond = (dependence - self.shift) / self.scale
        if self.gaussian:
            return float(ndtr(-beyond))
        return 0.5 * math.exp(-beyond) if beyond > 0 else 1 - 0.5 * math.exp(beyond)


def resolution(false_hit: Callable[[float], float]) -> float:
    """The dependence at which ``false_hit`` has fallen to 1 in 100.

    >>> round(resolution(lambda dependence: math.exp(-dependence)), 3)
    4.605
    """
    low, high = 0.0, 1.0
    while false_hit(high) > RARE and high < 1e18:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if false_hit(middle) > RARE else (low, middle)
    return high


def in_words(resolved: float) -> str:
    """A remark for the result; ``resolved`` in units of D, at most 2 rows.

    >>> in_words(12.3)
    'a dependence of more than about 25 rows (observed minus expected) is kept 99 times in 100 it is asked about'
    """
    rows = f"{2 * resolved:,.0f}" if resolved >= 5 else f"{2 * resolved:.1f}"
    return (
        f"a dependence of more than about {rows} rows (observed minus expected) is kept 99 times in 100 "
        "it is asked about"
    )


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
