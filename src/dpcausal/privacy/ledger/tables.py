"""The two tables of a ledger and the triggers that keep them append-only, for SQLite and PostgreSQL.

``dpcausal_ledger`` has one row: format, identity, number of entries, last hash. ``dpcausal_entries`` only grows.
Triggers refuse changes by accident or by a careless hand; the hash chain finds those made around them.
"""

from __future__ import annotations

import uuid

from sqlalchemy import (
    CheckConstraint,
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    insert,
    inspect,
)

from dpcausal.privacy.ledger.chain import genesis

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

entries = Table(
    "dpcausal_entries",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("release", Text, nullable=False, unique=True),
    Column("time", Text, nullable=False),
    Column("epsilon", Text, nullable=False),
    Column("delta", Text, nullable=False),
    Column("spent_epsilon", Text, nullable=False),
    Column("spent_delta", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
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
    """Whether the database holds a ledger."""
    return inspect(connection).has_table(state.name)


def create(connection: Connection) -> None:
    """Make tables, triggers and the one row of state, unless another process was faster.

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
