"""The plan's noise is the driver's noise."""

from __future__ import annotations

from itertools import combinations

import pytest

from dpcausal import networks, testing
from dpcausal.core.neighbours import Neighbours
from dpcausal.counts.memory import MemoryCounts
from dpcausal.discovery.components import Components, JointTable
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.measured import start
from dpcausal.discovery.search import Task
from dpcausal.planning.designs import NoiseDesign
from dpcausal.planning.measurement import components_mechanism, noise_variance
from dpcausal.privacy.budget import Budget


@pytest.mark.parametrize("neighbours", [Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("network", ["asia", "survey", "sachs"])
def test_the_driver_measures_what_was_planned(network: str, delta: float, neighbours: Neighbours) -> None:
    counts = MemoryCounts(networks.load(network).sample(500, seed=1))
    sizes = tuple(column.size for column in counts.schema.values())
    design = NoiseDesign(sizes, 500, 1.0, delta, neighbours)
    budget = Budget(1.0, delta, neighbours=neighbours)
    with testing.seeded(1):
        tables = start(Task(counts, Knowledge(), 0.05, None, neighbours, budget)).tables
    assert isinstance(tables, JointTable if design.joint else Components)
    for columns in ((0,), (2,), (0, 1), (1, 4)):
        planned = design.variance(tuple(sizes[j] for j in columns))
        assert planned == pytest.approx(tables.variance(columns))
    if neighbours is Neighbours.ADD_REMOVE:
        assert design.variance(()) == pytest.approx(tables.variance(()))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_noise_of_triples_is_that_of_their_mechanism(delta: float) -> None:
    """As many triples as planned, of like columns, in one release."""
    design = NoiseDesign((3,) * 20, 10_000, 1.0, delta, Neighbours.REPLACE_ONE)
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
    design = NoiseDesign((3,) * 20, 10_000, 1.0, 1e-6, Neighbours.REPLACE_ONE)
    assert not design.joint
    shares = [design.share(order) for order in range(2, 8)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == 0.0
    assert 0.5 + sum(shares) <= 1.0
    assert design.interactions(1) is None
    assert design.interactions(7) is None
    assert design.interactions(2) == 12 * 20
    assert design.with_epsilon(0.001).interactions(2) in range(1, 241)
    wide = design.variance((3, 3, 3))
    assert 0 < wide < design.variance((3, 3, 3, 3)) < design.variance((3,) * 8)
