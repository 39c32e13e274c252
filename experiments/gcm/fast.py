"""Our ``gcm`` and ``crt`` on many repetitions that share Z: the same inner functions, one factorisation for all.

``dc.ci_test`` regresses anew for every data set. Here the data sets on one draw of Z share the deal of rows into parts
(gcm), and those of a batch the drawn copies (crt); X, Y and the noise are each repetition's own, the noise from numpy.
``tests/e2e/test_gcm_reproduce.py`` checks that the scores are those of the package to rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import dpcausal as dc
from dpcausal.citests.base import Question
from dpcausal.citests.crt import PILOT_DRAWS
from dpcausal.citests.rank import bins_for, blocks_of
from dpcausal.core.neighbours import Neighbours
from dpcausal.privacy.mechanisms.additive import Laplace
from dpcausal.privacy.mechanisms.base import INTEGERS
from dpcausal.privacy.mechanisms.noisy_rank import NoisyRank
from dpcausal.privacy.mechanisms.selection import NoisyMax
from dpcausal.stats.crt import crt_sensitivity, rank_scores, standardised
from dpcausal.stats.gcm_fit import (
    FIT,
    Smoother,
    ranked,
    rough_kernel,
    smooth_kernel,
    smooth_residuals,
    smoother,
    turning,
)
from dpcausal.stats.gcm_parts import PartPlan, cut_scores, cut_sensitivity, part_plan, part_pvalue
from dpcausal.stats.value_ranks import ranked as ranks_of
from gcm.design import Z_BOUND, Batch, Values, mean_of_x
from gcm.published import LEVEL

REPLACE = Neighbours.REPLACE_ONE
MOST_KEPT = 8  # smoothers of one part


@dataclass
class Deal:
    """Rows dealt into parts, several times over; one fit a part (and pattern of turns) for every x and y there."""

    z: Values
    epsilon: float
    seed: int

    @cached_property
    def plan(self) -> PartPlan:
        """As the package plans."""
        n, d = self.z.shape
        return part_plan(n, d, self.epsilon, LEVEL)

    @cached_property
    def parts(self) -> list[Part]:
        """The parts of all deals."""
        rng = np.random.default_rng(self.seed)
        return [
            Part(self.z[rows], rows)
            for _ in range(self.plan.deals)
            for rows in np.array_split(rng.permutation(len(self.z)), self.plan.parts)
        ]

    def scores(self, x: Values, y: Values) -> tuple[Values, Values]:
        """(t, own): one row a part of a deal, one column a repetition."""
        both = [part.scores(x[part.rows], y[part.rows]) for part in self.parts]
        return np.array([t for t, _ in both]), np.array([own for _, own in both])


@dataclass
class Part:
    """The points of one part; smoothers by pattern of turns."""

    z: Values
    rows: NDArray[np.int64]
    kept: dict[tuple[int, ...], Smoother] = field(default_factory=dict, repr=False)

    @cached_property
    def smooth(self) -> Values:
        """The smooth part of the kernel."""
        return smooth_kernel(self.z, self.ranks, ())

    @cached_property
    def ranks(self) -> Values:
        """The points as ranks."""
        return ranked(self.z, ())

    def smoother(self, tops: tuple[int, ...]) -> Smoother:
        """Q for this pattern."""
        if tops not in self.kept:
            if len(self.kept) > MOST_KEPT:
                self.kept.clear()
            self.kept[tops] = smoother(self.smooth + rough_kernel(self.ranks, (), np.array(tops)))
        return self.kept[tops]

    def scores(self, x: Values, y: Values) -> tuple[Values, Values]:
        """``stats.gcm_parts.block_score`` of every column."""
        reps = x.shape[1]
        if len(x) < 3:
            return np.zeros(reps), np.ones(reps)
        x, y = x - x.mean(0), y - y.mean(0)
        tops = np.zeros((reps, self.z.shape[1]), np.int64)
        if len(x) >= FIT.min_turn_rows:
            left = smooth_residuals(self.smooth, np.hstack([x, y]))
            tops = turning(self.z, left[:, :reps], left[:, reps:], ())
        t, own = np.zeros(reps), np.ones(reps)
        for pattern in np.unique(tops, axis=0):
            same = np.flatnonzero((tops == pattern).all(axis=1))
            fit = self.smoother(tuple(pattern.tolist()))
            u, v = fit.matrix @ x[:, same], fit.matrix @ y[:, same]
            size = np.linalg.norm(u, axis=0) * np.linalg.norm(v, axis=0)
            t[same], own[same] = (u * v).sum(0) / size * math.sqrt(fit.free), fit.own
        return t, own


def discrete_laplace(rng: np.random.Generator, scale: float, shape: tuple[int, ...]) -> Values:
    """The law of ``privacy.noise.discrete_laplace``, P(L = i) ~ exp(-|i|/scale), from numpy: for simulation only."""
    p = -math.expm1(-1 / scale)
    return np.asarray(rng.geometric(p, shape) - rng.geometric(p, shape), np.float64)


def released_pvalues(
    scores: tuple[Values, Values], plan: PartPlan, epsilon: float, rng: np.random.Generator
) -> Values:
    """Cut, release with noise, and test: one column a repetition."""
    sensitivity = float(plan.deals * cut_sensitivity())
    mechanism = Laplace(sensitivity=sensitivity, epsilon=epsilon, neighbours=REPLACE, size=2, grid=INTEGERS)
    columns = zip(scores[0].T.tolist(), scores[1].T.tolist(), strict=True)
    cuts = np.array([cut_scores(list(zip(t, own, strict=True)), plan) for t, own in columns], np.float64)
    noisy = cuts + discrete_laplace(rng, mechanism.scale, cuts.shape)
    return np.array([part_pvalue(total, spread, plan, mechanism.scale) for total, spread in noisy])


def gcm_batch(batch: Batch, deal: Deal, rng: np.random.Generator) -> Values:
    """p-values of a batch."""
    scores = deal.scores((batch.unit_x + 1) / 2, (batch.unit_y + 1) / 2)
    return released_pvalues(scores, deal.plan, batch.cell.epsilon, rng)


def unit_z(z: Values) -> Values:
    """Clamped to the public bounds and scaled to [0, 1]."""
    return np.clip((z + Z_BOUND) / (2 * Z_BOUND), 0, 1)


def crt_statistics(batch: Batch, copies: int, rng: np.random.Generator, data: dc.Dataset) -> Values:
    """T of the real column, then of the copies; one column a repetition. ``data`` is any of the batch's data sets."""

    def drawn(count: int) -> Values:
        mean = mean_of_x(batch.z, batch.cell.s, batch.cell.shape)
        return mean[:, None] + rng.standard_normal((batch.cell.n, count))

    pilot = drawn(PILOT_DRAWS)
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
