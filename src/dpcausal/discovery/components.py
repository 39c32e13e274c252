"""Released tables, the law of their noise, and tests made from them. Nothing here sees a count without noise.

Two ways to hold them, one way to ask: a *joint* table, whose margins sum noisy cells, and *components*
(``stats/components.py``), each measured with its own noise. A component measured twice is the mean of both,
weighted by inverse variance. Everything here is free post-processing.

**Contrasts** (``contrasts``) are what the forward search asks: covariances of features, from single columns and pairs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from dpcausal.stats.components import Columns, Floats, interaction, table_of
from dpcausal.stats.contrasts import Contrasts, Features, Round, all_pairs
from dpcausal.stats.joint_contrasts import can_be_cleared, cleared_contrasts
from dpcausal.stats.measured import cauchy_combination, measured_test
from dpcausal.stats.partial import PartialTest, block_noise, partial_test

GROUPINGS = 100  # draws of other groups of levels
MAX_OMNIBUS_BLOCKS = 81  # beyond, squares of noise in so many blocks see nothing


class NoisyTables(ABC):
    """Tables over column numbers, with the variance of their noise component by component."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        self.rounds: tuple[Round, ...] = ()  # in which pairs were measured; empty: all at once
        self.regrouped: dict[int, Floats] = {}  # of merged columns: what other groups of levels would keep
        self._against: dict[tuple[int, Columns], Floats] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}(sizes={self.sizes})"

    @abstractmethod
    def table(self, columns: Columns) -> Floats:
        """The table over ascending ``columns``."""

    @abstractmethod
    def variance(self, columns: Columns) -> float:
        """Variance of the noise in every direction of a component; 0 where it is exact or never was measured."""

    @abstractmethod
    def missing(self, x: int, y: int, given: Columns) -> list[Columns]:
        """Components a test of x and y given these needs and that were not measured."""

    def test(self, x: int, y: int, given: Columns = ()) -> PartialTest:
        """The noise-aware test; components not measured count as zero."""
        return partial_test(
            self.cross_table(x, (y,)),
            self.cross_table(x, given),
            self.cross_table(y, given),
            self.variance(joined(x, (y,))),
            self.block_noise(x, given),
            self.block_noise(y, given),
            self.block_noise(None, given),
        )

    def block_noise(self, end: int | None, given: Columns) -> Floats:
        """Covariance over the cells of ``given`` of the noise in a contrast of ``end``, or in their sizes."""
        variances = [
            self.variance(columns if end is None else joined(end, columns)) for columns in subsets_of(given)
        ]
        return block_noise(tuple(self.sizes[j] for j in given), tuple(variances))

    def knows(self, columns: Columns) -> bool:
        """Whether the component was measured."""
        return True

    def pair(self, columns: Columns) -> Floats:
        """The component of a pair."""
        return interaction(self.table(columns))

    def contrasts(self, rows: float, ordered: Sequence[bool]) -> Contrasts:
        """Covariances of features of all columns; ``rows`` public or released, ``ordered``: which have an order."""
        singles = [(j,) for j in range(len(self.sizes))]
        pairs = [pair for pair in all_pairs(len(self.sizes)) if self.knows(pair)]
        features = [
            Features.of(self.table(one), rows, self.variance(one), ordered=order)
            for one, order in zip(singles, ordered, strict=True)
        ]
        noise = {one: self.variance(one) for one in (*singles, *pairs)}
        found = Contrasts.of(features, rows, {one: self.pair(one) for one in pairs}, noise)
        found.rounds = self.rounds
        return found

    def cross_table(self, end: int, columns: Columns) -> Floats:
        """The table of ``end`` against the cells of ascending ``columns``."""
        key = (end, columns)
        if key not in self._against:
            whole = joined(end, columns)
            table = np.moveaxis(self.table(whole), whole.index(end), 0)
            self._against[key] = np.ascontiguousarray(table.reshape(self.sizes[end], -1))
        return self._against[key]


class JointTable(NoisyTables):
    """One joint table with independent noise of one variance in every cell."""

    def __init__(self, table: Floats, variance: float, kurtosis: float = 0.0, n: int | None = None) -> None:
        super().__init__(table.shape)
        self.joint, self.cell_variance, self.kurtosis, self.n = table, variance, kurtosis, n
        self._margins: dict[Columns, Floats] = {tuple(range(table.ndim)): table}

    def block_noise(self, end: int | None, given: Columns) -> Floats:
        """Cells of a margin have independent noise."""
        columns = given if end is None else joined(end, given)
        return self.variance(columns) * np.eye(math.prod(self.sizes[j] for j in given))

    def contrasts(self, rows: float, ordered: Sequence[bool]) -> Contrasts:
        """Covariances of features, with noise that no counts could have taken out (``stats/joint_contrasts.py``)."""
        if self.cell_variance <= 0.0 or not can_be_cleared(self.sizes):
            return super().contrasts(rows, ordered)
        return cleared_contrasts(self.joint, self.cell_variance, self.kurtosis, rows, ordered, self.n)

    def test(self, x: int, y: int, given: Columns = ()) -> PartialTest:
        """The partial form joined with one that squares block by block (``stats/measured.py``).

        The first sums over blocks; the second sees what cancels between them, or stands in one small block only.
        """
        partial = super().test(x, y, given)
        if not given or partial.dof == 0 or math.prod(self.sizes[j] for j in given) > MAX_OMNIBUS_BLOCKS:
            return partial
        whole = tuple(sorted((x, y, *given)))
        table = self.table(whole).transpose([whole.index(j) for j in (*given, x, y)])
        summed = self.joint.size // table.size
        blocks = measured_test(
            table.reshape(-1, *table.shape[-2:]),
            summed * self.cell_variance,
            kurtosis=self.kurtosis / summed,
            n=self.n,
            form="omnibus",
        )
        return replace(partial, pvalue=cauchy_combination(partial.pvalue, blocks.pvalue))

    def table(self, columns: Columns) -> Floats:
        """A margin of the joint table, from the smallest one known that holds it."""
        if columns not in self._margins:
            wanted = set(columns)
            holder = min(
                (known for known in self._margins if wanted.issubset(known)),
                key=lambda k: self._margins[k].size,
            )
            over = tuple(axis for axis, column in enumerate(holder) if column not in wanted)
            self._margins[columns] = np.asarray(self._margins[holder].sum(axis=over))
        return self._margins[columns]

    def variance(self, columns: Columns) -> float:
        """A cell of a margin sums this many cells of the joint table."""
        return self.cell_variance * self.joint.size / math.prod(self.sizes[j] for j in columns)

    def missing(self, x: int, y: int, given: Columns) -> list[Columns]:
        """Nothing ever is."""
        return []


class Components(NoisyTables):
    """Components by ascending column numbers, each with one variance in every direction of its space."""

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__(sizes)
        self.values: dict[Columns, Floats] = {}
        self.variances: dict[Columns, float] = {}

    def add(self, columns: Columns, value: Floats, variance: float) -> None:
        """Take in a released component, or combine it with what is known of it."""
        value = interaction(value) if columns else np.asarray(value, dtype=np.float64)
        if columns in self.values:
            old = self.variances[columns]
            weight = old / (old + variance) if old + variance > 0 else 0.5
            value = weight * value + (1 - weight) * self.values[columns]
            variance = weight * variance
        self.values[columns], self.variances[columns] = value, variance
        self._against.clear()

    def table(self, columns: Columns) -> Floats:
        """The sum of its components, each spread over the other columns."""
        return table_of(self.values, columns, self.sizes)

    def variance(self, columns: Columns) -> float:
        """As measured."""
        return self.variances.get(columns, 0.0)

    def knows(self, columns: Columns) -> bool:
        """Not where only some pairs were measured."""
        return columns in self.values

    def pair(self, columns: Columns) -> Floats:
        """As measured."""
        return self.values[columns]

    def missing(self, x: int, y: int, given: Columns) -> list[Columns]:
        """What ``test`` would take as zero."""
        inner = subsets_of(given)
        wanted = [joined(x, (y,)), *inner, *(joined(end, columns) for end in (x, y) for columns in inner)]
        return [columns for columns in wanted if columns not in self.values]


def joined(end: int, columns: Columns) -> Columns:
    """``columns`` with ``end``, ascending."""
    return tuple(sorted((end, *columns)))


def subsets_of(columns: Columns) -> list[Columns]:
    """All subsets, the smallest first, in the order of ``stats.partial.subsets``."""
    return [inner for number in range(len(columns) + 1) for inner in combinations(columns, number)]
