"""Our ``gcm`` and ``crt`` on many repetitions that share Z: the same inner functions, one factorisation for all.

``dc.ci_test`` regresses anew for every data set. Here the data sets on one draw of Z share the deal of rows into parts
(gcm), and those of a batch the drawn copies (crt); X, Y and the noise are each repetition's own, the noise from numpy.
``tests/e2e/test_gcm_reproduce.py`` checks that the scores are those of the package to rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

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
from dpcausal.stats.gcm import LEFT, PENALTY, STEP, block_kernel, signs
from dpcausal.stats.gcm_parts import (
    LEAST,
    MOST_ROWS,
    STEPS,
    cut_scores,
    cut_sensitivity,
    part_plan,
    squares_share,
)
from dpcausal.stats.kendall_null import laplace_pvalue
from gcm.design import Z_BOUND, Batch, Values, mean_of_x
from gcm.published import LEVEL

REPLACE = Neighbours.REPLACE_ONE


@dataclass
class Deal:
    """Rows dealt into parts, each part into blocks; one factorisation a block, for every x and y on these points."""

    z: Values
    epsilon: float
    seed: int

    @cached_property
    def plan(self) -> tuple[int, float]:
        """(parts, cut), as the package plans them."""
        return part_plan(*self.z.shape, self.epsilon, LEVEL)

    @cached_property
    def parts(self) -> list[list[Block]]:
        """Of every part its blocks, cut as ``stats.gcm_parts.part_score`` does."""
        dealt = np.array_split(np.random.default_rng(self.seed).permutation(len(self.z)), self.plan[0])
        counts = [max(1, -(-len(rows) // MOST_ROWS)) for rows in dealt]
        return [
            [block_of(self.z, rows[k::count]) for k in range(count)]
            for rows, count in zip(dealt, counts, strict=True)
        ]

    def scores(self, x: Values, y: Values) -> Values:
        """One row a part, one column a repetition."""
        return np.array(
            [sum(block_scores(x, y, block) for block in part) / math.sqrt(len(part)) for part in self.parts]
        )


@dataclass(frozen=True)
class Block:
    """Some rows, the factor of K + penalty I there, and the degrees of freedom left."""

    rows: NDArray[np.int64]
    factor: tuple[Values, bool]
    penalty: float
    free: float


def block_of(z: Values, rows: NDArray[np.int64]) -> Block:
    """As ``stats.gcm.block_residuals`` chooses the penalty."""
    m, penalty = len(rows), PENALTY
    kernel = block_kernel(z[rows], ())
    while True:
        factor = cho_factor(kernel + penalty * np.eye(m), lower=True, check_finite=False)
        once = penalty * cho_solve(factor, signs(m), check_finite=False)
        twice = penalty * cho_solve(factor, once, check_finite=False)
        free = m * float(np.square(once).mean()) ** 2 / max(float(np.square(twice).mean()), 1e-300)
        if free >= LEFT * m or penalty > m:
            return Block(rows, factor, penalty, free)
        penalty *= STEP


def block_scores(x: Values, y: Values, block: Block) -> Values:
    """``stats.gcm_parts.block_score`` of every column."""
    x, y, reps = x[block.rows], y[block.rows], x.shape[1]
    if len(x) < 3:
        return np.zeros(reps)
    x, y = x - x.mean(0), y - y.mean(0)
    left = block.penalty * cho_solve(block.factor, np.hstack([x, y]), check_finite=False)
    u, v = left[:, :reps], left[:, reps:]
    size_u, size_v = np.linalg.norm(u, axis=0), np.linalg.norm(v, axis=0)
    enough = (size_u > LEAST * np.linalg.norm(x, axis=0)) & (size_v > LEAST * np.linalg.norm(y, axis=0))
    found = (u * v).sum(0) / np.where(enough, size_u * size_v, 1.0) * math.sqrt(block.free)
    return np.where(enough, found, 0.0)


def discrete_laplace(rng: np.random.Generator, scale: float, shape: tuple[int, ...]) -> Values:
    """The law of ``privacy.noise.discrete_laplace``, P(L = i) ~ exp(-|i|/scale), from numpy: for simulation only."""
    p = -math.expm1(-1 / scale)
    return np.asarray(rng.geometric(p, shape) - rng.geometric(p, shape), np.float64)


def released_pvalues(scores: Values, clip: float, epsilon: float, rng: np.random.Generator) -> Values:
    """Cut, release with noise, and test: one column a repetition."""
    weight = squares_share(epsilon)
    mechanism = Laplace(
        sensitivity=float(cut_sensitivity(weight)), epsilon=epsilon, neighbours=REPLACE, size=2, grid=INTEGERS
    )
    cuts = np.array([cut_scores(column, clip, weight) for column in scores.T.tolist()], np.float64)
    total, spread = (cuts + discrete_laplace(rng, mechanism.scale, cuts.shape)).T
    return np.asarray(laplace_pvalue(total, spread * STEPS / weight, mechanism.scale), np.float64)


def gcm_batch(batch: Batch, deal: Deal, rng: np.random.Generator) -> Values:
    """p-values of a batch."""
    scores = deal.scores((batch.unit_x + 1) / 2, (batch.unit_y + 1) / 2)
    return released_pvalues(scores, deal.plan[1], batch.cell.epsilon, rng)


def unit_z(z: Values) -> Values:
    """Clamped to the public bounds and scaled to [0, 1]."""
    return np.clip((z + Z_BOUND) / (2 * Z_BOUND), 0, 1)


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


def crt_decisions(statistics: Values, epsilon: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which columns reject, as ``NoisyRank`` decides."""
    size = len(statistics)
    largest = math.floor(LEVEL * size + 1e-9)
    mechanism = NoisyRank(
        sensitivity=crt_sensitivity(REPLACE, "ranks"), epsilon=epsilon, size=size, largest=largest
    )
    integers = np.rint(statistics / mechanism.on.step)
    noisy = integers + discrete_laplace(rng, mechanism.steps, statistics.shape)
    return np.asarray((noisy[1:] >= noisy[0]).sum(0) < largest)


def crt_rank_pvalues(statistics: Values, epsilon: float, rng: np.random.Generator) -> Values:
    """p-values of ``release="rank"``: ``NoisyMax`` over ranks."""
    mechanism = NoisyMax(sensitivity=1.0, epsilon=epsilon, neighbours=REPLACE)
    ordered = -np.sort(-statistics, axis=0)
    scores = -np.abs(ordered - statistics[0]) / (2 * crt_sensitivity(REPLACE, "ranks"))
    integers = np.rint(scores / mechanism.on.step)
    noise = rng.geometric(-math.expm1(-1 / mechanism.scale), scores.shape)
    return np.asarray((1 + np.argmax(integers + noise, axis=0)) / len(statistics), np.float64)
