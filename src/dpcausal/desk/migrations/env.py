"""Alembic runs this: the connection is the caller's, in the caller's transaction."""

from __future__ import annotations

from alembic import context

from dpcausal.desk.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="dpcausal_desk_revision",
)
context.run_migrations()
