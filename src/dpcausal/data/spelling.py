"""Which cells mean which level.

A level is its printed form. Text matches the level that prints the same, and an alias as it is declared stands for
its level; where neither claims a text that way, these other spellings do, of levels and of aliases, in this order:

1. a whole number k is also ``k.0`` and ``k.0`` is also ``k``; 0 is also ``-0`` and ``-0.0``;
2. ``True``, ``true``, ``TRUE`` are one another, and so are the three spellings of false;
3. true is also ``1`` and ``1.0``, false ``0`` and ``0.0``; and 1 is also true, 0 also false.

Among two levels that claim one spelling on the same line the first declared wins. What is declared to mean a missing
value claims its spellings in the same way, after levels and aliases. Cells that come typed as
numbers match by value: the level that reads as that number, exactly if it can, else to the nearest number
of the cell's own precision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal

import numpy as np

from dpcausal.data.columns import Categorical
from dpcausal.data.entries import FALSE, NUMBER, TRUE

_WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.0)?", re.ASCII)
_ZERO = ("0", "0.0", "-0", "-0.0")
_ONE = ("1", "1.0")


def _printed(text: str) -> tuple[str, ...]:
    return (text,)


def _whole(text: str) -> tuple[str, ...]:
    found = _WHOLE.fullmatch(text)
    if not found:
        return ()
    return _ZERO if text in _ZERO else (found[1], f"{found[1]}.0")


def _truth(text: str) -> tuple[str, ...]:
    return TRUE if text in TRUE else FALSE if text in FALSE else ()


def _crossed(text: str) -> tuple[str, ...]:
    if text in TRUE or text in FALSE:
        return _ONE if text in TRUE else _ZERO
    return TRUE if text in _ONE else FALSE if text in _ZERO else ()


LINES: tuple[Callable[[str], tuple[str, ...]], ...] = (_printed, _whole, _truth, _crossed)


def texts(column: Categorical, missing: int | None = None) -> dict[str, int]:
    """Every text that means a level, with the level's code; what means a missing value has the code ``missing``,
    that of ``other`` unless stated.

    >>> texts(Categorical([0, 1]))["true"], texts(Categorical(["no", "1.0"]))["1"]
    (1, 1)
    >>> texts(Categorical(["no", "yes"], aliases={"1": "yes"}))["1.0"]
    1
    """
    gone = column.other_code if missing is None else missing
    code_of = {printed: code for code, printed in enumerate(column.printed)}
    declared = [
        *code_of.items(),
        *((text, code_of[str(level)]) for text, level in column.aliases.items()),
        *((str(text), gone) for text in column.missing),
    ]
    claimed: dict[str, int] = {}
    for line in LINES:
        for printed, code in declared:
            for text in line(printed):
                claimed.setdefault(text, code)
    return claimed


def numbers(column: Categorical, missing: int | None = None) -> dict[Decimal, int]:
    """Every number that means a level or, with the code ``missing``, a missing value."""
    claimed: dict[Decimal, int] = {}
    for text, code in texts(column, missing).items():  # in the order of the lines above
        if NUMBER.fullmatch(text):
            claimed.setdefault(Decimal(text), code)
    return claimed


def floats(claimed: dict[Decimal, int], kind: type[np.floating]) -> Iterator[tuple[float, int]]:
    """The numbers of ``claimed`` as ``kind`` of float, no number twice: exact ones first, then nearest ones.

    A whole number that ``kind`` can't hold is left out, as is one that would round to zero or infinity.
    """
    seen: set[float] = set()
    with np.errstate(over="ignore", under="ignore"):
        rounded = [(number, float(kind(float(number))), code) for number, code in claimed.items()]
    for exact in (True, False):
        for number, value, code in rounded:
            fits = np.isfinite(value) and (Decimal(value) == number) is exact
            if (
                not fits
                or value in seen
                or (not exact and (value == 0 or number == number.to_integral_value()))
            ):
                continue
            seen.add(value)
            yield value, code
