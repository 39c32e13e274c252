"""The schema: declared columns in order, and the TOML file that holds them.

A schema is public by definition. Its file has one table a column:

    [columns.smoke]
    type = "categorical"
    levels = ["no", "yes"]
    aliases = { Yes = "yes", Y = "yes" }
    missing = ["NA"]

A top-level line ``draft = true`` marks a schema whose levels and bounds were read from data and not checked yet. Every
column of it carries the mark (``Column.drafted``) into whatever schema is made with that column. So there are two ways
out of a draft: a person removes the line from the checked file, or writes every column down.

Other top-level lines say how the file of the data is written (``dpcausal.data.file_format``): ``encoding = "latin-1"``,
``separator = ";"``, ``decimal = ","``, ``thousands = "."``, ``quoted_newlines = true``, ``sheet = "Patients"``. A table
``[unit]`` with ``column = "pid"`` makes a person the unit of privacy (``dpcausal.data.person_unit``).
Reading what was written gives an equal schema. Every fault is one ``SchemaError`` that names the file, the line where
it is certain, and the column. A table of data given in the place of a schema is recognised by the end of its name or
by its first line, and the error shows nothing of what is in it. Cost: O(length of the file).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, overload

import tomli_w

from dpcausal.core.arguments import checked_all_columns, checked_list
from dpcausal.core.display import display
from dpcausal.core.errors import InputError, SchemaError, did_you_mean
from dpcausal.core.statement import Known, MissingAs, Public
from dpcausal.data.columns import Categorical, Column, DeclarationError, Numeric, as_drafted, is_unicode
from dpcausal.data.dates import Date, date_entries
from dpcausal.data.file_format import ENTRIES as FORMAT_ENTRIES
from dpcausal.data.file_format import FileFormat
from dpcausal.data.person_unit import PersonUnit

__all__ = ["Schema", "column_toml", "format_toml", "toml_header"]


class Schema(Mapping[str, Column]):
    """What the columns are: an immutable, ordered mapping from column name to ``Categorical`` or ``Numeric``.

    All of it is public: take it from a code book, not from the rows. ``Schema.draft(df)`` and ``dpcausal schema FILE``
    write a first draft from the rows, which a person must check; ``from_toml`` reads the checked file. Two schemas are
    equal when they declare the same columns in the same order, and the same format of the file.

    Parameters
    ----------
    columns : mapping or iterable of pairs, optional
        Columns by name, for names that are not Python names: ``Schema({"age (years)": Numeric(0, 110)})``.
    **named : Categorical or Numeric
        Columns by name, after those of ``columns``.

    Raises
    ------
    SchemaError
        If there is no column, a name is empty or declared twice, or a column is neither ``Categorical`` nor
        ``Numeric``.

    Examples
    --------
    >>> schema = Schema(smoke=Categorical(["no", "yes"]), age=Numeric(0, 110))
    >>> list(schema), schema["smoke"].size
    (['smoke', 'age'], 2)
    >>> Schema.from_toml_string(schema.to_toml()) == schema
    True
    >>> print(schema.with_format(encoding="latin-1", separator=";", decimal=",").select(["age"]).to_toml())
    encoding = "latin-1"
    separator = ";"
    decimal = ","
    <BLANKLINE>
    [columns.age]
    type = "numeric"
    lower = 0
    upper = 110
    bins = [27.5, 55, 82.5]
    other = 0
    <BLANKLINE>
    """

    __slots__ = ("_chosen", "_columns", "_drafted", "_format", "_unit")
    _drafted: Any  # the draft that it is, with its remarks; None for any other schema
    _chosen: bool  # columns were selected from a larger schema
    _columns: dict[str, Column]
    _format: FileFormat
    _unit: PersonUnit | None

    def __init__(
        self, columns: Mapping[str, Column] | Iterable[tuple[str, Column]] = (), /, **named: Column
    ) -> None:
        if isinstance(columns, str | PathLike):
            raise SchemaError(f'a schema file is read by Schema.from_toml("{columns}")')
        pairs = list(columns.items() if isinstance(columns, Mapping) else columns) + list(named.items())
        declared: dict[str, Column] = {}
        for name, column in pairs:
            if not isinstance(name, str) or not name or not is_unicode(name):
                raise SchemaError(f"a column's name must be text, not {name!a}")
            if name in declared:
                raise SchemaError(f'column "{name}" is declared twice')
            if not isinstance(column, Categorical | Numeric):
                kind = type(column).__name__
                raise SchemaError(f'column "{name}" must be declared as Categorical or Numeric, not {kind}')
            declared[name] = column
        if not declared:
            raise SchemaError("a schema needs at least one column")
        self._set(_columns=declared, _drafted=None, _chosen=False, _format=FileFormat(), _unit=None)

    def _set(self, **attributes: Any) -> None:
        """Set attributes of a schema while it is being made; later it is immutable."""
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    @classmethod
    def _marked(
        cls,
        columns: Mapping[str, Column] | Iterable[tuple[str, Column]],
        format: FileFormat = FileFormat(),  # noqa: A002
        chosen: bool = False,
        unit: PersonUnit | None = None,
    ) -> Schema:
        """Return a schema with its file format, its unit of privacy, and whether it selects columns."""
        schema = cls(columns)
        if unit is not None and unit.column in schema:
            raise DeclarationError(
                "column", f'"{unit.column}" tells whose a row is: it can\'t be a column of the analysis, too'
            )
        schema._set(_unit=unit, _format=format, _chosen=chosen)
        return schema

    @classmethod
    def draft(cls, data: Any, *, columns: Sequence[str] | None = None) -> Schema:
        """Return a first draft of a schema, read from the rows of a frame. Not private.

        Levels and bounds come from rows, so a person must check every line against public knowledge. Until then the
        schema is marked as a draft: using it gives a ``DraftSchema`` warning, and every statement says so.
        ``draft.write("schema.toml")`` writes it to be checked; delete its line ``draft = true`` when that is done.
        Identifiers, free text and columns without a value are left out; the command ``dpcausal schema FILE`` drafts
        the same, and its file says why.

        Parameters
        ----------
        data : frame, table, dict of arrays or path
            Anything that ``dc.read`` takes: a pandas or polars frame, for one.
        columns : sequence of str, optional
            Draft these columns only.

        Returns
        -------
        Schema

        Raises
        ------
        InputError
            If the data can't be read, has no rows, or has no column that can be drafted.

        Examples
        --------
        >>> schema = Schema.draft({"smoke": ["no", "yes", "no"], "age": [31.5, 64.2, 50.0]})
        >>> schema.is_draft, schema["smoke"].levels
        (True, ('no', 'yes'))
        """
        from dpcausal.data.draft import draft  # late: pyarrow, which most commands do without

        found = draft(data, columns=columns)
        pairs = [(one.name, as_drafted(one.column)) for one in found.columns if one.column is not None]
        if not pairs:
            raise InputError(
                "no column of the data can be drafted: all are identifiers, free text or without a value"
            )
        schema = cls._marked(pairs, found.format)
        schema._set(_drafted=found)
        return schema

    @property
    def is_draft(self) -> bool:
        """Whether this is an unchecked draft: levels and bounds read from data are not covered by any guarantee.

        It is one where any of its columns is: a schema that is made from a draft stays a draft.

        >>> draft = Schema.draft({"smoke": ["no", "yes", "no"], "age": [31.5, 64.2, 50.0]})
        >>> Schema({**draft, "age": Numeric(0, 110)}).is_draft, Schema(age=Numeric(0, 110)).is_draft
        (True, False)
        """
        return any(column.drafted for column in self._columns.values())

    @property
    def format(self) -> FileFormat:
        """How the data file is written: encoding, separator, marks, sheet."""
        return self._format

    @property
    def is_selection(self) -> bool:
        """Whether ``select`` made it: other columns of the data are left out on purpose."""
        return self._chosen

    @property
    def quoted_newlines(self) -> bool:
        """Whether, in a CSV file, a line break inside quotes belongs to its cell; else every line is a row."""
        return self._format.quoted_newlines

    def with_format(self, **entries: Any) -> Schema:
        """Return this schema for files that are written in another way.

        Parameters
        ----------
        **entries
            ``encoding``, ``separator``, ``decimal``, ``thousands``, ``quoted_newlines`` or ``sheet``, as in a schema
            file; see ``dpcausal.data.file_format.FileFormat``. None leaves an entry as it is.

        >>> Schema(smoke=Categorical(["no", "yes"])).with_format(decimal=",").format.decimal
        ','
        """
        format_ = self._format.changed(**entries)
        if format_ == self._format:
            return self
        return Schema._marked(self._columns, format_, self._chosen, self._unit)

    @property
    def unit(self) -> PersonUnit | None:
        """Who a row belongs to where the unit of privacy is a person; None where it is a row."""
        return self._unit

    def with_unit(self, column: str | None, rows: int | None = None, order_by: str | None = None) -> Schema:
        """Return this schema for rows of which several may be one person's: the unit of privacy is then a person.

        Parameters
        ----------
        column : str or None
            The column with the id of a person, which the schema must not declare. None: the unit as it is, with the
            other two changed.
        rows : int, optional
            How many rows of a person are used at most; 1 unless given.
        order_by : str, optional
            Which: ``"first"``, ``"last"``, or those with the largest values of this column; by chance unless given.

        >>> Schema(smoke=Categorical(["no", "yes"])).with_unit("pid").unit
        PersonUnit(column='pid', rows=1, order_by=None, records=False)
        """
        if column is None and self._unit is None:
            if rows is not None or order_by is not None:
                raise SchemaError(
                    "rows of a unit and their order need a unit: the column with the id of a person"
                )
            return self
        given = {"column": column, "rows": rows, "order_by": order_by}
        changes: dict[str, Any] = {entry: value for entry, value in given.items() if value is not None}
        unit = PersonUnit(**changes) if self._unit is None else replace(self._unit, **changes)
        return self.with_persons(unit)

    def with_persons(self, unit: PersonUnit | None) -> Schema:
        """Return this schema with this unit of privacy; None: a row."""
        return Schema._marked(self._columns, self._format, self._chosen, unit)

    def with_bins(self, name: str, bins: Sequence[float]) -> Schema:
        """Return this schema with new cut points for a numeric column.

        >>> Schema(age=Numeric(0, 110)).with_bins("age", [65])["age"].bins
        (65.0,)
        """
        column = self[name]
        if not isinstance(column, Numeric):
            raise SchemaError(f'column "{name}" has levels and no bins')
        missing: list[Any] = [*column.missing, *column.missing_texts]
        columns = {**self._columns, name: replace(column, bins=tuple(bins), missing=missing)}
        return self.with_columns(columns)

    def with_columns(self, columns: Mapping[str, Column]) -> Schema:
        """Return a schema of these columns for the same file and the same unit of privacy.

        >>> schema = Schema(age=Numeric(0, 110)).with_unit("pid")
        >>> schema.with_columns({"old": Categorical(["no", "yes"])}).unit == schema.unit
        True
        """
        return Schema._marked(columns, self._format, self._chosen, self._unit)

    @property
    def labels(self) -> dict[str, str]:
        """Labels of columns, by name; columns without a label are absent.

        >>> Schema(bp=Numeric(50, 250, label="systolic blood pressure"), age=Numeric(0, 110)).labels
        {'bp': 'systolic blood pressure'}
        """
        return {name: column.label for name, column in self.items() if column.label}

    @property
    def assumes(self) -> tuple[Public, ...]:
        """Public facts that the guarantee relies on: that every quote is closed, where the schema declares it."""
        return (Known("quoted-newlines"),) if self.quoted_newlines else ()

    def missing_as(self, names: Iterable[str] | None = None) -> MissingAs:
        """Return what missing and undeclared values of these columns become; of all columns by default.

        >>> fact = Schema(sex=Categorical(["f", "m"]), dose=Numeric(0, 9, missing_level=True)).missing_as()
        >>> fact.columns
        (('sex', 'f', False, False), ('dose', 0.0, True, True))
        """
        asked = set(self if names is None else names)
        columns: list[tuple[str, str | float | None, bool, bool]] = []
        for name, column in self.items():
            if name in asked:
                own = isinstance(column, Numeric) and column.missing_level
                named = own or bool(column.missing) or bool(getattr(column, "missing_texts", ()))
                columns.append((name, column.public_other, named, own))
        return MissingAs(tuple(columns))

    def with_quoted_newlines(self, declared: bool = True) -> Schema:
        """Return this schema for CSV files with line breaks inside quotes.

        It declares, publicly, that the program which wrote the file closes every quote and doubles those inside a cell,
        whatever the cell holds. In any other file one quote could take other rows into its cell, and the guarantee
        would not cover that.

        >>> Schema(smoke=Categorical(["no", "yes"])).with_quoted_newlines().quoted_newlines
        True
        """
        return self.with_format(quoted_newlines=declared)

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema file.

        Parameters
        ----------
        path : str or path
            A TOML file in UTF-8, with or without a byte order mark.

        Returns
        -------
        Schema

        Raises
        ------
        InputError
            If the file can't be read.
        SchemaError
            If it is not a schema; the message names the line where it is certain.
        """
        if not isinstance(path, str | PathLike):
            raise InputError(f"a schema is read from the path of a file, not from {path!r}")
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            if looks_like_data(str(path)):
                raise _data_file_error(str(path)) from None
            raise SchemaError(f"{path} is not UTF-8 text") from None
        except OSError as error:
            raise InputError(f"cannot read schema {path}: {_reason(error)}") from None
        return _parse(text, str(path))

    @classmethod
    def from_toml_string(cls, text: str) -> Schema:
        """Return the schema that a TOML document declares; raise ``SchemaError`` where it declares none."""
        return _parse(text, "schema")

    def to_toml(self) -> str:
        """Return this schema as a TOML document, with defaults written out; a draft with its remarks."""
        if self._drafted is not None:
            return display().summary(self._drafted)
        tables = [column_toml(name, column) for name, column in self.items()]
        top = "draft = true\n" * self.is_draft + format_toml(self._format)
        return "\n".join([top] * bool(top) + [unit_toml(self._unit)] * bool(self._unit) + tables)

    def write(self, path: str | PathLike[str]) -> None:
        """Write this schema to a file that ``from_toml`` reads; raise ``InputError`` where that fails."""
        try:
            Path(path).write_bytes(self.to_toml().encode())
        except OSError as error:
            raise InputError(f"cannot write schema {path}: {_reason(error)}") from None

    def select(self, names: Iterable[str]) -> Schema:
        """Return a schema of the named columns only, in the order given; raise ``SchemaError`` on an unknown name.

        Reading by it does not warn of other columns of the data: they were left out on purpose. ``schema[["a", "b"]]``
        is the same.

        >>> list(Schema(age=Numeric(0, 110), sex=Categorical(["f", "m"]), id=Numeric(0, 9))[["sex", "age"]])
        ['sex', 'age']
        """
        chosen = checked_all_columns(checked_list(names, "names", "columns"), self._columns)
        pairs = ((name, self._columns[name]) for name in chosen)
        return Schema._marked(pairs, self._format, True, self._unit)

    @overload
    def __getitem__(self, name: str) -> Column: ...

    @overload
    def __getitem__(self, name: list[str]) -> Schema: ...

    def __getitem__(self, name: str | list[str]) -> Column | Schema:
        return self.select(name) if isinstance(name, list) else self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __eq__(self, another: object) -> bool:
        return (
            isinstance(another, Schema)
            and list(self.items()) == list(another.items())
            and self._format == another._format
            and self._unit == another._unit
        )

    def __hash__(self) -> int:
        return hash((tuple(self._columns.items()), self._format, self._unit))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a schema can't be changed; make another")

    def __reduce__(self) -> tuple[Any, ...]:
        return Schema._marked, (self._columns, self._format, self._chosen, self._unit)

    def __repr__(self) -> str:
        return f"Schema({self._columns!r})"


def _reason(error: OSError) -> str:
    """Return why a file could not be read, as text."""
    return (error.strerror or type(error).__name__).lower()


# ---- a data file in the place of a schema

_DATA_SUFFIX = re.compile(
    r"\.(csv|tsv|tab|parquet|pq|arrow|feather|ipc|arrows|xls[xbm]?|ods|z?sav|dta|sas7bdat|xpt|rds)(\.(gz|bz2|zst))?$",
    re.IGNORECASE,
)
_DELIMITED_LINE = re.compile(r"[^\[\]={}#,;\t]*([,;\t][^\[\]={}#,;\t]*)+")


def looks_like_data(source: str, text: str = "") -> bool:
    """Return whether a file that is not TOML looks like a table, by the end of its name or its first line.

    >>> looks_like_data("patients.csv.gz"), looks_like_data("s.toml", "smoke,age\\nyes,30"), looks_like_data("s.toml")
    (True, True, False)
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    return bool(_DATA_SUFFIX.search(source) or _DELIMITED_LINE.fullmatch(first))


def _data_file_error(source: str) -> SchemaError:
    """Return the error for a data file that was given as a schema."""
    return SchemaError(
        f"{source} looks like a data file, not like a schema; a schema is a TOML file, drafted by: "
        f"dpcausal schema {source} > schema.toml"
    )


# ---- reading TOML

_TOP_LEVEL_KEYS = ("columns", "draft", "unit", *FORMAT_ENTRIES)
_COLUMN_KEYS: dict[str, tuple[str, ...]] = {
    "categorical": ("type", "label", "levels", "ordered", "other", "aliases", "missing"),
    "numeric": ("type", "label", "lower", "upper", "scale", "bins", "other", "missing", "missing_level"),
    "date": ("type", "label", "lower", "upper", "cuts", "format", "other", "missing", "missing_level"),
}
_BELONGS = {  # what to do about a key of the other type
    "categorical": '"{key}" belongs to numeric columns; leave it out, or declare type = "numeric" with lower and upper',
    "numeric": '"{key}" belongs to categorical columns; leave it out (a numeric one needs lower and upper), or declare '
    'type = "categorical" with levels',
    "date": '"{key}" belongs to other columns; a date has lower, upper, cuts and format',
}
_REQUIRED_KEYS = {"categorical": ("levels",), "numeric": ("lower", "upper"), "date": ("lower", "upper")}
_TABLE_HEADER = re.compile(r"^\s*\[[^\[].*\]\s*(#.*)?$")
_COLUMNS_HEADER = re.compile(r"^\s*\[\s*columns\s*\]")
_LONG_NUMBER = re.compile(r"[0-9][0-9_]{999,}")
_DEEP_NESTING = re.compile(r"(?:[\[{]\s*){50}|(?:\.\s*\w+\s*){50}")
MAX_KEY_PARTS = 100  # of one dotted key: tomllib takes memory in proportion to their square
_KEY_PART = r"""(?:[A-Za-z0-9_-]++|"(?:\\[^\n]|[^"\\\n])*+"|'[^'\n]*+')"""
_STRING_OR_KEY = re.compile(
    r'''"""(?:\\[\s\S]|[^\\])*?"""'''
    r"|'''[\s\S]*?'''|#[^\n]*+"
    rf"|(?P<key>{_KEY_PART}(?:[ \t]*\.[ \t]*{_KEY_PART})*+)"
)
_DECIMAL_COMMA = re.compile(r"=\s*([-+]?\d+,\d+)\s*(?:#.*)?$")
_TOMLLIB_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_TOMLLIB_DUPLICATE_KEY = "Cannot overwrite a value"  # tomllib's own text: it has no error codes


def _parse(text: str, source: str) -> Schema:
    """Return the schema that ``text`` declares; ``source`` is what errors call it."""
    if (deep := _deep_key(text)) is not None:
        raise SchemaError(f"{source}:{deep}: not valid TOML: nested too deeply")
    lines = _LineFinder(text, source)
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise SchemaError(f"{lines.first(_DEEP_NESTING)}: not valid TOML: nested too deeply") from None
    except ValueError as error:
        if looks_like_data(source, text):
            raise _data_file_error(source) from None
        if isinstance(error, tomllib.TOMLDecodeError) or not _LONG_NUMBER.search(text):
            raise _syntax_error(str(error), lines) from None
        raise SchemaError(f"{lines.first(_LONG_NUMBER)}: a number with too many digits") from None
    for key in document:
        if key not in _TOP_LEVEL_KEYS:
            hint = did_you_mean(key, _TOP_LEVEL_KEYS)
            raise SchemaError(f'{lines.top_level(key)}: unknown entry "{key}"{hint}')
    draft = document.get("draft", False)
    if not isinstance(draft, bool):
        raise SchemaError(f"{lines.top_level('draft')}: draft must be true or false, not {draft!r}")
    format_ = _format(document, lines)
    tables = document.get("columns", {})
    if not isinstance(tables, dict):
        what = "a list" if isinstance(tables, list) else repr(tables)
        raise SchemaError(f"{lines.top_level('columns')}: columns must be tables [columns.NAME], not {what}")
    if "" in tables:
        raise SchemaError(f"{lines.column('')}: a column's name must not be empty")
    if not tables:
        raise SchemaError(f"{source}: no columns are declared; each starts with a line [columns.NAME]")
    columns = {name: _column(name, table, lines) for name, table in tables.items()}
    if draft:
        columns = {name: as_drafted(column) for name, column in columns.items()}
    try:
        return Schema._marked(columns, format_, unit=_unit(document.get("unit"), lines))
    except DeclarationError as error:
        raise SchemaError(f"{lines.top_level('unit')}: {error}") from None


def _unit(table: Any, lines: _LineFinder) -> PersonUnit | None:
    """Return the unit of privacy that the table ``[unit]`` declares; None where there is none."""
    if table is None:
        return None
    known = list(PersonUnit.__dataclass_fields__)
    if not isinstance(table, dict) or "column" not in table:
        raise SchemaError(f'{lines.top_level("unit")}: unit must be a table [unit] with column = "..."')
    for key in table:
        if key not in known:
            raise SchemaError(
                f'{lines.top_level("unit")}: unit has unknown key "{key}"{did_you_mean(key, known)}'
            )
    return PersonUnit(**table)


def _format(document: Mapping[str, Any], lines: _LineFinder) -> FileFormat:
    """Return the file format that a schema file declares."""
    try:
        return FileFormat(**{entry: document[entry] for entry in FORMAT_ENTRIES if entry in document})
    except DeclarationError as error:
        raise SchemaError(f"{lines.top_level(error.entry)}: {error}") from None


def _deep_key(text: str) -> int | None:
    """Return the line of the first key with too many dots; None where there is none.

    >>> _deep_key("a = 1\\n" + "b." * 200 + "c = 1"), _deep_key("a = '" + "b." * 200 + "c'")
    (2, None)
    """
    for match in _STRING_OR_KEY.finditer(text):
        if match["key"] and match["key"].count(".") >= MAX_KEY_PARTS:
            parts = re.findall(_KEY_PART, match["key"])
            if len(parts) > MAX_KEY_PARTS:
                return text.count("\n", 0, match.start()) + 1
    return None


def _syntax_error(message: str, lines: _LineFinder) -> SchemaError:
    """Return tomllib's error with its line first, and with advice where the mistake is a usual one."""
    position = _TOMLLIB_POSITION.search(message)
    number = int(position[1]) if position and position[1] else None
    for name, headers in lines.headers.items():
        if len(headers) > 1 and number == headers[1]:
            return SchemaError(
                f'{lines.at(headers[1])}: column "{name}" is declared twice (first on line {headers[0]})'
            )
    comma = _DECIMAL_COMMA.search(lines.lines[number - 1]) if number and number <= len(lines.lines) else None
    if comma:
        return SchemaError(f"{lines.at(number)}: {comma[1]!r} is not a number: write it with a point, 0.5")
    what = _TOMLLIB_POSITION.sub("", message) if position else "cannot be read as TOML"
    if what == _TOMLLIB_DUPLICATE_KEY:
        what = "a key is given twice"
    return SchemaError(f"{lines.at(number)}: not valid TOML: {what[:1].lower()}{what[1:]}")


def _column(name: str, table: Any, lines: _LineFinder) -> Column:
    """Return the declaration in a table of TOML; raise ``SchemaError`` with its line."""
    column = f'column "{name}"'
    if not isinstance(table, dict):
        shown = repr(table) if len(repr(table)) <= 40 else f"{repr(table)[:40]}..."
        raise SchemaError(f"{lines.column(name)}: {column} must be a table [columns.{name}], not {shown}")
    kind = table.get("type")
    if kind is None:
        raise SchemaError(f'{lines.column(name)}: {column} has no type: "categorical", "numeric" or "date"')
    if not isinstance(kind, str) or kind not in _COLUMN_KEYS:
        hint = did_you_mean(kind, _COLUMN_KEYS) if isinstance(kind, str) else ""
        raise SchemaError(
            f'{lines.column(name, "type")}: {column} has unknown type {kind!r}{hint}: "categorical", "numeric" or '
            '"date"'
        )
    for key in table:
        if key not in _COLUMN_KEYS[kind]:
            if any(key in keys for keys in _COLUMN_KEYS.values()):
                raise SchemaError(
                    f"{lines.column(name, key)}: {column} is {kind}: {_BELONGS[kind].format(key=key)}"
                )
            hint = did_you_mean(key, _COLUMN_KEYS[kind])
            raise SchemaError(f'{lines.column(name, key)}: {column} has unknown key "{key}"{hint}')
    for key in _REQUIRED_KEYS[kind]:
        if key not in table:
            raise SchemaError(f"{lines.column(name)}: {column} has no {key}")
    arguments = {key: value for key, value in table.items() if key != "type"}
    try:
        if kind == "date":
            return Date(**{"bins" if key == "cuts" else key: value for key, value in arguments.items()})
        return Categorical(**arguments) if kind == "categorical" else Numeric(**arguments)
    except DeclarationError as error:
        entry = "cuts" if kind == "date" and error.entry == "bins" else error.entry
        entry = entry if entry in table else ""
        raise SchemaError(f"{lines.column(name, entry)}: {column}: {error}") from None


class _LineFinder:
    """Finds the line of an entry in the text of a schema, since ``tomllib`` does not report it.

    Every answer is ``file:line``, or only the file where the line is not certain.
    """

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.lines = text.splitlines()
        self.headers: dict[str, list[int]] = {}  # lines of [columns.NAME]
        self.subtables: dict[tuple[str, str], int] = {}  # lines of [columns.NAME.KEY]
        self.starts: list[int] = []  # lines of every table header
        for number, line in enumerate(self.lines, 1):
            if _TABLE_HEADER.match(line):
                self.starts.append(number)
                try:
                    names = tomllib.loads(line).get("columns", {})
                except (ValueError, RecursionError):
                    continue
                for name, inner in names.items():
                    if inner:
                        self.subtables[name, next(iter(inner))] = number
                    else:
                        self.headers.setdefault(name, []).append(number)

    def at(self, number: int | None) -> str:
        """Return ``file:line`` for a line number; the file alone for None."""
        return f"{self.source}:{number}" if number else self.source

    def first(self, pattern: re.Pattern[str]) -> str:
        """Return where (``file:line``) a pattern is first found."""
        return self.at(next((i for i, line in enumerate(self.lines, 1) if pattern.search(line)), None))

    def top_level(self, key: str) -> str:
        """Return where (``file:line``) an entry of the top level stands."""
        return self.first(re.compile(rf"""^\s*\[*\s*["']?{re.escape(key)}["']?\s*[\].=]"""))

    def column(self, name: str, key: str = "") -> str:
        """Return where (``file:line``) a column is declared, or one of its keys."""
        if name not in self.headers:
            return self.at(self._inline_column(name))
        if len(self.headers[name]) != 1:
            return self.source
        if (name, key) in self.subtables:
            return self.at(self.subtables[name, key])
        start = self.headers[name][0]
        end = min((other for other in self.starts if other > start), default=len(self.lines) + 1)
        if key:
            pattern = re.compile(rf"""^\s*["']?{re.escape(key)}["']?\s*=""")
            found = [number for number in range(start + 1, end) if pattern.match(self.lines[number - 1])]
            return self.at(found[0] if len(found) == 1 else start)
        return self.at(start)

    def _inline_column(self, name: str) -> int | None:
        """Return the first line of ``NAME = ...`` below ``[columns]``, or of ``columns.NAME = ...``."""
        quoted = rf"""["']?{re.escape(name)}["']?\s*[.=]"""
        inside = False
        for number, line in enumerate(self.lines, 1):
            if number in self.starts:
                inside = bool(_COLUMNS_HEADER.match(line))
            if re.match(rf"\s*{quoted}" if inside else rf"\s*columns\s*\.\s*{quoted}", line):
                return number
        return None


# ---- writing TOML


def column_toml(
    name: str, column: Column, *, comments: Sequence[str] = (), remarks: Mapping[str, str] | None = None
) -> str:
    """Return the TOML table of a column, with ``comments`` below its header and ``remarks`` after its keys."""
    entries: dict[str, Any]
    label = {"label": column.label} if column.label else {}
    if isinstance(column, Categorical):
        entries = {"type": "categorical", **label, "levels": column.levels}
        if column.ordered:
            entries["ordered"] = True
        entries["other"] = column.other
        if column.aliases:
            entries["aliases"] = column.aliases
    elif isinstance(column, Date):
        entries = {"type": "date", **label} | date_entries(column)
    else:
        entries = {"type": "numeric", **label, "lower": column.lower, "upper": column.upper}
        if column.scale != "linear":
            entries["scale"] = column.scale
        entries |= {"bins": column.bins, "other": column.other}
    texts = column.missing_texts if isinstance(column, Numeric) else ()
    if (column.missing or texts) and not isinstance(column, Date):
        entries["missing"] = (*column.missing, *texts)
    if isinstance(column, Numeric) and column.missing_level:
        entries["missing_level"] = True
    ends = {key: f"  # {remark}" for key, remark in (remarks or {}).items()}
    lines = [f"{key} = {_toml_value(value)}{ends.get(key, '')}" for key, value in entries.items()]
    return "\n".join([toml_header(name), *(f"# {comment}" for comment in comments), *lines]) + "\n"


def format_toml(format: FileFormat) -> str:  # noqa: A002
    """Return the file format as top-level lines of TOML; empty where every entry has its default."""
    return "".join(f"{entry} = {_toml_value(value)}\n" for entry, value in format.declared().items())


def unit_toml(unit: PersonUnit | None) -> str:
    """Return the unit of privacy as a table of TOML; empty where it is a row."""
    if unit is None:
        return ""
    order = f"order_by = {_toml_value(unit.order_by)}\n" if unit.order_by is not None else ""
    rows = "records = true\n" if unit.records else f"rows = {unit.rows}\n"
    return f"[unit]\ncolumn = {_toml_value(unit.column)}\n{rows}{order}"


def toml_header(name: str) -> str:
    """Return ``[columns.NAME]``, quoted where TOML needs it."""
    return tomli_w.dumps({"columns": {name: {}}}).strip()


def _toml_value(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if isinstance(value, Mapping):
        pairs = (f"{_toml_key(key)} = {_toml_value(level)}" for key, level in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return tomli_w.dumps({"x": value}).removeprefix("x = ").removesuffix("\n")


def _toml_key(text: str) -> str:
    """Return a key as TOML writes it, quoted where it must be."""
    return tomli_w.dumps({text: 0}).removesuffix(" = 0\n")
