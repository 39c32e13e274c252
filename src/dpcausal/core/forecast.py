"""What a budget is expected to show, before anything is charged: one type for a graph, a test and an effect.

``PowerForecast`` is made from public numbers alone: of a graph in ``planning/forecast.py``, of a test in
``citests/forecast.py``, of an effect in ``effects/forecast.py``. ``privacy.budget.refuse_hopeless`` refuses what is
hopeless: a design by which a strong dependence (Cohen's w of ``STRONG``), in the best case, would be found with a
probability below ``LEAST_POWER``, or an interval too wide to say anything.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from scipy.special import chndtr

from dpcausal.core.display import display
from dpcausal.core.errors import InputError

WEAK, MEDIUM, STRONG = 0.1, 0.3, 0.5  # Cohen's w
LEAST_POWER = 0.2
WANTED = 0.8  # power that a proposal is for
MIN_EPSILON, MAX_EPSILON = 1e-6, 100.0  # that are proposed
SMALL_DELTA = 1e-6  # that a budget without one is compared with
GRID_PER_DECADE = 4  # epsilons tried between 1 and 10 where the largest is not enough
MAX_NONCENTRALITY = 1e5  # that its law is computed to; more is taken for this

PowerCurve = Callable[[float], float]  # Cohen's w -> the chance that such a dependence is found


def chance_above(cut: float, dof: float, noncentrality: float) -> float:
    """Return the probability that a noncentral chi-squared variable is above ``cut``.

    >>> round(chance_above(3.84, 1, 7.85), 2)
    0.8
    """
    return float(1 - chndtr(cut, dof, min(noncentrality, MAX_NONCENTRALITY)))


def smallest_found(curve: PowerCurve, wanted: float = WANTED, most: float = 1e3) -> float:
    """Return the least dependence w that a power curve finds with probability ``wanted``.

    Infinity if it is above ``most``.

    >>> smallest_found(lambda w: min(2 * w, 1.0), 0.5), smallest_found(lambda w: 0.0)
    (0.25, inf)
    """
    low, high = 0.0, min(STRONG, most)
    while curve(high) < wanted:
        if high >= most:
            return math.inf
        low, high = high, min(2 * high, most)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if curve(middle) >= wanted else (middle, high)
    return high


class Power(NamedTuple):
    """How likely dependences are found."""

    weak: float  # chance that a dependence of Cohen's w = .1 is found
    medium: float  # of w = .3
    strong: float  # of w = .5
    smallest: float | None  # the w found 4 times in 5, to two digits; None above .5
    asked: float | None = None  # the chance for a w that was asked about, where one was

    @classmethod
    def of(cls, curve: PowerCurve, asked: float | None = None) -> Power:
        """Return the power at weak, medium and strong dependence, read off a curve; ``asked`` is a further w.

        >>> Power.of(lambda w: min(2 * w, 1.0), 0.2)
        Power(weak=0.2, medium=0.6, strong=1.0, smallest=0.4, asked=0.4)
        """
        weak, medium, strong = map(curve, (WEAK, MEDIUM, STRONG))
        smallest = smallest_found(curve, most=STRONG) if strong >= WANTED else None
        smallest = None if smallest is None else float(f"{smallest:.2g}")
        return cls(weak, medium, strong, smallest, None if asked is None else curve(asked))


RARE = (
    0.05  # of the rows: the rare level that a forecast answers for besides, since real levels are seldom even
)


class Margins(NamedTuple):
    """How common the levels of x and y are for which a forecast of power holds; noise hides rare levels first.

    Attributes
    ----------
    share : float or None
        Of the rows, in the rarest level of each, as it was given; None: levels are equally common.
    rare : Power or None
        The power if that were ``RARE``, 5%, where no share was given; None where that is not known.
    """

    share: float | None = None
    rare: Power | None = None


class Remedy(NamedTuple):
    """A single change by which a hopeless design would show something.

    Attributes
    ----------
    change : str
        What is changed: the epsilon, the delta, to one target, to fewer columns or cells, or to fewer columns that are
        held fixed.
    to : float, int, tuple of str or None
        What it is changed to.
    chance : float or None
        The chance that a strong dependence is then found; None for an effect.
    """

    change: Literal["epsilon", "delta", "target", "columns", "cells", "adjust"]
    to: Any = None
    chance: float | None = None


@dataclass(frozen=True, kw_only=True)
class PowerForecast:
    """What a budget is expected to show of a graph, a test or an effect, from public numbers.

    Attributes
    ----------
    about : str
        ``"graph"``, ``"target"`` (of a graph about one column), ``"test"`` or ``"effect"``.
    method : str
        The method that the forecast is of.
    rows : int
        How many there are; public.
    epsilon, delta : float
        The budget; an epsilon of None: without privacy.
    level : float
        The size of a test; of an effect, the confidence of the interval.
    power : Power or None
        How likely dependences are found, at best; None for an effect, and where it is not known for a test.
    without_noise : Power or None
        Of a test: the same from the number of rows alone, with one degree of freedom.
    margins : Margins or None
        Of a test with noise, where x or y has levels: how common these are taken to be. None: it does not matter.
    columns, cells : int or None
        Of a graph: its columns. Of a single test on a table: its cells.
    remedies : tuple of Remedy
        Where this is hopeless (of ``forecast_ci_test``: poor), what would help, each by itself; more rows do, too.
    left : float or None
        What the ledger has left of epsilon, where one was named: more is not proposed.

    Examples
    --------
    >>> import dpcausal as dc
    >>> schema = dc.Schema(dose=dc.Categorical(["no", "yes"]), pain=dc.Numeric(0, 10))
    >>> few = dc.forecast_ci_test(schema, "dose", "pain", rows=60, epsilon=0.05)
    >>> few.hopeless, few.remedies[-1].change, few.enough > 0.05
    (True, 'epsilon', True)
    """

    about: Literal["graph", "target", "test", "effect"]
    method: str
    rows: int
    epsilon: float | None
    delta: float
    level: float
    power: Power | None = None
    without_noise: Power | None = None
    margins: Margins | None = None
    columns: int | None = None
    cells: int | None = None
    remedies: tuple[Remedy, ...] = ()
    left: float | None = None

    @property
    def hopeless(self) -> bool:
        """Whether even a strong dependence would probably be missed."""
        return self.power is not None and self.power.strong < LEAST_POWER

    @property
    def weak(self) -> float | None:
        """Chance to find a dependence of Cohen's w = .1, at best; None where it is not known."""
        return None if self.power is None else self.power.weak

    @property
    def medium(self) -> float | None:
        """Chance to find a dependence of Cohen's w = .3, at best; None where it is not known."""
        return None if self.power is None else self.power.medium

    @property
    def strong(self) -> float | None:
        """Chance to find a dependence of Cohen's w = .5, at best; None where it is not known."""
        return None if self.power is None else self.power.strong

    @property
    def way(self) -> str:
        """The kind of question that is forecast; ``"moments"`` is a kind of its own."""
        return "moments" if self.method == "moments" else self.about

    def remedy(self, change: str) -> Remedy | None:
        """Return the remedy that makes this change; None where it would not help."""
        return next((one for one in self.remedies if one.change == change), None)

    @property
    def enough(self) -> float | None:
        """An epsilon that would be enough, where this one is not; None if none up to 100 is."""
        found = self.remedy("epsilon")
        return None if found is None else float(found.to)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        plain = {"rows": self.rows, "epsilon": self.epsilon, "delta": self.delta, "level": self.level}
        powers = {"power": self.power, "without_noise": self.without_noise}
        return {
            "method": self.method,
            **plain,
            **{name: None if one is None else one._asdict() for name, one in powers.items()},
        }

    def to_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def summary(self) -> str:
        """Return the forecast in a few lines of text."""
        return display().summary(self)

    def __str__(self) -> str:
        return self.summary()


def remedies_of(
    tried: Iterable[Remedy], strong: Callable[[float], float], epsilon: float
) -> tuple[Remedy, ...]:
    """Return those of the changes tried that help, and the epsilon above this one that is enough, if any is.

    ``strong`` is the chance to find a strong dependence, as a function of epsilon.
    """
    helping = [one for one in tried if one.chance is not None and one.chance >= LEAST_POWER]
    enough = enough_epsilon(lambda more: strong(more) >= WANTED, epsilon)
    return (*helping, *([] if enough is None else [Remedy("epsilon", enough, WANTED)]))


class UnderpoweredError(InputError):
    """A design that can show nothing, so that it was refused; nothing was charged. ``anyway=True`` goes on.

    Parameters
    ----------
    message : str
        What was expected and what would help, in words.
    forecast : PowerForecast
        The same as numbers.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("asia").sample(50, seed=1)
    >>> try:
    ...     dc.ci_test(data, "smoke", "bronc", epsilon=0.01)
    ... except dc.UnderpoweredError as error:
    ...     error.forecast.hopeless
    True
    """

    def __init__(self, message: str, forecast: PowerForecast) -> None:
        super().__init__(message)
        self.forecast = forecast


def enough_epsilon(
    shows: Callable[[float], bool], above: float, most: float = MAX_EPSILON, near: float | None = None
) -> float | None:
    """Return the least epsilon of two digits, above ``above`` and up to ``most``, at which ``shows`` is true, or None.

    It is taken to stay true from there on, unless ``most`` is not enough: at large budgets fewer levels are merged, and
    more levels may show less, so that some epsilons between are tried. ``near``: a guess, tried first.

    >>> enough_epsilon(lambda epsilon: epsilon >= 0.123, 0.01), enough_epsilon(lambda epsilon: False, 0.01)
    (0.13, None)
    >>> enough_epsilon(lambda epsilon: 1.0 < epsilon < 50.0, 0.01)
    1.1
    """
    low, high = _place(max(above, MIN_EPSILON)), _place(most)

    def shown(place: int) -> bool:
        return shows(_two_digits(place))

    if near is not None and low < (guess := _place(near)) and shown(guess) and not shown(guess - 1):
        return near
    if low >= high:
        return None
    if not shown(high):
        step = 90 // GRID_PER_DECADE
        first = next((place for place in range(low + 1, high, step) if shown(place)), None)
        if first is None:
            return None
        low, high = max(first - step, low), first
    while high > low + 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return _two_digits(high)


def _two_digits(place: int) -> float:
    """Return the number at a place among the numbers of two digits: 1.0 at 0, 10 at 90, 0.1 at -90."""
    decade, digits = divmod(place, 90)
    return float(f"{10 + digits}e{decade - 1}")


def _place(value: float) -> int:
    """Return the place, among the numbers of two digits, of the largest one that is not above ``value``.

    >>> [_place(value) for value in (1.0, 9.94, 0.1, 0.3, 100.0)]
    [0, 89, -90, -70, 180]
    """
    decade = math.floor(math.log10(value) + 1e-12)
    return 90 * decade + min(math.floor(value / 10.0 ** (decade - 1) + 1e-9) - 10, 89)
