"""A privacy filter: may the next event still be charged, when it was chosen after seeing earlier answers?

**Rule.** The total (epsilon, delta) and the reserve r <= delta are fixed before the first event. After
charging, the sums of epsilon, rho and delta of all events must satisfy

    sum delta <= r   and   ( sum epsilon <= epsilon   or   sum rho <= R ),   R = rho_for(epsilon, delta - r).

**Guarantee.** However events are chosen, adaptively and by an adversary, the whole interaction is (epsilon,
delta)-DP (``filter.proof.md``). With delta = 0 only the first sum counts: the pure filter. An event without
epsilon (Gaussian) closes the first way, one without rho closes the second. Events with a delta of their own
need a reserve. Sums are exact, totals are kept to a factor 1 + 1e-12 (``accounting/composition.py``).

**Odometer.** ``reading`` says what the charged events would cost had they been fixed in advance. It is for a
person to read: after an adaptive run the guarantee is the total, not the reading ([3] shows why).

**Cost** about 10 us an event.

References: [1] Feldman & Zrnic 2021, Thm 3.1 (Renyi filter, additive in rho); [2] Whitehouse, Ramdas, Rogers
& Wu 2023, Thm 1 (fully adaptive zCDP filter); [3] Rogers, Roth, Ullman & Vadhan 2016, Thm 3.6 (sum of
(epsilon, delta)). The "or" of the two is ours; the proof is short.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.privacy.accounting.composition import ZERO, add, approximate_rho, exact, fits
from dpcausal.privacy.accounting.conversion import epsilon_for, rho_for
from dpcausal.privacy.events import Event

LEAST_EPSILON, MOST_EPSILON = 1e-6, 1e6


class Spent(NamedTuple):
    """Exact sums over the events charged so far."""

    epsilon: Decimal = ZERO
    rho: Decimal = ZERO
    delta: Decimal = ZERO

    def plus(self, events: Iterable[Event]) -> Spent:
        """The sums with ``events`` added."""
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
        """R: how much rho the total allows; 0 without a delta outside the reserve."""
        return rho_for(self.epsilon, self.delta - self.reserve)

    @proved("filter.proof.md")
    def allows(self, spent: Spent) -> bool:
        """Whether the sums ``spent``, next event included, keep the guarantee."""
        if not fits(spent.delta, exact(self.reserve)):
            return False
        allowed = self.rho
        return fits(spent.epsilon, exact(self.epsilon)) or (allowed > 0 and fits(spent.rho, exact(allowed)))

    def reading(self, spent: Spent) -> PrivacyCost:
        """The odometer: least (epsilon, delta) for the sums, never above the total."""
        by_sum = float(spent.epsilon)
        free = self.delta - self.reserve
        by_rho = epsilon_for(float(spent.rho), free) if spent.rho.is_finite() else math.inf
        if by_sum <= by_rho:
            return PrivacyCost(min(by_sum, self.epsilon), min(float(spent.delta), self.delta), "epsilon")
        return PrivacyCost(min(by_rho, self.epsilon), min(free + float(spent.delta), self.delta), "rho")


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
