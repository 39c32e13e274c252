"""Which way two columns go together, in words."""

from __future__ import annotations

from dpcausal.citests.result import Trend


def way_words(trend: Trend) -> str:
    """Return which way y goes with x, as a clause; levels do not rise, they come earlier or later.

    >>> way_words(Trend("sex", "creatinine", (), rises=False, by_levels=True, tau=None))
    'later levels of creatinine go with earlier levels of sex (in the order declared)'
    """
    if not trend.by_levels:
        return f"{trend.y} {'rises' if trend.rises else 'falls'} as {trend.x} rises"
    way = "later" if trend.rises else "earlier"
    return f"later levels of {trend.y} go with {way} levels of {trend.x} (in the order declared)"
