"""What ``measured`` holds: a budget, the counts, and tables released from them, which answer questions.

``start`` measures what comes first: one joint table, or single columns and pairs, promising pairs again in rounds where
noise is large, with levels merged, or, with many columns and much noise, the pairs of a tree alone. ``Measurer``
measures more where PC asks for it, and answers. Nothing but released values decides what, and a mechanism where exact
counts do (``measure_tree``). ``not_colliders`` reads arrows off the answers (``measured.py`` says how).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from dpcausal.core.compiled import compile_note
from dpcausal.core.entropy import released_generator
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.core.statement import MeasuredPairs, MeasuredTables, Noisy, Released
from dpcausal.data.columns import Column, Numeric, has_order
from dpcausal.data.missing_words import reads_as_missing
from dpcausal.discovery.components import GROUPINGS, Components, JointTable, NoisyTables
from dpcausal.discovery.forward import MAX_SET, Rules
from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.search import (
    Answers,
    ChosenPairs,
    JointTableMeasured,
    MergedLevels,
    Note,
    OpenReason,
    Query,
    Skeleton,
    TablesMeasured,
    Task,
)
from dpcausal.planning.enough import clarity_of
from dpcausal.planning.measurement import (
    MAX_TRIPLE_NOISE_RATIO,
    MIN_SE_BY_ORDER,
    SHARE_LEVELS,
    SHARE_OF_REST,
    SHARE_ROWS,
    SHARE_TRIPLES,
    MeasurementPlan,
    again_count,
    components_mechanism,
    joint_mechanism,
    kept_by_groups,
    larger_pay,
    merged_levels,
    most_levels,
    noise_variance,
    plan_for,
    schedule_for,
    tree_pays,
)
from dpcausal.privacy.mechanisms.base import INTEGERS, release
from dpcausal.privacy.mechanisms.selection import SpanningTree
from dpcausal.stats.components import Columns, Floats, interaction, sets_sensitivity
from dpcausal.stats.contrasts import Contrasts, Round, all_pairs
from dpcausal.stats.measured import GAUSSIAN, LAPLACE, forms
from dpcausal.stats.pair_distance import distance_sensitivity, if_independent, pair_distance
from dpcausal.stats.partial import PartialTest, log_central_odds, partial_form, partial_test

MAX_COLLIDER_ORDER, MAX_COLLIDER_SETS = 3, 200
Given = tuple[int, ...]
Says = Callable[[int, int, Given], bool | None]
Against = Callable[[int, int, Given], float]


def not_colliders(
    skeleton: Skeleton,
    says: Says,
    against: Against,
    columns: Sequence[str],
    margin: float = 0.0,
    *,
    beside: bool = False,
) -> dict[Pair, frozenset[str]]:
    """For every separated pair with a common neighbour: the middles that must not be made colliders.

    ``beside``: not only common neighbours are decided on, but neighbours of one end too, as rule R4 for hidden causes
    asks (``graphs/hidden.py``).
    """
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
        for z in (skeleton.adjacent[a] | skeleton.adjacent[b]) - pair if beside else middles:
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
# From so many columns on, a set must also speak against what was seen without one of them, by this logarithm of the
# likelihood ratio; set on random networks of ordered and of unordered columns.
LARGE_SET, EXPLAINED = 3, 1.0


@dataclass
class Measurer:
    """Charges, measures, and answers from what was released."""

    task: Task
    plan: MeasurementPlan
    tables: NoisyTables
    rows: float = 1.0  # public, or released
    larger: bool = False  # whether tables of three and more columns pay
    groups: dict[int, tuple[int, ...]] = field(default_factory=dict)  # of columns with levels merged
    released: list[Released] = field(default_factory=list)
    silent: Counter[OpenReason] = field(default_factory=Counter)  # questions without an answer, by the reason
    skipped: int = 0  # questions not worth their tables
    _place: dict[str, int] = field(default_factory=dict)
    _tests: dict[tuple[int, int, Columns], PartialTest] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._place = {name: j for j, name in enumerate(self.task.columns)}

    @proved("composition.proof.md")
    def measure(self, sets: Sequence[Columns], share: float, label: str) -> float:
        """Release components for this part of the budget, levels merged as ``groups`` says; return their variance."""
        tables, columns = self.tables, self.task.columns
        assert isinstance(tables, Components)
        budget = self.task.private_budget()
        total = budget.total.rho if self.plan.gaussian else budget.total.epsilon
        mechanism = components_mechanism(
            sets, tables.sizes, share * SPENT * total, self.task.neighbours, gaussian=self.plan.gaussian
        )
        counts = self.task.counts
        margins = counts.tables([tuple(columns[j] for j in one) for one in sets]) if sets[0] else [counts.n]
        exact = [interaction(self._merged(one, margin)) for one, margin in zip(sets, margins, strict=True)]
        noisy = release(mechanism, budget, label, np.concatenate([part.ravel() for part in exact]))
        variance, start = noise_variance(mechanism), 0
        for one, part in zip(sets, exact, strict=True):
            tables.add(one, noisy[start : start + part.size].reshape(part.shape), variance)
            start += part.size
        self._tests.clear()
        self.released.append(MeasuredTables(label, sd=math.sqrt(variance)))
        return variance

    def _merged(self, columns: Columns, margin: Any) -> Any:
        """The margin with levels merged: whole numbers, added up."""
        found = np.asarray(margin)
        for axis, column in enumerate(columns):
            if column in self.groups:
                groups = np.asarray(self.groups[column])
                ends = np.zeros((*found.shape[:axis], max(groups) + 1, *found.shape[axis + 1 :]), found.dtype)
                np.add.at(np.moveaxis(ends, axis, 0), groups, np.moveaxis(found, axis, 0))
                found = ends
        return found

    @property
    def tree(self) -> bool:
        """Whether the pairs of a chosen tree were measured, and no others."""
        return any(one.choice is not None for one in self.tables.rounds)

    @property
    def clarity(self) -> float:
        """Rows over the noise in a pair at the first look at all of them; infinite where there was none."""
        if not self.tables.rounds or self.tree:
            return math.inf
        return clarity_of(self.rows, self.tables.rounds[0].variance)

    def pair_variance(self) -> float:
        """Of the noise in a pair, the median of those measured."""
        pairs = [self.tables.variance(pair) for pair in all_pairs(len(self.tables.sizes))]
        return float(np.median([one for one in pairs if one > 0.0] or [0.0]))

    def contrasts(self) -> Contrasts:
        """What the forward search asks."""
        found = self.tables.contrasts(max(self.rows, 1.0), self.ordered)
        found.kept = self.kept_of_dependence(range(len(self.tables.sizes)))
        return found

    def kept_of_dependence(self, columns: Sequence[int]) -> Floats | None:
        """Return the part of a squared dependence that each of these columns keeps; None: no levels were merged."""
        if not self.groups:
            return None
        declared = list(self.task.counts.schema.values())
        return np.array([kept_of(declared[j], self.groups[j]) if j in self.groups else 1.0 for j in columns])

    @property
    def ordered(self) -> list[bool]:
        """Columns whose levels, merged or not, have an order: numbers, but not with a level for missing ones."""
        return [is_ordered(column) for column in self.task.counts.schema.values()]

    def kept(self, generator: Any, columns: Sequence[int]) -> Floats:
        """Return what another grouping of levels, drawn column by column, keeps of correlations; 1 where none is."""
        turns = generator.integers(GROUPINGS, size=len(columns))
        return np.array(
            [
                self.tables.regrouped[j][turn] if j in self.tables.regrouped else 1.0
                for j, turn in zip(columns, turns, strict=True)
            ]
        )

    def answer(self, batch: list[Query]) -> Answers:
        """One answer each: True for the best separating set of an edge, None where nothing can be said."""
        places = [self._places(question) for question in batch]
        if isinstance(self.tables, Components):
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
                elif answer is None:
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
        if not test.informative(MIN_SE_BY_ORDER[min(len(given), len(MIN_SE_BY_ORDER) - 1)]):
            return None
        return True if len(given) < LARGE_SET or self._explained(x, y, given) else None

    def _explained(self, x: int, y: int, given: Columns) -> bool:
        """Whether the test speaks for independence against a dependence as strong as without one of these columns.

        Given many columns a test sees little. Were a large "p" enough, one of the many sets would take a true edge.
        A cell's entry is a sum over blocks, so what was seen given fewer columns, the form less its degrees of freedom
        in units of the cell's variance, is what would be seen now if nothing were explained; the least of it counts.
        """
        test, seen = self.test(x, y, given), []
        for left_out in given:
            fewer = tuple(z for z in given if z != left_out)
            if not self.tables.missing(x, y, fewer):
                found = self.test(x, y, fewer)
                seen.append(max(found.form - found.dof, 0.0) * found.error**2)
        if not seen:
            return True
        shift = min(seen) / max(test.error**2, 1e-300)
        return log_central_odds(test.form, test.dof, shift) >= EXPLAINED

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


SPENT = 1.0 - 1e-12  # of a share: shares that add up to one never pass the total by rounding


@proved("composition.proof.md")
def start(task: Task) -> Measurer:
    """Measure what comes first: the joint table, or columns and pairs, in rounds where noise is large."""
    budget = task.private_budget()
    sizes = [column.size for column in task.counts.schema.values()]
    plan = plan_for(sizes, budget.total.epsilon, budget.total.rho, task.neighbours)
    total = budget.total.rho if plan.gaussian else budget.total.epsilon
    if plan.joint:
        mechanism = joint_mechanism(math.prod(sizes), total, task.neighbours, gaussian=plan.gaussian)
        noisy = release(mechanism, budget, "joint table", task.counts.table(task.columns))
        kurtosis = GAUSSIAN if plan.gaussian else LAPLACE
        joint = JointTable(np.asarray(noisy), noise_variance(mechanism), kurtosis, task.n)
        rows = float(joint.table(())) if task.n is None else float(task.n)
        larger = larger_pay(plan.pair_variance, sizes, max(rows, 1.0))
        return Measurer(task, plan, joint, rows, larger, released=[Noisy("joint-table")])
    measurer = Measurer(task, plan, Components(sizes))
    left = 1.0 - measure_rows(measurer)
    rows, ordered = measurer.rows, [has_order(column) for column in task.counts.schema.values()]
    tree = tree_pays(sizes, ordered, rows, total, task.neighbours, gaussian=plan.gaussian)
    left -= merge_levels(measurer, total, tree=tree)
    sizes = list(measurer.tables.sizes)
    schedule = schedule_for(
        sizes, rows, left, total, task.neighbours, gaussian=plan.gaussian, tree=tree, ordered=ordered
    )
    measurer.larger = schedule.larger
    measurer.measure([(j,) for j in range(len(sizes))], schedule.singles, "single columns")
    if schedule.choice:
        measure_tree(measurer, schedule.choice, schedule.pairs)
        return measurer
    pairs = all_pairs(len(sizes))
    rounds = [Round(len(pairs), measurer.measure(pairs, schedule.pairs, "pairs of columns"))]
    for turn, share in enumerate(schedule.again):
        evidence = measurer.contrasts().pair_evidence
        ranked = sorted(pairs, key=lambda pair: (-evidence[pair], pair))
        chosen = sorted(ranked[: again_count(len(sizes))])
        variance = measurer.measure(chosen, share, f"promising pairs, round {turn + 1}")
        rounds.append(Round(len(chosen), variance))
    measurer.tables.rounds = tuple(rounds)
    return measurer


@proved("composition.proof.md")
def measure_rows(measurer: Measurer) -> float:
    """Take the number of rows where it is public, else measure it; return the share that it cost."""
    task, tables = measurer.task, measurer.tables
    assert isinstance(tables, Components)
    if task.n is None:
        measurer.measure([()], SHARE_ROWS, "number of rows")
    else:
        tables.add((), np.array(float(task.n)), 0.0)
    measurer.rows = max(float(tables.table(())), 1.0)
    return SHARE_ROWS if task.n is None else 0.0


@proved("composition.proof.md")
def measure_tree(measurer: Measurer, choice: float, share: float) -> None:
    """Choose pairs that join all columns, by how far they are from independence, and measure these alone.

    ``choice`` and ``share`` are parts of the budget. How far is said of exact counts, so the choice is a mechanism's.
    """
    task, tables, rows = measurer.task, measurer.tables, measurer.rows
    assert isinstance(tables, Components)
    budget, pairs = task.private_budget(), all_pairs(len(tables.sizes))
    mechanism = SpanningTree(
        sensitivity=distance_sensitivity(task.neighbours),
        nodes=len(tables.sizes),
        rho=choice * SPENT * budget.total.rho,
        neighbours=task.neighbours,
        grid=INTEGERS,
    )
    singles = [tables.table((j,)) for j in range(len(tables.sizes))]
    independent = [if_independent(singles[i], singles[j], rows) for i, j in pairs]
    margins = task.counts.tables([(task.columns[i], task.columns[j]) for i, j in pairs])
    scores = [
        pair_distance(measurer._merged(pair, margin), expected)
        for pair, margin, expected in zip(pairs, margins, independent, strict=True)
    ]
    chosen = sorted(release(mechanism, budget, "which pairs are measured", scores))
    measurer.released.append(MeasuredPairs(number=len(chosen), of=len(pairs)))
    variance = measurer.measure(chosen, share, "chosen pairs of columns")
    tables.rounds = (Round(len(chosen), variance, mechanism.round.reach / mechanism.round.epsilon),)


@proved("composition.proof.md")
def merge_levels(measurer: Measurer, total: float, *, tree: bool = False) -> float:
    """Merge levels of columns that have more than noise leaves room for; return the share that it cost.

    ``tree``: whether only the pairs of a tree will be measured.
    """
    task, tables = measurer.task, measurer.tables
    assert isinstance(tables, Components)
    columns = list(task.counts.schema.values())
    ordered, apart = [has_order(column) for column in columns], [missing_place(column) for column in columns]
    most = most_levels(
        tables.sizes,
        ordered,
        measurer.rows,
        total,
        task.neighbours,
        gaussian=measurer.plan.gaussian,
        tree=tree,
    )
    many = [j for j, size in enumerate(tables.sizes) if size - (apart[j] is not None) > most[j]]
    if not many:
        return 0.0
    measurer.measure([(j,) for j in many], SHARE_LEVELS, "how common levels are")
    found: dict[int, tuple[int, ...]] = {}
    regrouped: dict[int, Floats] = {}
    for j in many:
        share = tables.values[j,] + measurer.rows / tables.sizes[j]

        def grouped(counts: Floats, j: int = j) -> tuple[int, ...]:
            return merged_levels(counts.tolist(), most[j], ordered=ordered[j], apart=apart[j])

        found[j] = grouped(share)
        regrouped[j] = kept_by_other_groups(share, tables.variances[j,], measurer.rows, grouped)
    rows = {(): tables.values[()]} if () in tables.values else {}
    sizes = [max(found[j]) + 1 if j in found else size for j, size in enumerate(tables.sizes)]
    measurer.tables, measurer.groups = Components(sizes), found
    measurer.tables.regrouped = regrouped
    for one, value in rows.items():
        measurer.tables.add(one, value, tables.variances[one])
    return SHARE_LEVELS


def kept_by_other_groups(
    counts: Floats, noise: float, rows: float, grouped: Callable[[Floats], tuple[int, ...]]
) -> Floats:
    """Return what groups of levels drawn anew would keep of a correlation with these groups, draw by draw.

    Another sample with other noise may group levels otherwise. What was released has sampling error and noise, and so
    has what another run releases: the variance counts twice. The root of the mean squared canonical correlation of the
    two groupings is kept, if levels of a group do not differ otherwise; 1 for the same groups. From released counts.

    >>> def two(counts):
    ...     return tuple((counts > 400).astype(int).tolist())
    >>> float(kept_by_other_groups(np.array([200.0, 700.0, 100.0]), 25.0, 1000.0, two).min())
    1.0
    >>> bool(kept_by_other_groups(np.array([401.0, 400.0, 199.0]), 25.0, 1000.0, two).mean() < 0.9)
    True
    """
    part = np.clip(counts / max(rows, 1.0), 1e-3, 1.0)
    spread = np.sqrt(2.0 * (noise + rows * part * (1.0 - part)))
    drawn = counts + spread * released_generator(counts).standard_normal((GROUPINGS, len(counts)))
    now = list(grouped(counts))
    first = np.eye(max(now) + 1)[now]
    weights = part / part.sum()
    kept = []
    for one in drawn:
        groups = list(grouped(one))
        both = (first * weights[:, None]).T @ np.eye(max(groups) + 1)[groups]
        square = (both**2 / np.outer(both.sum(axis=1), both.sum(axis=0))).sum() - 1.0
        kept.append(round(math.sqrt(min(max(square / (first.shape[1] - 1), 0.0), 1.0)), 4))
    return np.array(kept)


def kept_of(column: Column, groups: Sequence[int]) -> float:
    """Return the part of a squared dependence that a column keeps with its levels merged to these groups.

    >>> kept_of(Numeric(0, 9, [2, 4, 6]), (0, 0, 1, 1))
    0.8
    """
    return kept_by_groups(groups, ordered=has_order(column), apart=missing_place(column))


def missing_place(column: Column) -> int | None:
    """Return the place of the one level for missing values, by the declaration; None: there is none, or several.

    >>> missing_place(Numeric(0, 9, [3], missing_level=True)), missing_place(Numeric(0, 9, [3]))
    (2, None)
    """
    if isinstance(column, Numeric):
        return column.size - 1 if column.missing_level else None
    places = [place for place, level in enumerate(column.printed) if reads_as_missing(level)]
    return places[0] if len(places) == 1 and column.size > 2 else None


def is_ordered(column: Column) -> bool:
    """Return whether the order of a column's levels means something, by its declaration.

    >>> is_ordered(Numeric(0, 9, [3])), is_ordered(Numeric(0, 9, [3], missing_level=True))
    (True, False)
    """
    return not column.missing_level if isinstance(column, Numeric) else column.ordered


def rules_for(task: Task, *, tree: bool = False, clarity: float = math.inf) -> Rules:
    """What the forward search may do, from the level and what is known beforehand; the others as in ``Rules.usual``."""
    place = {name: j for j, name in enumerate(task.columns)}

    def places(pairs: frozenset[Pair]) -> frozenset[tuple[int, int]]:
        return frozenset(
            (min(a, b), max(a, b)) for a, b in ([place[name] for name in pair] for pair in pairs)
        )

    names = task.columns

    def may_separate(z: int, x: int, y: int) -> bool:
        return task.known.may_separate(names[z], names[x], names[y])

    return Rules.usual(
        len(task.columns),
        task.level,
        tree=tree,
        clarity=clarity,
        required=places(task.known.kept),
        left_out=places(task.known.left_out),
        may_separate=may_separate,
        max_set=MAX_SET if task.max_order is None else min(task.max_order, MAX_SET),
    )


def known_groups(measurer: Measurer) -> dict[str, tuple[int, ...]]:
    """Return the group of every level of merged columns; a file of an earlier version says only how many there are."""
    names, schema = measurer.task.columns, measurer.task.counts.schema
    found = {names[j]: groups for j, groups in sorted(measurer.groups.items())}
    return {name: groups for name, groups in found.items() if len(groups) == schema[name].size}


def measured_note(measurer: Measurer, enough: float, target: int | None = None) -> list[Note]:
    """What was measured, and which levels were merged; about a ``target``, the noise is that of pairs with it.

    ``enough``: the evidence that makes an edge.
    """
    notes: list[Note] = [_tables_note(measurer, enough, target)]
    if measurer.tree:
        number = measurer.tables.rounds[0].pairs
        notes.append(ChosenPairs(number=number, of=math.comb(len(measurer.tables.sizes), 2)))
    if measurer.groups:
        columns = measurer.task.columns
        merged = [(columns[j], max(groups) + 1) for j, groups in sorted(measurer.groups.items())]
        notes.append(MergedLevels(tuple(merged), tuple(known_groups(measurer).items())))
    return notes


def _tables_note(measurer: Measurer, enough: float, target: int | None) -> Note:
    """What was measured, with how much noise, and how many rows a cell holds to compare with.

    With a target the noise is that of pairs with it that were measured once: others have less, or were not measured.
    """
    plan, task = measurer.plan, measurer.task
    variance = measurer.pair_variance()
    if target is not None and isinstance(measurer.tables, Components):
        variances = measurer.tables.variances
        own = [one for pair, one in variances.items() if len(pair) == 2 and target in pair]
        variance = max(own, default=variance)
    known: dict[str, Any] = {
        "gaussian": plan.gaussian,
        "sd": math.sqrt(variance),
        "enough": enough,
        **_cell_counts(measurer, target),
    }
    if isinstance(measurer.tables, JointTable):
        return JointTableMeasured(cells=measurer.tables.joint.size, **known)
    assert isinstance(measurer.tables, Components)
    sizes = Counter(map(len, measurer.tables.values))
    return TablesMeasured(
        rows_measured=task.n is None,
        singles=sizes[1],
        pairs=sizes[2],
        larger=sum(count for size, count in sizes.items() if size > 2),
        target=None if target is None else task.columns[target],
        **known,
    )


def _cell_counts(measurer: Measurer, target: int | None) -> dict[str, float | None]:
    """Mean and least expected count of a cell of two columns: from sizes and the public number of rows.

    With a target, of pairs with it.
    """
    n, sizes = measurer.task.n, measurer.tables.sizes
    if n is None:
        return {"mean_cell": None, "least_cell": None}
    pairs = combinations(range(len(sizes)), 2)
    cells = [sizes[i] * sizes[j] for i, j in pairs if target is None or target in (i, j)]
    return {"mean_cell": sum(n / cell for cell in cells) / len(cells), "least_cell": n / max(cells)}
