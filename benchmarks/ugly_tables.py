"""Random schemas and columns of ugly cells, for comparing engines with memory code for code.

Every kind of stored type that an engine may have is here with the cells that engines treat differently: blanks and
case in texts, NaN, -0.0 and infinities, the ends of integer types, decimals that fall between two floats, midnight,
the empty text beside NULL.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

import dpcausal as dc

TEXTS = [
    None, "", " ", "no", "No", "NO", "no ", " no", "\tno\n", "yes", "yes\x0b", "Yes", "ÿes", "é", "e\u0301", "1", "1.0",
    "01", "+1", "-0", "0", "0.0", "true", "TRUE", "True", "false", "NaN", "null", "NULL", "NA", "a'b", 'a"b', "a\\b",
    "\\x6e6f", "ß", "SS", "ss", "ﬁ", "fi", "%", "_", "n_", "no\u00a0", "no\u2003", "0x1", "1e0", "¼", "日本", "𝔘",
    "a,b", "a;b", "--", "/*", "{}", "$1", "%s", ":x", "?", "2020-01-01", "2020-01-01 00:00:00",
]  # fmt: skip
FLOATS = [
    None, float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.0, 0.1, 0.30000000000000004, 0.3, 5.0,
    4.999999999999999, 5e-324, 1e-310, -1e308, 1.7e308, 999.0, -9.0, 16777217.0, 2.5, 1e15, 9007199254740993.0,
]  # fmt: skip
DECIMALS = [
    None, "0", "1.50", "-0.01", "0.10", "0.09", "5.00", "4.99", "999.00", "-9.00", "123456.78", "-99999.99",
]  # fmt: skip
LONG_DECIMALS = [
    None, "0", "0.1", "0.09999999999999999999", "0.09999999999999999000", "4.99999999999999999999",
    "5.00000000000000000001", "999", "-9", "123456789012345.12345678901234567890",
]  # fmt: skip
DAYS = [
    None, datetime.date(2020, 1, 1), datetime.date(1970, 1, 1), datetime.date(1969, 12, 31),
    datetime.date(1582, 10, 10), datetime.date(9999, 12, 31), datetime.date(1900, 2, 28),
]  # fmt: skip
MOMENTS = [
    None, datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, 0, 0, 0, 1), datetime.datetime(1970, 1, 1),
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), datetime.datetime(2020, 1, 1, 12, 30),
]  # fmt: skip
INTEGERS = {
    pa.int8(): (-128, 127), pa.int16(): (-(2**15), 2**15 - 1), pa.int32(): (-(2**31), 2**31 - 1),
    pa.int64(): (-(2**63), 2**63 - 1),
}  # fmt: skip
TEXT_LEVELS = [
    ["no", "yes"], ["yes", "no", "No "], ["0", "1"], [0, 1], [True, False], ["true", "1"], ["", "x", "no"],
    ["a'b", 'a"b', "a\\b", "\\x6e6f"], ["é", "e\u0301", "ÿes"], ["ß", "SS", "ss"], ["%", "_", "n_", "no"],
    ["1.0", "01", "+1"], ["NaN", "null", "NA"], [" ", "no"], ["no\u00a0", "no"], ["日本", "𝔘", "ﬁ"],
    ["2020-01-01", "x"], ["$1", "%s", ":x", "?"], ["{}", "--", "/*"],
]  # fmt: skip
NUMBER_LEVELS = [
    [0, 1], [1, 2, 3], [-1, 0, 1], [-128, 127], [2**31 - 1, -(2**31)], [2**63 - 1, -(2**63)], ["0.1", "0.3", "5"],
    [True, False], ["1.50", "-0.01", "999"], ["-0.0", "1e3"], [16777217, 9007199254740993], list(range(-3, 40)),
    [2, 1, 0], ["none", 5, 7],
]  # fmt: skip
TIME_LEVELS = [
    ["2020-01-01", "1970-01-01", "none"], ["2020-01-01 00:00:00", "x"], ["2020-01-01T12:30:00", "1969-12-31"],
    ["1582-10-10", "9999-12-31"], ["2020-01-01 00:00:00.000001", "2020-01-01"],
]  # fmt: skip

Column = tuple[pa.Array, dc.Categorical | dc.Numeric]


def _draw(rng: np.random.Generator, cells: list[Any], n: int) -> list[Any]:
    return [cells[i] for i in rng.integers(0, len(cells), n)]


def _categorical(rng: np.random.Generator, levels: list[list[Any]]) -> dc.Categorical:
    chosen = levels[rng.integers(len(levels))]
    options: dict[str, Any] = {"other": chosen[rng.integers(len(chosen))]} if rng.random() < 0.7 else {}
    if rng.random() < 0.4:
        for text in ("NO", "Yes", "999", "-9", "7"):
            try:
                options |= {"aliases": {text: chosen[-1]}}
                return dc.Categorical(chosen, **options, missing=["NA" if "NA" not in chosen else "zz"])
            except dc.SchemaError:
                options.pop("aliases", None)
    return dc.Categorical(chosen, **options)


def _numeric(rng: np.random.Generator) -> dc.Numeric:
    bins = [
        [0.1, 0.3, 5.0],
        [0.0],
        [-8.0, 0.1, 1.0, 2.5, 4.0, 5.0, 9.0],
        [],
        None,
        np.linspace(-9, 9, 70)[1:-1].tolist(),
    ]
    cuts = bins[rng.integers(len(bins))]
    other = [None, 5.0, 9.5][rng.integers(3)]
    return dc.Numeric(-10.0, 10.0, bins=cuts, other=other, missing=[999, -9] if rng.random() < 0.5 else [])


def _integers(rng: np.random.Generator, n: int) -> pa.Array:
    type_ = list(INTEGERS)[rng.integers(len(INTEGERS))]
    low, high = INTEGERS[type_]
    cells = [None, 0, 1, 2, 3, 5, 7, -1, -9, 100, low, high, low + 1, high - 1, min(999, high)]
    return pa.array(_draw(rng, cells, n), type_)


def _floats(rng: np.random.Generator, n: int) -> pa.Array:
    if rng.random() < 0.4:
        with np.errstate(all="ignore"):
            cells = [None if x is None else float(np.float32(x)) for x in FLOATS]
        return pa.array(_draw(rng, cells, n), pa.float32())
    return pa.array(_draw(rng, FLOATS, n), pa.float64())


def _decimals(rng: np.random.Generator, n: int) -> pa.Array:
    cells, type_ = (
        (DECIMALS, pa.decimal128(9, 2)) if rng.random() < 0.6 else (LONG_DECIMALS, pa.decimal128(38, 20))
    )
    return pa.array([None if x is None else Decimal(x) for x in _draw(rng, cells, n)], type_)


def _booleans(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array(_draw(rng, [None, True, False], n), pa.bool_())


def ugly_table(seed: int, n: int = 200, columns: int = 5) -> tuple[pa.Table, dc.Schema]:
    """Return a table of ugly cells and a schema for it, both random.

    >>> table, schema = ugly_table(1, n=50)
    >>> table.num_rows, len(schema)
    (50, 5)
    """
    rng = np.random.default_rng(seed)
    numbers: list[Callable[[np.random.Generator, int], pa.Array]] = [_integers, _floats, _decimals, _booleans]
    arrays: dict[str, pa.Array] = {}
    declared: dict[str, Any] = {}
    names = ["x", "Case", "a b", "select", 'q"u', "dé", "n%"]
    for i in range(columns):
        name = names[i % len(names)]
        kind = rng.integers(7)
        if kind < 2:
            arrays[name], declared[name] = (
                pa.array(_draw(rng, TEXTS, n), pa.string()),
                _categorical(rng, TEXT_LEVELS),
            )
        elif kind == 2:
            cells, type_ = (DAYS, pa.date32()) if rng.random() < 0.5 else (MOMENTS, pa.timestamp("us"))
            arrays[name], declared[name] = (
                pa.array(_draw(rng, cells, n), type_),
                _categorical(rng, TIME_LEVELS),
            )
        else:
            arrays[name] = numbers[rng.integers(len(numbers))](rng, n)
            declared[name] = _categorical(rng, NUMBER_LEVELS) if kind < 5 else _numeric(rng)
    return pa.table(arrays), dc.Schema(declared)
