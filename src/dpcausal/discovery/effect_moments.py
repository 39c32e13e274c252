"""An effect after ``moments``, free: a regression on the matrix of moments that the search released.

Columns take part by the features that were measured: levels by indicators, numbers between their bounds. A number that
was measured by its normal score counts in standard deviations of the score, as the moments show them, as a treatment
and as an outcome, and the answer says so; what one standard deviation is in the column's units is not known. Waves
(cosines and sines) of numbers held fixed are taken out too.
The interval knows sampling and noise (``stats/moment_effect.py``). It takes the effect to be linear in these features,
and rows that are longer than the reach were shrunk; the answer says both.

**Guarantee.** Post-processing of what was released: no row is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpcausal.core.errors import InputError
from dpcausal.core.spelling import spelled
from dpcausal.core.statement import PrivacyStatement
from dpcausal.data.columns import Level, Numeric
from dpcausal.data.schema import Schema
from dpcausal.effects.effect import missing_rules, what_to_adjust_for
from dpcausal.effects.question import checked_columns, effect_question, level_names
from dpcausal.effects.result import (
    ColumnsEnter,
    EffectResult,
    NothingKnown,
    PossibleEffect,
    SameRelease,
    Several,
)
from dpcausal.graphs.doubts import Doubts
from dpcausal.graphs.graph import Graph
from dpcausal.stats.moment_effect import Slope, moment_slope

Floats = NDArray[np.float64]
RANGE = 0.25  # of the range between bounds that a feature of 1 stands for
ONE_MORE = ("as it is", "one unit more")
ONE_DEVIATION_MORE = ("as it is", "one standard deviation more")
WIDEST_SCORE = 8.0  # scores are cut at 4 standard deviations


@dataclass(frozen=True, eq=False)
class ReleasedMoments:
    """A noisy matrix of moments of features that a discovery released.

    Attributes
    ----------
    schema : Schema
        The declared columns.
    waves : int
        Pairs of cosine and sine of each number.
    matrix : array
        Second moments; the constant is the first feature.
    rows : float
        Rows: public, or released.
    noise : float
        Standard deviation of the noise on off-diagonal entries.
    scored : frozenset of str
        Numbers that are there by their normal scores.
    """

    schema: Schema
    waves: int
    matrix: Floats
    rows: float
    noise: float
    scored: frozenset[str]

    def __repr__(self) -> str:
        return f"ReleasedMoments({len(self.matrix)} features)"

    def places(self, name: str) -> list[int]:
        """Return the positions of the features of a column."""
        start = 1
        for other, column in self.schema.items():
            width = 1 + 2 * self.waves if isinstance(column, Numeric) else max(column.size - 1, 0)
            if other == name:
                return list(range(start, start + width))
            start += width
        raise InputError(f'no column "{name}" in the schema')

    def unit(self, name: str) -> float:
        """Return how many units of its own a feature of 1 of a number stands for; 1 for one in standard deviations."""
        if name in self.scored:
            return 1.0
        column = self.schema[name]
        assert isinstance(column, Numeric)
        return RANGE * (column.upper - column.lower)

    def scores(self, name: str, scores: Sequence[float]) -> Floats:
        """Return levels with scores as a combination of features; the constant part does not matter."""
        found = np.zeros(len(self.matrix))
        found[self.places(name)] = np.asarray(scores[1:]) - scores[0]
        return found


def give_rows() -> str:
    """Return how to ask for an effect that what was released can't answer."""
    return spelled("give a file and --epsilon instead of --release", "give data= and an epsilon")


def effect_from_moments(
    released: ReleasedMoments,
    graph: Graph,
    doubts: Doubts,
    statement: PrivacyStatement,
    treatment: str,
    outcome: str,
    *,
    adjust: Iterable[str] | None,
    estimand: str,
    compare: Sequence[Level] | None,
    event: Level | None,
    level: float,
    anyway: bool = False,
) -> EffectResult:
    """Return the effect by regression, with what must be known about it.

    Raises
    ------
    InputError
        If moments can't answer: a ratio, a treatment with more than two levels, a number compared by levels.
    """
    schema = released.schema
    checked_columns(schema, treatment, outcome, ())
    for name in (treatment, outcome):
        column = schema[name]
        if isinstance(column, Numeric) and column.scale != "linear" and name not in released.scored:
            raise InputError(
                f'the moments hold "{name}" on its {column.scale} scale, not in its own units: '
                f"{give_rows()} for a regression of its own"
            )
    sets, notes = what_to_adjust_for(schema, treatment, outcome, adjust, graph, anyway=anyway, doubts=doubts)
    used = [one for one in sets if one is not None]
    a, times, arms = _treatment(released, treatment, compare)
    y, scale, named, happened = _outcome(released, treatment, outcome, estimand, event)
    z = float(-ndtri((1 - level) / 2))
    deviations = (treatment in released.scored, outcome in released.scored)
    answers: list[tuple[tuple[str, ...] | None, Slope]] = []
    for one in sets:
        if one is None:
            answers.append((None, Slope(0.0, 0.0, 0.0)))
            continue
        given = [0, *(place for name in one for place in released.places(name))]
        found = moment_slope(released.matrix, a, y, given, released.rows, released.noise, z, deviations)
        ends = (found.estimate * times * scale, found.low * times * scale, found.high * times * scale)
        answers.append((one, _within(Slope(*ends), _widest(released, treatment, outcome, scale))))
    columns = used[0]
    notes.append(ColumnsEnter("linear", columns or (treatment,)))
    asked = effect_question(schema, treatment, outcome, columns, event=event)
    notes += missing_rules(schema, asked, table=False)
    scored = tuple(name for name in (treatment, outcome) if name in released.scored)
    if scored:
        notes.append(ColumnsEnter("scored", scored))
    first = next(found for one, found in answers if one is not None)
    unknown = not math.isfinite(first.estimate)
    if unknown:
        notes.append(NothingKnown(noise=True))
    possible: list[PossibleEffect] = []
    estimate, interval = first.estimate, (first.low, first.high)
    if len(answers) > 1:
        possible = [
            PossibleEffect(one, found.estimate, (found.low, found.high), 1.0) for one, found in answers
        ]
        estimate = math.nan  # none of them is the effect
        interval = (min(found.low for _, found in answers), max(found.high for _, found in answers))
        notes.insert(0, Several(len(answers), no_effect=any(one is None for one, _ in answers)))
    return EffectResult(
        treatment=treatment,
        outcome=outcome,
        adjust=columns,
        compare=arms,
        event=happened,
        estimand=named,
        estimate=float(estimate),
        interval=(float(interval[0]), float(interval[1])),
        level=level,
        means=(math.nan, math.nan),
        share=0.0 if unknown else 1.0,
        method="regression",
        notes=(*notes, SameRelease("same-moments")),
        privacy=statement,
        possible=possible,
    )


def _treatment(
    released: ReleasedMoments, name: str, compare: Sequence[Level] | None
) -> tuple[Floats, float, tuple[str, str]]:
    """The treatment as features, by what its coefficient is multiplied, and the names of what is compared."""
    column, places = released.schema[name], released.places(name)
    a = np.zeros(len(released.matrix))
    if isinstance(column, Numeric):
        if compare is not None:
            raise InputError(f'the moments hold "{name}" as a number: to compare levels {give_rows()}')
        a[places[0]] = 1.0
        return a, 1.0 / released.unit(name), ONE_DEVIATION_MORE if name in released.scored else ONE_MORE
    names = level_names(column)
    if column.size != 2:
        raise InputError(
            f'"{name}" has {column.size} levels, and an effect from moments compares two: {give_rows()}'
        )
    a[places[0]] = 1.0
    if compare is None:
        return a, 1.0, (names[0], names[1])
    two = [str(one) for one in compare]
    if sorted(two) != sorted(names):
        raise InputError(f'compare must name the two levels of "{name}", {names[0]} and {names[1]}')
    return a, 1.0 if two == list(names) else -1.0, (two[0], two[1])


def _outcome(
    released: ReleasedMoments, treatment: str, outcome: str, estimand: str, event: Level | None
) -> tuple[Floats, float, str, str | None]:
    """The outcome as features, its unit, the estimand and the level that counts."""
    schema = released.schema
    question = effect_question(schema, treatment, outcome, (), estimand=estimand, event=event)
    if not question.estimand.endswith("difference"):
        raise InputError(f"moments give a difference, not a {question.estimand}: {give_rows()} for a table")
    if isinstance(schema[outcome], Numeric):
        if event is not None:
            raise InputError(
                f'the moments hold "{outcome}" as a number, and no cut of it: {give_rows()} for a table'
            )
        y = np.zeros(len(released.matrix))
        y[released.places(outcome)[0]] = 1.0
        return y, released.unit(outcome), question.estimand, question.event
    y = released.scores(outcome, question.scores)
    return y, question.high - question.low, question.estimand, question.event


def _widest(released: ReleasedMoments, treatment: str, outcome: str, scale: float) -> float:
    """The largest difference that there can be; infinite for a slope."""
    column = released.schema[outcome]
    if isinstance(released.schema[treatment], Numeric):
        return math.inf
    if outcome in released.scored:
        return WIDEST_SCORE
    return column.upper - column.lower if isinstance(column, Numeric) else scale


def _within(found: Slope, widest: float) -> Slope:
    """Ends within what is possible; those of a negative unit in order."""
    low, high = sorted((found.low, found.high))
    clipped = [min(max(end, -widest), widest) for end in (low, high)]
    estimate = found.estimate
    return Slope(estimate if math.isnan(estimate) else min(max(estimate, clipped[0]), clipped[1]), *clipped)
