"""Schemas from code books: a REDCap data dictionary, value labels of SPSS and Stata files, a table schema in JSON.

A code book says what a study asked, not what people answered, so that a schema made from it is no draft: no row is
read. What a schema needs and the code book does not say is named, column by column, and such a column is not declared.

A field that may be left empty gets a level "missing" of its own (of a number, a bin), unless it is required.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from dpcausal.core.arguments import checked_all_columns
from dpcausal.core.errors import InputError
from dpcausal.data.columns import (
    MAX_LABEL,
    Categorical,
    Column,
    DeclarationError,
    Numeric,
    reads_as_missing,
)
from dpcausal.data.dates import EPOCH, ISO, Date, read_day
from dpcausal.data.file_format import (
    DECIMAL_MARKS,
    DELIMITERS,
    THOUSANDS_MARKS,
    FileFormat,
    NumberMarks,
    character_table,
    decode_bytes,
    is_utf8,
)
from dpcausal.data.schema import Schema
from dpcausal.data.stat_files import LabelledColumn, StatFile

MISSING = "missing"
YES_NO = {"0": "no", "1": "yes", "No": "no", "Yes": "yes"}


@dataclass(frozen=True)
class Field:
    """What a code book says of one column: a declaration, or what is lacking for one (nothing: it is none).

    ``gaps``: numbers between its codes have no label, so that it may be a number with labels at its ends.
    ``marks``: how its numbers are written, where it may have decimals or thousands.
    """

    name: str
    column: Column | None = None
    lacking: tuple[str, ...] = ()
    gaps: bool = False
    marks: NumberMarks | None = None


@dataclass(frozen=True)
class CodeBook:
    """The columns of a code book, in its order, and what it says of the file that holds them.

    Raises
    ------
    InputError
        If two fields have one name.
    """

    fields: tuple[Field, ...]
    format: FileFormat = field(default_factory=FileFormat)

    def __post_init__(self) -> None:
        names = [one.name for one in self.fields]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f'the code book describes "{name}" twice')

    @property
    def schema(self) -> Schema:
        """The schema of all columns that are declared in full; raise ``InputError`` where there is none."""
        found = {one.name: one.column for one in self.fields if one.column is not None}
        if not found:
            told = [f"{name} lacks {' and '.join(what)}" for name, what in self.lacking.items()]
            more = [f"{len(told) - 3} more"] if len(told) > 3 else []
            why = f": {', '.join(told[:3] + more)}" if told else ""
            raise InputError(f"no field of the code book declares a column in full{why}")
        return Schema(found).with_format(**self.format.declared())

    def select(self, names: Sequence[str]) -> CodeBook:
        """Return the code book of these fields only, in the order given; raise ``InputError`` on an unknown name."""
        fields = {one.name: one for one in self.fields}
        chosen = checked_all_columns(names, fields)
        return replace(self, fields=tuple(fields[name] for name in chosen))

    @property
    def lacking(self) -> dict[str, tuple[str, ...]]:
        """What a person must add, for every column that is not declared in full."""
        return {one.name: one.lacking for one in self.fields if one.lacking}

    @property
    def gaps(self) -> tuple[str, ...]:
        """Names of the fields whose codes leave out numbers between them, which become ``other``."""
        return tuple(one.name for one in self.fields if one.gaps)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of the fields that are no columns of an analysis: identifiers, free text, files, headings."""
        return tuple(one.name for one in self.fields if one.column is None and not one.lacking)


# ---- what all of them share


def _code_book(fields: Sequence[Field], encoding: str | None = None) -> CodeBook:
    """Return the code book of these fields: a file is read with one decimal mark, and fields of another lack it."""
    marks = {one.marks for one in fields if one.marks is not None and _readable(one.marks)}
    mark = marks.pop() if len(marks) == 1 else NumberMarks()
    found = [one if one.marks in (None, mark) else Field(one.name, lacking=("decimal",)) for one in fields]
    decimal = "," if mark.decimal == "," else None
    return CodeBook(tuple(found), FileFormat(encoding, decimal=decimal, thousands=mark.thousands))


def _readable(mark: NumberMarks) -> bool:
    """Return whether a file with these marks can be read."""
    known = mark.decimal in DECIMAL_MARKS and mark.thousands in ("", *THOUSANDS_MARKS)
    return known and mark.decimal != mark.thousands


def _label(text: Any) -> str:
    """Return a label on one line, without HTML tags."""
    plain = " ".join(re.sub(r"<[^>]*>", " ", str(text or "")).split())
    return "".join(letter for letter in plain if letter.isprintable())[:MAX_LABEL]


@dataclass(frozen=True)
class _Asked:
    """What a code book says of a field besides its values; ``missing_codes`` mean a missing value and are no levels."""

    name: str
    label: str = ""
    required: bool = False
    missing_codes: Sequence[str] = ()

    def categories(
        self, codes: Mapping[str, str], *, ordered: bool = False, spellings: bool = False
    ) -> Field:
        """Return the field of a column of codes with labels: levels are the labels, which cells may spell by codes.

        ``spellings``: several codes may mean one level. Else, where labels do not tell codes apart, or one is spelled
        as another's code, the codes are the levels.
        """
        meanings = {
            str(code): " ".join(str(text).split()) or str(code)
            for code, text in codes.items()
            if str(code) not in self.missing_codes
        }
        labels = list(meanings.values())
        ways = [list(dict.fromkeys(labels))] if spellings else [labels, list(meanings)]
        for levels in ways if meanings else []:
            by_label = levels != list(meanings)
            missing = next((level for level in levels if reads_as_missing(level)), None)
            if not self.required and missing is None:
                missing = MISSING
                levels = [*levels, MISSING]
            try:
                column = Categorical(
                    levels,
                    other=missing,
                    aliases={code: text for code, text in meanings.items() if by_label and code != text},
                    missing=[code for code in self.missing_codes if code != missing],
                    label=_label(self.label),
                    ordered=ordered and len(levels) > 1,
                )
            except DeclarationError:
                continue
            return Field(self.name, column)
        return Field(self.name, lacking=("levels",))

    def number(self, lower: object, upper: object) -> Field:
        """Return the field of a number with its bounds, or with a note on which are lacking."""
        low, high = _as_number(lower), _as_number(upper)
        if low is None or high is None or low >= high:
            return self._without(lower=low, upper=high)
        middle = (low + high) / 2  # of which no value is the bound of another
        missing: Any = list(self.missing_codes)
        own = not self.required
        column = Numeric(
            low, high, other=middle, missing=missing, missing_level=own, label=_label(self.label)
        )
        return Field(self.name, column)

    def date(self, lower: object, upper: object, format_: str | None = ISO) -> Field:
        """Return the field of a date with its bounds and format, or with a note on what is lacking."""
        low, high = (_as_iso(bound, format_ or ISO) for bound in (lower, upper))
        if low is None or high is None or format_ is None:
            return self._without(lower=low, upper=high, format=format_)
        days = [read_day(code, format_) for code in self.missing_codes]  # any text that is no date is missing
        try:
            column = Date(
                low,
                high,
                other=round((read_day(low) + read_day(high)) / 2),
                missing=[day for day in days if day == day],
                format=format_,
                missing_level=not self.required,
                label=_label(self.label),
            )
        except (DeclarationError, ValueError):
            return self._without(lower=None, upper=None)
        return Field(self.name, column)

    def _without(self, **entries: object) -> Field:
        """Return the field that lacks the entries which are None; all of them where none is."""
        lacking = tuple(entry for entry, value in entries.items() if value is None)
        return Field(self.name, lacking=lacking or tuple(entries))


def _as_number(value: object) -> float | None:
    """Return a value as a number; None for anything else, such as a formula."""
    if isinstance(value, bool):
        return None
    try:
        return float(str(value).strip())
    except ValueError:
        return None


def _as_iso(value: object, format_: str) -> str | None:
    """Return a date as text like 2020-01-31; None for anything else. It may be written so, or by the format.

    >>> _as_iso("2020-01-31T10:00:00", ISO), _as_iso("31.01.2020", "%d.%m.%Y"), _as_iso("today", ISO)
    ('2020-01-31', '2020-01-31', None)
    """
    text = str(value or "").strip()
    found = re.match(r"\d{4}-\d{2}-\d{2}", text)
    day = read_day(text, format_)
    return found[0] if found else (EPOCH + timedelta(days=day)).isoformat() if day == day else None


# ---- REDCap

_REDCAP = {  # a heading of a downloaded dictionary, or of one that the API gives
    "name": ("variable / field name", "field_name"),
    "type": ("field type", "field_type"),
    "label": ("field label", "field_label"),
    "choices": ("choices, calculations, or slider labels", "select_choices_or_calculations"),
    "validation": (
        "text validation type or show slider number",
        "text_validation_type_or_show_slider_number",
    ),
    "low": ("text validation min", "text_validation_min"),
    "high": ("text validation max", "text_validation_max"),
    "identifier": ("identifier?", "identifier"),
    "branching": ("branching logic (show field only if...)", "branching_logic"),
    "required": ("required field?", "required_field"),
}


def redcap(path: str | Path) -> CodeBook:
    """Return the code book of a REDCap data dictionary.

    Raises
    ------
    InputError
        If the file can't be read, or has not the headings of a dictionary.
    """
    try:
        text = decode_bytes(Path(path).read_bytes()).removeprefix("\ufeff")
    except OSError:
        raise InputError(f"{path}: no such file, or it can't be read") from None
    for separator in DELIMITERS:
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
        except csv.Error:
            raise InputError(f"{path} can't be read as a table of cells: is a quote not closed?") from None
        heads = [" ".join(head.lower().split()) for head in rows[0]] if rows else []
        places = {
            entry: next((heads.index(one) for one in names if one in heads), None)
            for entry, names in _REDCAP.items()
        }
        if places["name"] is not None and places["type"] is not None:
            break
    else:
        raise InputError(
            f'{path} is no REDCap data dictionary: it has no columns "Variable / Field Name" and "Field Type"'
        )
    entries = [
        {entry: row[at].strip() if at is not None and at < len(row) else "" for entry, at in places.items()}
        for row in rows[1:]
    ]
    return _code_book([one for cells in entries if cells["name"] for one in _redcap_fields(cells)])


def _redcap_fields(cells: Mapping[str, str]) -> list[Field]:
    """Return the columns of one REDCap field: of a checkbox, one for each choice."""
    name, label, kind = cells["name"], cells["label"], cells["type"].lower()
    required = cells["required"].lower() in ("y", "yes", "1") and not cells["branching"]
    asked = _Asked(name, label, required)
    if cells["identifier"].lower() in ("y", "yes", "1"):
        return [Field(name)]
    if kind in ("radio", "dropdown", "select"):
        return [asked.categories(_choices(cells["choices"]))]
    if kind in ("yesno", "truefalse"):
        words = YES_NO if kind == "yesno" else {"0": "false", "1": "true"}
        return [asked.categories(words, spellings=True)]
    if kind == "checkbox":
        ticked = Categorical(["no", "yes"], aliases={**YES_NO, "Unchecked": "no", "Checked": "yes"})
        return [
            Field(
                f"{name}___{re.sub('[^a-z0-9_]', '_', code.lower())}",
                replace(ticked, label=_label(f"{label}: {choice}")),
            )
            for code, choice in _choices(cells["choices"]).items()
        ]
    if kind == "sql":  # a dropdown that a query of REDCap's database fills
        return [Field(name, lacking=("levels",))]
    if kind == "slider":
        return [asked.number(cells["low"] or 0, cells["high"] or 100)]
    validation = cells["validation"].lower()
    if kind == "text" and validation.startswith("number") and validation.endswith("comma_decimal"):
        low, high = (cells[bound].replace(",", ".") for bound in ("low", "high"))
        return [replace(asked.number(low, high), marks=NumberMarks(","))]
    if kind == "calc" or (kind == "text" and validation.startswith("number")):
        return [replace(asked.number(cells["low"], cells["high"]), marks=NumberMarks())]
    if kind == "text" and validation.startswith("integer"):
        return [asked.number(cells["low"], cells["high"])]
    if kind == "text" and validation.startswith("date"):
        return [asked.date(cells["low"], cells["high"])]
    return [Field(name)]


def _choices(text: str) -> dict[str, str]:
    """Return the choices of a REDCap field: labels by code.

    >>> _choices("1, Male | 2, Female, or other")
    {'1': 'Male', '2': 'Female, or other'}
    """
    pairs = (one.partition(",") for one in re.split(r"\||\\n", text) if one.strip())
    return {code.strip(): _label(choice) or code.strip() for code, _, choice in pairs}


# ---- value labels of SPSS and Stata


def value_labels(path: str | Path, encoding: str | None = None) -> CodeBook:
    """Return the code book in the value labels of a .sav or .dta file: its metadata alone is read."""
    file, format_ = Path(path), FileFormat(encoding=encoding)
    if file.suffix.lower() not in (".sav", ".zsav", ".dta"):
        raise InputError(f"{path}: value labels are read from a .sav or .dta file")
    if not file.is_file():
        raise InputError(f"{file.name}: no such file")
    return CodeBook(tuple(map(_of_labels, StatFile(file, format_).code_book())), format_)


def _of_labels(one: LabelledColumn) -> Field:
    """Return the field of a column with value labels; a number with one label, but for missing values, has no list.

    >>> labels = {"0": "none", "10": "worst", "99": "not asked"}
    >>> _of_labels(LabelledColumn("pain", "number", "", labels, False)).gaps
    True
    >>> _of_labels(LabelledColumn("crp", "number", "", {"-1": "below detection"}, False)).lacking
    ('lower', 'upper')
    """
    known = [
        code for code, text in one.codes.items() if code not in one.missing and not reads_as_missing(text)
    ]
    if len(known) > (one.kind == "number"):
        asked = _Asked(one.name, one.label, missing_codes=one.missing)
        found = asked.categories(one.codes, ordered=one.ordered)
        whole = [int(code) for code in known if re.fullmatch(r"-?[0-9]+", code)]
        return replace(found, gaps=len(whole) == len(known) <= max(whole) - min(whole))
    if one.kind == "text":
        return Field(one.name)
    return Field(one.name, lacking=("lower", "upper"))


# ---- Frictionless and CSV on the Web


def table_schema(path: str | Path) -> CodeBook:
    """Return the code book in a Frictionless table schema, a data package of one table, or CSV-W metadata.

    Raises
    ------
    InputError
        If the file can't be read, or describes no table, or several.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{path}: no such file, or not JSON") from None
    tables = [table for table in _tables(found, {}) if table]
    if len(tables) != 1:
        raise InputError(f"{path} describes {len(tables) or 'no'} tables: a schema is of one")
    fields = [_of_field(one) for one in tables[0] if _name(one) and not one.get("virtual")]
    return _code_book(fields, _encoding(tables[0][0]))


_OF_ALL_FIELDS = ("missingValues", "null", "primaryKey", "encoding", "dialect")


def _tables(found: Any, above: Mapping[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the lists of fields in a JSON document, each with what the document says of all of them."""
    if not isinstance(found, dict):
        return []
    shared = dict(above) | {key: found[key] for key in _OF_ALL_FIELDS if key in found}
    for key in ("fields", "columns"):
        if isinstance(found.get(key), list):
            return [[shared | one for one in found[key] if isinstance(one, dict)]]
    inner = [found.get("schema"), found.get("tableSchema")]
    for key in ("resources", "tables"):
        inner += found[key] if isinstance(found.get(key), list) else []
    return [table for one in inner for table in _tables(one, shared)]


def _titles(one: Mapping[str, Any]) -> list[str]:
    """Return the titles that CSV-W metadata give a column: a text, several, or some by language.

    >>> _titles({"titles": "Age"}), _titles({"titles": {"en": ["Age", "Years"], "de": "Alter"}})
    (['Age'], ['Age', 'Years', 'Alter'])
    """
    given = one.get("titles")
    by_language = list(given.values()) if isinstance(given, dict) else [given]
    titles = [text for part in by_language for text in (part if isinstance(part, list) else [part])]
    return [text for text in titles if isinstance(text, str) and text]


def _name(one: Mapping[str, Any]) -> str:
    """Return what the heading of a column is in the file: in CSV-W its first title, where it has one.

    >>> _name({"name": "on_street", "titles": ["On Street"]}), _name({"name": "sex", "title": "Sex at birth"})
    ('On Street', 'sex')
    """
    name = next(iter(_titles(one)), one.get("name"))
    return name if isinstance(name, str) else ""


def _missing_values(one: Mapping[str, Any]) -> list[str]:
    """Return the texts that mean a missing value, besides an empty cell.

    >>> _missing_values({"missingValues": ["", "-9"]}), _missing_values({"null": "NA"})
    (['-9'], ['NA'])
    """
    given = one.get("missingValues", one.get("null"))
    parts = given if isinstance(given, list) else [given]
    texts = [str(part.get("value", "")) if isinstance(part, dict) else part for part in parts]
    return [text for text in texts if isinstance(text, str) and text.strip()]


def _truth_values(one: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts that mean false or true, as a table schema says or else as all of them have it."""
    usual = {"false": ["false", "False", "FALSE", "0"], "true": ["true", "True", "TRUE", "1"]}
    given = {word: one.get(f"{word}Values") or texts for word, texts in usual.items()}
    return {str(text): word for word, texts in given.items() for text in texts}


def _of_field(one: Mapping[str, Any]) -> Field:
    """Return the field of a column by its declared type and constraints."""
    limits = one["constraints"] if isinstance(one.get("constraints"), dict) else {}
    type_ = one.get("type") or one.get("datatype") or "string"
    if isinstance(type_, dict):  # of CSV-W
        limits, type_ = {**type_, **limits}, type_.get("base", "string")
    name, label = _name(one), one.get("title") or next(iter(_titles(one)[1:]), "")
    if _is_identifier(one, limits, name):
        return Field(name)
    required = bool(limits.get("required") or one.get("required"))
    asked = _Asked(name, label if isinstance(label, str) else "", required, _missing_values(one))
    words = _alternatives(limits.get("format", limits.get("pattern")))
    words = words[::-1] if words and type_ == "boolean" else words  # in CSV-W: Y|N
    listed = one.get("categories") or limits.get("enum") or words
    low, high = (next((limits[key] for key in keys if key in limits), None) for keys in _BOUNDS)
    if isinstance(listed, list) and listed:
        return asked.categories(_listed(listed), ordered=bool(one.get("categoriesOrdered")))
    if type_ == "boolean":
        return asked.categories(_truth_values(one), spellings=True)
    if type_ in _NUMBERS:
        number = asked.number(0 if type_ in _NOT_NEGATIVE and low is None else low, high)
        return replace(number, marks=_marks(one, limits, type_ in _WITH_DECIMALS))
    if type_ in ("date", "datetime", "dateTime"):
        return asked.date(low, high, _date_format(one.get("format") or limits.get("format")))
    return Field(name) if type_ in _NO_COLUMNS else Field(name, lacking=("levels",))


def _is_identifier(one: Mapping[str, Any], limits: Mapping[str, Any], name: str) -> bool:
    """Return whether no two rows may share a value of a field, or it is the key of the table by itself."""
    own = one.get("name", name)
    return limits.get("unique") is True or one.get("primaryKey") in (own, [own])


def _listed(parts: list[Any]) -> dict[str, str]:
    """Return the labels of listed values by code; a value without a label is its own.

    >>> _listed(["low", {"value": 1, "label": "high"}, {"value": 2}])
    {'low': 'low', '1': 'high', '2': '2'}
    """
    described = [part if isinstance(part, dict) else {"value": part} for part in parts]
    return {
        str(one["value"]): str(one.get("label", one["value"]))
        for one in described
        if isinstance(one.get("value"), str | int | float)
    }


def _marks(one: Mapping[str, Any], limits: Mapping[str, Any], decimals: bool) -> NumberMarks | None:
    """Return how the numbers of a field are written; None where they have neither decimals nor thousands.

    >>> _marks({"decimalChar": ",", "groupChar": "."}, {}, True), _marks({}, {"format": {"decimalChar": ","}}, True)
    (NumberMarks(decimal=',', thousands='.'), NumberMarks(decimal=',', thousands=''))
    """
    said = {**one, **limits["format"]} if isinstance(limits.get("format"), dict) else one
    decimal, thousands = str(said.get("decimalChar") or "."), str(said.get("groupChar") or "")
    if not decimals:
        decimal = "," if thousands == "." else "."
    return NumberMarks(decimal, thousands) if decimals or thousands else None


def _encoding(one: Mapping[str, Any]) -> str | None:
    """Return the encoding with one byte a character that a document says its file has; None for another or none."""
    dialect = one["dialect"] if isinstance(one.get("dialect"), dict) else {}
    name = str(one.get("encoding") or dialect.get("encoding") or "utf-8")
    return None if is_utf8(name) or character_table(name) is None else name


_NUMBERS = (
    "integer", "number", "year", "decimal", "double", "float", "int", "long", "short", "byte", "gYear",
    "nonNegativeInteger", "positiveInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte",
)  # fmt: skip
_WITH_DECIMALS = ("number", "decimal", "double", "float")
_BOUNDS = (
    ("minimum", "minInclusive", "exclusiveMinimum", "minExclusive"),
    ("maximum", "maxInclusive", "exclusiveMaximum", "maxExclusive"),
)
_NOT_NEGATIVE = tuple(one for one in _NUMBERS if one.startswith(("nonNegative", "positive", "unsigned")))
_NO_COLUMNS = ("object", "array", "geopoint", "geojson", "any", "time", "duration", "list", "anyURI")


def _alternatives(pattern: object) -> list[str] | None:
    """Return the words of a pattern that lists them, such as ``^(low|high)$``; None for another pattern."""
    found = (
        re.fullmatch(r"\^?\(?([\w .-]+(?:\|[\w .-]+)+)\)?\$?", pattern) if isinstance(pattern, str) else None
    )
    return found[1].split("|") if found else None


def _date_format(text: object) -> str | None:
    """Return the strptime format for a date format of Frictionless or CSV-W; None where it is not known.

    >>> _date_format(None), _date_format("%d/%m/%Y"), _date_format("dd.MM.yyyy"), _date_format("any")
    ('%Y-%m-%d', '%d/%m/%Y', '%d.%m.%Y', None)
    >>> _date_format("yyyy-MM-ddTHH:mm:ss"), _date_format("dd.MM.yyyy HH:mm")  # a time after an ISO date is left out
    ('%Y-%m-%d', None)
    """
    if text in (None, "", "default"):
        return ISO
    if not isinstance(text, str) or text == "any":
        return None
    plain = re.sub(r"d+", "%d", re.sub(r"M+", "%m", re.sub(r"y+", "%Y", text)))
    found = text if "%" in text else plain
    if re.match(rf"{ISO}[T ]", found):
        return ISO
    if re.search(r"(?<!%)[A-Za-z]", found):
        return None
    try:
        return Date("2000-01-01", "2001-01-01", format=found).format
    except DeclarationError:
        return None
