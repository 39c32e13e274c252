"""What a plan may choose from public numbers: the threshold tau a SNP is scored at, and how ``em`` shares its budget.

The distance and the unit circle are measured from the border chi2 = tau. Any tau gives a valid test, since the cut is
set afterwards for the worst margin; which tau is best depends on the noise. With little noise it is the quantile of
the level (no margin is worse than another). With much noise rare alleles set the cut, whose values lie near the border
whatever tau is, and every common SNP must first cross a border far out for nothing; a lower tau repairs that.

**Rule.** Of a grid, take what makes z = sqrt(chi2) smallest that a SNP needs to be found half the time, averaged over
minor allele frequencies from the least known one to 1/2. In ``em`` to be found is to be chosen and to pass the cut.
**Guarantee** nothing here sees data. **Cost** about a millisecond a candidate. What it brings: ``docs/gwas.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dpcausal.gwas.null_law import Floats, NullLaw
from dpcausal.gwas.statistics import Statistic

STEPS = tuple(2.0 ** (-i / 2) for i in range(13))  # candidates: tau/64 to tau
SHARES = (0.4, 0.5, 0.6, 0.7, 0.8)  # of epsilon, to choose by
PLACES = np.array([0.1, 0.3, 0.5, 0.7, 0.9])  # of the range of minor allele frequencies
Passing = Callable[[float, float, Floats], tuple[Statistic, float, bool]]


class Design(NamedTuple):
    """Threshold, share of epsilon to choose by (``em``), and whether the cut is that of all values with noise."""

    tau: float
    share: float
    whole: bool


def typical_margins(law: NullLaw) -> Floats:
    """Margins at PLACES of the range."""
    n, low = law.n1 + law.n0, law.lower()[0]
    return np.asarray(np.round(low + PLACES * (n / 2 - low)), np.float64)


def table_at(law: NullLaw, m: Floats, z: Floats | float) -> tuple[Floats, Floats]:
    """(c11, c10) at margins ``m`` with chi2 = z^2."""
    n1, n0 = float(law.n1), float(law.n0)
    c11 = m * n1 / (n1 + n0) + z * np.sqrt(n0 * n1 * m * (n1 + n0 - m) / (n1 + n0)) / (n1 + n0)
    return c11, m - c11


def z_needed(score: Statistic, law: NullLaw, cut: float) -> float:
    """Average over PLACES of sqrt(chi2) at which the statistic reaches ``cut``; what can't reach it needs the most.

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
    """The value v with exp(v/scale) = sum of exp(value/scale) over ``snps`` typical SNPs without effect.

    Permute-and-flip (like the exponential mechanism) then takes it about half the time. Values beyond chi2 = ``top``,
    which a study of so many SNPs hardly holds, count as that.
    """
    m = np.maximum(typical_margins(law), 1.0)
    values, mass = law.laws(score, m)
    values = np.minimum(values, score(*table_at(law, m, np.sqrt(top)))[:, None])
    most = values.max()
    return float(most + scale * np.log(snps * (mass * np.exp((values - most) / scale)).sum() / len(m)))


def best_design(law: NullLaw, taus: Sequence[float], shares: Sequence[float], passing: Passing) -> Design:
    """The best of all pairs. ``passing(tau, share, margins)``: the statistic, the value found half the time when the
    cut is that of the worst of ``margins``, and ``whole``.

    From the first of ``taus`` down the need falls and then rises: the search stops behind the least.
    """
    lower = law.lower()
    few = np.unique(np.concatenate([lower[::8], lower[-1:]]))
    best, least = Design(taus[0], shares[0], True), np.inf
    for share in shares:
        last = np.inf
        for tau in taus:
            score, cut, whole = passing(tau, share, few)
            need = z_needed(score, law, cut)
            if need < least:
                best, least = Design(tau, share, whole), need
            if need > last:
                break
            last = need
    return best
