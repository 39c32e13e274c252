"""Profiles of columns: what one pass over the rows shows, for a draft of a schema and for the check of one.

**Not private.** A profile holds texts, counts and ranges read from rows without noise. It is for the data holder's own
machine and no release may depend on it.

A ``ColumnProfile`` tells levels from numbers and finds what may mean a missing value. An ``IdentifierProfile`` tells
whether a column looks like an identifier, by its name (``id``, ``patient_id``, ``SubjectID``, ``mrn``) or because most
of its texts differ, and how often its values repeat: a repeated identifier may mean several rows for one person, and
the guarantee is for one row.

Cost: one pass; memory one chunk and, for each column, what ``ProfileLimits`` allows.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpcausal.core.progress import shown
from dpcausal.data import arrow
from dpcausal.data.coding import parse_numbers
from dpcausal.data.columns import FALSE_SPELLINGS, TRUE_SPELLINGS
from dpcausal.data.file_format import THOUSANDS_MARKS, FileFormat, NumberMarks, character_table, decode_bytes
from dpcausal.data.findings import Finding, Recognised, RepeatedIdentifier
from dpcausal.data.name_hints import is_identifier_name
from dpcausal.data.sources import Chunk, Source


@dataclass(frozen=True)
class ProfileLimits:
    """Limits on what is remembered of a column, and thresholds for identifiers."""

    max_counted_texts: int = 1000  # distinct texts that are counted
    max_sampled_numbers: int = 100_000  # numbers sampled, for quantiles
    max_listed_texts: int = 5  # texts listed as the most frequent ones
    max_text_length: int = 30  # characters shown of one text
    max_identifier_cells: int = 1 << 20  # cells of a possible identifier that are remembered
    min_identifier_values: int = 20  # distinct values of an identifier: fewer are a ward or a site
    min_identifier_numbers: int = 100  # the same, of whole numbers in a column that is not named like one
    max_odd_texts: int = 200  # distinct texts that are not UTF-8 and remembered, to guess their encoding
    min_named_share: float = 0.05  # distinct values per cell of a column that is named like an identifier
    min_unnamed_share: float = 0.5  # distinct values per cell of a column of any other name


LIMITS = ProfileLimits()
TRUTH_TEXTS = [text.encode() for text in (*TRUE_SPELLINGS, *FALSE_SPELLINGS)]


# ---- how missing values are usually written

MISSING_TEXTS = (b"", b"NA", b"N/A", b"n/a", b"NaN", b"nan", b"null", b"NULL", b"None", b"<NA>")
MISSING_CODES = (-9999, -999, -99, -9, -1, 99, 999, 9999, 99999)


def present_cells(array: pa.Array) -> pa.Array:
    """Return the cells that are not missing, as trimmed text in bytes."""
    return text_cells(array).drop_null()


def text_cells(array: pa.Array) -> pa.Array:
    """Return the cells as trimmed text in bytes, null where they are missing."""
    cells = _trimmed_text(arrow.unwrap(array))
    missing = pc.is_in(cells, value_set=pa.array(MISSING_TEXTS, cells.type))
    return pc.if_else(missing, None, cells)


def _trimmed_text(array: pa.Array) -> pa.Array:
    """Return the cells as trimmed text in bytes, whatever their type."""
    if arrow.value_kind(array.type) == "null":
        return pa.nulls(len(array), pa.binary())
    if arrow.kind_of(array.type) == "dictionary":
        array = array.dictionary_decode()
    kind = arrow.kind_of(array.type)
    if kind == "text":
        return arrow.trim(arrow.as_bytes(array))
    if kind in ("time", "decimal"):
        return arrow.to_text(array)
    if kind == "float":
        array = pc.if_else(pa.array(np.isnan(arrow.to_numpy(array))), None, array)
        if array.type == pa.float16():
            array = array.cast(pa.float32())
    return array.cast(pa.string()).cast(pa.binary())


# ---- how a file is written, as its rows look

_WHOLE = r"[+-]?[0-9]+"
_PATTERNS = {  # numbers that can be read in one way only
    "comma": rf"^{_WHOLE},([0-9]{{1,2}}|[0-9]{{4,}})$|^[+-]?0,[0-9]+$|^[+-]?[0-9]{{1,3}}([. '][0-9]{{3}})+,[0-9]+$",
    "point": rf"^{_WHOLE}\.([0-9]{{1,2}}|[0-9]{{4,}})$|^[+-]?0\.[0-9]+$|^[+-]?[0-9]{{1,3}}([, '][0-9]{{3}})+\.[0-9]+$",
}
_GROUPED = {
    mark: rf"^[+-]?[1-9][0-9]{{0,2}}({re.escape(mark)}[0-9]{{3}})+([.,][0-9]*)?$" for mark in THOUSANDS_MARKS
}
_GUESSES = ("windows-1252", "cp850", "mac-roman", "iso-8859-2")


class Writing:
    """How the cells of a file look: decimal commas, thousands marks, bytes that are not UTF-8."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys((*_PATTERNS, *_GROUPED), 0)
        self.not_utf8 = 0
        self.odd_texts: set[bytes] = set()

    def add(self, cells: pa.Array) -> None:
        """Observe more cells of text: how they write numbers, and whether they are UTF-8."""
        self.add_numbers(cells)
        self.add_encoding(cells)

    def add_numbers(self, cells: pa.Array) -> None:
        """Count the ways in which cells write numbers."""
        for name, pattern in (_PATTERNS | _GROUPED).items():
            self.counts[name] += _count_true(pc.match_substring_regex(cells, pattern))

    def add_encoding(self, cells: pa.Array) -> None:
        """Count cells that are not UTF-8."""
        odd = ~arrow.is_utf8(cells)
        if odd.any():
            self.not_utf8 += int(odd.sum())
            if len(self.odd_texts) < LIMITS.max_odd_texts:
                self.odd_texts.update(
                    cells.filter(pa.array(odd)).unique().slice(0, LIMITS.max_odd_texts).to_pylist()
                )

    def recognised(self, declared: FileFormat) -> FileFormat:
        """Return the file format: as declared, and guessed from cells where nothing is declared.

        >>> writing = Writing()
        >>> writing.add(pa.array([b"1.234,5", b"0,3", b"m\\xe4nnlich"]))
        >>> writing.recognised(FileFormat()).declared()
        {'encoding': 'windows-1252', 'decimal': ',', 'thousands': '.'}
        """
        found = declared
        if declared.encoding is None and self.not_utf8:
            found = found.changed(encoding=guess_encoding(self.odd_texts))
        if (
            declared.marks.decimal == "."
            and declared.thousands != ","
            and self.counts["comma"] > self.counts["point"]
        ):
            found = found.changed(decimal=",", thousands="" if found.thousands == "," else None)
        if not declared.thousands:
            marks = [mark for mark in THOUSANDS_MARKS if mark != found.marks.decimal and self.counts[mark]]
            found = found.changed(thousands=max(marks, key=self.counts.__getitem__, default=None))
        return found


def format_notes(writing: Writing, declared: FileFormat, found: FileFormat) -> list[Finding]:
    """Return a note for every entry of the format that was guessed from cells."""
    cells = {"encoding": writing.not_utf8, "decimal": writing.counts["comma"]}
    cells["thousands"] = writing.counts.get(found.thousands, 0)
    entries: tuple[Literal["encoding", "decimal", "thousands"], ...] = ("encoding", "decimal", "thousands")
    return [
        Recognised(entry, cells[entry], str(getattr(found, entry)))
        for entry in entries
        if getattr(found, entry) != getattr(declared, entry)
    ]


def guess_encoding(texts: Iterable[bytes]) -> str:
    """Return the encoding in which most bytes beyond ASCII are letters inside words; usual encodings first.

    >>> [guess_encoding(["männlich größe".encode(name)]) for name in ("latin-1", "cp850", "mac-roman")]
    ['windows-1252', 'cp850', 'mac-roman']
    """
    high = Counter(byte for text in texts for byte in text if byte >= 128)

    def fit(name: str) -> float:
        table = character_table(name) or ""
        return sum(count * _likelihood(table[byte]) for byte, count in high.items())

    return max(_GUESSES, key=fit)


def _likelihood(character: str) -> float:
    """Return a score of how usual a character is in Western European text; accented small letters score highest."""
    if "à" <= character <= "ÿ" and character != "÷":
        return 1.0
    if character in "ßÄÖÜÉÈÀÇ€–’°µ²³":
        return 0.9
    return 0.5 if character.isalpha() else 0.0


# ---- one pass over the rows


def chunks_with_progress(source: Source, columns: Sequence[str], progress: bool) -> Iterator[Chunk]:
    """Yield the chunks of a source; the bar follows its rows where their number is known, else the part read."""
    ticked = rows = 0.0
    with shown(f"looking at {source.label}", 1.0, progress) as tick:
        for chunk in source.chunks(columns):
            yield chunk
            rows += len(next(iter(chunk.values())))
            done = rows / source.rows if source.rows else source.fraction_read
            tick(done - ticked)
            ticked = done


class TextCounts:
    """Counts of texts; only the first ``max_counted_texts`` distinct ones are counted."""

    def __init__(self) -> None:
        self.total = 0
        self.counts: Counter[bytes] = Counter()

    def add(self, cells: pa.Array) -> None:
        """Count the texts of an array of bytes without missing cells."""
        self.total += len(cells)
        texts, counts = cells.value_counts().flatten()
        times = arrow.to_numpy(counts)
        order = np.argsort(-times, kind="stable")[: LIMITS.max_counted_texts]
        for text, count in zip(texts.take(order).to_pylist(), times[order].tolist(), strict=True):
            if text in self.counts or len(self.counts) < LIMITS.max_counted_texts:
                self.counts[text] += count

    def most_common(self) -> list[tuple[str, int]]:
        """Return the most frequent texts, shortened for a person, and their counts."""
        return [(shortened(text), count) for text, count in self.counts.most_common(LIMITS.max_listed_texts)]


def shortened(text: bytes) -> str:
    """Return a text cut to a length that can be shown."""
    whole = decode_bytes(text)
    return whole if len(whole) <= LIMITS.max_text_length else whole[: LIMITS.max_text_length - 1] + "…"


class NumberSample:
    """Every k-th number of a column, k doubling as it gets longer: at most ``max_sampled_numbers``."""

    def __init__(self) -> None:
        self.values: NDArray[np.float64] = np.zeros(0)
        self.step, self._skip = 1, 0  # numbers still to be passed over before the next one is sampled

    def add(self, values: NDArray[np.float64]) -> None:
        """Add numbers to the sample."""
        taken = values[self._skip :: self.step]
        self._skip = (self._skip - len(values)) % self.step
        self.values = np.concatenate([self.values, taken])
        while len(self.values) > LIMITS.max_sampled_numbers:
            odd = len(self.values) % 2
            self.values = self.values[::2]
            self._skip += self.step * odd
            self.step *= 2


class NumbersSeen(NamedTuple):
    """The range of the numbers of a column, a sample of them, and what is likely to mean a missing value."""

    lower: float
    upper: float
    sample: NDArray[np.float64]
    missing_codes: list[tuple[int, int]]  # with the number of cells


_WITH_SEPARATORS = r"^[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?$"
_NEARLY_NUMBER = (
    r"^(<|>|<=|>=|~|\xe2\x89\xa4|\xe2\x89\xa5)? ?[+-]?[0-9]+([.,][0-9]+)* ?%?$"  # also ≤ and ≥, as bytes
)


class ColumnProfile:
    """What a draft needs to know of one column.

    Parameters
    ----------
    max_levels
        Distinct texts that a categorical column may have; one more is remembered, to tell that there are too many.
    marks
        How numbers are written where cells are text.
    writing
        Looks at every cell of text too, where it is given.

    Attributes
    ----------
    rows, missing : int
        Cells, and how many of them are missing.
    texts, numbers : set of bytes
        Distinct texts, and those that are numbers, with thousands separators or without.
    not_numbers : TextCounts
        Cells that are not numbers. Of these, ``nearly_numbers`` look like one (<5, 12%) and ``with_separators`` have
        thousands separators (1,234).
    code_counts : dict
        Cells that hold one of ``MISSING_CODES``.
    has_times, has_truths, all_whole : bool
        Whether there are dates or times, spellings of true and false, and only whole numbers.
    lower, upper : float
        Range of the finite numbers; ``lower_but_codes`` and ``upper_but_codes`` leave ``MISSING_CODES`` out.
    sample : NumberSample
        Of the finite numbers.
    """

    def __init__(
        self, max_levels: int, marks: NumberMarks = NumberMarks(), writing: Writing | None = None
    ) -> None:
        self.max_levels, self._marks, self._writing = max_levels, marks, writing
        self.rows = self.missing = 0
        self.texts: set[bytes] = set()
        self.numbers: set[bytes] = set()
        self.not_numbers = TextCounts()
        self.nearly_numbers = self.with_separators = 0
        self.code_counts = dict.fromkeys(MISSING_CODES, 0)
        self.has_times = self.has_truths = False
        self.all_whole = True
        self.lower, self.upper = math.inf, -math.inf
        self.lower_but_codes, self.upper_but_codes = math.inf, -math.inf
        self.sample = NumberSample()

    @property
    def all_numbers(self) -> bool:
        """Whether every cell that is not missing is a number."""
        return not (self.has_times or self.has_truths or self.not_numbers.total)

    def number_share(self) -> float:
        """Return the share of the cells that are not missing that are numbers or look like one."""
        present = self.rows - self.missing
        if present == 0 or self.has_times:
            return 0.0
        return (present - self.not_numbers.total + self.nearly_numbers) / present

    def add(self, array: pa.Array) -> None:
        """Add the cells of an array to the column's profile: counts, range, texts."""
        array = arrow.unwrap(array)
        self.rows += len(array)
        cells = present_cells(array)
        self.missing += len(array) - len(cells)
        self._remember(self.texts, cells)
        truths = pc.is_in(cells, value_set=pa.array(TRUTH_TEXTS, cells.type))
        self.has_truths = self.has_truths or bool(pc.any(truths).as_py())
        self.has_times = self.has_times or arrow.value_kind(array.type) == "time"
        if self.has_times or len(cells) == 0:
            return
        if self._writing is not None:
            self._writing.add(cells)
        values = parse_numbers(cells, self._marks)
        for code in MISSING_CODES:
            self.code_counts[code] += int((values == code).sum())
        is_text = pa.array(np.isnan(values))
        self._remember(self.numbers, cells.filter(pc.invert(is_text)))
        texts = cells.filter(is_text)
        self.not_numbers.add(texts)
        separated = texts.filter(pc.match_substring_regex(texts, _WITH_SEPARATORS))
        self.nearly_numbers += _count_true(pc.match_substring_regex(texts, _NEARLY_NUMBER))
        self.with_separators += len(separated)
        self._remember(self.numbers, separated)
        hidden = parse_numbers(pc.replace_substring(separated, ",", ""))  # the bounds leave room for them
        self._add_numbers(np.concatenate([values, hidden]))

    def _remember(self, texts: set[bytes], cells: pa.Array) -> None:
        """Add distinct texts to a set, up to one more than ``max_levels``."""
        if len(texts) <= self.max_levels:
            texts.update(cells.unique().slice(0, self.max_levels + 1).to_pylist())

    def _add_numbers(self, values: NDArray[np.float64]) -> None:
        """Update the range and the sample of the numbers."""
        finite = values[np.isfinite(values)]
        if len(finite):
            self.all_whole = self.all_whole and bool((finite == np.rint(finite)).all())
            self.lower, self.upper = min(self.lower, finite.min()), max(self.upper, finite.max())
            self.sample.add(finite)
            plain = finite[~np.isin(finite, MISSING_CODES)]
            if len(plain):
                self.lower_but_codes = min(self.lower_but_codes, plain.min())
                self.upper_but_codes = max(self.upper_but_codes, plain.max())

    def likely_missing_codes(self) -> list[tuple[int, int]]:
        """Return (code, cells) of ``MISSING_CODES`` outside the range of all other numbers: they may mean "missing".

        A positive one that follows the others directly (99 after 98) is taken for one of them.
        """
        if not math.isfinite(self.lower_but_codes):
            return []
        return [
            (code, count)
            for code, count in self.code_counts.items()
            if count and (code < self.lower_but_codes or code > self.upper_but_codes + (1 if code > 0 else 0))
        ]

    def numbers_without_codes(self) -> NumbersSeen:
        """Return what was seen of the numbers without likely missing codes, and these codes."""
        codes = self.likely_missing_codes()
        if not codes:
            return NumbersSeen(self.lower, self.upper, self.sample.values, [])
        missing = [code for code, _ in codes]
        inside = [code for code, count in self.code_counts.items() if count and code not in missing]
        values = self.sample.values[~np.isin(self.sample.values, missing)]
        lower, upper = min([self.lower_but_codes, *inside]), max([self.upper_but_codes, *inside])
        return NumbersSeen(lower, upper, values, codes)


def _count_true(mask: pa.Array) -> int:
    """Count the true cells of a mask."""
    return int(pc.sum(mask).as_py() or 0)


def header_looks_like_values(names: Sequence[str], profiles: Mapping[str, ColumnProfile]) -> bool:
    """Return whether at least half of the names look like values: numbers, or texts found in their own column."""
    values = 0
    for name in names:
        column = profiles.get(name)
        try:
            number = float(name)
        except ValueError:
            values += column is not None and name.encode() in column.texts and len(column.texts) > 1
            continue
        values += math.isfinite(number) and (column is None or column.lower <= number <= column.upper)
    return len(names) > 1 and 2 * values >= len(names)


# ---- identifiers


class IdentifierProfile:
    """How often the values of one column repeat, where it looks like an identifier."""

    def __init__(self, name: str) -> None:
        self._named = is_identifier_name(name)
        self._rows = self._missing = 0
        self._cells: list[pa.Array] = []
        self._watching = True

    def add(self, array: pa.Array) -> None:
        """Add cells to the profile, unless the first ones showed that the column is no identifier."""
        if not self._watching or self._rows >= LIMITS.max_identifier_cells:
            return
        cells = present_cells(array)
        self._missing += len(array) - len(cells)
        if (
            not self._cells
            and not self._named
            and not _mostly_distinct_texts(cells)
            and not _numbers_as_keys(cells)
        ):
            self._watching = False
            return
        self._cells.append(cells)
        self._rows += len(cells)

    def all_different(self) -> bool:
        """Return whether all values differ and none is missing, as in an identifier."""
        if not self._watching or not self._cells or self._missing:
            return False
        cells = pa.chunked_array(self._cells)
        if len(cells) < LIMITS.min_identifier_values or len(cells.unique()) < len(cells):
            return False
        fractions = _count_true(
            pc.match_substring_regex(cells, r"^[+-]?[0-9]*[.,][0-9]*[1-9][0-9]*$")
        )  # not 233.0
        enough = self._named or len(cells) >= LIMITS.min_identifier_numbers or not _numbers_as_keys(cells)
        return fractions < len(cells) / 2 and enough

    def repeated_rows(self) -> int:
        """Return how many rows repeat an earlier value; 0 where the column is not like an identifier."""
        if not self._watching or not self._cells:
            return 0
        cells = pa.chunked_array(self._cells)
        if not self._named and not _mostly_distinct_texts(cells):
            return 0
        distinct = len(cells.unique())
        share = LIMITS.min_named_share if self._named else LIMITS.min_unnamed_share
        enough = distinct >= max(LIMITS.min_identifier_values, share * self._rows)
        return self._rows - distinct if enough else 0


def repeated_identifiers(
    profiles: Mapping[str, IdentifierProfile], unit: str | None = None
) -> list[RepeatedIdentifier]:
    """Return the columns that look like an identifier and have repeated values.

    ``unit`` is the column that says whose rows are, where one is declared: its repeats are accounted for.
    """
    repeated = {name: profile.repeated_rows() for name, profile in profiles.items()}
    named = [name for name in profiles if is_identifier_name(name)]
    unique = next((name for name in named if profiles[name].all_different()), None)
    unique = unique if unit is None else unit
    return [
        RepeatedIdentifier(name, rows, unique) for name, rows in repeated.items() if rows and name != unit
    ]


def _numbers_as_keys(cells: pa.Array) -> bool:
    """Return whether cells are unsigned whole numbers, all different, as numbered keys are."""
    if len(cells) < LIMITS.min_identifier_values or len(cells.unique()) < len(cells):
        return False
    return _count_true(pc.match_substring_regex(cells, r"^[0-9]+([.,]0+)?$")) == len(cells)


def _mostly_distinct_texts(cells: pa.Array) -> bool:
    """Return whether most cells differ and look like identifiers: letters, and no spaces."""
    distinct = cells.unique()
    share = LIMITS.min_unnamed_share
    if len(distinct) < LIMITS.min_identifier_values or len(distinct) < share * len(cells):
        return False
    with_letters = _count_true(pc.match_substring_regex(distinct, "[A-Za-z]"))
    with_spaces = _count_true(pc.match_substring(distinct, " "))  # free text
    return with_letters > share * len(distinct) and with_spaces < share * len(distinct)
