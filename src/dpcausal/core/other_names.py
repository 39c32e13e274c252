"""Names that people try on a result, answered with the name that it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar


class OtherNames:
    """A base of results: an attribute of another name raises an ``AttributeError`` that says what to write instead.

    ``_other_names`` has what to write for each such name. A class whose results differ overrides ``_instead_of``, which
    may look at what was released.

    >>> class Answer(OtherNames):
    ...     _other_names = {"p": "result.pvalue"}
    >>> Answer().p
    Traceback (most recent call last):
    AttributeError: 'Answer' object has no attribute 'p': write result.pvalue
    """

    _other_names: ClassVar[Mapping[str, str]] = {}

    def _instead_of(self, name: str) -> str | None:
        """Return what to do instead of asking for ``name``; None where nothing is known."""
        return f"write {self._other_names[name]}" if name in self._other_names else None

    if not TYPE_CHECKING:  # type checkers go on complaining about names that do not exist

        def __getattr__(self, name: str) -> Any:
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            instead = None if name.startswith("_") else self._instead_of(name)
            if instead is not None:
                raise AttributeError(f"{text}: {instead}")
            raise AttributeError(text, name=name, obj=self)  # Python proposes similar names


def spellings(*groups: tuple[str, str]) -> dict[str, str]:
    """Return ``_other_names`` from groups: the names, with spaces between them, and what to write instead.

    >>> spellings(("p p_value", "result.pvalue"))
    {'p': 'result.pvalue', 'p_value': 'result.pvalue'}
    """
    return {name: instead for names, instead in groups for name in names.split()}
