"""A first draft of a schema from the data: which columns are categorical or numeric, with levels, bounds and notes.

**Not private.** Levels, bounds and which columns are there are read from rows, so a draft is for the data holder's own
machine, and a person must check every line against public knowledge before it is used. Its file carries the line
``draft = true``; as long as it is there, reading data with the schema gives a warning.

Categorical: texts that differ in case or blanks only, or are one number written twice (1 and 1.0), become one level
with ``aliases``; the most frequent one is the level. A code such as 999 or "." becomes ``missing`` where at least two
levels are left without it. Missing cells get a level of their own, or one that reads as missing ("unknown"); no other
level is picked for them. Numeric: bounds that are round numbers well outside the rows (0 to 110 for an age), and round
cut points where nearly all numbers lie, near quantiles where they would otherwise leave most rows in one bin
(``cut_points.py``). Numbers that are often missing get a bin of their own. Identifiers, whose values are all different,
are left out. Notes (``findings.py``) say what a person should look at.

How a CSV file is written is recognised too: an encoding other than UTF-8, a separator other than a comma, decimal
commas and thousands marks. The draft declares what was found, and its columns are those of the file read that way.

A ``Draft`` carries columns and facts; ``dpcausal.present.schema`` writes its file. Cost: one pass over the rows, two
where the file is written in an unusual way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.arguments import checked_list, checked_name
from dpcausal.core.errors import InputError, SchemaError, no_columns
from dpcausal.data import spelling
from dpcausal.data.columns import (
    MAX_LABEL,
    Categorical,
    Column,
    Level,
    Numeric,
    canonical_value,
    reads_as_missing,
)
from dpcausal.data.csv import RaggedRows
from dpcausal.data.cut_points import cut_points, largest_share, public_bounds, quantile_cuts
from dpcausal.data.dates import EPOCH, ISO, read_day
from dpcausal.data.file_format import FileFormat, NumberMarks, decode_bytes
from dpcausal.data.findings import (
    Abbreviation,
    AgeBounds,
    AliasesRead,
    AllDifferent,
    CodeBook,
    Dates,
    Determined,
    Finding,
    HeaderLikeValues,
    LeftOut,
    ManyColumns,
    MissingCode,
    MissingLevel,
    MissingWith,
    NumberCodes,
    NumberLevels,
    QuantileBins,
    SaysWhose,
    SharedCode,
    Skewed,
    TimeToEvent,
    TooManyTexts,
    UnevenBins,
    UnknownType,
    UnreadableNumbers,
    UnreadCells,
    Unusable,
    WithSeparators,
)
from dpcausal.data.name_hints import follow_up_columns, has_grade_word, is_age_name, names_codes
from dpcausal.data.profile import (
    MISSING_CODES,
    TRUTH_TEXTS,
    ColumnProfile,
    IdentifierProfile,
    NumbersSeen,
    Writing,
    format_notes,
    header_looks_like_values,
    repeated_identifiers,
)
from dpcausal.data.relations import PAIRS, FirstRows, observe_rows
from dpcausal.data.sources import CsvSource, Source, open_source


@dataclass(frozen=True)
class DraftRules:
    """Thresholds for the type of a column and for notes."""

    max_levels: int = 50  # distinct texts of a categorical column
    max_number_levels: int = 12  # distinct whole numbers, or dates, of a categorical column
    min_levels: int = 2  # levels that must be left where codes are treated as missing
    max_code_run: int = 30  # largest of whole numbers from 0 or 1 on without a gap that may be codes
    min_grades: int = 3  # levels that may be grades
    min_graded_share: float = 0.6  # of value labels: those with a word of a scale, for them to read as grades
    many_columns: int = 20  # columns from which a note says how to draft some of them
    min_number_share: float = 0.8  # cells that are numbers, or nearly, in a numeric column with other texts
    min_missing_level: float = 0.05  # share of cells without a number from which these get a bin
    ages: tuple[float, float] = (0.0, 110.0)  # bounds of a column that is named like an age
    years: tuple[int, int] = (1800, 2100)  # whole numbers that are years
    min_oldest: float = 40.0  # how old the oldest must be for these
    cuts_by_rows: tuple[tuple[int, int], ...] = ((100_000, 8), (20_000, 5), (0, 3))  # (rows, cut points)
    central_quantiles: tuple[float, float] = (0.01, 0.99)  # between which cut points lie
    max_uneven_share: float = 0.66  # share of the numbers in one bin above which cut points follow quantiles
    max_bin_share: float = 0.8  # share of the numbers in one bin above which a note says so
    min_spread_numbers: int = 50  # numbers from which a note on how they are spread is made
    min_skewness: float = 4.0  # (95% quantile - median) / (median - 5% quantile)
    min_spread: float = 10.0  # and how many times their lower end their upper end must be


RULES = DraftRules()
MISSING_LEVEL = "missing"  # the level proposed for missing cells
_NO_WORDS = frozenset(
    (
        "no", "nein", "non", "nee", "nej", "não", "n", "negative", "negativ", "négatif", "absent", "none", "never",
        "control",
    )
)  # fmt: skip
_MISSING_TEXT_CODES = (".", "..", "?", "missing", "#n/a", "#null!")  # "unknown" may well be a level
_MISSING_LEVEL_CODES = tuple(code for code in MISSING_CODES if code != -1)  # -1, 0, 1 are a usual scale


@dataclass(frozen=True)
class DraftedColumn:
    """The draft of one column: its declaration with notes, or why it is left out."""

    name: str
    column: Column | None
    left_out: LeftOut | None = None
    notes: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Draft:
    """The draft of a schema: its columns in the order of the data, and notes on the data as a whole."""

    columns: tuple[DraftedColumn, ...]
    notes: tuple[Finding, ...]
    format: FileFormat
    ragged: RaggedRows


def draft(
    source: Any,
    *,
    format: FileFormat = FileFormat(),  # noqa: A002
    columns: Sequence[str] | None = None,
    progress: bool = False,
) -> Draft:
    """Draft a schema for anything that ``dc.read`` takes; only some ``columns`` if given. Not private.

    ``format`` is what is known of how a file is written; the rest is recognised, and the draft declares both. Raises
    ``InputError`` if the source can't be read, has no rows, no column that can be drafted, or none of a name in
    ``columns``.
    """
    if columns is not None:
        columns = [
            checked_name(name, "the name of a column") for name in checked_list(columns, "columns", "columns")
        ]
    writing = Writing()
    found = _draft_as(source, format, columns, progress, writing)
    recognised = writing.recognised(found.format)
    notes = format_notes(writing, format, recognised)
    if recognised != found.format:
        found = _draft_as(source, recognised, columns, progress, Writing())
    if recognised.separator == ",":
        recognised = replace(recognised, separator=None)  # as usual
    if recognised.separator == ";" and recognised.decimal is None:
        recognised = replace(recognised, decimal=".")  # declared, since such files often have commas
    return replace(found, notes=(*notes, *found.notes), format=recognised)


def _draft_as(
    source: Any, declared: FileFormat, columns: Sequence[str] | None, progress: bool, writing: Writing
) -> Draft:
    """Draft a schema of a source in this file format; ``writing`` collects how numbers and texts are written."""
    opened = open_source(source, columns or (), format=declared)
    names = _wanted(opened, columns)
    left_out = _unusable_columns(opened, names)
    usable = [name for name in names if name not in left_out]
    is_csv = isinstance(opened, CsvSource)
    if isinstance(opened, CsvSource):
        declared = declared.changed(separator=opened.delimiter)
    observed = writing if is_csv else None
    profiles = {name: ColumnProfile(RULES.max_levels, opened.marks, observed) for name in usable}
    identifiers = {name: IdentifierProfile(name) for name in usable}
    first_rows = observe_rows(opened, profiles, identifiers, progress=progress)
    if first_rows.rows == 0:
        raise InputError(f"{opened.label} has no rows")
    left_out |= {x: AllDifferent(profiles[x].rows) for x, one in identifiers.items() if one.all_different()}
    repeated = repeated_identifiers(identifiers)
    left_out |= {one.column: SaysWhose() for one in repeated}
    drafted = [
        DraftedColumn(name, None, left_out[name])
        if name in left_out
        else _draft_column(name, profiles[name], opened)
        for name in names
    ]
    notes: list[Finding] = [*repeated]
    if is_csv and header_looks_like_values(names, profiles):
        notes.append(HeaderLikeValues())
    found = Draft(tuple(drafted), tuple(notes), declared, opened.ragged)
    return _with_relations(found, first_rows, opened.marks, all_columns=columns is None)


def _with_relations(found: Draft, rows: FirstRows, marks: NumberMarks, *, all_columns: bool) -> Draft:
    """Return the draft with notes on columns that determine each other, and on too many columns."""
    declared = {one.name: one.column for one in found.columns if one.column is not None}
    by_column = _notes_on_others(declared, rows)
    notes = [*found.notes]
    for note in rows.relations(declared, marks):
        (by_column[note.column] if isinstance(note, MissingWith | Determined) else notes).append(note)
    if all_columns and len(declared) > RULES.many_columns:
        notes.append(ManyColumns(len(declared)))
    columns = [replace(one, notes=(*one.notes, *by_column.get(one.name, ()))) for one in found.columns]
    return replace(found, columns=tuple(columns), notes=tuple(notes))


def _wanted(opened: Source, columns: Sequence[str] | None) -> list[str]:
    """Return the columns to draft, each once, in the order of the data; refuse unknown names."""
    names = list(dict.fromkeys(opened.names))
    if columns is None:
        return names
    if lacking := [name for name in columns if name not in names]:
        raise InputError(f"{opened.label} has {no_columns(lacking, names, '')}")
    return [name for name in names if name in columns]


def _unusable_columns(source: Source, names: Sequence[str]) -> dict[str, LeftOut]:
    """Return the columns that can't be drafted, by their names and types; raise ``InputError`` where none can."""
    source.convert([name for name in names if source.names.count(name) == 1])
    found = {name: why for name in names if (why := _unusable(source, name))}
    if len(found) == len(names):
        raise InputError(f"{source.label} has no column that can be drafted")
    return found


def _unusable(source: Source, name: str) -> LeftOut | None:
    """Return why a column can't be drafted, by its name and type; None where it can."""
    if not name:
        return Unusable("no-name")
    if source.names.count(name) > 1:
        return Unusable("repeated-name")
    return None if source.is_readable(name) else UnknownType(str(source.type_of(name)))


def _notes_on_others(held: Mapping[str, Column], rows: FirstRows) -> dict[str, list[Finding]]:
    """Return notes on several columns: a time and its event, a code that several columns share."""
    notes: dict[str, list[Finding]] = {name: [] for name in held}
    for time, event in follow_up_columns(held):
        notes[time].append(TimeToEvent(event))
    for value, names, cells in rows.shared_values():
        having = {
            name: level
            for name in names
            if isinstance(other := held.get(name), Categorical)
            for level in other.levels
            if canonical_value(str(level)) == value and not reads_as_missing(str(level))
        }
        if len(having) >= PAIRS.min_shared_columns:
            for name, level in having.items():
                others = tuple(one for one in having if one != name)
                notes[name].append(SharedCode(level, others, cells, seen=rows.rows))
    return notes


def _read_as_grades(levels: Sequence[str]) -> bool:
    """Return whether most labels contain a word or number of a graded scale, so that their order may matter.

    >>> _read_as_grades(["none", "mild", "severe"]), _read_as_grades(["beer", "wine", "liquor"])
    (True, False)
    >>> _read_as_grades(["no", "yes"])
    False
    """
    known = [level for level in levels if not reads_as_missing(level)]
    graded = sum(has_grade_word(level) for level in known)
    return len(known) >= RULES.min_grades and graded >= RULES.min_graded_share * len(known)


# ---- one column


def _draft_column(name: str, profile: ColumnProfile, source: Source) -> DraftedColumn:
    """Draft one column from its profile."""
    book, label = source.code_book(name), _one_line(source.labels.get(name, ""))
    label = "" if label == name else label
    if not profile.texts:
        return DraftedColumn(name, None, Unusable("no-values"))
    column: Column
    if {decode_bytes(text) for text in profile.texts} <= set(book.values()):
        column, notes = _labelled(book, profile, label)
    elif _is_numeric(profile):
        column, notes = _numeric(name, profile, label)
    elif len(profile.texts) > RULES.max_number_levels and (dates := _dates(profile)) is not None:
        return DraftedColumn(name, None, dates)
    elif len(profile.texts) <= RULES.max_levels:
        column, notes = _categorical(profile, label)
    elif profile.number_share() >= RULES.min_number_share:
        texts = profile.not_numbers
        return DraftedColumn(name, None, UnreadableNumbers(texts.total, tuple(texts.most_common())))
    else:
        return DraftedColumn(name, None, TooManyTexts(RULES.max_levels))
    return DraftedColumn(name, column, notes=tuple(notes))


DATE_FORMATS = (ISO, "%d.%m.%Y", "%m.%d.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")


def _dates(profile: ColumnProfile) -> Dates | None:
    """Return how dates are written in a column of texts, if all that were looked at are dates; else None.

    Every format that fits all of them is named: where the day and the month could be either, a person says which.
    """
    texts = [text for text in map(decode_bytes, profile.texts) if not reads_as_missing(text)]
    fitting = {written: [read_day(text, written) for text in texts] for written in DATE_FORMATS}
    fitting = {written: days for written, days in fitting.items() if days and all(map(math.isfinite, days))}
    if not fitting:
        return None
    days = [day for some in fitting.values() for day in some]
    first, last = ((EPOCH + timedelta(days=day)).year for day in (min(days), max(days)))
    return Dates(tuple(fitting), first, last)


def _one_line(label: str) -> str:
    """Return a label as one line of printable text of limited length."""
    printable = "".join(letter for letter in " ".join(label.split()) if letter.isprintable())
    return printable[:MAX_LABEL].strip()


# ---- categorical columns


def _labelled(
    book: Mapping[str, str], profile: ColumnProfile, label: str
) -> tuple[Categorical, list[Finding]]:
    """Draft a categorical column whose levels are the value labels of the file, with their codes as aliases."""
    levels = list(dict.fromkeys(book.values()))
    try:
        column, notes = _with_missing_level(levels, profile, label, aliases=book)
    except SchemaError:  # a code that is also a label
        column, notes = _with_missing_level(levels, profile, label)
    found = CodeBook(len(levels), codes=bool(column.aliases), grades=_read_as_grades(levels))
    return column, [found, *notes]


def _categorical(profile: ColumnProfile, label: str) -> tuple[Categorical, list[Finding]]:
    """Draft a categorical column: of truth values, whole numbers or texts."""
    plain = all(spelling.is_plain_number(text.decode("latin-1")) for text in profile.texts)
    if profile.texts <= set(TRUTH_TEXTS):
        return _with_missing_level([False, True], profile, label)
    if profile.all_numbers and profile.all_whole and math.isfinite(profile.lower) and plain:
        return _whole_numbers(profile, label)
    return _texts(profile, label)


def _whole_numbers(profile: ColumnProfile, label: str) -> tuple[Categorical, list[Finding]]:
    """Draft a categorical column of whole numbers."""
    value = {t.decode(): int(Decimal(t.decode())) for t in profile.texts if math.isfinite(float(t))}
    levels = sorted(set(value.values()))
    codes = [code for code, _ in profile.likely_missing_codes() if code in _MISSING_LEVEL_CODES]
    if len(set(levels) - set(codes)) >= RULES.min_levels:
        levels = [level for level in levels if level not in codes]
    else:
        codes = []
    known = spelling.text_codes(Categorical(levels, missing=codes))
    unusual = sorted(text for text in value if text not in known)  # 01, +1, 1e3
    aliases = {text: value[text] for text in unusual if value[text] not in codes}
    respelled = [text for text in unusual if text not in aliases]
    column, notes = _with_missing_level(
        levels, profile, label, aliases=aliases, codes=codes, respelled=respelled
    )
    if aliases:
        notes.append(AliasesRead(tuple(aliases)))
    if len(levels) < RULES.min_grades:
        return column, notes
    first, last = RULES.years
    if first <= levels[0] and levels[-1] <= last and not column.missing_codes:
        # years, of which neighbours alone are ever taken together
        return replace(column, ordered=True), notes
    return column, [*notes, NumberLevels(levels[0], levels[-1])]


def _texts(profile: ColumnProfile, label: str) -> tuple[Categorical, list[Finding]]:
    """Draft a categorical column of texts; spellings of one text become aliases."""
    texts = sorted({decode_bytes(cell) for cell in profile.texts})
    codes = sorted(text for text in texts if _is_missing_code(text, profile))
    groups: dict[object, list[str]] = {}
    for text in texts:
        if text not in codes:
            groups.setdefault(canonical_value(" ".join(text.casefold().split())), []).append(text)
    if len(groups) < RULES.min_levels and codes:
        groups |= {text: [text] for text in codes}
        codes = []
    counts = profile.not_numbers.counts
    spellings = [sorted(group, key=lambda text: (-counts[text.encode()], text)) for group in groups.values()]
    spellings.sort(key=lambda group: group[0])
    no = [group[0].casefold() in _NO_WORDS for group in spellings]
    if no == [False, True]:
        spellings.reverse()  # an effect is that of the second level against the first
    aliases = {text: level for level, *others in spellings for text in others}
    levels = [level for level, *_ in spellings]
    column, notes = _with_missing_level(levels, profile, label, aliases=aliases, codes=codes)
    notes += [AliasesRead(tuple(others), level) for level, *others in spellings if others]
    return column, notes + _abbreviations(column)


def _is_missing_code(text: str, profile: ColumnProfile) -> bool:
    """Return whether a text usually means "missing": a word, or a number where all others are not numbers."""
    value = canonical_value(text)
    if isinstance(value, Decimal):
        return value in _MISSING_LEVEL_CODES and not math.isfinite(profile.lower_but_codes)
    return text.casefold() in _MISSING_TEXT_CODES


def _with_missing_level(
    levels: Sequence[Level],
    profile: ColumnProfile,
    label: str,
    *,
    aliases: Mapping[str, Level] | None = None,
    codes: Sequence[Level] = (),
    respelled: Sequence[Level] = (),
) -> tuple[Categorical, list[Finding]]:
    """Return the column, with a level for missing cells where there are some, and notes on these.

    ``codes`` mean a missing value, and so do other spellings of them, ``respelled``. Levels that read as missing come
    last: the first level is what others are compared with.
    """
    missing, aliases = [*codes, *respelled], aliases or {}
    levels = sorted(levels, key=lambda level: reads_as_missing(str(level)))
    other = next((level for level in levels if reads_as_missing(str(level))), None)
    notes: list[Finding] = []
    if not (profile.missing or missing):
        notes += [] if other is None else [MissingLevel(str(other), in_file=True)]
        return Categorical(levels, other=other, aliases=aliases, label=label), notes
    if other is None:
        levels, other = [*levels, MISSING_LEVEL], MISSING_LEVEL
        missing = [code for code in missing if code != MISSING_LEVEL]
    if profile.missing:
        notes.append(UnreadCells(profile.missing, profile.rows, str(other), own=True))
    for code in codes:
        value = canonical_value(str(code))
        by_text = profile.not_numbers.counts[str(code).encode()]
        cells = profile.code_counts[int(value)] if isinstance(value, Decimal) else by_text
        notes.append(MissingCode(code, cells, str(other)))
    notes.append(MissingLevel(str(other), in_file=False))
    return Categorical(levels, other=other, aliases=aliases, missing=missing, label=label), notes


def _abbreviations(column: Categorical) -> list[Finding]:
    """Return a note for every single letter that exactly one other level begins with."""
    notes: list[Finding] = []
    for letter in column.printed:
        longer = [
            text
            for text in column.printed
            if len(text) > 1 and text[0].casefold() == letter.casefold() and not reads_as_missing(text)
        ]
        if len(letter) == 1 and letter.isalpha() and len(longer) == 1:
            notes.append(Abbreviation(letter, longer[0]))
    return notes


# ---- numeric columns


def _is_numeric(profile: ColumnProfile) -> bool:
    """Return whether a column holds mostly numbers, and too many different ones for levels."""
    many = len(profile.numbers) > RULES.max_number_levels
    fractions = not profile.all_whole or max(-profile.lower, profile.upper) >= 2**53
    mostly = many and profile.number_share() >= RULES.min_number_share
    return (many or fractions) and (profile.all_numbers or mostly) and math.isfinite(profile.lower)


def _numeric(name: str, profile: ColumnProfile, label: str) -> tuple[Numeric, list[Finding]]:
    """Draft a numeric column: bounds outside the rows, round cut points, and a middle value for ``other``.

    More rows get more cut points: fine bins hold more constant, coarse ones leave more power. Where cut points of equal
    distance leave most rows in one bin, they are round numbers near quantiles instead.
    """
    seen = profile.numbers_without_codes()
    youngest, oldest = RULES.ages
    is_age = is_age_name(name) and seen.lower >= youngest and RULES.min_oldest < seen.upper <= oldest
    bounds = RULES.ages if is_age else public_bounds(seen.lower, seen.upper)
    texts = [decode_bytes(text) for text in profile.not_numbers.counts]
    codes = [code for code, _ in seen.missing_codes]
    missing: list[Any] = [*codes, *(text for text in texts if reads_as_missing(text))]
    absent = profile.missing + profile.not_numbers.total + sum(cells for _, cells in seen.missing_codes)
    wanted = min(
        next(number for rows, number in RULES.cuts_by_rows if profile.rows >= rows), len(profile.numbers) - 1
    )
    even = _even_cuts(seen, profile.all_whole, wanted)
    bins = even
    if len(seen.sample) and largest_share(seen.sample, even) > RULES.max_uneven_share:
        near = quantile_cuts(seen.sample, wanted, bounds)
        bins = min(even, near, key=lambda cuts: largest_share(seen.sample, cuts))
    other = None
    if len(seen.sample):
        # a round part of the range, not a row's
        step = 10.0 ** math.floor(math.log10((bounds[1] - bounds[0]) / 20))
        middle = round(round(float(np.median(seen.sample)) / step) * step, 12)
        other = min(max(middle, bounds[0]), bounds[1])
    own = absent > RULES.min_missing_level * profile.rows
    try:
        column = Numeric(*bounds, bins or None, other, missing, missing_level=own, label=label)
    except SchemaError:  # no cut points fit between bounds that are nearly equal
        column = Numeric(*bounds, missing=codes, label=label)
    notes: list[Finding] = [AgeBounds(*RULES.ages)] if is_age else []
    notes += _cell_notes(profile, column)
    notes += [MissingCode(code, cells, None) for code, cells in seen.missing_codes]
    notes += [QuantileBins()] if column.bins and column.bins != even else []
    notes += _spread_notes(seen.sample, column)
    if profile.all_whole and (names_codes(name, label) or _is_run_of_codes(seen)):
        notes.append(NumberCodes(len(profile.numbers) if len(profile.numbers) <= RULES.max_levels else None))
    return column, notes


def _is_run_of_codes(seen: NumbersSeen) -> bool:
    """Return whether whole numbers are 0, 1, 2, ... or 1, 2, ... up to a few dozens without a gap, as codes are."""
    no_gap = len(np.unique(seen.sample)) == seen.upper - seen.lower + 1
    return seen.lower in (0, 1) and seen.upper <= RULES.max_code_run and no_gap


def _cell_notes(profile: ColumnProfile, column: Numeric) -> list[Finding]:
    """Return notes on cells of a numeric column that are no numbers."""
    notes: list[Finding] = []
    becomes, texts = (profile.rows, column.other, column.missing_level), profile.not_numbers
    if texts.total:
        notes.append(UnreadCells(texts.total, *becomes, tuple(texts.most_common())))
    if profile.with_separators:
        notes.append(WithSeparators(profile.with_separators))
    if profile.missing:
        notes.append(UnreadCells(profile.missing, *becomes))
    return notes


def _spread_notes(values: NDArray[np.float64], column: Numeric) -> list[Finding]:
    """Return notes on numbers that leave bins empty, or reach much further up than down."""
    notes: list[Finding] = []
    if (share := largest_share(values, column.bins or ())) > RULES.max_bin_share:
        middle = float(np.median(values))
        notes.append(UnevenBins(share, middle if float(np.mean(values == middle)) >= share else None))
    if len(values) < RULES.min_spread_numbers:
        return notes
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
    least = max(low, float(np.min(values[values > 0], initial=math.inf)))
    further_up = high > middle and high - middle > RULES.min_skewness * max(middle - low, 0.0)
    if column.lower >= 0 and further_up and high >= RULES.min_spread * least:
        notes.append(Skewed())  # ratios count where numbers spread over a power of ten
    return notes


def _even_cuts(seen: NumbersSeen, whole: bool, wanted: int) -> tuple[float, ...]:
    """Return about ``wanted`` round, equally spaced cut points between the ends of nearly all numbers."""
    sample = seen.sample
    ends = (
        np.quantile(sample, RULES.central_quantiles) if len(sample) else public_bounds(seen.lower, seen.upper)
    )
    low, high = map(float, ends)
    return tuple(cut_points(low, high, whole, wanted))
