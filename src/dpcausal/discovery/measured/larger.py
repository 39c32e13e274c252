"""Tests on tables of three and more columns: they separate what columns and pairs could not.

A forward search on pairs cannot take out an effect that is no sum over the columns held fixed. Where noise is small, PC
asks about what it found with sets of any size. Sets whose tables are not measured yet name them; those most likely to
separate come first, and are measured together for one share of the budget, under the filter on the total. A test that
could not have seen a dependence separates nothing.

**Guarantee.** What is measured follows from questions, and those from released values (``measure.proof.md``).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
from scipy.special import chdtri, chndtrinc

from dpcausal.core.compiled import compile_note
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.discovery.measured.measure import Measurements, measure_larger
from dpcausal.discovery.measured.tables import NoisyTables
from dpcausal.discovery.search import Answers, OpenReason, Query, Task
from dpcausal.planning.measurement_plan import next_share
from dpcausal.stats.components import Columns, sets_sensitivity
from dpcausal.stats.contrasts import POWER
from dpcausal.stats.partial import PartialTest, partial_form, partial_test

MAX_CONDITIONING_CELLS = 1024  # cells of a conditioning set
Place = tuple[int, int, Columns]  # a question by the numbers of its columns
Obtain = Callable[["LargerTables", list[Place]], Measurements]  # with the tables that these questions lack


class LargerTables:
    """Answers questions from the tables released so far (``now``); ``obtain`` brings those that questions lack."""

    def __init__(self, task: Task, now: Measurements, obtain: Obtain) -> None:
        self.task, self.now, self._obtain = task, now, obtain
        self.unanswered: Counter[OpenReason] = Counter()  # how many questions, by the reason
        self.tests: dict[Place, PartialTest] = {}
        self._place = {name: j for j, name in enumerate(task.columns)}

    def answer(self, batch: list[Query]) -> Answers:
        """Return an answer for each question: True for the best separating set of an edge, None for no answer."""
        places = [self._places(question) for question in batch]
        if lacking := [one for one in places if not self.too_many(one[2]) and self.now.tables.missing(*one)]:
            self.now = self._obtain(self, lacking)
            self.tests.clear()
        found: list[bool | None] = []
        best: dict[tuple[int, int], int] = {}
        order = len(places[0][2]) if places else 0
        # how many questions there are follows from released values, so the bar may tell it
        what = f"testing given {order} column{'' if order == 1 else 's'}{compile_note(partial_form)}"
        with self.task.stage(what, len(places)) as tick:
            for i, place in enumerate(places):
                answer = self.independent(*place)
                found.append(False if answer else answer)
                if answer:
                    other = best.get(place[:2])
                    if other is None or self.test(*place).pvalue > self.test(*places[other]).pvalue:
                        best[place[:2]] = i
                elif answer is None:
                    self.unanswered[self._why_unanswered(*place)] += 1
                tick(1)
        for i in best.values():
            found[i] = True
        return found

    def independent(self, x: int, y: int, given: Columns) -> bool | None:
        """Return whether a test calls x and y independent given these; None where it can't tell."""
        if self.too_many(given) or self.now.tables.missing(x, y, given):
            return None
        test = self.test(x, y, given)
        if test.pvalue <= self.task.level:
            return False
        return True if test.informative(self.now.plan.settings.min_se(len(given))) else None

    def test(self, x: int, y: int, given: Columns) -> PartialTest:
        """Return the test of x and y given these, cached until the next measurement."""
        key = (x, y, given)
        if key not in self.tests:
            self.tests[key] = self.now.tables.test(x, y, given)
        return self.tests[key]

    def detectable(self, x: int, y: int, given: Columns) -> float:
        """Return the dependence w that the test finds in 80% of runs; infinite where it can find none."""
        test = self.test(x, y, given)
        if test.dof == 0 or test.free <= 0.0:
            return math.inf
        needed = float(chndtrinc(chdtri(test.dof, self.task.level), test.dof, 1.0 - POWER))
        return math.sqrt(needed) * test.error / test.free

    def too_many(self, given: Columns) -> bool:
        """Return whether the set has more cells than a test could use."""
        return math.prod(self.now.tables.sizes[j] for j in given) > MAX_CONDITIONING_CELLS

    def _why_unanswered(self, x: int, y: int, given: Columns) -> OpenReason:
        """Return why no table can answer whether x and y are independent given these columns."""
        min_se = self.now.plan.settings.min_se(len(given))
        return why_open(self.now.tables, x, y, given, min_se, too_many=self.too_many(given))

    def _places(self, question: Query) -> Place:
        """Return the places in the schema of the columns of a question."""
        place = self._place
        return place[question.x], place[question.y], tuple(sorted(place[z] for z in question.given))


@proved("measure.proof.md")
def measure_lacking(larger: LargerTables, lacking: list[Place]) -> Measurements:
    """Measure the tables that these questions need, best sets of every edge first, while noise stays low.

    Sets are ranked by the test with what is not measured taken as zero: by released values only.
    """
    task, now = larger.task, larger.now
    budget, order = task.private_budget(), max(len(given) for _, _, given in lacking)
    spent = (
        budget.left_rho() / budget.total.rho
        if now.plan.gaussian
        else budget.left_epsilon() / budget.total.epsilon
    )
    share = next_share(max(spent, 0.0))
    if not share:
        return now
    edges: dict[tuple[int, int], list[tuple[float, Place]]] = {}
    for place in lacking:
        edges.setdefault(place[:2], []).append((-larger.test(*place).pvalue, place))
    ranked = [sorted(sets) for sets in edges.values()]
    chosen: dict[Columns, None] = {}
    room = _room(task, now, share)
    for turn in range(max(map(len, ranked))):
        for sets in ranked:
            if turn < len(sets):
                new = [one for one in now.tables.missing(*sets[turn][1]) if one not in chosen]
                cost = sets_sensitivity(new, now.tables.sizes, task.neighbours)
                if cost <= room:
                    room -= cost
                    chosen.update(dict.fromkeys(new))
    if not chosen:
        return now
    label = f"{len(chosen)} larger tables (given {order} columns)"
    return measure_larger(task, now, sorted(chosen), share, label)


def _room(task: Task, now: Measurements, share: float) -> float:
    """Return the largest squared sensitivity for which this share of the budget keeps the noise low enough.

    Or, where that is more, of the sampling error in a table of three columns of middling size.
    """
    total = task.private_budget().total
    middling = math.exp(3.0 * float(np.mean(np.log(now.tables.sizes))))
    variance = now.plan.settings.larger_noise**2 * max(now.plan.first_look, now.rows / middling)
    if now.plan.gaussian:
        return 2.0 * share * total.rho * variance
    reach = share * total.epsilon * math.sqrt(variance / 2.0)
    # the l1 sensitivity of a triple is about this many times its squared l2 sensitivity
    return reach / (8.0 if task.neighbours is Neighbours.ADD_REMOVE else 4.0)


def why_open(
    tables: NoisyTables, x: int, y: int, given: Columns, min_se: float, *, too_many: bool
) -> OpenReason:
    """Return why x and y given these have no answer, from declared sizes and released values.

    ``min_se`` are the standard errors that rows free to differ must be worth.
    """
    if too_many:
        return OpenReason.TOO_MANY_CELLS
    if tables.missing(x, y, given):
        return OpenReason.NOT_MEASURED
    xs, ys = tables.cross_table(x, given), tables.cross_table(y, given)
    none = np.zeros((xs.shape[1], xs.shape[1]))
    exact = partial_test(tables.cross_table(x, (y,)), xs, ys, 0.0, none, none, none)
    return OpenReason.NOISE if exact.informative(min_se) else OpenReason.TOO_FEW_ROWS
