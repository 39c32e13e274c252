"""What a design is expected to show, told before anything is charged: public numbers only.

``LEAST_POWER``: a design is hopeless where a strong dependence (Cohen's w of ``STRONG``), in the best case, would be
found with a probability below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpcausal.core.errors import InputError

WEAK, MEDIUM, STRONG = 0.1, 0.3, 0.5
LEAST_POWER = 0.2
WANTED = 0.8  # power that a proposal of another epsilon is for
MAX_EPSILON = 100.0  # that is proposed


@dataclass(frozen=True)
class Look:
    """What a design is expected to show.

    Attributes
    ----------
    rows : int
        How many there are; public.
    epsilon, delta : float
        The budget.
    weak, medium, strong : float
        Chance that such a dependence between two columns is found, at best.
    columns, cells : int or None
        Of a graph: its columns. Of a single test on a table: its cells.
    with_delta : float or None
        The chance for a strong one with a delta of 1e-6; None where there is a delta already.
    with_target : float or None
        The chance if one column is asked about, the one with fewest levels.
    fewer : tuple of (int, float) or None
        The largest number of columns, or of cells, with which a strong one would be found 4 times in 5, or, where none
        is small enough for that, with which it would not be hopeless; and the chance then.
    enough : float or None
        The epsilon that finds a strong one 4 times in 5; None: none up to 100 does.
    left : float or None
        What the ledger has left of epsilon, where one was named: more is not proposed.
    """

    rows: int
    epsilon: float
    delta: float
    weak: float
    medium: float
    strong: float
    columns: int | None = None
    cells: int | None = None
    with_delta: float | None = None
    with_target: float | None = None
    fewer: tuple[int, float] | None = None
    enough: float | None = None
    left: float | None = None

    @property
    def hopeless(self) -> bool:
        """Whether even a strong dependence would not be seen."""
        return self.strong < LEAST_POWER


class UnderpoweredError(InputError):
    """A design that can show nothing, so that it was refused; nothing was charged. ``anyway=True`` goes on.

    Parameters
    ----------
    message : str
        What was expected and what would help, in words.
    look : Look
        The same as numbers.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("asia").sample(50, seed=1)
    >>> try:
    ...     dc.ci_test(data, "smoke", "bronc", epsilon=0.01)
    ... except dc.UnderpoweredError as error:
    ...     error.look.hopeless
    True
    """

    def __init__(self, message: str, look: Look) -> None:
        super().__init__(message)
        self.look = look


def enough_epsilon(power: Callable[[float], float], epsilon: float) -> float | None:
    """The least epsilon above this one, to two digits, with a ``power`` of ``WANTED``; None where 100 has less.

    >>> enough_epsilon(lambda epsilon: epsilon / 10, 1.0), enough_epsilon(lambda epsilon: 0.1, 1.0)
    (8.1, None)
    """
    if power(MAX_EPSILON) < WANTED:
        return None
    low, high = math.log(epsilon), math.log(MAX_EPSILON)
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (low, middle) if power(math.exp(middle)) >= WANTED else (middle, high)
    unit = 10.0 ** (math.floor(high / math.log(10)) - 1)
    return float(f"{math.ceil(math.exp(high) / unit) * unit:.2g}")
