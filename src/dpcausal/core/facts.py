"""Facts: what results, statements and plans carry instead of sentences.

One frozen class per fact, and its values are fields: ``WeakDelta(delta=0.1, rows=8000)``. Code decides with
``isinstance`` and ``match``, and reads fields that a type checker knows. The sentence that a person reads is made in
``dpcausal.present`` and nowhere else, so no code ever has to read prose.

A class that derives from ``Fact`` itself is a family (``Limit``); a class that derives from a family is one of its
facts, defined beside the code that states it. A family of one fact is that fact: it has a ``kind``, or is
``named_by`` a field. All of them are made frozen dataclasses here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any, ClassVar, Self, cast, dataclass_transform, get_args, get_type_hints

from dpcausal.core.errors import InputError


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Fact:
    """One fact: immutable, comparable, and plain data in JSON.

    Values are texts, numbers, booleans, None, other facts, and tuples of these. ``kind`` is the name of the class in
    JSON, in small letters; ``class Name(Family, kind="other-name")`` gives another. Facts that differ in one word are
    one class: ``named_by`` names the field with that word, a ``Literal`` whose values are kinds in JSON.

    >>> class Forecast(Fact): pass
    >>> class ColdNight(Forecast):
    ...     degrees: float
    ...     place: str | None = None
    >>> cold = ColdNight(-3.0)
    >>> cold, cold.to_dict(), Forecast.from_dict(cold.to_dict()) == cold
    (ColdNight(degrees=-3.0, place=None), {'kind': 'cold-night', 'degrees': -3.0}, True)
    """

    kind: ClassVar[str]
    named_by: ClassVar[str] = ""
    kinds: ClassVar[dict[str, type[Fact]]]  # of a family: kind -> class

    def __init_subclass__(cls, kind: str = "", named_by: str = "") -> None:
        dataclass(frozen=True)(cls)
        if Fact in cls.__bases__:
            cls.kinds = {}
            if not kind and not named_by:
                return
        cls.named_by = named_by
        if named_by:
            kinds = get_args(get_type_hints(cls)[named_by])
            cls.kind = property(attrgetter(named_by))  # type: ignore[assignment]
        else:
            kinds = (kind or re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower(),)
            cls.kind = kinds[0]
        for family in cls.__mro__:
            if issubclass(family, Fact) and Fact in family.__bases__:
                family.kinds |= dict.fromkeys(kinds, cls)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: the kind and the values, without those that have their default."""
        values = {
            item.name: _plain(value)
            for item in fields(self)
            if (value := getattr(self, item.name)) != item.default and item.name != self.named_by
        }
        return {"kind": self.kind} | values

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the fact of this family that ``to_dict`` wrote; raise ``InputError`` for a kind that is not known."""
        values = dict(data)
        kind = values.pop("kind", None)
        if str(kind) not in cls.kinds:
            raise InputError(f"unknown kind of {cls.__name__.lower()} {kind!r}: written by a newer version?")
        fact = cls.kinds[str(kind)]
        hints = get_type_hints(fact)
        named = {fact.named_by: kind} if fact.named_by else {}
        read = {name: _read(value, hints.get(name)) for name, value in values.items()}
        return cast(Self, fact(**named, **read))


def _plain(value: Any) -> Any:
    """Return the value of a fact's field as plain data for JSON."""
    if isinstance(value, Fact):
        return value.to_dict()
    if isinstance(value, StrEnum):
        return str(value)
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def _read(value: Any, hint: Any) -> Any:
    """Return a value read from JSON as its field holds it: a fact where the field is one, tuples for lists."""
    if isinstance(value, Mapping):
        return hint.from_dict(value)
    return tuple(_read(part, None) for part in value) if isinstance(value, list | tuple) else value


def content_id(content: Mapping[str, Any]) -> str:
    """Return the first 16 digits of the SHA-256 of plain data, which survive writing it as JSON and reading it.

    >>> content_id({"a": 1, "b": [2.5]}) == content_id({"b": [2.5], "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(dict(content), sort_keys=True).encode()).hexdigest()[:16]
