"""A hook from lower packages to an upper one, so that lower packages import nothing from above.

Results and statements are plain values. Their ``summary``, ``_repr_html_``, ``plot`` and ``report`` ask
``display()``. ``dpcausal/__init__.py`` registers what loads it; that is called when the hook is first asked.
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


_loaders: list[Callable[[], Display]] = []
_loaded: list[Display] = []


def register(loader: Callable[[], Display]) -> None:
    """Register the function that imports ``present``, since core may not import it."""
    _loaders.append(loader)
    _loaded.clear()


def display() -> Display:
    """Return the interface of ``present``, which makes words and pictures."""
    if not _loaded:
        _loaded.append(_loaders[-1]())
    return _loaded[0]
