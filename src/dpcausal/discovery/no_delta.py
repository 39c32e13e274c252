"""What a budget without delta costs ``measured``, in noise: from the schema, epsilon and the relation, before a charge.

A joint table is as good with a pure budget; all columns and pairs together are not: Laplace noise grows with the
number of tables, Gaussian noise with its square root (``measured_plan.py``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.discovery.measurer import plan_for
from dpcausal.privacy.accounting.filter import Filter

SMALL = 1e-6  # the delta compared with
LOUD = 2.0  # times the noise from which on it is said


class NoDelta(UserWarning):
    """A budget without delta makes the noise of measured tables much larger."""


def times_louder(sizes: Sequence[int], epsilon: float, neighbours: Neighbours) -> float:
    """Standard deviation of the noise in a pair without delta over that with ``SMALL``.

    >>> times_louder((2,) * 4, 1.0, Neighbours.REPLACE_ONE)
    1.0
    >>> round(times_louder((4,) * 9, 1.0, Neighbours.REPLACE_ONE), 1) > 4
    True
    """
    usable = [size for size in sizes if size > 1]
    if len(usable) < 2:
        return 1.0
    try:
        pure = plan_for(usable, epsilon, 0.0, neighbours).pair_variance
        small = plan_for(usable, epsilon, Filter(epsilon, SMALL).rho, neighbours).pair_variance
    except InputError:  # more noise than there can be: the run says so
        return 1.0
    if not (small > 0 and math.isfinite(small) and math.isfinite(pure)):
        return 1.0  # at the ends of what floats hold
    return max(1.0, math.sqrt(pure / small))


def no_delta_words(
    sizes: Sequence[int], epsilon: float, delta: float, neighbours: Neighbours, option: str = "delta=1e-6"
) -> str | None:
    """A line where it is ``LOUD`` times or more; ``option``: how to say it. None where a delta is there or no use.

    >>> no_delta_words((2,) * 4, 1.0, 0.0, Neighbours.REPLACE_ONE) is None
    True
    """
    if delta > 0:
        return None
    louder = times_louder(sizes, epsilon, neighbours)
    if louder < LOUD:
        return None
    times = f"{louder:.2g}" if louder < 10 else f"{louder:.0f}"
    return (
        f"without a delta the noise in a table of two columns is {times} times larger: add {option} "
        "(it must lie below one over the number of rows)"
    )
