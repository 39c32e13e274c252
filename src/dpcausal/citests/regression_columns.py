"""The columns of a question as arrays for a regression, scaled by what the schema declares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.base import Question
from dpcausal.core.errors import InputError
from dpcausal.data.columns import Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema

MOST_BINS = 1 << 62


@dataclass(frozen=True)
class RegressionColumns:
    """x and y in [0, 1]; z (n x d) with numbers in [0, 1] and codes in the ``discrete`` columns, of ``levels`` each."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    z: NDArray[np.float64]
    discrete: tuple[int, ...]
    levels: tuple[int, ...]


def columns_of(question: Question, data: Dataset) -> RegressionColumns:
    """Scale the columns of ``question`` by their declared bounds or number of levels."""
    given = [_discrete(data.schema, name) for name in question.given]
    z = [
        data.codes[name].astype(np.float64) if level else _score(data, name)
        for name, level in zip(question.given, given, strict=True)
    ]
    return RegressionColumns(
        _score(data, question.x),
        _score(data, question.y),
        np.column_stack(z) if z else np.empty((data.n, 0)),
        tuple(j for j, level in enumerate(given) if level),
        tuple(data.schema[name].size for name in question.given),
    )


def _discrete(schema: Schema, name: str) -> bool:
    return not isinstance(schema[name], Numeric)


def _score(data: Dataset, name: str) -> NDArray[np.float64]:
    """In [0, 1]: numbers by their declared bounds, levels by their position."""
    column = data.schema[name]
    if isinstance(column, Numeric):
        scaled = (data.values[name] - column.lower) / (column.upper - column.lower)
        return np.clip(scaled, 0.0, 1.0)
    return np.asarray(data.codes[name] / max(column.size - 1, 1), dtype=np.float64)


def bins_of(columns: RegressionColumns, wanted: int) -> NDArray[np.int64]:
    """The bin of every row: levels as they are, numbers in equal widths, about ``wanted`` bins in all.

    Every numeric column gets the same number of bins, at least two where that is possible.
    """
    d = columns.z.shape[1]
    numeric = d - len(columns.discrete)
    fixed = 1
    for j in columns.discrete:
        fixed *= columns.levels[j]
    each = max(2, int((wanted / fixed) ** (1 / numeric))) if numeric else 1
    if fixed * each**numeric >= MOST_BINS:
        raise InputError("the conditioning columns have too many levels together to be binned")
    place = np.zeros(len(columns.z), dtype=np.int64)
    for j in range(d):
        size = columns.levels[j] if j in columns.discrete else each
        code = columns.z[:, j] if j in columns.discrete else np.floor(columns.z[:, j] * each)
        place = place * size + np.minimum(code.astype(np.int64), size - 1)
    return place
