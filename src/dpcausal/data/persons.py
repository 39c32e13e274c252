"""The unit of privacy is a person: which rows are whose, and which of them are used.

The schema declares (``PersonUnit``, public) the column with the person's id. ``one_row_each``
bounds what a person contributes **before** anything else sees a row: afterwards a data set has one entry for each
person, and all that is proved for rows holds for persons.

**Guarantee.** Let two sources differ in the rows of one person. What is kept of everybody else is the same in law:
which rows of a person are kept depends on this person's rows and on fresh random numbers alone, and the persons are
put in an order that is drawn uniformly. So the two data sets differ in one entry (replace-one), or one has an entry
more (add-remove). ``persons.proof.md`` has the steps.

A row without an id is nobody's, and is left out: were it kept, somebody with rows of both kinds would have two entries.
Spellings of one id are one person (``person_of``). Where two persons share an id they are one unit: this loses rows,
and protects both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpcausal.core.entropy import random_bytes
from dpcausal.core.errors import InputError, SchemaError
from dpcausal.core.proofs import proved
from dpcausal.data import arrow
from dpcausal.data.coding import coder_of, parse_numbers
from dpcausal.data.columns import MISSING_WITHOUT_SPACE, Column
from dpcausal.data.file_format import decode_bytes
from dpcausal.data.person_unit import LAST, PersonUnit
from dpcausal.data.schema import Schema
from dpcausal.data.sources import (
    BATCH_ROWS,
    ArrowSource,
    Chunk,
    ColumnSource,
    CsvSource,
    ParquetSource,
    Source,
)

# ids that name nobody, and texts that order no row
NOBODY = MISSING_WITHOUT_SPACE | {"", ".", "-", "--", "none", "<na>", "nat"}
WHOLE_NUMBER = r"^[+]?(-?)0*([0-9]+)([.]0*)?$"  # 7, 07, +7, 7.0: as a pattern that every engine takes
_WHOLE_NUMBER = re.compile(WHOLE_NUMBER, re.ASCII)
KEEP_THEIR_ORDER = (ColumnSource, CsvSource, ParquetSource, ArrowSource)
INVISIBLE = ("Cc", "Cf")  # categories of Unicode: controls, and marks without a width
Ints = NDArray[np.int64]


def person_of(cell: Any) -> str | None:
    """Return the person that a cell names: one text for all spellings of an id; None where it names nobody.

    White space, case, Unicode forms, invisible characters, a plus sign and zeros before and after a whole number make
    no difference. A cell that is empty or reads as missing names nobody.

    >>> person_of(" p-07 ") == person_of("P-07"), person_of("007"), person_of(7.0), person_of("NA"), person_of(b"7.00")
    (True, '7', '7', None, '7')
    """
    if isinstance(cell, float):
        cell = format(cell, "f") if cell == cell else None
    text = unicodedata.normalize("NFKC", cell_text(cell))
    bare = "".join(
        sign for sign in text if not sign.isspace() and unicodedata.category(sign) not in INVISIBLE
    )
    found = unicodedata.normalize("NFKC", bare.casefold())
    return None if found in NOBODY else _WHOLE_NUMBER.sub(r"\1\2", found)


def cell_text(cell: Any) -> str:
    """Return a cell as text, bytes as cells of a file are read; a missing cell is an empty text."""
    if isinstance(cell, bytes):
        return decode_bytes(cell)
    return "" if cell is None else str(cell)


def check_unit(sources: Sequence[Source], unit: PersonUnit, schema: Schema) -> None:
    """Refuse a source without the columns of a unit, and a unit whose id is a declared column."""
    for source in sources:
        source.require(unit.columns())
        for name in unit.columns():
            type_ = source.types[source.names.index(name)]
            if type_ is not None and not _readable(type_):
                raise SchemaError(
                    f'column "{name}" of {source.label} has type {type_}: it can\'t tell persons or rows'
                )
        if unit.by_place and unit.order_by in source.names:
            raise InputError(
                f'order_by = "{unit.order_by}" means the place of a row, and {source.label} has a column of that '
                "name: rename the column"
            )


@proved("persons.proof.md")
def one_row_each(sources: Sequence[Source], schema: Schema) -> list[Source]:
    """Return the sources limited to the chosen rows of each person; unchanged where the unit is a row.

    Rows are looked at once for ids. A stream that can be read only once is loaded.
    """
    unit = schema.unit
    if unit is None:
        return list(sources)
    if unit.records:
        raise SchemaError("records of a person are one entry in a table of codes alone: see dc.read_codes")
    check_unit(sources, unit, schema)
    read_again = [loaded(source, [*schema, *unit.columns()]) for source in sources]
    order = unit.order_by if unit.order_by in schema else None
    rows = list(_rows_of(read_again, unit, None if order is None else schema[order]))
    ends = np.cumsum([len(persons) for persons, _ in rows])[:-1]
    persons = np.concatenate([np.empty(0, np.int64), *(found for found, _ in rows)])
    ranks = _ranks([key for _, keys in rows for key in keys])
    once, times = (np.split(one, ends) for one in _uses(persons, ranks, unit))
    return [
        ChosenRows(source, one, ChosenRows(source, several) if unit.rows > 1 else None)
        for source, one, several in zip(read_again, once, times, strict=True)
    ]


@proved("persons.proof.md")
def _uses(persons: Ints, ranks: Ints, unit: PersonUnit) -> tuple[Ints, Ints]:
    """Return how often each row is used, with one entry for each person and with ``unit.rows`` entries.

    Rows of the highest rank come first, by fresh random numbers among equals. Where a person has fewer rows than
    entries they are used in turn.
    """
    chance = np.frombuffer(random_bytes(8 * len(persons)), np.uint64)
    if unit.by_place:
        ranks = np.arange(len(persons)) * (1 if unit.order_by == LAST else -1)
    order = np.lexsort((chance, -ranks, persons))
    sorted_persons = persons[order]
    first = np.flatnonzero(np.r_[True, sorted_persons[1:] != sorted_persons[:-1]][: len(order)])
    lengths = np.diff(np.r_[first, len(order)])
    place = np.arange(len(order)) - np.repeat(first, lengths)
    whole, rest = np.divmod(unit.rows, np.repeat(lengths, lengths))
    once, times = np.zeros(len(persons), np.int64), np.zeros(len(persons), np.int64)
    somebody = sorted_persons >= 0
    once[order], times[order] = (place == 0) & somebody, (whole + (place < rest)) * somebody
    return once, times


def _rows_of(
    sources: Sequence[Source], unit: PersonUnit, order: Column | None
) -> Iterator[tuple[Ints, list[Any]]]:
    """Yield, for each source, the number of every row's person (-1: none) and the values that order its rows."""
    numbers: dict[str, int] = {}
    for source in sources:
        persons: list[Ints] = [np.empty(0, np.int64)]
        keys: list[Any] = []
        for chunk in source.chunks(unit.columns()):
            cells, places = distinct_cells(chunk[unit.column])
            found = [
                -1 if one is None else numbers.setdefault(one, len(numbers)) for one in map(person_of, cells)
            ]
            persons.append(np.array(found, np.int64)[places])
            if len(unit.columns()) == 1:
                keys.extend([0] * len(places))
            elif order is not None:
                coded = coder_of(order, source.marks).code(chunk[unit.columns()[1]])
                keys.extend((coded.codes if coded.values is None else coded.values).tolist())
            else:
                keys.extend(_order_keys(chunk[unit.columns()[1]], source))
        yield np.concatenate(persons), keys


def _readable(type_: pa.DataType) -> bool:
    """Return whether distinct cells of this type can be told apart."""
    return arrow.value_kind(type_) != "unsupported" and not pa.types.is_duration(type_)


def distinct_cells(array: pa.Array) -> tuple[list[Any], Ints]:
    """Return the distinct cells of an array, a missing one last, and the place of every cell among them.

    Texts, decimals and times come as bytes, so that no value can fail to be one of Python.
    """
    array = _plain(array)
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    values = _plain(array.dictionary)
    if arrow.kind_of(values.type) in ("time", "decimal"):
        values = arrow.to_text(values)
    places = array.indices.cast(pa.int64()).fill_null(len(values)).to_numpy(zero_copy_only=False)
    return [*values.to_pylist(), None], places


def _plain(array: pa.Array) -> pa.Array:
    """Return cells without extension type or run ends, texts as bytes."""
    array = arrow.unwrap(array)
    return arrow.as_bytes(array) if arrow.kind_of(array.type) == "text" else array


def _order_keys(array: pa.Array, source: Source) -> list[tuple[int, float, bytes]]:
    """Return sort keys of cells of an undeclared column: missing ones (empty, NA) first, then numbers, then texts."""
    cells, places = distinct_cells(array)
    keys = [_order_key(cell, source) for cell in cells]
    return [keys[place] for place in places.tolist()]


def _order_key(cell: Any, source: Source) -> tuple[int, float, bytes]:
    """Return the sort key of one cell."""
    if isinstance(cell, bytes):
        number = float(parse_numbers(pa.array([cell], pa.binary()), source.marks)[0])
        text = cell.strip()
        if number != number and "".join(cell_text(text).casefold().split()) not in NOBODY:
            return (2, 0.0, text)
    else:
        number = float("nan") if cell is None else float(cell)
    return (1, number, b"") if number == number else (0, 0.0, b"")


def _ranks(keys: Sequence[Any]) -> Ints:
    """Return the rank of each key among the distinct keys; only ranks of one person are compared."""
    rank = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys], np.int64)


def loaded(source: Source, columns: Sequence[str]) -> Source:
    """Return the source if every read gives the same rows in the same order; else load these columns into memory.

    Rows are chosen by their place: were the order another the second time, a person could have two of them.
    """
    names = list(dict.fromkeys(columns))
    if isinstance(source, ColumnSource):
        source.convert(names)
    if isinstance(source, KEEP_THEIR_ORDER):
        return source
    chunks = list(source.chunks(names))
    types = dict(zip(source.names, source.types, strict=True))
    whole = [pa.chunked_array([chunk[name] for chunk in chunks], type=types[name]) for name in names]
    ignored = [name for name in source.names if name not in names]
    found = ColumnSource(source.label, names, whole, ignored)
    found.convert(names)
    return found


class ChosenRows(Source):
    """Rows of a source, in its order, each as often as ``times`` says; ``several``: with all entries of a person."""

    def __init__(self, source: Source, times: Ints, several: ChosenRows | None = None) -> None:
        super().__init__(source.label, source.names, source.types, int(times.sum()))
        self._source, self._times, self.several = source, times, several
        self.marks, self.expects_other_columns = source.marks, source.expects_other_columns

    def chunks(self, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[Chunk]:
        """Yield the chosen rows of these columns in chunks, each row as often as it was chosen."""
        start = 0
        for chunk in self._source.chunks(columns, rows):
            length = len(next(iter(chunk.values())))
            times = self._times[start : start + length]
            if len(times) != length:
                break
            start += length
            places = pa.array(np.repeat(np.arange(length), times))
            yield {name: _plain(array).take(places) for name, array in chunk.items()}
        if start != len(self._times):
            raise InputError(f"{self.label} was changed while it was read: run it again")

    def explained(self) -> str:
        """Return the query of the source, and that rows of a person are chosen from its answer."""
        return (
            f"{self._source.explained()}\n-- of the rows of a person, those that its unit says are kept, here"
        )


def shuffled(persons: int) -> Ints:
    """Return the numbers of persons in a random order, uniform up to ties of 64 bits."""
    return np.argsort(np.frombuffer(random_bytes(8 * persons), np.uint64), kind="stable")
