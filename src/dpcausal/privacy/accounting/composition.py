"""Sums of costs without rounding, and the one rule that says whether a sum still fits a total.

A cost is a float, read as the shortest decimal that prints it: ``0.1`` means one tenth, so ten charges of
0.1 fill a total of 1 exactly. Decimals are added without rounding (2,000 digits; every float needs fewer
than 800), hence a sum never depends on the order or number of charges.

**Rule.** A sum fits a total T when sum <= T (1 + 1e-12). The slack is for costs that a caller divided
(eleven times 1/11 is a little over 1 in decimals); no total is ever passed by more than that factor.
Reading a float as its decimal moves it by at most 2^-53 of itself, which lies far inside the same slack.

What k mechanisms cost together, by closed formulas.

All but ``basic`` and ``concentrated`` need costs fixed in advance (or a filter, see ``filter.py``).

**Formulas** for k mechanisms of epsilon each:

    basic      k epsilon, k delta                                                          [1] Thm 3.16
    advanced   sqrt(2 k ln(1/delta')) epsilon + k epsilon (e^epsilon - 1), delta' more      [2] Thm III.3
    optimal    the (epsilon, delta) curve of k randomised responses, exactly                [3] Thm 3.3
    zCDP       sum of rho, then ``conversion.py``                                           [4] Lemma 1.7

References: [1] Dwork & Roth 2014; [2] Dwork, Rothblum & Vadhan 2010; [3] Kairouz, Oh & Viswanath 2015;
[4] Bun & Steinke 2016.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow

from dpcausal.core.errors import InputError
from dpcausal.privacy.accounting.conversion import epsilon_for
from dpcausal.privacy.events import Event

SLACK_FACTOR = Decimal("1.000000000001")
ZERO = Decimal(0)
_context = Context(prec=2000, traps=[Inexact, InvalidOperation, Overflow])


def exact(cost: float | str) -> Decimal:
    """The decimal that ``cost`` prints as; infinity stays infinity.

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
    """The sum, exactly; an error rather than a rounded result.

    >>> total = ZERO
    >>> for _ in range(10):
    ...     total = add(total, exact(0.1))
    >>> total == 1
    True
    """
    return _context.add(left, right)


def fits(spent: Decimal, total: Decimal) -> bool:
    """Whether ``spent`` <= ``total`` (1 + 1e-12).

    >>> fits(exact(1.0), exact(1.0)), fits(exact(1.000001), exact(1.0))
    (True, False)
    """
    return spent <= _context.multiply(total, SLACK_FACTOR)


def left_of(spent: Decimal, total: Decimal) -> Decimal:
    """What remains of ``total``, never below zero.

    >>> left_of(exact(0.7), exact(1.0))
    Decimal('0.3')
    """
    return max(ZERO, _context.subtract(total, spent)) if spent.is_finite() else ZERO


def basic(events: Iterable[Event]) -> tuple[float, float]:
    """Sum of epsilon and sum of delta; epsilon is infinite if any event has none."""
    epsilon, delta = ZERO, ZERO
    for event in events:
        epsilon, delta = add(epsilon, exact(event.epsilon)), add(delta, exact(event.delta))
    return float(epsilon), float(delta)


def approximate_rho(event: Event) -> float:
    """The rho of an event with its delta counted apart.

    An (epsilon, delta)-DP mechanism is epsilon-DP, hence epsilon^2/2-zCDP, except with probability delta
    ([4] Def. 8.1 and [3] Thm 3.1), so its rho is finite once its delta is summed by itself.
    """
    return event.epsilon**2 / 2 if event.delta > 0 else event.rho


def concentrated(events: Iterable[Event], delta: float) -> float:
    """epsilon at ``delta`` from the sum of rho, tightly converted; the events' own deltas come off first."""
    rho, used = ZERO, ZERO
    for event in events:
        rho, used = add(rho, exact(approximate_rho(event))), add(used, exact(event.delta))
    rest = delta - float(used)
    if not math.isfinite(float(rho)) or rest < 0:
        return math.inf
    return epsilon_for(float(rho), rest)


def _homogeneous(epsilon: float, count: int, delta: float) -> None:
    if not (math.isfinite(epsilon) and epsilon > 0 and count >= 1 and 0 < delta < 1):
        raise InputError("composition needs epsilon above 0, a count of 1 or more and delta between 0 and 1")


def advanced(epsilon: float, count: int, delta: float) -> float:
    """Advanced composition of ``count`` epsilon-DP mechanisms ([2] Thm III.3).

    >>> round(advanced(0.01, 1000, 1e-6), 3)
    1.763
    """
    _homogeneous(epsilon, count, delta)
    return math.sqrt(2 * count * math.log(1 / delta)) * epsilon + count * epsilon * math.expm1(epsilon)


def optimal_delta(epsilon: float, count: int, total: float) -> float:
    """delta of ``count`` epsilon-DP mechanisms at ``total``; no smaller one holds for all ([3] Thm 3.3).

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
    """Smallest total epsilon at ``delta`` for ``count`` epsilon-DP mechanisms, to 1e-9 of it, rounded up."""
    _homogeneous(epsilon, count, delta)
    low, high = 0.0, count * epsilon
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if optimal_delta(epsilon, count, middle) <= delta else (middle, high)
    return high
