"""How many alleles must change before a SNP's chi-squared test flips: Johnson & Shmatikov's score, in closed form.

**Formula.** The tables (c11, c10) with chi-squared below tau are the lattice points of an ellipse
(``stats/unit_circle.py``) within the box [0, n1] x [0, n0] of possible allele counts. The score is the distance
|dc11| + |dc10| *in real numbers, within the box*, from the table to the ellipse if it lies outside (significant),
and minus the distance to the rest of the box if it lies inside. Positive iff chi2 > tau.
**Guarantee.** Labels fixed, n0 and n1 public: one allele moves it by at most 1, one person (two alleles of one
group) by at most 2 (``allele_distance.proof.md``); both attained. No -1/2 trick is needed because the distance is
continuous.
**Cost** about 30 ns a SNP (the lattice version scans O(n) tables). **Edge cases**: where no table is significant the
score is the constant -n.

It is never nearer to the border than the unit circle's (||V|| - 1)/Delta, and unlike it does not put rare alleles
on the border: a SNP nobody carries is as far from significance as the alleles it lacks.
References: Johnson & Shmatikov 2013, section 4 (they count with a scan, and with sensitivity left to the reader).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.gwas.kernels.distance import signed_distances
from dpcausal.stats.chi2_sensitivity import checked_groups


@proved("allele_distance.proof.md")
def allele_distance(c11: ArrayLike, c10: ArrayLike, n1: int, n0: int, tau: float) -> NDArray[np.float64]:
    """Score of many tables: c11 of n1 and c10 of n0 alleles are allele 1.

    >>> allele_distance([5, 9], [5, 1], 10, 10, 3.84).round(3).tolist()
    [-4.013, 3.618]
    """
    checked_groups(n0, n1)
    if not 0.0 < tau < np.inf:
        raise InputError(f"the chi-squared threshold must be positive, not {tau}")
    x, y = np.atleast_1d(c11), np.atleast_1d(c10)
    out = np.empty(x.shape)
    signed_distances(x, y, float(n1), float(n0), float(tau), out)
    return out


@proved("allele_distance.proof.md")
def allele_distance_sensitivity(*, person: bool = True) -> float:
    """How far one person (or one allele) moves the score."""
    return 2.0 if person else 1.0
