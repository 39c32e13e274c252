"""The dependence that a plan says is found 4 times in 5 is found about 4 times in 5, by the driver's own test.

Tables with that dependence are drawn, noise of the planned variance is added as the driver would, and the driver's
test is asked. A plan is right to within .06: with 400 draws a true power between .74 and .86 gives a share outside
.66 to .93 with probability below 1e-4 (binomial), the bound used here; seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcausal.core.neighbours import Neighbours
from dpcausal.discovery.measured.tables import Components, JointTable, subsets_of
from dpcausal.planning.designs import Aim, NoiseDesign, expected
from dpcausal.planning.power import Expected, Floats, directions, least_dependence, margin
from dpcausal.stats.components import interaction

LEVEL, DRAWS = 0.05, 400
LOW, HIGH = 0.66, 0.93
ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


def cells(table: Expected, w: float, alike: bool, rng: np.random.Generator) -> Floats:
    """Probabilities over x, y and what is given, with dependence w in every conditioning cell."""
    p, q = margin(table.x, table.share), margin(table.y, table.share)
    u, v = directions(p), directions(q)
    for _ in range(1000):
        signs = rng.choice([-1.0, 1.0], size=(u.shape[1], v.shape[1]))
        bump = u @ (signs * w / math.sqrt(table.dof)) @ v.T
        if bump.min() >= -1 and (alike or bump.max() <= 1):
            break
    else:
        raise AssertionError("no table has so strong a dependence")
    blocks = np.ones(())
    for size in table.given:
        blocks = np.multiply.outer(blocks, margin(size, table.share))
    turn = np.ones(blocks.size) if alike else rng.permutation(np.resize([1.0, -1.0], blocks.size))
    found = np.outer(p, q)[..., None] * (1 + bump[..., None] * turn) * blocks.ravel()
    return found.reshape(table.x, table.y, *table.given)


def released(
    design: NoiseDesign, counts: Floats, rows: int, rng: np.random.Generator
) -> JointTable | Components:
    """What the driver would hold."""
    sizes = counts.shape
    if design.joint:
        variance, summed = design.variance(sizes), math.prod(design.sizes) / counts.size
        scale = math.sqrt(variance / summed / 2)  # of one Laplace draw; a cell here sums several
        noise = rng.gamma(summed, scale, sizes) - rng.gamma(summed, scale, sizes)
        n = rows if design.neighbours is REPLACE else None
        assert design.law == "Laplace"
        return JointTable(counts + noise, variance, 3.0 / summed, n)
    tables = Components(sizes)
    for columns in subsets_of(tuple(range(len(sizes)))):
        if not {0, 1} < set(columns):
            exact = counts.sum(axis=tuple(j for j in range(len(sizes)) if j not in columns))
            variance = design.variance(tuple(sizes[j] for j in columns))
            noise = rng.normal(0.0, math.sqrt(variance), exact.shape)
            tables.add(columns, interaction(exact + noise), variance)
    return tables


def found_share(
    design: NoiseDesign, order: int, rows: int, share: float | None, alike: bool, seed: int
) -> float:
    aim = Aim(rows, LEVEL, 0.8, 0.1, share)
    table = expected(design, order, "typical", aim)
    rng = np.random.default_rng(seed)
    w = least_dependence(table, LEVEL, 0.8, alike=alike)
    chances = cells(table, w, alike, rng)
    given = tuple(range(2, order + 2))
    hits = 0
    for _ in range(DRAWS):
        counts = rng.multinomial(rows, chances.ravel()).reshape(chances.shape).astype(float)
        hits += released(design, counts, rows, rng).test(0, 1, given).pvalue <= LEVEL
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
    design = NoiseDesign(sizes, rows, epsilon, delta, neighbours)
    assert design.joint
    assert LOW < found_share(design, order, rows, None, True, seed=order) < HIGH


@pytest.mark.parametrize("order", [1, 3])
def test_joint_where_the_direction_changes(order: int) -> None:
    design = NoiseDesign((2,) * 8, 100_000, 0.1, 0.0, ADD)
    assert LOW < found_share(design, order, 100_000, None, False, seed=10 + order) < HIGH


@pytest.mark.parametrize("order", [0, 2])
def test_joint_with_rare_levels(order: int) -> None:
    design = NoiseDesign((2,) * 8, 100_000, 0.1, 0.0, ADD)
    assert LOW < found_share(design, order, 100_000, 0.05, True, seed=20 + order) < HIGH


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(
    ("sizes", "epsilon", "neighbours", "rows", "share"),
    [
        ((3,) * 11, 1.0, REPLACE, 40_000, None),
        ((2, 3, 4) * 12, 1.0, ADD, 100_000, 0.05),
        ((2,) * 37, 0.3, ADD, 100_000, None),
    ],
)
def test_components(
    sizes: tuple[int, ...], epsilon: float, neighbours: Neighbours, rows: int, share: float | None, order: int
) -> None:
    design = NoiseDesign(sizes, rows, epsilon, 1e-6, neighbours)
    assert not design.joint
    assert design.larger
    assert LOW < found_share(design, order, rows, share, True, seed=30 + order) < HIGH


def test_rare_levels_beside_many_bins() -> None:
    """Directions towards the rarest level and among the others count by their number."""
    design = NoiseDesign((10, 2, 3, 8, 8, 2, 2, 8, 2), 80_000, 1.0, 1e-6, REPLACE)
    assert design.larger
    assert LOW < found_share(design, 1, 80_000, 0.08, True, seed=40) < HIGH


def test_a_plan_that_is_wrong_is_seen() -> None:
    """Noise with twice the planned variance, or half of it, leaves the band."""
    quiet = NoiseDesign((2,) * 37, 100_000, 0.3, 1e-6, ADD)
    aim = Aim(100_000, LEVEL, 0.8, 0.1, None)
    table = expected(quiet, 1, "typical", aim)
    rng = np.random.default_rng(7)
    for factor in (0.5, 2.0):
        wrong = Expected(
            table.rows, 2, 2, table.given, None, lambda columns, f=factor: f * quiet.variance(columns)
        )
        chances = cells(table, least_dependence(wrong, LEVEL), True, rng)
        hits = 0
        for _ in range(DRAWS):
            counts = rng.multinomial(100_000, chances.ravel()).reshape(chances.shape).astype(float)
            hits += released(quiet, counts, 100_000, rng).test(0, 1, (2,)).pvalue <= LEVEL
        assert not LOW < hits / DRAWS < HIGH
