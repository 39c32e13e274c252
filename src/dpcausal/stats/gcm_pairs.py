"""The generalised covariance measure of several columns: the largest score over pairs of a column of x and one of y.

For x of p columns and y of q (several columns of a table, or the indicators of levels without an order). Rows are dealt
into parts as in ``stats/gcm_parts.py``; in every part one regression takes z out of all p + q columns, and each pair
(j, k) has its score

    t_jk = sqrt(free) <r_xj, r_yk>/(|r_xj| |r_yk|)

**Formula.** With S_jk and V_jk the integers of ``gcm_parts.cut_scores`` of the pair,

    S = max_jk |S_jk|,    V = max_jk V_jk

**Guarantee** (``gcm_pairs.proof.md``). A maximum moves no more than what it is taken over: the l1 sensitivity of (S, V)
is K (2 steps + v(steps)) = 2.5 K steps for K deals, **whatever the number of pairs**, for replace-one and add-remove.
(A release of every pair would need p q times the noise of one.) Nothing but the maxima leaves: not which pair it was.

**Null law.** Each S_jk is near normal with the variance of ``gcm_parts``. Scores of different pairs depend on each
other in a way that is not released, so the law of their maximum is bounded: for jointly normal variables
P(max |N_jk| < s) is at least the product of P(|N_jk| < s) (Sidak [2]), whatever their correlations:

    p <= E_noise [1 - (1 - 2 Phi(-(s - noise)/sd))^(p q)]

Exact for independent pairs, conservative for pairs that repeat each other. The maximum over pairs is the statistic of
[1, section 3.2]; there the law comes from a bootstrap of the residual products, which nobody could pay for.

**Cost** as for one pair, and O(p q n) for the scores. **Edge cases**: a column that is constant in a part scores 0.

References: [1] Shah & Peters 2020; [2] Sidak 1967; Kalemaj, Kasiviswanathan & Ramdas 2024, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, ndtr

from dpcausal.core.proofs import proved
from dpcausal.stats.gcm_fit import FIT, Matrix, block_residuals
from dpcausal.stats.gcm_parts import (
    SCORING,
    STEPS,
    VARIANCE_WEIGHT,
    PartPlan,
    Score,
    cut_moments,
    cut_scores,
    cut_sensitivity,
    expected_sum,
    level_cut,
    squares,
)

Scores = NDArray[np.float64]  # t of every pair, and last the rows' own share of the variance
QUADRATURE_POINTS = 2000  # on each side of the middle of the noise
POWER_POINTS = 2000  # quantiles of the noise, of an expected power


def block_pair_scores(x: Matrix, y: Matrix, z: Matrix, discrete: tuple[int, ...], exact: bool) -> Scores:
    """Return t of every pair of a column of x (m x p) and one of y (m x q), y fastest, and own."""
    p, q = x.shape[1], y.shape[1]
    none = np.append(np.zeros(p * q), 1.0)
    if len(x) < 3:
        return none
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    residuals, free, own = block_residuals(x, y, z, discrete, exact)
    size = np.linalg.norm(residuals, axis=0)
    columns = np.linalg.norm(np.column_stack([x, y]), axis=0)
    unit = np.where(size > SCORING.min_residual_share * columns, residuals / np.maximum(size, 1e-300), 0.0)
    return np.append((unit[:, :p].T @ unit[:, p:]).ravel() * math.sqrt(free), own)


def part_pair_scores(x: Matrix, y: Matrix, z: Matrix, discrete: tuple[int, ...], plan: PartPlan) -> Scores:
    """Return t of every pair and own of one part, by blocks of at most ``max_rows``. Silent, whatever the rows are."""
    blocks, exact = max(1, -(-len(x) // plan.max_rows)), plan.deals > 1
    total = np.zeros(x.shape[1] * y.shape[1] + 1)
    for k in range(blocks):
        with np.errstate(all="ignore"):
            try:
                total += block_pair_scores(x[k::blocks], y[k::blocks], z[k::blocks], discrete, exact)
            except (ArithmeticError, np.linalg.LinAlgError):
                total[-1] += 1.0
    return np.append(total[:-1] / math.sqrt(blocks), total[-1] / blocks)


@proved("gcm_pairs.proof.md")
def largest_pair(scores: Sequence[Scores], plan: PartPlan) -> tuple[int, int]:
    """Return (S, V) of the scores of all parts of all deals: integers, exactly.

    >>> largest_pair([np.array([0.5, -1.0, 1.0]), np.array([0.5, -0.5, 1.0])], PartPlan(2, 1, 1.0, 1.0, 720))
    (384, 160)
    """
    pairs = min(len(part) for part in scores) - 1
    cut = [cut_scores([_score(part, k) for part in scores], plan) for k in range(pairs)]
    return max(abs(total) for total, _ in cut), max(variance for _, variance in cut)


@proved("gcm_pairs.proof.md")
def largest_sensitivity() -> int:
    """Return the l1 sensitivity of (S, V) of one deal: 2 steps for S, and the largest v for V.

    >>> largest_sensitivity() == 2.5 * STEPS
    True
    """
    return 2 * STEPS + max(squares())


def _score(part: Scores, k: int) -> Score:
    return float(part[k]), float(part[-1])


def largest_tail(statistic: float, variance: float, scale: float, count: int) -> float:
    """Return the largest P(max |N_k| + Lap(scale) >= statistic) over ``count`` normal N_k of this variance.

    >>> round(largest_tail(2.4, 1.0, 1e-6, 1), 4), round(largest_tail(2.4, 1.0, 1e-6, 3), 4)
    (0.0164, 0.0484)
    """
    sd = math.sqrt(max(variance, 1e-200))
    reach = min(max(30.0 * scale, 10.0 * sd), 700.0 * scale)
    # the noise on a grid that is fine where its density bends and where the maximum falls off
    half = np.linspace(0.0, 1.0, QUADRATURE_POINTS) ** 2 * reach
    around = [-half[::-1], half, statistic - half[::-1], statistic + half]
    noise = np.unique(np.concatenate(around))
    left = statistic - noise
    tail = np.where(left <= 0, 1.0, erfc(np.maximum(left, 0.0) / (sd * math.sqrt(2.0))))
    with np.errstate(divide="ignore"):
        reached = -np.expm1(count * np.log1p(-tail))
    density = np.exp(-np.abs(noise) / scale) / (2 * scale)
    inside = float(np.trapezoid(density * reached, noise))
    beyond = 0.5 * math.exp(-max(float(noise[-1]), 0.0) / scale)
    return min(max(inside + beyond, 0.0), 1.0)


def pairs_pvalue(largest: float, released_variance: float, plan: PartPlan, scale: float, count: int) -> float:
    """Return the p-value of a released (S, V) over ``count`` pairs, ``scale`` that of the noise on each."""
    unit = STEPS * plan.deals
    second, fourth = cut_moments(plan.clip)
    spread = (
        plan.parts * (fourth - second**2) * max(1.0, 2 * math.log(count))
    )  # the largest of so many is above one
    error = math.sqrt(spread + 2 * (scale / (VARIANCE_WEIGHT * unit)) ** 2)
    found = released_variance / (VARIANCE_WEIGHT * unit) - (largest / unit) ** 2 / plan.parts - error
    variance = plan.mixed(plan.floor) * max(plan.parts * second, found)
    return largest_tail(largest, variance * unit**2, scale, count)


def pairs_power(
    n: int, d: int, epsilon: float, level: float, w: float, *, numeric: bool, count: int
) -> float:
    """Return the chance to find a dependence of ``w``, given d columns, at best: public numbers only.

    At best one of the ``count`` pairs has it all, and the others have none. Of unordered levels that is one level which
    differs from all others, these being alike: its indicator then has a correlation of w with a number y, for w = eta,
    and of w with the indicator of a level of y, for Cohen's w. A dependence that is spread over the levels is found
    less often: with k equally common ones its largest correlation may be as small as w/sqrt(k - 1).

    >>> [round(pairs_power(n, 1, 0.2, 0.05, 0.5, numeric=True, count=4), 1) for n in (500, 1000, 2000)]
    [0.1, 0.3, 0.9]
    """
    afford = epsilon * cut_sensitivity() / largest_sensitivity()  # one pair has as little noise at this
    law = expected_sum(n, d, afford, level, w, numeric=numeric)
    cut = _pairs_cut(law.null_variance, law.scale, count, level)
    of_one, of_others = (math.sqrt(max(variance, 1e-12)) for variance in (law.variance, law.null_variance))
    at = (np.arange(POWER_POINTS) + 0.5) / POWER_POINTS
    noise = law.scale * np.sign(0.5 - at) * np.log(2 * np.minimum(at, 1 - at))
    left = np.maximum(cut - noise, 0.0)
    one = ndtr((left - law.mean) / of_one) - ndtr((-left - law.mean) / of_one)
    others = (1.0 - 2.0 * ndtr(-left / of_others)) ** (count - 1)
    return float(np.mean(1.0 - one * others))


@lru_cache(maxsize=256)
def _pairs_cut(variance: float, scale: float, count: int, level: float) -> float:
    """Return the released maximum that has a p-value of ``level``."""
    return level_cut(lambda at: largest_tail(at, variance, scale, count), level, math.sqrt(variance) + scale)


def classical_pairs(x: Matrix, y: Matrix, z: Matrix, discrete: tuple[int, ...] = ()) -> tuple[float, float]:
    """Return the largest |T_jk| without privacy and its p-value by Sidak's bound; fits as in ``classical_gcm``.

    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(300, 1)); x = z + rng.normal(size=(300, 2)); y = x[:, 1:] + rng.normal(size=(300, 1))
    >>> classical_pairs(x, y, z)[1] < 1e-6
    True
    """
    blocks = max(1, -(-len(x) // FIT.block_rows))
    pairs = x.shape[1] * y.shape[1]
    total, variance = np.zeros(pairs), np.zeros(pairs)
    for k in range(blocks):
        part_x, part_y, part_z = x[k::blocks], y[k::blocks], z[k::blocks]
        if len(part_x) < 3:
            continue
        part_x, part_y = part_x - part_x.mean(axis=0), part_y - part_y.mean(axis=0)
        residuals, _, own = block_residuals(part_x, part_y, part_z, discrete)
        of_x, of_y = residuals[:, : x.shape[1]], residuals[:, x.shape[1] :]
        total += (of_x.T @ of_y).ravel()
        variance += (np.square(of_x).T @ np.square(of_y)).ravel() / max(own, 1e-300)
    each = np.divide(np.abs(total), np.sqrt(variance), out=np.zeros(pairs), where=variance > 1e-300)
    statistic = float(each.max(initial=0.0))
    tail = float(erfc(statistic / math.sqrt(2.0)))
    return statistic, -math.expm1(pairs * math.log1p(-tail)) if tail < 1 else 1.0
