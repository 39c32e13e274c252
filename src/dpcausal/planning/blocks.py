"""What the form that squares block by block will see (``stats/measured.py``, "omnibus"), for rows nobody has seen yet.

A joint table is tested by two forms: association summed over the conditioning cells (``expected.py``) and squares of
contrasts, one for each of (r-1)(c-1) directions in each block. For a block of n rows with margins p and q and noise
variance s2 in every cell, a contrast has

    signal n^2 per unit of association,      variance  n^3 + s2 (n^2 uu vv + n (r c + c uu + r vv)) + 2 s2^2 U V

(``stats/measured_kernel.py``, with nothing known about the block but its margins): uu = sum u^2 for a direction u of
mean 0 and variance 1 under p, U = r uu - (sum u)^2; vv and V the same for q. The form weighs a contrast by a =
signal^2/(variance sqrt(n)). It is taken as chi-squared with (sum a)^2/sum a^2 degrees of freedom and the
noncentrality that gives it the right mean.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpcausal.planning.expected import Floats, directions, margin


def block_sizes(given: tuple[int, ...], share: float | None, rows: float) -> tuple[Floats, Floats]:
    """(expected size, how many such blocks) over all cells of the columns given.

    >>> [part.tolist() for part in block_sizes((2, 2), 0.1, 100.0)]
    [[1.0, 9.0, 81.0], [1.0, 2.0, 1.0]]
    """
    sizes: Floats = np.array([float(rows)])
    counts: Floats = np.ones(1)
    for size in given:
        values, times = np.unique(margin(size, share), return_counts=True)
        every = np.round(np.multiply.outer(sizes, values).ravel(), 9)
        number = np.multiply.outer(counts, times.astype(np.float64)).ravel()
        sizes, where = np.unique(every, return_inverse=True)
        counts = np.bincount(where, weights=number).astype(np.float64)
    return sizes, counts


@lru_cache(maxsize=4096)
def omnibus(
    rows: float, x: int, y: int, given: tuple[int, ...], share: float | None, noise: float
) -> tuple[float, float]:
    """(degrees of freedom, noncentrality per unit of w^2); ``noise`` is the variance in a cell of the whole table.

    >>> found = omnibus(1000.0, 2, 2, (2, 2), None, 0.0)
    >>> round(found[0], 6), round(found[1], 6)
    (4.0, 1000.0)
    """
    sizes, counts = block_sizes(given, share, rows)
    n = sizes[:, None, None]
    p, q = margin(x, share), margin(y, share)
    u, v = directions(p), directions(q)
    uu, vv = (u**2).sum(axis=0)[None, :, None], (v**2).sum(axis=0)[None, None, :]
    su, sv = u.sum(axis=0)[None, :, None], v.sum(axis=0)[None, None, :]
    spread = n if noise > 0 else 0 * n  # sizes of blocks are not known exactly
    square = n**2 + spread
    linear = noise * (square * uu * vv + n * (x * y + y * uu + x * vv))
    product = 2 * noise**2 * (x * uu - su**2) * (y * vv - sv**2)
    strength = (square**2 / (n**3 + 3 * n * spread + linear + product)).reshape(len(sizes), -1)
    weight = strength / np.sqrt(sizes)[:, None]
    total = float(counts @ weight.sum(axis=1))
    degrees = total**2 / float(counts @ (weight**2).sum(axis=1))
    mean = float(counts @ (weight * strength).sum(axis=1)) / total
    return degrees, degrees * mean / math.prod(strength.shape[1:])
