"""Files of SPSS (.sav, .zsav), Stata (.dta), SAS (.sas7bdat, .xpt) and R (.rds), and columns with value labels.

Types, value labels and date formats are those that the file states for a column, never a guess from its rows. Values
that the file itself declares to be missing (SPSS's user-missing values, Stata's .a to .z, NA of R) are missing. A
column of dates or times is one of dates or times; a number in it that means none is missing.

**Value labels.** 1 may mean "male" and 2 "female": the labels belong to the file's own code book, which is metadata and
public. A cell that has a label means the level that the label spells. Where the schema declares no such level, the cell
means the level that its value is: so levels may be declared as labels or as codes, whichever is easier to read. A
column that is declared numeric has its values; labels do not count there. Without a declaration, for a draft, cells are
labels where all of them have one.

**SPSS, Stata, SAS** are read through pyreadstat (``dpcausal[stats]``), which raises where one cell holds a byte that
its encoding does not allow, or a number beyond the calendar. A cell must not do that here. So texts are asked for as
Latin-1, which every byte is part of, and decoded cell by cell by what the schema or the file declares
(``dpcausal.data.file_format``); and dates are asked for as numbers. **R**: a data frame that ``saveRDS`` wrote, through
the parser of rdata (``dpcausal[r]``) alone, which gives vectors and bytes as the file has them. A factor is a column of
labelled values, and so is one of haven's; logical values are true and false; ``Date`` and ``POSIXct`` are dates and
times. A column of any other class is read as the numbers or texts it holds.

**Guarantee.** What a cell becomes depends on that cell, the metadata of its column and the declaration, and no value
raises. A file that can't be read is one fixed sentence.

**Cost.** O(cells) of the columns asked for, about 30 bytes a cell while a file is read; all of a file of R.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.data import spelling
from dpcausal.data.columns import Categorical, DeclarationError, Numeric
from dpcausal.data.file_format import FileFormat, decode_bytes
from dpcausal.data.objects import ObjectPrinter

# ---- value labels


@dataclass(frozen=True)
class Labelled:
    """Cells (numbers, NaN where missing, or texts), and labels for some of their values."""

    values: NDArray[np.float64] | Sequence[str | None]
    labels: Mapping[Any, str]

    def array(self, printer: ObjectPrinter) -> pa.Array:
        """Return the cells for a declared column: labels where these are levels, else values.

        >>> sex = Labelled(np.array([1.0, 2.0, 9.0, np.nan]), {1.0: "male", 2.0: "female"})
        >>> [sex.array(ObjectPrinter(Categorical(levels))).to_pylist() for levels in (["female", "male"], [1, 2])]
        [[b'male', b'female', b'9.0', None], [b'1', b'2', b'9.0', None]]
        """
        if isinstance(printer.column, Numeric) or (printer.column is None and not self._all_labelled()):
            return (
                pa.array(self.values) if isinstance(self.values, np.ndarray) else printer.array(self.values)
            )
        texts = spelling.text_codes(printer.column) if isinstance(printer.column, Categorical) else None
        if isinstance(self.values, np.ndarray):
            different, places = np.unique(self.values, return_inverse=True)
            cells: Sequence[Any] = [None if value != value else value for value in different.tolist()]
        else:
            table: dict[str | None, int] = {}
            places = np.array([table.setdefault(value, len(table)) for value in self.values], dtype=np.int64)
            cells = list(table)
        printed = printer.array([self._meant(cell, texts) for cell in cells] + [None])
        return pa.DictionaryArray.from_arrays(places.astype(np.int32), printed)

    def _all_labelled(self) -> bool:
        """Return whether every value that occurs has a label."""
        if isinstance(self.values, np.ndarray):
            different: set[Any] = set(np.unique(self.values[~np.isnan(self.values)]).tolist())
        else:
            different = set(self.values) - {None}
        return different <= set(self.labels)

    def codes(self) -> dict[str, str]:
        """Return the labels by the printed value that each belongs to.

        >>> Labelled(np.array([1.0]), {1.0: "male", 2.0: "female", 9.5: " "}).codes()
        {'1': 'male', '2': 'female'}
        """
        printed = {
            str(int(value) if isinstance(value, float) and value.is_integer() else value): label.strip()
            for value, label in sorted(self.labels.items())
        }
        return {text: label for text, label in printed.items() if text and label}

    def _meant(self, cell: Any, texts: Mapping[str, int] | None) -> Any:
        """Return the label of a cell, if it has one that is a level (or no levels are declared); else the cell."""
        label = self.labels.get(cell)
        if label is None or (texts is not None and label.strip() not in texts):
            whole = isinstance(cell, float) and texts is None and cell.is_integer() and abs(cell) < 2**53
            return int(cell) if whole else cell
        return label


# ---- dates: the unit of a format, and what it counts from

_DAY, _SECOND, _MILLISECOND = 86_400_000, 1000, 1
_EPOCHS = {  # milliseconds from 1970 to the first day of each program
    ".sav": int(np.datetime64("1582-10-14", "ms").astype(np.int64)),
    ".dta": int(np.datetime64("1960-01-01", "ms").astype(np.int64)),
    ".sas7bdat": int(np.datetime64("1960-01-01", "ms").astype(np.int64)),
}
_EPOCHS |= {".zsav": _EPOCHS[".sav"], ".xpt": _EPOCHS[".sas7bdat"]}
_DATE_UNITS: dict[str, tuple[tuple[re.Pattern[str], int], ...]] = {  # the first that matches
    ".sav": ((re.compile(r"(DATETIME|YMDHMS|[AESJ]?DATE)\d"), _SECOND),),
    ".dta": ((re.compile(r"%-?t?d(?!\w*[cC])"), _DAY), (re.compile(r"%-?t[cC]"), _MILLISECOND)),
    ".sas7bdat": (
        (re.compile(r"(DATETIME|E8601DT|B8601DT|MDYAMPM)\d*"), _SECOND),
        (
            re.compile(
                r"(DATE|YYMMDD[NSDPBC]?|MMDDYY[NSDPBC]?|DDMMYY[NSDPBC]?|E8601DA|B8601DA|WEEKDATE|WORDDATE)\d*"
            ),
            _DAY,
        ),
    ),
}
_DATE_UNITS |= {".zsav": _DATE_UNITS[".sav"], ".xpt": _DATE_UNITS[".sas7bdat"]}
_FIRST, _LAST = (int(np.datetime64(year, "ms").astype(np.int64)) for year in ("0001-01-01", "9999-12-31"))


def as_times(values: np.ndarray[Any, Any], unit: int, epoch: int) -> pa.Array:
    """Return counts of a time unit since an epoch as times in milliseconds; missing outside the years 1 to 9999."""
    with np.errstate(all="ignore"):
        moments = values * unit + epoch
        inside = (moments >= _FIRST) & (moments <= _LAST)
        whole = np.where(inside, moments, 0.0).round().astype(np.int64)
    return pa.array(whole, mask=~inside).cast(pa.timestamp("ms"))


# ---- SPSS, Stata, SAS

_READERS = {
    ".sav": "read_sav", ".zsav": "read_sav", ".dta": "read_dta", ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport",
}  # fmt: skip
_ANY_BYTE = "LATIN1"  # for iconv


def missing_extra(suffix: str, extra: str) -> InputError:
    """Return the error for a file whose reader is not installed.

    >>> print(missing_extra(".sav", "stats"))
    to read a .sav file, install the extra: pip install "dpcausal[stats]"
    """
    return InputError(f'to read a {suffix} file, install the extra: pip install "dpcausal[{extra}]"')


class LabelledColumn(NamedTuple):
    """What the metadata of a file say of a column: its kind, its label, and the labels of its values."""

    name: str
    kind: Literal["number", "date", "text"]
    label: str
    codes: dict[str, str]  # of values as they are printed
    ordered: bool
    missing: tuple[str, ...] = ()  # those of them that the file declares missing


class StatFile:
    """One file: ``names`` of its columns, their ``labels`` where they have some, and ``columns`` of cells."""

    def __init__(self, path: Path, declared: FileFormat) -> None:
        self._path, self._suffix = path, path.suffix.lower()
        try:
            import pyreadstat  # late: an extra
        except ImportError:
            raise missing_extra(self._suffix, "stats") from None
        self._library = pyreadstat
        self._encoding = declared.encoding or self._stated_encoding()
        _, about = self._read(metadataonly=True)
        self._types: dict[str, str] = about.readstat_variable_types
        self._formats: dict[str, str] = about.original_variable_types
        self._labels: dict[str, dict[Any, str]] = about.variable_value_labels
        self._raw = dict(zip(map(self._text, about.column_names), about.column_names, strict=True))
        self.names = [self._text(name) for name in about.column_names]
        self.labels = {
            self._text(name): self._text(label).strip()
            for name, label in about.column_names_to_labels.items()
            if label and label.strip()
        }

    def _stated_encoding(self) -> str | None:
        """Return the one-byte encoding that the file states; None for another or none."""
        reader: Callable[..., Any] = getattr(self._library, _READERS[self._suffix])
        try:
            _, about = reader(str(self._path), metadataonly=True, output_format="dict")
            return FileFormat(encoding=about.file_encoding).encoding
        except (DeclarationError, ValueError, RuntimeError, OSError, self._library.ReadstatError):
            return None

    def _read(self, **options: Any) -> Any:
        """Read the file with pyreadstat; turn any error into one line."""
        reader: Callable[..., Any] = getattr(self._library, _READERS[self._suffix])
        try:
            return reader(
                str(self._path),
                encoding=_ANY_BYTE,
                disable_datetime_conversion=True,
                output_format="dict",
                **options,
            )
        except Exception:
            raise InputError(f"{self._path.name} is not a readable {self._suffix} file") from None

    def _text(self, text: str) -> str:
        """Return a text decoded again: its bytes were read as Latin-1."""
        return decode_bytes(text.encode("latin-1", "replace"), self._encoding)

    def code_book(self) -> list[LabelledColumn]:
        """Return what the metadata say of every column; no row is read."""
        _, about = self._read(metadataonly=True, user_missing=True)
        found: list[LabelledColumn] = []
        for name in self.names:
            raw = self._raw[name]
            kind: Literal["number", "date", "text"] = "number"
            if self._types[raw] == "string":
                kind = "text"
            elif self._unit(raw) is not None:
                kind = "date"
            labels = {
                value: self._text(label)
                for value, label in self._value_labels(raw).items()
                if kind == "text"
                or _is_number(value)  # a text among numbers is one of Stata's .a to .z: missing
            }
            ordered = (about.variable_measure or {}).get(raw) == "ordinal"
            ranges = [] if kind == "text" else about.missing_ranges.get(raw, [])
            absent = {
                value: label
                for value, label in labels.items()
                if any(one["lo"] <= value <= one["hi"] for one in ranges)
            }
            codes, missing = Labelled((), labels).codes(), tuple(Labelled((), absent).codes())
            found.append(LabelledColumn(name, kind, self.labels.get(name, ""), codes, ordered, missing))
        return found

    def columns(self, wanted: Sequence[str]) -> dict[str, Any]:
        """Return the wanted columns: numbers, dates, texts, or ``Labelled``."""
        raw = [self._raw[name] for name in wanted]
        cells, _ = self._read(usecols=raw)
        return {name: self._column(self._raw[name], cells[self._raw[name]]) for name in wanted}

    def _column(self, raw: str, cells: Sequence[Any]) -> Any:
        """Return one column: numbers, dates, texts, or ``Labelled``."""
        if self._types[raw] == "string":
            texts = [None if cell is None or cell == "" else self._text(str(cell)) for cell in cells]
            labels = {
                self._text(str(value)): self._text(label) for value, label in self._value_labels(raw).items()
            }
            return Labelled(texts, labels) if labels else texts
        values = np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
        if (unit := self._unit(raw)) is not None:
            return as_times(values, unit, _EPOCHS[self._suffix])
        meanings = {
            float(value): self._text(label)
            for value, label in self._value_labels(raw).items()
            if _is_number(value)
        }
        return Labelled(values, meanings) if meanings else pa.array(values, from_pandas=True)

    def _value_labels(self, raw: str) -> dict[Any, str]:
        """Return the value labels of a column."""
        return self._labels.get(raw, {})

    def _unit(self, raw: str) -> int | None:
        """Return the milliseconds in the unit of a column of dates; None where it holds plain numbers."""
        format_ = (
            str(self._formats.get(raw, "")).upper()
            if self._suffix != ".dta"
            else str(self._formats.get(raw, ""))
        )
        return next((unit for pattern, unit in _DATE_UNITS[self._suffix] if pattern.match(format_)), None)


def _is_number(value: Any) -> bool:
    """Return whether a value is a number, but not a truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


# ---- R

_NA_INTEGER = -(2**31)


class RdsFile:
    """One data frame: ``names`` of its columns, and ``columns`` of cells."""

    def __init__(self, path: Path, declared: FileFormat) -> None:
        self._encoding = declared.encoding
        try:
            from rdata import parser  # late: an extra
        except ImportError:
            raise missing_extra(".rds", "r") from None
        try:
            frame = parser.parse_file(path).object
        except Exception:
            raise InputError(f"{path.name} is not a readable .rds file") from None
        attributes = self._attributes(frame)
        classes = self._texts(attributes.get("class"))
        if "data.frame" not in classes or "names" not in attributes:
            raise InputError(f"{path.name} does not hold a data frame: save one with saveRDS(frame, file)")
        self.names = [name or "" for name in self._texts(attributes["names"])]
        self._vectors = list(frame.value)
        self.labels: dict[str, str] = {}
        for name, vector in zip(self.names, self._vectors, strict=False):
            label = self._texts(self._attributes(_referenced(vector)).get("label"))
            if label and label[0] and label[0].strip():
                self.labels[name] = label[0].strip()

    def _texts(self, vector: Any) -> list[str | None]:
        """Return a vector of texts; empty where it is none."""
        if vector is None or vector.info.type.name != "STR":
            return []
        return [self._text(item) for item in vector.value]

    def _text(self, item: Any) -> str | None:
        """Return one text; None where it is missing."""
        value = _referenced(item).value
        return None if value is None else decode_bytes(bytes(value), self._encoding)

    def _attributes(self, item: Any) -> dict[str, Any]:
        """Return the attributes of an object by name: a list of pairs."""
        found: dict[str, Any] = {}
        pair = item.attributes
        while pair is not None and pair.info.type.name == "LIST":
            tag = _referenced(pair.tag) if pair.tag is not None else None
            if tag is not None and tag.info.type.name == "SYM":
                found[self._text(tag.value) or ""] = _referenced(pair.value[0])
            pair = pair.value[1]
        return found

    def columns(self, wanted: Sequence[str]) -> dict[str, Any]:
        """Return the wanted columns: numbers, dates, texts, or ``Labelled``."""
        return {name: self._column(name, self._vectors[self.names.index(name)]) for name in wanted}

    def _column(self, name: str, vector: Any) -> Any:
        """Return one column: numbers, dates, texts, or ``Labelled``."""
        vector = _referenced(vector)
        kind, attributes = vector.info.type.name, self._attributes(vector)
        classes = self._texts(attributes.get("class"))
        if kind == "STR":
            texts = [text or None for text in self._texts(vector)]
            labels = self._value_labels(attributes, numbers=False)
            return Labelled(texts, labels) if labels else texts
        if kind not in ("REAL", "INT", "LGL"):
            raise InputError(f'column "{name}" holds neither numbers nor texts, which can\'t be read')
        values = np.ma.filled(np.ma.asarray(vector.value, dtype=np.float64), np.nan).copy()
        if kind != "REAL":
            values[values == _NA_INTEGER] = np.nan
        if "factor" in classes:
            levels = self._texts(attributes.get("levels"))
            return Labelled(values, {float(place): level or "" for place, level in enumerate(levels, 1)})
        if "Date" in classes or "POSIXct" in classes:
            return as_times(values, _DAY if "Date" in classes else _SECOND, 0)
        if kind == "LGL":
            return pa.array(values == 1, mask=np.isnan(values))
        labels = self._value_labels(attributes, numbers=True)
        return Labelled(values, labels) if labels else pa.array(values, from_pandas=True)

    def _value_labels(self, attributes: dict[str, Any], *, numbers: bool) -> dict[Any, str]:
        """Return the value labels that haven stores in an attribute."""
        vector = attributes.get("labels")
        if vector is None:
            return {}
        names = self._texts(self._attributes(vector).get("names"))
        if not numbers:
            values: Sequence[Any] = self._texts(vector)
        elif vector.info.type.name in ("REAL", "INT"):
            values = np.ma.filled(np.ma.asarray(vector.value, dtype=np.float64), np.nan).tolist()
        else:
            return {}
        return {value: name for value, name in zip(values, names, strict=False) if name and value is not None}


def _referenced(item: Any) -> Any:
    """Return the object that a reference points to."""
    return item.referenced_object if getattr(item, "referenced_object", None) is not None else item
