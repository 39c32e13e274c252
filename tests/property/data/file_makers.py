"""Files of other programs, written for tests: workbooks, R's .rds, and what pyreadstat writes.

The workbook and the .rds file are written byte by byte, so that a test can put anything into a cell. A cell of bytes
that a writer would not take is written as a mark of the same length, which the bytes then replace in the file.
"""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd
import pyreadstat

Cells = Mapping[str, Sequence[Any]]


def as_bytes(cell: Any) -> bytes:
    return cell if isinstance(cell, bytes) else str(cell).encode("utf-8", "surrogatepass")


# ---- workbooks

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="46"/>'
    "</cellXfs></styleSheet>"
)
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\r")


def text_cell(text: str) -> str:
    """A cell of text as Excel writes it: what XML can't hold becomes ``_x0000_``."""
    safe = _NOT_IN_XML.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
    return f'<c REF t="inlineStr"><is><t xml:space="preserve">{escape(safe)}</t></is></c>'


def write_sheet(rows: Sequence[Sequence[str]], path: Path, *, from_1904: bool = False) -> Path:
    """A workbook of one sheet; a cell is its element with REF for its place, or empty.

    With ``from_1904`` days are counted from 1904, as Excel on a Macintosh did, instead of from 1900.
    """
    body = []
    for number, row in enumerate(rows, 1):
        cells = (cell.replace("REF", f'r="{chr(65 + c)}{number}"', 1) for c, cell in enumerate(row))
        body.append(f'<row r="{number}">{"".join(cells)}</row>')
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
        f'<workbookPr date1904="{from_1904:d}"/><sheets><sheet name="A" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="r1" '
        'Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/styles.xml": _STYLES,
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(body)}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}'.encode("utf-8", "replace"))
    return path


def write_xlsx(cells: Cells, path: Path) -> Path:
    def cell(value: Any) -> str:
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        return "" if text is None or text == "" else text_cell(str(text)[:32_000])

    rows = [
        [text_cell(name) for name in cells],
        *zip(*(map(cell, column) for column in cells.values()), strict=True),
    ]
    return write_sheet([list(row) for row in rows], path)


# ---- SPSS, Stata, SAS transport


def write_stat_file(cells: Cells, path: Path) -> Path:
    """Columns of text; bytes are put into the file where a mark of their length was written."""
    marks: dict[bytes, bytes] = {}
    longest = 150 if path.suffix == ".xpt" else 2000

    def text(cell: Any) -> str:
        if isinstance(cell, bytes) and path.suffix != ".zsav":
            mark = "~" * len(cell)
            marks[mark.encode()] = cell
            return mark
        if isinstance(cell, bytes):
            return cell.decode("latin-1")
        plain = "" if cell is None else str(cell)[:longest]
        return plain.encode("utf-8", "replace").decode().partition("\0")[0]

    frame = pd.DataFrame(
        {name: pd.Series([text(c) for c in column], dtype=object) for name, column in cells.items()}
    )
    if path.suffix == ".dta":
        pyreadstat.write_dta(frame, str(path), version=14)
    elif path.suffix == ".xpt":
        pyreadstat.write_xport(frame, str(path), file_format_version=8)
    else:
        pyreadstat.write_sav(frame, str(path), compress=path.suffix == ".zsav")
    data = path.read_bytes()
    for mark, cell in marks.items():
        place = data.rfind(mark)
        data = data[:place] + cell + data[place + len(mark) :]
    path.write_bytes(data)
    return path


def write_numbers(cells: Cells, path: Path, labels: Mapping[float, str], dates: str) -> Path:
    """Columns of numbers: ``dates`` in a format of days, the others with value labels where the format has them."""
    frame = pd.DataFrame({name: np.array(column, float) for name, column in cells.items()})
    formats = {".sav": "DATETIME20", ".zsav": "ADATE10", ".dta": "%td", ".xpt": "DATE9."}
    about: dict[str, Any] = {"variable_format": {dates: formats[path.suffix]}}
    if path.suffix == ".xpt":
        pyreadstat.write_xport(frame, str(path), **about)
        return path
    about["variable_value_labels"] = {name: dict(labels) for name in cells if name != dates}
    if path.suffix == ".dta":
        pyreadstat.write_dta(frame, str(path), **about)
    else:
        pyreadstat.write_sav(frame, str(path), compress=path.suffix == ".zsav", **about)
    return path


# ---- R


def _int(number: int) -> bytes:
    return struct.pack(">i", number)


def _char(cell: bytes | None) -> bytes:
    return _int(9) + _int(-1) if cell is None else _int(0x9) + _int(len(cell)) + cell


def r_texts(cells: Sequence[bytes | None], attributes: bytes = b"") -> bytes:
    return _int(16 | 0x200 * bool(attributes)) + _int(len(cells)) + b"".join(map(_char, cells)) + attributes


def r_numbers(values: Sequence[float], attributes: bytes = b"") -> bytes:
    doubles = b"".join(struct.pack(">d", value) for value in values)
    return (
        _int(14 | 0x200 * bool(attributes) | 0x100 * (b"class" in attributes))
        + _int(len(values))
        + doubles
        + attributes
    )


def r_integers(values: Sequence[int], attributes: bytes = b"", kind: int = 13) -> bytes:
    whole = b"".join(map(_int, values))
    return (
        _int(kind | 0x200 * bool(attributes) | 0x100 * (b"class" in attributes))
        + _int(len(values))
        + whole
        + attributes
    )


def r_attributes(**values: bytes) -> bytes:
    pairs = (
        _int(0x402) + _int(1) + _char(name.rstrip("_").encode()) + value for name, value in values.items()
    )
    return b"".join(pairs) + _int(254)


def write_frame(columns: Mapping[str, bytes], rows: int, path: Path) -> Path:
    """A data frame of columns that are already in R's form."""
    names = r_texts([name.encode() for name in columns])
    numbers = _int(13) + _int(2) + _int(-(2**31)) + _int(-rows)
    about = {"names": names, "class_": r_texts([b"data.frame"])}
    pairs = r_attributes(**about)[: -len(_int(254))]
    row_names = _int(0x402) + _int(1) + _char(b"row.names") + numbers + _int(254)
    frame = _int(19 | 0x300) + _int(len(columns)) + b"".join(columns.values()) + pairs + row_names
    path.write_bytes(b"X\n" + _int(2) + _int(0x030603) + _int(0x020300) + frame)
    return path


def write_rds(cells: Cells, path: Path) -> Path:
    columns = {
        name: r_texts([None if cell is None else as_bytes(cell).replace(b"\0", b" ") for cell in column])
        for name, column in cells.items()
    }
    return write_frame(columns, len(next(iter(cells.values()))), path)
