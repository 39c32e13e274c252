"""The fit of a block: ranks, traces against plain formulas, and the search for turns."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcausal.stats.gcm_fit import (
    FIT,
    block_kernel,
    block_residuals,
    factored,
    ranked,
    rough_kernel,
    signs,
    smooth_kernel,
    smooth_residuals,
    smoother,
    turning,
)


def test_ranks_treat_ties_alike_and_leave_codes_alone() -> None:
    z = np.array([[10.0, 3.0], [5.0, 1.0], [10.0, 2.0], [-7.0, 3.0]])
    assert ranked(z, (1,)).tolist() == [[0.875, 3.0], [0.5, 1.0], [0.875, 2.0], [0.25, 3.0]]


def test_smoother_and_its_traces() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(90, 2))
    x, y = rng.normal(size=(2, 90))
    kernel = block_kernel(x, y, z, ())
    _, penalty, probed = factored(kernel)
    fit = smoother(kernel)
    q = penalty * np.linalg.inv(kernel + penalty * np.eye(90))
    square = q @ q
    assert np.allclose(fit.matrix, q, atol=1e-6)  # parts of the kernel are single precision
    assert fit.free == pytest.approx(np.trace(square) ** 2 / np.trace(square @ square), rel=1e-5)
    assert fit.own == pytest.approx(np.square(np.diag(square)).sum() / np.trace(square @ square), rel=1e-5)
    assert fit.free / 90 <= fit.own <= 1
    assert probed == pytest.approx(fit.free, rel=0.35)  # four probes
    assert probed >= FIT.min_free * 90


def test_both_ways_to_the_residuals_agree() -> None:
    rng = np.random.default_rng(1)
    z = rng.normal(size=(260, 1))
    x, y = np.sin(3 * z[:, 0]) + rng.normal(size=(2, 260))
    x, y = x - x.mean(), y - y.mean()
    exact, free, own = block_residuals(x, y, z, ())
    quick, probed, unknown = block_residuals(x, y, z, (), exact=False)
    assert np.allclose(exact, quick, atol=1e-6)
    assert unknown == 1.0
    assert own < 1
    assert probed == pytest.approx(free, rel=0.2)


def test_probes_are_signs_that_do_not_go_together() -> None:
    probes = signs(1000)
    assert set(np.unique(probes)) == {-1.0, 1.0}
    assert np.abs(probes.T @ probes / 1000 - np.eye(probes.shape[1])).max() < 0.15


def waves(m: int, d: int, half_waves: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """z and two columns with the same waves in its first column, one against the other."""
    rng = np.random.default_rng(seed)
    z = rng.random((m, d))
    f = math.sqrt(0.5) * np.cos(math.pi * half_waves * z[:, 0])
    return z, f + rng.normal(size=m), -f + rng.normal(size=m)


def test_turns_are_seen_in_their_column_and_hardly_elsewhere() -> None:
    found = []
    for seed in range(20):
        z, x, y = waves(700, 4, 50, seed)
        smooth = smooth_kernel(z, ranked(z, ()), ())
        left = smooth_residuals(smooth, np.column_stack([x, y]))
        found.append(turning(z, left[:, :1], left[:, 1:], ())[0])
    tops = np.array(found)
    assert (tops[:, 0] >= 64).all()
    assert (tops[:, 1:] > 0).mean() < 0.1


def test_nothing_turns_in_noise() -> None:
    """Octaves times columns are about 16 sums of chi-squares; each passes 4.2 with probability below .01 (skewed)."""
    rng = np.random.default_rng(3)
    z = rng.random((400, 4))
    smooth = smooth_kernel(z, ranked(z, ()), ())
    left = smooth_residuals(smooth, rng.normal(size=(400, 200)))
    tops = turning(z, left[:, :100], left[:, 100:], ())
    assert (tops > 0).any(axis=1).mean() < 0.25
    assert not turning(z, left[:, :100], left[:, 100:], (0, 1, 2, 3)).any()


@pytest.mark.slow
def test_a_turning_column_is_taken_out() -> None:
    """Without the search the waves stay in both residuals and make the cosine many standard deviations."""
    scores = {True: [], False: []}
    for seed in range(4):
        z, x, y = waves(700, 5, 50, seed)
        x, y = x - x.mean(), y - y.mean()
        left, free, _ = block_residuals(x, y, z, ())
        plain = smoother(smooth_kernel(z, ranked(z, ()), ()) + rough_kernel(ranked(z, ()), ()))
        for searched, (u, v), dof in (
            (True, left.T, free),
            (False, (plain.matrix @ np.column_stack([x, y])).T, plain.free),
        ):
            scores[searched].append(float(u @ v / math.sqrt((u @ u) * (v @ v)) * math.sqrt(dof)))
    assert np.mean(scores[False]) < -1.5
    assert abs(np.mean(scores[True])) < 2  # four standard errors of a mean of four


def test_a_matrix_that_cannot_be_factored_gives_zeros() -> None:
    broken = -20.0 * np.eye(5)
    assert smoother(broken).free == 0.0
    assert not smooth_residuals(broken, np.ones((5, 2))).any()
