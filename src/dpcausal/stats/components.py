"""Tables decomposed into interactions: one component for every set of columns, nothing measured twice.

**Formula.** The table over a set A of columns with r_j levels is the sum over all B within A of its component B spread
evenly over the other columns; component B is the margin over B with its mean along every axis taken off,

    t_B = (prod over j in B of (I - J/r_j)) m_B,          J all ones,

and lies in a space of prod (r_j - 1) dimensions. What two tables share (a common margin) is the same components, so to
measure components is to combine every measurement of every margin; nothing is paid for twice.

**Sensitivity** (``components.proof.md``), squared l2. A row adds to t_B a vector of squared length
prod (1 - 1/r_j). Replacing a row by one that differs from it in D of the columns of B moves t_B by

    2 (prod over B (1 - 1/r_j) - prod over B less D (1 - 1/r_j) prod over D (-1/r_j)).

Two binary columns: 1/4 and 1 where the table itself has 1 and 2; and no two rows differ in the parity of every pair,
which ``sets_sensitivity`` counts: for all pairs of 37 columns of alarm 529.5 where tables cost 1,332.

**Cost** O(cells) a component. References: Xiao, He, Zhang & Kifer 2023 (residual basis of margins, add-remove).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product, repeat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats.exact import exact_interaction, rows_of

Floats = NDArray[np.float64]
Columns = tuple[int, ...]  # ascending column numbers
# how far a component over columns of these sizes moves when a row changes in these of them
Moved = Callable[[Sequence[int], Sequence[bool]], float]
ROUNDING = 1.0 + 2.0**-40  # float64 errors of the few products here are far below
MAX_ENUMERATED = 100_000  # ways in which two rows can differ that are tried one by one
MAX_TRIED = 14  # columns whose differing subsets are all tried
EIGENVALUE_ERROR = 2.0**-36  # of the sum of absolute entries, far above what float64 makes
STEP = 2.0**-12  # of the grid that components are released on
MAX_FLOAT_WORK = 2.0**39  # n (2^d - 1) for d columns, up to which float64 is good enough


@proved("components.proof.md")
def interaction(margin: ArrayLike) -> Floats:
    """Return the interaction component of a margin: means along every axis removed.

    >>> interaction([[30, 10], [10, 50]])
    array([[ 15., -15.],
           [-15.,  15.]])
    """
    counts = np.asarray(margin)
    if counts.dtype.kind in "iu" and rows_of(counts) * (2.0**counts.ndim - 1) > MAX_FLOAT_WORK:
        return exact_interaction(counts)
    found = np.array(counts, dtype=np.float64)
    for axis in range(found.ndim):
        found -= found.mean(axis=axis, keepdims=True)
    return found


def _moved_squared(sizes: Sequence[int], differ: Sequence[bool]) -> float:
    """Return the squared l2 change of a component when a row changes in the columns that ``differ``."""
    agree = math.prod(1.0 - 1.0 / r for r in sizes)
    inner = math.prod(-1.0 / r if moved else 1.0 - 1.0 / r for r, moved in zip(sizes, differ, strict=True))
    return 2.0 * (agree - inner)


def _moved_absolute(sizes: Sequence[int], differ: Sequence[bool]) -> float:
    """Return the l1 change of a component when a row changes in the columns that ``differ``."""
    kinds: list[list[tuple[int, float, float]]] = []
    for r, moved in zip(sizes, differ, strict=True):
        here, away = 1.0 - 1.0 / r, -1.0 / r
        rest = [(1, here, away), (1, away, here), (max(r - 2, 0), away, away)]
        kinds.append(rest if moved else [(1, here, here), (r - 1, away, away)])
    return math.fsum(
        math.prod(cells for cells, _, _ in cell)
        * abs(math.prod(before for _, before, _ in cell) - math.prod(after for _, _, after in cell))
        for cell in product(*kinds)
    )


@lru_cache(maxsize=4096)  # many sets have columns of the same sizes
def _worst(sizes: tuple[int, ...], moved: Moved) -> float:
    """Return the largest change ``moved`` over all ways in which two rows can differ."""
    return max(moved(sizes, differ) for differ in product((False, True), repeat=len(sizes)))


@proved("components.proof.md")
def component_sensitivity(sizes: Sequence[int], neighbours: Neighbours) -> float:
    """Return the squared l2 sensitivity of the component over columns of these sizes.

    >>> component_sensitivity([2, 2], Neighbours.ADD_REMOVE), component_sensitivity([2, 2], Neighbours.REPLACE_ONE)
    (0.25, 1.0)
    """
    if neighbours is Neighbours.ADD_REMOVE:
        return math.prod(1.0 - 1.0 / r for r in sizes) * _rounding(sizes)
    return _worst(tuple(sizes), _moved_squared) * _rounding(sizes)


@proved("components.proof.md")
def component_absolute(sizes: Sequence[int], neighbours: Neighbours) -> float:
    """Return the l1 sensitivity of the component over columns of these sizes.

    >>> component_absolute([2, 2], Neighbours.ADD_REMOVE), component_absolute([2, 2], Neighbours.REPLACE_ONE)
    (1.0, 2.0)
    """
    if neighbours is Neighbours.ADD_REMOVE:
        return math.prod(2.0 - 2.0 / r for r in sizes) * _rounding(sizes)
    return _worst(tuple(sizes), _moved_absolute) * _rounding(sizes)


def _rounding(sizes: Sequence[int]) -> float:
    """Return the factor by which a sensitivity is enlarged to cover rounding."""
    return ROUNDING if any(r & (r - 1) for r in sizes) else 1.0


@proved("components.proof.md")
def sets_sensitivity(
    sets: Sequence[Columns], sizes: Sequence[int], neighbours: Neighbours, norm: int = 2
) -> float:
    """Return the l1 (``norm`` 1) or *squared* l2 (``norm`` 2) sensitivity of several components together.

    At most the sum of theirs. What a replaced row moves in single columns and pairs depends only on which columns
    differ. All pairs: only on how many of each size, so all such numbers are tried: the exact value. Some pairs: every
    set of differing columns is tried up to ``MAX_TRIED`` columns; beyond, an eigenvalue bounds the largest sum.

    >>> pairs = list(combinations(range(8), 2))
    >>> round(sets_sensitivity(pairs, [2] * 8, Neighbours.REPLACE_ONE), 6)  # the largest cut of 8 columns
    16.0
    >>> round(sets_sensitivity([(0, 1), (1, 2), (0, 2)], [2] * 8, Neighbours.REPLACE_ONE), 6)  # of a triangle
    2.0
    """
    one = component_sensitivity if norm == 2 else component_absolute
    shapes = Counter(tuple([sizes[j] for j in columns]) for columns in sets)  # few, of many sets
    together = ROUNDING * math.fsum(
        value for shape, times in shapes.items() for value in repeat(one(shape, neighbours), times)
    )
    if neighbours is Neighbours.ADD_REMOVE:
        return together
    moved = _moved_squared if norm == 2 else _moved_absolute
    groups = sorted(Counter(sizes).items())
    enumerable = math.prod(count + 1 for _, count in groups) <= MAX_ENUMERATED
    if enumerable and sorted(sets) == list(combinations(range(len(sizes)), 2)):  # each of them once
        return min(together, ROUNDING * _worst_pairs(tuple(groups), moved))
    if max(map(len, sets), default=0) > 2:
        return together
    return min(together, ROUNDING * _worst_chosen(sets, sizes, moved))


def _worst_chosen(sets: Sequence[Columns], sizes: Sequence[int], moved: Moved) -> float:
    """Return a bound on the total change of these sets of columns, whichever columns differ."""
    return _worst_chosen_kept(tuple(sets), tuple(sizes), moved, MAX_TRIED, EIGENVALUE_ERROR)


@lru_cache(maxsize=256)  # it does not depend on a budget, and a plan tries many
def _worst_chosen_kept(
    sets: tuple[Columns, ...], sizes: tuple[int, ...], moved: Moved, max_tried: int, eigenvalue_error: float
) -> float:
    """Return a bound on the total change of these sets of columns, whichever columns differ; cached.

    With a sign +1 for a column that differs and -1 for one that does not, the sum is c + l's + s'Qs.
    """
    used = sorted({j for columns in sets for j in columns})
    place = {j: k for k, j in enumerate(used)}
    constant, linear, square = 0.0, np.zeros(len(used)), np.zeros((len(used), len(used)))
    moved = lru_cache(maxsize=None)(moved)  # many sets have columns of the same sizes
    for columns in sets:
        levels = tuple(sizes[j] for j in columns)
        if not columns:
            continue  # the number of rows does not move
        if len(columns) == 1:
            half = moved(levels, (True,)) / 2.0
            constant += half
            linear[place[columns[0]]] += half
            continue
        i, j = (place[column] for column in columns)
        first, second = moved(levels, (True, False)), moved(levels, (False, True))
        both = moved(levels, (True, True))
        constant += (first + second + both) / 4.0
        linear[i] += (first - second + both) / 4.0
        linear[j] += (second - first + both) / 4.0
        square[i, j] += (both - first - second) / 8.0
        square[j, i] += (both - first - second) / 8.0
    if len(used) <= max_tried:
        signs = 2.0 * (np.arange(1 << len(used))[:, None] >> np.arange(len(used)) & 1) - 1.0
        return float((constant + signs @ linear + np.einsum("ki,ki->k", signs @ square, signs)).max())
    largest = max(float(np.linalg.eigvalsh(square)[-1]), 0.0) + eigenvalue_error * float(np.abs(square).sum())
    return constant + float(np.abs(linear).sum()) + len(used) * largest


@lru_cache(maxsize=256)  # a plan and a search ask again and again
def _worst_pairs(groups: tuple[tuple[int, int], ...], moved: Moved) -> float:
    """Return the largest total change over all pairs of columns; ``groups`` holds (size, how many columns)."""
    by = {
        (r, c): [[moved((r, c), (i, j)) for j in (False, True)] for i in (False, True)]
        for r, _ in groups
        for c, _ in groups
    }
    worst = 0.0
    for differing in product(*(range(count + 1) for _, count in groups)):
        total = 0.0
        for g, ((r, count), d) in enumerate(zip(groups, differing, strict=True)):
            total += d * (d - 1) / 2 * by[r, r][1][1] + d * (count - d) * by[r, r][1][0]
            for (c, others), e in zip(groups[g + 1 :], differing[g + 1 :], strict=True):
                value = by[r, c]
                total += d * e * value[1][1] + d * (others - e) * value[1][0] + (count - d) * e * value[0][1]
        worst = max(worst, total)
    return worst


def table_of(components: Mapping[Columns, Floats], columns: Columns, sizes: Sequence[int]) -> Floats:
    """Return the table over ascending ``columns`` as the sum of its components; missing ones are 0.

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
