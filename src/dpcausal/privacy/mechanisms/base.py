"""What every mechanism shares: values on an integer grid, and the order "charge, then draw".

**Grid.** A float64 statistic x becomes the integer r(x) = floor(x/step + 1/2) with ``step`` a power of two, so that the
division is exact. Noise is then added to integers only: no float carries noise.

**Guarantee** (``base.proof.md``). If two values differ by at most Delta up to float64 errors of at most
step/2 each, their integers differ by at most ceil(Delta/step) + 1; if the values are exact multiples of the
step (counts), by Delta/step. For vectors of d coordinates and the lp norm: Delta/step + 2 d^(1/p).

**Edge cases.** NaN becomes 0 and anything beyond 2^52 steps is clamped, silently: an error would be a
release. The sensitivity proof of a statistic must hold for what this map makes of it, so a statistic should
never be NaN.

**Charge, then draw** is the one order in which noise leaves the package: ``release`` and ``begin`` hand the event to
the budget first. If that raises, no noise was drawn; if the process dies in between, the charge stands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.privacy.events import Event

FINENESS = 12  # a sensitivity spans at least 2^12 steps, so rounding costs at most 2/4096 of the noise
LARGEST = 2.0**52


@dataclass(frozen=True)
class Grid:
    """A power-of-two ``step``; ``exact`` promises that every value is already a multiple of it."""

    step: float
    exact: bool = False

    def __post_init__(self) -> None:
        if not (self.step > 0 and math.isfinite(self.step) and math.frexp(self.step)[0] == 0.5):
            raise InputError(f"the step of a grid must be a power of two, not {self.step!r}")

    @classmethod
    def fitting(cls, sensitivity: float, size: int = 1, norm: int = 1) -> Grid:
        """Return the default grid: a public function of the sensitivity and the number of coordinates.

        >>> Grid.fitting(1.0)
        Grid(step=0.000244140625, exact=False)
        """
        return cls(2.0 ** (math.floor(math.log2(sensitivity / size ** (1 / norm))) - FINENESS))

    @proved("base.proof.md")
    def to_integers(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return the nearest grid points, ties upward; NaN to 0, clamped to +-2^52 steps."""
        scaled = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
        with np.errstate(over="ignore", under="ignore"):
            scaled = np.clip(scaled / self.step, -LARGEST, LARGEST)
        below = np.floor(scaled)
        return (below + (scaled - below >= 0.5)).astype(np.int64)

    @proved("base.proof.md")
    def to_integer(self, value: float) -> int:
        """Return the nearest grid point of one number, much faster than ``to_integers``."""
        scaled = float(value) / self.step
        if scaled != scaled:
            return 0
        scaled = min(max(scaled, -LARGEST), LARGEST)
        below = math.floor(scaled)
        return below + (scaled - below >= 0.5)

    def to_values(self, integers: ArrayLike) -> NDArray[np.float64]:
        """Return the values of grid points."""
        return np.asarray(integers, dtype=np.float64) * self.step

    @proved("base.proof.md")
    def sensitivity(self, sensitivity: float, size: int = 1, norm: int = 1) -> float:
        """Return the lp sensitivity (``norm`` p), in grid steps, of ``size`` values after rounding.

        >>> Grid(0.25).sensitivity(1.0), Grid(1.0, exact=True).sensitivity(2.0)
        (5.0, 2.0)
        """
        if not (math.isfinite(sensitivity) and sensitivity > 0):
            raise InputError(f"a sensitivity must be a finite number above zero, not {sensitivity!r}")
        steps = Fraction(sensitivity) / Fraction(self.step)
        if self.exact:
            return float(math.ceil(steps)) if size == 1 else rounded_up(steps)
        if size == 1:
            return float(math.ceil(steps) + 1)
        return math.nextafter(rounded_up(steps) + 2.0 * size ** (1 / norm), math.inf) * (1 + 2.0**-50)


INTEGERS = Grid(1.0, exact=True)  # for counts


def rounded_up(number: Fraction) -> float:
    """Return the least float64 not below ``number``.

    >>> rounded_up(Fraction(1, 3)) >= Fraction(1, 3)
    True
    """
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


Value = TypeVar("Value", contravariant=True)
Released = TypeVar("Released", covariant=True)
Session = TypeVar("Session", covariant=True)


class Charger(Protocol):
    """A budget, filter or ledger that can be charged; raises ``BudgetError`` when it refuses."""

    def charge(self, event: Event, /) -> Any:
        """Record ``event``, or raise and record nothing."""


class Mechanism(Protocol[Value, Released]):
    """A frozen value with an event (what it costs) and a sample (the effect)."""

    def event(self, label: str) -> Event:
        """Return the event that states what a release costs."""

    def sample(self, value: Value) -> Released:
        """Return one noisy answer."""


class Interactive(Protocol[Session]):
    """A mechanism that answers several questions for one charge."""

    def event(self, label: str) -> Event:
        """Return the event that states what the whole session costs."""

    def start(self, threshold: float) -> Session:
        """Return a fresh session."""


def release(mechanism: Mechanism[Value, Released], budget: Charger, label: str, value: Value) -> Released:
    """Charge ``budget`` for one release of ``value`` through ``mechanism``, then draw it."""
    budget.charge(mechanism.event(label))
    return mechanism.sample(value)


def begin(mechanism: Interactive[Session], budget: Charger, label: str, threshold: float) -> Session:
    """Charge ``budget`` for a whole session of an interactive ``mechanism``, then start it."""
    budget.charge(mechanism.event(label))
    return mechanism.start(threshold)


def checked_positive(**numbers: float) -> None:
    """Refuse a public parameter that is not a finite number above zero."""
    for name, value in numbers.items():
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"{name} must be a finite number above zero, not {value!r}")


def checked_size(size: int, name: str = "size") -> None:
    """Refuse a public count that is not an integer above zero."""
    if size != int(size) or size < 1:
        raise InputError(f"{name} must be an integer above zero, not {size!r}")
