"""Blocked Kendall and Spearman as tests: release (statistic, weight x variance), then a noise-aware p-value.

One Laplace release of two numbers with their joint sensitivity (``stats/kendall_sensitivity.py``,
``stats/spearman.py``): for 2x2 tables the variance comes free. The p-value knows the noise
(``stats/kendall_null.py``), so the level is kept at every epsilon. For ordered levels; two levels always are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpcausal.citests.method import ONE_ROW, Charger, Outcome, Terms
from dpcausal.citests.question import Question
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.release import release
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.kendall import kendall
from dpcausal.stats.kendall_null import laplace_tail, normal_pvalue
from dpcausal.stats.kendall_sensitivity import kendall_joint_sensitivity, kendall_weight
from dpcausal.stats.spearman import spearman, spearman_joint_sensitivity, spearman_weight


@dataclass(frozen=True)
class RankTest:
    """A statistic that is normal given the margins of every block, with its variance."""

    name: str
    value: Callable[[Blocks], tuple[float, float]]
    weight: Callable[..., float]
    sensitivity: Callable[..., float]
    releases: str = "the statistic and its variance, with Laplace noise"
    own_delta: bool = False
    protects: str = ONE_ROW

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

    def mechanism(self, question: Question, terms: Terms) -> tuple[Laplace, float]:
        """The release and the weight of the variance in it: public sizes only."""
        return _mechanism(self, terms.neighbours, question.r, question.c, question.k, terms.epsilon)

    def private(self, question: Question, blocks: Blocks, terms: Terms, budget: Charger) -> Outcome:
        """Release both numbers at once; the p-value is post-processing."""
        return self.released(question, *self.value(blocks), terms, budget)

    def released(
        self, question: Question, statistic: float, variance: float, terms: Terms, budget: Charger
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
