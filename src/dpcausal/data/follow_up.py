"""Columns that are a time and a status by their names: declarations alone are looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dpcausal.data.columns import Categorical, Column, Numeric

MAX_EVENT_LEVELS = 5  # of a column that may say whether a time ended in an event
_SPAN = "(time|days?|weeks?|wks?|months?|mos?|years?|yrs?|[dwmy])"
_TIME = re.compile(
    rf"^(time|fu|tte|os|pfs|dfs|efs)([ _.-]?{_SPAN})?$"
    r"|^[a-z]{1,3}[ _.-]?time$|follow[ _.-]?up"
    r"|surv(ival)?[ _.-]?(time|days?|weeks?|months?|years?|yrs?)|time[ _.-]?to"
    r"|überleb|ueberleb|beobachtungs(zeit|dauer)|nachbeobachtung",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"death|died|dead|deceased|mortality|^[a-z]{0,3}[ _.-]?stat(us)?$|event|censor|relaps|recurr|progress(ed|ion)|^tod"
    r"|verst[oa]rb|gestorben",
    re.IGNORECASE,
)


_WORDS_OF_TIME = re.compile(
    r"^time[ _.-]?to[ _.-]?|[ _.-]?time.*$|[ _.-]?(days?|weeks?|wks?|months?|mos?|years?|yrs?)$|[ _.-][dwmy]$",
    re.IGNORECASE,
)


def follow_up_columns(columns: Mapping[str, Column]) -> list[tuple[str, str]]:
    """Return columns that may be a time to an event, each with the status that may belong to it.

    That is one whose name begins as that of the time does (ptime and pstat, os_days and os_event, time_to_death and
    death), else the first of the others.

    >>> bit, time = Categorical([0, 1]), Numeric(0, 9)
    >>> follow_up_columns({"ptime": time, "pstat": bit, "futime": time, "death": bit, "sex": bit})
    [('ptime', 'pstat'), ('futime', 'death')]
    """
    events = [
        name
        for name, column in columns.items()
        if isinstance(column, Categorical) and column.size <= MAX_EVENT_LEVELS and _EVENT.search(name)
    ]
    times = [name for name, column in columns.items() if isinstance(column, Numeric) and _TIME.search(name)]
    own = {time: _of_one_name(time, events) for time in times}
    free = [event for event in events if event not in own.values()] or events
    return [(time, event or free[0]) for time, event in own.items() if event or free]


def _of_one_name(time: str, events: list[str]) -> str | None:
    """Return the status column whose name has the same beginning as that of a time; None where none has."""
    first = _WORDS_OF_TIME.sub("", time).lower()
    return next((event for event in events if first and event.lower().startswith(first)), None)
