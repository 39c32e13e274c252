"""``kendall`` and ``spearman``: blocked rank correlations, on the values of the rows or on tables.

One Laplace release of the statistic and its variance, weighted, with their joint sensitivity; for 2 x 2 tables the
variance comes free. The p-value knows the noise (``stats/noisy_normal.py``): the level holds at every epsilon.

**Values and tables.** x and y need not be cut into bins: the statistic of the rows (``stats/value_ranks.py``) has the
same sensitivity as that of a table (``stats/kendall.py``, ``stats/spearman.py``) and sees more. ``on="values"``
(default) takes the numbers where a column of the question holds numbers, ``on="table"`` the declared bins.

**Conditioning.** A categorical z makes one stratum for each declared level. Noise does not grow with the number of
strata, and the test is only as good as they are fine: within a stratum z still moves x and y, which looks like
dependence. Strata of equal width fail where z is skewed: most rows share a few. So a numeric z is cut into strata of
about equal counts: ``spread_share`` of epsilon measures how z is spread between its bounds (``citests/quantiles.py``),
and min(n/``ROWS_PER_CELL``, ``STRATA_PER_ROOT`` sqrt n) strata are cut by it. ``strata`` may be a number of equal
widths instead, or "schema", the declared bins. With two or more numeric z prefer ``gcm`` (``docs/continuous.md``).

**Guarantee**: epsilon-DP, both relations (``kendall.proof.md``, ``spearman.proof.md``, ``value_ranks.proof.md`` and
``spread.proof.md``): the statistic has the same sensitivity for all strata that do not depend on the rows, and these
depend on what was released before. **Null law**: that of the statistic, normal given the margins, plus the noise.
**Cost** O(n log n) on values, O(k r c) on tables. **Edge cases**: empty and constant blocks add nothing.

``variant="paper"`` is Priv-PC's Definitions 5 and 7 where nothing is given, 6 and 8 else, to the letter
(``stats/published.py``), with Laplace noise of the sensitivity that theorems 6 to 9 claim over epsilon. It is
**not private**. "Independent" is a noisy value up to the two-sided normal quantile of the level, by the variance that
the paper names: Definition 4 leaves the threshold open. Numeric z enters by its declared bins, or by ``strata``.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from dpcausal.citests.base import (
    Charger,
    Outcome,
    Question,
    TableTest,
    TestInfo,
    TestSettings,
    ValueTest,
    released_with_variance,
)
from dpcausal.citests.parts import ASSUMED_ROWS
from dpcausal.citests.quantiles import MARGIN, exact_spread, pure_spread
from dpcausal.citests.result import HeldBySpread, HeldByStrata, HeldFixed
from dpcausal.core.entropy import public_generator
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import Noisy, Public, SettingKnown
from dpcausal.core.variants import NOT_PRIVATE, Variant, refuse_real_rows
from dpcausal.counts.memory import counts_of
from dpcausal.data.dataset import Dataset
from dpcausal.privacy.mechanisms.additive import Laplace
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.kendall import kendall, kendall_joint_sensitivity, kendall_weight
from dpcausal.stats.limits import checked_rows
from dpcausal.stats.noisy_normal import normal_pvalue
from dpcausal.stats.published import (
    PrintedRank,
    RankCounts,
    in_rows,
    in_tables,
    printed_kendall,
    printed_spearman,
)
from dpcausal.stats.spearman import spearman, spearman_joint_sensitivity, spearman_weight
from dpcausal.stats.spread import Spread
from dpcausal.stats.value_ranks import ANY_LEVELS, Ranked, rank_statistics, ranked

Strata = Literal["auto", "schema"] | int

ROWS_PER_CELL = 4  # rows that "auto" leaves to a cell of z, about
MAX_STRATA = 256  # of one numeric column
STRATA_PER_ROOT = 16  # strata of equal counts, at most, times the root of the number of rows
SPREAD_ROWS = 300  # the share of epsilon for the spread of z is this over n epsilon ...
MIN_SPREAD_SHARE, MAX_SPREAD_SHARE = 0.15, 0.35  # ... within these
STRATA_N_UNKNOWN = {1: 64, 2: 16, 3: 8}  # by the number of numeric columns, where that of rows is protected
MAX_CELLS = 1 << 62  # of z: their numbers are 64-bit integers

_ranked_columns: WeakKeyDictionary[Dataset, dict[str, Ranked]] = WeakKeyDictionary()


@dataclass(frozen=True)
class RankTest(TableTest, ValueTest):
    """A statistic that is normal given the margins of every block, with its variance."""

    on: Annotated[Literal["values", "table"], "values (numbers as they are) or table (declared bins)"] = (
        "values"
    )
    strata: Annotated[
        Strata,
        "strata of numeric given columns: auto (equal counts, measured privately), a number (equal widths) or schema",
    ] = "auto"
    variant: Annotated[Variant, NOT_PRIVATE] = "ours"

    releases = Noisy("statistic")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant == "paper" and self.strata == "auto":
            object.__setattr__(self, "strata", "schema")  # nothing is measured beforehand
        if self.strata not in ("auto", "schema") and (
            isinstance(self.strata, str | bool) or not 1 <= self.strata <= 1 << 20
        ):
            raise InputError(f"strata must be auto, schema or a number of bins, not {self.strata!r}")

    @staticmethod
    @abstractmethod
    def value(blocks: ArrayLike) -> tuple[float, float]:
        """Return the statistic of a table and its variance."""

    @staticmethod
    @abstractmethod
    def row_value(x: Ranked, y: Ranked, block: NDArray[np.int64], k: int) -> tuple[float, float]:
        """Return the statistic of rows in k blocks and its variance."""

    @staticmethod
    @abstractmethod
    def weight(neighbours: Neighbours, r: int, c: int, k: int, epsilon: float) -> float:
        """Return the weight of the variance when (statistic, weight x variance) is released."""

    @staticmethod
    @abstractmethod
    def sensitivity(neighbours: Neighbours, r: int, c: int, k: int, weight: float) -> float:
        """Return the l1 sensitivity of (statistic, weight x variance)."""

    @staticmethod
    @abstractmethod
    def printed_value(counts: RankCounts, k: int) -> PrintedRank:
        """Return the statistic as printed of rows in k blocks."""

    @property
    def printed(self) -> bool:
        """Whether it is as Priv-PC prints it, which is not private."""
        return self.variant == "paper"

    @property
    def signed(self) -> bool:
        """Whether the statistic has a sign: as printed it is an absolute value."""
        return super().signed and not self.printed

    @property
    def assumes(self) -> tuple[Public, ...]:
        """Public facts beyond the schema: the strata, where there are some."""
        if self.on == "table" or self.strata in ("schema", "auto"):
            return ()
        return (SettingKnown("strata"),)

    def values_held_fixed(
        self, columns: tuple[str, ...], question: Question, data: Dataset, n: int | None
    ) -> HeldFixed | None:
        """Return the number of strata; None where the declared bins are used."""
        if self._by_spread(columns):
            count = None if n is None else strata_for(question, data, columns, float(n))
            return HeldBySpread(columns, count)
        strata = {} if self.on == "table" else bins_for(question, data, self.strata, n)
        if not strata:
            return None
        return HeldByStrata(columns, strata[columns[0]], model=False)

    def classical(self, blocks: Blocks, level: float) -> Outcome:
        """Return the outcome of z = statistic/sqrt(variance) against the normal law, without privacy."""
        if self.variant == "paper":
            return _printed_outcome(self.printed_value(in_tables(blocks), len(blocks)), level)
        return _normal_outcome(*self.value(blocks), level)

    def private(self, question: Question, blocks: Blocks, settings: TestSettings, budget: Charger) -> Outcome:
        """Release statistic and variance together with noise; return the outcome (the p-value is post-processing)."""
        if self.variant == "paper":
            return self._as_printed(in_tables(blocks), len(blocks), settings)
        return self._release(question, *self.value(blocks), settings, budget)

    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """Return the outcome of z = statistic/sqrt(variance) against the normal law, without privacy."""
        if not self.uses_numbers(question):
            return self.classical(question.blocks(counts_of(data)), level)
        cells = self._cells(question, data, data.n, lambda name: exact_spread(data, name))
        if self.variant == "paper":
            return _printed_outcome(self.printed_value(_in_rows(question, data, cells[0]), cells[1]), level)
        return _normal_outcome(*self._of_rows(question, data, *cells), level)

    def private_values(
        self, question: Question, data: Dataset, settings: TestSettings, budget: Charger
    ) -> Outcome:
        """Release (statistic, weight x variance) of the rows and return the outcome; the p-value is post-processing."""
        if not self.uses_numbers(question):
            return self.private(question, question.blocks(counts_of(data)), settings, budget)
        checked_rows(data.n)  # before anything is charged
        each, left = 0.0, settings
        if self._by_spread(numeric := numeric_given(question, data)):
            settings.require_all(budget, f"{self.name}: {question}")
            share = spread_share(settings.n, settings.epsilon)
            each = share * settings.epsilon / len(numeric)
            left = replace(settings, epsilon=(1 - share) * settings.epsilon * MARGIN)

        def spread_of(name: str) -> Spread:
            label = f"{self.name} (spread of {name}): {question}"
            return pure_spread(data, name, settings.n, each, settings.neighbours, budget, label)

        cells = self._cells(question, data, settings.n, spread_of)
        if self.variant == "paper":
            return self._as_printed(_in_rows(question, data, cells[0]), cells[1], settings)
        sized = _as_numbers(question, data, cells[1])
        return self._release(sized, *self._of_rows(question, data, *cells), left, budget)

    def _as_printed(self, counts: RankCounts, k: int, settings: TestSettings) -> Outcome:
        """Return the paper's test: not private, refused unless a seed is set, and charged to nobody."""
        refuse_real_rows(self.name)
        found = self.printed_value(counts, k)
        if not math.isfinite(found.sensitivity):
            raise InputError(
                f"variant='paper' needs more rows than cells of the given columns, which are {k}"
            )
        noisy = found.value + float(public_generator().laplace(0.0, found.sensitivity / settings.epsilon))
        return Outcome(
            independent=not noisy > found.spread * -float(ndtri(settings.level / 2)), statistic=noisy
        )

    def _cells(
        self, question: Question, data: Dataset, n: int | None, spread_of: Callable[[str], Spread]
    ) -> tuple[NDArray[np.int64], int]:
        """Return the conditioning cell of every row and their number.

        ``n`` is the number of rows where it is public; ``spread_of`` measures the spread of a numeric given column.
        """
        numeric = numeric_given(question, data)
        if not self._by_spread(numeric):
            return blocks_of(question, data, bins_for(question, data, self.strata, n))
        spreads = {name: spread_of(name) for name in numeric}
        seen = spreads[numeric[0]].total if n is None else float(n)
        return counted_blocks(question, data, spreads, strata_for(question, data, numeric, seen))

    def _by_spread(self, numeric: tuple[str, ...]) -> bool:
        """Return whether these numeric columns are stratified by equal counts."""
        return bool(numeric) and self.on == "values" and self.strata == "auto"

    def uses_numbers(self, question: Question) -> bool:
        """Return whether rows are ranked: a column holds numbers, and no tables were asked for."""
        return self.on == "values" and bool(question.numeric)

    def limits_rows(self, question: Question) -> bool:
        """Return whether rows are ranked."""
        return self.uses_numbers(question)

    def _of_rows(
        self, question: Question, data: Dataset, block: NDArray[np.int64], k: int
    ) -> tuple[float, float]:
        """Return the statistic of the rows in their conditioning cells, and its variance."""
        return self.row_value(
            ranked_column(data, question.x), ranked_column(data, question.y), block, max(k, 1)
        )

    def _release(
        self, question: Question, statistic: float, variance: float, settings: TestSettings, budget: Charger
    ) -> Outcome:
        """Release statistic and variance with the noise for a question of this size; return the outcome."""
        mechanism, weight = _mechanism(
            self, settings.neighbours, question.r, question.c, question.k, settings.epsilon
        )
        label = f"{self.name}: {question}"
        return released_with_variance(mechanism, weight, statistic, variance, settings, budget, label)


def _normal_outcome(statistic: float, variance: float, level: float) -> Outcome:
    """Return the two-sided normal test of a statistic with this variance."""
    return Outcome.at(level, normal_pvalue(statistic, variance), statistic)


def _printed_outcome(found: PrintedRank, level: float) -> Outcome:
    """Return the two-sided normal test of a statistic as printed, by the variance that the paper claims."""
    return _normal_outcome(found.value, found.spread**2, level)


def _in_rows(question: Question, data: Dataset, block: NDArray[np.int64]) -> RankCounts:
    """Return what statistics as printed count in the rows of every block. Not private."""
    return in_rows(ranked_column(data, question.x), ranked_column(data, question.y), block)


@lru_cache(maxsize=256)
def _mechanism(
    test: RankTest, neighbours: Neighbours, r: int, c: int, k: int, epsilon: float
) -> tuple[Laplace, float]:
    """Return the mechanism that releases (statistic, weight x variance) of an r x c x k table, and that weight.

    Cached: its exact fractions take longer than the test.
    """
    weight = test.weight(neighbours, r, c, k, epsilon)
    sensitivity = test.sensitivity(neighbours, r, c, k, weight)
    return Laplace(sensitivity=sensitivity, epsilon=epsilon, neighbours=neighbours, size=2), weight


@dataclass(frozen=True)
class KendallTest(RankTest):
    """Blocked Kendall on the values of the rows or on tables, private by one Laplace release."""

    info = TestInfo(
        "kendall",
        "do x and y rise together (rank correlation)? For numbers and ordered levels",
        needs_order=True,
        signed=True,
        numeric_given="strata",
    )
    value = staticmethod(kendall)
    weight = staticmethod(kendall_weight)
    sensitivity = staticmethod(kendall_joint_sensitivity)
    printed_value = staticmethod(printed_kendall)

    @staticmethod
    def row_value(x: Ranked, y: Ranked, block: NDArray[np.int64], k: int) -> tuple[float, float]:
        """Return Kendall's statistic K of the rows in k blocks, and its variance V."""
        return rank_statistics(x, y, block, k)[0]

    def tau(self, statistic: float, n: int) -> float | None:
        """Return about the mean Kendall tau-a within the cells of z.

        K = sum S_b/n_b over the cells b of z, S_b the pairs of rows in order minus those against it.
        S_b = tau_b n_b (n_b - 1)/2, so 2 K/n is the mean tau-a of the cells, weighted by n_b - 1 (up to k/n for k
        cells): the share of pairs of rows within a cell that agree in order, less the share that disagree.

        >>> KendallTest().tau(300.0, 2000)
        0.3
        """
        return None if self.printed else max(-1.0, min(2 * statistic / n, 1.0))


@dataclass(frozen=True)
class SpearmanTest(RankTest):
    """Blocked Spearman on the values of the rows or on tables, private by one Laplace release."""

    info = TestInfo(
        "spearman",
        "the same question as kendall, by Spearman's ranks",
        needs_order=True,
        signed=True,
        numeric_given="strata",
    )
    value = staticmethod(spearman)
    weight = staticmethod(spearman_weight)
    sensitivity = staticmethod(spearman_joint_sensitivity)
    printed_value = staticmethod(printed_spearman)

    @staticmethod
    def row_value(x: Ranked, y: Ranked, block: NDArray[np.int64], k: int) -> tuple[float, float]:
        """Return Spearman's statistic F of the rows in k blocks, and its variance U."""
        return rank_statistics(x, y, block, k)[1]


def ranked_column(data: Dataset, name: str) -> Ranked:
    """Return the dense ranks of a column, remembered while the data set lives. Not private: for a statistic only."""
    known = _ranked_columns.setdefault(data, {})
    if name not in known:
        known[name] = ranked(data.values[name] if name in data.values else data.codes[name])
    return known[name]


def numeric_given(question: Question, data: Dataset) -> tuple[str, ...]:
    """Return the conditioning columns that hold numbers."""
    return tuple(name for name in question.given_numbers if name in data.values)


def spread_share(n: int | None, epsilon: float) -> float:
    """Return the share of epsilon that measuring the quantiles of numeric given columns costs: public.

    >>> spread_share(1000, 1.0), spread_share(100_000, 1.0)
    (0.3, 0.15)
    """
    wanted = SPREAD_ROWS / max((n or ASSUMED_ROWS) * epsilon, 1e-300)
    return min(max(wanted, MIN_SPREAD_SHARE), MAX_SPREAD_SHARE)


def strata_for(question: Question, data: Dataset, numeric: tuple[str, ...], n: float) -> int:
    """Return the number of strata of equal counts for each numeric given column, for n rows."""
    return strata_per_number(other_cells(question, data, numeric), len(numeric), n)


def other_cells(question: Question, data: Dataset, numeric: tuple[str, ...]) -> int:
    """Return the number of cells of the conditioning columns other than ``numeric``."""
    return math.prod(data.schema[z].size for z in question.given if z not in numeric)


def strata_per_number(others: int, numbers: int, n: float) -> int:
    """Return the number of strata of equal counts for each of the given numbers, beside ``others`` cells of levels.

    >>> strata_per_number(1, 1, 2000.0), strata_per_number(1, 3, 2000.0), strata_per_number(300, 1, 2000.0)
    (500, 7, 2)
    """
    wanted = n / ROWS_PER_CELL
    if numbers == 1:
        wanted = min(wanted, STRATA_PER_ROOT * math.sqrt(max(n, 1.0)))
    return max(2, math.floor(float(max(wanted / others, 1.0) ** (1 / numbers))))


def counted_blocks(
    question: Question, data: Dataset, spreads: dict[str, Spread], strata: int
) -> tuple[NDArray[np.int64], int]:
    """Return the block of every row, numeric columns stratified by equal counts, and the number of blocks."""
    codes: dict[str, tuple[NDArray[np.int64], int]] = {}
    for name, spread in spreads.items():
        codes[name] = spread.strata(*data.on_scale(name), strata), strata
    return _numbered(question, data, codes)


def bins_for(question: Question, data: Dataset, strata: Strata, n: int | None) -> dict[str, int]:
    """Return the number of strata of every numeric conditioning column; none where declared bins are used.

    Only public facts: the schema, which columns hold numbers, and ``n``, the number of rows (None where protected).
    """
    numeric = numeric_given(question, data)
    if strata == "schema" or not numeric:
        return {}
    if strata != "auto":
        return dict.fromkeys(numeric, int(strata))
    others = other_cells(question, data, numeric)
    if n is None:
        per_column = STRATA_N_UNKNOWN.get(len(numeric), 4)
    else:
        per_column = math.floor(max(n / (ROWS_PER_CELL * others), 1.0) ** (1 / len(numeric)))
    return dict.fromkeys(numeric, min(max(per_column, 2), MAX_STRATA))


def blocks_of(question: Question, data: Dataset, bins: dict[str, int]) -> tuple[NDArray[np.int64], int]:
    """Return the block of every row, numeric columns cut into equal widths on their scale, and the number of blocks."""
    codes: dict[str, tuple[NDArray[np.int64], int]] = {}
    for name, size in bins.items():
        codes[name] = np.clip((data.on_scale(name).share() * size).astype(np.int64), 0, size - 1), size
    return _numbered(question, data, codes)


def _numbered(
    question: Question, data: Dataset, codes: dict[str, tuple[NDArray[np.int64], int]]
) -> tuple[NDArray[np.int64], int]:
    """Return the block of every row by given codes, and the number of blocks; other columns have their own codes."""
    block, k = np.zeros(data.n, np.int64), 1
    for name in question.given:
        code, size = codes.get(name) or (data.codes[name].astype(np.int64), data.schema[name].size)
        if k * size >= MAX_CELLS:
            raise InputError(f"{question} has more conditioning cells than can be numbered")
        block, k = block * size + code, k * size
    return block, k


def _as_numbers(question: Question, data: Dataset, k: int) -> Question:
    """Return the question with the sizes on which sensitivities of ranks depend: a number may have any value."""
    r, c = (
        ANY_LEVELS if name in data.values else data.schema[name].size for name in (question.x, question.y)
    )
    return replace(question, r=r, c=c, k=k)
