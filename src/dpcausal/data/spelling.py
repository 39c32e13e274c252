"""Which cells mean which level of a categorical column.

A text means the level that prints the same, and a declared alias means its level. Where neither claims a text, these
rules do, for levels and aliases alike, in this order:

1. a whole number k is also ``k.0``, and ``k.0`` is also ``k``; 0 is also ``-0`` and ``-0.0``;
2. ``True``, ``true``, ``TRUE`` are one another, and so are the three spellings of false;
3. true is also ``1`` and ``1.0``, false ``0`` and ``0.0``; and 1 is also true, 0 also false.

If two levels claim a text by the same rule, the one declared first wins. Codes that are declared to mean a missing
value claim their spellings in the same way, after levels and aliases.

Cells that come typed as numbers match by value: the level that reads as that number exactly, or else to the nearest
number of the cell's own precision. ``01``, ``+1`` and ``1.`` read as 1 where nothing else does. A text that no rule
claims and that is a number (``NUMBER_TEXT``) means what this number means as a float64: ``01`` and ``1.00`` the level
1, ``1.5`` the level ``1.50``, ``1e+05`` the level 100000. Cells that come typed as dates or times match the level that
prints the same, or else the one that is the same time: ``2020-01-01``, ``2020-01-01 00:00:00`` and
``2020-01-01T00:00:00.000`` are one another. So a code does not depend on whether a column was stored as numbers, as
objects, or as the texts that were read as these numbers. The exception is a declaration in which two levels are one
number, ``1`` and ``01``: only texts tell these apart.

Every backend codes by these tables, so all of them give the same codes. Cost: O(number of declared spellings).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction

import numpy as np

from dpcausal.data.columns import FALSE_SPELLINGS, LOOSE_NUMBER, NUMBER_PATTERN, TRUE_SPELLINGS, Categorical

_WHOLE_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.0)?", re.ASCII)
_ZERO_SPELLINGS = ("0", "0.0", "-0", "-0.0")
_ONE_SPELLINGS = ("1", "1.0")
NUMBER_TEXT = "[+-]?(0{0,20}[0-9]{1,15}([.][0-9]{0,20})?|[.][0-9]{1,20})([eE][+-]?[0-9]{1,2})?"
"""Texts that are read as numbers, as a pattern that every engine takes: of so few digits that no engine's float
overflows, and that no two whole numbers, written out, are one float."""
_NUMBER_TEXT = re.compile(NUMBER_TEXT)
_TIME = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})?(?:(?(date)[ T])(?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2})(?P<part>\.[0-9]+)?)?Z?",
    re.ASCII,
)


def is_plain_number(text: str) -> bool:
    """Return whether a text is a number with at most a decimal point, or infinite, as ``Decimal`` reads it.

    >>> is_plain_number("+01.5"), is_plain_number("inf"), is_plain_number("1,5")
    (True, True, False)
    """
    return bool(LOOSE_NUMBER.fullmatch(text)) or text.lower().lstrip("+-") in ("inf", "infinity")


def _as_printed(text: str) -> tuple[str, ...]:
    """Return the text itself as its only spelling."""
    return (text,)


def _as_whole_number(text: str) -> tuple[str, ...]:
    """Return other spellings of a whole number: 1.0 for 1."""
    found = _WHOLE_NUMBER.fullmatch(text)
    if not found:
        return ()
    return _ZERO_SPELLINGS if text in _ZERO_SPELLINGS else (found[1], f"{found[1]}.0")


def _as_truth_value(text: str) -> tuple[str, ...]:
    """Return all spellings of a truth value."""
    return TRUE_SPELLINGS if text in TRUE_SPELLINGS else FALSE_SPELLINGS if text in FALSE_SPELLINGS else ()


def _as_zero_or_one(text: str) -> tuple[str, ...]:
    """Return the spellings of 1 and 0 for a truth value, and those of a truth value for 1 and 0."""
    if text in TRUE_SPELLINGS or text in FALSE_SPELLINGS:
        return _ONE_SPELLINGS if text in TRUE_SPELLINGS else _ZERO_SPELLINGS
    return TRUE_SPELLINGS if text in _ONE_SPELLINGS else FALSE_SPELLINGS if text in _ZERO_SPELLINGS else ()


_RULES: tuple[Callable[[str], tuple[str, ...]], ...] = (
    _as_printed,
    _as_whole_number,
    _as_truth_value,
    _as_zero_or_one,
)


def text_codes(column: Categorical, missing: int | None = None) -> dict[str, int]:
    """Return the code of every text that means a level; of missing values ``missing``, by default that of ``other``.

    >>> text_codes(Categorical([0, 1]))["true"], text_codes(Categorical(["no", "1.0"]))["1"]
    (1, 1)
    >>> text_codes(Categorical(["no", "yes"], aliases={"1": "yes"}))["1.0"]
    1
    """
    missing_code = column.other_code if missing is None else missing
    code_of = {printed: code for code, printed in enumerate(column.printed)}
    declared = [
        *code_of.items(),
        *((text, code_of[str(level)]) for text, level in column.aliases.items()),
        *((str(text), missing_code) for text in column.missing),
    ]
    codes: dict[str, int] = {}
    for rule in _RULES:
        for printed, code in declared:
            for text in rule(printed):
                codes.setdefault(text, code)
    return codes


def number_codes(column: Categorical, missing: int | None = None) -> dict[Decimal, int]:
    """Return the code of every number that means a level or, with code ``missing``, a missing value.

    >>> number_codes(Categorical(["no", "01", "1.50"]))
    {Decimal('1.50'): 2, Decimal('1'): 1}
    """
    codes: dict[Decimal, int] = {}
    texts = text_codes(column, missing)
    for pattern in (NUMBER_PATTERN, LOOSE_NUMBER):
        for text, code in texts.items():  # in the order of the rules
            if pattern.fullmatch(text):
                codes.setdefault(Decimal(text), code)
    return codes


def number_of(text: str) -> float | None:
    """Return the number that a text spells; None where it spells none.

    >>> number_of("01.50"), number_of("1e+05"), number_of("9007199254740993"), number_of("1,5")
    (1.5, 100000.0, None, None)
    """
    return float(text) if _NUMBER_TEXT.fullmatch(text) else None


def number_text_codes(column: Categorical, missing: int | None = None) -> dict[float, int]:
    """Return the code of every number that means a level if a cell of text spells it in another way.

    >>> number_text_codes(Categorical(["no", "01", "1.50"]))
    {1.5: 2, 1.0: 1}
    """
    return dict(float_codes(number_codes(column, missing), np.float64))


def canonical_time(text: str) -> str:
    """Return a date or time as text without a midnight time and zero fraction; other texts unchanged.

    >>> canonical_time("2020-01-01T00:00:00.000Z"), canonical_time("2020-01-01T00:00:01.50"), canonical_time("x")
    ('2020-01-01Z', '2020-01-01 00:00:01.5', 'x')
    """
    found = _TIME.fullmatch(text)
    if not found or not (found["date"] or found["time"]):
        return text
    time = (found["time"] or "") + (found["part"] or "").rstrip("0").rstrip(".")
    if found["date"] and time == "00:00:00":
        time = ""
    return " ".join(filter(None, (found["date"], time))) + "Z" * text.endswith("Z")


def time_codes(column: Categorical, missing: int | None = None) -> dict[str, int]:
    """Return the code of every text that means a level; dates and times in the form of ``canonical_time``."""
    codes: dict[str, int] = {}
    for text, code in text_codes(column, missing).items():
        codes.setdefault(canonical_time(text), code)
    return codes


def fits_decimal(number: Decimal, precision: int | None, scale: int | None) -> bool:
    """Return whether a decimal type holds a number exactly; None: any number of digits.

    >>> fits_decimal(Decimal("1.5"), 3, 1), fits_decimal(Decimal("1.25"), 3, 1), fits_decimal(Decimal("999"), 3, 1)
    (True, False, False)
    """
    if abs(number.adjusted()) > 200:
        return False
    if precision is None or scale is None:
        return True
    scaled = Fraction(number) * 10**scale  # exact: a Decimal would be rounded to 28 digits
    return bool(scaled.denominator == 1 and abs(scaled) < 10**precision)


def float_codes(codes: dict[Decimal, int], precision: type[np.floating]) -> Iterator[tuple[float, int]]:
    """Yield (float, code) for numbers with codes, in this float type, each once: exact ones first.

    A whole number that ``precision`` can't hold is left out, and so is one that would round to zero or infinity.
    """
    yielded: set[float] = set()
    with np.errstate(over="ignore", under="ignore"):
        rounded = [(number, float(precision(float(number))), code) for number, code in codes.items()]
    for exact in (True, False):
        for number, value, code in rounded:
            fits = np.isfinite(value) and (Decimal(value) == number) is exact
            inexact_whole = not exact and (value == 0 or number == number.to_integral_value())
            if fits and value not in yielded and not inexact_whole:
                yielded.add(value)
                yield value, code
