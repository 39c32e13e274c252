"""Other budgets that the same rows may have: in this ledger, or in another one in the same folder.

One data set under two names, or in two ledgers, has two budgets, and no ledger knows of another. What is compared is
public: names of data sets, and names of files as the entries note them. No row is read. A file that can't be read as a
ledger is passed over, and only SQLite ledgers are looked at: a server's other databases are not ours to open.

Two names look alike if they have the same skeleton: no case, no accents, no blanks or dashes (unless they part two
digits), one letter for those that are drawn alike in Latin, Greek and Cyrillic script, and one for I, l and 1 and for O
and 0. Compatibility forms (full-width letters, ligatures) count as what they stand for.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from dpcausal.core.errors import BeforeCharge, LedgerError
from dpcausal.privacy.ledger.chain import canonical

ENDINGS = (".db", ".sqlite", ".sqlite3")
MOST_FILES = 50  # of a folder that are looked at, by name
MAGIC = b"SQLite format 3\0"


class SecondBudget(BeforeCharge):
    """The rows may have another budget, in this ledger or in one beside it."""


class OtherBudget(NamedTuple):
    """A data set with a budget of its own that may hold the same rows."""

    ledger: str  # the name of the ledger's file; empty where it is the one that was asked about
    dataset: str  # the data set there
    file: str = ""  # the file that was charged to it; empty where only names of data sets are compared


def ledgers_beside(url: str) -> list[tuple[str, list[str]]]:
    """Return the other ledgers in the folder of an SQLite ledger, each with its data sets."""
    own = _file(url)
    return [] if own is None else [(path.name, _names(path)) for path in _others(own, [own.parent])]


def other_budgets(
    ledger: str | Path, dataset: str, file: str = "", folder: Path | None = None
) -> list[OtherBudget]:
    """Return other budgets that the same rows may have besides that of ``dataset`` in ``ledger``.

    Entries that note the ``file`` with the rows count, here and in ledgers of its ``folder``.
    """
    own = ledger if isinstance(ledger, Path) else _file(ledger)
    if own is None:
        return []
    found = [OtherBudget("", name, file) for name in _charged_for(own, file) if name != dataset]
    for path in _others(own, [own.parent, *([] if folder is None else [folder])]):
        charged = _charged_for(path, file)
        found += [OtherBudget(path.name, name, file) for name in charged]
        alike = [name for name in _names(path) if skeleton(name) == skeleton(dataset) and name not in charged]
        found += [OtherBudget(path.name, name) for name in alike]
    return found


def charged_beside(ledgers: Iterable[Path], file: str) -> list[OtherBudget]:
    """Return the budgets in these SQLite ledgers that were charged for a file of this name."""
    return [OtherBudget(path.name, name, file) for path in ledgers for name in _charged_for(path, file)]


def _file(url: str) -> Path | None:
    """Return the file of an SQLite ledger's address; None for others."""
    from dpcausal.privacy.ledger.connection import parse  # late: SQLAlchemy only where a ledger is named

    try:
        parsed = parse(url)
    except LedgerError:  # opening it says so
        return None
    return Path(str(parsed.database)).absolute() if parsed.get_backend_name() == "sqlite" else None


def _others(own: Path, folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the SQLite files in these folders other than our own ledger."""
    return (path for path in sqlite_files(folders) if path != own.resolve())


def _names(path: Path) -> list[str]:
    """Return the names of the data sets in a ledger's file."""
    return [name for (name,) in _rows(path, "SELECT dataset FROM dpcausal_entries WHERE kind = 'create'")]


def _charged_for(path: Path, file: str) -> list[str]:
    """Return the data sets whose entries note the file, in the order of their first charge."""
    if not file:
        return []
    noted = canonical({"file": file})[1:-1]  # as it stands in the note
    query = "SELECT dataset FROM dpcausal_entries WHERE instr(note, ?) GROUP BY dataset ORDER BY MIN(seq)"
    return [name for (name,) in _rows(path, query, noted)]


def _rows(path: Path, query: str, *values: str) -> list[tuple[str]]:
    """Return the rows of a query on a ledger's file; nothing where it can't be read."""
    try:
        location = f"file:{quote(str(path))}?mode=ro"
        with closing(sqlite3.connect(location, uri=True, timeout=0.2)) as connection:
            return connection.execute(query, values).fetchall()
    except sqlite3.Error:  # no ledger, or one that can't be read now
        return []


def sqlite_files(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the SQLite files in these folders, each once, sorted; unreadable ones are skipped."""
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        try:
            files = sorted(path for path in folder.iterdir() if path.suffix.lower() in ENDINGS)
        except OSError:  # not ours to read
            continue
        yield from (path for path in files[:MOST_FILES] if path.is_file() and _is_sqlite(path))


def _is_sqlite(path: Path) -> bool:
    """Return whether a file begins with the SQLite header."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


# after case is taken away, so capitals that look alike are here by their small letters
_ALIKE = str.maketrans(
    "авеѕіјкмнорстухѵԁһԛԝԍӏ" + "αβγεζηικμνορτυχωϲϳ" + "ıɑɡℓø" + "01i|",
    "abesijkmhopctyxvdhqwgl" + "abyezhikmnoptyxwcj" + "iaglo" + "olll",
)
_SEPARATORS = re.compile(r"(?<![0-9])[\s_.\-]+|[\s_.\-]+(?![0-9])")
_BETWEEN_DIGITS = re.compile(r"[\s_.\-]+")


def skeleton(name: str) -> str:
    """Return a name without case, accents and spaces, to compare lookalikes.

    >>> skeleton("Cohort 2"), skeleton("cohort2"), skeleton("co\N{CYRILLIC SMALL LETTER ER}hort 1-2")
    ('cohort2', 'cohort2', 'cophortl-2')
    """
    wide = unicodedata.normalize("NFKD", name).casefold()
    wide = unicodedata.normalize("NFKD", wide)
    letters = ["-" if unicodedata.category(c) == "Pd" else c for c in wide if not _unseen(c)]
    parted = _BETWEEN_DIGITS.sub("-", _SEPARATORS.sub("", "".join(letters)))
    return parted.translate(_ALIKE).translate(_ALIKE)  # an i that came from another script is an l, too


def _unseen(character: str) -> bool:
    """Return whether a character is an accent or has no width."""
    return unicodedata.category(character) in ("Mn", "Me", "Cf")


def lookalike(name: str, known: Iterable[str]) -> str | None:
    """Return the first known name that is different but looks the same; None if there is none.

    >>> lookalike("Cohort", ["cohort", "survey"]), lookalike("cohort", ["cohort"])
    ('cohort', None)
    """
    wanted = skeleton(name)
    return next((one for one in sorted(known) if one != name and skeleton(one) == wanted), None)
