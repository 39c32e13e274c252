"""Copies of a column that are its own values in another order; ``stats/crt_permutations.py`` says which and why.

Permutations within cells are drawn from the operating system's bytes, like noise: that one row has little reach holds
on average over permutations that nobody knows. Pairs and their swaps may be known to anyone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.crt_models import LinearGaussian, TableModel
from dpcausal.core.entropy import random_bytes
from dpcausal.core.proofs import proved
from dpcausal.data.dataset import Dataset
from dpcausal.stats.crt_permutations import permuted_in_cells, places_in_cells, swap_chances, swapped_pairs

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@proved("crt_copies.proof.md")
def below_each(bounds: Integers) -> Integers:
    """Return for every bound a number drawn uniformly from 0 ... bound - 1, exactly, from the system's bytes.

    >>> below_each(np.array([1, 1, 1])).tolist()
    [0, 0, 0]
    """
    size = bounds.astype(np.uint64)
    uneven = (np.uint64(0) - size) % size  # 2^64 mod bound: so many words are too many for some numbers
    words = np.frombuffer(random_bytes(8 * len(bounds)), np.uint64).copy()
    while (again := np.flatnonzero(words < uneven)).size:
        words[again] = np.frombuffer(random_bytes(8 * again.size), np.uint64)
    return np.asarray(words % size, np.int64)


def in_cells(x: Floats, cell: Integers) -> Callable[[], Floats]:
    """Return a function that returns x permuted within cells, anew with every call."""
    places = places_in_cells(cell)
    return lambda: x[permuted_in_cells(cell, below_each(places))]


def in_pairs(
    x: Floats, model: LinearGaussian | TableModel, data: Dataset, generator: Any
) -> Callable[[], Floats]:
    """Return a function that returns x with pairs of rows swapped, anew with every call; the pairs stay the same."""
    order = generator.permutation(data.n)
    one, two = order[: data.n // 2 * 2 : 2], order[1::2]
    own = model.log_density(data, one, x[one]) + model.log_density(data, two, x[two])
    other = model.log_density(data, one, x[two]) + model.log_density(data, two, x[one])
    chances = swap_chances(own, other)
    return lambda: x[swapped_pairs(data.n, order, generator.random(len(chances)) < chances)]
