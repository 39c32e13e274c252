"""Exact probabilities of a network, by variable elimination. For tests and for knowing the truth of a
benchmark.

    P(columns) = sum over all other variables of the product of tables

Variables that are no ancestors of ``columns`` sum to 1 and are left out. The others are summed out one at a
time, the one with the smallest product table first.

Cost: exponential in the tree width of the moral graph; a product table above 2^24 cells is an ``InputError``.

Reference: Koller and Friedman (2009), section 9.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from string import ascii_letters
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError

if TYPE_CHECKING:
    from dpcausal.networks.network import Network

MOST_CELLS = 1 << 24

Factor = tuple[tuple[str, ...], NDArray[np.float64]]


def joint(network: Network, columns: Sequence[str]) -> NDArray[np.float64]:
    """Joint probabilities of ``columns``: axis i runs over the levels of ``columns[i]``.

    ``InputError`` for a column that is no variable or is given twice, and for a network too dense for this.

    >>> from dpcausal.networks import load
    >>> load("asia").joint(["lung"]).round(3)
    array([0.055, 0.945])
    """
    wanted = (columns,) if isinstance(columns, str) else tuple(columns)
    if len(set(wanted)) < len(wanted):
        raise InputError("a column of a joint table is given twice")
    sizes = {name: network[name].size for name in (*wanted, *network.dag.nodes)}
    needed = network.dag.ancestors(wanted)
    ordered = [network[name] for name in network.order if name in needed]
    factors: list[Factor] = [((*variable.parents, variable.name), variable.table) for variable in ordered]
    hidden = needed - set(wanted)
    while hidden:
        cost = {name: _cells(_scope(_holding(factors, name)), sizes) for name in sorted(hidden)}
        name = min(cost, key=cost.__getitem__)
        parts = _holding(factors, name)
        scope = tuple(other for other in _scope(parts) if other != name)
        factors = [factor for factor in factors if name not in factor[0]]
        factors.append((scope, _product(parts, scope, sizes)))
        hidden -= {name}
    return _product(factors, wanted, sizes)


def _holding(factors: Iterable[Factor], name: str) -> list[Factor]:
    return [factor for factor in factors if name in factor[0]]


def _scope(factors: Iterable[Factor]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for names, _ in factors for name in names))


def _cells(names: Iterable[str], sizes: dict[str, int]) -> int:
    return prod(sizes[name] for name in names)


def _product(factors: list[Factor], kept: tuple[str, ...], sizes: dict[str, int]) -> NDArray[np.float64]:
    """The product of the factors with everything outside ``kept`` summed out."""
    names = _scope(factors)
    if _cells(names, sizes) > MOST_CELLS or len(names) > len(ascii_letters):
        raise InputError(f"exact probabilities need a table of more than {MOST_CELLS:,} cells here")
    label = {name: i for i, name in enumerate(names)}
    scope: tuple[str, ...] = ()
    table: NDArray[np.float64] = np.ones(())
    for other, values in factors:
        union = (*scope, *(name for name in other if name not in scope))
        table = _einsum(table, scope, values, other, union, label)
        scope = union
    return _einsum(table, scope, np.ones(()), (), kept, label)


def _einsum(
    a: NDArray[np.float64],
    names_a: tuple[str, ...],
    b: NDArray[np.float64],
    names_b: tuple[str, ...],
    kept: tuple[str, ...],
    label: dict[str, int],
) -> NDArray[np.float64]:
    left, right, out = (
        "".join(ascii_letters[label[name]] for name in names) for names in (names_a, names_b, kept)
    )
    return np.asarray(np.einsum(f"{left},{right}->{out}", a, b), dtype=np.float64)
