"""Kernel of the test on partial association (``partial.py``): margins, residual table, covariance, quadratic form.

Products and the solution are loops written out: tables are small, and numba takes ten seconds to compile numpy's
``@`` and ``linalg.solve`` where it has not been run before.
"""

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
        mean = 0.0
        for a in range(levels):
            mean += p[a, s] / levels
        for a in range(levels):
            out[a, s] = p[a, s] - mean
    return out


@jit
def sandwich(a: Any, g: Any) -> Any:
    """a g a'."""
    rows, k = a.shape
    out = np.zeros((rows, rows))
    line = np.empty(k)
    for i in range(rows):
        line[:] = 0.0
        for s in range(k):
            for t in range(k):
                line[t] += a[i, s] * g[s, t]
        for j in range(rows):
            for t in range(k):
                out[i, j] += line[t] * a[j, t]
    return out


@jit
def covariance(size: Any, p: Any, q: Any, pc: Any, qc: Any, xy: Any, gx: Any, gy: Any, gs: Any) -> Any:
    """Variance of the first (r-1)(c-1) entries of the residual table; see ``partial.py`` for the terms."""
    r, k = p.shape
    c = q.shape[0]
    d = (r - 1) * (c - 1)
    for_x = sandwich(qc, gx)
    for_y = sandwich(pc, gy)
    both = 0.0  # product of the noises of the two margins
    lift = np.empty((d, k))
    for s in range(k):
        both += min(gx[s, s] * gy[s, s] / max(size[s], 1.0) ** 2, gx[s, s], gy[s, s])
        e = 0
        for i in range(r - 1):
            for j in range(c - 1):
                lift[e, s] = pc[i, s] * qc[j, s]
                e += 1
    v = sandwich(lift, gs)
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
def quadratic(v: Any, value: Any) -> Any:
    """value' v^-1 value by elimination with row exchanges; overwrites v."""
    d = value.shape[0]
    right = value.copy()
    for e in range(d):
        pivot = e
        for i in range(e + 1, d):
            if abs(v[i, e]) > abs(v[pivot, e]):
                pivot = i
        if pivot != e:
            for j in range(e, d):
                v[e, j], v[pivot, j] = v[pivot, j], v[e, j]
            right[e], right[pivot] = right[pivot], right[e]
        for i in range(e + 1, d):
            factor = v[i, e] / v[e, e]
            for j in range(e + 1, d):
                v[i, j] -= factor * v[e, j]
            right[i] -= factor * right[e]
    form = 0.0
    for e in range(d - 1, -1, -1):
        for j in range(e + 1, d):
            right[e] -= v[e, j] * right[j]
        right[e] /= v[e, e]
        form += value[e] * right[e]
    return form


@jit
def centred_twice(txy: Any, p: Any, q: Any, size: Any) -> Any:
    """What is left of (x, y) after the margins, rows and columns centred."""
    r, c = txy.shape
    out = np.empty((r, c))
    for i in range(r):
        for j in range(c):
            out[i, j] = txy[i, j]
            for s in range(size.shape[0]):
                out[i, j] -= p[i, s] * size[s] * q[j, s]
    for i in range(r):
        mean = 0.0
        for j in range(c):
            mean += out[i, j] / c
        for j in range(c):
            out[i, j] -= mean
    for j in range(c):
        mean = 0.0
        for i in range(r):
            mean += out[i, j] / r
        for i in range(r):
            out[i, j] -= mean
    return out


@jit
def largest(p: Any, s: Any) -> Any:
    """The largest entry of column s."""
    found = p[0, s]
    for a in range(1, p.shape[0]):
        found = max(found, p[a, s])
    return found


@jit
def partial_form(txy: Any, txs: Any, tys: Any, xy: Any, gx: Any, gy: Any, gs: Any) -> Any:
    """(quadratic form, rows that could differ, standard error of a cell) of the residual table."""
    r, c = txy.shape
    k = txs.shape[1]
    size = np.zeros(k)
    p = conditional(txs, size)
    q = conditional(tys, size)
    residual = centred_twice(txy, p, q, size)
    v = covariance(size, p, q, centred(p), centred(q), xy, gx, gy, gs)
    d = (r - 1) * (c - 1)
    value = np.empty(d)
    for e in range(d):
        value[e] = residual[e // (c - 1), e % (c - 1)]
    error = 0.0
    for e in range(d):
        error += v[e, e] / d
    form = quadratic(v, value)
    free_x, free_y = 0.0, 0.0
    for s in range(k):
        free_x += size[s] * (1.0 - largest(p, s))
        free_y += size[s] * (1.0 - largest(q, s))
    return form, min(free_x, free_y), np.sqrt(error)
