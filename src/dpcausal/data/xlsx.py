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
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from dpcausal.core.errors import InputError, did_you_mean

MAX_ROWS, MAX_COLUMNS = 1 << 20, 1 << 14  # of a sheet in Excel
_DATE_FORMATS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))  # built in
_NOT_DATE_PART = re.compile(r'"[^"]*"|\[(?!h+\]|m+\]|s+\])[^\]]*\]|\\.|_.|\*.|General', re.IGNORECASE)
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,15}")
_PLACE = re.compile(r"0*([0-9]{1,9})")  # Python refuses to read an integer of more than 4,300 digits
_DAYS = {False: datetime.datetime(1899, 12, 30), True: datetime.datetime(1904, 1, 1)}
_FIRST_DAY = 61.0  # of March 1900: before that Excel counts a day that never was
_LAST_DAY = datetime.datetime(9999, 12, 31)  # the last that Excel and Python know, whatever the first is


# ---- the parts of a workbook


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip; any fault in it becomes one ``InputError``."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
        return
    except InputError:
        raise
    except (LookupError, ValueError, OSError, EOFError, RuntimeError):
        pass
    except (ElementTree.ParseError, zipfile.BadZipFile, zlib.error):
        pass
    line = f"{path.name} is not a readable Excel workbook; if it is an older one, save it as .xlsx"
    raise InputError(line) from None


def _local(name: str) -> str:
    """Return the name of an element or attribute without its namespace."""
    return name.rpartition("}")[2]


def _elements(archive: zipfile.ZipFile, part: str, *names: str) -> Iterator[tuple[str, ElementTree.Element]]:
    """Yield each element of these names in an XML part with its name, complete; afterwards its memory is freed."""
    around: list[ElementTree.Element] = []
    with archive.open(part) as stream:
        for event, element in ElementTree.iterparse(stream, ("start", "end")):
            if event == "start":
                around.append(element)
                continue
            around.pop()
            if (name := _local(element.tag)) in names:
                yield name, element
                for outer in around[-1:]:
                    outer.clear()


def _children(element: ElementTree.Element) -> Iterator[tuple[str, ElementTree.Element]]:
    """Yield the elements directly inside another, each with its name."""
    return ((_local(child.tag), child) for child in element)


def _text_of(element: ElementTree.Element) -> str:
    """Return the text inside an element, without its phonetic hints."""
    inside = (part for name, child in _children(element) if name != "rPh" for part in child.iter())
    return _unescaped("".join(part.text or "" for part in inside if _local(part.tag) == "t"))


def open_sheet(path: Path, name: str | None = None) -> Sheet:
    """Return the named sheet of a workbook, or its first.

    Raises ``InputError`` where there is none of that name, or the file is no workbook or damaged.
    """
    parts: dict[str, str] = {}  # of every sheet
    from_1904 = False
    with _opened(path) as archive:
        targets = {
            relation.attrib["Id"]: relation.attrib["Target"]
            for _, relation in _elements(archive, "xl/_rels/workbook.xml.rels", "Relationship")
        }
        for kind, element in _elements(archive, "xl/workbook.xml", "workbookPr", "sheet"):
            if kind == "workbookPr":
                from_1904 = element.get("date1904") in ("1", "true")
            else:
                place = next((value for key, value in element.items() if _local(key) == "id"), "")
                target = targets[place]
                parts[element.attrib["name"]] = target[1:] if target.startswith("/") else f"xl/{target}"
    if not parts:
        raise InputError(f"{path.name} has no sheet")
    chosen = next(iter(parts)) if name is None else name
    if chosen not in parts:
        there = ", ".join(f'"{sheet}"' for sheet in parts)
        raise InputError(
            f'{path.name} has no sheet "{chosen}"{did_you_mean(chosen, parts)}; its sheets: {there}'
        )
    return Sheet(path, parts[chosen], from_1904)


class Sheet:
    """One sheet: ``names`` of its columns, and ``columns`` of cells."""

    def __init__(self, path: Path, part: str, from_1904: bool) -> None:
        self._path, self._part = path, part
        self._epoch = _DAYS[from_1904]
        self._header = -1
        header: dict[int, Any] = {}
        with _opened(self._path) as archive:
            parts = archive.namelist()
            self._dates = _date_styles(archive) if "xl/styles.xml" in parts else []
            shared = "xl/sharedStrings.xml"
            self._texts = (
                [_text_of(item) for _, item in _elements(archive, shared, "si")] if shared in parts else []
            )
            for row, column, cell, _ in self._cells(archive):
                if header and row != self._header:
                    break
                if cell is not None:
                    self._header = row
                    header[column] = cell
        self._places = {column: _name(cell) for column, cell in sorted(header.items())}
        self.names = list(self._places.values())

    def columns(self, wanted: Sequence[str]) -> dict[str, list[Any]]:
        """Return the cells of every wanted column below the header, one for each row."""
        places = {column: name for column, name in self._places.items() if name in wanted}
        cells: dict[int, dict[int, Any]] = {column: {} for column in places}
        last = self._header
        with _opened(self._path) as archive:
            for row, column, cell, there in self._cells(archive):
                if row > self._header and there:
                    last = max(last, row)
                    if column in cells:
                        cells[column][row] = cell
        rows = range(self._header + 1, last + 1)
        return {name: [cells[column].get(row) for row in rows] for column, name in places.items()}

    def _cells(self, archive: zipfile.ZipFile) -> Iterator[tuple[int, int, Any, bool]]:
        """Yield row, column and value of every cell in order, and whether the cell is there."""
        row = -1
        for _, line in _elements(archive, self._part, "row"):
            number = line.get("r", "")
            row = int(number) - 1 if number.isdecimal() else row + 1
            column = -1
            for _, cell in (child for child in _children(line) if child[0] == "c"):
                column += 1
                if found := _REFERENCE.fullmatch(cell.get("r", "")):
                    column = _column_number(found[1])
                if row >= MAX_ROWS or column >= MAX_COLUMNS:
                    raise ValueError("a place that no sheet has")
                inside = dict(_children(cell))
                there = "t" in cell.attrib or not inside.keys().isdisjoint(("v", "f", "is"))
                yield row, column, self._value(cell, inside), there

    def _value(self, cell: ElementTree.Element, inside: dict[str, ElementTree.Element]) -> Any:
        """Return the value of a cell, from the elements inside it."""
        kind = cell.get("t", "n")
        text = ""
        if "is" in inside:
            text = _text_of(inside["is"])
        elif "v" in inside:
            text = "".join(inside["v"].itertext())
        if not text or kind == "e":
            return None
        if kind == "s":
            place = _place(text, len(self._texts))
            return (self._texts[place] if place < len(self._texts) else None) or None
        if kind == "b":
            return {"1": True, "0": False, "true": True, "false": False}.get(text.strip())
        if kind in ("inlineStr", "str", "d"):
            return _unescaped(text) if kind == "str" else text
        number = _as_number(text.strip())
        style = _place(cell.get("s", "0"), 0)
        shows_date = style < len(self._dates) and self._dates[style]
        return _as_date(number, self._epoch) if shows_date and not isinstance(number, str) else number


def _date_styles(archive: zipfile.ZipFile) -> list[bool]:
    """Return for every style of a cell whether it shows dates or times."""
    formats: dict[int, str] = {}
    found: list[bool] = []
    for kind, element in _elements(archive, "xl/styles.xml", "numFmt", "cellXfs"):
        if kind == "numFmt":
            formats[int(element.attrib["numFmtId"])] = element.get("formatCode", "")
            continue
        for _, style in (child for child in _children(element) if child[0] == "xf"):
            number = int(style.get("numFmtId", "0"))
            found.append(_shows_date(formats[number]) if number in formats else number in _DATE_FORMATS)
    return found


def _as_number(text: str) -> float | str:
    """Return the number that a text spells; the text where it spells none."""
    try:
        return int(text) if _WHOLE_NUMBER.fullmatch(text) else float(text)
    except ValueError:
        return text


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
