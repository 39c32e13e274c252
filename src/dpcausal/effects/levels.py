"""What levels, bins and groups of merged levels are called in questions, and what those of an outcome count.

An outcome counts between 0 and 1: by its levels, an event, a cut of a number, or the middles of its bins. Where only
counts of bins are at hand, the mean of a number is taken by their middles, and can be off by half the width of a bin in
either arm. Intervals are wider by as much, and where that rules them the question is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.core.spelling import spelled, worded
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Categorical, Column, Level, Numeric, reads_as_missing
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema

Groups = Mapping[str, Sequence[int]]  # of a column, the group of every level


def level_names(column: Column) -> tuple[str, ...]:
    """Return the names of the levels or bins of a column.

    >>> level_names(Numeric(0, 110, [18, 65]))
    ('below 18', '18 to 65', '65 or more')
    """
    if not isinstance(column, Numeric):
        return column.printed
    cuts = tuple(map(column.shown, column.bins or ()))
    named = tuple(_bin_name(cuts, code, code) for code in range(len(cuts) + 1))
    return (*named, "missing") if column.missing_level else named


def _bin_name(cuts: Sequence[str], first: int, last: int) -> str:
    """Return the name of the bins ``first`` to ``last`` taken together, from their cut points."""
    if first and last < len(cuts):
        return f"{cuts[first - 1]} to {cuts[last]}"
    if first:
        return f"{cuts[first - 1]} or more"
    return f"below {cuts[last]}" if last < len(cuts) else "all"


def group_names(column: Column, groups: Collection[int]) -> list[str]:
    """Return a name for each group of levels of a column.

    >>> group_names(Numeric(0, 90, [30, 40, 50], missing_level=True), (0, 0, 1, 1, 1))
    ['below 40', '40 or more, missing']
    >>> group_names(Categorical(["a", "b", "c"]), (0, 1, 0))
    ['a, c', 'b']
    """
    names, found = level_names(column), []
    cuts = tuple(map(column.shown, column.bins or ())) if isinstance(column, Numeric) else ()
    for group in range(max(groups) + 1):
        codes = [code for code, one in enumerate(groups) if one == group]
        bins = [code for code in codes if cuts and code <= len(cuts)]
        parts = [_bin_name(cuts, bins[0], bins[-1])] if bins else []
        found.append(", ".join(parts + [names[code] for code in codes if code not in bins]))
    return found


def coarse(schema: Schema, groups: Groups) -> Schema:
    """Return the schema in which each of these columns has one level for every group."""
    if not groups:
        return schema
    merged = {
        name: Categorical(group_names(schema[name], which), drafted=schema[name].drafted)
        for name, which in groups.items()
    }
    return schema.with_columns({name: merged.get(name, column) for name, column in schema.items()})


def examples(names: Sequence[str]) -> list[str]:
    """Return levels for an example in a message: none for missing values or negative codes, if two remain.

    >>> examples(["-1", "0", "1", "missing"]), examples(["yes", "unknown"])
    (['0', '1'], ['yes', 'unknown'])
    """
    known = [name for name in names if not reads_as_missing(name)]
    plain = [name for name in known if not name.startswith("-")]
    return next(few for few in (plain, known, list(names)) if len(few) > 1 or few == list(names))


def event_option(text: str) -> str:
    """Return how the caller writes the option that names an event."""
    return spelled(f'--event "{text}"', f"event={text!r}")


def compare_option(first: str, second: str) -> str:
    """Return how the caller writes the option that names two levels of the treatment."""
    return spelled(f'--compare "{first},{second}"', f"compare=({first!r}, {second!r})")


def what_groups_answer(schema: Schema, groups: Groups, treatment: str, outcome: str) -> str:
    """Return how the caller can ask a question that merged levels answer; empty if there is none."""
    ways = []
    if treatment in groups and max(groups[treatment]):
        names = examples(group_names(schema[treatment], groups[treatment]))
        if "," not in names[0] + names[-1]:
            ways.append(compare_option(names[0], names[-1]))
    if outcome in groups and max(groups[outcome]):
        ways.append(event_option(examples(group_names(schema[outcome], groups[outcome]))[-1]))
    return worded(" ", ", ", ", ").join(ways)


# of half the width of an interval: where bins can put a mean off by more, they rule the answer, and it is refused
MOST_BIAS = 0.5
# of the range of an outcome that a bin may take, before anything is charged: an interval that says something is at most
# half the range wide (``forecast.MOST_WIDTH``), and MOST_BIAS of half of that is an eighth
MOST_BIN = MOST_BIAS * 0.25

NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
AT_LEAST = (rf"(?:>=|=>|\u2265|at least)\s*{NUMBER}", rf"{NUMBER}\s*(?:\+|(?:or|and) (?:more|above|over))")
BELOW = (rf"(?:<|below|under|less than)\s*{NUMBER}",)


class Scores(NamedTuple):
    """What each level or bin counts, in [0, 1], the values that 0 and 1 stand for, and the event, for a risk."""

    scores: tuple[float, ...]
    low: float
    high: float
    event: str | None


def outcome_scores(name: str, column: Column, event: Level | None) -> Scores:
    """Return the score of each level or bin of an outcome: 1 for the event, or its place, number or middle.

    Raises
    ------
    InputError
        If the column has no such event, or neither an event nor an order.
    """
    if isinstance(column, Numeric):
        if event is not None:
            happens, called = _number_event(name, column, event)
            return Scores(happens, 0.0, 1.0, called)
        middles = [(a + b) / 2 for a, b in pairwise(bin_ends(column))]
        middles += [float(column.other or 0.0)] * column.missing_level
        width = column.upper - column.lower
        return Scores(tuple((m - column.lower) / width for m in middles), column.lower, column.upper, None)
    assert isinstance(column, Categorical)
    if column.size < 2:
        raise InputError(f'the outcome "{name}" has one level: nothing can change it')
    printed = column.printed
    if event is not None:
        if str(event) not in printed:
            hint = did_you_mean(str(event), printed) or f"; there are {', '.join(printed)}"
            raise InputError(f'the outcome "{name}" has no level {event!r}{hint}')
        return Scores(tuple(float(level == str(event)) for level in printed), 0.0, 1.0, str(event))
    if column.size == 2:
        return Scores((0.0, 1.0), 0.0, 1.0, printed[1])
    if not column.ordered:
        raise InputError(
            f'the outcome "{name}" has {column.size} levels without an order: say which one counts, such as '
            f"{event_option(examples(printed)[-1])}, or declare ordered = true"
        )
    known = [code for code in range(column.size) if code not in column.missing_codes]
    known = known if len(known) > 1 else list(range(column.size))
    levels = [column.levels[code] for code in known]
    whole = [float(level) for level in levels if isinstance(level, int) and not isinstance(level, bool)]
    values = whole if len(whole) == len(known) else [float(i) for i in range(len(known))]
    low, high = min(values), max(values)
    scores = {code: (value - low) / (high - low) for code, value in zip(known, values, strict=True)}
    return Scores(tuple(scores.get(code, 0.0) for code in range(column.size)), low, high, None)


def left_out_codes(column: Column, scores: Sequence[float], event: str | None) -> tuple[int, ...]:
    """Return the codes for missing outcomes that no arm counts.

    >>> left_out_codes(Categorical(["no", "yes", "unknown"]), (0.0, 1.0, 0.0), "yes")
    (2,)
    >>> left_out_codes(Categorical(["no", "yes", "unknown"]), (0.0, 0.0, 1.0), "unknown")
    ()
    """
    codes = column.missing_codes
    asked = event is not None and any(scores[code] for code in codes)
    categories = isinstance(column, Categorical) and column.size - len(codes) < 2
    return () if asked or categories else codes


def number_cut(event: object) -> tuple[float, bool] | None:
    """Return the cut that a text like ">= 400" names, and whether numbers from it on are meant; None: no cut.

    >>> number_cut(">=400"), number_cut("400 or more"), number_cut("below 18.5"), number_cut("18 to 65")
    ((400.0, True), (400.0, True), (18.5, False), None)
    """
    text = str(event).strip().lower()
    for patterns, above in ((AT_LEAST, True), (BELOW, False)):
        for pattern in patterns:
            match = re.fullmatch(pattern, text)
            if match:
                return float(match.group(1)), above
    return None


def _number_event(name: str, column: Numeric, event: Level) -> tuple[tuple[float, ...], str]:
    """Return 0/1 scores of the bins of a number by an event, and the event's name."""
    cuts, names = tuple(column.bins or ()), level_names(column)
    cut = number_cut(event)
    if cut is None:
        if str(event) in names:
            return tuple(float(one == str(event)) for one in names), str(event)
    elif cut[0] in cuts:
        first = cuts.index(cut[0]) + 1
        bins = range(len(cuts) + 1)
        happens = [float((i >= first) == cut[1]) for i in bins] + [0.0] * column.missing_level
        return tuple(happens), f"{'>=' if cut[1] else '<'} {cut[0]:g}"
    example = f">= {cuts[0]:g}" if cuts else ">= NUMBER"
    other_sign = cut is None and str(event).lstrip().startswith((">", "<", "=", "≤"))
    how = "only >= and < are understood" if other_sign else "name a cut"
    raise InputError(
        f'the outcome "{name}" is a number and has no event {str(event)!r}: {how}, such as {event_option(example)}. '
        f"The declared cuts are {', '.join(f'{one:g}' for one in cuts) or 'none'}; an effect that is measured on the "
        f"rows takes any number between {column.lower:g} and {column.upper:g}"
    )


def schema_with_cut(schema: Schema, outcome: object, event: object) -> Schema:
    """Return the schema in which the cut that ``event`` names is declared, for rows that are measured now.

    A number between the bounds becomes the only cut of the outcome; where it is declared already, or no such cut is
    named, the schema is returned as it is. The event is public, so that this depends on no row.

    >>> from dpcausal.data.columns import Numeric
    >>> schema_with_cut(Schema(cells=Numeric(0, 1000, [500])), "cells", ">= 400")["cells"].bins
    (400.0,)
    """
    column = schema[outcome] if isinstance(outcome, str) and outcome in schema else None
    cut = None if event is None else number_cut(event)
    if not isinstance(column, Numeric) or cut is None or cut[0] in (column.bins or ()):
        return schema
    if not column.lower < cut[0] < column.upper:
        return schema
    return schema.with_bins(str(outcome), [cut[0]])


def rows_with_cut(data: Dataset | Counts, outcome: object, event: object) -> Dataset | Counts:
    """Return the rows with the outcome cut as ``schema_with_cut`` declares; counts stay as they are."""
    if not isinstance(data, Dataset) or outcome not in data.values:
        return data
    schema = schema_with_cut(data.schema, outcome, event)
    if schema is data.schema:
        return data
    name = str(outcome)
    old, column = data.schema[name], schema[name]
    assert isinstance(column, Numeric)
    codes = np.searchsorted(np.asarray(column.bins), data.values[name], side="right").astype(np.uint8)
    if column.missing_level:
        codes = np.where(data.codes[name] == old.other_code, column.other_code, codes)
    return replace(data, schema=schema, codes={**data.codes, name: codes}, several=None)


def bin_ends(column: Numeric) -> list[float]:
    """Return the bounds and the cut points of a number, ascending."""
    return [column.lower, *(column.bins or ()), column.upper]


def widest_bin(column: Numeric) -> tuple[float, float]:
    """Return the ends of the widest bin: its width bounds the error of a difference of means.

    >>> widest_bin(Numeric(0, 90, [1, 2, 9]))
    (9.0, 90.0)
    """
    low, high = max(pairwise(bin_ends(column)), key=lambda ends: ends[1] - ends[0])
    return float(low), float(high)


def bins_bias(column: Numeric, counts: NDArray[np.float64]) -> float:
    """Return the largest error of a difference of means computed from the middles of bins.

    A row lies at most half the width of its bin from the middle, in either arm; ``counts`` has a row for each of the
    two arms and a column for each bin, and counts that noise made negative are taken as none. Missing values that have
    a bin of their own all count the same.

    >>> bins_bias(Numeric(-50, 50, [0]), np.array([[10.0, 30.0], [20.0, 20.0]]))
    50.0
    """
    widths = [b - a for a, b in pairwise(bin_ends(column))]
    half = np.array(widths + [0.0] * column.missing_level) / 2
    positive = np.maximum(counts, 0.0)
    totals = positive.sum(axis=1)
    means = np.divide(positive @ half, totals, out=np.full(2, half.max()), where=totals > 0)
    return float(means.sum())


def _instead(column: Numeric) -> str:
    """Return the advice against the error of binning: a cut of the outcome, its values, or to go on anyway."""
    cuts = column.bins or ()
    example = f">= {cuts[len(cuts) // 2]:g}" if cuts else ">= NUMBER"
    return (
        f"The risk difference of a cut has no such error ({event_option(example)}), and an effect measured on the rows "
        f"uses the values ({spelled('effect FILE --schema SCHEMA --epsilon E', 'data= and epsilon=')}); "
        f"{spelled('--anyway', 'anyway=True')} goes on, with an interval that is wider by that much"
    )


def refuse_wide_bin(column: Numeric, outcome: str) -> None:
    """Refuse a mean of a number by the middles of its bins where one of them is too wide; from the schema alone.

    Raises
    ------
    InputError
        With what would help; nothing was charged.
    """
    low, high = widest_bin(column)
    share = (high - low) / (column.upper - column.lower)
    if share > MOST_BIN:
        raise InputError(
            f"only counts of bins are at hand, and the bin {low:g} to {high:g} is {share:.0%} of the range of "
            f"{outcome!r}: a mean by the middles of bins would be far off. {_instead(column)}"
        )


def refuse_biased(column: Numeric, outcome: str, bias: float, interval: tuple[float, float]) -> None:
    """Refuse a mean by middles of bins whose possible bias dominates the interval.

    Raises
    ------
    InputError
        With what would help; all in it was released before.
    """
    half = (interval[1] - interval[0]) / 2
    if bias > MOST_BIAS * half:
        raise InputError(
            f"only counts of bins are at hand, and rows within the bins of {outcome!r} can put a difference of means "
            f"off by {bias:.3g}, where the interval would reach {half:.3g} to each side. {_instead(column)}"
        )
