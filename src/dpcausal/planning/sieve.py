"""How sparse-vector drivers decide, and how often noise turns an answer around: from public noise scales alone.

Scores (``discovery/scores.py``) have sensitivity 1 and are asked whether they are above 0. A question is wrongly found
independent ("false hit") with a probability that falls with its dependence; the ``resolution`` of a way to decide is
the dependence, in units of D rows, at which that is 1 in 100. ``shift`` is set so that an independent pair is found
with a probability of .9 or more, ``least`` so that a question without information is a false hit about 1 time in 10.

- sparse vector: noise is one-sided, so a score above centre + N0 is found for sure; shift = centre + 2 b_threshold.
  False hit of score -x: P(N - N0 >= x + centre) = b_q/(b_q + b_t) exp(-(x + centre)/b_q).
- examination: shift = 3 scales of Laplace noise, or 2 sigma of Gaussian noise (an
  independent pair passes with probability .975, .977).

**Errors, beside what the papers claim.** Sieve-and-examine ([1] Algorithm 1, all rows in the sieve), with the scales
that its proof of privacy needs: threshold noise Lap(2 Delta/eps'), query noise Lap(4 Delta/eps'), examination noise
Lap(2 Delta/eps), eps' = eps/2. (Line 4 of the listing has Lap(2 Delta/eps) for the threshold, ``line_4_printed``; the
proofs of theorems 4 and 5 have eps', too.) A query at distance alpha from the threshold, the sieve's lowered by t:

    above by alpha, and filtered out     1 - (1 - S(alpha + t)) (1 - E(alpha))        exactly
    below by alpha, and not filtered     S(alpha - t) E(alpha)                         exactly, for alpha >= t
    S(x) = P(Lap(b1) + Lap(b2) > x) = (b2^2 exp(-x/b2) - b1^2 exp(-x/b1)) / (2 (b2^2 - b1^2)),   x >= 0
    E(x) = P(Lap(2 Delta/eps) > x) = exp(-eps x/(2 Delta)) / 2

Theorem 4 of [1] (and theorem 2) leaves out E: an edge that passes the sieve can still fail the examination. Theorem 5
has exp(-2 eps alpha/Delta) where E(alpha) belongs. ``claimed_type_one`` and ``claimed_type_two`` are what is printed.

CURATE ([2] Lemma 1). f + Z with Z of scale b = Delta/eps: keep below T(1 - beta_1), delete above T(1 + beta_2), a
coin between. For f > T the edge is wrongly kept, for f < T wrongly deleted, with probability at most

    c/2 + exp(-T beta/b)/2,      c = P(f + Z between the margins),  beta = beta_1 or beta_2

This one holds: the first term is exact and the second bounds the tail beyond the far margin.

Nothing here sees data. References: [1] Wang, Pang & Song 2020, theorems 2, 4 and 5; [2] CURATE, appendix I.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from scipy.special import ndtr, ndtri

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.sieve_and_examine import SieveAndExamine
from dpcausal.privacy.mechanisms.sparse_vector import SparseVector

FALSE_HIT_RATE = 0.01  # of a false hit at the resolution
SHARE = 0.5  # of the budget that goes to the sieve, unless said otherwise
SMALLEST_SHARE_OF_ROWS = 20  # the optimal subsample is at least n/20, as in [1]
ROUNDING = 1 - 1e-12  # keeps a sum of shares within the total
LAPLACE_SHIFT, GAUSSIAN_SHIFT = 3.0, 2.0  # of an examination, in scales of its noise


@dataclass(frozen=True)
class SievePlan:
    """Shift and least of a sparse vector, in units of the score."""

    threshold_scale: float
    query_scale: float
    centre: float

    @classmethod
    def of(cls, mechanism: SparseVector) -> SievePlan:
        """Return the plan of a sieve with the noise scales of ``mechanism`` (geometric noise)."""
        step = mechanism.on.step
        threshold, query = mechanism.scales
        return cls(threshold * step, query * step, mechanism.centre * step)

    @property
    def shift(self) -> float:
        """What is added to every score, so that an independent pair is above with probability about .9."""
        return self.centre + 2 * self.threshold_scale

    @property
    def least(self) -> float:
        """The information below which an answer means nothing."""
        return 2 * self.query_scale

    def false_hit(self, dependence: float, shift: float | None = None) -> float:
        """Return the probability that a pair with this ``dependence`` is called independent."""
        b_t, b_q = self.threshold_scale, self.query_scale
        beyond = max(dependence - (self.shift if shift is None else shift) + self.centre, 0.0)
        return b_q / (b_q + b_t) * math.exp(-beyond / b_q)

    def shown_shift(self, level: float) -> float:
        """Return the shift of a second test, at which a pair without dependence errs with probability ``level``."""
        return self.centre + math.log(1 / level) * self.threshold_scale


@dataclass(frozen=True)
class ExaminePlan:
    """Shift of a release with symmetric noise."""

    scale: float
    gaussian: bool

    @classmethod
    def of(cls, mechanism: Laplace | Gaussian) -> ExaminePlan:
        """Return the plan of an examination with the noise scale of ``mechanism``."""
        if isinstance(mechanism, Gaussian):
            return cls(mechanism.sigma, True)
        return cls(mechanism.scale, False)

    @property
    def shift(self) -> float:
        """What is added to every score in the examination."""
        return (GAUSSIAN_SHIFT if self.gaussian else LAPLACE_SHIFT) * self.scale

    @property
    def least(self) -> float:
        """The information below which an answer means nothing."""
        return 2 * self.scale

    def quantile(self, level: float) -> float:
        """Return the number below minus which noise falls with probability ``level`` (at most 1/2)."""
        if self.gaussian:
            return float(-ndtri(level)) * self.scale
        return math.log(0.5 / level) * self.scale

    def false_hit(self, dependence: float) -> float:
        """Return the probability that a pair with this ``dependence`` passes the examination as independent."""
        beyond = (dependence - self.shift) / self.scale
        if self.gaussian:
            return float(ndtr(-beyond))
        return 0.5 * math.exp(-beyond) if beyond > 0 else 1 - 0.5 * math.exp(beyond)


def resolution(false_hit: Callable[[float], float]) -> float:
    """Return the dependence at which ``false_hit`` has fallen to 1%.

    >>> round(resolution(lambda dependence: math.exp(-dependence)), 3)
    4.605
    """
    low, high = 0.0, 1.0
    while false_hit(high) > FALSE_HIT_RATE and high < 1e18:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if false_hit(middle) > FALSE_HIT_RATE else (low, middle)
    return high


@dataclass(frozen=True)
class SieveDesign:
    """A mechanism and how it is used.

    ``most`` hits are paid for; ``renewed``: the threshold is drawn anew after each of them.
    """

    mechanism: SieveAndExamine
    most: int
    renewed: bool
    tweaked: bool = False  # the paper's tweak of the threshold stands in place of a shift of the sieve's own

    def with_tweak(self, tweak: float) -> SieveDesign:
        """Return the design with the sieve's threshold ``tweak`` noise scales below the examination's.

        [1] Alg. 1, t.
        """
        below = tweak * self.sieve.query_scale
        return replace(self, mechanism=replace(self.mechanism, tweak=below), tweaked=True)

    @property
    def sieve_shift(self) -> float:
        """What is added to the sieve's scores, without the tweak of the threshold."""
        return self.examine.shift if self.tweaked else self.sieve.shift

    @cached_property
    def sieve(self) -> SievePlan:
        """The shifts of the sieve."""
        return SievePlan.of(self.mechanism.sieve)

    @cached_property
    def examine(self) -> ExaminePlan:
        """The shifts of the examination."""
        return ExaminePlan.of(self.mechanism.examine)

    def false_hit(self, dependence: float) -> float:
        """Return the probability that a pair with this dependence is deleted when asked about."""
        sieve = self.sieve.false_hit(dependence, self.sieve_shift + self.mechanism.tweak)
        return sieve * self.examine.false_hit(dependence)


@proved("sieve.proof.md")
def once(total: Filter, hits: int, share: float, neighbours: Neighbours) -> SieveDesign:
    """Return the design with one session for up to ``hits`` hits, at pure epsilon."""
    sieve = share * total.epsilon
    mechanism = SieveAndExamine(
        sensitivity=1.0,
        epsilon_sieve=sieve * ROUNDING,
        epsilon_examine=(total.epsilon - sieve) / hits * ROUNDING,
        hits=hits,
        neighbours=neighbours,
    )
    return SieveDesign(mechanism, hits, renewed=False)


@proved("sieve.proof.md")
def rounds(
    total: Filter, hits: int, share: float, neighbours: Neighbours, n: int | None, subsample: int | None
) -> SieveDesign:
    """Return the design with a new round after every hit: by rho if there is a delta, else equal parts of epsilon."""
    if total.rho > 0:
        each = total.rho / hits * ROUNDING
        sieve, examine_epsilon, examine_rho = math.sqrt(2 * share * each), None, (1 - share) * each
    else:
        part = total.epsilon / hits * ROUNDING
        sieve, examine_epsilon, examine_rho = share * part, (1 - share) * part, None
    mechanism = SieveAndExamine(
        sensitivity=1.0,
        epsilon_sieve=sieve,
        epsilon_examine=examine_epsilon,
        rho_examine=examine_rho,
        neighbours=neighbours,
        rows=n if subsample else None,
        subsample=subsample,
        sieve_sensitivity=1.0 if subsample else None,
    )
    return SieveDesign(mechanism, hits, renewed=True)


def optimal_subsample(epsilon_sieve: float, n: int) -> int:
    """Return the subsample size between n/20 and n with the least sqrt(n/m)/eps' ([1] section 3.2).

    >>> optimal_subsample(0.01, 100_000), optimal_subsample(3.0, 100_000)
    (5000, 100000)
    """
    ratios = [math.pow(SMALLEST_SHARE_OF_ROWS, i / 199) for i in range(200)]
    best = min(ratios, key=lambda ratio: math.sqrt(ratio) / math.log1p(ratio * math.expm1(epsilon_sieve)))
    return round(n / best)


@dataclass(frozen=True)
class SparseVectorDesign:
    """A mechanism and how it is used.

    ``most`` deletions are paid for; ``renewed``: the threshold is drawn anew after each of them.
    """

    mechanism: SparseVector
    most: int
    renewed: bool

    @property
    def plan(self) -> SievePlan:
        """The shifts of the sparse vector."""
        return SievePlan.of(self.mechanism)


@proved("sieve.proof.md")
def designs(total: Filter, positives: int, neighbours: Neighbours) -> list[SparseVectorDesign]:
    """Return the ways to spend ``total`` on up to ``positives`` deletions.

    >>> [(design.most, design.renewed) for design in designs(Filter(1.0), 10, Neighbours.REPLACE_ONE)]
    [(10, False)]
    """
    once = SparseVector(sensitivity=1.0, epsilon=total.epsilon, positives=positives, neighbours=neighbours)
    found = [SparseVectorDesign(once, positives, renewed=False)]
    if total.rho > 0:
        each = math.sqrt(2 * total.rho / positives) * (1 - 1e-12)
        rounds = SparseVector(sensitivity=1.0, epsilon=each, neighbours=neighbours)
        found.append(SparseVectorDesign(rounds, positives, renewed=True))
    return found


def laplace_sum_tail(x: float, first: float, second: float) -> float:
    """Return P(Lap(first) + Lap(second) > x) for two different scales.

    >>> round(laplace_sum_tail(0.0, 4.0, 8.0), 3), round(laplace_sum_tail(2.0, 4.0, 8.0), 4)
    (0.5, 0.4181)
    """
    if x < 0:
        return 1 - laplace_sum_tail(-x, first, second)
    low, high = sorted((first, second))
    tails = high**2 * math.exp(-x / high) - low**2 * math.exp(-x / low)
    return tails / (2 * (high**2 - low**2))


def laplace_tail(x: float, scale: float) -> float:
    """Return P(Lap(scale) > x)."""
    half = 0.5 * math.exp(-abs(x) / scale)
    return half if x >= 0 else 1 - half


def sieve_tail(x: float, epsilon: float, sensitivity: float, line_4_printed: bool) -> float:
    """Return the probability that the sieve's noise, on query and threshold, is above ``x``."""
    prime = epsilon / 2
    threshold = 2 * sensitivity / (epsilon if line_4_printed else prime)
    return laplace_sum_tail(x, threshold, 4 * sensitivity / prime)


def type_one_error(
    alpha: float, tweak: float, epsilon: float, sensitivity: float = 1.0, *, line_4_printed: bool = False
) -> float:
    """Return the probability that a query ``alpha`` above the threshold is filtered out.

    >>> round(type_one_error(1.0, 20.0, 1.0), 3), round(claimed_type_one(1.0, 20.0, 1.0), 3)
    (0.336, 0.166)
    """
    missed = sieve_tail(alpha + tweak, epsilon, sensitivity, line_4_printed)
    return 1 - (1 - missed) * (1 - laplace_tail(alpha, 2 * sensitivity / epsilon))


def type_two_error(
    alpha: float, tweak: float, epsilon: float, sensitivity: float = 1.0, *, line_4_printed: bool = False
) -> float:
    """Return the probability that a query ``alpha`` below the threshold passes sieve and examination.

    >>> round(type_two_error(2.0, 0.0, 1.0), 3), round(claimed_type_two(2.0, 0.0, 1.0), 3)
    (0.077, 0.012)
    """
    passed = sieve_tail(alpha - tweak, epsilon, sensitivity, line_4_printed)
    return passed * laplace_tail(alpha, 2 * sensitivity / epsilon)


def claimed_type_one(alpha: float, tweak: float, epsilon: float, sensitivity: float = 1.0) -> float:
    """Return the paper's bound on ``type_one_error`` ([1] theorems 2 and 4), which does not hold."""
    x = epsilon / 2 * (alpha + tweak) / sensitivity
    return math.exp(-x / 6) - math.exp(-x / 3) / 4


def claimed_type_two(alpha: float, tweak: float, epsilon: float, sensitivity: float = 1.0) -> float:
    """Return the paper's bound on ``type_two_error`` ([1] theorems 2 and 5), which does not hold."""
    x = epsilon / 2 * (alpha - tweak)
    first = math.exp(-(12 * epsilon * alpha + x) / (6 * sensitivity))
    return first - math.exp(-(6 * epsilon * alpha + x) / (3 * sensitivity)) / 4


def margin_error(value: float, threshold: float, margins: tuple[float, float], scale: float) -> float:
    """Return the exact probability that CURATE's noise reverses the decision for ``value``.

    ``margins`` are beta_1 and beta_2, ``scale`` that of the Laplace noise.
    """
    below = 1 - laplace_tail(threshold * (1 - margins[0]) - value, scale)
    above = laplace_tail(threshold * (1 + margins[1]) - value, scale)
    between = 1 - below - above
    return between / 2 + (below if value > threshold else above)


def margin_error_bound(value: float, threshold: float, margins: tuple[float, float], scale: float) -> float:
    """Return Lemma 1 of [2]: a bound on ``margin_error`` that holds.

    >>> exact, most = (f(1.0, 0.8, (0.5, 0.5), 0.2) for f in (margin_error, margin_error_bound))
    >>> exact <= most, round(exact, 3), round(most, 3)
    (True, 0.42, 0.463)
    """
    low, high = threshold * (1 - margins[0]), threshold * (1 + margins[1])
    between = 1 - (1 - laplace_tail(low - value, scale)) - laplace_tail(high - value, scale)
    beta = margins[0] if value > threshold else margins[1]
    return between / 2 + math.exp(-threshold * beta / scale) / 2
