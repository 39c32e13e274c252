"""How an option is spelled to the reader: as on the command line, or as an argument in Python.

Texts that name an option use ``spelled``, also errors of lower packages. The command line declares around each command
that it is the reader. A page that anybody may read shows both spellings, and so does a desk, which is asked in both
ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

_READER: ContextVar[Literal["python", "command", "desk", "page"]] = ContextVar("reader", default="python")


def spelled(command: str, python: str) -> str:
    """Return the spelling of an option for the reader: that of the command line, or of Python.

    >>> spelled("--tiers 'a;b'", "tiers=[['a'], ['b']]")
    "tiers=[['a'], ['b']]"
    >>> with for_command_line():
    ...     spelled("--tiers 'a;b'", "tiers=[['a'], ['b']]")
    "--tiers 'a;b'"
    >>> with for_everyone():
    ...     spelled("--anyway", "anyway=True")
    '--anyway (in Python anyway=True)'
    """
    reader = _READER.get()
    if reader in ("desk", "page"):
        return f"{command} (in Python {python})"
    return command if reader == "command" else python


def asks() -> bool:
    """Return whether the text is read by the caller, who can follow advice.

    >>> with for_everyone():
    ...     asks()
    False
    """
    return _READER.get() != "page"


@contextmanager
def for_command_line() -> Iterator[None]:
    """Spell options as on the command line within the block."""
    token = _READER.set("command")
    try:
        yield
    finally:
        _READER.reset(token)


@contextmanager
def for_everyone() -> Iterator[None]:
    """Spell options in both ways within the block, for a page that others read."""
    token = _READER.set("page")
    try:
        yield
    finally:
        _READER.reset(token)


@contextmanager
def for_desk() -> Iterator[None]:
    """Spell options in both ways within the block, for a caller who asks a desk in Python or by a command.

    >>> with for_desk():
    ...     asks(), spelled("--anyway", "anyway=True")
    (True, '--anyway (in Python anyway=True)')
    """
    token = _READER.set("desk")
    try:
        yield
    finally:
        _READER.reset(token)
