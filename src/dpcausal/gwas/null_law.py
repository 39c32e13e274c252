"""Null laws of a SNP's statistics, computed and not simulated: they resolve 5e-8 and far below.

Given the public group sizes and the number M1 of copies of allele 1, c11 is hypergeometric when the SNP has nothing
to do with the phenotype (alleles exchangeable between people: Hardy-Weinberg, as for every allelic test). M1 is a
secret; what is known about it is a range: nothing (0 to n), a least minor allele frequency, or a frequency per SNP
from a reference panel, with six standard deviations of sampling on both sides; or a least number of copies that a
mechanism released (``statistics.py``). Everything here is a *bound over that range*, so the level holds whatever M1
is in it; privacy does not depend on any of it. Naming the other allele turns M1 into n - M1 and changes no statistic,
so only margins up to n/2 are computed.

- ``chi2_tail``: sup of P(chi2 >= q), exact sums in the worst lattice position, so it is smooth in M1 and a grid of
  margins finds it.
- ``noisy_cuts``: the value that statistic plus noise passes with a given probability, for each margin of the grid.

**Cost** a few milliseconds for all SNPs together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.gwas import kernels

Floats = NDArray[np.float64]
Score = Callable[[Floats, Floats], Floats]
GRID, NODES, SPREAD = 40, 160, 6.0


def chi2_quantile(level: float) -> float:
    """Return the chi-squared quantile (one degree of freedom) that is exceeded with probability ``level``.

    >>> round(chi2_quantile(5e-8), 4)
    29.7168
    """
    return NormalDist().inv_cdf(level / 2) ** 2


@dataclass(frozen=True)
class NullLaw:
    """Groups of ``n1`` and ``n0`` alleles; M1/n is at least ``maf`` away from 0 and 1 (0: nothing public).

    ``least``: there are at least so many copies of either allele in the study (0: nothing known).

    >>> law = NullLaw(5000, 5000)
    >>> 1.0 < law.chi2_tail(29.72) / 5e-8 < 1.5
    True
    """

    n1: int
    n0: int
    maf: float = 0.0
    least: int = 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.maf <= 0.5:
            raise InputError(f"a minor allele frequency lies within 0 and .5, not {self.maf}")
        if not 0 <= 2 * self.least <= self.n1 + self.n0:
            raise InputError(f"a minor allele has 0 to {(self.n1 + self.n0) // 2} copies, not {self.least}")

    def margin(self, share: float, sign: float) -> float:
        """Return the allele count at frequency ``share``, moved by ``sign`` times SPREAD standard deviations."""
        n = self.n1 + self.n0
        return float(np.clip(share * n + sign * SPREAD * np.sqrt(n * share * (1 - share)), 0, n))

    @cached_property
    def lower(self) -> Floats:
        """Allele counts on a grid over the lower half of the range, finer towards its end."""
        n = self.n1 + self.n0
        low = max(int(self.margin(self.maf, -1.0)), self.least)
        steps = np.unique(np.geomspace(1, n // 2 - low + 1, GRID).astype(int)) - 1
        return (low + steps).astype(np.float64)

    def margins(self) -> Floats:
        """Return allele counts that cover the whole range."""
        lower = self.lower
        return np.unique(np.concatenate([lower, self.n1 + self.n0 - lower]))

    def chi2_tail(self, cut: float) -> float:
        """Return the largest P(chi2 >= cut) over the range of margins."""
        margins = self.lower
        out = np.empty(len(margins))
        kernels.chi2_tails(float(cut), float(self.n1), float(self.n0), margins, out)
        return float(out.max())

    def chi2_cut(self, level: float) -> float:
        """Return the chi-squared threshold tau with ``chi2_tail(tau) <= level``."""
        asked = level
        for _ in range(60):
            tau = chi2_quantile(asked)
            found = self.chi2_tail(tau)
            if found <= level:
                return tau
            asked *= 0.98 * level / found
        raise InputError("no chi-squared threshold has this level: too few people")

    def noisy_cuts(self, statistic: Score, level: float, up: float, down: float) -> Floats:
        """Return, for each margin, the cut that statistic + noise exceeds with probability ``level``.

        Noise: Exp(scale up) - Exp(scale down); Laplace noise is up = down.
        """
        lower, margins = self.lower, self.margins()
        cuts = self.cuts_at(lower, statistic, level, up, down)
        return np.asarray(cuts[np.searchsorted(lower, np.minimum(margins, self.n1 + self.n0 - margins))])

    def cuts_at(
        self,
        margins: Floats,
        statistic: Score,
        level: float,
        up: float,
        down: float,
        tolerance: float = 1e-9,
    ) -> Floats:
        """Return, for any margins, the cut that statistic + noise exceeds with probability ``level``.

        It is rounded up to ``tolerance`` noise scales.
        """
        values, mass = self.laws(statistic, margins)
        out = np.empty(len(values))
        kernels.noisy_cuts(level, values, mass, up, down, tolerance, out)
        return out

    def noisy_tails(self, statistic: Score, cuts: Floats, up: float, down: float) -> Floats:
        """Return the p-value of each cut: the largest P(statistic + noise >= cut) over the margins."""
        values, mass = self.laws(statistic, self.lower)
        tails = [
            max(
                float(kernels.noisy_tail(float(cut), v, w, up, down))
                for v, w in zip(values, mass, strict=True)
            )
            for cut in cuts
        ]
        return np.array(tails)

    def laws(self, statistic: Score, margins: Floats) -> tuple[Floats, Floats]:
        """Return the values of a statistic under no association, with probabilities; a row for each margin."""
        shape = (len(margins), NODES)
        c11, c10, mass = np.empty(shape), np.empty(shape), np.empty(shape)
        kernels.fill_laws(float(self.n1), float(self.n0), margins, c11, c10, mass)
        return statistic(c11.ravel(), c10.ravel()).reshape(shape), mass

    def per_snp(self, cuts: Floats, frequencies: Floats) -> Floats:
        """Return, for each SNP, the largest of ``cuts`` over the margins that its public frequency allows."""
        margins, n = self.margins(), self.n1 + self.n0
        spread = SPREAD * np.sqrt(n * frequencies * (1 - frequencies))
        first = np.searchsorted(margins, frequencies * n - spread, "right") - 1
        last = np.searchsorted(margins, frequencies * n + spread, "left")
        first, last = np.maximum(first, 0), np.minimum(last, len(margins) - 1)
        table = np.array([np.maximum.accumulate(cuts[i:]).tolist() + [np.inf] * i for i in range(len(cuts))])
        return np.asarray(table[first, last - first])
