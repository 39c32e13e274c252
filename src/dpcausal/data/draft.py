"""A first draft of a schema file, from the data. Not private: it shows values; a person must check it.

For the data holder's own desk. Levels, bounds and which columns are there are read from rows, so the draft says
on top that none of it may be used or published before it is checked against public knowledge.
Cost: one pass, memory one batch and at most ``MOST`` + 1 distinct values a column.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpcausal.core.errors import InputError
from dpcausal.data import arrow, spelling, toml
from dpcausal.data.columns import Categorical, Level, Numeric
from dpcausal.data.files import Source
from dpcausal.data.numbers import parsed
from dpcausal.data.sources import Columns, open_source

MOST = 50  # distinct texts a column may have to be drafted as categorical
FEW = 12  # distinct whole numbers up to which a column is drafted as categorical
MISSING = (b"", b"NA", b"N/A", b"NaN", b"nan", b"null", b"NULL", b"None", b"<NA>")
_TRUTHS = [text.encode() for text in (*spelling.TRUE, *spelling.FALSE)]
WARNING = """\
# DRAFT, read from the data itself: NOT PRIVATE. Levels and bounds below are values of rows.
# Before you use this file with a private release, or show it to anyone, check every line against public
# knowledge (a codebook, a form, common sense) and change what only the data could have told you.
# Undeclared levels go to `other`, numbers outside the bounds are clamped. Then delete these lines.
"""


class _Seen:
    """What the draft needs to know of one column."""

    def __init__(self) -> None:
        self.texts: set[bytes] = set()
        self.numbers = True
        self.whole = True
        self.lower, self.upper = math.inf, -math.inf

    def add(self, array: pa.Array) -> None:
        array = arrow.plain(array)
        kind = arrow.value_kind(array.type)
        if kind == "null":
            return
        cells = _bytes(array).drop_null()
        cells = cells.filter(pc.invert(pc.is_in(cells, value_set=pa.array(MISSING, cells.type))))
        if len(self.texts) <= MOST:
            self.texts.update(cells.unique().slice(0, MOST + 1).to_pylist())
        truths = bool(pc.any(pc.is_in(cells, value_set=pa.array(_TRUTHS, cells.type))).as_py())
        self.numbers = self.numbers and kind != "time" and not truths
        if not self.numbers or len(cells) == 0:
            return
        values = parsed(cells)
        self.numbers = not bool(np.isnan(values).any())
        finite = values[np.isfinite(values)]
        if self.numbers and len(finite):
            self.whole = self.whole and bool((finite == np.rint(finite)).all())
            self.lower, self.upper = min(self.lower, finite.min()), max(self.upper, finite.max())


def _bytes(array: pa.Array) -> pa.Array:
    """Every cell as text, trimmed."""
    if arrow.kind_of(array.type) == "dictionary":
        array = array.dictionary_decode()
    kind = arrow.kind_of(array.type)
    if kind == "text":
        return arrow.trimmed(arrow.as_bytes(array))
    if kind in ("time", "decimal"):
        return arrow.printed(array)
    if kind == "float":
        values = arrow.numbers(array)
        array = pc.if_else(pa.array(np.isnan(values)), None, array)
        if array.type == pa.float16():
            array = array.cast(pa.float32())
    return array.cast(pa.string()).cast(pa.binary())


def draft(source: Any) -> str:
    """TOML text of a schema for ``source``, one table a column, with a warning on top."""
    found = open_source(source)
    names = list(dict.fromkeys(found.names))
    if isinstance(found, Columns):
        found.convert([name for name in names if found.names.count(name) == 1])
    faults = {name: _fault(found, name) for name in names}
    usable = [name for name in names if not faults[name]]
    if not usable:
        raise InputError(f"{found.label} has no column that can be drafted")
    seen = {name: _Seen() for name in usable}
    rows = 0
    for chunk in found.chunks(usable):
        for name, array in chunk.items():
            seen[name].add(array)
        rows += len(chunk[usable[0]])
    if rows == 0:
        raise InputError(f"{found.label} has no rows")
    parts = [_left_out(name, faults[name]) if faults[name] else _column(name, seen[name]) for name in names]
    return "\n".join([WARNING, *parts])


def _fault(found: Source, name: str) -> str:
    """Why a column can't be drafted whatever it holds; empty where it can."""
    if not name:
        return "it has no name"
    if found.names.count(name) > 1:
        return "more than one column has this name"
    type_ = found.types[found.names.index(name)]
    return f"type {type_}" if type_ is not None and arrow.value_kind(type_) == "unsupported" else ""


def _left_out(name: str, why: str) -> str:
    return f"# {toml.header(name)}  left out: {why}\n"


def _column(name: str, seen: _Seen) -> str:
    count = len(seen.texts)
    if count == 0:
        return _left_out(name, "no values")
    if seen.numbers and math.isfinite(seen.lower) and (count > FEW or not seen.whole or _large(seen)):
        return toml.table(name, Numeric(*_outward(seen.lower, seen.upper)))
    if count > MOST:
        return _left_out(name, f"more than {MOST} different texts: an identifier, a date or free text?")
    levels = _levels(seen)
    if not levels:
        return _left_out(name, "its values are not UTF-8 text")
    note = "# ordered = true  # if the order of the levels means something\n" if len(levels) > 2 else ""
    return toml.table(name, Categorical(levels)) + note


def _large(seen: _Seen) -> bool:
    return max(-seen.lower, seen.upper) >= 2**53


def _levels(seen: _Seen) -> list[Level]:
    if seen.texts <= set(_TRUTHS):
        return [False, True]
    if seen.numbers and seen.whole and math.isfinite(seen.lower):
        return [*sorted({int(Decimal(text.decode())) for text in seen.texts if math.isfinite(float(text))})]
    texts: list[str] = []
    for text in seen.texts:
        try:
            texts.append(text.decode())
        except UnicodeDecodeError:
            continue
    return [*sorted(texts)]


def _outward(lower: float, upper: float) -> tuple[float, float]:
    """Bounds rounded outward to a multiple of a power of ten a little below their distance."""
    width = upper - lower if upper > lower else max(abs(upper), 1.0)
    if not math.isfinite(width):
        return lower, upper
    step = Decimal(10) ** (math.floor(math.log10(width)) - 1)
    low = (Decimal(lower) / step).to_integral_value("ROUND_FLOOR") * step
    high = (Decimal(upper) / step).to_integral_value("ROUND_CEILING") * step
    return (float(low), float(high)) if low < high else (float(low - step), float(high + step))
