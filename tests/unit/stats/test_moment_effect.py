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


def normal_rows(rng: np.random.Generator, stretch: float = 1.0) -> np.ndarray:
    """A normal model; the score of the treatment may have been measured too wide."""
    z = rng.normal(size=N)
    a = 0.6 * z + 0.8 * rng.normal(size=N)
    y = 0.3 * a + 0.5 * z + rng.normal(size=N)
    return np.column_stack([np.ones(N), z, stretch * a, y])


IN_DEVIATIONS = 0.3 / math.sqrt(0.3**2 + 0.5**2 + 2 * 0.3 * 0.5 * 0.6 + 1.0)  # of a with standard deviation 1


def test_a_stretched_score_changes_nothing_in_standard_deviations() -> None:
    one, other = (normal_rows(np.random.default_rng(4), stretch) for stretch in (1.0, 1.3))
    asked = (np.eye(4)[2], np.eye(4)[3], [0, 1], N, 0.0, 1.96)
    found, same = (moment_slope(f.T @ f, *asked, (True, True)) for f in (one, other))
    np.testing.assert_allclose(found, same, rtol=1e-6)
    design = one[:, :3]
    slope = np.linalg.lstsq(design, one[:, 3], rcond=None)[0][2]
    assert math.isclose(found.estimate, slope * one[:, 2].std() / one[:, 3].std(), rel_tol=1e-6)
    treated = moment_slope(other.T @ other, *asked, (True, False))
    assert math.isclose(treated.estimate, slope * one[:, 2].std(), rel_tol=1e-6)


def test_intervals_in_standard_deviations_know_that_these_are_estimated() -> None:
    """300 samples: outside 0.90 to 0.985 with probability below 1e-3 if the coverage is 0.95."""
    rng, noise, covered, fixed = np.random.default_rng(5), 40.0, 0, 0
    asked = (np.eye(4)[2], np.eye(4)[3], [0, 1], N, noise, 1.96)
    for _ in range(300):
        f = normal_rows(rng, math.exp(rng.normal(0.0, 0.2)))
        drawn = rng.normal(size=(4, 4)) * noise
        noisy = f.T @ f + np.triu(drawn, 1) + np.triu(drawn, 1).T + np.diag(np.diag(drawn)) * math.sqrt(2)
        noisy[0, 0] = N
        found = moment_slope(noisy, *asked, (True, True))
        covered += found.low <= IN_DEVIATIONS <= found.high
        taken = moment_slope(noisy, *asked)  # as if every score had standard deviation 1
        scale = math.sqrt(0.3**2 + 0.5**2 + 2 * 0.3 * 0.5 * 0.6 + 1.0)
        fixed += taken.low / scale <= IN_DEVIATIONS <= taken.high / scale
    assert 0.90 <= covered / 300 <= 0.985
    assert fixed / 300 < 0.90


def test_nothing_is_known_where_noise_hides_a_standard_deviation() -> None:
    f = normal_rows(np.random.default_rng(6))
    flat = f * np.array([1.0, 1.0, 1.0, 0.01])
    asked = (np.eye(4)[2], np.eye(4)[3], [0, 1], N, 5.0, 1.96)
    assert math.isfinite(moment_slope(flat.T @ flat, *asked).estimate)
    assert math.isnan(moment_slope(flat.T @ flat, *asked, (False, True)).estimate)


def test_between_two_columns_it_is_a_correlation_with_its_standard_error() -> None:
    """(1 - r^2) / sqrt n in a normal model, where a known standard deviation would give sqrt((1 - r^2) / n)."""
    rng = np.random.default_rng(7)
    a = rng.normal(size=N)
    f = np.column_stack([np.ones(N), a, 0.8 * a + 0.6 * rng.normal(size=N)])
    found = moment_slope(f.T @ f, np.eye(3)[1], np.eye(3)[2], [0], N, 0.0, 1.96, (True, True))
    r = np.corrcoef(f[:, 1:].T)[0, 1]
    assert math.isclose(found.estimate, r, rel_tol=1e-6)
    assert math.isclose(found.high - found.low, 2 * 1.96 * (1 - r**2) / math.sqrt(N), rel_tol=0.01)
