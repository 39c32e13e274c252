"""The plan's noise is the driver's noise."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import chndtr

from dpcausal import networks, testing
from dpcausal.core.neighbours import Neighbours
from dpcausal.counts.memory import MemoryCounts
from dpcausal.data.columns import Categorical, has_order
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.discovery import forward, target
from dpcausal.discovery.measured.tables import Components, JointTable
from dpcausal.discovery.discover import discover
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.measurer import start
from dpcausal.discovery.search import NoteKind, Task
from dpcausal.planning.designs import (
    MAX_SET,
    TARGET_NEAR,
    Aim,
    NoiseDesign,
    answers,
    least_found,
    pair_at,
)
from dpcausal.planning.enough import SHOWN, enough_evidence
from dpcausal.planning.measurement import (
    components_mechanism,
    kept_by_groups,
    kept_by_most,
    merged_levels,
    noise_variance,
)
from dpcausal.planning.power import (
    directions,
    evidence_cut,
    evidence_of,
    margin,
    would_show,
)
from dpcausal.privacy.budget import Budget
from dpcausal.stats.components import interaction
from dpcausal.stats.contrasts import MEDIUM, log_bayes_factor


@pytest.mark.parametrize("neighbours", [Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize(
    ("network", "rows"), [("asia", 500), ("survey", 500), ("sachs", 500), ("sachs", 60_000)]
)
def test_the_driver_measures_what_was_planned(
    network: str, rows: int, delta: float, neighbours: Neighbours
) -> None:
    """Sizes and noise of columns and of the first look at pairs exactly; of promising pairs to within a fifth."""
    counts = MemoryCounts(networks.load(network).sample(rows, seed=1))
    sizes = tuple(column.size for column in counts.schema.values())
    ordered = tuple(has_order(column) for column in counts.schema.values())
    design = NoiseDesign(sizes, rows, 1.0, delta, neighbours, ordered=ordered)
    budget = Budget(1.0, delta, neighbours=neighbours)
    with testing.seeded(1):
        driver = start(Task(counts, Knowledge(), 0.05, None, neighbours, budget))
    tables = driver.tables
    assert isinstance(tables, JointTable if design.joint else Components)
    assert driver.larger == design.larger
    assert (not driver.groups) == (not design.merged)
    exactly = {one: design.variance(tuple(design.measured[j] for j in one)) for one in ((), (0,), (2,))}
    for columns, planned in exactly.items():
        if columns or neighbours is Neighbours.ADD_REMOVE:
            assert planned == pytest.approx(tables.variance(columns))
    pairs = list(combinations(range(len(sizes)), 2))
    if design.joint:
        assert all(
            design.variance((sizes[i], sizes[j])) == pytest.approx(tables.variance((i, j))) for i, j in pairs
        )
        return
    assert tables.sizes == design.measured
    found = [tables.variance(pair) for pair in pairs]
    assert max(found) == pytest.approx(design.first_look)
    assert min(found) == pytest.approx(design.variance((2, 2)), rel=0.2)
    assert (max(found) > min(found)) == bool(design.schedule.again)
    labels = [one["what"] for one in driver.released]
    assert labels.count("how common levels are") == int(design.merged)
    again = [label for label in labels if label.startswith("promising pairs, round ")]
    assert len(again) == len(design.schedule.again)


@pytest.mark.parametrize("neighbours", [Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize(("network", "rows"), [("asia", 500), ("sachs", 2000)])
def test_what_is_measured_for_a_target_was_planned(
    network: str, rows: int, delta: float, neighbours: Neighbours
) -> None:
    counts = MemoryCounts(networks.load(network).sample(rows, seed=1))
    sizes = tuple(column.size for column in counts.schema.values())
    ordered = tuple(has_order(column) for column in counts.schema.values())
    design = NoiseDesign(sizes, rows, 1.0, delta, neighbours, 3, ordered)
    budget = Budget(1.0, delta, neighbours=neighbours)
    with testing.seeded(1):
        driver, _ = target.measure_target(Task(counts, Knowledge(), 0.05, None, neighbours, budget), 3)
    tables = driver.tables
    assert driver.plan == design.plan
    assert tables.sizes == design.measured
    assert tables.variance((0,)) == pytest.approx(design.variance((2,)))
    found = [tables.variance(pair) for pair in target.target_pairs(len(sizes), 3)]
    assert min(found) == pytest.approx(design.variance((2, 2)), rel=0.05)
    assert len(sizes) <= 8 or max(found) == pytest.approx(design.first_look)
    whole = NoiseDesign(sizes, rows, 1.0, delta, neighbours, ordered=ordered)
    assert whole.joint or design.variance((2, 2)) < whole.variance((2, 2))


def test_trends_over_many_levels_wait_for_less_noise_before_larger_tables_are_asked() -> None:
    """Their tests see no trend: with 20,000 rows and epsilon 3 they took links away that pairs had shown."""
    for levels, rows, waits in ((8, 20_000, True), (3, 20_000, False), (8, 1_000_000, False)):
        plain, trends = (
            NoiseDesign((levels,) * 10, rows, 3.0, 1e-6, Neighbours.REPLACE_ONE, None, (order,) * 10)
            for order in (False, True)
        )
        assert plain.larger
        assert trends.larger is not waits


def test_all_designs_are_among_those_tried() -> None:
    """The test above sees a joint table, merged levels, rounds and larger tables."""
    sachs = tuple(column.size for column in networks.load("sachs").schema.values())
    relation = Neighbours.REPLACE_ONE
    order = (True,) * len(sachs)
    rounds, larger = (NoiseDesign(sachs, rows, 1.0, 1e-6, relation, None, order) for rows in (500, 60_000))
    assert NoiseDesign(sachs, 500, 1.0, 1e-6, relation).tree  # as if the levels had no order
    assert (rounds.joint, rounds.merged, rounds.larger, len(rounds.schedule.again)) == (False, True, False, 2)
    assert (larger.joint, larger.merged, larger.larger, larger.schedule.again) == (False, False, True, ())
    assert NoiseDesign((2,) * 8, 500, 1.0, 0.0, relation).joint


@pytest.mark.parametrize("neighbours", [Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE])
def test_a_tree_is_measured_as_planned(neighbours: Neighbours) -> None:
    """22 columns of three to eight levels, some merged; pairs join all columns, with the noise that was planned."""
    rng, rows = np.random.default_rng(1), 1_500
    sizes = tuple(3 + j % 6 for j in range(22))
    schema = Schema({f"c{j:02}": Categorical(list(range(size))) for j, size in enumerate(sizes)})
    codes = {
        name: rng.integers(0, size, rows).astype(np.uint8) for name, size in zip(schema, sizes, strict=True)
    }
    design = NoiseDesign(sizes, rows, 1.0, 1e-6, neighbours, ordered=(False,) * 22)
    assert (design.tree, design.merged, design.larger) == (True, True, False)
    budget = Budget(1.0, 1e-6, neighbours=neighbours)
    with testing.seeded(1):
        driver = start(
            Task(MemoryCounts(Dataset(schema, rows, codes)), Knowledge(), 0.05, None, neighbours, budget)
        )
    tables = driver.tables
    assert isinstance(tables, Components)
    assert tables.sizes == design.measured
    pairs = [one for one in tables.values if len(one) == 2]
    assert len(pairs) == 21
    assert {tables.variance(pair) for pair in pairs} == {tables.variance(pairs[0])}
    assert tables.variance(pairs[0]) == pytest.approx(design.variance((2, 2)), rel=0.25)
    assert tables.variance((0,)) == pytest.approx(design.variance((2,)))
    assert design.first_look > 1e6 * design.variance((2, 2))


def test_the_rule_of_the_search_is_the_plans() -> None:
    assert (MAX_SET, TARGET_NEAR) == (forward.MAX_SET, target.NEAR)


@pytest.mark.parametrize("neighbours", [Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE])
@pytest.mark.parametrize(
    ("wide", "rows", "epsilon", "about"),
    [
        (11, 500, 0.3, None),
        (11, 3_000, 1.0, None),
        (24, 500, 0.3, None),
        (24, 1_500, 1.0, None),
        (24, 500, 0.3, 2),
    ],
)
def test_what_is_enough_for_an_edge_is_what_was_planned(
    wide: int, rows: int, epsilon: float, about: int | None, neighbours: Neighbours
) -> None:
    """The search knows it from what was measured, the plan from public numbers; protected rows are known about."""
    schema = Schema({f"c{j:02}": Categorical(["a", "b"]) for j in range(wide)})
    rng = np.random.default_rng(1)
    data = Dataset(schema, rows, {name: rng.integers(0, 2, rows).astype(np.uint8) for name in schema})
    with testing.seeded(1):
        result = discover(
            data,
            epsilon=epsilon,
            delta=1e-6,
            neighbours=neighbours.value,
            method="measured",
            confidence=0,
            anyway=True,
            target=None if about is None else f"c{about:02}",
        )
    design = NoiseDesign((2,) * wide, rows, epsilon, 1e-6, neighbours, about)
    (used,) = [note["enough"] for note in result.notes if note.is_a(NoteKind.COMPONENTS)]
    assert used == pytest.approx(design.enough(0.05), abs=0.02)
    odds = enough_evidence(wide, 0.05)
    assert used == odds if (wide, rows) == (11, 3_000) else used < odds - 0.1


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
    design = NoiseDesign((3,) * 11, rows, 1.0, 1e-6, Neighbours.REPLACE_ONE)
    places, aim = (0, 1), Aim(rows, 0.05, 0.8, 0.1, None)
    table = pair_at(design, places, aim)
    w = least_found(design, places, aim) * design.kept(*places)  # what is left of it between groups
    rng = np.random.default_rng(1)
    u, v = directions(margin(table.x, None)), directions(margin(table.y, None))
    bump = u @ np.full((u.shape[1], v.shape[1]), w / math.sqrt(table.dof)) @ v.T
    chances = np.maximum(1 + bump, 0.0).ravel() / (1 + bump).size
    hits, draws = 0, 400
    for _ in range(draws):
        counts = rng.multinomial(rows, chances / chances.sum()).reshape(table.x, table.y)
        tables = Components((table.x, table.y))
        tables.add((), np.array(float(rows)), 0.0)
        for axis, one in ((1, (0,)), (0, (1,)), (None, (0, 1))):
            exact = counts if axis is None else counts.sum(axis=axis)
            variance = design.variance((3,) * len(one))
            tables.add(one, interaction(exact + rng.normal(0, math.sqrt(variance), exact.shape)), variance)
        evidence = tables.contrasts(float(rows), [False] * len(tables.sizes)).pair_evidence[0, 1]
        hits += bool(evidence > design.enough(0.05))
    assert 0.71 < hits / draws < 0.88


@pytest.mark.parametrize(
    ("size", "columns", "rows", "epsilon", "neighbours", "says_absent"),
    [
        (3, 11, 1_000, 1.0, Neighbours.ADD_REMOVE, False),
        (3, 9, 1_000, 1.0, Neighbours.ADD_REMOVE, True),
        (6, 15, 2_000, 1.0, Neighbours.REPLACE_ONE, True),
        (8, 12, 700, 3.0, Neighbours.REPLACE_ONE, True),
    ],
)
def test_absent_means_that_what_merged_levels_keep_of_a_medium_trend_is_found(
    size: int, columns: int, rows: int, epsilon: float, neighbours: Neighbours, says_absent: bool
) -> None:
    """Two ordered columns with a trend of w = .3 between the levels as declared, merged and measured once as planned.

    400 draws of a true .9 lie below .82 with probability below 1e-5 (binomial); the seed is fixed. In the first case a
    medium dependence of the groups alone would be enough, but they keep .75 of it, and 4 in 5 are found.
    """
    design = NoiseDesign((size,) * columns, rows, epsilon, 1e-6, neighbours, None, (True,) * columns)
    aim = Aim(rows, 0.05, 0.8, 0.1, None)
    once = pair_at(design, (0, 1), aim, design.first_look / design.variance((2, 2)))
    enough = enough_evidence(columns, 0.05)
    assert would_show(once, MEDIUM) >= enough + SHOWN
    assert answers(design, (0, 1), aim) == says_absent
    assert design.merged
    most = design.measured[0]
    groups = np.eye(most)[list(merged_levels([1.0] * size, most, ordered=True))]
    ranks = np.arange(size) - (size - 1) / 2
    ranks /= math.sqrt((ranks**2).mean())
    chances = (1 + MEDIUM * np.outer(ranks, ranks)).clip(min=0.0).ravel()
    rng, hits, draws = np.random.default_rng(2), 0, 400
    for _ in range(draws):
        counts = groups.T @ rng.multinomial(rows, chances / chances.sum()).reshape(size, size) @ groups
        tables = Components((most, most))
        tables.add((), np.array(float(rows)), 0.0)
        for axis, one in ((1, (0,)), (0, (1,)), (None, (0, 1))):
            exact = counts if axis is None else counts.sum(axis=axis)
            variance = design.first_look if axis is None else design.variance((most,))
            tables.add(one, interaction(exact + rng.normal(0, math.sqrt(variance), exact.shape)), variance)
        hits += bool(tables.contrasts(float(rows), [True, True]).pair_evidence[0, 1] > enough)
    assert (hits / draws >= 0.82) == says_absent


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
    assert kept_by_groups(groups.tolist(), ordered=ordered) == pytest.approx(float(wanted))
    assert kept_by_most(size, size, ordered=ordered) == 1.0


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_noise_of_triples_is_that_of_their_mechanism(delta: float) -> None:
    """As many triples as planned, of like columns, in one release."""
    design = NoiseDesign((3,) * 20, 100_000_000, 1.0, delta, Neighbours.REPLACE_ONE)
    number = design.interactions(2)
    assert number is not None
    sets = list(combinations(range(20), 3))[:number]
    total = design.share(2) * (design.rho if design.plan.gaussian else design.epsilon)
    mechanism = components_mechanism(
        sets, design.sizes, total, Neighbours.REPLACE_ONE, gaussian=design.plan.gaussian
    )
    assert design.plan.gaussian == (delta > 0)
    assert design.variance((3, 3, 3)) == pytest.approx(noise_variance(mechanism), rel=1e-2)


def test_more_budget_less_noise() -> None:
    for sizes in ((2,) * 5, (3,) * 20):
        design = NoiseDesign(sizes, 10_000, 1.0, 1e-6, Neighbours.REPLACE_ONE)
        noise = [design.with_epsilon(epsilon).variance((sizes[0],) * 2) for epsilon in (0.1, 1.0, 10.0)]
        assert noise == sorted(noise, reverse=True)


def test_what_is_left_for_higher_orders() -> None:
    design = NoiseDesign((3,) * 20, 1_000_000, 1.0, 1e-6, Neighbours.REPLACE_ONE)
    assert not design.joint
    assert design.larger
    shares = [design.share(order) for order in range(2, 8)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == 0.0
    assert 0.5 + sum(shares) <= 1.0
    assert design.interactions(1) is None
    assert design.interactions(7) is None
    assert design.interactions(2) == 12 * 20
    assert design.with_epsilon(0.001).interactions(2) is None  # pairs take it all
    wide = design.variance((3, 3, 3))
    assert 0 < wide < design.variance((3, 3, 3, 3)) < design.variance((3,) * 8)


@pytest.mark.parametrize("columns", [5, 11, 37])
@pytest.mark.parametrize("dof", [1, 4, 16])
def test_absent_means_that_a_medium_dependence_is_found_about_nine_times_in_ten(
    columns: int, dof: int
) -> None:
    """At the least information with which a pair is called absent: more information finds it more often."""
    enough = enough_evidence(columns, 0.05)
    worth = brentq(lambda w: evidence_of(dof + MEDIUM**2 * w, dof, w) - enough - SHOWN, 1.0, 1e5)
    chance = 1 - chndtr(evidence_cut(enough, dof, worth), dof, MEDIUM**2 * worth)
    assert 0.85 < chance < 0.96
