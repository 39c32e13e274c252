"""Blocked Kendall and Spearman as tests: release (statistic, weight x variance), then a noise-aware p-value.

One Laplace release of two numbers with their joint sensitivity (``stats/kendall_sensitivity.py``,
``stats/spearman.py``): for 2x2 tables the variance comes free. The p-value knows the noise
(``stats/kendall_null.py``), so the level is kept at every epsilon. For ordered levels; two levels always are.

Kendall and Spearman on numbers: x and y as they are, z through strata and public bins.

As ``rank.py``, but x and y need not be cut into bins: the statistic of the rows has the same sensitivity
(``stats/continuous_rank.py``) and sees more. ``on="table"`` asks the declared bins instead, ``on="values"`` (default)
the numbers where x or y holds numbers.

**Conditioning.** A categorical z makes one stratum per declared level. A numeric z is cut into ``strata`` equal bins of
its declared range ("auto": from the public number of rows, about 4 rows to a cell, at most 256 bins; "schema": the
declared bins). Noise does not grow with their number, and the test is only as good as they are fine: within a bin z
still moves x and y, which looks like dependence. With one numeric z 256 bins leave almost nothing of it; with two or
more prefer ``gcm`` (measured in ``docs/continuous.md``).

**Guarantee, null law**: ``stats/continuous_rank.py``. **Cost** O(n log n).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.base import Charger, Outcome, Question, TestSettings
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import ONE_ROW, Public, PublicKind, Released, ReleasedKind, Unit
from dpcausal.counts.memory import counts_of
from dpcausal.data.columns import Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.release import release
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.kendall import kendall, kendall_joint_sensitivity, kendall_weight
from dpcausal.stats.noisy_normal import laplace_tail, normal_pvalue
from dpcausal.stats.spearman import spearman, spearman_joint_sensitivity, spearman_weight
from dpcausal.stats.value_ranks import MANY, Ranked, rank_statistics, ranked

NOISY_STATISTIC = Released(ReleasedKind.STATISTIC)


@dataclass(frozen=True)
class RankTest:
    """A statistic that is normal given the margins of every block, with its variance."""

    name: str
    value: Callable[[Blocks], tuple[float, float]]
    weight: Callable[..., float]
    sensitivity: Callable[..., float]
    releases: Released = NOISY_STATISTIC
    own_delta: bool = False
    protects: Unit = ONE_ROW

    def check(self, question: Question) -> None:
        """Levels must have an order."""
        if not question.ordered:
            raise InputError(
                f"{self.name} needs ordered levels for {question.x} and {question.y}: declare them ordered, "
                "or use chi2, g or measured"
            )

    def classical(self, blocks: Blocks, level: float) -> Outcome:
        """z = statistic/sqrt(variance) against the normal law."""
        statistic, variance = self.value(blocks)
        return Outcome.at(level, float(normal_pvalue(statistic, variance)), statistic)

    def mechanism(self, question: Question, terms: TestSettings) -> tuple[Laplace, float]:
        """The release and the weight of the variance in it: public sizes only."""
        return _mechanism(self, terms.neighbours, question.r, question.c, question.k, terms.epsilon)

    def private(self, question: Question, blocks: Blocks, terms: TestSettings, budget: Charger) -> Outcome:
        """Release both numbers at once; the p-value is post-processing."""
        return self.released(question, *self.value(blocks), terms, budget)

    def released(
        self, question: Question, statistic: float, variance: float, terms: TestSettings, budget: Charger
    ) -> Outcome:
        """Release both numbers with the noise that ``question``'s sizes ask for."""
        mechanism, weight = self.mechanism(question, terms)
        label = f"{self.name}: {question}"
        released = release(mechanism, budget, label, np.array([statistic, weight * variance]))
        noisy, noisy_variance = float(released[0]), float(released[1])
        return Outcome.at(terms.level, laplace_tail(noisy, noisy_variance / weight, mechanism.scale), noisy)


@lru_cache(maxsize=256)
def _mechanism(
    test: RankTest, neighbours: Neighbours, r: int, c: int, k: int, epsilon: float
) -> tuple[Laplace, float]:
    """Kept: exact fractions cost more than the test itself. Public arguments only, and no noise in it."""
    weight = test.weight(neighbours, r, c, k, epsilon)
    sensitivity = test.sensitivity(neighbours, r, c, k, weight)
    return Laplace(sensitivity=sensitivity, epsilon=epsilon, neighbours=neighbours, size=2), weight


KENDALL = RankTest("kendall", kendall, kendall_weight, kendall_joint_sensitivity)
SPEARMAN = RankTest("spearman", spearman, spearman_weight, spearman_joint_sensitivity)


Strata = Literal["auto", "schema"] | int

ROWS_A_CELL = 4
MOST_BINS = 256  # of one numeric column
UNKNOWN_N = {1: 64, 2: 16, 3: 8}  # bins a column where the number of rows is protected

_kept: WeakKeyDictionary[Dataset, dict[str, Ranked]] = WeakKeyDictionary()


@dataclass(frozen=True)
class ValueRankTest(RankTest):
    """A rank test that is given rows where there are rows."""

    on: Literal["values", "table"] = "values"
    strata: Strata = "auto"

    def __post_init__(self) -> None:
        if self.on not in ("values", "table"):
            raise InputError(f"on must be values or table, not {self.on!r}")
        if self.strata not in ("auto", "schema") and (
            isinstance(self.strata, str | bool) or not 1 <= self.strata <= 1 << 20
        ):
            raise InputError(f"strata must be auto, schema or a number of bins, not {self.strata!r}")

    @property
    def assumes(self) -> tuple[Public, ...]:
        """What is public besides the schema."""
        if self.on == "table" or self.strata == "schema":
            return ()
        return (Public(PublicKind.STRATA),)

    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """z = statistic/sqrt(variance) against the normal law."""
        if self._on_table(question):
            return self.classical(question.blocks(counts_of(data)), level)
        statistic, variance = self._value(question, data, bins_for(question, data, self.strata, data.n))
        return Outcome.at(level, float(normal_pvalue(statistic, variance)), statistic)

    def private_values(
        self, question: Question, data: Dataset, terms: TestSettings, budget: Charger
    ) -> Outcome:
        """Release (statistic, weight x variance); the p-value is post-processing."""
        if self._on_table(question):
            return self.private(question, question.blocks(counts_of(data)), terms, budget)
        bins = bins_for(question, data, self.strata, terms.n)
        asked = _as_numbers(question, data, bins)
        return self.released(asked, *self._value(question, data, bins), terms, budget)

    def _on_table(self, question: Question) -> bool:
        """Whether nothing here holds numbers, or tables were asked for."""
        return self.on == "table" or not question.numeric

    def _value(self, question: Question, data: Dataset, bins: dict[str, int]) -> tuple[float, float]:
        block, k = blocks_of(question, data, bins)
        found = rank_statistics(
            ranked_column(data, question.x), ranked_column(data, question.y), block, max(k, 1)
        )
        return found[0] if self.name == "kendall" else found[1]


def ranked_column(data: Dataset, name: str) -> Ranked:
    """Dense ranks of a column, kept as long as the data set lives. Not private: for a statistic only."""
    kept = _kept.setdefault(data, {})
    if name not in kept:
        kept[name] = ranked(data.values[name] if name in data.values else data.codes[name])
    return kept[name]


def bins_for(question: Question, data: Dataset, strata: Strata, n: int | None) -> dict[str, int]:
    """Bins of every numeric conditioning column; empty where the schema's are to be used. Public numbers only."""
    numeric = [z for z in question.given if z in question.numeric and z in data.values]
    if strata == "schema" or not numeric:
        return {}
    if strata != "auto":
        return dict.fromkeys(numeric, int(strata))
    others = math.prod(data.schema[z].size for z in question.given if z not in numeric)
    if n is None:
        each = UNKNOWN_N.get(len(numeric), 4)
    else:
        each = math.floor(max(n / (ROWS_A_CELL * others), 1.0) ** (1 / len(numeric)))
    return dict.fromkeys(numeric, min(max(each, 2), MOST_BINS))


def blocks_of(question: Question, data: Dataset, bins: dict[str, int]) -> tuple[NDArray[np.int64], int]:
    """The block of every row, and how many blocks there are by declaration."""
    block, k = np.zeros(data.n, np.int64), 1
    for name in question.given:
        column = data.schema[name]
        if name in bins and isinstance(column, Numeric):
            size = bins[name]
            share = (data.values[name] - column.lower) / (column.upper - column.lower)
            code = np.clip((share * size).astype(np.int64), 0, size - 1)
        else:
            size, code = column.size, data.codes[name].astype(np.int64)
        if k * size >= 1 << 62:
            raise InputError(f"{question} has more conditioning cells than can be numbered")
        block, k = block * size + code, k * size
    return block, k


def _as_numbers(question: Question, data: Dataset, bins: dict[str, int]) -> Question:
    """The question with the sizes that the bounds depend on."""
    r, c = (MANY if name in data.values else data.schema[name].size for name in (question.x, question.y))
    k = math.prod(bins.get(name, data.schema[name].size) for name in question.given)
    return Question(question.x, question.y, question.given, r, c, k, question.ordered, question.numeric)


def _with(test: RankTest, on: Literal["values", "table"], strata: Strata) -> ValueRankTest:
    return ValueRankTest(test.name, test.value, test.weight, test.sensitivity, on=on, strata=strata)


def kendall_test(on: Literal["values", "table"] = "values", strata: Strata = "auto") -> ValueRankTest:
    """Blocked Kendall."""
    return _with(KENDALL, on, strata)


def spearman_test(on: Literal["values", "table"] = "values", strata: Strata = "auto") -> ValueRankTest:
    """Blocked Spearman."""
    return _with(SPEARMAN, on, strata)
