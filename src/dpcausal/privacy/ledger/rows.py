"""Reading and writing single rows of an open ledger, and refusing what can't be trusted."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from dpcausal.core.errors import LedgerError, did_you_mean
from dpcausal.privacy.ledger.chain import CREATE, Entry
from dpcausal.privacy.ledger.tables import FORMAT, entries, state


def altered(ledger: str) -> LedgerError:
    """The error for a row that does not fit its hash."""
    return LedgerError(f"the ledger {ledger} was altered: run dpcausal ledger verify; nothing was charged")


def read_state(connection: Connection, ledger: str) -> Row[Any]:
    """Format, identity, number of entries and last hash; refuses a format newer than ours."""
    row = connection.execute(select(state)).one_or_none()
    if row is None:
        raise LedgerError(f"the ledger {ledger} lost its state row: it can't be trusted")
    if row.format > FORMAT:
        raise LedgerError(
            f"the ledger {ledger} was written by a newer dpcausal (format {row.format}, this one reads {FORMAT}): "
            "upgrade dpcausal"
        )
    return row


def lock(connection: Connection, ledger: str) -> Row[Any]:
    """The state, with all other writers kept out until commit (SQLite did that at BEGIN IMMEDIATE)."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            "LOCK TABLE dpcausal_ledger IN EXCLUSIVE MODE"
        )  # before any snapshot is taken
    return read_state(connection, ledger)


def as_entry(row: Row[Any]) -> Entry:
    """A row of the entries table as a value."""
    return Entry(**row._mapping)


def find(connection: Connection, condition: Any) -> Entry | None:
    """The one entry that meets ``condition``, if there is one."""
    row = connection.execute(select(entries).where(condition)).one_or_none()
    return None if row is None else as_entry(row)


def first_and_last(connection: Connection, ledger: str, dataset: str) -> tuple[Entry, Entry]:
    """The entry that created ``dataset`` and its newest one, both checked against their hashes."""
    first = find(connection, entries.c.release == f"{CREATE}:{dataset}")
    if first is None:
        raise unknown(connection, ledger, dataset)
    newest = select(func.max(entries.c.seq)).where(entries.c.dataset == dataset).scalar_subquery()
    last = find(connection, entries.c.seq == newest)
    if last is None or not (first.intact() and last.intact()):
        raise altered(ledger)
    return first, last


def check_tail(connection: Connection, ledger: str, now: Row[Any]) -> None:
    """Refuse a ledger whose newest entry is not the one its state names."""
    tail = find(connection, entries.c.seq == select(func.max(entries.c.seq)).scalar_subquery())
    if tail is None or not tail.intact() or (tail.seq, tail.hash) != (now.entries, now.head):
        raise altered(ledger)


def append(connection: Connection, entry: Entry) -> Entry:
    """Write ``entry`` and make it the head."""
    connection.execute(insert(entries).values(asdict(entry)))
    connection.execute(update(state).values(entries=entry.seq, head=entry.hash))
    return entry


def unknown(connection: Connection, ledger: str, dataset: str) -> LedgerError:
    """The error for a data set that isn't there, with the nearest name that is."""
    known = connection.execute(select(entries.c.dataset).where(entries.c.kind == CREATE)).scalars().all()
    return LedgerError(f"the ledger {ledger} has no data set {dataset!r}{did_you_mean(dataset, known)}")
