"""SQL that codes a column as the schema says, inside DuckDB.

The same rules as ``dpcausal.data`` applies to Arrow arrays, for the types a table can push down: integers,
floats, booleans and text. One suite checks that both give the same codes. Types are public metadata, so a type
that can't be coded here is an error; values never are.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from dpcausal.core.errors import InputError
from dpcausal.data import spelling
from dpcausal.data.columns import Categorical, Column, Numeric

_INTEGERS = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
    "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
}  # fmt: skip
_FLOATS: dict[str, type[np.floating[Any]]] = {"FLOAT": np.float32, "DOUBLE": np.float64}
_SPACE = " \t\n\v\f\r"
_NULLS = '"NULL"'
_LISTED = 32  # up to so many keys a linear search is faster than an ENUM's hash table


def quoted(name: str) -> str:
    """An identifier in SQL."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A string literal in SQL."""
    return "'" + value.replace("'", "''") + "'"


def double(value: float) -> str:
    """A float64 literal that reads back exactly."""
    return f"CAST({text(repr(value))} AS DOUBLE)"


def _choose(value: str, cases: list[tuple[str, int]], otherwise: str) -> str:
    """CASE over equal values."""
    if not cases:
        return otherwise
    return f"CASE {' '.join(f'WHEN {value} = {key} THEN {code}' for key, code in cases)} ELSE {otherwise} END"


def _is_nan(value: str) -> str:
    """Whether a float is NaN, by a detour: DuckDB takes ``isnan`` of a Parquet column for false where the file's own
    least and largest value are numbers, which they are beside NaN too (duckdb issue 25521)."""
    return f"isnan([{value}][1])"


def _whole(numbers: dict[Decimal, int]) -> list[tuple[int, int]]:
    return sorted((int(k), c) for k, c in numbers.items() if k == k.to_integral_value() and abs(k) < 2**64)


def _look_up(value: str, keys: list[str], codes: list[int]) -> str:
    """Code of the key equal to a text, NULL where none is."""
    words = ", ".join(map(text, keys))
    if len(keys) <= _LISTED:
        place = f"list_position([{words}], {value})"
    else:
        place = f"enum_code(TRY_CAST({value} AS ENUM({words}))) + 1"
    return f"[{', '.join(map(str, codes))}][{place}]"


def _integer(value: str, pairs: list[tuple[int, int]], other: int) -> str:
    """Code of an integer among sorted (key, code) pairs."""
    if not pairs:
        return str(other)
    keys, codes = [key for key, _ in pairs], [code for _, code in pairs]
    low, high = keys[0], keys[-1]
    if high - low + 1 == len(keys) and codes == list(range(len(keys))):
        offset = f"CAST({value} AS HUGEINT) - ({low})" if low else value
        return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN CAST({offset} AS UBIGINT) ELSE {other} END"
    if len(keys) <= _LISTED:
        return _choose(value, [(str(key), code) for key, code in pairs], str(other))
    return f"coalesce({_look_up(f'CAST({value} AS VARCHAR)', list(map(str, keys)), codes)}, {other})"


def _categorical(value: str, kind: str, column: Categorical) -> str:
    other = column.other_code
    if kind == "UHUGEINT":  # compared with a negative level it would be cast, and a value above 2^127 raise
        value = f"TRY_CAST({value} AS HUGEINT)"  # NULL there: levels lie within 64 bits
    if kind in _INTEGERS:
        return _integer(value, _whole(spelling.numbers(column)), other)
    if kind in _FLOATS:
        pairs = spelling.floats(spelling.numbers(column), _FLOATS[kind])
        cases = [(double(key), code) for key, code in pairs]
        found = _choose(f"CAST({value} AS DOUBLE)", cases, str(other))
        return f"CASE WHEN {_is_nan(value)} THEN {other} ELSE {found} END"
    claimed = spelling.texts(column)
    if kind == "BOOLEAN":
        truth = [(word, claimed[word.title()]) for word in ("true", "false") if word.title() in claimed]
        return _choose(value, truth, str(other))
    keys, codes = list(claimed), list(claimed.values())
    exact, bare = (_look_up(form, keys, codes) for form in (value, f"trim({value}, {text(_SPACE)})"))
    return f"coalesce({exact}, {bare}, {other})"


def _numeric(value: str, kind: str, column: Numeric) -> str:
    assert column.bins is not None
    assert column.other is not None
    cuts = np.array(column.bins, np.float64)
    other = int(np.searchsorted(cuts, column.other, side="right"))
    number = f"CAST({value} AS {'INTEGER' if kind == 'BOOLEAN' else 'DOUBLE'})"
    if len(cuts) <= _LISTED:
        steps = " + ".join(f"CAST({number} >= {double(cut)} AS INTEGER)" for cut in cuts.tolist()) or "0"
    else:
        steps = f"len(list_filter([{', '.join(map(double, cuts.tolist()))}], lambda cut: cut <= {number}))"
    missing = f"{value} IS NULL" if kind not in _FLOATS else f"{value} IS NULL OR {_is_nan(value)}"
    codes = {Decimal(code): 0 for code in column.missing}
    if gone := [double(key) for key, _ in spelling.floats(codes, _FLOATS.get(kind, np.float64))]:
        missing = f"{missing} OR {number} IN ({', '.join(gone)})"
    return f"CASE WHEN {missing} THEN {other} ELSE {steps} END"


def code_sql(name: str, kind: str, column: Column) -> str:
    """An expression for the code of column ``name`` of DuckDB type ``kind``; never NULL."""
    value = quoted(name)
    if kind == _NULLS:
        raise InputError(f'column "{name}" holds no type that can be counted in DuckDB')
    known = kind in _INTEGERS or kind in _FLOATS or kind == "BOOLEAN"
    if isinstance(column, Numeric):
        if not known:
            raise InputError(
                f'column "{name}" is declared numeric but stored as {kind}: read it with dc.read'
            )
        return _numeric(value, kind, column)
    if not known and kind != "VARCHAR":
        raise InputError(
            f'column "{name}" is stored as {kind}, which DuckDB can\'t code: read it with dc.read'
        )
    return _categorical(value, kind, column)
