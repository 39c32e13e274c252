"""Other budgets that the same rows may have: ledgers in the same folder, and other data sets charged for the same file.

One data set in two ledgers has two budgets, and no ledger knows of another. What is compared is public: names of data
sets, and names of files as the entries note them. No row is read. A file that can't be read as a ledger is passed over,
and only SQLite ledgers are looked at: a server's other databases are not ours to open.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from dpcausal.core.errors import BeforeCharge, LedgerError
from dpcausal.privacy.ledger.chain import canonical
from dpcausal.privacy.ledger.lookalikes import skeleton
from dpcausal.privacy.ledger_files import sqlite_files


class SecondBudget(BeforeCharge):
    """The rows may have another budget, in this ledger or in one beside it."""


class OtherBudget(NamedTuple):
    """A data set that has a budget of its own and may be the same.

    Attributes
    ----------
    ledger : str
        The name of the ledger's file; empty where it is the one that was asked about.
    dataset : str
        The data set there.
    file : str
        The file that was charged to it; empty where only names of data sets are compared.
    """

    ledger: str
    dataset: str
    file: str = ""


def ledgers_beside(url: str) -> list[tuple[str, list[str]]]:
    """Return the other ledgers in the folder of an SQLite ledger, each with its data sets.

    Parameters
    ----------
    url : str
        The address of a ledger.
    """
    own = _file(url)
    return [] if own is None else [(path.name, _names(path)) for path in _others(own, [own.parent])]


def other_budgets(
    ledger: str | Path, dataset: str, file: str = "", folder: Path | None = None
) -> list[OtherBudget]:
    """Return budgets that the rows may have besides that of ``dataset``.

    Parameters
    ----------
    ledger : str or Path
        The ledger that is charged: its address, or the file of an SQLite ledger.
    dataset : str
        The data set there.
    file : str, default ""
        The name of the file with the rows: entries that note it count, in this ledger and others.
    folder : Path or None, default None
        A second folder to look for ledgers in: that of the file.
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
    """Return the budgets that a file was charged to.

    Parameters
    ----------
    ledgers : iterable of Path
        The SQLite files to look in.
    file : str
        The name of the file with the rows, which is compared with what entries note.
    """
    return [OtherBudget(path.name, name, file) for path in ledgers for name in _charged_for(path, file)]


def _file(url: str) -> Path | None:
    from dpcausal.privacy.ledger.connection import parse  # late: SQLAlchemy only where a ledger is named

    try:
        parsed = parse(url)
    except LedgerError:  # opening it says so
        return None
    return Path(str(parsed.database)).absolute() if parsed.get_backend_name() == "sqlite" else None


def _others(own: Path, folders: Iterable[Path]) -> Iterator[Path]:
    return (path for path in sqlite_files(folders) if path != own.resolve())


def _names(path: Path) -> list[str]:
    return [name for (name,) in _rows(path, "SELECT dataset FROM dpcausal_entries WHERE kind = 'create'")]


def _charged_for(path: Path, file: str) -> list[str]:
    """The data sets whose entries note the file, in the order of their first charge."""
    if not file:
        return []
    noted = canonical({"file": file})[1:-1]  # as it stands in the note
    query = "SELECT dataset FROM dpcausal_entries WHERE instr(note, ?) GROUP BY dataset ORDER BY MIN(seq)"
    return [name for (name,) in _rows(path, query, noted)]


def _rows(path: Path, query: str, *values: str) -> list[tuple[str]]:
    try:
        location = f"file:{quote(str(path))}?mode=ro"
        with closing(sqlite3.connect(location, uri=True, timeout=0.2)) as connection:
            return connection.execute(query, values).fetchall()
    except sqlite3.Error:  # no ledger, or one that can't be read now
        return []
