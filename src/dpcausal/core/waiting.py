"""Who is told that something takes long because another process holds it: nobody, unless the command line asks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 2.0  # seconds before anything is said

_listeners: list[Callable[[str], None]] = []


@contextmanager
def listening(tell: Callable[[str], None]) -> Iterator[None]:
    """Within it, ``tell`` gets one line for each wait of more than ``PATIENCE`` seconds."""
    _listeners.append(tell)
    try:
        yield
    finally:
        _listeners.remove(tell)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Around work that may have to wait.

    >>> with waiting("the ledger budget.db"):
    ...     pass
    """
    if not _listeners:
        yield
        return
    timer = threading.Timer(PATIENCE, _listeners[-1], (f"waiting for {what}",))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
