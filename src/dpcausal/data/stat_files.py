"""Files of SPSS (.sav, .zsav), Stata (.dta) and SAS (.sas7bdat, .xpt), through pyreadstat (``dpcausal[stats]``).

Types, value labels and date formats are those that the file states for a column, never a guess from its rows. Values
that the file itself declares to be missing (SPSS's user-missing values, Stata's .a to .z) are missing. A column of
dates or times is one of dates or times; a number in it that means none is missing.

pyreadstat raises where one cell holds a byte that its encoding does not allow, or a number beyond the calendar. A cell
must not do that here. So texts are asked for as Latin-1, which every byte is part of, and decoded cell by cell by what
the schema or the file declares (``dpcausal.data.file_format``); and dates are asked for as numbers.

**Guarantee.** What a cell becomes depends on that cell and on metadata, and no value raises. A file that can't be read
is one fixed sentence.

**Cost.** O(cells) of the columns asked for; about 30 bytes a cell while a file is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dpcausal.core.errors import InputError
from dpcausal.data.columns import DeclarationError
from dpcausal.data.file_format import FileFormat, decode_bytes
from dpcausal.data.labelled import Labelled

_READERS = {
    ".sav": "read_sav", ".zsav": "read_sav", ".dta": "read_dta", ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport",
}  # fmt: skip
SUFFIXES = tuple(_READERS)
_ANY_BYTE = "LATIN1"  # for iconv

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


def missing_extra(suffix: str, extra: str) -> InputError:
    """Return the error for a file whose reader is not installed.

    >>> print(missing_extra(".sav", "stats"))
    to read a .sav file, install the extra: pip install "dpcausal[stats]"
    """
    return InputError(f'to read a {suffix} file, install the extra: pip install "dpcausal[{extra}]"')


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
        """Return the encoding that the file states, where it is one of one byte a character."""
        reader: Callable[..., Any] = getattr(self._library, _READERS[self._suffix])
        try:
            _, about = reader(str(self._path), metadataonly=True, output_format="dict")
            return FileFormat(encoding=about.file_encoding).encoding
        except (DeclarationError, ValueError, RuntimeError, OSError, self._library.ReadstatError):
            return None

    def _read(self, **options: Any) -> Any:
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
        """Return a text as it was meant: its bytes came as Latin-1."""
        return decode_bytes(text.encode("latin-1", "replace"), self._encoding)

    def columns(self, wanted: Sequence[str]) -> dict[str, Any]:
        """Return the wanted columns: numbers, dates, texts, or ``Labelled``."""
        raw = [self._raw[name] for name in wanted]
        cells, _ = self._read(usecols=raw)
        return {name: self._column(self._raw[name], cells[self._raw[name]]) for name in wanted}

    def _column(self, raw: str, cells: Sequence[Any]) -> Any:
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
        return self._labels.get(raw, {})

    def _unit(self, raw: str) -> int | None:
        """Return the milliseconds in a unit of a column of dates; None where it holds plain numbers."""
        format_ = (
            str(self._formats.get(raw, "")).upper()
            if self._suffix != ".dta"
            else str(self._formats.get(raw, ""))
        )
        return next((unit for pattern, unit in _DATE_UNITS[self._suffix] if pattern.match(format_)), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_times(values: np.ndarray[Any, Any], unit: int, epoch: int) -> pa.Array:
    """Return counts of a unit as times to the millisecond; beyond the years 1 to 9999 they are missing."""
    with np.errstate(all="ignore"):
        moments = values * unit + epoch
        inside = (moments >= _FIRST) & (moments <= _LAST)
        whole = np.where(inside, moments, 0.0).round().astype(np.int64)
    return pa.array(whole, mask=~inside).cast(pa.timestamp("ms"))
