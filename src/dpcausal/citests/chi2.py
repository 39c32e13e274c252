"""``chi2`` and ``g``: Pearson's chi-squared and the likelihood ratio, private by subsample-and-aggregate.

Both statistics move without bound when one row changes, so they are never released. The rows are dealt into m parts,
each part gives a p-value, and a private median of the m p-values is released:

- ``median="exponential"`` (default): the exponential mechanism over cells of [0, 1]; the p-value of the result is exact
  for uniform part p-values (``stats/aggregate.py``). It has the lowest error in all settings tried.
- ``median="cauchy"`` (pure), ``"laplace"``, ``"gaussian"`` (these need a delta): smooth sensitivity, with constants
  that hold (``privacy/mechanisms/median.py``). With ``trim`` these release a trimmed mean in place of the median: the
  mean of the p-values without this share of them at either end (``privacy/mechanisms/trimmed_mean.py``).

**Guarantee**: epsilon-DP, or (epsilon, delta)-DP for Laplace and Gaussian noise, both relations: one row is in one part
and moves one p-value (``aggregate.proof.md``, ``median.proof.md``, ``trimmed_mean.proof.md``).
**Null law**: the p-values of parts use the exact mean and variance given the margins (``stats/chi2.py``), since the
chi-squared law errs in one direction on small blocks and a median over parts adds that up (a nominal .05 was 1 in 64
blocks). The p-value of a smooth median or trimmed mean v is simulated: the mechanism is run on ``SIMULATED_MEDIANS``
sets of m uniform numbers, and (1 + number of simulated ones <= v)/(``SIMULATED_MEDIANS`` + 1) is valid whatever their
number. That is post-processing: no data enters.
**Cost**: one pass over the table for each part. Simulated medians are remembered for each mechanism and m. m is public:
28/epsilon by default, the least at which a dependence seen by every part is found nine times in ten. Smooth medians and
trimmed means need more: 28/epsilon is doubled until the same holds for them (``power_at_best``), up to 1,024 parts
and as far as rows allow.
**Edge cases**: without degrees of freedom the answer is "independent".

``variant="paper"`` is Algorithm 6 with Definition 10 to the letter, and **not private**: the p-values of parts by the
chi-squared law, their median, and noise of scale S/alpha, with e^(-k epsilon) in S and alpha = epsilon/2 (Laplace) or
epsilon/sqrt(ln(1/delta)) (Gaussian). Definition 10 says nothing of places beyond the first and the last part: they hold
0 and 1, as in the work that it cites. The paper names no number of parts; 28/epsilon is ours. "Independent" is a
released value above the level, which therefore is a threshold, not the size of the test.

For more power at the same cost see ``test-of-tests``, ``kendall`` (ordered levels) and ``measured``.

References: Wang, Pang & Song 2020, Definition 9 and Algorithm 6 (Priv-PC).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from dpcausal.citests.base import Charger, Outcome, Question, TableTest, TestInfo, TestSettings
from dpcausal.citests.parts import MIN_PART_ROWS, deal_table, part_count
from dpcausal.core import entropy
from dpcausal.core.entropy import Generator
from dpcausal.core.errors import InputError
from dpcausal.core.statement import Noisy, Released
from dpcausal.core.variants import NOT_PRIVATE, Variant, refuse_real_rows
from dpcausal.privacy.mechanisms.base import Grid, release
from dpcausal.privacy.mechanisms.median import CELLS, Range, SmoothMedian, smooth_sensitivity
from dpcausal.privacy.mechanisms.selection import Exponential
from dpcausal.privacy.mechanisms.trimmed_mean import SmoothTrimmedMean
from dpcausal.stats.aggregate import median_pvalue, median_scores
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.chi2 import (
    Chi2Test,
    likelihood_moment_pvalue,
    likelihood_ratio,
    pearson,
    pearson_moment_pvalue,
)

Median = Literal["exponential", "laplace", "gaussian", "cauchy"]
HALVES = Grid(0.5, exact=True)  # scores of the median are multiples of 1/2
PARTS_TIMES_EPSILON = 28  # the default number of parts times epsilon
AT_BEST = 0.9  # how often the default number of parts finds a dependence that every part sees
UNEVEN = {"laplace": 1.5, "gaussian": 1.5, "cauchy": 2.0}
MOST_PARTS = 1024  # of that default: the null law of more takes minutes to simulate
SIMULATED_MEDIANS = 999  # draws of the null law of a smooth median


@lru_cache(maxsize=32)
def _simulated_medians(mechanism: SmoothMedian, m: int, epoch: int) -> NDArray[np.float64]:
    """Simulate smooth medians of m uniform p-values as they are released, and return them sorted.

    ``epoch`` is part of the cache's key: it changes with a new seed.
    """
    words = np.frombuffer(entropy.random_bytes(8 * m * SIMULATED_MEDIANS), np.uint64)
    uniform = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.sort([mechanism.sample(row) for row in uniform.reshape(SIMULATED_MEDIANS, m)])


def smooth_pvalue(median: float, mechanism: SmoothMedian, m: int) -> float:
    """Return the p-value of a released smooth median: the chance of one this small or smaller under the null.

    >>> mechanism = SmoothMedian(lower=0.0, upper=1.0, epsilon=1.0, noise="cauchy")
    >>> smooth_pvalue(0.0, mechanism, 15) < smooth_pvalue(1.0, mechanism, 15) == 1.0
    True
    """
    simulated = _simulated_medians(mechanism, m, entropy.epoch())
    return float(1 + np.searchsorted(simulated, median, side="right")) / (SIMULATED_MEDIANS + 1)


def power_at_best(mechanism: SmoothMedian, m: int, level: float) -> float:
    """Return an upper bound on the power of a test by a smooth median: that where all m p-values are 0.

    Under the null the noise has the scale that evenly spread p-values give. A median's is larger for random ones, by a
    factor up to ``UNEVEN`` on average: measured on simulated uniform p-values.

    >>> few = SmoothMedian(lower=0.0, upper=1.0, epsilon=1.0, delta=1e-6, noise="laplace")
    >>> power_at_best(few, 29, 0.05), power_at_best(few, 449, 0.05) > 0.9
    (0.0, True)
    """
    averaged = m - 2 * mechanism.trim if isinstance(mechanism, SmoothTrimmedMean) else 1
    even = ((np.arange(m) + 0.5) / m * mechanism.cells).astype(np.int64)
    under_null, here = (
        mechanism.scale(points) / (mechanism.cells * averaged) for points in (even, np.zeros(m, np.int64))
    )
    quantile, chance = _LAWS[mechanism.noise]
    if averaged == 1:
        under_null *= UNEVEN[mechanism.noise]
    own = float(-ndtri(level)) * 0.5 / math.sqrt(m + 2)  # of m uniform numbers' median; a mean's is smaller
    edge = 0.5 - math.hypot(under_null * quantile(level), own)
    return chance(edge / here) if edge > 0 else 0.0


# upper quantile and distribution function of the noise with scale 1
_LAWS: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "laplace": (lambda level: -math.log(2 * level), lambda x: 1 - 0.5 * math.exp(-x)),
    "gaussian": (lambda level: float(-ndtri(level)), lambda x: float(ndtr(x))),
    "cauchy": (
        lambda level: math.tan(math.pi * (0.5 - level)),
        lambda x: 0.5 + math.atan(x) / math.pi,
    ),
}


def printed_median(
    values: ArrayLike, noise: Literal["laplace", "gaussian"], epsilon: float, delta: float, rng: Generator
) -> float:
    """Return the median of Algorithm 6, line 5: of an odd number of values within 0 and 1. NOT PRIVATE.

    >>> from dpcausal.core.entropy import public_generator
    >>> near = [printed_median([0.0, 0.0, 0.5, 1.0, 1.0], "laplace", 1e6, 1e-6, public_generator()) for _ in "ab"]
    >>> [round(value, 3) for value in near]
    [0.5, 0.5]
    """
    points = Range(0.0, 1.0).to_points(values)
    spread = smooth_sensitivity(points, CELLS, epsilon) / CELLS
    middle = float(points[points.size // 2]) / CELLS
    if noise == "laplace":
        return middle + float(rng.laplace(0.0, spread * 2 / epsilon))
    return middle + float(rng.normal(0.0, spread * math.sqrt(math.log(1 / delta)) / epsilon))


@lru_cache(maxsize=256)
def default_parts(test: MedianOfPartsTest, settings: TestSettings) -> int:
    """Return the number of parts that rows are dealt into by default: from options and public numbers."""
    least = math.ceil(PARTS_TIMES_EPSILON / settings.epsilon)
    if test.median == "exponential" or test.printed:
        return least
    m, most = least, MOST_PARTS if settings.n is None else min(MOST_PARTS, settings.n // MIN_PART_ROWS)
    while m <= most:
        if (replace(test, parts=m).at_best(settings) or 0.0) >= AT_BEST:
            return m
        m *= 2
    return least  # too small a budget, or too few rows: the test finds nothing, and a search says so


@dataclass(frozen=True)
class MedianOfPartsTest(TableTest):
    """A classical test made private by a median of its p-values on parts."""

    parts: Annotated[
        int | None, "number of parts that the rows are dealt into; default 28/epsilon, or more"
    ] = None
    median: Annotated[Median, "mechanism: exponential, cauchy, laplace or gaussian"] = "exponential"
    trim: Annotated[
        float | None, "with those last three, a mean of the p-values without this share of them at either end"
    ] = None
    variant: Annotated[Variant, NOT_PRIVATE] = "ours"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.printed:
            if self.median == "exponential":
                object.__setattr__(self, "median", "laplace")
            if self.median == "cauchy" or self.trim is not None:
                raise InputError("variant='paper' takes median='laplace' or 'gaussian', and no trim")
        if self.trim is None:
            return
        if self.median == "exponential":
            raise InputError("trim needs smooth sensitivity: set median to cauchy, laplace or gaussian")
        given: object = self.trim  # whatever a caller passes
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < 0.5:
            raise InputError(f"trim must be a share from 0 to below 1/2, not {self.trim!r}")

    @staticmethod
    @abstractmethod
    def value(blocks: ArrayLike) -> Chi2Test:
        """Return the classical test of a whole table."""

    @staticmethod
    @abstractmethod
    def part_pvalue(blocks: ArrayLike) -> float:
        """Return the p-value of one part, by a test that is valid on few rows."""

    @property
    def printed(self) -> bool:
        """Whether it is Algorithm 6 to the letter, which is not private."""
        return self.variant == "paper"

    @property
    def releases(self) -> Released:
        """The median, or trimmed mean, of the p-values of parts."""
        return Noisy("median-of-parts" if self.trim is None else "trimmed-mean-of-parts")

    @property
    def own_delta(self) -> bool:
        """Whether the median is only (epsilon, delta)-DP."""
        return self.median in ("laplace", "gaussian")

    def classical(self, blocks: Blocks, level: float) -> Outcome:
        """Compare the statistic with its chi-squared law."""
        found = self.value(blocks)
        return Outcome.at(level, found.pvalue, found.statistic, found.dof)

    def on_part(self, blocks: Blocks, level: float) -> Outcome:
        """Return the answer on few rows, for use inside a mechanism."""
        return Outcome.at(level, self.part_pvalue(blocks))

    def private(self, question: Question, blocks: Blocks, settings: TestSettings, budget: Charger) -> Outcome:
        """Deal the rows, test each part, and release the median, or trimmed mean, of the p-values."""
        if self.printed:
            return self._as_printed(blocks, settings)
        m = part_count(default_parts(self, settings) if self.parts is None else self.parts, settings)
        label = f"{self.name}: {question}"
        if self.median == "exponential":
            choice = Exponential(
                sensitivity=1.0, epsilon=settings.epsilon, neighbours=settings.neighbours, grid=HALVES
            )
            cell = release(choice, budget, label, median_scores(self._pvalues(blocks, m, settings)))
            return Outcome.at(settings.level, median_pvalue(cell, m, settings.epsilon))
        m -= m % 2 == 0  # smooth sensitivity of a median needs an odd number
        smooth = self._smooth(m, settings)
        middle = release(smooth, budget, label, self._pvalues(blocks, m, settings)[:m])
        return Outcome.at(settings.level, smooth_pvalue(middle, smooth, m))

    def _as_printed(self, blocks: Blocks, settings: TestSettings) -> Outcome:
        """Return Algorithm 6 to the letter: not private, refused unless a seed is set, and charged to nobody."""
        refuse_real_rows(self.name)
        assert self.median in ("laplace", "gaussian")
        if not 0 < settings.delta < 1:
            raise InputError("variant='paper' needs a delta between 0 and 1, as its paper has it")
        m = part_count(default_parts(self, settings) if self.parts is None else self.parts, settings)
        m -= m % 2 == 0  # so that one of them is the median
        values = [self.value(part).pvalue for part in deal_table(blocks, m, settings)][:m]
        noisy = printed_median(
            values, self.median, settings.epsilon, settings.delta, entropy.public_generator()
        )
        return Outcome(independent=noisy > settings.level, statistic=noisy)

    def at_best(self, settings: TestSettings) -> float | None:
        """Return the power against a dependence that shows in every part; None where that is not computed."""
        if self.median == "exponential" or self.printed:
            return None
        m = part_count(default_parts(self, settings) if self.parts is None else self.parts, settings)
        m -= m % 2 == 0
        return power_at_best(self._smooth(m, settings), m, settings.level)

    def _smooth(self, m: int, settings: TestSettings) -> SmoothMedian:
        """Return the mechanism for the middle of m p-values: from options and public numbers."""
        assert self.median != "exponential"
        common: dict[str, Any] = {
            "lower": 0.0,
            "upper": 1.0,
            "epsilon": settings.epsilon,
            "delta": settings.delta if self.own_delta else None,
            "noise": self.median,
            "neighbours": settings.neighbours,
        }
        if self.trim is None:
            return SmoothMedian(**common)
        return SmoothTrimmedMean(**common, trim=math.floor(self.trim * m))  # below m/2: some are left

    def _pvalues(self, blocks: Blocks, parts: int, settings: TestSettings) -> list[float]:
        """Return the p-value of every part. Not private: for a mechanism only."""
        return [self.part_pvalue(part) for part in deal_table(blocks, parts, settings)]


@dataclass(frozen=True)
class Chi2(MedianOfPartsTest):
    """Pearson's chi-squared, private by a median over parts."""

    info = TestInfo(
        "chi2",
        "Pearson's chi-square on many parts of the rows; a noisy median of their p-values",
        any_question=True,
    )
    value = staticmethod(pearson)
    part_pvalue = staticmethod(pearson_moment_pvalue)


@dataclass(frozen=True)
class LikelihoodRatio(MedianOfPartsTest):
    """The likelihood ratio G, private by a median over parts."""

    info = TestInfo(
        "g",
        "the likelihood ratio (G) on many parts of the rows; a noisy median of their p-values",
        any_question=True,
    )
    value = staticmethod(likelihood_ratio)
    part_pvalue = staticmethod(likelihood_moment_pvalue)
