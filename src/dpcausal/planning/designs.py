"""What ``method="measured"`` will measure, how much noise that leaves, and what each order of questions can show.

``NoiseDesign`` is the driver's own plan, asked before any data:

- **joint**: one table over all columns takes the whole budget (``measurement.py`` says when). A margin that sums m of
  its cells has m times the variance of one.
- **components**: all single columns and pairs first. Where levels are too many for the noise they are merged, equally
  common ones to as many as ``most_levels`` leaves. ``schedule_for`` then says what the rest goes to: to rounds on the
  most promising pairs, or to larger tables. A pair that is asked about is taken to be promising: its noise is that of
  all rounds together. Which pairs are depends on the data, so ``again_count`` of them, spread evenly over the columns,
  stand for them. With a target only pairs with it are measured first, then those among ``TARGET_NEAR`` columns and it.
- **a tree** (``tree_pays`` says when): single columns, then pairs that join all of them, chosen by the exponential
  mechanism. A pair is found if it is chosen and then shows. ``chance_chosen`` takes all other pairs as independent: the
  largest noise of M of them passes scale log(M/(d - 1)) about d - 1 times.
- **larger tables**: for every order m of 2 and more the interactions of m + 1 columns that its questions need. How
  many depends on the graph: ``SETS_PER_COLUMN`` a column are assumed, fewer where there are not so many or the driver
  would not measure so many (its noise is bounded). T interactions of squared l2 sensitivity D^2 have variance
  T D^2/(2 rho) in every direction (Gaussian), of l1 sensitivity D 2 (T D/epsilon)^2 (Laplace).

**What finds an edge.** The forward search takes a pair whose evidence passes ``enough`` (``power.py``: the same as a
test at a level of its own), whatever is given, sets of up to ``MAX_SET`` columns being asked from pairs alone. Where
larger tables pay, the test of every order must reject besides. So without larger tables the questions of orders 0 to
``MAX_SET`` stand on the noise of a pair, and no larger order is asked.

``OrderPlan`` is one order of a plan. Columns differ in size, so an order has tables of many sizes: ``typical`` takes
the middle of the columns sorted by size, ``largest`` the columns with most levels; both are sets of m + 2 columns, x
and y being the largest of them.

``least_kept`` is the smallest dependence that ``priv-pc`` keeps with a stated probability when it is asked about, for
comparison. Its score counts K = sum (observed - expected) over 2 x 2 tables (``discovery/scores.py``); a dependence w
that is the same in every block and lies along one split with shares a and b moves it by n w sqrt(a(1-a) b(1-b)). The
edge stays with probability 1 - false_hit((|K| - T sqrt(V))/D), averaged over K, normal with variance
V = n a(1-a) b(1-b). An edge is asked about many times, and each time may remove it: this is the chance for one.

``reach`` is what a budget could show at all: the smallest dependence that a plan expects to find.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import ndtri

from dpcausal.core.neighbours import Neighbours
from dpcausal.planning.enough import SHOWN, clarity_of, enough_evidence
from dpcausal.planning.measurement import (
    MAX_TRIPLE_NOISE_RATIO,
    MIN_SE_BY_ORDER,
    SHARE_LEVELS,
    SHARE_OF_REST,
    SHARE_ROWS,
    SHARE_SINGLES,
    SHARE_TRIPLES,
    MeasurementPlan,
    Schedule,
    again_count,
    components_mechanism,
    joint_mechanism,
    kept_by_most,
    larger_pay,
    most_levels,
    noise_variance,
    plan_for,
    schedule_for,
    tree_pays,
)
from dpcausal.planning.power import (
    Expected,
    least_by_evidence,
    least_dependence,
    margin,
    power_of,
    power_of_evidence,
    would_show,
)
from dpcausal.planning.sieve import SHARE, SieveDesign, once, resolution, rounds
from dpcausal.planning.sieve import SieveDesign as Sieve
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.privacy.mechanisms.selection import epsilon_per_round
from dpcausal.stats.components import Columns, component_absolute, component_sensitivity
from dpcausal.stats.contrasts import MEDIUM
from dpcausal.stats.evidence import score_sensitivity
from dpcausal.stats.pair_distance import MEAN_ABSOLUTE, distance_sensitivity

MIN_SHARE = 0.01  # of the budget, below which no more is measured
SETS_PER_COLUMN = 12
MAX_SET = 2  # columns in a set that the forward search asks about (``discovery/forward.py``)
TARGET_NEAR = 7  # columns measured again with a target (``discovery/target.py``)
NEVER = 1e9  # times the noise of a pair stands for what is never measured


def spread_pairs(columns: int, number: int) -> list[Columns]:
    """So many pairs that every column is in about as many.

    >>> spread_pairs(4, 5)
    [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)]
    """
    steps = range(1, columns // 2 + 1)
    every = dict.fromkeys(tuple(sorted((i, (i + step) % columns))) for step in steps for i in range(columns))
    return sorted(list(every)[:number])


def least_free(order: int) -> float:
    """Standard errors that the rows free to differ must be worth before the driver says "independent"."""
    return float(MIN_SE_BY_ORDER[min(order, len(MIN_SE_BY_ORDER) - 1)])


Kind = tuple[int, int, bool]


@dataclass(frozen=True)
class NoiseDesign:
    """The noise of every table under a budget."""

    sizes: tuple[int, ...]
    rows: int
    epsilon: float
    delta: float
    neighbours: Neighbours
    target: int | None = None  # the one column that is asked about
    ordered: tuple[bool, ...] = ()  # which columns have levels with an order; empty: none

    def with_epsilon(self, epsilon: float) -> NoiseDesign:
        """The same with another epsilon."""
        return replace(self, epsilon=epsilon)

    @cached_property
    def rho(self) -> float:
        """What the total allows."""
        return Filter(self.epsilon, self.delta).rho

    @cached_property
    def plan(self) -> MeasurementPlan:
        """The driver's."""
        if self.target is not None:
            return self._target_plan()
        return plan_for(self.sizes, self.epsilon, self.rho, self.neighbours)

    def _target_plan(self) -> MeasurementPlan:
        found = []
        for gaussian in (False, True) if self.rho > 0 else (False,):
            total = self.rho if gaussian else self.epsilon
            mechanism = components_mechanism(
                self._first_pairs, self.sizes, total / 2, self.neighbours, gaussian=gaussian
            )
            found.append(MeasurementPlan(False, gaussian, noise_variance(mechanism)))
        return min(found, key=lambda plan: plan.pair_variance)

    @property
    def _first_pairs(self) -> list[Columns]:
        """All pairs, or those with the target."""
        every = combinations(range(len(self.sizes)), 2)
        return [pair for pair in every if self.target is None or self.target in pair]

    @property
    def _again_pairs(self) -> list[Columns]:
        """Pairs that stand for those of a further round."""
        d = len(self.sizes)
        if self.target is None:
            return spread_pairs(d, again_count(d))
        near = [j for j in range(d) if j != self.target][:TARGET_NEAR]
        return list(combinations(sorted((self.target, *near)), 2))

    @property
    def joint(self) -> bool:
        """Whether one table over all columns is measured."""
        return self.plan.joint

    @property
    def law(self) -> str:
        """Laplace or Gaussian."""
        return "Gaussian" if self.plan.gaussian else "Laplace"

    @property
    def _total(self) -> float:
        return self.rho if self.plan.gaussian else self.epsilon

    @property
    def _public(self) -> tuple[tuple[int, ...], Sequence[bool], int, float, Neighbours]:
        """What says how levels are merged, and whether a tree is chosen."""
        ordered = self.ordered or (False,) * len(self.sizes)
        return self.sizes, ordered, max(self.rows, 1), self._total, self.neighbours

    @cached_property
    def tree(self) -> bool:
        """Whether pairs that join all columns are chosen, and measured alone."""
        if self.joint or self.target is not None:
            return False
        return tree_pays(*self._public, gaussian=self.plan.gaussian)

    def enough(self, level: float) -> float:
        """Evidence that makes an edge."""
        return enough_evidence(len(self.sizes), level, tree=self.tree, clarity=self._clarity)

    @cached_property
    def _clarity(self) -> float:
        """Rows over the noise in a pair at the first look at all of them; infinite where there is none."""
        if self.joint or self.tree:
            return math.inf
        return clarity_of(max(self.rows, 1), self.first_look)

    def chance_chosen(self, w: float, x: int, y: int) -> float:
        """Chance that two columns with this dependence (of levels as measured) are chosen for a tree; 1: none is.

        The distance from independence of a table with dependence w is about n w sqrt(2/pi). Sampling and noise in the
        single columns, from which expected counts come, add to all distances, and hide part of it: squares add up.
        Pairs that close a circle of stronger ones are not chosen, which this leaves out.

        >>> few = NoiseDesign((3,) * 30, 1_000, 1.0, 1e-6, Neighbours.ADD_REMOVE)
        >>> few.tree, round(few.chance_chosen(0.0, 0, 1), 2), few.chance_chosen(0.5, 0, 1) > 0.99
        (True, 0.06, True)
        """
        if not self.tree:
            return 1.0
        d, (r, c) = len(self.sizes), (self.measured[x], self.measured[y])
        of_singles = self._levels[1] * ((1.0 - 1.0 / r) / c**2 + (1.0 - 1.0 / c) / r**2)
        sampling = self.rows * (1.0 - 1.0 / r) * (1.0 - 1.0 / c) / (r * c)
        by_chance = MEAN_ABSOLUTE * r * c * math.sqrt(of_singles + sampling)
        excess = math.hypot(MEAN_ABSOLUTE * self.rows * w, by_chance) - by_chance
        far = excess / self._choice_scale - math.log(d / 2)  # M/(d - 1) = d/2
        return -math.expm1(-math.exp(min(far, 700.0)))

    @cached_property
    def _choice_scale(self) -> float:
        """Of the noise in a choice, in rows."""
        each = epsilon_per_round(len(self.sizes) - 1, None, self.schedule.choice * self.rho)
        return 2.0 * distance_sensitivity(self.neighbours) / each

    @cached_property
    def measured(self) -> tuple[int, ...]:
        """Numbers of levels that are measured, as many as declared unless merged."""
        if self.joint:
            return self.sizes
        most = most_levels(*self._public, gaussian=self.plan.gaussian, tree=self.tree)
        return tuple(map(min, self.sizes, most))

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """Of every column: how many levels are measured, how many declared, and whether they have an order."""
        return tuple(zip(self.measured, self.sizes, self.ordered or [False] * len(self.sizes), strict=True))

    def kept(self, x: int, y: int) -> float:
        """Part of a dependence (Cohen's w) that two columns keep when their levels are merged."""
        squares = [
            kept_by_most(size, most, ordered=order) for most, size, order in (self.kinds[x], self.kinds[y])
        ]
        return math.sqrt(math.prod(squares))

    @property
    def merged(self) -> bool:
        """Whether levels of some columns are merged."""
        return self.measured != self.sizes

    @cached_property
    def schedule(self) -> Schedule:
        """Shares of the components, after the number of rows and the levels to be merged."""
        if self.target is not None:
            rest = (self._left - SHARE_SINGLES) / 2
            return Schedule(SHARE_SINGLES, rest, (rest,), False)
        return schedule_for(
            self.measured,
            max(self.rows, 1),
            self._left,
            self._total,
            self.neighbours,
            gaussian=self.plan.gaussian,
            tree=self.tree,
            ordered=self.ordered,
        )

    @property
    def _left(self) -> float:
        before = SHARE_ROWS if self.neighbours is Neighbours.ADD_REMOVE else 0.0
        return 1.0 - before - (SHARE_LEVELS if self.merged else 0.0)

    @cached_property
    def larger(self) -> bool:
        """Whether tables of three and more columns pay, or a joint table is asked as a whole."""
        if not self.joint:
            return self.schedule.larger
        return larger_pay(self.plan.pair_variance, self.sizes, max(self.rows, 1))

    def asked(self, order: int) -> bool:
        """Whether questions of this order are asked at all: from pairs, or from larger tables."""
        return order <= MAX_SET or (self.larger and self.share(order) > 0)

    def _noise(self, sets: Sequence[Columns], share: float) -> float:
        mechanism = components_mechanism(
            sets, self.measured, share * self._total, self.neighbours, gaussian=self.plan.gaussian
        )
        return noise_variance(mechanism)

    @cached_property
    def _levels(self) -> dict[int, float]:
        """Variance by number of columns, up to pairs; components only."""
        d, add = len(self.sizes), self.neighbours is Neighbours.ADD_REMOVE
        found = {0: self._noise([()], SHARE_ROWS) if add else 0.0}
        found[1] = self._noise([(j,) for j in range(d)], self.schedule.singles)
        if self.tree:
            # in a tree a row can move every pair the most at once: the ends of each are of two kinds
            moved = math.fsum(
                component_sensitivity((self.measured[i], self.measured[j]), self.neighbours)
                for i, j in spread_pairs(d, d - 1)
            )
            found[2] = moved / (2 * self.schedule.pairs * self.rho)
            return found
        exactness = 1.0 / self.first_look
        for share in self.schedule.again:
            exactness += 1.0 / self._noise(self._again_pairs, share)
        found[2] = 1.0 / exactness
        return found

    @cached_property
    def first_look(self) -> float:
        """Variance of the noise in a pair that is not measured again; where only some pairs are, of one that is not."""
        if self.joint:
            return self.plan.pair_variance
        if self.tree:
            return NEVER * self._levels[2]
        return self._noise(self._first_pairs, self.schedule.pairs)

    @cached_property
    def _cell(self) -> float:
        mechanism = joint_mechanism(
            math.prod(self.sizes), self._total, self.neighbours, gaussian=self.plan.gaussian
        )
        return noise_variance(mechanism)

    def variance(self, columns: tuple[int, ...]) -> float:
        """Of the noise in every direction of the component over columns with these numbers of levels.

        >>> yes_no = NoiseDesign((2,) * 5, 1000, 1.0, 0.0, Neighbours.ADD_REMOVE)
        >>> yes_no.joint, round(yes_no.variance((2,) * 5), 2), round(yes_no.variance((2, 2)), 2)
        (True, 1.84, 14.73)
        """
        if self.joint:
            return self._cell * (math.prod(self.sizes) / math.prod(columns))
        if len(columns) < 3:
            return self._levels[len(columns)]
        order = len(columns) - 1
        share, number = self.share(order), self._numbers[order]
        if share == 0 or number is None:
            return NEVER * self._levels[2]
        if self.plan.gaussian:
            return number * component_sensitivity(columns, self.neighbours) / (2 * share * self.rho)
        return 2 * (number * component_absolute(columns, self.neighbours) / (share * self.epsilon)) ** 2

    def share(self, order: int) -> float:
        """Part of the budget for the tables of that order; 0 where larger tables do not pay."""
        if self.joint:
            return 1.0
        schedule = self.schedule
        first = schedule.singles + schedule.choice + schedule.pairs + math.fsum(schedule.again)
        if order < 2:
            return first
        left = self._left - first
        if not schedule.larger or left <= 0:
            return 0.0
        share = min(SHARE_TRIPLES, left)
        for _ in range(order - 2):
            left -= share
            share = SHARE_OF_REST * left
        return share if share >= MIN_SHARE else 0.0

    @cached_property
    def _numbers(self) -> list[int | None]:
        return [self.interactions(order) for order in range(len(self.sizes))]

    def interactions(self, order: int) -> int | None:
        """How many interactions of ``order`` + 1 columns are assumed to be measured for it; None: no such thing."""
        if self.joint or order < 2 or self.share(order) == 0:
            return None
        d, ranked = len(self.sizes), sorted(self.measured)
        start = (d - order - 1) // 2
        typical = ranked[start : start + order + 1]
        loud = MAX_TRIPLE_NOISE_RATIO * math.sqrt(
            max(self.plan.pair_variance, self.rows / math.prod(typical))
        )
        if self.plan.gaussian:
            room = 2 * self.share(order) * self.rho * loud**2
            most = room / component_sensitivity(typical, self.neighbours)
        else:
            room = self.share(order) * self.epsilon * loud / math.sqrt(2)
            most = room / component_absolute(typical, self.neighbours)
        return max(1, min(math.comb(d, order + 1), SETS_PER_COLUMN * d, int(most)))


MAX_LEVELS_ALL_SPLITS = 5


def chosen(pairs: int, epsilon: float, delta: float, neighbours: Neighbours) -> SieveDesign:
    """The way to decide that ``priv-pc`` takes by itself."""
    total = Filter(epsilon, delta)
    ways = [once(total, pairs, SHARE, neighbours)]
    if total.rho > 0:
        ways.append(rounds(total, pairs, SHARE, neighbours, None, None))
    return min(ways, key=lambda way: resolution(way.false_hit))


def _splits(size: int) -> int:
    """How many two-way splits of unordered levels are looked at."""
    return size if size > MAX_LEVELS_ALL_SPLITS else 2 ** (size - 1) - 1


def least_kept(
    table: Expected, way: SieveDesign, neighbours: Neighbours, level: float, wanted: float
) -> float:
    """The w that one question keeps with probability ``wanted``."""
    spread = 1.0
    for size in (table.x, table.y):
        p = np.sort(margin(size, table.share))
        ends = np.cumsum(p)[:-1]
        side = float(ends[np.argmin(np.abs(ends - 0.5))])
        spread *= side * (1 - side)
    unit, deviation = table.rows * math.sqrt(spread), math.sqrt(table.rows * spread)
    threshold = float(-ndtri(level / (2 * _splits(table.x) * _splits(table.y))))
    scale = score_sensitivity(neighbours, math.prod(table.given))
    points = ndtri((np.arange(32) + 0.5) / 32)

    def kept(w: float) -> float:
        seen = np.abs(unit * w + deviation * points) - threshold * deviation
        return 1 - float(np.mean([way.false_hit(x) for x in seen / scale]))

    low, high = 0.0, 1e-3
    while kept(high) < wanted and high < 1e6:
        high *= 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if kept(middle) < wanted else (low, middle)
    return high


GRID_PER_DECADE = 4  # epsilons tried between 1 and 10 where the largest is not enough
MIN_EPSILON, MAX_EPSILON, STEPS_PER_DECADE = (
    1e-4,
    1e4,
    200,
)  # of the epsilons tried, and how many of them between 1 and 10


@dataclass(frozen=True)
class Aim:
    """What is asked of the tests: level, power, and the dependence w that should be found."""

    rows: int
    level: float
    power: float
    effect: float
    share: float | None
    pair: tuple[int, int] | None = None  # places of the two columns asked about; None: typical ones


@dataclass(frozen=True)
class OrderPlan:
    """What to expect at one order; dependences are Cohen's w (``power.py``), found with the power asked for.

    ``testable``: whether the driver will answer "independent" at all. ``questions`` there can be, ``interactions``
    assumed to be measured for them (None: it needs none). ``places`` of x, y and what is given among the columns with
    two levels or more (``largest``: in the largest tables). ``count``, ``sampling_sd`` and ``noise_sd`` are of a cell
    of the largest table that a test needs. ``noise_share``: part of the variance of the statistic that is noise;
    ``worth``: rows without noise that would show as much. ``smallest`` is w in the typical tables,
    ``smallest_changing`` where its direction changes between conditioning cells (None: not seen, or order 0),
    ``smallest_largest`` in the largest tables, ``smallest_exact`` without any noise, ``smallest_priv_pc`` for one
    question of priv-pc. ``epsilon_enough``: with which ``effect`` is found in typical tables and, above order 2, the
    order is testable; None where the rows are too few for any epsilon (or one above 10,000).
    """

    order: int
    testable: bool
    questions: int
    interactions: int | None
    x: int
    y: int
    given: tuple[int, ...]
    places: tuple[int, ...]
    largest: tuple[int, ...]
    count: float
    sampling_sd: float
    noise_sd: float
    noise_share: float
    worth: float
    smallest: float
    smallest_changing: float | None
    smallest_largest: float
    smallest_exact: float
    smallest_priv_pc: float
    epsilon_enough: float | None

    @property
    def noise_ratio(self) -> float:
        """Noise over sampling error in one cell."""
        return self.noise_sd / self.sampling_sd

    @property
    def mutual_information(self) -> float:
        """About what ``smallest`` is in bits: w^2/(2 ln 2)."""
        return self.smallest**2 / (2 * math.log(2))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            **asdict(self),
            "noise_ratio": self.noise_ratio,
            "smallest_mutual_information_bits": self.mutual_information,
        }


def places_of(
    sizes: tuple[int, ...], order: int, which: str, pair: tuple[int, int] | None = None
) -> tuple[int, ...]:
    """Places of x, y and the columns given that stand for the order; a ``pair`` asked about is x and y of "typical".

    >>> places_of((2, 2, 3, 4, 9), 1, "typical"), places_of((2, 2, 3, 4, 9), 1, "typical", (0, 4))
    ((3, 2, 1), (4, 0, 2))
    """
    if pair is not None and which == "typical":
        rest = sorted((j for j in range(len(sizes)) if j not in pair), key=lambda j: sizes[j])
        start = (len(rest) - order) // 2
        x, y = sorted(pair, key=lambda j: -sizes[j])
        return x, y, *rest[start : start + order]
    ranked = sorted(range(len(sizes)), key=lambda j: sizes[j])
    start = (len(ranked) - order - 2) // 2 if which == "typical" else len(ranked) - order - 2
    *given, y, x = ranked[start : start + order + 2]
    return x, y, *given


def table_at(design: NoiseDesign, places: tuple[int, ...], aim: Aim) -> Expected:
    """The tables that questions about these columns stand on under ``design``: the pair alone, or all of them."""
    x, y, *given = (design.measured[j] for j in places)
    if design.larger:
        return Expected(aim.rows, x, y, tuple(given), aim.share, design.variance, design.joint)
    return pair_at(design, places, aim, NEVER if not design.asked(len(given)) else 1.0)


def pair_at(design: NoiseDesign, places: tuple[int, ...], aim: Aim, louder: float = 1.0) -> Expected:
    """The table of x and y alone, with so many times the noise."""
    x, y = (design.measured[j] for j in places[:2])

    def noise(columns: tuple[int, ...]) -> float:
        return louder * design.variance(columns)

    return Expected(aim.rows, x, y, (), aim.share, noise)


def expected(design: NoiseDesign, order: int, which: str, aim: Aim) -> Expected:
    """The tables that stand for the order under ``design``."""
    return table_at(design, stands_for(design, order, which, aim), aim)


def stands_for(design: NoiseDesign, order: int, which: str, aim: Aim) -> tuple[int, ...]:
    """Places of the columns that stand for the order: with the target, where there is one."""
    if design.target is None or aim.pair is not None:
        return places_of(design.sizes, order, which, aim.pair)
    others = sorted(
        (j for j in range(len(design.sizes)) if j != design.target), key=lambda j: design.sizes[j]
    )
    other = others[len(others) // 2] if which == "typical" else others[-1]
    return places_of(design.sizes, order, "typical", (design.target, other))


def least_found(design: NoiseDesign, places: tuple[int, ...], aim: Aim) -> float:
    """The least w that is found with the power asked for: by its evidence, and by the test where that is asked.

    It is that of levels as declared; groups that they are merged to keep part of it (``NoiseDesign.kept``).
    """
    enough = design.enough(aim.level)
    table, kept = table_at(design, places, aim), design.kept(*places[:2])
    if design.tree:
        return _least_in_tree(design, table, enough, aim.power, places[:2]) / kept
    if not table.given and not design.asked(len(places) - 2):
        return least_by_evidence(table, enough, aim.power) / kept
    by_evidence = least_by_evidence(pair_at(design, places, aim), enough, aim.power)
    if not table.given:
        return by_evidence / kept
    return max(by_evidence, least_dependence(table, aim.level, aim.power)) / kept


def _least_in_tree(
    design: NoiseDesign, table: Expected, enough: float, power: float, places: tuple[int, ...]
) -> float:
    """The least w that is chosen and then found with this probability."""

    def found(w: float) -> bool:
        return power_of_evidence(table, w, enough) * design.chance_chosen(w, *places) >= power

    low = least_by_evidence(table, enough, power)
    high = low
    while not found(high) and high < 1e6:
        low, high = high, 1.5 * high
    for _ in range(20 if high > low else 0):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def power_at(
    design: NoiseDesign, places: tuple[int, ...], w: float, aim: Aim, *, at_best: bool = False
) -> float:
    """Chance that a dependence w of levels as declared is found; ``at_best``: if merged levels keep all of it."""
    table = table_at(design, places, aim)
    w *= 1.0 if at_best else design.kept(*places[:2])
    if not design.asked(len(places) - 2):
        return 0.0
    found = power_of_evidence(pair_at(design, places, aim), w, design.enough(aim.level))
    found *= design.chance_chosen(w, *places[:2])
    return min(found, power_of(table, w, aim.level)) if table.given else found


def answers(design: NoiseDesign, places: tuple[int, ...], aim: Aim) -> bool:
    """Whether the driver would call independent columns independent: its own rules.

    The forward search does where what merged levels keep of a medium dependence would have shown in a pair that is
    measured once; the tests on larger tables where enough rows are free to differ.
    """
    order = len(places) - 2
    if order <= MAX_SET:
        once_only = pair_at(
            design, places, aim, 1.0 if design.joint else design.first_look / design.variance((2, 2))
        )
        left = MEDIUM * design.kept(*places[:2])
        if would_show(once_only, left) >= design.enough(aim.level) + SHOWN:
            return True
    if not (design.larger and design.asked(order)):
        return False
    return table_at(design, places, aim).informative(least_free(order))


def smallest(design: NoiseDesign, order: int, aim: Aim) -> float:
    """The least w found between typical columns."""
    return least_found(design, stands_for(design, order, "typical", aim), aim)


@lru_cache(maxsize=1024)
def _at_step(design: NoiseDesign, step: int) -> NoiseDesign:
    """The design with an epsilon of the grid; kept, since every order asks for the same ones."""
    return design.with_epsilon(10.0 ** (step / STEPS_PER_DECADE))


def _is_enough(tried: NoiseDesign, order: int, aim: Aim) -> bool:
    """Whether ``aim.effect`` is found in typical tables; the cheaper questions come first."""
    places = stands_for(tried, order, "typical", aim)
    if not tried.asked(order):
        return False
    enough, left = tried.enough(aim.level), aim.effect * tried.kept(*places[:2])
    chosen = tried.chance_chosen(left, *places[:2])
    if power_of_evidence(pair_at(tried, places, aim), left, enough) * chosen < aim.power:
        return False
    table = table_at(tried, places, aim)
    if table.given and power_of(table, left, aim.level) < aim.power:
        return False
    return order <= MAX_SET or answers(tried, places, aim)


@lru_cache(maxsize=1024)
def _enough_step(design: NoiseDesign, order: int, aim: Aim) -> int | None:
    """The least step of the grid of epsilons that is enough: often that of the order before, which is tried first."""

    def found(step: int) -> bool:
        return _is_enough(_at_step(design, step), order, aim)

    near = _enough_step(design, order - 1, aim) if order else None
    if near is not None and found(near) and not found(near - 1):
        return near
    low, high = (round(STEPS_PER_DECADE * math.log10(end)) for end in (MIN_EPSILON, MAX_EPSILON))
    if not found(high):
        # at large budgets fewer levels are merged, and more levels may show less: look between
        tried = range(low, high, STEPS_PER_DECADE // GRID_PER_DECADE)
        first = next((step for step in tried if found(step)), None)
        if first is None:
            return None
        low, high = first - STEPS_PER_DECADE // GRID_PER_DECADE, first
    while high > low + 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def epsilon_enough(design: NoiseDesign, order: int, aim: Aim) -> float | None:
    """The least epsilon, to two digits, with which ``aim.effect`` is found in typical tables.

    Of orders that only larger tables answer, they must be worth asking too. It does not depend on the design's own.
    """
    step = _enough_step(_at_step(design, 0), order, aim)
    if step is None:
        return None
    epsilon = 10.0 ** (step / STEPS_PER_DECADE)
    unit = 10.0 ** (math.floor(math.log10(epsilon)) - 1)
    return float(f"{math.ceil(epsilon / unit) * unit:.2g}")


def order_plan(design: NoiseDesign, order: int, aim: Aim, sieve: Sieve) -> OrderPlan:
    """All of it for one order."""
    d = len(design.sizes)
    places, most = (stands_for(design, order, which, aim) for which in ("typical", "largest"))
    table = table_at(design, places, aim)
    exact = Expected(aim.rows, table.x, table.y, table.given, aim.share, whole=table.whole)
    changing = least_dependence(table, aim.level, aim.power, alike=False)
    sure = least_by_evidence(
        Expected(aim.rows, table.x, table.y, share=aim.share), design.enough(aim.level), aim.power
    )
    return OrderPlan(
        order=order,
        testable=answers(design, places, aim),
        questions=math.comb(d, 2) * math.comb(d - 2, order),
        interactions=design.interactions(order),
        x=table.x,
        y=table.y,
        given=tuple(design.measured[j] for j in places[2:]),
        places=places,
        largest=most,
        count=table.count,
        sampling_sd=math.sqrt(table.count),
        noise_sd=math.sqrt(table.noise_variance),
        noise_share=max(0.0, 1 - table.worth / exact.worth),
        worth=table.worth,
        smallest=least_found(design, places, aim),
        smallest_changing=None if math.isinf(changing) else changing,
        smallest_largest=least_found(design, most, aim),
        smallest_exact=max(sure, least_dependence(exact, aim.level, aim.power)),
        smallest_priv_pc=least_kept(table, sieve, design.neighbours, aim.level, aim.power),
        epsilon_enough=epsilon_enough(design, order, aim),
    )


POWER = 0.8  # with which the smallest dependence is found
EFFECT = 0.1  # a plan asks for one; the smallest dependence does not depend on it
MAX_TRIPLE_CELLS = 4096  # of three columns, for a plan in a moment


@dataclass(frozen=True)
class Reach:
    """The smallest dependence w (Cohen's) that is found with probability ``power``; None: none, however strong.

    Attributes
    ----------
    power : float
        The probability.
    pair, pair_largest : float or None
        Between two columns of middling size, and of the columns with most levels.
    triple, triple_largest : float or None
        The same given one more column.
    columns : int or None
        Among how many columns of middling size most pairs could be decided, where there were too many;
        asked for only where hardly anything was decided (``columns_within_reach``).
    """

    power: float
    pair: float | None
    pair_largest: float | None
    triple: float | None
    triple_largest: float | None
    columns: int | None = None
    design: NoiseDesign | None = field(default=None, repr=False, compare=False)
    aim: Aim | None = field(default=None, repr=False, compare=False)
    places: tuple[int | None, ...] = field(
        default=(), repr=False, compare=False
    )  # None: a column with one level

    def between(self, x: int, y: int, given: Sequence[int] = ()) -> float | None:
        """Return the smallest dependence found between two columns, at their places in the schema; None: none is.

        Of levels as declared, whatever groups they are merged to. Of ``given``, which are held fixed, two count.

        >>> found = reach((2, 2, 6, 6), 2_000, 1.0, 1e-6, Neighbours.REPLACE_ONE, 0.05)
        >>> found.between(0, 1) < found.between(2, 3)
        True
        """
        if self.design is None or self.aim is None:
            return self.pair
        ends = [self.places[j] for j in (x, y)]
        if None in ends:
            return None
        held = [place for place in (self.places[j] for j in given) if place is not None]
        kinds = self.design.kinds
        a, b = sorted((kinds[place] for place in ends if place is not None), reverse=True)
        fixed = sorted(kinds[place] for place in held)[:MAX_SET] if self.design.larger else []
        return _least_of_kinds(self.design, (a, b, *fixed), self.aim)


@lru_cache(maxsize=1024)
def _least_of_kinds(design: NoiseDesign, kinds: tuple[Kind, ...], aim: Aim) -> float | None:
    """The smallest dependence found between columns of these kinds, the first two being compared; None: none."""
    places: list[int] = []
    for kind in kinds:
        places.append(next(j for j, one in enumerate(design.kinds) if j not in places and one == kind))
    try:
        found = least_found(design, tuple(places), aim)
    except (ArithmeticError, ValueError):  # at the ends of what floats hold
        return None
    return found if _can_be(design, places, found) else None


def _can_be(design: NoiseDesign, places: Sequence[int], w: float) -> bool:
    """Whether the first two columns can depend so much: w is at most sqrt(min(r, c) - 1), of groups too."""
    most = min(design.measured[j] for j in places[:2])
    return bool(w * design.kept(*places[:2]) < (most - 1) ** 0.5)


def reach(
    sizes: Sequence[int],
    rows: int,
    epsilon: float,
    delta: float,
    neighbours: Neighbours,
    level: float,
    target: int | None = None,
    ordered: Sequence[bool] = (),
) -> Reach | None:
    """Return what ``measured`` could show for orders 0 and 1; None where a plan has no numbers.

    ``target`` is the place of the one column asked about; ``ordered`` says whose levels have an order (empty: none's).
    Which tables higher orders have depends on the search.
    **Cost** about a tenth of a second.
    """
    usable = tuple(size for size in sizes if size > 1)
    if rows < 1 or len(usable) < 3 or math.prod(sorted(usable)[-3:]) > MAX_TRIPLE_CELLS:
        return None
    if target is not None:
        if sizes[target] < 2:
            return None
        target = sum(size > 1 for size in sizes[:target])
    known = ordered or [False] * len(sizes)
    in_order = tuple(one for one, size in zip(known, sizes, strict=True) if size > 1)
    design = NoiseDesign(usable, rows, epsilon, delta, neighbours, target, in_order)
    aim = Aim(rows, level, POWER, EFFECT, None)
    try:
        found = [_least(design, order, which, aim) for order in (0, 1) for which in ("typical", "largest")]
    except (ArithmeticError, ValueError):  # at the ends of what floats hold
        return None
    numbers = iter(range(len(usable)))
    places = tuple(next(numbers) if size > 1 else None for size in sizes)
    return Reach(POWER, found[0], found[1], found[2], found[3], design=design, aim=aim, places=places)


MEDIUM_EFFECT = 0.3  # Cohen's w


def columns_within_reach(
    sizes: Sequence[int],
    rows: int,
    epsilon: float,
    delta: float,
    neighbours: Neighbours,
    level: float,
    ordered: Sequence[bool] = (),
) -> int | None:
    """Return among how many columns, fewer than these, most pairs could be decided; None where none.

    That is: a medium dependence would be found, and a pair without one called absent (``answers``), between columns of
    middling size with equally common levels. Such columns are taken. ``ordered`` as in ``reach``. **Cost** that of
    ``reach`` times the logarithm of the number of columns.

    >>> public = 1_000, 1.0, 1e-6, Neighbours.REPLACE_ONE, 0.05
    >>> few = columns_within_reach((4,) * 60, *public)
    >>> reach((4,) * few, *public).pair <= MEDIUM_EFFECT < reach((4,) * 60, *public).pair
    True
    >>> columns_within_reach((2,) * 4, *public) is None
    True
    """
    known = ordered or [False] * len(sizes)
    usable = sorted((size, order) for size, order in zip(sizes, known, strict=True) if size > 1)

    def enough(columns: int) -> bool:
        start = (len(usable) - columns) // 2
        middling, in_order = zip(*usable[start : start + columns], strict=True)
        found = reach(middling, rows, epsilon, delta, neighbours, level, ordered=in_order)
        if found is None or found.design is None or found.aim is None or found.pair is None:
            return False
        places = stands_for(found.design, 0, "typical", found.aim)
        return found.pair <= MEDIUM_EFFECT and answers(found.design, places, found.aim)

    low, high = 3, len(usable)
    if high <= low or enough(high) or not enough(low):
        return None
    while high > low + 1:
        middle = (low + high) // 2
        low, high = (middle, high) if enough(middle) else (low, middle)
    return low


def _least(design: NoiseDesign, order: int, which: str, aim: Aim) -> float | None:
    places = stands_for(design, order, which, aim)
    found = least_found(design, places, aim)
    return found if _can_be(design, places, found) else None
