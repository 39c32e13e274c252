"""The loops of the kernel against numpy's products and solution."""

from __future__ import annotations

import numpy as np
import pytest

from dpcausal.stats.partial import centred, conditional, covariance, partial_form, quadratic, sandwich

SHAPES = [(2, 2, 1), (3, 2, 4), (4, 5, 8), (2, 3, 64)]


def as_numpy(xy: np.ndarray, xs: np.ndarray, ys: np.ndarray, noise: float, g: np.ndarray) -> float:
    """The quadratic form with numpy's own products and solution."""
    r, c = xy.shape
    size = np.zeros(xs.shape[1])
    p, q = conditional(xs, size), conditional(ys, size)
    residual = xy - (p * size) @ q.T
    residual = residual - residual.mean(axis=0) - residual.mean(axis=1)[:, None] + residual.mean()
    v = covariance(size, p, q, centred(p), centred(q), noise, g, g, g)
    value = residual[: r - 1, : c - 1].ravel()
    return float(value @ np.linalg.solve(v, value))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_form_is_numpys(shape: tuple[int, int, int]) -> None:
    r, c, k = shape
    rng = np.random.default_rng(r * 100 + c * 10 + k)
    table = rng.integers(0, 400, (k, r, c)).astype(float)
    half = rng.normal(size=(k, k))
    g = half @ half.T
    xy, xs, ys = table.sum(axis=0), table.sum(axis=2).T.copy(), table.sum(axis=1).T.copy()
    assert partial_form(xy, xs, ys, 2.0, g, g, g)[0] == pytest.approx(as_numpy(xy, xs, ys, 2.0, g), rel=1e-9)


def test_products_and_solution() -> None:
    rng = np.random.default_rng(3)
    a, half, value = rng.normal(size=(5, 7)), rng.normal(size=(7, 7)), rng.normal(size=7)
    g = half @ half.T
    assert sandwich(a, g) == pytest.approx(a @ g @ a.T)
    swapped = g[::-1].copy()  # needs row exchanges
    assert quadratic(swapped.copy(), value) == pytest.approx(value @ np.linalg.solve(swapped, value))
    zero_first = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert quadratic(zero_first, np.array([2.0, 3.0])) == pytest.approx(12.0)
