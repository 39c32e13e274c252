"""The plan of a screening: mechanisms, noise and cuts from public numbers alone, before any genotype is seen.

**Cuts.**

- ``svt``: the cut makes each SNP's chance of a false hit level/answers, noise included (``null_law.noisy_cuts``), so
  the family-wise error is at most level by the union bound, whatever threshold noise the SNPs share.
- ``em``: by the better of two public cuts: K P(value + noise >= t) <= level ("whole"); or K P(value > a) + k P(noise >=
  t - a) <= level, since noise is drawn for k SNPs only (a: best of a public grid). The p-value is the same bound at
  the released value.

**Threshold.** The distance and the unit circle are measured from the border chi2 = tau. Any tau gives a valid test,
since the cut is set afterwards for the worst margin; which tau is best depends on the noise. With little noise it is
the quantile of the level (no margin is worse than another). With much noise rare alleles set the cut, whose values lie
near the border whatever tau is, and every common SNP must first cross a border far out for nothing; a lower tau repairs
that. Of a grid of tau and of shares of epsilon to choose by (``em``) the plan takes what makes z = sqrt(chi2) smallest
that a SNP needs to be found half the time, averaged over minor allele frequencies from the least known one to 1/2. In
``em`` to be found is to be chosen and to pass the cut. What it brings: ``docs/gwas.md``.

**Cost** about a millisecond a candidate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.core.statement import WholeUnit
from dpcausal.gwas.null_law import Floats, NullLaw
from dpcausal.gwas.statistics import Name, Statistic, least_minor_sensitivity
from dpcausal.privacy.accounting.composition import check_total
from dpcausal.privacy.mechanisms import INTEGERS, Laplace, SparseVector, TopK

STEPS = tuple(2.0 ** (-i / 2) for i in range(13))  # candidates: tau/64 to tau
SHARES = (0.4, 0.5, 0.6, 0.7, 0.8)  # of epsilon, to choose by
PLACES = np.array([0.1, 0.3, 0.5, 0.7, 0.9])  # of the range of minor allele frequencies
Passing = Callable[[float, float, Floats], tuple[Statistic, float, bool]]


class ScreenDesign(NamedTuple):
    """Threshold, share of epsilon for selection (``em``), and whether the cut allows for noise on all values."""

    tau: float
    share: float
    whole: bool


def typical_margins(law: NullLaw) -> Floats:
    """Return the allele counts at which designs are compared: at PLACES of the range of frequencies."""
    n, low = law.n1 + law.n0, law.lower[0]
    return np.asarray(np.round(low + PLACES * (n / 2 - low)), np.float64)


def table_at(law: NullLaw, m: Floats, z: Floats | float) -> tuple[Floats, Floats]:
    """Return the allele counts (c11, c10) at margins ``m`` with chi2 = z^2."""
    n1, n0 = float(law.n1), float(law.n0)
    c11 = m * n1 / (n1 + n0) + z * np.sqrt(n0 * n1 * m * (n1 + n0 - m) / (n1 + n0)) / (n1 + n0)
    return c11, m - c11


def z_needed(score: Statistic, law: NullLaw, cut: float) -> float:
    """Return the association sqrt(chi2) at which the statistic reaches ``cut``, averaged over PLACES.

    >>> law = NullLaw(10_000, 10_000, 0.05)
    >>> round(z_needed(Statistic("distance", 10_000, 10_000, 25.0), law, 0.0), 3)
    5.0
    """
    m = np.maximum(typical_margins(law), 1.0)
    unit = table_at(law, m, 1.0)[0] - table_at(law, m, 0.0)[0]
    near, far = np.zeros(len(m)), (np.minimum(score.n1, m) - table_at(law, m, 0.0)[0]) / unit
    for _ in range(20):
        z = 0.5 * (near + far)
        passes = score(*table_at(law, m, z)) >= cut
        near, far = np.where(passes, near, z), np.where(passes, z, far)
    return float(far.mean())


def value_to_be_chosen(score: Statistic, law: NullLaw, snps: int, top: float, scale: float) -> float:
    """Return the value that is chosen about half the time among ``snps`` typical SNPs without effect.

    It solves exp(v/scale) = sum of exp(value/scale).

    Permute-and-flip (like the exponential mechanism) then takes it about half the time. Values beyond chi2 = ``top``,
    which a study of so many SNPs hardly holds, count as that.
    """
    m = np.maximum(typical_margins(law), 1.0)
    values, mass = law.laws(score, m)
    values = np.minimum(values, score(*table_at(law, m, np.sqrt(top)))[:, None])
    most = values.max()
    return float(most + scale * np.log(snps * (mass * np.exp((values - most) / scale)).sum() / len(m)))


def best_design(
    law: NullLaw, taus: Sequence[float], shares: Sequence[float], passing: Passing
) -> ScreenDesign:
    """Return the design (tau, share of epsilon) that finds the weakest association.

    ``passing(tau, share, margins)`` gives the statistic, the value found half the time when the cut is that of the
    worst of ``margins``, and ``whole``.

    From the first of ``taus`` down the need falls and then rises: the search stops behind the least.
    """
    lower = law.lower
    few = np.unique(np.concatenate([lower[::8], lower[-1:]]))
    best, least = ScreenDesign(taus[0], shares[0], True), np.inf
    for share in shares:
        last = np.inf
        for tau in taus:
            score, cut, whole = passing(tau, share, few)
            need = z_needed(score, law, cut)
            if need < least:
                best, least = ScreenDesign(tau, share, whole), need
            if need > last:
                break
            last = need
    return best


Unit = Literal["person", "allele"]
Method = Literal["svt", "em"]
FIXED_LABELS = Neighbours.FIXED_LABELS  # genotypes change, case status and the number of people do not
UNITS = {"person": WholeUnit("person"), "allele": WholeUnit("allele")}
RISK = 0.05  # of the level, that the budgeted floor of frequencies is too high


@dataclass(frozen=True, kw_only=True)
class ScreenPlan:
    """What is asked, and what is public; ``Screen``, which runs it, explains every field."""

    snps: int
    cases: int
    controls: int
    epsilon: float
    level: float = 0.05
    method: Method = "svt"
    max_hits: int = 10
    max_answers: int = 0
    statistic: Name = "distance"
    unit: Unit = "person"
    maf: float = 0.0
    share: float | None = None
    freq_share: float = 0.0
    least: int = 0

    def __post_init__(self) -> None:
        if self.method not in ("svt", "em"):
            raise InputError(f"method must be svt or em, not {self.method!r}")
        if self.unit not in UNITS:
            raise InputError(f"unit must be person or allele, not {self.unit!r}")
        if not (0.0 < self.level < 1.0 and (self.share is None or 0.0 < self.share < 1.0)):
            raise InputError("level and share must lie within 0 and 1")
        if self.snps < 1 or self.max_hits < 1:
            raise InputError("there must be at least one SNP and one hit to pay for")
        if self.max_answers < 0 or (self.max_answers and self.method == "em"):
            raise InputError(
                "the number of answers must not be negative, and is for svt: em answers max-hits"
            )
        if self.max_answers and self.max_answers < self.max_hits:
            raise InputError("there can't be fewer answers than hits (max-answers, max-hits)")
        check_total(self.epsilon, 0.0)
        if not 0.0 <= self.freq_share < 1.0:
            raise InputError("the share of epsilon for frequencies must lie within 0 and 1")
        if self.freq_share and self.maf:
            raise InputError("a budgeted floor of frequencies is for when nothing is public: leave out maf")
        self.scored(1.0)  # refuses more people than the statistic is proved for

    @cached_property
    def law(self) -> NullLaw:
        """The null law of allele counts."""
        return NullLaw(2 * self.cases, 2 * self.controls, self.maf, self.least)

    @cached_property
    def chi2_found(self) -> float:
        """The chi-squared of a SNP that is found half the time, averaged over allele frequencies."""
        lower = self.law.lower
        few = np.unique(np.concatenate([lower[::8], lower[-1:]]))
        score, cut, _ = self._passing(self.design.tau, self.design.share, few)
        return z_needed(score, self.law, cut) ** 2

    @property
    def answers(self) -> int:
        """The largest number of SNPs that are tested, by which the level is divided."""
        return min(self.max_answers or self.snps, self.snps)

    @property
    def hits(self) -> int:
        """The largest number of SNPs that are released, by which epsilon is divided."""
        return min(self.max_hits, self.answers)

    @cached_property
    def top(self) -> float:
        """The chi-squared that some SNP without effect exceeds with probability at most level/2."""
        return self.law.chi2_cut(self.level / (2 * self.answers))

    def scored(self, tau: float) -> Statistic:
        """Return the statistic at a significance threshold ``tau``."""
        return Statistic(self.statistic, 2 * self.cases, 2 * self.controls, tau, self.unit == "person")

    @cached_property
    def design(self) -> ScreenDesign:
        """The design: threshold, share of epsilon for selection and kind of cut, from public numbers."""
        svt = self.method == "svt"
        taus = [self.top * step for step in (STEPS if svt else STEPS[::2])]
        shares = SHARES if self.share is None and not svt else (self.share or 0.5,)
        return best_design(self.law, taus[:1] if self.statistic == "chi2" else taus, shares, self._passing)

    def _passing(self, tau: float, share: float, margins: Floats) -> tuple[Statistic, float, bool]:
        """Return, for ``best_design``, the statistic, the value found half the time, and ``whole``."""
        score, level = self.scored(tau), self.level / self.answers
        if self.method == "svt":
            up, down, middle = self._noise(self._sieve(score))
            return score, float(self.law.cuts_at(margins, score, level, up, down, 1e-3).max()) - middle, True
        choice, b = self._choice(score, share), self._test(score, share).scale
        cut = float(self.law.cuts_at(margins, score, level, b, b, 1e-3).max())
        few = score.border + b * math.log(self.hits / self.level) if tau == self.top else math.inf
        scale = 2.0 * score.sensitivity / choice.round.epsilon
        chosen = value_to_be_chosen(score, self.law, self.snps, self.top, scale)
        return score, max(min(cut, few), chosen), cut <= few

    @staticmethod
    def _noise(sieve: SparseVector) -> tuple[float, float, float]:
        """Return the noise scales upwards and downwards, and the noise's median, in units of the statistic."""
        step = sieve.on.step
        return sieve.scales.query * step, sieve.scales.threshold * step, sieve.centre * step

    @proved("screen.proof.md")
    def _sieve(self, score: Statistic) -> SparseVector:
        """Return the sparse vector of method ``svt`` for a statistic."""
        return SparseVector(
            sensitivity=score.sensitivity, epsilon=self.epsilon, positives=self.hits, neighbours=FIXED_LABELS
        )

    @proved("screen.proof.md")
    def _choice(self, score: Statistic, share: float) -> TopK:
        """Return the mechanism of method ``em`` that selects SNPs, with its share of epsilon."""
        return TopK(
            sensitivity=score.sensitivity,
            count=self.hits,
            epsilon=self.epsilon * share,
            neighbours=FIXED_LABELS,
        )

    @proved("screen.proof.md")
    def _test(self, score: Statistic, share: float) -> Laplace:
        """Return the Laplace mechanism of method ``em`` that tests one selected SNP, with the remaining epsilon."""
        each = (self.epsilon - self._choice(score, share).round.epsilon * self.hits) / self.hits * (1 - 1e-12)
        return Laplace(sensitivity=score.sensitivity, epsilon=each, neighbours=FIXED_LABELS)

    @cached_property
    def score(self) -> Statistic:
        """The statistic at the threshold of the design."""
        return self.scored(self.design.tau)

    @cached_property
    def sieve(self) -> SparseVector:
        """The sparse vector of method ``svt``."""
        return self._sieve(self.score)

    @cached_property
    def choice(self) -> TopK:
        """The mechanism of method ``em`` that selects SNPs."""
        return self._choice(self.score, self.design.share)

    @cached_property
    def test(self) -> Laplace:
        """The mechanism of method ``em`` that tests each selected SNP."""
        return self._test(self.score, self.design.share)

    @cached_property
    @proved("screen.proof.md")
    def floor(self) -> Laplace:
        """The mechanism that releases a lower bound on minor allele counts."""
        sensitivity = least_minor_sensitivity(person=self.unit == "person")
        return Laplace(
            sensitivity=sensitivity,
            epsilon=self.epsilon * self.freq_share,
            neighbours=FIXED_LABELS,
            grid=INTEGERS,
        )

    @proved("screen.proof.md")
    def ready(self) -> None:
        """Build every mechanism, so that one that can't be built fails before anything is charged."""
        for mechanism in (self.sieve,) if self.method == "svt" else (self.choice, self.test):
            mechanism.event("plan")
        if self.freq_share:
            self.floor.event("plan")

    def sieve_cuts(self) -> Floats:
        """Return the cut for each margin: a SNP without effect exceeds it with probability level/answers."""
        up, down, _ = self._noise(self.sieve)
        return self.law.noisy_cuts(self.score, self.level / self.answers, up, down)

    def pvalues(self, released: Floats) -> list[float]:
        """Return family-wise p-values of released values (``em``)."""
        b = self.test.scale
        if self.design.whole:
            tails = (self.snps * self.law.noisy_tails(self.score, released, b, b)).tolist()
        else:
            cuts = self.score.border + b * np.linspace(0.0, 30.0, 31)
            chance = self.snps * np.array([self.law.chi2_tail(self.score.chi2_beyond(a)) for a in cuts])
            gaps = np.maximum(np.subtract.outer(released, cuts) / b, 0.0)
            tails = (chance + self.hits * 0.5 * np.exp(-gaps)).min(axis=1).tolist()
        return [min(1.0, max(tail, 1e-300)) for tail in tails]
