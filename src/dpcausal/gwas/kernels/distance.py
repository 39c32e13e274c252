"""Signed distance of allele counts to the border of significance, in alleles, in closed form.

See ``gwas/allele_distance.py`` for what it is and ``gwas/allele_distance.proof.md`` for why.
"""

from __future__ import annotations

import math
from typing import Any

import numba as nb

_JIT = {"nogil": True, "cache": True, "error_model": "numpy"}


@nb.njit(**_JIT)
def _band(x: Any, n: Any, nx: Any, ny: Any, tau: Any) -> Any:
    """(low, high): (x, y) lies inside the ellipse iff low <= y <= high, for 0 <= x <= nx.

    On the box's edges one end is a corner of the box, exactly: rounding must not open a way out there.
    """
    edge = tau * ny * n / (n * nx + tau * ny)
    if x <= 0.0:
        return 0.0, edge
    if x >= nx:
        return ny - edge, ny
    a = nx * (nx * n + tau * ny)
    b = nx * ny * (tau * (0.5 * n - x) + n * x)
    # b^2 - a c with c = ny x (ny n x - tau nx (n - x)), the cancelling terms taken out
    root = n * math.sqrt(tau * nx * ny * (0.25 * tau * nx * ny + n * x * (nx - x)))
    return (b - root) / a, (b + root) / a


@nb.njit(**_JIT)
def _leave(y: Any, low: Any, high: Any, top: Any) -> Any:
    """How far y must move within [0, top] to leave [low, high]; infinite if it can't."""
    best = math.inf
    if low > 0.0:
        best = max(y - low, 0.0)
    if high < top:
        best = min(best, max(high - y, 0.0))
    return best


@nb.njit(**_JIT)
def signed_distances(c11: Any, c10: Any, n1: Any, n0: Any, tau: Any, out: Any) -> None:
    """``out[i]``: distance of (c11[i], c10[i]) to the ellipse if it lies outside, minus that to the rest if inside."""
    n = n1 + n0
    spread, lean = math.sqrt(tau * n0 * n1 / n), 0.5 * (n1 - n0)
    reach = math.sqrt(spread * spread + lean * lean)
    least = lean - reach  # least x - y on the ellipse, at (corner_x, corner_y)
    half, link = 0.5 * n * (1.0 - lean / reach), -0.5 * spread / reach * math.sqrt(tau * n * n0 * n1)
    corner_x, corner_y = (link + n1 * half) / n, (n0 * half - link) / n
    edge_y = tau * n0 * n / (n * n1 + tau * n0)  # on x = 0 the ellipse ends here
    edge_x = tau * n1 * n / (n * n0 + tau * n1)  # and here on y = 0
    for i in range(c11.shape[0]):
        a, b = float(c11[i]), float(c10[i])
        link = n0 * a - n1 * b
        outside = n * link * link > tau * n0 * n1 * (a + b) * (n - a - b)
        if outside and link > 0.0:  # mirror, so that the way in is up in a and down in b
            a, b = n1 - a, n0 - b
        low_y, high_y = _band(a, n, n1, n0, tau)
        low_x, high_x = _band(b, n, n0, n1, tau)
        if outside:
            best = min(b - high_y, low_x - a)
            if corner_x >= a and corner_y <= b:
                best = min(best, least - (a - b))
            out[i] = max(best, 0.0)
        else:
            best = min(_leave(b, low_y, high_y, n0), _leave(a, low_x, high_x, n1))
            best = min(best, a + _leave(b, 0.0, edge_y, n0), n1 - a + _leave(b, n0 - edge_y, n0, n0))
            best = min(best, b + _leave(a, 0.0, edge_x, n1), n0 - b + _leave(a, n1 - edge_x, n1, n1))
            out[i] = -min(best, n)
