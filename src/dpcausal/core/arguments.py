"""Checks of arguments that every public function shares; one clear line when they fail."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

from dpcausal.core.errors import InputError

LEAST_LEVEL = 1e-12


def checked_level(level: object, name: str = "level") -> float:
    """A number strictly between 0 and 1.

    >>> checked_level(0.05)
    0.05
    >>> checked_level(5)
    Traceback (most recent call last):
    dpcausal.core.errors.InputError: level must lie strictly between 0 and 1, not 5
    """
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise InputError(f"{name} must lie strictly between 0 and 1, not {level!r}")
    if not LEAST_LEVEL <= level <= 1 - LEAST_LEVEL:  # a slip of the pen, and beyond what laws are computed to
        raise InputError(f"{name} must be at least {LEAST_LEVEL:g} away from 0 and 1, not {level!r}")
    return float(level)


LEAST_STRENGTH, MOST_STRENGTH = 1e-6, 1e9


def checked_strength(strength: object) -> float:
    """lambda of a ridge fit: from 1e-6, below which rounding could decide whether a matrix can be factored, to 1e9."""
    number = isinstance(strength, int | float) and not isinstance(strength, bool)
    if not number or not LEAST_STRENGTH <= strength <= MOST_STRENGTH:  # type: ignore[operator]
        raise InputError(f"lambda must lie within {LEAST_STRENGTH:g} and {MOST_STRENGTH:g}, not {strength!r}")
    return float(strength)  # type: ignore[arg-type]


def checked_count(number: object, name: str) -> int:
    """A whole number, zero or above."""
    if isinstance(number, bool) or not isinstance(number, Integral) or number < 0:
        raise InputError(f"{name} must be a whole number, zero or above, not {number!r}")
    return int(number)


def checked_name(name: object, what: str) -> str:
    """A text, such as the name of a method or of a column; ``what`` is for the error."""
    if not isinstance(name, str):
        raise InputError(f"{what} must be text, not {name!r}")
    return name


def checked_list(values: object, name: str, of: str) -> list[Any]:
    """The entries of a list, a tuple, a set or the like; not a text and not None."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        kind = "the string " if isinstance(values, str) else ""
        raise InputError(f"{name} must be a list of {of}, not {kind}{values!r}")
    return list(values)


def checked_ledger(ledger: object) -> None:
    """None, an address, or an opened ledger. The error doesn't show it: there may be a password in it."""
    if not (ledger is None or isinstance(ledger, str) or hasattr(ledger, "charge")):
        raise InputError(f"ledger must be an address such as sqlite:///file.db, not {type(ledger).__name__}")
