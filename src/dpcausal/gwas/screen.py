"""Private screening of many SNPs (sparse vector, or top-k and a test of each), and a private test of one SNP.

**Protects** one person's genotypes at *all* SNPs (unit "person"), or one allele at each SNP (unit "allele", the
papers'). Who takes part and who is a case is public, so N0 and N1 are: the statement says so.

- ``svt``: SNPs in file order, each "above" its public cut or not, one-sided geometric noise; stops at the
  ``max_hits``-th hit (the paper's s1) or the ``max_answers``-th answer (its s2).
- ``em``: ``max_hits`` SNPs by permute-and-flip (``share`` of epsilon), then each one's value with Laplace noise.

Cuts and p-values with their family-wise control are in ``plan.py``.
**What is known about frequencies** sets the cuts, never the noise: nothing (worst case over all), ``maf`` (no SNP
below it), ``frequencies`` (of a reference panel, one per SNP), or a floor bought with ``freq_share`` of epsilon
(``statistics.py``). **Cost** O(SNPs), milliseconds for 200,000.

``single_test`` is for one SNP that was named in advance: the unit circle statistic with Laplace noise
(``stats/unit_circle.proof.md``). Its null law is exact given M1: the p-value is the worst over what is public about M1
(a number, or a range of it).

References: Kakizaki, Fukuchi & Sakuma 2017, algorithms 3 and 4 (their threshold noise cancels: ours is drawn once,
on one side).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dpcausal.core import statement as facts
from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.core.statement import PrivacyStatement, Public
from dpcausal.core.variants import Variant, checked_variant
from dpcausal.gwas.cohort import GenotypeCounts
from dpcausal.gwas.null_law import Floats, chi2_quantile
from dpcausal.gwas.plan import FIXED_LABELS, RISK, UNITS, Method, ScreenPlan, Unit
from dpcausal.gwas.printed import screen_as_printed
from dpcausal.gwas.result import Hit, Screening
from dpcausal.gwas.statistics import Name, floor_of, least_minor_count
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.mechanisms import Laplace, begin, release
from dpcausal.stats.unit_circle import unit_circle, unit_circle_sensitivity, worst_tail

BLOCK = 16_384  # SNPs asked at a time


@dataclass(frozen=True, kw_only=True)
class Screen(ScreenPlan):
    """A screening that is planned and can be run: ``Screen(...).run(counts)``.

    Nothing here has seen a genotype; cuts, noise and costs follow from public numbers.

    Parameters
    ----------
    snps, cases, controls : int
        The public numbers of SNPs, and of people in each group.
    epsilon, level, method, max_hits, max_answers, statistic, unit, maf, share, freq_share
        As in ``screen``.
    least : int, default 0
        A lower bound on the counts of minor alleles that was bought already.

    Examples
    --------
    >>> plan = Screen(snps=1000, cases=5000, controls=5000, epsilon=3.0)
    >>> plan.hits, plan.answers
    (10, 1000)
    """

    def public(self, counts: GenotypeCounts, frequencies: bool) -> list[Public]:
        """Return the public facts that the privacy statement lists."""
        known: Public = facts.FrequenciesKnown("no-frequencies")
        if frequencies:
            known = facts.FrequenciesKnown("frequencies")
        elif self.freq_share > 0:
            known = facts.FloorReleased(self.freq_share)
        elif self.maf > 0:
            known = facts.FrequencyFloor(self.maf)
        return [
            facts.GroupsKnown("groups", cases=self.cases, controls=self.controls),
            facts.SnpsKnown(self.snps),
            *([facts.Known("allele-order")] if counts.allele_order == "public" else []),
            facts.MissingCalls(counts.missing),
            known,
        ]

    @proved("screen.proof.md")
    def run(
        self,
        counts: GenotypeCounts,
        *,
        frequencies: ArrayLike | None = None,
        ledger: str | None = None,
        dataset: str | None = None,
    ) -> Screening:
        """Charge the budget, run the screening, and return its result.

        Parameters
        ----------
        counts : GenotypeCounts
            The counts; their numbers of SNPs, cases and controls must be those of the plan.
        frequencies, ledger, dataset
            As in ``screen``.

        Returns
        -------
        Screening

        Raises
        ------
        InputError
            If the counts do not fit the plan, or the frequencies can't be used.
        BudgetError
            If the ledger does not allow it.
        """
        if (len(counts), counts.cases, counts.controls) != (self.snps, self.cases, self.controls):
            raise InputError("the plan was made for another number of SNPs, cases or controls")
        known = None if frequencies is None else np.asarray(frequencies, np.float64)
        if known is not None and (known.shape != (self.snps,) or not ((known >= 0) & (known <= 1)).all()):
            raise InputError("frequencies must be one number within 0 and 1 for each SNP")
        if known is not None and self.freq_share:
            raise InputError("frequencies are either public or budgeted")
        if known is not None and self.method == "em":
            raise InputError("public frequencies are for svt: em takes a least one (maf) or a floor it buys")
        budget = Budget(
            self.epsilon,
            neighbours=FIXED_LABELS,
            ledger=ledger,
            dataset=dataset,
            note={"command": "gwas", "method": self.method},
            file=counts.file,
        )
        self.ready()
        alleles = counts.alleles()
        plan, risk = self, 0.0
        if self.freq_share:
            plan, risk = self._with_released_floor(*alleles, budget), RISK * self.level
        values = plan.score(*alleles)
        hits, asked = (
            plan._svt(counts, values, known, budget)
            if self.method == "svt"
            else plan._em(counts, values, risk, budget)
        )
        found = facts.FoundSnps("snps-above-cut" if self.method == "svt" else "chosen-snps", self.statistic)
        released = [found, *([facts.Noisy("frequency-floor")] if self.freq_share else [])]
        statement = budget.statement(
            released=released,
            public=self.public(counts, known is not None),
            adaptive=self.freq_share
            > 0,  # a floor that was released decides thresholds, and how em splits the rest
            unit=UNITS[self.unit],
        )
        full = self.method == "svt" and len(hits) == self.hits
        return Screening(
            tuple(hits), self.method, self.statistic, self.snps, asked, full, self.level, statement
        )

    @proved("screen.proof.md")
    def _with_released_floor(self, c11: ArrayLike, c10: ArrayLike, budget: Budget) -> Screen:
        """Release a floor of allele counts, and return the plan for the remaining epsilon and level."""
        n = 2 * (self.cases + self.controls)
        noisy = float(
            release(self.floor, budget, "gwas: rarest allele", float(least_minor_count(c11, c10, n)))
        )
        return replace(
            self,
            least=floor_of(noisy, self.floor, RISK * self.level, n),
            level=self.level * (1.0 - RISK),
            epsilon=self.epsilon * (1.0 - self.freq_share) * (1.0 - 1e-12),
            freq_share=0.0,
        )

    @proved("screen.proof.md")
    def _svt(
        self, counts: GenotypeCounts, values: Floats, known: Floats | None, budget: Budget
    ) -> tuple[list[Hit], int]:
        """Release which SNPs exceed their cuts, in file order; return them and the number of SNPs asked."""
        cuts = self.sieve_cuts()
        above = (values - (cuts.max() if known is None else self.law.per_snp(cuts, known)))[: self.answers]
        session = begin(self.sieve, budget, "gwas: sparse vector", -self.sieve.centre * self.sieve.on.step)
        hits: list[Hit] = []
        asked = 0
        while not session.halted and asked < self.answers:
            block = above[
                asked : asked + BLOCK
            ]  # rounded anew after each hit, so not all that is left at once
            found = session.first_above(block)
            asked += len(block) if found is None else found + 1
            if found is not None:
                hits.append(Hit(counts.public_variant(asked - 1), None, None, True))
        return hits, asked

    @proved("screen.proof.md")
    def _em(
        self, counts: GenotypeCounts, values: Floats, risk: float, budget: Budget
    ) -> tuple[list[Hit], int]:
        """Select the SNPs with the largest values and release a noisy value of each.

        Return them, and the number of SNPs that were asked.
        """
        rows = release(self.choice, budget, "gwas: top-k", values)
        noisy = np.array([float(release(self.test, budget, "gwas: test", float(values[i]))) for i in rows])
        hits = []
        for i, x, p in zip(rows, noisy.tolist(), self.pvalues(noisy), strict=True):
            hits.append(Hit(counts.public_variant(i), x, min(p + risk, 1.0), p <= self.level))
        return hits, self.snps


def screen(
    counts: GenotypeCounts,
    epsilon: float,
    *,
    frequencies: ArrayLike | None = None,
    ledger: str | None = None,
    dataset: str | None = None,
    level: float = 0.05,
    method: Method = "svt",
    max_hits: int = 10,
    max_answers: int = 0,
    statistic: Name = "distance",
    unit: Unit = "person",
    maf: float = 0.0,
    share: float | None = None,
    freq_share: float = 0.0,
    variant: Variant = "ours",
) -> Screening:
    """Find SNPs associated with a disease: plan (``Screen``) and run in one call.

    **Guarantee**: epsilon-DP for one person's genotypes at all SNPs, or for one allele at each; who takes part, and
    who is a case, is public.

    Parameters
    ----------
    counts : GenotypeCounts
        The counts, from ``Cohort.count``, ``read_model``, ``read_gcount`` or ``Simulation.counts``.
    epsilon : float
        What the screening costs in total.
    frequencies : array or None, default None
        Public frequency of either allele at each SNP, as ``read_frequencies`` gives it (``svt``).
    ledger : str or None, default None
        The address of a ledger that is charged first.
    dataset : str or None, default None
        The name of the data set in the ledger.
    level : float, default 0.05
        The family-wise error: the probability that any SNP without association is declared associated.
    method : str, default "svt"
        "svt": SNPs in file order, each above its public cut or not (sparse vector); it stops at the last hit that is
        paid for. "em": ``max_hits`` SNPs are chosen (permute-and-flip), then each is tested with noise.
    max_hits : int, default 10
        The most SNPs to release; fewer mean less noise.
    max_answers : int, default 0
        The most SNPs to ask, in file order (``svt``); 0 is all.
    statistic : str, default "distance"
        "distance", "circle" or "chi2".
    unit : str, default "person"
        What is protected: all genotypes of one "person", or one "allele" at each SNP.
    maf : float, default 0.0
        A public lower bound on the frequency of every minor allele; 0 is none.
    share : float or None, default None
        The share of epsilon that chooses (``em``), the rest tests; None plans it.
    freq_share : float, default 0.0
        The share of epsilon that buys a lower bound on the counts of minor alleles; 0 buys none.
    variant : str, default "ours"
        "paper": Kakizaki, Fukuchi & Sakuma's Algorithm 3 (``svt``) or 4 (``em``) as printed, for one allele. They are
        not private: they run under ``dpcausal.testing.seeded`` alone. Of the other options they know ``level``,
        ``max_hits`` (s1) and ``max_answers`` (s2).

    Returns
    -------
    Screening

    Raises
    ------
    InputError
        If an argument can't be used as given; nothing was charged.
    BudgetError
        If the ledger does not allow it; nothing was released.

    Examples
    --------
    >>> from dpcausal.gwas.simulate import Simulation
    >>> counts = Simulation(people=20_000, snps=1000, causal=2, odds_ratio=1.6).counts()
    >>> [hit.variant.name for hit in screen(counts, epsilon=50.0, level=1e-6).hits]
    ['snp251', 'snp751']
    """
    plan = Screen(
        snps=len(counts), cases=counts.cases, controls=counts.controls, epsilon=epsilon, level=level, method=method,
        max_hits=max_hits, max_answers=max_answers, statistic=statistic, unit=unit, maf=maf, share=share,
        freq_share=freq_share,
    )  # fmt: skip
    if checked_variant(variant) == "paper":
        own = replace(plan, statistic="distance", unit="person", maf=0.0, share=None, freq_share=0.0)
        if plan != own or frequencies is not None or ledger is not None:
            raise InputError(
                "variant='paper' knows level, max_hits and max_answers alone, and no ledger: leave out the rest"
            )
        return screen_as_printed(plan, counts)
    return plan.run(counts, frequencies=frequencies, ledger=ledger, dataset=dataset)


@dataclass(frozen=True)
class SingleTest:
    """The answer of ``gwas.single_test``.

    Attributes
    ----------
    statistic : float
        The statistic, released with noise.
    pvalue : float
        Its p-value, with the noise accounted for.
    rejected : bool
        Whether the SNP is declared associated.
    privacy : PrivacyStatement
        What it cost and what that means.
    """

    statistic: float
    pvalue: float
    rejected: bool
    privacy: PrivacyStatement


@proved("screen.proof.md")
def single_test(
    c11: int,
    c10: int,
    n1: int,
    n0: int,
    epsilon: float,
    *,
    level: float = 0.05,
    margin: int | tuple[int, int] | None = None,
    unit: Unit = "person",
    ledger: str | None = None,
    dataset: str | None = None,
) -> SingleTest:
    """Test one SNP that was named in advance: c11 of n1 alleles of the cases against c10 of n0 of the controls.

    **Guarantee**: epsilon-DP for one person's genotypes, or one allele; who is a case is public.

    Parameters
    ----------
    c11, c10 : int
        Copies of allele 1 among cases and among controls.
    n1, n0 : int
        Alleles of the cases and of the controls: twice the numbers of people. Public.
    epsilon : float
        What the test costs.
    level : float, default 0.05
        The size of the test.
    margin : int, pair of int or None, default None
        The copies of allele 1 in both groups together, or a range of it, where that is public.
    unit : str, default "person"
        What is protected: "person" or "allele".
    ledger : str or None, default None
        The address of a ledger that is charged first.
    dataset : str or None, default None
        The name of the data set in the ledger.

    Returns
    -------
    SingleTest

    Raises
    ------
    InputError
        If an argument can't be used as given.
    BudgetError
        If the ledger does not allow it.

    Examples
    --------
    >>> single_test(900, 500, 1000, 1000, epsilon=10.0).rejected
    True
    """
    if unit not in UNITS or not 0.0 < level < 1.0:
        raise InputError("unit must be person or allele, and level within 0 and 1")
    low, high = (margin, margin) if isinstance(margin, int) else margin or (0, n0 + n1)
    if not 0 <= low <= high <= n0 + n1:
        raise InputError("the public margin must lie within 0 and the number of alleles")
    tau = chi2_quantile(level)
    sensitivity = unit_circle_sensitivity(n1, n0, tau, person=unit == "person")
    noise = Laplace(sensitivity=sensitivity, epsilon=epsilon, neighbours=FIXED_LABELS)
    budget = Budget(
        epsilon,
        neighbours=FIXED_LABELS,
        ledger=ledger,
        dataset=dataset,
        note={"command": "gwas", "method": "single"},
    )
    value = float(unit_circle(c11, c10, n1, n0, tau))
    noisy = float(release(noise, budget, "gwas: single test", value))
    pvalue = worst_tail(noisy, n1, n0, (low, high), tau, noise.scale)
    known = (
        facts.FrequenciesKnown("no-frequency")
        if margin is None
        else facts.CopiesOfAllele(least=low, most=high)
    )
    statement = budget.statement(
        released=[facts.Noisy("one-snp")],
        public=[facts.GroupsKnown("alleles", cases=n1, controls=n0), known],
        adaptive=False,
        unit=UNITS[unit],
    )
    return SingleTest(noisy, pvalue, pvalue <= level, statement)
