"""An effect adjusted for many columns, by linear regression: where a table of strata would hold less than its noise.

1. Half of the budget buys the matrix of moments of features of the adjusted columns, the treatment and the outcome
   (``stats/moments.py``), from which both are regressed on the columns.
2. The other half buys three sums of products of what is left (``stats/double_residual.py``).

Features are fixed beforehand: a number by its value between its bounds, ordered levels by their position, other
levels by an indicator each. The schema bounds their length, so that no row is shrunk: without noise the answer is
that of least squares. What is not linear in them is not taken out, and where effects differ between people the answer
is a mean weighted by how much the treatment varies (Angrist 1998); the answer says so.

**Guarantee** (``regression.proof.md``): (epsilon, delta)-DP by the sum of both charges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.core.spelling import spelled
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.effects.question import EffectQuestion
from dpcausal.planning.measurement_plan import noise_variance
from dpcausal.privacy.budget import Allowance, Budget
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.base import FINENESS, Grid, release
from dpcausal.stats.double_residual import UNITS, Fit, fitted, row_parts, sums_sensitivity
from dpcausal.stats.limits import checked_rows
from dpcausal.stats.measured import GAUSSIAN, LAPLACE
from dpcausal.stats.moments import TreeSum, moment_sensitivity, packed, second_moments, shrunk, unpacked

Floats = NDArray[np.float64]
SHARE = 0.5  # of the budget, for moments
ROWS_PER_CHUNK = 1 << 15
SPENT = 1.0 - 1e-12
ENDS = 1.25  # squared length of treatment and outcome
TYPICAL = {
    "two": 0.24,
    "ordered": 0.2,
    "levels": 0.15,
    "number": 0.11,
}  # variances of features, for forecasts


def kind_of(schema: Schema, name: str) -> str:
    """Return how a column enters the regression: "number", "two", "ordered" or "levels"."""
    column = schema[name]
    if isinstance(column, Numeric):
        return "number"
    return "two" if column.size == 2 else "ordered" if column.ordered else "levels"


def width(schema: Schema, name: str) -> int:
    """Return the number of regression features of a column."""
    return max(schema[name].size - 1, 0) if kind_of(schema, name) == "levels" else 1


def longest(schema: Schema, name: str) -> float:
    """Return the largest squared length that the features of a column can have."""
    kind, size = kind_of(schema, name), schema[name].size
    if kind == "levels":
        return max(1 - 1 / size - 1 / size**2, 0.0)
    return {"number": 1.0, "two": 0.25, "ordered": 0.5625}[kind]


@proved("regression.proof.md")
def features(rows: Dataset, names: Sequence[str], start: int, stop: int) -> Floats:
    """Return the feature matrix of the rows from ``start`` to ``stop``."""
    parts: list[Floats] = []
    for name in names:
        column, kind = rows.schema[name], kind_of(rows.schema, name)
        if isinstance(column, Numeric):
            place = (rows.values[name][start:stop] - column.lower) / (column.upper - column.lower)
            parts.append(2.0 * place[:, None] - 1.0)
            continue
        codes = rows.codes[name][start:stop].astype(np.float64)[:, None]
        if kind == "levels":
            parts.append((codes == np.arange(1, column.size)) - 1.0 / column.size)
        else:
            reach = 1.0 if kind == "two" else 1.5
            parts.append(reach * (codes / max(column.size - 1, 1) - 0.5))
    return np.hstack(parts) if parts else np.zeros((stop - start, 0))


@proved("regression.proof.md")
def ends(rows: Dataset, question: EffectQuestion, start: int, stop: int) -> tuple[Floats, Floats]:
    """Return the treatment (-1/2 or 1/2) and the outcome (scaled to [-1, 1]) of the rows from ``start`` to ``stop``."""
    a = (rows.codes[question.treatment][start:stop] == question.arms[1]) - 0.5
    if question.by_value:
        values = rows.values[question.outcome][start:stop]
        y = (values - question.low) / (question.high - question.low)
    else:
        y = question.score_array()[rows.codes[question.outcome][start:stop]]
    return a, 2.0 * np.clip(y, 0.0, 1.0) - 1.0


def refuse_question(schema: Schema, question: EffectQuestion, *, values: bool) -> None:
    """Raise ``InputError`` where a regression can't answer, from the schema and the question alone.

    ``values``: whether there are rows, and not only counts.
    """
    if not values:
        raise InputError("a regression needs the rows themselves (a Dataset, as dc.read gives), not counts")
    strata = f"leave {spelled('--method regression', 'method=')} out"
    if question.other_arms:
        column = schema[question.treatment]
        declared, two = f"{column.size}", "two levels"
        if isinstance(column, Numeric):
            declared, two = f"{column.size} bins", "one cut (bins = [CUT])"
            two += " and without missing_level" if column.missing_level else ""
        raise InputError(
            f'a regression compares the two levels of a treatment, and "{question.treatment}" is declared with '
            f"{declared}: {strata}, and strata compare two of them "
            f"({spelled('--compare', 'compare=')}), or declare it with {two}"
        )
    if not question.estimand.endswith("difference"):
        raise InputError(
            f"a regression gives a difference, not a {question.estimand}: {strata}, and strata give it, or ask for "
            "a difference"
        )


def refuse_regression(data: Dataset | Counts, question: EffectQuestion) -> Dataset:
    """Return the rows; raise ``InputError`` where a regression can't answer, from public information."""
    refuse_question(data.schema, question, values=isinstance(data, Dataset))
    assert isinstance(data, Dataset)
    used = [*question.adjust, question.outcome] if question.by_value else question.adjust
    for name in used:
        if isinstance(data.schema[name], Numeric):
            data.numbers(name)  # refused before any charge
    checked_rows(data.n)
    return data


def _mechanism(
    size: int, l1: float, l2: float, epsilon: float, rho: float, neighbours: Neighbours, grid: Grid
) -> Laplace | Gaussian:
    """Return the mechanism for ``size`` sums: Gaussian noise if a delta allows it, else Laplace."""
    if rho > 0:
        return Gaussian(sensitivity=l2, rho=rho, neighbours=neighbours, size=size, grid=grid)
    return Laplace(sensitivity=l1, epsilon=epsilon, neighbours=neighbours, size=size, grid=grid)


@dataclass(frozen=True)
class PlannedRegression:
    """What a regression will release, with the mechanisms that its noise will come from: public.

    The forecast, the charge and the releases all read the mechanisms here.
    """

    size: int  # features, with the constant, the treatment and the outcome
    reach: float  # the largest length of the features of a row
    constant: float  # the value of the constant feature
    moments: Laplace | Gaussian
    sums: Laplace | Gaussian

    @property
    def needs_delta(self) -> bool:
        """Whether the noise is Gaussian."""
        return isinstance(self.moments, Gaussian) or isinstance(self.sums, Gaussian)

    @property
    def kurtosis(self) -> float:
        """The excess kurtosis of the noise of a sum."""
        return GAUSSIAN if isinstance(self.sums, Gaussian) else LAPLACE


@proved("regression.proof.md")
def planned_regression(
    schema: Schema, question: EffectQuestion, allowed: Allowance, neighbours: Neighbours
) -> PlannedRegression:
    """Return the releases of a regression with their noise for what is allowed; from public numbers."""
    reach = math.sqrt(ENDS + sum(longest(schema, name) for name in question.adjust))
    constant, size = reach / 2, sum(width(schema, name) for name in question.adjust) + 3
    moved, entries = moment_sensitivity(neighbours, constant, reach), size * (size + 1) // 2
    first, second = allowed.part(SHARE * SPENT), allowed.part((1 - SHARE) * SPENT)
    grid = Grid(2.0 ** (math.floor(math.log2(moved)) - FINENESS))
    l1, l2 = sums_sensitivity(neighbours), sums_sensitivity(neighbours, norm=2)
    return PlannedRegression(
        size,
        reach,
        constant,
        _mechanism(entries, moved * math.sqrt(entries), moved, *first, neighbours, grid),
        _mechanism(3, l1, l2, *second, neighbours, Grid(1.0 / UNITS, exact=True)),
    )


class MeasuredRegression(NamedTuple):
    """What a regression released, and its noise."""

    fit: Fit  # of treatment and outcome on the columns, from released moments
    sums: Floats  # of products of residuals
    variance: float  # of the noise of a sum
    noise: float  # standard deviation of the noise of an entry of the moments
    kurtosis: float  # of the noise of a sum, in excess of the normal law


@proved("regression.proof.md")
def measure_regression(
    rows: Dataset, question: EffectQuestion, planned: PlannedRegression, budget: Budget, n: int | None
) -> MeasuredRegression:
    """Charge the budget, release moments and sums, and return them; ``n``: rows where public."""
    names, size, reach, constant = question.adjust, planned.size, planned.reach, planned.constant
    matrix = TreeSum()
    for start in range(0, rows.n, ROWS_PER_CHUNK):
        stop = min(start + ROWS_PER_CHUNK, rows.n)
        a, y = ends(rows, question, start, stop)
        h = shrunk(np.column_stack([features(rows, names, start, stop), a, y]), reach)
        second_moments(np.hstack([np.full((stop - start, 1), constant), h]), matrix)
    exact = np.zeros((size, size)) + matrix.value()
    noisy = np.asarray(release(planned.moments, budget, f"moments for the {question.key}", packed(exact)))
    found = unpacked(noisy, size)
    noise = math.sqrt(noise_variance(planned.moments) / 2)
    people = float(n) if n is not None else max(float(found[0, 0]) / constant**2, 1.0)
    if n is not None:
        found[0, 0] = people * constant**2
    # the constant feature is `constant` in every row: scale its row and column to that of 1
    scale = np.ones(size)
    scale[0] = 1.0 / constant
    variance = noise_variance(planned.sums)
    found *= np.outer(scale, scale)
    fit = fitted(found, size - 3, people, noise, constant, math.sqrt(variance), number=question.by_value)
    sums = np.zeros(3, np.int64)
    for start in range(0, rows.n, ROWS_PER_CHUNK):
        stop = min(start + ROWS_PER_CHUNK, rows.n)
        a, y = ends(rows, question, start, stop)
        sums += row_parts(features(rows, names, start, stop), a, y, fit).sum(axis=1)
    parts = np.asarray(release(planned.sums, budget, f"sums for the {question.key}", sums / UNITS))
    return MeasuredRegression(fit, parts, variance, noise, planned.kurtosis)
