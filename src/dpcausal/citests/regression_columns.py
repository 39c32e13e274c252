"""The columns of a question as arrays for a regression, scaled by what the schema declares."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.base import Question
from dpcausal.core.errors import InputError
from dpcausal.data.columns import Numeric
from dpcausal.data.dataset import Dataset

MAX_SPLITS = 7  # questions of two that an unordered column is taken apart to
MAX_BINS = 1 << 62  # their numbers are 64-bit integers


@dataclass(frozen=True)
class RegressionColumns:
    """The columns of a question.

    Attributes
    ----------
    x, y : array
        In [0, 1].
    z : array
        n x d: numbers in [0, 1], and codes of levels in the columns at positions ``discrete``.
    discrete, levels : tuple of int
        Positions of the columns that hold codes; declared size of every column.
    unordered : pair of int
        Number of levels of x and of y where they have no order, else 0; such a column holds codes.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    z: NDArray[np.float64]
    discrete: tuple[int, ...]
    levels: tuple[int, ...]
    unordered: tuple[int, int] = (0, 0)

    def rows(self, rows: NDArray[np.int64] | slice) -> RegressionColumns:
        """Return these rows of the columns."""
        return replace(self, x=self.x[rows], y=self.y[rows], z=self.z[rows])


def columns_of(question: Question, data: Dataset) -> RegressionColumns:
    """Return the columns of ``question``, scaled by their declared bounds or number of levels."""
    codes = [not isinstance(data.schema[name], Numeric) for name in question.given]
    z = [
        data.codes[name].astype(np.float64) if coded else _score(data, name)
        for name, coded in zip(question.given, codes, strict=True)
    ]
    unordered = [0 if question.ordered else unordered_levels(data, name) for name in (question.x, question.y)]
    x, y = (
        data.codes[name].astype(np.float64) if levels else _score(data, name)
        for name, levels in zip((question.x, question.y), unordered, strict=True)
    )
    return RegressionColumns(
        x,
        y,
        np.column_stack(z) if z else np.empty((data.n, 0)),
        tuple(j for j, coded in enumerate(codes) if coded),
        tuple(data.schema[name].size for name in question.given),
        (unordered[0], unordered[1]),
    )


def unordered_levels(data: Dataset, name: str) -> int:
    """Return the number of levels of a column whose levels have no order, else 0 (two levels always have one)."""
    column = data.schema[name]
    if isinstance(column, Numeric) or column.ordered or column.size <= 2:
        return 0
    return column.size


def splits_of(columns: RegressionColumns) -> list[tuple[int, int]]:
    """Return the questions of two that unordered columns are taken apart to; -1 stands for the column as it is.

    >>> none = np.empty(0)
    >>> splits_of(RegressionColumns(none, none, np.empty((0, 0)), (), (), (3, 0)))
    [(0, -1), (1, -1)]
    """
    of_x, of_y = (
        range(min(levels - 1, MAX_SPLITS)) if levels else range(-1, 0) for levels in columns.unordered
    )
    return list(product(of_x, of_y))


def split_columns(columns: RegressionColumns, split: tuple[int, int]) -> RegressionColumns:
    """Return the rows at these levels or later ones, x and y 1 where they are later."""
    if split == (-1, -1):
        return columns
    at_x, at_y = split
    asked = columns.rows(np.flatnonzero((columns.x >= at_x) & (columns.y >= at_y)))
    x = asked.x if at_x < 0 else (asked.x > at_x).astype(np.float64)
    y = asked.y if at_y < 0 else (asked.y > at_y).astype(np.float64)
    return replace(asked, x=x, y=y)


def _score(data: Dataset, name: str) -> NDArray[np.float64]:
    """Return a column in [0, 1]: numbers by their declared bounds, levels by their position."""
    column = data.schema[name]
    if isinstance(column, Numeric):
        scaled = (data.values[name] - column.lower) / (column.upper - column.lower)
        return np.clip(scaled, 0.0, 1.0)
    return np.asarray(data.codes[name] / max(column.size - 1, 1), dtype=np.float64)


def bins_of(columns: RegressionColumns, wanted: int) -> NDArray[np.int64]:
    """Return the bin of every row: levels as they are, numbers in equal widths, about ``wanted`` bins in all.

    Every numeric column gets the same number of bins, at least two where that is possible.
    """
    d = columns.z.shape[1]
    numeric = d - len(columns.discrete)
    cells = math.prod(columns.levels[j] for j in columns.discrete)
    per_column = max(2, int((wanted / cells) ** (1 / numeric))) if numeric else 1
    if cells * per_column**numeric >= MAX_BINS:
        raise InputError("the conditioning columns have too many levels together to be binned")
    bins = np.zeros(len(columns.z), dtype=np.int64)
    for j in range(d):
        discrete = j in columns.discrete
        size = columns.levels[j] if discrete else per_column
        code = columns.z[:, j] if discrete else np.floor(columns.z[:, j] * per_column)
        bins = bins * size + np.minimum(code.astype(np.int64), size - 1)
    return bins
