"""Measured discovery: tables released once, and everything else from them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.counts.memory import MemoryCounts
from dpcausal.discovery.discover import discover
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.measured.measure import measure
from dpcausal.discovery.measured.tables import Components, JointTable
from dpcausal.discovery.search import Task
from dpcausal.graphs import cpdag_scores, skeleton_scores
from dpcausal.planning.measurement_plan import PublicNumbers, plan_measurement
from dpcausal.privacy.accounting.conversion import rho_for

pytestmark = pytest.mark.usefixtures("few_repeats")


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("epsilon", "delta", "neighbours"),
    [(0.3, 0.0, "add-remove"), (1.0, 0.0, "replace-one"), (1.0, 1e-6, "replace-one")],
)
@pytest.mark.parametrize("name", ["earthquake", "cancer", "survey", "asia"])
def test_small_networks_are_found(name: str, epsilon: float, delta: float, neighbours: str) -> None:
    """Skeleton F1 at least .85 on a fixed seed (``benchmarks/utility.py`` has means over seeds)."""
    network = dc.networks.load(name)
    data = network.sample(100_000, seed=1)
    with dc.testing.seeded(1):
        found = discover(data, epsilon=epsilon, delta=delta, neighbours=neighbours, level=0.01)
    assert found.method == "measured"
    assert skeleton_scores(found.graph, network.dag).f1 >= 0.85
    assert len(found.privacy.events) == 1
    assert found.privacy.epsilon is not None
    assert found.privacy.epsilon <= epsilon * (1 + 1e-12)


@pytest.mark.thin(2)
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_larger_schemas_go_order_by_order(neighbours: str) -> None:
    """sachs: 177,147 joint cells, but 55 pairs. All 17 edges, no other; spent at most what was given."""
    network = dc.networks.load("sachs")
    data = network.sample(100_000, seed=1)
    with dc.testing.seeded(1):
        found = discover(data, epsilon=1.0, delta=1e-6, neighbours=neighbours, level=0.01)
    assert skeleton_scores(found.graph, network.dag).f1 >= 0.95
    labels = [event["label"] for event in found.privacy.events]
    assert {"single columns", "pairs of columns"} <= set(labels)
    assert ("number of rows" in labels) == (neighbours == "add-remove")
    rho = sum(event["sensitivity"] ** 2 / (2 * event["sigma"] ** 2) for event in found.privacy.events)
    assert rho <= rho_for(1.0, 1e-6) * (1 + 1e-9)
    assert found.privacy.epsilon == 1.0  # adaptive: the total is the promise


def test_pure_budget_on_a_larger_schema() -> None:
    network = dc.networks.load("sachs")
    data = network.sample(100_000, seed=2)
    with dc.testing.seeded(2):
        found = discover(data, epsilon=3.0, level=0.01)
    assert found.privacy.delta == 0.0
    assert {event["kind"] for event in found.privacy.events} == {"laplace"}
    assert skeleton_scores(found.graph, network.dag).f1 >= 0.9


def task(counts: MemoryCounts, epsilon: float, delta: float) -> Task:
    relation = dc.Neighbours.REPLACE_ONE
    plan = plan_measurement(PublicNumbers.of_schema(counts.schema, counts.n, epsilon, delta, relation))
    return Task(counts, Knowledge(), 0.05, None, relation, dc.Budget(epsilon, delta), plan=plan)


@pytest.mark.parametrize("name", ["survey", "sachs"])
def test_with_almost_no_noise_tables_are_the_counts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "sachs":
        monkeypatch.setattr("dpcausal.planning.measurement_plan.MAX_JOINT_CELLS", 1)
    data = dc.networks.load(name).sample(5000, seed=2)
    counts = MemoryCounts(data)
    tables, columns = measure(task(counts, 1e6, 1e-6)).tables, tuple(counts.schema)
    assert isinstance(tables, JointTable if name == "survey" else Components)
    for i, j in ((0, 1), (4, 2), (3, 5)):
        exact = counts.table([columns[i], columns[j]])
        assert np.abs(tables.cross_table(i, (j,)) - exact).max() < 0.5


def test_a_component_measured_twice_is_the_weighted_mean() -> None:
    one = np.array([[1.0, -1.0], [-1.0, 1.0]])
    once = Components([2, 2]).with_measured([((0, 1), one)], 4.0)
    tables = once.with_measured([((0, 1), 3 * one)], 1.0)
    assert np.array_equal(once.values[0, 1], one)  # a value: measuring more gives new ones
    assert np.allclose(tables.values[0, 1], one * (1 / 4 + 3) / (1 / 4 + 1))
    assert tables.variance((0, 1)) == pytest.approx(1 / (1 / 4 + 1))


def test_too_little_budget_leaves_pairs_open_and_says_so() -> None:
    data = dc.networks.load("cancer").sample(200, seed=3)
    with dc.testing.seeded(3):
        found = discover(data, epsilon=0.001, method="measured", anyway=True)
    assert found.open
    assert not found.open & found.graph.skeleton
    assert "open" in found.summary()


@pytest.mark.slow
def test_weak_triples_are_oriented_by_all_sets() -> None:
    """survey: PC's first separating sets give a CPDAG F1 near .4 even without privacy; all of them give more."""
    network = dc.networks.load("survey")
    scores = []
    for seed in range(6):
        data = network.sample(100_000, seed=seed)
        with dc.testing.seeded(seed):
            found = discover(data, epsilon=1.0, level=0.01)
        scores.append(cpdag_scores(found.graph, network.cpdag).f1)
    assert np.mean(scores) > 0.55


def test_confidence() -> None:
    """Strong edges come back every time; every edge has a number; it is in the JSON."""
    network = dc.networks.load("asia")
    data = network.sample(50_000, seed=1)
    with dc.testing.seeded(1):
        found = discover(data, epsilon=1.0, level=0.01, confidence=10)
    assert found.confidence is not None
    assert set(found.confidence) == set(found.graph.skeleton)
    assert found.confidence[frozenset(("smoke", "lung"))] == 1.0
    assert all(0.0 <= part <= 1.0 for part in found.confidence.values())
    assert len(json.loads(found.to_json())["confidence"]) == len(found.confidence)
    with pytest.raises(dc.InputError, match="confidence must be a whole number"):
        discover(data, epsilon=1.0, confidence=-1)


@pytest.mark.slow
def test_no_edges_are_found_where_there_are_none() -> None:
    """8 independent binary columns, level .05: 28 tests expect 1.4 false edges a graph; 20 graphs, 28 in all.

    The number is at most Binomial(560, .05) if every level is kept: below 48 with probability 1 - 2e-4.
    """
    rng = np.random.default_rng(5)
    schema = dc.Schema({f"c{i}": dc.Categorical([0, 1]) for i in range(8)})
    for epsilon in (0.1, 1.0):
        wrong = 0
        for seed in range(20):
            codes = {name: (rng.random(20_000) < 0.3).astype(np.uint8) for name in schema}
            with dc.testing.seeded(seed):
                found = discover(dc.Dataset(schema, 20_000, codes), epsilon=epsilon)
            wrong += len(found.graph.skeleton)
        assert wrong <= 47


def chain(levels: int) -> dc.Dataset:
    """First and last depend on what lies between, of so many levels, and not on each other given it."""
    rng = np.random.default_rng(1)
    middle = rng.integers(0, levels, 6000)
    ends = [(rng.random(6000) < np.where(middle < levels // 2, 0.15, 0.85)).astype(int) for _ in range(2)]
    schema = dc.Schema(
        {
            "a": dc.Categorical([0, 1]),
            "b": dc.Categorical(list(range(levels))),
            "c": dc.Categorical([0, 1]),
            "d": dc.Categorical([0, 1]),
            "e": dc.Categorical(list(range(12))),
        }
    )
    columns = {"a": ends[0], "b": middle, "c": ends[1], "d": rng.integers(0, 2, 6000)}
    return dc.read(
        {name: one.tolist() for name, one in (columns | {"e": rng.integers(0, 12, 6000)}).items()}, schema
    )


@pytest.mark.parametrize(("levels", "epsilon"), [(2, 1.0), (12, 3.0)])
def test_a_pair_that_a_set_separates_is_absent_where_strata_can_hide_little(
    levels: int, epsilon: float
) -> None:
    """What is told of the pair grows with the number of strata; above .2 it is open."""
    with dc.testing.seeded(3):
        found = discover(
            chain(levels), epsilon=epsilon, delta=1e-6, method="measured", confidence=0, anyway=True
        )
    pair = frozenset("ac")
    assert {frozenset("ab"), frozenset("bc")} <= found.graph.skeleton
    assert pair not in found.graph.skeleton
    if levels == 2:
        assert found.separating[pair] == ("b",)
        assert pair in found.absent
    else:
        assert pair in found.open
        assert found.detectable[pair] > 0.2
    assert all(found.detectable[one] <= 0.2 for one in found.absent)


def test_a_person_with_several_rows_counts_once_in_a_joint_table() -> None:
    """Cells are sums over persons of the share of their rows: noise of half a row's deviation or less at epsilon 20."""
    bit = dc.Categorical([0, 1])
    visits = {"pid": np.repeat(np.arange(400), 3), "a": [0, 0, 1] * 400, "b": [1, 1, 0] * 400}
    data = dc.read(visits, dc.Schema(a=bit, b=bit), unit="pid", rows_per_unit=3)
    with dc.testing.seeded(1):
        released = dc.discover(data, epsilon=20.0, method="measured", confidence=0).release
    assert released is not None
    tables = released.values.tables
    assert isinstance(tables, JointTable)
    assert tables.joint == pytest.approx(np.array([[0, 800 / 3], [400 / 3, 0]]), abs=5)
