"""Attempts at a batch's step are counted before they begin: one that kills its scheduler counts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "batch_attempts"
down_revision = "score_pushes"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.add_column("batches", sa.Column("attempts", sa.Integer, nullable=False, server_default="0"))
    op.add_column("batches", sa.Column("attempted_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Back."""
    op.drop_column("batches", "attempted_at")
    op.drop_column("batches", "attempts")
