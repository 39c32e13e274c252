"""Where to put the decision, and which of two noisy ways to decide sees more: from public noise scales alone.

Scores (``scores.py``) have sensitivity 1 and are asked whether they are above 0. A question is wrongly found
independent ("false hit") with a probability that falls with its dependence; the ``resolution`` of a way to decide is
the dependence, in units of D rows, at which that is 1 in 100. ``shift`` is set so that an independent pair is found
with a probability of .9 or more, ``least`` so that a question without information is a false hit about 1 time in 10.

- sparse vector: noise is one-sided, so a score above centre + N0 is found for sure; shift = centre + 2 b_threshold.
  False hit of score -x: P(N - N0 >= x + centre) = b_q/(b_q + b_t) exp(-(x + centre)/b_q).
- examination: shift = 3 scales of Laplace noise, or 2 sigma of Gaussian noise (an
  independent pair passes with probability .975, .977).

Nothing here sees data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.special import ndtr

from dpcausal.privacy.mechanisms.gaussian import Gaussian
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.sparse_vector import SparseVector

RARE = 0.01
LAPLACE_SHIFT, GAUSSIAN_SHIFT = 3.0, 2.0


@dataclass(frozen=True)
class SievePlan:
    """Shift and least of a sparse vector, in units of the score."""

    threshold_scale: float
    query_scale: float
    centre: float

    @classmethod
    def of(cls, mechanism: SparseVector) -> SievePlan:
        """From the scales of ``mechanism`` (geometric noise)."""
        step = mechanism.on.step
        threshold, query = mechanism.scales
        return cls(threshold * step, query * step, mechanism.centre * step)

    @property
    def shift(self) -> float:
        """Added to every score: an independent pair is then above with probability of about .9."""
        return self.centre + 2 * self.threshold_scale

    @property
    def least(self) -> float:
        """Information below which an answer means nothing."""
        return 2 * self.query_scale

    def false_hit(self, dependence: float) -> float:
        """Chance that a pair with this ``dependence`` is found independent (at most 1)."""
        b_t, b_q = self.threshold_scale, self.query_scale
        beyond = max(dependence - self.shift + self.centre, 0.0)
        return b_q / (b_q + b_t) * math.exp(-beyond / b_q)


@dataclass(frozen=True)
class ExaminePlan:
    """Shift of a release with symmetric noise."""

    scale: float
    gaussian: bool

    @classmethod
    def of(cls, mechanism: Laplace | Gaussian) -> ExaminePlan:
        """From the scale of ``mechanism``."""
        if isinstance(mechanism, Gaussian):
            return cls(mechanism.sigma, True)
        return cls(mechanism.scale, False)

    @property
    def shift(self) -> float:
        """Added to every score."""
        return (GAUSSIAN_SHIFT if self.gaussian else LAPLACE_SHIFT) * self.scale

    @property
    def least(self) -> float:
        """Information below which an answer means nothing."""
        return 2 * self.scale

    def false_hit(self, dependence: float) -> float:
        """Chance that a pair with this ``dependence`` is found independent."""
        beyond = (dependence - self.shift) / self.scale
        if self.gaussian:
            return float(ndtr(-beyond))
        return 0.5 * math.exp(-beyond) if beyond > 0 else 1 - 0.5 * math.exp(beyond)


def resolution(false_hit: Callable[[float], float]) -> float:
    """The dependence at which ``false_hit`` has fallen to 1 in 100.

    >>> round(resolution(lambda dependence: math.exp(-dependence)), 3)
    4.605
    """
    low, high = 0.0, 1.0
    while false_hit(high) > RARE and high < 1e18:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if false_hit(middle) > RARE else (low, middle)
    return high


def in_words(resolved: float) -> str:
    """A remark for the result; ``resolved`` in units of D, at most 2 rows.

    >>> in_words(12.3)
    'a dependence of more than about 25 rows (observed minus expected) is kept 99 times in 100 it is asked about'
    """
    rows = f"{2 * resolved:,.0f}" if resolved >= 5 else f"{2 * resolved:.1f}"
    return (
        f"a dependence of more than about {rows} rows (observed minus expected) is kept 99 times in 100 "
        "it is asked about"
    )
