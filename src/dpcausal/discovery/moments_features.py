"""Features of a row for ``moments.py``: a line and waves of every number, an indicator of every level but the first."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.proofs import proved
from dpcausal.data.columns import Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema

Floats = NDArray[np.float64]

LINEAR = 2.0  # factor of t: a column with a standard deviation of an eighth of its range has 1/2 here


def width(schema: Schema, name: str, harmonics: int) -> int:
    """Number of features of a column: public."""
    column = schema[name]
    return 1 + 2 * harmonics if isinstance(column, Numeric) else max(column.size - 1, 0)


def longest(schema: Schema, harmonics: int) -> float:
    """The largest squared length of a row's features: public."""
    return float(sum(LINEAR**2 + harmonics if isinstance(c, Numeric) else 1.0 for c in schema.values()))


@proved("moments.proof.md")
def features(rows: Dataset, harmonics: int, start: int, stop: int) -> Floats:
    """Features of some rows, all columns side by side in the order of the schema."""
    parts: list[Floats] = []
    for name, column in rows.schema.items():
        if isinstance(column, Numeric):
            t = 2 * (rows.values[name][start:stop] - column.lower) / (column.upper - column.lower) - 1
            parts.append(LINEAR * t[:, None])
            for k in range(1, harmonics + 1):
                parts += [np.cos(2 * k * math.pi * t)[:, None], np.sin(2 * k * math.pi * t)[:, None]]
        else:
            parts.append((rows.codes[name][start:stop, None] == np.arange(1, column.size)).astype(np.float64))
    return np.hstack(parts)
