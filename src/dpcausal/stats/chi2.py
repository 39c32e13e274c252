"""Pearson's chi-squared and the likelihood ratio G, summed over blocks: the classical tests.

**Formula.** chi2 = sum (O - E)^2/E, G = 2 sum O ln(O/E), E = row sum x column sum/block size, over all cells of
all blocks. **Guarantee** none: both are far too sensitive to release (``chi2_sensitivity.py`` for the one case with
a bound); used without privacy, on parts (``aggregate.py``, ``tulap_split.py``) or on synthetic tables.

**Degrees of freedom, decided once**: sum over blocks of (r_i - 1)(c_i - 1), where r_i and c_i count the *non-empty*
rows and columns of block i, as for each stratum on its own. An empty block, row or column adds nothing. No degrees
of freedom: p-value 1, independent. ``declared_dof`` gives the public k (r - 1)(c - 1).

**Null law** chi-squared with these degrees of freedom, no continuity correction; poor where expected counts are
below about 5. **Cost** O(cells), one pass.
References: [1] Agresti 2013, sections 3.2 and 6.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numba as nb
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

from dpcausal.stats.blocks import checked_blocks

F = TypeVar("F", bound=Callable[..., Any])
_jit: Callable[[F], F] = nb.njit(nogil=True, cache=True)


@dataclass(frozen=True)
class Chi2Test:
    """Value, degrees of freedom and p-value of a classical test on a table."""

    statistic: float
    dof: int
    pvalue: float


@_jit
def margins(block: Any, rows: Any, columns: Any) -> Any:
    """Sums over the columns and over the rows of one table, into ``rows`` and ``columns``; returns the total."""
    rows[:] = 0.0
    columns[:] = 0.0
    n = 0.0
    for a in range(len(rows)):
        for b in range(len(columns)):
            rows[a] += block[a, b]
            columns[b] += block[a, b]
        n += rows[a]
    return n


@_jit
def _over_blocks(blocks: Any, likelihood: Any) -> Any:
    """(statistic, degrees of freedom) of all blocks."""
    k, r, c = blocks.shape
    rows, columns = np.empty(r), np.empty(c)
    total, dof = 0.0, 0
    for i in range(k):
        n = margins(blocks[i], rows, columns)
        live_rows, live_columns = 0, 0
        for a in range(r):
            live_rows += rows[a] > 0
        for b in range(c):
            live_columns += columns[b] > 0
        if live_rows < 2 or live_columns < 2:
            continue
        dof += (live_rows - 1) * (live_columns - 1)
        for a in range(r):
            for b in range(c):
                expected = rows[a] * columns[b] / n
                seen = blocks[i, a, b]
                if expected == 0.0:
                    continue
                if likelihood:
                    if seen > 0:
                        total += 2.0 * seen * math.log(seen / expected)
                else:
                    total += (seen - expected) ** 2 / expected
    return total, dof


def chi2_pvalue(statistic: float, dof: int) -> float:
    """Upper tail of the chi-squared law; 1 for no degrees of freedom.

    >>> round(chi2_pvalue(3.841459, 1), 4), chi2_pvalue(0.0, 0)
    (0.05, 1.0)
    """
    return float(chdtrc(dof, max(statistic, 0.0))) if dof > 0 else 1.0


def pearson(blocks: ArrayLike) -> Chi2Test:
    """Pearson's chi-squared over all blocks.

    >>> found = pearson([[[10, 20], [30, 5]], [[0, 0], [4, 4]]])
    >>> round(found.statistic, 6), found.dof, found.pvalue < 2e-5
    (18.72619, 1, True)
    """
    statistic, dof = _over_blocks(checked_blocks(blocks), False)
    return Chi2Test(float(statistic), int(dof), chi2_pvalue(statistic, dof))


def likelihood_ratio(blocks: ArrayLike) -> Chi2Test:
    """G over all blocks; an empty cell adds 0.

    >>> found = likelihood_ratio([[[10, 0], [0, 10]]])
    >>> round(found.statistic, 6), found.dof
    (27.725887, 1)
    """
    statistic, dof = _over_blocks(checked_blocks(blocks), True)
    return Chi2Test(float(statistic), int(dof), chi2_pvalue(statistic, dof))


def declared_dof(blocks: NDArray[np.int64]) -> int:
    """k (r - 1)(c - 1): the public number, whatever is empty.

    >>> declared_dof(checked_blocks([[[1, 2, 0], [0, 2, 0]]] * 4))
    8
    """
    k, r, c = blocks.shape
    return int(k * (r - 1) * (c - 1))
