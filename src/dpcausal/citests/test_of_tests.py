"""``test-of-tests``: deal the rows into parts, test each, release how many rejected (Kazan et al. 2023).

The count has sensitivity 1 whatever the test, so any classical test becomes private. It is released with discrete
Laplace noise, the same as Tulap noise up to a coin, and has an exact p-value. The number of parts and the size of each
part's test follow from public numbers unless given (``stats/tulap.py``).

Tests on tables get tables of parts. Over ``gcm``, the comparison that Kalemaj et al. 2024 name, the rows themselves
are dealt and the classical gcm (``stats/gcm_fit.py``) is asked on each part.

**Guarantee**: epsilon-DP, both relations: one row is in one part and moves the count by at most 1
(``tulap.proof.md``). **Null law**: exact for parts whose test keeps ``sub_level``, which a part of few rows does only
about; over gcm no part has fewer than 24 + 8 d rows where n is public.
**Cost** one classical test for each part. **Edge cases**: an empty or constant part does not reject.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from dpcausal.citests.base import (
    Charger,
    CITest,
    Outcome,
    Question,
    TableTest,
    TestInfo,
    TestSettings,
    ValueTest,
)
from dpcausal.citests.chi2 import LikelihoodRatio
from dpcausal.citests.gcm import Gcm, classical
from dpcausal.citests.parts import ASSUMED_ROWS, deal_rows, deal_table, part_count
from dpcausal.citests.regression_columns import RegressionColumns, columns_of
from dpcausal.citests.result import HeldFixed
from dpcausal.core.arguments import checked_level
from dpcausal.core.statement import CountOfParts, Public, Released, SettingKnown
from dpcausal.data.dataset import Dataset
from dpcausal.privacy.mechanisms.additive import Laplace
from dpcausal.privacy.mechanisms.base import INTEGERS, release
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.tulap import noisy_pvalue, plan_split

MIN_GCM_ROWS = 24  # of a part that gcm is asked on
GCM_ROWS_PER_COLUMN = 8  # more of them for each conditioning column
DEFAULT_TEST = LikelihoodRatio()
GCM = Gcm()
TEST_LINE = f"name of the test of each part; default {DEFAULT_TEST.name}"


@dataclass(frozen=True)
class TestOfParts(CITest):
    """What a test of tests over any test shares: the test of each part, the plan, and the release of the count."""

    __test__ = False  # not a test case, whatever its name

    test: Annotated[CITest, TEST_LINE] = DEFAULT_TEST
    parts: Annotated[int | None, "number of parts; default from the number of rows and epsilon"] = None
    sub_level: Annotated[float | None, "size of the test of each part; default from the same numbers"] = None

    info = TestInfo(
        "test-of-tests", "a test on each of many parts of the rows; a noisy count of the parts that reject"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sub_level is not None:
            checked_level(self.sub_level, "sub_level")

    @property
    def releases(self) -> Released:
        """What the test releases: a noisy count of parts."""
        return CountOfParts(self.test.name)

    def check(self, question: Question) -> None:
        """Refuse a question that the test of each part refuses."""
        self.test.check(question)

    def min_part_rows(self, d: int) -> int:
        """Return how many rows a part must have for this test on it, with d conditioning columns."""
        del d
        return 1

    def plan(self, settings: TestSettings, d: int) -> tuple[int, float]:
        """Return the number of parts and the size of the test on each, for d conditioning columns: public numbers."""
        n = ASSUMED_ROWS if settings.n is None else max(settings.n, 2)
        plan = plan_split(n, settings.epsilon, settings.level)
        parts = plan.parts if self.parts is None else self.parts
        if settings.n is not None:
            parts = min(parts, max(1, settings.n // self.min_part_rows(d)))
        return part_count(parts, settings), plan.sub_level if self.sub_level is None else self.sub_level

    def _release(
        self,
        rejected: int,
        plan: tuple[int, float],
        question: Question,
        settings: TestSettings,
        budget: Charger,
    ) -> Outcome:
        """Release the number of parts that rejected; the p-value is of Binomial(parts, sub_level) plus noise."""
        counter = Laplace(
            sensitivity=1.0, epsilon=settings.epsilon, neighbours=settings.neighbours, grid=INTEGERS
        )
        noisy = int(release(counter, budget, f"{self.name} over {self.test.name}: {question}", rejected))
        pvalue = noisy_pvalue(noisy, *plan, counter.event("").epsilon)
        return Outcome.at(settings.level, pvalue, float(noisy))


@dataclass(frozen=True)
class TestOfTests(TestOfParts, TableTest):
    """The test of tests over a test on tables."""

    test: Annotated[TableTest, TEST_LINE] = DEFAULT_TEST

    def classical(self, blocks: Blocks, level: float) -> Outcome:
        """Return the answer of the test itself on all rows."""
        return self.test.classical(blocks, level)

    def private(self, question: Question, blocks: Blocks, settings: TestSettings, budget: Charger) -> Outcome:
        """Deal the rows into parts, test each, and release the noisy number of rejections."""
        parts, sub_level = plan = self.plan(settings, len(question.given))
        dealt = deal_table(blocks, parts, settings)
        rejected = sum(not self.test.on_part(part, sub_level).independent for part in dealt)
        return self._release(rejected, plan, question, settings, budget)


@dataclass(frozen=True)
class TestOfGcm(TestOfParts, ValueTest):
    """The test of tests over gcm, which needs the rows themselves."""

    test: Annotated[Gcm, TEST_LINE] = GCM

    @property
    def assumes(self) -> tuple[Public, ...]:
        """What is public besides the schema: the number of parts."""
        return (SettingKnown("parts"),)

    def min_part_rows(self, d: int) -> int:
        """Return how many rows gcm needs with d conditioning columns."""
        return MIN_GCM_ROWS + GCM_ROWS_PER_COLUMN * d

    def values_held_fixed(
        self, columns: tuple[str, ...], question: Question, data: Dataset, n: int | None
    ) -> HeldFixed | None:
        """Return that numeric columns are adjusted for by regression."""
        return self.test.values_held_fixed(columns, question, data, n)

    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """Return the answer of gcm itself on all rows."""
        return self.test.classical_values(question, data, level)

    def private_values(
        self, question: Question, data: Dataset, settings: TestSettings, budget: Charger
    ) -> Outcome:
        """Deal the rows into parts, test each, and release the noisy number of rejections."""
        columns = columns_of(question, data)
        parts, sub_level = plan = self.plan(settings, len(question.given))
        rejected = sum(
            _pvalue(columns.rows(rows)) <= sub_level for rows in deal_rows(len(columns.x), parts, settings)
        )
        return self._release(rejected, plan, question, settings, budget)


def _pvalue(part: RegressionColumns) -> float:
    """Return the p-value of gcm on one part; no warning or exception, which would depend on its rows."""
    with np.errstate(all="ignore"):
        try:
            return classical(part)[1]
        except (ArithmeticError, np.linalg.LinAlgError):
            return 1.0
