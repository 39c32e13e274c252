"""Facts: what results, statements and plans carry instead of sentences.

A fact has a kind and named values: ``Limit(LimitKind.WEAK_DELTA, delta=0.1, rows=8000)``. Code decides by kinds and
values; the sentence that a person reads is made from them in ``dpcausal.present`` and nowhere else, so no code ever
has to read prose. Kinds are enumerations that stand beside the code that states them; the comment of each member
names its values.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Self

from dpcausal.core.errors import InputError


class Fact:
    """A kind and its values. Immutable, comparable, and plain data in JSON.

    Parameters
    ----------
    kind
        A member of the enumeration ``kinds`` of the class, or its text.
    values
        Texts, numbers, booleans, None, other facts, and tuples of these. Sets and lists become tuples.

    >>> class Weather(StrEnum):
    ...     RAIN = "rain"  # millimetres
    >>> class Forecast(Fact):
    ...     kinds = Weather
    >>> rain = Forecast(Weather.RAIN, millimetres=4)
    >>> rain.is_a(Weather.RAIN), rain["millimetres"], rain.to_dict()
    (True, 4, {'kind': 'rain', 'millimetres': 4})
    >>> Forecast.from_dict(rain.to_dict()) == rain
    True
    """

    kinds: ClassVar[type[StrEnum]] = StrEnum
    __slots__ = ("kind", "values")
    kind: StrEnum
    values: Mapping[str, Any]

    def __init__(self, kind: StrEnum | str, /, **values: Any) -> None:
        object.__setattr__(self, "kind", self.kinds(kind))
        object.__setattr__(self, "values", {name: _frozen(value) for name, value in values.items()})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a fact can't be changed")

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def __getstate__(self) -> tuple[str, dict[str, Any]]:
        return str(self.kind), dict(self.values)

    def __setstate__(self, state: tuple[str, dict[str, Any]]) -> None:
        kind, values = state
        Fact.__init__(self, kind, **values)

    def is_a(self, *kinds: StrEnum) -> bool:
        """Return whether this fact is of one of these kinds."""
        return self.kind in kinds

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: the kind and the values."""
        return {"kind": str(self.kind), **{name: _plain(value) for name, value in self.values.items()}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the fact that ``to_dict`` wrote.

        Raises
        ------
        InputError
            If the kind is not one that this version knows.
        """
        values = dict(data)
        kind = values.pop("kind", None)
        try:
            return cls(str(kind), **values)
        except ValueError:
            raise InputError(
                f"unknown kind of {cls.__name__.lower()} {kind!r}: written by a newer version?"
            ) from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fact):
            return NotImplemented
        return type(self) is type(other) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.kind, tuple(sorted(self.values))))

    def __repr__(self) -> str:
        values = "".join(f", {name}={value!r}" for name, value in self.values.items())
        return f"{type(self).__name__}({str(self.kind)!r}{values})"


def _frozen(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return tuple(sorted(value))
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Fact):
        return value.to_dict()
    if isinstance(value, StrEnum):
        return str(value)
    return [_plain(part) for part in value] if isinstance(value, tuple) else value
