"""CSV files as chunks of undecoded cells, every row kept.

What a row is: RFC 4180. A cell may be quoted, then it may hold the delimiter and line breaks, and a quote in it
is doubled. A quote inside an unquoted cell is an ordinary character. A row with too few cells is filled up with
missing ones, one with too many is cut; neither is dropped or refused. A quote that is never closed runs to the
end of the file: no writer makes that from a value. Line ends are LF, CRLF or CR. A blank line is no row, except
in a file of one column, where it is a missing value. A byte order mark is one only at the very start of the file;
anywhere else it is a character of its cell.

How: a block of bytes is cut at its last row end. Where all quotes stand at the edges of cells, row ends are the
line ends with an even number of quotes before them, and Arrow parses the block; a block it can't parse (cells
too few or too many) or with quotes elsewhere goes through a regular expression instead. Both give the same rows.
How many rows had too few or too many is tallied for a look on the holder's own desk (``check.py``, ``draft.py``);
reading tells nobody.
Cost: O(bytes), memory one block (a row longer than a block makes the block longer).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

BLOCK = 1 << 23
SHORT = 1 << 30  # a block from here on, made so by one row, has places that Arrow can't count in 32 bits
DELIMITERS = (",", ";", "\t", "|")
MARK = b"\xef\xbb\xbf"
_ENDS = np.zeros(256, dtype=np.bool_)
_ENDS[list(b"\r\n")] = True


class Bytes(Protocol):
    """Anything to read bytes from."""

    def read(self, size: int, /) -> bytes: ...


@dataclass
class Ragged:
    """How many rows have fewer or more cells than the header. Depends on rows: never for a release."""

    fewer: int = 0
    more: int = 0


def split(row: bytes, delimiter: str) -> list[bytes]:
    """The cells of one row."""
    rows = list(_rows(row, delimiter))
    return rows[0] if rows else []


def header(text: bytes, wanted: Sequence[str]) -> tuple[list[str], str]:
    """Column names of a header row, and the delimiter under which most of the ``wanted`` names are in it."""
    best: tuple[list[str], str] = ([], ",")
    most = -1
    for delimiter in DELIMITERS:
        names = [cell.decode(errors="replace") for cell in split(text, delimiter)]
        names = [name if name in wanted else name.strip() for name in names]
        found = len(set(names) & set(wanted)) if wanted else len(names)
        if found > most:
            best, most = (names, delimiter), found
    return best


def first_row(stream: Bytes, size: int = 1 << 16) -> tuple[bytes, bytes]:
    """The header row, and what was read after it. One byte order mark, then blank lines on top, are skipped."""
    data = b""
    while len(data) < len(MARK) and (piece := stream.read(size)):
        data += piece
    data = data.removeprefix(MARK).lstrip(b"\r\n")
    while not (end := _row_end(data, first=True)):
        if not (piece := stream.read(size)):
            return data, b""
        data = (data + piece).lstrip(b"\r\n")
    return data[:end], data[end:]


def _pattern(delimiter: str) -> re.Pattern[bytes]:
    mark = re.escape(delimiter.encode())
    plain = rb"[^" + mark + rb"\r\n]*+"
    return re.compile(
        rb'(?:"(?P<quoted>(?:[^"]++|"")*+)"?(?P<rest>' + plain + rb")|(?P<plain>" + plain + rb"))"
        rb"(?P<end>" + mark + rb"|\r\n|\n|\r|\Z)"
    )


_CELLS = {delimiter: _pattern(delimiter) for delimiter in DELIMITERS}


def _rows(data: bytes, delimiter: str) -> Iterator[list[bytes]]:
    """Every row, a blank line as no cells; what follows the last line end is a row unless empty."""
    mark = delimiter.encode()
    row: list[bytes] = []
    for match in _CELLS[delimiter].finditer(data):
        quoted, plain = match["quoted"], match["plain"]
        row.append(plain if quoted is None else quoted.replace(b'""', b'"') + match["rest"])
        end = match["end"]
        if end == mark:
            continue
        blank = quoted is None and row == [b""]
        if end or not blank:
            yield [] if blank else row
        row = []
        if not end:
            return


def chunks(
    stream: Bytes,
    rest: bytes,
    width: int,
    places: Sequence[int],
    delimiter: str,
    ragged: Ragged | None = None,
) -> Iterator[list[pa.Array]]:
    """The cells at ``places`` of every row after the header, as arrays of bytes, block by block.

    ``ragged`` is added to as rows are met.
    """
    size, data, ended = BLOCK, rest, False
    while not ended:
        piece = stream.read(size)
        ended = not piece
        data += piece
        if not ended and len(data) < size:
            continue
        regular, end = _cut(data, delimiter, ended)
        if end == 0 and not ended:
            size *= 2  # a row longer than the block
            continue
        size = BLOCK
        block, data = data[:end], data[end:]
        if block:
            yield _parse(block, width, places, delimiter, regular, ragged)


def _cut(data: bytes, delimiter: str, ended: bool) -> tuple[bool, int]:
    """Whether all quotes stand at the edges of cells, and where the last whole row ends (0: nowhere)."""
    quotes = (
        np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 34) if b'"' in data else np.empty(0, np.intp)
    )
    regular = _regular(data, quotes, delimiter)
    if ended:
        return regular and len(quotes) % 2 == 0, len(data)
    if not regular:
        return False, _row_end(data, delimiter)
    end = _last_line_end(data, len(data))
    while (inside := int(np.searchsorted(quotes, end))) % 2:
        end = _last_line_end(data, int(quotes[inside - 1]))  # it lies in a quoted cell: look before that cell
    return True, end


def _row_end(data: bytes, delimiter: str = ",", *, first: bool = False) -> int:
    """Where the last (or first) whole row ends, just after its line end; 0 where none does.

    Data that stops at CR or in a quoted cell may go on, so the very end is no row end.
    """
    best = 0
    for match in _CELLS[delimiter].finditer(data):
        if match.end() >= len(data):
            break
        if match["end"] in (b"\n", b"\r\n", b"\r"):
            best = match.end()
            if first:
                break
    return best


def _last_line_end(data: bytes, before: int) -> int:
    """The place just after the last line end that is complete before ``before``; 0 where there is none."""
    line = data.rfind(b"\n", 0, before)
    if line < 0:
        line = data.rfind(b"\r", 0, min(before, len(data) - 1))  # CR as the last byte may be half of CRLF
    return line + 1


def _regular(data: bytes, quotes: NDArray[np.intp], delimiter: str) -> bool:
    """Whether every quote opens a cell, closes one or is half of a doubled one."""
    if len(quotes) == 0:
        return True
    cells = np.frombuffer(data, dtype=np.uint8)
    edge = _ENDS.copy()
    edge[[ord(delimiter), 34]] = True
    before, after = quotes[0::2] - 1, quotes[1::2] + 1
    return bool(edge[cells[before[before >= 0]]].all() and edge[cells[after[after < len(cells)]]].all())


def _parse(
    block: bytes,
    width: int,
    places: Sequence[int],
    delimiter: str,
    regular: bool,
    ragged: Ragged | None = None,
) -> list[pa.Array]:
    names = [str(place) for place in range(width)]
    wanted = [names[place] for place in places]
    if regular and wanted and len(block) < SHORT:
        # to Arrow a block is a file of its own, and it takes one mark off the start: give it one to take
        whole = MARK + block if block.startswith(MARK) else block
        try:
            table = csv.read_csv(
                pa.BufferReader(whole),
                csv.ReadOptions(use_threads=False, block_size=len(whole) + 1, column_names=names),
                csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=width > 1),
                csv.ConvertOptions(
                    include_columns=wanted,
                    column_types={name: pa.binary() for name in wanted},
                    strings_can_be_null=False,
                    check_utf8=False,
                ),
            )
            return [
                pa.concat_arrays(table.column(name).chunks or [pa.array([], pa.binary())]) for name in wanted
            ]
        except pa.ArrowInvalid:
            pass
    rows = [row for row in _rows(block, delimiter) if row or width == 1]
    if ragged is not None:
        ragged.fewer += sum(0 < len(row) < width for row in rows)
        ragged.more += sum(len(row) > width for row in rows)
    type_ = pa.binary() if len(block) < SHORT else pa.large_binary()
    return [pa.array([row[place] if place < len(row) else b"" for row in rows], type_) for place in places]
