"""Modules that are imported when they are first used: what few calls need should not slow all of them down."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LateModule:
    """A module by its name; any attribute imports it.

    >>> LateModule("math").sqrt(4.0)
    2.0
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)
