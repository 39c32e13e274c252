"""The generalised covariance measure on disjoint parts of the rows: scores of parts, cut, added, averaged over deals.

Row labels say which part a row is in and do not depend on its values.

**Formula.** In part c of deal k both columns are regressed on z (``stats/gcm_fit.py``, but any means would do) and

    t = sqrt(free) <r_x, r_y>/(|r_x| |r_y|),    p = round(steps |cut(t/clip)|),    q = +-round(steps w |cut(t/clip)|)
    S = sum_k sum_c q,    V = sum_k sum_c v(p),    v(p) = p^2/(2 steps), rounded;  w <= 1 below

**Guarantee** (``gcm_parts.proof.md``). One row changes one part of every deal, so one pair (q, p) for each of the K
deals, whatever the regression does: no bound on x, y, z, on lambda or on the bandwidth is needed, and ranks, which no
global test could use, are allowed. l1 sensitivity of the integers (S, V): K max over p, p' of p + p' + |v(p) - v(p')| =
2 K steps, by enumeration. So the mean over deals costs no more noise than one deal, and V costs none at all. The same
for replace-one and add-remove, if labels are drawn row by row.

**Null law.** t has mean near 0 (cov(<r_x, r_y>, |r_x| |r_y|) vanishes under the null) and variance 1. A fit mixes a row
with others of its part; dealt anew it is mixed with others, and the mean over deals loses what the mixing added: its
variance is that of one deal times

    r = own + (1 - own)(1/K + 1/P - 1/(K P)),     P parts, own from the fit

own differs between parts and depends on rows, so w = sqrt(r(floor)/r(own)) brings every part to the r of the public
floor (a half; one where no number is conditioned on), and S/(K steps) has variance P r(floor) E cut^2. V replaces that
where it says, beyond its own error, that scores vary more (unequal variances of the errors). The p-value is that of a
normal variable plus the noise (``stats/noisy_normal.py``).

**Weights.** x and y may depend on each other given z although the residual products R average out, positive for some z
and negative for others. Weights w(z) that follow the sign find it [1]. In one half of the part both columns are
regressed on z and R on features of z (1, a line and a wave in the ranks of every number, every frequent code):

    b = (F'F + I)^-1 F'R,      w(z) = features(z) b

and in the other half, regressed by itself,

    t = sum w R tr(Q^2)/(|r_x| |r_y| sqrt(sum_ij w_i w_j ((Q^2)_ij)^2))

which under the null has mean 0 and variance 1 whatever w is, since w comes from other rows; under dependence that the
features capture it is positive, so the test is one-sided. The guarantee is the same: it is for any score.

**Several columns.** For x of p columns and y of q (several columns of a table, or the indicators of levels without an
order) one regression in every part takes z out of all p + q columns, and each pair (j, k) has its score t_jk and its
integers S_jk and V_jk. Released are

    S = max_jk |S_jk|,    V = max_jk V_jk

A maximum moves no more than what it is taken over (``gcm_pairs.proof.md``): the l1 sensitivity of (S, V) is
K (2 steps + v(steps)) = 2.5 K steps, **whatever the number of pairs**; a release of every pair would need p q times
the noise of one. Nothing but the maxima leaves: not which pair it was. Scores of different pairs depend on each other
in a way that is not released, so the null law of their maximum is bounded: for jointly normal variables
P(max |N_jk| < s) is at least the product of P(|N_jk| < s) (Sidak [3]), whatever their correlations:

    p <= E_noise [1 - (1 - 2 Phi(-(s - noise)/sd))^(p q)]

Exact for independent pairs, conservative for pairs that repeat each other. The maximum over pairs is the statistic of
[2, section 3.2]; there the law comes from a bootstrap of the residual products, which nobody could pay for.

**Cost** 3 to 5 K n m^2 for parts of m rows, and O(p q n) for the scores of pairs. **Edge cases**: an empty part, fewer
than three rows (six with weights) or a constant column score 0.

References: [1] Scheidegger, Hoerrmann & Buehlmann 2022; [2] Shah & Peters 2020; [3] Sidak 1967; Kalemaj,
Kasiviswanathan & Ramdas 2024, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, ndtr, ndtri

from dpcausal.core.proofs import proved
from dpcausal.stats.gcm_fit import FIT, Matrix, Vector, block_kernel, block_residuals, matrix, smoother
from dpcausal.stats.noisy_normal import laplace_tail

Score = tuple[float, float]  # t and the rows' own share of its variance
Scores = NDArray[np.float64]  # t of every pair of columns, and last the rows' own share of the variance
BlockScore = Callable[[Matrix, Matrix, Matrix, tuple[int, ...], bool], Scores]

# the sensitivity rests on these two: plain constants, so that the hash of the proof covers them
STEPS = 256  # grid steps of a score cut at one clip
VARIANCE_WEIGHT = 0.5  # of V
QUADRATURE_POINTS = 2000  # of a maximum's law, on each side of the middle of the noise
POWER_POINTS = 2000  # quantiles of the noise, of an expected power


@dataclass(frozen=True)
class ScoreSettings:
    """Constants of scores and plans, found by simulation (``docs/gcm.md``). No guarantee rests on them."""

    min_residual_share: float = 1e-12  # residuals below this share of the column are rounding
    deals: tuple[tuple[int, int], ...] = (
        (2_000, 8),
        (5_000, 4),
        (20_000, 2),
    )  # by the number of rows, at most
    fit_rows: int = 720  # most rows of one fit up to that many rows
    fit_rows_beyond: int = 320  # the same for more rows
    min_rows: int = 24  # of a part
    min_rows_per_column: int = 7  # more of them for each conditioning column
    max_clip: float = 3.0  # the clip lies between 1 and this
    max_codes: int = 8  # the most frequent codes of a column have a feature each
    min_weighted_rows: int = 6  # of a part that is scored with weights


SCORING = ScoreSettings()


@dataclass(frozen=True)
class PartPlan:
    """How rows are dealt into parts and where scores are clipped: public numbers."""

    parts: int  # that the rows are dealt into
    deals: int  # how often they are dealt
    clip: float  # of scores
    floor: float  # the least own share of the variance
    max_rows: int  # of one fit

    def mixed(self, own: float) -> float:
        """Return the variance of the mean over several deals, relative to that of one deal.

        >>> PartPlan(14, 8, 1.0, 0.5, 720).mixed(1.0), PartPlan(14, 1, 1.0, 0.5, 720).mixed(0.5)
        (1.0, 1.0)
        """
        return own + (1 - own) * (1 - (1 - 1 / self.deals) * (1 - 1 / self.parts))


def block_score(
    x: Vector | Matrix, y: Vector | Matrix, z: Matrix, discrete: tuple[int, ...], exact: bool = True
) -> Scores:
    """Return the gcm score of every pair of columns of x and y in a block of rows, and the rows' own share.

    ``discrete`` are the positions of the columns of z that hold codes; ``exact`` computes the own share, which is 1
    else.
    """
    x, y = matrix(x), matrix(y)
    p = x.shape[1]
    if len(x) < 3:
        return np.append(np.zeros(p * y.shape[1]), 1.0)
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    residuals, free, own = block_residuals(x, y, z, discrete, exact)
    size = np.linalg.norm(residuals, axis=0)
    columns = np.linalg.norm(np.column_stack([x, y]), axis=0)
    unit = np.where(size > SCORING.min_residual_share * columns, residuals / np.maximum(size, 1e-300), 0.0)
    return np.append((unit[:, :p].T @ unit[:, p:]).ravel() * math.sqrt(free), own)


def part_score(
    x: Vector | Matrix,
    y: Vector | Matrix,
    z: Matrix,
    discrete: tuple[int, ...],
    plan: PartPlan,
    score: BlockScore = block_score,
) -> Scores:
    """Return the gcm scores of one part (one for each pair of columns), and the own share.

    Silent, since a warning or an exception would tell of the rows.
    """
    blocks, exact = max(1, -(-len(x) // plan.max_rows)), plan.deals > 1
    total = np.zeros(matrix(x).shape[1] * matrix(y).shape[1] + 1)
    for k in range(blocks):
        with np.errstate(all="ignore"):
            try:
                total += score(x[k::blocks], y[k::blocks], z[k::blocks], discrete, exact)
            except (ArithmeticError, np.linalg.LinAlgError):
                total[-1] += 1.0
    return np.append(total[:-1] / math.sqrt(blocks), total[-1] / blocks)


@lru_cache(maxsize=1)
@proved("gcm_parts.proof.md")
def squares() -> tuple[int, ...]:
    """Return the contribution to the variance of a score of 0 ... STEPS steps."""
    return tuple(round(VARIANCE_WEIGHT * p * p / STEPS) for p in range(STEPS + 1))


@proved("gcm_parts.proof.md")
def cut_scores(scores: Sequence[Score], plan: PartPlan) -> tuple[int, int]:
    """Return the sum S of clipped scores over all parts and deals, and its variance V, in whole steps.

    >>> cut_scores([(0.5, 1.0), (-3.0, 1.0), (float("nan"), 1.0)], PartPlan(3, 1, 1.0, 1.0, 720))
    (-128, 160)
    """
    table = squares()
    total = variance = 0
    for t, own in scores:
        size = min(abs(t) / plan.clip, 1.0) if math.isfinite(t) else 0.0
        weight = math.sqrt(plan.mixed(plan.floor) / plan.mixed(own)) if 0.0 <= own <= 1.0 else 1.0
        q = round(STEPS * size * min(weight, 1.0))
        total, variance = total + (q if t > 0 else -q), variance + table[round(STEPS * size)]
    return total, variance


@lru_cache(maxsize=1)
@proved("gcm_parts.proof.md")
def cut_sensitivity() -> int:
    """Return the l1 sensitivity of ``cut_scores`` for one deal.

    >>> cut_sensitivity() == 2 * STEPS
    True
    """
    p, v = np.arange(STEPS + 1), np.array(squares())
    return int((p[:, None] + p[None, :] + np.abs(v[:, None] - v[None, :])).max())


@proved("gcm_pairs.proof.md")
def largest_pair(scores: Sequence[Scores], plan: PartPlan) -> tuple[int, int]:
    """Return the largest |S| and the largest V of ``cut_scores`` over all pairs of columns.

    >>> largest_pair([np.array([0.5, -1.0, 1.0]), np.array([0.5, -0.5, 1.0])], PartPlan(2, 1, 1.0, 1.0, 720))
    (384, 160)
    """
    pairs = min(len(part) for part in scores) - 1
    cut = [cut_scores([_score(part, k) for part in scores], plan) for k in range(pairs)]
    return max(abs(total) for total, _ in cut), max(variance for _, variance in cut)


@proved("gcm_pairs.proof.md")
def largest_sensitivity() -> int:
    """Return the l1 sensitivity of ``largest_pair`` for one deal.

    >>> largest_sensitivity() == 2.5 * STEPS
    True
    """
    return 2 * STEPS + max(squares())


def _score(part: Scores, k: int) -> Score:
    """Return the score of pair k of one part, with the own share."""
    return float(part[k]), float(part[-1])


def largest_tail(statistic: float, variance: float, scale: float, count: int) -> float:
    """Return a bound on P(max over ``count`` normals + Laplace noise >= statistic), whatever their dependence.

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


def cut_moments(clip: float) -> tuple[float, float]:
    """Return the second and fourth moments of a standard normal clipped at ``clip``, in units of clip.

    >>> [round(moment, 4) for moment in cut_moments(1.0)]
    [0.5161, 0.4296]
    """
    inside, outside = 2 * float(ndtr(clip)) - 1, 2 * float(ndtr(-clip))
    density = math.exp(-clip * clip / 2) / math.sqrt(2 * math.pi)
    second = (inside - 2 * clip * density) / clip**2
    fourth = (3 * inside - 2 * density * (clip**3 + 3 * clip)) / clip**4
    return second + outside, fourth + outside


def part_pvalue(
    total: float,
    released_variance: float,
    plan: PartPlan,
    scale: float,
    one_sided: bool = False,
    pairs: int = 1,
) -> float:
    """Return the p-value of a released (S, V).

    Parameters
    ----------
    total, released_variance
        S and V.
    plan
        How rows were dealt.
    scale
        The scale of the noise on each of the two.
    one_sided
        Whether only S above 0 is evidence against independence.
    pairs
        The number of pairs of columns that S is the maximum over.
    """
    unit = STEPS * plan.deals
    second, fourth = cut_moments(plan.clip)
    above = max(1.0, 2 * math.log(pairs))  # the largest of several estimates is above one
    error = math.sqrt(plan.parts * (fourth - second**2) * above + 2 * (scale / (VARIANCE_WEIGHT * unit)) ** 2)
    found = released_variance / (VARIANCE_WEIGHT * unit) - (total / unit) ** 2 / plan.parts - error
    variance = plan.mixed(plan.floor) * max(plan.parts * second, found) * unit**2
    if pairs > 1:
        return largest_tail(total, variance, scale, pairs)
    both = laplace_tail(total, variance, scale)
    return both if not one_sided else both / 2 if total > 0 else 1 - both / 2


def part_plan(n: int, d: int, epsilon: float, level: float = 0.05, numeric: bool = True) -> PartPlan:
    """Return the plan of dealing n rows into parts, for d conditioning columns: public numbers only.

    Enough parts that the noise (2 clip/epsilon) is no more than the parts' own spread, and that a dependence which
    every part sees is significant at this level (about 20/epsilon + 4 at .05); no fit above 720 rows (320 from 20,000
    rows on), none below 24 + 7 d. With more parts than that the clip widens, up to 3, which keeps skewed errors from
    shifting the sum.

    >>> plan = part_plan(1000, 1, 2.0)
    >>> plan.parts, plan.deals, plan.clip, part_plan(1_000_000, 5, 1.0).parts
    (14, 8, 1.0, 3125)
    """
    max_rows = SCORING.fit_rows if n <= SCORING.deals[-1][0] else SCORING.fit_rows_beyond
    visible = 4.4 * (math.log(1 / level) + 1.6) / epsilon + float(ndtri(level / 2)) ** 2
    wanted = math.ceil(max(15 / epsilon**2, visible, n / max_rows))
    parts = max(1, min(wanted, n // (SCORING.min_rows + SCORING.min_rows_per_column * d)))
    clip = min(max(epsilon * math.sqrt(parts) / 8, 1.0), SCORING.max_clip)
    deals = next((count for rows, count in SCORING.deals if n <= rows), 1)
    return PartPlan(parts, deals, clip, FIT.min_free if numeric and d else 1.0, max_rows)


OWN_SHARE = 0.8  # of the variance of a score, about, that is the rows' own
DOF_PER_COLUMN = 3  # that a regression on ranks takes, about


class ExpectedSum(NamedTuple):
    """Law of a sum of clipped scores, in clips: mean and variance under a dependence, variance without, noise scale."""

    mean: float
    variance: float
    null_variance: float
    scale: float


def expected_sum(n: int, d: int, epsilon: float, level: float, w: float, *, numeric: bool) -> ExpectedSum:
    """Return the distribution of S, the sum of the cut scores of all parts, for a correlation of ``w`` given d columns.

    Before it is cut, the score of a part of m rows has mean w sqrt(m - 1 - 3 d) and variance 1. From public numbers.
    """
    plan = part_plan(n, d, epsilon, level, numeric=numeric)
    fits = max(1, -(-n // (plan.parts * plan.max_rows)))
    free = max(n / plan.parts - fits * (1 + DOF_PER_COLUMN * d), 0.0)
    weight = math.sqrt(plan.mixed(plan.floor) / plan.mixed(max(OWN_SHARE, plan.floor)))
    first, second = _cut_law(w * math.sqrt(free), plan.clip)
    unit = plan.mixed(plan.floor) * plan.parts
    null = unit * cut_moments(plan.clip)[0]
    return ExpectedSum(plan.parts * weight * first, unit * max(second - first**2, 0.0), null, 2.0 / epsilon)


def part_power(n: int, d: int, epsilon: float, level: float, w: float, *, numeric: bool) -> float:
    """Return an upper bound on the power for a correlation of ``w`` given d columns: public numbers only.

    >>> [round(part_power(n, 2, 1.0, 0.05, 0.15, numeric=True), 1) for n in (500, 1500, 5000)]
    [0.3, 1.0, 1.0]
    """
    law = expected_sum(n, d, epsilon, level, w, numeric=numeric)
    spread = math.sqrt(law.null_variance) + law.scale
    cut = level_cut(lambda at: laplace_tail(at, law.null_variance, law.scale), level, spread)

    def above(at: float) -> float:
        tail = laplace_tail(at, law.variance, law.scale) / 2
        return tail if at > 0 else 1.0 - tail

    return above(cut - law.mean) + above(cut + law.mean)


def pairs_power(
    n: int, d: int, epsilon: float, level: float, w: float, *, numeric: bool, count: int
) -> float:
    """Return an upper bound on the power for a dependence of ``w`` over ``count`` pairs: public numbers only.

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
    """Return the released maximum whose p-value is ``level``."""
    return level_cut(lambda at: largest_tail(at, variance, scale, count), level, math.sqrt(variance) + scale)


def level_cut(tail: Callable[[float], float], level: float, unit: float) -> float:
    """Return the point at which the decreasing function ``tail`` reaches ``level``; ``unit`` is its scale.

    >>> round(level_cut(lambda at: math.exp(-at), 0.05, 1.0), 4)
    2.9957
    """
    low, high = 0.0, unit
    while tail(high) > level and high < 1e6 * unit:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > level else (low, middle)
    return high


def _cut_law(mean: float, clip: float) -> tuple[float, float]:
    """Return the first two moments of a unit-variance normal of this mean clipped at ``clip``, in clips.

    >>> _cut_law(0.0, 1.0)[1] == cut_moments(1.0)[0], [round(moment, 6) for moment in _cut_law(50.0, 2.0)]
    (True, [1.0, 1.0])
    """
    low, high = -clip - mean, clip - mean
    inside = float(ndtr(high) - ndtr(low))
    at_low, at_high = (math.exp(-end * end / 2) / math.sqrt(2 * math.pi) for end in (low, high))
    first = mean * inside + at_low - at_high
    second = mean * first + mean * (at_low - at_high) + inside + low * at_low - high * at_high
    above, below = float(ndtr(-high)), float(ndtr(low))
    return first / clip + above - below, second / clip**2 + above + below


def weight_features(z: Matrix, base: Matrix, discrete: tuple[int, ...]) -> Matrix:
    """Return the features of rows ``z`` from which weights are fitted, ranked as in ``base``.

    >>> weight_features(np.array([[1.0], [9.0]]), np.array([[0.0], [5.0]]), ()).round(6).tolist()
    [[1.0, 0.0, -1.0], [1.0, 1.0, 1.0]]
    """
    found = [np.ones(len(z))]
    for j in range(z.shape[1]):
        if j in discrete:
            codes, count = np.unique(base[:, j], return_counts=True)
            frequent = codes[np.argsort(-count, kind="stable")[: SCORING.max_codes]]
            found += [np.asarray(z[:, j] == code, dtype=np.float64) for code in frequent]
        else:
            place = np.searchsorted(np.sort(base[:, j]), z[:, j]) / max(len(base), 1)
            found += [2 * place - 1, np.cos(2 * math.pi * place)]
    return np.column_stack(found)


def weighted_score(x: Vector, y: Vector, z: Matrix, discrete: tuple[int, ...], exact: bool = True) -> Scores:
    """Return the weighted gcm score of one block, and 1: half of the rows fit the weights, half are tested."""
    del exact
    nothing = np.array([0.0, 1.0])
    if len(x) < SCORING.min_weighted_rows:
        return nothing
    halves = [np.column_stack([x[k::2] - x[k::2].mean(), y[k::2] - y[k::2].mean()]) for k in (0, 1)]
    fits = [
        smoother(block_kernel(half[:, 0], half[:, 1], z[k::2], discrete)) for k, half in enumerate(halves)
    ]
    residuals = [fit.matrix @ half for fit, half in zip(fits, halves, strict=True)]
    size = np.linalg.norm(residuals[1], axis=0)
    if not np.all(size > SCORING.min_residual_share * np.linalg.norm(halves[1], axis=0)):
        return nothing
    first = residuals[0] / np.maximum(np.linalg.norm(residuals[0], axis=0), 1e-300)
    design = weight_features(z[0::2], z[0::2], discrete)
    gram = design.T @ design + np.eye(design.shape[1])
    weights = weight_features(z[1::2], z[0::2], discrete) @ np.linalg.solve(
        gram, design.T @ first.prod(axis=1)
    )
    square = fits[1].matrix @ fits[1].matrix
    variance = float(weights @ np.square(square) @ weights)
    if not variance > 0.0:
        return nothing
    # residuals by their sizes first: products of tiny ones would vanish
    total = float(weights @ (residuals[1] / size).prod(axis=1)) * float(np.trace(square))
    return np.array([total / math.sqrt(variance), 1.0])
