"""Rows from a network, by ancestral sampling.

Go through the variables with parents first. A row draws u uniform on [0, 1) and takes the level whose part
of [0, 1) holds u, the parts being laid out by the cumulative table row of its parents' levels; the level is
found by bisection over all rows at once. A level of probability 0 is never drawn.

Cost: O(n x variables x log levels) time; n bytes per variable (two where it has more than 256 levels). Rows
are made in blocks that fit the processor's cache, so nothing else of size n is held.

The numbers come from numpy's seeded generator: this is synthetic data, and no noise of any mechanism.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.data.dataset import Codes, Dataset

if TYPE_CHECKING:
    from dpcausal.networks.network import Network, Variable

BLOCK = 1 << 14


def sample(network: Network, n: int, seed: int | np.random.Generator) -> Dataset:
    """``n`` independent rows of ``network``.

    The same seed gives the same rows with the same version of numpy; the rows for a smaller n are not
    promised to be the first of those for a larger one. ``InputError`` for n < 0 or a seed that is not a
    number >= 0.

    >>> from dpcausal.networks import load
    >>> load("asia").sample(5, seed=1).codes["smoke"].dtype
    dtype('uint8')
    """
    rows = _whole("n", n)
    rng = seed if isinstance(seed, np.random.Generator) else np.random.default_rng(_whole("seed", seed))
    codes = {v.name: _empty(rows, v.size) for v in network}
    laid_out = {v.name: _cumulative(v) for v in network}
    for start in range(0, rows, BLOCK):
        stop = min(start + BLOCK, rows)
        for name in network.order:
            variable = network[name]
            row = _table_row(network, variable, codes, start, stop)
            codes[name][start:stop] = _draw(laid_out[name], row, rng.random(stop - start))
    return Dataset(network.schema, rows, codes)


def _empty(n: int, size: int) -> Codes:
    return np.empty(n, dtype=np.uint8) if size <= 256 else np.empty(n, dtype=np.uint16)


def _whole(name: str, value: object) -> int:
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if number < 0 or isinstance(value, bool):
        raise InputError(f"{name} must be a whole number >= 0, not {value!r}")
    return number


def _cumulative(variable: Variable) -> NDArray[np.float64]:
    """Upper ends of the parts of all levels but the last, one table row per parent configuration.

    Padded on the right to 2^k - 1 entries that no u reaches. The end of the last level with positive
    probability is set there too, so that rounding can't give a level of probability 0.
    """
    table = variable.table.reshape(-1, variable.size)
    ends = np.cumsum(table, axis=1)
    last = table.shape[1] - 1 - np.argmax(table[:, ::-1] > 0, axis=1)
    ends[np.arange(table.shape[1]) >= last[:, None]] = 2.0
    width = (1 << (variable.size - 1).bit_length()) - 1
    padded = np.full((len(table), width), 2.0)
    padded[:, : variable.size - 1] = ends[:, :-1]
    return padded


def _table_row(
    network: Network, variable: Variable, codes: dict[str, Codes], start: int, stop: int
) -> NDArray[np.intp]:
    """Number of the table row that each sample's parents select: mixed radix, last parent fastest."""
    row = np.zeros(stop - start if variable.parents else 1, dtype=np.intp)
    for parent, size in zip(variable.parents, network.sizes(variable.parents), strict=True):
        row *= size
        row += codes[parent][start:stop]
    return row


def _draw(ends: NDArray[np.float64], row: NDArray[np.intp], u: NDArray[np.float64]) -> NDArray[np.intp]:
    """Number of ends <= u in the chosen row, by bisection."""
    width = ends.shape[1]
    flat = ends.reshape(-1)
    if width == 1:
        return (u >= flat.take(row)).astype(np.intp)
    base = row * width
    level = np.zeros(len(u), dtype=np.intp)
    step = (width + 1) // 2
    while step:
        level += step * (u >= flat.take(base + level + (step - 1)))
        step //= 2
    return level
