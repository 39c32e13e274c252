"""What an effect is asked of: two arms of a treatment, an outcome scaled to [0, 1], strata. All of it is declared."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.arguments import checked_list, checked_name, column_names
from dpcausal.core.errors import InputError, did_you_mean, no_columns
from dpcausal.core.spelling import spelled
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Categorical, Column, Level, Numeric, has_order
from dpcausal.data.dataset import Dataset
from dpcausal.data.missing_words import reads_as_missing
from dpcausal.data.schema import Schema

Estimand = Literal["risk difference", "risk ratio", "odds ratio", "mean difference"]
ESTIMANDS: tuple[str, ...] = get_args(Estimand)
MOST_COUNTED = (
    3  # levels of an outcome whose rows are counted level by level: less noise than split rows with Q
)


@dataclass(frozen=True)
class EffectQuestion:
    """How much larger is the outcome in one arm of the treatment than in the other, other columns held fixed?

    Attributes
    ----------
    treatment, outcome : str
        The columns.
    adjust : tuple of str
        The columns held fixed, in the order of the schema.
    arms : pair of int
        Codes of the two arms; the effect is the second minus (or over) the first.
    arm_names : pair of str
        Their levels as printed.
    treatment_levels : int
        How many levels the treatment has in all.
    scores : tuple of float
        What each level or bin of the outcome counts, in [0, 1].
    by_value : bool
        Whether the outcome is a number whose values are used, not its bins.
    low, high : float
        The values of the outcome that 0 and 1 stand for.
    event : str or None
        The level whose risk is compared, for a risk, or the cut of a number (">= 400", "< 400"); else None.
    estimand : str
        As in ``ESTIMANDS``.
    missing : tuple of int
        Codes of the outcome for missing values: in a table their rows are in neither arm.
    """

    treatment: str
    outcome: str
    adjust: tuple[str, ...]
    arms: tuple[int, int]
    arm_names: tuple[str, str]
    treatment_levels: int
    scores: tuple[float, ...]
    by_value: bool
    low: float
    high: float
    event: str | None
    estimand: str
    missing: tuple[int, ...] = ()

    @property
    def known(self) -> tuple[int, ...]:
        """Codes of the outcome that are not left out as missing."""
        return tuple(code for code in range(len(self.scores)) if code not in self.missing)

    @property
    def known_scores(self) -> tuple[float, ...]:
        """What the levels of the outcome count that are not left out as missing."""
        return tuple(self.scores[code] for code in self.known)

    @property
    def two_levels(self) -> bool:
        """Whether every row in an arm has an outcome of 0 or 1."""
        return not self.by_value and set(self.known_scores) <= {0.0, 1.0}

    @property
    def by_levels(self) -> bool:
        """Whether rows are counted by the level of the outcome: with up to ``MOST_COUNTED`` levels."""
        return self.two_levels or (not self.by_value and len(self.known) <= MOST_COUNTED)

    @property
    def cell_scores(self) -> tuple[float, ...]:
        """What the cells of an arm count, in [0, 1]: levels where rows are counted by them, else two halves."""
        return self.known_scores if self.by_levels and not self.two_levels else (0.0, 1.0)

    @property
    def other_arms(self) -> bool:
        """Whether the treatment has levels that are not compared."""
        return self.treatment_levels > 2

    @property
    def others(self) -> bool:
        """Whether rows can be in neither arm of a table: by their treatment, or since their outcome is missing."""
        return self.other_arms or bool(self.missing)

    def score_array(self) -> NDArray[np.float64]:
        """The scores as an array."""
        return np.asarray(self.scores, dtype=np.float64)

    @property
    def key(self) -> str:
        """The question in one line, for the ledger."""
        given = f" given {', '.join(self.adjust)}" if self.adjust else ""
        return f"effect of {self.treatment} on {self.outcome}{given}"


def checked_columns(schema: Schema, treatment: object, outcome: object, adjust: object) -> tuple[str, ...]:
    """Return the columns to adjust for in the order of the schema, all names checked.

    Raises
    ------
    InputError
        If a name is not in the schema, the treatment is the outcome, or a column is named twice.
    """
    given = column_names(adjust, "adjust", schema)
    asked = [checked_name(name, "the name of a column") for name in (treatment, outcome, *given)]
    if lacking := [name for name in asked if name not in schema]:
        raise InputError(no_columns(lacking, schema))
    if treatment == outcome:
        raise InputError(
            f'"{treatment}" is both treatment and outcome: an effect is of one column on another'
        )
    for name in (treatment, outcome):
        if name in given:
            raise InputError(f'can\'t adjust for "{name}": it is the treatment or the outcome')
    if len(set(given)) < len(given):
        raise InputError(f"adjust names a column twice: {', '.join(given)}")
    place = {name: i for i, name in enumerate(schema)}
    return tuple(sorted(given, key=place.__getitem__))


def effect_question(
    schema: Schema,
    treatment: str,
    outcome: str,
    adjust: Sequence[str],
    *,
    estimand: str = "auto",
    compare: Sequence[Level] | None = None,
    event: Level | None = None,
    values: bool = True,
) -> EffectQuestion:
    """Return the question about these columns.

    Parameters
    ----------
    schema
        The declared columns.
    treatment, outcome, adjust
        The columns.
    estimand
        As in ``ESTIMANDS``, or "auto".
    compare
        The two levels of the treatment, the one compared with first; None for the first and last of two or of ordered
        levels.
    event
        The level of the outcome whose risk is meant; None for the second of two. Of a number, a declared cut such as
        ">= 400", or a declared bin.
    values
        Whether the numbers of a numeric outcome are there; else its bins count by their middles.

    Raises
    ------
    InputError
        If the columns do not allow this question.
    """
    given = checked_columns(schema, treatment, outcome, adjust)
    arms, names = _arms(treatment, schema[treatment], compare)
    scores, low, high, happened = _scores(outcome, schema[outcome], event)
    chosen = _estimand(estimand, outcome, happened)
    numeric = isinstance(schema[outcome], Numeric) and happened is None
    return EffectQuestion(
        treatment=treatment,
        outcome=outcome,
        adjust=given,
        arms=arms,
        arm_names=names,
        treatment_levels=schema[treatment].size,
        scores=scores,
        by_value=numeric and values,
        low=low,
        high=high,
        event=happened,
        estimand=chosen,
        missing=left_out_codes(schema[outcome], scores, happened),
    )


def left_out_codes(column: Column, scores: Sequence[float], event: str | None) -> tuple[int, ...]:
    """Return the codes for missing values that no arm counts: none where they are the event, or all but one level.

    >>> left_out_codes(Categorical(["no", "yes", "unknown"]), (0.0, 1.0, 0.0), "yes")
    (2,)
    >>> left_out_codes(Categorical(["no", "yes", "unknown"]), (0.0, 0.0, 1.0), "unknown")
    ()
    """
    codes = column.missing_codes
    asked = event is not None and any(scores[code] for code in codes)
    categories = isinstance(column, Categorical) and column.size - len(codes) < 2
    return () if asked or categories else codes


def _arms(
    name: str, column: Column, compare: Sequence[Level] | None
) -> tuple[tuple[int, int], tuple[str, str]]:
    """Codes and names of the two arms; the bins of a number are ordered levels, a bin for missing ones apart."""
    names = level_names(column)
    last = column.size - 1 - (isinstance(column, Numeric) and column.missing_level)
    if last < 1:
        raise InputError(f'the treatment "{name}" has one level: there is nothing to compare')
    if compare is None:
        if not has_order(column):
            first, second = examples(names)[:2]
            how = spelled(f'--compare "{first},{second}"', f"compare=({first!r}, {second!r})")
            raise InputError(
                f'the treatment "{name}" has {column.size} levels without an order: say which two to compare, such as '
                f"{how}"
            )
        return (0, last), (names[0], names[last])
    two = [str(level) for level in checked_list(compare, "compare", "two levels")]
    if len(two) != 2 or two[0] == two[1]:
        raise InputError(f"compare must name two different levels of the treatment, not {list(compare)!r}")
    for level in two:
        if level not in names:
            hint = did_you_mean(level, names) or f"; there are {', '.join(names)}"
            raise InputError(f'the treatment "{name}" has no level {level!r}{hint}')
    return (names.index(two[0]), names.index(two[1])), (two[0], two[1])


def _scores(
    name: str, column: Any, event: Level | None
) -> tuple[tuple[float, ...], float, float, str | None]:
    """Scores of levels or bins in [0, 1], the values of 0 and 1, and the level whose risk is meant."""
    if isinstance(column, Numeric):
        if event is not None:
            happens, called = _number_event(name, column, event)
            return happens, 0.0, 1.0, called
        ends = [column.lower, *(column.bins or ()), column.upper]
        middles = [(a + b) / 2 for a, b in pairwise(ends)] + [
            float(column.other or 0.0)
        ] * column.missing_level
        width = column.upper - column.lower
        return tuple((m - column.lower) / width for m in middles), column.lower, column.upper, None
    assert isinstance(column, Categorical)
    if column.size < 2:
        raise InputError(f'the outcome "{name}" has one level: nothing can change it')
    printed = column.printed
    if event is not None:
        if str(event) not in printed:
            hint = did_you_mean(str(event), printed) or f"; there are {', '.join(printed)}"
            raise InputError(f'the outcome "{name}" has no level {event!r}{hint}')
        return tuple(float(level == str(event)) for level in printed), 0.0, 1.0, str(event)
    if column.size == 2:
        return (0.0, 1.0), 0.0, 1.0, printed[1]
    if not has_order(column):
        raise InputError(
            f'the outcome "{name}" has {column.size} levels without an order: say which one counts, such as '
            f"{_event(examples(printed)[-1])}, or declare ordered = true"
        )
    known = [code for code in range(column.size) if code not in column.missing_codes]
    known = known if len(known) > 1 else list(range(column.size))
    levels = [column.levels[code] for code in known]
    whole = [float(level) for level in levels if isinstance(level, int) and not isinstance(level, bool)]
    values = whole if len(whole) == len(known) else [float(i) for i in range(len(known))]
    low, high = min(values), max(values)
    scores = {code: (value - low) / (high - low) for code, value in zip(known, values, strict=True)}
    return tuple(scores.get(code, 0.0) for code in range(column.size)), low, high, None


NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
AT_LEAST = (rf"(?:>=|=>|\u2265|at least)\s*{NUMBER}", rf"{NUMBER}\s*(?:\+|(?:or|and) (?:more|above|over))")
BELOW = (rf"(?:<|below|under|less than)\s*{NUMBER}",)


def number_cut(event: object) -> tuple[float, bool] | None:
    """Return the cut of a number that a text names, and whether numbers at or above it are meant; None: no cut.

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


def examples(names: Sequence[str]) -> list[str]:
    """Return levels that make a sensible example: none for missing values and no negative codes, if two are left.

    >>> examples(["-1", "0", "1", "missing"]), examples(["yes", "unknown"])
    (['0', '1'], ['yes', 'unknown'])
    """
    known = [name for name in names if not reads_as_missing(name)]
    plain = [name for name in known if not name.startswith("-")]
    return next(few for few in (plain, known, list(names)) if len(few) > 1 or few == list(names))


def _event(text: str) -> str:
    """How an event is named, as the reader spells it."""
    return spelled(f'--event "{text}"', f"event={text!r}")


def _number_event(name: str, column: Numeric, event: Level) -> tuple[tuple[float, ...], str]:
    """Scores of bins, 1 where the event is, and what it is called: a declared cut or a declared bin."""
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
        f'the outcome "{name}" is a number and has no event {str(event)!r}: {how}, such as {_event(example)}. The '
        f"declared cuts are {', '.join(f'{one:g}' for one in cuts) or 'none'}; an effect that is measured on the rows "
        f"takes any number between {column.lower:g} and {column.upper:g}"
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
    """Return the rows coded by ``schema_with_cut``; counts are of declared bins, and stay as they are."""
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
    return Dataset(schema, data.n, {**data.codes, name: codes}, data.values, data.file)


SURVIVAL = ("hazard", "survival", "kaplan", "cox", "median time")


def _estimand(estimand: object, outcome: str, event: str | None) -> str:
    asked = checked_name(estimand, "estimand").replace("-", " ").strip().lower()
    if asked == "auto":
        return "mean difference" if event is None else "risk difference"
    if asked not in ESTIMANDS:
        known = ", ".join(("auto", *ESTIMANDS))
        if any(word in asked for word in SURVIVAL):
            raise InputError(
                f"there is no survival analysis here, so no estimand is called {estimand!r}: time to an event and "
                f"censoring are not used; there are {known}, of an event by a fixed time"
            )
        raise InputError(
            f"no estimand is called {estimand!r}{did_you_mean(asked, ESTIMANDS)}; there are {known}"
        )
    if asked == "mean difference":
        return "risk difference" if event is not None else asked
    if event is None:
        raise InputError(
            f'a {asked} needs an outcome with two levels; "{outcome}" has a mean difference, or say which level or cut '
            f"counts ({spelled('--event', 'event=')})"
        )
    return asked


# of half the width of an interval: where bins can put a mean off by more, they rule the answer, and it is refused
MOST_BIAS = 0.5
# of the range of an outcome that a bin may take, before anything is charged: an interval that says something is at most
# half the range wide (``forecast.MOST_WIDTH``), and MOST_BIAS of half of that is an eighth
MOST_BIN = MOST_BIAS * 0.25


def widest_bin(column: Numeric) -> tuple[float, float, float]:
    """Return the ends of the widest bin of a number, and its share of the range.

    >>> widest_bin(Numeric(0, 90, [1, 2, 9]))
    (9.0, 90.0, 0.9)
    """
    low, high = max(
        pairwise([column.lower, *(column.bins or ()), column.upper]), key=lambda ends: ends[1] - ends[0]
    )
    return float(low), float(high), (high - low) / (column.upper - column.lower)


def bins_bias(column: Numeric, counts: NDArray[np.float64]) -> float:
    """Return by how much a difference of means by the middles of bins can be off, from public bins and released counts.

    A row lies at most half the width of its bin from the middle, in either arm; ``counts`` has a row for each of the
    two arms and a column for each bin, and counts that noise made negative are taken as none. Missing values that have
    a bin of their own all count the same.

    >>> bins_bias(Numeric(-50, 50, [0]), np.array([[10.0, 30.0], [20.0, 20.0]]))
    50.0
    """
    widths = [b - a for a, b in pairwise([column.lower, *(column.bins or ()), column.upper])]
    half = np.array(widths + [0.0] * column.missing_level) / 2
    positive = np.maximum(counts, 0.0)
    totals = positive.sum(axis=1)
    means = np.divide(positive @ half, totals, out=np.full(2, half.max()), where=totals > 0)
    return float(means.sum())


def _instead(column: Numeric) -> str:
    cuts = column.bins or ()
    example = f">= {cuts[len(cuts) // 2]:g}" if cuts else ">= NUMBER"
    return (
        f"The risk difference of a cut has no such error ({_event(example)}), and an effect measured on the rows uses "
        f"the values ({spelled('effect FILE --schema SCHEMA --epsilon E', 'data= and epsilon=')}); "
        f"{spelled('--anyway', 'anyway=True')} goes on, with an interval that is wider by that much"
    )


def refuse_wide_bin(column: Column, outcome: str) -> None:
    """Refuse a mean of a number by the middles of its bins where one of them is too wide; from the schema alone.

    Raises
    ------
    InputError
        With what would help; nothing was charged.
    """
    if not isinstance(column, Numeric):
        return
    low, high, share = widest_bin(column)
    if share > MOST_BIN:
        raise InputError(
            f"only counts of bins are at hand, and the bin {low:g} to {high:g} is {share:.0%} of the range of "
            f"{outcome!r}: a mean by the middles of bins would be far off. {_instead(column)}"
        )


def refuse_biased(column: Numeric, outcome: str, bias: float, interval: tuple[float, float]) -> None:
    """Refuse a mean by the middles of bins whose possible bias rules the interval; ``interval`` is without the bias.

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


def strata_cells(schema: Schema, adjust: Sequence[str]) -> int:
    """Return the number of cells of these columns."""
    return math.prod(schema[name].size for name in adjust)


def level_names(column: Column) -> tuple[str, ...]:
    """Return what the levels or bins of a column are called.

    >>> level_names(Numeric(0, 110, [18, 65]))
    ('below 18', '18 to 65', '65 or more')
    """
    if not isinstance(column, Numeric):
        return column.printed
    cuts = [f"{cut:g}" for cut in column.bins or ()]
    inner = [f"{low} to {high}" for low, high in pairwise(cuts)]
    named = (f"below {cuts[0]}", *inner, f"{cuts[-1]} or more") if cuts else ("all",)
    return (*named, "missing") if column.missing_level else named


def group_names(column: Column, groups: Collection[int]) -> list[str]:
    """Return what each group of levels holds.

    >>> group_names(Numeric(0, 90, [30, 40, 50], missing_level=True), (0, 0, 1, 1, 1))
    ['below 40', '40 or more, missing']
    >>> group_names(Categorical(["a", "b", "c"]), (0, 1, 0))
    ['a, c', 'b']
    """
    names, found = level_names(column), []
    for group in range(max(groups) + 1):
        codes = [code for code, one in enumerate(groups) if one == group]
        cuts = [f"{cut:g}" for cut in column.bins or ()] if isinstance(column, Numeric) else []
        if not cuts:
            found.append(", ".join(names[code] for code in codes))
            continue
        bins = [code for code in codes if code <= len(cuts)]
        told = [names[code] for code in codes if code > len(cuts)]  # missing
        if bins:
            low = cuts[bins[0] - 1] if bins[0] else None
            high = cuts[bins[-1]] if bins[-1] < len(cuts) else None
            told.insert(
                0,
                f"{low} to {high}"
                if low and high
                else f"{low} or more"
                if low
                else f"below {high}"
                if high
                else "all",
            )
        found.append(", ".join(told))
    return found
