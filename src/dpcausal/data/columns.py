"""Declarations of columns: ``Categorical`` (levels) and ``Numeric`` (bounds and cut points).

A declaration is public. It is written down by a person and never read off the data, so it is checked once, when it is
made, and no row can make it fail later. A level is identified by its printed form: ``1`` and ``"1"`` are the same
level and can't both be declared. An alias and a missing code must differ from every level in every spelling
(``1.0`` or ``01`` for the level 1), so that each cell has exactly one meaning.

Every fault is a ``DeclarationError`` that names the entry at fault. Cost: O(number of levels).
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import SchemaError, did_you_mean

__all__ = [
    "DEFAULT_BINS",
    "MAX_LEVELS",
    "Categorical",
    "Codes",
    "Column",
    "DeclarationError",
    "Level",
    "Numeric",
    "code_type",
    "has_order",
    "missing_place",
]

Level = str | int | bool
Codes = NDArray[np.uint8] | NDArray[np.uint16]  # of the cells of a column

MAX_LEVELS = 65_535  # levels or bins of one column, so that a code fits in two bytes
MAX_ABS_BOUND = 1e100  # differences, products and squares of values stay finite, whatever the rows are
MAX_LABEL = 200  # characters
SCALES = ("linear", "log")
DEFAULT_BINS = 4  # bins of equal width where no cut points are declared

TRUE_SPELLINGS, FALSE_SPELLINGS = ("True", "true", "TRUE"), ("False", "false", "FALSE")
NUMBER_PATTERN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
LOOSE_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
ASCII_WHITESPACE = " \t\n\v\f\r"


_MISSING_LEVELS = frozenset(
    (
        "missing", "missing value", "unknown", "unk", "not known", "unspecified", "not stated", "not asked",
        "not available", "not recorded", "not reported", "no answer", "no response", "refused", "refusal", "declined",
        "don't know", "don\N{RIGHT SINGLE QUOTATION MARK}t know", "do not know", "prefer not to say",
        "prefer not to answer", "na", "n/a", "n.a.", "nan", "null", "none given", "?",
        "k.a.", "k. a.", "keine angabe", "ohne angabe", "keine antwort", "unbekannt", "nicht bekannt", "weiß nicht",
        "weiss nicht", "verweigert", "antwort verweigert", "fehlend", "fehlt",
        "inconnu", "inconnue", "non précisé", "non précisée", "non renseigné", "non renseignée", "manquant",
        "manquante", "donnée manquante", "ne sait pas", "nsp", "refus", "sans réponse", "pas de réponse",
        "desconocido", "no sabe", "onbekend", "okänt", "sconosciuto",
    )
)  # fmt: skip


MISSING_WITHOUT_SPACE = frozenset("".join(text.split()) for text in _MISSING_LEVELS)


def reads_as_missing(level: str) -> bool:
    """Return whether a level reads as "no value known".

    >>> reads_as_missing("Not  known"), reads_as_missing("Non renseigné"), reads_as_missing("never")
    (True, True, False)
    """
    return " ".join(level.casefold().split()) in _MISSING_LEVELS


class DeclarationError(SchemaError):
    """A declaration that contradicts itself; ``entry`` is the key at fault, as a schema file spells it: ``"bins"``."""

    def __init__(self, entry: str, message: str) -> None:
        super().__init__(message)
        self.entry = entry

    def __reduce__(self) -> tuple[Any, ...]:
        return DeclarationError, (self.entry, str(self))


def require(holds: object, entry: str, message: str) -> None:
    """Raise ``DeclarationError`` about an entry of a declaration unless ``holds`` is true."""
    if not holds:
        raise DeclarationError(entry, message)


def canonical_value(text: str) -> object:
    """Return the meaning of a text: a number, a truth value, or the text itself without outer white space.

    >>> canonical_value("1.0") == canonical_value(" 01"), canonical_value("TRUE") == canonical_value("true")
    (True, True)
    >>> canonical_value("Yes") == canonical_value("yes")
    False
    """
    text = text.strip(ASCII_WHITESPACE)
    if LOOSE_NUMBER.fullmatch(text):
        return Decimal(text)
    return "true" if text in TRUE_SPELLINGS else "false" if text in FALSE_SPELLINGS else text


def is_unicode(text: str) -> bool:
    """Return whether a text can be encoded as UTF-8: it holds no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Aliases(Mapping[str, Level]):
    """An immutable, hashable mapping from spellings to levels; the order does not matter for equality."""

    __slots__ = ("_levels",)
    _levels: dict[str, Level]

    def __init__(self, levels: Mapping[str, Level]) -> None:
        self._levels = dict(levels)

    def __getitem__(self, spelling: str) -> Level:
        return self._levels[spelling]

    def __iter__(self) -> Iterator[str]:
        return iter(self._levels)

    def __len__(self) -> int:
        return len(self._levels)

    def __hash__(self) -> int:
        return hash(frozenset(self._levels.items()))

    def __repr__(self) -> str:
        return repr(self._levels)


@dataclass(frozen=True, eq=False)
class Categorical:
    """A column that takes one of the declared levels. The code of a cell is the position of its level.

    **Guarantee.** A cell is coded by itself, by what is declared and nothing else: an alias is read as its level, an
    undeclared value, a missing code or an empty cell as ``other``. So no sensitivity changes and no value is ever an
    error.

    Parameters
    ----------
    levels : sequence of str, int or bool
        At least one and at most 65,535; no two may print the same.
    ordered : bool, default False
        Whether the order of ``levels`` has a meaning, for tests on ranks.
    other : str, int or bool, optional
        The level that an undeclared or missing value gets. The first level unless given.
    aliases : mapping of str to level, optional
        Other spellings, and the level that each means.
    missing : sequence of str, int or bool, optional
        Texts that mean a missing value, besides an empty cell.
    label : str, optional
        What the column is called for people, on one line: reports show it beside the name. The name stays what tests
        and options go by, and two columns that differ in nothing else are equal.
    drafted : bool, default False
        Whether it was read from rows and nobody has checked it: a column of a draft. The mark stays with the column in
        every schema that is made with it, and two columns that differ in nothing else are equal.

    Raises
    ------
    SchemaError
        If the declaration contradicts itself.

    Examples
    --------
    >>> Categorical(["no", "yes"]).other, Categorical([0, 1, 2]).size
    ('no', 3)
    >>> Categorical(["no", "yes"], aliases={"Y": "yes"}, missing=["NA"]).aliases
    {'Y': 'yes'}
    >>> Categorical([1, "1"])
    Traceback (most recent call last):
    dpcausal.data.columns.DeclarationError: levels 1 and '1' print the same
    """

    levels: Sequence[Level]
    ordered: bool = False
    other: Level | None = None
    aliases: Mapping[str, Level] = field(default_factory=dict)
    missing: Sequence[Level] = ()
    label: str = field(default="", repr=False, compare=False)
    drafted: bool = field(default=False, repr=False, compare=False)
    printed: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        levels = tuple(_as_level(level, "levels") for level in _as_list(self.levels, "levels"))
        require(levels, "levels", "levels is empty: a categorical column needs at least one level")
        many = f"levels holds {len(levels):,} entries: at most {MAX_LEVELS:,} can be declared"
        require(len(levels) <= MAX_LEVELS, "levels", many)
        by_print: dict[str, Level] = {}
        for level in levels:
            alike = f"levels {by_print.get(str(level))!r} and {level!r} print the same"
            require(str(level) not in by_print, "levels", alike)
            by_print[str(level)] = level
        other = levels[0] if self.other is None else _as_level(self.other, "other")
        if str(other) not in by_print:
            hint = (
                did_you_mean(str(other), by_print)
                or f": add it to levels ({len(by_print)} so far), or name one of them"
            )
            raise DeclarationError("other", f"other is {other!r}, which is not a level{hint}")
        aliases = _as_aliases(self.aliases, by_print)
        vars(self).update(
            levels=levels,
            ordered=_as_truth(self.ordered, "ordered"),
            other=by_print[str(other)],
            aliases=aliases,
            missing=_as_missing_texts(self.missing, by_print, aliases),
            printed=tuple(by_print),
            label=_as_label(self.label),
        )

    @property
    def size(self) -> int:
        """Number of levels."""
        return len(self.levels)

    @property
    def other_code(self) -> int:
        """Code of ``other``."""
        return self.printed.index(str(self.other))

    @property
    def missing_codes(self) -> tuple[int, ...]:
        """Codes of the levels that read as "no value known"."""
        return tuple(code for code, level in enumerate(self.printed) if reads_as_missing(level))

    @property
    def may_be_missing(self) -> bool:
        """Whether the declaration has a level or codes for missing values."""
        return bool(self.missing_codes or self.missing)

    @property
    def public_other(self) -> str:
        """What a missing or undeclared value becomes, as it is told to people."""
        return str(self.other)

    def _key(self) -> tuple[object, ...]:  # True == 1 in Python, but they are different levels
        """Return the values by which columns are compared and hashed."""
        types, missing = tuple(map(type, self.levels)), tuple(map(str, self.missing))
        return types, self.printed, self.ordered, str(self.other), self.aliases, missing

    def __eq__(self, another: object) -> bool:
        return isinstance(another, Categorical) and self._key() == another._key()

    def __hash__(self) -> int:
        return hash(self._key())


@dataclass(frozen=True)
class Numeric:
    """A column of numbers between two declared bounds, with public cut points for tables.

    **Guarantee.** A cell is read by itself, by what is declared and nothing else. A number outside the bounds is
    clamped, infinities too; a missing cell, NaN, text that is no number and a missing code become ``other``. So no
    sensitivity changes and no value is ever an error.

    Parameters
    ----------
    lower, upper : float
        Bounds, ``lower < upper``, within -1e100 and 1e100.
    bins : sequence of float, optional
        Cut points, strictly increasing and strictly between the bounds. The code of a value is the number of cut
        points that it is not below: m cut points make m + 1 bins, and a value on a cut point falls in the bin to its
        right. Unless given, the range is cut into four bins of equal width.
    other : float, optional
        The number that a missing value gets, between the bounds. ``lower`` unless given.
    missing : sequence of float or str, optional
        Numbers that mean a missing value (999, -9). They become ``other`` and are not clamped. Texts may be listed too
        ("k.A."): a text that is no number becomes ``other`` in any case, and ``dc.check`` then counts it as missing.
    scale : str, default "linear"
        ``"log"`` where ratios count rather than differences, as with doses, concentrations, costs: bins of equal width
        are then cut on the logarithm, and so are strata; ``moments``, ``gcm`` and ``crt`` see the logarithm of a
        column that they regress on. ``lower`` must be above 0, or 0: then it is the logarithm of 1 + value, so that
        values below 1 lie close together. A number between the bounds is mapped by itself and stays between the
        mapped bounds, so no sensitivity changes.
    missing_level : bool, default False
        Whether cells without a number have a bin of their own in tables, after the highest one. Methods on values
        still give them ``other``.
    label, drafted
        As in ``Categorical``.

    Raises
    ------
    SchemaError
        If the declaration contradicts itself.

    Examples
    --------
    >>> Numeric(0, 110).bins, Numeric(0, 110, [18, 65]).size
    ((27.5, 55.0, 82.5), 3)
    >>> Numeric(0.01, 100, scale="log").bins, Numeric(0, 110, [18, 65], missing_level=True).size
    ((0.1, 1.0, 10.0), 4)
    """

    lower: float
    upper: float
    bins: Sequence[float] | None = None
    other: float | None = None
    missing: Sequence[float] = ()
    scale: str = "linear"
    missing_level: bool = False
    label: str = field(default="", repr=False, compare=False)
    drafted: bool = field(default=False, repr=False, compare=False)
    missing_texts: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        lower, upper = _as_number(self.lower, "lower"), _as_number(self.upper, "upper")
        bounds = f"lower ({lower:g}) and upper ({upper:g})"
        require(lower < upper, "lower", f"lower ({lower:g}) must be below upper ({upper:g})")
        within = f"{bounds} must lie within {-MAX_ABS_BOUND:g} and {MAX_ABS_BOUND:g}"
        require(max(-lower, upper) <= MAX_ABS_BOUND, "lower", within)
        _check_scale(self.scale, lower)
        bins = _as_bins(self.bins, lower, upper, self.scale)
        other = lower if self.other is None else _as_number(self.other, "other")
        require(lower <= other <= upper, "other", f"other ({other:g}) must lie between {bounds}")
        missing, texts = _as_missing_numbers(self.missing)
        vars(self).update(
            lower=lower,
            upper=upper,
            bins=bins,
            other=other,
            missing=missing,
            missing_texts=texts,
            missing_level=_as_truth(self.missing_level, "missing_level"),
            label=_as_label(self.label),
        )

    @property
    def size(self) -> int:
        """Number of bins, that of missing values included where they have one."""
        assert self.bins is not None
        return len(self.bins) + 1 + self.missing_level

    @property
    def other_code(self) -> int:
        """Code of a cell without a number: its own bin where it has one, else that of ``other``."""
        assert self.bins is not None
        assert self.other is not None
        return self.size - 1 if self.missing_level else bisect_right(self.bins, self.other)

    @property
    def missing_codes(self) -> tuple[int, ...]:
        """Code of the bin for missing values, if there is one."""
        return (self.size - 1,) if self.missing_level else ()

    @property
    def may_be_missing(self) -> bool:
        """Whether the declaration has a bin or codes for missing values."""
        return bool(self.missing_level or self.missing or self.missing_texts)

    @property
    def public_other(self) -> float | str:
        """What a missing value, or a text that is no number, becomes, as it is told to people."""
        assert self.other is not None
        return self.public(self.other)

    def public(self, value: float) -> float | str:
        """Return a number of this column as a fact tells it: the number, unless it stands for something else."""
        return value

    def shown(self, value: float) -> str:
        """Return a number of this column as text for people."""
        return f"{value:g}"

    def on_scale(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return numbers on the declared scale (linear or logarithmic), each from its own value alone."""
        if self.scale == "linear":
            return values
        low, high = self.scaled_bounds
        mapped = np.log1p(values) if self.lower == 0 else np.log(values)
        return np.asarray(np.clip(mapped, low, high))  # the bounds are rounded too

    @property
    def scaled_bounds(self) -> tuple[float, float]:
        """The bounds on the declared scale."""
        if self.scale == "linear":
            return self.lower, self.upper
        mapped = math.log1p if self.lower == 0 else math.log
        return mapped(self.lower), mapped(self.upper)


Column = Categorical | Numeric


def code_type(size: int) -> Any:
    """Return the numpy type of codes: one byte for up to 256 levels or bins, else two."""
    return np.uint8 if size <= 256 else np.uint16


def as_drafted(column: Column) -> Column:
    """Return a copy of the column, marked as read from rows and unchecked.

    >>> as_drafted(Numeric(0, 110)).drafted, as_drafted(Numeric(0, 110)) == Numeric(0, 110)
    (True, True)
    """
    marked = copy(column)
    vars(marked)["drafted"] = True
    return marked


def has_order(column: Column) -> bool:
    """Return whether the levels of a column, but one for missing values, have an order: numbers and two levels do.

    >>> has_order(Numeric(0, 9, [3])), has_order(Categorical(["f", "m"])), has_order(Categorical(["a", "b", "c"]))
    (True, True, False)
    """
    return isinstance(column, Numeric) or column.ordered or column.size <= 2


def missing_place(column: Column) -> int | None:
    """Return the code of the level for missing values; None where the declaration has none, or several.

    >>> missing_place(Numeric(0, 9, [3], missing_level=True)), missing_place(Numeric(0, 9, [3]))
    (2, None)
    """
    codes = column.missing_codes
    other_levels = isinstance(column, Numeric) or column.size > 2
    return codes[0] if len(codes) == 1 and other_levels else None


# ---- checks of single entries. ``entry`` is the key at fault, ``part`` says which of its values is meant.


def _as_label(value: Any) -> str:
    """Return a label; refuse anything but one line of printable text."""
    fits = isinstance(value, str) and value.isprintable() and len(value) <= MAX_LABEL and is_unicode(value)
    what = f"one line of at most {MAX_LABEL} printable characters"
    require(fits, "label", f"label must be {what}, not {str(value)[:40]!r}")
    return str(value).strip()


def _as_truth(value: Any, entry: str) -> bool:
    """Return a truth value; refuse anything else."""
    require(isinstance(value, bool | np.bool_), entry, f"{entry} must be true or false, not {value!r}")
    return bool(value)


def _as_list(value: Any, entry: str) -> list[Any]:
    """Return a list of the entries; refuse a text, a mapping and a single value."""
    is_list = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    require(is_list, entry, f"{entry} must be a list, not {value!r}")
    return list(value)


def _as_level(value: Any, entry: str, part: str = "") -> Level:
    """Return one level; refuse anything but text, an integer or a boolean."""
    name = f"{entry} ({part})" if part else entry
    if isinstance(value, np.bool_ | np.integer | np.str_):
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        fits = -(2**63) <= value < 2**64
        require(fits, entry, f"{name} holds an integer beyond 64 bits: write it as text")
        return int(value)
    require(isinstance(value, str), entry, f"{name} must be text, integers or booleans, not {value!r}")
    broken = f"{name} holds {value!a}, which is not valid text (a lone surrogate)"
    require(is_unicode(value), entry, broken)
    return str(value)


def _as_number(value: Any, entry: str, part: str = "") -> float:
    """Return one finite number; refuse anything else."""
    name = f"{entry} ({part})" if part else entry
    if isinstance(value, np.generic):
        value = value.item()
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    require(is_number, entry, f"{name} must be a number, not {value!r}")
    try:
        number = float(value) + 0.0  # -0.0 + 0.0 is 0.0
    except OverflowError:
        number = math.inf
    require(math.isfinite(number), entry, f"{name} must be a finite number, not {number}")
    return number


def _check_scale(scale: Any, lower: float) -> None:
    """Refuse an unknown scale, or a logarithmic one with a negative lower bound."""
    require(scale in SCALES, "scale", f'scale must be "linear" or "log", not {scale!r}')
    needs = f'scale = "log" needs lower above 0, or 0 for the logarithm of 1 + value; lower is {lower:g}'
    require(scale == "linear" or lower >= 0, "scale", needs)


def _equal_bins(lower: float, upper: float, scale: str) -> tuple[float, ...]:
    """Return the cut points of bins of equal width on a scale; on that of logarithms rounded to six digits."""
    parts = [i / DEFAULT_BINS for i in range(1, DEFAULT_BINS)]
    if scale == "linear":
        return tuple(lower * (1 - part) + upper * part for part in parts)
    if lower > 0:
        cuts = [lower ** (1 - part) * upper**part for part in parts]
    else:
        cuts = [math.expm1(part * math.log1p(upper)) for part in parts]
    return tuple(float(f"{cut:.6g}") for cut in cuts)


def _as_bins(value: Any, lower: float, upper: float, scale: str = "linear") -> tuple[float, ...]:
    """Return the cut points: those given, checked, or as many of equal width on the scale."""
    if value is None:
        bins = _equal_bins(lower, upper, scale)
    else:
        bins = tuple(_as_number(cut, "bins", "every cut point") for cut in _as_list(value, "bins"))
    many = f"bins makes {len(bins) + 1:,} bins: at most {MAX_LEVELS:,} can be declared"
    require(len(bins) < MAX_LEVELS, "bins", many)
    for cut in bins:
        side, bound = ("lower", lower) if cut <= lower else ("upper", upper)
        place = "equal to" if cut == bound else "below" if side == "lower" else "above"
        beyond = f"bins must lie strictly between lower and upper: {cut:g} is {place} {side} {bound:g}"
        require(lower < cut < upper, "bins", beyond)
    for left, right in pairwise((lower, *bins, upper)):
        order = f"bins must increase strictly between lower ({lower:g}) and upper ({upper:g}):"
        require(left < right, "bins", f"{order} {right:g} comes after {left:g}")
    return bins


def _as_aliases(value: Any, levels: dict[str, Level]) -> Aliases:
    """Return the spellings of levels, checked; ``levels`` are keyed by printed form.

    A spelling must not be a level, nor another spelling of one (``1.0`` for the level 1) unless it means that one.
    """
    is_table = isinstance(value, Mapping)
    require(is_table, "aliases", f'aliases must be a table such as {{ Yes = "yes" }}, not {value!r}')
    aliases: dict[str, Level] = {}
    # the first declared wins
    meanings = {canonical_value(text): level for text, level in reversed(levels.items())}
    for given, target in value.items():
        spelling = str(_as_level(given, "aliases", "every spelling"))
        level = str(_as_level(target, "aliases", "every level"))
        fault = ""
        if not spelling:
            fault = "an empty text is a missing cell, which becomes other"
        elif spelling in levels:
            fault = f"{spelling!r} is a level itself"
        elif level not in levels:
            fault = f"{spelling!r} means {level!r}, which is not a level{did_you_mean(level, levels)}"
        elif str(meaning := meanings.setdefault(canonical_value(spelling), levels[level])) != level:
            fault = f"{spelling!r} means {level!r}, but reads as {str(meaning)!r}"
        elif spelling in aliases:
            fault = f"{spelling!r} is given twice"
        require(not fault, "aliases", f"aliases: {fault}")
        aliases[spelling] = levels[level]
    return Aliases(aliases)


def _as_missing_texts(value: Any, levels: Mapping[str, Level], aliases: Aliases) -> tuple[Level, ...]:
    """Return the texts that mean a missing value; refuse one that is a level or alias, in any spelling."""
    listed = (_as_level(code, "missing", "every code") for code in _as_list(value, "missing"))
    codes = {str(code): code for code in listed}
    declared = {canonical_value(text): text for text in (*aliases, *levels)}
    for code in codes:
        found = declared.get(canonical_value(code))
        if found is not None:
            what = "is a level" if found in levels else "is an alias"
            how = what if code == found else f"is {found!r} otherwise written, which {what}"
            raise DeclarationError("missing", f"missing holds {code!r}, which {how}")
    return tuple(codes.values())


_LIKE_NUMBER = re.compile(r"[+-]?[0-9.,' ]*|[+-]?(inf|infinity|nan)|true|false", re.IGNORECASE)


def _as_missing_numbers(value: Any) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Return the numbers that mean a missing value, and texts that do and are no numbers.

    >>> _as_missing_numbers([999, "-9", " k.A. "])
    ((999.0, -9.0), ('k.A.',))
    """
    numbers: list[float] = []
    texts: list[str] = []
    for code in _as_list(value, "missing"):
        text = code.strip(ASCII_WHITESPACE) if isinstance(code, str) else ""
        if NUMBER_PATTERN.fullmatch(text):
            numbers.append(_as_number(float(text), "missing", "every code"))
        elif not isinstance(code, str):
            numbers.append(_as_number(code, "missing", "every code"))
        elif _LIKE_NUMBER.fullmatch(text) or not is_unicode(text):
            raise DeclarationError(
                "missing",
                f"missing holds {code!a}: write a number without quotes, and a text that is no number in quotes",
            )
        else:
            texts.append(text)
    return tuple(dict.fromkeys(numbers)), tuple(dict.fromkeys(texts))
