"""Computed ridge residuals against 50 digits: within the bound that is added to the sensitivity."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

import dpcausal as dc
from dpcausal.regression.features import FourierFeatures, feature_residuals
from dpcausal.regression.kernel import MIN_PRODUCT_WIDTH, Kernel
from dpcausal.regression.ridge import penalty_of, ridge_residuals
from dpcausal.regression.rounding import entry_error, inner_error, products_error, residual_error
from dpcausal.stats.crt import crt_statistic

Floats = NDArray[np.float64]
N = 24


def exact_entries(z: Floats, width: float) -> mpmath.matrix:
    """The Gaussian kernel of the scaled rows as floats have them, in 50 digits."""
    p = [[mpmath.mpf(float(v)) for v in row] for row in z / width]
    entries = [[mpmath.exp(-sum((a - b) ** 2 for a, b in zip(i, j, strict=True)) / 2) for j in p] for i in p]
    return mpmath.matrix(entries)


def rows(d: int, seed: int) -> tuple[Floats, Floats]:
    """Some far apart, some within 1e-9 of each other, in the corner of [0, 1] where squares are largest."""
    rng = np.random.default_rng(seed)
    near = 1.0 - 1e-9 * rng.random((N // 3, d))
    return np.vstack([rng.random((N - 2 * len(near), d)), near, near]), rng.choice([-1.0, 1.0], (N, 1))


@pytest.mark.parametrize("width", [1e-3, 0.0199, MIN_PRODUCT_WIDTH, 0.1, 1.0])
@pytest.mark.parametrize("d", [1, 3])
def test_entries(width: float, d: int) -> None:
    with mpmath.workdps(50):
        z, _ = rows(d, 1)
        found, exact = Kernel(width).block(z, z), exact_entries(z, width)
        worst = max(abs(mpmath.mpf(float(found[i, j])) - exact[i, j]) for i in range(N) for j in range(N))
    assert worst <= entry_error(Kernel(width), d)


@pytest.mark.parametrize("strength", [1e-6, 1e-3, 1.0, 100.0])
@pytest.mark.parametrize("width", [1e-3, MIN_PRODUCT_WIDTH, 0.3])
def test_residuals(strength: float, width: float) -> None:
    z, t = rows(2, 2)
    penalty = penalty_of(strength, N)
    with mpmath.workdps(50):
        matrix = exact_entries(z, width) + mpmath.mpf(penalty) * mpmath.eye(N)
        exact = mpmath.mpf(penalty) * mpmath.lu_solve(matrix, mpmath.matrix(t[:, 0].tolist()))
        found = ridge_residuals(z, t, Kernel(width), penalty)[:, 0]
        away = mpmath.sqrt(sum((mpmath.mpf(float(f)) - e) ** 2 for f, e in zip(found, exact, strict=True)))
    assert away <= residual_error(N, strength, Kernel(width), 2) * N**0.5


@pytest.mark.parametrize("strength", [1e-3, 1.0])
def test_features(strength: float) -> None:
    z, t = rows(1, 3)
    features = FourierFeatures(Kernel(0.3), 1, 20)
    penalty = penalty_of(strength, N)
    with mpmath.workdps(50):
        phi = mpmath.matrix(features(z).tolist())
        gram = phi.T * phi + mpmath.mpf(penalty) * mpmath.eye(features.size)
        target = mpmath.matrix(t[:, 0].tolist())
        exact = target - phi * mpmath.lu_solve(gram, phi.T * target)
        found = feature_residuals(z, t, features, penalty)[:, 0]
        away = mpmath.sqrt(sum((mpmath.mpf(float(f)) - e) ** 2 for f, e in zip(found, exact, strict=True)))
    assert away <= residual_error(N, strength, Kernel(0.3), 1, features.size) * N**0.5


def test_a_product_of_narrow_kernels_would_pass_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the red team found: squares before differences, at a bandwidth that is now refused."""
    monkeypatch.setattr("dpcausal.regression.kernel.MIN_BANDWIDTH", 0.0)
    monkeypatch.setattr("dpcausal.regression.kernel.MIN_PRODUCT_WIDTH", 0.0)
    z, _ = rows(1, 4)
    k = Kernel(1e-8).block(z, z)
    assert np.linalg.eigvalsh(k).min() < -0.001 * N
    monkeypatch.setattr("dpcausal.regression.kernel.MIN_PRODUCT_WIDTH", MIN_PRODUCT_WIDTH)
    assert np.linalg.eigvalsh(Kernel(1e-8).block(z, z)).min() > -1e-12 * N


def test_what_floats_can_not_hold_is_refused() -> None:
    rng = np.random.default_rng(5)
    schema = dc.Schema(x=dc.Numeric(0, 1), y=dc.Numeric(0, 1), z=dc.Numeric(0, 1))
    data = dc.read({name: rng.random(50) for name in "xyz"}, schema)
    with pytest.raises(dc.InputError, match="bandwidth must be a finite number of at least"):
        dc.ci_test(data, "x", "y", ["z"], method="gcm", variant="moments", bandwidth=1e-9, epsilon=1.0)
    for strength in (0.0, -1.0, 1e-18, 1e300, float("nan")):
        with pytest.raises(dc.InputError, match="lambda must lie within 1e-06 and 1e\\+09"):
            dc.ci_test(data, "x", "y", ["z"], method="gcm", variant="moments", lambda_=strength, epsilon=1.0)
    with pytest.raises(dc.InputError, match="too small for 20,000 rows"):
        residual_error(20_000, 1e-6, Kernel(0.1), 1)


@pytest.mark.parametrize("size", [1, 40, 3000])
def test_sums_of_products_of_exact_residuals(size: int) -> None:
    """What floats add to a product and a sum counts though the residuals are exact."""
    rng = np.random.default_rng(size)
    u, v = rng.uniform(-1, 1, (2, size))
    exact = sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(u, v, strict=True)), Fraction(0))
    away = abs(Fraction(crt_statistic(u[:, None], v[:, None])) - abs(exact))
    assert 0 < away <= min(inner_error(size, 0.0), products_error(size, 0.0))
