"""The way from ``Schema.draft`` up to the code that looks at rows: a hook, as for words and pictures.

A schema is what rows are coded by, so the module that declares it lies below the readers that a draft needs.
``dpcausal/__init__.py`` says where the drafter is, and it is loaded when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Drafter = Callable[..., Any]
_loaders: list[Callable[[], Drafter]] = []


def register(loader: Callable[[], Drafter]) -> None:
    """Say where the drafter comes from."""
    _loaders.append(loader)


def drafter() -> Drafter:
    """Return the function that drafts a schema from rows."""
    return _loaders[-1]()
