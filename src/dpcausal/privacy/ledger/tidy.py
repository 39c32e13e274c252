"""No journal is left beside an SQLite ledger when a process that charged it ends.

Between commits the rollback journal is kept, its header zeroed (``PERSIST`` in ``connection.py``: deleting it at every
commit takes several times as long and makes nothing safer). At the end of the process it goes: ``journal_mode=DELETE``
has SQLite delete it, under a RESERVED lock and after rolling back what a killed writer left, so never one in use. Where
that can't be had at once the file stays, as it does after a kill; the next writer uses it.
"""

from __future__ import annotations

import atexit
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

_written: dict[Path, int] = {}  # ledger file -> process that charged it


def tidy_at_exit(path: Path) -> None:
    """Remember that this process has written to the ledger at ``path``."""
    if not _written:
        atexit.register(_at_exit)
    _written[path] = os.getpid()


def tidy(path: Path) -> None:
    """Delete the journal beside ``path`` if no process uses it; silent where that can't be."""
    with suppress(sqlite3.Error):
        location = f"file:{quote(str(path))}?mode=rw"
        with closing(sqlite3.connect(location, uri=True, timeout=0, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=PERSIST")
            connection.execute("PRAGMA journal_mode=DELETE")


def _at_exit() -> None:
    for path, process in _written.items():
        if process == os.getpid():
            tidy(path)
