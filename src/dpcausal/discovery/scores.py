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

**Guarantee**: one row moves the score by at most 1 (``scores.proof.md``), so one sparse vector serves all questions.
Splits cost no noise, since a maximum is no more sensitive than its parts: 2 for replace-one, where Kendall on three
levels needs 2.5. **Null law**: K/sqrt(V) is asymptotically standard normal [1]; the level is divided by the number of
splits. **Cost** O(k r c) a split. **Edge cases**: cells with fewer than two rows add 0; a column with one declared
level is independent of all others, which is public. Dependences whose sign alternates between cells can cancel in K.

References: [1] Mantel & Haenszel 1959 (``stats/kendall.py``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Categorical, Column
from dpcausal.discovery.scores_kernel import evidence
from dpcausal.discovery.search import Question
from dpcausal.stats.blocks import Blocks

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

    def threshold(self, question: Question) -> float:
        """T: the two-sided normal quantile at ``level`` over the number of splits; public."""
        number = len(self._sides[question.x]) * len(self._sides[question.y])
        if number not in self._thresholds:
            self._thresholds[number] = float(-ndtri(self.level / (2 * max(number, 1))))
        return self._thresholds[number]

    def evidence(self, questions: Sequence[Question]) -> tuple[Floats, Floats]:
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

    def scores(self, questions: Sequence[Question], shift: float, least: float) -> Floats:
        """min(shift - dependence, information - least) of each question: sensitivity 1."""
        return score(*self.evidence(questions), shift, least)


@proved("scores.proof.md")
def score(dependence: Floats, information: Floats, shift: float, least: float) -> Floats:
    """min(shift - dependence, information - least)."""
    return np.minimum(shift - dependence, information - least)


def deletable(columns: Sequence[str], kept: int, left_out: int) -> int:
    """How many edges a search can delete at most: public."""
    return max(math.comb(len(columns), 2) - kept - left_out, 1)
