"""One row of each person, chosen on an engine: what ``dpcausal.data.persons`` does for files and frames.

The rows of a person are numbered by the order that the schema declares and then by a hash of what is in them, under a
key that is drawn once for a data source; the first is kept. Rows that are alike in all that is ever asked of them are
numbered among themselves, so that each row has the same chance. Every query then sees the same rows, whatever order the
engine reads them in, and none holds a value of a row.

**Guarantee.** Which row of a person is kept depends on the rows of this person and on the key alone: neighbours that
differ in one person's rows differ in one row afterwards (``person_rows.proof.md``). Ids that differ by case, white
space, a plus sign, or zeros before and after a whole number are one person. Other Unicode forms of one text are not, on
an engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpcausal.core.errors import InputError, SchemaError
from dpcausal.core.proofs import proved
from dpcausal.counts.expressions import Dialect, in_hex, number_of, without_collation
from dpcausal.counts.feature_queries import number_within
from dpcausal.data.columns import Numeric
from dpcausal.data.person_unit import PersonUnit
from dpcausal.data.persons import NOBODY, WHOLE_NUMBER
from dpcausal.data.schema import Schema
from dpcausal.data.sources import require_columns

if TYPE_CHECKING:
    from ibis.expr import types as ir

NAMES = ("person", "content", "copy", "chance", "order", "text", "place", "rows")
PERSON, CONTENT, COPY, CHANCE, ORDER, TEXT, PLACE, ROWS = (f"dpcausal_{name}" for name in NAMES)
KEY_BYTES = 16
# for engines whose \s has only those of ASCII; the characters themselves, for engines escape them in different ways
WHITE_SPACE = "[\\s\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"


def unit_types(stored: Any, unit: PersonUnit | None, label: str) -> dict[str, Any]:
    """Return the stored types of the columns that define a person; refuse a missing or unsuitable one."""
    if unit is None:
        return {}
    if unit.by_place:
        raise InputError(f"rows of {label} have no order: order_by must be the name of a column")
    require_columns(label, stored.names, unit.columns())
    found = {}
    for name in unit.columns():
        found[name] = stored[name]
        if not (name == unit.column and tells_persons(stored[name])) and not _is_ordered(stored[name]):
            raise SchemaError(
                f'column "{name}" of {label} has type {stored[name]}: it can\'t tell persons or rows'
            )
    return found


def _is_ordered(type_: Any) -> bool:
    """Return whether values of a type have an order."""
    return bool(type_.is_numeric() or type_.is_string() or type_.is_temporal() or type_.is_boolean())


def tells_persons(type_: Any) -> bool:
    """Return whether a column of this type may hold ids of persons."""
    return bool(type_.is_uuid() or _is_ordered(type_))


@proved("person_rows.proof.md")
def person_rows(
    table: ir.Table,
    schema: Schema,
    codes: Mapping[str, ir.Value],
    dialect: Dialect,
    label: str,
    key: str,
    entries: int = 1,
) -> ir.Table:
    """Return the declared columns of the rows that are used, ``entries`` of each person, in turn where there are fewer.

    ``codes`` are those of the columns over ``table``.
    """
    import ibis

    unit = schema.unit
    assert unit is not None  # the caller asks where there is one
    cells = [
        number_within(table[name], name, column, dialect, label)
        if isinstance(column, Numeric)
        else codes[name]
        for name, column in schema.items()
    ]
    content = ibis.literal("").concat(*(part for cell in cells for part in (cell.cast("string"), "|")))
    text, order = _order(table, schema, codes, dialect, label)
    rows = table.mutate(
        **{PERSON: person_text(table[unit.column]), CONTENT: content, TEXT: text, ORDER: order}
    )
    rows = rows.filter(rows[PERSON].notnull() & rows[PERSON].notin(sorted(NOBODY)))
    alike = ibis.window(group_by=[rows[PERSON], rows[CONTENT]], order_by=rows[CONTENT])
    rows = rows.mutate(**{COPY: ibis.row_number().over(alike)})
    chance = ibis.literal(key).concat(rows[PERSON], "|", rows[CONTENT], rows[COPY].cast("string"))
    rows = rows.mutate(**{CHANCE: _digest(chance, dialect)})
    largest_first = [rows[one].desc(nulls_first=False) for one in (TEXT, ORDER)]
    mine = ibis.window(group_by=rows[PERSON], order_by=[*largest_first, rows[CHANCE].asc()])
    rows = rows.mutate(**{PLACE: ibis.row_number().over(mine)})
    if entries == 1:
        return rows.filter(rows[PLACE] == 0).select(*schema)
    rows = rows.mutate(**{ROWS: rows.count().over(ibis.window(group_by=rows[PERSON]))})
    taken = [
        rows.filter(rows[PLACE] == ibis.literal(entry) % rows[ROWS]).select(*schema)
        for entry in range(entries)
    ]
    return ibis.union(*taken)


def person_text(cell: ir.Value) -> ir.Value:
    """Return one text for all spellings of an id; NULL where there is none."""
    bare = cell.cast("string").lower().re_replace(WHITE_SPACE, "")
    # without references to groups, which engines write in different ways
    digits = bare.re_replace("[.]0*$", "").re_replace("^[+]?-?0*", "")
    number = bare.startswith("-").ifelse("-", "").concat((digits == "").ifelse("0", digits))
    return bare.re_search(WHOLE_NUMBER).ifelse(number, bare)


def _order(
    table: ir.Table, schema: Schema, codes: Mapping[str, ir.Value], dialect: Dialect, label: str
) -> tuple[ir.Value, ir.Value]:
    """Return the two expressions by which the rows of a person are ordered, the largest first; constant if by chance.

    The first is NULL but for a text that is no number: those are larger than all numbers. A text that reads as missing
    is NULL in both.
    """
    import ibis

    name = None if schema.unit is None else schema.unit.order_by
    no_text = ibis.null("string")
    if name is None:
        return no_text, ibis.literal(0, type="int32")
    column = schema.get(name)
    if isinstance(column, Numeric):
        return no_text, number_within(table[name], name, column, dialect, label)
    if column is not None:
        return no_text, codes[name]
    cell = table[name]
    if cell.type().is_string():
        return _order_of_text(cell, dialect)
    if cell.type().is_floating():
        return no_text, cell.isnan().ifelse(ibis.null("float64"), cell.cast("float64"))
    return no_text, cell


def _order_of_text(cell: ir.Value, dialect: Dialect) -> tuple[ir.Value, ir.Value]:
    """Return the digits of a text's bytes where it is no number, and its number."""
    import ibis

    bare = without_collation(cell, dialect).strip()
    number = number_of(bare)
    no_text = number.notnull() | bare.lower().re_replace(WHITE_SPACE, "").isin(sorted(NOBODY))
    return no_text.ifelse(ibis.null("string"), in_hex(bare, dialect)), number


def _digest(text: ir.Value, dialect: Dialect) -> ir.Value:
    """Return the expression of a text's MD5 in hexadecimal: a random order, if the text holds a secret key."""
    import ibis

    def md5(text: str) -> str:  # the engine's own
        raise NotImplementedError

    if dialect.name in ("duckdb", "postgres", "pyspark", "snowflake"):
        return ibis.udf.scalar.builtin(md5)(text)
    raise InputError(f"rows of a person can't be chosen on {dialect.name}: bring the columns with dc.read")
