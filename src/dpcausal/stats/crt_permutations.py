"""Copies of a column made of its own values: the permutations of the conditional permutation test.

The test of [1] compares x with permutations of x that are as likely, given z and the values of x in any order, as x
itself: P(pi) ~ prod_i q(x_pi(i) | z_i). Two cases can be drawn exactly and keep a row's reach small:

- **cells**: all given columns hold levels. Within a cell of z the factors cancel, so every permutation within cells is
  as likely as any other, whatever q is: **no law of x need be known**. Drawn by inserting row after row: the t-th row
  of a cell changes places with one of the first t, itself included.
- **pairs**: z holds numbers and q is known. Rows are paired at random, once for all copies; each pair changes places
  with probability 1/(1 + q(x_i|z_i) q(x_j|z_j)/(q(x_j|z_i) q(x_i|z_j))): given the pairs and their two values, the law
  of x under the null. An odd row stays.

(The sampler of [1, Algorithm 1] repeats the pairs many times with fresh partners. Each round then passes a change of
one row on to twice as many rows, so that nothing bounds what one row does: one round is taken.)

**Guarantee**: how far one row moves the statistic of a copy is in ``crt.proof.md``. **Null law**: x and its copies are
exchangeable given z and the values in each cell or pair. **Cost** O(n) a copy.

References: [1] Berrett, Wang, Barber & Samworth 2020.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.compiled import jit
from dpcausal.core.proofs import proved

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def places_in_cells(cell: Integers) -> Integers:
    """Return t of every row, 1 for the first row of its cell in the order of the rows.

    >>> places_in_cells(np.array([0, 1, 0, 0, 1])).tolist()
    [1, 1, 2, 3, 2]
    """
    order = np.argsort(cell, kind="stable")
    in_order = cell[order]
    first = np.searchsorted(in_order, in_order)
    places = np.empty(len(cell), np.int64)
    places[order] = np.arange(len(cell)) - first + 1
    return places


@jit()
def _insert(order: Any, start: Any, drawn: Any, source: Any) -> None:
    """Fill ``source`` with the row whose value each row gets; ``drawn`` is below t for the t-th row of a cell."""
    for at in range(order.shape[0]):
        row, other = order[at], order[start[at] + drawn[order[at]]]
        if other != row:
            source[row] = source[other]
        source[other] = row


@proved("crt.proof.md")
def permuted_in_cells(cell: Integers, drawn: Integers) -> Integers:
    """Return the row whose value each row gets: a permutation within cells.

    Parameters
    ----------
    cell
        The cell of every row.
    drawn
        For every row a number drawn uniformly from 0 ... t - 1, t as in ``places_in_cells``.

    >>> permuted_in_cells(np.array([0, 0, 1]), np.array([0, 0, 0])).tolist()
    [1, 0, 2]
    """
    order = np.argsort(cell, kind="stable").astype(np.int64)
    in_order = cell[order]
    source = np.empty(len(cell), np.int64)
    _insert(order, np.searchsorted(in_order, in_order).astype(np.int64), drawn.astype(np.int64), source)
    return source


def swap_chances(own: Floats, other: Floats) -> Floats:
    """Return how probably each pair changes places.

    Parameters
    ----------
    own, other
        log q(x_i|z_i) + log q(x_j|z_j) of every pair, and log q(x_j|z_i) + log q(x_i|z_j).

    >>> swap_chances(np.array([0.0, 0.0]), np.array([0.0, -np.inf])).tolist()
    [0.5, 0.0]
    """
    with np.errstate(all="ignore"):
        gap = np.nan_to_num(own - other, nan=0.0, posinf=800.0, neginf=-800.0)
        return np.asarray(1.0 / (1.0 + np.exp(np.clip(gap, -700.0, 800.0))))


@proved("crt.proof.md")
def swapped_pairs(n: int, order: Integers, swap: NDArray[np.bool_]) -> Integers:
    """Return the row whose value each row gets: rows 2k and 2k + 1 of ``order`` change places where ``swap`` says so.

    >>> swapped_pairs(3, np.array([2, 0, 1]), np.array([True])).tolist()
    [2, 1, 0]
    """
    source = np.arange(n)
    one, two = order[: 2 * len(swap) : 2][swap], order[1 : 2 * len(swap) : 2][swap]
    source[one], source[two] = two, one
    return source
