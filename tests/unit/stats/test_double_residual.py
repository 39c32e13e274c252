"""Errors that noise in the moments leaves in the sums of a regression, against simulations of it."""

from __future__ import annotations

import math

import numpy as np

from dpcausal.stats.double_residual import KEEP, Fit, difference, fitted


def moments_of(rows: int, features: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of (1, z, a, y) in which nothing depends on anything, and their second moments."""
    z = (rng.random((rows, features)) < 0.4) - 0.5
    a, y = (rng.random(rows) < 0.1) - 0.5, 2.0 * (rng.random(rows) < 0.15) - 1.0
    design = np.column_stack([np.ones(rows), z, a, y])
    return design, design.T @ design


def noisy(moments: np.ndarray, noise: float, constant: float, rng: np.random.Generator) -> np.ndarray:
    """Moments with noise, that of the constant divided by its value; the number of rows is public."""
    drawn = np.triu(rng.normal(0.0, noise, moments.shape))
    drawn = drawn + np.triu(drawn, 1).T
    drawn[0, 1:] /= constant
    drawn[1:, 0] /= constant
    drawn[0, 0] = 0.0
    return moments + drawn


def errors_of(fit: Fit, design: np.ndarray, features: int) -> tuple[float, float]:
    """What the errors of both regressions add to the sums of p r and of p^2."""
    ones, a, y = design[:, : features + 1], design[:, features + 1], design[:, features + 2]
    p, r = a - ones @ fit.of_treatment, y - ones @ fit.of_outcome
    exact = a - a.mean(), y - y.mean()
    return float(p @ r - exact[0] @ exact[1]), float(p @ p - exact[0] @ exact[0])


def test_the_errors_of_means_are_those_that_the_fit_states() -> None:
    rng, rows, noise, constant = np.random.default_rng(1), 2_000, 150.0, 0.8
    design, moments = moments_of(rows, 0, rng)
    fits = [fitted(noisy(moments, noise, constant, rng), 0, rows, noise, constant, 1e9) for _ in range(4_000)]
    products, squares = np.array([errors_of(fit, design, 0) for fit in fits]).T
    assert abs(products.mean()) < 4 * products.std() / math.sqrt(4_000)
    assert (
        abs(products.var() / fits[0].product_variance - 1) < 0.25
    )  # of products of normals, whose tails are heavy
    assert abs(squares.mean() / fits[0].excess - 1) < 0.1
    assert abs(squares.var() / fits[0].excess_variance - 1) < 0.25


def test_the_noise_of_shared_means_of_columns_is_taken_out_of_the_product() -> None:
    rng, rows, noise, constant = np.random.default_rng(2), 400, 12.0, 0.4
    z = (rng.random(rows) < 0.5) - 0.5
    a, y = np.where(rng.random(rows) < 0.9, z, -z), np.where(rng.random(rows) < 0.9, 2 * z, -2 * z)
    design = np.column_stack([np.ones(rows), z, a, y])
    found = []
    for _ in range(3_000):
        fit = fitted(noisy(design.T @ design, noise, constant, rng), 1, rows, noise, constant, 1e9)
        ones = design[:, :2]
        p, r = a - ones @ fit.of_treatment, y - ones @ fit.of_outcome
        left = [one - ones @ np.linalg.lstsq(ones, one, rcond=None)[0] for one in (a, y)]
        found.append([p @ r - left[0] @ left[1], fit.product_mean])
    errors, stated = np.array(found).T
    # more than half of it is from the means of z
    assert abs(errors.mean() - stated.mean()) < 0.25 * errors.mean()


def test_nothing_is_known_where_the_errors_of_means_pass_the_noise_of_the_sums() -> None:
    rng, rows, constant = np.random.default_rng(3), 1_400, 0.93
    _, moments = moments_of(rows, 9, rng)
    for noise, known in ((100.0, True), (800.0, False)):
        fit = fitted(noisy(moments, noise, constant, rng), 9, rows, noise, constant, 32.0)
        assert math.isfinite(fit.excess) == known
        assert (2 * ((noise / constant) ** 2 / rows) ** 2 <= (32.0 / KEEP) ** 2) == known
        assert math.isnan(difference(np.array([0.0, 400.0, 10.0]), fit, 32.0**2, 1.96).estimate) != known


def test_without_noise_nothing_is_added() -> None:
    _, moments = moments_of(1_400, 3, np.random.default_rng(4))
    fit = fitted(moments, 3, 1_400, 0.0, 0.9, 0.0)
    assert fit.excess < 1e-3
    assert fit.excess_variance < 1e-3
    assert fit.product_variance < 1e-3
