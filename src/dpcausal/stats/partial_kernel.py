"""Kernel of the test on partial association (``partial.py``): margins, residual table, covariance, quadratic form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba as nb
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
jit: Callable[[F], F] = nb.njit(nogil=True, cache=True, error_model="numpy")

FLOOR = 1e-3  # added to every variance: with no noise and an empty level there is nothing to divide by


@jit
def conditional(table: Any, size: Any) -> Any:
    """p(level | block) of shape (levels, k) from a measured one, negative cells taken as 0; fills ``size``."""
    levels, k = table.shape
    p = np.empty((levels, k))
    for s in range(k):
        total, positive = 0.0, 0.0
        for a in range(levels):
            total += table[a, s]
            positive += max(table[a, s], 0.0)
        size[s] += 0.5 * max(total, 0.0)
        for a in range(levels):
            p[a, s] = max(table[a, s], 0.0) / positive if positive > 0.0 else 1.0 / levels
    return p


@jit
def centred(p: Any) -> Any:
    """Every column less its mean."""
    levels, k = p.shape
    out = np.empty((levels, k))
    for s in range(k):
        mean = p[:, s].sum() / levels
        for a in range(levels):
            out[a, s] = p[a, s] - mean
    return out


@jit
def covariance(size: Any, p: Any, q: Any, pc: Any, qc: Any, xy: Any, gx: Any, gy: Any, gs: Any) -> Any:
    """Variance of the first (r-1)(c-1) entries of the residual table; see ``partial.py`` for the terms."""
    r, k = p.shape
    c = q.shape[0]
    d = (r - 1) * (c - 1)
    v = np.zeros((d, d))
    for_x = qc @ gx @ qc.T
    for_y = pc @ gy @ pc.T
    both = 0.0  # product of the noises of the two margins
    lift = np.empty((d, k))
    for s in range(k):
        both += min(gx[s, s] * gy[s, s] / max(size[s], 1.0) ** 2, gx[s, s], gy[s, s])
        e = 0
        for i in range(r - 1):
            for j in range(c - 1):
                lift[e, s] = pc[i, s] * qc[j, s]
                e += 1
    v += lift @ gs @ lift.T
    e = 0
    for i in range(r - 1):
        for j in range(c - 1):
            f = 0
            for a in range(r - 1):
                for b in range(c - 1):
                    px = (1.0 if i == a else 0.0) - 1.0 / r
                    py = (1.0 if j == b else 0.0) - 1.0 / c
                    v[e, f] += (xy + both) * px * py + px * for_x[j, b] + for_y[i, a] * py
                    for s in range(k):
                        v[e, f] += (
                            size[s]
                            * ((p[i, s] if i == a else 0.0) - p[i, s] * p[a, s])
                            * ((q[j, s] if j == b else 0.0) - q[j, s] * q[b, s])
                        )
                    f += 1
            v[e, e] += FLOOR
            e += 1
    return v


@jit
def partial_form(txy: Any, txs: Any, tys: Any, xy: Any, gx: Any, gy: Any, gs: Any) -> Any:
    """(quadratic form, rows that could differ, standard error of a cell) of the residual table."""
    r, c = txy.shape
    k = txs.shape[1]
    size = np.zeros(k)
    p = conditional(txs, size)
    q = conditional(tys, size)
    residual = txy - (p * size) @ q.T
    residual = centred(centred(residual).T).T
    v = covariance(size, p, q, centred(p), centred(q), xy, gx, gy, gs)
    d = (r - 1) * (c - 1)
    value = residual[: r - 1, : c - 1].copy().reshape(d)
    form = value @ np.linalg.solve(v, value)
    free_x, free_y = 0.0, 0.0
    for s in range(k):
        free_x += size[s] * (1.0 - p[:, s].max())
        free_y += size[s] * (1.0 - q[:, s].max())
    return form, min(free_x, free_y), np.sqrt(np.trace(v) / d)
