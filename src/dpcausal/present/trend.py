"""Which way two columns go together, in words."""

from __future__ import annotations

from collections.abc import Sequence

from dpcausal.citests.result import Trend


def way_words(trend: Trend) -> str:
    """Return which way y goes with x, as a clause; numbers rise, levels come earlier or later.

    >>> way_words(Trend("dose", "pain", (), rises=False, tau=None))
    'pain falls as dose rises'
    >>> way_words(Trend("sex", "creatinine", (), rises=True, tau=None, x_levels=("f", "m")))
    'higher creatinine goes with sex = m'
    >>> way_words(Trend("stage", "cured", (), False, None, ("I", "II", "III"), ("no", "yes")))
    'cured = yes goes with earlier levels of stage (in the order declared)'
    """
    if not trend.by_levels:
        return f"{trend.y} {'rises' if trend.rises else 'falls'} as {trend.x} rises"
    y, x = _part(trend.y, trend.y_levels, later=True), _part(trend.x, trend.x_levels, later=trend.rises)
    many = max(len(trend.x_levels), len(trend.y_levels)) > 2
    verb = "go" if len(trend.y_levels) > 2 else "goes"
    return f"{y} {verb} with {x}{' (in the order declared)' if many else ''}"


def _part(name: str, levels: Sequence[str], *, later: bool) -> str:
    """The upper or the lower part of a column: of numbers, of two levels, or of more."""
    if not levels:
        return f"{'higher' if later else 'lower'} {name}"
    if len(levels) == 2:
        return f"{name} = {levels[later]}"
    return f"{'later' if later else 'earlier'} levels of {name}"
