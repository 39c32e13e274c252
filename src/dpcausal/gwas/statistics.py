"""The statistics that a SNP is screened by: their values, sensitivities and what they say of chi-squared.

c11 of n1 alleles of the cases and c10 of n0 of the controls are allele 1. Labels are fixed, n0 and n1 public.

- ``distance`` (default): how many alleles must change before the chi-squared test flips, in closed form. The tables
  with chi-squared below tau are the lattice points of an ellipse (``stats/unit_circle.py``) within the box
  [0, n1] x [0, n0]. The score is the distance |dc11| + |dc10| *in real numbers, within the box*, from the table to the
  ellipse if it lies outside (significant), and minus the distance to the rest of the box if it lies inside. One allele
  moves it by at most 1 (``statistics.proof.md``); no -1/2 trick is needed because the distance is continuous. Where no
  table is significant the score is the constant -n. Unlike the unit circle it does not put rare alleles on the border:
  a SNP nobody carries is as far from significance as the alleles it lacks. **Cost** about 30 ns a SNP (the lattice
  version scans O(n) tables).
- ``circle``: the unit circle's ||V|| (``stats/unit_circle.py``), the paper's.
- ``chi2``: chi-squared itself, output perturbation, the baseline (``stats/chi2.py``).

``person`` as the unit: a person's two alleles at a SNP both change, so each sensitivity is twice that of an allele,
which is tight for ``circle`` and ``distance`` (proofs), and an upper bound for ``chi2``.

**Decision** all three compare with the same test, chi2 >= tau: value >= ``border``. ``chi2_beyond(a)`` is a number
q such that value > a implies chi2 > q, for any margins:
circle: ||V||^2 = l^2 + (chi2/tau)(1 - l^2), l^2 <= 1, so ||V|| > a >= 1 gives chi2 > tau (a^2 - l^2)/(1 - l^2) >=
tau a^2.
distance: given M1, chi2 = (c11 - mu)^2/v, v <= n0 n1/(4 n). Moving c11 and c10 by t against each other costs 2 t
alleles and reaches the border when |c11 - mu| - t = sqrt(tau v); the score is at most that 2 t, so score > a >= 0
gives chi2 > (sqrt(tau) + a/(2 sqrt(v)))^2 >= (sqrt(tau) + a sqrt(n/(n0 n1)))^2.

**A floor of allele counts**, bought with a little of epsilon where no frequency is public. m = least over all SNPs of
min(M1, n - M1), the copies of the rarer allele, is released as m + Laplace noise. The floor is the released value less
what the noise exceeds with probability ``risk``, so with probability at least 1 - risk every SNP has at least so many
copies of either allele, and cuts need hold for those margins only. ``risk`` is taken from the level of the tests. One
person moves m by at most 2 although the person changes every SNP (``floor.proof.md``): for .15 of epsilon the noise has
scale 13 copies, where frequencies themselves would cost that for *each* SNP. A SNP that nobody carries gives floor 0:
the worst case, and what it cost is gone.

Reference: Johnson & Shmatikov 2013, section 4 (they count with a scan, and with sensitivity left to the reader).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.gwas.kernels import signed_distances
from dpcausal.privacy.mechanisms import Laplace
from dpcausal.stats.chi2 import checked_groups, chi2_sensitivity
from dpcausal.stats.unit_circle import unit_circle, unit_circle_sensitivity

MAX_ALLELES = 10**9  # in both groups, up to which the distance is proved to err by less than a grid counts


def _checked_alleles(n0: int, n1: int) -> None:
    """Refuse groups for which the distance is not proved."""
    checked_groups(n0, n1)
    if n0 + n1 > MAX_ALLELES:
        raise InputError(
            f"the distance takes at most {MAX_ALLELES:,} alleles, not {n0 + n1:,}: ask for circle or chi2"
        )


@proved("statistics.proof.md")
def allele_distance(c11: ArrayLike, c10: ArrayLike, n1: int, n0: int, tau: float) -> NDArray[np.float64]:
    """Return how many alleles must change until chi2 crosses tau, for each table; negative if not significant.

    >>> allele_distance([5, 9], [5, 1], 10, 10, 3.84).round(3).tolist()
    [-4.013, 3.618]
    """
    _checked_alleles(n0, n1)
    if not 0.0 < tau < np.inf:
        raise InputError(f"the chi-squared threshold must be positive, not {tau}")
    x, y = np.atleast_1d(c11), np.atleast_1d(c10)
    out = np.empty(x.shape)
    signed_distances(x, y, float(n1), float(n0), float(tau), out)
    return out


@proved("statistics.proof.md")
def allele_distance_sensitivity(*, person: bool = True) -> float:
    """Return the sensitivity of ``allele_distance`` to one person (or one allele)."""
    return 2.0 if person else 1.0


Name = Literal["distance", "circle", "chi2"]


@proved("statistics.proof.md")
def allelic_chi2(c11: ArrayLike, c10: ArrayLike, n1: int, n0: int) -> NDArray[np.float64]:
    """Return chi-squared of 2 x 2 allele counts, without continuity correction; 0 where an allele is absent.

    >>> allelic_chi2([352, 0], [342, 0], 1000, 1000).round(4).tolist()
    [0.2207, 0.0]
    """
    a, b = np.asarray(c11, np.float64), np.asarray(c10, np.float64)
    n, m = n1 + n0, a + b
    spread = m * (n - m) * float(n1) * n0
    link = n * (n0 * a - n1 * b) ** 2
    return np.divide(link, spread, out=np.zeros_like(link), where=spread > 0)


@dataclass(frozen=True)
class Statistic:
    """One of the three, at threshold ``tau``, for groups of ``n1`` and ``n0`` alleles."""

    name: Name
    n1: int
    n0: int
    tau: float
    person: bool = True

    def __post_init__(self) -> None:
        if self.name not in get_args(Name):
            raise InputError(f"statistic must be distance, circle or chi2, not {self.name!r}")
        if self.name == "distance":
            _checked_alleles(self.n0, self.n1)
        else:
            checked_groups(self.n0, self.n1)

    def __call__(self, c11: ArrayLike, c10: ArrayLike) -> NDArray[np.float64]:
        """Return the values of many SNPs."""
        if self.name == "distance":
            return allele_distance(c11, c10, self.n1, self.n0, self.tau)
        if self.name == "circle":
            return unit_circle(c11, c10, self.n1, self.n0, self.tau)
        return allelic_chi2(c11, c10, self.n1, self.n0)

    @property
    def sensitivity(self) -> float:
        """The most that one person (or one allele) changes the value of any SNP."""
        if self.name == "distance":
            return allele_distance_sensitivity(person=self.person)
        if self.name == "circle":
            return unit_circle_sensitivity(self.n1, self.n0, self.tau, person=self.person)
        return chi2_sensitivity(self.n0, self.n1) * (2.0 if self.person else 1.0)

    @property
    def border(self) -> float:
        """The value of the statistic at which chi2 = tau."""
        return {"distance": 0.0, "circle": 1.0, "chi2": self.tau}[self.name]

    def chi2_beyond(self, value: float) -> float:
        """Return a lower bound on chi2 that a value above ``value`` implies."""
        if self.name == "distance":
            return (math.sqrt(self.tau) + value * math.sqrt((self.n1 + self.n0) / (self.n1 * self.n0))) ** 2
        return self.tau * value * value if self.name == "circle" else value


@proved("floor.proof.md")
def least_minor_count(c11: ArrayLike, c10: ArrayLike, n: int) -> int:
    """Return the smallest minor allele count over the SNPs; ``n`` alleles at each.

    >>> least_minor_count([5, 90, 40], [9, 95, 60], 200)
    14
    """
    m1 = np.asarray(c11, np.int64) + np.asarray(c10, np.int64)
    return int(min(m1.min(), n - m1.max()))


@proved("floor.proof.md")
def least_minor_sensitivity(*, person: bool = True) -> float:
    """Return the sensitivity of ``least_minor_count`` to one person (or one allele at each SNP)."""
    return 2.0 if person else 1.0


def floor_of(noisy: float, noise: Laplace, risk: float, n: int) -> int:
    """Return a lower bound, right with probability 1 - risk, on a count from its release with Laplace noise.

    P(L >= t) = a^t/(1 + a), a = exp(-1/b), for discrete Laplace noise of scale b on the integers.
    """
    b = noise.steps[1]
    margin = math.ceil(b * math.log(1.0 / (risk * (1.0 + math.exp(-1.0 / b))))) * noise.on.step
    return int(min(max(noisy - margin, 0.0), n // 2))
