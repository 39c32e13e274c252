"""Python objects as cells: each becomes text by itself, which means what the value would mean in a typed column.

A column of objects is a list, or a column of a frame that holds cells of several types. One type for all is never
inferred: one unusual cell would then change what becomes of the others. So every cell is printed by itself, and where a
level is declared that means the same number or time, in that level's spelling: 1.5 and ``Decimal("1.5")`` become
``1.50`` where this is a level, and midnight of a day becomes that day. Text remains as it is.

**Guarantee.** What a cell becomes depends on that cell and the declaration alone. A number, truth value, date or time
in a column of objects gets the code that it gets in a column of its own type. No object raises: one that can't print
itself is a missing value. The outcome is an array of bytes whatever the cells are.

**Cost.** O(cells), one dictionary look-up a number.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from dpcausal.data import spelling
from dpcausal.data.columns import Categorical, Column, Numeric
from dpcausal.data.dates import Date

MAX_DECIMAL_EXPONENT = 400  # a decimal beyond it, which no float reaches, is not written out in full
_MAX_INT_BITS = 1100  # an integer beyond it, which no float reaches, is printed as infinite
_MISSING_TYPES = ("NAType", "NaTType")
_PRECISIONS = (np.float16, np.float32, np.float64)
_MICROSECOND = datetime.timedelta(microseconds=1)


class ObjectPrinter:
    """Converts cells of a column of Python objects to text, for its declaration if there is one.

    >>> printer = ObjectPrinter(Categorical(["none", "1.50", "2020-01-01"]))
    >>> printer.array([1.5, "1.5", datetime.datetime(2020, 1, 1)]).to_pylist()
    [b'1.50', b'1.5', b'2020-01-01']
    """

    def __init__(self, column: Column | None = None) -> None:
        self.column = column
        self._texts: Mapping[str, int] = {}  # what means a level as text
        self._numbers: dict[Decimal | int, bytes] = {}  # the spelling of the level that a number means
        self._floats: dict[type, dict[float, bytes]] = {precision: {} for precision in _PRECISIONS}
        self._read_as_levels: Mapping[float, int] = {}  # numbers that mean a level where they come as text
        self._times: dict[str, bytes] = {}
        if isinstance(column, Categorical):
            missing = column.size  # not a level: a code for a missing value
            spellings = [*column.printed, *map(str, column.missing[:1])]
            codes = spelling.number_codes(column, missing)
            self._texts = spelling.text_codes(column, missing)
            self._read_as_levels = spelling.number_text_codes(column, missing)
            self._numbers = {number: spellings[code].encode() for number, code in codes.items()}
            for precision, table in self._floats.items():
                pairs = spelling.float_codes(codes, precision)
                table.update((value, spellings[code].encode()) for value, code in pairs)
            times = spelling.time_codes(column, missing)
            self._times = {text: spellings[code].encode() for text, code in times.items()}
        elif isinstance(column, Numeric) and not isinstance(column, Date):
            codes = {Decimal(code): place for place, code in enumerate(column.missing)}
            for precision, table in self._floats.items():
                pairs = spelling.float_codes(codes, precision)
                table.update((value, repr(column.missing[place]).encode()) for value, place in pairs)

    def array(self, cells: Sequence[Any]) -> pa.Array:
        """Return Python objects as an Arrow array of bytes, each printed; a missing one is null."""
        if set(map(type, cells)) <= {str, type(None)}:
            try:
                return pa.array(cells, pa.large_string()).cast(pa.large_binary())
            except UnicodeEncodeError:
                pass
        return pa.array([self._printed(cell) for cell in cells], pa.large_binary())

    def _printed(self, cell: Any) -> bytes | None:
        """Return the printed form; None for a missing value and for an object that can't print itself.

        Whatever an object's own methods raise would reveal that this object is there, ``SystemExit`` included. Only
        ``KeyboardInterrupt`` passes: it comes from the user.
        """
        try:
            return self._print(cell)
        except KeyboardInterrupt:
            raise
        except BaseException:
            return None

    def _print(self, cell: Any) -> bytes | None:
        """Return a cell as text in bytes; None where it is missing."""
        kind = type(cell)
        if kind is str:
            return _encoded(cell)
        if kind is float or isinstance(cell, float | np.floating):
            return self._print_float(cell)
        if isinstance(cell, np.generic) and not isinstance(cell, np.datetime64 | np.timedelta64):
            cell = cell.item()
        if cell is None or type(cell).__name__ in _MISSING_TYPES:
            return None
        if isinstance(cell, bytes):
            return cell
        if isinstance(cell, bool):
            return _encoded(str(cell))
        if isinstance(cell, int | Decimal):
            return self._print_exact(cell)
        if (time := _time_text(cell)) is not None:
            if not time:
                return None
            if isinstance(self.column, Date):  # as the texts of the column are written
                return datetime.date.fromisoformat(time[:10]).strftime(self.column.format).encode()
            if time in self._texts:
                return time.encode()
            return self._times.get(spelling.canonical_time(time)) or self._unless_level(time)
        return _encoded(str(cell))

    def _print_float(self, cell: Any) -> bytes | None:
        """Return a float as text; None for NaN."""
        precision = type(cell) if type(cell) in self._floats else np.float64
        number = float(cell)
        if number != number or cell != cell:
            return None
        if (found := self._floats[precision].get(number)) is not None:
            return found
        if precision is not np.float64 and (self.column is None or isinstance(self.column, Categorical)):
            number = float(str(cell))  # as many digits as its own type holds: 0.1, not 0.10000000149
        return self._unless_level(repr(number))

    def _print_exact(self, cell: int | Decimal) -> bytes | None:
        """Return an integer or decimal as text with all its digits."""
        if (found := self._numbers.get(cell)) is not None:
            return found
        if isinstance(cell, Decimal):
            if cell != cell:
                return None
            far = abs(cell.adjusted()) >= MAX_DECIMAL_EXPONENT
            return self._unless_level(format(cell.normalize(), "e" if far else "f"))
        if cell.bit_length() > _MAX_INT_BITS:  # Python refuses to print very long ones
            return self._unless_level("inf" if cell > 0 else "-inf")
        return self._unless_level(str(int(cell)))

    def _unless_level(self, text: str) -> bytes | None:
        """Return a printed number or time; None where only its text would mean a level, not its value."""
        number = spelling.number_of(text) if self._read_as_levels else None
        return None if text in self._texts or number in self._read_as_levels else text.encode()


def _encoded(text: str) -> bytes:
    """Return a text in UTF-8; lone surrogates are kept as bytes."""
    return text.encode("utf-8", "surrogatepass")


def _time_text(cell: Any) -> str | None:
    """Return a date, time or duration as text; empty where it is missing, None for another object."""
    if isinstance(cell, np.datetime64 | np.timedelta64):
        if np.isnat(cell):
            return ""
        return str(cell).replace("T", " ") if isinstance(cell, np.datetime64) else str(cell.astype(np.int64))
    if isinstance(cell, datetime.datetime):
        if cell.tzinfo is None:
            return cell.isoformat(" ")
        return f"{cell.astimezone(datetime.UTC).replace(tzinfo=None).isoformat(' ')}Z"
    if isinstance(cell, datetime.timedelta):
        return str(cell // _MICROSECOND)
    return cell.isoformat() if isinstance(cell, datetime.date | datetime.time) else None
