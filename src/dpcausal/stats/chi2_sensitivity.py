"""How far one genotype moves Pearson's chi-squared of a 2 x 2 table with fixed group sizes: the output baseline.

**Formula.** Delta = (N^2/(N0 N1)) (1 - 1/(max(N0, N1) + 1)), N0 and N1 the public sizes of the two groups.
**Guarantee** exact supremum for *labels fixed*: one row keeps its group and changes its other, binary value
(``chi2_sensitivity.proof.md``); attained. With only N fixed there is no bound below N: a group of one row can
appear or vanish. Used for chi2 + Lap(Delta/epsilon), which the unit circle and the distance score beat.

References: Uhler, Slavkovic & Fienberg 2013 (the same number for 3 x 2 tables, equal groups).
"""

from __future__ import annotations

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved


def checked_groups(n0: int, n1: int) -> tuple[int, int]:
    """Both public group sizes, at least 1."""
    if n0 < 1 or n1 < 1:
        raise InputError(f"both groups need at least one row, not {n0} and {n1}")
    return n0, n1


@proved("chi2_sensitivity.proof.md")
def chi2_sensitivity(n0: int, n1: int) -> float:
    """Delta for group sizes ``n0`` and ``n1``.

    >>> chi2_sensitivity(10, 10)
    3.6363636363636362
    """
    n0, n1 = checked_groups(n0, n1)
    most = max(n0, n1)
    return (n0 + n1) ** 2 / (n0 * n1) * (most / (most + 1))
