"""Two hooks from lower packages to upper ones, so that lower packages import nothing from above.

Results and statements are plain values. Their ``summary``, ``_repr_html_``, ``plot`` and ``report`` ask
``display()``. ``Schema.draft`` asks ``drafter()``: the readers that a draft needs lie above the schema.
``dpcausal/__init__.py`` registers what loads either; it is called when the hook is first asked.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Protocol

from dpcausal.core.facts import Fact


class Display(Protocol):
    """Interface of the package ``present``."""

    def words(self, fact: Fact | StrEnum) -> str:
        """Return one fact, or one member of an enumeration, as a clause or sentence."""
        ...

    def summary(self, value: Any, **options: Any) -> str:
        """Return a result, statement or plan in plain lines."""
        ...

    def html(self, value: Any) -> str:
        """Return a result, statement or plan as a piece of HTML for a notebook."""
        ...

    def plot(self, value: Any, ax: Any, **options: Any) -> Any:
        """Draw a result, statement or plan with matplotlib; return the axes."""
        ...

    def report(self, value: Any, path: str | os.PathLike[str], **options: Any) -> str:
        """Write a result as one self-contained HTML page or a plan as a picture; return its path."""
        ...


Drafter = Callable[..., Any]
_loaders: list[Callable[[], Display]] = []
_loaded: list[Display] = []
_drafter_loaders: list[Callable[[], Drafter]] = []


def register(loader: Callable[[], Display]) -> None:
    """Register the function that imports ``present``, since core may not import it."""
    _loaders.append(loader)
    _loaded.clear()


def display() -> Display:
    """Return the interface of ``present``, which makes words and pictures."""
    if not _loaded:
        _loaded.append(_loaders[-1]())
    return _loaded[0]


def register_drafter(loader: Callable[[], Drafter]) -> None:
    """Register the function that imports the drafter of schemas, since core may not import it."""
    _drafter_loaders.append(loader)


def drafter() -> Drafter:
    """Return the function that drafts a schema from rows."""
    return _drafter_loaders[-1]()
