"""The columns of a question as arrays for a regression, scaled by what the schema declares."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.base import MAX_INDICATORS, Question
from dpcausal.core.errors import InputError
from dpcausal.data.columns import Numeric, has_order
from dpcausal.data.dataset import Dataset

MAX_BINS = 1 << 62  # their numbers are 64-bit integers


@dataclass(frozen=True)
class RegressionColumns:
    """The columns of a question.

    x and y are n numbers in [0, 1], or n x p where a side has several columns or levels without an order.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    z: NDArray[np.float64]  # n x d: numbers in [0, 1], and codes of levels in the columns ``discrete``
    discrete: tuple[int, ...]  # positions of the columns of z that hold codes
    levels: tuple[int, ...]  # declared size of every column of z

    @property
    def pairs(self) -> int:
        """The number of pairs of a column of x and a column of y."""
        return math.prod(1 if side.ndim == 1 else side.shape[1] for side in (self.x, self.y))

    def rows(self, rows: NDArray[np.int64] | slice) -> RegressionColumns:
        """Return these rows of the columns."""
        return replace(self, x=self.x[rows], y=self.y[rows], z=self.z[rows])


def columns_of(question: Question, data: Dataset) -> RegressionColumns:
    """Return the columns of ``question``, scaled by their declared bounds or number of levels."""
    x, y = (_side(data, names) for names in (question.x_columns, question.y_columns))
    discrete = tuple(j for j, name in enumerate(question.given) if name not in question.numeric)
    return RegressionColumns(x, y, given_columns(question, data), discrete, data.sizes(question.given))


def given_columns(question: Question, data: Dataset) -> NDArray[np.float64]:
    """Return the columns given (n x d): numbers scaled to [0, 1] by their declared bounds, and codes of levels."""
    z = [
        _score(data, name) if name in question.numeric else data.codes[name].astype(np.float64)
        for name in question.given
    ]
    return np.column_stack(z) if z else np.empty((data.n, 0))


def _side(data: Dataset, names: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the columns of x, or of y, as an array; a single numeric or ordered column as a vector."""
    columns = [column for name in names for column in _expanded(data, name)]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _expanded(data: Dataset, name: str) -> list[NDArray[np.float64]]:
    """Return a column scaled to [0, 1], or an indicator for each of its levels where these have no order."""
    column = data.schema[name]
    if has_order(column):
        return [_score(data, name)]
    codes = data.codes[name]
    return [(codes == level).astype(np.float64) for level in range(min(column.size, MAX_INDICATORS))]


def _score(data: Dataset, name: str) -> NDArray[np.float64]:
    """Return a column scaled to [0, 1]: numbers by their declared bounds and scale, levels by their position."""
    column = data.schema[name]
    if isinstance(column, Numeric):
        return np.clip(data.on_scale(name).share(), 0.0, 1.0)
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
