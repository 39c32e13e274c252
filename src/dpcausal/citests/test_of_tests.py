"""Test of tests: deal the rows into parts, test each, release how many rejected (Kazan et al. 2023).

The count has sensitivity 1 whatever the test, so any classical test becomes private. It is released with discrete
Laplace noise, the same as Tulap noise up to a coin (``stats/tulap.py``), and has an exact p-value. The number of parts
and the size of each part's test follow from public numbers (``stats/tulap_split.py``) unless given.

Test of tests over gcm: the generalised covariance measure on every part of the rows, released as one noisy count.

The comparison that Kalemaj et al. 2024 name. As ``test_of_tests.py``, on values instead of tables: rows are dealt
without looking at them (equal parts where n is public, else each row by its own coins), the classical gcm
(``stats/gcm.py``) is asked on each, and the number of rejections leaves with discrete Laplace noise.

**Guarantee**: epsilon, pure, either relation: one row is in one part and moves the count by at most 1
(``stats/tulap.proof.md``). **Null law**: exact for parts whose test keeps ``sub_level``, which a part of few rows does
only about; no part has fewer than 24 + 8 d rows where n is public.
**Cost** one classical gcm for each part. **Edge cases**: an empty or constant part does not reject.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpcausal.citests.base import Charger, Outcome, Question, TableTest, TestSettings
from dpcausal.citests.chi2 import Reconciled
from dpcausal.citests.gcm import Gcm, dealt
from dpcausal.citests.parts import ROWS_UNKNOWN, deal, part_count
from dpcausal.citests.regression_columns import RegressionColumns, columns_of
from dpcausal.core.arguments import checked_level
from dpcausal.core.statement import ONE_ROW, Public, PublicKind, Released, ReleasedKind, Unit
from dpcausal.data.dataset import Dataset
from dpcausal.privacy.mechanisms.grid import INTEGERS
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.release import release
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.gcm_fit import classical_gcm
from dpcausal.stats.tulap import noisy_pvalue, plan_split

PARTS = (Public(PublicKind.PARTS),)
COUNT_OF_PARTS = Released(ReleasedKind.COUNT_OF_PARTS, test="gcm")


@dataclass(frozen=True)
class TestOfTests:
    """Any classical test, on parts."""

    __test__ = False  # not a test case, whatever its name

    test: TableTest
    parts: int | None = None
    sub_level: float | None = None
    name: str = "test-of-tests"
    own_delta: bool = False
    protects: Unit = ONE_ROW

    def __post_init__(self) -> None:
        if self.sub_level is not None:
            checked_level(self.sub_level, "sub_level")

    @property
    def releases(self) -> Released:
        """What leaves."""
        return Released(ReleasedKind.COUNT_OF_PARTS, test=self.test.name)

    def check(self, question: Question) -> None:
        """As the test itself."""
        self.test.check(question)

    def classical(self, blocks: Blocks, level: float) -> Outcome:
        """The test itself, on all rows."""
        return self.test.classical(blocks, level)

    def plan(self, terms: TestSettings) -> tuple[int, float]:
        """(parts, size of the test on each part), from public numbers."""
        parts, sub_level = planned(self.parts, self.sub_level, terms)
        return part_count(parts, terms), sub_level

    def private(self, question: Question, blocks: Blocks, terms: TestSettings, budget: Charger) -> Outcome:
        """Deal, test each part, release the count."""
        parts, sub_level = self.plan(terms)
        test = self.test.on_part if isinstance(self.test, Reconciled) else self.test.classical
        rejected = sum(not test(part, sub_level).independent for part in deal(blocks, parts, terms))
        label = f"{self.name} over {self.test.name}: {question}"
        return noisy_count(rejected, parts, sub_level, terms, budget, label)


def planned(parts: int | None, sub_level: float | None, terms: TestSettings) -> tuple[int, float]:
    """(parts, size of the test on each) as given, or by the plan for public numbers."""
    plan = plan_split(ROWS_UNKNOWN if terms.n is None else max(terms.n, 2), terms.epsilon, terms.level)
    return plan.parts if parts is None else parts, plan.sub_level if sub_level is None else sub_level


def noisy_count(
    rejected: int, parts: int, sub_level: float, terms: TestSettings, budget: Charger, label: str
) -> Outcome:
    """Release how many of ``parts`` rejected; its p-value under Binomial(parts, sub_level) plus the noise."""
    counter = Laplace(sensitivity=1.0, epsilon=terms.epsilon, neighbours=terms.neighbours, grid=INTEGERS)
    noisy = int(release(counter, budget, label, rejected))
    pvalue = noisy_pvalue(noisy, parts, sub_level, counter.event("").epsilon)
    return Outcome.at(terms.level, pvalue, float(noisy))


LEAST_ROWS = 24  # of a part, and PER_COLUMN more for each conditioning column
PER_COLUMN = 8


@dataclass(frozen=True)
class TestOfGcm:
    """gcm on parts; ``parts`` and ``sub_level`` as in ``TestOfTests``."""

    __test__ = False  # not a test case, whatever its name

    parts: int | None = None
    sub_level: float | None = None
    name: str = "test-of-tests"
    own_delta: bool = False
    protects: Unit = ONE_ROW
    releases: Released = COUNT_OF_PARTS
    assumes: tuple[Public, ...] = PARTS

    def __post_init__(self) -> None:
        if self.sub_level is not None:
            checked_level(self.sub_level, "sub_level")

    def check(self, question: Question) -> None:
        """As gcm."""
        Gcm().check(question)

    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """gcm itself, on all rows."""
        return Gcm().classical_values(question, data, level)

    def plan(self, terms: TestSettings, d: int) -> tuple[int, float]:
        """(parts, size of the test on each part), from public numbers."""
        parts, sub_level = planned(self.parts, self.sub_level, terms)
        if terms.n is not None:
            parts = min(parts, max(1, terms.n // (LEAST_ROWS + PER_COLUMN * d)))
        return part_count(parts, terms), sub_level

    def private_values(
        self, question: Question, data: Dataset, terms: TestSettings, budget: Charger
    ) -> Outcome:
        """Deal, test each part, release the count."""
        columns = columns_of(question, data)
        parts, sub_level = self.plan(terms, columns.z.shape[1])
        rejected = sum(
            _pvalue(replace(columns, x=columns.x[rows], y=columns.y[rows], z=columns.z[rows])) <= sub_level
            for rows in dealt(len(columns.x), parts, terms)
        )
        return noisy_count(rejected, parts, sub_level, terms, budget, f"{self.name} over gcm: {question}")


def _pvalue(part: RegressionColumns) -> float:
    """Of one part; silent whatever the rows are, since a warning would tell of them."""
    with np.errstate(all="ignore"):
        try:
            return classical_gcm(part.x, part.y, part.z, part.discrete)[1]
        except (ArithmeticError, np.linalg.LinAlgError):  # so would an exception
            return 1.0
