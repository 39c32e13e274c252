"""A schema: the declared columns, in order. Public by definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from dpcausal.core.errors import InputError, SchemaError, did_you_mean_column
from dpcausal.data import toml
from dpcausal.data.columns import Categorical, Column, Numeric
from dpcausal.data.not_a_schema import data_words, looks_like_data


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
        return cls._marked(*toml.loads(text, source=str(path)))

    @classmethod
    def from_toml_string(cls, text: str) -> Schema:
        """The schema that TOML ``text`` declares."""
        return cls._marked(*toml.loads(text))

    def to_toml(self) -> str:
        """This schema as a TOML document, defaults written out."""
        return toml.dumps(self._columns, self._draft)

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
