"""One Arrow array and its declared column in, codes (and numbers) out.

Guarantee: as many codes as cells, every code below ``column.size``, every number between the bounds, whatever
the cells hold. The code of a cell depends on that cell and its type alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpcausal.core.errors import SchemaError
from dpcausal.data import arrow
from dpcausal.data.categories import CategoricalCoder
from dpcausal.data.columns import Categorical, Column
from dpcausal.data.dataset import Codes
from dpcausal.data.numbers import NumericCoder


class Coded(NamedTuple):
    """``codes`` of some rows; their clamped ``values`` where the column is numeric."""

    codes: Codes
    values: NDArray[np.float64] | None


class Coder:
    """Codes arrays by one column; build it once, use it on every chunk.

    >>> Coder(Categorical(["no", "yes"])).code(pa.array(["yes", None, "maybe"])).codes.tolist()
    [1, 0, 0]
    """

    def __init__(self, column: Column) -> None:
        self._categories = CategoricalCoder(column) if isinstance(column, Categorical) else None
        self._numbers = None if isinstance(column, Categorical) else NumericCoder(column)

    def code(self, array: pa.Array) -> Coded:
        """Codes and, for a numeric column, values of every cell."""
        with np.errstate(all="ignore"):  # a signalling NaN must not make a warning
            if self._categories is not None:
                return Coded(self._categories.codes(array), None)
            assert self._numbers is not None
            values = self._numbers.values(array)
            return Coded(self._numbers.codes(values), values)


def check_type(name: str, type_: pa.DataType, column: Column, label: str, *, of_file: bool = True) -> None:
    """Refuse a type that can't be coded as declared: types are metadata, so this says nothing of rows.

    Not ``of_file``: columns in memory, where cells of several kinds become bytes on the way here, bytes are no fault.
    """
    kind = arrow.value_kind(type_)
    if kind == "unsupported":
        raise SchemaError(f'column "{name}" of {label} has type {type_}: a cell must hold one value')
    if (kind == "time" or (of_file and arrow.is_bytes(type_))) and not isinstance(column, Categorical):
        raise SchemaError(f'column "{name}" of {label} has type {type_}, but is declared numeric')
