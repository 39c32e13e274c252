"""CURATE's plan: how much each test of each order may cost, from what is left and from released answers only.

With t_i tests expected at order i, a test of order i costs e_i, e_0 >= e_1 >= ... (an edge wrongly deleted early
misleads all that follows), and [1] minimises

    prod(1/2 + u_i/2) + 1 - prod(1/2 - u_i/2),        u_i = exp(-T beta e_i/Delta) (Laplace)

subject to the composed cost of all tests. T beta/Delta is the ``effect``: the margin, in units of sensitivity, that is
worth deciding; here 4 noise scales of an even split, so that the plan depends on ratios alone. For Gaussian noise of
cost rho_i the tail is u_i = exp(-effect^2 rho_i).

**Expected tests.** For the present order the most that can be asked, counted on the graph as released so far: an order
never runs out half-way. For later ones a guess: E edges left among d columns have 2E/d neighbours each on average; an
edge is asked about with the sets of its two ends; every order removes half of the edges, down to d. [1] counts C(d,2)
C(d-2,i) tests, far more than are asked. A wrong guess costs accuracy, never privacy: the filter stops.

The search is over a grid of ratios e_(i+1)/e_i in ``RATIOS``, all at once. **Cost** below a millisecond.

References: [1] CURATE's public code.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.search import Skeleton

AHEAD = 4  # orders planned for, the present one included
RATIOS = (1.0, 0.85, 0.7, 0.5, 0.35, 0.2)
EFFECT = 4.0


def most_tests(order: int, found: Skeleton, known: Knowledge) -> int:
    """The most questions that stable PC can ask at ``order``, from the graph at its start."""
    total = 0
    for x, y in combinations(found.columns, 2):
        if y not in found.adjacent[x] or frozenset((x, y)) in known.kept:
            continue
        near_x, near_y = (
            {z for z in found.adjacent[end] if z not in (x, y) and known.may_separate(z, x, y)}
            for end in (x, y)
        )
        both = len(near_x & near_y)
        total += math.comb(len(near_x), order) + math.comb(len(near_y), order) - math.comb(both, order)
    return total


def expected_tests(order: int, now: int, edges: int, columns: int, last: int) -> list[float]:
    """Tests of the orders from ``order`` (``now`` of them) to ``last``, at most ``AHEAD`` orders.

    >>> expected_tests(0, 28, 28, 8, 6)
    [28.0, 70.0, 8.0, 8.0]
    """
    tests, left = [float(max(now, 1))], max(min(float(edges), columns), edges / 2)
    for i in range(order + 1, min(last, order + AHEAD - 1) + 1):
        near = max(2 * left / columns - 1, 1.0)  # neighbours of an end, the other end left out
        tests.append(left * max(2 * _choose(near, i), 1.0))
        left = max(min(left, columns), left / 2)
    return [float(round(count)) for count in tests]


def _choose(n: float, k: int) -> float:
    """n(n-1)...(n-k+1)/k! for a number n that need not be whole, never below 0."""
    return math.prod(max(n - j, 0.0) for j in range(k)) / math.factorial(k)


def even_scale(tests: list[float], left: float, gaussian: bool) -> float:
    """Noise scale (sensitivity 1) if ``left`` (rho or epsilon) were split evenly."""
    each = left / sum(tests)
    return 1 / math.sqrt(2 * each) if gaussian else 1 / each


@lru_cache
def _ratios(orders: int) -> NDArray[np.float64]:
    """e_i/e_0 for every choice on the grid, one row each."""
    steps = np.array(list(product(RATIOS, repeat=orders - 1)), dtype=np.float64)
    return np.concatenate([np.ones((len(steps), 1)), np.cumprod(steps, axis=1)], axis=1)


def cost_now(tests: list[float], left: float, effect: float, gaussian: bool) -> float:
    """What one test of the present order may cost (rho if ``gaussian``, else epsilon): the best plan's first entry.

    >>> round(cost_now([10.0], 1.0, 4.0, gaussian=False), 3)
    0.1
    >>> cost_now([10.0, 40.0], 1.0, 100.0, gaussian=False) >= 1/50
    True
    """
    ratios = _ratios(len(tests))
    first = left / (ratios @ np.array(tests))
    each = first[:, None] * ratios
    tail = np.exp(-(effect**2) * each) if gaussian else np.exp(-effect * each)
    wrong = np.prod(0.5 + tail / 2, axis=1) + 1 - np.prod(0.5 - tail / 2, axis=1)
    return float(first[np.argmin(wrong)])
