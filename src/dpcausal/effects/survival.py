"""Follow-up as an outcome: the time and the status of a row become one declared state, counted as any level is.

A row is in exactly one state: it had the event, a competing event or was censored in one of the intervals between
declared cuts, or it was followed beyond the horizon. The table of strata, arms and states is the table of an effect
(``table.py``) of an outcome with that many levels; nothing else is released, and its sensitivity is the same. What is
estimated from it is a life table (``stats/life_table.py``).

**Ties.** An event at a cut belongs to the interval that ends there, and a row censored at a cut was at risk until then
(the convention of Kaplan and Meier): so the risk is that of an event by the horizon, and a row followed exactly to the
horizon was followed. Where only counts of declared bins are at hand, whose left ends belong to them, an event at a
cut belongs to the interval that begins there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.arguments import checked_column, checked_list
from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.counts.merged import MergedCounts, Recuts
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Categorical, Level, Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.effects.levels import level_names

DEFAULT_INTERVALS = 4
MAX_INTERVALS = 100
READS_AS_CENSORED = frozenset(("censored", "alive", "none", "no", "no event", "false", "0"))


@dataclass(frozen=True)
class Survival:
    """An event in the course of time, as the outcome of ``effect``: its risk by a horizon is compared. All is public.

    Parameters
    ----------
    time : str
        The column with the time that a row was followed: a number, whose upper bound is not below ``horizon``.
    event : str
        The column that says what ended the follow-up. Of two levels the first means censored and the second the event;
        of more, the others are competing events, after which the event can't happen.
    horizon : float
        The time by which the risk of the event is meant, in the units of ``time``.
    cuts : sequence of float or None, default None
        Where the life table is cut before the horizon; None makes four intervals of equal length. More cuts follow the
        curve more closely, and bring more noise.
    event_level, censored : level or None, default None
        The levels of ``event`` that mean the event and a censored row, where they are not the second and the first. A
        level that reads as censored ("censored", "alive", "no", "0") is taken for that one.

    Raises
    ------
    InputError
        If the horizon or the cuts are no increasing numbers above 0.

    Examples
    --------
    >>> Survival("futime", "status", horizon=5.0).ends
    (1.25, 2.5, 3.75, 5.0)
    """

    time: str
    event: str
    horizon: float
    cuts: Sequence[float] | None = None
    event_level: Level | None = None
    censored: Level | None = None

    def __post_init__(self) -> None:
        for name in ("time", "event"):
            if not isinstance(getattr(self, name), str):
                raise InputError(
                    f"{name} of a follow-up must be the name of a column, not {getattr(self, name)!r}"
                )
        if self.time == self.event:
            raise InputError(f'"{self.time}" is both time and event of a follow-up: they are two columns')
        given = () if self.cuts is None else checked_list(self.cuts, "cuts", "numbers before the horizon")
        if len(given) >= MAX_INTERVALS:
            raise InputError(f"cuts makes {len(given) + 1} intervals: at most {MAX_INTERVALS}")
        ends = [_as_time(one, "cuts") for one in given]
        last = _as_time(self.horizon, "horizon")
        for left, right in pairwise((0.0, *ends, last)):
            if left >= right:
                raise InputError(
                    f"cuts must increase strictly between 0 and the horizon: {right:g} comes after {left:g}"
                )
        object.__setattr__(self, "horizon", last)
        object.__setattr__(self, "cuts", None if self.cuts is None else tuple(ends))

    @property
    def ends(self) -> tuple[float, ...]:
        """The ends of the intervals; the last is the horizon."""
        if self.cuts is not None:
            return (*self.cuts, self.horizon)
        parts = range(1, DEFAULT_INTERVALS + 1)
        return tuple(self.horizon * part / DEFAULT_INTERVALS for part in parts)


def _as_time(value: object, name: str) -> float:
    """Return a time as a float; refuse one that is not above 0 and finite."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise InputError(f"{name} of a follow-up must be above 0 and finite, not {value!r}")
    return float(value)


@dataclass(frozen=True)
class FollowUp:
    """What a ``Survival`` means for declared columns: which levels mean what, and which states there are.

    States are numbered by intervals; within one the event comes first, then a competing event (where there may be one)
    and censoring; then come rows followed beyond the horizon, and rows of which nothing is known (where the schema has
    a level for these).
    """

    time: str
    event: str
    ends: tuple[float, ...]
    event_level: str
    censored: str
    competing: tuple[str, ...]
    missing: bool  # whether there is a state for rows of which nothing is known

    @property
    def kinds(self) -> int:
        """The number of ways to leave an interval early: 2 (event, censored), or 3 with competing events."""
        return 3 if self.competing else 2

    @property
    def states(self) -> int:
        """The number of states of a row, without that of unknown follow-up."""
        return len(self.ends) * self.kinds + 1

    def column(self, drafted: bool) -> Categorical:
        """Return the declaration of a column with these states as levels."""
        ways = ("event", *(["competing event"] if self.competing else []), "censored")
        spans = [f"{a:g} to {b:g}" for a, b in pairwise((0.0, *self.ends))]
        names = [f"{way}, {span}" for span in spans for way in ways]
        unknown = ["missing"] if self.missing else []
        return Categorical([*names, f"followed beyond {self.ends[-1]:g}", *unknown], drafted=drafted)


def follow_up(schema: Schema, asked: Survival) -> FollowUp:
    """Return how a ``Survival`` is read from these columns.

    Raises
    ------
    InputError
        If the time is no number that reaches the horizon, or the levels of the event do not say what they mean.
    """
    for name in (asked.time, asked.event):
        checked_column(name, schema)
    time, event = schema[asked.time], schema[asked.event]
    if not isinstance(time, Numeric):
        raise InputError(f'the time of a follow-up must be a number: "{asked.time}" has levels')
    if asked.horizon > time.upper:
        raise InputError(
            f'the horizon ({asked.horizon:g}) is beyond the upper bound of "{asked.time}" ({time.upper:g}), at which '
            "times are clamped"
        )
    if asked.ends[0] <= time.lower:
        raise InputError(
            f'the first cut ({asked.ends[0]:g}) is not above the lower bound of "{asked.time}" ({time.lower:g})'
        )
    names = level_names(event)
    known = [name for code, name in enumerate(names) if code not in event.missing_codes]
    if len(known) < 2:
        raise InputError(f'the event "{asked.event}" needs two levels: censored, and the event')
    for given in (asked.event_level, asked.censored):
        if given is not None and str(given) not in known:
            hint = did_you_mean(str(given), known) or f"; there are {', '.join(known)}"
            raise InputError(f'"{asked.event}" has no level {given!r}{hint}')
    happens = None if asked.event_level is None else str(asked.event_level)
    if asked.censored is not None:
        censored = str(asked.censored)
    else:
        left = [name for name in known if name != happens]
        censored = next((name for name in left if name.strip().casefold() in READS_AS_CENSORED), left[0])
    happens = next(name for name in known if name != censored) if happens is None else happens
    if happens == censored:
        raise InputError(f"{happens!r} can't mean both the event and a censored row")
    competing = tuple(name for name in known if name not in (censored, happens))
    missing = bool(time.missing_codes) or len(known) < len(names)
    return FollowUp(asked.time, asked.event, asked.ends, happens, censored, competing, missing)


def time_bins(column: Numeric, ends: Sequence[float]) -> tuple[float, ...]:
    """Return the bins of the time, in which every end of an interval is a bin of its own, to handle ties.

    >>> [round(cut, 9) for cut in time_bins(Numeric(0, 9), [1, 2])], time_bins(Numeric(0, 2), [2])[-1] < 2
    ([1.0, 1.0, 2.0, 2.0], True)
    """
    found = []
    for end in ends:
        at = min(float(end), math.nextafter(column.upper, -math.inf))  # clamped times lie beyond it
        found += [at, math.nextafter(at, math.inf)]
    return tuple(cut for cut in found if column.lower < cut < column.upper)


def state_codes(schema: Schema, found: FollowUp) -> NDArray[np.int64]:
    """Return the state for every bin of the time (rows) and level of the event (columns).

    Raises
    ------
    InputError
        If a bin of the time reaches over the end of an interval.
    """
    time, event = schema[found.time], schema[found.event]
    assert isinstance(time, Numeric)
    bins = tuple(time.bins or ())
    kinds, last = found.kinds, found.states - 1
    ends = np.minimum(found.ends, math.nextafter(time.upper, -math.inf))
    way = dict.fromkeys(found.competing, 1) | {found.event_level: 0, found.censored: kinds - 1}
    codes = np.full((time.size, event.size), last + 1, dtype=np.int64)
    for code, (left, right) in enumerate(pairwise((time.lower, *bins, time.upper))):
        begins = int(np.searchsorted(ends, left, side="right"))
        if np.searchsorted(ends, right, side="left") > begins and ends[begins] < right:
            raise InputError(
                f'only counts of declared bins of "{found.time}" are at hand, and {left:g} to {right:g} is cut at '
                f"{found.ends[begins]:g}: declare the cuts and the horizon as bins"
            )
        at_end = begins > 0 and left == ends[begins - 1]
        tie = at_end and right == math.nextafter(left, math.inf) < time.upper
        for level, name in enumerate(level_names(event)):
            if level in event.missing_codes:
                continue
            j = begins - 1 if tie and way[name] < kinds - 1 else begins
            codes[code, level] = last if j >= len(ends) else kinds * j + way[name]
    return codes


def states_schema(schema: Schema, found: FollowUp) -> Schema:
    """Return the schema in which the states replace the levels of the event, and the time is dropped."""
    drafted = schema[found.time].drafted or schema[found.event].drafted
    columns = {
        name: found.column(drafted) if name == found.event else column
        for name, column in schema.items()
        if name != found.time
    }
    return schema.with_columns(columns)


def with_states(data: Dataset | Counts, found: FollowUp) -> Dataset | Counts:
    """Return the data with the states of a follow-up in place of its event.

    Rows, and counts that can be cut anew, are cut at the ends of the intervals; other counts must be of bins that end
    there.
    """
    time = data.schema[found.time]
    assert isinstance(time, Numeric)
    bins = time_bins(time, found.ends)
    if isinstance(data, Dataset):
        schema, codes = data.schema, data.codes[found.time].astype(np.int64)
        if found.time in data.values:
            schema = schema.with_bins(found.time, bins)
            cut = np.searchsorted(np.asarray(bins), data.values[found.time], side="right")
            unknown = np.isin(codes, time.missing_codes)
            codes = np.where(unknown, schema[found.time].other_code, cut)
        states = state_codes(schema, found)[codes, data.codes[found.event]].astype(np.uint16)
        kept = {name: array for name, array in data.codes.items() if name != found.time}
        values = {name: array for name, array in data.values.items() if name not in (found.time, found.event)}
        return replace(
            data,
            schema=states_schema(data.schema, found),
            codes=kept | {found.event: states},
            values=values,
            several=None,
        )
    counts = data.with_bins(found.time, bins) if isinstance(data, Recuts) else data
    schema = states_schema(counts.schema, found)
    return MergedCounts(counts, schema, (found.time, found.event), state_codes(counts.schema, found))
