"""The first tables of a desk. Later revisions change them by ``op``, so that this one stays what it was."""

from __future__ import annotations

from alembic import op

from dpcausal.desk.tables import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    metadata.create_all(op.get_bind())


def downgrade() -> None:
    """Refuse: a desk's requests are what its charges were for."""
    raise NotImplementedError("the tables of a desk are not taken away")
