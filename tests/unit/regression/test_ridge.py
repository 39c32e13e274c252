"""Kernels, tiled Cholesky, kernel ridge and its features: values, norms, agreement with plain linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import dpcausal as dc
from dpcausal.regression.features import NORM, FourierFeatures, feature_residuals, waves_into
from dpcausal.regression.kernel import Kernel, Kind
from dpcausal.regression.ridge import TiledCholesky, penalty_of, ridge_residuals

KINDS: tuple[Kind, ...] = ("gaussian", "additive", "mixed")


def rows(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((n, d))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [False, True])
def test_kernels_are_positive_and_of_norm_at_most_one(kind: Kind, intercept: bool) -> None:
    z = rows(120, 3)
    z[:, 1] = np.floor(z[:, 1] * 4)
    k = Kernel(0.3, kind, discrete=(1,), intercept=intercept).block(z, z)
    assert np.allclose(k, k.T)
    assert k.diagonal().max() <= 1.0
    assert np.linalg.eigvalsh(k).min() > -1e-9
    assert k.min() >= 0.0


def test_values_by_hand() -> None:
    a, b = np.array([[0.0, 0.0, 2.0]]), np.array([[0.3, 0.4, 2.0], [0.3, 0.4, 1.0]])
    near = np.exp(-0.5)  # distance .5 at bandwidth .5
    assert Kernel(0.5, discrete=(2,)).block(a, b).tolist() == [[pytest.approx(near), 0.0]]
    parts = (np.exp(-0.18) + np.exp(-0.32)) / 3
    assert Kernel(0.5, "additive", (2,)).block(a, b)[0] == pytest.approx([parts + 1 / 3, parts])
    assert Kernel(0.5, intercept=True, discrete=(2,)).block(a, b)[0] == pytest.approx([(1 + near) / 2, 0.5])
    assert Kernel(1.0).block(np.empty((2, 0)), np.empty((3, 0))).tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize("n", [1, 5, 64, 65, 130])
def test_tiles_agree_with_lapack(n: int) -> None:
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n + 3))
    a, b = root @ root.T + np.eye(n), rng.normal(size=(n, 2))
    tiled = TiledCholesky(n, lambda i, k, j, m: a[i:k, j:m].copy(), tile=32)
    assert np.allclose(tiled.solve(b), np.linalg.solve(a, b), atol=1e-8)


def test_tiles_refuse_what_has_no_factor() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        TiledCholesky(2, lambda i, k, j, m: -np.eye(2)[i:k, j:m])


@pytest.mark.parametrize("kind", KINDS)
def test_residuals_are_those_of_the_papers_objective(kind: Kind) -> None:
    n, strength = 80, 0.3
    z, u = rows(n, 2), np.random.default_rng(1).uniform(-1, 1, (n, 2))
    kernel = Kernel(0.4, kind)
    left = ridge_residuals(z, u, kernel, penalty_of(strength, n))
    k = kernel.block(z, z)
    dual = np.linalg.solve(k + n * strength / 2 * np.eye(n), u)
    assert np.allclose(left, u - k @ dual, atol=1e-9)

    def objective(c: np.ndarray) -> float:
        w2 = float(c @ k @ c)
        return strength / 2 * w2 + float(np.mean((u[:, 0] - k @ c) ** 2))

    best = objective(dual[:, 0])
    for seed in range(20):
        nudge = np.random.default_rng(seed).normal(size=n) * 1e-3
        assert objective(dual[:, 0] + nudge) >= best


@pytest.mark.parametrize("kind", ["gaussian", "additive"])
@pytest.mark.parametrize("intercept", [False, True])
def test_features_stand_for_the_kernel(kind: Kind, intercept: bool) -> None:
    z = rows(300, 2)
    kernel = Kernel(0.5, kind, intercept=intercept)
    phi = FourierFeatures(kernel, 2, 1200)(z)
    assert np.linalg.norm(phi, axis=1).max() <= 1.0
    assert np.abs(phi @ phi.T - kernel.block(z, z)).max() < 0.05
    u = np.random.default_rng(2).uniform(-1, 1, (300, 2))
    exact = ridge_residuals(z, u, kernel, penalty_of(0.01, 300))
    near = feature_residuals(z, u, FourierFeatures(kernel, 2, 1200), penalty_of(0.01, 300))
    assert np.abs(exact - near).max() < 0.05


def test_features_of_codes_and_of_nothing() -> None:
    z = np.array([[0.0], [1.0], [1.0]])
    kernel = Kernel(1.0, "additive", discrete=(0,))
    phi = FourierFeatures(kernel, 1, 10, levels=(2,))(z)
    assert np.allclose(phi @ phi.T, kernel.block(z, z), atol=1e-9)
    none = feature_residuals(np.empty((4, 0)), np.ones((4, 1)), FourierFeatures(Kernel(1.0), 0, 10), 4.0)
    assert np.allclose(none, 0.5)


def test_the_exact_fit_has_a_largest_size() -> None:
    with pytest.raises(dc.InputError, match="features"):
        ridge_residuals(np.zeros((20_001, 1)), np.zeros((20_001, 1)), Kernel(1.0), 1.0)
    with pytest.raises(dc.InputError, match="lambda"):
        penalty_of(0.0, 10)
    with pytest.raises(dc.InputError, match="bandwidth"):
        Kernel(float("nan"))


def test_waves_are_cosines_and_sines_of_norm_at_most_one() -> None:
    rng = np.random.default_rng(3)
    z = np.r_[rng.normal(0, 30, (4000, 1)), np.linspace(-1, 1, 4001)[:, None]]  # quarter turns and far out
    out = np.full((len(z), 4), np.nan)
    waves_into(z, np.array([[1.0, 0.25]]), 1.0, out, 0)
    angle = 2 * np.pi * z * [[1.0, 0.25]]
    assert np.abs(out - np.hstack([np.cos(angle), np.sin(angle)])).max() < 1e-10
    assert NORM * (np.square(out[:, 0]) + np.square(out[:, 2])).max() <= 1.0
    assert np.abs(np.square(out[:, 0]) + np.square(out[:, 2]) - 1).max() < 4e-11  # as waves.py says


def test_a_rows_features_depend_on_that_row_alone() -> None:
    z = rows(700, 3)
    features = FourierFeatures(Kernel(0.2), 3, 61)
    together = features(z)
    assert all(np.array_equal(features(z[i : i + 1])[0], together[i]) for i in range(0, 700, 37))
    assert np.square(together).sum(axis=1).max() <= 1.0


@pytest.mark.parametrize("d", [0, 2])
def test_features_with_levels_and_intercept_have_norm_at_most_one(d: int) -> None:
    z = np.column_stack([rows(200, d), np.arange(200) % 3]) if d else np.empty((200, 0))
    kernel = Kernel(0.3, "additive", discrete=(d,) if d else (), intercept=True)
    phi = FourierFeatures(kernel, z.shape[1], 80, (0,) * d + (3,))(z)
    norms = np.square(phi).sum(axis=1)
    assert norms.max() <= 1.0
    assert norms.min() > 1 - 1e-8


def test_many_blocks_give_what_one_product_gives() -> None:
    """Shared out to threads, or not: the same sums."""
    n = 9500
    z, u = rows(n, 1), np.random.default_rng(2).uniform(-1, 1, (n, 2))
    features = FourierFeatures(Kernel(0.3), 1, 20)
    phi = features(z)
    weights = np.linalg.solve(phi.T @ phi + 50 * np.eye(20), phi.T @ u)
    left = feature_residuals(z, u, features, 50.0)
    assert np.abs(left - (u - phi @ weights)).max() < 1e-10
    with threadpool_limits(1, user_api="blas"):
        assert np.abs(feature_residuals(z, u, features, 50.0) - left).max() < 1e-12
