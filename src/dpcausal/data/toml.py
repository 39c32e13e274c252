"""Schema files: columns from TOML text and back.

    [columns.smoke]
    type = "categorical"
    levels = ["no", "yes"]
    aliases = { Yes = "yes", Y = "yes" }
    missing = ["NA"]

A top-level line ``draft = true`` marks a schema whose levels and bounds were read from data and not checked yet.
Every fault is one ``SchemaError`` that names the file, the line where it can be known, and the column.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import tomli_w

from dpcausal.core.errors import SchemaError, did_you_mean
from dpcausal.data.columns import Categorical, Column, Numeric
from dpcausal.data.not_a_schema import data_words, looks_like_data

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
