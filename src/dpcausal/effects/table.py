"""The table that an effect needs, with noise: for each stratum and arm the rows and the sum of the outcome.

Rows of treatment levels that are not compared, and rows whose outcome has a level for missing values, share one cell of
their stratum: they count for the size of the stratum and for nothing else. Several adjustment sets (possible parents,
in a CPDAG) are measured as one table over all of their columns, or as one table each with its part of the budget,
whichever gives less noise; declared sizes decide.

**Guarantee** (``table.proof.md``): (epsilon, delta)-DP; pure with Laplace noise, which is used unless a delta is given
and Gaussian noise is smaller. Charged before noise is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.counts.memory import counts_of
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.effects.question import EffectQuestion, strata_cells
from dpcausal.planning.measurement_plan import noise_variance
from dpcausal.privacy.budget import Allowance, Budget
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.base import INTEGERS, Grid, release
from dpcausal.stats.measured import GAUSSIAN, LAPLACE
from dpcausal.stats.split_cells import SPREAD, UNITS, split_sensitivity, split_units, spread_units
from dpcausal.stats.standardise import Arms, arms_of_cells, spread_factor
from dpcausal.stats.strata import StrataTable

Floats = NDArray[np.float64]
MAX_CELLS = 1 << 20  # of a table that is measured
SPENT = 1.0 - 1e-12  # of a part of the budget: parts that add up to one never pass the total by rounding
MARGIN_SHARE = 0.25  # of the budget, for the table without strata
MARGIN_STRATA = 9  # with no more strata than this, their sums have less noise than such a table


@dataclass(frozen=True)
class Measured:
    """A released table. ``cells`` has an axis for each of ``columns``, then arms and levels, or halves of a row."""

    columns: tuple[str, ...]
    cells: Floats
    others: Floats | None  # rows in neither arm, an axis for each column
    spread: float | None  # Q in rows; None where rows are counted by levels
    variance: float  # of the noise of a cell
    kurtosis: float
    rows: float  # public, or the noisy sum
    scores: tuple[float, ...] = (0.0, 1.0)  # of the cells of an arm

    def _over(self, adjust: Sequence[str]) -> tuple[Floats, Floats | None, float, float]:
        """Return cells summed over columns not adjusted for, rows in neither arm, noise variance and kurtosis."""
        over = tuple(i for i, name in enumerate(self.columns) if name not in adjust)
        summed = math.prod(self.cells.shape[i] for i in over)
        others = None if self.others is None else self.others.sum(axis=over).ravel()
        return self.cells.sum(axis=over), others, summed * self.variance, self.kurtosis / max(summed, 1)

    def arms(self, adjust: Sequence[str]) -> Arms:
        """Return the sums of both arms over strata of ``adjust``, a subset of ``columns``."""
        cells, others, variance, kurtosis = self._over(adjust)
        cells, scores = cells.reshape(-1, 2, len(self.scores)), np.asarray(self.scores)
        found = arms_of_cells(cells, others, scores, variance, self.rows, kurtosis)
        if self.spread is None:
            return found
        return replace(found, factor=spread_factor(found, self.spread / (4 * SPREAD)))

    def strata(
        self, adjust: Sequence[str], margin: Measured | None = None, *, public_rows: bool
    ) -> StrataTable:
        """Return the counts of both arms and all states over strata of ``adjust``.

        ``margin`` is a table without strata, if one was measured. ``public_rows``: whether the cells are known to sum
        to ``rows``.
        """
        cells, others, variance, kurtosis = self._over(adjust)
        rows = self.rows if public_rows else None
        found = StrataTable(
            cells.reshape(-1, *cells.shape[-2:]), cells.shape[:-2], variance, kurtosis, rows, others=others
        )
        if margin is None:
            return found
        return replace(found, margin=margin.cells.reshape(2, 2), margin_noise=margin.variance)


@proved("table.proof.md")
def effect_mechanism(
    size: int, spread: bool, epsilon: float, rho: float, neighbours: Neighbours
) -> tuple[Laplace | Gaussian, float]:
    """Return the mechanism for ``size`` numbers, and its excess kurtosis; with rho 0 only Laplace noise."""
    grid = Grid(1.0 / UNITS, exact=True) if spread else INTEGERS
    laplace = Laplace(
        sensitivity=split_sensitivity(neighbours, spread=spread),
        epsilon=epsilon,
        neighbours=neighbours,
        size=size,
        grid=grid,
    )
    if rho > 0:
        gaussian = Gaussian(
            sensitivity=split_sensitivity(neighbours, spread=spread, norm=2),
            rho=rho,
            neighbours=neighbours,
            size=size,
            grid=grid,
        )
        if noise_variance(gaussian) < noise_variance(laplace):
            return gaussian, GAUSSIAN
    return laplace, LAPLACE


@dataclass(frozen=True)
class PlannedTable:
    """A table that will be measured, with the mechanism that its noise will come from: public.

    The forecast, the charge and the release all read the mechanism here, so that they can't disagree about it.
    """

    question: EffectQuestion
    columns: tuple[str, ...]  # whose levels make the strata
    mechanism: Laplace | Gaussian
    kurtosis: float  # of the noise, in excess of the normal law

    @property
    def variance(self) -> float:
        """The variance of the noise of a cell."""
        return noise_variance(self.mechanism)

    @property
    def needs_delta(self) -> bool:
        """Whether the noise is Gaussian."""
        return isinstance(self.mechanism, Gaussian)


@proved("table.proof.md")
def planned_table(
    schema: Schema,
    question: EffectQuestion,
    columns: Sequence[str],
    allowed: Allowance,
    neighbours: Neighbours,
) -> PlannedTable:
    """Return the plan of a table with these strata, and the noise that the allowance gives it."""
    size, spread = table_size(schema, question, columns), not question.by_levels
    mechanism, kurtosis = effect_mechanism(size, spread, allowed.epsilon, allowed.rho, neighbours)
    return PlannedTable(question, tuple(columns), mechanism, kurtosis)


def table_size(schema: Schema, question: EffectQuestion, columns: Sequence[str]) -> int:
    """Return the number of cells of the table with these strata: public."""
    cells = strata_cells(schema, columns) * (2 * len(question.cell_scores) + question.others)
    return cells + (0 if question.by_levels else 1)


@proved("table.proof.md")
def exact_cells(
    data: Dataset | Counts, question: EffectQuestion, columns: Sequence[str]
) -> tuple[NDArray[np.int64], ...]:
    """Return exact cells (strata, 2, levels or halves), rows in neither arm (strata,), and Q. Not private.

    In rows where they are counted by levels, else in units of 1/``UNITS`` of a row.
    """
    schema = data.schema
    strata, (first, second) = strata_cells(schema, columns), question.arms
    if question.by_value and isinstance(data, Dataset):
        scaled = (data.values[question.outcome] - question.low) / (question.high - question.low)
        units = split_units(scaled)
        stratum = np.zeros(data.n, np.int64)
        for name in columns:
            stratum = stratum * schema[name].size + data.codes[name]
        arm = data.codes[question.treatment]
        known = ~np.isin(data.codes[question.outcome], question.missing)
        cells = np.zeros((strata, 2, 2), np.int64)
        spread = np.zeros(1, np.int64)
        for i, code in enumerate((first, second)):
            rows = (arm == code) & known
            at, k = stratum[rows], units[rows]
            count, high = np.bincount(at, minlength=strata), np.zeros(strata, np.int64)
            np.add.at(high, at, k)
            cells[:, i, 1], cells[:, i, 0] = high, UNITS * count - high
            spread += spread_units(k).sum()
        neither = ((arm != first) & (arm != second)) | ~known
        others = UNITS * np.bincount(stratum[neither], minlength=strata)
        return cells, others, spread
    table = counts_of(data).table((*columns, question.treatment, question.outcome))
    table = table.reshape(strata, question.treatment_levels, -1)
    chosen = table[:, [first, second], :][:, :, list(question.known)]
    others = table.sum(axis=(1, 2)) - chosen.sum(axis=(1, 2))
    if question.two_levels:
        ones = np.asarray(question.known_scores) == 1.0
        high = chosen[:, :, ones].sum(axis=2)
        return np.stack([chosen.sum(axis=2) - high, high], axis=2), others, np.zeros(1, np.int64)
    if question.by_levels:
        return chosen, others, np.zeros(1, np.int64)
    k = split_units(np.asarray(question.known_scores))
    high = chosen @ k
    cells = np.stack([UNITS * chosen.sum(axis=2) - high, high], axis=2)
    return cells, UNITS * others, np.atleast_1d((chosen @ spread_units(k)).sum())


@proved("table.proof.md")
def exact_numbers(data: Dataset | Counts, question: EffectQuestion, columns: Sequence[str]) -> Floats:
    """Return the exact numbers of a table as one vector. Not private: for a mechanism, or no privacy."""
    spread = not question.by_levels
    cells, others, more = exact_cells(data, question, columns)
    parts = [cells.ravel(), *([others] if question.others else []), *([more] if spread else [])]
    return np.asarray(np.concatenate(parts) / (UNITS if spread else 1))


@proved("table.proof.md")
def measure(data: Dataset | Counts, planned: PlannedTable, budget: Budget, n: int | None) -> Measured:
    """Release a table as planned, charged to the budget; ``n``: rows where they are public."""
    question, columns = planned.question, planned.columns
    exact = exact_numbers(data, question, columns)
    noisy = np.asarray(release(planned.mechanism, budget, f"table of the {question.key}", exact))
    return _measured(data.schema, question, columns, noisy, n, planned.variance, planned.kurtosis)


def exact_table(data: Dataset | Counts, question: EffectQuestion, columns: Sequence[str]) -> Measured:
    """Return the table without noise. Not private: for ``epsilon=None``."""
    return _measured(data.schema, question, columns, exact_numbers(data, question, columns), data.n)


def _measured(
    schema: Schema,
    question: EffectQuestion,
    columns: Sequence[str],
    numbers: Floats,
    n: int | None,
    variance: float = 0.0,
    kurtosis: float = 0.0,
) -> Measured:
    """Return the table object of released numbers; where rows are protected, their number is the noisy sum."""
    shape = tuple(schema[name].size for name in columns)
    size = strata_cells(schema, columns)
    end = size * 2 * len(question.cell_scores)
    cells = numbers[:end].reshape(*shape, 2, -1)
    others = numbers[end : end + size].reshape(shape) if question.others else None
    rows = float(cells.sum()) + (0.0 if others is None else float(others.sum())) if n is None else float(n)
    spread, rows = None if question.by_levels else float(numbers[-1]), max(rows, 1.0)
    return Measured(tuple(columns), cells, others, spread, variance, kurtosis, rows, question.cell_scores)


def planned_tables(
    schema: Schema,
    question: EffectQuestion,
    sets: Sequence[Sequence[str]],
    allowed: Allowance,
    neighbours: Neighbours,
    *,
    margin: bool = True,
) -> list[PlannedTable]:
    """Return the plans of the tables for these adjustment sets: one for all, or one for each.

    ``margin``: where populations are told and strata are many, that of treatment and outcome alone comes first, for
    ``MARGIN_SHARE`` of what is allowed, and the others share the rest. It is paid as they are: by epsilon, or, where
    their noise is Gaussian, by rho.

    Raises
    ------
    InputError
        If a table would have more cells than can be measured.
    """
    distinct = [tuple(one) for one in dict.fromkeys(map(tuple, sets))]
    union = tuple(name for name in schema if any(name in one for one in distinct))
    for one in distinct:
        cells = table_size(schema, question, one)
        if cells > MAX_CELLS:
            raise InputError(
                f"the table of the effect, adjusted for {', '.join(one)}, has {cells:,} cells: at most "
                f"{MAX_CELLS:,} can be measured; adjust for fewer columns, or coarser bins"
            )
    many = any(strata_cells(schema, one) > MARGIN_STRATA for one in distinct) and () not in distinct
    if margin and many and question.has_populations:
        rest = allowed.part((1 - MARGIN_SHARE) * SPENT)
        tables = planned_tables(schema, question, distinct, rest, neighbours, margin=False)
        own = allowed.part(MARGIN_SHARE * SPENT)
        if any(table.needs_delta for table in tables):  # epsilon-DP is epsilon^2/2-zCDP
            own = Allowance(min(own.epsilon, SPENT * math.sqrt(2 * own.rho)), own.rho)
        else:
            own = Allowance(own.epsilon, 0.0)
        return [planned_table(schema, question, (), own, neighbours), *tables]
    part = allowed.part(SPENT / len(distinct)) if len(distinct) > 1 else allowed
    each = [planned_table(schema, question, one, part, neighbours) for one in distinct]
    if len(distinct) == 1 or table_size(schema, question, union) > MAX_CELLS:
        return each
    together = planned_table(schema, question, union, allowed, neighbours)
    summed = max(strata_cells(schema, union) / strata_cells(schema, one) for one in distinct)
    return [together] if together.variance * summed <= each[0].variance else each
