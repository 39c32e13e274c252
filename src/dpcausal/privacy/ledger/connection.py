"""From a ledger URL to transactions: durable, serialised, retried where that is safe, with errors in one line.

**SQLite** (``sqlite:///file.db``): ``BEGIN IMMEDIATE`` lets one writer in at a time. ``synchronous=EXTRA`` makes a
commit survive power loss. What a killed writer left half done is rolled back by the next. Between commits the rollback
journal remains, its header zeroed (``PERSIST``: 4 ms a commit where deleting it took 15 ms, and nothing is safer then).
At the end of a process that charged it is removed: ``journal_mode=DELETE`` has SQLite delete it, under a RESERVED lock
and after rolling back what a killed writer left, so never one in use. Where that can't be had at once the file remains,
as it does after a kill; the next writer uses it.
**PostgreSQL** (``postgresql://user@host/db``): ``SERIALIZABLE``, and an exclusive lock on the state row's table as
the first statement, so that waiting writers see each other's commits instead of failing; ``synchronous_commit`` on.

**Retries.** A busy file, a serialisation failure and a lost connection are tried again until ``patience`` seconds
have passed. All work given to ``run`` must be safe to repeat, since a connection can break after the server
committed and before it said so; charges are, by their release id.

No message holds a password: of the URL it has what ``core/redact.py`` leaves, and of a driver's line the same.
"""

from __future__ import annotations

import atexit
import os
import secrets
import sqlite3
import time
import weakref
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from dpcausal.core import process
from dpcausal.core.errors import LedgerError
from dpcausal.core.progress import waiting
from dpcausal.core.redact import ledger_name, without_secrets

_written: dict[Path, tuple[int, bytes]] = {}  # ledger file -> process that charged it


def remove_journal_at_exit(path: Path) -> None:
    """Register the journal of the ledger at ``path`` for removal when this process ends."""
    if not _written:
        atexit.register(_at_exit)
    _written[path] = process.token()


def remove_idle_journal(path: Path) -> None:
    """Delete the journal beside ``path`` if no process uses it."""
    with suppress(sqlite3.Error):
        location = f"file:{quote(str(path))}?mode=rw"
        with closing(sqlite3.connect(location, uri=True, timeout=0, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=PERSIST")
            connection.execute("PRAGMA journal_mode=DELETE")


def _at_exit() -> None:
    """Delete the journals of ledgers that this process wrote to, when it ends."""
    for path, writer in _written.items():
        if writer == process.token():
            remove_idle_journal(path)


T = TypeVar("T")

FORMS = "use sqlite:///file.db or postgresql://user@host/database"
_PASSING_STATES = {"40001", "40P01", "55P03", "57P01", "57P02", "57P03"}  # serialisation, locks, restarts
_SQLITE_LINES = {
    sqlite3.SQLITE_READONLY: "is read-only: nothing was charged",
    sqlite3.SQLITE_CANTOPEN: "can't be opened",
    sqlite3.SQLITE_NOTADB: "is not a database",
    sqlite3.SQLITE_CORRUPT: "is damaged",
    sqlite3.SQLITE_FULL: "can't grow: the disk is full, nothing was charged",
    sqlite3.SQLITE_PERM: "may not be opened",
    sqlite3.SQLITE_AUTH: "may not be opened",
}


class Database:
    """One database that holds a ledger."""

    def __init__(self, url: str, *, patience: float = 30.0) -> None:
        self._url, self.text = parse(url), str(url)
        self.patience = patience
        self._process = [process.token()]  # whose the open connections are
        self.name = str(self._url.database) if self.is_sqlite else ledger_name(self.text, user=True)
        self._engine = _sqlite(self._url, min(5.0, patience)) if self.is_sqlite else _postgresql(self._url)
        weakref.finalize(self, _hang_up, self._engine, self._process).atexit = False

    @property
    def is_sqlite(self) -> bool:
        """Whether this is an SQLite file."""
        return self._url.get_backend_name() == "sqlite"

    def make_file(self) -> None:
        """Create an empty SQLite file that only its owner can read, unless it exists; nothing for PostgreSQL."""
        if not self.is_sqlite:
            return
        try:
            os.close(os.open(str(self._url.database), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            return
        except OSError as error:
            raise LedgerError(f"the ledger {self.name} can't be made: {error.strerror}") from None

    def require_file(self) -> None:
        """Refuse an SQLite file that isn't there; nothing for PostgreSQL."""
        if self.is_sqlite and not Path(str(self._url.database)).exists():
            raise LedgerError(f"there is no ledger {self.name}: make one with dpcausal ledger create")

    def run(
        self,
        work: Callable[[Connection], T],
        *,
        write: bool,
        patience: float | None = None,
        level: str | None = None,
    ) -> T:
        """Run ``work`` in one transaction; retry after a transient fault until it commits or time is out.

        ``level`` is PostgreSQL's isolation level: SERIALIZABLE for writes, REPEATABLE READ for reads by default.
        """
        options: dict[str, Any] = {"dpcausal_write": write}
        if not self.is_sqlite:
            options["isolation_level"] = level or ("SERIALIZABLE" if write else "REPEATABLE READ")
        if process.token() != self._process[0]:  # connections of the parent are not ours
            self._engine.dispose(close=False)
            self._process[0] = process.token()
        deadline = time.monotonic() + (self.patience if patience is None else patience)
        with waiting(f"the ledger {self.name}"):
            return self._until(work, write, options, deadline)

    def _until(
        self, work: Callable[[Connection], T], write: bool, options: dict[str, Any], deadline: float
    ) -> T:
        """Retry a transaction until a deadline."""
        pause = 0.005
        while True:
            try:
                with self._engine.connect() as plain:
                    connection = plain.execution_options(**options)
                    with connection.begin():
                        if write and not self.is_sqlite:
                            connection.exec_driver_sql("SET LOCAL lock_timeout = '10s'")
                            connection.exec_driver_sql("SET LOCAL synchronous_commit = on")
                        return work(connection)
            except SQLAlchemyError as error:
                line, passing = self._diagnose(error)
                if not passing or time.monotonic() >= deadline:
                    raise LedgerError(line) from None
            time.sleep(pause * (0.5 + secrets.randbelow(1000) / 1000))
            pause = min(2 * pause, 0.5)

    def _diagnose(self, error: SQLAlchemyError) -> tuple[str, bool]:
        """Return a one-line description of an error, and whether a retry can help."""
        cause = error.orig if isinstance(error, DBAPIError) else None
        code = getattr(cause, "sqlite_errorcode", None)
        if isinstance(cause, sqlite3.Error):
            primary = code & 0xFF if isinstance(code, int) else None
            if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                return f"the ledger {self.name} is busy: another process holds it", True
            line = _SQLITE_LINES.get(primary or 0, f"failed: {_one_line(cause)}")
            return f"the ledger {self.name} {line}", False
        state = getattr(cause, "sqlstate", None)
        line = f"the ledger {self.name} failed: {without_secrets(_one_line(cause or error), self.text)}"
        if isinstance(error, DBAPIError) and (
            error.connection_invalidated or state is None or state[:2] == "08"
        ):
            return f"the ledger {self.name} can't be reached: {line.split('failed: ', 1)[1]}", True
        return line, state in _PASSING_STATES


def _hang_up(engine: Engine, owner: list[tuple[int, bytes]]) -> None:
    """Close the connections of an unused database, unless they belong to another process."""
    engine.dispose(close=owner[0] == process.token())


def parse(text: str) -> URL:
    """Return the URL of a ledger; refuse what is neither SQLite with a file nor PostgreSQL."""
    scheme, separator, rest = text.partition("://")
    if not separator:
        file = text.endswith((".db", ".sqlite")) and not set("@:=") & set(text)  # those come with a login
        hint = f": did you mean sqlite:///{text}?" if file else f": {FORMS}"
        raise LedgerError(f"the ledger URL has no scheme{hint}")
    if scheme in ("postgres", "postgresql"):
        scheme = "postgresql+psycopg"
    if scheme not in ("sqlite", "postgresql+psycopg"):
        named = f" {scheme!r}" if scheme.replace("+", "").isalnum() else ""  # else it may be part of a login
        raise LedgerError(f"unknown ledger URL scheme{named}: {FORMS}")
    if scheme != "sqlite" and (rest.count("@") > 1 or "@" in rest.replace("#", "?").partition("?")[2]):
        raise LedgerError(
            "the ledger URL holds more than one @, or one among its options: write %40 for one inside a password (and "
            "%3F for a ?)"
        )
    try:
        url = make_url(f"{scheme}://{rest}")
    except (ArgumentError, ValueError):
        raise LedgerError(f"a ledger URL that can't be read: {FORMS}") from None
    if scheme == "sqlite" and (url.database in (None, "", ":memory:") or url.host or url.query):
        raise LedgerError(f"an SQLite ledger needs a file and nothing else: {FORMS}")
    return url


def _one_line(error: object) -> str:
    """Return an error as one line."""
    return " ".join(str(error).split())[:300]


def _sqlite(url: URL, wait: float) -> Engine:
    """Return an SQLAlchemy engine for an SQLite file; ``wait`` is the busy timeout in seconds."""
    path = Path(str(url.database)).absolute()

    def connect() -> sqlite3.Connection:
        # mode=rw never makes a file; isolation_level=None leaves BEGIN to us
        location = f"file:{quote(str(path))}?mode=rw"
        connection = sqlite3.connect(
            location, uri=True, timeout=wait, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode=PERSIST")
        connection.execute("PRAGMA synchronous=EXTRA")
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        write = connection.get_execution_options().get("dpcausal_write", False)
        if write:
            remove_journal_at_exit(path)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def _postgresql(url: URL) -> Engine:
    """Return an SQLAlchemy engine for PostgreSQL."""
    limits: dict[str, Any] = {"connect_timeout": 10, "tcp_user_timeout": 20_000, "keepalives_idle": 10}
    arguments = {name: value for name, value in limits.items() if name not in url.query}
    try:
        return create_engine(
            url, connect_args=arguments, pool_size=2, pool_pre_ping=True, hide_parameters=True
        )
    except ImportError:
        raise LedgerError("a PostgreSQL ledger needs psycopg: pip install 'dpcausal[postgres]'") from None
