"""SQLite files in a folder, which may be ledgers: a look that loads no database, so that every run can afford it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

ENDINGS = (".db", ".sqlite", ".sqlite3")
MOST_FILES = 50  # of a folder that are looked at, by name
MAGIC = b"SQLite format 3\0"


def sqlite_files(folders: Iterable[Path]) -> Iterator[Path]:
    """Return the SQLite files of these folders, each once, by name; what can't be read is passed over."""
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        try:
            files = sorted(path for path in folder.iterdir() if path.suffix.lower() in ENDINGS)
        except OSError:  # not ours to read
            continue
        yield from (path for path in files[:MOST_FILES] if path.is_file() and _is_sqlite(path))


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False
