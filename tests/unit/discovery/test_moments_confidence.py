"""How often an edge of ``moments`` is found again."""

from __future__ import annotations

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.stats.moments import replicated_moments

NUMBER = dc.Numeric(-5, 5)


def chain(rows: int, seed: int, effect: float) -> dc.Dataset:
    """x -> y with this correlation, about, and w that depends on nothing."""
    rng = np.random.default_rng(seed)
    x, w, error = rng.normal(size=(3, rows))
    return dc.read({"x": x, "y": effect * x + error, "w": w}, dc.Schema(x=NUMBER, y=NUMBER, w=NUMBER))


def test_a_strong_edge_is_always_found_again_and_a_weak_one_is_not() -> None:
    pair = frozenset(("x", "y"))
    with dc.testing.seeded(1):
        strong = dc.discover(chain(5000, 1, 0.8), epsilon=2.0, delta=1e-6, method="moments")
    assert strong.confidence is not None
    assert strong.confidence[pair] == 1.0
    parts = []
    # at 500 rows a correlation of .2 is near the limit of what is found: one time in three, so 5 of 40 or fewer with a
    # probability of .003
    for seed in range(40):
        with dc.testing.seeded(seed):
            weak = dc.discover(
                chain(500, seed, 0.2), epsilon=3.0, delta=1e-6, method="moments", confidence=20, anyway=True
            )
        if pair in weak.graph.skeleton:
            parts.append(weak.confidence[pair])  # type: ignore[index]
    assert len(parts) > 5
    assert 0.2 < np.mean(parts) < 0.97


def test_none_is_asked_for_and_none_is_given() -> None:
    found = dc.discover(chain(2000, 1, 0.8), epsilon=2.0, delta=1e-6, method="moments", confidence=0)
    assert found.confidence is None
    with pytest.raises(dc.InputError, match="at most 10,000 repeats"):
        dc.discover(chain(200, 1, 0.8), epsilon=2.0, delta=1e-6, method="moments", confidence=10**6)


def test_another_sample_spreads_as_samples_do() -> None:
    rng = np.random.default_rng(2)
    n, cov = 400, np.array([[1.0, 0.6], [0.6, 1.0]])
    truth = np.zeros((3, 3))
    truth[0, 0], truth[1:, 1:] = n, n * cov
    drawn = np.array([replicated_moments(truth, n, 0.0, rng.standard_normal)[1, 2] for _ in range(4000)])
    rows = rng.multivariate_normal([0, 0], cov, size=(4000, n))
    seen = (rows[..., 0] * rows[..., 1]).sum(axis=1)
    # standard errors of 4,000 draws: 1.1% of a standard deviation, 1.6% of its size; bounds of 5 (p < 1e-6 each)
    assert abs(drawn.mean() - seen.mean()) < 5 * seen.std() * np.sqrt(2 / 4000)
    assert abs(drawn.std() / seen.std() - 1) < 5 * np.sqrt(1 / 4000)


def test_noise_is_drawn_anew_and_not_counted_twice() -> None:
    rng = np.random.default_rng(3)
    truth = np.diag([1e4, 1e4, 1e4])
    noisy = truth.copy()
    noisy[1, 2] = noisy[2, 1] = 30.0  # less than the noise of 50: taken as nothing
    drawn = np.array([replicated_moments(noisy, 1e12, 50.0, rng.standard_normal)[1, 2] for _ in range(4000)])
    assert abs(drawn.mean()) < 5 * 50 / np.sqrt(4000)
    assert abs(drawn.std() / 50 - 1) < 5 / np.sqrt(2 * 4000)
