"""Measured: release one joint histogram with noise; the whole search is then free post-processing.

Every question needs only a margin of the joint table over all columns. It is measured once, with Laplace noise (pure
epsilon) or Gaussian noise (with delta, where that is less), and PC asks the noisy table: a margin that sums m cells
has m times the variance of one, and the test knows it (``stats/measured.py``). Where a table is too noisy to show
even a perfect association, the answer is "not tested": the edge stays and the result says so.

**Guarantee** (epsilon, delta)-DP: one mechanism, one event. One row replaced moves two cells by one each, one row added
moves one. **Cost** O(cells) a question. **Limit**: the joint table may have at most 2^18 declared cells.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.measured import Measured
from dpcausal.citests.method import Terms
from dpcausal.core.errors import InputError
from dpcausal.discovery.search import Answers, Question, pc_search
from dpcausal.discovery.task import Found, Task, drive
from dpcausal.privacy.mechanisms.release import release
from dpcausal.stats.measured import MeasuredTest, measured_test

MOST_CELLS = 1 << 18


class NoisyJoint:
    """A released joint table and the law of its noise; answers from it cost nothing."""

    def __init__(
        self,
        columns: tuple[str, ...],
        table: NDArray[np.float64],
        variance: float,
        kurtosis: float,
        n: int | None,
    ) -> None:
        self._place = {name: i for i, name in enumerate(columns)}
        self._table, self._variance, self._kurtosis, self._n = table, variance, kurtosis, n
        self._margins: dict[tuple[int, ...], NDArray[np.float64]] = {}

    def _margin(self, axes: tuple[int, ...]) -> NDArray[np.float64]:
        """The table over these axes, in ascending order."""
        if axes not in self._margins:
            over = tuple(axis for axis in range(self._table.ndim) if axis not in axes)
            self._margins[axes] = self._table.sum(axis=over)
        return self._margins[axes]

    @property
    def cells(self) -> int:
        """Declared cells of the joint table."""
        return self._table.size

    def test(self, question: Question) -> MeasuredTest:
        """The noise-aware test of one question."""
        wanted = [self._place[name] for name in (*question.given, question.x, question.y)]
        axes = tuple(sorted(wanted))
        table = self._margin(axes).transpose([axes.index(axis) for axis in wanted])
        summed = self._table.size // table.size
        blocks = table.reshape(-1, *table.shape[-2:])
        return measured_test(blocks, summed * self._variance, kurtosis=self._kurtosis / summed, n=self._n)


def measure(task: Task) -> NoisyJoint:
    """Charge the whole budget and release the joint table."""
    budget = task.paid()
    shape = [column.size for column in task.counts.schema.values()]
    cells = math.prod(shape)
    if cells > MOST_CELLS:
        raise InputError(
            f"measured needs a joint table of at most {MOST_CELLS:,} declared cells, not {cells:,}: "
            "declare fewer columns or coarser bins, or use priv-pc"
        )
    terms = Terms(budget.total.epsilon, budget.total.delta, task.level, task.neighbours, task.n)
    mechanism, variance, kurtosis = Measured().mechanism(cells, terms)
    noisy = release(mechanism, budget, "joint table", task.counts.table(task.columns))
    return NoisyJoint(task.columns, np.asarray(noisy), variance, kurtosis, task.n)


def run(task: Task) -> Found:
    """Measure once, then search."""
    joint = measure(task)
    silent = 0

    def answer(batch: list[Question]) -> Answers:
        nonlocal silent
        found = [joint.test(question) for question in batch]
        answers = [test.pvalue > task.level if test.informative else None for test in found]
        silent += answers.count(None)
        return answers

    skeleton = drive(pc_search(task.columns, task.known, max_order=task.max_order), answer)
    notes = [f"One joint table of {joint.cells:,} cells was measured; every test was made on it"]
    if silent:
        notes.append(f"{silent} of the questions could not be answered at this budget: their edges stay")
    released = ("the joint table of all columns, with noise",)
    return Found(skeleton, released=released, notes=tuple(notes), adaptive=False)
