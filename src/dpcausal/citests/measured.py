"""``measured``: release the whole table with noise, then apply a test that knows the noise (``stats/measured.py``).

Every cell of (given, x, y) gets exact discrete noise: Laplace for a pure budget, Gaussian (zCDP) where delta is given
and that is less noise. The test, its p-value and anything else computed from the noisy table is post-processing.

**Guarantee**: (epsilon, delta)-DP, delta 0 with Laplace noise. One row replaced moves two cells by one each (l1 2,
l2 sqrt 2), one row added moves one. **Null law, cost and edge cases**: those of ``stats/measured.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

from dpcausal.citests.base import Charger, Outcome, Question, TableTest, TestInfo, TestSettings
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.core.statement import Noisy
from dpcausal.privacy.accounting.conversion import rho_for
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.base import INTEGERS, release
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.chi2 import likelihood_ratio
from dpcausal.stats.measured import GAUSSIAN, LAPLACE, Form, measured_test

MAX_CELLS = 1 << 20  # of a table that is measured


@dataclass(frozen=True)
class Measured(TableTest):
    """A noisy table and its test."""

    noise: Annotated[
        Literal["auto", "laplace", "gaussian"],
        "auto (the smaller of Laplace and, with a delta, Gaussian), laplace or gaussian",
    ] = "auto"
    form: Annotated[Form, "how blocks are put together: omnibus, pooled, or combined (both)"] = "combined"

    info = TestInfo("measured", "a test on the table of counts, with noise in every cell", any_question=True)
    releases = Noisy("table")

    def check(self, question: Question) -> None:
        """Refuse a table with more cells than can be measured."""
        super().check(question)
        if question.cells > MAX_CELLS:
            raise InputError(
                f"the table of {question} has {question.cells:,} cells: at most {MAX_CELLS:,} can be measured"
            )

    def classical(self, blocks: Blocks, level: float) -> Outcome:
        """Return the outcome of G on the exact table against its chi-squared law."""
        found = likelihood_ratio(blocks)
        return Outcome.at(level, found.pvalue, found.statistic, found.dof)

    def mechanism(self, cells: int, settings: TestSettings) -> tuple[Laplace | Gaussian, float, float]:
        """Return the mechanism, the variance of its noise and its excess kurtosis, from public numbers."""
        return _mechanism(self.noise, cells, settings.epsilon, settings.delta, settings.neighbours)

    def private(self, question: Question, blocks: Blocks, settings: TestSettings, budget: Charger) -> Outcome:
        """Release the table with noise, then test it."""
        mechanism, variance, kurtosis = self.mechanism(blocks.size, settings)
        noisy = release(mechanism, budget, f"table of {question}", blocks)
        found = measured_test(noisy, variance, kurtosis=kurtosis, n=settings.n, form=self.form)
        return Outcome.at(settings.level, found.pvalue, found.statistic)


@lru_cache(maxsize=256)
@proved("measured.proof.md")
def _mechanism(
    noise: str, cells: int, epsilon: float, delta: float, neighbours: Neighbours
) -> tuple[Laplace | Gaussian, float, float]:
    """Return what ``Measured.mechanism`` returns, cached: its exact fractions take longer than the test."""
    moved = 1.0 if neighbours is Neighbours.ADD_REMOVE else 2.0
    laplace = Laplace(sensitivity=moved, epsilon=epsilon, neighbours=neighbours, size=cells, grid=INTEGERS)
    decay = math.exp(-1 / laplace.scale)
    variance = 2 * decay / (1 - decay) ** 2  # of the discrete law
    if noise == "laplace" or (noise == "auto" and delta == 0):
        return laplace, variance, LAPLACE
    if delta == 0:
        raise InputError("gaussian noise needs a delta above 0")
    rho = rho_for(epsilon, delta)
    l2 = math.nextafter(math.sqrt(moved), math.inf) if moved > 1 else 1.0  # sqrt(moved), rounded up
    gaussian = Gaussian(sensitivity=l2, rho=rho, neighbours=neighbours, size=cells, grid=INTEGERS)
    if noise == "auto" and gaussian.sigma**2 > variance:
        return laplace, variance, LAPLACE
    return gaussian, gaussian.sigma**2, GAUSSIAN
