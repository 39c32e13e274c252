"""The code of a cell as one Ibis expression, equal to the code that ``dc.read`` gives to the same cell.

For a categorical column the expression compares the cell with every value of its stored type that means a level. Those
values are asked from the coder of ``dpcausal.data.coding`` itself, so there is one rule for all engines and for memory:

    code(v) = CASE WHEN v = k_1 THEN c_1 ... ELSE other END

Text is compared as it is first, then without white space at its ends, then as a number. For a numeric column the
code is the number of cut points that the cell is not below; clamping does not change it, since cut points lie within
the bounds.

What engines do differently, and what is done about it:

- **Collation, case, trailing blanks.** Where a column may have a collation that takes different texts for equal, the
  hexadecimal digits of its UTF-8 bytes are compared instead. ``char(n)`` of PostgreSQL is text without its padding.
- **NaN** is the largest number for PostgreSQL, DuckDB and Spark: it is looked for first. -0.0 equals 0.0 everywhere.
- **Decimals** become floats by way of text, which rounds to nearest everywhere; division by a power of ten does not.
  In DuckDB they are compared as text too: Ibis takes ``HUGEINT`` for a decimal, and not all of its values are one.
- **Integers** are compared with values that their type can hold, and made 64-bit before any arithmetic.
- **Times with a zone** are instants, whatever zone a session shows them in: they are compared with instants in UTC, and
  a level means one where it ends in Z, as for ``dc.read``.
- **Literals** of floats, decimals, dates and times are cast from text, so that no parser of numbers comes between.

**Guarantee.** No value of a row makes an expression fail or NULL, and no expression holds a value of a row. A stored
type that can't be coded is an ``InputError``; types are public.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dpcausal.core.errors import InputError, SchemaError
from dpcausal.data import spelling
from dpcausal.data.coding import CategoricalCoder, check_type
from dpcausal.data.columns import Categorical, Column, Numeric
from dpcausal.data.dates import EPOCH, Date

if TYPE_CHECKING:
    from ibis.expr import types as ir

Key = str | int | bool | float | Decimal | datetime.date | datetime.datetime

MAX_KEYS = 4096  # spellings of one column that an expression may list
MAX_DECIMAL_DIGITS = (
    300  # a decimal type with more digits before or after the point may leave the range of floats
)
ADVICE = "store it otherwise (a view will do), or bring the columns with dc.read"


@dataclass(frozen=True)
class Dialect:
    """What must be known of an engine to write an expression for it.

    Attributes
    ----------
    name : str
        As Ibis calls the backend.
    bytewise : bool
        Whether texts are equal only where their bytes are, whatever the column's collation.
    collated : frozenset of str
        Columns of which that is not true, where ``bytewise`` is.
    zoned : frozenset of str
        Columns of instants that Ibis takes for times without a zone: ``TIMESTAMP`` of Spark.
    """

    name: str
    bytewise: bool = True
    collated: frozenset[str] = field(default_factory=frozenset)
    zoned: frozenset[str] = field(default_factory=frozenset)

    def needs_hex(self, column: str) -> bool:
        """Return whether texts of a column are compared by their bytes in hexadecimal."""
        return not self.bytewise or column in self.collated


DIALECTS: dict[str, Dialect] = {
    "duckdb": Dialect("duckdb", bytewise=False),  # a collation of a column shows nowhere
    "pyspark": Dialect("pyspark"),
    "postgres": Dialect("postgres"),
    "bigquery": Dialect("bigquery", bytewise=False),
    "snowflake": Dialect("snowflake", bytewise=False),
    "trino": Dialect("trino"),  # has no collations
}


def code_expression(value: ir.Value, name: str, column: Column, dialect: Dialect, label: str) -> ir.Value:
    """Return the code of a cell as a 64-bit integer, for the engine of ``dialect``; errors call the table ``label``.

    Raises ``SchemaError`` where ``dc.read`` refuses cells of this kind (numbers or truth values where no level is one),
    ``InputError`` if the stored type can't be coded as declared or there are too many spellings.
    """
    code = _code(value, name, column, dialect, label)
    # literals below are 32-bit, so that this cast is written out: an engine takes 7 for a 32-bit number whatever
    # Ibis takes it for, and the product with a place in a key would overflow
    return code if code.type().is_int64() else code.cast("int64")


def _code(value: ir.Value, name: str, column: Column, dialect: Dialect, label: str) -> ir.Value:
    """Return the code of a cell, by the type of its column."""
    import ibis

    stored = value.type()
    if stored.is_null():
        return ibis.literal(column.other_code, type="int32")
    for is_one, type_ in (
        (stored.is_boolean(), pa.bool_()),
        (stored.is_integer(), pa.int64()),
        (stored.is_floating(), pa.float64()),
        (stored.is_decimal(), pa.decimal128(38, 9)),
    ):
        if is_one:
            check_type(name, type_, column, label)  # refuses what dc.read refuses: by kinds of types
    if isinstance(column, Numeric):
        return _numeric(value, name, column, dialect, label)
    if stored.is_boolean():
        return _choose(value, _pairs(column, [True, False], pa.bool_()), column.other_code)
    if stored.is_integer():
        return _integer(value, column, name, label)
    if stored.is_floating():
        return _float(value, column)
    if stored.is_decimal():
        return _decimal(value, column, dialect)
    if stored.is_date():
        days = list(dict.fromkeys(time.date() for time in _times(column)))
        return _choose(value, _pairs(column, days, pa.date32()), column.other_code)
    if stored.is_timestamp() and stored.timezone is None and name not in dialect.zoned:
        return _choose(value, _pairs(column, _times(column), pa.timestamp("us")), column.other_code)
    if stored.is_timestamp():
        instants = _pairs(column, _times(column, zoned=True), pa.timestamp("us", "UTC"))
        if not instants:
            raise InputError(
                f'column "{name}" of {label} holds times with a time zone, and no level is one: write levels in UTC '
                'with a final Z, "2020-01-31 12:00:00Z"'
            )
        return _choose(value, instants, column.other_code)
    if stored.is_string():
        return _text(value, name, column, dialect, label)
    raise InputError(
        f'column "{name}" of {label} has type {stored}, which can\'t be coded on an engine: {ADVICE}'
    )


def number_expression(
    value: ir.Value, name: str, column: Numeric, dialect: Dialect, label: str
) -> tuple[ir.Value, ir.Value]:
    """Return a numeric cell as a float, not clamped, and whether it is missing, NaN or a missing code.

    Raises ``SchemaError`` for a column without numbers, ``InputError`` for numbers as text.
    """
    if isinstance(column, Date):
        return _days_expression(value, name, column, dialect, label)
    stored = value.type()
    if stored.is_string():
        raise InputError(f'column "{name}" of {label} is stored as text but declared numeric: {ADVICE}')
    if not (stored.is_boolean() or stored.is_integer() or stored.is_floating() or stored.is_decimal()):
        raise SchemaError(f'column "{name}" of {label} has type {stored}, but is declared numeric')
    if stored.is_boolean():
        number = value.cast("int32").cast("float64")
    elif stored.is_decimal():
        number = _within_floats(value, dialect).cast("string").cast("float64")
    else:
        number = value.cast("float64")
    missing = value.isnull()
    if stored.is_floating() or (stored.is_decimal() and dialect.name == "postgres"):
        missing |= _is_nan(number, dialect)
    precision = np.float32 if stored.is_float32() else np.float64
    codes = {Decimal(code): 0 for code in column.missing}
    if keys := [double(key) for key, _ in spelling.float_codes(codes, precision)]:
        missing |= number.isin(keys)
    return number, missing


def _days_expression(
    value: ir.Value, name: str, column: Date, dialect: Dialect, label: str
) -> tuple[ir.Value, ir.Value]:
    """Return a date as a number of days, and whether it is missing.

    It is clamped to the bounds first: PostgreSQL and DuckDB have dates that are infinite, of which none is a number.
    """
    import ibis

    stored = value.type()
    if not (stored.is_date() or stored.is_timestamp()):
        raise InputError(f'column "{name}" of {label} has type {stored} but is declared a date: {ADVICE}')
    zoned = stored.is_timestamp() and (stored.timezone is not None or name in dialect.zoned)

    def start(day: float) -> Any:
        date = EPOCH + datetime.timedelta(days=round(day))
        if stored.is_date():
            return _literal(date)
        midnight = datetime.datetime.combine(date, datetime.time(), datetime.UTC if zoned else None)
        return _literal(midnight)

    inside = ibis.cases(
        (value < start(column.lower), start(column.lower)),
        (value > start(column.upper), start(column.upper)),
        else_=value,
    )
    number = (inside.cast("timestamp").epoch_seconds().cast("float64") / 86_400.0).floor().cast("float64")
    missing = value.isnull()
    for day in column.missing:
        missing |= (value >= start(day)) & (value < start(day + 1))
    return number, missing


# ---- categorical columns


def _pairs(column: Categorical, keys: Sequence[Key], type_: pa.DataType) -> list[tuple[Key, int]]:
    """Return the values of a stored type that mean a level other than ``other``, each with its code."""
    codes = CategoricalCoder(column).codes(pa.array(keys, type_)).tolist()
    return [(key, code) for key, code in zip(keys, codes, strict=True) if code != column.other_code]


def _choose(value: ir.Value, pairs: Sequence[tuple[Any, int]], other: int) -> ir.Value:
    """Return a CASE expression that maps values to codes; NULL gets ``other``."""
    return _first([(value == _literal(key), code) for key, code in pairs], other)


def _first(cases: Sequence[tuple[Any, int]], other: int) -> ir.Value:
    """Return a CASE expression for the code of the first condition that holds; ``other`` where none does."""
    import ibis

    otherwise = ibis.literal(other, type="int32")
    coded = [(condition, ibis.literal(code, type="int32")) for condition, code in cases]
    return ibis.cases(*coded, else_=otherwise) if coded else otherwise


def _literal(key: Any) -> Any:
    """Return a literal that every engine reads as exactly this value."""
    import ibis

    if isinstance(key, bool | int | str):
        return ibis.literal(key)
    if isinstance(key, datetime.datetime) and key.tzinfo is not None:
        return ibis.literal(key.isoformat(sep=" ")).cast("timestamp('UTC', 6)")
    if isinstance(key, datetime.datetime):
        return ibis.literal(key.isoformat(sep=" ")).cast("timestamp(6)")  # Trino would round to 3 digits
    if isinstance(key, datetime.date):
        return ibis.literal(key.isoformat()).cast("date")
    return double(key) if isinstance(key, float) else key


def double(number: float) -> Any:
    """Return a literal of type double."""
    import ibis

    return ibis.literal(repr(float(number))).cast("float64")


def _integer(value: ir.Value, column: Categorical, name: str, label: str) -> ir.Value:
    """Return the code of an integer cell."""
    stored = value.type()
    low, high = stored.bounds
    whole = {int(k) for k in spelling.number_codes(column) if abs(k) < 2**65 and k == k.to_integral_value()}
    keys = sorted(key for key in whole if low <= key <= high)
    pairs = _pairs(column, keys, stored.to_pyarrow())
    numbers, codes = [int(str(key)) for key, _ in pairs], [code for _, code in pairs]
    run = bool(pairs) and abs(numbers[0]) < 2**62 and codes == list(range(codes[0], codes[0] + len(codes)))
    if len(pairs) > 2 and run and numbers[-1] - numbers[0] == len(pairs) - 1:
        shifted = value.cast("int64") + (codes[0] - numbers[0])
        inside = value.between(numbers[0], numbers[-1])
        import ibis

        return ibis.cases((inside, shifted), else_=ibis.literal(column.other_code, type="int64"))
    _refuse_many(len(pairs), name, label)
    return _choose(value, pairs, column.other_code)


def _float(value: ir.Value, column: Categorical) -> ir.Value:
    """Return the code of a float cell."""
    precision = np.float32 if value.type().is_float32() else np.float64
    keys = [key for key, _ in spelling.float_codes(spelling.number_codes(column), precision)]
    pairs = _pairs(column, keys, pa.from_numpy_dtype(precision))
    return _choose(value.cast("float64"), pairs, column.other_code)


def _decimal(value: ir.Value, column: Categorical, dialect: Dialect) -> ir.Value:
    """Return the code of a decimal cell."""
    import ibis

    stored, other = value.type(), column.other_code
    numbers = [
        (number, code)
        for number, code in spelling.number_codes(column).items()
        if code != other and spelling.fits_decimal(number, stored.precision, stored.scale)
    ]
    if dialect.name == "duckdb":  # a comparison would cast HUGEINT to DECIMAL(38, 0), which ends at 1e38
        texts = [(f"{number or Decimal():.{stored.scale}f}", code) for number, code in numbers]
        return _choose(value.cast("string"), texts, other)
    pairs = [(ibis.literal(format(number, "f")).cast(stored), code) for number, code in numbers]
    return _choose(value, pairs, other)


def _times(column: Categorical, *, zoned: bool = False) -> list[datetime.datetime]:
    """Return the times that a level may mean; with ``zoned`` those in UTC, which end in Z."""
    found: dict[datetime.datetime, None] = {}
    for text in (*spelling.text_codes(column), *spelling.time_codes(column)):
        text = text.strip()
        if text.endswith("Z") is not zoned:
            continue
        try:
            time = datetime.datetime.fromisoformat(text.removesuffix("Z"))
        except ValueError:
            continue
        if time.tzinfo is None:
            found[time.replace(tzinfo=datetime.UTC) if zoned else time] = None
    return list(found)


def _text(value: ir.Value, name: str, column: Categorical, dialect: Dialect, label: str) -> ir.Value:
    """Return the code of a text cell."""
    other = column.other_code
    codes, numbers = spelling.text_codes(column), spelling.number_text_codes(column)
    _refuse_many(len(codes), name, label)
    bare = value.strip()
    number = number_of(without_collation(bare, dialect) if dialect.needs_hex(name) else bare)
    if dialect.needs_hex(name):
        value, bare = in_hex(value, dialect), in_hex(bare, dialect)
        codes = {_hex_digits(text, dialect): code for text, code in codes.items()}
    cases = [(value == key, code) for key, code in codes.items()]
    cases += [(bare == key, code) for key, code in codes.items() if numbers or code != other]
    cases += [(number == double(key), code) for key, code in numbers.items() if code != other]
    return _first(cases, other)


def number_of(text: ir.Value) -> ir.Value:
    """Return the number that a text is read as, NULL where it is none: no cast is given any other text.

    Characters are looked at by themselves, since ``$`` of Java, and so of Spark, lets a line end follow.
    """
    import ibis

    plain = ~text.re_search("[^0-9eE.+-]") & text.re_search(f"^{spelling.NUMBER_TEXT}$")
    return plain.ifelse(text, ibis.null("string")).cast("float64")


def without_collation(text: ir.Value, dialect: Dialect) -> ir.Value:
    """Return a text without its collation, by way of its bytes: engines refuse patterns on one with it."""
    match dialect.name:
        case "postgres":
            data = _engines_own("convert_to", (str, str), bytes)(text, "UTF8")
            return _engines_own("convert_from", (bytes, str), str)(data, "UTF8")
        case "bigquery":
            return text.cast("binary").cast("string")
        case "snowflake":
            return _engines_own("hex_decode_string", (str,), str)(in_hex(text, dialect))
    return text


def _engines_own(name: str, takes: tuple[type, ...], gives: type) -> Any:
    """Return a function that the engine itself has, by its name and the types of its arguments."""
    import ibis

    shape: Any = (lambda a: ...) if len(takes) == 1 else (lambda a, b: ...)
    return ibis.udf.scalar.builtin(shape, name=name, signature=(takes, gives))


def _refuse_many(keys: int, name: str, label: str) -> None:
    """Refuse a column with more spellings than one query may list."""
    if keys > MAX_KEYS:
        raise InputError(
            f'column "{name}" of {label} has {keys:,} spellings; at most {MAX_KEYS:,} can be coded on an engine: '
            "declare fewer levels, or bring the columns with dc.read"
        )


_UPPER_HEX = ("duckdb", "pyspark", "snowflake", "trino")


def _hex_digits(text: str, dialect: Dialect) -> str:
    """Return a text as hexadecimal digits of its bytes, as the dialect prints them."""
    digits = text.encode().hex()
    return digits.upper() if dialect.name in _UPPER_HEX else digits


def in_hex(text: ir.Value, dialect: Dialect) -> ir.Value:
    """Return the UTF-8 bytes of a text in hexadecimal: equal under any collation only where the bytes are."""
    match dialect.name:
        case "postgres":
            data = _engines_own("convert_to", (str, str), bytes)(text, "UTF8")
            return _engines_own("encode", (bytes, str), str)(data, "hex")
        case "bigquery":
            return _engines_own("to_hex", (bytes,), str)(text.cast("binary"))
        case "trino":
            return _engines_own("to_hex", (bytes,), str)(_engines_own("to_utf8", (str,), bytes)(text))
        case "snowflake":
            return _engines_own("hex_encode", (str,), str)(text)
    return _engines_own("hex", (str,), str)(text)


# ---- numeric columns


def _numeric(value: ir.Value, name: str, column: Numeric, dialect: Dialect, label: str) -> ir.Value:
    """Return the bin of a numeric cell."""
    import ibis

    number, missing = number_expression(value, name, column, dialect, label)
    other = ibis.literal(column.other_code, type="int32")
    return missing.ifelse(other, bin_expression(number, tuple(column.bins or ())))


def bin_expression(number: ir.Value, cuts: Sequence[float]) -> ir.Value:
    """Return the bin of a number among increasing cut points."""
    return first_place(len(cuts), lambda place: number >= double(cuts[place]))


def first_place(places: int, is_beyond: Callable[[int], ir.Value]) -> ir.Value:
    """Return the number of places that a cell lies beyond, by a tree of comparisons."""
    import ibis

    def search(low: int, high: int) -> Any:
        if low == high:
            return ibis.literal(low, type="int32")
        middle = (low + high) // 2
        return is_beyond(middle).ifelse(search(middle + 1, high), search(low, middle))

    return search(0, places)


def _is_nan(number: ir.Value, dialect: Dialect) -> ir.Value:
    """Return whether a float is NaN, of a list of it in DuckDB.

    DuckDB takes ``isnan`` of a Parquet column for false where the file states a least and a largest value, which are
    numbers even beside NaN (duckdb issue 25521).
    """
    import ibis

    return ibis.array([number])[0].isnan() if dialect.name == "duckdb" else number.isnan()


def _within_floats(value: ir.Value, dialect: Dialect) -> ir.Value:
    """Return a decimal clamped to the range of floats, so that a cast can't fail.

    Only PostgreSQL has them: there a cast of 1e400, or of 1e-400, to a float is an error.
    """
    import ibis

    stored = value.type()
    digits = (stored.precision or 10**6, stored.scale if stored.scale is not None else 10**6)
    if dialect.name != "postgres" or max(digits) <= MAX_DECIMAL_DIGITS:
        return value

    value = value.cast("decimal")  # of any number of digits: a bound need not fit in the stored type

    def number(text: str) -> Any:
        return ibis.literal(text).cast("decimal")

    tiny = (value > number("-1e-250")) & (value < number("1e-250"))
    return ibis.cases(
        (value == number("NaN"), value),
        (value > number("1e101"), number("1e101")),
        (value < number("-1e101"), number("-1e101")),
        (tiny, number("0")),
        else_=value,
    )
