"""What ``discover`` is expected to show at a budget, from public numbers, before anything is charged.

``MeasurementPlan`` says what ``measured`` measures and with how much noise; this says what follows from it.

**What finds an edge.** The forward search takes a pair whose evidence passes ``enough`` (``power.py``: the same as a
test at a level of its own), whatever is given, sets of up to ``MAX_SET`` columns being asked from pairs alone. Where
larger tables are measured, the test of every order must reject besides. So without larger tables the questions of
orders 0 to ``MAX_SET`` stand on the noise of a pair, and no larger order is asked.

**Before paying.** ``forecast_graph`` is the best case: the two columns with fewest levels, equally common, of which
merged levels keep all. So what is hopeless by it is hopeless, not merely poor: real columns show less. Of ``moments``
it is columns of equal variance (``power.py``).

**By order.** ``OrderPlan`` is one order of ``dc.plan``. Columns differ in size, so an order has tables of many sizes:
``typical`` takes the middle of the columns sorted by size, ``largest`` the columns with most levels; both are sets of
m + 2 columns, x and y being the largest of them. Columns with one level are left out.

**After a run** that decided hardly anything, ``columns_within_reach`` says among how many columns more would be.

**For comparison**, ``smallest_by_priv_pc`` is the smallest dependence that ``priv-pc`` keeps with a stated probability
when it is asked about. Its score counts K = sum (observed - expected) over 2 x 2 tables (``discovery/scores.py``); a
dependence w that is the same in every block and lies along one split with shares a and b moves it by
n w sqrt(a(1-a) b(1-b)). The edge stays with probability 1 - false_hit((|K| - T sqrt(V))/D), averaged over K, normal
with variance V = n a(1-a) b(1-b). An edge is asked about many times, and each time may remove it: this is the chance
for one.

**Guarantee.** Schema, public number of rows and budget alone go in. Where the number of rows is protected there is no
forecast, and no refusal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.special import ndtri

from dpcausal.core.errors import InputError
from dpcausal.core.forecast import (
    LEAST_POWER,
    MEDIUM,
    SMALL_DELTA,
    STRONG,
    WANTED,
    WEAK,
    Power,
    PowerCurve,
    PowerForecast,
    Remedy,
    enough_epsilon,
)
from dpcausal.core.neighbours import Neighbours
from dpcausal.data.columns import Numeric
from dpcausal.data.schema import Schema
from dpcausal.planning.measurement_plan import (
    NOT_MEASURED,
    MeasurementPlan,
    PublicNumbers,
    expected_noise,
    plan_measurement,
)
from dpcausal.planning.power import (
    Expected,
    least_by_evidence,
    least_dependence,
    margin,
    moments_curve,
    power_of,
    power_of_evidence,
)
from dpcausal.planning.settings import MAX_SET
from dpcausal.planning.sieve import SHARE, SieveDesign, once, resolution, rounds
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.stats.evidence import score_sensitivity

LOWEST_EPSILON, HIGHEST_EPSILON = 1e-4, 1e4  # of those tried for an order
MAX_LEVELS_ALL_SPLITS = 5
NOTABLE_GAIN = 2.0  # times the noise from which on a missing delta is worth a warning


def is_asked(plan: MeasurementPlan, order: int) -> bool:
    """Return whether questions of this order are asked at all: from pairs, or from larger tables."""
    return order <= MAX_SET or (plan.larger and plan.share_of_order(order) > 0)


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
        """Return plain data, for JSON."""
        return {
            **asdict(self),
            "noise_ratio": self.noise_ratio,
            "smallest_mutual_information_bits": self.mutual_information,
        }


def places_of(
    sizes: tuple[int, ...], order: int, which: str, pair: tuple[int, int] | None = None
) -> tuple[int, ...]:
    """Return places of x, y and the columns given that represent the order; a ``pair`` is x and y of "typical".

    >>> places_of((2, 2, 3, 4, 9), 1, "typical"), places_of((2, 2, 3, 4, 9), 1, "typical", (0, 4))
    ((3, 2, 1), (4, 0, 2))
    """
    usable = [j for j, size in enumerate(sizes) if size > 1]
    if pair is not None and which == "typical":
        rest = sorted((j for j in usable if j not in pair), key=lambda j: sizes[j])
        start = (len(rest) - order) // 2
        x, y = sorted(pair, key=lambda j: -sizes[j])
        return x, y, *rest[start : start + order]
    ranked = sorted(usable, key=lambda j: sizes[j])
    start = (len(ranked) - order - 2) // 2 if which == "typical" else len(ranked) - order - 2
    *given, y, x = ranked[start : start + order + 2]
    return x, y, *given


def table_at(plan: MeasurementPlan, places: tuple[int, ...], aim: Aim) -> Expected:
    """Return the tables that questions about these columns are answered from: the pair alone, or all of them."""
    x, y, *given = (plan.sizes[j] for j in places)
    if plan.larger:
        return Expected(aim.rows, x, y, tuple(given), aim.share, plan.variance)
    return pair_at(plan, places, aim, NOT_MEASURED if not is_asked(plan, len(given)) else 1.0)


def pair_at(plan: MeasurementPlan, places: tuple[int, ...], aim: Aim, louder: float = 1.0) -> Expected:
    """Return the table of x and y alone, with so many times the noise."""
    x, y = (plan.sizes[j] for j in places[:2])

    def noise(columns: tuple[int, ...]) -> float:
        return louder * plan.variance(columns)

    return Expected(aim.rows, x, y, (), aim.share, noise)


def representative_places(plan: MeasurementPlan, order: int, which: str, aim: Aim) -> tuple[int, ...]:
    """Return places of the columns that represent the order: with the target, where there is one."""
    sizes, target = plan.public.sizes, plan.public.target
    if target is None or aim.pair is not None:
        return places_of(sizes, order, which, aim.pair)
    others = sorted((j for j, size in enumerate(sizes) if size > 1 and j != target), key=lambda j: sizes[j])
    other = others[len(others) // 2] if which == "typical" else others[-1]
    return places_of(sizes, order, "typical", (target, other))


def least_found(plan: MeasurementPlan, places: tuple[int, ...], aim: Aim) -> float:
    """Return the least w that is found with the power asked for: by its evidence, and by a test where one is made.

    It is that of levels as declared; groups that they are merged to keep part of it (``MeasurementPlan.kept``).
    """
    enough = plan.enough(aim.level)
    table, kept = table_at(plan, places, aim), plan.kept(*places[:2])
    if plan.tree:
        return _least_in_tree(plan, table, enough, aim.power, places[:2]) / kept
    if not table.given and not is_asked(plan, len(places) - 2):
        return least_by_evidence(table, enough, aim.power) / kept
    by_evidence = least_by_evidence(pair_at(plan, places, aim), enough, aim.power)
    if not table.given:
        return by_evidence / kept
    return max(by_evidence, least_dependence(table, aim.level, aim.power)) / kept


def _least_in_tree(
    plan: MeasurementPlan, table: Expected, enough: float, power: float, places: tuple[int, ...]
) -> float:
    """Return the least w that is chosen and then found with this probability."""

    def found(w: float) -> bool:
        return power_of_evidence(table, w, enough) * plan.chance_chosen(w, *places) >= power

    low = least_by_evidence(table, enough, power)
    high = low
    while not found(high) and high < 1e6:
        low, high = high, 1.5 * high
    for _ in range(20 if high > low else 0):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def power_at(
    plan: MeasurementPlan, places: tuple[int, ...], w: float, aim: Aim, *, at_best: bool = False
) -> float:
    """Return the chance that a dependence w is found; ``at_best``: if merged levels keep all of it."""
    table = table_at(plan, places, aim)
    w *= 1.0 if at_best else plan.kept(*places[:2])
    if not is_asked(plan, len(places) - 2):
        return 0.0
    found = power_of_evidence(pair_at(plan, places, aim), w, plan.enough(aim.level))
    found *= plan.chance_chosen(w, *places[:2])
    return min(found, power_of(table, w, aim.level)) if table.given else found


def curve_at(plan: MeasurementPlan, places: tuple[int, ...], aim: Aim) -> PowerCurve:
    """Return the chance that a dependence is found between the columns at these places, as a function of w."""
    return lambda w: power_at(plan, places, w, aim)


def can_call_absent(plan: MeasurementPlan, places: tuple[int, ...], aim: Aim) -> bool:
    """Return whether the driver would call independent columns independent, by its own rules.

    The forward search does where what merged levels keep of w = ``settings.absent`` would be found in a pair that is
    measured once; the tests on larger tables where enough rows are free to differ.
    """
    order = len(places) - 2
    if order <= MAX_SET:
        once_only = pair_at(plan, places, aim, 1.0 if plan.joint else plan.first_look / plan.variance((2, 2)))
        left = plan.settings.absent * plan.kept(*places[:2])
        if least_by_evidence(once_only, plan.enough(aim.level)) <= left:
            return True
    if not (plan.larger and is_asked(plan, order)):
        return False
    return table_at(plan, places, aim).informative(plan.settings.min_se(order))


def default_sieve(pairs: int, epsilon: float, delta: float, neighbours: Neighbours) -> SieveDesign:
    """Return the design that ``priv-pc`` chooses by default."""
    total = Filter(epsilon, delta)
    ways = [once(total, pairs, SHARE, neighbours)]
    if total.rho > 0:
        ways.append(rounds(total, pairs, SHARE, neighbours, None, None))
    return min(ways, key=lambda way: resolution(way.false_hit))


def _splits(size: int) -> int:
    """Return how many two-way splits of unordered levels are scored."""
    return size if size > MAX_LEVELS_ALL_SPLITS else 2 ** (size - 1) - 1


def smallest_by_priv_pc(
    table: Expected, way: SieveDesign, neighbours: Neighbours, level: float, wanted: float
) -> float:
    """Return the w that one question of ``priv-pc`` keeps with probability ``wanted``."""
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


@lru_cache(maxsize=1024)
def _at_epsilon(plan: MeasurementPlan, epsilon: float) -> MeasurementPlan:
    """Return the plan at another epsilon, cached: every order asks for the same ones."""
    return plan.at_epsilon(epsilon)


def epsilon_enough(plan: MeasurementPlan, order: int, aim: Aim) -> float | None:
    """Return the least epsilon, of two digits, with which ``aim.effect`` is found in typical tables; None: none is.

    Of orders that only larger tables answer, they must be worth asking too. It does not depend on the plan's own.
    """
    return _epsilon_enough(_at_epsilon(plan, 1.0), order, aim)


@lru_cache(maxsize=1024)
def _epsilon_enough(plan: MeasurementPlan, order: int, aim: Aim) -> float | None:
    def is_enough(epsilon: float) -> bool:
        tried = _at_epsilon(plan, epsilon)
        places = representative_places(tried, order, "typical", aim)
        if power_at(tried, places, aim.effect, aim) < aim.power:
            return False
        return order <= MAX_SET or can_call_absent(tried, places, aim)

    near = _epsilon_enough(plan, order - 1, aim) if order else None
    return enough_epsilon(is_enough, LOWEST_EPSILON, HIGHEST_EPSILON, near)


def order_plan(plan: MeasurementPlan, order: int, aim: Aim, sieve: SieveDesign) -> OrderPlan:
    """Return what to expect at one order."""
    d = sum(size > 1 for size in plan.public.sizes)
    places, most = (representative_places(plan, order, which, aim) for which in ("typical", "largest"))
    table = table_at(plan, places, aim)
    exact = Expected(aim.rows, table.x, table.y, table.given, aim.share)
    sure = least_by_evidence(
        Expected(aim.rows, table.x, table.y, share=aim.share), plan.enough(aim.level), aim.power
    )
    return OrderPlan(
        order=order,
        testable=can_call_absent(plan, places, aim),
        questions=math.comb(d, 2) * math.comb(d - 2, order),
        interactions=plan.interactions(order),
        x=table.x,
        y=table.y,
        given=tuple(plan.sizes[j] for j in places[2:]),
        places=places,
        largest=most,
        count=table.count,
        sampling_sd=math.sqrt(table.count),
        noise_sd=math.sqrt(table.noise_variance),
        noise_share=max(0.0, 1 - table.worth / exact.worth),
        worth=table.worth,
        smallest=least_found(plan, places, aim),
        smallest_largest=least_found(plan, most, aim),
        smallest_exact=max(sure, least_dependence(exact, aim.level, aim.power)),
        smallest_priv_pc=smallest_by_priv_pc(table, sieve, plan.public.neighbours, aim.level, aim.power),
        epsilon_enough=epsilon_enough(plan, order, aim),
    )


def _can_be(plan: MeasurementPlan, places: Sequence[int], w: float) -> bool:
    """Return whether the first two columns can depend so much: w is at most sqrt(min(r, c) - 1), of groups too."""
    most = min(plan.sizes[j] for j in places[:2])
    return bool(w * plan.kept(*places[:2]) < (most - 1) ** 0.5)


def columns_within_reach(plan: MeasurementPlan, level: float) -> int | None:
    """Return among how many columns, fewer than these, most pairs could be decided; None where none.

    That is: a medium dependence would be found, and a pair without one called absent (``can_call_absent``), between
    columns of middling size with equally common levels. Such columns are taken. **Cost** some hundredths of a second
    times the logarithm of the number of columns.

    >>> from dpcausal.planning.measurement_plan import PublicNumbers
    >>> def planned(columns):
    ...     public = PublicNumbers.of_sizes((4,) * columns, 1_000, 1.0, 1e-6, Neighbours.REPLACE_ONE)
    ...     return plan_measurement(public)
    >>> columns_within_reach(planned(60), 0.05)
    3
    """
    usable = sorted(column for column in plan.public.columns if column.size > 1)

    def with_columns(number: int) -> MeasurementPlan:
        if number == len(plan.public.columns) and plan.public.target is None:
            return plan
        start = (len(usable) - number) // 2
        middling = tuple(usable[start : start + number])
        return plan_measurement(replace(plan.public, columns=middling, target=None), plan.settings)

    aim = Aim(round(plan.public.rows_or_one), level, WANTED, WEAK, None)

    def enough(columns: int) -> bool:
        smaller = with_columns(columns)
        try:
            least = _least(smaller, 0, "typical", aim)
            places = representative_places(smaller, 0, "typical", aim)
            return least is not None and least <= MEDIUM and can_call_absent(smaller, places, aim)
        except (ArithmeticError, ValueError):  # at the ends of what floats hold
            return False

    low, high = 3, len(usable)
    if plan.public.rows is None or high <= low or enough(high) or not enough(low):
        return None
    return most_columns(enough, low, high)


def _least(plan: MeasurementPlan, order: int, which: str, aim: Aim) -> float | None:
    places = representative_places(plan, order, which, aim)
    found = least_found(plan, places, aim)
    return found if _can_be(plan, places, found) else None


def best_curve(plan: MeasurementPlan, level: float) -> PowerCurve:
    """Return the chance that ``measured`` finds a dependence w between the columns with fewest levels, at best.

    That is if merged levels keep all of it, for what could show something is not refused.

    >>> public = PublicNumbers.of_sizes((2,) * 10, 1000, 1.0, 1e-6, Neighbours.REPLACE_ONE)
    >>> curve = best_curve(plan_measurement(public), 0.05)
    >>> round(curve(0.1), 2), round(curve(0.3), 2)
    (0.32, 1.0)
    """
    sizes, target = plan.public.sizes, plan.public.target
    usable = [j for j, size in enumerate(sizes) if size > 1]
    ranked = sorted(usable, key=lambda j: (j != target, sizes[j], j))
    aim = Aim(round(plan.public.rows_or_one), level, WANTED, STRONG, None)
    return lambda w: power_at(plan, (ranked[1], ranked[0]), w, aim, at_best=True)


def forecast_graph(
    schema: Schema | None, public: PublicNumbers, level: float, method: str = "measured"
) -> PowerForecast | None:
    """Return what a discovery is expected to show; None where that can't be said.

    Parameters
    ----------
    schema
        The declared columns, for ``moments``, which takes numbers by their values; None: no column is a number.
    public
        Declared columns, rows and the budget.
    level
        The size of a test.
    method
        Nothing is known of others than ``measured`` and ``moments``.
    """
    if method not in ("measured", "moments") or public.rows is None or public.rows < 1:
        return None
    design = _usable(schema if method == "moments" else None, public)
    if design is None:
        return None

    def curve(of: PublicNumbers) -> PowerCurve:
        if method == "measured":
            return best_curve(plan_measurement(of), level)
        return moments_curve([size - 1 for size in of.sizes], of.rows_or_one, of.total, of.neighbours, level)

    try:
        found = PowerForecast(
            about="graph" if design.target is None else "target",
            method=method,
            rows=round(design.rows_or_one),
            epsilon=design.epsilon,
            delta=design.delta,
            level=level,
            power=Power.of(curve(design)),
            columns=len(design.columns),
        )
        if found.strong is None or math.isnan(found.strong):
            return None
        by_target = method == "measured" and design.target is None
        remedies = _remedies(design, curve, by_target=by_target) if found.hopeless else ()
        return replace(found, remedies=remedies)
    except (ArithmeticError, ValueError, InputError):  # at the ends of what floats hold: the run says so
        return None


def _usable(schema: Schema | None, public: PublicNumbers) -> PublicNumbers | None:
    """Return the columns with two levels or more, a target first, then those with fewest levels; None: no two are left.

    Where a schema is given numbers are taken by their values: each is one feature, like two levels.
    """
    kinds = list(public.columns)
    for j, column in enumerate(() if schema is None else schema.values()):
        kinds[j] = kinds[j]._replace(size=2) if isinstance(column, Numeric) else kinds[j]
    rest = sorted(one for j, one in enumerate(kinds) if one.size > 1 and j != public.target)
    first = [] if public.target is None else [kinds[public.target]]
    if len(first) + len(rest) < 2 or min(one.size for one in (*first, *rest)) < 2:
        return None
    return replace(public, columns=(*first, *rest), target=0 if first else None)


def _remedies(
    design: PublicNumbers, curve: Callable[[PublicNumbers], PowerCurve], *, by_target: bool
) -> tuple[Remedy, ...]:
    """Return what would help a hopeless design, each by itself; ``by_target``: whether to try one target."""

    def strong(of: PublicNumbers) -> float:
        return curve(of)(STRONG)

    def among(columns: int) -> float:
        return strong(replace(design, columns=design.columns[:columns]))

    def shown(wanted: float, columns: int) -> bool:
        return among(columns) >= wanted

    found = []
    if not design.delta:
        found.append(Remedy("delta", SMALL_DELTA, strong(replace(design, delta=SMALL_DELTA))))
    if by_target and len(design.columns) > 2:
        found.append(Remedy("target", 1, strong(replace(design, target=0))))
    each = (most_columns(partial(shown, wanted), 1, len(design.columns)) for wanted in (WANTED, LEAST_POWER))
    fewer = next((columns for columns in each if columns > 1), None)
    if fewer is not None:
        found.append(Remedy("columns", fewer, among(fewer)))
    helping = [one for one in found if one.chance is not None and one.chance >= LEAST_POWER]
    enough = enough_epsilon(lambda more: strong(replace(design, epsilon=more)) >= WANTED, design.epsilon)
    return (*helping, *([] if enough is None else [Remedy("epsilon", enough, WANTED)]))


def most_columns(shows: Callable[[int], bool], low: int, high: int) -> int:
    """Return the largest number of columns from ``low`` on, below ``high``, that ``shows``; ``low`` is not asked.

    >>> most_columns(lambda columns: columns <= 7, 1, 20)
    7
    """
    while high > low + 1:
        middle = (low + high) // 2
        low, high = (middle, high) if shows(middle) else (low, middle)
    return low


def noise_without_delta(public: PublicNumbers) -> float:
    """Return the noise in a pair without delta over that with ``SMALL_DELTA``, as standard deviations; 1 with a delta.

    >>> def times(sizes):
    ...     return noise_without_delta(PublicNumbers.of_sizes(sizes, 1_000, 1.0, 0.0, Neighbours.REPLACE_ONE))
    >>> times((2,) * 4), times((4,) * 9) > 4, times((4,) * 12) > 4
    (1.0, True, True)
    """
    if public.delta or sum(size > 1 for size in public.sizes) < 2:
        return 1.0
    try:
        pure, small = (
            min(expected_noise(replace(public, delta=delta)).values()) for delta in (0.0, SMALL_DELTA)
        )
    except InputError:  # more noise than there can be: the run says so
        return 1.0
    if not (small > 0 and math.isfinite(small) and math.isfinite(pure)):
        return 1.0  # at the ends of what floats hold
    return max(1.0, math.sqrt(pure / small))
