"""The loops of the kernel against numpy's products and solution."""

from __future__ import annotations

import numpy as np
import pytest

from dpcausal.stats.partial import (
    ADDED_VARIANCE,
    block_noise,
    centred,
    conditional,
    covariance,
    partial_form,
    partial_test,
    quadratic,
    sandwich,
)

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


def covariance_in_numpy(
    size: np.ndarray, p: np.ndarray, q: np.ndarray, noise: list[np.ndarray]
) -> np.ndarray:
    """The covariance of the residual table but its last row and column: noise in every part, and the draw of rows."""
    xy, gx, gy, gs = noise
    pc, qc = p - p.mean(axis=0), q - q.mean(axis=0)
    dx, dy = np.diag(gx), np.diag(gy)
    both = np.minimum(dx * dy / np.maximum(size, 1.0) ** 2, np.minimum(dx, dy)).sum()
    px, py = (np.eye(len(one)) - 1.0 / len(one) for one in (p, q))
    spread_p, spread_q = (
        np.einsum("is,ia->sia", one, np.eye(len(one))) - np.einsum("is,as->sia", one, one) for one in (p, q)
    )
    v = np.einsum("is,js,st,at,bt->ijab", pc, qc, gs, pc, qc)
    v += (xy + both) * np.einsum("ia,jb->ijab", px, py)
    v += np.einsum("ia,jb->ijab", px, qc @ gx @ qc.T) + np.einsum("ia,jb->ijab", pc @ gy @ pc.T, py)
    v += np.einsum("s,sia,sjb->ijab", size, spread_p, spread_q)
    entries = (len(p) - 1) * (len(q) - 1)
    return v[:-1, :-1, :-1, :-1].reshape(entries, entries) + ADDED_VARIANCE * np.eye(entries)


@pytest.mark.parametrize("given", [(), (2,), (3, 2)])
@pytest.mark.parametrize(("r", "c"), [(2, 2), (3, 4), (5, 2)])
@pytest.mark.parametrize("loud", [0.0, 30.0, 3000.0])
def test_the_test_is_that_of_its_formula(r: int, c: int, given: tuple[int, ...], loud: float) -> None:
    rng = np.random.default_rng(7)
    k = int(np.prod(given, dtype=int)) if given else 1
    table = rng.multinomial(5000, np.full(r * c * k, 1 / (r * c * k))).reshape(k, r, c).astype(float)
    noise = [block_noise(given, tuple(loud * rng.random(2 ** len(given)))) for _ in range(3)]
    xs = np.ascontiguousarray(table.sum(axis=2).T) + np.sqrt(loud) * rng.normal(size=(r, k))
    ys = np.ascontiguousarray(table.sum(axis=1).T) + np.sqrt(loud) * rng.normal(size=(c, k))
    xy = table.sum(axis=0) + 50 * rng.normal(size=(r, c))
    size = 0.5 * (np.maximum(xs.sum(axis=0), 0.0) + np.maximum(ys.sum(axis=0), 0.0))
    p, q = (np.maximum(one, 0.0) / np.maximum(one, 0.0).sum(axis=0) for one in (xs, ys))
    v = covariance_in_numpy(size, p, q, [np.array(loud), *noise])
    left = xy - (p * size) @ q.T
    left = left - left.mean(axis=0) - left.mean(axis=1)[:, None] + left.mean()
    value = left[:-1, :-1].ravel()
    found = partial_test(xy, xs, ys, loud, *noise)
    assert found.form == pytest.approx(value @ np.linalg.solve(v, value), rel=1e-7, abs=1e-9)
    assert found.error == pytest.approx(np.sqrt(np.diag(v).mean()), rel=1e-9)
    assert found.free == pytest.approx(
        min((size * (1.0 - one.max(axis=0))).sum() for one in (p, q)), rel=1e-9
    )
    for least in (0.9, 1.1):
        assert found.informative(least * found.free / found.error) == (least < 1)
