"""Files with line breaks inside quotes, declared; what is the same without the declaration; the header."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pyarrow as pa
import pytest

import dpcausal as dc
from dpcausal.data import csv as delimited

MARK = delimited.BYTE_ORDER_MARK


def rows(body: bytes, width: int = 2, delimiter: str = ",") -> list[list[bytes]]:
    columns: list[list[bytes]] = [[] for _ in range(width)]
    layout = delimited.Layout(width, delimiter, quoted_newlines=True)
    for arrays in delimited.chunks(io.BytesIO(body), b"", layout, range(width)):
        for column, array in zip(columns, arrays, strict=True):
            column.extend(array.to_pylist())
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("block", [1, 2, 3, 5, 1 << 20])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"1,2\n3,4\n", [[b"1", b"2"], [b"3", b"4"]]),
        (b"1,2\r\n3,4", [[b"1", b"2"], [b"3", b"4"]]),
        (b"1,2\r3,4\r", [[b"1", b"2"], [b"3", b"4"]]),
        (b"1\n3,4,5\n,\n", [[b"1", b""], [b"3", b"4"], [b"", b""]]),
        (b"1,2\n\n\r\n3,4\n\n\n", [[b"1", b"2"], [b"3", b"4"]]),
        (b'"a,b","c ""d"""\n', [[b"a,b", b'c "d"']]),
        (b'"two\nlines",2\n3,4\n', [[b"two\nlines", b"2"], [b"3", b"4"]]),
        (b'5" pipe,2\n3,4"\n', [[b'5" pipe', b"2"], [b"3", b'4"']]),
        (b'5" x,1\n"a\nb",2\n7,8\n', [[b'5" x', b"1"], [b"a\nb", b"2"], [b"7", b"8"]]),
        (b'"x"y,2\n3,"4\n', [[b"xy", b"2"], [b"3", b"4\n"]]),
        (b'""\n" ",\xff\x00\n', [[b"", b""], [b" ", b"\xff\x00"]]),
        (b"", []),
        (b"\n\n", []),
        (MARK + b"1,2\n" + MARK + b"3,4\n", [[MARK + b"1", b"2"], [MARK + b"3", b"4"]]),
        (MARK + b"1,2\n3,4,5\n", [[MARK + b"1", b"2"], [b"3", b"4"]]),
        (MARK + MARK + b",\n" + MARK + b"\n3,4\n", [[MARK + MARK, b""], [MARK, b""], [b"3", b"4"]]),
        (MARK + b'"1",2\n\xef,\xbb\n', [[MARK + b'"1"', b"2"], [b"\xef", b"\xbb"]]),
    ],
)
def test_every_row_is_kept(
    monkeypatch: pytest.MonkeyPatch, block: int, body: bytes, expected: list[list[bytes]]
) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", block)
    assert rows(body) == expected


def test_blocks_that_arrow_can_t_count_are_read_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Made so by one row of a gigabyte, so it must not show; here every block counts as one."""
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\nyes,1\n"no",0.5\nyes\n1,2,3\n')
    schema = dc.Schema(a=dc.Categorical(["no", "yes"]), b=dc.Numeric(0, 1, bins=[0.75]))
    usual = dc.read(path, schema)
    monkeypatch.setattr(delimited, "MAX_ARROW_BYTES", 1)
    (found,) = delimited.chunks(io.BytesIO(b"1,2\n3,4\n"), b"", delimited.Layout(2, ","), [0, 1])
    assert [column.type for column in found] == [pa.large_binary()] * 2
    assert [column.to_pylist() for column in found] == [[b"1", b"3"], [b"2", b"4"]]
    long = dc.read(path, schema)
    for name in schema:
        assert long.codes[name].tolist() == usual.codes[name].tolist()


def test_a_blank_line_is_a_missing_value_where_there_is_one_column() -> None:
    assert rows(b"1\n\n2\n\n", width=1) == [[b"1"], [b""], [b"2"], [b""]]


def test_python_s_own_writer_is_read_back() -> None:
    cells = [["a", 'b"c'], ["x\ny", "1,2"], ["", "\r"], ['"', '""'], [" s ", "é"]]
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        for delimiter in delimited.DELIMITERS:
            text = io.StringIO()
            csv.writer(text, quoting=quoting, delimiter=delimiter).writerows(cells)
            expected = [[cell.encode() for cell in row] for row in cells]
            assert rows(text.getvalue().encode(), delimiter=delimiter) == expected


def test_the_delimiter_is_found_in_the_header_alone() -> None:
    assert delimited.parse_header(b'a;"b, c";d\n', ["a", "d"]) == (["a", "b, c", "d"], ";")
    assert delimited.parse_header(b"a\tb", ["a", "b"]) == (["a", "b"], "\t")
    assert delimited.parse_header(b"a, b ,c\r\n", ["b"]) == (["a", "b", "c"], ",")
    assert delimited.parse_header(b"a, b", [" b"]) == (["a", " b"], ",")
    assert delimited.parse_header(b"a|b;c", []) == (["a|b", "c"], ";")


def test_the_header_is_split_from_what_follows() -> None:
    for size in (1, 2, 7, 100):
        body = b'\xef\xbb\xbf\r\n"a\nb",c\r\n1,2\r\n'
        for quoted_newlines, expected, following, line in (
            (True, b'"a\nb",c\r\n', b"1,2\r\n", 4),
            (False, b'"a\n', b'b",c\r\n1,2\r\n', 3),
        ):
            stream = io.BytesIO(body)
            top, rest, number = delimited.read_header_row(stream, size, quoted_newlines=quoted_newlines)
            assert top == expected
            assert rest + stream.read() == following
            assert number == line


def test_one_byte_order_mark_is_skipped_and_only_at_the_very_start() -> None:
    for size in (1, 2, 3, 7, 100):
        for body, expected in (
            (MARK + MARK + b"a,b\n1,2\n", MARK + b"a,b\n"),
            (MARK + b"\n" + MARK + b"a,b\n1,2\n", MARK + b"a,b\n"),
            (b"\n" + MARK + b"a,b\n1,2\n", MARK + b"a,b\n"),
        ):
            stream = io.BytesIO(body)
            top, rest, _ = delimited.read_header_row(stream, size)
            assert top == expected
            assert rest + stream.read() == b"1,2\n"


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("body", "row", "end"),
    [
        (b"a,b\n1,2\n", b"a,b\n", b"\n"),
        (b"a,b\r\n1,2\r\n", b"a,b\r\n", b"\n"),
        (b"a,b\r\r\n1,2\r\r\n", b"a,b\r\r\n", b"\n"),
        (b"a,b\r1,2\r", b"a,b\r", b"\r"),
        (b"a,b", b"a,b", b"\n"),
        (b"a,b\r", b"a,b\r", b"\r"),
    ],
)
def test_the_header_says_how_lines_end(size: int, body: bytes, row: bytes, end: bytes) -> None:
    header = delimited.read_header_row(io.BytesIO(body), size)
    assert header.row == row
    assert header.line_end == end
