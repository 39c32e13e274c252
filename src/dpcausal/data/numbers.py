"""Values and bins of a numeric column: Arrow array in, float64 values and codes out.

Formula: value = min(max(cell, lower), upper), or ``other`` where the cell is missing, NaN, no number or one that the
schema lists as ``missing`` (equal as float64, or to the nearest number of a float column's own precision);
code = number of cut points <= value. Text is a number when, without white space at its ends, it is written like
``12``, ``-1.5``, ``.5``, ``1e3`` or ``inf``; true counts as 1 and false as 0. "1,5" and "12 kg" are no numbers.
Guarantee: what a row becomes depends on that row alone; no value raises. Cost: one pass per cut point up to
24 of them, then a binary search.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpcausal.data import arrow, spelling
from dpcausal.data.categories import BLOCK, code_type, take
from dpcausal.data.columns import Numeric
from dpcausal.data.dataset import Codes
from dpcausal.data.entries import FALSE, TRUE

NUMBER = r"(?i)^[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity)$"
DIGITS = b"0123456789+-.eE"
MOST_COMPARED = 24


class NumericCoder:
    """Codes arrays by one ``Numeric``; build it once, use it on every chunk."""

    def __init__(self, column: Numeric) -> None:
        assert column.bins is not None
        self._lower, self._upper, self._other = column.lower, column.upper, float(column.other or 0.0)
        self._cuts = np.array(column.bins, dtype=np.float64)
        self._missing = {Decimal(code): 0 for code in column.missing}
        self.dtype: Any = code_type(column.size)

    def gone(self, type_: pa.DataType) -> NDArray[np.float64]:
        """The numbers that mean a missing value in an array of this type."""
        return np.array([value for value, _ in spelling.floats(self._missing, arrow.precision(type_))])

    def values(self, array: pa.Array) -> NDArray[np.float64]:
        """Every cell of ``array`` as a number between ``lower`` and ``upper``."""
        values = parsed(array)
        gone = self.gone(array.type) if self._missing else None
        for start in range(0, len(values), BLOCK):
            block = values[start : start + BLOCK]
            missing = np.isnan(block)
            if gone is not None:
                missing |= np.isin(block, gone)
            np.clip(block, self._lower, self._upper, out=block)
            np.copyto(block, self._other, where=missing)
            block += 0.0  # -0.0 becomes 0.0
        return values

    def codes(self, values: NDArray[np.float64]) -> Codes:
        """The bin of every number."""
        result = np.zeros(len(values), dtype=self.dtype)
        for start in range(0, len(values), BLOCK):
            block, out = values[start : start + BLOCK], result[start : start + BLOCK]
            if len(self._cuts) <= MOST_COMPARED:
                for cut in self._cuts:
                    out += block >= cut
            else:
                out[:] = np.searchsorted(self._cuts, block, side="right")
        return result


def parsed(array: pa.Array) -> NDArray[np.float64]:
    """Every cell as a float64, NaN where it is missing or no number; a fresh array."""
    array = arrow.plain(array)
    match arrow.kind_of(array.type):
        case "integer" | "float" | "boolean":
            return _masked(arrow.numbers(array).astype(np.float64), array)
        case "text":
            return _from_bytes(arrow.as_bytes(array))
        case "decimal":
            return _from_bytes(arrow.printed(array))
        case "dictionary":
            table = np.append(parsed(array.dictionary), np.nan)
            return _masked(take(table, arrow.numbers(array.indices)), array.indices)
        case _:  # the null type; others were refused when the file was opened
            return np.full(len(array), np.nan)


def _masked(values: NDArray[np.float64], array: pa.Array) -> NDArray[np.float64]:
    present = arrow.valid(array)
    if present is not None:
        np.copyto(values, np.nan, where=~present)
    return values


def _from_bytes(cells: pa.Array) -> NDArray[np.float64]:
    odd = arrow.odd(cells, DIGITS)
    some = bool(odd.any())
    try:
        values = _cast(arrow.without(cells, odd) if some else cells)
    except pa.ArrowInvalid:  # digits that make no number, such as 1-2
        values, odd, some = np.empty(len(cells)), np.ones(len(cells), dtype=np.bool_), True
    if some:
        values[odd] = _from_odd_bytes(cells.filter(pa.array(odd)))
    return values


def _from_odd_bytes(cells: pa.Array) -> NDArray[np.float64]:
    """The same cell by cell rule, for cells that need trimming or are no number."""
    cells = arrow.trimmed(cells)
    keys = pa.array([text.encode() for text in (*FALSE, *TRUE)], cells.type)
    truth = arrow.numbers(pc.fill_null(pc.index_in(cells, value_set=keys), 6))
    cells = pc.if_else(pc.match_substring_regex(cells, NUMBER), cells, None)
    try:
        values = _cast(cells)
    except pa.ArrowInvalid:  # a number that some version of Arrow can't read
        numbers = (np.nan if cell is None else float(cell) for cell in cells.to_pylist())
        values = np.fromiter(numbers, dtype=np.float64, count=len(cells))
    np.copyto(values, (truth >= 3).astype(np.float64), where=truth < 6)
    return values


def _cast(cells: pa.Array) -> NDArray[np.float64]:
    numbers = cells.cast(pa.float64())
    result: NDArray[Any] = arrow.numbers(numbers).astype(np.float64)
    return _masked(result, numbers)
