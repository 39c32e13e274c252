"""Whether ``moments`` is worth its noise: from the schema, the relation and the total alone, before any data is seen.

``moments`` first measures how each number is spread between its bounds, and takes normal scores. Where noise would hide
the spread, numbers enter by their place between the bounds. Then skewed columns and wide bounds leave little to see,
and tables of bins (``measured``) show more. On random linear models of 5 to 12 columns (normal, lognormal and cut ones;
delta 1e-6) tables found the better skeletons up to about n epsilon = 3,000, where the spread is hidden, and moments did
from 5,000 on, where it is seen.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from dpcausal.citests.parts import ASSUMED_ROWS
from dpcausal.core.neighbours import Neighbours
from dpcausal.planning.measurement import mostly_numbers
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.stats.spread import ROUNDS, counts_sensitivity

SPREAD_SHARE, PURE_SPREAD_SHARE = (
    0.1,
    0.2,
)  # of the budget, for the spread of numeric columns; without a delta
MAX_SPREAD_NOISE = 0.02  # of the rows: with more noise on a count the spread is not measured


def spread_share(rho: float) -> float:
    """The share of the budget that spreads cost."""
    return SPREAD_SHARE if rho > 0 else PURE_SPREAD_SHARE


def spread_noise(columns: int, rho: float, epsilon: float, neighbours: Neighbours) -> float:
    """The noise on a count of a spread, for so many numeric columns: public."""
    each = spread_share(rho) / (max(columns, 1) * ROUNDS)
    if rho > 0:
        return counts_sensitivity(neighbours, norm=2) / math.sqrt(2 * each * rho)
    return math.sqrt(2.0) * counts_sensitivity(neighbours) / (each * epsilon)


def spread_is_seen(
    columns: int, rows: int | None, rho: float, epsilon: float, neighbours: Neighbours
) -> bool:
    """Whether the spread of so many numeric columns is worth measuring; ``rows`` None: not public."""
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
    """Whether ``auto`` takes ``moments``: most columns hold numbers, and their spread can be measured.

    >>> names = [f"v{i}" for i in range(8)]
    >>> [moments_pay(names, names, rows, 1.0, 1e-6, Neighbours.REPLACE_ONE) for rows in (3_000, 6_000)]
    [False, True]
    """
    rho = Filter(epsilon, delta).rho if delta else 0.0
    return mostly_numbers(columns, numeric) and spread_is_seen(len(numeric), rows, rho, epsilon, neighbours)
