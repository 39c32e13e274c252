"""How an option is spelled to the reader: as on the command line, or as an argument in Python.

A sentence that names an option asks here. The command line says once, around each command, that it is the reader.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_COMMAND = ContextVar("command", default=False)


def spelled(command: str, python: str) -> str:
    """Return the spelling that the reader can use.

    >>> spelled("--tiers 'a;b'", "tiers=[['a'], ['b']]")
    "tiers=[['a'], ['b']]"
    >>> with for_command_line():
    ...     spelled("--tiers 'a;b'", "tiers=[['a'], ['b']]")
    "--tiers 'a;b'"
    """
    return command if _COMMAND.get() else python


@contextmanager
def for_command_line() -> Iterator[None]:
    """Spell options as on the command line within the block."""
    token = _COMMAND.set(True)
    try:
        yield
    finally:
        _COMMAND.reset(token)
