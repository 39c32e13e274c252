"""How a file is written: encoding, separator, decimal mark, thousands mark, line breaks inside quotes, sheet.

All of it is declared, public and fixed before a row is read. Nothing of it is guessed from rows when data is read for a
release; ``dpcausal schema`` may look at rows and propose it, in a draft.

**Encodings.** A text file is read as UTF-8. A cell that is not valid UTF-8 is read as Windows-1252, which is Latin-1
with some signs more: that rule looks at one cell and is the same for every file. Another declared encoding replaces
both. It must have one byte a character and leave ASCII as it is, so that every byte means something by itself: no byte
raises, and none can take its neighbour, a separator or a line end, into its character. A byte to which the encoding
gives no character becomes the control character of its number.

**Guarantee.** What a cell becomes depends on its own bytes and on what is declared. No byte raises.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from dpcausal.core.errors import did_you_mean
from dpcausal.data.columns import DeclarationError, require

__all__ = ["FileFormat", "NumberMarks"]

DELIMITERS = (",", ";", "\t", "|")
DECIMAL_MARKS = (".", ",")
THOUSANDS_MARKS = (".", ",", " ", "'")
FALLBACK = "windows-1252"  # what a cell that is not UTF-8 is read as, unless an encoding is declared
_UTF8_NAMES = ("utf-8", "utf-8-sig", "ascii")
_SUGGESTED = ("utf-8", "latin-1", "windows-1252", "iso-8859-15", "iso-8859-2", "windows-1250", "cp850")


@dataclass(frozen=True)
class NumberMarks:
    """How numbers are written as text: the mark before the fraction, and the one between groups of three digits."""

    decimal: str = "."
    thousands: str = ""


@dataclass(frozen=True)
class FileFormat:
    """How a file is written. Every entry is public.

    Parameters
    ----------
    encoding : str, optional
        Name of an encoding with one byte a character, such as ``"latin-1"`` or ``"windows-1252"``, or ``"utf-8"``.
        Unless given, a cell is UTF-8 or, where it is not valid UTF-8, Windows-1252.
    separator : str, optional
        What separates the cells of a line: ``","``, ``";"``, ``"\\t"`` or ``"|"``. Unless given, the one that finds
        most of the declared names in the header line.
    decimal : str, optional
        The decimal mark of numbers in a delimited text file, ``"."`` or ``","``. A point unless given.
    thousands : str, default ""
        The mark between groups of three digits there: ``","``, ``"."``, ``"'"`` or ``" "`` (also a no-break space).
        Numbers without it are read too.
    quoted_newlines : bool, default False
        Whether a line break inside quotes belongs to its cell in a delimited text file.
    sheet : str, optional
        Name of the sheet of a workbook; the first one unless given.

    Raises
    ------
    SchemaError
        If an entry can't be used, or two contradict each other.

    Examples
    --------
    >>> FileFormat(encoding="latin-1", separator=";", decimal=",").declared()
    {'encoding': 'latin-1', 'separator': ';', 'decimal': ','}
    """

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    thousands: str = ""
    quoted_newlines: bool = False
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.encoding is not None:
            _check_encoding(self.encoding)
        for entry, usual, allowed in (
            ("separator", None, DELIMITERS),
            ("decimal", None, DECIMAL_MARKS),
            ("thousands", "", THOUSANDS_MARKS),
        ):
            value = getattr(self, entry)
            one_of = f"{entry} must be one of {', '.join(map(repr, allowed))}, not {value!r}"
            require(value == usual or value in allowed, entry, one_of)
        two = f"thousands and decimal are both {self.thousands!r}: a number could mean two things"
        require(self.thousands != self.marks.decimal, "thousands", two)
        quoted: Any = self.quoted_newlines
        sheet: Any = self.sheet
        is_truth = isinstance(quoted, bool)
        require(is_truth, "quoted_newlines", f"quoted_newlines must be true or false, not {quoted!r}")
        named = sheet is None or (isinstance(sheet, str) and sheet)
        require(named, "sheet", f"sheet must be the name of a sheet, not {sheet!r}")

    @property
    def marks(self) -> NumberMarks:
        """The decimal mark and the thousands mark of numbers."""
        return NumberMarks(self.decimal or ".", self.thousands)

    def declared(self) -> dict[str, Any]:
        """Return the entries that differ from their defaults, by name."""
        usual = FileFormat.__dataclass_fields__
        return {name: value for name in usual if (value := getattr(self, name)) != usual[name].default}

    def changed(self, **entries: Any) -> FileFormat:
        """Return this format with those of the entries that are not None."""
        given = {name: value for name, value in entries.items() if value is not None}
        return replace(self, **given) if given else self


ENTRIES = tuple(FileFormat.__dataclass_fields__)


def _check_encoding(name: object) -> None:
    """Refuse an unknown encoding."""
    require(isinstance(name, str), "encoding", f"encoding must be the name of an encoding, not {name!r}")
    if not is_utf8(str(name)) and character_table(str(name)) is None:
        hint = did_you_mean(str(name), _SUGGESTED)
        raise DeclarationError(
            "encoding",
            f"encoding {name!r} can't be read{hint}; it must be utf-8 or have one byte a character, such as latin-1, "
            "windows-1252 or cp850; save other files as UTF-8",
        )


def is_utf8(name: str) -> bool:
    """Return whether an encoding is UTF-8, or its part ASCII, by any of its names."""
    try:
        return codecs.lookup(name).name in _UTF8_NAMES
    except (LookupError, ValueError):
        return False


@cache
def character_table(name: str) -> str | None:
    """Return the 256 characters of an encoding, in the order of bytes.

    None where a byte has no meaning by itself, the encoding is not one of text, or it writes ASCII otherwise.

    >>> table = character_table("windows-1252")
    >>> table[0xE4], table[0x80], table[0x81], character_table("utf-16"), character_table("shift_jis")
    ('ä', '€', '\\x81', None, None)
    """
    try:
        if not getattr(codecs.lookup(name), "_is_text_encoding", True):
            return None
        ascii_bytes = bytes(range(128))
        if ascii_bytes.decode(name) != ascii_bytes.decode("ascii"):
            return None
        high = bytes(range(128, 256)).decode(name, "replace")
        alone = "".join(bytes([byte]).decode(name, "replace") for byte in range(128, 256))
    except (LookupError, ValueError, UnicodeError):
        return None
    if len(high) != 128 or high != alone or len(set(high) - {"\ufffd"}) < 64:
        return None
    table = [chr(byte) if text == "\ufffd" else text for byte, text in enumerate(high, 128)]
    return ascii_bytes.decode("ascii") + "".join(table)


def decode_bytes(data: bytes, encoding: str | None = None) -> str:
    """Return bytes as text; it never fails.

    In UTF-8, which None means too, what is not valid is read as Windows-1252, as a whole.

    >>> decode_bytes("männlich".encode()), decode_bytes("männlich".encode("latin-1"))
    ('männlich', 'männlich')
    """
    if encoding is None or is_utf8(encoding):
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            encoding = FALLBACK
    if codecs.lookup(encoding).name == "iso8859-1":
        return data.decode("latin-1")
    table = character_table(encoding)
    assert table is not None  # checked when the format was made
    return codecs.charmap_decode(data, "strict", table)[0]


@cache
def _byte_of_character(name: str) -> dict[str, int]:
    """Return the byte of every character of a one-byte encoding."""
    table = character_table(name) or ""
    return {character: byte for byte, character in reversed(list(enumerate(table)))}


def encode_fallback(text: str) -> bytes | None:
    """Return the bytes, not valid UTF-8, that ``decode_bytes`` reads as ``text``; None where there are none.

    >>> encode_fallback("männlich"), encode_fallback("yes"), encode_fallback("Ł")
    (b'm\\xe4nnlich', None, None)
    """
    places = _byte_of_character(FALLBACK)
    if text.isascii() or not all(character in places for character in text):
        return None
    data = bytes(places[character] for character in text)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    return None


class TranscodedStream:
    """A stream of bytes in an encoding of one byte a character, read as UTF-8."""

    def __init__(self, stream: Any, encoding: str) -> None:
        self._stream, self._encoding = stream, encoding

    def read(self, size: int, /) -> bytes:
        """Return the next ``size`` characters or fewer, encoded in UTF-8."""
        data: bytes = self._stream.read(size)
        return data if data.isascii() else decode_bytes(data, self._encoding).encode()
