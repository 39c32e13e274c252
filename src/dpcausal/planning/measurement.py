"""Noise for tables, and levels merged where there is too much of it: what every plan of tables is made of.

**Mechanisms.** ``joint_mechanism`` for one table over all columns, ``components_mechanism`` for components of several
sets of columns together.

**Merged levels** (``merged_levels``): neighbouring ones where they have an order, else so that groups are of like size.
A level for missing values stays apart. Part of a dependence is lost by that (``kept_by_groups``): a pair is absent only
where what is left of a medium one would have been found.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import lru_cache

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.base import INTEGERS, Grid
from dpcausal.stats.components import STEP, Columns, sets_sensitivity

Noise = Laplace | Gaussian


def noise_variance(mechanism: Noise) -> float:
    """Variance of the noise in one cell, in rows squared."""
    if isinstance(mechanism, Gaussian):
        return mechanism.sigma**2
    step = mechanism.on.step
    decay = math.exp(-step / mechanism.scale)
    return 2.0 * decay / (1.0 - decay) ** 2 * step**2


@proved("measurement.proof.md")
def joint_mechanism(
    cells: int, total: float, neighbours: Neighbours, *, gaussian: bool, whole: bool = True
) -> Noise:
    """Noise for one joint table; ``total`` is rho or epsilon. A replaced row moves two cells by one, an added one.

    ``whole``: counts are whole numbers, which they are not where several rows of a person are averaged.
    """
    grid = INTEGERS if whole else Grid(STEP)
    moved = 1.0 if neighbours is Neighbours.ADD_REMOVE else 2.0
    if not gaussian:
        return Laplace(sensitivity=moved, epsilon=total, neighbours=neighbours, size=cells, grid=grid)
    reach = math.nextafter(math.sqrt(moved), math.inf) if moved > 1 else 1.0
    return Gaussian(sensitivity=reach, rho=total, neighbours=neighbours, size=cells, grid=grid)


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


def merged_levels(
    counts: Sequence[float], most: int, *, ordered: bool, apart: int | None = None
) -> tuple[int, ...]:
    """Return the group of every level: at most ``most`` groups, two at least, of like size.

    ``counts`` are released. Levels with an order stay together with their neighbours. ``apart`` is the place of a level
    for missing values: it is a group of its own, beyond ``most``, for a missing value is no neighbour of any other, and
    "known or missing" is not what a column is about.

    >>> merged_levels([10, 10, 30, 30, 20], 2, ordered=True), merged_levels([50, 10, 10, 30], 2, ordered=False)
    ((0, 0, 0, 1, 1), (0, 1, 1, 1))
    >>> merged_levels([97, 1, 1, 1], 3, ordered=True)
    (0, 1, 1, 1)
    >>> merged_levels([20, 30, 30, 90], 2, ordered=True, apart=3)
    (0, 0, 1, 2)
    >>> merged_levels([90, 20, 30, 30], 2, ordered=False, apart=0)
    (2, 0, 0, 1)
    """
    if apart is not None:
        known = merged_levels([*counts[:apart], *counts[apart + 1 :]], most, ordered=ordered)
        return (*known[:apart], max(known) + 1, *known[apart:])
    weights = [max(one, 0.0) for one in counts]
    whole = math.fsum(weights)
    if whole <= 0.0:
        weights, whole = [1.0] * len(weights), float(len(weights))
    if ordered:
        groups, before = [], 0.0
        for weight in weights:
            groups.append(min(int(most * (before + weight / 2.0) / whole), most - 1))
            before += weight
    else:
        groups, filled = [0] * len(weights), [0.0] * most
        for level in sorted(range(len(weights)), key=lambda one: (-weights[one], one)):
            groups[level] = min(range(most), key=lambda group: (filled[group], group))
            filled[groups[level]] += weights[level]
    if len(set(groups)) == 1:  # one level has nearly all rows: it against the rest
        top = max(range(len(weights)), key=lambda one: (weights[one], -one))
        cut = top + 1 if top + 1 < len(weights) else top
        groups = (
            [int(level >= cut) for level in range(len(weights))]
            if ordered
            else [int(level != top) for level in range(len(weights))]
        )
    names = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    return tuple(names[group] for group in groups)


def kept_by_groups(groups: Sequence[int], *, ordered: bool, apart: int | None = None) -> float:
    """Return the part of a squared dependence that a column keeps when its levels are merged to these groups.

    With an order, that of a trend: the variance of ranks between groups over all of it, for equally common levels.
    Without one, the mean over dependences of every kind: groups leave g - 1 of r - 1 dimensions. ``apart`` is the place
    of a level for missing values, which is never merged: the others count.

    >>> kept_by_groups((0, 0, 1, 1), ordered=True), kept_by_groups((0, 1, 1, 1), ordered=False)
    (0.8, 0.3333333333333333)
    >>> kept_by_groups((0, 1, 2), ordered=False), kept_by_groups((0, 0, 1, 1, 2), ordered=True, apart=4)
    (1.0, 0.8)
    """
    known = [group for level, group in enumerate(groups) if level != apart]
    members = [[rank for rank, group in enumerate(known) if group == one] for one in sorted(set(known))]
    if len(members) == len(known):
        return 1.0
    if not ordered:
        return (len(members) - 1) / (len(known) - 1)
    middle = (len(known) - 1) / 2
    between = math.fsum(len(ranks) * (sum(ranks) / len(ranks) - middle) ** 2 for ranks in members)
    return between / math.fsum((rank - middle) ** 2 for rank in range(len(known)))


@lru_cache(maxsize=1024)
def kept_by_most(size: int, most: int, *, ordered: bool) -> float:
    """Return ``kept_by_groups`` for a column of equally common levels of which at most so many are measured.

    >>> kept_by_most(4, 2, ordered=True), kept_by_most(3, 3, ordered=False)
    (0.8, 1.0)
    """
    if size <= most:
        return 1.0
    return kept_by_groups(merged_levels([1.0] * size, most, ordered=ordered), ordered=ordered)


def mostly_numbers(columns: Sequence[str], numeric: Collection[str]) -> bool:
    """Whether more than half of the columns hold numbers: public."""
    return 2 * sum(name in numeric for name in columns) > len(columns)
