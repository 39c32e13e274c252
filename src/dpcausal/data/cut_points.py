"""Round numbers for a draft: bounds outside the rows, and cut points where most numbers lie.

The extremes of a sample belong to single people, so bounds are multiples of a round step; cut points have few digits,
too. **Not private**: both follow from rows, and a person must replace them by those of the field.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from dpcausal.data.columns import MAX_ABS_BOUND

MAX_BOUND_STEPS = 10  # steps between the extremes of the numbers; bounds are multiples of the step
FINE_CUTS = 40  # multiples of a fine step that are tried as cut points near quantiles


def largest_share(values: NDArray[np.float64], cuts: Sequence[float]) -> float:
    """Return the share of the numbers that lie in the fullest bin.

    >>> largest_share(np.array([0.0, 1.0, 2.0, 9.0]), [1.0, 5.0])
    0.5
    """
    bins = np.bincount(np.searchsorted(np.asarray(cuts), values, side="right"), minlength=1)
    return float(bins.max() / max(len(values), 1))


_ROUGHNESS = {  # leading digits of a number: the share of the rows by which it counts as farther from its quantile
    1.0: 0.0, 2.0: 0.0, 5.0: 0.0, 1.5: 0.01, 2.5: 0.01, 3.0: 0.01, 4.0: 0.01, 6.0: 0.02, 7.0: 0.02, 8.0: 0.02,
}  # fmt: skip
_FINE_ROUGHNESS = 0.03


def quantile_cuts(values: NDArray[np.float64], number: int, bounds: tuple[float, float]) -> tuple[float, ...]:
    """Return at most ``number`` round numbers (one or two digits) near quantiles of the values.

    >>> quantile_cuts(np.array([0.0] * 40 + [1, 1, 1, 2, 2, 3, 4, 5, 8, 12, 20, 35] * 5), 3, (0.0, 35.0))
    (1.0, 2.0, 5.0)
    """
    ordered = np.sort(values)
    whole = bool((ordered == np.rint(ordered)).all())
    sizes = np.abs(ordered[ordered != 0])
    if not len(sizes):
        return ()
    powers = range(math.floor(math.log10(sizes.min())), math.floor(math.log10(sizes.max())) + 1)
    round_ones = {
        float(f"{sign * digits * 10.0**power:.3g}"): rough
        for power in powers[-12:]
        for digits, rough in _ROUGHNESS.items()
        for sign in (1, -1)
    } | {0.0: 0.0}
    ends = ([ordered[0], ordered[-1]], np.quantile(ordered, (0.1, 0.9)))
    fine = [cut for low, high in ends for cut in cut_points(float(low), float(high), whole, FINE_CUTS)]
    candidates = dict.fromkeys(fine, _FINE_ROUGHNESS) | round_ones
    usable = [cut for cut in candidates if bounds[0] < cut < bounds[1] and (not whole or cut == round(cut))]
    below = {cut: float(np.searchsorted(ordered, cut, side="left")) / len(ordered) for cut in usable}
    chosen: set[float] = set()
    for i in range(1, number + 1):
        left = [
            cut
            for cut in usable
            if cut not in chosen and 0 < below[cut] < 1 and below[cut] not in {below[c] for c in chosen}
        ]
        if left:
            wanted = i / (number + 1)
            chosen.add(min(left, key=lambda cut: (abs(below[cut] - wanted) + candidates[cut], cut)))
    return tuple(sorted(chosen))


def cut_points(low: float, high: float, whole: bool, aim: int = 8) -> list[float]:
    """Return multiples of a round step strictly between two numbers, as near to ``aim`` of them as possible.

    >>> cut_points(18, 91, True), cut_points(0.2, 0.4, False)
    ([20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0], [0.22, 0.24, 0.26, 0.28, 0.3, 0.32, 0.34, 0.36, 0.38])
    """
    width = high - low
    if not (math.isfinite(width) and width > 0):
        return []
    smallest = Decimal(10) ** (math.floor(math.log10(width)) - 1)
    steps = [smallest * Decimal(part) for part in ("1", "2", "2.5", "5", "10", "20", "50", "100")]
    tried = [_multiples(low, high, step) for step in steps if not whole or step == step.to_integral_value()]
    return min(tried, key=lambda found: abs(len(found) - aim), default=[])


def _multiples(low: float, high: float, step: Decimal) -> list[float]:
    """Return the multiples of a step strictly between two numbers."""
    first = int((Decimal(low) / step).to_integral_value("ROUND_FLOOR")) + 1
    last = int((Decimal(high) / step).to_integral_value("ROUND_CEILING")) - 1
    return [cut for cut in (float(step * k) for k in range(first, last + 1)) if low < cut < high]


def public_bounds(lower: float, upper: float) -> tuple[float, float]:
    """Return round numbers outside a range: multiples of 1, 2 or 5 times a power of ten, a few steps apart.

    The extremes of a sample belong to single people, so no digit of them beyond such a step is used.

    >>> public_bounds(25, 64), public_bounds(-42, 49), public_bounds(0.2, 0.4), public_bounds(7, 7)
    ((25.0, 65.0), (-50.0, 50.0), (0.2, 0.4), (6.0, 8.0))
    """
    lower, upper = (min(max(float(bound), -MAX_ABS_BOUND), MAX_ABS_BOUND) for bound in (lower, upper))
    width = upper - lower if upper > lower else max(abs(upper), 1.0)
    least = Decimal(repr(width)) / MAX_BOUND_STEPS
    power = Decimal(10) ** math.floor(math.log10(least))
    step = next(power * part for part in (1, 2, 5, 10) if power * part >= least)
    low = (Decimal(repr(lower)) / step).to_integral_value("ROUND_FLOOR") * step
    high = (Decimal(repr(upper)) / step).to_integral_value("ROUND_CEILING") * step
    low, high = (low, high) if low < high else (low - step, high + step)
    return max(float(low), -MAX_ABS_BOUND), min(float(high), MAX_ABS_BOUND)
