"""From zero-concentrated privacy to (epsilon, delta) and back.

**Formula.** A rho-zCDP mechanism is (epsilon, delta)-DP for every order alpha > 1 with ([2] Prop. 12, Cor.
13)

    delta = exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) * (1 - 1/alpha)^alpha.

The derivative of ln delta in alpha, (2 alpha - 1) rho - epsilon + ln(1 - 1/alpha), grows with alpha, so
bisection finds the best order. **Every** order gives a valid bound: an inexact search can only report too
much, never too little. Results are rounded against the user (delta up by 1e-10 of itself, epsilon up, rho
down).

The classic form epsilon = rho + 2 sqrt(rho ln(1/delta)) ([1] Prop. 1.3) is looser and kept for comparison.

**Cost** about 30 us for a delta, 2 ms for an epsilon or a rho. **Edge cases**: rho = 0 costs nothing;
delta = 0 allows no rho at all and makes epsilon infinite.

References: [1] Bun & Steinke 2016; [2] Canonne, Kamath & Steinke 2020, "The discrete Gaussian for
differential privacy".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved

_ROUND_UP = 1 + 1e-10  # covers the floating-point error of the exponent, about 1e-13 of delta


def _check(name: str, value: float, upper: float) -> None:
    """Refuse a number outside [0, upper)."""
    if not (0 <= value < upper):
        raise InputError(f"{name} must be zero or more and below {upper:g}, not {value!r}")


@proved("conversion.proof.md")
def epsilon_classic(rho: float, delta: float) -> float:
    """Return epsilon = rho + 2 sqrt(rho ln(1/delta)) ([1] Prop. 1.3).

    >>> round(epsilon_classic(0.05, 1e-6), 3)
    1.712
    """
    _check("rho", rho, math.inf)
    _check("delta", delta, 1.0)
    if rho == 0:
        return 0.0
    return rho + 2 * math.sqrt(rho * math.log(1 / delta)) if delta > 0 else math.inf


@proved("conversion.proof.md")
def delta_for(rho: float, epsilon: float) -> float:
    """Return the smallest delta that the tight conversion gives for ``rho`` at ``epsilon``.

    >>> delta_for(0.05, epsilon_classic(0.05, 1e-6)) < 1e-6
    True
    """
    _check("rho", rho, math.inf)
    _check("epsilon", epsilon, math.inf)
    if rho == 0:
        return 0.0
    low, high = math.log(1e-12), math.log((epsilon + 1) / (2 * rho) + 1)  # of alpha - 1, around the root
    for _ in range(60):
        middle = (low + high) / 2
        alpha = 1 + math.exp(middle)
        if (2 * alpha - 1) * rho - epsilon + math.log1p(-1 / alpha) < 0:
            low = middle
        else:
            high = middle
    above = math.exp(high)  # alpha - 1
    alpha = 1 + above
    exponent = above * (alpha * rho - epsilon) - math.log(above) - alpha * math.log1p(1 / above)
    return min(1.0, math.exp(min(exponent, 0.0)) * _ROUND_UP)


def _bisect(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return the point nearest to ``outside`` at which ``holds`` is true, by bisection."""
    while abs(outside - inside) > 1e-15 * max(abs(outside), abs(inside)):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return inside


@proved("conversion.proof.md")
@lru_cache(maxsize=4096)
def epsilon_for(rho: float, delta: float) -> float:
    """Return the smallest epsilon with ``delta_for(rho, epsilon) <= delta``.

    >>> epsilon_for(0.05, 1e-6) < epsilon_classic(0.05, 1e-6)
    True
    """
    upper = epsilon_classic(rho, delta)
    if upper in (0.0, math.inf):
        return upper
    while delta_for(rho, upper) > delta:  # the classic bound holds, up to rounding
        upper *= 1 + 1e-9
    return 0.0 if delta_for(rho, 0.0) <= delta else _bisect(lambda e: delta_for(rho, e) <= delta, upper, 0.0)


@proved("conversion.proof.md")
@lru_cache(maxsize=4096)
def rho_for(epsilon: float, delta: float) -> float:
    """Return the largest rho whose every mechanism is (epsilon, delta)-DP by the bound above.

    >>> rho = rho_for(1.0, 1e-6)
    >>> 0.02 < rho < 0.03 and delta_for(rho, 1.0) <= 1e-6
    True
    """
    _check("epsilon", epsilon, math.inf)
    _check("delta", delta, 1.0)
    if delta == 0:
        return 0.0
    high = 1.0
    while delta_for(high, epsilon) <= delta:
        high *= 2
    return _bisect(lambda rho: delta_for(rho, epsilon) <= delta, 0.0, high)
