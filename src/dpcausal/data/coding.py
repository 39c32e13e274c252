"""Codes of a column: an Arrow array and its declaration in, one small integer a cell out, and numbers where declared.

Categorical: the code of a cell is the position of the level that it means (see ``dpcausal.data.spelling``), or of
``other`` where it means none or is missing. Text that means no level as it is written is tried once more without white
space at its ends, and then as a number. Text that is not UTF-8 is read as Windows-1252 (``dpcausal.data.file_format``).

Numeric: value = min(max(cell, lower), upper), or ``other`` where the cell is missing, NaN, no number, or one that the
schema lists as ``missing`` (equal as float64, or to the nearest number of a float column's own precision); code =
number of cut points <= value. Text is a number when, without white space at its ends, it is written like ``12``,
``-1.5``, ``.5``, ``1e3`` or ``inf``; true counts as 1 and false as 0. "12 kg" is not a number, and "1,5" is one only
where a decimal comma is declared; then "1.5" is none. With a declared thousands mark, groups of three digits may be
separated by it, all of them: "1.234.567,5" and "1234567,5" are one number, "1.23" is none.

**Guarantee.** There are as many codes as cells, every code is below ``column.size`` and every number lies between the
bounds, whatever the cells hold. The code of a cell depends on that cell and its type alone, and no value raises.

**Cost.** One table look-up a cell of a categorical column; a binary search among the cut points of a numeric one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpcausal.core.errors import SchemaError
from dpcausal.data import arrow, spelling
from dpcausal.data.columns import (
    FALSE_SPELLINGS,
    TRUE_SPELLINGS,
    Categorical,
    Codes,
    Column,
    Numeric,
    code_type,
)
from dpcausal.data.dates import ISO, Date, read_day
from dpcausal.data.file_format import NumberMarks, encode_fallback


@dataclass(frozen=True)
class _Tuning:
    """Sizes that affect the time of coding, never its result."""

    block_rows: int = 1 << 15  # rows coded at a time, so that scratch arrays stay in cache
    max_table: int = 1 << 20  # entries of the largest look-up table for integers


_TUNING = _Tuning()
_NUMBER_TEXT = r"(?i)^[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity)$"
_NUMBER_LEVEL = f"^{spelling.NUMBER_TEXT}$"
_NUMBER_BYTES = b"0123456789+-.eE"
_POINT = NumberMarks()
_BLANKS = r"(?: |\xc2\xa0|\xe2\x80\xaf|\xa0)"  # a blank, a no-break space, a narrow one, as bytes


def _blocks(rows: int) -> Iterator[slice]:
    """Yield slices that cut ``rows`` rows into blocks small enough for the cache."""
    return (slice(low, low + _TUNING.block_rows) for low in range(0, rows, _TUNING.block_rows))


class Coded(NamedTuple):
    """Codes of some rows, and their clamped values where the column is numeric."""

    codes: Codes
    values: NDArray[np.float64] | None


def coder_of(column: Column, marks: NumberMarks = _POINT) -> CategoricalCoder | NumericCoder:
    """Return the object that codes arrays by this declaration; use one for all chunks.

    >>> coder_of(Categorical(["no", "yes"])).code(pa.array(["yes", None, "maybe"])).codes.tolist()
    [1, 0, 0]
    """
    return CategoricalCoder(column) if isinstance(column, Categorical) else numeric_coder(column, marks)


def numeric_coder(column: Numeric, marks: NumberMarks = _POINT) -> NumericCoder:
    """Return the object that codes arrays by this declaration of numbers or dates."""
    return DateCoder(column) if isinstance(column, Date) else NumericCoder(column, marks)


def check_type(name: str, type_: pa.DataType, column: Column, label: str, *, of_file: bool = True) -> None:
    """Raise ``SchemaError`` for a type that can't be coded as declared: types are metadata, no row is looked at.

    Bytes are a fault in a file (``of_file``) but not in memory, where cells of several types become bytes on the way.
    So are numbers and truth values where no declared level is one: every cell would become ``other``, whatever it
    holds. Text may spell anything, so a column of text is not refused; nor is one of categories, whose type may follow
    from the rows.
    """
    kind = arrow.value_kind(type_)
    if kind == "unsupported":
        raise SchemaError(f'column "{name}" of {label} has type {type_}: a cell must hold one value')
    if isinstance(column, Date):
        digits = kind == "integer" and column.format != ISO
        if not (digits or kind in ("text", "null") or arrow.holds_days(type_)):
            more = ": say by format how its digits are read" if kind == "integer" else ""
            raise SchemaError(f'column "{name}" of {label} has type {type_}, but is declared a date{more}')
        return
    if (kind == "time" or (of_file and arrow.is_bytes(type_))) and not isinstance(column, Categorical):
        raise SchemaError(f'column "{name}" of {label} has type {type_}, but is declared numeric')
    what = _OTHER_THAN_LEVELS.get(arrow.kind_of(type_))
    if isinstance(column, Categorical) and what is not None and not _has_level_like(kind, column):
        raise SchemaError(
            f'column "{name}" of {label} holds {what[0]}, but no level is {what[1]} ({_some(column.printed)}): '
            f"every cell would become {str(column.other)!r}; name the codes in the schema, aliases = {{ {what[2]} = "
            f'"{column.printed[0]}" }}, or read labels instead of codes (pyreadstat: apply_value_formats=True){what[3]}'
        )


_AMOUNTS = '; if they are amounts and no codes, declare type = "numeric" with lower, upper and bins'
_OTHER_THAN_LEVELS = {  # kind of cells: what they hold, what a level would be, an example of a code, and what else fits
    "integer": ("numbers", "a number", '"1"', _AMOUNTS),
    "float": ("numbers", "a number", '"1"', _AMOUNTS),
    "decimal": ("numbers", "a number", '"1"', _AMOUNTS),
    "boolean": ("truth values", "true or false", "true", ""),
}


def _has_level_like(kind: arrow.Kind, column: Categorical) -> bool:
    """Return whether cells of this kind can mean a level or alias of a column.

    >>> sex = Categorical(["male", "female"], missing=[9])
    >>> _has_level_like("float", sex), _has_level_like("boolean", Categorical([0, 1]))
    (False, True)
    """
    missing = column.size
    if kind == "boolean":
        return any(spelling.text_codes(column, missing).get(t, missing) != missing for t in ("True", "False"))
    numbers = {code for code in spelling.number_codes(column, missing).values() if code != missing}
    return bool(numbers)


def _some(levels: tuple[str, ...]) -> str:
    """Return the first levels as text, for an error."""
    return ", ".join(levels[:3]) + (", ..." if len(levels) > 3 else "")


# ---- categorical columns


class CategoricalCoder:
    """Codes arrays by one ``Categorical``.

    With ``separate_other`` cells that mean no level get a code of their own, ``column.size``, and missing codes the
    next one, ``column.size + 1``.
    """

    def __init__(self, column: Categorical, *, separate_other: bool = False) -> None:
        self.other = column.size if separate_other else column.other_code
        missing = column.size + 1 if separate_other else column.other_code
        self.dtype: Any = np.uint32 if separate_other else code_type(column.size)
        texts = spelling.text_codes(column, missing)
        keys = _with_fallback(texts)
        self._keys = arrow.of_bytes(list(keys))
        self._codes = np.array([*keys.values(), self.other], dtype=self.dtype)
        self._numbers = spelling.number_codes(column, missing)
        times = spelling.time_codes(column, missing)
        self._time_keys = arrow.of_bytes([text.encode() for text in times])
        self._time_codes = np.array([*times.values(), self.other], dtype=self.dtype)
        self._truth = np.array([texts.get(t, self.other) for t in ("False", "True")], dtype=self.dtype)
        self._dictionary: tuple[object, pa.Array, Codes] | None = None
        self._integers: dict[Any, tuple[int, Codes] | None] = {}
        self._keys_of: dict[Any, tuple[Any, Codes]] = {}  # by dtype or decimal type

    def code(self, array: pa.Array) -> Coded:
        """Return the code of every cell."""
        with np.errstate(all="ignore"):  # a signalling NaN must not make a warning
            return Coded(self.codes(array), None)

    def codes(self, array: pa.Array) -> Codes:
        """Return the code of every cell of ``array``."""
        array = arrow.unwrap(array)
        match arrow.kind_of(array.type):
            case "integer":
                return self._masked(self._from_integers(arrow.to_numpy(array)), array)
            case "dictionary":
                return self._masked(self._from_dictionary(array), array.indices)
            case "text":
                return self._from_bytes(arrow.as_bytes(array))
            case "boolean":
                return self._masked(look_up(self._truth, arrow.to_numpy(array).view(np.uint8)), array)
            case "float":
                return self._masked(self._from_floats(arrow.to_numpy(array)), array)
            case "decimal":
                return self._from_decimals(array)
            case "time":
                return self._from_times(array)
            case _:  # the null type; nested types were refused when the file was opened
                return np.full(len(array), self.other, dtype=self.dtype)

    def _masked(self, codes: Codes, array: pa.Array) -> Codes:
        """Set the codes of missing cells to that of ``other``."""
        return _masked(codes, array, self.other)

    def _from_bytes(self, cells: pa.Array) -> Codes:
        """Return the codes of texts in bytes."""
        keys = self._keys.cast(cells.type)
        found = pc.index_in(cells, value_set=keys)
        codes = look_up(self._codes, arrow.places(found, len(keys)))
        if found.null_count > cells.null_count:
            unknown = pc.and_(pc.is_null(found), pc.is_valid(cells))
            codes[arrow.to_numpy(unknown)] = self._from_bare_bytes(arrow.trim(cells.filter(unknown)), keys)
        return codes

    def _from_bare_bytes(self, cells: pa.Array, keys: pa.Array) -> Codes:
        """Return the codes of texts that were stripped of white space; ``keys`` are the spellings of the levels."""
        found = pc.index_in(cells, value_set=keys)
        codes = look_up(self._codes, arrow.places(found, len(keys)))
        if self._numbers and found.null_count:
            unknown = pc.is_null(found)
            numbers = _numbers_like(cells.filter(unknown), _NUMBER_LEVEL)
            codes[arrow.to_numpy(unknown)] = self._from_floats(numbers)
        return codes

    def _from_dictionary(self, array: pa.DictionaryArray) -> Codes:
        """Return the codes of a dictionary array: those of its dictionary, looked up by index."""
        dictionary = array.dictionary
        buffers = tuple(buffer.address if buffer else 0 for buffer in dictionary.buffers())
        place = (buffers, dictionary.offset, len(dictionary))
        if self._dictionary is None or self._dictionary[0] != place:  # the next chunk often has the same one
            table: Any = np.append(self.codes(dictionary), self.dtype(self.other))
            self._dictionary = (place, dictionary, table)
        else:
            table = self._dictionary[2]
        return look_up(table, arrow.to_numpy(array.indices))

    def _from_integers(self, values: NDArray[Any]) -> Codes:
        """Return the codes of integers, by a table or by binary search."""
        dtype = values.dtype
        if dtype not in self._integers:
            self._integers[dtype] = self._integer_table(dtype)
        table = self._integers[dtype]
        if table is None:
            if dtype not in self._keys_of:
                self._keys_of[dtype] = self._integer_keys(dtype)
            return self._search(values, *self._keys_of[dtype])
        low, codes = table
        unsigned = values.view(f"u{dtype.itemsize}")
        return look_up(codes, unsigned, low % (1 << (8 * dtype.itemsize)))

    def _integer_keys(self, dtype: np.dtype[Any]) -> tuple[NDArray[Any], Codes]:
        """Return the integers of a type that mean a level, sorted, and their codes."""
        bounds = np.iinfo(dtype)
        held = {int(k): c for k, c in self._numbers.items() if k == k.to_integral_value() and abs(k) < 2**65}
        pairs = sorted((k, c) for k, c in held.items() if bounds.min <= k <= bounds.max)
        return (
            np.array([k for k, _ in pairs], dtype=dtype),
            np.array([c for _, c in pairs], dtype=self.dtype),
        )

    def _integer_table(self, dtype: np.dtype[Any]) -> tuple[int, Codes] | None:
        """Return the smallest key and a table from there on, ending in ``other``; None where keys are too far apart."""
        keys, codes = self._integer_keys(dtype)
        if len(keys) == 0:
            return 0, np.array([self.other], dtype=self.dtype)
        low, high = int(keys[0]), int(keys[-1])
        low = 0 if 0 <= low < 256 else low
        if high - low >= _TUNING.max_table:
            return None
        table = np.full(high - low + 2, self.other, dtype=self.dtype)
        table[[int(key) - low for key in keys]] = codes
        return low, table

    def _from_floats(self, values: NDArray[Any]) -> Codes:
        """Return the code of the level that each float means; ``other`` where it means none."""
        if values.dtype not in self._keys_of:
            pairs = sorted(spelling.float_codes(self._numbers, values.dtype.type))
            keys = np.array([value for value, _ in pairs], dtype=values.dtype)
            self._keys_of[values.dtype] = keys, np.array([code for _, code in pairs], dtype=self.dtype)
        return self._search(values, *self._keys_of[values.dtype])

    def _search(self, values: NDArray[Any], keys: NDArray[Any], codes: Codes) -> Codes:
        """Return codes of ``values`` among sorted ``keys``; ``other`` where none is equal."""
        result = np.full(len(values), self.other, dtype=self.dtype)
        if len(keys) == 0:
            return result
        for part in _blocks(len(values)):
            place = np.searchsorted(keys, values[part])
            np.minimum(place, len(keys) - 1, out=place)
            np.copyto(result[part], codes[place], where=keys[place] == values[part])
        return result

    def _from_decimals(self, array: pa.Array) -> Codes:
        """Return the code of the level that each decimal means; ``other`` where it means none."""
        type_ = array.type
        if type_.bit_width < 128:
            type_ = pa.decimal128(type_.precision, type_.scale)
            array = array.cast(type_)
        if type_ not in self._keys_of:
            pairs = [
                (number, code)
                for number, code in self._numbers.items()
                if spelling.fits_decimal(number, type_.precision, type_.scale)
            ]
            codes: Any = np.array([*(c for _, c in pairs), self.other], dtype=self.dtype)
            self._keys_of[type_] = pa.array([k for k, _ in pairs], type_), codes
        keys, codes = self._keys_of[type_]
        return look_up(codes, arrow.places(pc.index_in(array, value_set=keys), len(keys)))

    def _from_times(self, array: pa.Array) -> Codes:
        """Return the code of the level that each date or time means; ``other`` where it means none."""
        array = array.dictionary_encode()
        text = arrow.to_text(array.dictionary)
        codes = self._from_bytes(text)
        found = pc.index_in(arrow.without_zero_time(text), value_set=self._time_keys)
        same = look_up(self._time_codes, arrow.places(found, len(self._time_keys)))
        known = arrow.validity(pc.index_in(text, value_set=self._keys))
        codes = codes if known is None else np.where(known, codes, same)
        table = np.append(codes, self.dtype(self.other))
        return self._masked(look_up(table, arrow.to_numpy(array.indices)), array.indices)


def _with_fallback(texts: Mapping[str, int]) -> dict[bytes, int]:
    """Return the bytes that spell each text, with its code: in UTF-8, and in the encoding read otherwise.

    >>> _with_fallback({"männlich": 0, "yes": 1})
    {b'm\\xc3\\xa4nnlich': 0, b'yes': 1, b'm\\xe4nnlich': 0}
    """
    keys = {text.encode(): code for text, code in texts.items()}
    return keys | {data: code for text, code in texts.items() if (data := encode_fallback(text)) is not None}


def look_up(table: NDArray[Any], places: NDArray[Any], low: int = 0) -> NDArray[Any]:
    """Return ``table[places - low]``, and the table's last entry for a place outside."""
    result = np.empty(len(places), dtype=table.dtype)
    if places.itemsize == 1 and table.dtype == np.uint8 and low == 0:
        full = np.full(256, table[-1], dtype=np.uint8)
        full[: min(len(table), 256)] = table[:256]
        return np.frombuffer(bytearray(places).translate(full.tobytes()), dtype=np.uint8)
    places = places.view(f"u{places.itemsize}")
    kind = places.dtype.type
    last = len(table) - 1
    for part in _blocks(len(places)):
        block = places[part]
        if low:
            block = block - kind(low)  # wraps around: what lies below becomes very large
        if last < np.iinfo(kind).max:
            block = np.minimum(block, kind(last))
        index = block.view(np.intp) if block.itemsize == 8 else block.astype(np.intp)
        table.take(index, out=result[part], mode="clip")
    return result


# ---- numeric columns


class NumericCoder:
    """Parses numbers and codes them by the bins of one ``Numeric``; ``marks``: how they are written in text."""

    def __init__(self, column: Numeric, marks: NumberMarks = _POINT) -> None:
        assert column.bins is not None
        self._marks = marks
        self._lower, self._upper, self._other = column.lower, column.upper, float(column.other or 0.0)
        self._cuts = np.array(column.bins, dtype=np.float64)
        self._missing_bin = column.size - 1 if column.missing_level else None
        self._missing_codes = {Decimal(code): 0 for code in column.missing}
        self.dtype: Any = code_type(column.size)

    def missing_values(self, type_: pa.DataType) -> NDArray[np.float64]:
        """Return the numbers that mean a missing value in an array of this type."""
        return np.array(
            [value for value, _ in spelling.float_codes(self._missing_codes, arrow.precision(type_))]
        )

    def code(self, array: pa.Array) -> Coded:
        """Return the bin of every cell, and its number between ``lower`` and ``upper``."""
        with np.errstate(all="ignore"):  # a signalling NaN must not make a warning
            values = self.parse(array)
            if self._missing_bin is None:
                return Coded(self.codes(self._clamped(values, array.type)), values)
            absent = np.isnan(values) | np.isin(values, self.missing_values(array.type))
            codes = self.codes(self._clamped(values, array.type))
            np.copyto(codes, self.dtype(self._missing_bin), where=absent)
            return Coded(codes, values)

    def parse(self, array: pa.Array) -> NDArray[np.float64]:
        """Return every cell as a number, NaN where it is missing or none, in a new array."""
        return parse_numbers(array, self._marks)

    def _clamped(self, values: NDArray[np.float64], type_: pa.DataType) -> NDArray[np.float64]:
        """Clamp numbers to the bounds in place; missing and invalid ones become ``other``."""
        codes = self.missing_values(type_) if self._missing_codes else None
        for part in _blocks(len(values)):
            block = values[part]
            missing = np.isnan(block)
            if codes is not None:
                missing |= np.isin(block, codes)
            np.clip(block, self._lower, self._upper, out=block)
            np.copyto(block, self._other, where=missing)
            block += 0.0  # -0.0 becomes 0.0
        return values

    def codes(self, values: NDArray[np.float64]) -> Codes:
        """Return the bin of every number."""
        result = np.zeros(len(values), dtype=self.dtype)
        for part in _blocks(len(values)):
            result[part] = np.searchsorted(self._cuts, values[part], side="right")
        return result


class DateCoder(NumericCoder):
    """Reads dates as numbers of days and codes them by the bins of one ``Date``."""

    def __init__(self, column: Date) -> None:
        super().__init__(column)
        self._format = column.format

    def parse(self, array: pa.Array) -> NDArray[np.float64]:
        """Return every cell as a number of days, NaN where it is missing or no date, in a new array."""
        return parse_days(array, self._format)


_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def parse_days(array: pa.Array, format: str = ISO) -> NDArray[np.float64]:  # noqa: A002
    """Return every cell as a number of days, NaN where it is missing or no date, in a new array.

    >>> parse_days(pa.array(["1970-01-02 08:00", "no", None])).tolist()
    [1.0, nan, nan]
    """
    array = arrow.unwrap(array)
    type_ = array.type
    if pa.types.is_date32(type_):
        days = np.asarray(array.view(pa.int32()).fill_null(0), dtype=np.float64)
    elif pa.types.is_date64(type_) or pa.types.is_timestamp(type_):
        unit = "ms" if pa.types.is_date64(type_) else type_.unit
        days = np.asarray(array.view(pa.int64()).fill_null(0)) // _PER_DAY[unit]
        days = days.astype(np.float64)
    elif pa.types.is_dictionary(type_):
        table = np.append(parse_days(array.dictionary, format), np.nan)
        places = np.asarray(array.indices.fill_null(len(table) - 1), dtype=np.int64)
        return table[np.clip(places, 0, len(table) - 1)]
    elif arrow.kind_of(type_) in ("text", "integer"):
        cells = (
            array.cast(pa.string()).cast(pa.binary()) if pa.types.is_integer(type_) else arrow.as_bytes(array)
        )
        coded = cells.dictionary_encode()
        texts = [cell.decode("utf-8", "replace") for cell in coded.dictionary.to_pylist()]
        table = np.array([*(read_day(text, format) for text in texts), np.nan])
        return table[np.asarray(coded.indices.fill_null(len(texts)), dtype=np.int64)]
    else:
        return np.full(len(array), np.nan)
    return _masked(days, array)


def parse_numbers(array: pa.Array, marks: NumberMarks = _POINT) -> NDArray[np.float64]:
    """Return every cell as a float64, NaN where it is missing or no number, in a new array.

    ``marks`` says how numbers are written where cells are text.

    >>> parse_numbers(pa.array(["1.234,5", "1,5", "1.5", "12"]), NumberMarks(",", ".")).tolist()
    [1234.5, 1.5, nan, 12.0]
    """
    array = arrow.unwrap(array)
    match arrow.kind_of(array.type):
        case "integer" | "float" | "boolean":
            return _masked(arrow.to_numpy(array).astype(np.float64), array)
        case "text":
            return _from_bytes(with_points(arrow.as_bytes(array), marks))
        case "decimal":
            return _from_bytes(arrow.to_text(array))
        case "dictionary":
            table = np.append(parse_numbers(array.dictionary, marks), np.nan)
            return _masked(look_up(table, arrow.to_numpy(array.indices)), array.indices)
        case _:  # the null type; others were refused when the file was opened
            return np.full(len(array), np.nan)


def with_points(cells: pa.Array, marks: NumberMarks) -> pa.Array:
    """Return numbers in bytes with a decimal point and no thousands marks; one with a wrong mark is missing."""
    if marks == _POINT:
        return cells
    cells = arrow.trim(cells)
    decimal = re.escape(marks.decimal)
    if marks.thousands:
        mark = _BLANKS if marks.thousands == " " else re.escape(marks.thousands)
        grouped = rf"^[+-]?[0-9]{{1,3}}({mark}[0-9]{{3}})+({decimal}[0-9]*)?$"
        plain = pc.replace_substring_regex(cells, mark, "")
        cells = pc.if_else(pc.match_substring_regex(cells, grouped), plain, cells)
    if marks.decimal == ".":
        return cells
    cells = pc.if_else(pc.match_substring(cells, "."), None, cells)
    return pc.replace_substring(cells, marks.decimal, ".")


def _masked(values: NDArray[Any], array: pa.Array, absent: float = np.nan) -> NDArray[Any]:
    """Set missing cells to ``absent``, in place."""
    present = arrow.validity(array)
    if present is not None:
        np.copyto(values, values.dtype.type(absent), where=~present)
    return values


def _from_bytes(cells: pa.Array) -> NDArray[np.float64]:
    """Parse cells that hold only digits, signs and points as they are, and the others with care."""
    unusual = arrow.has_other_bytes(cells, _NUMBER_BYTES)
    try:
        values = _cast(arrow.mask_cells(cells, unusual) if unusual.any() else cells)
    except pa.ArrowInvalid:  # digits that make no number, such as 1-2
        values, unusual = np.empty(len(cells)), np.ones(len(cells), dtype=np.bool_)
    if unusual.any():
        values[unusual] = _from_unusual_bytes(arrow.chosen(cells, unusual))
    return values


def _from_unusual_bytes(cells: pa.Array) -> NDArray[np.float64]:
    """Parse cells that need trimming, spell true or false, or are no number."""
    cells = arrow.trim(cells)
    keys = arrow.of_bytes([text.encode() for text in (*FALSE_SPELLINGS, *TRUE_SPELLINGS)]).cast(cells.type)
    truth = arrow.places(pc.index_in(cells, value_set=keys), 6)
    values = _numbers_like(cells, _NUMBER_TEXT)
    np.copyto(values, (truth >= 3).astype(np.float64), where=truth < 6)
    return values


def _numbers_like(cells: pa.Array, pattern: str) -> NDArray[np.float64]:
    """Return the numbers that a pattern finds in bytes, NaN where it finds none."""
    cells = arrow.mask_cells(cells, ~arrow.to_numpy(pc.match_substring_regex(cells, pattern)))
    try:
        return _cast(cells)
    except pa.ArrowInvalid:  # a number that some version of Arrow can't read
        numbers = (np.nan if cell is None else float(cell) for cell in cells.to_pylist())
        return np.fromiter(numbers, dtype=np.float64, count=len(cells))


def _cast(cells: pa.Array) -> NDArray[np.float64]:
    """Return bytes that spell numbers as float64."""
    numbers = cells.cast(pa.float64())
    result: NDArray[Any] = arrow.to_numpy(numbers).astype(np.float64)
    return _masked(result, numbers)
