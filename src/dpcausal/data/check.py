"""What a schema will do to the rows of a file, column by column. NOT PRIVATE: for the data holder's own desk.

A private release never says that a value was clamped or a text was no level, since that depends on rows. Whoever holds
the rows may look beforehand: which declared columns are missing, which cells are missing or mean no level or no number
and what becomes of them, which are clamped, which bins and levels stay empty, how many rows of a CSV have more or fewer
cells than its header, which identifiers repeat. An alias is a declared spelling; a declared code for "missing" is
missing. The answer is as sensitive as the data.
Cost: as reading, and at most ``seen.KEPT`` distinct texts a column.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpcausal.core.errors import InputError, SchemaError, did_you_mean
from dpcausal.data import arrow
from dpcausal.data.coding import CategoricalCoder, NumericCoder, check_type, parsed
from dpcausal.data.columns import Categorical, Column, Numeric
from dpcausal.data.csv import Ragged
from dpcausal.data.draft import order_remarks
from dpcausal.data.profile import CODES, Repeats, Texts, named_like_one, present, watched
from dpcausal.data.schema import Schema
from dpcausal.data.sources import ColumnSource, Source, open_source

NOT_PRIVATE = "not private: do not publish this output; it was computed from the rows without noise"


@dataclass
class ColumnCheck:
    """Cells of one column by what becomes of them; ``other`` is where missing and unreadable ones go."""

    name: str
    type: str
    other: str
    rows: int = 0
    missing: int = 0
    coded_missing: int = 0  # of these, cells that hold a code which `missing` lists
    not_a_level: int = 0
    not_a_number: int = 0
    texts: list[tuple[str, int]] = field(
        default_factory=list
    )  # the most frequent of these, with their counts
    below: int = 0  # raised to the lower bound
    above: int = 0  # lowered to the upper bound
    codes: list[tuple[int, int]] = field(
        default_factory=list
    )  # of these, numbers often written for "missing"
    empty: list[str] = field(default_factory=list)  # levels or bins that no row ends up in
    fault: str = ""  # why it can't be read as declared

    @property
    def fine(self) -> bool:
        """Whether every cell is used as it stands, and no level or bin is empty."""
        changed = self.missing + self.not_a_level + self.not_a_number + self.below + self.above
        return not (changed or self.empty or self.fault)


@dataclass
class SchemaCheck:
    """The check of a file: its columns, and the names that only one side has."""

    label: str
    rows: int
    columns: list[ColumnCheck]
    not_in_data: list[str]
    not_in_schema: list[str]
    draft: bool
    ragged: Ragged = field(default_factory=Ragged)
    repeats: list[tuple[str, int]] = field(
        default_factory=list
    )  # columns that look like identifiers, and rows beyond the first with the same one
    orders: list[str] = field(default_factory=list)  # remarks on levels in an order; from the schema alone

    @property
    def usable(self) -> bool:
        """Whether the file can be read by the schema at all."""
        return not self.not_in_data and not any(column.fault for column in self.columns)

    def fault(self) -> str:
        """One line on what makes it unusable."""
        if self.not_in_data:
            hint = did_you_mean(self.not_in_data[0], self.not_in_schema)
            return f'{self.label} has no column "{self.not_in_data[0]}"{hint}'
        return next(column.fault for column in self.columns if column.fault)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON; the first fields say what it is."""
        columns = [
            asdict(column)
            | {"texts": [{"text": t, "cells": n} for t, n in column.texts]}
            | {"codes": [{"code": c, "cells": n} for c, n in column.codes], "fine": column.fine}
            for column in self.columns
        ]
        return {
            "private": False,
            "warning": NOT_PRIVATE,
            "data": self.label,
            "rows": self.rows,
            "rows_with_fewer_cells": self.ragged.fewer,
            "rows_with_more_cells": self.ragged.more,
            "usable": self.usable,
            "draft": self.draft,
            "not_in_data": self.not_in_data,
            "not_in_schema": self.not_in_schema,
            "repeated_identifiers": [{"column": name, "rows": rows} for name, rows in self.repeats],
            "columns": columns,
        }


class _ColumnProfiler:
    """Looks at one column, chunk by chunk."""

    def __init__(self, name: str, column: Column) -> None:
        self.column, self.texts = column, Texts()
        self.found = ColumnCheck(name, type(column).__name__.lower(), str(column.other))
        if isinstance(column, Categorical):
            self.coder = CategoricalCoder(column, apart=True)
        else:
            self.found.other = f"{column.other:g}"
            self.bins = NumericCoder(column)
            beyond = [code for code in CODES if not column.lower <= code <= column.upper]
            self.outside = dict.fromkeys(beyond, 0)
        self.counts: NDArray[np.int64] = np.zeros(column.size, np.int64)
        self.place = self._other_place()

    def _other_place(self) -> int:
        """Which level or bin missing and unreadable cells end up in."""
        if isinstance(self.column, Categorical):
            return self.column.other_code
        return int(self.bins.codes(np.array([self.column.other], dtype=np.float64))[0])

    def add(self, array: pa.Array) -> None:
        array = arrow.plain(array)
        self.found.rows += len(array)
        if isinstance(self.column, Categorical):
            codes = self.coder.codes(array)
            unknown, gone = codes == self.column.size, codes > self.column.size
            self.counts += np.bincount(codes[~(unknown | gone)], minlength=self.column.size)
        else:
            values = parsed(array)
            unknown, gone = np.isnan(values), np.isin(values, self.bins.gone(array.type))
            self._bounded(values[~(unknown | gone)], self.column)
        self.counts[self.place] += int(unknown.sum() + gone.sum())
        self.found.coded_missing += int(gone.sum())
        self.found.missing += int(gone.sum())
        odd = array.filter(pa.array(unknown))
        left = present(odd) if arrow.value_kind(odd.type) != "null" else pa.array([], pa.binary())
        self.found.missing += len(odd) - len(left)
        self.texts.add(left)

    def _bounded(self, values: NDArray[np.float64], column: Numeric) -> None:
        self.found.below += int((values < column.lower).sum())
        self.found.above += int((values > column.upper).sum())
        for code in self.outside:
            self.outside[code] += int((values == code).sum())
        inside = np.clip(values, column.lower, column.upper)
        self.counts += np.bincount(self.bins.codes(inside), minlength=column.size)

    def done(self) -> ColumnCheck:
        found, column = self.found, self.column
        found.texts = self.texts.named()
        if isinstance(column, Categorical):
            found.not_a_level = self.texts.total
            names = [str(level) for level in column.levels]
        else:
            found.not_a_number = self.texts.total
            found.codes = [(code, count) for code, count in self.outside.items() if count]
            names = bin_names(column)
        found.empty = [name for name, count in zip(names, self.counts, strict=True) if count == 0]
        return found


def bin_names(column: Numeric) -> list[str]:
    """Every bin in words.

    >>> bin_names(Numeric(0, 110, [18, 65]))
    ['0 to 18', '18 to 65', '65 to 110']
    """
    edges = [column.lower, *(column.bins or ()), column.upper]
    return [f"{low:g} to {high:g}" for low, high in pairwise(edges)]


def check(source: Any, schema: Schema, *, progress: bool = False) -> SchemaCheck:
    """Look at every declared column of ``source``. Not private."""
    found = open_source(source, list(schema))
    here = [name for name in schema if found.names.count(name) == 1]
    if isinstance(found, ColumnSource):
        found.convert(here)
    lookers = {name: _ColumnProfiler(name, schema[name]) for name in here}
    faulty: dict[str, ColumnCheck] = {}
    for name in [name for name in schema if name in found.names]:
        try:
            if name not in here:
                raise SchemaError(f'{found.label} has more than one column "{name}"')
            type_ = found.types[found.names.index(name)]
            if type_ is not None:
                check_type(
                    name, type_, schema[name], found.label, of_file=not isinstance(found, ColumnSource)
                )
        except SchemaError as error:
            other = str(schema[name].other)
            faulty[name] = ColumnCheck(name, type(schema[name]).__name__.lower(), other, fault=str(error))
    looked = [name for name in here if name not in faulty]
    repeats = {name: Repeats(name) for name in _identifiers(found, looked)}
    rows = 0
    every = [*looked, *(name for name in repeats if name not in looked)]
    for chunk in watched(found, every, progress) if looked else ():
        for name, array in chunk.items():
            if name in lookers:
                lookers[name].add(array)
            if name in repeats:
                repeats[name].add(array)
        rows += len(chunk[looked[0]])
    if looked and rows == 0:
        raise InputError(f"{found.label} has no rows")
    return SchemaCheck(
        found.label,
        rows,
        [faulty[name] if name in faulty else lookers[name].done() for name in schema if name in found.names],
        [name for name in schema if name not in found.names],
        [name for name in dict.fromkeys(found.names) if name and name not in schema],
        schema.draft,
        getattr(found, "ragged", Ragged()),
        [(name, more) for name, repeated in repeats.items() if (more := repeated.more())],
        order_remarks(schema),
    )


def _identifiers(found: Source, looked: list[str]) -> list[str]:
    """Columns to be looked at for repeats: named like an identifier and declared, or in the same file."""
    if isinstance(found, ColumnSource):
        return [name for name in looked if named_like_one(name)]
    types = dict(zip(found.names, found.types, strict=True))
    return [
        name
        for name, type_ in types.items()
        if named_like_one(name)
        and found.names.count(name) == 1
        and (type_ is None or arrow.value_kind(type_) != "unsupported")
    ]
