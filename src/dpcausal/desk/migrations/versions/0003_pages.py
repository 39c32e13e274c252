"""An index by time, for lists of requests that are shown page by page."""

from __future__ import annotations

from alembic import op

from dpcausal.desk.tables import requests

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the index, unless the first revision made it with all others."""
    by_time = next(index for index in requests.indexes if index.name == "dpcausal_requests_by_time")
    by_time.create(op.get_bind(), checkfirst=True)


def downgrade() -> None:
    """Refuse: as the first revision does."""
    raise NotImplementedError("the tables of a desk are not taken away")
