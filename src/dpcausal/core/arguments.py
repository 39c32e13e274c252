"""Checks of arguments that every public function shares; one clear line when they fail."""

from __future__ import annotations

from dpcausal.core.errors import InputError


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
    return float(level)


def checked_count(number: object, name: str) -> int:
    """A whole number, zero or above."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise InputError(f"{name} must be a whole number, zero or above, not {number!r}")
    return number
