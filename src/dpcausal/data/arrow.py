"""Arrow arrays as the coders need them: the kind of a type, numpy views of values and masks, and text as bytes.

The functions look at buffers and types and never at what a value means, so none of them raises on a value. Numbers and
masks are views where Arrow's layout allows it. Cost: O(cells), or O(bytes) for text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import types

Kind = Literal["text", "boolean", "integer", "float", "decimal", "time", "null", "dictionary", "unsupported"]

_TEXT_TYPES = (types.is_string, types.is_large_string, types.is_string_view)
_KINDS: tuple[tuple[Kind, tuple[Any, ...]], ...] = (
    ("integer", (types.is_integer,)),
    ("float", (types.is_floating,)),
    ("boolean", (types.is_boolean,)),
    ("dictionary", (types.is_dictionary,)),
    ("text", _TEXT_TYPES),
    ("text", (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)),
    ("decimal", (types.is_decimal,)),
    ("time", (types.is_date, types.is_timestamp, types.is_time, types.is_duration)),
    ("null", (types.is_null,)),
)


def kind_of(type_: pa.DataType) -> Kind:
    """Return the kind of value that an array of this type holds, such as "text", "integer" or "time"."""
    for kind, checks in _KINDS:
        if any(check(type_) for check in checks):
            return kind
    return "unsupported"


def value_kind(type_: pa.DataType) -> Kind:
    """Return the kind of the values themselves, inside dictionaries, run ends and extensions."""
    return kind_of(_value_type(type_))


def of_bytes(texts: Sequence[bytes]) -> pa.Array:
    """Return texts as an array of bytes. ``pa.array`` would import pandas, where it is installed, to look at a list.

    >>> of_bytes([b"yes", b"", b"no"]).to_pylist()
    [b'yes', b'', b'no']
    """
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(pa.binary(), len(texts), buffers)


def holds_days(type_: pa.DataType) -> bool:
    """Return whether the values themselves are dates, or times of a certain day."""
    inner = _value_type(type_)
    return bool(types.is_date(inner) or types.is_timestamp(inner))


def is_bytes(type_: pa.DataType) -> bool:
    """Return whether the values themselves are bytes that are not declared to be text."""
    inner = _value_type(type_)
    return value_kind(inner) == "text" and not any(check(inner) for check in _TEXT_TYPES)


def precision(type_: pa.DataType) -> type[np.floating[Any]]:
    """Return the type of float that the values have or are converted to: their own, or double."""
    inner = _value_type(type_)
    return np.dtype(inner.to_pandas_dtype()).type if types.is_floating(inner) else np.float64


def _value_type(type_: pa.DataType) -> pa.DataType:
    """Return the type of the values inside dictionaries, run ends and extensions."""
    while True:
        if isinstance(type_, pa.BaseExtensionType):
            type_ = type_.storage_type
        elif types.is_dictionary(type_) or types.is_run_end_encoded(type_):
            type_ = type_.value_type
        else:
            return type_


def unwrap(array: pa.Array) -> pa.Array:
    """Return the cells without extension type or run ends."""
    while True:
        if isinstance(array.type, pa.BaseExtensionType):
            array = array.storage
        elif types.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        else:
            return array


def validity(array: pa.Array) -> NDArray[np.bool_] | None:
    """Return a mask of the cells that hold a value; None where all do."""
    if array.null_count == 0:
        return None
    bitmap = array.buffers()[0]
    if bitmap is None:
        return np.zeros(len(array), dtype=np.bool_)
    return _bits(bitmap, array.offset, len(array))


def to_numpy(array: pa.Array) -> NDArray[Any]:
    """Return the values of an integer, float or boolean array; those of missing cells are arbitrary."""
    buffer = array.buffers()[1]
    if types.is_boolean(array.type):
        size = len(array)
        return np.zeros(size, dtype=np.bool_) if buffer is None else _bits(buffer, array.offset, size)
    dtype = np.dtype(array.type.to_pandas_dtype())
    if buffer is None or len(array) == 0:
        return np.zeros(len(array), dtype=dtype)
    return np.frombuffer(buffer, dtype=dtype, count=len(array), offset=array.offset * dtype.itemsize)


def places(found: pa.Array, absent: int) -> NDArray[Any]:
    """Return whole numbers as numpy has them, ``absent`` where there is none."""
    values, present = to_numpy(found), validity(found)
    return values if present is None else np.where(present, values, values.dtype.type(absent))


def _bits(buffer: pa.Buffer, offset: int, size: int) -> NDArray[np.bool_]:
    """Unpack the bits of a buffer into booleans."""
    first, last = offset // 8, (offset + size + 7) // 8
    packed = np.frombuffer(buffer, dtype=np.uint8)[first:last]
    bits = np.unpackbits(packed, bitorder="little")
    return bits[offset % 8 : offset % 8 + size].view(np.bool_)


def as_bytes(array: pa.Array) -> pa.Array:
    """Return text cells as bytes (binary or large binary), unchecked: bytes that are not UTF-8 stay as they are."""
    type_ = array.type
    if types.is_binary(type_) or types.is_large_binary(type_):
        return array
    short = types.is_string(type_) or types.is_fixed_size_binary(type_)
    return array.cast(pa.binary() if short else pa.large_binary())


def trim(array: pa.Array) -> pa.Array:
    """Return bytes without ASCII white space at either end."""
    text = pa.large_string() if types.is_large_binary(array.type) else pa.string()
    return pc.ascii_trim_whitespace(array.view(text)).view(array.type)


def to_text(array: pa.Array) -> pa.Array:
    """Return decimals, dates and times as text in bytes.

    Decimals are written in full, times to the second unless they have a fraction, and times with a zone in UTC with a
    final Z.
    """
    type_ = array.type
    zone = types.is_timestamp(type_) and type_.tz is not None
    text = (array.view(pa.timestamp(type_.unit)) if zone else array).cast(pa.string())
    if kind_of(type_) == "time":
        text = pc.replace_substring_regex(text, r"\.0+$", "")
        text = pc.binary_join_element_wise(text, pa.scalar("Z"), "") if zone else text
    return text.cast(pa.binary())


def without_zero_time(text: pa.Array) -> pa.Array:
    """Return times in bytes without final zeros of a fraction, and without a time of day that is midnight."""
    text = pc.replace_substring_regex(text, rb"(\.[0-9]*?)0+(Z?)$", rb"\1\2")
    text = pc.replace_substring_regex(text, rb"\.(Z?)$", rb"\1")
    return pc.replace_substring_regex(text, rb" 00:00:00(Z?)$", rb"\1")


def is_utf8(array: pa.Array) -> NDArray[np.bool_]:
    """Return which cells of an array of bytes are valid UTF-8; missing ones are."""
    large = types.is_large_binary(array.type)
    try:
        array.cast(pa.large_string() if large else pa.string())
    except pa.ArrowInvalid:
        return np.array([cell is None or _decodes(cell) for cell in array.to_pylist()], dtype=np.bool_)
    return np.ones(len(array), dtype=np.bool_)


def _decodes(cell: bytes) -> bool:
    """Return whether bytes are valid UTF-8."""
    try:
        cell.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def has_other_bytes(array: pa.Array, usual: bytes) -> NDArray[np.bool_]:
    """Return which cells of an array of bytes are empty or hold a byte that is not in ``usual``."""
    offsets, data = _offsets_and_data(array)
    marks = np.frombuffer(
        bytes(data[offsets[0] : offsets[-1]]).translate(bytes(byte not in usual for byte in range(256))),
        dtype=np.bool_,
    )
    result: NDArray[np.bool_] = np.diff(offsets) == 0
    result[np.searchsorted(offsets - offsets[0], np.flatnonzero(marks), side="right") - 1] = True
    return result


def _offsets_and_data(array: pa.Array) -> tuple[NDArray[Any], memoryview]:
    """Return the offsets and the bytes of a binary array."""
    _, offsets, data = array.buffers()
    dtype = np.dtype(np.int64 if types.is_large_binary(array.type) else np.int32)
    if offsets is None or len(array) == 0:
        return np.zeros(len(array) + 1, dtype=dtype), memoryview(b"")
    places = np.frombuffer(offsets, dtype=dtype, count=len(array) + 1, offset=array.offset * dtype.itemsize)
    return places, memoryview(b"" if data is None else data)


def chosen(array: pa.Array, mask: NDArray[np.bool_]) -> pa.Array:
    """Return the cells of a mask."""
    bits = pa.py_buffer(np.packbits(mask, bitorder="little"))
    return array.filter(pa.Array.from_buffers(pa.bool_(), len(mask), [None, bits]))


def mask_cells(array: pa.Array, masked: NDArray[np.bool_]) -> pa.Array:
    """Return an array of bytes in which the ``masked`` cells are missing; the bytes are shared."""
    present = validity(array)
    bitmap = np.packbits(~masked if present is None else present & ~masked, bitorder="little")
    places, _ = _offsets_and_data(array)
    data = array.buffers()[2]
    buffers = [pa.py_buffer(bitmap), pa.py_buffer(np.ascontiguousarray(places)), data]
    return pa.Array.from_buffers(array.type, len(array), buffers)
