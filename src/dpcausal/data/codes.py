"""``dc.read_codes``: a long table of (person, code), such as diagnoses or drugs, as one yes/no column a code.

A person has a row however many codes are listed for it, and the number of persons is public. So two tables that differ
in all records of one person give data sets that differ in one row.

**Guarantee** (``codes.proof.md``). A row depends on the records of one person alone, in whatever way the id is written;
records repeated count once; undeclared codes are ignored; and which persons are left out where there are more than
declared is a fair draw. No error or warning depends on a record.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.entropy import random_bytes
from dpcausal.core.errors import InputError, SchemaError
from dpcausal.core.proofs import proved
from dpcausal.data.columns import Categorical, Codes, Column, Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.file_format import FileFormat
from dpcausal.data.person_unit import PersonUnit, UnitNotDeclared
from dpcausal.data.persons import cell_text, distinct_cells, loaded, person_of
from dpcausal.data.read import check_column, read
from dpcausal.data.schema import Schema
from dpcausal.data.sources import Source, open_source

ANY_ENDING = "*"  # at the end of a declared code: every code that begins so
MOST_CODES = 5_000
LEVELS = ("no", "yes")
Ints = NDArray[np.int64]


@dataclass(frozen=True, repr=False, eq=False)
class CodeTable(Dataset):
    """Persons with a yes/no column for each code, as ``dc.read_codes`` returns them.

    Parameters
    ----------
    code_columns : tuple of str
        The columns that are codes; others describe persons.
    """

    code_columns: tuple[str, ...] = ()


def read_codes(
    source: Any,
    codes: Iterable[str],
    *,
    unit: str,
    code: str,
    people: Any,
    schema: Schema | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    sheet: str | None = None,
) -> CodeTable:
    """Read a long table of (person, code) as persons with one yes/no column for each declared code.

    **Guarantee.** The unit of privacy is a person with all records. Spellings of an id (white space, case, Unicode
    forms, a number and its text) are one person; a record without an id is nobody's and is left out.

    **Cost.** O(records), and one byte for each person and code.

    Parameters
    ----------
    source : path, frame, table or dict
        The long table, as for ``dc.read``. It may list a code of a person many times.
    codes : iterable of str
        The codes to use, public: choose them without looking at the records. ``"E11*"`` is any code that begins with
        E11. Case and white space at the ends make no difference. Each is the name of a column.
    unit, code : str
        The columns of the source with the person and with the code.
    people : int, or path, frame, table or dict
        The number of persons, which is public: persons without a record have no code. Or a table of the persons, one
        row for each: its number of rows is public, and records of others are left out. Where more persons have records
        than ``people`` says, as many are drawn at random; nothing tells that it was so.
    schema : Schema, optional
        Columns of the table of persons that are to be used beside the codes, such as age and sex. Of a person with
        several rows there the first counts.
    encoding, separator, sheet : str, optional
        How a file is written, as for ``dc.read``.

    Returns
    -------
    CodeTable
        A data set for ``discover``, ``ci_test`` and ``effect``; ``discover`` measures it by ``codes``.

    Raises
    ------
    InputError, SchemaError
        If a source has no such columns or can't be read, or a declaration can't be used. No error depends on a record.

    Examples
    --------
    >>> long = {"pid": [1, 1, "1 ", 2, 3], "icd10": ["I10", "E11.9", "I10", "e11.2", "Z99"]}
    >>> data = read_codes(long, ["I10", "E11*"], unit="pid", code="icd10", people=4)
    >>> data, int(data.codes["I10"].sum()), int(data.codes["E11*"].sum())
    (Dataset(n=4, columns=['I10', 'E11*']), 1, 2)
    """
    declared = declared_codes(codes)
    format = FileFormat(encoding=encoding, separator=separator, sheet=sheet)  # noqa: A001
    records = _opened(source, (unit, code), format)
    persons, described = _persons(people, schema, unit, declared, format)
    listed = None if persons is None else _listed(persons, unit)
    n = int(people) if listed is None else len(listed)
    if n == 0:
        raise InputError(f"{persons.label if persons else 'people'} has no rows")
    ones = _ones(records, (unit, code), declared, n, listed)
    yes_no = {name: Categorical(LEVELS) for name in declared}
    columns: dict[str, Column] = {**({} if described is None else described.schema), **yes_no}
    found: dict[str, Codes] = {name: np.ascontiguousarray(ones[:, j]) for j, name in enumerate(declared)}
    values: dict[str, NDArray[np.float64]] = {}
    if described is not None and listed is not None:
        again = _repeated(listed)
        for name in described.columns:
            column = described.schema[name]
            found[name] = np.where(again, column.other_code, described.codes[name])
            if isinstance(column, Numeric):
                assert column.other is not None  # a declaration fills it in
                values[name] = np.where(again, column.other, described.values[name])
    files = [Path(one).absolute() for one in (source, people) if isinstance(one, str | PathLike)]
    return CodeTable(
        Schema(columns).with_persons(PersonUnit(unit, records=True)),
        n,
        found,
        values,
        files[0] if files else None,
        code_columns=tuple(declared),
        more_files=tuple(files[1:]),
    )


def _persons(
    people: Any,
    schema: Schema | None,
    unit: str,
    declared: Collection[str],
    written: FileFormat,
) -> tuple[Source | None, Dataset | None]:
    """Return the table of persons, and of it the columns that ``schema`` declares; None where there are none."""
    if _is_number(people):
        _checked_people(people)
        if schema is not None:
            raise InputError("schema declares columns of persons: give people= a table that has them")
        return None, None
    persons = _opened(people, (unit,), written)
    if schema is None:
        return persons, None
    if clash := [name for name in schema if name in {*declared, unit}]:
        raise InputError(f'"{clash[0]}" can\'t be a column of persons: it is a code or the id')
    schema = schema_of_persons(schema, unit)
    persons.require(schema)
    persons.convert(list(schema), schema)
    for name in schema:  # by the types that the source states, before it is loaded
        check_column(persons, name, schema[name])
    # a stream can be read once, and a view may give its rows in another order the second time
    persons = loaded(persons, [unit, *schema])
    persons.expects_other_columns = True
    return persons, _described(persons, schema)


def _described(persons: Source, schema: Schema) -> Dataset:
    """Read the declared columns of a table of persons, one row each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnitNotDeclared)
        return read(persons, schema)


def schema_of_persons(schema: Schema, unit: str) -> Schema:
    """Return the columns of persons without a unit of their own: rows of a table of persons are read as they stand.

    By a unit they would be chosen and put in an order by chance, and be other persons' than those of the ids.
    """
    if schema.unit not in (None, PersonUnit(unit)):
        raise InputError(
            f'a table of persons has one row for each, by "{unit}": the schema has another unit, so take it out there'
        )
    return schema.with_persons(None)


def _is_number(people: Any) -> bool:
    """Return whether ``people`` was given as a number (or not at all), and not as a table."""
    return isinstance(people, int | float | np.number | bool) or people is None


def _checked_people(people: Any) -> None:
    """Refuse a number of persons that is not a whole number of 1 or more."""
    whole = isinstance(people, int | np.integer) and not isinstance(people, bool)
    if not whole or people < 1:
        raise InputError(
            f"people must be the number of persons, 1 or more, or a table of them, not {people!r}"
        )


def declared_codes(codes: Any) -> dict[str, str]:
    """Return the declared codes as written, each with the normalised text that cells are compared with."""
    if isinstance(codes, str) or not isinstance(codes, Iterable):
        raise InputError('codes must be a list of codes such as ["I10", "E11*"]')
    found: dict[str, str] = {}
    for one in codes:
        if not isinstance(one, str) or not _plain_code(one).rstrip(ANY_ENDING):
            raise InputError(f"a code must be a text that is not empty, not {one!r}")
        name = one.strip()
        if ANY_ENDING in _plain_code(name)[:-1]:
            raise InputError(f'"{name}": a star stands at the end of a code only')
        if _plain_code(name) in found.values():
            raise InputError(f'the code "{name}" is declared twice')
        found[name] = _plain_code(name)
    if not found:
        raise InputError("codes is empty: declare the codes to use")
    if len(found) > MOST_CODES:
        raise InputError(f"at most {MOST_CODES:,} codes can be used, not {len(found):,}")
    return found


def _opened(source: Any, columns: Sequence[str], format: FileFormat) -> Source:  # noqa: A002
    """Open a source that has these columns, once each, of types whose cells hold one value."""
    opened = source if isinstance(source, Source) else open_source(source, columns, format=format)
    opened.require(columns)
    opened.convert(columns)
    for name in columns:
        if not opened.is_readable(name):
            kind = opened.type_of(name)
            raise SchemaError(f'column "{name}" of {opened.label} has type {kind}, which can\'t be read')
    return opened


def _plain_code(cell: Any) -> str:
    """Return a code normalised: without differences of case, Unicode form and outer white space."""
    if isinstance(cell, float) and cell == cell and cell.is_integer():
        cell = int(cell)
    return unicodedata.normalize("NFKC", cell_text(cell)).strip().casefold()


class _Matcher:
    """The declared codes that a cell matches."""

    def __init__(self, declared: Mapping[str, str]) -> None:
        self._exact: dict[str, int] = {}
        self._begins: dict[str, int] = {}
        for j, text in enumerate(declared.values()):
            (self._begins if text.endswith(ANY_ENDING) else self._exact)[text.rstrip(ANY_ENDING)] = j
        self._lengths = sorted({len(text) for text in self._begins})
        self._known: dict[Any, list[int]] = {}

    def columns(self, cell: Any) -> list[int]:
        """Return the numbers of the columns (declared codes) that a cell belongs to."""
        if cell not in self._known:
            text = _plain_code(cell)
            found = [self._begins.get(text[:size]) for size in self._lengths if len(text) >= size]
            self._known[cell] = [j for j in (self._exact.get(text), *found) if j is not None]
        return self._known[cell]


@proved("codes.proof.md")
def _listed(persons: Source, unit: str) -> list[str | None]:
    """Return the id of the person in every row of a table of persons."""
    found: list[str | None] = []
    for chunk in persons.chunks([unit]):
        cells, places = distinct_cells(chunk[unit])
        names = [person_of(cell) for cell in cells]
        found.extend(names[place] for place in places.tolist())
    return found


@proved("codes.proof.md")
def _repeated(listed: Sequence[str | None]) -> NDArray[np.bool_]:
    """Return a mask of rows of a table of persons without an id, or with the id of an earlier row."""
    seen: set[str | None] = {None}
    again = np.zeros(len(listed), np.bool_)
    for row, person in enumerate(listed):
        again[row] = person in seen
        seen.add(person)
    return again


@proved("codes.proof.md")
def _ones(
    records: Source,
    columns: tuple[str, str],
    declared: Mapping[str, str],
    n: int,
    listed: Sequence[str | None] | None,
) -> NDArray[np.uint8]:
    """Return an (n, codes) array: 1 where a record gives the person of a row that code.

    Rows are those of ``listed``, the first one of each person; or n persons drawn from those with a record.
    """
    rows: dict[str, int] = {}
    if listed is not None:
        again = _repeated(listed)
        rows = {person: row for row, person in enumerate(listed) if person is not None and not again[row]}
    persons, found = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for who, which in _matched(records, columns, _Matcher(declared), rows, listed is None):
        persons.append(who)
        found.append(which)
    who, which = np.concatenate(persons), np.concatenate(found)
    ones = np.zeros((max(n, len(rows)), len(declared)), np.uint8)
    ones[who, which] = 1
    return ones if listed is not None else ones[_drawn(len(ones), n)]


def _drawn(persons: int, n: int) -> Ints:
    """Return n of ``persons`` numbers, drawn and ordered at random by secure chance."""
    order = np.argsort(np.frombuffer(random_bytes(8 * persons), np.uint64), kind="stable")
    return order[:n]


def _matched(
    records: Source, columns: tuple[str, str], matcher: _Matcher, rows: dict[str, int], grows: bool
) -> Iterator[tuple[Ints, Ints]]:
    """Yield arrays of (row, column) where a person has a code; unknown persons get a row only if ``grows``."""
    unit, code = columns
    for chunk in records.chunks([unit, code]):
        people, person_places = distinct_cells(chunk[unit])
        cells, code_places = distinct_cells(chunk[code])
        row_of = np.full(len(people), -1, np.int64)
        for place, person in enumerate(map(person_of, people)):
            if person is not None:
                row_of[place] = rows.setdefault(person, len(rows)) if grows else rows.get(person, -1)
        matches = [matcher.columns(cell) for cell in cells]
        for turn in range(max(map(len, matches))):
            column_of = np.array([one[turn] if len(one) > turn else -1 for one in matches], np.int64)
            who, which = row_of[person_places], column_of[code_places]
            there = (who >= 0) & (which >= 0)
            yield who[there], which[there]


def codes_of_file(path: str | PathLike[str]) -> list[str]:
    """Return the codes that a text file lists, one a line; what follows a tab or a # is a comment."""
    try:
        lines = Path(path).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{Path(path).name} can't be read: a text file with one code a line") from None
    found = [re.split(r"[\t#]", line, maxsplit=1)[0].strip() for line in lines]
    return [one for one in found if one]
