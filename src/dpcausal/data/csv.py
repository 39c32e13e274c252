"""CSV files as chunks of undecoded cells, with every row kept.

**What a row is.** RFC 4180: a cell may be quoted, then it may hold the delimiter and line breaks, and a quote in it is
doubled. A quote inside an unquoted cell is an ordinary character. A row with too few cells is filled up with missing
ones and one with too many is cut; neither is dropped or refused. A quote that is never closed runs to the end of the
file: no writer makes that from a value. Lines end with LF, CRLF or CR. A blank line is not a row, except in a file of
one column, where it is a missing value. A byte order mark is one only at the very start of the file; anywhere else it
is a character of its cell.

**Guarantee.** No row is dropped and none raises; the cells of a row depend on that row alone.

**Algorithm.** A block of bytes is cut at its last row end. Where all quotes are at the edges of cells, row ends are the
line ends with an even number of quotes before them, and Arrow parses the block. A block that Arrow can't parse (too few
or too many cells in a row) or with quotes elsewhere is parsed by a regular expression. Both give the same rows. The
numbers of rows with too few or too many cells are counted for ``dpcausal schema``, which the data holder runs on their
own machine; reading reports them to nobody.

**Cost.** O(bytes) time; memory one block, and a row longer than a block makes the block longer.
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

BLOCK_BYTES = 1 << 23  # bytes parsed at a time
MAX_ARROW_BYTES = 1 << 30  # in a longer block, made so by one row, Arrow's 32-bit offsets overflow
DELIMITERS = (",", ";", "\t", "|")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_IS_LINE_END = np.zeros(256, dtype=np.bool_)
_IS_LINE_END[list(b"\r\n")] = True


class ByteStream(Protocol):
    """Anything that bytes can be read from."""

    def read(self, size: int, /) -> bytes: ...


@dataclass
class RaggedRows:
    """Numbers of rows with fewer or more cells than the header. They depend on rows and are never released."""

    fewer: int = 0
    more: int = 0


def split_row(row: bytes, delimiter: str) -> list[bytes]:
    """Return the cells of one row."""
    rows = list(_rows(row, delimiter))
    return rows[0] if rows else []


def parse_header(text: bytes, wanted: Sequence[str]) -> tuple[list[str], str]:
    """Return the column names of a header row, and the delimiter that finds most of the ``wanted`` names in it."""
    best: tuple[list[str], str] = ([], ",")
    most = -1
    for delimiter in DELIMITERS:
        names = [cell.decode(errors="replace") for cell in split_row(text, delimiter)]
        names = [name if name in wanted else name.strip() for name in names]
        found = len(set(names) & set(wanted)) if wanted else len(names)
        if found > most:
            best, most = (names, delimiter), found
    return best


def read_header_row(stream: ByteStream, size: int = 1 << 16) -> tuple[bytes, bytes]:
    """Return the header row, and what was read after it; skip one byte order mark, then blank lines."""
    data = b""
    while len(data) < len(BYTE_ORDER_MARK) and (piece := stream.read(size)):
        data += piece
    data = data.removeprefix(BYTE_ORDER_MARK).lstrip(b"\r\n")
    while not (end := _row_end(data, first=True)):
        if not (piece := stream.read(size)):
            return data, b""
        data = (data + piece).lstrip(b"\r\n")
    return data[:end], data[end:]


def _cell_pattern(delimiter: str) -> re.Pattern[bytes]:
    mark = re.escape(delimiter.encode())
    plain = rb"[^" + mark + rb"\r\n]*+"
    return re.compile(
        rb'(?:"(?P<quoted>(?:[^"]++|"")*+)"?(?P<rest>' + plain + rb")|(?P<plain>" + plain + rb"))"
        rb"(?P<end>" + mark + rb"|\r\n|\n|\r|\Z)"
    )


_CELL_PATTERNS = {delimiter: _cell_pattern(delimiter) for delimiter in DELIMITERS}


def _rows(data: bytes, delimiter: str) -> Iterator[list[bytes]]:
    """Yield every row, a blank line as no cells; what follows the last line end is a row unless it is empty."""
    mark = delimiter.encode()
    row: list[bytes] = []
    for match in _CELL_PATTERNS[delimiter].finditer(data):
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
    stream: ByteStream,
    rest: bytes,
    width: int,
    places: Sequence[int],
    delimiter: str,
    ragged: RaggedRows | None = None,
) -> Iterator[list[pa.Array]]:
    """Yield the cells at ``places`` of every row after the header, as arrays of bytes, block by block.

    Parameters
    ----------
    stream, rest
        What follows the header row: first ``rest``, then what ``stream`` still holds.
    width
        Number of cells of the header row.
    places
        Positions of the wanted cells in a row.
    delimiter
        One of ``DELIMITERS``.
    ragged
        Its counts grow as rows with too few or too many cells are met.
    """
    size, data, ended = BLOCK_BYTES, rest, False
    while not ended:
        piece = stream.read(size)
        ended = not piece
        data += piece
        if not ended and len(data) < size:
            continue
        regular, end = _find_cut(data, delimiter, ended)
        if end == 0 and not ended:
            size *= 2  # a row longer than the block
            continue
        size = BLOCK_BYTES
        block, data = data[:end], data[end:]
        if block:
            yield _parse(block, width, places, delimiter, regular, ragged)


def _find_cut(data: bytes, delimiter: str, ended: bool) -> tuple[bool, int]:
    """Return whether all quotes are at the edges of cells, and where the last whole row ends (0: nowhere)."""
    quotes = (
        np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 34) if b'"' in data else np.empty(0, np.intp)
    )
    regular = _quotes_at_edges(data, quotes, delimiter)
    if ended:
        return regular and len(quotes) % 2 == 0, len(data)
    if not regular:
        return False, _row_end(data, delimiter)
    end = _last_line_end(data, len(data))
    while (inside := int(np.searchsorted(quotes, end))) % 2:
        end = _last_line_end(data, int(quotes[inside - 1]))  # it lies in a quoted cell: look before that cell
    return True, end


def _row_end(data: bytes, delimiter: str = ",", *, first: bool = False) -> int:
    """Return where the last (or first) whole row ends, just after its line end; 0 where none does.

    Data that stops at CR or in a quoted cell may go on, so the very end is no row end.
    """
    best = 0
    for match in _CELL_PATTERNS[delimiter].finditer(data):
        if match.end() >= len(data):
            break
        if match["end"] in (b"\n", b"\r\n", b"\r"):
            best = match.end()
            if first:
                break
    return best


def _last_line_end(data: bytes, before: int) -> int:
    """Return the place just after the last line end that is complete before ``before``; 0 where there is none."""
    line = data.rfind(b"\n", 0, before)
    if line < 0:
        line = data.rfind(b"\r", 0, min(before, len(data) - 1))  # CR as the last byte may be half of CRLF
    return line + 1


def _quotes_at_edges(data: bytes, quotes: NDArray[np.intp], delimiter: str) -> bool:
    """Return whether every quote opens a cell, closes one or is half of a doubled one."""
    if len(quotes) == 0:
        return True
    cells = np.frombuffer(data, dtype=np.uint8)
    edge = _IS_LINE_END.copy()
    edge[[ord(delimiter), 34]] = True
    before, after = quotes[0::2] - 1, quotes[1::2] + 1
    return bool(edge[cells[before[before >= 0]]].all() and edge[cells[after[after < len(cells)]]].all())


def _parse(
    block: bytes,
    width: int,
    places: Sequence[int],
    delimiter: str,
    regular: bool,
    ragged: RaggedRows | None = None,
) -> list[pa.Array]:
    names = [str(place) for place in range(width)]
    wanted = [names[place] for place in places]
    if regular and wanted and len(block) < MAX_ARROW_BYTES:
        # to Arrow a block is a file of its own, and it takes one mark off the start: give it one to take
        whole = BYTE_ORDER_MARK + block if block.startswith(BYTE_ORDER_MARK) else block
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
    type_ = pa.binary() if len(block) < MAX_ARROW_BYTES else pa.large_binary()
    return [pa.array([row[place] if place < len(row) else b"" for row in rows], type_) for place in places]
