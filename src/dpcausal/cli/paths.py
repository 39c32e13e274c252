"""Files and directories from the command line: an empty text would mean the current directory, so it is refused."""

from __future__ import annotations

from pathlib import Path

import typer


def path(text: str | Path) -> Path:
    """The path, unless it is empty.

    >>> path("out").name
    'out'
    """
    if not str(text).strip():
        raise typer.BadParameter("it is empty; name a file or a directory")
    return Path(text)
