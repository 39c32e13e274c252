"""The partial test keeps its level on released tables, and finds what is there.

Rejections in R repetitions at level a are Binomial(R, a) if the level is exact. Each bound below is the .9995 quantile
of Binomial(R, .06): a test with a true level of at most .06 fails it with probability .0005 a case (6 cases: .003).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from dpcausal.discovery.measured.tables import Components
from dpcausal.stats.components import interaction

REPETITIONS = 800
Floats = np.ndarray  # type: ignore[type-arg]


def released(table: Floats, deviation: float, rng: np.random.Generator) -> Components:
    """Components of all subsets of at most ndim - 1 columns of a table, with Gaussian noise."""
    found = Components(table.shape)
    axes = range(table.ndim)
    found = found.with_measured([((), np.array(table.sum()))], 0.0)
    for mask in range(1, 2**table.ndim):
        columns = tuple(axis for axis in axes if mask >> axis & 1)
        margin = table.sum(axis=tuple(axis for axis in axes if axis not in columns))
        noisy = interaction(margin) + rng.normal(0.0, deviation, margin.shape)
        found = found.with_measured([(columns, noisy)], deviation**2)
    return found


def sample(r: int, k: int, n: int, concentration: float, rng: np.random.Generator) -> Floats:
    """A table (x, y, s) with x and y independent within unequal blocks of unequal margins."""
    sizes = rng.multinomial(n, rng.dirichlet(np.ones(k)))
    blocks = []
    for size in sizes:
        p, q = rng.dirichlet(np.full(r, concentration)), rng.dirichlet(np.full(r, concentration))
        blocks.append(rng.multinomial(size, np.outer(p, q).ravel()).reshape(r, r))
    return np.stack(blocks, axis=2).astype(float)


@pytest.mark.thin(3)
@pytest.mark.parametrize("concentration", [1.0, 0.2])
@pytest.mark.parametrize(
    ("r", "k", "n", "deviation"),
    [(2, 2, 100_000, 160.0), (3, 3, 100_000, 20.0), (2, 8, 20_000, 5.0)],
)
def test_level(r: int, k: int, n: int, deviation: float, concentration: float) -> None:
    rng = np.random.default_rng(20)
    hits = 0
    for _ in range(REPETITIONS):
        tables = released(sample(r, k, n, concentration, rng), deviation, rng)
        hits += tables.test(0, 1, (2,)).pvalue <= 0.05
    assert hits <= binom.ppf(0.9995, REPETITIONS, 0.06)


def test_power() -> None:
    """A common odds ratio of 1.2 in 4 blocks of 25,000 rows with noise of 100 rows: found every time in 50."""
    rng = np.random.default_rng(21)
    odds = np.array([[1.2, 1.0], [1.0, 1.2]]) / 4.4
    for _ in range(50):
        table = np.stack([rng.multinomial(25_000, odds.ravel()).reshape(2, 2) for _ in range(4)], axis=2)
        assert released(table.astype(float), 100.0, rng).test(0, 1, (2,)).pvalue < 1e-3


def test_noise_taken_for_none_breaks_the_level() -> None:
    """What the variance is for: told that there is no noise, the same test rejects nearly always."""
    rng = np.random.default_rng(22)
    hits = 0
    for _ in range(200):
        tables = released(sample(2, 2, 10_000, 1.0, rng), 160.0, rng)
        tables.variances = dict.fromkeys(tables.variances, 0.0)
        hits += tables.test(0, 1, (2,)).pvalue <= 0.05
    assert hits > 100
