"""The two kinds of declared column. A declaration is public: it is written down, never read off the data.

A level is known by the way it prints: ``1`` and ``"1"`` are the same level, so they can't both be declared.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from dpcausal.core.errors import SchemaError, did_you_mean

Level = str | int | bool

MOST_LEVELS = 65_535  # so that a code fits in two bytes
DEFAULT_BINS = 4


def _as_list(name: str, value: Any) -> list[Any]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise SchemaError(f"{name} must be a list, not {value!r}")
    return list(value)


def _as_level(value: Any) -> Level:
    if isinstance(value, np.bool_ | np.integer | np.str_):
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise SchemaError("levels holds an integer beyond 64 bits: write it as text")
        return int(value)
    if isinstance(value, str):
        if not _is_text(value):
            raise SchemaError(f"levels holds {value!a}, which is not valid text (a lone surrogate)")
        return str(value)
    raise SchemaError(f"levels must be text, integers or booleans, not {value!r}")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _as_number(name: str, value: Any) -> float:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SchemaError(f"{name} must be a number, not {value!r}")
    try:
        number = float(value) + 0.0  # -0.0 + 0.0 is 0.0
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise SchemaError(f"{name} must be a finite number, not {number}")
    return number


@dataclass(frozen=True, eq=False)
class Categorical:
    """A column that takes one of the declared ``levels`` (text, integers or booleans).

    ``ordered`` says that the order of ``levels`` means something. ``other`` is the level that an undeclared or
    missing value gets; the first level unless stated. The code of a cell is the position of its level.

    >>> Categorical(["no", "yes"]).other, Categorical([0, 1, 2]).size
    ('no', 3)
    >>> Categorical([1, "1"])
    Traceback (most recent call last):
    dpcausal.core.errors.SchemaError: levels 1 and '1' print the same
    """

    levels: Sequence[Level]
    ordered: bool = False
    other: Level | None = None
    printed: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        levels = tuple(_as_level(level) for level in _as_list("levels", self.levels))
        if not levels:
            raise SchemaError("levels is empty: a categorical column needs at least one level")
        if len(levels) > MOST_LEVELS:
            raise SchemaError(
                f"levels holds {len(levels):,} entries: at most {MOST_LEVELS:,} can be declared"
            )
        first: dict[str, Level] = {}
        for level in levels:
            if str(level) in first:
                raise SchemaError(f"levels {first[str(level)]!r} and {level!r} print the same")
            first[str(level)] = level
        if not isinstance(self.ordered, bool | np.bool_):
            raise SchemaError(f"ordered must be true or false, not {self.ordered!r}")
        other = levels[0] if self.other is None else _as_level(self.other)
        if str(other) not in first:
            raise SchemaError(f"other is {other!r}, which is not a level{did_you_mean(str(other), first)}")
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "ordered", bool(self.ordered))
        object.__setattr__(self, "other", first[str(other)])
        object.__setattr__(self, "printed", tuple(first))

    @property
    def size(self) -> int:
        """Number of levels."""
        return len(self.levels)

    @property
    def other_code(self) -> int:
        """Code of ``other``."""
        return self.printed.index(str(self.other))

    def _key(self) -> tuple[object, ...]:  # True == 1 in Python, but not here
        return tuple(map(type, self.levels)), self.printed, self.ordered, str(self.other)

    def __eq__(self, another: object) -> bool:
        return isinstance(another, Categorical) and self._key() == another._key()

    def __hash__(self) -> int:
        return hash(self._key())


@dataclass(frozen=True)
class Numeric:
    """A column of numbers between ``lower`` and ``upper``; whatever lies outside is clamped, infinities too.

    ``bins`` are the public cut points used where a table is counted: the code of v is the number of cut points
    <= v, so m cut points make m + 1 bins and a value on a cut point falls in the bin to its right. Unless stated
    they cut the range into four bins of equal width. ``other`` is the number that a missing cell, NaN or a cell
    that is no number gets; ``lower`` unless stated.

    >>> Numeric(0, 110).bins, Numeric(0, 110, [18, 65]).size
    ((27.5, 55.0, 82.5), 3)
    """

    lower: float
    upper: float
    bins: Sequence[float] | None = None
    other: float | None = None

    def __post_init__(self) -> None:
        lower, upper = _as_number("lower", self.lower), _as_number("upper", self.upper)
        if lower >= upper:
            raise SchemaError(f"lower ({lower:g}) must be below upper ({upper:g})")
        if self.bins is None:
            parts = [i / DEFAULT_BINS for i in range(1, DEFAULT_BINS)]
            bins = tuple(lower * (1 - part) + upper * part for part in parts)
        else:
            bins = tuple(_as_number("bins (every cut point)", cut) for cut in _as_list("bins", self.bins))
        if len(bins) >= MOST_LEVELS:
            raise SchemaError(f"bins makes {len(bins) + 1:,} bins: at most {MOST_LEVELS:,} can be declared")
        edges = (lower, *bins, upper)
        for cut in bins:
            if not lower < cut < upper:
                side, bound = ("lower", lower) if cut <= lower else ("upper", upper)
                place = "equal to" if cut == bound else "below" if side == "lower" else "above"
                raise SchemaError(
                    f"bins must lie strictly between lower and upper: {cut:g} is {place} {side} {bound:g}"
                )
        for left, right in pairwise(edges):
            if left >= right:
                raise SchemaError(
                    f"bins must increase strictly between lower ({lower:g}) and upper ({upper:g}):"
                    f" {right:g} comes after {left:g}"
                )
        other = lower if self.other is None else _as_number("other", self.other)
        if not lower <= other <= upper:
            raise SchemaError(f"other ({other:g}) must lie between lower ({lower:g}) and upper ({upper:g})")
        for name, value in (("lower", lower), ("upper", upper), ("bins", bins), ("other", other)):
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        """Number of bins."""
        assert self.bins is not None
        return len(self.bins) + 1


Column = Categorical | Numeric
