"""A first draft of a schema from the data: which columns are categorical or numeric, with levels, bounds and notes.

**Not private.** Levels, bounds and which columns are there are read from rows, so a draft is for the data holder's own
machine, and a person must check every line against public knowledge before it is used. Its file carries the line
``draft = true``; as long as it is there, reading data with the schema gives a warning.

Categorical: texts that differ in case or blanks only, or are one number written twice (1 and 1.0), become one level
with ``aliases``; the most frequent one is the level. A code such as 999 or "." becomes ``missing`` where at least two
levels are left without it. Missing cells get a level of their own, or one that reads as missing ("unknown"); no other
level is picked for them. Numeric: bounds that are round numbers well outside the rows (0 to 110 for an age), since the
extremes of a sample belong to single people; and round cut points where nearly all numbers lie, near quantiles where
they would otherwise leave most rows in one bin. Numbers that are often missing get a bin of their own. Remarks say
what a person should look at: a time with an event, codes, a column that is missing where another has a certain value,
a column that others determine. Identifiers, whose values are all different, are left out.

How a CSV file is written is recognised too: an encoding other than UTF-8, a separator other than a comma, decimal
commas and thousands marks. The draft declares what was found, and its columns are those of the file read that way.

A ``Draft`` carries columns and facts; ``dpcausal.present.schema`` writes its file. Cost: one pass over the rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.arguments import checked_list, checked_name
from dpcausal.core.errors import InputError, SchemaError, no_columns
from dpcausal.core.facts import Fact
from dpcausal.data import arrow, spelling
from dpcausal.data.columns import (
    MAX_ABS_BOUND,
    MAX_LABEL,
    Categorical,
    Column,
    Level,
    Numeric,
    canonical_value,
)
from dpcausal.data.determined import Relation, determined_in, missing_masks
from dpcausal.data.file_format import FileFormat, decode_bytes
from dpcausal.data.missing_words import reads_as_missing
from dpcausal.data.profile import (
    LIMITS,
    MISSING_CODES,
    TRUTH_TEXTS,
    ColumnProfile,
    FirstRows,
    IdentifierProfile,
    Writing,
    chunks_with_progress,
    header_looks_like_values,
)
from dpcausal.data.sources import ColumnSource, CsvSource, LoadedSource, Source, open_source


@dataclass(frozen=True)
class DraftRules:
    """What a column is drafted as."""

    max_levels: int = 50  # distinct texts of a categorical column
    max_number_levels: int = 12  # distinct whole numbers of a categorical column
    min_levels: int = 2  # levels that must be left where codes are taken for missing
    min_skewed_numbers: int = 50  # numbers from which a remark on their scale is made
    min_spread: float = (
        10.0  # how many times the numbers at their lower end those at their upper end must be for it
    )
    min_missing_level: float = (
        0.05  # share of cells without a number above which these get a bin of their own
    )
    max_uneven_share: float = 0.66  # share of the numbers in one bin above which cut points follow quantiles
    max_bin_share: float = 0.8  # share of the numbers in one bin that is remarked
    max_code_numbers: int = 60  # distinct whole numbers up to which a column that is named so may hold codes
    max_code_run: int = 30  # the same of 0, 1, 2, ... or 1, 2, ... without a gap, whatever the name
    min_graded_share: float = 0.6  # of value labels: those with a word of a scale, for them to read as grades
    min_grades: int = 3  # whole numbers as levels from which a remark on their order is made
    bound_steps: int = (
        10  # steps between the extremes of the numbers, at most; bounds are multiples of the step
    )
    ages: tuple[float, float] = (0.0, 110.0)  # bounds of a column that is named like an age
    min_oldest: float = 40.0  # how old the oldest must be for these
    far_upper: float = (
        0.5  # of the upper bound: below it lie nearly all numbers where the bound is called far
    )
    many_columns: int = 20  # columns from which the remark says how to draft some of them
    min_skewness: float = 4.0  # how much further they reach up than down, from the median to 5% at either end
    min_number_share: float = (
        0.8  # cells that must be numbers, or nearly, where a numeric column has other texts
    )
    central_quantiles: tuple[float, float] = (0.01, 0.99)  # between which cut points lie
    cuts_by_rows: tuple[tuple[int, int], ...] = (
        (100_000, 8),
        (20_000, 5),
        (0, 3),
    )  # (from rows on, cut points)


RULES = DraftRules()
MISSING_LEVEL = "missing"  # the level proposed for missing cells
_NO_WORDS = frozenset(
    (
        "no",
        "nein",
        "non",
        "nee",
        "nej",
        "não",
        "n",
        "negative",
        "negativ",
        "négatif",
        "absent",
        "none",
        "never",
        "control",
    )
)
_MISSING_TEXT_CODES = (".", "..", "?", "missing", "#n/a", "#null!")  # "unknown" may well be a level
_MISSING_LEVEL_CODES = tuple(code for code in MISSING_CODES if code != -1)  # -1, 0, 1 are a usual scale


class DraftNote(Fact):
    """One thing that the person who checks a draft should know."""


class Check(DraftNote, named_by="what"):
    """What to look at: names like values, bins by quantiles, some numbers far above, numbers of wards or the like."""

    what: Literal["header-like-values", "quantile-bins", "skewed", "group-numbers"]


class UnreadCells(DraftNote):
    """Cells that are missing, or no numbers (the most frequent texts, with counts), and the level or number instead.

    ``own``: they have a level or a bin of their own.
    """

    cells: int
    rows: int
    becomes: str | float | None
    own: bool
    texts: tuple[tuple[str, int], ...] = ()


class MissingCode(DraftNote):
    """A code taken for missing, and the level that it becomes; None in a numeric column."""

    code: Level
    cells: int
    becomes: str | None


class MissingLevel(DraftNote):
    """The level for missing cells; ``in_file``: one of the file, which reads as missing and is taken as `other`."""

    level: str
    in_file: bool


class AliasesRead(DraftNote):
    """Spellings read as a level, or as whole numbers (01, +1)."""

    spellings: tuple[str, ...]
    level: str | None = None


class Abbreviation(DraftNote):
    """A letter, and the level that it may be short for."""

    letter: str
    level: str


class WithSeparators(DraftNote):
    """Cells of numbers written with thousands separators."""

    cells: int


class Recognised(DraftNote):
    """An entry on how the file is written, and from how many cells it was recognised."""

    entry: Literal["encoding", "decimal", "thousands"]
    cells: int
    value: str


class RepeatedIdentifier(DraftNote):
    """An identifier that stands in several rows."""

    column: str
    rows: int


class BrokenRows(DraftNote, kind="ragged-rows"):
    """Rows with more or fewer cells than the header."""

    more: int
    fewer: int


class OpenQuotes(DraftNote):
    """How many lines have a quote that is not closed, and the numbers of some."""

    lines: int
    first: tuple[int, ...]


class UnevenBins(DraftNote):
    """The share of the numbers in the bin that holds most, and their value where it is the same."""

    share: float
    same: float | None


class FarUpper(DraftNote):
    """Where nearly all numbers lie below, and how much smaller the range would be."""

    most: float
    part: float


class AgeBounds(DraftNote):
    """Bounds of any age, not from rows."""

    lower: float
    upper: float


class NumberCodes(DraftNote):
    """How many different whole numbers there are: they may be codes."""

    values: int


class NumberLevels(DraftNote):
    """Levels that are whole numbers from here to there, which may be grades or codes."""

    lowest: int
    highest: int


class FileLabel(DraftNote):
    """What the file calls the column."""

    label: str


class FollowsFrom(DraftNote):
    """Columns that determine this one, and how."""

    by: tuple[str, ...]
    relation: Relation


class ManyColumns(DraftNote):
    """How many columns are drafted."""

    columns: int


class TimeToEvent(DraftNote):
    """The column that may say whether the time ended in it."""

    event: str


class MissingBeside(DraftNote):
    """Cells that are missing where another column has a value; ``number``: of a column of numbers."""

    cells: int
    column: str
    value: str
    number: bool


class MissingTogether(DraftNote):
    """Columns that are missing in nearly the same rows, and the rows that lack all of them."""

    columns: tuple[str, ...]
    rows: int


class SharedCode(DraftNote):
    """A level that other columns have in the same cells, of the rows seen."""

    level: Level
    columns: tuple[str, ...]
    cells: int
    seen: int


class CodeBook(DraftNote):
    """Levels that are the value labels of the file; aliases name their codes, or they read as grades in their order."""

    levels: int
    codes: bool
    grades: bool


class LeftOut(Fact):
    """Why a column is not in a draft."""


class Unusable(LeftOut, named_by="why"):
    """It has no name, or one that is not its own, or no values."""

    why: Literal["no-name", "repeated-name", "no-values"]


class UnknownType(LeftOut):
    """Values of a type that is not read."""

    type: str


class UnreadableNumbers(LeftOut):
    """Cells that should be numbers, with the most frequent texts."""

    cells: int
    texts: tuple[tuple[str, int], ...]


class TooManyTexts(LeftOut):
    """More texts than levels may be."""

    limit: int


class AllDifferent(LeftOut):
    """All rows have different values."""

    rows: int


@dataclass(frozen=True)
class DraftedColumn:
    """The draft of one column: its declaration with notes, or why it is left out."""

    name: str
    column: Column | None
    left_out: LeftOut | None = None
    notes: tuple[DraftNote, ...] = ()


@dataclass(frozen=True)
class Draft:
    """The draft of a schema: its columns in the order of the data, and notes on the data as a whole."""

    columns: tuple[DraftedColumn, ...]
    notes: tuple[DraftNote, ...]
    format: FileFormat


def draft(
    source: Any,
    *,
    format: FileFormat = FileFormat(),  # noqa: A002
    columns: Sequence[str] | None = None,
    progress: bool = False,
) -> Draft:
    """Draft a schema for a source. Not private.

    Parameters
    ----------
    source
        Anything that ``dc.read`` takes.
    format
        What is known of how a file is written; the rest is recognised, and the draft declares both.
    columns
        Draft these columns only; all unless given.
    progress
        Show a progress bar on standard error.

    Raises
    ------
    InputError
        If the source can't be read, has no rows, has no column that can be drafted, or none of a name in ``columns``.
    """
    if columns is not None:
        columns = [
            checked_name(name, "the name of a column") for name in checked_list(columns, "columns", "columns")
        ]
    writing = Writing()
    found = _draft_as(source, format, columns, progress, writing)
    recognised = writing.recognised(found.format)
    if recognised != found.format:
        found = _draft_as(source, recognised, columns, progress, Writing())
    if recognised.separator == ",":
        recognised = replace(recognised, separator=None)  # as usual
    if recognised.separator == ";" and recognised.decimal is None:
        recognised = replace(recognised, decimal=".")  # said, since such files often have commas
    return Draft(found.columns, (*_format_notes(writing, format, recognised), *found.notes), recognised)


def _format_notes(writing: Writing, declared: FileFormat, found: FileFormat) -> list[DraftNote]:
    """Return a note for every entry of the format that was recognised from cells."""
    notes: list[DraftNote] = []
    if found.encoding != declared.encoding:
        notes.append(Recognised("encoding", writing.not_utf8, str(found.encoding)))
    if found.marks.decimal != declared.marks.decimal:
        notes.append(Recognised("decimal", writing.counts["comma"], found.marks.decimal))
    if found.thousands != declared.thousands:
        notes.append(Recognised("thousands", writing.counts[found.thousands], str(found.thousands)))
    return notes


def _wanted(opened: Source, columns: Sequence[str] | None) -> list[str]:
    """Return the names of the columns to draft, each once, in the order of the data."""
    names = list(dict.fromkeys(opened.names))
    if columns is None:
        return names
    if lacking := [name for name in columns if name not in names]:
        raise InputError(f"{opened.label} has {no_columns(lacking, names, '')}")
    return [name for name in names if name in columns]


def _draft_as(
    source: Any, declared: FileFormat, columns: Sequence[str] | None, progress: bool, writing: Writing
) -> Draft:
    """Draft a schema of a source that is written as declared; ``writing`` sees every cell of a CSV file."""
    opened = open_source(source, columns or (), format=declared)
    names = _wanted(opened, columns)
    is_csv = isinstance(opened, CsvSource)
    if isinstance(opened, CsvSource):
        declared = declared.changed(separator=opened.delimiter)
    if isinstance(opened, ColumnSource):
        opened.convert([name for name in names if opened.names.count(name) == 1])
    left_out = {name: why for name in names if (why := _unusable(opened, name))}
    usable = [name for name in names if name not in left_out]
    if not usable:
        raise InputError(f"{opened.label} has no column that can be drafted")
    profiles = {
        name: ColumnProfile(RULES.max_levels, opened.marks, writing if is_csv else None) for name in usable
    }
    identifiers = {name: IdentifierProfile(name) for name in usable}
    first_rows = FirstRows()
    for chunk in chunks_with_progress(opened, usable, progress):
        first_rows.add(chunk)
        for name, array in chunk.items():
            profiles[name].add(array)
            identifiers[name].add(array)
    if profiles[usable[0]].rows == 0:
        raise InputError(f"{opened.label} has no rows")
    notes: list[DraftNote] = [
        RepeatedIdentifier(name, rows)
        for name, identifier in identifiers.items()
        if (rows := identifier.repeated_rows())
    ]
    if is_csv and header_looks_like_values(names, profiles):
        notes.append(Check("header-like-values"))
    if opened.ragged.more or opened.ragged.fewer:
        notes.append(BrokenRows(opened.ragged.more, opened.ragged.fewer))
    if opened.ragged.unclosed:
        notes.append(OpenQuotes(opened.ragged.unclosed, tuple(opened.ragged.unclosed_lines)))
    for name, identifier in identifiers.items():
        if identifier.all_different():
            left_out[name] = AllDifferent(profiles[name].rows)
    drafted = [
        DraftedColumn(name, None, left_out[name])
        if name in left_out
        else _draft_column(
            name, profiles[name], opened.code_book(name) if isinstance(opened, LoadedSource) else {}
        )
        for name in names
    ]
    labels = opened.labels if isinstance(opened, LoadedSource) else {}
    drafted = [_with_label(one, labels.get(one.name, "")) for one in drafted]
    drafted = _with_group_numbers(drafted, profiles, labels)
    drafted = _with_remarks_on_others(drafted, first_rows.missing_where())
    notes += _missing_together(drafted, first_rows, opened)
    drafted = _with_shared_codes(drafted, first_rows)
    drafted = _with_determined(drafted, first_rows, opened)
    if columns is None and (many := sum(one.column is not None for one in drafted)) > RULES.many_columns:
        notes.append(ManyColumns(many))
    return Draft(tuple(drafted), tuple(notes), declared)


_TIME_NAME = re.compile(
    r"^(time|fu|tte|os|pfs|dfs|efs)([ _.-]?(time|days|months|years|d|m|y))?$|fu[ _.-]?time|follow[ _.-]?up|surv(ival)?"
    r"[ _.-]?(time|days|months|years)|time[ _.-]?to|überleb|ueberleb|beobachtungs(zeit|dauer)|nachbeobachtung",
    re.IGNORECASE,
)
_EVENT_NAME = re.compile(
    r"death|died|dead|deceased|mortality|^status$|event|censor|relaps|recurr|progress(ed|ion)|^tod|verst[oa]rb|gestorben",
    re.IGNORECASE,
)
_AGE_NAME = re.compile(
    r"(^|[^a-zà-ÿ])(age|alter|âge|edad|età|leeftijd|ålder|alder|idade)($|[^a-zà-ÿ])", re.IGNORECASE
)
_CODE_NAME = re.compile(
    r"(place|state|region|country|county|district|center|centre|occupation|industry|nationality|bundesland|beruf)$"
    r"|(^|[^a-z])(site|ward|code|zip|plz|icd|ort|kreis|hospital|klinik)$",
    re.IGNORECASE,
)


_GROUPS = "village|ward|site|cluster|household|psu|tract|dorf|gemeinde|haushalt|ménage"
_PLACES = (  # also what is counted in years or visits
    f"{_GROUPS}|school|class ?room|clinic|hospital|centre|center|practice|schule|klinik|station|praxis|hôpital|école"
)
# of a name, whose parts may be run together, and of a label: "number of visits" is a count
_GROUP_NAME = re.compile(
    rf"(^|[^a-z])(id|nr|num|{_GROUPS})$|[a-z]{{3}}(num|nr)$|[a-z](Id|ID|Nr)$|^({_PLACES})[ _.-]?(id|nr|no|num)$"
)
_GROUP_LABEL = re.compile(
    rf"\b(id|identifier|nr|nummer)\b|\b({_PLACES}) (number|no\.?|code)\b|^({_GROUPS})$", re.IGNORECASE
)


def _numbers_groups(name: str, label: str) -> bool:
    """Return whether a name or a label is that of the number of a place or a group.

    >>> [_numbers_groups(*one) for one in (("villnum", ""), ("v1", "Village ID"), ("ward_nr", ""), ("site", ""))]
    [True, True, True, True]
    >>> [_numbers_groups(*one) for one in (("visits", "Number of visits"), ("school", ""), ("dose", "Dose at site"))]
    [False, False, False]
    """
    return bool(_GROUP_NAME.search(name) or _GROUP_NAME.search(name.lower()) or _GROUP_LABEL.search(label))


def _with_group_numbers(
    drafted: Sequence[DraftedColumn], profiles: Mapping[str, ColumnProfile], labels: Mapping[str, str]
) -> list[DraftedColumn]:
    """Return the columns with a remark on whole numbers that number places or groups."""
    found = []
    for one in drafted:
        told = any(isinstance(note, NumberCodes) for note in one.notes)
        whole = isinstance(one.column, Numeric) and profiles[one.name].all_whole
        if whole and not told and _numbers_groups(one.name, labels.get(one.name, "")):
            found.append(replace(one, notes=(*one.notes, Check("group-numbers"))))
            continue
        found.append(one)
    return found


def _with_remarks_on_others(
    drafted: Sequence[DraftedColumn], explained: Mapping[str, tuple[str, str, int]]
) -> list[DraftedColumn]:
    """Return the columns with remarks that take another column to see: a time with its event, cells missing there."""
    declared = {one.name: one.column for one in drafted if one.column is not None}
    events = [
        name
        for name, column in declared.items()
        if isinstance(column, Categorical) and column.size <= 5 and _EVENT_NAME.search(name)
    ]
    found = []
    for one in drafted:
        notes = list(one.notes)
        if isinstance(one.column, Numeric) and events and _TIME_NAME.search(one.name):
            notes.append(TimeToEvent(events[0]))
        if one.column is not None and one.name in explained and explained[one.name][0] in declared:
            other, value, cells = explained[one.name]
            notes.append(MissingBeside(cells, other, value, number=isinstance(one.column, Numeric)))
        found.append(replace(one, notes=tuple(notes)))
    return found


def _missing_together(drafted: Sequence[DraftedColumn], rows: FirstRows, source: Source) -> list[DraftNote]:
    """Return a note for every group of drafted columns that are missing in nearly the same rows."""
    declared = {one.name: one.column for one in drafted if one.column is not None}
    found = rows.missing_together(missing_masks(rows, declared, source.marks))
    return [MissingTogether(tuple(names), many) for names, many in found]


def _with_shared_codes(drafted: Sequence[DraftedColumn], rows: FirstRows) -> list[DraftedColumn]:
    """Return the columns with a remark on a level that others have in the same rows: a code for "not asked", say."""
    notes: dict[str, list[DraftNote]] = {}
    declared = {one.name: one.column for one in drafted}
    for value, names, cells in rows.shared_values():
        having = {
            name: level
            for name in names
            if isinstance(column := declared[name], Categorical)
            for level in column.levels
            if canonical_value(str(level)) == value and not reads_as_missing(str(level))
        }
        if len(having) < LIMITS.min_shared_columns:
            continue
        for name, level in having.items():
            others = tuple(other for other in having if other != name)
            notes.setdefault(name, []).append(SharedCode(level, others, cells, seen=rows.rows))
    return [replace(one, notes=(*one.notes, *notes.get(one.name, ()))) for one in drafted]


_GRADE_WORD = re.compile(
    r"\b(none|no|not at all|never|rarely|seldom|sometimes|occasional(ly)?|often|usually|always|daily|weekly|monthly|"
    r"low|lower|medium|middle|moderate(ly)?|high|higher|mild|severe|light|heavy|little|some|much|many|most|very|"
    r"poor|fair|good|excellent|bad|small|large|first|second|third|fourth|primary|secondary|tertiary|college|"
    r"active|inactive|quite|rather|less|more|under|over|below|above|grade|stage|class|stufe|grad|klasse|stadium|"
    r"agree|disagree|keine?|nie|selten|manchmal|oft|immer|gering|niedrig|mittel|hoch|leicht|mäßig|schwer|stark|wenig|viel|"
    r"sehr|schlecht|gut|jamais|rarement|parfois|souvent|toujours|faible|moyen(ne)?|élevée?|légère?|modérée?|sévère)\b"
    r"|[<>≤≥]|\d",
    re.IGNORECASE,
)


def _read_as_grades(levels: Sequence[str]) -> bool:
    """Return whether most labels have a word or a number of a scale: the order of the file may be an order.

    >>> _read_as_grades(["none", "mild", "severe"]), _read_as_grades(["beer", "wine", "liquor"])
    (True, False)
    >>> _read_as_grades(["no", "yes"])
    False
    """
    known = [level for level in levels if not reads_as_missing(level)]
    graded = sum(bool(_GRADE_WORD.search(level)) for level in known)
    return len(known) >= RULES.min_grades and graded >= RULES.min_graded_share * len(known)


def _with_label(one: DraftedColumn, label: str) -> DraftedColumn:
    """Return the column with the label that its file has for it, unless that is its name."""
    label = "".join(letter for letter in " ".join(label.split()) if letter.isprintable())[:MAX_LABEL].strip()
    if not label or label == one.name:
        return one
    match one.column:
        case Categorical() as column:
            return replace(one, column=replace(column, label=label))
        case Numeric() as column:
            missing: list[Any] = [*column.missing, *column.missing_texts]
            return replace(one, column=replace(column, label=label, missing=missing))
    return replace(one, notes=(FileLabel(label), *one.notes))


def _with_determined(
    drafted: Sequence[DraftedColumn], rows: FirstRows, source: Source
) -> list[DraftedColumn]:
    """Return the columns with a remark on those that others determine."""
    declared = {one.name: one.column for one in drafted if one.column is not None}
    notes = {
        one.column: FollowsFrom(one.by, one.relation) for one in determined_in(rows, declared, source.marks)
    }
    return [
        replace(one, notes=(*one.notes, notes[one.name])) if one.name in notes else one for one in drafted
    ]


def _unusable(source: Source, name: str) -> LeftOut | None:
    """Return why a column can't be drafted whatever it holds; None where it can."""
    if not name:
        return Unusable("no-name")
    if source.names.count(name) > 1:
        return Unusable("repeated-name")
    type_ = source.types[source.names.index(name)]
    if type_ is not None and arrow.value_kind(type_) == "unsupported":
        return UnknownType(str(type_))
    return None


def _draft_column(
    name: str, profile: ColumnProfile, code_book: Mapping[str, str] = MappingProxyType({})
) -> DraftedColumn:
    if not profile.texts:
        return DraftedColumn(name, None, Unusable("no-values"))
    if {decode_bytes(text) for text in profile.texts} <= set(code_book.values()):
        levels = list(dict.fromkeys(code_book.values()))
        try:
            labelled = _with_missing_level(levels, code_book, [], profile, [])
        except SchemaError:  # a code that is also a label
            labelled = _with_missing_level(levels, {}, [], profile, [])
        codes = bool(labelled.column.aliases)
        grades = _read_as_grades(levels)
        book = CodeBook(len(levels), codes=codes, grades=grades)
        return DraftedColumn(name, labelled.column, notes=(book, *labelled.notes))
    if _is_numeric(profile):
        column = _numeric(name, profile)
        remarks = _numeric_notes(profile, column)
        if _is_age(name, profile):
            remarks.insert(0, AgeBounds(*RULES.ages))
        few = profile.all_whole and len(profile.numbers) <= RULES.max_code_numbers
        if (few and _CODE_NAME.search(name)) or _is_run_of_codes(profile):
            remarks.append(NumberCodes(len(profile.numbers)))
        return DraftedColumn(name, column, notes=tuple(remarks))
    if len(profile.texts) > RULES.max_levels:
        if profile.number_share() >= RULES.min_number_share:
            cells, texts = profile.not_numbers.total, tuple(profile.not_numbers.most_common())
            return DraftedColumn(name, None, UnreadableNumbers(cells, texts))
        return DraftedColumn(name, None, TooManyTexts(RULES.max_levels))
    drafted = _categorical(profile)
    return DraftedColumn(name, drafted.column, notes=tuple(drafted.notes))


# ---- categorical columns


class _Drafted(NamedTuple):
    column: Categorical
    notes: list[DraftNote]


def _categorical(profile: ColumnProfile) -> _Drafted:
    """Return the draft of a categorical column."""
    if profile.texts <= set(TRUTH_TEXTS):
        return _with_missing_level([False, True], {}, [], profile, [])
    plain = all(spelling.is_plain_number(text.decode("latin-1")) for text in profile.texts)
    if profile.all_numbers and profile.all_whole and math.isfinite(profile.lower) and plain:
        return _whole_numbers(profile)
    return _texts(profile)


def _whole_numbers(profile: ColumnProfile) -> _Drafted:
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
    missing: list[Level] = [*codes, *(text for text in unusual if text not in aliases)]
    drafted = _with_missing_level(levels, aliases, missing, profile, codes)
    if aliases:
        drafted.notes.append(AliasesRead(tuple(aliases)))
    if len(levels) >= RULES.min_grades:
        drafted.notes.append(NumberLevels(levels[0], levels[-1]))
    return drafted


def _texts(profile: ColumnProfile) -> _Drafted:
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
    if len(spellings) == 2 and _says_no(spellings[1][0]) and not _says_no(spellings[0][0]):
        spellings.reverse()  # an effect is that of the second level against the first
    aliases = {text: level for level, *others in spellings for text in others}
    column, notes = _with_missing_level([level for level, *_ in spellings], aliases, codes, profile, codes)
    notes += [AliasesRead(tuple(others), level) for level, *others in spellings if others]
    return _Drafted(column, notes + _abbreviations(column))


def _says_no(text: str) -> bool:
    return text.casefold() in _NO_WORDS


def _is_missing_code(text: str, profile: ColumnProfile) -> bool:
    """Return whether a text usually means "missing": a word, or a number where all others are not numbers."""
    value = canonical_value(text)
    if isinstance(value, Decimal):
        return value in _MISSING_LEVEL_CODES and not math.isfinite(profile.lower_but_codes)
    return text.casefold() in _MISSING_TEXT_CODES


def _with_missing_level(
    levels: Sequence[Level],
    aliases: Mapping[str, Level],
    missing: Sequence[Level],
    profile: ColumnProfile,
    codes: Sequence[Level],
) -> _Drafted:
    """Return the column, with a level for missing cells where there are some, and notes on these.

    Levels that read as missing come last: the first level is what others are compared with.
    """
    levels = sorted(levels, key=lambda level: reads_as_missing(str(level)))
    other = next((level for level in levels if reads_as_missing(str(level))), None)
    notes: list[DraftNote] = []
    if not (profile.missing or missing):
        notes += [] if other is None else [MissingLevel(str(other), in_file=True)]
        return _Drafted(Categorical(levels, other=other, aliases=aliases), notes)
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
    return _Drafted(Categorical(levels, other=other, aliases=aliases, missing=missing), notes)


def _abbreviations(column: Categorical) -> list[DraftNote]:
    """Return a note for every single letter that exactly one other level begins with."""
    notes: list[DraftNote] = []
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
    """Return whether a column holds numbers, or mostly, and more different ones than levels usually are."""
    many = len(profile.numbers) > RULES.max_number_levels
    fractions = not profile.all_whole or max(-profile.lower, profile.upper) >= 2**53
    mostly = many and profile.number_share() >= RULES.min_number_share
    return (many or fractions) and (profile.all_numbers or mostly) and math.isfinite(profile.lower)


def _is_age(name: str, profile: ColumnProfile) -> bool:
    """Return whether a column is named like an age and its numbers may be years of people, old ones among them."""
    lower, upper, _ = profile.numbers_but_missing_codes()
    youngest, oldest = RULES.ages
    return bool(_AGE_NAME.search(name)) and lower >= youngest and RULES.min_oldest < upper <= oldest


def _is_run_of_codes(profile: ColumnProfile) -> bool:
    """Return whether the numbers are 0, 1, 2, ... or 1, 2, ... up to a few dozens without a gap, as codes are."""
    lower, upper, values = profile.numbers_but_missing_codes()
    if not profile.all_whole or lower not in (0, 1) or upper > RULES.max_code_run:
        return False
    return len(np.unique(values)) == upper - lower + 1


def _numeric_notes(profile: ColumnProfile, column: Numeric) -> list[DraftNote]:
    notes: list[DraftNote] = []
    becomes, texts = (profile.rows, column.other, column.missing_level), profile.not_numbers
    if texts.total:
        notes.append(UnreadCells(texts.total, *becomes, tuple(texts.most_common())))
    if profile.with_separators:
        notes.append(WithSeparators(profile.with_separators))
    if profile.missing:
        notes.append(UnreadCells(profile.missing, *becomes))
    for code, cells in profile.likely_missing_codes():
        notes.append(MissingCode(code, cells, None))
    _, _, values = profile.numbers_but_missing_codes()
    if column.bins and column.bins != _even_cuts(profile):
        notes.append(Check("quantile-bins"))
    if (share := largest_share(values, column.bins or ())) > RULES.max_bin_share:
        middle = float(np.median(values))
        same = middle if float(np.mean(values == middle)) >= share else None
        notes.append(UnevenBins(share, same))
    if (most := _far_below(values, column)) is not None:
        part = (most - column.lower) / (column.upper - column.lower)
        notes.append(FarUpper(most, part))
    if _is_skewed(profile, column):
        notes.append(Check("skewed"))
    return notes


def _far_below(values: NDArray[np.float64], column: Numeric) -> float | None:
    """Return a round number far below the upper bound below which nearly all numbers lie; None if there is none."""
    if len(values) < RULES.min_skewed_numbers:
        return None
    end = float(np.quantile(values, RULES.central_quantiles[1]))
    _, most = public_bounds(column.lower, max(end, column.lower))
    far = column.lower + RULES.far_upper * (column.upper - column.lower)
    return most if most <= far else None


def _is_skewed(profile: ColumnProfile, column: Numeric) -> bool:
    """Return whether numbers above 0 reach much further up from their median than down."""
    _, _, values = profile.numbers_but_missing_codes()
    if column.lower < 0 or len(values) < RULES.min_skewed_numbers:
        return False
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
    least = max(low, float(np.min(values[values > 0], initial=math.inf)))
    skewed = high - middle > RULES.min_skewness * max(middle - low, 0.0) and high > middle
    return bool(
        skewed and high >= RULES.min_spread * least
    )  # ratios count where numbers spread over a power of ten


def _numeric(name: str, profile: ColumnProfile) -> Numeric:
    """Return bounds rounded outward, round cut points where most numbers lie, and a middle value for missing ones.

    More rows get more cut points: fine bins hold more constant, coarse ones leave more power. Where cut points of equal
    distance leave most rows in one bin, they are round numbers near quantiles instead.
    """
    lower, upper, values = profile.numbers_but_missing_codes()
    bounds = RULES.ages if _is_age(name, profile) else public_bounds(lower, upper)
    codes = [code for code, _ in profile.likely_missing_codes()]
    texts = [decode_bytes(text) for text in profile.not_numbers.counts]
    missing = [*codes, *(text for text in texts if reads_as_missing(text))]
    absent = (
        profile.missing
        + profile.not_numbers.total
        + sum(cells for _, cells in profile.likely_missing_codes())
    )
    try:
        bins: Sequence[float] = _even_cuts(profile)
        if len(values) and largest_share(values, bins) > RULES.max_uneven_share:
            bins = min(
                (bins, quantile_cuts(values, _wanted_cuts(profile), bounds)),
                key=lambda cuts: largest_share(values, cuts),
            )
        other = None
        if len(values):
            middle = float(f"{float(np.median(values)):.2g}")  # two digits: it is the value of no row
            other = min(max(middle, bounds[0]), bounds[1])
        own = absent > RULES.min_missing_level * profile.rows
        return Numeric(*bounds, bins or None, other=other, missing=missing, missing_level=own)  # type: ignore[arg-type]
    except SchemaError:
        return Numeric(*bounds, missing=codes)


def _wanted_cuts(profile: ColumnProfile) -> int:
    wanted = next(number for rows, number in RULES.cuts_by_rows if profile.rows >= rows)
    return min(wanted, len(profile.numbers) - 1)


def _even_cuts(profile: ColumnProfile) -> tuple[float, ...]:
    """Return round cut points of equal distance between the ends of nearly all numbers."""
    lower, upper, values = profile.numbers_but_missing_codes()
    bounds = public_bounds(lower, upper)
    low, high = (
        (float(end) for end in np.quantile(values, RULES.central_quantiles)) if len(values) else bounds
    )
    return tuple(cut_points(low, high, profile.all_whole, _wanted_cuts(profile)))


def largest_share(values: NDArray[np.float64], cuts: Sequence[float]) -> float:
    """Return the share of the numbers that lie in the bin with most of them.

    >>> largest_share(np.array([0.0, 1.0, 2.0, 9.0]), [1.0, 5.0])
    0.5
    """
    bins = np.bincount(np.searchsorted(np.asarray(cuts), values, side="right"), minlength=1)
    return float(bins.max() / max(len(values), 1))


_ROUNDEST = {
    1.0: 0.0,
    2.0: 0.0,
    5.0: 0.0,
    1.5: 0.01,
    2.5: 0.01,
    3.0: 0.01,
    4.0: 0.01,
    6.0: 0.02,
    7.0: 0.02,
    8.0: 0.02,
}


def quantile_cuts(values: NDArray[np.float64], number: int, bounds: tuple[float, float]) -> tuple[float, ...]:
    """Return round numbers near the quantiles of numbers, at most ``number`` of them: one or two digits each.

    >>> quantile_cuts(np.array([0.0] * 40 + [1, 1, 1, 2, 2, 3, 4, 5, 8, 12, 20, 35] * 5), 3, (0.0, 35.0))
    (1.0, 2.0, 5.0)
    """
    ordered = np.sort(values)
    whole = bool((ordered == np.rint(ordered)).all())
    sizes = np.abs(ordered[ordered != 0])
    if not len(sizes):
        return ()
    powers = range(math.floor(math.log10(sizes.min())), math.floor(math.log10(sizes.max())) + 1)
    round_ones = {
        float(f"{sign * digits * 10.0**power:.3g}"): rough
        for power in powers[-12:]
        for digits, rough in _ROUNDEST.items()
        for sign in (1, -1)
    } | {0.0: 0.0}
    ends = ([ordered[0], ordered[-1]], np.quantile(ordered, (0.1, 0.9)))
    fine = [cut for low, high in ends for cut in cut_points(float(low), float(high), whole, 40)]
    candidates = dict.fromkeys(fine, 0.03) | round_ones
    usable = [cut for cut in candidates if bounds[0] < cut < bounds[1] and (not whole or cut == round(cut))]
    below = {cut: float(np.searchsorted(ordered, cut, side="left")) / len(ordered) for cut in usable}
    chosen: set[float] = set()
    for i in range(1, number + 1):
        left = [
            cut
            for cut in usable
            if cut not in chosen and 0 < below[cut] < 1 and below[cut] not in {below[c] for c in chosen}
        ]
        if left:
            wanted = i / (number + 1)
            chosen.add(min(left, key=lambda cut: (abs(below[cut] - wanted) + candidates[cut], cut)))
    return tuple(sorted(chosen))


def cut_points(low: float, high: float, whole: bool, aim: int = 8) -> list[float]:
    """Return multiples of a round step strictly between two numbers, as near to ``aim`` of them as possible.

    >>> cut_points(18, 91, True), cut_points(0.2, 0.4, False)
    ([20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0], [0.22, 0.24, 0.26, 0.28, 0.3, 0.32, 0.34, 0.36, 0.38])
    """
    width = high - low
    if not (math.isfinite(width) and width > 0):
        return []
    smallest = Decimal(10) ** (math.floor(math.log10(width)) - 1)
    steps = [smallest * Decimal(part) for part in ("1", "2", "2.5", "5", "10", "20", "50", "100")]
    tried = [_multiples(low, high, step) for step in steps if not whole or step == step.to_integral_value()]
    return min(tried, key=lambda found: abs(len(found) - aim), default=[])


def _multiples(low: float, high: float, step: Decimal) -> list[float]:
    first = int((Decimal(low) / step).to_integral_value("ROUND_FLOOR")) + 1
    last = int((Decimal(high) / step).to_integral_value("ROUND_CEILING")) - 1
    return [cut for cut in (float(step * k) for k in range(first, last + 1)) if low < cut < high]


def public_bounds(lower: float, upper: float) -> tuple[float, float]:
    """Return round numbers outside a range: multiples of 1, 2 or 5 times a power of ten, a few steps apart.

    The extremes of a sample belong to single people, so no digit of them is kept beyond such a step.

    >>> public_bounds(25, 64), public_bounds(-42, 49), public_bounds(0.2, 0.4), public_bounds(7, 7)
    ((25.0, 65.0), (-50.0, 50.0), (0.2, 0.4), (6.0, 8.0))
    """
    lower, upper = (min(max(float(bound), -MAX_ABS_BOUND), MAX_ABS_BOUND) for bound in (lower, upper))
    width = upper - lower if upper > lower else max(abs(upper), 1.0)
    least = Decimal(repr(width)) / RULES.bound_steps
    power = Decimal(10) ** math.floor(math.log10(least))
    step = next(power * part for part in (1, 2, 5, 10) if power * part >= least)
    low = (Decimal(repr(lower)) / step).to_integral_value("ROUND_FLOOR") * step
    high = (Decimal(repr(upper)) / step).to_integral_value("ROUND_CEILING") * step
    low, high = (low, high) if low < high else (low - step, high + step)
    return max(float(low), -MAX_ABS_BOUND), min(float(high), MAX_ABS_BOUND)
