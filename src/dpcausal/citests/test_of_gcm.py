"""Test of tests over gcm: the generalised covariance measure on every part of the rows, released as one noisy count.

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

from dpcausal.citests.gcm import Gcm
from dpcausal.citests.gcm_columns import Columns, columns_of
from dpcausal.citests.gcm_parts import dealt
from dpcausal.citests.method import ONE_ROW, Charger, Outcome, Terms
from dpcausal.citests.parts import part_count
from dpcausal.citests.question import Question
from dpcausal.citests.test_of_tests import noisy_count, planned
from dpcausal.core.arguments import checked_level
from dpcausal.data.dataset import Dataset
from dpcausal.stats.gcm import classical_gcm

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
    protects: str = ONE_ROW
    releases: str = "the number of disjoint parts in which gcm rejected, with Laplace noise"
    assumes: tuple[str, ...] = ("the number of parts and the level of the test on each",)

    def __post_init__(self) -> None:
        if self.sub_level is not None:
            checked_level(self.sub_level, "sub_level")

    def check(self, question: Question) -> None:
        """As gcm."""
        Gcm().check(question)

    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """gcm itself, on all rows."""
        return Gcm().classical_values(question, data, level)

    def plan(self, terms: Terms, d: int) -> tuple[int, float]:
        """(parts, size of the test on each part), from public numbers."""
        parts, sub_level = planned(self.parts, self.sub_level, terms)
        if terms.n is not None:
            parts = min(parts, max(1, terms.n // (LEAST_ROWS + PER_COLUMN * d)))
        return part_count(parts, terms), sub_level

    def private_values(self, question: Question, data: Dataset, terms: Terms, budget: Charger) -> Outcome:
        """Deal, test each part, release the count."""
        columns = columns_of(question, data)
        parts, sub_level = self.plan(terms, columns.z.shape[1])
        rejected = sum(
            _pvalue(replace(columns, x=columns.x[rows], y=columns.y[rows], z=columns.z[rows])) <= sub_level
            for rows in dealt(len(columns.x), parts, terms)
        )
        return noisy_count(rejected, parts, sub_level, terms, budget, f"{self.name} over gcm: {question}")


def _pvalue(part: Columns) -> float:
    """Of one part; silent whatever the rows are, since a warning would tell of them."""
    with np.errstate(all="ignore"):
        try:
            return classical_gcm(part.x, part.y, part.z, part.discrete)[1]
        except (ArithmeticError, np.linalg.LinAlgError):  # so would an exception
            return 1.0
