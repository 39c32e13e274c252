"""The plan's noise is the driver's noise."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from dpcausal import networks, testing
from dpcausal.core.forecast import smallest_found
from dpcausal.core.neighbours import Neighbours
from dpcausal.counts.memory import MemoryCounts
from dpcausal.data.columns import Categorical
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.discovery.discover import discover
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.measured.measure import Measurements, measure
from dpcausal.discovery.measured.tables import Components, JointTable
from dpcausal.discovery.search import TablesMeasured, Task
from dpcausal.planning.forecast import Aim, can_call_absent, least_found, pair_at
from dpcausal.planning.measurement_plan import (
    MeasurementPlan,
    PublicNumbers,
    components_mechanism,
    merged_levels,
    noise_variance,
    plan_measurement,
    retained_by_groups,
    retained_by_most,
)
from dpcausal.planning.power import directions, margin, power_of_evidence
from dpcausal.planning.settings import SETTINGS, acceptance_threshold
from dpcausal.privacy.accounting.conversion import rho_for
from dpcausal.privacy.budget import Budget
from dpcausal.stats.components import Columns, interaction
from dpcausal.stats.contrasts import evidence_cut, evidence_of, log_bayes_factor

REPLACE = Neighbours.REPLACE_ONE


def planned(
    sizes: tuple[int, ...],
    rows: float,
    epsilon: float,
    delta: float,
    neighbours: Neighbours = REPLACE,
    target: int | None = None,
    *,
    ordered: bool = False,
) -> MeasurementPlan:
    """The plan for columns of these sizes."""
    return plan_measurement(
        PublicNumbers.of_sizes(sizes, rows, epsilon, delta, neighbours, target, ordered=ordered)
    )


def executed(
    data: Dataset, epsilon: float, delta: float, neighbours: Neighbours, target: str | None = None
) -> tuple[MeasurementPlan, Measurements]:
    """The plan for these rows, and what the driver measured: it learns protected rows by measuring."""
    rows = data.n if neighbours is REPLACE else None
    public = PublicNumbers.of_schema(data.schema, rows, epsilon, delta, neighbours, target)
    budget = Budget(epsilon, delta, neighbours=neighbours)
    plan = plan_measurement(public)
    with testing.seeded(1):
        done = measure(Task(MemoryCounts(data), Knowledge(), 0.05, None, neighbours, budget, plan=plan))
    guessed = PublicNumbers.of_schema(data.schema, data.n, epsilon, delta, neighbours, target)
    return plan_measurement(guessed), done


def measured_with_noise(counts: np.ndarray, variances: list[float], rng: np.random.Generator) -> Components:
    """A pair as it is released: its rows exactly, then its columns and itself with noise of these variances."""
    tables = Components(counts.shape).with_measured([((), np.array(float(counts.sum())))], 0.0)
    sets: list[tuple[int | None, Columns]] = [(1, (0,)), (0, (1,)), (None, (0, 1))]
    for (axis, one), variance in zip(sets, variances, strict=True):
        exact = counts if axis is None else counts.sum(axis=axis)
        noisy = interaction(exact + rng.normal(0, math.sqrt(variance), exact.shape))
        tables = tables.with_measured([(one, noisy)], variance)
    return tables


@pytest.mark.parametrize("neighbours", [Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize(
    ("network", "rows"), [("asia", 500), ("survey", 500), ("sachs", 500), ("sachs", 60_000)]
)
def test_the_driver_measures_what_was_planned(
    network: str, rows: int, delta: float, neighbours: Neighbours
) -> None:
    """Sizes and noise of columns and of the first look at pairs exactly; of promising pairs to within a fifth."""
    data = networks.load(network).sample(rows, seed=1)
    plan, done = executed(data, 1.0, delta, neighbours)
    tables, sizes = done.tables, plan.public.sizes
    assert isinstance(tables, JointTable if plan.joint else Components)
    assert (done.plan.larger, done.plan.shares, done.plan.levels) == (plan.larger, plan.shares, plan.levels)
    assert (not done.groups) == (not plan.merged)
    exactly = {one: plan.variance(tuple(plan.sizes[j] for j in one)) for one in ((), (0,), (2,))}
    for columns, variance in exactly.items():
        if columns or neighbours is Neighbours.ADD_REMOVE:
            assert variance == pytest.approx(tables.variance(columns))
    pairs = list(combinations(range(len(sizes)), 2))
    if plan.joint:
        assert all(
            plan.variance((sizes[i], sizes[j])) == pytest.approx(tables.variance((i, j))) for i, j in pairs
        )
        return
    assert tables.sizes == plan.sizes
    found = [tables.variance(pair) for pair in pairs]
    assert max(found) == pytest.approx(plan.first_look)
    assert min(found) == pytest.approx(plan.variance((2, 2)), rel=0.2)
    assert (max(found) > min(found)) == bool(plan.shares.again)
    labels = [one.what for one in done.released]
    assert labels.count("how common levels are") == int(plan.merged)
    again = [label for label in labels if label.startswith("promising pairs, round ")]
    assert len(again) == len(plan.shares.again)


@pytest.mark.parametrize("neighbours", [Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize(("network", "rows"), [("asia", 500), ("sachs", 2000)])
def test_what_is_measured_for_a_target_was_planned(
    network: str, rows: int, delta: float, neighbours: Neighbours
) -> None:
    data = networks.load(network).sample(rows, seed=1)
    plan, done = executed(data, 1.0, delta, neighbours, list(data.schema)[3])
    tables = done.components
    assert (done.plan.shares, done.plan.levels) == (plan.shares, plan.levels)
    assert not plan.joint
    assert tables.sizes == plan.sizes
    assert tables.variance((0,)) == pytest.approx(plan.variance((2,)))
    found = [one for pair, one in tables.variances.items() if len(pair) == 2 and 3 in pair]
    assert len(found) == len(data.schema) - 1
    assert min(found) == pytest.approx(plan.variance((2, 2)), rel=0.05)
    assert len(data.schema) <= 8 or max(found) == pytest.approx(plan.first_look)
    whole = plan_measurement(PublicNumbers.of_schema(data.schema, rows, 1.0, delta, neighbours))
    assert whole.joint or plan.variance((2, 2)) < whole.variance((2, 2))


def test_all_designs_are_among_those_tried() -> None:
    """The test above sees a joint table, merged levels, rounds and larger tables."""
    sachs = networks.load("sachs").schema
    sizes = tuple(column.size for column in sachs.values())
    rounds, larger = (
        plan_measurement(PublicNumbers.of_schema(sachs, rows, 1.0, 1e-6, REPLACE)) for rows in (500, 60_000)
    )
    assert planned(sizes, 500, 1.0, 1e-6).tree  # as if the levels had no order
    assert (rounds.joint, rounds.merged, rounds.larger, len(rounds.shares.again)) == (False, True, False, 2)
    assert (larger.joint, larger.merged, larger.larger, larger.shares.again) == (False, False, True, ())
    assert planned((2,) * 8, 500, 1.0, 0.0).joint


def test_a_plan_knows_which_way_is_better() -> None:
    assert planned((2,) * 5, 1000, 1.0, 0.0).joint
    assert not planned((3,) * 11, 1000, 1.0, 1e-6).joint
    assert planned((3,) * 11, 1000, 1.0, 1e-6).gaussian
    assert not planned((2,) * 5, 1000, 0.1, 1e-6).gaussian  # little budget: Laplace


@pytest.mark.parametrize("neighbours", [Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE])
@pytest.mark.parametrize("target", [None, 2])
@pytest.mark.parametrize("rows", [None, 300, 5_000, 1_000_000])
@pytest.mark.parametrize("sizes", [(2,) * 4, (9,) * 5, (3,) * 24, (2, 3, 12) * 5])
def test_shares_are_parts_of_one_budget(
    sizes: tuple[int, ...], rows: float | None, target: int | None, neighbours: Neighbours
) -> None:
    """All of it is spent, or what is left goes to larger tables; without a guess at the rows, too."""
    for delta in (0.0, 1e-6):
        public = PublicNumbers.of_sizes(sizes, rows, 1.0, delta, neighbours, target)
        plan = plan_measurement(public)
        shares = plan.shares
        if plan.joint:
            assert shares.left == 1.0
            continue
        each = (shares.rows, shares.levels, shares.singles, shares.choice, shares.pairs, *shares.again)
        assert all(one >= 0.0 for one in each)
        assert shares.left == pytest.approx(0.5 - shares.rows - shares.levels if plan.larger else 0.0)
        assert (shares.rows > 0) == (neighbours is Neighbours.ADD_REMOVE)
        assert (shares.levels > 0) == plan.merged
        assert plan.total == pytest.approx(rho_for(1.0, delta) if plan.gaussian else 1.0)
        assert MeasurementPlan.from_dict(plan.to_dict()) == plan


def test_a_reserve_leaves_less_to_measure_with() -> None:
    whole = PublicNumbers.of_sizes((2,) * 12, 1000, 1.0, 1e-6, REPLACE)
    part = PublicNumbers(whole.columns, 1000, 1.0, 1e-6, REPLACE, reserve=0.3)
    assert plan_measurement(part).total == pytest.approx(0.7 * plan_measurement(whole).total)
    assert plan_measurement(part).first_look > plan_measurement(whole).first_look


@pytest.mark.parametrize("neighbours", [Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE])
def test_a_tree_is_measured_as_planned(neighbours: Neighbours) -> None:
    """22 columns of three to eight levels, some merged; pairs join all columns, with the noise that was planned."""
    rng, rows = np.random.default_rng(1), 1_500
    sizes = tuple(3 + j % 6 for j in range(22))
    schema = Schema({f"c{j:02}": Categorical(list(range(size))) for j, size in enumerate(sizes)})
    codes = {
        name: rng.integers(0, size, rows).astype(np.uint8) for name, size in zip(schema, sizes, strict=True)
    }
    plan, done = executed(Dataset(schema, rows, codes), 1.0, 1e-6, neighbours)
    assert (plan.tree, plan.merged, plan.larger) == (True, True, False)
    tables = done.components
    assert tables.sizes == plan.sizes
    pairs = [one for one in tables.values if len(one) == 2]
    assert len(pairs) == 21
    assert {tables.variance(pair) for pair in pairs} == {tables.variance(pairs[0])}
    assert tables.variance(pairs[0]) == pytest.approx(plan.variance((2, 2)), rel=0.25)
    assert tables.variance((0,)) == pytest.approx(plan.variance((2,)))
    assert plan.first_look > 1e6 * plan.variance((2, 2))


@pytest.mark.parametrize("neighbours", [Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE])
@pytest.mark.parametrize(("levels", "rows", "about"), [(2, 500, None), (3, 1_500, None), (2, 500, 2)])
def test_what_is_enough_for_an_edge_is_what_was_planned(
    levels: int, rows: int, about: int | None, neighbours: Neighbours
) -> None:
    """The search goes by the plan that was executed; of a tree less is enough."""
    schema = Schema({f"c{j:02}": Categorical(list(range(levels))) for j in range(24)})
    rng = np.random.default_rng(1)
    data = Dataset(schema, rows, {name: rng.integers(0, levels, rows).astype(np.uint8) for name in schema})
    with testing.seeded(1):
        result = discover(
            data,
            epsilon=1.0,
            delta=1e-6,
            neighbours=neighbours.value,
            method="measured",
            confidence=0,
            anyway=True,
            target=None if about is None else f"c{about:02}",
        )
    plan = planned((levels,) * 24, rows, 1.0, 1e-6, neighbours, about)
    assert plan.tree == (levels == 3)
    (used,) = [note.enough for note in result.notes if isinstance(note, TablesMeasured)]
    assert used == plan.enough(0.05) == acceptance_threshold(24, 0.05, tree=plan.tree)


def test_evidence_is_that_of_the_search() -> None:
    """A block of equal variances: by the sum of its squares alone."""
    squares = np.array([[0.02, 0.0, 0.001], [0.0, 0.03, 0.04]])
    for worth in (10.0, 1000.0):
        found = log_bayes_factor(squares, np.full((2, 3), 1.0 / worth))
        assert evidence_of(float(squares.sum()) * worth, 6.0, worth) == pytest.approx(found)
    cut = evidence_cut(1.0, 6.0, 200.0)
    assert evidence_of(cut, 6.0, 200.0) == pytest.approx(1.0)


@pytest.mark.parametrize("rows", [500, 60_000])
def test_the_power_of_a_pair_is_the_searches(rows: int) -> None:
    """Evidence of pairs with the least w that is found, drawn with the planned noise: found 4 times in 5.

    400 draws of a true .8 lie outside .71 to .88 with probability below 1e-4 (binomial); the seed is fixed.
    """
    design = planned((3,) * 11, rows, 1.0, 1e-6)
    places, aim = (0, 1), Aim(rows, 0.05, 0.8, 0.1, None)
    table = pair_at(design, places, aim)
    w = least_found(design, places, aim) * design.retained(*places)  # what is left of it between groups
    rng = np.random.default_rng(1)
    u, v = directions(margin(table.x, None)), directions(margin(table.y, None))
    bump = u @ np.full((u.shape[1], v.shape[1]), w / math.sqrt(table.dof)) @ v.T
    chances = np.maximum(1 + bump, 0.0).ravel() / (1 + bump).size
    hits, draws = 0, 400
    for _ in range(draws):
        counts = rng.multinomial(rows, chances / chances.sum()).reshape(table.x, table.y)
        variances = [design.variance((3,) * number) for number in (1, 1, 2)]
        tables = measured_with_noise(counts, variances, rng)
        evidence = tables.contrasts(float(rows)).pair_evidence[0, 1]
        hits += bool(evidence > design.enough(0.05))
    assert 0.71 < hits / draws < 0.88


@pytest.mark.parametrize(
    ("size", "columns", "rows", "epsilon", "neighbours", "says_absent"),
    [
        (3, 11, 1_000, 1.0, Neighbours.ADD_REMOVE, False),
        (3, 9, 1_000, 1.0, Neighbours.ADD_REMOVE, False),
        (9, 6, 4_000, 1.0, Neighbours.REPLACE_ONE, True),
        (10, 6, 4_000, 3.0, Neighbours.REPLACE_ONE, True),
    ],
)
def test_a_detectable_trend_between_merged_levels_is_found_in_most_runs(
    size: int, columns: int, rows: int, epsilon: float, neighbours: Neighbours, says_absent: bool
) -> None:
    """Two ordered columns with the trend that is detectable between levels as declared, measured once as planned.

    The plan leaves out the noise in single columns, so that it is found rather less often than in 80%: 400 draws of a
    true .7 lie below .6 with probability below 1e-4 (binomial); the seed is fixed.
    """
    design = planned((size,) * columns, rows, epsilon, 1e-6, neighbours, ordered=True)
    aim = Aim(rows, 0.05, 0.8, 0.1, None)
    once = pair_at(design, (0, 1), aim, design.first_look / design.variance((2, 2)))
    enough = acceptance_threshold(columns, 0.05)
    w = smallest_found(lambda w: power_of_evidence(once, w, enough)) / design.retained(0, 1)
    assert can_call_absent(design, (0, 1), aim) == says_absent == (w <= SETTINGS.absent)
    assert design.merged
    most = design.sizes[0]
    groups = np.eye(most)[list(merged_levels([1.0] * size, most, ordered=True))]
    ranks = np.arange(size) - (size - 1) / 2
    ranks /= math.sqrt((ranks**2).mean())
    chances = (1 + w * np.outer(ranks, ranks)).clip(min=0.0).ravel()
    rng, hits, draws = np.random.default_rng(2), 0, 400
    for _ in range(draws):
        counts = groups.T @ rng.multinomial(rows, chances / chances.sum()).reshape(size, size) @ groups
        single = design.variance((most,))
        tables = measured_with_noise(counts, [single, single, design.first_look], rng)
        hits += bool(tables.contrasts(float(rows)).pair_evidence[0, 1] > enough)
    assert hits / draws >= 0.6


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("size", [3, 4, 6, 9])
def test_what_merged_levels_keep_is_a_part_of_the_dependences_that_there_can_be(
    size: int, ordered: bool
) -> None:
    """By projection: functions of a column with mean 0 and variance 1 onto those that are constant within groups."""
    groups = np.array(merged_levels([1.0] * size, 2, ordered=ordered))
    within = np.eye(2)[groups]
    onto = within @ np.linalg.inv(within.T @ within) @ within.T
    centred = np.eye(size) - 1.0 / size
    ranks = centred @ np.arange(size)
    wanted = (
        ranks @ onto @ ranks / (ranks @ ranks) if ordered else np.trace(centred @ onto @ centred) / (size - 1)
    )
    assert retained_by_groups(groups.tolist(), ordered=ordered) == pytest.approx(float(wanted))
    assert retained_by_most(size, size, ordered=ordered) == 1.0


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_noise_of_triples_is_that_of_their_mechanism(delta: float) -> None:
    """As many triples as planned, of like columns, in one release."""
    design = planned((3,) * 20, 100_000_000, 1.0, delta)
    number = design.interactions(2)
    assert number is not None
    sets = list(combinations(range(20), 3))[:number]
    total = design.share_of_order(2) * design.total
    mechanism = components_mechanism(sets, design.sizes, total, REPLACE, gaussian=design.gaussian)
    assert design.gaussian == (delta > 0)
    assert design.variance((3, 3, 3)) == pytest.approx(noise_variance(mechanism), rel=1e-2)


def test_more_budget_less_noise() -> None:
    for sizes in ((2,) * 5, (3,) * 20):
        design = planned(sizes, 10_000, 1.0, 1e-6)
        noise = [design.at_epsilon(epsilon).variance((sizes[0],) * 2) for epsilon in (0.1, 1.0, 10.0)]
        assert noise == sorted(noise, reverse=True)


def test_what_is_left_for_higher_orders() -> None:
    design = planned((3,) * 20, 1_000_000, 1.0, 1e-6)
    assert not design.joint
    assert design.larger
    shares = [design.share_of_order(order) for order in range(2, 8)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == 0.0
    assert 0.5 + sum(shares) <= 1.0
    assert design.interactions(1) is None
    assert design.interactions(7) is None
    assert design.interactions(2) == 12 * 20
    assert design.at_epsilon(0.001).interactions(2) is None  # pairs take it all
    wide = design.variance((3, 3, 3))
    assert 0 < wide < design.variance((3, 3, 3, 3)) < design.variance((3,) * 8)
