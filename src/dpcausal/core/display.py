"""The one way from a result up to its words and pictures: a hook that the top room fills.

Results and statements are plain values in lower rooms. Their ``summary``, ``_repr_html_``, ``plot`` and ``report`` ask
``display()``, which ``dpcausal/__init__.py`` connects to ``dpcausal.present`` when it is first needed. So lower rooms
import nothing from above, and the import contract stays true.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Protocol

from dpcausal.core.facts import Fact


class Display(Protocol):
    """What the top room offers."""

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
    """Say where the words and pictures come from; ``loader`` is called when they are first needed."""
    _loaders.append(loader)
    _loaded.clear()


def display() -> Display:
    """Return the room that makes words and pictures."""
    if not _loaded:
        _loaded.append(_loaders[-1]())
    return _loaded[0]
