"""The tables of a desk, in the ledger's database: persons, tokens, workers, requests, decisions, releases.

A token is kept as its SHA-256 only. Times are seconds since 1970. A release is the folder that a job wrote, as one
compressed file: it is stored in the transaction that ends the job.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from dpcausal.desk.questions import Request
from dpcausal.privacy.ledger.tables import columns_of

metadata = MetaData()

persons = Table(
    "dpcausal_persons",
    metadata,
    Column("name", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("added", Float, nullable=False),
    Column("active", Integer, nullable=False),
)

workers = Table(
    "dpcausal_workers",
    metadata,
    Column("name", Text, primary_key=True),
    Column("seen", Float, nullable=False),
)

tokens = Table(
    "dpcausal_tokens",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("person", Text, ForeignKey("dpcausal_persons.name"), nullable=False),
    Column("kind", Text, nullable=False),  # token, link (once) or session
    Column("expires", Float),
    Column("form", Text, nullable=False),  # what forms of a session must send back
)

requests = Table(
    "dpcausal_requests",
    metadata,
    *columns_of(Request, id={"primary_key": True}),
    ForeignKeyConstraint(["person"], ["dpcausal_persons.name"]),
    UniqueConstraint("person", "key"),
    Index("dpcausal_requests_by_state", "state", "asked"),
    Index("dpcausal_requests_by_person", "person", "asked"),
    Index("dpcausal_requests_by_time", "asked", "id"),
)

decisions = Table(
    "dpcausal_decisions",
    metadata,
    Column("request", Text, ForeignKey("dpcausal_requests.id"), primary_key=True),
    Column("person", Text, primary_key=True),
    Column("verdict", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("time", Float, nullable=False),
)

releases = Table(
    "dpcausal_releases",
    metadata,
    Column("request", Text, ForeignKey("dpcausal_requests.id"), primary_key=True),
    Column("files", LargeBinary, nullable=False),
)


def upgrade(connection: Connection) -> None:
    """Bring the tables of a desk to the newest revision, in the caller's transaction."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    script = ScriptDirectory.from_config(config)

    def to_head(revision: Any, context: Any) -> Any:
        return script._upgrade_revs("head", revision)

    with EnvironmentContext(config, script, fn=to_head) as environment:
        environment.configure(
            connection=connection, target_metadata=metadata, version_table="dpcausal_desk_revision"
        )
        environment.run_migrations()
