"""Released tables, the law of their noise, and tests made from them. Nothing here sees a count without noise.

Three ways to hold them, one way to ask: a *joint* table, whose margins sum noisy cells, *components*
(``stats/components.py``), each measured with its own noise, and components of several *sites*
(``stats/within_sites.py``). A component measured twice is the mean of both, weighted by inverse variance. Tables are
values: measuring more gives new ones. Everything here is free post-processing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from types import MappingProxyType

import numpy as np

from dpcausal.stats.components import Columns, Floats, interaction, table_of
from dpcausal.stats.contrasts import Contrasts, Features, all_pairs
from dpcausal.stats.partial import PartialTest, block_noise, partial_test
from dpcausal.stats.within_sites import SiteTables, WithinSites


class NoisyTables(ABC):
    """Tables over column numbers, with the variance of their noise component by component."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        self._against: dict[tuple[int, Columns], Floats] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}(sizes={self.sizes})"

    @abstractmethod
    def table(self, columns: Columns) -> Floats:
        """Return the noisy table over ascending ``columns``."""

    @abstractmethod
    def variance(self, columns: Columns) -> float:
        """Return the noise variance of a component, in every direction; 0 if exact or not measured."""

    @abstractmethod
    def missing(self, x: int, y: int, given: Columns) -> list[Columns]:
        """Return the components that a test of x and y given these needs and that were not measured."""

    def test(self, x: int, y: int, given: Columns = ()) -> PartialTest:
        """Return the test of x and y given these that knows the noise; unmeasured components count as zero."""
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
        """Return the noise covariance over cells of ``given``, of a contrast of ``end`` or of cell sizes."""
        variances = [
            self.variance(columns if end is None else joined(end, columns)) for columns in subsets_of(given)
        ]
        return block_noise(tuple(self.sizes[j] for j in given), tuple(variances))

    def knows(self, columns: Columns) -> bool:
        """Return whether this component was measured."""
        return True

    def pair(self, columns: Columns) -> Floats:
        """Return the component of a pair of columns."""
        return interaction(self.table(columns))

    def contrasts(self, rows: float, columns: Sequence[int] | None = None) -> Contrasts:
        """Return the covariances of features of ``columns`` (None: all), numbered as listed.

        ``rows`` are public or released.
        """
        listed = list(range(len(self.sizes))) if columns is None else list(columns)
        features, blocks, noise = [], {}, dict[tuple[int, ...], float]()
        for place, j in enumerate(listed):
            noise[place,] = self.variance((j,))
            features.append(Features.of(self.table((j,)), rows, noise[place,]))
        for a, b in all_pairs(len(listed)):
            pair = (min(listed[a], listed[b]), max(listed[a], listed[b]))
            if self.knows(pair):
                blocks[a, b] = self.pair(pair) if listed[a] < listed[b] else self.pair(pair).T
                noise[a, b] = self.variance(pair)
        return Contrasts.of(features, rows, blocks, noise)

    def cross_table(self, end: int, columns: Columns) -> Floats:
        """Return the noisy table of ``end`` against the cells of ascending ``columns``."""
        key = (end, columns)
        if key not in self._against:
            whole = joined(end, columns)
            table = np.moveaxis(self.table(whole), whole.index(end), 0)
            self._against[key] = np.ascontiguousarray(table.reshape(self.sizes[end], -1))
        return self._against[key]


class JointTable(NoisyTables):
    """One joint table with independent noise of one variance in every cell."""

    def __init__(self, table: Floats, variance: float, kurtosis: float = 0.0) -> None:
        super().__init__(table.shape)
        self.joint, self.cell_variance, self.kurtosis = table, variance, kurtosis
        self._margins: dict[Columns, Floats] = {tuple(range(table.ndim)): table}

    def block_noise(self, end: int | None, given: Columns) -> Floats:
        """Return the noise covariance over cells of ``given``: diagonal, as cells have independent noise."""
        columns = given if end is None else joined(end, given)
        return self.variance(columns) * np.eye(math.prod(self.sizes[j] for j in given))

    def table(self, columns: Columns) -> Floats:
        """Return a margin of the joint table, summed from the smallest margin known that holds it."""
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
        """Return the noise variance of a cell of a margin, which sums cells of the joint table."""
        return self.cell_variance * self.joint.size / math.prod(self.sizes[j] for j in columns)

    def missing(self, x: int, y: int, given: Columns) -> list[Columns]:
        """Return no components: a joint table lacks none."""
        return []


class Components(NoisyTables):
    """Components by ascending column numbers, each with one variance in every direction of its space."""

    def __init__(
        self,
        sizes: Sequence[int],
        values: Mapping[Columns, Floats] | None = None,
        variances: Mapping[Columns, float] | None = None,
    ) -> None:
        super().__init__(sizes)
        self.values: Mapping[Columns, Floats] = MappingProxyType(dict(values or {}))
        self.variances: Mapping[Columns, float] = MappingProxyType(dict(variances or {}))

    def with_measured(self, components: Iterable[tuple[Columns, Floats]], variance: float) -> Components:
        """Return the components with newly released ones, averaged with earlier releases by variance."""
        values, variances = dict(self.values), dict(self.variances)
        for columns, released in components:
            value = interaction(released) if columns else np.asarray(released, dtype=np.float64)
            if columns in values:
                old = variances[columns]
                weight = old / (old + variance) if old + variance > 0 else 0.5
                values[columns] = weight * value + (1 - weight) * values[columns]
                variances[columns] = weight * variance
            else:
                values[columns], variances[columns] = value, variance
        return Components(self.sizes, values, variances)

    def only(self, wanted: Iterable[Columns]) -> Components:
        """Return these components alone, unchanged."""
        some = [columns for columns in wanted if columns in self.values]
        return Components(
            self.sizes, {one: self.values[one] for one in some}, {one: self.variances[one] for one in some}
        )

    def table(self, columns: Columns) -> Floats:
        """Return the table as the sum of its components, each spread evenly over the other columns."""
        return table_of(self.values, columns, self.sizes)

    def variance(self, columns: Columns) -> float:
        """Return the noise variance of a component, as released."""
        return self.variances.get(columns, 0.0)

    def knows(self, columns: Columns) -> bool:
        """Return whether this component was measured: some pairs may not have been."""
        return columns in self.values

    def pair(self, columns: Columns) -> Floats:
        """Return the released component of a pair of columns."""
        return self.values[columns]

    def missing(self, x: int, y: int, given: Columns) -> list[Columns]:
        """Return the components that ``test`` would take as zero."""
        inner = subsets_of(given)
        wanted = [joined(x, (y,)), *inner, *(joined(end, columns) for end in (x, y) for columns in inner)]
        return [columns for columns in wanted if columns not in self.values]


@dataclass(frozen=True)
class Site:
    """What one site released: its name, its components (numbers of columns as in all sites), and its rows."""

    name: str
    components: Components
    rows: float

    @property
    def tables(self) -> SiteTables:
        """The site's single columns and pairs, for tests within sites."""
        every, variances = self.components, self.components.variances
        singles = {one[0]: every.table(one) for one in every.values if len(one) == 1}
        pairs = {(one[0], one[1]): value for one, value in every.values.items() if len(one) == 2}
        return SiteTables(self.rows, singles, pairs, variances)


class TablesOfSites(NoisyTables):
    """Components of several sites: questions are asked with the site held fixed, tables are sums over sites."""

    def __init__(self, sizes: Sequence[int], sites: Sequence[Site]) -> None:
        super().__init__(sizes)
        self.sites = tuple(sites)

    @cached_property
    def within(self) -> WithinSites:
        """The covariances of features within sites."""
        return WithinSites([site.tables for site in self.sites], self.sizes)

    def holding(self, columns: Columns) -> list[Site]:
        """Return the sites that measured this component and all components of its subsets."""
        return [
            site
            for site in self.sites
            if all(inner in site.components.values for inner in subsets_of(columns))
        ]

    def table(self, columns: Columns) -> Floats:
        """Return the sum of the tables of the sites that measured it."""
        return np.asarray(np.sum([one.components.table(columns) for one in self.holding(columns)], axis=0))

    def variance(self, columns: Columns) -> float:
        """Return the noise variance of a sum over sites."""
        return math.fsum(site.components.variance(columns) for site in self.sites)

    def missing(self, x: int, y: int, given: Columns) -> list[Columns]:
        """Return no components: sites are not asked for larger tables."""
        return [joined(x, joined(y, given))]

    def knows(self, columns: Columns) -> bool:
        """Return whether any site measured this component."""
        return any(site.components.knows(columns) for site in self.sites)

    def contrasts(self, rows: float, columns: Sequence[int] | None = None) -> Contrasts:
        """Return the covariances of features within sites, summed over sites."""
        assert columns is None, "sites are asked about all columns"
        return self.within.contrasts()


def joined(end: int, columns: Columns) -> Columns:
    """Return ``columns`` with ``end`` added, ascending."""
    return tuple(sorted((end, *columns)))


def subsets_of(columns: Columns) -> list[Columns]:
    """Return all subsets of the columns, the smallest first, in the order of ``stats.partial.subsets``."""
    return [inner for number in range(len(columns) + 1) for inner in combinations(columns, number)]
