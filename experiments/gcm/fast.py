"""Our ``gcm`` and ``crt`` on many repetitions that share Z: the same inner functions, one factorisation for all.

``dc.ci_test`` regresses anew for every data set. Here the repetitions of a batch share the deal of rows into parts
(gcm), and the drawn copies (crt); X, Y and the noise are each repetition's own. ``tests/e2e/test_gcm_reproduce.py``
checks that the scores are those of the package to rounding.
"""

from __future__ import annotations

import math

import numpy as np
from gcm.design import Z_BOUND, Batch, Values, mean_of_x
from gcm.published import LEVEL
from numpy.typing import NDArray
from scipy.linalg import solve

import dpcausal as dc
from dpcausal.citests.continuous_rank import bins_for, blocks_of
from dpcausal.citests.crt import PILOT
from dpcausal.citests.question import Question
from dpcausal.core.neighbours import Neighbours
from dpcausal.privacy.mechanisms.grid import INTEGERS
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.noisy_max import NoisyMax
from dpcausal.privacy.mechanisms.noisy_rank import NoisyRank
from dpcausal.stats.continuous_rank import ranked as ranks_of
from dpcausal.stats.crt import crt_sensitivity, rank_scores, standardised
from dpcausal.stats.gcm import PENALTY, block_kernel
from dpcausal.stats.gcm_parts import (
    LEAST,
    MOST_ROWS,
    SCALE,
    STEPS,
    cut_scores,
    cut_sensitivity,
    part_plan,
    squares_share,
)
from dpcausal.stats.kendall_null import laplace_tail

REPLACE = Neighbours.REPLACE_ONE


def block_scores(x: Values, y: Values, z: Values) -> Values:
    """``stats.gcm_parts.block_score`` of every column."""
    m = len(x)
    if m < 3:
        return np.zeros(x.shape[1])
    x, y = x - x.mean(0), y - y.mean(0)
    left = PENALTY * solve(block_kernel(z, ()), np.hstack([x, y]), assume_a="pos", check_finite=False)
    u, v = left[:, : x.shape[1]], left[:, x.shape[1] :]
    size_u, size_v = np.linalg.norm(u, axis=0), np.linalg.norm(v, axis=0)
    enough = (size_u > LEAST * np.linalg.norm(x, axis=0)) & (size_v > LEAST * np.linalg.norm(y, axis=0))
    found = (u * v).sum(0) / np.where(enough, size_u * size_v, 1.0) * math.sqrt(SCALE * m)
    return np.where(enough, found, 0.0)


def part_scores(x: Values, y: Values, z: Values) -> Values:
    """``stats.gcm_parts.part_score`` of every column."""
    blocks = max(1, -(-len(x) // MOST_ROWS))
    scores = [block_scores(x[k::blocks], y[k::blocks], z[k::blocks]) for k in range(blocks)]
    return np.asarray(np.sum(scores, axis=0) / math.sqrt(blocks), np.float64)


def gcm_pvalues(
    x: Values, y: Values, z: Values, epsilon: float, rng: np.random.Generator, seed: int
) -> Values:
    """p-values of ``gcm`` with its default variant, x, y and z in [0, 1]."""
    scores, clip = dealt_scores(x, y, z, epsilon, rng)
    return released_pvalues(scores, clip, epsilon, seed)


def dealt_scores(
    x: Values, y: Values, z: Values, epsilon: float, rng: np.random.Generator
) -> tuple[Values, float]:
    """(scores, cut): a row a part, a column a repetition; one deal of the rows for all."""
    n, d = z.shape
    parts, clip = part_plan(n, d, epsilon, LEVEL)
    dealt = np.array_split(rng.permutation(n), parts)
    return np.array([part_scores(x[rows], y[rows], z[rows]) for rows in dealt]), clip


def released_pvalues(scores: Values, clip: float, epsilon: float, seed: int) -> Values:
    """Cut, release with noise, and test: one column a repetition."""
    weight = squares_share(epsilon)
    mechanism = Laplace(
        sensitivity=float(cut_sensitivity(weight)), epsilon=epsilon, neighbours=REPLACE, size=2, grid=INTEGERS
    )
    found = []
    with dc.testing.seeded(seed):
        for column in scores.T:
            total, spread = mechanism.sample(np.array(cut_scores(column.tolist(), clip, weight)))
            found.append(laplace_tail(float(total), float(spread) * STEPS / weight, mechanism.scale))
    return np.array(found)


def gcm_batch(batch: Batch, rng: np.random.Generator, seed: int) -> Values:
    """p-values of a batch."""
    z = np.clip((batch.z + Z_BOUND) / (2 * Z_BOUND), 0, 1)
    return gcm_pvalues((batch.unit_x + 1) / 2, (batch.unit_y + 1) / 2, z, batch.cell.epsilon, rng, seed)


def crt_statistics(batch: Batch, copies: int, rng: np.random.Generator, data: dc.Dataset) -> Values:
    """T of the real column, then of the copies; one column a repetition. ``data`` is any of the batch's data sets."""

    def drawn(count: int) -> Values:
        mean = mean_of_x(batch.z, batch.cell.s, batch.cell.shape)
        return mean[:, None] + rng.standard_normal((batch.cell.n, count))

    pilot = drawn(PILOT)
    centre = pilot.mean(1, keepdims=True)
    spread = pilot.std(1, keepdims=True)
    question = Question.of(data.schema, "x", "y", [name for name in data.schema if name not in ("x", "y")])
    block, k = blocks_of(question, data, bins_for(question, data, "auto", batch.cell.n))
    scores = np.column_stack([rank_scores(ranks_of(y), block, k) for y in (batch.unit_y * batch.bound_y).T])
    real = np.clip(batch.x, -batch.bound_x, batch.bound_x)
    return np.abs(
        np.vstack(
            [
                (cut(real, centre, spread) * scores).sum(0)[None],
                cut(np.clip(drawn(copies), -batch.bound_x, batch.bound_x), centre, spread).T @ scores,
            ]
        )
    )


def cut(x: Values, centre: Values, spread: Values) -> Values:
    """``stats.crt.standardised`` of every column."""
    return standardised(x, np.broadcast_to(centre, x.shape), np.broadcast_to(spread, x.shape))


def crt_decisions(statistics: Values, epsilon: float, seed: int) -> NDArray[np.bool_]:
    """Which columns reject, by ``NoisyRank``."""
    size = len(statistics)
    mechanism = NoisyRank(
        sensitivity=crt_sensitivity(REPLACE, "ranks"),
        epsilon=epsilon,
        size=size,
        largest=math.floor(LEVEL * size + 1e-9),
    )
    with dc.testing.seeded(seed):
        return np.array([mechanism.sample(column) for column in statistics.T])


def crt_rank_pvalues(statistics: Values, epsilon: float, seed: int) -> Values:
    """p-values of ``release="rank"``."""
    mechanism = NoisyMax(sensitivity=1.0, epsilon=epsilon, neighbours=REPLACE)
    ordered = -np.sort(-statistics, axis=0)
    scores = -np.abs(ordered - statistics[0]) / (2 * crt_sensitivity(REPLACE, "ranks"))
    with dc.testing.seeded(seed):
        ranks = [mechanism.sample(column) for column in scores.T]
    return np.array([(1 + rank) / len(statistics) for rank in ranks])
