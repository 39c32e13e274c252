"""A table in the place of a schema: known by the end of its name or by its first line, of which nothing is shown.

Schema files: columns from TOML text and back.

    [columns.smoke]
    type = "categorical"
    levels = ["no", "yes"]
    aliases = { Yes = "yes", Y = "yes" }
    missing = ["NA"]

A top-level line ``draft = true`` marks a schema whose levels and bounds were read from data and not checked yet.
Every fault is one ``SchemaError`` that names the file, the line where it can be known, and the column.

A schema: the declared columns, in order. Public by definition.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import tomli_w

from dpcausal.core.errors import InputError, SchemaError, did_you_mean, did_you_mean_column
from dpcausal.data.columns import Categorical, Column, Numeric

_DATA_NAME = re.compile(
    r"\.(csv|tsv|tab|parquet|pq|arrow|feather|ipc|arrows|xlsx?)(\.(gz|bz2|zst))?$", re.IGNORECASE
)
_FIELDS = re.compile(r"[^\[\]={}#,;\t]*([,;\t][^\[\]={}#,;\t]*)+")


def looks_like_data(source: str, text: str = "") -> bool:
    """Whether a file that is no TOML looks like a table: by the end of its name, or by a first line of fields.

    >>> looks_like_data("patients.csv.gz"), looks_like_data("s.toml", "smoke,age\\nyes,30"), looks_like_data("s.toml")
    (True, True, False)
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    return bool(_DATA_NAME.search(source) or _FIELDS.fullmatch(first))


def data_words(source: str) -> str:
    """The error for a table in the place of a schema; it shows nothing of what is in it."""
    return (
        f"{source} looks like a data file, not like a schema; a schema is a TOML file, drafted by: "
        f"dpcausal schema {source} > schema.toml"
    )


KEYS: dict[str, tuple[str, ...]] = {
    "categorical": ("type", "levels", "ordered", "other", "aliases", "missing"),
    "numeric": ("type", "lower", "upper", "bins", "other", "missing"),
}
ENTRIES = ("columns", "draft")
NEEDED = {"categorical": ("levels",), "numeric": ("lower", "upper")}
_HEADER = re.compile(r"^\s*\[[^\[].*\]\s*(#.*)?$")
_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_COLUMNS = re.compile(r"^\s*\[\s*columns\s*\]")
_LONG = re.compile(r"[0-9][0-9_]{999,}")
_NESTED = re.compile(r"(?:[\[{]\s*){50}|(?:\.\s*\w+\s*){50}")
_COMMA = re.compile(r"=\s*([-+]?\d+,\d+)\s*(?:#.*)?$")


class _Lines:
    """Where each ``[columns.NAME]`` stands in the text."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.lines = text.splitlines()
        self.headers: dict[str, list[int]] = {}
        self.parts: dict[tuple[str, str], int] = {}  # where a key of a column is a table of its own
        self.starts: list[int] = []
        for number, line in enumerate(self.lines, 1):
            if _HEADER.match(line):
                self.starts.append(number)
                try:
                    names = tomllib.loads(line).get("columns", {})
                except (ValueError, RecursionError):
                    continue
                for name, inner in names.items():
                    if inner:  # [columns.NAME.aliases]
                        self.parts[name, next(iter(inner))] = number
                    else:
                        self.headers.setdefault(name, []).append(number)

    def at(self, number: int | None) -> str:
        return f"{self.source}:{number}" if number else self.source

    def entry(self, key: str) -> str:
        """``file:line`` where a top-level entry first stands; only the file where that is not certain."""
        pattern = re.compile(rf"""^\s*\[*\s*["']?{re.escape(key)}["']?\s*[\].=]""")
        return self.at(next((i for i, line in enumerate(self.lines, 1) if pattern.match(line)), None))

    def column(self, name: str, key: str = "") -> str:
        """``file:line`` of a column, or of one of its keys; only the file where the line is not certain."""
        if name not in self.headers:
            return self.at(self._inline(name))
        if len(self.headers[name]) != 1:
            return self.source
        if (name, key) in self.parts:
            return self.at(self.parts[name, key])
        start = self.headers[name][0]
        end = min((other for other in self.starts if other > start), default=len(self.lines) + 1)
        if key:
            pattern = re.compile(rf"""^\s*["']?{re.escape(key)}["']?\s*=""")
            found = [number for number in range(start + 1, end) if pattern.match(self.lines[number - 1])]
            return self.at(found[0] if len(found) == 1 else start)
        return self.at(start)

    def _inline(self, name: str) -> int | None:
        """The line of ``NAME = ...`` below ``[columns]``, or of ``columns.NAME = ...``; None if there is not one."""
        quoted = rf"""["']?{re.escape(name)}["']?\s*[.=]"""
        inside, found = False, []
        for number, line in enumerate(self.lines, 1):
            if number in self.starts:
                inside = bool(_COLUMNS.match(line))
            if re.match(rf"\s*{quoted}" if inside else rf"\s*columns\s*\.\s*{quoted}", line):
                found.append(number)
        return found[0] if found else None

    def first(self, pattern: re.Pattern[str]) -> str:
        """``file:line`` of the first line that holds ``pattern``; only the file if there is none."""
        return self.at(next((i for i, line in enumerate(self.lines, 1) if pattern.search(line)), None))


class Declared(NamedTuple):
    """What a schema file says: its columns in order, and whether it is marked as a draft."""

    columns: dict[str, Column]
    draft: bool


def loads(text: str, source: str = "schema") -> Declared:
    """What ``text`` declares; ``source`` is what errors call it."""
    lines = _Lines(text, source)
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise SchemaError(f"{lines.first(_NESTED)}: not valid TOML: nested too deeply") from None
    except ValueError as error:
        if looks_like_data(source, text):
            raise SchemaError(data_words(source)) from None
        if isinstance(error, tomllib.TOMLDecodeError) or not _LONG.search(text):
            raise SchemaError(_syntax_fault(str(error), lines)) from None
        raise SchemaError(f"{lines.first(_LONG)}: a number with too many digits") from None
    for key in document:
        if key not in ENTRIES:
            raise SchemaError(f'{lines.entry(key)}: unknown entry "{key}"{did_you_mean(key, ENTRIES)}')
    draft = document.get("draft", False)
    if not isinstance(draft, bool):
        raise SchemaError(f"{lines.entry('draft')}: draft must be true or false, not {draft!r}")
    tables = document.get("columns", {})
    if not isinstance(tables, dict):
        what = "a list" if isinstance(tables, list) else repr(tables)
        raise SchemaError(f"{lines.entry('columns')}: columns must be tables [columns.NAME], not {what}")
    if "" in tables:
        raise SchemaError(f"{lines.column('')}: a column's name must not be empty")
    if not tables:
        raise SchemaError(f"{source}: no columns are declared; each starts with a line [columns.NAME]")
    return Declared({name: _column(name, table, lines) for name, table in tables.items()}, draft)


def place_of(path: Path, name: str, key: str = "levels") -> str:
    """``file:line`` of a column's entry in a schema file read before; only the file where it is not certain."""
    return _Lines(path.read_bytes().decode("utf-8-sig"), str(path)).column(name, key)


def _syntax_fault(message: str, lines: _Lines) -> str:
    for name, numbers in lines.headers.items():
        if len(numbers) > 1 and "twice" in message:
            return f'{lines.at(numbers[1])}: column "{name}" is declared twice (first on line {numbers[0]})'
    position = _POSITION.search(message)
    number = int(position[1]) if position and position[1] else None
    what = _POSITION.sub("", message) if position else "cannot be read as TOML"
    if what == "Cannot overwrite a value":
        what = "a key is given twice"
    comma = _COMMA.search(lines.lines[number - 1]) if number and number <= len(lines.lines) else None
    if comma:
        return f"{lines.at(number)}: {comma[1]!r} is not a number: write it with a point, 0.5"
    return f"{lines.at(number)}: not valid TOML: {what[:1].lower()}{what[1:]}"


def _column(name: str, table: Any, lines: _Lines) -> Column:
    column = f'column "{name}"'
    if not isinstance(table, dict):
        raise SchemaError(
            f"{lines.column(name)}: {column} must be a table [columns.{name}], not {_short(table)}"
        )
    kind = table.get("type")
    if kind is None:
        raise SchemaError(f'{lines.column(name)}: {column} has no type: "categorical" or "numeric"')
    if not isinstance(kind, str) or kind not in KEYS:
        hint = did_you_mean(kind, KEYS) if isinstance(kind, str) else ""
        raise SchemaError(
            f'{lines.column(name, "type")}: {column} has unknown type {kind!r}{hint}: "categorical" or "numeric"'
        )
    for key in table:
        if key not in KEYS[kind]:
            raise SchemaError(
                f'{lines.column(name, key)}: {column} has unknown key "{key}"{did_you_mean(key, KEYS[kind])}'
            )
    for key in NEEDED[kind]:
        if key not in table:
            raise SchemaError(f"{lines.column(name)}: {column} has no {key}")
    arguments = {key: value for key, value in table.items() if key != "type"}
    try:
        return Categorical(**arguments) if kind == "categorical" else Numeric(**arguments)
    except SchemaError as error:
        first = re.split(r"[^a-z]", str(error), maxsplit=1)[0]
        raise SchemaError(
            f"{lines.column(name, first if first in table else '')}: {column}: {error}"
        ) from None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def dumps(columns: Mapping[str, Column], draft: bool = False) -> str:
    """TOML text that ``loads`` reads back as the same."""
    return "\n".join(["draft = true\n"] * draft + [table(name, column) for name, column in columns.items()])


def table(name: str, column: Column) -> str:
    """The lines of one column."""
    entries: dict[str, Any]
    if isinstance(column, Categorical):
        entries = {"type": "categorical", "levels": column.levels}
        if column.ordered:
            entries["ordered"] = True
        entries["other"] = column.other
        if column.aliases:
            entries["aliases"] = column.aliases
    else:
        entries = {"type": "numeric", "lower": column.lower, "upper": column.upper}
        entries |= {"bins": column.bins, "other": column.other}
    if column.missing:
        entries["missing"] = column.missing
    rows = [f"{key} = {_value(value)}" for key, value in entries.items()]
    return "\n".join([header(name), *rows]) + "\n"


def header(name: str) -> str:
    """``[columns.NAME]``, quoted where TOML needs it."""
    return tomli_w.dumps({"columns": {name: {}}}).strip()


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(level)}" for key, level in value.items()) + " }"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return tomli_w.dumps({"x": value}).removeprefix("x = ").removesuffix("\n")


def _key(text: str) -> str:
    """A key as TOML writes it, quoted where it must be."""
    return tomli_w.dumps({text: 0}).removesuffix(" = 0\n")


class Schema(Mapping[str, Column]):
    """An immutable, ordered mapping from column name to ``Categorical`` or ``Numeric``.

    Names that are no Python names go in a mapping or in pairs: ``Schema({"age (years)": Numeric(0, 110)})``.
    Two schemas are equal when they declare the same columns in the same order. ``draft`` says that levels and bounds
    were read from data and nobody has checked them yet (a line ``draft = true`` in the file).

    >>> schema = Schema(smoke=Categorical(["no", "yes"]), age=Numeric(0, 110))
    >>> list(schema), schema["smoke"].size
    (['smoke', 'age'], 2)
    >>> Schema.from_toml_string(schema.to_toml()) == schema
    True
    """

    __slots__ = ("_columns", "_draft")
    _columns: dict[str, Column]
    _draft: bool

    def __init__(
        self, columns: Mapping[str, Column] | Iterable[tuple[str, Column]] = (), /, **named: Column
    ) -> None:
        pairs = list(columns.items() if isinstance(columns, Mapping) else columns) + list(named.items())
        declared: dict[str, Column] = {}
        for name, column in pairs:
            if not isinstance(name, str) or not name or not _is_text(name):
                raise SchemaError(f"a column's name must be text, not {name!a}")
            if name in declared:
                raise SchemaError(f'column "{name}" is declared twice')
            if not isinstance(column, Categorical | Numeric):
                kind = type(column).__name__
                raise SchemaError(f'column "{name}" must be declared as Categorical or Numeric, not {kind}')
            declared[name] = column
        if not declared:
            raise SchemaError("a schema needs at least one column")
        object.__setattr__(self, "_columns", declared)
        object.__setattr__(self, "_draft", False)

    @classmethod
    def _marked(cls, columns: Mapping[str, Column] | Iterable[tuple[str, Column]], draft: bool) -> Schema:
        found = cls(columns)
        object.__setattr__(found, "_draft", draft)
        return found

    @property
    def draft(self) -> bool:
        """Whether it is an unchecked draft: levels and bounds read from data are not covered by any guarantee."""
        return self._draft

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema file."""
        if not isinstance(path, str | PathLike):
            raise InputError(f"a schema is read from the path of a file, not from {path!r}")
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            data = looks_like_data(str(path))
            raise SchemaError(data_words(str(path)) if data else f"{path} is not UTF-8 text") from None
        except OSError as error:
            raise InputError(f"cannot read schema {path}: {_reason(error)}") from None
        return cls._marked(*loads(text, source=str(path)))

    @classmethod
    def from_toml_string(cls, text: str) -> Schema:
        """The schema that TOML ``text`` declares."""
        return cls._marked(*loads(text))

    def to_toml(self) -> str:
        """This schema as a TOML document, defaults written out."""
        return dumps(self._columns, self._draft)

    def write(self, path: str | PathLike[str]) -> None:
        """Write this schema to a file that ``from_toml`` reads."""
        try:
            Path(path).write_bytes(self.to_toml().encode())
        except OSError as error:
            raise InputError(f"cannot write schema {path}: {_reason(error)}") from None

    def select(self, names: Iterable[str]) -> Schema:
        """The named columns only, in the order given."""
        chosen = list(names)
        for name in chosen:
            if name not in self._columns:
                raise SchemaError(
                    f'no column "{name}" in the schema{did_you_mean_column(name, self._columns)}'
                )
        return Schema._marked(((name, self._columns[name]) for name in chosen), self._draft)

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __eq__(self, another: object) -> bool:
        return isinstance(another, Schema) and list(self.items()) == list(another.items())

    def __hash__(self) -> int:
        return hash(tuple(self._columns.items()))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a schema can't be changed; make another")

    def __reduce__(self) -> tuple[Any, ...]:
        return Schema._marked, (self._columns, self._draft)

    def __repr__(self) -> str:
        return f"Schema({self._columns!r})"


def _is_text(name: str) -> bool:
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
