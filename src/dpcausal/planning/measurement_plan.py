"""The one plan of ``measured``: what will be measured, with which noise, shares and levels, before any data is seen.

``plan_measurement`` makes it once, from public numbers (``PublicNumbers``). The driver executes it, forecasts read it,
a release stores it, and ``dc.Plan`` can be saved to a file and executed from it. Under add-remove the number of rows is
not public: what leaves least noise (joint or components, Laplace or Gaussian) does not depend on it, the driver
measures it first, and ``for_rows`` plans the rest with what was released.

**Joint or components.** A joint table of m cells has the same noise in every cell, and a pair sums m/(r c) of them. It
answers every question, and is taken where a pair has less noise so than by components: single columns, then pairs.

**Noise.** Laplace for a pure budget; with a delta, whichever of Laplace and Gaussian leaves less noise in a pair.

**Larger tables** (``larger``) are measured where the noise in a pair is below its sampling error, or small in itself:
columns and pairs then have half of the budget, and the tables of each order half of what is left. Elsewhere the rest
goes to the most promising pairs, in rounds.

**A tree.** With many columns a look at every pair is dear: its noise grows with the number of columns. Where noise is
large, a mechanism chooses pairs that join all columns, and these alone are measured.

**Levels.** Noise in a correlation grows with the number of levels, what a table can show hardly does. So a column with
more levels than noise leaves room for is measured with levels merged (``merged_levels``): neighbouring ones where they
have an order, else so that groups are of like size; a level for missing values stays apart. What two columns keep of a
dependence then is ``MeasurementPlan.retained``.

**A target.** Pairs with the one column that is asked about come first, then those among it and the columns that look
most promising.

**What noise to expect** (``variance``). Which pairs are promising depends on the data, so as many, spread evenly over
the columns, stand for them; a pair that is asked about is taken to be one of them. Of larger tables ``SETS_PER_COLUMN``
a column are assumed, fewer where there are not so many or the driver would not measure so many.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any, NamedTuple

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.data.columns import Numeric, has_order, missing_place
from dpcausal.data.schema import Schema
from dpcausal.planning.settings import SETTINGS, MeasuredSettings, acceptance_threshold
from dpcausal.privacy.accounting.composition import Filter, PartOfTotal
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.base import INTEGERS, Grid
from dpcausal.privacy.mechanisms.selection import epsilon_per_round
from dpcausal.stats.components import (
    STEP,
    Columns,
    component_absolute,
    component_sensitivity,
    sets_sensitivity,
)
from dpcausal.stats.joint_graphs import steps_for
from dpcausal.stats.pair_distance import MEAN_ABSOLUTE, distance_sensitivity

Noise = Laplace | Gaussian


def noise_variance(mechanism: Noise) -> float:
    """Return the variance of the noise in one cell, in rows squared."""
    if isinstance(mechanism, Gaussian):
        return mechanism.sigma**2
    step = mechanism.on.step
    decay = math.exp(-step / mechanism.scale)
    return 2.0 * decay / (1.0 - decay) ** 2 * step**2


@proved("measurement_plan.proof.md")
def joint_mechanism(
    cells: int, total: float, neighbours: Neighbours, *, gaussian: bool, whole: bool = True
) -> Noise:
    """Return the mechanism for one joint table; ``total`` is rho or epsilon.

    ``whole``: counts are whole numbers, which they are not where several rows of a person are averaged.
    """
    grid = INTEGERS if whole else Grid(STEP)
    moved = 1.0 if neighbours is Neighbours.ADD_REMOVE else 2.0
    if not gaussian:
        return Laplace(sensitivity=moved, epsilon=total, neighbours=neighbours, size=cells, grid=grid)
    reach = math.nextafter(math.sqrt(moved), math.inf) if moved > 1 else 1.0
    return Gaussian(sensitivity=reach, rho=total, neighbours=neighbours, size=cells, grid=grid)


@proved("measurement_plan.proof.md")
def components_mechanism(
    sets: Sequence[Columns], sizes: Sequence[int], total: float, neighbours: Neighbours, *, gaussian: bool
) -> Noise:
    """Return the mechanism for these components together; ``total`` is rho or epsilon."""
    cells = sum(math.prod(sizes[j] for j in columns) for columns in sets)
    if not gaussian:
        absolute = sets_sensitivity(sets, sizes, neighbours, norm=1)
        return Laplace(
            sensitivity=absolute, epsilon=total, neighbours=neighbours, size=cells, grid=Grid(STEP)
        )
    reach = math.nextafter(math.sqrt(sets_sensitivity(sets, sizes, neighbours)), math.inf)
    return Gaussian(sensitivity=reach, rho=total, neighbours=neighbours, size=cells, grid=Grid(STEP))


def components_noise(
    sets: Sequence[Columns], sizes: Sequence[int], total: float, neighbours: Neighbours, *, gaussian: bool
) -> float:
    """Return the noise variance of these components measured together; ``total`` is rho or epsilon."""
    return noise_variance(components_mechanism(sets, sizes, total, neighbours, gaussian=gaussian))


def merged_levels(
    counts: Sequence[float], most: int, *, ordered: bool, apart: int | None = None
) -> tuple[int, ...]:
    """Return the group of every level when levels are merged to at most ``most`` groups of similar size.

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


def retained_by_groups(groups: Sequence[int], *, ordered: bool, apart: int | None = None) -> float:
    """Return the share of a squared dependence that a column retains when its levels are merged to these groups.

    With an order, that of a trend: the variance of ranks between groups over all of it, for equally common levels.
    Without one, the mean over dependences of every kind: groups leave g - 1 of r - 1 dimensions. ``apart`` is the place
    of a level for missing values, which is never merged: the others count.

    >>> retained_by_groups((0, 0, 1, 1), ordered=True), retained_by_groups((0, 1, 1, 1), ordered=False)
    (0.8, 0.3333333333333333)
    >>> retained_by_groups((0, 1, 2), ordered=False), retained_by_groups((0, 0, 1, 1, 2), ordered=True, apart=4)
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
def retained_by_most(size: int, most: int, *, ordered: bool) -> float:
    """Return the share of information that remains if a column of equally common levels is merged to ``most``.

    >>> retained_by_most(4, 2, ordered=True), retained_by_most(3, 3, ordered=False)
    (0.8, 1.0)
    """
    if size <= most:
        return 1.0
    return retained_by_groups(merged_levels([1.0] * size, most, ordered=ordered), ordered=ordered)


def mostly_numbers(columns: Sequence[str], numeric: Collection[str]) -> bool:
    """Return whether more than half of the columns are numeric: public."""
    return 2 * sum(name in numeric for name in columns) > len(columns)


MAX_JOINT_CELLS = 1 << 18
MAX_TREE_COLUMNS = 500  # beyond, a choice among all pairs takes too long
MIN_SHARE = 0.01  # of the budget, below which no more is measured
SETS_PER_COLUMN = 12
NOT_MEASURED = 1e9  # times the noise of a pair stands for what is never measured


class ColumnKind(NamedTuple):
    """What a plan knows of a column: declared levels; whether they have an order, one for missing values, are bins."""

    size: int
    ordered: bool = False
    missing: bool = False
    number: bool = False


@dataclass(frozen=True)
class PublicNumbers:
    """What a plan is made from."""

    columns: tuple[ColumnKind, ...]  # in the order of the schema
    rows: float | None  # public, released, or a guess; None: protected, and not released yet
    epsilon: float
    delta: float
    neighbours: Neighbours
    target: int | None = None  # the place of the one column that is asked about
    reserve: float = 0.0  # the share of the total that is kept for later
    part: PartOfTotal | None = None  # which of two rounds this is, where they share the total

    @classmethod
    def of_schema(
        cls,
        schema: Schema,
        rows: float | None,
        epsilon: float,
        delta: float,
        neighbours: Neighbours,
        target: str | None = None,
        reserve: float = 0.0,
    ) -> PublicNumbers:
        """Return the public numbers of a schema; ``target`` names a column."""
        kinds = tuple(
            ColumnKind(
                column.size, has_order(column), missing_place(column) is not None, isinstance(column, Numeric)
            )
            for column in schema.values()
        )
        place = None if target is None else list(schema).index(target)
        return cls(kinds, rows, epsilon, delta, neighbours, place, reserve)

    @classmethod
    def of_sizes(
        cls,
        sizes: Sequence[int],
        rows: float | None,
        epsilon: float,
        delta: float,
        neighbours: Neighbours,
        target: int | None = None,
        *,
        ordered: bool = False,
    ) -> PublicNumbers:
        """Return the public numbers of columns with these numbers of levels."""
        kinds = tuple(ColumnKind(size, ordered or size <= 2) for size in sizes)
        return cls(kinds, rows, epsilon, delta, neighbours, target)

    @cached_property
    def total(self) -> Filter:
        """The filter on what the search may spend."""
        whole = Filter(self.epsilon, self.delta)
        if self.part is not None:
            return whole.part(self.part)
        return whole.without(self.reserve) if self.reserve else whole

    def amount(self, *, gaussian: bool) -> float:
        """Return the total in the unit that shares are of: rho for Gaussian noise, epsilon for Laplace noise."""
        return self.total.rho if gaussian else self.total.epsilon

    @property
    def rows_or_one(self) -> float:
        """The number of rows to calculate with; 1 while it is unknown."""
        return max(self.rows or 1.0, 1.0)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Declared numbers of levels."""
        return tuple(column.size for column in self.columns)

    @property
    def pairs(self) -> list[Columns]:
        """The pairs of columns that are measured first: all, or those with the target."""
        every = combinations(range(len(self.columns)), 2)
        return [pair for pair in every if self.target is None or self.target in pair]


@dataclass(frozen=True)
class Shares:
    """Parts of the budget, in the order in which they are spent; what is left goes to larger tables."""

    rows: float = 0.0
    levels: float = 0.0
    singles: float = 0.0
    choice: float = 0.0
    pairs: float = 0.0
    again: tuple[float, ...] = ()

    @property
    def left(self) -> float:
        """The share of the budget that remains for larger tables."""
        return 1.0 - math.fsum((self.rows, self.levels, self.singles, self.choice, self.pairs, *self.again))


@dataclass(frozen=True)
class MeasurementPlan:
    """What ``measured`` will measure."""

    public: PublicNumbers  # what it was made from
    joint: bool  # one table over all columns is measured, and nothing else
    gaussian: bool  # or Laplace noise
    levels: tuple[
        int, ...
    ]  # with which each column is measured, at most; one for missing values comes on top
    larger: bool  # tables of three and more columns are asked: measured for it, or margins of the joint table
    shares: Shares  # of the budget, for components
    settings: MeasuredSettings = SETTINGS
    only: tuple[Columns, ...] | None = None  # the pairs that are measured, where chosen beforehand; None: all
    # columns whose levels are merged, with the group of every level, where chosen beforehand
    groups: tuple[tuple[int, tuple[int, ...]], ...] = ()

    def for_rows(self, rows: float) -> MeasurementPlan:
        """Return the plan completed with the number of rows, if it was made without."""
        public = replace(self.public, rows=rows)
        return (
            plan_measurement(public, self.settings)
            if self.public.rows is None
            else replace(self, public=public)
        )

    def at_epsilon(self, epsilon: float) -> MeasurementPlan:
        """Return the plan for the same data with another epsilon."""
        return plan_measurement(replace(self.public, epsilon=epsilon), self.settings)

    @property
    def law(self) -> str:
        """The kind of noise: Laplace or Gaussian."""
        return "Gaussian" if self.gaussian else "Laplace"

    @property
    def total(self) -> float:
        """The budget that shares refer to: rho, or epsilon."""
        return self.public.amount(gaussian=self.gaussian)

    @property
    def tree(self) -> bool:
        """Whether only the pairs of a privately chosen tree over all columns are measured."""
        return self.shares.choice > 0.0

    @property
    def again_count(self) -> int:
        """The number of promising pairs that a further round measures."""
        return again_count(len(self.public.columns), self.settings)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of levels measured for each column: as declared, unless levels are merged."""
        chosen = {j: max(groups) + 1 for j, groups in self.groups}
        return tuple(
            chosen.get(j, min(column.size, most + column.missing))
            for j, (column, most) in enumerate(zip(self.public.columns, self.levels, strict=True))
        )

    @property
    def pairs(self) -> list[Columns]:
        """The pairs of columns that are measured first."""
        return self.public.pairs if self.only is None else list(self.only)

    @property
    def merged(self) -> bool:
        """Whether levels of any column are merged."""
        return self.sizes != self.public.sizes

    def retained(self, x: int, y: int) -> float:
        """Return the share of a dependence (Cohen's w) that two columns retain when their levels are merged."""
        return math.sqrt(self._retained[x] * self._retained[y])

    @cached_property
    def _retained(self) -> list[float]:
        """For every column, the share of its information that merging its levels retains."""
        return [
            retained_by_most(column.size - column.missing, most, ordered=column.ordered)
            for column, most in zip(self.public.columns, self.levels, strict=True)
        ]

    def enough(self, level: float) -> float:
        """Return the evidence from which a pair is an edge."""
        return acceptance_threshold(len(self.public.columns), level, tree=self.tree, settings=self.settings)

    # ---- the noise that is to be expected

    def variance(self, sizes: tuple[int, ...]) -> float:
        """Return the noise variance of a component over columns of these sizes.

        >>> yes_no = PublicNumbers.of_sizes((2,) * 5, 1000, 1.0, 0.0, Neighbours.ADD_REMOVE)
        >>> made = plan_measurement(yes_no)
        >>> made.joint, round(made.variance((2,) * 5), 2), round(made.variance((2, 2)), 2)
        (True, 1.84, 14.73)
        """
        if self.joint:
            return self._cell * (math.prod(self.public.sizes) / math.prod(sizes))
        if len(sizes) < 3:
            return self._first_variances[len(sizes)]
        order = len(sizes) - 1
        share, number = self.share_of_order(order), self._interactions[order]
        if share == 0 or number is None:
            return NOT_MEASURED * self._first_variances[2]
        neighbours = self.public.neighbours
        if self.gaussian:
            return number * component_sensitivity(sizes, neighbours) / (2 * share * self.total)
        return 2 * (number * component_absolute(sizes, neighbours) / (share * self.total)) ** 2

    @cached_property
    def first_look(self) -> float:
        """The noise variance in a pair that is measured once (in a tree: of a pair that is not measured)."""
        if self.joint:
            return pair_variance_of_joint(self.public, gaussian=self.gaussian)
        if self.tree:
            return NOT_MEASURED * self._first_variances[2]
        return self._noise(self.pairs, self.shares.pairs)

    @cached_property
    def _first_variances(self) -> list[float]:
        """The noise variances of the number of rows, of single columns and of pairs, in the first round."""
        d = len(self.sizes)
        rows = self._noise([()], self.shares.rows) if self.shares.rows else 0.0
        singles = self._noise([(j,) for j in range(d)], self.shares.singles)
        if self.tree:
            # in a tree a row can move every pair the most at once: the ends of each are of two kinds
            moved = math.fsum(
                component_sensitivity((self.sizes[i], self.sizes[j]), self.public.neighbours)
                for i, j in spread_pairs(d, d - 1)
            )
            return [rows, singles, moved / (2 * self.shares.pairs * self.total)]
        exactness = 1.0 / self.first_look
        for share in self.shares.again:
            exactness += 1.0 / self._noise(self._again_pairs, share)
        return [rows, singles, 1.0 / exactness]

    @property
    def _again_pairs(self) -> list[Columns]:
        """Pairs that represent the pairs of a further round."""
        d, target = len(self.sizes), self.public.target
        if target is None:
            return spread_pairs(d, self.again_count)
        near = [j for j in range(d) if j != target][: self.settings.near_target]
        return list(combinations(sorted((target, *near)), 2))

    def _noise(self, sets: Sequence[Columns], share: float) -> float:
        """Return the noise variance of measuring these sets with a share of the budget."""
        return components_noise(
            sets, self.sizes, share * self.total, self.public.neighbours, gaussian=self.gaussian
        )

    @cached_property
    def _cell(self) -> float:
        """Noise variance of a cell of the joint table of all columns."""
        return joint_noise(self.public, gaussian=self.gaussian)

    def share_of_order(self, order: int) -> float:
        """Return the share of the budget for tables of an order; 0 where they are not measured."""
        if self.joint:
            return 1.0
        if order < 2:
            return 1.0 - self.shares.left
        if not self.larger:
            return 0.0
        share = next_share(self.shares.left)
        left = self.shares.left
        for _ in range(order - 2):
            left -= share
            share = next_share(left)
        return share

    @cached_property
    def _interactions(self) -> list[int | None]:
        """For each number of columns held fixed, how many interactions of one more are measured; None: none."""
        return [self.interactions(order) for order in range(len(self.sizes))]

    def interactions(self, order: int) -> int | None:
        """Return how many interactions of ``order`` + 1 columns are expected to be measured; None: not at all."""
        if self.joint or order < 2 or self.share_of_order(order) == 0:
            return None
        d, ranked = len(self.sizes), sorted(self.sizes)
        start = (d - order - 1) // 2
        typical = ranked[start : start + order + 1]
        sampling = self.public.rows_or_one / math.prod(typical)
        loud = self.settings.larger_noise * math.sqrt(max(self.first_look, sampling))
        neighbours, budget = self.public.neighbours, self.share_of_order(order) * self.total
        if self.gaussian:
            most = 2 * budget * loud**2 / component_sensitivity(typical, neighbours)
        else:
            most = budget * loud / math.sqrt(2) / component_absolute(typical, neighbours)
        return max(1, min(math.comb(d, order + 1), SETS_PER_COLUMN * d, int(most)))

    def chance_chosen(self, w: float, x: int, y: int) -> float:
        """Return the probability that a tree includes two columns with this dependence w.

        1 where none is chosen. The distance from independence of a table with dependence w is about n w sqrt(2/pi).
        Sampling and noise in the single columns, from which expected counts come, add to all distances and hide part
        of it: squares add up. All other pairs are taken as independent: the largest noise of M of them passes scale
        log(M/(d - 1)) about d - 1 times. Pairs that close a circle of stronger ones are not chosen, which this leaves
        out.
        """
        if not self.tree:
            return 1.0
        rows, d, (r, c) = self.public.rows_or_one, len(self.sizes), (self.sizes[x], self.sizes[y])
        of_singles = self._first_variances[1] * ((1.0 - 1.0 / r) / c**2 + (1.0 - 1.0 / c) / r**2)
        sampling = rows * (1.0 - 1.0 / r) * (1.0 - 1.0 / c) / (r * c)
        by_chance = MEAN_ABSOLUTE * r * c * math.sqrt(of_singles + sampling)
        excess = math.hypot(MEAN_ABSOLUTE * rows * w, by_chance) - by_chance
        far = excess / self._choice_scale - math.log(d / 2)  # M/(d - 1) = d/2
        return -math.expm1(-math.exp(min(far, 700.0)))

    @cached_property
    def _choice_scale(self) -> float:
        """The scale of the noise in a private choice of pairs, in rows."""
        each = epsilon_per_round(len(self.sizes) - 1, None, self.shares.choice * self.total)
        return 2.0 * distance_sensitivity(self.public.neighbours) / each

    # ---- as plain data

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "columns": [list(column) for column in self.public.columns],
            "rows": self.public.rows,
            "epsilon": self.public.epsilon,
            "delta": self.public.delta,
            "neighbours": str(self.public.neighbours),
            "target": self.public.target,
            "reserve": self.public.reserve,
            "joint": self.joint,
            "gaussian": self.gaussian,
            "levels": list(self.levels),
            "larger": self.larger,
            "shares": asdict(self.shares),
            "settings": asdict(self.settings),
            **({} if self.public.part is None else {"part": list(self.public.part)}),
            **({} if self.only is None else {"only": [list(pair) for pair in self.only]}),
            **({"groups": [[j, list(groups)] for j, groups in self.groups]} if self.groups else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MeasurementPlan:
        """Return the plan that ``to_dict`` wrote.

        Raises
        ------
        LookupError, TypeError, ValueError
            If it is no such plan, or its shares pass the budget or leave a step without any.
        """
        public = PublicNumbers(
            tuple(
                ColumnKind(int(size), bool(ordered), bool(missing), *map(bool, number))
                for size, ordered, missing, *number in data["columns"]
            ),
            None if data["rows"] is None else float(data["rows"]),
            float(data["epsilon"]),
            float(data["delta"]),
            Neighbours.parse(data["neighbours"], labels=False),
            None if data["target"] is None else int(data["target"]),
            float(data["reserve"]),
            PartOfTotal(int(data["part"][0]), float(data["part"][1])) if "part" in data else None,
        )
        shares = Shares(**{**data["shares"], "again": tuple(map(float, data["shares"]["again"]))})
        every = (shares.rows, shares.levels, shares.singles, shares.choice, shares.pairs, *shares.again)
        levels = tuple(map(int, data["levels"]))
        if not all(0.0 <= one <= 1.0 for one in every) or shares.left < -1e-12:
            raise ValueError("shares that are no parts of one budget")
        if len(levels) != len(public.columns) or min(levels, default=2) < 2:
            raise ValueError("levels of other columns")
        if data["gaussian"] and public.total.rho <= 0.0:
            raise ValueError("Gaussian noise without a delta")
        if data["joint"] and math.prod(public.sizes) > MAX_JOINT_CELLS:
            raise ValueError("a joint table of too many cells")
        known = {one.name for one in fields(MeasuredSettings)}
        numbers: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in data["settings"].items()
            if name in known
        }
        settings = MeasuredSettings(**numbers)
        found = cls(
            public,
            bool(data["joint"]),
            bool(data["gaussian"]),
            levels,
            bool(data["larger"]),
            shares,
            settings,
            _checked_pairs(data["only"], len(levels)) if "only" in data else None,
            _checked_groups(data.get("groups", ()), public.sizes),
        )
        if not found._pays_for_every_step():
            raise ValueError("shares that leave something to measure without any")
        return found

    def _pays_for_every_step(self) -> bool:
        """Return whether every step of the driver has a share of the budget, and no other has."""
        target, shares = self.public.target, self.shares
        if self.joint:
            return target is None and self.only is None and not self.groups
        if self.groups and {j for j, size in enumerate(self.sizes) if size < self.public.sizes[j]} != set(
            dict(self.groups)
        ):
            return False
        if self.only is not None and (shares.again or target is not None or self.tree or self.larger):
            return False
        steps = [shares.singles, *([shares.pairs] if self.pairs else []), *shares.again]
        steps += [shares.rows] if self.public.neighbours is Neighbours.ADD_REMOVE else []
        steps += [shares.levels] if self.merged and not self.groups else []
        rounds = target is None or len(shares.again) == 1
        return min(steps) > 0.0 and rounds and (not self.tree or (self.gaussian and target is None))


def _checked_pairs(pairs: Sequence[Sequence[int]], columns: int) -> tuple[Columns, ...]:
    """Return pairs of column numbers read from a plan; refuse invalid ones."""
    found = tuple((int(i), int(j)) for i, j in pairs)
    if len(set(found)) < len(found) or not all(0 <= i < j < columns for i, j in found):
        raise ValueError("pairs of columns that are none")
    return found


def _checked_groups(
    data: Sequence[Sequence[Any]], sizes: Sequence[int]
) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Return the groups of levels read from a plan; refuse invalid ones."""
    found = tuple((int(j), tuple(map(int, groups))) for j, groups in data)
    for j, groups in found:
        if not 0 <= j < len(sizes) or len(groups) != sizes[j] or set(groups) != set(range(max(groups) + 1)):
            raise ValueError("groups of levels that are none")
    if len({j for j, _ in found}) < len(found) or any(max(groups) < 1 for _, groups in found):
        raise ValueError("groups of levels that are none")
    return found


def plan_measurement(public: PublicNumbers, settings: MeasuredSettings = SETTINGS) -> MeasurementPlan:
    """Return the plan of what ``measured`` measures, from public numbers.

    >>> few, many = (
    ...     plan_measurement(PublicNumbers.of_sizes((3,) * 9, rows, 1.0, 1e-6, Neighbours.REPLACE_ONE))
    ...     for rows in (1e3, 1e6)
    ... )
    >>> few.larger, len(few.shares.again), many.larger, many.shares.again
    (False, 2, True, ())
    """
    noise = expected_noise(public, settings)
    joint, gaussian = min(noise, key=noise.__getitem__)
    rows, sizes = public.rows_or_one, public.sizes
    if joint:
        noise_in_pair = pair_variance_of_joint(public, gaussian=gaussian)
        larger = should_measure_larger(noise_in_pair, sizes, rows, settings)
        return MeasurementPlan(public, True, gaussian, sizes, larger, Shares(), settings)
    total = public.amount(gaussian=gaussian)
    room = math.sqrt(signal(sizes, rows, total, public.neighbours, settings, gaussian=gaussian))
    tree = gaussian and should_choose_tree(public, room, settings)
    levels = most_levels(public.columns, room, settings, tree=tree)
    plan = MeasurementPlan(public, False, gaussian, levels, False, Shares(), settings)
    left = Shares(
        rows=settings.share_rows if public.neighbours is Neighbours.ADD_REMOVE else 0.0,
        levels=settings.share_levels if plan.merged else 0.0,
        singles=settings.share_singles,
    )
    rest = left.left
    if tree:
        return replace(plan, shares=replace(left, choice=rest / 2, pairs=rest / 2))
    if public.target is not None:
        return replace(plan, shares=replace(left, pairs=rest / 2, again=(rest / 2,)))
    first = min(0.5 - settings.share_singles, rest)
    if should_measure_larger(plan._noise(public.pairs, first), plan.sizes, rows, settings):
        return replace(plan, larger=True, shares=replace(left, pairs=first))
    pairs, again = shares_of_pairs(public, rest, settings)
    return replace(plan, shares=replace(left, pairs=pairs, again=again))


def expected_noise(
    public: PublicNumbers, settings: MeasuredSettings = SETTINGS
) -> dict[tuple[bool, bool], float]:
    """Return the expected noise variance in a pair for each design: (joint table?, Gaussian noise?).

    Every way that the budget allows is there. Of components it is that of a promising pair after all rounds; where
    whole graphs can be scored on the joint table, which is worth more, that of the first look at all pairs. No number
    of rows is needed.
    """
    cells, found = math.prod(public.sizes), {}
    for gaussian in (False, True) if public.total.rho > 0 else (False,):
        found[False, gaussian] = _noise_of_components(public, settings, gaussian=gaussian)
        if public.target is None and cells <= MAX_JOINT_CELLS:
            found[True, gaussian] = pair_variance_of_joint(public, gaussian=gaussian)
    return found


def _noise_of_components(public: PublicNumbers, settings: MeasuredSettings, *, gaussian: bool) -> float:
    """Return the noise variance of a pair, of components of pairs with this kind of noise."""
    total = public.amount(gaussian=gaussian)

    def noise(pairs: Sequence[Columns], share: float) -> float:
        return components_noise(pairs, public.sizes, share * total, public.neighbours, gaussian=gaussian)

    every, rest = public.pairs, 1.0 - settings.share_singles
    if public.target is not None:
        return noise(every, 0.5)
    if steps_for(public.sizes):
        return noise(every, 0.5 - settings.share_singles)
    first, again = shares_of_pairs(public, rest, settings)
    some = spread_pairs(len(public.columns), again_count(len(public.columns), settings))
    return 1.0 / (1.0 / noise(every, first) + math.fsum(1.0 / noise(some, share) for share in again))


def shares_of_pairs(
    public: PublicNumbers, rest: float, settings: MeasuredSettings = SETTINGS
) -> tuple[float, tuple[float, ...]]:
    """Return the shares of the budget for the first measurement of pairs, and for each further round."""
    rounds = settings.rounds_again
    if not rounds or again_count(len(public.columns), settings) >= len(public.pairs):
        return rest, ()
    return rest / 2, (rest / 2 / rounds,) * rounds


def joint_noise(public: PublicNumbers, *, gaussian: bool) -> float:
    """Return the noise variance of a cell of the joint table of all columns, with the whole budget."""
    cells, total = math.prod(public.sizes), public.amount(gaussian=gaussian)
    return noise_variance(joint_mechanism(cells, total, public.neighbours, gaussian=gaussian))


def pair_variance_of_joint(public: PublicNumbers, *, gaussian: bool) -> float:
    """Return the noise variance in a pair summed from a joint table, the mean over pairs."""
    sizes, cells = public.sizes, math.prod(public.sizes)
    summed = math.fsum(cells / (sizes[i] * sizes[j]) for i, j in public.pairs)
    return joint_noise(public, gaussian=gaussian) * summed / len(public.pairs)


def should_measure_larger(
    noise: float, sizes: Sequence[int], rows: float, settings: MeasuredSettings = SETTINGS
) -> bool:
    """Return whether tables of three and more columns are worth their noise; ``sizes`` are levels as measured.

    They are where noise of this variance in a pair of columns is below its sampling error, or small in itself: pairs
    then show what only larger tables can explain away.
    """
    levels = math.exp(sum(map(math.log, sizes)) / len(sizes))
    return noise <= max(rows / levels**2, (settings.larger_small * rows / levels) ** 2)


def signal(
    sizes: Sequence[int],
    rows: float,
    total: float,
    neighbours: Neighbours,
    settings: MeasuredSettings = SETTINGS,
    *,
    gaussian: bool,
) -> float:
    """Return the number of rows over the noise sd in a pair of columns, if all pairs are measured."""
    few, share = tuple(min(size, 3) for size in sizes), 1.0 - settings.share_singles
    return rows / math.sqrt(_noise_of_pairs(few, share * total, neighbours, gaussian))


@lru_cache(maxsize=256)
def _noise_of_pairs(sizes: tuple[int, ...], total: float, neighbours: Neighbours, gaussian: bool) -> float:
    """Return the noise variance of measuring every pair of columns with a budget of ``total``."""
    pairs = list(combinations(range(len(sizes)), 2))
    return components_noise(pairs, sizes, total, neighbours, gaussian=gaussian)


def most_levels(
    columns: Sequence[ColumnKind], room: float, settings: MeasuredSettings = SETTINGS, *, tree: bool = False
) -> tuple[int, ...]:
    """Return how many levels each column may have before levels are merged; ``room`` is the root of ``signal``."""
    unordered = settings.levels_in_tree if tree else settings.levels_unordered

    def factor(column: ColumnKind) -> float:
        if column.number:
            return settings.levels_of_numbers
        return settings.levels_ordered if column.ordered else unordered

    return tuple(max(2, round(factor(column) * room)) for column in columns)


def should_choose_tree(public: PublicNumbers, room: float, settings: MeasuredSettings = SETTINGS) -> bool:
    """Return whether to choose privately a tree of pairs and measure only these, with more levels.

    With many columns and much noise that finds more: a choice costs far less than measuring every pair. With less noise
    it loses what is not in a tree, and a trend is found as well in merged levels.
    """
    columns = public.columns
    trends = sum(column.ordered and column.size > 2 for column in columns)
    if not settings.tree_columns <= len(columns) <= MAX_TREE_COLUMNS or 2 * trends > len(columns):
        return False
    if public.target is not None or sum(public.sizes) < settings.tree_levels * len(columns):
        return False
    retained = [
        retained_by_most(column.size - column.missing, few, ordered=column.ordered)
        for column, few in zip(columns, most_levels(columns, room, settings), strict=True)
    ]
    return room**2 * (math.fsum(retained) / len(retained)) ** 2 <= settings.tree_signal


def next_share(left: float) -> float:
    """Return the share for tables of the next order: half of what remains, 0 where that is too little."""
    return left / 2 if left / 2 >= MIN_SHARE else 0.0


def again_count(columns: int, settings: MeasuredSettings = SETTINGS) -> int:
    """Return how many promising pairs a further round measures."""
    return math.ceil(settings.again_per_column * columns)


def spread_pairs(columns: int, number: int) -> list[Columns]:
    """Return ``number`` pairs in which every column occurs about equally often.

    >>> spread_pairs(4, 5)
    [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)]
    """
    steps = range(1, columns // 2 + 1)
    every = dict.fromkeys(tuple(sorted((i, (i + step) % columns))) for step in steps for i in range(columns))
    return sorted(list(every)[:number])
