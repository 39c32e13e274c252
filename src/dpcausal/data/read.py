"""``dc.read``: a file or frame and its schema in, a coded ``Dataset`` out. The same in chunks, for larger files.

**Guarantee.** Every row is read, once and in order, and its codes depend on that row alone. Errors depend on names,
types and whether there is a row at all, never on a value. The types of a frame are public, and that a column of it
holds no value is one of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.arguments import REQUIRED, column_names
from dpcausal.core.errors import InputError
from dpcausal.core.progress import Tick, shown
from dpcausal.core.spelling import spelled
from dpcausal.data.coding import Coded, check_type, coder_of
from dpcausal.data.columns import Codes, Column, Numeric, code_type
from dpcausal.data.dataset import Dataset, two_lines
from dpcausal.data.person_unit import warn_of_ids
from dpcausal.data.persons import ChosenRows, one_row_each, shuffled
from dpcausal.data.schema import Schema
from dpcausal.data.sources import (
    BATCH_ROWS,
    ColumnSource,
    CsvSource,
    LoadedSource,
    ParquetSource,
    Source,
    column_list,
    open_source,
)

__all__ = ["ColumnsIgnored", "DecimalNotDeclared", "DraftSchema", "read"]

MAX_IGNORED_NAMED = 3  # columns that a schema leaves out, by name; more are only counted
DRAFT_WARNING = (
    "the schema is an unchecked draft: its bounds and levels were read from the data, which is not covered by the "
    "guarantee; when every line is checked against public knowledge, remove its line `draft = true`"
)


class ColumnsIgnored(UserWarning):
    """The data has columns that the schema does not declare. They are not read, and nothing depends on them."""


class DecimalNotDeclared(UserWarning):
    """A CSV file with semicolons and numbers is read, and no decimal mark is declared.

    It follows from the header line and the declared format, which are public, and from no row.
    """


class DraftSchema(UserWarning):
    """The schema is a draft that nobody has checked: its levels and bounds were read from the data.

    What was read from the data is not covered by the guarantee. The warning ends when the line ``draft = true`` is
    removed from the schema file.
    """


def read(
    source: Any,
    schema: Schema = REQUIRED,
    *,
    columns: Iterable[str] | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    quoted_newlines: bool | None = None,
    sheet: str | None = None,
    unit: str | None = None,
    rows_per_unit: int | None = None,
    order_by: str | None = None,
    progress: bool = False,
) -> Dataset:
    """Read the columns that a schema declares, every row coded as declared.

    A cell that spells a level or one of its aliases gets that level; an undeclared value, an empty cell and a declared
    missing code get ``other``. Numbers are clamped to their bounds. A line of a CSV file is a row; one with too few
    cells is filled up with missing ones, one with too many is cut, and a quote that is not closed on its line is an
    ordinary character. Text that is not UTF-8 is read as Windows-1252, cell by cell, unless an encoding is declared. A
    cell with a value label (Stata, SPSS, R) means the level that its label spells, or else the one that its number is.

    **Guarantee.** The number of rows never changes, the codes of a row depend on that row alone, and no error, warning
    or progress depends on a value. That there are no rows at all is an error: n is public under replace-one; under
    add-remove an empty data set is refused too, and that refusal is public. With a ``unit`` all of this holds for
    persons: each has one entry, which depends on this person's rows alone and is chosen before anything else sees them.

    **Cost.** O(n) a column. Memory n bytes a categorical column (2 n above 256 levels), 9 n a numeric one, one batch,
    and one column more for a moment. A Parquet file is read one column at a time.

    Parameters
    ----------
    source : path, frame, table or dict
        A path (.csv, .tsv, also compressed; .parquet; .arrow, .feather; .xlsx; .sav, .dta, .sas7bdat, .xpt with the
        extra ``dpcausal[stats]``; .rds with ``dpcausal[r]``), a pandas or polars frame, an Arrow table or record batch
        reader, or a dict of arrays.
    schema : Schema
        The declared columns. Others are ignored, with one ``ColumnsIgnored`` warning; a draft gives a ``DraftSchema``
        warning.
    columns : iterable of str, optional
        Only these of the declared columns: the same as ``schema.select(columns)``.
    encoding : str, optional
        Encoding of a text file, such as ``"latin-1"``, ``"windows-1252"`` or ``"cp850"``. This and the next five are
        public, and as the schema says unless given.
    separator : str, optional
        What separates the cells of a CSV file: ``","``, ``";"``, ``"\\t"`` or ``"|"``. Unless declared, the one that
        finds most of the declared names in the header line.
    decimal : str, optional
        Decimal mark of numbers in a CSV file, ``"."`` or ``","``; a point unless declared. A number that is written
        otherwise is a missing value, silently, since no message may depend on a value: files with semicolons often need
        ``decimal=","``, and give one ``DecimalNotDeclared`` warning where nothing is declared.
    thousands : str, optional
        Mark between groups of three digits there: ``","``, ``"."``, ``"'"``, ``" "``, or ``""`` for none.
    quoted_newlines : bool, optional
        Whether a line break inside quotes belongs to its cell, in a CSV file (see ``Schema.with_quoted_newlines``).
    sheet : str, optional
        Name of the sheet of a workbook; the first one unless declared.
    unit : str, optional
        The column with the id of a person, where a person may have several rows. Neighbours then differ in a person,
        with all rows, and ``n`` is the number of persons. The id is no column of the analysis and leaves nowhere; a
        row without one is left out. This and the next two are public, and as the schema says unless given.
    rows_per_unit : int, optional
        How many rows of a person are used at most; 1 unless declared. With more, a graph by ``measured`` is learned
        from their mean, so that every person weighs the same, and whatever else is asked uses the first of them.
    order_by : str, optional
        Which: ``"first"``, ``"last"``, or those with the largest values of this column; by chance unless declared.
    progress : bool, default False
        Show a progress bar on standard error.

    Returns
    -------
    Dataset

    Raises
    ------
    SchemaError
        If a declared column is missing, is there twice, or has a type that can't be coded as declared.
    InputError
        If the source can't be read, or has no rows.

    Examples
    --------
    >>> from dpcausal.data.columns import Categorical, Numeric
    >>> schema = Schema(smoke=Categorical(["no", "yes"]), age=Numeric(0, 110, bins=[18, 65]))
    >>> data = read({"smoke": ["yes", "?", None], "age": [70, -3, float("nan")]}, schema)
    >>> data, data.codes["smoke"].tolist(), data.values["age"].tolist()
    (Dataset(n=3, columns=['smoke', 'age']), [1, 0, 0], [70.0, 0.0, 0.0])

    A file: ``dc.read("patienten.csv", schema, encoding="latin-1", separator=";", decimal=",")``.
    """
    if schema is REQUIRED:
        raise InputError(f"dc.read needs a schema; {two_lines(source) or 'see Schema.from_toml'}")
    if not isinstance(schema, Schema):
        raise InputError(f"schema must be a Schema, not {type(schema).__name__}: see Schema.from_toml")
    schema = schema.with_format(
        encoding=encoding,
        separator=separator,
        decimal=decimal,
        thousands=thousands,
        quoted_newlines=quoted_newlines,
        sheet=sheet,
    )
    schema = schema.with_unit(unit, rows_per_unit, order_by)
    if columns is not None:
        schema = schema.select(column_names(columns, "columns", schema))
    (opened,) = open_rows([source], schema)
    warn_of_draft(schema)
    file = Path(source).absolute() if isinstance(source, str | PathLike) else None
    data = _dataset(opened, schema, file, progress)
    if isinstance(opened, ChosenRows) and opened.several is not None:
        return replace(data, several=_dataset(opened.several, schema, file, progress))
    return data


def _dataset(opened: Source, schema: Schema, file: Path | None, progress: bool) -> Dataset:
    """Read an opened source into a data set; persons come in a random order."""
    names = list(schema)
    groups = [[name] for name in names] if isinstance(opened, ParquetSource) else [names]
    codes: dict[str, Codes] = {}
    values: dict[str, NDArray[np.float64]] = {}
    with shown(f"reading {opened.label}", len(names), progress) as tick:
        for group in groups:
            arrays = _read_columns(opened, schema, group, tick)
            for name in group:
                codes[name], numbers = arrays.pop(name)
                if numbers is not None:
                    values[name] = numbers
    n = len(codes[names[0]])
    if n == 0:
        raise InputError(f"{opened.label} has no rows")
    if schema.unit is not None:
        order = shuffled(n)
        codes = {name: array[order] for name, array in codes.items()}
        values = {name: array[order] for name, array in values.items()}
    return Dataset(schema, n, codes, values, file)


def warn_of_draft(schema: Schema) -> None:
    """Warn if the schema is a draft, at the line that called the caller."""
    if schema.is_draft:
        warnings.warn(DRAFT_WARNING, DraftSchema, stacklevel=3)


def open_rows(sources: Sequence[Any], schema: Schema) -> list[Source]:
    """Open sources, check their columns against a schema, and keep of each person's rows what the schema says.

    Every row that this process reads for a release comes through here, of a file, a frame or a table of DuckDB: what
    must happen to rows before anything else sees them belongs here (on an engine, in ``EngineCounts._open``). A person
    may have rows in several sources. Warns of ignored columns; raises as ``read`` does.
    """
    return one_row_each(list(map(partial(open_checked, schema=schema), sources)), schema)


def open_checked(source: Any, schema: Schema) -> Source:
    """Open a source and check its columns against a schema: names, duplicates, types. Only ``open_rows`` reads it."""
    wanted = list(schema)
    of_unit = [] if schema.unit is None else schema.unit.columns()
    opened = (
        source
        if isinstance(source, Source)
        else open_source(source, list(dict.fromkeys([*wanted, *of_unit])), format=schema.format)
    )
    opened.require(wanted)
    opened.convert(wanted, schema)
    for name in wanted:
        check_column(opened, name, schema[name])
    _warn_of_format(opened, schema)
    return opened


def _warn_of_format(opened: Source, schema: Schema) -> None:
    """Warn of undeclared columns, and of a CSV file with semicolons and no declared decimal mark."""
    of_unit = [] if schema.unit is None else schema.unit.columns()
    ignored = [name for name in dict.fromkeys(opened.names) if name and name not in (*schema, *of_unit)]
    if ignored and not schema.is_selection and not opened.expects_other_columns:
        which = column_list(ignored) if len(ignored) <= MAX_IGNORED_NAMED else f"{len(ignored)} columns"
        message = f"{opened.label}: {which} not in the schema, ignored"
        warnings.warn(message, ColumnsIgnored, stacklevel=5)
    warn_of_ids(opened.names, schema.unit, opened.label, stacklevel=5)
    semicolons = isinstance(opened, CsvSource) and opened.delimiter == ";"
    numbers = any(isinstance(column, Numeric) for column in schema.values())
    if semicolons and numbers and schema.format.decimal is None:
        how = spelled('a line decimal = "," on top of the schema', 'decimal=","')
        message = (
            f"{opened.label} has semicolons between its cells, and no decimal mark is declared: numbers with decimal "
            f"commas are taken for missing; they need {how}, and a point there says that they have none"
        )
        warnings.warn(message, DecimalNotDeclared, stacklevel=5)


def check_column(source: Source, name: str, column: Column) -> None:
    """Raise ``SchemaError`` where a column of a source has a type that can't be coded as declared.

    A column of a frame that holds no value is one of missing cells, whatever type the frame gives it: pandas takes it
    for numbers, and for text as soon as one cell holds a text. A file states its types.
    """
    type_ = source.type_of(name)
    if type_ is None:
        return
    in_memory = isinstance(source, ColumnSource)
    if isinstance(source, ColumnSource) and not isinstance(source, LoadedSource) and source.is_empty(name):
        return
    check_type(name, type_, column, source.label, of_file=not in_memory)


def coded_chunks(
    source: Source, schema: Schema, columns: Sequence[str], rows: int = BATCH_ROWS
) -> Iterator[dict[str, Coded]]:
    """Yield the named columns of an opened source, coded, up to ``rows`` rows at a time."""
    coders = {name: coder_of(schema[name], source.marks) for name in columns}
    for chunk in source.chunks(columns, rows):
        yield {name: coders[name].code(chunk[name]) for name in columns}


def coded_partitions(source: Source, schema: Schema, count: int) -> list[Iterator[dict[str, Codes]]]:
    """Return at most ``count`` iterators over coded chunks for parallel use; each row is in one of them.

    Only a Parquet file can be partitioned, by its row groups; anything else is one iterator.
    """
    parts: Sequence[Source] = source.partitions(count) if isinstance(source, ParquetSource) else [source]

    def run(part: Source) -> Iterator[dict[str, Codes]]:
        for chunk in coded_chunks(part, schema, list(schema)):
            yield {name: column.codes for name, column in chunk.items()}

    return [run(part) for part in parts]


ColumnArrays = tuple[Codes, NDArray[np.float64] | None]


def _read_columns(
    source: Source, schema: Schema, columns: Sequence[str], tick: Tick
) -> dict[str, ColumnArrays]:
    """Return whole columns, put together from chunks one after the other."""
    parts: dict[str, list[Coded]] = {name: [] for name in columns}
    rows, ticked = 0, 0.0
    for chunk in coded_chunks(source, schema, columns):
        for name in columns:
            parts[name].append(chunk[name])
        rows += len(chunk[columns[0]].codes)
        done = rows / source.rows if source.rows else source.fraction_read
        tick(len(columns) * (done - ticked))
        ticked = done
    if source.rows not in (None, rows):
        raise InputError(f"{source.label} is damaged: it does not hold the number of rows it states")
    whole: dict[str, ColumnArrays] = {}
    for name in columns:
        pieces = parts.pop(name)
        none = np.empty(0, code_type(schema[name].size))
        codes = np.concatenate([none, *(piece.codes for piece in pieces)])
        numbers = [piece.values for piece in pieces if piece.values is not None]
        numeric = isinstance(schema[name], Numeric)
        whole[name] = codes, np.concatenate([np.empty(0), *numbers]) if numeric else None
    return whole
