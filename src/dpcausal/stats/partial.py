"""Partial association of x and y given s, from the tables of (x, y), (x, s) and (y, s) alone.

**Formula.** With p_s(x), q_s(y) the conditional proportions and N_s the sizes of the blocks of s,

    M = T_xy - sum over s of N_s p_s q_s'

is the sum over blocks of observed minus expected, and needs no table of (x, y, s): tests of order m need tables of
m + 1 columns, not m + 2. All tests of order 1 come from the pairs. The form M' V^-1 M over the (r-1)(c-1) free entries
is compared with chi-squared. It is the generalised Cochran-Mantel-Haenszel statistic with equal weights, and noise:
it sees association that does not cancel between blocks.

**Variance** under independence given s, tables released with noise: rows drawn at random, N_s (diag p - pp') x
(diag q - qq') summed; noise of T_xy; noise of T_xs seen through q and of T_ys through p (first order); of N_s through
both; and the product of the noises of the two margins (second order, never above what the block allows).

**Guarantee.** Post-processing of released tables: costs nothing. **Where it fails**: blocks smaller than their noise
have proportions made of noise; what they add is bounded by their size and stands in V. The level as measured:
``tests/statistical/test_partial.py``. An effect that changes sign between blocks is not seen.

**Information.** ``free`` counts the rows in which x (or y, whichever has fewer) is not already decided by s: no
dependence can move more rows than that. Where it is below a few standard errors "independent" would mean nothing.

**Cost** O(r c k + c k^2 + ((r-1)(c-1))^3). References: Birch 1965; Landis, Heyman & Koch 1978.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from dpcausal.stats.partial_kernel import partial_form

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PartialTest:
    """``form`` is the statistic, ``free`` the rows that could differ, ``error`` the standard error of a cell."""

    pvalue: float
    form: float
    dof: int
    free: float
    error: float

    def informative(self, least: float) -> bool:
        """Whether a dependence of every free row would be ``least`` standard errors away."""
        return self.free > least * self.error


def partial_test(
    xy: Floats, xs: Floats, ys: Floats, noise_xy: float, noise_xs: Floats, noise_ys: Floats, noise_s: Floats
) -> PartialTest:
    """Test independence of x and y within the blocks of s, from measured tables.

    ``xy`` is (r, c), ``xs`` (r, k), ``ys`` (c, k); ``noise_xy`` is the variance of the noise in every direction of the
    component {x, y}; ``noise_xs`` (k, k) the covariance over blocks of a contrast of x, from ``block_noise`` of the
    components that hold x; ``noise_s`` of those within s.

    >>> table = np.array([[[300.0, 200], [200, 300]], [[30, 70], [20, 180]]])  # (s, x, y)
    >>> none = np.zeros((2, 2))
    >>> xs, ys = table.sum(axis=2).T.copy(), table.sum(axis=1).T.copy()
    >>> found = partial_test(table.sum(axis=0), xs, ys, 0.0, none, none, none)
    >>> found.pvalue < 1e-6, found.dof
    (True, 1)
    """
    dof = (xy.shape[0] - 1) * (xy.shape[1] - 1)
    if dof == 0:
        return PartialTest(1.0, 0.0, 0, 0.0, 1.0)
    form, free, error = partial_form(xy, xs, ys, noise_xy, noise_xs, noise_ys, noise_s)
    return PartialTest(float(chdtrc(dof, max(form, 0.0))), form, dof, free, error)


@lru_cache(maxsize=4096)
def block_noise(sizes: tuple[int, ...], variances: tuple[float, ...]) -> Floats:
    """Covariance over the cells of s (columns of ``sizes``) of noise in components; read-only.

    ``variances`` has one entry for every subset of the columns, in the order of ``subsets``: that of the component of
    the subset (with x, when the noise of a contrast of x is asked for), spread over the columns that are not in it.

    >>> block_noise((2,), (0.0, 4.0))
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    cells = int(np.prod(sizes, dtype=np.int64)) if sizes else 1
    found = np.zeros((cells, cells))
    for inner, variance in zip(subsets(len(sizes)), variances, strict=True):
        if variance > 0.0:
            part = np.ones((1, 1))
            for j, r in enumerate(sizes):
                even = np.full((r, r), 1.0 / r)
                part = np.kron(part, np.eye(r) - even if j in inner else even / r)
            found += variance * part
    return found


def subsets(number: int) -> Sequence[tuple[int, ...]]:
    """All subsets of the first ``number`` integers, the smallest first."""
    return [inner for size in range(number + 1) for inner in combinations(range(number), size)]
