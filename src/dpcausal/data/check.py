"""What a schema will do to the rows of a file, column by column.

**Not private**: for whoever holds the rows. It reports which declared columns are missing, which cells are missing or
mean no level or no number and what becomes of them, which are clamped, which bins and levels stay empty, how many rows
of a CSV file have more or fewer cells than its header or a quote that is not closed, which identifiers repeat, and
which columns determine others. An alias counts as declared, a declared missing code as missing.

A ``SchemaCheck`` carries counts; ``dpcausal.present.schema`` puts them into words. Cost: as reading, and the distinct
texts that a profile remembers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpcausal.core.display import display
from dpcausal.core.errors import InputError, SchemaError, did_you_mean
from dpcausal.data import arrow
from dpcausal.data.coding import CategoricalCoder, numeric_coder
from dpcausal.data.columns import Categorical, Column, Numeric, reads_as_missing
from dpcausal.data.csv import RaggedRows
from dpcausal.data.file_format import NumberMarks
from dpcausal.data.findings import (
    Determined,
    Finding,
    MissingTogether,
    MissingWith,
    OrderedMissingLevel,
    Recognised,
    RepeatedIdentifier,
)
from dpcausal.data.name_hints import is_identifier_name
from dpcausal.data.profile import (
    MISSING_CODES,
    IdentifierProfile,
    TextCounts,
    Writing,
    format_notes,
    present_cells,
    repeated_identifiers,
)
from dpcausal.data.read import check_column
from dpcausal.data.relations import observe_rows
from dpcausal.data.schema import Schema
from dpcausal.data.sources import ColumnSource, CsvSource, Source, open_source

Found = TypeVar("Found", bound=Finding)


@dataclass
class ColumnCheck:
    """Counts of the cells of one column: missing, no level, no number, clamped."""

    name: str
    type: str  # "categorical" or "numeric"
    other: str  # what missing and unreadable cells become
    own_bin: bool = False  # whether cells without a number have a bin of their own in tables
    rows: int = 0
    missing: int = 0
    coded_missing: int = 0  # of these, cells that hold a code which `missing` lists
    not_a_level: int = 0
    not_a_number: int = 0
    texts: list[tuple[str, int]] = field(default_factory=list)  # the most frequent of these, with counts
    below: int = 0  # raised to the lower bound
    above: int = 0  # lowered to the upper bound
    codes: list[tuple[int, int]] = field(default_factory=list)  # of these, usual missing codes, with counts
    empty: list[str] = field(default_factory=list)  # levels or bins that no row falls in
    fault: str = ""  # the error that reading would raise
    label: str = ""  # what the column is called for people
    other_bin: str = ""  # the bin that ``other`` lies in, where cells without a number have none of their own

    @property
    def nothing_read(self) -> bool:
        """Whether no cell has a declared level, or a number: the wrong codes are declared, or the wrong column."""
        unread = self.missing + self.not_a_level + self.not_a_number
        return 0 < self.rows == unread

    @property
    def fine(self) -> bool:
        """Whether no cell is missing, undeclared or clamped, and no level or bin is empty."""
        changed = self.missing + self.not_a_level + self.not_a_number + self.below + self.above
        return not (changed or self.empty or self.fault)


@dataclass
class SchemaCheck:
    """The check of a source: its columns, and the names that only one side has. Not private.

    ``print`` shows a table and a line for each thing to look at; ``to_dict`` gives the same as plain data.
    """

    label: str
    rows: int
    columns: list[ColumnCheck]
    not_in_data: list[str]
    not_in_schema: list[str]
    draft: bool
    ragged: RaggedRows = field(default_factory=RaggedRows)
    notes: list[Finding] = field(
        default_factory=list
    )  # on the file, on columns, and on how they depend on others

    def notes_of(self, kind: type[Found]) -> list[Found]:
        """Return the notes of one kind."""
        return [note for note in self.notes if isinstance(note, kind)]

    @property
    def usable(self) -> bool:
        """Whether the source can be read by the schema at all."""
        return not self.not_in_data and not any(column.fault for column in self.columns)

    @property
    def nothing_read(self) -> list[str]:
        """Names of the columns in which no cell has a declared level or a number."""
        return [column.name for column in self.columns if column.nothing_read]

    def fault(self) -> str:
        """Return the message of the error that makes it unusable, or useless: a column of which nothing is read."""
        if self.not_in_data:
            hints = [f'"{name}"{did_you_mean(name, self.not_in_schema)}' for name in self.not_in_data]
            return f"{self.label} has no column{'' if len(hints) == 1 else 's'} {', '.join(hints)}"
        if self.usable:
            first = next(column for column in self.columns if column.nothing_read)
            what = "a declared level" if first.type == "categorical" else "a number"
            return f'no cell of "{first.name}" has {what}: compare the schema with the file'
        return next(column.fault for column in self.columns if column.fault)

    def __str__(self) -> str:
        return display().summary(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        recognised = self.notes_of(Recognised)
        columns = [
            asdict(column)
            | {"texts": [{"text": text, "cells": cells} for text, cells in column.texts]}
            | {"codes": [{"code": code, "cells": cells} for code, cells in column.codes]}
            | {"fine": column.fine}
            for column in self.columns
        ]
        return {
            "data": self.label,
            "rows": self.rows,
            "rows_with_fewer_cells": self.ragged.fewer,
            "rows_with_more_cells": self.ragged.more,
            "lines_with_open_quote": self.ragged.unclosed,
            "first_lines_with_open_quote": self.ragged.unclosed_lines,
            "line_breaks_inside_quotes": self.ragged.breaks,
            "cells_not_utf8": sum(one.cells for one in recognised if one.entry == "encoding"),
            "format_recognised": {one.entry: one.value for one in recognised},
            "usable": self.usable,
            "nothing_read": self.nothing_read,
            "draft": self.draft,
            "not_in_data": self.not_in_data,
            "not_in_schema": self.not_in_schema,
            "repeated_identifiers": [asdict(one) for one in self.notes_of(RepeatedIdentifier)],
            "determined": [asdict(one) for one in self.notes_of(Determined)],
            "missing_together": [
                {"columns": list(one.columns), "rows": one.rows} for one in self.notes_of(MissingTogether)
            ],
            "missing_with": [asdict(one) for one in self.notes_of(MissingWith)],
            "columns": columns,
        }


def check(source: Any, schema: Schema, *, progress: bool = False) -> SchemaCheck:
    """Compare the rows of a file or frame with a schema, as ``dpcausal schema --check`` does. Not private.

    A release never says that a cell is no level or was clamped, since that would tell about a row. Whoever holds the
    rows may look beforehand, on their own machine. The outcome is as sensitive as the rows: do not publish it.

    Parameters
    ----------
    source : path, frame, table or dict
        Anything that ``dc.read`` takes: a pandas or polars frame, for one.
    schema : Schema
        The declared columns.
    progress : bool, default False
        Show a progress bar on standard error.

    Returns
    -------
    SchemaCheck
        Print it. Its ``usable`` says whether ``dc.read`` would take the source, ``columns`` has the counts.

    Raises
    ------
    InputError
        If the source can't be read at all, or has no rows. Faults of single columns are in the outcome.

    Examples
    --------
    >>> import dpcausal as dc
    >>> found = dc.check({"sex": ["male", "F", None]}, dc.Schema(sex=dc.Categorical(["male", "female"])))
    >>> print(found)  # doctest: +ELLIPSIS
    Not private: do not publish this output; it was computed from the rows without noise.
    3 rows can be read by this schema; cells of 1 of 1 columns are changed: see below the table.
    <BLANKLINE>
    ...
    sex: 1 missing cells become male
    sex: no declared level, so they become male: 'F' (1)
    Another spelling of a level can be declared as one of its `aliases`: { Yes = "yes" }.
    """
    if not isinstance(schema, Schema):
        raise InputError(f"schema must be a Schema, not {type(schema).__name__}: see Schema.from_toml")
    opened = open_source(source, list(schema), format=schema.format)
    faulty, readable = _faults(opened, schema)
    writing = Writing()
    checkers = {
        name: _ColumnChecker(name, column, opened.marks, writing) for name, column in readable.items()
    }
    identifiers = {name: IdentifierProfile(name) for name in _identifier_columns(opened, list(readable))}
    first_rows = observe_rows(opened, checkers, identifiers if readable else {}, progress=progress)
    if readable and first_rows.rows == 0:
        raise InputError(f"{opened.label} has no rows")
    columns = faulty | {name: checker.outcome() for name, checker in checkers.items()}
    declared = [*schema, *(schema.unit.columns() if schema.unit is not None else ())]
    recognised = writing.recognised(schema.format) if isinstance(opened, CsvSource) else schema.format
    return SchemaCheck(
        opened.label,
        max((column.rows for column in columns.values()), default=0),
        [columns[name] for name in schema if name in columns],
        [name for name in declared if name not in opened.names],
        [name for name in dict.fromkeys(opened.names) if name and name not in declared],
        schema.is_draft,
        opened.ragged,
        [
            *format_notes(writing, schema.format, recognised),
            *repeated_identifiers(identifiers, None if schema.unit is None else schema.unit.column),
            *ordered_missing_levels(schema),
            *first_rows.relations(readable, opened.marks),
        ],
    )


def _faults(source: Source, schema: Schema) -> tuple[dict[str, ColumnCheck], dict[str, Column]]:
    """Return checks of the declared columns that can't be read, and the declarations of those that can."""
    found = [name for name in schema if name in source.names]
    source.convert([name for name in found if source.names.count(name) == 1], schema)
    faulty: dict[str, ColumnCheck] = {}
    for name in found:
        try:
            source.require([name])
            check_column(source, name, schema[name])
        except SchemaError as error:
            faulty[name] = replace(_empty_check(name, schema[name]), fault=str(error))
    return faulty, {name: schema[name] for name in found if name not in faulty}


def ordered_missing_levels(columns: Mapping[str, Column]) -> list[OrderedMissingLevel]:
    """Return the first level that reads as missing of every ordered column with more than two levels.

    >>> smoking = Categorical(["never", "ex", "current", "unknown"], ordered=True)
    >>> ordered_missing_levels({"smoking": smoking})
    [OrderedMissingLevel(column='smoking', level='unknown', below='current', above=None)]
    >>> ordered_missing_levels({"smoking": Categorical(["never", "ex", "unknown"])})
    []
    """
    found = []
    for name, column in columns.items():
        if not (isinstance(column, Categorical) and column.ordered and column.size > 2):
            continue
        levels = [None, *column.printed, None]
        for below, level, above in zip(levels, column.printed, levels[2:], strict=False):
            if reads_as_missing(level):
                found.append(OrderedMissingLevel(name, level, below, above))
                break
    return found


def _empty_check(name: str, column: Column) -> ColumnCheck:
    """Return the check of a column before any of its cells is counted."""
    told = column.public_other
    other = told if isinstance(told, str) else f"{told:g}"
    own = isinstance(column, Numeric) and column.missing_level
    return ColumnCheck(name, type(column).__name__.lower(), other, own, label=column.label)


def _identifier_columns(source: Source, checked: list[str]) -> list[str]:
    """Return the columns that are named like an identifier; undeclared ones only of a file."""
    if isinstance(source, ColumnSource):
        return [name for name in checked if is_identifier_name(name)]
    named = [name for name in source.names if is_identifier_name(name) and source.names.count(name) == 1]
    return [name for name in named if source.is_readable(name)]


class _ColumnChecker:
    """Counts what becomes of the cells of one column, chunk by chunk."""

    def __init__(self, name: str, column: Column, marks: NumberMarks, writing: Writing) -> None:
        self.column, self.texts, self.marks, self.writing = column, TextCounts(), marks, writing
        self.found = _empty_check(name, column)
        self.counts: NDArray[np.int64] = np.zeros(column.size, np.int64)  # rows by level or bin
        self.code_counts: dict[int, int] = {}
        if isinstance(column, Categorical):
            self.levels = CategoricalCoder(column, separate_other=True)
        else:
            self.bins = numeric_coder(column, marks)
            outside = [code for code in MISSING_CODES if not column.lower <= code <= column.upper]
            self.code_counts = dict.fromkeys(outside, 0)

    def add(self, array: pa.Array) -> None:
        """Count the cells of one more array."""
        array, column = arrow.unwrap(array), self.column
        self.found.rows += len(array)
        if isinstance(column, Categorical):
            codes = self.levels.codes(array)
            unreadable, missing = codes == column.size, codes > column.size
            self.counts += np.bincount(codes[~(unreadable | missing)], minlength=column.size)
            listed: tuple[str, ...] = ()
        else:
            values = self.bins.parse(array)
            unreadable, missing = np.isnan(values), np.isin(values, self.bins.missing_values(array.type))
            self._add_numbers(values[~(unreadable | missing)], column)
            listed = column.missing_texts
        self.counts[column.other_code] += int(unreadable.sum() + missing.sum())
        present = present_cells(array.filter(pa.array(unreadable)))
        is_listed = pc.is_in(present, value_set=pa.array([text.encode() for text in listed], present.type))
        texts = present.filter(pc.invert(is_listed))
        coded = int(missing.sum()) + len(present) - len(texts)
        self.found.coded_missing += coded
        self.found.missing += coded + int(unreadable.sum()) - len(present)
        self.texts.add(texts)
        if not isinstance(column, Categorical):
            self.writing.add_numbers(texts)
        elif arrow.kind_of(array.type) == "text":
            self.writing.add_encoding(arrow.as_bytes(array))

    def _add_numbers(self, values: NDArray[np.float64], column: Numeric) -> None:
        """Count numbers that are clamped, look like missing codes, or lie in each bin."""
        self.found.below += int((values < column.lower).sum())
        self.found.above += int((values > column.upper).sum())
        for code in self.code_counts:
            self.code_counts[code] += int((values == code).sum())
        clamped = np.clip(values, column.lower, column.upper)
        self.counts += np.bincount(self.bins.codes(clamped), minlength=column.size)

    def outcome(self) -> ColumnCheck:
        """Return the counts over all cells added so far."""
        found, column = self.found, self.column
        found.texts = self.texts.most_common()
        found.codes = [(code, count) for code, count in self.code_counts.items() if count]
        if isinstance(column, Categorical):
            found.not_a_level = self.texts.total
            names = list(column.printed)
        else:
            found.not_a_number = self.texts.total
            edges = [column.lower, *(column.bins or ()), column.upper]
            names = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
            names += ["missing"] * column.missing_level
            found.other_bin = "" if column.missing_level or not column.bins else names[column.other_code]
        found.empty = [name for name, count in zip(names, self.counts, strict=True) if count == 0]
        return found
