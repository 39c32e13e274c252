"""Null law of a smooth-sensitivity median of m uniform p-values, by simulation. Post-processing: no data enters.

The mechanism itself is run on ``DRAWS`` sets of m uniform numbers; a released median v has p-value
(1 + number of simulated medians <= v)/(DRAWS + 1), which is valid whatever DRAWS. The simulated medians are kept per
mechanism and m, so the cost is paid once.

Chi-squared and G: classical, and private by subsample-and-aggregate (Priv-PC, Algorithm 6).

Both statistics move without bound when one row changes, so they are never released. The rows are dealt into m parts,
each part gives a p-value, and a private median of the m p-values is released:

- ``median="exponential"`` (default): the exponential mechanism over cells of [0, 1]; the p-value of the result is exact
  for uniform part p-values (``stats/aggregate.py``). Lowest error in all settings tried.
- ``median="cauchy"`` (pure), ``"laplace"``, ``"gaussian"`` (need delta): smooth sensitivity with constants that hold
  (``privacy/mechanisms/median_smooth.py``); p-value by simulation of the null, post-processing.

The p-values of parts use the exact mean and variance given the margins (``stats/chi2_moments.py``): the chi-squared law
errs in one direction on small blocks, and a median over parts adds that up (a nominal .05 was 1 in 64 blocks).

m is public: 28/epsilon by default, the least at which a dependence seen by every part is found nine times in ten.
For more power at the same cost see ``test-of-tests``, ``kendall`` (ordered levels) and ``measured``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.base import Charger, Outcome, Question, TestSettings
from dpcausal.citests.parts import part_count, pvalues
from dpcausal.core import entropy
from dpcausal.core.errors import InputError
from dpcausal.core.statement import ONE_ROW, Released, ReleasedKind, Unit
from dpcausal.privacy.mechanisms.grid import Grid
from dpcausal.privacy.mechanisms.median import SmoothMedian
from dpcausal.privacy.mechanisms.release import release
from dpcausal.privacy.mechanisms.selection import Exponential
from dpcausal.stats.aggregate import median_pvalue, median_scores
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.chi2 import (
    Chi2Test,
    likelihood_moment_pvalue,
    likelihood_ratio,
    pearson,
    pearson_moment_pvalue,
)

DRAWS = 999


@lru_cache(maxsize=32)
def _null(mechanism: SmoothMedian, m: int, epoch: int) -> NDArray[np.float64]:
    words = np.frombuffer(entropy.random_bytes(8 * m * DRAWS), np.uint64)
    uniform = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.sort([mechanism.sample(row) for row in uniform.reshape(DRAWS, m)])


def smooth_pvalue(median: float, mechanism: SmoothMedian, m: int) -> float:
    """P(a median this small or smaller) under the null.

    >>> mechanism = SmoothMedian(lower=0.0, upper=1.0, epsilon=1.0, noise="cauchy")
    >>> smooth_pvalue(0.0, mechanism, 15) < smooth_pvalue(1.0, mechanism, 15) == 1.0
    True
    """
    simulated = _null(mechanism, m, entropy.epoch())
    return float(1 + np.searchsorted(simulated, median, side="right")) / (DRAWS + 1)


Median = Literal["exponential", "laplace", "gaussian", "cauchy"]
MEDIAN_OF_PARTS = Released(ReleasedKind.MEDIAN_OF_PARTS)
HALVES = Grid(0.5, exact=True)  # scores of the median are multiples of 1/2


@dataclass(frozen=True)
class Reconciled:
    """A classical test made private by a median over parts."""

    name: str
    value: Callable[[Blocks], Chi2Test]
    part_pvalue: Callable[[Blocks], float]
    parts: int | None = None
    median: Median = "exponential"
    protects: Unit = ONE_ROW
    releases: Released = MEDIAN_OF_PARTS

    def __post_init__(self) -> None:
        if self.median not in ("exponential", "laplace", "gaussian", "cauchy"):
            raise InputError(f"median must be exponential, laplace, gaussian or cauchy, not {self.median!r}")

    @property
    def own_delta(self) -> bool:
        """Whether the median is only (epsilon, delta)-DP."""
        return self.median in ("laplace", "gaussian")

    def check(self, question: Question) -> None:
        """Any levels will do."""

    def classical(self, blocks: Blocks, level: float) -> Outcome:
        """The statistic against its chi-squared law; no degrees of freedom: independent."""
        found = self.value(blocks)
        return Outcome.at(level, found.pvalue, found.statistic, found.dof)

    def on_part(self, blocks: Blocks, level: float) -> Outcome:
        """The answer on few rows, for use inside a mechanism."""
        return Outcome.at(level, self.part_pvalue(blocks))

    def private(self, question: Question, blocks: Blocks, terms: TestSettings, budget: Charger) -> Outcome:
        """Deal, test each part, release the median."""
        wanted = self.parts if self.parts is not None else math.ceil(28 / terms.epsilon)
        m = part_count(wanted, terms)
        label = f"{self.name}: {question}"
        if self.median == "exponential":
            choice = Exponential(
                sensitivity=1.0, epsilon=terms.epsilon, neighbours=terms.neighbours, grid=HALVES
            )
            scores = median_scores(pvalues(blocks, m, terms, self.on_part))
            cell = release(choice, budget, label, scores)
            return Outcome.at(terms.level, median_pvalue(cell, m, terms.epsilon))
        m -= m % 2 == 0  # smooth sensitivity needs an odd number
        delta = terms.delta if self.own_delta else None
        smooth = SmoothMedian(
            lower=0.0,
            upper=1.0,
            epsilon=terms.epsilon,
            delta=delta,
            noise=self.median,
            neighbours=terms.neighbours,
        )
        median = release(smooth, budget, label, pvalues(blocks, m, terms, self.on_part)[:m])
        return Outcome.at(terms.level, smooth_pvalue(median, smooth, m))


def chi2(parts: int | None = None, median: Median = "exponential") -> Reconciled:
    """Pearson's chi-squared."""
    return Reconciled("chi2", pearson, pearson_moment_pvalue, parts, median)


def g(parts: int | None = None, median: Median = "exponential") -> Reconciled:
    """The likelihood ratio."""
    return Reconciled("g", likelihood_ratio, likelihood_moment_pvalue, parts, median)
