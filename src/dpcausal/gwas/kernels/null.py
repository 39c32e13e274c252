"""Sums over the hypergeometric law of c11 given the margins, for many margins at once."""

from __future__ import annotations

import math
from typing import Any

import numba as nb

_JIT = {"nogil": True, "cache": True, "error_model": "numpy"}


@nb.njit(**_JIT)
def _log_mass(x: Any, n1: Any, n0: Any, m: Any) -> Any:
    """log P(c11 = x | M1 = m), for real x."""
    if x < 0.0 or x > m or x > n1 or m - x > n0:
        return -math.inf
    own = math.lgamma(n1 + 1.0) - math.lgamma(x + 1.0) - math.lgamma(n1 - x + 1.0)
    other = math.lgamma(n0 + 1.0) - math.lgamma(m - x + 1.0) - math.lgamma(n0 - m + x + 1.0)
    both = math.lgamma(n1 + n0 + 1.0) - math.lgamma(m + 1.0) - math.lgamma(n1 + n0 - m + 1.0)
    return own + other - both


@nb.njit(**_JIT)
def _beyond(x: Any, step: Any, n1: Any, n0: Any, m: Any) -> Any:
    """Sum of masses at x, x + step, x + 2 step, ...: an upper bound of P(c11 >= x) (or <= x) beyond the mode."""
    mass = math.exp(_log_mass(x, n1, n0, m))
    total = 0.0
    while mass > 1e-12 * total and mass > 0.0:
        total += mass
        if step > 0:
            mass *= max((n1 - x) * (m - x), 0.0) / ((x + 1.0) * max(n0 - m + x + 1.0, 1e-300))
        else:
            mass *= max(x * (n0 - m + x), 0.0) / ((n1 - x + 1.0) * (m - x + 1.0))
        x += step
    return total


@nb.njit(**_JIT)
def chi2_tails(cut: Any, n1: Any, n0: Any, margins: Any, out: Any) -> None:
    """``out[i]`` bounds P(chi2 >= cut | M1 = margins[i]) from above, smoothly in the margin (worst lattice shift)."""
    n = n1 + n0
    for i in range(margins.shape[0]):
        m = margins[i]
        if m <= 0.0 or m >= n:  # chi2 is 0 there
            out[i] = 0.0
            continue
        centre = m * n1 / n
        width = math.sqrt(cut * n0 * n1 * m * (n - m) / n) / n
        out[i] = min(_beyond(centre + width, 1.0, n1, n0, m) + _beyond(centre - width, -1.0, n1, n0, m), 1.0)


@nb.njit(**_JIT)
def fill_laws(n1: Any, n0: Any, margins: Any, c11: Any, c10: Any, mass: Any) -> None:
    """Nodes and weights of c11 given each margin: every value, or every ``stride``-th where there are many.

    Rows of ``c11``, ``c10``, ``mass``; unused places get mass 0 and a possible table.
    """
    n = n1 + n0
    places = c11.shape[1]
    for i in range(margins.shape[0]):
        m = margins[i]
        low, high = max(0.0, m - n0), min(n1, m)
        centre = m * n1 / n
        width = 9.0 * math.sqrt(n0 * n1 * m * (n - m) / n) / n + 30.0
        first, last = max(low, math.floor(centre - width)), min(high, math.ceil(centre + width))
        stride = math.ceil((last - first + 1.0) / places)
        total = 0.0
        for j in range(places):
            x = first + j * stride
            if x > last:
                c11[i, j], c10[i, j], mass[i, j] = first, m - first, 0.0
            else:
                c11[i, j], c10[i, j], mass[i, j] = x, m - x, math.exp(_log_mass(x, n1, n0, m))
                total += mass[i, j]
        for j in range(places):
            mass[i, j] /= total


@nb.njit(**_JIT)
def noisy_tail(cut: Any, value: Any, mass: Any, up: Any, down: Any) -> Any:
    """P(value + Z >= cut), Z = Exp(up) - Exp(down) in law: exponential tails of scales ``up`` and ``down``."""
    total, share = 0.0, up / (up + down)
    for j in range(value.shape[0]):
        gap = cut - value[j]
        if mass[j] > 0.0:
            if gap >= 0.0:
                total += mass[j] * share * math.exp(-gap / up)
            else:
                total += mass[j] * (1.0 - (1.0 - share) * math.exp(gap / down))
    return total


@nb.njit(**_JIT)
def noisy_cuts(level: Any, value: Any, mass: Any, up: Any, down: Any, tolerance: Any, out: Any) -> None:
    """``out[i]``: the cut at which ``noisy_tail`` of row i is ``level``, rounded up to ``tolerance`` noise scales."""
    for i in range(value.shape[0]):
        low, high = math.inf, -math.inf
        for j in range(value.shape[1]):
            if mass[i, j] > 0.0:
                low, high = min(low, value[i, j]), max(high, value[i, j])
        low -= down * 40.0
        high += up * (1.0 - math.log(level))
        while high - low > tolerance * (up + down):
            middle = 0.5 * (low + high)
            if noisy_tail(middle, value[i], mass[i], up, down) > level:
                low = middle
            else:
                high = middle
        out[i] = high
