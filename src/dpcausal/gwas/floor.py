"""How rare the rarest allele of the study is, bought with a little of epsilon: for when nothing about it is public.

**Formula.** m = least over all SNPs of min(M1, n - M1), the copies of the rarer allele; released as m + Laplace noise.
The floor is the released value less what the noise exceeds with probability ``risk``, so with probability at least
1 - risk every SNP has at least so many copies of either allele, and cuts need hold for those margins only. ``risk`` is
taken from the level of the tests, so that the family-wise error stays at most the level.
**Guarantee** one person moves m by at most 2 although the person changes every SNP (``floor.proof.md``): for .15 of
epsilon the noise has scale 13 copies. Frequencies themselves would cost that for *each* SNP.
**Cost** O(SNPs). **Edge cases** a SNP that nobody carries gives floor 0: the worst case, and the money is gone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dpcausal.core.proofs import proved
from dpcausal.privacy.mechanisms import Laplace


@proved("floor.proof.md")
def least_minor_count(c11: ArrayLike, c10: ArrayLike, n: int) -> int:
    """Copies of the rarer allele at the SNP where it is rarest; ``n`` alleles at each.

    >>> least_minor_count([5, 90, 40], [9, 95, 60], 200)
    14
    """
    m1 = np.asarray(c11, np.int64) + np.asarray(c10, np.int64)
    return int(min(m1.min(), n - m1.max()))


@proved("floor.proof.md")
def least_minor_sensitivity(*, person: bool = True) -> float:
    """How far one person (or one allele at each SNP) moves it."""
    return 2.0 if person else 1.0


def floor_of(noisy: float, noise: Laplace, risk: float, n: int) -> int:
    """A number that is at most m with probability 1 - risk, within 0 and n/2.

    P(L >= t) = a^t/(1 + a), a = exp(-1/b), for discrete Laplace noise of scale b on the integers.
    """
    b = noise.steps[1]
    margin = math.ceil(b * math.log(1.0 / (risk * (1.0 + math.exp(-1.0 / b))))) * noise.on.step
    return int(min(max(noisy - margin, 0.0), n // 2))
