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
m + 2 columns from the middle of those sorted by size stand for them, x and y being the largest. Columns with one level
are left out.

**After a run** that decided hardly anything, ``columns_within_reach`` says among how many columns more would be.

**Guarantee.** Schema, public number of rows and budget alone go in. Where the number of rows is protected there is no
forecast, and no refusal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from typing import Any

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
    remedies_of,
    smallest_found,
)
from dpcausal.planning.measurement_plan import (
    MeasurementPlan,
    PublicNumbers,
    expected_noise,
    plan_measurement,
)
from dpcausal.planning.power import Expected, moments_curve, power_of, power_of_evidence
from dpcausal.planning.settings import MAX_SET

LOWEST_EPSILON, HIGHEST_EPSILON = 1e-4, 1e4  # of those tried for an order
NOTABLE_GAIN = 2.0  # times the noise from which on a missing delta is worth a warning


def is_asked(plan: MeasurementPlan, order: int) -> bool:
    """Return whether questions with ``order`` columns held fixed are asked at all: from pairs, or larger tables."""
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
    """What to expect at one order, of columns with a middle number of levels; dependences are Cohen's w (``power.py``).

    Attributes
    ----------
    order : int
        How many columns are held fixed.
    testable : bool
        Whether independent columns would be called so.
    places : tuple of int
        x, y and the columns given, by their places in the schema.
    levels : tuple of int
        With how many levels these are measured.
    smallest : float
        The least w that is found with the power asked for; infinite where none is.
    smallest_exact : float
        The same without any noise.
    epsilon_enough : float or None
        With which ``Aim.effect`` is found and, above order 2, the order is testable; None where the rows are too few
        for any epsilon (or one above 10,000).
    """

    order: int
    testable: bool
    places: tuple[int, ...]
    levels: tuple[int, ...]
    smallest: float
    smallest_exact: float
    epsilon_enough: float | None

    @property
    def largest_possible(self) -> float:
        """The largest w that x and y can have: sqrt(k - 1), k the smaller number of levels."""
        return math.sqrt(min(self.levels[:2]) - 1)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON; None where no dependence is found."""
        w = {name: getattr(self, name) for name in ("smallest", "smallest_exact")}
        return asdict(self) | {name: value if math.isfinite(value) else None for name, value in w.items()}


def places_of(sizes: tuple[int, ...], order: int, pair: tuple[int, int] | None = None) -> tuple[int, ...]:
    """Return the places of x, y and ``order`` columns held fixed that represent an order.

    >>> places_of((2, 2, 3, 4, 9), 1), places_of((2, 2, 3, 4, 9), 1, (0, 4))
    ((3, 2, 1), (4, 0, 2))
    """
    ranked = sorted((j for j, size in enumerate(sizes) if size > 1), key=lambda j: sizes[j])
    if pair is not None:
        rest = [j for j in ranked if j not in pair]
        start = (len(rest) - order) // 2
        x, y = sorted(pair, key=lambda j: -sizes[j])
        return x, y, *rest[start : start + order]
    start = (len(ranked) - order - 2) // 2
    *given, y, x = ranked[start : start + order + 2]
    return x, y, *given


def table_at(plan: MeasurementPlan, places: tuple[int, ...], aim: Aim) -> Expected:
    """Return the expected tables from which questions about these columns are answered."""
    x, y, *given = (plan.sizes[j] for j in places)
    if plan.larger:
        return Expected(aim.rows, x, y, tuple(given), aim.share, plan.variance)
    return pair_at(plan, places, aim)


def pair_at(plan: MeasurementPlan, places: tuple[int, ...], aim: Aim, noise_factor: float = 1.0) -> Expected:
    """Return the expected table of x and y alone, with ``noise_factor`` times the planned noise variance."""
    x, y = (plan.sizes[j] for j in places[:2])

    def noise(columns: tuple[int, ...]) -> float:
        return noise_factor * plan.variance(columns)

    return Expected(aim.rows, x, y, (), aim.share, noise)


def representative_places(plan: MeasurementPlan, order: int, aim: Aim) -> tuple[int, ...]:
    """Return the places of columns that represent an order: with the target, if there is one."""
    sizes, target = plan.public.sizes, plan.public.target
    if target is None or aim.pair is not None:
        return places_of(sizes, order, aim.pair)
    others = sorted((j for j, size in enumerate(sizes) if size > 1 and j != target), key=lambda j: sizes[j])
    return places_of(sizes, order, (target, others[len(others) // 2]))


def curve_at(
    plan: MeasurementPlan, places: tuple[int, ...], aim: Aim, *, at_best: bool = False
) -> PowerCurve:
    """Return the power curve for the columns at these places: the chance to find w, as a function of w.

    w is that of levels as declared; merged to groups they retain part of it (``MeasurementPlan.retained``), or all with
    ``at_best``.
    """
    if not is_asked(plan, len(places) - 2):
        return lambda w: 0.0
    table, pair = table_at(plan, places, aim), pair_at(plan, places, aim)
    enough, retained = plan.enough(aim.level), 1.0 if at_best else plan.retained(*places[:2])

    def found(w: float) -> float:
        left = w * retained
        chance = power_of_evidence(pair, left, enough) * plan.chance_chosen(left, *places[:2])
        return min(chance, power_of(table, left, aim.level)) if table.given else chance

    return found


def least_found(plan: MeasurementPlan, places: tuple[int, ...], aim: Aim) -> float:
    """Return the least w that is found with the power asked for; infinite if none is."""
    return smallest_found(curve_at(plan, places, aim), aim.power)


def can_call_absent(plan: MeasurementPlan, places: tuple[int, ...], aim: Aim) -> bool:
    """Return whether the driver would call independent columns independent, by its own rules.

    The forward search does where what merged levels keep of w = ``settings.absent`` would be found in a pair that is
    measured once; the tests on larger tables where enough rows are free to differ.
    """
    order = len(places) - 2
    if order <= MAX_SET:
        once_only = pair_at(plan, places, aim, 1.0 if plan.joint else plan.first_look / plan.variance((2, 2)))
        left = plan.settings.absent * plan.retained(*places[:2])
        if power_of_evidence(once_only, left, plan.enough(aim.level)) >= WANTED:
            return True
    if not (plan.larger and is_asked(plan, order)):
        return False
    return table_at(plan, places, aim).informative(plan.settings.min_se(order))


@lru_cache(maxsize=1024)
def _at_epsilon(plan: MeasurementPlan, epsilon: float) -> MeasurementPlan:
    """Return the plan at another epsilon, cached."""
    return plan.at_epsilon(epsilon)


def epsilon_enough(plan: MeasurementPlan, order: int, aim: Aim) -> float | None:
    """Return the least epsilon of two digits at which ``aim.effect`` is found; None if none is enough.

    Of orders that only larger tables answer, they must be worth asking too. It does not depend on the plan's own.
    """
    return _epsilon_enough(_at_epsilon(plan, 1.0), order, aim)


@lru_cache(maxsize=1024)
def _epsilon_enough(plan: MeasurementPlan, order: int, aim: Aim) -> float | None:
    """Return about the smallest epsilon at which sets of ``order`` columns reach an aim; None if none does."""

    def is_enough(epsilon: float) -> bool:
        tried = _at_epsilon(plan, epsilon)
        places = representative_places(tried, order, aim)
        if curve_at(tried, places, aim)(aim.effect) < aim.power:
            return False
        return order <= MAX_SET or can_call_absent(tried, places, aim)

    near = _epsilon_enough(plan, order - 1, aim) if order else None
    return enough_epsilon(is_enough, LOWEST_EPSILON, HIGHEST_EPSILON, near)


def order_plan(plan: MeasurementPlan, order: int, aim: Aim) -> OrderPlan:
    """Return the forecast for questions with ``order`` columns held fixed."""
    places = representative_places(plan, order, aim)
    levels, enough = tuple(plan.sizes[j] for j in places), plan.enough(aim.level)
    x, y, *given = levels
    pair, table = (Expected(aim.rows, x, y, held, aim.share) for held in ((), tuple(given)))

    def without_noise(w: float) -> float:
        return min(power_of_evidence(pair, w, enough), power_of(table, w, aim.level))

    return OrderPlan(
        order=order,
        testable=can_call_absent(plan, places, aim),
        places=places,
        levels=levels,
        smallest=least_found(plan, places, aim),
        smallest_exact=smallest_found(without_noise, aim.power),
        epsilon_enough=epsilon_enough(plan, order, aim),
    )


def columns_within_reach(plan: MeasurementPlan, level: float) -> int | None:
    """Return for how many columns, fewer than these, most pairs could be decided; None if for none.

    That is: a medium dependence would be found, and a pair without one called absent (``can_call_absent``), between
    columns of middling size with equally common levels. Such columns are taken. **Cost** some hundredths of a second
    times the logarithm of the number of columns.

    >>> from dpcausal.core.neighbours import Neighbours
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
            places = representative_places(smaller, 0, aim)
            found = curve_at(smaller, places, aim)(MEDIUM) >= WANTED
            return found and can_call_absent(smaller, places, aim)
        except (ArithmeticError, ValueError):  # at the ends of what floats hold
            return False

    low, high = 3, len(usable)
    if plan.public.rows is None or high <= low or enough(high) or not enough(low):
        return None
    return most_columns(enough, low, high)


def best_curve(plan: MeasurementPlan, level: float) -> PowerCurve:
    """Return the power curve of ``measured`` for the columns with fewest levels: an upper bound.

    That is if merged levels keep all of it, for what could show something is not refused.

    >>> from dpcausal.core.neighbours import Neighbours
    >>> public = PublicNumbers.of_sizes((2,) * 10, 1000, 1.0, 1e-6, Neighbours.REPLACE_ONE)
    >>> curve = best_curve(plan_measurement(public), 0.05)
    >>> round(curve(0.1), 2), round(curve(0.3), 2)
    (0.32, 1.0)
    """
    sizes, target = plan.public.sizes, plan.public.target
    usable = [j for j, size in enumerate(sizes) if size > 1]
    ranked = sorted(usable, key=lambda j: (j != target, sizes[j], j))
    aim = Aim(round(plan.public.rows_or_one), level, WANTED, STRONG, None)
    return curve_at(plan, (ranked[1], ranked[0]), aim, at_best=True)


def graph_forecast(
    public: PublicNumbers, method: str, level: float, curve: PowerCurve, asked: float | None = None
) -> PowerForecast:
    """Return the forecast for a graph, or for one target, from a power curve; ``asked`` is a further w."""
    return PowerForecast(
        about="graph" if public.target is None else "target",
        method=method,
        rows=round(public.rows_or_one),
        epsilon=public.epsilon,
        delta=public.delta,
        level=level,
        power=Power.of(curve, asked),
        columns=len(public.columns),
    )


def forecast_graph(public: PublicNumbers, level: float, method: str = "measured") -> PowerForecast | None:
    """Return the forecast of power for a discovery, at best; None where that is unknown.

    Parameters
    ----------
    public
        Declared columns, rows and the budget.
    level
        The size of a test.
    method
        Nothing is known of others than ``measured`` and ``moments``.
    """
    if method not in ("measured", "moments") or public.rows is None or public.rows < 1:
        return None
    design = _usable(public, by_value=method == "moments")
    if design is None:
        return None

    def curve(of: PublicNumbers) -> PowerCurve:
        if method == "measured":
            return best_curve(plan_measurement(of), level)
        return moments_curve(of, level)

    try:
        found = graph_forecast(design, method, level, curve(design))
        if found.strong is None or math.isnan(found.strong):
            return None
        by_target = method == "measured" and design.target is None
        remedies = _remedies(design, curve, by_target=by_target) if found.hopeless else ()
        return replace(found, remedies=remedies)
    except (ArithmeticError, ValueError, InputError):  # at the ends of what floats hold: the run says so
        return None


def _usable(public: PublicNumbers, *, by_value: bool) -> PublicNumbers | None:
    """Return the columns with two or more levels: a target first, then those with fewest; None if fewer than two.

    ``by_value``: a number is one feature, like two levels.
    """
    kinds = [kind._replace(size=2) if by_value and kind.number else kind for kind in public.columns]
    rest = sorted(one for j, one in enumerate(kinds) if one.size > 1 and j != public.target)
    first = [] if public.target is None else [kinds[public.target]]
    if len(first) + len(rest) < 2 or min(one.size for one in (*first, *rest)) < 2:
        return None
    return replace(public, columns=(*first, *rest), target=0 if first else None)


def _remedies(
    design: PublicNumbers, curve: Callable[[PublicNumbers], PowerCurve], *, by_target: bool
) -> tuple[Remedy, ...]:
    """Return remedies for an underpowered design, each by itself; ``by_target``: try one target, too."""

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
    return remedies_of(found, lambda more: strong(replace(design, epsilon=more)), design.epsilon)


def most_columns(shows: Callable[[int], bool], low: int, high: int) -> int:
    """Return the largest number of columns in [low, high) for which ``shows`` holds; ``low`` is not asked.

    >>> most_columns(lambda columns: columns <= 7, 1, 20)
    7
    """
    while high > low + 1:
        middle = (low + high) // 2
        low, high = (middle, high) if shows(middle) else (low, middle)
    return low


def noise_without_delta(public: PublicNumbers) -> float:
    """Return how much larger the noise sd in a pair is without a delta than with ``SMALL_DELTA``.

    >>> from dpcausal.core.neighbours import Neighbours
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
