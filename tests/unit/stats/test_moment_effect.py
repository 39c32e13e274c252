"""The slope from noisy moments: its interval covers, and exact moments give least squares."""

from __future__ import annotations

import math

import numpy as np

from dpcausal.stats.moment_effect import moment_slope

N = 2_000
A, Y = np.eye(5)[3], np.eye(5)[4]


def rows(rng: np.random.Generator) -> np.ndarray:
    z, w = rng.normal(size=(2, N))
    a = (rng.random(N) < 0.5 + 0.2 * np.tanh(z)).astype(float)
    y = 0.3 * a + 0.5 * z - 0.2 * w + rng.normal(size=N)
    return np.column_stack([np.ones(N), z, w, a, y])


def test_exact_moments_give_least_squares_and_its_standard_error() -> None:
    f = rows(np.random.default_rng(1))
    found = moment_slope(f.T @ f, A, Y, [0, 1, 2], N, 0.0, 1.96)
    design, y = f[:, :4], f[:, 4]
    wanted, (rss,), *_ = np.linalg.lstsq(design, y, rcond=None)
    error = math.sqrt(rss / N * np.linalg.inv(design.T @ design)[3, 3])
    assert math.isclose(found.estimate, wanted[3], rel_tol=1e-6)
    assert math.isclose(found.high - found.low, 2 * 1.96 * error, rel_tol=0.01)


def test_intervals_cover_with_noise_on_the_moments() -> None:
    """200 samples: outside 0.89 to 0.99 with probability below 1e-3 if the coverage is 0.95."""
    rng, noise, covered, narrow = np.random.default_rng(2), 12.0, 0, 0
    for _ in range(200):
        f = rows(rng)
        drawn = rng.normal(size=(5, 5)) * noise
        noisy = f.T @ f + np.triu(drawn, 1) + np.triu(drawn, 1).T + np.diag(np.diag(drawn)) * math.sqrt(2)
        found = moment_slope(noisy, A, Y, [0, 1, 2], N, noise, 1.96)
        unaware = moment_slope(noisy, A, Y, [0, 1, 2], N, 0.0, 1.96)
        covered += found.low <= 0.3 <= found.high
        narrow += unaware.low <= 0.3 <= unaware.high
    assert 0.89 <= covered / 200 <= 0.99
    assert narrow / 200 < 0.89  # without its noise an interval is too short


def test_nothing_is_known_where_noise_hides_the_treatment() -> None:
    f = rows(np.random.default_rng(3))
    found = moment_slope(f.T @ f, A, Y, [0, 1, 2], N, 1_000.0, 1.96)
    assert math.isnan(found.estimate)
    assert (found.low, found.high) == (-math.inf, math.inf)
