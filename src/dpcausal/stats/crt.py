"""The statistic of the conditional randomization test, and how much one row can move it.

    T = sum_i u_i v_i,      u_i = clip((x_i - centre_i)/sd_i, -1, 1),   |u_i| <= 1

x is the real column or one drawn from its law given z; centre_i and sd_i are the mean and standard deviation of
that law at z_i (or any other function of row i's z), so u is the residual in standard deviations, cut at one: it keeps
.95 of the correlation of a normal x, and its reach does not depend on the bounds of x. v_i scores y:

- ``ranks`` (default): v_i = A_i/n_b, A_i = (rows below) - (rows above) of y_i in its block b of z, |v_i| < 1. Needs no
  bounds of y and takes out what z does to it. Sensitivity **2 add, 4 replace**, for any number of blocks.
- ``plain``: v_i = y scaled to [-1, 1] by its declared bounds. **1 add, 2 replace**; z's part of y stays in as noise.
- ``kernel``: residuals of y in [-1, 1] after kernel ridge on z, the paper's. **2 (1 + B)^2 replace**, with
  B = 1/sqrt(2 lambda) for lambda <= 2, else 2/(2 + lambda) (5.83 at lambda = 1, where [2] has 29); none for add.

Copies that are permutations of x itself (``stats/crt_permutations.py``) tie two rows together, the changed one and the
one that its value went to:

- within cells: ranks **4 add, 8 replace**; plain **3 add, 6 replace**;
- within pairs: ranks **6 replace**; plain **4 replace**; none for add, since one row more would pair all others anew.

With several columns in u or v (indicators of unordered levels) T is the largest |sum u v|: no more sensitive.

**Guarantee**: ``crt.proof.md``. **Null law**: whatever v, the T of the real column and of the drawn ones are
exchangeable if x is independent of y given z and the law of x given z is right. **Cost** O(n log n), then O(n) a copy.
**Edge cases**: sd 0 (x is determined by z) gives u = 0; a block of one row gives v = 0.

References: [1] Candes et al. 2018; [2] Kalemaj, Kasiviswanathan & Ramdas 2024, Def. 3.4 and Lemma C.1.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.arguments import checked_strength
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats.limits import checked_rows
from dpcausal.stats.value_ranks import Ranked

Floats = NDArray[np.float64]
Score = Literal["ranks", "plain", "kernel"]
SCORES = ("ranks", "plain", "kernel")
Copies = Literal["law", "cells", "pairs"]
CHUNK_ROWS = 1 << 16  # rows summed at once, in a tree, as numpy adds numbers that lie side by side


@proved("crt.proof.md")
def crt_sensitivity(
    neighbours: Neighbours | str, score: Score, strength: float = 1.0, copies: Copies = "law"
) -> float:
    """Return Delta_T, the sensitivity of T.

    Parameters
    ----------
    neighbours
        The relation.
    score
        How y is scored.
    strength
        The lambda of the score ``kernel``.
    copies
        Drawn from the law of x given z, or permutations within cells or pairs.

    >>> crt_sensitivity("replace-one", "ranks"), round(crt_sensitivity("replace-one", "kernel", 1.0), 2)
    (4.0, 5.83)
    >>> crt_sensitivity("add-remove", "ranks", copies="cells")
    4.0
    """
    added = Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE
    if copies != "law":
        return _permutation_sensitivity(added, score, copies)
    if score == "ranks":
        return 2.0 if added else 4.0
    if score == "plain":
        return 1.0 if added else 2.0
    if added:
        raise InputError(
            "score='kernel' needs replace-one neighbours: its penalty grows with the number of rows"
        )
    return 2 * (1 + ridge_reach(strength)) ** 2


@proved("crt.proof.md")
def _permutation_sensitivity(added: bool, score: Score, copies: Copies) -> float:
    """Return Delta_T where copies are permutations of x."""
    if score == "kernel":
        raise InputError("permutations of x go with score='ranks' or 'plain', not with 'kernel'")
    if copies == "cells":
        once = 4.0 if score == "ranks" else 3.0
        return once if added else 2 * once
    if added:
        raise InputError(
            "permutations within pairs need replace-one neighbours: one row more would pair all others anew"
        )
    return 6.0 if score == "ranks" else 4.0


@proved("crt.proof.md")
def ridge_reach(strength: float) -> float:
    """Return B: the largest |prediction| of a ridge fit to targets in [-1, 1] with features of norm at most 1.

    >>> ridge_reach(2.0), ridge_reach(8.0)
    (0.5, 0.2)
    """
    checked_strength(strength)
    return 1 / math.sqrt(2 * strength) if strength <= 2 else 2 / (2 + strength)


@proved("crt.proof.md")
def standardised(x: Floats, centre: Floats, sd: Floats) -> Floats:
    """Return u: residuals in standard deviations, cut at one; 0 where the standard deviation is 0.

    >>> standardised(np.array([3.0, 0.5]), np.zeros(2), np.array([1.0, 2.0])).tolist()
    [1.0, 0.25]
    """
    u = np.divide(x - centre, sd, out=np.zeros_like(centre), where=sd > 0)
    return np.clip(u, -1.0, 1.0, out=u)


@proved("crt.proof.md")
def rank_scores(y: Ranked, block: NDArray[np.int64], k: int) -> Floats:
    """Return v of the score ``ranks``: (below - above)/n_b in each row's block.

    >>> from dpcausal.stats.value_ranks import ranked
    >>> rank_scores(ranked(np.array([5.0, 1.0, 3.0, 3.0])), np.zeros(4, np.int64), 1).tolist()
    [0.75, -0.75, 0.0, 0.0]
    """
    n = len(block)
    if n == 0:
        return np.zeros(0)
    order = np.lexsort((y.codes, block))
    b, c = block[order], y.codes[order]
    place = np.arange(n)
    new_block = np.concatenate([[True], b[1:] != b[:-1]])
    new_value = new_block | np.concatenate([[True], c[1:] != c[:-1]])
    block_start, block_stop = _runs(new_block, place)
    value_start, value_stop = _runs(new_value, place)
    size = (block_stop - block_start).astype(np.float64)
    below, above = value_start - block_start, block_stop - value_stop
    v = np.empty(n)
    v[order] = (below - above) / size
    return v


@proved("crt.proof.md")
def crt_statistic(u: Floats, v: Floats) -> float:
    """Return T: the largest |sum_i u_i v_i| over the columns of ``u`` (n x f) and of ``v`` (n x g).

    >>> crt_statistic(np.array([[1.0], [-1.0]]), np.array([[0.5], [0.25]]))
    0.25
    """
    n = checked_rows(len(u))
    chunks = [slice(start, start + CHUNK_ROWS) for start in range(0, n, CHUNK_ROWS)]
    return max(abs(math.fsum(float((a[rows] * b[rows]).sum()) for rows in chunks)) for a in u.T for b in v.T)


def _runs(new: NDArray[np.bool_], place: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the run of every place begins, and where it stops."""
    first = np.flatnonzero(new)
    number = np.cumsum(new) - 1
    return first[number], np.append(first[1:], len(place))[number]
