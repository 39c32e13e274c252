"""What the entries of a declaration may be: levels, numbers, aliases and codes for a missing value.

All of it is public metadata, checked when it is declared, never against rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from dpcausal.core.errors import SchemaError, did_you_mean

Level = str | int | bool

TRUE, FALSE = ("True", "true", "TRUE"), ("False", "false", "FALSE")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
SPACE = " \t\n\v\f\r"


class Aliases(Mapping[str, Level]):
    """Spellings and the level each stands for; can't be changed. Equal when they say the same, in any order."""

    __slots__ = ("_levels",)
    _levels: dict[str, Level]

    def __init__(self, levels: Mapping[str, Level]) -> None:
        self._levels = dict(levels)

    def __getitem__(self, spelling: str) -> Level:
        return self._levels[spelling]

    def __iter__(self) -> Iterator[str]:
        return iter(self._levels)

    def __len__(self) -> int:
        return len(self._levels)

    def __hash__(self) -> int:
        return hash(frozenset(self._levels.items()))

    def __repr__(self) -> str:
        return repr(self._levels)


def as_list(name: str, value: Any) -> list[Any]:
    """The entries of a list; ``name`` is for errors, here and below."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise SchemaError(f"{name} must be a list, not {value!r}")
    return list(value)


def as_level(value: Any, name: str = "levels") -> Level:
    """One level: text, an integer or a boolean."""
    if isinstance(value, np.bool_ | np.integer | np.str_):
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise SchemaError(f"{name} holds an integer beyond 64 bits: write it as text")
        return int(value)
    if isinstance(value, str):
        if not _is_text(value):
            raise SchemaError(f"{name} holds {value!a}, which is not valid text (a lone surrogate)")
        return str(value)
    raise SchemaError(f"{name} must be text, integers or booleans, not {value!r}")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_number(name: str, value: Any) -> float:
    """One finite number."""
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


def same(text: str) -> object:
    """What a text is whatever the way it is written: a number, a truth value, or itself without blanks around it.

    >>> same("1.0") == same(" 1"), same("TRUE") == same("true"), same("Yes") == same("yes")
    (True, True, False)
    """
    text = text.strip(SPACE)
    if NUMBER.fullmatch(text):
        return Decimal(text)
    return "true" if text in TRUE else "false" if text in FALSE else text


def as_aliases(value: Any, levels: dict[str, Level]) -> Aliases:
    """Spellings mapped to levels; ``levels`` by the way they print.

    A spelling is no level and not one otherwise written (``1.0`` for the level 1), unless it stands for that one.
    """
    if not isinstance(value, Mapping):
        raise SchemaError(f'aliases must be a table such as {{ Yes = "yes" }}, not {value!r}')
    found: dict[str, Level] = {}
    taken = {same(printed): level for printed, level in reversed(levels.items())}  # the first one stays
    for given, target in value.items():
        spelling = str(as_level(given, "aliases (every spelling)"))
        level = str(as_level(target, "aliases (every level)"))
        if not spelling:
            raise SchemaError("aliases: an empty text is a missing cell, which goes to other")
        if spelling in levels:
            raise SchemaError(f"aliases: {spelling!r} is a level itself")
        if level not in levels:
            hint = did_you_mean(level, levels)
            raise SchemaError(f"aliases: {spelling!r} stands for {level!r}, which is not a level{hint}")
        already = taken.setdefault(same(spelling), levels[level])
        if str(already) != level:
            raise SchemaError(f"aliases: {spelling!r} stands for {level!r}, but reads as {str(already)!r}")
        if spelling in found:
            raise SchemaError(f"aliases: {spelling!r} is given twice")
        found[spelling] = levels[level]
    return Aliases(found)


def as_missing_texts(value: Any, levels: Mapping[str, Level], aliases: Aliases) -> tuple[Level, ...]:
    """Texts that mean a missing value: no level and no alias, nor one otherwise written."""
    codes = {
        str(code): code for code in (as_level(c, "missing (every code)") for c in as_list("missing", value))
    }
    taken = {same(text): text for text in (*aliases, *levels)}
    for code in codes:
        found = taken.get(same(code))
        if found is not None:
            what = "is a level" if found in levels else "is an alias"
            how = what if code == found else f"is {found!r} otherwise written, which {what}"
            raise SchemaError(f"missing holds {code!r}, which {how}")
    return tuple(codes.values())


def as_missing_numbers(value: Any) -> tuple[float, ...]:
    """Numbers that mean a missing value."""
    codes: Sequence[Any] = as_list("missing", value)
    for code in codes:
        if isinstance(code, str):
            raise SchemaError(
                f"missing must hold numbers, not {code!r}: among numbers a text that is none is missing already"
            )
    return tuple(dict.fromkeys(as_number("missing (every code)", code) for code in codes))
