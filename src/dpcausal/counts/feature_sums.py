"""Sums of products of integer features, exact in any order: the same from memory, from batches and from an engine.

In every row a column has one cell: its level, or, of a numeric column, one of a few hundred cells between its bounds. A
table says which integer features a cell has, so a row's features are look-ups, and no function enters that engines or
processors round differently:

    place  p = floor((v - lower)/(upper - lower) * PLACES)                  a double, each step rounded as IEEE says
           p = k 2^SPAN_BITS + floor((v - s_k)/(s_k+1 - s_k) * 2^SPAN_BITS),   s_k <= v < s_k+1,   on a log scale
    cell   j = first[b] + ((p mod 2^BLOCK_BITS) * parts[b] >> BLOCK_BITS),   b = p >> BLOCK_BITS      integers alone
    row    h = the features of its cells side by side,  L = ||h||^2 = the sum of the squares of its cells

A row of length at most B becomes 2^e h, a longer one the integers of h B/||h||, cut off towards zero. So no row is
longer than B, rounding included (``feature_sums.proof.md``), and what is released is made of

    sum_i h_i    and    sum_i h_i h_i'

which are integers: whichever way the rows are split and added, they are the same. On a log scale the
logarithms of s_0, s_1, ... are equally far apart, with a straight line between two of them: no engine has to compute a
logarithm, which engines round differently.

**Guarantee.** What a row adds depends on that row and on the tables alone. Nothing here is private: a mechanism adds
noise first. **Cost** O(n q^2) for q features. **Edge cases**: no row gives zeros; a column without features adds none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.proofs import proved
from dpcausal.data.columns import Codes, Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Batch = Mapping[str, "Codes | Floats"]  # of a numeric column its numbers within the bounds, else its codes

PLACES = 1 << 18  # between the bounds of a numeric column
BLOCK_BITS = 10  # 2^10 places are a block, which is cut into cells of equal width
BLOCKS = PLACES >> BLOCK_BITS
SPAN_BITS = 12  # 2^12 places are a span of a log scale, on which places are equally wide
SPANS = PLACES >> SPAN_BITS
UNIT_BITS = 9  # a feature of 1 is 2^9
SLACK = 1 - 2.0**-40  # of the factor that shortens a row: more than its roundings
BOUND_BITS = 11  # B is at least 2^11 steps, so that cutting off costs little
ROWS_PER_CHUNK = 1 << 15


@proved("feature_sums.proof.md")
def places_of(values: Floats, lower: float, upper: float) -> Integers:
    """Return the place, 0 to PLACES - 1, of every value on a grid of equal steps between the bounds.

    >>> places_of(np.array([0.0, 0.5, 1.0, 7.0, np.nan]), 0.0, 1.0).tolist()
    [0, 131072, 262143, 262143, 0]
    """
    shares = np.clip(np.nan_to_num((values - lower) / (upper - lower)), 0.0, 1.0)
    return np.asarray(np.minimum((shares * PLACES).astype(np.int64), PLACES - 1), np.int64)


@lru_cache(maxsize=256)
@proved("feature_sums.proof.md")
def span_starts(lower: float, upper: float) -> tuple[float, ...]:
    """Return the borders of the spans into which a log scale is cut, from public bounds.

    They are cut to twelve digits, so that processors which round logarithms differently agree on them.

    >>> [round(x, 6) for x in span_starts(1.0, 65536.0)[::16]], round(span_starts(0.0, 65535.0)[16], 6)
    ([1.0, 16.0, 256.0, 4096.0, 65536.0], 15.0)
    """
    shares = [k / SPANS for k in range(1, SPANS)]
    if lower > 0:
        low, high = math.log(lower), math.log(upper)
        inner = [math.exp(low * (1 - share) + high * share) for share in shares]
    else:
        inner = [math.expm1(math.log1p(upper) * share) for share in shares]
    starts = [lower]
    for start in inner:
        starts.append(min(max(float(f"{start:.12g}"), starts[-1]), upper))
    return (*starts, upper)


@proved("feature_sums.proof.md")
def span_widths(starts: Sequence[float]) -> Floats:
    """Return how wide each span is; 1 where it holds at most one number, since the bounds are so close."""
    widths = np.diff(starts)
    return np.asarray(np.where(widths > 0, widths, 1.0))


@proved("feature_sums.proof.md")
def places_in_spans(values: Floats, starts: Sequence[float]) -> Integers:
    """Return the place, 0 to PLACES - 1, of every value on a grid of equal steps within log spans.

    >>> places_in_spans(np.array([1.0, 256.0, 65536.0, 7e9]), span_starts(1.0, 65536.0)).tolist()
    [0, 131072, 262143, 262143]
    """
    begins, parts = np.array(starts), 1 << SPAN_BITS
    span = np.searchsorted(begins[1:-1], values, side="right")
    shares = np.clip(np.nan_to_num((values - begins[span]) / span_widths(starts)[span]), 0.0, 1.0)
    inside = np.minimum((shares * parts).astype(np.int64), parts - 1)
    return np.asarray((span << SPAN_BITS) + inside, np.int64)


@dataclass(frozen=True)
class Cells:
    """The cells of one column, and the features of each.

    Attributes
    ----------
    features : array of int64, cells by features
        In steps of 2^-UNIT_BITS.
    first, parts : arrays of int64, or None
        Of a numeric column, for each of the BLOCKS: its first cell, and how many it is cut into, 1 to 2^BLOCK_BITS.
    """

    features: Integers
    first: Integers | None = None
    parts: Integers | None = None

    @property
    def squares(self) -> Integers:
        """The squared length of the feature vector of each cell."""
        return np.asarray(np.square(self.features).sum(axis=1), np.int64)

    @property
    def width(self) -> int:
        """The number of features of the column."""
        return int(self.features.shape[1])


@proved("feature_sums.proof.md")
def cell_of_place(places: Integers, first: Integers, parts: Integers) -> Integers:
    """Return the cell that each grid place belongs to."""
    block, inside = places >> BLOCK_BITS, places & ((1 << BLOCK_BITS) - 1)
    return np.asarray(first[block] + ((inside * parts[block]) >> BLOCK_BITS), np.int64)


class Shortening(NamedTuple):
    """The longest row allowed: longer rows are scaled down to ``bound`` steps of 2^-bits."""

    bound: int
    finer: int  # e: rows within the limit are multiplied by 2^e
    limit: int

    @property
    def step(self) -> float:
        """The size of one integer step of a shortened feature."""
        return 2.0 ** -(UNIT_BITS + self.finer)

    @property
    def reach(self) -> float:
        """The largest length that a row's feature vector may have."""
        return self.bound * self.step


@proved("feature_sums.proof.md")
def shortening(reach: float) -> Shortening:
    """Return how feature vectors are shortened to length ``reach`` and rounded to integers.

    >>> shortening(2.0), shortening(2.0).reach
    (Shortening(bound=2048, finer=1, limit=1048576), 2.0)
    """
    finer = 0
    while reach * 2.0 ** (UNIT_BITS + finer) < 1 << BOUND_BITS:
        finer += 1
    bound = int(reach * 2.0 ** (UNIT_BITS + finer))
    return Shortening(bound, finer, bound**2 >> (2 * finer))


class Sums(NamedTuple):
    """The number of rows, and the sums of their features and of all products of two, as integers."""

    rows: int
    first: Integers
    second: Integers


@runtime_checkable
class FeatureRows(Protocol):
    """Rows whose features can be summed, wherever they are."""

    @property
    def schema(self) -> Schema:
        """Declared columns."""
        ...

    @property
    def n(self) -> int:
        """Number of rows. Public under replace-one neighbours only."""
        ...

    def place_counts(self, name: str) -> tuple[Integers, Integers]:
        """Return the occupied grid places of a numeric column, and the number of rows at each."""
        ...

    def length_counts(self, columns: Mapping[str, Cells], limits: Integers) -> Integers:
        """Return, for each limit (increasing), how many rows have features of at most that squared length."""
        ...

    def feature_sums(self, columns: Mapping[str, Cells], short: Shortening) -> Sums:
        """Return the sums of shortened features, and of their products, over all rows."""
        ...


class AskedRows(FeatureRows, Protocol):
    """``FeatureRows`` that are counted by SQL."""

    def explain_features(self, columns: Mapping[str, Cells], limits: Integers, short: Shortening) -> str:
        """Return the SQL of all three queries on features, without sending it."""
        ...


class BatchRows:
    """Rows that ``batches`` yields from the beginning at each call."""

    def __init__(self, schema: Schema, n: int, batches: Callable[[], Iterator[Batch]]) -> None:
        self.schema, self.n, self._batches = schema, n, batches

    @classmethod
    def of(cls, data: Dataset) -> BatchRows:
        """Return the rows of a data set that has the numbers of every numeric column."""
        whole = {name: data.values.get(name, data.codes[name]) for name in data.schema}

        def batches() -> Iterator[Batch]:
            for start in range(0, data.n, ROWS_PER_CHUNK):
                yield {name: array[start : start + ROWS_PER_CHUNK] for name, array in whole.items()}

        return cls(data.schema, data.n, batches)

    def place_counts(self, name: str) -> tuple[Integers, Integers]:
        """Return the occupied grid places of a numeric column, and the number of rows at each."""
        return self.all_place_counts([name])[name]

    def all_place_counts(self, names: Sequence[str]) -> dict[str, tuple[Integers, Integers]]:
        """Return the occupied grid places, and rows at each, of several numeric columns in one pass."""
        found = {name: np.zeros(PLACES, np.int64) for name in names}
        for batch in self._batches():
            for name, counts in found.items():
                counts += np.bincount(_places(self.schema, name, batch[name]), minlength=PLACES)
        places = {name: np.flatnonzero(counts) for name, counts in found.items()}
        return {name: (places[name], found[name][places[name]]) for name in names}

    def length_counts(self, columns: Mapping[str, Cells], limits: Integers) -> Integers:
        """Return, for each limit (increasing), how many rows have features of at most that squared length."""
        found = np.zeros(len(limits), np.int64)
        for batch in self._batches():
            lengths = np.sort(squared_lengths(cells_of(self.schema, columns, batch), columns))
            found += np.searchsorted(lengths, limits, side="right")
        return found

    def feature_sums(self, columns: Mapping[str, Cells], short: Shortening) -> Sums:
        """Return the sums of shortened features, and of their products, over all rows."""
        size = sum(cells.width for cells in columns.values())
        rows, first, second = 0, np.zeros(size, np.int64), np.zeros((size, size), np.int64)
        for batch in self._batches():
            h = shortened(cells_of(self.schema, columns, batch), columns, short)
            for start in range(0, len(h), ROWS_PER_CHUNK):
                one, two = exact_sums(h[start : start + ROWS_PER_CHUNK])
                first += one
                second += two
            rows += len(h)
        return Sums(rows, first, second)


def _places(schema: Schema, name: str, numbers: Codes | Floats) -> Integers:
    """Return the place of every number on the grid of its column; codes are their own places."""
    column, values = schema[name], np.asarray(numbers, np.float64)
    assert isinstance(column, Numeric)
    if column.scale == "linear":
        return places_of(values, column.lower, column.upper)
    return places_in_spans(values, span_starts(column.lower, column.upper))


@proved("feature_sums.proof.md")
def cells_of(schema: Schema, columns: Mapping[str, Cells], batch: Batch) -> dict[str, Integers]:
    """Return the feature cell of every row, for every column."""
    return {
        name: np.asarray(batch[name], np.int64)
        if cells.first is None or cells.parts is None
        else cell_of_place(_places(schema, name, batch[name]), cells.first, cells.parts)
        for name, cells in columns.items()
    }


@proved("feature_sums.proof.md")
def squared_lengths(cells: Mapping[str, Integers], columns: Mapping[str, Cells]) -> Integers:
    """Return the squared length of every row's feature vector."""
    rows = len(next(iter(cells.values())))
    return sum((table.squares[cells[name]] for name, table in columns.items()), np.zeros(rows, np.int64))


@proved("feature_sums.proof.md")
def shortened(cells: Mapping[str, Integers], columns: Mapping[str, Cells], short: Shortening) -> Floats:
    """Return every row's feature vector scaled down to the allowed length and rounded: integers stored as floats."""
    h = np.hstack([table.features.astype(np.float64)[cells[name]] for name, table in columns.items()])
    length = squared_lengths(cells, columns)
    long = np.flatnonzero(length > short.limit)
    factor = short.bound / np.sqrt(length[long].astype(np.float64)) * SLACK
    cut = np.trunc(h[long] * factor[:, None])
    h *= 2.0**short.finer
    h[long] = cut
    return np.asarray(h)


@proved("feature_sums.proof.md")
def exact_sums(h: Floats) -> tuple[Integers, Integers]:
    """Return the sums of rows of integers and of their products, exactly; at most ROWS_PER_CHUNK rows."""
    return h.sum(axis=0).astype(np.int64), (h.T @ h).astype(np.int64)
