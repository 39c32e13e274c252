"""Measured: release the whole table with noise, then a test that knows the noise (``stats/measured.py``).

Every cell of (given, x, y) gets exact discrete noise: Laplace for a pure budget, Gaussian (zCDP) where delta is given
and that is less noise. One row replaced moves two cells by one each (l1 2, l2 sqrt 2), one row added moves one. The
test, its p-value and anything else computed from the noisy table is free post-processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from dpcausal.citests.base import Charger, Outcome, Question, TestSettings
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import ONE_ROW, Released, ReleasedKind, Unit
from dpcausal.privacy.accounting.conversion import rho_for
from dpcausal.privacy.mechanisms.gaussian import Gaussian
from dpcausal.privacy.mechanisms.grid import INTEGERS
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.release import release
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.chi2 import likelihood_ratio
from dpcausal.stats.measured import GAUSSIAN, LAPLACE, Form, measured_test

MOST_CELLS = 1 << 20
NOISY_TABLE = Released(ReleasedKind.TABLE)


@dataclass(frozen=True)
class Measured:
    """A noisy table and its test; ``noise`` "auto" takes the smaller of Laplace and, with delta, Gaussian."""

    noise: Literal["auto", "laplace", "gaussian"] = "auto"
    form: Form = "combined"
    name: str = "measured"
    own_delta: bool = False
    protects: Unit = ONE_ROW
    releases: Released = NOISY_TABLE

    def __post_init__(self) -> None:
        if self.noise not in ("auto", "laplace", "gaussian"):
            raise InputError(f"noise must be auto, laplace or gaussian, not {self.noise!r}")
        if self.form not in ("combined", "omnibus", "pooled"):
            raise InputError(f"form must be combined, omnibus or pooled, not {self.form!r}")

    def check(self, question: Question) -> None:
        """The table must be of a size that can be measured."""
        cells = question.k * question.r * question.c
        if cells > MOST_CELLS:
            raise InputError(
                f"the table of {question} has {cells:,} cells: at most {MOST_CELLS:,} can be measured"
            )

    def classical(self, blocks: Blocks, level: float) -> Outcome:
        """G on the exact table."""
        found = likelihood_ratio(blocks)
        return Outcome.at(level, found.pvalue, found.statistic, found.dof)

    def mechanism(self, cells: int, terms: TestSettings) -> tuple[Laplace | Gaussian, float, float]:
        """(mechanism, variance of its noise, excess kurtosis), from public numbers."""
        return _mechanism(self.noise, cells, terms.epsilon, terms.delta, terms.neighbours)

    def private(self, question: Question, blocks: Blocks, terms: TestSettings, budget: Charger) -> Outcome:
        """Measure the table, then test it."""
        mechanism, variance, kurtosis = self.mechanism(blocks.size, terms)
        noisy = release(mechanism, budget, f"table of {question}", blocks)
        found = measured_test(noisy, variance, kurtosis=kurtosis, n=terms.n, form=self.form)
        return Outcome.at(terms.level, found.pvalue, found.statistic)


@lru_cache(maxsize=256)
def _mechanism(
    noise: str, cells: int, epsilon: float, delta: float, neighbours: Neighbours
) -> tuple[Laplace | Gaussian, float, float]:
    """Kept: exact fractions take longer than the test. Public arguments only, and no noise in it."""
    moved = 1.0 if neighbours is Neighbours.ADD_REMOVE else 2.0
    laplace = Laplace(sensitivity=moved, epsilon=epsilon, neighbours=neighbours, size=cells, grid=INTEGERS)
    decay = math.exp(-1 / laplace.scale)
    spread = 2 * decay / (1 - decay) ** 2  # variance of the discrete law
    if noise == "laplace" or (noise == "auto" and delta == 0):
        return laplace, spread, LAPLACE
    if delta == 0:
        raise InputError("gaussian noise needs a delta above 0")
    rho = rho_for(epsilon, delta)
    # sqrt(moved), rounded up
    reach = math.nextafter(math.sqrt(moved), math.inf) if moved > 1 else 1.0
    gaussian = Gaussian(sensitivity=reach, rho=rho, neighbours=neighbours, size=cells, grid=INTEGERS)
    if noise == "auto" and gaussian.sigma**2 > spread:
        return laplace, spread, LAPLACE
    return gaussian, gaussian.sigma**2, GAUSSIAN
