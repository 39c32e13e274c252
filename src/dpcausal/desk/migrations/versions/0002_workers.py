"""When a worker was last heard of, so that a page can say that none is there."""

from __future__ import annotations

from alembic import op

from dpcausal.desk.tables import workers

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the table, unless the first revision made it with all others."""
    workers.create(op.get_bind(), checkfirst=True)


def downgrade() -> None:
    """Refuse: as the first revision does."""
    raise NotImplementedError("the tables of a desk are not taken away")
