"""The two kinds of declared column. A declaration is public: it is written down, never read off the data.

A level is known by the way it prints: ``1`` and ``"1"`` are the same level, so they can't both be declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from dpcausal.core.errors import SchemaError, did_you_mean
from dpcausal.data.entries import (
    Level,
    as_aliases,
    as_level,
    as_list,
    as_missing_numbers,
    as_missing_texts,
    as_number,
)

__all__ = ["DEFAULT_BINS", "MOST_LEVELS", "Categorical", "Column", "Level", "Numeric"]

MOST_LEVELS = 65_535  # so that a code fits in two bytes
DEFAULT_BINS = 4
MOST_BOUND = 1e100  # so that differences, products and squares of values stay finite, whatever the rows are


@dataclass(frozen=True, eq=False)
class Categorical:
    """A column that takes one of the declared ``levels`` (text, integers or booleans).

    ``ordered`` says that the order of ``levels`` means something. ``other`` is the level that an undeclared or
    missing value gets; the first level unless stated. The code of a cell is the position of its level.

    ``aliases`` maps other spellings to the level each stands for, ``missing`` lists texts that mean a missing value.
    A cell that holds one is read as that level, or as missing: cell by cell, by what is declared and nothing else, so
    no sensitivity changes and no value is ever an error.

    >>> Categorical(["no", "yes"]).other, Categorical([0, 1, 2]).size
    ('no', 3)
    >>> Categorical(["no", "yes"], aliases={"Y": "yes"}, missing=["NA"]).aliases
    {'Y': 'yes'}
    >>> Categorical([1, "1"])
    Traceback (most recent call last):
    dpcausal.core.errors.SchemaError: levels 1 and '1' print the same
    """

    levels: Sequence[Level]
    ordered: bool = False
    other: Level | None = None
    aliases: Mapping[str, Level] = field(default_factory=dict)
    missing: Sequence[Level] = ()
    printed: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        levels = tuple(as_level(level) for level in as_list("levels", self.levels))
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
        other = levels[0] if self.other is None else as_level(self.other)
        if str(other) not in first:
            hint = (
                did_you_mean(str(other), first)
                or f": add it to levels ({len(first)} so far), or name one of them"
            )
            raise SchemaError(f"other is {other!r}, which is not a level{hint}")
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "ordered", bool(self.ordered))
        object.__setattr__(self, "other", first[str(other)])
        aliases = as_aliases(self.aliases, first)
        object.__setattr__(self, "aliases", aliases)
        object.__setattr__(self, "missing", as_missing_texts(self.missing, first, aliases))
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
        kinds, gone = tuple(map(type, self.levels)), tuple(map(str, self.missing))
        return kinds, self.printed, self.ordered, str(self.other), self.aliases, gone

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
    that is no number gets; ``lower`` unless stated. ``missing`` lists numbers that mean a missing value (999, -9):
    a cell that holds one gets ``other`` and is not clamped. That is cell by cell, by what is declared and nothing
    else, so no sensitivity changes.

    >>> Numeric(0, 110).bins, Numeric(0, 110, [18, 65]).size
    ((27.5, 55.0, 82.5), 3)
    """

    lower: float
    upper: float
    bins: Sequence[float] | None = None
    other: float | None = None
    missing: Sequence[float] = ()

    def __post_init__(self) -> None:
        lower, upper = as_number("lower", self.lower), as_number("upper", self.upper)
        if lower >= upper:
            raise SchemaError(f"lower ({lower:g}) must be below upper ({upper:g})")
        if max(-lower, upper) > MOST_BOUND:
            raise SchemaError(
                f"lower ({lower:g}) and upper ({upper:g}) must lie within {-MOST_BOUND:g} and {MOST_BOUND:g}"
            )
        if self.bins is None:
            parts = [i / DEFAULT_BINS for i in range(1, DEFAULT_BINS)]
            bins = tuple(lower * (1 - part) + upper * part for part in parts)
        else:
            bins = tuple(as_number("bins (every cut point)", cut) for cut in as_list("bins", self.bins))
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
        other = lower if self.other is None else as_number("other", self.other)
        if not lower <= other <= upper:
            raise SchemaError(f"other ({other:g}) must lie between lower ({lower:g}) and upper ({upper:g})")
        missing = as_missing_numbers(self.missing)
        for name, value in (("lower", lower), ("upper", upper), ("bins", bins), ("other", other)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "missing", missing)

    @property
    def size(self) -> int:
        """Number of bins."""
        assert self.bins is not None
        return len(self.bins) + 1


Column = Categorical | Numeric
