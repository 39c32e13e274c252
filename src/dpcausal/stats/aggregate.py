"""Subsample and aggregate with a median: the null law of a private median of m p-values.

**Formula.** The rows are split into m parts, each gives a p-value, and the exponential mechanism picks one of L equal
cells of [0, 1]: cell l has weight exp(-(epsilon/2)|R_l - m/2|), R_l the number of p-values in lower cells and half of
those in its own (the mid-rank).

**Guarantee** (``aggregate.proof.md``): one row changes one part, one p-value, every R_l by at most 1, so the choice
costs epsilon.

**Null law.** Under the null the p-values are independent and uniform (parts are disjoint), their counts in the cells
multinomial. P(cell l) = E[w_l/sum w] = integral over s > 0 of E[w_l exp(-s sum w)] ds. The ranks R_l form a Markov
chain in l, so the expectation is a product of small matrices (a transfer recursion); no simulation is needed. The
size of a test by it is exact for uniform p-values. For coarse p-values
(small parts) it is approximate; a count of rejections (``stats/tulap.py``) stays valid there and has more power. Above
``MAX_EXACT_PARTS`` parts, or where epsilon m is so large that the integrand spans too many decades, the law is the mean
of w_l/sum w over ``SIMULATIONS`` sets of m uniform p-values: at .05 its standard deviation is below .001 (no p-value of
the data enters).

**Cost** O(nodes L m^2) up to ``MAX_EXACT_PARTS`` parts, about a second beyond, remembered. **Edge cases**: m = 1 is a
randomised response on one p-value.

References: Wang, Pang & Song 2020, Algorithm 6 (their smooth-sensitivity median needs delta).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core import entropy
from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.stats.tulap import binomial_law

CELLS = 100  # cells of [0, 1]: p-values are distinguished to .01
QUADRATURE_NODES = 160  # of the integral over s
MAX_EXACT_PARTS = 40  # half a second; 140 parts would take 8 s
# epsilon m: the least weight of a choice is within exp(-epsilon m/8) of the greatest
MAX_EXACT_EPSILON_M = 200.0
SIMULATIONS, BATCH = 40_000, 4_000  # sets of p-values beyond that, and how many at a time


@proved("aggregate.proof.md")
def median_scores(pvalues: ArrayLike, cells: int = CELLS) -> NDArray[np.float64]:
    """Return the utility of every cell as the median of p-values: -|R_l - m/2|, sensitivity 1.

    >>> median_scores([0.1, 0.5, 0.9], cells=5).tolist()
    [-1.0, -0.5, 0.0, -0.5, -1.0]
    """
    p = np.nan_to_num(np.asarray(pvalues, np.float64), nan=1.0, posinf=1.0, neginf=0.0)
    place = np.minimum((p * cells).astype(np.int64), cells - 1)
    counts = np.bincount(np.maximum(place, 0), minlength=cells)
    rank = np.cumsum(counts) - 0.5 * counts
    return np.asarray(0.0 - np.abs(rank - p.size / 2.0), np.float64)


def median_law(m: int, epsilon: float, cells: int = CELLS) -> tuple[float, ...]:
    """Return the null law of the private median: the probability of every cell when m p-values are uniform.

    >>> law = median_law(5, 1.0, cells=10)
    >>> round(float(sum(law)), 9), round(float(law[0] / law[9]), 6)
    (1.0, 1.0)
    """
    if m < 1 or cells < 2 or not epsilon > 0.0:
        raise InputError("a median law needs m >= 1, at least 2 cells and epsilon > 0")
    if m <= MAX_EXACT_PARTS and epsilon * m <= MAX_EXACT_EPSILON_M:
        return _exact_law(m, epsilon, cells)
    return _simulated_law(m, epsilon, cells, entropy.epoch())


@lru_cache(maxsize=64)
def _simulated_law(m: int, epsilon: float, cells: int, epoch: int) -> tuple[float, ...]:
    """Return the null law of the private median by simulation; ``epoch`` changes with a new seed."""
    rng = entropy.public_generator()
    law = np.zeros(cells)
    for _ in range(SIMULATIONS // BATCH):
        counts = rng.multinomial(m, np.full(cells, 1.0 / cells), size=BATCH)
        away = np.abs(np.cumsum(counts, axis=1) - 0.5 * counts - m / 2.0)
        weight = np.exp(-0.5 * epsilon * (away - away.min(axis=1, keepdims=True)))
        law += (weight / weight.sum(axis=1, keepdims=True)).sum(axis=0)
    law += law[::-1]  # the law is symmetric: two draws of one
    return tuple((law / law.sum()).tolist())


@lru_cache(maxsize=64)
def _exact_law(m: int, epsilon: float, cells: int) -> tuple[float, ...]:
    """Return the null law of the private median by a transfer recursion over the cells."""
    rank = np.arange(m + 1)
    # weight of a cell entered at rank i and left at rank j
    weight = np.exp(-0.5 * epsilon * np.abs(0.5 * (rank[:, None] + rank[None, :]) - m / 2.0))
    moves = [_transition(m, 1.0 / (cells - cell)) for cell in range(cells)]
    # substitute s = exp(y): the integrand is smooth and decays at both ends; trapezoid in y
    # sum w lies within exp(-epsilon m/8) (the cell in which rank m/2 is passed: its mid-rank is at most m/4 away) and L
    y = np.linspace(np.log(1e-14 / cells), np.log(60.0) + epsilon * m / 8.0, QUADRATURE_NODES)
    s = np.exp(y)
    damp = np.exp(-s[:, None, None] * weight)
    backward = [np.ones((s.size, m + 1))]
    for move in reversed(moves):
        backward.append(np.einsum("ij,sij,sj->si", move, damp, backward[-1], optimize=True))
    forward = np.zeros((s.size, m + 1))
    forward[:, 0] = 1.0
    law = np.zeros(cells)
    for cell, move in enumerate(moves):
        step = move * damp
        here = np.einsum("si,sij,ij,sj->s", forward, step, weight, backward[cells - 1 - cell], optimize=True)
        law[cell] = (here * s).sum() * (y[1] - y[0])
        forward = np.einsum("si,sij->sj", forward, step)
    return tuple((law / law.sum()).tolist())


def _transition(m: int, share: float) -> NDArray[np.float64]:
    """Return P(rank i -> j over one cell): Binomial(m - i, share) of the remaining p-values fall into it."""
    out = np.zeros((m + 1, m + 1))
    out[:, m] = 1.0  # of the last cell, and where no p-value remains
    for i in range(m if share < 1.0 else 0):
        out[i, i:] = binomial_law(m - i, share)
    return out


def median_pvalue(cell: int, m: int, epsilon: float, cells: int = CELLS) -> float:
    """Return the p-value of a private median of ``m`` p-values: P(released cell <= ``cell``) under the null."""
    if not 0 <= cell < cells:
        raise InputError(f"a cell is one of 0..{cells - 1}")
    return float(min(sum(median_law(m, epsilon, cells)[: cell + 1]), 1.0))
