"""How often noise turns an answer around: sieve-and-examine and CURATE's margins, beside what the papers claim.

**Sieve-and-examine** ([1] Algorithm 1, all rows in the sieve), with the scales that its proof of privacy needs:
threshold noise Lap(2 Delta/eps'), query noise Lap(4 Delta/eps'), examination noise Lap(2 Delta/eps), eps' = eps/2. A
query at distance alpha from the threshold, the sieve's threshold lowered by t:

    above by alpha, and filtered out     1 - (1 - S(alpha + t)) (1 - E(alpha))        exactly
    below by alpha, and not filtered     S(alpha - t) E(alpha)                         exactly, for alpha >= t
    S(x) = P(Lap(b1) + Lap(b2) > x) = (b2^2 exp(-x/b2) - b1^2 exp(-x/b1)) / (2 (b2^2 - b1^2)),   x >= 0
    E(x) = P(Lap(2 Delta/eps) > x) = exp(-eps x/(2 Delta)) / 2

Theorem 4 of [1] (and theorem 2) leaves out E: an edge that passes the sieve can still fail the examination. Theorem 5
has exp(-2 eps alpha/Delta) where E(alpha) belongs. ``claimed_type_one`` and ``claimed_type_two`` are what is printed.

**CURATE** ([2] Lemma 1). f + Z with Z of scale b = Delta/eps: keep below T(1 - beta_1), delete above T(1 + beta_2), a
coin between. For f > T the edge is wrongly kept, for f < T wrongly deleted, with probability at most

    c/2 + exp(-T beta/b)/2,      c = P(f + Z between the margins),  beta = beta_1 or beta_2

This one holds: the first term is exact and the second bounds the tail beyond the far margin.

Nothing here sees data. References: [1] Wang, Pang & Song 2020, theorems 2, 4 and 5; [2] CURATE, appendix I.
"""

from __future__ import annotations

import math


def laplace_sum_tail(x: float, first: float, second: float) -> float:
    """Return P(Lap(first) + Lap(second) > x) for two different scales.

    >>> round(laplace_sum_tail(0.0, 4.0, 8.0), 3), round(laplace_sum_tail(2.0, 4.0, 8.0), 4)
    (0.5, 0.4181)
    """
    if x < 0:
        return 1 - laplace_sum_tail(-x, first, second)
    low, high = sorted((first, second))
    tails = high**2 * math.exp(-x / high) - low**2 * math.exp(-x / low)
    return tails / (2 * (high**2 - low**2))


def laplace_tail(x: float, scale: float) -> float:
    """Return P(Lap(scale) > x)."""
    half = 0.5 * math.exp(-abs(x) / scale)
    return half if x >= 0 else 1 - half


def type_one_error(alpha: float, tweak: float, epsilon: float, sensitivity: float = 1.0) -> float:
    """Return the probability that a query ``alpha`` above the threshold is filtered out.

    >>> round(type_one_error(1.0, 20.0, 1.0), 3), round(claimed_type_one(1.0, 20.0, 1.0), 3)
    (0.336, 0.166)
    """
    prime = epsilon / 2
    missed = laplace_sum_tail(alpha + tweak, 2 * sensitivity / prime, 4 * sensitivity / prime)
    return 1 - (1 - missed) * (1 - laplace_tail(alpha, 2 * sensitivity / epsilon))


def type_two_error(alpha: float, tweak: float, epsilon: float, sensitivity: float = 1.0) -> float:
    """Return the probability that a query ``alpha`` below the threshold passes sieve and examination.

    >>> round(type_two_error(2.0, 0.0, 1.0), 3), round(claimed_type_two(2.0, 0.0, 1.0), 3)
    (0.077, 0.012)
    """
    prime = epsilon / 2
    passed = laplace_sum_tail(alpha - tweak, 2 * sensitivity / prime, 4 * sensitivity / prime)
    return passed * laplace_tail(alpha, 2 * sensitivity / epsilon)


def claimed_type_one(alpha: float, tweak: float, epsilon: float, sensitivity: float = 1.0) -> float:
    """Return the bound of theorems 2 and 4 of [1], which does not hold."""
    x = epsilon / 2 * (alpha + tweak) / sensitivity
    return math.exp(-x / 6) - math.exp(-x / 3) / 4


def claimed_type_two(alpha: float, tweak: float, epsilon: float, sensitivity: float = 1.0) -> float:
    """Return the bound of theorems 2 and 5 of [1], which does not hold."""
    x = epsilon / 2 * (alpha - tweak)
    first = math.exp(-(12 * epsilon * alpha + x) / (6 * sensitivity))
    return first - math.exp(-(6 * epsilon * alpha + x) / (3 * sensitivity)) / 4


def margin_error(value: float, threshold: float, margins: tuple[float, float], scale: float) -> float:
    """Return the probability that CURATE turns the answer for ``value`` around, exactly.

    ``margins`` are beta_1 and beta_2, ``scale`` that of the Laplace noise.
    """
    below = 1 - laplace_tail(threshold * (1 - margins[0]) - value, scale)
    above = laplace_tail(threshold * (1 + margins[1]) - value, scale)
    between = 1 - below - above
    return between / 2 + (below if value > threshold else above)


def margin_error_bound(value: float, threshold: float, margins: tuple[float, float], scale: float) -> float:
    """Return Lemma 1 of [2]: a bound on ``margin_error`` that holds.

    >>> exact, most = (f(1.0, 0.8, (0.5, 0.5), 0.2) for f in (margin_error, margin_error_bound))
    >>> exact <= most, round(exact, 3), round(most, 3)
    (True, 0.42, 0.463)
    """
    low, high = threshold * (1 - margins[0]), threshold * (1 + margins[1])
    between = 1 - (1 - laplace_tail(low - value, scale)) - laplace_tail(high - value, scale)
    beta = margins[0] if value > threshold else margins[1]
    return between / 2 + math.exp(-threshold * beta / scale) / 2
