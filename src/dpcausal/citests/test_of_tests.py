"""Test of tests: deal the rows into parts, test each, release how many rejected (Kazan et al. 2023).

The count has sensitivity 1 whatever the test, so any classical test becomes private. It is released with discrete
Laplace noise, the same as Tulap noise up to a coin (``stats/tulap.py``), and has an exact p-value. The number of parts
and the size of each part's test follow from public numbers (``stats/tulap_split.py``) unless given.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpcausal.citests.chi2 import Reconciled
from dpcausal.citests.method import ONE_ROW, Charger, Method, Outcome, Terms
from dpcausal.citests.parts import deal, part_count
from dpcausal.citests.question import Question
from dpcausal.core.arguments import checked_level
from dpcausal.privacy.mechanisms.grid import INTEGERS
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.release import release
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.tulap import noisy_pvalue
from dpcausal.stats.tulap_split import plan_split

ROWS_UNKNOWN = 10_000  # what a plan assumes where n is not public


@dataclass(frozen=True)
class TestOfTests:
    """Any classical test, on parts."""

    __test__ = False  # not a test case, whatever its name

    test: Method
    parts: int | None = None
    sub_level: float | None = None
    name: str = "test-of-tests"
    own_delta: bool = False
    protects: str = ONE_ROW

    def __post_init__(self) -> None:
        if self.sub_level is not None:
            checked_level(self.sub_level, "sub_level")

    @property
    def releases(self) -> str:
        """What leaves."""
        return f"the number of disjoint parts in which {self.test.name} rejected, with Laplace noise"

    def check(self, question: Question) -> None:
        """As the test itself."""
        self.test.check(question)

    def classical(self, blocks: Blocks, level: float) -> Outcome:
        """The test itself, on all rows."""
        return self.test.classical(blocks, level)

    def plan(self, terms: Terms) -> tuple[int, float]:
        """(parts, size of the test on each part), from public numbers."""
        parts, sub_level = planned(self.parts, self.sub_level, terms)
        return part_count(parts, terms), sub_level

    def private(self, question: Question, blocks: Blocks, terms: Terms, budget: Charger) -> Outcome:
        """Deal, test each part, release the count."""
        parts, sub_level = self.plan(terms)
        test = self.test.on_part if isinstance(self.test, Reconciled) else self.test.classical
        rejected = sum(not test(part, sub_level).independent for part in deal(blocks, parts, terms))
        label = f"{self.name} over {self.test.name}: {question}"
        return noisy_count(rejected, parts, sub_level, terms, budget, label)


def planned(parts: int | None, sub_level: float | None, terms: Terms) -> tuple[int, float]:
    """(parts, size of the test on each) as given, or by the plan for public numbers."""
    plan = plan_split(ROWS_UNKNOWN if terms.n is None else max(terms.n, 2), terms.epsilon, terms.level)
    return plan.parts if parts is None else parts, plan.sub_level if sub_level is None else sub_level


def noisy_count(
    rejected: int, parts: int, sub_level: float, terms: Terms, budget: Charger, label: str
) -> Outcome:
    """Release how many of ``parts`` rejected; its p-value under Binomial(parts, sub_level) plus the noise."""
    counter = Laplace(sensitivity=1.0, epsilon=terms.epsilon, neighbours=terms.neighbours, grid=INTEGERS)
    noisy = int(release(counter, budget, label, rejected))
    pvalue = noisy_pvalue(noisy, parts, sub_level, counter.event("").epsilon)
    return Outcome.at(terms.level, pvalue, float(noisy))
