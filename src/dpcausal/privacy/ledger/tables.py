"""The two tables of a ledger and the triggers that keep them append-only, for SQLite and PostgreSQL.

``dpcausal_ledger`` has one row: format, identity, number of entries, last hash. ``dpcausal_entries`` only grows.
Triggers refuse changes by accident or by a careless hand; the hash chain finds those made around them.

The functions read and write single rows of an open ledger, and refuse what can't be trusted.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    Row,
    Table,
    Text,
    func,
    insert,
    inspect,
    select,
    update,
)

from dpcausal.core.errors import LedgerError, did_you_mean
from dpcausal.privacy.ledger.beside import lookalike
from dpcausal.privacy.ledger.chain import CREATE, Entry, genesis

FORMAT = 1

metadata = MetaData()

state = Table(
    "dpcausal_ledger",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("format", Integer, nullable=False),
    Column("identity", Text, nullable=False),
    Column("entries", Integer, nullable=False),
    Column("head", Text, nullable=False),
)


def columns_of(value: type, **options: Mapping[str, Any]) -> list[Column[Any]]:
    """Return an SQLAlchemy column for every field of a dataclass, by its annotation."""
    kinds: dict[str, Any] = {"str": Text, "int": Integer, "float": Float}
    return [
        Column(
            one.name,
            kinds[str(one.type).removesuffix(" | None")],
            nullable=str(one.type).endswith(" | None"),
            **options.get(one.name, {}),
        )
        for one in fields(value)
    ]


entries = Table(
    "dpcausal_entries",
    metadata,
    *columns_of(Entry, seq={"primary_key": True, "autoincrement": False}, release={"unique": True}),
    Index("dpcausal_entries_by_dataset", "dataset", "seq"),
)

_ONE_STEP = "NEW.entries <> OLD.entries + 1 OR NEW.identity <> OLD.identity OR NEW.format <> OLD.format"
_REFUSE = "the ledger is append-only"

TRIGGERS = {
    "sqlite": (
        f"CREATE TRIGGER dpcausal_entries_update BEFORE UPDATE ON dpcausal_entries "
        f"BEGIN SELECT RAISE(ABORT, '{_REFUSE}'); END",
        f"CREATE TRIGGER dpcausal_entries_delete BEFORE DELETE ON dpcausal_entries "
        f"BEGIN SELECT RAISE(ABORT, '{_REFUSE}'); END",
        f"CREATE TRIGGER dpcausal_ledger_delete BEFORE DELETE ON dpcausal_ledger "
        f"BEGIN SELECT RAISE(ABORT, '{_REFUSE}'); END",
        f"CREATE TRIGGER dpcausal_ledger_update BEFORE UPDATE ON dpcausal_ledger "
        f"WHEN {_ONE_STEP} BEGIN SELECT RAISE(ABORT, '{_REFUSE}'); END",
    ),
    "postgresql": (
        "CREATE OR REPLACE FUNCTION dpcausal_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_REFUSE}'; END $$",
        "CREATE TRIGGER dpcausal_entries_change BEFORE UPDATE OR DELETE ON dpcausal_entries "
        "FOR EACH ROW EXECUTE FUNCTION dpcausal_append_only()",
        "CREATE TRIGGER dpcausal_entries_truncate BEFORE TRUNCATE ON dpcausal_entries "
        "FOR EACH STATEMENT EXECUTE FUNCTION dpcausal_append_only()",
        "CREATE TRIGGER dpcausal_ledger_delete BEFORE DELETE ON dpcausal_ledger "
        "FOR EACH ROW EXECUTE FUNCTION dpcausal_append_only()",
        "CREATE TRIGGER dpcausal_ledger_truncate BEFORE TRUNCATE ON dpcausal_ledger "
        "FOR EACH STATEMENT EXECUTE FUNCTION dpcausal_append_only()",
        "CREATE TRIGGER dpcausal_ledger_update BEFORE UPDATE ON dpcausal_ledger "
        f"FOR EACH ROW WHEN ({_ONE_STEP}) EXECUTE FUNCTION dpcausal_append_only()",
    ),
}


def exists(connection: Connection) -> bool:
    """Return whether the database holds a ledger."""
    return inspect(connection).has_table(state.name)


def create(connection: Connection) -> None:
    """Create tables, triggers and the state row, unless another process did.

    On PostgreSQL under READ COMMITTED, so that the second look sees what the faster one committed.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(4913267)")  # one creator at a time
    if exists(connection):
        return
    metadata.create_all(connection, checkfirst=False)
    for trigger in TRIGGERS[connection.dialect.name]:
        connection.exec_driver_sql(trigger)
    identity = uuid.uuid4().hex
    row = {"id": 1, "format": FORMAT, "identity": identity, "entries": 0, "head": genesis(identity, FORMAT)}
    connection.execute(insert(state).values(row))


def altered(ledger: str) -> LedgerError:
    """Return the error for a row whose hash does not match: the ledger was altered."""
    return LedgerError(f"the ledger {ledger} was altered: run dpcausal ledger verify; nothing was charged")


def read_state(connection: Connection, ledger: str) -> Row[Any]:
    """Return format, identity, number of entries and last hash; refuses a format newer than ours."""
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
    """Return the state, locked against other writers until commit (SQLite locks at BEGIN IMMEDIATE)."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            "LOCK TABLE dpcausal_ledger IN EXCLUSIVE MODE"
        )  # before any snapshot is taken
    return read_state(connection, ledger)


def as_entry(row: Row[Any]) -> Entry:
    """Return a row of the entries table as a value."""
    return Entry(**row._mapping)


def find(connection: Connection, condition: Any) -> Entry | None:
    """Return the entry that meets ``condition``; None where there is none."""
    row = connection.execute(select(entries).where(condition)).one_or_none()
    return None if row is None else as_entry(row)


def first_and_last(connection: Connection, ledger: str, dataset: str) -> tuple[Entry, Entry]:
    """Return the entry that created ``dataset`` and its newest one, both checked against their hashes."""
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
    """Insert ``entry`` and record it as the head of the chain."""
    connection.execute(insert(entries).values(asdict(entry)))
    connection.execute(update(state).values(entries=entry.seq, head=entry.hash))
    return entry


def unknown(connection: Connection, ledger: str, dataset: str) -> LedgerError:
    """Return the error for a data set that isn't there, with the nearest name that is."""
    known = names(connection)
    alike = lookalike(dataset, known)
    if alike is not None:
        return LedgerError(f"the ledger {ledger} has no data set {dataset!a}: did you mean {alike!a}?")
    return LedgerError(f"the ledger {ledger} has no data set {dataset!r}{did_you_mean(dataset, known)}")


def names(connection: Connection) -> Sequence[str]:
    """Return the names of all data sets."""
    return connection.execute(select(entries.c.dataset).where(entries.c.kind == CREATE)).scalars().all()
