"""Rows that ``fit`` is given, read by a declared schema: frames, tables, dicts of columns, arrays and lists of rows.

Only shapes, types and names are looked at, never a value. Errors on shapes and types follow scikit-learn's wording.
Errors on values do not exist: a missing or odd cell is mapped as the schema says, since an error would tell of a row.

**Lists of rows.** An array has one type, which is public. A list of rows has none: numpy would choose one that holds
all cells, and one row would change how the others are read (0.5 makes 2^53 + 1 an even number). So every cell of it
stays the object it is. How many columns there are is what the schema declares, for no row may decide it; a row that is
shorter is filled up with missing values, one that is longer is cut, as in a CSV file, and what is no row at all is a
missing one.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpcausal.core.errors import InputError
from dpcausal.data.columns import Categorical, Column, Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.read import read
from dpcausal.data.schema import Schema
from dpcausal.data.sources import ColumnSource, open_source

MIN_COLUMNS = 2  # in a graph


def as_data(X: Any, schema: Schema | Column | None) -> tuple[Dataset, bool]:
    """Return the rows as a ``Dataset``, and whether its columns had names."""
    if isinstance(X, Dataset):
        return X, True
    source, named = _columns(X, schema)
    if schema is None:
        raise InputError(
            "a schema is needed: bounds and levels must be declared, they can't be read from rows"
        )
    if isinstance(schema, Numeric | Categorical):
        schema = Schema(dict.fromkeys(source, schema))
    if not isinstance(schema, Schema):
        raise InputError(f"schema must be a Schema, a Numeric or a Categorical, not {type(schema).__name__}")
    return read(source, schema), named


def _columns(X: Any, schema: Schema | Column | None) -> tuple[Mapping[str, Any], bool]:
    """Return the columns of a frame or array by name, and whether it names them itself."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise InputError("sparse input is not supported: give a dense array or a frame")
    if (
        isinstance(X, Mapping)
        or (hasattr(X, "columns") and not isinstance(X, np.ndarray))
        or hasattr(X, "schema")
    ):
        found = open_source(X)
        if not isinstance(found, ColumnSource):
            raise InputError(f"can't fit on {type(X).__name__}: read it with dc.read first")
        _check_shape((-1, len(found.names)))
        return found.whole, True
    if _untyped(X):
        return _rows(list(X), schema), False
    values = np.asarray(X)
    if values.ndim != 2:
        raise InputError(f"expected a 2D array, got {values.ndim}D: reshape it to (rows, columns)")
    if values.dtype.kind == "c":
        raise InputError("Complex data not supported")
    _check_shape(values.shape)
    return _named([values[:, i] for i in range(values.shape[1])], schema), False


def _untyped(X: Any) -> bool:
    """Return whether a value is a list of cells without a common type."""
    typed = isinstance(X, str | bytes | bytearray | memoryview | array) or any(
        hasattr(X, name) for name in ("__array__", "__array_interface__", "__array_struct__")
    )
    return not typed and hasattr(X, "__len__") and hasattr(X, "__getitem__")


def _rows(rows: list[Any], schema: Schema | Column | None) -> dict[str, list[Any]]:
    """Return a list of rows as columns, under the declared names."""
    if not isinstance(schema, Schema):
        raise InputError(
            "a list of rows needs a Schema that declares its columns: give that, or an array, whose shape is public"
        )
    _check_shape((len(rows), len(schema)))
    missing = [None] * len(schema)
    whole = [((_cells(row) or []) + missing)[: len(schema)] for row in rows]
    return {name: [row[i] for row in whole] for i, name in enumerate(schema)}


def _cells(row: Any) -> list[Any] | None:
    """Return the cells of a row as a list; None for a single cell, such as a text.

    Whatever the row's own code raises would tell that this row is there.
    """
    try:
        if isinstance(row, str | bytes | bytearray | Mapping):
            return None
        return list(np.asarray(row) if hasattr(row, "__array__") else row)  # an array's type is its own
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None


def _named(columns: Sequence[Any], schema: Schema | Column | None) -> dict[str, Any]:
    """Return the columns of an array under the names of the schema, else as x0, x1, ..."""
    if isinstance(schema, Schema) and len(schema) != len(columns):
        raise InputError(f"the array has {len(columns)} columns, the schema declares {len(schema)}")
    names = list(schema) if isinstance(schema, Schema) else [f"x{i}" for i in range(len(columns))]
    return dict(zip(names, columns, strict=True))


def _check_shape(shape: tuple[int, ...]) -> None:
    """Refuse an array with fewer columns than a graph needs; the message shows no number of rows."""
    if shape[1] < MIN_COLUMNS:
        rows = shape[0] if shape[0] >= 0 else "n"
        raise InputError(
            f"found {shape[1]} feature(s) (shape=({rows}, {shape[1]})) while a minimum of {MIN_COLUMNS} is required."
        )
