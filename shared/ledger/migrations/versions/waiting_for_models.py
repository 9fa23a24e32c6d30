"""A job whose model is not ready waits for it, and that costs it no attempt."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "waiting_for_models"
down_revision = "failed_endings"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.add_column("jobs", sa.Column("waiting_for", sa.JSON))
    op.add_column("jobs", sa.Column("waits", sa.Integer, nullable=False, server_default="0"))


def downgrade() -> None:
    """Back."""
    op.drop_column("jobs", "waits")
    op.drop_column("jobs", "waiting_for")
