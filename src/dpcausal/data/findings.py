"""Findings: what the rows of a source show that the person who declares its columns should know.

Each is one fact; drafts carry them as notes on the source or on a column, checks as lists. **Not private**: all of it
was read from rows without noise. ``dpcausal.present.schema`` puts them into words.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from dpcausal.core.facts import Fact
from dpcausal.data.columns import Level


class Relation(StrEnum):
    """How a column follows from others."""

    LINEAR = "linear"  # sums and differences of multiples, and a constant
    PRODUCT = "product"  # products of powers
    CUTS = "cuts"  # cut points on one number
    CUTS_OF_SUM = "cuts-of-sum"
    CUTS_OF_DIFFERENCE = "cuts-of-difference"
    LEVELS = "levels"  # the levels of others


class Finding(Fact):
    """A fact about the rows that the person who declares columns should know."""


# ---- of a source


class Recognised(Finding):
    """An entry on how the file is written, and from how many cells it was recognised."""

    entry: Literal["encoding", "decimal", "thousands"]
    cells: int
    value: str


class HeaderLikeValues(Finding):
    """The names of the columns look like values: the file may have no header."""


class RepeatedIdentifier(Finding):
    """An identifier whose values repeat: how many rows come after the first with their value.

    ``unique``: another identifier, which never repeats: then rows are persons, and this one says who belong together.
    """

    column: str
    rows: int
    unique: str | None = None


class MissingTogether(Finding):
    """Columns that are missing in nearly the same rows, and the number of rows in which all are missing.

    ``seen``: how many rows were looked at, the first ones; None: all.
    """

    columns: tuple[str, ...]
    rows: int
    seen: int | None = None


class ManyColumns(Finding):
    """How many columns are drafted."""

    columns: int


# ---- of a column that another one explains


class Determined(Finding):
    """A column that follows from one or two others."""

    column: str
    by: tuple[str, ...]
    relation: Relation


class MissingWith(Finding):
    """A column that is missing in nearly all rows in which another has a value, and how many these are.

    ``number``: the column that is missing holds numbers; ``seen``: how many rows were looked at, the first ones; None:
    all.
    """

    column: str
    other: str
    value: str
    cells: int
    number: bool
    seen: int | None = None


class SharedCode(Finding):
    """A level that other columns have in the same rows."""

    level: Level
    columns: tuple[str, ...]
    cells: int
    seen: int


class TimeToEvent(Finding):
    """A time to event, and the column that may say whether the event happened."""

    event: str


class OrderedMissingLevel(Finding):
    """A level for missing values in an ordered column, which a rank test treats as a real position.

    ``below`` and ``above`` are the levels next to it; None at the end of the order. It follows from the schema alone,
    which is public.
    """

    column: str
    level: str
    below: str | None
    above: str | None


# ---- of the cells of a column


class UnreadCells(Finding):
    """Cells that are missing, or no numbers (the most frequent texts, with counts), and the level or number instead.

    ``own``: they have a level or a bin of their own.
    """

    cells: int
    rows: int
    becomes: str | float | None
    own: bool
    texts: tuple[tuple[str, int], ...] = ()


class MissingCode(Finding):
    """A code that is treated as missing, and the level that it becomes; None in a numeric column."""

    code: Level
    cells: int
    becomes: str | None


class MissingLevel(Finding):
    """The level for missing cells; ``in_file``: a level of the file that reads as missing, and becomes `other`."""

    level: str
    in_file: bool


class AliasesRead(Finding):
    """Spellings read as a level, or as whole numbers (01, +1)."""

    spellings: tuple[str, ...]
    level: str | None = None


class Abbreviation(Finding):
    """A letter, and the level that it may be short for."""

    letter: str
    level: str


class WithSeparators(Finding):
    """Cells of numbers written with thousands separators."""

    cells: int


class CodeBook(Finding):
    """Levels that are the value labels of the file; aliases name their codes, or they read as grades in their order."""

    levels: int
    codes: bool
    grades: bool


# ---- of how numbers are distributed


class QuantileBins(Finding):
    """Cut points are round numbers near quantiles of the rows."""


class UnevenBins(Finding):
    """The share of the numbers in the fullest bin, and their value where all of them are equal."""

    share: float
    same: float | None


class Skewed(Finding):
    """Most numbers are small and some are many times as large."""


class AgeBounds(Finding):
    """Bounds of any age, not from rows."""

    lower: float
    upper: float


class NumberCodes(Finding):
    """How many different whole numbers there are, None for very many: they may be codes, of places for one."""

    values: int | None


class NumberLevels(Finding):
    """Levels that are whole numbers from here to there, which may be grades or codes."""

    lowest: int
    highest: int


# ---- why a column is not in a draft


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


class Dates(LeftOut):
    """More dates than levels may be, written in one of these formats, from one year to another as far as was looked."""

    written: tuple[str, ...]
    first: int
    last: int


class SaysWhose(LeftOut):
    """An identifier whose values repeat: it says whose rows are, and is no column of an analysis."""


class AllDifferent(LeftOut):
    """All rows have different values."""

    rows: int
