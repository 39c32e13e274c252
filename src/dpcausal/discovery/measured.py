"""Measured: spend the budget on tables with noise of known law, once; every test is then free post-processing.

1. The plan (``planning/measurement.py``), from public numbers alone: one joint table, or components order by order.
2. Components: all columns and pairs. Tests of order 0 *and* 1 need no more (``stats/partial.py``). Questions of a
   higher order arrive in one batch. Those whose components are not measured yet name them; the sets most likely to
   separate come first, and are measured together for one share of the budget, under the filter on the total. Nothing
   but released values decides which.
3. PC asks; a test that could not have seen a dependence is "not tested": the edge stays and the result says so.
4. Of all sets that separate a pair the one with the largest p-value is kept; arrows follow the evidence of all of them.

**Colliders.** PC looks at the one set it happened to find first. A weak pair a - c - b is often separated by the empty
set *and* by {c}; going by the empty set alone gives a false collider, and leaving such triples open gives none at all.
Where tests are free, every set B within the neighbours of either end can be asked with and without c: with c a collider
the p-value of B is larger than that of B and c; with c in between it is the other way round. c is made a collider when
the sum of the differences of their logarithms, over all B of which one side separates a and b, says so; within
``margin`` of zero the set that the search found decides.

**Guarantee** (epsilon, delta)-DP in total (``composition.proof.md``): mechanisms are charged before noise is drawn, and
questions are chosen from released values only. **Cost** O(cells) a question; colliders at most ``MAX_COLLIDER_SETS``
questions a pair.

References: Ramsey 2016 (largest p-value); Colombo & Maathuis 2014, section 4.2 (majority of sets).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from dpcausal.core import progress
from dpcausal.core.arguments import checked_count
from dpcausal.core.compiled import compile_note
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.core.statement import Released, ReleasedKind
from dpcausal.counts.kernels.staged import count_jobs
from dpcausal.discovery.components import Components, JointTable, NoisyTables, found_again
from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.search import (
    Answers,
    Method,
    Note,
    NoteKind,
    OpenReason,
    Query,
    SearchOutcome,
    Skeleton,
    Task,
    drive,
    pc_search,
    unanswered,
)
from dpcausal.planning.measurement import (
    MAX_TRIPLE_NOISE_RATIO,
    MIN_SE_BY_ORDER,
    SHARE_OF_REST,
    SHARE_TRIPLES,
    MeasurementPlan,
    components_mechanism,
    first_sets,
    first_shares,
    joint_mechanism,
    noise_variance,
    plan_for,
)
from dpcausal.privacy.mechanisms.base import release
from dpcausal.stats.components import Columns, interaction, sets_sensitivity
from dpcausal.stats.measured import GAUSSIAN, LAPLACE, forms
from dpcausal.stats.partial import PartialTest, partial_form, partial_test

MAX_COLLIDER_ORDER, MAX_COLLIDER_SETS = 3, 200
Given = tuple[int, ...]
Says = Callable[[int, int, Given], bool | None]
Against = Callable[[int, int, Given], float]


def not_colliders(
    skeleton: Skeleton, says: Says, against: Against, columns: Sequence[str], margin: float = 0.0
) -> dict[Pair, frozenset[str]]:
    """For every separated pair with a common neighbour: the middles that must not be made colliders."""
    place = {name: j for j, name in enumerate(columns)}
    found: dict[Pair, frozenset[str]] = {}
    for pair, first in skeleton.separating.items():
        a, b = sorted(pair, key=place.__getitem__)
        middles = skeleton.adjacent[a] & skeleton.adjacent[b]
        if not middles:
            continue
        sets: set[Given] = {tuple(sorted(place[z] for z in first))}
        for near in (skeleton.adjacent[a] - {b}, skeleton.adjacent[b] - {a}):
            numbers = sorted(place[z] for z in near)
            for order in range(min(len(numbers), MAX_COLLIDER_ORDER) + 1):
                sets.update(combinations(numbers, order))
        asked = sorted(sets, key=lambda given: (len(given), given))[:MAX_COLLIDER_SETS]
        answers = {given: says(place[a], place[b], given) for given in asked}
        barred = set()
        for z in middles:
            evidence = 0.0
            for given in asked:
                both = tuple(sorted((*given, place[z])))
                if place[z] in given or answers[given] is None or answers.get(both) is None:
                    continue
                if answers[given] or answers[both]:
                    evidence += against(place[a], place[b], both) - against(place[a], place[b], given)
            if evidence < -margin or (abs(evidence) <= margin and z in first):
                barred.add(z)
        found[pair] = frozenset(barred)
    return found


MAX_CONDITIONING_CELLS = 1024  # cells of a conditioning set


@dataclass
class Measurer:
    """Charges, measures, and answers from what was released."""

    task: Task
    plan: MeasurementPlan
    tables: NoisyTables
    released: list[Released] = field(default_factory=list)
    silent: Counter[OpenReason] = field(default_factory=Counter)  # questions without an answer, by the reason
    skipped: int = 0  # questions not worth their tables
    frozen: bool = False  # measures nothing more
    _place: dict[str, int] = field(default_factory=dict)
    _tests: dict[tuple[int, int, Columns], PartialTest] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._place = {name: j for j, name in enumerate(self.task.columns)}

    def with_tables(self, tables: NoisyTables) -> Measurer:
        """The same questions to other tables, with nothing more to spend."""
        return Measurer(replace(self.task, stage=progress.silent), self.plan, tables, frozen=True)

    @proved("composition.proof.md")
    def measure(self, sets: list[Columns], share: float, label: str) -> None:
        """Release components for this part of the budget."""
        tables, columns = self.tables, self.task.columns
        assert isinstance(tables, Components)
        budget = self.task.private_budget()
        total = budget.total.rho if self.plan.gaussian else budget.total.epsilon
        mechanism = components_mechanism(
            sets, tables.sizes, share * total, self.task.neighbours, gaussian=self.plan.gaussian
        )
        counts = self.task.counts
        margins = (
            counts.tables([tuple(columns[j] for j in one) for one in sets]) if sets != [()] else [counts.n]
        )
        exact = [interaction(margin) for margin in margins]
        noisy = release(mechanism, budget, label, np.concatenate([part.ravel() for part in exact]))
        variance, start = noise_variance(mechanism), 0
        for one, part in zip(sets, exact, strict=True):
            tables.add(one, noisy[start : start + part.size].reshape(part.shape), variance)
            start += part.size
        self._tests.clear()
        self.released.append(Released(ReleasedKind.TABLES, what=label, sd=math.sqrt(variance)))

    def answer(self, batch: list[Query]) -> Answers:
        """One answer each: True for the best separating set of an edge, None where nothing can be said."""
        places = [self._places(question) for question in batch]
        if isinstance(self.tables, Components) and not self.frozen:
            self._measure_for(places)
        found: list[bool | None] = []
        best: dict[tuple[int, int], int] = {}
        order = len(places[0][2]) if places else 0
        # how many questions there are follows from released values, so the bar may tell it
        what = f"testing given {order} column{'' if order == 1 else 's'}{compile_note(*self._kernels(order))}"
        with self.task.stage(what, len(places)) as tick:
            for i, place in enumerate(places):
                answer = self.decide(*place)
                found.append(False if answer else answer)
                if answer:
                    other = best.get(place[:2])
                    if other is None or self.test(*place).pvalue > self.test(*places[other]).pvalue:
                        best[place[:2]] = i
                elif answer is None and not self.frozen:
                    self.silent[self._why_silent(*place)] += 1
                tick(1)
        for i in best.values():
            found[i] = True
        return found

    def decide(self, x: int, y: int, given: Columns) -> bool | None:
        """Independent, dependent, or nothing (no information, or a table was not measured)."""
        if self.too_many(given) or self.tables.missing(x, y, given):
            return None
        test = self.test(x, y, given)
        if test.pvalue <= self.task.level:
            return False
        return True if test.informative(MIN_SE_BY_ORDER[min(len(given), len(MIN_SE_BY_ORDER) - 1)]) else None

    def _kernels(self, order: int) -> list[Any]:
        """What a test of this order runs through."""
        return [partial_form, forms] if order and not isinstance(self.tables, Components) else [partial_form]

    def _why_silent(self, x: int, y: int, given: Columns) -> OpenReason:
        least = MIN_SE_BY_ORDER[min(len(given), len(MIN_SE_BY_ORDER) - 1)]
        return why_open(self.tables, x, y, given, too_many=self.too_many(given), least=least)

    def too_many(self, given: Columns) -> bool:
        """Whether the set has more cells than a test could use."""
        return math.prod(self.tables.sizes[j] for j in given) > MAX_CONDITIONING_CELLS

    def test(self, x: int, y: int, given: Columns) -> PartialTest:
        """Kept until the next measurement."""
        key = (x, y, given)
        if key not in self._tests:
            self._tests[key] = self.tables.test(x, y, given)
        return self._tests[key]

    def evidence_against(self, x: int, y: int, given: Columns) -> float:
        """Evidence against independence: -log of the p-value."""
        return -math.log(max(self.test(x, y, given).pvalue, 1e-300))

    def _places(self, question: Query) -> tuple[int, int, Columns]:
        place = self._place
        return place[question.x], place[question.y], tuple(sorted(place[z] for z in question.given))

    @proved("composition.proof.md")
    def _measure_for(self, places: list[tuple[int, int, Columns]]) -> None:
        """Measure what these questions lack: best sets of every edge first, while noise stays low.

        Sets are ranked by the test with what is not measured taken as zero: by released values only.
        """
        lacking = [place for place in places if not self.too_many(place[2]) and self.tables.missing(*place)]
        budget = self.task.private_budget()
        order = max((len(place[2]) for place in lacking), default=0)
        left = budget.left_rho() / budget.total.rho if self.plan.gaussian else self._left_epsilon()
        share = min(SHARE_TRIPLES, left) if order == 2 else SHARE_OF_REST * left
        if not lacking or share < 0.01:
            self.skipped += len(lacking)
            return
        edges: dict[tuple[int, int], list[tuple[float, tuple[int, int, Columns]]]] = {}
        for place in lacking:
            edges.setdefault(place[:2], []).append((-self.test(*place).pvalue, place))
        ranked = [sorted(sets) for sets in edges.values()]
        chosen: dict[Columns, None] = {}
        room = self._room(share)
        for turn in range(max(map(len, ranked))):
            for sets in ranked:
                if turn < len(sets):
                    new = [one for one in self.tables.missing(*sets[turn][1]) if one not in chosen]
                    cost = sets_sensitivity(new, self.tables.sizes, self.task.neighbours)
                    if cost <= room:
                        room -= cost
                        chosen.update(dict.fromkeys(new))
        if chosen:
            self.measure(sorted(chosen), share, f"{len(chosen)} larger tables (given {order} columns)")
        self.skipped += sum(bool(self.tables.missing(*place)) for place in lacking)

    def _left_epsilon(self) -> float:
        budget = self.task.private_budget()
        return max(budget.left_epsilon() / budget.total.epsilon, 0.0)

    def _room(self, share: float) -> float:
        """Squared sensitivity that this share can measure with noise of at most the allowed ratio to pairs.

        Or, where that is more, of the sampling error in a table of three columns of middling size.
        """
        budget, tables = self.task.private_budget(), self.tables
        assert isinstance(tables, Components)
        middling = math.exp(3.0 * float(np.mean(np.log(tables.sizes))))
        sampling = max(float(tables.values[()]), 1.0) / middling
        variance = MAX_TRIPLE_NOISE_RATIO**2 * max(self.plan.pair_variance, sampling)
        if self.plan.gaussian:
            return 2.0 * share * budget.total.rho * variance
        reach = share * budget.total.epsilon * math.sqrt(variance / 2.0)
        # the l1 sensitivity of a triple is about this many times its squared l2 sensitivity
        return reach / (8.0 if self.task.neighbours is Neighbours.ADD_REMOVE else 4.0)


def why_open(
    tables: NoisyTables, x: int, y: int, given: Columns, *, too_many: bool, least: float
) -> OpenReason:
    """Return why x and y given these have no answer, from declared sizes and released values.

    ``least`` as in ``PartialTest.informative``.
    """
    if too_many:
        return OpenReason.TOO_MANY_CELLS
    if tables.missing(x, y, given):
        return OpenReason.NOT_MEASURED
    xs, ys = tables.cross_table(x, given), tables.cross_table(y, given)
    none = np.zeros((xs.shape[1], xs.shape[1]))
    exact = partial_test(tables.cross_table(x, (y,)), xs, ys, 0.0, none, none, none)
    return OpenReason.NOISE if exact.informative(least) else OpenReason.TOO_FEW_ROWS


SETS_PER_BATCH = 500  # sets of one edge asked about in one batch
MAX_REPEATS = 10_000


@proved("composition.proof.md")
def start(task: Task) -> Measurer:
    """Measure what comes first: the joint table, or columns and pairs."""
    budget = task.private_budget()
    sizes = [column.size for column in task.counts.schema.values()]
    plan = plan_for(sizes, budget.total.epsilon, budget.total.rho, task.neighbours)
    if plan.joint:
        total = budget.total.rho if plan.gaussian else budget.total.epsilon
        mechanism = joint_mechanism(math.prod(sizes), total, task.neighbours, gaussian=plan.gaussian)
        noisy = release(mechanism, budget, "joint table", task.counts.table(task.columns))
        kurtosis = GAUSSIAN if plan.gaussian else LAPLACE
        joint = JointTable(np.asarray(noisy), noise_variance(mechanism), kurtosis, task.n)
        return Measurer(task, plan, joint, [Released(ReleasedKind.JOINT_TABLE)])
    measurer = Measurer(task, plan, Components(sizes))
    if task.n is not None and isinstance(measurer.tables, Components):
        measurer.tables.add((), np.array(float(task.n)), 0.0)
    shares = first_shares(sizes, task.neighbours)
    for (label, sets), share in zip(first_sets(len(sizes), task.neighbours), shares, strict=True):
        measurer.measure(sets, share, label)
    return measurer


def search(measurer: Measurer) -> Skeleton:
    """The skeleton that these answers give."""
    task = measurer.task
    return drive(
        pc_search(task.columns, task.known, max_order=task.max_order, ahead=SETS_PER_BATCH), measurer.answer
    )


def run(task: Task, *, confidence: int = 0) -> SearchOutcome:
    """Measure, search, orient. ``confidence``: how often to repeat the search on noise drawn anew (0: not)."""
    if checked_count(confidence, "confidence") > MAX_REPEATS:
        raise InputError(f"confidence is told from at most {MAX_REPEATS:,} repeats, not {confidence:,}")
    with task.stage(f"measuring tables{compile_note(count_jobs)}", None):  # one pass: nothing to count
        measurer = start(task)
    skeleton = search(measurer)
    notes = [_measured_note(measurer)]
    if measurer.silent:
        notes.append(unanswered(measurer.silent))
    arrows = not_colliders(skeleton, measurer.decide, measurer.evidence_against, task.columns)
    again = None
    if confidence:
        with task.stage("repeating the search with more noise", confidence) as tick:

            def once(tables: NoisyTables) -> frozenset[Pair]:
                edges = search(measurer.with_tables(tables)).edges
                tick(1)
                return edges

            again = found_again(measurer.tables, once, skeleton.edges, confidence)
    return SearchOutcome(
        skeleton,
        released=tuple(measurer.released),
        notes=tuple(notes),
        adaptive=not measurer.plan.joint,
        not_colliders=arrows,
        confidence=again,
    )


def _measured_note(measurer: Measurer) -> Note:
    """What was measured, with how much noise, and how many rows a cell holds to compare with."""
    plan, task = measurer.plan, measurer.task
    noise = {"gaussian": plan.gaussian, "sd": math.sqrt(plan.pair_variance), **_cell_counts(task)}
    if isinstance(measurer.tables, JointTable):
        return Note(NoteKind.JOINT_TABLE, cells=measurer.tables.joint.size, **noise)
    assert isinstance(measurer.tables, Components)
    sizes = Counter(map(len, measurer.tables.values))
    return Note(
        NoteKind.COMPONENTS,
        rows_measured=task.n is None,
        singles=sizes[1],
        pairs=sizes[2],
        larger=sum(count for size, count in sizes.items() if size > 2),
        **noise,
    )


def _cell_counts(task: Task) -> dict[str, float | None]:
    """Mean and least expected count of a cell of two columns: from the schema and the public number of rows."""
    if task.n is None:
        return {"mean_cell": None, "least_cell": None}
    cells = [one.size * other.size for one, other in combinations(task.counts.schema.values(), 2)]
    mean = sum(task.n / cell for cell in cells) / len(cells)
    return {"mean_cell": mean, "least_cell": task.n / max(cells)}


METHOD = Method(
    "measured", "tables measured once, with noise, answer every question", run, tables_only=True, settles=True
)
