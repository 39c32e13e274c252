"""Private screening of many SNPs: sparse vector, or top-k by permute-and-flip and a private test of each.

**Protects** one person's genotypes at *all* SNPs (unit "person"), or one allele at each SNP (unit "allele", the
papers'). Who takes part and who is a case is public, so N0 and N1 are: the statement says so.

- ``svt``: SNPs in file order, each "above" its public cut or not, one-sided geometric noise; stops at the
  ``max_hits``-th hit. The cut makes each SNP's chance of a false hit level/asked, noise included
  (``null_law.noisy_cuts``), so the family-wise error is at most level by the union bound, whatever threshold noise
  the SNPs share.
- ``em``: ``max_hits`` SNPs by permute-and-flip (``share`` of epsilon), then each one's value with Laplace noise.
  Family-wise error by the smaller of two public cuts: K P(value + noise >= t) <= level; or K P(value > a) + k
  P(noise >= t - a) <= level, since noise is drawn for k SNPs only (a: best of a public grid). The p-value is the
  same bound at the released value.

**What is public about frequencies** sets the cuts, never the noise: nothing (worst case over all), ``maf`` (no SNP
below it), or ``frequencies`` (of a reference panel, one per SNP). **Cost** O(SNPs), milliseconds for 200,000.
References: Kakizaki, Fukuchi & Sakuma 2017, algorithms 3 and 4 (their threshold noise cancels: ours is drawn once,
on one side).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.gwas.counting import GenotypeCounts
from dpcausal.gwas.null_law import Floats, NullLaw
from dpcausal.gwas.result import Hit, Screening
from dpcausal.gwas.statistics import Name, Statistic
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.mechanisms import Laplace, SparseVector, TopK, begin, release

Unit = Literal["person", "allele"]
FIXED_LABELS = Neighbours.FIXED_LABELS  # genotypes change, case status and the number of people do not
UNITS = {
    "person": "one person's genotypes at all SNPs; who takes part, and who is a case, is public",
    "allele": "one allele at each SNP (half a person); who takes part, and who is a case, is public",
}


@dataclass(frozen=True, kw_only=True)
class Screen:
    """A plan: everything public, before any genotype is seen."""

    snps: int
    cases: int
    controls: int
    epsilon: float
    level: float = 0.05
    method: Literal["svt", "em"] = "svt"
    max_hits: int = 10
    statistic: Name = "distance"
    unit: Unit = "person"
    maf: float = 0.0
    share: float = 0.5

    def __post_init__(self) -> None:
        if self.method not in ("svt", "em"):
            raise InputError(f"method must be svt or em, not {self.method!r}")
        if self.unit not in UNITS:
            raise InputError(f"unit must be person or allele, not {self.unit!r}")
        if not (0.0 < self.level < 1.0 and 0.0 < self.share < 1.0):
            raise InputError("level and share must lie within 0 and 1")
        if self.snps < 1 or self.max_hits < 1:
            raise InputError("there must be at least one SNP and one hit to pay for")
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise InputError(f"epsilon must be a finite number above zero, not {self.epsilon!r}")

    @cached_property
    def law(self) -> NullLaw:
        """Null law of the allele counts."""
        return NullLaw(2 * self.cases, 2 * self.controls, self.maf)

    @cached_property
    def score(self) -> Statistic:
        """The statistic, at the chi-squared threshold of half the level shared by all SNPs."""
        tau = self.law.chi2_cut(self.level / (2 * self.snps))
        return Statistic(self.statistic, 2 * self.cases, 2 * self.controls, tau, self.unit == "person")

    @property
    def hits(self) -> int:
        """How many are paid for."""
        return min(self.max_hits, self.snps)

    @cached_property
    def sieve(self) -> SparseVector:
        """The mechanism of ``svt``."""
        return SparseVector(
            sensitivity=self.score.sensitivity,
            epsilon=self.epsilon,
            positives=self.hits,
            neighbours=FIXED_LABELS,
        )

    @cached_property
    def choice(self) -> TopK:
        """The first mechanism of ``em``."""
        return TopK(
            sensitivity=self.score.sensitivity,
            count=self.hits,
            epsilon=self.epsilon * self.share,
            neighbours=FIXED_LABELS,
        )

    @cached_property
    def test(self) -> Laplace:
        """The second mechanism of ``em``, once per chosen SNP."""
        each = (self.epsilon - self.choice.round.epsilon * self.hits) / self.hits * (1 - 1e-12)
        return Laplace(sensitivity=self.score.sensitivity, epsilon=each, neighbours=FIXED_LABELS)

    def sieve_cuts(self) -> Floats:
        """For each margin of the law: what a SNP without effect passes, noise included, with chance level/snps."""
        step, scales = self.sieve.on.step, self.sieve.scales
        return self.law.noisy_cuts(
            self.score, self.level / self.snps, scales.query * step, scales.threshold * step
        )

    @cached_property
    def whole(self) -> bool:
        """Whether the cut of ``em`` is that of all K values with noise, and not that of K values and k noises."""
        b = self.test.scale
        cuts = self.law.noisy_cuts(self.score, self.level / self.snps, b, b)
        return bool(cuts.max() < self.score.border + b * math.log(self.hits / self.level))

    def pvalues(self, released: Floats) -> list[float]:
        """Family-wise p-values of released values (``em``)."""
        b = self.test.scale
        if self.whole:
            tails = [self.law.noisy_tail(self.score, float(x), b, b) for x in released]
            return [min(1.0, max(self.snps * tail, 1e-300)) for tail in tails]
        cuts = self.score.border + b * np.linspace(0.0, 30.0, 31)
        chance = self.snps * np.array([self.law.chi2_tail(self.score.chi2_beyond(a)) for a in cuts])
        gaps = np.maximum(np.subtract.outer(released, cuts) / b, 0.0)
        return [
            min(1.0, max(float(p), 1e-300)) for p in (chance + self.hits * 0.5 * np.exp(-gaps)).min(axis=1)
        ]

    def public(self, counts: GenotypeCounts, frequencies: bool) -> list[str]:
        """What the statement says is public."""
        told = "nothing about allele frequencies (cuts hold for all)"
        if frequencies:
            told = "an allele frequency for every SNP from a reference panel"
        elif self.maf > 0:
            told = f"no SNP has a minor allele frequency below {self.maf:g}"
        return [
            f"N1 = {self.cases} cases and N0 = {self.controls} controls, and who they are",
            f"the list of {self.snps} SNPs, with positions and the order of their alleles",
            f"missing calls count as: {counts.missing}",
            told,
        ]

    def run(
        self,
        counts: GenotypeCounts,
        *,
        frequencies: ArrayLike | None = None,
        ledger: str | None = None,
        dataset: str | None = None,
    ) -> Screening:
        """Charge, then release. ``frequencies``: public frequency of allele 1 at each SNP (used by ``svt``)."""
        if (len(counts), counts.cases, counts.controls) != (self.snps, self.cases, self.controls):
            raise InputError("the plan was made for another number of SNPs, cases or controls")
        known = None if frequencies is None else np.asarray(frequencies, np.float64)
        if known is not None and (known.shape != (self.snps,) or not ((known >= 0) & (known <= 1)).all()):
            raise InputError("frequencies must be one number within 0 and 1 for each SNP")
        budget = Budget(
            self.epsilon,
            neighbours=FIXED_LABELS,
            ledger=ledger,
            dataset=dataset,
            note={"command": "gwas", "method": self.method},
        )
        values = self.score(*counts.alleles())
        hits, asked = (
            self._svt(counts, values, known, budget)
            if self.method == "svt"
            else self._em(counts, values, budget)
        )
        said = (
            "which SNPs pass a noisy cut"
            if self.method == "svt"
            else "chosen SNPs, each one's statistic with noise"
        )
        statement = budget.statement(
            released=[f"{said} ({self.statistic})"],
            public=self.public(counts, known is not None),
            adaptive=False,
            unit=UNITS[self.unit],
        )
        return Screening(tuple(hits), self.method, self.statistic, self.snps, asked, self.level, statement)

    def _svt(
        self, counts: GenotypeCounts, values: Floats, known: Floats | None, budget: Budget
    ) -> tuple[list[Hit], int]:
        cuts = self.sieve_cuts()
        above = values - (cuts.max() if known is None else self.law.per_snp(cuts, known))
        session = begin(self.sieve, budget, "gwas: sparse vector", -self.sieve.centre * self.sieve.on.step)
        hits: list[Hit] = []
        asked = 0
        while not session.halted and asked < self.snps:
            found = session.first_above(above[asked:])
            if found is None:
                return hits, self.snps
            asked += found + 1
            hits.append(Hit(counts.variant(asked - 1), None, None, True))
        return hits, asked

    def _em(self, counts: GenotypeCounts, values: Floats, budget: Budget) -> tuple[list[Hit], int]:
        rows = release(self.choice, budget, "gwas: top-k", values)
        noisy = np.array([float(release(self.test, budget, "gwas: test", float(values[i]))) for i in rows])
        found = zip(rows, noisy.tolist(), self.pvalues(noisy), strict=True)
        return [Hit(counts.variant(i), x, p, p <= self.level) for i, x, p in found], self.snps


def screen(
    counts: GenotypeCounts,
    epsilon: float,
    *,
    frequencies: ArrayLike | None = None,
    ledger: str | None = None,
    dataset: str | None = None,
    level: float = 0.05,
    method: Literal["svt", "em"] = "svt",
    max_hits: int = 10,
    statistic: Name = "distance",
    unit: Unit = "person",
    maf: float = 0.0,
    share: float = 0.5,
) -> Screening:
    """Plan (``Screen``) and run in one go.

    >>> from dpcausal.gwas.simulate import Simulation
    >>> counts = Simulation(people=20_000, snps=1000, causal=2, odds_ratio=1.6).counts()
    >>> [hit.variant.name for hit in screen(counts, epsilon=50.0, level=1e-6).hits]
    ['snp251', 'snp751']
    """
    plan = Screen(
        snps=len(counts), cases=counts.cases, controls=counts.controls, epsilon=epsilon, level=level, method=method,
        max_hits=max_hits, statistic=statistic, unit=unit, maf=maf, share=share,
    )  # fmt: skip
    return plan.run(counts, frequencies=frequencies, ledger=ledger, dataset=dataset)
