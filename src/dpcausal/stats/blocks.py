"""The input of every statistic on tables: counts of shape (k, r, c).

k conditioning cells (declared, so empty ones are there too), r levels of x, c levels of y. Only the type and
the shape are checked, both public; a check on the counts would be a branch on data.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError

Blocks = NDArray[np.int64]


def checked_blocks(blocks: ArrayLike) -> Blocks:
    """Return ``blocks`` as contiguous int64 of shape (k, r, c).

    >>> checked_blocks([[[1, 0], [0, 2]]]).shape
    (1, 2, 2)
    """
    array = np.asarray(blocks)
    if array.ndim != 3 or 0 in array.shape:
        raise InputError(f"blocks must have shape (k, r, c), none of them 0, not {array.shape}")
    if array.dtype.kind not in "iu":
        raise InputError(f"blocks must hold integer counts, not {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.int64)


def block_sizes(blocks: Blocks) -> NDArray[np.int64]:
    """Return n_i, the number of rows in each conditioning cell.

    >>> block_sizes(checked_blocks([[[1, 0], [0, 2]], [[0, 0], [0, 0]]])).tolist()
    [3, 0]
    """
    return np.asarray(blocks.sum(axis=(1, 2)), dtype=np.int64)


def checked_shape(r: int, c: int, k: int = 1) -> tuple[int, int, int]:
    """Return the public sizes (r, c, k) of a table; refuse one below 1."""
    if min(r, c, k) < 1:
        raise InputError(f"levels and blocks must be at least 1, not r={r}, c={c}, k={k}")
    return r, c, k


def is_binary(r: int, c: int) -> bool:
    """Return whether x and y have at most two levels each; sensitivities are then smaller."""
    return max(r, c) <= 2
