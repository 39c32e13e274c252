"""How ``measured`` will spend a budget: from the schema, the relation and the total alone, before any data is seen.

**Joint or components.** A joint table of m cells has the same noise in every cell, and a pair sums m/(r c) of them.
Components measure all single columns and pairs, then triples and more where the search wants them. The joint table
answers every question, and is taken where a pair would have at most ``MAX_JOINT_RATIO`` times the noise variance of a
first look at components: less than one, since components go on to measure promising pairs again and merge levels.
Without a delta they gain more by that (``MAX_JOINT_RATIO_PURE``). Where whole graphs can be scored on the joint table
(``stats/joint_graphs.py``) it is worth more, and is taken up to ``MAX_SCORED_RATIO``.

**Noise.** Laplace for a pure budget; with delta, whichever of Laplace and Gaussian gives less noise in a pair.

**Shares** of the components (``Schedule``). Where noise in a pair is below its sampling error (``MAX_LARGER_RATIO``),
or small in itself (``MAX_LARGER_NOISE``), larger tables pay: ``SHARE_PAIRS`` of the budget for columns and pairs,
``SHARE_TRIPLES`` for order 2, the rest beyond. Within the first, columns and pairs are weighed by the square root of
what they are worth (their sensitivity times how much of their noise a test sees): the least total variance for a given
rho. Elsewhere all of it goes to pairs: half to all of them, the rest, in ``ROUNDS_AGAIN`` rounds, to the most promising
(``AGAIN_PER_COLUMN`` a column).

**A tree.** With many columns a look at every pair is dear: its noise grows with the number of columns. Where
``tree_pays`` says so, ``SHARE_CHOICE`` of that budget instead goes to choosing pairs that join all columns, and the
rest to these alone. Their noise is smaller, so fewer levels are merged (``LEVELS_IN_TREE``).

**Levels.** Noise in a correlation grows with the number of levels, what a table can show hardly does. A column with
more levels than ``most_levels`` is measured with levels merged: neighbouring ones where they have an order, else so
that groups are of like size. A level for missing values stays apart. A small share of the budget tells how common each
level is. Part of a dependence is lost by that (``kept_by_groups``): a pair is absent only where what is left of a
medium one would have been found.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.base import INTEGERS, Grid
from dpcausal.stats.components import STEP, Columns, sets_sensitivity
from dpcausal.stats.joint_graphs import MIN_SCORED, steps_for

# Settings of ``measured``, chosen on random networks.
MAX_JOINT_CELLS = 1 << 18  # cells of the joint table, at most
# noise variance of a pair from the joint table over that from a first look at components, at most
MAX_JOINT_RATIO, MAX_JOINT_RATIO_PURE = 0.5, 0.12
MAX_SCORED_RATIO = 1.0  # the same where the table is small enough for whole graphs to be scored on it
SHARE_PAIRS, SHARE_TRIPLES = (
    0.5,
    0.35,
)  # of the budget: columns and pairs (orders 0 and 1), tables for order 2
SHARE_ROWS = 0.02  # for the number of rows where it is not public
SHARE_LEVELS = 0.05  # for how common the levels of columns to be merged are
SHARE_SINGLES = 0.15  # for single columns, where all of the rest goes to pairs
MAX_LARGER_RATIO = (
    1.0  # noise variance of a pair over its sampling variance, up to which larger tables pay; or:
)
NEARLY_NO_NOISE = 0.1  # of that ratio: tests of PC on what was found decide nearly everything
MAX_LARGER_NOISE = 0.01  # noise in a correlation that small
FEW_LEVELS = 4.0  # for trends over more levels both bounds are lower, by the square of that ratio
ROUNDS_AGAIN = 2  # rounds in which promising pairs are measured again
AGAIN_PER_COLUMN = 2.5  # pairs in such a round, for each column
# levels that a column may have, times the root of the noise in a proportion: without an order, where groups hide what
# differs within them, and with one, where few groups keep most of a trend; there so many more
LEVELS_UNORDERED, LEVELS_ORDERED, MORE_ORDERED = 0.45, 0.185, 1.18
# the same without an order where only pairs of a tree are measured, with less noise each
LEVELS_IN_TREE = 0.95
# A tree is measured with so many columns, of at least so many levels on average, at most half of them with an order,
TREE_COLUMNS, MOST_TREE_COLUMNS, TREE_LEVELS = 10, 500, 2.5  # beyond, a choice among all pairs takes too long
# and up to this ratio of the rows to the noise in all pairs, times what two columns keep of a dependence when merged;
TREE_SIGNAL = 50.0
# with fewer than so many columns, only where a column keeps at most this part of a dependence, on average
MANY_COLUMNS, KEPT_OF_FEW = 20, 0.7
# for single columns there: the choice goes by how far pairs are from what these say
SHARE_SINGLES_IN_TREE = 0.25
SHARE_CHOICE = 0.45  # of what goes to pairs: for the choice of the tree
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


@dataclass(frozen=True)
class Schedule:
    """Shares of the budget for components, from public and released numbers.

    Attributes
    ----------
    singles, pairs : float
        For all columns, and the first look at all pairs.
    again : tuple of float
        For rounds on promising pairs.
    larger : bool
        Whether tables of three and more columns are to be measured with the rest.
    choice : float
        For the choice of a tree; then its pairs are measured for ``pairs``, and no others. 0: all are.
    """

    singles: float
    pairs: float
    again: tuple[float, ...]
    larger: bool
    choice: float = 0.0


def pair_noise(
    sizes: Sequence[int], share: float, total: float, neighbours: Neighbours, *, gaussian: bool
) -> float:
    """Return the variance of the noise if all pairs are measured for this share."""
    pairs = list(combinations(range(len(sizes)), 2))
    return noise_variance(components_mechanism(pairs, sizes, share * total, neighbours, gaussian=gaussian))


def schedule_for(
    sizes: Sequence[int],
    rows: float,
    left: float,
    total: float,
    neighbours: Neighbours,
    *,
    gaussian: bool,
    tree: bool = False,
    ordered: Sequence[bool] = (),
) -> Schedule:
    """Return shares for columns of these sizes; ``left`` is the share not yet spent, ``tree`` as ``tree_pays`` says.

    ``ordered``: which columns have levels with an order; empty: none.

    >>> few, many = (schedule_for([3] * 9, n, 1.0, 0.02, Neighbours.REPLACE_ONE, gaussian=True) for n in (1e3, 1e6))
    >>> few.larger, len(few.again), many.larger, many.again
    (False, 2, True, ())
    """
    if tree:
        rest = left - SHARE_SINGLES_IN_TREE
        of_tree = rest * (1.0 - SHARE_CHOICE)
        return Schedule(SHARE_SINGLES_IN_TREE, of_tree, (), False, rest * SHARE_CHOICE)
    singles, pairs = first_shares(sizes, Neighbours.REPLACE_ONE)
    noise = pair_noise(sizes, pairs, total, neighbours, gaussian=gaussian)
    if larger_pay(noise, sizes, rows, ordered):
        return Schedule(singles, min(pairs, left - singles), (), True)
    singles = min(SHARE_SINGLES, left / 2)
    rest = left - singles
    if again_count(len(sizes)) >= len(sizes) * (len(sizes) - 1) // 2:
        return Schedule(singles, rest, (), False)
    return Schedule(singles, rest / 2, (rest / 2 / ROUNDS_AGAIN,) * ROUNDS_AGAIN, False)


def larger_pay(noise: float, sizes: Sequence[int], rows: float, ordered: Sequence[bool] = ()) -> bool:
    """Whether tables of three and more columns pay: noise in a pair is small beside sampling, or small in itself.

    ``noise`` is the variance of the noise in a pair. Tests on larger tables see all levels and no trend: over many
    levels with an order (``ordered``) they lose links that pairs show, unless there is still less noise. Set on linear
    models.

    >>> [larger_pay(80.0**2, [12] * 10, 100_000, [order] * 10) for order in (False, True)]
    [True, False]
    """
    levels = math.exp(sum(map(math.log, sizes)) / len(sizes))
    trends = sum(order and size > 2 for size, order in zip(sizes, ordered, strict=True)) if ordered else 0
    part = min(1.0, FEW_LEVELS / levels) ** 2 if 2 * trends >= len(sizes) else 1.0
    small = noise <= (part * MAX_LARGER_NOISE * rows / levels) ** 2
    return small or below_sampling(noise, sizes, rows, part * MAX_LARGER_RATIO)


def below_sampling(noise: float, sizes: Sequence[int], rows: float, ratio: float = MAX_LARGER_RATIO) -> bool:
    """Whether noise in a pair is at most ``ratio`` times sampling variance; ``noise`` is its variance."""
    levels = math.exp(sum(map(math.log, sizes)) / len(sizes))
    return noise <= ratio * rows / levels**2


def again_count(columns: int) -> int:
    """Return how many pairs a further round measures."""
    return math.ceil(AGAIN_PER_COLUMN * columns)


def signal(
    sizes: Sequence[int], rows: float, total: float, neighbours: Neighbours, *, gaussian: bool
) -> float:
    """Return the rows over the noise in a pair of columns of up to three levels, if all pairs are measured."""
    return rows / _noise_of_few(tuple(min(size, 3) for size in sizes), total, neighbours, gaussian)


@lru_cache(maxsize=256)
def _noise_of_few(sizes: tuple[int, ...], total: float, neighbours: Neighbours, gaussian: bool) -> float:
    """Kept: levels, trees and their plans ask for it one after the other."""
    return math.sqrt(pair_noise(sizes, 1.0 - SHARE_SINGLES, total, neighbours, gaussian=gaussian))


def tree_pays(
    sizes: Sequence[int],
    ordered: Sequence[bool],
    rows: float,
    total: float,
    neighbours: Neighbours,
    *,
    gaussian: bool,
) -> bool:
    """Whether to choose pairs that join all columns and measure these alone, with more levels.

    With many columns and much noise it finds more: a choice costs far less than measuring every pair. With fewer, it
    does so where most columns would have their levels merged. With less noise it loses what is not in a tree, and a
    trend is found as well in merged levels. Set on random networks.

    >>> for rows in (1_000, 30_000):
    ...     print(tree_pays([3] * 30, [False] * 30, rows, 0.02, Neighbours.ADD_REMOVE, gaussian=True))
    True
    False
    """
    trends = sum(order and size > 2 for size, order in zip(sizes, ordered, strict=True))
    if not gaussian or not TREE_COLUMNS <= len(sizes) <= MOST_TREE_COLUMNS or 2 * trends > len(sizes):
        return False
    if sum(sizes) < TREE_LEVELS * len(sizes):
        return False
    most = most_levels(sizes, ordered, rows, total, neighbours, gaussian=gaussian)
    kept = [
        kept_by_most(size, few, ordered=order) for size, few, order in zip(sizes, most, ordered, strict=True)
    ]
    clear = signal(sizes, rows, total, neighbours, gaussian=gaussian)
    each = math.fsum(kept) / len(kept)
    return clear * each**2 <= TREE_SIGNAL and (len(sizes) >= MANY_COLUMNS or each <= KEPT_OF_FEW)


def most_levels(
    sizes: Sequence[int],
    ordered: Sequence[bool],
    rows: float,
    total: float,
    neighbours: Neighbours,
    *,
    gaussian: bool,
    tree: bool = False,
) -> list[int]:
    """Return how many levels each column may have before some are merged; ``tree``: if a tree is measured.

    >>> for rows in (1_000, 10_000, 1_000_000):
    ...     print(most_levels([6] * 2, [True, False], rows, 0.001, Neighbours.REPLACE_ONE, gaussian=True))
    [2, 3]
    [5, 8]
    [36, 85]
    """
    room = math.sqrt(signal(sizes, rows, total, neighbours, gaussian=gaussian))
    unordered = (LEVELS_IN_TREE if tree else LEVELS_UNORDERED) * room
    return [max(2, round(MORE_ORDERED + LEVELS_ORDERED * room if order else unordered)) for order in ordered]


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
    most = MAX_JOINT_RATIO if rho > 0 else MAX_JOINT_RATIO_PURE
    if len(sizes) >= MIN_SCORED and steps_for(sizes):
        most = MAX_SCORED_RATIO
    return min(found, key=lambda plan: plan.pair_variance / (most if plan.joint else 1.0))


def needs_delta(sizes: Sequence[int], epsilon: float, delta: float, neighbours: Neighbours) -> bool:
    """Whether the tables of a whole graph would use the delta: not where one joint table with Laplace noise is best.

    It must be best without a delta too, as it nearly always is. From public numbers alone.

    >>> [needs_delta([2] * columns, 0.5, 1e-6, Neighbours.REPLACE_ONE) for columns in (4, 12)]
    [False, True]
    """
    if not delta:
        return False
    plan = plan_for(sizes, epsilon, Filter(epsilon, delta).rho, neighbours)
    return not plan.joint or plan.gaussian or not plan_for(sizes, epsilon, 0.0, neighbours).joint


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
