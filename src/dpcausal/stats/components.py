"""Tables taken apart into interactions: one component for every set of columns, none said twice.

**Formula.** The table over a set A of columns with r_j levels is the sum over all B within A of its component B spread
evenly over the other columns; component B is the margin over B with its mean along every axis taken off,

    t_B = (prod over j in B of (I - J/r_j)) m_B,          J all ones,

and lies in a space of prod (r_j - 1) dimensions. What two tables share (a common margin) is the same components, so to
measure components is to combine every measurement of every margin; nothing is paid for twice.

**Sensitivity** (``components.proof.md``), squared l2. A row adds to t_B a vector of squared length
prod (1 - 1/r_j). Replacing a row by one that differs from it in D of the columns of B moves t_B by

    2 (prod over B (1 - 1/r_j) - prod over B less D (1 - 1/r_j) prod over D (-1/r_j)).

Two binary columns: 1/4 and 1 where the table itself has 1 and 2; and no two rows differ in the parity of every pair,
which ``pairs_sensitivity`` counts: for all pairs of 37 columns of alarm 529.5 where tables cost 1,332.

**Cost** O(cells) a component. References: Xiao, He, Zhang & Kifer 2023 (residual basis of margins, add-remove).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved

Floats = NDArray[np.float64]
Columns = tuple[int, ...]  # ascending column numbers
ROUNDING = 1.0 + 2.0**-40  # float64 errors of the few products here are far below
MOST_ENUMERATED = 100_000
STEP = 2.0**-12  # of the grid that components are released on


@proved("components.proof.md")
def interaction(margin: ArrayLike) -> Floats:
    """The component of a margin: its mean along every axis taken off.

    >>> interaction([[30, 10], [10, 50]])
    array([[ 15., -15.],
           [-15.,  15.]])
    """
    found = np.array(margin, dtype=np.float64)
    for axis in range(found.ndim):
        found -= found.mean(axis=axis, keepdims=True)
    return found


@proved("components.proof.md")
def component_sensitivity(sizes: Sequence[int], neighbours: Neighbours) -> float:
    """Squared l2 sensitivity of the component over columns of these sizes.

    >>> component_sensitivity([2, 2], Neighbours.ADD_REMOVE), component_sensitivity([2, 2], Neighbours.REPLACE_ONE)
    (0.25, 1.0)
    """
    whole = math.prod(1.0 - 1.0 / r for r in sizes)
    if neighbours is Neighbours.ADD_REMOVE:
        return whole * (ROUNDING if any(r & (r - 1) for r in sizes) else 1.0)
    worst = 0.0
    for differ in product((False, True), repeat=len(sizes)):
        if any(differ):
            inner = math.prod(
                -1.0 / r if moved else 1.0 - 1.0 / r for r, moved in zip(sizes, differ, strict=True)
            )
            worst = max(worst, 2.0 * (whole - inner))
    return worst * (ROUNDING if any(r & (r - 1) for r in sizes) else 1.0)


@proved("components.proof.md")
def sets_sensitivity(sets: Iterable[Sequence[int]], sizes: Sequence[int], neighbours: Neighbours) -> float:
    """Squared l2 sensitivity of several components together: at most the sum of theirs."""
    return ROUNDING * math.fsum(
        component_sensitivity([sizes[j] for j in columns], neighbours) for columns in sets
    )


@proved("components.proof.md")
def pairs_sensitivity(sizes: Sequence[int], neighbours: Neighbours) -> float:
    """Squared l2 sensitivity of the components of all pairs of columns: exact.

    What a replaced row moves depends only on how many columns of each size differ, so all such numbers are tried.

    >>> round(pairs_sensitivity([2] * 8, Neighbours.REPLACE_ONE), 6)  # the largest cut of 8 columns
    16.0
    """
    everything = list(combinations(range(len(sizes)), 2))
    if neighbours is Neighbours.ADD_REMOVE:
        return sets_sensitivity(everything, sizes, neighbours)
    groups = sorted(Counter(sizes).items())
    if math.prod(count + 1 for _, count in groups) > MOST_ENUMERATED:
        return sets_sensitivity(everything, sizes, neighbours)
    worst = 0.0
    for moved in product(*(range(count + 1) for _, count in groups)):
        total = 0.0
        for g, (r, count) in enumerate(groups):
            d = moved[g]
            total += d * (d - 1) * (1.0 - 2.0 / r) + 2.0 * d * (count - d) * (1.0 - 1.0 / r)
            for h in range(g + 1, len(groups)):
                c, others = groups[h]
                e = moved[h]
                total += 2.0 * d * e * (1.0 - 1.0 / r - 1.0 / c)
                total += 2.0 * (d * (others - e) * (1.0 - 1.0 / c) + (count - d) * e * (1.0 - 1.0 / r))
        worst = max(worst, total)
    return worst * ROUNDING


@proved("components.proof.md")
def absolute_sensitivity(
    sets: Iterable[Sequence[int]], sizes: Sequence[int], neighbours: Neighbours
) -> float:
    """l1 sensitivity of several components in their cells: |v|_1 <= sqrt(cells) |v|_2, component by component."""
    return ROUNDING * math.fsum(
        math.sqrt(
            math.prod(sizes[j] for j in columns)
            * component_sensitivity([sizes[j] for j in columns], neighbours)
        )
        for columns in sets
    )


def table_of(components: Mapping[Columns, Floats], columns: Columns, sizes: Sequence[int]) -> Floats:
    """The table over ascending ``columns`` from its components; those not there are taken as 0.

    >>> parts = {(): np.array(100.0), (0,): np.array([-10.0, 10.0]), (1,): np.array([-10.0, 10.0])}
    >>> table_of(parts | {(0, 1): interaction([[30, 10], [10, 50]])}, (0, 1), [2, 2])
    array([[30., 10.],
           [10., 50.]])
    """
    found = np.zeros([sizes[j] for j in columns])
    for number in range(len(columns) + 1):
        for inner in combinations(columns, number):
            if inner in components:
                shape = [sizes[j] if j in inner else 1 for j in columns]
                spread = math.prod(sizes[j] for j in columns if j not in inner)
                found += components[inner].reshape(shape) / spread
    return found
