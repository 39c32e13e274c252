"""The least dependence that ``priv-pc`` keeps with a stated probability when it is asked about: for comparison.

Its score counts K = sum (observed - expected) over 2 x 2 tables (``discovery/scores.py``); a dependence w that is the
same in every block and lies along one split with shares a and b moves it by n w sqrt(a(1-a) b(1-b)). The edge stays
with probability 1 - false_hit((|K| - T sqrt(V))/D), averaged here over K, normal with variance V = n a(1-a) b(1-b).
An edge is asked about many times, and each time may cut it: this is the chance for one.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from dpcausal.core.neighbours import Neighbours
from dpcausal.discovery.priv_pc import SHARE, Design, once, rounds
from dpcausal.discovery.scores import score_sensitivity
from dpcausal.discovery.scores_plan import resolution
from dpcausal.planning.expected import Expected, margin
from dpcausal.privacy.accounting.filter import Filter

MOST_LEVELS_SPLIT = 5


def chosen(pairs: int, epsilon: float, delta: float, neighbours: Neighbours) -> Design:
    """The way to decide that ``priv-pc`` takes by itself."""
    total = Filter(epsilon, delta)
    ways = [once(total, pairs, SHARE, neighbours)]
    if total.rho > 0:
        ways.append(rounds(total, pairs, SHARE, neighbours, None, None))
    return min(ways, key=lambda way: resolution(way.false_hit))


def _splits(size: int) -> int:
    """How many two-way splits of unordered levels are looked at."""
    return size if size > MOST_LEVELS_SPLIT else 2 ** (size - 1) - 1


def least_kept(table: Expected, way: Design, neighbours: Neighbours, level: float, wanted: float) -> float:
    """The w that one question keeps with probability ``wanted``."""
    spread = 1.0
    for size in (table.x, table.y):
        p = np.sort(margin(size, table.share))
        ends = np.cumsum(p)[:-1]
        side = float(ends[np.argmin(np.abs(ends - 0.5))])
        spread *= side * (1 - side)
    unit, deviation = table.rows * math.sqrt(spread), math.sqrt(table.rows * spread)
    threshold = float(-ndtri(level / (2 * _splits(table.x) * _splits(table.y))))
    scale = score_sensitivity(neighbours, math.prod(table.given))
    points = ndtri((np.arange(32) + 0.5) / 32)

    def kept(w: float) -> float:
        seen = np.abs(unit * w + deviation * points) - threshold * deviation
        return 1 - float(np.mean([way.false_hit(x) for x in seen / scale]))

    low, high = 0.0, 1e-3
    while kept(high) < wanted and high < 1e6:
        high *= 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if kept(middle) < wanted else (low, middle)
    return high
