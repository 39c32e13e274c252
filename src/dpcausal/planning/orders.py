"""One order of a plan: which tables stand for it, what noise does to them, and the least dependence they show.

Columns differ in size, so an order has tables of many sizes. ``typical`` takes the middle of the columns sorted by
size, ``largest`` the columns with most levels; both are sets of m + 2 columns, x and y being the largest of them.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from dpcausal.discovery.priv_pc import Design as Sieve
from dpcausal.planning.designs import Design, least_free
from dpcausal.planning.expected import Expected
from dpcausal.planning.power import least_dependence, power_of
from dpcausal.planning.sieve import least_kept

LEAST_EPSILON, MOST_EPSILON, A_DECADE = (
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
    """What to expect at one order; dependences are Cohen's w (``expected.py``), found with the power asked for.

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


def table_at(design: Design, places: tuple[int, ...], aim: Aim) -> Expected:
    """The tables of these columns under ``design``."""
    x, y, *given = (design.sizes[j] for j in places)
    return Expected(aim.rows, x, y, tuple(given), aim.share, design.variance, design.joint)


def expected(design: Design, order: int, which: str, aim: Aim) -> Expected:
    """The tables that stand for the order under ``design``."""
    return table_at(design, places_of(design.sizes, order, which, aim.pair), aim)


def answers(design: Design, order: int, table: Expected) -> bool:
    """Whether the driver would call independent columns independent: its own rule, and a budget for the order."""
    return design.share(order) > 0 and table.informative(least_free(order))


def smallest(design: Design, order: int, aim: Aim) -> float:
    """The least w found in typical tables."""
    return least_dependence(expected(design, order, "typical", aim), aim.level, aim.power)


def epsilon_enough(design: Design, order: int, aim: Aim) -> float | None:
    """The least epsilon, to two digits, with which ``aim.effect`` is found in typical tables and the order tested."""
    if design.share(order) == 0:
        return None

    def found(step: int) -> bool:
        tried = design.with_epsilon(10.0 ** (step / A_DECADE))
        table = expected(tried, order, "typical", aim)
        return power_of(table, aim.effect, aim.level) >= aim.power and answers(tried, order, table)

    low, high = (round(A_DECADE * math.log10(end)) for end in (LEAST_EPSILON, MOST_EPSILON))
    if not found(high):
        return None
    while high > low + 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    epsilon = 10.0 ** (high / A_DECADE)
    unit = 10.0 ** (math.floor(math.log10(epsilon)) - 1)
    return float(f"{math.ceil(epsilon / unit) * unit:.2g}")


def order_plan(design: Design, order: int, aim: Aim, sieve: Sieve) -> OrderPlan:
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
