"""Whether ``moments`` is worth its noise: from the schema, the relation and the total alone, before any data is seen.

``moments`` first measures how each number is spread between its bounds, and takes normal scores. Where noise would hide
the spread, numbers enter by their place between the bounds. Then skewed columns and wide bounds leave little to see,
and tables of bins (``measured``) show more. On random linear models of 5 to 12 columns (normal, lognormal and cut ones;
delta 1e-6) tables found the better skeletons up to about n epsilon = 3,000, where the spread is hidden, and moments did
from 5,000 on, where it is seen.

``moments_curve`` is its power in the best case. Columns of equal variance v around zero, rows no longer than their mean
length d v: a correlation then has noise of standard deviation s/(n v), s that of a moment, whatever v is. The test is
of one degree of freedom with variance 1/n + (s/(n v))^2 at the level.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from scipy.special import chdtri, chndtr

from dpcausal.citests.parts import ASSUMED_ROWS
from dpcausal.core.forecast import PowerCurve
from dpcausal.core.neighbours import Neighbours
from dpcausal.planning.measurement import mostly_numbers
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.stats.moments import moment_sensitivity
from dpcausal.stats.spread import ROUNDS, counts_sensitivity

SPREAD_SHARE, PURE_SPREAD_SHARE = (
    0.1,
    0.2,
)  # of the budget, for the spread of numeric columns; without a delta
MAX_SPREAD_NOISE = 0.02  # of the rows: with more noise on a count the spread is not measured


def spread_share(rho: float) -> float:
    """Return the share of the budget that spreads cost."""
    return SPREAD_SHARE if rho > 0 else PURE_SPREAD_SHARE


def spread_noise(columns: int, rho: float, epsilon: float, neighbours: Neighbours) -> float:
    """Return the noise on a count of a spread, for so many numeric columns: public."""
    each = spread_share(rho) / (max(columns, 1) * ROUNDS)
    if rho > 0:
        return counts_sensitivity(neighbours, norm=2) / math.sqrt(2 * each * rho)
    return math.sqrt(2.0) * counts_sensitivity(neighbours) / (each * epsilon)


def spread_is_seen(
    columns: int, rows: int | None, rho: float, epsilon: float, neighbours: Neighbours
) -> bool:
    """Return whether the spread of so many numeric columns is worth measuring; ``rows`` None: not public."""
    noise = spread_noise(columns, rho, epsilon, neighbours)
    return columns > 0 and noise <= MAX_SPREAD_NOISE * (ASSUMED_ROWS if rows is None else rows)


def moments_pay(
    columns: Sequence[str],
    numeric: Collection[str],
    rows: int | None,
    epsilon: float,
    delta: float,
    neighbours: Neighbours,
) -> bool:
    """Return whether ``auto`` takes ``moments``: most columns hold numbers, and their spread can be measured.

    >>> names = [f"v{i}" for i in range(8)]
    >>> [moments_pay(names, names, rows, 1.0, 1e-6, Neighbours.REPLACE_ONE) for rows in (3_000, 6_000)]
    [False, True]
    """
    rho = Filter(epsilon, delta).rho if delta else 0.0
    return mostly_numbers(columns, numeric) and spread_is_seen(len(numeric), rows, rho, epsilon, neighbours)


def moments_curve(
    widths: Sequence[int], rows: float, total: Filter, neighbours: Neighbours, level: float
) -> PowerCurve:
    """Return the chance that ``moments`` finds a correlation, at best; ``widths``: numbers of features, 1 for a number.

    >>> curve = moments_curve((1,) * 10, 1000, Filter(1.0, 1e-6), Neighbours.REPLACE_ONE, 0.05)
    >>> round(curve(0.1), 2), round(curve(0.3), 2)
    (0.34, 1.0)
    """
    length = math.sqrt(len(widths))
    moved = moment_sensitivity(neighbours, length / 2, length)
    noise = moved / math.sqrt(2 * total.rho) if total.rho > 0 else moved * (1 + sum(widths)) / total.epsilon
    variance = 1.0 / rows + (math.sqrt(0.5) * noise / rows) ** 2
    cut = float(chdtri(1.0, level))
    return lambda w: float(1 - chndtr(cut, 1.0, min(w * w / variance, 1e5)))
