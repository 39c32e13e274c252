"""Look before paying: what a design is expected to show, from public numbers, before anything is charged.

``discover`` asks here first. A design that can show nothing is refused uncharged: one in which a strong dependence
(Cohen's w of ``STRONG``) between the two columns with fewest levels would be found with probability below
``LEAST_POWER``. That is the best pair there is under equally common levels, so what is refused is hopeless, not merely
poor: real columns show less.

- ``measured``: the driver's own noise and rule (``designs.py``).
- ``moments``: the best case. Columns of equal variance v around zero, rows no longer than their mean length d v: a
  correlation then has noise of standard deviation s/(n v), s that of a moment, whatever v is. The test is of one
  degree of freedom with variance 1/n + (s/(n v))^2 at the level.

**Guarantee.** Schema, public number of rows and budget alone go in. Where the number of rows is protected there is no
look, and no refusal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy.special import chdtri, chndtr

from dpcausal.core.display import display
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.data.columns import Numeric
from dpcausal.data.schema import Schema
from dpcausal.planning.designs import Aim, NoiseDesign, power_at
from dpcausal.planning.measurement import SMALL_DELTA
from dpcausal.privacy.accounting.composition import Filter, check_total
from dpcausal.stats.moments import moment_sensitivity

WEAK, MEDIUM, STRONG = 0.1, 0.3, 0.5
LEAST_POWER = 0.2  # of finding a strong dependence, below which a design is hopeless
WANTED = 0.8  # power that a proposal of another epsilon is for
MAX_EPSILON = 100.0  # that is proposed

Powers = tuple[float, float, float]


@dataclass(frozen=True)
class Look:
    """What a design is expected to show.

    Attributes
    ----------
    rows, columns : int
        How many there are.
    epsilon, delta : float
        The budget.
    weak, medium, strong : float
        Chance that such a dependence between two columns is found, at best.
    with_delta : float or None
        The chance for a strong one with a delta of 1e-6; None where there is a delta already.
    fewer : tuple of (int, float) or None
        The largest number of columns with which it would not be hopeless, and the chance then.
    enough : float or None
        The epsilon that finds a strong one 4 times in 5; None: none up to 100 does.
    """

    rows: int
    columns: int
    epsilon: float
    delta: float
    weak: float
    medium: float
    strong: float
    with_delta: float | None = None
    fewer: tuple[int, float] | None = None
    enough: float | None = None

    @property
    def hopeless(self) -> bool:
        """Whether even a strong dependence would not be seen."""
        return self.strong < LEAST_POWER


class Hopeless(InputError):
    """A design that can show nothing; nothing was charged. ``look`` says what was expected and what would help."""

    def __init__(self, message: str, look: Look) -> None:
        super().__init__(message)
        self.look = look


Shows = Callable[[int, float, float], Powers]  # of so many columns, epsilon and delta


def powers_measured(
    sizes: Sequence[int], rows: int, epsilon: float, delta: float, neighbours: Neighbours, level: float
) -> Powers:
    """Chance that ``measured`` finds a weak, medium and strong dependence between the columns with fewest levels.

    >>> [round(part, 2) for part in powers_measured((2,) * 10, 1000, 1.0, 1e-6, Neighbours.REPLACE_ONE, 0.05)]
    [0.09, 0.77, 1.0]
    """
    design = NoiseDesign(tuple(sizes), rows, epsilon, delta, neighbours)
    ranked = sorted(range(len(sizes)), key=lambda j: (sizes[j], j))
    aim = Aim(rows, level, WANTED, STRONG, None)
    weak, medium, strong = (power_at(design, (ranked[1], ranked[0]), w, aim) for w in (WEAK, MEDIUM, STRONG))
    return weak, medium, strong


def powers_moments(
    widths: Sequence[int], rows: int, epsilon: float, delta: float, neighbours: Neighbours, level: float
) -> Powers:
    """The same for ``moments`` at best; ``widths`` are numbers of features (1 for a number).

    >>> [round(part, 2) for part in powers_moments((1,) * 10, 1000, 1.0, 1e-6, Neighbours.REPLACE_ONE, 0.05)]
    [0.34, 1.0, 1.0]
    """
    length = math.sqrt(len(widths))
    moved = moment_sensitivity(neighbours, length / 2, length)
    rho = Filter(epsilon, delta).rho
    noise = moved / math.sqrt(2 * rho) if rho > 0 else moved * (1 + sum(widths)) / epsilon
    variance = 1.0 / rows + (math.sqrt(0.5) * noise / rows) ** 2
    cut = float(chdtri(1.0, level))
    weak, medium, strong = (
        float(1 - chndtr(cut, 1.0, min(w * w / variance, 1e5))) for w in (WEAK, MEDIUM, STRONG)
    )
    return weak, medium, strong


def look(
    sizes: Sequence[int],
    rows: int,
    epsilon: float,
    delta: float,
    neighbours: Neighbours,
    level: float,
    *,
    moments: bool = False,
) -> Look | None:
    """What a discovery is expected to show; None where that can't be said.

    Parameters
    ----------
    sizes
        Declared numbers of levels; for ``moments`` of features, 1 for a number.
    rows
        The public number of rows.
    epsilon, delta, neighbours, level
        The budget and the size of a test.
    moments
        Whether the method is ``moments``, else ``measured``.
    """
    usable = sorted(size for size in sizes if size > (0 if moments else 1))
    if rows < 1 or len(usable) < 2:
        return None
    powers = powers_moments if moments else powers_measured

    def shows(columns: int, with_epsilon: float, with_delta: float) -> Powers:
        return powers(usable[:columns], rows, with_epsilon, with_delta, neighbours, level)

    try:
        found = shows(len(usable), epsilon, delta)
        public = (rows, len(usable), epsilon, delta, *found)
        if found[2] >= LEAST_POWER or any(map(math.isnan, found)):
            return None if any(map(math.isnan, found)) else Look(*public)
        return Look(*public, **_helps(shows, len(usable), epsilon, delta))
    except (ArithmeticError, ValueError, InputError):  # at the ends of what floats hold: the run says so
        return None


def _helps(shows: Shows, columns: int, epsilon: float, delta: float) -> dict[str, object]:
    """What would help a hopeless design."""
    found: dict[str, object] = {}
    if not delta:
        found["with_delta"] = shows(columns, epsilon, SMALL_DELTA)[2]
    low, high = 1, columns
    while high > low + 1:
        middle = (low + high) // 2
        low, high = (middle, high) if shows(middle, epsilon, delta)[2] >= LEAST_POWER else (low, middle)
    if low > 1:
        found["fewer"] = (low, shows(low, epsilon, delta)[2])
    if shows(columns, MAX_EPSILON, delta)[2] >= WANTED:
        ends = [math.log(epsilon), math.log(MAX_EPSILON)]
        for _ in range(12):
            middle_log = sum(ends) / 2
            ends[shows(columns, math.exp(middle_log), delta)[2] >= WANTED] = middle_log
        unit = 10.0 ** (math.floor(ends[1] / math.log(10)) - 1)
        found["enough"] = float(f"{math.ceil(math.exp(ends[1]) / unit) * unit:.2g}")
    return found


def refuse_hopeless(
    schema: Schema, rows: int, epsilon: float, delta: float, neighbours: Neighbours, level: float, method: str
) -> None:
    """Refuse a discovery that can show nothing, before anything is charged.

    Only what is public goes in: ``rows`` too. Methods other than ``measured`` and ``moments`` are let through.

    Raises
    ------
    Hopeless
        With what would help.
    """
    if method not in ("measured", "moments"):
        return
    check_total(epsilon, delta)
    moments = method == "moments"
    sizes = [1 if moments and isinstance(one, Numeric) else one.size - moments for one in schema.values()]
    found = look(sizes, rows, epsilon, delta, neighbours, level, moments=moments)
    if found is not None and found.hopeless:
        raise Hopeless(display().summary(found), found)
