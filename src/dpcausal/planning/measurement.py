"""How ``measured`` will spend a budget: from the schema, the relation and the total alone, before any data is seen.

**Joint or components.** A joint table of m cells has the same noise in every cell, and a pair sums m/(r c) of them.
Components measure all single columns and pairs, then triples and more where the search wants them. The joint table
answers every question, so it is taken unless a pair would have more than ``MAX_JOINT_VARIANCE_RATIO`` times the noise
variance.

**Noise.** Laplace for a pure budget; with delta, whichever of Laplace and Gaussian gives less noise in a pair.

**Shares** of the components: ``SHARE_PAIRS`` of the budget for columns and pairs (orders 0 and 1), ``SHARE_TRIPLES``
for order 2, the rest for what is beyond. Within the first, columns and pairs are weighed by the square root of what
they are worth (their sensitivity times how much of their noise a test sees): the least total variance for a given rho.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.base import INTEGERS, Grid
from dpcausal.stats.components import STEP, Columns, sets_sensitivity

# Settings of ``measured``, chosen on random networks.
MAX_JOINT_CELLS = 1 << 18  # cells of the joint table, at most
MAX_JOINT_VARIANCE_RATIO = (
    2.0  # noise variance of a pair from the joint table over that from components, at most
)
SHARE_PAIRS, SHARE_TRIPLES = (
    0.5,
    0.35,
)  # of the budget: columns and pairs (orders 0 and 1), tables for order 2
SHARE_OF_REST = 0.9  # of what is left, measured at each order past the second
NOISE_SEEN_BY_TEST = {
    0: 0.1,
    1: 0.4,
    2: 1.0,
}  # part of the noise of a total, a column, a pair that a test sees, about
MAX_TRIPLE_NOISE_RATIO = 2.0  # noise of triples over noise of pairs, at most
# Standard errors that the free rows must be worth, by order: given a set, it may have decided x or y, and noise that
# only dampens a dependence must not delete it.
MIN_SE_BY_ORDER = (6.0, 6.0, 12.0, 50.0, 100.0)
SMALL_DELTA = 1e-6  # the delta that a budget without one is compared with
NOTABLE_GAIN = 2.0  # times the noise from which on a missing delta is worth a warning

Noise = Laplace | Gaussian


@dataclass(frozen=True)
class MeasurementPlan:
    """``joint`` or components, with Gaussian or Laplace noise. ``pair_variance``: of the noise in a pair."""

    joint: bool
    gaussian: bool
    pair_variance: float


def noise_variance(mechanism: Noise) -> float:
    """Variance of the noise in one cell, in rows squared."""
    if isinstance(mechanism, Gaussian):
        return mechanism.sigma**2
    step = mechanism.on.step
    decay = math.exp(-step / mechanism.scale)
    return 2.0 * decay / (1.0 - decay) ** 2 * step**2


@proved("measurement.proof.md")
def joint_mechanism(cells: int, total: float, neighbours: Neighbours, *, gaussian: bool) -> Noise:
    """Noise for one joint table; ``total`` is rho or epsilon. A replaced row moves two cells by one, an added one."""
    moved = 1.0 if neighbours is Neighbours.ADD_REMOVE else 2.0
    if not gaussian:
        return Laplace(sensitivity=moved, epsilon=total, neighbours=neighbours, size=cells, grid=INTEGERS)
    reach = math.nextafter(math.sqrt(moved), math.inf) if moved > 1 else 1.0
    return Gaussian(sensitivity=reach, rho=total, neighbours=neighbours, size=cells, grid=INTEGERS)


@proved("measurement.proof.md")
def components_mechanism(
    sets: Sequence[Columns], sizes: Sequence[int], total: float, neighbours: Neighbours, *, gaussian: bool
) -> Noise:
    """Noise for these components together; ``total`` is rho or epsilon."""
    cells = sum(math.prod(sizes[j] for j in columns) for columns in sets)
    if not gaussian:
        absolute = sets_sensitivity(sets, sizes, neighbours, norm=1)
        return Laplace(
            sensitivity=absolute, epsilon=total, neighbours=neighbours, size=cells, grid=Grid(STEP)
        )
    reach = math.nextafter(math.sqrt(sets_sensitivity(sets, sizes, neighbours)), math.inf)
    return Gaussian(sensitivity=reach, rho=total, neighbours=neighbours, size=cells, grid=Grid(STEP))


def first_sets(columns: int, neighbours: Neighbours) -> list[tuple[str, list[Columns]]]:
    """What is measured first, with its name: the number of rows where it is not public, columns, pairs."""
    found: list[tuple[str, list[Columns]]] = [
        ("single columns", [(j,) for j in range(columns)]),
        ("pairs of columns", list(combinations(range(columns), 2))),
    ]
    return found if neighbours is not Neighbours.ADD_REMOVE else [("number of rows", [()]), *found]


def first_shares(sizes: Sequence[int], neighbours: Neighbours) -> list[float]:
    """Shares of the budget for ``first_sets``, adding up to ``SHARE_PAIRS``."""
    worth = [
        math.sqrt(NOISE_SEEN_BY_TEST[len(sets[0])] * sets_sensitivity(sets, sizes, neighbours))
        for _, sets in first_sets(len(sizes), neighbours)
    ]
    return [SHARE_PAIRS * part / math.fsum(worth) for part in worth]


def plan_for(sizes: Sequence[int], epsilon: float, rho: float, neighbours: Neighbours) -> MeasurementPlan:
    """The plan for a total of ``epsilon``, or of ``rho`` where that is above zero."""
    cells = math.prod(sizes)
    pairs = first_sets(len(sizes), neighbours)[-1][1]
    share = first_shares(sizes, neighbours)[-1]
    found: list[MeasurementPlan] = []
    for gaussian in (False, True) if rho > 0 else (False,):
        total = rho if gaussian else epsilon
        parts = components_mechanism(pairs, sizes, share * total, neighbours, gaussian=gaussian)
        found.append(MeasurementPlan(False, gaussian, noise_variance(parts)))
        if cells <= MAX_JOINT_CELLS:
            cell = noise_variance(joint_mechanism(cells, total, neighbours, gaussian=gaussian))
            summed = math.fsum(cells / (sizes[i] * sizes[j]) for i, j in pairs) / len(pairs)
            found.append(MeasurementPlan(True, gaussian, cell * summed))
    return min(found, key=lambda plan: plan.pair_variance / (MAX_JOINT_VARIANCE_RATIO if plan.joint else 1.0))


def noise_without_delta(sizes: Sequence[int], epsilon: float, neighbours: Neighbours) -> float:
    """Standard deviation of the noise in a pair without delta over that with ``SMALL_DELTA``.

    >>> noise_without_delta((2,) * 4, 1.0, Neighbours.REPLACE_ONE)
    1.0
    >>> round(noise_without_delta((4,) * 9, 1.0, Neighbours.REPLACE_ONE), 1) > 4
    True
    """
    usable = [size for size in sizes if size > 1]
    if len(usable) < 2:
        return 1.0
    try:
        pure = plan_for(usable, epsilon, 0.0, neighbours).pair_variance
        small = plan_for(usable, epsilon, Filter(epsilon, SMALL_DELTA).rho, neighbours).pair_variance
    except InputError:  # more noise than there can be: the run says so
        return 1.0
    if not (small > 0 and math.isfinite(small) and math.isfinite(pure)):
        return 1.0  # at the ends of what floats hold
    return max(1.0, math.sqrt(pure / small))


def mostly_numbers(columns: Sequence[str], numeric: Collection[str]) -> bool:
    """Whether more than half of the columns hold numbers: public."""
    return 2 * sum(name in numeric for name in columns) > len(columns)
