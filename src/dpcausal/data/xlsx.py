"""Cells of a sheet of an Excel workbook (.xlsx, .xlsm), read with the standard library alone.

A reader that raises where one cell holds an odd value can't be used (calamine 0.9 does, at an error value that it does
not know and at a duration that is too long): a cell must not stop a release. So the few elements that hold values are
read directly: a workbook is a zip of XML files.

**What a cell is.** Text, a number, a truth value, or nothing: an empty text, an error such as ``#N/A`` and a cell that
is not there are missing. A number in a format of dates is the date or time that Excel shows, and stays a number where
it means none. A formula is its last result. The type is that of the cell, never of its column.

**What a row is.** The first row with a filled cell is the header; its filled cells are the names of the columns. Rows
follow up to the last one with a cell that is there, and those in between that are empty are rows of missing values. A
cell is there where the file gives it a type, a value or a formula, though an error or an empty text is missing; one
that has only a format is not. So the number of rows is that of the sheet: give every row at least one filled cell,
such as an identifier.

**Guarantee.** What a cell becomes depends on that cell alone, and no value raises. A file that is not a workbook, or is
damaged, is one fixed sentence.

**Cost.** O(size of the sheet); memory the cells of the columns asked for and all shared texts.
"""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.parsers import expat

from dpcausal.core.errors import InputError, did_you_mean

MAX_ROWS, MAX_COLUMNS = 1 << 20, 1 << 14  # of a sheet in Excel
_BLOCK = 1 << 20
_DATE_FORMATS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))  # built in
_NOT_DATE_PART = re.compile(r'"[^"]*"|\[(?!h+\]|m+\]|s+\])[^\]]*\]|\\.|_.|\*.|General', re.IGNORECASE)
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,15}")
_PLACE = re.compile(r"0*([0-9]{1,9})")  # Python refuses to read an integer of more than 4,300 digits
_DAYS = {False: datetime.datetime(1899, 12, 30), True: datetime.datetime(1904, 1, 1)}
_FIRST_DAY = 61.0  # of March 1900: before that Excel counts a day that never was
_LAST_DAY = datetime.datetime(9999, 12, 31)  # the last that Excel and Python know, whatever the first is


class _Stop(Exception):
    """Raised to end parsing early."""


def _local(name: str) -> str:
    """Return the name of an element without its namespace."""
    return name.rpartition(":")[2]


def _parse(
    archive: zipfile.ZipFile,
    part: str,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None] = lambda name: None,
    text: Callable[[str], None] = lambda data: None,
) -> None:
    """Parse an XML part of a workbook and call back for elements and text; names come without prefix."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, attributes: start(_local(name), attributes)
    parser.EndElementHandler = lambda name: end(_local(name))
    parser.CharacterDataHandler = text
    try:
        with archive.open(part) as stream:
            while block := stream.read(_BLOCK):
                parser.Parse(block, False)
            parser.Parse(b"", True)
    except _Stop:
        pass


class Workbook:
    """The sheets of a workbook, by name; raises ``InputError`` if it is no workbook, or damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.label = path.name
        self._parts: dict[str, str] = {}  # of every sheet
        self._from_1904 = False
        with _opened(path) as archive:
            targets = self._targets(archive)

            def seen(name: str, attributes: dict[str, str]) -> None:
                if name == "workbookPr":
                    self._from_1904 = attributes.get("date1904", "") in ("1", "true")
                if name == "sheet":
                    place = next((v for k, v in attributes.items() if _local(k) == "id"), "")
                    self._parts[attributes["name"]] = targets[place]

            _parse(archive, "xl/workbook.xml", seen)
        if not self._parts:
            raise InputError(f"{self.label} has no sheet")

    @staticmethod
    def _targets(archive: zipfile.ZipFile) -> dict[str, str]:
        """Return the parts of the archive that the workbook refers to, by the id of the relation."""
        targets: dict[str, str] = {}

        def seen(name: str, attributes: dict[str, str]) -> None:
            if name == "Relationship":
                target = attributes["Target"]
                targets[attributes["Id"]] = target[1:] if target.startswith("/") else f"xl/{target}"

        _parse(archive, "xl/_rels/workbook.xml.rels", seen)
        return targets

    def sheet(self, name: str | None = None) -> Sheet:
        """Return the named sheet, or the first; raise ``InputError`` where there is none of that name."""
        if name is None:
            name = next(iter(self._parts))
        if name not in self._parts:
            there = ", ".join(f'"{sheet}"' for sheet in self._parts)
            raise InputError(
                f'{self.label} has no sheet "{name}"{did_you_mean(name, self._parts)}; its sheets: {there}'
            )
        return Sheet(self.path, self._parts[name], self._from_1904)


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip; any fault in it becomes one ``InputError``."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
        return
    except InputError:
        raise
    except (
        KeyError, IndexError, ValueError, OSError, EOFError, RuntimeError, NotImplementedError, expat.ExpatError,
        zipfile.BadZipFile,
    ):  # fmt: skip
        pass
    line = f"{path.name} is not a readable Excel workbook; if it is an older one, save it as .xlsx"
    raise InputError(line) from None


class Sheet:
    """One sheet: ``names`` of its columns, and ``columns`` of cells."""

    def __init__(self, path: Path, part: str, from_1904: bool) -> None:
        self._path, self._part = path, part
        self._epoch = _DAYS[from_1904]
        self._texts: list[str] | None = None
        self._dates: list[bool] = []
        with _opened(self._path) as archive:
            self._read_styles(archive)
            self._places: dict[int, str] = {}
            self._header = -1
            self._read_header(archive)
        self.names = list(self._places.values())

    def _read_styles(self, archive: zipfile.ZipFile) -> None:
        """Find out which cell styles show dates or times."""
        if "xl/styles.xml" not in archive.namelist():
            return
        formats: dict[int, str] = {}
        inside = [False]

        def start(name: str, attributes: dict[str, str]) -> None:
            if name == "numFmt":
                formats[int(attributes["numFmtId"])] = attributes.get("formatCode", "")
            elif name == "cellXfs":
                inside[0] = True
            elif name == "xf" and inside[0]:
                number = int(attributes.get("numFmtId", "0"))
                self._dates.append(
                    _shows_date(formats[number]) if number in formats else number in _DATE_FORMATS
                )

        def end(name: str) -> None:
            inside[0] = inside[0] and name != "cellXfs"

        _parse(archive, "xl/styles.xml", start, end)

    def _read_texts(self, archive: zipfile.ZipFile) -> list[str]:
        """Return the shared texts of the workbook."""
        if self._texts is None:
            self._texts = texts = []
            if "xl/sharedStrings.xml" in archive.namelist():
                reader = _TextReader(lambda text: texts.append(text), "si")
                _parse(archive, "xl/sharedStrings.xml", reader.start, reader.end, reader.text)
        return self._texts

    def _read_header(self, archive: zipfile.ZipFile) -> None:
        """Read the names of the columns."""
        found: dict[int, Any] = {}

        def seen(row: int, column: int, cell: Any, there: bool) -> None:
            if found and row != self._header:
                raise _Stop
            if cell is not None:
                self._header = row
                found[column] = cell

        self._read(archive, seen)
        self._places = {column: _name(cell) for column, cell in sorted(found.items())}

    def columns(self, wanted: Sequence[str]) -> dict[str, list[Any]]:
        """Return the cells of every wanted column below the header, one for each row."""
        with _opened(self._path) as archive:
            places = {column: name for column, name in self._places.items() if name in wanted}
            cells: dict[int, dict[int, Any]] = {column: {} for column in places}
            last = [self._header]

            def seen(row: int, column: int, cell: Any, there: bool) -> None:
                if row > self._header and there:
                    last[0] = max(last[0], row)
                    if column in cells:
                        cells[column][row] = cell

            self._read(archive, seen)
        rows = range(self._header + 1, last[0] + 1)
        return {name: [cells[column].get(row) for row in rows] for column, name in places.items()}

    def _read(self, archive: zipfile.ZipFile, seen: Callable[[int, int, Any, bool], None]) -> None:
        """Call ``seen`` for every cell in order, with row, column, value, and whether the cell exists."""
        texts = self._read_texts(archive)
        reader = _CellReader(texts, self._dates, self._epoch, seen)
        _parse(archive, self._part, reader.start, reader.end, reader.text)


class _TextReader:
    """Collects the text of an element without its phonetic hints."""

    def __init__(self, done: Callable[[str], None], element: str) -> None:
        self._done, self._element = done, element
        self._parts: list[str] = []
        self._in_text = self._in_hint = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an XML element."""
        if name == self._element:
            self._parts = []
        self._in_hint = self._in_hint or name == "rPh"
        self._in_text = name == "t" and not self._in_hint

    def text(self, data: str) -> None:
        """Collect characters of the current text."""
        if self._in_text:
            self._parts.append(data)

    def end(self, name: str) -> None:
        """Handle the end of an XML element: a shared text is complete."""
        self._in_text = False
        self._in_hint = self._in_hint and name != "rPh"
        if name == self._element:
            self._done(_unescaped("".join(self._parts)))


class _CellReader:
    """Turns the elements of a sheet into cells."""

    def __init__(
        self,
        texts: list[str],
        dates: list[bool],
        epoch: datetime.datetime,
        seen: Callable[[int, int, Any, bool], None],
    ) -> None:
        self._texts, self._dates, self._epoch, self._seen = texts, dates, epoch, seen
        self._row = self._column = -1
        self._kind, self._style, self._value = "n", 0, ""
        self._in_value = self._there = False
        self._inline = _TextReader(self._set, "is")

    def _set(self, text: str) -> None:
        """Take a text as the value of the current cell."""
        self._value = text

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of a row, a cell or its value."""
        self._inline.start(name, attributes)
        if name == "c":
            self._column += 1
            if found := _REFERENCE.fullmatch(attributes.get("r", "")):
                self._column = _column_number(found[1])
            self._kind, style = attributes.get("t", "n"), attributes.get("s", "0")
            self._style = _place(style, 0)
            self._value, self._there = "", "t" in attributes
        elif name == "row":
            number = attributes.get("r", "")
            self._row = int(number) - 1 if number.isdecimal() else self._row + 1
            self._column = -1
        elif name in ("v", "f", "is"):
            self._in_value, self._there = name == "v", True
        if self._row >= MAX_ROWS or self._column >= MAX_COLUMNS:
            raise ValueError("a place that no sheet has")

    def text(self, data: str) -> None:
        """Collect characters of a cell."""
        self._inline.text(data)
        if self._in_value:
            self._value += data

    def end(self, name: str) -> None:
        """Handle the end of an element; pass on a cell that is complete."""
        self._inline.end(name)
        if name == "v":
            self._in_value = False
        elif name == "c":
            self._seen(self._row, self._column, self._cell(), self._there)

    def _cell(self) -> Any:
        """Return the value of the cell that ended."""
        text = self._value
        if not text or self._kind == "e":
            return None
        if self._kind == "s":
            place = _place(text, len(self._texts))
            return (self._texts[place] if place < len(self._texts) else None) or None
        if self._kind == "b":
            return {"1": True, "0": False, "true": True, "false": False}.get(text.strip())
        if self._kind in ("inlineStr", "str", "d"):
            return _unescaped(text) if self._kind == "str" else text
        return self._number(text.strip())

    def _number(self, text: str) -> Any:
        """Return a number, or the date that its style shows."""
        if _WHOLE_NUMBER.fullmatch(text):
            number: float = int(text)
        else:
            try:
                number = float(text)
            except ValueError:
                return text
        if self._style < len(self._dates) and self._dates[self._style]:
            return _as_date(number, self._epoch)
        return number


def _unescaped(text: str) -> str:
    """Return text in which Excel's escapes such as ``_x000D_`` are replaced by their characters."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _name(cell: Any) -> str:
    """Return the name of a column from its header cell."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def _place(text: str, otherwise: int) -> int:
    """Return the whole number that a text spells, if it is a valid place in a workbook; else ``otherwise``.

    >>> _place(" 07 ", 0), _place("9" * 5000, 3), _place("-1", 3)
    (7, 3, 3)
    """
    found = _PLACE.fullmatch(text.strip())
    return int(found[1]) if found else otherwise


def _column_number(letters: str) -> int:
    """Return the number of a column, from 0, by its letters.

    >>> _column_number("A"), _column_number("Z"), _column_number("AA")
    (0, 25, 26)
    """
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1


def _shows_date(code: str) -> bool:
    """Return whether a number format shows a date or a time.

    >>> [_shows_date(code) for code in ("dd.mm.yyyy", "[h]:mm", "0.00", '0 "days"', "[Red]0", "General")]
    [True, True, False, False, False, False]
    """
    return any(letter in "ymdhs" for letter in _NOT_DATE_PART.sub("", code.split(";")[0]).lower())


def _as_date(number: float, epoch: datetime.datetime) -> Any:
    """Return the date or time that Excel shows for a number; the number itself where it is none.

    >>> _as_date(43831, _DAYS[False]), _as_date(0.5, _DAYS[False]), _as_date(1e15, _DAYS[False])
    (datetime.date(2020, 1, 1), datetime.time(12, 0), 1000000000000000.0)
    >>> _as_date(2_958_000, _DAYS[True])
    2958000
    """
    if 0 <= number < 1:
        return (datetime.datetime.min + datetime.timedelta(seconds=min(round(number * 86400), 86399))).time()
    if not _FIRST_DAY <= number < (_LAST_DAY - epoch).days:
        return number
    moment = epoch + datetime.timedelta(days=int(number), seconds=round(number % 1 * 86400))
    return moment.date() if number == int(number) else moment
