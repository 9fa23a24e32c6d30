"""Which process has claimed a job: whether it lives can be seen by its sessions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "claimed_by"
down_revision = "waiting_for_models"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.add_column("jobs", sa.Column("claimed_by", sa.String))


def downgrade() -> None:
    """Back."""
    op.drop_column("jobs", "claimed_by")
