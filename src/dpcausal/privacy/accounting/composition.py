"""How costs add up: exact sums, closed formulas, and the filter that stops before a total is passed.

**Exact sums.** A cost is a float, read as the shortest decimal that prints it: ``0.1`` means one tenth, so ten charges
of 0.1 fill a total of 1 exactly. Decimals are added without rounding (2,000 digits; every float needs fewer than 800),
hence a sum never depends on the order or number of charges.

**Fits.** A sum fits a total T when sum <= T (1 + 1e-12). The slack is for costs that a caller divided
(eleven times 1/11 is a little over 1 in decimals); no total is ever passed by more than that factor.
Reading a float as its decimal moves it by at most 2^-53 of itself, which lies far inside the same slack.

**Closed formulas** for k mechanisms of epsilon each; all but ``basic`` and ``concentrated`` need costs fixed in
advance:

    basic      k epsilon, k delta                                                          [1] Thm 3.16
    advanced   sqrt(2 k ln(1/delta')) epsilon + k epsilon (e^epsilon - 1), delta' more      [2] Thm III.3
    optimal    the (epsilon, delta) curve of k randomised responses, exactly                [3] Thm 3.3
    zCDP       sum of rho, then ``conversion.py``                                           [4] Lemma 1.7

**Filter**: may the next event still be charged, when it was chosen after seeing earlier answers? The total (epsilon,
delta) and the reserve r <= delta are fixed before the first event. After charging, the sums of epsilon, rho and delta
of all events must satisfy

    sum delta <= r   and   ( sum epsilon <= epsilon   or   sum rho <= R ),   R = rho_for(epsilon, delta - r).

**Guarantee.** However events are chosen, adaptively and by an adversary, the whole interaction is (epsilon,
delta)-DP (``composition.proof.md``). With delta = 0 only the first sum counts: the pure filter. An event without
epsilon (Gaussian) closes the first way, one without rho closes the second. Events with a delta of their own
need a reserve. Sums are exact, totals are kept to a factor 1 + 1e-12.

**Odometer.** ``reading`` says what the charged events would cost had they been fixed in advance. It is for a
person to read: after an adaptive run the guarantee is the total, not the reading ([7] shows why).

**Cost** about 10 us an event.

References: [1] Dwork & Roth 2014; [2] Dwork, Rothblum & Vadhan 2010; [3] Kairouz, Oh & Viswanath 2015;
[4] Bun & Steinke 2016; [5] Feldman & Zrnic 2021, Thm 3.1 (Renyi filter, additive in rho); [6] Whitehouse, Ramdas,
Rogers & Wu 2023, Thm 1 (fully adaptive zCDP filter); [7] Rogers, Roth, Ullman & Vadhan 2016, Thm 3.6 (sum of
(epsilon, delta)). The "or" of the two is ours; the proof is short.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from typing import NamedTuple

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.privacy.accounting.conversion import epsilon_for, rho_for
from dpcausal.privacy.events import Event

SLACK_FACTOR = Decimal("1.000000000001")
ZERO = Decimal(0)
_context = Context(prec=2000, traps=[Inexact, InvalidOperation, Overflow])


def exact(cost: float | str) -> Decimal:
    """Return a cost as the decimal that it prints as.

    >>> exact(0.1), exact("0.25")
    (Decimal('0.1'), Decimal('0.25'))
    """
    try:
        value = Decimal(cost if isinstance(cost, str) else repr(float(cost)))
    except InvalidOperation:
        raise InputError(f"a cost must be a number, not {cost!r}") from None
    if value.is_nan() or value < 0:
        raise InputError(f"a cost must be zero or more, not {cost!r}")
    return value


def add(left: Decimal, right: Decimal) -> Decimal:
    """Return the exact sum; raise an error rather than round.

    >>> total = ZERO
    >>> for _ in range(10):
    ...     total = add(total, exact(0.1))
    >>> total == 1
    True
    """
    return _context.add(left, right)


def fits(spent: Decimal, total: Decimal) -> bool:
    """Return whether ``spent`` is within ``total``, up to a relative 1e-12.

    >>> fits(exact(1.0), exact(1.0)), fits(exact(1.000001), exact(1.0))
    (True, False)
    """
    return spent <= _context.multiply(total, SLACK_FACTOR)


def left_of(spent: Decimal, total: Decimal) -> Decimal:
    """Return what remains of ``total`` after ``spent``, at least zero.

    >>> left_of(exact(0.7), exact(1.0))
    Decimal('0.3')
    """
    return max(ZERO, _context.subtract(total, spent)) if spent.is_finite() else ZERO


def basic(events: Iterable[Event]) -> tuple[float, float]:
    """Return epsilon and delta by basic composition; epsilon is infinite if an event has none."""
    epsilon, delta = ZERO, ZERO
    for event in events:
        epsilon, delta = add(epsilon, exact(event.epsilon)), add(delta, exact(event.delta))
    return float(epsilon), float(delta)


def approximate_rho(event: Event) -> float:
    """Return the rho of an event without its delta, which is summed separately.

    An (epsilon, delta)-DP mechanism is epsilon-DP, hence epsilon^2/2-zCDP, except with probability delta
    ([4] Def. 8.1 and [3] Thm 3.1), so its rho is finite once its delta is summed by itself.
    """
    return event.epsilon**2 / 2 if event.delta > 0 else event.rho


def concentrated(events: Iterable[Event], delta: float) -> float:
    """Return the epsilon at ``delta`` of events by the sum of their rho (zCDP).

    The events' own deltas come off ``delta`` first.
    """
    rho, used = ZERO, ZERO
    for event in events:
        rho, used = add(rho, exact(approximate_rho(event))), add(used, exact(event.delta))
    rest = delta - float(used)
    if not math.isfinite(float(rho)) or rest < 0:
        return math.inf
    return epsilon_for(float(rho), rest)


def _homogeneous(epsilon: float, count: int, delta: float) -> None:
    """Refuse arguments outside the statement of advanced and optimal composition."""
    if not (math.isfinite(epsilon) and epsilon > 0 and count >= 1 and 0 < delta < 1):
        raise InputError("composition needs epsilon above 0, a count of 1 or more and delta between 0 and 1")


def advanced(epsilon: float, count: int, delta: float) -> float:
    """Return epsilon by advanced composition of ``count`` epsilon-DP mechanisms ([2] Thm III.3).

    >>> round(advanced(0.01, 1000, 1e-6), 3)
    1.763
    """
    _homogeneous(epsilon, count, delta)
    return math.sqrt(2 * count * math.log(1 / delta)) * epsilon + count * epsilon * math.expm1(epsilon)


def optimal_delta(epsilon: float, count: int, total: float) -> float:
    """Return the least delta at a ``total`` epsilon for ``count`` epsilon-DP mechanisms ([3] Thm 3.3).

    With p = e^epsilon/(1 + e^epsilon), the loss is (count - 2 l) epsilon where l is binomial(count, 1 - p):
    delta = sum over l of C(count, l) p^(count-l) (1-p)^l max(0, 1 - e^(total - (count - 2 l) epsilon)).
    """
    log_p, log_q = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    terms = []
    for tails in range(count + 1):
        excess = (count - 2 * tails) * epsilon - total
        if excess <= 0:
            break
        choose = math.lgamma(count + 1) - math.lgamma(tails + 1) - math.lgamma(count - tails + 1)
        terms.append(math.exp(choose + (count - tails) * log_p + tails * log_q) * -math.expm1(-excess))
    return min(1.0, math.fsum(terms) * (1 + 1e-9))  # rounded up: lgamma errs by about 1e-12 here


def optimal(epsilon: float, count: int, delta: float) -> float:
    """Return the smallest total epsilon at ``delta`` for ``count`` epsilon-DP mechanisms, to 1e-9 of it, rounded up."""
    _homogeneous(epsilon, count, delta)
    low, high = 0.0, count * epsilon
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if optimal_delta(epsilon, count, middle) <= delta else (middle, high)
    return high


LEAST_EPSILON, MOST_EPSILON = 1e-6, 1e6


class Spent(NamedTuple):
    """Exact sums over the events charged so far."""

    epsilon: Decimal = ZERO
    rho: Decimal = ZERO
    delta: Decimal = ZERO

    def plus(self, events: Iterable[Event]) -> Spent:
        """Return the sums with ``events`` added."""
        epsilon, rho, delta = self
        for event in events:
            epsilon = add(epsilon, exact(event.epsilon))
            rho = add(rho, exact(approximate_rho(event)))
            delta = add(delta, exact(event.delta))
        return Spent(epsilon, rho, delta)


class PrivacyCost(NamedTuple):
    """An (epsilon, delta) pair and by which sum it was reached: ``epsilon`` or ``rho``."""

    epsilon: float
    delta: float
    by: str


class PartOfTotal(NamedTuple):
    """One of two rounds that share a total, which is charged before the first.

    Attributes
    ----------
    round : int
        1, or 2.
    first : float
        The share of the first round, fixed before it; the second has the rest.

    >>> PartOfTotal(1, 0.25).share, PartOfTotal(2, 0.25).share
    (0.25, 0.75)
    """

    round: int
    first: float

    @property
    def share(self) -> float:
        """The share of this round."""
        return self.first if self.round == 1 else 1.0 - self.first


class FirstCharge(NamedTuple):
    """The charge for two rounds that the first of them made.

    Attributes
    ----------
    id : str
        The name of what the first round released.
    release : str or None
        Under which the ledger has the charge; None: no ledger was charged.
    """

    id: str
    release: str | None = None

    @property
    def rest(self) -> str | None:
        """Under which the ledger has that the rest was spent."""
        return None if self.release is None else f"rest:{self.release}"


@dataclass(frozen=True)
class Filter:
    """The stop rule for one total.

    >>> pure = Filter(1.0)
    >>> pure.allows(Spent(epsilon=exact(1.0))), pure.allows(Spent(epsilon=exact(1.001)))
    (True, False)
    """

    epsilon: float
    delta: float = 0.0
    reserve: float = 0.0

    def __post_init__(self) -> None:
        check_total(self.epsilon, self.delta)
        if not 0 <= self.reserve <= self.delta:
            raise InputError(f"the reserve must lie between 0 and delta, not {self.reserve!r}")

    @property
    def rho(self) -> float:
        """Largest rho that the total allows; 0 without a delta outside the reserve."""
        return rho_for(self.epsilon, self.delta - self.reserve)

    @proved("composition.proof.md")
    def allows(self, spent: Spent) -> bool:
        """Return whether the filter allows the sums ``spent``, in which the next event is included."""
        if not fits(spent.delta, exact(self.reserve)):
            return False
        allowed = self.rho
        return fits(spent.epsilon, exact(self.epsilon)) or (allowed > 0 and fits(spent.rho, exact(allowed)))

    @proved("composition.proof.md")
    def without(self, share: float) -> Filter:
        """Return the filter that reserves a public share of both sums for later.

        >>> Filter(1.0).without(0.3).epsilon, Filter(1.0).without(0.3).allows(Spent(epsilon=exact(0.8)))
        (0.7, False)
        """
        if not 0 < share < 1:
            raise InputError(f"a share of the budget lies between 0 and 1, not {share!r}")
        part = 1.0 - share
        return _PartOfFilter(part * self.epsilon, self.delta, self.reserve, part * self.rho)

    @proved("rounds.proof.md")
    def part(self, part: PartOfTotal) -> Filter:
        """Return the stop rule of one of two rounds: by rho where the total allows any, else by epsilon.

        >>> pure = Filter(1.0).part(PartOfTotal(2, 0.25))
        >>> pure.allows(Spent(epsilon=exact(0.75))), pure.allows(Spent(epsilon=exact(0.8)))
        (True, False)
        """
        if not 0 < part.first < 1 or part.round not in (1, 2) or self.reserve:
            raise InputError(f"two rounds share a total without a reserve, the first some of it, not {part}")
        return _RoundOfFilter(part.share * self.epsilon, self.delta, 0.0, part.share * self.rho)

    def reading(self, spent: Spent) -> PrivacyCost:
        """Return the odometer: the least (epsilon, delta) that covers the sums, never above the total."""
        by_sum = float(spent.epsilon)
        free = self.delta - self.reserve
        by_rho = epsilon_for(float(spent.rho), free) if spent.rho.is_finite() else math.inf
        if by_sum <= by_rho:
            return PrivacyCost(min(by_sum, self.epsilon), min(float(spent.delta), self.delta), "epsilon")
        return PrivacyCost(min(by_rho, self.epsilon), min(free + float(spent.delta), self.delta), "rho")


@dataclass(frozen=True)
class _PartOfFilter(Filter):
    """A rule for a part of a total: its rho is a part of that of the whole, for sums of rho add up."""

    rho_allowed: float = 0.0

    @property
    def rho(self) -> float:
        """Largest rho that this part allows."""
        return self.rho_allowed


@dataclass(frozen=True)
class _RoundOfFilter(_PartOfFilter):
    """The rule for one of two rounds that don't see each other's sums: both go by the same one."""

    @proved("rounds.proof.md")
    def allows(self, spent: Spent) -> bool:
        """Return whether the sums ``spent`` of this round keep to its part."""
        if not fits(spent.delta, ZERO):
            return False
        if self.rho_allowed > 0:
            return fits(spent.rho, exact(self.rho_allowed))
        return fits(spent.epsilon, exact(self.epsilon))


def check_total(epsilon: float, delta: float) -> None:
    """Refuse a total whose epsilon is no number from 1e-6 to 1e6, or whose delta is not 0 <= delta < 1.

    Beyond that range a total is a slip of the pen: below it nothing is learned, above it nothing is promised, and
    squares and reciprocals leave the range of floats.
    """
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{name} must be a number, not {value!r}")
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise InputError(f"epsilon must be a finite number above zero, not {epsilon!r}")
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise InputError(
            f"epsilon must lie within {LEAST_EPSILON:g} and {MOST_EPSILON:,.0f}, not {epsilon!r}"
        )
    if not 0 <= delta < 1:
        raise InputError(f"delta must be zero or more and below 1, not {delta!r}")
