"""CSV files as chunks of undecoded cells, without dropping a row.

**What a row is.** A line is a row. Within a line RFC 4180 applies: a cell may be quoted, then it may hold the
delimiter, and a quote in it is doubled. A quote inside an unquoted cell is an ordinary character, and so is one that
is not closed on its line. A row with too few cells is filled up with missing ones and one with too many is cut; neither
is dropped or refused. A blank line is not a row, except in a file of one column, where it is a missing value. A byte
order mark is one only at the very start of the file; anywhere else it is a character of its cell. Lines end as the
header does, which is public: with LF or CRLF, or with CR alone.

**Line breaks inside quotes** belong to a cell only where the user declares it (``quoted_newlines``). Then a row ends at
LF, CRLF or CR outside quotes, and a quote that is never closed runs on to the end of the file: the declaration says
that the program which wrote the file closes every quote and doubles those inside a cell, whatever the cell holds.

**Guarantee.** No row is dropped and none raises. The cells of a line depend on that line alone; with
``quoted_newlines``, the cells of a row depend on that row alone if the file is written as declared.

**Algorithm.** A block of bytes is cut at its last line end. Lines whose quotes are all at the edges of cells and closed
are parsed by Arrow, all at once; each other line, and each with too few or too many cells, by a regular expression.
Both give the same cells. With ``quoted_newlines`` it is the whole block that takes one way or the other. What is
unusual about lines is counted for ``dpcausal schema``, which the data holder runs on their own machine; reading reports
it to nobody.

**Cost.** O(bytes) time; memory one block, and a row longer than a block makes the block longer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from dpcausal.data.file_format import DELIMITERS, decode_bytes

BLOCK_BYTES = 1 << 23  # bytes parsed at a time
MAX_ARROW_BYTES = 1 << 30  # in a longer block, made so by one row, Arrow's 32-bit offsets overflow
MAX_LINES_LISTED = 5  # line numbers that are remembered
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_IS_LINE_END = np.zeros(256, dtype=np.bool_)
_IS_LINE_END[list(b"\r\n")] = True
_HEADER_END = re.compile(rb"\r*+\n|\r(?=\r*+[^\r\n])")

Places = NDArray[np.intp]


class ByteStream(Protocol):
    """Anything that bytes can be read from."""

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes; none at the end."""


class Layout(NamedTuple):
    """Width, delimiter and line ends of the rows, from the header and the schema: public."""

    width: int  # cells of the header row
    delimiter: str  # one of ``DELIMITERS``
    line_end: bytes = b"\n"  # or CR; LF means CRLF too
    quoted_newlines: bool = False  # whether a line break inside quotes belongs to its cell


@dataclass
class RaggedRows:
    """Numbers of unusual rows and lines. They depend on rows and are never released."""

    fewer: int = 0  # rows with fewer cells than the header
    more: int = 0  # rows with more
    unclosed: int = 0  # lines with a quote that is not closed
    unclosed_lines: list[int] = field(default_factory=list)  # numbers of the first of these, from 1
    breaks: int = 0  # line breaks inside quotes, where they are declared

    def add(self, cells: int, width: int) -> None:
        """Count one row with ``cells`` cells, where ``width`` are declared."""
        self.fewer += 0 < cells < width
        self.more += cells > width

    def add_unclosed(self, number: int) -> None:
        """Count one line with a quote that is not closed."""
        self.unclosed += 1
        if len(self.unclosed_lines) < MAX_LINES_LISTED:
            self.unclosed_lines.append(number)


# ---- the header


class Header(NamedTuple):
    """The header row, what was read after it, and the number of the next line."""

    row: bytes
    rest: bytes
    next_line: int

    @property
    def line_end(self) -> bytes:
        """The byte that ends every line of the file."""
        return b"\r" if self.row.endswith(b"\r") else b"\n"


def read_header_row(stream: ByteStream, size: int = 1 << 16, *, quoted_newlines: bool = False) -> Header:
    """Return the header row; skip one byte order mark, then blank lines."""
    data = b""
    while len(data) < len(BYTE_ORDER_MARK) and (piece := stream.read(size)):
        data += piece
    data = data.removeprefix(BYTE_ORDER_MARK)
    skipped = b""
    while True:
        blank = len(data) - len(data.lstrip(b"\r\n"))
        skipped, data = skipped + data[:blank], data[blank:]
        end = _row_end(data, first=True) if quoted_newlines else _line_end(data)
        piece = b"" if end else stream.read(size)
        if not piece:
            row = data[: end or len(data)]
            return Header(row, data[len(row) :], 1 + _line_breaks(skipped + row))
        data += piece


def _line_end(data: bytes) -> int:
    """Return the offset after the first line end; 0 where the line may continue."""
    found = _HEADER_END.search(data)
    return found.end() if found else 0


def _line_breaks(text: bytes) -> int:
    """Count line breaks."""
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")


def split_row(row: bytes, delimiter: str, *, quoted_newlines: bool = False) -> list[bytes]:
    """Return the cells of one row."""
    if not quoted_newlines:
        return _split_line(row.rstrip(b"\r\n"), delimiter)[0]
    rows = list(_rows(row, delimiter))
    return rows[0] if rows else []


def parse_header(
    text: bytes, wanted: Sequence[str], *, separator: str | None = None, quoted_newlines: bool = False
) -> tuple[list[str], str]:
    """Return the column names of a header row, and the delimiter: the one declared by ``separator``.

    Unless one is declared, it is the one that finds most of the ``wanted`` names in the header. A header that is not
    UTF-8 is read as Windows-1252, as cells are.
    """
    best: tuple[list[str], str] = ([], ",")
    most = -1
    header = decode_bytes(text).encode()
    for delimiter in DELIMITERS if separator is None else (separator,):
        cells = split_row(header, delimiter, quoted_newlines=quoted_newlines)
        names = [cell.decode(errors="replace") for cell in cells]
        names = [name if name in wanted else name.strip() for name in names]
        found = len(set(names) & set(wanted)) if wanted else len(names)
        if found > most:
            best, most = (names, delimiter), found
    return best


# ---- the rows


def chunks(
    stream: ByteStream,
    rest: bytes,
    layout: Layout,
    places: Sequence[int],
    ragged: RaggedRows | None = None,
    next_line: int = 2,
) -> Iterator[list[pa.Array]]:
    """Yield the cells at ``places`` of every row after the header, as arrays of bytes, block by block.

    The rows are ``rest``, then what ``stream`` still holds. ``ragged`` counts irregular rows; ``next_line`` is the
    number of the first line after the header.
    """
    size, data, ended = BLOCK_BYTES, rest, False
    notes = ragged if ragged is not None else RaggedRows()
    while not ended:
        piece = stream.read(size)
        ended = not piece
        data += piece
        if not ended and len(data) < size:
            continue
        if layout.quoted_newlines:
            regular, end = _find_cut(data, layout.delimiter, ended)
        else:
            regular, end = True, len(data) if ended else data.rfind(layout.line_end) + 1
        if end == 0 and not ended:
            size *= 2  # a row longer than the block
            continue
        size = BLOCK_BYTES
        block, data = data[:end], data[end:]
        if block and layout.quoted_newlines:
            yield _parse_quoted(block, layout, places, regular, notes)
        elif block:
            lines = _Lines(block, layout)
            yield _parse_lines(lines, places, notes, next_line)
            next_line += lines.ends


def _by_arrow(block: bytes, layout: Layout, places: Sequence[int]) -> list[pa.Array] | None:
    """Return the cells of a block whose quotes are regular; None where a row has too few or too many cells."""
    names = [str(place) for place in range(layout.width)]
    wanted = [names[place] for place in places]
    if not wanted or len(block) >= MAX_ARROW_BYTES:
        return None
    # to Arrow a block is a file of its own, and it takes one mark off the start: give it one to take
    whole = BYTE_ORDER_MARK + block if block.startswith(BYTE_ORDER_MARK) else block
    try:
        table = csv.read_csv(
            pa.BufferReader(whole),
            csv.ReadOptions(use_threads=False, block_size=len(whole) + 1, column_names=names),
            csv.ParseOptions(
                delimiter=layout.delimiter, newlines_in_values=True, ignore_empty_lines=layout.width > 1
            ),
            csv.ConvertOptions(
                include_columns=wanted,
                column_types={name: pa.binary() for name in wanted},
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [pa.concat_arrays(table.column(name).chunks or [pa.array([], pa.binary())]) for name in wanted]


def _pick(rows: Sequence[list[bytes]], place: int, block: bytes) -> pa.Array:
    """Return one cell of every row as an array; empty where a row is too short."""
    type_ = pa.binary() if len(block) < MAX_ARROW_BYTES else pa.large_binary()
    return pa.array([row[place] if place < len(row) else b"" for row in rows], type_)


def _places_of(byte: bytes, data: bytes) -> Places:
    """Return where a byte occurs."""
    if byte not in data:
        return np.empty(0, np.intp)
    return np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == byte[0])


# ---- a line is a row


def _cell_pattern(delimiter: str, *, spans_lines: bool) -> re.Pattern[bytes]:
    """Return a pattern for one cell, quoted or not: of a line, or of a file in which quotes may span lines."""
    mark = re.escape(delimiter.encode())
    line_end, closed = (rb"\r\n", rb'"?') if spans_lines else (b"", b'"')
    plain = rb"[^" + mark + line_end + rb"]*+"
    ends = rb"|\r\n|\n|\r|\Z" if spans_lines else rb"|\Z"
    return re.compile(
        rb'(?:"(?P<quoted>(?:[^"]++|"")*+)'
        + closed
        + rb"(?P<rest>"
        + plain
        + rb")|(?P<plain>"
        + plain
        + rb"))"
        rb"(?P<end>" + mark + ends + rb")"
    )


_LINE_CELL_PATTERNS = {mark: _cell_pattern(mark, spans_lines=False) for mark in DELIMITERS}
_CELL_PATTERNS = {mark: _cell_pattern(mark, spans_lines=True) for mark in DELIMITERS}


def _split_line(line: bytes, delimiter: str) -> tuple[list[bytes], bool]:
    """Return the cells of a line without its end, and whether a cell begins with a quote that is not closed."""
    if b'"' not in line:
        return line.split(delimiter.encode()), False
    cells: list[bytes] = []
    unclosed = False
    for match in _LINE_CELL_PATTERNS[delimiter].finditer(line):
        quoted = match["quoted"]
        if quoted is None:
            cells.append(match["plain"])
            unclosed = unclosed or cells[-1].startswith(b'"')
        else:
            cells.append(quoted.replace(b'""', b'"') + match["rest"])
        if not match["end"]:
            break
    return cells, unclosed


def _parse_lines(lines: _Lines, places: Sequence[int], ragged: RaggedRows, first_line: int) -> list[pa.Array]:
    """Parse a block line by line where quotes, widths or line ends are irregular; count irregular rows."""
    block, layout = lines.block, lines.layout
    arrays = None if lines.odd.any() else _by_arrow(block, layout, places)
    if arrays is not None:
        return arrays
    lines.mark_ragged()
    odd = np.flatnonzero(lines.odd)
    rows = []
    for number in odd.tolist():
        cells, unclosed = _split_line(lines.text(number), layout.delimiter)
        ragged.add(len(cells), layout.width)
        if unclosed:
            ragged.add_unclosed(first_line + number)
        rows.append(cells)
    arrays = _by_arrow(lines.with_fillers(odd), layout, places)
    if arrays is None:  # a block too long for Arrow
        texts = map(lines.text, np.flatnonzero(lines.is_row).tolist())
        rows = [_split_line(text, layout.delimiter)[0] for text in texts]
        return [_pick(rows, place, block) for place in places]
    mask = pa.array(lines.odd[lines.is_row])
    return [
        pc.replace_with_mask(array, mask, _pick(rows, place, block))
        for array, place in zip(arrays, places, strict=True)
    ]


class _Lines:
    """The lines of a block, and which of them Arrow would not read as one row each.

    Odd are lines with a quote inside an unquoted cell or one that is not closed, and lines that hold the other byte
    that Arrow takes for a line end. Whether a line is odd depends on that line alone.
    """

    def __init__(self, block: bytes, layout: Layout) -> None:
        self.block, self.layout = block, layout
        self._bytes = np.frombuffer(block, dtype=np.uint8)
        ends = _places_of(layout.line_end, block)
        self.ends = len(ends)
        self._starts: Places = np.concatenate([[0], ends + 1])
        if block.endswith(layout.line_end):
            self._starts = self._starts[:-1]
        self._stops: Places = ends if len(ends) == len(self._starts) else np.append(ends, len(block))
        self._quotes = _places_of(b'"', block)
        self._quotes_before = np.searchsorted(self._quotes, self._starts)
        self.odd = self._odd_quotes() | self._stray_line_ends()
        blank = self._starts == self._stops
        if layout.line_end == b"\n":  # of any number of CR
            blank |= (self._stops - self._starts == 1) & (self._bytes[self._starts] == 13)
            for number in np.flatnonzero(self.odd & (self._bytes[self._starts] == 13)).tolist():
                blank[number] = not self.text(number)
        self.is_row = ~blank | (layout.width == 1)
        self.odd &= self.is_row

    def text(self, number: int) -> bytes:
        """Return a line without its end."""
        line = self.block[self._starts[number] : self._stops[number]]
        return line.rstrip(b"\r") if self.layout.line_end == b"\n" else line

    def _odd_quotes(self) -> NDArray[np.bool_]:
        """Return which lines have a quote that is not closed or not at the edge of a cell."""
        if not len(self._quotes):
            return np.zeros(len(self._starts), dtype=np.bool_)
        counts = np.diff(np.append(self._quotes_before, len(self._quotes)))
        odd: NDArray[np.bool_] = counts % 2 == 1
        opening = np.arange(len(self._quotes)) % 2 == 0
        if odd.any():  # else quotes alternate in the whole block as in every line
            opening ^= np.repeat(self._quotes_before % 2 == 1, counts)
        edge = _IS_LINE_END.copy()
        edge[[ord(self.layout.delimiter), 34]] = True
        inside = opening.copy()
        before, after = self._quotes[opening] - 1, self._quotes[~opening] + 1
        inside[opening] = (before >= 0) & ~edge[self._bytes[before]]
        last = len(self._bytes) - 1
        inside[~opening] = (after <= last) & ~edge[self._bytes[np.minimum(after, last)]]
        if inside.any():
            odd[np.searchsorted(self._starts, self._quotes[inside], side="right") - 1] = True
        return odd

    def _stray_line_ends(self) -> NDArray[np.bool_]:
        """Return which lines hold a byte that Arrow reads as a line end."""
        if self.layout.line_end == b"\r":
            stray = _places_of(b"\n", self.block)
        else:
            stray = _places_of(b"\r", self.block)
            last = len(self._bytes) - 1
            stray = stray[(stray == last) | (self._bytes[np.minimum(stray + 1, last)] != 10)]
        odd = np.zeros(len(self._starts), dtype=np.bool_)
        odd[np.searchsorted(self._starts, stray, side="right") - 1] = True
        return odd

    def mark_ragged(self) -> None:
        """Mark lines with too few or too many cells as irregular, too."""
        marks = _places_of(self.layout.delimiter.encode(), self.block)
        line = np.searchsorted(self._starts, marks, side="right") - 1
        inside = (np.searchsorted(self._quotes, marks) - self._quotes_before[line]) % 2 == 1
        cells = np.bincount(line[~inside], minlength=len(self._starts)) + 1
        self.odd |= (cells != self.layout.width) & self.is_row

    def with_fillers(self, numbers: Places) -> bytes:
        """Return the block with these lines replaced by rows of empty cells, which Arrow can read."""
        filler = self.layout.delimiter.encode() * (self.layout.width - 1)
        pieces, done = [], 0
        for start, stop in zip(self._starts[numbers].tolist(), self._stops[numbers].tolist(), strict=True):
            pieces += [self.block[done:start], filler]
            done = stop
        end = self.layout.line_end if done == len(self.block) else b""  # else an empty filler were no row
        return b"".join([*pieces, self.block[done:], end])


# ---- line breaks inside quotes, declared


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


def _find_cut(data: bytes, delimiter: str, ended: bool) -> tuple[bool, int]:
    """Return whether all quotes are at the edges of cells, and where the last whole row ends (0: nowhere)."""
    quotes = _places_of(b'"', data)
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
    """Return the offset after the last complete line end before ``before``; 0 where there is none."""
    line = data.rfind(b"\n", 0, before)
    if line < 0:
        line = data.rfind(b"\r", 0, min(before, len(data) - 1))  # CR as the last byte may be half of CRLF
    return line + 1


def _quotes_at_edges(data: bytes, quotes: Places, delimiter: str) -> bool:
    """Return whether every quote opens a cell, closes one or is half of a doubled one."""
    if len(quotes) == 0:
        return True
    cells = np.frombuffer(data, dtype=np.uint8)
    edge = _IS_LINE_END.copy()
    edge[[ord(delimiter), 34]] = True
    before, after = quotes[0::2] - 1, quotes[1::2] + 1
    return bool(edge[cells[before[before >= 0]]].all() and edge[cells[after[after < len(cells)]]].all())


def _parse_quoted(
    block: bytes, layout: Layout, places: Sequence[int], regular: bool, ragged: RaggedRows
) -> list[pa.Array]:
    """Parse a block in which quoted cells may hold line breaks."""
    arrays = _by_arrow(block, layout, places) if regular else None
    if b'"' in block:
        ragged.breaks += _breaks_in_cells(block, layout.delimiter, regular)
    if arrays is not None:
        return arrays
    rows = [row for row in _rows(block, layout.delimiter) if row or layout.width == 1]
    for row in rows:
        ragged.add(len(row), layout.width)
    return [_pick(rows, place, block) for place in places]


def _breaks_in_cells(block: bytes, delimiter: str, regular: bool) -> int:
    """Return the number of line breaks inside quotes."""
    if not regular:
        return sum(
            _line_breaks(match["quoted"] or b"") for match in _CELL_PATTERNS[delimiter].finditer(block)
        )
    cells = np.frombuffer(block, dtype=np.uint8)
    breaks = np.flatnonzero(_IS_LINE_END[cells])
    breaks = breaks[(cells[breaks] == 10) | (cells[np.minimum(breaks + 1, len(cells) - 1)] != 10)]
    return int(np.sum(np.searchsorted(_places_of(b'"', block), breaks) % 2))
