"""What ``method="measured"`` will measure, how much noise that leaves, and what each order of questions can show.

``NoiseDesign`` is the driver's own plan, asked before any data:

- **joint**: one table over all columns takes the whole budget (``measurement.py`` says when). A margin that sums m of
  its cells has m times the variance of one.
- **components**: all single columns and pairs first, which answer orders 0 and 1; for every further order m the
  interactions of m + 1 columns that its questions need. How many depends on the graph: ``SETS_PER_COLUMN`` a column
  are assumed, fewer where there are not so many or the driver would not measure so many (its noise is bounded). T
  interactions of squared l2 sensitivity D^2 have variance T D^2/(2 rho) in every direction (Gaussian), of l1
  sensitivity D 2 (T D/epsilon)^2 (Laplace).

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
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from dpcausal.core.neighbours import Neighbours
from dpcausal.planning.measurement import (
    MAX_TRIPLE_NOISE_RATIO,
    MIN_SE_BY_ORDER,
    SHARE_OF_REST,
    SHARE_PAIRS,
    SHARE_TRIPLES,
    MeasurementPlan,
    components_mechanism,
    first_sets,
    first_shares,
    joint_mechanism,
    noise_variance,
    plan_for,
)
from dpcausal.planning.power import Expected, least_dependence, margin, power_of
from dpcausal.planning.sieve import SHARE, SieveDesign, once, resolution, rounds
from dpcausal.planning.sieve import SieveDesign as Sieve
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.stats.components import component_absolute, component_sensitivity
from dpcausal.stats.evidence import score_sensitivity

MIN_SHARE = 0.01  # of the budget, below which no more is measured
SETS_PER_COLUMN = 12


def least_free(order: int) -> float:
    """Standard errors that the rows free to differ must be worth before the driver says "independent"."""
    return float(MIN_SE_BY_ORDER[min(order, len(MIN_SE_BY_ORDER) - 1)])


@dataclass(frozen=True)
class NoiseDesign:
    """The noise of every table under a budget."""

    sizes: tuple[int, ...]
    rows: int
    epsilon: float
    delta: float
    neighbours: Neighbours

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
        return plan_for(self.sizes, self.epsilon, self.rho, self.neighbours)

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

    @cached_property
    def _levels(self) -> dict[int, float]:
        """Variance by number of columns, up to pairs; components only."""
        found = {0: 0.0}
        sets = first_sets(len(self.sizes), self.neighbours)
        for (_, columns), share in zip(sets, first_shares(self.sizes, self.neighbours), strict=True):
            mechanism = components_mechanism(
                columns, self.sizes, share * self._total, self.neighbours, gaussian=self.plan.gaussian
            )
            found[len(columns[0])] = noise_variance(mechanism)
        return found

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
            return 1e9 * self._levels[2]  # never measured
        if self.plan.gaussian:
            return number * component_sensitivity(columns, self.neighbours) / (2 * share * self.rho)
        return 2 * (number * component_absolute(columns, self.neighbours) / (share * self.epsilon)) ** 2

    def share(self, order: int) -> float:
        """Part of the budget that is left for the tables of that order."""
        if self.joint or order < 2:
            return 1.0 if self.joint else SHARE_PAIRS
        if order == 2:
            return SHARE_TRIPLES
        left = 1.0 - SHARE_PAIRS - SHARE_TRIPLES
        for _ in range(order - 3):
            left *= 1.0 - SHARE_OF_REST
        share = SHARE_OF_REST * left
        return share if share >= MIN_SHARE else 0.0

    @cached_property
    def _numbers(self) -> list[int | None]:
        return [self.interactions(order) for order in range(len(self.sizes))]

    def interactions(self, order: int) -> int | None:
        """How many interactions of ``order`` + 1 columns are assumed to be measured for it; None: no such thing."""
        if self.joint or order < 2 or self.share(order) == 0:
            return None
        d, ranked = len(self.sizes), sorted(self.sizes)
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
    question of priv-pc. ``epsilon_enough``: with which ``effect`` is found in typical tables and the order is
    testable; None where the rows are too few for any epsilon (or one above 10,000).
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
    """The tables of these columns under ``design``."""
    x, y, *given = (design.sizes[j] for j in places)
    return Expected(aim.rows, x, y, tuple(given), aim.share, design.variance, design.joint)


def expected(design: NoiseDesign, order: int, which: str, aim: Aim) -> Expected:
    """The tables that stand for the order under ``design``."""
    return table_at(design, places_of(design.sizes, order, which, aim.pair), aim)


def answers(design: NoiseDesign, order: int, table: Expected) -> bool:
    """Whether the driver would call independent columns independent: its own rule, and a budget for the order."""
    return design.share(order) > 0 and table.informative(least_free(order))


def smallest(design: NoiseDesign, order: int, aim: Aim) -> float:
    """The least w found in typical tables."""
    return least_dependence(expected(design, order, "typical", aim), aim.level, aim.power)


def epsilon_enough(design: NoiseDesign, order: int, aim: Aim) -> float | None:
    """The least epsilon, to two digits, with which ``aim.effect`` is found in typical tables and the order tested."""
    if design.share(order) == 0:
        return None

    def found(step: int) -> bool:
        tried = design.with_epsilon(10.0 ** (step / STEPS_PER_DECADE))
        table = expected(tried, order, "typical", aim)
        return power_of(table, aim.effect, aim.level) >= aim.power and answers(tried, order, table)

    low, high = (round(STEPS_PER_DECADE * math.log10(end)) for end in (MIN_EPSILON, MAX_EPSILON))
    if not found(high):
        return None
    while high > low + 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    epsilon = 10.0 ** (high / STEPS_PER_DECADE)
    unit = 10.0 ** (math.floor(math.log10(epsilon)) - 1)
    return float(f"{math.ceil(epsilon / unit) * unit:.2g}")


def order_plan(design: NoiseDesign, order: int, aim: Aim, sieve: Sieve) -> OrderPlan:
    """All of it for one order."""
    d = len(design.sizes)
    places, most = (places_of(design.sizes, order, which, aim.pair) for which in ("typical", "largest"))
    table, largest = (table_at(design, chosen, aim) for chosen in (places, most))
    exact = Expected(aim.rows, table.x, table.y, table.given, aim.share, whole=design.joint)
    changing = least_dependence(table, aim.level, aim.power, alike=False)
    return OrderPlan(
        order=order,
        testable=answers(design, order, table),
        questions=math.comb(d, 2) * math.comb(d - 2, order),
        interactions=design.interactions(order),
        x=table.x,
        y=table.y,
        given=table.given,
        places=places,
        largest=most,
        count=table.count,
        sampling_sd=math.sqrt(table.count),
        noise_sd=math.sqrt(table.noise_variance),
        noise_share=max(0.0, 1 - table.worth / exact.worth),
        worth=table.worth,
        smallest=least_dependence(table, aim.level, aim.power),
        smallest_changing=None if math.isinf(changing) else changing,
        smallest_largest=least_dependence(largest, aim.level, aim.power),
        smallest_exact=least_dependence(exact, aim.level, aim.power),
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
    """

    power: float
    pair: float | None
    pair_largest: float | None
    triple: float | None
    triple_largest: float | None


def reach(
    sizes: Sequence[int], rows: int, epsilon: float, delta: float, neighbours: Neighbours, level: float
) -> Reach | None:
    """Return what ``measured`` could show for orders 0 and 1; None where a plan has no numbers.

    Which tables higher orders have depends on the search. **Cost** about a tenth of a second.
    """
    usable = tuple(size for size in sizes if size > 1)
    if rows < 1 or len(usable) < 3 or math.prod(sorted(usable)[-3:]) > MAX_TRIPLE_CELLS:
        return None
    design = NoiseDesign(usable, rows, epsilon, delta, neighbours)
    aim = Aim(rows, level, POWER, EFFECT, None)
    try:
        found = [_least(design, order, which, aim) for order in (0, 1) for which in ("typical", "largest")]
    except (ArithmeticError, ValueError):  # at the ends of what floats hold
        return None
    return Reach(POWER, *found)


def _least(design: NoiseDesign, order: int, which: str, aim: Aim) -> float | None:
    table = expected(design, order, which, aim)
    found = least_dependence(table, aim.level, aim.power)
    return found if found < (min(table.x, table.y) - 1) ** 0.5 else None
