"""What a look at one column shows, for a draft of a schema and for its check. Not private: see ``draft.py``.

Cost: one pass, memory one batch and at most ``KEPT`` distinct texts a column.

Identifiers that repeat, and first lines that are no header: remarks of a draft and a check. Not private: for the
data holder's own desk (``draft.py``), since they depend on rows.

A column looks like an identifier by its name (``id``, ``patient_id``, ``SubjectID``, ``mrn``) or, in a draft, because
most of its texts differ. A repeated one may mean several rows for one person, and the promise is for one row.
Cost: at most ``MOST_CELLS`` cells of such a column are kept.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpcausal.core.progress import shown
from dpcausal.data import arrow
from dpcausal.data.coding import parsed
from dpcausal.data.entries import FALSE, TRUE
from dpcausal.data.sources import Chunk, Source

KEPT = 1000  # distinct texts remembered
SAMPLED = 100_000  # numbers remembered, for cut points
SHOWN = 5  # texts named in one line
WIDEST = 30  # characters shown of one text
MISSING = (b"", b"NA", b"N/A", b"n/a", b"NaN", b"nan", b"null", b"NULL", b"None", b"<NA>")
TRUTHS = [text.encode() for text in (*TRUE, *FALSE)]
CODES = (-9999, -999, -99, -9, -1, 99, 999, 9999, 99999)  # often written for "missing"
_SEPARATED = r"^[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?$"
_ALMOST = (
    r"^(<|>|<=|>=|~|\xe2\x89\xa4|\xe2\x89\xa5)? ?[+-]?[0-9]+([.,][0-9]+)* ?%?$"  # also ≤ and ≥, as bytes
)


class Texts:
    """How often each text was met; only the first ``KEPT`` different ones are told apart."""

    def __init__(self) -> None:
        self.total = 0
        self.counts: Counter[bytes] = Counter()

    def add(self, cells: pa.Array) -> None:
        """Count an array of bytes without missing cells."""
        self.total += len(cells)
        texts, counts = cells.value_counts().flatten()
        often = np.argsort(-arrow.numbers(counts), kind="stable")[:KEPT]
        for text, count in zip(
            texts.take(often).to_pylist(), arrow.numbers(counts)[often].tolist(), strict=True
        ):
            if text in self.counts or len(self.counts) < KEPT:
                self.counts[text] += count

    def named(self) -> list[tuple[str, int]]:
        """The most frequent texts in readable form, and how often they stand there."""
        return [(readable(text), count) for text, count in self.counts.most_common(SHOWN)]

    def words(self) -> str:
        """The most frequent texts in one line: ``'n/a' (9), '<5' (3) and others``."""
        parts = ", ".join(f"{text!r} ({count:,})" for text, count in self.named())
        told = sum(count for _, count in self.named())
        return f"{parts} and others" if told < self.total else parts


def watched(found: Source, columns: Sequence[str], progress: bool) -> Iterator[Chunk]:
    """The chunks of a source, with a bar: by the part of the file that is read, or of its rows where they are known."""
    told = rows = 0.0
    with shown(f"looking at {found.label}", 1.0, progress) as tick:
        for chunk in found.chunks(columns):
            yield chunk
            rows += len(next(iter(chunk.values())))
            done = rows / found.rows if found.rows else getattr(found, "done", 0.0)
            tick(done - told)
            told = done


def readable(text: bytes) -> str:
    """A short text for a person."""
    whole = text.decode(errors="backslashreplace")
    return whole if len(whole) <= WIDEST else whole[: WIDEST - 1] + "…"


class Sample:
    """Every k-th number of a column, k doubling as it gets longer: at most ``SAMPLED`` are kept."""

    def __init__(self) -> None:
        self.kept: NDArray[np.float64] = np.zeros(0)
        self.step, self.skip = 1, 0  # skip: how many more to pass over before the next one

    def add(self, values: NDArray[np.float64]) -> None:
        """See some more."""
        taken = values[self.skip :: self.step]
        self.skip = (self.skip - len(values)) % self.step
        self.kept = np.concatenate([self.kept, taken])
        while len(self.kept) > SAMPLED:
            odd = len(self.kept) % 2
            self.kept = self.kept[::2]
            self.skip += self.step * odd
            self.step *= 2


class Seen:
    """What a draft needs to know of one column."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.texts: set[bytes] = set()  # different texts, up to most + 1
        self.numbers: set[bytes] = set()  # those that are numbers, with separators or without, up to most + 1
        self.odd = Texts()  # cells that are no numbers
        self.almost = self.separated = 0  # of these: look like one (<5, 12%); have separators (1,234)
        self.codes = dict.fromkeys(CODES, 0)
        self.rows = self.missing = 0
        self.times = self.truths = False
        self.whole = True
        self.lower, self.upper = math.inf, -math.inf
        self.plain_lower, self.plain_upper = math.inf, -math.inf  # of the numbers that are none of CODES
        self.sample = Sample()

    @property
    def clean(self) -> bool:
        """Whether every cell is a number."""
        return not (self.times or self.truths or self.odd.total)

    def number_share(self) -> float:
        """Part of the cells that are not missing that are numbers or look like one."""
        present = self.rows - self.missing
        return 0.0 if present == 0 or self.times else (present - self.odd.total + self.almost) / present

    def add(self, array: pa.Array) -> None:
        """Look at some more cells."""
        array = arrow.plain(array)
        self.rows += len(array)
        kind = arrow.value_kind(array.type)
        if kind == "null":
            self.missing += len(array)
            return
        cells = present(array)
        self.missing += len(array) - len(cells)
        _remember(self.texts, cells, self.most)
        self.truths = self.truths or bool(
            pc.any(pc.is_in(cells, value_set=pa.array(TRUTHS, cells.type))).as_py()
        )
        self.times = self.times or kind == "time"
        if self.times or len(cells) == 0:
            return
        values = parsed(cells)
        for code in CODES:
            self.codes[code] += int((values == code).sum())
        no_number = pa.array(np.isnan(values))
        _remember(self.numbers, cells.filter(pc.invert(no_number)), self.most)
        odd = cells.filter(no_number)
        self.odd.add(odd)
        self.almost += _matches(odd, _ALMOST)
        self.separated += _matches(odd, _SEPARATED)
        _remember(self.numbers, odd.filter(pc.match_substring_regex(odd, _SEPARATED)), self.most)
        self._bound(np.concatenate([values, _without_separators(odd)]))

    def _bound(self, values: NDArray[np.float64]) -> None:
        finite = values[np.isfinite(values)]
        if len(finite):
            self.whole = self.whole and bool((finite == np.rint(finite)).all())
            self.lower, self.upper = min(self.lower, finite.min()), max(self.upper, finite.max())
            self.sample.add(finite)
            plain = finite[~np.isin(finite, CODES)]
            if len(plain):
                self.plain_lower = min(self.plain_lower, plain.min())
                self.plain_upper = max(self.plain_upper, plain.max())

    def set_apart(self) -> list[tuple[int, int]]:
        """(code, cells) of CODES that lie beyond all other numbers, and so may mean "missing".

        A positive one that follows the others directly (99 after 98) is taken for one of them.
        """
        if not math.isfinite(self.plain_lower):
            return []
        return [
            (code, count)
            for code, count in self.codes.items()
            if count and (code < self.plain_lower or code > self.plain_upper + (1 if code > 0 else 0))
        ]

    def kept(self) -> tuple[float, float, NDArray[np.float64]]:
        """Least and largest number without what is set apart, and a sample of them."""
        apart = [code for code, _ in self.set_apart()]
        if not apart:
            return self.lower, self.upper, self.sample.kept
        inside = [code for code, count in self.codes.items() if count and code not in apart]
        values = self.sample.kept[~np.isin(self.sample.kept, apart)]
        return min([self.plain_lower, *inside]), max([self.plain_upper, *inside]), values


def _remember(texts: set[bytes], cells: pa.Array, most: int) -> None:
    if len(texts) <= most:
        texts.update(cells.unique().slice(0, most + 1).to_pylist())


def _matches(cells: pa.Array, pattern: str) -> int:
    return int(pc.sum(pc.match_substring_regex(cells, pattern)).as_py() or 0)


def _without_separators(cells: pa.Array) -> NDArray[np.float64]:
    """The numbers that thousands separators hide: a draft's bounds leave room for them."""
    cells = cells.filter(pc.match_substring_regex(cells, _SEPARATED))
    return parsed(pc.replace_substring(cells, ",", ""))


def present(array: pa.Array) -> pa.Array:
    """The cells that are not missing, as trimmed text."""
    cells = text_of(array).drop_null()
    return cells.filter(pc.invert(pc.is_in(cells, value_set=pa.array(MISSING, cells.type))))


def text_of(array: pa.Array) -> pa.Array:
    """Every cell as text, trimmed."""
    if arrow.kind_of(array.type) == "dictionary":
        array = array.dictionary_decode()
    kind = arrow.kind_of(array.type)
    if kind == "text":
        return arrow.trimmed(arrow.as_bytes(array))
    if kind in ("time", "decimal"):
        return arrow.printed(array)
    if kind == "float":
        values = arrow.numbers(array)
        array = pc.if_else(pa.array(np.isnan(values)), None, array)
        if array.type == pa.float16():
            array = array.cast(pa.float32())
    return array.cast(pa.string()).cast(pa.binary())


MOST_CELLS = 1 << 20
MOSTLY = 0.5  # distinct texts per cell from which on a column of any name looks like an identifier
LEAST_DISTINCT, LEAST_SHARE = 20, 0.05  # and of one with such a name: less is a ward or a site
_NAME = re.compile(
    r"(^|[^a-z])(id|identifier|pid|mrn|uuid|guid|ssn)([^a-z]|$)"
    r"|^(person|patient|subject|participant)[ _.-]*(no|nr|num|number|key|code)?$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"[a-z](Id|ID)$")


def named_like_one(name: str) -> bool:
    """Whether a name is one that identifiers have.

    >>> [named_like_one(name) for name in ("patient_id", "SubjectID", "id", "bmi", "acid", "paid")]
    [True, True, True, False, False, False]
    """
    return bool(_NAME.search(name) or _CAMEL.search(name))


class Repeats:
    """How often the values of one column repeat, up to ``MOST_CELLS`` cells."""

    def __init__(self, name: str) -> None:
        self.named = named_like_one(name)
        self.rows = 0
        self._kept: list[pa.Array] = []
        self._watch = True

    def add(self, array: pa.Array) -> None:
        """See some more cells; stop where they can't be an identifier."""
        if not self._watch or self.rows >= MOST_CELLS:
            return
        array = arrow.plain(array)
        if arrow.value_kind(array.type) in ("null", "unsupported"):
            return
        cells = present(array)
        if not self._kept and not self.named and not _mostly_distinct_texts(cells):
            self._watch = False
            return
        self._kept.append(cells)
        self.rows += len(cells)

    def more(self) -> int:
        """Rows beyond the first with the same value; 0 where it does not look like an identifier."""
        if not self._watch or not self._kept:
            return 0
        distinct = len(pa.chunked_array(self._kept).unique())
        least = max(LEAST_DISTINCT, (LEAST_SHARE if self.named else MOSTLY) * self.rows)
        return self.rows - distinct if distinct >= least else 0


def _mostly_distinct_texts(cells: pa.Array) -> bool:
    distinct = cells.unique()
    if len(distinct) < LEAST_DISTINCT or len(distinct) < MOSTLY * len(cells):
        return False
    lettered = pc.sum(pc.match_substring_regex(distinct, "[A-Za-z]")).as_py() or 0
    spaced = pc.sum(pc.match_substring(distinct, " ")).as_py() or 0  # free text
    return bool(lettered > MOSTLY * len(distinct) and spaced < MOSTLY * len(distinct))


def repeats_words(name: str, rows: int) -> str:
    """The remark.

    >>> repeats_words("patient_id", 3000)
    'patient_id repeats in 3,000 rows: the promise is for one row, so make one row per person first'
    """
    rows_words = "1 row" if rows == 1 else f"{rows:,} rows"
    return f"{name} repeats in {rows_words}: the promise is for one row, so make one row per person first"


def header_like_values(names: list[str], seen: Mapping[str, Seen]) -> bool:
    """Whether at least half of the names look like values: numbers, or texts that stand in their own column."""
    odd = 0
    for name in names:
        try:
            value = float(name)
        except ValueError:
            odd += name in seen and name.encode() in seen[name].texts and len(seen[name].texts) > 1
            continue
        column = seen.get(name)
        odd += math.isfinite(value) and (column is None or column.lower <= value <= column.upper)
    return len(names) > 1 and 2 * odd >= len(names)
