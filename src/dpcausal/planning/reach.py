"""What a budget could show at all: the smallest dependence that a plan expects to find, from public numbers alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpcausal.core.neighbours import Neighbours
from dpcausal.planning.designs import Aim, NoiseDesign, expected
from dpcausal.planning.power import least_dependence

POWER = 0.8  # with which the smallest dependence is found
EFFECT = 0.1  # a plan asks for one; the smallest dependence does not depend on it
MAX_TRIPLE_CELLS = 4096  # of three columns, for a plan in a moment


@dataclass(frozen=True)
class Reach:
    """The smallest dependence w (Cohen's) that is found with probability ``power``; None: none, however strong.

    Attributes
    ----------
    power : float
        The probability.
    pair, pair_largest : float or None
        Between two columns of middling size, and of the columns with most levels.
    triple, triple_largest : float or None
        The same given one more column.
    """

    power: float
    pair: float | None
    pair_largest: float | None
    triple: float | None
    triple_largest: float | None


def reach(
    sizes: Sequence[int], rows: int, epsilon: float, delta: float, neighbours: Neighbours, level: float
) -> Reach | None:
    """Return what ``measured`` could show for orders 0 and 1; None where a plan has no numbers.

    Which tables higher orders have depends on the search. **Cost** about a tenth of a second.
    """
    usable = tuple(size for size in sizes if size > 1)
    if rows < 1 or len(usable) < 3 or math.prod(sorted(usable)[-3:]) > MAX_TRIPLE_CELLS:
        return None
    design = NoiseDesign(usable, rows, epsilon, delta, neighbours)
    aim = Aim(rows, level, POWER, EFFECT, None)
    try:
        found = [_least(design, order, which, aim) for order in (0, 1) for which in ("typical", "largest")]
    except (ArithmeticError, ValueError):  # at the ends of what floats hold
        return None
    return Reach(POWER, *found)


def _least(design: NoiseDesign, order: int, which: str, aim: Aim) -> float | None:
    table = expected(design, order, which, aim)
    found = least_dependence(table, aim.level, aim.power)
    return found if found < (min(table.x, table.y) - 1) ** 0.5 else None
