"""What ``fit`` is given, as a ``Dataset``. Only shapes, types and names are looked at, never a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcausal.core.errors import InputError
from dpcausal.data.columns import Categorical, Column, Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.read import read
from dpcausal.data.schema import Schema
from dpcausal.data.sources import Columns, open_source

LEAST = 2  # columns in a graph


def as_data(X: Any, schema: Schema | Column | None) -> tuple[Dataset, bool]:
    """The rows as a ``Dataset``, and whether its columns had names."""
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
    """Columns by name, and whether the names are their own. Only shapes and types are looked at."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise InputError("sparse input is not supported: give a dense array or a frame")
    if (
        isinstance(X, Mapping)
        or (hasattr(X, "columns") and not isinstance(X, np.ndarray))
        or hasattr(X, "schema")
    ):
        found = open_source(X)
        if not isinstance(found, Columns):
            raise InputError(f"can't fit on {type(X).__name__}: read it with dc.read first")
        _check_shape((-1, len(found.names)))
        return found.whole, True
    array = np.asarray(X)
    if array.ndim != 2:
        raise InputError(f"expected a 2D array, got {array.ndim}D: reshape it to (rows, columns)")
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported")
    _check_shape(array.shape)
    if isinstance(schema, Schema) and len(schema) != array.shape[1]:
        raise InputError(f"the array has {array.shape[1]} columns, the schema declares {len(schema)}")
    names = list(schema) if isinstance(schema, Schema) else [f"x{i}" for i in range(array.shape[1])]
    return {name: array[:, i] for i, name in enumerate(names)}, False


def _check_shape(shape: tuple[int, ...]) -> None:
    if shape[1] < LEAST:
        rows = shape[0] if shape[0] >= 0 else "n"
        raise InputError(
            f"found {shape[1]} feature(s) (shape=({rows}, {shape[1]})) while a minimum of {LEAST} is required."
        )
