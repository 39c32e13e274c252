"""``dc.connect_codes``: a long table of (person, code) on an engine, as persons with one yes/no column a code.

The engine writes ids and codes in one way, keeps the records of declared codes, and drops repeated ones. What comes
here are the distinct pairs of person and code, into memory and nowhere else; from then on all is as ``dc.read_codes``
does it.

**Guarantee** (``connect_codes.proof.md``). What comes of a person depends on the records of this person alone, so that
the promise of ``dc.read_codes`` holds. Which query is sent follows from declarations and types. No error holds a value:
an engine's own words are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dpcausal.core.errors import EngineError, InputError, SchemaError
from dpcausal.core.proofs import proved
from dpcausal.counts.connect import database_path, duckdb_table, engine_table
from dpcausal.counts.duckdb_table import DuckDBTable
from dpcausal.counts.engine import EngineTable, fetch
from dpcausal.counts.person_rows import person_text, tells_persons
from dpcausal.counts.protocol import files_of
from dpcausal.data.codes import ANY_ENDING, CodeTable, declared_codes, read_codes, schema_of_persons
from dpcausal.data.persons import NOBODY
from dpcausal.data.schema import Schema
from dpcausal.data.sources import ColumnSource, Source, require_columns

if TYPE_CHECKING:
    from ibis.expr import types as ir

MOST_CONDITIONS = 1_000  # declared codes that a query names; of more, the codes of all records come here


def connect_codes(
    source: Any,
    codes: Iterable[str],
    *,
    unit: str,
    code: str,
    people: Any,
    table: str | None = None,
    people_table: str | None = None,
    schema: Schema | None = None,
) -> CodeTable:
    """Read a long table of (person, code) on an engine as persons with one yes/no column for each declared code.

    **Guarantee.** As of ``dc.read_codes``. What comes here are the distinct pairs of person and declared code. All
    spellings of an id are one person; Unicode forms of a code other than the declared one are another code.

    Parameters
    ----------
    source : str or Ibis table
        A URL, a DuckDB file or an Ibis table, as for ``dc.connect``.
    codes, unit, code, people, schema
        As for ``dc.read_codes``. ``people`` is a number, a file or frame, or as ``source``.
    table, people_table : str, optional
        Which table of ``source``, and of ``people``; needed with a URL.

    Returns
    -------
    CodeTable

    Raises
    ------
    InputError, SchemaError, EngineError
        As ``dc.connect`` and ``dc.read_codes`` do. No error depends on a record.

    Examples
    --------
    >>> import tempfile, pathlib, duckdb
    >>> folder = tempfile.TemporaryDirectory()
    >>> with duckdb.connect(str(pathlib.Path(folder.name) / "clinic.duckdb")) as clinic:
    ...     records = "unnest([1, 1, 2]) AS pid, unnest(['I10', 'i10 ', 'E11.9']) AS icd"
    ...     _ = clinic.execute(f"CREATE TABLE diagnoses AS SELECT {records}")
    >>> file = pathlib.Path(folder.name) / "clinic.duckdb"
    >>> data = connect_codes(file, ["I10", "E11*"], unit="pid", code="icd", people=4)
    >>> data.n, int(data.codes["I10"].sum()), int(data.codes["E11*"].sum())
    (4, 1, 1)
    """
    declared = declared_codes(codes)
    records = _source(
        source, table, (unit, code), None, lambda rows: _records(rows, unit, code, [*declared.values()])
    )
    if records is None:
        raise InputError(
            "a source is a URL, a DuckDB file or an Ibis table: files and frames go to dc.read_codes"
        )
    schema = None if schema is None else schema_of_persons(schema, unit)
    columns = (unit, *(schema or ()))
    persons = _source(people, people_table, columns, schema, lambda rows: _people(rows, unit, columns))
    if persons is None and people_table is not None:
        raise InputError("people_table names a table of a URL or a DuckDB file, and people is none")
    known = people if persons is None else persons
    found = read_codes(records, codes, unit=unit, code=code, people=known, schema=schema)
    here = [path.absolute() for one in (source, people) if (path := database_path(one)) is not None]
    files = [*here, *files_of(found)]
    return replace(found, file=files[0], more_files=tuple(files[1:])) if files else found


def _source(
    source: Any,
    table: str | None,
    columns: Iterable[str],
    schema: Schema | None,
    query: Callable[[ir.Table], ir.Table],
) -> Source | None:
    """Return the rows that a query gives of a DuckDB file or an engine; None where the source is neither."""
    path = database_path(source)
    if path is not None:
        return DuckDBTable(*duckdb_table(path, table), schema, [*columns])
    there = engine_table(source, table)
    return None if there is None else _fetched(there, [*columns], query)


def _fetched(there: EngineTable, columns: list[str], query: Callable[[ir.Table], ir.Table]) -> ColumnSource:
    """Fetch the result of a query from an engine, as a source with these columns."""
    rows = there.open()
    require_columns(there.label, rows.columns, columns)
    if not tells_persons(rows.schema()[columns[0]]):
        raise SchemaError(
            f'column "{columns[0]}" of {there.label} has type {rows.schema()[columns[0]]}: it can\'t tell persons'
        )
    found = None
    try:
        found = fetch(query(rows))
    except EngineError:
        raise
    except Exception:
        pass
    if found is None:
        raise EngineError(
            f"{there.engine} could not evaluate a query on {there.label}: check the view behind it"
        )
    arrays = [pa.array(found[name], from_pandas=True) for name in columns]
    return ColumnSource(there.label, columns, arrays)


@proved("connect_codes.proof.md")
def _records(rows: ir.Table, unit: str, code: str, declared: list[str]) -> ir.Table:
    """Return the query for distinct pairs of person and code, limited to codes that may be declared."""
    text = rows[code].cast("string")
    if rows[code].type().is_string():
        text = text.strip().lower()
    found = rows.select(**{unit: person_text(rows[unit]), code: text})
    kept = found[unit].notnull() & found[unit].notin(sorted(NOBODY)) & found[code].notnull()
    if rows[code].type().is_string() and len(declared) <= MOST_CONDITIONS:
        whole = [one for one in declared if not one.endswith(ANY_ENDING)]
        begins = [
            found[code].startswith(one.rstrip(ANY_ENDING)) for one in declared if one.endswith(ANY_ENDING)
        ]
        kept &= reduce(or_, [*([found[code].isin(whole)] if whole else []), *begins])
    return found.filter(kept).distinct()


@proved("connect_codes.proof.md")
def _people(rows: ir.Table, unit: str, columns: Iterable[str]) -> ir.Table:
    """Return the query for the table of persons, with ids as the records have them.

    A text: as numbers, large ids would come here rounded to 53 bits where a column has a NULL, and be one person.
    """
    return rows.mutate(**{unit: person_text(rows[unit])}).select(*columns)
