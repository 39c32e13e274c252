"""Columns held in memory (lists, numpy, pandas, polars, Arrow) as Arrow arrays.

A Python object becomes its printed form, each cell by itself: the type of a column is never guessed from its
values, since one odd cell would then change what becomes of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from dpcausal.core.errors import InputError

FULL = 400  # a decimal with a larger exponent, which no float has, is not written out in full
_USUAL, _SMALL = frozenset({str, int, float, bool}), 1 << 64
_MISSING_TYPES = ("NAType", "NaTType")


def as_arrow(name: str, column: Any) -> pa.ChunkedArray:
    """One column of a dict or frame; ``name`` is for errors."""
    if isinstance(column, pa.ChunkedArray):
        return column
    if isinstance(column, pa.Array):
        return pa.chunked_array([column])
    module = type(column).__module__.partition(".")[0]
    if module == "pandas":
        array = _from_pandas(name, column)
        return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    if hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__"):
        return (
            pa.chunked_array(column)
            if hasattr(column, "__arrow_c_stream__")
            else pa.chunked_array([pa.array(column)])
        )
    if isinstance(column, np.ndarray):
        return pa.chunked_array([_from_numpy(name, column)])
    if isinstance(column, str | bytes | Mapping) or not isinstance(column, Iterable):
        raise InputError(f'column "{name}" must be an array or a list, not {type(column).__name__}')
    return pa.chunked_array([_from_objects(list(column))])


def _from_pandas(name: str, series: Any) -> pa.Array | pa.ChunkedArray:
    if str(series.dtype).startswith("Sparse"):
        series = series.sparse.to_dense()
    if series.dtype == object:
        return _from_objects(list(series.to_numpy()))
    if str(series.dtype).startswith(("period", "interval", "complex")):
        raise InputError(f'column "{name}" has type {series.dtype}, which can\'t be read')
    if getattr(series.dtype, "categories", None) is not None and series.dtype.categories.dtype == object:
        codes = np.array(series.cat.codes, dtype=np.int32)
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=codes < 0), _from_objects(list(series.dtype.categories))
        )
    try:
        return pa.array(series, from_pandas=True)
    except UnicodeError:  # text that is no text, such as a lone surrogate: cell by cell
        return _from_objects(list(series))


def _from_numpy(name: str, values: np.ndarray[Any, Any]) -> pa.Array:
    if values.ndim != 1:
        raise InputError(f'column "{name}" must have one dimension, not {values.ndim}')
    if values.dtype.kind not in "biufMmOSUT":
        raise InputError(f'column "{name}" has type {values.dtype}, which can\'t be read')
    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    plain = np.ma.getdata(values)
    if plain.dtype.kind in "OSUT":
        cells = plain.tolist()
        return _from_objects(
            cells if mask is None else [None if gone else c for c, gone in zip(cells, mask, strict=True)]
        )
    if plain.dtype.kind == "f" and plain.dtype.itemsize > 8:
        with np.errstate(all="ignore"):  # too large a number becomes infinite, silently
            plain = plain.astype(np.float64)
    plain = np.ascontiguousarray(plain, dtype=plain.dtype.newbyteorder("="))
    return pa.array(plain, mask=mask)


def _from_objects(cells: Sequence[Any]) -> pa.Array:
    if set(map(type, cells)) <= {str, type(None)}:
        try:
            return pa.array(cells, pa.large_string())
        except UnicodeEncodeError:
            pass
    return pa.array([_printed(cell) for cell in cells], pa.large_binary())


def _printed(cell: Any) -> bytes | None:
    """The printed form; None for a missing value and for an object that can't print itself.

    Whatever an object's own methods raise would tell that this object is there, ``SystemExit`` included. Only
    ``KeyboardInterrupt`` passes: it is the user's.
    """
    try:
        return _spelled(cell)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None


def _spelled(cell: Any) -> bytes | None:
    if type(cell) in _USUAL and cell == cell and (type(cell) is not int or -_SMALL < cell < _SMALL):
        return str(cell).encode("utf-8", "surrogatepass")  # the same by a shorter way
    if isinstance(cell, np.float16 | np.float32):
        cell = float(str(cell))  # as many digits as its own type holds: 0.1, not 0.10000000149
    if isinstance(cell, np.generic) and not isinstance(cell, np.datetime64 | np.timedelta64):
        cell = cell.item()
    if cell is None or type(cell).__name__ in _MISSING_TYPES or (isinstance(cell, float) and cell != cell):
        return None
    if isinstance(cell, bytes):
        return cell
    if isinstance(cell, int) and cell.bit_length() > 1100:  # Python won't print very long ones
        return b"inf" if cell > 0 else b"-inf"
    if isinstance(cell, Decimal):
        cell = format(cell.normalize(), "f" if abs(cell.adjusted()) < FULL else "e")
    return str(cell).encode("utf-8", "surrogatepass")
