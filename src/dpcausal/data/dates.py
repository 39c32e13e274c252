"""Dates between two declared bounds: a number of days, how dates are written, and cut points by the calendar.

A date is the number of days since 1 January 1970, whatever it is stored as, and is clamped and cut as any number is.
In text it is written as declared: ``2020-01-31`` (a time of day after it is left out), or by a format such as
``%d/%m/%Y``. Which of two numbers is the day is never read off the rows. Times with a zone count by their day in UTC.

**Guarantee.** A cell is read by itself, by what is declared and nothing else: a date outside the bounds is clamped, a
cell that is no date becomes ``other``, and no value raises.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcausal.data.columns import DeclarationError, Numeric, require

EPOCH = datetime.date(1970, 1, 1)
ISO = "%Y-%m-%d"
CALENDAR = {"years": (1,), "quarters": (1, 4, 7, 10)}  # months that begin a bin
_ISO_TEXT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9.]{2,})?(?:Z|[+-][0-9:]{4,6})?)?"
)

Day = str | datetime.date | float


@dataclass(frozen=True, init=False)
class Date(Numeric):
    """A column of dates between two declared bounds, with public cut points for tables.

    Parameters
    ----------
    lower, upper : str or date
        Bounds, written ``2020-01-31``.
    bins : str, sequence of str or date, optional
        Cut points: "years", "quarters", or dates strictly between the bounds, each the first day of its bin. Unless
        given, the range is cut into four bins of equal length.
    other : str or date, optional
        The date that a missing value, or a text that is no date, gets. ``lower`` unless given.
    missing : sequence of str or date, optional
        Dates that mean a missing value (1900-01-01), and texts.
    format : str, optional
        How dates are written in text, by %Y, %y, %m, %d, %b and %B: ``%d/%m/%Y``. ``2020-01-31`` unless given.
    missing_level, label, drafted, scale
        As in ``Numeric``; the scale is linear.

    Raises
    ------
    SchemaError
        If the declaration contradicts itself.

    Examples
    --------
    >>> seen = Date("2018-01-01", "2020-12-31", "years")
    >>> seen.size, [seen.shown(cut) for cut in seen.bins]
    (3, ['2019-01-01', '2020-01-01'])
    """

    format: str = ISO

    def __init__(
        self,
        lower: Day,
        upper: Day,
        bins: str | Sequence[Day] | None = None,
        other: Day | None = None,
        missing: Sequence[Day] = (),
        format: str = ISO,  # noqa: A002
        missing_level: bool = False,
        label: str = "",
        drafted: bool = False,
        scale: str = "linear",
    ) -> None:
        require(scale == "linear", "scale", "a date has no scale: leave it out")
        given: Any = missing
        is_list = isinstance(given, Sequence) and not isinstance(given, str)
        require(is_list, "missing", f"missing must be a list, not {missing!r}")
        low, high = _as_day(lower, "lower"), _as_day(upper, "upper")
        vars(self).update(
            lower=low,
            upper=high,
            bins=_as_cuts(bins, low, high),
            other=None if other is None else _as_day(other, "other"),
            missing=[_as_missing(one) for one in missing],
            format=_as_format(format),
            scale=scale,
            missing_level=missing_level,
            label=label,
            drafted=drafted,
        )
        self.__post_init__()

    def public(self, value: float) -> str:
        """Return a number of days as a fact tells it: as a date."""
        return self.shown(value)

    def shown(self, value: float) -> str:
        """Return a number of days as a date for people."""
        return (EPOCH + datetime.timedelta(days=round(value))).isoformat()


def date_entries(column: Date) -> dict[str, Any]:
    """Return the entries that declare a column of dates in a schema file, besides type and label."""
    shown = column.shown
    found: dict[str, Any] = {"lower": shown(column.lower), "upper": shown(column.upper)}
    cuts = tuple(column.bins or ())
    by_calendar = (
        name for name in CALENDAR if cuts and cuts == tuple(_as_cuts(name, column.lower, column.upper) or ())
    )
    found["cuts"] = next(by_calendar, tuple(map(shown, cuts)))
    if column.format != ISO:
        found["format"] = column.format
    found["other"] = shown(column.other or 0.0)
    missing = (*map(shown, column.missing), *column.missing_texts)
    return found | ({"missing": missing} if missing else {})


def _as_format(value: Any) -> str:
    """Return the format of dates; refuse one that can't be used."""
    found = re.findall(r"%.", value) if isinstance(value, str) else []
    kinds = sorted(
        {"%Y": "y", "%y": "y", "%m": "m", "%b": "m", "%B": "m", "%d": "d"}.get(one, "?") for one in found
    )
    names = f'format must name a year, a month and a day, such as "%d/%m/%Y", not {value!r}'
    require(kinds == ["d", "m", "y"], "format", names)
    return str(value)


def _as_day(value: Any, entry: str) -> float:
    """Return a date as a number of days."""
    if isinstance(value, datetime.datetime):
        value = value.date()
    if isinstance(value, datetime.date):
        return float((value - EPOCH).days)
    if isinstance(value, str) and _ISO_TEXT.fullmatch(value.strip()):
        try:
            return float((datetime.date.fromisoformat(value.strip()[:10]) - EPOCH).days)
        except ValueError:
            pass
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return float(value)  # days already
    raise DeclarationError(entry, f'{entry} must be a date, such as "2020-01-31", not {value!r}')


def _as_missing(value: Any) -> Any:
    """Return a date that stands for a missing value as a number of days; a text as it is."""
    if isinstance(value, str) and not _ISO_TEXT.fullmatch(value.strip()):
        return value
    return _as_day(value, "missing")


def _as_cuts(value: Any, lower: float, upper: float) -> Sequence[float] | None:
    """Return the cut points of dates as numbers of days: those given, or every year or quarter."""
    if isinstance(value, str) and value in CALENDAR:
        first, last = (EPOCH + datetime.timedelta(days=round(one)) for one in (lower, upper))
        starts = [
            float((datetime.date(year, month, 1) - EPOCH).days)
            for year in range(first.year, last.year + 1)
            for month in CALENDAR[value]
        ]
        return [start for start in starts if lower < start < upper]
    if value is None:
        parts = (0.25, 0.5, 0.75)
        whole = sorted({float(round(lower + part * (upper - lower))) for part in parts})
        return [cut for cut in whole if lower < cut < upper]
    if isinstance(value, list | tuple):
        return [_as_day(one, "bins") for one in value]
    raise DeclarationError("bins", f'cuts must be "years", "quarters" or a list of dates, not {value!r}')


def read_day(text: str, format: str = ISO) -> float:  # noqa: A002
    """Return the day that a text spells in this format, as a number; NaN where it is no date.

    >>> read_day("1970-01-02"), read_day(" 02/01/1970", "%d/%m/%Y"), read_day("1970-02-30")
    (1.0, 1.0, nan)
    """
    try:
        if format == ISO:
            found = _ISO_TEXT.fullmatch(text.strip())
            return float((datetime.date.fromisoformat(found[1]) - EPOCH).days) if found else np.nan
        return float((datetime.datetime.strptime(text.strip(), format).date() - EPOCH).days)
    except (ValueError, OverflowError):
        return np.nan
