"""The two private tests that the paper compares with. Private Kendall after k-means is **NOT PRIVATE**.

*Private Kendall* (Wang, Pang & Song 2020) on 100 clusters of Z by k-means: the clusters are chosen from the data and
enter the release unprotected, and the noise 9/2/sqrt(n) on z is below its true sensitivity.
*PrivToT* (Kazan et al. 2023): ten parts, the classical GCM on each, the number of rejections released with Tulap
noise. This one is private; whether it keeps the level depends on the fits on a tenth of the rows.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2
from scipy.special import ndtr

from dpcausal.stats.tulap import SUB_LEVELS, critical_count, split_power
from gcm.design import Batch, Values
from gcm.published import LAMBDA, LEVEL, Fits, Flags, gcm_pvalues, products

CLUSTERS = 100
PARTS = 10


def clusters(z: Values, seed: int) -> NDArray[np.int64]:
    """k-means labels."""
    labels = kmeans2(z, min(CLUSTERS, len(z) // 10), minit="++", iter=20, seed=seed)[1]
    return np.asarray(labels, np.int64)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _concordance(x: Values, y: Values, starts: NDArray[np.int64], scores: Values) -> None:
    """C - D in each block of sorted rows; ``scores`` has a row a block and a column a repetition."""
    for rep in range(x.shape[0]):
        for block in range(len(starts) - 1):
            total = 0.0
            for i in range(starts[block], starts[block + 1]):
                for j in range(starts[block], i):
                    total += np.sign(x[rep, i] - x[rep, j]) * np.sign(y[rep, i] - y[rep, j])
            scores[block, rep] = total


def kendall_z(batch: Batch, labels: NDArray[np.int64]) -> Values:
    """sum w_i tau_i / sqrt(sum w_i), w_i = 9 n_i (n_i - 1)/(2 (2 n_i + 5)), by repetition."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    scores = np.zeros((len(sizes), batch.x.shape[1]))
    _concordance(
        np.ascontiguousarray(batch.x[order].T), np.ascontiguousarray(batch.y[order].T), starts, scores
    )
    weights = 9 * sizes * (sizes - 1) / (2 * (2 * sizes + 5))
    numerator = (9 / (2 * sizes[:, None] + 5) * scores)[sizes > 1].sum(0)
    return np.asarray(numerator / math.sqrt(weights.sum()), np.float64)


def private_kendall(batch: Batch, labels: NDArray[np.int64], rng: np.random.Generator) -> Flags:
    """z with Laplace noise of the published scale 9/2/sqrt(n)/epsilon against the normal law."""
    noisy = kendall_z(batch, labels) + rng.laplace(
        0, 4.5 / math.sqrt(batch.cell.n) / batch.cell.epsilon, batch.x.shape[1]
    )
    return np.asarray(2 * ndtr(-np.abs(noisy)) <= LEVEL)


def sub_level(epsilon: float, count: int = PARTS) -> float:
    """The level of each part's test: the most power of so many parts against an effect of noncentrality 30."""
    return max(SUB_LEVELS, key=lambda level: split_power(count, level, 30.0, epsilon, LEVEL))


def test_of_tests(batch: Batch, parts: list[Fits], rng: np.random.Generator) -> Flags:
    """Reject where the noisy number of rejecting parts is at or above its critical value."""
    epsilon, n = batch.cell.epsilon, batch.cell.n
    level = sub_level(epsilon, len(parts))
    size = n // len(parts)
    rejected = np.zeros(batch.x.shape[1])
    for k, fits in enumerate(parts):
        rows = slice(k * size, (k + 1) * size)
        part = Batch(batch.cell, batch.z[rows], batch.x[rows], batch.y[rows], batch.mean[rows])
        rejected += gcm_pvalues(products(part, fits, LAMBDA)) <= level
    b = math.exp(-epsilon)
    noise = rng.geometric(1 - b, rejected.shape) - rng.geometric(1 - b, rejected.shape)
    critical, share = critical_count(len(parts), level, epsilon, LEVEL)
    noisy = rejected + noise
    return np.asarray((noisy > critical) | ((noisy == critical) & (rng.random(noisy.shape) < share)))


def part_fits(z: Values, count: int = PARTS) -> list[Fits]:
    """One regression a part."""
    size = len(z) // count
    return [Fits(z[k * size : (k + 1) * size]) for k in range(count)]
