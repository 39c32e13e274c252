"""The dependence that a plan says is found 4 times in 5 is found about 4 times in 5, by the driver's own test.

Tables with that dependence are drawn, noise of the planned variance is added as the driver would, and the driver's
test is asked. A plan is right to within .06: with 400 draws a true power between .74 and .86 gives a share outside
.66 to .93 with probability below 1e-4 (binomial), the bound used here; seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcausal.core.forecast import smallest_found
from dpcausal.core.neighbours import Neighbours
from dpcausal.discovery.measured.tables import Components, JointTable, subsets_of
from dpcausal.planning.forecast import Aim, representative_places, table_at
from dpcausal.planning.measurement_plan import MeasurementPlan, PublicNumbers, plan_measurement
from dpcausal.planning.power import Expected, Floats, directions, margin, power_of
from dpcausal.stats.components import interaction

LEVEL, DRAWS = 0.05, 400
LOW, HIGH = 0.66, 0.93
ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


def planned(
    sizes: tuple[int, ...], rows: int, epsilon: float, delta: float, neighbours: Neighbours
) -> MeasurementPlan:
    return plan_measurement(PublicNumbers.of_sizes(sizes, rows, epsilon, delta, neighbours))


def cells(table: Expected, w: float, rng: np.random.Generator, *, cancels: bool = False) -> Floats:
    """Probabilities over x, y and what is given, with dependence w in every conditioning cell.

    ``cancels``: its direction turns from cell to cell.
    """
    p, q = margin(table.x, table.share), margin(table.y, table.share)
    u, v = directions(p), directions(q)
    for _ in range(1000):
        signs = rng.choice([-1.0, 1.0], size=(u.shape[1], v.shape[1]))
        bump = u @ (signs * w / math.sqrt(table.dof)) @ v.T
        if bump.min() >= -1 and (not cancels or bump.max() <= 1):
            break
    else:
        raise AssertionError("no table has so strong a dependence")
    blocks = np.ones(())
    for size in table.given:
        blocks = np.multiply.outer(blocks, margin(size, table.share))
    turn = rng.permutation(np.resize([1.0, -1.0], blocks.size)) if cancels else np.ones(blocks.size)
    found = np.outer(p, q)[..., None] * (1 + bump[..., None] * turn) * blocks.ravel()
    return found.reshape(table.x, table.y, *table.given)


def released(plan: MeasurementPlan, counts: Floats, rng: np.random.Generator) -> JointTable | Components:
    """What the driver would hold."""
    sizes = counts.shape
    if plan.joint:
        variance, summed = plan.variance(sizes), math.prod(plan.public.sizes) / counts.size
        scale = math.sqrt(variance / summed / 2)  # of one Laplace draw; a cell here sums several
        noise = rng.gamma(summed, scale, sizes) - rng.gamma(summed, scale, sizes)
        assert not plan.gaussian
        return JointTable(counts + noise, variance, 3.0 / summed)
    tables = Components(sizes)
    for columns in subsets_of(tuple(range(len(sizes)))):
        if not {0, 1} < set(columns):
            exact = counts.sum(axis=tuple(j for j in range(len(sizes)) if j not in columns))
            variance = plan.variance(tuple(sizes[j] for j in columns))
            noise = rng.normal(0.0, math.sqrt(variance), exact.shape)
            tables = tables.with_measured([(columns, interaction(exact + noise))], variance)
    return tables


def typical(plan: MeasurementPlan, order: int, aim: Aim) -> Expected:
    """The tables that stand for an order."""
    return table_at(plan, representative_places(plan, order, aim), aim)


def found_share(
    plan: MeasurementPlan, order: int, share: float | None, seed: int, *, cancels: bool = False
) -> float:
    rows = int(plan.public.rows_or_one)
    table = typical(plan, order, Aim(rows, LEVEL, 0.8, 0.1, share))
    rng = np.random.default_rng(seed)
    chances = cells(table, smallest_found(lambda w: power_of(table, w, LEVEL)), rng, cancels=cancels)
    given = tuple(range(2, order + 2))
    hits = 0
    for _ in range(DRAWS):
        counts = rng.multinomial(rows, chances.ravel()).reshape(chances.shape).astype(float)
        hits += released(plan, counts, rng).test(0, 1, given).pvalue <= LEVEL
    return hits / DRAWS


@pytest.mark.parametrize("order", [0, 1, 2, 4])
@pytest.mark.parametrize(
    ("sizes", "epsilon", "delta", "neighbours", "rows"),
    [
        ((2,) * 8, 0.1, 0.0, ADD, 100_000),
        ((2,) * 6, 1.0, 0.0, REPLACE, 2_000),
        ((2, 3, 2, 3, 2, 2), 0.3, 0.0, REPLACE, 20_000),
    ],
)
def test_joint(
    sizes: tuple[int, ...], epsilon: float, delta: float, neighbours: Neighbours, rows: int, order: int
) -> None:
    plan = planned(sizes, rows, epsilon, delta, neighbours)
    assert plan.joint
    assert plan.larger
    assert LOW < found_share(plan, order, None, seed=order) < HIGH


@pytest.mark.parametrize("order", [1, 3])
def test_a_dependence_that_cancels_is_not_seen(order: int) -> None:
    """Where its direction turns from cell to cell the test rejects at its level: .1 of 400 draws is below 1e-4."""
    plan = planned((2,) * 8, 100_000, 0.1, 0.0, ADD)
    assert found_share(plan, order, None, seed=10 + order, cancels=True) < 0.1


@pytest.mark.parametrize("order", [0, 2])
def test_joint_with_rare_levels(order: int) -> None:
    plan = planned((2,) * 8, 100_000, 0.1, 0.0, ADD)
    assert LOW < found_share(plan, order, 0.05, seed=20 + order) < HIGH


@pytest.mark.thin(3)
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(
    ("sizes", "epsilon", "neighbours", "rows", "share"),
    [
        ((3,) * 11, 1.0, REPLACE, 40_000, None),
        ((2, 3, 4) * 12, 1.0, ADD, 150_000, 0.05),
        ((2,) * 37, 0.3, ADD, 400_000, None),
    ],
)
def test_components(
    sizes: tuple[int, ...], epsilon: float, neighbours: Neighbours, rows: int, share: float | None, order: int
) -> None:
    plan = planned(sizes, rows, epsilon, 1e-6, neighbours)
    assert not plan.joint
    assert plan.larger
    assert LOW < found_share(plan, order, share, seed=30 + order) < HIGH


def test_rare_levels_beside_many_bins() -> None:
    """Directions towards the rarest level and among the others count by their number."""
    plan = planned((10, 2, 3, 8, 8, 2, 2, 8, 2), 80_000, 1.0, 1e-6, REPLACE)
    assert plan.larger
    assert LOW < found_share(plan, 1, 0.08, seed=40) < HIGH


def test_a_plan_that_is_wrong_is_seen() -> None:
    """A plan that forgets the noise, or takes it to have four times its variance, leaves the band.

    Larger tables are asked where the noise is below the sampling error, so that less tells little.
    """
    quiet = planned((2,) * 37, 400_000, 0.3, 1e-6, ADD)
    aim = Aim(400_000, LEVEL, 0.8, 0.1, None)
    table = typical(quiet, 1, aim)
    rng = np.random.default_rng(7)
    for factor in (0.0, 4.0):
        wrong = Expected(
            table.rows, 2, 2, table.given, None, lambda columns, f=factor: f * quiet.variance(columns)
        )
        chances = cells(table, smallest_found(lambda w, wrong=wrong: power_of(wrong, w, LEVEL)), rng)
        hits = 0
        for _ in range(DRAWS):
            counts = rng.multinomial(400_000, chances.ravel()).reshape(chances.shape).astype(float)
            hits += released(quiet, counts, rng).test(0, 1, (2,)).pvalue <= LEVEL
        assert not LOW < hits / DRAWS < HIGH
